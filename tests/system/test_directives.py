"""Directives in job scripts: #FAIRLEAD, #SBATCH and #$ lines."""
import json

import pytest

from test_pretend import Pretend

HOSTS = {'hosts': [{'name': 'n[1-2]', 'cpus': 8, 'mem': '4G', 'gpus': 4}]}


@pytest.fixture
def cluster():
    """Two hosts that are not there."""
    one = Pretend()
    yield one
    one.close()


def submit(instance, text, *options, name='job.sh'):
    (instance.work / name).write_text('#!/bin/sh\n' + text)
    return instance.run('submit', '--hold', '--parsable', *options, name)


def job_of(instance, result):
    assert result.status == 0, result
    return instance.job(int(result.out))


# The script behind its first line, options of the command line; fields of the job, and what is noted.
READ = [
    ('#FAIRLEAD -n 2 --mem 100M -t 5\ntrue\n', (), {'cpus': 2, 'mem_mib': 100, 'time_limit_s': 300}, ''),
    ('#FAIRLEAD --mem 100M \\\n#FAIRLEAD -J x --comment "a  b\'c" # --mem 3M\ntrue\n', (),
     {'mem_mib': 100, 'name': 'x', 'comment': "a  b'c"}, ''),
    ('#FAIRLEAD --comment a\\ b\n#FAIRLEAD --comment=\'c\\ d\'\n', (), {'comment': 'c\\ d'}, ''),
    ('#FAIRLEAD -n 2 --mem 100M\ntrue\n', ('-n', '1'), {'cpus': 1, 'mem_mib': 100}, ''),
    ('#FAIRLEAD --slots 2\n#FAIRLEAD --mem-per-cpu 7M\n', ('-n', '1', '--mem', '50M'), {'cpus': 1, 'mem_mib': 50}, ''),
    ('#SBATCH -n 1 -J slurm --mem=70\n#FAIRLEAD -n 2 -J own\n', (), {'cpus': 2, 'mem_mib': 70, 'name': 'own'}, ''),
    ('#SBATCH --nodes=1 --ntasks-per-node=4\n', ('-n', '2'), {'cpus': 2, 'nodes': '1', 'slots_per_node': 0}, ''),
    ('#SBATCH --nodes=1 --ntasks-per-node=4\n#FAIRLEAD --slots 2\n', (), {'cpus': 2, 'slots_per_node': 0}, ''),
    ('#$ -q main\n', ('-p', 'other'), {'partition': 'other', 'queues': ''}, ''),
    ('#SBATCH -w localhost -p main\n', ('-p', 'other'), {'partition': 'other', 'queues': '*@localhost'}, ''),
    ('\n# text\n##SBATCH -n 9\n# SBATCH -n 9\n#SBATCHED\n#SBATCH -c 2\ntrue\n', (), {'cpus': 2}, ''),
    ('true\n#SBATCH -n 4\n', (), {'cpus': 1}, 'job.sh:3: #SBATCH lines after the first command are not read\n'),
    ('#SBATCH --ntasks=1 --cpus-per-t=2 --time=1:00 --array=1-4%2\n', (),
     {'cpus': 2, 'time_limit_s': 60, 'array_limit': 2, 'task_count': 4}, ''),
    ('#SBATCH --mail-user=a@b\n#SBATCH -n 2 --hint=nomultithread\n', (), {'cpus': 2},
     "job.sh:2:9: #SBATCH --mail-user is ignored: no mail is sent; use --wait to wait until the job has ended\n"
     "job.sh:3:14: #SBATCH --hint is ignored: which cores and sockets a job gets is not chosen\n"),
    ('#SBATCH --exclusive --time=10 --time-min=2\n', (), {'exclusive': True, 'time_limit_s': 600, 'time_min_s': 120}, ''),
    ('#$ -now n\n', (), {'immediate_s': None}, ''),
    ('#$ -cwd -V -N ge -S /bin/sh -l h_rt=90\ntrue\n#$ -l h_vmem=1.5G\n', (),
     {'name': 'ge', 'time_limit_s': 90, 'mem_mib': 1536}, ''),
    ('#$ -l h_rt=1:0:0,s_rt=:50:\n', (), {'time_limit_s': 3600, 'warn_signal': 'USR1@600'}, ''),
    ('#$ -l s_rt=90\n', (), {'time_limit_s': 90, 'warn_signal': None}, ''),
    ('#$ -l h_rt=60 -l s_rt=60\n#$ -l h_rt=30\n', (), {'time_limit_s': 30, 'warn_signal': None}, ''),
    ('#$ -l s_rt=10,h_rt=30\n', ('--signal', ''), {'time_limit_s': 30, 'warn_signal': ''}, ''),
    ('#$ -t 1-9:2 -tc 2\n', (), {'task_count': 5, 'array_limit': 2}, ''),
    ('#$ -soft -q main\n#$ -q *@localhost -hard -masterq main\n#$ -masterq *@localhost -q main\n', (),
     {'soft_queues': 'main,*@localhost', 'master_queues': 'main,*@localhost', 'queues': 'main'}, ''),
    ('#$ -R y -sync y\n#$ -R n -sync n\n', (), {'reserve': False}, ''),
    ('#$ -R n\n#$ -R y\n', (), {'reserve': True}, ''),
    ('#SBATCH -n 2\n#$ -N ge\n', (), {'cpus': 2, 'name': 'job.sh'},
     'job.sh:3: #$ lines are not read beside #SBATCH lines\n'),
    ('#FAIRLEAD -n 2\n#PBS -l nodes=4\n', (), {'cpus': 2}, 'job.sh:3: #PBS lines are not read beside others\n'),
    ('#$ -N "ge\n#SBATCH -n 2\n#$ -N x\\\n', (), {'cpus': 2}, 'job.sh:2: #$ lines are not read beside #SBATCH lines\n'),
    ('#PBS -N it\'s \\\n#FAIRLEAD -n 2\n', (), {'cpus': 2}, 'job.sh:2: #PBS lines are not read beside others\n'),
    ('#FAIRLEAD -n 2\n#PBS x\n', ('--directive-prefix', ''), {'cpus': 1}, ''),
    ('#FAIRLEAD -n 2 -J x\n#SBATCH --gpus=99 -n 2\n', ('--directive-prefix', '#FAIRLEAD'), {'cpus': 2, 'name': 'x'}, ''),
    ('#% -n 2\n#FAIRLEAD -n 1 -J x\n', ('--directive-prefix', '#%'), {'cpus': 2, 'name': 'job.sh'}, ''),
]


