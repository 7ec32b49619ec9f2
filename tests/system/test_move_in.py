"""fairlead move-in: the history of a private instance in that of the system. Needs root, to make accounts."""
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exec_world import until  # noqa: E402
from test_system_instance import SystemInstance  # noqa: E402
from test_system_launcher import accounts, why_not  # noqa: E402,F401

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())

INSTANCE = '0123456789abcdef' * 2


class Private:
    """The private instance of a user of a system instance."""

    def __init__(self, system, user):
        self.system, self.user = system, user
        self.state = system.home(user) / 'own'

    def good(self, *arguments):
        return self.system.good(self.user, arguments[0], '--socket', self.state / 'fairlead.sock', *arguments[1:])

    def start(self):
        done = self.system.run(self.user, 'start', '--state', self.state)
        assert done.returncode == 0, done

    def stop(self):
        done = self.system.run(self.user, 'stop', '--state', self.state)
        assert done.returncode == 0, done

    def submit(self, *arguments):
        """A job that has ended."""
        job = int(self.system.good(self.user, 'submit', '--parsable', '--socket', self.state / 'fairlead.sock', *arguments))
        self.system.run(self.user, 'wait', job, '--socket', self.state / 'fairlead.sock')
        return job

    def history(self):
        return json.loads(self.good('history', '--json'))

    def database(self):
        return sqlite3.connect(self.state / 'fairlead.db')

    def multiply(self, count):
        """So many copies of the job with the smallest id; the daemon is stopped."""
        with self.database() as db:
            for table, key in ('job', 'id'), ('task', 'job_id'):
                columns = [row[1] for row in db.execute('PRAGMA table_info(%s)' % table) if row[1] != key]
                db.execute('WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO %s(%s, %s)'
                           ' SELECT 1000 + i, %s FROM n, %s WHERE %s = (SELECT min(id) FROM job)'
                           % (count, table, key, ', '.join(columns), ', '.join('%s.%s' % (table, c) for c in columns), table, key))
            db.execute('UPDATE counters SET next_job_id = %d' % (2000 + count))
        db.close()
        for path in self.state.glob('fairlead.db*'):
            os.chown(path, self.user.pw_uid, self.user.pw_gid)


@pytest.fixture
def system(accounts):  # noqa: F811
    made = SystemInstance(accounts)
    yield made
    made.close()


@pytest.fixture
def own(system):
    made = Private(system, system.accounts.alice)
    made.start()
    yield made
    system.run(made.user, 'stop', '--state', made.state)


def move(system, own, *arguments):
    return json.loads(system.good(own.user, 'move-in', '--from', own.state, '--json', *arguments))


def counts(moved):
    return {name: moved[name] for name in ('jobs', 'tasks', 'known', 'removed', 'refused', 'live')}


def numbers(jobs=0, tasks=0, known=0, removed=0, refused=0, live=0):
    return dict(jobs=jobs, tasks=tasks, known=known, removed=removed, refused=refused, live=live)


def rows(system, user=None):
    return json.loads(system.good(user, 'history', '--json'))


SAME = ('name', 'command', 'state', 'exit_status', 'signal', 'cpus', 'mem_mib', 'submit_us', 'start_us', 'end_us', 'cpu_us',
        'max_rss_kib', 'task_id', 'restarts', 'directory', 'out_path', 'hosts', 'detail', 'time_limit_s', 'partition', 'comment')


