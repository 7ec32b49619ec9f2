"""What users see of each other, by the setting private_data: a job with secret words in each of its texts, and every reply of the API
searched for them, of the job while it waits, runs and has ended."""
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exec_world import until  # noqa: E402
from role_world import make_role_world  # noqa: E402
from test_system_launcher import why_not  # noqa: E402

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())

KINDS = 'jobs', 'details', 'usage', 'users'
FAR_US = 4000000000000000


@pytest.fixture(scope='module')
def world():
    yield from make_role_world()


@pytest.fixture(scope='module')
def secrets(world):
    """Jobs of the owner: one that waits, one that runs and one that has ended. All texts have the word sesame in them."""
    home = world.home(world.users['owner'])
    world.value('root', 'POST', '/v1/accounts', {'name': 'chemistry'})
    world.value('root', 'POST', '/v1/users', {'name': world.users['owner'].pw_name, 'account': 'chemistry'})
    world.value('root', 'POST', '/v1/user-policies', {'name': world.users['owner'].pw_name, 'fshare': 4711})
    common = {'command': 'sesame-command', 'directory': str(home), 'environment': ['SESAME=sesame-environment'],
              'comment': 'sesame-comment', 'requeue_exit': '77', 'retry': '3:exit=78'}

    def submit(stem, script, **fields):
        return world.submit_job(name='sesame-' + stem, script='#!/bin/sh\n# sesame-script\n' + script, script_name='sesame-script',
                                arguments=['sesame-argument'], out='sesame-out-%j', err='sesame-err-%j', **common, **fields)

    first = submit('ended', 'echo sesame; exit 3', held=False)
    world.value('owner', 'GET', '/v1/jobs/%d/wait?timeout_s=60' % first)
    running = submit('running', 'sleep 600', held=False)
    until(lambda: world.value('owner', 'GET', '/v1/jobs/%d' % running)['jobs'][0]['state'] == 'RUNNING', 'the job to run')
    waiting = submit('waiting', 'true', held=False, begin_us=FAR_US)
    named = submit('named', 'true', held=False, dependency='afterok:%d' % running)
    world.value('operator', 'PATCH', '/v1/jobs/%d' % waiting, {'admin_comment': 'sesame-admin'})
    assert (home / ('sesame-out-%d' % first)).exists()
    lost = world.submit_job(name='sesame-lost', held=False, arguments=['true'], command='true', directory=str(home / 'sesame-nowhere'))
    row = world.value('owner', 'GET', '/v1/jobs/%d/wait?timeout_s=60' % lost)['jobs'][0]
    assert 'cannot enter directory' in row['detail'] and 'sesame-nowhere' in row['detail']
    return {'ended': first, 'lost': lost, 'running': running, 'waiting': waiting, 'named': named}


