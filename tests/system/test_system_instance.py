"""One instance for all users of a machine: as which user each is served, and what each may do. Needs root, to make accounts."""
import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exec_world import BUILD, alive, find_processes, kill, make_public_directory, until  # noqa: E402
from test_system_launcher import accounts, why_not  # noqa: E402,F401

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())


class SystemInstance:
    """A daemon that root starts, with its launcher, its directories and a work directory of each user."""

    def __init__(self, accounts):
        self.accounts, self.place = accounts, make_public_directory()
        for name in 'fairlead', 'fairleadd', 'fairlead-launcher':
            shutil.copy2(BUILD / name, self.place / name)
        for user in accounts.alice, accounts.mallory:
            home = self.home(user)
            home.mkdir(mode=0o700)
            os.chown(home, user.pw_uid, user.pw_gid)
        self.run_directory = pathlib.Path('/run') / self.place.name
        self.socket = self.run_directory / 'fairlead.sock'
        self.start()

    def home(self, user):
        return self.place / ('home-' + user.pw_name)

    def start(self):
        self.log = open(self.place / 'log', 'ab')
        self.daemon = subprocess.Popen(
            [self.place / 'fairleadd', '--system', '--account', self.accounts.daemon.pw_name, '--state', self.place / 'state',
             '--launcher-state', self.place / 'launcher', '--socket', self.socket], stderr=self.log, stdin=subprocess.DEVNULL)
        until(lambda: self.socket.exists() or self.daemon.poll() is not None, 'the socket')
        assert self.daemon.poll() is None, (self.place / 'log').read_text()

    def run(self, user, *arguments, **options):
        """A command of the user; None: root."""
        identity = []
        environment = {'PATH': '/usr/bin:/bin', 'FAIRLEAD_SOCKET': str(self.socket)}
        directory = self.place
        if user is not None:
            identity = ['setpriv', '--reuid', user.pw_name, '--regid', user.pw_name, '--init-groups']
            directory = self.home(user)
            environment['HOME'] = str(directory)
        return subprocess.run([*identity, self.place / 'fairlead', *map(str, arguments)], cwd=directory, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, **options)

    def good(self, user, *arguments):
        done = self.run(user, *arguments)
        assert (done.returncode, done.stderr) == (0, ''), done
        return done.stdout

    def bad(self, user, *arguments, status=1):
        done = self.run(user, *arguments)
        assert (done.returncode, done.stdout) == (status, '') and done.stderr.count('\n') == 1, done
        return done.stderr.strip()

    def submit(self, user, *arguments):
        return int(self.good(user, 'submit', '--parsable', *arguments))

    def stop(self):
        self.daemon.send_signal(signal.SIGTERM)
        assert self.daemon.wait(60) == 0
        self.log.close()

    def close(self):
        if self.daemon.poll() is None:
            self.stop()
        for pid in find_processes(str(self.place)):
            kill(pid)
        until(lambda: not find_processes(str(self.place)), 'all processes to end')
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.rmtree(self.run_directory, ignore_errors=True)


@pytest.fixture
def system(accounts):
    made = SystemInstance(accounts)
    yield made
    made.close()


def test_jobs_run_as_the_users_who_submitted_them(system):
    alice, mallory = system.accounts.alice, system.accounts.mallory
    jobs = {user: system.submit(user, '--', 'sh', '-c', 'id -u; pwd') for user in (alice, mallory)}
    for user, job in jobs.items():
        system.good(user, 'wait', job)
        output = system.home(user) / ('fairlead-%d.out' % job)
        assert output.read_text() == '%d\n%s\n' % (user.pw_uid, system.home(user))
        assert output.stat().st_uid == user.pw_uid
    rows = json.loads(system.good(None, 'history', '--json'))
    assert {row['job_id']: row['user'] for row in rows} == {job: user.pw_name for user, job in jobs.items()}
    assert pwd.getpwuid(pathlib.Path('/proc/%d' % system.daemon.pid).stat().st_uid) == system.accounts.daemon


