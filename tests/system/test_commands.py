"""Every command with accepted input, typed as a user does."""
import contextlib
import getpass
import json
import os
import pathlib
import pwd
import re
import shlex
import signal
import socket
import sqlite3
import stat
import subprocess
import time

import pytest

from conftest import FAIRLEAD, PATIENCE, until


def tree(instance):
    instance.good('account', 'add', 'physics', '--shares', '50')
    instance.good('account', 'add', 'bio', '--shares', '30')
    instance.good('account', 'add', 'optics', '--parent', 'physics', '--shares', 'parent')
    instance.good('user', 'add', 'test-alice', '-A', 'physics', '--shares', '3')
    instance.good('user', 'add', 'test-alice', '-A', 'bio', '--default')
    instance.good('user', 'add', 'test-bob', '-A', 'optics')


# ---- the instance ----


def test_start_and_stop(stopped):
    out = stopped.start()
    match = re.fullmatch(r'Started: process (\d+), state in (\S+)\n', out)
    assert match and match[2] == str(stopped.state)
    pid = int(match[1])
    assert stopped.is_alive(pid) and stopped.pid() == pid
    assert stat.S_IMODE(stopped.state.stat().st_mode) == 0o700
    assert stat.S_IMODE((stopped.state / 'fairleadd.log').stat().st_mode) == 0o600
    assert stopped.start() == 'Already running: process %d, state in %s\n' % (pid, stopped.state)

    # It has its own session and does not keep the terminal open.
    assert os.getsid(pid) == pid
    assert os.readlink('/proc/%d/fd/0' % pid) == '/dev/null'
    assert os.readlink('/proc/%d/fd/2' % pid) == str(stopped.state / 'fairleadd.log')

    assert stopped.good('stop') == 'Stopped\n'
    assert not stopped.is_alive(pid)
    assert stopped.bad('stop', status=1) == \
        "fairlead stop: no instance answers at %s: nothing to stop" % stopped.socket


def test_start_elsewhere(stopped):
    state, socket = stopped.home / 'else where', stopped.home / 'a socket'
    result = stopped.run('start', '--state', state, '--socket', socket)
    assert result.status == 0 and result.err == 'To use it: export FAIRLEAD_SOCKET=%s\n' % shlex.quote(str(socket))
    assert stopped.run('status').status == 1
    environment = {'FAIRLEAD_SOCKET': str(socket)}
    assert str(socket) in stopped.good('status', environment=environment)
    assert str(state) in stopped.good('status', '--socket', socket)
    assert stopped.good('start', environment=environment).startswith('Already running')
    assert stopped.good('start', '--set', 'grace_s=5', environment=environment).startswith('Already running')
    # The option is stronger than the environment.
    assert stopped.run('status', '--socket', stopped.socket, environment=environment).status == 1
    assert stopped.good('stop', environment=environment) == 'Stopped\n'


def test_start_finds_the_state_of_the_socket_variable(stopped):
    """After a kill, start with the variable starts the same instance again, not another state at its socket."""
    state = stopped.home / 'mine'
    assert stopped.run('start', '--state', state).status == 0
    environment = {'FAIRLEAD_SOCKET': str(state / 'fairlead.sock')}
    stopped.good('account', 'add', 'physics', environment=environment)
    pid = json.loads(stopped.good('status', '--json', environment=environment))['pid']
    stopped.kill_process(pid)
    until(lambda: not stopped.is_alive(pid), 'the daemon to end')
    assert 'state in %s\n' % state in stopped.run('start', environment=environment).out
    assert 'physics' in stopped.good('account', 'show', environment=environment)
    assert stopped.good('stop', environment=environment) == 'Stopped\n'


def test_start_refuses_another_state_at_the_socket(stopped):
    state, other, socket = (stopped.home / name for name in ('one', 'two', 'a socket'))
    assert stopped.run('start', '--state', state, '--socket', socket).status == 0
    assert stopped.bad('start', '--state', other, '--socket', socket) == \
        'fairlead start: the instance at %s has another state, %s, and not %s' % (socket, state, other)
    assert stopped.good('stop', '--socket', socket) == 'Stopped\n'


def test_start_in_an_existing_directory(stopped):
    """An empty directory becomes private. One with files is refused: its owner has to make it private."""
    state = stopped.home / 'made'
    state.mkdir(mode=0o755)
    assert stopped.run('start', '--state', state).status == 0
    assert state.stat().st_mode & 0o777 == 0o700
    assert stopped.good('stop', '--state', state) == 'Stopped\n'
    state.chmod(0o755)
    result = stopped.run('start', '--state', state)
    assert result.status == 1 and 'is open to others' in result.err


def test_start_with_relative_paths(stopped):
    config = stopped.work / 'my.conf'
    config.write_text('grace_s = 7 # seconds\n')
    result = stopped.run('start', '--state', 'here', '--config', 'my.conf', '--set', 'halflife_s=1:00:00,ties=slurm')
    assert result.status == 0
    assert (stopped.work / 'here/fairlead.sock').is_socket()
    settings = {row['name']: row['value'] for row in stopped.rows('set', '--socket', 'here/fairlead.sock')}
    assert (settings['grace_s'], settings['halflife_s'], settings['ties']) == ('7', '3600', 'slurm')
    assert stopped.good('stop', '--state', 'here') == 'Stopped\n'


def test_start_reports_the_daemons_error(stopped):
    config = stopped.work / 'my.conf'
    config.write_text('graze_s = 7\n')
    result = stopped.run('start', '--config', 'my.conf')
    assert (result.status, result.out) == (2, '')
    assert result.err == "fairlead start: %s:1:1: no setting 'graze_s'\n" % config
    config.write_text('grace_s = 7\nPriorityWeightTRES = petrol=1\n')
    result = stopped.run('start', '--config', 'my.conf')
    assert (result.status, result.out) == (2, '')
    assert result.err.startswith("fairlead start: the configuration file: PriorityWeightTRES: 'petrol' is not a tracked TRES")


def test_start_with_settings_that_are_refused(stopped):
    result = stopped.run('start', '--set', 'PriorityWeightTRES=petrol=1')
    assert (result.status, result.out) == (2, '')
    lines = result.err.splitlines()
    assert lines[0].endswith('was started, but its settings are unchanged') and 'petrol' in lines[1]
    assert stopped.good('stop') == 'Stopped\n'


@pytest.mark.parametrize('arguments, message', [
    (['--account', 'x'], '--account, --launcher-state, --cgroup and --allow-root require --system'),
    (['--launcher-state', '/x'], '--account, --launcher-state, --cgroup and --allow-root require --system'),
    (['--allow-root'], '--account, --launcher-state, --cgroup and --allow-root require --system'),
    (['--cgroup', '/x'], '--account, --launcher-state, --cgroup and --allow-root require --system'),
    (['--system', '--cgroup', 'x'], "--cgroup: 'x' is not an absolute path, such as /sys/fs/cgroup/fairlead"),
    (['--system', '--pretend', 'x.json'], '--pretend runs no job of other users: leave out --system'),
])
def test_start_refuses_options_of_the_other_kind(stopped, arguments, message):
    assert stopped.bad('start', *arguments, status=2) == 'fairlead start: ' + message


