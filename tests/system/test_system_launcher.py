"""The launcher that serves all users: which identity a job gets, what it opens, and what a hostile user, or a daemon that has
been taken over, cannot do. One test for each class of fault that other schedulers had here. Needs root, to make accounts."""
import ctypes
import errno
import grp
import itertools
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exec_world import (BUILD, DRIVER, LAUNCHER, US, SystemWorld, alive, as_account, kill,  # noqa: E402
                        make_public_directory, parent, until)

TOOLS = 'useradd', 'userdel', 'groupadd', 'groupdel', 'usermod', 'setpriv'
NOBODY = 65534
PROTOCOL = (pathlib.Path(__file__).resolve().parents[2] / 'src' / 'exec' / 'protocol.h').read_text()
VERSION = int(re.search(r'PROTOCOL_VERSION = (\d+)', PROTOCOL).group(1))
HELLO = b'\x0d\0\0\0\x01fairlead' + VERSION.to_bytes(4, 'little')  # of a daemon of this version


def why_not():
    if os.geteuid() != 0:
        return 'NOT TESTED: the launcher for all users, because this is not root'
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    return 'NOT TESTED: the launcher for all users, because there is no %s' % ', '.join(missing) if missing else ''


pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())


class Accounts:
    """Accounts that exist as long as this object. daemon: the daemon's. alice is a member of `team`, mallory is not."""

    def __init__(self):
        prefix = 'fltest%d' % os.getpid()
        self.team_name = prefix + 'g'
        self.names = {name: prefix + name[0] for name in ('daemon', 'alice', 'mallory')}

    def make(self):
        remove_stale_accounts()
        subprocess.run(['groupadd', self.team_name], check=True)
        uids = itertools.count(20000 + os.getpid() % 13000 * 3)  # those of other runs are others, also while one is free for a while
        for name, account in self.names.items():
            kind = ['--system'] if name == 'daemon' else ['--uid', str(next(uids))]
            subprocess.run(['useradd', '--no-create-home', '--user-group', *kind, account], check=True)
            setattr(self, name, pwd.getpwnam(account))
        subprocess.run(['usermod', '-a', '-G', self.team_name, self.alice.pw_name], check=True)
        self.team = grp.getgrnam(self.team_name)

    def remove(self):
        for account in self.names.values():
            subprocess.run(['userdel', '-f', account], capture_output=True)
        subprocess.run(['groupdel', self.team_name], capture_output=True)


def remove_stale_accounts():
    """Those of runs that were killed."""
    for entries, command in ((pwd.getpwall(), ['userdel', '-f']), (grp.getgrall(), ['groupdel'])):
        for entry in entries:
            match = re.fullmatch(r'fltest(\d+)[a-z]', entry[0])
            if match and not alive(int(match.group(1))):
                subprocess.run([*command, entry[0]], capture_output=True)


@pytest.fixture(scope='module')
def accounts():
    if reason := why_not():
        pytest.skip(reason)
    made = Accounts()
    try:
        made.make()
        yield made
    finally:
        made.remove()


@pytest.fixture
def directory():
    made = make_public_directory()
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture
def make_world(accounts, directory):
    made = []

    def make(*options, **others):
        world = SystemWorld(directory, accounts.daemon, options, **others)
        made.append(world)
        world.connect()
        assert world.synced() == {}
        return world

    yield make
    for world in made:
        world.close()


@pytest.fixture
def world(make_world):
    return make_world()


@pytest.fixture
def failing(make_world, directory):
    """A world whose file `fault` says what fails (crash/fail_identity.c)."""
    def set_fault(text):
        (directory / 'fault.new').write_text(text)
        (directory / 'fault.new').rename(directory / 'fault')

    sanitizer = 'libasan.so.8 ' if os.environ.get('FAIRLEAD_SANITIZED') == '1' else ''
    world = make_world(prefix=['env', 'LD_PRELOAD=%sfail-identity.so' % sanitizer, 'LD_LIBRARY_PATH=%s' % (BUILD / 'tests/crash'),
                               'FAIL_IDENTITY=%s' % (directory / 'fault')])
    world.set_fault = set_fault
    yield world
    (directory / 'fault').unlink(missing_ok=True)


def refused(record, end='refused'):
    """The detail of the end of a launch that did not run."""
    assert (record['end'], record['started_us'], record['pid']) == (end, 0, 0), record
    return record['detail']


def shared(world, name='shared', mode=0o1777):
    """A directory that all users can write, as /tmp is."""
    path = world.path / name
    path.mkdir()
    path.chmod(mode)
    return path


def make_file(path, text, owner=None, mode=0o644):
    path.write_text(text)
    path.chmod(mode)
    if owner is not None:
        os.chown(path, owner.pw_uid, owner.pw_gid)
    return path


def make_link(path, target, owner):
    path.symlink_to(target)
    os.chown(path, owner.pw_uid, owner.pw_gid, follow_symlinks=False)
    return path


# ---- the identity of a job ----

STATUS = 'cat /proc/self/status'


def fields_of(status):
    return dict(line.split(':', 1) for line in status.splitlines())


@pytest.mark.parametrize('options', [[], ['--no-cgroup']])
def test_the_identity_is_switched_completely(make_world, accounts, options):
    """Groups, gid and uid, of a launcher that has groups and inheritable capabilities itself. (Slurm: the launch went on
    after a failed switch, CVE-2019-19728.)"""
    world = make_world(*options, prefix=['setpriv', '--groups=0,4,6', '--inh-caps=+chown,+setuid'])
    record, status = world.run(1, 'sh', '-c', STATUS, user=accounts.alice)
    assert (record['end'], record['exit_status']) == ('exited', 0)
    got, alice = fields_of(status), accounts.alice
    assert got['Uid'].split() == [str(alice.pw_uid)] * 4 and got['Gid'].split() == [str(alice.pw_gid)] * 4
    assert sorted(map(int, got['Groups'].split())) == sorted([alice.pw_gid, accounts.team.gr_gid])
    assert {name: int(got[name], 16) for name in ('CapInh', 'CapPrm', 'CapEff', 'CapAmb')} == dict.fromkeys(
        ('CapInh', 'CapPrm', 'CapEff', 'CapAmb'), 0)
    assert got['Seccomp'].strip() == fields_of(pathlib.Path('/proc/self/status').read_text())['Seccomp'].strip()


