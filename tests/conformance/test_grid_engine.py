"""Fairlead computes every recorded table of Grid Engine 8.1.9 (tickets, urgency, priority) from its inputs as a scenario.

grid-engine/NAME.txt are the recordings, without lines that no test reads (grid-engine/ORIGIN.md); grid_engine.py converts them
to scenarios. Grid Engine may not have evaluated a running job yet when it printed a table; its missing cells are not compared.
"""
import collections
import json
import os
import pathlib
import subprocess

import pytest

import grid_engine

HERE = pathlib.Path(__file__).parent / 'grid-engine'
FAIRLEAD = os.path.join(os.environ.get('FAIRLEAD_BUILD', 'build'), 'fairlead')

RECORDINGS = sorted(path.stem for path in HERE.glob('*.txt'))
TICKETS = ('TICKETS', 'OVERRIDE', 'FUNCTIONAL', 'SHARE')
CONTRIBUTIONS = ('RRCONTR', 'WTCONTR', 'DLCONTR', 'URG')


def tolerance(column, value, is_decaying):
    """qstat truncates tickets, rounds the parts of urgency to whole numbers, and shows the others with five decimals. Where usage
    decays, tickets change by about a millionth within a second, and times are recorded in whole seconds."""
    if column in TICKETS:
        return 1.01 + (1e-6 if is_decaying else 2e-9) * abs(value)
    return 0.51 if column in CONTRIBUTIONS else 1.01e-5


def answer(scenario):
    result = subprocess.run([FAIRLEAD, 'prio', '-f', '-', '-P'], input=json.dumps(scenario), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    header, *rows = [line.split('|') for line in result.stdout.splitlines()]
    return {int(row[0]): dict(zip(header, row)) for row in rows}


def compared_columns(row, scenario):
    """A job suspended by hand keeps its last values, which a scenario cannot know, so it has none. An array is one job of a
    scenario, but several jobs of Grid Engine, which counts all of them in the shares."""
    if 's' in row['state']:
        return []
    has_shares = scenario['settings']['report_pjob_tickets'] == 'TRUE' and not any('array_tasks' in job for job in scenario['jobs'])
    return [column for column in row['cells'] if column != 'share' or has_shares]


def value_of(column, row, rows, answers):
    if column != 'share':
        value = float(answers[row['id']][column])
        if column in TICKETS and value >= 2 ** 31 - 1:  # qstat prints 32 bits
            value = (int(value) + 2 ** 31) % 2 ** 32 - 2 ** 31
        return value
    alike = {other['id'] for other in rows if other['is_pending'] == row['is_pending']}
    total = sum(float(answers[number]['TICKETS'] or 0) for number in alike)
    return float(answers[row['id']]['TICKETS']) / total if total > 0 else 0.0


def compare(table, scenario):
    """The number of compared values by column, and what differs."""
    answers, compared, wrong = answer(scenario), collections.Counter(), []
    for row in table['rows']:
        if 's' in row['state'] and answers[row['id']]['PRIOR'] != '':
            wrong.append('job %d is suspended by hand, but has the priority %s' % (row['id'], answers[row['id']]['PRIOR']))
        for column in compared_columns(row, scenario):
            value = value_of(column, row, table['rows'], answers)
            compared[column] += 1
            if abs(value - float(row['cells'][column])) > tolerance(column, value, table['is_decaying']):
                wrong.append('job %d: %s is %.9g, recorded %s' % (row['id'], column, value, row['cells'][column]))
    return compared, wrong


def compare_at_best_time(table):
    best = None
    for scenario in table['scenarios']:
        compared, wrong = compare(table, scenario)
        if best is None or len(wrong) < len(best[1]):
            best = compared, wrong
        if not wrong:
            break
    return best


@pytest.mark.parametrize('name', RECORDINGS)
def test_recording(name, capsys):
    compared, wrong, tables = collections.Counter(), [], 0
    for table in grid_engine.read(HERE / (name + '.txt')):
        tables += 1
        counts, differences = compare_at_best_time(table)
        compared += counts
        wrong += ['table %d "%s", %s' % (tables, table['title'], difference) for difference in differences]
    print('# compared %d values of %d tables with Grid Engine 8.1.9 (%s)' % (sum(compared.values()), tables, name))
    assert not wrong, '%d of %d differ:\n%s' % (len(wrong), sum(compared.values()), '\n'.join(wrong[:20]))
    assert compared['PRIOR'] > 0
