"""Jobs that have ended and are requeued by hand, also after a restart, with their earlier attempts in the history."""
import getpass
import time

from conftest import until


def attempts(instance, job):
    return [(row['state'], row['restarts']) for row in instance.json('show', 'job', job)]


def refusal(instance, *ids):
    result = instance.run('requeue', *ids)
    assert (result.status, result.out) == (2, ''), result
    return result.err.removeprefix('fairlead requeue: ').rstrip('\n')


def end_counted(instance, *options, then='exit 3'):
    """A job that notes its attempt and a variable of its environment, and ends."""
    job = instance.submit(*options, '--', 'sh', '-c', 'echo "$FAIRLEAD_RESTART_COUNT $COLOUR" >> runs; ' + then,
                          environment={'COLOUR': 'red'})
    instance.until_state(job, 'FAILED', 'COMPLETED')
    return job


def test_an_ended_job_runs_again_with_its_script_and_environment(instance):
    instance.good('set', 'requeue_delay_s=0')
    job = end_counted(instance, then='[ -e good ] || exit 3')
    submitted = instance.job(job)['submit_us']
    (instance.work / 'good').touch()
    assert instance.good('requeue', job) == 'Requeued 1 job\n'
    until(lambda: attempts(instance, job) == [('REQUEUED', 0), ('COMPLETED', 1)], 'its second attempt')
    assert (instance.work / 'runs').read_text() == '0 red\n1 red\n'
    first, second = instance.json('show', 'job', job)
    assert (first['exit_status'], first['detail']) == (3, 'FAILED, then requeued by request')
    assert (second['exit_status'], second['submit_us'], second['detail']) == (0, submitted, '')
    assert instance.run('wait', job).status == 0
    assert 'all agree' in instance.good('verify')


def test_after_a_restart_the_record_of_a_job_is_enough(instance):
    job = end_counted(instance, '-J', 'late', '-t', '7', '--comment', 'mine')
    array = instance.submit('-a', '0-2', '--', 'sh', '-c', 'exit $FAIRLEAD_ARRAY_TASK_ID')
    until(lambda: not instance.rows('queue'), 'the array to end')
    asked = instance.job(job)
    instance.kill()
    instance.start()
    assert instance.good('requeue', job, '%d_1' % array) == 'Requeued 2 jobs\n'
    row = instance.json('show', 'job', job)[-1]
    assert (row['state'], row['reason'], row['restarts']) == ('PENDING', 'BeginTime', 1)
    assert row['begin_us'] is not None and instance.json('show', 'job', job)[0]['begin_us'] is None, 'a begin that was set later'
    for field in 'name', 'time_limit_s', 'comment', 'directory', 'command', 'submit_us', 'account', 'partition':
        assert row[field] == asked[field], field
    instance.kill()
    instance.start()
    assert attempts(instance, job) == [('REQUEUED', 0), ('PENDING', 1)]
    assert [row['id'] for row in instance.rows('queue')] == [str(job), '%d_[1]' % array]
    assert 'all agree' in instance.good('verify')


def test_each_task_of_an_array_has_its_own_attempts(instance):
    instance.good('set', 'requeue_delay_s=0')
    array = instance.submit('-a', '0-3', '--', 'sh', '-c',
                            'echo $FAIRLEAD_ARRAY_TASK_ID >> runs; [ $FAIRLEAD_ARRAY_TASK_ID != 3 ] || sleep 1000')
    until(lambda: [row['id'] for row in instance.rows('queue')] == ['%d_3' % array], 'three ends')
    assert instance.good('requeue', '%d_1' % array) == 'Requeued 1 task\n'
    until(lambda: attempts(instance, '%d_1' % array) == [('REQUEUED', 0), ('COMPLETED', 1)], 'the second attempt')
    assert attempts(instance, '%d_2' % array) == [('COMPLETED', 0)]
    instance.good('cancel', '%d_3' % array)
    instance.until_state('%d_3' % array, 'CANCELLED')
    instance.good('set', 'host_cpus=1', 'requeue_delay_s=1000')
    assert instance.good('requeue', array) == 'Requeued 1 job\n'
    assert [(row['id'], row['task_count'], row['restarts']) for row in instance.json('queue')] == \
        [('%d_[0,2-3]' % array, 3, 1), ('%d_[1]' % array, 1, 2)]
    instance.good('cancel', array)
    assert sorted((instance.work / 'runs').read_text().split()) == ['0', '1', '1', '2', '3']
    assert 'all agree' in instance.good('verify')


