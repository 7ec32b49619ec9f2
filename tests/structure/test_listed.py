"""A source that no list names is not built, and a test that no table names never runs: both look fine until they matter."""
import pathlib
import re
import shutil

import pytest

import csource


def offences(top):
    found = []

    def check(pattern, name_in_list):
        for path in sorted(pathlib.Path(top).glob(pattern)):
            lists = [folder / 'meson.build' for folder in path.parents if (folder / 'meson.build').exists()]
            text = re.sub(r'#.*', '', lists[0].read_text(encoding='utf-8')) if lists else ''
            if not re.search(r"'(\S*/)?%s'" % re.escape(name_in_list(path)), text):
                found.append('%s is not in %s' % (path.relative_to(top), lists[0].relative_to(top)))

    check('src/**/*.c', lambda path: path.name)
    for pattern in ('tests/*/test_*.c', 'tests/*/test_*.py', 'tests/fuzz/fuzz_*.c', 'bench/bench_*.c'):
        check(pattern, lambda path: path.stem.split('_', 1)[1])
    return found


def test_everything_is_listed():
    csource.none(offences(pathlib.Path('.')))


@pytest.mark.parametrize('planted', [
    'src/policy/planted.c', 'src/exec/launcher/planted.c', 'tests/unit/test_planted.c', 'tests/system/test_planted.py',
    'tests/fuzz/fuzz_planted.c', 'bench/bench_planted.c',
])
def test_finds_a_planted_offence(tmp_path, planted):
    for folder in ('src', 'tests', 'bench'):
        shutil.copytree(folder, tmp_path / folder, ignore=shutil.ignore_patterns('cases', 'corpus', '__pycache__'))
    before = offences(tmp_path)
    (tmp_path / planted).write_text('')
    assert [offence for offence in offences(tmp_path) if offence not in before] \
        == ['%s is not in %s/meson.build' % (planted, planted.rsplit('/', 1)[0])]
