"""A struct, enum or union tag is defined in one file of src/, so a name has one meaning in all files."""
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
