"""fairlead policy check: files of sites through the command, its forms of output, and what it refuses."""
import json
import os
import pathlib
import subprocess

import pytest

FAIRLEAD = os.path.join(os.environ.get('FAIRLEAD_BUILD', 'build'), 'fairlead')
GOOD = ('AccountingStorageType=accounting_storage/slurmdbd\nPriorityType=priority/multifactor\n'
        'PriorityWeightFairshare=100\n')
SITES = pathlib.Path(os.environ.get('FAIRLEAD_TRACES', '../shared/traces')) / 'config'


def check(*arguments, text=None, cwd=None):
    result = subprocess.run([os.path.abspath(FAIRLEAD), 'policy', 'check', *arguments], input=text, capture_output=True,
                            text=True, timeout=60, cwd=cwd)
    return result.returncode, result.stdout, result.stderr


def test_a_good_file():
    assert check('-', text=GOOD) == (
        0, '-, a slurm.conf: 2 keywords of policy, 1 that does not concern it; 0 errors, 0 warnings, 0 notes\n', '')


def test_a_finding_says_why_and_what_to_write():
    status, out, err = check('-', text=GOOD + 'FairShareDampeningFactor=5\n')
    assert (status, err) == (1, '')
    assert out.splitlines()[:3] == ['-:4:1: warning: FairShareDampeningFactor=5 has no effect',
                                    '    why: Fair Tree does not use it',
                                    '    mend: leave it out, or set PriorityFlags=NO_FAIR_TREE']


def test_an_error_is_status_2():
    assert check('-', text=GOOD + 'PriorityDecayHalfLife=0\n')[0] == 2
    assert check('-', text=GOOD + 'word\n')[0] == 2


def test_included_files_have_positions_of_their_own(tmp_path):
    (tmp_path / 'conf').mkdir()
    (tmp_path / 'conf/slurm.conf').write_text(GOOD + 'Include more.conf\nInclude gone.conf\n')
    (tmp_path / 'conf/more.conf').write_text('\n  PriorityMaxAge=x\n')
    status, out, _ = check('conf/slurm.conf', cwd=tmp_path)
    assert status == 2
    assert 'conf/more.conf:2:18: error: PriorityMaxAge: \'x\' is not' in out
    assert 'conf/slurm.conf:5:1: error: conf/gone.conf: No such file or directory' in out


def test_a_file_that_includes_itself(tmp_path):
    (tmp_path / 'a').write_text('Include a\nInclude a\n')
    status, out, _ = check('a', cwd=tmp_path)
    assert status == 2 and 'does one include itself?' in out


def test_grid_engine():
    status, out, _ = check('-', text='algorithm default\nhalftime 0\nweight_tickets_share 100\n')
    assert status == 1
    assert out.splitlines()[0] == '-:2:1: warning: halftime 0: usage does not decay'
    assert 'a scheduler configuration of Grid Engine: 2 keywords of policy, 1 that does not concern it' in out


def test_forms_for_programs():
    text = GOOD + 'PriorityMaxAge=1-0\nPriorityDecayHalfLife=0\n'
    status, out, _ = check('--json', '-', text=text)
    rows = json.loads(out)
    assert status == 2 and [(row['level'], row['line'], row['column']) for row in rows] == [('warning', 4, 1), ('error', 5, 1)]
    assert check('-P', '-o', 'level,line', '-', text=text)[1] == 'level|line\nwarning|4\nerror|5\n'
    assert json.loads(check('--json', '-', text=GOOD)[1]) == []


@pytest.mark.parametrize('content, message', [
    (None, 'No such file or directory'), ('', 'the text is empty'), ('  \n', 'the text is empty'), ('A=1\0', 'zero byte')])
def test_bad_input(tmp_path, content, message):
    if content is not None:
        (tmp_path / 'f').write_text(content)
    status, out, err = check(str(tmp_path / 'f'))
    assert (status, out) == (2, '') and message in err and err.count('\n') == 1


def test_long_lines_and_many_faults(tmp_path):
    (tmp_path / 'f').write_text('x' * 10_000_000 + '\n' + 'word\n' * 5000)
    status, out, _ = check(str(tmp_path / 'f'))
    assert status == 2 and '4901 more lines cannot be read' in out and len(out) < 50_000


def test_control_characters_do_not_reach_the_terminal():
    _, out, _ = check('-', text=GOOD + 'Pri\x1b[31m=5\nPriorityWeightAge=\x1b[31m\n')
    assert '\x1b' not in out


@pytest.mark.skipif(not SITES.is_dir(), reason='no files of sites: %s' % SITES)
def test_files_of_sites():
    files = sorted(str(path) for path in SITES.glob('slurm.conf.*'))
    status, out, err = check(*files)
    assert files and status == 1 and err == ''
    assert 'PriorityWeightPartition=10000000 has no effect' in out