FALSE_DAEMON = """import json, os, socket, sys
path, uid, text = sys.argv[1:]
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
os.seteuid(int(uid))
listener.listen(8)
os.seteuid(0)
body = json.dumps({**json.loads(text), 'pid': os.getpid()}).encode()
head = b'HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nFairlead-Time: 1\\r\\nContent-Length: %d\\r\\n\\r\\n' % len(body)
print(flush=True)
while True:
    client = listener.accept()[0]
    while client.recv(65536):
        client.sendall(head + body)
"""


def test_stop_ends_no_process_of_another_user(system):
    """Of a socket of the daemon's account, the kernel names a process that is not the account's: as when that which began to listen
    has ended and another one has its pid."""
    path, daemon = system.run_directory / 'false.sock', system.accounts.daemon
    status = system.good(None, 'status', '--json')
    other = subprocess.Popen(['/usr/bin/python3', '-c', FALSE_DAEMON, path, str(daemon.pw_uid), status], stdout=subprocess.PIPE)
    try:
        other.stdout.readline()
        said = system.bad(None, 'stop', '--system', '--socket', path, status=2)
        assert 'process %d, which the socket names, is not one of user %d' % (other.pid, daemon.pw_uid) in said
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()
    assert system.good(None, 'stop', '--system', '--socket', system.socket).startswith('Stopped')
    assert system.daemon.wait(60) == 0


def test_users_change_their_own_jobs_only(system):
    alice, mallory = system.accounts.alice, system.accounts.mallory
    job = system.submit(alice, '--hold', '--', 'true')
    for command in (['cancel', job], ['release', job], ['update', job, '--nice=5'], ['requeue', job]):
        assert 'belongs to %s' % alice.pw_name in system.bad(mallory, *command)
    assert json.loads(system.good(alice, 'show', 'job', job, '--json'))[0]['state'] == 'PENDING'
    assert system.good(alice, 'cancel', job) == 'Cancelled 1 job\n'


def test_root_reads_a_log_as_the_user_of_the_job(system):
    """What the user puts in place of the file is not read with root's rights."""
    mallory = system.accounts.mallory
    job = system.submit(mallory, '--', 'echo', 'seen')
    system.good(mallory, 'wait', job)
    output = system.home(mallory) / ('fairlead-%d.out' % job)
    assert system.good(None, 'log', job) == 'seen\n'
    secret = system.place / 'secret'
    secret.write_text('secret\n')
    secret.chmod(0o600)
    for target in secret, '/proc/1/environ', '/dev/null':
        output.unlink()
        output.symlink_to(target)
        result = system.run(None, 'log', job)
        assert result.returncode != 0 and result.stdout == '' and 'secret' not in result.stderr, result


def state_of(system, job):
    return json.loads(system.good(None, 'show', 'job', job, '--json'))[0]['state']


def test_suspensions_and_signals_across_users(system):
    """What root suspends the user cannot resume; root's changes are in the audit log, also a signal, after a kill."""
    alice, mallory = system.accounts.alice, system.accounts.mallory
    job = system.submit(alice, '--', 'sh', '-c', 'trap "echo got > got" USR1; while :; do sleep 0.05; done')
    until(lambda: state_of(system, job) == 'RUNNING', 'the job to start')
    for command in (['suspend', job], ['resume', job], ['signal', 'USR1', job]):
        assert 'belongs to %s' % alice.pw_name in system.bad(mallory, *command)
    assert system.good(alice, 'suspend', job) == 'Suspended 1 job\n'
    assert system.good(alice, 'resume', job) == 'Resumed 1 job\n'
    assert system.good(None, 'signal', 'USR1', job) == 'Signalled 1 job\n'
    system.daemon.kill()
    system.daemon.wait()
    system.socket.unlink()
    system.start()
    assert system.good(None, 'suspend', job) == 'Suspended 1 job\n'
    assert 'is suspended by an operator; only an operator can resume it' in system.bad(alice, 'resume', job)
    assert state_of(system, job) == 'SUSPENDED'
    assert system.good(None, 'resume', job) == 'Resumed 1 job\n'
    until(lambda: (system.home(alice) / 'got').exists(), 'the signal')
    rows = json.loads(system.good(None, 'audit', '--json'))
    found = [(row['command'], row['name'], row['after']) for row in rows if row['name'] == str(job)]
    assert found == [('signal', str(job), 'USR1'), ('suspend', str(job), None), ('resume', str(job), None)]
    system.good(alice, 'suspend', job)
    system.good(alice, 'cancel', job)
    until(lambda: state_of(system, job) == 'CANCELLED', 'the job to end')


