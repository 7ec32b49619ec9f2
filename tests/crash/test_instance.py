"""kill -9 of the daemon, the launcher and keepers while jobs run: every accepted job runs once, every end is recorded, and
usage agrees with the records."""
import collections
import contextlib
import os
import pwd
import random
import re
import resource
import shutil
import signal
import sqlite3
import threading
import time

import pytest

from instance import (BUILD, PATIENCE, Instance, find_processes, has_ended, in_time, kill, known, log_line, logged,
                      until)

ME = pwd.getpwuid(os.geteuid()).pw_name


@pytest.fixture
def instance(tmp_path):
    one = Instance(tmp_path, settings=['host_cpus=4', 'grace_s=1'])
    yield one
    one.close()


def run_counts(instance):
    """How often the command of each job ran; each run appends a line to one file."""
    file = instance.work / 'ran'
    return collections.Counter(file.read_text().split()) if file.exists() else collections.Counter()


SCRIPT = '#!/bin/sh\necho "$FAIRLEAD_JOB_ID" >>ran\nsleep %s\n'


def write_script(instance, seconds):
    path = instance.work / 'job.sh'
    path.write_text(SCRIPT % seconds)
    return path


# A job that runs until let_go, followed by its exit status.
UNTIL_GO = 'while ! test -e go; do sleep 0.02; done; exit '


def let_go(instance):
    (instance.work / 'go').touch()


def start_job(instance, *arguments):
    """Submits a job and waits until it runs. It must run long enough to appear in a listing."""
    job = instance.submit(*arguments)
    until(lambda: instance.running(job), 'the job to run')
    return job


def finish(instance):
    """Waits until all jobs have ended, as long as some end. Returns their rows by id."""
    until(lambda: not instance.queue(), 'all jobs to end', progress=lambda: len(instance.history()))
    return {row['job_id']: row for row in instance.history()}


def verify(instance):
    assert 'all agree' in instance.ok('verify')


def kill_again(instance, victim):
    if victim != 'daemon':
        instance.kill_launchers()
    if victim != 'launcher':
        instance.kill()
        instance.start()


@pytest.mark.parametrize('victim', ['daemon', 'launcher', 'both'])
def test_accepted_jobs_run_exactly_once(instance, victim):
    """Clients submit while the victim is killed repeatedly. Each accepted job runs exactly once."""
    instance.start()
    script = write_script(instance, '0.05')
    accepted, stop = [], threading.Event()

    def submitter():
        while not stop.is_set():
            done = instance.run('submit', '--parsable', '--mem', '1', '-o', '/dev/null', script)
            if done.returncode == 0:
                accepted.append(int(done.stdout))
            time.sleep(0.01)  # about as fast as jobs run

    thread = threading.Thread(target=submitter)
    thread.start()
    rng = random.Random(1)
    try:
        for n in range(6):
            until(lambda: len(accepted) >= 2 * n, 'submissions between the kills')
            time.sleep(rng.uniform(0.05, 0.4))
            kill_again(instance, victim)
    finally:
        stop.set()
        thread.join()
    ended = finish(instance)
    counts = run_counts(instance)
    assert len(accepted) >= 10
    assert [job for job in accepted if counts[str(job)] != 1] == []
    assert set(counts.values()) == {1}, 'a job ran twice'
    assert [job for job in accepted if ended.get(job, {}).get('state') != 'COMPLETED'] == []
    verify(instance)


def test_ended_jobs_are_requeued_exactly_once_more(instance):
    """The daemon is killed while an ended job is requeued. What was answered runs once more; what was not runs once more
    or not at all."""
    instance.start()
    instance.ok('set', 'requeue_delay_s=0')
    job = instance.submit('--mem', '1', '-o', '/dev/null', write_script(instance, '0'))
    finish(instance)
    rng, answered = random.Random(2), 0
    for _ in range(8):
        before = run_counts(instance)[str(job)]
        killer = threading.Timer(rng.uniform(0.0, 0.02), instance.kill)
        killer.start()
        done = instance.run('requeue', job)
        killer.join()
        instance.start()
        finish(instance)
        runs = run_counts(instance)[str(job)]
        answered += done.returncode == 0
        assert runs - before in ([1] if done.returncode == 0 else [0, 1]), done
    attempts = [row for row in instance.history() if row['job_id'] == job]
    assert len(attempts) == run_counts(instance)[str(job)]
    assert sorted(row['restarts'] for row in attempts) == list(range(len(attempts)))
    print('# %d of 8 requeues were answered, %d attempts' % (answered, len(attempts)))
    verify(instance)


