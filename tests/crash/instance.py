"""A private instance whose daemon is our own child, so that it can be killed at any moment and its end be seen. (The
system tests start theirs as a person does: tests/system/conftest.py.)"""
import json
import os
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exec_world import PATIENCE, in_time, kill, open_files, read, until, without_children  # noqa: E402

BUILD = pathlib.Path(os.environ.get('FAIRLEAD_BUILD', 'build')).resolve()
FAIRLEAD = BUILD / 'fairlead'
DAEMON = BUILD / 'fairleadd'


def processes_with(text):
    """Process ids whose command line has the text in it, zombies left out."""
    found = []
    for entry in pathlib.Path('/proc').iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = entry.joinpath('cmdline').read_bytes()
            state = entry.joinpath('stat').read_text(errors='replace').rsplit(')', 1)[1].split()[0]
        except (OSError, IndexError):
            continue
        if text.encode() in command and state != 'Z':
            found.append(int(entry.name))
    return found


class Instance:
    def __init__(self, place, settings=()):
        self.place = pathlib.Path(place)
        self.state = self.place / 'state'
        self.work = self.place / 'work'
        self.work.mkdir(parents=True, exist_ok=True)
        self.socket = self.state / 'fairlead.sock'
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith('FAIRLEAD_')}
        self.environment['FAIRLEAD_SOCKET'] = str(self.socket)
        self.settings = list(settings)
        self.daemon = None

    # The daemon.

    def start(self, *arguments):
        """Starts the daemon as our own child, so that it can be killed and its end be seen."""
        log = open(self.place / 'daemon.log', 'ab')
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
        return read(self.place / 'daemon.log').decode(errors='replace')[-4000:]

    def kill(self):
        self.daemon.send_signal(signal.SIGKILL)
        self.daemon.wait()

    def stop(self):
        if self.daemon is None or self.daemon.poll() is not None:
            return None
        self.daemon.send_signal(signal.SIGTERM)
        return self.daemon.wait(PATIENCE)

    def launcher_pids(self):
        return without_children([pid for pid in processes_with(str(self.state)) if self.name_of(pid) == 'fairlead-launch'])

    def keeper_pids(self):
        return [pid for pid in processes_with('fairlead-keeper') if self.is_ours(pid)]

    def name_of(self, pid):
        try:
            return pathlib.Path('/proc/%d/comm' % pid).read_text().strip()
        except OSError:
            return ''

    def is_ours(self, pid):
        """Whether a keeper has one of our launches' files open."""
        return any(name.startswith(str(self.state) + '/') for name in open_files(pid))

    def close(self):
        """Ends everything that is ours, whatever state it is in."""
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

    # The command.

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
        """A GET as anybody with curl would do it."""
        done = subprocess.run(['curl', '--silent', '--show-error', '--max-time', '60', '--unix-socket', self.socket,
                               'http://localhost' + path], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
