"""Converts recordings of Grid Engine 8.1.9 to scenarios: documents that `fairlead prio -f` reads.

A recording is a terminal session: the commands that configured, submitted and changed, and the tables of qstat in between.
read(path) follows it from top to bottom and yields, for each table, the cluster at that point (a scenario) and the cells of
the table. The session does not contain the time of a table, which matters if waiting time or deadlines count; it is inferred
from the table: one unknown, and an equation for each row.

usage: grid_engine.py FILE [N]      lists a recording's tables, or prints the scenario of the Nth
"""
import calendar
import json
import re
import sys
import time

# The scheduler configuration that every session starts from; sessions have the differences from it (00_base_sched_conf).
BASE = {
    'PriorityType': 'priority/tickets',
    'halftime': 168, 'usage_weight_list': 'cpu=1.000000,mem=0.000000,io=0.000000', 'compensation_factor': 5.0,
    'weight_user': 0.25, 'weight_project': 0.25, 'weight_department': 0.25, 'weight_job': 0.25,
    'weight_tickets_functional': 0, 'weight_tickets_share': 0,
    'share_override_tickets': 'TRUE', 'share_functional_shares': 'TRUE', 'max_functional_jobs_to_schedule': 200,
    'report_pjob_tickets': 'TRUE', 'max_pending_tasks_per_job': 50, 'halflife_decay_list': 'none',
    'policy_hierarchy': 'OFS', 'weight_ticket': 0.01, 'weight_waiting_time': 0.0, 'weight_deadline': 3600000.0,
    'weight_urgency': 0.1, 'weight_priority': 1.0,
}
RESOURCES = {'slots': ('INT', 1000), 'license': ('INT', 1000), 'gpu': ('INT', 2000), 'bigio': ('STRING', 500)}
URGENCY_SLOTS = {'smp': 'min', 'rr': 'max'}
EPOCH = 1795240000

# Column of a table -> column of an answer.
XML_COLUMNS = {'prior': 'PRIOR', 'ntckts': 'NTCKTS', 'nurg': 'NURG', 'npprior': 'NPPRIOR', 'rrcontr': 'RRCONTR',
               'wtcontr': 'WTCONTR', 'dlcontr': 'DLCONTR', 'tckts': 'TICKETS', 'otckt': 'OVERRIDE', 'ftckt': 'FUNCTIONAL',
               'stckt': 'SHARE'}
PLAIN_COLUMNS = {
    '-urg': ['PRIOR', 'NURG', 'URG', 'RRCONTR', 'WTCONTR', 'DLCONTR'],
    '-pri': ['PRIOR', 'NURG', 'NPPRIOR', 'NTCKTS'],
}


def utc(text, form):
    return calendar.timegm(time.strptime(text, form))


def usage_of(text, separator):
    return {name: float(number) for name, number in (item.split('=') for item in text.split(separator) if item)}


