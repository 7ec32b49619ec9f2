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

RECORDINGS = sorted(path.stem for path in HERE.glob('[cdef][1-5]_*.txt') if not path.stem.startswith('c3'))
TICKETS = ('TICKETS', 'OVERRIDE', 'FUNCTIONAL', 'SHARE')
CONTRIBUTIONS = ('RRCONTR', 'WTCONTR', 'DLCONTR', 'URG')


def tolerance(column, value):
    """qstat truncates tickets, rounds the parts of urgency to whole numbers, and shows the others with five decimals."""
    if column in TICKETS:
        return 1.01 + 2e-9 * abs(value)
    return 0.51 if column in CONTRIBUTIONS else 1.01e-5


def answer(scenario):
    result = subprocess.run([FAIRLEAD, 'prio', '-f', '-', '-P'], input=json.dumps(scenario), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    header, *rows = [line.split('|') for line in result.stdout.splitlines()]
    return {int(row[0]): dict(zip(header, row)) for row in rows}


@pytest.mark.parametrize('name', RECORDINGS)
def test_recording(name, capsys):
    compared, wrong, tables = collections.Counter(), [], 0
    for table in grid_engine.read(HERE / (name + '.txt')):
        rows = answer(table['scenario'])
        tables += 1
        for job, cells in table['cells'].items():
            for column, shown in cells.items():
                value = float(rows[job][column])
                compared[column] += 1
                if abs(value - float(shown)) > tolerance(column, value):
                    wrong.append('table %d "%s", job %d: %s is %s, recorded %s'
                                 % (tables, table['title'], job, column, rows[job][column], shown))
    print('# compared %d values of %d tables with Grid Engine 8.1.9 (%s)' % (sum(compared.values()), tables, name))
    assert not wrong, '%d of %d differ:\n%s' % (len(wrong), sum(compared.values()), '\n'.join(wrong[:20]))
    assert compared['PRIOR'] > 0