def test_all_attempts_appear_with_their_origin(system, own):
    jobs = [own.submit('--comment', 'größe', '-J', 'a name', '--', 'sh', '-c', 'exit %d' % status) for status in (0, 3)]
    jobs.append(own.submit('--array', '0-3', '--time', 'UNLIMITED', '--', 'sh', '-c', 'exit $FAIRLEAD_ARRAY_TASK_ID'))
    own.good('set', 'requeue_delay_s=0')
    own.good('requeue', jobs[1])
    until(lambda: any(row['restarts'] == 1 for row in own.history()), 'the second attempt')
    held = int(own.good('submit', '--parsable', '--hold', '--', 'true'))
    own.good('cancel', held)
    waiting = int(own.good('submit', '--parsable', '--hold', '--', 'true'))
    before = own.history()
    shares = system.good(None, 'share', '--json')
    dry = move(system, own, '--dry-run')
    assert (counts(dry), dry['dry_run']) == (numbers(jobs=4, tasks=7, live=1), True)
    assert rows(system) == []
    moved = move(system, own)
    assert counts(moved) == numbers(jobs=4, tasks=7, live=1)
    after = rows(system)
    origins = {row['origin'] for row in after}
    assert origins == {'%s/%d' % (moved['instance'], job) for job in jobs + [held]}

    def comparable(row, job):
        return tuple(row[name] for name in SAME) + (job,)
    assert sorted(map(str, [comparable(row, row['job_id']) for row in before])) == \
        sorted(map(str, [comparable(row, int(row['origin'].split('/')[1])) for row in after]))
    assert {(row['user'], row['uid'], row['account']) for row in after} == {(own.user.pw_name, own.user.pw_uid, 'moved-in')}
    new = {int(row['origin'].split('/')[1]): row['job_id'] for row in after}
    assert 'Moved in from' in system.good(own.user, 'show', 'job', new[jobs[0]])
    assert 'moved in from another instance' in system.bad(own.user, 'requeue', new[jobs[0]], status=2)
    assert system.good(own.user, 'log', new[jobs[0]]) == own.good('log', jobs[0])
    # A later run takes what has ended since, and an attempt of a job that is known.
    own.good('cancel', waiting)
    own.good('requeue', jobs[0])
    until(lambda: sum(row['job_id'] == jobs[0] for row in own.history()) == 2, 'the second attempt')
    own.stop()
    assert counts(move(system, own)) == numbers(jobs=1, tasks=1, known=4)
    assert counts(move(system, own)) == numbers(known=5)
    assert sorted(row['state'] for row in rows(system) if row['job_id'] == new[jobs[0]]) == ['COMPLETED', 'REQUEUED']
    # It is no usage.
    assert system.good(None, 'share', '--json') == shares
    assert json.loads(system.good(None, 'verify', '--json'))['differences'] == []
    later = system.submit(own.user, '--', 'true')
    assert later > max(row['job_id'] for row in rows(system) if row['origin'])
    entries = json.loads(system.good(None, 'audit', '--json'))
    assert [(row['user'], row['after']) for row in entries if row['command'] == 'move-in'] == [(own.user.pw_name, moved['instance'])]


def test_a_restart_a_prune_and_a_backup_know_what_was_moved(system, own):
    own.submit('--', 'true')
    move(system, own)
    system.stop()
    system.start()
    assert counts(move(system, own)) == numbers(known=1)
    backup = system.place / 'copy.db'
    system.good(None, 'backup', backup)
    with sqlite3.connect(backup) as db:
        assert db.execute('SELECT count(*) FROM job WHERE origin IS NOT NULL').fetchone() == (1,)
    time.sleep(1.1)
    assert json.loads(system.good(None, 'history', 'prune', '--older-than', '0:01', '--json'))['tasks'] == 1
    assert rows(system) == []
    assert counts(move(system, own)) == numbers(removed=1)
    assert json.loads(system.good(None, 'verify', '--json'))['differences'] == []
    own.submit('--', 'true')
    assert counts(move(system, own)) == numbers(jobs=1, tasks=1, removed=1)
    assert system.run(None, 'set', 'history_keep_s=1').returncode == 0
    until(lambda: rows(system) == [], 'the history to be removed')
    own.submit('--', 'true')
    time.sleep(1.1)
    assert counts(move(system, own))['removed'] == 3


def test_what_others_see_follows_private_data(system, own):
    own.submit('-J', 'sesame', '--', 'true')
    move(system, own)
    mallory = system.accounts.mallory
    assert [row['name'] for row in rows(system, mallory)] == ['sesame']
    system.good(None, 'set', 'private_data=details')
    (row,) = rows(system, mallory)
    assert row['user'] == '(hidden)' and row['origin'] is None and 'sesame' not in json.dumps(row)
    system.good(None, 'set', 'private_data=jobs')
    assert rows(system, mallory) == []
    assert len(rows(system, own.user)) == 1


def test_whose_history_it_is(system, own):
    own.submit('--', 'true')
    mallory = system.accounts.mallory
    refusal = system.bad(mallory, 'move-in', '--from', own.state, status=2)
    assert 'such directory' in refusal
    refusal = system.bad(None, 'move-in', '--from', own.state, status=2)
    assert 'belongs to user %d; only that user can move its history, and you are user 0' % own.user.pw_uid in refusal
    refusal = system.bad(mallory, 'move-in', status=2)
    assert refusal.count('\n') == 0 and 'fairlead' in refusal
    # A private instance takes none.
    refusal = system.bad(own.user, 'move-in', '--from', own.state, '--socket', own.state / 'fairlead.sock', status=2)
    assert 'this instance serves one user' in refusal
    assert rows(system) == []


def test_an_older_or_newer_or_damaged_state_is_refused(system, own):
    own.submit('--', 'true')
    own.stop()
    for version, words in (26, 'start its instance once'), (9999, 'install the newer Fairlead'):
        with own.database() as db:
            (now,) = db.execute('PRAGMA user_version').fetchone()
            db.execute('PRAGMA user_version = %d' % version)
        db.close()
        refusal = system.bad(own.user, 'move-in', '--from', own.state, status=2)
        assert words in refusal and 'schema version %d' % version in refusal
        with own.database() as db:
            db.execute('PRAGMA user_version = %d' % now)
        db.close()
    assert counts(move(system, own)) == numbers(jobs=1, tasks=1)


