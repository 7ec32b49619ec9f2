"""Reads recordings of Grid Engine 8.1.9.

A recording is a terminal session: the commands that configured, submitted and changed, and the tables of qstat in between.
read(path) follows it from top to bottom and yields each table with the cluster at that point:

    Session   users, projects, departments, resources, settings, the share tree, usage, jobs
    table     {'title', 'kind', 'rows', 'cluster'}
    row       {'job', 'pending_tasks', 'state', 'cells': {column: text}}; a running task of an array has a row of its own

grid_engine.py makes scenarios of them.
"""
import calendar
import copy
import re
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
ENVIRONMENT_SLOTS = 999
EPOCH = 1795240000

# Column of a table -> column of an answer. share is no column of an answer: the job's part of the tickets of all listed jobs
# that are pending, or that run.
XML_COLUMNS = {'prior': 'PRIOR', 'ntckts': 'NTCKTS', 'nurg': 'NURG', 'npprior': 'NPPRIOR', 'rrcontr': 'RRCONTR',
               'wtcontr': 'WTCONTR', 'dlcontr': 'DLCONTR', 'tckts': 'TICKETS', 'otckt': 'OVERRIDE', 'ftckt': 'FUNCTIONAL',
               'stckt': 'SHARE', 'share': 'share'}
PLAIN_COLUMNS = {
    '-ext': ['PRIOR', 'NTCKTS'],
    '-urg': ['PRIOR', 'NURG', 'URG', 'RRCONTR', 'WTCONTR', 'DLCONTR'],
    '-pri': ['PRIOR', 'NURG', 'NPPRIOR', 'NTCKTS'],
}
REFUSALS = ('denied', 'job rejected', 'error')


def utc(text, form):
    return calendar.timegm(time.strptime(text, form))


def number_or_text(text):
    return float(text) if re.fullmatch(r'-?[\d.]+', text) else text


def usage_of(text, separator):
    return {name: float(number) for name, number in (item.split('=') for item in text.split(separator) if item)}


def task_count(text):
    """The number of tasks in '3', '1-5:2' or '1-3:1,7'; 1 for '-', which is a job without tasks."""
    count = 0
    for part in text.split(',') if re.match(r'\d', text) else []:
        first, last, step = re.fullmatch(r'(\d+)(?:-(\d+))?(?::(\d+))?', part).groups()
        count += (int(last or first) - int(first)) // int(step or 1) + 1
    return count or 1


def slots_of(text):
    """'4', '2-8', '2,4-6' or '3-', which ends at the slots of the parallel environment: a number, or [minimum, maximum]."""
    bounds = []
    for part in text.split(','):
        first, dash, last = part.partition('-')
        bounds += [int(first or 1), int(last or (ENVIRONMENT_SLOTS if dash else first))]
    return [min(bounds), max(bounds)] if min(bounds) < max(bounds) else bounds[0]


