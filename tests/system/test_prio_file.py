"""fairlead prio -f and share -f of scenarios: the examples of docs/scenarios.md, all outputs, all options, refusals."""
import json
import os
import pathlib
import random
import re
import subprocess

import pytest

FAIRLEAD = os.path.join(os.environ.get('FAIRLEAD_BUILD', 'build'), 'fairlead')
PAGE = pathlib.Path('docs/scenarios.md')
MULTIFACTOR, TICKETS = 'examples/multifactor.json', 'examples/functional-tickets.json'
TICKET_COLUMNS = ('JOBID|USER|PROJECT|STATE|PRIOR|NTCKTS|NURG|NPPRIOR|RRCONTR|WTCONTR|DLCONTR|URG|TICKETS|OVERRIDE|'
                  'FUNCTIONAL|SHARE|ELIGIBLE')
JOB = {'id': 1, 'user': 'u', 'submit': 1}


def run(*arguments, text=None):
    if isinstance(text, dict):
        text = json.dumps(text)
    result = subprocess.run([FAIRLEAD, *arguments], input=text, capture_output=True, text=True, timeout=60)
    return result.returncode, result.stdout, result.stderr


def good(*arguments, text=None):
    status, out, err = run(*arguments, text=text)
    assert (status, err) == (0, '')
    return out


def parsable(text):
    heading, *lines = text.splitlines()
    return [dict(zip(heading.split('|'), line.split('|'), strict=True)) for line in lines]


def test_remarks_about_settings():
    document = {'now': 1, 'settings': {'usage_weight_list': 'cpu=0.5,disk=0.5', 'compensation_factor': -2},
                'tree': [{'account': 'a'}], 'jobs': [JOB]}
    remarks = [
        'compensation_factor: a negative value counts as a tiny positive one; how Grid Engine 8.1.9 computes with it is unknown',
        'usage_weight_list: a resource other than cpu, mem, io and finished_jobs has no usage; its weight counts in the sum']
    for command in 'prio', 'share':
        status, out, err = run(command, '-P', '-f', '-', text=document)
        assert (status, out.count('\n') > 1, err.splitlines()) == (0, True, remarks)


# --- the page ---

def test_the_page_has_the_examples():
    blocks = [json.loads(block) for block in re.findall(r'```json\n(.*?)```', PAGE.read_text(), re.DOTALL)]
    assert blocks == [json.loads(pathlib.Path(path).read_text()) for path in (MULTIFACTOR, TICKETS)]


def test_the_page_shows_what_is_printed():
    shown = re.search(r'    \$ fairlead (prio -f examples/multifactor.json)\n((?:    .*\n)+)', PAGE.read_text())
    assert good(*shown[1].split()) == re.sub(r'^    ', '', shown[2], flags=re.MULTILINE)


@pytest.mark.parametrize('document', [
    {'x': 1}, {'hosts': [{'x': 1}]}, {'partitions': [{'x': 1}]}, {'resources': [{'x': 1}]}, {'qos': [{'x': 1}]},
    {'projects': [{'x': 1}]}, {'departments': [{'x': 1}]}, {'users': [{'x': 1}]}, {'users': [{'usage': {'x': 1}}]},
    {'tree': [{'x': 1}]}, {'share_tree': {'x': 1}}, {'jobs': [{'x': 1}]},
], ids=json.dumps)
def test_the_page_has_every_key(document):
    status, out, err = run('prio', '-f', '-', text={'now': 1, **document})
    assert (status, out) == (2, '')
    keys = re.search(r"'x' is not a field; the fields are: (.*)\n", err)[1].split(', ')
    missing = [key for key in keys if not re.search(r'[`"]%s[`"]' % key, PAGE.read_text())]
    assert not missing


# --- the models ---

def test_multifactor():
    assert good('prio', '-f', MULTIFACTOR, '-P') == (
        'JOBID|PARTITION|USER|ACCOUNT|PRIORITY|SITE|AGE|ASSOC|FAIRSHARE|JOBSIZE|PARTITIONFACTOR|QOS|NICE|TRES|BILLING|'
        'ELIGIBLE\n4|batch|a1|a|11537|0|0|0|10000|312.5|200|0|0|cpu=250,mem=25,gres/gpu=750|4|1\n')


