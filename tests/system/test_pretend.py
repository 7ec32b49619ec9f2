"""A cluster that is not there: fairlead start --pretend."""
import collections
import json
import pathlib
import re
import sqlite3
import time

import pytest

from conftest import Instance, until

SMALL = {'hosts': [{'name': 'n[1-3]', 'cpus': 4, 'mem': '8G'}]}


class Pretend(Instance):
    def __init__(self):
        super().__init__()
        self.state = self.home / 'state/fairlead-pretend'
        self.socket = self.state / 'fairlead.sock'
        self.environment['FAIRLEAD_SOCKET'] = str(self.socket)
        self.document = self.home / 'cluster.json'

    def begin(self, document=None, speed=60, **extra):
        if document is not None or extra or not self.document.exists():
            self.document.write_text(json.dumps({**(document or SMALL), **extra}))
        result = self.run('start', '--pretend', self.document, '--speed', speed)
        assert result.status == 0, result
        return result.out

    def tasks(self):
        return self.json('queue') + self.json('history')

    def database(self):
        return sqlite3.connect('file:%s?mode=ro' % (self.state / 'fairlead.db'), uri=True)

    def now_us(self):
        return self.json('status')['now_us']


@pytest.fixture
def cluster():
    one = Pretend()
    yield one
    one.close()


def hosts_of(rows):
    """Host -> CPUs that tasks have or had there."""
    count = collections.Counter()
    for row in rows:
        sets = row['cpu_ids'].split(';')
        for host, cpus in zip(row['hosts'].split(','), sets, strict=True):
            for part in cpus.split(','):
                first, _, last = part.partition('-')
                count[host] += int(last or first) - int(first) + 1
    return count


def test_a_copied_database_is_not_started_as_a_real_one(cluster):
    """Nor is a real one as a pretended one: the file that marks the directory was not copied."""
    cluster.begin()
    job = cluster.submit('--hold', '--', 'true')
    assert cluster.run('stop').status == 0
    database, mark = cluster.state / 'fairlead.db', cluster.state / 'pretend.json'
    real = Instance()
    try:
        real.state.mkdir(parents=True, mode=0o700)
        (real.state / 'fairlead.db').write_bytes(database.read_bytes())
        assert 'pretend cluster' in real.bad('start')
        (real.state / 'fairlead.db').unlink()
        real.good('start')
        assert real.run('stop').status == 0
        kept = database.read_bytes()
        database.write_bytes((real.state / 'fairlead.db').read_bytes())
        assert mark.exists() and 'has real jobs' in cluster.bad('start', '--pretend', cluster.document)
        database.write_bytes(kept)
    finally:
        real.close()
    cluster.begin()
    assert cluster.job(job)['state'] == 'PENDING'


def test_a_thousand_hosts(cluster):
    cluster.begin({'hosts': [{'name': 'n[0001-1000]', 'cpus': 16}]}, speed=600)
    status = cluster.json('status')
    assert status['pretend'] == str(cluster.document) and status['speed'] == 600
    assert 'not followed: a pretend cluster has a time of its own\n' in cluster.good('clock')
    assert status['hosts'] == {'count': 1000, 'down': 0, 'cpus': 16000, 'free_cpus': 16000}
    assert len(cluster.json('host', 'show')) == 1001
    array = cluster.submit('--array', '1-3000', '-t', '10:00', '-n', '4', '--', 'true')
    spread = cluster.submit('-N', '3', '-n', '48', '-t', '10:00', '--comment', 'run=60', '--', 'true')
    until(lambda: cluster.json('status')['tasks'] == {'pending': 0, 'starting': 0, 'running': 0, 'completing': 0, 'suspended': 0}, 'the end')
    rows = cluster.json('history', '-n', '10000')
    assert {row['state'] for row in rows} == {'COMPLETED'}
    of_array = [row for row in rows if row['id'].startswith('%d_' % array)]
    assert len(of_array) == 3000
    assert len(hosts_of(of_array)) >= 750  # 12,000 CPUs are on at least so many
    assert all(300 * 0.8 - 1 <= (row['end_us'] - row['start_us']) / 1e6 <= 300 * 1.2 + 1 for row in of_array)
    (one,) = [row for row in rows if row['id'] == str(spread)]
    assert hosts_of([one]) == dict.fromkeys(one['hosts'].split(','), 16) and one['hosts'].count(',') == 2
    assert one['end_us'] - one['start_us'] == 60000000
    assert json.loads(cluster.good('verify', '--json'))['differences'] == []


