"""The disk of the state directory is full: a launch is refused if its start cannot be recorded, and no end is lost."""
import os
import pathlib
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exec_world import BUILD, US, World, alive, kill, log_line, read, until  # noqa: E402


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    mounted = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=256k,mode=0700', 'none', world.state], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip('no file system can be mounted here')
    try:
        world.connect()
        assert world.synced() == {}
        yield world
        world.close()
    finally:
        subprocess.run(['umount', '-l', world.state], check=True)


def fill(world):
    with open(world.state / 'filler', 'wb', buffering=0) as file:
        try:
            while True:
                file.write(b'x' * 512)
        except OSError:
            pass


def test_a_launch_is_refused(world):
    fill(world)
    world.start(1, 'sh', '-c', 'echo ran >> %s/count' % world.path)
    record = world.ended(1)
    assert (record['end'], record['started_us']) == ('unavailable', 0)
    assert not (world.path / 'count').exists()
    (world.state / 'filler').unlink()
    world.send('ack', 1)
    assert world.run(2, 'echo', 'ran')[1] == 'ran\n'


def test_a_refusal_that_is_not_on_disk_can_be_repeated(world):
    fill(world)
    world.start(1, 'true')
    assert world.ended(1)['end'] == 'unavailable'
    kill(world.launcher_pids()[0])
    (world.state / 'filler').unlink()
    world.connect()
    known = world.synced()
    if 1 not in known:
        world.start(1, 'echo', 'ran')
        assert world.ended(1)['end'] == 'exited'


@pytest.mark.parametrize('launcher_dies', [False, True])
def test_an_end_needs_no_free_space(world, launcher_dies):
    """It was allocated before the start."""
    world.start(1, 'sh', '-c', 'while [ ! -e %s/go ]; do sleep 0.02; done; exit 7' % world.path)
    world.record(1, 'started')
    fill(world)
    if launcher_dies:
        kill(world.launcher_pids()[0])
        assert world.report() == 'gone'
    (world.path / 'go').touch()
    until(lambda: world.has_record(1, 'ended'), 'the end record')
    if launcher_dies:
        world.connect()
    record = world.ended(1)
    assert (record['end'], record['exit_status']) == ('exited', 7)


def test_an_end_waits_for_free_space(world):
    """Another program has written into the log until the disk was full."""
    (world.state / 'filler').write_bytes(b'x' * 65536)
    world.start(1, 'sh', '-c', 'while [ ! -e %s/go ]; do sleep 0.02; done; exit 7' % world.path)
    pid = world.record(1, 'started')['pid']
    keeper = world.keeper_pid(1)
    with open(world.state / 'launches/1.log', 'ab', buffering=0) as segment:
        try:
            while segment.write(b'x' * 64):
                pass
        except OSError:
            pass
    (world.path / 'go').touch()
    until(lambda: not alive(pid), 'the job')
    time.sleep(0.3)
    assert alive(keeper) and not world.has_record(1, 'ended')
    freed_us = time.time() * US
    (world.state / 'filler').unlink()
    record = world.ended(1)
    assert (record['end'], record['exit_status']) == ('exited', 7)
    assert record['at_us'] < freed_us  # the time of the end, not of the write


@pytest.fixture
def unsynced(tmp_path):
    """A world in which every sync fails while the file `fail` exists. Writes and reads succeed."""
    # The library is found by LD_LIBRARY_PATH, because LD_PRELOAD cannot name a path with blanks. A sanitizer comes first.
    preloaded = 'libasan.so.8 fail-sync.so' if os.environ.get('FAIRLEAD_SANITIZED') == '1' else 'fail-sync.so'
    world = World(tmp_path, prefix=['env', 'LD_PRELOAD=' + preloaded, 'LD_LIBRARY_PATH=%s' % (BUILD / 'tests/crash'),
                                    'FAIL_SYNC=%s' % (tmp_path / 'fail'), 'SYNC_LOG=%s' % (tmp_path / 'syncs')])
    world.connect()
    assert world.synced() == {}
    yield world
    (tmp_path / 'fail').unlink(missing_ok=True)
    world.close()


def test_a_launch_is_refused_if_its_start_cannot_be_synced(unsynced):
    (unsynced.path / 'fail').touch()
    unsynced.start(1, 'sh', '-c', 'echo ran >> %s/count' % unsynced.path)
    record = unsynced.ended(1)
    assert (record['end'], record['started_us']) == ('unavailable', 0) and 'Input/output error' in record['detail']
    assert not (unsynced.path / 'count').exists()


def test_nothing_is_started_once_start_lines_could_not_be_synced(unsynced):
    """Those of a segment that has been synced are synced after the start."""
    assert unsynced.run(1, 'true')[0]['end'] == 'exited'
    (unsynced.path / 'fail').touch()
    assert unsynced.run(2, 'true')[0]['end'] == 'exited'
    time.sleep(0.5)
    unsynced.start(3, 'true')
    record = unsynced.ended(3)
    assert record['end'] == 'unavailable' and 'Input/output error' in record['detail']
    (unsynced.path / 'fail').unlink()
    assert unsynced.run(4, 'true')[0]['end'] == 'exited'


def start_until_go(world):
    world.start(1, 'sh', '-c', 'while [ ! -e %s/go ]; do sleep 0.02; done; exit 7' % world.path)
    world.record(1, 'started')


def end_without_sync(world):
    """Runs a job with an end that is reported but cannot be synced. Returns the record."""
    start_until_go(world)
    (world.path / 'fail').touch()
    (world.path / 'go').touch()
    record = world.ended(1)
    assert (record['end'], record['exit_status']) == ('exited', 7)
    time.sleep(0.5)
    return record


