"""One job on a small cluster, with terms of priority/multifactor that were calculated by hand (as in the comments): edge cases
of docs/formulas.md 4."""
import json
import os
import subprocess

import pytest

FAIRLEAD = os.path.join(os.environ.get('FAIRLEAD_BUILD', 'build'), 'fairlead')
NOW = 1000000

# 3 nodes, 20 CPUs and 6 GPUs, all in the partition 'all'; 12 CPUs and 2 GPUs in 'two'. Licences belong to no partition.
CLUSTER = {
    'now': NOW,
    'hosts': [{'name': 'a', 'cpus': 8, 'mem': '16G', 'gres': {'gpu:x': 4}},
              {'name': 'b', 'cpus': 8, 'mem': '16G', 'gres': {'gpu': 2}},
              {'name': 'c', 'cpus': 4, 'mem': '8G'}],
    'resources': [{'name': 'lic', 'amount': 20}],
    'partitions': [{'name': 'all', 'PriorityJobFactor': 3, 'MaxTime': '10'},
                   {'name': 'two', 'hosts': ['b', 'c'], 'PriorityJobFactor': 4, 'TRESBillingWeights': 'CPU=2,GRES/gpu=5'},
                   {'name': 'none', 'hosts': [], 'PriorityJobFactor': 0}],
    'qos': [{'name': 'low', 'priority': 0}, {'name': 'high', 'priority': 8}, {'name': 'mid', 'priority': 2}],
    'tree': [{'account': 'p', 'priority': 30}, {'account': 'p', 'user': 'u'}, {'account': 'p', 'user': 'v', 'priority': 40}],
}
TRACKED = {'AccountingStorageTRES': 'gres/gpu,license/lic'}
JOB = {'id': 1, 'user': 'u', 'account': 'p', 'submit': NOW - 300, 'cpus': 5, 'nodes': 2, 'time_limit_s': 420}


def rows_of(settings, job, **cluster):
    """job: changes to JOB; None removes a key."""
    job = {key: value for key, value in {**JOB, **job}.items() if value is not None}
    document = {**CLUSTER, **cluster, 'settings': {**TRACKED, **settings}, 'jobs': [job]}
    result = subprocess.run([FAIRLEAD, 'prio', '-f', '-', '-P'], input=json.dumps(document), capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, ''), result.stderr
    heading, *lines = [line.split('|') for line in result.stdout.splitlines()]
    return [dict(zip(heading, line)) for line in lines]


def check(settings, job, expected, **cluster):
    row, = rows_of(settings, job, **cluster)
    for column, value in expected.items():
        if isinstance(value, str):
            assert row[column] == value, column
        else:
            assert abs(float(row[column]) - value) < 1e-9 * max(1, abs(value)), (column, row[column], value)


SIZE = {'PriorityWeightJobSize': 1000}
SMALL = {**SIZE, 'PriorityFavorSmall': 'YES'}
TIME = {**SIZE, 'PriorityFlags': 'SMALL_RELATIVE_TO_TIME'}


@pytest.mark.parametrize('settings, job, size', [
    (SIZE, {}, 458.3333333333333),                                # (2/3 + 5/20) / 2
    (SIZE, {'cpus': 0}, 666.6666666666666),                       # 2/3
    (SIZE, {'cpus': 20, 'nodes': 3}, 1000),                       # (3/3 + 20/20) / 2
    (SIZE, {'cpus': 90, 'nodes': 9}, 1000),                       # (9/3 + 90/20) / 2 = 3.75, cut
    (SIZE, {'tres': 'cpu=10,node=1'}, 458.3333333333333),         # its cpus and nodes, not those of the list
    (SIZE, {'tres': 'cpu=10,node=1', 'cpus': None, 'nodes': None}, 416.6666666666667),  # (1/3 + 10/20) / 2
    (SIZE, {'tres': 'cpu=10,node=1', 'cpus': None}, 583.3333333333333),                 # (2/3 + 10/20) / 2
    (SMALL, {}, 541.6666666666666),                               # (1/3 + 15/20) / 2
    (SMALL, {'cpus': 0}, 333.3333333333333),                      # 1/3
    (SMALL, {'nodes': 3}, 375),                                   # (0 + 15/20) / 2
    (SMALL, {'cpus': 21}, 1000),                                  # (1/3 + (2^32 - 1)/20) / 2, cut
    (TIME, {}, 95.23809523809524),                                # max(2 20/3, 5) / 7 / 20 = 13.33/140
    (TIME, {'nodes': 1, 'cpus': 12}, 85.71428571428571),          # max(20/3, 12) / 7 / 20 = 12/140
    (TIME, {'time_limit_s': 30, 'nodes': 1, 'cpus': 20}, 1000),   # 20 / 0.5 / 20 = 2, cut
    ({**TIME, 'PriorityFavorSmall': 'YES'}, {'nodes': 1, 'cpus': 12}, 914.2857142857143),  # 1 - 12/140
    ({**TIME, 'PriorityFavorSmall': 'YES'}, {'time_limit_s': 30, 'cpus': 20}, 0),          # 1 - 2, cut
    (SIZE, {'qos': 'high', 'nice': -3}, 458.3333333333333),
], ids=str)
def test_size(settings, job, size):
    check(settings, job, {'JOBSIZE': size})


