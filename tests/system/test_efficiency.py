"""efficiency: what real jobs used of what they asked for."""
import re


def test_efficiency(instance):
    instance.good('set', 'host_cpus=4')
    idle = instance.submit('-n', '2', '--mem', '2G', '-t', '2:00:00', '--', 'sleep', '1')
    array = instance.submit('--array', '1-3', '-t', '2', '--mem', '1M', '--', 'true')
    waiting = instance.submit('--hold', '--', 'true')
    instance.good('wait', idle, array)
    rows = instance.json('efficiency', idle, array)
    assert [(row['id'], row['tasks'], row['cpus'], row['mem_mib']) for row in rows] == [(str(idle), 1, 2, 2048), (str(array), 3, 1, 1)]
    assert rows[0]['longest_s'] >= 1 and rows[0]['cpu_percent'] < 50 and 0 < rows[0]['mem_percent'] < 10
    assert re.fullmatch(r'-n 1 --mem 64M -t 00:0\d:00', rows[0]['advice'])
    assert rows[1]['advice'] is None
    assert instance.good('efficiency', '-P', '-o', 'id,tasks', '%d_2' % array) == 'id|tasks\n%d_2|1\n' % array
    assert 'NEXT TIME' in instance.good('efficiency', idle).splitlines()[0]
    assert instance.bad('efficiency', waiting) == 'fairlead efficiency: job %d has not started: it has used nothing yet' % waiting
    assert 'no job 99' in instance.bad('efficiency', idle, 99)
