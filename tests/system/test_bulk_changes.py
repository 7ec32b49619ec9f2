"""Requests about many jobs, which the daemon carries out in slices. Other things happen between these, a crash too."""
import contextlib
import json
import os
import signal
import sqlite3
import time

import pytest

from conftest import SETTINGS, Instance, SocketConnection, until

JOBS = 20000


class Crowd:
    """An instance whose only CPU has a job that sleeps, and JOBS held jobs: rows that are copied from one."""

    def __init__(self, instance):
        self.instance = instance
        instance.start('--set', SETTINGS.replace('host_cpus=4', 'host_cpus=1'))
        self.sleeper = instance.submit('--', 'sleep', '1000')
        instance.until_state(self.sleeper, 'RUNNING')
        self.first = instance.submit('--hold', '--', 'touch', 'has_run')
        instance.good('stop')
        with self.database() as db:
            for table, key in (('job', 'id'), ('job_script', 'job_id')):
                columns = [row[1] for row in db.execute('PRAGMA table_info(%s)' % table)]
                terms = ['%s + i' % key if column == key else column for column in columns]
                db.execute('WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO %s SELECT %s FROM n, %s'
                           ' WHERE %s = %d' % (JOBS - 1, table, ', '.join(terms), table, key, self.first))
            db.execute('UPDATE counters SET next_job_id = ?', (self.first + JOBS,))
        self.ids = range(self.first, self.first + JOBS)
        instance.start()

    @contextlib.contextmanager
    def database(self):
        with contextlib.closing(sqlite3.connect(self.instance.state / 'fairlead.db', timeout=60)) as db, db:
            yield db

    def held(self):
        with self.database() as db:
            return db.execute('SELECT count(*) FROM job WHERE is_held AND ended_us IS NULL').fetchone()[0]

    def pending(self):
        with self.database() as db:
            return {row[0] for row in db.execute("SELECT id FROM job WHERE pending_tasks <> '' AND ended_us IS NULL")}

    def begin(self, *arguments):
        """Begins a command, and stops the daemon (SIGSTOP) once a part of its changes is committed."""
        pid = self.instance.pid()
        with self.database() as db:
            counted = "SELECT count(*), sum(is_held), sum(pending_tasks <> '') FROM job WHERE ended_us IS NULL"
            before = db.execute(counted).fetchone()
            command = self.instance.popen(*arguments)
            end = time.monotonic() + 60
            while db.execute(counted).fetchone() == before:
                assert time.monotonic() < end, 'no slice is committed'
        os.kill(pid, signal.SIGSTOP)
        self.stopped = pid
        return command

    def go_on(self):
        os.kill(self.stopped, signal.SIGCONT)

    def end(self, command):
        out, err = command.communicate(timeout=120)
        return command.returncode, out.decode(), err.decode()

    def post(self, path, **body):
        connection = SocketConnection(self.instance.socket)
        try:
            connection.request('POST', '/v1/jobs/' + path, json.dumps(body))
            reply = connection.getresponse()
            return reply.status, json.load(reply)
        finally:
            connection.close()


@pytest.fixture
def crowd(stopped):
    one = Crowd(stopped)
    yield one
    assert 'all agree' in stopped.good('verify')


def test_others_are_served_between_the_slices(crowd):
    """What is submitted meanwhile is not touched."""
    release = crowd.begin('release', '--all')
    submit = crowd.instance.popen('submit', '--hold', '--parsable', '--', 'true')
    assert 0 < crowd.held() < JOBS
    crowd.go_on()
    status, job, err = crowd.end(submit)
    assert (status, err) == (0, '')
    assert crowd.end(release) == (0, 'Released %d jobs\n' % JOBS, '')
    assert crowd.held() == 1 and crowd.instance.job(int(job))['held']


def test_two_of_them_are_carried_out_one_after_the_other(crowd):
    release = crowd.begin('release', '--all')
    hold = crowd.instance.popen('hold', '--all')
    crowd.go_on()
    assert crowd.end(release) == (0, 'Released %d jobs\n' % JOBS, '')
    assert crowd.end(hold)[0] == 0
    assert crowd.held() == JOBS


