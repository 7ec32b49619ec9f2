"""What a daemon needs to run jobs, for tests: a state directory, a launcher, and an executor that is driven by lines
(crash/exec_driver.c)."""
import os
import pathlib
import select
import signal
import subprocess
import tempfile
import time

BUILD = pathlib.Path(os.environ.get('FAIRLEAD_BUILD', 'build')).resolve()
LAUNCHER = BUILD / 'fairlead-launcher'
DRIVER = BUILD / 'tests/crash/exec-driver'
# Seconds to wait for something that must happen. Builds with sanitizers are slow, and so are machines that run other
# tests meanwhile.
PATIENCE = 60
# Seconds between two looks at a condition, each a fifth longer than the one before: a look may start processes.
FIRST_PAUSE_S, LAST_PAUSE_S = 0.01, 0.1

US = 1000000


def escape(text):
    return str(text).replace('\\', '\\\\').replace('\n', '\\n').replace('\t', '\\t')


def alive(pid):
    """Whether the process exists and is not a zombie."""
    try:
        stat = pathlib.Path('/proc/%d/stat' % pid).read_text(errors='replace')
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rsplit(')', 1)[1].split()[0] != 'Z'


def until(condition, what, patience=PATIENCE, progress=None):
    """Waits until condition() is true and returns its value. Fails after patience seconds, or after patience seconds
    without a change of progress()."""
    last = progress and progress()
    end = time.monotonic() + patience
    pause_s = FIRST_PAUSE_S
    while True:
        late = time.monotonic() >= end  # read before the condition: this process itself may have been kept waiting
        result = condition()
        if result:
            return result
        if progress and (now := progress()) != last:
            last, late, end = now, False, time.monotonic() + patience
        assert not late, 'waited in vain for ' + what
        time.sleep(pause_s)
        pause_s = min(1.2 * pause_s, LAST_PAUSE_S)


def kill(pid, number=signal.SIGKILL):
    """Sends a signal to a process that may have ended."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def parent(pid):
    """The parent of a process; 0 if the process does not exist."""
    stat = read('/proc/%d/stat' % pid).decode(errors='replace')
    return int(stat.rsplit(')', 1)[1].split()[1]) if stat else 0


def open_files(pid):
    """The names of the files that a process has open. Files that it opens or closes meanwhile may be missing."""
    names = set()
    try:
        for link in pathlib.Path('/proc/%d/fd' % pid).iterdir():
            try:
                names.add(os.readlink(link))
            except FileNotFoundError:
                pass
    except OSError:
        pass
    return names


def in_time(attempt):
    """Calls attempt(seconds) with longer and longer times until it returns a true value, and returns it. For what must
    be ready that many seconds after its start, and takes longer on a busy machine."""
    for seconds in (0.5, 2, 8, 30):
        result = attempt(seconds)
        if result:
            return result
    raise AssertionError('not ready within %d seconds' % seconds)


def without_children(pids):
    """The pids without those whose parent is among them: right after the fork, a keeper looks like its launcher."""
    return [pid for pid in pids if parent(pid) not in pids]


def find_processes(text):
    """The pids of processes whose command line or title contains the text."""
    found = []
    for entry in pathlib.Path('/proc').iterdir():
        if entry.name.isdigit():
            try:
                if text.encode() in entry.joinpath('cmdline').read_bytes() and alive(int(entry.name)):
                    found.append(int(entry.name))
            except OSError:
                pass
    return found


def make_public_directory():
    """A directory that other users may enter. Not below pytest's, which each pytest closes to others as it starts."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix='fl-', dir='/tmp'))
    directory.chmod(0o711)
    return directory


