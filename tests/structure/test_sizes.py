"""No function has over 70 lines, no file over 800; larger ones are split."""
import pytest

import csource

FUNCTION_LINES = 70
FILE_LINES = 800


def offences(tree):
    found = []
    for path, text in tree.items():
        count = len(text.splitlines())
        if count > FILE_LINES:
            found.append('%s: %d lines' % (path, count))
        found += ['%s:%d: a function of %d lines' % (path, line, length)
                  for line, _, length in csource.functions(text) if length > FUNCTION_LINES]
    return found


def test_sizes():
    csource.assert_none(offences(csource.tree('src')))


@pytest.mark.parametrize('lines, found', [
    (FUNCTION_LINES, []),
    (FUNCTION_LINES + 1, ['src/base/planted.c:1: a function of 71 lines']),
])
def test_a_planted_function(lines, found):
    assert offences({'src/base/planted.c': 'int f(int x)\n{\n' + '    x++;\n' * (lines - 3) + '}\n'}) == found


@pytest.mark.parametrize('lines, found', [(FILE_LINES, []), (FILE_LINES + 1, ['src/base/planted.c: 801 lines'])])
def test_a_planted_file(lines, found):
    assert offences({'src/base/planted.c': 'int x;\n' * lines}) == found
