"""Limits of accounts, users and QOS as commands set, list and refuse them, and as they survive a restart and a document."""
import json
import os
import pwd

import pytest

ME = pwd.getpwuid(os.geteuid()).pw_name


@pytest.fixture(scope='module')
def tree(shared):
    """root > physics: test-ann; root > chem: test-ann; QOS long."""
    shared.good('account', 'add', 'physics', 'GrpJobs=10', 'GrpTRES=cpu=64')
    shared.good('account', 'add', 'chem')
    for account in ('physics', 'chem'):
        shared.good('user', 'add', 'test-ann', '-A', account)
    shared.good('qos', 'add', 'long', 'MaxTRESPU=cpu=8', 'MaxJobsPU=3')
    return shared


def limits_of(instance, kind, name, **where):
    (row,) = [row for row in instance.rows(kind, 'show') if row['name'] == name and where.items() <= row.items()]
    return row['limits']


def test_limits_are_set_and_listed(tree):
    assert tree.good('account', 'modify', 'physics', 'GrpTRES=mem=8G', 'maxwall=2-0') == 'Modified account physics\n'
    assert limits_of(tree, 'account', 'physics') == 'GrpJobs=10 GrpTRES=cpu=64,mem=8192 MaxWall=2-00:00:00'
    tree.good('account', 'modify', 'physics', 'GrpTRES=cpu=-1', 'GrpJobs=-1')
    tree.good('account', 'modify', 'root', 'MaxSubmit=5000')
    tree.good('user', 'modify', 'test-ann', 'MaxJobs=4')
    tree.good('user', 'modify', 'test-ann', '-A', 'chem', 'MaxTRESPJ=gres/gpu=1', '--shares', '7')
    assert limits_of(tree, 'account', 'root') == 'MaxSubmitJobs=5000'
    assert limits_of(tree, 'account', 'physics') == 'GrpTRES=mem=8192 MaxWall=2-00:00:00'
    assert limits_of(tree, 'user', 'test-ann', account='physics') == 'MaxJobs=4'
    assert limits_of(tree, 'user', 'test-ann', account='chem', shares='7') == 'MaxJobs=4 MaxTRES=gres/gpu=1'
    assert limits_of(tree, 'qos', 'long') == 'MaxJobsPerUser=3 MaxTRESPerUser=cpu=8'
    (account,) = tree.json('account', 'show', 'physics')
    assert (account['GrpTRES'], account['MaxWall'], account['GrpJobs']) == ('mem=8192', '2880', 'UNLIMITED')
    tree.good('account', 'modify', 'chem', 'QosLevel=normal', 'DefaultQOS=normal')
    tree.good('account', 'modify', 'chem', 'QosLevel+=long')
    assert limits_of(tree, 'account', 'chem') == 'QosLevel=normal,long DefaultQOS=normal'
    table = tree.run('account', 'show', environment={'COLUMNS': '80'}).out.splitlines()
    assert table[0].split() == ['ACCOUNT', 'PARENT', 'SHARES', 'PRIORITY', 'CREATED', 'LIMITS']


