"""Keepers in trouble: many are killed at once, one is stopped by its own job, and the launcher has no descriptors to look at
them. Figures are printed."""
import ctypes
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exec_world import PATIENCE, US, World, alive, kill, until  # noqa: E402

SANITIZED = os.environ.get('FAIRLEAD_SANITIZED') == '1'
BOOT_ID = pathlib.Path('/proc/sys/kernel/random/boot_id').read_text().strip()
UNTIL_GO = 'while [ ! -e go ]; do sleep 0.02; done; '


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path, [])
    world.connect()
    assert world.synced() == {}
    yield world
    world.close()


def kill_launcher(world):
    for pid in world.launcher_pids():
        kill(pid)
    until(lambda: not world.launcher_pids(), 'the launcher to be gone')


# ---- many at once ----


def forge_lost(world, launch_id):
    """The directory of a launch of this boot whose keeper and processes are gone."""
    directory = world.state / 'launches' / str(launch_id)
    directory.mkdir(mode=0o700)
    (directory / 'lock').write_text('4194304\n\n')
    (directory / 'start').write_text(
        'id=%d\nphase=started\nat_us=5\nstarted_us=5\npid=4194304\nborn=1\nkey=%032x\nboot_id=%s\n' % (launch_id, launch_id, BOOT_ID))


def ends(world, count):
    """The kinds of end of so many launches."""
    while len(found := {r['id']: r['end'] for r in world.reports if isinstance(r, dict) and r['phase'] == 'ended'}) < count:
        world.report()
    return set(found.values())


def test_a_thousand_lost_launches_are_recovered(tmp_path):
    count = 1000
    world = World(tmp_path)
    (world.state / 'launches').mkdir(mode=0o700)
    for launch_id in range(1, count + 1):
        forge_lost(world, launch_id)
    begin = time.monotonic()
    world.connect()
    opened_s = time.monotonic() - begin
    assert ends(world, count) == {'lost'}
    ended_s = time.monotonic() - begin
    print('\n%d lost launches: the launcher answers after %.2f s, all ends are told after %.2f s' % (count, opened_s, ended_s))
    world.close()
    assert ended_s < 20 * (5 if SANITIZED else 1)


def test_many_keepers_are_killed_at_once(world):
    count = 60 if SANITIZED else 200
    for launch_id in range(1, count + 1):
        world.start(launch_id, 'sleep', '600', out='/dev/null')
    pids = [world.record(launch_id, 'started')['pid'] for launch_id in range(1, count + 1)]
    keepers = [world.keeper_pid(launch_id) for launch_id in range(1, count + 1)]
    begin = time.monotonic()
    for pid in keepers:
        kill(pid)
    assert ends(world, count) == {'lost'}
    seconds = time.monotonic() - begin
    print('\n%d keepers killed at once: all ends are told after %.2f s' % (count, seconds))
    assert not [pid for pid in pids if alive(pid)]
    assert seconds < 20 * (5 if SANITIZED else 1)


# ---- stopped keepers ----

STOP = 'kill -STOP $PPID; '


def test_a_job_that_stops_its_keeper_can_be_cancelled(world):
    world.start(1, 'sh', '-c', STOP + 'sleep 600')
    world.record(1, 'started')
    time.sleep(0.2)
    world.send('end', 1, US)
    assert world.ended(1)['end'] == 'cancelled'


