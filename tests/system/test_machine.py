"""The instance of all users under a real systemd, with the memory controller of control groups of version 2, in a virtual machine
(tests/machine): the package is installed, its units run, jobs outlive restarts, an upgrade and a removal, and the kernel keeps them to
their memory and CPUs. `make machine` makes the machine and runs this; it takes half an hour or more, because the processor is emulated.

FAIRLEAD_VM names the folder that tests/machine/build-image has filled, FAIRLEAD_DEB the package that `make deb` has built."""
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent), str(pathlib.Path(__file__).resolve().parent.parent / 'machine')]
from exec_world import until  # noqa: E402
from virtual_machine import FILES, VirtualMachine  # noqa: E402

VM, DEB = os.environ.get('FAIRLEAD_VM'), os.environ.get('FAIRLEAD_DEB')
UNITS = 'fairlead', 'fairlead-launcher', 'fairlead-jobs'
GROUPS = '/sys/fs/cgroup/system.slice/fairlead-jobs.service'
LAUNCHER_GROUP = '/sys/fs/cgroup/system.slice/fairlead-launcher.service'
PATIENCE = 900
# A job that runs until its user makes the file.
UNTIL_GO = 'until [ -e go ]; do sleep 0.2; done; echo done'


def why_not():
    if not VM or not DEB:
        return 'NOT TESTED: systemd and control groups of version 2, because FAIRLEAD_VM and FAIRLEAD_DEB name nothing: run make machine'
    missing = [name for name in FILES if not (pathlib.Path(VM) / name).exists()]
    if missing or not pathlib.Path(DEB).exists():
        return 'NOT TESTED: systemd and control groups of version 2, because there is no %s: run make machine' % (missing or [DEB])[0]
    tools = [tool for tool in ('qemu-system-x86_64', 'mke2fs') if shutil.which(tool) is None]
    return 'NOT TESTED: systemd and control groups of version 2, because there is no %s' % ', '.join(tools) if tools else ''


pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())


class Machine(VirtualMachine):
    def install(self):
        """With apt, and without a network. Twice, it is an upgrade."""
        self.good('cp', '/host/fairlead.deb', '/tmp/fairlead.deb')
        return self.good('env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', 'install', '--yes', '--reinstall', '/tmp/fairlead.deb')

    def submit(self, user, *arguments):
        return int(self.good('fairlead', 'submit', '--parsable', *arguments, user=user))

    def job(self, job):
        return json.loads(self.good('fairlead', 'show', 'job', job, '--json'))[0]

    def wait_for(self, job, state):
        try:
            until(lambda: self.job(job)['state'] == state, 'job %s to be %s' % (job, state), PATIENCE)
        except AssertionError as error:
            logs = self.run('journalctl', '--unit=fairlead', '--unit=fairlead-launcher', '--no-pager', '--lines=60', '--output=cat').stdout
            raise AssertionError('%s; it is %s\n%s' % (error, self.job(job), logs)) from None

    def start_job(self, user, *options):
        """A job that runs until finish_job."""
        self.run('rm', '-f', '/home/%s/go' % user)
        job = self.submit(user, *options, '--', 'sh', '-c', UNTIL_GO)
        self.wait_for(job, 'RUNNING')
        return job

    def finish_job(self, user, job):
        """Its output shows that it was neither ended nor started twice."""
        self.good('touch', 'go', user=user)
        self.good('fairlead', 'wait', job)
        assert self.good('cat', '/home/%s/fairlead-%d.out' % (user, job)) == 'done\n'

    def group_of(self, job):
        """The control group of the job's only process tree."""
        found = self.good('sh', '-c', 'for f in %s/fairlead-*; do [ -e "$f/cgroup.procs" ] && echo "$f"; done; true' % GROUPS).split()
        return next(path for path in found if pathlib.Path(path).name.startswith('fairlead-%d-' % job))

    def file(self, group, name):
        return self.good('cat', '%s/%s' % (group, name)).strip()

    def properties(self, unit, *names):
        text = self.good('systemctl', 'show', unit, *('--property=' + name for name in names))
        return dict(line.split('=', 1) for line in text.splitlines())

    def is_active(self, *units):
        return self.run('systemctl', 'is-active', *units).stdout.split() == ['active'] * len(units)


@pytest.fixture(scope='module')
def fresh():
    with tempfile.TemporaryDirectory(prefix='fl-', dir='/tmp') as files:
        shutil.copy(DEB, files + '/fairlead.deb')
        machine = Machine(VM, files)
    try:
        for user in 'ann', 'ben':
            machine.good('useradd', '--create-home', '--shell', '/bin/sh', user)
        yield machine
    finally:
        machine.close()


