"""Replays recorded cases of Slurm's limits through the engine (limits-driver), step by step.

slurm-limits/CASE.txt are the recordings (slurm-limits/ORIGIN.md): changes of limits, submissions, and after each step the
jobs, the starts in order and the counters. replay(path) does the same with the engine, and says what was compared and what
differs.

usage: slurm_limits.py CASE     prints the differences; a CASE is a file of slurm-limits/
"""
import collections
import math
import os
import pathlib
import re
import shlex
import subprocess
import sys

import slurm_limits_recording as recording

DRIVER = pathlib.Path(os.environ.get('FAIRLEAD_BUILD', 'build')) / 'tests/conformance/limits-driver'

# Seconds that the recorded commands took: a submission, a change by sacctmgr, a query, another command, a restart, the wait before
# each step, the step itself, the wait before each reading of a reason, and between two looks at a job. Slurm recalculated usage
# and reserves once a second, so submissions in a row saw the same ones: here their time passes after the last one.
SUBMIT_S, SET_S, QUERY_S, DO_S, RESTART_S = 0.2, 0.3, 0.3, 0.05, 18
STEP_S, READ_S, REASON_S, POLL_S = 2.6, 0.2, 2.3, 0.15

# Slurm looks every 30 s for running jobs whose GrpTRESMins or GrpWall is used up. The recordings do not show when; these times
# since the begin of a case, and 30 s before and after them, agree with what was ended in it.
LOOK_S, LOOKS = 30, {'20': 5, '51b': 9.4, '51d': 12.8, '95': 23, '97': 17}

# What slurm.conf had beside what all cases had, by the case's config.
STD = 'AccountingStorageEnforce=associations,limits,qos'
CONFIGS = {'std': [STD], 'safe': [STD + ',safe'], 'decay': [STD, 'halflife_s=60'],
           'decaysafe': [STD + ',safe', 'halflife_s=60'], 'nolimits': ['AccountingStorageEnforce=associations'],
           'qosonly': ['AccountingStorageEnforce=qos'], 'none': ['AccountingStorageEnforce='],
           'nojobs': [STD + ',nojobs'], 'partlimits': [STD, 'EnforcePartLimits=ALL']}

# Hosts are filled in the order of their names. The engine's own host takes no jobs.
CLUSTER = '''settings PriorityDecayHalfLife=0 PriorityWeightFairshare=0 PriorityWeightQOS=1000 default_time_s=600
settings queue_sort_method=seqno EnforcePartLimits=NO requeue_delay_s=120 charge_suspended=yes
host localhost 1 100 0
object host localhost state=DRAIN
object host n1
object host n2
object host n3
object host n4
host n1 8 16000 0
host n2 8 16000 0
host n3 8 16000 0
host n4 8 16000 2
object qos short
object qos big
object qos pq
object partition main hosts=n1,n2,n3,n4 seq_no=1,[n2=2],[n3=3],[n4=4] MaxTime=2-0 TRESBillingWeights=CPU=1.0,Mem=0.25G,GRES/gpu=4.0
object partition plain hosts=n1,n2,n3,n4 seq_no=1,[n2=2],[n3=3],[n4=4] MaxTime=2-0
object partition withq hosts=n1,n2,n3,n4 seq_no=1,[n2=2],[n3=3],[n4=4] MaxTime=2-0 QOS=pq
account a root QosLevel=normal,short,big
account b root QosLevel=normal,short,big
account a1 a
account a2 a
user root root
user alice a1
user bob a1
user alice a2
user carol a2
user dave b
user erin b'''


class Refused(Exception):
    """The engine refuses a command."""


