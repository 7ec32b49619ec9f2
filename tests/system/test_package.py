"""The first hour of an administrator, on a machine of its own: a copy-on-write view of this one, with its own processes, accounts and
/run, that ends with the test. The package is installed there, its services are started as their units say (run_unit.py), two users
and a hostile third share it, and it is upgraded, removed and purged. Needs root, mount name spaces and overlayfs.

FAIRLEAD_DEB names the package that `make deb` has built. Without it, what `meson install` installs takes its place."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exec_world import BUILD, kill, until  # noqa: E402

DEB = os.environ.get('FAIRLEAD_DEB')
TOOLS = 'unshare', 'nsenter', 'useradd', 'setpriv', 'tar', 'systemd-sysusers'
UNITS = 'fairlead-launcher', 'fairlead'
RUN_UNIT = pathlib.Path(__file__).with_name('run_unit.py').read_text()
MOUNTS = r'''
set -e
mount -t tmpfs -o mode=755 tmpfs "$1"
cd "$1"
mkdir upper work root
mount -t overlay overlay -o lowerdir=/,upperdir="$1/upper",workdir="$1/work" root
cd root
mount -t proc proc proc
mount --rbind /dev dev
mount --rbind /sys sys
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
exec chroot . sh -c 'echo ready; exec </dev/null >/dev/null 2>&1; while :; do sleep 60 & wait $!; done'
'''


class Machine:
    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='fl-', dir='/tmp'))
        self.outer = subprocess.Popen(['unshare', '--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private', 'sh', '-c',
                                       MOUNTS, 'sh', self.folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.outer.stdout.readline() != 'ready\n':
            reason = self.outer.stderr.read().strip()
            self.close()
            pytest.skip('NOT TESTED: the package, because this machine cannot have another one inside: ' + reason)
        (self.pid,) = pathlib.Path('/proc/%d/task/%d/children' % (self.outer.pid, self.outer.pid)).read_text().split()

    def close(self):
        kill(self.outer.pid)
        self.outer.communicate()
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, *command, user=None, stdin=None, environment=None, timeout=120):
        identity = ['setpriv', '--reuid', user, '--regid', user, '--init-groups'] if user else []
        home = '/home/' + user if user else '/root'
        kept = {name: value for name, value in os.environ.items() if name.endswith('SAN_OPTIONS')}
        return subprocess.run(
            ['nsenter', '--target', self.pid, '--mount', '--pid', '--root', 'sh', '-c', 'cd "$0" && exec "$@"', home, *identity,
             *map(str, command)],
            input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, text=not isinstance(stdin, bytes),
            env={'PATH': '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'HOME': home, 'LANG': 'C.UTF-8', 'TZ': 'UTC',
                 'DEBIAN_FRONTEND': 'noninteractive', **kept, **(environment or {})})

    def good(self, *command, **options):
        done = self.run(*command, **options)
        assert done.returncode == 0, done
        return done.stdout

    def bad(self, *command, **options):
        done = self.run(*command, **options)
        assert done.returncode != 0, done
        return done.stderr.strip()

    def units(self, action, *names):
        return self.good('python3', '-', action, *names, stdin=RUN_UNIT)

    def status(self, user=None):
        return json.loads(self.good('fairlead', 'status', '--json', user=user))

    def exists(self, path):
        return self.run('test', '-e', path).returncode == 0

    def make_users(self, *names):
        for name in names:
            self.good('useradd', '--create-home', '--user-group', name)
            self.good('chmod', '700', '/home/' + name)

    def install(self):
        """Twice, it is an upgrade."""
        if DEB:
            self.good('sh', '-c', 'cat > /tmp/fairlead.deb', stdin=pathlib.Path(DEB).read_bytes())
            self.good('dpkg', '--install', '/tmp/fairlead.deb')
            return
        with tempfile.TemporaryDirectory(prefix='fl-', dir='/tmp') as tree:
            subprocess.run(['meson', 'install', '--no-rebuild', '--quiet', '-C', BUILD, '--destdir', tree], check=True, timeout=120,
                           stdout=subprocess.PIPE)
            # No directories: tar would close those that exist, such as /usr, for a moment.
            files = '\n'.join(str(path.relative_to(tree)) for path in pathlib.Path(tree).rglob('*') if not path.is_dir())
            packed = subprocess.run(['tar', '--create', '--owner=0', '--group=0', '--files-from=-'], cwd=tree, check=True,
                                    input=files.encode(), stdout=subprocess.PIPE).stdout
        self.good('tar', '--extract', '--directory=/', stdin=packed)
        self.good('systemd-sysusers', self.good('sh', '-c', 'ls /usr/lib/sysusers.d/fairlead.conf /usr/*/lib/sysusers.d/fairlead.conf || true').split()[0])


def why_not():
    if os.geteuid() != 0:
        return 'NOT TESTED: the package, because this is not root'
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    return 'NOT TESTED: the package, because there is no %s' % ', '.join(missing) if missing else ''


pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())


@pytest.fixture
def machine():
    made = Machine()
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def served(machine):
    """With both services started, and three users."""
    machine.install()
    machine.make_users('ann', 'ben', 'eve')
    machine.units('start', *UNITS)
    return machine


def submit(machine, user, *arguments):
    return int(machine.good('fairlead', 'submit', '--parsable', *arguments, user=user))


def state_of(machine, job):
    return json.loads(machine.good('fairlead', 'show', 'job', str(job), '--json'))[0]['state']


def test_services_start_as_their_units_say(machine):
    machine.install()
    account = machine.good('getent', 'passwd', 'fairlead').split(':')
    assert int(account[2]) < 1000 and account[6].strip().endswith('nologin')
    launcher, daemon = machine.units('start', *UNITS).splitlines()
    assert launcher == 'READY=1 STATUS=Waiting for the daemon at /var/lib/fairlead-launcher/launcher.sock'
    assert daemon == 'READY=1 STATUS=Serving all users at /run/fairlead/fairlead.sock'
    found = machine.good('stat', '-c', '%n %U %a', '/var/lib/fairlead', '/var/lib/fairlead-launcher', '/run/fairlead',
                         '/run/fairlead/fairlead.sock', '/var/lib/fairlead/fairlead.db').splitlines()
    assert found == ['/var/lib/fairlead fairlead 711', '/var/lib/fairlead-launcher root 711', '/run/fairlead fairlead 755',
                     '/run/fairlead/fairlead.sock fairlead 666', '/var/lib/fairlead/fairlead.db fairlead 600']
    # A line of the journal has its level, and not the time, which the journal has.
    assert re.match(r'<6>level=info event=\S+ ', machine.good('cat', '/var/log/fairlead.log'))
    for program in 'fairleadd', 'fairlead-launcher':
        arguments = machine.good('sh', '-c', "tr '\\0' ' ' < /proc/$(pgrep -x %s | head -n 1)/cmdline" % program[:15])
        assert arguments.startswith('/usr/') and '/%s --system' % program in arguments


@pytest.mark.skipif(shutil.which('systemd-analyze') is None, reason='NOT TESTED: the units, because there is no systemd-analyze')
def test_units_are_valid(machine):
    machine.install()
    paths = machine.good('sh', '-c', 'ls /lib/systemd/system/fairlead*.service /usr/local/lib/systemd/system/fairlead*.service || true').split()
    assert len(paths) == 3, paths
    done = machine.run('systemd-analyze', 'verify', *paths)
    said = [line for line in done.stderr.splitlines() if 'fairlead' in line and 'man ' not in line]
    assert said == [], done


def test_the_first_hour(served):
    assert 'Serves     all users of this machine\n' in served.good('fairlead', 'status', user='ann')
    served.good('fairlead', 'set', 'host_cpus=1')
    blocker = submit(served, 'ann', '--', 'sh', '-c', 'until [ -e go ]; do sleep 0.05; done')
    jobs = {submit(served, user, '--', 'sleep', '0.1'): user for user in ['ann'] * 8 + ['ben'] * 8}
    served.good('touch', 'go', user='ann')
    for job in (blocker, *jobs):
        served.good('fairlead', 'wait', str(job))
    rows = json.loads(served.good('fairlead', 'history', '--json', user='ben'))
    starts = [row['user'] for row in sorted(rows, key=lambda row: row['start_us']) if row['job_id'] in jobs]
    assert sorted(starts) == ['ann'] * 8 + ['ben'] * 8
    # The blocker was ann's, so ben is not behind, although all jobs of ann were there before.
    assert starts[:8].count('ben') >= 4, starts
    assert 'all agree' in served.good('fairlead', 'verify')


def test_what_a_hostile_user_cannot_do(served):
    job = submit(served, 'ann', '--', 'sh', '-c', 'echo secret; until [ -e go ]; do sleep 0.05; done')
    until(lambda: state_of(served, job) == 'RUNNING', 'the job to run')
    output = '/home/ann/fairlead-%d.out' % job
    until(lambda: 'secret' in served.good('cat', output), 'the output')
    for command in (['cancel', job], ['requeue', job], ['update', job, '--nice=5']):
        assert 'belongs to ann' in served.bad('fairlead', *map(str, command), user='eve')
    for command in (['set', 'grace_s=1'], ['backup', 'x.db'], ['audit'], ['account', 'add', 'x']):
        assert re.search('only (an administrator|administrators) may ', served.bad('fairlead', *command, user='eve'))
    for path in output, '/var/lib/fairlead/fairlead.db', '/var/lib/fairlead/commits.log', '/var/lib/fairlead-launcher/launches':
        assert 'Permission denied' in served.bad('ls' if path.endswith('launches') else 'cat', path, user='eve')
    pids = served.good('pgrep', '^fairlead').split()
    assert len(pids) >= 2
    for pid in pids:
        assert 'not permitted' in served.bad('sh', '-c', 'kill -9 ' + pid, user='eve')
    connect = 'import socket; socket.socket(socket.AF_UNIX).connect("/var/lib/fairlead-launcher/launcher.sock")'
    assert 'PermissionError' in served.bad('python3', '-c', connect, user='eve')
    assert 'one of --private' in served.bad('fairleadd', user='eve')
    assert 'started by root' in served.bad('fairlead-launcher', '--system', user='eve')
    assert 'only root may stop' in served.bad('fairlead', 'stop', '--system', user='eve')
    assert "run 'fairlead stop --system' as root" in served.bad('fairlead', 'stop', '--socket', '/run/fairlead/fairlead.sock', user='eve')
    assert state_of(served, job) == 'RUNNING'
    served.good('touch', 'go', user='ann')
    served.good('fairlead', 'wait', str(job))


def test_a_private_instance_beside(served):
    """Its user's commands go to it while it runs; --socket selects the other one."""
    started = served.run('fairlead', 'start', user='ann')
    assert started.returncode == 0 and 'This machine has an instance for all users, too.' in started.stderr
    assert 'Serves     ann only\n' in served.good('fairlead', 'status', user='ann')
    system = '--socket', '/run/fairlead/fairlead.sock'
    assert 'Serves     all users' in served.good('fairlead', 'status', *system, user='ann')
    mine, shared = submit(served, 'ann', '--', 'true'), submit(served, 'ann', '--comment', 'shared', *system, '--', 'true')
    served.good('fairlead', 'wait', str(mine), user='ann')
    served.good('fairlead', 'wait', str(shared), *system, user='ann')
    assert 'shared' not in served.good('fairlead', 'history', '--json', user='ann')
    assert 'belongs' not in served.good('fairlead', 'stop', user='ann')
    assert 'Serves     all users' in served.good('fairlead', 'status', user='ann')
    assert 'nothing to stop' in served.bad('fairlead', 'stop', user='ann')


