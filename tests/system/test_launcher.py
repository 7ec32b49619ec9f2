"""fairlead-launcher by itself: what a job gets, how it ends, what is refused, and which peers are accepted."""
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exec_world import (LAUNCHER, PATIENCE, US, World, alive, find_processes, in_time,  # noqa: E402
                        make_public_directory, open_files, until)

NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']


def cgroups_work():
    """Whether a group that can be killed can be created in our own, as the launcher finds out."""
    mounts = [line.split() for line in pathlib.Path('/proc/self/mountinfo').read_text().splitlines() if ' - cgroup2 ' in line]
    own = [line[3:] for line in pathlib.Path('/proc/self/cgroup').read_text().splitlines() if line.startswith('0::')]
    if not mounts or not own:
        return False
    probe = pathlib.Path(mounts[0][4] + own[0]) / ('fairlead-test-%d' % os.getpid())
    try:
        probe.mkdir()
    except OSError:
        return False
    works = (probe / 'cgroup.kill').exists()
    probe.rmdir()
    return works


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    world.connect()
    assert world.synced() == {}
    yield world
    world.close()


@pytest.fixture
def public_directory():
    directory = make_public_directory()
    yield directory
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(params=['cgroup', 'no-cgroup', 'unprivileged'])
def any_world(tmp_path, request):
    """A world for each way in which a keeper can reach the processes of its job."""
    options = ['--no-cgroup'] if request.param == 'no-cgroup' else []
    directory, prefix = tmp_path, []
    if request.param == 'cgroup' and not cgroups_work():
        pytest.skip('no control groups can be created here')
    if request.param == 'unprivileged':
        if os.geteuid() != 0:
            pytest.skip('already unprivileged')
        prefix = NOBODY
        directory = request.getfixturevalue('public_directory')
        os.chown(directory, 65534, 65534)
    world = World(directory, prefix=prefix)
    if prefix:
        os.chown(world.state, 65534, 65534)
    world.start_launcher(options)
    world.connect()
    assert world.synced() == {}
    world.identity = {'uid': 65534, 'gid': 65534} if prefix else {}
    yield world
    world.close()


# ---- what a job gets ----


def test_a_job_runs_and_its_end_is_reported(any_world):
    record, output = any_world.run(7, 'sh', '-c', 'echo out; echo err >&2; exit 3', **any_world.identity)
    assert output == 'out\nerr\n'
    assert (record['end'], record['exit_status'], record['signal']) == ('exited', 3, 0)
    assert 0 < record['started_us'] <= record['at_us']
    assert 0 < record['started_boot_us'] <= record['at_boot_us'] <= time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000
    assert record['boot'] == pathlib.Path('/proc/sys/kernel/random/boot_id').read_text().strip()
    assert record['pid'] > 0 and record['detail'] == ''


def test_the_start_is_reported_before_the_end(world):
    world.start(1, 'sleep', '0.3')
    started = world.record(1, 'started')
    assert started['phase'] == 'started'
    assert started['started_us'] == started['at_us']
    ended = world.ended(1)
    assert (ended['pid'], ended['started_us']) == (started['pid'], started['started_us'])


def test_a_signal_is_reported(world):
    record, _ = world.run(1, 'sh', '-c', 'kill -SEGV $$')
    assert (record['end'], record['signal'], record['exit_status']) == ('exited', signal.SIGSEGV, 0)


def test_usage_is_reported(world):
    record, _ = world.run(1, 'python3', '-c', 'b = bytearray(200 << 20)\nimport time\nwhile time.process_time() < 0.3: pass')
    assert 0.3 * US <= record['cpu_us'] < 20 * US
    assert 200 << 10 <= record['max_rss_kib'] < 1 << 20


def test_a_job_gets_the_given_environment(world):
    given = {'PATH': '/usr/bin:/bin', 'EMPTY': '', 'LINES': 'a\nb\tc\\', 'FAIRLEAD_LAUNCH_ID': '99', 'FAIRLEAD_LAUNCH_KEY': 'x'}
    _, output = world.run(5, 'env', '-0', environment=given)
    got = dict(item.split('=', 1) for item in output.split('\0') if item)
    key = got.pop('FAIRLEAD_LAUNCH_KEY')
    assert len(key) == 32 and key != 'x'
    assert got == {**given, 'FAIRLEAD_LAUNCH_ID': '5', 'FAIRLEAD_LAUNCH_KEY': None} or got == {
        'PATH': '/usr/bin:/bin', 'EMPTY': '', 'LINES': 'a\nb\tc\\', 'FAIRLEAD_LAUNCH_ID': '5'}