def test_stop_of_the_other_kind(instance):
    said = instance.run('stop', '--system', '--socket', instance.socket)
    assert said.status == (2 if os.geteuid() == 0 else 1) and said.err.count('\n') == 1
    assert ('is a private one' if os.geteuid() == 0 else 'only root may stop the instance of the system') in said.err
    assert 'Serves     %s only' % pwd.getpwuid(os.geteuid()).pw_name in instance.good('status')
    assert json.loads(instance.good('status', '--json')).get('serves_all', False) is False


def test_start_from_many_at_once(stopped):
    starts = [stopped.popen('start') for _ in range(5)]
    answers = [(process.communicate(), process.returncode) for process in starts]
    assert all(status == 0 for _, status in answers), answers
    assert len({out.split(b'process ')[1] for (out, _), _ in answers}) == 1


def test_stop_leaves_jobs_running(instance):
    running = instance.submit('-n', '4', '--', 'sleep', '1000')
    waiting = instance.submit('-n', '4', '--', 'true')
    instance.until_state(running, 'RUNNING')
    assert instance.good('stop') == "Stopped; 1 task keeps running, 1 pending; run 'fairlead start' to resume\n"
    instance.start()
    assert instance.job(running)['state'] == 'RUNNING'
    assert instance.job(waiting)['state'] == 'PENDING'
    assert instance.good('stop', '--jobs') == 'Cancelled 2 jobs\nStopped\n'
    instance.start()
    assert instance.job(running)['state'] == instance.job(waiting)['state'] == 'CANCELLED'


def test_a_socket_left_by_a_kill(instance):
    instance.kill()
    assert instance.socket.exists()
    assert instance.bad('queue', status=1) == \
        "fairlead queue: no instance answers at %s; run 'fairlead start' to start one" % instance.socket
    assert instance.start().startswith('Started: ')
    assert instance.run('queue').status == 0


def test_status(instance):
    tree(instance)
    instance.submit('-n', '3', '--mem', '1G', '--', 'sleep', '1000')
    instance.submit('--hold', '--', 'true')
    until(lambda: '1 pending, 1 running' in instance.good('status'), 'the job to run')
    out = instance.good('status')
    assert '1 of 4 CPUs, 3G of 4G memory free\n' in out
    for word in (str(instance.state), str(instance.socket), 'fair-tree', 'halflife_s', 'default_cpus', 'default_mem_mib',
                 'default_time_s'):
        assert word in out
    status = instance.json('status')
    assert status['host']['free_cpus'] == 1 and status['tasks']['running'] == 1
    assert status['version'] in instance.good('--version')


def test_set_prints_the_value_in_force(instance):
    assert instance.good('set', 'priorityDecayHalfLife=2-0', 'HOST_CPUS=AUTO', 'PriorityFavorSmall=yes') == (
        'Set halflife_s=172800 (2-00:00:00)\nSet host_cpus=auto\nSet PriorityFavorSmall=yes\n')
    assert instance.good('set', 'PriorityUsageResetPeriod=now') == 'Set PriorityUsageResetPeriod=NONE\n'
    assert instance.good('set', 'AccountingStorageTRES=license/a') == 'Set AccountingStorageTRES=gres/gpu,license/a\n'


def test_set(instance):
    before = {row['name']: row['value'] for row in instance.rows('set')}
    assert before['halflife_s'] == '604800' and before['grace_s'] == '1'
    assert instance.good('set', 'halflife_s=86400', 'default_mem_mib=2G') == (
        'Set halflife_s=86400 (1-00:00:00)\nSet default_mem_mib=2048 (2G)\n')
    after = {row['name']: row['value'] for row in instance.rows('set')}
    assert after == {**before, 'halflife_s': '86400', 'default_mem_mib': '2048'}
    assert instance.rows('set', 'Halflife_s', 'ties') == [row for row in instance.rows('set') if row['name'] in ('halflife_s', 'ties')]
    one = instance.good('set', 'PriorityDecayHalfLife').splitlines()
    assert len(one) == 2 and one[1].startswith('halflife_s  86400 s (1-00:00:00)  604800 s (7-00:00:00)  half-life of usage')
    table = instance.good('set')
    assert re.match(r'SETTING +VALUE +DEFAULT +MEANING\n', table)
    assert re.search(r'^halflife_s +86400 s \(1-00:00:00\) +604800 s \(7-00:00:00\) +half-life of usage', table, re.MULTILINE)
    assert {row['name']: row['value'] for row in instance.json('set')} == after
    instance.good('stop')
    instance.start()
    assert {row['name']: row['value'] for row in instance.rows('set')} == after


def test_verify(instance):
    assert instance.good('verify').endswith(': all agree\n')
    for _ in range(5):
        instance.submit('--', 'sleep', '0.1')
    until(lambda: len(instance.json('history')) == 5)
    instance.good('set', 'halflife_s=3600')
    assert re.fullmatch(r'checked 3 associations against 5 task records: all agree\n', instance.good('verify'))
    assert instance.json('verify') == {'associations': 3, 'usage_owners': 1, 'tasks': 5, 'pruned_tasks': 0,
                                       'differences': []}


def test_verify_finds_a_difference(instance):
    instance.good('wait', instance.submit('--', 'sleep', '0.2'))
    instance.good('stop')
    with contextlib.closing(sqlite3.connect(instance.state / 'fairlead.db')) as database, database:
        database.execute('UPDATE association SET usage_billing_s = usage_billing_s + 1 WHERE user IS NOT NULL')
    instance.start()
    result = instance.run('verify')
    assert (result.status, result.err) == (1, '')
    assert result.out.startswith('checked 3 associations against 1 task records: 1 differ\nACCOUNT ')
    assert 'fairlead backup FILE' in result.out and 'RawUsage=0' in result.out
    (row,) = json.loads(instance.run('verify', '--json').out)['differences']
    assert row['account'] == 'default' and abs(row['stored'] - row['recomputed'] - 1) < 1e-3


def test_a_damaged_row_hides_no_other(instance):
    ids = [instance.submit('--', 'true') for _ in range(2)]
    instance.good('wait', *ids)
    instance.good('stop')
    with contextlib.closing(sqlite3.connect(instance.state / 'fairlead.db')) as database, database:
        database.execute('UPDATE job SET cpus = 0, time_limit_s = -1, submit_us = 0 WHERE id = ?', ids[:1])
    instance.start()
    assert sorted(row['id'] for row in instance.rows('history')) == sorted(map(str, ids))
    assert instance.run('show', 'job', ids[0]).status == 0
    assert "job %d: cpus: '0' is not a whole number from 1 to 65536" % ids[0] in instance.bad('verify', status=1)