def replies(world, jobs, role='other'):
    """Every reply that has no {name} of a thing, and all requests about the jobs, as (what, text)."""
    document = world.value('root', 'GET', '/v1/openapi.json')
    owner = world.users['owner'].pw_name
    for path, methods in document['paths'].items():
        if 'get' not in methods:
            continue
        targets = [path.replace('{id}', str(job)) for job in jobs.values()] if '{id}' in path else [path]
        queries = ['']
        names = [row['name'] for row in methods['get'].get('parameters', []) if row['in'] == 'query']
        if 'timeout_s' in names:
            queries = ['?timeout_s=0']
        if 'which' in names:
            queries = ['?which=all', '?which=ended', '?which=all&user=' + owner, '?which=all&account=chemistry', '?which=all&format=lines',
                       '?which=live&start=true', '?which=all&state=RUNNING', '?which=all&id=%d' % jobs['running']]
        elif 'format' in names:
            queries = ['', '?format=lines'] + (['?user=' + owner, '?account=chemistry', '?format=psv'] if 'account' in names else
                                               ['?job=%d' % jobs['waiting']])
        for target in targets:
            for query in queries:
                yield target + query, world.ask(role, 'GET', target + query)[1]
    for job in jobs.values():
        for verb in 'cancel', 'hold', 'release', 'requeue':
            for more in {}, {'partial': True}:
                yield '%s %d' % (verb, job), world.ask(role, 'POST', '/v1/jobs/' + verb, {'ids': [str(job)], **more})[1]
        yield 'update %d' % job, world.ask(role, 'PATCH', '/v1/jobs/%d' % job, {'comment': 'x'})[1]
        yield 'delete %d' % job, world.ask(role, 'DELETE', '/v1/jobs/%d' % job)[1]
    for select in {'user': owner}, {'name': 'sesame-waiting'}, {'account': 'chemistry'}:
        yield 'cancel %s' % select, world.ask(role, 'POST', '/v1/jobs/cancel', {'all': True, **select})[1]
    for job in jobs.values():
        body = {'name': 'x', 'command': 'true', 'directory': '/tmp', 'arguments': ['true'], 'environment': [], 'held': True,
                'dependency': 'afterok:%d' % job}
        yield 'depend %d' % job, world.ask(role, 'POST', '/v1/jobs?test_only=true', body)[1]


def set_private(world, kinds):
    world.value('root', 'PATCH', '/v1/settings', {'private_data': ','.join(kinds)})


def find(world, secrets, word):
    return [what for what, text in replies(world, secrets) if word in text.replace(what, '')]


def test_nothing_is_hidden_without_the_setting(world, secrets):
    """The words are in replies: a search that finds nothing must not be a search of nothing."""
    set_private(world, [])
    text = ''.join(text for _, text in replies(world, secrets))
    for word in 'sesame-running', 'sesame-waiting', 'sesame-command', 'sesame-comment', 'sesame-admin', 'sesame-out', world.users['owner'].pw_name:
        assert word in text, word
    for word in 'sesame-script', 'sesame-environment', 'sesame-argument':
        assert word not in text, word  # which no reply ever shows


def test_no_reply_has_a_word_of_another_users_job(world, secrets):
    for kinds in (['jobs'], ['details'], ['jobs', 'details']):
        set_private(world, kinds)
        assert find(world, secrets, 'sesame') == [], kinds
        assert find(world, secrets, str(world.home(world.users['owner']))) == [], kinds


def test_no_reply_names_another_user(world, secrets):
    """With all kinds. What the requests themselves name is no secret, so it is taken out of the replies."""
    set_private(world, KINDS)
    owner = world.users['owner'].pw_name
    found = [(what, text) for what, text in replies(world, secrets)
             if owner in text.replace("user '%s'" % owner, '') and '&user=' not in what and '?user=' not in what]
    assert found == []
    assert find(world, secrets, '4711') == []


