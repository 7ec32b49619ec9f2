"""Makes scenarios of the recordings of Grid Engine 8.1.9 that say where the jobs of one scheduling run started.

read(path) yields the sections of a recording:

    section   {'title', 'jobs': {name: id}, 'places': {name: 'all.q@n1' or 'pending'}, 'scenarios'}

The worlds here are those of the scripts that made the recordings. Where hosts have the same load and the same sequence number, any
order of them may have been the right one.
"""
import itertools
import re

import grid_engine_schedule as schedule

NOW = 1795244000
LOADS = {'n1': .10, 'n2': .50, 'n3': .90, 'n4': .30}
EQUAL = {'n1': .2, 'n2': .2, 'n3': .2, 'n4': .2}
SEQ_NO = '10,[n3=1],[n2=7]'


def world_of(name, title):
    """load_avg by host, fields of hosts, the partitions."""
    loads, host, queue, queues = LOADS, {}, {'slots': 2}, []
    if name == 'g2_load_adjustments' and '3-slot' in title:
        queue = {'slots': 6}
    if name == 'g4_load_scaling':
        host = {'n3': {'load_scaling': 'np_load_avg=0.100000'}}
    if name == 'g5_queue_sort':
        is_parallel, is_alike = 'parallel job' in title, 'equal seq_no' in title
        queue = {'slots': 2 if is_parallel else 1, 'seq_no': SEQ_NO if not is_alike and 'soft' not in title and not is_parallel else 10}
        queues = [] if is_alike else [{'name': 'b.q', 'slots': 1, 'seq_no': 5, 'pe_list': list(schedule.RULES)}]
        loads = EQUAL if 'equal loads' in title else LOADS
    if name == 'g6_load_thresholds':
        loads, queue = {'n1': 3.40, 'n2': 3.60, 'n3': 1.80, 'n4': 10}, {'slots': 4, 'load_thresholds': 'np_load_avg=1.75'}
    if name == 'g7_load_formula_slots':
        loads = LOADS if 'unequal' in title else dict.fromkeys(LOADS, .10)
        host, queue = dict.fromkeys(LOADS, {'complex_values': 'slots=4'}), {'slots': 4}
    return loads, host, queue, queues


def cluster(order, loads, host, queue, queues):
    return {
        'resources': schedule.RESOURCES,
        'hosts': [{'name': name, 'cpus': 2, 'load_values': {'num_proc': 2, 'load_avg': loads[name]}, **host.get(name, {})}
                  for name in order],
        'parallel_environments': [{'name': name, 'allocation_rule': rule, 'slots': schedule.PE_SLOTS.get(name, 999)}
                                  for name, rule in schedule.RULES.items()],
        'partitions': [{'name': 'all.q', 'pe_list': list(schedule.RULES), **queue}] + queues,
    }


def sections_of(lines):
    title, section = '', []
    for line in lines:
        if line.startswith('== '):
            yield title, section
            title, section = line[3:], []
        else:
            section.append(line)
    yield title, section


def settings_in(section, settings):
    for line in section:
        if line.startswith('sched_conf: base with:'):
            settings = {**schedule.BASE, **schedule.settings_of(line.split(':', 2)[2])}
    return settings


def jobs_in(section):
    """The submissions that are shown; and those of a burst, which are serial jobs of one user, p1 with three slots."""
    jobs, places = {}, {}
    for line in section:
        found = re.match(r'\$ \[as (\w+)\] qsub (.*)', line)
        if found:
            job = schedule.Job(found.group(1), found.group(2).split())
            jobs[job.name] = job
        found = re.match(r'  (\w+) (\S+\.q@\w+|pending)$', line)
        if found:
            places[found.group(1)] = found.group(2)
        found = re.match(r' +\d+ [\d.]+ (\w+) .* (\S+\.q@\w+) +(MASTER|SLAVE)', line)
        if found:
            places.setdefault(found.group(1), []).append(found.group(2))
    for name in places:
        if name not in jobs:
            jobs[name] = schedule.Job('ua', ['-pe', 'smp', '3'] if name == 'p1' else [])
    for number, job in enumerate(jobs.values(), 1):
        job.id = number
    return jobs, places


