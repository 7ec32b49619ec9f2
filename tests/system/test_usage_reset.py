"""Resets of usage: by hand, and at a boundary of PriorityUsageResetPeriod. The boundary is a real midnight, in a time zone
where midnight is a few seconds away."""
import contextlib
import sqlite3
import sys
import pathlib
import time

import pytest

from conftest import SETTINGS, Instance, until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exec_world import has_ended  # noqa: E402


def usage(instance, account='default', user=True):
    """Billing seconds of the user's row, or of the account's row."""
    (row,) = [row for row in instance.json('share') if row['account'] == account and (row['user'] is not None) == user]
    return row['raw_usage']


def assert_verified(instance):
    assert instance.good('verify').endswith(': all agree\n')


def stored(instance, query):
    with contextlib.closing(sqlite3.connect('file:%s?mode=ro' % (instance.state / 'fairlead.db'), uri=True)) as db:
        return db.execute(query).fetchone()[0]


def zone_with_midnight_in(seconds):
    """A value of TZ, and the time of its next midnight."""
    midnight = int(time.time()) + seconds
    east = -midnight % 86400
    return 'XXX-%d:%02d:%02d' % (east // 3600, east // 60 % 60, east % 60), midnight


def with_a_job(instance):
    """Starts a job of one CPU."""
    instance.started = time.time()
    instance.running = instance.submit('--', 'sleep', '1000')
    instance.until_state(instance.running, 'RUNNING')
    return instance


@pytest.fixture
def busy(instance):
    return with_a_job(instance)


class Late(Exception):
    """Midnight came before the test was ready."""


def before_midnight(case):
    """Runs the test with a busy instance and the seconds until midnight; repeats it with more seconds if it was late."""

    def run():
        for seconds in (4, 15, 50):
            instance = Instance()
            try:
                instance.start('--set', SETTINGS)
                return case(with_a_job(instance), seconds)
            except Late:
                pass
            finally:
                instance.close()
        raise AssertionError('not ready within %d seconds' % seconds)

    run.__doc__ = case.__doc__
    return run


def restart_before_midnight(instance, seconds):
    """Restarts the instance in a time zone where midnight is near, with a daily reset. Returns the time of midnight."""
    zone, midnight = zone_with_midnight_in(seconds)
    instance.good('stop')
    instance.environment['TZ'] = zone
    instance.start()
    instance.good('set', 'PriorityUsageResetPeriod=DAILY')
    be_early(midnight)
    return midnight


def be_early(midnight):
    if time.time() >= midnight:
        raise Late


def assert_counts_since(instance, reset):
    """The usage is that of one CPU since the reset, within a tenth of a second, and verify agrees."""
    before = time.time()
    used = usage(instance)
    after = time.time()
    assert before - reset - 0.1 <= used <= after - reset + 0.1
    assert_verified(instance)


# ---- by hand ----


def test_a_user(busy):
    time.sleep(0.5)
    assert busy.good('user', 'modify', next(iter(busy.rows('user', 'show')))['name'], 'RawUsage=0')
    assert_counts_since(busy, stored(busy, 'SELECT reset_us FROM association WHERE user IS NOT NULL') / 1e6)
    assert usage(busy) < time.time() - busy.started - 0.4


def test_an_account(busy):
    time.sleep(0.5)
    before = usage(busy, 'root', user=False)
    busy.good('account', 'modify', 'default', 'rawusage=0', '--shares', '7')
    assert usage(busy, 'root', user=False) < before
    assert [row['shares'] for row in busy.rows('account', 'show', 'default')] == ['7']
    assert_verified(busy)
    time.sleep(0.3)
    busy.good('account', 'modify', 'root', 'RawUsage=0')
    assert_counts_since(busy, stored(busy, 'SELECT max(reset_us) FROM association') / 1e6)


def test_a_qos_and_a_project(instance):
    instance.good('project', 'add', 'moon')
    instance.good('set', 'SHARETREE_RESERVED_USAGE=true')
    instance.good('wait', instance.submit('--project', 'moon', '--', 'sleep', '0.3'))
    assert float(instance.rows('qos', 'show')[0]['usage']) > 0.2
    assert instance.good('qos', 'modify', 'normal', 'RawUsage=0', 'priority=3') == 'Modified qos normal\n'
    (row,) = instance.rows('qos', 'show')
    assert (row['usage'], row['priority']) == ('0', '3')
    assert stored(instance, "SELECT cpu_s FROM owner_usage WHERE user = '' AND project = 'moon'") > 0.2
    assert instance.good('project', 'modify', 'moon', 'RawUsage=0') == 'Modified project moon\n'
    assert stored(instance, 'SELECT sum(cpu_s + mem_gib_s) FROM owner_usage') == 0
    assert usage(instance) > 0.2
    assert_verified(instance)


@pytest.mark.parametrize('words, expected', [
    (('account', 'modify', 'default', 'RawUsage=5'), "RawUsage: '5' is not 0, the only accepted value"),
    (('user', 'modify', 'ann', 'RawUsage=-1'), "RawUsage: '-1' is not 0, the only accepted value"),
    (('user', 'modify', 'ann', 'RawUsage='), "RawUsage: '' is not 0, the only accepted value"),
    (('qos', 'modify', 'normal', 'RawUsage=1e3'), "qos 'normal': RawUsage: '1e3' is not 0, the only accepted value"),
    (('user', 'modify', 'ann', 'RawUsage=0', 'fshare=3'), "RawUsage=0 and 'fshare=3': only one of them is accepted"),
    (('account', 'modify', 'default', 'fshare=3'), "'fshare' is not a field; the fields are: GrpJobs"),
    (('account', 'modify', 'default', 'RawUsage=0', 'fshare=3'), "'fshare' is not a field; the fields are: GrpJobs"),
    (('account', 'modify', 'default'), 'nothing to change: give --shares, --parent, --priority, RawUsage=0 or a limit'),
    (('qos', 'add', 'fast', 'RawUsage=0'), "'RawUsage' is not a field; the fields are: "),
    (('partition', 'modify', 'main', 'RawUsage=0'), "'RawUsage' is not a field; the fields are: "),
    (('set', 'PriorityUsageResetPeriod=HOURLY'), "'HOURLY' is not one of NONE, NOW, DAILY, WEEKLY, MONTHLY, QUARTERLY"),
])
def test_refused_resets(instance, words, expected):
    result = instance.run(*words)
    assert result.status in (1, 2) and result.out == '' and expected in result.err, result
    assert result.err.count('\n') == 1


def test_help_and_completion(instance):
    for command in ('user', 'account', 'qos', 'project'):
        assert 'RawUsage=' in instance.good(command, 'modify', '--help')
        assert 'RawUsage' not in instance.good(command, 'add', '--help').replace('RawUsage=0 ', '')
    completion = instance.good('completion', 'bash')
    assert "DefaultQOS= RawUsage='" in completion
    assert 'PriorityUsageResetPeriod=' in completion and 'QUARTERLY' in completion


# ---- all of it ----


def test_now(busy):
    time.sleep(0.5)
    busy.good('set', 'PriorityUsageResetPeriod=NOW')
    assert {row['name']: row['value'] for row in busy.rows('set')}['PriorityUsageResetPeriod'] == 'NONE'
    reset = stored(busy, 'SELECT usage_reset_us FROM counters') / 1e6
    assert_counts_since(busy, reset)
    busy.kill()
    busy.start()
    assert_counts_since(busy, reset)


@before_midnight
def test_midnight(busy, seconds):
    midnight = restart_before_midnight(busy, seconds)
    began, asked = busy.job(busy.running)['start_us'] / 1e6, time.time()
    used = usage(busy)
    be_early(midnight)
    assert used >= asked - began - 0.1
    until(lambda: stored(busy, 'SELECT usage_reset_us FROM counters'))
    assert stored(busy, 'SELECT usage_reset_us FROM counters') == midnight * 1000000
    assert_counts_since(busy, midnight)
    busy.good('stop')
    busy.start()
    assert_counts_since(busy, midnight)
    assert stored(busy, "SELECT count(*) FROM usage_journal WHERE kind = 'RESET' AND detail = 'everything'") == 1


@before_midnight
def test_midnight_while_the_daemon_is_down(busy, seconds):
    """While the daemon is down, one job ends before the boundary and one runs across it."""
    short = busy.submit('--', 'sh', '-c', 'while ! test -e go; do sleep 0.02; done')
    busy.until_state(short, 'RUNNING')
    midnight = restart_before_midnight(busy, seconds)
    busy.kill()
    (busy.work / 'go').touch()
    until(lambda: has_ended(busy.state), 'the end of the short job')
    be_early(midnight)
    time.sleep(max(0, midnight + 1 - time.time()))
    busy.start()
    until(lambda: busy.job(short)['state'] == 'COMPLETED')
    assert stored(busy, 'SELECT usage_reset_us FROM counters') == midnight * 1000000
    assert_counts_since(busy, midnight)
    assert stored(busy, 'SELECT ifnull(sum(cpu_s), 0) FROM owner_usage') == 0
