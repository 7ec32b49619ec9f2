"""Changes of all usages at once: the rows of associations follow the commit in slices, between which the daemon can be killed."""
import contextlib
import os
import signal
import sqlite3
import time

import pytest

from conftest import SETTINGS, until

USERS = 20000


class Site:
    """An instance with USERS associations that have usage: copies of one with a job that has ended, and of its records."""

    def __init__(self, instance):
        self.instance = instance
        instance.start('--set', SETTINGS)
        job = instance.submit('--', 'sleep', '0.2')
        instance.good('wait', str(job))
        instance.good('qos', 'modify', 'normal', 'RawUsage=0')
        instance.good('stop')
        with self.database() as db:
            association = db.execute('SELECT association_id FROM job WHERE id = ?', (job,)).fetchone()[0]
            self.copy(db, 'association', {'id': '%d + i' % association, 'user': "'user' || i"}, 'id = %d' % association)
            self.copy(db, 'job', {'id': '%d + i' % job, 'association_id': '%d + i' % association}, 'id = %d' % job)
            self.copy(db, 'job_script', {'job_id': '%d + i' % job}, 'job_id = %d' % job)
            self.copy(db, 'task', {'job_id': '%d + i' % job, 'launch_id': '1000 + i', 'association_id': '%d + i' % association},
                      'job_id = %d' % job)
            self.copy(db, 'owner_usage', {'user': "'user' || i"}, "project = ''")
            db.execute('UPDATE counters SET next_association_id = ?, next_job_id = ?, next_launch_id = ?',
                       (association + USERS + 1, job + USERS + 1, USERS + 2000))
        instance.start()

    def copy(self, db, table, replaced, source):
        columns = [row[1] for row in db.execute('PRAGMA table_info(%s)' % table)]
        terms = [replaced.get(column, column) for column in columns]
        db.execute('WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO %s(%s) SELECT %s FROM n, %s WHERE %s'
                   % (USERS, table, ', '.join(columns), ', '.join(terms), table, source))

    @contextlib.contextmanager
    def database(self):
        with contextlib.closing(sqlite3.connect(self.instance.state / 'fairlead.db', timeout=60)) as db, db:
            yield db

    def lacking(self):
        """The number of conversions in the table, and of rows that lack the last one."""
        with self.database() as db:
            return db.execute('SELECT (SELECT count(*) FROM usage_conversion), count(*) FROM association'
                              ' WHERE usage_conversion < (SELECT usage_conversion FROM counters)').fetchone()

    def until_rows_are_written(self):
        until(lambda: self.lacking()[0] == 0, 'all rows to be written')
        assert self.lacking()[1] == 0

    def kill_after_some_rows(self):
        pid, end = self.instance.pid(), time.monotonic() + 60
        while not 0 < self.lacking()[1] < USERS:
            assert time.monotonic() < end, 'no slice is committed'
        os.kill(pid, signal.SIGKILL)
        until(lambda: not os.path.exists('/proc/%d' % pid), 'the end of the daemon')
        conversions, rows = self.lacking()
        assert conversions > 0 and 0 < rows <= USERS

    def verify(self):
        assert 'all agree' in self.instance.good('verify')

    def usage(self):
        """Of all accounts together."""
        return self.instance.json('share')[0]['raw_usage']


@pytest.fixture
def site(stopped):
    one = Site(stopped)
    one.verify()
    yield one
    one.verify()


@pytest.mark.parametrize('halflife', ['0', '12:00:00'])
def test_a_daemon_that_is_killed_goes_on_with_the_rows_of_another_half_life(site, halflife):
    before = site.usage()
    site.instance.good('set', 'PriorityDecayHalfLife=' + halflife)
    site.kill_after_some_rows()
    site.instance.start()
    site.verify()
    assert site.usage() == pytest.approx(before, rel=1e-2) and before > 0
    site.until_rows_are_written()


def test_a_daemon_that_is_killed_goes_on_with_the_rows_of_a_reset(site):
    site.instance.good('set', 'PriorityUsageResetPeriod=NOW')
    site.kill_after_some_rows()
    site.instance.start()
    site.verify()
    assert site.usage() == 0
    site.until_rows_are_written()


def test_several_conversions_before_the_rows_are_written(site):
    """Another half-life after a reset, and a job's charge between the slices of both."""
    site.instance.good('set', 'PriorityDecayHalfLife=0')
    site.instance.good('set', 'PriorityUsageResetPeriod=NOW')
    job = site.instance.submit('--', 'sleep', '0.2')
    site.instance.good('wait', str(job))
    site.verify()
    site.instance.good('set', 'PriorityDecayHalfLife=12:00:00')
    site.verify()
    assert 0 < site.usage() < 10
    site.until_rows_are_written()
