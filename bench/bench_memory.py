#!/usr/bin/python3
"""Resident memory of the daemon for each pending single job.

Memory is the anonymous part of the resident set (Anonymous in smaps_rollup), a second after the last request. 100,000 single jobs
are added to the database of a stopped instance, and the daemon is started; from its memory that of the same daemon without them is
taken. Then 10,000 more are submitted, one request each, and the difference is taken again. The jobs have names of their own. The
yardstick is the size of a job in the database. FAIRLEAD_BUILD is the directory with the programs.
"""
import pathlib
import re
import sys
import time

from instances import add_pending, daemon_pid, instance, report, run, stopped, submit_many

COUNT, SUBMITTED, BYTES_MAX = 100000, 10000, 700


def anonymous_bytes():
    time.sleep(1)
    text = pathlib.Path('/proc/%d/smaps_rollup' % daemon_pid()).read_text()
    return int(re.search(r'Anonymous: +(\d+) kB', text).group(1)) * 1024


def database_bytes(database):
    return database.execute('PRAGMA page_count').fetchone()[0] * database.execute('PRAGMA page_size').fetchone()[0]


def main():
    with instance() as state:
        job = int(run('submit', '--parsable', '-D', '/', '-o', '/dev/null', '--', '/bin/true'))
        with stopped(state):
            pass
        before = anonymous_bytes()
        with stopped(state) as database:
            bytes_before = database_bytes(database)
            add_pending(database, job, COUNT)
            yardstick = '%.0f bytes in the database' % ((database_bytes(database) - bytes_before) / COUNT)
        restarted = anonymous_bytes()
        submit_many(SUBMITTED)
        submitted = anonymous_bytes()
    limit = 'at most %d bytes' % BYTES_MAX
    report('memory of a pending single job, of 100,000', '%.0f bytes' % ((restarted - before) / COUNT), limit, yardstick)
    report('  of each of 10,000 that are submitted to them', '%.0f bytes' % ((submitted - restarted) / SUBMITTED), '', 'as above')
    return 0


if __name__ == '__main__':
    sys.exit(main())
