"""A daemon's place, for tests: a state directory, a launcher, and the executor as a line-based program (crash/exec_driver.c)."""
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
# How long to wait for what must happen; the builds with sanitizers are slow, and so is a machine that runs other tests.
PATIENCE = 60

US = 1000000


def escape(text):
    return str(text).replace('\\', '\\\\').replace('\n', '\\n').replace('\t', '\\t')


def alive(pid):
    """Whether there is such a process and it is not merely waiting to be waited for."""
    try:
        stat = pathlib.Path('/proc/%d/stat' % pid).read_text(errors='replace')
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rsplit(')', 1)[1].split()[0] != 'Z'


def until(condition, what, patience=PATIENCE, progress=None):
    """Waits for a true value and returns it. As long as what progress() tells goes on changing, it is not in vain."""
    told = progress and progress()
    end = time.monotonic() + patience
    while True:
        late = time.monotonic() >= end  # before it is looked at: we may have been kept waiting ourselves
        result = condition()
        if result:
            return result
        if progress and (now := progress()) != told:
            told, late, end = now, False, time.monotonic() + patience
        assert not late, 'waited in vain for ' + what
        time.sleep(0.01)


def kill(pid, number=signal.SIGKILL):
    """To a process that may end by itself meanwhile."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def parent(pid):
    """Of a process; 0 when there is none any more."""
    stat = read('/proc/%d/stat' % pid).decode(errors='replace')
    return int(stat.rsplit(')', 1)[1].split()[1]) if stat else 0


def open_files(pid):
    """What a process has open, as far as it can be told of one that goes on opening and closing."""
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
    """What attempt(seconds) returns once it is true: something that has to be ready that many seconds after its start, which
    a busy machine may need longer for."""
    for seconds in (0.5, 2, 8, 30):
        result = attempt(seconds)
        if result:
            return result
    raise AssertionError('not ready within %d seconds' % seconds)


def without_children(pids):
    """A keeper looks like its launcher for a moment after the fork."""
    return [pid for pid in pids if parent(pid) not in pids]


def find_processes(text):
    """Process ids whose command line, or the name they gave themselves, has the text in it."""
    found = []
    for entry in pathlib.Path('/proc').iterdir():
        if entry.name.isdigit():
            try:
                if text.encode() in entry.joinpath('cmdline').read_bytes() and alive(int(entry.name)):
                    found.append(int(entry.name))
            except OSError:
                pass
    return found


def place_for_all():
    """A directory that other users may enter. Not below pytest's: each pytest that starts closes that to others."""
    place = pathlib.Path(tempfile.mkdtemp(prefix='fl-', dir='/tmp'))
    place.chmod(0o711)
    return place


class World:
    """One state directory. launcher_options: a launcher is started with these beforehand, else the client starts it."""

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
        """A new driver, in place of the old one; what it says first must begin with expect."""
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
                raise TimeoutError('the driver says nothing; so far: %r' % self.reports)
            piece = os.read(self.driver.stdout.fileno(), 65536)
            if not piece:
                raise EOFError('the driver has ended; so far: %r' % self.reports)
            self.buffer += piece
        line, _, self.buffer = self.buffer.partition(b'\n')
        return line.decode(errors='surrogateescape')

    def report(self, patience=PATIENCE):
        """The next report: a dictionary of a record, or a word."""
        line = self.read_line(patience)
        if not line.startswith('record\t'):
            self.reports.append(line)
            return line
        record = dict(field.split('=', 1) for field in line.split('\t')[1:] if field)
        for name in record:
            if name not in ('phase', 'end', 'detail'):
                record[name] = int(record[name])
        self.reports.append(record)
        return record

    def synced(self):
        """What is told after connecting, by launch id."""
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
        """The first record of this launch that has come this far; reports that were read already count."""
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

    def run(self, launch_id, *arguments, **options):
        """Starts it, waits for its end: the record, and what it wrote."""
        self.start(launch_id, *arguments, **options)
        record = self.ended(launch_id)
        return record, self.output(launch_id)

    def output(self, launch_id):
        path = self.path / ('%d.out' % launch_id)
        return path.read_text(errors='replace') if path.exists() else None

    def close(self):
        """Leaves nothing of this world running. A launcher or keeper that had something to say has failed."""
        self.disconnect()
        for pid in self.launcher_pids():
            kill(pid)
        if self.launcher:
            self.launcher.kill()
            self.launcher.wait()
        for directory in self.state.glob('launches/*'):
            end_launch(directory)
        said = read(self.state / 'launcher.log').decode(errors='replace')
        # One that is long in coming is helped by another one.
        said = said.replace('fairlead-launcher: another launcher serves %s\n' % self.state, '')
        print('launcher.log:\n' + said)
        assert said == ''


def read(path):
    try:
        return pathlib.Path(path).read_bytes()
    except OSError:
        return b''


def end_launch(directory):
    """By force, for a test may have failed because ending does not work: the keeper, then whoever has the launch's key."""
    pid = read(directory / 'lock').decode().partition('\n')[0]
    if pid and b'fairlead-keeper' in read('/proc/%s/cmdline' % pid):
        kill(int(pid))
    traces = dict(line.split(b'=', 1) for line in read(directory / 'start').splitlines() if b'=' in line)
    for entry in pathlib.Path('/proc').iterdir():
        if traces.get(b'key') and entry.name.isdigit() and b'FAIRLEAD_LAUNCH_KEY=' + traces[b'key'] in read(entry / 'environ'):
            kill(int(entry.name))
    group = traces.get(b'cgroup', b'').decode()
    if group and os.path.isdir(group):
        until(lambda: end_group(pathlib.Path(group)), 'a control group to be removed')


def end_group(group):
    """Whether it is gone. A keeper that was just killed may still have removed it."""
    try:
        (group / 'cgroup.kill').write_text('1')
        group.rmdir()
    except OSError:
        pass
    return not group.exists()
