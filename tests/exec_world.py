"""What a daemon needs to run jobs, for tests: a state directory, a launcher, and an executor that is driven by lines
(crash/exec_driver.c)."""
import collections
import contextlib
import fcntl
import os
import pathlib
import select
import shutil
import signal
import socket
import struct
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


class Launch:
    """What the record log has of a launch: the fields of its start line, and of its last record of each phase."""

    def __init__(self):
        self.start, self.records, self.is_acknowledged = {}, {}, False


def log_lines(state):
    """The fields of all lines of the record log (exec/launcher/log_text.h), whether their hashes are right or not."""
    segments = [path for path in (state / 'launches').glob('*.log') if path.is_file()]
    for segment in sorted(segments, key=lambda path: int(path.stem)):
        for line in read(segment).decode(errors='replace').split('\n'):
            fields = dict(field.split('=', 1) for field in line.partition(' ')[2].split('\t') if '=' in field)
            if fields:
                yield fields


def logged(state):
    """What the record log has, by launch id."""
    launches = collections.defaultdict(Launch)
    for fields in log_lines(state):
        if 'start' in fields:
            launches[int(fields['start'])] = launch = Launch()
            launch.start = fields
        elif 'phase' in fields:
            launches[int(fields['id'])].records[fields['phase']] = fields
        elif 'acknowledged' in fields:
            launches[int(fields['acknowledged'])].is_acknowledged = True
    return launches


def known(state):
    """The ids of the launches that are not acknowledged, also of those with a directory of an older launcher."""
    older = [int(path.name) for path in (state / 'launches').glob('*') if path.name.isdigit()]
    return sorted([launch_id for launch_id, launch in logged(state).items() if not launch.is_acknowledged] + older)


def has_ended(state):
    """Whether any launch of the record log has an end."""
    return any('ended' in launch.records for launch in logged(state).values())


