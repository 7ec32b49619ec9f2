"""Fixtures: a private instance for each test, used as a user does, through the installed command."""
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import pytest

BUILD = pathlib.Path(os.environ.get('FAIRLEAD_BUILD', 'build')).resolve()
FAIRLEAD = str(BUILD / 'fairlead')
PATIENCE = 60


def pytest_configure(config):
    config.addinivalue_line('markers', 'slow: left out on the build with sanitizers')


class Result:
    def __init__(self, arguments, status, out, err):
        self.arguments, self.status, self.out, self.err = arguments, status, out, err

    def __repr__(self):
        return 'fairlead %s -> %d\n%s\n%s' % (' '.join(map(str, self.arguments)), self.status, self.out, self.err)


def until(condition, what='condition'):
    """Waits for a true value and returns it."""
    end = time.monotonic() + PATIENCE
    pause_s = 0.01  # grows, because the condition may start processes
    while True:
        is_late = time.monotonic() >= end  # before the condition: this process may have been stopped for long
        value = condition()
        if value:
            return value
        assert not is_late, 'waited too long for ' + what
        time.sleep(pause_s)
        pause_s = min(1.2 * pause_s, 0.1)


class SocketConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path):
        super().__init__('localhost', timeout=PATIENCE)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


USAGES = 'usage', 'usage_wall_s', 'usage_tres'
LISTINGS = ['jobs?which=all', 'accounts', 'users', 'user-policies', 'settings', 'partitions', 'qos', 'projects', 'departments',
            'resources', 'hosts', 'groups', 'pes']


