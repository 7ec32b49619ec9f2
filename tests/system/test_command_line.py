"""The parts that all commands share: help, manual pages and completion from one table, and the messages for mistakes."""
import os
import re
import shutil
import subprocess

import pytest

FAIRLEAD = os.path.abspath(os.path.join(os.environ.get('FAIRLEAD_BUILD', 'build'), 'fairlead'))


def run(*arguments, **options):
    result = subprocess.run([FAIRLEAD, *arguments], capture_output=True, text=True, timeout=60, **options)
    return result.returncode, result.stdout, result.stderr


def good(*arguments):
    status, out, err = run(*arguments)
    assert (status, err) == (0, '')
    return out


# Names of one or two words, as --help lists them; the first words of those with subcommands.
COMMANDS = re.findall(r'^  ([a-z-]+(?: [a-z-]+)?)(?:  |$)', good('--help'), re.MULTILINE)
PARENTS = sorted({command.split()[0] for command in COMMANDS if ' ' in command})


def test_overview():
    text = good('--help')
    assert text == good('-h') == good('help')
    assert {'share', 'help', 'manual', 'completion'} <= set(COMMANDS)
    assert len(COMMANDS) == len(set(COMMANDS))
    assert max(map(len, text.splitlines())) <= 84


def test_version():
    assert re.fullmatch(r'fairlead \d+\.\d+\.\d+\n', good('--version'))
    assert good('-V') == good('--version')


@pytest.mark.parametrize('command', COMMANDS)
def test_help_of(command):
    text = good(*command.split(), '--help')
    assert text.startswith('Usage: fairlead %s ' % command)
    assert text == good('help', *command.split()) == good(*command.split(), '-h')
    for heading in ('\nOptions\n', '\nExit status\n', '--help'):
        assert heading in text
    for line in text.splitlines():
        assert len(line) <= 80 or line.startswith(' '), line


@pytest.mark.parametrize('command', ['queue', 'wait', 'verify'])
def test_exit_statuses_are_sorted(command):
    statuses = [int(status) for status in re.findall(r'^  (\d+) ', good(command, '--help'), re.MULTILINE)]
    assert statuses[:3] == [0, 1, 2] and statuses == sorted(set(statuses))


@pytest.mark.parametrize('command', COMMANDS)
def test_usage_errors_of(command):
    status, out, err = run(*command.split(), '--no-such-option')
    assert (status, out) == (2, '')
    assert err == "fairlead %s: unknown option '--no-such-option'; see 'fairlead %s --help'\n" % (command, command)
    status, out, err = run(*command.split(), '-\t')
    assert (status, out, err.count('\n')) == (2, '', 1)


@pytest.mark.parametrize('parent', PARENTS)
def test_subcommands(parent):
    commands = [command for command in COMMANDS if command.split()[0] == parent]
    text = good(parent, '--help')
    assert text == good('help', parent)
    assert all(command in text for command in commands)
    own = {'show': 'job', 'scenario': 'dump', 'policy': 'check'}
    own['partition'] = own['host'] = 'add, modify, delete, show, drain or resume'
    own['quota'] = 'add, modify, delete, show or usage'
    names = own.get(parent, 'add, modify, delete or show')
    if parent not in COMMANDS:
        assert run(parent) == (2, '', 'fairlead %s: missing subcommand: %s\n' % (parent, names))
    assert run(parent, 'nosuch')[0] == 2


