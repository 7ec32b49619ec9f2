"""log: the output of several jobs, of arrays, its last lines, files that were moved, and what a terminal gets."""
import os
import pty
import subprocess

from conftest import FAIRLEAD, PATIENCE, until


def lines(text):
    return sorted(line for line in text.splitlines())


def test_several_jobs_have_prefixes(instance):
    array = instance.submit('--array', '8-10', '--', 'sh', '-c', 'echo task $FAIRLEAD_ARRAY_TASK_ID; printf "no end"')
    job = instance.submit('--', 'printf', 'a\n\nb\n')
    instance.good('wait', array, job)
    expected = ['%d_%-2d  %s' % (array, task, text) for task in (8, 9, 10) for text in ('no end', 'task %d' % task)]
    own = ['%-4d  %s' % (job, text) for text in ('a', '', 'b')]
    assert lines(instance.good('log', array, job)) == lines('\n'.join(expected + own))
    assert instance.good('log', array, job).splitlines()[-3:] == own
    assert lines(instance.good('log', '-f', array, job)) == lines('\n'.join(expected + own))
    assert instance.good('log', '%d_9' % array) == 'task 9\nno end'
    both = instance.good('log', '%d_[8,9]' % array)
    assert both == '%d_8  task 8\n%d_8  no end\n%d_9  task 9\n%d_9  no end\n' % ((array,) * 4)


def test_an_array_is_followed_to_its_last_task(instance):
    instance.good('set', 'host_cpus=1')
    held = instance.submit('--hold', '--array', '0-4', '--', 'sh', '-c', 'echo task $FAIRLEAD_ARRAY_TASK_ID')
    follower = instance.popen('log', '-f', held)
    assert follower.stderr.readline() == b'fairlead log: 5 tasks have not started; the output follows then\n'
    instance.good('release', held)
    out, err = follower.communicate(timeout=PATIENCE)
    assert (follower.returncode, err) == (0, b'')
    assert lines(out.decode()) == ['%d_%d  task %d' % (held, task, task) for task in range(5)]


def test_a_job_that_waits_is_followed_and_says_why_it_waits(instance):
    held = instance.submit('--hold', '--', 'echo', 'one')
    follower = instance.popen('log', '-f', held)
    assert follower.stderr.readline() == (
        b'fairlead log: job %d waits: PENDING (JobHeldUser); its output follows when it has started\n' % held)
    instance.good('release', held)
    assert follower.communicate(timeout=PATIENCE) == (b'one\n', b'')


def test_lines_of_two_jobs_do_not_mix(instance):
    instance.good('set', 'host_cpus=2')
    script = 'printf %s; while ! test -e go; do sleep 0.02; done; echo %s'
    first = instance.submit('--', 'sh', '-c', script % ('one-', 'two'))
    second = instance.submit('--', 'sh', '-c', script % ('three-', 'four'))
    instance.until_state(first, 'RUNNING')
    instance.until_state(second, 'RUNNING')
    follower = instance.popen('log', '-f', first, second)
    (instance.work / 'go').touch()
    out = follower.communicate(timeout=PATIENCE)[0].decode()
    assert lines(out) == lines('%d  one-two\n%d  three-four\n' % (first, second))


def test_one_that_cannot_be_printed_does_not_hide_the_others(instance):
    instance.good('set', 'host_cpus=1')
    good = instance.submit('--', 'echo', 'seen')
    gone = instance.submit('--', 'echo', 'lost')
    instance.good('wait', good, gone)
    path = instance.work / ('fairlead-%d.out' % gone)
    path.unlink()
    waiting = instance.submit('--hold', '--', 'true')
    result = instance.run('log', good, gone, waiting)
    assert (result.status, result.out) == (1, '%d  seen\n' % good)
    assert result.err == ('fairlead log: %s: No such file or directory\n'
                          'fairlead log: job %d has not started: PENDING (JobHeldUser)\n' % (path, waiting))
    assert 'no job 99' in instance.bad('log', good, '99')
    held = instance.submit('--hold', '--array', '1-7', '--', 'true')
    result = instance.run('log', held)
    assert (result.status, result.out, result.err) == (0, '', '7 tasks have not started\n')


def test_tail(instance):
    job = instance.submit('--', 'sh', '-c', 'seq 30000; printf end')
    instance.good('wait', job)
    whole = instance.good('log', job)
    for count in (0, 1, 2, 3, 29999, 30000, 30001, 100000):
        expected = ''.join(whole.splitlines(keepends=True)[-count:]) if count else ''
        assert instance.good('log', '--tail', str(count), job) == expected, count
    other = instance.submit('--', 'sh', '-c', 'echo a; echo b')
    empty = instance.submit('--', 'true')
    instance.good('wait', other, empty)
    assert instance.good('log', '--tail', '1', other, empty) == '%d  b\n' % other
    assert instance.good('log', '--tail', '1', '-f', other) == 'b\n'
    assert "'-1'" in instance.bad('log', '--tail=-1', job)


def test_a_moved_file_is_found_while_the_job_runs(instance):
    instance.good('set', 'host_cpus=2')
    script = 'echo one; while ! test -e go; do sleep 0.02; done; echo two'
    moved = instance.submit('--', 'sh', '-c', script)
    removed = instance.submit('-e', 'err', '--', 'sh', '-c', 'echo error >&2; ' + script)
    for job in moved, removed:
        until(lambda: instance.run('log', job).out == 'one\n')
    (instance.work / ('fairlead-%d.out' % moved)).rename(instance.work / 'elsewhere')
    (instance.work / ('fairlead-%d.out' % removed)).unlink()
    (instance.work / 'err').unlink()
    assert instance.good('log', moved) == instance.good('log', removed) == 'one\n'
    assert instance.good('log', '-e', removed) == 'error\n'
    followers = [instance.popen('log', '-f', job) for job in (moved, removed)]
    assert [follower.stdout.readline() for follower in followers] == [b'one\n'] * 2
    (instance.work / 'go').touch()
    assert [follower.communicate(timeout=PATIENCE)[0] for follower in followers] == [b'two\n'] * 2
    assert 'No such file' in instance.bad('log', moved)


def test_a_terminal_gets_no_control_characters(instance):
    job = instance.submit('--', 'printf', r'\033[31mred\033[0m \033]0;title\007 \033[2J\n')
    instance.good('wait', job)
    assert instance.good('log', job) == '\033[31mred\033[0m \033]0;title\007 \033[2J\n'
    leader, follower = pty.openpty()
    subprocess.run([FAIRLEAD, 'log', str(job)], env=instance.environment, stdout=follower, check=True, timeout=PATIENCE)
    os.close(follower)
    assert os.read(leader, 1000) == b'\033[31mred\033[0m ?]0;title? ?[2J\r\n'
    os.close(leader)
