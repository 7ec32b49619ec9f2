"""The engine decides the recorded cases of limits as Slurm 22.05.8 did: submissions refused and why, states, reasons, starts in
order, and the use that each association and QOS has.

slurm-limits/CASE.txt are the recordings (slurm-limits/ORIGIN.md); slurm_limits.py replays them.
"""
import collections
import pathlib
import re

import pytest

import slurm_limits
import slurm_limits_recording as recording

HERE = pathlib.Path(__file__).parent / 'slurm-limits'
CASES = sorted(path.stem for path in HERE.glob('*.txt'))

# Lines of the recordings that have no counterpart: a pattern, and why.
NOT_HAD = [
    (r'^sshare .*FairShare', 'the factors are compared by slurm_fair_tree'),
    (r'^sshare .*GrpTRESRunMins', 'Slurm refused the name of the column'),
    (r'^sacctmgr .*show assoc', 'limits are compared by the jobs that they keep; the driver lists none'),
]

HOSTS = 'which of several hosts that have room a job gets is not a matter of limits'
NEVER = 'a request that the cluster can never satisfy is refused'
TESTED = 'a submission that is only tried says that a limit keeps it waiting, not when it would start without limits'
FACTOR = 'the fair-share factor of carol, 0.571, is below the threshold of 0.9, which Slurm does not see without PriorityWeightFairshare'

# Differences that are decisions: case, a pattern of the difference, and why. Each row is needed.
DECIDED = [
    ('03', r'^after j3 ended: .* node: recorded 2, computed 1$', HOSTS),
    ('16', r'--test-only: recorded 0 4 main@n1=4, computed waits AssocMaxCpuPerJobLimit$', TESTED),
    ('27', r'"-n33 |"-N5 |: j[23]: recorded PENDING, computed refused|SubmitJobs', NEVER),
    ('34', r'^after j1 and j4 ended: .* node: recorded 2, computed 1$', HOSTS),
    ('50', r' node: recorded 1, computed 2$', HOSTS),
    ('58', r'j3 state: |start [345]: |(assoc (root|a|a2|a2/carol)|qos (short|normal)( per (account a2|user carol))?) ', FACTOR),
    ('66', r'^settled: assoc (root|a|a1|a1/alice) GrpTRESRunMins mem: recorded 16,', 'of the case that was recorded before it'),
]

runs = {}


def texts_of(run):
    return ['%s: %s: recorded %s, computed %s' % difference for difference in run.differences]


def rows_for(case):
    return [(pattern, reason) for name, pattern, reason in DECIDED if name == case.partition('-')[0]]


@pytest.mark.parametrize('case', CASES)
def test_case(case):
    run = runs[case] = slurm_limits.replay(HERE / (case + '.txt'))
    texts, rows = texts_of(run), rows_for(case)
    wrong = [text for text in texts if not any(re.search(pattern, text) for pattern, _ in rows)]
    unused = [pattern for pattern, _ in rows if not any(re.search(pattern, text) for text in texts)]
    unknown = [line for _, line in run.not_had if not any(re.search(pattern, line) for pattern, _ in NOT_HAD)]
    assert not wrong, '%d of %d differ:\n%s' % (len(wrong), sum(run.compared.values()), '\n'.join(wrong[:20]))
    assert not unused, 'no such difference any more: %s' % unused
    assert not unknown, 'neither replayed nor in NOT_HAD: %s' % unknown
    assert sum(run.compared.values()) > 0


def test_totals():
    """What was compared. No kind of comparison, and no row of the tables, is left out by mistake."""
    if len(runs) < len(CASES):
        pytest.skip('needs the runs of all cases')
    compared = sum((run.compared for run in runs.values()), collections.Counter())
    not_had = [line for run in runs.values() for _, line in run.not_had]
    print('# compared %d cases of limits with Slurm 22.05.8: %d states, %d reasons, %d starts, %d counters, %d refusals, %d '
          'acceptances, %d updates, %d other values; %d differ by decision; %d lines have no counterpart' %
          (len(runs), *[compared[kind] for kind in ('states', 'reasons', 'starts', 'counters', 'refusals', 'acceptances', 'updates',
                                                    'values')],
           sum(len(run.differences) for run in runs.values()), len(not_had)))
    for pattern, reason in NOT_HAD:
        count = len([line for line in not_had if re.search(pattern, line)])
        print('# without counterpart: %d lines: %s' % (count, reason))
        assert count > 0, pattern
    assert {case.partition('-')[0] for case in CASES} >= {name for name, _, _ in DECIDED}
    assert compared['states'] > 700 and compared['counters'] > 15000 and compared['refusals'] > 120


def test_recorded_times():
    assert recording.shown_limit_s('10:00') == 600
    assert recording.shown_limit_s('3-00:00:00') == 3 * 86400
    assert recording.time_limit_s('3-0') == 3 * 86400


def test_recorded_counters():
    line = 'assoc a1/bob: UsageRaw=5.61 GrpJobs=N(2) GrpTRES=cpu=4(2),gres/gpu=N(1) MaxSubmitJobs=2(2) MaxTRESPJ=cpu=4'
    assert recording.counters_of([line]) == {
        ('assoc a1/bob', 'UsageRaw', ''): 5.61, ('assoc a1/bob', 'GrpJobs', ''): 2, ('assoc a1/bob', 'GrpTRES', 'cpu'): 2,
        ('assoc a1/bob', 'GrpTRES', 'gres/gpu'): 1, ('assoc a1/bob', 'MaxSubmitJobs', ''): 2}


def test_options():
    fields = recording.job_fields(recording.option_values('-N2 -n4 -q short --mem=2G --gres=gpu:1 -w n1,n2 -t10 -H'))
    assert fields == ['cpus=4', 'nodes=2', 'queues=main@n1,main@n2', 'mem_mib=2048', 'gpus=1', 'time_limit_s=600', 'held=yes', 'qos=short']
