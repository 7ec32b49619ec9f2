"""Converts recordings of Slurm 22.05.8's multifactor priority to scenarios: documents that `fairlead prio -f` reads.

A case is a folder: the cluster (slurm.conf), the associations and their usage (assoc.psv, sshare.psv), qos.psv, the jobs
(scontrol-job.txt), the program's log of every factor (priority-log.txt), and sprio -n (sprio-normal.txt). scenario(folder)
is the input; logged(folder) and normalized(folder) are expected outputs: {(job, partition): {column: text}}.

usage: slurm_priority.py FOLDER     prints the scenario; a FOLDER is one of slurm-priority/
"""
import calendar
import csv
import json
import pathlib
import re
import sys
import time

# Factor in the log -> column of an answer.
LOGGED = {'Age': 'AGE', 'Assoc': 'ASSOC', 'Fairshare': 'FAIRSHARE', 'JobSize': 'JOBSIZE', 'Partition': 'PARTITIONFACTOR',
          'QOS': 'QOS'}
SETTINGS = re.compile(r'Priority(Weight\w+|MaxAge|Flags|FavorSmall)$|AccountingStorageTRES$|FairShareDampeningFactor$')


def utc(text):
    return calendar.timegm(time.strptime(text, '%Y-%m-%dT%H:%M:%S'))


def table(path, names=None):
    with open(path, encoding='utf-8', newline='') as file:
        return list(csv.DictReader(file, fieldnames=names, delimiter='|', quoting=csv.QUOTE_NONE))


def hosts_of(text):
    """n[1-3] as n1, n2, n3."""
    match = re.match(r'(\w+)\[(\d+)-(\d+)\]$', text)
    return [match[1] + str(i) for i in range(int(match[2]), int(match[3]) + 1)] if match else [text]


def configuration(folder):
    """slurm.conf: the settings (a later line overrides an earlier one), and the lines of nodes and partitions."""
    settings, nodes, partitions = {}, [], []
    for line in (folder / 'slurm.conf').read_text().splitlines():
        pairs = dict(item.split('=', 1) for item in line.split())
        if 'NodeName' in pairs:
            nodes.append(pairs)
        elif 'PartitionName' in pairs:
            partitions.append(pairs)
        else:
            settings.update((key, value) for key, value in pairs.items() if SETTINGS.match(key))
    return settings, nodes, partitions


def host_rows(nodes):
    rows = []
    for node in nodes:
        gres = {'gres': {kind: int(count) for kind, count in [node['Gres'].split(':')]}} if 'Gres' in node else {}
        for name in hosts_of(node['NodeName']):
            rows.append({'name': name, 'cpus': int(node['CPUs']), 'mem': int(node['RealMemory']), **gres})
    return rows


def partition_rows(partitions):
    rows = []
    for partition in partitions:
        row = {'name': partition['PartitionName']}
        if partition['Nodes'] != 'ALL':
            row['hosts'] = hosts_of(partition['Nodes'])
        keys = ('MaxTime', 'PriorityJobFactor', 'TRESBillingWeights')
        row.update((key, partition[key]) for key in keys if key in partition)
        rows.append(row)
    return rows


def tree_rows(folder):
    usage = {row['ID']: float(row['RawUsage']) for row in table(folder / 'sshare.psv')}
    rows = []
    for row in table(folder / 'assoc.psv', ['id', 'account', 'user', 'shares', 'priority']):
        if row['account'] == 'root' and not row['user']:
            continue
        entry = {'account': row['account'], 'shares': int(row['shares'])}
        if row['user']:
            entry.update(user=row['user'], usage=usage[row['id']])
        if row['priority']:
            entry['priority'] = int(row['priority'])
        rows.append(entry)
    return rows


def duration_s(text):
    """Seconds of 1-00:00:00 or 00:10:00."""
    days, _, clock = text.rpartition('-')
    hours, minutes, seconds = (int(part) for part in clock.split(':'))
    return ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds


def job_row(pairs, logged_jobs):
    number = int(pairs['JobId'])
    tres = ','.join(item for item in pairs['TRES'].split(',') if not item.startswith('billing='))
    row = {'id': number, 'user': pairs['UserId'].split('(')[0], 'account': pairs['Account'], 'qos': pairs['QOS'],
           'partition': pairs['Partition'].split(','), 'submit': utc(pairs['SubmitTime']),
           'time_limit_s': duration_s(pairs['TimeLimit']), 'tres': tres, 'nice': int(pairs['Nice'])}
    if pairs['Reason'] == 'JobHeldUser':
        row['state'] = 'HELD'
    else:
        row['eligible'] = utc(pairs['AccrueTime'] if pairs['AccrueTime'] != 'Unknown' else pairs['EligibleTime'])
        if number not in logged_jobs:
            row['set_priority'] = int(pairs['Priority'])  # set by an operator, so not computed and not logged
    return row


