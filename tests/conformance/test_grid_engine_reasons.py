"""Fairlead says why jobs wait in the sentences of Grid Engine 8.1.9: `fairlead check -f` and `fairlead schedule -f --why` with the
recorded cell, sentence by sentence and with the exit status (grid-engine-reasons/ORIGIN.md)."""
import json
import os
import pathlib
import subprocess

import grid_engine_reasons

HERE = pathlib.Path(__file__).parent / 'grid-engine-reasons'
FAIRLEAD = os.path.join(os.environ.get('FAIRLEAD_BUILD', 'build'), 'fairlead')
QUESTIONS = ('info', 'w-v', 'w-p')

# Sentences that Fairlead writes otherwise, or not at all, wherever they occur.
SUSPEND_ALARM = ('queue instance "susp.q@n2" is in suspend alarm:', 'queue instance "susp.q@n2" dropped because it is overloaded:')
# Of a queue that its calendar closes, while a job asks for a reservation; it is said to be disabled before.
CLOSED_AGAIN = 'queue instance "closed.q@n1" dropped because it is suspended'

# Answers that differ, and why. What Grid Engine says there and what Fairlead says instead is checked, too.
NO_CHECKPOINTING = 'there is no checkpointing'
DIFFERENCES = {
    ('consumable_global', 'info'): 'the amount that was free at an earlier run: 5 licences, which a job has meanwhile',
    ('mem_free', 'w-v'): 'Grid Engine takes load values for unknown resources on the empty cluster; here they do not count',
    ('ckpt_not_here', 'w-v'): NO_CHECKPOINTING, ('ckpt_not_here', 'w-p'): NO_CHECKPOINTING,
}
# Answers that are not sentences: the job has started.
RUNNING = 'verification: job is already running or is held'


def command(scenario, *words):
    return subprocess.run([FAIRLEAD, *words], input=json.dumps(scenario), capture_output=True, text=True)


def answers(scenario, job):
    """The sentences and the exit status of each question."""
    result = command(scenario, 'check', '-f', '-', '--json', str(job['id']))
    check = json.loads(result.stdout)
    info = check['scheduling_info']
    assert result.returncode == (0 if check['empty']['possible'] else 1)
    now = command(scenario, 'check', '-f', '-', '--now', str(job['id']))
    assert now.returncode == (0 if check['now']['possible'] else 1)
    return {'info': (info, 0), 'w-v': (check['empty']['sentences'], result.returncode),
            'w-p': (check['now']['sentences'], now.returncode)}


def recorded(job, question):
    lines, status = job['answers'][question]
    return sorted({line.replace(*SUSPEND_ALARM) for line in lines if not line.startswith('verification:')} - {CLOSED_AGAIN}), status


def test_reasons():
    jobs = grid_engine_reasons.read(HERE / 'reasons.txt')
    scenario = grid_engine_reasons.scenario(jobs)
    sentences, compared, differing = 0, 0, set()
    for job in jobs:
        if job['name'] == 'rqs1':
            assert job['answers']['w-v'][0] == job['answers']['w-p'][0] == [RUNNING]
            assert 'does not wait' in command(scenario, 'check', '-f', '-', str(job['id'])).stderr
            continue
        computed = answers(scenario, job)
        for question in QUESTIONS:
            found, status = computed[question]
            assert len(found) == len(set(found)), 'a sentence is repeated'
            wanted, wanted_status = recorded(job, question)
            is_held = job['answers'][question][0] == [RUNNING]  # Grid Engine does not look at a held job
            if (job['name'], question) in DIFFERENCES:
                assert sorted(found) != wanted, 'no difference any more'
                differing.add((job['name'], question))
            elif not is_held:
                assert (sorted(found), status) == (wanted, wanted_status), (job['name'], question)
                compared += 1
                sentences += len(wanted)
    assert differing == set(DIFFERENCES)
    assert (compared, sentences) == (63, 425), (compared, sentences)
    print('# compared %d answers why a job waits, %d sentences, with Grid Engine 8.1.9; %d more differ (docs/formulas.md 10)'
          % (compared, sentences, len(differing)))


def test_refused_submissions():
    """What Grid Engine refuses at the submission has no job in the recording: 6 of 30."""
    text = (HERE / 'reasons.txt').read_text()
    assert text.count(' qsub -N ') == 30 and text.count('Unable to run job') == 6