def test_multifactor_before_weighting():
    assert good('prio', '-f', MULTIFACTOR, '-P', '-n') == (
        'JOBID|PARTITION|USER|ACCOUNT|PRIORITY|AGE|ASSOC|FAIRSHARE|JOBSIZE|PARTITIONFACTOR|QOS|TRES|ELIGIBLE\n'
        '4|batch|a1|a|11537|0|0|1|0.625|0.20000000000000001|0|cpu=0.25,mem=0.125,gres/gpu=0.25|1\n')
    assert good('prio', '-f', MULTIFACTOR, '-n').splitlines()[1].split() \
        == '4 batch a1 a 11537 0.0000000 0.0000000 1.0000000 0.6250000 0.2000000 0.0000000 ' \
           'cpu=0.25,mem=0.12,gres/gpu=0.25'.split()


def test_tickets():
    text = good('prio', '-f', TICKETS, '-P')
    assert text.splitlines()[0] == TICKET_COLUMNS
    tickets = {row['JOBID']: int(float(row['TICKETS'])) for row in parsable(text)}
    assert tickets == {'34': 83333333, '35': 41666666, '36': 27777777, '37': 250000000, '38': 83333333, '39': 0}
    people = good('prio', '-f', TICKETS).splitlines()
    assert people[0].split() == TICKET_COLUMNS.split('|')[:-1]
    assert people[4].split() \
        == '37 ub PENDING 0.55000 1.00000 0.40000 0.50000 1000 26 0 1026 250000000 0 250000000 0'.split()


def test_basic():
    document = {'now': 9, 'settings': {'PriorityType': 'priority/basic'},
                'jobs': [{**JOB, 'id': 2, 'submit': 5}, {**JOB, 'id': 1, 'submit': 3}, {**JOB, 'id': 3, 'state': 'HELD'}]}
    rows = parsable(good('prio', '-f', '-', '-P', text=document))
    assert list(rows[0]) == ['JOBID', 'PRIORITY', 'ELIGIBLE']
    assert [row['JOBID'] for row in rows] == ['2', '1', '3']
    assert int(rows[1]['PRIORITY']) - int(rows[0]['PRIORITY']) == 1 and rows[2]['PRIORITY'] == '0'


NOTE = "* not eligible to start: HELD (change its 'state'), or 'eligible' is in the future or null\n"


@pytest.mark.parametrize('model', ['multifactor', 'tickets', 'basic'])
def test_jobs_that_are_not_eligible(model):
    """sprio does not list them, qstat lists held jobs with priority 0."""
    keys = {1: {}, 2: {'state': 'HELD'}, 3: {'eligible': 10}, 4: {'eligible': None}, 5: {'eligible': 9}}
    document = {'now': 9, 'settings': {'PriorityType': 'priority/' + model},
                'jobs': [{**JOB, 'id': number, **more} for number, more in keys.items()]}
    text = good('prio', '-f', '-', '-P', text=document)
    assert text.splitlines()[0].endswith('|ELIGIBLE')
    assert {row['JOBID']: row['ELIGIBLE'] for row in parsable(text)} == {'1': '1', '2': '0', '3': '0', '4': '0', '5': '1'}
    rows = json.loads(good('prio', '-f', '-', '--json', text=document))
    assert [row['eligible'] for row in rows] == [True, False, False, False, True]
    status, table, note = run('prio', '-f', '-', text=document)
    assert (status, note) == (0, NOTE) and 'ELIGIBLE' not in table
    assert [line.split()[0] for line in table.splitlines()] == ['JOBID', '1', '2*', '3*', '4*', '5']
    assert good('prio', '-f', '-', '-o', 'user,PRIORITY', text=document).count('*') == 0  # without the mark, no note
    assert [line.split() for line in run('prio', '-f', '-', '-o', 'JOBID,ELIGIBLE', text=document)[1].splitlines()] \
        == [['JOBID', 'ELIGIBLE'], ['1', 'yes'], ['2*', 'no'], ['3*', 'no'], ['4*', 'no'], ['5', 'yes']]
    assert good('prio', '-f', '-', '5', text=document).splitlines()[1].split()[0] == '5'
    assert run('prio', '-f', '-', '3', text=document)[2] == NOTE


def test_running_jobs_are_eligible():
    document = {'now': 9, 'settings': {'PriorityFlags': 'CALCULATE_RUNNING'}, 'jobs': [{**JOB, 'state': 'RUNNING'}]}
    assert [row['ELIGIBLE'] for row in parsable(good('prio', '-f', '-', '-P', text=document))] == ['1']
    assert good('prio', '-f', '-', text=document).count('*') == 0


