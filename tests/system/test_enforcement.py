"""Jobs are kept to the memory and the CPUs that they asked for, by each mechanism that this machine has: control groups, or looking
at processes and affinity. Real processes use real memory."""
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exec_world import BUILD, World, alive, find_processes, hierarchies, kill, log_line, logged, remove_group, until  # noqa: E402

from test_launcher import cgroups_work  # noqa: E402

LIMIT_MIB = 120
KIB = 1024
MIB = 1 << 20
POLL_US = 200000
# Longer than several looks.
QUIET_S = 1.5

COMMON = '''
import mmap, os, time
MIB = 1 << 20
def hold(mib):
    held = mmap.mmap(-1, mib * MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for i in range(0, mib * MIB, 4096): held[i] = 1
    return held
def ready(): open('ready', 'w').close()
def wait_for_go():
    while not os.path.exists('go'): time.sleep(0.02)
'''


def mechanisms(world):
    world.send('enforces')
    line = world.read_line()
    return {name: int(number) for name, number in re.findall(r'(\w+)=(\d)', line)}


MEMORY_GROUP_1, CPUSET, KILL_GROUP = 2, 2, 2


@pytest.fixture(params=['group', 'sampling'])
def world(tmp_path, request):
    """A world for each mechanism; world.options start its launcher anew."""
    world = World(tmp_path)
    world.options = ['--no-cgroup'] if request.param == 'sampling' else []
    world.is_sampling = request.param == 'sampling'
    world.start_launcher(world.options)
    world.connect()
    assert world.synced() == {}
    if not world.is_sampling and mechanisms(world)['memory'] < MEMORY_GROUP_1:
        world.close()
        pytest.skip('no control group with a memory controller can be created here')
    yield world
    world.close()
    names = ['fairlead-%d-%s' % (launch_id, launch.start['key'][:8])
             for launch_id, launch in logged(world.state).items() if launch.start]
    left = [root / name for root in hierarchies('memory', 'cpuset') for name in names]
    until(lambda: not any(group.exists() for group in left), 'the control groups to be removed')


def start(world, launch_id, program, limit_mib=LIMIT_MIB, **fields):
    world.start(launch_id, '/usr/bin/python3', '-I', '-c', COMMON + program, mem_mib=limit_mib, mem_limit_kib=limit_mib * KIB,
                mem_poll_us=POLL_US, **fields)


def assert_out_of_memory(world, launch_id, record):
    assert record['end'] == 'out-of-memory', str(record)
    assert 'memory' in record['detail'] and 'it had asked for %dM' % LIMIT_MIB in record['detail'], record
    assert record['max_rss_kib'] >= LIMIT_MIB * KIB * 9 // 10, record
    key = world.logged(launch_id).start['key'].encode()
    assert [pid for pid in pathlib.Path('/proc').glob('[0-9]*') if key in environment(pid)] == []


def environment(process):
    try:
        return (process / 'environ').read_bytes()
    except OSError:
        return b''


def assert_ends_by_itself(world, launch_id, program):
    """The program says that it is ready; it is still there after several looks."""
    start(world, launch_id, program + '\nready()\nwait_for_go()')
    until(lambda: (world.path / 'ready').exists() or world.has_record(launch_id, 'ended'), 'the job to be ready')
    time.sleep(QUIET_S)
    (world.path / 'go').touch()
    record = world.ended(launch_id)
    assert (record['end'], record['exit_status'], record['signal']) == ('exited', 0, 0), (record, world.output(launch_id))
    return record


def test_a_job_that_uses_more_is_ended(world):
    start(world, 1, 'held = hold(400)\nready()\nwait_for_go()')
    record = world.ended(1)
    assert_out_of_memory(world, 1, record)
    assert record['signal'] == signal.SIGKILL
    assert world.logged(1).records['ended']['end'] == 'out-of-memory'


def test_a_job_that_stops_the_check_of_its_memory_is_ended(world):
    """A child of the keeper checks it, which a job of the keeper's own user can stop."""
    if not world.is_sampling:
        pytest.skip('the kernel counts here, and no process does')
    start(world, 1, '''
import signal
keeper = os.getppid()
held = hold(400)
while True:
    for child in open('/proc/%d/task/%d/children' % (keeper, keeper)).read().split():
        if int(child) != os.getpid(): os.kill(int(child), signal.SIGSTOP)''')
    assert world.ended(1)['end'] == 'out-of-memory'


def test_a_job_within_its_limit_is_not(world):
    assert_ends_by_itself(world, 1, 'held = hold(60)')


