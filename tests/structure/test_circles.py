"""No circles among files: what a file calls never leads back to it, so that each can be read knowing only those below it.

Read from the objects of the plain build: a file leads to another one when it uses a name that the other defines.
"""
import functools

import csource
import objects

# A table that lists all commands also lists the commands that describe the table.
TABLES = [
    {'src/api/server/routes.c', 'src/api/server/openapi.c'},
    {'src/cli/commands.c', 'src/cli/help.c', 'src/cli/manual.c', 'src/cli/cmd_help.c', 'src/cli/cmd_manual.c',
     'src/cli/cmd_completion.c'},
]


@functools.cache
def arrows():
    """File -> those it uses."""
    owner = {name: source for source, names in objects.defined().items() for name in names}
    assert len(owner) > 500, 'nm shows few names'
    return {source: {owner[name] for name in names if name in owner and owner[name] != source}
            for source, names in objects.used().items()}


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
