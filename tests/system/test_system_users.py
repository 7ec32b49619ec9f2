"""Users of a system instance who are renamed or removed, and uids that are given to another person. Needs root, to make accounts."""
import contextlib
import json
import os
import pathlib
import pwd
import re
import signal
import sqlite3
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exec_world import kill, until  # noqa: E402
from test_system_instance import SystemInstance  # noqa: E402
from test_system_launcher import Accounts, why_not  # noqa: E402

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())


@pytest.fixture
def system():
    accounts = Accounts()
    prefix = accounts.names['alice'][:-1]
    try:
        accounts.make()
        accounts.names.update(new=prefix + 'n', second=prefix + 's')
        instance = SystemInstance(accounts)
        try:
            yield instance
        finally:
            instance.close()
    finally:
        accounts.remove()


def replace_account(system, user, name, home):
    """The uid gets another name. Directory services do this while processes of the user run; usermod refuses it."""
    subprocess.run(['userdel', '-f', user.pw_name], capture_output=True)
    subprocess.run(['groupadd', '--force', name], check=True)
    subprocess.run(['useradd', '--no-create-home', '--home-dir', home, '--uid', str(user.pw_uid), '--gid', name, name], check=True)
    made = pwd.getpwnam(name)
    if not system.home(made).exists():
        system.home(made).symlink_to(system.home(user))
    return made


def restart(system):
    system.daemon.kill()
    system.daemon.wait()
    system.socket.unlink()
    system.start()


def row_of(system, job):
    return json.loads(system.good(None, 'show', 'job', job, '--json'))[0]


def jobs_of(system, user):
    """One that has ended, one that runs and one that waits."""
    ended = system.submit(user, '--', 'true')
    system.good(user, 'wait', ended)
    running = system.submit(user, '--', 'sh', '-c', 'until [ -e go ]; do sleep 0.05; done')
    waiting = system.submit(user, '--begin', 'now+3600', '--', 'true')
    until(lambda: row_of(system, running)['state'] == 'RUNNING', 'the job to run')
    return ended, running, waiting


def check_renamed(system, jobs, new):
    ended, running, waiting = jobs
    assert [row_of(system, job)['user'] for job in jobs] == [new.pw_name] * 3
    assert row_of(system, waiting)['held'] is False
    assert json.loads(system.good(new, 'whoami', '--json'))['associations'][0]['name'] == new.pw_name
    assert system.good(new, 'cancel', waiting) == 'Cancelled 1 job\n'
    (system.home(new) / 'go').touch()
    system.good(new, 'wait', running)
    assert json.loads(system.good(None, 'verify', '--json'))['differences'] == []


def check_replaced(system, jobs, old, new):
    ended, running, waiting = jobs
    assert [row_of(system, job)['user'] for job in jobs] == [old.pw_name] * 3
    row = row_of(system, waiting)
    assert (row['held'], row['reason']) == (True, 'JobHeldAdmin')
    assert row['admin_comment'] == "held: uid %d was user '%s' and is now user '%s'" % (old.pw_uid, old.pw_name, new.pw_name)
    for command in ['cancel', waiting], ['release', waiting], ['cancel', running]:
        assert 'belongs to %s' % old.pw_name in system.bad(new, *command)
    assert row_of(system, running)['state'] == 'RUNNING'


def test_a_renamed_user_keeps_jobs_and_shares(system):
    """The home directory stays. What is known outlives a restart."""
    alice = system.accounts.alice
    jobs = jobs_of(system, alice)
    system.good(None, 'user', 'modify', alice.pw_name, '--shares', 7)
    new = replace_account(system, alice, system.accounts.names['new'], alice.pw_dir)
    restart(system)
    assert json.loads(system.good(new, 'whoami', '--json'))['user'] == new.pw_name
    check_renamed(system, jobs, new)
    shares = {row['user']: row['raw_shares'] for row in json.loads(system.good(None, 'share', '--json')) if row['user']}
    assert shares == {new.pw_name: 7}
    entries = [row for row in json.loads(system.good(None, 'audit', '--json')) if row['command'] == 'lookup']
    assert [(row['field'], row['before'], row['after']) for row in entries] == [('user', alice.pw_name, new.pw_name)]


def test_another_person_does_not_inherit_the_jobs_of_a_uid(system):
    alice = system.accounts.alice
    jobs = jobs_of(system, alice)
    new = replace_account(system, alice, system.accounts.names['new'], '/home/' + system.accounts.names['new'])
    restart(system)
    assert json.loads(system.good(new, 'whoami', '--json'))['associations'] == []
    until(lambda: row_of(system, jobs[2])['held'], 'the hold')
    check_replaced(system, jobs, alice, new)
    own = system.submit(new, '--hold', '--', 'true')
    assert row_of(system, own)['user'] == new.pw_name
    restart(system)
    assert row_of(system, own)['admin_comment'] is None  # a restart finds nothing new
    assert system.good(None, 'release', jobs[2]) == 'Released 1 job\n'


