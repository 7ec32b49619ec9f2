"""Jobs that are suspended and resumed: their processes, their states, their time limits, their usage, after crashes too; and
signals to jobs."""
import os
import pathlib
import signal
import sqlite3
import time

import pytest
from conftest import until
from test_backup import restored

COUNT = 'i=0; while :; do i=$((i+1)); echo $i > count; sleep 0.02; done'
# A job whose processes fork all the time, in sessions of their own, and continue each other.
RESTLESS = ('for n in 1 2 3; do setsid sh -c "while :; do (echo x >> grown; kill -CONT 0) ; sleep 0.01; done" & done; '
            'while :; do kill -CONT 0; sleep 0.01; done')


def start(instance, *options, script=COUNT, file='count'):
    job = instance.submit(*options, '--', 'sh', '-c', script)
    instance.until_state(job, 'RUNNING')
    until(lambda: (instance.work / file).exists() and (instance.work / file).read_text(), 'the job to work')
    return job


def named(instance, name):
    return [pid for pid in instance.processes() if pathlib.Path('/proc/%d/comm' % pid).read_text() == name + '\n']


def size(path):
    return path.read_text() if path.exists() else ''


def is_still(path):
    before = size(path)
    time.sleep(0.3)
    return size(path) == before


def assert_stops(path):
    """Also with SIGSTOP, which takes some rounds."""
    until(lambda: is_still(path), 'the job to stop')
    assert is_still(path)


def assert_moves(path):
    before = size(path)
    until(lambda: size(path) != before, 'the job to run')


def enforced(instance):
    return {row['resource']: row for row in instance.json('status')['enforcement']}['suspend']


def tree_follows(instance, job, state):
    """The state is in the database, and the processes do what it says."""
    assert instance.job(job)['state'] == state
    (assert_stops if state == 'SUSPENDED' else assert_moves)(instance.work / 'count')


def test_a_suspended_job_stands_still_and_runs_on(instance):
    job = start(instance)
    assert instance.good('suspend', job) == 'Suspended 1 job\n'
    tree_follows(instance, job, 'SUSPENDED')
    row = instance.job(job)
    assert row['suspended_from_us'] >= row['start_us'] and row['suspended_us'] == 0
    assert instance.rows('queue')[0]['state'] == 'SUSPENDED'
    assert instance.json('status')['tasks']['suspended'] == 1
    assert instance.good('suspend', job) == 'No jobs to suspend\n'
    assert instance.good('resume', job) == 'Resumed 1 job\n'
    tree_follows(instance, job, 'RUNNING')
    row = instance.job(job)
    assert row['suspended_from_us'] is None and row['suspended_us'] >= 300000
    instance.good('cancel', job)
    instance.until_state(job, 'CANCELLED')
    assert 'all agree' in instance.good('verify')


def test_what_cannot_be_suspended_is_refused(instance):
    job = start(instance)
    waiting = instance.submit('--hold', '--', 'true')
    for words, expected in ((['suspend', waiting], 'job %d is pending; only a running job can be suspended' % waiting),
                            (['resume', waiting], 'job %d is pending; only a running job can be suspended and resumed' % waiting),
                            (['resume', job], 'job %d is not suspended' % job),
                            (['signal', 'USR1', waiting], 'job %d is pending; only a running job can be signalled' % waiting),
                            (['suspend', 999], 'no job 999')):
        result = instance.run(*words)
        assert result.status == 2 and result.out == '', result
        assert result.err.startswith('fairlead %s: ' % words[0]) and expected in result.err, result
    instance.good('suspend', job)
    assert 'is suspended; resume it first, or cancel it' in instance.run('signal', 'USR1', job).err
    assert instance.run('suspend', '--state', 'pending').status == 2


