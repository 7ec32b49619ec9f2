"""Reads recorded cases of Slurm's limits (slurm-limits/ORIGIN.md), and translates their commands for limits-driver."""
import pathlib
import re
import shlex

UNLIMITED_S = 316224000
NODE_CPUS, NODE_MEM_MIB, NODE_COUNT = 8, 16000, 4


# --- the recording ----------------------------------------------------------------------------------------------------------

class Event:
    """A line at the left margin, with the lines that belong to it."""

    def __init__(self, line):
        self.kind, _, self.text = line.partition(': ')
        self.lines = []


def read(path):
    """The case's configuration, and its events."""
    events = []
    for line in pathlib.Path(path).read_text(encoding='utf-8').splitlines():
        if line.startswith('  '):
            events[-1].lines.append(line[2:])
        else:
            events.append(Event(line))
    head = {event.kind: event.text for event in events if event.kind in ('case', 'config')}
    return head['config'], [event for event in events if event.kind not in ('case', 'config', 'about', 'note')]


def counters_of(lines, of_partition=()):
    """{('assoc a1', 'GrpTRES', 'cpu'): used} of the recorded lines; what has no TRES has ''. of_partition: names of associations of one
    partition, 'b/erin/plain'. Slurm lists such a one as 'b/erin', too, before that of all partitions, which is older."""
    found, listed = {}, set()
    names = {'assoc ' + name.rpartition('/')[0]: 'assoc ' + name for name in of_partition}
    for line in lines:
        match = re.match(r'((?:assoc|qos) [^:]*): (.*)', line)
        if not match:
            continue
        subject = match[1] if match[1] in listed else names.get(match[1], match[1])
        listed.add(match[1])
        for item in match[2].split():
            name, _, value = item.partition('=')
            for tres, used in re.findall(r'(?:([\w/]+)=)?[^(,]*\(([\d.]+)\)', value) if '(' in value else []:
                found[subject, name, tres] = float(used)
            if name == 'UsageRaw':
                found[subject, name, ''] = float(value)
    return found


def shown_limit_s(text):
    """10:00 and 3-00:00:00."""
    if text == 'UNLIMITED':
        return UNLIMITED_S
    days, _, clock = text.rpartition('-')
    seconds = 0
    for part in clock.split(':'):
        seconds = seconds * 60 + int(part)
    return int(days or 0) * 86400 + seconds


# --- translation ------------------------------------------------------------------------------------------------------------

def option_values(text):
    """{option: value} of sbatch; short options are one letter."""
    found, words = {}, shlex.split(text)
    while words:
        word = words.pop(0)
        if word.startswith('--'):
            name, _, value = word[2:].partition('=')
        else:
            name, value = word[1], word[2:]
            if value == '' and name not in 'H':
                value = words.pop(0)
        found[name] = value
    return found


def time_limit_s(text):
    """Minutes, or D-H. 0 is no limit: here the longest one."""
    if text == '0':
        return UNLIMITED_S
    days, _, hours = text.rpartition('-')
    return int(days) * 86400 + int(hours) * 3600 if days else int(text) * 60


def mem_mib(text):
    """0 is all memory of a node."""
    mib = int(text[:-1]) * 1024 if text.endswith('G') else int(text)
    return mib if mib > 0 else NODE_MEM_MIB


def placing_fields(options):
    """Slurm spreads the tasks of a job without -N over as many nodes as they need; here the job says that it may have several."""
    fields, tasks = [], int(options.get('n', 0)) * int(options.get('c', 1))
    if tasks > 0:
        fields.append('cpus=%d' % tasks)
    if 'N' in options:
        fields.append('nodes=' + options['N'])
    elif NODE_CPUS < tasks <= NODE_CPUS * NODE_COUNT:
        fields.append('nodes=1-%d' % NODE_COUNT)
    if 'exclusive' in options:
        fields.append('exclusive=yes')
    if 'ntasks-per-node' in options:
        fields.append('slots_per_node=' + options['ntasks-per-node'])
    if 'w' in options:
        fields.append('queues=' + ','.join(options.get('p', 'main') + '@' + node for node in options['w'].split(',')))
    return fields


def job_fields(options):
    """The driver's fields of a submission."""
    fields = placing_fields(options)
    fields.append('mem_mib=%d' % mem_mib(options['mem']) if 'mem' in options else
                  'mem_per_cpu_mib=' + options.get('mem-per-cpu', '500'))
    gpus = options.get('gpus') or options.get('gres', '').rpartition(':')[2]
    if gpus:
        fields.append('gpus=' + gpus)
    if 't' in options:
        fields.append('time_limit_s=%d' % time_limit_s(options['t']))
    if 'time-min' in options:
        fields.append('time_min_s=%d' % time_limit_s(options['time-min']))
    if 'I' in options:
        fields.append('immediate_s=' + options['I'])
    if 'begin' in options:
        fields.append('begin_us=' + options['begin'].removeprefix('now+'))
    if 'H' in options:
        fields.append('held=yes')
    names = {'A': 'account', 'q': 'qos', 'p': 'partitions', 'array': 'array', 'nice': 'nice', 'd': 'dependency'}
    return fields + ['%s=%s' % (names[option], value) for option, value in options.items() if option in names]


def pairs_of(words):
    """sacctmgr's KEY=VALUE, as Fairlead spells them."""
    names = {'usagefactor': 'usage_factor', 'usagethreshold': 'usage_threshold'}
    for word in words:
        name, _, value = word.partition('=')
        if name.lower() == 'flags' and value == '-1':
            value = ''
        if name.lower() == 'usagethreshold' and value == '-1':
            value = '0'
        yield '%s=%s' % (names.get(name.lower(), name), value)


def user_of(text):
    """(user, account, partition, limits) of 'sacctmgr add user NAME account=A partition=P KEY=VALUE ...' or 'delete user where name=...'."""
    words = [word for word in text.split() if word != 'where']
    words = words[words.index('user') + 1:]
    values = dict(word.split('=', 1) for word in words if '=' in word)
    name = values.pop('name', words[0])
    return name, values.pop('account'), values.pop('partition', None), list(pairs_of('%s=%s' % pair for pair in values.items()))


def change_of(text):
    """The driver's command for 'sacctmgr modify KIND NAME [where account=A] set KEY=VALUE ...'."""
    words = text.split()
    kind, name = words[words.index('modify') + 1:][:2]
    before, after = words[:words.index('set')], words[words.index('set') + 1:]
    pairs = list(pairs_of(after))
    if kind == 'qos':
        return ['object', 'qos', name, *pairs]
    if kind == 'account':
        return ['account', name, '-', *pairs]
    account = next((word.partition('=')[2] for word in before if word.startswith('account=')), '-')
    return ['user', name, account, *pairs]