JOB_OPTIONS = [[], ['-p', 'fast,main', '-q', 'double'], ['-p', 'fast', '--project', 'moon', '--job-share', '7'],
         ['-l', 'license=1', '-q', 'kept'], ['-l', 'license=1,disk=0.5', '--slots', '1-2', '--override-tickets', '5'],
         ['--array', '0-2%2', '-l', 'license=1', '-p', 'main,fast'], ['--begin', 'now+1second', '--project', 'moon'],
         ['--hold', '--priority', '-3'], ['--deadline', 'now+1hour', '--nice=9', '--set-priority', '8']]
CHANGES = [['set', 'PriorityType=priority/tickets'], ['set', 'PriorityType=priority/multifactor'],
           ['set', 'halflife_s=3'], ['set', 'halflife_s=604800', 'halftime=1'], ['set', 'halftime=168'],
           ['qos', 'modify', 'kept', 'flags='], ['qos', 'modify', 'kept', 'flags=NoDecay'],
           ['qos', 'modify', 'double', 'usage_factor=0'], ['qos', 'modify', 'double', 'usage_factor=2'],
           ['partition', 'modify', 'fast', 'TRESBillingWeights=CPU=-1,Mem=0.5G'],
           ['partition', 'modify', 'fast', 'TRESBillingWeights=CPU=3'], ['release', '--all'],
           ['user', 'modify', ME, 'fshare=9'], ['set', 'PriorityType=priority/basic']]
TASK = """#!/bin/sh
echo "$FAIRLEAD_JOB_ID.${FAIRLEAD_ARRAY_TASK_ID:-None}.$FAIRLEAD_CPUS" >>ran
sleep 0.03
"""


def add_objects(instance):
    instance.ok('partition', 'add', 'fast', 'PriorityTier=2', 'TRESBillingWeights=CPU=2')
    instance.ok('qos', 'add', 'double', 'usage_factor=2')
    instance.ok('qos', 'add', 'kept', 'flags=NoDecay')
    instance.ok('project', 'add', 'moon', 'fshare=5')
    instance.ok('resource', 'add', 'license', 'amount=2')
    instance.ok('resource', 'add', 'disk', 'type=DOUBLE', 'amount=1')
    instance.ok('set', 'weight_tickets_share=1000', 'weight_tickets_functional=1000', 'auto_user_fshare=1',
                'AccountingStorageTRES=license/license')


class Traffic:
    """Threads that submit jobs and change policies, until end()."""

    def __init__(self, instance, script):
        self.accepted = {}  # job -> its options
        self.stop = threading.Event()
        self.threads = [threading.Thread(target=self.submit, args=(instance, script)),
                        threading.Thread(target=self.change, args=(instance,))]
        for thread in self.threads:
            thread.start()

    def submit(self, instance, script):
        rng = random.Random(2)
        while not self.stop.is_set():
            options = rng.choice(JOB_OPTIONS)
            done = instance.run('submit', '--parsable', '--mem', '1', '-o', '/dev/null', *options, script)
            if done.returncode == 0:
                self.accepted[int(done.stdout)] = options
            time.sleep(0.02)

    def change(self, instance):
        rng = random.Random(3)
        while not self.stop.is_set():
            instance.run(*rng.choice(CHANGES))
            time.sleep(0.05)

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join()


def cpu_count(row):
    """The number of CPUs in cpu_ids: '0-1,3' are 3."""
    ranges = [part.split('-') for part in row['cpu_ids'].split(',')]
    return sum(int(part[-1]) - int(part[0]) + 1 for part in ranges)


