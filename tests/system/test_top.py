"""Who uses the machine: fairlead top, and the settings outside_jobs*: real processes of two accounts, in jobs and outside, and what is
done about those outside. Needs root, to make accounts; the last tests are of a private instance."""
import json
import os
import re
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exec_world import BUILD, find_processes, kill, make_public_directory, until  # noqa: E402
from test_system_instance import SystemInstance  # noqa: E402
from test_system_launcher import accounts, why_not  # noqa: E402,F401

needs_root = pytest.mark.skipif(bool(why_not()), reason=why_not())
LOOP = 'while :; do :; done'
BASE = os.getpriority(os.PRIO_PROCESS, 0)  # inherited by all that these tests start


@pytest.fixture
def system(accounts):
    made = SystemInstance(accounts)
    yield made
    made.run(None, 'cancel', '--all')
    made.close()
    for user in accounts.alice, accounts.mallory:  # jobs of an instance that could not cancel them
        for path in pathlib.Path('/proc').glob('[0-9]*'):
            try:
                if path.stat().st_uid == user.pw_uid and os.readlink(path / 'cwd').startswith(str(made.place)):
                    kill(int(path.name))
            except OSError:
                pass


class Loop:
    """A process of a user outside jobs, with a child of its own; both use CPU time until they are killed."""

    def __init__(self, system, user, *prefix):
        identity = ['setpriv', '--reuid', user.pw_name, '--regid', user.pw_name, '--init-groups']
        self.file = system.home(user) / 'child'
        self.process = subprocess.Popen([*identity, *prefix, 'sh', '-c', '(%s) & echo $! > %s; %s' % (LOOP, self.file, LOOP)],
                                        start_new_session=True, cwd=system.home(user), stdin=subprocess.DEVNULL)
        self.child = int(until(lambda: self.file.exists() and self.file.read_text().strip(), 'the child'))

    @property
    def pids(self):
        return [self.process.pid, self.child]

    def end(self):
        for pid in self.pids:
            kill(pid)
        self.process.wait()


@pytest.fixture
def loops():
    made = []
    yield made
    for loop in made:
        loop.end()


def rows_of(system, user, *options, viewer=None):
    return [row for row in json.loads(system.good(viewer, 'top', '--json', *(options or ['--users']))) if row['user'] == user.pw_name]


def nice_of(pid):
    return os.getpriority(os.PRIO_PROCESS, pid)


def group_nice_of(pid):
    """The nice value of the autogroup; 0 of a kernel without."""
    try:
        return int(pathlib.Path('/proc/%d/autogroup' % pid).read_text().split()[-1])
    except FileNotFoundError:
        return 0


def has_autogroup():
    return pathlib.Path('/proc/self/autogroup').exists()


def start_loop_job(system, user):
    """A loop in a session of its own, whose parent has ended: it is the job's all the same."""
    job = system.submit(user, '--out', '/dev/null', '--', 'sh', '-c', 'setsid sh -c "echo \\$\\$ > pid; %s" & sleep 600' % LOOP)
    path = system.home(user) / 'pid'
    return job, int(until(lambda: path.exists() and path.read_text().strip(), 'the loop of the job'))


def set_exempt(system, *names):
    """Users and @groups; and all others of this machine, where other tests may run at the same time."""
    tested = system.accounts.alice.pw_name, system.accounts.mallory.pw_name
    others = [user.pw_name for user in pwd.getpwall() if user.pw_uid >= 1000 and user.pw_name not in tested]
    system.good(None, 'set', 'outside_jobs_exempt=' + ','.join([*others, *names]))


def set_threshold(system, action, *exempt):
    """Any use of a CPU that can be measured, for a second."""
    set_exempt(system, *exempt)
    system.good(None, 'set', 'outside_jobs=' + action, 'outside_jobs_cpus=0.02', 'outside_jobs_s=1')


def status(system, viewer=None):
    return json.loads(system.good(viewer, 'status', '--json'))


