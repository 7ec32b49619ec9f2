"""Every request of the API, by every role: who may, who may not, and what the refusal reads. The requests come from the instance's
description of its API, and the expectations from the tables below: what has no row fails."""
import json
import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from role_world import ROLES, make_role_world  # noqa: E402
from test_system_launcher import why_not  # noqa: E402

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())

# The first role that may: the permission's role, in words of the refusal.
USER, OPERATOR, ADMINISTRATOR = 'user', 'an operator', 'an administrator'
RANK = {'owner': 0, 'other': 0, 'operator': 1, 'administrator': 2, 'root': 2}
FIRST = {USER: 0, OPERATOR: 1, ADMINISTRATOR: 2}

OBJECTS = ('Department', 'Partition', 'UserPolicy', 'Project', 'Qos', 'Resource', 'Host', 'Group', 'ParallelEnvironment', 'Calendar',
           'Quota')

# Operation: who may, and a body that is accepted.
OPERATIONS = {
    'listAccounts': (USER, None), 'addAccount': (ADMINISTRATOR, {'name': '%s'}), 'modifyAccount': (ADMINISTRATOR, {'shares': 2}),
    'deleteAccount': (ADMINISTRATOR, None),
    'listAudit': (ADMINISTRATOR, None), 'backUp': (ADMINISTRATOR, None),
    'showClock': (USER, None), 'settleGap': (ADMINISTRATOR, {'gap': 'count'}),
    'moveIn': (USER, {'instance': '0' * 32, 'jobs': []}), 'pruneHistory': (ADMINISTRATOR, {'older_than_s': 86400}),
    'listJobs': (USER, None),
    'describe': (USER, None), 'listPlaces': (USER, None), 'listPriorities': (USER, None), 'dumpScenario': (USER, None),
    'listSettings': (USER, None), 'listUse': (USER, None), 'listGpus': (USER, None), 'changeSettings': (ADMINISTRATOR, {'grace_s': 7}),
    'listShares': (USER, None), 'showStatus': (USER, None), 'listUsers': (USER, None),
    'addUser': (ADMINISTRATOR, {'name': '%s', 'account': 'default'}), 'modifyUser': (ADMINISTRATOR, {'shares': 3}),
    'deleteUser': (ADMINISTRATOR, None), 'whoami': (USER, None), 'verify': (OPERATOR, None),
    **{'list%ss' % kind: (USER, None) for kind in OBJECTS},
    **{'add' + kind: (ADMINISTRATOR, {'name': '%s'}) for kind in OBJECTS},
    **{'modify' + kind: (ADMINISTRATOR, {}) for kind in OBJECTS},
    **{'delete' + kind: (ADMINISTRATOR, None) for kind in OBJECTS},
}
# Operations on a job, which is the owner's: who may beside the owner, a body with the job's id as %s, and a suffix.
USERS, OPERATORS = 'users', 'operators'
OF_JOBS = {
    'submitJob': None, 'showSubmission': None,  # below
    'showJob': (USERS, None), 'checkJob': (USERS, None), 'waitForJob': (USERS, None),
    'updateJob': (OPERATORS, {'comment': 'x'}), 'cancelJob': (OPERATORS, None), 'cancelJobs': (OPERATORS, {'ids': ['%s']}),
    'holdJobs': (OPERATORS, {'ids': ['%s']}), 'releaseJobs': (OPERATORS, {'ids': ['%s']}),
    'requeueJobs': (OPERATORS, {'ids': ['%s']}), 'suspendJobs': (OPERATORS, {'ids': ['%s']}),
    'resumeJobs': (OPERATORS, {'ids': ['%s']}), 'signalJobs': (OPERATORS, {'ids': ['%s'], 'signal': 'USR1'}),
}

