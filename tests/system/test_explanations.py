"""What explanations and listings of a cluster name: the limit, the hosts, the partition that keeps a job back, and nothing else."""
import json
import os
import pwd
import re
import subprocess
import time

import pytest

from conftest import FAIRLEAD, until
from test_pretend import Pretend

ME = pwd.getpwuid(os.geteuid()).pw_name
HOSTS = {'hosts': [{'name': 'n[1-4]', 'cpus': 8, 'mem': '32G'}, {'name': 'g1', 'cpus': 16, 'mem': '128G', 'gpus': 4}]}


@pytest.fixture
def cluster():
    one = Pretend()
    one.begin(HOSTS, speed=1)
    yield one
    one.close()


def sleeper(cluster, *options):
    return cluster.submit(*options, '--', 'sleep', '1000')


def drain(cluster, *hosts):
    for host in hosts:
        cluster.good('host', 'drain', host)


def info(cluster, job):
    return cluster.job(job)['scheduling_info']


def test_a_time_limit_names_the_limit_and_nothing_else(cluster):
    cluster.good('partition', 'add', 'lim', 'MaxTime=60')
    cluster.good('set', 'EnforcePartLimits=NO')
    sentence = "cannot run in queue \"lim\" because its time limit, 02:00:00, exceeds MaxTime of partition 'lim', 01:00:00 (PartitionTimeLimit)"
    for options in ([], ['-N', '2', '-n', '2']):
        job = sleeper(cluster, '-p', 'lim', '-t', '120', *options)
        assert cluster.run('check', job).out == (
            'On the empty cluster: not possible\n  %s\nAs it is now: not possible\n  %s\n' % (sentence, sentence))


def test_slots_that_are_short_are_not_hosts(cluster):
    cluster.good('partition', 'add', 'few', 'hosts=n1,n2,n3,n4')
    cluster.until_state('%d_1' % sleeper(cluster, '-p', 'few', '-a', '1-4', '-n', '7', '-t', '60'), 'RUNNING')
    slots = sleeper(cluster, '-p', 'few', '-N', '2', '-n', '8', '-t', '20')
    assert info(cluster, slots) == ['cannot run on 2 hosts because only 2 of 8 slots are free together']
    drain(cluster, 'n1', 'n2', 'n3')
    assert info(cluster, slots)[-1] == 'cannot run on 2 hosts because too few are free together'


def test_a_number_of_slots_that_never_fits_names_max_cpus_per_node(cluster):
    cluster.good('partition', 'add', 'lim', 'MaxCPUsPerNode=4')
    assert cluster.bad('submit', '-p', 'lim', '-N', '2', '-n', '9', '--', 'true').endswith(
        "asks for 9 slots on 2 hosts; at most 8 would fit (MaxCPUsPerNode of partition 'lim' is 4)")
    assert cluster.bad('submit', '-N', '5', '-n', '80', '--', 'true').endswith('; at most 48 would fit')


def test_a_calendar_is_one_line(cluster):
    """It closes the queues tomorrow, before the job would end."""
    tomorrow = time.strftime('%a', time.gmtime(cluster.now_us() / 1e6 + 86400)).lower()
    cluster.good('calendar', 'add', 'day', 'week=' + tomorrow)
    cluster.good('partition', 'add', 'closing', 'calendar=day')
    job = sleeper(cluster, '-p', 'closing', '-t', '2-0')
    assert info(cluster, job) == ["cannot run in queue \"closing\" because it closes before the job's planned end (calendar 'day')"]


def test_partitions_that_a_job_does_not_name_are_not_mentioned(cluster):
    cluster.good('partition', 'add', 'pd', 'state=DOWN')
    cluster.good('submit', '-N', '5', '-n', '48', '--', 'sleep', '1000')
    until(lambda: cluster.job(1)['state'] == 'RUNNING', 'job 1 to run')
    waiting = sleeper(cluster)
    assert info(cluster, waiting) and 'pd@' not in ''.join(info(cluster, waiting))
    down = sleeper(cluster, '-p', 'pd')
    assert 'pd@n1' in ''.join(info(cluster, down))


