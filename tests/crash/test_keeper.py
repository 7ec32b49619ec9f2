"""kill -9 of a daemon, a launcher or a keeper, at a chosen time and at every system call: a job runs once, and its end
is reported."""
import fcntl
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exec_world import BUILD, LAUNCHER, PATIENCE, US, World, alive, in_time, kill, known, log_line, logged, until  # noqa: E402

KILL_AT = BUILD / 'tests/crash/kill-at'
SANITIZED = os.environ.get('FAIRLEAD_SANITIZED') == '1'
# The processes are killed at every n-th system call. FAIRLEAD_CRASH_EVERY=1 takes a minute.
EVERY = {'launcher': 20, 'keeper': 6, 'job': 5} if SANITIZED else {'launcher': 5, 'keeper': 1, 'job': 1}


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
    until(lambda: world.has_record(1, 'ended'), 'the end record')
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
    world.until_forgotten(1)


def test_a_time_limit_is_enforced_without_a_launcher(world):
    ids = iter(range(1, 9))

    def attempt(seconds):
        launch_id, span_us = next(ids), int(seconds * US)
        world.start(launch_id, 'sh', '-c', 'trap "" TERM; sleep 600', limit_us=span_us, grace_us=span_us)
        world.record(launch_id, 'started')
        kill_launcher(world)
        was_early = not world.has_record(launch_id, 'completing')
        until(lambda: world.has_record(launch_id, 'ended'), 'the end record', PATIENCE + 2 * seconds)
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
        was_early = not world.has_record(launch_id, 'completing')
        until(lambda: world.has_record(launch_id, 'ended'), 'the end record', PATIENCE + seconds)
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


# ---- what a launcher finds of an older one: a directory for each launch ----


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
    """A record may be complete, torn or missing: no reply has relied on it yet."""
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


# ---- the record log ----


def test_a_reported_end_stays_the_same(world):
    """The launcher is killed before the end is synced or acknowledged: the next launcher reports the same."""
    for launch_id in range(1, 11):
        world.start(launch_id, 'sh', '-c', 'exit %d' % launch_id)
        reported = world.ended(launch_id)
        kill_launcher(world)
        world.connect()
        again = world.synced()
        assert again[launch_id] == reported and reported['exit_status'] == launch_id
        world.send('ack', launch_id)
        world.until_forgotten(launch_id)


def test_an_acknowledged_end_stays_forgotten(world):
    """A job that runs on keeps the segment."""
    world.start(1, 'sleep', '600')
    world.record(1, 'started')
    world.run(2, 'true')
    world.send('ack', 2)
    world.until_forgotten(2)
    kill_launcher(world)
    world.connect()
    assert list(world.synced()) == [1]


def segments(world):
    return sorted(path.name for path in (world.state / 'launches').glob('*.log'))


def test_segments_are_removed(world):
    """A segment is full after some 150 launches, and is removed once all of its launches are acknowledged."""
    world.start(1, 'sleep', '600')
    world.record(1, 'started')
    ids = range(2, 402)
    for launch_id in ids:
        world.start(launch_id, 'true')
    for launch_id in ids:
        world.ended(launch_id)
    assert len(segments(world)) >= 3
    for launch_id in ids:
        world.send('ack', launch_id)
    until(lambda: len(segments(world)) == 2, 'the full segments without a launch to be removed')
    assert '1.log' in segments(world)
    world.send('end', 1, 0)
    world.ended(1)
    world.send('ack', 1)
    until(lambda: len(segments(world)) == 1, 'the first segment to be removed')
    for pid in world.launcher_pids():
        kill(pid, signal.SIGTERM)
    until(lambda: segments(world) == [], 'the last segment to be removed by a launcher that ends')


@pytest.mark.parametrize('torn', [b'x', b'\n0123', b'\n0123456789abcdef id=1\tphase=ended', b'\0' * 600, b'\n\n \n\t\n'])
def test_a_torn_line_damages_no_other_one(world, torn):
    world.start(1, 'sh', '-c', UNTIL_GO + 'exit 4')
    world.record(1, 'started')
    with open(world.state / 'launches/1.log', 'ab') as segment:
        segment.write(torn)
    let_go(world)
    assert world.ended(1)['exit_status'] == 4
    world.start(2, 'sh', '-c', 'exit 5')
    assert world.ended(2)['exit_status'] == 5
    kill_launcher(world)
    world.connect()
    assert {launch_id: r['exit_status'] for launch_id, r in world.synced().items()} == {1: 4, 2: 5}


