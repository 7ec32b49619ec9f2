"""What jobs of an instance ask of their places, as a user says it."""


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
    assert states() == ['UP', 'DRAIN']
    waiting = instance.submit('-p', 'fast', '--', 'true')
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
    assert unlisted == "fairlead submit: --pe: 'mpi' is in the pe_list of no partition of the job"
    instance.until_state(instance.submit('--pe', 'mpi', '-n', 2, '-p', 'main,wide', '--', 'true'), 'COMPLETED')
