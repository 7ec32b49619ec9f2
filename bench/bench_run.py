#!/usr/bin/python3
"""What a command costs at its terminal, what a site's program about submissions costs, and how long a long list of tasks keeps others.

`fairlead run` beside `fairlead submit --wait`, and bytes through its pipes beside a pipe; `submit` with and without submit_hook, beside
spawning the program; a job that is submitted while another request cancels 50,000 tasks of an array by their numbers, beside one that is
submitted alone. FAIRLEAD_BUILD is the directory with the programs.
"""
import http.client
import json
import os
import socket
import statistics
import subprocess
import threading
import time

from instances import FAIRLEAD, instance, report, run

TIMES, MIB, TASKS = 15, 256, 100000


def seconds(*command, **options):
    begin = time.monotonic()
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    return time.monotonic() - begin


def medians(*commands):
    """In ms. The commands take turns."""
    times = [[seconds(*command) for command in commands] for _ in range(TIMES)]
    return [1000 * statistics.median(column) for column in zip(*times)]


def piped(shell):
    return MIB / seconds('/bin/sh', '-c', 'head -c %dM /dev/zero | %s > /dev/null' % (MIB, shell))


def cancel_tasks(array):
    connection = http.client.HTTPConnection('localhost')
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(os.environ['FAIRLEAD_SOCKET'])
    ids = ['%s_%d' % (array, task) for task in range(1, TASKS, 2)]
    connection.request('POST', '/v1/jobs/cancel', json.dumps({'ids': ids, 'partial': True}), {'Content-Type': 'application/json'})
    assert json.load(connection.getresponse())['count'] == len(ids)


def measure_list(alone_ms):
    array = run('submit', '--parsable', '--hold', '-a', '0-%d' % (TASKS - 1), '--', 'true').strip()
    request = threading.Thread(target=cancel_tasks, args=(array,))
    begin = time.monotonic()
    request.start()
    waits = []
    while request.is_alive():
        waits.append(1000 * seconds(FAIRLEAD, 'submit', '--wait', '-D', '/', '-o', '/dev/null', '--', 'true'))
    request.join()
    report('50,000 tasks are cancelled by their numbers', '%.1f s' % (time.monotonic() - begin), '',
           'a job is submitted, runs and ends in %.1f ms' % alone_ms)
    report('  a job of others is submitted, runs and ends, largest', '%.1f ms' % max(waits), 'not held up', '%d such jobs' % len(waits))


def main():
    with instance():
        run('set', 'host_cpus=4')
        batch = [FAIRLEAD, 'submit', '--wait', '-D', '/', '-o', '/dev/null', '--', 'true']
        terminal_ms, batch_ms = medians([FAIRLEAD, 'run', '-D', '/', '-o', '/dev/null', '--', 'true'], batch)
        report('run, of a job that does nothing', '%.1f ms' % terminal_ms, '', 'submit --wait %.1f ms' % batch_ms)
        through, pipe = piped("'%s' run -D / -o /dev/null -- cat" % FAIRLEAD), piped('cat')
        report('bytes through the pipes of run', '%.0f MiB/s' % through, '', 'through a pipe %.0f MiB/s' % pipe)
        held = [FAIRLEAD, 'submit', '--hold', '-D', '/', '-o', '/dev/null', '--', 'true']
        bare_ms, spawn_ms = medians(held, ['/bin/true'])
        run('set', 'submit_hook=/bin/true')
        hook_ms, = medians(held)
        run('set', 'submit_hook=')
        report('submit with a program about submissions', '%.1f ms' % hook_ms, '',
               'without %.1f ms; the program alone %.1f ms' % (bare_ms, spawn_ms))
        measure_list(batch_ms)


if __name__ == '__main__':
    main()