def cut_log(world, launch_id, phase):
    """Cuts the log off in the middle of the line with this phase, as power loss may do."""
    path = world.state / 'launches/1.log'
    text = path.read_bytes()
    offset = text.index(b'id=%d\tphase=%s' % (launch_id, phase.encode()))
    path.write_bytes(text[:offset + 20])


def test_an_end_that_is_torn_is_lost(world):
    """The same boot: what is left of the job is killed, and its end is not known."""
    world.run(1, 'true')
    kill_launcher(world)
    cut_log(world, 1, 'ended')
    world.connect()
    record = world.ended(1)
    assert (record['end'], record['detail']) == ('lost', ORPHANS_KILLED)
    assert record['started_us'] > 0


def test_a_launch_whose_start_is_torn_never_ran(world):
    """No process has executed it, so it may be started with the same id."""
    world.run(1, 'true')
    kill_launcher(world)
    cut_log(world, 1, 'started')
    world.connect()
    assert world.synced() == {}
    assert world.run(1, 'echo', 'ran')[1] == 'ran\n'


def forge_log(world, *lines):
    (world.state / 'launches/1.log').write_text(''.join(log_line(BUILD, line) for line in lines))


def start_line(launch_id, boot_id, directory=''):
    return 'start=%d\nkey=%s\nborn=0\nboot_id=%s\ncgroup=\n%s' % (launch_id, '0' * 32, boot_id, directory)


STARTED = 'id=1\nphase=started\nat_us=5\nstarted_us=5\nat_boot_us=7\npid=%d\ndetail=\n'


@pytest.mark.parametrize('lines, end, detail', [
    ([start_line(1, 'another')], 'lost', 'the machine was restarted while it started'),
    ([start_line(1, BOOT_ID)], None, None),
    ([start_line(1, 'another'), STARTED % UNUSED_PID], 'lost', RESTARTED),
    ([start_line(1, BOOT_ID), STARTED % UNUSED_PID], 'lost', ORPHANS_KILLED),
    ([start_line(1, 'another'), STARTED % UNUSED_PID, END], 'exited', ''),
    ([start_line(1, BOOT_ID), STARTED % UNUSED_PID, END], 'exited', ''),
    ([start_line(1, BOOT_ID), END], 'exited', ''),
    ([start_line(1, 'another'), STARTED % UNUSED_PID, END, 'acknowledged=1\n'], None, None),
    ([start_line(1, 'another'), start_line(1, BOOT_ID), STARTED % UNUSED_PID, END], 'exited', ''),
    ([start_line(1, BOOT_ID, 'directory=1:2\n'), STARTED % UNUSED_PID], 'lost',
     'its directory was copied while it ran; it may still run where it was started'),
    ([STARTED % UNUSED_PID, END], None, None),  # of no launch
    (['new=line\n', start_line(1, BOOT_ID) + 'new=field\n', STARTED % UNUSED_PID, END + 'new=field\n'], 'exited', ''),
])
def test_what_a_log_says(bare, lines, end, detail):
    forge_log(bare, *lines)
    bare.connect()
    if end is None:
        assert bare.synced() == {}
        return
    record = bare.ended(1)
    assert (record['end'], record['detail']) == (end, detail)
    bare.send('ack', 1)
    bare.until_forgotten(1)


def test_a_reused_pid_in_the_log_is_not_signalled(bare, bystander):
    forge_log(bare, start_line(1, BOOT_ID), STARTED % bystander.pid)
    bare.connect()
    assert bare.ended(1)['end'] == 'lost'
    assert bystander.poll() is None


def test_a_segment_that_is_no_file_is_left_alone(bare):
    (bare.state / 'launches/1.log').mkdir()
    os.mkfifo(bare.state / 'launches/2.log')
    (bare.state / 'launches/3.log').symlink_to(bare.state / 'launches/2.log')
    bare.connect()
    assert bare.synced() == {}
    assert bare.run(1, 'echo', 'ran')[1] == 'ran\n'


