"""C sources for the structure tests: each is read once; comments and the contents of strings can be blanked.

A tree is a dict of path -> text, so a test plants an offence as an entry of a dict and copies no file.
"""
import functools
import pathlib
import re

ATTRIBUTE = re.compile(r'__attribute__\(\(.*?\)\) ')
SKIPPED = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def read(path):
    return pathlib.Path(path).read_text(encoding='utf-8')


@functools.cache
def tree(*tops, suffixes=('.c', '.h')):
    """The sources below these folders: 'src/base/arena.c' -> its text. The dict is cached; callers must not change it."""
    found = {path.as_posix(): read(path)
             for top in tops for path in sorted(pathlib.Path(top).rglob('*')) if path.suffix in suffixes}
    assert found, 'no sources in %s' % ', '.join(tops)
    return found


@functools.cache
def blanked(text):
    """The text with blanks for comments and the contents of strings; lines keep their numbers."""
    def blank(match):
        token = match.group()
        if token[0] in '"\'':
            return token[0] + ' ' * (len(token) - 2) + token[0]
        return re.sub(r'[^\n]', ' ', token)
    return SKIPPED.sub(blank, text)


def functions(text):
    """Tuples of a function's first line, its name, and its number of lines to the closing brace. A body begins at a line "{"
    and ends at a line "}"; test_format.py ensures this layout."""
    lines = blanked(text).splitlines()
    brace = None
    for number, line in enumerate(lines, 1):
        if line.rstrip() == '{':
            brace = number
        elif line.startswith('}') and brace is not None:
            first = brace - 1
            while first > 1 and lines[first - 2].strip() and lines[first - 2].rstrip()[-1] not in ';}':
                first -= 1
            signature = ATTRIBUTE.sub('', ' '.join(lines[first - 1:brace - 1]))
            yield first, re.match(r'.*?(\w+)\(', signature).group(1), number - first + 1
            brace = None


def comment_lines(text):
    """The number of lines that contain only comment."""
    code = blanked(text)  # keeps the quotes of strings
    return sum(bool(line.strip()) and not rest.strip() for line, rest in zip(text.splitlines(), code.splitlines()))


def assert_none(offences):
    """Fails if there are offences, and shows them all, one a line."""
    assert not offences, '\n' + '\n'.join(offences)
