"""What the daemon does with signals, and without its socket or its directory."""
import os
import select
import shutil
import signal
import socket
import subprocess

import pytest

from conftest import BUILD, FAIRLEAD, PATIENCE, until


def log(instance):
    return (instance.state / 'fairleadd.log').read_text()


@pytest.mark.parametrize('name', ['SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGALRM'])
def test_a_signal_does_not_end_the_daemon(instance, name):
    pid, number = instance.pid(), getattr(signal, name)
    os.kill(pid, number)
    until(lambda: 'event=signal signal=%d ' % number in log(instance), 'the line in the log')
    assert instance.pid() == pid


def test_quit_stops_it_and_is_logged(instance):
    pid = instance.pid()
    os.kill(pid, signal.SIGQUIT)
    until(lambda: not instance.is_alive(pid), 'the daemon to end')
    assert 'event=stopping signal=%d' % signal.SIGQUIT in log(instance)


def test_the_log_can_be_truncated_by_a_rotation(instance):
    pid = instance.pid()
    shutil.copy(instance.state / 'fairleadd.log', instance.home / 'fairleadd.log.1')
    os.truncate(instance.state / 'fairleadd.log', 0)
    os.kill(pid, signal.SIGUSR1)
    until(lambda: 'event=signal' in log(instance), 'the line in the log')
    assert log(instance).startswith('time=')


def test_a_removed_socket_is_made_anew(instance):
    pid = instance.pid()
    instance.socket.unlink()
    os.kill(pid, signal.SIGHUP)
    until(instance.socket.exists, 'the socket')
    assert instance.pid() == pid
    assert instance.socket.stat().st_mode & 0o777 == 0o600
    instance.socket.unlink()
    until(instance.socket.exists, 'the socket, without a signal')
    assert instance.pid() == pid
    instance.good('stop')
    assert not instance.socket.exists()


def test_start_and_stop_name_the_daemon_that_does_not_answer(instance):
    pid = instance.pid()
    os.kill(pid, signal.SIGSTOP)
    instance.socket.unlink()
    try:
        assert "process %d, a fairleadd, uses %s" % (pid, instance.state) in instance.bad('stop', status=1)
        assert "process %d, another fairleadd, uses %s" % (pid, instance.state) in instance.bad('start', status=1)
    finally:
        os.kill(pid, signal.SIGCONT)
    until(instance.socket.exists, 'the socket')
    assert instance.pid() == pid


def test_a_daemon_without_a_state_directory_ends(stopped):
    stopped.start()
    pid = stopped.pid()
    with open(stopped.state / 'fairleadd.log') as file:
        shutil.rmtree(stopped.state)
        os.kill(pid, signal.SIGHUP)
        until(lambda: not stopped.is_alive(pid), 'the daemon to end')
        assert 'the state directory %s was removed' % stopped.state in file.read()


def test_reads_that_fail_for_a_moment_do_not_end_the_daemon(stopped):
    """A commit fails, and the state cannot be read again at once."""
    sync, read = stopped.home / 'sync', stopped.home / 'read'
    sanitizer = 'libasan.so.8 ' if os.environ.get('FAIRLEAD_SANITIZED') == '1' else ''
    stopped.environment |= {'LD_PRELOAD': sanitizer + 'fail-sync.so', 'LD_LIBRARY_PATH': str(BUILD / 'tests/crash'),
                            'FAIL_SYNC': str(sync), 'FAIL_READ': str(read)}
    stopped.start()
    stopped.submit('--hold', '--', 'true')
    pid = stopped.pid()
    read.touch()
    sync.touch()
    waiting = stopped.popen('submit', '--hold', '--', 'true')
    until(lambda: 'event=load-failed try=1 ' in log(stopped), 'a read that fails')
    sync.unlink()
    read.unlink()
    waiting.communicate()
    assert waiting.returncode == 1
    assert stopped.pid() == pid
    assert len(stopped.json('queue')) == 1


def test_the_log_says_how_a_daemon_ended(instance):
    """It says so itself when it is stopped; of one that was killed the next one does."""
    first = instance.pid()
    instance.good('stop')
    assert 'event=ended pid=%d exit_status=0' % first in log(instance)
    instance.start()
    assert 'former-ended' not in log(instance)
    second = instance.pid()
    instance.kill()
    assert instance.run('start').status == 0
    (line,) = [line for line in log(instance).splitlines() if 'former-ended' in line]
    assert 'pid=%d last_commit=20' % second in line and 'it was killed' in line


def test_a_daemon_that_does_not_answer_is_told_to_a_terminal(instance):
    """The command goes on waiting; without a terminal it says nothing."""
    pid = instance.pid()
    controller, terminal = os.openpty()
    os.kill(pid, signal.SIGSTOP)
    try:
        with subprocess.Popen([FAIRLEAD, 'queue'], env=instance.environment, stdout=subprocess.PIPE, stderr=terminal) as queue, \
                subprocess.Popen([FAIRLEAD, 'queue'], env=instance.environment, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE) as piped:
            said = b''
            until(lambda: select.select([controller], [], [], 1)[0], 'a line on the terminal')
            while b'disk)' not in said:
                said += os.read(controller, 4096)
            assert queue.poll() is None
            os.kill(pid, signal.SIGCONT)
            assert queue.wait(60) == 0 and b'answered' not in piped.communicate(timeout=60)[1]
    finally:
        os.kill(pid, signal.SIGCONT)
        os.close(controller)
        os.close(terminal)
    text = b' '.join(said.split()).decode()
    assert 'has not answered for 5 s; still waiting' in text and 'process %d' % pid in text and 'fairleadd.log' in text


@pytest.mark.parametrize('prefix', ['', '@'])
def test_it_tells_the_service_manager(stopped, prefix):
    """READY=1 once it answers, STOPPING=1 at the end; and the log has levels instead of times in the journal (sd_notify(3))."""
    address = prefix + str(stopped.home / 'notify')
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener, open(stopped.home / 'log', 'wb') as file:
        listener.bind(address.replace('@', '\0'))
        listener.settimeout(PATIENCE)
        stream = '%d:%d' % (os.fstat(file.fileno()).st_dev, os.fstat(file.fileno()).st_ino)
        daemon = subprocess.Popen([BUILD / 'fairleadd', '--private', '--state', stopped.state], stderr=file,
                                  env={**stopped.environment, 'NOTIFY_SOCKET': address, 'JOURNAL_STREAM': stream})
        try:
            ready = listener.recv(1000).decode()
            assert ready == 'READY=1\nSTATUS=Serving one user at %s' % stopped.socket
            assert stopped.run('status').status == 0
            # Nothing that the daemon starts speaks for it.
            environment = stopped.good('submit', '--parsable', '--', 'env').strip()
            assert stopped.run('wait', environment).status == 0
            assert 'NOTIFY_SOCKET' not in (stopped.work / ('fairlead-%s.out' % environment)).read_text()
        finally:
            daemon.terminate()
            assert daemon.wait(PATIENCE) == 0
        assert listener.recv(1000).decode().startswith('STOPPING=1\n')
    lines = (stopped.home / 'log').read_text().splitlines()
    assert lines and all(line.startswith('<6>level=info event=') for line in lines), lines


@pytest.mark.parametrize('address', ['', 'relative', '/' + 200 * 'x', 'vsock:2:1', '/nowhere/notify'])
def test_a_service_manager_that_cannot_be_told(stopped, address):
    started = stopped.run('start', environment={'NOTIFY_SOCKET': address, 'JOURNAL_STREAM': 'x:y'})
    assert started.status == 0
    assert log(stopped).startswith('time=')