def max_sum(tasks):
    """The largest sum of amounts at any time; tasks: (start, end, amount)."""
    changes = sorted(change for start, end, amount in tasks for change in ((start, amount), (end, -amount)))
    largest = total = 0
    for _, amount in changes:
        total += amount
        largest = max(largest, total)
    return largest


@pytest.mark.parametrize('victim', ['daemon', 'launcher', 'both'])
def test_jobs_with_all_policy_fields_run_exactly_once(instance, victim):
    """Jobs have all the fields that policies use, and the policies change. No job is lost, runs twice, starts before its
    begin, or uses more than its resource has; after each kill, usage agrees with the records."""
    instance.start()
    add_objects(instance)
    script = instance.work / 'job.sh'
    script.write_text(TASK)
    traffic = Traffic(instance, script)
    rng = random.Random(4)
    try:
        for n in range(8):
            until(lambda: len(traffic.accepted) >= 2 * n, 'submissions between the kills')
            time.sleep(rng.uniform(0.1, 0.5))
            kill_again(instance, victim)
            verify(instance)
    finally:
        traffic.end()
    instance.ok('release', '--all')
    finish(instance)
    check_history(traffic.accepted, instance)
    verify(instance)


def check_history(accepted, instance):
    ended = collections.defaultdict(list)
    for row in instance.history():
        ended[row['job_id']].append(row)
    assert len(accepted) >= 10
    for job, options in accepted.items():
        rows = ended[job]
        assert [row['state'] for row in rows] == ['COMPLETED'] * (3 if '--array' in options else 1), rows
        given = dict(zip(options[::2], options[1::2]))
        for row in rows:
            assert row['partition'] in given.get('-p', 'main').split(',')
            assert (row['qos'], row['project']) == (given.get('-q', 'normal'), given.get('--project', ''))
            assert row['requests'] == given.get('-l', '')
            assert row['begin_us'] is None or row['start_us'] >= row['begin_us']
    rows = [row for rows in ended.values() for row in rows]
    assert run_counts(instance) == collections.Counter('%s.%s.%d' % (row['job_id'], row['task_id'], cpu_count(row))
                                                       for row in rows)
    assert max_sum([(row['start_us'], row['end_us'], cpu_count(row)) for row in rows if 'license' in row['requests']]) <= 2


def test_jobs_outlive_daemon_and_launcher(instance):
    """The job ends while neither runs. Afterwards the daemon has its exit status and its times."""
    instance.start()
    job = start_job(instance, '--', 'sh', '-c', UNTIL_GO + '7')
    instance.kill()
    instance.kill_launchers()
    let_go_us = time.time() * 1e6
    let_go(instance)
    until(lambda: has_ended(instance.state), 'the end record')
    ended_us = time.time() * 1e6
    time.sleep(1)
    instance.start()
    row = finish(instance)[job]
    assert (row['state'], row['exit_status']) == ('FAILED', 7)
    assert row['start_us'] < let_go_us < row['end_us'] < ended_us
    verify(instance)


def test_the_time_limit_is_enforced_without_daemon_and_launcher(instance):
    def attempt(seconds):
        limit_s = round(2 * seconds)
        instance.start()
        job = instance.submit('-t', '%d:%02d' % divmod(limit_s, 60), '--', 'sleep', '300')
        until(lambda: instance.queue() == [] or instance.running(job), 'the job to run')
        instance.kill()
        instance.kill_launchers()
        was_early = instance.keeper_pids() != []
        until(lambda: not instance.keeper_pids(), 'the keeper to end the job', PATIENCE + limit_s)
        ended_us = time.time() * 1e6
        instance.start()
        row = finish(instance)[job]
        assert row['state'] == 'TIMEOUT'
        assert row['start_us'] + limit_s * 1e6 <= row['end_us'] < ended_us
        instance.stop()
        return was_early

    in_time(attempt)


