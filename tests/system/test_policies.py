"""The policies on a running instance: objects that operators define, requests of jobs, priorities in each model, and the effect
of a changed model or weight on the job that starts next."""
import datetime
import os
import pathlib
import pwd
import re
import time

import pytest

from conftest import until

ME = pwd.getpwuid(os.geteuid()).pw_name
USER = pwd.getpwuid(os.geteuid()).pw_name
MULTIFACTOR = 'JOBID|PARTITION|USER|ACCOUNT|PRIORITY|SITE|AGE|ASSOC|FAIRSHARE|JOBSIZE|PARTITIONFACTOR|QOS|NICE|TRES|BILLING|ELIGIBLE'
TICKETS = 'JOBID|USER|PROJECT|STATE|PRIOR|NTCKTS|NURG|NPPRIOR|RRCONTR|WTCONTR|DLCONTR|URG|TICKETS|OVERRIDE|FUNCTIONAL|SHARE|PARTITION|ELIGIBLE'


@pytest.fixture
def full(instance):
    """One CPU, and a job that occupies it until it is cancelled."""
    instance.good('set', 'host_cpus=1')
    instance.blocker = instance.submit('-J', 'blocker', '--', 'sleep', '1000')
    instance.until_state(instance.blocker, 'RUNNING')
    return instance


def who_starts(instance, *jobs):
    """The job that starts when the blocker is cancelled."""
    instance.good('cancel', instance.blocker)
    def running():
        return [job for job in jobs if instance.job(job)['state'] == 'RUNNING']
    return until(running, 'one of them to start')


# ---- objects ----


@pytest.mark.parametrize('kind, fields, row, change, after', [
    ('partition', ['PriorityTier=2', 'TRESBillingWeights=CPU=1.0,Mem=0.25G', 'maxtime=2:00:00'],
     {'PriorityTier': '2', 'TRESBillingWeights': 'CPU=1.0,Mem=0.25G', 'MaxTime': '120', 'PriorityJobFactor': '1'},
     ['PriorityTier=0', 'MaxTime=UNLIMITED'], {'PriorityTier': '0', 'MaxTime': 'UNLIMITED'}),
    ('qos', ['priority=100', 'usage_factor=0.5', 'flags=NoDecay'],
     {'priority': '100', 'usage_factor': '0.5', 'flags': 'NoDecay', 'usage': '0'},
     ['flags=', 'priority=7'], {'flags': '', 'priority': '7', 'usage_factor': '0.5'}),
    ('project', ['fshare=10'], {'fshare': '10', 'oticket': '0'}, ['oticket=4294967295'], {'oticket': '4294967295'}),
    ('department', ['fshare=10'], {'fshare': '10', 'oticket': '0'}, ['fshare=0'], {'fshare': '0'}),
    ('resource', ['type=INT', 'amount=10', 'urgency=-0.5'], {'type': 'INT', 'amount': '10', 'urgency': '-0.5'},
     ['amount=UNLIMITED'], {'amount': 'UNLIMITED'}),
])
def test_objects(instance, kind, fields, row, change, after):
    def there():
        return {r['name']: r for r in instance.rows(kind, 'show')}
    before = there()
    assert instance.good(kind, 'add', 'x1', *fields) == 'Added %s x1\n' % kind
    assert row.items() <= there()['x1'].items()
    assert instance.good(kind, 'modify', 'x1', *change) == 'Modified %s x1\n' % kind
    assert after.items() <= there()['x1'].items()
    assert [r['name'] for r in instance.json(kind, 'show', 'x1')] == ['x1']
    assert instance.good(kind, 'show').startswith('NAME ')
    kept = there()
    instance.good('stop')
    instance.start()
    assert there() == kept

    assert 'already exists' in instance.bad(kind, 'add', 'x1')
    assert "'colour' is not a field; the fields are: " in instance.bad(kind, 'modify', 'x1', 'colour=red')
    assert "run 'fairlead %s modify --help' to list the names" % kind in instance.bad(kind, 'modify', 'x1', 'red')
    assert "nothing to change: give at least one FIELD=VALUE" in instance.bad(kind, 'modify', 'x1')
    assert "is given twice" in instance.bad(kind, 'modify', 'x1', 'fshare=1', 'fshare=2')
    assert "no %s 'nope'" % kind in instance.bad(kind, 'modify', 'nope', change[0])
    assert "no %s 'nope'" % kind in instance.bad(kind, 'delete', 'nope')
    instance.bad(kind, 'add', 'a b')
    instance.bad(kind, 'add', '')
    assert there() == kept
    assert instance.good(kind, 'delete', 'x1') == 'Deleted %s x1\n' % kind
    assert there() == before
    assert "no %s 'x1'; run 'fairlead %s show' to list them" % (kind, kind) in instance.run(kind, 'show', 'x1').err