def test_it_goes_on_if_its_client_is_gone(crowd):
    release = crowd.begin('release', '--all')
    release.kill()
    release.communicate()
    assert 0 < crowd.held() < JOBS
    crowd.go_on()
    until(lambda: crowd.held() == 0, 'all to be released')


def test_nothing_starts_while_jobs_are_cancelled(crowd):
    """The job that runs is the first to be cancelled, and leaves its CPU."""
    crowd.instance.good('release', '--all')
    assert crowd.instance.good('cancel', '--all') == 'Cancelled %d jobs\n' % (JOBS + 1)
    until(lambda: crowd.instance.json('queue') == [], 'the end of the job that ran')
    assert not (crowd.instance.work / 'has_run').exists()


def test_other_jobs_start_while_jobs_are_cancelled(crowd):
    """A job that was not listed starts in one of the next rounds, and not after all slices."""
    crowd.instance.good('cancel', crowd.sleeper)
    crowd.instance.until_state(crowd.sleeper, 'CANCELLED')
    cancel = crowd.begin('cancel', '--all')
    connection = SocketConnection(crowd.instance.socket)
    connection.request('POST', '/v1/jobs', json.dumps({'directory': '/', 'out': '/dev/null', 'command': 'c', 'arguments': ['/bin/true'], 'environment': []}))
    crowd.go_on()
    other = json.load(connection.getresponse())['job_id']
    connection.close()
    assert crowd.end(cancel) == (0, 'Cancelled %d jobs\n' % JOBS, '')
    crowd.instance.good('wait', other)
    with crowd.database() as db:
        launched = db.execute('SELECT launch_us FROM task WHERE job_id = ?', (other,)).fetchone()[0]
        assert launched < db.execute('SELECT max(cancelled_us) FROM job').fetchone()[0]


def test_jobs_that_are_named_twice_or_unknown(crowd):
    """As in one event: each job counts once, and refusals are reported in the order of the references."""
    ids = [str(job) for job in crowd.ids[:3000]]
    named = ['999999', *ids, *ids, '%d_1' % crowd.first, '888888']
    status, reply = crowd.post('release', ids=named)
    assert status >= 400 and crowd.held() == JOBS, reply
    status, reply = crowd.post('release', ids=named, partial=True)
    assert (status, reply['count']) == (200, 3000)
    assert [row['id'] for row in reply['refused']] == ['999999', '%d_1' % crowd.first, '888888']
    assert crowd.held() == JOBS - 3000
    status, reply = crowd.post('hold', ids=ids)
    assert (status, reply['count'], crowd.held()) == (200, 3000, JOBS)


def test_a_dry_run_changes_nothing(crowd):
    lines = crowd.instance.good('release', '--all', '--dry-run').splitlines()
    assert lines == ['Would release %d jobs' % JOBS, *('  %d' % job for job in crowd.ids)]
    assert crowd.held() == JOBS


def locks(db):
    """Begins to write, unless the daemon is writing."""
    try:
        db.execute('BEGIN IMMEDIATE')
        return True
    except sqlite3.OperationalError:
        return False


def test_a_commit_that_fails_ends_it(crowd):
    """Another program keeps the database locked. The answer says how far it came."""
    release = crowd.begin('release', '--all')
    with contextlib.closing(sqlite3.connect(crowd.instance.state / 'fairlead.db', timeout=0, isolation_level=None)) as db:
        while not locks(db):
            crowd.go_on()  # it was stopped in a commit
            time.sleep(0.001)
            os.kill(crowd.stopped, signal.SIGSTOP)
        crowd.go_on()
        status, out, err = crowd.end(release)
        db.execute('ROLLBACK')
    released = JOBS - crowd.held()
    assert (status != 0, out) == (True, '')
    assert 'only %d of the jobs were changed' % released in err and 0 < released < JOBS
    assert crowd.instance.good('release', '--all') == 'Released %d jobs\n' % (JOBS - released)


