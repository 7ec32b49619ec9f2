"""A private instance for tests. Its daemon is a child of the test, which can kill it at any time and wait for its end. (The
system tests start theirs with 'fairlead start': tests/system/conftest.py.)"""
import json
import os
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exec_world import (PATIENCE, find_processes, has_ended, in_time, keeper_pid, kill, known, log_line, logged, open_files,  # noqa: E402,F401
                        read, until, without_children)

BUILD = pathlib.Path(os.environ.get('FAIRLEAD_BUILD', 'build')).resolve()
FAIRLEAD = BUILD / 'fairlead'
DAEMON = BUILD / 'fairleadd'


class Instance:
    def __init__(self, directory, settings=()):
        self.directory = pathlib.Path(directory)
        self.state = self.directory / 'state'
        self.work = self.directory / 'work'
        self.work.mkdir(parents=True, exist_ok=True)
        self.socket = self.state / 'fairlead.sock'
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith('FAIRLEAD_')}
        self.environment['FAIRLEAD_SOCKET'] = str(self.socket)
        self.settings = list(settings)
        self.daemon = None

    # ---- the daemon ----

    def start(self, *arguments):
        log = open(self.directory / 'daemon.log', 'ab')
        self.daemon = subprocess.Popen([DAEMON, '--private', '--state', self.state, *arguments], stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=log, env=self.environment)
        log.close()
        until(lambda: self.run('status', '--json').returncode == 0 or self.daemon.poll() is not None, 'the daemon to answer')
        assert self.daemon.poll() is None, self.log()
        if self.settings:
            self.ok('set', *self.settings)
            self.settings = []
        return self

    def log(self):
        return read(self.directory / 'daemon.log').decode(errors='replace')[-4000:]

    def kill(self):
        self.daemon.send_signal(signal.SIGKILL)
        self.daemon.wait()

    def stop(self):
        if self.daemon is None or self.daemon.poll() is not None:
            return None
        self.daemon.send_signal(signal.SIGTERM)
        return self.daemon.wait(PATIENCE)

    def launcher_pids(self):
        return without_children([pid for pid in find_processes(str(self.state)) if self.name_of(pid) == 'fairlead-launch'])

    def keeper_pids(self):
        return [pid for pid in find_processes('fairlead-keeper') if self.has_open_file(pid)]

    def name_of(self, pid):
        try:
            return pathlib.Path('/proc/%d/comm' % pid).read_text().strip()
        except OSError:
            return ''

    def has_open_file(self, pid):
        """Whether the process has a file of this instance open."""
        return any(name.startswith(str(self.state) + '/') for name in open_files(pid))

    def close(self):
        """Ends all jobs and programs of the instance, in whatever state they are. Returns the daemon's exit status."""
        if self.daemon is not None and self.daemon.poll() is None:
            self.run('cancel', '--all')
            try:
                until(lambda: not self.queue(), 'the queue to be empty', 20)
            except AssertionError:
                pass
        code = self.stop()
        print('daemon.log:\n%s\nlauncher.log:\n%s' % (self.log(), read(self.state / 'launcher.log').decode(errors='replace')))
        for pid in self.keeper_pids() + self.launcher_pids():
            kill(pid)
        return code

    # ---- the command ----

    def run(self, *arguments, **options):
        options.setdefault('cwd', self.work)
        options.setdefault('env', self.environment)
        return subprocess.run([FAIRLEAD, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=PATIENCE * 2, **options)

    def ok(self, *arguments, **options):
        done = self.run(*arguments, **options)
        assert done.returncode == 0, '%s: %d\n%s%s\n%s' % (arguments, done.returncode, done.stdout, done.stderr, self.log())
        return done.stdout

    def submit(self, *arguments):
        return int(self.ok('submit', '--parsable', *arguments))

    def rows(self, *arguments):
        listing = json.loads(self.ok(*arguments, '--json'))
        return listing['jobs'] if isinstance(listing, dict) else listing

    def queue(self):
        return self.rows('queue')

    def running(self, job):
        return [row for row in self.queue() if (row['job_id'], row['state']) == (job, 'RUNNING')]

    def kill_launchers(self):
        for pid in self.launcher_pids():
            kill(pid)

    def history(self):
        return self.rows('history', '--limit', '0')

    def api(self, path):
        """The reply to a GET, by curl."""
        done = subprocess.run(['curl', '--silent', '--show-error', '--max-time', '60', '--unix-socket', self.socket,
                               'http://localhost' + path], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
