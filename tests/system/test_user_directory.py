"""Users of a directory service, such as LDAP, that answers slowly, not at all, or says that it cannot be reached. The service is a
library for nsswitch.conf (nss_directory.c), in a mount namespace of the instance's own: the machine's files stay as they are. Needs
root."""
import contextlib
import errno
import json
import os
import pathlib
import pwd
import shutil
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exec_world import BUILD, until  # noqa: E402
from test_system_instance import SystemInstance  # noqa: E402
from test_system_launcher import Accounts, accounts  # noqa: E402,F401
from test_system_launcher import why_not as why_no_accounts  # noqa: E402

# Seconds that a client may wait for the directory (USERS_WAIT_S), and much less than the test's patience.
WAIT_S, SOON_S = 10, 8
ANNA, BEN = 61901, 61902
# No answer, in the ways of services: nslcd that does not run, a server that refuses, one that is overloaded.
NO_ANSWER = 'unavailable-%d' % errno.ENOENT, 'unavailable-%d' % errno.ECONNREFUSED, 'again-%d' % errno.EAGAIN


def why_not():
    if reason := why_no_accounts():
        return reason.replace('the launcher for all users', 'users of a directory service')
    probe = subprocess.run(['unshare', '-m', 'mount', '--bind', '/etc/nsswitch.conf', '/etc/nsswitch.conf'], capture_output=True, text=True)
    if probe.returncode != 0:
        return 'NOT TESTED: users of a directory service, because nothing can be mounted here: %s' % probe.stderr.strip()
    if any(uid in (entry.pw_uid for entry in pwd.getpwall()) for uid in (ANNA, BEN)):
        return 'NOT TESTED: users of a directory service, because uid %d or %d has an account' % (ANNA, BEN)
    return ''


pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())


class DirectoryInstance(SystemInstance):
    """anna and ben are in the directory only; so are the groups `lab`, of which both are members, and `rulers`, of which anna is."""

    def __init__(self, accounts):
        self.users = {name: pwd.struct_passwd((name, 'x', uid, uid, '', '/', '/bin/sh')) for name, uid in (('fltest-anna', ANNA), ('fltest-ben', BEN))}
        self.anna, self.ben = self.users.values()
        self.lab, self.rulers = 61950, 'fltest-rulers'
        super().__init__(accounts)

    def start(self):
        """In a namespace with the directory."""
        self.nss = self.place / 'nss'
        if not self.nss.exists():
            self.make_directory()
        self.log = open(self.place / 'log', 'ab')
        self.daemon = subprocess.Popen(
            ['unshare', '-m', '--propagation', 'private', 'sh', '-c', 'mount --bind "$0" /etc/nsswitch.conf && exec "$@"', self.nss / 'nsswitch.conf',
             self.place / 'fairleadd', '--system', '--account', self.accounts.daemon.pw_name, '--state', self.place / 'state',
             '--launcher-state', self.place / 'launcher', '--socket', self.socket],
            stderr=self.log, stdin=subprocess.DEVNULL, env={**os.environ, 'LD_LIBRARY_PATH': str(self.nss)})
        until(lambda: self.socket.exists() or self.daemon.poll() is not None, 'the socket')
        assert self.daemon.poll() is None, (self.place / 'log').read_text()

    def make_directory(self):
        self.nss.mkdir()
        self.nss.chmod(0o1777)
        shutil.copy(BUILD / 'tests/system/nss-directory.so', self.nss / 'libnss_fltest.so.2')
        lines = pathlib.Path('/etc/nsswitch.conf').read_text().splitlines()
        kept = [line for line in lines if line.split(':')[0].strip() not in ('passwd', 'group', 'initgroups')]
        (self.nss / 'nsswitch.conf').write_text('\n'.join(['passwd: files fltest', 'group: files fltest', *kept]) + '\n')
        for user in self.users.values():
            self.home(user).mkdir(mode=0o700)
            os.chown(self.home(user), user.pw_uid, user.pw_gid)
        (self.nss / 'passwd').write_text(''.join('%s:x:%d:%d::%s:/bin/sh\n' % (name, user.pw_uid, user.pw_gid, self.home(user))
                                                 for name, user in self.users.items()))
        (self.nss / 'group').write_text('fltest-lab:x:%d:%s\n%s:x:61951:fltest-anna\n' % (self.lab, ','.join(self.users), self.rulers))

    def set_how(self, *lines):
        (self.nss / 'how.new').write_text(''.join(line + '\n' for line in lines))
        (self.nss / 'how.new').rename(self.nss / 'how')

    def popen(self, user, *arguments, gid=None):
        """A command of a user of the directory, or of an account."""
        identity = ['setpriv', '--reuid', str(user.pw_uid), '--regid', str(gid or user.pw_gid), '--clear-groups']
        environment = {'PATH': '/usr/bin:/bin', 'FAIRLEAD_SOCKET': str(self.socket), 'HOME': str(self.home(user))}
        return subprocess.Popen([*identity, self.place / 'fairlead', *map(str, arguments)], cwd=self.home(user), env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, user, *arguments, gid=None, **options):
        if user is None:
            return super().run(user, *arguments, **options)
        process = self.popen(user, *arguments, gid=gid)
        out, err = process.communicate(timeout=120)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def row(self, job):
        return json.loads(self.good(None, 'show', 'job', job, '--json'))[0]

    def restart(self):
        self.daemon.kill()
        self.daemon.wait()
        self.socket.unlink()
        self.start()

    def close(self):
        self.set_how()  # a thread that waits for ever
        super().close()