def test_jobs_run_as_they_say(cluster):
    cluster.begin(speed=1000)
    jobs = {
        'sleep': (cluster.submit('--', 'sleep', '90'), 'COMPLETED', 0, 90),
        'comment': (cluster.submit('--comment', 'run=2:00 exit=7', '--', 'sleep', '5'), 'FAILED', 7, 120),
        'fail': (cluster.submit('--comment', 'fail,run=45', '--', 'true'), 'FAILED', 1, 45),
        'limit': (cluster.submit('-t', '2:00', '--comment', 'run=1:00:00', '--', 'true'), 'TIMEOUT', None, 120),
        'script': (cluster.submit('-', text='#!/bin/sh\nsleep 3m\n'), 'COMPLETED', 0, 180),
        'long script': (cluster.submit('-t', '30:00', '-', text='#!/bin/sh\n%s\nsleep 3m\n' % ('#' * 16300)), 'COMPLETED', 0, 180),
    }
    for job, state, status, run_s in jobs.values():
        row = cluster.until_state(job, state)
        assert (row['exit_status'], row['end_us'] - row['start_us']) == (status, run_s * 1000000), row
    for length in (20000, 300000):  # in which no sleep is looked for: it would end with TIMEOUT
        cluster.until_state(cluster.submit('-t', '2:00', '-', text='#!/bin/sh\n%s\nsleep 10m\n' % ('#' * length)), 'COMPLETED')
    assert not list(cluster.work.iterdir())  # nothing ran
    row = cluster.job(jobs['sleep'][0])
    assert 0 < row['cpu_us'] <= 90e6 and 0 < row['max_rss_kib'] <= 256 * 1024
    job = cluster.submit('-t', '10:00:00', '--', 'sleep', '7200')
    cluster.until_state(job, 'RUNNING')
    cluster.good('cancel', job)
    row = cluster.until_state(job, 'CANCELLED')
    assert row['end_us'] - row['start_us'] < 7200e6


def test_an_unreadable_run_time_is_refused(cluster):
    cluster.begin(speed=1)
    assert "comment: 'run=abc' is not run=SECONDS or run=H:M:S" in cluster.bad('submit', '--comment', 'run=abc', '--', 'true')
    assert "'exit=256' is not exit=STATUS" in cluster.bad('submit', '--comment', 'exit=256', '--', 'true')
    job = cluster.submit('--hold', '--comment', 'the 2nd run of 3', '--', 'true')
    assert "'run=' is not run=SECONDS" in cluster.bad('update', job, '--comment', 'run=')
    assert cluster.job(job)['comment'] == 'the 2nd run of 3'


def test_time_limits_of_running_jobs_change(cluster):
    """Also over kill -9. What is drawn from the limit at the start does not change with it."""
    cluster.begin(speed=1)
    longer = cluster.submit('-t', '2:00', '--comment', 'run=3:00', '--', 'true')
    passed = cluster.submit('-t', '10:00', '--comment', 'run=1:00:00', '--', 'true')
    drawn = cluster.submit('-t', '10:00', '--', 'true')
    cluster.until_state(drawn, 'RUNNING')
    cluster.good('update', longer, '-t', '1:00:00')
    cluster.good('update', drawn, '-t', '1-00:00:00')
    time.sleep(1.1)
    cluster.good('update', passed, '-t', '0:01')
    row = cluster.until_state(passed, 'TIMEOUT')
    assert 1e6 <= row['end_us'] - row['start_us'] < 600e6
    cluster.kill()
    cluster.begin(speed=1000)
    row = cluster.until_state(longer, 'COMPLETED')
    assert row['end_us'] - row['start_us'] == 180e6
    row = cluster.until_state(drawn, 'COMPLETED')
    assert 300 * 0.8 - 1 <= (row['end_us'] - row['start_us']) / 1e6 <= 300 * 1.2 + 1


