"""Only src/cli names commands of fairlead in its texts: a library does not know which program calls it, and the API's
description is read by people who have no command line."""
import re

import pytest

import csource

# A comment, or a string: only strings are kept.
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"((?:\\.|[^"\\\n])*)"', re.DOTALL)
COMMAND = re.compile(r"(?<![\w/.-])fairlead [a-z-]")


def offences(tree):
    found = []
    for path, text in tree.items():
        if path.startswith('src/cli/'):
            continue
        for match in TOKEN.finditer(text):
            if match.group(1) and COMMAND.search(match.group(1)):
                found.append('%s:%d: names a command: %s'
                             % (path, text.count('\n', 0, match.start()) + 1, match.group()))
    return found


def test_libraries_name_no_command():
    csource.assert_none(offences(csource.tree('src')))


@pytest.mark.parametrize('line', [
    """f(e, "run 'fairlead queue'");""", """.help = "until 'fairlead release'",""", '"requested (fairlead resource show)"',
])
def test_finds_a_planted_command(line):
    (found,) = offences({'src/fields/planted.c': '/* one */\n' + line + '\n'})
    assert found.startswith('src/fields/planted.c:2: names a command: "')
    assert offences({'src/cli/planted.c': line}) == []


@pytest.mark.parametrize('line', [
    "/* 'fairlead start' starts it */", '.help = "file (fairlead-%j.out)"', '"fairlead: %s"', '"fairleadd --private"',
    '"/run/fairlead x"', '"Fairlead decides"', '"fairlead.sock"',
])
def test_lets_other_texts_pass(line):
    assert offences({'src/fields/planted.c': line}) == []