def test_a_log_is_removed_while_a_job_runs(world):
    """The end is reported, and the next start gets a new segment."""
    world.start(1, 'sh', '-c', UNTIL_GO)
    world.record(1, 'started')
    (world.state / 'launches/1.log').unlink()
    let_go(world)
    assert world.ended(1)['exit_status'] == 0
    assert world.run(2, 'true')[0]['end'] == 'exited'
    assert known(world.state) == [2]

# ---- a record log that another program changes ----


def test_a_segment_is_truncated_while_jobs_run(world):
    """As log rotation does it. No launch runs twice, and new ones run in another segment."""
    for launch_id in (1, 2):
        world.start(launch_id, 'sh', '-c', 'echo ran >> %s/count; ' % world.path + UNTIL_GO + 'exit 3')
        world.record(launch_id, 'started')
    (world.state / 'launches/1.log').write_bytes(b'')
    record = world.run(3, 'sh', '-c', 'exit 5')[0]
    assert (record['end'], record['exit_status']) == ('exited', 5)
    kill_keeper(world, 2)
    assert world.ended(2)['end'] == 'lost'
    let_go(world)
    record = world.ended(1)
    assert (record['end'], record['exit_status']) == ('exited', 3)
    assert (world.path / 'count').read_text() == 'ran\nran\n'


@pytest.mark.parametrize('change', [
    lambda segment: segment.unlink(),
    lambda segment: segment.write_bytes(b''),
    lambda segment: os.truncate(segment, 70),
])
def test_the_log_is_changed_while_no_launcher_runs(world, change):
    """Its keepers are found by their locks, and the jobs go on: none is ended, and none runs twice."""
    for launch_id in (1, 2, 3):
        world.start(launch_id, 'sh', '-c', 'echo ran >> %s/count; ' % world.path + UNTIL_GO + 'exit %d' % launch_id)
        started = world.record(launch_id, 'started')
    kill_launcher(world)
    change(world.state / 'launches/1.log')
    world.connect()
    records = world.synced()
    assert {launch_id: record['phase'] for launch_id, record in records.items()} == dict.fromkeys((1, 2, 3), 'started')
    assert records[3]['pid'] == started['pid'] and abs(records[3]['started_us'] - started['started_us']) < US
    assert world.run(4, 'sh', '-c', 'exit 4')[0]['exit_status'] == 4
    kill_keeper(world, 3)
    assert world.ended(3)['end'] == 'lost'
    until(lambda: not alive(started['pid']), 'what is left of the job to be killed')
    kill_launcher(world)
    world.connect()
    assert {launch_id: record['phase'] for launch_id, record in world.synced().items() if launch_id < 3} == {1: 'started', 2: 'started'}
    let_go(world)
    assert [world.ended(launch_id)['exit_status'] for launch_id in (1, 2)] == [1, 2]
    assert (world.path / 'count').read_text() == 'ran\n' * 3


def test_a_launch_whose_start_line_is_cut_away_is_lost(world):
    """It may have run: only a launch whose start line is in the log can be known never to have run."""
    world.start(1, 'sh', '-c', UNTIL_GO)
    pid = world.record(1, 'started')['pid']
    kill_launcher(world)
    world.start_launcher()
    world.connect()
    assert world.synced()[1]['phase'] == 'started'
    (world.state / 'launches/1.log').write_bytes(b'')
    kill_keeper(world, 1)
    assert world.ended(1)['end'] == 'lost'
    until(lambda: not alive(pid), 'the job to be gone')


@pytest.mark.parametrize('ends_before', [False, True])
def test_a_segment_is_copied(world, ends_before):
    """An end that only one of both has counts."""
    world.start(1, 'sh', '-c', UNTIL_GO + 'exit 6')
    world.record(1, 'started')
    text = (world.state / 'launches/1.log').read_bytes()
    kill_launcher(world)
    (world.state / 'launches/900.log').write_bytes(text)
    if ends_before:
        pid = world.keeper_pid(1)
        let_go(world)
        until(lambda: not alive(pid), 'the keeper to be gone')
    world.connect()
    records = world.synced()
    let_go(world)
    record = records[1] if ends_before else world.ended(1)
    assert (record['phase'], record['end'], record['exit_status']) == ('ended', 'exited', 6)


def test_a_socket_among_the_segments_is_left_alone(world):
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(world.state / 'launches/77.log'))
    kill_launcher(world)
    world.connect()
    assert world.synced() == {}
    assert world.run(1, 'true')[0]['end'] == 'exited'