def test_a_job_without_its_keeper_is_node_fail(instance):
    """The end of the job is unknown: it is NODE_FAIL, its processes are killed, and its CPUs are free."""
    instance.start()
    command = 'sleep 86%d.5' % os.getpid()
    job = instance.submit('-n', '4', '--', 'sh', '-c', '%s & %s' % (command, command))
    until(lambda: len(find_processes(command.replace(' ', '\0'))) == 2, 'the job to run')
    for pid in instance.keeper_pids():
        kill(pid)
    row = finish(instance)[job]
    assert row['state'] == 'NODE_FAIL'
    assert 'keeper' in row['detail']
    assert find_processes(command.replace(' ', '\0')) == []
    instance.ok('submit', '-n', '4', '--wait', '--', 'true')
    verify(instance)


def test_an_answered_end_is_kept(instance):
    """An end is reported before it is synced. All programs are killed right after the answer with the end."""
    instance.start()
    for status in range(1, 9):
        done = instance.run('submit', '--wait', '-o', '/dev/null', '--', 'sh', '-c', 'exit %d' % status)
        instance.kill()
        for pid in instance.launcher_pids() + instance.keeper_pids():
            kill(pid)
        assert done.returncode == status, done
        instance.start()
        newest = max(instance.history(), key=lambda row: row['job_id'])
        assert (newest['job_id'], newest['state'], newest['exit_status']) == (status, 'FAILED', status)
        assert not instance.queue()
    until(lambda: not known(instance.state), 'the launches to be forgotten')
    verify(instance)


def test_a_reappeared_start_record_changes_nothing(instance):
    """A segment of the log is removed without a sync. After a power failure its records may be there again, from an earlier
    boot and without the end, which only the database has."""
    instance.start()
    job = instance.submit('-o', '/dev/null', '--', 'sh', '-c', UNTIL_GO + '7')
    (launch_id,) = until(lambda: [i for i, launch in logged(instance.state).items() if launch.records], 'the record')
    launch = logged(instance.state)[launch_id]
    let_go(instance)
    first_row = finish(instance)[job]
    until(lambda: not known(instance.state), 'the launch to be forgotten')
    instance.kill()
    instance.kill_launchers()
    until(lambda: not instance.launcher_pids(), 'the launcher to be gone')
    for segment in instance.state.glob('launches/*.log'):
        segment.unlink()
    lines = [{**launch.start, 'boot_id': 'another'}, launch.records['started']]
    text = ''.join(log_line(BUILD, ''.join('%s=%s\n' % field for field in line.items())) for line in lines)
    (instance.state / 'launches/7.log').write_text(text)
    instance.start()
    until(lambda: not known(instance.state), 'the launch to be forgotten again')
    assert (first_row['state'], first_row['exit_status']) == ('FAILED', 7)
    assert finish(instance)[job] == first_row
    verify(instance)


def test_sigterm_leaves_jobs_running(instance):
    instance.start()
    job = start_job(instance, '--', 'sh', '-c', UNTIL_GO + '0')
    assert instance.stop() == 0
    assert instance.keeper_pids() != []
    let_go(instance)
    instance.start()
    assert finish(instance)[job]['state'] == 'COMPLETED'


def test_an_array_is_continued(instance):
    """The daemon is killed in the middle of an array: every task runs once, and the array limit holds."""
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
    assert run_counts(instance) == collections.Counter({str(task): 1 for task in range(40)})
    verify(instance)


def test_an_answered_cancellation_is_kept(instance):
    """It takes effect even if the daemon is killed right after its answer."""
    instance.start()
    job = start_job(instance, '--', 'sleep', '300')
    instance.ok('cancel', job)
    instance.kill()
    instance.start()
    assert finish(instance)[job]['state'] == 'CANCELLED'


def test_failed_commits_are_retried_slowly(instance):
    """While an end cannot be committed, as on a full disk, the daemon retries, but at most twice a second."""
    instance.start()
    job = start_job(instance, '-o', '/dev/null', '--', 'sh', '-c', UNTIL_GO + '0')
    database = sqlite3.connect(instance.state / 'fairlead.db', isolation_level=None, timeout=PATIENCE)
    database.execute("CREATE TRIGGER full BEFORE UPDATE ON task BEGIN SELECT RAISE(ABORT, 'full'); END")
    begin = time.monotonic()
    let_go(instance)

    def failures():
        return (instance.directory / 'daemon.log').read_text().count('commit-failed')

    until(lambda: failures() >= 3, 'commits to fail')
    time.sleep(2)
    assert failures() <= 2 * (2 + time.monotonic() - begin), 'more than two a second'
    database.execute('DROP TRIGGER full')
    database.close()
    assert finish(instance)[job]['state'] == 'COMPLETED'
    verify(instance)


