#!/usr/bin/python3
"""How long one request keeps the daemon from answering others: the longest gap of its loop.

An instance with 100,000 associations, 100,000 pending jobs of 10,000 users, 100,000 jobs that have ended and an ended array of
100,000 tasks carries out a request that concerns them all, while another client sends small requests one after the other; the
longest of their waits is the figure, the median over the repetitions; and, because others may use the machine, the longest that
the daemon's loop computed in one of these waits, which contains no sync. The yardstick is the longest wait in an idle daemon for as
long as the request took, from the same run. Names as arguments choose requests; none: all. FAIRLEAD_BUILD is the directory with the
programs; BENCH_ENDED is another number of jobs that have ended, such as 1000000.
"""
import contextlib
import http.client
import json
import os
import pathlib
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time

BUILD = pathlib.Path(os.environ.get('FAIRLEAD_BUILD', 'build')).resolve()
FAIRLEAD = str(BUILD / 'fairlead')
ACCOUNTS, USERS_OF_ACCOUNT, USERS, JOBS, LISTED = 1000, 100, 10000, 100000, 20000
ENDED = int(os.environ.get('BENCH_ENDED', JOBS))


class Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(os.environ['FAIRLEAD_SOCKET'])


def run(*arguments, text=None):
    return subprocess.run([FAIRLEAD, *arguments], check=True, input=text or b'', stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout


def post(method, path, body):
    """A request of the API, from a process of its own, so that the client that pings is not held up by this one."""
    code = 'import sys; sys.path.insert(0, %r); import bench_loop; bench_loop.send(%r, %r)' % (
        str(pathlib.Path(__file__).parent), method, path)
    subprocess.run([sys.executable, '-c', code], check=True, input=json.dumps(body).encode())


def send(method, path):
    connection = Connection('localhost')
    connection.request(method, path, sys.stdin.buffer.read() if method != 'GET' else None)
    answer = connection.getresponse()
    text = answer.read()
    if answer.status >= 300:
        sys.exit('%s %s: %d %s' % (method, path, answer.status, text[:300]))


@contextlib.contextmanager
def database_of(state):
    database = sqlite3.connect(state / 'fairlead.db')
    yield database
    database.commit()
    database.close()


def copy_rows(database, table, replaced, source, count):
    """Copies the row of a job count times; replaced: columns and the terms that they get, of i from 1."""
    columns = [c[1] for c in database.execute('PRAGMA table_info(%s)' % table)]
    terms = [replaced.get(c, c) for c in columns]
    database.execute('WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)'
                     ' INSERT INTO %s(%s) SELECT %s FROM n, %s WHERE %s' % (count, table, ', '.join(columns), ', '.join(terms), table, source))


def fill(state, pending, ended, array):
    """Adds what the daemon would write: associations, copies of a pending job and of an ended one, and tasks of an array of which
    one task has ended."""
    with database_of(state) as database:
        now = database.execute('SELECT reference_us FROM counters').fetchone()[0]
        row = 'INSERT INTO association(id, parent_id, account, user, shares, is_default, usage_billing_s, created_us) VALUES(?,?,?,?,?,?,?,?)'
        first = database.execute('SELECT next_association_id FROM counters').fetchone()[0]
        database.executemany(row, ((first + i, 1, 'account%d' % i, None, i % 50 + 1, 0, 0.0, now) for i in range(ACCOUNTS)))
        user = first + ACCOUNTS
        database.executemany(row, ((user + i, first + i // USERS_OF_ACCOUNT, 'account%d' % (i // USERS_OF_ACCOUNT), 'user%d' % i,
                                    i % 7 + 1, 1, i * 7919 % 100003 / 3, now) for i in range(ACCOUNTS * USERS_OF_ACCOUNT)))
        association = '%d + i %% %d' % (user, USERS)
        copy_rows(database, 'job', {'id': '%d + i' % pending, 'association_id': association}, 'id = %d' % pending, JOBS)
        copy_rows(database, 'job_script', {'job_id': '%d + i' % pending}, 'job_id = %d' % pending, JOBS)
        last = pending + JOBS
        copy_rows(database, 'job', {'id': '%d + i' % last}, 'id = %d' % ended, ENDED)
        copy_rows(database, 'job_script', {'job_id': '%d + i' % last}, 'job_id = %d' % ended, ENDED)
        copy_rows(database, 'task', {'job_id': '%d + i' % last, 'launch_id': '10000000 + i'}, 'job_id = %d' % ended, ENDED)
        copy_rows(database, 'owner_usage', {'user': "'user' || i"}, "project = ''", ACCOUNTS * USERS_OF_ACCOUNT)
        database.execute("UPDATE job SET array_tasks = '1-%d', pending_tasks = '' WHERE id = %d" % (JOBS, array))
        copy_rows(database, 'task', {'task_id': '1 + i', 'launch_id': '1000000 + i'}, 'job_id = %d' % array, JOBS - 1)
        database.execute('UPDATE counters SET next_association_id = ?, next_job_id = ?, next_launch_id = 20000000',
                         (user + ACCOUNTS * USERS_OF_ACCOUNT, last + ENDED + 1))
    return pending + 1, last + 1


def computed_ms(pid):
    """What the main thread of a process has used of CPUs."""
    return int(pathlib.Path('/proc/%d/task/%d/schedstat' % (pid, pid)).read_text().split()[0]) / 1e6


class Pinger:
    """Sends small requests, one after the other, until it is stopped."""

    def __init__(self, pid):
        self.is_done, self.waits, self.pid = False, [], pid
        self.thread = threading.Thread(target=self.run)

    def run(self):
        connection = Connection('localhost')
        while not self.is_done:
            begin, computed = time.perf_counter(), computed_ms(self.pid)
            connection.request('GET', '/v1/clock')
            connection.getresponse().read()
            self.waits.append(((time.perf_counter() - begin) * 1000, computed_ms(self.pid) - computed))
            time.sleep(0.0005)
        connection.close()

    def __enter__(self):
        self.thread.start()
        time.sleep(0.02)
        self.waits = [(0, 0)]
        return self

    def __exit__(self, *unused):
        self.is_done = True
        self.thread.join()


def measure(pid, name, *acts):
    gaps, durations, idle, computed = [], [], [], []
    for act in acts:
        with Pinger(pid) as pinger:
            begin = time.perf_counter()
            act()
            durations.append(time.perf_counter() - begin)
            time.sleep(0.05)
        gaps.append(max(wait[0] for wait in pinger.waits))
        computed.append(max(wait[1] for wait in pinger.waits))
        with Pinger(pid) as pinger:
            time.sleep(durations[-1])
        idle.append(max(wait[0] for wait in pinger.waits))
    print('%-58s %9s  %-22s computed %.1f ms, at most %.1f; yardstick: idle daemon %.1f ms; the request took %.0f ms' % (
        name, '%.1f ms' % statistics.median(gaps), 'at most 20 ms and noise', statistics.median(computed), max(computed),
        statistics.median(idle), statistics.median(durations) * 1000), flush=True)


def command(*arguments, text=None):
    return lambda: run(*arguments, text=text)


def alternate(first, second, times=3):
    """Two requests that undo each other: the first of them is measured."""
    return [first, second] * times


def requests(state, pending, ended, array):
    """Each name, and what is done for it. A list of pairs because the last ones end all jobs."""
    listed = [str(pending + i) for i in range(LISTED)]
    ranges = ','.join(str(i) for i in range(1, 200000, 2))
    job = {'directory': '/', 'out': '/dev/null', 'held': True, 'command': 'true'}
    scripts = [{**job, 'script': '#!/bin/sh\n' + '# %d\n' % i * (12 << 20), 'script_name': 'big'} for i in range(3)]
    array_job = {**job, 'arguments': ['true'], 'array': ranges}
    yield 'the first listing after the start', [lambda: post('GET', '/v1/jobs?limit=100', None)]
    yield 'hold --all, 100,000 jobs', [command('hold', '--all')]
    yield 'release --all', [command('release', '--all')]
    yield 'the first listing after it', [lambda: post('GET', '/v1/jobs?limit=100', None)]
    yield 'hold, release --all, again', [command('hold', '--all'), command('release', '--all')]
    yield 'hold, release --account', [command(c, '--account', 'account0') for c in ('hold', 'release')]
    yield 'hold, release --partition', [command(c, '--partition', 'main') for c in ('hold', 'release')]
    for partial in (True, False):
        body = {'ids': listed, **({'partial': True} if partial else {})}
        yield 'hold, release 20,000 ids, %s' % ('partial' if partial else 'all or none'), [
            lambda c=c: post('POST', '/v1/jobs/' + c, body) for c in ('hold', 'release')]
    yield 'hold --all --dry-run', [command('hold', '--all', '--dry-run')] * 3
    for order in ('', '&order=newest'):
        for query in ('user=user99998', 'state=TIMEOUT', 'account=account999', 'account=account999&state=COMPLETED', 'since_us=4000000000000000'):
            path = '/v1/jobs?which=ended&limit=100&%s%s' % (query, order)
            yield 'history that matches nothing (%s%s)' % (query, order), [lambda path=path: post('GET', path, None)] * 3
    yield 'history of everything', [command('history', '-P', '-n', '0')] * 3
    yield 'queue of everything', [command('queue', '-P')] * 3
    yield 'queue of everything, with ranks', [command('queue', '-P', '-o', 'id,rank,priority,reason')] * 3
    yield 'report of everything', [command('report', '-P', '--by', by) for by in ('user', 'account', 'day')]
    yield 'prio of everything', [command('prio', '-P')] * 3
    yield 'queue --start', [command('queue', '--start', '-P')] * 2
    yield 'schedule', [command('schedule', '-P')] * 2
    yield 'submit --test-only', [command('submit', '--test-only', '-D', '/', '-o', '/dev/null', '--', 'true')] * 2
    yield 'places', [command('places', '-P')] * 2
    yield 'share of everything', [command('share', '-P')] * 3
    yield 'another half-life', [command('set', 'PriorityDecayHalfLife=' + days) for days in ('3-0', '4-0', '7-0')]
    for halflife in ('0', '12:00:00'):
        yield 'half-life of %s, which converts all usage' % halflife, [
            command('set', 'PriorityDecayHalfLife=' + value) for value in (halflife, '7-0') * 2]
    yield 'usage reset', [command('set', 'PriorityUsageResetPeriod=NOW')]
    yield 'switch of the model', [command('set', 'PriorityType=priority/' + m) for m in ('tickets', 'multifactor') * 2]
    yield 'submission of 60 MiB', [lambda script=script: post('POST', '/v1/jobs', script) for script in scripts]
    yield 'the same scripts again', [lambda script=script: post('POST', '/v1/jobs', script) for script in scripts]
    yield 'submission of an array of 100,000 ranges', [lambda: post('POST', '/v1/jobs', array_job)] * 2
    yield 'hold, release with that array', [command('hold', '--all'), command('release', '--all')]
    yield 'requeue of 20,000 ended jobs', [
        lambda: post('POST', '/v1/jobs/requeue', {'ids': [str(ended + i) for i in range(LISTED)], 'partial': True})]
    yield 'requeue of an ended array of 100,000 tasks', [command('requeue', str(array))]
    yield 'cancel 20,000 ids', [lambda: post('POST', '/v1/jobs/cancel', {'ids': listed, 'partial': True})]
    yield 'cancel --all', [command('cancel', '--all')]


def is_wanted(name):
    return not sys.argv[1:] or any(word in name for word in sys.argv[1:])


def measure_clock(state, folder):
    """The clock of the machine is set, a year ahead and back: in a daemon whose clock is that of tests/system/fake_clock.c."""
    name, preloaded, offset = 'the clock is set by a year', BUILD / 'tests/system/fake-clock.so', folder / 'clock'
    if not is_wanted(name) or not preloaded.exists():
        return
    offset.write_text('0\n')
    os.environ.update(FAKE_CLOCK=str(offset), LD_PRELOAD=str(preloaded))
    run('start', '--state', str(state))
    pid = json.loads(run('status', '--json'))['pid']

    def set_clock(seconds):
        offset.write_text('%d\n' % seconds)
        run('clock')  # the daemon looks at the clock
        while not any(abs(event['at_us'] / 1e6 - time.time() - seconds) < 60 for event in json.loads(run('clock', '--json'))['events']):
            time.sleep(0.1)
    measure(pid, name, *[lambda s=s: set_clock(s) for s in (365 * 86400, 0)])
    run('stop', '--state', str(state))
    del os.environ['LD_PRELOAD'], os.environ['FAKE_CLOCK']


def measure_suspension(folder):
    """Of all jobs of a pretend cluster, because its jobs cost this machine nothing."""
    name, state = 'suspend, resume --all, 10,000 running tasks', folder / 'pretend'
    if not is_wanted(name):
        return
    document = folder / 'document.json'
    document.write_text(json.dumps({'hosts': [{'name': 'n[0001-1000]', 'cpus': 10}]}))
    before, os.environ['FAIRLEAD_SOCKET'] = os.environ['FAIRLEAD_SOCKET'], str(state / 'fairlead.sock')
    run('start', '--state', str(state), '--pretend', str(document), '--speed', '1')
    try:
        run('submit', '--array', '1-10000', '-t', '1-00:00:00', '--mem', '1M', '-o', '/dev/null', '--', 'sleep', '80000')
        while (status := json.loads(run('status', '--json')))['tasks']['running'] < 10000:
            time.sleep(0.2)
        measure(status['pid'], name, *alternate(command('suspend', '--all'), command('resume', '--all')))
    finally:
        run('stop', '--state', str(state))
        os.environ['FAIRLEAD_SOCKET'] = before


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix='fairlead-bench.'))
    state = folder / 'state'
    os.environ['FAIRLEAD_SOCKET'] = str(state / 'fairlead.sock')
    try:
        measure_suspension(folder)
        run('start', '--state', str(state))
        run('set', 'host_cpus=1', 'PriorityType=priority/multifactor')
        options = ['--parsable', '-D', '/', '-o', '/dev/null']
        ended, array = (int(run('submit', *options, *more, '--', 'true').split(b';')[0]) for more in ([], ['--array', '1']))
        run('wait', str(ended))
        run('wait', str(array))
        run('submit', *options, '--', 'sleep', '100000')
        pending = int(run('submit', *options, '--', 'true'))
        run('stop', '--state', str(state))
        pending, ended = fill(state, pending, ended, array)
        measure_clock(state, folder)
        run('start', '--state', str(state))
        pid = json.loads(run('status', '--json'))['pid']
        for name, acts in requests(state, pending, ended, array):
            if is_wanted(name):
                measure(pid, name, *acts)
    finally:
        subprocess.run([FAIRLEAD, 'stop', '--jobs', '--state', str(state)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run(['rm', '-rf', str(folder)])
    return 0


if __name__ == '__main__':
    sys.exit(main())
