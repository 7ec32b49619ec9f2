#!/usr/bin/python3
"""The cost of commands on a running instance, and the delay that a listing causes for other requests.

Each figure is the median of several whole processes, beside a yardstick from the same run. FAIRLEAD_BUILD is the directory
with the programs.
"""
import getpass
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
ACCOUNTS, USERS, JOBS = 1000, 100, 100000


def run(*arguments, check=True):
    return subprocess.run([FAIRLEAD, *arguments], check=check, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout


def median_ms(times, act):
    durations = []
    for _ in range(times):
        begin = time.perf_counter()
        act()
        durations.append((time.perf_counter() - begin) * 1000)
    return statistics.median(durations)


def report(name, value, limit, yardstick):
    print('%-58s %9s  %-22s yardstick: %s' % (name, value, limit, yardstick), flush=True)


def fill(state):
    """Writes 100,000 associations and 100,000 held jobs, with the rows that the daemon would write."""
    database = sqlite3.connect(state / 'fairlead.db')
    now = database.execute('SELECT reference_us FROM counters').fetchone()[0]
    row = 'INSERT INTO association(id, parent_id, account, user, shares, is_default, usage_billing_s, created_us) VALUES(?,?,?,?,?,?,?,?)'
    first = database.execute('SELECT next_association_id FROM counters').fetchone()[0]
    accounts = range(first, first + ACCOUNTS)
    database.executemany(row, ((i, 1, 'account%d' % i, None, i % 50 + 1, 0, 0.0, now) for i in accounts))
    users = range(first + ACCOUNTS, first + ACCOUNTS + ACCOUNTS * USERS)
    database.executemany(row, ((i, first + (i - users[0]) // USERS, 'account%d' % (first + (i - users[0]) // USERS),
                                'user%d' % i, i % 7 + 1, 1, i * 7919 % 100003 / 3, now) for i in users))
    job = database.execute('SELECT max(id) FROM job').fetchone()[0]
    columns = [c[1] for c in database.execute('PRAGMA table_info(job)')][1:]
    copied = ', '.join('pending_tasks' if c == 'pending_tasks' else c for c in columns)
    database.execute('''WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
        INSERT INTO job(id, %s) SELECT ? + i, %s FROM n, job WHERE job.id = ?''' % (', '.join(columns), copied),
                     (JOBS, job, job))
    database.execute('INSERT INTO job_script SELECT job.id, script_name, script_id, arguments, environment_id FROM job, job_script'
                     ' WHERE job_id = ? AND job.id > ?', (job, job))
    database.execute('UPDATE counters SET next_association_id = ?, next_job_id = ?', (users[-1] + 1, job + JOBS + 1))
    database.commit()
    database.close()


def request_ms(path, request='/v1/settings'):
    """Milliseconds until the first byte of the answer to one request, with a connection of its own."""
    begin = time.perf_counter()
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.sendall(('GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n' % request).encode())
        s.recv(1)
    return (time.perf_counter() - begin) * 1000


def release_jobs(state):
    """Releases all jobs of fill(), ten for each user, so that they wait for a CPU."""
    database = sqlite3.connect(state / 'fairlead.db')
    first = database.execute("SELECT min(id) FROM association WHERE user LIKE 'user%'").fetchone()[0]
    database.execute('UPDATE job SET is_held = 0, accrue_us = submit_us, association_id = ? + id % ?', (first, JOBS // 10))
    database.commit()
    database.close()


def worst_wait_ms(path, act):
    """The longest that a small request waits for its answer while act() runs."""
    done = threading.Event()

    def run_act():
        act()
        done.set()

    thread = threading.Thread(target=run_act)
    thread.start()
    waits = []
    while not done.is_set():
        waits.append(request_ms(path))
        time.sleep(0.001)
    thread.join()
    return max(waits)


def end_visible_ms(path, folder):
    """From a job's last instruction until an answer shows that its user has no running job. It polls, so the result includes
    the time of an answer, and often the rest of the previous one."""
    file = folder / 'ended'
    request = '/v1/shares?user=%s' % getpass.getuser()

    def running():
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(path)
            s.sendall(('GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n' % request).encode())
            answer = b''
            while part := s.recv(65536):
                answer += part
        return b'"running":1' in answer

    file.unlink(missing_ok=True)
    run('submit', '-D', '/', '-o', '/dev/null', '--', 'sh', '-c', 'sleep 0.3; date +%%s%%N >%s' % file)
    while not running():
        time.sleep(0.001)
    while not file.exists():
        time.sleep(0.001)
    while running():
        time.sleep(0.0003)
    seen = time.time_ns()
    return (seen - int(file.read_text())) / 1e6


def synced_write_ms(folder):
    file = os.open(folder / 'yardstick', os.O_CREAT | os.O_WRONLY, 0o600)

    def act():
        os.pwrite(file, b'x' * 4096, 0)
        os.fsync(file)

    result = median_ms(50, act)
    os.close(file)
    return result


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix='fairlead-bench.'))
    state = folder / 'state'
    os.environ['FAIRLEAD_SOCKET'] = str(state / 'fairlead.sock')
    try:
        true_ms = median_ms(50, lambda: subprocess.run(['/bin/true']))
        report('fairlead --version, whole process', '%.2f ms' % median_ms(50, lambda: run('--version')), '',
               '/bin/true %.2f ms' % true_ms)
        run('start', '--state', str(state))
        run('set', 'host_cpus=1')
        report('fairlead queue, no jobs', '%.2f ms' % median_ms(50, lambda: run('queue')), 'about true + 2 ms', '/bin/true %.2f ms' % true_ms)
        submit = ['submit', '--hold', '-D', '/', '-o', '/dev/null', '--', '/bin/true']
        report('fairlead submit, sequentially', '%.2f ms' % median_ms(50, lambda: run(*submit)), '',
               'write and fsync of 4 KiB %.2f ms' % synced_write_ms(folder))
        run('stop', '--state', str(state))
        fill(state)
        run('start', '--state', str(state))
        size = len(run('share'))
        cat_ms = median_ms(5, lambda: subprocess.run(['head', '-c', str(size), '/dev/zero'], stdout=subprocess.DEVNULL))
        report('fairlead share, 100,000 associations, whole process', '%.0f ms' % median_ms(7, lambda: run('share')), 'at most 500 ms',
               'head -c of the same number of bytes %.1f ms' % cat_ms)
        report('  the same with -P', '%.0f ms' % median_ms(7, lambda: run('share', '-P')), 'at most 500 ms', 'as above')
        report('fairlead queue, 100,000 jobs, whole process', '%.0f ms' % median_ms(5, lambda: run('queue', '-P')), '', 'as above')
        alone = median_ms(50, lambda: request_ms(os.environ['FAIRLEAD_SOCKET']))
        report('a small request, idle daemon', '%.2f ms' % alone, '', '/bin/true %.2f ms' % true_ms)
        one = ['share', getpass.getuser()]
        report('fairlead share USER, whole process', '%.1f ms' % median_ms(20, lambda: run(*one)), '', '/bin/true %.2f ms' % true_ms)
        ends = [end_visible_ms(os.environ['FAIRLEAD_SOCKET'], folder) for _ in range(15)]
        report("  from a job's end until share USER shows it", '%.1f ms' % statistics.median(ends), 'at most 5 ms',
               'min %.1f ms; it contains one sync, the commit: %.2f ms' % (min(ends), synced_write_ms(folder)))
        for arguments in (['share', '-P'], ['queue', '-P']):
            worst = worst_wait_ms(os.environ['FAIRLEAD_SOCKET'], lambda: run(*arguments))
            report('  longest wait of a small request during %s' % ' '.join(arguments), '%.1f ms' % worst,
                   'at most 20 ms and noise', 'idle daemon %.2f ms' % alone)
        run('stop', '--state', str(state))
        release_jobs(state)
        run('start', '--state', str(state))
        for model, settings in (('multifactor', []), ('tickets', ['weight_tickets_share=1000', 'weight_tickets_functional=1000'])):
            run('set', 'host_cpus=2', 'PriorityType=priority/' + model, *settings)
            job = ['submit', '-D', '/', '-o', '/dev/null', '--', 'sleep', '0.1']
            for load, act in (('jobs start and end', lambda: [run(*job) for _ in range(100)]), ('prio -P', lambda: run('prio', '-P'))):
                worst = worst_wait_ms(os.environ['FAIRLEAD_SOCKET'], act)
                report('  longest wait during %s, %s' % (load, model), '%.1f ms' % worst,
                       '' if 'prio' in load else 'at most 20 ms and noise', 'idle daemon %.2f ms' % alone)
    finally:
        subprocess.run([FAIRLEAD, 'stop', '--jobs', '--state', str(state)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run(['rm', '-rf', str(folder)])
    return 0


if __name__ == '__main__':
    sys.exit(main())