@pytest.mark.parametrize('arguments, words', [
    ([], "fairlead: missing command; see 'fairlead --help'"),
    (['shrae'], "fairlead: unknown command 'shrae'; did you mean 'share'? see 'fairlead --help'"),
    (['hlep'], "fairlead: unknown command 'hlep'; did you mean 'help'? see 'fairlead --help'"),
    (['sbatch', 'x.sh'], "fairlead: unknown command 'sbatch'; did you mean 'submit'? see 'fairlead --help'"),
    (['qstat'], "fairlead: unknown command 'qstat'; did you mean 'queue'? see 'fairlead --help'"),
    (['submit', '--ntasks=4', 'x.sh'],
     "fairlead submit: unknown option '--ntasks': use -n, --cpus for CPUs; see 'fairlead submit --help'"),
    (['submit', '-pe', 'smp', '4', 'x.sh'],
     "fairlead submit: unknown option '-pe': use --pe NAME for the parallel environment, and --slots N or N-M for the slots; see 'fairlead submit --help'"),
    (['submit', '-n', '4', '-js', '100', 'x.sh'],
     "fairlead submit: unknown option '-js': use --job-share N for the job's shares; see 'fairlead submit --help'"),
    (['update', '5', '-ot', '100'],
     "fairlead update: unknown option '-ot': use --override-tickets N for override tickets; see 'fairlead update --help'"),
    (['queue', '--ntasks'], "fairlead queue: unknown option '--ntasks'; see 'fairlead queue --help'"),
    (['qwertyuiop'], "fairlead: unknown command 'qwertyuiop'; see 'fairlead --help'"),
    (['unsuspend', '5'], "fairlead: unknown command 'unsuspend'; did you mean 'resume'? see 'fairlead --help'"),
    (['qquota'], "fairlead: unknown command 'qquota'; did you mean 'quota usage'? see 'fairlead --help'"),
    (['limits'], "fairlead: unknown command 'limits'; did you mean 'help limits'? see 'fairlead --help'"),
    (['modify', 'account', 'x'], "fairlead: unknown command 'modify'; did you mean 'account modify'? see 'fairlead --help'"),
    (['add', 'qos', 'x'], "fairlead: unknown command 'add'; did you mean 'qos add'? see 'fairlead --help'"),
    (['delete', 'user', 'x'], "fairlead: unknown command 'delete'; did you mean 'user delete'? see 'fairlead --help'"),
    (['list', 'users'], "fairlead: unknown command 'list'; did you mean 'user show'? see 'fairlead --help'"),
    (['show', 'history'], "fairlead: unknown command 'show history'; did you mean 'history'? see 'fairlead --help'"),
    (['help', 'AssocGrpCpuLimit'], "fairlead help: 'AssocGrpCpuLimit' is a pending reason; run 'fairlead help reasons'"),
    (['help', 'grptres'], "fairlead help: 'grptres' is a limit; run 'fairlead help limits'"),
    (['help', 'requeue_delay_s'], "fairlead help: 'requeue_delay_s' is a setting; run 'fairlead help set'"),
    (['user', 'list'], "fairlead: unknown command 'user list'; did you mean 'user show'? see 'fairlead --help'"),
    (['show', 'partition'], "fairlead: unknown command 'show partition'; did you mean 'partition show'? see 'fairlead --help'"),
    (['show', 'nodes'], "fairlead: unknown command 'show nodes'; did you mean 'host show'? see 'fairlead --help'"),
    (['queue', '-t', 'R'], "fairlead queue: unknown option '-t': use -s, --state STATE; see 'fairlead queue --help'"),
    (['queue', '--me'], "fairlead queue: unknown option '--me': use -u \"$USER\" for your own jobs; see 'fairlead queue --help'"),
    (['history', '-j', '1'], "fairlead history: unknown option '-j': give the id alone: fairlead history ID; see 'fairlead history --help'"),
    (['cancel', '-n', 'x'], "fairlead cancel: unknown option '-n': use -J, --name NAME; see 'fairlead cancel --help'"),
    (['show', 'foo'], "fairlead: unknown command 'show foo'; did you mean 'show job'? see 'fairlead --help'"),
    (['qos', 'shw', 'x'], "fairlead: unknown command 'qos shw'; did you mean 'qos show'? see 'fairlead --help'"),
    (['partition', 'ad'], "fairlead: unknown command 'partition ad'; did you mean 'partition add'? see 'fairlead --help'"),
    (['partition', 'foo'], "fairlead partition: unknown subcommand 'foo': add, modify, delete, show, drain or resume"),
    (['account', 'list', '-P'], "fairlead: unknown command 'account list'; did you mean 'account show'? see 'fairlead --help'"),
    (['user', ''], "fairlead user: unknown subcommand '': add, modify, delete or show"),
    (['user', '-A'], "fairlead user: unknown subcommand '-A': add, modify, delete or show"),
    (['--socket', 'x', 'share'], "fairlead: unknown option '--socket': a command comes first; see 'fairlead --help'"),
    ([''], "fairlead: unknown command ''; see 'fairlead --help'"),
    (['a\x1b[2Jb\n'], "fairlead: unknown command 'a?[2Jb?'; see 'fairlead --help'"),
    (['help', 'qwertyuiop'], "fairlead help: unknown command 'qwertyuiop'; see 'fairlead --help'"),
    (['help', 'set', 'ties'], "fairlead help: unknown command 'set ties'; see 'fairlead --help'"),
    (['manual', 'set', 'ties'], "fairlead manual: unknown command 'set ties'; see 'fairlead --help'"),
    (['completion'], 'fairlead completion: missing argument; usage: fairlead completion bash'),
    (['completion', 'tcsh'], "fairlead completion: 'tcsh' is not a supported shell (bash)"),
    (['help', 'a', 'b', 'c'], "fairlead help: unexpected argument 'c'; see 'fairlead help --help'"),
    (['manual', '--socket', 'x'], "fairlead manual: unknown option '--socket'; see 'fairlead manual --help'"),
])
def test_mistakes(arguments, words):
    assert run(*arguments) == (2, '', words + '\n')


