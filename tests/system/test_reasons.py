"""Why jobs wait, as users ask: the reason, show job, check, and submissions that are only tried."""

import json
import re

import pytest

FULL = 'queue instance "main@localhost" dropped because it is full'


def sleeper(instance, *options):
    return instance.submit(*options, '--', 'sleep', '1000')


@pytest.fixture
def busy(instance):
    """4 CPUs, of which job 1 has 3 for ten minutes."""
    running = sleeper(instance, '-n', '3', '-t', '10')
    instance.until_state(running, 'RUNNING')
    return instance


def test_priority_and_resources(busy):
    first = sleeper(busy, '-n', '4', '-t', '30')
    behind, other = sleeper(busy, '-n', '2', '-t', '30'), sleeper(busy, '-n', '1', '-t', '60')
    assert [busy.job(job)['reason'] for job in (first, behind, other)] == ['Resources', 'Priority', 'Priority']
    assert [row['reason'] for row in busy.rows('queue')] == ['', 'Resources', 'Priority', 'Priority']
    busy.good('hold', first)
    assert [busy.job(job)['reason'] for job in (first, behind)] == ['JobHeldUser', 'Resources']
    assert 'Priority' not in busy.good('queue', '-o', 'id,reason').splitlines()[2]
    busy.good('partition', 'add', 'fast')
    aside = sleeper(busy, '-p', 'fast', '-n', '4')
    assert busy.job(aside)['reason'] == 'Resources'  # the first one of its partition
    busy.good('set', 'PriorityType=priority/tickets')  # no job keeps another one from what is free
    assert busy.job(behind)['reason'] == 'Resources'


def test_a_job_beyond_a_limit_never_runs(busy):
    busy.good('qos', 'add', 'small', 'MaxTRES=cpu=2', 'MaxWall=10')
    for options, limit in ((['-n', '3'], 'MaxTRES=cpu=2; 3 requested (QOSMaxCpuPerJobLimit)'),
                           (['-t', '11'], 'MaxWall=00:10:00; 00:11:00 requested (QOSMaxWallDurationPerJobLimit)')):
        trial = busy.run('submit', '--test-only', '-t', '5', '-q', 'small', *options, '--', 'true')
        assert (trial.status, trial.out.splitlines()[0]) == (1, "The job can never run: QOS 'small' has " + limit), trial
    job = str(sleeper(busy, '-t', '5', '-q', 'small', '-n', '3'))
    (row,) = [row for row in busy.json('schedule') if row['reason']]
    assert (row['id'], row['reason'][:45]) == (job, "can never run: QOS 'small' has MaxTRES=cpu=2;"), row
    assert 'can never run' in busy.good('queue', '--start')
    busy.good('qos', 'modify', 'small', 'MaxTRES=cpu=4', 'GrpJobs=1')  # limits that others reach leave later
    trial = busy.run('submit', '--test-only', '-t', '5', '-q', 'small', '-n', '3', '--', 'true')
    assert trial.status == 0, trial


def test_hosts_that_are_not_available(busy):
    job = sleeper(busy, '-n', '2')
    busy.good('host', 'drain', 'localhost')
    assert busy.job(job)['reason'] == 'ReqNodeNotAvail'
    assert 'its host or partition to be resumed' in busy.good('show', 'job', job)
    busy.good('host', 'resume', 'localhost')
    assert busy.job(job)['reason'] == 'Resources'
    busy.good('partition', 'modify', 'main', 'state=DOWN')
    assert busy.job(job)['reason'] == 'PartitionDown'


def test_show_job_has_the_scheduling_info(busy):
    job = sleeper(busy, '-n', '2')
    sentence = '(-l slots=2) cannot run at host "localhost" because it offers only hc:slots=1.000000'
    assert busy.good('show', 'job', job).endswith('\n\nScheduling info\n  %s\n' % sentence)
    assert busy.job(job)['scheduling_info'] == [sentence]
    assert 'Scheduling info' not in busy.good('show', 'job', 1) and 'scheduling_info' not in busy.job(1)
    assert 'Scheduling info' not in busy.good('show', 'job', job, '-o', 'id,reason')
    busy.good('hold', job)
    assert busy.job(job)['scheduling_info'] == ['Job is in hold state']
    filler = sleeper(busy, '-n', '1', '-t', '5')
    busy.until_state(filler, 'RUNNING')
    busy.good('release', job)
    assert busy.job(job)['scheduling_info'] == [FULL, 'All queues dropped because of overload or full']


