"""kill -9 of a daemon, a launcher or a keeper, at a chosen time and at every system call: a job runs once, and its end
is reported."""
import fcntl
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exec_world import BUILD, LAUNCHER, PATIENCE, US, World, alive, in_time, kill, read, until  # noqa: E402

KILL_AT = BUILD / 'tests/crash/kill-at'
SANITIZED = os.environ.get('FAIRLEAD_SANITIZED') == '1'
# The processes are killed at every n-th system call. FAIRLEAD_CRASH_EVERY=1 takes a minute.
EVERY = {'launcher': 40, 'keeper': 20} if SANITIZED else {'launcher': 5, 'keeper': 1}


@pytest.fixture(params=['cgroup', 'no-cgroup'])
def world(tmp_path, request):
    world = World(tmp_path, ['--no-cgroup'] if request.param == 'no-cgroup' else [])
    world.connect()
    assert world.synced() == {}
    yield world
    world.close()


def kill_launcher(world):
    for pid in world.launcher_pids():
        kill(pid)
    until(lambda: not world.launcher_pids(), 'the launcher to be gone')


def kill_keeper(world, launch_id):
    pid = world.keeper_pid(launch_id)
    kill(pid)
    until(lambda: not alive(pid), 'the keeper to be gone')


# ---- daemon and launcher ----

UNTIL_GO = 'while [ ! -e go ]; do sleep 0.02; done; '


def let_go(world):
    (world.path / 'go').touch()


def test_a_job_survives_its_daemon(world):
    world.start(1, 'sh', '-c', UNTIL_GO + 'echo done; exit 4')
    world.record(1, 'started')
    world.kill_driver()
    let_go(world)
    world.connect()
    record = world.ended(1)
    assert (record['end'], record['exit_status'], world.output(1)) == ('exited', 4, 'done\n')


def test_a_job_survives_its_launcher(world):
    """The job ends while no launcher runs, and the next launcher reports its end."""
    world.start(1, 'sh', '-c', UNTIL_GO + 'echo done; exit 4')
    started = world.record(1, 'started')
    kill_launcher(world)
    assert world.report() == 'gone'
    let_go(world)
    until(lambda: (world.state / 'launches/1/end').exists(), 'the end record')
    world.connect()
    record = world.synced()[1]
    assert (record['phase'], record['end'], record['exit_status']) == ('ended', 'exited', 4)
    assert (record['pid'], record['started_us']) == (started['pid'], started['started_us'])
    assert world.output(1) == 'done\n'


def test_the_next_launcher_is_notified_of_an_end(world):
    world.start(1, 'sh', '-c', UNTIL_GO)
    world.record(1, 'started')
    kill_launcher(world)
    world.connect()
    assert world.synced()[1]['phase'] == 'started'
    let_go(world)
    assert world.ended(1)['exit_status'] == 0
    world.send('ack', 1)
    until(lambda: not (world.state / 'launches/1').exists(), 'its directory to be removed')


def test_a_time_limit_is_enforced_without_a_launcher(world):
    ids = iter(range(1, 9))

    def attempt(seconds):
        launch_id, span_us = next(ids), int(seconds * US)
        directory = world.state / ('launches/%d' % launch_id)
        world.start(launch_id, 'sh', '-c', 'trap "" TERM; sleep 600', limit_us=span_us, grace_us=span_us)
        world.record(launch_id, 'started')
        kill_launcher(world)
        was_early = not (directory / 'completing').exists()
        until((directory / 'end').exists, 'the end record', PATIENCE + 2 * seconds)
        world.connect()
        assert world.synced()[launch_id]['end'] == 'timed-out'
        return was_early

    in_time(attempt)


def test_the_next_launcher_passes_an_order_on(world):
    world.start(1, 'sleep', '600')
    world.record(1, 'started')
    kill_launcher(world)
    world.connect()
    world.synced()
    world.send('end', 1, US)
    assert world.ended(1)['end'] == 'cancelled'