def test_a_task_and_its_whole_array_in_one_request_are_the_array(instance):
    array = instance.submit('-a', '0-2', '--', 'true')
    until(lambda: not instance.rows('queue'), 'the array to end')
    instance.good('set', 'requeue_delay_s=1000')
    named = ['%d_1' % array, str(array)]
    for ids in named, named[::-1]:
        assert instance.good('requeue', '--dry-run', *ids) == 'Would requeue 1 job\n  %d\n' % array
    assert instance.good('requeue', *named) == 'Requeued 1 job\n'
    assert [(row['id'], row['restarts']) for row in instance.json('queue')] == [('%d_[0-2]' % array, 1)]


def test_a_delayed_task_says_until_when(instance):
    array = instance.submit('-a', '0-1', '--', 'true')
    until(lambda: not instance.rows('queue'), 'the array to end')
    instance.good('set', 'requeue_delay_s=1000')
    before = time.time()
    instance.good('requeue', '%d_1' % array)
    row, = instance.json('queue')
    assert (row['id'], row['reason']) == ('%d_[1]' % array, 'BeginTime')
    assert before + 999 <= row['begin_us'] / 1e6 <= time.time() + 1001
    shown = instance.good('show', 'job', array)
    assert time.strftime('%H:%M:%S', time.localtime(row['begin_us'] / 1e6)) in \
        [line for line in shown.splitlines() if line.split()[:1] == ['Begin']][-1]


def test_what_was_cancelled_before_it_started_has_no_attempt(instance):
    job = instance.submit('--hold', '--', 'true')
    instance.good('cancel', job)
    instance.until_state(job, 'CANCELLED')
    assert instance.good('requeue', '--hold', job) == 'Requeued 1 job\n'
    assert attempts(instance, job) == [('PENDING', 0)]
    assert instance.job(job)['reason'] == 'JobHeldUser'
    instance.good('set', 'requeue_delay_s=0')
    instance.good('release', job)
    instance.good('update', job, '--begin', 'now')
    instance.until_state(job, 'COMPLETED')
    assert attempts(instance, job) == [('COMPLETED', 0)]


def test_a_whole_array_comes_before_its_tasks(instance):
    """Whichever of both ids is named first: the array starts again as a whole."""
    array = instance.submit('-H', '-a', '0-3', '--', 'true')
    for ids in ['%d_1' % array, array], [array, '%d_1' % array]:
        instance.good('cancel', array)
        assert instance.good('requeue', '--hold', *ids) == 'Requeued 1 job\n'
        assert [row['id'] for row in instance.rows('queue')] == ['%d_[0-3]' % array]


def test_refusals_name_the_reason(instance):
    me = getpass.getuser()
    instance.good('partition', 'add', 'night')
    never = end_counted(instance, '--no-requeue')
    night = end_counted(instance, '-p', 'night')
    plain = end_counted(instance)
    instance.good('account', 'add', 'physics')
    instance.good('user', 'add', me, '-A', 'physics')
    physics = end_counted(instance, '-A', 'physics')
    waited = instance.submit('-d', 'afterok:%d' % plain, '--', 'true')
    instance.good('cancel', waited)
    instance.until_state(waited, 'CANCELLED')
    instance.good('partition', 'delete', 'night')
    instance.good('user', 'delete', me, '-A', 'physics')

    def check():
        assert refusal(instance, never) == \
            'job %d cannot be requeued: it has requeue=no (--no-requeue)' % never
        assert refusal(instance, waited) == \
            'job %d was cancelled while it waited for other jobs; submit it anew' % waited
        assert refusal(instance, physics) == \
            "job %d cannot be requeued: user '%s' is not in account 'physics' any more; submit it anew" % (physics, me)
        assert 'night' in refusal(instance, night)
        assert refusal(instance, '%d_1' % plain) == 'job %d is not an array; it has no task 1' % plain
        assert refusal(instance, 999) == 'no job 999'

    ended = lambda: [(row['id'], row['state'], row['detail']) for row in instance.json('history')]
    before = ended()
    check()
    instance.kill()
    instance.start()
    check()
    assert ended() == before
    instance.good('partition', 'add', 'night')
    assert instance.good('requeue', night) == 'Requeued 1 job\n'


