"""Makes scenarios, documents that `fairlead prio -f` reads, of recordings of Grid Engine 8.1.9 (grid_engine_session.py).

read(path) yields what a test compares, table by table:

    {'title', 'scenarios', 'rows', 'is_decaying'}      rows: [{'id', 'state', 'is_pending', 'cells': {column: text}}]

id is the job of the scenario that a row shows: an array's pending tasks are one job, each running task is a job of its own.
Several scenarios differ only in their time, which matters for decay, waiting time and deadlines. Grid Engine computes a
table's numbers some seconds before or after the recorded time, so one of them has to give all numbers. Older sessions do not
record the time; it is inferred from the table: one unknown, and an equation for each row.

usage: grid_engine.py FILE [N]      lists a recording's tables, or prints the scenario of the Nth
"""
import json
import re
import sys

import grid_engine_session

RUNNING_TASK_ID = 4000000000  # and above: tasks of arrays that have other tasks, too
SECONDS_AROUND = range(-5, 13)
SUSPENDED_BY = {'s': 'user', 'S': 'queue', 'T': 'threshold'}


def pending_job(job, rows, running_count):
    """The document's job for the rows of pending tasks."""
    is_held = all(re.search('[hE]', row['state']) for row in rows)
    made = {'state': 'HELD' if is_held else 'PENDING', **job}
    if job['is_array']:
        made['array_tasks'] = sum(row['pending_tasks'] for row in rows)
    if job.get('array_limit') and running_count > 0:
        made['running_tasks'] = running_count
    return made


def running_job(job, row):
    suspension = re.search('[sST]', row['state'])
    state = {'state': 'SUSPENDED', 'suspended_by': SUSPENDED_BY[suspension[0]]} if suspension else {'state': 'RUNNING'}
    return {**{key: value for key, value in job.items() if key != 'array_limit'}, **state}


def minimum_slots(job):
    slots = job.get('slots', 1)
    return slots[0] if isinstance(slots, list) else slots


class Scenario:
    """The scenario of a table, with the usage that sge_share_mon showed or with the usage that was entered."""

    def __init__(self, table, usage):
        self.cluster, self.usage = table['cluster'], usage
        self.jobs, self.rows, self.next_id = [], [], RUNNING_TASK_ID
        for number in sorted({row['job'] for row in table['rows']}):
            self.add_job(self.cluster.jobs[number], [row for row in table['rows'] if row['job'] == number])

    def add_job(self, job, rows):
        pending = [row for row in rows if row['pending_tasks'] > 0]
        running = [row for row in rows if row['pending_tasks'] == 0]
        for row in running:
            made = running_job(job, row)
            if len(rows) > 1:
                self.next_id += 1
                made['id'] = self.next_id
            self.add(made, [row])
        if pending:
            self.add(pending_job(job, pending, len(running)), pending)

    def add(self, job, rows):
        made = {key: value for key, value in job.items() if key not in ('environment', 'is_array') and value != {}}
        if isinstance(job.get('slots'), list):
            made['urgency_slots'] = self.cluster.urgency_slots.get(job['environment'], 'min')
        self.jobs.append(made)
        self.rows += [{'id': made['id'], 'state': row['state'], 'is_pending': row['pending_tasks'] > 0, 'cells': row['cells']}
                      for row in rows]

    def document(self, now):
        c = self.cluster
        taken = sum(minimum_slots(job) for job in self.jobs if job['state'] in ('RUNNING', 'SUSPENDED'))

        def owners(kind, rows):
            return [{'name': name, **row, **self.usage[kind].get(name, {})} for name, row in rows.items()]

        return {
            'now': now,
            'settings': {**c.settings, **c.own_settings},
            'hosts': [{'name': 'all', 'cpus': taken + c.free_slots}],
            'resources': [{'name': name, 'type': kind, 'urgency': urgency}
                          for name, (kind, urgency) in c.resources.items()],
            **({'share_tree': c.tree} if c.tree else {}),
            'users': owners('users', c.users),
            'projects': owners('projects', c.projects),
            'departments': [{'name': name, **row} for name, row in c.departments.items()],
            'jobs': self.jobs,
        }

    def is_decaying(self):
        owners = [*self.usage['users'].values(), *self.usage['projects'].values()]
        return float(self.cluster.settings['halftime']) > 0 and any('usage_time' in owner for owner in owners)

    def infer_now(self):
        """The time of the table, inferred from the parts of waiting time and deadlines, which qstat rounds."""
        settings = self.cluster.settings
        waiting, deadline = (float(settings[name]) for name in ('weight_waiting_time', 'weight_deadline'))
        jobs = {job['id']: job for job in self.jobs}
        latest = max(job['submit'] for job in self.jobs)
        if all(row['cells'].get(name, '0') == '0' for row in self.rows for name in ('WTCONTR', 'DLCONTR')):
            return self.cluster.now or latest + 10

        def fits(now):
            for row in self.rows:
                job, cells = jobs[row['id']], row['cells']
                left = max(1, job['deadline'] - now) if 'deadline' in job else None
                if 'WTCONTR' in cells and round(waiting * (now - job['submit'])) != int(cells['WTCONTR']):
                    return False
                if 'DLCONTR' in cells and round(deadline / left if left else 0) != int(cells['DLCONTR']):
                    return False
            return True

        return next((now for now in range(latest, latest + 600) if fits(now)), None)

    def documents(self, title):
        """The scenario at each possible time, the likeliest first."""
        if self.cluster.is_now_exact:
            times = [self.cluster.now + seconds for seconds in sorted(SECONDS_AROUND, key=abs)]
        else:
            times = [self.infer_now()]
        if None in times:
            raise ValueError('no time fits the table below "%s"' % title)
        return [self.document(now) for now in times]


def read(path):
    """Every table of a recording; one with decayed usage twice: with the usage at its time, and with the one entered."""
    for table in grid_engine_session.read(path):
        cluster = table['cluster']
        usages = [(cluster.monitored, '')] if cluster.monitored else []
        if not usages or cluster.is_decaying:
            usages.append((cluster.injected, ', usage as entered'))
        for usage, which in usages:
            scenario, title = Scenario(table, usage), '%s %s%s' % (table['title'], table['kind'], which)
            yield {'title': title, 'scenarios': scenario.documents(title), 'rows': scenario.rows,
                   'is_decaying': scenario.is_decaying()}


def main(arguments):
    if len(arguments) not in (1, 2):
        sys.exit(__doc__.strip())
    try:
        tables = list(read(arguments[0]))
    except OSError as error:
        sys.exit('%s: %s' % (arguments[0], error.strerror))
    if len(arguments) > 1:
        if not arguments[1].isdigit() or not 1 <= int(arguments[1]) <= len(tables):
            sys.exit('%s has the tables 1 to %d' % (arguments[0], len(tables)))
        json.dump(tables[int(arguments[1]) - 1]['scenarios'][0], sys.stdout, indent=2)
        print()
    else:
        for number, table in enumerate(tables, 1):
            print('%3d  %d rows  %s' % (number, len(table['rows']), table['title']))


if __name__ == '__main__':
    main(sys.argv[1:])