def test_the_processes_of_a_job_count_together(world):
    """None of them is over the limit. All of them end, also one in a session of its own."""
    start(world, 1, '''
for i in range(4):
    if os.fork() == 0:
        if i == 0: os.setsid()
        held = hold(50)
        time.sleep(600)
time.sleep(600)''')
    assert_out_of_memory(world, 1, world.ended(1))


def test_a_process_that_gets_no_more_ends_its_job(world):
    """Also if the main process would go on: a child is over the limit."""
    start(world, 1, '''
if os.fork() == 0:
    held = hold(400)
    time.sleep(600)
try: os.wait()
except ChildProcessError: pass
time.sleep(600)''')
    assert_out_of_memory(world, 1, world.ended(1))


def test_memory_that_forks_share_counts_once(world):
    """The resident sets of all are far above the limit."""
    assert_ends_by_itself(world, 1, '''
held = hold(60)
children = []
for i in range(6):
    pid = os.fork()
    if pid == 0:
        time.sleep(600)
    children.append(pid)
import atexit, signal
atexit.register(lambda: [os.kill(pid, signal.SIGKILL) for pid in children])''')


def test_shared_memory_counts(world):
    start(world, 1, '''
held = mmap.mmap(-1, 400 * MIB, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
for i in range(0, 400 * MIB, 4096): held[i] = 1
time.sleep(600)''')
    assert_out_of_memory(world, 1, world.ended(1))


def test_files_that_are_mapped_do_not_count(world):
    """Their pages are a cache, which the kernel takes back."""
    with open(world.path / 'data', 'wb') as data:
        for _ in range(300):
            data.write(os.urandom(1 << 10) * 1024)
    assert_ends_by_itself(world, 1, '''
held = mmap.mmap(os.open('data', os.O_RDONLY), 0, prot=mmap.PROT_READ)
total = sum(held[i] for i in range(0, len(held), 4096))''')


def test_address_space_that_is_not_used_is_free(world):
    """As CUDA reserves it: far more than the machine has."""
    assert_ends_by_itself(world, 1, '''
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
reserved = libc.mmap(None, 1 << 40, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, -1, 0)
assert reserved != ctypes.c_void_p(-1).value, ctypes.get_errno()
import threading
for _ in range(64): threading.Thread(target=time.sleep, args=(600,), daemon=True).start()''')


def test_files_in_a_tmpfs(world):
    """A control group has them. Looking at processes does not find them, as status says."""
    name = '/dev/shm/fairlead-test-%d' % os.getpid()
    program = '''
with open(%r, 'wb') as file:
    for _ in range(300): file.write(bytes(MIB))
''' % name
    try:
        if world.is_sampling:
            assert_ends_by_itself(world, 1, program)
        else:
            start(world, 1, program + 'time.sleep(600)')
            assert_out_of_memory(world, 1, world.ended(1))
    finally:
        pathlib.Path(name).unlink(missing_ok=True)


def test_a_limit_of_data_bounds_what_a_process_takes_between_two_looks(world):
    start(world, 1, 'import resource\nprint(*resource.getrlimit(resource.RLIMIT_DATA), *resource.getrlimit(resource.RLIMIT_AS))')
    world.ended(1)
    expected = 2 * LIMIT_MIB * MIB + (4 << 30) if world.is_sampling else resource.RLIM_INFINITY
    infinity = resource.RLIM_INFINITY
    assert world.output(1).split() == [str(expected), str(expected), str(infinity), str(infinity)]


def test_without_a_limit_nothing_is_enforced(world):
    world.start(1, '/usr/bin/python3', '-I', '-c', COMMON + 'held = hold(400)\nready()\nwait_for_go()')
    until((world.path / 'ready').exists, 'the job to be ready')
    time.sleep(QUIET_S)
    (world.path / 'go').touch()
    assert world.ended(1)['end'] == 'exited'


@pytest.fixture
def crowded(tmp_path):
    """A world whose launcher is in a group of version 1 that may use less than its job, and with it all jobs."""
    roots = hierarchies('memory')
    group = roots[0] / ('fltest-%d' % os.getpid()) if roots else None
    try:
        if group is None: raise OSError('no version 1')
        group.mkdir()
        (group / 'memory.limit_in_bytes').write_text(str(150 * MIB))
    except OSError as error:
        pytest.skip('NOT TESTED: no control group of version 1 can be created here: %s' % error)
    world = World(tmp_path)
    world.prefix = ['sh', '-c', 'echo 0 > %s/cgroup.procs; exec "$0" "$@"' % group]
    try:
        world.start_launcher()
        world.connect()
        assert world.synced() == {}
        yield world
    finally:
        world.close()
        until(lambda: remove_group(group), 'the control group to be removed')


