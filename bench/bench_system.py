#!/usr/bin/python3
"""Submissions through a system instance: what they cost beside a private one, and how long 200 of 1,000 users wait who submit at once.

Needs root. Both instances run side by side, and blocks of submissions of one client over one connection go to them in turns; figures are
the medians. A submission through the system instance may cost a third more (rate, and CPU time of the daemon). Then 1,000 users, each
with an association, submit in bursts: 200 clients, each with a connection and a uid of its own, send a submission at the same time;
the figure is the 99th percentile of the times until their answers, and beside it that of a burst of requests that change nothing.
Accounts are lines of /etc/passwd that are added in one edit and removed at the end. FAIRLEAD_BUILD is the directory with the programs.
"""
import contextlib
import ctypes
import json
import os
import pathlib
import pwd
import selectors
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from instances import BUILD, report

USERS, CLIENTS, BURSTS, BLOCKS, COUNT = 1000, 200, 15, 60, 30
RATE_LIMIT, P99_LIMIT_MS = 4 / 3, 20
PREFIX, FIRST_UID, GROUP = 'fltest%d' % os.getpid(), 210000, 65534
SYS_SETRESUID, SYS_SETRESGID = 117, 119  # of x86-64: unlike glibc's functions they are of one thread
BODY = json.dumps({'name': 'x', 'command': 'true', 'directory': '/', 'arguments': ['true'], 'environment': [], 'held': True,
                   'out': '/dev/null'}).encode()
SUBMIT = b'POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n' % len(BODY) + BODY
WHOAMI = b'GET /v1/clock HTTP/1.1\r\nHost: x\r\n\r\n'


def edit_passwd(change):
    """Under the lock that useradd takes."""
    library = ctypes.CDLL(None)
    assert library.lckpwdf() == 0, 'the user database is locked'
    try:
        path = pathlib.Path('/etc/passwd')
        new = path.with_name('passwd.' + PREFIX)
        new.write_text(change(path.read_text()))
        new.chmod(0o644)
        new.rename(path)
    finally:
        library.ulckpwdf()


@contextlib.contextmanager
def accounts():
    lines = ['%sd:x:%d:%d::/nonexistent:/usr/sbin/nologin' % (PREFIX, next(uid for uid in range(990, 100, -1) if not is_taken(uid)), GROUP)]
    lines += ['%sb%d:x:%d:%d::/home/b%d:/bin/sh' % (PREFIX, i, FIRST_UID + i, GROUP, i) for i in range(USERS)]
    edit_passwd(lambda text: text.rstrip('\n') + '\n' + '\n'.join(lines) + '\n')
    try:
        yield PREFIX + 'd'
    finally:
        edit_passwd(lambda text: ''.join(line for line in text.splitlines(True) if not line.startswith(PREFIX)))


def is_taken(uid):
    try:
        return bool(pwd.getpwuid(uid))
    except KeyError:
        return False


def wait_for(path):
    for _ in range(600):
        if os.path.exists(path):
            return
        time.sleep(0.05)
    sys.exit('no socket at %s' % path)


@contextlib.contextmanager
def daemon(folder, *options):
    log = open(folder / 'log', 'ab')
    process = subprocess.Popen([folder / 'fairleadd', *map(str, options)], stderr=log, stdin=subprocess.DEVNULL)
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait(60)


def end_processes(text):
    """Launchers outlive their daemons."""
    for entry in pathlib.Path('/proc').iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if (entry / 'cmdline').read_bytes().startswith(text.encode()):
                    os.kill(int(entry.name), signal.SIGKILL)


def connect(path, uid=None):
    """As a user: of this thread, while it connects."""
    system_call = ctypes.CDLL(None).syscall
    if uid is not None:
        system_call(SYS_SETRESGID, -1, GROUP, -1)
        system_call(SYS_SETRESUID, -1, uid, -1)
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(path))
    if uid is not None:
        system_call(SYS_SETRESUID, -1, 0, -1)
        system_call(SYS_SETRESGID, -1, 0, -1)
    return connection


def receive(connection):
    text = b''
    while b'\r\n\r\n' not in text or len(text) < text.index(b'\r\n\r\n') + 4 + length_of(text):
        part = connection.recv(65536)
        if not part:
            sys.exit('the daemon hung up')
        text += part
    return text


def length_of(text):
    head = text.split(b'\r\n\r\n', 1)[0].lower()
    return int(head.split(b'content-length:')[1].split()[0])


def cpu_s(pid):
    """Of all threads, to the nanosecond."""
    return sum(int((task / 'schedstat').read_text().split()[0]) for task in pathlib.Path('/proc/%d/task' % pid).iterdir()) / 1e9