def test_longest_words():
    for arguments in (['x' * 100000], ['share', '--' + 'x' * 100000], ['queue', 'x' * 100000], ['help', 'x' * 100000]):
        status, out, err = run(*arguments)
        assert (status, out, err.count('\n')) == (2, '', 1)


def test_output_that_cannot_be_written():
    with open('/dev/full', 'w', encoding='utf-8') as full:
        for arguments in (['--help'], ['share', '--help'], ['completion', 'bash'], ['--version']):
            result = subprocess.run([FAIRLEAD, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
            assert result.returncode == 1
            assert result.stderr.endswith('standard output: No space left on device\n')


def test_closed_descriptors():
    result = subprocess.run(['sh', '-c', '"$1" --help >&- 2>&-', 'sh', FAIRLEAD], timeout=60)
    assert result.returncode == 1
    result = subprocess.run(['sh', '-c', '"$1" nosuch <&- >&- 2>&-', 'sh', FAIRLEAD], timeout=60)
    assert result.returncode == 2


# Manual pages.

def rendered(source):
    if not shutil.which('groff'):
        pytest.skip('groff is not installed: pages were not set')
    result = subprocess.run(['groff', '-man', '-Tutf8', '-ww', '-P-cbou'], input=source, capture_output=True, text=True,
                            timeout=60)
    assert (result.returncode, result.stderr) == (0, '')
    return result.stdout


@pytest.mark.parametrize('command', COMMANDS)
def test_manual_of(command):
    source = good('manual', *command.split())
    assert source.startswith('.TH "FAIRLEAD-%s" "1"' % command.upper().replace(' ', '-'))
    for section in ('NAME', 'SYNOPSIS', 'OPTIONS', 'EXIT STATUS', 'SEE ALSO'):
        assert '.SH %s\n' % section in source
    for line in source.splitlines():
        assert not line.startswith("'"), line
        assert not line.startswith('.') or re.match(r'\.(TH|SH|SS|TP|PP|nf|fi|nh|na|ad|hy)\b', line), line


@pytest.mark.parametrize('command', COMMANDS)
def test_manual_can_be_set(command):
    text = rendered(good('manual', *command.split()))
    options = re.findall(r'^ +(?:-\w, |    )--([a-z-]+)', good(*command.split(), '--help'), re.MULTILINE)
    assert 'help' in options
    for option in options:
        assert '--' + option in text


def test_manual_of_all():
    source = good('manual')
    assert all(('\\fB%s\\fR\n' % command.replace('-', '\\-')) in source for command in COMMANDS)
    rendered(source)
    assert run('manual', 'nosuch') == (2, '', "fairlead manual: unknown command 'nosuch'; see 'fairlead --help'\n")


# Completion.

def complete(*words):
    """The completions that bash offers for the last word."""
    script = 'eval "$("$0" completion bash)"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _fairlead; ' \
             'printf "%s\\n" "${COMPREPLY[@]}"'
    result = subprocess.run(['bash', '-c', script, FAIRLEAD, *words], capture_output=True, text=True, timeout=60)
    assert result.stderr == ''
    return result.stdout.split()


def test_completion():
    assert complete('fairlead', 'sha') == ['share']
    assert {command.split()[0] for command in COMMANDS} <= set(complete('fairlead', ''))
    assert complete('fairlead', 'share', '--ti') == ['--ties']
    assert complete('fairlead', 'share', '--ties', '') == ['merge', 'slurm']
    assert complete('fairlead', 'share', '--ties', 's') == ['slurm']
    assert '--json' in complete('fairlead', 'share', '-')
    assert complete('fairlead', 'help', 'manu') == ['manual']
    assert complete('fairlead', 'help', 'rea') == ['reasons']
    assert complete('fairlead', 'manual', 'rea') == []
    assert complete('fairlead', 'completion', '') == ['bash']


def test_completion_of_fields():
    assert complete('fairlead', 'set', 'halfl') == ['halflife_s=', 'halflife_decay_list=']
    assert complete('fairlead', 'set', 'ties', '=') == ['merge', 'slurm']
    assert complete('fairlead', 'set', 'grace_s=5', 'ties', '=', 's') == ['slurm']
    assert complete('fairlead', 'set', 'host_cpus', '=') == ['auto']
    assert complete('fairlead', 'set', 'grace_s', '=') == []
    assert complete('fairlead', 'resource', 'add', 'license', 'type', '=', 'IN') == ['INT']
    assert complete('fairlead', 'partition', 'modify', 'fast', 'PriorityT') == ['PriorityTier=']
    assert complete('fairlead', 'user', 'modify', 'alice', 'deadline', '=') == ['yes', 'no']
    assert complete('fairlead', 'user', 'modify', '--sh') == ['--shares']


def test_completion_of_files(tmp_path):
    (tmp_path / 'tree.tsv').write_text('')
    assert complete('fairlead', 'share', '-f', str(tmp_path / 'tr')) == [str(tmp_path / 'tree.tsv')]


@pytest.mark.parametrize('command', COMMANDS)
def test_completion_knows_the_options_of(command):
    options = set(re.findall(r'^ +(?:-\w, |    )(--[a-z-]+)', good(*command.split(), '--help'), re.MULTILINE))
    assert options == {word for word in complete('fairlead', *command.split(), '--')}


@pytest.mark.parametrize('parent', PARENTS)
def test_completion_of_subcommands(parent):
    assert set(complete('fairlead', parent, '')) == {c.split()[1] for c in COMMANDS if c.startswith(parent + ' ')}


# A letter means one option everywhere. The exceptions, with the command whose users type the letter without a thought; a row
# that is no longer needed fails the test.
LETTER_MEANINGS = {
    'J': ({'job-name', 'name'}, 'sbatch -J names the job, and commands that select jobs have no other name to give'),
    'P': ({'project', 'parsable'}, 'qsub -P is the project, sacct -P the output for programs'),
    'a': ({'array', 'all'}, 'sbatch -a is the array, squeue -a and sacct -a all jobs'),
    'b': ({'batch', 'by'}, 'scancel -b is the batch step; signal and report share no other option'),
    'd': ({'dependency', 'interval'}, 'sbatch -d is the dependency, top -d the delay between frames'),
    'e': ({'error', 'err'}, 'the error output in both: submit sets its file, log prints it'),
    'f': ({'file', 'follow'}, 'tail -f follows; commands that read a scenario or a snapshot do not'),
    'm': ({'partition', 'monitor'}, 'sshare -m shows partitions; schedule has none to select'),
    'n': ({'cpus', 'limit', 'normalized'}, 'sbatch -n, tail -n and sprio -n'),
    'o': ({'output', 'columns'}, 'sbatch -o is the file of the output, squeue -o the columns'),
    'p': ({'partition', 'parent', 'processes'}, 'sbatch -p; accounts are in no partition but have a parent, ps -p takes processes'),
    's': ({'state', 'shares'}, 'sacct -s selects states; commands that change shares select no jobs'),
    't': ({'time', 'tres'}, 'sbatch -t is the time limit; a listing of shares has none'),
}


def test_a_letter_has_one_meaning():
    meanings = {}
    for command in COMMANDS:
        for letter, name in re.findall(r'^ +-(\w), --([a-z-]+)', good(*command.split(), '--help'), re.MULTILINE):
            meanings.setdefault(letter, set()).add(name)
    assert len(meanings) > 20
    assert {letter: names for letter, names in meanings.items() if len(names) > 1} == {
        letter: names for letter, (names, why) in LETTER_MEANINGS.items()}


def test_pages_that_are_built():
    with open('docs/meson.build', encoding='utf-8') as file:
        listed = re.search(r'^commands = \[\n(.*?)^\]', file.read(), re.MULTILINE | re.DOTALL).group(1)
    assert re.findall(r"'(.*?)'", listed) == COMMANDS