@pytest.mark.parametrize('words, message', [
    (['partition', 'add', 'x', 'PriorityTier=65534'],
     "PriorityTier: '65534' is not a whole number from 0 to 65533"),
    (['partition', 'add', 'x', 'PriorityTier=-1'], "PriorityTier: '-1' is not a whole number"),
    (['partition', 'add', 'x', 'MaxTime=soon'], "MaxTime: 'soon' is not"),
    (['partition', 'add', 'x', 'TRESBillingWeights=petrol=1'], 'petrol'),
    (['partition', 'add', 'x', 'TRESBillingWeights=CPU=nan'], 'CPU'),
    (['qos', 'add', 'x', 'usage_factor=-1'], "usage_factor: '-1' is not a number from 0"),
    (['qos', 'add', 'x', 'usage_factor=inf'], "usage_factor: 'inf' is not a number"),
    (['qos', 'add', 'x', 'flags=Deny'], "flags: 'Deny' is not one of NoDecay"),
    (['resource', 'add', 'x', 'type=FLOAT'], "type: 'FLOAT' is not one of INT, DOUBLE, BOOL"),
    (['resource', 'add', 'x', 'urgency=1e999'], "urgency: '1e999' is not a number"),
    (['project', 'add', 'x', 'fshare=4294967296'], "fshare: '4294967296' is not a whole number"),
    (['user', 'modify', 'x', 'deadline=perhaps'], "deadline: 'perhaps' is not one of yes, no"),
    (['user', 'add', 'x', 'fshare=1', '-A', 'physics'], "'fshare=1' and options: only one of them is accepted"),
    (['user', 'show', '--policy', '-A', 'physics'], '--policy and --account: only one of them is accepted'),
])
def test_objects_that_are_refused(shared, words, message):
    assert message in shared.bad(*words)


def test_users_of_the_ticket_policies(instance):
    instance.good('department', 'add', 'chem', 'fshare=5')
    assert instance.good('user', 'modify', 'test-eve', 'fshare=100', 'department=chem') == 'Added user test-eve to the ticket policies\n'
    assert instance.good('user', 'modify', 'test-eve', 'deadline=yes', 'oticket=3') == 'Modified user test-eve\n'
    (row,) = instance.rows('user', 'show', '--policy', 'test-eve')
    assert (row['fshare'], row['oticket'], row['department'], row['deadline']) == ('100', '3', 'chem', 'yes')
    assert 'test-eve' not in instance.good('account', 'show')
    assert "no department 'bio'" in instance.bad('user', 'modify', 'test-eve', 'department=bio')
    assert 'in use by 1 user' in instance.bad('department', 'delete', 'chem')
    assert "user 'test-eve' is not in any account; only the ticket policies" in instance.bad('user', 'delete', 'test-eve')
    assert instance.good('user', 'add', 'test-eve', '-A', 'default') == 'Added user test-eve to account default\n'
    assert instance.good('user', 'delete', 'test-eve') == 'Deleted user test-eve from account default\n'
    assert instance.good('user', 'delete', '--policy', 'test-eve') == 'Deleted user test-eve from the ticket policies\n'
    instance.good('department', 'delete', 'chem')
    assert instance.bad('user', 'delete', '--policy', 'test-eve').endswith(
        "no user policy 'test-eve'; run 'fairlead user show --policy' to list the users of the ticket policies")
    assert "run 'fairlead user show --policy' to list the users" in instance.run('user', 'show', '--policy', 'test-eve').err


def test_the_account_default_is_made_when_it_is_named(instance):
    job = instance.submit('-A', 'default', '--hold', '--', 'true')
    assert [row['name'] for row in instance.rows('user', 'show')] == [ME]
    assert "user '%s' has 1 job pending or running in account 'default'; cancel it first" % ME in \
        instance.bad('user', 'delete', ME)
    instance.good('cancel', job)


def test_objects_in_use_stay(full):
    full.good('partition', 'add', 'fast')
    full.good('qos', 'add', 'urgent')
    full.good('project', 'add', 'P1')
    full.good('resource', 'add', 'license', 'type=INT')
    job = full.submit('-p', 'fast', '-q', 'urgent', '-P', 'P1', '-l', 'license=1', '--', 'true')
    for kind, name in (('partition', 'fast'), ('qos', 'urgent'), ('project', 'P1'), ('resource', 'license')):
        assert "%s '%s' is in use by 1 live job" % (kind, name) in full.bad(kind, 'delete', name)
    full.good('cancel', job)
    for kind, name in (('partition', 'fast'), ('qos', 'urgent'), ('project', 'P1'), ('resource', 'license')):
        full.good(kind, 'delete', name)
    # The records of ended jobs keep the names.
    row = full.job(job)
    assert (row['partition'], row['qos'], row['project'], row['requests']) == ('fast', 'urgent', 'P1', 'license=1')


# ---- requests of jobs ----


