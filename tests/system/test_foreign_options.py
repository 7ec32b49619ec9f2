"""Options of other schedulers: each is refused with advice, and what the advice says works.

A row has a command line that is refused, a part of the advice, and a line of a shell that follows it."""
import os
import pwd
import shlex
import subprocess

import pytest

ROWS = """
queue -t running           | use -s, --state STATE                    | fairlead queue -s pending
queue --me                 | use -u "$USER" for your own jobs         | fairlead queue -u "$USER"
queue -j 1                 | use 'fairlead show job ID'               | fairlead show job 1
queue -l                   | use -o FIELD,...                         | fairlead queue -o id,name
queue -p main              | fairlead queue -P -o id,partition        | fairlead queue -P -o id,partition | grep '|main$'
queue -q normal            | fairlead queue -P -o id,qos              | fairlead queue -P -o id,qos | grep '|normal$'
queue -n NAME              | fairlead queue -P -o id,name             | fairlead queue -P -o id,name | grep '|NAME$'
queue -J NAME              | fairlead queue -P -o id,name             | fairlead queue -P -o id,name | grep '|NAME$'
queue -w n1                | fairlead queue -P -o id,hosts            | fairlead queue -P -o id,hosts
queue -r                   | tasks that have not started are one row  | fairlead queue
queue -O id                | use -o FIELD,...                         | fairlead queue -o id
queue -S id                | use --sort FIELD,...                     | fairlead queue --sort id
queue -M c1                | use --socket PATH                        | fairlead queue --socket "$FAIRLEAD_SOCKET"
history --me               | use -u "$USER" for your own jobs         | fairlead history -u "$USER"
history -a                 | unless -u selects some                   | fairlead history -u "$USER"
history -S now             | use --since TIME                         | fairlead history --since 2020-01-01
history -E now             | use --until TIME                         | fairlead history --until 2100-01-01
history -t FAILED          | use -s, --state STATE                    | fairlead history -s failed
history -j 3               | give the id alone: fairlead history ID   | fairlead history 3
history -r main            | fairlead history -P -o id,partition      | fairlead history -P -o id,partition | grep '|main$'
history -q normal          | fairlead history -P -o id,qos            | fairlead history -P -o id,qos | grep '|normal$'
history --name broken      | fairlead history -P -o id,name           | fairlead history -P -o id,name | grep '|broken$'
history -N localhost       | fairlead history -P -o id,hosts          | fairlead history -P -o id,hosts | grep -w localhost
history --format id        | use -o FIELD,...                         | fairlead history -o id,limit
history --parsable2        | use -P, --parsable                       | fairlead history --parsable
prio -j 1                  | give the id alone: fairlead prio ID      | fairlead prio 1
prio -u NAME               | fairlead prio -P                         | fairlead prio -P | grep "|$USER|"
share -U                   | use -u, --user NAME                      | fairlead share -u "$USER"
share -n                   | use --noheader                           | fairlead share --noheader
share -p                   | use -P, --parsable                       | fairlead share -P
share --accounts default   | use -A, --account NAME                   | fairlead share -A default
cancel -t pending          | use -s, --state pending or running       | fairlead cancel --dry-run -s pending
cancel -n NAME             | use -J, --name NAME                      | fairlead cancel --dry-run -J NAME
cancel --me                | use --all for all your jobs              | fairlead cancel --dry-run --all
cancel -w n1               | 'fairlead queue -P -o id,hosts'          | fairlead queue -P -o id,hosts
cancel -i 1                | use --dry-run                            | fairlead cancel --dry-run 1
submit --wrap true         | fairlead submit -- COMMAND               | fairlead submit -- true
submit --ntasks 1 x        | use -n, --cpus for CPUs                  | fairlead submit -n 1 -- true
submit --name x -- true    | use -J, --job-name                       | fairlead submit -J x -- true
submit -js 1 x             | use --job-share N                        | fairlead submit --job-share 1 -- true
submit -ot 1 x             | use --override-tickets N                 | fairlead submit --override-tickets 1 -- true
submit -tc 2 x             | use --array 0-999%50                     | fairlead submit --array 0-1%1 -- true
submit -w n1 x             | use --queues '*@HOST'                    | fairlead submit --queues '*@localhost' -- true
submit -r y x              | use --requeue or --no-requeue            | fairlead submit --no-requeue -- true
submit -hold_jid 1 x       | use --hold-jid                           | fairlead submit --hold-jid 1 -- true
submit -sync y x           | use --wait                               | fairlead submit --wait -- true
submit -S /bin/bash x      | #!/bin/bash                              | fairlead submit -- /bin/bash -c true
submit -R y x              | use --reserve                            | fairlead submit --reserve -- true
submit -now y x            | use --immediate                          | fairlead submit --immediate=60 -- true
submit -terse x            | use --parsable                           | fairlead submit --parsable -- true
submit -v A=1 x            | use --export                             | fairlead submit --export A=1 -- true
submit -m be x             | no mail is sent; use --wait              | fairlead submit --wait -- true
submit -verify x           | use --test-only                          | fairlead submit --test-only -- true
submit -soft -l os=1 x     | use --soft LIST                          | fairlead submit --soft "" -- true
submit -notify x           | SIGKILL after the setting grace_s        | fairlead set grace_s
submit -ac A=1 x           | --comment TEXT is a note                 | fairlead submit --comment A=1 -- true
submit -ckpt x y           | use --requeue                            | fairlead submit --requeue -- true
submit -binding linear:1 x | the setting enforce_cpus                 | fairlead set enforce_cpus
submit -@ file             | into the script, or on the command line  | fairlead submit -- true
submit -wd /tmp x          | use -D for another                       | fairlead submit -D /tmp -- true
submit -shell n -- true    | the interpreter of its #! line           | fairlead submit -- true
queue -xml                 | use --json                               | fairlead queue --json
queue -pri                 | use 'fairlead prio'                      | fairlead prio
queue -ext                 | use 'fairlead prio'                      | fairlead prio
queue -ne                  | use -s pending                           | fairlead queue -s pending
queue -g c                 | 'fairlead places'                        | fairlead places
cancel 1 -t 1-5            | tasks of array 5 are 5_[1-9]             | fairlead cancel --dry-run '2_[1-2]'
submit --nice 5 -- true    | the argument of --nice follows a '='     | fairlead submit --nice=5 -- true
update 1 --hold            | use 'fairlead hold ID'                   | fairlead hold 1
update 1 --name x          | use -J, --job-name                       | fairlead update 1 -J NAME
update 1 --nice 5          | the argument of --nice follows a '='     | fairlead update 1 --nice=5
update 1 -a 0-3            | use --array-limit COUNT                  | fairlead update 2 --array-limit 2
update 1 --wait            | use 'fairlead wait ID'                   | fairlead wait 2 --help
update 1 -D /tmp           | directory, files and environment cannot  | fairlead submit -D /tmp -- true
cancel NAME                | use -J, --name NAME                      | fairlead cancel --dry-run -J NAME
cancel 1,2                 | give several ids as several arguments    | fairlead cancel --dry-run 1 2
partition add p Nodes=n1   | use hosts=NAME,...                       | fairlead partition add p hosts=localhost
group add g hostlist=n1    | use hosts=NAME,...                       | fairlead group add g hosts=localhost
update 1 TimeLimit=10      | use -t, --time DURATION                  | fairlead update 1 -t 10
update TimeLimit=10        | use -t, --time DURATION                  | fairlead update 1 -t 10
update JobId=1 Nice=5      | give the id alone: fairlead update ID    | fairlead update 1 --nice=5
submit -N name -- true     | use -J, --job-name for the job's name    | fairlead submit -J name -- true
set KillWait=20            | fairlead set grace_s=30                  | fairlead set grace_s=30
unsuspend 1                | did you mean 'resume'?                     | fairlead resume --dry-run -J none
scontrol show job 1        | did you mean 'show job'?                 | fairlead show job 1
scontrol show nodes        | did you mean 'host show'?                | fairlead host show
scontrol update JobId=1    | did you mean 'update'?                   | fairlead update 1 --nice=5
scontrol hold 1            | did you mean 'hold'?                     | fairlead hold 1
sacctmgr add user x        | did you mean 'user add'?                 | fairlead user add x
sacctmgr list assoc        | did you mean 'user show'?                | fairlead user show
qconf -sql                 | did you mean 'partition show'?           | fairlead partition show
qconf -mq main             | did you mean 'partition modify'?         | fairlead partition modify main slots=AUTO
qconf -ssconf              | did you mean 'set'?                      | fairlead set
qmod -d main               | did you mean 'partition drain'?          | fairlead partition drain main
qmod -e main               | did you mean 'partition resume'?         | fairlead partition resume main
queue -o limt              | did you mean 'LIMIT'?                    | fairlead queue -o LIMIT
cancel -s INT 1            | a cancelled job gets SIGTERM             | fairlead cancel --dry-run 1
user modify x DefaultQOS=none | DefaultQOS=, removes it               | fairlead user modify x DefaultQOS=
requeuehold 1              | did you mean 'requeue --hold'?           | fairlead requeue --hold --dry-run -J none
"""
ENVIRONMENT = {'USER': pwd.getpwuid(os.geteuid()).pw_name}
PROGRAMS = os.path.abspath(os.environ.get('FAIRLEAD_BUILD', 'build'))
CASES = [tuple(part.strip() for part in line.split(' | ', 2)) for line in ROWS.strip().splitlines()]


