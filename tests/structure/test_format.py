"""Every C source is formatted by .clang-format. `make format` does it."""
import pathlib
import re
import shutil
import subprocess

import pytest

import csource


def offences(top):
    """file:line of every change that tools/format would make."""
    if not shutil.which('clang-format'):
        pytest.skip('clang-format is not installed: the layout was not checked')
    result = subprocess.run(['sh', 'tools/format', '--check'], cwd=top, capture_output=True, text=True)
    found = list(dict.fromkeys(re.findall(r'^([^:\n]+:\d+):\d+: error: .*clang-format-violations', result.stderr, re.MULTILINE)))
    assert bool(found) == (result.returncode != 0), result.stderr
    return found


def test_format():
    csource.assert_none(offences('.'))


WIDTH = 120  # ColumnLimit, which clang-format does not apply to comments


def long_comment_lines(path, text):
    lines = enumerate(text.splitlines(), 1)
    return ['%s:%d' % (path, number) for number, line in lines if len(line) > WIDTH and re.match(r'\s*(/\*|\*)', line)]


def test_no_comment_is_too_wide():
    sources = csource.tree('src', 'include', 'tests', 'bench')
    csource.assert_none([found for path, text in sources.items() for found in long_comment_lines(path, text)])


def test_finds_planted_comments():
    assert long_comment_lines('a.c', '/* %s */\n * %s\nint x; /* %s */\n' % ('x' * 114, 'y' * 118, 'z' * 200)) == ['a.c:2']


def test_finds_planted_offences(tmp_path):
    (tmp_path / 'tools').mkdir()
    (tmp_path / 'src').mkdir()
    shutil.copy('.clang-format', tmp_path)
    shutil.copy('tools/format', tmp_path / 'tools')
    good, bad = tmp_path / 'src/good.c', tmp_path / 'src/with space.c'
    good.write_text('int f(int *x)\n{\n    return *x;\n}\n')
    assert offences(tmp_path) == []
    bad.write_text('int f(int* x) {\n  return *x;\n}\n')
    assert {name.rsplit(':', 1)[0] for name in offences(tmp_path)} == {'src/with space.c'}
    subprocess.run(['sh', 'tools/format'], cwd=tmp_path, check=True)
    assert bad.read_text() == good.read_text()
    assert offences(tmp_path) == []
