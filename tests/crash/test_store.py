"""The store, broken at every step towards the disk in eight ways: what was acknowledged is there, and nothing half done."""
import os
import pathlib
import subprocess

import pytest

DRIVER = pathlib.Path(os.environ['FAIRLEAD_BUILD']) / 'tests/crash/store-driver'
EVERY = '9' if os.environ.get('FAIRLEAD_SANITIZED') == '1' else '1'


@pytest.mark.parametrize('way', ['kill', 'torn', 'power', 'shuffle', 'error', 'full', 'error-kill', 'gone'])
def test_turns_are_whole(way):
    done = subprocess.run([DRIVER, way, EVERY], capture_output=True, text=True)
    print('# %s: %s' % (way, done.stdout.strip()))
    assert done.returncode == 0, done.stderr
