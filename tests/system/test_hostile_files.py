"""What others may have put where Fairlead reads or writes: sockets, fifos, directories; and a shortage of descriptors."""
import contextlib
import fcntl
import getpass
import os
import pathlib
import re
import resource
import signal
import sqlite3
import subprocess
import sys

import pytest

from conftest import FAIRLEAD, until

SERVER = '''
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen()
print('ready', flush=True)
c, _ = s.accept()
print(len(c.recv(1 << 16)), flush=True)
'''


def test_a_socket_of_another_user(stopped):
    """Nothing is sent to a server of another user, which could read the environment of a submission."""
    if os.geteuid() != 0:
        pytest.skip('only root can be another user')
    place = stopped.home / 'open'
    place.mkdir()
    place.chmod(0o777)
    stopped.home.chmod(0o755)
    path = place / 'x.sock'
    with subprocess.Popen(['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', sys.executable, '-c', SERVER,
                           str(path)], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout.readline() == 'ready\n'
        line = stopped.bad('submit', '--', 'true', environment={'FAIRLEAD_SOCKET': str(path)}, status=1)
        assert line == ('fairlead submit: the instance at %s is of user 65534; only those of user 0 and of root are trusted'
                        % path)
        assert server.stdout.readline() == '0\n'


def test_log_of_what_is_no_file(instance):
    """A fifo would be waited for without end, and a device has no output to read back."""
    fifo = instance.work / 'fifo'
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    job = instance.submit('-o', fifo, '--', 'true')
    instance.good('wait', job)
    os.close(reader)
    assert instance.bad('log', job).endswith('%s is a fifo; only the output in a regular file can be printed' % fifo)
    for path in '/dev/stdout', '/dev/full':
        job = instance.submit('-o', path, '--', 'true')
        instance.run('wait', job)
        assert 'only the output in a regular file can be printed' in instance.bad('log', job) or \
            'has no output: cannot open output' in instance.bad('log', job)


def test_log_of_a_job_that_could_not_open_its_output(instance):
    """The file that is there is not the job's."""
    directory = instance.work / 'd'
    directory.mkdir()
    (directory / 'out').mkdir()
    job = instance.submit('-o', directory / 'out', '--', 'true')
    until(lambda: instance.run('wait', job).status != 0)
    (directory / 'out').rmdir()
    (directory / 'out').write_text('of another job\n')
    assert 'job %d has no output: cannot open output %s' % (job, directory / 'out') in instance.bad('log', job)


def test_start_where_the_log_is_a_fifo(stopped):
    stopped.state.mkdir(parents=True, mode=0o700)
    log = stopped.state / 'fairleadd.log'
    os.mkfifo(log)
    assert stopped.bad('start').endswith('fairleadd.log: is no regular file; remove it')
    log.unlink()


def test_start_in_a_directory_that_is_open_to_others(stopped):
    """Nothing is written into it."""
    stopped.state.mkdir(parents=True)
    stopped.state.chmod(0o777)
    (stopped.state / 'x').write_text('')
    assert 'is open to others' in stopped.bad('start', status=1)
    assert os.listdir(stopped.state) == ['x']


@pytest.mark.parametrize('count', [6, 8, 10, 12, 20])
def test_few_descriptors(stopped, count):
    """One clear line, however few there are."""
    stopped.state.mkdir(parents=True, mode=0o700)
    done = subprocess.run([str(stopped.work / FAIRLEAD) + 'd', '--private', '--state', str(stopped.state)],
                          env=stopped.environment, capture_output=True, text=True, timeout=60,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count)))
    assert done.returncode in (1, 2), done
    assert done.stderr.count('\n') == 1
    assert '%d files may be open at once; at least 32 are needed (ulimit -n)' % count in done.stderr


@pytest.mark.parametrize('name', ['commits.log', 'commits.log.new', 'instance.new'])
def test_a_fifo_where_the_daemon_writes(instance, name):
    """Opening one without a reader would wait for ever."""
    instance.good('stop')
    (instance.state / name).unlink(missing_ok=True)
    if name == 'instance.new':
        (instance.state / 'instance').unlink()
    os.mkfifo(instance.state / name)
    started = instance.run('start')
    assert started.status == 0 and ('Quarantine' in started.err) == (name == 'instance.new'), started  # it lacks its mark
    instance.good('wait', instance.submit('--', 'true'))
    instance.good('stop')
    assert not (instance.state / name).is_fifo()


def test_rows_that_name_a_qos_that_is_not_there(instance):
    instance.good('account', 'add', 'physics')
    instance.good('user', 'add', getpass.getuser(), '-A', 'physics')
    instance.good('stop')
    with contextlib.closing(sqlite3.connect(instance.state / 'fairlead.db')) as db, db:
        assert db.execute("UPDATE association SET default_qos = 'none' WHERE account = 'physics'").rowcount > 0
    instance.start()
    instance.good('wait', instance.submit('-A', 'physics', '--', 'true'))


def launchers(instance):
    def name(pid):
        try:
            return pathlib.Path('/proc/%d/cmdline' % pid).read_bytes().split(b'\0')[0]
        except OSError:
            return b''
    return [pid for pid in instance.processes() if name(pid).endswith(b'/fairlead-launcher')]


def test_a_launcher_that_does_not_answer(instance):
    """Another program has the launcher's lock. Meanwhile everything else goes on, and status says so."""
    instance.good('wait', instance.submit('--', 'true'))
    daemon = instance.pid()
    with open(instance.state / 'launcher.lock', 'w') as lock:
        os.kill(daemon, signal.SIGSTOP)  # it would start another one
        for pid in launchers(instance):
            os.kill(pid, signal.SIGKILL)
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.kill(daemon, signal.SIGCONT)
        until(lambda: instance.json('status')['launcher_failure'], 'the failure')
        assert re.search('^Launcher   no launcher answers .*; running jobs go on, none starts$', instance.good('status'), re.M)
        job = instance.submit('--', 'true')
    instance.good('wait', job)
    assert instance.json('status')['launcher_failure'] is None


def test_a_database_that_cannot_be_written(instance):
    """A file size limit of the daemon stands for a full disk."""
    instance.good('wait', instance.submit('--', 'true'))
    pid = instance.pid()
    old = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, old[1]))
    assert 'nothing was changed: the state cannot be written: ' in instance.bad('submit', '--', 'true', status=1)
    assert re.search('^Writing    .*; changes are refused, and ends of jobs are recorded later$', instance.good('status'), re.M)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, old)
    instance.good('wait', instance.submit('--', 'true'))
    assert instance.json('status')['write_failure'] is None