def test_time_runs_faster(cluster):
    cluster.begin(speed=100)
    first, begin = cluster.now_us(), time.monotonic()
    time.sleep(1)
    passed, real = cluster.now_us() - first, (time.monotonic() - begin) * 1e6
    assert 100 * 0.9e6 <= passed <= 100 * real + 100e5
    job = cluster.submit('-t', '1-00:00:00', '--', 'sleep', '36000')
    cluster.until_state(job, 'RUNNING')
    time.sleep(0.5)
    text = cluster.good('queue')
    minutes = int(re.search(r'RUNNING +(\d+):\d\d ', text)[1].split(':')[0])
    assert 0 <= minutes <= 60 and ' 0:00 ' not in text, text  # the time that it has run, by its own clock
    status = cluster.good('status')
    up = re.search(r', up (\S+) \((\S+) of its time\)\n', status)
    up_s, virtual_s = (sum(int(part) * 60 ** i for i, part in enumerate(reversed(text.split(':')))) for text in up.groups())
    assert 0 <= up_s < virtual_s and up_s == virtual_s // 100, status
    assert 'Pretend    %s: hosts that are not there, and no job really runs\n' % cluster.document in status
    assert re.search(r'\nTime       \d\d \w{3} \d{4} \d\d:\d\d:\d\d, 100 seconds of it in a second\n', status), status
    assert 'Hosts      3, 0 down: 11 of 12 CPUs free\n' in status
    # It stands still while the instance is stopped, and never runs backwards.
    last = cluster.now_us()
    assert cluster.good('stop') == "Stopped; 1 task stands still; run 'fairlead start --pretend FILE' to resume\n"
    time.sleep(1)
    cluster.begin(speed=1)
    assert last <= cluster.now_us() <= last + 100e6
    last = cluster.now_us()
    cluster.kill()
    cluster.begin(speed=1)
    assert last <= cluster.now_us() <= last + 20e6
    assert cluster.job(job)['state'] == 'RUNNING'


def test_hosts_of_a_job_are_one_range(cluster):
    cluster.begin(speed=1)
    wide = cluster.submit('-N', '3', '--slots', '3', '--', 'sleep', '1800')
    cluster.until_state(wide, 'RUNNING')
    assert cluster.good('queue', '-o', 'id,hosts', '--noheader').split() == [str(wide), 'n[1-3]']
    assert cluster.rows('queue', '-o', 'hosts') == [{'hosts': 'n1,n2,n3'}]


def test_a_minimum_of_nodes_counts_those_of_a_parallel_environment(cluster):
    cluster.begin(speed=1)
    for name, rule in (('fill', '$fill_up'), ('turn', '$round_robin'), ('pairs', '2')):
        cluster.good('pe', 'add', name, 'allocation_rule=' + rule)
    cluster.good('partition', 'modify', 'main', 'pe_list=fill turn pairs')
    cluster.good('qos', 'add', 'wide', 'MinTRES=node=2')
    cluster.good('qos', 'add', 'strict', 'MinTRES=node=2', 'flags=DenyOnLimit')
    cluster.good('set', 'AccountingStorageEnforce=limits')
    for options, starts in [
            (['--pe', 'pairs', '-n', '4'], True),
            (['--pe', 'pairs', '--slots', '3-4'], True),
            (['--pe', 'pairs', '--slots', '2-4'], False),
            (['--pe', 'fill', '-n', '4'], False),
            (['--pe', 'turn', '--slots', '2-4'], False)]:
        job = cluster.submit('-q', 'wide', '-t', '1', *options, '--', 'sleep', '30')
        if starts:
            assert cluster.until_state(job, 'RUNNING')['hosts'].count(',') == 1
            other = cluster.submit('-q', 'strict', '-t', '1', *options, '--', 'sleep', '30')
            cluster.good('cancel', other)
        else:
            until(lambda: cluster.job(job)['reason'] == 'QOSMinNode')
            assert '(QOSMinNode)' in cluster.bad('submit', '-q', 'strict', '-t', '1', *options, '--', 'true')
        cluster.good('cancel', job)


def test_reasons_name_hosts_of_the_cluster_only(cluster):
    cluster.begin(speed=1)
    cluster.submit('--array', '1-12', '--', 'sleep', '1800')
    waiting = cluster.submit('--', 'sleep', '1')
    until(lambda: cluster.job(waiting)['reason'] == 'Resources')
    shown = cluster.good('show', 'job', waiting)
    assert 'queue instance "main@n[1-3]" dropped because it is full' in shown
    tested = cluster.good('submit', '--test-only', '--', 'true') + cluster.good('check', waiting)
    assert 'main@n[1-3]' in tested
    assert 'localhost' not in shown + tested


def test_times_of_options_are_its_own(cluster):
    cluster.begin(speed=3600)
    time.sleep(1)
    before = cluster.now_us()
    job = cluster.submit('--begin', 'now+10hours', '--', 'sleep', '1')
    row = cluster.job(job)
    assert before + 36000e6 - 1e6 <= row['begin_us'] <= cluster.now_us() + 36000e6
    assert cluster.until_state(job, 'COMPLETED')['start_us'] >= row['begin_us']