class Instance:
    """HOME is `home`, the state directory `home/state/fairlead`; jobs are submitted from `home/work`."""

    def __init__(self):
        # Not pytest's tmp_path: a socket's path has at most 107 bytes.
        self.home = pathlib.Path(tempfile.mkdtemp(prefix='fl-', dir='/tmp'))
        self.state = self.home / 'state/fairlead'
        self.socket = self.state / 'fairlead.sock'
        self.work = self.home / 'work'
        self.work.mkdir()
        self.environment = {
            'PATH': os.environ['PATH'], 'HOME': str(self.home), 'XDG_STATE_HOME': str(self.home / 'state'),
            'TZ': 'UTC', 'LANG': 'C.UTF-8',
            **{name: value for name, value in os.environ.items() if name.endswith('SAN_OPTIONS')}}

    def popen(self, *arguments, environment=None, cwd=None, **options):
        return subprocess.Popen([FAIRLEAD, *map(str, arguments)], cwd=cwd or self.work,
                                env={**self.environment, **(environment or {})}, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **options)

    def run(self, *arguments, text=None, environment=None, cwd=None):
        process = self.popen(*arguments, environment=environment, cwd=cwd, stdin=subprocess.PIPE)
        out, err = process.communicate(text.encode() if isinstance(text, str) else text, timeout=2 * PATIENCE)
        return Result(arguments, process.returncode, out.decode(errors='replace'), err.decode(errors='replace'))

    def good(self, *arguments, **options):
        """Standard output of a command that must succeed with an empty standard error."""
        result = self.run(*arguments, **options)
        assert (result.status, result.err) == (0, ''), result
        return result.out

    def bad(self, *arguments, status=2, **options):
        return self.refusal(self.run(*arguments, **options), status)

    @staticmethod
    def refusal(result, status=2):
        """The error of a command, which must be one line."""
        assert (result.status, result.out) == (status, ''), result
        assert result.err.count('\n') == 1 and result.err.endswith('\n'), result
        assert re.match(r'fairlead( [a-z]+)*: ', result.err), result
        return result.err[:-1]

    def json(self, *arguments):
        return json.loads(self.good(*arguments, '--json'))

    def rows(self, *arguments):
        """A -P listing as dicts."""
        lines = self.good(*arguments, '-P').splitlines()
        heads = lines[0].split('|')
        return [dict(zip(heads, line.split('|'), strict=True)) for line in lines[1:]]

    def start(self, *arguments):
        return self.good('start', *arguments)

    def submit(self, *arguments, **options):
        """The id of an accepted job. Two notes are accepted: it waits for a change of a limit, an option has no effect now."""
        result = self.run('submit', '--parsable', *arguments, **options)
        notes = (' waits until a limit or the job changes: ', ' has no effect now: ')
        assert result.status == 0 and all(any(n in line for n in notes) for line in result.err.splitlines()), result
        return int(result.out)

    def job(self, job):
        """The one row of a job or task."""
        rows = self.json('show', 'job', job)
        assert len(rows) == 1, rows
        return rows[0]

    def until_state(self, job, *states):
        return until(lambda: (row := self.job(job))['state'] in states and row, '%s to be %s' % (job, ' or '.join(states)))

    def pid(self):
        return self.json('status')['pid']

    def kill(self):
        """Kills the daemon with SIGKILL."""
        pid = self.pid()
        self.kill_process(pid)
        until(lambda: not self.is_alive(pid), 'the daemon to end')

    @staticmethod
    def kill_process(pid):
        """Kills a process that may have ended."""
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def kill_launchers(self):
        for pid in self.processes():
            try:
                name = pathlib.Path('/proc/%d/comm' % pid).read_text()
            except OSError:
                continue
            if name == 'fairlead-launch\n':
                self.kill_process(pid)

    @staticmethod
    def is_alive(pid):
        """Whether a thread of the process still runs: the files of a killed one close when its last thread ended."""
        for stat in pathlib.Path('/proc/%d/task' % pid).glob('*/stat'):
            try:
                if stat.read_text().rsplit(')', 1)[1].split()[0] not in 'ZX':
                    return True
            except (FileNotFoundError, ProcessLookupError):
                pass
        return False

    def everything(self):
        """All that a refused command must not change, read through one connection; without usage, which decays."""
        def listing(path):
            connection.request('GET', '/v1/' + path)
            (rows,) = json.load(connection.getresponse()).values()
            return sorted(({name: value for name, value in row.items() if name not in USAGES} for row in rows), key=json.dumps)

        connection = SocketConnection(self.socket)
        try:
            return {path: listing(path) for path in LISTINGS}
        finally:
            connection.close()

    def processes(self):
        """The instance's processes: those with its directory in their arguments or environment."""
        found = []
        for directory in pathlib.Path('/proc').iterdir():
            if not directory.name.isdigit() or int(directory.name) == os.getpid():
                continue
            try:
                words = (directory / 'cmdline').read_bytes() + b'\0' + (directory / 'environ').read_bytes()
            except OSError:
                continue
            if os.fsencode(self.home) in words and self.is_alive(int(directory.name)):
                found.append(int(directory.name))
        return found

    def print_logs(self):
        """pytest shows them if the test fails."""
        for name in ('fairleadd.log', 'launcher.log'):
            if (self.state / name).exists():
                print('%s:\n%s' % (name, (self.state / name).read_text(errors='replace')[-4000:]))

    def close(self):
        if self.socket.exists():
            self.run('stop', '--jobs')
        self.print_logs()
        for pid in self.processes():
            self.kill_process(pid)
        shutil.rmtree(self.home, ignore_errors=True)


SETTINGS = 'host_cpus=4,host_mem_mib=4096,host_gpus=0,grace_s=1'


@pytest.fixture
def stopped():
    """An instance that is not started."""
    instance = Instance()
    yield instance
    instance.close()


@pytest.fixture
def instance(stopped):
    stopped.start('--set', SETTINGS)
    return stopped


@pytest.fixture(scope='module')
def shared():
    """One instance for all tests of a file that change nothing."""
    instance = Instance()
    instance.start('--set', SETTINGS)
    yield instance
    instance.close()