def test_an_acknowledged_end_needs_no_sync(unsynced):
    end_without_sync(unsynced)
    unsynced.send('ack', 1)
    unsynced.until_forgotten(1)


def test_an_end_that_was_not_synced_is_reported_again(unsynced):
    record = end_without_sync(unsynced)
    kill(unsynced.launcher_pids()[0])
    unsynced.connect()
    assert unsynced.synced()[1] == record


def test_starts_work_again_once_they_can_be_synced(unsynced):
    """Nothing is written behind start lines that may not be on disk."""
    (unsynced.path / 'fail').touch()
    for launch_id in range(1, 4):
        unsynced.start(launch_id, 'true')
        assert unsynced.ended(launch_id)['end'] == 'unavailable'
    (unsynced.path / 'fail').unlink()
    assert unsynced.run(4, 'true')[0]['end'] == 'exited'
    kill(unsynced.launcher_pids()[0])
    unsynced.connect()
    assert list(unsynced.synced()) == [4]


# ---- syncs of ends that fail, and power loss ----


def sync_results(world):
    """The results of the syncs of the segment: 0 or -1."""
    return [result for what, _, result in segment_calls(world) if what == 'sync']


def segment_calls(world):
    inode = str((world.state / 'launches/1.log').stat().st_ino)
    for line in read(world.path / 'syncs').decode().splitlines():
        what, at, *numbers = line.split()
        if at == inode:
            yield (what, *map(int, numbers))


def bytes_on_disk(world):
    """What is certainly on disk of the segment: a sync that fails loses all that was written since the one before, also for
    later syncs, unless it is written again. So the kernel does it (fsync(2), errors)."""
    text = (world.state / 'launches/1.log').read_bytes()
    on_disk, dirty, seen = bytearray(len(text)), set(), 0
    for what, a, b in segment_calls(world):
        if what == 'write':
            dirty |= set(range(a, a + b))
        else:
            dirty |= set(range(seen, a))
            seen = a
            for i in dirty if b == 0 else ():
                on_disk[i] = text[i]
            dirty = set()
    return bytes(on_disk)


def lose_power(world):
    """The segment is as it is on disk, and its launches are of another boot."""
    for pid in world.launcher_pids():
        kill(pid)
    until(lambda: not world.launcher_pids(), 'the launcher to be gone')
    lines = []
    for line in bytes_on_disk(world).decode().split('\n'):
        fields = dict(field.split('=', 1) for field in line.partition(' ')[2].split('\t') if '=' in field)
        if 'start' in fields:
            line = log_line(BUILD, ''.join('%s=%s\n' % field for field in {**fields, 'boot_id': 'another'}.items())).strip('\n')
        lines.append(line)
    (world.state / 'launches/1.log').write_text('\n'.join(lines))
    world.connect()


def kept_end(world, record):
    """Whether the end is known after the loss of power, with all that was told of it."""
    known = world.synced()[1]
    names = 'end', 'exit_status', 'started_us', 'at_us', 'pid'
    return [known[name] for name in names] == [record[name] for name in names]


@pytest.mark.parametrize('failures', [0, 1, 10])
def test_an_end_survives_failed_syncs_and_power_loss(unsynced, failures):
    """The launcher repeats a sync that fails until it succeeds. From then on the end survives the loss of power."""
    start_until_go(unsynced)
    (unsynced.path / 'fail').write_text(str(failures))
    (unsynced.path / 'go').touch()
    record = unsynced.ended(1)
    until(lambda: sync_results(unsynced)[1:] == [-1] * failures + [0], 'the sync of the end')
    lose_power(unsynced)
    assert kept_end(unsynced, record)


@pytest.mark.parametrize('failures', [1, 10])
def test_the_next_launcher_repeats_a_sync_of_an_end(unsynced, failures):
    """The launcher is killed while syncs fail."""
    start_until_go(unsynced)
    (unsynced.path / 'fail').touch()
    (unsynced.path / 'go').touch()
    record = unsynced.ended(1)
    until(lambda: -1 in sync_results(unsynced), 'a sync to fail')
    kill(unsynced.launcher_pids()[0])
    (unsynced.path / 'fail').write_text(str(failures))
    unsynced.connect()
    assert unsynced.synced()[1] == record
    until(lambda: sync_results(unsynced)[-1] == 0, 'the sync of the end')
    lose_power(unsynced)
    assert kept_end(unsynced, record)


def test_an_end_that_its_keeper_could_not_sync_survives_power_loss(unsynced):
    """No launcher runs when the job ends, and the keeper's sync fails. The next launcher syncs the end."""
    start_until_go(unsynced)
    kill(unsynced.launcher_pids()[0])
    assert unsynced.report() == 'gone'
    (unsynced.path / 'fail').write_text('1')
    (unsynced.path / 'go').touch()
    until(lambda: sync_results(unsynced)[1:] == [-1], 'the sync of the keeper')
    unsynced.connect()
    record = unsynced.ended(1)
    until(lambda: sync_results(unsynced)[1:] == [-1, 0], 'the sync of the launcher')
    lose_power(unsynced)
    assert kept_end(unsynced, record)


def test_an_end_that_was_never_synced_is_lost_with_the_power(unsynced):
    """As if the power had gone while the job ran; the reason says so. A daemon that has committed the end does not ask."""
    end_without_sync(unsynced)
    lose_power(unsynced)
    known = unsynced.synced()[1]
    assert (known['end'], known['detail']) == ('lost', 'the machine was restarted while it started')