class Driver:
    """The engine in virtual time (limits_driver.c)."""

    def __init__(self):
        self.process = subprocess.Popen([DRIVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def do(self, *words):
        """The lines of the answer."""
        self.process.stdin.write(' '.join(str(word) for word in words) + '\n')
        self.process.stdin.flush()
        lines = []
        while True:
            line = self.process.stdout.readline()
            if line == '':
                raise RuntimeError('the driver ended at: ' + ' '.join(str(word) for word in words))
            line = line.rstrip('\n')
            if line == 'ok':
                return lines
            if line.startswith('error '):
                raise Refused(line[len('error '):])
            lines.append(line)

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        if self.process.wait() != 0:
            raise RuntimeError('the driver failed')


# --- the replay -------------------------------------------------------------------------------------------------------------

# What the recordings show of usage and reserves is up to LAG_S old, because Slurm recalculated them once a second; so a value is
# compared with those of LAG_S ago and of now. Slurm also started jobs up to a second after their submission: of each job CLOCK_S
# more or less are tolerated. Minutes are cut down to whole ones.
LAG_S, CLOCK_S = 1.2, 2.4
QUERIES = ('squeue', 'sacct', 'sshare', 'scontrol')
NAMES = {'all': ('GrpJobs', 'GrpSubmitJobs', 'GrpTRES'), 'account': ('MaxJobsPA', 'MaxSubmitJobsPA', 'MaxTRESPA'),
         'user': ('MaxJobsPU', 'MaxSubmitJobsPU', 'MaxTRESPU')}
USAGE_COUNTERS = {'UsageRaw', 'GrpWall'}  # where limits are not enforced Slurm does not count more
TIMED_COUNTERS = USAGE_COUNTERS | {'GrpTRESMins', 'GrpTRESRunMins'}
COUNTERS = {name for names in NAMES.values() for name in names} | TIMED_COUNTERS
NO_NODES = 'Requested node configuration is not available'
REFUSALS = {'Invalid qos specification': r'\bqos\b|QOS',
            'Invalid account or account/partition combination specified': r'account',
            'Job(s) active, cancel job(s) before remove': r'has 2 jobs pending or running in .* cancel them first',
            'More processors requested than permitted': r'cpus|slots', 'Invalid job array specification': r'array',
            'Requested time limit is invalid (missing or exceeds some limit)': r'MaxTime', NO_NODES: r'nodes: [0-9]+ slots need'}


class Task:
    """A line of the driver's listing of jobs."""

    def __init__(self, line):
        job, task, self.state, self.reason, cpus, nodes, limit_s, self.account, self.user, self.qos, self.partition, billing, \
            usage_factor, tres = line.split(' ')
        self.key = int(job), None if task == '-' else int(task)
        self.cpus, self.nodes, self.limit_s = int(cpus), int(nodes), int(limit_s)
        self.billing, self.usage_factor = float(billing), float(usage_factor)
        self.tres = amounts(tres)

    def of(self, who, of_partition):
        """Whether a counter's name is of its associations or its QOS. of_partition: associations of one partition, 'b/erin/plain'."""
        kind, _, name = who.partition(' ')
        parents = {'a1': 'a', 'a2': 'a'}
        if kind == 'assoc':
            above = {self.account, parents.get(self.account), 'root'}
            own = self.account + '/' + self.user
            in_partition = own + '/' + self.partition
            return name in above or name == (in_partition if in_partition in of_partition else own)
        words = name.split()
        is_qos = words[0] in (self.qos, 'pq' if self.partition == 'withq' else None)
        return is_qos and (len(words) == 1 or words[-1] == (self.account if words[2] == 'account' else self.user))


def amounts(text):
    return {name: float(number) for name, number in (item.rsplit('=', 1) for item in text.split(',')) } if text != '-' else {}


class Replay:
    """A case while it runs. differences: (position, subject, recorded, computed); compared: how many, by kind; not_had: lines of the
    recording that Fairlead has no command for, with their positions."""

    def __init__(self, case, config):
        self.driver = Driver()
        self.case = case
        self.now_s = 0.0
        self.not_had = []
        self.of_partition = []
        self.ids = {}  # of jobs by name
        self.names = {}
        self.refused = set()  # names of jobs that Slurm refused
        self.others = set()  # names of jobs that a `do:` line submitted
        self.requeued = []
        self.delay_s = 0.0  # of submissions
        self.compared = collections.Counter()
        self.differences = []
        self.position = 'start'
        self.counters = COUNTERS if STD in ' '.join(CONFIGS[config]) else USAGE_COUNTERS
        for line in CLUSTER.splitlines() + ['settings ' + line for line in CONFIGS[config]]:
            self.driver.do(line)

    def check(self, kind, subject, recorded, computed):
        self.compared[kind] += 1
        if recorded != computed:
            self.differences.append((self.position, subject, str(recorded), str(computed)))

    def attempt(self, *words):
        """The lines of the answer, or the reason why the engine refuses it."""
        try:
            return self.driver.do(*words), None
        except Refused as refusal:
            return [], str(refusal)

    def change(self, *words):
        """A command that is not refused."""
        _, refusal = self.attempt(*words)
        if refusal is not None:
            self.differences.append((self.position, ' '.join(str(word) for word in words), 'done', refusal))

    def wait(self, seconds):
        seconds = float(seconds) + self.delay_s
        self.driver.do('advance', seconds)
        self.now_s += seconds
        self.delay_s = 0.0

    def tasks(self):
        """Without earlier launches of tasks that were requeued: those are in self.requeued."""
        lines = [Task(line) for line in self.driver.do('jobs')]
        self.requeued = [task for task in lines if task.state == 'REQUEUED']
        return {task.key: task for task in lines if task.state != 'REQUEUED'}

    # --- submissions

    def submit(self, name, user, run_s, options):
        """The reason of a refusal, or None."""
        lines, refusal = self.attempt('submit', user, run_s, 'name=' + name, 'directory=/', 'command=true', *recording.job_fields(options))
        if refusal is None:
            number = int(lines[0].split()[1])
            self.ids[name], self.names[number] = number, name
        self.delay_s += SUBMIT_S
        return refusal

    def check_refusal(self, subject, recorded, computed):
        """recorded, computed: the reason, or None for an accepted submission."""
        pattern = REFUSALS.get(recorded, r'\b%s\b' % re.escape(recorded or ''))
        if recorded is not None and computed is not None and re.search(pattern, computed):
            computed = recorded
        self.check('refusals' if recorded is not None else 'acceptances', subject, recorded or 'accepted', computed or 'accepted')

    def on_submit(self, event):
        text, _, result = event.text.rpartition(' -> ')
        pairs = dict(re.findall(r'(user|account|sleep|options)=("[^"]*"|\S*)', text))
        options = recording.option_values(pairs['options'].strip('"'))
        options.setdefault('A', pairs.get('account'))
        named = 'user' in pairs
        recorded = None
        if result != 'ok':
            lines = [line.partition('error: ')[2] for line in event.lines] if named else [result.split()[-1]]
            recorded = lines[0].removeprefix('Batch job submission failed: ')
        name = text.split()[0] if named else 'p1'
        if recorded is not None:
            self.refused.add(name)
        computed = self.submit(name, pairs.get('user', 'alice'), pairs.get('sleep', '600'), options)
        self.check_refusal('%s %s' % (name, pairs['options']), recorded, computed)

    def on_refusal(self, event):
        """A limit alone, and the reason why it refuses a job: case 49j."""
        limit, _, result = event.text.partition(' -> ')
        kind, name, pair = limit.split()
        self.change(*recording.change_of('modify %s %s set %s' % (kind, name, pair)))
        options = recording.option_values('-H -A a1 -q short -N1 -n4 --mem=500 --gres=gpu:1 -t10')
        self.check_refusal(limit, result.split()[-1], self.submit('p', 'alice', '600', options))
        self.change(*recording.change_of('modify %s %s set %s=-1' % (kind, name, pair.rpartition('=')[0])))

    # --- changes

    def on_set(self, event):
        if self.case in LOOKS:
            self.driver.do('looked', (self.now_s - LOOKS[self.case]) % LOOK_S)
        self.change(*recording.change_of(event.text))
        self.wait(SET_S)

    def on_do(self, event):
        text, _, status = event.text.partition(' -> rc=')
        words = text.split()
        if text.startswith('wait until '):
            self.wait_until_ended(words[2])
        elif words[0] == 'wait':
            self.wait(words[1])
        elif words[0] == 'scancel':
            self.cancel(words[1:])
        elif text == 'restart slurmctld':
            self.change('restart')
            self.wait(RESTART_S)
        elif text.startswith('scontrol update '):
            self.update(words[2:], status == '0', event)
        elif words[:2] in (['scontrol', 'hold'], ['scontrol', 'release'], ['scontrol', 'requeue'],
                             ['scontrol', 'suspend'], ['scontrol', 'resume']):
            self.change(words[1], 'root', self.ids[words[2]])
        elif text.startswith('sacctmgr -i modify '):
            self.change(*recording.change_of(text))
        elif ' add user ' in text:
            name, account, partition, pairs = recording.user_of(text)
            self.of_partition.append('%s/%s/%s' % (account, name, partition))
            self.change('user', name, account, 'partition=' + partition, *pairs)
        elif ' delete user ' in text:
            self.check_refusal(text, self.refusal_of(event), self.attempt('delete-user', *recording.user_of(text)[:3])[1])
        elif words[:2] == ['scontrol', 'requeuehold']:
            self.requeue_and_hold(words[2], status == '0')
        elif words[:2] == ['sbatch', '--test-only']:
            self.test_only(words[2:], event)
        elif words[0] in ('srun', 'salloc') and words[1].startswith('-I'):
            self.submit_immediate(text, status == '0')
        elif words[0] in QUERIES:
            self.query(text, [line.removeprefix('out: ') for line in event.lines])
        elif words[0] == 'sbatch' and words[1] == '--parsable':
            self.submit_and_ask(text, [line.removeprefix('out: ') for line in event.lines])
        else:
            self.not_had.append((self.position, event.text))
        self.wait(DO_S if words[0] in ('scontrol', 'scancel') or text.startswith('wait ') and words[1].isdigit() else QUERY_S)

    def requeue_and_hold(self, name, is_accepted):
        """Refused of a job that waits, which j1 did in Slurm: see replay()."""
        _, refusal = self.attempt('requeue-hold', 'root', self.ids[name])
        self.driver.do('passes', 'on')
        self.check('updates', 'requeuehold ' + name, 'accepted' if is_accepted else 'refused', 'accepted' if refusal is None else 'refused')

    def test_only(self, words, event):
        """'Job 1084 to start at TIME using 4 processors on nodes n1 in partition main': at once, like all tests here."""
        cpus, nodes, partition = re.search(r'using (\d+) processors on nodes (\S+) in partition (\S+)', event.lines[0]).groups()
        options = recording.option_values(' '.join(words).partition(' --wrap')[0])
        test = ['test', 'alice', 1, 'name=t', 'directory=/', 'command=true', *recording.job_fields(options)]
        start = '0 %s %s@%s=%s' % (cpus, partition, nodes, cpus)
        self.check('values', '--test-only', start, self.driver.do(*test)[0])
        self.change('settings', 'AccountingStorageEnforce=associations')
        self.check('values', '--test-only without limits', start, self.driver.do(*test)[0])
        self.change('settings', STD)

    def submit_immediate(self, text, is_accepted):
        """srun or salloc with -ISECONDS: it starts in time, or nothing of it is left."""
        options = recording.option_values(re.sub(r'^\w+ | true.*', '', text))
        name = 'immediate%d' % len(self.ids)
        self.others.add(name)
        refusal = self.submit(name, 'alice', 1, options)
        self.wait(float(options['I']) + 0.1)
        states = [task.state for task in self.tasks().values() if task.key[0] == self.ids.get(name)]
        is_started = refusal is None and states != ['CANCELLED']
        self.check('acceptances' if is_accepted else 'refusals', text, 'started' if is_accepted else 'not started',
                   'started' if is_started else 'not started')

    # --- queries

    def query(self, text, lines):
        """What squeue, sacct, sshare and scontrol show job print, as far as the driver has it."""
        words = text.split()
        if words[0] == 'sshare' and 'RawUsage' in text:
            names = re.search(r'-o (\S+)', text)[1].split(',')
            return self.check_usage([dict(zip(names, line.split('|'))) for line in lines])
        if words[0] == 'squeue' and "'%K %T %r'" in text:
            return self.check_array(words[words.index('-j') + 1], lines)
        if words[0] == 'squeue' and "'%j %T %r'" in text:
            return self.check_states([line.split() for line in lines])
        if words[0] == 'sacct' and 'JobName,State,ExitCode' in text:
            return self.check_states([line.split('|')[:2] + ['None'] for line in lines])
        if words[:3] == ['scontrol', 'show', 'job'] and 'Reason=' in text:
            return self.check_reason(words[3], lines[0].partition('=')[2], self.tasks()[self.ids[words[3]], None])
        if words[:4] == ['scontrol', '-d', 'show', 'job']:
            task = self.tasks()[self.ids[words[4]], None]
            nodes, cpus = re.search(r'NumNodes=(\d+) NumCPUs=(\d+)', lines[0]).groups()
            return self.check('values', words[4] + ' nodes and CPUs', (int(nodes), int(cpus)), (task.nodes, task.cpus))
        return self.not_had.append((self.position, text))

    def check_states(self, rows):
        """rows: name, state, reason."""
        for name, state, reason in rows:
            task = self.tasks()[self.ids[name], None]
            self.check('states', name + ' state', state, task.state)
            self.check_reason(name, reason, task)

    def check_array(self, name, lines):
        """Lines such as '3-5 PENDING AssocGrpJobsLimit'."""
        tasks = self.tasks()
        for numbers, state, reason in map(str.split, lines):
            first, _, last = numbers.partition('-')
            for number in range(int(first), int(last or first) + 1):
                task = tasks[self.ids[name], number]
                self.check('states', '%s_%d state' % (name, number), state, task.state)
                self.check_reason('%s_%d' % (name, number), reason, task)

    def check_usage(self, rows):
        """Of sshare: usage in seconds and minutes, and what running jobs reserve, in minutes. All of it moves with the clock."""
        counters = {}
        for row in rows:
            who = 'assoc ' + row['Account'] + ('/' + row['User'] if row['User'] else '')
            counters[who, 'UsageRaw', ''] = float(row['RawUsage'])
            for column, name in (('GrpTRESRaw', 'GrpTRESMins'), ('TRESRunMins', 'GrpTRESRunMins')):
                counters.update({(who, name, tres): amount for tres, amount in amounts(row.get(column, '-')).items()})
        tasks = self.tasks()
        self.check_counters(counters, self.computed_counters(), [*tasks.values(), *self.requeued], counters)

    @staticmethod
    def refusal_of(event):
        """The reason that sacctmgr prints, or None."""
        lines = [line.partition('Error with request: ')[2] for line in event.lines]
        return next(filter(None, lines), None)

    def wait_until_ended(self, name):
        """As the recording did, for a minute at most."""
        for _ in range(400):
            states = {task.state for task in self.tasks().values() if task.key[0] == self.ids[name]}
            if not states & {'PENDING', 'STARTING', 'RUNNING', 'COMPLETING'}:
                return
            self.wait(POLL_S)

    def cancel(self, words):
        """scancel does nothing if one of the jobs does not exist."""
        if words[0] == '-u':
            references = [self.ids[name] for name in self.ids]
        elif self.refused.intersection(words):
            return
        else:
            references = [str(self.ids[word.partition('_')[0]]) + ''.join(word.partition('_')[1:]) for word in words]
        live = {'%d' % task.key[0] for task in self.tasks().values() if task.state in ('PENDING', 'RUNNING')}
        references = [reference for reference in references if str(reference).partition('_')[0] in live]
        if references:
            self.change('cancel', 'root', *references)

    def update(self, words, is_accepted, event):
        """By root, or as a row of UPDATED_BY_USER says by the job's user."""
        pairs = dict(word.split('=') for word in words)
        name = pairs.pop('jobid')
        fields = {'timelimit': lambda v: 'time_limit_s=%d' % recording.time_limit_s(v), 'qos': lambda v: 'qos=' + v,
                  'account': lambda v: 'account=' + v, 'numcpus': lambda v: 'cpus=' + v}
        pairs.pop('numtasks', None)
        user = 'alice' if event.text in UPDATED_BY_USER else 'root'
        _, refusal = self.attempt('update', user, self.ids[name], *[fields[key](value) for key, value in pairs.items()])
        self.check('updates', event.text.partition(' -> ')[0], 'accepted' if is_accepted else 'refused',
                   'accepted' if refusal is None else 'refused' if not is_accepted else 'refused: ' + refusal)

    def submit_and_ask(self, text, lines):
        """sbatch -J NAME ... --wrap 'sleep N'; ...; squeue -n NAME -o '%j %T %l %r', or for all jobs '%j %u %a %T %r'."""
        for command in text.split(';'):
            words = shlex.split(command.replace('>/dev/null', '').replace('> /dev/null', '').partition('|')[0])
            if words[0] == 'sbatch':
                options = recording.option_values(shlex.join(word for word in words[1:] if word not in ('--parsable', '--wrap') and
                                                   not word.startswith(('sleep ', '--uid='))))
                if '--uid' not in command:
                    self.others.add(options['J'])
                    self.submit(options.pop('J'), 'root' if options['A'] == 'root' else 'alice', 600, options)
            elif words[0] == 'sleep':
                self.wait(words[1])
        tasks = {self.names[task.key[0]]: task for task in self.tasks().values()}
        for line in lines:
            name, *cells = line.split()
            if cells[-1] == 'None' and 'PENDING' in cells:
                continue  # not looked at yet
            self.check('states', name, [cell for cell in cells if cell.isupper()][0], tasks[name].state)
            self.check_reason(name, cells[-1], tasks[name])

    # --- steps

    def check_reason(self, subject, recorded, task):
        """A job that was not looked at yet has the reason None."""
        if task.state == 'PENDING' and recorded != 'None':
            self.check('reasons', subject + ' reason', recorded, task.reason)

    def on_reason(self, event):
        name, state, reason = event.text.split()
        self.wait(REASON_S)
        task = self.tasks()[self.ids[name], None]
        self.check('states', name, state, task.state)
        self.check_reason(name, reason, task)

    def on_step(self, event):
        is_at_once = event.text == 'right after j1 ended'
        self.wait(0 if is_at_once else STEP_S - LAG_S)
        before = self.computed_counters()
        self.wait(0.1 if is_at_once else LAG_S)
        tasks = self.tasks()
        for line in event.lines:
            if line.count('|') >= 11 and not line.startswith('jobs:'):
                self.check_job(line.split('|'), tasks)
        starts = [line.removeprefix('started: ').split() for line in event.lines if line.startswith('started: ')]
        computed = [self.task_name(*line.split()) for line in self.driver.do('starts')]
        for index, recorded in enumerate(starts[0] if starts else []):
            self.check('starts', 'start %d' % (index + 1), recorded, computed[index] if index < len(computed) else 'none')
        for name in computed[len(starts[0] if starts else []):]:
            self.check('starts', 'another start', 'none', name)
        self.check_counters(recording.counters_of(event.lines, self.of_partition), before, [*tasks.values(), *self.requeued])
        self.wait(READ_S)

    def task_name(self, job, task):
        name = self.names[int(job)]
        return 'other' if name in self.others else name + ('' if task == '-' else '_' + task)

    def check_job(self, cells, tasks):
        name, _, account, qos, partition, state, reason, cpus, nodes, _, _, limit = cells[:12]
        job, _, number = name.partition('_')
        if job not in self.ids:
            self.check('states', name, state, 'refused')
            return
        task = tasks.get((self.ids[job], int(number) if number else None))
        if task is None:
            self.check('states', name, state, 'not listed')
            return
        self.check('states', name + ' state', state, task.state)
        self.check_reason(name, reason, task)
        for what, recorded, computed in (('account', account, task.account), ('QOS', qos, task.qos), ('CPUs', int(cpus), task.cpus),
                                         ('partition', partition, task.partition),
                                         ('time limit', recording.shown_limit_s(limit), task.limit_s)):
            self.check('values', '%s %s' % (name, what), recorded, computed)
        if state != 'PENDING':  # of a pending job Slurm shows an estimate
            self.check('values', name + ' nodes', int(nodes), task.nodes)

    def check_counters(self, recorded, before, tasks, only=None):
        """before: those of LAG_S ago. only: the counters that are compared; None: all."""
        computed = self.computed_counters()
        for key in sorted(only if only is not None else set(recorded) | set(computed)):
            who, name, tres = key
            if name not in self.counters:
                continue
            had, both = recorded.get(key, 0.0), (computed.get(key, 0.0), before.get(key, 0.0))
            low, high = (min(both), max(both)) if name in TIMED_COUNTERS else (both[0], both[0])
            allowed = tolerance(name, tres, [task for task in tasks if task.of(who, self.of_partition)])
            self.compared['counters'] += 1
            if had < low - allowed or had > high + allowed:
                self.differences.append((self.position, ' '.join(key).strip(), '%g' % had, '%g to %g, tolerance %.3g' %
                                         (low, high, allowed) if name in TIMED_COUNTERS else '%g' % low))

    def computed_counters(self):
        """As counters_of, without what is 0."""
        found = {}
        for line in self.driver.do('counters'):
            who, jobs, submitted, usage, wall_s, tres, tres_s, run_s = line.split('|')
            kind = who.split()[3] if ' per ' in who else 'all'
            names = NAMES[kind]
            found[who, names[0], ''], found[who, names[1], ''] = float(jobs), float(submitted)
            found.update({(who, names[2], name): amount for name, amount in amounts(tres).items()})
            found[who, 'UsageRaw', ''], found[who, 'GrpWall', ''] = float(usage), float(wall_s) / 60
            for name, text in (('GrpTRESMins', tres_s), ('GrpTRESRunMins', run_s)):
                found.update({(who, name, key): math.floor(amount / 60 + 1e-9) for key, amount in amounts(text).items()})
        return {key: value for key, value in found.items() if value != 0}


def rate_of(task, tres):
    return math.floor(task.billing) if tres == 'billing' else task.tres.get(tres, 0.0)


def tolerance(name, tres, tasks):
    """Of a counter of these tasks."""
    if name == 'UsageRaw':
        return CLOCK_S * sum(task.billing * task.usage_factor for task in tasks) + 0.01
    if name == 'GrpWall':
        return CLOCK_S * sum(task.usage_factor for task in tasks) / 60 + 0.01
    if name in ('GrpTRESMins', 'GrpTRESRunMins'):
        return CLOCK_S * sum(rate_of(task, tres) * task.usage_factor for task in tasks) / 60 + 1.001
    return 0.0


# The recordings do not say which user ran these.
UPDATED_BY_USER = {'scontrol update jobid=j3 timelimit=30 -> rc=0', 'scontrol update jobid=j3 qos=short timelimit=16 -> rc=1',
                   'scontrol update jobid=j3 qos=short -> rc=0', 'scontrol update jobid=j3 timelimit=16 -> rc=0',
                   'scontrol update jobid=j1 timelimit=25 -> rc=1', 'scontrol update jobid=j3 account=a2 -> rc=0'}


def replay(path):
    """The finished Replay of a recording."""
    config, events = recording.read(path)
    run = Replay(pathlib.Path(path).stem.partition('-')[0], config)
    try:
        if any(event.kind == 'do' and event.text.startswith('scontrol requeuehold') for event in events):
            run.driver.do('passes', 'off')  # Slurm, which looked once a second, had not started the job yet
        for number, event in enumerate(events):
            run.position = event.text if event.kind == 'step' else '%s %d' % (event.kind, number)
            getattr(run, 'on_' + event.kind)(event)
    finally:
        run.driver.close()
    return run


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__.strip())
    run = replay(arguments[0])
    for position, subject, recorded, computed in run.differences:
        print('%s: %s: recorded %s, computed %s' % (position, subject, recorded, computed))
    for position, text in run.not_had:
        print('%s: not had: %s' % (position, text))
    print(dict(run.compared), '%d differ' % len(run.differences))


if __name__ == '__main__':
    main(sys.argv[1:])