@pytest.mark.parametrize('partitions, size', [
    (['all', 'two'], 66.66666666666667),  # 13.33 / 10 / 20, in both rows
    (['two', 'all'], 0),                  # the first one has no MaxTime
])
def test_size_by_the_time_of_the_current_partition(partitions, size):
    rows = rows_of(TIME, {'time_limit_s': None, 'partition': partitions})
    assert len(rows) == 2 and all(abs(float(row['JOBSIZE']) - size) < 1e-9 for row in rows)


def test_no_cluster_no_size():
    check(SIZE, {}, {'JOBSIZE': 0, 'PRIORITY': '1'}, hosts=[], partitions=[])


TRES = {'PriorityWeightTRES': 'cpu=1000,mem=400,gres/gpu=60,license/lic=10'}
ASKED = {'tres': 'cpu=5,mem=4G,node=2,gres/gpu=3,license/lic=4,billing=9'}


@pytest.mark.parametrize('settings, job, tres, priority', [
    # cpu 5/20 1000, mem 4096/40960 400, gpu 3/6 60, lic 4/20 10: 250 + 40 + 30 + 2
    (TRES, ASKED, {'cpu': 250, 'mem': 40, 'gres/gpu': 30, 'license/lic': 2}, 322),
    # cpu 5/12, mem 4096/24576, gpu 3/2, lic 4/20: 416.67 + 66.67 + 90 + 2 = 575.33
    (TRES, {**ASKED, 'partition': 'two'},
     {'cpu': 416.6666666666667, 'mem': 66.66666666666667, 'gres/gpu': 90, 'license/lic': 2}, 575),
    # a partition without nodes has only licences
    (TRES, {**ASKED, 'partition': 'none'}, {'license/lic': 2}, 2),
    # 5 1000 + 4096 400 + 3 60 + 4 10
    ({**TRES, 'PriorityFlags': 'NO_NORMAL_TRES'}, ASKED,
     {'cpu': 5000, 'mem': 1638400, 'gres/gpu': 180, 'license/lic': 40}, 1643620),
    # a suffix divides: 0.5 / 1024 a MiB, of 4096 raw ones; below 1
    ({**TRES, 'PriorityFlags': 'NO_NORMAL_ALL', 'PriorityWeightTRES': 'mem=0.5G,cpu=-1'}, ASKED,
     {'mem': 2, 'cpu': -5}, 1),
    ({**TRES, 'PriorityWeightTRES': 'billing=1000'}, ASKED, {}, 1),
], ids=str)
def test_tres(settings, job, tres, priority):
    row, = rows_of(settings, job)
    terms = dict(item.split('=') for item in row['TRES'].split(',') if item)
    assert set(terms) == set(tres)
    assert all(abs(float(terms[name]) - value) < 1e-9 * abs(value) for name, value in tres.items())
    assert row['PRIORITY'] == str(priority)