@pytest.fixture
def machine(fresh):
    """With the package, its units active, and no job."""
    if not fresh.is_active(*UNITS):
        fresh.install()
    until(lambda: fresh.is_active(*UNITS), 'the units to be active', PATIENCE)
    yield fresh
    fresh.run('fairlead', 'cancel', '--all')
    until(lambda: fresh.good('fairlead', 'queue', '--parsable').count('\n') <= 1, 'the jobs to end', PATIENCE)


def test_installed_units_are_active_and_say_so(machine):
    for unit in UNITS:
        shown = machine.properties(unit, 'Type', 'ActiveState', 'SubState', 'NRestarts', 'StatusText')
        assert shown['Type'] == 'notify' and shown['ActiveState'] == 'active' and shown['SubState'] == 'running', shown
        assert shown['NRestarts'] == '0', shown
    assert machine.properties('fairlead', 'StatusText')['StatusText'] == 'Serving all users at /run/fairlead/fairlead.sock'
    assert machine.properties('fairlead-launcher', 'StatusText')['StatusText'] == 'A daemon is connected'
    assert machine.run('systemctl', 'is-system-running').stdout.strip() == 'running'


def test_groups_follow_the_rules_of_delegation(machine):
    """The delegated group has no process of its own; the holder and the keepers are below it, and the launcher is not."""
    job = machine.start_job('ann')
    assert machine.file(GROUPS, 'cgroup.procs') == ''
    assert {'cpu', 'cpuset', 'io', 'memory'} <= set(machine.file(GROUPS, 'cgroup.subtree_control').split())
    comms = machine.good('sh', '-c', 'for p in $(cat %s/keepers/cgroup.procs); do tr "\\0" " " </proc/$p/cmdline; echo; done' % GROUPS)
    assert re.search('^fairlead-keeper %d' % job, comms, re.M) and '--jobs-group' in comms, comms
    launcher = machine.properties('fairlead-launcher', 'MainPID')['MainPID']
    assert machine.file(LAUNCHER_GROUP, 'cgroup.procs').split() == [launcher]
    assert machine.run('test', '-e', '/sys/fs/cgroup/fairlead').returncode != 0
    machine.finish_job('ann', job)
    until(lambda: machine.good('ls', GROUPS).count('fairlead-') == 0, 'the group of the job to be removed', PATIENCE)


def test_status_says_that_control_groups_are_in_force(machine):
    enforced = {row['resource']: row for row in json.loads(machine.good('fairlead', 'status', '--json', user='ann'))['enforcement']}
    assert {name: row['mechanism'] for name, row in enforced.items()} == {
        'memory': 'control group', 'CPUs': 'cpuset', 'GPUs': 'CUDA_VISIBLE_DEVICES', 'kill': 'control group',
        'suspend': 'freezer of a control group'}


def test_the_kernel_ends_a_job_that_needs_more_memory(machine):
    greedy = machine.submit('ann', '--mem', '64M', '--', 'python3', '-c', 'held = bytearray(300 << 20)')
    modest = machine.submit('ben', '--mem', '128M', '--', 'python3', '-c', 'held = bytearray(40 << 20)')
    failing = machine.submit('ben', '--', 'sh', '-c', 'kill -9 $$')
    assert machine.run('fairlead', 'wait', greedy).returncode == 118
    machine.run('fairlead', 'wait', modest), machine.run('fairlead', 'wait', failing)
    states = {job: machine.job(job)['state'] for job in (greedy, modest, failing)}
    assert states == {greedy: 'OUT_OF_MEMORY', modest: 'COMPLETED', failing: 'FAILED'}
    assert 'needed more than 80M of memory, its limit; it had asked for 64M' in machine.good('fairlead', 'show', 'job', greedy)
    assert 40 << 10 <= machine.job(modest)['max_rss_kib'] < 128 << 10
    assert machine.is_active(*UNITS)


def test_a_job_has_cpus_of_its_own(machine):
    machine.run('rm', '-f', '/home/ann/go', '/home/ben/go')
    jobs = {user: machine.submit(user, '--mem', '64M', '--', 'sh', '-c', UNTIL_GO) for user in ('ann', 'ben')}
    for job in jobs.values():
        machine.wait_for(job, 'RUNNING')
    groups = {user: machine.group_of(job) for user, job in jobs.items()}
    assert sorted(machine.file(group, 'cpuset.cpus.effective') for group in groups.values()) == ['0', '1']
    for group in groups.values():
        assert [machine.file(group, name) for name in ('memory.max', 'memory.oom.group', 'memory.swap.max')] == [str(80 << 20), '1', '0']
    # The user of the job cannot lift the limit.
    assert machine.run('sh', '-c', 'echo max > %s/memory.max' % groups['ann'], user='ann').returncode != 0
    for user, job in jobs.items():
        machine.finish_job(user, job)


