"""The lists of allowed offences fail on more offences and on fewer, and shrink only on request."""
import pytest

import ratchet


@pytest.fixture
def names(tmp_path):
    path = tmp_path / 'list.txt'
    path.write_text('# Temporary.\nold\nolder\n')
    return path


@pytest.fixture
def counts(tmp_path):
    path = tmp_path / 'list.txt'
    path.write_text('# Temporary.\n2 a file.c\n1 b.c\n')
    return path


@pytest.fixture
def shrinking(monkeypatch):
    monkeypatch.setenv('FAIRLEAD_SHRINK', '1')


@pytest.fixture(autouse=True)
def not_shrinking(monkeypatch):
    monkeypatch.delenv('FAIRLEAD_SHRINK', raising=False)


FOUND = {'old': 'old is wrong', 'older': 'older is wrong'}


def test_names(names):
    assert ratchet.new_names(FOUND, names) == []
    assert ratchet.new_names({**FOUND, 'new': 'new is wrong'}, names) == ['new is wrong']
    (line,) = ratchet.new_names({'old': 'old is wrong'}, names)
    assert line.startswith("%s: no offence any more: delete 'older', or run " % names)
    assert ratchet.new_names(FOUND, names.with_name('none')) == ['old is wrong', 'older is wrong']


def test_names_shrink(names, shrinking):
    assert ratchet.new_names({'old': 'old is wrong', 'new': 'new is wrong'}, names) == ['new is wrong']
    assert names.read_text() == '# Temporary.\nold\n'


def test_counts(counts):
    assert ratchet.new_counts({'a file.c': ['x', 'y'], 'b.c': ['z'], 'c.c': []}, counts) == []
    assert ratchet.new_counts({'a file.c': ['x', 'y'], 'b.c': ['z'], 'c.c': ['w']}, counts) \
        == ['c.c: 1 found, 0 allowed:', 'w']
    assert ratchet.new_counts({'a file.c': ['x', 'y', 'w'], 'b.c': ['z']}, counts) \
        == ['a file.c: 3 found, 2 allowed:', 'x', 'y', 'w']
    fewer, gone = ratchet.new_counts({'a file.c': ['x']}, counts)
    assert fewer.startswith('%s: a file.c has only 1 of 2 offences: ' % counts)
    assert gone.startswith('%s: b.c has only 0 of 1 offences: ' % counts)


def test_counts_shrink(counts, shrinking):
    assert ratchet.new_counts({'a file.c': ['x'], 'moved.c': ['z']}, counts) == []
    assert counts.read_text() == '# Temporary.\n1 a file.c\n1 moved.c\n'
    assert ratchet.new_counts({'a file.c': ['x', 'y', 'w']}, counts) == [
        'a file.c: 3 found, 1 allowed:', 'x', 'y', 'w',
        "%s: moved.c has only 0 of 1 offences: change its line, or run '%s'" % (counts, ratchet.HINT)]
    assert counts.read_text() == '# Temporary.\n1 a file.c\n1 moved.c\n'