def test_a_job_that_stops_its_keeper_has_its_time_limit(world):
    world.start(1, 'sh', '-c', STOP + 'sleep 600', limit_us=US // 2, grace_us=0)
    assert world.ended(1)['end'] == 'timed-out'


def test_the_next_launcher_continues_a_keeper(world):
    """It is not the keeper's parent, so it learns of the stop with an order or a measurement."""
    for launch_id in 1, 2:
        world.start(launch_id, 'sh', '-c', UNTIL_GO + STOP + 'touch stopped-%d; sleep 600' % launch_id,
                    **({'limit_us': 3 * US, 'grace_us': 0} if launch_id == 2 else {}))
        world.record(launch_id, 'started')
    kill_launcher(world)
    (world.path / 'go').touch()
    until(lambda: (world.path / 'stopped-1').exists() and (world.path / 'stopped-2').exists(), 'the jobs')
    world.connect()
    world.synced()
    world.send('end', 1, US)
    assert world.ended(1)['end'] == 'cancelled'
    world.send('measure')
    assert world.ended(2)['end'] == 'timed-out'


@pytest.mark.parametrize('is_cancelled', [False, True])
def test_a_keeper_that_is_stopped_again_and_again_is_killed(world, is_cancelled):
    world.start(1, 'sh', '-c', 'while :; do kill -STOP $PPID; done')
    pid = world.record(1, 'started')['pid']
    if is_cancelled:
        world.send('end', 1, 600 * US)
    record = world.ended(1)
    assert record['end'] in ({'cancelled', 'lost'} if is_cancelled else {'lost'})
    assert not alive(pid)


# ---- one keeper for several launches ----


class Successors:
    """Starts launches one after the other, until a keeper keeps two of them: on a busy machine it may not wait for so long."""

    def __init__(self, world):
        self.world, self.last_id = world, 0

    def run(self, command, **fields):
        """Starts a launch and waits for its end. Returns its keeper, which the command may change, and its record."""
        self.last_id += 1
        self.world.start(self.last_id, 'sh', '-c', 'echo $PPID; ' + command, **fields)
        record = self.world.ended(self.last_id)
        self.world.send('ack', self.last_id)
        return int(self.world.output(self.last_id).split()[0]), record

    def pair(self, first, second, act=lambda keeper: None, **fields):
        """The record and the output of the second command, behind the first one with the same keeper."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            keeper, _ = self.run(first)
            act(keeper)
            later, record = self.run(second, **fields)
            if later == keeper:
                return record, self.world.output(self.last_id).split()[1:]
        raise AssertionError('no keeper has kept two launches')


def test_a_keeper_keeps_another_launch(world):
    record, output = Successors(world).pair('true', 'echo $FAIRLEAD_LAUNCH_ID; exit 3')
    assert (record['end'], record['exit_status'], output) == ('exited', 3, [str(record['id'])])
    world.until_forgotten()


def test_usage_is_that_of_one_launch(world):
    """The kernel adds up what a process has waited for, and keeps the largest peak."""
    busy = 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; head -c 60000000 /dev/zero | tail -n 1 > /dev/null'
    record, _ = Successors(world).pair(busy, 'true')
    assert record['cpu_us'] < 150000 * (10 if SANITIZED else 1)
    assert record['max_rss_kib'] < 30000 * (10 if SANITIZED else 1)
    assert 'before_cpu_us' in world.logged(record['id']).records['ended']


def send_order(pid, order, value):
    """Sends an order of exec/launcher/keeper_orders.h."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.sigqueue(ctypes.c_int(pid), ctypes.c_int(34 + order), ctypes.c_void_p(value))


def test_an_order_for_a_launch_that_has_ended_is_not_for_the_next_one(world):
    record, _ = Successors(world).pair('true', 'sleep 0.3', act=lambda keeper: send_order(keeper, 0, 0))
    assert record['end'] == 'exited', record
    record, _ = Successors(world).pair('true', 'sleep 0.3', act=lambda keeper: send_order(keeper, 2, 1))
    assert record['end'] == 'exited', record


def test_a_tracer_does_not_hold_a_job(world):
    """A process that is killed stays a zombie of its keeper until its tracer has waited for it."""
    world.start(1, 'sleep', '60')
    pid, keeper = int(world.record(1, 'started')['pid']), world.keeper_pid(1)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    assert libc.ptrace(0x4206, pid, None, None) == 0  # PTRACE_SEIZE
    world.send('end', 1, 0)
    record = world.ended(1)
    assert (record['end'], record['signal']) == ('cancelled', 9)
    until(lambda: not alive(keeper), 'the keeper to end')
    assert os.waitpid(pid, 0x40000000)[0] == pid  # __WALL


@pytest.mark.parametrize('order, end', [(('end', 0), 'cancelled'), (('limit', 300000), 'timed-out')], ids=['end', 'limit'])
def test_an_order_right_behind_the_start_is_for_the_next_launch(world, order, end):
    """It may arrive before the keeper has read which launch is the next one."""
    for launch_id in range(1, 24, 2):
        world.start(launch_id, 'true')
        world.ended(launch_id)
        world.send('ack', launch_id)
        world.start(launch_id + 1, 'sleep', '20')
        world.send(order[0], launch_id + 1, *order[1:])
        record = world.ended(launch_id + 1)
        assert record['end'] == end, record['detail']
        world.send('ack', launch_id + 1)


@pytest.mark.parametrize('change, show', [
    ('prlimit --pid $PPID --core=4096:4096', 'prlimit --core --noheadings -o SOFT'),
    ('renice -n 7 -p $PPID', 'nice'),
    ('taskset -p 1 $PPID', 'taskset -p $$ | cut -d: -f2'),
    ('echo 500 > /proc/$PPID/oom_score_adj', 'cat /proc/self/oom_score_adj'),
    ('echo 0x7f > /proc/$PPID/coredump_filter', 'cat /proc/self/coredump_filter'),
    ('echo 5000000 > /proc/$PPID/timerslack_ns', 'cat /proc/self/timerslack_ns'),
])
def test_a_keeper_that_its_job_has_changed_keeps_no_other_launch(world, change, show):
    run = Successors(world)
    _, _ = run.run(show)
    before = world.output(run.last_id).split()[1:]
    for _ in range(5):
        changed, record = run.run('{ %s; } > /dev/null' % change)
        assert record['exit_status'] == 0
        keeper, _ = run.run(show)
        assert keeper != changed and world.output(run.last_id).split()[1:] == before


# Of a process: what a launch could leave to the next one in the same keeper.
STATE = {
    'environment': 'env | grep -v FAIRLEAD_LAUNCH_ | sort',
    'directory': 'pwd',
    'umask': 'umask',
    # By the shell itself: it blocks all signals while it starts a program.
    'signals': 'while read -r line; do case $line in Sig[BICP]*|ShdPnd*) echo "$line";; esac; done < /proc/$$/status',
    'identity': 'grep -E "^(Uid|Gid|Groups|Cap[A-Z][a-z]*|NoNewPrivs|Seccomp)" /proc/$$/status',
    'limits': 'cat /proc/$$/limits',
    'priorities': 'awk \'{print $18, $19, $40, $41}\' /proc/$$/stat; ionice -p $$; chrt -p $$ | cut -d: -f2',
    'cpus': 'grep -E "^(Cpus|Mems)_allowed_list" /proc/$$/status',
    'memory': 'cat /proc/$$/oom_score_adj /proc/$$/coredump_filter /proc/$$/timerslack_ns; grep -E "^THP" /proc/$$/status',
    'session': '[ $(awk \'{print $6}\' /proc/$$/stat) = $$ ] && [ $(awk \'{print $5}\' /proc/$$/stat) = $$ ] && echo own',
    'terminal': 'awk \'{print $7, $8}\' /proc/$$/stat',
    'descriptors': 'ls /proc/$$/fd',
    'namespaces': 'readlink /proc/$$/ns/*',
    'root': 'readlink /proc/$$/root',
    'personality': 'cat /proc/$$/personality',
    'keyring': 'cat /proc/keys 2> /dev/null | grep -c _ses',
    'parent': 'grep -E "^(SigBlk|SigIgn|Groups|Umask|Cpus_allowed_list|NoNewPrivs)" /proc/$PPID/status; ls /proc/$PPID/fd | wc -l',
}
SHOW_STATE = '; '.join('echo "== %s"; { %s; }' % row for row in STATE.items()) + '; true'
# A launch that differs from the next one in all that a launch says, and changes of its process what it can.
DISTURB = ('umask 000; ulimit -n 77; ulimit -c 4096; cd /; export LEFT=over; trap "" TERM HUP USR1; exec 7< /dev/null 8> /dev/null; '
           'renice -n 9 -p $$; ionice -c 3 -p $$; taskset -p 1 $$; echo 600 > /proc/$$/oom_score_adj; '
           'echo 0x7f > /proc/$$/coredump_filter; setsid sleep 0.01')
DISTURBING = {'environment': {'LEFT': 'behind', 'PATH': os.environ['PATH']}, 'directory': '/', 'cpus': '0'}


def sections(text):
    """The state by name, as SHOW_STATE prints it."""
    return {name: value.strip() for name, _, value in (part.partition('\n') for part in text.split('== ')[1:])}


def test_a_launch_inherits_nothing_from_the_one_before_it(world, tmp_path):
    """Of each property, the second launch of a keeper has what the first one of a new keeper has."""
    run = Successors(world)
    show = tmp_path / 'show.sh'
    show.write_text(SHOW_STATE)
    disturb = tmp_path / 'disturb.sh'
    disturb.write_text('{ %s; } > /dev/null 2>&1; . %s' % (DISTURB, show))
    fresh_keeper, record = run.run('exec sh %s' % show)
    assert record['exit_status'] == 0
    expected = sections(world.output(run.last_id))
    assert set(expected) == set(STATE) and all(expected[name] for name in STATE if name not in ('keyring', 'personality'))
    end = time.monotonic() + PATIENCE
    while True:
        keeper, record = run.run('exec sh %s' % disturb, **DISTURBING)
        disturbed = sections(world.output(run.last_id))
        later, record = run.run('exec sh %s' % show)
        if later == keeper:
            break
        assert time.monotonic() < end, 'no keeper has kept two launches'
    # The test would notice: the first launch did differ.
    for name in 'environment', 'directory', 'umask', 'signals', 'limits', 'priorities', 'cpus', 'memory', 'descriptors':
        assert disturbed[name] != expected[name], name
    assert sections(world.output(run.last_id)) == expected


def test_groups_of_an_ended_launch_are_removed_by_the_next_launcher(tmp_path):
    """Its end is not acknowledged, and its keeper was killed before it removed them; one is not empty yet."""
    world = World(tmp_path, [])
    (world.state / 'instance').write_text('id=%032x\n' % 0xfa171ead)  # which the names of groups have
    world.connect()
    assert world.run(1, 'true')[0]['end'] == 'exited'
    group = world.logged(1).start.get('cgroup')
    if not group:
        pytest.skip('no control groups can be created here')
    kill_launcher(world)
    until(lambda: not os.path.exists(group), 'the keeper to remove it')
    os.mkdir(group)
    with subprocess.Popen(['sleep', '600']) as bystander:
        pathlib.Path(group, 'cgroup.procs').write_text(str(bystander.pid))
        world.connect()
        assert world.synced()[1]['end'] == 'exited' and os.path.exists(group)
        bystander.kill()
    until(lambda: not os.path.exists(group), 'the control group to be removed')
    world.close()


def test_idle_keepers_end_soon(world):
    keeper, _ = Successors(world).run('true')
    until(lambda: not alive(keeper), 'the keeper to end')


def test_an_idle_keeper_ends_with_its_launcher(world):
    """It keeps no launch that the launcher has not handed to it, and does not keep the next launcher away."""
    keeper, _ = Successors(world).run('true')
    kill_launcher(world)
    until(lambda: not alive(keeper), 'the keeper to end')
    world.connect()
    world.synced()
    world.start(100, 'true')
    assert world.ended(100)['end'] == 'exited'


@pytest.mark.parametrize('number', [signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM])
def test_a_launch_that_finds_its_idle_keeper_disturbed(world, number):
    """It runs once, or it never ran and may be started again."""
    run = Successors(world)
    for _ in range(20):
        keeper, _ = run.run('true')
        kill(keeper, number)
        run.last_id += 1
        world.start(run.last_id, 'sh', '-c', 'echo ran')
        record = world.ended(run.last_id)
        world.send('ack', run.last_id)
        ran = (world.path / ('%d.out' % run.last_id)).exists() and world.output(run.last_id)
        assert (record['end'], ran) in {('exited', 'ran\n'), ('unavailable', False)}
    world.until_forgotten()


# ---- no descriptors ----


def limit_files(world, count):
    """From now on the launcher opens no file if count is below the numbers that it uses."""
    (pid,) = world.launcher_pids()
    hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)[1]
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (hard if count is None else count, hard))