@pytest.fixture(scope='module')
def partitioned(shared):
    shared.good('partition', 'add', 'other')
    return shared


@pytest.mark.parametrize('text, options, fields, noted', READ, ids=range(len(READ)))
def test_directives_are_options(partitioned, text, options, fields, noted):
    result = submit(partitioned, text, *options)
    job = job_of(partitioned, result)
    assert {name: job[name] for name in fields} == fields
    assert result.err == noted


# Exit status 2, nothing submitted, one line that begins with the position.
REFUSED = [
    ('#SBATCH --gpus=4 --array=1-10\n', 'job.sh:2:9: --gpus: 4 exceeds'),
    ('#SBATCH --gres=gpu:a100:2\n', "job.sh:2:9: #SBATCH --gres: a type of GPU ('a100') cannot be requested; write #FAIRLEAD"),
    ('#SBATCH -n 4000\n', 'job.sh:2:9: --cpus: 4000 exceeds'),
    ('#SBATCH --mem=1.5X\n', "job.sh:2:9: --mem: '1.5X' is not"),
    ('#SBATCH -J x --deadline=now+2hours\n', 'job.sh:2:14: #SBATCH --deadline has no counterpart: '),
    ('#SBATCH --dependency=afterok:777\n', 'job.sh:2:9: '),
    ('#SBATCH -N 2-3 --gpus-per-node=2\n', 'job.sh:2:16: GPUs on several hosts are counted for each slot: write #FAIRLEAD'),
    ('#SBATCH -c 1 -A nosuch\n', "job.sh:2:14: no account 'nosuch'"),
    ('#SBATCH -p main,nosuch\n', "job.sh:2:9: no partition 'nosuch'"),
    ('#FAIRLEAD -n 1 -q nosuch\n', "job.sh:2:16: no qos 'nosuch'"),
    ('#SBATCH -L nosuch:1\n', "job.sh:2:9: no resource 'nosuch'"),
    ('#$ -cwd -l nosuch=2\n', "job.sh:2:9: no resource 'nosuch'"),
    ('#$ -l cpu=x\n', "job.sh:2:4: resource 'cpu': amount"),
    ('#$ -P nosuch\n', "job.sh:2:4: no project 'nosuch'"),
    ('#$ -pe nosuch 2\n', "job.sh:2:4: no pe 'nosuch'"),
    ('#$ -dept nosuch\n', "job.sh:2:4: department: 'nosuch' is not"),
    ('#SBATCH --frob=3\n', 'job.sh:2:9: #SBATCH --frob=3: sbatch has no such option'),
    ('#SBATCH -n\n', 'job.sh:2:9: #SBATCH -n: its argument is missing'),
    ('#SBATCH frob\n', "job.sh:2:9: #SBATCH: 'frob' is not an option"),
    ('#FAIRLEAD -n 1 --frob\n', "job.sh:2:16: unknown option '--frob'"),
    ('#FAIRLEAD -n 1 frob\n', "job.sh:2:16: 'frob' is not an option; a directive has only options"),
    ('#FAIRLEAD --nice 5\n', "job.sh:2:18: unexpected argument '5': the argument of --nice follows a '='"),
    ('#FAIRLEAD --socket x\n', "job.sh:2:11: unknown option '--socket'"),
    ('#FAIRLEAD --comment "x\n', 'job.sh:2:21: a quote without its end'),
    ('#FAIRLEAD -n 1 \\\ntrue\n', 'job.sh:2:16: the backslash continues the directive'),
    ('#FAIRLEAD --directive-prefix x\n', '--directive-prefix is an option of the command line'),
    ('#SBATCH --exclusive=user\n', "job.sh:2:9: --exclusive: 'user' is not"),
    ('#SBATCH --time=5 --time-min=10\n', "job.sh:2:18: --time-min: '00:10:00' exceeds the time limit 00:05:00"),
    ('#$ -now y\n', 'job.sh:2:4: --immediate: not together with'),
    ('#$ -now maybe\n', "job.sh:2:4: #$ -now: 'maybe' is not"),
    ('#$ -S /bin/bash\n', 'job.sh:2:4: #$ -S: the #! line names the interpreter: write #!/bin/bash as line 1'),
    ('#$ -notify\n', 'job.sh:2:4: #$ -notify has no counterpart: '),
    ('#$ -tc 3\n', 'job.sh:2:4: #$ -tc without -t: only an array has tasks'),
    ('#$ -l h_rt=1:x\n', "job.sh:2:4: #$ -l h_rt: '1:x' is not a time, as 3600 or 1:0:0"),
    ('#$ -l h_rt=2:,s_rt=:::\n', "job.sh:2:4: #$ -l s_rt: ':::' is not a time"),
    ('#$ -l h_rt=100:0:0,s_rt=1\n', "job.sh:2:4: #$ -l s_rt: '1' is more than 65535 s before h_rt"),
    ('#$ -cwd -o out.$HOSTNAME\n', 'job.sh:2:9: #$ -o: $HOSTNAME has no counterpart here; $HOME, $USER, '),
    ('#SBATCH -n 1 --help\n', "job.sh:2:14: #SBATCH --help has no counterpart: it prints a text and submits nothing"),
    ('#SBATCH --version\n', 'job.sh:2:9: #SBATCH --version has no counterpart: it prints a text and submits nothing'),
    ('#$ -help\n', "job.sh:2:4: #$ -help has no counterpart: it prints a text and submits nothing"),
    ('#$ a comment\n', 'job.sh:2:4: #$ a: qsub has no such option'),
    ('#PBS -N it\'s\n', 'job.sh:2:1: #PBS lines are not read: write #FAIRLEAD'),
    ('#PBS -l nodes=4\n', 'job.sh:2:1: #PBS lines are not read: write #FAIRLEAD'),
]


