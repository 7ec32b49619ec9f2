"""A write-ahead log of which one bit was changed after kill -9, and an older database in the place of a newer one: no job runs
twice, no end is forgotten, and the start says what is missing."""
import collections
import json
import os
import random
import re
import shutil
import sqlite3
import time

import pytest

from instance import Instance, kill, until
from test_instance import SCRIPT, finish, run_counts, verify

LOG = 'fairlead.db-wal'


@pytest.fixture
def instance(tmp_path):
    one = Instance(tmp_path, settings=['host_cpus=4', 'grace_s=1'])
    yield one
    one.close()


def status(instance):
    return json.loads(instance.ok('status', '--json'))


def kill_all(instance, with_keepers):
    instance.kill()
    instance.kill_launchers()
    for pid in instance.keeper_pids() if with_keepers else []:
        kill(pid)


def flip_bit(path, at, bit=0):
    """at: a part of the file, from 0 to 1."""
    data = bytearray(path.read_bytes())
    data[min(int(at * len(data)), len(data) - 1)] ^= 1 << bit
    path.write_bytes(data)


def submit_many(instance, count, seconds, *options):
    script = instance.work / 'job.sh'
    script.write_text(SCRIPT % seconds)
    return [instance.submit(*options, '--mem', '1', '-o', '/dev/null', script) for _ in range(count)]


def known_jobs(instance):
    return {row['job_id'] for row in instance.queue()} | {row['job_id'] for row in instance.history()}


def lost_count(recovery):
    """How many accepted jobs the text says are lost."""
    found = re.search(r'Up to (\d+) accepted', recovery or '')
    return int(found.group(1)) if found else 0


@pytest.mark.parametrize('with_keepers', [False, True])
@pytest.mark.parametrize('seed', range(4))
def test_a_changed_bit_runs_no_job_twice(instance, seed, with_keepers):
    """80 short jobs in four rounds; each is cut off while some jobs have ended, some run and some wait."""
    rng = random.Random(10 * seed + with_keepers)
    instance.start()
    accepted, missing, lost = [], 0, 0
    for _ in range(4):
        accepted += submit_many(instance, 20, '0.1')
        time.sleep(rng.uniform(0, 0.6))
        ended = {row['job_id']: row['state'] for row in instance.history()}
        kill_all(instance, with_keepers)
        flip_bit(instance.state / LOG, rng.random(), rng.randrange(8))
        instance.start()
        recovery = status(instance)['recovery']
        missing += recovery is not None
        lost += lost_count(recovery)
        history = {row['job_id']: row['state'] for row in instance.history()}
        assert [job for job in ended if job in history and ended[job] != history[job]] == []
        assert len([job for job in accepted if job not in known_jobs(instance)]) <= lost
        assert status(instance)['quarantine'] is None, instance.log()
    finish(instance)
    counts = run_counts(instance)
    assert [job for job, count in counts.items() if count > 1] == [], 'a job ran twice'
    rows = {row['job_id']: row['state'] for row in instance.history()}
    not_run = [job for job in accepted if counts[str(job)] == 0]
    assert [job for job in not_run if rows.get(job, 'lost') not in ('NODE_FAIL', 'lost')] == []
    assert [job for job in accepted if rows.get(job, 'lost') not in ('COMPLETED', 'NODE_FAIL', 'lost')] == []
    if not with_keepers:
        assert 'NODE_FAIL' not in rows.values()
    print('# %d of 4 starts found commits missing; %d accepted jobs lost' % (missing, lost))
    verify(instance)


def test_the_whole_log_is_damaged(instance):
    """Its header: all commits since the last checkpoint are missing. What ran goes on, what ended stays ended, what was
    cancelled stays cancelled, and ids are not used again."""
    instance.start()
    instance.submit('--hold', '-o', '/dev/null', '--', 'true')  # before the checkpoint of the restart
    cancelled = instance.submit('--hold', '-o', '/dev/null', '--', 'true')
    waiting = submit_many(instance, 6, '0.3', '--hold')
    assert instance.stop() == 0
    instance.start()
    instance.ok('release', *waiting)
    instance.ok('cancel', cancelled)
    until(lambda: len(instance.history()) >= 3, 'some ends')
    new = submit_many(instance, 2, '0')
    ended = {row['job_id']: (row['state'], row['start_us'], row['end_us']) for row in instance.history()}
    kill_all(instance, False)
    flip_bit(instance.state / LOG, 0)
    instance.start()
    shown = status(instance)
    assert 'commits of the database are missing' in shown['recovery'] and shown['quarantine'] is None
    assert lost_count(shown['recovery']) == 2 and '%d to %d' % tuple(new) in shown['recovery']
    assert 'commits of the database are missing' in instance.ok('status') and 'commits-missing' in instance.log()
    history = {row['job_id']: (row['state'], row['start_us'], row['end_us']) for row in instance.history()}
    for job in set(ended) - {cancelled, *new}:
        assert history.get(job) == ended[job]
    assert history[cancelled][0] == 'CANCELLED'
    instance.run('release', '--all')  # that they were released is missing, too
    finish(instance)
    counts = run_counts(instance)
    assert set(counts.values()) == {1} and {str(job) for job in waiting} <= set(counts)
    assert instance.submit('-o', '/dev/null', '--', 'true') > new[-1]
    verify(instance)
    instance.stop()
    instance.start()
    assert status(instance)['recovery'] is None