def test_tasks_of_an_array_that_waited_in_part(instance):
    """A task that was cancelled while it waited keeps no other task of its array back."""
    first = instance.submit('-a', '0-1', '--', 'sh', '-c', 'exit $FAIRLEAD_ARRAY_TASK_ID')
    array = instance.submit('-a', '0-1', '-d', 'aftercorr:%d' % first, '--', 'true')
    instance.until_state('%d_0' % array, 'COMPLETED')
    until(lambda: '(failed)' in instance.job('%d_1' % array)['dependency'])
    instance.good('cancel', array)
    until(lambda: not instance.rows('queue'), 'the array to end')
    instance.good('set', 'requeue_delay_s=1000')
    why = ' was cancelled while it waited for other jobs; submit it anew'
    for _ in range(2):
        assert refusal(instance, array) == 'job %d_1%s' % (array, why)
        assert refusal(instance, '%d_1' % array) == 'job %d_1%s' % (array, why)
        instance.kill()
        instance.start()
    assert instance.good('requeue', '%d_0' % array) == 'Requeued 1 task\n'
    instance.kill()
    instance.start()
    assert [row['id'] for row in instance.rows('queue')] == ['%d_[0]' % array]
    assert refusal(instance, '%d_1' % array) == 'job %d_1%s' % (array, why)
    assert 'all agree' in instance.good('verify')


def test_a_state_selects_ended_jobs(instance):
    """From memory and from history; of arrays only the tasks that ended so in their last attempt."""
    instance.good('set', 'requeue_delay_s=1000')
    instance.good('partition', 'add', 'night')
    failed = end_counted(instance, '-J', 'one')
    fine = end_counted(instance, then='exit 0')
    night = end_counted(instance, '-p', 'night', '-J', 'two')
    array = instance.submit('-a', '0-4', '-J', 'two', '--', 'sh', '-c', 'exit $(($FAIRLEAD_ARRAY_TASK_ID % 2))')
    held = instance.submit('-H', '-a', '0-2', '--', 'true')
    instance.good('cancel', held)
    until(lambda: not instance.rows('queue'), 'all to end')
    tasks = ['%d_1' % array, '%d_3' % array]
    would = lambda *options: instance.good('requeue', '--dry-run', *options).splitlines()
    assert would('--state', 'CANCELLED') == ['Would requeue 3 tasks'] + ['  %d_%d' % (held, i) for i in range(3)]
    assert would('--state', 'timeout,NODE_FAIL') == ['No jobs to requeue']
    assert would('--state', 'FAILED', '-p', 'night') == ['Would requeue 1 job', '  %d' % night]
    assert would('--state', 'FAILED', '-J', 'two', '-u', getpass.getuser(), '-q', 'normal') == \
        ['Would requeue 3 jobs'] + ['  %s' % job for job in [night] + tasks]
    assert instance.run('requeue', '--dry-run', '--state', 'FAILED', '-u', 'nobody-else').out == 'No jobs to requeue\n'
    assert would('--state', 'running') == ['No jobs to requeue']
    assert "no account 'nowhere'" in instance.bad('requeue', '--state', 'FAILED', '-A', 'nowhere')
    assert "no partition 'nowhere'" in instance.bad('requeue', '--state', 'FAILED', '-p', 'nowhere')
    for state in ('pending', 'FAILED,running', 'REQUEUED', ''):
        assert '--state' in instance.bad('requeue', '--state', state)
    assert 'only one of them' in instance.bad('requeue', '--state', 'FAILED', failed)
    instance.kill()
    instance.start()
    assert instance.good('requeue', '--state', 'failed,COMPLETED', '-J', 'two') == 'Requeued 6 jobs\n'
    assert instance.good('requeue', '-s', 'FAILED') == 'Requeued 1 job\n'
    assert instance.good('requeue', '-s', 'FAILED') == 'No jobs to requeue\n'
    assert sorted(row['id'] for row in instance.rows('queue')) == \
        sorted([str(failed), str(night), '%d_[0-4]' % array])
    assert attempts(instance, fine) == [('COMPLETED', 0)]
    assert 'all agree' in instance.good('verify')