# ---- accounts, users, shares ----


def test_accounts(instance):
    assert instance.good('account', 'add', 'physics', '--shares', '50') == 'Added account physics\n'
    instance.good('account', 'add', 'optics', '-p', 'physics', '-s', 'parent')
    instance.good('account', 'add', 'bio')
    rows = {row['name']: row for row in instance.rows('account', 'show')}
    assert [(name, rows[name]['parent'], rows[name]['shares']) for name in ('root', 'physics', 'optics', 'bio')] == \
        [('root', '', '1'), ('physics', 'root', '50'), ('optics', 'physics', 'parent'), ('bio', 'root', '1')]
    assert re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ', rows['bio']['created'])
    assert instance.good('account', 'modify', 'bio', '--shares', '30', '--parent', 'physics') == 'Modified account bio\n'
    assert instance.rows('account', 'show', 'bio')[0]['parent'] == 'physics'
    assert instance.json('account', 'show', 'bio')[0]['shares'] == 30
    assert instance.good('account', 'delete', 'bio') == 'Deleted account bio\n'
    assert 'bio' not in instance.good('account', 'show')
    assert re.match(r'ACCOUNT +PARENT +SHARES +PRIORITY +CREATED +LIMITS\nroot ', instance.good('account', 'show'))


def test_users(instance):
    tree(instance)
    def rows(*arguments):
        return {(row['name'], row['account']): (row['shares'], row['default'])
                for row in instance.rows('user', 'show', *arguments)}
    assert rows() == {('test-alice', 'physics'): ('3', '0'), ('test-alice', 'bio'): ('1', '1'), ('test-bob', 'optics'): ('1', '1')}
    assert rows('test-alice') == {('test-alice', 'physics'): ('3', '0'), ('test-alice', 'bio'): ('1', '1')}
    assert rows('-A', 'bio') == {('test-alice', 'bio'): ('1', '1')}
    assert instance.good('user', 'modify', 'test-alice', '-A', 'physics', '--shares', 'parent', '--default') == 'Modified user test-alice\n'
    assert rows('test-alice') == {('test-alice', 'physics'): ('parent', '1'), ('test-alice', 'bio'): ('1', '0')}
    assert instance.good('user', 'delete', 'test-alice', '-A', 'bio') == 'Deleted user test-alice from account bio\n'
    assert instance.good('user', 'delete', 'test-bob') == 'Deleted user test-bob from account optics\n'
    assert rows() == {('test-alice', 'physics'): ('parent', '1')}
    assert instance.good('user', 'add', 'carol') == 'Added user carol to account default\n'
    assert rows('carol') == {('carol', 'default'): ('1', '1')}


def test_nothing_to_show(instance):
    result = instance.run('user', 'show')
    assert (result.status, result.out) == (0, '') and 'no users' in result.err
    result = instance.run('queue')
    assert (result.status, result.out, result.err) == (0, '', "no jobs; run 'fairlead submit' to submit one\n")
    result = instance.run('history')
    assert (result.status, result.out) == (0, '') and 'no ended jobs are in the history' in result.err
    # Programs get an empty listing without advice.
    assert instance.json('queue') == [] and instance.rows('queue') == []


def test_share(instance):
    tree(instance)
    parsable = instance.good('share', '-P')
    lines = parsable.splitlines()
    assert lines[0] == 'Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS'
    names = [tuple(line.split('|')[:3]) for line in lines[1:]]
    assert names[0][0] == 'root'
    assert (' physics', '', '50') in names and ('  physics', 'test-alice', '3') in names
    assert ('  optics', '', 'parent') in names and ('   optics', 'test-bob', '1') in names
    assert instance.good('share', '-P', '--noheader') == parsable.split('\n', 1)[1]

    # The same tree from the file command: usage is 0, so nothing else differs.
    assert instance.good('share', '-f', '-', '-P', text=parsable) == parsable
    assert instance.good('share', '-f', '-', text=parsable) == instance.good('share')

    rows = instance.json('share')
    assert {(row['account'], row['user']): row['raw_shares'] for row in rows}[('bio', 'test-alice')] == 1
    assert [row['user'] for row in instance.json('share', '-A', 'physics')][:2] == [None, 'test-alice']
    assert {row['account'] for row in instance.json('share', '-u', 'test-alice')} >= {'physics', 'bio'}


def amounts(text):
    return {name: float(value) for name, value in (item.split('=') for item in text.split(',') if item)}


def test_share_by_tres(instance):
    """The jobs have ended, so that only decay changes the numbers; an account has the sum of its users."""
    tree(instance)
    assert all(row['GrpTRESRaw'] == '' for row in instance.rows('share', '--tres'))
    for account, cpus in (('optics', 1), ('bio', 3)):
        instance.good('user', 'add', getpass.getuser(), '-A', account)
        instance.good('submit', '--wait', '-A', account, '-n', cpus, '--mem', '512M', '-o', '/dev/null', '--', 'sleep', '0.3')
    rows = {(row['Account'].strip(), row['User']): row for row in instance.rows('share', '--tres')}
    mine, account = rows['optics', getpass.getuser()], rows['optics', '']
    used = amounts(mine['GrpTRESRaw'])
    assert set(used) == {'cpu', 'mem', 'node', 'billing'}
    assert used['cpu'] == pytest.approx(float(mine['RawUsage']), rel=1e-9)
    assert used['mem'] / used['cpu'] == pytest.approx(512, rel=1e-9) and used['node'] == pytest.approx(used['cpu'], rel=1e-9)
    assert amounts(account['GrpTRESRaw']) == used
    everything, rest = amounts(rows['root', '']['GrpTRESRaw']), amounts(rows['bio', '']['GrpTRESRaw'])
    for name in used:
        assert everything[name] == pytest.approx(used[name] + rest[name], rel=1e-6)

    by_json = {(row['account'], row['user']): row['tres_raw'] for row in instance.json('share', '--tres', '-A', 'optics')}
    assert amounts(by_json['optics', getpass.getuser()]) == pytest.approx(used, rel=1e-4)
    assert all(row['tres_raw'] is None for row in instance.json('share'))
    table = instance.good('share', '-t')
    assert table.splitlines()[0].endswith('GrpTRESRaw') and 'cpu=%.0f,mem=%.0f,' % (everything['cpu'], everything['mem']) in table
    refused = instance.run('share', '--tres', '-f', '-', text='')
    assert refused.status == 2 and '--tres is not accepted with -f' in refused.err


def test_usage_grows_while_a_job_runs(instance):
    job = instance.submit('-n', '4', '--', 'sleep', '1000')
    instance.until_state(job, 'RUNNING')
    def used():
        return max(float(row['RawUsage']) for row in instance.rows('share'))
    first = until(used)
    until(lambda: used() > first)


# ---- jobs ----