def scenarios(name, title, settings, jobs):
    loads, host, queue, queues = world_of(name, title)
    for order in itertools.permutations(LOADS):
        yield {'now': NOW, 'settings': settings, **cluster(order, loads, host, queue, queues),
               'jobs': [job.document(NOW) for job in jobs.values()]}


def read(path):
    settings = dict(schedule.BASE)
    if path.stem == 'g3_adjustment_decay':
        yield from read_decay(path)
        return
    for title, section in sections_of(path.read_text().splitlines()):
        settings = settings_in(section, settings)
        jobs, places = jobs_in(section)
        is_refused = any(line.startswith('"load_formula"') for line in section)
        is_alike = path.stem == 'g1_load_formula' and 'slots' in title  # no host has slots: all loads are 9999
        if not places or 'invalid' in title or is_refused or is_alike:
            continue
        places = {job: place if isinstance(place, str) else ','.join(sorted(place)) for job, place in places.items()}
        yield {'title': title, 'jobs': {job: jobs[job].id for job in places}, 'places': places,
               'scenarios': scenarios(path.stem, title, settings, jobs)}


def read_decay(path):
    """A job runs on n1, and probes start one by one."""
    lines = path.read_text().splitlines()
    settings = settings_in(lines, dict(schedule.BASE))
    loads = {'n1': 0.00, 'n2': 0.55, 'n3': 5, 'n4': 5}

    def seconds(text):
        hours, minutes, rest = text.split(':')
        return NOW + int(hours) * 3600 + int(minutes) * 60 + int(rest)

    for line in lines:
        found = re.match(r'first started (\S+), probe submitted at \+\d+ s -> (\S+) at (\S+)', line)
        if not found:
            continue
        now = seconds(found.group(3))
        first = {**schedule.Job('ua', []).document(now), 'id': 1, 'state': 'RUNNING', 'start': seconds(found.group(1)),
                 'places': {'all.q@n1': 1}}
        probe = {**schedule.Job('ua', []).document(now), 'id': 2}
        yield {'title': line, 'jobs': {'probe': 2}, 'places': {'probe': found.group(2)},
               'scenarios': [{'now': now, 'settings': settings, **cluster(loads, loads, {}, {'slots': 8}, []),
                              'jobs': [first, probe]}]}


def read_formulas(path):
    """Each formula that was tried, and whether it was accepted: a refusal has a line behind the formula."""
    lines = path.read_text().splitlines()
    for number, line in enumerate(lines):
        found = re.match(r"load_formula '(.*)'$", line)
        if found:
            refusal = lines[number + 1] if number + 1 < len(lines) else ''
            yield found.group(1), not re.match(r'"load_formula"|String, CString', refusal)


def read_trials(path):
    """i2: one parallel job after another beside two that run, with the lines that it booked; none if it could not start."""
    trials, settings, seq_no = [], dict(schedule.BASE), 0
    loads = {'n1': .8, 'n2': .2, 'n3': .6, 'n4': .4}
    lines = path.read_text().splitlines()
    for number, line in enumerate(lines):
        settings = settings_in([line], settings)
        if line.startswith('queue_sort_method seqno, seq_no'):
            seq_no = '0,[n1=5],[n2=4],[n3=3],[n4=2]'
        found = re.match(r'\$ \[as ua\] qsub (-N t .*)', line)
        if not found:
            continue
        booked = list(itertools.takewhile(lambda text: re.match(r'     [PGQ]:', text), lines[number + 2:]))
        job = schedule.Job('ua', found.group(1).split())
        job.id = 3
        running = [{'id': 1, 'user': 'ua', 'submit': 1, 'state': 'RUNNING', 'start': NOW - 100, 'pe': 'smp', 'slots': 2,
                    'places': {'all.q@n2': 2}},
                   {'id': 2, 'user': 'ua', 'submit': 1, 'state': 'RUNNING', 'start': NOW - 100, 'places': {'all.q@n3': 1}}]
        trials.append({'command': found.group(1), 'lines': [text.strip() for text in booked],
                       'scenario': {'now': NOW, 'settings': settings, **cluster(loads, loads, {}, {'slots': 4, 'seq_no': seq_no}, []),
                                    'jobs': running + [job.document(NOW)]}})
    return trials
