"""kill -9 of the daemon, the launcher and keepers while jobs run: no accepted job is lost, none runs twice, no end is
forgotten, and usage still agrees with the records."""
import collections
import os
import random
import resource
import shutil
import signal
import sqlite3
import threading
import time

import pytest

from instance import BUILD, Instance, processes_with, until


@pytest.fixture
def instance(tmp_path):
    one = Instance(tmp_path, settings=['host_cpus=4', 'grace_s=1'])
    yield one
    one.close()


def ran(instance):
    """How often each job's command ran: each appends its id to one file."""
    file = instance.work / 'ran'
    return collections.Counter(file.read_text().split()) if file.exists() else collections.Counter()


SCRIPT = '#!/bin/sh\necho "$FAIRLEAD_JOB_ID" >>ran\nsleep %s\n'


def write_script(instance, seconds):
    path = instance.work / 'job.sh'
    path.write_text(SCRIPT % seconds)
    return path


def finish(instance):
    until(lambda: not instance.queue(), 'all jobs to end')
    return {row['job_id']: row for row in instance.history()}


def verify(instance):
    assert 'all agree' in instance.ok('verify')


@pytest.mark.parametrize('victim', ['daemon', 'launcher', 'both'])
def test_what_was_accepted_runs_exactly_once(instance, victim):
    """Submissions go on while the victim is killed again and again; each one answered has to run, and once."""
    instance.start()
    script = write_script(instance, '0.05')
    accepted, stop = [], threading.Event()

    def submitter():
        while not stop.is_set():
            done = instance.run('submit', '--parsable', '--mem', '1', '-o', '/dev/null', script)
            if done.returncode == 0:
                accepted.append(int(done.stdout))
            else:
                time.sleep(0.02)

    thread = threading.Thread(target=submitter)
    thread.start()
    chance = random.Random(1)
    try:
        for _ in range(6):
            time.sleep(chance.uniform(0.05, 0.4))
            if victim != 'daemon':
                for pid in instance.launcher_pids():
                    os.kill(pid, signal.SIGKILL)
            if victim != 'launcher':
                instance.kill()
                instance.start()
    finally:
        stop.set()
        thread.join()
    ended = finish(instance)
    counts = ran(instance)
    assert len(accepted) >= 10
    assert [job for job in accepted if counts[str(job)] != 1] == []
    assert set(counts.values()) == {1}, 'a job ran twice'
    assert [job for job in accepted if ended.get(job, {}).get('state') != 'COMPLETED'] == []
    verify(instance)


def test_jobs_outlive_daemon_and_launcher(instance):
    """Both are dead while the job ends; its end is known afterwards, with its status and its times."""
    instance.start()
    job = instance.submit('--', 'sh', '-c', 'sleep 1; exit 7')
    until(lambda: instance.queue()[0]['state'] == 'RUNNING', 'the job to run')
    instance.kill()
    for pid in instance.launcher_pids():
        os.kill(pid, signal.SIGKILL)
    time.sleep(2)
    instance.start()
    row = finish(instance)[job]
    assert (row['state'], row['exit_status']) == ('FAILED', 7)
    assert 0.9e6 < row['end_us'] - row['start_us'] < 1.9e6
    verify(instance)


def test_the_time_limit_holds_without_daemon_and_launcher(instance):
    instance.start()
    job = instance.submit('-t', '0:01', '--', 'sleep', '300')
    until(lambda: instance.queue()[0]['state'] == 'RUNNING', 'the job to run')
    instance.kill()
    for pid in instance.launcher_pids():
        os.kill(pid, signal.SIGKILL)
    until(lambda: not instance.keeper_pids(), 'the keeper to end the job')
    instance.start()
    row = finish(instance)[job]
    assert row['state'] == 'TIMEOUT'
    assert row['end_us'] - row['start_us'] < 10e6


