"""Every source is in its meson.build, or it is not built; every test is in its table, or it never runs."""
import fnmatch
import pathlib
import re

import pytest

import csource

# Patterns of files, and a function that gives a file's name in its list.
KINDS = [('src/*.c', lambda path: path.name)] + \
        [(pattern, lambda path: path.stem.split('_', 1)[1])
         for pattern in ('tests/*/test_*.c', 'tests/*/test_*.py', 'tests/fuzz/fuzz_*.c', 'bench/bench_*.c')]


def offences(paths, lists):
    """lists: folder -> the text of its meson.build."""
    found = []
    for path in map(pathlib.PurePosixPath, sorted(paths)):
        for pattern, name_of in KINDS:
            if not fnmatch.fnmatchcase(path.as_posix(), pattern):
                continue
            folder = next((folder for folder in map(str, path.parents) if folder in lists), '.')
            text = re.sub(r'#.*', '', lists.get(folder, ''))
            if not re.search(r"'(\S*/)?%s'" % re.escape(name_of(path)), text):
                found.append('%s is not in %s/meson.build' % (path, folder))
    return found


@pytest.fixture(scope='module')
def lists():
    return {path.parent.as_posix(): csource.read(path)
            for top in ('src', 'tests', 'bench') for path in pathlib.Path(top).rglob('meson.build')}


def test_everything_is_listed(lists):
    csource.assert_none(offences(csource.tree('src', 'tests', 'bench', suffixes=('.c', '.py')), lists))


@pytest.mark.parametrize('planted', [
    'src/policy/planted.c', 'src/exec/launcher/planted.c', 'tests/unit/test_planted.c', 'tests/system/test_planted.py',
    'tests/fuzz/fuzz_planted.c', 'bench/bench_planted.c',
])
def test_finds_a_planted_offence(lists, planted):
    assert offences([planted], lists) == ['%s is not in %s/meson.build' % (planted, planted.rsplit('/', 1)[0])]
