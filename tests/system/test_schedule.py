"""fairlead schedule: the chart below the table, jobs of unlimited time, and the plan of an instance."""
import json

import pytest

NOW = 1795251600
DAY_S = 86400


def document(jobs, partitions=({'name': 'q'},), **settings):
    """One host with 4 CPUs."""
    rows = [{'id': i + 1, 'user': 'u', 'submit': NOW - 100, **job} for i, job in enumerate(jobs)]
    return json.dumps({'now': NOW, 'settings': settings, 'hosts': [{'name': 'n1', 'cpus': 4}], 'partitions': list(partitions),
                       'jobs': rows})


def running(cpus, time_limit_s, queue='q'):
    return {'state': 'RUNNING', 'start': NOW, 'cpus': cpus, 'partition': queue, 'time_limit_s': time_limit_s,
            'places': {queue + '@n1': cpus}}


def chart(instance, text, width=80):
    result = instance.run('schedule', '-f', '-', text=text, environment={'COLUMNS': str(width)})
    assert result.status == 0, result
    return result.out.split('\n\n')[1].splitlines()


def ticks(line):
    return [(line.index(' ' + word) + 1, word) for word in line.split()]


def seconds(text):
    days, _, time = text.rpartition('-')
    result = 0
    for part in time.split(':'):
        result = 60 * result + int(part)
    return result + int(days or 0) * DAY_S


@pytest.mark.parametrize('width', [40, 80, 100, 133])
@pytest.mark.parametrize('span_s', [1, 7, 61, 1000, 4999, 3600, 86399, 90000, 30 * DAY_S, 500 * DAY_S])
def test_ticks_are_at_round_times_and_whole(stopped, span_s, width):
    axis, _, bar = chart(stopped, document([running(4, span_s)]), width)
    begin, end = bar.index('|') + 1, bar.rindex('|')
    assert all(len(line) <= width for line in (axis, bar))
    at = ticks(axis)
    assert at[0] == (begin, '0:00')
    step_s = seconds(at[1][1]) if len(at) > 1 else DAY_S
    assert step_s in (1, 2, 5, 10, 15, 30) or step_s % 60 == 0
    assert step_s % DAY_S == 0 or DAY_S % step_s == 0
    for i, (column, text) in enumerate(at):
        assert seconds(text) == i * step_s
        assert column == begin + int(i * step_s * (end - begin) / span_s)
        assert column + len(text) <= end


def test_labels_are_aligned_and_name_one_slot(stopped):
    lines = chart(stopped, document([{'cpus': 1, 'time_limit_s': 60, 'array_tasks': 10}],
                                    [{'name': 'q', 'slots': 1}], reservation_depth=20))
    assert lines[1] == 'q@n1, 1 slot'
    assert [line[:17] for line in lines[-2:]] == ['  1_9   1 slot   ', '  1_10  1 slot   ']
    assert {line.index('|') for line in lines[2:]} == {17}


