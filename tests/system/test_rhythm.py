"""When passes run (pass_rhythm), and the schedule file that MONITOR in params writes."""
import re
import stat
import time

import pytest

from conftest import until

LIMIT = 10 << 20  # of the schedule file
LINE = re.compile(r'(\d+):(\d+):(RUNNING|STARTING|RESERVING):(\d+):(\d+):([PGHQ]):(\S+):(\S+):(\d+\.\d{6})')
SEPARATOR = ':' * 8


@pytest.fixture
def monitored(instance):
    instance.good('set', 'params=MONITOR=1')
    return instance


def passes(instance):
    """For each pass of the schedule file, its lines; of each line, its fields."""
    text = (instance.state / 'schedule').read_text()
    assert text.startswith(SEPARATOR + '\n') and text.endswith('\n')
    found = []
    for line in text.splitlines():
        if line == SEPARATOR:
            found.append([])
        else:
            match = LINE.fullmatch(line)
            assert match, line
            found[-1].append(match.groups())
    return found


def slots(lines, level='Q'):
    """(job, task, state, start, duration, object, amount) of the slots."""
    return [(int(line[0]), int(line[1]), line[2], int(line[3]), int(line[4]), line[6], float(line[8]))
            for line in lines if line[5] == level and line[7] == 'slots']


def wait_for(instance, name):
    return ['--', 'sh', '-c', 'until test -e %s; do sleep 0.05; done' % (instance.work / name)]


def failures(instance):
    return (instance.state / 'fairleadd.log').read_text().count('event=schedule-file-failed')


# --- the schedule file ------------------------------------------------------------------------------------------------

def test_the_schedule_file_has_what_each_pass_decided(monitored):
    running = monitored.submit('-n', '3', '--time', '1:00', *wait_for(monitored, 'go'))
    wide = monitored.submit('-n', '4', '--time', '0:30', '--', 'true')
    monitored.until_state(running, 'RUNNING')
    array = monitored.submit('-n', '1', '--time', '0:10', '--array', '4-5', *wait_for(monitored, 'go'))
    start = next(row[3] for lines in passes(monitored) for row in slots(lines))
    place = 'main@localhost'
    lines = until(lambda: next((lines for lines in passes(monitored) if any(row[0] == array for row in slots(lines))), None),
                  'the pass of the array')
    rows = slots(lines)
    assert rows[0] == (running, 1, 'RUNNING', start, 60, place, 3)
    assert rows[1] == (wide, 1, 'RESERVING', start + 60, 30, place, 4)
    assert rows[2][:3] == (array, 4, 'STARTING') and rows[2][4:] == (10, place, 1)
    assert rows[3] == (array, 5, 'RESERVING', rows[2][3] + 10, 10, place, 1)
    assert [row[5:] for row in slots(lines, 'H')] == [('localhost', row[6]) for row in rows]
    assert stat.S_IMODE((monitored.state / 'schedule').stat().st_mode) == 0o600
    (monitored.work / 'go').touch()
    monitored.until_state(wide, 'COMPLETED')
    ends = [row for lines in passes(monitored) for row in slots(lines) if row[0] == wide]
    assert {row[2] for row in ends} == {'RESERVING', 'STARTING'}


def test_without_reservations_there_are_only_separators(monitored):
    monitored.good('set', 'reservations=none')
    job = monitored.submit('--', 'true')
    monitored.until_state(job, 'COMPLETED')
    assert passes(monitored)[-1] == []


def test_without_monitor_there_is_no_file(instance):
    instance.until_state(instance.submit('--', 'true'), 'COMPLETED')
    assert not (instance.state / 'schedule').exists()


def test_a_large_file_is_rotated(monitored):
    path = monitored.state / 'schedule'
    old = [monitored.state / ('schedule.%d' % number) for number in range(1, 5)]
    for number in range(1, 5):
        with path.open('w') as file:
            file.truncate(LIMIT - number)
        monitored.until_state(monitored.submit('--', 'true'), 'COMPLETED')
        assert old[0].stat().st_size == LIMIT - number
        assert path.read_text().startswith(SEPARATOR)
    assert [file.exists() for file in old] == [True, True, True, False]
    assert [file.stat().st_size for file in old[:3]] == [LIMIT - 4, LIMIT - 3, LIMIT - 2]


