"""The clock of the machine is set: while the instance runs, while it is stopped, and over reboots. Everything stays as long ago
as it is. fake_clock.c sets the wall clock of the instance, its launcher and its keepers."""
import calendar
import contextlib
import os
import sqlite3
import sys
import pathlib
import time

import pytest

from conftest import BUILD, SETTINGS, Instance, until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exec_world import has_ended  # noqa: E402

DAY = 86400
YEAR = 365 * DAY
US = 1000000
SLACK_S = 60  # for a slow machine; what is wrong is wrong by a day at least


class Machine:
    """An instance on a machine whose clock can be set, and that can be rebooted. offset: of its clock to the right one."""

    def __init__(self, instance):
        self.instance, self.file, self.boot = instance, instance.home / 'clock', 1
        preloaded = 'libasan.so.8 fake-clock.so' if os.environ.get('FAIRLEAD_SANITIZED') == '1' else 'fake-clock.so'
        instance.environment.update(LD_PRELOAD=preloaded, LD_LIBRARY_PATH=str(BUILD / 'tests/system'), FAKE_CLOCK=str(self.file))
        self.set_clock(0)

    def set_clock(self, offset):
        self.offset = offset
        new = self.file.with_suffix('.new')
        new.write_text('%d boot-%d\n' % (offset, self.boot))
        new.rename(self.file)

    def now(self):
        return time.time() + self.offset

    def start(self, *settings):
        self.instance.start('--set', ','.join((SETTINGS,) + settings))

    def reboot(self, offset):
        """A loss of power, and a boot with a clock that may be wrong."""
        for pid in self.instance.processes():
            Instance.kill_process(pid)
        until(lambda: not self.instance.processes(), 'all processes to end')
        self.boot += 1
        self.set_clock(offset)

    def clock(self):
        return self.instance.json('clock')

    def events(self):
        return [event['kind'] for event in self.clock()['events']]

    def shifts(self):
        return [event['shift_s'] for event in self.clock()['events']]


@pytest.fixture
def machine(stopped):
    return Machine(stopped)


def near(found, expected, slack=SLACK_S):
    return abs(found - expected) <= slack


def usage(instance):
    (row,) = [row for row in instance.json('share') if row['user'] is not None]
    return row['raw_usage']


def assert_verified(instance):
    assert instance.good('verify').endswith(': all agree\n')


def stored(instance, query):
    with contextlib.closing(sqlite3.connect('file:%s?mode=ro' % (instance.state / 'fairlead.db'), uri=True)) as db:
        return db.execute(query).fetchone()[0]


def run_and_wait(machine):
    """Jobs in all states: one has ended, one runs, one has a begin, one waits for room."""
    instance = machine.instance
    machine.ended = instance.submit('-o', '/dev/null', '--', 'true')
    instance.until_state(machine.ended, 'COMPLETED')
    machine.running = instance.submit('--cpus', '3', '-o', '/dev/null', '--', 'sleep', '10000')
    instance.until_state(machine.running, 'RUNNING')
    machine.later = instance.submit('--begin', 'now+1hour', '-o', '/dev/null', '--', 'true')
    machine.waiting = instance.submit('--cpus', '4', '-o', '/dev/null', '--', 'true')
    machine.began = machine.now()


def assert_undisturbed(machine):
    """All that run_and_wait has left is as it was a moment ago, and its times are those of the clock."""
    instance, now_us = machine.instance, machine.now() * US
    passed = SLACK_S * 2
    assert near(machine.clock()['now_us'], now_us, SLACK_S * US)
    running, later = instance.job(machine.running), instance.job(machine.later)
    assert (running['state'], later['state']) == ('RUNNING', 'PENDING')
    assert instance.job(machine.waiting)['state'] == 'PENDING'
    for time_us in (running['submit_us'], running['start_us'], instance.job(machine.ended)['end_us']):
        assert near(time_us, now_us, passed * US)
    assert near(later['begin_us'], now_us + 3600 * US, passed * US)
    assert near(usage(instance), 0, 3 * passed)
    assert instance.json('status')['now_us'] - instance.json('status')['started_us'] < passed * US
    assert_verified(instance)


