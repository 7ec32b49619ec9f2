"""The installed library, as an author of another scheduler uses it: an installed copy, found by pkg-config, linked shared and static,
from C, C++ and Python, under a locale with a decimal comma; its ABI; and its reference, which names all that it has."""
import os
import pathlib
import random
import re
import shutil
import subprocess

import pytest

from conftest import BUILD, FAIRLEAD

HEADER = pathlib.Path('include/fairlead.h')
REFERENCE = pathlib.Path('docs/libfairlead.md')
ABI = pathlib.Path('tests/system/library.abi')
EXAMPLES = pathlib.Path('examples/library')
CC = os.environ.get('CC', 'cc')
SANITIZED = os.environ.get('FAIRLEAD_SANITIZED') == '1'

# A program that links a sanitized library has to be sanitized, too. The plain build has these tests.
pytestmark = pytest.mark.skipif(SANITIZED, reason='the library is used as it is installed: in the plain build')


def run(*command, environment=None, cwd=None):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120, cwd=cwd,
                            env={**os.environ, **(environment or {})})
    assert result.returncode == 0, '%s\n%s%s' % (' '.join(map(str, command)), result.stdout, result.stderr)
    assert result.stderr == ''
    return result.stdout


class Installed:
    def __init__(self, folder):
        self.root = folder / 'root'
        run('meson', 'install', '-C', BUILD, '--no-rebuild', '--quiet', '--tags', 'devel,runtime', '--destdir', self.root)
        [self.description] = self.root.rglob('fairlead.pc')
        self.libraries = self.description.parent.parent
        self.folder = folder

    def flags(self, *arguments):
        environment = {'PKG_CONFIG_PATH': str(self.description.parent), 'PKG_CONFIG_SYSROOT_DIR': str(self.root)}
        return run('pkg-config', *arguments, 'fairlead', environment=environment).split()

    def shared(self, *sources, compiler=(CC, '-std=c99', '-Wall', '-Wextra', '-Werror', '-pedantic')):
        program = self.folder / (pathlib.Path(sources[0]).stem + '-shared')
        run(*compiler, *sources, '-o', program, *self.flags('--cflags', '--libs'), '-pthread')
        return program

    def static(self, *sources):
        program = self.folder / (pathlib.Path(sources[0]).stem + '-static')
        libraries = ['-l:libfairlead.a' if flag == '-lfairlead' else flag for flag in self.flags('--static', '--libs')]
        run(CC, *sources, '-o', program, *self.flags('--cflags'), *libraries, '-pthread')
        return program

    def run(self, program, environment=None):
        return run(program, environment={'LD_LIBRARY_PATH': str(self.libraries), **(environment or {})})


@pytest.fixture(scope='module')
def installed(tmp_path_factory):
    if not shutil.which('pkg-config') or not shutil.which('meson'):
        pytest.skip('pkg-config or meson is not installed')
    return Installed(tmp_path_factory.mktemp('library'))


def test_installs_what_it_needs(installed):
    names = sorted(path.name for path in installed.libraries.iterdir() if 'fairlead' in path.name)
    assert names == ['libfairlead.a', 'libfairlead.so', 'libfairlead.so.0', 'libfairlead.so.0.1.0']
    assert [path.relative_to(installed.root).parts[-2:] for path in installed.root.rglob('*.h')] == [('include', 'fairlead.h')]
    assert installed.flags('--modversion') == ['0.1.0']
    assert '-lm' not in installed.flags('--libs') and '-lm' in installed.flags('--static', '--libs')


RANKED = '''1. cleo  factor 1.000, level 1.000
2. ann   factor 0.667, level 1.200
3. ben   factor 0.333, level 0.750
cleo comes before ann: biology has level 1.600, physics 0.800
'''


@pytest.mark.parametrize('link', ['shared', 'static'])
def test_example_ranks_a_tree(installed, link):
    program = getattr(installed, link)(EXAMPLES / 'rank.c')
    assert installed.run(program) == RANKED
    assert ('libfairlead.so.0' in run('ldd', program, environment={'LD_LIBRARY_PATH': str(installed.libraries)})) == (link == 'shared')