class Session:
    """The cluster at the current line of the session."""

    def __init__(self, lines):
        self.lines, self.at = lines, 0
        self.users, self.projects, self.departments = {}, {}, {}
        self.settings, self.resources, self.urgency_slots = dict(BASE), dict(RESOURCES), dict(URGENCY_SLOTS)
        self.own_settings = {}  # Fairlead's own, which Grid Engine does not have
        self.injected = {'users': {}, 'projects': {}}  # usage by owner, as entered
        self.monitored = None   # usage by owner, as sge_share_mon last showed it
        self.is_decaying = False
        self.jobs, self.tree, self.changes = {}, None, 0
        self.now, self.is_now_exact, self.free_slots = None, False, 0
        self.title, self.environment_changes = '', 0
        self.listed = []  # the rows of the last table of all jobs
        submissions = (re.match(r'submitted (\d+): (\d+)', line) for line in lines)
        self.submissions = {int(match[1]): int(match[2]) for match in submissions if match}

    def next(self):
        line = self.lines[self.at]
        self.at += 1
        return line

    def next_if(self, form):
        """The match of the next line, or None if it has another form."""
        match = re.match(form, self.lines[self.at]) if self.at < len(self.lines) else None
        self.at += match is not None
        return match

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
        self.settings = dict(BASE, **dict(zip(words[::2], words[1::2])))
        if self.settings['policy_hierarchy'] == 'none':
            self.settings['policy_hierarchy'] = 'NONE'

    def own_setting(self, match):
        self.own_settings[match[1]] = match[2]

    def complex(self, match):
        self.resources[match[1]] = (match[2], float(match[3]))

    def urgency_changed(self, match):
        self.heading(match)
        for name, urgency in re.findall(r'(\w+) (?:changed )?to (\d+)', match[0]):
            self.resources[name] = (self.resources[name][0], float(urgency))

    def slots_rule(self, match):
        self.urgency_slots[match[1]] = int(match[2]) if match[2].isdigit() else match[2]

    def slots_rule_heading(self, match):
        self.heading(match)
        self.slots_rule(match)
        self.environment_changes = 0

    def environment_modified(self, match):
        """The first line, below a heading with the new rule, sets it; the second one restores the old rule."""
        self.environment_changes += 1
        if self.environment_changes == 2:
            self.urgency_slots[match[1]] = URGENCY_SLOTS[match[1]]

    def queue_enabled(self, match):
        """Three slots become free that no job can use (d4)."""
        self.heading(match)
        self.free_slots = 3

    def free(self, match):
        self.free_slots = int(match[1])

    # --- the share tree and usage ---

    def share_tree(self, match):
        nodes, current = {}, None
        while item := self.next_if(r'(id|name|type|shares|childnodes)=(.*)'):
            if item[1] == 'id':
                current = nodes.setdefault(item[2], {})
            else:
                current[item[1]] = item[2]

        def node(number):
            row = nodes[number]
            children = [node(child) for child in row['childnodes'].split(',') if child != 'NONE']
            return {'name': row['name'], 'shares': int(row['shares']), **({'children': children} if children else {})}

        self.tree = node('0') if nodes else None

    def inject(self, match):
        kind, name, usage, stamp, projects = match[1], match[2], match[3], match[4], match[5]
        (self.users if kind == 'users' else self.projects).setdefault(name, {})
        owner = self.injected[kind][name] = {'usage': usage_of(usage, ' ')}
        if stamp != 'now':
            owner['usage_time'] = int(stamp)
        if projects:
            entries = (entry.split(' ') for entry in projects.strip(';').split(';'))
            owner['project_usage'] = {entry[0]: usage_of(entry[1], ',') for entry in entries}

    def share_monitor(self, match):
        """Rows of sge_share_mon. The time of an owner's usage is in the rows of users; projects have that of the last one."""
        rows = []
        while row := self.next_if(r'(\d+) (/\S*) (\S*) (\S*) [\d.]+ ([\d.]+) ([\d.]+) ([\d.]+)'):
            rows.append(row)
        usage = {'users': {}, 'projects': {}}
        for row in rows:
            used = dict(zip(('cpu', 'mem', 'io'), map(float, row.groups()[4:])))
            stamp, node, user, project = int(row[1]), row[2], row[3], row[4]
            if user in self.users:
                owner = usage['users'].setdefault(user, {})
                owner['usage_time'] = max(stamp, owner.get('usage_time', 0))
                owner.update({'project_usage': dict(owner.get('project_usage', {}), **{project: used})} if project
                             else {'usage': used})
            elif project and node.endswith('/' + project):
                usage['projects'][project] = {'usage': used, 'usage_time': stamp or max(int(row[1]) for row in rows)}
        self.monitored = usage

    def no_share_tree(self, match):
        self.monitored = None

    def decay(self, match):
        self.is_decaying = match[1] == 'from'

    # --- jobs ---

    def submit(self, match):
        result = self.next_if(r'  -> job (\d+)')
        if not result:
            return
        words, number = match[2].split(), int(result[1])
        job = {'id': number, 'user': match[1], 'submit': self.submissions.get(number, EPOCH + number)}
        self.users.setdefault(match[1], {'oticket': 0, 'fshare': 0})

        def value_of(option):
            return words[words.index(option) + 1] if option in words else None

        for option, key in (('-p', 'posix_priority'), ('-js', 'job_share'), ('-ot', 'override_tickets'), ('-tc', 'array_limit')):
            if value_of(option):
                job[key] = int(value_of(option))
        if value_of('-P'):
            job['project'] = value_of('-P')
        if value_of('-dl'):
            job['deadline'] = utc(value_of('-dl'), '%Y%m%d%H%M.%S')
        job['is_array'] = '-t' in words
        job['request'] = self.hard_requests(words)
        if '-pe' in words:
            job['environment'], slots = words[words.index('-pe') + 1:words.index('-pe') + 3]
            job['slots'] = slots_of(slots)
        self.jobs[number] = job

    @staticmethod
    def hard_requests(words):
        requests, is_soft = {}, False
        for option, value in zip(words, words[1:]):
            if option in ('-soft', '-hard'):
                is_soft = option == '-soft'
            elif option == '-l' and not is_soft:
                requests.update(item.split('=') for item in value.split(','))
        return requests

    def move_to_list_end(self, job):
        self.changes += 1
        job['seq'] = 1000000 + self.changes

    def alter(self, match):
        job = self.jobs.get(int(match[3]))
        if job is None or self.lines[self.at].startswith(REFUSALS):
            return
        if match[1] == 'P':
            job['project'] = match[2]
        elif match[1] == 'dl':
            job['deadline'] = utc(match[2], '%Y%m%d%H%M.%S')
        else:
            job[{'js': 'job_share', 'ot': 'override_tickets', 'p': 'posix_priority'}[match[1]]] = int(match[2])
        self.move_to_list_end(job)

    def hold_or_release(self, match):
        for number in map(int, re.findall(r'\b\d+\b', match[1])):
            if number in self.jobs:
                self.move_to_list_end(self.jobs[number])

    def set_key(self, match):
        self.jobs[int(match[2])][match[1]] = number_or_text(match[3])

    def clock(self, match):
        self.now, self.is_now_exact = int(match[2]), match[1] is not None

    # --- tables ---

    def heading(self, match):
        self.title = match[0].strip('= ')

    def xml_table(self, match):
        columns = [(word.group(), word.start()) for word in re.finditer(r'\S+', match[0])]
        ends = [start for _, start in columns[1:]] + [None]
        rows = []
        while line := self.next_if(r'  +\d.*'):
            cell = {name: line[0][start:end].strip() for (name, start), end in zip(columns, ends)}
            if cell['dept'] != 'defaultdepartment':
                self.departments.setdefault(cell['dept'], {})
            cells = {XML_COLUMNS[name]: cell[name] for name in XML_COLUMNS if name in cell}
            rows.append(self.row(cell['job'], cell['state'], cell['task'], cells))
        self.listed = rows
        return self.table('-xml', rows)

    def plain_table(self, match):
        kind = '-urg' if ' urg ' in match[0] else '-pri' if ' ppri ' in match[0] else '-ext'
        rows = []
        while line := self.next_if(r'-+$| +\d.*'):
            words = line[0].split()
            if len(words) < 2:
                continue
            state, *after = line[0][match[0].index(' state ') + 1:].split()
            cells = dict(zip(PLAIN_COLUMNS[kind], words[1:]))
            if kind == '-ext':  # tickets are wider than their columns
                after = after[0 if 'q' in state else 3:]
                cells.update(zip(['TICKETS', 'OVERRIDE', 'FUNCTIONAL', 'SHARE'], [after[0], *after[2:5]]))
                after = after[6:]
            else:
                self.note_submission(int(words[0]), state, after)
                after = line[0][match[0].index(' slots ja-'):].split()
            task = after[-1] if len(after) > (1 if 'q' in state or kind != '-ext' else 2) else '-'
            rows.append(self.row(words[0], state, task, cells))
        shown = {row['job'] for row in rows}
        return self.table(kind, rows + [dict(row, cells={}) for row in self.listed if row['job'] not in shown])

    def note_submission(self, number, state, after):
        if state == 'qw' and number in self.jobs and number not in self.submissions:
            self.jobs[number]['submit'] = utc(' '.join(after[:2]), '%m/%d/%Y %H:%M:%S')

    @staticmethod
    def row(number, state, tasks, cells):
        cells = {column: text for column, text in cells.items() if text not in ('NA', '', '-')}
        return {'job': int(number), 'state': state, 'pending_tasks': task_count(tasks) if 'q' in state else 0, 'cells': cells}

    def table(self, kind, rows):
        if not rows or any(row['job'] not in self.jobs for row in rows):
            return None
        cluster = copy.copy(self)
        for name in ('users', 'projects', 'departments', 'resources', 'urgency_slots', 'own_settings', 'injected', 'jobs'):
            setattr(cluster, name, copy.deepcopy(getattr(self, name)))
        return {'title': self.title, 'kind': kind, 'rows': rows, 'cluster': cluster}


