"""Limits of accounts, users and QOS as commands set, list and refuse them, and as they survive a restart and a document."""
import pathlib
import json
import os
import pwd
import re

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
    tree.good('account', 'modify', 'physics', 'GrpTRES=cpu=unlimited', 'GrpJobs=-1')
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


def test_limits_in_the_older_grammar(tree):
    tree.good('account', 'add', 'older', 'GrpTRES=mem=8', 'GrpCPUs=4', 'GrpNodes=2', 'MaxCPUMins=100')
    assert limits_of(tree, 'account', 'older') == 'GrpTRES=cpu=4,mem=8,node=2 MaxTRESMins=cpu=100'
    tree.good('account', 'modify', 'older', 'grpcpus=-1', 'GrpMemory=16', 'GrpCPURunMins=7')
    assert limits_of(tree, 'account', 'older') == 'GrpTRES=mem=16,node=2 GrpTRESRunMins=cpu=7 MaxTRESMins=cpu=100'
    tree.good('qos', 'add', 'older', 'MaxCPUsPerUser=3', 'MinCPUs=1', 'MaxNodesPerJob=2')
    assert limits_of(tree, 'qos', 'older') == 'MaxTRES=node=2 MaxTRESPerUser=cpu=3 MinTRES=cpu=1'


@pytest.mark.parametrize('command, part', [
    (['account', 'modify', 'physics', 'MaxJob=4'], "'MaxJob' is not a field; did you mean 'MaxJobs'?"),
    (['account', 'modify', 'physics', 'colour=4'], "'colour' is not a field; the fields are: GrpJobs, GrpSubmitJobs, "),
    (['account', 'modify', '', 'MaxJobs=4'], "the name is empty; see 'fairlead account modify --help'"),
    (['qos', 'delete', ''], "the name is empty; see 'fairlead qos delete --help'"),
    (['user', 'modify', 'test-ann', 'colour=4'], "'colour' is not a field; the fields are: fshare, "),
    (['qos', 'modify', 'long', 'GrpTRES=cpu=9007199254740993'], "'cpu=9007199254740993' is not TRES=COUNT"),
    (['set', 'weight_urgency=9007199254740993'],
     "weight_urgency: '9007199254740993' is beyond 2^53 and cannot be kept exactly"),
    (['resource', 'add', 'license', 'amount=9007199254740993'],
     "amount: '9007199254740993' is not a whole number from 0 to 9007199254740992"),
    (['account', 'modify', 'physics', 'MaxJobs'], "unexpected argument 'MaxJobs'"),
    (['account', 'modify', 'physics', 'MaxJobs=4', 'maxjobs=5'], 'MaxJobs is given twice'),
    (['account', 'add', 'new', 'RawUsage=0'], "unexpected argument 'RawUsage=0'"),
    (['account', 'add', 'new', 'GrpJobs=-2'], "account 'new': GrpJobs: '-2' is not a whole number from 0 to 4294967293"),
    (['account', 'modify', 'physics', 'Fairshare=4'], "unexpected argument 'Fairshare=4': use --shares N for the shares"),
    (['account', 'add', 'new', 'fairshare=4'], "unexpected argument 'fairshare=4': use --shares N"),
    (['user', 'modify', 'test-ann', 'fairshare=parent'], "unexpected argument 'fairshare=parent': use --shares N"),
    (['account', 'modify', 'physics', 'Shares=4'], "unexpected argument 'Shares=4': it is an option, --shares 4"),
    (['account', 'modify', 'physics', 'set', 'MaxJobs=4'], "unexpected argument 'set': leave it out, the NAME=VALUE follow"),
    (['user', 'modify', 'test-ann', 'where', 'MaxJobs=4'], "unexpected argument 'where': leave it out"),
    (['user', 'modify', 'test-ann', 'DefaultAccount=chem'], "unexpected argument 'DefaultAccount=chem': use --default"),
    (['account', 'modify', 'physics', 'GrpTRES=cpus=4'],
     "'cpus' is not a tracked TRES (AccountingStorageTRES); did you mean 'cpu'?"),
    (['account', 'modify', 'physics', 'GrpTRES=coffee=1'], "GrpTRES: 'coffee' is not a tracked TRES"),
    (['account', 'modify', 'physics', 'GrpTRES=gpu=2'],
     "'gpu' is not a tracked TRES (AccountingStorageTRES); did you mean 'gres/gpu'?"),
    (['account', 'modify', 'physics', 'GrpCPUs=4,5'], "GrpCPUs: '4,5' is not a number, or -1 for no limit"),
    (['account', 'modify', 'physics', 'MaxTRESMins=cpu=5m'],
     "MaxTRESMins: 'cpu=5m' is not TRES=MINUTES with a whole number from 0 to 2^53 without a suffix (cpu=300), or -1 or UNLIMITED"),
    (['qos', 'modify', 'long', 'GrpTRESRunMins=cpu=1,mem=4G'], "GrpTRESRunMins: 'mem=4G' is not TRES=MINUTES"),
    (['account', 'modify', 'physics', 'MaxCPUsPerUser=4'], "'MaxCPUsPerUser' is not a field"),
    (['account', 'modify', 'physics', 'GrpTRES=cpu=-4'], "'cpu=-4' is not TRES=COUNT"),
    (['account', 'modify', 'physics', 'QosLevel=short'], "no qos 'short'; run 'fairlead qos show' to list them"),
    (['account', 'modify', 'physics', 'QosLevel=normal', 'DefaultQOS=long'],
     "account 'physics' has DefaultQOS long, which is not in its QosLevel, normal"),
    (['account', 'modify', 'root', '--shares', '2', 'GrpJobs=1'], 'only its limits and its RawUsage can be changed'),
    (['account', 'modify', 'nowhere', 'GrpJobs=1'], "no account 'nowhere'"),
    (['user', 'modify', 'test-ann', 'MaxJobs=4', 'fshare=3'], "MaxJobs and 'fshare=3': only one of them is accepted"),
    (['user', 'modify', 'test-ann', 'MaxJobs=4', 'colour=3'], "'colour' is not a field"),
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
    assert 'no limit of accounts, users and QOS is enforced' in tree.run('set', 'AccountingStorageEnforce=associations').err
    assert tree.job(tree.submit('-A', 'chem', '--qos', 'normal', '--hold', '--', 'true'))['qos'] == 'normal'
    assert tree.run('set', 'AccountingStorageEnforce=none').status == 0
    assert tree.job(tree.submit('-A', 'nowhere', '--hold', '--', 'true'))['account'] == 'chem'


def test_limits_for_people(tree):
    """Memory has a unit, durations have one form, and columns without a value are left out."""
    tree.good('qos', 'add', 'short', 'GrpTRES=cpu=4,mem=16384', 'GrpTRESMins=mem=1024', 'MaxWall=90', 'MaxJobsPU=3')
    shown = 'GrpTRES=cpu=4,mem=16G GrpTRESMins=mem=1024 MaxJobsPerUser=3 MaxWall=1:30:00'
    table = tree.good('qos', 'show').splitlines()
    assert table[0].split() == ['NAME', 'PRIORITY', 'USAGE_FACTOR', 'LIMITS', 'CREATED']
    assert [line for line in table if line.startswith('short ') and shown in line]
    block = tree.good('qos', 'show', 'short').splitlines()
    assert block[0].split() == ['NAME', 'short']
    assert 'LIMITS          ' + shown in block
    tree.good('account', 'modify', 'physics', 'GrpTRES=mem=500', 'GrpWall=2880')
    assert 'GrpWall=2-00:00:00 GrpTRES=mem=500M' in tree.good('account', 'show', 'physics')
    assert tree.json('qos', 'show', 'short')[0]['GrpTRES'] == 'cpu=4,mem=16384'


def test_help_names_every_limit_and_reason(tree):
    limits, reasons = tree.good('help', 'limits'), tree.good('help', 'reasons')
    for name in tree.json('qos', 'show', 'normal')[0]:
        if re.match('(Grp|Max|Min)', name):
            assert '  %s=' % name in limits, name
    for name in tree.json('partition', 'show', 'main')[0]:
        if re.match('(Max|Min|Default|Def|Allow|Deny)[A-Z]', name):
            assert '  %s=' % name in limits, name
    assert '  EnforcePartLimits=' in limits
    assert 'DenyOnLimit' in limits.split('\n\n')[0]
    header = (pathlib.Path(__file__).parents[2] / 'src/fields/pending_reason.h').read_text()
    words = re.findall(r'X\([A-Z_]+, "(\w+)"\)', header)
    assert len(words) > 100
    listed = re.findall(r'[A-Za-z]+', '\n'.join(line for line in reasons.splitlines() if re.match('  [A-Z]', line)))
    assert sorted(listed) == sorted(word for word in words if word != 'None')
    assert "did you mean 'limits'" in tree.bad('help', 'limit')


def test_deleting_a_user_names_the_accounts(instance):
    for account in ('a', 'b'):
        instance.good('account', 'add', account)
        instance.good('user', 'add', 'u', '-A', account)
    instance.good('user', 'add', 'v', '-A', 'b')
    assert instance.good('user', 'delete', 'u') == 'Deleted user u from accounts a, b\n'
    assert instance.good('user', 'delete', 'v') == 'Deleted user v from account b\n'
    assert "no user 'u'" in instance.bad('user', 'delete', 'u')
