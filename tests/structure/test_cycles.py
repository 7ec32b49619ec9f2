"""No cycles between source files, so a reader of a file needs to know only the files below it.

The check reads the objects of the plain build: a file depends on another if it uses a name that the other defines.
"""
import functools

import csource
import objects

# Cycles that are allowed: a table of all commands contains the commands that describe the table.
TABLES = [
    {'src/api/server/routes.c', 'src/api/server/openapi.c'},
    {'src/cli/commands.c', 'src/cli/help.c', 'src/cli/manual.c', 'src/cli/cmd_help.c', 'src/cli/cmd_manual.c',
     'src/cli/cmd_completion.c'},
]


@functools.cache
def dependencies():
    """File -> the files that it uses."""
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


def cycles(uses):
    """Sets of files in which each file depends on all the others."""
    reach = {file: reachable(uses, file) for file in uses}
    found = {frozenset(other for other in reach[file] if file in reach[other]) for file in uses if file in reach[file]}
    return sorted(sorted(cycle) for cycle in found)


def test_no_cycles():
    csource.assert_none([' -> '.join(cycle) for cycle in cycles(dependencies()) if not any(set(cycle) <= table for table in TABLES)])


def test_a_cycle_is_found():
    assert cycles({'a': {'b'}, 'b': {'c'}, 'c': {'b'}, 'd': {'a'}}) == [['b', 'c']]


def test_allowed_cycles_exist():
    found = cycles(dependencies())
    csource.assert_none(['not a cycle: %s; delete its row in TABLES' % sorted(table) for table in TABLES if sorted(table) not in found])