def test_jobs_that_are_hidden_do_not_exist(world, secrets):
    """Whether such a job waits, runs or has ended: all requests get the same answer."""
    set_private(world, ['jobs'])
    assert world.value('other', 'GET', '/v1/jobs?which=all')['jobs'] == []
    for ask in (lambda j: world.ask('other', 'GET', '/v1/jobs/%d' % j), lambda j: world.ask('other', 'GET', '/v1/jobs/%d/wait?timeout_s=0' % j),
                lambda j: world.ask('other', 'GET', '/v1/jobs/%d_1/wait?timeout_s=0' % j), lambda j: world.ask('other', 'GET', '/v1/jobs/%d_1' % j),
                lambda j: world.ask('other', 'GET', '/v1/priorities?job=%d' % j),
                lambda j: world.ask('other', 'GET', '/v1/jobs/%d/check' % j), lambda j: world.ask('other', 'DELETE', '/v1/jobs/%d' % j),
                lambda j: world.ask('other', 'PATCH', '/v1/jobs/%d' % j, {'comment': 'x'}),
                lambda j: world.ask('other', 'POST', '/v1/jobs/cancel', {'ids': [str(j)]}),
                lambda j: world.ask('other', 'POST', '/v1/jobs/hold', {'ids': [str(j)]}),
                lambda j: world.ask('other', 'POST', '/v1/jobs/release', {'ids': [str(j)]}),
                lambda j: world.ask('other', 'POST', '/v1/jobs/requeue', {'ids': [str(j)]})):
        answers = set()
        for job in secrets.values():
            status, text = ask(job)
            assert status == 404, (status, text)
            answers.add(json.loads(text)['error']['message'].replace(str(job), 'N'))
        assert answers == {'job N does not exist, or is not yours'}
    status, text = world.ask('owner', 'GET', '/v1/priorities?job=%d' % secrets['ended'])
    assert (status, json.loads(text)['error']['message']) == (409, 'job %d has already ended (FAILED)' % secrets['ended'])
    body = {'name': 'x', 'command': 'true', 'directory': '/tmp', 'arguments': ['true'], 'environment': [], 'held': True}
    answers = set()
    for job in secrets.values():
        status, text = world.ask('other', 'POST', '/v1/jobs', {**body, 'dependency': 'afterany:%d' % job})
        assert status == 404, text
        answers.add(json.loads(text)['error']['message'].replace(str(job), 'N'))
    assert len(answers) == 1 and 'job N does not exist, or is not yours' in answers.pop()
    assert world.value('owner', 'GET', '/v1/jobs/%d' % secrets['running'])['jobs'][0]['state'] == 'RUNNING'


def test_details_leave_the_rows(world, secrets):
    set_private(world, ['details'])
    rows = {row['job_id']: row for row in world.value('other', 'GET', '/v1/jobs?which=all')['jobs']}
    row = rows[secrets['running']]
    assert (row['state'], row['user'], row['account'], row['name'], row['command'], row['directory'], row['comment'], row['uid']) == (
        'RUNNING', '(hidden)', '(hidden)', '(hidden)', '(hidden)', '', None, 65534)
    assert row['cpus'] == 1 and row['start_us'] > 0
    assert rows[secrets['named']]['dependency'] == ''
    assert world.value('other', 'GET', '/v1/jobs?which=all&user=' + world.users['owner'].pw_name)['jobs'] == []
    status, text = world.ask('other', 'DELETE', '/v1/jobs/%d' % secrets['running'])
    assert (status, json.loads(text)['error']['message']) == (403, 'job %d belongs to another user' % secrets['running'])
    assert '(hidden)' in world.good(world.users['other'], 'queue')


HAS_NO_WORD = {'user', 'account', 'name', 'command'}  # which are (hidden); and uid, which is the kernel's for ids that cannot be shown
PUBLIC = set(
    'id job_id task_id array_tasks array_limit task_count state held reason restarts cpus mem_mib gpus mem_per_cpu_mib gpus_per_slot '
    'time_limit_s time_min_s granted_time_s slots_max nodes slots_per_node exclusive immediate_s submit_us begin_us start_us end_us '
    'suspended_from_us suspended_us expected_start_us expected_places hosts cpu_ids gpu_ids '
    'partition qos pe tres billing'.split())


def test_hidden_details_have_no_value(world, secrets):
    """Every field of a job that is not public is null, or an empty text: no number stands for it. In all listings of the command line, too."""
    set_private(world, ['details'])
    other = world.users['other']
    for name, job in secrets.items():
        row = world.value('other', 'GET', '/v1/jobs/%d' % job)['jobs'][0]
        shown = {f: v for f, v in row.items() if f not in PUBLIC | HAS_NO_WORD | {'uid'} and v not in (None, '')}
        assert shown == {}, name
        listing = ['history'] if name in ('ended', 'lost') else ['queue']
        for command in listing, ['show', 'job', str(job)]:
            rows = json.loads(world.good(other, *command, '--json'))
            row = next(row for row in rows if row['job_id'] == job)
            assert {f for f, v in row.items() if f not in PUBLIC | HAS_NO_WORD | {'uid'} and v not in (None, '')} == set(), command
        fields = sorted(set(row) - PUBLIC - HAS_NO_WORD - {'uid'})
        lines = world.good(other, *listing, '-P', '-o', ','.join(['job_id', *fields])).splitlines()
        line = next(line for line in lines if line.startswith('%d|' % job))
        assert line.strip('|') == str(job)
        for word in '-2147483645', '-1023', '-92233', 'GiB x s':
            assert word not in world.good(other, 'show', 'job', str(job))