class Session:
    """The cluster at the current line of the session."""

    def __init__(self, lines):
        self.lines, self.at = lines, 0
        self.users, self.projects, self.departments = {}, {}, {}
        self.settings, self.resources, self.urgency_slots = dict(BASE), dict(RESOURCES), dict(URGENCY_SLOTS)
        self.jobs, self.tree, self.changes = {}, None, 0
        self.now, self.title, self.modified = None, '', 0

    def next(self):
        line = self.lines[self.at]
        self.at += 1
        return line

    # --- configuration ---

    def user(self, match):
        self.users.setdefault(match[1], {}).update(oticket=int(match[2]), fshare=int(match[3]))

    def project(self, match):
        self.projects.setdefault(match[1], {}).update(oticket=int(match[2]), fshare=int(match[3]))

    def department(self, match):
        self.departments[match[1]] = {'fshare': int(match[2]), 'oticket': int(match[3])}
        for user in match[4].split(','):
            self.users.setdefault(user, {})['department'] = match[1]

    def configuration(self, match):
        words = match[1].split()
        self.settings = dict(BASE)
        self.settings.update(zip(words[::2], words[1::2]))

    def halftime(self, match):
        self.settings = dict(BASE, halftime=float(match[1]), weight_tickets_share=self.settings['weight_tickets_share'])

    def complex(self, match):
        self.resources[match[1]] = (match[2], float(match[3]))

    def urgency_changed(self, match):
        self.heading(match)
        for name, urgency in re.findall(r'(\w+) (?:changed )?to (\d+)', match[0]):
            self.resources[name] = (self.resources[name][0], float(urgency))

    def slots_rule(self, match):
        self.heading(match)
        self.urgency_slots[match[1]] = int(match[2]) if match[2].isdigit() else match[2]
        self.modified = 0

    def environment_modified(self, match):
        """The first line, below a heading with the new rule, sets it; the second one restores the old rule."""
        self.modified += 1
        if self.modified == 2:
            self.urgency_slots[match[1]] = URGENCY_SLOTS[match[1]]

    def inject(self, match):
        kind, name, usage, stamp, projects = match[1], match[2], match[3], match[4], match[5]
        owner = (self.users if kind == 'users' else self.projects).setdefault(name, {})
        owner['usage'] = usage_of(usage, ' ')
        if stamp != 'now':
            owner['usage_time'] = int(stamp)
        if projects:
            entries = (entry.split(' ') for entry in projects.strip(';').split(';'))
            owner['project_usage'] = {entry[0]: usage_of(entry[1], ',') for entry in entries}

    def share_tree(self, match):
        nodes, current = {}, None
        while self.at < len(self.lines) and re.match(r'(id|name|type|shares|childnodes)=', self.lines[self.at]):
            key, _, value = self.next().partition('=')
            if key == 'id':
                current = nodes.setdefault(value, {})
            else:
                current[key] = value

        def node(number):
            row = nodes[number]
            children = [node(child) for child in row['childnodes'].split(',') if child != 'NONE']
            return {'name': row['name'], 'shares': int(row['shares']), **({'children': children} if children else {})}

        self.tree = node('0') if nodes else None

    # --- jobs ---

    def submit(self, match):
        result = re.match(r'  -> job (\d+)', self.lines[self.at])
        if not result:
            return
        self.next()
        words = match[2].split()
        job = {'id': int(result[1]), 'user': match[1], 'submit': EPOCH + int(result[1])}
        self.users.setdefault(match[1], {'oticket': 0, 'fshare': 0})

        def value_of(option):
            return words[words.index(option) + 1] if option in words else None

        if value_of('-P'):
            job['project'] = value_of('-P')
        if value_of('-p'):
            job['posix_priority'] = int(value_of('-p'))
        if value_of('-dl'):
            job['deadline'] = utc(value_of('-dl'), '%Y%m%d%H%M.%S')
        if value_of('-t'):
            first, last = value_of('-t').split('-')
            job['array_tasks'] = int(last) - int(first) + 1
        if '-l' in words and '-soft' not in words:
            requests = (item.split('=') for item in value_of('-l').split(','))
            job['request'] = {name: int(value) if value.isdigit() else value for name, value in requests}
        if '-pe' in words:
            environment, slots = words[words.index('-pe') + 1:words.index('-pe') + 3]
            bounds = [int(number) for number in slots.split('-')]
            job['slots'] = bounds if len(bounds) == 2 else bounds[0]
            job['environment'] = environment
        self.jobs[job['id']] = job

    def alter(self, match):
        job = self.jobs.get(int(match[3]))
        if job is None or self.lines[self.at].startswith('denied'):
            return
        job[{'js': 'job_share', 'ot': 'override_tickets', 'p': 'posix_priority'}[match[1]]] = int(match[2])
        self.changes += 1
        job['seq'] = 1000000 + self.changes  # a changed job moves to the end of the scheduler's list

    def clock(self, match):
        self.now = int(match[1])

    # --- tables ---

    def heading(self, match):
        self.title = match[0].strip('= ')

    def xml_table(self, match):
        columns = [(word.group(), word.start()) for word in re.finditer(r'\S+', match[0])]
        ends = [start for _, start in columns[1:]] + [None]
        rows = []
        while self.at < len(self.lines) and re.match(r'  +\d', self.lines[self.at]):
            line = self.next()
            rows.append({name: line[start:end].strip() for (name, start), end in zip(columns, ends)})
        ids = {int(row['job']) for row in rows}
        self.jobs = {number: job for number, job in self.jobs.items() if number in ids}
        for row in rows:
            job = self.jobs[int(row['job'])]
            job['state'] = 'RUNNING' if row['state'] in ('r', 't') else 'PENDING'
            self.departments.setdefault(row['dept'], {}) if row['dept'] != 'defaultdepartment' else None
        cells = {int(row['job']): {XML_COLUMNS[name]: row[name] for name in XML_COLUMNS if row[name] != 'NA'}
                 for row in rows}
        return self.table(cells)

    def plain_table(self, match):
        kind = '-urg' if ' urg ' in match[0] else '-pri' if ' ppri ' in match[0] else '-ext'
        cells = {}
        while self.at < len(self.lines) and re.match(r'-+$| +\d', self.lines[self.at]):
            words = self.next().split()
            if len(words) < 2:
                continue
            number = int(words[0])
            if kind == '-ext':
                cells[number] = self.extended(words)
            else:
                shown = zip(PLAIN_COLUMNS[kind], words[1:])
                cells[number] = {column: text for column, text in shown if text != 'NA'}
                self.note_submission(number, words)
        return self.table(cells)

    @staticmethod
    def extended(words):
        """prior and ntckts come first; the tickets follow the state, for a running job after its usage."""
        state = next(i for i, word in enumerate(words) if word in ('qw', 'r', 't'))
        first = state + (1 if words[state] == 'qw' else 4)
        tickets = dict(zip(['TICKETS', None, 'OVERRIDE', 'FUNCTIONAL', 'SHARE'], words[first:first + 5]))
        tickets.pop(None)
        return {'PRIOR': words[1], 'NTCKTS': words[2], **tickets}

    def note_submission(self, number, words):
        stamp = re.search(r' qw +(\d\d/\d\d/\d{4} \d\d:\d\d:\d\d)', ' '.join(words))
        if stamp and number in self.jobs:
            self.jobs[number]['submit'] = utc(stamp[1], '%m/%d/%Y %H:%M:%S')

    def table(self, cells):
        if not cells or any(number not in self.jobs for number in cells):
            return None
        return {'title': self.title, 'scenario': self.scenario(cells), 'cells': cells}

    def infer_now(self, cells):
        """The time of the table, inferred from the parts of waiting time and deadlines, which qstat rounds."""
        waiting, deadline = (float(self.settings[name]) for name in ('weight_waiting_time', 'weight_deadline'))
        latest = max(job['submit'] for job in self.jobs.values())
        if all(row.get(name, '0') in ('0', 'NA') for row in cells.values() for name in ('WTCONTR', 'DLCONTR')):
            return self.now or latest + 10

        def fits(now):
            for number, row in cells.items():
                job = self.jobs[number]
                left = max(1, job['deadline'] - now) if 'deadline' in job else None
                if 'WTCONTR' in row and round(waiting * (now - job['submit'])) != int(row['WTCONTR']):
                    return False
                if 'DLCONTR' in row and round(deadline / left if left else 0) != int(row['DLCONTR']):
                    return False
            return True

        return next((now for now in range(latest, latest + 600) if fits(now)), None)

    def scenario(self, cells):
        now = self.infer_now(cells)
        if now is None:
            raise ValueError('no time fits the table below "%s"' % self.title)
        jobs = []
        for job in self.jobs.values():
            job = dict(job)
            environment = job.pop('environment', None)
            if isinstance(job.get('slots'), list):
                job['urgency_slots'] = self.urgency_slots[environment]
            jobs.append(job)
        return {
            'now': now,
            'settings': self.settings,
            'resources': [{'name': name, 'type': kind, 'urgency': urgency}
                          for name, (kind, urgency) in self.resources.items()],
            **({'share_tree': self.tree} if self.tree else {}),
            'users': [{'name': name, **row} for name, row in self.users.items()],
            'projects': [{'name': name, **row} for name, row in self.projects.items()],
            'departments': [{'name': name, **row} for name, row in self.departments.items()],
            'jobs': jobs,
        }


