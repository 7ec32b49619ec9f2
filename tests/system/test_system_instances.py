"""Several instances for all users on one machine: which launcher is whose. Needs root, to make accounts."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exec_world import alive, find_processes, kill, until  # noqa: E402
from test_system_instance import SystemInstance  # noqa: E402
from test_system_launcher import accounts, why_not  # noqa: E402,F401

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())


@pytest.fixture
def system(accounts):
    made = SystemInstance(accounts)
    yield made
    made.close()


def other_daemon(system, *options):
    """A second daemon of the same account, with a state and a socket of its own; it inherits no environment."""
    return [system.place / 'fairleadd', '--system', '--account', system.accounts.daemon.pw_name,
            '--state', system.place / 'other', '--socket', system.run_directory / 'other.sock', *options]


def arguments_of(pid):
    return pathlib.Path('/proc/%d/cmdline' % pid).read_text().split('\0')


def owner_of(system):
    return dict(line.split('=', 1) for line in (system.place / 'launcher/owner').read_text().splitlines())


def start_waiting(system):
    alice = system.accounts.alice
    job = system.submit(alice, '--', 'sh', '-c', 'until [ -e go ]; do sleep 0.05; done; echo done')
    until(lambda: 'RUNNING' in system.good(alice, 'queue'), 'the job to run')
    return job


def finish(system, job):
    alice = system.accounts.alice
    (system.home(alice) / 'go').touch()
    assert system.run(alice, 'wait', job).returncode == 0
    assert (system.home(alice) / ('fairlead-%d.out' % job)).read_text() == 'done\n'
    (system.home(alice) / 'go').unlink()


@pytest.mark.parametrize('first', ['running', 'stopped'])
def test_a_launcher_serves_one_instance(system, first):
    """A second instance is refused before it has made anything, and the jobs of the first one run on."""
    job = start_waiting(system)
    if first == 'stopped':
        system.stop()
    done = subprocess.run(other_daemon(system, '--launcher-state', system.place / 'launcher'), capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 2 and done.stderr == (
        'fairleadd: the launcher at %s belongs to the instance in %s and cannot serve %s as well: give that one a launcher of '
        'its own with --launcher-state DIR (if the first is gone for good, remove %s/owner)\n' % (
            system.place / 'launcher', system.place / 'state', system.place / 'other', system.place / 'launcher')), done
    assert not (system.place / 'other').exists()
    if first == 'stopped':
        system.start()
    finish(system, job)


def test_the_launcher_itself_refuses_another_instance(system):
    """Where the first state directory cannot be found, only the launcher knows that it has jobs, and a daemon."""
    job = start_waiting(system)
    (system.place / 'state/instance').rename(system.place / 'kept')
    done = subprocess.run(other_daemon(system, '--launcher-state', system.place / 'launcher'), capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 2 and 'belongs to the instance in %s/state' % system.place in done.stderr
    (system.place / 'kept').rename(system.place / 'state/instance')
    finish(system, job)
    log = (system.place / 'log').read_text()
    assert log.count('event=executor-synced') == 1, log  # its connection was not taken away


def test_a_launcher_gets_a_new_owner_when_the_former_is_gone(system):
    first = owner_of(system)
    assert first['state'] == str(system.place / 'state')
    system.stop()
    shutil.rmtree(system.place / 'state')
    other = subprocess.Popen(other_daemon(system, '--launcher-state', system.place / 'launcher'), stderr=subprocess.DEVNULL,
                             stdin=subprocess.DEVNULL)
    until(lambda: (system.run_directory / 'other.sock').exists() or other.poll() is not None, 'the other instance')
    second = owner_of(system)
    assert (second['state'], other.poll()) == (str(system.place / 'other'), None) and second['id'] != first['id']
    other.send_signal(signal.SIGTERM)
    assert other.wait(60) == 0


def test_an_instance_that_moved_keeps_its_launcher(system):
    system.stop()
    (system.place / 'state').rename(system.place / 'moved')
    (system.place / 'state').mkdir()
    other = other_daemon(system, '--launcher-state', system.place / 'launcher')
    other[other.index('--state') + 1] = system.place / 'moved'
    daemon = subprocess.Popen(other, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    until(lambda: owner_of(system)['state'] == str(system.place / 'moved') or daemon.poll() is not None, 'the new path')
    assert daemon.poll() is None
    until(lambda: (system.run_directory / 'other.sock').exists(), 'the socket')
    daemon.send_signal(signal.SIGTERM)
    assert daemon.wait(60) == 0


def test_two_instances_side_by_side(system):
    """Each with a launcher of its own."""
    job = start_waiting(system)
    other = subprocess.Popen(other_daemon(system, '--launcher-state', system.place / 'other-launcher'), stderr=subprocess.DEVNULL,
                             stdin=subprocess.DEVNULL)
    socket = system.run_directory / 'other.sock'
    until(lambda: socket.exists() or other.poll() is not None, 'the other instance')
    second = system.submit(system.accounts.alice, '--socket', socket, '-o', 'second', '--', 'echo', 'done')
    system.good(system.accounts.alice, 'wait', '--socket', socket, second)
    assert (system.home(system.accounts.alice) / 'second').read_text() == 'done\n'
    other.send_signal(signal.SIGTERM)
    assert other.wait(60) == 0
    finish(system, job)


def test_a_daemon_whose_launcher_is_lost_to_another_logs_that_once(system):
    """As after an upgrade that left two: no loop of connections, and no line for each try."""
    job = start_waiting(system)
    for pid in find_processes('fairlead-launcher'):
        if str(system.place / 'launcher') in arguments_of(pid):
            kill(pid)
    (system.place / 'launcher/owner').write_text('id=0\nstate=%s\n' % system.place)
    (system.place / 'instance').touch()
    launcher = subprocess.Popen([system.place / 'fairlead-launcher', '--system', '--state', system.place / 'launcher',
                                 '--daemon-user', system.accounts.daemon.pw_name], stderr=subprocess.DEVNULL,
                                stdin=subprocess.DEVNULL)
    until(lambda: 'belongs to the instance in %s' % system.place in system.good(None, 'status'), 'the refusal in status')
    first = (system.place / 'log').read_text().count('belongs to the instance')
    time.sleep(3)  # some tries
    assert (system.place / 'log').read_text().count('belongs to the instance') == first == 1
    (system.place / 'launcher/owner').unlink()
    finish(system, job)
    launcher.send_signal(signal.SIGTERM)
    launcher.wait(60)
    assert os.path.exists(system.place / 'launcher/owner') and alive(system.daemon.pid)


def test_what_waits_for_a_launcher_says_so(system):
    """Not that it could start now."""
    alice = system.accounts.alice
    (pid,) = [pid for pid in find_processes('fairlead-launcher') if str(system.place / 'launcher') in arguments_of(pid)]
    kill(pid)
    until(lambda: 'no launcher answers' in system.good(None, 'status'), 'the failure in status')
    job = system.submit(alice, '--', 'true')
    row = until(lambda: [row for row in json.loads(system.good(alice, 'queue', '--json')) if row['reason'] == 'JobLaunchFailure'],
                'the reason')[0]
    assert (row['job_id'], row['state']) == (job, 'PENDING')
    check = system.run(alice, 'check', job).stdout
    assert re.search('As it is now: .*no(t|thing)', check) and 'the machine can start no job at present: no launcher answers' in check
    tested = system.run(alice, 'submit', '--test-only', '--', 'true').stdout
    assert 'would start now' not in tested and 'the machine can start no job at present' in tested
    subprocess.Popen([system.place / 'fairlead-launcher', '--system', '--state', system.place / 'launcher', '--daemon-user',
                      system.accounts.daemon.pw_name], stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    assert system.run(alice, 'wait', job).returncode == 0
    assert 'would start now' in system.good(alice, 'submit', '--test-only', '--', 'true')


def test_a_user_who_is_new_is_known_at_once(system):
    """Although the uid has asked before it had a name."""
    uid, name = 61234, 'fltest%dn' % os.getpid()
    while subprocess.run(['getent', 'passwd', str(uid)], capture_output=True).returncode == 0:
        uid += 1
    command = ['setpriv', '--reuid', str(uid), '--regid', str(uid), '--clear-groups', system.place / 'fairlead', 'whoami',
               '--socket', system.socket]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and 'this machine has no user with uid %d' % uid in done.stderr, done
    subprocess.run(['useradd', '-M', '-N', '-u', str(uid), name], check=True, capture_output=True)
    try:
        begin = time.monotonic()
        done = until(lambda: [run for run in [subprocess.run(command, capture_output=True, text=True, timeout=60)]
                              if run.returncode == 0], 'the name')[0]
        assert name in done.stdout and time.monotonic() - begin < 50  # it was 60 s
    finally:
        subprocess.run(['userdel', '-f', name], capture_output=True)


def test_a_socket_that_users_would_not_trust_is_refused(system):
    """Nothing is made first."""
    for path in ('/tmp/x/fairlead.sock', '/run/fairlead.sock', '/run/a/b/fairlead.sock', '/run/../tmp/fairlead.sock'):
        for program in ([system.place / 'fairleadd', '--account', system.accounts.daemon.pw_name], [system.place / 'fairlead', 'start']):
            done = subprocess.run([*program, '--system', '--state', system.place / 'new', '--launcher-state', system.place / 'new',
                                   '--socket', path], capture_output=True, text=True, timeout=60)
            assert done.returncode == 2 and done.stderr.count('\n') == 1, done
            assert "--socket: '%s' is not a path /run/NAME/FILE" % path in done.stderr
            assert not (system.place / 'new').exists()


def test_stop_leaves_another_instance_alone(system):
    """Another state, and a socket at which nothing answers."""
    other = system.run(None, 'stop', '--system', '--state', system.place / 'elsewhere', '--socket', system.socket)
    assert other.returncode == 2 and other.stderr == (
        'fairlead stop: the instance at %s has another state, %s, and not %s: it was not stopped\n' % (
            system.socket, system.place / 'state', system.place / 'elsewhere'))
    none = system.run(None, 'stop', '--system', '--socket', '/run/no-such/fairlead.sock')
    assert none.returncode == 1 and none.stderr == (
        'fairlead stop: no instance answers at /run/no-such/fairlead.sock: nothing to stop\n')
    assert alive(system.daemon.pid)
    done = system.run(None, 'stop', '--system', '--state', system.place / 'state', '--socket', system.socket)
    assert done.returncode == 0, done
    system.daemon.wait(60)


OLD_LAUNCHER = """
import fcntl, os, pwd, socket, sys
lock = open('launcher.lock', 'a')
fcntl.flock(lock, fcntl.LOCK_EX)
listener = socket.socket(socket.AF_UNIX)
listener.bind('launcher.sock')
os.chown('launcher.sock', pwd.getpwnam(sys.argv[1]).pw_uid, 0)
listener.listen(5)
print('listens', flush=True)
connection = listener.accept()[0]
connection.recv(1000)
connection.sendall(bytes([13, 0, 0, 0, 1]) + b'fairlead' + bytes([7, 0, 0, 0]))
os.unlink('launcher.sock')
"""


def test_start_replaces_a_launcher_of_another_version(system):
    """As after an upgrade without systemd: the old one ends when the new daemon connects."""
    system.stop()
    for pid in find_processes('fairlead-launcher'):
        if str(system.place / 'launcher') in arguments_of(pid):
            kill(pid)
    system.socket.unlink(missing_ok=True)
    (system.place / 'launcher/launcher.sock').unlink(missing_ok=True)
    old = subprocess.Popen([sys.executable, '-c', OLD_LAUNCHER, system.accounts.daemon.pw_name], cwd=system.place / 'launcher',
                           stdout=subprocess.PIPE, text=True)
    assert old.stdout.readline() == 'listens\n'
    try:
        options = ['--state', system.place / 'state', '--launcher-state', system.place / 'launcher', '--socket', system.socket]
        done = system.run(None, 'start', '--system', '--account', system.accounts.daemon.pw_name, *options)
        assert done.returncode == 0 and done.stdout.startswith('Started: process '), done
        assert old.wait(60) == 0 and 'no launcher answers' in (system.place / 'launcher/fairleadd.log').read_text()
        system.good(system.accounts.alice, 'wait', system.submit(system.accounts.alice, '--', 'true'))
        system.run(None, 'stop', '--system', '--socket', system.socket)
    finally:
        old.kill()
        old.communicate()