def test_a_group_of_the_user_may_be_the_jobs_group(world, accounts):
    alice, team = accounts.alice, accounts.team.gr_gid
    _, status = world.run(1, 'sh', '-c', STATUS, user=alice, gid=team)
    got = fields_of(status)
    assert got['Gid'].split() == [str(team)] * 4
    assert sorted(map(int, got['Groups'].split())) == sorted([alice.pw_gid, team])
    assert (world.home(alice) / '1.out').stat().st_gid == team


def test_a_group_that_is_not_the_users_is_refused(world, accounts):
    """(Slurm honoured any gid of the message, CVE-2018-10995.)"""
    mallory = accounts.mallory
    for launch_id, gid in enumerate((accounts.team.gr_gid, 0, accounts.alice.pw_gid, 4294967294), 1):
        record, output = world.run(launch_id, 'id', user=mallory, gid=gid)
        assert refused(record) == 'user %d is not a member of group %d, as the user database has it' % (mallory.pw_uid, gid)
        assert output is None


def test_a_gid_that_means_unchanged_is_refused(world, accounts):
    record, _ = world.run(1, 'id', user=accounts.alice, gid=4294967295)
    assert refused(record).startswith("gid: 4294967295 is not a group id")


def test_root_and_system_accounts_are_refused(world, accounts):
    daemon = pwd.getpwnam('daemon')
    cannot = 'cannot start a job as '
    for launch_id, (uid, detail) in enumerate([
            (0, cannot + 'root: the launcher serves users only'),
            (daemon.pw_uid, cannot + 'user %d: it is a system account; users begin at 1000' % daemon.pw_uid),
            (accounts.daemon.pw_uid, cannot + "user %d: that is the daemon's own account" % accounts.daemon.pw_uid),
            (NOBODY, cannot + 'user 65534: that account stands for no user')], 1):
        record, output = world.run(launch_id, 'id', uid=uid, gid=uid)
        assert refused(record) == detail and output is None


def test_root_is_served_if_it_is_allowed(make_world, accounts):
    world = make_world('--allow-root')
    record, output = world.run(1, 'id', '-u', uid=0, gid=0)
    assert (record['end'], output) == ('exited', '0\n')
    record, status = world.run(2, 'sh', '-c', STATUS, user=accounts.daemon)
    assert fields_of(status)['Uid'].split() == [str(accounts.daemon.pw_uid)] * 4


def test_a_uid_that_is_not_in_the_user_database_is_refused(world):
    unknown = next(uid for uid in range(54321, 60000) if not exists(uid))
    record, _ = world.run(1, 'id', uid=unknown, gid=unknown)
    assert refused(record) == 'there is no user %d in the user database' % unknown
    record, _ = world.run(2, 'id', uid=4294967295, gid=0)
    assert refused(record).startswith('uid: 4294967295 is not a user id')


def exists(uid):
    try:
        return bool(pwd.getpwuid(uid))
    except KeyError:
        return False


@pytest.mark.parametrize('call', ['setgroups', 'setresgid', 'setresuid'])
@pytest.mark.parametrize('how', [errno.EPERM, errno.EINVAL, 'lie'])
def test_a_switch_that_fails_starts_nothing(failing, accounts, call, how):
    failing.set_fault('%s %s' % (call, how))
    record, output = failing.run(1, 'id', user=accounts.alice)
    why = os.strerror(errno.EPERM if how == 'lie' else how)
    assert refused(record) == 'cannot become user %d, group %d: %s' % (accounts.alice.pw_uid, accounts.alice.pw_gid, why)
    assert output is None


# ---- the user database ----


@pytest.mark.parametrize('function, number, end', [
    ('getpwuid_r', errno.EIO, 'unavailable'), ('getpwuid_r', errno.EMFILE, 'unavailable'),
    ('getpwuid_r', errno.ENFILE, 'unavailable'), ('getpwuid_r', errno.ENOMEM, 'unavailable'),
    ('getpwuid_r', errno.ETIMEDOUT, 'unavailable'), ('getpwuid_r', errno.ERANGE, 'unavailable'),
    ('getpwuid_r', errno.ECONNREFUSED, 'unavailable'), ('getgrouplist', errno.ENOMEM, 'unavailable'),
    ('getpwuid_r', errno.ENOENT, 'unavailable'), ('getpwuid_r', errno.ESRCH, 'unavailable'), ('getpwuid_r', 'lie', 'refused'),
])
def test_a_failed_lookup_is_no_missing_user(failing, accounts, function, number, end):
    uid = accounts.alice.pw_uid
    failing.set_fault('%s %s' % (function, number))
    detail = refused(failing.run(1, 'id', user=accounts.alice)[0], end)
    if end == 'unavailable':
        assert detail == 'the user database does not answer for user %d: %s' % (uid, os.strerror(number))
    else:
        assert detail == 'there is no user %d in the user database' % uid


def test_an_entry_may_be_large(failing, accounts):
    failing.set_fault('entry 500000')
    assert failing.run(1, 'id', '-u', user=accounts.alice)[1] == '%d\n' % accounts.alice.pw_uid


def start_waiting(world, account, **fields):
    """Starts launch 1, whose lookup waits. Returns the pid of its process."""
    world.set_fault('getpwuid_r wait')
    world.start(1, 'id', user=account, **fields)
    until((world.path / 'fault.waiting').exists, 'the lookup')
    (process,) = map(int, pathlib.Path('/proc/{0}/task/{0}/children'.format(world.keeper_pid(1))).read_text().split())
    return process


def test_a_lookup_that_blocks_holds_nothing_else(failing, accounts):
    start_waiting(failing, accounts.alice)
    failing.set_fault('none 0')
    assert not failing.has_record(1, 'started')
    assert failing.run(2, 'id', '-u', user=accounts.mallory)[1] == '%d\n' % accounts.mallory.pw_uid


def test_a_launch_can_be_ended_while_its_user_is_looked_up(failing, accounts):
    start_waiting(failing, accounts.alice)
    failing.send('end', 1, 0)
    record = failing.ended(1)
    assert (record['end'], record['started_us']) == ('cancelled', 0)


