"""Fairlead keeps the limits of Grid Engine 8.1.9 as recorded: maxujobs, max_aj_instances, and resource quota sets as qquota shows
them. The schedule lines of quotas are compared by test_grid_engine_schedule.py.
"""
import json
import os
import pathlib
import subprocess

import pytest

import grid_engine_limits
import grid_engine_schedule

HERE = pathlib.Path(__file__).parent / 'grid-engine-schedule'
FAIRLEAD = os.path.join(os.environ.get('FAIRLEAD_BUILD', 'build'), 'fairlead')


def answer(scenario, *words):
    result = subprocess.run([FAIRLEAD, *words, '-f', '-', '-P'], input=json.dumps(scenario), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    header, *rows = [line.split('|') for line in result.stdout.splitlines()]
    return [dict(zip(header, row)) for row in rows]


@pytest.mark.parametrize('name', ['h6_maxujobs', 'i6_calendars_limits'])
def test_running_tasks(name):
    compared = 0
    for table in grid_engine_limits.read_tables(HERE / (name + '.txt')):
        arrays = {job.id for job in table['jobs'] if job.tasks > 1}
        expected = {'%d_%d' % (row['id'], task) if row['id'] in arrays else str(row['id'])
                    for row in table['rows'] if row['is_running'] for task in row['tasks']}
        rows = answer(grid_engine_limits.scenario(table, False), 'schedule')
        assert {row[next(iter(row))] for row in rows if row['STATE'] == 'STARTING'} == expected
        priorities = answer(grid_engine_limits.scenario(table, True), 'prio')
        assert ['%.5f' % float(row['PRIOR']) for row in priorities] == [row['prior'] for row in table['rows']]
        compared += len(expected) + len(table['rows'])
    assert compared > 0
    print('# compared %d starts and priorities under limits with Grid Engine 8.1.9 (%s)' % (compared, name))


def test_usage_of_quotas():
    path, compared = HERE / 'i1_resource_quotas.txt', 0
    run = grid_engine_schedule.read(path)[1]
    _, scenario = next(grid_engine_schedule.scenarios(run, set(), 0))
    for user, expected in grid_engine_limits.read_usage(path):
        rows = answer(scenario, 'quota', 'usage', *(['-u', user] if user else []))
        found = ['%s %s=%s/%s %s' % (row['rule'], row['resource'], row['used'], row['limit'], row['filter']) for row in rows]
        assert sorted(found) == sorted(expected)  # within a rule the order of pools is not specified
        assert [row.split()[0] for row in found] == [row.split()[0] for row in expected]
        compared += len(expected)
    assert compared == 15
    print('# compared %d rows of qquota with Grid Engine 8.1.9 (i1_resource_quotas)' % compared)
