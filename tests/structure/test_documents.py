"""What HACKING.md and ARCHITECTURE.md name in backticks exists: files, functions, types and constants."""
import os
import pathlib
import re

import pytest

import csource

PAGES = ['HACKING.md', 'ARCHITECTURE.md']
NAMED = re.compile(r'`([^`\n]+)`')
PATH = re.compile(r'(?:src|tests|tools|docs|bench|debian)/[\w./*-]+$|[a-z]+/[a-z_]+\.[ch]$')
NAME = re.compile(r'[a-z]+_[a-z0-9_]+(?:\(\))?$|(?:struct|enum) [a-z_]+$')
# Forms of names, and a room that is planned.
PLACEHOLDER = re.compile(r'NAME|_us$|^_|\*|^src/lib/?$')


def sources():
    return '\n'.join(path.read_text() for top in ('src', 'tests') for path in sorted(pathlib.Path(top).rglob('*'))
                     if path.suffix in ('.c', '.h', '.py') or path.name == 'meson.build')


def is_there(path):
    return os.path.exists(path) or os.path.exists('src/' + path)


def missing(text, code):
    """The names of a page that nothing has."""
    found = []
    for match in NAMED.finditer(text):
        name = match.group(1)
        if PLACEHOLDER.search(name):
            continue
        is_missing = not is_there(name) if PATH.match(name) else \
            NAME.match(name) and not re.search(r'\b%s\b' % re.escape(name.removesuffix('()')), code)
        if is_missing:
            found.append('%d: %s' % (text.count('\n', 0, match.start()) + 1, name))
    return found


@pytest.mark.parametrize('page', PAGES)
def test_what_a_page_names_exists(page):
    csource.assert_none(['%s:%s is nowhere' % (page, one) for one in missing(csource.read(page), sources())])


def test_finds_what_is_missing():
    assert missing('see `src/base/nothing.c`,\n`engine/nothing.h` and `no_such_name()`; `struct state`, `src/base`',
                   'struct state s;') == ['1: src/base/nothing.c', '2: engine/nothing.h', '2: no_such_name()']
