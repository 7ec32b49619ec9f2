#!/usr/bin/python3
"""Submissions by processes: `fairlead submit` in a loop, one job each, and an array of 100,000 tasks.

The yardstick is the same loop with /bin/true (spawn_loop.c). Both are run in turns, one process at a time and eight at once, and each
figure is the median of several runs: with no other job pending, and with 100,000 single jobs. Each answer of a submission follows a
sync, so one at a time measures the disk as well; its time is in the same row. CPU time says more on a machine that others use: that of
the processes, and that of the daemon's loop. FAIRLEAD_BUILD is the directory with the programs.
"""
import statistics
import sys

from instances import (FAIRLEAD, add_pending, daemon_pid, instance, loop_s, median_s, report, run, spawn_loop, stopped, synced_write_s)

COUNT, RUNS, PENDING, TASKS, ARRAYS = 100, 7, 100000, 100000, 15
RATE_LIMIT, FALL_LIMIT, ARRAY_LIMIT_MS = 0.5, 0.9, 50
SUBMIT = ['submit', '--parsable', '-D', '/', '-o', '/dev/null']


def measure(state, name, at_once):
    """The median of the rates, and of the CPU times that a submission takes."""
    pid = daemon_pid()
    rates, ratios, client_ms, loop_ms, true_ms = [], [], [], [], []
    for _ in range(RUNS):
        bare_s, bare_cpu_s = spawn_loop(COUNT, at_once, '/bin/true')
        before = loop_s(pid)
        took_s, cpu_s = spawn_loop(COUNT, at_once, FAIRLEAD, *SUBMIT, '--', '/bin/true')
        loop_ms.append((loop_s(pid) - before) / COUNT * 1000)
        rates.append(COUNT / took_s)
        ratios.append(bare_s / took_s)
        client_ms.append(cpu_s / COUNT * 1000)
        true_ms.append(bare_cpu_s / COUNT * 1000)
    rate = statistics.median(rates)
    report('submit, %s, %d at once' % (name, at_once), '%.0f /s' % rate, '', '/bin/true %.0f /s; a synced write %.2f ms' % (
        rate / statistics.median(ratios), synced_write_s(state) * 1000))
    report('  rate, of the rate of /bin/true', '%.2f' % statistics.median(ratios), 'at least %.1f' % RATE_LIMIT,
           'from %.2f to %.2f' % (min(ratios), max(ratios)))
    report('  CPU time of the process', '%.2f ms' % statistics.median(client_ms), '', '/bin/true %.2f ms' % statistics.median(true_ms))
    report("  CPU time of the daemon's loop", '%.2f ms' % statistics.median(loop_ms), '', 'as above')
    return statistics.median(ratios), statistics.median(loop_ms)


def measure_array():
    submit = [*SUBMIT, '--array', '1-%d' % TASKS, '--', '/bin/true']
    array_s = median_s(ARRAYS, lambda: run(*submit))
    single_s = median_s(ARRAYS, lambda: run(*SUBMIT, '--', '/bin/true'))
    report('submit of an array of %d tasks' % TASKS, '%.1f ms' % (array_s * 1000), 'at most %d ms' % ARRAY_LIMIT_MS,
           'of a single job %.1f ms' % (single_s * 1000))


def main():
    with instance() as state:
        job = int(run(*SUBMIT, '--', '/bin/true'))
        empty = {at_once: measure(state, 'no jobs pending', at_once) for at_once in (1, 8)}
        with stopped(state) as database:
            add_pending(database, job, PENDING)
        for at_once, (ratio, loop_ms) in empty.items():
            full_ratio, full_loop_ms = measure(state, '100,000 jobs pending', at_once)
            report('  rate, of that without pending jobs', '%.2f' % (full_ratio / ratio), 'at least %.1f' % FALL_LIMIT,
                   'CPU time of the loop %.2f x' % (full_loop_ms / loop_ms))
        measure_array()
    return 0


if __name__ == '__main__':
    sys.exit(main())
