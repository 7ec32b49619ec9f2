"""C sources as the checks here need them: read once, and with comments and the insides of strings blanked.

A tree is a dict of path -> text, so that a planted offence is an entry of a dict and no file is copied.
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
    """The sources below these folders: 'src/base/arena.c' -> its text. Shared: not to be changed."""
    found = {path.as_posix(): read(path)
             for top in tops for path in sorted(pathlib.Path(top).rglob('*')) if path.suffix in suffixes}
    assert found, 'no sources in %s' % ', '.join(tops)
    return found


@functools.cache
def blanked(text):
    """Every line stays in its place."""
    def blank(match):
        token = match.group()
        if token[0] in '"\'':
            return token[0] + ' ' * (len(token) - 2) + token[0]
        return re.sub(r'[^\n]', ' ', token)
    return SKIPPED.sub(blank, text)


def functions(text):
    """Tuples of a function's first line, its name, and its lines from there to the closing brace. In our layout a body is
    all from a line "{" to a line "}" (test_format.py keeps it so)."""
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
    """How many lines hold nothing but comment."""
    code = blanked(text)  # of a string its quotes stay
    return sum(bool(line.strip()) and not left.strip() for line, left in zip(text.splitlines(), code.splitlines()))


def none(offences):
    """Passes when there are none; else shows them all, one a line."""
    assert not offences, '\n' + '\n'.join(offences)