def test_without_a_launcher_jobs_wait(instance, tmp_path, monkeypatch):
    """Their state is PENDING, so they can be cancelled. They start when there is a launcher again."""
    programs = tmp_path / 'bin'
    programs.mkdir()
    for name in ('fairleadd', 'fairlead-launcher'):
        shutil.copy(BUILD / name, programs)
    monkeypatch.setattr('instance.DAEMON', programs / 'fairleadd')
    instance.start()
    (programs / 'fairlead-launcher').rename(programs / 'away')
    instance.kill_launchers()
    until(lambda: 'launcher-unreachable' in instance.log(), 'the launcher to be missed')
    cancelled = instance.submit('-o', '/dev/null', '--', 'true')
    job = instance.submit('-o', '/dev/null', '--', 'true')
    assert [row['state'] for row in instance.queue()] == ['PENDING', 'PENDING']
    instance.ok('cancel', cancelled)
    assert [row['job_id'] for row in instance.queue()] == [job]
    (programs / 'away').rename(programs / 'fairlead-launcher')
    ended = finish(instance)
    assert (ended[cancelled]['state'], ended[job]['state']) == ('CANCELLED', 'COMPLETED')


@pytest.mark.skipif(os.geteuid() != 0, reason='only root can change to any group')
def test_a_client_may_be_in_any_group(instance):
    """For example after newgrp. Jobs run in the instance's group, because its launcher cannot give them another one."""
    instance.start()
    instance.ok('submit', '--wait', '-o', 'group', '--', 'id', '-g', group=65534)
    assert int((instance.work / 'group').read_text()) == os.getegid()


def test_an_unreadable_state_ends_the_daemon(instance):
    """The database is changed to hold an impossible value: the daemon logs it and exits with 1, and jobs go on."""
    instance.start()
    job = start_job(instance, '-o', '/dev/null', '--', 'sh', '-c', UNTIL_GO + '0')

    def negate():
        with contextlib.closing(sqlite3.connect(instance.state / 'fairlead.db', timeout=PATIENCE)) as database, database:
            database.execute('UPDATE counters SET next_job_id = -next_job_id')

    negate()
    done = instance.run('submit', '--', 'true')
    assert done.returncode != 0 and 'nothing was changed' in done.stderr
    assert instance.daemon.wait(PATIENCE) == 1
    assert 'load-failed' in instance.log() and 'out of range' in instance.log()
    negate()
    let_go(instance)
    instance.start()
    assert finish(instance)[job]['state'] == 'COMPLETED'


def test_a_clock_that_was_ahead(instance):
    """After the clock was a century ahead in an earlier boot and was corrected: jobs run, and usage agrees with the records."""
    instance.start()
    instance.ok('submit', '--wait', '-o', '/dev/null', '--', 'sleep', '0.2')
    assert instance.stop() == 0
    century = 100 * 365 * 86400 * 1000000
    with sqlite3.connect(instance.state / 'fairlead.db') as database:
        for table, columns in (('counters', ('reference_us', 'last_commit_us')), ('usage_journal', ('at_us',)),
                               ('task', ('launch_us', 'start_us', 'charged_us', 'end_us'))):
            for column in columns:
                database.execute('UPDATE %s SET %s = %s + %d' % (table, column, column, century))
        database.execute("UPDATE counters SET boot_id = 'another'")
    instance.start()
    assert 'kind=GAP by=-3153' in instance.log()
    instance.ok('submit', '--wait', '-o', '/dev/null', '--', 'sleep', '0.2')
    instance.ok('set', 'halflife_s=3600')
    instance.ok('share')
    verify(instance)