def test_a_hidden_log_is_refused_in_words(world, secrets):
    set_private(world, ['details'])
    for job in secrets.values():
        assert world.bad(world.users['other'], 'log', str(job)) == 'fairlead log: job %d belongs to another user' % job


@pytest.mark.parametrize('role', ['owner', 'operator', 'administrator', 'root'])
def test_owners_and_operators_see_all(world, secrets, role):
    set_private(world, KINDS)
    rows = {row['job_id']: row for row in world.value(role, 'GET', '/v1/jobs?which=all')['jobs']}
    assert rows[secrets['running']]['name'] == 'sesame-running'
    assert rows[secrets['running']]['user'] == world.users['owner'].pw_name
    for job in secrets['waiting'], secrets['named']:
        assert 'scheduling_info' in world.value(role, 'GET', '/v1/jobs/%d' % job)['jobs'][0]
    assert world.value(role, 'GET', '/v1/jobs/%d/check' % secrets['waiting'])['job_id'] == secrets['waiting']
    assert world.value(role, 'GET', '/v1/whoami')['hidden'] == (list(KINDS) if role == 'owner' else [])


def test_usage_and_users(world, secrets):
    owner = world.users['owner'].pw_name
    plural = next(iter(world.value('root', 'GET', '/v1/user-policies')))
    for kinds in ['usage'], ['users']:
        set_private(world, kinds)
        shares = world.value('other', 'GET', '/v1/shares')['shares']
        assert {row['user'] for row in shares} <= {None, world.users['other'].pw_name}
        assert 'chemistry' in {row['account'] for row in shares}
        assert world.ask('other', 'GET', '/v1/shares?user=' + owner)[0] == 404
        names = {row['name'] for row in world.value('other', 'GET', '/v1/users')['users']}
        assert (owner in names) == (kinds == ['usage'])
        policies = {row['name'] for row in world.value('other', 'GET', '/v1/user-policies')[plural]}
        assert (owner in policies) == (kinds == ['usage'])
    set_private(world, ['usage'])
    assert world.value('other', 'GET', '/v1/priorities')['priorities'] == []
    assert {row['fair_share'] for row in world.value('other', 'GET', '/v1/jobs')['jobs']
            if row['user'] == owner} == {None}


def test_totals_stay(world, secrets):
    set_private(world, KINDS)
    tasks = world.value('other', 'GET', '/v1/status')['tasks']
    assert (tasks['running'], tasks['pending']) == (1, 2)
    root = [row for row in world.value('other', 'GET', '/v1/shares')['shares'] if row['account'] == 'root'][0]
    assert root['running'] == 1


def test_what_has_all_of_it_is_refused(world, secrets):
    set_private(world, ['usage'])
    for path in '/v1/scenario', '/v1/verify':
        status, text = world.ask('other', 'GET', path)
        assert status == 403 and 'only an operator may read what private_data hides' in text
        assert world.ask('operator', 'GET', path)[0] == 200


@pytest.mark.parametrize('value', ['everything', 'jobs,,users', 'jobs users'])
def test_bad_values(world, value):
    status, text = world.ask('root', 'PATCH', '/v1/settings', {'private_data': value})
    assert status == 400 and 'is not one of jobs, details, usage, users' in text