def test_a_replaced_time_limit_is_enforced_without_a_launcher(world):
    ids = iter(range(1, 9))

    def attempt(seconds):
        launch_id, span_us = next(ids), int(seconds * US)
        world.start(launch_id, 'sleep', '600', limit_us=3600 * US)
        started_us = world.record(launch_id, 'started')['started_us']
        world.send('limit', launch_id, span_us)
        world.start(launch_id + 50, 'true')  # its record says that the launcher has read both
        world.record(launch_id + 50, 'started')
        kill_launcher(world)
        was_early = not (world.state / ('launches/%d/completing' % launch_id)).exists()
        until((world.state / ('launches/%d/end' % launch_id)).exists, 'the end record', PATIENCE + seconds)
        world.connect()
        record = world.synced()[launch_id]
        assert record['end'] == 'timed-out' and record['at_us'] - started_us >= span_us
        return was_early

    in_time(attempt)


def test_the_next_launcher_passes_a_time_limit_on(world):
    world.start(1, 'sleep', '600', limit_us=3600 * US)
    world.record(1, 'started')
    kill_launcher(world)
    world.connect()
    world.synced()
    world.send('limit', 1, 1)
    assert world.ended(1)['end'] == 'timed-out'


def test_a_restarted_launcher_starts_no_job_twice(world):
    world.start(1, 'sh', '-c', 'echo once >> count; ' + UNTIL_GO)
    world.record(1, 'started')
    kill_launcher(world)
    world.connect()
    world.start(1, 'sh', '-c', 'echo again >> count')
    let_go(world)
    assert world.ended(1)['end'] == 'exited'
    assert (world.path / 'count').read_text() == 'once\n'


# ---- keepers ----

PROCESS_TREE = r'''
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()                      # another session, the same environment
    print(os.getpid(), flush=True)
    time.sleep(600)
if os.fork() == 0:                   # the same session, an empty environment
    os.execve('/bin/sh', ['sh', '-c', 'echo $$; exec sleep 600'], {})
if os.fork() == 0:
    print(os.getpid(), flush=True)
    time.sleep(600)
print(os.getpid(), flush=True)
time.sleep(600)
'''


def start_process_tree(world):
    """Starts a job of four processes, which are found in different ways, and returns their pids."""
    world.start(1, 'python3', '-c', PROCESS_TREE)
    world.record(1, 'started')
    return until(lambda: (lambda pids: pids if len(pids) == 4 else None)([int(line) for line in world.output(1).split()]),
                 'the job')


ORPHANS_KILLED = 'its keeper was killed; then its other processes were killed'


def check_lost(world, record, pids):
    assert (record['end'], record['detail']) == ('lost', ORPHANS_KILLED)
    assert record['pid'] == pids[-1] or record['pid'] in pids
    assert not [pid for pid in pids if alive(pid)]
    assert not (world.state / 'launches/1/end.new').exists()


def test_orphans_are_killed_after_their_keeper(world):
    pids = start_process_tree(world)
    kill_keeper(world, 1)
    check_lost(world, world.ended(1), pids)


def test_orphans_are_killed_if_an_earlier_launcher_forked_their_keeper(world):
    pids = start_process_tree(world)
    kill_launcher(world)
    world.connect()
    world.synced()
    kill_keeper(world, 1)
    check_lost(world, world.ended(1), pids)


def test_orphans_are_killed_by_the_next_launcher(world):
    pids = start_process_tree(world)
    kill_launcher(world)
    kill_keeper(world, 1)
    world.connect()
    check_lost(world, world.ended(1), pids)
    world.connect()
    check_lost(world, world.synced()[1], pids)


def test_orphans_are_killed_if_their_keeper_died_in_the_grace(world):
    pids = start_process_tree(world)
    world.send('end', 1, 600 * US)
    world.record(1, 'completing')
    kill_keeper(world, 1)
    check_lost(world, world.ended(1), pids)


def test_jobs_of_another_instance_are_not_killed(tmp_path):
    """It has the same launch id and the same user, and another state directory."""
    worlds = []
    for name in ('a', 'b'):
        (tmp_path / name).mkdir()
        world = World(tmp_path / name, ['--no-cgroup'])
        world.connect()
        world.synced()
        world.start(1, 'sleep', '600')
        worlds.append((world, world.record(1, 'started')['pid']))
    (first, first_pid), (second, second_pid) = worlds
    kill_keeper(first, 1)
    assert first.ended(1)['end'] == 'lost'
    assert not alive(first_pid) and alive(second_pid)
    first.close()
    second.close()


def test_the_main_process_dies_with_its_keeper(world):
    world.start(1, 'sleep', '600')
    pid = world.record(1, 'started')['pid']
    kill_launcher(world)
    kill_keeper(world, 1)
    until(lambda: not alive(pid), 'the job to be gone')


