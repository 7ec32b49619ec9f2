"""Further jobs like earlier ones: what they take over, what replaces it, and what is refused."""
import os
import sqlite3

from conftest import until

ASKED = ('-n', '2', '--mem-per-cpu', '100M', '-t', '7', '--comment', 'mine', '--nice=5', '--retry', '1:exit=9', '--signal', 'USR1@5',
         '-o', 'out-%j', '--requeue')
SAME = ('name', 'command', 'cpus', 'mem_per_cpu_mib', 'time_limit_s', 'comment', 'nice', 'retry', 'warn_signal', 'requeue', 'directory',
        'account', 'qos', 'partition')


def resubmit(instance, *words, **keywords):
    return int(instance.good('resubmit', '--parsable', *words, **keywords))


def refusal(instance, *words):
    result = instance.run('resubmit', *words)
    assert (result.status, result.out) == (2, ''), result
    return result.err.removeprefix('fairlead resubmit: ').rstrip('\n')


def test_a_script_is_submitted_again_as_it_was(instance):
    script = instance.work / 'job.sh'
    script.write_text('#!/bin/sh\n#FAIRLEAD -J named\necho "$1 $COLOUR $(pwd)"\n')
    instance.good('set', 'host_cpus=2')
    first = int(instance.good('submit', '--parsable', *ASKED, 'job.sh', "it's", environment={'COLOUR': 'red'}))
    instance.until_state(first, 'COMPLETED')
    script.write_text('#!/bin/sh\necho other\n')
    second = resubmit(instance, str(first), cwd=os.sep)
    row = instance.until_state(second, 'COMPLETED')
    assert {f: row[f] for f in SAME} == {f: instance.job(first)[f] for f in SAME}
    assert row['name'] == 'named'
    assert (instance.work / ('out-%d' % second)).read_text() == "it's red %s\n" % instance.work
    instance.kill()
    instance.start()
    assert resubmit(instance, str(first)) == second + 1, 'the record of the job is enough'


def test_options_replace_those_of_the_earlier_job(instance):
    first = instance.submit('--hold', *ASKED, '--', 'sh', '-c', 'echo $COLOUR', environment={'COLOUR': 'red'})
    (instance.work / 'elsewhere').mkdir()
    second = resubmit(instance, str(first), '--mem', '300M', '-t', '9', '-J', 'changed', '-D', 'elsewhere', '--export', 'COLOUR=blue',
                      '-o', 'here', '--retry', '')
    row = instance.until_state(second, 'COMPLETED')
    assert (row['mem_mib'], row['mem_per_cpu_mib'], row['time_limit_s'], row['name'], row['retry']) == (300, 0, 540, 'changed', '')
    assert (instance.work / 'elsewhere' / 'here').read_text() == 'blue\n'
    assert instance.job(first)['state'] == 'PENDING', 'the earlier one stays as it is'


def test_what_belongs_to_one_submission_is_left_out(instance):
    first = instance.submit('--begin', 'now+1hour', '--deadline', 'now+2hours', '-d', 'singleton', '--', 'true')
    instance.good('hold', first)
    row = instance.until_state(resubmit(instance, str(first)), 'COMPLETED')
    assert (row['begin_us'], row['deadline_us'], row['dependency'], row['held']) == (None, None, '', False)


def test_of_an_array_the_failed_tasks(instance):
    array = instance.submit('-a', '0-5%2', '--', 'sh', '-c', 'exit $((FAIRLEAD_ARRAY_TASK_ID % 2))')
    until(lambda: not instance.rows('queue'), 'the array to end')
    again = resubmit(instance, str(array), '--failed', '--begin', 'now+1hour')
    assert [row['id'] for row in instance.rows('queue')] == ['%d_[1,3,5%%2]' % again]
    one = resubmit(instance, '%d_4' % array, '--begin', 'now+1hour')
    whole = resubmit(instance, str(array), '--begin', 'now+1hour')
    assert [row['id'] for row in instance.rows('queue')][1:] == ['%d_[4%%2]' % one, '%d_[0-5%%2]' % whole]
    good = instance.submit('-a', '0-1', '--', 'true')
    until(lambda: all(not row['id'].startswith('%d_' % good) for row in instance.rows('queue')), 'the array to end')
    assert refusal(instance, str(good), '--failed') == '--failed: no task of array %d has failed' % good
    assert refusal(instance, '%d_9' % array) == 'job %d has no task 9' % array
    assert refusal(instance, str(array), '--failed', '-a', '1').startswith('--failed chooses the tasks of a whole array')


def test_refusals_name_the_job(instance):
    first = instance.submit('--', 'true')
    instance.until_state(first, 'COMPLETED')
    assert refusal(instance, str(first), '--failed') == '--failed: job %d is not an array; leave the option out' % first
    assert refusal(instance, '%d_1' % first) == 'job %d is not an array; it has no task 1' % first
    assert refusal(instance, '99') == 'no job 99'
    assert refusal(instance, str(first), '--retry', 'x').startswith("--retry: 'x' is not COUNT")
    instance.good('stop')
    with sqlite3.connect(instance.state / 'fairlead.db') as database:
        database.execute('DELETE FROM job_script WHERE job_id = ?', (first,))
    instance.start()
    assert refusal(instance, str(first)) == 'job %d has no stored script or command' % first


def test_a_long_environment_and_script(instance):
    """They are stored in pieces, and read and rendered by a thread."""
    script = instance.work / 'long.sh'
    script.write_text('#!/bin/sh\n' + '# %s\n' % ('x' * 99) * 10000 + 'echo "${#LONG}"\n')
    first = int(instance.good('submit', '--parsable', '-o', 'out-%j', 'long.sh', environment={'LONG': 'y' * 100000}))
    second = resubmit(instance, str(first))
    instance.until_state(second, 'COMPLETED')
    assert (instance.work / ('out-%d' % second)).read_text() == '100000\n'
