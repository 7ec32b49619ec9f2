"""Disturbances of an instance under load, each followed by the same checks: every accepted job ran exactly once, or is NODE_FAIL with
the reason; every end is recorded; usage agrees with the records; and the state is the one that is rebuilt from the database."""
import collections
import json
import os
import signal
import sqlite3
import subprocess

import pytest

from instance import BUILD, DAEMON, Instance, kill, known, logged, until
from exec_world import kill_launch
from test_instance import SCRIPT, finish, run_counts, verify


@pytest.fixture
def instance(tmp_path):
    one = Instance(tmp_path, settings=['host_cpus=4', 'grace_s=1'])
    preloaded = 'libasan.so.8 fake-clock.so' if os.environ.get('FAIRLEAD_SANITIZED') == '1' else 'fake-clock.so'
    one.environment |= {'LD_PRELOAD': preloaded, 'LD_LIBRARY_PATH': str(BUILD / 'tests/system'), 'FAKE_CLOCK': str(tmp_path / 'clock')}
    (tmp_path / 'clock').write_text('0 boot-1\n')
    yield one
    one.close()


def submit_load(instance):
    """Jobs of which some have ended, some run and some wait."""
    accepted = []
    for seconds in ('0', '0.2', '1', '0.4'):
        script = instance.work / ('job-%s.sh' % seconds)
        script.write_text(SCRIPT % seconds)
        accepted += [instance.submit('--mem', '1', '--no-requeue', '-o', '/dev/null', script) for _ in range(5)]
    until(lambda: len(instance.history()) >= 5, 'some ends')
    return accepted


def stop_all(instance, with_jobs=False):
    """As a crash of all programs, or of the machine."""
    instance.kill()
    launches = [launch.start for launch in logged(instance.state).values()] if with_jobs else []
    instance.kill_launchers()
    for pid in instance.keeper_pids() if with_jobs else ():
        kill(pid)
    for start in launches:
        kill_launch(0, start)
    until(lambda: not instance.launcher_pids(), 'the launcher to be gone')


def kill_daemon(instance):
    instance.kill()


def kill_launcher(instance):
    instance.kill_launchers()


def kill_keepers(instance):
    for pid in instance.keeper_pids():
        kill(pid)


def kill_all(instance):
    stop_all(instance)


def kill_all_with_keepers(instance):
    stop_all(instance, with_jobs=True)


def reboot(instance):
    """What ran is gone, and the machine has another boot id."""
    stop_all(instance, with_jobs=True)
    (instance.directory / 'clock').write_text('0 boot-2\n')


def reboot_without_boot(instance):
    """The same, and the records do not say of which boot they are. Their hashes are wrong then, so they count as none."""
    reboot(instance)
    for segment in instance.state.glob('launches/*.log'):
        segment.write_bytes(segment.read_bytes().replace(b'boot_id=boot-1', b''))


def tear_log(instance):
    """The last frame of the write-ahead log is torn: the process was killed while it wrote, before any answer."""
    stop_all(instance)
    with open(instance.state / 'fairlead.db-wal', 'ab') as log:
        log.write(os.urandom(2000))


def newer_database(instance):
    """A newer Fairlead has changed the schema: this one does not start, and leaves everything as it is."""
    stop_all(instance)
    with sqlite3.connect(instance.state / 'fairlead.db') as database:
        (version,) = database.execute('PRAGMA user_version').fetchone()
        database.execute('PRAGMA user_version = %d' % (version + 1))
    done = subprocess.run([DAEMON, '--private', '--state', instance.state], capture_output=True, text=True, env=instance.environment)
    assert done.returncode != 0 and 'schema version %d, but this Fairlead reads versions up to %d' % (version + 1, version) in done.stderr
    with sqlite3.connect(instance.state / 'fairlead.db') as database:
        database.execute('PRAGMA user_version = %d' % version)


