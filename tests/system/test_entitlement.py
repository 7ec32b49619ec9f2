"""Entitlement among running jobs: in the tickets model, jobs that compete for CPUs get CPU time in proportion to their
tickets."""
import os
import pathlib

import pytest

from conftest import until

SPIN = ['sh', '-c', 'echo $$ >pid-$FAIRLEAD_JOB_ID; while :; do :; done']
TICKETS = ['PriorityType=priority/tickets', 'weight_tickets_functional=1000000', 'weight_project=1', 'weight_user=0',
           'weight_department=0', 'weight_job=0']


def cpu_weight(pid):
    """The CPU weight of the process's control group, on the scale of cgroup v2 (default 100), or None without such a group."""
    mounts = [line.split(' - ') for line in pathlib.Path('/proc/self/mountinfo').read_text().splitlines()]
    for line in pathlib.Path('/proc/%d/cgroup' % pid).read_text().splitlines():
        number, controllers, path = line.split(':', 2)
        for fields, kind in mounts:
            root, mount_point = fields.split()[3:5]
            is_v2 = number == '0' and kind.startswith('cgroup2 ')
            is_v1 = 'cpu' in controllers.split(',') and 'cpu' in kind.split()[-1].split(',')
            if root != '/' or not (is_v2 or is_v1) or 'fairlead-' not in path:
                continue
            file = pathlib.Path(mount_point + path) / ('cpu.weight' if is_v2 else 'cpu.shares')
            if file.exists():
                return int(file.read_text()) * (1 if is_v2 else 100 / 1024)
    return None


def needs_weights():
    """Skips the test unless a group with a CPU weight can be made in the group of this process, which the launcher inherits."""
    mounts = [line.split(' - ') for line in pathlib.Path('/proc/self/mountinfo').read_text().splitlines()]
    for line in pathlib.Path('/proc/self/cgroup').read_text().splitlines():
        number, controllers, path = line.split(':', 2)
        for fields, kind in mounts:
            root, mount_point = fields.split()[3:5]
            is_v2 = number == '0' and kind.startswith('cgroup2 ')
            is_v1 = 'cpu' in controllers.split(',') and 'cpu' in kind.split()[-1].split(',')
            if root != '/' or not (is_v2 or is_v1):
                continue
            group = pathlib.Path(mount_point + path) / ('fairlead-test-%d' % os.getpid())
            try:
                group.mkdir()
            except OSError:
                continue
            has_weight = (group / ('cpu.weight' if is_v2 else 'cpu.shares')).exists()
            group.rmdir()
            if has_weight:
                return
    pytest.skip('no control group with a cpu controller can be made here')


def weight(pid):
    """The CPU weight of a process, rounded; a group may be made only once a weight is ordered."""
    return round(cpu_weight(pid) or 0)


def spin(instance, project):
    job = instance.submit('--project', project, '-t', '5', '--', *SPIN)
    file = instance.work / ('pid-%d' % job)
    until(lambda: file.exists() and file.read_text().strip(), 'job %d to run' % job)
    return job, int(file.read_text())


def ticks(pid):
    fields = pathlib.Path('/proc/%d/stat' % pid).read_text().rsplit(')', 1)[1].split()
    return int(fields[11]) + int(fields[12])


def test_tickets_of_running_jobs_are_cpu_weights(instance):
    needs_weights()
    instance.good('set', 'host_cpus=%d' % (2 * os.cpu_count()), *TICKETS)
    instance.good('project', 'add', 'much', 'fshare=90')
    instance.good('project', 'add', 'little', 'fshare=10')
    much = [spin(instance, 'much') for _ in range(os.cpu_count())]
    little = [spin(instance, 'little') for _ in range(os.cpu_count())]

    # 90 : 10 of the pool for each project's jobs together, and the mean is 100.
    until(lambda: {weight(pid) for _, pid in much} == {180}, 'the weight of much')
    until(lambda: {weight(pid) for _, pid in little} == {20}, 'the weight of little')

    # The kernel should give much nine times the CPU time of little. The test requires twice as much, and retries, because the
    # kernel may take some time to spread the processes over the CPUs.
    def spent_more():
        start = [ticks(pid) for _, pid in much + little]
        until(lambda: sum(ticks(pid) for _, pid in much) - sum(start[:len(much)]) > 200, 'two seconds of work')
        spent = [ticks(pid) - begin for (_, pid), begin in zip(much + little, start)]
        return sum(spent[:len(much)]) > 2 * sum(spent[len(much):])

    until(spent_more, 'the CPU times to differ like the weights')

    # Other models set the default weight.
    instance.good('set', 'PriorityType=priority/multifactor')
    until(lambda: {weight(pid) for _, pid in much + little} == {100}, 'default weights')


def test_weights_survive_and_are_sent_again(instance):
    """Weights stay in force while launcher and daemon are down; changes during that time are sent after the restart."""
    needs_weights()
    instance.good('set', *TICKETS)
    for project in ('much', 'little'):
        instance.good('project', 'add', project, 'fshare=%d' % (90 if project == 'much' else 10))
    pids = [spin(instance, 'much')[1], spin(instance, 'little')[1]]

    def weights():
        return [weight(pid) for pid in pids]

    until(lambda: weights() == [180, 20], 'the first weights')
    for shares, expected in ((30, [150, 50]), (10, [100, 100]), (90, [180, 20])):
        instance.kill_launchers()
        instance.good('project', 'modify', 'much', 'fshare=%d' % shares)
        until(lambda: weights() == expected, 'weights after the launcher was killed')
    instance.kill()
    assert weights() == [180, 20]
    instance.start()
    instance.good('project', 'modify', 'much', 'fshare=30')
    until(lambda: weights() == [150, 50], 'weights after the daemon was killed')
    instance.kill()
    instance.start('--set', 'PriorityType=priority/multifactor')
    until(lambda: weights() == [100, 100], 'default weights again')