# ---- what a launcher finds ----


@pytest.fixture
def bare(tmp_path):
    """A world without a launcher, for files that the launcher is going to find."""
    world = World(tmp_path)
    (world.state / 'launches').mkdir(mode=0o700)
    yield world
    world.close()


@pytest.fixture
def bystander():
    process = subprocess.Popen(['sleep', '600'], start_new_session=True)
    yield process
    process.kill()
    process.wait()


def forge(world, launch_id, **files):
    directory = world.state / 'launches' / str(launch_id)
    directory.mkdir(mode=0o700)
    for name, text in files.items():
        (directory / name).write_text(text)


def start_record(launch_id, pid, boot_id):
    return ('id=%d\nphase=started\nat_us=5\nstarted_us=5\npid=%d\nborn=1\nkey=%s\nboot_id=%s\n' %
            (launch_id, pid, '0' * 32, boot_id))


def test_a_pid_of_another_boot_is_not_signalled(bare, bystander):
    forge(bare, 1, start=start_record(1, bystander.pid, 'another-boot'), lock='%d\n' % bystander.pid)
    bare.connect()
    record = bare.synced()[1]
    assert (record['end'], record['detail']) == ('lost', 'the machine was restarted while it ran')
    assert bystander.poll() is None


def test_a_reused_pid_is_not_signalled(bare, bystander):
    boot_id = pathlib.Path('/proc/sys/kernel/random/boot_id').read_text().strip()
    forge(bare, 1, start=start_record(1, bystander.pid, boot_id), lock='%d\n' % bystander.pid)
    bare.connect()
    assert bare.ended(1)['end'] == 'lost'
    assert bystander.poll() is None


BOOT_ID = pathlib.Path('/proc/sys/kernel/random/boot_id').read_text().strip()
UNUSED_PID = 2 ** 22  # more than Linux gives to a process
RESTARTED = 'the machine was restarted while it ran'
END = 'id=1\nphase=ended\nat_us=7\nstarted_us=5\npid=4194304\nend=exited\nexit_status=3\nsignal=0\ncpu_us=0\nmax_rss_kib=0\ndetail=\n'


@pytest.mark.parametrize('boot_id, files, end, detail', [
    ('another', {'end': END}, 'exited', ''),
    ('another', {'end': ''}, 'lost', RESTARTED),
    ('another', {'end': '\0' * len(END)}, 'lost', RESTARTED),
    ('another', {'end': END[:-9]}, 'lost', RESTARTED),   # without its last line
    ('another', {'end': END[:-1]}, 'lost', RESTARTED),
    ('another', {'end': END[:60]}, 'lost', RESTARTED),
    ('another', {'end.new': END[:60]}, 'lost', RESTARTED),
    ('another', {'completing': ''}, 'lost', RESTARTED),
    ('another', {'completing': 'id=1\nph', 'end': ''}, 'lost', RESTARTED),
    ('another', {'completing': 'id=1\nph', 'end': END}, 'exited', ''),  # the keeper syncs only the end
    ('another', {'completing': '\0' * len(END), 'end': END}, 'exited', ''),
    (BOOT_ID, {'end': END}, 'exited', ''),
    (BOOT_ID, {'end': ''}, 'lost', ORPHANS_KILLED),
    (BOOT_ID, {'end': END[:-9]}, 'lost', "record 'end' is cut off"),
])
def test_an_end_after_power_loss(bare, boot_id, files, end, detail):
    """Only a start is synced. A later record may be complete, torn or missing: no reply has relied on it yet."""
    forge(bare, 1, start=start_record(1, UNUSED_PID, boot_id), lock='%d\n' % UNUSED_PID, **files)
    bare.connect()
    record = bare.ended(1)
    assert (record['end'], record['detail'], record['exit_status']) == (end, detail, 3 if end == 'exited' else 0)
    assert record['started_us'] == 5 or boot_id == BOOT_ID
    bare.send('ack', 1)
    until(lambda: not (bare.state / 'launches/1').exists(), 'its directory to be removed')