def test_drained_hosts_are_not_full(cluster):
    drain(cluster, 'n1', 'n2', 'n3', 'n4', 'g1')
    assert info(cluster, sleeper(cluster))[-1] == 'All queues dropped because they are disabled or not available'


def test_a_trial_that_begins_later_also_waits_for_what_runs(cluster):
    cluster.until_state(sleeper(cluster, '-N', '5', '-n', '48', '-t', '1-0'), 'RUNNING')
    begins = cluster.good('submit', '--test-only', '--begin', 'now+1hour', '-n', '8', '--', 'true').splitlines()[:2]
    waits = cluster.good('submit', '--test-only', '-n', '8', '--', 'true').splitlines()[:2]
    assert begins == waits and waits[1] == 'It would wait for job 1'
    assert cluster.good('submit', '--test-only', '--begin', 'now+2days', '--', 'true').splitlines()[0].endswith(
        ' or later, which is its begin, with 1 CPU in partition main')


def test_a_schedule_says_why_of_many_hosts_in_one_line(cluster):
    sleeper(cluster, '-N', '5', '-n', '48')
    job = sleeper(cluster, '-n', '8')
    assert 'n[1-4]' in cluster.good('schedule', '--why', job) and len(info(cluster, job)) > 4
    assert cluster.good('schedule', '--why', job).splitlines()[-1] == info(cluster, job)[-1]


def test_queues_that_a_job_does_not_list_are_one_line(cluster):
    sleeper(cluster, '--queues', 'main@n1', '-n', '8')
    job = sleeper(cluster, '--queues', 'main@n1', '-n', '8')
    text = cluster.run('check', '--now', job).out
    line = 'cannot run in queue "main@%s" because it is not contained in its hard queue list (-q)'
    folded, each = line % 'n[2-4],g1', [line % host for host in ('n2', 'n3', 'n4', 'g1')]
    assert [found.strip() for found in text.splitlines() if 'hard queue list' in found] == [folded], text
    sentences = json.loads(cluster.run('check', job, '--json').out)['now']['sentences']
    assert [found for found in sentences if 'hard queue list' in found] == each, 'JSON has a sentence for each'


def test_check_takes_the_ids_that_queue_prints(cluster):
    array = sleeper(cluster, '-a', '1-3', '--hold')
    result = cluster.run('check', '%d_[1-3]' % array)
    assert result.err == 'job %d is held; the answers are as if it were released\n' % array
    assert result.out == cluster.run('check', array).out and result.status == 0


def test_a_pretend_job_has_no_output(cluster):
    job = sleeper(cluster)
    cluster.until_state(job, 'RUNNING')
    assert cluster.bad('log', job).endswith('job %d has no output: in a pretend cluster no job really runs' % job)
    assert cluster.good('stop') == "Stopped; 1 task stands still; run 'fairlead start --pretend FILE' to resume\n"
    assert cluster.bad('queue', status=1).endswith("run 'fairlead start --pretend FILE' to start it again")


def test_notes_come_after_what_they_are_about(cluster):
    sleeper(cluster, '--hold')
    text = subprocess.run([FAIRLEAD, 'prio'], env=cluster.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=True).stdout.splitlines()
    assert text[0].startswith('JOBID') and text[-1].startswith('* not eligible'), text


def test_a_change_of_all_accounts_says_so(cluster):
    cluster.good('user', 'add', 'test-ann')
    assert cluster.good('user', 'modify', 'test-ann', 'MaxJobs=1') == 'Modified user test-ann in all accounts of this user\n'
    assert cluster.good('user', 'modify', 'test-ann', '-A', 'default', 'MaxJobs=1') == 'Modified user test-ann\n'


def test_what_only_a_drained_host_has_is_waited_for(cluster):
    cluster.good('host', 'drain', 'g1')
    job = sleeper(cluster, '-G', '1')
    row = next(row for row in cluster.json('queue', '--start') if row['job_id'] == job)
    assert (row['reason'], row['waits_for']) == ('ReqNodeNotAvail', 'its host or partition to be resumed')
    assert 'It would wait for its host or partition to be resumed\n' in cluster.good('submit', '--test-only', '-G', '1', '--', 'true')


