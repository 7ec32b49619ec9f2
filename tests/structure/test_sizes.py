"""No function over 70 lines, no file over 800. What grows past that wants to be two."""
import pathlib
import shutil

import pytest

import csource

FUNCTION_LINES = 70
FILE_LINES = 800


def offences(src):
    """A function's body is, in our layout, all from a line "{" to a line "}" (test_format.py keeps it so)."""
    found = []
    for path in csource.files(src):
        lines = csource.blanked(csource.read(path)).splitlines()
        if len(lines) > FILE_LINES:
            found.append('%s: %d lines' % (path, len(lines)))
        start = None
        for number, line in enumerate(lines, 1):
            if line.rstrip() == '{':
                start = number
            elif line.startswith('}') and start is not None:
                if number - start + 1 > FUNCTION_LINES:
                    found.append('%s:%d: a function of %d lines' % (path, start, number - start + 1))
                start = None
    return found


def test_sizes():
    assert csource.files('src'), 'no sources found'
    csource.none(offences('src'))


@pytest.fixture
def copy(tmp_path):
    return pathlib.Path(shutil.copytree('src', tmp_path / 'src'))


@pytest.mark.parametrize('lines, found', [(FUNCTION_LINES, 0), (FUNCTION_LINES + 1, 1)])
def test_a_planted_function(copy, lines, found):
    before = len(offences(copy))
    (copy / 'base/planted.c').write_text('int f(int x)\n{\n' + '    x++;\n' * (lines - 2) + '}\n')
    assert len(offences(copy)) - before == found


@pytest.mark.parametrize('lines, found', [(FILE_LINES, 0), (FILE_LINES + 1, 1)])
def test_a_planted_file(copy, lines, found):
    before = len(offences(copy))
    (copy / 'base/planted.c').write_text('int x;\n' * lines)
    assert len(offences(copy)) - before == found