def log_line(build, text):
    """A line of the record log with its hash, which another program computes."""
    done = subprocess.run([build / 'tests/crash/log-line'], input=text, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def keeper_pid(state, launch_id):
    """The process with the lock of this launch's keeper; 0: none."""
    try:
        fd = os.open(state / 'launches' / 'keepers', os.O_RDWR)
    except FileNotFoundError:
        return 0
    try:
        lock = fcntl.fcntl(fd, fcntl.F_GETLK, struct.pack('hhqqi4x', fcntl.F_WRLCK, os.SEEK_SET, launch_id, 1, 0))
    finally:
        os.close(fd)
    kind, _, _, _, pid = struct.unpack('hhqqi4x', lock)
    return 0 if kind == fcntl.F_UNLCK else pid


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
        """The pid of a keeper that runs, or is about to."""
        return until(lambda: keeper_pid(self.state, launch_id), 'the keeper')

    def logged(self, launch_id):
        return logged(self.state)[launch_id]

    def has_record(self, launch_id, phase):
        return phase in self.logged(launch_id).records

    def knows(self, launch_id):
        return launch_id in known(self.state)

    def until_forgotten(self, *launch_ids):
        """Waits until these launches, or all, are acknowledged."""
        until(lambda: not (set(launch_ids) & set(known(self.state)) if launch_ids else known(self.state)),
              'the launches to be forgotten')

    def is_launcher(self, pid):
        try:
            return pathlib.Path('/proc/%d/cmdline' % pid).read_bytes().split(b'\0')[0].endswith(b'/fairlead-launcher')
        except OSError:
            return False

    # ---- the driver ----

    def connect(self, expect='opened'):
        """Starts a new driver in place of the old one. Its first line must begin with expect."""
        self.disconnect()
        self.driver = subprocess.Popen(self.driver_command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.buffer = b''
        self.reports = []
        end = time.monotonic() + PATIENCE
        line = self.read_line()
        while expect == 'opened' and line.startswith('error no launcher answers') and time.monotonic() < end:
            self.send('open')  # as a daemon does
            line = self.read_line()
        assert line.startswith(expect), line
        return line

    def driver_command(self):
        return [*self.prefix, DRIVER, self.state, LAUNCHER]

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
        for launch_id, launch in logged(self.state).items():
            kill_launch(keeper_pid(self.state, launch_id), launch.start)
        for directory in self.state.glob('launches/*/'):
            kill_older_launch(directory)
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


def kill_older_launch(directory):
    pid = read(directory / 'lock').decode().partition('\n')[0]
    lines = read(directory / 'start').decode(errors='replace').splitlines()
    kill_launch(int(pid or 0), dict(line.split('=', 1) for line in lines if '=' in line))


def kill_launch(pid, identity):
    """Kills the keeper, then all processes with the launch's key: a test may have failed because ending fails."""
    if pid > 0 and b'fairlead-keeper' in read('/proc/%d/cmdline' % pid):
        kill(pid)
    key = identity.get('key', '').encode()
    for entry in pathlib.Path('/proc').iterdir():
        if key and entry.name.isdigit() and b'FAIRLEAD_LAUNCH_KEY=' + key in read(entry / 'environ'):
            kill(int(entry.name))
    if 'start' in identity:
        name = 'fairlead-%s-%s' % (identity['start'], identity.get('key', '')[:8])
        for root in hierarchies():
            group = root / name
            if group.is_dir():
                until(lambda group=group: remove_group(group), 'a control group of version 1 to be removed')
    group = identity.get('cgroup', '')
    if group and os.path.isdir(group):
        until(lambda: remove_group(pathlib.Path(group)), 'a control group to be removed')


def hierarchies(*controllers):
    """The groups of this process in the hierarchies of version 1 that have one of these controllers."""
    controllers = controllers or ('cpu', 'memory', 'cpuset')
    found = []
    for line in pathlib.Path('/proc/self/cgroup').read_text().splitlines():
        names, path = line.split(':', 2)[1:]
        for controller in set(names.split(',')) & set(controllers):
            root = pathlib.Path('/sys/fs/cgroup') / controller
            found += [group for group in (root / path.lstrip('/'),) if group.is_dir()]
    return found


def remove_group(group):
    """Tries to remove a control group. Returns whether it is gone, which may be the keeper's doing."""
    with contextlib.suppress(OSError):  # version 1 has no such file
        (group / 'cgroup.kill').write_text('1')
    with contextlib.suppress(OSError):
        group.rmdir()
    return not group.exists()


class SystemWorld(World):
    """A launcher for all users, whose daemon, the driver, runs as another account. The programs are copies that every user
    may enter. An account is an entry of the user database; its directory is path/NAME."""

    def __init__(self, path, daemon, launcher_options=(), prefix=()):
        self.path, self.state, self.daemon = path, path / 'state', daemon
        self.prefix, self.launcher_options = list(prefix), list(launcher_options)
        self.driver = self.launcher = None
        self.lines, self.reports = [], []
        self.log = path / 'launcher.err'
        for program in (LAUNCHER, DRIVER):
            shutil.copy(program, path)
            (path / program.name).chmod(0o755)
        self.start_launcher()

    def command(self, *options):
        return [*self.prefix, self.path / LAUNCHER.name, '--system', '--state', self.state, *options]

    def start_launcher(self, options=(), **popen):
        with open(self.log, 'ab') as log:
            self.launcher = subprocess.Popen(
                self.command('--daemon-user', self.daemon.pw_name, *self.launcher_options, *options),
                stdin=subprocess.DEVNULL, stderr=log, **popen)
        until(lambda: self.launcher.poll() is not None or self.is_listening(), 'the launcher')
        assert self.launcher.poll() is None, read(self.log).decode()
        return self.launcher

    def is_listening(self):
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(str(self.state / 'launcher.sock')) == 0

    def restart_launcher(self):
        for pid in self.launcher_pids():
            kill(pid)
        self.launcher.wait()
        self.start_launcher()

    def driver_command(self):
        return [*as_account(self.daemon), self.path / DRIVER.name, self.state, '-']

    def home(self, account):
        directory = self.path / account.pw_name
        if not directory.exists():
            directory.mkdir(mode=0o700)
            os.chown(directory, account.pw_uid, account.pw_gid)
        return directory

    def start(self, launch_id, *arguments, user=None, **fields):
        if user is not None:
            home = self.home(user)
            fields = {'uid': user.pw_uid, 'gid': user.pw_gid, 'directory': home, 'out': home / ('%d.out' % launch_id), **fields}
        fields.setdefault('out', self.path / ('%d.out' % launch_id))
        self.outs = {**getattr(self, 'outs', {}), launch_id: fields['out']}
        super().start(launch_id, *arguments, **fields)

    def output(self, launch_id):
        try:
            path = pathlib.Path(self.outs[launch_id])
            return path.read_text(errors='replace') if path.is_file() else None
        except OSError:
            return None

    def close(self):
        print('launcher.err:\n' + read(self.log).decode(errors='replace'))
        super().close()


def as_account(account):
    """The words before a command that make it run as the account."""
    return ['setpriv', '--reuid=%d' % account.pw_uid, '--regid=%d' % account.pw_gid, '--init-groups']
