"""fairlead share -f: recorded answers of Slurm through the command, both formats of a tree, all outputs, all errors."""
import json
import math
import os
import pathlib
import pty
import random
import subprocess

import pytest

FAIRLEAD = os.path.join(os.environ.get('FAIRLEAD_BUILD', 'build'), 'fairlead')
RECORDED = sorted(path for path in pathlib.Path('tests/conformance/slurm').iterdir() if path.is_dir())
COLUMNS = ['Account', 'User', 'RawShares', 'NormShares', 'RawUsage', 'NormUsage', 'EffectvUsage', 'FairShare', 'LevelFS']
TSV = 'parent\taccount\tuser\tshares\tusage\n'
PSV = 'Account|User|RawShares|RawUsage\n'
TREE = TSV + 'root\tphysics\t\t50\t\n\tphysics\talice\t1\t200000\n\tphysics\tbob\tparent\t4500.5\nroot\tbio\t\t30\t\n\tbio\tcarol\t3\t\n'


def share(*arguments, text=None):
    result = subprocess.run([FAIRLEAD, 'share', *arguments], input=text.encode() if isinstance(text, str) else text,
                            capture_output=True, timeout=60)
    return result.returncode, result.stdout.decode(), result.stderr.decode(errors='replace')


def good(*arguments, text=None):
    status, out, err = share(*arguments, text=text)
    assert (status, err) == (0, '')
    return out


def parsable(text):
    """Rows of a -P listing as dicts, with the indentation of the account as 'depth'."""
    lines = text.splitlines()
    assert lines[0].split('|') == COLUMNS
    rows = []
    for line in lines[1:]:
        row = dict(zip(COLUMNS, line.split('|'), strict=True))
        row['depth'] = len(row['Account']) - len(row['Account'].lstrip(' '))
        row['Account'] = row['Account'].strip()
        rows.append(row)
    return rows


def tsv_rows(path):
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith('#')]
    return [dict(zip(lines[0].split('\t'), line.split('\t'))) for line in lines[1:]]


def name(row):
    return row['account'], row['user']


def in_slurms_order(case):
    """The lines of the case's input in the order of Slurm's database, which decides ties between accounts."""
    rows = {name(row): row for row in tsv_rows(case / 'input.tsv')}
    order = [name(row) for row in tsv_rows(case / 'order.tsv') if name(row) in rows]
    assert len(order) == len(rows)
    return [rows[key] for key in order]


def as_tsv(rows):
    return TSV + ''.join('\t'.join(row[c] for c in ('parent', 'account', 'user', 'shares', 'usage')) + '\n' for row in rows)


def recorded(case, file='fairtree.psv'):
    """What sshare showed: (account, user) -> row, and the rows in its order."""
    lines = (case / file).read_text().splitlines()
    rows = [dict(zip(lines[0].split('|'), line.split('|'))) for line in lines[1:]]
    for row in rows:
        row['Account'] = row['Account'].strip()
    return rows


def compare(got, case):
    got = {(row['Account'], row['User']): row for row in got if (row['Account'], row['User']) != ('root', '')}
    expected = [row for row in recorded(case) if (row['Account'], row['User']) != ('root', '')]
    assert len(got) == len(expected)
    for row in expected:
        mine = got[row['Account'], row['User']]
        for column in ('FairShare', 'RawShares'):
            assert mine[column] == row[column], row
        assert math.trunc(float(mine['RawUsage'])) == int(row['RawUsage']), row
        for column in ('LevelFS', 'NormShares', 'NormUsage', 'EffectvUsage'):
            assert (mine[column] == '') == (row[column] == ''), (column, row)
            if row[column] != '':
                assert math.isclose(float(mine[column]), float(row[column]), rel_tol=1e-15), (column, row)


@pytest.mark.parametrize('case', RECORDED, ids=lambda case: case.name)
def test_slurms_ranks_from_tsv(case):
    compare(parsable(good('-f', '-', '--ties', 'slurm', '-P', text=as_tsv(in_slurms_order(case)))), case)


def has_databases_order(case):
    def siblings(rows):
        groups = {}
        for row in rows:
            groups.setdefault(row['account'] if row['user'] else '/' + row['parent'], []).append(name(row))
        return groups
    return siblings(in_slurms_order(case)) == siblings(tsv_rows(case / 'input.tsv'))


def has_whole_usage(case):
    """Slurm sums in 80 bits. Totals of other usage lose their last bits when they are printed."""
    return all(float(row['usage'] or 0).is_integer() for row in tsv_rows(case / 'input.tsv'))


