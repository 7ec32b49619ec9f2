"""An exported name has its module's prefix and is exported by one room, so a search for it finds one thing, and a library
can contain all rooms.

The check reads the objects of the plain build. The prefix is the name of the file or its singular (`priorities.c`:
`priority_`), the name of the folder, or the name of a struct, enum or union of the name's own header: the file's own
(`tree.h` of `tree.c`), or one of the same folder that has the name.
"""
import pathlib
import re

import pytest

import csource
import objects

# (Folder or file, prefix): why this other prefix is allowed there.
EXCEPTIONS = {
    ('src/lib/', 'fl'): 'the symbols of the installed library (include/fairlead.h)',
    ('src/engine/', 'apply'): 'the handlers of events, one for each kind, in the file of their subject',
    ('src/cli/', 'cmd'): 'the rows of the table of commands, one in each cmd_NAME.c',
    ('src/base/quantity.c', 'duration'): 'one of the quantities that the file reads and writes',
    ('src/base/quantity.c', 'memory'): 'likewise',
    ('src/base/quantity.c', 'time'): 'likewise',
    ('src/base/arena.c', 'mem'): 'the memory that arenas are made of, from the only file that may ask for it',
    ('src/engine/state_rows.c', 'assoc'): 'the rows of the state (state.h), of each kind',
    ('src/engine/state_rows.c', 'job'): 'likewise',
    ('src/engine/state_rows.c', 'object_row'): 'likewise',
    ('src/engine/state_rows.c', 'task'): 'likewise',
    ('src/engine/state_rows.c', 'usage_owner'): 'likewise',
    ('src/engine/state_rows.c', 'state'): 'likewise, all of them',
    ('src/engine/apply.c', 'state'): 'the state asks for a pass while an event is applied',
    ('src/engine/associations.c', 'assoc'): 'the association that a submission gets',
    ('src/engine/charge.c', 'usage_owner'): 'what the usage owners of a job are charged',
    ('src/engine/job_members.c', 'task'): 'tasks have members as jobs do',
    ('src/engine/priorities.c', 'job'): "a job's pending reason, found while jobs are ranked",
    ('src/engine/priorities.c', 'state'): 'the priorities of all jobs of a state',
    ('src/engine/priorities_multifactor.c', 'job'): 'what a job is asked while jobs are ranked (ranking.h)',
    ('src/engine/ranking.c', 'job'): 'likewise',
    ('src/engine/task_records.c', 'job'): 'a job ends with its last task',
    ('src/engine/task_records.c', 'task'): 'the records of tasks',
}
NO_PREFIX = {
    'main': 'the entry point of a program',
}

TAG = r'^(?:typedef )?(?:struct|enum|union) (\w+)'
DEFINED = re.compile(TAG + r' \{', re.MULTILINE)
WORD = re.compile(r'\w+')
DECLARED = re.compile(TAG + r'(?: \{|;)', re.MULTILINE)


def folder_of(path):
    return path.rpartition('/')[0]


def headers_of(tree):
    """Folder -> its headers: path -> (its words, the tags that it declares and a file of the folder defines)."""
    headers, defined = {}, {}
    for path, text in tree.items():
        code = csource.blanked(text)
        defined.setdefault(folder_of(path), set()).update(DEFINED.findall(code))
        if path.endswith('.h'):
            headers.setdefault(folder_of(path), {})[path] = set(WORD.findall(code)), set(DECLARED.findall(code))
    return {folder: {path: (words, tags & defined[folder]) for path, (words, tags) in found.items()}
            for folder, found in headers.items()}


def singular(word):
    for plural, one in ('ies', 'y'), ('ches', 'ch'), ('xes', 'x'), ('s', ''):
        if word.endswith(plural):
            return word.removesuffix(plural) + one
    return word


def prefixes(path, name, headers):
    stem, folder = pathlib.PurePosixPath(path).stem, folder_of(path)
    found = {stem, singular(stem), folder.rpartition('/')[2]}
    for header, (words, tags) in headers.get(folder, {}).items():
        if name in words or pathlib.PurePosixPath(header).stem == stem:
            found |= tags
    return found | {prefix for (place, prefix) in EXCEPTIONS if place in (path, folder + '/')}