def test_terms_of_a_job(full):
    for words in (['partition', 'add', 'fast'], ['qos', 'add', 'urgent'], ['project', 'add', 'P1'],
                  ['resource', 'add', 'license', 'type=INT'], ['resource', 'add', 'bigio', 'type=BOOL'],
                  ['department', 'add', 'chem'], ['user', 'modify', ME, 'department=chem']):
        full.good(*words)
    full.good('set', 'host_cpus=8')
    job = full.submit('--hold', '-p', 'fast,main', '-q', 'urgent', '--project', 'P1', '-l', 'license=2', '-l', 'bigio',
                      '--slots', '2-4', '--nice', '--priority', '-5', '--job-share', '9', '--override-tickets', '11',
                      '--set-priority', '77', '--site-factor=-3', '--begin', '2100-01-01T00:00Z', '--deadline', 'now+1hour',
                      '--department', 'chem', '--', 'true')
    row = full.job(job)
    assert (row['partition'], row['qos'], row['project'], row['requests']) == \
        ('fast,main', 'urgent', 'P1', 'license=2,bigio=true')
    assert (row['cpus'], row['slots_max'], row['nice'], row['posix_priority'], row['job_share'], row['override_tickets'],
            row['set_priority'], row['site']) == (2, 4, 100, -5, 9, 11, 77, -3)
    assert row['begin_us'] == 4102444800 * 10**6
    assert abs(row['deadline_us'] / 10**6 - time.time() - 3600) < 60
    text = full.good('show', 'job', job)
    for line in ('Project       P1', 'Partition     fast,main', 'QOS           urgent', 'CPUs          2 to 4',
                 'Adjustments   set to 77, nice 100, site -3, POSIX -5',
                 'Own tickets   9 functional shares, 11 override tickets', 'Requests      license=2,bigio=true',
                 'Begin         01 Jan 2100 00:00'):
        assert line + '\n' in text
    (line,) = [line for line in full.good('queue').splitlines() if line.split()[0] == str(job)]
    assert 'fast,main' in line and 'urgent' in line

    result = full.run('update', job, '-p', 'main', '-q', 'normal', '--project', '', '-l', '', '--nice=-7', '--set-priority', 'auto',
                      '--begin', 'none', '--deadline', 'none', '--slots', '1-3', '--priority', '1024', '--site-factor', '0')
    assert result.status == 0 and result.err.startswith('fairlead update: --priority has no effect now: '), result
    assert result.err.count('\n') == 1
    row = full.job(job)
    assert (row['partition'], row['qos'], row['project'], row['requests']) == ('main', 'normal', '', '')
    assert (row['cpus'], row['slots_max'], row['nice'], row['posix_priority'], row['job_share'], row['override_tickets'],
            row['set_priority'], row['site'], row['begin_us'], row['deadline_us']) == \
        (1, 3, -7, 1024, 9, 11, None, 0, None, None)
    full.good('update', job, '--job-share', '0', '--override-tickets', '0')
    row = full.job(job)
    assert (row['nice'], row['job_share'], row['override_tickets']) == (-7, 0, 0)
    full.good('update', job, '--slots', '3')
    row = full.job(job)
    assert (row['cpus'], row['slots_max']) == (3, 0)


def test_a_job_is_told_how_many_of_its_slots_it_got(instance):
    instance.good('set', 'host_cpus=3')
    instance.good('submit', '--wait', '--slots', '2-3', '-o', 'out', '--', 'printenv', 'FAIRLEAD_CPUS')
    assert (instance.work / 'out').read_text() == '3\n'
    (row,) = instance.good('history', '-P', '--noheader').splitlines()
    assert '|3|' in row


@pytest.mark.parametrize('options, message', [
    (['-p', 'nope'], "no partition 'nope'; run 'fairlead partition show' to list them"),
    (['-p', 'main,main'], "'main' is named twice"),
    (['-q', 'nope'], "no qos 'nope'"),
    (['--project', 'nope'], "no project 'nope'"),
    (['-l', 'nope=1'], "no resource 'nope'"),
    (['-l', 'h_rt=3600'], "no resource 'h_rt': use -t for the time limit"),
    (['-l', 'h=n1'], "no resource 'h': use hostname=HOST, or --queues '*@HOST'"),
    (['-l', 'arch=lx('], "resource 'arch': amount: 'lx(' is no expression: column 3: a & or | is missing"),
    (['-l', 'hostname=nix*'], "resource 'hostname': amount: 'nix*' matches no host"),
    (['-l', 'h_vmem=1G'], "no resource 'h_vmem': use --mem for memory"),
    (['-p', '-100'], "no partition '-100': use --priority N for a POSIX priority"),
    (['-q', 'all.q'], "no qos 'all.q': use -p NAME: a queue is a partition"),
    (['--nice=2147483646'], "--nice: '2147483646' is not a whole number from -2147483645 to 2147483645"),
    (['--nice=high'], "--nice: 'high' is not a whole number"),
    (['--priority', '1025'], "--priority: '1025' is not a whole number from -1023 to 1024"),
    (['--priority', '-1024'], "--priority: '-1024' is not a whole number from -1023 to 1024"),
    (['--job-share', '-1'], "--job-share: '-1' is not a whole number from 0 to 4294967295"),
    (['--override-tickets', '4294967296'], '--override-tickets'),
    (['--set-priority', '0'], "--set-priority: '0' is not a whole number from 1 to 4294967294, or auto"),
    (['--slots', '4-2'], "--slots: '4-2' is not a number from 1 to 65536, or a range such as 2-8"),
    (['--slots', '0'], '--slots'),
    (['--slots', '8'], "--slots: 8 exceeds the host's 4 CPUs"),
    (['--slots', '8-9'], "--slots: 8 exceeds the host's 4 CPUs"),
    (['--slots', '8', '-n', '8'], "--cpus: 8 exceeds the host's 4 CPUs"),
    (['--slots', '2', '-n', '3'], '--slots and --cpus differ'),
    (['--begin', 'yesteryear'], "--begin: 'yesteryear' is not a time: now+1hour, 2h, 16:00, "),
    (['--begin', '0'], "--begin: '0' is not a time from 1970-01-01T00:00:01Z to 9999-12-31T23:59:59Z, or none"),
    (['--begin', 'now+61001138weeks'], "--begin: 'now+61001138weeks' is not a time from 1970-01-01T00:00:01Z to 9999"),
    (['--deadline', '1970-01-01'], "--deadline: '1970-01-01' is not a time from 1970-01-01T00:00:01Z to 9999"),
    (['--begin', '2026-02-30'], "--begin: '2026-02-30' is not a time"),
    (['--deadline', '2001-01-01'], "--deadline: '2001-01-01T00:00:00Z' has passed"),
    (['--deadline', '1e9'], "--deadline: '1e9' is not a time"),
    (['--department', 'chem'], "department: 'chem' is not the department of user '%s', which is 'defaultdepartment'" % USER),
    (['-J', 'x\u202ey'], "--job-name: 'x???y' is not printable UTF-8"),
])
def test_terms_that_are_refused(shared, options, message):
    before = shared.json('queue', '--all')
    assert message in shared.bad('submit', *options, '--', 'true')
    assert shared.json('queue', '--all') == before