def is_printed_in_order(case):
    return [(row['Account'], row['User']) for row in recorded(case)] == [name(row) for row in tsv_rows(case / 'order.tsv')]


AS_IT_IS = [case for case in RECORDED if has_databases_order(case)]
WHOLE = [case for case in RECORDED if has_whole_usage(case)]
PRINTED = [case for case in WHOLE if is_printed_in_order(case)]


def test_cases_are_there():
    for cases, minimum in (RECORDED, 18), (AS_IT_IS, 17), (WHOLE, 10), (PRINTED, 7):
        assert len(cases) >= minimum


@pytest.mark.parametrize('case', AS_IT_IS, ids=lambda case: case.name)
def test_slurms_ranks_from_the_file_as_it_is(case):
    rows = parsable(good('-f', str(case / 'input.tsv'), '--ties', 'slurm', '-P'))
    compare(rows, case)
    assert [(row['Account'], row['User']) for row in rows] == [name(row) for row in tsv_rows(case / 'input.tsv')]


@pytest.mark.parametrize('case', WHOLE, ids=lambda case: case.name)
def test_slurms_ranks_from_a_listing(case):
    """A listing has totals, which are taken as given."""
    listing = good('-f', '-', '--ties', 'slurm', '-P', text=as_tsv(in_slurms_order(case)))
    again = good('-f', '-', '--ties', 'slurm', '-P', text=listing)
    compare(parsable(again), case)
    assert [line.split('|')[:3] for line in again.splitlines()] == [line.split('|')[:3] for line in listing.splitlines()]


@pytest.mark.parametrize('case', PRINTED, ids=lambda case: case.name)
def test_slurms_ranks_from_slurms_listing(case):
    """As sshare printed it: in its order, with columns that the reader ignores."""
    rows = parsable(good('-f', str(case / 'fairtree.psv'), '--ties', 'slurm', '-P'))
    compare(rows, case)
    assert (rows[0]['Account'], rows[0]['RawShares'], rows[0]['EffectvUsage']) == ('root', '', '1')


# Classic and depth-oblivious: the same trees, to 1e-12 of each value.

UNRANKED = [('classic', 'classic.psv'), ('depth-oblivious', 'oblivious.psv')]


def compare_unranked(got, case, file):
    """sshare prints a row of the root; a tree in TSV has no line of it."""
    got = {(row['Account'], row['User']): row for row in got}
    values = 0
    for row in recorded(case, file):
        mine = got.pop((row['Account'], row['User']), None)
        if mine is None:
            assert (row['Account'], row['User']) == ('root', '')
            continue
        assert mine['LevelFS'] == ''
        for column in ('NormShares', 'NormUsage', 'EffectvUsage', 'FairShare'):
            if row[column] == '4294967294':
                assert mine[column] == ''
                continue
            assert math.isclose(float(mine[column]), float(row[column]), rel_tol=1e-12), (column, row)
            values += 1
    assert got == {}
    return values


@pytest.mark.parametrize('algorithm, file', UNRANKED)
def test_slurms_factors(algorithm, file):
    values = 0
    for case in RECORDED:
        text = good('-f', str(case / 'input.tsv'), '--algorithm', algorithm, '-P')
        values += compare_unranked(parsable(text), case, file)
        assert text == good('-f', '-', '--algorithm', algorithm, '--dampening', '1', '-P', text=(case / 'input.tsv').read_text())
    assert values == 4 * (1405 - len(RECORDED))
    print('# compared %d values of share -f --algorithm %s with Slurm 22.05.8: to 1e-12' % (values, algorithm))


@pytest.mark.parametrize('algorithm, file', UNRANKED)
def test_slurms_factors_from_listings(algorithm, file):
    """Totals that are taken as given, from Slurm's own listing and from Fairlead's."""
    for case in WHOLE:
        listing = good('-f', str(case / file), '--algorithm', algorithm, '-P')
        rows = parsable(listing)
        assert compare_unranked(rows, case, file) == 4 * len(rows) - 1
        assert good('-f', '-', '--algorithm', algorithm, '-P', text=listing) == listing


def factors(*arguments, text):
    return [row['FairShare'] for row in parsable(good('-f', '-', *arguments, '-P', text=text))]


