"""fairlead history prune and history_keep_s: usage stays right, and jobs that are gone have defined answers."""
import json
import re
import sqlite3
import time

from conftest import until


def run_jobs(instance):
    """Three jobs and an array that have ended; returns the ids."""
    ids = [instance.submit('--', 'sh', '-c', 'exit %d' % status) for status in (0, 1, 0)]
    ids.append(instance.submit('--array', '0-4', '--', 'true'))
    for job in ids:
        instance.run('wait', job)
    return ids


def age(instance):
    """Waits until the jobs that have ended are older than a second."""
    time.sleep(1.2)


def usage(instance):
    return {(row['Account'], row['User']): float(row['RawUsage']) for row in instance.rows('share')}


def count(instance, table):
    with sqlite3.connect('file:%s/fairlead.db?mode=ro' % instance.state, uri=True) as db:
        return db.execute('SELECT count(*) FROM ' + table).fetchone()[0]


def test_usage_stays_and_is_verified(instance):
    instance.good('set', 'PriorityDecayHalfLife=0')
    run_jobs(instance)
    age(instance)
    before = usage(instance)
    assert instance.json('history', 'prune', '--older-than', '0:01', '--dry-run')['jobs'] == 4
    assert len(instance.json('history')) == 8
    removed = instance.json('history', 'prune', '--older-than', '0:01')
    assert (removed['jobs'], removed['tasks']) == (4, 8)
    assert instance.json('history') == []
    assert usage(instance) == before
    verified = instance.json('verify')
    assert (verified['tasks'], verified['pruned_tasks'], verified['differences']) == (0, 8, [])
    assert [count(instance, table) for table in ('job', 'task', 'job_script', 'content')] == [0, 0, 0, 0]
    run_jobs(instance)
    instance.kill()
    instance.start()
    assert instance.json('verify')['differences'] == []


def test_damage_is_found_after_a_prune(instance):
    run_jobs(instance)
    age(instance)
    instance.good('history', 'prune', '--older-than', '0:01')
    instance.good('stop')
    with sqlite3.connect(instance.state / 'fairlead.db') as db:
        db.execute("UPDATE pruned_usage SET amount = amount + 1 WHERE scope = 'association' AND resource = 'billing'")
    instance.start()
    found = instance.run('verify', '--json')
    assert (found.status, [row['tres'] for row in json.loads(found.out)['differences']]) == (1, [None])


def test_jobs_that_are_gone_have_defined_answers(instance):
    first, *rest, array = run_jobs(instance)
    age(instance)
    instance.good('history', 'prune', '--older-than', '0:01')
    assert 'no longer in the history' in instance.bad('show', 'job', first)
    assert 'no longer in the history' in instance.bad('cancel', first)
    assert 'no longer in the history' in instance.bad('submit', '-d', 'afterok:%d' % first, '--', 'true')
    assert 'no longer in the history' in instance.bad('submit', '-d', 'aftercorr:%d' % array, '--array', '0-4', '--', 'true')
    assert 'no longer in the history' in instance.bad('requeue', first)
    later = instance.submit('-d', 'afterany:%d,after:%d' % (first, array), '--', 'true')
    assert later == array + 1
    instance.until_state(later, 'COMPLETED')


def test_ids_are_not_used_again(instance):
    last = run_jobs(instance)[-1]
    age(instance)
    instance.good('history', 'prune', '--older-than', '0:01')
    instance.kill()
    instance.start()
    assert instance.submit('--', 'true') == last + 1


def test_an_array_is_removed_only_as_a_whole(instance):
    array = instance.submit('--array', '0-1', '--', 'sh', '-c', 'test $FAIRLEAD_ARRAY_TASK_ID = 0 || sleep 300')
    until(lambda: len(instance.json('history')) == 1, 'the first task to end')
    age(instance)
    assert instance.json('history', 'prune', '--older-than', '0:01')['jobs'] == 0
    instance.good('cancel', array)
    instance.run('wait', array)
    age(instance)
    removed = instance.json('history', 'prune', '--older-than', '0:01')
    assert (removed['jobs'], removed['tasks']) == (1, 2)


def test_the_instance_does_it_by_itself(instance):
    run_jobs(instance)
    assert 'the unit is seconds' in instance.run('set', 'history_keep_s=1').err
    age(instance)
    instance.good('stop')
    instance.start()
    until(lambda: instance.json('history') == [], 'the history to be removed')
    assert instance.json('verify')['differences'] == []


def test_refusals(instance):
    assert 'history_keep_s is 0' in instance.bad('history', 'prune')
    assert 'future' in instance.bad('history', 'prune', '--before', '4000000000')
    assert 'exclude each other' in instance.bad('history', 'prune', '--before', 'today', '--older-than', '1-0')
    run_jobs(instance)
    assert instance.json('history', 'prune', '--older-than', '1-0')['jobs'] == 0
    assert [row for row in instance.json('audit') if row['command'] == 'history prune'] == []
    age(instance)
    instance.good('history', 'prune', '--older-than', '0:01')
    assert [row['command'] for row in instance.json('audit')][-1] == 'history prune'


def test_refusals_name_the_option_and_what_is_accepted(instance):
    assert '--before: ' in instance.bad('history', 'prune', '--before', 'tomorrow')
    assert 'is in the future; give a time in the past' in instance.bad('history', 'prune', '--before', 'tomorrow')
    assert instance.bad('history', 'prune', '--older-than', 'UNLIMITED').endswith(
        '--older-than: UNLIMITED is not accepted; give a duration such as 30-0 (days-hours)')
    assert 'give older_than_s or before_us' in instance.bad('history', 'prune')


def test_a_prune_is_audited_with_its_time(instance):
    run_jobs(instance)
    age(instance)
    instance.good('history', 'prune', '--older-than', '0:01')
    (row,) = [row for row in instance.json('audit') if row['command'] == 'history prune']
    assert row['field'] == 'before' and re.fullmatch(r'\d+ jobs, \d+ tasks', row['before'])
    assert int(row['before'].split()[0]) > 1
    assert time.strptime(row['after'], '%Y-%m-%dT%H:%M:%SZ')


def test_the_history_is_empty_after_a_prune(instance):
    run_jobs(instance)
    age(instance)
    instance.good('history', 'prune', '--older-than', '0:01')
    assert 'no ended jobs are in the history' in instance.run('history').err