def test_all_jobs_of_a_lost_user_are_held(system):
    """Also where they are more than one turn holds. None starts meanwhile, and what its user held becomes the operators' hold."""
    alice = system.accounts.alice
    system.good(None, 'set', 'host_cpus=1')
    blocker = system.submit(system.accounts.mallory, '--', 'sh', '-c', 'until [ -e go ]; do sleep 0.05; done')
    until(lambda: row_of(system, blocker)['state'] == 'RUNNING', 'the job to run')
    jobs = [system.submit(alice, *(['--hold'] if i % 50 == 0 else []), '--', 'true') for i in range(300)]
    new = replace_account(system, alice, system.accounts.names['new'], '/home/' + system.accounts.names['new'])
    restart(system)
    system.good(new, 'whoami')
    reason = "held: uid %d was user '%s' and is now user '%s'" % (alice.pw_uid, alice.pw_name, new.pw_name)
    until(lambda: 'user-lost' in (system.place / 'log').read_text(), 'the holds')
    assert re.search('user-lost uid=%d name=%s jobs=300 ' % (alice.pw_uid, new.pw_name), (system.place / 'log').read_text())
    (system.home(system.accounts.mallory) / 'go').touch()
    system.good(None, 'wait', blocker)
    rows = {row['job_id']: row for row in json.loads(system.good(None, 'queue', '--json'))}
    assert {(row['held'], row['reason']) for row in rows.values()} == {(True, 'JobHeldAdmin')} and set(rows) == set(map(int, jobs))
    assert row_of(system, jobs[0])['admin_comment'] == row_of(system, jobs[-1])['admin_comment'] == reason
    restart(system)
    assert system.good(None, 'release', jobs[0]) == 'Released 1 job\n'

def known_name(system, user):
    with contextlib.closing(sqlite3.connect(next((system.place / 'state').glob('*.db')))) as database:
        return database.execute('SELECT name FROM known_user WHERE uid = ?', [user.pw_uid]).fetchone()[0]


def change_schema(system, *statements):
    """While the daemon does not run."""
    with contextlib.closing(sqlite3.connect(next((system.place / 'state').glob('*.db')))) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()


def test_that_a_uid_is_another_persons_is_stored_with_the_holds(system):
    """The holds cannot be written and the daemon is killed: it still knows the old name, and holds the jobs after its next start."""
    alice = system.accounts.alice
    job = system.submit(alice, '--begin', 'now+3600', '--', 'true')
    system.daemon.kill()
    system.daemon.wait()
    system.socket.unlink()
    new = replace_account(system, alice, system.accounts.names['new'], '/home/' + system.accounts.names['new'])
    change_schema(system, *('CREATE TRIGGER no_%s BEFORE %s ON job BEGIN SELECT RAISE(ABORT, \'a test\'); END' % (verb, verb)
                            for verb in ('UPDATE', 'INSERT')))
    system.start()
    system.run(new, 'whoami')
    until(lambda: 'commit-failed' in (system.place / 'log').read_text(), 'the commit that fails')
    assert known_name(system, alice) == alice.pw_name
    system.daemon.kill()
    system.daemon.wait()
    system.socket.unlink()
    assert known_name(system, alice) == alice.pw_name
    change_schema(system, 'DROP TRIGGER no_UPDATE', 'DROP TRIGGER no_INSERT')
    system.start()
    system.good(new, 'whoami')
    until(lambda: row_of(system, job)['held'], 'the hold')
    assert known_name(system, alice) == new.pw_name


def test_a_new_name_that_is_taken(system):
    """Rows of the new name exist already: both stay as they are."""
    alice, mallory = system.accounts.alice, system.accounts.mallory
    job = system.submit(alice, '--hold', '--', 'true')
    system.good(None, 'user', 'add', system.accounts.names['new'], '-A', 'default')
    new = replace_account(system, alice, system.accounts.names['new'], alice.pw_dir)
    restart(system)
    system.good(new, 'whoami')
    assert row_of(system, job)['user'] == alice.pw_name
    assert re.search('user-renamed.* rows=kept', (system.place / 'log').read_text())
    assert system.submit(mallory, '--hold', '--', 'true') > job