def test_the_daemon_stops(crowd):
    release = crowd.begin('release', '--all')
    os.kill(crowd.stopped, signal.SIGTERM)
    crowd.go_on()
    status, out, err = crowd.end(release)
    until(lambda: not Instance.is_alive(crowd.stopped), 'the daemon to end')
    released = JOBS - crowd.held()
    assert (status != 0, out) == (True, '')
    assert 'the instance is stopping; %d of the jobs were changed before' % released in err and 0 < released < JOBS
    crowd.instance.start()


@pytest.mark.parametrize('command', ['release', 'cancel'])
def test_a_crash_in_between(crowd, command):
    """Each job is either as it was or changed, and the same request does the rest."""
    client = crowd.begin(command, '--all')
    os.kill(crowd.stopped, signal.SIGKILL)
    assert crowd.end(client)[0] != 0
    until(lambda: not Instance.is_alive(crowd.stopped), 'the daemon to end')
    changed = (JOBS - crowd.held()) if command == 'release' else JOBS - len(crowd.pending())
    assert 0 < changed < JOBS
    crowd.instance.start()
    rows = {row['job_id']: row for row in crowd.instance.json('queue') if row['state'] == 'PENDING'}
    done = [job for job in crowd.ids if (job not in rows if command == 'cancel' else not rows[job]['held'])]
    assert done == list(crowd.ids[:changed])
    if command == 'cancel':
        ended = {row['job_id']: row['state'] for row in crowd.instance.json('history', '-n', '0')}
        assert all(ended[job] == 'CANCELLED' for job in done)
    assert 'all agree' in crowd.instance.good('verify')
    result = crowd.instance.run(command, '--all')
    assert result.status == 0
    assert crowd.held() == 0


def test_an_ended_array_is_requeued_in_slices(instance):
    """Its tasks are pending again, part by part. The next start finishes what a crash has broken off."""
    tasks = 20000
    instance.good('set', 'requeue_delay_s=1000')
    job = instance.submit('--array', '1', '--', 'true')
    instance.until_state('%d_1' % job, 'COMPLETED')
    instance.good('stop')
    with contextlib.closing(sqlite3.connect(instance.state / 'fairlead.db')) as db, db:
        columns = [row[1] for row in db.execute('PRAGMA table_info(task)')]
        new = {'task_id': '1 + i', 'launch_id': '1000 + i', 'state': "'FAILED'", 'charged_us': 'charged_us'}
        db.execute('WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO task SELECT %s FROM n, task'
                   ' WHERE job_id = %d' % (tasks - 1, ', '.join(new.get(c, c) for c in columns), job))
        db.execute("UPDATE job SET array_tasks = '1-%d' WHERE id = %d" % (tasks, job))
        db.execute('UPDATE counters SET next_launch_id = 100000')
    instance.start()
    pid = instance.pid()
    requeue = instance.popen('requeue', job)

    def pending():
        return sum(row['task_count'] for row in instance.json('queue'))

    until(pending, 'the first slice')
    os.kill(pid, signal.SIGKILL)
    requeue.communicate()
    until(lambda: not Instance.is_alive(pid), 'the daemon to end')

    def unfinished():
        with contextlib.closing(sqlite3.connect(instance.state / 'fairlead.db')) as db:
            return db.execute('SELECT id, requeue_next FROM job WHERE requeue_next IS NOT NULL').fetchall()

    (found, begun), = unfinished()
    assert found == int(job) and 1 < begun <= tasks
    instance.start()
    until(lambda: pending() == tasks, 'the rest of the requeue')
    assert unfinished() == []
    counts = {}
    for row in instance.json('history', '-n', '0'):
        counts[row['state']] = counts.get(row['state'], 0) + 1
    assert counts == {'REQUEUED': tasks}
    assert [row['array_tasks'] for row in instance.json('queue')] == ['1-%d' % tasks]
    instance.good('cancel', job)
    assert instance.good('requeue', job) == 'Requeued 1 job\n'
    assert pending() == tasks