def test_submit_and_show(instance):
    out = instance.good('submit', '-J', 'naïve', '-n', '2', '--mem', '1G', '-t', '1:30:00', '--', 'sh', '-c', 'echo "$1"', 'x', 'a b')
    assert out == 'Submitted job 1\n'
    assert instance.submit('--', 'true') == 2
    assert instance.good('wait', '1') == ''
    assert (instance.work / 'fairlead-1.out').read_text() == 'a b\n'
    row = instance.job(1)
    assert (row['name'], row['cpus'], row['mem_mib'], row['time_limit_s'], row['state'], row['exit_status']) == \
        ('naïve', 2, 1024, 5400, 'COMPLETED', 0)
    assert row['directory'] == str(instance.work) and row['account'] == 'default'
    out = instance.good('show', 'job', '1')
    for line in (r'Job           1', r'State         COMPLETED', r'Time limit    1:30:00', r'Memory        1G',
                 r'''Command       sh -c 'echo "\$1"' x 'a b\'''', r'Output        %s/fairlead-1.out' % instance.work):
        assert re.search('^' + line + '$', out, re.MULTILINE), (line, out)


def test_submit_a_script(instance):
    script = instance.work / 'job.sh'
    script.write_text('#!/bin/bash\necho "$BASH_VERSION" "$0" "$@" >&2\nsleep 0.2\npwd\n')
    job = instance.submit('-o', 'out.%x.%j', '-e', '%j.err', '-D', '..', 'job.sh', 'one', '--two', '-3')
    script.write_text('#!/bin/sh\nexit 9\n')  # has no effect: the script was copied at submission
    assert instance.run('wait', job).status == 0
    assert (instance.home / ('out.job.sh.%d' % job)).read_text() == str(instance.home) + '\n'
    err = (instance.home / ('%d.err' % job)).read_text()
    assert err.endswith(' one --two -3\n') and err[0].isdigit()
    assert instance.good('log', '-e', job) == err
    assert instance.job(job)['name'] == 'job.sh'
    from_input = instance.submit('-', 'x', text='#!/bin/sh\necho "$1" from input\n')
    instance.good('wait', from_input)
    assert instance.good('log', from_input) == 'x from input\n'


def test_no_limit_is_ten_years(instance):
    job = instance.submit('--hold', '-t', 'unlimited', '--', 'true')
    assert instance.job(job)['time_limit_s'] == 3660 * 86400
    instance.good('update', job, '-t', '1')
    assert instance.job(job)['time_limit_s'] == 60


def test_script_of_any_bytes(instance):
    (instance.work / 'bytes.sh').write_bytes(b'printf "\xff\xfe%s" "$1"\n')
    job = instance.submit('bytes.sh', b'\xe9'.decode('utf-8', 'surrogateescape'))
    instance.good('wait', job)
    assert (instance.work / ('fairlead-%d.out' % job)).read_bytes() == b'\xff\xfe\xe9'


def test_environment(instance):
    def environment(*options, **extra):
        job = instance.submit(*options, '--', 'env', environment={'MINE': 'a=b\nc', 'OTHER': 'o', 'FAIRLEAD_JOB_ID': '99', **extra})
        instance.good('wait', job)
        text = (instance.work / ('fairlead-%d.out' % job)).read_text()
        found = dict(re.findall(r'^([A-Z_]+)=(.*)$', text, re.MULTILINE))
        assert found.pop('FAIRLEAD_JOB_ID') == str(job)
        return found
    everything = environment()
    assert everything['MINE'] == 'a=b' and everything['OTHER'] == 'o' and everything['HOME'] == str(instance.home)
    assert everything['FAIRLEAD_CPUS'] == '1' and everything['FAIRLEAD_SUBMIT_DIR'] == str(instance.work)
    assert everything['FAIRLEAD_SOCKET'] == str(instance.socket) and 'FAIRLEAD_ARRAY_TASK_ID' not in everything
    places = {name: everything[name] for name in ('FAIRLEAD_PARTITION', 'FAIRLEAD_QUEUE', 'FAIRLEAD_SLOTS', 'FAIRLEAD_HOSTS')}
    assert places == {'FAIRLEAD_PARTITION': 'main', 'FAIRLEAD_QUEUE': 'main@localhost', 'FAIRLEAD_SLOTS': '1',
                      'FAIRLEAD_HOSTS': 'localhost:1'}
    assert 'FAIRLEAD_PE' not in everything
    instance.good('pe', 'add', 'mpi')
    instance.good('partition', 'add', 'wide', 'pe_list=mpi')
    wide = environment('-p', 'wide', '--pe', 'mpi', '-n', 2)
    assert (wide['FAIRLEAD_PE'], wide['FAIRLEAD_QUEUE'], wide['FAIRLEAD_HOSTS']) == ('mpi', 'wide@localhost', 'localhost:2')
    nothing = environment('--export', 'NONE')
    assert 'MINE' not in nothing and 'OTHER' not in nothing and nothing['PATH'] == everything['PATH']
    some = environment('--export', 'MINE,NEW=x')
    assert some['MINE'] == 'a=b' and some['NEW'] == 'x' and 'OTHER' not in some and 'HOME' in some
    more = environment('--export', 'ALL,OTHER=p,EMPTY=')
    assert more['MINE'] == 'a=b' and more['OTHER'] == 'p' and more['EMPTY'] == ''


def test_programs_are_found_by_path(instance):
    program = instance.work / 'tool'
    program.write_text('#!/bin/sh\necho "$0"\n')
    program.chmod(0o755)
    here = instance.submit('-D', '/', '-o', str(instance.work / 'a'), '--', './tool')
    there = instance.submit('-o', 'b', '--', 'tool', environment={'PATH': str(instance.work) + ':' + os.environ['PATH']})
    instance.good('wait', here, there)
    assert pathlib.Path((instance.work / 'a').read_text().strip()).resolve() == program
    assert (instance.work / 'b').read_text() == '%s\n' % program


def test_arrays(instance):
    array = instance.submit('--array', '0-9%2', '--', 'sh', '-c', 'echo task $FAIRLEAD_ARRAY_TASK_ID of $FAIRLEAD_ARRAY_JOB_ID; exit $((FAIRLEAD_ARRAY_TASK_ID == 4))')
    result = instance.run('wait', array)
    assert (result.status, result.err) == (1, 'job %d_4: FAILED, exit status 1\n' % array)
    assert instance.good('wait', '%d_3' % array) == ''
    assert instance.good('log', '%d_7' % array) == 'task 7 of %d\n' % array
    rows = instance.json('history')
    assert sorted(row['id'] for row in rows) == ['%d_%d' % (array, task) for task in range(10)]
    spans = sorted((row['start_us'], row['end_us']) for row in rows)
    assert all(sum(start <= time_us < end for start, end in spans) <= 2 for time_us, _ in spans)
    assert instance.job('%d_4' % array)['exit_status'] == 1