def jobs_of(folder):
    for line in (folder / 'scontrol-job.txt').read_text().splitlines():
        yield dict(re.findall(r'(\S+?)=(\S*)', line))


def log_lines(folder):
    for line in (folder / 'priority-log.txt').read_text().splitlines():
        stamp, _, text = line.partition(' ')
        yield stamp, text


def scenario(folder):
    folder = pathlib.Path(folder)
    settings, nodes, partitions = configuration(folder)
    answers = logged(folder)
    logged_jobs = {number for number, _ in answers}
    return {
        'now': min(utc(stamp.split('.')[0]) for stamp, text in log_lines(folder) if text.startswith('Job ')),
        'settings': {**settings, 'FairTreeTies': 'slurm'},
        'hosts': host_rows(nodes),
        'partitions': partition_rows(partitions),
        'qos': [{'name': row['name'], 'priority': int(row['priority']), 'usage_factor': float(row['factor'])}
                for row in table(folder / 'qos.psv', ['name', 'priority', 'factor'])],
        'tree': tree_rows(folder),
        'jobs': [job_row(pairs, logged_jobs) for pairs in jobs_of(folder)],
    }


def logged_partition(partitions, priorities, total):
    """The partition whose factors are logged: that of which total, rounded to two decimals, has the logged whole part.

    Of a job in several partitions it is the one that the scheduler tried last (in favorlarge the last, else the first).
    """
    return next(name for name in partitions if name not in priorities or -0.005 <= total - int(priorities[name]) <= 1.005)


def logged(folder):
    """Every factor, term and total of the log, as text: rounded, with the digits that the log shows.

    Columns: a term's own name; 'FACTOR AGE' before weighting; 'TRES cpu', 'FACTOR TRES cpu'; SUM is the total, WHOLE AGE and
    WHOLE TRES are these terms as the line of the total shows them. For a job in several partitions the log has the factors in
    one of them, and the PRIORITY, truncated, in each.
    """
    folder = pathlib.Path(folder)
    partitions_of = {int(pairs['JobId']): pairs['Partition'].split(',') for pairs in jobs_of(folder)}
    answers, cells, priorities = {}, {}, {}
    for _, text in log_lines(folder):
        term = re.match(r'Weighted (\w+) priority is (\S+) \* (\S+) = (\S+)', text)
        tres = re.match(r'Weighted TRES:(\S+) is (\S+) \* (\S+) = (\S+)', text)
        several = re.match(r'PRIO: JobId=(\d+) multi-partition priorities: (.*)', text)
        total = re.match(r'Job (\d+) priority: (\S+) \+ +(\S+) .* \+ +(\S+) - (-?\d+) = (\S+)', text)
        if term or tres:
            name = LOGGED[term[1]] if term else 'TRES ' + tres[1]
            cells['FACTOR ' + name], cells[name] = (term or tres)[2], (term or tres)[4]
        elif several:
            priorities = dict(item.split('=') for item in several[2].split(', '))
            for name, priority in priorities.items():
                answers.setdefault((int(several[1]), name), {})['PRIORITY'] = priority
        elif total:
            cells.update({'SITE': total[2], 'WHOLE AGE': total[3], 'WHOLE TRES': total[4], 'NICE': total[5], 'SUM': total[6]})
            partition = logged_partition(partitions_of[int(total[1])], priorities, float(total[6]))
            answers.setdefault((int(total[1]), partition), {}).update(cells)
            cells, priorities = {}, {}
    return answers


def normalized(folder):
    """The factors of sprio -n. It ran between two passes, so the age, and with it the priority, can be a second apart."""
    names = ['JOBID', 'PARTITION', 'USER', 'AGE', 'ASSOC', 'FAIRSHARE', 'JOBSIZE', 'PARTITIONFACTOR', 'QOS', 'TRES']
    rows = {}
    for line in (pathlib.Path(folder) / 'sprio-normal.txt').read_text().splitlines()[1:]:
        row = dict(zip(names, line.split(' ')))
        rows[int(row['JOBID']), row['PARTITION']] = {name: row[name] for name in names[4:]}
    return rows


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__.strip())
    try:
        document = scenario(arguments[0])
    except OSError as error:
        sys.exit('%s: %s' % (error.filename, error.strerror))
    json.dump(document, sys.stdout, indent=2)
    print()


if __name__ == '__main__':
    main(sys.argv[1:])