@pytest.mark.parametrize('settings, job, expected', [
    # age 300 of 1200 seconds; full at 300; never; at once
    ({'PriorityWeightAge': 1000, 'PriorityMaxAge': '20'}, {}, {'AGE': 250}),
    ({'PriorityWeightAge': 1000, 'PriorityMaxAge': '5'}, {}, {'AGE': 1000}),
    ({'PriorityWeightAge': 1000, 'PriorityMaxAge': 'UNLIMITED'}, {}, {'AGE': 0}),
    ({'PriorityWeightAge': 1000, 'PriorityMaxAge': '0'}, {}, {'AGE': 1000}),
    ({'PriorityWeightAge': 1000, 'PriorityMaxAge': '20'}, {'eligible': NOW - 60}, {'AGE': 50}),
    ({'PriorityWeightAge': 1000, 'PriorityMaxAge': '20'}, {'eligible': NOW + 60}, {'AGE': 0}),
    ({'PriorityWeightAge': 1000, 'PriorityMaxAge': '20', 'PriorityFlags': 'accrue_always'}, {'eligible': NOW + 60},
     {'AGE': 250}),
    # of the highest: 30/40, 40/40, raw; PriorityJobFactor 3/4, 0; QOS 0, 2/8, raw
    ({'PriorityWeightAssoc': 1000}, {}, {'ASSOC': 750}),
    ({'PriorityWeightAssoc': 1000}, {'user': 'v'}, {'ASSOC': 1000}),
    ({'PriorityWeightAssoc': 1000}, {'user': 'nobody'}, {'ASSOC': 0}),
    ({'PriorityWeightAssoc': 1000, 'PriorityFlags': 'NO_NORMAL_ASSOC'}, {}, {'ASSOC': 30000}),
    ({'PriorityWeightPartition': 1000}, {}, {'PARTITIONFACTOR': 750}),
    ({'PriorityWeightPartition': 1000}, {'partition': 'none'}, {'PARTITIONFACTOR': 0}),
    ({'PriorityWeightPartition': 1000, 'PriorityFlags': 'NO_NORMAL_PART'}, {}, {'PARTITIONFACTOR': 3000}),
    ({'PriorityWeightQOS': 1000}, {}, {'QOS': 0}),
    ({'PriorityWeightQOS': 1000}, {'qos': 'low'}, {'QOS': 0}),
    ({'PriorityWeightQOS': 1000}, {'qos': 'mid'}, {'QOS': 250}),
    ({'PriorityWeightQOS': 1000, 'PriorityFlags': 'NO_NORMAL_QOS'}, {'qos': 'mid'}, {'QOS': 2000}),
    # NO_NORMAL_ALL of 1000 each: 30 + 3 + 2 thousand
    ({'PriorityWeightAssoc': 1000, 'PriorityWeightPartition': 1000, 'PriorityWeightQOS': 1000,
      'PriorityFlags': 'NO_NORMAL_ALL'}, {'qos': 'mid'}, {'PRIORITY': '35000'}),
    # 4294967295 * 3 exceeds the largest priority
    ({'PriorityWeightPartition': 4294967295, 'PriorityFlags': 'NO_NORMAL_PART'}, {}, {'PRIORITY': '4294967295'}),
    ({}, {'site': 2147483645, 'nice': -2147483645}, {'PRIORITY': '4294967290', 'SITE': 2147483645, 'NICE': -2147483645}),
    ({'PriorityWeightAge': 5, 'PriorityMaxAge': '5'}, {'site': 2147483645, 'nice': -2147483645}, {'PRIORITY': '4294967295'}),
    ({'PriorityWeightAge': 6, 'PriorityMaxAge': '5'}, {'site': 2147483645, 'nice': -2147483645}, {'PRIORITY': '4294967295'}),
    # the minimum is 1; fractions are dropped
    ({}, {}, {'PRIORITY': '1'}),
    ({}, {'nice': 2147483645, 'site': -2147483645}, {'PRIORITY': '1'}),
    ({'PriorityWeightAge': 7, 'PriorityMaxAge': '20'}, {}, {'PRIORITY': '1', 'AGE': 1.75}),
    ({'PriorityWeightAge': 8, 'PriorityMaxAge': '20'}, {'nice': 1}, {'PRIORITY': '1', 'AGE': 2}),
    ({'PriorityWeightAge': 15, 'PriorityMaxAge': '20'}, {'nice': 1}, {'PRIORITY': '2', 'AGE': 3.75}),
    # set by hand, and held
    ({'PriorityWeightAge': 1000}, {'set_priority': 77, 'nice': 5, 'site': 6},
     {'PRIORITY': '77', 'AGE': 0, 'NICE': 0, 'SITE': 0}),
    ({'PriorityWeightAge': 1000}, {'set_priority': 77, 'state': 'HELD'}, {'PRIORITY': '0', 'AGE': 0}),
    # billing: CPUs without weights; 2 5 + 5 3; the largest
    ({}, {'tres': 'cpu=5,gres/gpu=3'}, {'BILLING': 5}),
    ({}, {'tres': 'cpu=5,gres/gpu=3', 'partition': 'two'}, {'BILLING': 25}),
    ({'PriorityFlags': 'MAX_TRES'},
     {'tres': 'cpu=5,gres/gpu=3', 'partition': 'two'}, {'BILLING': 15}),
    ({'PriorityFlags': 'MAX_TRES,MAX_TRES_GRES'},
     {'tres': 'cpu=5,gres/gpu=3', 'partition': 'two'}, {'BILLING': 25}),
], ids=str)
def test_terms(settings, job, expected):
    check(settings, job, expected)


def test_factors_of_a_maximum_of_0():
    """0 divided by a maximum of 0 is 0: no association, partition or QOS has a priority or factor."""
    check({'PriorityWeightAssoc': 1000, 'PriorityWeightPartition': 1000, 'PriorityWeightQOS': 1000},
          {'qos': 'low', 'account': 'p'}, {'ASSOC': 0, 'PARTITIONFACTOR': 0, 'QOS': 0, 'PRIORITY': '1'},
          qos=[{'name': 'low'}], partitions=[{'name': 'all', 'PriorityJobFactor': 0}],
          tree=[{'account': 'p'}, {'account': 'p', 'user': 'u'}])