def test_many_separate_tasks(instance):
    """Tables and sentences shorten a set of tasks; -P and --json do not."""
    pairs = ','.join('%d,%d' % (10 * i, 10 * i + 3) for i in range(2500))
    array = instance.submit('--hold', '--array', pairs + '%7', '--', 'true')
    other = instance.submit('--hold', '--', 'true')
    whole, short = '%d_[%s%%7]' % (array, pairs), '%d_[0,3,10,13,20,23,30,33,40,43,...%%7]' % array
    for command in (['queue'], ['prio']):
        lines = instance.run(*command).out.splitlines()
        assert short in lines[1] and max(map(len, lines)) < 200, (command, lines[1][:300])
        assert [next(iter(row.values())) for row in instance.rows(*command)] == [whole, str(other)]
        assert [row['id'] for row in instance.json(*command)] == [whole, str(other)]
    assert len(instance.good('queue', '-o', 'id,array_tasks')) < 300
    shown = instance.good('show', 'job', array)
    assert re.search(r'^Job +%s$' % re.escape(short), shown, re.MULTILINE)
    assert re.search(r'^Tasks +0,3,10,[0-9,]{200,300},\.\.\. \(5000\), at most 7 at once$', shown, re.MULTILINE), shown
    instance.good('cancel', array)
    ended = short.replace('%7', '')  # the limit is that of tasks which have not started
    assert ended in instance.good('history')
    assert instance.run('wait', array).err == 'job %s: CANCELLED\n' % ended


def test_queue(instance):
    tree(instance)
    running = instance.submit('-J', 'one', '-n', '4', '-t', '2:00:00', '--mem', '512', '--', 'sleep', '1000')
    instance.until_state(running, 'RUNNING')
    array = instance.submit('--array', '3-9%2', '--', 'true')
    held = instance.submit('--hold', '-J', 'a|b', '--', 'true')
    rows = {row['id']: row for row in instance.rows('queue')}
    assert list(rows) == [str(running), '%d_[3-9%%2]' % array, str(held)]
    one = rows[str(running)]
    assert (one['name'], one['state'], one['time_limit_s'], one['cpus'], one['mem_mib'], one['gpus'], one['reason']) == \
        ('one', 'RUNNING', '7200', '4', '512', '0', '')
    assert rows['%d_[3-9%%2]' % array]['reason'] == 'Resources'
    assert rows[str(held)]['reason'] == 'JobHeldUser' and rows[str(held)]['name'] == 'a?b'
    table = instance.good('queue')
    assert re.match(r' *ID +NAME +USER +ACCOUNT +PARTITION +QOS +STATE +TIME +LIMIT +CPUS +MEM +GPUS +RANK +REASON\n', table)
    assert re.search(r'^ +%d +one +\S+ +default +main +normal +RUNNING +0:\d\d +2:00:00 +4 +512M +- +-  -$' % running, table, re.MULTILINE)
    for word in ('running', 'RUNNING', 'R', 'r'):
        assert [row['id'] for row in instance.rows('queue', '--state', word)] == [str(running)]
    assert [row['id'] for row in instance.rows('queue', '--state', 'pd')] == list(rows)[1:]
    assert [row['id'] for row in instance.rows('queue', '-A', 'default', '-u', one['user'])] == list(rows)
    result = instance.run('queue', '-A', 'bio')
    assert (result.status, result.out) == (0, '') and 'no matching jobs' in result.err
    instance.good('cancel', '--all')
    instance.until_state(running, 'CANCELLED')
    assert instance.rows('queue') == []
    assert len(instance.rows('queue', '--all')) == 3


def test_names_that_are_unknown_are_told(instance):
    """Where a name may be of the past or of the future it is no error."""
    def told(kind, *arguments):
        result = instance.run(*arguments)
        return result.status == 0 and "fairlead %s: no %s 'nope' is known here; run " % (arguments[0], kind) in result.err
    for verb in 'queue', 'history', 'report', 'cancel', 'hold', 'release', 'requeue', 'suspend':
        assert told('user', verb, '-u', 'nope'), verb
    assert told('user', 'cancel', '-u', '%s,nope' % ME) and told('account', 'report', '-A', 'nope')
    assert instance.run('requeue', '-s', 'failed', '-u', 'nope').err.count('nope') == 1
    for verb in 'queue', 'history', 'cancel', 'hold':
        assert "no account 'nope'" in instance.bad(verb, '-A', 'nope')
    job = instance.submit('--', 'true')
    instance.until_state(job, 'COMPLETED')
    for arguments in ('report', '-u', ME, '--until', '1d'), ('queue', '-u', ME), ('cancel', '-u', ME):
        assert 'is known here' not in instance.run(*arguments).err, arguments


def test_users_of_lists_and_rules_may_come_later(instance):
    """They are told, and the objects are made all the same."""
    note = "fairlead %s: no user 'nope' is known here; run 'fairlead user show' to list those that you may see\n"
    rules = 'rules=limit users nope,@chem,x* to slots=1; limit users {*} to slots=2'
    instance.good('department', 'add', 'chem')
    for command, field in ('quota', rules), ('partition', 'user_lists=nope,@chem'):
        for verb in 'add', 'modify':
            result = instance.run(command, verb, 'new', field)
            assert (result.status, result.err) == (0, note % (command + ' ' + verb)), result
    assert "'foo' in rule 1 is not a resource" in instance.bad('quota', 'add', 'bad', 'rules=limit users nope to foo=1')
    assert [row['name'] for row in instance.json('quota', 'show')] == ['new']


def test_hold_and_release(instance):
    job = instance.submit('--hold', '--', 'true')
    time.sleep(0.3)
    assert instance.job(job)['state'] == 'PENDING'
    assert instance.good('release', job) == 'Released 1 job\n'
    assert instance.good('wait', job) == ''
    instance.submit('-n', '4', '--', 'sleep', '1000')
    later = instance.submit('-n', '4', '--', 'true')
    assert instance.good('hold', later) == 'Held 1 job\n'
    assert instance.good('hold', later) == 'No jobs to hold\n'
    assert instance.job(later)['reason'] == 'JobHeldUser'
    assert instance.job(later)['held'] is True


def test_cancel(instance):
    first, second = instance.submit('--', 'sleep', '1000'), instance.submit('--hold', '--', 'true')
    array = instance.submit('--hold', '--array', '0-9', '--', 'true')
    instance.until_state(first, 'RUNNING')
    instance.good('set', 'grace_s=600')
    assert instance.good('cancel', first, second, first) == 'Cancelled 2 jobs\n'
    assert instance.until_state(first, 'CANCELLED')['signal'] == signal.SIGTERM
    assert instance.job(second)['state'] == 'CANCELLED'
    assert instance.good('cancel', '%d_[1-3]' % array, '%d_7' % array, '%d_7' % array) == 'Cancelled 4 tasks\n'
    assert [row['id'] for row in instance.rows('queue')] == ['%d_[0,4-6,8-9]' % array]
    assert instance.good('cancel', '--all').startswith('Cancelled ')
    assert instance.rows('queue') == []
    assert instance.good('cancel', '--all') == 'No jobs to cancel\n'