def test_the_time_limit_holds_while_a_user_is_looked_up(failing, accounts):
    start_waiting(failing, accounts.alice, limit_us=US // 5, grace_us=US // 5)
    assert refused(failing.ended(1)) == 'its program was not executed within its time limit'


def start_delayed(world, account, launch_id, **fields):
    """Starts a launch whose process has the identity of its user, and waits before its program."""
    world.set_fault('chdir wait')
    world.start(launch_id, 'id', user=account, **fields)

    def has_identity():
        path = pathlib.Path('/proc/{0}/task/{0}/children'.format(world.keeper_pid(launch_id)))
        return any('Uid:\t%d\t' % account.pw_uid in pathlib.Path('/proc/%s/status' % pid).read_text() for pid in path.read_text().split())
    until(has_identity, 'the identity')


def test_a_start_that_its_user_delays_is_charged(failing, accounts):
    """Its CPUs are taken, whether it runs into its time limit, is cancelled, or killed. A start that the machine delays is not."""
    start_delayed(failing, accounts.alice, 1, limit_us=2 * US, grace_us=US)
    start_delayed(failing, accounts.alice, 2)
    start_delayed(failing, accounts.alice, 3)
    failing.set_fault('getpwuid_r wait')
    failing.start(4, 'id', user=accounts.alice, limit_us=2 * US, grace_us=US)
    (process,) = pathlib.Path('/proc/{0}/task/{0}/children'.format(failing.keeper_pid(3))).read_text().split()
    record = failing.ended(1)
    assert (record['end'], record['pid'], record['detail']) == ('refused', 0, 'its program was not executed within its time limit')
    assert record['at_us'] - record['started_us'] >= 3 * US and record['started_us'] > 0
    failing.send('end', 2, 0)
    record = failing.ended(2)
    assert record['end'] == 'cancelled' and record['at_us'] - record['started_us'] >= 2 * US and record['started_us'] > 0
    kill(int(process))
    record = failing.ended(3)
    assert record['end'] == 'refused' and record['at_us'] - record['started_us'] >= 2 * US and record['started_us'] > 0
    assert refused(failing.ended(4)) == 'its program was not executed within its time limit'


def test_the_memory_of_launches_is_not_the_jobs(world, accounts):
    """The process that becomes the job is a copy of the keeper, and that of the launcher, with all that it holds."""
    script = 'exit 0\n' + '#' * (50 << 20)
    record = world.run(1, script=script, user=accounts.alice)[0]
    assert (record['end'], record['exit_status']) == ('exited', 0) and record['max_rss_kib'] < 16 << 10
    record = world.run(2, script='a=$(head -c 200000000 /dev/zero | tr "\\0" x)\n' + script, user=accounts.alice)[0]
    assert record['exit_status'] == 0 and record['max_rss_kib'] > 190000


@pytest.mark.slow
def test_a_start_has_a_minute(failing, accounts):
    """Also without a time limit."""
    failing.set_fault('getpwuid_r wait')
    failing.start(1, 'id', user=accounts.alice)
    until((failing.path / 'fault.waiting').exists, 'the lookup')
    start_delayed(failing, accounts.alice, 2)
    time.sleep(59)
    record = failing.ended(2)
    assert (record['end'], record['detail']) == ('refused', 'its program was not executed within 60 s')
    assert record['started_us'] > 0
    assert refused(failing.ended(1), 'unavailable') == 'the user database did not answer in time'


def test_a_user_who_kills_the_process_before_its_start_fails_alone(failing, accounts):
    """Not the fault of the machine, after which the daemon makes all jobs wait."""
    kill(start_waiting(failing, accounts.alice))
    assert refused(failing.ended(1)) == "the job's process was killed before it executed the program"


def test_a_user_with_too_many_processes_fails_alone(make_world, accounts):
    world = make_world(prefix=['prlimit', '--nproc=0'])
    with subprocess.Popen([*as_account(accounts.alice), 'sleep', '600']) as other:
        try:
            until(lambda: os.stat('/proc/%d' % other.pid).st_uid == accounts.alice.pw_uid, 'the other process')
            record, _ = world.run(1, 'id', user=accounts.alice)
        finally:
            other.kill()
    assert refused(record) == 'cannot run id: Resource temporarily unavailable'


def test_the_process_ends_with_its_keeper_while_its_user_is_looked_up(failing, accounts):
    process = start_waiting(failing, accounts.alice)
    kill(failing.keeper_pid(1))
    until(lambda: not alive(process), "the job's process to be gone")


# ---- who is listened to ----


def connect_as(account, path, bytes_sent=b''):
    """What a process of an account gets from a socket before its end."""
    script = ('import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.settimeout(30)\ns.connect(sys.argv[1])\n'
              'try:\n s.sendall(bytes.fromhex(sys.argv[2]))\n print(s.recv(100))\n'
              'except ConnectionError: print(b"")\n')
    command = ['/usr/bin/python3', '-c', script, path, bytes_sent.hex()]
    return subprocess.run([*(as_account(account) if account else []), *command], capture_output=True, text=True)


def test_only_the_daemons_account_is_listened_to(world, accounts):
    """(Grid Engine, gflow and others believed what the message said; here the kernel says who sends it.)"""
    path = world.state / 'launcher.sock'
    assert (path.stat().st_uid, stat.S_IMODE(path.stat().st_mode)) == (accounts.daemon.pw_uid, 0o600)
    assert 'PermissionError' in connect_as(accounts.mallory, path).stderr
    path.chmod(0o666)
    for account in (accounts.mallory, None):
        done = connect_as(account, path, HELLO)
        assert done.stdout == "b''\n", done.stderr
    assert world.run(1, 'id', '-u', user=accounts.alice)[1] == '%d\n' % accounts.alice.pw_uid  # still connected


def test_root_may_be_the_daemon_if_it_is_allowed(make_world, accounts):
    world = make_world('--allow-root')
    hello = b'\x0d\0\0\0\x01fairlead'
    assert 'fairlead' in connect_as(None, world.state / 'launcher.sock', hello + b'\x08\0\0\0').stdout


@pytest.mark.parametrize('sent', [
    b'\0' * 64, b'\xff' * 64, b'GET / HTTP/1.0\r\n\r\n', b'\x01\0\0\0\x02', b'\x09\0\0\0\x04' + b'\xff' * 8,
    HELLO + b'\x05\0\0\0\x02\0\0\0\0',
    HELLO + b'\x7f' * 50])
def test_a_daemon_that_was_taken_over_cannot_break_the_launcher(world, accounts, sent):
    """(Slurm: a protocol without bounds, CVE-2019-6438, CVE-2020-27745; anonymous messages.)"""
    pid = world.launcher.pid
    connect_as(accounts.daemon, world.state / 'launcher.sock', sent)
    world.connect()
    world.synced()
    assert world.run(1, 'id', '-u', user=accounts.alice)[1] == '%d\n' % accounts.alice.pw_uid
    assert alive(pid) and world.launcher.poll() is None


@pytest.mark.parametrize('fields, detail', [
    ({'name': '../x'}, 'launch name: '), ({'directory': 'home'}, 'working directory: '), ({'out': 'file'}, 'output file: '),
    ({'err': ''}, 'error file: '), ({'limit_us': -1}, 'time limit: '), ({'grace_us': 10**15}, 'grace: '),
    ({'cpus': '70000'}, 'CPUs: ')])
def test_every_field_of_a_message_is_checked(world, accounts, fields, detail):
    world.start(1, 'id', user=accounts.alice, **fields)
    assert refused(world.ended(1)).startswith(detail)


# ---- what a job inherits ----


def test_a_job_inherits_no_descriptor(make_world, accounts, directory):
    """Not those of the launcher, nor those with which it was started."""
    world = make_world()
    kill(world.launcher.pid)
    world.launcher.wait()
    secret = make_file(directory / 'secret', 'secret', mode=0o600)
    fd = os.open(secret, os.O_RDONLY)
    world.start_launcher(pass_fds=[fd])
    world.connect()
    world.synced()
    assert world.run(1, 'sh', '-c', 'exec ls -l /proc/self/fd', user=accounts.alice)[1].count('->') == 4  # one is ls's
    assert world.run(2, 'sh', '-c', 'cat <&%d' % fd, user=accounts.alice)[0]['exit_status'] != 0
    os.close(fd)


def test_a_job_has_default_signals_and_no_terminal(make_world, accounts):
    world = make_world(prefix=['env', '--ignore-signal=INT,USR1,CHLD', '--block-signal=USR2,TERM'])
    _, status = world.run(1, 'sh', '-c', STATUS + '; (: </dev/tty) 2>&1', user=accounts.alice)
    got = fields_of(status)
    assert [int(got[name], 16) for name in ('SigBlk', 'SigIgn', 'SigCgt')] == [0, 0, 0]
    assert '/dev/tty' in status and 'No such device or address' in status


def test_environments_do_not_mix(make_world, accounts, directory):
    """A job gets the environment of its launch alone, and the launcher none of it. (Slurm: a job's environment reached
    programs of root, CVE-2017-15566, CVE-2021-31215.)"""
    world = make_world(prefix=['env', 'LAUNCHER_SECRET=x'])
    hostile = {'LD_PRELOAD': str(directory / 'evil.so'), 'PATH': '/usr/bin:/bin', 'FAIRLEAD_LAUNCH_ID': '99',
               'FAIRLEAD_LAUNCH_KEY': 'f' * 32, 'IFS': 'x'}
    world.start(1, 'sh', '-c', 'env; while [ ! -e go ]; do sleep 0.05; done', user=accounts.alice, environment=hostile)
    world.record(1, 'started')
    keeper = world.keeper_pid(1)
    environment = pathlib.Path('/proc/%d/environ' % keeper).read_bytes()
    assert b'evil' not in environment and b'IFS=x' not in environment
    (world.home(accounts.alice) / 'go').touch()
    world.ended(1)
    lines = dict(line.split('=', 1) for line in world.output(1).splitlines() if '=' in line)
    assert lines['FAIRLEAD_LAUNCH_ID'] == '1' and lines['FAIRLEAD_LAUNCH_KEY'] == world.logged(1).start['key']
    assert 'LAUNCHER_SECRET' not in lines
    assert set(lines) <= set(hostile) | {'PWD', 'SHLVL', '_', 'OLDPWD'}


KEYS = '''
import ctypes, os
call = ctypes.CDLL(None, use_errno=True).syscall
%s
'''
SEARCH = KEYS % 'print(call(250, 10, -3, b"user", b"fltest", 0) < 0)'  # KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING


def add_key():
    call = ctypes.CDLL(None, use_errno=True).syscall
    call(250, 1, None)  # KEYCTL_JOIN_SESSION_KEYRING
    return call(248, b'user', b'fltest', b'secret', 6, -3)  # add_key


@pytest.mark.skipif(os.uname().machine != 'x86_64', reason='the numbers of the system calls are those of x86-64')
def test_a_job_does_not_inherit_the_keys_of_root(make_world, accounts):
    world = make_world()
    kill(world.launcher.pid)
    world.launcher.wait()
    world.start_launcher(preexec_fn=add_key)
    world.connect()
    world.synced()
    assert world.run(1, '/usr/bin/python3', '-c', SEARCH, user=accounts.alice)[1] == 'True\n'


# ---- what a job can do to others ----

TOUCH = '''
for signal in STOP KILL TERM CONT 34; do kill -$signal $PPID 2>/dev/null && echo $signal; done
for file in mem environ fd/2 maps; do head -c 1 /proc/$PPID/$file >/dev/null 2>&1 && echo $file; done
ls /proc/$PPID/fd 2>/dev/null; ls /proc/$PPID/root/ 2>/dev/null
echo end'''
PTRACE = 'import ctypes, os\nprint(ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0))'


def test_a_job_cannot_touch_its_keeper(world, accounts):
    assert world.run(1, 'sh', '-c', TOUCH, user=accounts.alice)[1] == 'end\n'
    assert world.run(2, '/usr/bin/python3', '-c', PTRACE, user=accounts.alice)[1] == '-1\n'


def processes_of(user):
    """Their pids. Another run of tests may have left some of an account that had the same uid."""
    return set(subprocess.run(['pgrep', '-u', str(user.pw_uid)], capture_output=True, text=True).stdout.split())


def new_processes_of(user, before):
    """Those that are neither among the pids before nor forked by one of them."""
    return {pid for pid in processes_of(user) - before if str(parent(int(pid))) not in before | {'0'}}


def test_a_job_ends_although_its_processes_hide(world, accounts):
    """In a session of their own, and in the root's process tree: the keeper ends them with the launch."""
    before = processes_of(accounts.alice)
    world.start(1, 'sh', '-c', 'setsid setsid sleep 600 & sleep 600', user=accounts.alice)
    world.record(1, 'started')
    world.send('end', 1, 0)
    assert world.ended(1)['end'] == 'cancelled'
    assert new_processes_of(accounts.alice, before) == set()


def test_a_script_is_readable_by_its_user_only(world, accounts):
    """(Slurm: job scripts that others could read, CVE-2021-43337.)"""
    script = '#!/bin/sh\n# secret\ncat "$0" | sed -n 2p; while [ ! -e go ]; do sleep 0.05; done\n'
    world.start(1, script=script, user=accounts.alice)
    world.record(1, 'started')
    path = world.state / 'launches/1.script'
    assert (path.stat().st_uid, stat.S_IMODE(path.stat().st_mode)) == (0, 0o440)
    for account in (accounts.mallory, accounts.daemon):
        done = subprocess.run([*as_account(account), 'cat', path], capture_output=True, text=True)
        assert done.returncode != 0 and done.stdout == ''
    done = subprocess.run([*as_account(accounts.mallory), 'ls', world.state / 'launches'], capture_output=True, text=True)
    assert done.returncode != 0
    (world.home(accounts.alice) / 'go').touch()
    assert world.ended(1)['exit_status'] == 0 and world.output(1) == '# secret\n'
    assert not path.exists()


def test_a_script_is_no_room_for_its_user(world, accounts):
    """It is on root's disk: its user can neither write to it, nor change or link it."""
    world.start(1, script='while [ ! -e go ]; do sleep 0.05; done\n', user=accounts.alice)
    world.record(1, 'started')
    path, home = world.state / 'launches/1.script', world.home(accounts.alice)
    before = path.stat()
    for command in (['sh', '-c', 'echo more >> %s' % path], ['chmod', 'u+w', path], ['truncate', '-s', '1M', path],
                    ['setfacl', '-b', path], ['sh', '-c', 'rm -f %s' % path], ['mv', path, home]):
        subprocess.run([*as_account(accounts.alice), *command], capture_output=True)
    after = path.stat()
    assert (after.st_size, after.st_mode, after.st_uid, after.st_ctime_ns) == (
        before.st_size, before.st_mode, before.st_uid, before.st_ctime_ns)
    os.link(path, world.path / 'kept')  # as where fs.protected_hardlinks is 0
    (home / 'go').touch()
    assert world.ended(1)['exit_status'] == 0
    assert (world.path / 'kept').stat().st_size == 0 and not path.exists()


def test_a_script_that_was_left_is_replaced(world, accounts):
    """One that a keeper left which was killed, or a link: nothing is written through it."""
    victim = make_file(world.path / 'victim', 'keep')
    (world.state / 'launches/1.script').symlink_to(victim)
    assert world.run(1, script='echo new', user=accounts.alice)[1] == 'new\n'
    assert victim.read_text() == 'keep'


def test_another_user_cannot_enter_the_directory_of_a_job(world, accounts):
    home = world.home(accounts.alice)
    record, _ = world.run(1, 'id', user=accounts.mallory, directory=home)
    assert refused(record) == 'cannot enter directory %s: Permission denied' % home


# ---- the output ----


def test_an_own_file_is_cut_and_a_new_one_has_the_launchers_umask(make_world, accounts):
    world = make_world(prefix=['sh', '-c', 'umask 027; exec "$@"', 'sh'])
    home = world.home(accounts.alice)
    make_file(home / '1.out', 'old and much longer than what comes now', accounts.alice)
    assert world.run(1, 'echo', 'new', user=accounts.alice)[1] == 'new\n'
    assert world.run(2, 'sh', '-c', 'echo out; echo err >&2', user=accounts.alice, err=home / '2.out')[1] == 'out\nerr\n'
    made = (home / '2.out').stat()
    assert (made.st_uid, made.st_gid, stat.S_IMODE(made.st_mode)) == (accounts.alice.pw_uid, accounts.alice.pw_gid, 0o640)
    assert world.run(3, 'id', user=accounts.alice, out='/dev/null', err='/dev/null')[0]['exit_status'] == 0


@pytest.mark.parametrize('out, why', [
    ('', 'Is a directory'), ('.', 'Is a directory'), ('..', 'Is a directory'), ('file/x', 'Not a directory'),
    ('none/x', 'No such file or directory'), ('file/', 'Is a directory'), ('loop', 'Too many levels of symbolic links'),
    ('loop/x', 'Too many levels of symbolic links'), ('n' * 300, 'File name too long'), ('fifo', 'No such device or address'),
    ('directory', 'Is a directory'), ('dangling/x', 'No such file or directory')])
def test_an_output_that_cannot_be_opened(world, accounts, out, why):
    home = world.home(accounts.alice)
    make_file(home / 'file', 'text', accounts.alice)
    make_link(home / 'loop', 'loop', accounts.alice)
    make_link(home / 'dangling', 'none', accounts.alice)
    (home / 'directory').mkdir()
    os.mkfifo(home / 'fifo')
    os.chown(home / 'fifo', accounts.alice.pw_uid, -1)
    record, _ = world.run(1, 'id', user=accounts.alice, out='%s/%s' % (home, out))
    assert refused(record).endswith(': ' + why) or out == 'file/' and refused(record).endswith(': Not a directory')


HOLD_LEASE = """
import fcntl, os, signal, sys, time
signal.signal(signal.SIGIO, signal.SIG_IGN)
file = os.open(sys.argv[1], os.O_RDONLY)
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
print('held', flush=True)
time.sleep(600)
"""


def test_a_user_who_makes_a_call_fail_fails_alone(world, accounts):
    """A lease makes open give EAGAIN, which of the launcher's own calls would mean that the machine can start nothing."""
    out = make_file(world.home(accounts.mallory) / 'leased', '', accounts.mallory)
    with subprocess.Popen([*as_account(accounts.mallory), sys.executable, '-c', HOLD_LEASE, out], stdout=subprocess.PIPE) as holder:
        try:
            assert holder.stdout.readline() == b'held\n'
            record, _ = world.run(1, 'id', user=accounts.mallory, out=out)
        finally:
            holder.kill()
    assert refused(record) == 'cannot open output %s: Resource temporarily unavailable' % out


def test_links_do_not_make_an_output_path_endless(world, accounts):
    """Few links, but each of a thousand components and more."""
    home = world.home(accounts.alice)
    for number in range(1, 4):
        make_link(home / ('l%d' % number), './' * 2000 + ('l%d' % (number + 1) if number < 3 else 'file'), accounts.alice)
    assert world.run(1, 'id', user=accounts.alice, out=home / 'l2')[0]['exit_status'] == 0
    detail = refused(world.run(2, 'id', user=accounts.alice, out=home / 'l1')[0])
    assert detail == 'cannot open output %s: Too many levels of symbolic links' % (home / 'l1')


def test_own_links_are_followed(world, accounts):
    """Also through several, to a file that does not exist yet, out of a directory that all can write."""
    home, tmp = world.home(accounts.alice), shared(world)
    make_link(tmp / 'a', home / 'b', accounts.alice)
    make_link(home / 'b', '../%s/./c' % home.name, accounts.alice)
    make_link(tmp / 'home', home, accounts.alice)
    make_link(tmp / 'by-root', home / 'd', pwd.getpwuid(0))
    for launch_id, (out, file) in enumerate([(tmp / 'a', 'c'), (tmp / 'home/e', 'e'), (tmp / 'by-root', 'd')], 1):
        assert world.run(launch_id, 'echo', 'text', user=accounts.alice, out=out)[0]['exit_status'] == 0
        assert (home / file).read_text() == 'text\n'


LINK, FILE, NAMES = ('a symbolic link in its path belongs to another user',
                     'it belongs to another user, in a directory that others can write',
                     'it has more than one name, in a directory that others can write')


# Directories that others can write: as /tmp, and without the sticky bit, by all or by the group of a project.
SHARED = pytest.mark.parametrize('mode', [0o1777, 0o777, 0o2775])


def shared_by_group(world, accounts, mode):
    tmp = shared(world, mode=mode)
    os.chown(tmp, -1, accounts.team.gr_gid)
    tmp.chmod(mode)  # chown clears the bit of the group
    return tmp


@SHARED
def test_a_symbolic_link_of_another_user_is_not_followed(world, accounts, mode):
    """Neither as the last component, whatever the directory, nor before it in a directory that all can write. (Slurm: files
    of root were changed through the paths of users, CVE-2023-41914; Nomad likewise.)"""
    alice, mallory = accounts.alice, accounts.mallory
    home, tmp, theirs = world.home(alice), shared_by_group(world, accounts, mode), shared(world, 'theirs', 0o755)
    victim = make_file(home / 'thesis', 'keep', alice)
    make_link(tmp / 'last', victim, mallory)
    make_link(tmp / 'before', home, mallory)
    make_link(theirs / 'last', victim, mallory)
    make_link(home / 'mine', tmp / 'last', alice)
    for launch_id, out in enumerate((tmp / 'last', tmp / 'before/thesis', theirs / 'last', home / 'mine'), 1):
        record, _ = world.run(launch_id, 'echo', 'lost', user=alice, out=out)
        assert refused(record) == 'cannot open output %s: %s' % (out, LINK)
        record, _ = world.run(100 + launch_id, 'echo', 'lost', user=alice, err=out)
        assert refused(record) == 'cannot open error output %s: %s' % (out, LINK)
    assert victim.read_text() == 'keep'
    make_link(theirs / 'before', home, mallory)  # a directory that only its owner can write
    assert world.run(9, 'echo', 'text', user=alice, out=theirs / 'before/new')[0]['exit_status'] == 0


@SHARED
def test_a_file_of_another_user_is_not_written_in_a_shared_directory(world, accounts, mode):
    """Not even if its mode allows it: a fifo, too, whose reader would get the output."""
    tmp = shared_by_group(world, accounts, mode)
    make_file(tmp / 'file', 'bait', accounts.mallory, 0o666)
    os.mkfifo(tmp / 'fifo')
    (tmp / 'fifo').chmod(0o666)
    os.chown(tmp / 'fifo', accounts.mallory.pw_uid, -1)
    reader = os.open(tmp / 'fifo', os.O_RDONLY | os.O_NONBLOCK)
    for launch_id, name in enumerate(('file', 'fifo'), 1):
        record, _ = world.run(launch_id, 'echo', 'secret', user=accounts.alice, out=tmp / name)
        assert refused(record) == 'cannot open output %s: %s' % (tmp / name, FILE)
    assert (tmp / 'file').read_text() == 'bait' and os.read(reader, 10) == b''
    os.close(reader)


@SHARED
def test_a_hard_link_is_not_cut(world, accounts, mode):
    """Of another user's file, which root could write; and of the user's own file, put where the output goes."""
    alice, tmp = accounts.alice, shared_by_group(world, accounts, mode)
    roots = make_file(world.path / 'roots', 'keep', mode=0o600)
    own = make_file(world.home(alice) / 'thesis', 'keep', alice)
    os.link(roots, tmp / 'roots')
    os.link(own, tmp / 'own')
    os.link(roots, world.home(alice) / 'roots')
    for launch_id, (out, why) in enumerate([(tmp / 'roots', 'Permission denied'), (tmp / 'own', NAMES),
                                            (world.home(alice) / 'roots', 'Permission denied')], 1):
        record, _ = world.run(launch_id, 'echo', 'lost', user=alice, out=out)
        assert refused(record) == 'cannot open output %s: %s' % (out, why)
    assert roots.read_text() == own.read_text() == 'keep'


class Exchange:
    """Exchanges two names all the time."""

    def __init__(self, a, b):
        self.a, self.b, self.is_ended = a, b, False
        self.thread = threading.Thread(target=self.run)

    def run(self):
        exchange = ctypes.CDLL(None).renameat2
        while not self.is_ended:
            assert exchange(-100, bytes(self.a), -100, bytes(self.b), 2) == 0  # RENAME_EXCHANGE

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.is_ended = True
        self.thread.join()


def test_a_directory_that_is_exchanged_all_the_time(world, accounts):
    """mallory exchanges her directory for a link: to a directory of root's, to hit with her own jobs, and to alice's home, to
    hit with alice's. Each output is where it may be, or nowhere."""
    alice, mallory, tmp = accounts.alice, accounts.mallory, shared(world)
    roots = world.path / 'roots'
    roots.mkdir(mode=0o755)
    victims = [make_file(roots / 'out', 'keep'), make_file(world.home(alice) / 'out', 'keep', alice)]
    for name, target in ('a', roots), ('b', world.home(alice)):
        (tmp / name).mkdir()
        (tmp / name).chmod(0o777)
        os.chown(tmp / name, mallory.pw_uid, -1)
        make_link(tmp / (name + '2'), target, mallory)
    count = 40
    with Exchange(tmp / 'a', tmp / 'a2'), Exchange(tmp / 'b', tmp / 'b2'):
        for launch_id in range(1, count, 2):
            world.start(launch_id, 'echo', 'lost', user=mallory, out=tmp / 'a/out')
            world.start(launch_id + 1, 'echo', 'lost', user=alice, out=tmp / 'b/out')
        ends = [world.ended(launch_id)['end'] for launch_id in range(1, count + 1)]
    assert set(ends) <= {'exited', 'refused'}
    assert [victim.read_text() for victim in victims] == ['keep', 'keep']
    assert os.listdir(roots) == ['out'] and [victim.stat().st_uid for victim in victims] == [0, alice.pw_uid]


# ---- the state directory ----


def test_the_state_directory_is_roots(world, accounts):
    world.run(1, script='true', user=accounts.alice)
    world.start(2, 'sleep', '600', user=accounts.alice)
    world.record(2, 'started')
    for path in [world.state, *world.state.rglob('*')]:
        found = path.lstat()
        owner = accounts.daemon.pw_uid if path.name == 'launcher.sock' else 0
        mode = 0o711 if path.is_dir() else 0o644 if path.name == 'owner' else 0o600
        assert (found.st_uid, stat.S_IMODE(found.st_mode)) == (owner, mode), path
    assert (world.state / 'owner').read_text() == 'id=driver\nstate=%s\n' % world.state
    names = 'launcher.lock', 'launcher.events', 'instance', 'launches/keepers', 'launches/1.log'
    for name in names:
        assert (world.state / name).exists()
        done = subprocess.run([*as_account(accounts.daemon), 'sh', '-c', 'echo x >>"$1" || cat "$1" || mv "$1" "$1.old" || rm "$1"',
                               'sh', world.state / name], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert done.returncode != 0 and done.stdout == '', name
    for path in (world.state, world.state / 'launches'):
        assert subprocess.run([*as_account(accounts.daemon), 'touch', path / 'new'], capture_output=True).returncode != 0


def refusal(world, *options, prefix=()):
    """What a launcher that does not start writes."""
    done = subprocess.run([*prefix, *world.command(*options)], capture_output=True, text=True, timeout=30)
    assert done.returncode in (1, 2) and done.stdout == '' and done.stderr.count('\n') == 1, done
    return done.stderr.removeprefix('fairlead-launcher: ').removesuffix('\n')


@pytest.fixture
def unstarted(accounts, directory):
    """A world without a launcher."""
    world = SystemWorld.__new__(SystemWorld)
    world.path, world.state, world.prefix, world.daemon = directory, directory / 'state', [], accounts.daemon
    shutil.copy(LAUNCHER, directory)
    return world


def test_a_state_directory_that_others_could_change_is_refused(unstarted, accounts):
    state, mallory = unstarted.state, accounts.mallory
    options = '--daemon-user', accounts.daemon.pw_name
    state.mkdir()
    for mode, text in (0o700, 'has mode 700'), (0o777, 'has mode 777'), (0o731, 'has mode 731'):
        state.chmod(mode)
        assert refusal(unstarted, *options) == "directory %s %s: run 'chmod 711 %s'" % (state, text, state)
    state.chmod(0o711)
    os.chown(state, accounts.daemon.pw_uid, 0)
    assert refusal(unstarted, *options) == 'directory %s belongs to user %d; it must belong to user 0' % (state, accounts.daemon.pw_uid)
    os.chown(state, 0, 0)
    for owner, mode in (mallory.pw_uid, 0o755), (0, 0o777), (0, 0o775):
        os.chown(unstarted.path, owner, 0)
        unstarted.path.chmod(mode)
        assert refusal(unstarted, *options).startswith(
            'directory %s, above the state directory, can be changed by others than root: ' % unstarted.path)
        shutil.rmtree(state, ignore_errors=True)  # nor is one created there
        assert 'above the state directory' in refusal(unstarted, *options) and not state.exists()
        state.mkdir(mode=0o711)
    assert os.listdir(state) == []


@pytest.mark.parametrize('kind', ['fifo', 'hard link', 'symbolic link'])
def test_what_was_put_in_the_state_directory_is_replaced(unstarted, accounts, kind):
    """Before it was root's: the launcher neither waits at a fifo nor writes a file elsewhere."""
    victim = make_file(unstarted.path / 'victim', 'keep', mode=0o600)
    unstarted.state.mkdir(mode=0o711)
    planted = unstarted.state / 'instance.new'
    {'fifo': os.mkfifo, 'hard link': lambda path: os.link(victim, path), 'symbolic link': lambda path: os.symlink(victim, path)}[kind](planted)
    process = subprocess.Popen(unstarted.command('--daemon-user', accounts.daemon.pw_name), stdin=subprocess.DEVNULL)
    try:
        until((unstarted.state / 'launcher.sock').exists, 'the launcher')
        assert (unstarted.state / 'instance').read_text().startswith('id=') and not os.path.lexists(planted)
        assert victim.read_text() == 'keep'
    finally:
        process.kill()
        process.wait()


FAKE_KEEPER = """import ctypes, os, signal, sys
os.open(sys.argv[1], os.O_PATH)
ctypes.CDLL(None).prctl(15, b'fairlead-keeper')
ctypes.CDLL(None).prctl(4, 0)  # not dumpable: /proc says that its files are root's
print(flush=True)
signal.pause()"""


def test_a_process_that_is_called_like_a_keeper_is_left_alone(world, accounts):
    """Another user's, with the state directory open: a launcher that took it for a keeper would look for it again and again."""
    world.run(1, 'true', user=accounts.alice)
    fake = subprocess.Popen([*as_account(accounts.mallory), '/usr/bin/python3', '-c', FAKE_KEEPER, world.state], stdout=subprocess.PIPE)
    try:
        fake.stdout.readline()
        world.restart_launcher()
        world.connect()
        world.synced()
        assert fake.poll() is None
    finally:
        fake.kill()
        fake.wait()


def test_how_it_is_started(unstarted, accounts):
    user = accounts.daemon.pw_name
    as_mallory = as_account(accounts.mallory)
    (unstarted.path / LAUNCHER.name).chmod(0o755)
    assert refusal(unstarted, prefix=as_mallory).startswith('--system has to be started by root: run ')
    assert refusal(unstarted, '--private') == 'give either --private, for the jobs of one user, or --system, for those of all'
    assert refusal(unstarted, '--daemon-user', 'fltest-no') == (
        "no account 'fltest-no': run 'adduser --system --group --no-create-home fltest-no'")
    assert "account 'root' is root: " in refusal(unstarted, '--daemon-user', 'root')
    assert refusal(unstarted, '--daemon-user', user, '--state', 'relative') == '--state with an absolute path is missing'
    for option in (['--allow-root'], ['--daemon-user', user]):
        done = subprocess.run([LAUNCHER, '--private', '--state', unstarted.state, *option], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (2, 'fairlead-launcher: %s needs --system\n' % option[0])
    assert not unstarted.state.exists()


def test_a_second_launcher_is_refused(world, accounts):
    assert refusal(world, '--daemon-user', accounts.daemon.pw_name) == 'another launcher serves %s' % world.state


def test_a_job_survives_its_launcher(world, accounts):
    world.start(1, 'sh', '-c', 'while [ ! -e go ]; do sleep 0.05; done; id -u; exit 5', user=accounts.alice)
    world.record(1, 'started')
    instance = (world.state / 'instance').read_text()
    assert len(instance) == len('id=\n') + 32 and world.logged(1).start['key'].startswith(instance[3:19])
    world.restart_launcher()
    world.connect()
    assert world.synced()[1]['phase'] == 'started' and (world.state / 'instance').read_text() == instance
    (world.home(accounts.alice) / 'go').touch()
    record = world.ended(1)
    assert (record['end'], record['exit_status'], world.output(1)) == ('exited', 5, '%d\n' % accounts.alice.pw_uid)


@pytest.mark.slow
def test_an_idle_launcher_stays(world, accounts):
    """Its daemon could not start another one. A private launcher ends after ten seconds."""
    world.disconnect()
    time.sleep(12)
    assert world.launcher.poll() is None
    world.connect()
    assert world.synced() == {}


def test_the_rest_of_a_job_ends_after_its_keeper(world, accounts):
    """The keeper is killed by root: the launcher finds the processes of the user and kills them."""
    before = processes_of(accounts.alice)
    world.start(1, 'sh', '-c', 'sleep 600 & sleep 600', user=accounts.alice)
    world.record(1, 'started')
    kill(world.keeper_pid(1))
    assert world.ended(1)['end'] == 'lost'
    until(lambda: not new_processes_of(accounts.alice, before), 'the processes')


# ---- the daemon's side ----


def driver(world, *arguments, account=None):
    """The first line of a driver, which then ends."""
    command = [*(as_account(account) if account else []), world.path / DRIVER.name, world.state, *arguments]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout.splitlines()[0]


def test_a_daemon_says_that_no_launcher_answers(world, accounts):
    kill(world.launcher.pid)
    world.launcher.wait()
    line = driver(world, '-', account=accounts.daemon)
    assert line == ("error no launcher answers at %s/launcher.sock (Connection refused): root starts it with 'systemctl start "
                    "fairlead-launcher' or 'fairlead-launcher --system'" % world.state)
    shutil.rmtree(world.state)
    assert '(No such file or directory): root starts it' in driver(world, '-', account=accounts.daemon)


def test_a_daemon_trusts_only_a_launcher_of_root(world, accounts):
    """Another process that listens at the socket, and a directory in which another user could have put it."""
    kill(world.launcher.pid)
    world.launcher.wait()
    (world.state / 'launcher.sock').unlink()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(world.state / 'launcher.sock'))
    (world.state / 'launcher.sock').chmod(0o666)
    child = os.fork()
    if child == 0:  # the kernel notes who listens
        os.setresuid(*[accounts.mallory.pw_uid] * 3)
        listener.listen(5)
        signal.pause()
    try:
        expected = 'error no launcher answers at %s/launcher.sock (the process that listens there is another user\'s)' % world.state
        lines = until(lambda: [line for line in [driver(world, '-', account=accounts.daemon)] if 'refused' not in line],
                      'the listener')
        assert lines[0].startswith(expected)
    finally:
        listener.close()
        kill(child)
        os.waitpid(child, 0)
    world.state.chmod(0o1777)
    assert 'can be written by others' in driver(world, '-', account=accounts.daemon)
    world.state.chmod(0o711)
    os.chown(world.state, accounts.mallory.pw_uid, 0)
    assert 'it must belong to user 0' in driver(world, '-', account=accounts.daemon)
    os.chown(world.state, 0, 0)


def test_a_daemon_of_root_starts_the_launcher(unstarted, accounts):
    world, user = unstarted, accounts.daemon.pw_name
    shutil.copy(DRIVER, world.path)
    for program in (LAUNCHER, DRIVER):
        (world.path / program.name).chmod(0o755)
    launcher = world.path / LAUNCHER.name
    assert driver(world, launcher, 'fltest-no', '0') == (
        "error fairlead-launcher: no account 'fltest-no': run 'adduser --system --group --no-create-home fltest-no'")
    assert driver(world, world.path / 'none', user, '0').endswith('none: No such file or directory')
    assert driver(world, launcher, user, '0', account=accounts.mallory) == (
        'error only root can start a launcher that serves all users')
    try:
        assert driver(world, launcher, user, '0') == 'served'
        (pid,) = world.launcher_pids()
        assert driver(world, launcher, user, '0') == 'served' and world.launcher_pids() == [pid]
        stat_fields = pathlib.Path('/proc/%d/stat' % pid).read_text().rsplit(')', 1)[1].split()
        assert int(stat_fields[3]) != os.getsid(0)  # a session of its own
        assert not [name for name in os.listdir('/proc/%d/fd' % pid)
                    if os.readlink('/proc/%d/fd/%s' % (pid, name)).endswith('/stdin')]
        assert driver(world, '-', account=accounts.daemon) == 'opened'
    finally:
        for pid in world.launcher_pids():
            kill(pid)
