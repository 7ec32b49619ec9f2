"""Events while a thread ranks the pending jobs (the tickets model): jobs are cancelled, the policy or the model changes, a
commit fails, the daemon is killed. The memory is enough for two jobs, so the first two in the ranking are those that run."""
import sqlite3

from instance import PATIENCE, Instance, until

ARRAYS, TASKS = 20, 20000
MANY = ['host_cpus=%d' % TASKS, 'host_mem_mib=2000', 'max_array_tasks=%d' % TASKS, 'max_pending_tasks_per_job=%d' % TASKS, 'grace_s=1']
TICKETS = ['PriorityType=priority/tickets', 'weight_tickets_functional=1000000', 'weight_project=1', 'weight_user=0',
           'weight_department=0', 'weight_job=0', 'weight_ticket=1', 'weight_urgency=0',
           'policy_hierarchy=NONE']  # so the order depends on the list, which only a plan has
JOB = ['-D', '/', '-o', '/dev/null', '--mem', '1000M', '--', 'sleep', '1000']


class PlanDone(Exception):
    """The plan was done before the case had caused its event."""


class PlannedInstance(Instance):
    def start(self):
        return super().start('--log-level', 'debug')

    def count(self, word):
        return (self.directory / 'daemon.log').read_text(errors='replace').count('event=' + word)

    def plans_in_flight(self):
        return self.count('plan-begun') - self.count('plan-done')

    def check_planning(self):
        """Raises PlanDone unless a plan is in flight."""
        if self.plans_in_flight() != 1:
            raise PlanDone

    def fill(self):
        """Submits arrays of the project 'little', then one job of the project 'much', all held."""
        for project, shares in ('little', 10), ('much', 90):
            self.ok('project', 'add', project, 'fshare=%d' % shares)
        arrays = [self.submit('--hold', '--array', '0-%d' % (TASKS - 1), '--project', 'little', *JOB) for _ in range(ARRAYS)]
        return arrays, self.submit('--hold', '--project', 'much', *JOB)

    def begin(self):
        """Releases all jobs, which begins a plan."""
        begun = self.count('plan-begun')
        self.ok('release', '--all')
        assert self.count('plan-begun') > begun
        self.check_planning()

    def running(self):
        return [row['job_id'] for row in self.queue() if row['state'] in ('STARTING', 'RUNNING')]

    def until_two_run(self):
        until(lambda: len(self.running()) == 2, 'two jobs to run')
        return self.running()

    def until_no_plan(self):
        return until(lambda: self.plans_in_flight() == 0, 'the end of all plans')


def during_plan(case):
    """Makes a test of a case. On a busy machine the plan may be done too early, and then the case is tried again. If clients
    had to wait for a plan, it would be done too early in every attempt."""

    def run(tmp_path):
        for attempt in range(10):
            instance = PlannedInstance(tmp_path / str(attempt), settings=[*MANY, *TICKETS])
            try:
                instance.start()
                return case(instance)
            except PlanDone:
                pass
            finally:
                instance.close()
        raise AssertionError('the plan was done too early in ten attempts')

    run.__doc__ = case.__doc__
    return run


@during_plan
def test_the_plan_is_used(instance):
    arrays, favoured = instance.fill()
    instance.begin()
    running = instance.running()
    instance.check_planning()
    assert running == []
    assert instance.until_two_run() == [arrays[0], favoured]


@during_plan
def test_all_jobs_are_cancelled(instance):
    instance.fill()
    instance.begin()
    instance.ok('cancel', '--all')
    instance.check_planning()
    instance.until_no_plan()
    assert instance.queue() == []
    assert {row['state'] for row in instance.history()} == {'CANCELLED'}
    assert {row['start_us'] for row in instance.history()} <= {0, None}
    later = instance.submit(*JOB)
    until(lambda: instance.running() == [later], 'the next job to run')


@during_plan
def test_some_jobs_are_held(instance):
    arrays, favoured = instance.fill()
    instance.begin()
    instance.ok('hold', favoured, arrays[0])
    instance.check_planning()
    assert instance.until_two_run() == [arrays[1]] * 2


@during_plan
def test_the_policy_changes(instance):
    arrays, favoured = instance.fill()
    instance.begin()
    instance.ok('project', 'modify', 'much', 'fshare=0')
    instance.check_planning()
    assert instance.until_two_run() == [arrays[0]] * 2


@during_plan
def test_the_model_changes(instance):
    arrays, favoured = instance.fill()
    instance.begin()
    instance.ok('set', 'PriorityType=priority/basic')
    instance.check_planning()
    assert instance.running() == [arrays[0]] * 2  # at once: this model uses no plan
    instance.until_no_plan()
    assert instance.count('plan-done abandoned=1') == 1
    assert instance.running() == [arrays[0]] * 2


@during_plan
def test_a_later_job_is_ranked_by_the_next_plan(instance):
    arrays, favoured = instance.fill()
    instance.begin()
    later = instance.submit('--project', 'much', *JOB)
    instance.check_planning()
    assert instance.until_two_run() == [arrays[0], favoured]
    instance.until_no_plan()
    instance.ok('cancel', '%d_0' % arrays[0])
    until(lambda: sorted(instance.running()) == [favoured, later], 'the later one to run')


@during_plan
def test_a_commit_fails(instance):
    """The state is loaded again, and the plan of the old state is dropped, because ids of its jobs may be given again."""
    arrays, favoured = instance.fill()
    instance.begin()
    database = sqlite3.connect(instance.state / 'fairlead.db', timeout=PATIENCE)
    database.execute('UPDATE counters SET last_commit_us = last_commit_us + 1')
    database.commit()
    database.close()
    done = instance.run('submit', '--project', 'much', *JOB)
    assert done.returncode != 0, instance.log()
    assert 'nothing was changed' in done.stderr
    instance.check_planning()
    assert instance.count('commit-failed') == 1
    assert instance.until_two_run() == [arrays[0], favoured]
    assert instance.count('plan-done abandoned=1') == 1


@during_plan
def test_the_daemon_is_killed(instance):
    arrays, favoured = instance.fill()
    instance.begin()
    instance.check_planning()
    instance.kill()
    instance.start()
    assert instance.until_two_run() == [arrays[0], favoured]
    assert 'all agree' in instance.ok('verify')


@during_plan
def test_the_daemon_is_stopped(instance):
    arrays, favoured = instance.fill()
    instance.begin()
    instance.check_planning()
    assert instance.stop() == 0
    instance.start()
    assert instance.until_two_run() == [arrays[0], favoured]