def test_a_host_fails(cluster):
    cluster.begin(speed=120, failures=[{'hosts': 'n2', 'at': '0:10:00', 'for': '0:10:00'}])
    host = [cluster.submit('-l', 'hostname=n%d' % i, '-t', '1-00:00:00', '--', 'sleep', '1800') for i in (1, 2)]
    wide = cluster.submit('-N', '2', '-n', '5', '-l', 'hostname=n[23]', '-t', '1-00:00:00', '--', 'sleep', '1800')
    short = cluster.submit('-l', 'hostname=n2', '-t', '1-00:00:00', '--', 'sleep', '60')
    for job in (host[1], wide):
        row = cluster.until_state(job, 'NODE_FAIL')
        assert row['detail'] == 'host n2 failed' and row['end_us'] - row['start_us'] < 600e6
    ends = {cluster.job(job)['end_us'] for job in (host[1], wide)}
    created = cluster.json('host', 'show', 'localhost')[0]['created_us']
    assert ends == {created + 600000000}  # on time, to the microsecond
    assert cluster.job(short)['state'] == 'COMPLETED' and cluster.job(host[0])['state'] == 'RUNNING'
    (row,) = cluster.json('host', 'show', 'n2')
    assert (row['state'], row['down'], row['attached']) == ('UP', True, True)
    assert cluster.json('status')['hosts']['down'] == 1
    assert [place['state'] for place in cluster.json('places') if place['host'] == 'n2'] == ['DOWN']
    waiting = cluster.submit('-l', 'hostname=n2', '--', 'sleep', '60')  # it is accepted, and waits
    row = cluster.until_state(waiting, 'COMPLETED')
    assert row['start_us'] >= created + 1200000000
    assert cluster.json('host', 'show', 'n2')[0]['down'] is False
    # Hosts keep what an administrator says of them.
    cluster.good('host', 'drain', 'n2')
    cluster.good('stop')
    cluster.begin()
    assert cluster.json('host', 'show', 'n2')[0]['state'] == 'DRAIN'


def test_loads_over_time(cluster):
    cluster.begin(speed=600, loads=[{'hosts': 'n[1-2]', 'at': '0:10:00', 'np_load_avg': 0.75, 'mem_used': '2G'},
                                    {'hosts': 'n1', 'at': '10:00:00'}])
    def loads(host):
        return cluster.json('host', 'show', host)[0]['load']

    assert loads('n3')['np_load_avg'] == '0' and loads('n3')['mem_free'] == '8192.000M'
    until(lambda: loads('n1')['np_load_avg'] == '0.75', 'the load')
    assert (loads('n2')['load_avg'], loads('n2')['mem_free']) == ('3.00', '6144.000M')
    assert loads('n3')['load_avg'] == '0.00'
    cluster.good('stop')
    cluster.begin(speed=600)
    assert loads('n2')['load_avg'] == '3.00'
    until(lambda: loads('n1')['load_avg'] == '0.00', 'the load to end')


def test_kill_9(cluster):
    """No kill loses or repeats a job, or moves its end."""
    cluster.begin({'hosts': [{'name': 'n[1-20]', 'cpus': 8}]}, speed=300, fail_percent=10,
                  failures=[{'hosts': 'n[5-9]', 'at': '0:20:00', 'for': '0:10:00'}])
    arrays = [cluster.submit('--array', '1-300', '-t', '20:00', '--', 'true') for _ in range(2)]
    sleeps = [cluster.submit('--', 'sleep', str(100 + i)) for i in range(20)]
    seen = {}
    for i in range(8):
        time.sleep(0.3)
        with_ends = cluster.database()
        for row in with_ends.execute('SELECT launch_id, job_id, task_id, start_us, end_us FROM task WHERE end_us > 0'):
            assert seen.setdefault(row[0], row) == row
        with_ends.close()
        cluster.kill()
        cluster.begin(speed=300)
        if i == 4:
            cluster.good('cancel', arrays[1])
    until(lambda: not cluster.json('queue'), 'the end')
    database = cluster.database()
    rows = database.execute('SELECT launch_id, job_id, task_id, start_us, end_us, state FROM task').fetchall()
    database.close()
    assert len({row[1:3] for row in rows}) == len(rows) == len({row[0] for row in rows})  # each started once
    ended = {row[0]: row[:5] for row in rows}
    assert {launch: ended[launch] for launch in seen} == seen
    tasks = collections.Counter(row[1] for row in rows)
    assert tasks[arrays[0]] == 300 and all(tasks[job] == 1 for job in sleeps)
    for job in sleeps:
        row = cluster.job(job)
        run_s = 100 + sleeps.index(job)
        assert row['state'] in ('COMPLETED', 'FAILED', 'NODE_FAIL')
        assert row['state'] == 'NODE_FAIL' or row['end_us'] - row['start_us'] == run_s * 1000000
    assert json.loads(cluster.good('verify', '--json'))['differences'] == []


