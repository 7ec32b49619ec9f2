"""An instance under random traffic and faults for some seconds; `make crash SECONDS=1800` does it for longer."""
import pathlib
import subprocess
import sys

SECONDS, SEED = 8, 3


def test_nothing_is_lost_and_nothing_runs_twice():
    done = subprocess.run([sys.executable, pathlib.Path(__file__).with_name('soak.py'), str(SECONDS), str(SEED)],
                          capture_output=True, text=True)
    print(done.stdout, done.stderr)
    assert done.returncode == 0
    assert 'nothing lost, nothing run twice' in done.stdout