@pytest.mark.parametrize('text, refusal', REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_read_is_refused_with_its_position(shared, text, refusal):
    before = shared.rows('queue')
    result = submit(shared, text)
    assert (result.status, result.out, result.err.count('\n')) == (2, '', 1), result
    assert refusal in result.err and result.err.startswith('job.sh:'), result.err
    assert shared.rows('queue') == before


def test_directives_from_standard_input(shared):
    job = shared.submit('--hold', '-', text='#!/bin/sh\n#FAIRLEAD -n 2\n#SBATCH -J in\ntrue\n')
    assert (shared.job(job)['cpus'], shared.job(job)['name']) == (2, 'in')
    refused = shared.run('submit', '-', text='#!/bin/sh\n#SBATCH -n x\n')
    assert (refused.status, refused.err.startswith('stdin:2:9: #SBATCH --ntasks: ')) == (2, True)


def test_a_command_has_no_directives(shared):
    (shared.work / 'command.sh').write_text('#!/bin/sh\n#FAIRLEAD -n 2\n')
    assert shared.job(shared.submit('--hold', '--', 'sh', 'command.sh'))['cpus'] == 1


def test_files_and_variables_of_qsub(shared):
    (shared.work / 'ge.sh').write_text('#!/bin/sh\n#$ -o host:$JOB_NAME.%.$JOB_ID -v MINE=7\necho "$MINE"\n')
    job = shared.submit('ge.sh')
    shared.good('wait', job)
    assert (shared.work / ('ge.sh.%%.%d' % job)).read_text() == '7\n'


# Options of -o and -e, options of the command line, and the files of a job whose script writes both, by {job}.
FILES = [
    ('-o logs', (), {'logs/ge.sh.o{job}': 'oe'}),
    ('-o :logs/ -N n%5j', (), {'logs/n%5j.o{job}': 'oe'}),
    ('-o logs -e logs', (), {'logs/ge.sh.o{job}': 'o', 'logs/ge.sh.e{job}': 'e'}),
    ('-o logs -e logs -j y', (), {'logs/ge.sh.o{job}': 'oe'}),
    ('-t 3 -e logs -o x.$TASK_ID', (), {'logs/ge.sh.e{job}.3': 'e', 'x.3': 'o'}),
    ('-o logs', ('--array', '4'), {'logs/ge.sh.o{job}.4': 'oe'}),
    ('-wd {work}/below -o in', (), {'below/in/ge.sh.o{job}': 'oe'}),
    ('-wd /nowhere -o in', ('-D', 'below'), {'below/in/ge.sh.o{job}': 'oe'}),
    ('-wd /nowhere -o in\n#FAIRLEAD -D below', (), {'below/in/ge.sh.o{job}': 'oe'}),
    ('-o $HOME/$USER.$JOB_NAME.$JOB_ID', (), {'home%j/me.ge.sh.{job}': 'oe'}),
    ('-o $HOME', (), {'home%j/ge.sh.o{job}': 'oe'}),
]


@pytest.mark.parametrize('options, line, files', FILES, ids=range(len(FILES)))
def test_paths_of_qsub_are_files_of_the_job(shared, options, line, files):
    """A directory stands for Grid Engine's default name in it; variables of paths have their values."""
    for name in ('logs', 'below/in', 'home%j'):
        (shared.work / name).mkdir(parents=True, exist_ok=True)
    text = '#!/bin/sh\n#$ %s\nprintf o\nprintf e >&2\n' % options.replace('{work}', str(shared.work))
    (shared.work / 'ge.sh').write_text(text)
    job = shared.submit(*line, 'ge.sh', environment={'HOME': str(shared.work / 'home%j')})
    shared.good('wait', job)
    user = shared.job(job)['user']
    for name, content in files.items():
        path = shared.work / name.replace('{job}', str(job)).replace('me.', user + '.')
        assert path.read_text() == content, path


def test_the_command_line_decides_what_is_printed(shared):
    """--test-only and --json take the place of --wait and --parsable in the script, not the other way round."""
    for text in ('#SBATCH --wait --parsable\n', '#$ -terse -sync y\n', '#FAIRLEAD --wait --parsable\n'):
        (shared.work / 'w.sh').write_text('#!/bin/sh\n' + text)
        tried = shared.run('submit', '--test-only', 'w.sh')
        assert (tried.status, tried.err) == (0, ''), tried
        submitted = json.loads(shared.good('submit', '--hold', '--json', 'w.sh'))
        assert shared.job(submitted['job_id'])['state'] == 'PENDING'
    (shared.work / 'w.sh').write_text('#!/bin/sh\n#SBATCH --test-only --wait\n')
    refused = shared.run('submit', 'w.sh')
    assert (refused.status, refused.err) == (2, 'w.sh:2:21: --wait: not together with --test-only, which submits nothing\n')
    assert shared.bad('submit', '--test-only', '--wait', 'w.sh') == (
        'fairlead submit: --wait: not together with --test-only, which submits nothing')


@pytest.mark.parametrize('text, refusal', [
    ('', 'is empty'), ('echo\n', 'does not name its interpreter: write it as line 1, such as #!/bin/sh'),
    ('#!/bin/sh\r\n', 'has DOS line ends'), ('#!/bin/sh\n\0', 'is binary, not a script')])
def test_a_script_on_standard_input_is_named_so(shared, text, refusal):
    refused = shared.run('submit', '-', text=text)
    assert (refused.status, refused.err) == (
        2, 'fairlead submit: the script on standard input %s\n' % refusal)


def test_repeated_lists_of_qsub_are_one_list(shared):
    first, second, third = (shared.submit('--hold', '--', 'true') for _ in range(3))
    job = job_of(shared, submit(shared, '#$ -hold_jid %d\n#$ -hold_jid %d,%d\n' % (first, second, third)))
    assert [int(one.split(':')[1].split('(')[0]) for one in job['dependency'].split(',')] == [first, second, third]
    (shared.work / 'two.sh').write_text('#!/bin/sh\n#$ -v ONE=1 -v TWO=0\n#$ -v TWO=2\necho "$ONE$TWO"\n')
    job = shared.submit('-o', 'two.out', 'two.sh')
    shared.good('wait', job)
    assert (shared.work / 'two.out').read_text() == '12\n'


@pytest.mark.parametrize('name, text, line', [
    ('x.py', 'import os\n', '#!/usr/bin/env python3'), ('text', 'echo\n', '#!/bin/sh'),
    ('x.R', 'x\n', '#!/usr/bin/env Rscript')])
def test_a_script_names_its_interpreter(shared, name, text, line):
    (shared.work / name).write_text(text)
    assert shared.bad('submit', name) == (
        "fairlead submit: script '%s' does not name its interpreter: write it as line 1, such as %s" % (name, line))
    (shared.work / name).write_text(line + '\n' + text)
    shared.good('submit', '--hold', name)


# Numbers of sbatch that are more than one option: fields of the job, or the refusal.
NUMBERS = [
    ('-n 4 --ntasks-per-node=2', {'cpus': 4, 'nodes': '2', 'slots_per_node': 2}),
    ('-N 2 -n 4 --ntasks-per-node=2 -c 2', {'cpus': 8, 'nodes': '2', 'slots_per_node': 4}),
    ('-N 1 -n 3 --ntasks-per-node=4', {'cpus': 3, 'nodes': '1', 'slots_per_node': 0}),
    ('-n 3 --ntasks-per-node=4', {'cpus': 3, 'nodes': '', 'slots_per_node': 0}),
    ('-n 6 --ntasks-per-node=4', 'job.sh:2:14: #SBATCH --ntasks-per-node: beside --ntasks it is a maximum'),
    ('-N 2 -n 6 --ntasks-per-node=4', 'job.sh:2:19: #SBATCH --ntasks-per-node: beside --ntasks it is a maximum'),
    ('--gpus-per-task=1', {'cpus': 1, 'gpus': 1}),
    ('--gpus-per-task=1 -n 2', {'cpus': 2, 'gpus': 2}),
    ('--gpus-per-task=1 -n 2 -c 2', {'cpus': 4, 'gpus': 2}),
    ('-G 4 --gpus-per-task=2', {'cpus': 2, 'gpus': 4}),
    ('--gres=gpu:4 --gpus-per-task=2 -c 2', {'cpus': 4, 'gpus': 4}),
    ('-G 4 --gpus-per-task=2 -n 2', {'cpus': 2, 'gpus': 4}),
    ('-G 3 --gpus-per-task=2', 'job.sh:2:14: #SBATCH --gpus-per-task: 3 GPUs cannot be shared out to tasks with 2 each'),
    ('-G 4 --gpus-per-task=1 -n 2', 'job.sh:2:14: #SBATCH: options for GPUs disagree: they mean 4 and 2 GPUs'),
    ('-G 4 --gres=gpu:2', 'job.sh:2:14: #SBATCH: options for GPUs disagree: they mean 4 and 2 GPUs'),
    ('-G 2 --gres=gpu:2', {'cpus': 4, 'gpus': 2}),
    ('--gres=gpu:1 --gres=none', {'cpus': 4, 'gpus': 0}),
    ('--gpus=0', {'cpus': 4, 'gpus': 0}),
    ('-N 1-1 --gres=gpu:1', {'cpus': 1, 'nodes': '1', 'gpus': 1}),
    ('-N 1-2 --gres=gpu:1', 'job.sh:2:16: GPUs on several hosts'),
]


def test_numbers_of_sbatch_agree(cluster):
    cluster.begin(HOSTS)
    cluster.good('set', 'default_cpus=4', 'default_mem_mib=64')
    for text, expected in NUMBERS:
        result = submit(cluster, '#SBATCH %s\n' % text)
        if isinstance(expected, str):
            assert (result.status, result.err.count('\n')) == (2, 1) and result.err.startswith(expected), (text, result)
            continue
        job = job_of(cluster, result)
        assert ({name: job[name] for name in expected}, result.err) == (expected, ''), text


def test_help_lists_each_option(shared):
    text = shared.good('help', 'directives')
    for word in ('--cpus-per-task', '-hold_jid', 'ignored', 'refused', '--directive-prefix'):
        assert word in text
