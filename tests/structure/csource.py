"""C sources as the checks here need them: comments and the insides of strings blanked, every line kept in its place."""
import pathlib
import re

SKIPPED = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def files(top):
    return sorted(path for path in pathlib.Path(top).rglob('*.[ch]'))


def blanked(text):
    def blank(match):
        token = match.group()
        if token[0] in '"\'':
            return token[0] + ' ' * (len(token) - 2) + token[0]
        return re.sub(r'[^\n]', ' ', token)
    return SKIPPED.sub(blank, text)


def read(path):
    return path.read_text(encoding='utf-8')


def none(offences):
    """Passes when there are none; else shows them all, one a line."""
    assert not offences, '\n' + '\n'.join(offences)
