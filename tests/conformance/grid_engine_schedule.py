"""Makes scenarios of the scheduling runs that recordings of Grid Engine 8.1.9 have, as lines of its schedule file.

read(path) yields the runs of a recording in order:

    run     {'lines': [text], 'jobs': [Job], 'settings': {}, 'disabled': {host}, 'quotas': [{}]}

scenarios(run) yields the scenarios that a run may be: which host comes first among hosts of equal load is not specified, and
whether a job that never occurs was submitted yet is not recorded.
"""
import itertools
import re
import shlex

HOSTS = ['n1', 'n2', 'n3', 'n4']
RULES = {'smp': '$pe_slots', 'rr': '$round_robin', 'fill': '$fill_up', 'two': '2', 'one': '1', 'small': '$fill_up'}
PE_SLOTS = {'small': 3}
URGENCY_SLOTS = {'rr': 'max'}
# The scheduler configuration that every recording starts from, as far as it matters here (scripts/lib.sh, BASE_SCONF).
BASE = {
    'PriorityType': 'priority/tickets', 'queue_sort_method': 'load', 'job_load_adjustments': 'NONE',
    'load_adjustment_decay_time': '0:0:0', 'load_formula': 'np_load_avg', 'params': 'none', 'schedule_interval': '0:0:2',
    'weight_ticket': 0.01, 'weight_waiting_time': 0, 'weight_deadline': 3600000, 'weight_urgency': 0.1, 'weight_priority': 1,
    'max_reservation': 0, 'default_duration': 'INFINITY',
}
RESOURCES = [
    {'name': 'license', 'type': 'INT', 'urgency': 1000, 'amount': 5},
    {'name': 'gpu', 'type': 'INT', 'urgency': 2000},
    {'name': 'bigio', 'type': 'STRING', 'urgency': 500, 'consumable': 'NO'},
]


# Why a range mostly gets no reservation is not known; here it got one, with its minimum.
AS_MINIMUM = {('b12_future_hole', 'D')}
EPOCH = 1795240000

# What a recording does not say of the cluster, from the script that made it.
#   settings        scheduler configuration
#   resources       after those above
#   complex_values  of hosts
#   partitions      besides all.q
#   all_q           more fields of all.q
#   suspended       jobs whose queue is suspended in a run that does not have them
WORLDS = {
    'b3_default_duration': {'settings': {'max_reservation': 1, 'default_duration': '0:0:50', 'schedule_interval': '0:0:6',
                                         'params': 'MONITOR=1,DURATION_OFFSET=0'}},
    'i4_consumable_kinds': {
        'resources': [{'name': 'tok', 'type': 'INT', 'consumable': 'JOB', 'amount': 6},
                      {'name': 'excl', 'type': 'BOOL', 'relop': 'EXCL', 'urgency': 1000},
                      {'name': 'qtok', 'type': 'INT'}, {'name': 'hmem', 'type': 'MEMORY', 'default_amount': '1G'}],
        'complex_values': {'n1': 'tok=4,excl=true,hmem=4G', 'n2': 'excl=true,hmem=4G'},
        'all_q': {'complex_values': 'NONE,[n3=qtok=2]'},
    },
    'i5_suspension': {
        'partitions': [{'name': 'low.q', 'hosts': ['n3'], 'slots': 2}, {'name': 'high.q', 'hosts': ['n3'], 'slots': 2},
                       {'name': 'susp.q', 'hosts': ['n2'], 'slots': 3}],
        'all_q': {'state': 'DOWN,[n1=UP]'},
        'suspended': {255: 'low.q@n3', 256: 'low.q@n3'},
    },
    'i6_calendars_limits': {'all_q': {'closed': [['2026-11-22T01:52:26Z', '2026-11-22T01:56:36Z']]}},
}