@pytest.mark.parametrize('link', ['shared', 'static'])
def test_example_is_a_fair_pool(installed, link):
    if link == 'shared':
        program = installed.shared(EXAMPLES / 'worker_pool.c', compiler=(CC, '-std=gnu11', '-Wall', '-Wextra', '-Werror'))
    else:
        program = installed.static(EXAMPLES / 'worker_pool.c')
    lines = installed.run(program).splitlines()
    assert lines[0] == '72 items, 2 workers'
    taken = dict(zip(('ann', 'ben', 'cleo'), map(int, re.findall(r'\d+', lines[1]))))
    assert taken['ann'] == 24 and abs(taken['ben'] - 12) <= 1 and abs(taken['cleo'] - 12) <= 1


@pytest.fixture(scope='module')
def comma_locale(tmp_path_factory):
    """Environment variables of a locale that writes 0,5."""
    if 'de_DE.utf8' in run('locale', '-a').split():
        return {'LC_ALL': 'de_DE.UTF-8'}
    if not shutil.which('localedef') or not pathlib.Path('/usr/share/i18n/locales/de_DE').exists():
        pytest.skip('there is no locale de_DE, and none can be made')
    folder = tmp_path_factory.mktemp('locale')
    run('localedef', '-i', 'de_DE', '-f', 'UTF-8', '--no-archive', folder / 'de_DE.UTF-8')
    return {'LC_ALL': 'de_DE.UTF-8', 'LOCPATH': str(folder)}


def test_does_not_depend_on_the_locale(installed, comma_locale, tmp_path):
    source = tmp_path / 'with_locale.c'
    source.write_text('#include <locale.h>\n__attribute__((constructor)) static void start(void) { setlocale(LC_ALL, ""); }\n')
    program = tmp_path / 'rank'
    run(CC, EXAMPLES / 'rank.c', source, '-o', program, *installed.flags('--cflags', '--libs'))
    assert installed.run(program, comma_locale) == re.sub(r'(\d)\.(\d)', r'\1,\2', RANKED)


@pytest.mark.parametrize('standard', ['c++11', 'c++20'])
def test_header_is_cplusplus(installed, tmp_path, standard):
    if not shutil.which('c++'):
        pytest.skip('c++ is not installed')
    structs = sorted(set(re.findall(r'^struct (\w+) \{', HEADER.read_text(), re.MULTILINE)))
    source = tmp_path / 'all.cc'
    source.write_text('#include <fairlead.h>\nint main() {\n%s    fl_tree *tree;\n    fl_tree_new(&tree);\n    fl_tree_free(tree);\n'
                      '    return fl_version()[0] != \'0\';\n}\n'
                      % ''.join('    { %s value{}; (void)value; }\n' % name for name in structs))
    program = installed.shared(source, compiler=('c++', '-std=' + standard, '-Wall', '-Wextra', '-Werror', '-pedantic'))
    assert installed.run(program) == ''


# --- the ABI --------------------------------------------------------------------------------------------------------


def exported():
    """Symbol -> version."""
    out = run('nm', '-D', '--defined-only', BUILD / 'libfairlead.so.0')
    return dict(line.split()[2].split('@@') for line in out.splitlines() if ' A ' not in line)


def layout(installed, folder):
    """The sizes of all structs, the offsets of their members, and the values of all enumerators and macros."""
    text = re.sub(r'/\*.*?\*/', '', HEADER.read_text(), flags=re.DOTALL)
    lines = []
    for name, body in re.findall(r'^struct (\w+) \{(.*?)^\};', text, re.DOTALL | re.MULTILINE):
        lines.append('printf("struct %s %%zu\\n", sizeof(struct %s));' % (name, name))
        for declaration in filter(None, map(str.strip, body.split(';'))):
            for member in re.findall(r'(\w+)(?:\[\w+\])?(?:,|$)', declaration):
                lines.append('printf("  %s %%zu\\n", offsetof(struct %s, %s));' % (member, name, member))
    for name, body in re.findall(r'^enum (\w+) \{(.*?)\};', text, re.DOTALL | re.MULTILINE):
        lines.append('printf("enum %s\\n");' % name)
        lines += ['printf("  %s %%d\\n", %s);' % (value, value) for value in re.findall(r'\b(FL_\w+)', body)]
    lines += ['printf("%s %%.17g\\n", (double)%s);' % (name, name)
              for name in re.findall(r'^#define (FL_\w+) ', text, re.MULTILINE)]
    source = folder / 'layout.c'
    source.write_text('#include <fairlead.h>\n#include <stdio.h>\nint main(void)\n{\n%s\nreturn 0;\n}\n' % '\n'.join(lines))
    return installed.run(installed.shared(source, compiler=(CC, '-std=gnu11', '-Wall', '-Werror')))


