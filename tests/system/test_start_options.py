"""How a job may start: with whole hosts, with a shorter time limit, at once or not at all."""
import time

from conftest import until
from test_pretend import Pretend


def refusal(instance, *options):
    result = instance.run('submit', *options)
    assert (result.status, result.out) == (2, ''), result
    return result.err.removeprefix('fairlead submit: ').rstrip('\n')


def test_a_job_with_a_whole_host_has_all_of_its_cpus_and_no_other_beside_it(instance):
    instance.good('set', 'host_cpus=4')
    job = instance.submit('--exclusive', '-n', '1', '-t', '10', '--', 'sh', '-c',
                          'echo $FAIRLEAD_CPUS $FAIRLEAD_HOSTS > cpus; sleep 1000')
    small = instance.submit('-n', '1', '--', 'true')
    instance.until_state(job, 'RUNNING')
    row = instance.job(job)
    assert (row['cpus'], row['cpu_ids'], row['exclusive']) == (1, '0-3', True)
    assert row['tres'].startswith('cpu=4,') and row['billing'] == 4
    until(lambda: (instance.work / 'cpus').exists() and (instance.work / 'cpus').read_text() == '4 localhost:4\n', 'the job')
    assert 'exclusive' in instance.good('show', 'job', job)
    instance.kill()
    instance.start()
    until(lambda: instance.job(small)['reason'] == 'Resources', 'the other job to wait, also after a restart')
    instance.good('cancel', job)
    instance.until_state(small, 'COMPLETED')
    # It waits until the host is empty.
    other = instance.submit('-n', '1', '--', 'sleep', '1000')
    instance.until_state(other, 'RUNNING')
    job = instance.submit('--exclusive', '--', 'true')
    assert instance.job(job)['state'] == 'PENDING'
    instance.good('update', job, '--exclusive=no')
    instance.until_state(job, 'COMPLETED')
    assert 'all agree' in instance.good('verify')


def test_whole_hosts_of_a_cluster():
    cluster = Pretend()
    try:
        cluster.begin()
        job = cluster.submit('--exclusive', '-N', '2', '-n', '2', '-t', '60', '--comment', 'run=3000', '--', 'true')
        cluster.until_state(job, 'RUNNING')
        row = cluster.job(job)
        assert (row['hosts'], row['cpu_ids']) == ('n1,n2', '0-3;0-3') and row['tres'].startswith('cpu=8,')
        small = cluster.submit('-n', '1', '--comment', 'run=3000', '--', 'true')
        cluster.until_state(small, 'RUNNING')
        assert cluster.job(small)['hosts'] == 'n3'
        assert 'can never run' in refusal(cluster, '--exclusive', '-n', '1', '--mem-per-cpu', '4G', '--', 'true')  # 4G for each of 4 CPUs
        # A range of hosts: the scheduler chooses how many.
        cluster.good('account', 'modify', 'default', 'MaxTRES=node=1')
        assert refusal(cluster, '-n', '6', '-N', '1-3', '--', 'true') == (
            "--nodes: 6 slots need 2 hosts or more: account 'default' has MaxTRES=node=1; 2 requested (AssocMaxNodePerJobLimit)")
        assert cluster.job(cluster.submit('-n', '6', '-N', '2', '--', 'true'))['reason'] == 'AssocMaxNodePerJobLimit'
    finally:
        cluster.close()


def begin_gap(instance, limit):
    """One CPU of two is free before a reservation of both, which begins when a job's time limit ends."""
    instance.good('set', 'host_cpus=2')
    first = instance.submit('-n', '1', '-t', limit, '--', 'sleep', '1000')
    instance.until_state(first, 'RUNNING')
    return first, instance.submit('-n', '2', '-t', '60', '--', 'true')