def test_jobs_run_on_while_both_services_are_replaced(served):
    job = submit(served, 'ann', '--', 'sh', '-c', 'until [ -e go ]; do sleep 0.05; done; echo done')
    until(lambda: state_of(served, job) == 'RUNNING', 'the job to run')
    before = served.status()['pid']
    served.install()
    assert state_of(served, job) == 'RUNNING'
    served.units('restart', *UNITS)
    until(lambda: state_of(served, job) == 'RUNNING', 'the job to be found again')
    assert served.status()['pid'] != before
    served.good('touch', 'go', user='ann')
    served.good('fairlead', 'wait', str(job))
    assert served.good('cat', '/home/ann/fairlead-%d.out' % job) == 'done\n'


RECOVERY = '''
cd /var/lib/fairlead
chmod 700 .
rm -f fairlead.db fairlead.db-wal fairlead.db-shm
install -o fairlead -m 600 /root/backup.db restored.db
setpriv --reuid fairlead --regid fairlead --init-groups fairlead restore restored.db --state /var/lib/fairlead
rm restored.db
chmod 711 .
'''


def test_recovery_from_a_backup(served):
    """As docs/administration.md says it."""
    page = pathlib.Path('docs/administration.md').read_text()
    assert all('    ' + line + '\n' in page for line in RECOVERY.replace('/root/backup.db', '/backup/fairlead.db').strip().splitlines())
    job = submit(served, 'ann', '--', 'true')
    served.good('fairlead', 'wait', str(job))
    waiting = submit(served, 'ann', '--hold', '--', 'true')
    served.good('fairlead', 'backup', '/root/backup.db')
    served.units('stop', 'fairlead')
    served.good('sh', '-e', '-c', RECOVERY)
    served.units('start', 'fairlead')
    assert state_of(served, job) == 'COMPLETED'
    assert state_of(served, waiting) == 'PENDING'
    assert 'Serves     all users' in served.good('fairlead', 'status', user='ann')