def test_abi_is_as_recorded(installed, tmp_path):
    """HACKING.md says what to do about a difference. FAIRLEAD_RECORD_ABI=1 writes the file anew."""
    if os.uname().machine not in ('x86_64', 'aarch64'):
        pytest.skip('recorded where a pointer has 8 bytes and is aligned to 8')
    found = ''.join('%s %s\n' % row for row in sorted(exported().items())) + layout(installed, tmp_path)
    if os.environ.get('FAIRLEAD_RECORD_ABI'):
        ABI.write_text(found)
    assert found == ABI.read_text()


def test_version_script_lists_the_header():
    declared = set(re.findall(r'\b(fl_\w+)\(', re.sub(r'/\*.*?\*/', '', HEADER.read_text(), flags=re.DOTALL)))
    assert set(exported()) == declared
    assert {name for name in exported() if not name.startswith('fl_')} == set()


def test_archive_has_no_other_symbols():
    out = run('nm', '-g', '--defined-only', BUILD / 'libfairlead.a')
    assert {line.split()[2] for line in out.splitlines() if len(line.split()) == 3} == set(exported())


def test_needs_only_libc_and_libm():
    out = run('readelf', '--dynamic', '--wide', BUILD / 'libfairlead.so.0')
    assert set(re.findall(r'NEEDED.*\[(.*)\]', out)) <= {'libm.so.6', 'libc.so.6'}
    assert re.findall(r'SONAME.*\[(.*)\]', out) == ['libfairlead.so.0']
    called = {line.split()[-1].split('@')[0] for line in run('nm', '-D', '-u', BUILD / 'libfairlead.so.0').splitlines()}
    assert not called & {'printf', 'puts', 'fwrite', 'setlocale', 'strtod', 'snprintf', 'exit', 'time', 'clock_gettime', 'getenv'}


# --- the reference --------------------------------------------------------------------------------------------------


def test_reference_names_everything():
    header = re.sub(r'/\*.*?\*/', '', HEADER.read_text(), flags=re.DOTALL)
    page = REFERENCE.read_text()
    names = set(exported()) | set(re.findall(r'\bFL_[A-Z]\w+', header)) \
        | {'enum ' + name for name in re.findall(r'^enum (\w+)', header, re.MULTILINE)} | set(re.findall(r'\bstruct (fl_\w+) \{', header))
    missing = sorted(name for name in names if not re.search(r'\b%s\b' % re.escape(name), page))
    assert missing == []
    unknown = sorted(set(re.findall(r'\b(?:fl|FL)_\w+\b(?!\.\.\.)', page)) - set(re.findall(r'\b(?:fl|FL)_\w+', HEADER.read_text())))
    assert unknown == []


def test_reference_has_the_texts():
    source = pathlib.Path('src/lib/fl_result.c').read_text()
    texts = dict(re.findall(r'\[-(FL_\w+)\] =\s*"(.*)"', source))
    assert dict(re.findall(r'^\| `(FL_\w+)` \| (.*) \|$', REFERENCE.read_text(), re.MULTILINE)).items() >= texts.items()
    assert len(texts) == 17


def test_python_example(installed):
    code = re.search(r'```python\n(.*?)```\n\nIt prints\n\n(.*)', REFERENCE.read_text(), re.DOTALL)
    printed = ''.join(line.strip() + '\n' for line in code.group(2).splitlines())
    out = run('/usr/bin/python3', '-c', code.group(1), environment={'LD_LIBRARY_PATH': str(installed.libraries)})
    assert out == printed


def test_readme_shows_the_example():
    page = pathlib.Path('README.md').read_text()
    assert '\n'.join('    ' + line for line in RANKED.splitlines()) in page
    code = (EXAMPLES / 'rank.c').read_text()
    assert '```c\n' + code[code.index('#include <fairlead.h>'):] + '```' in page


# --- the same numbers as the command --------------------------------------------------------------------------------

