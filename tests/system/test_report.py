"""report: sums over the history of an instance."""
import json

from conftest import until


def test_report(instance):
    instance.good('account', 'add', 'physics', '--shares', '70')
    instance.good('account', 'add', 'teaching', '--shares', '30')
    user = instance.good('whoami', '--json') and instance.json('whoami')['user']
    for account in 'physics', 'teaching':
        instance.good('user', 'add', user, '-A', account)
    assert instance.run('report').err == 'no jobs have ended in this time; --since TIME begins earlier\n'
    assert instance.json('report') == []
    array = instance.submit('-A', 'physics', '--array', '1-3', '-J', 'sweep', '--', 'sleep', '0.3')
    failed = instance.submit('-A', 'teaching', '-J', 'exercise', '--', 'false')
    cancelled = instance.submit('-A', 'teaching', '--hold', '--', 'true')
    instance.good('cancel', cancelled)
    instance.run('wait', array, failed, cancelled)

    accounts = {row['key']: row for row in instance.json('report', '--by', 'account')}
    assert [(name, accounts[name]['jobs'], accounts[name]['completed'], round(accounts[name]['promised_percent']))
            for name in ('physics', 'teaching')] == [('physics', 3, 3, 70), ('teaching', 2, 0, 30)]
    assert abs(sum(row['received_percent'] for row in accounts.values()) - 100) < 1e-9
    history = instance.json('history')
    billed = sum(row['billing'] * (row['end_us'] - row['start_us']) / 3.6e9 for row in history if row['start_us'])
    assert abs(sum(row['billing_hours'] for row in accounts.values()) - billed) < 1e-12
    assert {row['key']: row['jobs'] for row in instance.json('report', '-b', 'state')} == {'COMPLETED': 3, 'FAILED': 1, 'CANCELLED': 1}
    assert [row['jobs'] for row in instance.json('report', '-b', 'day')] in ([5], [1, 4], [2, 3], [3, 2], [4, 1])
    assert [row['key'] for row in instance.json('report', '-b', 'name', '-A', 'physics')] == ['sweep']
    unknown = instance.run('report', '-u', 'nobody-of-that-name', '--json')
    assert (unknown.status, json.loads(unknown.out)) == (0, []) and 'no user' in unknown.err
    assert instance.json('report', '--until', '1h') == []
    assert instance.good('report', '-P', '-o', 'key,jobs') == 'key|jobs\n%s|5\n' % user
    assert 'RECEIVED%' in instance.good('report')
    assert "'hour' is not one of user, account" in instance.bad('report', '--by', 'hour')


def test_attempts_wait_from_the_end_of_the_one_before(instance):
    instance.good('set', 'requeue_delay_s=1000')
    job = instance.submit('--', 'true')
    instance.until_state(job, 'COMPLETED')
    first = instance.json('report')[0]
    instance.good('requeue', '--hold', job)
    ended, waiting = instance.json('show', 'job', job)
    assert (ended['state'], ended['begin_us'], ended['held'], waiting['held']) == ('REQUEUED', None, False, True)
    again = instance.json('report')[0]
    assert [again[key] for key in ('jobs', 'completed', 'wait_max_s')] == [1, 1, first['wait_max_s']]
    instance.good('update', job, '--begin', 'now')
    instance.good('release', job)
    until(lambda: not instance.rows('queue'), 'its second attempt')
    last = instance.json('report')[0]
    assert (last['jobs'], last['completed']) == (2, 2)
    rows = {row['restarts']: row for row in instance.json('history')}
    longest_us = max(rows[0]['start_us'] - rows[0]['submit_us'], rows[1]['start_us'] - rows[0]['end_us'])
    assert last['wait_max_s'] <= longest_us // 10**6