def test_reasons_are_whole_in_a_narrow_queue(cluster):
    """The limits are told apart; columns that say less are left out."""
    cluster.good('account', 'add', 'astronomy', 'MaxTRES=cpu=1')
    cluster.good('account', 'add', 'biology', 'MaxWall=10')
    for account in ('astronomy', 'biology'):
        cluster.good('user', 'add', ME, '-A', account)
    sleeper(cluster, '-A', 'astronomy', '-n', '2', '-J', 'a-rather-long-name-of-a-job')
    sleeper(cluster, '-A', 'biology', '-t', '60', '--mem', '1000')
    for width in (60, 80, 100, 120):
        text = cluster.run('queue', environment={'COLUMNS': str(width)}).out
        assert max(map(len, text.splitlines())) <= width
        assert 'AssocMaxCpuPerJobLimit' in text and 'AssocMaxWallDurationPerJobLimit' in text, text


def test_memory_has_a_unit(cluster):
    cluster.good('account', 'modify', 'root', 'GrpTRES=mem=1024')
    cluster.good('quota', 'add', 'q', 'rules=limit users * to mem=2G')
    cluster.until_state(sleeper(cluster, '--mem', '512M'), 'RUNNING')
    job = sleeper(cluster, '--mem', '2G')
    assert info(cluster, job) == ["account 'root' has GrpTRES=mem=1G; 512M in use, 2G requested (AssocGrpMemLimit)"]
    assert cluster.good('quota', 'usage').splitlines()[1].split()[1:4] == ['mem', '512M', '2G']
    assert (row := cluster.json('quota', 'usage')[0])['used'] == 512 and row['limit'] == 2048


def test_a_submission_says_that_its_job_waits_for_a_change(instance):
    instance.good('qos', 'add', 'short', 'MaxWall=10')
    result = instance.run('submit', '-q', 'short', '-t', '20', '--', 'true')
    assert (result.status, result.out) == (0, 'Submitted job 1\n')
    text = "QOS 'short' has MaxWall=00:10:00; 00:20:00 requested (QOSMaxWallDurationPerJobLimit)"
    assert result.err == ('fairlead submit: job 1 waits until a limit or the job changes: %s; '
                          "run 'fairlead update 1 -t DURATION' or 'fairlead cancel 1'\n" % text)
    answer = instance.run('submit', '--json', '-q', 'short', '-t', '20', '--', 'true')
    assert json.loads(answer.out) == {'job_id': 2, 'limit': text, 'limit_field': 'time_limit_s'}
    assert answer.err.startswith('fairlead submit: job 2 waits until')
    assert json.loads(instance.good('submit', '--json', '-q', 'short', '-t', '10', '--', 'true')) == {
        'job_id': 3, 'limit': None, 'limit_field': None}
    instance.good('update', '1', '-t', '5')
    instance.until_state(1, 'COMPLETED')
    instance.good('qos', 'modify', 'short', 'MaxTRES=cpu=1')
    assert instance.submit('-H', '-q', 'short', '-t', '10', '--', 'true') == 4
    result = instance.run('update', '4', '-n', '2')
    assert (result.status, result.out) == (0, 'Updated job 4\n')
    assert result.err == ("fairlead update: job 4 waits until a limit or the job changes: QOS 'short' has MaxTRES=cpu=1; 2 requested "
                          "(QOSMaxCpuPerJobLimit); run 'fairlead update 4 -n COUNT' or 'fairlead cancel 4'\n")
    instance.good('update', '4', '-n', '1')
    assert '--parsable' in instance.bad('submit', '--json', '--parsable', '--', 'true')


def test_a_dependency_that_can_never_be_met_is_told_at_once(instance):
    instance.until_state(instance.submit('--', 'true'), 'COMPLETED')
    text = 'its dependencies can never be met: afternotok:1(failed) (DependencyNeverSatisfied)'
    result = instance.run('submit', '-d', 'afternotok:1', '--', 'true')
    assert (result.status, result.out) == (0, 'Submitted job 2\n')
    assert result.err == ('fairlead submit: job 2 waits until a limit or the job changes: %s; '
                          "run 'fairlead update 2 -d LIST' or 'fairlead cancel 2'\n" % text)
    answer = json.loads(instance.run('submit', '--json', '-d', 'afternotok:1', '--', 'true').out)
    assert answer == {'job_id': 3, 'limit': text, 'limit_field': 'dependency'}
    instance.good('submit', '-H', '--', 'true')
    result = instance.run('update', '4', '--dependency', 'afternotok:1')
    assert result.status == 0 and text in result.err and "'fairlead update 4 -d LIST'" in result.err
    instance.good('update', '4', '-d', 'afterok:1')