SHARE_PROGRAM = r'''
#include <fairlead.h>
#include <stdio.h>
#include <stdlib.h>

/* Reads lines "parent kind shares usage", ranks, and prints a line for each node. */
int main(int count, char **words)
{
    struct fl_tree *tree;
    unsigned parent, shares;
    int kind;
    double usage;
    struct fl_rank_options options = {0};
    options.algorithm = (uint32_t)atoi(words[1]);
    options.ties = (uint32_t)atoi(words[2]);
    options.dampening = atof(words[count - 1]);
    if (fl_tree_new(&tree) != FL_OK) return 1;
    while (scanf("%u %d %u %lf", &parent, &kind, &shares, &usage) == 4) {
        uint32_t node;
        if (fl_tree_add(tree, parent, kind, shares, &node) != FL_OK || fl_tree_charge(tree, node, usage, 0) != FL_OK) return 1;
    }
    if (fl_tree_rank(tree, 0, &options) != FL_OK) return 1;
    for (uint32_t i = 1; i < fl_tree_count(tree); i++) {
        struct fl_share s;
        fl_tree_share(tree, i, &s);
        printf("%.17g %.17g %.17g %.17g %.17g %.17g\n", s.norm_shares, s.usage, s.norm_usage, s.effective_usage, s.factor, s.level);
    }
    fl_tree_free(tree);
    return 0;
}
'''


def random_tree(rng):
    """Rows (parent, is a user, shares, usage) by node, the first is that of node 1."""
    rows, accounts = [], [0]
    for node in range(1, rng.randint(3, 80)):
        is_user = rng.random() < 0.6
        shares = 'parent' if rng.random() < 0.05 else rng.choice((1, 1, 2, 5, 1000))
        rows.append((rng.choice(accounts), is_user, shares, rng.choice((0, 1, 10, rng.random() * 1e6))))
        if not is_user:
            accounts.append(node)
    return rows


def name(node):
    return 'root' if node == 0 else 'n%d' % node


def as_tsv(rows):
    lines = ['parent\taccount\tuser\tshares\tusage']
    for node, (parent, is_user, shares, usage) in enumerate(rows, 1):
        place = ('', name(parent), name(node)) if is_user else (name(parent), name(node), '')
        lines.append('\t'.join((*place, str(shares), repr(usage) if usage else '')))
    return '\n'.join(lines) + '\n'


@pytest.mark.parametrize('algorithm, ties, dampening', [
    ('fair-tree', 'merge', 1), ('fair-tree', 'slurm', 1), ('classic', 'merge', 3), ('depth-oblivious', 'merge', 1)])
def test_equals_the_command(installed, tmp_path, algorithm, ties, dampening):
    source = tmp_path / 'share.c'
    source.write_text(SHARE_PROGRAM)
    program = installed.shared(source)
    rng = random.Random(algorithm + ties)
    compared = 0
    for _ in range(20):
        rows = random_tree(rng)
        options = ['--dampening', dampening] if algorithm != 'fair-tree' else ['--ties', ties]
        command = subprocess.run([FAIRLEAD, 'share', '-f', '-', '--algorithm', algorithm, *map(str, options), '-P'], input=as_tsv(rows),
                                 capture_output=True, text=True, timeout=60)
        assert command.returncode == 0, command.stderr
        spec = ''.join('%d %d %d %r\n' % (parent, is_user, 0x7fffffff if shares == 'parent' else shares, usage)
                       for parent, is_user, shares, usage in rows)
        index = str(['fair-tree', 'classic', 'depth-oblivious'].index(algorithm))
        out = subprocess.run([program, index, str(int(ties == 'slurm')), str(dampening)], input=spec, capture_output=True, text=True,
                             timeout=60, env={**os.environ, 'LD_LIBRARY_PATH': str(installed.libraries)})
        assert out.returncode == 0
        printed = [line.split('|') for line in command.stdout.splitlines()[1:]]
        ours = [line.split() for line in out.stdout.splitlines()]
        assert len(printed) == len(ours) == len(rows)
        for cells, numbers in zip(printed, ours):
            for cell, number in zip(cells[3:], numbers):
                assert cell == '' and number.endswith('nan') or float(cell) == float(number), (cells, numbers)
                compared += 1
    assert compared > 1000
