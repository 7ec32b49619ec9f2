"""Jobs that wait for others, and requeuing, with real jobs, also through kill -9 of the programs."""
import pathlib
import re

from conftest import until


def state_of(instance, job):
    return instance.json('show', 'job', job)[-1]['state']



def reason_of(instance, job):
    return instance.json('show', 'job', job)[-1]['reason']


def test_a_chain_runs_in_its_order(instance):
    first = instance.submit('-J', 'prep', '--', 'sh', '-c', 'sleep 0.5; echo a >> order')
    second = instance.submit('-d', 'afterok:prep', '--', 'sh', '-c', 'echo b >> order')
    third = instance.submit('--dependency', 'afterok:%d' % second, '--', 'sh', '-c', 'echo c >> order')
    assert reason_of(instance, third) == 'Dependency'
    assert instance.job(second)['dependency'] == 'afterok:%d(unfulfilled)' % first
    instance.until_state(third, 'COMPLETED')
    assert (instance.work / 'order').read_text() == 'a\nb\nc\n'


def test_a_failure_leaves_its_dependents_waiting(instance):
    first = instance.submit('--', 'sh', '-c', 'sleep 0.3; exit 3')
    good = instance.submit('-d', 'afterok:%d' % first, '--', 'true')
    bad = instance.submit('-d', 'afternotok:%d' % first, '--', 'true')
    instance.until_state(bad, 'COMPLETED')
    until(lambda: reason_of(instance, good) == 'DependencyNeverSatisfied', 'the reason')
    assert instance.job(good)['dependency'] == 'afterok:%d(failed)' % first
    instance.good('set', 'kill_invalid_depend=true')
    row = instance.until_state(good, 'CANCELLED')
    assert row['detail'] == 'what it waited for can never happen'
    late = instance.run('submit', '-d', 'afterok:%d' % first, '--', 'true')
    assert (late.status, late.out) == (0, 'Submitted job 4\n')
    assert late.err == ('fairlead submit: job 4: its dependencies can never be met, so that it was cancelled '
                        '(kill_invalid_depend)\n')


def test_a_cancellation_by_hand_gives_no_other_cause(instance):
    first = instance.submit('--', 'false')
    good = instance.submit('-d', 'afterok:%d' % first, '--', 'true')
    until(lambda: reason_of(instance, good) == 'DependencyNeverSatisfied', 'the reason')
    instance.good('cancel', good)
    row = instance.until_state(good, 'CANCELLED')
    assert (row['dependency'], row['detail']) == ('afterok:%d(failed)' % first, '')


def test_listings_show_what_was_given(instance):
    first = instance.submit('-H', '--', 'true')
    late = instance.submit('-d', 'after:%d+5?afterany:%d' % (first, first), '--', 'true')
    assert instance.job(late)['dependency'] == 'after:1+5(unfulfilled)?afterany:1(unfulfilled)'
    instance.good('release', first)
    minutes = instance.submit('-d', 'after:%d+5' % instance.submit('--', 'sleep', '60'), '--', 'true')
    until(lambda: reason_of(instance, minutes) == 'Dependency' and
          instance.job(minutes)['dependency'] == 'after:3+5(unfulfilled)', 'the start')


def test_a_task_that_fails_at_once_waits_before_it_starts_again(instance):
    job = instance.submit('-a', '0-1', '--requeue-exit', '75', '--', 'sh', '-c', 'exit 75')
    until(lambda: [row['state'] for row in instance.json('show', 'job', job)].count('REQUEUED') == 2, 'two attempts')
    rows = instance.json('show', 'job', job)
    assert [(row['state'], row['reason'], row['restarts']) for row in rows][-1] == ('PENDING', 'BeginTime', 1)
    assert len(rows) == 3
    instance.good('cancel', job)
    assert instance.json('show', 'job', job)[-1]['restarts'] == 1


