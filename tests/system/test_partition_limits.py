"""Limits of partitions, as an operator sets them: values that are refused, listings, documents, restarts, and jobs that a change keeps
out and lets in again."""
import json

import pytest

LIMITS = {'MaxNodes': '2', 'MinNodes': '1', 'MaxTime': '60', 'DefaultTime': '30', 'MaxCPUsPerNode': '3', 'MaxMemPerNode': '2G',
          'DefMemPerCPU': '100M', 'AllowAccounts': 'physics,default', 'DenyAccounts': 'chem', 'AllowQos': 'normal', 'DenyQos': 'long'}


@pytest.fixture(name='vip')
def fixture_vip(instance):
    instance.good('account', 'add', 'physics')
    instance.good('account', 'add', 'chem')
    instance.good('qos', 'add', 'long')
    instance.good('partition', 'add', 'vip', *['%s=%s' % pair for pair in LIMITS.items()])
    return instance


def row_of(instance, name):
    return next(row for row in instance.json('partition', 'show') if row['name'] == name)


def test_limits_are_listed_and_survive(vip, tmp_path):
    row = row_of(vip, 'vip')
    assert (row['MaxNodes'], row['MinNodes'], row['MaxCPUsPerNode']) == (2, 1, 3)
    assert (row['MaxMemPerNode'], row['DefMemPerCPU']) == ('2048', '100')
    assert (row['AllowAccounts'], row['DenyAccounts'], row['AllowQos'], row['DenyQos']) == ('physics,default', 'chem', 'normal', 'long')
    lines = vip.good('partition', 'show', '-P', '-o', 'name,MaxNodes,DefaultTime,AllowAccounts').splitlines()
    assert lines[0].split('|')[0].lower() == 'name' and lines[2].split('|')[0] == 'vip'
    assert lines[2].split('|')[1] == '2' and lines[2].split('|')[3] == 'physics,default'
    document = json.loads(vip.good('scenario', 'dump'))
    dumped = next(item for item in document['partitions'] if item['name'] == 'vip')
    assert (dumped['MaxNodes'], dumped['AllowAccounts'], dumped['DenyQos']) == (2, 'physics,default', 'long')
    (tmp_path / 'dump.json').write_text(json.dumps(document))
    vip.good('share', '-f', str(tmp_path / 'dump.json'))
    before = vip.json('partition', 'show')
    vip.good('stop')
    vip.start()
    assert vip.json('partition', 'show') == before


@pytest.mark.parametrize('value, part', [
    ('MaxNodes=many', "MaxNodes: 'many' is not a whole number"),
    ('MinNodes=-1', 'MinNodes: '),
    ('MaxMemPerNode=much', 'MaxMemPerNode: '),
    ('AllowAccounts=a,,b', 'AllowAccounts: '),
    ('DenyAccounts=chemistry', "DenyAccounts: 'chemistry' is no account; there are: root, physics, chem"),
    ('AllowQos=short', "AllowQos: 'short' is no QOS; there are: normal, long"),
    ('state=BROKEN', "'BROKEN' is not one of UP, DOWN, DRAIN, INACTIVE"),
    ('AllowGroups=staff', "'AllowGroups' is not a field"),
])
def test_wrong_values_change_nothing(vip, value, part):
    before = vip.json('partition', 'show')
    assert part in vip.bad('partition', 'modify', 'vip', value)
    assert vip.json('partition', 'show') == before


def test_submissions_are_held_against_limits(vip):
    assert vip.job(vip.submit('-p', 'vip', '--hold', '--', 'true'))['mem_mib'] == 100
    refused = vip.run('submit', '-p', 'vip', '-q', 'long', '--', 'true')
    assert refused.status != 0
    assert refused.err == ("fairlead submit: --qos: partition 'vip' does not accept QOS 'long' (AllowQos normal) (QOSNotAllowed)\n")
    assert '(PartitionTimeLimit)' in vip.run('submit', '-p', 'vip', '-t', '61', '--', 'true').err
    assert '(MaxMemPerLimit)' in vip.run('submit', '-p', 'vip', '--mem', '2049M', '--', 'true').err
    assert '(QOSNotAllowed)' in vip.run('submit', '--test-only', '-p', 'vip', '-q', 'long', '--', 'true').err
    vip.good('partition', 'modify', 'vip', 'AllowAccounts=physics')
    assert "does not accept account 'default'" in vip.run('submit', '-p', 'vip', '--', 'true').err
    vip.until_state(vip.submit('-p', 'vip,main', '--', 'true'), 'COMPLETED')


def test_a_change_keeps_jobs_out_and_lets_them_in(vip):
    vip.good('partition', 'modify', 'vip', 'state=DOWN')
    job = vip.submit('-p', 'vip', '-t', '20', '--', 'true')
    assert vip.job(job)['reason'] == 'PartitionDown'
    vip.good('partition', 'modify', 'vip', 'state=UP', 'AllowAccounts=physics')
    assert vip.job(job)['reason'] == 'AccountNotAllowed'
    assert "partition 'vip' does not accept account 'default' (AllowAccounts physics)" in vip.good('show', 'job', str(job))
    assert 'AccountNotAllowed' in vip.run('check', str(job)).out
    vip.good('stop')
    vip.start()
    assert vip.job(job)['reason'] == 'AccountNotAllowed'
    vip.good('partition', 'modify', 'vip', 'AllowAccounts=ALL', 'DenyAccounts=NONE', 'MaxTime=10')
    assert vip.job(job)['reason'] == 'PartitionTimeLimit'
    vip.good('partition', 'modify', 'vip', 'MaxTime=20')
    vip.until_state(job, 'COMPLETED')


def test_each_partition_has_a_default_time(vip):
    vip.good('partition', 'modify', 'main', 'DefaultTime=10', 'state=DOWN')
    job = vip.submit('-p', 'main,vip', '--', 'sleep', '60')
    vip.until_state(job, 'RUNNING')
    assert vip.job(job)['time_limit_s'] == 1800
    vip.good('partition', 'modify', 'vip', 'state=DOWN')
    waiting = vip.submit('-p', 'main,vip', '--', 'sleep', '60')
    assert vip.job(waiting)['time_limit_s'] == 600
    document = json.loads(vip.good('scenario', 'dump'))
    assert next(item for item in document['jobs'] if item['id'] == int(waiting))['default_time'] is True
    vip.good('cancel', '--all')