@pytest.fixture
def system(accounts):
    made = DirectoryInstance(accounts)
    try:
        yield made
    finally:
        made.close()


def seconds_of(call, *arguments):
    began = time.monotonic()
    call(*arguments)
    return time.monotonic() - began


def test_users_of_a_directory_have_jobs(system):
    """With the groups that the directory says."""
    job = system.submit(system.anna, '--', 'sh', '-c', 'id -u; id -G')
    system.good(system.anna, 'wait', job)
    assert (system.home(system.anna) / ('fairlead-%d.out' % job)).read_text().splitlines() == [
        str(ANNA), '%d %d 61951' % (ANNA, system.lab)]
    assert system.row(job)['user'] == 'fltest-anna'
    system.good(None, 'set', 'administrator_group=' + system.rulers)
    assert json.loads(system.good(system.anna, 'whoami', '--json'))['role'] == 'administrator'
    assert json.loads(system.good(system.ben, 'whoami', '--json'))['role'] == 'user'


def test_a_directory_that_hangs_delays_only_who_is_unknown(system):
    """The others are answered at once, and the one who waits is refused after a bound. Then nothing is left of the request."""
    system.set_how('%d wait' % ANNA)
    waiting = [system.popen(system.anna, 'submit', '--', 'true') for _ in range(3)]
    until((system.nss / ('waiting-%d' % ANNA)).exists, 'the lookup')
    assert seconds_of(system.submit, system.accounts.alice, '--hold', '--', 'true') < SOON_S
    assert seconds_of(system.submit, system.ben, '--hold', '--', 'true') < SOON_S
    assert seconds_of(system.good, None, 'queue') < SOON_S
    for process in waiting:
        out, err = process.communicate(timeout=60)
        assert (process.returncode != 0, out) == (True, '')
        assert 'the user database has not said for %d s who uid %d is: try again later' % (WAIT_S, ANNA) in err and err.count('\n') == 1
    assert seconds_of(lambda: system.bad(system.anna, 'queue')) < SOON_S  # still no answer: no second wait
    assert [row['user'] for row in json.loads(system.good(None, 'queue', '--json'))] == [system.accounts.alice.pw_name, 'fltest-ben']
    system.set_how()
    until(lambda: system.run(system.anna, 'queue').returncode == 0, 'the answer')
    system.good(system.anna, 'wait', system.submit(system.anna, '--', 'true'))