def test_begin(instance):
    asked = time.time()
    job = instance.submit('--begin', 'now+2', '--', 'true')
    answered = time.time()
    row = instance.until_state(job, 'COMPLETED')
    assert asked + 2 <= row['begin_us'] / 10**6 <= answered + 2
    # It starts at its time, not at the next periodic pass, which is once a minute.
    assert 0 <= row['start_us'] - row['begin_us'] < 30 * 10**6
    later = instance.submit('--begin', 'tomorrow', '--', 'true')
    assert instance.job(later)['reason'] == 'BeginTime'
    instance.good('update', later, '--begin', 'now')
    instance.until_state(later, 'COMPLETED')


def test_a_begin_survives_a_restart(instance):
    job = instance.submit('--begin', 'now+3', '--', 'true')
    instance.good('stop')
    instance.start()
    restarted_us = time.time() * 10**6
    row = instance.until_state(job, 'COMPLETED')
    assert 0 <= row['start_us'] - row['begin_us']
    assert row['start_us'] - max(row['begin_us'], restarted_us) < 30 * 10**6


def test_resources_are_given_out(instance):
    instance.good('resource', 'add', 'license', 'type=INT', 'amount=3')
    first = instance.submit('-l', 'license=2', '--', 'sleep', '1000')
    instance.until_state(first, 'RUNNING')
    second = instance.submit('-l', 'license=2', '--', 'true')
    third = instance.submit('-l', 'license=1', '--', 'true')
    instance.until_state(third, 'COMPLETED')
    assert instance.job(second)['state'] == 'PENDING'
    assert 'license' in instance.bad('submit', '-l', 'license=4', '--', 'true')
    instance.good('resource', 'modify', 'license', 'amount=4')
    instance.until_state(second, 'COMPLETED')


def test_enforce_user(instance):
    instance.good('set', 'auto_user_fshare=50')
    instance.good('wait', instance.submit('--', 'true'))
    (row,) = instance.rows('user', 'show', '--policy')
    assert (row['name'], row['fshare']) == (ME, '50')
    instance.good('user', 'delete', '--policy', ME)
    instance.good('set', 'enforce_user=true')
    assert 'enforce_user is true' in instance.bad('submit', '--', 'true', status=1)
    assert instance.rows('user', 'show', '--policy') == []
    instance.good('user', 'add', ME, 'fshare=1')
    instance.good('wait', instance.submit('--', 'true'))
    instance.good('user', 'delete', '--policy', ME)
    instance.good('set', 'enforce_user=none')
    instance.good('wait', instance.submit('--', 'true'))
    assert instance.rows('user', 'show', '--policy') == []


# ---- priorities ----


def number(text):
    return float(text) if text else 0.0


def test_prio_multifactor(full):
    full.good('set', 'PriorityWeightAge=1000', 'PriorityWeightFairshare=10000', 'PriorityWeightPartition=1000',
              'PriorityWeightQOS=500', 'PriorityWeightAssoc=100', 'PriorityWeightTRES=cpu=2000,mem=300')
    full.good('partition', 'add', 'fast', 'PriorityJobFactor=3', 'TRESBillingWeights=CPU=2,Mem=1G')
    full.good('qos', 'add', 'urgent', 'priority=8')
    full.good('account', 'modify', 'default', '--priority', '5')
    job = full.submit('-p', 'fast,main', '-q', 'urgent', '--nice=30', '--site-factor=4', '--mem', '1G', '--', 'true')
    lines = full.good('prio', '-P').splitlines()
    assert lines[0] == MULTIFACTOR and len(lines) == 3
    rows = full.rows('prio')
    assert [(row['JOBID'], row['PARTITION'], row['USER'], row['ACCOUNT']) for row in rows] == \
        [(str(job), 'fast', ME, 'default'), (str(job), 'main', ME, 'default')]
    for row in rows:
        tres = sum(number(item.split('=')[1]) for item in row['TRES'].split(','))
        terms = sum(number(row[name]) for name in
                    ('SITE', 'AGE', 'ASSOC', 'FAIRSHARE', 'JOBSIZE', 'PARTITIONFACTOR', 'QOS')) + tres - number(row['NICE'])
        assert int(row['PRIORITY']) == int(terms)
        assert (row['SITE'], row['NICE'], row['QOS'], row['ASSOC'], row['JOBSIZE']) == ('4', '30', '500', '100', '0')
        assert 0 < number(row['AGE']) < 1
    assert [row['PARTITIONFACTOR'] for row in rows] == ['1000', '%.17g' % (1000 / 3)]
    assert [row['BILLING'] for row in rows] == ['3', '1']
    # 2000 x 1/1 CPUs, 300 x 1024/4096 MiB
    assert rows[0]['TRES'] == 'cpu=2000,mem=75'

    factors = full.json('prio', job)[0]
    assert (factors['model'], factors['qos_factor'], factors['assoc_factor']) == ('priority/multifactor', 1, 1)
    assert factors['tres_factors'] == 'cpu=1,mem=0.25' and factors['tickets'] is None
    table = full.good('prio')
    assert table.split('\n')[0].split() == ['JOBID', 'PARTITION', 'USER', 'ACCOUNT', 'PRIORITY', 'SITE', 'AGE', 'ASSOC',
                                           'FAIRSHARE', 'JOBSIZE', 'PARTITION', 'QOS', 'NICE', 'TRES']
    normalised = full.good('prio', '-n', job).splitlines()
    assert re.search(r' 1\.0000000 .* 0\.3333333 ', normalised[2])
    weights = dict(line.split('|')[:2] for line in full.good('prio', '-w', '-P').splitlines())
    assert weights['PriorityWeightAge'] == '1000' and weights['PriorityWeightTRES'] == 'cpu=2000,mem=300'
    assert 'weight_ticket' not in weights
    assert full.bad('prio', '99') == 'fairlead prio: job 99 is not pending or running'
    assert "'x' is not a job id (such as 5" in full.bad('prio', 'x')
    assert full.run('prio', full.blocker).err == \
        'job %d is running: it has a priority only with PriorityFlags=CALCULATE_RUNNING\n' % full.blocker
    full.good('set', 'PriorityFlags=CALCULATE_RUNNING')
    assert [row['JOBID'] for row in full.rows('prio')] == [str(job), str(job), str(full.blocker)]