def test_selections_and_dry_runs(instance):
    job = start(instance, '-J', 'one')
    array = instance.submit('-a', '1-2', '-J', 'two', '--', 'sleep', '60')
    until(lambda: [row['state'] for row in instance.json('show', 'job', array)] == ['RUNNING'] * 2, 'the array to start')
    assert instance.good('suspend', '-J', 'two', '--dry-run') == 'Would suspend 1 job\n  %d\n' % array
    assert instance.good('suspend', '%d_[2]' % array) == 'Suspended 1 task\n'
    assert [row['state'] for row in instance.json('show', 'job', array)] == ['RUNNING', 'SUSPENDED']
    assert instance.good('suspend', '-J', 'two') == 'Suspended 1 job\n'
    assert instance.good('resume', '--all', '--dry-run') == 'Would resume 1 job\n  %d\n' % array
    assert instance.good('cancel', '--state', 'suspended') == 'Cancelled 1 job\n'
    until(lambda: len(instance.rows('queue')) == 1, 'the array to end')
    assert instance.job(job)['state'] == 'RUNNING'


def test_a_suspended_job_that_is_cancelled_ends_at_once(instance):
    instance.good('set', 'grace_s=60')
    job = start(instance, script='trap "echo term > term; exit 0" TERM; ' + COUNT)
    instance.good('suspend', job)
    assert_stops(instance.work / 'count')
    instance.good('cancel', job)
    instance.until_state(job, 'CANCELLED')
    assert (instance.work / 'term').read_text() == 'term\n'
    again = start(instance, '--requeue')
    instance.good('set', 'requeue_delay_s=0')
    instance.good('suspend', again)
    instance.good('requeue', again)
    until(lambda: [row['state'] for row in instance.json('show', 'job', again)] == ['REQUEUED', 'RUNNING'], 'its second attempt')
    assert 'all agree' in instance.good('verify')


def test_the_time_limit_stands_still(instance):
    job = start(instance, '-t', '0:03')
    instance.good('suspend', job)
    time.sleep(4)
    tree_follows(instance, job, 'SUSPENDED')
    instance.good('resume', job)
    tree_follows(instance, job, 'RUNNING')
    instance.until_state(job, 'TIMEOUT')
    row = instance.job(job)
    run_us = row['end_us'] - row['start_us'] - row['suspended_us']
    assert row['suspended_us'] >= 4000000 and 3000000 <= run_us < 3000000 + row['suspended_us'], row


@pytest.mark.parametrize('killed', ['daemon', 'launcher', 'both'])
def test_the_processes_follow_the_database_after_a_crash(instance, killed):
    job = start(instance)
    for verb, state in (('suspend', 'SUSPENDED'), ('resume', 'RUNNING')):
        instance.good(verb, job)
        if killed != 'launcher':
            instance.kill()
        if killed != 'daemon':
            instance.kill_launchers()
        if killed != 'launcher':
            instance.start()
        tree_follows(instance, job, state)
    instance.good('cancel', job)
    instance.until_state(job, 'CANCELLED')
    assert 'all agree' in instance.good('verify')


def test_the_time_limit_stands_still_without_daemon_and_launcher(instance):
    job = start(instance, '-t', '0:03')
    instance.good('suspend', job)
    assert_stops(instance.work / 'count')
    instance.kill()
    instance.kill_launchers()
    time.sleep(4)
    assert is_still(instance.work / 'count')
    instance.start()
    tree_follows(instance, job, 'SUSPENDED')
    instance.good('resume', job)
    assert_moves(instance.work / 'count')
    instance.until_state(job, 'TIMEOUT')


def test_an_exit_that_requeues_after_a_suspension(instance):
    instance.good('set', 'requeue_delay_s=0')
    job = start(instance, '--requeue-exit', '9', script='[ $FAIRLEAD_RESTART_COUNT = 0 ] || exit 0; i=0; until [ -e go ]; do '
                'i=$((i+1)); echo $i > count; sleep 0.02; done; exit 9')
    instance.good('suspend', job)
    (instance.work / 'go').touch()
    assert_stops(instance.work / 'count')
    tree_follows(instance, job, 'SUSPENDED')
    instance.good('resume', job)
    until(lambda: [row['state'] for row in instance.json('show', 'job', job)] == ['REQUEUED', 'COMPLETED'], 'both attempts')
    assert [row['suspended_us'] > 0 for row in instance.json('show', 'job', job)] == [True, False]
    assert 'all agree' in instance.good('verify')


