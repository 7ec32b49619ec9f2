#!/usr/bin/python3
"""How long a submission waits for its answer while others read: the 99th percentile.

20 clients, each a loop of whole processes, ask for `share`, `queue`, `history` and `prio` of an instance with 10,000 pending and
10,000 ended jobs. Meanwhile jobs are submitted, each through the API on a connection of its own, and then each by a process. On a
machine with fewer CPUs than clients most of that is waiting for a CPU, so two yardsticks are taken in turns with the submissions, under
the same load: a request that a thread of another process echoes over a Unix socket, and a process that runs /bin/true. What the daemon itself
adds is in the last rows: the CPU time of its loop during a submission, which includes all requests that it served before it.
FAIRLEAD_BUILD is the directory with the programs.
"""
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time

from instances import (FAIRLEAD, Connection, add_ended, add_pending, daemon_pid, instance, job_body, loop_s, percentile, report, run, stopped)

READERS, SUBMISSIONS, JOBS, LIMIT_MS = 20, 400, 10000, 20
SUBMIT = ['submit', '--parsable', '-D', '/', '-o', '/dev/null', '--', '/bin/true']
LOOP = 'while :; do for c in share queue history prio; do "$0" $c >/dev/null 2>&1; done; done'


@contextlib.contextmanager
def readers():
    loops = [subprocess.Popen(['/bin/sh', '-c', LOOP, FAIRLEAD], start_new_session=True) for _ in range(READERS)]
    time.sleep(1)
    try:
        yield
    finally:
        for loop in loops:
            os.killpg(loop.pid, signal.SIGKILL)
            loop.wait()


@contextlib.contextmanager
def echo(folder):
    """The path of a socket whose server, a process of its own, sends back what it gets."""
    path = str(folder / 'echo')
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(100)
    pid = os.fork()
    if pid == 0:
        while True:
            client = server.accept()[0]
            client.sendall(client.recv(65536))
            client.close()
    server.close()
    try:
        yield path
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def ask_echo(path):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.sendall(b'x' * 200)
        s.recv(65536)


def spawn(*command):
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, '/dev/null', os.O_WRONLY, 0)])
    if os.waitpid(pid, 0)[1] != 0:
        raise SystemExit('%s failed' % ' '.join(command))


def submit_by_request(i):
    connection = Connection()
    connection.ask('POST', '/v1/jobs', job_body(i))
    connection.close()


def measure(pid, acts):
    """The 99th percentile of each act in ms, and that of the loop's CPU time during the first of them."""
    durations, computed = [[] for _ in acts], []
    for i in range(SUBMISSIONS):
        for act, list_ in zip(acts, durations):
            begin, before = time.perf_counter(), loop_s(pid)
            act(i)
            list_.append((time.perf_counter() - begin) * 1000)
            if act is acts[0]:
                computed.append((loop_s(pid) - before) * 1000)
    return [percentile(list_, 99) for list_ in durations], [percentile(list_, 50) for list_ in durations], percentile(computed, 99)


def main():
    with instance() as state:
        run('set', 'host_cpus=2')
        ended = int(run('submit', *SUBMIT[1:]))
        run('wait', str(ended))
        run('set', 'host_cpus=1')
        pending = int(run(*SUBMIT))
        with stopped(state) as database:
            add_ended(database, ended, JOBS)
            add_pending(database, pending, JOBS)
        pid = daemon_pid()
        with echo(state.parent) as path:
            ways = (('through the API', [submit_by_request, lambda i: ask_echo(path)], 'an echo over a socket'),
                    ('by a process', [lambda i: spawn(FAIRLEAD, *SUBMIT), lambda i: spawn('/bin/true')], '/bin/true'))
            for load, context in (('idle', contextlib.nullcontext), ('%d readers' % READERS, readers)):
                for name, acts, yardstick in ways:
                    with context():
                        late, middle, computed = measure(pid, acts)
                    report('submit %s, %s: 99th percentile' % (name, load), '%.1f ms' % late[0],
                           'at most %d ms' % LIMIT_MS if load != 'idle' else '', '%s %.1f ms' % (yardstick, late[1]))
                    report('  median', '%.1f ms' % middle[0], '', '%s %.1f ms' % (yardstick, middle[1]))
                    report('  CPU time of the loop until the answer, 99th percentile', '%.1f ms' % computed, '', 'as above')
    return 0


if __name__ == '__main__':
    sys.exit(main())
