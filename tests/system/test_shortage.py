"""A machine that can start nothing now: no job fails for it. Jobs wait with the reason JobLaunchFailure, one launch at a time
tries again, and all goes on by itself. Most of these tests need root, for file systems and limits."""
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import sys
import time

import pytest

from conftest import BUILD, Instance, until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exec_world import known  # noqa: E402

JOBS = 200
NO_ROOM = 'cannot create a segment of the record log: No space left on device'


@pytest.fixture
def small():
    """An instance whose state directory is a file system of its own, with few inodes."""
    instance = Instance()
    (instance.home / 'state').mkdir()
    mounted = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=32m,nr_inodes=400,mode=0700', 'none', instance.home / 'state'],
                             capture_output=True)
    if mounted.returncode != 0:
        instance.close()
        pytest.skip('no file system can be mounted here')
    try:
        instance.start()
        yield instance
        instance.run('stop')
    finally:
        subprocess.run(['umount', '-l', instance.home / 'state'], check=True)
        instance.close()


def use_up(make):
    """Calls make(number) until it fails for want of room."""
    number = 0
    try:
        while True:
            make(number)
            number += 1
    except OSError:
        return number


def states(instance):
    """The number of tasks in each state, of those that have ended."""
    count = {}
    for row in instance.json('history', '--limit', 0):
        count[row['state']] = count.get(row['state'], 0) + 1
    return count


def log_lines(instance, event):
    return [line for line in (instance.state / 'fairleadd.log').read_text().splitlines() if 'event=%s ' % event in line]


def check_all_completed(instance, out, count=JOBS):
    """Each task ran once, and no attempt but that has a row."""
    until(lambda: states(instance) == {'COMPLETED': count} or not set(states(instance)) <= {'COMPLETED'}, 'all tasks to end')
    assert states(instance) == {'COMPLETED': count}
    assert sorted(map(int, out.read_text().split())) == list(range(count))
    assert 'all agree' in instance.good('verify')
    assert instance.json('status')['launch_failure'] is None
    until(lambda: not known(instance.state), 'all launches to be forgotten')


def submit_counting(instance, out):
    return instance.submit('--hold', '--array', '0-%d' % (JOBS - 1), '-o', '/dev/null', '--', 'sh', '-c',
                           'echo $FAIRLEAD_ARRAY_TASK_ID >> %s' % out)


def check_waiting(instance, job, detail):
    """What users are told while nothing can start."""
    status = until(lambda: (s := instance.json('status'))['launch_failure'] and s, 'launches to stop')
    assert re.fullmatch(detail, status['launch_failure'])
    assert re.search(r'^Launches   stopped, jobs wait: .*; the next try is (now|in \d+ s)$', instance.good('status'), re.M)
    until(lambda: {row['reason'] for row in instance.json('queue') if row['state'] == 'PENDING'} == {'JobLaunchFailure'}, 'the reason')
    assert 'the machine can start no job at present: ' in instance.good('show', 'job', job)


@pytest.mark.parametrize('what', ['inodes', 'space'])
def test_a_full_disk_fails_no_job(small, what):
    out = small.work / 'out'
    filler = small.home / 'state/filler'
    filler.mkdir()
    small.good('set', 'host_cpus=8')

    def fill(number):
        with open(filler / str(number), 'wb', buffering=0) as file:
            if what == 'space' and file.write(b'x' * 65536) < 65536:
                raise OSError('full')

    job = submit_counting(small, out)
    assert use_up(fill) > 0
    if what == 'space':
        for number in range(4):  # the database keeps some room: that it cannot be written is another test
            (filler / str(number)).unlink()
    small.good('release', job)
    if what == 'inodes':
        check_waiting(small, job, NO_ROOM)
        time.sleep(2.5)
        assert states(small) == {} and not out.exists()
        assert len(log_lines(small, 'launches-stopped')) == 1
    for file in filler.iterdir():
        file.unlink()
    check_all_completed(small, out)
    assert len(log_lines(small, 'launches-stopped')) == len(log_lines(small, 'launches-resumed'))
    assert what == 'space' or len(log_lines(small, 'launches-resumed')) == 1


def processes_of(uid):
    def owner(directory):
        try:
            return directory.stat().st_uid
        except OSError:
            return None
    return [entry for entry in pathlib.Path('/proc').iterdir() if entry.name.isdigit() and owner(entry) == uid]


@pytest.fixture
def limited():
    """An instance of a user of its own, because the number of processes is limited for each user."""
    if os.geteuid() != 0:
        pytest.skip('needs root, to become another user')
    instance = Instance()
    uid = next(user.pw_uid for user in pwd.getpwall() if user.pw_uid > 0 and not processes_of(user.pw_uid))
    instance.home.chmod(0o755)
    (instance.home / 'state').mkdir()
    programs = instance.home / 'bin'  # the other user may not be able to reach the build
    programs.mkdir()
    programs.chmod(0o755)
    for name in 'fairlead', 'fairleadd', 'fairlead-launcher':
        shutil.copy(BUILD / name, programs)
    for path in instance.home / 'state', instance.work, instance.home:
        os.chown(path, uid, uid)

    def start(*limits):
        as_user = ['setpriv', '--reuid', str(uid), '--regid', str(uid), '--clear-groups']
        command = [*as_user, 'prlimit', *limits, programs / 'fairlead', 'start']
        done = subprocess.run(command, env=instance.environment, capture_output=True, text=True, cwd=instance.work)
        assert done.returncode == 0, done
        instance.popen = lambda *arguments, environment=None, cwd=None, **options: subprocess.Popen(
            [*as_user, programs / 'fairlead', *map(str, arguments)], cwd=cwd or instance.work, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**instance.environment, **(environment or {})}, **options)
        return instance

    yield start
    instance.run('stop')
    instance.close()


def test_a_limit_fails_no_job(limited):
    """Many tasks at once, of which the machine can start only some."""
    instance = limited('--nproc=40:40')
    out = instance.work / 'out'
    instance.good('set', 'host_cpus=%d' % JOBS, 'host_mem_mib=1000000')
    job = instance.submit('--array', '0-%d' % (JOBS - 1), '--mem', '1M', '-o', '/dev/null', '--', 'sh', '-c',
                          'echo $FAIRLEAD_ARRAY_TASK_ID >> %s; exec sleep 0.5' % out)
    check_waiting(instance, job, 'cannot .*: Resource temporarily unavailable')
    check_all_completed(instance, out)
