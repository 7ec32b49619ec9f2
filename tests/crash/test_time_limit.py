"""The time limit that the database has is the one that holds, whatever is killed when it changes."""
import os
import signal
import time

import pytest

from instance import PATIENCE, Instance, kill, until


@pytest.fixture
def instance(tmp_path):
    one = Instance(tmp_path, settings=['host_cpus=4', 'grace_s=1'])
    yield one.start()
    one.close()


def start_job(instance, limit='1:00:00'):
    job = instance.submit('-t', limit, '--', 'sleep', '600')
    return job, until(lambda: instance.running(job), 'the job to run')[0]['start_us']


def finish(instance):
    until(lambda: not instance.queue(), 'all jobs to end', 2 * PATIENCE)
    return {row['job_id']: row for row in instance.history()}


def limit_of(instance, job):
    return [row for row in instance.queue() if row['job_id'] == job][0]['time_limit_s']


def kill_daemon(instance):
    instance.kill()
    instance.start()


def kill_both(instance):
    instance.kill()
    instance.kill_launchers()
    instance.start()


@pytest.mark.parametrize('crash', [kill_daemon, kill_both, Instance.kill_launchers])
def test_a_shorter_limit_survives(instance, crash):
    """Right after the answer."""
    job, start_us = start_job(instance)
    instance.ok('update', job, '-t', '0:03')
    crash(instance)
    row = finish(instance)[job]
    assert (row['state'], row['time_limit_s']) == ('TIMEOUT', 3)
    assert row['end_us'] - start_us >= 3e6


@pytest.mark.parametrize('crash', [kill_daemon, kill_both, Instance.kill_launchers])
def test_an_order_that_was_lost_is_repeated(instance, crash):
    """The launcher is stopped, so that it cannot pass the order on, and killed then."""
    jobs = [start_job(instance)[0] for _ in range(2)]
    for pid in instance.launcher_pids():
        os.kill(pid, signal.SIGSTOP)
    instance.ok('update', jobs[0], '-t', '0:01')
    if crash is kill_daemon:
        instance.kill()
        instance.kill_launchers()
        instance.start()
    else:
        crash(instance)
    until(lambda: not instance.running(jobs[0]), 'the first job to end', 2 * PATIENCE)
    assert limit_of(instance, jobs[1]) == 3600
    instance.ok('update', jobs[1], '-t', '0:01')
    assert {row['state'] for row in finish(instance).values()} == {'TIMEOUT'}


def test_a_longer_limit_survives_the_daemon_and_the_launcher(instance):
    """The last order came while the launcher was stopped: only the database has it."""
    for seconds in (3, 15, 60):
        job, start_us = start_job(instance, '0:%02d' % seconds if seconds < 60 else '1:00')
        stopped = instance.launcher_pids()
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        instance.ok('update', job, '-t', '1:00:00')
        kill_both(instance)
        synced_us = time.time() * 1e6
        time.sleep(max(0.0, start_us / 1e6 + seconds + 1 - time.time()))
        if instance.running(job):
            break
        assert synced_us - start_us > seconds * 0.5e6, 'the new limit did not hold'  # else the machine was too slow
    assert limit_of(instance, job) == 3600
    instance.ok('cancel', job)
    assert finish(instance)[job]['state'] == 'CANCELLED'


def test_a_keeper_that_is_killed_after_the_change(instance):
    job, _ = start_job(instance)
    instance.ok('update', job, '-t', '2:00:00')
    for pid in instance.keeper_pids():
        kill(pid)
    row = finish(instance)[job]
    assert (row['state'], row['time_limit_s']) == ('NODE_FAIL', 7200)


def test_many_changes_while_daemon_and_launcher_are_killed(instance):
    """The last limit that was answered holds."""
    job, _ = start_job(instance)
    for step in range(6):
        instance.ok('update', job, '-t', '%d:00' % (70 + step))
        (kill_daemon, kill_both, Instance.kill_launchers)[step % 3](instance)
        assert limit_of(instance, job) == (70 + step) * 60
        assert instance.running(job)
    instance.ok('update', job, '-t', '0:01')
    kill_both(instance)
    assert finish(instance)[job]['state'] == 'TIMEOUT'
    assert 'all agree' in instance.ok('verify')