def test_a_kill_for_the_memory_of_a_group_above_is_not_the_jobs(crowded):
    start(crowded, 1, 'hold(400)', limit_mib=2000)
    record = crowded.ended(1)
    assert (record['end'], record['signal']) == ('exited', signal.SIGKILL), record
    assert 'the machine had no more memory' in record['detail'], record
    assert record['max_rss_kib'] < 400 * KIB, record
    start(crowded, 2, 'hold(200)', limit_mib=100)
    assert crowded.ended(2)['end'] == 'out-of-memory'


def kill_launcher(world):
    for pid in world.launcher_pids():
        kill(pid)
    if world.launcher:
        world.launcher.wait()
        world.launcher = None


def test_the_next_launcher_knows_the_limits(world):
    start(world, 1, 'ready()\nwait_for_go()\nheld = hold(400)\ntime.sleep(600)')
    until((world.path / 'ready').exists, 'the job to run')
    kill_launcher(world)
    (world.path / 'go').touch()
    time.sleep(0.3)
    (world.state / 'launcher.sock').unlink(missing_ok=True)
    world.start_launcher(world.options)
    world.connect()
    assert_out_of_memory(world, 1, world.ended(1))


def decided(world, launch_id):
    """The record of a keeper that has decided to end a launch for its memory."""
    record = dict(world.logged(launch_id).records['started'], phase='completing', end='out-of-memory',
                  detail='used 1G of memory; its limit is 120M, it had asked for %dM' % LIMIT_MIB,
                  max_rss_kib=str(1 << 20))
    return ''.join('%s=%s\n' % item for item in record.items())


@pytest.mark.parametrize('kills_launcher', [False, True], ids=['keeper', 'keeper-and-launcher'])
def test_what_a_keeper_has_decided_survives_it(world, kills_launcher):
    """The keeper is killed between its decision and the end of the job."""
    start(world, 1, 'ready()\ntime.sleep(600)')
    until(lambda: (world.path / 'ready').exists() and world.has_record(1, 'started'), 'the job to run')
    keeper = world.keeper_pid(1)
    if kills_launcher:
        kill_launcher(world)
    os.kill(keeper, signal.SIGSTOP) if kills_launcher else None
    (segment,) = world.state.glob('launches/*.log')
    with open(segment, 'ab') as log:
        log.write(log_line(BUILD, decided(world, 1)).encode())
    kill(keeper)
    if kills_launcher:
        (world.state / 'launcher.sock').unlink(missing_ok=True)
        world.start_launcher(world.options)
        world.connect()
    record = world.ended(1)
    assert_out_of_memory(world, 1, record)
    assert record['max_rss_kib'] == 1 << 20


def test_a_kill_by_the_kernel_is_known_without_a_keeper(world):
    """The keeper is stopped when the kernel ends its job, and then it is killed."""
    if world.is_sampling:
        pytest.skip('the kernel knows no limit')
    start(world, 1, 'ready()\nwait_for_go()\nheld = hold(400)\ntime.sleep(600)')
    until(lambda: (world.path / 'ready').exists() and world.has_record(1, 'started'), 'the job to run')
    pid, keeper = int(world.logged(1).records['started']['pid']), world.keeper_pid(1)
    kill_launcher(world)
    os.kill(keeper, signal.SIGSTOP)
    (world.path / 'go').touch()
    until(lambda: not alive(pid), 'the kernel to end the job')
    kill(keeper)
    (world.state / 'launcher.sock').unlink(missing_ok=True)
    world.start_launcher(world.options)
    world.connect()
    assert world.ended(1)['end'] == 'out-of-memory'


def test_launchers_that_are_killed_on_and_on_lose_no_end(world):
    """Whenever a launcher is killed, each launch has one end, and it is for its memory."""
    count = 6
    for launch_id in range(1, count + 1):
        start(world, launch_id, 'time.sleep(%r)\nheld = hold(300)\ntime.sleep(600)' % (0.15 * launch_id))
    for _ in range(5):
        time.sleep(0.25)
        kill_launcher(world)
        (world.state / 'launcher.sock').unlink(missing_ok=True)
        world.start_launcher(world.options)
        world.connect()
    for launch_id in range(1, count + 1):
        assert world.ended(launch_id)['end'] == 'out-of-memory'
    assert all(sum(line.get('phase') == 'ended' and line['id'] == str(launch_id) for line in lines(world)) == 1
               for launch_id in range(1, count + 1))


