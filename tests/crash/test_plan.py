"""What happens while a thread ranks those who wait (the tickets model): they are cancelled, the rules or the model change,
a commit fails, the daemon is killed. Two jobs at a time fit into the memory, so who starts first is who came first."""
import sqlite3

from instance import PATIENCE, Instance, until

ARRAYS, TASKS = 20, 20000
MANY = ['host_cpus=%d' % TASKS, 'host_mem_mib=2000', 'max_array_tasks=%d' % TASKS, 'max_pending_tasks_per_job=%d' % TASKS, 'grace_s=1']
TICKETS = ['PriorityType=priority/tickets', 'weight_tickets_functional=1000000', 'weight_project=1', 'weight_user=0',
           'weight_department=0', 'weight_job=0', 'weight_ticket=1', 'weight_urgency=0']
JOB = ['-D', '/', '-o', '/dev/null', '--mem', '1000M', '--', 'sleep', '1000']


class Over(Exception):
    """The plan was made before the case had done what it does meanwhile."""


class Planned(Instance):
    def start(self):
        return super().start('--log-level', 'debug')

    def count(self, word):
        return (self.place / 'daemon.log').read_text(errors='replace').count('event=' + word)

    def plans(self):
        """How many are being made."""
        return self.count('plan-begun') - self.count('plan-done')

    def is_planning(self):
        """So far it was meanwhile, indeed."""
        if self.plans() != 1:
            raise Over

    def fill(self):
        """Arrays of project little, and behind them one job of project much; all are held."""
        for project, shares in ('little', 10), ('much', 90):
            self.ok('project', 'add', project, 'fshare=%d' % shares)
        arrays = [self.submit('--hold', '--array', '0-%d' % (TASKS - 1), '--project', 'little', *JOB) for _ in range(ARRAYS)]
        return arrays, self.submit('--hold', '--project', 'much', *JOB)

    def begin(self):
        """All are released: from here on a plan is made."""
        before = self.count('plan-begun')
        self.ok('release', '--all')
        assert self.count('plan-begun') > before
        self.is_planning()

    def running(self):
        return [row['job_id'] for row in self.queue() if row['state'] in ('STARTING', 'RUNNING')]

    def until_two_run(self):
        until(lambda: len(self.running()) == 2, 'two jobs to run')
        return self.running()

    def is_quiet(self):
        return until(lambda: self.plans() == 0, 'no plan to be made')


def meanwhile(case):
    """A case for pytest, which is begun anew where the plan was over too early, as it may be when the machine is busy. Were
    everybody kept waiting while a plan is made, it would be over every time."""

    def run(tmp_path):
        for attempt in range(10):
            instance = Planned(tmp_path / str(attempt), settings=[*MANY, *TICKETS])
            try:
                instance.start()
                return case(instance)
            except Over:
                pass
            finally:
                instance.close()
        raise AssertionError('the plan was over too early, ten times')

    run.__doc__ = case.__doc__
    return run


@meanwhile
def test_the_plan_is_used(instance):
    arrays, rich = instance.fill()
    instance.begin()
    running = instance.running()
    instance.is_planning()
    assert running == []
    assert instance.until_two_run() == [arrays[0], rich]


@meanwhile
def test_all_are_cancelled_meanwhile(instance):
    instance.fill()
    instance.begin()
    instance.ok('cancel', '--all')
    instance.is_planning()
    instance.is_quiet()
    assert instance.queue() == []
    assert {row['state'] for row in instance.history()} == {'CANCELLED'}
    assert {row['start_us'] for row in instance.history()} <= {0, None}
    later = instance.submit(*JOB)
    until(lambda: instance.running() == [later], 'the next job to run')


@meanwhile
def test_some_are_held_meanwhile(instance):
    arrays, rich = instance.fill()
    instance.begin()
    instance.ok('hold', rich, arrays[0])
    instance.is_planning()
    assert instance.until_two_run() == [arrays[1]] * 2


@meanwhile
def test_the_rules_change_meanwhile(instance):
    arrays, rich = instance.fill()
    instance.begin()
    instance.ok('project', 'modify', 'much', 'fshare=0')
    instance.is_planning()
    assert instance.until_two_run() == [arrays[0]] * 2


@meanwhile
def test_another_model_takes_over_meanwhile(instance):
    arrays, rich = instance.fill()
    instance.begin()
    instance.ok('set', 'PriorityType=priority/basic')
    instance.is_planning()
    assert instance.running() == [arrays[0]] * 2  # at once: this model needs no plan
    instance.is_quiet()
    assert instance.count('plan-done abandoned=1') == 1
    assert instance.running() == [arrays[0]] * 2


@meanwhile
def test_who_comes_meanwhile_is_ranked_next(instance):
    arrays, rich = instance.fill()
    instance.begin()
    later = instance.submit('--project', 'much', *JOB)
    instance.is_planning()
    assert instance.until_two_run() == [arrays[0], rich]
    instance.is_quiet()
    instance.ok('cancel', '%d_0' % arrays[0])
    until(lambda: sorted(instance.running()) == [rich, later], 'the later one to run')


@meanwhile
def test_a_commit_fails_meanwhile(instance):
    """The state is loaded anew, and the plan of the old one is not used: its jobs' numbers may be given again."""
    arrays, rich = instance.fill()
    instance.begin()
    database = sqlite3.connect(instance.state / 'fairlead.db', timeout=PATIENCE)
    database.execute('UPDATE counters SET last_commit_us = last_commit_us + 1')
    database.commit()
    database.close()
    done = instance.run('submit', '--project', 'much', *JOB)
    assert done.returncode != 0, instance.log()
    assert 'nothing was changed' in done.stderr
    instance.is_planning()
    assert instance.count('commit-failed') == 1
    assert instance.until_two_run() == [arrays[0], rich]
    assert instance.count('plan-done abandoned=1') == 1


@meanwhile
def test_the_daemon_is_killed_meanwhile(instance):
    arrays, rich = instance.fill()
    instance.begin()
    instance.is_planning()
    instance.kill()
    instance.start()
    assert instance.until_two_run() == [arrays[0], rich]
    assert 'all agree' in instance.ok('verify')


@meanwhile
def test_the_daemon_is_stopped_meanwhile(instance):
    arrays, rich = instance.fill()
    instance.begin()
    instance.is_planning()
    assert instance.stop() == 0
    instance.start()
    assert instance.until_two_run() == [arrays[0], rich]
