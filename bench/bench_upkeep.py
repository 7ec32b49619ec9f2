#!/usr/bin/python3
"""How long the upkeep of an instance keeps the daemon from answering others: the audit log, a backup, a prune.

An instance with 100,000 pending jobs, 100,000 jobs that have ended, 100,000 entries in its audit log and an array whose tasks wait for
those of another one. Figures and yardsticks are those of bench_loop.py: the longest wait of a small request meanwhile, beside the longest
in an idle daemon. The backup is made while jobs are submitted. Scattered ends are 64 tasks of an array of which each lets the
task of the same number start (aftercorr). FAIRLEAD_BUILD is the directory with the programs.
"""
import sys
import threading

from bench_loop import measure
from instances import add_ended, add_pending, copy_rows, daemon_pid, instance, report, run, stopped, submit_many

JOBS, ENTRIES, TASKS, AT_ONCE = 100000, 100000, 20000, 64
SUBMIT = ['submit', '--parsable', '-D', '/', '-o', '/dev/null']


def submitting(act):
    """While act runs, other jobs are submitted."""
    thread = threading.Thread(target=submit_many, args=(2000,))
    thread.start()
    act()
    thread.join()


def fill(state, ended, pending):
    with stopped(state) as database:
        add_ended(database, ended, JOBS)
        add_pending(database, pending, JOBS)
        last = database.execute('SELECT max(seq) FROM audit').fetchone()[0]
        copy_rows(database, 'audit', {'seq': '%d + i' % last}, 'seq = %d' % last, ENTRIES)


def scattered_ends():
    """Tasks of an array whose lengths differ end in an order that makes the ready tasks of the second one many ranges."""
    lengths = 'sleep 0.$((FAIRLEAD_ARRAY_TASK_ID * 7919 % 10)); exit $((FAIRLEAD_ARRAY_TASK_ID % 3 == 0))'
    first = run(*SUBMIT, '--mem', '1', '--array', '1-%d' % TASKS, '--', '/bin/sh', '-c', lengths).strip()
    run(*SUBMIT, '--mem', '1', '--array', '1-%d' % TASKS, '--dependency', 'aftercorr:' + first, '--', '/bin/true')
    run('set', 'host_cpus=%d' % AT_ONCE)
    threading.Event().wait(10)
    run('set', 'host_cpus=1')


def main():
    with instance() as state:
        run('set', 'host_cpus=2')
        ended = int(run(*SUBMIT, '--', '/bin/true'))
        run('wait', str(ended))
        run('set', 'host_cpus=1')
        pending = int(run(*SUBMIT, '--hold', '--', '/bin/true'))
        fill(state, ended, pending)
        pid = daemon_pid()
        backup = str(state.parent / 'backup.db')
        measure(pid, 'audit of 100,000 entries', *[lambda: run('audit', '-P', '-n', '0')] * 3)
        measure(pid, 'audit of one user, newest 100', *[lambda: run('audit', '-P', '-u', 'root')] * 3)
        measure(pid, 'backup of 200,000 jobs', *[lambda: run('backup', '--force', backup)] * 3)
        measure(pid, 'backup of 200,000 jobs, while jobs are submitted', *[
            lambda: submitting(lambda: run('backup', '--force', backup))] * 3)
        measure(pid, 'ends of an array that release tasks of another one', scattered_ends)
        measure(pid, 'prune of 100,000 ended jobs', lambda: run('history', 'prune', '--before', 'now'))
        pieces = [line for line in (state / 'fairleadd.log').read_text().splitlines() if 'event=pruned' in line]
        report('  longest piece of it', '%.1f ms' % (int(pieces[-1].rpartition('longest_us=')[2]) / 1000), 'at most 20 ms', 'as above')
    return 0


if __name__ == '__main__':
    sys.exit(main())
