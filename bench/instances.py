"""What the benchmarks of running instances share: a private instance, many jobs in it, and yardsticks.

FAIRLEAD_BUILD is the directory with the programs.
"""
import contextlib
import http.client
import json
import os
import pathlib
import selectors
import shutil
import socket
import sqlite3
import statistics
import subprocess
import tempfile
import time

BUILD = pathlib.Path(os.environ.get('FAIRLEAD_BUILD', 'build')).resolve()
FAIRLEAD, SPAWN_LOOP = str(BUILD / 'fairlead'), str(BUILD / 'bench/spawn-loop')
CONNECTIONS = 32


def run(*arguments):
    return subprocess.run([FAIRLEAD, *arguments], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout


def report(name, value, limit, yardstick):
    print('%-58s %12s  %-22s yardstick: %s' % (name, value, limit, yardstick), flush=True)


@contextlib.contextmanager
def instance():
    """A private instance whose only CPU a job has, so that all others wait; its state directory."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix='fairlead-bench.'))
    state = folder / 'state'
    os.environ['FAIRLEAD_SOCKET'] = str(state / 'fairlead.sock')
    try:
        run('start', '--state', str(state))
        run('set', 'host_cpus=1')
        run('submit', '-D', '/', '-o', '/dev/null', '--', 'sleep', '100000')
        yield state
    finally:
        subprocess.run([FAIRLEAD, 'stop', '--jobs', '--state', str(state)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        shutil.rmtree(folder)


@contextlib.contextmanager
def stopped(state):
    """The database of the instance while it does not run."""
    run('stop', '--state', str(state))
    database = sqlite3.connect(state / 'fairlead.db')
    yield database
    database.commit()
    database.close()
    run('start', '--state', str(state))


def copy_rows(database, table, replaced, source, count):
    """Copies a row count times; replaced: columns and the terms that they get, of i from 1."""
    columns = [c[1] for c in database.execute('PRAGMA table_info(%s)' % table)]
    terms = [replaced.get(c, c) for c in columns]
    database.execute('WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)'
                     ' INSERT INTO %s(%s) SELECT %s FROM n, %s WHERE %s' % (count, table, ', '.join(columns), ', '.join(terms), table, source))


def add_pending(database, job, count):
    """Copies of a pending job with names of their own, as the daemon would write them, with ids from the next one on. Returns the
    first id."""
    first = database.execute('SELECT next_job_id FROM counters').fetchone()[0]
    copy_rows(database, 'job', {'id': '%d + i' % (first - 1), 'name': "'job' || i"}, 'id = %d' % job, count)
    copy_rows(database, 'job_script', {'job_id': '%d + i' % (first - 1)}, 'job_id = %d' % job, count)
    database.execute('UPDATE counters SET next_job_id = next_job_id + ?', (count,))
    return first


def add_ended(database, job, count):
    """Copies of a job that has ended, as the daemon would write them, with ids from the next one on. Returns the first id."""
    first = database.execute('SELECT next_job_id FROM counters').fetchone()[0]
    launch = database.execute('SELECT next_launch_id FROM counters').fetchone()[0]
    source = 'job_id = %d' % job
    copy_rows(database, 'job', {'id': '%d + i' % (first - 1)}, 'id = %d' % job, count)
    copy_rows(database, 'job_script', {'job_id': '%d + i' % (first - 1)}, source, count)
    copy_rows(database, 'task', {'job_id': '%d + i' % (first - 1), 'launch_id': '%d + i' % (launch - 1)}, source, count)
    database.execute('UPDATE counters SET next_job_id = next_job_id + ?, next_launch_id = next_launch_id + ?', (count, count))
    return first


def job_body(i, **more):
    return {'directory': '/', 'out': '/dev/null', 'name': 'job%d' % i, 'command': '/bin/true', 'arguments': ['/bin/true', str(i)], **more}


def request_bytes(method, path, body=None):
    text = b'' if body is None else json.dumps(body).encode()
    return b'%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' % (
        method.encode(), path.encode(), len(text), text)


def submit_many(count, **more):
    """Submits that many single jobs, each with a request of its own, on several connections at once."""
    poll, left = selectors.DefaultSelector(), 0
    for k in range(CONNECTIONS):
        numbers = range(k, count, CONNECTIONS)
        s = socket.socket(socket.AF_UNIX)
        s.connect(os.environ['FAIRLEAD_SOCKET'])
        poll.register(s, selectors.EVENT_READ, [iter(numbers), len(numbers), b''])
        left += len(numbers)
        send_next(s, poll.get_key(s).data, more)
    while left > 0:
        for key, _ in poll.select():
            data = key.data
            data[2] += key.fileobj.recv(65536)
            if b'\r\n\r\n' not in data[2] or not data[2].endswith(b'}\n'):
                continue
            if b' 201 ' not in data[2][:20]:
                raise SystemExit('a submission was refused: %r' % data[2])
            data[2] = b''
            left -= 1
            send_next(key.fileobj, data, more)
    for key in list(poll.get_map().values()):
        key.fileobj.close()


def send_next(s, data, more):
    for i in data[0]:
        s.sendall(request_bytes('POST', '/v1/jobs', job_body(i, **more)))
        return


class Connection(http.client.HTTPConnection):
    """Requests to the instance, one after the other."""

    def __init__(self):
        super().__init__('localhost')

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(os.environ['FAIRLEAD_SOCKET'])

    def ask(self, method, path, body=None):
        self.request(method, path, None if body is None else json.dumps(body))
        answer = self.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise SystemExit('%s %s: %d %s' % (method, path, answer.status, text[:300]))
        return text


def daemon_pid():
    return json.loads(run('status', '--json'))['pid']


def loop_s(pid):
    """CPU seconds of the daemon's loop, its main thread."""
    return int(pathlib.Path('/proc/%d/task/%d/schedstat' % (pid, pid)).read_text().split()[0]) / 1e9


def spawn_loop(count, at_once, *command):
    """Wall-clock and CPU seconds of so many processes, so many at once."""
    done = subprocess.run([SPAWN_LOOP, str(count), str(at_once), *command], check=True, stdout=subprocess.PIPE)
    return tuple(map(float, done.stdout.split()))


def percentile(values, percent):
    return sorted(values)[min(len(values) - 1, int(len(values) * percent / 100))]


def median_s(times, act):
    durations = []
    for _ in range(times):
        begin = time.perf_counter()
        act()
        durations.append(time.perf_counter() - begin)
    return statistics.median(durations)


def synced_write_s(folder):
    """The median of writes of 4 KiB, each with a sync."""
    file = os.open(folder / 'yardstick', os.O_CREAT | os.O_WRONLY, 0o600)
    result = median_s(50, lambda: (os.pwrite(file, b'x' * 4096, 0), os.fdatasync(file)))
    os.close(file)
    return result
