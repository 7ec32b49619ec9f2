"""Copies of state directories: what runs belongs to the directory in which it was started, and no accepted job runs
twice."""
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess

import pytest

from instance import Instance, find_processes, keeper_pid, kill, known, logged, until
from test_instance import UNTIL_GO, finish, let_go, run_counts, start_job, verify, write_script


@pytest.fixture
def make(tmp_path):
    """Makes instances below tmp_path; all of them work in one directory."""
    made = []

    def make_one(name, settings=()):
        one = Instance(tmp_path / name, settings=settings)
        one.work = tmp_path / 'work'
        one.work.mkdir(exist_ok=True)
        made.append(one)
        return one

    yield make_one
    for one in made:
        one.close()


@pytest.fixture
def original(make):
    return make('original', ['host_cpus=2', 'grace_s=1'])


def copy_of(make, original, name='copy'):
    one = make(name)
    subprocess.run(['cp', '-a', original.state, one.state], check=True)
    return one


def status(instance):
    return json.loads(instance.ok('status', '--json'))


def submit_both(instance):
    """A job that runs until let_go on all CPUs, and one that waits for it. Each leaves a line in the file 'ran'."""
    running = start_job(instance, '-n', '2', '-o', '/dev/null', '--', 'sh', '-c',
                        'echo $FAIRLEAD_JOB_ID >>ran; ' + UNTIL_GO + '0')
    pending = instance.submit('-o', '/dev/null', write_script(instance, '0'))
    return running, pending


def states(instance):
    return {row['job_id']: row['state'] for row in instance.history()}


def test_a_copy_of_a_live_directory_ends_nothing(original, make):
    """The original's jobs go on. In the copy they are NODE_FAIL, what waits is held, and new jobs run."""
    original.start()
    running, pending = submit_both(original)
    copy = copy_of(make, original)
    copy.start()
    until(lambda: copy.history(), 'the end in the copy')
    row = copy.history()[0]
    assert (row['job_id'], row['state']) == (running, 'NODE_FAIL')
    assert 'copy' in row['detail']
    assert [(r['job_id'], r['held']) for r in copy.queue()] == [(pending, True)]
    quarantine = status(copy)
    assert 'copy' in quarantine['quarantine'] and quarantine['quarantined_jobs'] == 1
    assert 'fairlead release --all' in copy.ok('status')
    copy.ok('submit', '--wait', '-o', '/dev/null', '--', 'true')
    assert original.running(running) and status(original)['quarantine'] is None
    let_go(original)
    assert {job: row['state'] for job, row in finish(original).items()} == {running: 'COMPLETED', pending: 'COMPLETED'}
    assert run_counts(original) == {str(running): 1, str(pending): 1}
    copy.ok('release', '--all')
    assert status(copy)['quarantine'] is None
    until(lambda: states(copy).get(pending) == 'COMPLETED', 'the released job')
    assert run_counts(original)[str(pending)] == 2
    verify(original)
    verify(copy)


def test_a_copy_is_one_only_once(original, make):
    """What was started in the copy goes on after its daemon and launcher were killed, and nothing is held again."""
    original.start()
    copy = copy_of(make, original)
    copy.start()
    job = start_job(copy, '-o', '/dev/null', '--', 'sh', '-c', UNTIL_GO + '0')
    waiting = copy.submit('-n', '2', '-o', '/dev/null', '--', 'true')
    copy.kill()
    copy.kill_launchers()
    copy.start()
    assert copy.running(job)
    let_go(copy)
    assert {job: row['state'] for job, row in finish(copy).items()} == {job: 'COMPLETED', waiting: 'COMPLETED'}


def test_a_copy_requeues_nothing(original, make):
    """Jobs that ask to run again after a failed host do not: they run in the original."""
    original.start()
    job = start_job(original, '--requeue', '-o', '/dev/null', '--', 'sh', '-c', UNTIL_GO + '0')
    copy = copy_of(make, original)
    copy.start()
    until(lambda: states(copy).get(job) == 'NODE_FAIL', 'the end in the copy')
    assert copy.queue() == [] and original.running(job)


def test_a_launch_that_was_not_confirmed_starts_in_no_copy(original, make):
    """Its start is committed, but no record says that it has started."""
    original.start()
    job = start_job(original, '-o', '/dev/null', '--', 'sh', '-c', 'echo $FAIRLEAD_JOB_ID >>ran; ' + UNTIL_GO + '0')
    copy = copy_of(make, original)
    shutil.rmtree(copy.state / 'launches')
    with sqlite3.connect(copy.state / 'fairlead.db') as database:
        database.execute("UPDATE task SET state = 'STARTING', start_us = NULL, charged_us = NULL")
    copy.start()
    until(lambda: states(copy).get(job) == 'NODE_FAIL', 'the end in the copy')
    assert run_counts(original) == {str(job): 1} and original.running(job)