def test_attempts_and_arrays_are_recovered(instance):
    """Tasks of an array, a job that was requeued, and one that could not be started, in commits that are missing."""
    instance.start()
    script = instance.work / 'task.sh'
    script.write_text('#!/bin/sh\necho $FAIRLEAD_JOB_ID.$FAIRLEAD_ARRAY_TASK_ID.$FAIRLEAD_RESTART_COUNT >>ran\n'
                      'test "$FAIRLEAD_RESTART_COUNT" -gt 0 || exit 9\n')
    instance.ok('set', 'requeue_delay_s=0')
    array = instance.submit('--hold', '--array', '0-5%2', '--requeue-exit', '9', '-o', '/dev/null', script)
    missing = instance.submit('--hold', '-o', '/nonexistent/out', '--', 'true')
    instance.stop()
    instance.start()
    instance.ok('release', array, missing)
    until(lambda: len(instance.history()) >= 7, 'some ends')
    ended = sorted((row['job_id'], row['task_id'], row['restarts'], row['state']) for row in instance.history())
    kill_all(instance, False)
    flip_bit(instance.state / LOG, 0)
    instance.start()
    history = sorted((row['job_id'], row['task_id'], row['restarts'], row['state']) for row in instance.history())
    assert [row for row in ended if row not in history] == []
    instance.run('release', '--all')
    finish(instance)
    assert run_counts(instance) == {'%d.%d.%d' % (array, task, attempt): 1 for task in range(6) for attempt in range(2)}
    verify(instance)


def test_an_older_database_in_the_same_directory(instance):
    """The commit log does not reach back to it: what waits in it may have run, so it is held."""
    instance.start()
    waiting = submit_many(instance, 3, '0')
    running = instance.submit('--hold', '-o', '/dev/null', '--', 'sleep', '300')
    finish_three = lambda: len(instance.history()) == 3  # noqa: E731
    until(finish_three, 'the three ends')
    held = instance.submit('--hold', '-o', '/dev/null', '--', 'true')
    instance.stop()
    shutil.copy(instance.state / 'fairlead.db', instance.directory / 'backup.db')
    instance.start()
    instance.ok('release', running, held)
    lost = instance.submit('--hold', '-o', '/dev/null', '--', 'true')
    until(lambda: len(instance.history()) == 4 and instance.running(running), 'the job to run')
    pids = instance.keeper_pids()
    for _ in range(2):
        instance.stop()
        instance.start()
    instance.stop()
    for name in ('fairlead.db', LOG, 'fairlead.db-shm'):
        (instance.state / name).unlink(missing_ok=True)
    shutil.copy(instance.directory / 'backup.db', instance.state / 'fairlead.db')
    instance.start()
    shown = status(instance)
    assert 'are missing' in shown['quarantine'] and shown['quarantined_jobs'] == 2
    assert sorted((row['job_id'], row['held']) for row in instance.queue()) == [(running, True), (held, True)]
    until(lambda: not [pid for pid in pids if pid in instance.keeper_pids()], 'the unknown launch to be ended')
    assert run_counts(instance) == collections.Counter(map(str, waiting))
    instance.ok('cancel', '--all')
    job = instance.submit('-o', '/dev/null', '--', 'true')
    assert job > lost
    finish(instance)
    verify(instance)


def test_a_launch_that_the_database_does_not_know_means_missing_commits(instance):
    """Without the commit log: what waits is held, because it may have run."""
    instance.start()
    ended, running, waiting = (submit_many(instance, 1, seconds, '--hold')[0] for seconds in ('0', '300', '0'))
    instance.stop()
    instance.start()
    instance.ok('release', ended, running)
    until(lambda: len(instance.history()) == 1 and instance.running(running), 'the job to run')
    kill_all(instance, False)
    flip_bit(instance.state / LOG, 0)
    (instance.state / 'commits.log').unlink()
    instance.start()
    until(lambda: status(instance)['quarantine'], 'the quarantine')
    assert 'commits are missing' in status(instance)['quarantine']
    assert [(row['job_id'], row['held']) for row in instance.queue()] == [(job, True) for job in (ended, running, waiting)]
    assert run_counts(instance) == {str(ended): 1, str(running): 1}
    instance.ok('cancel', '--all')


def test_a_damaged_commit_log_matters_only_with_the_other_one(instance):
    instance.start()
    first, second = (submit_many(instance, 4, '0', '--hold') for _ in range(2))
    instance.ok('release', *first)
    until(lambda: len(instance.history()) == 4, 'the ends')
    kill_all(instance, False)
    flip_bit(instance.state / 'commits.log', 0.5)
    instance.start()
    assert (status(instance)['recovery'], status(instance)['quarantine']) == (None, None)
    instance.ok('release', *second[:3])
    until(lambda: len(instance.history()) == 7, 'the ends')
    kill_all(instance, False)
    flip_bit(instance.state / 'commits.log', 0.5)
    flip_bit(instance.state / LOG, 0)
    instance.start()
    assert 'has not all of them' in status(instance)['quarantine']
    assert second[3] in [row['job_id'] for row in instance.queue() if row['held']]
    assert [row['job_id'] for row in instance.queue() if not row['held']] == []
    assert run_counts(instance) == collections.Counter(map(str, first + second[:3]))
    verify(instance)