def as_uid(machine, uid, home, *arguments):
    """A submission of a user id, whatever its name is now."""
    done = machine.good('sh', '-c', 'cd "$0" && exec setpriv --reuid %s --regid %s --clear-groups "$@"' % (uid, uid), home,
                        'fairlead', 'submit', '--parsable', *arguments)
    return int(done)


def test_names_and_homes(served):
    """Names of digits and of other scripts, user ids at the end of 16 bits; users that are renamed or removed, and a home that is
    not mounted, while jobs wait."""
    uids = {}
    for name in '4711', 'b\u00e9n\u00e9dicte', 'moved', 'gone', 'late':
        served.good('useradd', '--badname', '--create-home', '--user-group', name)
    served.good('useradd', '--uid', '65535', '--create-home', '--user-group', 'sixteen')
    for name in '4711', 'b\u00e9n\u00e9dicte', 'sixteen', 'moved', 'gone', 'late':
        uids[name] = served.good('id', '-u', name).strip()
    done = {name: as_uid(served, uid, '/home/' + name, '--', 'id', '-u') for name, uid in uids.items()}
    for name, job in done.items():
        served.good('fairlead', 'wait', str(job))
        assert served.good('cat', '/home/%s/fairlead-%d.out' % (name, job)) == uids[name] + '\n'
    waiting = {name: as_uid(served, uids[name], '/home/' + name, '--hold', '--', 'id', '-un') for name in ('moved', 'gone', 'late')}
    served.good('usermod', '--login', 'renamed', 'moved')
    served.good('userdel', 'gone')
    served.good('mv', '/home/late', '/home/late.away')
    served.good('fairlead', 'release', '--all')
    for job in waiting.values():
        served.run('fairlead', 'wait', str(job))
    assert served.good('cat', '/home/moved/fairlead-%d.out' % waiting['moved']) == 'renamed\n'
    shown = {name: served.good('fairlead', 'show', 'job', str(job)) for name, job in waiting.items()}
    assert 'FAILED (there is no user %s in the user database)' % uids['gone'] in shown['gone']
    assert 'FAILED (cannot enter directory /home/late: No such file or directory)' in shown['late']
    assert 'all agree' in served.good('fairlead', 'verify')


