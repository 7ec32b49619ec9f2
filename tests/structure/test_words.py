"""Words that were replaced by clearer ones do not come back: in names, comments, messages and documents.

A space in a pattern also matches the end of a line, even within a comment.
"""
import os
import pathlib
import re
import subprocess

import pytest

import csource

# Pattern, the words to write instead, an example, and optionally the folder that the row applies to.
WORDS = [
    # names
    (r'\bstruct turn\b', 'struct apply_context', 'struct turn *t'),
    (r'\bask_for_ahead\b', 'prefetch', 'ask_for_ahead(s)'),
    (r'\b(queue|pass_order)_whole\b', 'queue_by_priority, sort_key_priority', 'queue_whole(s)'),
    (r'\bticket_(question|asked)\b', 'ticket_snapshot', 'struct ticket_question'),
    (r'\bturnouts?\b', 'entry_counts', 'the turnout of'),
    (r'\bticket_book(_\w+)?\b', 'ticket_identities', 'ticket_book_free(b)'),
    (r'\bcontests?(_\w+)?\b', 'ticket_selection', 'contest_take(c)'),
    (r'\bstruct race\b|\braces?_\w+|\brace of\b', 'tournament', 'a race of groups'),
    (r'\bstruct standing\b|(->|\.)standing\b', 'job_key', 'new->standing'),
    (r'\bfloors(_\w+)?\b|\bfloor_load\b', 'minimum priority, min_priority', 'floors_write(f)'),
    (r'\bjob_obstacle\b|\bobstacles?\b', 'pending reason', 'what obstacle'),
    (r'\bsettings_(published|standard)\b', 'settings_upstream_defaults, settings_defaults', 'settings_published(s)'),
    (r'\bis_made\b', 'is_read_only', '.is_made = true'),
    (r'\bother_keywords\b', 'aliases', '.other_keywords'),
    (r'\bbury_turn\b', 'overwrite_failed_commit', 'bury_turn(s)'),
    (r'\bstruct habits?\b|\bhabits?_\w+|(->|\.)habit\b', 'foreign_syntax', '.habit = f'),
    (r'\brestless\b', 'needs_tick', 'is restless', 'src/exec/'),
    (r'\bstruct remains\b|\bremains_\w+', 'orphans', 'remains_end(r)', 'src/exec/'),
    (r'\bstruct traces\b|\btraces_\w+', 'process_identity', 'struct traces t', 'src/exec/'),
    (r'\bstruct family\b|\bfamily_\w+', 'process_tree', 'family_end(f)', 'src/exec/'),
    (r'\w_(MOST|LEAST)\b', '_MAX, _MIN', 'CPUS_MOST'),
    (r'\b(least|most)_[a-z]\w*\b', 'min_, max_', 'most_users'),
    (r'\b(?!slots)[a-z]\w*?(?<!slots)_(least|most)\b', '_min, _max', 'age_least'),
    (r'\bstore_owner_\w+|\bowners_(add|add_rule|charge|judge|release)\b', 'usage_owner', 'store_owner_load(s)'),
    (r'\busage_fade\b', 'usage_decay_steps', 'usage_fade(u, 3)'),
    # persons
    (r'\bwhom\b', 'that, which; or turn the sentence round', 'for whom it runs'),
    (r'\beverybody\b', 'all users, all jobs, every client: the thing that is meant', 'in front of everybody'),
    (r'''(?<!['"`])\bnobody\b''', 'no user, no process, nothing: the thing that is missing', 'nobody waits'),
    # phrases
    (r'\bdear half\b', 'expensive half', 'its dear half'),
    (r'\bin company\b', 'in combination', 'goes wrong in company'),
    (r'\b(begin|begins|began|begun) anew\b', 'reset, start again', 'lets usage begin anew'),
    (r'\bhand(s|ed|ing)? in\b', 'submit', 'hand in a job'),
    (r'\binstance of before\b', 'the same instance', 'with the instance of before'),
    (r'\bcounts half after\b', 'half-life', 'usage counts half after this long'),
    (r'\bthat does not say\b', 'default', 'CPUs of a job that does not say'),
    (r'\bRoot is all there is\b', 'root stands for the whole machine', 'Root is all there is.'),
    (r'\bweigh(s|ed)? down\b', 'reduce', 'nodes above it are weighed down'),
    (r'\bgr(ow|ows|ew) older\b', 'its age counts from', 'since when it grows older'),
    (r'\bthere by itself\b', 'always exists', 'the account is there by itself'),
    (r'\bmakes? no sense\b', 'invalid', 'rows that make no sense'),
    (r'\bto the letter\b', 'exactly, case-sensitive', 'matched to the letter'),
    (r'\bclosed by a zero\b', 'ended by a zero byte', 'each closed by a zero byte'),
    (r'\bkept once\b', 'stored once', 'equal ones are kept once'),
    (r'\bcomes? back as (it|they) w(as|ere)\b', 'is stored unchanged', 'scripts come back as they were'),
    (r'\bnot said:', 'default:', 'not said: the first'),
    # messages
    (r'"(MOMENT|SPAN)"|\bA (MOMENT|SPAN)\b|--[a-z]+ (MOMENT|SPAN)\b', 'TIME, DURATION', '"begin", 0, "MOMENT"'),
    (r'\bargument too many\b', "unexpected argument '...'", "'4' is one argument too many"),
    (r"\bis not a job's id\b", 'is not a job id (such as 5 or 5_3)', "'x' is not a job's id"),
    (r'\bwhat is to change\b', 'nothing to change: give at least one option', 'what is to change?'),
    (r'%s: what\?', 'missing subcommand: ...', '"%s: what? see"'),
    (r'\ba folder; a file is wanted\b', 'is a directory', 'a folder; a file is wanted'),
    (r'\bRunning already\b', 'Already running', 'Running already'),
    (r'\bto speak to it\b', 'To use it', 'to speak to it: export'),
    (r'\bfree are [%\d]', '8 of 16 CPUs free', 'free are 8 of 16 CPUs'),
    (r'\bMost memory\b', 'Peak memory', '"Most memory"'),
    (r'\bmeant without\b', 'with an optional suffix K, M (default), G or T', 'M (meant without)'),
    (r'%(u|lld) jobs (wait|are waiting)\b', 'pending', '%u jobs wait or run'),
    (r'\bis not in its place\b', 'out of order', "'cpu' is not in its place"),
]

