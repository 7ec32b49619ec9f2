#!/usr/bin/python3
"""A restart with many jobs: from the start of the daemon until `fairlead status` is answered.

The database has 100,000 pending single jobs and 1,000,000 single jobs that have ended. Each figure is the median of several restarts,
one after a stop and one after kill -9, which leaves the write-ahead log to be read. The yardstick is the same instance without these
jobs. CPU time is that of the daemon until it answers. FAIRLEAD_BUILD is the directory with the programs.
"""
import os
import pathlib
import signal
import statistics
import sys
import time

from instances import add_ended, add_pending, daemon_pid, instance, report, run, stopped

PENDING, ENDED, RUNS, LIMIT_S = 100000, 1000000, 5, 2


def cpu_s(pid):
    fields = pathlib.Path('/proc/%d/stat' % pid).read_text().rsplit(')', 1)[1].split()
    return sum(map(int, fields[11:13])) / os.sysconf('SC_CLK_TCK')


def stop(state):
    run('stop', '--state', str(state))


def kill(state):
    pid = daemon_pid()
    os.kill(pid, signal.SIGKILL)
    while pathlib.Path('/proc/%d' % pid).exists():
        time.sleep(0.01)


def restart_s(state, end):
    """Wall-clock and CPU seconds of the median restart."""
    walls, cpus = [], []
    for _ in range(RUNS):
        run('submit', '--hold', '-D', '/', '-o', '/dev/null', '--', '/bin/true')
        end(state)
        begin = time.perf_counter()
        run('start', '--state', str(state))
        run('status')
        walls.append(time.perf_counter() - begin)
        cpus.append(cpu_s(daemon_pid()))
    return statistics.median(walls), statistics.median(cpus)


def main():
    with instance() as state:
        run('set', 'host_cpus=2')
        ended = int(run('submit', '--parsable', '-D', '/', '-o', '/dev/null', '--', '/bin/true'))
        run('wait', str(ended))
        run('set', 'host_cpus=1')
        pending = int(run('submit', '--parsable', '-D', '/', '-o', '/dev/null', '--', '/bin/true'))
        bare = {end: restart_s(state, end) for end in (stop, kill)}
        with stopped(state) as database:
            add_ended(database, ended, ENDED)
            add_pending(database, pending, PENDING)
        for end, (wall_s, bare_cpu_s) in bare.items():
            full_s, full_cpu_s = restart_s(state, end)
            report('restart after %s, 1,100,000 jobs, until status' % end.__name__, '%.2f s' % full_s, 'at most %d s' % LIMIT_S,
                   'without these jobs %.2f s' % wall_s)
            report('  CPU time of the daemon', '%.2f s' % full_cpu_s, '', 'without these jobs %.2f s' % bare_cpu_s)
    return 0


if __name__ == '__main__':
    sys.exit(main())
