"""fairlead scenario dump: what 'prio -f', 'share -f' and 'schedule -f' answer from the document is what the instance answers:
priorities, shares, reservations as in 'queue --start', and what starts next.

The instance's usage and priorities stand still between the answers: usage does not decay, running jobs are of a QOS that is not
charged, and neither age nor waiting has a weight. Known difference: a task that is starting or completing is RUNNING in the
document, and so is the state in the listing of the tickets model."""
import json
import os
import pwd
import resource
import signal
import stat

import pytest

from conftest import SocketConnection, until

ME = pwd.getpwuid(os.geteuid()).pw_name


@pytest.fixture
def busy(instance):
    """Two CPUs with a running job and a task of an array, jobs that wait for each reason, usage of ended jobs, and objects."""
    good, submit = instance.good, instance.submit
    good('set', 'host_cpus=3', 'host_mem_mib=1000', 'host_gpus=1', 'halflife_s=0', 'PriorityWeightAge=0', 'PriorityWeightQOS=50',
         'PriorityWeightJobSize=77', 'PriorityWeightTRES=cpu=10,gres/gpu=90', 'PriorityWeightPartition=300',
         'weight_waiting_time=0', 'weight_tickets_functional=1000', 'weight_tickets_share=500', 'weight_priority=0.1')
    good('qos', 'add', 'free', 'usage_factor=0', 'priority=3')
    good('project', 'add', 'P1', 'fshare=10')
    good('department', 'add', 'chem', 'fshare=5')
    good('resource', 'add', 'tape', 'amount=2', 'urgency=10')
    good('pe', 'add', 'smp', 'slots=9')
    good('partition', 'add', 'fast', 'PriorityTier=2', 'PriorityJobFactor=5', 'MaxTime=30', 'slots=2',
         'load_thresholds=np_load_avg=99')
    good('partition', 'modify', 'main', 'pe_list=smp')
    good('host', 'add', 'n2', 'cpus=4')
    good('host', 'drain', 'n2')
    good('host', 'modify', 'localhost', 'features=avx,ssd')
    good('host', 'modify', 'localhost', 'load_scaling=load_avg=0.5')
    good('group', 'add', 'all', 'hosts=localhost,n2')
    good('account', 'add', 'p\u00e9.a', '--shares', '3')
    good('user', 'add', ME, '-A', 'p\u00e9.a', '--shares', '2')
    good('user', 'add', ME, '-A', 'p\u00e9.a', '--partition', 'fast', '--shares', '4')
    instance.until_state(submit('-A', 'p\u00e9.a', '-P', 'P1', '--', 'sleep', '0.3'), 'COMPLETED')
    instance.until_state(submit('-n', '2', '-t', '50', '-q', 'free', '--', 'sleep', '1000'), 'RUNNING')
    array = submit('-a', '3-9%1', '-t', '20', '-q', 'free', '--', 'sleep', '1000')
    instance.until_state('%d_3' % array, 'RUNNING')
    submit('-n', '2', '-t', '20', '-p', 'main,fast', '--nice=5', '--comment', 'it\'s "odd" \\ \u00e9', '--', 'true')
    submit('-A', 'p\u00e9.a', '-t', '10', '-G', '1', '-P', 'P1', '-l', 'tape=1', '--', 'true')
    submit('--slots', '1-3', '-t', '25', '-p', 'fast', '--', 'true')
    submit('-H', '-t', '10', '--', 'true')
    submit('--begin', 'now+1hour', '-t', '10', '--', 'true')
    submit('-t', '60', '--', 'true')
    submit('--pe', 'smp', '--slots', '2-3', '-t', '15', '--reserve', '--', 'true')
    submit('-n', '2', '-N', '1', '--slots-per-node', '2', '-C', 'avx', '--mem-per-cpu', '70', '-t', '5', '--', 'true')
    submit('-n', '2', '--queues', 'main@localhost,fast', '--soft', 'tape=1', '--soft-queues', 'fast', '-t', '5', '--', 'true')
    good('user', 'add', ME, '-A', 'p\u00e9.a', '--partition', 'main', '--shares', '5')  # the running jobs keep theirs
    return instance