def test_the_document_may_change(cluster):
    cluster.begin(speed=60)
    jobs = [cluster.submit('-l', 'hostname=n%d' % i, '-t', '1-00:00:00', '--', 'sleep', '7200') for i in (1, 3)]
    for job in jobs:
        cluster.until_state(job, 'RUNNING')
    cluster.good('stop')
    cluster.begin({'hosts': [{'name': 'n[1-2],m1', 'cpus': 8}]})
    assert cluster.until_state(jobs[1], 'NODE_FAIL')['detail'] == 'its host is not there'
    assert cluster.job(jobs[0])['state'] == 'RUNNING'
    hosts = {row['name']: (row['attached'], row['total_cpus']) for row in cluster.json('host', 'show')}
    assert hosts == {'localhost': (False, None), 'n1': (True, 8), 'n2': (True, 8), 'n3': (False, None), 'm1': (True, 8)}


def test_this_machine_takes_no_job_unless_it_is_listed(cluster):
    cluster.begin()
    error = cluster.bad('submit', '-l', 'hostname=localhost', '--', 'true')
    assert 'localhost' in error
    cluster.good('stop')
    cluster.begin({'hosts': [{'name': 'localhost', 'cpus': 3}]})
    job = cluster.submit('-l', 'hostname=localhost', '-n', '3', '--', 'sleep', '60')
    assert cluster.until_state(job, 'COMPLETED')['hosts'] == 'localhost'


def test_a_dump_of_it_is_read(cluster):
    cluster.begin(speed=120, failures=[{'hosts': 'n2', 'at': 0, 'for': '10:00:00'}])
    cluster.submit('-n', '2', '--', 'sleep', '36000')
    cluster.submit('-n', '8', '-N', '3', '--', 'true')
    until(lambda: cluster.json('status')['tasks']['running'] == 1, 'the start')
    file = cluster.home / 'dump.json'
    cluster.good('scenario', 'dump', '-o', file)
    hosts = {host['name']: host for host in json.loads(file.read_text())['hosts']}
    assert hosts['localhost']['attached'] is False and hosts['n2']['down'] is True
    assert 'n2' not in json.dumps(cluster.rows('schedule', '-f', file, '--no-chart'))


@pytest.mark.parametrize('text, error', [
    ('', 'is empty; a pretend cluster is a JSON document'),
    ('{', 'invalid JSON'),
    ('{"hosts": [{"name": "n1", "cpus": 0}]}', 'hosts[0].cpus: 0 is not a whole number from 1 to 65536'),
    ('{"hosts": [{"name": "n1", "cpus": 1}, {"name": "n1", "cpus": 1}]}', "hosts[1].name: host 'n1' occurs twice"),
    ('{"hosts": [{"name": "n1", "cpus": 1}], "failures": [{"hosts": "n1", "at": "soon", "for": 1}]}', "failures[0].at: 'soon' is not"),
    ('{"hosts": [{"name": "n1", "cpus": 1}], "failures": [{"hosts": "n1", "at": 1, "for": 9}, {"hosts": "n1", "at": 5, "for": 1}]}',
     "failures: host 'n1' fails again at 5 s while it is down"),
])
def test_documents_that_are_refused(cluster, text, error):
    cluster.document.write_text(text)
    assert '%s: %s' % (cluster.document, error) in cluster.bad('start', '--pretend', cluster.document)
    assert not cluster.state.exists()


def test_options_that_are_refused(cluster):
    cluster.document.write_text(json.dumps(SMALL))
    for speed in ('0', '-1', '1e9', 'abc', '10001', ''):
        assert '--speed' in cluster.bad('start', '--pretend', cluster.document, '--speed', speed)
    assert 'No such file' in cluster.bad('start', '--pretend', cluster.home / 'none')
    assert 'is a directory' in cluster.bad('start', '--pretend', cluster.home)
    assert '--speed requires --pretend' in cluster.bad('start', '--speed', '5')
    assert not cluster.state.exists() and not (cluster.home / 'state/fairlead').exists()