def second_daemon(instance):
    """It names the one that has the directory, and ends."""
    done = subprocess.run([DAEMON, '--private', '--state', instance.state], capture_output=True, text=True, env=instance.environment)
    assert done.returncode != 0 and done.stderr.count('\n') == 1
    assert 'process %d, another fairleadd, uses %s' % (instance.daemon.pid, instance.state) in done.stderr
    assert instance.daemon.poll() is None


def stop_daemon_for_a_while(instance):
    kill(instance.daemon.pid, signal.SIGSTOP)
    until(lambda: sum(run_counts(instance).values()) >= 6, 'jobs to go on')
    kill(instance.daemon.pid, signal.SIGCONT)


def check_jobs(instance, accepted, may_fail):
    ended, counts = finish(instance), run_counts(instance)
    states = collections.Counter()
    for job in accepted:
        row = ended[job]
        states[row['state']] += 1
        assert row['state'] == 'COMPLETED' or (may_fail and row['state'] == 'NODE_FAIL' and row['detail']), row
        assert counts[str(job)] == 1 or (row['state'] == 'NODE_FAIL' and counts[str(job)] == 0), row
    print('# %s' % dict(states))
    until(lambda: not instance.keeper_pids() and not known(instance.state), 'every end to be acknowledged')


def document(instance):
    """The state, without its time and what is measured."""
    text = json.loads(instance.ok('scenario', 'dump'))
    for host in text.get('hosts', []):
        host.pop('load_values', None)
    return {key: value for key, value in text.items() if key != 'now'}


def check_rebuilt(instance):
    """Jobs that wait are a part of the state, so there are some."""
    for options in ([], ['--array', '0-5%2', '--nice=3'], ['-d', 'afterany:%d' % instance.submit('--hold', '--', 'true')]):
        instance.submit('--hold', '-n', '2', *options, '--', 'true')
    instance.ok('set', 'PriorityDecayHalfLife=0', 'halftime=0')  # so that usage reads the same at each time
    before, history = document(instance), instance.history()
    instance.kill()
    instance.start()
    assert document(instance) == before
    assert instance.history() == history
    verify(instance)


NODE_FAIL = {kill_keepers, kill_all_with_keepers, reboot, reboot_without_boot}


@pytest.mark.parametrize('disturb', [kill_daemon, kill_launcher, kill_keepers, kill_all, kill_all_with_keepers, stop_daemon_for_a_while,
                                     tear_log, newer_database, second_daemon, reboot, reboot_without_boot],
                         ids=lambda function: function.__name__)
def test_after(instance, disturb):
    instance.start()
    accepted = submit_load(instance)
    disturb(instance)
    if instance.daemon.poll() is not None:
        instance.start()
    check_jobs(instance, accepted, disturb in NODE_FAIL)
    verify(instance)
    check_rebuilt(instance)


def test_after_a_full_disk(tmp_path):
    """Of the whole state. What is refused is not accepted; what runs ends, and its end is recorded once there is space."""
    (tmp_path / 'state').mkdir(mode=0o700)
    mounted = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=4m,mode=0700', 'none', tmp_path / 'state'], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip('no file system can be mounted here')
    instance = Instance(tmp_path, settings=['host_cpus=4', 'grace_s=1'])
    try:
        instance.start()
        accepted = submit_load(instance)
        with open(instance.state / 'filler', 'wb', buffering=0) as file:
            for size in (4096, 64):
                try:
                    while file.write(b'x' * size):
                        pass
                except OSError:
                    pass
        large = instance.work / 'large.sh'
        large.write_text('#!/bin/sh\n#' + 'x' * 500000 + '\n')
        done = instance.run('submit', large)
        assert done.returncode == 1 and 'nothing was changed' in done.stderr
        until(lambda: not instance.keeper_pids(), 'the jobs that run to end')
        (instance.state / 'filler').unlink()
        check_jobs(instance, accepted, False)
        verify(instance)
        check_rebuilt(instance)
    finally:
        instance.close()
        subprocess.run(['umount', '-l', tmp_path / 'state'], check=True)
