"""What jobs of an instance ask of their places, as a user says it."""

import getpass


def submit(instance, *options):
    return instance.submit(*options, '--', 'sleep', '0')


def test_queues_and_soft_requests(instance):
    instance.good('resource', 'add', 'fan', 'type=BOOL', 'relop===', 'consumable=NO')
    instance.good('partition', 'add', 'heavy', 'complex_values=fan=true')
    instance.good('host', 'drain', 'localhost')
    in_queue = submit(instance, '--queues', 'heavy@local*,main')
    assert instance.job(in_queue)['partition'] == 'main,heavy'
    wishing = submit(instance, '-p', 'main,heavy', '--soft', 'fan', '--master-queues', '*', '--soft-queues', 'heavy')
    row = instance.job(wishing)
    assert (row['partition'], row['soft'], row['master_queues']) == ('heavy,main', 'fan=true', '*')
    assert 'Soft requests fan=true' in instance.good('show', 'job', wishing)
    instance.good('update', wishing, '--soft', '', '--queues', 'main')
    assert instance.job(wishing)['queues'] == 'main'
    assert "--queues: 'fats' matches no partition" in instance.bad('submit', '--queues', 'fats', '--', 'true')
    assert "--queues: 'main' can never run" in instance.bad('update', wishing, '-p', 'heavy')
    assert instance.bad('submit', '-N', '2', '--', 'true') == \
        "fairlead submit: --nodes: '2' can never run: asks for 2 hosts; at most 1 would fit"
    instance.good('update', wishing, '-N', '1-2')
    assert 'Nodes         1-2\n' in instance.good('show', 'job', wishing)
    assert "--constraint: 'avx' is a feature of no host" in instance.bad('submit', '-C', 'avx', '--', 'true')
    instance.good('host', 'modify', 'localhost', 'features=avx,ssd')
    instance.good('update', wishing, '-C', 'avx&ssd')
    instance.good('host', 'resume', 'localhost')
    assert instance.until_state(wishing, 'COMPLETED')['partition'] == 'main'


def test_what_can_never_run_says_why(instance):
    instance.good('resource', 'add', 'fan')
    instance.good('host', 'modify', 'localhost', 'complex_values=fan=2')
    instance.good('partition', 'add', 'fast', 'slots=2')
    instance.run('partition', 'add', 'vip', 'user_lists=zoe')
    instance.good('pe', 'add', 'pairs', 'allocation_rule=2')
    instance.good('pe', 'add', 'alone')
    instance.good('partition', 'modify', 'main', 'pe_list=pairs')
    for options, text in [
            (['-p', 'fast', '-n', '4'], '--cpus: 4 can never run: asks for 4 slots on one host; '
                                        "partition 'fast' has at most 2 on a host"),
            (['-p', 'fast', '--slots', '3-4'], '--slots: 3 can never run: asks for 3 slots on one host; '
                                               "partition 'fast' has at most 2 on a host"),
            (['--slots-per-node', '5'], "--slots-per-node: 5 exceeds the host's 4 CPUs"),
            (['--pe', 'pairs', '-n', '3'], "--cpus: 3 can never run: asks for 3 slots; the parallel environment 'pairs' "
                                           'gives 2 on each host: ask for 2'),
            (['--pe', 'alone'], "--pe: 'alone' can never run: the parallel environment 'alone' is not in the pe_list of "
                                "partition 'main'; it is in none"),
            (['-p', 'vip'], "--partition: 'vip' can never run: partition 'vip' does not accept user 'root' "
                            '(user_lists zoe)'),
            (['-l', 'fan=3'], "--request: 'fan=3' can never run: asks for fan=3; the largest host has 2"),
            (['-l', 'fan=1', '-n', '3'], "--request: 'fan=1' can never run: asks for fan=1 for each of 3 slots, 3 on one "
                                         'host; the largest host has 2'),
            (['--mem-per-cpu', '2G', '-n', '3'], '--mem-per-cpu: 2G for each of 3 slots is 6G, which exceeds the '
                                                 "host's 4G of memory")]:
        text = text.replace("'root'", "'%s'" % getpass.getuser())
        assert instance.bad('submit', *options, '--', 'true') == 'fairlead submit: ' + text
    assert "'gpu' is not a resource; GPUs are 'gres/gpu'" in \
        instance.bad('host', 'modify', 'localhost', 'complex_values=gpu=4')
    assert 'gres/gpu=4: this machine has no GPUs' in \
        instance.bad('host', 'modify', 'localhost', 'complex_values=gres/gpu=4')
    submit(instance, '-p', 'fast', '--slots', '2-8')


def test_an_accepted_job_that_can_never_run_says_why(instance):
    instance.good('partition', 'add', 'fast')
    instance.good('host', 'drain', 'localhost')
    wide, fast = submit(instance, '-n', '4'), submit(instance, '-p', 'fast')
    assert instance.job(wide)['reason'] == instance.job(fast)['reason'] == 'ReqNodeNotAvail'
    instance.good('set', 'host_cpus=3')
    instance.good('partition', 'modify', 'fast', 'hosts=NONE')
    assert instance.good('queue').count('  BadConstraints\n') == 2
    assert 'Waits for     can never run: asks for 4 slots on one host; the largest has 3\n' in \
        instance.good('show', 'job', wide)
    assert "can never run: partition 'fast' has no hosts" in instance.good('queue', '--start')
    instance.good('set', 'host_cpus=4')
    assert instance.job(wide)['reason'] == 'ReqNodeNotAvail'


