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


def answer(scenario):
    result = subprocess.run([FAIRLEAD, 'prio', '-f', '-', '-P'], input=json.dumps(scenario), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    header, *rows = [line.split('|') for line in result.stdout.splitlines()]
    rows = [dict(zip(header, row)) for row in rows]
    return {(int(row['JOBID']), row['PARTITION']): row for row in rows}


def value_of(row, column):
    if not column.startswith('TRES '):
        return float(row[column])
    terms = dict(item.rsplit('=', 1) for item in row['TRES'].split(',') if item)
    return float(terms.get(column[len('TRES '):], 0))


@pytest.mark.parametrize('case', CASES)
def test_case(case):
    rows, compared, wrong = answer(slurm_priority.scenario(HERE / case)), collections.Counter(), []
    for key, cells in slurm_priority.logged(HERE / case).items():
        for column, shown in cells.items():
            value = value_of(rows[key], column)
            compared[column] += 1
            # The log has two decimals; numbers without decimals are exact.
            if abs(value - float(shown)) > (0.00501 if '.' in shown else 0):
                wrong.append('job %d in %s: %s is %r, logged %s' % (*key, column, value, shown))
    print('# compared %d factors, terms and priorities with Slurm 22.05.8 (%s)' % (sum(compared.values()), case))
    assert not wrong, '\n'.join(wrong)
    assert compared['PRIORITY'] == 15 - 1 and compared['AGE'] == 12


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