@pytest.mark.parametrize('files, detail', [
    ({}, None),
    ({'end': ''}, None),
    ({'end': '', 'completing': '', 'lock': '1\n'}, None),
    ({'lock': ''}, None),
    ({'lock': '1\n', 'script': 'x', 'start.new': 'id=1'}, None),
    ({'lock': '1\n/no/such/group\n', 'control': ''}, None),
    ({'start': 'nonsense'}, "record 'start': the line 'nonsense' has no '='"),
    ({'start': 'id=2\nphase=started\n'}, "record 'start' is of launch 2, not 1"),
    ({'start': ''}, "record 'start': no id or no phase"),
    ({'end': 'id=1\nphase=ended\nend=what\n'}, "record 'end': end: the value 'what' cannot be read"),
])
def test_an_incomplete_directory(bare, files, detail):
    """A launch that never ran is forgotten, so that it can be started. One whose record cannot be read is lost."""
    forge(bare, 1, **files)
    bare.connect()
    records = bare.synced()
    assert sorted(records) == ([1] if detail else [])
    if detail:
        assert (records[1]['end'], records[1]['detail']) == ('lost', detail)
    else:
        assert bare.run(1, 'echo', 'ran')[1] == 'ran\n'


def test_two_names_of_one_launch_id_are_one_launch(bare):
    """The directories "1" and "01" read as the same number: the launch is reported once, and forgotten once."""
    for name in ('1', '01'):
        forge(bare, name, start=start_record(1, UNUSED_PID, 'another-boot'), end=END)
    bare.connect()
    assert list(bare.synced()) == [1]
    assert sum(isinstance(report, dict) for report in bare.reports) == 1
    bare.send('ack', 1)
    until(lambda: not (bare.state / 'launches/1').exists(), 'its directory to be removed')
    bare.connect()
    assert bare.synced() == {}


def test_a_reported_end_stays_the_same(world):
    """Keeper and launcher are killed before the end is synced or acknowledged: the next launcher reports the same."""
    for launch_id in range(1, 11):
        world.start(launch_id, 'sh', '-c', 'exit %d' % launch_id)
        keeper = until(lambda: read(world.state / ('launches/%d/lock' % launch_id)).partition(b'\n')[0], 'its keeper')
        reported = world.ended(launch_id)
        kill(int(keeper))
        kill_launcher(world)
        world.connect()
        again = world.synced()
        assert again[launch_id] == reported and reported['exit_status'] == launch_id
        world.send('ack', launch_id)
        until(lambda: not (world.state / ('launches/%d' % launch_id)).exists(), 'its directory to be removed')


def test_a_directory_is_removed_while_its_keeper_waits_for_the_commit(world):
    """The reported end stays, and the keeper does not wait for a record that cannot be written."""
    world.start(1, 'sh', '-c', UNTIL_GO + 'exit 4')
    world.record(1, 'started')
    keeper = world.keeper_pid(1)
    let_go(world)
    assert world.ended(1)['exit_status'] == 4
    subprocess.run(['rm', '-rf', world.state / 'launches/1'], check=True)
    until(lambda: not alive(keeper), 'the keeper to end')
    assert world.run(2, 'true')[0]['end'] == 'exited'
    assert [report for report in world.reports if isinstance(report, dict) and report['end'] == 'lost'] == []
    world.send('ack', 1)
    world.send('ack', 2)
    until(lambda: not list(world.state.glob('launches/*')), 'the directories to be removed')


def test_hundreds_of_jobs_end_at_once(world):
    """At first no end is acknowledged, so that all keepers wait at once; then all are."""
    ids = range(1, 201)
    with open(world.path / 'gate', 'w') as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        for launch_id in ids:
            world.start(launch_id, 'flock', '-s', 'gate', 'true')
        for launch_id in ids:
            world.record(launch_id, 'started')
    for launch_id in ids:
        record = world.ended(launch_id)
        assert (record['end'], record['exit_status']) == ('exited', 0)
    assert sum(isinstance(report, dict) and report['phase'] == 'ended' for report in world.reports) == len(ids)
    for launch_id in ids:
        world.send('ack', launch_id)
    until(lambda: not list(world.state.glob('launches/*')), 'the directories to be removed')


def test_a_directory_is_removed_while_its_job_runs(world):
    world.start(1, 'sh', '-c', UNTIL_GO)
    world.record(1, 'started')
    keeper = world.keeper_pid(1)
    subprocess.run(['rm', '-rf', world.state / 'launches/1'], check=True)
    let_go(world)
    until(lambda: not alive(keeper), 'the keeper to end')
    assert world.run(2, 'true')[0]['end'] == 'exited'


# ---- every system call ----