def test_an_end_needs_no_descriptors(world):
    """The launcher has the segment open."""
    world.start(1, 'sh', '-c', UNTIL_GO + 'exit 7')
    world.record(1, 'started')
    limit_files(world, 3)
    (world.path / 'go').touch()
    record = world.ended(1)
    assert (record['end'], record['exit_status']) == ('exited', 7)


def refuse_orders(keeper, is_refused):
    """The kernel keeps no signals with a value for the keeper."""
    hard = resource.prlimit(keeper, resource.RLIMIT_SIGPENDING)[1]
    resource.prlimit(keeper, resource.RLIMIT_SIGPENDING, (0 if is_refused else hard, hard))


def test_an_order_that_cannot_be_sent_is_sent_later(world):
    world.start(1, 'sleep', '600')
    pid = world.record(1, 'started')['pid']
    keeper = world.keeper_pid(1)
    refuse_orders(keeper, True)
    world.send('end', 1, US)
    time.sleep(0.5)
    assert alive(pid)
    refuse_orders(keeper, False)
    assert world.ended(1)['end'] == 'cancelled'


def test_a_time_limit_that_cannot_be_sent_is_sent_later(world):
    world.start(1, 'sleep', '600')
    pid = world.record(1, 'started')['pid']
    keeper = world.keeper_pid(1)
    refuse_orders(keeper, True)
    world.send('limit', 1, US // 2)
    time.sleep(1)
    assert alive(pid)
    refuse_orders(keeper, False)
    assert world.ended(1)['end'] == 'timed-out'


def test_a_signal_that_is_no_order_ends_nothing(world):
    """A signal without a value has the number of an order."""
    world.start(1, 'sleep', '600')
    pid = world.record(1, 'started')['pid']
    for number in range(34, 37):
        os.kill(world.keeper_pid(1), number)
    time.sleep(0.3)
    assert alive(pid)
    world.send('end', 1, US)
    assert world.ended(1)['end'] == 'cancelled'


def test_a_launch_without_descriptors_leaves_nothing(world):
    limit_files(world, 3)
    world.start(1, 'true')
    record = world.ended(1)
    assert (record['end'], record['started_us']) == ('unavailable', 0)
    assert record['detail'].endswith(': Too many open files')
    assert not world.knows(1)
    limit_files(world, None)
    assert world.run(2, 'echo', 'ran')[1] == 'ran\n'


# ---- what the launcher cannot see, and what it has open ----


@pytest.mark.skipif(os.geteuid() != 0, reason='another pid namespace needs root')
def test_a_launcher_in_another_pid_namespace_tells_all_launches(world):
    """The kernel has no number there for the processes that have the locks. Their records are read all the same."""
    world.start(1, 'sh', '-c', UNTIL_GO + 'exit 7')
    pid = world.record(1, 'started')['pid']
    kill_launcher(world)
    prefix, world.prefix = world.prefix, ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc']
    world.start_launcher()
    world.prefix = prefix
    world.connect()
    assert world.synced()[1]['phase'] == 'started' and alive(pid)
    world.start(2, 'sh', '-c', 'exit 8')
    assert world.ended(2)['exit_status'] == 8
    (world.path / 'go').touch()
    assert world.ended(1)['exit_status'] == 7
    world.send('ack', 1)
    world.send('ack', 2)
    world.until_forgotten()


def descriptors(pid):
    return sorted(os.listdir('/proc/%d/fd' % pid), key=int)


def test_launches_leave_no_descriptor_open(world):
    """Of the launcher and of a keeper: after jobs that ended, were refused, or lost their keeper, and after launchers that
    found them again."""
    (launcher,) = world.launcher_pids()

    def one_round(first):
        world.run(first, 'true')
        world.start(first + 1, 'sh', '-c', 'exit 1', directory='/nonexistent')
        world.ended(first + 1)
        world.start(first + 2, 'sleep', '100')
        world.record(first + 2, 'started')
        kill(world.keeper_pid(first + 2))
        world.ended(first + 2)
        world.start(first + 3, script='#!/bin/sh\nexit 3\n')
        world.ended(first + 3)
        for launch_id in range(first, first + 4):
            world.send('ack', launch_id)
        world.until_forgotten()

    one_round(1)
    before = descriptors(launcher)
    for number in range(1, 10):
        one_round(10 * number)
    until(lambda: len(descriptors(launcher)) <= len(before), 'all descriptors to be closed: %s' % before)
    world.start(1000, 'sh', '-c', 'ls -l /proc/self/fd > %s/fds' % world.path)
    world.ended(1000)
    numbers = [line.split()[8] for line in (world.path / 'fds').read_text().splitlines() if '->' in line]
    assert sorted(numbers) == ['0', '1', '2', '3']  # 3: the directory that ls reads


def bytes_read(pid):
    lines = pathlib.Path('/proc/%d/io' % pid).read_text().splitlines()
    return int(dict(line.split(': ') for line in lines)['rchar'])


def test_the_end_of_a_job_reads_no_other_process(world):
    """A keeper walks down from itself, so the end of many jobs does not read /proc as often. Also what has left the session
    and the children of a process that ended get SIGTERM."""
    bystanders = [subprocess.Popen(['sleep', '1000']) for _ in range(200)]
    try:
        note = 'trap "echo end >> %s/ends" TERM; while :; do sleep 0.05; done' % world.path
        script = world.path / 'note.sh'
        script.write_text(note)
        world.start(1, 'sh', '-c', 'setsid sh {0} & (sh {0} &) ; touch ready; sh {0}'.format(script), grace_us=3 * US)
        world.record(1, 'started')
        until((world.path / 'ready').exists, 'the processes of the job')
        time.sleep(0.5)
        keeper = world.keeper_pid(1)
        before = bytes_read(keeper)
        world.send('end', 1, 3 * US)
        until(lambda: (world.path / 'ends').exists() and len((world.path / 'ends').read_text().split()) == 3, 'three notes')
        read = bytes_read(keeper) - before
        assert world.ended(1)['end'] == 'cancelled'
    finally:
        for bystander in bystanders:
            bystander.kill()
            bystander.wait()
    print('# a keeper read %d bytes to end its job beside 200 other processes' % read)
    assert read < 20000


def test_a_log_of_the_launcher_that_is_a_fifo_is_refused(tmp_path):
    """Opening it would wait for a reader."""
    world = World(tmp_path)
    os.mkfifo(world.state / 'launcher.log')
    assert 'launcher.log is not a regular file' in world.connect(expect='error')
    world.disconnect()
    (world.state / 'launcher.log').unlink()
    world.connect()
    assert world.run(1, 'true')[0]['end'] == 'exited'
    world.close()