# Field of an update: who may set it to this value, from its default; OWNER: also the owner. A null value: not by update.
OWNER = 'owner'
UPDATES = {
    'array_limit': (OWNER, 1), 'account': (OWNER, 'default'), 'name': (OWNER, 'y'), 'comment': (OWNER, 'y'),
    'admin_comment': (OPERATOR, 'y'), 'dependency': (OWNER, 'none'), 'requeue': (OWNER, False), 'requeue_exit': (OWNER, '9'), 'retry': (OWNER, '2'),
    'max_requeue': (OWNER, 3), 'warn_signal': (OWNER, 'USR1@5'), 'cpus': (OWNER, 1), 'mem_mib': (OWNER, 200), 'gpus': (OWNER, 0), 'mem_per_cpu_mib': (OWNER, 100),
    'gpus_per_slot': (OWNER, 0), 'time_limit_s': (OWNER, 120), 'time_min_s': (OWNER, 60), 'slots_max': (OWNER, 0),
    'nodes': (OWNER, '1'), 'slots_per_node': (OWNER, 0), 'exclusive': (OWNER, True),
    'begin_us': (OWNER, 4000000000000000), 'deadline_us': (OPERATOR, 4000000000000000), 'partitions': (OWNER, 'main'),
    'qos': (OWNER, 'normal'), 'project': (OWNER, ''), 'requests': (OWNER, ''), 'soft': (OWNER, ''), 'queues': (OWNER, ''),
    'master_queues': (OWNER, ''), 'soft_queues': (OWNER, ''), 'constraint': (OWNER, ''), 'pe': (OWNER, ''), 'reserve': (OWNER, True),
    'nice': (OWNER, 5), 'site': (OPERATOR, 5), 'set_priority': (OPERATOR, 5), 'posix_priority': (OWNER, -5), 'job_share': (OWNER, 5),
    'override_tickets': (OPERATOR, 5),
}
# Values that only an operator may give, of fields that the owner may set otherwise.
RAISES = {'nice': -5, 'posix_priority': 5, 'max_requeue': 6}
# What a submission gives beside these, and every user may.
SUBMISSIONS = {'script', 'script_name', 'arguments', 'environment', 'department', 'command', 'directory', 'out', 'err', 'held', 'array', 'immediate_s', 'terminal'}


@pytest.fixture(scope='module')
def world():
    yield from make_role_world()


def operations(world):
    document = world.value('root', 'GET', '/v1/openapi.json')
    return {operation['operationId']: (method.upper(), path, operation)
            for path, methods in document['paths'].items() for method, operation in methods.items()}


def test_each_operation_has_a_row(world):
    assert set(operations(world)) == set(OPERATIONS) | set(OF_JOBS)


def fill(body, name):
    return body if body is None else json.loads(json.dumps(body).replace('%s', str(name)))


def refusal(world, role, first, what):
    return 'only %s may %s; you are user \'%s\'' % (first, what, world.users[role].pw_name)


def test_operations_without_a_job(world):
    """A user who may not is refused, whatever the request says of what exists; all others are not refused."""
    document = operations(world)
    permissions = {row['name']: row for row in world.value('root', 'GET', '/v1/whoami')['permissions']}
    for index, (name, (first, body)) in enumerate(OPERATIONS.items()):
        method, path, operation = document[name]
        assert 'an ' + operation['x-role'] == first or operation['x-role'] == first, name
        for role in ROLES:
            target = path.replace('{name}', 'thing%d' % index)
            status, text = world.ask(role, method, target, fill(body, 'thing%d%s' % (index, role)))
            where = (name, role, status, text[:300])
            if RANK[role] >= FIRST[first]:
                assert status != 403 and status < 500, where
                continue
            assert status == 403, where
            error = json.loads(text)['error']
            assert error['name'] == 'denied', where
            assert error['message'] == refusal(world, role, first, permissions[operation['x-permission']]['what']), where


def test_a_refusal_does_not_depend_on_what_there_is(world):
    """A user cannot find out by a refused change what exists, or which fields there are."""
    answers = {world.ask('other', 'PATCH', '/v1/qos/' + name, body)[1]
               for name in ('normal', 'no-such-qos') for body in ({'priority': 1}, {'no_such_field': 1}, {})}
    assert len(answers) == 1


@pytest.mark.parametrize('name', [name for name in OF_JOBS if OF_JOBS[name]])
def test_operations_on_a_job(world, name):
    method, path, _ = operations(world)[name]
    who, body = OF_JOBS[name]
    for role in ROLES:
        job = world.submit_job()
        target = path.replace('{id}', str(job)) + ('?timeout_s=0' if name == 'waitForJob' else '')
        status, text = world.ask(role, method, target, fill(body, job))
        if who == USERS or role != 'other':
            assert status == 200 or (name in ('requeueJobs', 'suspendJobs', 'resumeJobs', 'signalJobs') and status == 409), (role, text)
            continue
        assert status == 403, (role, text)
        assert json.loads(text)['error']['message'] == 'job %d belongs to %s' % (job, world.users['owner'].pw_name)
        assert world.value('root', 'GET', '/v1/jobs/%d' % job)['jobs'][0]['state'] == 'PENDING'