@pytest.mark.parametrize('settings', [
    ['PriorityType=priority/multifactor', 'PriorityFlags=CALCULATE_RUNNING'],
    ['PriorityType=priority/multifactor', 'PriorityFlags=NO_FAIR_TREE,INCR_ONLY'],
    ['PriorityType=priority/multifactor', 'bf_resolution=300', 'bf_window=40', 'bf_max_job_test=4'],
    ['PriorityType=priority/tickets', 'max_reservation=3', 'params=DURATION_OFFSET=30'],
    ['PriorityType=priority/basic', 'reservation_depth=2'],
], ids=['multifactor', 'classic', 'backfill', 'tickets', 'basic'])
def test_the_document_answers_as_the_instance(busy, settings):
    busy.good('set', *settings)
    path = busy.work / 'now.json'
    assert busy.good('scenario', 'dump', '-o', path) == ''
    for command in (['prio', '-P'], ['prio', '--json'], ['share', '-P'], ['prio'], ['share']):
        live, read = busy.run(*command), busy.run(*command, '-f', path)
        assert (live.status, read.status, read.out) == (0, 0, live.out), command
    rows = busy.rows('schedule', '-f', path)
    running = {row['JOBID'] for row in rows if row['STATE'] == 'RUNNING'}
    assert running == {row['id'] for row in busy.json('queue') if row['state'] == 'RUNNING'}
    assert not [row for row in rows if row['STATE'] == 'STARTING']  # what could start runs
    reserved = {row['id']: (row['start_us'], row['places'])
                for row in busy.json('schedule', '-f', path) if row['state'] == 'RESERVED'}
    expected = {row['id']: (row['expected_start_us'], row['expected_places']) for row in busy.json('queue', '--start')}
    assert reserved.items() <= expected.items()
    assert reserved or 'PriorityType=priority/tickets' in settings  # Grid Engine makes none while no slot is free
    # What starts next is what the schedule of the document starts without the running job.
    document = json.loads(path.read_text())
    (blocker,) = [job for job in document['jobs'] if job['cpus'] == 2 and job.get('state') == 'RUNNING']
    document['jobs'].remove(blocker)
    without = busy.run('schedule', '-f', '-', '-P', text=json.dumps(document)).out.splitlines()
    starting = {line.split('|')[0] for line in without if '|STARTING|' in line}
    assert starting
    busy.good('cancel', blocker['id'])

    def started():
        shown = {row['id'] for which in ('queue', 'history') for row in busy.json(which)
                 if row['state'] not in ('PENDING', 'HELD', 'CANCELLED')}
        return starting <= shown
    until(started, '%s to start' % starting)


def test_what_the_document_has(busy):
    document = json.loads(busy.good('scenario', 'dump'))
    assert document['instance'] is True
    loads = document['hosts'][0].pop('load_values')
    assert loads == busy.json('host', 'show', 'localhost')[0]['load'] and float(loads['np_load_avg']) >= 0
    assert document['hosts'] == [
        {'name': 'localhost', 'cpus': 3, 'mem': 1000, 'gres': {'gpu': 1}, 'load_scaling': 'load_avg=0.5',
         'features': 'avx,ssd'},
        {'name': 'n2', 'cpus': 4, 'state': 'DRAIN'}]
    assert document['settings']['PriorityWeightQOS'] == 50 and 'host_cpus' not in document['settings']
    assert {'account': 'p\u00e9.a', 'shares': 3} in document['tree']
    (usage,) = [row['usage'] for row in document['tree'] if row.get('user') == ME and 'usage' in row]
    assert [(row['partition'], row['shares']) for row in document['tree'] if 'partition' in row] == [('fast', 4), ('main', 5)]
    assert {job['id']: job['association_partition'] for job in document['jobs'] if 'association_partition' in job} == {2: ''}
    assert 0 < usage < 60
    assert {'user': ME, 'project': 'P1'}.items() <= document['usage_owners'][0].items()
    jobs = {job['id']: job for job in document['jobs']}
    assert len(jobs) == 11 and 1 not in jobs  # the first one has ended
    assert jobs[3]['tasks'] == '4-9' and jobs[3]['running'][0]['task'] == 3
    assert jobs[4]['partition'] == ['main', 'fast'] and jobs[4]['comment'] == 'it\'s "odd" \\ \u00e9'
    assert jobs[6]['slots'] == [1, 3] and jobs[7]['state'] == 'HELD' and 'eligible' in jobs[8]
    assert jobs[10]['pe'] == 'smp' and jobs[10]['reserve'] is True and 'reserve' not in jobs[9]
    asked = {'nodes': [1, 1], 'slots_per_node': 2, 'constraint': 'avx', 'mem_per_cpu': 70}
    assert asked.items() <= jobs[11].items() and 'mem' not in jobs[11]
    asked = {'queues': 'main@localhost,fast', 'soft': {'tape': '1'}, 'soft_queues': 'fast', 'partition': ['fast', 'main']}
    assert asked.items() <= jobs[12].items()


