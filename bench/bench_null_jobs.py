#!/usr/bin/python3
"""Null jobs: one array of 1,000 tasks that run /bin/true, from its submission until its last task is accounted for, as
many at once as there are CPUs, and 64 at once.

The yardstick of each figure is a bare loop of posix_spawn and wait with as many at once (spawn_loop.c). Both are run in turns, and each figure
is the median of several runs. CPU time is that of all processes of the instance and of its jobs, so it says more than the rate on a machine that
others use. With strace, the system calls of the launcher, its keepers and the jobs are counted, and the syncs among them.
FAIRLEAD_BUILD is the directory with the programs.
"""
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(os.environ.get('FAIRLEAD_BUILD', 'build')).resolve()
FAIRLEAD, SPAWN_LOOP = str(BUILD / 'fairlead'), str(BUILD / 'bench/spawn-loop')
COUNT, RUNS = 1000, 5
RATE_LIMIT = 0.4  # of the rate of the bare loop
SYNC_CALLS = ('fsync', 'fdatasync', 'sync_file_range', 'syncfs')


def run(*arguments):
    return subprocess.run([FAIRLEAD, *arguments], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout


def find_pid(program, state):
    """The pid of this instance's daemon or launcher."""
    for entry in pathlib.Path('/proc').iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / 'cmdline').read_bytes().split(b'\0')
        except OSError:
            continue
        if words[0].endswith(b'/' + program.encode()) and os.fsencode(str(state)) in words:
            return int(entry.name)
    sys.exit('no %s runs in %s' % (program, state))


def cpu_s(pid, with_children):
    """CPU seconds of a process, and of the children that it has waited for."""
    fields = pathlib.Path('/proc/%d/stat' % pid).read_text().rsplit(')', 1)[1].split()
    return sum(map(int, fields[11:15 if with_children else 13])) / os.sysconf('SC_CLK_TCK')


def run_array():
    """Seconds from the submission of the array until `wait` says that it has ended."""
    begin = time.perf_counter()
    job = run('submit', '--parsable', '--mem', '1', '--array', '0-%d' % (COUNT - 1), '-D', '/', '-o', '/dev/null', '--', '/bin/true').strip()
    run('wait', job)
    seconds = time.perf_counter() - begin
    rows = [line for line in run('history', '--limit', str(COUNT), '-P').splitlines() if line.startswith(job + '_')]
    if sum('|COMPLETED|' in row for row in rows) != COUNT:
        sys.exit('not all of %d tasks are COMPLETED' % COUNT)
    return seconds


def run_bare(at_once):
    """Wall-clock and CPU seconds of the bare loop."""
    done = subprocess.run([SPAWN_LOOP, str(COUNT), str(at_once), '/bin/true'], check=True, stdout=subprocess.PIPE)
    return tuple(map(float, done.stdout.split()))