def test_many_are_requeued_in_pieces(instance):
    array = instance.submit('-H', '-a', '0-2499', '--', 'true')
    no = instance.submit('-H', '--no-requeue', '--', 'true')
    instance.good('cancel', array, no)
    until(lambda: not instance.rows('queue'), 'both to end')
    instance.good('set', 'requeue_delay_s=1000')
    result = instance.run('requeue', '--all', '--state', 'CANCELLED')
    assert (result.status, result.out) == (1, 'Requeued 2500 jobs\n')
    assert 'job %d cannot be requeued: it has requeue=no' % no in result.err
    assert [row['id'] for row in instance.rows('queue')] == ['%d_[0-2499]' % array]


def test_limits_of_submitted_jobs_count(instance):
    me = getpass.getuser()
    jobs = [end_counted(instance) for _ in range(3)]
    instance.good('user', 'modify', me, 'MaxSubmitJobs=2')
    result = instance.run('requeue', *jobs, '--dry-run')
    assert result.out == 'Would requeue 2 jobs\n  %d\n  %d\n' % tuple(jobs[:2])
    assert not instance.rows('queue')
    for arguments in [jobs], []:
        result = instance.run('requeue', *jobs)
        assert 'MaxSubmitJobs' in result.err and 'AssocMaxSubmitJobLimit' in result.err, result
        if arguments:
            assert (result.status, result.out) == (1, 'Requeued 2 jobs\n')
    assert [row['id'] for row in instance.rows('queue')] == [str(job) for job in jobs[:2]]
    instance.good('user', 'modify', me, 'MaxSubmitJobs=-1')
    instance.good('set', 'max_jobs=2')
    assert 'max_jobs' in refusal(instance, jobs[2])
    instance.good('set', 'max_jobs=0', 'max_u_jobs=2')
    assert 'max_u_jobs' in refusal(instance, jobs[2])


def test_a_requeue_survives_a_kill_at_once(instance):
    instance.good('set', 'requeue_delay_s=0')
    job = end_counted(instance)
    for attempt in range(1, 4):
        instance.good('requeue', job)
        instance.kill()
        instance.start()
        until(lambda: attempts(instance, job)[-1] == ('FAILED', attempt), 'one more attempt')
    assert (instance.work / 'runs').read_text() == '0 red\n1 red\n2 red\n3 red\n'
    assert [state for state, _ in attempts(instance, job)] == ['REQUEUED'] * 3 + ['FAILED']
    assert 'all agree' in instance.good('verify')


def test_each_task_that_waits_has_its_own_restarts(instance):
    """An array whose tasks 0 and 1 have run, and task 1 twice; the others have never run."""
    instance.good('set', 'host_cpus=2', 'requeue_delay_s=0')
    array = instance.submit('-a', '0-4', '--', 'sh', '-c', 'case $FAIRLEAD_ARRAY_TASK_ID in [01]) exit 0;; *) sleep 1000;; esac')
    until(lambda: [row['id'] for row in instance.rows('queue')] == ['%d_%s' % (array, part) for part in ('2', '3', '[4]')],
          'two ends')
    instance.good('set', 'requeue_delay_s=1000')
    instance.good('hold', array)
    instance.good('cancel', '%d_3' % array)
    instance.good('requeue', '%d_1' % array)
    instance.good('requeue', '%d_0' % array)
    instance.good('requeue', '%d_2' % array)
    until(lambda: not any(row['state'] in ('RUNNING', 'COMPLETING') for row in instance.json('queue')), 'the ends')
    waiting = lambda: [(row['id'], row['restarts']) for row in instance.json('queue')]
    assert waiting() == [('%d_[4]' % array, 0), ('%d_[0-2]' % array, 1)]
    assert attempts(instance, '%d_4' % array) == [('PENDING', 0)]
    instance.good('cancel', array)
    ended = [(row['id'], row['restarts']) for row in instance.json('history') if row['state'] == 'CANCELLED']
    assert sorted(ended) == [('%d_3' % array, 0), ('%d_[0-2]' % array, 1), ('%d_[4]' % array, 0)]