def test_prio_tickets(full):
    full.good('set', 'PriorityType=priority/tickets', 'weight_tickets_functional=1000000', 'weight_user=0.5',
              'weight_project=0.5', 'weight_department=0', 'weight_job=0', 'weight_priority=1', 'weight_ticket=0.01',
              'weight_urgency=0.1')
    full.good('project', 'add', 'P1', 'fshare=100', 'oticket=50')
    full.good('user', 'modify', ME, 'fshare=100', 'deadline=yes')
    full.good('resource', 'add', 'license', 'type=INT', 'urgency=500')
    urgent = full.submit('-P', 'P1', '-l', 'license=2', '--deadline', 'now+1hour', '--', 'sleep', '1000')
    polite = full.submit('--priority', '-512', '--override-tickets', '7', '--', 'sleep', '1000')
    lines = full.good('prio', '-P').splitlines()
    assert lines[0] == TICKETS
    rows = {row['JOBID']: row for row in full.rows('prio')}
    assert rows[str(full.blocker)]['STATE'] == 'RUNNING'
    one, other = rows[str(urgent)], rows[str(polite)]
    assert (one['PROJECT'], one['RRCONTR'], one['OVERRIDE'], other['OVERRIDE'], other['RRCONTR']) == \
        ('P1', '2000', '50', '7', '1000')
    assert abs(number(one['DLCONTR']) - 1000) < 20 and other['DLCONTR'] == '0'
    assert (one['NPPRIOR'], other['NPPRIOR']) == ('0.5', '0.25')
    for row in rows.values():
        assert abs(number(row['TICKETS']) - number(row['OVERRIDE']) - number(row['FUNCTIONAL']) - number(row['SHARE'])) < 1e-6
        assert abs(number(row['URG']) - number(row['RRCONTR']) - number(row['WTCONTR']) - number(row['DLCONTR'])) < 1e-6
        prior = 0.01 * number(row['NTCKTS']) + 0.1 * number(row['NURG']) + number(row['NPPRIOR'])
        assert abs(number(row['PRIOR']) - prior) < 1e-9
    assert [row['id'] for row in full.json('prio', polite)] == [str(polite)]
    weights = [line.split('|')[0] for line in full.good('prio', '-w', '-P').splitlines()]
    assert 'weight_urgency' in weights and 'PriorityWeightAge' not in weights

    full.good('set', 'report_pjob_tickets=false')
    rows = {row['JOBID']: row for row in full.rows('prio')}
    assert all(rows[str(urgent)][name] == '0' for name in ('PRIOR', 'NTCKTS', 'NURG', 'NPPRIOR', 'TICKETS', 'URG'))
    assert number(rows[str(full.blocker)]['PRIOR']) > 0
    assert who_starts(full, urgent, polite) == [urgent]  # it is only not told


def test_prio_basic(full):
    full.good('set', 'PriorityType=priority/basic')
    first, second = full.submit('--nice=1000', '--', 'sleep', '1000'), full.submit('--', 'sleep', '1000')
    lines = full.good('prio', '-P').splitlines()
    assert lines[0] == 'JOBID|PRIORITY|PARTITION|ELIGIBLE'
    rows = {row['JOBID']: int(row['PRIORITY']) for row in full.rows('prio')}
    assert set(rows) == {str(first), str(second)}
    assert '--normalized requires priority/multifactor; the instance has priority/basic' in full.bad('prio', '-n')
    result = full.run('prio', '-w')
    assert (result.status, result.out) == (0, '') and 'jobs start in the order of submission' in result.err


@pytest.mark.parametrize('model', ['tickets', 'basic'])
def test_prio_of_several_partitions(full, model):
    full.good('set', 'PriorityType=priority/' + model)
    full.good('partition', 'add', 'fast')
    job = full.submit('-p', 'fast,main', '--', 'sleep', '1000')
    rows = [row for row in full.rows('prio') if row['JOBID'] == str(job)]
    assert [row['PARTITION'] for row in rows] == ['fast', 'main']
    table = [line.split() for line in full.good('prio', job).splitlines()]
    assert [line[-1] for line in table] == ['PARTITION', 'fast', 'main']
    assert [row['partition'] for row in full.json('prio', job)] == ['fast', 'main']