def test_factors_without_a_weight_are_0():
    document = json.loads(pathlib.Path(MULTIFACTOR).read_text())
    document['settings'] = {'PriorityWeightJobSize': 1, 'AccountingStorageTRES': 'gres/gpu', 'PriorityWeightTRES': 'cpu=2,mem=0'}
    row, = parsable(good('prio', '-f', '-', '-n', '-P', text=document))
    assert [row[name] for name in ('AGE', 'ASSOC', 'FAIRSHARE', 'JOBSIZE', 'PARTITIONFACTOR', 'QOS', 'TRES')] \
        == ['0', '0', '0', '0.625', '0', '0', 'cpu=0.25']
    document['jobs'][0]['set_priority'] = 5
    row, = parsable(good('prio', '-f', '-', '-n', '-P', text=document))
    assert (row['PRIORITY'], row['JOBSIZE'], row['TRES']) == ('5', '0', '')


def test_json():
    row, = json.loads(good('prio', '-f', MULTIFACTOR, '--json'))
    expected = {'model': 'priority/multifactor', 'job_id': 4, 'user': 'a1', 'account': 'a', 'partition': 'batch',
                'priority': 11537, 'job_size': 312.5, 'job_size_factor': 0.625, 'tres': 1025, 'billing': 4,
                'tres_terms': 'cpu=250,mem=25,gres/gpu=750', 'tickets': None}
    assert {key: row[key] for key in expected} == expected
    rows = json.loads(good('prio', '-f', TICKETS, '--json'))
    assert [row['job_id'] for row in rows] == [34, 35, 36, 37, 38, 39]
    assert rows[3]['functional_tickets'] == 250000000 and rows[3]['age'] is None
    assert json.loads(good('prio', '-f', '-', '--json', text={'now': 1})) == []


def suspended_document(**settings):
    jobs = [{**JOB, 'id': 1, 'state': 'RUNNING'}]
    jobs += [{**JOB, 'id': number, 'state': 'SUSPENDED', 'suspended_by': by}
             for number, by in ((2, 'queue'), (3, 'user'), (4, 'threshold'))]
    return {'now': 9, 'settings': {'PriorityType': 'priority/tickets', 'weight_tickets_functional': 1000, 'weight_user': 1,
                                   'weight_project': 0, 'weight_department': 0, 'weight_job': 0, **settings},
            'users': [{'name': 'u', 'fshare': 1}], 'jobs': [*jobs, {**JOB, 'id': 5}]}


def test_suspended_jobs():
    """By its queue: as running. By hand: it keeps its last values, which no document has. By a threshold: no tickets."""
    rows = {row['JOBID']: row for row in parsable(good('prio', '-f', '-', '-P', text=suspended_document()))}
    assert [rows[number]['STATE'] for number in '12345'] == ['RUNNING', 'SUSPENDED', 'SUSPENDED', 'SUSPENDED', 'PENDING']
    assert [rows[number]['TICKETS'] for number in '12'] == ['500', '500']
    assert float(rows['5']['TICKETS']) == pytest.approx(1000 / 3)
    columns = TICKET_COLUMNS.split('|')[4:-1]
    assert {rows['3'][column] for column in columns} == {''}
    assert {rows['4'][column] for column in ('NTCKTS', 'TICKETS', 'OVERRIDE', 'FUNCTIONAL', 'SHARE')} == {'0'}
    assert rows['4']['URG'] == rows['1']['URG']
    only = good('prio', '-f', '-', '-P', '3', text=suspended_document()).splitlines()
    assert only[1:] == ['3|u||SUSPENDED' + '|' * 12 + '|1']


def test_suspended_jobs_in_json_and_tables():
    rows = {row['job_id']: row for row in json.loads(good('prio', '-f', '-', '--json', text=suspended_document()))}
    numbers = ('priority', 'norm_tickets', 'urgency', 'tickets', 'override_tickets', 'functional_tickets', 'share_tickets')
    assert [rows[3][name] for name in numbers] == [None] * len(numbers) and rows[3]['state'] == 'SUSPENDED'
    assert [rows[4][name] for name in numbers[3:]] == [0] * 4 and rows[4]['urgency'] == rows[1]['urgency']
    assert rows[2]['tickets'] == 500
    lines = good('prio', '-f', '-', text=suspended_document()).splitlines()
    assert lines[3].split() == ['3', 'u', 'SUSPENDED']
    assert lines[4].split()[:3] == ['4', 'u', 'SUSPENDED']
    by_priority = good('prio', '-f', '-', '--sort', 'priority', '-o', 'job_id,priority', '-P', text=suspended_document())
    assert sorted(line.split('|')[0] for line in by_priority.splitlines()[1:]) == ['1', '2', '3', '4', '5']