def ask(system, user, body):
    """The status and the message of a request that the user makes by hand."""
    code = ('import json, sys, http.client, socket\n'
            'class C(http.client.HTTPConnection):\n'
            '    def connect(self):\n'
            '        self.sock = socket.socket(socket.AF_UNIX); self.sock.connect(sys.argv[1])\n'
            'c = C("localhost", timeout=60)\n'
            'try:\n'
            '    c.request("POST", "/v1/history/move-in", sys.stdin.read())\n'
            'except BrokenPipeError: pass\n'
            'r = c.getresponse(); print(json.dumps([r.status, json.loads(r.read())]))\n')
    done = subprocess.run(['setpriv', '--reuid', user.pw_name, '--regid', user.pw_name, '--init-groups', '/usr/bin/python3', '-c', code,
                           str(system.socket)], input=body if isinstance(body, str) else json.dumps(body), stdout=subprocess.PIPE,
                          text=True, timeout=120, check=True)
    status, answer = json.loads(done.stdout)
    return status, answer['error']['message'] if status >= 400 else answer


def record(now_us, **fields):
    job = {'id': 7, 'name': 'x', 'command': 'x', 'directory': '/', 'out': 'x', 'cpus': 1, 'mem_mib': 1, 'gpus': 0, 'time_limit_s': 60,
           'submit_us': now_us - 10 ** 7, 'ended_us': now_us - 10 ** 6, 'partitions': 'main', 'qos': 'normal', 'tasks': [start(now_us)]}
    return {**job, **fields}


def start(now_us, **fields):
    task = {'task_id': 0, 'restarts': 0, 'state': 'COMPLETED', 'launch_us': now_us - 9 * 10 ** 6, 'start_us': now_us - 9 * 10 ** 6,
            'end_us': now_us - 10 ** 6, 'hosts': 'localhost', 'cpu_ids': '0', 'gpu_ids': '', 'task_mem_mib': 1, 'exit_status': 0,
            'signal': 0, 'cpu_us': 5, 'max_rss_kib': 7, 'detail': '', 'partition': 'main', 'tres': 'cpu=1,mem=1', 'billing': 1}
    return {**task, **fields}