@pytest.mark.parametrize('model', ['multifactor', 'tickets', 'basic'])
def test_prio_marks_jobs_that_are_not_eligible(full, model):
    full.good('set', 'PriorityType=priority/' + model)
    plain, held, later = (full.submit(*options, '--', 'sleep', '1000') for options in ([], ['-H'], ['--begin', 'now+1hour']))
    rows = {row['JOBID']: row['ELIGIBLE'] for row in full.rows('prio')}
    rows.pop(str(full.blocker), None)
    assert rows == {str(plain): '1', str(held): '0', str(later): '0'}
    result = full.run('prio')
    assert result.err == "* not eligible to start: held (release it with 'fairlead release'), its begin is in the future, or it waits for other jobs\n"
    ids = [line.split()[0] for line in result.out.splitlines()]
    assert [name for name in ids if name.endswith('*')] == ['%d*' % held, '%d*' % later]
    assert {row['job_id']: row['eligible'] for row in full.json('prio')}[held] is False
    full.good('release', held)
    full.good('update', later, '--begin', 'none')
    result = full.run('prio')
    assert result.err == '' and '*' not in result.out


def test_prio_of_nothing(instance):
    result = instance.run('prio')
    assert (result.status, result.out) == (0, '')
    assert result.err == 'no pending jobs; running jobs are listed with PriorityFlags=CALCULATE_RUNNING\n'
    assert instance.good('prio', '-P') == MULTIFACTOR + '\n'
    assert instance.json('prio') == []
    instance.good('set', 'PriorityType=priority/tickets')
    assert instance.good('prio', '-P') == TICKETS + '\n'
    assert instance.run('prio').err == 'no pending or running jobs\n'


def test_what_incr_only_keeps_survives_a_kill(full):
    full.good('set', 'PriorityFlags=INCR_ONLY', 'PriorityWeightFairshare=0', 'PriorityWeightPartition=1000')
    full.good('partition', 'add', 'fast', 'PriorityJobFactor=2')
    job = full.submit('-p', 'fast,main', '--', 'sleep', '1000')

    def priorities():
        return {row['PARTITION']: row['PRIORITY'] for row in full.rows('prio', job)}

    assert priorities() == {'fast': '1000', 'main': '500'}
    full.good('set', 'PriorityWeightPartition=100')
    full.good('partition', 'modify', 'main', 'PriorityJobFactor=100')
    assert priorities() == {'fast': '1000', 'main': '500'}
    full.kill()
    full.start()
    assert priorities() == {'fast': '1000', 'main': '500'}
    full.good('set', 'PriorityFlags=')
    full.good('set', 'PriorityFlags=INCR_ONLY')
    assert priorities() == {'fast': '2', 'main': '100'}
    full.kill()
    full.start()
    assert priorities() == {'fast': '2', 'main': '100'}


def test_nice_decides(full):
    first, second = full.submit('--nice=100', '--', 'sleep', '1000'), full.submit('--', 'sleep', '1000')
    assert who_starts(full, first, second) == [second]


def test_another_model_decides_at_once(full):
    """Jobs start in the order of submission; nice has no effect."""
    full.good('set', 'PriorityType=priority/tickets', 'weight_priority=1')
    first, second = full.submit('--priority=-100', '--', 'sleep', '1000'), full.submit('--', 'sleep', '1000')
    full.good('set', 'PriorityType=priority/basic')
    assert who_starts(full, first, second) == [first]


def test_another_weight_decides_at_once(full):
    full.good('partition', 'add', 'fast', 'PriorityJobFactor=100')
    first, second = full.submit('--', 'sleep', '1000'), full.submit('-p', 'fast', '--nice=50', '--', 'sleep', '1000')
    rows = {row['JOBID']: int(row['PRIORITY']) for row in full.rows('prio')}
    assert rows[str(first)] > rows[str(second)]
    full.good('set', 'PriorityWeightPartition=1000')
    rows = {row['JOBID']: int(row['PRIORITY']) for row in full.rows('prio')}
    assert rows[str(first)] < rows[str(second)]
    assert who_starts(full, first, second) == [second]


def test_a_tier_comes_before_every_priority(full):
    full.good('partition', 'add', 'fast', 'PriorityTier=10')
    first, second = full.submit('--', 'sleep', '1000'), full.submit('-p', 'fast', '--nice=5000', '--', 'sleep', '1000')
    full.good('update', first, '--set-priority', '4000000000')
    assert who_starts(full, first, second) == [second]


def test_urgency_decides(full):
    full.good('set', 'PriorityType=priority/tickets')
    full.good('resource', 'add', 'license', 'type=INT', 'urgency=100000')
    first, second = full.submit('--', 'sleep', '1000'), full.submit('-l', 'license=1', '--', 'sleep', '1000')
    assert who_starts(full, first, second) == [second]


def test_the_bill_is_whole_in_records(instance):
    instance.good('set', 'host_gpus=2')
    instance.good('partition', 'modify', 'main', 'TRESBillingWeights=CPU=1.5,Mem=1G,GRES/gpu=0.5')
    job = instance.submit('--mem', '256M', '-G', '1', '--', 'true')
    instance.good('wait', job)
    row = instance.job(job)
    assert (row['billing'], row['tres']) == (2.25, 'cpu=1,mem=256,node=1,billing=2,gres/gpu=1')
    assert 'TRES          cpu=1,mem=256M,node=1,billing=2,gres/gpu=1\n' in instance.good('show', 'job', job)


def test_urgency_of_slots(full):
    def urgency():
        return full.rows('prio', full.blocker)[0]['RRCONTR']
    full.good('set', 'PriorityType=priority/tickets')
    assert urgency() == '1000'
    full.good('resource', 'add', 'slots', 'urgency=7')
    assert urgency() == '7'
    assert "resource 'slots' cannot be deleted: it is built in" in full.bad('resource', 'delete', 'slots')
    full.good('resource', 'modify', 'slots', 'urgency=1000')
    assert urgency() == '1000'