def test_an_end_of_long_ago_is_known_after_a_restart(instance):
    first = instance.submit('-a', '0-2', '--', 'true')
    until(lambda: all(row['state'] == 'COMPLETED' for row in instance.json('show', 'job', first)), 'the array')
    instance.kill()
    instance.start()
    instance.until_state(instance.submit('-d', 'afterok:%d' % first, '--', 'true'), 'COMPLETED')
    never = instance.submit('-d', 'afternotok:%d_1' % first, '--', 'true')
    assert reason_of(instance, never) == 'DependencyNeverSatisfied'


def test_a_trial_knows_an_end_of_long_ago(instance):
    first = instance.submit('-a', '0-2', '--', 'sh', '-c', 'test $FAIRLEAD_ARRAY_TASK_ID != 1')
    until(lambda: all(row['state'] in ('COMPLETED', 'FAILED') for row in instance.json('show', 'job', first)), 'the array')
    instance.kill()
    instance.start()
    starts_now = instance.good('submit', '--test-only', '-d', 'afterany:%d' % first, '--', 'true')
    assert starts_now.startswith('The job would start now'), starts_now
    by_task = instance.good('submit', '--test-only', '-a', '0-2', '-d', 'aftercorr:%d' % first, '--', 'true')
    assert by_task.startswith('The job would start now'), by_task
    never = instance.run('submit', '--test-only', '-d', 'afterok:%d' % first, '--', 'true')
    message = 'The job can never run: its dependencies can never be met: afterok:%d(failed)\n' % first
    assert (never.status, never.out.startswith(message)) == (1, True), never
    assert 'job dropped because of job dependencies that can never be met: afterok' in never.out, never
    task = instance.run('submit', '--test-only', '-a', '1', '-d', 'aftercorr:%d' % first, '--', 'true')
    assert task.status == 1 and 'can never be met: aftercorr:%d_[1](failed)\n' % first in task.out, task
    for words in (['-a', '0-3', '-d', 'aftercorr:%d' % first], ['-d', 'afterok:99']):
        assert instance.bad('submit', '--test-only', *words, '--', 'true') == instance.bad('submit', *words, '--', 'true')
    assert instance.submit('--', 'true') == first + 1  # no id was used


def test_conditions_survive_a_kill(instance):
    first = instance.submit('--', 'sh', '-c', 'while [ ! -e go ]; do sleep 0.05; done')
    instance.until_state(first, 'RUNNING')
    second = instance.submit('-d', 'afterok:%d' % first, '--', 'true')
    instance.kill()
    (instance.work / 'go').touch()
    instance.start()
    instance.until_state(second, 'COMPLETED')


def test_tasks_wait_for_tasks(instance):
    first = instance.submit('-a', '1-3', '--', 'sh', '-c', 'test $FAIRLEAD_ARRAY_TASK_ID != 2')
    second = instance.submit('-a', '1-3', '-d', 'aftercorr:%d' % first, '--', 'true')
    until(lambda: instance.json('show', 'job', '%d_3' % second)[-1]['state'] == 'COMPLETED', 'task 3')
    until(lambda: instance.json('show', 'job', '%d_1' % second)[-1]['state'] == 'COMPLETED', 'task 1')
    until(lambda: reason_of(instance, '%d_2' % second) == 'DependencyNeverSatisfied', 'the reason of task 2')


def test_singletons_do_not_overlap(instance):
    jobs = [instance.submit('-J', 'one', '-d', 'singleton', '--', 'sh', '-c', 'mkdir lock && sleep 0.2 && rmdir lock')
            for _ in range(4)]
    for job in jobs:
        instance.until_state(job, 'COMPLETED')


def test_bad_input_is_one_line(instance):
    job = instance.submit('-H', '--', 'true')
    assert 'job 99 does not exist' in instance.bad('submit', '-d', 'afterok:99', '--', 'true')
    assert "has the name 'nosuch'" in instance.bad('submit', '-d', 'afterok:nosuch', '--', 'true')
    assert 'would wait for itself' in instance.bad('update', '-d', 'afterok:%d' % job, job)
    assert 'only one of them' in instance.bad('submit', '--requeue', '--no-requeue', '--', 'true')
    instance.until_state(instance.submit('--hold-jid', 'nosuch,99', '--', 'true'), 'COMPLETED')


