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