@pytest.mark.parametrize('offset', [YEAR, -YEAR, 11 * DAY])
def test_set_while_the_instance_runs(machine, offset):
    instance = machine.instance
    machine.start()
    run_and_wait(machine)
    used = usage(instance)
    machine.set_clock(offset)
    assert_undisturbed(machine)
    machine.set_clock(0)
    assert_undisturbed(machine)
    assert machine.events() == ['SET_RUNNING', 'SET_RUNNING']
    assert near(machine.shifts()[0], offset, 1) and near(sum(machine.shifts()), 0, 1)
    assert usage(instance) >= used
    assert 'set while the daemon ran by' in instance.good('status')
    instance.good('cancel', machine.running)
    row = instance.until_state(machine.running, 'CANCELLED')
    assert 0 <= row['end_us'] - row['start_us'] < SLACK_S * US
    instance.until_state(machine.waiting, 'COMPLETED')
    assert_verified(instance)


def test_a_job_that_runs_over_a_jump_has_its_own_time(machine):
    instance = machine.instance
    machine.start()
    machine.set_clock(YEAR)
    first = instance.submit('-o', '/dev/null', '--', 'sleep', '2')
    instance.until_state(first, 'RUNNING')
    machine.set_clock(0)
    second = instance.submit('-o', '/dev/null', '--', 'sleep', '1000')
    instance.until_state(second, 'RUNNING')
    machine.set_clock(-DAY)
    instance.good('cancel', second)
    for job in (first, second):
        row = instance.until_state(job, 'COMPLETED', 'CANCELLED')
        assert (1.9 if job == first else 0) * US <= row['end_us'] - row['start_us'] < SLACK_S * US
        assert near(row['end_us'], machine.now() * US, 2 * SLACK_S * US)
    assert_verified(instance)


def test_a_client_that_waits_is_not_disturbed(machine):
    instance = machine.instance
    machine.start()
    job = instance.submit('-o', '/dev/null', '--', 'sleep', '2')
    instance.until_state(job, 'RUNNING')
    waiting = instance.popen('wait', job)
    time.sleep(0.3)
    machine.set_clock(YEAR)
    assert machine.events() == ['SET_RUNNING']
    machine.set_clock(0)
    assert machine.events() == ['SET_RUNNING', 'SET_RUNNING']
    out, err = waiting.communicate(timeout=SLACK_S)
    assert waiting.returncode == 0, (out, err)


def test_killed_right_after_a_jump(machine):
    instance = machine.instance
    machine.start()
    run_and_wait(machine)
    machine.set_clock(YEAR)
    assert machine.events() == ['SET_RUNNING']
    instance.kill()
    machine.start()
    assert machine.events() == ['SET_RUNNING']
    assert_undisturbed(machine)
    instance.kill()  # and before the daemon has seen one
    machine.set_clock(0)
    machine.start()
    assert machine.events() == ['SET_RUNNING', 'SET_STOPPED']
    assert_undisturbed(machine)


def test_a_start_with_a_clock_that_is_ahead(machine):
    """A year ahead at one start, and right at the next: nothing is spoiled."""
    instance = machine.instance
    machine.start()
    run_and_wait(machine)
    instance.good('stop')
    machine.set_clock(YEAR)
    machine.start()
    assert_undisturbed(machine)
    assert 'set while the daemon was stopped by' in instance.good('status')
    instance.good('stop')
    machine.set_clock(0)
    machine.start()
    assert_undisturbed(machine)
    assert machine.events() == ['SET_STOPPED', 'SET_STOPPED']
    job = instance.submit('--begin', 'now+2', '--time', '1', '-o', '/dev/null', '--', 'true')
    instance.until_state(job, 'COMPLETED')
    used = usage(instance)
    until(lambda: usage(instance) > used, 'usage to grow')


def test_an_end_while_the_daemon_is_stopped(machine):
    """The keeper wrote the end when the clock was wrong."""
    instance = machine.instance
    machine.start()
    job = instance.submit('-o', '/dev/null', '--', 'sleep', '2')
    instance.until_state(job, 'RUNNING')
    instance.good('stop')
    machine.set_clock(YEAR)
    until(lambda: has_ended(instance.state), 'the end')
    machine.set_clock(0)
    machine.start()
    row = instance.until_state(job, 'COMPLETED')
    assert 1.9 * US <= row['end_us'] - row['start_us'] < SLACK_S * US
    assert machine.events() == []
    assert_verified(instance)


def test_a_begin_that_no_request_waits_for(machine):
    """The daemon sees the jump by itself, before it decides."""
    instance = machine.instance
    machine.start()
    output = instance.work / 'began'
    job = instance.submit('--begin', 'now+3', '-o', '/dev/null', '--', 'touch', output)
    submitted = time.monotonic()
    machine.set_clock(YEAR)
    until(output.exists, 'the job')
    assert time.monotonic() - submitted >= 1.9  # begins are in whole seconds
    row = instance.until_state(job, 'COMPLETED')
    assert row['start_us'] >= row['begin_us']