def test_errors_name_the_option_that_was_given(instance):
    job = instance.submit('-H', '--', 'true')
    assert 'submit: --hold-jid-ad: only an array' in instance.bad('submit', '--hold-jid-ad', job, '--', 'true')
    assert 'submit: --hold-jid: job 1 is not an array' in instance.bad('submit', '--hold-jid', '%d_7' % job, '--', 'true')
    assert 'submit: --hold-jid: ' in instance.bad('submit', '--hold-jid', '1,,2', '--', 'true')
    assert 'update: --hold-jid: job 1 would wait for itself' in instance.bad('update', '--hold-jid', job, job)
    assert 'submit: --dependency, --hold-jid: job 99 ' in \
        instance.bad('submit', '-d', 'afterok:99', '--hold-jid', job, '--', 'true')


def test_a_requeued_job_has_a_record_for_each_attempt(instance):
    instance.good('set', 'requeue_delay_s=0')
    job = instance.submit('--', 'sh', '-c', 'echo $FAIRLEAD_RESTART_COUNT $SLURM_RESTART_COUNT >> counts; '
                          '[ -e go ] || sleep 60')
    instance.until_state(job, 'RUNNING')
    until((instance.work / 'counts').exists, 'its first lines')
    (instance.work / 'go').touch()
    assert instance.good('requeue', job) == 'Requeued 1 job\n'
    until(lambda: state_of(instance, job) == 'COMPLETED', 'its second attempt')
    assert [(row['state'], row['restarts']) for row in instance.json('show', 'job', job)] == \
        [('REQUEUED', 0), ('COMPLETED', 1)]
    shown = [line for line in instance.good('show', 'job', job).splitlines() if line.startswith('Attempt ')]
    assert shown == ['Attempt 1', 'Attempt 2']
    assert (instance.work / 'counts').read_text() == '0\n1 1\n'
    assert instance.run('wait', job).status == 0
    assert 'all agree' in instance.good('verify')


def test_an_exit_status_requeues(instance):
    instance.good('set', 'requeue_delay_s=0')
    job = instance.submit('--requeue-exit', '75', '--max-requeue', '1', '--', 'sh', '-c', 'exit 75')
    until(lambda: reason_of(instance, job) == 'JobHeldAdmin', 'the hold')
    assert [row['state'] for row in instance.json('show', 'job', job)] == ['REQUEUED', 'REQUEUED', 'PENDING']


def run_counted(instance, *options):
    job = instance.submit(*options, '--', 'sh', '-c', 'echo $FAIRLEAD_RESTART_COUNT >> runs; [ -e go ] || sleep 60')
    instance.until_state(job, 'RUNNING')
    until((instance.work / 'runs').exists, 'its first run')
    return job


def kill_keepers(instance, job):
    for pid in instance.processes():
        try:
            words = pathlib.Path('/proc/%d/cmdline' % pid).read_bytes().replace(b'\0', b' ').decode(errors='replace')
        except OSError:
            continue
        if re.search(r'keeper.*\b%d\b' % job, words):
            instance.kill_process(pid)


def test_after_a_lost_keeper_only_a_job_that_agrees_runs_again(instance):
    instance.good('set', 'requeue_delay_s=0')
    job = run_counted(instance, '--requeue')
    (instance.work / 'go').touch()
    kill_keepers(instance, job)
    until(lambda: state_of(instance, job) == 'COMPLETED', 'its second attempt')
    assert (instance.work / 'runs').read_text() == '0\n1\n'


def test_a_requeue_survives_kills_of_daemon_and_launcher(instance):
    instance.good('set', 'requeue_delay_s=0', 'grace_s=1')
    job = run_counted(instance)
    (instance.work / 'go').touch()
    instance.good('requeue', job)
    instance.kill_launchers()
    instance.kill()
    instance.start()
    until(lambda: state_of(instance, job) == 'COMPLETED', 'its second attempt')
    assert (instance.work / 'runs').read_text() == '0\n1\n'
    assert 'all agree' in instance.good('verify')
