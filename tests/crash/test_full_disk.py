"""The disk of the state directory is full: a launch is refused if its start cannot be recorded, and no end is lost."""
import os
import pathlib
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exec_world import BUILD, US, World, alive, kill, until  # noqa: E402


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
def test_an_end_waits_for_free_space(world, launcher_dies):
    world.start(1, 'sh', '-c', 'while [ ! -e %s/go ]; do sleep 0.02; done; exit 7' % world.path)
    pid = world.record(1, 'started')['pid']
    keeper = world.keeper_pid(1)
    fill(world)
    directory = world.state / 'launches/1'
    (world.path / 'go').touch()
    until(lambda: not alive(pid), 'the job')
    until((directory / 'end.new').exists, 'a failed write of its end')
    if launcher_dies:
        kill(world.launcher_pids()[0])
        assert world.report() == 'gone'
    time.sleep(0.3)
    assert alive(keeper) and not (directory / 'end').exists()
    freed_us = time.time() * US
    (world.state / 'filler').unlink()
    until(lambda: not alive(keeper), 'the keeper')
    if launcher_dies:
        world.connect()
    record = world.ended(1)
    assert (record['end'], record['exit_status']) == ('exited', 7)
    assert record['at_us'] < freed_us  # the time of the end, not of the write


@pytest.fixture
def unsynced(tmp_path):
    """A world in which every sync fails while the file `fail` exists. Writes and reads succeed."""
    # The library is found by LD_LIBRARY_PATH, because LD_PRELOAD cannot name a path with blanks. A sanitizer comes first.
    preloaded = 'libasan.so.8 fail-sync.so' if os.environ.get('FAIRLEAD_SANITIZED') == '1' else 'fail-sync.so'
    world = World(tmp_path, prefix=['env', 'LD_PRELOAD=' + preloaded, 'LD_LIBRARY_PATH=%s' % (BUILD / 'tests/crash'),
                                    'FAIL_SYNC=%s' % (tmp_path / 'fail')])
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


def end_without_sync(world):
    """Runs a job with an end that its keeper reports but cannot sync. Returns the keeper's pid and the record."""
    world.start(1, 'sh', '-c', 'while [ ! -e %s/go ]; do sleep 0.02; done; exit 7' % world.path)
    world.record(1, 'started')
    keeper = world.keeper_pid(1)
    (world.path / 'fail').touch()
    (world.path / 'go').touch()
    record = world.ended(1)
    assert (record['end'], record['exit_status']) == ('exited', 7)
    time.sleep(0.5)
    assert alive(keeper)
    return keeper, record


def test_an_end_is_synced_as_soon_as_possible(unsynced):
    keeper, record = end_without_sync(unsynced)
    (unsynced.path / 'fail').unlink()
    until(lambda: not alive(keeper), 'the keeper')
    kill(unsynced.launcher_pids()[0])
    unsynced.connect()
    assert unsynced.synced()[1] == record


def test_an_acknowledged_end_needs_no_sync(unsynced):
    keeper, _ = end_without_sync(unsynced)
    unsynced.send('ack', 1)
    until(lambda: not alive(keeper), 'the keeper')
    until(lambda: not (unsynced.state / 'launches/1').exists(), 'its directory to be removed')


def test_an_end_that_was_not_synced_is_reported_again(unsynced):
    keeper, record = end_without_sync(unsynced)
    kill(keeper)
    kill(unsynced.launcher_pids()[0])
    unsynced.connect()
    assert unsynced.synced()[1] == record