def test_root_administers_while_the_directory_hangs(system):
    """Its groups are asked for there, too; root needs none."""
    system.set_how('root wait')
    who = json.loads(system.good(None, 'whoami', '--json'))
    assert (who['user'], who['uid'], who['role']) == ('root', 0, 'administrator')
    assert seconds_of(system.good, None, 'set', 'grace_s=1') < SOON_S


def test_a_stop_does_not_wait_for_the_directory(system):
    system.set_how('%d wait' % ANNA)
    waiting = system.popen(system.anna, 'queue')
    until((system.nss / ('waiting-%d' % ANNA)).exists, 'the lookup')
    job = system.submit(system.accounts.alice, '--hold', '--', 'true')
    assert seconds_of(system.stop) < SOON_S
    waiting.communicate(timeout=60)
    assert waiting.returncode != 0
    system.set_how()
    system.start()
    assert system.row(job)['state'] == 'PENDING'


@pytest.mark.parametrize('how', NO_ANSWER)
def test_a_directory_that_cannot_be_reached_loses_nothing(system, how):
    """That is never taken for "no such user": jobs that would start wait for it, and clients are told what is wrong."""
    held = system.submit(system.anna, '--hold', '--', 'true')
    system.set_how('passwd ' + how)
    system.restart()
    said = system.bad(system.anna, 'queue')
    assert 'the user database does not say who uid %d is' % ANNA in said, said
    assert system.good(None, 'release', held) == 'Released 1 job\n'
    until(lambda: json.loads(system.good(None, 'status', '--json'))['launch_failure'], 'the launch that fails')
    assert 'the user database does not answer for user %d' % ANNA in json.loads(system.good(None, 'status', '--json'))['launch_failure']
    row = system.row(held)
    assert (row['state'], row['held']) == ('PENDING', False), row
    other = system.submit(system.accounts.alice, '--', 'true')
    system.good(None, 'wait', other)
    system.set_how()
    system.good(None, 'wait', held)
    assert system.row(held)['state'] == 'COMPLETED'


@pytest.mark.parametrize('how', NO_ANSWER)
def test_a_group_of_a_directory_that_cannot_be_reached(system, how):
    """The user is known, but not whether it is a member of the group that the job is to run with."""
    job = int(system.run(system.anna, 'submit', '--parsable', '--hold', '--', 'id', '-g', gid=system.lab).stdout)
    system.set_how('groups ' + how, 'group ' + how)
    assert system.good(None, 'release', job) == 'Released 1 job\n'
    until(lambda: json.loads(system.good(None, 'status', '--json'))['launch_failure'], 'the launch that fails')
    assert system.row(job)['state'] == 'PENDING'
    system.set_how()
    system.good(None, 'wait', job)
    assert (system.home(system.anna) / ('fairlead-%d.out' % job)).read_text() == '%d\n' % system.lab


@pytest.mark.slow
@pytest.mark.parametrize('how, is_lost', [(NO_ANSWER[0], False), ('wait', False), ('absent', True)])
def test_only_a_directory_that_says_so_removes_a_user(system, how, is_lost):
    """Two looks, a minute apart, or more where the daemon has nothing else to do."""
    job = system.submit(system.anna, '--begin', 'now+7200', '--', 'true')
    system.set_how('passwd ' + how)
    with contextlib.suppress(AssertionError) if not is_lost else contextlib.nullcontext():
        until(lambda: system.row(job)['held'], 'the hold', patience=400 if is_lost else 150)
    row = system.row(job)
    assert (row['state'], row['held']) == ('PENDING', is_lost), row
    system.set_how()
    if is_lost:
        assert "user 'fltest-anna' (uid %d) was removed from the machine" % ANNA in row['admin_comment']
        assert system.good(None, 'release', job) == 'Released 1 job\n'
    until(lambda: system.run(system.anna, 'cancel', job).returncode == 0, 'the directory to answer')
