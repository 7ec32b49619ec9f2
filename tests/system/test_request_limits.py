"""Requests beyond the limits of docs/limits.md: what could not be launched is refused at submission."""
import json
import os
import pwd

import pytest

from conftest import SocketConnection, until


def request(instance, method, target, body=None):
    connection = SocketConnection(instance.socket)
    try:
        connection.request(method, '/v1/' + target, json.dumps(body) if body is not None else None)
        reply = connection.getresponse()
        return reply.status, dict(reply.getheaders()), reply.read().decode()
    finally:
        connection.close()


def job(**members):
    return {'directory': '/tmp', 'command': 'c', 'held': True, 'arguments': ['true'], 'environment': []} | members


STRING, STRINGS, BYTES = 131071, 1000000, 60 << 20
TOO_LARGE = [
    (job(arguments=['true', 'x' * (STRING + 1)]), 'arguments[1]: has 131072 bytes; Linux accepts at most 131071'),
    (job(environment=['A=' + 'x' * (STRING - 1)]), 'environment[0]: has 131072 bytes; Linux accepts at most 131071'),
    (job(environment=['A=1'] * (STRINGS + 1)), 'environment: the list has 1000001 entries; at most 1000000 are accepted'),
    (job(arguments=[], script='#!/bin/sh\n' + 'x' * BYTES), 'have 62914570 bytes in all; at most 62914560 are accepted'),
]


@pytest.mark.parametrize('body,part', TOO_LARGE, ids=['argument', 'variable', 'variables', 'all'])
def test_what_cannot_be_launched_is_refused(shared, body, part):
    status, _, reply = request(shared, 'POST', 'jobs', body)
    assert status == 422 and part in json.loads(reply)['error']['message'], reply[:300]
    assert shared.json('queue') == []


def test_the_longest_argument_runs(shared):
    path = shared.work / 'out'
    body = job(held=False, arguments=['sh', '-c', 'echo ${#1} ${#A}', 'sh', 'x' * STRING], out=str(path),
               directory=str(shared.work), environment=['PATH=/usr/bin:/bin', 'A=' + 'x' * (STRING - 2)])
    status, _, reply = request(shared, 'POST', 'jobs', body)
    assert status == 201, reply
    shared.good('wait', json.loads(reply)['job_id'])
    assert shared.good('log', json.loads(reply)['job_id']) == '131071 131069\n'


def test_too_many_ids_are_refused(shared):
    ids = [str(i) for i in range(1, 100002)]
    status, _, reply = request(shared, 'POST', 'jobs/hold', {'ids': ids, 'partial': True})
    assert status == 422 and '100001 ids; a request can name at most 100000' in reply, reply[:300]


@pytest.mark.parametrize('count', [1000, 1001, 100000])
def test_each_refusal_is_listed(shared, count):
    ids = [str(i) for i in range(1000001, 1000001 + count)]
    status, _, reply = request(shared, 'POST', 'jobs/hold', {'ids': ids, 'partial': True})
    answer = json.loads(reply)
    assert (status, answer['count']) == (200, 0)
    assert [row['id'] for row in answer['refused']] == ids
    assert {row['name'] for row in answer['refused']} == {'not-found'}


@pytest.mark.parametrize('target', ['verify', 'backup'])
def test_head_is_answered_without_a_body(shared, target):
    status, headers, body = request(shared, 'HEAD', target)
    assert (status, body) == (200, '')
    assert 'Fairlead-Commit' not in headers
    logged = (shared.state / 'fairleadd.log').read_text()
    assert 'event=backup' not in logged


# --- bytes of scripts, arguments and environments ---


SENTENCE = ('script, arguments and environment have %d bytes, and those of the jobs pending or running of %s %d; '
            '1 MiB at most are accepted (%s)')


def script_of(size, held=True):
    """A job of exactly so many bytes: with its one argument `x` and a zero byte behind it."""
    text = '#!/bin/sh\nsleep 600\n'
    return job(arguments=['x'], script=text + '#' * (size - 2 - len(text)), held=held)


@pytest.mark.parametrize('setting, of', [('max_input_mib', 'all users'), ('max_u_input_mib', 'user %s')])
def test_bytes_of_jobs_are_counted_exactly(instance, setting, of):
    """From the submission to the end: while they wait, are changed, run, are requeued, and after kill -9."""
    of = of.replace('%s', pwd.getpwuid(os.geteuid()).pw_name)

    def submit(size, held=True, query=''):
        status, _, reply = request(instance, 'POST', 'jobs' + query, script_of(size, held) | {'directory': str(instance.work)})
        return json.loads(reply)['job_id'] if status == 201 else (status, json.loads(reply).get('error', {}).get('message'))

    def assert_held(count):
        """So many bytes: one more than what is left of a MiB is refused. The size of a job is at least 30."""
        size = max(MIB - count + 1, 30)
        assert submit(size) == (422, SENTENCE % (size, of, count, setting))
        assert submit(size, query='?test_only=true') == (422, SENTENCE % (size, of, count, setting))

    MIB = 1 << 20
    instance.good('set', setting + '=1')
    assert_held(0)
    first, second = submit(300000), submit(400000, held=False)
    assert {row['job_id']: row['input_bytes'] for row in instance.json('queue')} == {first: 300000, second: 400000}
    assert_held(700000)
    instance.until_state(second, 'RUNNING')
    assert_held(700000)
    instance.good('account', 'add', 'other')
    instance.good('user', 'add', pwd.getpwuid(os.geteuid()).pw_name, '-A', 'other')
    instance.good('update', first, '-A', 'other', '-J', 'renamed')
    instance.good('requeue', '--hold', second)
    until(lambda: second in [row['job_id'] for row in instance.json('queue') if row['state'] == 'PENDING'], 'the requeue')
    assert_held(700000)
    instance.kill()
    instance.start()
    assert_held(700000)
    third = submit(MIB - 700000)  # to the last byte
    assert isinstance(third, int)
    assert_held(MIB)
    instance.good('cancel', second, third)
    assert_held(300000)
    # A job that has ended counts no more, until it is requeued.
    fill = submit(MIB - 400000)
    assert instance.bad('requeue', second).strip().endswith(SENTENCE % (400000, of, MIB - 100000, setting))
    instance.good('cancel', fill)
    instance.good('requeue', '--hold', second)
    assert_held(700000)
    instance.kill()
    instance.start()
    assert_held(700000)
    instance.good('set', setting + '=0')
    assert isinstance(submit(3 * MIB), int)


@pytest.mark.parametrize('target, body', [('history/prune', {'before_us': 1, 'dry_run': True}), ('clock', {'gap': 'ignore'})])
def test_a_long_body_is_read_once(instance, target, body):
    """One of 32 KiB or more is read in a thread."""
    replies = []
    for padding in '', ' ' * 40000:
        connection = SocketConnection(instance.socket)
        connection.request('POST', '/v1/' + target, json.dumps(body) + padding)
        reply = connection.getresponse()
        replies.append((reply.status, reply.read()))
        connection.close()
    assert replies[0] == replies[1]