def test_check(busy):
    job = sleeper(busy, '-n', '2')
    assert busy.good('check', job) == (
        'On the empty cluster: possible, with 2 slots\n'
        'As it is now: not possible\n'
        '  (-l slots=2) cannot run at host "localhost" because it offers only hc:slots=1.000000\n')
    now = busy.run('check', '--now', job)
    assert (now.status, now.err) == (1, '') and now.out.startswith('As it is now: not possible\n')
    held = sleeper(busy, '--hold', '-n', '1')
    result = busy.run('check', '--now', held)
    assert (result.status, result.out) == (0, 'As it is now: possible, with 1 slot\n')
    assert result.err == 'job %d is held; the answers are as if it were released\n' % held
    reply = json.loads(busy.good('check', '--json', job))
    assert reply['empty'] == {'possible': True, 'slots': 2, 'sentences': []}
    assert (reply['now']['possible'], reply['held'], len(reply['scheduling_info'])) == (False, False, 1)
    busy.good('set', 'host_cpus=1')
    never = busy.run('check', job)
    assert never.status == 1 and never.out.startswith(
        'On the empty cluster: not possible\n'
        '  (-l slots=2) cannot run at host "localhost" because it offers only hc:slots=1.000000\n'), never
    assert busy.bad('check', 99).endswith('no job 99')
    assert busy.bad('check', 1).endswith('job 1 does not wait')
    assert 'is not a job id' in busy.bad('check', 'x')


def test_check_of_a_task_that_does_not_exist(instance, tmp_path):
    array = instance.submit('--hold', '-a', '0-2', '--', 'true')
    assert instance.run('check', '%d_1' % array).status == 0
    assert instance.bad('check', '%d_99' % array).endswith('job %d has no task 99' % array)
    document = tmp_path / 'd.json'
    document.write_text('{"now": 1000, "hosts": [{"name": "n", "cpus": 1}], '
                        '"jobs": [{"id": 1, "user": "u", "submit": 1}]}')
    assert instance.run('check', '-f', document, '1').status == 0
    refused = instance.run('check', '-f', document, '1_9')
    assert (refused.status, refused.err) == (2, '%s: job 1 has no task 9\n' % document)


def test_check_says_what_can_never_be_because_of_a_limit(busy):
    """A limit that the job exceeds by itself holds on the empty cluster, too; what others use does not."""
    job = sleeper(busy, '-n', '2', '-t', '60', '--begin', 'now+1hour')
    busy.good('set', 'AccountingStorageEnforce=limits,safe')
    for limit, sentence in [('MaxWall=10', 'MaxWall=00:10:00; 01:00:00 requested (AssocMaxWallDurationPerJobLimit)'),
                            ('GrpTRESMins=cpu=10', 'GrpTRESMins=cpu=10; 120 requested (AssocGrpCPUMinutesLimit)')]:
        name = limit.split('=', 1)[0]
        busy.good('account', 'modify', 'default', limit)
        assert busy.run('check', job).out.startswith("On the empty cluster: not possible\n  account 'default' has %s\n" % sentence)
        busy.good('account', 'modify', 'default', name + '=-1' if name == 'MaxWall' else name + '=cpu=-1')
    busy.good('account', 'modify', 'default', 'GrpTRES=cpu=2')
    assert busy.run('check', job).out.startswith('On the empty cluster: possible, with 2 slots\nAs it is now: not possible\n'
                                                 "  account 'default' has GrpTRES=cpu=2; 3 in use, 2 requested")


def test_check_says_what_a_pass_waits_for(instance):
    """It could run, and what it depends on has failed."""
    failed = instance.submit('-o', '/dev/null', '--', 'false')
    instance.until_state(failed, 'FAILED')
    job = instance.submit('-d', 'afterok:%d' % failed, '--', 'true')
    assert instance.good('check', job).endswith('\nAs it is now: possible, with 1 slot\nIn the last pass it did not start:\n'
                                                '  job dropped because of job dependencies that can never be met: '
                                                'afterok:%d(failed)\n' % failed)