def test_a_suspended_job_over_its_memory_is_ended(instance):
    """The launcher sees the memory only after the suspension, because it is stopped meanwhile."""
    instance.good('set', 'enforce_memory=on', 'memory_slack=0')
    mechanism = {row['resource']: row for row in instance.json('status')['enforcement']}['memory']['mechanism']
    if mechanism.startswith('control group'):
        pytest.skip('a control group lets no job get over its memory')
    job = start(instance, '--mem', '50', script='until [ -e go ]; do echo 1 > count; sleep 0.02; done; exec python3 -c "'
                'held = bytearray(200 << 20); open(\'held\', \'w\').close(); import time; time.sleep(600)"')
    launcher, = named(instance, 'fairlead-launch')
    os.kill(launcher, signal.SIGSTOP)
    (instance.work / 'go').touch()
    until(lambda: (instance.work / 'held').exists(), 'the job to hold its memory')
    instance.good('suspend', job)
    os.kill(launcher, signal.SIGCONT)
    row = instance.until_state(job, 'OUT_OF_MEMORY')
    assert row['suspended_from_us'] is None and row['suspended_us'] > 0
    assert 'all agree' in instance.good('verify')


def test_a_copy_does_not_go_on_with_a_suspended_job(instance):
    job = start(instance)
    instance.good('suspend', job)
    assert_stops(instance.work / 'count')
    instance.good('backup', instance.work / 'copy.db')
    with restored(instance, instance.work / 'copy.db') as copy:
        assert copy.job(job)['state'] == 'NODE_FAIL'
        assert 'all agree' in copy.good('verify')
    tree_follows(instance, job, 'SUSPENDED')
    instance.good('resume', job)
    tree_follows(instance, job, 'RUNNING')


def test_a_pruned_job_leaves_no_suspension(instance):
    job = start(instance)
    instance.good('suspend', job)
    instance.good('resume', job)
    instance.good('suspend', job)
    instance.good('cancel', job)
    instance.until_state(job, 'CANCELLED')
    database = sqlite3.connect('file:%s?mode=ro' % (instance.state / 'fairlead.db'), uri=True)
    rows = database.execute('SELECT number, from_us <= until_us, is_charged FROM suspension ORDER BY number').fetchall()
    assert rows == [(1, 1, 0), (2, 1, 0)]
    until(lambda: instance.json('history', 'prune', '--older-than', '0:01')['jobs'] == 1, 'the job to be old enough')
    assert database.execute('SELECT count(*) FROM suspension').fetchone() == (0,)
    database.close()
    assert 'all agree' in instance.good('verify')


def test_an_order_that_is_lost_is_repeated(instance):
    """The launcher is stopped while the suspension is committed, and killed before it could carry it out."""
    job = start(instance)
    launcher, = named(instance, 'fairlead-launch')
    os.kill(launcher, signal.SIGSTOP)
    instance.good('suspend', job)
    assert instance.job(job)['state'] == 'SUSPENDED'
    assert_moves(instance.work / 'count')
    os.kill(launcher, signal.SIGKILL)
    tree_follows(instance, job, 'SUSPENDED')


def test_a_keeper_that_is_killed_takes_its_suspended_job_along(instance):
    job = start(instance, '--no-requeue')
    instance.good('suspend', job)
    assert_stops(instance.work / 'count')
    keeper, = named(instance, 'fairlead-keeper')
    os.kill(keeper, signal.SIGKILL)
    instance.until_state(job, 'NODE_FAIL')
    assert instance.job(job)['suspended_us'] > 0
    assert 'all agree' in instance.good('verify')


