"""Requests beyond the limits of docs/limits.md: what could not be launched is refused at submission."""
import json

import pytest

from conftest import SocketConnection


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