ME = pwd.getpwuid(os.geteuid()).pw_name


def test_refused_ids_do_not_keep_the_others(instance):
    ended, waiting = instance.submit('--', 'true'), instance.submit('--hold', '--begin', 'now+1hour', '--', 'true')
    array = instance.submit('--hold', '--array', '0-9', '--', 'true')
    instance.until_state(ended, 'COMPLETED')
    refused = 'job %d has already ended (COMPLETED)\n' % ended
    for verb, done in ('hold', 'No jobs to hold\n'), ('release', 'Released 1 job\n'), ('hold', 'Held 1 job\n'):
        result = instance.run(verb, waiting, ended)
        if done.startswith('No'):
            assert (result.status, result.out, result.err) == (2, '', 'fairlead hold: ' + refused)
        else:
            assert (result.status, result.out, result.err) == (1, done, 'fairlead %s: %s' % (verb, refused))
    result = instance.run('requeue', 99, waiting)
    assert (result.status, result.out) == (2, '')
    assert result.err == ('fairlead requeue: no job 99\nfairlead requeue: job %d is pending; '
                          'only a running or ended job can be requeued\n' % waiting)
    result = instance.run('cancel', waiting, ended, 99)
    assert (result.status, result.out) == (1, 'Cancelled 1 job\n')
    assert result.err == 'fairlead cancel: %sfairlead cancel: no job 99\n' % refused
    result = instance.run('cancel', '%d_[8-10]' % array)
    assert (result.status, result.out) == (1, 'Cancelled 2 tasks\n')
    assert result.err == 'fairlead cancel: job %d has no task 10\n' % array
    result = instance.run('cancel', *range(1000, 1030))
    assert result.status == 2 and result.err.count('\n') == 21 and result.err.endswith('and 10 more\n')


def test_jobs_are_selected(instance):
    for account in 'optics', 'physics':
        instance.good('account', 'add', account)
        instance.good('user', 'add', ME, '-A', account)
    instance.good('partition', 'add', 'night')
    instance.good('set', 'host_cpus=1')
    runs = instance.submit('-J', 'sweep', '--array', '0-3', '--', 'sleep', '1000')
    physics = instance.submit('-A', 'physics', '--hold', '--', 'true')
    night = instance.submit('-p', 'main,night', '--hold', '-J', 'other', '--', 'true')
    instance.until_state('%d_0' % runs, 'RUNNING')
    before = instance.rows('queue')
    assert instance.good('cancel', '--all', '--dry-run') == 'Would cancel 3 jobs\n  %d\n  %d\n  %d\n' % (
        runs, physics, night)
    assert instance.good('cancel', '%d_2' % runs, '--dry-run') == 'Would cancel 1 task\n  %d_2\n' % runs
    assert instance.good('cancel', runs, '%d_3' % runs, '--dry-run') == 'Would cancel 1 job\n  %d\n' % runs
    every = ['%d_%d' % (runs, task) for task in range(4)]
    assert instance.good('cancel', *every, runs, '--dry-run') == 'Would cancel 4 jobs\n' + ''.join(
        '  %s\n' % task for task in every)
    assert instance.good('requeue', runs, '%d_0' % runs, '--dry-run') == 'Would requeue 1 job\n  %d\n' % runs
    assert '--name is given twice; give it once' in instance.bad('cancel', '-J', 'sweep', '-J', 'other')
    assert instance.good('release', '--all', '--dry-run') == 'Would release 2 jobs\n  %d\n  %d\n' % (physics, night)
    assert instance.good('requeue', '--all', '--dry-run') == 'Would requeue 1 job\n  %d\n' % runs
    strip = lambda rows: [(row['id'], row['state'], row['reason']) for row in rows]
    assert strip(instance.rows('queue')) == strip(before)
    assert "no account 'nowhere'" in instance.bad('cancel', '-A', 'nowhere')
    assert "no partition 'nowhere'" in instance.bad('hold', '-p', 'nowhere')
    assert "no qos 'nowhere'" in instance.bad('release', '-q', 'nowhere')
    assert "--state: 'ended' is not pending, running or suspended" in instance.bad('cancel', '--state', 'ended')
    assert instance.good('cancel', '-J', 'nothing') == 'No jobs to cancel\n'
    assert instance.run('cancel', '-u', 'nobody-at-all').out == 'No jobs to cancel\n'
    assert instance.good('release', '-p', 'night') == 'Released 1 job\n'
    assert instance.good('cancel', '--state', 'r', '-J', 'sweep', '--dry-run').startswith('Would cancel 1 job')
    assert instance.good('cancel', '--state', 'PD', '-J', 'sweep') == 'Cancelled 1 job\n'
    assert instance.job('%d_0' % runs)['state'] == 'RUNNING'
    assert instance.good('cancel', '-A', 'physics') == 'Cancelled 1 job\n'
    assert instance.good('cancel', '--state', 'running', '-u', ME) == 'Cancelled 1 job\n'
    instance.until_state(night, 'COMPLETED')
    assert instance.good('cancel', '--all') == 'No jobs to cancel\n'


def test_update(instance):
    job = instance.submit('--hold', '--', 'true')
    array = instance.submit('--hold', '--array', '0-9', '--', 'true')
    assert instance.good('update', job, '-t', '2:00:00', '-n', '2', '--mem', '1G', '-J', 'other') == 'Updated job %d\n' % job
    row = instance.job(job)
    assert (row['time_limit_s'], row['cpus'], row['mem_mib'], row['name'], row['gpus']) == (7200, 2, 1024, 'other', 0)
    instance.good('update', array, '--array-limit', '3')
    assert instance.rows('queue')[1]['id'] == '%d_[0-9%%3]' % array
    instance.good('update', array, '--array-limit', '0')
    assert instance.rows('queue')[1]['id'] == '%d_[0-9]' % array


def test_wait_has_the_jobs_status(instance):
    good = instance.submit('--', 'true')
    three = instance.submit('--', 'sh', '-c', 'exit 3')
    killed = instance.submit('--', 'sh', '-c', 'kill -9 $$')
    unstarted = instance.submit('-o', '/nowhere/out', '--', 'true')
    cancelled = instance.submit('--hold', '--', 'true')
    instance.good('cancel', cancelled)
    late = instance.submit('-t', '0:01', '--', 'sleep', '1000')
    expected = {good: (0, ''), three: (3, 'FAILED, exit status 3'), killed: (137, 'FAILED, signal 9 (Killed)'),
                unstarted: (119, 'FAILED'), cancelled: (120, 'CANCELLED'), late: (121, 'TIMEOUT')}
    for job, (status, text) in expected.items():
        result = instance.run('wait', job)
        assert (result.status, result.out) == (status, ''), result
        assert result.err.startswith('job %d: %s' % (job, text) if text else ''), result
    assert instance.run('wait', good, killed, three).status == 137
    assert instance.run('wait', good, good).status == 0
    result = instance.run('submit', '--wait', '--', 'sh', '-c', 'exit 7')
    assert result.status == 7 and result.out.startswith('Submitted job ')


