"""An instance under random traffic and random faults, for as long as wanted; then every accepted job is accounted for.

usage: soak.py SECONDS [SEED]

Traffic: jobs, arrays, dependencies, time limits, requeues, jobs that ignore SIGTERM or stop their keeper; cancel, hold,
release, requeue, suspend, resume, update. Faults: kill -9 and SIGSTOP of daemon, launcher and keepers in all mixes; a full disk (as root);
syncs that fail; a launcher with few descriptors; a clock that is set. The choices depend on the seed; what they meet depends on the machine.

In the end the faults stop. Each job has to end, and:
  1. each accepted job is in the database, and has ended
  2. no attempt of a task began twice or ended twice, and each that began has a row
  3. what is COMPLETED ran from its begin to its end; what is NODE_FAIL says why, and a keeper of it was killed
  4. usage agrees with the records, also after one more start; no launch and no process is left
"""
import collections
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from instance import BUILD, Instance, kill, known, until  # noqa: E402

TESTS = BUILD / 'tests'
DISK_MIB = 64
REPORT_S = 10
TASK = '''#!/bin/sh
me="$FAIRLEAD_JOB_ID.${FAIRLEAD_ARRAY_TASK_ID:-0}.$FAIRLEAD_RESTART_COUNT"
echo "$me begin" >>%(ran)s
%(before)s
sleep %(seconds)s
echo "$me end" >>%(ran)s
exit %(status)d
'''
BEFORE = ['', '', '', '', 'trap "" TERM', 'sleep 100 & ', 'kill -STOP $PPID', '(setsid sleep 3 &)']