def test_only_the_user_of_a_job_reads_its_submission(world):
    """Its environment may have secrets, so that neither operators nor administrators read it."""
    job = world.submit_job(environment=['TOKEN=sesame'], held=True)
    for role in ROLES:
        status, text = world.ask(role, 'GET', '/v1/jobs/%d/submission' % job)
        if role == 'owner':
            assert status == 200 and json.loads(text)['environment'] == ['TOKEN=sesame'], (status, text)
            continue
        assert status == 403 and 'sesame' not in text, (role, text)
        assert json.loads(text)['error']['message'] == 'job %d belongs to %s' % (job, world.users['owner'].pw_name)


def test_all_jobs_of_a_selection_are_ones_own(world):
    job = world.submit_job()
    own = world.submit_job('other')
    assert world.value('other', 'POST', '/v1/jobs/cancel', {'all': True})['count'] >= 1
    states = {row['job_id']: row['state'] for row in world.value('root', 'GET', '/v1/jobs?which=all')['jobs']}
    assert (states[job], states[own]) == ('PENDING', 'CANCELLED')


def test_each_field_of_an_update_has_a_row(world):
    schemas = world.value('root', 'GET', '/v1/openapi.json')['components']['schemas']
    assert set(schemas['Update']['properties']) == set(UPDATES)
    assert set(schemas['Submit']['properties']) == (set(UPDATES) - {'array_limit'}) | SUBMISSIONS


@pytest.mark.parametrize('field', UPDATES)
@pytest.mark.parametrize('role', ROLES)
def test_fields_of_an_update(world, role, field):
    who, value = UPDATES[field]
    values = [(who, value)] + ([(OPERATOR, RAISES[field])] if field in RAISES else [])
    for needed, given in values:
        job = world.submit_job(**({'array': '0-3'} if field == 'array_limit' else {}))
        status, text = world.ask(role, 'PATCH', '/v1/jobs/%d' % job, {field: given})
        may = RANK[role] >= 1 or (role == 'owner' and needed == OWNER)
        assert (status != 403) == may, (needed, given, text)
        if role == 'other':
            assert 'belongs to' in text
        elif not may:
            assert re.search(r"only an operator may|may not have one", json.loads(text)['error']['message']), text
        if may:
            assert status in (200, 400), text


@pytest.mark.parametrize('field', [name for name in UPDATES if name != 'array_limit'])
def test_fields_of_a_submission(world, field):
    who, value = UPDATES[field]
    for needed, given in [(who, value)] + ([(OPERATOR, RAISES[field])] if field in RAISES else []):
        for role in ROLES:
            body = {'name': 'x', 'command': 'true', 'directory': '/tmp', 'held': True, 'arguments': ['true'], 'environment': [],
                    field: given}
            status, text = world.ask(role, 'POST', '/v1/jobs', body)
            if role == 'root':
                assert status == 403 and 'jobs of root are not run' in text, text
                continue
            may = needed == OWNER or RANK[role] >= 1
            assert (status != 403) == may, (role, needed, given, status, text)


def read_field_rows():
    """role_fields.txt: {operation: (first role, fields)}."""
    rows = {}
    for block in pathlib.Path(__file__).with_name('role_fields.txt').read_text().split('\n\n')[1:]:
        head, *fields = block.split('\n')
        name, role = head.split()
        rows[name] = (role, set(' '.join(fields).split()))
    return rows


FIELD_ROWS = read_field_rows()


def fields_of(world, operation):
    """The fields of its body; of the settings, which the description does not list, their names."""
    if operation['operationId'] == 'changeSettings':
        return {row['name'] for row in world.value('root', 'GET', '/v1/settings')['settings']}
    schema = operation['requestBody']['content']['application/json']['schema']
    while '$ref' in schema:
        schema = world.value('root', 'GET', '/v1/openapi.json')['components']['schemas'][schema['$ref'].split('/')[-1]]
    return set(schema['properties'])


def test_each_field_of_a_body_has_a_row(world):
    """Of accounts, associations, objects, settings and all other requests; those of jobs are above."""
    bodies = {name: operation for name, (_, _, operation) in operations(world).items() if 'requestBody' in operation}
    assert set(bodies) == set(FIELD_ROWS) | {'submitJob', 'updateJob'}
    for name, (role, fields) in FIELD_ROWS.items():
        assert (name, bodies[name]['x-role'], fields_of(world, bodies[name])) == (name, role, fields)