def test_without_systemd_root_starts_and_stops_it(machine):
    machine.install()
    machine.make_users('ann')
    started = machine.good('fairlead', 'start', '--system', '--cgroup', '/tmp/groups')
    assert started.startswith('Started: process ')
    assert '--cgroup /tmp/groups' in machine.good('pgrep', '--full', '--list-full', 'fairlead-launcher --system')
    assert machine.status('ann')['serves_all'] is True
    assert machine.good('fairlead', 'start', '--system').startswith('Already running: process ')
    assert "is stopped with 'fairlead stop --system'" in machine.bad('fairlead', 'stop')
    job = submit(machine, 'ann', '--', 'sh', '-c', 'until [ -e go ]; do sleep 0.05; done')
    until(lambda: state_of(machine, job) == 'RUNNING', 'the job to run')
    assert machine.good('fairlead', 'stop', '--system') == (
        "Stopped; 1 task keeps running; run 'fairlead start --system' to resume\n")
    for command in (['queue'], ['status'], ['submit', '--', 'true']):
        for user in 'ann', None:
            assert machine.bad('fairlead', *command, user=user).endswith(
                "fairlead %s: no instance answers at /run/fairlead/fairlead.sock; ask an administrator; root starts it with "
                "'systemctl start fairlead', or 'fairlead start --system' without systemd" % command[0])
    machine.good('fairlead', 'start', '--system')
    assert state_of(machine, job) == 'RUNNING'
    machine.good('touch', 'go', user='ann')
    machine.good('fairlead', 'wait', str(job))
    machine.good('mkdir', '-p', '/run/systemd/system')
    for action in 'start', 'stop':
        assert "run 'systemctl %s fairlead' as root" % action in machine.bad('fairlead', action, '--system')