def test_dampening():
    plain = factors('--algorithm', 'classic', text=TREE)
    milder = factors('--algorithm', 'classic', '--dampening', '4', text=TREE)
    assert [float(f) ** 0.25 for f in plain] == pytest.approx([float(f) for f in milder], rel=1e-14)
    # An option that the algorithm does not use changes nothing.
    assert factors('--algorithm', 'classic', '--ties', 'slurm', text=TREE) == plain
    assert factors('--dampening', '4', text=TREE) == factors('--algorithm', 'fair-tree', text=TREE) == factors(text=TREE)


# One listing, printed in every way sshare has.

def long_listing():
    case = pathlib.Path('tests/conformance/slurm/06-parent')
    lines = (case / 'fairtree.psv').read_text().splitlines()
    return [line.split('|')[1:] for line in lines]


def shuffled(table):
    order = list(range(len(table[0])))
    random.Random(1).shuffle(order)
    return [[row[i] for i in order] for row in table]


@pytest.mark.parametrize('ties', ['merge', 'slurm'])
@pytest.mark.parametrize('make', [
    lambda t: '\n'.join('|'.join(row) for row in t),
    lambda t: '\n'.join('|'.join(row) + '|' for row in t) + '\n',
    lambda t: '\r\n'.join('|'.join(row) for row in t) + '\r\n',
    lambda t: '\r\n'.join('|'.join(row) + '|' for row in t) + '\r\n',
    lambda t: '\n'.join('|'.join(row) for row in shuffled(t)) + '\n',
    lambda t: '\n'.join('|'.join([row[0], row[1], row[2], row[4]]) for row in t) + '\n',
    lambda t: '\n'.join('|'.join(row + ['GrpTRESMins' if i == 0 else '', 'TRESRunMins' if i == 0 else 'cpu=0,mem=0'])
                        for i, row in enumerate(t)) + '\n',
    lambda t: '# kept on Monday\n\n' + '\n\n'.join('|'.join(row) for row in t) + '\n',
    lambda t: '\ufeff' + '\n'.join('|'.join(row) for row in t) + '\n',
], ids=['P', 'p', 'crlf', 'p-crlf', 'shuffled', 'four-columns', 'long', 'comments', 'mark'])
def test_ways_of_printing_a_listing(make, ties):
    plain = '\n'.join('|'.join(row) for row in long_listing()) + '\n'
    expected = good('-f', '-', '-P', '--ties', ties, text=plain)
    assert len(expected.splitlines()) == len(long_listing())
    assert good('-f', '-', '-P', '--ties', ties, text=make(long_listing())) == expected


def test_totals_stand_as_given():
    rows = parsable(good('-f', '-', '-P', text=PSV + 'root|||100\n a||1|60\n  a|u|1|10\n  a|v|1|20\n b||1|40\n'))
    assert [row['RawUsage'] for row in rows] == ['100', '60', '10', '20', '40']
    assert rows[2]['EffectvUsage'] == '0.16666666666666666'


def test_own_usage_is_added_up():
    rows = parsable(good('-f', '-', '-P', text=TREE))
    assert [row['RawUsage'] for row in rows] == ['204500.5', '200000', '4500.5', '0', '0']
    assert [row['depth'] for row in rows] == [1, 2, 2, 1, 2]
    text = TSV + 'root\ta\t\t1\t5\n\ta\tu\t1\t2\n'
    assert [row['RawUsage'] for row in parsable(good('-f', '-', '-P', text=text))] == ['7', '2']


def test_partition_associations():
    text = 'Account|User|Partition|RawShares|RawUsage\nroot||||9\n a|||1|9\n  a|u|fast|1|4\n  a|u|slow|2|5\n'
    rows = [json.loads(line.rstrip(',')) for line in good('-f', '-', '--json', text=text).splitlines()[1:-1]]
    assert [row.get('partition') for row in rows] == [None, None, 'fast', 'slow']
    assert len(parsable(good('-f', '-', '-P', text=text))) == 4


def test_filtered_listings_hang_under_an_implied_root():
    rows = parsable(good('-f', '-', '-P', text=PSV + 'b||30|5\n b|u|1|5\nc||10|15\n c|u|1|15\n'))
    assert [row['depth'] for row in rows] == [0, 1, 0, 1]
    assert [row['NormUsage'] for row in rows] == ['0.25', '0.25', '0.75', '0.75']
    assert [row['NormShares'] for row in rows] == ['0.75', '1', '0.25', '1']