@pytest.fixture(scope='module')
def tracing():
    if subprocess.run([KILL_AT, 'launcher', '1', '/bin/true'], stdin=subprocess.DEVNULL, capture_output=True).returncode != 0:
        pytest.skip('no process can be traced here')


class Traced:
    """A launcher under kill_at, in a world of its own."""

    def __init__(self, path, program, n):
        self.world = World(path)
        environment = dict(os.environ, ASAN_OPTIONS=os.environ.get('ASAN_OPTIONS', '') + ':detect_leaks=0')
        self.tracer = subprocess.Popen([KILL_AT, program, str(n), LAUNCHER, '--private', '--state', self.world.state],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, env=environment)
        until(lambda: (self.world.state / 'launcher.sock').exists() or self.tracer.poll() is not None, 'the launcher')

    def result(self):
        words = self.tracer.stdout.readline().split()
        assert words, 'kill-at ended with status %s and printed nothing' % self.tracer.wait()
        return words

    def close(self):
        self.tracer.kill()
        self.tracer.wait()
        self.tracer.stdout.close()
        self.world.close()


# The files that are synced at a start: its record, the launch's directory, the directory of launches. At an end: its
# record, the launch's directory.
START_SYNC_COUNT, END_SYNC_COUNT = 3, 2


def count_keeper_syncs(path, after_start=None, after_end=None, **launch):
    """Runs a job. Returns how often its keeper syncs, and with after_end, the seconds from the end to its exit."""
    path.mkdir()
    traced = Traced(path, 'keeper', 0)
    world, seconds = traced.world, None
    try:
        world.connect()
        world.synced()
        world.start(1, 'sh', '-c', UNTIL_GO, **launch)
        if after_start:
            world.record(1, 'started')
            after_start(world)
        let_go(world)
        if after_end:
            ended = world.ended(1)
            after_end(world)
        result = traced.result()
        if after_end:
            seconds = time.time() - ended['at_us'] / US
        return int(result[2]), seconds
    finally:
        traced.close()


def test_a_keeper_syncs_an_end_that_is_not_acknowledged(tmp_path, tracing):
    """A daemon is connected, but does not acknowledge the end."""
    syncs, seconds = count_keeper_syncs(tmp_path / 'a', after_end=lambda world: None)
    assert syncs == START_SYNC_COUNT + END_SYNC_COUNT and seconds >= 0.2


def test_a_keeper_syncs_an_end_if_no_launcher_runs(tmp_path, tracing):
    syncs, _ = count_keeper_syncs(tmp_path / 'a', after_start=lambda world: (world.disconnect(), kill_launcher(world)))
    assert syncs == START_SYNC_COUNT + END_SYNC_COUNT


def test_a_keeper_syncs_an_end_if_its_launcher_cannot_be_notified(tmp_path, tracing):
    """The fifo of events is full, because its reader is stopped. So the keeper does not wait for the commit."""
    pids = []

    def stop_and_fill(world):
        pids.extend(world.launcher_pids())
        os.kill(pids[0], signal.SIGSTOP)
        fifo = os.open(world.state / 'launcher.events', os.O_WRONLY | os.O_NONBLOCK)
        try:
            while True:
                os.write(fifo, (77).to_bytes(8, 'little'))  # an unknown launch
        except BlockingIOError:
            os.close(fifo)

    path = tmp_path / 'a'
    path.mkdir()
    traced = Traced(path, 'keeper', 0)
    world = traced.world
    try:
        world.connect()
        world.synced()
        world.start(1, 'sh', '-c', UNTIL_GO + 'exit 4')
        world.record(1, 'started')
        stop_and_fill(world)
        let_go(world)
        assert int(traced.result()[2]) == START_SYNC_COUNT + END_SYNC_COUNT
        os.kill(pids[0], signal.SIGCONT)
        assert world.ended(1)['exit_status'] == 4
        world.send('ack', 1)
        until(lambda: not (world.state / 'launches/1').exists(), 'its directory to be removed')
    finally:
        for pid in pids:
            kill(pid, signal.SIGCONT)
        traced.close()


def test_a_keeper_ignores_committed_before_the_end(tmp_path, tracing):
    def send_committed(world):
        with open(world.state / 'launches/1/control', 'w') as control:
            control.write('committed\n')

    syncs, _ = count_keeper_syncs(tmp_path / 'a', after_start=send_committed, after_end=lambda world: None)
    assert syncs == START_SYNC_COUNT + END_SYNC_COUNT


