"""Keepers in trouble: many are killed at once, one is stopped by its own job, and the launcher has no descriptors to look at
them. Figures are printed."""
import os
import pathlib
import resource
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exec_world import US, World, alive, kill, until  # noqa: E402

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


# ---- no descriptors ----


def limit_files(world, count):
    """From now on the launcher opens no file if count is below the numbers that it uses."""
    (pid,) = world.launcher_pids()
    hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)[1]
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (hard if count is None else count, hard))


def test_an_end_that_cannot_be_read_is_not_forgotten(world):
    world.start(1, 'sh', '-c', UNTIL_GO + 'exit 7')
    world.record(1, 'started')
    keeper = world.keeper_pid(1)
    limit_files(world, 3)
    (world.path / 'go').touch()
    until(lambda: not alive(keeper), 'the keeper to sync its end and exit')
    time.sleep(0.5)
    assert (world.state / 'launches/1/end').exists()
    limit_files(world, None)
    record = world.ended(1)
    assert (record['end'], record['exit_status']) == ('exited', 7)


def test_an_order_that_cannot_be_sent_is_sent_later(world):
    world.start(1, 'sleep', '600')
    pid = world.record(1, 'started')['pid']
    limit_files(world, 3)
    world.send('end', 1, US)
    time.sleep(0.5)
    assert alive(pid)
    limit_files(world, None)
    assert world.ended(1)['end'] == 'cancelled'


def test_a_time_limit_that_cannot_be_sent_is_sent_later(world):
    world.start(1, 'sleep', '600')
    pid = world.record(1, 'started')['pid']
    limit_files(world, 3)
    world.send('limit', 1, US // 2)
    time.sleep(1)
    assert alive(pid)
    limit_files(world, None)
    assert world.ended(1)['end'] == 'timed-out'


def test_a_launch_without_descriptors_leaves_nothing(world):
    limit_files(world, 3)
    world.start(1, 'true')
    record = world.ended(1)
    assert (record['end'], record['started_us']) == ('unavailable', 0)
    assert record['detail'].endswith(': Too many open files')
    assert not (world.state / 'launches/1').exists()
    limit_files(world, None)
    assert world.run(2, 'echo', 'ran')[1] == 'ran\n'


def test_a_removed_directory_is_lost_even_so(world):
    """Only ENOENT says that it was removed."""
    world.start(1, 'sleep', '600')
    pid = world.record(1, 'started')['pid']
    keeper = world.keeper_pid(1)
    for file in (world.state / 'launches/1').iterdir():
        file.unlink()
    (world.state / 'launches/1').rmdir()
    kill(keeper)
    record = world.ended(1)
    assert record['end'] == 'lost' and 'was removed' in record['detail']
    until(lambda: not alive(pid), 'the job to die with its keeper')
