"""The order of 'fairlead queue': who is next, and what the next one waits for."""


def table(instance, *options):
    """Rows of the table: id -> (rank, reason), in the order of the table."""
    lines = instance.good('queue', '-o', 'id,rank,reason', '--noheader', *options).splitlines()
    return [tuple(line.split(None, 2)) for line in lines]


def fill(instance):
    instance.good('set', 'host_cpus=2')
    hog = instance.submit('-n', '2', '-t', '60', '--', 'sleep', '1000')
    instance.until_state(hog, 'RUNNING')
    return hog


def test_pending_jobs_are_in_the_order_of_their_priority(instance):
    hog = fill(instance)
    low = instance.submit('--nice=50', '-n', '2', '--', 'true')
    first = instance.submit('-n', '2', '--', 'true')
    second = instance.submit('-a', '0-3', '--', 'true')
    held = instance.submit('--hold', '--', 'true')
    later = instance.submit('--begin', 'now+1hour', '--', 'true')
    assert table(instance) == [
        (str(hog), '-', '-'), (str(first), '1', 'Resources (cpu)'), ('%d_[0-3]' % second, '2', 'Priority'),
        (str(low), '3', 'Priority'), (str(held), '-', 'JobHeldUser'), (str(later), '-', 'BeginTime')]
    ranks = {row['job_id']: row['rank'] for row in instance.json('prio')}
    assert ranks == {first: 1, second: 2, low: 3, held: None, later: None}
    lines = instance.good('queue', '-P', '-o', 'id,rank,priority', '--noheader').splitlines()
    assert lines[1:3] == ['%d|3|999950' % low, '%d|1|1000000' % first] and '%d|none|0' % held in lines
    assert 'rank' not in instance.good('queue', '-P').splitlines()[0]
    assert 'RANK' in instance.good('queue').splitlines()[0]
    instance.good('update', low, '--nice=-60')
    assert [row[0] for row in table(instance)][1] == str(low)


def test_tiers_come_before_priorities(instance):
    instance.good('partition', 'add', 'urgent', 'PriorityTier=5')
    fill(instance)
    plain = instance.submit('-n', '2', '--', 'true')
    tier = instance.submit('-n', '2', '-p', 'urgent', '--nice=1000', '--', 'true')
    assert [row[:2] for row in table(instance, '-s', 'pending')] == [(str(tier), '1'), (str(plain), '2')]


def test_ranks_of_tickets(instance):
    instance.good('set', 'PriorityType=priority/tickets', 'weight_ticket=0', 'weight_urgency=0',
                  'weight_priority=1')
    fill(instance)
    low = instance.submit('-n', '2', '--priority', '-100', '--', 'true')
    high = instance.submit('-n', '2', '--', 'true')
    assert [row[:2] for row in table(instance, '-s', 'pending')] == [(str(high), '1'), (str(low), '2')]


def test_the_priority_of_one_job(instance):
    fill(instance)
    job = instance.submit('--nice=7', '-n', '2', '--', 'true')
    priority = next(row['priority'] for row in instance.json('prio') if row['job_id'] == job)
    shown = dict(line.split(None, 1) for line in instance.good('show', 'job', job).splitlines()
                 if len(line.split(None, 1)) == 2)
    assert float(shown['Priority']) == priority
    assert shown['Reason'] == 'Resources (cpu)'


def test_what_is_missing(instance):
    instance.good('set', 'host_mem_mib=1000', 'host_cpus=2')
    instance.until_state(instance.submit('--mem', '900', '--', 'sleep', '1000'), 'RUNNING')
    memory = instance.submit('--mem', '200', '--', 'true')
    assert instance.job(memory)['missing'] == 'mem'
    both = instance.submit('--mem', '200', '-n', '2', '--', 'true')
    instance.good('cancel', memory)
    assert instance.job(both)['missing'] == 'cpu,mem'
    instance.good('set', 'host_mem_mib=2000')
    assert instance.job(both)['missing'] == 'cpu'