def test_a_killed_keeper_is_said_plainly(instance):
    """Its end cannot be known: NODE_FAIL, nothing of it runs on, and its CPUs are free for others."""
    instance.start()
    mark = 'sleep 86%d' % os.getpid()
    job = instance.submit('-n', '4', '--', 'sh', '-c', '%s & %s' % (mark, mark))
    until(lambda: len(processes_with(mark.replace(' ', '\0'))) == 2, 'the job to run')
    for pid in instance.keeper_pids():
        os.kill(pid, signal.SIGKILL)
    row = finish(instance)[job]
    assert row['state'] == 'NODE_FAIL'
    assert 'keeper' in row['detail']
    assert processes_with(mark.replace(' ', '\0')) == []
    instance.ok('submit', '-n', '4', '--wait', '--', 'true')
    verify(instance)


def test_sigterm_leaves_jobs_running(instance):
    instance.start()
    job = instance.submit('--', 'sleep', '1')
    until(lambda: instance.queue()[0]['state'] == 'RUNNING', 'the job to run')
    assert instance.stop() == 0
    assert instance.keeper_pids() != []
    instance.start()
    assert finish(instance)[job]['state'] == 'COMPLETED'


def test_an_array_keeps_its_place(instance):
    """Killed in the middle of an array: every task runs once, the limit holds."""
    instance.start()
    script = instance.work / 'task.sh'
    script.write_text('#!/bin/sh\necho "$FAIRLEAD_ARRAY_TASK_ID" >>ran\nsleep 0.1\n')
    instance.submit('--array', '0-39%3', '-o', '/dev/null', script)
    for _ in range(4):
        time.sleep(0.25)
        assert len([row for row in instance.queue() if row['state'] == 'RUNNING']) <= 3
        instance.kill()
        instance.start()
    finish(instance)
    assert ran(instance) == collections.Counter({str(task): 1 for task in range(40)})
    verify(instance)


def test_cancel_is_not_forgotten(instance):
    """A cancellation that was answered takes effect even if the daemon dies right after it."""
    instance.start()
    job = instance.submit('--', 'sleep', '300')
    until(lambda: instance.queue()[0]['state'] == 'RUNNING', 'the job to run')
    instance.ok('cancel', job)
    instance.kill()
    instance.start()
    assert finish(instance)[job]['state'] == 'CANCELLED'


def test_ends_that_cannot_be_written_are_asked_for_in_peace(instance):
    """A full disk, say: the end is asked for again and again, but neither the processor nor the log is kept busy."""
    instance.start()
    job = instance.submit('-o', '/dev/null', '--', 'sleep', '1')
    until(lambda: instance.queue()[0]['state'] == 'RUNNING', 'the job to run')
    database = sqlite3.connect(instance.state / 'fairlead.db', isolation_level=None)
    database.execute("CREATE TRIGGER full BEFORE UPDATE ON task BEGIN SELECT RAISE(ABORT, 'full'); END")
    until(lambda: 'full' in instance.log(), 'a commit to fail')
    time.sleep(3)
    assert 2 <= (instance.place / 'daemon.log').read_text().count('commit-failed') <= 8
    database.execute('DROP TRIGGER full')
    database.close()
    assert finish(instance)[job]['state'] == 'COMPLETED'
    verify(instance)


def test_without_a_launcher_jobs_wait(instance, tmp_path, monkeypatch):
    """What cannot be started is not said to start, can be cancelled, and starts when there is a launcher again."""
    programs = tmp_path / 'bin'
    programs.mkdir()
    for name in ('fairleadd', 'fairlead-launcher'):
        shutil.copy(BUILD / name, programs)
    monkeypatch.setattr('instance.DAEMON', programs / 'fairleadd')
    instance.start()
    (programs / 'fairlead-launcher').rename(programs / 'away')
    for pid in instance.launcher_pids():
        os.kill(pid, signal.SIGKILL)
    until(lambda: 'launcher-unreachable' in instance.log(), 'the launcher to be missed')
    cancelled = instance.submit('-o', '/dev/null', '--', 'true')
    job = instance.submit('-o', '/dev/null', '--', 'true')
    assert [row['state'] for row in instance.queue()] == ['PENDING', 'PENDING']
    instance.ok('cancel', cancelled)
    assert [row['job_id'] for row in instance.queue()] == [job]
    (programs / 'away').rename(programs / 'fairlead-launcher')
    ended = finish(instance)
    assert (ended[cancelled]['state'], ended[job]['state']) == ('CANCELLED', 'COMPLETED')