def test_over_http(busy):
    connection = SocketConnection(busy.socket)
    connection.request('GET', '/v1/scenario')
    reply = connection.getresponse()
    document = json.loads(reply.read())
    assert (reply.status, reply.getheader('Content-Type')) == (200, 'application/json')
    assert [job['id'] for job in document['jobs']] == list(range(2, 13))
    connection.close()


def test_files(instance):
    path = instance.work / 'd.json'
    instance.good('scenario', 'dump', '-o', path)
    assert stat.S_ISREG(path.stat().st_mode) and json.loads(path.read_text())['jobs'] == []
    assert 'No such file' in instance.bad('scenario', 'dump', '-o', instance.work / 'no/such.json', status=1)
    assert "unexpected argument 'x'" in instance.bad('scenario', 'dump', 'x')
    path.chmod(0o640)
    link = instance.work / 'link.json'
    link.symlink_to(path)
    instance.good('scenario', 'dump', '-o', link)
    assert link.is_symlink() and stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(path.parent).count('d.json') == 1 and not list(path.parent.glob('d.json.*'))
    instance.good('stop')
    instance.bad('scenario', 'dump', '-o', path, status=1)
    assert json.loads(path.read_text())['jobs'] == []  # still the last good one


def limit_file_size():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


def test_a_full_disk_leaves_the_old_file(instance):
    path = instance.work / 'd.json'
    path.write_text('old')
    dump = instance.popen('scenario', 'dump', '-o', path, preexec_fn=limit_file_size)
    _, err = dump.communicate()
    assert (dump.returncode, err.decode()) == (1, 'fairlead scenario dump: %s: File too large\n' % path)
    assert path.read_text() == 'old' and not list(instance.work.glob('d.json.*'))


def test_what_is_no_regular_file_is_written_directly(instance):
    pipe = instance.work / 'pipe'
    os.mkfifo(pipe)
    dump = instance.popen('scenario', 'dump', '-o', pipe)
    assert json.loads(pipe.read_text())['jobs'] == []
    assert dump.wait() == 0 and stat.S_ISFIFO(pipe.stat().st_mode)
    full = instance.work / 'full'
    full.symlink_to('/dev/full')
    assert "full: No space left on device" in instance.bad('scenario', 'dump', '-o', full, status=1)
    assert full.is_symlink() and stat.S_ISCHR(os.stat('/dev/full').st_mode)


@pytest.mark.parametrize('change, error', [
    (lambda d: d['hosts'].clear(), 'hosts: missing'),
    (lambda d: d['hosts'][0].update(name='n1'), "hosts[0].name: 'n1' is not 'localhost'"),
    (lambda d: d['hosts'][0].update(gres={'gpu': 1, 'fpga': 1}), "hosts[0].gres.fpga: a machine has only 'gpu'"),
    (lambda d: d.update(share_tree={'name': 'root'}), "share_tree: the share tree of an instance is its 'tree'"),
    (lambda d: d.update(instance=1), 'instance: 1 is not true or false'),
    (lambda d: d.pop('instance') and d['settings'].clear(), 'usage_owners: is only accepted in the document of an instance'),
    (lambda d: d['jobs'][0].update(tres='cpu=2'), 'jobs[0].tres: is not accepted in the document of an instance'),
    (lambda d: d['jobs'][0].update(nodes=3), 'jobs[0].nodes: 3 slots are the minimum, and the job asks for 2'),
    (lambda d: d['jobs'][0].update(pe='s*'), "jobs[0].pe: 's*' is not a parallel environment of this document"),
    (lambda d: d['jobs'][0].update(running=[{'task': 3}]), 'jobs[0]'),
    (lambda d: d['jobs'][1]['running'][0].update(task=4), 'jobs[1].running[0].task: 4 occurs twice, or is pending'),
    (lambda d: d['jobs'][1]['running'][0].update(launch=d['jobs'][0]['launch']), 'jobs[1].running[0].launch: occurs twice'),
    (lambda d: d['jobs'][1]['running'][0].update(places={'main@n2': 1}), 'jobs[1].running[0].places: '),
    (lambda d: d['jobs'][4].update(slots=[2, 3]), 'jobs[4].slots: the minimum, 2, is not the number of CPUs, 1'),
    (lambda d: d['settings'].update(host_cpus=4), "settings.host_cpus: without effect in a document; give 'hosts'"),
])
def test_wrong_changes(busy, change, error):
    document = json.loads(busy.good('scenario', 'dump'))
    change(document)
    result = busy.run('prio', '-f', '-', text=json.dumps(document))
    assert result.status == 2 and result.out == '' and error in result.err, result