def test_amounts_of_each_slot(instance):
    script = 'echo $FAIRLEAD_CPUS $FAIRLEAD_MEM_MIB'
    job = instance.submit('--slots', '1-2', '--mem-per-cpu', '30M', '-o', 'out', '--', 'sh', '-c', script)
    row = instance.until_state(job, 'COMPLETED')
    slots, mem_mib = (int(word) for word in instance.good('log', job).split())
    assert mem_mib == 30 * slots
    assert (row['cpus'], row['mem_per_cpu_mib'], row['mem_mib']) == (1, 30, 30)
    assert 'cpu=%d,mem=%d,' % (slots, mem_mib) in row['tres']
    assert instance.bad('submit', '--mem', '1G', '--mem-per-cpu', '1G', '--', 'true') == \
        'fairlead submit: --mem-per-cpu: not together with the memory of each task; give only one of them'


def places(instance):
    return {row.pop('place'): row for row in instance.json('places')}


def test_places_are_partitions_on_hosts(instance):
    instance.good('partition', 'add', 'fast', 'slots=2')
    instance.good('host', 'add', 'n2', 'cpus=8')
    running = instance.submit('-n', 3, '-t', 10, '--', 'sleep', 100)
    instance.until_state(running, 'RUNNING')
    instance.submit('-n', 4, '-t', 10, '--', 'true')
    instance.submit('-n', 2, '-t', 10, '-p', 'fast', '--', 'true')
    rows = places(instance)
    assert list(rows) == ['main@localhost', 'fast@localhost', 'main@n2', 'fast@n2']
    assert rows['main@localhost'].pop('load') >= 0
    assert rows['main@localhost'] == {'partition': 'main', 'host': 'localhost', 'state': 'UP', 'used': 3, 'reserved': 4, 'total': 4,
                                      'free': 1}
    of_fast = rows['fast@localhost']
    assert (of_fast['used'], of_fast['reserved'], of_fast['total'], of_fast['free']) == (0, 2, 2, 1)
    assert (rows['fast@n2']['state'], rows['fast@n2']['free'], rows['fast@n2']['load']) == ('UNATTACHED', 0, None)
    assert instance.good('places').splitlines()[0].split() == ['PLACE', 'STATE', 'USED', 'RESERVED', 'TOTAL', 'FREE', 'LOAD']
    assert instance.rows('places')[0]['free'] == '1'
    assert [row['attached'] for row in instance.json('host', 'show')] == [True, False]


def test_states_of_places(instance):
    def states():
        return [row['state'] for row in instance.json('places')]
    instance.good('partition', 'add', 'fast')
    assert instance.good('partition', 'drain', 'fast') == 'Drained partition fast\n'
    assert states() == ['UP', 'UP']
    assert "'fast' accepts no new jobs: its state is DRAIN" in instance.bad('submit', '-p', 'fast', '--', 'true')
    instance.good('partition', 'modify', 'fast', 'state=DOWN')
    assert states() == ['UP', 'DOWN']
    waiting = instance.submit('-p', 'fast', '--', 'true')
    assert instance.job(waiting)['reason'] == 'PartitionDown'
    assert instance.job(waiting)['state'] == 'PENDING'
    assert instance.good('partition', 'resume', 'fast') == 'Resumed partition fast\n'
    instance.until_state(waiting, 'COMPLETED')
    instance.good('partition', 'modify', 'fast', 'state=UP,[localhost=DOWN]')
    instance.good('partition', 'modify', 'main', 'load_thresholds=mem_total=1000G')
    assert states() == ['OVERLOADED', 'DOWN']
    instance.good('host', 'drain', 'localhost')
    assert states() == ['DRAIN', 'DOWN']
    assert "no partition 'none'" in instance.bad('partition', 'drain', 'none')


def test_a_parallel_environment_has_to_be_listed(instance):
    instance.good('pe', 'add', 'mpi')
    instance.good('partition', 'add', 'wide', 'pe_list=mpi')
    unlisted = instance.bad('submit', '--pe', 'mpi', '-n', 2, '--', 'true')
    assert unlisted == ("fairlead submit: --pe: 'mpi' can never run: the parallel environment 'mpi' is not in the pe_list "
                        "of partition 'main'; it is in that of partition 'wide'")
    instance.until_state(instance.submit('--pe', 'mpi', '-n', 2, '-p', 'main,wide', '--', 'true'), 'COMPLETED')


def test_ranges_of_hosts_are_read_as_they_are_listed(instance):
    for host in ('n1', 'n2', 'n3', 'n07'):
        instance.good('host', 'add', host, 'cpus=4')
    assert "partition 'p': hosts: 'n4' is not a host" in instance.bad('partition', 'add', 'p', 'hosts=n[1-4]')
    instance.good('partition', 'add', 'p', 'hosts=n[1-3,07]', 'slots=2')
    instance.good('group', 'add', 'g', 'hosts=n[1-2]')
    instance.good('partition', 'add', 'q', 'hosts=@g,n3')
    instance.good('quota', 'add', 'few', 'rules=limit hosts {n[1-2],!n2} to slots=1')
    assert "'n4' in rule 1 is not a host" in instance.bad('quota', 'add', 'bad', 'rules=limit hosts n[3-4] to slots=1')
    assert "host 'n3' is in use" in instance.bad('host', 'delete', 'n3')
    offered = {(row['partition'], row['host']) for row in instance.json('places')}
    assert {host for partition, host in offered if partition == 'p'} == {'n1', 'n2', 'n3', 'n07'}
    assert {host for partition, host in offered if partition == 'q'} == {'n1', 'n2', 'n3'}
    document = instance.work / 'd.json'
    instance.good('scenario', 'dump', '-o', str(document))
    assert instance.run('schedule', '-f', str(document)).status == 0
    document.write_text(document.read_text().replace('n[1-3,07]', 'n[1-4]'))
    refused = instance.run('schedule', '-f', str(document))
    assert refused.status == 2 and "partitions[1].hosts: 'n4' is not a host" in refused.err
