"""fairlead update -t of jobs that run."""
import time

import pytest

from conftest import until


def run_s(row):
    return (row['end_us'] - row['start_us']) / 1e6


def test_a_longer_limit(instance):
    """The first limit would end the job before it has slept."""
    for limit_s, sleep_s in ((3, 5), (20, 25), (60, 70)):
        job = instance.submit('-t', '%d:%02d' % divmod(limit_s, 60), '--', 'sleep', sleep_s)
        instance.until_state(job, 'RUNNING')
        started_s = instance.job(job)['start_us'] / 1e6
        assert instance.good('update', job, '-t', '30') == 'Updated job %d\n' % job
        was_early = time.time() - started_s < limit_s
        row = instance.until_state(job, 'COMPLETED', 'TIMEOUT')
        if was_early:
            break
    assert (row['state'], row['exit_status'], row['time_limit_s']) == ('COMPLETED', 0, 1800)
    assert run_s(row) >= sleep_s


def test_a_shorter_limit(instance):
    job = instance.submit('-t', '10', '--', 'sleep', '300')
    instance.until_state(job, 'RUNNING')
    instance.good('update', job, '--time', '0:02')
    row = instance.until_state(job, 'TIMEOUT')
    assert (row['time_limit_s'], row['signal']) == (2, 15) and 2 <= run_s(row) < 300
    assert 'job %d: TIMEOUT' % job in instance.run('wait', job).err


def test_a_limit_that_has_passed(instance):
    job = instance.submit('-t', 'UNLIMITED', '--', 'sleep', '300')
    instance.until_state(job, 'RUNNING')
    time.sleep(1.1)
    begin = time.time()
    instance.good('update', job, '-t', '0:01')
    row = instance.until_state(job, 'TIMEOUT')
    assert row['end_us'] / 1e6 >= begin - 0.1  # not in the past
    assert 'job %d has already ended' % job in instance.bad('update', job, '-t', '10')


def test_an_array(instance):
    """The tasks that run, and those that start later."""
    job = instance.submit('-n', '2', '--array', '0-2', '-t', '10', '--', 'sleep', '300')
    until(lambda: len([row for row in instance.json('queue') if row['state'] == 'RUNNING']) == 2, 'two tasks')
    instance.good('update', job, '-t', '0:02')
    rows = [instance.until_state('%d_%d' % (job, task), 'TIMEOUT') for task in range(3)]
    assert all(row['time_limit_s'] == 2 and run_s(row) >= 2 for row in rows)


@pytest.mark.parametrize('value, text', [
    ('0', "--time: '0'"), ('abc', "--time: 'abc'"), ('25:00:00:00', "--time: '25:00:00:00'"),
    ('2:00:00', "exceeds MaxTime of partition 'main': 01:00:00")])
def test_bad_limits_change_nothing(instance, value, text):
    job = instance.submit('-t', '10', '--', 'sleep', '300')
    instance.until_state(job, 'RUNNING')
    instance.good('partition', 'modify', 'main', 'MaxTime=1:00:00')
    assert text in instance.bad('update', job, '-t', value)
    assert (instance.job(job)['time_limit_s'], instance.job(job)['state']) == (600, 'RUNNING')
