"""The usage of running jobs as measured: in the listings, in the share tree, across a crash of everything; and the settings
that let reserved usage count instead."""
import contextlib
import sqlite3

import pytest

from conftest import until

MIB = 1 << 20
# Burns CPU time in a process whose parent waits for it, holds 200 MiB, and says when both are done.
USE = '''
import os, time
if os.fork() == 0:
    while os.times().user < 0.5: pass
    os._exit(0)
os.wait()
held = bytearray(200 << 20)
open('used', 'w').close()
while not os.path.exists('go'): time.sleep(0.05)
print(sum(os.times()[:4]))  # user and system time, its own and of the process that it waited for
'''


@pytest.fixture
def measuring(instance):
    instance.good('set', 'load_report_time=1', 'halftime=0', 'halflife_decay_list=finished_jobs=0')
    return instance


def use(instance):
    job = instance.submit('-n', '2', '--mem', '512', '--', 'python3', '-c', USE)
    until((instance.work / 'used').exists, 'the job to use something')
    return job


def usage(instance):
    """The usage of all owners: CPU-seconds, GiB-seconds, jobs."""
    query = 'SELECT total(cpu_s), total(mem_gib_s), total(finished_jobs) FROM owner_usage'
    with contextlib.closing(sqlite3.connect('file:%s?mode=ro' % (instance.state / 'fairlead.db'), uri=True)) as db:
        return db.execute(query).fetchone()


def until_measured(instance, job, more_than_s=0.4):
    return until(lambda: (row := instance.job(job))['cpu_us'] > more_than_s * 1e6 and row['mem_gib_s'] > 0.2 and row,
                 'the job to be measured')


def assert_verified(instance):
    assert instance.good('verify').endswith(': all agree\n')


def end(instance, job):
    (instance.work / 'go').touch()
    return instance.until_state(job, 'COMPLETED')


def test_running_jobs_are_measured_and_charged(measuring):
    job = use(measuring)
    row = until_measured(measuring, job)
    assert row['state'] == 'RUNNING'
    cpu_s, mem_gib_s, finished = usage(measuring)
    assert cpu_s > 0.4 and mem_gib_s > 0.1 and finished == 0
    shown = dict(line.split(maxsplit=1) for line in measuring.good('show', 'job', job).splitlines())
    assert shown['CPU'].startswith('time ') and float(shown['CPU'].split()[1]) > 0.4
    assert shown['Memory'].startswith('time ') and shown['Memory'].endswith('GiB x s')
    assert_verified(measuring)
    row = end(measuring, job)
    cpu_s, mem_gib_s, finished = usage(measuring)
    assert cpu_s == pytest.approx(row['cpu_us'] / 1e6) and mem_gib_s == pytest.approx(row['mem_gib_s']) and finished == 1
    assert row['max_rss_kib'] > 200 * 1024
    assert_verified(measuring)


def test_nothing_measured_is_lost_by_kill(measuring):
    """The CPU time that is charged is what the job itself counted, and a little for its start and end."""
    job = use(measuring)
    until_measured(measuring, job)
    measuring.kill()
    measuring.kill_launchers()
    before = usage(measuring)
    measuring.start()
    until(lambda: usage(measuring)[1] > before[1], 'a measurement after the restart')
    assert_verified(measuring)
    row = end(measuring, job)
    burnt_s = float(measuring.good('log', job))
    assert burnt_s > 0.5 and burnt_s <= row['cpu_us'] / 1e6 < burnt_s + 0.4
    assert usage(measuring)[0] == pytest.approx(row['cpu_us'] / 1e6)
    assert_verified(measuring)


def test_reserved_usage_counts_by_setting(measuring):
    measuring.good('set', 'SHARETREE_RESERVED_USAGE=true', 'ACCT_RESERVED_USAGE=true')
    job = use(measuring)
    assert until_measured(measuring, job)['state'] == 'RUNNING'
    assert usage(measuring)[0] == 0  # charged at the end
    row = end(measuring, job)
    run_s = (row['end_us'] - row['start_us']) / 1e6
    assert usage(measuring) == (pytest.approx(2 * run_s), pytest.approx(0.5 * run_s), 1)
    assert row['cpu_us'] / 1e6 == pytest.approx(2 * run_s) and row['mem_gib_s'] == pytest.approx(0.5 * run_s)
    assert_verified(measuring)


def test_the_setting_can_change_while_jobs_run(measuring):
    job = use(measuring)
    until_measured(measuring, job)
    measuring.good('set', 'SHARETREE_RESERVED_USAGE=true')
    cpu_s = usage(measuring)[0]
    measuring.good('set', 'SHARETREE_RESERVED_USAGE=false')  # charges what was reserved meanwhile
    assert usage(measuring)[0] > cpu_s
    assert_verified(measuring)
    end(measuring, job)
    assert_verified(measuring)


@pytest.mark.parametrize('value', ['0', '2-0', 'often'])
def test_a_bad_interval_is_refused(instance, value):
    assert 'load_report_time' in instance.bad('set', 'load_report_time=' + value)