class World:
    """One state directory with a launcher, which is started with launcher_options; without, the client starts it."""

    def __init__(self, path, launcher_options=None, prefix=()):
        self.path = path
        self.state = path / 'state'
        self.state.mkdir(mode=0o700)
        self.prefix = list(prefix)
        self.driver = None
        self.launcher = None
        self.lines = []
        self.reports = []
        if launcher_options is not None:
            self.start_launcher(launcher_options)

    def start_launcher(self, options=()):
        command = [*self.prefix, LAUNCHER, '--private', '--state', self.state, *options]
        with open(self.state / 'launcher.log', 'ab') as log:
            self.launcher = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=log)
        until((self.state / 'launcher.sock').exists, 'the launcher')
        return self.launcher

    def launcher_pids(self):
        return without_children([pid for pid in find_processes(str(self.state)) if self.is_launcher(pid)])

    def keeper_pid(self, launch_id):
        text = (self.state / 'launches' / str(launch_id) / 'lock').read_text()
        return int(text.split('\n')[0])

    def is_launcher(self, pid):
        try:
            return pathlib.Path('/proc/%d/cmdline' % pid).read_bytes().split(b'\0')[0].endswith(b'/fairlead-launcher')
        except OSError:
            return False

    # ---- the driver ----

    def connect(self, expect='opened'):
        """Starts a new driver in place of the old one. Its first line must begin with expect."""
        self.disconnect()
        self.driver = subprocess.Popen([*self.prefix, DRIVER, self.state, LAUNCHER], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, bufsize=0)
        self.buffer = b''
        self.reports = []
        end = time.monotonic() + PATIENCE
        line = self.read_line()
        while expect == 'opened' and line.startswith('error no launcher answers') and time.monotonic() < end:
            self.send('open')  # as a daemon does
            line = self.read_line()
        assert line.startswith(expect), line
        return line

    def disconnect(self):
        if self.driver:
            self.driver.stdin.close()
            self.driver.wait(PATIENCE)
            self.driver.stdout.close()
            self.driver = None

    def kill_driver(self):
        self.driver.kill()
        self.driver.wait()
        self.driver.stdin.close()
        self.driver.stdout.close()
        self.driver = None

    def send(self, *fields):
        self.driver.stdin.write('\t'.join(map(str, fields)).encode() + b'\n')

    def read_line(self, patience=PATIENCE):
        end = time.monotonic() + patience
        while b'\n' not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.driver.stdout], [], [], left)[0]:
                raise TimeoutError('the driver prints nothing; its reports so far: %r' % self.reports)
            piece = os.read(self.driver.stdout.fileno(), 65536)
            if not piece:
                raise EOFError('the driver has ended; its reports so far: %r' % self.reports)
            self.buffer += piece
        line, _, self.buffer = self.buffer.partition(b'\n')
        return line.decode(errors='surrogateescape')

    def report(self, patience=PATIENCE):
        """The next report: a record or a usage as a dictionary, or a word. Records and words are kept in reports."""
        line = self.read_line(patience)
        if line.startswith('usage\t'):
            return {name: int(value) for name, value in (field.split('=') for field in line.split('\t')[1:])}
        if not line.startswith('record\t'):
            self.reports.append(line)
            return line
        record = dict(field.split('=', 1) for field in line.split('\t')[1:] if field)
        for name in record:
            if name not in ('phase', 'end', 'detail', 'boot'):
                record[name] = int(record[name])
        self.reports.append(record)
        return record

    def synced(self):
        """The records that are reported after connecting, by launch id."""
        records = {}
        while (report := self.report()) != 'synced':
            records[report['id']] = report
        return records

    def start(self, launch_id, *arguments, script=None, environment=None, **fields):
        fields.setdefault('out', self.path / ('%d.out' % launch_id))
        fields.setdefault('directory', self.path)
        fields.setdefault('grace_us', US)
        fields.setdefault('name', launch_id)
        parts = ['%s=%s' % (name, escape(value)) for name, value in fields.items()]
        parts += ['arg=' + escape(argument) for argument in arguments]
        if environment is None:
            environment = {'PATH': '/usr/bin:/bin'}
        parts += ['env=%s=%s' % (name, escape(value)) for name, value in environment.items()]
        if script is not None:
            parts.append('script=' + escape(script))
        self.send('start', 'id=%d' % launch_id, *parts)

    def record(self, launch_id, phase):
        """The first record of this launch that has reached this phase, among the reports so far and new ones."""
        order = ['started', 'completing', 'ended']
        index = 0
        while True:
            while index < len(self.reports):
                report = self.reports[index]
                index += 1
                if isinstance(report, dict) and report['id'] == launch_id:
                    if order.index(report['phase']) >= order.index(phase):
                        return report
            self.report()

    def ended(self, launch_id):
        return self.record(launch_id, 'ended')

    def measure(self, *launch_ids):
        """What these launches use now, by launch id. No other launch may run."""
        usages = {}
        self.send('measure')
        while len(usages) < len(launch_ids):
            report = self.report()
            assert report != 'gone'
            if 'mem_kib' in report:
                usages[report['id']] = report
        assert set(usages) == set(launch_ids)
        return usages

    def run(self, launch_id, *arguments, **options):
        """Starts a launch and waits for its end. Returns the record and the output."""
        self.start(launch_id, *arguments, **options)
        record = self.ended(launch_id)
        return record, self.output(launch_id)

    def output(self, launch_id):
        path = self.path / ('%d.out' % launch_id)
        return path.read_text(errors='replace') if path.exists() else None

    def close(self):
        """Ends everything that runs in this world. Fails if a launcher or keeper has written into the log."""
        self.disconnect()
        for pid in self.launcher_pids():
            kill(pid)
        if self.launcher:
            self.launcher.kill()
            self.launcher.wait()
        for directory in self.state.glob('launches/*'):
            kill_launch(directory)
        log = read(self.state / 'launcher.log').decode(errors='replace')
        # The client starts a second launcher if the first one is slow to listen.
        log = log.replace('fairlead-launcher: another launcher serves %s\n' % self.state, '')
        print('launcher.log:\n' + log)
        assert log == ''


def read(path):
    try:
        return pathlib.Path(path).read_bytes()
    except OSError:
        return b''


def kill_launch(directory):
    """Kills the keeper, then all processes with the launch's key: a test may have failed because ending fails."""
    pid = read(directory / 'lock').decode().partition('\n')[0]
    if pid and b'fairlead-keeper' in read('/proc/%s/cmdline' % pid):
        kill(int(pid))
    identity = dict(line.split(b'=', 1) for line in read(directory / 'start').splitlines() if b'=' in line)
    for entry in pathlib.Path('/proc').iterdir():
        if identity.get(b'key') and entry.name.isdigit():
            if b'FAIRLEAD_LAUNCH_KEY=' + identity[b'key'] in read(entry / 'environ'):
                kill(int(entry.name))
    group = identity.get(b'cgroup', b'').decode()
    if group and os.path.isdir(group):
        until(lambda: remove_group(pathlib.Path(group)), 'a control group to be removed')


def remove_group(group):
    """Tries to remove a control group. Returns whether it is gone, which may be the keeper's doing."""
    try:
        (group / 'cgroup.kill').write_text('1')
        group.rmdir()
    except OSError:
        pass
    return not group.exists()