@pytest.mark.parametrize('action', [['restart', 'fairlead'], ['restart', 'fairlead-launcher'], ['kill', '--signal=KILL', 'fairlead-launcher',
                                    '--kill-who=main'], ['stop', 'fairlead', 'fairlead-launcher']], ids=lambda action: '-'.join(action[:2] + action[-1:]))
def test_jobs_run_on(machine, action):
    job = machine.start_job('ann')
    group = machine.group_of(job)
    machine.good('systemctl', *action)
    machine.good('systemctl', 'start', 'fairlead')
    until(lambda: machine.is_active(*UNITS), 'the units to be active', PATIENCE)
    machine.wait_for(job, 'RUNNING')
    assert machine.group_of(job) == group and machine.file(group, 'memory.max') != 'max'
    # Nothing in the launcher's group that systemd would find there at its next start.
    assert len(machine.file(LAUNCHER_GROUP, 'cgroup.procs').split()) == 1
    after = machine.start_job('ben')
    assert machine.file(machine.group_of(after), 'memory.max') != 'max'
    machine.finish_job('ben', after)
    machine.finish_job('ann', job)


def test_jobs_run_on_without_the_process_that_holds_their_groups(machine):
    """As long as a job is there, the group is, and is used. Afterwards the unit can be started again."""
    job = machine.start_job('ann')
    machine.good('systemctl', 'kill', '--signal=KILL', '--kill-who=main', 'fairlead-jobs')
    other = machine.start_job('ben')
    assert machine.file(machine.group_of(other), 'memory.max') != 'max'
    machine.finish_job('ben', other)
    machine.finish_job('ann', job)
    # systemd removes the group that is empty now, and the launcher finds another one.
    until(lambda: machine.run('test', '-e', GROUPS).returncode != 0, 'the group to be removed', PATIENCE)
    greedy = machine.submit('ann', '--mem', '64M', '--', 'python3', '-c', 'held = bytearray(300 << 20)')
    assert machine.run('fairlead', 'wait', greedy).returncode == 118
    machine.good('systemctl', 'restart', 'fairlead-jobs')
    until(lambda: machine.is_active(*UNITS), 'the units to be active', PATIENCE)
    machine.group_of(machine.start_job('ann'))


def test_the_journal_has_levels_and_events(machine):
    job = machine.submit('ann', '--', 'true')
    machine.good('fairlead', 'wait', job)

    def entries():
        text = machine.good('journalctl', '--unit=fairlead', '--output=json', '--no-pager', '--output-fields=PRIORITY,MESSAGE,_UID')
        return [json.loads(line) for line in text.splitlines()]
    until(lambda: any('event=start job=%d' % job in entry['MESSAGE'] for entry in entries()), 'the event in the journal', PATIENCE)
    own = [entry for entry in entries() if entry['MESSAGE'].startswith('level=')]
    assert {entry['PRIORITY'] for entry in own if entry['MESSAGE'].startswith('level=info ')} == {'6'}
    assert all(not re.match(r'<\d>', entry['MESSAGE']) and 'time=' not in entry['MESSAGE'] for entry in own)
    warnings = machine.good('journalctl', '--unit=fairlead', '--priority=warning', '--no-pager', '--output=cat')
    assert 'level=info' not in warnings


SURROUNDINGS = 'ulimit -n; cat /proc/self/cgroup; env; id -Gn'


