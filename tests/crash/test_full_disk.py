"""The state directory's disk is full: nothing is started that could not be told of, and no end is forgotten."""
import pathlib
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exec_world import US, World, alive, kill, until  # noqa: E402


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