def connections(instance):
    """The number of connections that the daemon has accepted."""
    def is_accepted(line):
        fields = line.split()
        return len(fields) == 8 and fields[5] == '03' and fields[7] == str(instance.socket)
    return sum(map(is_accepted, pathlib.Path('/proc/net/unix').read_text().splitlines()))


def test_wait_outlives_the_daemon(instance):
    job = instance.submit('--', 'sh', '-c', 'while ! test -e go; do sleep 0.1; done; exit 5')
    instance.until_state(job, 'RUNNING')
    waiter = instance.popen('wait', job)
    until(lambda: connections(instance) == 1, 'the waiter to be connected')
    instance.kill()
    assert b'retrying for 60 s' in waiter.stderr.readline()
    assert waiter.poll() is None
    (instance.work / 'go').touch()
    time.sleep(0.3)
    instance.start()
    out, err = waiter.communicate(timeout=PATIENCE)
    assert waiter.returncode == 5 and out == b'' and err.startswith(b'job %d: FAILED' % job)


def test_wait_gives_up(instance):
    job = instance.submit('--', 'sleep', '1000')
    waiter = instance.popen('wait', '--retry', '1', job)
    until(lambda: connections(instance) == 1, 'the waiter to be connected')
    instance.kill()
    assert waiter.wait(timeout=PATIENCE) == 1
    instance.start()


def test_log_of_a_pending_task(instance):
    instance.good('set', 'host_cpus=1')
    array = instance.submit('--hold', '--array', '0-9', '--', 'sh', '-c', 'echo task $FAIRLEAD_ARRAY_TASK_ID')
    assert 'job %d_3 has not started: PENDING (JobHeldUser)' % array in instance.bad('log', '%d_3' % array)
    assert instance.run('log', array).err == '10 tasks have not started\n'
    follower = instance.popen('log', '-f', '%d_3' % array)
    instance.good('release', array)
    assert follower.communicate(timeout=60)[0] == b'task 3\n'
    assert follower.returncode == 0


def test_log(instance):
    job = instance.submit('--', 'sh', '-c', 'echo one; while ! test -e go; do sleep 0.1; done; echo two; exit 3')
    until(lambda: instance.run('log', job).out == 'one\n')
    follower = instance.popen('log', '-f', job)
    assert follower.stdout.readline() == b'one\n'
    (instance.work / 'go').touch()
    assert follower.stdout.readline() == b'two\n'
    assert follower.wait(timeout=PATIENCE) == 0
    assert instance.good('log', job) == instance.good('log', '-f', job) == 'one\ntwo\n'

    waiting = instance.submit('--hold', '--', 'echo', 'late')
    assert instance.bad('log', waiting) == 'fairlead log: job %d has not started: PENDING (JobHeldUser)' % waiting
    follower = instance.popen('log', '-f', waiting)
    assert follower.stderr.readline() == (b'fairlead log: job %d waits: PENDING (JobHeldUser); its output follows when it has started\n'
                                          % waiting)
    instance.good('release', waiting)
    assert follower.communicate(timeout=PATIENCE)[0] == b'late\n'



def test_following_outlives_the_daemon(instance):
    job = instance.submit('--', 'sh', '-c', 'echo one; while ! test -e go; do sleep 0.1; done; echo two')
    instance.until_state(job, 'RUNNING')
    follower = instance.popen('log', '-f', job)
    assert follower.stdout.readline() == b'one\n'
    instance.kill()
    time.sleep(1.2)
    (instance.work / 'go').touch()
    assert follower.stdout.readline() == b'two\n'
    assert follower.poll() is None
    instance.start()
    assert follower.communicate(timeout=PATIENCE) == (b'', b'') and follower.returncode == 0


def test_history(instance):
    jobs = [instance.submit('-J', 'job%d' % i, '--', 'sh', '-c', 'exit %d' % i) for i in range(4)]
    instance.run('wait', *jobs)
    killed = instance.submit('--', 'sh', '-c', 'kill -9 $$')
    instance.run('wait', killed)
    rows = instance.rows('history')
    assert sorted(int(row['id']) for row in rows) == jobs + [killed]
    assert int(rows[-1]['id']) == killed
    by_id = {int(row['id']): row for row in rows}
    assert [by_id[job]['exit_status:signal'] for job in jobs] == ['0:0', '1:0', '2:0', '3:0']
    assert by_id[killed]['exit_status:signal'] == '0:9'
    statuses = {row['job_id']: (row['exit_status'], row['signal']) for row in json.loads(instance.good('history', '--json'))}
    assert statuses == {**{job: (i, 0) for i, job in enumerate(jobs)}, killed: (None, 9)}
    table = instance.good('history')
    assert re.match(r' *ID +NAME +USER +ACCOUNT +STATE +EXIT +ELAPSED +CPUS +MAXMEM +ENDED\n', table)
    assert re.search(r'^ +%d +sh +\S+ +default +FAILED +signal 9 +0:\d\d ' % killed, table, re.MULTILINE)
    assert [int(row['id']) for row in instance.rows('history', '--limit', '1')] == [killed]
    assert len(instance.rows('history', '--limit', '0')) == 5
    assert instance.rows('history', '--until', '2020-01-01T00:00Z') == []
    for since in ('1h', 'now-1hour', 'yesterday', '2d', '90m', '1.5h'):
        assert len(instance.rows('history', '--since', since)) == 5, since
    assert instance.rows('history', '--until', '1h') == []
    assert len(instance.rows('history', '--since', '2020-01-01T00:00Z')) == 5
    assert {row['id'] for row in instance.rows('history', str(jobs[2]), str(killed))} == {str(jobs[2]), str(killed)}
    assert [row['id'] for row in instance.rows('history', '-s', 'cd')] == [str(jobs[0])]
    failed = {str(job) for job in (*jobs[1:], killed)}  # in any order: they may end in another one than they started
    assert {row['id'] for row in instance.rows('history', '--state', 'F')} == failed
    assert {row['id'] for row in instance.rows('queue', '--state', 'failed')} == failed
    assert "'now' is not a job id" in instance.bad('history', 'now')
    assert instance.rows('history', '-A', 'default', '-u', by_id[killed]['user']) == rows


def test_history_of_a_program_that_never_ran(instance):
    """It has no exit status, not the status 0."""
    job = instance.submit('-o', '/nowhere/out', '--', 'true')
    assert instance.run('wait', job).status == 119
    assert instance.rows('history')[0]['exit_status:signal'] == ''
    row = instance.job(job)
    assert (row['state'], row['exit_status'], row['signal']) == ('FAILED', None, None)
    assert re.search(r'^ *%d +true +\S+ +default +FAILED +- ' % job, instance.good('history'), re.MULTILINE)