@pytest.mark.parametrize('name', [name for name in FIELD_ROWS if name in OPERATIONS])
def test_fields_of_a_body(world, name):
    """With each field alone, by each role; its value is of a wrong type, so nothing changes. Who may not is refused whatever it is."""
    method, path, operation = operations(world)[name]
    permissions = {row['name']: row for row in world.value('root', 'GET', '/v1/whoami')['permissions']}
    first, fields = FIELD_ROWS[name]
    first = {USER: USER, 'operator': OPERATOR, 'administrator': ADMINISTRATOR}[first]
    for field in sorted(fields):
        for role in ROLES:
            status, text = world.ask(role, method, path.replace('{name}', 'no-such'), {field: {'x': 1}})
            where = (name, field, role, status, text[:300])
            if RANK[role] >= FIRST[first]:
                assert 400 <= status < 500 and status != 403, where
            else:
                what = permissions[operation['x-permission']]['what']
                assert (status, json.loads(text)['error']['message']) == (403, refusal(world, role, first, what)), where


@pytest.mark.parametrize('field, value', [('uid', 0), ('gid', 0), ('user', 'root'), ('launch_id', 1), ('state', 'RUNNING')])
def test_what_no_request_may_set(world, field, value):
    """Identity comes from the kernel only: fields that an instance sets are unknown in requests."""
    job = world.submit_job()
    for role in ROLES:
        assert world.ask(role, 'PATCH', '/v1/jobs/%d' % job, {field: value})[0] == 400
        body = {'name': 'x', 'command': 'true', 'directory': '/tmp', 'arguments': ['true'], 'environment': [], field: value}
        assert world.ask(role, 'POST', '/v1/jobs', body)[0] == 400


def test_only_an_operator_releases_the_hold_of_an_operator(world):
    job = world.submit_job(held=False, begin_us=4000000000000000)
    world.value('operator', 'POST', '/v1/jobs/hold', {'ids': [str(job)]})
    status, text = world.ask('owner', 'POST', '/v1/jobs/release', {'ids': [str(job)]})
    assert status == 403 and 'only an operator can release it' in text
    world.value('operator', 'POST', '/v1/jobs/release', {'ids': [str(job)]})


@pytest.mark.parametrize('role, expected, source', [
    ('owner', 'user', None), ('other', 'user', None), ('operator', 'operator', 'group'), ('administrator', 'administrator', 'group'),
    ('root', 'administrator', 'uid 0')])
def test_whoami(world, role, expected, source):
    user = world.users[role]
    answer = world.value(role, 'GET', '/v1/whoami')
    assert (answer['uid'], answer['gid'], answer['user'], answer['role']) == (user.pw_uid, user.pw_gid, user.pw_name, expected)
    assert answer['role_from'] == ('group ' + user.pw_name if source == 'group' else source)
    assert (answer['instance'], answer['socket'], answer['daemon_user']) == (
        'system', str(world.socket), world.accounts.daemon.pw_name)
    assert answer['hidden'] == []
    for row in answer['permissions']:
        first = {'user': 0, 'operator': 1, 'administrator': 2}[row['role']]
        assert row['allowed'] == (RANK[role] >= first), row
    text = world.good(None if role == 'root' else user, 'whoami')
    assert re.search(r'^User +%s \(uid %d, gid %d\)$' % (user.pw_name, user.pw_uid, user.pw_gid), text, re.M), text
    assert re.search(r'^Role +%s' % expected, text, re.M)
    rows = world.good(None if role == 'root' else user, 'whoami', '-P').splitlines()
    assert rows[0] == 'name|allowed|role|what' and len(rows) == len(answer['permissions']) + 1


def test_whoami_names_accounts(world):
    world.submit_job()
    answer = world.value('owner', 'GET', '/v1/whoami')
    assert answer['default_account'] == 'default'
    assert [(row['name'], row['account']) for row in answer['associations']] == [(world.users['owner'].pw_name, 'default')]


def test_help_lists_each_permission(world):
    text = world.good(None, 'help', 'permissions')
    for row in world.value('root', 'GET', '/v1/whoami')['permissions']:
        assert re.search(r'^  %s +%s$' % (row['name'], re.escape(row['what'])), text, re.M), row