@pytest.mark.parametrize('command', [
    ['set', 'grace_s=1'], ['account', 'add', 'x'], ['user', 'add', 'x', '-A', 'default'], ['qos', 'add', 'x'],
    ['partition', 'add', 'x'], ['host', 'drain', 'localhost'], ['history', 'prune', '--older-than', '1-0'], ['audit'],
    ['backup', 'x.db'], ['account', 'modify', 'default', 'RawUsage=0']], ids=lambda command: command[0] + '-' + command[-1])
def test_users_administer_nothing(system, command):
    alice = system.accounts.alice
    assert re.search('only (an administrator|administrators) may ', system.bad(alice, *command))
    assert not (system.home(alice) / 'x.db').exists()


def test_the_groups_of_settings_give_roles(system):
    """At once: answers of before do not count any more."""
    alice, mallory = system.accounts.alice, system.accounts.mallory
    job = system.submit(mallory, '--hold', '--', 'true')
    assert 'belongs to' in system.bad(alice, 'cancel', job)
    system.good(None, 'set', 'operator_group=' + system.accounts.team_name)
    assert system.good(alice, 'release', job) == 'Released 1 job\n'
    assert 'only an administrator may change settings' in system.bad(alice, 'set', 'grace_s=1')
    system.good(None, 'set', 'administrator_group=' + system.accounts.team_name)
    system.good(alice, 'set', 'grace_s=1')
    assert 'only an administrator' in system.bad(mallory, 'set', 'grace_s=2')
    system.good(None, 'set', 'administrator_group=')
    assert 'only an administrator' in system.bad(alice, 'set', 'grace_s=2')


def test_jobs_of_root_are_not_run(system):
    assert system.bad(None, 'submit', '--', 'true') == (
        'fairlead submit: jobs of root are not run: submit as an ordinary user, or start the instance with --allow-root')


def test_jobs_run_on_while_the_daemon_is_replaced(system):
    alice = system.accounts.alice
    job = system.submit(alice, '--', 'sh', '-c', 'until [ -e go ]; do sleep 0.05; done; echo done')
    until(lambda: 'RUNNING' in system.good(alice, 'queue'), 'the job to run')
    system.daemon.kill()
    system.daemon.wait()
    system.socket.unlink()
    system.start()
    (system.home(alice) / 'go').touch()
    system.good(alice, 'wait', job)
    assert (system.home(alice) / ('fairlead-%d.out' % job)).read_text() == 'done\n'


def test_what_a_user_cannot_reach(system):
    """The state, the record log and the launcher's socket."""
    mallory = system.accounts.mallory
    for path in ('state/fairlead.db', 'state/commits.log', 'launcher/launches', 'launcher/launcher.events', 'launcher/launcher.log'):
        done = subprocess.run(['setpriv', '--reuid', mallory.pw_name, '--regid', mallory.pw_name, '--init-groups', 'ls',
                               '-d' if path.endswith('launches') else '-l', system.place / path], capture_output=True, text=True)
        read = subprocess.run(['setpriv', '--reuid', mallory.pw_name, '--regid', mallory.pw_name, '--init-groups', 'head',
                               '-c', '1', system.place / path], capture_output=True, text=True)
        assert read.returncode != 0 and read.stdout == '', (done, read)
    assert alive(system.daemon.pid)