def make_older(state, launch_id, launch):
    """A directory as an older launcher has made it, without the place in which it was made."""
    directory = state / 'launches' / str(launch_id)
    directory.mkdir(mode=0o700)
    lines = {**launch.records['started'], **launch.start, 'id': launch_id}
    (directory / 'start').write_text(''.join('%s=%s\n' % (n, v) for n, v in lines.items() if n not in ('directory', 'start')))
    return directory


@pytest.mark.parametrize('is_older', [False, True])
def test_the_launcher_alone_leaves_a_copied_launch_alone(original, make, is_older):
    """The launches of a live directory are copied into another instance: its launcher kills none of their processes."""
    original.start()
    job = start_job(original, '-o', '/dev/null', '--', 'sh', '-c', UNTIL_GO + '0')
    other = make('other')
    other.state.mkdir(mode=0o700)
    if is_older:
        (other.state / 'launches').mkdir(mode=0o700)
        ((launch_id, launch),) = logged(original.state).items()
        directory = make_older(other.state, launch_id, launch)
        (directory / 'lock').write_text('%d\n\n' % keeper_pid(original.state, launch_id))
    else:
        subprocess.run(['cp', '-a', original.state / 'launches', other.state / 'launches'], check=True)
    other.start()
    until(lambda: not known(other.state), 'the copied launch to be forgotten')
    assert original.running(job)
    let_go(original)
    assert finish(original)[job]['state'] == 'COMPLETED'


def test_a_directory_that_is_renamed_goes_on(original, make):
    """Within its file system, whether it is in use or not."""
    original.start()
    running, pending = submit_both(original)
    original.kill()
    original.kill_launchers()
    moved = make('moved')
    original.state.rename(moved.state)
    moved.start()
    assert moved.running(running) and status(moved)['quarantine'] is None
    let_go(moved)
    assert {job: row['state'] for job, row in finish(moved).items()} == {running: 'COMPLETED', pending: 'COMPLETED'}


def test_a_database_in_another_directory_is_a_copy(original, make):
    """A backup of the database alone, and one in the directory of another instance."""
    original.start()
    running, pending = submit_both(original)
    for name, has_instance in ('backup', False), ('replaced', True):
        copy = make(name)
        if has_instance:
            copy.start()
            copy.stop()
        copy.state.mkdir(mode=0o700, exist_ok=True)
        (copy.state / 'fairlead.db').unlink(missing_ok=True)
        with sqlite3.connect('file:%s?mode=ro' % (original.state / 'fairlead.db'), uri=True) as database:
            with sqlite3.connect(copy.state / 'fairlead.db') as backup:
                database.backup(backup)
        copy.start()
        until(lambda: states(copy).get(running) == 'NODE_FAIL', 'the end in the copy')
        assert [(row['job_id'], row['held']) for row in copy.queue()] == [(pending, True)]
        assert status(copy)['quarantined_jobs'] == 1
    assert original.running(running)


def test_an_older_directory_gets_its_identity_while_jobs_run(original):
    """It has neither a mark nor an id in the database."""
    original.start()
    running, pending = submit_both(original)
    original.kill()
    original.kill_launchers()
    (original.state / 'instance').unlink()
    with sqlite3.connect(original.state / 'fairlead.db') as database:
        database.execute('UPDATE counters SET instance_id = NULL')
    original.start()
    assert original.running(running) and status(original)['quarantine'] is None
    assert 'id=' in (original.state / 'instance').read_text()
    let_go(original)
    assert {job: row['state'] for job, row in finish(original).items()} == {running: 'COMPLETED', pending: 'COMPLETED'}


def test_another_device_number_after_a_reboot_is_no_copy(original):
    """Numbers of devices may change from boot to boot; the directory's inode and birth do not."""
    original.start()
    job = original.submit('--hold', '-o', '/dev/null', '--', 'true')
    original.ok('release', job)
    original.stop()
    mark = original.state / 'instance'
    lines = dict(line.split('=', 1) for line in mark.read_text().splitlines())
    lines.update(boot_id='another', device='1')
    mark.write_text(''.join('%s=%s\n' % pair for pair in lines.items()))
    (original.state / 'instance.seal').unlink()  # it says that the mark was written by another program
    original.start()
    assert status(original)['quarantine'] is None
    assert finish(original)[job]['state'] == 'COMPLETED'