TOPS = ['src', 'include', 'tests', 'bench', 'tools', 'docs', 'debian', 'examples', 'Makefile', 'README.md', 'ARCHITECTURE.md',
        'CHANGES.md', 'HACKING.md']
# Recorded or invented input, and this table.
SKIPPED = re.compile(r'tests/fuzz/corpus/|tests/conformance/[^/]+/(?!ORIGIN\.md)'
                     r'|tests/structure/test_words\.py$')
SPACE = r'(?:\s+(?:[*#]\s+)?)'


def compiled():
    return [(re.compile(pattern.replace(' ', SPACE)), instead, where[0] if where else '')
            for pattern, instead, _, *where in WORDS]


def hits(path, text, words):
    """A message for each offence, in the order of the lines."""
    found = []
    for pattern, instead, where in words:
        if path.startswith(where):
            for match in pattern.finditer(text):
                found.append((text.count('\n', 0, match.start()) + 1, re.sub(SPACE, ' ', match.group()), instead))
    return ["%s:%d: '%s': write %s" % (path, *hit) for hit in sorted(found)]


def texts(tops=TOPS):
    """Path -> text of the files below the tops that are, or will be, in the repository. Each top has one."""
    listed = subprocess.run(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard', *tops],
                            capture_output=True)
    if listed.returncode != 0:
        pytest.skip('not a git checkout: the words were not checked')
    names = sorted(name for name in set(listed.stdout.decode().split('\0')) if name and not SKIPPED.match(name))
    read = {name: pathlib.Path(name).read_bytes() for name in names if os.path.isfile(name)}
    found = {name: text.decode(errors='replace') for name, text in read.items() if b'\0' not in text}
    empty = [top for top in tops if not any(name == top or name.startswith(top + '/') for name in found)]
    assert not empty, 'no texts in %s' % ', '.join(empty)
    return found


def test_finds_the_texts():
    """If a folder had moved, its words would not be checked, and the check would pass."""
    with pytest.raises(AssertionError, match='no texts in no-such-folder'):
        texts(['src', 'no-such-folder'])


def test_words():
    words = compiled()
    csource.assert_none([hit for path, text in texts().items() for hit in hits(path, text, words)])


@pytest.mark.parametrize('row', WORDS, ids=[row[2] for row in WORDS])
def test_finds_a_planted_word(row):
    _, instead, example, *where = row
    path = (where[0] if where else 'docs/') + 'planted'
    found = hits(path, 'First line.\n%s.\n' % example, compiled())
    assert len(found) == 1
    assert found[0].startswith("%s:2: '" % path) and found[0].endswith("': write " + instead)


def test_finds_a_phrase_across_lines():
    assert hits('src/base/planted.c', '/* Its dear\n * half. */\n', compiled()) \
        == ["src/base/planted.c:1: 'dear half': write expensive half"]


@pytest.mark.parametrize('text', [
    'most of them, at least 3', 'int_least32_t x', 'slots_most', 'floor_divide(a, b)', 'from a floor above', 'floor(x)',
    'jobs that are free are ranked', "runuser -u 'nobody'", '#define MOMENT .min = 0', 'WIRE_MOMENT_UNSET',
    'a race condition', 'two habits of Slurm', 'address_family_of(x)', 'a turn',
])
def test_lets_other_words_pass(text):
    assert hits('src/base/planted.c', text, compiled()) == []