def test_a_hostile_user_gains_nothing(system):
    """Whatever is claimed, it is the sender's, it is history, and it is within bounds."""
    alice, mallory = system.accounts.alice, system.accounts.mallory
    now_us = time.time_ns() // 1000
    day = 86400 * 10 ** 6
    system.good(None, 'set', 'PriorityDecayHalfLife=0')
    system.good(mallory, 'wait', system.submit(mallory, '--', 'true'))
    shares = system.good(None, 'share', '--json')
    refused = [
        record(now_us, ended_us=now_us + day), record(now_us, submit_us=now_us), record(now_us, ended_us=0), record(now_us, id=0),
        record(now_us, name='x' * 200), record(now_us, name='a\nb'), record(now_us, uid=alice.pw_uid), record(now_us, user=alice.pw_name),
        record(now_us, account='root'), record(now_us, array='0-4000000:2'), record(now_us, cancelled_tasks='0-9', cancelled_us=now_us - day),
        record(now_us, command='x' * 5000), record(now_us, directory='relative'), record(now_us, cpus=0), record(now_us, held=True),
        record(now_us, pending_tasks='0'), record(now_us, script='x')]
    refused += [record(now_us, tasks=[start(now_us, **fields)]) for fields in (
        {'state': 'RUNNING'}, {'state': 'PENDING'}, {'state': 'HELD'}, {'end_us': now_us + day}, {'end_us': now_us}, {'start_us': now_us},
        {'launch_us': now_us}, {'exit_status': 256}, {'signal': 65}, {'exit_status': None}, {'hosts': 'a b'}, {'hosts': 'n1,@x'},
        {'cpu_ids': '0-'}, {'tres': 'cpu'}, {'billing': 'inf'}, {'task_id': 1}, {'task_id': 2 ** 31}, {'restarts': -1}, {'usage_factor': 9},
        {'charged_us': 5}, {'launch_id': 5}, {'detail': 'x' * 5000})]
    answers = [(one, *ask(system, mallory, {'instance': INSTANCE, 'jobs': [one]})) for one in refused]
    assert [json.dumps(one) for one, status, message in answers if status != 400 or '\n' in message] == []
    for body in ('{', '[]', '{"instance":"%s","jobs":[%s]}' % (INSTANCE, ','.join(['{}'] * 300)), '{"instance":"../..","jobs":[]}',
                 '{"instance":"%s","jobs":[{"id":1,"id":2}]}' % INSTANCE, '{"instance":"%s","jobs":"x"}' % INSTANCE):
        assert ask(system, mallory, body)[0] in (400, 413)
    assert ask(system, mallory, ' ' * 1100000)[0] == 413
    many = [record(now_us, id=1, array='0-999', tasks=[start(now_us, task_id=i) for i in range(256)])]
    assert ask(system, mallory, {'instance': INSTANCE, 'jobs': many})[0] == 422
    assert [row for row in rows(system) if row['origin']] == []
    # Claims of the instance of another user, and of a long history of other work, are the sender's.
    status, taken = ask(system, mallory, {'instance': INSTANCE, 'jobs': [record(now_us, tasks=[start(now_us, billing=-1e9)])]})
    assert (status, taken['jobs']) == (200, 1)
    status, taken = ask(system, alice, {'instance': INSTANCE, 'jobs': [record(now_us)]})
    assert (status, taken['jobs'], taken['known']) == (200, 1, 0)
    assert sorted(row['user'] for row in rows(system) if row['origin']) == sorted([alice.pw_name, mallory.pw_name])
    assert system.good(None, 'share', '--json') == shares
    assert json.loads(system.good(None, 'verify', '--json'))['differences'] == []
    # A record that is there stays.
    changed = record(now_us, name='other', tasks=[start(now_us, exit_status=9, state='FAILED')])
    assert ask(system, mallory, {'instance': INSTANCE, 'jobs': [changed]})[1]['known'] == 1
    assert {row['exit_status'] for row in rows(system) if row['origin']} == {0}
    # So many instances, and so many rows.
    for i in range(15):
        assert ask(system, mallory, {'instance': '%032x' % i, 'jobs': [record(now_us)]})[0] == 200
    status, message = ask(system, mallory, {'instance': 'f' * 32, 'jobs': [record(now_us)]})
    assert status == 422 and 'at most 16' in message
    system.good(None, 'set', 'max_moved_in=34')
    assert ask(system, mallory, {'instance': INSTANCE, 'jobs': [record(now_us, id=8)]})[0] == 200
    status, message = ask(system, mallory, {'instance': INSTANCE, 'jobs': [record(now_us, id=9)]})
    assert status == 422 and 'max_moved_in' in message
    assert ask(system, alice, {'instance': INSTANCE, 'jobs': [record(now_us, id=9)]})[0] == 200
    assert json.loads(system.good(None, 'verify', '--json'))['differences'] == []
    system.stop()
    system.start()
    assert system.good(None, 'share', '--json') == shares


def test_a_daemon_that_is_killed_in_the_middle(system, own):
    """Any prefix may be there afterwards; the next run takes the rest, and nothing twice."""
    count = 3000
    own.submit('--', 'true')
    own.stop()
    own.multiply(count)
    for wanted in 300, 1200:
        mover = threading.Thread(target=system.run, args=(own.user, 'move-in', '--from', own.state))
        mover.start()

        def taken():
            with sqlite3.connect('file:%s?mode=ro' % (system.place / 'state' / 'fairlead.db'), uri=True) as db:
                return db.execute('SELECT count(*) FROM job').fetchone()[0]
        until(lambda: taken() >= wanted or not mover.is_alive(), 'a part of the history')
        system.daemon.send_signal(signal.SIGKILL)
        system.daemon.wait()
        mover.join()
        system.log.close()
        system.start()
        until(lambda: system.run(None, 'status').returncode == 0, 'the daemon to answer')
    before = taken()
    moved = move(system, own)
    assert moved['jobs'] + before == count + 1 and moved['known'] == before
    with sqlite3.connect('file:%s?mode=ro' % (system.place / 'state' / 'fairlead.db'), uri=True) as db:
        assert db.execute('SELECT count(*), count(DISTINCT origin) FROM job').fetchone() == (count + 1, count + 1)
        assert db.execute('SELECT count(*) FROM task').fetchone() == (count + 1,)
        assert db.execute('SELECT sum(row_count) FROM moved_in').fetchone() == (2 * count + 2,)
    assert counts(move(system, own)) == numbers(known=count + 1)
    assert json.loads(system.good(None, 'verify', '--json'))['differences'] == []


def test_a_large_array_comes_in_parts(system, own):
    own.submit('--array', '0-249', '-n', '1', '--', 'true')
    moved = move(system, own)
    assert counts(moved) == numbers(jobs=1, tasks=250, known=2)
    with sqlite3.connect('file:%s?mode=ro' % (system.place / 'state' / 'fairlead.db'), uri=True) as db:
        assert db.execute('SELECT count(*), min(task_id), max(task_id) FROM task').fetchone() == (250, 0, 249)
        assert db.execute('SELECT count(*) FROM job').fetchone() == (1,)