def test_surroundings_are_as_documented(machine):
    """docs/administration.md, Jobs and their surroundings: limits of the launcher and not of PAM, the environment of the submission."""
    machine.good('sh', '-c', 'echo "ann hard nofile 777\nann soft nofile 777" > /etc/security/limits.d/ann.conf; '
                 'echo "PAM_WORD DEFAULT=spoken" > /etc/security/pam_env.conf')
    login = machine.good('sh', '-c', SURROUNDINGS, user='ann')
    assert login.splitlines()[0] == '777' and 'PAM_WORD=spoken' in login and 'user.slice' in login
    job = machine.submit('ann', '--', 'sh', '-c', SURROUNDINGS)
    machine.good('fairlead', 'wait', job)
    seen = machine.good('cat', '/home/ann/fairlead-%d.out' % job)
    assert seen.splitlines()[0] == machine.properties('fairlead-launcher', 'LimitNOFILESoft')['LimitNOFILESoft'], seen
    assert 'PAM_WORD=spoken' in seen and 'fairlead-jobs.service' in seen and 'user.slice' not in seen
    bare = machine.good('env', '-i', 'PATH=/usr/bin:/bin', 'setpriv', '--reuid=ann', '--regid=ann', '--init-groups', 'sh', '-c',
                        'cd /home/ann && fairlead submit --parsable -- env').strip()
    machine.good('fairlead', 'wait', bare)
    assert 'PAM_WORD' not in machine.good('cat', '/home/ann/fairlead-%s.out' % bare)


def test_jobs_outlive_sessions(machine):
    """Without lingering, also where logind ends what users leave behind."""
    machine.good('sh', '-c', 'mkdir -p /etc/systemd/logind.conf.d; printf "[Login]\nKillUserProcesses=yes\n" > /etc/systemd/logind.conf.d/k.conf; '
                 'systemctl restart systemd-logind')
    job = machine.start_job('ann')
    machine.run('loginctl', 'terminate-user', 'ann')
    assert machine.job(job)['state'] == 'RUNNING'
    machine.finish_job('ann', job)


def test_a_home_that_is_not_mounted(machine):
    machine.good('useradd', '--create-home', 'far')
    job = machine.submit('far', '--hold', '--', 'true')
    machine.good('mv', '/home/far', '/home/far.away')
    machine.good('fairlead', 'release', job)
    machine.run('fairlead', 'wait', job)
    assert 'FAILED (cannot enter directory /home/far: No such file or directory)' in machine.good('fairlead', 'show', 'job', job)


def test_an_upgrade_with_jobs_running(machine):
    job = machine.start_job('ann')
    before = {unit: machine.properties(unit, 'MainPID')['MainPID'] for unit in UNITS}
    machine.install()
    until(lambda: machine.is_active(*UNITS), 'the units to be active', PATIENCE)
    after = {unit: machine.properties(unit, 'MainPID')['MainPID'] for unit in UNITS}
    assert {unit for unit in UNITS if before[unit] != after[unit]} == {'fairlead'}
    machine.wait_for(job, 'RUNNING')
    machine.finish_job('ann', job)


def test_a_reboot_with_jobs(machine):
    """What waits starts afterwards; what ran is NODE_FAIL, or starts again where its user allows that."""
    running, again = machine.start_job('ann', '--cpus', '1'), machine.start_job('ben', '--cpus', '1', '--requeue')
    waiting = machine.submit('ann', '--', 'sh', '-c', 'echo done')
    machine.good('fairlead', 'set', 'requeue_delay_s=0')
    machine.good('sync')
    machine.reboot()
    until(lambda: machine.is_active(*UNITS), 'the units to be active', PATIENCE)
    machine.good('fairlead', 'wait', waiting)
    assert machine.job(running)['state'] == 'NODE_FAIL'
    machine.wait_for(again, 'RUNNING')
    machine.finish_job('ben', again)
    assert 'all agree' in machine.good('fairlead', 'verify')


def test_removal_and_purge(machine):
    """The last one: without the package. What runs goes on to its end, and an installation finds it."""
    job = machine.start_job('ann')
    machine.good('dpkg', '--remove', 'fairlead')
    assert machine.run('pgrep', '-f', '^/usr/bin/fairlead').returncode != 0
    machine.good('touch', '/home/ann/go')
    until(lambda: machine.good('cat', '/home/ann/fairlead-%d.out' % job) == 'done\n', 'the job to end', PATIENCE)
    until(lambda: machine.run('pgrep', '-x', 'fairlead-keeper').returncode != 0, 'its keeper to end', PATIENCE)
    machine.install()
    machine.good('fairlead', 'wait', job)
    assert machine.job(job)['state'] == 'COMPLETED'
    machine.good('dpkg', '--purge', 'fairlead')
    left = machine.good('find', '/etc', '/usr', '/var/lib', '/run', '/sys/fs/cgroup', '-name', 'fairlead*', '!', '-name', 'fairlead-agent*')
    assert left == ''
    listed = machine.good('systemctl', 'list-units', '--all', '--plain', '--no-legend', 'fairlead*')
    assert [line.split()[0] for line in listed.splitlines()] == ['fairlead-agent.service']
    machine.install()