def block(connection):
    begin = time.perf_counter()
    for _ in range(COUNT):
        connection.sendall(SUBMIT)
        answer = receive(connection)
        if b' 201 ' not in answer[:16]:
            sys.exit('refused: %s' % answer[-300:])
    return time.perf_counter() - begin


def measure_cost(instances):
    """instances: name -> (pid, connection)."""
    took = {name: [] for name in instances}
    cpu = dict.fromkeys(instances, 0.0)
    for connection in (value[1] for value in instances.values()):
        block(connection)
    for _ in range(BLOCKS):
        for name, (pid, connection) in instances.items():
            before = cpu_s(pid)
            took[name].append(block(connection) / COUNT * 1000)
            cpu[name] += cpu_s(pid) - before
    ms = {name: statistics.median(values) for name, values in took.items()}
    report('submit through a system instance, one client', '%.2f ms' % ms['system'], '', 'private instance %.2f ms' % ms['private'])
    ratio = statistics.median(system / private for system, private in zip(took['system'], took['private']))
    report('  time, of that of the block before through a private one', '%.2f' % ratio, 'at most %.2f' % RATE_LIMIT, 'as above')
    each = {name: seconds / BLOCKS / COUNT * 1000 for name, seconds in cpu.items()}
    report("  CPU time of the daemon, of that", '%.2f' % (each['system'] / each['private']), 'at most %.2f' % RATE_LIMIT,
           '%.2f and %.2f ms' % (each['system'], each['private']))


def burst(connections, request):
    """The times in ms until the answers."""
    selector = selectors.DefaultSelector()
    begin, times = {}, []
    for connection in connections:
        selector.register(connection, selectors.EVENT_READ)
    for connection in connections:
        begin[connection] = time.perf_counter()
        connection.sendall(request)
    while len(times) < len(connections):
        for key, _ in selector.select(60):
            answer = key.fileobj.recv(65536)
            times.append((time.perf_counter() - begin[key.fileobj]) * 1000)
            selector.unregister(key.fileobj)
            if answer[9:11] != b'20':
                sys.exit('refused: %s' % answer[-300:])
    return times


def p99(times):
    return sorted(times)[int(len(times) * 0.99)]


def measure_bursts(path, pid):
    submit, idle, cpu_ms = [], [], []
    for i in range(BURSTS):
        connections = [connect(path, FIRST_UID + (i * CLIENTS + n) % USERS) for n in range(CLIENTS)]
        burst(connections, WHOAMI)  # the users are looked up
        idle += burst(connections, WHOAMI)
        before = cpu_s(pid)
        submit += burst(connections, SUBMIT)
        cpu_ms.append((cpu_s(pid) - before) * 1000)
        for connection in connections:
            connection.close()
    report('submit, %d of %d users at once, 99th percentile' % (CLIENTS, USERS), '%.1f ms' % p99(submit), 'under %d ms' % P99_LIMIT_MS,
           'a request that changes nothing %.1f ms' % p99(idle))
    report('  CPU time of the daemon for them', '%.1f ms' % statistics.median(cpu_ms), 'under %d ms' % P99_LIMIT_MS,
           'it is the whole wait on a machine that is idle')
    report('  median', '%.1f ms' % statistics.median(submit), '', '%.1f ms' % statistics.median(idle))


def main():
    if os.geteuid() != 0:
        print('NOT MEASURED: submissions through a system instance, because this is not root')
        return
    folder = pathlib.Path(tempfile.mkdtemp(prefix='fl-bench.'))
    folder.chmod(0o711)
    run_directory = pathlib.Path('/run') / folder.name
    try:
        for name in 'fairlead', 'fairleadd', 'fairlead-launcher':
            shutil.copy2(BUILD / name, folder / name)
        (folder / 'private').mkdir(mode=0o700)
        with accounts() as account, daemon(folder, '--private', '--state', folder / 'private') as private_pid, daemon(
                folder, '--system', '--account', account, '--state', folder / 'state', '--launcher-state', folder / 'launcher', '--socket',
                run_directory / 'fairlead.sock') as system_pid:
            path = run_directory / 'fairlead.sock'
            wait_for(folder / 'private/fairlead.sock')
            wait_for(path)
            measure_cost({'private': (private_pid, connect(folder / 'private/fairlead.sock')), 'system': (system_pid, connect(path, FIRST_UID))})
            measure_bursts(path, system_pid)
    finally:
        end_processes(str(folder))
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(run_directory, ignore_errors=True)


if __name__ == '__main__':
    main()
