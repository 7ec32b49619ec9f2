"""Fairlead computes every factor that Slurm 22.05.8 logged of its multifactor priority from its inputs as a scenario.

slurm-priority/CASE are the recordings (slurm-priority/ORIGIN.md); slurm_priority.py converts them to scenarios.
"""
import collections
import json
import os
import pathlib
import subprocess

import pytest

import slurm_priority

HERE = pathlib.Path(__file__).parent / 'slurm-priority'
FAIRLEAD = os.path.join(os.environ.get('FAIRLEAD_BUILD', 'build'), 'fairlead')
CASES = sorted(path.name for path in HERE.iterdir() if path.is_dir())


def answer(scenario, *options):
    result = subprocess.run([FAIRLEAD, 'prio', '-f', '-', '-P', *options], input=json.dumps(scenario), capture_output=True,
                            text=True)
    assert result.returncode == 0, result.stderr
    header, *rows = [line.split('|') for line in result.stdout.splitlines()]
    rows = [dict(zip(header, row)) for row in rows]
    return {(int(row['JOBID']), row['PARTITION']): row for row in rows}


def amounts(text):
    return {name: float(number) for name, number in (item.rsplit('=', 1) for item in text.split(',') if item)}


def sum_of(row):
    """The unrounded sum: PRIORITY is its whole part."""
    terms = [float(row[name]) for name in ('AGE', 'ASSOC', 'FAIRSHARE', 'JOBSIZE', 'PARTITIONFACTOR', 'QOS')]
    return sum(terms) + sum(amounts(row['TRES']).values()) + float(row['SITE']) - float(row['NICE'])


def value_of(terms, factors, column):
    """The value of a logged column (slurm_priority.logged)."""
    if column == 'SUM':
        return sum_of(terms)
    if column.startswith('FACTOR TRES '):
        return amounts(factors['TRES']).get(column[len('FACTOR TRES '):], 0.0)
    if column.startswith('FACTOR '):
        return float(factors[column[len('FACTOR '):]])
    if column == 'WHOLE TRES':
        return sum(amounts(terms['TRES']).values())
    if column.startswith('TRES '):
        return amounts(terms['TRES']).get(column[len('TRES '):], 0.0)
    return float(terms[column.removeprefix('WHOLE ')])


def rounded_as(value, shown):
    """The value with as many decimals as the log shows, rounded as printf does."""
    return '%.*f' % (len(shown.partition('.')[2]), value)


@pytest.mark.parametrize('case', CASES)
def test_case(case):
    """Every logged number, with all digits of the log."""
    scenario = slurm_priority.scenario(HERE / case)
    terms, factors, compared, wrong = answer(scenario), answer(scenario, '-n'), collections.Counter(), []
    for key, cells in slurm_priority.logged(HERE / case).items():
        for column, shown in cells.items():
            value = value_of(terms[key], factors[key], column)
            compared[column] += 1
            if rounded_as(value, shown) != shown:
                wrong.append('job %d in %s: %s is %r, logged %s' % (*key, column, value, shown))
    print('# compared %d factors, terms and totals with Slurm 22.05.8 (%s)' % (sum(compared.values()), case))
    assert not wrong, '\n'.join(wrong)
    assert compared['SUM'] == compared['AGE'] == 12 and compared['PRIORITY'] == 3
    assert all(int(row['PRIORITY']) == int(sum_of(row)) for key, row in terms.items() if key[0] not in (7, 14))


@pytest.mark.parametrize('case', CASES)
def test_normalized(case):
    """The factors of sprio -n, and the jobs that it lists: those that are eligible."""
    rows, compared, wrong = answer(slurm_priority.scenario(HERE / case), '-n'), 0, []
    expected = slurm_priority.normalized(HERE / case)
    assert set(expected) == {key for key, row in rows.items() if row['ELIGIBLE'] == '1'}
    for key, cells in expected.items():
        for column, shown in cells.items():
            compared += 1
            computed = rows[key][column]
            if column == 'TRES':
                computed = ','.join('%s=%.2f' % item for item in amounts(computed).items())
            else:
                computed = '%.7f' % float(computed)
            if computed != shown:
                wrong.append('job %d in %s: %s is %s, sprio -n shows %s' % (*key, column, computed, shown))
    print('# compared %d factors with sprio -n of Slurm 22.05.8 (%s)' % (compared, case))
    assert not wrong, '\n'.join(wrong)
    assert compared == 15 * 6


@pytest.mark.parametrize('case', CASES)
def test_jobs_that_are_not_computed(case):
    """The terms of a set priority are 0; a held job has none."""
    rows = answer(slurm_priority.scenario(HERE / case))
    with_set_priority, held = rows[7, 'odd'], rows[14, 'main']
    assert with_set_priority['PRIORITY'] == '4242' and held['PRIORITY'] == '0'
    assert all(float(with_set_priority[column]) == 0 for column in ('AGE', 'ASSOC', 'FAIRSHARE', 'JOBSIZE', 'QOS'))
    assert with_set_priority['TRES'] == ''


@pytest.mark.parametrize('case', CASES)
def test_billing(case):
    """The billing of pending jobs; scontrol shows the whole part."""
    scenario = slurm_priority.scenario(HERE / case)
    rows, compared = answer(scenario), 0
    for pairs in slurm_priority.jobs_of(HERE / case):
        partitions = pairs['Partition'].split(',')
        if len(partitions) > 1:
            continue
        shown = dict(item.rsplit('=', 1) for item in pairs['TRES'].split(','))['billing']
        assert int(float(rows[int(pairs['JobId']), partitions[0]]['BILLING'])) == int(shown)
        compared += 1
    print('# compared %d billings with Slurm 22.05.8 (%s)' % (compared, case))
    assert compared >= 10


def test_totals_are_rounded():
    """The log rounds a total of 9999.996, whose whole part, the priority, is 9999."""
    assert slurm_priority.logged_partition(['a', 'b'], {'a': '8000', 'b': '9999'}, 10000.0) == 'b'
    assert slurm_priority.logged_partition(['a', 'b'], {'a': '10000', 'b': '9999'}, 10000.98) == 'a'
    assert slurm_priority.logged_partition(['a'], {}, 5.0) == 'a'
    assert (rounded_as(9999.996, '10000.00'), rounded_as(1023.4, '1023')) == ('10000.00', '1023')
