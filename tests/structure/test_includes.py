"""Who may include whom, and who may ask for memory. The rules are in rooms.py; here is the check, and proof that it bites."""
import pathlib
import re
import shutil

import pytest

import csource
import rooms

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
ALLOCATION = re.compile(r'\b(malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|free|strdup|strndup|asprintf'
                        r'|vasprintf|getline|open_memstream)\s*\(')


def include_offences(src):
    offences = []
    for path in csource.files(src):
        name = path.relative_to(src).as_posix()
        room = rooms.room_of(name)
        if room is None:
            offences.append('%s:1: in no room that rooms.py knows' % path)
            continue
        for number, line in enumerate(csource.read(path).splitlines(), 1):
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
                offences.append('%s:%d: "%s" is not written from src/' % (path, number, target))
            elif other != room and other not in rooms.ROOMS[room]:
                offences.append('%s:%d: %s/ must not include "%s"' % (path, number, room, target))
    return offences


def memory_offences(src):
    offences = []
    for room in rooms.PURE:
        for path in csource.files(pathlib.Path(src) / room):
            if path.relative_to(src).as_posix() == 'base/arena.c':
                continue
            for number, line in enumerate(csource.blanked(csource.read(path)).splitlines(), 1):
                for call in ALLOCATION.finditer(line):
                    offences.append('%s:%d: %s: memory comes from base/arena.h' % (path, number, call.group(1)))
    return offences


def test_includes():
    assert csource.files('src'), 'no sources found'
    csource.none(include_offences(pathlib.Path('src')))


def test_memory():
    assert csource.files('src/base'), 'no sources found'
    csource.none(memory_offences(pathlib.Path('src')))


@pytest.fixture
def copy(tmp_path):
    return pathlib.Path(shutil.copytree('src', tmp_path / 'src'))


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
    ('attic/planted.c', '#include <stdio.h>'),
])
def test_includes_finds_a_planted_offence(copy, name, line):
    before = include_offences(copy)
    planted = copy / name
    planted.parent.mkdir(parents=True, exist_ok=True)
    planted.write_text('/* fine */\n' * (0 if name.startswith('attic/') else 1) + line + '\n')
    found = [offence for offence in include_offences(copy) if offence not in before]
    assert len(found) == 1
    assert found[0].startswith('%s:%d: ' % (planted, 1 if name.startswith('attic/') else 2))


@pytest.mark.parametrize('name, line', [
    ('policy/planted.c', 'static void f(void *p) { free(p); }'),
    ('base/planted.c', 'void *f(void) { return malloc (1); }'),
    ('engine/planted.h', '#define COPY(s) strdup(s)'),
])
def test_memory_finds_a_planted_offence(copy, name, line):
    before = memory_offences(copy)
    (copy / name).write_text('\n' + line + '\n')
    found = [offence for offence in memory_offences(copy) if offence not in before]
    assert len(found) == 1 and found[0].startswith('%s:2: ' % (copy / name))


def test_memory_reads_no_comments_and_no_strings(copy):
    before = memory_offences(copy)
    (copy / 'base/planted.c').write_text('/* free(x)\n malloc(1) */\nconst char *s = "\\"free(x)"; // free(y)\n'
                                         'void mem_free(void *p);\n')
    assert memory_offences(copy) == before