def test_order_of_lines_changes_no_value():
    case = pathlib.Path('tests/conformance/slurm/20-random-d5-u250')
    lines = [line for line in (case / 'input.tsv').read_text().splitlines() if line and not line.startswith('#')]
    def values(text):
        return {(row['Account'], row['User']): row for row in parsable(good('-f', '-', '-P', text=text))}
    expected = values('\n'.join(lines))
    for seed in range(5):
        body = lines[1:]
        random.Random(seed).shuffle(body)
        got = values('\n'.join(lines[:1] + body))
        for key, row in expected.items():
            # Sums are made in another order, so usage may differ in its last bits.
            for column in ('RawUsage', 'NormUsage', 'EffectvUsage', 'LevelFS'):
                assert got[key][column] == row[column] or math.isclose(float(got[key][column]), float(row[column]), rel_tol=1e-12)
            assert got[key]['NormShares'] == row['NormShares'] and got[key]['depth'] == row['depth']


def test_reads_its_own_listing():
    once = good('-f', '-', '-P', text=TREE)
    assert good('-f', '-', '-P', text=once) == once


def test_json_has_the_same_values():
    rows = parsable(good('-f', '-', '-P', text=TREE))
    text = good('-f', '-', '--json', text=TREE)
    objects = json.loads(text)
    assert len(text.splitlines()) == len(objects) + 2
    keys = {'NormShares': 'norm_shares', 'RawUsage': 'raw_usage', 'NormUsage': 'norm_usage',
            'EffectvUsage': 'effective_usage', 'FairShare': 'fair_share', 'LevelFS': 'level_fs'}
    for row, thing in zip(rows, objects, strict=True):
        assert list(thing) == ['account', 'user', 'partition', 'parent_account', 'depth', 'raw_shares', *keys.values(),
                               'pending', 'running', 'running_cpus', 'tres_raw']
        assert [thing[key] for key in ('partition', 'pending', 'running', 'running_cpus', 'tres_raw')] == [None] * 5
        assert (thing['account'], thing['user'] or '') == (row['Account'], row['User'])
        assert str(thing['raw_shares']) == row['RawShares']
        assert thing['parent_account'] == 'root'
        for column, key in keys.items():
            if row[column] in ('', 'inf'):
                assert thing[key] == (row[column] or None)
            else:
                assert float(thing[key]) == float(row[column])
    below = json.loads(good('-f', '-', '--json', text=PSV + 'root|||9\n a||1|9\n  b||1|9\n   b|u|1|9\n'))
    assert [row['parent_account'] for row in below] == [None, 'root', 'a', 'a']
    assert below[0]['raw_shares'] is None


def test_table_for_people():
    lines = good('-f', '-', text=TREE).splitlines()
    assert lines == [
        'Account    User   RawShares  NormShares  RawUsage  NormUsage  EffectvUsage  FairShare   LevelFS',
        ' physics                 50    0.625000    204500   1.000000      1.000000             0.625000',
        '  physics  alice          1    1.000000    200000   0.977993      0.977993   0.333333  1.022503',
        '  physics  bob       parent    0.625000      4500   0.022007      0.022007   0.666667',
        ' bio                     30    0.375000         0   0.000000      0.000000                  inf',
        '  bio      carol          3    1.000000         0   0.000000      0.000000   1.000000       inf',
    ]


def test_noheader():
    for form in ([], ['-P']):
        whole = good('-f', '-', *form, text=TREE).splitlines()
        bare = good('-f', '-', '--noheader', *form, text=TREE).splitlines()
        assert len(bare) == len(whole) - 1 and bare[-1].split() == whole[-1].split()