# Forms of lines, and the methods that read them. The first form that matches counts.
FORMS = [(re.compile(form), method) for form, method in [
    (r'user (\S+): oticket=(\d+) fshare=(\d+)', Session.user),
    (r'project (\S+): oticket=(\d+) fshare=(\d+)', Session.project),
    (r'department (\S+): fshare=(\d+) oticket=(\d+) entries=(\S+)', Session.department),
    (r'sched_conf: base with: ?(.*)', Session.configuration),
    (r'(\w+) +\S+ +(INT|STRING) +\S+ +YES +\S+ +\S+ +(\d+)$', Session.complex),
    (r'== (?:urgency of .* to \d+)', Session.urgency_changed),
    (r'== (\w+) urgency_slots (\w+)', Session.slots_rule),
    (r'root@qm modified "(\w+)" in parallel environment list', Session.environment_modified),
    (r"inject (\S+)/(\S+): usage='([^']*)' usage_time_stamp=(\S+)(?: project='([^']*)')?", Session.inject),
    (r'\$ qconf -sstree', Session.share_tree),
    (r'\$ \[as (\S+)\] qsub (.*)', Session.submit),
    (r'\$ (?:as \S+ )?qalter -(js|ot|p) (-?\d+) (\d+)', Session.alter),
    (r'(?:now )?(\d{10})$', Session.clock),
    (r'== (.*)', Session.heading),
    (r'  job +name .*', Session.xml_table),
    (r'job-ID +prior .*', Session.plain_table),
]]


def read(path):
    """Every table of a recording: {'title', 'scenario', 'cells': {job: {column: text}}}."""
    with open(path, encoding='utf-8') as file:
        session = Session(file.read().split('\n'))
    while session.at < len(session.lines):
        line = session.next()
        for form, method in FORMS:
            match = form.match(line)
            if not match:
                continue
            table = method(session, match)
            if table:
                yield table
            break


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
        json.dump(tables[int(arguments[1]) - 1]['scenario'], sys.stdout, indent=2)
        print()
    else:
        for number, table in enumerate(tables, 1):
            print('%3d  %d rows  %s' % (number, len(table['cells']), table['title']))


if __name__ == '__main__':
    main(sys.argv[1:])
