"""kill -9 of a daemon, a launcher, a keeper, at a chosen moment and at every system call: a job runs once, and its end is told."""
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
# Of all system calls, one in so many. FAIRLEAD_CRASH_EVERY=1 takes a minute.
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


def test_daemon_killed(world):
    world.start(1, 'sh', '-c', UNTIL_GO + 'echo done; exit 4')
    world.record(1, 'started')
    world.kill_driver()
    let_go(world)
    world.connect()
    record = world.ended(1)
    assert (record['end'], record['exit_status'], world.output(1)) == ('exited', 4, 'done\n')


def test_launcher_killed(world):
    """The job runs on, ends while there is no launcher, and the next one tells."""
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


def test_end_is_noticed_by_another_launcher(world):
    world.start(1, 'sh', '-c', UNTIL_GO)
    world.record(1, 'started')
    kill_launcher(world)
    world.connect()
    assert world.synced()[1]['phase'] == 'started'
    let_go(world)
    assert world.ended(1)['exit_status'] == 0
    world.send('ack', 1)
    until(lambda: not (world.state / 'launches/1').exists(), 'its directory to be removed')


def test_limit_without_launcher(world):
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


def test_order_through_another_launcher(world):
    world.start(1, 'sleep', '600')
    world.record(1, 'started')
    kill_launcher(world)
    world.connect()
    world.synced()
    world.send('end', 1, US)
    assert world.ended(1)['end'] == 'cancelled'


def test_nothing_starts_twice_after_a_restart(world):
    world.start(1, 'sh', '-c', 'echo once >> count; ' + UNTIL_GO)
    world.record(1, 'started')
    kill_launcher(world)
    world.connect()
    world.start(1, 'sh', '-c', 'echo again >> count')
    let_go(world)
    assert world.ended(1)['end'] == 'exited'
    assert (world.path / 'count').read_text() == 'once\n'


# ---- keepers ----

