"""A struct, enum or union tag is defined in one file of src/, and a constant of a header in no other room, so a name
has one meaning in all files. A constant is an enumerator, or a macro of a header; macros of a .c file are pieces of its
tables, and what only .c files define is theirs."""
import posixpath
import re

import pytest

import csource

DEFINED = re.compile(r'\b(?:struct|enum|union)\s+(?:__attribute__\(\(.*?\)\)\s*)?(\w+)\s*\{')


def offences(tree):
    """Tag -> a message with its definitions, if these are in more than one file."""
    places = {}
    for path, text in tree.items():
        code = csource.blanked(text)
        for match in DEFINED.finditer(code):
            places.setdefault(match.group(1), {}).setdefault(path, code.count('\n', 0, match.start()) + 1)
    return {tag: 'the tag %s is defined at %s' % (tag, ', '.join('%s:%d' % place for place in files.items()))
            for tag, files in places.items() if len(files) > 1}


EXCEPTED = {'NAME_BYTES_MAX'}  # fields/limits.h limits names of objects; wire/reader.c names of documents
ENUM = re.compile(r'\benum\b[^;{}()=]*\{([^{}]*)\}')
MACRO = re.compile(r'^#define (\w+)', re.MULTILINE)


def constant_offences(tree):
    """Constant -> a message with the files that define it, if these are in more than one room, and one is a header."""
    places = {}
    for path, text in tree.items():
        code = csource.blanked(text)
        names = [re.match(r'\w*', item.strip()).group() for match in ENUM.finditer(code)
                 for item in re.sub(r'^#.*$', '', match.group(1), flags=re.MULTILINE).split(',')]
        if path.endswith('.h'):
            names += MACRO.findall(code)
        for name in filter(None, names):
            rooms, room = places.setdefault(name, {}), posixpath.dirname(path)
            if path.endswith('.h') or room not in rooms:
                rooms[room] = path
    return {name: 'the constant %s is defined in %s' % (name, ', '.join(rooms.values()))
            for name, rooms in places.items()
            if len(rooms) > 1 and name not in EXCEPTED and any(path.endswith('.h') for path in rooms.values())}


def test_constants_are_defined_in_one_room():
    found = constant_offences(csource.tree('src'))
    csource.assert_none([found[name] for name in sorted(found)])


@pytest.mark.parametrize('one, other', [
    ('enum a { WORD_MAX = 3, B };\n', 'enum { A, WORD_MAX };\n'),
    ('#define WORD_MAX 3\n', 'enum {\n    WORD_MAX = 4,\n};\n'),
])
def test_finds_a_planted_constant(one, other):
    found = constant_offences({'src/sched/one.h': one, 'src/sim/other.c': other})
    assert found == {'WORD_MAX': 'the constant WORD_MAX is defined in src/sched/one.h, src/sim/other.c'}


def test_lets_private_constants_pass():
    assert constant_offences({'src/sched/one.c': 'enum { STEP = 3 };\n', 'src/sim/other.c': 'enum { STEP = 4 };\n'
                              '#define WORD 1\n', 'src/sim/third.h': '#define WORD 1\n'}) == {}


def test_tags_are_defined_once():
    found = offences(csource.tree('src'))
    csource.assert_none([found[tag] for tag in sorted(found)])


@pytest.mark.parametrize('one, other, tag', [
    ('struct job {\n    int id;\n};\n', 'enum job {\n    JOB_A,\n};\n', 'job'),
    ('struct a {\n    struct inner {\n        int x;\n    } b;\n};\n', 'static const struct inner {\n    int x;\n} y;\n',
     'inner'),
    ('union word\n{\n    int x;\n};\n', 'struct __attribute__((packed)) word {\n    char c;\n};\n', 'word'),
])
def test_finds_a_planted_offence(one, other, tag):
    found = offences({'src/sched/one.h': '/* one */\n' + one, 'src/sim/other.c': '\n' + other})
    assert list(found) == [tag]
    assert re.fullmatch(r'the tag \w+ is defined at src/sched/one.h:[23], src/sim/other.c:2', found[tag])


def test_lets_declarations_and_uses_pass():
    assert offences({'src/sched/one.h': 'struct job {\n    int id;\n};\n',
                     'src/sim/other.c': 'struct job;\nstatic struct job *f(struct job *j)\n{\n    /* struct job { */\n'
                                        '    *j = (struct job){.id = 1};\n    return j;\n}\n'
                                        'struct {\n    int x;\n} y;\n'}) == {}
