"""Tasks of arrays that are held, released and requeued one by one, while the others go on."""
import pytest

from conftest import until


@pytest.fixture
def array(instance):
    """Ten tasks that wait for a CPU; the job that has it is the second value."""
    instance.good('set', 'host_cpus=1', 'requeue_delay_s=0')
    busy = instance.submit('--', 'sleep', '1000')
    instance.until_state(busy, 'RUNNING')
    return instance.submit('--array', '0-9', '--', 'true'), busy


def pending(instance, job):
    return [(row['id'].removeprefix('%d_' % job), row['reason']) for row in instance.json('queue') if row['job_id'] == job]


def ended(instance, job):
    rows = [row for row in instance.json('show', 'job', job) if row['state'] == 'COMPLETED']
    return sorted(row['task_id'] for row in rows)


def test_some_tasks_are_held_and_released(instance, array):
    job, busy = array
    assert instance.good('hold', '%d_[1-3,7]' % job) == 'Held 4 tasks\n'
    assert instance.good('hold', '%d_3' % job) == 'No tasks to hold\n'
    assert instance.good('hold', '%d_9' % job, '--dry-run') == 'Would hold 1 task\n  %d_9\n' % job
    rows = [('[0,4-6,8-9]', 'Resources'), ('[1-3,7]', 'JobHeldUser')]
    assert pending(instance, job) == rows
    instance.good('stop')
    instance.start()
    assert pending(instance, job) == rows
    assert instance.json('show', 'job', '%d_7' % job)[0]['held'] is True
    assert instance.json('show', 'job', '%d_8' % job)[0]['held'] is False
    assert instance.good('release', '%d_[2-7]' % job) == 'Released 3 tasks\n'
    instance.good('cancel', busy)
    until(lambda: ended(instance, job) == [0, 2, 3, 4, 5, 6, 7, 8, 9], 'all but one')
    assert pending(instance, job) == [('[1]', 'JobHeldUser')]
    assert instance.bad('hold', '%d_2' % job) == 'fairlead hold: task %d_2 has already ended (COMPLETED)' % job
    assert instance.good('release', job) == 'Released 1 job\n'
    instance.run('wait', job)
    assert ended(instance, job) == list(range(10))


def test_a_released_task_of_a_held_job_leaves_the_others_held(instance, array):
    job, busy = array
    instance.good('hold', job)
    assert instance.good('release', '%d_[1-9:4]' % job) == 'Released 3 tasks\n'
    assert pending(instance, job) == [('[1,5,9]', 'Resources'), ('[0,2-4,6-8]', 'JobHeldUser')]
    instance.good('cancel', busy)
    until(lambda: ended(instance, job) == [1, 5, 9], 'three tasks')
    assert pending(instance, job) == [('[0,2-4,6-8]', 'JobHeldUser')]
    assert instance.good('release', '--all') == 'Released 1 job\n'
    assert instance.run('wait', job).status == 0


def test_a_running_and_an_ended_task_are_requeued_and_held(instance):
    instance.good('set', 'host_cpus=2', 'requeue_delay_s=0')
    script = 'test $FAIRLEAD_ARRAY_TASK_ID = 0 || exec sleep 1000'
    job = instance.submit('--array', '0-2', '--', 'sh', '-c', script)
    until(lambda: ended(instance, job) == [0] and
          [row['state'] for row in instance.json('queue')] == ['RUNNING', 'RUNNING'], 'one task to end, two to run')
    assert instance.bad('hold', '%d_2' % job) == 'fairlead hold: task %d_2 has started; only pending tasks can be held' % job
    assert instance.good('requeue', '--hold', '%d_0' % job, '%d_2' % job) == 'Requeued 2 tasks\n'
    until(lambda: ('[0,2]', 'JobHeldUser') in pending(instance, job), 'both to wait')
    states = {row['task_id']: row['state'] for row in instance.json('queue') if row['state'] == 'RUNNING'}
    assert states == {1: 'RUNNING'}
    assert instance.good('release', '%d_0' % job) == 'Released 1 task\n'
    until(lambda: ended(instance, job) == [0], 'the first task again')
    assert ('[2]', 'JobHeldUser') in pending(instance, job)
    instance.good('cancel', job)


def test_the_priority_of_a_task(instance, array):
    job, _ = array
    instance.good('hold', '%d_4' % job)
    rows = instance.json('prio', '%d_4' % job)
    assert [(row['id'], row['task_id'], row['state'], row['eligible']) for row in rows] == [('%d_4' % job, 4, 'HELD', False)]
    rows = instance.json('prio', '%d_5' % job)
    assert [(row['id'], row['task_id'], row['state'], row['eligible']) for row in rows] == [('%d_5' % job, 5, 'PENDING', True)]
    assert instance.bad('prio', '%d_10' % job) == 'fairlead prio: task %d_10 is not pending or running' % job