class Job:
    """A submission: `qsub -N B -p 90 -R y -q all.q@n1 -l h_rt=50,license=1 -pe smp 4 sleep 300`."""

    def __init__(self, user, words):
        self.id, self.user, self.name = None, user, ''
        self.request, self.queues, self.posix, self.reserves = {}, None, 0, False
        self.pe, self.slots, self.tasks, self.limit_s = None, (1, 1), 1, None
        self.soft_queues = self.master_queues = self.project = None
        is_soft, index = False, 0
        while index < len(words) and words[index].startswith('-'):
            option = words[index]
            if option in ('-soft', '-hard'):
                is_soft, index = option == '-soft', index + 1
                continue
            value = words[index + 1]
            index += 2
            if option == '-N':
                self.name = value
            elif option == '-p':
                self.posix = int(value)
            elif option == '-R':
                self.reserves = value == 'y'
            elif option == '-q':
                if is_soft:
                    self.soft_queues = value
                else:
                    self.queues = value
            elif option == '-P':
                self.project = value
            elif option == '-masterq':
                self.master_queues = value
            elif option == '-l':
                self.request.update(item.split('=', 1) for item in value.split(','))
            elif option == '-pe':
                low, _, high = words[index].partition('-')
                self.pe, self.slots, index = value, (int(low), int(high or low)), index + 1
            elif option == '-t':
                first, last = value.split('-')
                self.tasks = int(last) - int(first) + 1
            else:
                raise ValueError('option %s of qsub' % option)

    def document(self, now):
        job = {'id': self.id, 'user': self.user, 'submit': now - 1000, 'posix_priority': self.posix, 'reserve': self.reserves,
               'request': dict(self.request)}
        if self.queues:
            job['queues'] = self.queues
        if self.master_queues:
            job['master_queues'] = self.master_queues
        if self.soft_queues:
            job['soft_queues'] = self.soft_queues
        if self.project:
            job['project'] = self.project
        if self.pe:
            job['pe'] = self.pe
            low, high = self.slots
            job['slots'] = [low, high] if high > low else low
            if high > low:
                job['urgency_slots'] = URGENCY_SLOTS.get(self.pe, 'min')
        return job


def settings_of(text):
    """'max_reservation 10 params MONITOR=1,DURATION_OFFSET=0 schedule_interval 0:0:6'"""
    words = text.split()
    pairs = dict(zip(words[::2], words[1::2]))
    return {name: value for name, value in pairs.items() if name not in ('flush_submit_sec', 'flush_finish_sec')}


class Recording:
    def __init__(self, lines, world):
        self.lines, self.at = lines, 0
        self.settings, self.jobs, self.disabled = {**BASE, **world.get('settings', {})}, [], set()
        self.quotas = []
        self.file = []  # the runs of the schedule file so far: it is printed from its beginning

    def runs(self):
        while self.at < len(self.lines):
            line = self.lines[self.at]
            self.at += 1
            if line.startswith('sched_conf: base with:'):
                self.settings = {**BASE, **settings_of(line.split(':', 2)[2])}
            elif line == '$ qconf -ssconf':
                self.read_sconf()
            elif line == '$ qconf -srqs':
                self.read_quotas()
            elif re.match(r'\$ \[as (\w+)\] qsub ', line):
                self.read_submission(line)
            elif line.startswith('$ cat common/schedule'):
                yield from self.read_schedule()
            self.disabled |= set(re.findall(r'queue instance "all\.q@(\w+)" dropped because it is disabled', line))

    def read_sconf(self):
        while self.at < len(self.lines) and not self.lines[self.at].startswith('$'):
            name, _, value = self.lines[self.at].partition(' ')
            if name in BASE:
                self.settings[name] = value.strip()
            self.at += 1

    def read_quotas(self):
        """Resource quota sets: { name .. description .. enabled .. limit .. } each."""
        while self.lines[self.at] == '{':
            quota = {'rules': ''}
            while self.lines[self.at + 1] != '}':
                self.at += 1
                name, value = self.lines[self.at].split(None, 1)
                if name == 'limit':
                    quota['rules'] += 'limit %s\n' % value
                else:
                    quota[name] = value.strip('"')
            self.at += 2
            self.quotas.append(quota)

    def read_submission(self, line):
        words = shlex.split(line)
        job = Job(words[2].rstrip(']'), words[4:])
        found = re.match(r'  -> job (\d+)', self.lines[self.at]) if self.at < len(self.lines) else None
        if found:
            job.id = int(found.group(1))
            self.jobs.append(job)

    def read_schedule(self):
        runs = []
        while self.at < len(self.lines) and re.match(r':{8}$|\d+:\d+:[A-Z]+:', self.lines[self.at]):
            if self.lines[self.at] == ':' * 8:
                runs.append([])
            else:
                runs[-1].append(self.lines[self.at])
            self.at += 1
        is_longer = runs[:len(self.file)] == self.file
        for lines in runs[len(self.file):] if is_longer else runs:
            yield {'lines': lines, 'jobs': list(self.jobs), 'settings': dict(self.settings), 'quotas': list(self.quotas)}
        self.file = runs


def read(path):
    world = WORLDS.get(path.stem, {})
    recording = Recording(path.read_text().splitlines(), world)
    runs = list(recording.runs())
    starts = [int(line.split(':')[3]) for run in runs for line in run['lines']]
    for run in runs:  # a recording says it of pending jobs, behind the first runs too
        run['world'] = world
        run['disabled'] = set() if 'state' in world.get('all_q', {}) else recording.disabled
        run['first'] = min(starts, default=EPOCH)
        for job in run['jobs']:
            if (path.stem, job.name) in AS_MINIMUM:
                job.slots = (job.slots[0], job.slots[0])
    return runs