@pytest.mark.skipif(os.geteuid() != 0, reason='only root can ask from a group that is not its own')
def test_a_person_may_ask_from_any_group(instance):
    """After newgrp, say: jobs run in the instance's group, the only one its launcher can give them."""
    instance.start()
    instance.ok('submit', '--wait', '-o', 'group', '--', 'id', '-g', group=65534)
    assert int((instance.work / 'group').read_text()) == os.getegid()


def test_a_state_that_cannot_be_read_any_more_ends_the_daemon(instance):
    """Its rows were changed into ones that cannot be: it says so, fails, and the jobs run on."""
    instance.start()
    job = instance.submit('-o', '/dev/null', '--', 'sleep', '2')
    until(lambda: instance.queue()[0]['state'] == 'RUNNING', 'the job to run')
    with sqlite3.connect(instance.state / 'fairlead.db') as database:
        database.execute('UPDATE counters SET next_job_id = -next_job_id')
    done = instance.run('submit', '--', 'true')
    assert done.returncode != 0 and 'nothing was changed' in done.stderr
    assert instance.daemon.wait(10) == 1
    assert 'load-failed' in instance.log() and 'out of range' in instance.log()
    with sqlite3.connect(instance.state / 'fairlead.db') as database:
        database.execute('UPDATE counters SET next_job_id = -next_job_id')
    instance.start()
    assert finish(instance)[job]['state'] == 'COMPLETED'


def test_a_clock_that_was_ahead(instance):
    """A century, say, until somebody noticed: the daemon starts, jobs run, and usage agrees with the records."""
    instance.start()
    instance.ok('submit', '--wait', '-o', '/dev/null', '--', 'sleep', '0.2')
    assert instance.stop() == 0
    century = 100 * 365 * 86400 * 1000000
    with sqlite3.connect(instance.state / 'fairlead.db') as database:
        for table, columns in (('counters', ('reference_us', 'last_commit_us')), ('journal', ('at_us',)),
                               ('task', ('launch_us', 'start_us', 'charged_us', 'end_us'))):
            for column in columns:
                database.execute('UPDATE %s SET %s = %s + %d' % (table, column, column, century))
    instance.start()
    assert 'clock-behind' in instance.log()
    instance.ok('submit', '--wait', '-o', '/dev/null', '--', 'sleep', '0.2')
    instance.ok('set', 'halflife_s=3600')
    instance.ok('share')
    verify(instance)


def test_a_limit_of_file_size_is_a_full_disk(instance):
    """ulimit -f: what cannot be written is refused, nobody is killed, and it goes on when there is room again."""
    instance.start()
    none = resource.RLIM_INFINITY
    large = instance.work / 'large.sh'
    large.write_text('#!/bin/sh\n#' + 'x' * 100000 + '\n')
    resource.prlimit(instance.daemon.pid, resource.RLIMIT_FSIZE, (50000, none))
    done = instance.run('submit', '--hold', large)
    assert done.returncode == 1 and 'nothing was changed' in done.stderr
    assert instance.daemon.poll() is None
    resource.prlimit(instance.daemon.pid, resource.RLIMIT_FSIZE, (none, none))
    instance.ok('submit', '--hold', large)
    # The signal is the job's again.
    job = instance.submit('-o', '/dev/null', '--', 'sh', '-c', 'kill -XFSZ $$')
    until(lambda: job in {row['job_id'] for row in instance.history()}, 'the job to end')
    assert {row['job_id']: row['signal'] for row in instance.history()}[job] == signal.SIGXFSZ


def test_removed_records_are_said_plainly(instance):
    """Somebody deletes the launches' directories: what ran there has ended, however, and its CPUs are free."""
    instance.start()
    job = instance.submit('-o', '/dev/null', '--', 'sleep', '1')
    until(lambda: instance.queue()[0]['state'] == 'RUNNING', 'the job to run')
    shutil.rmtree(instance.state / 'launches')
    row = finish(instance)[job]
    assert row['state'] == 'NODE_FAIL' and 'removed' in row['detail']
    verify(instance)