@pytest.fixture(scope='module')
def jobs(shared):
    """Job 1 is held, job 2 is an array that waits for it, job 3 has failed."""
    assert shared.submit('--hold', '-J', 'NAME', '--', 'true') == 1
    assert shared.submit('-d', 'afterok:1', '--array', '0-3', '--', 'true') == 2
    assert shared.run('submit', '--wait', '-J', 'broken', '--', 'false').status == 1
    return shared


@pytest.mark.parametrize('line, advice, follows', CASES, ids=[case[0] for case in CASES])
def test_the_advice_works(jobs, line, advice, follows):
    refused = jobs.run(*shlex.split(line))
    assert (refused.status, refused.out) == (2, '')
    assert advice in refused.err
    result = subprocess.run(['bash', '-c', follows], cwd=jobs.work, env=ENVIRONMENT | jobs.environment |
                            {'FAIRLEAD_SOCKET': str(jobs.socket),
                             'PATH': PROGRAMS + ':' + os.environ['PATH']}, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0 and result.stdout != '', result


@pytest.mark.parametrize('limit, options, note', [
    ('1-10', [], 'the time limit is 1 day and 10 hours; tasks 1 to 10 of an array are --array 1-10'), ('1-10', ['--array', '1-10'], None),
    ('2-10', [], None), ('1-0', [], None), ('10', [], None)])
def test_an_array_of_qsub_is_a_time_limit(jobs, limit, options, note):
    """A person is told so, on a terminal; a program is not."""
    master, slave = os.openpty()
    line = [PROGRAMS + '/fairlead', 'submit', '--hold', '-t', limit, *options, '--', 'true']
    done = subprocess.run(line, cwd=jobs.work, env=ENVIRONMENT | jobs.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=slave,
                          text=True, timeout=60)
    os.write(slave, b'end')
    told = b''
    while not told.endswith(b'end'):
        told += os.read(master, 4096)
    os.close(master)
    os.close(slave)
    assert done.returncode == 0 and done.stdout.startswith('Submitted job ')
    assert ' '.join(told.decode()[:-3].split()) == ('fairlead submit: ' + note if note else '')
    assert jobs.good('submit', '--hold', '-t', limit, *options, '--', 'true').startswith('Submitted job ')


def test_no_dependency(jobs):
    job = jobs.submit('-d', 'afterok:1', '--', 'true')
    assert jobs.good('update', str(job), '-d', 'none') == 'Updated job %d\n' % job
    assert jobs.good('wait', str(job)) == ''


def test_an_ambiguous_option_says_which_exist(jobs):
    assert "option '--ho' is ambiguous: --hold, --hold-jid or --hold-jid-ad; see" in jobs.bad('submit', '--ho', 'x')


def test_settings_have_their_units(jobs):
    table = jobs.good('set', 'halflife_s', 'default_mem_mib', 'PriorityMaxAge', 'default_cpus', '--noheader')
    values = {line.split()[0]: line for line in table.splitlines()}
    assert '604800 s (7-00:00:00)' in values['halflife_s'] and '256 MiB' in values['default_mem_mib']
    assert '10080 min (7-00:00:00)' in values['PriorityMaxAge']
    assert values['default_cpus'].split()[:3] == ['default_cpus', '1', '1']
    assert [row['value'] for row in jobs.rows('set', 'halflife_s')] == ['604800']
    assert "did you mean 'PriorityWeightAge'? run 'fairlead set' to list them" in jobs.bad('set', 'PriorityWeightAg=1')
