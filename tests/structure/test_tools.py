"""The tools that test, measure and install: mainly their behaviour in cases of failure, which are rare in daily use."""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap

import pytest

TOP = pathlib.Path.cwd()


def load(path):
    loader = importlib.machinery.SourceFileLoader(path.name.replace('-', '_'), str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


run_tests = load(TOP / 'tools/run-tests')


# tools/bench.sh

def test_every_benchmark_is_run():
    """tools/bench.sh runs the programs that may be executed."""
    assert [path.name for path in sorted(TOP.glob('bench/bench_*.py')) if not os.access(path, os.X_OK)] == []


def test_a_benchmark_that_does_not_exist_is_named(tmp_path):
    done = subprocess.run(['sh', TOP / 'tools/bench.sh', tmp_path, 'no_such_name'], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "there is no benchmark 'no_such_name' in %s/bench or bench\n" % tmp_path)


# tools/run-tests: the count

def outcomes(stdout, returncode=0, result='OK'):
    test = run_tests.Test('plain', {'name': 'fairlead:unit / arena', 'stdout': stdout, 'returncode': returncode,
                                    'result': result})
    assert (test.layer, test.name) == ('unit', 'arena')
    return tuple(test.count(outcome) for outcome in ('passed', 'failed', 'skipped'))


COUNTS = {
    'all pass': ('1..2\nok 1 - a\nok 2 - b\n', 0, (2, 0, 0)),
    'one fails': ('1..2\nok 1 - a\nnot ok 2 - b\n# why\n', 1, (1, 1, 0)),
    'one is skipped': ('1..2\nok 1 - a\nok 2 - b # SKIP no GPU\n', 0, (1, 0, 1)),
    'cmocka skips so': ('1..2\nok 1 - a\n# skip: traces absent\nnot ok 2 # SKIP b\n', 0, (1, 0, 1)),
    'two groups': ('1..1\nok 1 - a\n# ok - group\n1..1\nok 1 - b\n', 0, (2, 0, 0)),
    'a crash': ('1..3\nok 1 - a\n', -11, (1, 2, 0)),
    'an early exit with status 0': ('1..3\nok 1 - a\n', 0, (1, 2, 0)),
    'a bad status after all passed': ('1..1\nok 1 - a\n', 1, (1, 1, 0)),
    'group set-up fails': ('1..2\nnot ok 0 - t [  FAILED  ] GROUP SETUP\n', 1, (0, 2, 0)),
    'silence': ('', 0, (0, 1, 0)),
    'silence and a bad status': ('', 127, (0, 1, 0)),
    'an empty plan': ('1..0\n', 0, (0, 1, 0)),
    'all left out': ('# left out on the build with sanitizers: 2 slow\n1..0\n', 0, (0, 0, 0)),
    'words that look alike': ('okay then\n# ok 1 - quoted\n', 0, (0, 1, 0)),
}


@pytest.mark.parametrize('stdout, returncode, counts', COUNTS.values(), ids=COUNTS.keys())
def test_counting(stdout, returncode, counts):
    assert outcomes(stdout, returncode) == counts


@pytest.mark.parametrize('stdout, returncode, name', [
    ('1..2\nok 1 - a\n', -9, '(stopped early by SIGKILL: 1 of 2 cases not reported)'),
    ('1..2\nok 1 - a\n', 3, '(stopped early with status 3: 1 of 2 cases not reported)'),
    ('1..2\nok 1 - a\n', 0, '(stopped early: 1 of 2 cases not reported)'),
    ('1..1\nok 1 - a\n', -6, '(ended by SIGABRT)'),
    ('1..1\nok 1 - a\n', 3, '(ended with status 3)'),
    ('', -11, '(ended by SIGSEGV)'),
    ('', -200, '(ended by signal 200)'),
    ('', 0, '(reported no case)'),
])
def test_the_name_of_a_bad_end(stdout, returncode, name):
    test = run_tests.Test('plain', {'name': 'x', 'stdout': stdout, 'returncode': returncode, 'result': 'FAIL'})
    assert {case.name for case in test.cases if case.outcome == 'failed'} == {name}


def test_a_time_out_fails():
    assert outcomes('1..1\nok 1 - a\n', -15, 'TIMEOUT') == (1, 1, 0)


def test_the_reason_of_a_skip():
    test = run_tests.Test('plain', {'name': 'x', 'returncode': 0, 'result': 'OK', 'stdout':
                                    '1..3\n# skip: traces absent\nnot ok 1 # SKIP b\nok 2 - c # SKIP no GPU\nnot ok 3 # SKIP d\n'})
    assert [(case.name, case.reason) for case in test.cases] \
        == [('b', 'traces absent'), ('c', 'no GPU'), ('d', 'no reason given')]


@pytest.mark.parametrize('counts, line, status', [
    ((3, 0, 0), '3 passed, 0 failed', 0),
    ((3, 0, 2), '3 passed, 0 failed, 2 skipped', 0),
    ((3, 1, 0), '3 passed, 1 failed', 1),
    ((0, 0, 0), '0 passed, 0 failed', 1),
    ((0, 0, 5), '0 passed, 0 failed, 5 skipped', 1),
])
def test_the_last_line(capsys, counts, line, status):
    with pytest.raises(SystemExit) as ended:
        run_tests.finish(*counts)
    assert (capsys.readouterr().out, ended.value.code) == (line + '\n', status)


SANITIZER = '==7==ERROR: AddressSanitizer: heap-use-after-free on address\n    #0 in f a.c:1\n' + 'more\n' * 100


@pytest.mark.parametrize('stdout, stderr, returncode, shown', [
    ('1..1\nnot ok 1 - a\n# why: 1 is not 2\n# why: at t.py:7\n# the output of pytest\n', 'noise\n', 1,
     ['1 is not 2', 'at t.py:7']),
    ('1..2\nnot ok 1 - a\n# 0x1 != 0x2\n# t.c:7: error: Failure!\nok 2 - b\n', '', 1, ['0x1 != 0x2', 't.c:7: error: Failure!']),
    ('1..1\nnot ok 1 - a\n# t.c:8: error: Failure!\n', 'ERROR: two\n', 1, ['t.c:8: error: Failure!', 'ERROR: two']),
    ('1..2\nok 1 - a\n', 'output\n' + SANITIZER, 1,
     ['==7==ERROR: AddressSanitizer: heap-use-after-free on address', '    #0 in f a.c:1'] + ['more'] * 10),
    ('', 'cannot open shared object\n', 127, ['cannot open shared object']),
], ids=['pytest', 'cmocka', 'cmocka fail_msg', 'a sanitizer', 'silence'])
def test_the_reason_of_a_failure_in_short(capsys, stdout, stderr, returncode, shown):
    test = run_tests.Test('plain', {'name': 'fairlead:unit / arena', 'stdout': stdout, 'stderr': stderr, 'result': 'FAIL',
                                    'returncode': returncode})
    run_tests.report_in_short([test])
    title, head, *lines = capsys.readouterr().out.strip('\n').split('\n')
    assert (title, head[:21]) == ('==== IN SHORT', 'unit/arena (plain): a' if 'not ok' in stdout else 'unit/arena (plain): (')
    assert lines == ['    ' + line for line in shown]


def test_nothing_in_short(capsys):
    run_tests.report_in_short([run_tests.Test('plain', {'name': 'x', 'stdout': '1..1\nok 1 - a\n', 'returncode': 0,
                                                        'result': 'OK'})])
    assert capsys.readouterr().out == ''


def test_the_slowest_are_named(capsys):
    def one(name, seconds):
        return run_tests.Test('plain', {'name': 'fairlead:unit / ' + name, 'stdout': '1..1\nok 1 - a\n', 'returncode': 0,
                                        'result': 'OK', 'duration': seconds})

    run_tests.report_slowest([one('t%d' % n, n / 2) for n in range(20)])
    title, *lines = capsys.readouterr().out.strip('\n').split('\n')
    assert title == '==== SLOWEST, of 20 tests' and len(lines) == 10
    assert (lines[0], lines[9]) == ('    9.5 s  plain      unit/t19', '    5.0 s  plain      unit/t10')


# tools/measure

MEASURED = {
    'base/short.c': '/* Two lines\n   of comment. */\nint f(void)\n{\n    return 1; /* beside code */\n}\n',
    'base/short.h': '#ifndef SHORT_H\n#define SHORT_H\nint f(void); // ours\n// alone\n#endif\n',
    'engine/long.c': 'static const int a[] = {\n    1,\n};\n\n__attribute__((unused)) static int long_one(int a,\n'
                     '                    int b)\n{\n' + '    a++;\n' * 10 + '    return "{ /* not comment"[a];\n}\n',
}


@pytest.fixture
def measured(tmp_path):
    for name, text in MEASURED.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    def run(*arguments, folder='.'):
        return subprocess.run([TOP / 'tools/measure', *arguments, folder], cwd=tmp_path, capture_output=True, text=True)

    return run


def test_measure(measured):
    result = measured()
    assert (result.returncode, result.stderr) == (0, '')
    assert result.stdout == textwrap.dedent("""\
        room    files  lines  functions  median  p95  max  short  comment      longest file
        base        2     11          1       4    4    4  100 %        3   6  base/short.c
        engine      1     19          1      15   15   15    0 %        0  19  engine/long.c
        total       3     30          2       4   15   15   50 %        3  19  engine/long.c
        """)


def test_measure_as_json(measured):
    total = json.loads(measured('--json').stdout)['total']
    assert total == {'files': 3, 'lines': 30, 'functions': 2, 'median_function_lines': 4, 'p95_function_lines': 15,
                     'max_function_lines': 15, 'short_functions': 1, 'max_file_lines': 19, 'longest_file': 'engine/long.c',
                     'comment_lines': 3}


def test_the_longest_functions(measured):
    assert measured('--longest', '1').stdout == ('place            lines  function\n'
                                                 'engine/long.c:5     15  long_one\n')
    assert json.loads(measured('--longest', '9', '--json').stdout)[1] == {'lines': 4, 'place': 'base/short.c:3', 'name': 'f'}


def test_measure_finds_its_own_sources():
    result = subprocess.run([TOP / 'tools/measure', '--json'], cwd='/', capture_output=True, text=True, check=True)
    rooms = json.loads(result.stdout)
    assert sum(room['files'] for name, room in rooms.items() if name != 'total') == rooms['total']['files'] > 200


@pytest.mark.parametrize('arguments, status, text', [
    (['--help'], 0, 'usage: tools/measure [--json] [--longest N] [FOLDER]'),
    (['--longest', '0'], 2, '--longest: 0 is not a whole number from 1'),
    (['--unknown'], 2, 'unrecognized arguments: --unknown'),
])
def test_arguments_of_measure(measured, arguments, status, text):
    result = measured(*arguments)
    assert result.returncode == status and text in (result.stderr if status else result.stdout)


def test_measure_without_sources(measured, tmp_path):
    (tmp_path / 'empty').mkdir()
    result = measured(folder='empty')
    assert (result.returncode, result.stdout) == (2, '') and 'empty contains no C sources' in result.stderr


# tests/run_pytest.py

def run_pytest(tmp_path, source, file='test_it.py', **variables):
    (tmp_path / 'test_it.py').write_text(textwrap.dedent(source))
    result = subprocess.run([sys.executable, TOP / 'tests/run_pytest.py', file], cwd=tmp_path, text=True,
                            stdout=subprocess.PIPE, env={**os.environ, 'FAIRLEAD_SANITIZED': '0', **variables})
    remove_kept(result.stdout)
    return result.stdout, result.returncode


def remove_kept(stdout):
    for folder in re.findall(r'^# kept: (/tmp/fl-\w+)$', stdout, re.MULTILINE):
        shutil.rmtree(folder)


CASES = '''
    import pytest
    def test_good(): print('# compared 7 trees')
    def test_bad(): assert 1 == 2
    @pytest.mark.slow
    def test_slow(): pass
    def test_skipped(): pytest.skip('no GPU')
    @pytest.fixture
    def broken(): yield 1; raise OSError('left over')
    def test_tear_down(broken): pass
    '''


@pytest.mark.parametrize('sanitized, passed', [('0', 2), ('1', 1)])
def test_pytest_cases_are_reported(tmp_path, sanitized, passed):
    stdout, status = run_pytest(tmp_path, CASES, FAIRLEAD_SANITIZED=sanitized)
    assert outcomes(stdout, status) == (passed, 2, 1)
    assert '\n# compared 7 trees\n' in '\n' + stdout
    assert ' - test_skipped # SKIP no GPU\n' in stdout
    assert 'assert 1 == 2' in stdout
    assert ('left out' in stdout) == (sanitized == '1')


LOGS = '''
    import pytest
    @pytest.fixture
    def instance():
        yield 1
        print('daemon.log: a line')
        raise OSError('left over')
    def compare(one, other):
        assert one == other, 'not alike'
    def test_bad(instance): compare(1, 2)
    '''


def test_the_reason_comes_first(tmp_path):
    """The reason, its place, those of the tear-down, and the logs come before output that may be cut off."""
    lines = run_pytest(tmp_path, LOGS)[0].splitlines()
    assert lines[:8] == ['not ok 1 - test_bad',
                         '# why: AssertionError: not alike', '# why: assert 1 == 2', '# why: at test_it.py:9, from test_it.py:10',
                         '# why: OSError: left over', '# why: at test_it.py:7',
                         '# why: daemon.log: a line', '# instance = 1']


def test_terminated(tmp_path):
    """By SIGTERM, as Meson ends a test that takes too long."""
    (tmp_path / 'tests').mkdir()
    (tmp_path / 'tests/test_it.py').write_text('import os, signal, time\ndef test_good(): pass\n'
                                               'def test_long(): os.kill(os.getpid(), signal.SIGTERM); time.sleep(600)\n')
    stdout, status = run_pytest(tmp_path, '', file='tests/test_it.py')
    assert status != 0
    assert re.match(r'ok 1 - test_good\nnot ok 2 - test_long\n# why: terminated after \d+ s in this case\n'
                    r'# why: at tests/test_it.py:3\n', stdout), stdout


@pytest.mark.parametrize('source, counts', [
    ('import nothing_of_the_kind', (0, 1, 0)),
    ('', (0, 1, 0)),
    ('import pytest\npytest.skip("no browser", allow_module_level=True)', (0, 0, 1)),
], ids=['broken', 'empty', 'skipped whole'])
def test_pytest_files_that_cannot_run(tmp_path, source, counts):
    assert outcomes(*run_pytest(tmp_path, source)) == counts


# tests/fuzz/replay.c

@pytest.fixture(scope='module')
def replay(tmp_path_factory):
    folder = tmp_path_factory.mktemp('replay')
    (folder / 'fuzz.c').write_text('#include <stdint.h>\n#include <stdlib.h>\n'
                                   'int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);\n'
                                   'int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)\n'
                                   '{ if (size == 3 && data[0] == 33) abort(); return 0; }\n')
    subprocess.run(['cc', '-D_GNU_SOURCE', 'fuzz.c', TOP / 'tests/fuzz/replay.c', '-o', 'fuzz'], cwd=folder, check=True)
    return folder / 'fuzz'


@pytest.mark.parametrize('inputs, counts', [
    ({}, (0, 1, 0)),
    ({'a': b'', 'b': b'x' * 9000}, (2, 0, 0)),
    ({'a': b'', 'b': b'!!!', 'c': b''}, (1, 2, 0)),
], ids=['empty corpus', 'all pass', 'a crash'])
def test_replay(tmp_path, replay, inputs, counts):
    for name, data in inputs.items():
        (tmp_path / name).write_bytes(data)
    result = subprocess.run([replay, tmp_path], stdout=subprocess.PIPE, text=True)
    assert outcomes(result.stdout, result.returncode) == counts


def test_replay_without_a_corpus(tmp_path, replay):
    result = subprocess.run([replay, tmp_path / 'none'], stdout=subprocess.PIPE, text=True)
    assert outcomes(result.stdout, result.returncode) == (0, 1, 0)


# tools/install-packages, with a pretended apt

CONTROL = '''\
    Source: x
    Build-Depends:
     debhelper (>= 13) <!pkg.fairlead.make>,
    # a comment, with gcc-99,
     meson (>= 1.0),
     pkgconf | pkg-config,
     libuv1-dev [linux-any],
     python3-pytest <!nocheck>, clang <pkg.fairlead.fuzz>,
    Standards-Version: 4.6.2

    Package: x
    Depends: elsewhere
    '''


@pytest.fixture
def machine(tmp_path):
    """A checkout in a path with spaces, and a PATH with pretended commands. `installed` has the installed packages."""
    top = tmp_path / 'a check out'
    commands = tmp_path / 'bin'
    for folder in (top / 'tools', top / 'debian', commands):
        folder.mkdir(parents=True)
    (top / 'debian/control').write_text(textwrap.dedent(CONTROL))
    shutil.copy(TOP / 'tools/install-packages', top / 'tools')
    for name in 'sh awk sed env dirname mktemp rm cat printf'.split():
        (commands / name).symlink_to(shutil.which(name))

    def command(name, script):
        (commands / name).write_text('#!/bin/sh\n' + script)
        (commands / name).chmod(0o755)

    def run(installed, *purposes, user=0, apt='exit 0', sudo=True, dpkg=True):
        calls = tmp_path / 'calls'
        calls.write_text('')
        command('id', 'echo %d' % user)
        if sudo:
            command('sudo', 'echo "sudo $*" >>"%s"; exec "$@"' % calls)
        if dpkg:
            command('dpkg-query', 'for name in %s; do echo "installed $name"; done; exit 1' % ' '.join(installed))
            command('apt-get', 'echo "apt-get $* ($DEBIAN_FRONTEND)" >>"%s"\n%s' % (calls, apt))
        result = subprocess.run([top / 'tools/install-packages', *purposes], cwd='/', env={'PATH': str(commands)},
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return result.returncode, result.stdout, calls.read_text().splitlines()

    return run


BUILD_PACKAGES = ['meson', 'pkgconf', 'libuv1-dev']


def test_nothing_is_missing(machine):
    assert machine(BUILD_PACKAGES) == (0, '', [])
    assert machine(BUILD_PACKAGES + ['python3-pytest'], 'test') == (0, '', [])


@pytest.mark.parametrize('purposes, missing', [
    ([], 'meson libuv1-dev'), (['test'], 'meson libuv1-dev python3-pytest'), (['fuzz'], 'meson libuv1-dev clang'),
    (['deb'], 'debhelper meson libuv1-dev')])
def test_installs_only_missing_packages_of_the_purposes(machine, purposes, missing):
    status, output, calls = machine(['pkgconf'], *purposes)
    assert (status, output) == (0, 'Installing packages of debian/control: %s\n' % missing)
    assert len(calls) == 1
    assert calls[0].endswith('install --no-install-recommends %s (noninteractive)' % missing)


def test_not_root(machine):
    calls = machine([], user=1000)[2]
    assert calls[0].startswith('sudo env DEBIAN_FRONTEND=noninteractive apt-get ')


def test_not_root_and_no_sudo(machine):
    status, output, calls = machine([], user=1000, sudo=False)
    assert (status, calls) == (0, [])
    assert output.endswith('apt-get install --no-install-recommends meson pkgconf libuv1-dev\n') and output.count('\n') == 1


def test_no_package_lists(machine):
    """On a new machine the first install fails, then the lists are fetched."""
    apt = 'case "$*" in *update*) : >"$0.fetched" ;; esac; [ -e "$0.fetched" ]'
    status, output, calls = machine(['meson', 'pkgconf'], apt=apt)
    assert (status, output) == (0, 'Installing packages of debian/control: libuv1-dev\n')
    assert ['update' in call for call in calls] == [False, True, False]


def test_installing_fails(machine):
    status, output, _ = machine([], apt='echo "no network" >&2; exit 100')
    assert status == 1
    assert output.splitlines()[-2:] == ['no network', 'Could not install: meson pkgconf libuv1-dev']


def test_no_apt(machine):
    status, output, _ = machine([], dpkg=False)
    assert (status, output) == (0, "apt is not available. Fairlead needs these packages (Debian's names): meson pkgconf libuv1-dev\n")


# Makefile

def test_check_leaves_out_the_crash_layer_alone():
    layers = {path.parent.name for path in pathlib.Path('tests').glob('*/meson.build')}
    shown = subprocess.run(['make', '--dry-run', 'check'], capture_output=True, text=True, check=True).stdout
    (chosen,) = re.findall(r'^tools/run-tests --plain (.*)', shown, re.MULTILINE)
    assert sorted(chosen.split()) == sorted(layers - {'crash'})


def test_help_names_every_target():
    text = pathlib.Path('Makefile').read_text()
    phony = text.split('.PHONY:')[1].split('\n')[0].split()
    shown = subprocess.run(['make', 'help'], capture_output=True, text=True, check=True).stdout
    assert [name for name in phony if name != 'build' and 'make %s ' % name not in shown] == []
    assert shown.startswith('make  ')