def test_a_long_body_is_read_beside_the_loop(instance):
    """It is decoded as a short one is: an error names its field, and what is accepted runs."""
    connection = SocketConnection(instance.socket)
    script = '#!/bin/sh\necho ran > ran\n' + '# x\n' * (4 << 20)
    body = {'directory': str(instance.work), 'command': 'x', 'out': '/dev/null', 'script_name': 'x'}

    def submit(text):
        connection.request('POST', '/v1/jobs', text)
        reply = connection.getresponse()
        return reply.status, json.load(reply)

    try:
        status, reply = submit(json.dumps({**body, 'script': script, 'cpus': 'many'}))
        assert (status, reply['error']['field']) == (400, 'cpus'), reply
        status, reply = submit('{"script": "' + 'x' * len(script))
        assert (status, reply['error']['name']) == (400, 'input'), reply
        status, reply = submit(json.dumps({**body, 'script': script}))
        assert status == 201, reply
    finally:
        connection.close()
    instance.until_state(reply['job_id'], 'COMPLETED')
    assert (instance.work / 'ran').read_text() == 'ran\n'


def test_a_slice_that_is_cut_among_ended_jobs(instance):
    """The running array takes up what the slice has, so the ended jobs that were read for it are read again later."""
    instance.good('set', 'host_cpus=400')
    ended = [instance.submit('--array', '0-1', '--', 'true') for _ in range(70)]
    instance.good('wait', ended[-1])
    running = instance.submit('--array', '0-299', '--mem', '1', '--', 'sleep', '1000')
    until(lambda: len(instance.json('queue', '--state', 'RUNNING')) == 300, 'all tasks to run')
    pid = instance.pid()
    assert 'Requeued 71 jobs' in instance.good('requeue', running, *ended)
    assert instance.pid() == pid
    instance.good('cancel', '--all')


@pytest.mark.parametrize('command', ['cancel', 'requeue'])
def test_an_array_that_is_cut_after_a_repeated_id(instance, command):
    """What is named twice is done once, and the array goes on where its slice has ended."""
    instance.good('set', 'host_cpus=1')
    blocker = instance.submit('--', 'sleep', '1000')
    first, second, third = (instance.submit('--array', '0-%d' % last, '--', 'sleep', '1000') for last in (0, 999, 999))
    instance.until_state(blocker, 'RUNNING')
    if command == 'requeue':
        instance.good('cancel', first, second, third)
    instance.good(command, first, second, first, third)
    instance.good('stop')
    instance.start()
    assert 'all agree' in instance.good('verify')
    with contextlib.closing(sqlite3.connect(instance.state / 'fairlead.db')) as db:
        rows = dict(db.execute("SELECT id, pending_tasks FROM job WHERE id IN (?, ?, ?)", (first, second, third)))
    expected = {'cancel': ['', '', ''], 'requeue': ['0', '0-999', '0-999']}[command]
    assert [rows[job] for job in (first, second, third)] == expected


def test_tasks_of_an_array_one_by_one(instance):
    """Every second task by its number: the array's row has more parts with each. Other jobs start meanwhile."""
    array = instance.submit('--hold', '--array', '0-39999', '--', 'true')
    body = json.dumps({'ids': ['%d_%d' % (array, task) for task in range(1, 40000, 2)], 'partial': True})
    connection = SocketConnection(instance.socket)
    connection.request('POST', '/v1/jobs/cancel', body, {'Content-Type': 'application/json'})
    instance.until_state(instance.submit('--', 'true'), 'COMPLETED')
    reply = connection.getresponse()
    assert (reply.status, json.loads(reply.read())['count']) == (200, 20000)
    with contextlib.closing(sqlite3.connect(instance.state / 'fairlead.db', timeout=60)) as db:
        tasks, = db.execute('SELECT pending_tasks FROM job WHERE id = ?', (array,)).fetchone()
    assert tasks.split(',') == [str(task) for task in range(0, 40000, 2)]
