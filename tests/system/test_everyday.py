"""Everyday use of the command line: several values, output that fails, units."""
import os
import signal
import subprocess

from conftest import until

PROGRAM = os.path.join(os.path.abspath(os.environ.get('FAIRLEAD_BUILD', 'build')), 'fairlead')


def test_output_that_fails_names_the_job(instance):
    for options in (['--parsable'], [], ['--wait']):
        with open('/dev/full', 'w') as full:
            process = subprocess.run([PROGRAM, 'submit', *options, '--', 'true'], stdout=full, stderr=subprocess.PIPE, text=True,
                                     env=os.environ | instance.environment | {'FAIRLEAD_SOCKET': str(instance.socket)},
                                     cwd=instance.work)
        err = process.stderr
        job = max(row['job_id'] for row in instance.json('queue', '--all'))
        assert (process.returncode, err) == (1, 'fairlead submit: standard output: No space left on device; job %d was '
                                                'submitted all the same\n' % job)


def test_several_values_select_jobs(instance):
    instance.good('account', 'add', 'a')
    instance.good('account', 'add', 'b')
    instance.good('partition', 'add', 'p')
    user = instance.json('whoami')['user']
    for account in ('a', 'b'):
        instance.good('user', 'add', user, '-A', account)
    first = instance.submit('--hold', '-A', 'a', '-J', 'one', '--', 'true')
    second = instance.submit('--hold', '-A', 'b', '-J', 'x,y', '-p', 'p', '--', 'true')
    third = instance.submit('--hold', '-A', 'a', '-J', 'three', '--', 'true')

    def selected(*options, command='cancel'):
        lines = instance.good(command, '--dry-run', *options).splitlines()
        return [int(line) for line in lines[1:]]

    assert selected('-A', 'a,b') == [first, second, third]
    assert selected('-J', 'one,three') == [first, third]
    assert selected('-J', 'x,y') == [second]
    assert selected('-p', 'main,p', '-u', 'nobody,' + user) == [first, second, third]
    assert selected('-s', 'r,PD') == selected('-s', 'pd') == [first, second, third]
    assert selected('-s', 'R') == []
    assert selected('-s', 'Pd', '-A', 'b', command='release') == [second]
    assert "--state: 'R' is not pending (PD): only pending jobs can be held" in instance.bad('hold', '-s', 'R')
    assert "no account 'c'" in instance.bad('cancel', '-A', 'a,c')
    instance.good('cancel', first, third)
    assert selected('-s', 'cancelled', '-J', 'one,x', command='requeue') == [first]
    assert selected('-s', 'cancelled', '-A', 'b,a', '-p', 'p,main', command='requeue') == [first, third]


def test_one_that_has_ended_is_named(instance):
    ended, waits = instance.submit('--', 'true'), instance.submit('--hold', '--', 'true')
    instance.good('wait', ended)
    result = instance.run('cancel', waits, ended)
    assert (result.status, result.out) == (1, 'Cancelled 1 job\n')
    assert result.err == 'fairlead cancel: job %d has already ended (COMPLETED)\n' % ended


def test_fractions_of_memory(instance):
    assert instance.job(instance.submit('--hold', '--mem', '1.5G', '--', 'true'))['mem_mib'] == 1536


def test_an_array_has_a_bar(instance):
    instance.good('set', 'host_cpus=1')
    job = instance.submit('-a', '0-3', '--', 'sh', '-c',
                          'case $FAIRLEAD_ARRAY_TASK_ID in 0) exit 0;; 1) exit 3;; *) sleep 1000; esac')
    instance.until_state('%d_2' % job, 'RUNNING')
    lines = instance.good('show', 'job', job).splitlines()
    assert lines[2] == 'Progress      [##########xxxxxxxxxx>>>>>>>>>>..........] 2 of 4 ended'


def test_queue_lists_jobs_of_several_accounts_and_users(shared):
    for account in ('lists_a', 'lists_b'):
        shared.good('account', 'add', account)
        shared.good('user', 'add', shared.json('whoami')['user'], '-A', account)
    a, b = (shared.submit('--hold', '-A', account, '--', 'true') for account in ('lists_a', 'lists_b'))
    me = shared.json('whoami')['user']
    for options, expected in [(('-A', 'lists_a,lists_b'), [a, b]), (('-A', 'lists_b,none'), [b]),
                              (('-u', 'nobody_here,' + me, '-A', 'lists_a'), [a]), (('-u', 'nobody_here,other'), [])]:
        assert [row['job_id'] for row in shared.json('queue', *options)] == expected, options


def test_an_interrupted_wait_says_that_the_job_goes_on(shared):
    process = shared.popen('submit', '--wait', '--hold', '--parsable', '--', 'true')
    job = int(process.stdout.readline())
    until(lambda: handles_interrupt(process.pid), 'the wait to begin')
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert process.stderr.read().decode() == 'fairlead submit: job %d goes on; to cancel it: fairlead cancel %d\n' % (job, job)
    process = shared.popen('wait', job, job)
    until(lambda: handles_interrupt(process.pid), 'the wait to begin')
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert process.stderr.read().decode() == 'fairlead wait: the jobs go on; to cancel jobs: fairlead cancel ID...\n'
    assert shared.job(job)['state'] == 'PENDING'


def handles_interrupt(pid):
    status = dict(line.split(':', 1) for line in open('/proc/%d/status' % pid))
    return int(status['SigCgt'], 16) >> (signal.SIGINT - 1) & 1


def test_options_of_another_model_are_noted(instance):
    def note(command, option, model, readers):
        return 'fairlead %s: --%s has no effect now: PriorityType is %s, and only %s reads it\n' % (command, option, model, readers)

    def submit(*options):
        result = instance.run('submit', '--parsable', '--hold', *options, '--', 'true')
        assert result.status == 0 and result.out.strip().isdigit(), result
        return result.err

    multifactor, tickets, basic = 'priority/multifactor', 'priority/tickets', 'priority/basic'
    by_hand, of_tickets = ['--set-priority=5', '--nice=3', '--site-factor=2'], ['--priority=-5', '--job-share=4', '--override-tickets=7']
    job = instance.submit('--hold', '--', 'true')
    assert submit(*by_hand) == ''
    assert submit(*of_tickets) == ''.join(note('submit', o.split('=')[0][2:], multifactor, tickets) for o in of_tickets)
    result = instance.run('update', job, '--job-share', 2, '--nice=1')
    assert (result.status, result.err) == (0, note('update', 'job-share', multifactor, tickets))
    instance.good('set', 'PriorityType=' + basic)
    assert submit(*by_hand) == note('submit', 'site-factor', basic, multifactor)
    instance.good('set', 'PriorityType=' + tickets)
    assert submit(*of_tickets) == ''
    noted = submit(*by_hand).splitlines()
    assert sorted(noted) == sorted(note('submit', name, tickets, readers).strip() for name, readers in (
        ('set-priority', multifactor + ' or ' + basic), ('nice', multifactor + ' or ' + basic), ('site-factor', multifactor)))
    assert submit('--nice=0', '--override-tickets=0') == ''
    assert instance.run('update', job, '--set-priority', 'auto', '--deadline', 'none').err == ''
