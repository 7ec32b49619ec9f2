#!/usr/bin/python3
"""A pretend cluster of 1,000 hosts at speed 60: how many jobs a second it ends, and how far its answers are behind.

Run times are drawn evenly between 0 and a limit, so that of 16,000 jobs that start at once a number ends each second, and
somewhat more later, because those that follow end too. The lag is the time
from the planned end of a job, which is its end in the database, to the commit that has it, in real time; a request's wait is
the time until the first byte of its answer. FAIRLEAD_BUILD is the directory with the programs.
"""
import json
import os
import pathlib
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(os.environ.get('FAIRLEAD_BUILD', 'build')).resolve()
FAIRLEAD = str(BUILD / 'fairlead')
HOSTS, CPUS, SPEED = 1000, 16, 60
SECONDS = 15
DUE = (200, 800)  # ends a second


def run(*arguments):
    return subprocess.run([FAIRLEAD, *arguments], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout


def report(name, value, limit, yardstick):
    print('%-58s %9s  %-22s yardstick: %s' % (name, value, limit, yardstick), flush=True)


def request(path, target='/v1/status'):
    """Milliseconds until the first byte of the answer, and the answer."""
    begin = time.perf_counter()
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.sendall(('GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n' % target).encode())
        answer = s.recv(65536)
        waited = (time.perf_counter() - begin) * 1000
        while part := s.recv(65536):
            answer += part
    return waited, json.loads(answer.partition(b'\r\n\r\n')[2])


def synced_write_ms(folder):
    file = os.open(folder / 'yardstick', os.O_CREAT | os.O_WRONLY, 0o600)
    waits = []
    for _ in range(50):
        begin = time.perf_counter()
        os.pwrite(file, b'x' * 4096, 0)
        os.fsync(file)
        waits.append((time.perf_counter() - begin) * 1000)
    os.close(file)
    return statistics.median(waits)


def ended(database):
    return database.execute('SELECT count(*) FROM task WHERE end_us IS NOT NULL AND end_us > 0').fetchone()[0]


def lag_ms(database, path):
    """Of the last job whose end is committed, behind the time of the instance; the ends are due all the time."""
    begin, last = time.perf_counter(), database.execute('SELECT max(end_us) FROM task').fetchone()[0] or 0
    now_us = request(path)[1]['now_us']
    return (now_us - last) / 1000 / SPEED - (time.perf_counter() - begin) * 1000


def measure(folder, due, program_limit):
    state = folder / ('state-%d' % due)
    path = os.environ['FAIRLEAD_SOCKET'] = str(state / 'fairlead.sock')
    document = folder / 'document.json'
    document.write_text(json.dumps({'hosts': [{'name': 'n[0001-%d]' % HOSTS, 'cpus': CPUS}],
                                    'run_time': {'of_limit': 0.5, 'spread': 1}}))
    run('start', '--state', str(state), '--pretend', str(document), '--speed', str(SPEED))
    try:
        minutes = HOSTS * CPUS * SPEED // due // 60
        for _ in range(3):
            run('submit', '--array', '1-50000', '-t', str(minutes), '--mem', '1M', '-o', '/dev/null', '--', 'true')
        database = sqlite3.connect('file:%s?mode=ro' % (state / 'fairlead.db'), uri=True)
        while request(path)[1]['tasks']['running'] < HOSTS * CPUS * 0.9:
            time.sleep(0.2)
        time.sleep(5)
        waits, lags = [], []
        cpu_before = cpu_s(request(path)[1]['pid'])
        before, begin = ended(database), time.perf_counter()
        while time.perf_counter() - begin < SECONDS:
            waits.append(request(path)[0])
            lags.append(lag_ms(database, path))
            time.sleep(0.05)
        seconds = time.perf_counter() - begin
        reached = (ended(database) - before) / seconds
        used = (cpu_s(request(path)[1]['pid']) - cpu_before) / seconds
        database.close()
    finally:
        run('stop', '--state', str(state))
    yardstick = 'write and fsync of 4 KiB %.2f ms' % synced_write_ms(folder)
    report('at least %d ends a second, 16,000 CPUs, speed %d' % (due, SPEED), '%.0f / s' % reached, program_limit,
           'the daemon used %.0f %% of a core' % (100 * used))
    report('  lag of committed ends, median', '%.1f ms' % statistics.median(lags), 'at most 250 ms', yardstick)
    report('  wait of a small request, median (largest)', '%.1f ms' % statistics.median(waits), '',
           'largest %.0f ms' % max(waits))


def cpu_s(pid):
    fields = pathlib.Path('/proc/%d/stat' % pid).read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix='fairlead-bench.'))
    try:
        for due in DUE:
            measure(folder, due, 'all that are due' if due == DUE[0] else '')
    finally:
        subprocess.run(['rm', '-rf', str(folder)])
    return 0


if __name__ == '__main__':
    sys.exit(main())
