"""Jobs that start again after failures: how often, after which ends, and what their records say."""
from conftest import until


def attempts(instance, job):
    return [(row['state'], row['restarts'], row['exit_status']) for row in instance.json('show', 'job', job)]


def until_last(instance, job, state):
    until(lambda: attempts(instance, job)[-1][0] == state, 'the last attempt to be ' + state)


def note_attempt(then):
    return ['--', 'sh', '-c', 'echo $FAIRLEAD_RESTART_COUNT >> runs; ' + then]


def test_a_job_is_retried_until_it_succeeds(instance):
    job = instance.submit('--retry', '3:backoff=0s', *note_attempt('[ $FAIRLEAD_RESTART_COUNT = 2 ] || exit 7'))
    until_last(instance, job, 'COMPLETED')
    assert attempts(instance, job) == [('REQUEUED', 0, 7), ('REQUEUED', 1, 7), ('COMPLETED', 2, 0)]
    assert [row['detail'] for row in instance.json('show', 'job', job)] == ['retry 1 of 3 follows', 'retry 2 of 3 follows', '']
    assert (instance.work / 'runs').read_text() == '0\n1\n2\n'
    assert instance.run('wait', job).status == 0
    assert 'all agree' in instance.good('verify')


def test_after_its_last_retry_a_job_has_failed(instance):
    job = instance.submit('--retry', '2:backoff=0s', *note_attempt('kill -9 $$'))
    until_last(instance, job, 'FAILED')
    assert [row[:2] for row in attempts(instance, job)] == [('REQUEUED', 0), ('REQUEUED', 1), ('FAILED', 2)]
    assert instance.json('show', 'job', job)[-1]['detail'] == 'no retry is left of 2'
    named = instance.submit('--retry', '2:exit=1,64-70:backoff=0s', *note_attempt('exit 2'))
    until_last(instance, named, 'FAILED')
    assert attempts(instance, named) == [('FAILED', 0, 2)]


def test_the_backoff_survives_a_kill_of_the_daemon(instance):
    job = instance.submit('--retry', '2:exit=7:backoff=1h', *note_attempt('exit 7'))
    array = instance.submit('-a', '0-1', '--retry', '1:backoff=1h', '--', 'sh', '-c', 'exit $FAIRLEAD_ARRAY_TASK_ID')
    until(lambda: len(instance.json('show', 'job', job)) == 2, 'its retry to wait')
    until(lambda: [row['id'] for row in instance.rows('queue')] == [str(job), '%d_[1]' % array], 'the task to wait')
    before = instance.json('queue')
    instance.kill()
    instance.start()
    assert instance.json('queue') == before
    for row in before:
        assert (row['reason'], row['restarts']) == ('BeginTime', 1)
    first, second = instance.json('show', 'job', job)
    assert first['retry'] == second['retry'] == '2:exit=7:backoff=1h'
    assert 3600 <= (second['begin_us'] - first['end_us']) / 1e6 < 3660
    instance.good('update', job, '--begin', 'now')
    until(lambda: len(instance.json('show', 'job', job)) == 3, 'its second retry to wait')
    instance.good('update', job, '--retry', '0', '--begin', 'now')
    until_last(instance, job, 'FAILED')
    assert instance.json('show', 'job', job)[-1]['detail'] == ''
    assert 'all agree' in instance.good('verify')


def test_bad_rules_are_refused(instance):
    accepted = 'COUNT[:exit=STATUS,...][:backoff=DURATION] with a count from 0 to 1000, such as 3:exit=1,137:backoff=5m'
    for rule, sentence in (('often', "'often' is not " + accepted),
                           ('2:exit=0', "'0' is not exit= with a list of exit statuses from 1 to 255, such as 1,137 or 64-78")):
        result = instance.run('submit', '--retry', rule, '--', 'true')
        assert (result.status, result.out) == (2, '')
        assert result.err == 'fairlead submit: --retry: %s\n' % sentence
    result = instance.run('submit', '--retry', '2', '--no-requeue', '--', 'true')
    assert (result.status, result.err) == (2, "fairlead submit: --retry: '2' requeues the job, which requeue=no forbids\n")
    assert instance.rows('queue') == []
