"""The store, with a fault at a write, truncation, sync or deletion, in nine ways: every acknowledged turn is kept, and
each turn is stored completely or not at all. `make crash` has a fault at each of them, `make test` at every EVERY-th."""
import concurrent.futures
import os
import pathlib
import subprocess

import pytest

DRIVER = pathlib.Path(os.environ['FAIRLEAD_BUILD']) / 'tests/crash/store-driver'
EVERY = os.environ.get('FAIRLEAD_CRASH_EVERY') or ('9' if os.environ.get('FAIRLEAD_SANITIZED') == '1' else '3')


@pytest.fixture(scope='module')
def runs(request):
    """The runs of all selected ways, one per core at a time: each takes seconds of one core."""
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        yield {way: pool.submit(subprocess.run, [DRIVER, way, EVERY], capture_output=True, text=True)
               for way in (case.callspec.params['way'] for case in request.session.items)}


@pytest.mark.parametrize('way', ['kill', 'torn', 'power', 'shuffle', 'error', 'full', 'short', 'error-kill', 'gone'])
def test_turns_are_whole(runs, way):
    done = runs[way].result()
    print('# %s: %s' % (way, done.stdout.strip()))
    assert done.returncode == 0, done.stderr