def test_check_names_the_state_and_the_calendar_of_a_partition(instance):
    instance.good('calendar', 'add', 'never', 'week=mon-sun=0-24=off')
    instance.good('partition', 'add', 'late', 'state=DOWN')
    instance.good('partition', 'add', 'shut', 'calendar=never')
    late, shut = (instance.submit('-p', name, '--', 'true') for name in ('late', 'shut'))
    down = "partition 'late' has the state DOWN, in which nothing starts"
    closed = "partition 'shut' is closed by the calendar 'never', which gives no time at which it opens"
    for job, sentence in (late, down), (shut, closed):
        text = instance.run('check', job).out
        assert text.splitlines()[-1].strip() == sentence, text
        assert json.loads(instance.run('check', '--json', job).out)['partitions'] == [sentence]
    instance.good('partition', 'modify', 'late', 'state=UP')
    instance.until_state(late, 'COMPLETED')


def test_a_quota_counts_on_the_empty_cluster(instance):
    instance.good('quota', 'add', 'tight', 'rules=limit users {*} to slots=1')
    result = instance.run('submit', '-n', '2', '--', 'true')
    assert (result.status, result.out) == (0, 'Submitted job 1\n')
    own = 'in rule "tight/1" by itself: slots=1; 2 requested (QuotaLimit)'
    assert own in result.err
    assert own in instance.good('queue', '--start') and instance.json('queue', '--start')[0]['never_runs'].endswith(own)
    assert own in instance.run('submit', '--test-only', '-n', '2', '--', 'true').out
    check = json.loads(instance.run('check', '1', '--json').out)
    assert not check['empty']['possible']
    assert check['empty']['sentences'][0].endswith('in rule "tight/1": slots=1; 2 requested')


def test_a_usage_threshold_is_named(instance):
    """In 'check', 'show job', '--test-only': the factor, the threshold and the QOS."""
    instance.good('set', 'AccountingStorageEnforce=associations,limits')
    instance.good('account', 'add', 'physics')
    for user in ME, 'another':
        instance.good('user', 'add', user, '-A', 'physics')
    instance.good('qos', 'add', 'thr', 'usage_threshold=0.9', 'flags=EnforceUsageThreshold')
    instance.until_state(instance.submit('-A', 'physics', '--', 'sleep', '0.2'), 'COMPLETED')
    job = instance.submit('-A', 'physics', '-q', 'thr', '--', 'true')
    until(lambda: instance.job(job)['reason'] == 'QOSUsageThreshold', 'the reason')
    expected = re.compile(r"fair share 0\.\d\d is below usage_threshold=0\.9 of QOS 'thr' \(QOSUsageThreshold\)")
    for text in (instance.run('check', job).out, instance.good('show', 'job', job),
                 instance.run('submit', '--test-only', '-A', 'physics', '-q', 'thr', '--', 'true').out):
        assert expected.search(text), text


def test_several_hosts_are_drained_and_resumed_together(cluster):
    states = lambda: {row['name']: row['state'] for row in cluster.json('host', 'show')}
    before = states()
    assert "no host 'n9'" in cluster.bad('host', 'drain', 'n[1-2]', 'n9')
    assert states() == before, 'one that is unknown changes nothing'
    assert cluster.good('host', 'drain', 'n[1-2]', 'g1') == 'Drained hosts n[1-2],g1\n'
    assert {name for name, state in states().items() if state == 'DRAIN'} == {'n1', 'n2', 'g1'}
    assert cluster.good('host', 'resume', 'n1,g1', 'n2') == 'Resumed hosts n[1-2],g1\n'
    assert states() == before