def test_measurements_over_a_jump(machine):
    """Memory is integrated over the time that has passed."""
    instance = machine.instance
    machine.start('load_report_time=1', 'SHARETREE_RESERVED_USAGE=false', 'PriorityType=priority/tickets')
    job = instance.submit('-o', '/dev/null', '--', 'sleep', '1000')
    until(lambda: stored(instance, 'SELECT count(*) FROM task WHERE measured_us IS NOT NULL'), 'a measurement')
    machine.set_clock(YEAR)
    measured_us = machine.clock()['now_us']
    until(lambda: stored(instance, 'SELECT measured_us FROM task') > measured_us, 'the next one')
    instance.good('cancel', job)
    instance.until_state(job, 'CANCELLED')
    assert stored(instance, 'SELECT mem_gib_s FROM task') < SLACK_S
    assert_verified(instance)


def test_a_jump_resets_no_usage(machine):
    """A year has twelve boundaries of months."""
    instance = machine.instance
    machine.start('PriorityUsageResetPeriod=MONTHLY')
    run_and_wait(machine)
    time.sleep(1.1)
    used = usage(instance)
    for offset in (YEAR, 0):
        machine.set_clock(offset)
        assert usage(instance) >= used
    assert stored(instance, 'SELECT usage_reset_us FROM counters') is None
    assert_verified(instance)


def test_a_clock_that_cannot_be_right(machine):
    """1970 while the instance runs: time goes on without the clock."""
    instance = machine.instance
    machine.start()
    run_and_wait(machine)
    machine.set_clock(-int(time.time()) + 1000)
    clock = machine.clock()
    assert not clock['is_followed'] and near(clock['now_us'], time.time() * US, SLACK_S * US)
    assert 'cannot be right, and is not followed' in instance.good('status')
    assert 'not followed' in instance.good('clock')
    job = instance.submit('--begin', 'now+2', '--time', '1', '-o', '/dev/null', '--', 'sleep', '1')
    row = instance.until_state(job, 'COMPLETED')
    assert 0.9 * US <= row['end_us'] - row['start_us'] < SLACK_S * US
    machine.set_clock(0)
    assert_undisturbed(machine)
    assert machine.clock()['is_followed'] and machine.events() == []


# --- reboots -----------------------------------------------------------------------------------------------------------

def use_some(machine):
    """Usage, a begin in an hour, and a job that runs; the last commit is now. Returns the usage."""
    instance = machine.instance
    machine.start('halflife_s=86400')
    run_and_wait(machine)
    time.sleep(1.1)
    used = usage(instance)
    instance.good('set', 'grace_s=2')  # a commit: later usage is lost
    return used


@pytest.mark.parametrize('days_off', [0, 5])
def test_a_reboot_counts_the_time_off(machine, days_off):
    """What ran then ended at the last commit, and is not charged for the time off."""
    instance = machine.instance
    used = use_some(machine)
    machine.reboot(days_off * DAY)
    machine.start()
    assert machine.events() == [] and 'Clock' not in instance.good('status')
    row = instance.until_state(machine.running, 'NODE_FAIL')
    assert 0 <= row['end_us'] - row['start_us'] < SLACK_S * US
    assert near(usage(instance), used * 0.5 ** days_off, 3 * SLACK_S * 0.5 ** days_off)
    assert_verified(instance)


def test_a_reboot_with_a_clock_that_is_ahead_and_set_right(machine):
    """The gap is not counted; when the clock is right, it is, exactly."""
    instance = machine.instance
    used = use_some(machine)
    machine.reboot(YEAR)
    machine.start()
    assert machine.events() == ['GAP']
    assert usage(instance) >= used * 0.99
    assert instance.job(machine.later)['state'] == 'PENDING'
    status = instance.good('status')
    assert 'is not counted' in status and "'fairlead clock --count-gap'" in status
    instance.until_state(machine.running, 'NODE_FAIL')
    assert_verified(instance)
    machine.set_clock(DAY)  # that is when it was really booted
    assert machine.events() == ['GAP', 'GAP_RESOLVED'] and sum(machine.shifts()) == 0
    assert near(usage(instance), used / 2, 2 * SLACK_S)
    assert near(instance.job(machine.later)['begin_us'], (time.time() + 3600) * US, 2 * SLACK_S * US)
    instance.until_state(machine.later, 'COMPLETED')
    assert_verified(instance)
    assert not machine.clock()['has_gap']