FAMILY = r'''
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


def family(world):
    """A job of four processes that an end must reach in different ways."""
    world.start(1, 'python3', '-c', FAMILY)
    world.record(1, 'started')
    return until(lambda: (lambda pids: pids if len(pids) == 4 else None)([int(line) for line in world.output(1).split()]),
                 'the job')


def check_lost(world, record, pids):
    assert (record['end'], record['detail']) == ('lost', 'its keeper was killed; what was left of it has been ended')
    assert record['pid'] == pids[-1] or record['pid'] in pids
    assert not [pid for pid in pids if alive(pid)]
    assert not (world.state / 'launches/1/end.new').exists()


def test_keeper_killed(world):
    pids = family(world)
    kill_keeper(world, 1)
    check_lost(world, world.ended(1), pids)


def test_keeper_of_an_earlier_launcher_killed(world):
    pids = family(world)
    kill_launcher(world)
    world.connect()
    world.synced()
    kill_keeper(world, 1)
    check_lost(world, world.ended(1), pids)


def test_keeper_and_launcher_killed(world):
    pids = family(world)
    kill_launcher(world)
    kill_keeper(world, 1)
    world.connect()
    check_lost(world, world.ended(1), pids)
    world.connect()
    check_lost(world, world.synced()[1], pids)


def test_keeper_killed_in_the_grace(world):
    pids = family(world)
    world.send('end', 1, 600 * US)
    world.record(1, 'completing')
    kill_keeper(world, 1)
    check_lost(world, world.ended(1), pids)


def test_another_instance_is_left_alone(tmp_path):
    """The same launch id, the same user, another state directory."""
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


def test_main_process_dies_with_its_keeper(world):
    world.start(1, 'sleep', '600')
    pid = world.record(1, 'started')['pid']
    kill_launcher(world)
    kill_keeper(world, 1)
    until(lambda: not alive(pid), 'the job to be gone')


# ---- what a launcher finds ----


@pytest.fixture
def bare(tmp_path):
    """A world without a launcher so far, to lay something in its way."""
    world = World(tmp_path)
    (world.state / 'launches').mkdir(mode=0o700)
    yield world
    world.close()


@pytest.fixture
def innocent():
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


def test_what_another_boot_left(bare, innocent):
    """Process ids of another boot mean nothing: nobody is signalled."""
    forge(bare, 1, start=start_record(1, innocent.pid, 'another-boot'), lock='%d\n' % innocent.pid)
    bare.connect()
    record = bare.synced()[1]
    assert (record['end'], record['detail']) == ('lost', 'the machine was restarted while it ran')
    assert innocent.poll() is None


def test_a_reused_process_id_is_left_alone(bare, innocent):
    boot_id = pathlib.Path('/proc/sys/kernel/random/boot_id').read_text().strip()
    forge(bare, 1, start=start_record(1, innocent.pid, boot_id), lock='%d\n' % innocent.pid)
    bare.connect()
    assert bare.ended(1)['end'] == 'lost'
    assert innocent.poll() is None


BOOT_ID = pathlib.Path('/proc/sys/kernel/random/boot_id').read_text().strip()
NOBODY = 2 ** 22  # no process has this id
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
    ('another', {'completing': 'id=1\nph', 'end': END}, 'exited', ''),  # its keeper synced the end alone
    ('another', {'completing': '\0' * len(END), 'end': END}, 'exited', ''),
    (BOOT_ID, {'end': END}, 'exited', ''),
    (BOOT_ID, {'end': ''}, 'lost', 'its keeper was killed; what was left of it has been ended'),
    (BOOT_ID, {'end': END[:-9]}, 'lost', 'end: a record that is cut off'),
])
def test_what_a_loss_of_power_leaves_of_an_end(bare, boot_id, files, end, detail):
    """Only a start is synced. What was written after it may be there, or not, or in part: nobody relied on it yet."""
    forge(bare, 1, start=start_record(1, NOBODY, boot_id), lock='%d\n' % NOBODY, **files)
    bare.connect()
    record = bare.ended(1)
    assert (record['end'], record['detail'], record['exit_status']) == (end, detail, 3 if end == 'exited' else 0)
    assert record['started_us'] == 5 or boot_id == BOOT_ID
    bare.send('ack', 1)
    until(lambda: not (bare.state / 'launches/1').exists(), 'its directory to be removed')


@pytest.mark.parametrize('files, told', [
    ({}, None),
    ({'end': ''}, None),
    ({'end': '', 'completing': '', 'lock': '1\n'}, None),
    ({'lock': ''}, None),
    ({'lock': '1\n', 'script': 'x', 'start.new': 'id=1'}, None),
    ({'lock': '1\n/no/such/group\n', 'control': ''}, None),
    ({'start': 'nonsense'}, "start: the line 'nonsense' has no '='"),
    ({'start': 'id=2\nphase=started\n'}, 'start is the record of launch 2'),
    ({'start': ''}, 'start: no id or no phase'),
    ({'end': 'id=1\nphase=ended\nend=what\n'}, "end: end: the value 'what' cannot be read"),
])
def test_what_is_half_there(bare, files, told):
    """What never ran is forgotten, so that it may be started; what cannot be read is lost, so that it is not."""
    forge(bare, 1, **files)
    bare.connect()
    records = bare.synced()
    assert sorted(records) == ([1] if told else [])
    if told:
        assert records[1]['end'] == 'lost' and told in records[1]['detail']
    else:
        assert bare.run(1, 'echo', 'ran')[1] == 'ran\n'


def test_an_end_that_was_told_stays(world):
    """Keeper and launcher are killed before either end is synced or acknowledged: the next launcher says the same."""
    for launch_id in range(1, 11):
        world.start(launch_id, 'sh', '-c', 'exit %d' % launch_id)
        keeper = until(lambda: read(world.state / ('launches/%d/lock' % launch_id)).partition(b'\n')[0], 'its keeper')
        told = world.ended(launch_id)
        kill(int(keeper))
        kill_launcher(world)
        world.connect()
        again = world.synced()
        assert again[launch_id] == told and told['exit_status'] == launch_id
        world.send('ack', launch_id)
        until(lambda: not (world.state / ('launches/%d' % launch_id)).exists(), 'its directory to be removed')


def test_directory_removed_while_its_keeper_waits_for_a_word(world):
    """What was told stays told; nobody waits for a record that cannot be."""
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


def test_hundreds_end_at_once(world):
    """Nobody says that their ends are committed, so all keepers wait at once; then somebody does."""
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


def test_directory_removed_under_everybody(world):
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

    def __init__(self, path, whom, n):
        self.world = World(path)
        environment = dict(os.environ, ASAN_OPTIONS=os.environ.get('ASAN_OPTIONS', '') + ':detect_leaks=0')
        self.tracer = subprocess.Popen([KILL_AT, whom, str(n), LAUNCHER, '--private', '--state', self.world.state],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, env=environment)
        until(lambda: (self.world.state / 'launcher.sock').exists() or self.tracer.poll() is not None, 'the launcher')

    def verdict(self):
        said = self.tracer.stdout.readline().split()
        assert said, 'kill-at ended with status %s and said nothing' % self.tracer.wait()
        return said

    def close(self):
        self.tracer.kill()
        self.tracer.wait()
        self.tracer.stdout.close()
        self.world.close()


# What a start takes: its record, the launch's directory, the directory of launches. An end: its record, the directory.
START_SYNCS, END_SYNCS = 3, 2


def syncs_of_keeper(path, after_start=None, after_end=None, **launch):
    """Of a whole job, with the seconds from its end, where that is told, until its keeper was gone."""
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
        verdict = traced.verdict()
        if after_end:
            seconds = time.time() - ended['at_us'] / US
        return int(verdict[2]), seconds
    finally:
        traced.close()


def test_keeper_syncs_an_end_that_nobody_commits(tmp_path, tracing):
    """There is a daemon, but it does not say that it has the end."""
    syncs, seconds = syncs_of_keeper(tmp_path / 'a', after_end=lambda world: None)
    assert syncs == START_SYNCS + END_SYNCS and seconds >= 0.2


def test_keeper_syncs_an_end_that_nobody_hears_of(tmp_path, tracing):
    syncs, _ = syncs_of_keeper(tmp_path / 'a', after_start=lambda world: (world.disconnect(), kill_launcher(world)))
    assert syncs == START_SYNCS + END_SYNCS


def test_keeper_syncs_an_end_when_its_launcher_cannot_be_told(tmp_path, tracing):
    """The fifo of events is full, for its reader is stopped: nobody will pass a word on, so none is waited for."""
    pids = []

    def stop_and_fill(world):
        pids.extend(world.launcher_pids())
        os.kill(pids[0], signal.SIGSTOP)
        fifo = os.open(world.state / 'launcher.events', os.O_WRONLY | os.O_NONBLOCK)
        try:
            while True:
                os.write(fifo, (77).to_bytes(8, 'little'))  # no launch of ours
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
        assert int(traced.verdict()[2]) == START_SYNCS + END_SYNCS
        os.kill(pids[0], signal.SIGCONT)
        assert world.ended(1)['exit_status'] == 4
        world.send('ack', 1)
        until(lambda: not (world.state / 'launches/1').exists(), 'its directory to be removed')
    finally:
        for pid in pids:
            kill(pid, signal.SIGCONT)
        traced.close()


def test_keeper_believes_no_word_that_comes_before_the_end(tmp_path, tracing):
    def too_early(world):
        with open(world.state / 'launches/1/control', 'w') as control:
            control.write('committed\n')

    syncs, _ = syncs_of_keeper(tmp_path / 'a', after_start=too_early, after_end=lambda world: None)
    assert syncs == START_SYNCS + END_SYNCS


def test_keeper_leaves_a_committed_end_to_the_daemon(tmp_path, tracing):
    """It goes at once, and its directory with it. On a busy machine the word may come too late: then it has synced, as it should."""

    def committed(world):
        world.send('ack', 1)
        until(lambda: not (world.state / 'launches/1').exists(), 'its directory to be removed')

    for attempt in range(30):
        syncs, _ = syncs_of_keeper(tmp_path / str(attempt), after_end=committed)
        assert syncs in (START_SYNCS, START_SYNCS + END_SYNCS)
        if syncs == START_SYNCS:
            return
    raise AssertionError('the word never came in time')


def test_keeper_syncs_nothing_of_what_never_ran(tmp_path, tracing):
    syncs, _ = syncs_of_keeper(tmp_path / 'a', after_end=lambda world: None, cpus='4000-4001')
    assert syncs == 0


def play_daemon(world):
    """What a daemon does: sends its launch, connects again when the launcher is gone, sends it again unless it is known."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        world.connect()
        known = asked = False
        while (report := world.report()) != 'gone':
            known |= isinstance(report, dict)
            if known and report != 'synced' and report['phase'] == 'ended':
                return report
            if report == 'synced' and not known and not asked:
                asked = True
                world.start(1, script='echo ran >> %s/count; sleep 0.05; echo end >> %s/count' % (world.path, world.path))
    raise AssertionError('never told how it ended: %r' % world.reports)


def acknowledge(world):
    """As a daemon does: whenever it is told of an end that it has committed. Told again is fine, started again is not."""
    end = time.monotonic() + PATIENCE
    while list(world.state.glob('launches/*')):
        assert time.monotonic() < end, 'its directory is still there'
        world.send('ack', 1)
        time.sleep(0.02)  # to be read before the next connection takes this one's place
        world.connect()
        while world.report() not in ('synced', 'gone'):
            pass


def count(world):
    path = world.path / 'count'
    return path.read_text().split() if path.exists() else []


def steps(tmp_path, whom, judge):
    """judge(world, record) after a kill at every n-th system call, until there are no more."""
    n, killed = 1, 0
    every = int(os.environ.get('FAIRLEAD_CRASH_EVERY', EVERY[whom]))
    while True:
        place = tmp_path / str(n)
        place.mkdir()
        traced = Traced(place, whom, n)
        try:
            record = play_daemon(traced.world)
            judge(traced.world, record, n)
            acknowledge(traced.world)
            for pid in traced.world.launcher_pids():
                kill(pid, signal.SIGTERM)
            until(lambda: not traced.world.launcher_pids(), 'the launcher to end')  # killed at that, a sanitizer complains
            verdict = traced.verdict()
        finally:
            traced.close()
        if verdict[0] == 'ended':
            print('# compared %d kills of the %s in %s system calls' % (killed, whom, verdict[1]))
            assert killed > 3
            return
        killed += 1
        n += every


def test_launcher_killed_at_every_call(tmp_path, tracing):
    """Whatever a launcher was doing: the job ran exactly once and is told to have ended well."""

    def judge(world, record, n):
        assert count(world) == ['ran', 'end'], n
        assert (record['end'], record['exit_status']) == ('exited', 0), (n, record)

    steps(tmp_path, 'launcher', judge)


def test_keeper_killed_at_every_call(tmp_path, tracing):
    """Whatever a keeper was doing: the job never ran twice, and what is told fits with what it did."""

    def judge(world, record, n):
        ran = count(world)
        assert ran in ([], ['ran'], ['ran', 'end']), n
        allowed = {'refused': [[]], 'lost': [[], ['ran'], ['ran', 'end']], 'exited': [['ran', 'end']]}
        assert ran in allowed[record['end']], (n, record)
        assert not record['pid'] or not alive(record['pid']), n
        noted = (world.state / 'launches/1/lock').read_text().split('\n')
        assert len(noted) < 2 or not noted[1] or not os.path.exists(noted[1]), n  # its control group

    steps(tmp_path, 'keeper', judge)