@pytest.mark.slow
def test_changes_are_noticed_while_the_instance_runs(system):
    """Within a minute, though no client asks anything; that a user was removed, after two looks. What runs goes on."""
    alice, mallory = system.accounts.alice, system.accounts.mallory
    alices, mallorys = jobs_of(system, alice), jobs_of(system, mallory)
    new = replace_account(system, alice, system.accounts.names['new'], alice.pw_dir)
    subprocess.run(['userdel', '-f', mallory.pw_name], capture_output=True)
    log = system.place / 'log'
    until(lambda: 'user-renamed' in log.read_text(), 'the new name', patience=100)
    check_renamed(system, alices, new)
    until(lambda: 'user-lost' in log.read_text(), 'the removal', patience=240)
    ended, running, waiting = mallorys
    row = row_of(system, waiting)
    assert (row['user'], row['held'], row['reason']) == (mallory.pw_name, True, 'JobHeldAdmin')
    assert row['admin_comment'] == "held: user '%s' (uid %d) was removed from the machine" % (mallory.pw_name, mallory.pw_uid)
    assert row_of(system, running)['state'] == 'RUNNING'
    assert row_of(system, ended)['user'] == mallory.pw_name
    for pid in [int(row) for row in subprocess.run(['pgrep', '-u', str(mallory.pw_uid)], capture_output=True, text=True).stdout.split()]:
        kill(pid, signal.SIGTERM)


# --- unusual names, and homes that are not there ---


UNUSUAL = {'letters beyond ASCII': 'flé%d', 'a number': '9%07d', 'the longest name of useradd': 'fl%030d', 'uid above 2^31': 'flu%d'}


@pytest.fixture(params=UNUSUAL, ids=[kind.replace(' ', '-') for kind in UNUSUAL])
def unusual(request, system):
    """An account; its uid is the last one but one of 16 bits, or one that is no signed number of 32."""
    name = UNUSUAL[request.param] % (os.getpid() % 100000)
    uid = 4000000000 + os.getpid() if 'uid' in request.param else 65535
    try:
        made = subprocess.run(['useradd', '--badname', '--no-create-home', '--user-group', '--uid', str(uid), name], capture_output=True, text=True)
        if made.returncode == 4:
            pytest.skip('NOT TESTED: uid %d is another account\'s' % uid)
        assert made.returncode == 0, made
        user = pwd.getpwnam(name)
        system.home(user).mkdir(mode=0o700)
        os.chown(system.home(user), user.pw_uid, user.pw_gid)
        yield user
    finally:
        subprocess.run(['userdel', '-f', name], capture_output=True)
        subprocess.run(['groupdel', name], capture_output=True)


def as_uid(user, *command, **options):
    """By numbers: setpriv takes a name that is a number for an id."""
    return subprocess.run(['setpriv', '--reuid', str(user.pw_uid), '--regid', str(user.pw_gid), '--clear-groups', *map(str, command)],
                          capture_output=True, text=True, timeout=120, **options)


def test_users_with_unusual_names(system, unusual):
    home, name = system.home(unusual), unusual.pw_name
    environment = {'PATH': '/usr/bin:/bin', 'FAIRLEAD_SOCKET': str(system.socket), 'HOME': str(home)}

    def run(*arguments):
        done = as_uid(unusual, system.place / 'fairlead', *arguments, cwd=home, env=environment)
        assert (done.returncode, done.stderr) == (0, ''), done
        return done.stdout

    job = int(run('submit', '--parsable', '--', 'sh', '-c', 'id -u; id -un; echo "$USER"'))
    run('wait', job)
    assert run('log', job).splitlines()[:2] == [str(unusual.pw_uid), name]
    row = row_of(system, job)
    assert (row['user'], row['uid'], row['state']) == (name, unusual.pw_uid, 'COMPLETED')
    assert [r['job_id'] for r in json.loads(system.good(None, 'history', '--json', '-u', name))] == [job]
    assert name in [r['user'] for r in json.loads(system.good(None, 'share', '--json'))]
    assert name in run('share', '-u', name) and name in run('history') and name in run('whoami')
    held = int(run('submit', '--parsable', '--hold', '--', 'true'))
    assert 'belongs to %s' % name in system.bad(system.accounts.alice, 'cancel', held)
    system.good(None, 'user', 'modify', name, '--shares', '3')
    assert system.good(None, 'cancel', '-u', name) == 'Cancelled 1 job\n'
    restart(system)
    assert row_of(system, job)['user'] == name
    assert json.loads(system.good(None, 'verify', '--json'))['differences'] == []


def test_a_home_that_is_not_mounted_fails_the_job_only(system):
    """Its directory is there at submission, and gone at the start; another job of the user runs, and no launch backs off."""
    alice = system.accounts.alice
    home = system.home(alice)
    lost = home / 'mounted-later'
    lost.mkdir()
    os.chown(lost, alice.pw_uid, alice.pw_gid)
    job = system.submit(alice, '--hold', '-D', lost, '--', 'true')
    lost.rmdir()
    system.good(alice, 'release', job)
    until(lambda: row_of(system, job)['state'] == 'FAILED', 'the job to fail')
    assert row_of(system, job)['detail'] == 'cannot enter directory %s: No such file or directory' % lost
    system.good(alice, 'wait', system.submit(alice, '--', 'true'))
    assert json.loads(system.good(None, 'status', '--json'))['launch_failure'] is None
