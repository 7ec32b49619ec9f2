"""The rooms that a room may include, and the files that may allocate memory. rooms.py has the rules; this file checks them
and tests the check itself with planted offences."""
import re

import pytest

import csource
import rooms

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
ALLOCATION = re.compile(r'\b(malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|free|strdup|strndup|asprintf'
                        r'|vasprintf|getline|open_memstream)\s*\(')


def include_offences(tree):
    offences = []
    for path, text in tree.items():
        room = rooms.room_of(path.removeprefix('src/'))
        if room is None:
            offences.append('%s:1: its folder is not a room of rooms.py' % path)
            continue
        for number, line in enumerate(text.splitlines(), 1):
            include = INCLUDE.match(line)
            if not include:
                continue
            target = include.group(2)
            if include.group(1) == '<':
                if room not in rooms.LIBRARIES.get(target, [room]):
                    offences.append('%s:%d: %s/ must not include <%s>' % (path, number, room, target))
                continue
            if target in rooms.ROOMS[room]:
                continue
            other = rooms.room_of(target)
            if other is None:
                offences.append('%s:%d: "%s" is not a path from src/' % (path, number, target))
            elif other != room and other not in rooms.ROOMS[room]:
                offences.append('%s:%d: %s/ must not include "%s"' % (path, number, room, target))
    return offences


def memory_offences(tree):
    offences = []
    for path, text in tree.items():
        if not path.startswith(tuple('src/%s/' % room for room in rooms.PURE)) or path == 'src/base/arena.c':
            continue
        for number, line in enumerate(csource.blanked(text).splitlines(), 1):
            for call in ALLOCATION.finditer(line):
                offences.append('%s:%d: %s: memory comes from base/arena.h' % (path, number, call.group(1)))
    return offences


def test_includes():
    csource.assert_none(include_offences(csource.tree('src')))


def test_memory():
    csource.assert_none(memory_offences(csource.tree('src')))


@pytest.mark.parametrize('name, line', [
    ('base/planted.c', '#include "policy/tree.h"'),
    ('policy/planted.h', '#include "engine/engine.h"'),
    ('sched/planted.c', '#  include "store/store.h"'),
    ('engine/planted.c', '#include "formats/swf.h"'),
    ('formats/planted.c', '#include "policy/tree.h"'),
    ('exec/launcher/planted.c', '#include "api/wire.h"'),
    ('api/planted.c', '#include "api/server/server.h"'),
    ('api/client/planted.c', '#include "api/server/server.h"'),
    ('api/server/planted.c', '#include "store/store.h"'),
    ('cli/planted.c', '#include "engine/engine.h"'),
    ('daemon/planted.c', '#include "cli/command.h"'),
    ('base/planted.c', '#include "arena.h"'),
    ('base/planted.c', '#include "../policy/tree.h"'),
    ('engine/planted.c', '#include <sqlite3.h>'),
    ('exec/planted.c', '#include <uv.h>'),
])
def test_includes_finds_a_planted_offence(name, line):
    found = include_offences({'src/' + name: '/* fine */\n' + line + '\n'})
    assert len(found) == 1 and found[0].startswith('src/%s:2: ' % name)


def test_includes_finds_a_file_in_no_room():
    assert include_offences({'src/attic/planted.c': '#include <stdio.h>\n'}) \
        == ['src/attic/planted.c:1: its folder is not a room of rooms.py']


@pytest.mark.parametrize('name, line', [
    ('policy/planted.c', 'static void f(void *p) { free(p); }'),
    ('base/planted.c', 'void *f(void) { return malloc (1); }'),
    ('engine/planted.h', '#define COPY(s) strdup(s)'),
])
def test_memory_finds_a_planted_offence(name, line):
    found = memory_offences({'src/' + name: '\n' + line + '\n'})
    assert len(found) == 1 and found[0].startswith('src/%s:2: ' % name)


def test_memory_reads_no_comments_and_no_strings():
    text = '/* free(x)\n malloc(1) */\nconst char *s = "\\"free(x)"; // free(y)\nvoid mem_free(void *p);\n'
    assert memory_offences({'src/base/planted.c': text}) == []