def test_built_in_resources(instance):
    rows = {row['name']: row for row in instance.rows('resource', 'show')}
    assert {'slots', 'num_proc', 'mem_free', 'load_avg', 'arch', 'hostname'} <= set(rows)
    assert (rows['mem_free']['type'], rows['mem_free']['built_in'], rows['mem_free']['created']) == ('MEMORY', 'yes', '')
    assert "resource 'mem_free' is built in; its type is MEMORY" in instance.bad('resource', 'add', 'mem_free', 'type=INT')
    assert "resource 'arch' cannot be deleted: it is built in" in instance.bad('resource', 'delete', 'arch')
    instance.good('resource', 'modify', 'mem_free', 'urgency=3')
    instance.good('resource', 'add', 'tape')
    rows = {row['name']: row for row in instance.rows('resource', 'show')}
    assert (rows['mem_free']['urgency'], rows['mem_free']['relop'], rows['tape']['built_in']) == ('3', '<=', 'no')
    assert list(rows).count('mem_free') == 1 and rows['mem_free']['created'] != ''


def test_shares_by_another_algorithm(instance):
    instance.good('account', 'add', 'physics', '--shares', '3')
    instance.good('user', 'add', 'test-alice', '-A', 'physics')
    instance.good('user', 'add', 'test-bob')
    rows = instance.rows('share')
    assert {row['LevelFS'] for row in rows if row['User']} == {'inf'}
    assert 'fair-tree' in instance.good('status')
    instance.good('set', 'PriorityFlags=NO_FAIR_TREE', 'FairShareDampeningFactor=3')
    rows = instance.rows('share', 'test-alice')
    assert [(row['Account'].strip(), row['User']) for row in rows] == \
        [('root', ''), ('physics', ''), ('physics', 'test-alice')]
    assert [row['LevelFS'] for row in rows] == ['', '', ''] and rows[-1]['FairShare'] == '1'
    assert rows == instance.rows('share', '--user', 'test-alice')
    assert 'classic, dampening 3' in instance.good('status')
    assert [row['user'] for row in instance.json('share', 'test-bob')] == [None, None, 'test-bob']
    assert "no user 'nobody'" in instance.bad('share', 'nobody')
    assert "'a' and --user: only one of them" in instance.bad('share', 'a', '-u', 'b')
    instance.good('set', 'priorityflags=DEPTH_OBLIVIOUS')
    assert instance.json('status')['algorithm'] == 'depth-oblivious'


# ---- settings ----


def test_settings_of_other_schedulers(instance):
    assert instance.good('set', 'PRIORITYDECAYHALFLIFE=14-0', 'FairTreeTies=slurm', 'Weight_Ticket=0.25') == \
        'Set halflife_s=1209600 (14-00:00:00)\nSet ties=slurm\nSet weight_ticket=0.25\n'
    values = {row['name']: row['value'] for row in instance.rows('set')}
    assert (values['halflife_s'], values['ties'], values['weight_ticket']) == ('1209600', 'slurm', '0.25')
    before = instance.rows('set')
    for words, message in (
            (['nonsense=1'], "no setting 'nonsense'; run 'fairlead set' to list them"),
            (['weight_ticket=1', 'PriorityWeightAge=-1'], "PriorityWeightAge: '-1' is not a whole number from 0"),
            (['PriorityFlags=FAST'], 'FAST'), (['policy_hierarchy=OXS'], 'policy_hierarchy'),
            (['policy_hierarchy=OO'], 'policy_hierarchy'), (['usage_weight_list=cpu=-1'], 'usage_weight_list'),
            (['PriorityWeightTRES=petrol=1'], 'petrol'), (['halftime=-1'], 'halftime'),
            (['PriorityType=priority/random'], 'is not one of priority/'), (['weight_user=nan'], 'weight_user'),
            (['weight_user=1e400'], 'weight_user'), (['max_pending_tasks_per_job=0'], 'from 1 to'),
            (['urgency_slots=some'], 'urgency_slots')):
        assert message in instance.bad('set', *words)
        assert instance.rows('set') == before
    table = instance.good('set')
    for heading in ("Fairlead's own", 'as in slurm.conf', "as in Grid Engine's configuration"):
        assert '\n%s\n' % heading in table
    assert all(line == line.rstrip() for line in table.splitlines())
    help_text = instance.good('set', '--help')
    assert all(row['name'] + '=' in help_text for row in before)
    words = ' '.join(help_text.split())
    for row in before:
        if row['accepted']:
            wrong = '-3' if 'memory' in row['accepted'] else '?'
            message = instance.bad('set', '%s=%s' % (row['name'], wrong))
            assert message.endswith("%s: '%s' is not %s" % (row['name'], wrong, row['accepted']))
        if row['accepted'] and not row['accepted'].startswith('one of'):
            assert '(%s; %s by default)' % (row['accepted'], row['default']) in words
    flags = instance.bad('set', 'PriorityFlags=FAST').partition(' is not one of ')[2].strip().split(', ')
    assert len(flags) > 10 and all(re.search(r'\b%s\b' % flag, help_text) for flag in flags)


def test_start_with_values_that_have_commas(stopped):
    stopped.start('--set', 'grace_s=5,usage_weight_list=cpu=0.5,mem=0.25,io=0.25,ties=slurm',
                  '--set', 'PriorityFlags=MAX_TRES,NO_FAIR_TREE')
    values = {row['name']: row['value'] for row in stopped.rows('set')}
    assert (values['grace_s'], values['ties'], values['usage_weight_list'], values['PriorityFlags']) == \
        ('5', 'slurm', 'cpu=0.5,mem=0.25,io=0.25', 'MAX_TRES,NO_FAIR_TREE')
    stopped.good('stop')
    assert "grace_s is given twice" in stopped.bad('start', '--set', 'grace_s=5', '--set', 'grace_s=6')
    assert 'grace_s' in stopped.bad('start', '--set', 'grace_s=5,nonsense=6')


