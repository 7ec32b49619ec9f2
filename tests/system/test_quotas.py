"""Resource quota sets as a user sets them, and what running tasks have of them."""


def test_a_quota_keeps_jobs_waiting_until_it_changes(instance):
    instance.good('quota', 'add', 'users', 'rules=limit users {*} to slots=1\n\nlimit hosts {*} to slots=$num_proc',
                  'description=one each')
    assert [(row['name'], row['enabled'], row['rules'], row['description']) for row in instance.json('quota', 'show')] == [
        ('users', True, 'limit users {*} to slots=1; limit hosts {*} to slots=$num_proc', 'one each')]
    first, second = instance.submit('--', 'sleep', 600), instance.submit('--', 'sleep', 600)
    instance.until_state(first, 'RUNNING')
    assert instance.job(second)['state'] == 'PENDING'
    usage = instance.json('quota', 'usage')
    assert [(row['rule'], row['resource'], row['used'], row['limit']) for row in usage] == [('users/1', 'slots', 1, 1)]
    assert usage[0]['filter'] == 'users ' + usage[0]['pool'].split('/')[0]
    assert instance.json('quota', 'usage', '-u', 'nobody-else') == []
    instance.good('quota', 'modify', 'users', 'enabled=no')
    instance.until_state(second, 'RUNNING')
    assert instance.json('quota', 'usage') == []


def test_mistakes_are_named(instance):
    bad = instance.bad('quota', 'add', 'q', 'rules=limit users {*} slots=1')
    assert "quota 'q': rules: 'slots' in line 1, column 17 is none of users, projects" in bad
    assert "'p' in rule 1 is not a project" in instance.bad('quota', 'add', 'q', 'rules=limit projects p to slots=1')
    assert "no quota 'q'" in instance.bad('quota', 'delete', 'q')
    instance.good('project', 'add', 'p')
    instance.good('quota', 'add', 'q', 'rules=limit projects p to slots=1')
    assert "project 'p' is in use: without it, quota 'q'" in instance.bad('project', 'delete', 'p')
    instance.good('quota', 'delete', 'q')
    instance.good('project', 'delete', 'p')