def test_real_and_pretend_instances_stay_apart(cluster):
    del cluster.environment['FAIRLEAD_SOCKET']
    real = cluster.home / 'state/fairlead'
    cluster.good('start')
    cluster.document.write_text(json.dumps(SMALL))
    out = cluster.run('start', '--pretend', cluster.document)  # beside it
    assert out.status == 0 and str(cluster.state) in out.out and str(cluster.socket) in out.err
    assert json.loads(cluster.good('status', '--json'))['pretend'] is None
    assert 'has real jobs' in cluster.bad('start', '--pretend', cluster.document, '--state', real)
    assert 'is that of a pretend instance' in cluster.bad('start', '--state', cluster.state)
    pretend = {'environment': {'FAIRLEAD_SOCKET': str(cluster.socket)}}
    assert 'is that of a pretend instance' in cluster.bad('start', **pretend)
    cluster.good('stop', **pretend)
    cluster.good('stop')
    before = sorted(path.name for path in real.iterdir())
    assert 'has real jobs' in cluster.bad('start', '--pretend', cluster.document, '--state', real)
    assert 'is that of a pretend instance' in cluster.bad('start', '--state', cluster.state)
    assert 'is that of a pretend instance' in cluster.bad('start', **pretend)
    assert sorted(path.name for path in real.iterdir()) == before
    # The variable of an instance that is stopped finds it again; that of a real one never leads to its directory.
    for variable, directory in ((cluster.socket, cluster.state), (real / 'fairlead.sock', cluster.state)):
        result = cluster.run('start', '--pretend', cluster.document, environment={'FAIRLEAD_SOCKET': str(variable)})
        assert result.status == 0 and 'state in %s\n' % directory in result.out, result
        cluster.good('stop', **pretend)


def test_only_one_document_runs(cluster):
    cluster.begin(speed=60)
    other = cluster.home / 'other.json'
    other.write_text(json.dumps(SMALL))
    assert "run 'fairlead stop' first" in cluster.bad('start', '--pretend', other)
    assert "run 'fairlead stop' first" in cluster.bad('start', '--pretend', cluster.document, '--speed', 61)
    assert cluster.run('start', '--pretend', cluster.document).out.startswith('Already running')


@pytest.mark.parametrize('name', ['pretend-small.json', 'pretend-1000.json'])
def test_the_examples_start(cluster, name):
    cluster.document = pathlib.Path('examples', name).resolve()
    cluster.begin(speed=3600)
    cluster.submit('--array', '1-50', '-n', '8', '-t', '2:00:00', '--', 'true')
    cluster.submit('-l', 'arch=lx-amd64', '--gpus', '1', '-t', '1:00:00', '--', 'true')
    until(lambda: not cluster.json('queue'), 'the end')
    assert {row['state'] for row in cluster.json('history')} <= {'COMPLETED', 'FAILED', 'NODE_FAIL'}


def test_a_turn_that_cannot_be_committed(cluster):
    """The launches go on from the rows, as after a restart."""
    cluster.begin(speed=300, failures=[{'hosts': 'n2', 'at': '0:15:00', 'for': '0:05:00'}])
    array = cluster.submit('--array', '1-200', '-t', '4:00', '--', 'true')
    cluster.until_state('%d_1' % array, 'RUNNING', 'COMPLETED')
    writer = sqlite3.connect(cluster.state / 'fairlead.db', isolation_level=None, timeout=30)
    log = cluster.state / 'fairleadd.log'
    for _ in range(3):
        count = log.read_text().count('event=commit-failed')
        writer.execute('BEGIN IMMEDIATE')
        until(lambda: log.read_text().count('event=commit-failed') > count, 'a commit to fail')
        writer.execute('ROLLBACK')
        time.sleep(0.5)
    writer.close()
    until(lambda: not cluster.json('queue'), 'the end')
    rows = cluster.json('history', '-n', '1000')
    assert len(rows) == 200 and {row['state'] for row in rows} <= {'COMPLETED', 'NODE_FAIL'}
    assert all(row['end_us'] - row['start_us'] <= 144e6 for row in rows if row['state'] == 'COMPLETED')
    assert json.loads(cluster.good('verify', '--json'))['differences'] == []