def test_the_socket_is_removed(world):
    world.start(1, 'sh', '-c', UNTIL_GO + 'exit 4')
    world.record(1, 'started')
    world.kill_driver()
    pids = world.launcher_pids()
    (world.state / 'launcher.sock').unlink()
    until((world.state / 'launcher.sock').exists, 'another socket')
    world.connect()
    assert world.launcher_pids() == pids and list(world.synced()) == [1]
    let_go(world)
    assert world.ended(1)['exit_status'] == 4


def test_a_keeper_that_gets_sigterm_ends_its_job_as_lost(world):
    """As at a shutdown: no user has cancelled it."""
    world.start(1, 'sleep', '1000')
    world.record(1, 'started')
    kill(world.keeper_pid(1), signal.SIGTERM)
    record = world.ended(1)
    assert (record['end'], record['detail']) == ('lost', 'its keeper got SIGTERM, as at a shutdown')


def test_a_record_that_is_written_in_part_is_written_again(tmp_path):
    """By one write, because the lines of other processes may follow what was written."""
    preloaded = 'libasan.so.8 half-write.so' if SANITIZED else 'half-write.so'
    world = World(tmp_path, prefix=['env', 'LD_PRELOAD=' + preloaded, 'LD_LIBRARY_PATH=%s' % (BUILD / 'tests/crash')])
    world.connect()
    record = world.run(1, 'sh', '-c', 'exit 9')[0]
    assert (record['end'], record['exit_status']) == ('exited', 9)
    world.close()


def test_ids_that_no_launch_can_have_are_ignored(world):
    """From a job, which may write into the fifo, and from a daemon."""
    (launcher,) = world.launcher_pids()
    world.start(1, 'sh', '-c', r"printf '\377\377\377\377\377\377\377\377' > state/launcher.events; " + UNTIL_GO)
    world.record(1, 'started')
    world.send('ack', -1)
    let_go(world)
    assert world.ended(1)['exit_status'] == 0
    assert world.launcher_pids() == [launcher]


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
    world.until_forgotten()


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


def count_syncs(path, program, act):
    """Runs a program in a world of its own while act(world) lasts. Returns how often it syncs."""
    path.mkdir()
    traced = Traced(path, program, 0)
    try:
        traced.world.connect()
        traced.world.synced()
        act(traced.world)
        if program == 'launcher':
            for pid in traced.world.launcher_pids():
                kill(pid, signal.SIGTERM)
        return int(traced.result()[2])
    finally:
        traced.close()


def run_job(world):
    world.run(1, 'true')


def test_a_keeper_syncs_nothing_while_its_launcher_runs(tmp_path, tracing):
    assert count_syncs(tmp_path / 'a', 'keeper', run_job) == 0


def test_a_keeper_syncs_its_end_if_no_launcher_runs(tmp_path, tracing):
    def act(world):
        world.start(1, 'sh', '-c', UNTIL_GO)
        world.record(1, 'started')
        world.disconnect()
        kill_launcher(world)
        let_go(world)

    assert count_syncs(tmp_path / 'a', 'keeper', act) == 1


# The first segment's entry in its directory, and its first start line.
FIRST_START_SYNC_COUNT = 2


def test_a_launcher_syncs_an_end_that_is_not_acknowledged(tmp_path, tracing):
    def act(world):
        run_job(world)
        time.sleep(1)

    assert count_syncs(tmp_path / 'a', 'launcher', act) == FIRST_START_SYNC_COUNT + 1


def test_a_launcher_does_not_sync_an_acknowledged_end(tmp_path, tracing):
    """On a busy machine the acknowledgement may come too late; then it has synced, as it should."""
    def act(world):
        run_job(world)
        world.send('ack', 1)
        world.until_forgotten(1)
        time.sleep(1)

    for attempt in range(30):
        count = count_syncs(tmp_path / str(attempt), 'launcher', act)
        assert count in (FIRST_START_SYNC_COUNT, FIRST_START_SYNC_COUNT + 1)
        if count == FIRST_START_SYNC_COUNT:
            return
    raise AssertionError('the acknowledgement never came in time')


def test_a_start_is_synced_while_its_job_runs(tmp_path, tracing):
    """The first one of a segment before its job runs, later ones soon after."""
    def act(world):
        for launch_id in (1, 2):
            world.start(launch_id, 'sleep', '600')
            world.record(launch_id, 'started')
        time.sleep(1)

    assert count_syncs(tmp_path / 'a', 'launcher', act) == FIRST_START_SYNC_COUNT + 1