def test_a_file_that_cannot_be_written_is_reported_once(monitored):
    path = monitored.state / 'schedule'
    path.unlink()
    path.mkdir()
    for _ in range(3):
        monitored.until_state(monitored.submit('--', 'true'), 'COMPLETED')
    assert failures(monitored) == 1
    path.rmdir()
    target = monitored.home / 'target'
    target.write_text('')
    path.symlink_to(target)
    for _ in range(3):
        monitored.until_state(monitored.submit('--', 'true'), 'COMPLETED')
    assert failures(monitored) == 2 and target.read_text() == ''
    path.unlink()
    monitored.until_state(monitored.submit('--', 'true'), 'COMPLETED')
    assert passes(monitored) and failures(monitored) == 2
    path.unlink()  # as a person or logrotate may do
    monitored.until_state(monitored.submit('--', 'true'), 'COMPLETED')
    assert passes(monitored)


# --- the rhythm -------------------------------------------------------------------------------------------------------

def test_jobs_start_at_the_interval(monitored):
    monitored.good('set', 'pass_rhythm=interval', 'schedule_interval=0:0:2')
    first = len(passes(monitored))
    jobs = []
    for _ in range(4):
        jobs.append(monitored.submit('--', 'true'))
        time.sleep(0.7)
    for job in jobs:
        monitored.until_state(job, 'COMPLETED')
    starts = sorted(set(row[3] for lines in passes(monitored)[first:] for row in slots(lines) if row[2] == 'STARTING'))
    assert starts and all(after - before >= 2 for before, after in zip(starts, starts[1:]))


def test_operators_changes_wait_for_the_interval_and_a_restart_does_not(instance):
    instance.good('set', 'pass_rhythm=interval', 'schedule_interval=1:0:0', 'flush_submit_sec=1')
    instance.until_state(instance.submit('--', 'true'), 'COMPLETED')
    held = instance.submit('--hold', '--', 'true')
    instance.good('release', held)
    instance.good('partition', 'modify', 'main', 'MaxTime=9000')
    time.sleep(0.5)
    assert instance.job(held)['state'] == 'PENDING'
    instance.until_state(instance.submit('--', 'true'), 'COMPLETED')  # its pass takes the other job along
    instance.until_state(held, 'COMPLETED')
    instance.good('set', 'flush_submit_sec=0')
    waiting = instance.submit('--', 'true')
    time.sleep(0.5)
    assert instance.job(waiting)['state'] == 'PENDING'
    instance.kill()
    instance.start()
    instance.until_state(waiting, 'COMPLETED')


def test_a_start_after_an_end_follows_flush_finish_sec(instance):
    instance.good('set', 'pass_rhythm=interval', 'schedule_interval=1:0:0', 'flush_submit_sec=1', 'flush_finish_sec=1')
    first = instance.submit('-n', '4', *wait_for(instance, 'go'))
    instance.until_state(first, 'RUNNING')
    second = instance.submit('-n', '4', '--', 'true')
    (instance.work / 'go').touch()
    instance.until_state(second, 'COMPLETED')


def test_with_defer_a_submission_waits_and_an_end_does_not(instance):
    instance.good('set', 'pass_rhythm=defer', 'sched_interval=3600')
    held = instance.submit('--hold', *wait_for(instance, 'go'))
    instance.good('release', held)
    instance.until_state(held, 'RUNNING')
    waiting = instance.submit('--', 'true')
    time.sleep(0.5)
    assert instance.job(waiting)['state'] == 'PENDING'
    (instance.work / 'go').touch()
    instance.until_state(waiting, 'COMPLETED')
    later = instance.submit('--', 'true')
    instance.good('set', 'sched_interval=2')
    instance.until_state(later, 'COMPLETED')


def test_many_submissions_share_a_pass(monitored):
    monitored.good('set', 'batch_sched_delay=5')
    monitored.until_state(monitored.submit('--', 'true'), 'COMPLETED')
    first = len(passes(monitored))
    jobs = [monitored.submit('--hold', '--', 'true')] + [monitored.submit(*wait_for(monitored, 'go')) for _ in range(3)]
    for job in jobs[1:]:
        monitored.until_state(job, 'RUNNING')
    assert len(passes(monitored)) == first + 1