def make_hook(directory, text, owner=0, mode=0o755):
    path = directory / 'submit-hook'
    path.write_text(text)
    path.chmod(mode)
    os.chown(path, owner, owner)
    return path


def test_a_submission_hook_is_the_site_s_own(system):
    """Who could change the program, or put another one in its place, could refuse the jobs of all users, or accept their own."""
    alice, mallory = system.accounts.alice, system.accounts.mallory
    hook = make_hook(system.place, '#!/bin/sh\nid -un >&2\nexit 1\n')
    system.good(None, 'set', 'submit_hook=%s' % hook)
    assert system.bad(alice, 'submit', '--', 'true', status=2).endswith('refuses the job: ' + system.accounts.daemon.pw_name)
    system.bad(mallory, 'set', 'submit_hook=', status=1)
    # It is checked at each run, not only when it is set.
    for owner, mode, fault in ((0, 0o777, 'its group or others may write to'), (0, 0o775, 'its group or others may write to'),
                               (mallory.pw_uid, 0o755, 'belongs to uid %d' % mallory.pw_uid)):
        os.chown(hook, owner, owner)
        hook.chmod(mode)
        assert fault in system.bad(alice, 'submit', '--', 'true', status=1)
        assert fault in system.bad(None, 'set', 'submit_hook=%s' % hook, status=2)
    make_hook(system.place, '#!/bin/sh\n')
    system.good(alice, 'submit', '--', 'true')
    # A directory of a user, and a link there that leads to a program of root.
    theirs = system.home(mallory)
    theirs.chmod(0o755)
    link = theirs / 'link'
    link.symlink_to(hook)
    for path in make_hook(theirs, '#!/bin/sh\n'), link:
        assert "'%s' belongs to uid %d" % (theirs, mallory.pw_uid) in system.bad(None, 'set', 'submit_hook=%s' % path, status=2)
    link.unlink()


def test_a_hook_that_hangs_for_one_user_delays_no_other(system):
    alice, mallory = system.accounts.alice, system.accounts.mallory
    system.good(None, 'set', 'hook_timeout_s=60', 'submit_hook=%s' % make_hook(
        system.place, '#!/bin/sh\ngrep -q \'"user":"%s"\' || exit 0\nexec sleep 1000\n' % mallory.pw_name))
    waiting = [subprocess.Popen(
        ['setpriv', '--reuid', mallory.pw_name, '--regid', mallory.pw_name, '--init-groups', system.place / 'fairlead', 'submit',
         '--', 'true'], cwd='/tmp', env={'PATH': '/usr/bin:/bin', 'FAIRLEAD_SOCKET': str(system.socket)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(12)]
    system.good(alice, 'wait', system.submit(alice, '--', 'true'))
    assert all(client.poll() is None for client in waiting)
    system.stop()
    for client in waiting:
        out, err = client.communicate(timeout=60)
        assert (client.returncode, out) == (1, b'') and b'not accepted' in err, err
    system.start()
    assert len(json.loads(system.good(None, 'queue', '--json'))) == 0


@pytest.mark.parametrize('arguments, message', [
    ([], "one of --private (for you) and --system (for all users) is needed"),
    (['--private', '--system'], "one of --private (for you) and --system (for all users) is needed"),
    (['--private', '--account', 'x'], '--account, --launcher-state, --cgroup and --allow-root require --system'),
    (['--private', '--cgroup', '/x'], '--account, --launcher-state, --cgroup and --allow-root require --system'),
    (['--system', '--cgroup', 'relative'], "--cgroup: 'relative' is not an absolute path"),
    (['--system', '--account', 'no-such-account'], "there is no account 'no-such-account' for the daemon: run 'adduser"),
    (['--system', '--account', 'root'], "account 'root' is root's; the daemon needs its own"),
    (['--system', '--state', 'relative'], "--state: 'relative' is not an absolute path"),
])
def test_bad_starts(arguments, message):
    done = subprocess.run([BUILD / 'fairleadd', *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and done.stderr.count('\n') == 1, done
    assert message in done.stderr
