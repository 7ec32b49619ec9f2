"""The state directory's disk is full: nothing is started that could not be told of, and no end is forgotten."""
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


def test_nothing_starts(world):
    fill(world)
    world.start(1, 'sh', '-c', 'echo ran >> %s/count' % world.path)
    record = world.ended(1)
    assert (record['end'], record['started_us']) == ('refused', 0)
    assert not (world.path / 'count').exists()
    (world.state / 'filler').unlink()
    world.send('ack', 1)
    assert world.run(2, 'echo', 'ran')[1] == 'ran\n'


def test_a_refusal_that_is_not_on_disk_may_be_asked_for_again(world):
    fill(world)
    world.start(1, 'true')
    assert world.ended(1)['end'] == 'refused'
    kill(world.launcher_pids()[0])
    (world.state / 'filler').unlink()
    world.connect()
    known = world.synced()
    if 1 not in known:
        world.start(1, 'echo', 'ran')
        assert world.ended(1)['end'] == 'exited'


@pytest.mark.parametrize('launcher_dies', [False, True])
def test_an_end_waits_for_room(world, launcher_dies):
    world.start(1, 'sh', '-c', 'while [ ! -e %s/go ]; do sleep 0.02; done; exit 7' % world.path)
    pid = world.record(1, 'started')['pid']
    keeper = world.keeper_pid(1)
    fill(world)
    directory = world.state / 'launches/1'
    (world.path / 'go').touch()
    until(lambda: not alive(pid), 'the job')
    until((directory / 'end.new').exists, 'its end to be written in vain')
    if launcher_dies:
        kill(world.launcher_pids()[0])
        assert world.report() == 'gone'
    time.sleep(0.3)
    assert alive(keeper) and not (directory / 'end').exists()
    before_us = time.time() * US
    (world.state / 'filler').unlink()
    until(lambda: not alive(keeper), 'the keeper')
    if launcher_dies:
        world.connect()
    record = world.ended(1)
    assert (record['end'], record['exit_status']) == ('exited', 7)
    assert record['at_us'] < before_us  # when it ended, not when that could be written


@pytest.fixture
def unsynced(tmp_path):
    """A world where nothing can be synced once `trouble` exists in it. What is written can be read all the same."""
    # Found by its folder, for the name of what is preloaded cannot have a blank. A sanitizer has to come first.
    preloaded = 'libasan.so.8 fail-sync.so' if os.environ.get('FAIRLEAD_SANITIZED') == '1' else 'fail-sync.so'
    world = World(tmp_path, prefix=['env', 'LD_PRELOAD=' + preloaded, 'LD_LIBRARY_PATH=%s' % (BUILD / 'tests/crash'),
                                    'FAIL_SYNC=%s' % (tmp_path / 'trouble')])
    world.connect()
    assert world.synced() == {}
    yield world
    (tmp_path / 'trouble').unlink(missing_ok=True)
    world.close()


def test_nothing_starts_that_cannot_be_synced(unsynced):
    (unsynced.path / 'trouble').touch()
    unsynced.start(1, 'sh', '-c', 'echo ran >> %s/count' % unsynced.path)
    record = unsynced.ended(1)
    assert (record['end'], record['started_us']) == ('refused', 0) and 'Input/output error' in record['detail']
    assert not (unsynced.path / 'count').exists()


def end_in_trouble(world):
    """A job whose end is told, and whose keeper cannot sync it."""
    world.start(1, 'sh', '-c', 'while [ ! -e %s/go ]; do sleep 0.02; done; exit 7' % world.path)
    world.record(1, 'started')
    keeper = world.keeper_pid(1)
    (world.path / 'trouble').touch()
    (world.path / 'go').touch()
    told = world.ended(1)
    assert (told['end'], told['exit_status']) == ('exited', 7)
    time.sleep(0.5)
    assert alive(keeper)
    return keeper, told


def test_an_end_is_synced_as_soon_as_that_goes(unsynced):
    keeper, told = end_in_trouble(unsynced)
    (unsynced.path / 'trouble').unlink()
    until(lambda: not alive(keeper), 'the keeper')
    kill(unsynced.launcher_pids()[0])
    unsynced.connect()
    assert unsynced.synced()[1] == told


def test_an_end_that_the_daemon_has_needs_no_sync(unsynced):
    keeper, _ = end_in_trouble(unsynced)
    unsynced.send('ack', 1)
    until(lambda: not alive(keeper), 'the keeper')
    until(lambda: not (unsynced.state / 'launches/1').exists(), 'its directory to be removed')


def test_an_end_that_was_not_synced_is_told_again(unsynced):
    keeper, told = end_in_trouble(unsynced)
    kill(keeper)
    kill(unsynced.launcher_pids()[0])
    unsynced.connect()
    assert unsynced.synced()[1] == told