SHOW_PROCESS = r'''
import os, resource, signal
print(sorted(int(f) for f in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + f)))
print(os.readlink('/proc/self/fd/0'))
print(os.getsid(0) == os.getpid() == os.getpgrp())
status = dict(l.split(':', 1) for l in open('/proc/self/status').read().splitlines())
print([int(status[n], 16) for n in ('SigBlk', 'SigCgt')], hex(int(status['SigIgn'], 16) & ~0x1001000))
print(oct(os.umask(0)), resource.getrlimit(resource.RLIMIT_NOFILE)[0], os.getcwd())
'''


def test_a_job_gets_a_clean_process(tmp_path):
    """Descriptors 0 to 2, a session, default signals, and the umask and limits that the launcher was started with."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    files = 777 if hard == resource.RLIM_INFINITY else min(777, hard - 1)
    world = World(tmp_path, prefix=['sh', '-c', 'umask 027; ulimit -Sn %d; exec "$@"' % files, 'sh'])
    world.connect()
    world.synced()
    directory = tmp_path / 'a directory'
    directory.mkdir()
    _, output = world.run(1, '/usr/bin/python3', '-I', '-c', SHOW_PROCESS, directory=directory)
    world.close()
    lines = output.splitlines()
    assert lines[0] in ('[0, 1, 2]', '[0, 1, 2, 3]')  # 3: the directory that it lists
    assert lines[1] == '/dev/null'
    assert lines[2] == 'True'
    assert lines[3].startswith('[0, ') and lines[3].endswith('0x0')
    assert lines[4] == '0o27 %d %s' % (files, directory)
    assert stat.S_IMODE((tmp_path / '1.out').stat().st_mode) == 0o640


def test_a_job_is_bound_to_its_cpus(world):
    cpus = sorted(os.sched_getaffinity(0))
    record, output = world.run(1, 'python3', '-c', 'import os; print(sorted(os.sched_getaffinity(0)))', cpus=cpus[-1])
    assert output == '[%d]\n' % cpus[-1]
    record, _ = world.run(2, 'true', cpus='4000-4001')
    assert (record['end'], record['detail']) == ('refused', 'cannot bind to CPUs 4000-4001: Invalid argument')


def test_output_and_error_go_to_two_files(world):
    world.run(1, 'sh', '-c', 'echo out; echo err >&2', err=world.path / '1.err')
    assert (world.output(1), (world.path / '1.err').read_text()) == ('out\n', 'err\n')


@pytest.mark.parametrize('name', ['1.out', 'link'])
def test_output_and_error_go_to_one_file_with_two_names(world, name):
    """Both streams share an open file description; otherwise they would overwrite each other."""
    (world.path / 'link').symlink_to(world.path / '1.out')
    world.run(1, 'sh', '-c', 'for i in 1 2 3; do echo out; echo err >&2; done', err=world.path / name)
    assert world.output(1) == 'out\nerr\n' * 3


def test_output_is_truncated(world):
    (world.path / '1.out').write_text('old text that is longer\n')
    assert world.run(1, 'echo', 'new')[1] == 'new\n'


# ---- scripts ----


@pytest.mark.parametrize('script, arguments, output', [
    ('echo "$0" | sed s,.*/,,; echo "$@"', ['a b', 'c'], '1.script\na b c\n'),
    ('#!/bin/sh\necho $#', ['', ''], '2\n'),
    ('#! \t/bin/sh  -e \nfalse\necho no', [], ''),
    ('#!/usr/bin/env python3\nimport sys\nprint(sys.argv[1:])', ['x'], "['x']\n"),
    ('#!/usr/bin/awk -f\nBEGIN { print "awk" }', [], 'awk\n'),
    ('#!/bin/echo one  argument\n', ['end'], 'one  argument SCRIPT end\n'),
    ('#!\necho no name', [], 'no name\n'),
    ('#!/bin/sh', [], ''),
])
def test_a_script_is_run_by_its_interpreter(world, script, arguments, output):
    got = world.run(1, *arguments, script=script)[1]
    assert got.replace(str(world.state / 'launches/1.script'), 'SCRIPT') == output


def test_a_script_is_readable_only_by_its_user(world):
    world.start(1, script='sleep 600; : secret of %s' % world.path)
    world.record(1, 'started')
    for path in [world.state, *world.state.rglob('*')]:
        assert stat.S_IMODE(path.lstat().st_mode) in ((0o700,) if path.is_dir() else (0o400, 0o600)), path
    assert not find_processes('secret of %s' % world.path)


@pytest.mark.parametrize('script, detail', [
    ('#!/no/such/thing -x\n', "cannot run the script's interpreter /no/such/thing: No such file or directory"),
    ('#!/bin/sh\r\necho\r\n',
     "no interpreter '/bin/sh\\r': the script's lines end with CR LF; convert them to LF"),
    ('#!/etc/passwd\n', "cannot run the script's interpreter /etc/passwd: Permission denied"),
])
def test_a_script_without_an_interpreter_is_refused(world, script, detail):
    record, _ = world.run(1, script=script)
    assert (record['end'], record['detail']) == ('refused', detail)


# ---- what is refused ----


@pytest.mark.parametrize('arguments, fields, detail', [
    (['no-such-program'], {}, 'cannot run no-such-program: No such file or directory'),
    (['/'], {}, 'cannot run /: Permission denied'),
    (['/etc/passwd'], {}, 'cannot run /etc/passwd: Permission denied'),
    ([], {}, 'nothing to run: give a script or a program'),
    ([''], {}, 'nothing to run: give a script or a program'),
    (['true'], {'directory': '/no/such'}, 'cannot enter directory /no/such: No such file or directory'),
    (['true'], {'directory': 'here'}, "working directory: 'here' is not an absolute path"),
    (['true'], {'out': '/no/such/file'}, 'cannot open output /no/such/file: No such file or directory'),
    (['true'], {'out': '/proc'}, 'cannot open output /proc: Is a directory'),
    (['true'], {'out': ''}, "output file: '' is not an absolute path"),
    (['true'], {'err': '/no/such/file'}, 'cannot open error output /no/such/file: No such file or directory'),
    (['true'], {'err': 'e'}, "error file: 'e' is not an absolute path"),
    (['true'], {'name': 'a/b'}, "launch name: 'a/b' is not 1 to 63 printable bytes without a slash"),
    (['true'], {'name': ''}, "launch name: '' is not 1 to 63 printable bytes without a slash"),
    (['true'], {'limit_us': -1}, 'time limit: -1 is not a number of microseconds from 0 to 316224000000000'),
    (['true'], {'grace_us': -1}, 'grace: -1 is not a number of microseconds from 0 to 604800000000'),
    (['true'], {'cpus': '70000'}, 'CPUs: 70000 is not a CPU number from 0 to 65535'),
    (['x' * 140000], {}, 'arguments[0]: 140000 bytes; Linux accepts at most 131071'),
    (['true', *['x' * 130000] * 60], {}, 'cannot run true: arguments and environment together are too large for Linux'),
    (['true'], {'environment': {'': 'x'}}, "environment[0]: '=x' is not NAME=value"),
])
def test_a_launch_is_refused(world, arguments, fields, detail):
    record, _ = world.run(1, *arguments, **fields)
    assert (record['end'], record['detail']) == ('refused', detail)
    assert (record['started_us'], record['pid'], record['exit_status'], record['signal']) == (0, 0, 0, 0)
    world.send('ack', 1)
    world.until_forgotten()


def test_a_fifo_without_a_reader_is_refused(world):
    os.mkfifo(world.path / '1.out')
    world.start(1, 'true')
    record = world.ended(1)
    assert record['detail'].endswith('1.out: No such device or address')


@pytest.mark.parametrize('fields', [{'uid': 12345}, {'gid': 12345}, {'uid': 0, 'gid': 12345}])
def test_another_identity_is_refused(world, fields):
    record, _ = world.run(1, 'true', **fields)
    assert record['end'] == 'refused'
    assert record['detail'].startswith('cannot start a job as user ')
    assert record['detail'].endswith(': this launcher runs as user %d, group %d' % (os.geteuid(), os.getegid()))


def test_a_long_detail_is_cut_in_its_middle(world):
    record, _ = world.run(1, 'true', out='/no/' + 'ü' * 120 + '/such')
    assert record['detail'].startswith('cannot open output /no/ü')
    assert record['detail'].endswith('ü/such: No such file or directory')
    assert ' ... ' in record['detail'] and len(record['detail'].encode()) < 200


@pytest.mark.parametrize('kind', ['out', 'err', 'directory', 'program'])
def test_a_long_path_does_not_hide_what_failed(world, kind):
    path = '/no' + '/x' * 2000
    if kind == 'program':
        record, _ = world.run(1, path * 3)
    else:
        record, _ = world.run(1, 'true', **{kind: path})
    assert record['detail'].endswith('x: ' + ('File name too long' if kind == 'program' else 'No such file or directory')), record
    assert '/no/x/x' in record['detail'] and ' ... ' in record['detail']


def test_a_program_without_magic_is_a_shell_script(world):
    program = world.path / 'program'
    program.write_text('echo "$1 by the shell"\n')
    program.chmod(0o755)
    assert world.run(1, 'program', 'run', environment={'PATH': '/no/such::%s' % world.path})[1] == 'run by the shell\n'


# ---- ends ----

QUIET = 'exec 2>/dev/null; '  # a shell prints "Terminated" about the sleep that it waits for
TRAP = QUIET + 'trap "echo term" TERM; echo ready; while :; do sleep 0.05; done'


def test_a_job_ends_at_its_time_limit(any_world):
    any_world.start(1, 'sleep', '60', limit_us=US // 3, **any_world.identity)
    record = any_world.ended(1)
    assert (record['end'], record['signal']) == ('timed-out', signal.SIGTERM)
    assert US // 3 <= record['at_us'] - record['started_us'] < 60 * US


def test_a_time_limit_is_replaced_while_the_job_runs(any_world):
    any_world.start(1, 'sleep', '60', limit_us=3600 * US, **any_world.identity)
    any_world.start(2, 'sleep', '60', **any_world.identity)
    started = [any_world.record(launch_id, 'started') for launch_id in (1, 2)]
    any_world.send('limit', 1, US)
    any_world.send('limit', 2, US)
    for launch_id, record in zip((1, 2), started):
        ended = any_world.ended(launch_id)
        assert (ended['end'], ended['signal']) == ('timed-out', signal.SIGTERM)
        assert ended['at_us'] - record['started_us'] >= US  # it counts from the start


def test_a_longer_time_limit_or_none_keeps_a_job_running(world):
    ids = iter(range(1, 99))

    def attempt(seconds):
        longer, none = next(ids), next(ids)
        span_us = int(seconds * US)
        for launch_id in (longer, none):
            world.start(launch_id, 'sleep', '60', limit_us=span_us)
        begin_us = min(world.record(launch_id, 'started')['started_us'] for launch_id in (longer, none))
        world.send('limit', longer, 2 * span_us)
        world.send('limit', none, 0)
        record = world.ended(longer)
        assert record['end'] == 'timed-out'
        if record['at_us'] - begin_us < 2 * span_us:
            return False  # the order came too late
        world.send('end', none, 0)
        return world.ended(none)['end'] == 'cancelled'

    in_time(attempt)


def test_a_time_limit_that_has_passed_ends_the_job_at_once(world):
    world.start(1, 'sleep', '60', limit_us=3600 * US)
    world.record(1, 'started')
    time.sleep(0.1)
    world.send('limit', 1, 1)
    assert world.ended(1)['end'] == 'timed-out'


def test_a_time_limit_that_is_replaced_while_the_job_starts_holds(world):
    for launch_id in range(1, 21):
        world.start(launch_id, 'sleep', '60', limit_us=3600 * US)
        world.send('limit', launch_id, 1)
    for launch_id in range(1, 21):
        assert world.ended(launch_id)['end'] == 'timed-out'


def test_no_time_limit_prolongs_the_grace_or_undoes_an_end(world):
    world.start(1, 'sh', '-c', TRAP, grace_us=US)
    until(lambda: world.output(1) == 'ready\n', 'the job')
    world.send('end', 1, US)
    world.record(1, 'completing')
    world.send('limit', 1, 3600 * US)
    record = world.ended(1)
    assert (record['end'], record['signal']) == ('cancelled', signal.SIGKILL)


def test_a_job_is_killed_after_its_grace(any_world):
    ids = iter(range(1, 9))

    def attempt(seconds):
        launch_id, span_us = next(ids), int(seconds * US)
        any_world.start(launch_id, 'sh', '-c', TRAP, limit_us=span_us, grace_us=span_us, **any_world.identity)
        completing = any_world.record(launch_id, 'completing')
        record = any_world.ended(launch_id)
        assert record['end'] == 'timed-out'
        if any_world.output(launch_id) != 'ready\nterm\n':
            return False
        assert completing['phase'] == 'completing' and record['signal'] == signal.SIGKILL
        assert record['at_us'] - record['started_us'] >= 2 * span_us
        return True

    in_time(attempt)


def test_a_job_is_cancelled(any_world):
    any_world.start(1, 'sleep', '60', **any_world.identity)
    any_world.record(1, 'started')
    any_world.send('end', 1, US)
    assert any_world.ended(1)['end'] == 'cancelled'


def test_a_job_is_cancelled_while_it_starts(any_world):
    """The order may arrive before the program runs, or before its process is ready; then the job never started."""
    for launch_id in range(1, 31):
        any_world.start(launch_id, 'sleep', '60', **any_world.identity)
        any_world.send('end', launch_id, US)
    for launch_id in range(1, 31):
        record = any_world.ended(launch_id)
        assert record['end'] == 'cancelled'
        assert (record['pid'] == 0) == (record['started_us'] == 0)


def test_a_second_order_can_only_shorten_the_grace(world):
    world.start(1, 'sh', '-c', TRAP, grace_us=60 * US)
    until(lambda: world.output(1) == 'ready\n', 'the job')
    world.send('end', 1, 60 * US)
    world.record(1, 'completing')
    world.send('end', 1, 3600 * US)
    world.send('end', 1, 0)
    record = world.ended(1)
    assert (record['end'], record['signal']) == ('cancelled', signal.SIGKILL)


def test_an_exit_during_the_grace_is_still_a_time_out(world):
    ids = iter(range(1, 9))

    def attempt(seconds):
        launch_id = next(ids)
        world.start(launch_id, 'sh', '-c', QUIET + 'trap "exit 5" TERM; echo ready; while :; do sleep 0.05; done',
                    limit_us=int(seconds * US), grace_us=600 * US)
        record = world.ended(launch_id)
        assert record['end'] == 'timed-out'
        return world.output(launch_id) == 'ready\n' and record['exit_status'] == 5

    in_time(attempt)


def test_a_stopped_job_can_be_ended(world):
    world.start(1, 'sh', '-c', QUIET + 'trap "echo bye; exit 0" TERM; kill -STOP $$; while :; do sleep 0.05; done', grace_us=30 * US)
    pid = world.record(1, 'started')['pid']
    until(lambda: pathlib.Path('/proc/%d/stat' % pid).read_text().split()[2] == 'T', 'it to stop')
    world.send('end', 1, 30 * US)
    assert world.ended(1)['end'] == 'cancelled'
    assert world.output(1) == 'bye\n'


LEFTOVERS = r'''
import os, signal, sys, time
read_end, write_end = os.pipe()
def leave(depth):
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        if os.fork() == 0:
            if depth: leave(depth - 1)
            print(os.getpid(), flush=True)
            os.write(write_end, b'.')
            time.sleep(600)
        os._exit(0)
leave(3)
leave(0)
for _ in range(5): os.read(read_end, 1)
'''


def test_no_process_outlives_its_job(any_world):
    """Processes that left the session and ignore the signals that can be ignored are ended after the main process."""
    any_world.start(1, 'python3', '-c', LEFTOVERS, grace_us=US // 5, **any_world.identity)
    record = any_world.ended(1)
    pids = [int(line) for line in any_world.output(1).split()]
    assert len(pids) == 5 and not any(alive(pid) for pid in pids)
    assert (record['end'], record['exit_status'], record['signal']) == ('exited', 0, 0)


def test_remaining_processes_get_sigterm_and_a_short_grace(world):
    ready = '; : >ready-$FAIRLEAD_LAUNCH_ID; '
    until_ready = ') & while ! test -e ready-$FAIRLEAD_LAUNCH_ID; do sleep 0.01; done'

    def attempt(_):
        """The grace is two seconds, which may be too short on a busy machine."""
        launch_id = next(ids)
        script = QUIET + '(trap "echo tidy; exit" TERM' + ready + 'while :; do sleep 0.05; done' + until_ready
        record, output = world.run(launch_id, 'sh', '-c', script, grace_us=30 * US)
        assert (record['end'], record['exit_status']) == ('exited', 0)
        return output == 'tidy\n'

    ids = iter(range(2, 9))
    in_time(attempt)
    world.start(1, 'sh', '-c', '(trap "" TERM' + ready + 'exec sleep 600' + until_ready, grace_us=3600 * US)
    completing = world.record(1, 'completing')
    assert world.ended(1)['at_us'] - completing['at_us'] < 1800 * US  # two seconds, not an hour


FORKING = r'''
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
def fork_on(new_session):
    while time.monotonic() < end:
        pid = os.fork()
        if pid: os._exit(0)
        if new_session: os.setsid()
end = time.monotonic() + 60
for n in range(8):
    if os.fork() == 0:
        fork_on(n % 2)
print('forking', flush=True)
time.sleep(600)
'''


def test_processes_that_keep_forking_are_ended(any_world):
    """Each process exits as soon as it has forked a child; half of the chains begin a session at every fork."""
    any_world.start(1, 'python3', '-S', '-E', '-c', FORKING, any_world.path / 'forking', grace_us=US // 10,
                    **any_world.identity)
    until(lambda: any_world.output(1) == 'forking\n', 'the job')
    any_world.send('end', 1, 0)
    assert any_world.ended(1)['end'] == 'cancelled'
    assert not find_processes(str(any_world.path / 'forking'))


FORK_BOMB = r'''
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print('waiting', flush=True)
for _ in range(8): os.fork()
time.sleep(600)
'''


def test_a_fork_bomb_is_ended(any_world):
    any_world.start(1, 'python3', '-S', '-E', '-c', FORK_BOMB, any_world.path / 'waiting', limit_us=US // 2,
                    grace_us=0, **any_world.identity)
    assert any_world.ended(1)['end'] == 'timed-out'
    assert not find_processes(str(any_world.path / 'waiting'))


def test_sigterm_to_a_keeper_ends_its_job_as_lost(world):
    world.start(1, 'sleep', '60')
    world.record(1, 'started')
    os.kill(world.keeper_pid(1), signal.SIGTERM)
    record = world.ended(1)
    assert (record['end'], record['detail']) == ('lost', 'its keeper got SIGTERM, as at a shutdown')


# ---- a launch is started once, and known until it is acknowledged ----


def test_a_launch_id_starts_once(world):
    for _ in range(3):
        world.start(1, 'sh', '-c', 'echo once >> %s/count; sleep 0.2' % world.path)
    world.ended(1)
    world.start(1, 'sh', '-c', 'echo again >> %s/count' % world.path)
    world.reports.clear()
    assert world.ended(1)['end'] == 'exited'
    assert (world.path / 'count').read_text() == 'once\n'


def test_a_launch_is_known_until_it_is_acknowledged(world):
    world.run(1, 'true')
    world.start(2, 'sleep', '600')
    world.record(2, 'started')
    world.connect()
    records = world.synced()
    assert {i: r['phase'] for i, r in records.items()} == {1: 'ended', 2: 'started'}
    world.send('ack', 1)
    world.send('ack', 2)  # it runs, so it stays known
    world.send('ack', 99)
    world.until_forgotten(1)
    world.connect()
    assert list(world.synced()) == [2]


def test_hundreds_of_jobs_run_at_once(world):
    ids = range(1, 201)
    for launch_id in ids:
        world.start(launch_id, 'sh', '-c', 'echo $FAIRLEAD_LAUNCH_ID')
    assert {world.ended(launch_id)['exit_status'] for launch_id in ids} == {0}
    assert [world.output(launch_id) for launch_id in ids] == ['%d\n' % launch_id for launch_id in ids]
    for launch_id in ids:
        world.send('ack', launch_id)
    world.until_forgotten()


def test_a_keeper_has_a_title_and_few_open_files(world):
    world.start(1, 'sleep', '600', name='12_3')
    world.record(1, 'started')
    keeper = world.keeper_pid(1)
    assert pathlib.Path('/proc/%d/cmdline' % keeper).read_bytes().rstrip(b'\0') == b'fairlead-keeper 12_3'

    def names():
        return {name.replace(str(world.state), '').split(':')[0] for name in open_files(keeper)}

    # The keeper closes the pipe to the job's process once the program runs.
    until(lambda: names() == {'', '/dev/null', '/launcher.log', '/launcher.events', '/launches/keepers', '/launches/1.log',
                              'anon_inode', 'socket'},
          'the keeper to have only its own files open')


# ---- the launcher itself ----


def launcher(*arguments):
    return subprocess.run([LAUNCHER, *arguments], capture_output=True, text=True, timeout=PATIENCE)


def test_help_and_version():
    assert '--state DIR' in launcher('--help').stdout
    assert launcher('--version').stdout.startswith('fairlead-launcher ')


@pytest.mark.parametrize('arguments, text', [
    ([], 'give either --private, for the jobs of one user, or --system'),
    (['--private'], '--state with an absolute path is missing'),
    (['--private', '--state', 'here'], '--state with an absolute path is missing'),
    (['--private', '--state', '/', 'more'], "unexpected argument 'more'"),
    (['--unknown'], "unknown option '--unknown'"),
])
def test_wrong_usage_is_refused(arguments, text):
    result = launcher(*arguments)
    assert result.returncode == 2 and text in result.stderr


def test_a_directory_that_is_open_to_others_is_refused(tmp_path):
    tmp_path.chmod(0o755)
    result = launcher('--private', '--state', tmp_path)
    assert result.returncode == 1
    assert result.stderr == ("fairlead-launcher: directory %s is open to others: run 'chmod 700 %s'\n" %
                             (tmp_path, tmp_path))
    assert launcher('--private', '--state', tmp_path / 'missing').returncode == 1


def test_a_long_socket_path_is_refused(tmp_path):
    path = tmp_path / ('x' * 100)
    path.mkdir(mode=0o700)
    result = launcher('--private', '--state', path)
    length = len(str(path)) + len('/launcher.sock')
    assert result.returncode == 2
    assert '%d bytes; Linux accepts at most 107' % length in result.stderr
    world = World.__new__(World)
    world.state, world.prefix, world.driver = path, [], None
    assert '%d bytes; Linux accepts at most 107' % length in world.connect('error')
    world.disconnect()


def test_a_directory_has_one_launcher(world):
    result = launcher('--private', '--state', world.state)
    assert (result.returncode, result.stderr) == (2, 'fairlead-launcher: another launcher serves %s\n' % world.state)


def test_a_stale_socket_is_replaced(tmp_path):
    world = World(tmp_path)
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(world.state / 'launcher.sock'))
    stale.close()
    world.connect()
    assert world.synced() == {}
    world.close()


def test_a_missing_launcher_program_is_reported(tmp_path, monkeypatch):
    world = World(tmp_path)
    monkeypatch.setattr('exec_world.LAUNCHER', '/no/such/launcher')
    assert world.connect('error') == 'error cannot run /no/such/launcher: No such file or directory'
    world.disconnect()


@pytest.mark.slow
def test_an_idle_launcher_ends(tmp_path):
    """It stays while a launch is not acknowledged, and ends after ten seconds without a daemon and without launches."""
    world = World(tmp_path)
    world.connect()
    world.synced()
    world.run(1, 'true')
    world.disconnect()
    time.sleep(11)
    assert len(world.launcher_pids()) == 1
    world.connect()
    assert list(world.synced()) == [1]
    world.send('ack', 1)
    world.until_forgotten(1)
    begin = time.monotonic()
    world.disconnect()
    until(lambda: not world.launcher_pids(), 'the launcher to end')
    assert time.monotonic() - begin >= 10
    assert not (world.state / 'launcher.sock').exists()
    world.close()


@pytest.mark.slow
def test_a_launcher_without_a_directory_ends(tmp_path):
    """Its state directory is removed: it waits for its jobs, but not for a daemon, which cannot connect any more."""
    world = World(tmp_path)
    world.connect()
    world.synced()
    world.run(1, 'true')
    world.start(2, 'sh', '-c', 'while [ ! -e %s/go ]; do sleep 0.1; done' % world.path)
    world.record(2, 'started')
    pids = world.launcher_pids()
    keeper = world.keeper_pid(2)
    shutil.rmtree(world.state)
    world.disconnect()
    time.sleep(11)
    assert world.launcher_pids() == pids
    (world.path / 'go').touch()
    until(lambda: not world.launcher_pids(), 'the launcher to end')
    assert not alive(keeper)
    world.close()


def test_sigterm_ends_the_launcher_alone(world):
    world.start(1, 'sleep', '600')
    pid = world.record(1, 'started')['pid']
    os.kill(world.launcher_pids()[0], signal.SIGTERM)
    assert world.report() == 'gone'
    until(lambda: not world.launcher_pids(), 'the launcher to end')
    assert alive(pid)


# ---- which peers are accepted ----

PROTOCOL = (pathlib.Path(__file__).resolve().parents[2] / 'src' / 'exec' / 'protocol.h').read_text()
VERSION = int(re.search(r'PROTOCOL_VERSION = (\d+)', PROTOCOL).group(1))
HELLO = struct.pack('<IB8sI', 13, 1, b'fairlead', VERSION)


def is_greeting(got):
    """HELLO, what is enforced, of which this machine decides the five words, and SYNCED."""
    words = got[len(HELLO):]
    return got.startswith(HELLO) and len(words) == 15 and words[:5] == struct.pack('<IB', 6, 11) and max(words[5:10]) < 4 and \
        words[10:] == struct.pack('<IB', 1, 6)


def send_bytes(world, data):
    """Sends bytes to the launcher. Returns all it sends until it closes the connection, or until it has greeted and sent
    nothing more for a second; and whether it closed the connection."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(str(world.state / 'launcher.sock'))
        s.settimeout(PATIENCE)
        s.sendall(data)
        got = b''
        try:
            while piece := s.recv(4096):
                got += piece
                if is_greeting(got):
                    s.settimeout(1)
        except (TimeoutError, socket.timeout):
            return got, 'open'
        except ConnectionResetError:
            pass
        return got, 'closed'