def test_a_boot_in_1970_that_is_set_right(machine):
    instance = machine.instance
    used = use_some(machine)
    machine.reboot(-int(time.time()) + 100)
    machine.start()
    assert machine.events() == ['GAP'] and machine.clock()['has_gap'] and not machine.clock()['is_followed']
    assert usage(instance) >= used * 0.99
    instance.good('stop')
    machine.set_clock(DAY)
    machine.start()
    assert machine.events() == ['GAP', 'GAP_RESOLVED'] and machine.shifts() == [0, 0]
    assert near(usage(instance), used / 2, 2 * SLACK_S)
    assert near(instance.job(machine.running)['end_us'], time.time() * US, 2 * SLACK_S * US)
    assert_verified(instance)


@pytest.mark.parametrize('offset', [YEAR, -int(time.time()) + 100])
def test_jobs_that_started_before_the_clock_was_right(machine, offset):
    """The gap lies before them: they are not charged for it, and have not waited for so long."""
    instance = machine.instance
    use_some(machine)
    machine.reboot(offset)
    machine.start()
    instance.until_state(machine.running, 'NODE_FAIL')
    instance.until_state(machine.waiting, 'COMPLETED')
    job = instance.submit('--cpus', '4', '-o', '/dev/null', '--', 'sleep', '1000')
    instance.until_state(job, 'RUNNING')
    pending = instance.submit('--cpus', '4', '-o', '/dev/null', '--', 'true')
    used = usage(instance)
    machine.set_clock(20 * DAY)
    assert machine.events() == ['GAP', 'GAP_RESOLVED']
    assert usage(instance) < used + 4 * SLACK_S
    now_us = machine.now() * US
    assert near(instance.job(job)['start_us'], now_us, SLACK_S * US)
    assert near(instance.job(job)['submit_us'], now_us, SLACK_S * US)
    assert near(instance.job(pending)['submit_us'], now_us, SLACK_S * US)
    assert near(instance.job(machine.later)['submit_us'], now_us - 20 * DAY * US, 2 * SLACK_S * US)
    assert_verified(instance)
    instance.good('cancel', job)
    row = instance.until_state(job, 'CANCELLED')
    assert 0 <= row['end_us'] - row['start_us'] < SLACK_S * US
    instance.until_state(pending, 'COMPLETED')
    assert usage(instance) < used + 8 * SLACK_S
    assert_verified(instance)


def test_a_gap_waits_for_jobs_that_were_charged(machine):
    instance = machine.instance
    use_some(machine)
    machine.reboot(60 * DAY)
    machine.start()
    instance.until_state(machine.waiting, 'COMPLETED')
    job = instance.submit('-o', '/dev/null', '--', 'sleep', '1000')
    instance.until_state(job, 'RUNNING')
    time.sleep(1)  # of which it is charged by the old half-life
    instance.good('set', 'halflife_s=3600')
    assert 'when they have ended' in instance.bad('clock', '--count-gap')
    machine.set_clock(DAY)
    assert machine.events() == ['GAP', 'SET_RUNNING'] and machine.clock()['has_gap']
    assert_verified(instance)
    instance.good('cancel', job)
    instance.until_state(job, 'CANCELLED')
    until(lambda: machine.events() == ['GAP', 'SET_RUNNING', 'GAP_RESOLVED'], 'the gap to be counted')
    assert near(sum(machine.shifts()), 0, 1)
    assert_verified(instance)


def test_an_end_before_a_gap(machine):
    """The daemon hears of it after the gap. Nothing after its last commit is counted."""
    instance = machine.instance
    machine.start()
    job = instance.submit('-o', '/dev/null', '--', 'sleep', '2')
    instance.until_state(job, 'RUNNING')
    instance.good('stop')
    until(lambda: has_ended(instance.state), 'the end')
    machine.reboot(60 * DAY)
    machine.start()
    assert machine.events() == ['GAP']
    row = instance.until_state(job, 'COMPLETED')
    assert 0 <= row['end_us'] - row['start_us'] < SLACK_S * US
    assert near(row['end_us'], machine.now() * US, 2 * SLACK_S * US)
    assert_verified(instance)


