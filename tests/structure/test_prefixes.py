"""An exported name has its module's prefix and is exported by one room, so a search for it finds one thing, and a library
can contain all rooms.

The check reads the objects of the plain build. The prefix is the name of the file or its singular (`priorities.c`:
`priority_`), the name of a struct, enum or union that a header of the same folder declares, or the name of the folder.
"""
import pathlib
import re

import pytest

import csource
import objects

# (Folder or file, prefix): why this other prefix is allowed there.
EXCEPTIONS = {
    ('src/engine/', 'apply'): 'the handlers of events, one for each kind, in the file of their subject',
    ('src/cli/', 'cmd'): 'the rows of the table of commands, one in each cmd_NAME.c',
    ('src/base/quantity.c', 'duration'): 'one of the quantities that the file reads and writes',
    ('src/base/quantity.c', 'memory'): 'likewise',
    ('src/base/quantity.c', 'time'): 'likewise',
    ('src/base/arena.c', 'mem'): 'the memory that arenas are made of, from the only file that may ask for it',
}
NO_PREFIX = {
    'main': 'the entry point of a program',
}

TAG = r'^(?:typedef )?(?:struct|enum|union) (\w+)'
DEFINED = re.compile(TAG + r' \{', re.MULTILINE)
DECLARED = re.compile(TAG + r'(?: \{|;)', re.MULTILINE)


def folder_of(path):
    return path.rpartition('/')[0]


def types_by_folder(tree):
    """Folder -> the tags that its headers declare and its files define."""
    declared, defined = {}, {}
    for path, text in tree.items():
        code = csource.blanked(text)
        defined.setdefault(folder_of(path), set()).update(DEFINED.findall(code))
        if path.endswith('.h'):
            declared.setdefault(folder_of(path), set()).update(DECLARED.findall(code))
    return {folder: tags & defined[folder] for folder, tags in declared.items()}


def singular(word):
    for plural, one in ('ies', 'y'), ('ches', 'ch'), ('xes', 'x'), ('s', ''):
        if word.endswith(plural):
            return word.removesuffix(plural) + one
    return word


def prefixes(path, types):
    stem, folder = pathlib.PurePosixPath(path).stem, folder_of(path)
    found = {stem, singular(stem), folder.rpartition('/')[2], *types.get(folder, ())}
    return found | {prefix for (place, prefix) in EXCEPTIONS if place in (path, folder + '/')}


def has_prefix(name, candidates):
    return any(name == prefix or name.startswith(prefix + '_') for prefix in candidates)


def offences(defined, types):
    """defined: source -> the names that it exports. Returns name -> message."""
    return {name: '%s exports %s: none of its prefixes (%s_, %s_, ...)' %
            (path, name, pathlib.PurePosixPath(path).stem, folder_of(path).rpartition('/')[2])
            for path, names in defined.items() for name in names
            if name not in NO_PREFIX and not has_prefix(name, prefixes(path, types))}


def in_two_rooms(defined):
    folders = {}
    for path, names in defined.items():
        for name in names:
            folders.setdefault(name, set()).add(folder_of(path))
    return {name: '%s is exported by %s' % (name, ' and '.join(sorted(where)))
            for name, where in folders.items() if len(where) > 1 and name not in NO_PREFIX}


@pytest.fixture(scope='module')
def types():
    return types_by_folder(csource.tree('src'))


def test_exported_names(types):
    found = {**offences(objects.defined(), types), **in_two_rooms(objects.defined())}
    csource.assert_none([found[name] for name in sorted(found)])


@pytest.mark.parametrize('path, name', [
    ('src/policy/tree.c', 'tree_add'),            # the file
    ('src/base/str.c', 'str'),
    ('src/exec/launcher/launches.c', 'launch_find'),
    ('src/engine/priorities.c', 'priority_of'),
    ('src/policy/levels.c', 'level_key'),
    ('src/policy/tree_walk.c', 'tree_next'),      # a struct of a header of the folder
    ('src/store/commit.c', 'store_commit'),       # the folder
    ('src/exec/launcher/spool.c', 'launcher_spool'),
    ('src/engine/job_events.c', 'apply_submit'),
    ('src/cli/cmd_queue.c', 'cmd_queue'),
    ('src/base/arena.c', 'mem_resize'),
    ('src/daemon/main.c', 'main'),
])
def test_lets_a_prefix_pass(types, path, name):
    assert offences({path: {name}}, types) == {}


@pytest.mark.parametrize('path, name', [
    ('src/policy/tree.c', 'add_node'),
    ('src/policy/tree.c', 'treetop'),             # no prefix without its underscore
    ('src/store/commit.c', 'tree_add'),           # the struct of another folder
    ('src/store/commit.c', 'apply_submit'),
    ('src/base/map.c', 'mem_resize'),
    ('src/api/server/routes.c', 'wire_write'),    # an exception is for its own folder
])
def test_finds_a_planted_offence(types, path, name):
    assert list(offences({path: {name}}, types)) == [name]


def test_a_struct_of_a_source_file_lends_no_prefix():
    tree = {'src/policy/tree.h': 'struct tree;\nstruct state;\n',
            'src/policy/tree.c': 'struct tree {\n};\nstruct walk {\n};\n'}
    assert types_by_folder(tree) == {'src/policy': {'tree'}}


def test_finds_a_name_of_two_rooms():
    assert list(in_two_rooms({'src/cli/table.c': {'table_add', 'main'}, 'src/sim/table.c': {'table_add', 'main'},
                              'src/sim/rows.c': {'table_row'}, 'src/sim/more.c': {'table_row'}})) == ['table_add']


def test_nm_shows_exported_names():
    """If nm showed nothing, every check above would pass."""
    assert 'arena_release' in objects.defined()['src/base/arena.c']
