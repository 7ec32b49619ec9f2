"""No circles among files: what a file calls never leads back to it, so that each can be read knowing only those below it.

Read from the objects of the plain build: a file leads to another one when it uses a name that the other defines.
"""
import functools
import os
import pathlib
import subprocess

import csource

BUILD = pathlib.Path(os.environ.get('FAIRLEAD_BUILD', 'build'))

# A table that lists everybody has those in it who describe the table.
TABLES = [
    {'src/api/server/routes.c', 'src/api/server/openapi.c'},
    {'src/cli/commands.c', 'src/cli/help.c', 'src/cli/manual.c', 'src/cli/cmd_help.c', 'src/cli/cmd_manual.c',
     'src/cli/cmd_completion.c'},
]


def objects():
    """Source file -> its object: ROOM_FOLDER_FILE.c.o, with src_ in front in programs."""
    found = {}
    for source in sorted(pathlib.Path('src').rglob('*.c')):
        flat = '_'.join(source.parts[1:]) + '.o'
        for name in (flat, 'src_' + flat):
            for path in [*BUILD.glob('src/*.p/' + name), *BUILD.glob('*.p/' + name)]:
                found[str(source)] = path
    return found


def names(path, *which):
    lines = subprocess.run(['nm', '-P', *which, path], check=True, capture_output=True, text=True).stdout.splitlines()
    return {line.split()[0] for line in lines}


@functools.cache
def arrows():
    """File -> those it uses."""
    found = objects()
    assert len(found) > 150, 'few objects in %s: build first' % BUILD
    owner = {name: source for source, path in found.items() for name in names(path, '-g', '--defined-only')}
    return {source: {owner[name] for name in names(path, '-u') if name in owner and owner[name] != source}
            for source, path in found.items()}


def reachable(uses, start):
    seen, todo = set(), list(uses[start])
    while todo:
        file = todo.pop()
        if file not in seen:
            seen.add(file)
            todo += uses.get(file, ())
    return seen


def circles(uses):
    """Sets of files each of which leads to all the others."""
    reach = {file: reachable(uses, file) for file in uses}
    found = {frozenset(other for other in reach[file] if file in reach[other]) for file in uses if file in reach[file]}
    return sorted(sorted(circle) for circle in found)


def test_no_circles():
    csource.none([' -> '.join(circle) for circle in circles(arrows()) if not any(set(circle) <= table for table in TABLES)])


def test_a_circle_is_found():
    assert circles({'a': {'b'}, 'b': {'c'}, 'c': {'b'}, 'd': {'a'}}) == [['b', 'c']]


def test_tables_are_circles():
    """What is excused is there."""
    found = circles(arrows())
    csource.none(['no circle any more: %s' % sorted(table) for table in TABLES if sorted(table) not in found])