def now_of(run, earlier):
    """The time of a run: that of a start; from a job that is planned to end with the next run; else not before what ran."""
    interval = sum(int(part) * factor for part, factor in zip(run['settings']['schedule_interval'].split(':'), (3600, 60, 1)))
    limits = {job.id: planned_s(job, run['settings']) for job in run['jobs']}
    running = []
    for line in run['lines']:
        number, _, state, start, duration = line.split(':')[:5]
        if state == 'STARTING':
            return int(start)
        if state in ('RUNNING', 'SUSPENDED'):
            running.append(int(start))
            if limits.get(int(number)) and int(duration) != limits[int(number)]:
                return int(start) + int(duration) - interval
    return max(running + [earlier, run['first']])


def planned_s(job, settings):
    offset = re.search(r'DURATION_OFFSET=(\d+)', settings['params'])
    times = [int(job.request[name]) for name in ('h_rt', 's_rt') if name in job.request]
    return min(times) + (int(offset.group(1)) if offset else 60) if times else None


def running_documents(run, jobs, now):
    """The running jobs of a run: where each is, and since when."""
    found = {}
    for line in run['lines']:
        number, task, state, start, _, level, name, resource, amount = line.split(':')
        if state not in ('RUNNING', 'SUSPENDED'):
            continue
        job = found.setdefault((int(number), int(task)), {**jobs[int(number)].document(now), 'places': {}})
        job.update(state=state, start=int(start))
        if state == 'SUSPENDED':
            job['suspended_by'] = 'threshold'
        if level == 'Q' and resource == 'slots':
            job['places'][name] = int(float(amount))
    for number, place in run['world'].get('suspended', {}).items():
        if (number, 1) not in found:
            found[number, 1] = {**jobs[number].document(now), 'state': 'SUSPENDED', 'suspended_by': 'queue', 'places': {place: 1}}
    return found


def pending_documents(run, jobs, running, ended, now, last_id):
    """The other jobs that were submitted. Of an array, the tasks that do not run or have not ended."""
    documents = []
    for job in jobs.values():
        gone = {task for number, task in list(running) + list(ended) if number == job.id}
        if job.id > last_id or len(gone) >= job.tasks:
            continue
        document = job.document(now)
        if job.tasks > 1:
            document['array_tasks'] = job.tasks - len(gone)
        documents.append(document)
    return documents


def orders(run):
    """The orders in which hosts of equal load may have been: those that occur first, as they occur, then the others."""
    names = [host for host in HOSTS if host not in run['disabled']]
    return [list(order) + sorted(run['disabled']) for order in itertools.permutations(names)]


def scenarios(run, ended, earlier):
    now = now_of(run, earlier)
    jobs = {job.id: job for job in run['jobs']}
    running = running_documents(run, jobs, now)
    occurring = [int(line.split(':')[0]) for line in run['lines']]
    lasts = [max(jobs)] + ([max(occurring)] if occurring and max(occurring) < max(jobs) else [])
    for last_id in lasts:
        pending = pending_documents(run, jobs, running, ended, now, last_id)
        documents = list(running.values()) + pending
        for number, document in enumerate(documents):  # tasks of an array that run have numbers of their own
            if sum(other['id'] == document['id'] for other in documents) > 1:
                document['id'] = document['id'] if document in pending else 1000000 + number
        for order in orders(run):
            yield now, {'now': now, 'settings': run['settings'], **cluster(order, run['disabled'], run['world']),
                        'projects': [{'name': name} for name in sorted({job.project for job in jobs.values() if job.project})],
                        'quotas': run['quotas'], 'jobs': documents}


def cluster(order, disabled, world):
    values = world.get('complex_values', {})
    return {
        'resources': RESOURCES + world.get('resources', []),
        'hosts': [{'name': name, 'cpus': 2, 'load_values': {'num_proc': 2, 'load_avg': 0},
                   'complex_values': values.get(name, 'NONE'), 'state': 'DOWN' if name in disabled else 'UP'} for name in order],
        'parallel_environments': [{'name': name, 'allocation_rule': rule, 'slots': PE_SLOTS.get(name, 999)}
                                  for name, rule in RULES.items()],
        'partitions': [{'name': 'all.q', 'slots': 4, 'pe_list': list(RULES), **world.get('all_q', {})}]
        + world.get('partitions', []),
    }