def test_a_gap_that_is_counted_by_hand(machine):
    """Two months off: too long to be believed without a word."""
    instance = machine.instance
    used = use_some(machine)
    machine.reboot(60 * DAY)
    machine.start()
    assert machine.events() == ['GAP'] and usage(instance) >= used * 0.99
    out = instance.good('clock', '--count-gap')
    assert 'gap counted, as told' in out and '+60-0' in out
    assert machine.events() == ['GAP', 'GAP_COUNTED'] and sum(machine.shifts()) == 0
    assert [(row['command'], row['name'], row['after']) for row in instance.json('audit')][-1] == ('clock', 'gap', 'counted')
    assert usage(instance) < used / 4  # there is some of a job that has started since
    instance.until_state(machine.later, 'COMPLETED')
    assert 'no gap' in instance.bad('clock', '--count-gap')
    assert_verified(instance)


def test_a_gap_that_is_discarded(machine):
    instance = machine.instance
    used = use_some(machine)
    machine.reboot(-2 * DAY)
    machine.start()
    assert machine.events() == ['GAP'] and machine.clock()['gap_s'] < 0
    assert 'set the clock of the machine' in instance.good('status')
    assert 'cannot be counted' in instance.bad('clock', '--count-gap')
    instance.good('clock', '--discard-gap')
    assert machine.events() == ['GAP', 'GAP_DISCARDED'] and not machine.clock()['has_gap']
    assert [(row['command'], row['name'], row['after']) for row in instance.json('audit')][-1] == ('clock', 'gap', 'discarded')
    assert usage(instance) >= used * 0.99
    assert_verified(instance)


def test_boundaries_of_reset_periods_count_in_a_gap_that_counts(machine):
    instance = machine.instance
    machine.start('PriorityUsageResetPeriod=DAILY')
    run_and_wait(machine)
    time.sleep(1.1)
    instance.good('set', 'grace_s=2')
    machine.reboot(YEAR)
    machine.start()
    used = usage(instance)
    assert used > 1
    assert stored(instance, 'SELECT usage_reset_us FROM counters') is None
    machine.set_clock(3 * DAY)
    instance.until_state(machine.running, 'NODE_FAIL')
    until(lambda: stored(instance, 'SELECT usage_reset_us FROM counters') is not None, 'the reset')
    assert usage(instance) < used / 2 or int(machine.now()) % DAY < SLACK_S  # of a job that started since
    assert_verified(instance)


# --- the command -------------------------------------------------------------------------------------------------------

def test_the_listing(machine):
    instance = machine.instance
    machine.start()
    out = instance.good('clock')
    assert out.startswith('Time       ') and 'Wall clock ' in out and 'Up         ' in out and 'WHAT' not in out
    assert instance.rows('clock') == []
    machine.set_clock(YEAR)
    (row,) = instance.rows('clock')
    assert row['kind'] == 'SET_RUNNING' and near(int(row['by_s']), YEAR, 1) and row['shift_s'] == row['by_s']
    at = calendar.timegm(time.strptime(row['at'], '%Y-%m-%dT%H:%M:%SZ'))
    assert near(at, machine.now())
    assert '+365-00:00:0' in instance.good('clock') or '+364-23:59:59' in instance.good('clock')
    assert 'exclude each other' in instance.bad('clock', '--json', '-P')
    assert 'exclude each other' in instance.bad('clock', '--count-gap', '--discard-gap')


def test_a_prune_beside_a_set_clock(machine):
    """The clock is set while pieces of a plan are carried out: what was planned for the old times is planned anew, no younger
    job is removed, and the sums agree."""
    instance = machine.instance
    machine.start()
    ids = [instance.submit('--array', '0-39', '-o', '/dev/null', '--', 'true') for _ in range(3)]
    instance.good('wait', *ids)
    time.sleep(1.5)
    young = instance.submit('-o', '/dev/null', '--begin', 'now+1hour', '--', 'true')
    used = usage(instance)
    pruning = instance.popen('history', 'prune', '--older-than', '0:01', '--json')
    for offset in (YEAR, 0, -YEAR, DAY):
        machine.set_clock(offset)
        machine.clock()
    out, err = pruning.communicate(timeout=SLACK_S)
    assert pruning.returncode == 0, (out, err)
    instance.good('history', 'prune', '--older-than', '0:01')
    assert instance.json('history') == [] and instance.job(young)['state'] == 'PENDING'
    assert near(instance.json('verify')['pruned_tasks'], 120, 0) and near(usage(instance), used)
    assert_verified(instance)