def test_closed_times_of_queues_are_drawn(stopped):
    closed = [[NOW - 50, NOW - 10], [NOW + 60, NOW + 120], [NOW + 3000, NOW + 4000]]
    queues = [{'name': 'p', 'slots': 1}, {'name': 'q', 'slots': 2, 'closed': closed}]
    lines = chart(stopped, document([running(1, 240, 'p'), {'partition': 'q', 'cpus': 2, 'time_limit_s': 50}], queues))
    rows = [line for line in lines if line.startswith('  closed')]
    assert lines.index(rows[0]) > lines.index('q@n1, 2 slots')
    assert len(rows) == 1
    width = len(rows[0].split('|')[1])
    assert rows[0].split('|')[1] == ' ' * (width // 4) + 'x' * (width // 2 - width // 4) + ' ' * (width - width // 2)


def test_the_chart_can_be_left_out(stopped):
    text = document([running(2, 100)])
    table, _ = stopped.good('schedule', '-f', '-', text=text).split('\n\n')
    assert stopped.good('schedule', '-f', '-', '--no-chart', text=text) == table + '\n'


def test_what_comes_after_a_job_of_unlimited_time_is_not_known(stopped):
    unlimited_s = 3660 * DAY_S
    text = document([running(2, unlimited_s), {'cpus': 4, 'time_limit_s': 600}, {'cpus': 2, 'time_limit_s': 300},
                     {'cpus': 2, 'time_limit_s': 200}])
    rows = {row['job_id']: row for row in json.loads(stopped.good('schedule', '-f', '-', '--json', text=text))}
    assert (rows[1]['start_us'], rows[1]['end_us']) == (NOW * 1000000, None)
    assert (rows[2]['state'], rows[2]['start_us'], rows[2]['end_us']) == ('RESERVED', None, None)
    assert rows[3]['end_us'] == (NOW + 300) * 1000000
    assert rows[4]['end_us'] == (NOW + 500) * 1000000
    lines = chart(stopped, text)
    assert [line.split()[0] for line in lines[2:]] == ['1', '3', '4']
    assert lines[2].endswith('#...')
    assert lines[3].endswith(' |')
    assert lines[4].endswith('=|')


def test_listings_of_an_instance_do_not_name_the_end_of_unlimited_time(instance):
    first = instance.submit('-n', 4, '-t', 'UNLIMITED', '--', 'sleep', 100)
    instance.until_state(first, 'RUNNING')
    second = instance.submit('-n', 4, '-t', 10, '--', 'true')
    (row,) = instance.json('queue', '--start')
    assert (row['expected_start_us'], row['waits_for']) == (None, 'job %d' % first)
    assert instance.rows('schedule')[1] == {'JOBID': str(second), 'USER': row['user'], 'STATE': 'RESERVED', 'START': '', 'END': '',
                                            'SLOTS': '4', 'PE': '', 'PLACES': 'main@localhost=4', 'REASON': ''}


def test_the_plan_of_the_instance_is_that_of_its_document(instance):
    instance.until_state(instance.submit('-n', 3, '-t', 10, '--', 'sleep', 100), 'RUNNING')
    instance.submit('-n', 4, '-t', 5, '--', 'true')
    document = instance.good('scenario', 'dump')
    assert instance.json('schedule') == json.loads(instance.good('schedule', '-f', '-', '--json', text=document))
    assert instance.good('schedule', '-m').splitlines()[1].startswith('1:1:RUNNING:')


def test_without_an_instance_and_a_file(stopped):
    assert 'no instance answers' in stopped.bad('schedule', status=1)


def test_nothing_to_plan(instance):
    result = instance.run('schedule')
    assert (result.status, result.out, result.err) == (0, '', 'no jobs run, start or wait; held jobs are not planned\n')
    instance.until_state(instance.submit('--', 'sleep', 100), 'RUNNING')
    assert instance.good('schedule', '-o', 'JOBID') == 'JOBID\n1\n'


def test_hosts_with_the_same_reason_are_one_line(stopped):
    now = 1795251600
    hosts = [{'name': f'n{i}', 'cpus': 4} for i in range(1, 31)] + [{'name': 'login.site', 'cpus': 1}]
    jobs = [{'id': i, 'user': 'u', 'submit': now - 100, **running(4, 600), 'places': {f'q@n{i}': 4}}
            for i in range(1, 31) if i != 7]
    jobs += [{'id': 7, 'user': 'u', 'submit': now - 100, **running(2, 600), 'places': {'q@n7': 2}},
             {'id': 40, 'user': 'u', 'submit': now, 'cpus': 4, 'partition': 'q'}]
    text = json.dumps({'now': now, 'settings': {'schedd_job_info': 'true'}, 'hosts': hosts,
                       'partitions': [{'name': 'q'}], 'jobs': jobs})
    result = stopped.run('check', '--now', '-f', '-', '40', text=text)
    assert result.status == 1, result
    lines = result.out.splitlines()
    assert lines[0] == 'As it is now: not possible'
    assert any('q@n[1-6,8-30]' in line or '"n[1-6,8-30]"' in line for line in lines), result
    assert len(lines) <= 5, result
    whole = json.loads(stopped.run('check', '--json', '-f', '-', '40', text=text).out)
    assert len(whole['now']['sentences']) >= 30
