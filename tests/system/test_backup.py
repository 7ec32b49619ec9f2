"""fairlead backup and restore: a backup that is made under load is whole and consistent, and its copy runs nothing twice."""
import contextlib
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import threading
import time
import urllib.parse

import pytest

from conftest import BUILD, Instance, Result, until


@contextlib.contextmanager
def restored(instance, backup):
    """An instance on a state directory that was made of the backup."""
    copy = Instance()
    try:
        copy.state.parent.mkdir(parents=True, exist_ok=True)
        copy.good('restore', backup, '--state', copy.state)
        started = copy.run('start')
        assert started.status == 0, started
        yield copy
    finally:
        copy.print_logs()
        copy.close()


def test_a_backup_under_load_is_a_prefix_of_what_was_accepted(instance):
    instance.good('set', 'host_cpus=4')
    accepted, is_over = [], threading.Event()

    def submit():
        while not is_over.is_set():
            accepted.append(instance.submit('--', 'true'))

    threads = [threading.Thread(target=submit) for _ in range(2)]
    for thread in threads:
        thread.start()
    backups = []
    try:
        for number in range(3):
            until(lambda: len(accepted) > 20 * (number + 1), 'submissions')
            before = max(accepted)
            path = instance.work / ('backup-%d.db' % number)
            commit = int(instance.good('backup', path).split()[-1])
            backups.append((path, before, commit))
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    for path, before, commit in backups:
        with sqlite3.connect(path) as db:
            ids = [row[0] for row in db.execute('SELECT id FROM job ORDER BY id')]
            assert db.execute('PRAGMA integrity_check').fetchone() == ('ok',)
            assert db.execute('SELECT commit_number, next_job_id FROM counters').fetchone() == (commit, len(ids) + 1)
        assert ids == list(range(1, len(ids) + 1)) and len(ids) >= before
    assert backups[0][2] < backups[1][2] < backups[2][2]
    with restored(instance, backups[-1][0]) as copy:
        assert copy.json('verify')['differences'] == []
    until(lambda: instance.json('queue') == [], 'all jobs to end')
    assert {row['state'] for row in instance.json('history', '--limit', '0')} == {'COMPLETED'}
    assert instance.json('verify')['differences'] == []


def test_a_copy_runs_nothing_twice_and_ends_nothing_of_the_original(instance):
    instance.good('set', 'host_cpus=1')
    mark = instance.work / 'mark'
    runs = instance.submit('--', 'sh', '-c', 'echo once >> %s; sleep 300' % mark)
    waits = instance.submit('--', 'sh', '-c', 'echo twice >> %s' % mark)
    until(mark.exists, 'the job to run')
    path = instance.work / 'copy.db'
    instance.good('backup', path)
    with restored(instance, path) as copy:
        assert copy.job(runs)['state'] == 'NODE_FAIL'
        assert copy.job(waits)['reason'] == 'JobHeldAdmin'
        assert 'Quarantine' in copy.good('status')
        assert copy.submit('--', 'true') == waits + 1
        copy.until_state(waits + 1, 'COMPLETED')
        assert copy.json('verify')['differences'] == []
    assert instance.job(runs)['state'] == 'RUNNING'
    assert mark.read_text() == 'once\n'
    instance.good('cancel', '--all')


def test_the_file_is_private_and_whole_or_not_there(instance):
    path = instance.work / 'b.db'
    instance.good('backup', path)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    was = path.read_bytes()
    assert 'exists' in instance.bad('backup', path)
    assert path.read_bytes() == was
    instance.submit('--', 'true')
    instance.good('backup', '--force', path)
    assert path.read_bytes() != was
    assert instance.bad('backup', instance.work / 'none/b.db', status=1)
    assert sorted(entry.name for entry in instance.work.glob('*.db*')) == ['b.db']
    assert not list(instance.state.glob('*backup*'))