def test_a_restless_job_stays_stopped(instance):
    assert enforced(instance)['mechanism'] in ('SIGSTOP', 'freezer of a control group',
                                               'freezer of a control group of version 1')
    job = start(instance, script=RESTLESS, file='grown')
    instance.good('suspend', job)
    assert_stops(instance.work / 'grown')
    time.sleep(1)
    assert is_still(instance.work / 'grown')
    instance.good('resume', job)
    assert_moves(instance.work / 'grown')
    instance.good('cancel', job)
    instance.until_state(job, 'CANCELLED')


@pytest.mark.parametrize('is_charged', ['no', 'yes'])
def test_whether_suspended_time_is_charged_is_a_setting(instance, is_charged):
    assert instance.run('set', 'charge_suspended=' + is_charged, 'halflife_s=0').status == 0
    job = start(instance)
    instance.good('suspend', job)
    time.sleep(2)
    instance.good('resume', job)
    assert instance.run('set', 'halflife_s=5').status == 0  # it remarks on so short a time
    instance.good('suspend', job)
    assert instance.run('set', 'halflife_s=50', 'charge_suspended=' + ('no' if is_charged == 'yes' else 'yes')).status == 0
    assert 'all agree' in instance.good('verify')
    instance.good('resume', job)
    instance.good('cancel', job)
    instance.until_state(job, 'CANCELLED')
    assert 'all agree' in instance.good('verify')
    row = instance.job(job)
    elapsed_s, suspended_s = instance.good('history', '-P', '--noheader', '-o', 'elapsed_s,suspended_s').strip().split('|')
    assert int(suspended_s) >= 2
    assert int(elapsed_s) <= (row['end_us'] - row['start_us'] - row['suspended_us']) / 1e6


def test_signals_reach_all_processes_or_the_first(instance):
    script = ('sh -c "trap \'echo child >> got\' USR1; echo 1 > ready; while :; do sleep 0.02; done" & '
              'trap "echo first >> got" USR1; until [ -e ready ]; do sleep 0.02; done; echo 1 > count; while :; do sleep 0.02; done')
    job = start(instance, script=script)
    assert instance.good('signal', '--batch', 'sigusr1', job) == 'Signalled 1 job\n'
    until(lambda: size(instance.work / 'got') == 'first\n', 'the first process')
    assert instance.good('signal', '10', '-J', 'sh') == 'Signalled 1 job\n'
    until(lambda: sorted(size(instance.work / 'got').split()) == ['child', 'first', 'first'], 'both processes')
    for wrong in 'NONE', '0', '32', '':
        result = instance.run('signal', wrong, job)
        assert result.status == 2 and 'a number from 1 to 31' in result.err, result
    result = instance.run('signal', 'KILL', job)
    assert result.status == 0 and "'fairlead cancel'" in result.err
    instance.until_state(job, 'FAILED')
    assert instance.job(job)['signal'] == 9


@pytest.mark.parametrize('words, expected', [(['USR1@3'], ['child', 'first']), (['B:SIGUSR1@3'], ['first']), (['b:10@3'], ['first'])])
def test_a_signal_before_the_time_limit_needs_no_daemon(instance, words, expected):
    script = ('sh -c "trap \'echo child >> got\' USR1; while :; do sleep 0.02; done" & '
              'trap "echo first >> got" USR1; echo 1 > count; while :; do sleep 0.02; done')
    job = start(instance, '-t', '0:06', '--signal', *words, script=script)
    begin = instance.job(job)['start_us'] / 1e6
    instance.kill()
    instance.kill_launchers()
    assert size(instance.work / 'got') == ''
    until(lambda: sorted(size(instance.work / 'got').split()) == expected, 'the signal')
    assert time.time() - begin >= 2.9
    instance.start()
    instance.until_state(job, 'TIMEOUT')
    assert instance.job(job)['warn_signal'] == words[0]


def test_a_wrong_signal_is_refused(instance):
    for wrong in 'NONE', 'USR1@', 'USR1@-1', 'X:USR1', 'USR1@65536':
        error = instance.bad('submit', '--signal', wrong, '--', 'true')
        assert "'%s'" % wrong in error, error
