"""docs/schema.md explains every table and column of the schema and nothing else, and its examples run."""
import pathlib
import re
import sqlite3

import pytest

import csource

SOURCES = pathlib.Path('src/store/schema_first.c'), pathlib.Path('src/store/schema.c')
PAGE = pathlib.Path('docs/schema.md')


def steps():
    """The SQL of each step, with the string literals joined as by the C compiler."""
    text = ''.join(map(csource.read, SOURCES))
    bodies = re.findall(r'const char (?:schema_first|step_\d+)\[\] =(.*?)";\n', text, re.DOTALL)
    return [''.join(re.findall(r'"((?:\\.|[^"\\])*)"', body + '"')).replace(r'\n', '\n') for body in bodies]


@pytest.fixture
def database():
    db = sqlite3.connect(':memory:')
    for step in steps():
        db.executescript(step)
    return db


def columns(db):
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")]
    return {(table, row[0]) for table in tables for row in db.execute('SELECT name FROM pragma_table_info(?)', (table,))}


def explained(page):
    """Pairs of table and column from the page's tables. A section with a table's name explains that table."""
    found = set()
    for section in re.split(r'^## ', page, flags=re.MULTILINE)[1:]:
        heading, body = section.split('\n', 1)
        for first, second in re.findall(r'^\| (.*?) \|(.*)\|$', body, re.MULTILINE):
            names = re.findall(r'`([a-z_]+)`', first)
            if heading.startswith('Views'):
                found |= {(names[0], name) for name in re.findall(r'\w+', re.sub(r'\(.*?\)', '', second)) if names}
            elif heading.islower():
                found |= {(heading, name) for name in names}
    return found


def test_every_column_is_explained_and_nothing_else(database):
    assert explained(csource.read(PAGE)) == columns(database)


def test_finds_an_extra_and_a_missing_column(database):
    database.execute('ALTER TABLE job ADD COLUMN planted INTEGER')
    assert columns(database) - explained(csource.read(PAGE)) == {('job', 'planted')}
    assert ('task', 'billing') not in explained(csource.read(PAGE).replace('| `billing` |', '| |'))


def test_examples_run(database):
    examples = re.findall(r'```sql\n(.*?)```', csource.read(PAGE), re.DOTALL)
    assert len(examples) >= 7
    for example in examples:
        database.execute(example).fetchall()


def test_the_version_is_the_number_of_steps():
    assert '**%d**' % len(steps()) in csource.read(PAGE)
