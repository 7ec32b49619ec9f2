"""Fairlead makes the recorded scheduling decisions of Grid Engine 8.1.9: `fairlead schedule -f` with a scenario of each run.

grid-engine-schedule/NAME.txt are the recordings (ORIGIN.md there). Files with a schedule file are compared line by line: who runs,
starts or has a reservation, when, how long, where, and what is booked at each level. The others say where the jobs of one run
started.
"""
import json
import os
import pathlib
import re
import subprocess

import pytest

import grid_engine_placements
import grid_engine_schedule

HERE = pathlib.Path(__file__).parent / 'grid-engine-schedule'
FAIRLEAD = os.path.join(os.environ.get('FAIRLEAD_BUILD', 'build'), 'fairlead')

SCHEDULES = sorted(path.stem for path in HERE.glob('*.txt') if '$ cat common/schedule' in path.read_text())
PLACEMENTS = sorted(path.stem for path in HERE.glob('g*.txt'))


def answer(scenario, *options):
    result = subprocess.run([FAIRLEAD, 'schedule', '-f', '-', *options], input=json.dumps(scenario), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def parts(lines):
    """The lines of running jobs, whose order among jobs that started at the same time a scenario does not have; and the others, in
    the order of the run."""
    running = [line for line in lines if line.split(':')[2] in ('RUNNING', 'SUSPENDED')]
    order = sorted(running, key=lambda line: (line.split(':')[2], int(line.split(':')[3]), int(line.split(':')[0])))
    return order, [line for line in lines if line not in running]


def jobs_in(lines, *states):
    return {(int(line.split(':')[0]), int(line.split(':')[1])) for line in lines if line.split(':')[2] in states}


def matches(run, ended, earlier):
    """Whether one of the scenarios that the run may be has its lines; the time of the run; and the nearest answer."""
    nearest = None
    for now, scenario in grid_engine_schedule.scenarios(run, ended, earlier):
        lines = answer(scenario, '--monitor')[1:]
        if parts(lines) == parts(run['lines']):
            return True, now, lines
        difference = len(set(lines) ^ set(run['lines']))
        if nearest is None or difference < nearest[0]:
            nearest = difference, lines
    return False, now, nearest[1]


@pytest.mark.parametrize('name', SCHEDULES)
def test_schedule_file(name):
    seen, ended, earlier, lines = set(), set(), 0, 0
    runs = grid_engine_schedule.read(HERE / (name + '.txt'))
    for number, run in enumerate(runs):
        here = jobs_in(run['lines'], 'RUNNING', 'SUSPENDED')
        ended = (ended | (seen - jobs_in(run['lines'], 'STARTING'))) - here
        is_equal, earlier, nearest = matches(run, ended, earlier)
        assert is_equal, 'run %d:\nrecorded\n%s\ncomputed\n%s' % (number, '\n'.join(run['lines']), '\n'.join(nearest))
        seen |= here | jobs_in(run['lines'], 'STARTING')
        lines += len(run['lines'])
    assert lines > 0
    print('# compared %d lines of %d scheduling runs with Grid Engine 8.1.9 (%s)' % (lines, len(runs), name))


@pytest.mark.parametrize('name', PLACEMENTS)
def test_placements(name):
    compared = 0
    for section in grid_engine_placements.read(HERE / (name + '.txt')):
        found = None
        for scenario in section['scenarios']:
            header, *rows = [line.split('|') for line in answer(scenario, '-P')]
            places = {row[0]: row[header.index('PLACES')] for row in rows if row[header.index('STATE')] in ('STARTING', 'WAITING')}
            found = {name: ','.join(sorted(re.sub(r'=\d+', '', places[str(number)]).split(','))) or 'pending'
                     for name, number in section['jobs'].items()}
            if found == section['places']:
                break
        assert found == section['places'], section['title']
        compared += len(found)
    assert compared > 0
    print('# compared %d placements with Grid Engine 8.1.9 (%s)' % (compared, name))


def test_parallel_environments():
    trials = grid_engine_placements.read_trials(HERE / 'i2_pe_allocation.txt')
    for trial in trials:
        lines = [line.split(':', 5)[5] for line in answer(trial['scenario'], '--monitor')[1:] if ':STARTING:' in line]
        assert lines == trial['lines'], trial['command']
    assert len(trials) == 25
    print('# compared %d allocations of parallel jobs with Grid Engine 8.1.9 (i2_pe_allocation)' % len(trials))


def test_formulas_that_are_refused():
    """Grid Engine refuses the same load formulas."""
    compared = 0
    for formula, is_accepted in grid_engine_placements.read_formulas(HERE / 'g1_load_formula.txt'):
        scenario = {'now': 1, 'settings': {'load_formula': formula}}
        result = subprocess.run([FAIRLEAD, 'schedule', '-f', '-'], input=json.dumps(scenario), capture_output=True, text=True)
        assert (result.returncode == 0) == is_accepted, (formula, result.stderr)
        compared += 1
    assert compared == 11
    print('# compared %d load formulas, accepted or refused, with Grid Engine 8.1.9' % compared)