# Forms of lines, and the methods that read them. The first form that matches counts.
FORMS = [(re.compile(form), method) for form, method in [
    (r'user (\S+): oticket=(\d+) fshare=(\d+)', Session.user),
    (r'project (\S+): oticket=(\d+) fshare=(\d+)', Session.project),
    (r'department (\S+): fshare=(\d+) oticket=(\d+) entries=(\S+)', Session.department),
    (r'sched_conf: base with: ?(.*)', Session.configuration),
    (r'setting (\S+) (\S+)', Session.own_setting),
    (r'(\w+) +\S+ +([A-Z]+) +\S+ +YES +\S+ +\S+ +(-?[\d.]+)$', Session.complex),
    (r'complex (\S+) (\S+) (\S+)', Session.complex),
    (r'== (?:urgency of .* to \d+)', Session.urgency_changed),
    (r'pe (\S+) urgency_slots (\w+)', Session.slots_rule),
    (r'== (\w+) urgency_slots (\w+)', Session.slots_rule_heading),
    (r'root@qm modified "(\w+)" in parallel environment list', Session.environment_modified),
    (r'== queue enabled', Session.queue_enabled),
    (r'free slots (\d+)', Session.free),
    (r"inject (\S+)/(\S+): usage='([^']*)' usage_time_stamp=(\S+)(?: project='([^']*)')?", Session.inject),
    (r'usage_time node_name user_name project_name usage cpu mem io', Session.share_monitor),
    (r'No share tree', Session.no_share_tree),
    (r'decay (from|until) here', Session.decay),
    (r'\$ qconf -sstree', Session.share_tree),
    (r'\$ \[as (\S+)\] qsub (.*)', Session.submit),
    (r'\$ (?:as \S+ )?qalter -(js|ot|p|P|dl) (\S+) (\d+)', Session.alter),
    (r'\$ (?:as \S+ )?(?:qhold|qrls) (.*)', Session.hold_or_release),
    (r'set (\w+) of (\d+): (\S+)', Session.set_key),
    (r'(now )?(\d{10})$', Session.clock),
    (r'== (.*)', Session.heading),
    (r'  job +name .*', Session.xml_table),
    (r'job-ID +prior .*', Session.plain_table),
]]


def read(path):
    """Every table of a recording."""
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