def restart_launcher(system, *options):
    """Kills it, and starts another one, as systemd does."""
    for pid in find_processes(str(system.place / 'fairlead-launcher')):
        kill(pid)
    until(lambda: not find_processes(str(system.place / 'fairlead-launcher')), 'the end of the launcher')
    return subprocess.Popen([system.place / 'fairlead-launcher', '--system', '--state', system.place / 'launcher', '--daemon-user',
                             system.accounts.daemon.pw_name, *options], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


# --- top ---


@needs_root
def test_use_in_jobs_and_outside_is_told_apart(system, loops):
    alice, mallory = system.accounts.alice, system.accounts.mallory
    loops.append(Loop(system, mallory))
    job, pid = start_loop_job(system, alice)

    def both():
        mine, other = rows_of(system, alice), rows_of(system, mallory)
        return mine and other and mine[0]['job_cpus'] > 0.01 and other[0]['outside_cpus'] > 0.01 and (mine[0], other[0])

    mine, other = until(both, 'both to use a CPU')
    assert (mine['jobs'], mine['uid']) == (str(job), alice.pw_uid)
    assert (other['job_cpus'], other['jobs'], other['uid']) == (0, None, mallory.pw_uid) and other['processes'] >= 2
    assert other['cpus'] == other['outside_cpus'] and other['mem_kib'] == other['outside_mem_kib'] > 0 and other['state'] is None
    # A row for each job, and for what is outside; the keeper is the job's, not root's.
    in_job = [row for row in rows_of(system, alice, '--jobs') if row['job'] is not None]
    assert [(row['job'], row['outside_cpus'], row['processes']) for row in in_job] == [(str(job), 0, 4)]  # keeper, sh, sleep, the loop
    assert [row['job'] for row in rows_of(system, mallory, '-j')] == [None]
    # A row for each process.
    processes = {row['pid']: row for row in rows_of(system, alice, '--processes')}
    assert processes[pid]['job'] == str(job) and processes[pid]['command'] == 'sh' and processes[pid]['outside_cpus'] == 0
    assert {row['pid'] for row in rows_of(system, mallory, '-p')} >= set(loops[0].pids)
    # Filters, and the other forms.
    assert {row['user'] for row in json.loads(system.good(None, 'top', '--json', '--users', '-u', alice.pw_name))} == {alice.pw_name}
    assert {row['user'] for row in json.loads(system.good(None, 'top', '--json', '--users', '-u', str(mallory.pw_uid)))} == {mallory.pw_name}
    assert mallory.pw_name in system.good(None, 'top', '--outside')
    table = [line.split() for line in system.good(None, 'top', '--users', '-u', mallory.pw_name).splitlines()]
    assert table[0][0] == 'USER' and 'OUTSIDE' in table[0] and table[1][0] == mallory.pw_name
    header, row = system.good(None, 'top', '-P', '--users', '-u', mallory.pw_name).splitlines()
    assert dict(zip(header.split('|'), row.split('|')))['uid'] == str(mallory.pw_uid)


@needs_root
def test_what_users_see_of_each_other(system, loops):
    alice, mallory = system.accounts.alice, system.accounts.mallory
    loops.append(Loop(system, mallory))
    assert rows_of(system, mallory, viewer=alice) and not rows_of(system, mallory, '-p', viewer=alice)
    assert rows_of(system, mallory, '-p', viewer=mallory)
    for kind in 'jobs', 'details', 'usage', 'users':
        system.good(None, 'set', 'private_data=' + kind)
        for options in ['--users'], ['--jobs'], ['--processes']:
            rows = json.loads(system.good(alice, 'top', '--json', *options))
            assert {row['user'] for row in rows} <= {alice.pw_name, '(hidden)'}
            assert len([row for row in rows if row['user'] == '(hidden)']) == (0 if options == ['--processes'] else 1)
            assert all(row['uid'] is None for row in rows if row['user'] == '(hidden)')
        assert rows_of(system, mallory, viewer=mallory) and rows_of(system, mallory, '-p')


@needs_root
@pytest.mark.parametrize('name', ['a b) R 1', 'x(y))', 'l\nine', '\x1b[31m'])
def test_strange_names_of_processes(system, loops, name):
    alice = system.accounts.alice
    text = 'import ctypes, time; ctypes.CDLL(None).prctl(15, %r); time.sleep(600)' % name.encode()
    identity = ['setpriv', '--reuid', alice.pw_name, '--regid', alice.pw_name, '--init-groups']
    process = subprocess.Popen([*identity, '/usr/bin/python3', '-c', text], cwd='/')
    try:
        plain = ''.join(c if c.isprintable() else '?' for c in name)
        until(lambda: plain in [row['command'] for row in rows_of(system, alice, '-p')], 'the name')
        assert '\x1b' not in system.good(None, 'top', '-p')
    finally:
        process.kill()
        process.wait()


# --- outside_jobs ---


@needs_root
def test_use_outside_jobs_is_shown(system, loops):
    alice, mallory = system.accounts.alice, system.accounts.mallory
    assert status(system)['outside_jobs'] is None
    loops.append(Loop(system, mallory))
    set_threshold(system, 'show')
    start_loop_job(system, alice)
    until(lambda: mallory.pw_name in status(system)['outside_jobs'], 'mallory to be found')
    assert alice.pw_name not in status(system)['outside_jobs']
    assert rows_of(system, mallory)[0]['state'] == 'over' and nice_of(loops[0].child) == BASE
    assert re.search('^Outside  .*%s uses' % mallory.pw_name, system.good(None, 'status'), re.MULTILINE)
    assert 'event=outside-jobs user=%s' % mallory.pw_name in (system.place / 'log').read_text()
    system.good(None, 'set', 'private_data=usage')
    assert mallory.pw_name not in status(system, alice)['outside_jobs'] and re.search('[1-9] user', status(system, alice)['outside_jobs'])
    # Exempt: by name, and as a member of a group, of which alice is one and mallory is none.
    for names, is_exempt in ((['@' + system.accounts.team_name], False), (['x', mallory.pw_name], True), (['@' + mallory.pw_name], True)):
        set_exempt(system, *names)
        state = 'exempt' if is_exempt else 'over'
        until(lambda: rows_of(system, mallory)[0]['state'] == state, state)
    set_exempt(system)
    until(lambda: rows_of(system, mallory)[0]['state'] == 'over', 'mallory to be found again')
    loops[0].end()
    until(lambda: mallory.pw_name not in status(system)['outside_jobs'], 'the end')
    system.good(None, 'set', 'outside_jobs=ignore')
    assert status(system)['outside_jobs'] is None


@needs_root
def test_a_low_weight_is_given_and_taken_back(system, loops):
    alice, mallory = system.accounts.alice, system.accounts.mallory
    loops.append(Loop(system, mallory))
    loops.append(Loop(system, alice, 'nice', '-n', '4'))
    job, in_job = start_loop_job(system, alice)
    set_threshold(system, 'low_weight', alice.pw_name)
    outside = loops[0].pids
    until(lambda: all(nice_of(pid) == 19 for pid in outside), 'the low weight')
    if has_autogroup():
        assert group_nice_of(outside[0]) == 19
    until(lambda: rows_of(system, mallory)[0]['state'] == 'low', 'the state')
    assert [nice_of(pid) for pid in [in_job, *loops[1].pids]] == [BASE, BASE + 4, BASE + 4] and group_nice_of(in_job) == 0
    # Now alice, too, but not what is in her job; each gets back what it had.
    set_exempt(system, mallory.pw_name)
    until(lambda: all(nice_of(pid) == 19 for pid in loops[1].pids), 'the low weight of alice')
    until(lambda: all(nice_of(pid) == BASE for pid in outside), 'the end of that of mallory')
    assert nice_of(in_job) == BASE and group_nice_of(in_job) == 0 and group_nice_of(outside[0]) == 0
    system.good(None, 'set', 'outside_jobs=show')
    until(lambda: [nice_of(pid) for pid in loops[1].pids] == [BASE + 4] * 2, 'the end of that of alice')
    assert group_nice_of(loops[1].child) == 0 and nice_of(in_job) == BASE
    system.good(alice, 'cancel', job)


@needs_root
def test_a_low_weight_survives_the_launcher_and_the_daemon(system, loops):
    mallory = system.accounts.mallory
    loops.append(Loop(system, mallory))
    outside = loops[0].pids
    set_threshold(system, 'low_weight')
    until(lambda: all(nice_of(pid) == 19 for pid in outside), 'the low weight')
    launcher = restart_launcher(system)
    try:
        until(lambda: system.run(None, 'top', '--users').returncode == 0, 'the daemon to be connected again')
        until(lambda: rows_of(system, mallory)[0]['state'] == 'low', 'the state')
        system.daemon.kill()
        system.daemon.wait()
        system.socket.unlink()
        assert [nice_of(pid) for pid in outside] == [19, 19]
        system.start()
        # The new daemon learns from the launcher that mallory has a low weight; an hour would have to pass otherwise.
        system.good(None, 'set', 'outside_jobs_s=3600')
        until(lambda: rows_of(system, mallory)[0]['state'] == 'low', 'the state')
        assert [nice_of(pid) for pid in outside] == [19, 19]
        # The launcher is killed, and the setting is off when the next one comes: it knows what to give back.
        launcher.kill()
        launcher.wait()
        system.good(None, 'set', 'outside_jobs=ignore')
        launcher = subprocess.Popen(launcher.args, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: [nice_of(pid) for pid in outside] == [BASE] * 2, 'the end of the low weight')
        assert group_nice_of(outside[0]) == 0
        # An orderly end of the daemon gives it back, too.
        set_threshold(system, 'low_weight')
        until(lambda: all(nice_of(pid) == 19 for pid in outside), 'the low weight again')
        system.stop()
        until(lambda: [nice_of(pid) for pid in outside] == [BASE] * 2, 'the end of the low weight again')
    finally:
        launcher.send_signal(signal.SIGTERM)
        launcher.wait(60)


# --- a warning on terminals ---


class Terminal:
    """A terminal of a user, and a process of the user that it controls and that uses a CPU, or sleeps."""

    def __init__(self, system, user, script=LOOP, mode=0o620, owner=None):
        self.master, slave = os.openpty()
        os.fchown(slave, (owner or user).pw_uid, user.pw_gid)
        os.fchmod(slave, mode)
        self.text, self.slave = b'', slave
        os.set_blocking(self.master, False)
        identity = ['setpriv', '--reuid', user.pw_name, '--regid', user.pw_name, '--init-groups']
        self.process = subprocess.Popen([*identity, 'setsid', '--ctty', 'sh', '-c', script], stdin=slave, stdout=slave, stderr=slave,
                                        cwd=system.home(user))

    def read(self):
        try:
            self.text += os.read(self.master, 65536)
        except BlockingIOError:
            pass
        return self.text.decode()

    def fill(self):
        """Nothing more fits until it is read, as of a terminal that Ctrl-S has stopped."""
        os.set_blocking(self.slave, False)
        with pytest.raises(BlockingIOError):
            while True:
                os.write(self.slave, b'x' * 4096)

    def end(self):
        kill(self.process.pid)
        self.process.wait()
        os.close(self.slave)
        os.close(self.master)


MESSAGE = (r'\r+\nMessage from Fairlead, the batch scheduler of this machine, at \d\d:\d\d:\r+\n'
           r'Your processes outside jobs use \d+\.\d\d CPUs, for \d+:\d\d or longer\.\r+\n'
           r'The limit outside jobs is 0\.02 CPUs, and no GPU\.%s\r+\n'
           r'Run such work as jobs \(man fairlead-submit\)\.\r+\n')


@needs_root
def test_users_are_warned_on_their_terminals(system, loops):
    alice, mallory = system.accounts.alice, system.accounts.mallory
    told, idle = Terminal(system, mallory), Terminal(system, mallory, 'sleep 600')
    refusing, full = Terminal(system, mallory, 'sleep 600', mode=0o600), Terminal(system, mallory, 'sleep 600')
    others, of_other = Terminal(system, alice, 'sleep 600'), Terminal(system, mallory, 'sleep 600', owner=alice)
    loops += [told, idle, refusing, full, others, of_other]
    full.fill()
    job = system.submit(mallory, '--', 'script', '-q', '-f', '-c', 'echo begun; sleep 600', 'typescript')
    typescript = system.home(mallory) / 'typescript'
    until(lambda: typescript.exists() and 'begun' in typescript.read_text(), 'the terminal of the job')
    set_threshold(system, 'warn', alice.pw_name)
    until(lambda: told.read() and idle.read(), 'the message')
    for terminal in told, idle:
        assert re.fullmatch(MESSAGE % '', terminal.read()), terminal.read()
    # Not on a terminal that refuses messages, is another user's, or a job's, and not twice.
    for _ in range(3):
        system.good(None, 'top', '--processes')
    assert [terminal.read() for terminal in (refusing, others, of_other)] == [''] * 3
    assert 'Message' not in typescript.read_text() and set(full.read()) == {'x'}
    assert [len(re.findall('Message', terminal.read())) for terminal in (told, idle)] == [1, 1]
    log = (system.place / 'log').read_text()
    assert log.count('event=outside-jobs-warned user=%s cpus=' % mallory.pw_name) == 1 and 'warned user=%s' % alice.pw_name not in log
    assert 'a warning on terminals' in system.good(None, 'status') and nice_of(told.process.pid) == BASE
    # Again after outside_jobs_warn_s; with a low weight, the message says so.
    system.good(None, 'set', 'outside_jobs=low_weight', 'outside_jobs_warn_s=1')
    low = r' They have a low weight now: jobs go first\.'
    until(lambda: re.search(MESSAGE % low, idle.read()), 'the second message')
    system.good(mallory, 'cancel', job)


# --- the weights of systemd's slices ---


class Slices:
    """A folder with the files of systemd's slices of users, as the kernel has them."""

    def __init__(self, system):
        self.path = system.place / 'user.slice'
        self.set('.', 100)
        for user in system.accounts.alice, system.accounts.mallory:
            self.set('user-%d.slice' % user.pw_uid, 100)

    def set(self, name, weight):
        (self.path / name).mkdir(exist_ok=True)
        (self.path / name / 'cpu.weight').write_text('%d\n' % weight)

    def weight(self, name):
        return int((self.path / name / 'cpu.weight').read_text() or '0')


@needs_root
def test_slices_of_users_get_a_low_weight(system, loops):
    alice, mallory = system.accounts.alice, system.accounts.mallory
    slices, own, other = Slices(system), 'user-%d.slice' % mallory.pw_uid, 'user-%d.slice' % alice.pw_uid
    slices.set(other, 70)
    mechanism = lambda: {row['resource']: row['mechanism'] for row in status(system)['enforcement']}.get('outside jobs')  # noqa: E731

    def weights():
        return [slices.weight(name) for name in ('.', own, other)]

    loops.append(Loop(system, mallory))
    set_threshold(system, 'low_weight')
    until(lambda: nice_of(loops[0].child) == 19, 'the low weight')
    assert mechanism().startswith('nice 19') and weights() == [100, 100, 70]
    launcher = restart_launcher(system, '--user-slice', slices.path)
    try:
        until(lambda: weights() == [20, 1, 70], 'the weights')
        until(lambda: 'slices' in mechanism(), 'the mechanism')
        # systemd and administrators set weights meanwhile: low again, and back to what was set last.
        slices.set(own, 50)
        until(lambda: weights() == [20, 1, 70], 'the weight again')
        # The launcher is killed and the next one gives it back, but not where another weight was set since.
        launcher.kill()
        launcher.wait()
        slices.set('.', 300)
        system.good(None, 'set', 'outside_jobs=show')
        launcher = subprocess.Popen(launcher.args, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: weights() == [300, 50, 70], 'the weights from before')
        # A weight that is lower already stays; the launcher's orderly end gives back, too.
        slices.set(other, 1)
        slices.set('.', 200)
        loops.append(Loop(system, alice))
        system.good(None, 'set', 'outside_jobs=low_weight')
        until(lambda: weights() == [20, 1, 1] and nice_of(loops[1].child) == 19, 'the weights of both')
        shutil.rmtree(slices.path / own)  # the last session of mallory ends
        launcher.send_signal(signal.SIGTERM)
        assert launcher.wait(60) == 0
        assert [slices.weight('.'), slices.weight(other)] == [200, 1]
    finally:
        launcher.kill()
        launcher.wait()


# --- a private instance ---


@pytest.fixture
def private():
    """The directory of an instance, and a function that runs commands of it."""
    place = make_public_directory()
    state = place / 's'
    state.mkdir(mode=0o700)

    def run(*arguments, prefix=(), **options):
        return subprocess.run([*prefix, BUILD / 'fairlead', *map(str, arguments)], env={'PATH': '/usr/bin:/bin', 'HOME': str(place),
                              'FAIRLEAD_SOCKET': str(state / 'fairlead.sock')}, cwd=place, capture_output=True, text=True, timeout=120,
                              **options)

    yield state, run
    run('cancel', '--all')
    run('stop')
    for pid in find_processes(str(place)):
        kill(pid)
    until(lambda: not find_processes(str(place)), 'all processes to end')
    shutil.rmtree(place, ignore_errors=True)


def test_a_private_instance_shows_its_jobs(private):
    state, run = private
    assert run('start', '--state', state).returncode == 0
    job = run('submit', '--parsable', '--out', '/dev/null', '--', 'sh', '-c', LOOP).stdout.strip()

    def row():
        rows = [row for row in json.loads(run('top', '--json', '--jobs').stdout) if row['job'] == job]
        return rows and rows[0]['job_cpus'] > 0.01 and rows[0]

    found = until(row, 'the job to use a CPU')
    assert found['uid'] == os.geteuid() and found['outside_cpus'] == 0
    rows = json.loads(run('top', '--json', '-p', '-u', str(os.geteuid())).stdout)
    assert [row['command'] for row in rows if row['job'] == job].count('sh') == 1
    assert any(row['pid'] == os.getpid() and row['job'] is None for row in rows)


@pytest.mark.skipif(os.geteuid() != 0, reason='a mount namespace with a device of a GPU needs root')
def test_open_gpus_are_found(private):
    """In a mount namespace whose /dev has two files with the names of GPUs' devices."""
    state, run = private
    dev = state.parent / 'dev'
    dev.mkdir()
    script = ('mount --make-rprivate / && mount -t tmpfs none %s && cp -a /dev/null /dev/zero /dev/urandom /dev/random /dev/fd %s'
              ' && touch %s/nvidia0 %s/nvidia11 %s/nvidiactl && mount --move %s /dev && exec 7</dev/nvidia0 8</dev/nvidia11 9</dev/nvidiactl'
              ' && exec sleep 600' % ((dev,) * 6))
    sleeper = subprocess.Popen(['unshare', '-m', 'sh', '-c', script], stdin=subprocess.DEVNULL)
    try:
        comm = pathlib.Path('/proc/%d/comm' % sleeper.pid)
        until(lambda: comm.read_text() == 'sleep\n' or sleeper.poll() is not None, 'the process with GPUs')
        if sleeper.poll() is not None:
            pytest.skip('a mount namespace cannot be made here: unshare -m has exit status %d' % sleeper.returncode)
        inside = ['nsenter', '-m', '-t', str(sleeper.pid)]
        started = run('start', '--state', state, prefix=inside)
        assert started.returncode == 0, started
        rows = json.loads(run('top', '--json', '-p', prefix=inside).stdout)
        found = {row['pid']: row['gpus'] for row in rows if row['gpus'] is not None}
        assert found == {sleeper.pid: '0,11'}
        row = [row for row in json.loads(run('top', '--json', '--users', prefix=inside).stdout) if row['uid'] == 0][0]
        assert (row['gpus'], row['outside_gpus']) == ('0,11', '0,11')
        run('stop', prefix=inside)
    finally:
        sleeper.kill()
        sleeper.wait()


@pytest.mark.parametrize('arguments, message', [
    (['-j', '-p'], '--shares, --users, --jobs and --processes exclude each other'),
    (['--shares', '-x'], '--outside is for --users, --jobs and --processes'),
    (['--interval=2'], '--interval is for a table on a terminal, without --once'),
    (['--interval=0'], "--interval: '0' is not a whole number from 1 to 3600"),
    (['--json', '-P'], '--json'),
])
def test_bad_options(private, arguments, message):
    _, run = private
    done = run('top', *arguments)
    assert (done.returncode, done.stdout) == (2, '') and message in done.stderr and done.stderr.count('\n') == 1, done


@pytest.mark.parametrize('setting, message', [
    ('outside_jobs=kill', 'ignore,show,warn,low_weight'), ('outside_jobs_cpus=-1', 'outside_jobs_cpus'),
    ('outside_jobs_s=0', 'outside_jobs_s'), ('outside_jobs_warn_s=0', 'outside_jobs_warn_s'), ('outside_jobs_exempt=a b', 'behind @'), ('outside_jobs_exempt=@', 'behind @'),
    ('outside_jobs_exempt=ann,', 'behind @'),
])
def test_bad_settings(private, setting, message):
    state, run = private
    assert run('start', '--state', state).returncode == 0
    done = run('set', setting)
    assert done.returncode == 2 and message in done.stderr.replace(', ', ',') and done.stderr.count('\n') == 1, done