@pytest.mark.parametrize('command, part', [
    (['account', 'modify', 'physics', 'MaxJob=4'], "unexpected argument 'MaxJob=4'; see 'fairlead account modify --help'"),
    (['account', 'modify', 'physics', 'MaxJobs'], "unexpected argument 'MaxJobs'"),
    (['account', 'modify', 'physics', 'MaxJobs=4', 'maxjobs=5'], 'MaxJobs is given twice'),
    (['account', 'add', 'new', 'RawUsage=0'], "unexpected argument 'RawUsage=0'"),
    (['account', 'add', 'new', 'GrpJobs=-2'], "account 'new': GrpJobs: '-2' is not a whole number from 0 to 4294967293"),
    (['account', 'modify', 'physics', 'GrpTRES=coffee=1'], "GrpTRES: 'coffee' is not a tracked TRES"),
    (['account', 'modify', 'physics', 'GrpTRES=cpu=-4'], "'cpu=-4' is not TRES=COUNT"),
    (['account', 'modify', 'physics', 'QosLevel=short'], "no qos 'short'; run 'fairlead qos show' to list them"),
    (['account', 'modify', 'physics', 'QosLevel=normal', 'DefaultQOS=long'],
     "account 'physics' has DefaultQOS long, which is not in its QosLevel, normal"),
    (['account', 'modify', 'root', '--shares', '2', 'GrpJobs=1'], 'only its limits and its RawUsage can be changed'),
    (['account', 'modify', 'nowhere', 'GrpJobs=1'], "no account 'nowhere'"),
    (['user', 'modify', 'test-ann', 'MaxJobs=4', 'fshare=3'], "MaxJobs and 'fshare=3': only one of them is accepted"),
    (['user', 'modify', 'test-ann', 'MaxJobs=4', 'colour=3'], "unexpected argument 'colour=3'"),
    (['user', 'modify', 'test-ann', 'RawUsage=0', 'fshare=3'], "RawUsage=0 and 'fshare=3': only one of them is accepted"),
    (['user', 'modify', 'test-ann', '-A', 'chem', 'MaxWall=x'], "user 'test-ann': MaxWall: 'x'"),
    (['user', 'modify', 'nobody-here', 'MaxJobs=1'], "no user 'nobody-here'"),
    (['qos', 'modify', 'long', 'MinTRES=cpu=x'], "qos 'long': MinTRES: 'cpu=x' is not TRES=COUNT"),
    (['qos', 'delete', 'long'], "qos 'long' is in use: QosLevel or DefaultQOS of account 'chem' has it"),
    (['partition', 'modify', 'main', 'QOS=short'], "no qos 'short'"),
    (['set', 'AccountingStorageEnforce=maybe'], "'maybe' is not one of"),
    (['set', 'EnforcePartLimits=yes'], "'yes' is not one of"),
])
def test_bad_limits(tree, command, part):
    before = tree.everything()
    assert part in tree.bad(*command)
    assert tree.everything() == before


def test_limits_survive(tree, tmp_path):
    before = [tree.json(kind, 'show') for kind in ('account', 'user')]
    document = json.loads(tree.good('scenario', 'dump'))
    rows = {(row['account'], row.get('user')): row for row in document['tree']}
    assert rows[('physics', None)]['GrpTRES'] == 'mem=8192'
    assert rows[('chem', 'test-ann')]['MaxTRES'] == 'gres/gpu=1'
    assert rows[('chem', None)]['QosLevel'] == 'normal,long'
    (tmp_path / 'dump.json').write_text(json.dumps(document))
    tree.good('share', '-f', str(tmp_path / 'dump.json'))
    for wrong, part in (({'GrpTRES': 'coffee=1'}, 'GrpTRES: '), ({'MaxJobs': -2}, 'MaxJobs: '), ({'QosLevel': 'none'}, "'none'"),
                        ({'QosLevel+': 'long'}, 'QosLevel+')):
        rows[('physics', None)].update(wrong)
        (tmp_path / 'wrong.json').write_text(json.dumps(document))
        result = tree.run('share', '-f', str(tmp_path / 'wrong.json'))
        assert result.status == 2 and part in result.err, result
        for key in wrong:
            del rows[('physics', None)][key]
    tree.good('stop')
    tree.start()
    assert [tree.json(kind, 'show') for kind in ('account', 'user')] == before


def test_qos_of_a_job(tree):
    tree.good('user', 'add', ME, '-A', 'chem', 'QosLevel=long', 'DefaultQOS=long')
    assert tree.job(tree.submit('-A', 'chem', '--hold', '--', 'true'))['qos'] == 'long'
    assert "--qos: 'normal' is not allowed to user '%s' in account 'chem'; allowed are long" % ME in tree.run(
        'submit', '-A', 'chem', '--qos', 'normal', '--', 'true').err
    tree.good('set', 'AccountingStorageEnforce=associations')
    assert tree.job(tree.submit('-A', 'chem', '--qos', 'normal', '--hold', '--', 'true'))['qos'] == 'normal'
    tree.good('set', 'AccountingStorageEnforce=none')
    assert tree.job(tree.submit('-A', 'nowhere', '--hold', '--', 'true'))['account'] == 'chem'