def on_terminal(environment, text=TREE, stream='stdout'):
    """What a person at a terminal sees."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([FAIRLEAD, 'share', '-f', '-'], stdin=subprocess.PIPE, env=environment, **{stream: theirs}) as process:
        process.stdin.write(text.encode())
        process.stdin.close()
        process.wait(10)
    os.close(theirs)
    seen = os.read(ours, 65536).decode()
    os.close(ours)
    return seen


def test_bold_heading_on_a_terminal_only():
    plain = {key: value for key, value in os.environ.items() if key != 'NO_COLOR'}
    assert on_terminal({**plain, 'TERM': 'xterm'}).startswith('\x1b[1mAccount')
    for environment in ({**plain, 'TERM': 'xterm', 'NO_COLOR': '1'}, {**plain, 'TERM': 'dumb'}):
        assert '\x1b' not in on_terminal(environment)
    assert '\x1b' in on_terminal({**plain, 'TERM': 'xterm', 'NO_COLOR': ''})
    assert '\x1b' not in good('-f', '-', text=TREE)


def test_notes_are_folded_on_a_terminal():
    lines = on_terminal({**os.environ, 'COLUMNS': '50'}, 'hello\n', 'stderr').splitlines()
    assert len(lines) == 3 and max(map(len, lines)) <= 50
    assert ' '.join(lines) == '-:' + REFUSED[2][1]


# Errors: (text, the message after the file's name).

REFUSED = [
    ('', '1:1: the text is empty'),
    ('# nothing\n', '1:1: the text has no header line'),
    ('hello\n', "1:1: header: 'hello' is not the header of 'sshare -a -P' or the tab-separated columns parent, account, user, "
                'shares and usage'),
    ('\x7fELF\x00\n', '1:5: the text contains a zero byte'),
    ('Account|User|RawShares\nroot||\n', "1:1: header: the column 'RawUsage' is missing"),
    ('parent\taccount\tuser\tshares\n', "1:1: header: the column 'usage' is missing"),
    ('order\tid\taccount\tuser\n', "1:1: header: 'order' is not a known column (parent, account, user, shares, usage)"),
    (TSV, '2:1: no line follows the header'),
    (TSV + 'a\tb\t\t1\t\nb\ta\t\t1\t\n', "2:3: the accounts form a cycle: b -> a -> b"),
    (TSV + 'gone\ta\t\t1\t\n', "2:1: account 'a': parent: 'gone' has no line"),
    (TSV + '\tgone\tu\t1\t\n', "2:2: user 'u': account: 'gone' has no line"),
    (TSV + 'root\ta\t\t1\t\nroot\ta\t\t1\t\n', "3:6: account 'a' has two lines"),
    (TSV + 'root\ta\t\t1\t\n\ta\tu\t1\t\n\ta\tu\t1\t\n', "4:4: user 'u' has two lines in account 'a'"),
    (TSV + 'root\troot\t\t1\t\n', "2:6: account 'root' is implied; remove this line"),
    (TSV + 'root\ta\t\t-1\t\n', "2:9: shares: '-1' is not a whole number from 0 to 2147483646 or 'parent'"),
    (TSV + 'root\ta\t\t0.5\t\n', "2:9: shares: '0.5' is not a whole number from 0 to 2147483646 or 'parent'"),
    (TSV + 'root\ta\t\t2147483647\t\n',
     "2:9: shares: '2147483647' is not a whole number from 0 to 2147483646 or 'parent'"),
    (TSV + 'root\ta\t\tmany\t\n', "2:9: shares: 'many' is not a whole number from 0 to 2147483646 or 'parent'"),
    (TSV + 'root\ta\t\t\t\n', "2:9: shares: '' is not a whole number from 0 to 2147483646 or 'parent'"),
    (TSV + 'root\ta\t\t1\t-1\n', "2:11: usage: '-1' is not a number from 0 to 1e300"),
    (TSV + 'root\ta\t\t1\tnan\n', "2:11: usage: 'nan' is not a number from 0 to 1e300"),
    (TSV + 'root\ta\t\t1\tinf\n', "2:11: usage: 'inf' is not a number from 0 to 1e300"),
    (TSV + 'root\ta\t\t1\t1e301\n', "2:11: usage: '1e301' is not a number from 0 to 1e300"),
    (TSV + 'root\ta\t\t1\n', '2:10: the line has 4 fields, but the header has 5'),
    (TSV + 'root\ta\t\t1\t1\t1\n', "2:13: the line has more fields than the header, which has 5"),
    (TSV + 'root\t\t\t1\t\n', "2:6: account: the name is empty"),
    (TSV + 'root\ta\x1b[2J\t\t1\t\n', "2:6: account: 'a?[2J' contains control characters or invalid UTF-8"),
    ((TSV + 'root\ta').encode() + b'\xff\t\t1\t\n', "2:6: account: 'a?' contains control characters or invalid UTF-8"),
    (PSV + 'root|||9\n   a||1|9\n', "3:4: account 'a' is indented by 3 below an account that is indented by 0"),
    (PSV + 'root|||9\n a|u|1|9\n', "3:2: user 'u': account: 'a' has no row above"),
    (PSV + 'root|||9\na|u|1|9\n', "3:1: user 'u': account: 'a' has no row above"),
    (PSV + 'root|||9\n a||1|x\n', "3:7: usage: 'x' is not a number from 0 to 1e300"),
    (PSV + 'root|||9\n a|||9\n', "3:5: shares: '' is not a whole number from 0 to 2147483646 or 'parent'"),
]


@pytest.mark.parametrize('text, message', REFUSED)
def test_refusals(tmp_path, text, message):
    path = tmp_path / 'tree'
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert share('-f', str(path)) == (2, '', '%s:%s\n' % (path, message))
    assert share('-f', '-', '-P', text=text) == (2, '', '-:%s\n' % message)
    assert share('-f', str(path), '--json', '--ties', 'slurm') == (2, '', '%s:%s\n' % (path, message))


def deep(levels):
    lines = ['root\ta1\t\t1\t'] + ['a%d\ta%d\t\t1\t' % (i - 1, i) for i in range(2, levels + 1)]
    return TSV + '\n'.join(lines) + '\n'


def test_depth():
    rows = parsable(good('-f', '-', '-P', text=deep(64)))
    assert rows[-1]['depth'] == 64
    status, out, err = share('-f', '-', text=deep(65))
    assert (status, out, err) == (2, '', "-:66:5: account 'a65' is more than 64 levels below the root\n")
    listing = good('-f', '-', '-P', text=deep(64))
    assert good('-f', '-', '-P', text=listing) == listing


def test_huge_but_finite_usage():
    rows = parsable(good('-f', '-', '-P', text=TSV + 'root\ta\t\t1\t1e300\nroot\tb\t\t1\t1e300\n'))
    assert [row['NormUsage'] for row in rows] == ['0.5', '0.5']
    assert '1.000000e+300' in good('-f', '-', text=TSV + 'root\ta\t\t1\t1e300\n')


def test_files_that_cannot_be_read(tmp_path):
    gone = tmp_path / 'gone'
    assert share('-f', str(gone)) == (2, '', '%s: No such file or directory\n' % gone)
    assert share('-f', str(tmp_path)) == (2, '', '%s: is a directory\n' % tmp_path)
    hidden = tmp_path / 'hidden'
    hidden.write_text(TREE)
    hidden.chmod(0)
    if os.getuid() != 0:
        assert share('-f', str(hidden)) == (2, '', '%s: Permission denied\n' % hidden)
    strange = tmp_path / 'na\nme'
    status, out, err = share('-f', str(strange))
    assert (status, out, err.count('\n')) == (2, '', 1)


def test_refused_options():
    for arguments, words in [
        (['-f', '-', '--ties', 'both'], "--ties: 'both' is not one of merge, slurm"),
        (['-f', '-', '--algorithm', 'tree'], "--algorithm: 'tree' is not one of fair-tree, classic, depth-oblivious"),
        (['-f', '-', '--dampening', '0'], "--dampening: '0' is not a whole number from 1 to 65535"),
        (['-f', '-', '--dampening', '65536'], "--dampening: '65536' is not a whole number from 1 to 65535"),
        (['-f', '-', '--dampening', '1.5'], "--dampening: '1.5' is not a whole number from 1 to 65535"),
        (['--algorithm', 'classic'],
         "--algorithm requires -f; to change the instance's setting: fairlead set PriorityFlags=NO_FAIR_TREE"),
        (['--dampening', '2'],
         "--dampening requires -f; to change the instance's setting: fairlead set FairShareDampeningFactor=N"),
        (['--ties', 'slurm'], "--ties requires -f; to change the instance's setting: fairlead set ties=slurm"),
        (['-f', '-', '--json', '-P'], '--json and --parsable: only one of them is accepted'),
        (['-f'], "option '--file' needs an argument: FILE"),
        (['-f', '-', 'more'], '--account and a user are not accepted with -f'),
        (['-f', '-', '--flie'], "unknown option '--flie'; did you mean '--file'? see 'fairlead share --help'"),
    ]:
        assert share(*arguments, text=TREE) == (2, '', 'fairlead share: %s\n' % words)


def test_output_that_cannot_be_written(tmp_path):
    path = tmp_path / 'tree'
    path.write_text(TREE)
    with open('/dev/full', 'w') as full:
        result = subprocess.run([FAIRLEAD, 'share', '-f', str(path)], stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert (result.returncode, result.stderr) == (1, b'fairlead share: standard output: No space left on device\n')
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run([FAIRLEAD, 'share', '-f', str(path)], stdout=writer, stderr=subprocess.PIPE, timeout=60,
                            restore_signals=False)
    os.close(writer)
    assert (result.returncode, result.stderr) == (1, b'fairlead share: standard output: Broken pipe\n')