def test_a_limit_of_file_size_is_like_a_full_disk(instance):
    """ulimit -f: a submission that cannot be written is refused, no program is killed, and later ones are accepted."""
    instance.start()
    hard_limit = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    large = instance.work / 'large.sh'
    large.write_text('#!/bin/sh\n#' + 'x' * 100000 + '\n')
    resource.prlimit(instance.daemon.pid, resource.RLIMIT_FSIZE, (50000, hard_limit))
    done = instance.run('submit', '--hold', large)
    assert done.returncode == 1 and 'nothing was changed' in done.stderr
    assert instance.daemon.poll() is None
    resource.prlimit(instance.daemon.pid, resource.RLIMIT_FSIZE, (hard_limit, hard_limit))
    instance.ok('submit', '--hold', large)
    # The daemon ignores SIGXFSZ; a job does not.
    job = instance.submit('-o', '/dev/null', '--', 'sh', '-c', 'kill -XFSZ $$')
    until(lambda: job in {row['job_id'] for row in instance.history()}, 'the job to end')
    assert {row['job_id']: row['signal'] for row in instance.history()}[job] == signal.SIGXFSZ


def test_a_job_without_its_records_is_node_fail(instance):
    """The record log is deleted while a job runs, and the launcher is killed: the job's end cannot be known, and its CPUs are
    free."""
    instance.start()
    job = start_job(instance, '-o', '/dev/null', '--', 'sh', '-c', UNTIL_GO + '0')
    shutil.rmtree(instance.state / 'launches')
    instance.kill_launchers()
    row = finish(instance)[job]
    let_go(instance)
    assert row['state'] == 'NODE_FAIL' and 'unknown' in row['detail']
    until(lambda: not instance.keeper_pids(), 'the keeper to end')
    verify(instance)


def test_a_job_whose_records_are_deleted_ends(instance):
    """The launcher and the keeper have the deleted log open."""
    instance.start()
    job = start_job(instance, '-o', '/dev/null', '--', 'sh', '-c', UNTIL_GO + '7')
    shutil.rmtree(instance.state / 'launches')
    let_go(instance)
    assert (finish(instance)[job]['state'], finish(instance)[job]['exit_status']) == ('FAILED', 7)
    verify(instance)


@pytest.mark.parametrize('is_stopped', [False, True])
@pytest.mark.parametrize('victims', ['launcher', 'launcher and daemon'])
def test_a_job_without_its_records_never_runs_beside_its_next_attempt(instance, victims, is_stopped):
    """The record log is deleted while a job that may be requeued runs, and the launcher is killed. The next launcher finds the
    keeper, because it has the state directory open, and ends the job before the next attempt starts."""
    instance.start()
    instance.ok('set', 'requeue_delay_s=0')
    script = instance.work / 'job.sh'
    # Also a process that has left the job's session.
    script.write_text('#!/bin/sh\ntrap "" TERM\nme=$FAIRLEAD_RESTART_COUNT\nsetsid sh -c "while sleep 0.05; do echo $me >>alive; done" &\n'
                      'echo $me >>began\nwhile ! test -e go; do sleep 0.02; done\necho $me >>ended\n')
    job = start_job(instance, '--requeue', '-o', '/dev/null', script)
    until((instance.work / 'alive').exists, 'the job to be under way')
    if is_stopped:
        for pid in instance.keeper_pids():
            kill(pid, signal.SIGSTOP)
    if victims != 'launcher':
        instance.kill()
    shutil.rmtree(instance.state / 'launches')
    instance.kill_launchers()
    if victims != 'launcher':
        instance.start()
    until(lambda: len((instance.work / 'began').read_text().split()) == 2, 'the second attempt')
    (instance.work / 'alive').unlink(missing_ok=True)
    until(lambda: (instance.work / 'alive').exists() and len((instance.work / 'alive').read_text().split()) > 5, 'signs of life')
    assert set((instance.work / 'alive').read_text().split()) == {'1'}
    assert len(instance.keeper_pids()) == 1
    let_go(instance)
    until(lambda: not instance.queue(), 'the job to end')
    assert (instance.work / 'ended').read_text().split() == ['1']
    assert [row['state'] for row in instance.history() if row['job_id'] == job] == ['REQUEUED', 'COMPLETED']
    verify(instance)
