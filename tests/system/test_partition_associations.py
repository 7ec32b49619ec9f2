"""Associations of one partition by the command line: added, listed, changed, charged, dumped and deleted."""
import os
import pwd

import pytest

ME = pwd.getpwuid(os.geteuid()).pw_name


@pytest.fixture
def tree(instance):
    """root > physics: ME, also for the partition gpu."""
    instance.good('set', 'host_cpus=2', 'halflife_s=0', 'AccountingStorageEnforce=associations,limits,qos,safe')
    instance.good('partition', 'add', 'gpu')
    instance.good('account', 'add', 'physics')
    assert instance.good('user', 'add', ME, '-A', 'physics') == 'Added user %s to account physics\n' % ME
    assert instance.good('user', 'add', ME, '-A', 'physics', '--partition', 'gpu', '--shares', '3', 'GrpJobs=1') == \
        'Added user %s to account physics for partition gpu\n' % ME
    return instance


def users(instance):
    return {(row['account'], row['partition']): (row['shares'], row['limits']) for row in instance.rows('user', 'show', ME)}


def test_lists(tree):
    assert users(tree) == {('physics', ''): ('1', ''), ('physics', 'gpu'): ('3', 'GrpJobs=1')}
    assert [(row['account'], row['partition']) for row in tree.json('user', 'show')] == [('physics', None), ('physics', 'gpu')]
    assert tree.good('user', 'show').splitlines()[0].split()[:4] == ['USER', 'ACCOUNT', 'PARTITION', 'SHARES']
    table = [line.split() for line in tree.good('share').splitlines()]
    assert table[0][:4] == ['Account', 'User', 'Partition', 'RawShares']
    assert ['physics', ME, 'gpu', '3'] in [line[:4] for line in table]
    assert tree.good('share', '-P').splitlines()[0].split('|')[:3] == ['Account', 'User', 'RawShares']
    rows = tree.rows('share', '-m', '-P')
    assert [(row['User'], row['Partition'], row['RawShares']) for row in rows] == [
        ('', '', ''), ('', '', '1'), (ME, '', '1'), (ME, 'gpu', '3')]
    assert [row['partition'] for row in tree.json('share', ME)] == [None, None, None, 'gpu']
    parsable = tree.good('share', '-m', '-P')
    assert tree.good('share', '-f', '-', '-m', '-P', text=parsable) == parsable
    assert tree.good('share', '-f', '-', text=parsable) == tree.good('share')


def test_a_table_has_the_column_only_if_there_is_one(tree):
    assert tree.good('user', 'delete', ME, '-A', 'physics', '--partition', 'gpu') == \
        'Deleted user %s from account physics for partition gpu\n' % ME
    assert users(tree) == {('physics', ''): ('1', '')}
    assert 'PARTITION' not in tree.good('user', 'show')
    assert 'Partition' not in tree.good('share')
    assert 'PARTITION' in tree.good('user', 'show', '-o', 'name,partition')
    assert 'partition' in tree.good('user', 'show', '-P').splitlines()[0].split('|')


def test_changes(tree):
    assert tree.good('user', 'modify', ME, '-A', 'physics', 'Partition=gpu', 'GrpJobs=2') == 'Modified user %s\n' % ME
    tree.good('user', 'modify', ME, '-A', 'physics', '--shares', '5')
    assert users(tree) == {('physics', ''): ('5', ''), ('physics', 'gpu'): ('3', 'GrpJobs=2')}
    tree.good('user', 'modify', ME, 'MaxJobs=9')
    assert users(tree) == {('physics', ''): ('5', 'MaxJobs=9'), ('physics', 'gpu'): ('3', 'GrpJobs=2 MaxJobs=9')}
    tree.good('user', 'delete', ME, '-A', 'physics')
    assert list(users(tree)) == [('physics', 'gpu')]
    tree.good('user', 'add', ME, '-A', 'physics', 'Partition=main', 'MaxJobs=4')
    assert users(tree)['physics', 'main'] == ('1', 'MaxJobs=4')