def lines(world):
    from exec_world import log_lines
    return list(log_lines(world.state))


# ---- CPUs ----

def test_jobs_keep_to_their_cpus(world):
    """Affinity, which a job can change; and a control group that it cannot leave by that."""
    own = sorted(os.sched_getaffinity(0))
    if len(own) < 2:
        pytest.skip('one CPU')
    start(world, 1, '''
print(*os.sched_getaffinity(0))
try:
    os.sched_setaffinity(0, {%d})
    print(*os.sched_getaffinity(0))
except OSError: print('refused')
''' % own[1], cpus=own[0])
    assert world.ended(1)['end'] == 'exited'
    is_cpuset = mechanisms(world)['cpus'] == CPUSET
    assert world.output(1).split('\n')[:2] == [str(own[0]), 'refused' if is_cpuset else str(own[1])]
    assert is_cpuset != world.is_sampling


# ---- instances ----

def test_a_private_instance_enforces_memory_if_it_is_told_to(instance):
    (instance.work / 'hold.py').write_text(COMMON + 'held = hold(200)\n')
    job = instance.submit('--mem', '50', '--', 'python3', 'hold.py')
    assert instance.until_state(job, 'COMPLETED', 'FAILED', 'OUT_OF_MEMORY')['state'] == 'COMPLETED'
    rows = {row['resource']: row for row in instance.json('status')['enforcement']}
    assert rows['memory']['mechanism'] == 'none' and rows['memory']['gap']
    instance.good('set', 'enforce_memory=on', 'memory_slack=0')
    rows = {row['resource']: row for row in instance.json('status')['enforcement']}
    assert sorted(rows) == ['CPUs', 'GPUs', 'kill', 'memory', 'suspend'] and rows['memory']['mechanism'] != 'none'
    assert 'memory: ' + rows['memory']['mechanism'] in instance.good('status')
    (instance.work / 'hold.py').write_text(COMMON + 'held = hold(200)\ntime.sleep(600)\n')
    job = instance.submit('--mem', '50', '--requeue-exit', '1-255', '--', 'python3', 'hold.py')
    row = instance.until_state(job, 'OUT_OF_MEMORY')
    assert row['signal'] == signal.SIGKILL and row['max_rss_kib'] > 45 * KIB
    assert 'it had asked for 50M' in row['detail']
    result = instance.run('wait', job)
    assert result.status == 118 and '--mem' in result.out + result.err, result
    assert [row['job_id'] for row in instance.json('history', '--state', 'OUT_OF_MEMORY')] == [job]
    assert [row['job_id'] for row in instance.json('history', '--state', 'oom')] == [job]
    instance.good('stop')
    instance.start()
    assert instance.job(job)['state'] == 'OUT_OF_MEMORY'
    assert instance.good('verify').endswith(': all agree\n')


def test_cpus_are_enforced_unless_that_is_off(instance):
    cpus = len(os.sched_getaffinity(0))
    command = ['--', 'python3', '-c', 'import os; print(len(os.sched_getaffinity(0)))']
    job = instance.submit('-n', '1', *command)
    instance.until_state(job, 'COMPLETED')
    assert instance.good('log', job) == '1\n'
    instance.good('set', 'enforce_cpus=off')
    job = instance.submit('-n', '1', *command)
    instance.until_state(job, 'COMPLETED')
    assert instance.good('log', job) == '%d\n' % cpus
    assert {row['resource']: row['mechanism'] for row in instance.json('status')['enforcement']}['CPUs'] == 'none'


def test_a_job_that_depends_on_one_that_ran_out_of_memory(instance):
    instance.good('set', 'enforce_memory=on', 'memory_slack=0')
    (instance.work / 'hold.py').write_text(COMMON + 'held = hold(200)\ntime.sleep(600)\n')
    job = instance.submit('--mem', '50', '--', 'python3', 'hold.py')
    after = instance.submit('--dependency', 'afternotok:%d' % job, '--', 'true')
    instance.until_state(job, 'OUT_OF_MEMORY')
    instance.until_state(after, 'COMPLETED')


@pytest.mark.parametrize('setting', ['enforce_memory=maybe', 'enforce_cpus=auto', 'memory_slack=-1', 'memory_poll_s=0',
                                     'memory_poll_s=3601'])