def test_an_array_at_its_limit():
    document = suspended_document()
    document['jobs'] = [{**JOB, 'id': 4000000001, 'state': 'RUNNING'},
                        {**JOB, 'array_tasks': 5, 'array_limit': 1, 'running_tasks': 1}, {**JOB, 'id': 2}]
    rows = {row['JOBID']: row for row in parsable(good('prio', '-f', '-', '-P', text=document))}
    assert rows['1']['STATE'] == 'PENDING'
    assert {rows['1'][column] for column in TICKET_COLUMNS.split('|')[4:-1]} == {'0'}
    assert rows['2']['TICKETS'] == '500' and rows['4000000001']['TICKETS'] == '1000'
    document['jobs'][1]['array_limit'] = 2
    rows = {row['JOBID']: row for row in parsable(good('prio', '-f', '-', '-P', text=document))}
    assert rows['1']['TICKETS'] == '500' and float(rows['2']['TICKETS']) == pytest.approx(1000 / 3)


# --- options ---

def test_one_job():
    rows = parsable(good('prio', '-f', TICKETS, '-P', '38'))
    assert [row['JOBID'] for row in rows] == ['38']
    assert rows[0] == parsable(good('prio', '-f', TICKETS, '-P'))[4]
    assert run('prio', '-f', TICKETS, '99') == (2, '', TICKETS + ': no job 99 in this scenario\n')
    assert run('prio', '-f', TICKETS, 'x') == (2, '', "fairlead prio: JOB: 'x' is not a job id (such as 5, or 5_3 for task "
                                                   "3 of an array)\n")
    assert run('prio', '-f', TICKETS, '38_1') == (2, '', "fairlead prio: JOB: '38_1' is a task; give the job's id to list "
                                                      "all its tasks\n")


def test_headings():
    assert good('prio', '-f', MULTIFACTOR, '-P', '--noheader').startswith('4|batch|')
    assert good('prio', '-f', MULTIFACTOR, '--noheader').startswith('4  ')
    assert good('prio', '-f', '-', '-P', text={'now': 1}).count('\n') == 1
    assert good('prio', '-f', '-', text={'now': 1}) == ''


def test_running_jobs():
    document = {'now': 9, 'jobs': [{**JOB, 'state': 'RUNNING'}, {**JOB, 'id': 2}]}
    assert [row['JOBID'] for row in parsable(good('prio', '-f', '-', '-P', text=document))] == ['2']
    status, _, err = run('prio', '-f', '-', text=document)
    assert (status, err) == (0, '1 running or suspended job is not listed; PriorityFlags=CALCULATE_RUNNING lists it\n')
    document['settings'] = {'PriorityFlags': 'CALCULATE_RUNNING'}
    assert [row['JOBID'] for row in parsable(good('prio', '-f', '-', '-P', text=document))] == ['1', '2']


def test_names_do_not_break_lines():
    document = {'now': 9, 'jobs': [{**JOB, 'user': 'a|bé'}]}
    assert parsable(good('prio', '-f', '-', '-P', text=document))[0]['USER'] == 'a?bé'


@pytest.mark.parametrize('arguments, words', [
    (['-f', MULTIFACTOR, '-P', '--json'], '--json and --parsable'),
    (['-f', TICKETS, '-n'], '--normalized requires priority/multifactor; this scenario has priority/tickets'),
    (['-f', 'examples'], 'examples: is a directory'),
    (['-f', 'no/such'], 'no/such: No such file or directory'),
    (['-f', '/dev/zero'], '/dev/zero:1:1: the text contains a zero byte'),
])
def test_refused_options(arguments, words):
    status, out, err = run('prio', *arguments)
    assert (status, out, err.count('\n')) == (2, '', 1) and words in err


# --- refusals ---

@pytest.mark.parametrize('text, message', [
    ('', '-: is empty; a scenario is a JSON document'),
    ('{"now":\n 1,\0}', '-:2:4: the text contains a zero byte'),
    ('{\n "now" 1}', "-:2:8: ':' expected near '1'"),
    ('{"now": 1, "now": 1}', "-:1:16: duplicate object key near '\"now\"'"),
    ('[]', '-: the document: a list is not an object'),
    ('{"now": 1, "jobs": [{"id": 1, "user": "u", "submit": 1, "partition": "fats"}]}',
     "-: jobs[0].partition: 'fats' is not a partition of this document, which has none"),
    ('{"now": 1, "settings": {"PriorityWeightTRES": "gres/gpu=1"}}',
     "-: settings.PriorityWeightTRES: 'gres/gpu' is not a tracked TRES (AccountingStorageTRES)"),
    ('{"now": 1, "jobs": [{"id": 1, "user": "u", "submit": 1, "suspended_by": "queue"}]}',
     '-: jobs[0].suspended_by: is only accepted with the state SUSPENDED'),
    ('{"now": 1, "jobs": [{"id": 1, "user": "u", "submit": 1, "running_tasks": 2}]}',
     "-: jobs[0].running_tasks: is only accepted with 'array_limit', or with the setting max_aj_instances"),
    ('{"now": 1, "jobs": [{"id": 1, "user": "u\\u001b[31m", "submit": 1}]}',
     "-: jobs[0].user: 'u?[31m' is not a name of 1 to 255 printable bytes"),
])
def test_refused_documents(text, message):
    assert run('prio', '-f', '-', '-P', text=text) == (2, '', message + '\n')
    if text.startswith('{'):
        assert run('share', '-f', '-', '-P', text=text) == (2, '', message + '\n')


