"""What running launches use, as the launcher measures it: from their control groups and from their trees of processes."""
import os
import pathlib
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exec_world import US, World, kill, until  # noqa: E402
from test_launcher import any_world, public_directory  # noqa: E402, F401

MIB = 1 << 20
# Seconds of CPU time that each process of a job burns, and what a clock of 10 ms may leave out of them.
BURN_S, SLACK_S = 0.4, 0.1

# Definitions for the jobs, which are Python programs: ready() tells the test, wait_for_go() waits for it.
COMMON = '''
import os, pathlib, sys, time
def burn():
    while time.process_time() < %f: pass
def ready():
    pathlib.Path('ready-' + os.environ['FAIRLEAD_LAUNCH_ID']).touch()
def wait_for_go():
    while not os.path.exists('go'): time.sleep(0.02)
''' % BURN_S

# A child that has been waited for; and a child that exists, with a grandchild that exists, and a grandchild that has
# been waited for. Each of the four burns.
BURN_IN_FOUR_PROCESSES = COMMON + '''
if os.fork() == 0:
    burn()
    os._exit(0)
os.wait()
r, w = os.pipe()
if os.fork() == 0:
    if os.fork() == 0:
        burn()
        os._exit(0)
    os.wait()
    if os.fork() == 0:
        burn()
        os.write(w, b'x')
        wait_for_go()
        os._exit(0)
    burn()
    os.write(w, b'x')
    wait_for_go()
    os.wait()
    os._exit(0)
while len(os.read(r, 1)) + len(os.read(r, 1)) < 2: pass
ready()
wait_for_go()
os.wait()
'''


@pytest.fixture
def processes_world(tmp_path):
    """A world whose launcher uses no control groups."""
    world = World(tmp_path, ['--no-cgroup'])
    world.identity = {}
    world.connect()
    assert world.synced() == {}
    yield world
    world.close()


def start(world, launch_id, program):
    world.start(launch_id, '/usr/bin/python3', '-I', '-c', program, **world.identity)


def until_ready(world, launch_id):
    until((world.path / ('ready-%d' % launch_id)).exists, 'the job to be ready')


def let_go(world):
    (world.path / 'go').touch()


def assert_end_has_all(record, usage):
    """The end record has at least what was measured before: so nothing was counted twice."""
    assert record['end'] == 'exited' and record['exit_status'] == 0, record
    assert record['cpu_us'] >= usage['cpu_us'] and record['io_bytes'] >= usage['io_bytes']


def test_cpu_time_of_all_processes_is_measured(any_world):  # noqa: F811
    world = any_world
    start(world, 1, BURN_IN_FOUR_PROCESSES)
    until_ready(world, 1)
    before_us = time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000
    first, second = world.measure(1)[1], world.measure(1)[1]
    assert first['cpu_us'] >= (4 * BURN_S - SLACK_S) * US
    assert second['cpu_us'] >= first['cpu_us'] and second['at_us'] >= first['at_us'] >= before_us
    let_go(world)
    assert_end_has_all(world.ended(1), second)


BURN_IN_A_CHILD_THAT_NO_PROCESS_WAITS_FOR = COMMON + '''
import signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if os.fork() == 0:
    burn()
    os._exit(0)
try:
    os.wait()  # until there is no child
except ChildProcessError:
    ready()
wait_for_go()
'''


@pytest.mark.parametrize('any_world', ['cgroup'], indirect=True)
def test_a_group_knows_of_processes_that_no_process_waited_for(any_world):  # noqa: F811
    world = any_world
    start(world, 1, BURN_IN_A_CHILD_THAT_NO_PROCESS_WAITS_FOR)
    until_ready(world, 1)
    usage = world.measure(1)[1]
    assert usage['cpu_us'] >= BURN_S * US
    let_go(world)
    assert_end_has_all(world.ended(1), usage)


def test_launches_are_measured_apart(any_world):  # noqa: F811
    world = any_world
    world.start(1, 'sleep', '600', **world.identity)
    world.record(1, 'started')
    start(world, 2, COMMON + 'held = bytearray(b"x") * (100 << 20)\nburn()\nready()\nwait_for_go()')
    until_ready(world, 2)
    usage = world.measure(1, 2)
    assert usage[1]['cpu_us'] < (BURN_S - SLACK_S) * US <= usage[2]['cpu_us']
    assert 0 < usage[1]['mem_kib'] < 50 << 10
    assert 100 << 10 <= usage[2]['mem_kib'] < 200 << 10
    let_go(world)
    assert_end_has_all(world.ended(2), usage[2])
    assert set(world.measure(1)) == {1}


def io_of(pid):
    io = dict(line.split(': ') for line in pathlib.Path('/proc/%s/io' % pid).read_text().splitlines())
    return int(io['read_bytes']) + int(io['write_bytes'])


def counts_writes(directory):
    """Whether the kernel counts what is written to this directory: not in memory, as on tmpfs."""
    before = io_of('self')
    with open(directory / 'probe', 'wb') as file:
        file.write(bytes(MIB))
        os.fsync(file.fileno())
    return io_of('self') - before >= MIB


WRITE = COMMON + '''
def write(name):
    with open(name, 'wb') as file:
        file.write(bytes(10 << 20))
        os.fsync(file.fileno())
if os.fork() == 0:
    write('first')
    os._exit(0)
os.wait()
write('second')
ready()
wait_for_go()
'''


def test_io_is_measured(any_world):  # noqa: F811
    """Of a process that was waited for, and of one that exists."""
    world = any_world
    if not counts_writes(world.path):
        pytest.skip('the kernel counts no bytes written to %s' % world.path)
    start(world, 1, WRITE)
    until_ready(world, 1)
    usage = world.measure(1)[1]
    assert 20 * MIB <= usage['io_bytes'] < 30 * MIB
    let_go(world)
    record = world.ended(1)
    assert_end_has_all(record, usage)
    assert record['io_bytes'] < 30 * MIB


def test_the_io_of_a_keeper_is_not_its_jobs(processes_world):
    """A keeper writes its records; a job of one process has the I/O of this process."""
    world = processes_world
    start(world, 1, COMMON + 'ready()\ntime.sleep(600)')
    until_ready(world, 1)
    assert world.measure(1)[1]['io_bytes'] == io_of(world.record(1, 'started')['pid'])


def test_a_new_launcher_measures_the_same(processes_world):
    """The launcher keeps nothing: one that is killed takes no usage with it."""
    world = processes_world
    start(world, 1, BURN_IN_FOUR_PROCESSES)
    until_ready(world, 1)
    first = world.measure(1)[1]
    for pid in world.launcher_pids():
        kill(pid)
    until(lambda: not world.launcher_pids(), 'the launcher to be gone')
    world.connect()
    world.synced()
    second = world.measure(1)[1]
    assert second['cpu_us'] >= first['cpu_us'] >= (4 * BURN_S - SLACK_S) * US
    let_go(world)
    assert_end_has_all(world.ended(1), second)


def test_only_launches_that_have_started_are_measured(any_world):  # noqa: F811
    world = any_world
    assert world.measure() == {}
    world.run(1, 'true', **world.identity)  # ended, and known until it is acknowledged
    world.start(2, 'sleep', '600', **world.identity)
    world.record(2, 'started')
    assert set(world.measure(2)) == {2}