def test_a_rule_that_a_job_forbids_itself_is_refused(instance):
    message = "--requeue-exit: '1' requeues the job, which requeue=no forbids"
    assert message in instance.bad('submit', '--requeue-exit', '1', '--no-requeue', '--', 'true')
    job = instance.submit('-H', '--requeue-exit', '1', '--', 'true')
    assert message in instance.bad('update', job, '--requeue=no')
    instance.good('update', job, '--requeue=no', '--requeue-exit', '')
    assert message in instance.bad('update', job, '--requeue-exit', '1')
    instance.good('update', job, '--requeue=yes', '--requeue-exit', '1')


def test_the_output_of_the_last_attempt_is_printed_while_the_job_waits(instance):
    instance.good('set', 'requeue_delay_s=1:00:00')
    job = instance.submit('--', 'sh', '-c', 'echo first; exit 1')
    instance.run('wait', job)
    instance.good('requeue', job)
    instance.good('hold', job)
    assert instance.good('log', job) == 'first\n'


def test_the_log_of_a_job_without_its_directory_says_why(instance):
    gone = instance.work / 'gone'
    gone.mkdir()
    job = instance.submit('--hold', '--', 'true', cwd=gone)
    gone.rmdir()
    instance.good('release', job)
    instance.run('wait', job)
    assert 'before it started: ' in instance.bad('log', job)


def test_a_task_that_was_requeued_too_often_is_held_alone(instance):
    """The other tasks go on; the held one waits until it is released, also over a restart."""
    instance.good('set', 'requeue_delay_s=0', 'host_cpus=1')
    count = instance.work / 'count'
    script = 'echo >> %s.$FAIRLEAD_ARRAY_TASK_ID; test $FAIRLEAD_ARRAY_TASK_ID = 2 || exit 7' % count
    array = instance.submit('--array', '0-2', '--requeue-exit', '7', '--max-requeue', '2', '--', 'sh', '-c', script)
    tasks = lambda: {row['task_id']: row for row in instance.json('show', 'job', array) if row['state'] not in ('REQUEUED', 'PENDING')}
    pending = lambda: [row for row in instance.json('queue') if row['state'] == 'PENDING']
    held = [('%d_[0-1]' % array, 'JobHeldAdmin', None)]
    until(lambda: [(row['id'], row['reason'], row['begin_us']) for row in pending()] == held, 'two tasks to be held')
    until(lambda: {task: row['state'] for task, row in tasks().items()} == {2: 'COMPLETED'}, 'the third task to end')
    assert [(count.parent / ('count.%d' % i)).read_text() for i in range(3)] == ['\n' * 3, '\n' * 3, '\n']
    last = [row for row in instance.json('show', 'job', '%d_1' % array) if row['state'] == 'REQUEUED'][-1]
    assert last['detail'].endswith('held, because it was requeued 2 times, which is the maximum'), last
    instance.good('stop')
    instance.start()
    assert [(row['id'], row['reason'], row['begin_us']) for row in pending()] == held
    assert instance.good('release', '%d_1' % array) == 'Released 1 task\n'
    until(lambda: (count.parent / 'count.1').read_text() == '\n' * 4 and
          [(row['id'], row['reason']) for row in pending()] == [('%d_[%d]' % (array, i), 'JobHeldAdmin') for i in (0, 1)],
          'one more attempt')
    assert (count.parent / 'count.0').read_text() == '\n' * 3
    assert instance.good('release', array) == 'Released 1 job\n'
    until(lambda: all((count.parent / ('count.%d' % i)).read_text() == '\n' * n for i, n in ((0, 4), (1, 5))), 'both once more')
    instance.good('cancel', array)


def test_a_job_that_reached_its_maximum_says_so(instance):
    instance.good('set', 'requeue_delay_s=0')
    job = instance.submit('--requeue-exit', '7', '--max-requeue', '1', '--', 'sh', '-c', 'exit 7')
    until(lambda: instance.json('show', 'job', job)[-1]['reason'] == 'JobHeldAdmin', 'the hold')
    attempts = instance.json('show', 'job', job)
    assert attempts[-2]['detail'] == 'held, because it was requeued 1 time, which is the maximum'
    assert 'Job is in hold state: it was requeued 1 time, which is the maximum\n' in instance.good('show', 'job', job)