def test_status_says_which_cpus_are_not_kept(instance):
    """Jobs on CPUs that the machine lacks are bound to none."""
    instance.good('set', 'host_cpus=auto')
    assert 'above the' not in instance.good('status')
    instance.good('set', 'host_cpus=4096')
    line = next(line for line in instance.good('status').splitlines() if ' CPUs: ' in line)
    if 'CPUs: none' in line:
        pytest.skip('nothing binds jobs to CPUs here')
    assert re.search(r'does not prevent use of all CPUs by jobs with a CPU above the \d+ of this machine \(host_cpus is 4096\)$', line), line


# ---- output ----


def test_a_full_disk_is_no_success(shared):
    with open('/dev/full', 'w') as full:
        result = subprocess.run([FAIRLEAD, 'status'], env=shared.environment, stdout=full, stderr=subprocess.PIPE)
    assert result.returncode == 1 and b'No space left' in result.stderr


def test_control_characters_do_not_reach_the_terminal(instance):
    instance.submit('--hold', '--', 'echo', '\033[31mred\nline')
    job = instance.json('queue')[0]
    assert '\033' not in instance.good('queue') + instance.good('show', 'job', job['id'])


def test_control_characters_of_a_directory(instance):
    """U+009B is ESC [ as one character. The job runs in such a directory nevertheless."""
    folder = instance.work / 'a\x9b31mb'
    folder.mkdir()
    job = instance.submit('-D', folder, '--', 'true')
    instance.good('wait', job)
    assert '\x9b' not in instance.good('show', 'job', job) + instance.good('show', 'job', job, '--json')
    assert instance.job(job)['directory'] == str(folder)


def test_control_characters_of_a_state_directory(stopped):
    folder = stopped.home / 'a\033[31mb'
    for first in ('Started', 'Already running'):
        result = stopped.run('start', '--state', folder)
        assert result.status == 0 and result.out.startswith(first + ': ')
        assert result.out.endswith(', state in %s\n' % str(folder).replace('\033', '?')) and '\033' not in result.err
    result = stopped.run('status', '--socket', folder / 'fairlead.sock')
    assert result.status == 0 and str(folder).replace('\033', '?') in result.out and '\033' not in result.out
    stopped.good('stop', '--state', folder)


def test_lines_of_another_program(stopped):
    """What listens at the socket need not be an instance."""
    path = stopped.home / 'other.sock'
    text = 'Account|User\nred\033[31m\x9b1m|x\n'.encode()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        child = stopped.popen('share', '-P', '--socket', path)
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n' % len(text) + text)
            assert child.communicate(timeout=PATIENCE) == (b'Account|User\nred?[31m??1m|x\n', b'')


@pytest.mark.slow
def test_a_loop_of_submits(instance):
    """Scripts call submit in loops. The bound is loose: it compares with the time that as many other commands and synced writes
    to the same disk take. bench/ measures the rate."""
    def seconds(action):
        begin = time.monotonic()
        for _ in range(50):
            action()
        return time.monotonic() - begin

    def write():
        with open(instance.state / 'written', 'wb') as file:
            file.write(b'x' * 4096)
            os.fsync(file.fileno())

    yardstick = seconds(lambda: instance.good('status')) + seconds(write)
    assert seconds(lambda: instance.submit('--hold', '--', 'true')) < 5 + 5 * yardstick
    assert len(instance.rows('queue')) == 50


def test_show_of_an_array_begins_with_totals(instance):
    instance.good('set', 'host_cpus=4')
    array = instance.submit('--array', '0-5,9', '--', 'sh', '-c', 'case $FAIRLEAD_ARRAY_TASK_ID in 2|3|9) exit 1;; esac')
    until(lambda: instance.rows('queue') == [], 'the array has ended')
    lines = instance.good('show', 'job', array).splitlines()
    assert lines[0].split() == ['Array', str(array)]
    assert sorted(lines[1].split(': ')[1].split(', ')) == ['3 FAILED', '4 COMPLETED'] and lines[1].startswith('Tasks         7: ')
    assert lines[2].split() == ['Progress', '[######################xxxxxxxxxxxxxxxxxx]', '7', 'of', '7', 'ended']
    assert sorted(line.split() for line in lines[3:5]) == [['COMPLETED', '0-1,4-5'], ['FAILED', '2-3,9']]
    assert lines[5] == '' and lines[6].split() == ['Name', 'sh'] and '' not in lines[6:]
    assert instance.good('show', 'job', array, '--tasks').count('\nState ') == 7
    assert instance.good('show', 'job', '%d_3' % array).startswith('Job           %d_3\n' % array)
    assert len(instance.rows('show', 'job', array)) == 7
    live = instance.submit('--array', '0-7%2', '--', 'sleep', 600)
    instance.until_state('%d_1' % live, 'RUNNING')
    instance.until_state('%d_0' % live, 'RUNNING')
    shown = instance.good('show', 'job', live)
    assert '  RUNNING     0-1\n' in shown and '  PENDING (JobArrayTaskLimit) 2-7\n' in shown
    assert shown.count('\nState ') == 1 and '\nJob           %d_[2-7%%2]\n' % live in shown
    instance.good('cancel', live)


def test_tasks_at_equal_distances_are_short(instance):
    array = instance.submit('--hold', '--array', '1-9:2,20%2', '--', 'true')
    assert instance.good('queue').splitlines()[1].split()[0] == '%d_[1-9:2,20%%2]' % array
    assert '\n  PENDING (JobHeldUser) 1-9:2,20\n' in instance.good('show', 'job', array)
    assert [row['id'] for row in instance.rows('queue')] == ['%d_[1,3,5,7,9,20%%2]' % array]


def test_a_row_stands_for_several_tasks(instance):
    array = instance.submit('--array', '1-5%1', '--', 'sh', '-c', 'test -e "$HOME/flag" && exec sleep 100; touch "$HOME/flag"; exit 3')
    instance.until_state('%d_2' % array, 'RUNNING')
    instance.good('cancel', array)
    assert instance.run('wait', array).err == 'job %d_1: FAILED, exit status 3; of its other tasks 4 CANCELLED\n' % array


@pytest.mark.parametrize('damage', ["DELETE FROM job_script WHERE job_id = %d",
                                    "UPDATE job_script SET arguments = x'74727565' WHERE job_id = %d"])
def test_a_script_that_cannot_be_read_fails_its_job_alone(instance, damage):
    damaged, other = instance.submit('--hold', '--', 'true'), instance.submit('--hold', '--', 'true')
    instance.good('stop')
    with contextlib.closing(sqlite3.connect(instance.state / 'fairlead.db')) as database, database:
        database.execute(damage % damaged)
    instance.start()
    instance.good('release', damaged)
    assert instance.until_state(damaged, 'FAILED')['detail']
    instance.good('release', other)
    instance.until_state(other, 'COMPLETED')
    assert instance.json('status')['launch_failure'] is None