def test_what_cannot_start_keeps_nobody_busy(instance):
    """The daemon sleeps whatever the reason why a job is pending, also if its begin time has passed."""
    instance.good('resource', 'add', 'license', 'amount=2')
    instance.good('partition', 'add', 'short', 'MaxTime=10')
    instance.good('qos', 'add', 'strict', 'flags=EnforceUsageThreshold', 'usage_threshold=1')
    instance.good('submit', '--wait', '--', 'sleep', '0.1')
    instance.good('user', 'add', 'somebody', '-A', 'default')
    instance.submit('-l', 'license=2', '--', 'sleep', '1000')
    begins = instance.submit('-l', 'license=2', '--begin', 'now+1second', '--', 'true')
    long = instance.submit('-p', 'short', '-t', '10', '-l', 'license=1', '--', 'true')
    instance.submit('--begin', 'now+1hour', '--', 'true')
    instance.submit('--array', '0-9%1', '--', 'sleep', '1000')
    instance.submit('-n', '4', '--', 'true')
    strict = instance.submit('-q', 'strict', '--', 'true')
    instance.good('partition', 'modify', 'short', 'MaxTime=1')
    instance.good('resource', 'modify', 'license', 'amount=3')
    pid = instance.pid()

    def wakes():
        status = pathlib.Path('/proc/%d/status' % pid).read_text()
        return int(re.search(r'^voluntary_ctxt_switches:\s+(\d+)', status, re.M)[1])

    def sleeps():
        before = wakes()
        time.sleep(1)
        return wakes() - before <= 2

    for model in ('multifactor', 'tickets', 'basic'):
        instance.good('set', 'PriorityType=priority/' + model)
        time.sleep(1.5)
        until(sleeps, 'the daemon to sleep for a second')  # what has started a moment ago may still have to be told
        assert [instance.job(job)['state'] for job in (begins, long, strict)] == ['PENDING'] * 3
    assert [instance.job(job)['reason'] for job in (begins, long, strict)] == \
        ['Resources', 'PartitionTimeLimit', 'QOSUsageThreshold']


# ---- other ----


def test_words_of_other_kinds(instance):
    assert "--state: 'foo' is not one of PENDING, STARTING, RUNNING" in instance.bad('queue', '-s', 'foo')
    today = datetime.datetime.now(datetime.timezone.utc).date()
    instance.good('wait', instance.submit('--', 'true'))
    assert [row['state'] for row in instance.rows('queue', '--all', '-s', 'Completed')] == ['COMPLETED']
    assert len(instance.rows('history', '--since', str(today - datetime.timedelta(days=1)))) == 1
    if datetime.datetime.now(datetime.timezone.utc).date() == today:  # it may be midnight
        assert len(instance.rows('history', '--since', 'today', '--until', 'now+1day')) == 1
    assert instance.rows('history', '--until', '2001-01-01') == []
    assert instance.good('verify', '--help').count('\n  1 ') == 1


NEGATIVE_FACTOR = ('compensation_factor: a negative value counts as a tiny positive one; how Grid Engine 8.1.9 computes with it '
                   'is unknown\n')
UNKNOWN_RESOURCE = ('usage_weight_list: a resource other than cpu, mem, io and finished_jobs has no usage; its weight counts in '
                    'the sum\n')


@pytest.mark.parametrize('pair, remark', [
    ('compensation_factor=-2', NEGATIVE_FACTOR), ('usage_weight_list=cpu=0.5,disk=0.5', UNKNOWN_RESOURCE),
    ('compensation_factor=2', ''), ('usage_weight_list=cpu=0.5,mem=0', ''), ('usage_weight_list=none', '')])
def test_remarks_about_accepted_settings(instance, pair, remark):
    result = instance.run('set', pair)
    assert (result.status, result.out, result.err) == (0, 'Set %s\n' % pair, remark)


def test_remarks_about_settings_at_start(stopped):
    config = stopped.work / 'my.conf'
    config.write_text('ties = merge\nusage_weight_list = cpu=0.5,disk=0.5\n')
    result = stopped.run('start', '--state', 'here', '--config', 'my.conf', '--set', 'compensation_factor=-2,ties=slurm')
    assert result.status == 0
    assert [line for line in result.err.splitlines() if 'FAIRLEAD_SOCKET' not in line] == NEGATIVE_FACTOR.splitlines()
    log = (stopped.work / 'here' / 'fairleadd.log').read_text()
    assert [line.split(' ', 1)[1] for line in log.splitlines() if 'remark' in line] == [
        'level=warning event=setting-remark remark="%s"' % UNKNOWN_RESOURCE.strip()]
    stopped.good('stop', '--state', 'here')


def test_the_default_partition_is_shown(instance):
    def default():
        rows = instance.json('partition', 'show')
        assert instance.json('status')['default_partition'] in [row['name'] for row in rows if row['default']]
        return [row['name'] for row in rows if row['default']]
    instance.good('partition', 'add', 'fast')
    assert default() == ['main']
    assert 'Partition  main is the default\n' in instance.good('status')
    assert [(row['name'], row['default']) for row in instance.rows('partition', 'show')] == [('main', 'yes'), ('fast', 'no')]
    instance.good('partition', 'delete', 'main')
    instance.good('partition', 'add', 'main')
    assert default() == ['fast']
    assert instance.job(instance.submit('--', 'true'))['partition'] == 'fast'