def test_a_keeper_does_not_sync_a_committed_end(tmp_path, tracing):
    """It exits at once. On a busy machine the acknowledgement may come too late; then it has synced, as it should."""

    def acknowledge_end(world):
        world.send('ack', 1)
        until(lambda: not (world.state / 'launches/1').exists(), 'its directory to be removed')

    for attempt in range(30):
        syncs, _ = count_keeper_syncs(tmp_path / str(attempt), after_end=acknowledge_end)
        assert syncs in (START_SYNC_COUNT, START_SYNC_COUNT + END_SYNC_COUNT)
        if syncs == START_SYNC_COUNT:
            return
    raise AssertionError('the acknowledgement never came in time')


def test_a_keeper_does_not_sync_a_refused_launch(tmp_path, tracing):
    syncs, _ = count_keeper_syncs(tmp_path / 'a', after_end=lambda world: None, cpus='4000-4001')
    assert syncs == 0


def play_daemon(world):
    """Acts as a daemon: sends a launch, reconnects if the launcher is gone, and sends it again if it is unknown."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        world.connect()
        is_known = is_sent = False
        while (report := world.report()) != 'gone':
            is_known |= isinstance(report, dict)
            if is_known and report != 'synced' and report['phase'] == 'ended':
                return report
            if report == 'synced' and not is_known and not is_sent:
                is_sent = True
                world.start(1, script='echo ran >> %s/count; sleep 0.05; echo end >> %s/count' % (world.path, world.path))
    raise AssertionError('the end was never reported: %r' % world.reports)


def acknowledge(world):
    """Acknowledges the end as a daemon does, again and again. It may be reported again, but not started again."""
    end = time.monotonic() + PATIENCE
    while list(world.state.glob('launches/*')):
        assert time.monotonic() < end, 'its directory is still there'
        world.send('ack', 1)
        time.sleep(0.02)  # the launcher reads it before the next connection replaces this one
        world.connect()
        while world.report() not in ('synced', 'gone'):
            pass


def written_by_job(world):
    path = world.path / 'count'
    return path.read_text().split() if path.exists() else []


def kill_at_every_call(tmp_path, program, check):
    """Kills the program at each n-th system call in turn, and calls check(world, record, n) after each kill."""
    n, kill_count = 1, 0
    every = int(os.environ.get('FAIRLEAD_CRASH_EVERY', EVERY[program]))
    while True:
        path = tmp_path / str(n)
        path.mkdir()
        traced = Traced(path, program, n)
        try:
            record = play_daemon(traced.world)
            check(traced.world, record, n)
            acknowledge(traced.world)
            for pid in traced.world.launcher_pids():
                kill(pid, signal.SIGTERM)
            # Not killed by close(), because a sanitizer complains about a process that is killed while it ends.
            until(lambda: not traced.world.launcher_pids(), 'the launcher to end')
            result = traced.result()
        finally:
            traced.close()
        if result[0] == 'ended':
            print('# compared %d kills of the %s in %s system calls' % (kill_count, program, result[1]))
            assert kill_count > 3
            return
        kill_count += 1
        n += every


def test_a_launcher_is_killed_at_every_call(tmp_path, tracing):
    """Whatever the launcher was doing, the job runs exactly once, and its end is reported as exit status 0."""

    def check(world, record, n):
        assert written_by_job(world) == ['ran', 'end'], n
        assert (record['end'], record['exit_status']) == ('exited', 0), (n, record)

    kill_at_every_call(tmp_path, 'launcher', check)


def test_a_keeper_is_killed_at_every_call(tmp_path, tracing):
    """Whatever the keeper was doing, the job never runs twice, and the report fits what it did."""

    def check(world, record, n):
        ran = written_by_job(world)
        assert ran in ([], ['ran'], ['ran', 'end']), n
        allowed = {'unavailable': [[]], 'lost': [[], ['ran'], ['ran', 'end']], 'exited': [['ran', 'end']]}
        assert ran in allowed[record['end']], (n, record)
        assert not record['pid'] or not alive(record['pid']), n
        lines = (world.state / 'launches/1/lock').read_text().split('\n')
        assert len(lines) < 2 or not lines[1] or not os.path.exists(lines[1]), n  # its control group is removed

    kill_at_every_call(tmp_path, 'keeper', check)