def test_long_messages_stay_on_a_line():
    document = {'name': 'n'}
    for _ in range(70):
        document = {'name': 'n', 'children': [document]}
    status, out, err = run('prio', '-f', '-', text={'now': 1, 'share_tree': document})
    assert (status, out, err.count('\n')) == (2, '', 1) and err.endswith('more than 64 levels deep\n')
    status, _, err = run('prio', '-f', '-', text={'now': 1, 'x' * 100000: 1})
    assert (status, err.count('\n')) == (2, 1) and len(err) < 600


# --- shares ---

def random_tree(seed):
    chance = random.Random(seed)
    rows = [{'account': 'a%d' % i, 'parent': chance.choice(['root'] + ['a%d' % k for k in range(i)]),
             'shares': chance.choice([0, 1, 3, 'parent'])} for i in range(8)]
    rows += [{'account': 'a%d' % chance.randrange(8), 'user': 'u%d' % i, 'shares': chance.choice([0, 1, 2, 'parent']),
              'usage': chance.choice([0, 100, chance.random() * 1e6])} for i in range(30)]
    return rows


def as_tsv(rows):
    lines = ['parent\taccount\tuser\tshares\tusage']
    lines += ['%s\t%s\t%s\t%s\t%r' % (row.get('parent', '') if 'user' not in row else '', row['account'],
                                      row.get('user', ''), row['shares'], row.get('usage', 0)) for row in rows]
    return '\n'.join(lines) + '\n'


@pytest.mark.parametrize('settings, options', [
    ({}, []),
    ({'FairTreeTies': 'slurm'}, ['--ties', 'slurm']),
    ({'PriorityFlags': 'NO_FAIR_TREE', 'FairShareDampeningFactor': 3}, ['--algorithm', 'classic', '--dampening', '3']),
    ({'PriorityFlags': 'DEPTH_OBLIVIOUS'}, ['--algorithm', 'depth-oblivious']),
])
@pytest.mark.parametrize('form', [['-P'], ['--json'], []])
def test_shares_of_a_scenario_are_those_of_a_tree(settings, options, form):
    for seed in range(10):
        rows = random_tree(seed)
        expected = good('share', '-f', '-', *form, *options, text=as_tsv(rows))
        assert good('share', '-f', '-', *form, text={'now': 1, 'settings': settings, 'tree': rows}) == expected
        assert good('share', '-f', '-', *form, *options, text={'now': 1, 'tree': rows}) == expected


def test_options_go_before_settings():
    rows = random_tree(1)
    document = {'now': 1, 'tree': rows, 'settings': {'PriorityFlags': 'NO_FAIR_TREE', 'FairShareDampeningFactor': 3}}
    assert good('share', '-f', '-', '-P', '--algorithm', 'fair-tree', text=document) \
        == good('share', '-f', '-', '-P', text=as_tsv(rows))
    assert good('share', '-f', '-', '-P', '--dampening', '2', text=document) \
        == good('share', '-f', '-', '-P', '--algorithm', 'classic', '--dampening', '2', text=as_tsv(rows))


def test_a_factor_is_the_one_of_the_share_listing():
    rows = random_tree(2)
    document = {'now': 1, 'settings': {'PriorityWeightFairshare': 1000000}, 'tree': rows,
                'jobs': [{**JOB, 'id': i + 1, 'user': 'u%d' % i} for i in range(30)]}
    shares = {row['User']: float(row['FairShare']) for row in parsable(good('share', '-f', '-', '-P', text=document))
              if row['User']}
    for row in parsable(good('prio', '-f', '-', '-P', '-n', text=document)):
        assert float(row['FAIRSHARE']) == shares[row['USER']]


def test_a_document_may_begin_with_blanks():
    assert good('share', '-f', '-', '-P', text=' \n\t{"now": 1, "tree": [{"account": "a"}]}').count('\n') == 2
    assert good('share', '-f', '-', '-P', text='\ufeff{"now": 1}').count('\n') == 1
