"""The recorded answers of Grid Engine 8.1.9 about waiting jobs (grid-engine-reasons/), and the cell in which they were given.

read(path) yields the jobs of the recording in order:

    job     {'name', 'id', 'job': grid_engine_schedule.Job, 'words': further options, 'answers': {question: (lines, status)}}

where a question is 'info' (the scheduling info of `qstat -j`), 'w-v' or 'w-p' (`qalter -w`). scenario(jobs) is the cell with these jobs.
"""
import re
import shlex

import grid_engine_schedule as schedule

NOW = 1795312000
# What ran, from the schedule file of the same cell: places by job, the licences of a job, how it is suspended.
RUNNING = [
    {'id': 3, 'user': 'ua', 'places': {'all.q@n1': 1}}, {'id': 14, 'user': 'ua', 'places': {'all.q@n4': 1}, 'request': {'license': 5}},
    {'id': 2, 'user': 'ub', 'places': {'all.q@n1': 2, 'all.q@n2': 1}, 'pe': 'rr', 'slots': 3},
    {'id': 6, 'user': 'ub', 'places': {'high.q@n4': 1}}, {'id': 15, 'user': 'ub', 'places': {'all.q@n1': 4}, 'pe': 'smp', 'slots': 4},
    {'id': 20, 'user': 'ub', 'places': {'all.q@n3': 1}}, {'id': 123, 'user': 'ub', 'places': {'all.q@n4': 1}},
    {'id': 7, 'user': 'uc', 'places': {'susp.q@n2': 1}, 'suspended_by': 'threshold'},
    {'id': 8, 'user': 'ua', 'places': {'all.q@n1': 1}, 'suspended_by': 'user'},
]
# load_avg; the scheduler's value of n3 is scaled. mem_free as the answers have it, in MiB.
LOADS = {'n1': .20, 'n2': 6.00, 'n3': .75, 'n4': .05}
MEM_FREE = '23020.5M'
# By hand: all.q@n4 is disabled, long.q@n3 suspended, and so is long.q@n4, as a subordinate of high.q. The suspend threshold of susp.q
# is a load threshold here.
PARTITIONS = [
    {'name': 'all.q', 'slots': '8,[n3=2]', 'pe_list': ['smp', 'rr'], 'load_thresholds': 'np_load_avg=1.75', 'state': 'UP,[n4=DRAIN]'},
    {'name': 'long.q', 'hosts': ['n3', 'n4'], 'slots': '2,[n4=3]', 'seq_no': 10, 'MaxTime': '1-0', 'pe_list': ['smp'], 'state': 'DOWN'},
    {'name': 'high.q', 'hosts': ['n4'], 'slots': 1, 'seq_no': 5},
    {'name': 'susp.q', 'hosts': ['n2'], 'slots': 2, 'seq_no': 20, 'load_thresholds': 'load_avg=5'},
    {'name': 'closed.q', 'hosts': ['n1'], 'slots': 1, 'closed': [['2026-01-01T00:00:00Z', None]]},
    {'name': 'acl.q', 'hosts': ['n1'], 'slots': 1, 'user_lists': ['ue']},
]
SETTINGS = {**schedule.BASE, 'max_reservation': 5, 'default_duration': '1:0:0', 'queue_sort_method': 'seqno'}


def read(path):
    jobs = {}
    for command, lines, status in blocks(path.read_text().splitlines()):
        submitted = re.match(r'\$ \[as (\w+)\] qsub (.*)', command)
        asked = re.match(r'\$ (qstat -j|qalter -w [vp]) (\d+)', command)
        found = re.match(r'Your job (\d+) ', lines[0]) if lines else None
        if submitted and found:
            jobs[int(found.group(1))] = submission(int(found.group(1)), submitted.group(1), shlex.split(submitted.group(2)))
        elif asked:
            question = 'info' if asked.group(1) == 'qstat -j' else asked.group(1)[-3:].strip().replace(' ', '-')
            question = {'w-v': 'w-v', 'w-p': 'w-p', 'info': 'info'}.get(question, 'w-' + question[-1])
            jobs[int(asked.group(2))]['answers'].setdefault(question, (sentences(lines), status))
    return list(jobs.values())


def blocks(lines):
    command, body = None, []
    for line in lines:
        if line.startswith('$ '):
            command, body = line, []
        elif re.fullmatch(r'\[\d+\]', line):
            yield command, body, int(line[1:-1])
        elif line:
            body.append(line)


def submission(number, user, words):
    """Options that grid_engine_schedule.Job does not know are taken out: they stand for themselves."""
    further = {}
    for option in ('-hold_jid', '-a', '-ckpt'):
        if option in words:
            further[option] = words[words.index(option) + 1]
            del words[words.index(option):words.index(option) + 2]
    if '-h' in words:
        further['-h'] = True
        words.remove('-h')
    words[words.index('sleeper.sh'):] = ['sleep', '300']
    job = schedule.Job(user, words)
    job.id = number
    return {'name': job.name, 'id': number, 'job': job, 'further': further, 'answers': {}}


def sentences(lines):
    """Without the heading, and the id before each sentence."""
    plain = [re.sub(r'^scheduling info:', '', line).strip() for line in lines]
    return [re.sub(r'^Job \d+ (?!dropped)', '', line) for line in plain]


def document(job):
    fields = job['job'].document(NOW)
    fields['request'] = {name: seconds(value) if name in ('h_rt', 's_rt') else value for name, value in fields['request'].items()}
    if 'h_rt' in fields['request']:
        fields['time_limit_s'] = int(fields['request']['h_rt'])
    if '-h' in job['further']:
        fields['state'] = 'HELD'
    if '-a' in job['further']:
        fields['eligible'] = '2030-01-01T00:00:00Z'
    if '-hold_jid' in job['further']:
        fields['eligible'] = None
    return fields


def seconds(text):
    total = 0
    for part in text.split(':'):
        total = total * 60 + int(part)
    return total


def running():
    for job in RUNNING:
        fields = {'submit': NOW - 700, 'start': NOW - 600, 'state': 'RUNNING', **job}
        if 'suspended_by' in job:
            fields['state'] = 'SUSPENDED'
        yield fields


def scenario(jobs):
    started = [{**document(job), 'state': 'RUNNING', 'start': NOW - 60, 'places': {'all.q@n3': 1}} for job in jobs if job['name'] == 'rqs1']
    waiting = [document(job) for job in jobs if job['name'] != 'rqs1']
    return {
        'now': NOW, 'settings': SETTINGS,
        'resources': [{'name': 'license', 'type': 'INT', 'urgency': 1000, 'amount': 5}, {'name': 'gpu', 'type': 'INT', 'urgency': 2000}],
        'hosts': [{'name': name, 'cpus': 2, 'complex_values': 'gpu=2' if name == 'n3' else 'NONE',
                   'load_values': {'num_proc': 2, 'load_avg': LOADS[name], 'arch': 'lx-amd64', 'mem_free': MEM_FREE}} for name in LOADS],
        'parallel_environments': [{'name': 'smp', 'allocation_rule': '$pe_slots', 'slots': 999},
                                  {'name': 'rr', 'allocation_rule': '$round_robin', 'slots': 999}],
        'groups': [{'name': 'fast', 'hosts': ['n1', 'n2']}],
        'partitions': PARTITIONS,
        'quotas': [{'name': 'per_user', 'rules': 'limit users {ue} to slots=1; limit users {*} hosts @fast to slots=60'}],
        'jobs': list(running()) + started + waiting,
    }
