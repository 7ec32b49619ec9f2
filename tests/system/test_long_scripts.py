"""Long scripts: stored in pieces before their job is accepted, and read by a thread when it starts."""
import hashlib
import http.client
import json
import socket
import sqlite3

import pytest

from conftest import SocketConnection, until

PIECE = 256 << 10
MANY = 16 << 20


def job(instance, **members):
    return {'directory': str(instance.work), 'command': 'c', 'out': 'out', 'environment': ['PATH=/usr/bin:/bin']} | members


def request(instance, body):
    connection = SocketConnection(instance.socket)
    try:
        connection.request('POST', '/v1/jobs', json.dumps(body))
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())
    finally:
        connection.close()


def submit(instance, **members):
    status, reply = request(instance, job(instance, **members))
    assert status == 201, reply
    return reply['job_id']


def script(length, first='sha256sum < "$0"'):
    text = '#!/bin/sh\n%s\nexit\n' % first
    return text + 'x' * (length - len(text))


def counts(instance):
    """Of contents in pieces, of pieces, and of contents that no job has."""
    database = sqlite3.connect('file:%s?mode=ro' % (instance.state / 'fairlead.db'), uri=True)
    try:
        return database.execute('SELECT (SELECT count(*) FROM content WHERE piece_count > 0),'
                                ' (SELECT count(*) FROM content_piece), (SELECT count(*) FROM loose_content)').fetchone()
    finally:
        database.close()


def until_counts(instance, *expected):
    until(lambda: counts(instance) == expected, 'contents to be %r, not %r' % (expected, counts(instance)))


def test_a_long_script_runs_as_it_was_submitted(instance):
    instance.start()
    text = script(MANY)
    first, second = submit(instance, script=text, out='%j'), submit(instance, script=text, out='%j')
    until_counts(instance, 1, MANY // PIECE, 0)
    for id in (first, second):
        instance.good('wait', id)
        assert instance.good('log', id) == hashlib.sha256(text.encode()).hexdigest() + '  -\n'


@pytest.mark.parametrize('length', [PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 2 * PIECE + 1])
def test_lengths_at_the_edge_of_a_piece(instance, length):
    instance.start()
    text = script(length)
    id = submit(instance, script=text)
    instance.good('wait', id)
    assert instance.good('log', id) == hashlib.sha256(text.encode()).hexdigest() + '  -\n'


def test_arguments_and_variables_may_be_long_together(instance):
    instance.start()
    arguments, variables = ['a' * 100000] * 5 + [''], ['V%d=%s' % (i, 'v' * 100000) for i in range(5)]
    id = submit(instance, arguments=['/bin/sh', '-c', 'echo $# ${#1} ${#5} ${#6} ${#V4} $FAIRLEAD_JOB_ID', 'sh'] + arguments,
                environment=['PATH=/usr/bin:/bin'] + variables)
    assert counts(instance)[0] == 2
    instance.good('wait', id)
    assert instance.good('log', id) == '6 100000 100000 0 100000 %d\n' % id


def test_nothing_is_left_of_a_job_that_is_refused(instance):
    instance.start()
    status, reply = request(instance, job(instance, script=script(MANY), account='nobody'))
    assert status == 404, reply
    until_counts(instance, 0, 0, 0)
    assert instance.json('queue') == []


def stored_bytes(instance):
    """Of the database and its write-ahead log."""
    return sum((instance.state / name).stat().st_size for name in ('fairlead.db', 'fairlead.db-wal') if (instance.state / name).exists())


@pytest.mark.parametrize('settings, members, status', [
    (['max_jobs=1'], {}, 422),
    (['max_u_jobs=1'], {}, 422),
    (['max_input_mib=1'], {}, 422),
    (['max_u_input_mib=1'], {}, 422),
    ([], {'account': 'nobody'}, 404),
    ([], {'partitions': 'nowhere'}, 404),
    ([], {'requests': 'nix=1'}, 404)])
def test_a_job_that_is_refused_is_not_stored_first(instance, settings, members, status):
    instance.start()
    submit(instance, arguments=['true'], held=True)
    if settings:
        instance.good('set', *settings)
    before = stored_bytes(instance)
    refused, reply = request(instance, job(instance, script=script(MANY), **members))
    assert refused == status, reply
    assert stored_bytes(instance) - before < 4 * PIECE
    until_counts(instance, 0, 0, 0)
    assert len(instance.json('queue')) == 1


def test_limits_count_again_once_the_script_is_stored(instance):
    instance.start()
    submit(instance, arguments=['true'], held=True)
    client = send_without_waiting(instance, job(instance, script=script(MANY), held=True))
    until(lambda: counts(instance)[1] >= 1, 'pieces')
    instance.good('set', 'max_jobs=1')
    reply = http.client.HTTPResponse(client)
    reply.begin()
    answer = json.loads(reply.read())
    client.close()
    jobs = len(instance.json('queue'))
    assert (reply.status, jobs) in ((422, 1), (201, 2)), answer  # it may have been stored before the setting
    until_counts(instance, *((1, MANY // PIECE, 0) if jobs == 2 else (0, 0, 0)))


def test_an_order_to_end_comes_after_the_start(instance):
    instance.start()
    id = submit(instance, script=script(MANY, 'exec sleep 1000'))
    instance.until_state(id, 'RUNNING', 'STARTING')
    instance.good('cancel', id)
    assert instance.until_state(id, 'CANCELLED')


def send_without_waiting(instance, body):
    """The socket of a submission of which nothing is read."""
    text = json.dumps(body).encode()
    client = socket.socket(socket.AF_UNIX)
    client.connect(str(instance.socket))
    client.sendall(b'POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n' % len(text) + text)
    return client


@pytest.mark.parametrize('pieces', [1, 20, 50])
def test_a_daemon_that_is_killed_leaves_the_job_whole_or_nothing(instance, pieces):
    instance.start()
    text = script(MANY)
    client = send_without_waiting(instance, job(instance, script=text))
    until(lambda: counts(instance)[1] >= pieces, 'pieces')
    instance.kill()
    client.close()
    instance.start()
    ids = [row['id'] for row in instance.json('queue') + instance.json('history')]
    until_counts(instance, *((1, MANY // PIECE, 0) if ids else (0, 0, 0)))
    for id in ids:
        instance.good('wait', id)
        assert instance.good('log', id) == hashlib.sha256(text.encode()).hexdigest() + '  -\n'


def test_a_daemon_that_is_killed_before_a_long_start_starts_it_once(instance):
    instance.start()
    text = script(MANY, 'echo began >> began')
    id = submit(instance, script=text)
    instance.kill()  # the launch is committed, and the order is being made or sent
    instance.start()
    instance.good('wait', id)
    assert (instance.work / 'began').read_text() == 'began\n'


def test_a_stop_answers_a_submission_that_is_being_stored(instance):
    instance.start()
    client = send_without_waiting(instance, job(instance, script=script(MANY)))
    until(lambda: counts(instance)[1] >= 1, 'pieces')
    instance.good('stop')
    reply = http.client.HTTPResponse(client)
    reply.begin()
    answer = json.loads(reply.read())
    client.close()
    instance.start()
    ids = [row['id'] for row in instance.json('queue', '--all') + instance.json('history')]
    assert ids == ([str(answer['job_id'])] if reply.status == 201 else [])
    until_counts(instance, *((1, MANY // PIECE, 0) if ids else (0, 0, 0)))