@pytest.mark.parametrize('command, part', [
    (['user', 'add', ME, '-A', 'physics', '--partition', 'gpu'], "is already in account 'physics' for partition 'gpu'"),
    (['user', 'add', ME, '-A', 'physics', '--partition', 'none'], "no partition 'none'"),
    (['user', 'add', ME, '-A', 'physics', '--partition', 'main', 'Partition=gpu'], '--partition and Partition=gpu: only one of them'),
    (['user', 'modify', ME, 'Partition=gpu', 'Partition=main', 'MaxJobs=1'], 'Partition is given twice'),
    (['user', 'modify', ME, '--partition', 'main', 'MaxJobs=1'], "is not in any account for partition 'main'"),
    (['user', 'modify', ME, 'Partition=gpu', 'fshare=3'], "'fshare=3' and options: only one of them is accepted"),
    (['user', 'modify', ME, '--partition', 'gpu'], 'nothing to change'),
    (['user', 'delete', ME, '--policy', '--partition', 'gpu'], '--policy and --partition: only one of them is accepted'),
    (['account', 'add', 'new', 'Partition=gpu'], 'Partition=gpu: only users have associations of one partition'),
    (['partition', 'delete', 'gpu'], "partition 'gpu' is in use: user '%s' is in account 'physics' for it; delete that first" % ME),
])
def test_refuses(tree, command, part):
    before = users(tree)
    assert part in tree.bad(*command)
    assert users(tree) == before


def test_jobs(tree):
    first = tree.submit('-p', 'gpu', '--', 'sleep', '1000')
    tree.until_state(first, 'RUNNING')
    second = tree.submit('-p', 'gpu', '--', 'sleep', '1000')
    in_main = tree.submit('-p', 'main', '--', 'sleep', '0.3')
    tree.until_state(in_main, 'COMPLETED')
    assert {row['id']: row['reason'] for row in tree.rows('queue')}[str(second)] == 'AssocGrpJobsLimit'
    assert "user '%s' in account 'physics' for partition 'gpu' has GrpJobs=1; 1 in use" % ME in \
        tree.run('check', str(second)).out
    assert 'has 2 jobs pending or running in account \'physics\' for partition \'gpu\'; cancel them first' in \
        tree.bad('user', 'delete', ME, '-A', 'physics', '--partition', 'gpu')
    assert "is in use by 2 live jobs" in tree.bad('partition', 'delete', 'gpu')
    tree.good('stop')
    tree.start()
    tree.good('cancel', first)
    tree.until_state(second, 'RUNNING')
    tree.good('cancel', second)
    tree.until_state(second, 'CANCELLED')
    usage = {(row['user'], row['partition']): row['raw_usage'] for row in tree.json('share')}
    assert usage[ME, 'gpu'] > 0 and usage[ME, None] > 0
    assert abs(usage[None, None] - usage[ME, 'gpu'] - usage[ME, None]) < 1e-6 * usage[None, None]
    assert 'all agree' in tree.good('verify')
    document = tree.good('scenario', 'dump')
    assert tree.good('share', '-f', '-', '-m', '-P', text=document) == tree.good('share', '-m', '-P')
    tree.good('user', 'delete', ME, '-A', 'physics', '--partition', 'gpu')
    assert 'all agree' in tree.good('verify')


def test_a_user_for_one_partition_only(tree):
    tree.good('user', 'delete', ME, '-A', 'physics')
    assert "user '%s' is not in account 'physics' for partition 'main'" % ME in tree.bad('submit', '--', 'true')
    assert "user '%s' is not in account 'physics' for partition 'main'" % ME in tree.bad('submit', '-p', 'gpu,main', '--', 'true')
    tree.until_state(tree.submit('-p', 'gpu', '--', 'true'), 'COMPLETED')
