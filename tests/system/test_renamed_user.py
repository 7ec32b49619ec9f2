"""The uid is the identity of a user: one who was renamed keeps shares, usage and jobs; of one who was removed, what runs goes on and
what waits is held. Needs root, to add, rename and remove a user."""
import os
import pwd
import shutil
import subprocess

import pytest

from conftest import BUILD, Instance, until

NAME, NEW_NAME = 'fairlead-t1', 'fairlead-t2'
TOOLS = 'useradd', 'userdel', 'setpriv'


def why_not():
    if os.geteuid() != 0:
        return 'NOT TESTED: renamed and removed users, because this is not root'
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    return 'NOT TESTED: renamed and removed users, because there is no %s' % ', '.join(missing) if missing else ''


pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())


class UserInstance(Instance):
    """An instance of another user, one that root can rename and remove."""

    def __init__(self, uid):
        super().__init__()
        self.uid = uid
        for path in (self.home, self.work):
            os.chown(path, uid, uid)

    def popen(self, *arguments, environment=None, cwd=None, **options):
        command = ['setpriv', '--reuid', str(self.uid), '--regid', str(self.uid), '--clear-groups', BUILD / 'fairlead',
                   *map(str, arguments)]
        return subprocess.Popen(command, cwd=cwd or self.work, env={**self.environment, **(environment or {})},
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def restart(self):
        self.kill()
        return self.run('start')


def remove_users():
    for name in (NAME, NEW_NAME):
        subprocess.run(['userdel', '-f', name], capture_output=True)


def add_user(name, uid=None):
    subprocess.run(['useradd', '--no-create-home', '--user-group', *(['--uid', str(uid)] if uid else []), name], check=True)


def rename(instance):
    """usermod -l refuses while processes of the user run; directory services do not."""
    remove_users()
    add_user(NEW_NAME, instance.uid)


@pytest.fixture
def theirs():
    remove_users()
    add_user(NAME)
    uid = pwd.getpwnam(NAME).pw_uid
    if subprocess.run(['setpriv', '--reuid', str(uid), '--clear-groups', BUILD / 'fairlead', '--version'],
                      capture_output=True).returncode != 0:
        remove_users()
        pytest.skip('NOT TESTED: renamed and removed users, because others cannot run %s' % BUILD)
    instance = UserInstance(uid)
    try:
        instance.start()
        instance.good('set', 'host_cpus=1', 'PriorityDecayHalfLife=0')
        yield instance
    finally:
        instance.print_logs()
        instance.close()
        remove_users()


def usage_of(instance, user):
    return [float(row['RawUsage']) for row in instance.rows('share') if row['User'] == user]


def test_a_renamed_user_keeps_jobs_shares_and_usage(theirs):
    theirs.good('account', 'add', 'physics', '--shares', '7')
    theirs.good('user', 'add', NAME, '-A', 'physics', '--shares', '5')
    theirs.run('wait', theirs.submit('-A', 'physics', '--', 'sleep', '1'))
    runs, waits = theirs.submit('-A', 'physics', '--', 'sleep', '300'), theirs.submit('-A', 'physics', '--', 'true')
    theirs.until_state(runs, 'RUNNING')
    was = usage_of(theirs, NAME)
    rename(theirs)
    assert theirs.restart().status == 0
    assert usage_of(theirs, NAME) == [] and usage_of(theirs, NEW_NAME)[-1] >= was[-1] > 0
    assert {theirs.job(job)['user'] for job in (1, runs, waits)} == {NEW_NAME}
    assert (theirs.job(runs)['state'], theirs.job(waits)['reason']) == ('RUNNING', 'Resources')
    assert [row['shares'] for row in theirs.json('user', 'show') if row['name'] == NEW_NAME] == [5]
    last = theirs.json('audit')[-1]
    assert (last['command'], last['field'], last['before'], last['after']) == ('start', 'user', NAME, NEW_NAME)
    assert theirs.json('verify')['differences'] == []
    theirs.good('cancel', '--all')
    theirs.run('wait', runs)
    assert theirs.submit('-A', 'physics', '--', 'true') == waits + 1
    assert theirs.json('verify')['differences'] == []


def test_jobs_of_a_removed_user_that_wait_are_held(theirs):
    runs, waits = theirs.submit('--', 'sleep', '300'), theirs.submit('--', 'true')
    theirs.until_state(runs, 'RUNNING')
    remove_users()
    started = theirs.restart()
    assert started.status == 0, started
    assert "user '%s' (uid %d) was removed from the system" % (NAME, theirs.uid) in theirs.good('status')
    assert theirs.job(runs)['state'] == 'RUNNING'
    assert (theirs.job(waits)['state'], theirs.job(waits)['reason']) == ('PENDING', 'JobHeldAdmin')
    assert {row['user'] for row in theirs.json('queue')} == {str(theirs.uid)}
    assert theirs.json('verify')['differences'] == []
    theirs.good('cancel', runs)
    theirs.run('wait', runs)
    theirs.good('release', waits)
    theirs.until_state(waits, 'COMPLETED')


def test_a_removed_user_who_is_back_gets_the_name_back(theirs):
    waits = theirs.submit('--hold', '--', 'true')
    remove_users()
    assert theirs.restart().status == 0
    add_user(NEW_NAME, theirs.uid)
    assert theirs.restart().status == 0
    assert theirs.job(waits)['user'] == NEW_NAME
    assert theirs.job(waits)['reason'] == 'JobHeldAdmin'


def test_a_name_that_has_rows_is_not_taken_over(theirs):
    theirs.good('account', 'add', 'physics')
    theirs.good('user', 'add', NEW_NAME, '-A', 'physics')
    theirs.run('wait', theirs.submit('--', 'true'))
    rename(theirs)
    assert theirs.restart().status == 0
    assert theirs.job(1)['user'] == NAME
    assert 'user-renamed' in (theirs.state / 'fairleadd.log').read_text()
    assert theirs.json('verify')['differences'] == []


@pytest.fixture
def clock(theirs):
    """Sets the clock of an instance that is started anew: functions of minutes."""
    file = theirs.home / 'clock'
    preloaded = 'libasan.so.8 fake-clock.so' if os.environ.get('FAIRLEAD_SANITIZED') == '1' else 'fake-clock.so'
    theirs.environment.update(LD_PRELOAD=preloaded, LD_LIBRARY_PATH=str(BUILD / 'tests/system'), FAKE_CLOCK=str(file))

    def advance(minutes):
        new = file.with_suffix('.new')
        new.write_text('%d\n' % (60 * minutes))
        new.chmod(0o644)
        new.rename(file)

    advance(0)
    assert theirs.restart().status == 0
    return advance


def test_a_user_who_is_renamed_while_the_instance_runs(theirs, clock):
    """A request notices it, a minute after the last look or later. That a user has no name is followed at a start only."""
    theirs.good('account', 'add', 'physics')
    theirs.good('user', 'add', NAME, '-A', 'physics', '--shares', '5')
    runs, waits = theirs.submit('-A', 'physics', '--', 'sleep', '300'), theirs.submit('-A', 'physics', '--', 'true')
    theirs.until_state(runs, 'RUNNING')
    rename(theirs)
    assert theirs.job(waits)['user'] == NAME
    clock(5)
    until(lambda: theirs.job(waits)['user'] == NEW_NAME, 'the new name')
    assert (theirs.job(runs)['state'], theirs.job(waits)['reason']) == ('RUNNING', 'Resources')
    assert [(row['name'], row['shares']) for row in theirs.json('user', 'show') if row['name'] in (NAME, NEW_NAME)] == [(NEW_NAME, 5)]
    last = theirs.json('audit')[-1]
    assert (last['command'], last['field'], last['before'], last['after']) == ('lookup', 'user', NAME, NEW_NAME)
    submitted = theirs.submit('-A', 'physics', '--', 'true')
    assert theirs.job(submitted)['user'] == NEW_NAME
    remove_users()
    clock(10)
    assert theirs.job(waits)['user'] == NEW_NAME
    add_user(NAME, theirs.uid)
    clock(15)
    until(lambda: theirs.job(waits)['user'] == NAME, 'the name of before')
    assert theirs.job(waits)['reason'] == 'Resources'
    assert [row['command'] for row in theirs.json('audit') if row['field'] == 'user'].count('lookup') == 2
    assert theirs.json('verify')['differences'] == []
    theirs.good('cancel', runs)
    theirs.until_state(submitted, 'COMPLETED')
    assert usage_of(theirs, NEW_NAME) == [] and usage_of(theirs, NAME)[-1] > 0
    assert theirs.restart().status == 0
    assert {row['user'] for row in theirs.json('history')} == {NAME}
    assert theirs.json('verify')['differences'] == []