@pytest.mark.parametrize('data', [
    b'GET / HTTP/1.1\r\n\r\n',
    struct.pack('<I', 0),
    struct.pack('<I', 0xffffffff),
    struct.pack('<IB8sI', 13, 1, b'Fairlead', VERSION),
    struct.pack('<IBQ', 9, 4, 1),          # no HELLO first
    HELLO + HELLO,
    HELLO + struct.pack('<IB', 1, 6),      # only a launcher sends it
    HELLO + struct.pack('<IB', 1, 99),
    HELLO + struct.pack('<IBI', 5, 4, 1),  # too short
    HELLO + struct.pack('<IBQB', 10, 4, 1, 1),
])
def test_bytes_of_another_protocol_close_the_connection(world, data):
    got, state = send_bytes(world, data)
    assert state == 'closed'
    assert got == b'' or is_greeting(got)
    assert len(world.launcher_pids()) == 1


def test_the_newest_connection_counts(world):
    got, state = send_bytes(world, HELLO)
    assert is_greeting(got) and state == 'open'
    assert world.report() == 'gone'


def test_a_launcher_ends_for_a_daemon_of_another_version(world):
    world.start(1, 'sleep', '600')
    pid = world.record(1, 'started')['pid']
    got, state = send_bytes(world, struct.pack('<IB8sI', 13, 1, b'fairlead', VERSION + 1))
    assert (got, state) == (HELLO, 'closed')
    until(lambda: not world.launcher_pids(), 'the launcher to end')
    world.connect()
    assert world.synced()[1]['pid'] == pid


@pytest.fixture
def public_world(public_directory):
    world = World(public_directory)
    world.connect()
    assert world.synced() == {}
    yield world
    world.close()


def test_another_user_is_not_served(public_world):
    world = public_world
    if os.geteuid() != 0:
        pytest.skip('cannot become another user')
    world.state.chmod(0o711)
    (world.state / 'launcher.sock').chmod(0o666)
    script = ('import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\n'
              's.settimeout(%d)\nprint(s.recv(100))' % (PATIENCE - 5))
    result = subprocess.run([*NOBODY, '/usr/bin/python3', '-c', script, world.state / 'launcher.sock'],
                            capture_output=True, text=True, timeout=PATIENCE)
    assert result.stdout == "b''\n", result.stderr
    assert world.run(1, 'true')[0]['end'] == 'exited'  # the daemon's connection still works