def test_a_time_limit_is_cut_for_backfill_and_is_the_task_s_own(instance):
    begin_gap(instance, '10')
    assert instance.job(instance.submit('-n', '1', '-t', '60', '--', 'true'))['state'] == 'PENDING'
    job = instance.submit('-n', '1', '-t', '60', '--time-min', '5', '--', 'sh', '-c', 'echo $FAIRLEAD_TIME_LIMIT_S > limit; sleep 1000')
    instance.until_state(job, 'RUNNING')
    row = instance.job(job)
    assert 500 <= row['granted_time_s'] <= 600 and (row['time_limit_s'], row['time_min_s']) == (3600, 300)
    until(lambda: (instance.work / 'limit').exists() and (instance.work / 'limit').read_text() == '%d\n' % row['granted_time_s'], 'the job')
    assert '(cut from 1:00:00)' in instance.good('show', 'job', job)
    instance.kill()
    instance.start()
    assert instance.job(job)['granted_time_s'] == row['granted_time_s']
    instance.good('update', job, '-t', '50')  # an operator gives the task what he says
    row = instance.job(job)
    assert (row['granted_time_s'], row['time_limit_s']) == (0, 3000)
    assert refusal(instance, '-t', '5', '--time-min', '10', '--', 'true') == (
        "--time-min: '00:10:00' exceeds the time limit 00:05:00")


def test_a_cut_time_limit_is_enforced(instance):
    begin_gap(instance, '4s')
    job = instance.submit('-n', '1', '-t', '60', '--time-min', '1s', '--', 'sleep', '1000')
    instance.until_state(job, 'TIMEOUT')
    row = instance.job(job)
    assert 1 <= row['granted_time_s'] <= 4
    assert row['end_us'] - row['start_us'] < 60e6


def test_an_immediate_job_starts_at_once_or_is_refused_with_the_reason(instance):
    instance.good('set', 'host_cpus=1')
    assert instance.good('submit', '--immediate', '--', 'sleep', '1000') == 'Submitted job 1\n'
    assert refusal(instance, '--immediate', '--', 'touch', 'ran') == 'job 2 did not start at once (Resources), and was cancelled'
    assert refusal(instance, '--immediate=1', '--', 'touch', 'ran') == 'job 3 did not start within 1 s (Resources), and was cancelled'
    for job in 2, 3:
        assert instance.job(job)['state'] == 'CANCELLED'
    assert instance.job(2)['cancel_reason'] == 'did not start at once (Resources)'
    assert [row['id'] for row in instance.rows('queue')] == ['1']
    assert 'CANCELLED (did not start at once (Resources))' in instance.good('show', 'job', 2)
    for options, status in ((('--immediate=5',), 1), ((), 0)):
        tried = instance.run('submit', '--test-only', *options, '--', 'true')
        assert (tried.status, 'it would be cancelled' in tried.out) == (status, status == 1), tried
    # In an interval of passes, too, it waits for none.
    instance.good('set', 'pass_rhythm=interval', 'schedule_interval=1000')
    assert refusal(instance, '--immediate', '--', 'touch', 'ran') == 'job 4 did not start at once (Resources), and was cancelled'
    instance.good('set', 'pass_rhythm=events')
    for options in ('-a', '1-2'), ('-H',), ('--begin', 'now+1hour'), ('-d', 'afterany:1'):
        assert 'waits for nothing' in refusal(instance, '--immediate', *options, '--', 'true')
    # There is room in time.
    program = instance.popen('submit', '--immediate=60', '--', 'true')
    until(lambda: len(instance.rows('queue')) == 2, 'the job')
    instance.good('cancel', 1)
    assert program.communicate()[0] == b'Submitted job 5\n' and program.returncode == 0
    assert not (instance.work / 'ran').exists()


def test_an_immediate_job_does_not_start_late_after_a_crash(instance):
    instance.good('set', 'host_cpus=1')
    first = instance.submit('--', 'sleep', '1000')
    instance.until_state(first, 'RUNNING')
    program = instance.popen('submit', '--immediate=2', '--', 'touch', 'ran')
    until(lambda: len(instance.rows('queue')) == 2, 'the job')
    instance.kill()
    time.sleep(2.1)
    instance.start()
    instance.good('cancel', first)
    instance.until_state(2, 'CANCELLED')
    assert instance.job(2)['cancel_reason'].startswith('did not start within 2 s (')
    assert b'did not start within 2 s' in program.communicate()[1] and program.returncode == 2
    assert not (instance.work / 'ran').exists()
    assert 'all agree' in instance.good('verify')
