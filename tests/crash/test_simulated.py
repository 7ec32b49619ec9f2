"""Engine and store with a virtual clock and a pretend executor, crashed between any two steps: 200 histories, each given by
its seed. `make crash` runs 10,000. One history again: build/tests/crash/simulate SEED 1"""
import concurrent.futures
import os
import pathlib
import subprocess

SIMULATE = pathlib.Path(os.environ['FAIRLEAD_BUILD']) / 'tests/crash/simulate'
HISTORIES = 40 if os.environ.get('FAIRLEAD_SANITIZED') == '1' else 200
AT_ONCE = 20  # by one process


def test_histories_with_crashes():
    cores = len(os.sched_getaffinity(0))
    with concurrent.futures.ThreadPoolExecutor(cores) as pool:
        runs = list(pool.map(lambda first: subprocess.run([SIMULATE, str(first), str(AT_ONCE)], capture_output=True,
                                                          text=True), range(1, HISTORIES, AT_ONCE)))
    for run in runs:
        print('# ' + run.stdout.strip())
        assert run.returncode == 0, run.stderr
