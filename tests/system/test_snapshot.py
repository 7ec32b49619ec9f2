"""Plans of many jobs, and other long replies, are computed by a process with a copy of the daemon's state, while the daemon
answers other requests."""
import contextlib
import os
import pathlib
import signal
import threading

import pytest

from conftest import SocketConnection, until

JOBS = 1200  # a plan of so many takes longer than a turn of the loop may (src/api/server/expected_plan.c)


@pytest.fixture
def busy(stopped):
    """One CPU, a job that runs on it for an hour, and jobs that wait, each for its own hour."""
    instance = stopped
    instance.start('--set', 'host_cpus=1,host_mem_mib=4096,host_gpus=0,grace_s=1')
    instance.submit('-t', '60', '--', 'sleep', '3600')
    connection = SocketConnection(instance.socket)
    body = b'{"directory":"/","out":"/dev/null","time_limit_s":3600,"command":"true","arguments":["true"]}'
    for _ in range(JOBS):
        connection.request('POST', '/v1/jobs', body)
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status == 201, text
    connection.close()
    return instance


def children(pid):
    """Without the launcher and its keepers, which are no copies of the daemon."""
    found = [int(child) for child in pathlib.Path('/proc/%d/task/%d/children' % (pid, pid)).read_text().split()]
    with contextlib.suppress(OSError):
        return [child for child in found if pathlib.Path('/proc/%d/comm' % child).read_text() == 'fairleadd\n']
    return []


def stop_plan_of(pid, thread):
    """Stops the process that plans for a request of that thread, once it has only its pipe: one that is stopped before it has run
    would outlive the daemon, and keep its locks. None: the plan was made before its process was found."""
    while thread.is_alive():
        for child in children(pid):
            with contextlib.suppress(OSError):
                if len(os.listdir('/proc/%d/fd' % child)) == 1:
                    os.kill(child, signal.SIGSTOP)
                    return child
    return None


def stop_plan(instance, results):
    """Asks for plans until the process of one is stopped. Returns it and the thread that waits, which appends to results."""
    for _ in range(200):
        thread = threading.Thread(target=lambda: results.append(instance.run('queue', '--start')))
        thread.start()
        if plan := stop_plan_of(instance.pid(), thread):
            return plan, thread
        thread.join()
        results.clear()
    pytest.fail('200 plans were made before their processes were found')


def test_starts_are_those_of_a_plan_in_the_order_of_the_jobs(busy):
    waiting = [job for job in busy.json('queue', '--start') if job['state'] == 'PENDING']
    starts = [job['expected_start_us'] for job in waiting if job['expected_start_us']]
    assert [job['job_id'] for job in waiting] == list(range(2, JOBS + 2))
    assert len(starts) >= 1000 and starts == sorted(set(starts))
    assert waiting[0]['waits_for'] == 'job 1'


def test_a_submission_that_is_tried_leaves_nothing(busy):
    document = busy.good('schedule', '-P')
    assert 'The job would wait' in busy.good('submit', '--test-only', '-t', '60', '--', 'true')
    refused = busy.bad('submit', '--test-only', '-p', 'nowhere', '--', 'true', status=2)
    assert "no partition 'nowhere'" in refused
    assert len(busy.json('queue')) == JOBS + 1
    assert len(busy.good('schedule', '-P').splitlines()) == len(document.splitlines())


def test_other_requests_are_answered_meanwhile_and_a_killed_process_is_an_error(busy):
    results = []
    plan, thread = stop_plan(busy, results)
    assert busy.good('clock') and busy.submit('--', 'true') == JOBS + 2  # while the process is stopped
    os.kill(plan, signal.SIGKILL)
    thread.join()
    assert results[0].status == 1 and 'was ended by signal 9' in results[0].err, results
    ids = [job['job_id'] for job in busy.json('queue', '--start')]  # the next plan is made
    assert ids == list(range(2, JOBS + 3))


def test_a_daemon_that_stops_or_is_killed_leaves_no_process(busy):
    for end in (lambda: busy.good('stop'), busy.kill):
        plan, thread = stop_plan(busy, [])
        end()
        thread.join()
        until(lambda: not pathlib.Path('/proc/%d' % plan).exists(), 'the process to end')
        busy.start()