def test_starts_are_synced_together(tmp_path, tracing):
    """The traced launcher is slower than the driver, so that starts arrive together."""
    ids = range(1, 101)

    def act(world):
        for launch_id in ids:
            world.start(launch_id, 'true')
        for launch_id in ids:
            world.ended(launch_id)
            world.send('ack', launch_id)
        world.until_forgotten()

    assert count_syncs(tmp_path / 'a', 'launcher', act) < len(ids)


def test_an_order_that_is_sent_with_the_start_holds(world):
    for launch_id in range(1, 21):
        world.start(launch_id, 'sleep', '600')
        world.send('end', launch_id, US)
    assert {world.ended(launch_id)['end'] for launch_id in range(1, 21)} == {'cancelled'}


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
    while known(world.state):
        assert time.monotonic() < end, 'it is still known'
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
            assert not (traced.world.state / 'launches/1.script').exists(), n
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
        group = logged(world.state)[1].start.get('cgroup')
        until(lambda: not group or not os.path.exists(group), 'its control group to be removed')

    kill_at_every_call(tmp_path, 'keeper', check)


def test_a_job_is_killed_at_every_call(tmp_path, tracing):
    """Before its record "started" its process has executed nothing; after it, it may have."""

    def check(world, record, n):
        ran = written_by_job(world)
        if record['end'] == 'unavailable':
            assert (ran, record['started_us'], record['pid']) == ([], 0, 0), n
            assert not world.has_record(1, 'started'), n
        else:
            assert record['end'] == 'exited' and world.has_record(1, 'started'), (n, record)
            assert record['signal'] == signal.SIGKILL or ran == ['ran', 'end'], (n, record)

    kill_at_every_call(tmp_path, 'job', check)


# ---- suspended jobs ----

# Its processes fork all the time, in sessions of their own, and continue each other.
RESTLESS = ('for n in 1 2 3; do setsid sh -c "while :; do (echo x >> grown; kill -CONT 0); sleep 0.01; done" & done; '
            'while :; do kill -CONT 0; sleep 0.01; done')


def grown(world):
    path = world.path / 'grown'
    return path.stat().st_size if path.exists() else 0


def is_still(world):
    before = grown(world)
    time.sleep(0.3)
    return grown(world) == before


def assert_moves(world):
    before = grown(world)
    until(lambda: grown(world) > before, 'the job to run')


def suspended(world):
    world.start(1, 'sh', '-c', RESTLESS)
    world.record(1, 'started')
    assert_moves(world)
    world.send('suspend', 1, 1, 0)
    until(lambda: is_still(world), 'the job to stop')
    time.sleep(0.5)
    assert is_still(world)


def test_a_restless_job_stays_stopped_without_daemon_and_launcher(world):
    suspended(world)
    world.kill_driver()
    kill_launcher(world)
    assert is_still(world)
    world.connect()
    world.send('suspend', 1, 1, 0)
    assert is_still(world)
    world.send('suspend', 1, 0, 1000)
    assert_moves(world)
    world.send('end', 1, 0)
    assert world.ended(1)['end'] == 'cancelled'


def test_a_suspended_job_can_be_ended(world):
    suspended(world)
    world.send('end', 1, 60 * US)
    assert world.ended(1)['end'] == 'cancelled'
    assert is_still(world)


def test_the_end_of_its_keeper_ends_a_suspended_job(world):
    suspended(world)
    kill_keeper(world, 1)
    assert world.ended(1)['end'] == 'lost'
    assert is_still(world)


def test_suspended_time_does_not_count_for_the_time_limit(world):
    suspended(world)
    world.send('limit', 1, 1)
    time.sleep(0.5)
    assert is_still(world)
    world.send('limit', 1, 3600 * US)
    world.send('suspend', 1, 0, 100 * US)
    assert_moves(world)
    world.send('limit', 1, 1)
    assert_moves(world)
    world.send('suspend', 1, 0, 0)
    assert world.ended(1)['end'] == 'timed-out'


def test_an_order_out_of_range_is_void(world):
    suspended(world)
    world.send('suspend', 1, 0, 1 << 60)
    assert is_still(world)
    world.send('end', 1, 0)
    assert world.ended(1)['end'] == 'cancelled'