class Soak:
    def __init__(self, directory, seed):
        self.directory = pathlib.Path(directory)
        self.ran = self.directory / 'ran'
        self.ran.touch()
        self.has_disk = self.mount()
        self.instance = Instance(self.directory / 'i', settings=['host_cpus=16', 'grace_s=1', 'requeue_delay_s=1',
                                                                  'kill_invalid_depend=true'])
        self.fail_sync = self.directory / 'fail-sync'
        self.fake_clock = self.directory / 'fake-clock'
        self.fake_clock.write_text('0\n')
        sanitizer = 'libasan.so.8 ' if os.environ.get('FAIRLEAD_SANITIZED') == '1' else ''  # it has to come first
        # The libraries are found by LD_LIBRARY_PATH, because LD_PRELOAD cannot name a path with blanks.
        self.instance.environment |= {'LD_PRELOAD': '%sfail-sync.so fake-clock.so' % sanitizer,
                                      'LD_LIBRARY_PATH': '%s/crash:%s/system' % (TESTS, TESTS),
                                      'FAIL_SYNC': str(self.fail_sync), 'FAKE_CLOCK': str(self.fake_clock)}
        self.rng = random.Random(seed)
        self.counts = collections.Counter()
        self.accepted = []
        self.is_ending = threading.Event()
        self.keepers_killed = 0

    # ---- the disk ----

    def mount(self):
        """A disk of its own for the state, which can be filled."""
        (self.directory / 'i').mkdir()
        done = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=%dm,mode=0700' % DISK_MIB, 'none',
                               self.directory / 'i'], capture_output=True)
        return done.returncode == 0

    def fill_disk(self):
        with open(self.directory / 'i' / 'filler', 'wb', buffering=0) as file:
            try:
                while True:
                    file.write(b'x' * 4096)
            except OSError:
                pass

    # ---- traffic ----

    def submit(self, rng):
        script = self.directory / ('job%d.sh' % rng.randrange(20))
        script.write_text(TASK % {'ran': self.ran, 'before': rng.choice(BEFORE), 'seconds': rng.choice(['0', '0', '0.1', '0.3', '1']),
                                  'status': rng.choice([0, 0, 0, 0, 1, 7])})
        options = ['--mem', '1', '-o', '/dev/null', '--requeue' if rng.random() < 0.5 else '--no-requeue']
        if rng.random() < 0.2:
            options += ['--array', '0-%d' % rng.randrange(1, 12)]
        if rng.random() < 0.2:
            options += ['-t', '0:%02d' % rng.randrange(1, 5)]
        if rng.random() < 0.2 and self.accepted:
            options += ['-d', rng.choice(['afterok', 'afterany', 'after', 'afternotok']) + ':%d' % rng.choice(self.accepted[-9:])]
        if rng.random() < 0.1:
            options += ['--hold']
        if rng.random() < 0.1:
            options += ['--requeue-exit', '7', '--max-requeue', '2']
        done = self.instance.run('submit', '--parsable', *options, script)
        if done.returncode == 0:
            self.accepted.append(int(done.stdout))

    def change(self, rng):
        if not self.accepted:
            return
        job = str(rng.choice(self.accepted[-30:]))
        self.instance.run(*rng.choice([['cancel', job], ['hold', job], ['release', job], ['requeue', job], ['release', '--all'],
                                       ['suspend', job], ['suspend', job], ['resume', job], ['resume', '--all'],
                                       ['update', job, '-t', '0:%02d' % rng.randrange(1, 20)]]))

    def traffic(self, seed):
        rng = random.Random(seed)
        while not self.is_ending.is_set():
            try:
                self.submit(rng) if rng.random() < 0.8 else self.change(rng)
            except subprocess.TimeoutExpired:
                self.counts['commands without an answer in time'] += 1
            time.sleep(rng.uniform(0.0, 0.4))

    # ---- faults ----

    def kill_daemon(self):
        self.instance.kill()

    def kill_launcher(self):
        self.instance.kill_launchers()

    def kill_keepers(self):
        pids = self.instance.keeper_pids()
        chosen = self.rng.sample(pids, self.rng.randrange(1, len(pids) + 1)) if pids else []
        for pid in chosen:
            kill(pid)
        self.keepers_killed += len(chosen)

    def kill_everything(self):
        self.kill_daemon()
        self.kill_launcher()
        self.kill_keepers()

    def stop_for_a_while(self):
        pids = self.rng.choice([lambda: [self.instance.daemon.pid], self.instance.launcher_pids, self.instance.keeper_pids])()
        for pid in pids:
            kill(pid, signal.SIGSTOP)
        time.sleep(self.rng.uniform(0.05, 1.0))
        for pid in pids:
            kill(pid, signal.SIGCONT)

    def full_disk(self):
        if not self.has_disk:
            return
        self.fill_disk()
        time.sleep(self.rng.uniform(0.1, 1.5))
        (self.directory / 'i' / 'filler').unlink()

    def failing_syncs(self):
        self.fail_sync.touch()
        time.sleep(self.rng.uniform(0.1, 1.0))
        self.fail_sync.unlink()

    def few_descriptors(self):
        pids = self.instance.launcher_pids()
        for pid in pids:
            subprocess.run(['prlimit', '--pid', str(pid), '--nofile=12:'], capture_output=True)
        time.sleep(self.rng.uniform(0.1, 1.0))
        for pid in pids:
            subprocess.run(['prlimit', '--pid', str(pid), '--nofile=1024:'], capture_output=True)

    def clock_jump(self):
        """The clock of the instance is set, by minutes to a year, or is right again."""
        by_s = self.rng.choice([0, 1, -1]) * int(60 * 500000 ** self.rng.random())
        self.fake_clock.write_text('%d\n' % by_s)

    FAULTS = [(kill_daemon, 8), (kill_launcher, 6), (kill_keepers, 2), (kill_everything, 1), (stop_for_a_while, 4),
              (full_disk, 2), (failing_syncs, 2), (few_descriptors, 1),
              (clock_jump, 3)]

    def one_fault(self):
        fault = self.rng.choices([f for f, _ in self.FAULTS], [weight for _, weight in self.FAULTS])[0]
        fault(self)
        self.counts[fault.__name__.replace('_', ' ')] += 1
        if self.instance.daemon.poll() is not None:
            self.instance.start()

    # ---- the run ----

    def run(self, seconds):
        begin = time.monotonic()
        report = begin + REPORT_S
        self.instance.start()
        threads = [threading.Thread(target=self.traffic, args=(self.rng.random(),)) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            while time.monotonic() < begin + seconds:
                time.sleep(self.rng.uniform(0.0, 0.8))
                self.one_fault()
                if time.monotonic() > report:
                    report += REPORT_S
                    print('%4.0f of %d s: %d jobs accepted, %s' % (time.monotonic() - begin, seconds, len(self.accepted),
                                                                   self.figures()), flush=True)
        finally:
            self.is_ending.set()
            for thread in threads:
                thread.join()

    def figures(self):
        return ', '.join('%d x %s' % (n, what) for what, n in sorted(self.counts.items()))

    # ---- the end ----

    def finish(self):
        for pid in self.instance.keeper_pids():
            kill(pid, signal.SIGCONT)
        self.instance.ok('release', '--all')
        self.instance.ok('resume', '--all')
        until(self.is_over, 'all jobs to end', 120, progress=lambda: len(self.instance.queue()))
        until(lambda: not self.instance.keeper_pids(), 'the keepers to end')
        until(lambda: not known(self.instance.state), 'the launches to be acknowledged')

    def is_over(self):
        """What is held again was requeued too often."""
        queue = self.instance.queue()
        held = [str(row['job_id']) for row in queue if row['reason'].startswith('JobHeld')]
        if held:
            self.instance.run('cancel', *sorted(set(held)))
        return not queue

    def rows(self):
        db = sqlite3.connect('file:%s?mode=ro' % (self.instance.state / 'fairlead.db'), uri=True)
        db.row_factory = sqlite3.Row
        try:
            tasks = db.execute('SELECT * FROM task ORDER BY job_id, task_id, restarts').fetchall()
            ended = {row[0] for row in db.execute('SELECT id FROM job WHERE ended_us IS NOT NULL')}
        finally:
            db.close()
        return tasks, ended

    def check(self):
        tasks, ended = self.rows()
        faults = []
        lost = [job for job in self.accepted if job not in ended]
        if lost:
            faults.append('accepted jobs that have not ended: %s' % lost)
        ran = collections.Counter(self.ran.read_text().splitlines())
        faults += ['ran twice: ' + line for line, n in ran.items() if n > 1]
        by_token = {'%d.%d.%d' % (row['job_id'], row['task_id'], row['restarts']): row for row in tasks}
        faults += ['began without a row: ' + line for line in ran if line.endswith(' begin') and line.split()[0] not in by_token]
        for token, row in by_token.items():
            if row['state'] == 'COMPLETED' and (ran[token + ' begin'], ran[token + ' end']) != (1, 1):
                faults.append('%s is COMPLETED and did not run to its end' % token)
            if row['state'] == 'NODE_FAIL' and not row['detail']:
                faults.append('%s is NODE_FAIL and nothing says why' % token)
        failed = sum(row['state'] == 'NODE_FAIL' for row in tasks)
        if failed > self.keepers_killed:
            faults.append('%d tasks are NODE_FAIL, and %d keepers were killed' % (failed, self.keepers_killed))
        states = collections.Counter(row['state'] for row in tasks)
        print('%d jobs accepted, %d attempts of tasks: %s' % (len(self.accepted), len(tasks),
              ', '.join('%d %s' % (n, state) for state, n in sorted(states.items()))))
        return faults

    def check_again(self):
        """One more start changes nothing."""
        before = self.instance.ok('history', '--limit', '0', '-P')
        verified = self.instance.ok('verify')
        self.instance.kill()
        self.instance.start()
        faults = [] if self.instance.ok('history', '--limit', '0', '-P') == before else ['a start changed the history']
        return faults + ([] if 'all agree' in verified and 'all agree' in self.instance.ok('verify') else ['verify: ' + verified])

    def close(self):
        self.instance.close()
        for name in 'fairlead.db', 'fairlead.db-wal', 'launcher.log':
            if (self.instance.state / name).exists():
                shutil.copy(self.instance.state / name, self.directory)
        if self.has_disk:
            subprocess.run(['umount', '-l', self.directory / 'i'], check=True)


def main():
    if len(sys.argv) not in (2, 3) or not all(a.isdigit() for a in sys.argv[1:]):
        sys.exit(__doc__)
    seed = int(sys.argv[2]) if len(sys.argv) == 3 else int(time.time())
    directory = tempfile.mkdtemp(prefix='fairlead-soak-')
    print('soak: seed %d, state below %s' % (seed, directory), flush=True)
    soak = Soak(directory, seed)
    try:
        soak.run(int(sys.argv[1]))
        soak.finish()
        faults = soak.check() + soak.check_again()
    finally:
        soak.close()
    print('%d faults caused: %s' % (sum(soak.counts.values()), soak.figures()))
    for fault in faults:
        print('FAULT: ' + fault)
    if not faults:
        shutil.rmtree(directory)
    print('nothing lost, nothing run twice' if not faults else
          '%d faults found; see %s, and run it again with seed %d' % (len(faults), directory, seed))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
