"""Reads what recordings of Grid Engine 8.1.9 show of limits: tables of qstat after a number of submissions, and tables of qquota.

read_tables(path) yields the sessions under a limit that the scheduler keeps:

    {'settings': {}, 'jobs': [Job], 'rows': [{'id', 'tasks': [number], 'is_running', 'prior'}]}
"""
import re
import shlex

import grid_engine_schedule

# `sched_conf: base with: maxujobs 2`; `max_aj_instances 2 (was 2000)`
LIMIT = re.compile(r'(?:sched_conf: base with: (maxujobs) (\d+)$|(max_aj_instances) (\d+) )')
ROW = re.compile(r' *(\d+) ([\d.]+) \S+ +\S+ +(\w+) +\S+ \S+ +(?:\S+@\S+ +)?(\d+)(?: ([\d:,-]+))? *$')


def tasks_of(text):
    """'3-6:1' or '2'; no text is a job without tasks."""
    if not text:
        return [1]
    first, _, last = text.split(':')[0].partition('-')
    return list(range(int(first), int(last or first) + 1))


def read_rows(lines):
    rows = []
    for line in lines:
        found = ROW.match(line)
        if not found:
            break
        number, prior, state, _, tasks = found.groups()
        rows.append({'id': int(number), 'tasks': tasks_of(tasks), 'is_running': state == 'r', 'prior': prior})
    return rows


def read_tables(path):
    lines, limit, jobs, settings = path.read_text().splitlines(), {}, [], {}
    for at, line in enumerate(lines):
        found = LIMIT.match(line)
        if line.startswith('sched_conf:') or found:
            limit, jobs = {}, []
            settings = {} if found is None or found.group(1) else settings
        if found:
            name, value = [text for text in found.groups() if text]
            limit = {name: int(value)}
        elif re.match(r'\$ \[as (\w+)\] qsub ', line):
            words = shlex.split(line)
            job = grid_engine_schedule.Job(words[2].rstrip(']'), words[4:])
            job.id = int(lines[at + 1].split()[-1]) if '-> job ' in lines[at + 1] else None
            jobs.append(job)
        elif line.startswith('$ qstat -u *') and limit:
            yield {'settings': limit, 'jobs': jobs, 'rows': read_rows(lines[at + 3:])}
            limit = {}
        elif 'modified "global" in configuration list' in line:
            limit, jobs = {}, []


def scenario(table, is_running):
    """The jobs before the run, or after it: those that run then have ids of their own if they are tasks of an array."""
    now = grid_engine_schedule.EPOCH
    settings = {**grid_engine_schedule.BASE, **table['settings']}
    jobs = {job.id: job for job in table['jobs']}
    documents = []
    for job in jobs.values():
        documents.append(job.document(now) if job.tasks == 1 else {**job.document(now), 'array_tasks': job.tasks})
    if is_running:
        documents = []
        for number, row in enumerate(table['rows']):
            document = jobs[row['id']].document(now)
            if row['is_running']:
                document.update(state='RUNNING', id=document['id'] if jobs[row['id']].tasks == 1 else 1000 + number)
            elif jobs[row['id']].tasks > 1:
                running = sum(other['id'] == row['id'] and other['is_running'] for other in table['rows'])
                document.update(array_tasks=len(row['tasks']), running_tasks=running)
            documents.append(document)
    return {'now': now, 'settings': settings, **grid_engine_schedule.cluster(grid_engine_schedule.HOSTS, set(), {}),
            'jobs': documents}


def read_usage(path):
    """Tables of qquota: the user, or None for all, and lines such as 'a_users/1 slots=1/1 users uc'."""
    lines = path.read_text().splitlines()
    for at, line in enumerate(lines):
        if not line.startswith('$ qquota -u '):
            continue
        rows = []
        for row in lines[at + 3:]:
            if row.startswith('$'):
                break
            rows.append(' '.join(row.split()))
        user = line.split()[-1]
        yield None if user == '*' else user, rows