@pytest.mark.parametrize('plant, message', [
    (lambda backup, path: path.write_text('no database'), 'is not a backup'),
    (lambda backup, path: path.write_bytes(backup[:len(backup) // 2]), 'is incomplete'),
    (lambda backup, path: path.write_bytes(backup[:68] + bytes(4) + backup[72:]), 'is not a backup'),
    (lambda backup, path: path.write_bytes(b''), 'is not a backup'),
])
def test_restore_refuses_what_is_no_backup(instance, plant, message):
    path, state = instance.work / 'b.db', instance.home / 'new'
    instance.good('backup', path)
    plant(path.read_bytes(), path)
    assert message in instance.bad('restore', path, '--state', state)
    assert not state.exists()


def test_restore_replaces_nothing(instance):
    path = instance.work / 'b.db'
    instance.good('backup', path)
    before = (instance.state / 'fairlead.db').read_bytes()
    assert 'exists' in instance.bad('restore', path, '--state', instance.state)
    assert (instance.state / 'fairlead.db').read_bytes() == before
    leftover = instance.home / 'leftover'
    leftover.mkdir()
    (leftover / 'fairlead.db-wal').write_bytes(b'of another database')
    assert 'fairlead.db-wal exists' in instance.bad('restore', path, '--state', leftover)
    assert '--state' in instance.bad('restore', path)


def test_a_lost_database_is_replaced_by_an_older_backup(instance):
    """What ran and ended since the backup is known from the commit log and the launcher: it does not run again."""
    instance.good('set', 'host_cpus=1')
    mark = instance.work / 'mark'
    runs, waits = (instance.submit('--', 'sh', '-c', 'echo %s >> %s; sleep 1' % (name, mark)) for name in ('first', 'second'))
    path = instance.work / 'b.db'
    instance.good('backup', path)
    for job in (runs, waits):
        instance.run('wait', job)
    instance.kill()
    for entry in instance.state.glob('fairlead.db*'):
        if not entry.name.endswith('-lock'):
            entry.rename(instance.home / entry.name)
    instance.good('restore', path, '--state', instance.state)
    started = instance.run('start')
    assert started.status == 0, started
    assert {instance.job(job)['state'] for job in (runs, waits)} == {'COMPLETED'}
    assert 'commit' in instance.good('status')
    assert mark.read_text().split() == ['first', 'second']
    later = instance.submit('--', 'true')
    assert later > waits
    instance.until_state(later, 'COMPLETED')
    assert instance.json('verify')['differences'] == []


@pytest.mark.parametrize('plant', [lambda path: os.mkfifo(path), lambda path: path.symlink_to('/dev/null'), lambda path: path.mkdir()])
def test_a_backup_replaces_only_a_regular_file(instance, plant):
    path = instance.work / 'target'
    plant(path)
    kind = stat.S_IFMT(os.lstat(path).st_mode)
    assert 'not a regular file' in instance.bad('backup', '--force', path)
    assert stat.S_IFMT(os.lstat(path).st_mode) == kind


def test_a_backup_is_never_written_into_a_state_directory(instance):
    before = sorted(os.listdir(instance.state))
    for name in ('fairlead.db', 'instance', 'new.db'):
        assert 'state directory of an instance' in instance.bad('backup', '--force', instance.state / name)
    assert sorted(os.listdir(instance.state)) == before
    assert instance.json('verify')['differences'] == []


def test_a_backup_has_a_name(instance):
    assert 'empty' in instance.bad('backup', '')
    assert 'standard output' in instance.bad('backup', '-')


def test_restore_takes_a_relative_directory_as_start_does(instance):
    path = instance.work / 'b.db'
    instance.good('backup', path)
    relative = os.path.relpath(instance.home / 'relative', instance.work)
    instance.good('restore', path, '--state', relative)
    assert (instance.home / 'relative/fairlead.db').read_bytes() == path.read_bytes()
    assert 'empty' in instance.bad('restore', path, '--state', '')


def test_restore_reads_only_a_regular_file_without_a_log_beside_it(instance):
    fifo, path, state = instance.work / 'fifo', instance.work / 'b.db', instance.home / 'new'
    os.mkfifo(fifo)
    assert 'not a regular file' in instance.bad('restore', fifo, '--state', state)
    instance.good('backup', path)
    (instance.work / 'b.db-wal').write_bytes(b'commits')
    assert 'b.db-wal' in instance.bad('restore', path, '--state', state)
    assert not state.exists()


def test_restore_writes_nothing_where_others_can_read_it_or_a_daemon_runs(instance):
    path, open_directory = instance.work / 'b.db', instance.home / 'open'
    instance.good('backup', path)
    open_directory.mkdir()
    (open_directory / 'file').write_text('')
    open_directory.chmod(0o755)
    assert 'chmod 700' in instance.bad('restore', path, '--state', open_directory, status=1)
    assert os.listdir(open_directory) == ['file']
    moved = [entry for entry in instance.state.glob('fairlead.db*')]
    for entry in moved:
        entry.rename(instance.home / entry.name)
    assert 'a daemon uses' in instance.bad('restore', path, '--state', instance.state)
    for entry in moved:
        (instance.home / entry.name).rename(entry)


def replace_database(instance, backup):
    """Puts a backup into the state directory of an instance that was killed, as a person does without 'restore'."""
    instance.kill()
    for entry in instance.state.glob('fairlead.db*'):
        if not entry.name.endswith('-lock'):
            entry.unlink()
    (instance.state / 'fairlead.db').write_bytes(backup.read_bytes())


@pytest.mark.parametrize('has_log', [True, False])
def test_the_commits_and_launches_of_another_instance_are_not_taken_over(instance, has_log):
    """Both instances have the job and launch ids 1 to 3: the rows of one end, and are not the launches of the other."""
    other = Instance()
    try:
        other.good('start')
        runs, held = other.submit('--', 'sleep', '300'), other.submit('--hold', '--', 'true')
        other.until_state(runs, 'RUNNING')
        backup = instance.work / 'other.db'
        other.good('backup', backup)
        for _ in range(3):
            instance.submit('--', 'sleep', '300')
        instance.until_state(1, 'RUNNING')
        instance.good('cancel', held)
        replace_database(instance, backup)
        if not has_log:
            (instance.state / 'commits.log').unlink()
        started = instance.run('start')
        assert started.status == 0, started
        assert instance.job(runs)['state'] == 'NODE_FAIL'
        assert instance.job(held)['state'] == 'PENDING'
        assert ('commits.log belongs to another instance' in instance.good('status')) == has_log
        later = instance.submit('--', 'true')
        instance.until_state(later, 'COMPLETED')
        assert instance.json('verify')['differences'] == []
        assert other.job(runs)['state'] == 'RUNNING'
        other.good('cancel', '--all')
    finally:
        other.print_logs()
        other.close()


def test_a_start_removes_the_copy_of_a_daemon_that_was_killed(instance):
    instance.kill()
    for name in ('fairlead.db-backup', 'fairlead.db-backup-journal'):
        (instance.state / name).write_text('unfinished')
    assert instance.run('start').status == 0
    assert not list(instance.state.glob('*backup*'))


# --- what a file is -------------------------------------------------------------------------------------------------

def daemon(*arguments):
    done = subprocess.run([BUILD / 'fairleadd', *arguments], capture_output=True, text=True, timeout=60, check=False)
    return Result(arguments, done.returncode, done.stdout, done.stderr)


def check(path):
    """What 'fairleadd --check-database' prints, as a dict."""
    done = daemon('--check-database', path)
    assert done.status == 0, done
    return dict(line.split('=', 1) for line in done.out.splitlines())


def id_of(state):
    return dict(line.split('=', 1) for line in (state / 'instance').read_text().splitlines())['id']


def change(path, *statements):
    """The backup with other rows, as one file without a log."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        for statement in ('PRAGMA journal_mode = DELETE', *statements):
            db.execute(statement)
        db.commit()


def damage(path):
    """Overwrites a page in the middle; the head of the file stays as it is."""
    size = os.path.getsize(path)
    with open(path, 'r+b') as file:
        file.seek(size // 2 // 4096 * 4096)
        file.write(b'\xff' * 4096)


def schema_version(path):
    with contextlib.closing(sqlite3.connect('file:%s?mode=ro' % urllib.parse.quote(str(path)), uri=True)) as db:
        return str(db.execute('PRAGMA user_version').fetchone()[0])


def test_the_daemon_says_what_a_database_is(instance):
    path = instance.work / 'b?%41#.db'
    instance.good('backup', path)
    before = sorted(os.listdir(instance.work))
    path.chmod(0o400)
    assert check(path) == {'schema_version': schema_version(path), 'instance_id': id_of(instance.state), 'pretend': '0'}
    assert sorted(os.listdir(instance.work)) == before
    path.chmod(0o600)
    change(path, "UPDATE counters SET instance_id = NULL, is_pretend = 1")
    assert check(path) == {'schema_version': schema_version(path), 'instance_id': '', 'pretend': '1'}
    for plant, message in [(damage, 'is damaged'), (lambda path: path.write_text('text'), 'is damaged'),
                           (lambda path: path.unlink(), 'b?%41#.db')]:
        plant(path)
        done = daemon('--check-database', path)
        assert done.status in (1, 2) and message in done.err and done.err.count('\n') == 1, done
    assert daemon('--check-database', '').status == 2
    assert daemon('--check-database', path, '--private').status == 2


@pytest.mark.parametrize('plant, message', [
    (damage, 'is damaged'),
    (lambda path: change(path, 'PRAGMA user_version = 99'), 'schema version 99'),
    (lambda path: change(path, "UPDATE counters SET instance_id = NULL, is_pretend = 1"), 'pretend cluster'),
])
def test_restore_refuses_a_damaged_a_newer_and_a_pretend_database(instance, plant, message):
    path, state = instance.work / 'b.db', instance.home / 'new'
    for _ in range(30):
        instance.submit('--hold', '--', 'true')
    instance.good('backup', path)
    plant(path)
    refused = instance.bad('restore', path, '--state', state)
    assert message in refused and str(path) in refused and not state.exists()


def test_restore_says_which_instance_it_was(instance):
    path = instance.work / 'b.db'
    instance.good('backup', path)
    done = instance.good('restore', path, '--state', instance.home / 'new')
    assert 'schema version %s, ' % schema_version(path) in done and id_of(instance.state) in done


def test_a_backup_without_an_id_is_held_like_any_other(instance):
    """Older versions wrote none. Its first start would be that of a new instance."""
    waits = instance.submit('--begin', 'now+1hour', '--', 'true')
    path = instance.work / 'b.db'
    instance.good('backup', path)
    change(path, 'UPDATE counters SET instance_id = NULL')
    with restored(instance, path) as copy:
        assert copy.job(waits)['reason'] == 'JobHeldAdmin'
        assert 'Quarantine' in copy.good('status')
        copy.good('release', waits)
        assert copy.run('stop').status == 0 and copy.run('start').status == 0
        assert copy.job(waits)['reason'] == 'BeginTime'
    (instance.home / 'fairlead.db').unlink(missing_ok=True)


def test_the_directory_of_another_instance_is_refused(instance):
    """It is stopped, so its lock does not say so."""
    path, other = instance.work / 'b.db', Instance()
    try:
        other.good('start')
        instance.good('backup', path)
        assert other.run('stop').status == 0
        for entry in other.state.glob('fairlead.db*'):
            entry.unlink()
        before = sorted(os.listdir(other.state))
        refused = instance.bad('restore', path, '--state', other.state)
        assert id_of(other.state) in refused and id_of(instance.state) in refused
        change(path, 'UPDATE counters SET instance_id = NULL')
        assert 'without an id' in instance.bad('restore', path, '--state', other.state)
        assert sorted(os.listdir(other.state)) == before
    finally:
        other.close()


def test_a_release_of_all_gives_back_what_people_had_held(instance):
    """The quarantine ends; the second release ends the holds."""
    free, held = instance.submit('--begin', 'now+1hour', '--', 'true'), instance.submit('--hold', '--', 'true')
    later = instance.submit('--begin', 'now+1hour', '--', 'true')
    path = instance.work / 'b.db'
    instance.good('backup', path)
    with restored(instance, path) as copy:
        assert {copy.job(job)['reason'] for job in (free, held, later)} == {'JobHeldAdmin'}
        assert copy.json('status')['quarantined_jobs'] == 3
        copy.good('hold', later)
        assert '3 jobs' in copy.good('release', '--all', '--dry-run')
        assert copy.run('stop').status == 0 and copy.run('start').status == 0
        copy.good('release', '--all')
        assert [copy.job(job)['reason'] for job in (free, held, later)] == ['BeginTime', 'JobHeldUser', 'JobHeldUser']
        assert copy.json('status')['quarantine'] is None
        copy.good('release', '--all')
        copy.until_state(held, 'COMPLETED')
    with restored(instance, path) as copy:
        copy.good('release', held)
        copy.until_state(held, 'COMPLETED')


def test_a_quarantine_that_holds_no_job_is_told(instance):
    job = instance.submit('--', 'sleep', '300')
    instance.until_state(job, 'RUNNING')
    path = instance.work / 'b.db'
    instance.good('backup', path)
    with restored(instance, path) as copy:
        copy.until_state(job, 'NODE_FAIL')
        shown = copy.json('status')
        assert shown['quarantine'] is None and 'No job waited' in shown['recovery']
        assert 'Quarantine: ' in copy.good('status')


def test_what_was_missing_is_told_by_later_starts(instance):
    path = instance.work / 'b.db'
    instance.good('backup', path)
    instance.submit('--hold', '--', 'true')
    replace_database(instance, path)
    assert instance.run('start').status == 0
    found = instance.json('status')
    assert 'missing' in found['recovery'] and found['last_recovery'] == found['recovery']
    assert instance.run('stop').status == 0 and instance.run('start').status == 0
    later = instance.json('status')
    assert later['recovery'] is None and later['last_recovery'] == found['recovery']
    assert later['last_recovery_us'] == found['last_recovery_us'] > 0
    assert found['recovery'] in instance.good('status')


def test_jobs_of_a_backup_that_is_restored_under_another_uid_run(instance):
    """As on another machine, where the user has another uid: they would be refused at their start, and be lost."""
    job = instance.submit('--hold', '--', 'true')
    path = instance.work / 'b.db'
    instance.good('backup', path)
    change(path, 'UPDATE job SET uid = 54321, gid = 54321', 'UPDATE counters SET served_uid = 54321')
    with restored(instance, path) as copy:
        copy.good('release', job)
        copy.until_state(job, 'COMPLETED')
        assert copy.job(job)['uid'] == os.getuid()


# --- interrupted, and on a full disk --------------------------------------------------------------------------------

@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_backup_that_is_interrupted_leaves_nothing(instance, number):
    """While it waits for the instance, which is stopped."""
    path, pid = instance.work / 'b.db', instance.pid()
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)  # under nohup the command would ignore it, too
    os.kill(pid, signal.SIGSTOP)
    try:
        backup = instance.popen('backup', path)
        until(lambda: list(instance.work.glob('b.db.*')), 'the unfinished file')
        backup.send_signal(number)
        backup.communicate(timeout=60)
        assert backup.returncode == -number and list(instance.work.glob('b.db*')) == []
    finally:
        os.kill(pid, signal.SIGCONT)
    instance.good('backup', path)


def test_a_restore_that_is_interrupted_can_be_repeated(instance):
    """At any time: the directory has no database then, or all of it."""
    path, state = instance.work / 'b.db', instance.home / 'new'
    for _ in range(20):
        instance.submit('--hold', '--', 'true')
    instance.good('backup', path)
    change(path, 'UPDATE counters SET instance_id = NULL')  # so that it writes a mark, too
    interrupted = 0
    for delay in range(12):
        restore = instance.popen('restore', path, '--state', state)
        time.sleep(delay * 0.02)
        restore.send_signal(signal.SIGINT)
        restore.communicate(timeout=60)
        if (state / 'fairlead.db').exists():
            assert (state / 'fairlead.db').read_bytes() == path.read_bytes() and (state / 'instance').exists()
            shutil.rmtree(state)
        else:
            interrupted += 1
            assert not list(state.glob('fairlead.db*'))
    print('# %d of 12 restores were interrupted before they had an effect' % interrupted)
    instance.good('restore', path, '--state', state)


def test_neither_has_an_effect_on_a_full_disk(instance):
    small, path = instance.home / 'small', instance.work / 'b.db'
    small.mkdir()
    mounted = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=64k,mode=0700', 'none', small], capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip('no file system can be mounted here')
    try:
        instance.good('backup', path)
        assert 'No space left' in instance.bad('backup', small / 'b.db', status=1)
        assert 'No space left' in instance.bad('restore', path, '--state', small / 'state', status=1)
        assert os.listdir(small) == []
    finally:
        subprocess.run(['umount', '-l', small], check=True)
    instance.good('restore', path, '--state', instance.home / 'other')