def test_an_older_copy_that_is_written_into_the_same_files(original):
    """As 'cp -a' does it: no file is another one, and all of them agree. What waits in it has run since."""
    original.start()
    job = original.submit('--hold', '-o', '/dev/null', write_script(original, '0'))
    original.kill()
    original.kill_launchers()
    backup = original.directory / 'backup'
    subprocess.run(['cp', '-a', original.state, backup], check=True)
    original.start()
    original.ok('release', job)
    finish(original)
    original.kill()
    original.kill_launchers()
    inodes = {path.name: path.stat().st_ino for path in original.state.iterdir()}
    subprocess.run(['cp', '-a', '%s/.' % backup, original.state], check=True)
    assert (original.state / 'instance').stat().st_ino == inodes['instance']
    original.start()
    assert 'written again' in status(original)['quarantine']
    assert [(row['job_id'], row['held']) for row in original.queue()] == [(job, True)]
    original.ok('cancel', job)
    original.stop()
    original.start()
    assert status(original)['quarantine'] is None


@pytest.mark.parametrize('change', [
    lambda mark: mark.chmod(0o640),
    lambda mark: os.link(mark, mark.with_name('link')),
    lambda mark: mark.with_name('instance.seal').unlink(),
    lambda mark: mark.with_name('instance.seal').write_text('changed_ns=5'),
])
def test_what_else_changes_the_mark_is_no_older_copy(original, change):
    original.start()
    job = original.submit('-o', '/dev/null', '--begin', 'now+1hour', '--', 'true')
    original.stop()
    change(original.state / 'instance')
    original.start()
    assert status(original)['quarantine'] is None
    assert [(row['job_id'], row['held']) for row in original.queue()] == [(job, False)]


def test_a_copy_of_hard_links_is_refused(original, make):
    """Its database would be that of the original."""
    original.start()
    copy = make('copy')
    subprocess.run(['cp', '-al', original.state, copy.state], check=True)
    original.stop()
    done = copy.run('start', '--state', copy.state)
    assert done.returncode == 2 and 'copy by hard links' in done.stderr
    original.start()
    assert status(original)['quarantine'] is None


def test_keys_and_groups_have_the_id_of_the_instance(original):
    original.start()
    start_job(original, '-o', '/dev/null', '--', 'sh', '-c', UNTIL_GO + '0')
    (launch,) = logged(original.state).values()
    record = launch.start
    instance_id = dict(line.split('=', 1) for line in (original.state / 'instance').read_text().splitlines())['id']
    assert len(instance_id) == 32 and record['key'].startswith(instance_id[:16])
    assert record['cgroup'] == '' or record['cgroup'].endswith('-' + instance_id[:8])
    let_go(original)


def restore_in_place(instance, backup):
    """The older copy takes the place of what is in the directory, which stays the same one."""
    for path in instance.state.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    subprocess.run(['cp', '-a', '%s/.' % backup, instance.state], check=True)


@pytest.mark.parametrize('is_live', [False, True])
def test_an_older_copy_in_the_same_directory(original, is_live):
    """All files are those of the copy, and agree; only the mark is another file. What waits in it may have run since."""
    original.start()
    running, pending = submit_both(original)
    if not is_live:
        original.stop()
        original.kill_launchers()
    backup = original.directory / 'backup'
    subprocess.run(['cp', '-a', original.state, backup], check=True)
    if not is_live:
        original.start()
    let_go(original)
    finish(original)
    (original.work / 'go').unlink()
    later = start_job(original, '--requeue', '-o', '/dev/null', '--', 'sh', '-c', 'echo later >>ran; ' + UNTIL_GO + '0')
    original.kill()
    original.kill_launchers()
    until(lambda: not original.launcher_pids(), 'the launcher to be gone')
    restore_in_place(original, backup)
    original.start()
    until(lambda: states(original).get(running), 'the end of what ran in the copy')
    assert states(original)[running] == 'NODE_FAIL'
    assert 'restored' in status(original)['quarantine']
    assert [(row['job_id'], row['held']) for row in original.queue()] == [(pending, True)]
    assert run_counts(original) == {str(running): 1, str(pending): 1, 'later': 1}
    until(lambda: not original.keeper_pids(), 'the job that the copy does not know to end')
    job = original.submit('-o', '/dev/null', '--', 'true')
    assert job >= later
    until(lambda: states(original).get(job) == 'COMPLETED', 'a new job')
    original.ok('cancel', pending)
    verify(original)
    original.kill()
    original.kill_launchers()
    original.start()
    assert status(original)['quarantine'] is None and states(original)[job] == 'COMPLETED'