def has_prefix(name, candidates):
    return any(name == prefix or name.startswith(prefix + '_') for prefix in candidates)


def offences(defined, headers):
    """defined: source -> the names that it exports. Returns name -> message."""
    return {name: '%s exports %s: none of its prefixes (%s_, %s_, ...)' %
            (path, name, pathlib.PurePosixPath(path).stem, folder_of(path).rpartition('/')[2])
            for path, names in defined.items() for name in names
            if name not in NO_PREFIX and not has_prefix(name, prefixes(path, name, headers))}


def in_two_rooms(defined):
    folders = {}
    for path, names in defined.items():
        for name in names:
            folders.setdefault(name, set()).add(folder_of(path))
    return {name: '%s is exported by %s' % (name, ' and '.join(sorted(where)))
            for name, where in folders.items() if len(where) > 1 and name not in NO_PREFIX}


@pytest.fixture(scope='module')
def headers():
    return headers_of(csource.tree('src'))


def test_exported_names(headers):
    found = {**offences(objects.defined(), headers), **in_two_rooms(objects.defined())}
    csource.assert_none([found[name] for name in sorted(found)])


@pytest.mark.parametrize('path, name', [
    ('src/policy/tree.c', 'tree_add'),            # the file
    ('src/base/str.c', 'str'),
    ('src/exec/launcher/launches.c', 'launch_find'),
    ('src/engine/priorities.c', 'priority_of'),
    ('src/policy/levels.c', 'level_key'),
    ('src/engine/priorities.c', 'state_priorities'),
    ('src/api/server/query.c', 'request_read_query'),  # a struct of the header that has the name
    ('src/store/commit.c', 'store_commit'),       # the folder
    ('src/exec/launcher/spool.c', 'launcher_spool'),
    ('src/engine/job_events.c', 'apply_submit'),
    ('src/cli/cmd_queue.c', 'cmd_queue'),
    ('src/base/arena.c', 'mem_resize'),
    ('src/daemon/main.c', 'main'),
])
def test_lets_a_prefix_pass(headers, path, name):
    assert offences({path: {name}}, headers) == {}


def test_every_exception_is_used(headers):
    defined = objects.defined()
    unused = ['%s %s' % key for key in EXCEPTIONS
              if not any(path.startswith(key[0]) and has_prefix(name, {key[1]})
                         for path, names in defined.items() for name in names)]
    csource.assert_none(unused)


@pytest.mark.parametrize('path, name', [
    ('src/policy/tree.c', 'add_node'),
    ('src/policy/tree.c', 'treetop'),             # no prefix without its underscore
    ('src/store/commit.c', 'tree_add'),           # the struct of another folder
    ('src/engine/pass.c', 'job_next'),            # the struct of a header that has not this name
    ('src/store/commit.c', 'apply_submit'),
    ('src/base/map.c', 'mem_resize'),
    ('src/api/server/routes.c', 'wire_write'),    # an exception is for its own folder
])
def test_finds_a_planted_offence(headers, path, name):
    assert list(offences({path: {name}}, headers)) == [name]


def test_a_struct_of_a_source_file_lends_no_prefix():
    tree = {'src/policy/tree.h': 'struct tree;\nstruct state;\n',
            'src/policy/tree.c': 'struct tree {\n};\nstruct walk {\n};\n'}
    ((_, tags),) = headers_of(tree)['src/policy'].values()
    assert tags == {'tree'}


def test_finds_a_name_of_two_rooms():
    assert list(in_two_rooms({'src/cli/table.c': {'table_add', 'main'}, 'src/sim/table.c': {'table_add', 'main'},
                              'src/sim/rows.c': {'table_row'}, 'src/sim/more.c': {'table_row'}})) == ['table_add']


def test_nm_shows_exported_names():
    """If nm showed nothing, every check above would pass."""
    assert 'arena_release' in objects.defined()['src/base/arena.c']