def test_bad_settings_are_refused(instance, setting):
    assert setting.split('=')[0] in instance.bad('set', setting)


@pytest.mark.skipif(not cgroups_work(), reason='NOT TESTED: a group that is removed, because none of version 2 can be created here')
def test_a_group_that_was_removed_is_replaced(tmp_path):
    """As systemd removes that of a unit which has ended."""
    mount = next(line.split()[4] for line in pathlib.Path('/proc/self/mountinfo').read_text().splitlines() if ' - cgroup2 ' in line)
    own = next(line[3:] for line in pathlib.Path('/proc/self/cgroup').read_text().splitlines() if line.startswith('0::'))
    parent = pathlib.Path(mount + own) / ('fairlead-test-%d' % os.getpid())
    world = World(tmp_path)
    try:
        world.start_launcher(['--cgroup', parent])
        world.connect()
        assert world.synced() == {} and parent.is_dir()
        parent.rmdir()
        world.start(1, '/bin/sh', '-c', 'cat /proc/self/cgroup')
        assert world.ended(1)['end'] == 'exited'
        assert '/%s/fairlead-1-' % parent.name in world.output(1)
    finally:
        world.close()
        until(lambda: not parent.exists() or remove_group(parent), 'the control group to be removed')


@pytest.mark.parametrize('options', [['--cgroup', 'relative'], ['--cgroup', '/sys/fs/cgroup/x', '--no-cgroup']])
def test_bad_options_of_the_launcher_are_refused(tmp_path, options):
    done = subprocess.run([BUILD / 'fairlead-launcher', '--private', '--state', tmp_path, *options], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 2 and done.stderr.count('\n') == 1 and '--cgroup' in done.stderr


# ---- for all users ----

from test_system_instance import SystemInstance  # noqa: E402
from test_system_launcher import accounts, why_not  # noqa: E402,F401


@pytest.fixture
def system(accounts):  # noqa: F811
    if why_not():
        pytest.skip(why_not())
    made = SystemInstance(accounts)
    yield made
    made.close()


def test_an_instance_for_all_users_enforces_memory(system):
    """Without a setting: one user's job ends, another's goes on."""
    import json
    alice, mallory = system.accounts.alice, system.accounts.mallory
    good = system.submit(alice, '--mem', '100', '--', '/usr/bin/python3', '-c', COMMON + 'held = hold(50)\ntime.sleep(5)')
    bad = system.submit(mallory, '--mem', '100', '--', '/usr/bin/python3', '-c', COMMON + 'held = hold(400)\ntime.sleep(600)')
    done = system.run(mallory, 'wait', bad)
    assert done.returncode == 118 and 'it had asked for 100M' in done.stdout + done.stderr, done
    system.good(alice, 'wait', good)
    rows = {row['resource']: row for row in json.loads(system.good(alice, 'status', '--json'))['enforcement']}
    assert rows['memory']['mechanism'] != 'none'


def test_a_user_cannot_leave_the_groups_of_a_job(system):
    """Nor raise their limits; but read them, as the runtimes of languages do."""
    import json
    rows = {row['resource']: row['mechanism'] for row in json.loads(system.good(None, 'status', '--json'))['enforcement']}
    if 'control group' not in rows['memory']:
        pytest.skip('no control group with a memory controller can be created here')
    program = COMMON + r'''
import glob, re
limits = 0
for line in open('/proc/self/cgroup'):
    names, path = line.split(':', 2)[1:]
    for root in ['/sys/fs/cgroup/' + name for name in names.split(',')] + ['/sys/fs/cgroup', '/sys/fs/cgroup/unified']:
        group = root + path.strip()
        for name in [os.path.dirname(group) + '/cgroup.procs', group + '/memory.max', group + '/memory.limit_in_bytes']:
            is_limit = not name.endswith('procs')
            try: open(name, 'w').write('-1' if is_limit else '0')
            except OSError: pass
            else: print('could write', name, flush=True)
            try: limits += is_limit and open(name).read().strip().isdigit()
            except FileNotFoundError: pass
print('limits that can be read:', limits > 0, flush=True)
held = hold(400)
time.sleep(600)'''
    job = system.submit(system.accounts.mallory, '--mem', '100', '--', '/usr/bin/python3', '-c', program)
    status = system.run(system.accounts.mallory, 'wait', job).returncode
    output = system.home(system.accounts.mallory) / ('fairlead-%d.out' % job)
    assert (status, output.read_text()) == (118, 'limits that can be read: True\n')