def test_check_notes_what_its_answers_leave_out(busy):
    """Whether the machine is full or not: a job that depends on others does not start when it is free."""
    sleeper(busy, '-n', '1', '-t', '5')
    depends = sleeper(busy, '-n', '1', '-d', 'after:%d' % sleeper(busy, '-n', '2'))
    early = sleeper(busy, '-n', '1', '--begin', 'now+1hour')
    for job, wait in (depends, 'other jobs'), (early, 'its begin'):
        result = busy.run('check', job)
        assert 'As it is now: not possible\n' in result.out
        assert result.err == 'job %d waits for %s; the answers are as if it did not\n' % (job, wait)
    reply = json.loads(busy.good('check', '--json', depends))
    assert (reply['waits_for_jobs'], reply['waits_for_begin']) == (True, False)


def test_check_of_a_job_that_has_ended(instance):
    ended = instance.submit('-o', '/dev/null', '--', 'true')
    instance.until_state(ended, 'COMPLETED')
    assert instance.bad('check', ended).endswith('job %d has already ended (COMPLETED)' % ended)


def test_a_submission_that_is_only_tried(busy):
    before = busy.json('status')['tasks']
    assert busy.good('submit', '--test-only', '-n', '1', '-t', '5', '--', 'true') == \
        'The job would start now on main@localhost=1, with 1 CPU in partition main\n'
    begins = busy.good('submit', '--test-only', '-n', '1', '--begin', '2099-01-01T00:00:00Z', '--', 'true')
    assert begins.startswith('The job would start at 01 Jan 2099 00:00 or later, which is its begin, with 1 CPU in ')
    later = busy.good('submit', '--test-only', '-n', '4', '--', 'true')
    assert re.fullmatch(r'The job would start at \d\d [A-Z][a-z]+ \d\d:\d\d:\d\d on main@localhost=4, with 4 CPUs in partition main\n'
                        r'It would wait for job 1\n'
                        r'  \(-l slots=4\) cannot run at host "localhost" because it offers only hc:slots=1.000000\n', later), later
    reply = json.loads(busy.good('submit', '--test-only', '--json', '-n', '4', '--', 'true'))
    assert (reply['never'], reply['now'], reply['waits_for'], reply['places']) == (False, False, 'job 1', 'main@localhost=4')
    assert busy.json('status')['tasks'] == before
    assert sleeper(busy, '-n', '4') == 2  # no id was used
    assert busy.good('verify').endswith('all agree\n')


def test_a_trial_is_refused_as_the_submission_is(instance):
    for options in (['-n', '5'], ['-p', 'nosuch'], ['-l', 'nosuch=1'], ['--mem', '999T'], ['-q', 'nosuch'], ['-A', 'nosuch']):
        assert instance.bad('submit', '--test-only', *options, '--', 'true') == \
            instance.bad('submit', *options, '--', 'true')
    assert '--wait' in instance.bad('submit', '--test-only', '--wait', '--', 'true')
    assert instance.rows('user', 'show') == []  # a trial adds no user
    assert sleeper(instance, '-n', '1') == 1


def test_schedule_says_why(busy, tmp_path):
    job = sleeper(busy, '-n', '2')
    document = tmp_path / 'now.json'
    busy.good('scenario', 'dump', '-o', document)
    wanted = '\n'.join(busy.job(job)['scheduling_info']) + '\n'
    assert busy.good('schedule', '--why', job) == busy.good('schedule', '-f', document, '--why', job) == wanted
    assert busy.good('check', '-f', document, job) == busy.good('check', job)
    unknown = busy.run('schedule', '-f', document, '--why', 77)
    assert (unknown.status, unknown.err) == (2, '%s: no job 77\n' % document)
    running = busy.run('check', '-f', document, 1)
    assert (running.status, running.err) == (2, '%s: job 1 does not wait\n' % document)
    assert '--why' in busy.bad('schedule', '--why', job, '--json')