def count_calls(launcher, folder):
    """System calls and syncs for each job, in the launcher and all that it forks; None without strace."""
    if shutil.which('strace') is None:
        return None
    path = folder / 'strace'
    tracer = subprocess.Popen(['strace', '-f', '-c', '-o', path, '-p', str(launcher)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    tracer.stderr.readline()  # it is attached
    with subprocess.Popen(['cat'], stdin=tracer.stderr, stdout=subprocess.DEVNULL):
        run_array()
        time.sleep(0.5)  # for what comes after the last answer
        tracer.terminate()
        tracer.wait()
    calls = {}
    for words in (line.split() for line in path.read_text().splitlines()):
        if len(words) >= 5 and words[3].isdigit() and words[-1] != 'total':
            calls[words[-1]] = int(words[3])
    return sum(calls.values()) / COUNT, sum(calls.get(name, 0) for name in SYNC_CALLS) / COUNT


def report(name, value, limit, yardstick):
    print('%-58s %12s  %-22s yardstick: %s' % (name, value, limit, yardstick), flush=True)


def measure(at_once, state, folder):
    run('set', 'host_cpus=%d' % at_once)
    daemon, launcher = find_pid('fairleadd', state), find_pid('fairlead-launcher', state)
    run_array()  # fills the caches
    ratios, rates, bare_rates, costs, bare_costs, daemon_costs = [], [], [], [], [], []
    for _ in range(RUNS):
        bare_s, bare_cpu_s = run_bare(at_once)
        before, daemon_before = cpu_s(launcher, True), cpu_s(daemon, False)
        seconds = run_array()
        time.sleep(0.2)  # until all keepers have been waited for
        daemon_costs.append((cpu_s(daemon, False) - daemon_before) / COUNT * 1000)
        costs.append((cpu_s(launcher, True) - before) / COUNT * 1000 + daemon_costs[-1])
        bare_costs.append(bare_cpu_s / COUNT * 1000)
        rates.append(COUNT / seconds)
        bare_rates.append(COUNT / bare_s)
        ratios.append(bare_s / seconds)
    report('null jobs, %d at once' % at_once, '%.0f /s' % statistics.median(rates), '', 'bare loop %.0f /s' % statistics.median(bare_rates))
    report('  rate, of the rate of the bare loop', '%.2f' % statistics.median(ratios), 'at least %.1f' % RATE_LIMIT,
           'from %.2f to %.2f' % (min(ratios), max(ratios)))
    report('  CPU time of a job', '%.2f ms' % statistics.median(costs), '', 'bare loop %.2f ms' % statistics.median(bare_costs))
    report('    of it the daemon', '%.2f ms' % statistics.median(daemon_costs), '', 'as above')
    calls = count_calls(launcher, folder)
    if calls is not None:
        report('  system calls of a job, in launcher, keeper and job', '%.0f' % calls[0], '', '/bin/true: about 30')
        report('  syncs of a job, in launcher and keeper', '%.2f' % calls[1], '', 'bare loop 0')


def run_enforced(state, settings, options):
    """Milliseconds of CPU time of a null job, with a launcher that was started with these options."""
    launcher = find_pid('fairlead-launcher', state)  # before: a launcher without a daemon may end by itself
    run('stop', '--state', str(state))
    try:
        os.kill(launcher, signal.SIGTERM)
    except ProcessLookupError:
        pass
    while (state / 'launcher.sock').exists():
        time.sleep(0.01)
    with subprocess.Popen([BUILD / 'fairlead-launcher', '--private', '--state', state, *options]) as launcher:
        run('start', '--state', str(state))
        run('set', *settings)
        run_array()  # fills the caches
        daemon = find_pid('fairleadd', state)
        costs = []
        for _ in range(RUNS):
            before = cpu_s(launcher.pid, True) + cpu_s(daemon, False)
            run_array()
            time.sleep(0.2)
            costs.append((cpu_s(launcher.pid, True) + cpu_s(daemon, False) - before) / COUNT * 1000)
        launcher.terminate()
    run('start', '--state', str(state))
    return statistics.median(costs)


def measure_enforcement(state):
    """What keeping jobs to their memory and CPUs costs a job that uses none, 64 at once."""
    run('set', 'host_cpus=%d' % 64)
    off = ('enforce_memory=off', 'enforce_cpus=off')
    none_ms = run_enforced(state, off, [])
    for name, settings, options in (
            ('CPUs only, by what this machine has', ('enforce_memory=off', 'enforce_cpus=on'), []),
            ('memory and CPUs, by what this machine has', ('enforce_memory=on', 'enforce_cpus=on'), []),
            ('memory and CPUs, without control groups', ('enforce_memory=on', 'enforce_cpus=on'), ['--no-cgroup'])):
        report('null jobs: ' + name, '%.2f ms' % run_enforced(state, settings, options), '', 'nothing enforced %.2f ms' % none_ms)
    run('set', 'enforce_memory=auto', 'enforce_cpus=on')


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix='fairlead-bench.'))
    state = folder / 'state'
    os.environ['FAIRLEAD_SOCKET'] = str(state / 'fairlead.sock')
    try:
        run('start', '--state', str(state))
        for at_once in (os.cpu_count(), 64):
            measure(at_once, state, folder)
        measure_enforcement(state)
    finally:
        subprocess.run([FAIRLEAD, 'stop', '--jobs', '--state', str(state)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        shutil.rmtree(folder)
    return 0


if __name__ == '__main__':
    sys.exit(main())