def test_start_system_starts_a_launcher_that_was_killed(machine):
    """Its job has gone on meanwhile, and ends as it does otherwise."""
    machine.install()
    machine.make_users('ann')
    machine.good('fairlead', 'start', '--system')
    job = submit(machine, 'ann', '--', 'sh', '-c', 'until [ -e go ]; do sleep 0.05; done')
    until(lambda: state_of(machine, job) == 'RUNNING', 'the job to run')
    machine.good('pkill', '-KILL', '-o', '-x', 'fairlead-launch')
    said = machine.good('fairlead', 'start', '--system').splitlines()
    assert said[0].startswith('Started its launcher: process ') and said[1].startswith('Already running: process '), said
    machine.good('touch', 'go', user='ann')
    machine.good('fairlead', 'wait', str(job), user='ann')
    machine.good('fairlead', 'wait', str(submit(machine, 'ann', '--', 'true')), user='ann')
    assert machine.good('fairlead', 'start', '--system').startswith('Already running: process ')


@pytest.mark.skipif(not DEB, reason='NOT TESTED: removal of the package, because FAIRLEAD_DEB names none (make deb)')
def test_removal_keeps_the_state_and_purge_removes_it(served):
    job = submit(served, 'ann', '--', 'true')
    served.good('fairlead', 'wait', str(job))
    served.units('stop', 'fairlead', 'fairlead-launcher')
    served.good('dpkg', '--remove', 'fairlead')
    assert not served.exists('/usr/bin/fairlead') and served.exists('/var/lib/fairlead/fairlead.db')
    served.install()
    served.units('start', *UNITS)
    assert [row['job_id'] for row in json.loads(served.good('fairlead', 'history', '--json', user='ann'))] == [job]
    served.units('stop', 'fairlead', 'fairlead-launcher')
    served.good('rm', '-rf', '/run/systemd/system')
    served.good('fairlead', 'start', '--system')
    assert served.run('pgrep', '-x', 'fairleadd').returncode == 0
    served.good('dpkg', '--remove', 'fairlead')  # without systemd
    assert served.run('pgrep', '-x', 'fairleadd').returncode == 1
    served.good('dpkg', '--purge', 'fairlead')
    until(lambda: served.run('pgrep', '-x', 'fairlead-launch').returncode == 1, 'the launcher to end')
    assert not served.exists('/var/lib/fairlead') and not served.exists('/var/lib/fairlead-launcher')
    assert served.good('find', '/etc', '/usr', '/var/lib', '/run', '-name', '*fairlead*', '!', '-name', '*.pid', '!', '-name', 'notify-*') == ''
