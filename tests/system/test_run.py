"""fairlead run and attach: a command's terminal or pipes through the queue; what happens when either end, the daemon, the
launcher or a keeper is killed."""
import contextlib
import fcntl
import os
import pathlib
import pty
import re
import select
import shlex
import signal
import struct
import subprocess
import sys
import termios
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from conftest import FAIRLEAD, PATIENCE, until

MIB = 1024 * 1024


class Terminal:
    """A command on a pseudo-terminal, as a person has one. `text`: all that has appeared."""

    def __init__(self, instance, *words, rows=24, columns=80, term='xterm', program=FAIRLEAD):
        self.text = b''
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
            os.chdir(instance.work)
            environment = {**instance.environment, **({'TERM': term} if term is not None else {})}
            os.execve(program, [program, *map(str, words)], environment)
        self.status = None

    def read(self):
        """Reads for a moment. False: nothing more will come."""
        if not select.select([self.fd], [], [], 0.05)[0]:
            return True
        try:
            piece = os.read(self.fd, 65536)
        except OSError:
            return False
        self.text += piece
        return bool(piece)

    def until(self, pattern):
        end = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.text)):
            assert self.read() or re.search(pattern, self.text), (pattern, self.text)
            assert time.monotonic() < end, (pattern, self.text)
        return found

    def type(self, text):
        os.write(self.fd, text)

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def modes(self):
        return termios.tcgetattr(self.fd)

    def until_raw(self):
        """Typed before, an end of file or an escape belongs to the terminal."""
        until(lambda: not self.modes()[3] & termios.ICANON, 'raw modes')

    def wait(self):
        """The exit status, 128 + signal for a signal. What appears is read meanwhile."""
        end = time.monotonic() + PATIENCE
        while self.status is None:
            self.read()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                code = os.waitstatus_to_exitcode(status)
                self.status = code if code >= 0 else 128 - code
            assert time.monotonic() < end, self.text
        while select.select([self.fd], [], [], 0)[0] and self.read():
            pass
        return self.status

    def close(self):
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1

    def end(self):
        self.close()
        if self.status is None:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)


@pytest.fixture
def terminal(instance):
    opened = []

    def make(*words, **options):
        opened.append(Terminal(instance, *words, **options))
        return opened[-1]
    yield make
    for one in opened:
        one.end()


def started(instance, job=1):
    """The pid of the relay, the first process of a job."""
    return until(lambda: relay_of(instance, job), 'the relay')


def relay_of(instance, job):
    for pid in instance.processes():
        try:
            comm = open('/proc/%d/comm' % pid).read()
            environment = open('/proc/%d/environ' % pid, 'rb').read()
        except OSError:
            continue
        if comm == 'fairlead-relay\n' and b'FAIRLEAD_JOB_ID=%d\0' % job in environment + b'\0':
            return pid
    return None


def keeper_of(relay):
    return int(re.search(r'PPid:\t(\d+)', open('/proc/%d/status' % relay).read()).group(1))


# --- pipes ------------------------------------------------------------------------------------------------------------

def test_output_and_status_are_the_commands(instance):
    result = instance.run('run', '--', 'sh', '-c', 'echo out; echo err >&2; exit 7')
    assert (result.status, result.out, result.err) == (7, 'out\n', 'err\n'), result
    assert instance.job(1)['state'] == 'FAILED' and instance.job(1)['exit_status'] == 7
    assert instance.job(1)['terminal'] == 'pipes'


def test_the_dashes_may_be_left_out_and_later_options_are_the_commands(instance):
    assert instance.good("run", "echo", "-n", "--", "x") == "-- x"
    assert instance.good("run", "--", "echo", "--help-me") == "--help-me\n"


def test_bytes_pass_unchanged_both_ways(instance):
    piece = os.urandom(MIB)
    data = b''.join(bytes([i]) + piece for i in range(50))
    process = instance.popen('run', '--', 'cat', stdin=subprocess.PIPE)
    out, err = process.communicate(data, timeout=3 * PATIENCE)
    assert process.returncode == 0 and err == b''
    assert out == data
    assert (instance.work / 'fairlead-1.out').read_bytes() == data


def test_output_and_errors_are_apart_and_complete(instance):
    script = 'head -c 3000000 /dev/zero | tr "\\0" a & head -c 3000000 /dev/zero | tr "\\0" b >&2; wait'
    process = instance.popen('run', '--', 'sh', '-c', script)
    out, err = process.communicate(timeout=2 * PATIENCE)
    assert (out, err) == (b'a' * 3000000, b'b' * 3000000)


def test_a_slow_reader_holds_the_command_back_and_gets_everything(instance):
    process = instance.popen('run', '--', 'sh', '-c', 'head -c 4000000 /dev/zero; echo end >&2')
    relay_seen = started(instance)
    assert relay_seen and instance.json('status')['pid'] > 0  # the daemon answers while the reader is slow
    assert instance.job(1)['state'] == 'RUNNING'
    out, err = process.communicate(timeout=2 * PATIENCE)
    assert (len(out), err, process.returncode) == (4000000, b'end\n', 0)


def test_the_end_of_input_passes(instance):
    assert instance.good('run', '--', 'sh', '-c', 'cat; echo end', text='x') == 'xend\n'
    assert instance.run('run', '--', 'cat', text='').out == ''


def test_input_that_the_command_does_not_read_does_not_keep_it(instance):
    result = instance.run('run', '--', 'true', text='x' * (2 * MIB))
    assert result.status == 0, result


def test_signals_pass_although_input_waits(instance):
    process = instance.popen('run', '--', 'sleep', '1000', stdin=subprocess.PIPE)
    started(instance)
    os.set_blocking(process.stdin.fileno(), False)
    with contextlib.suppress(BlockingIOError):
        while os.write(process.stdin.fileno(), b'x' * 65536):
            pass
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130 and b'signal 2' in err, err


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP, signal.SIGUSR1])
def test_signals_pass(instance, number):
    script = 'trap "echo got; exit 5" %d; echo ready; while :; do sleep 0.1; done' % number
    process = instance.popen('run', '--', 'bash', '-c', script)
    assert process.stdout.readline() == b'ready\n'
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (5, b'got\n') and b'fairlead' not in err, err


def test_a_stop_passes_and_so_does_its_end(instance):
    process = instance.popen('run', '--', 'sh', '-c', 'echo $$; exec sleep 1000')
    pid = int(process.stdout.readline())

    def state(of):
        return open('/proc/%d/stat' % of).read().rsplit(')', 1)[1].split()[0]
    process.send_signal(signal.SIGTSTP)
    until(lambda: state(process.pid) == 'T' and state(pid) == 'T', 'both to stop')
    process.send_signal(signal.SIGCONT)
    until(lambda: state(process.pid) != 'T' and state(pid) != 'T', 'both to go on')
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 143


def test_a_reader_that_leaves_ends_the_command_as_a_pipe_does(instance):
    shell = subprocess.run(['bash', '-c', '%s run -- yes | head -n 1; echo ${PIPESTATUS[0]}' % shlex.quote(FAIRLEAD)],
                           env=instance.environment, cwd=instance.work, capture_output=True, timeout=PATIENCE)
    assert shell.stdout == b'y\n141\n' and shell.stderr == b'', shell


def test_a_process_that_is_left_behind_keeps_no_job(instance):
    """However fast it writes. What the program itself has written is all there."""
    result = instance.run('run', '--', 'sh', '-c', 'yes behind >&2 & sleep 0.1; seq 1000; exit 3')
    assert result.status == 3, result.status
    assert result.out == ''.join('%d\n' % i for i in range(1, 1001))
    assert instance.until_state(1, 'FAILED')['exit_status'] == 3


def test_a_full_disk_is_a_failure(instance):
    with open('/dev/full', 'wb') as full:
        process = subprocess.run([FAIRLEAD, 'run', '--', 'echo', 'x'], env=instance.environment, cwd=instance.work,
                                 stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE)
    assert process.returncode == 1 and b'cannot write standard output: No space left' in process.stderr


def test_standard_input_and_output_may_be_closed(instance):
    shell = subprocess.run(['bash', '-c', '%s run -- true <&- >&- 2>&-; echo $?' % shlex.quote(FAIRLEAD)], env=instance.environment,
                           cwd=instance.work, capture_output=True, timeout=PATIENCE)
    assert shell.stdout == b'0\n', shell


def test_a_program_that_cannot_be_executed(instance):
    assert "command 'nosuch' is not in PATH" in instance.bad('run', '--', 'nosuch')
    path = instance.work / 'gone'
    path.write_text('#!/nowhere\n')
    path.chmod(0o755)
    result = instance.run('run', '--', './gone')
    assert result.status == 127 and 'cannot run ' in result.err, result


def test_processes_that_are_left_behind_do_not_hold_the_end(instance):
    assert instance.run('run', '--', 'sh', '-c', 'sleep 1000 & echo x').out == 'x\n'


# --- before the start -------------------------------------------------------------------------------------------------

def test_waiting_is_shown_and_an_interrupt_cancels(instance):
    instance.submit('-n', 4, '--', 'sleep', 1000)
    process = instance.popen('run', '--', 'true', stdin=subprocess.PIPE)
    line = process.stderr.readline().decode()
    assert re.match(r'fairlead run: job 2 waits: \w+.*, rank 1', line), line
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err.decode()) == (130, 'fairlead run: job 2 was cancelled\n')
    assert instance.job(2)['state'] == 'CANCELLED'


def test_a_lost_terminal_leaves_a_waiting_job_if_it_is_to_detach(instance):
    instance.submit('-n', 4, '--', 'sleep', 1000)
    process = instance.popen('run', '--detach-on-hangup', '--', 'true', stdin=subprocess.PIPE)
    process.stderr.readline()
    process.send_signal(signal.SIGHUP)
    assert process.wait(PATIENCE) == 129
    process.communicate()
    assert instance.job(2)['state'] == 'PENDING'


def test_a_job_that_is_cancelled_while_it_waits(instance):
    process = instance.popen('run', '--hold', '--', 'true', stdin=subprocess.PIPE)
    until(lambda: instance.rows('queue'), 'the job')
    instance.good('cancel', 1)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 120 and b'job 1: CANCELLED' in err, err


@pytest.mark.parametrize('term, columns', [('xterm', 80), ('xterm', 20), ('xterm', 2), ('dumb', 80), (None, 80)])
def test_the_line_of_a_waiting_job_needs_no_terminfo(instance, terminal, term, columns):
    instance.submit('-n', 4, '--', 'sleep', 1000)
    t = terminal('run', '-J', 'x', '--', 'true', term=term, columns=columns)
    t.until(b'jo|\rj' if columns == 2 else rb'job 2 waits')
    assert b'\x1b' not in t.text
    if term == 'xterm':
        assert b'\n' not in t.text and max(len(part) for part in t.text.split(b'\r')) < columns
    else:
        assert b'waits' in t.text and not t.text.startswith(b'\r')
    t.type(b'\x03')
    assert t.wait() == 130 and b'job 2 was cancelled' in b' '.join(t.text.split())


def test_hostile_names_do_not_reach_the_terminal(instance, terminal):
    assert instance.bad('run', '-J', 'a\x1b[31mb', '--', 'true')
    t = terminal('run', '--', 'printf', r'\033[31mred')
    assert t.wait() == 0 and b'\x1b[31mred' in t.text  # what the job itself writes passes


def test_without_a_daemon(stopped):
    assert 'no instance answers' in stopped.bad('run', '--', 'true', status=1)
    assert 'no instance answers' in stopped.bad('attach', 1, status=1)


def test_bad_options(instance):
    assert '--array' in instance.bad('run', '--array', '1-3', '--', 'true')
    assert '--escape' in instance.bad('run', '--escape', 'ab', '--', 'true')
    assert 'is not a job id' in instance.bad('attach', 'x')
    assert 'job 77' in instance.bad('attach', 77)
    job = instance.submit('--', 'sleep', 1000)
    instance.until_state(job, 'RUNNING')
    assert 'batch job' in instance.bad('attach', job)


def test_a_pretend_cluster_runs_nothing(stopped):
    (stopped.home / 'p.json').write_text('{"hosts": [{"name": "n1", "cpus": 2, "mem": "4G"}]}')
    result = stopped.run('start', '--state', stopped.state, '--pretend', stopped.home / 'p.json')
    assert result.status == 0, result
    assert 'pretend' in stopped.bad('run', '--', 'true')


# --- a terminal -------------------------------------------------------------------------------------------------------

def test_the_job_has_a_terminal_of_this_size(instance, terminal):
    t = terminal('run', '--', 'sh', '-c', 'stty size; tty; trap "stty size" WINCH; echo ready; while :; do sleep 0.1; done',
                 rows=31, columns=97)
    t.until(rb'31 97\r\n/dev/pts/\d+\r\nready')
    t.resize(40, 120)
    t.until(b'40 120')
    t.type(b'\x03')
    assert t.wait() == 130


def test_bytes_pass_and_modes_come_back(instance, terminal):
    t = terminal('run', '--', 'sh', '-c', 'stty raw -echo; echo go; head -c 4 | od -An -tx1; exit 3')
    before = t.modes()
    t.until(b'go')
    assert t.modes() != before  # raw
    t.type(b'\x00\x03\x1a\xff')
    t.until(b'00 03 1a ff')
    assert t.wait() == 3
    assert t.modes() == before


def test_a_shell_controls_its_jobs(instance, terminal):
    t = terminal('run', '--', 'bash', '--norc', '--noediting')
    t.until(rb'[$#] ')
    # The job says itself when it has the terminal: what is typed before is the shell's.
    t.type(b"""bash -c 'trap "echo back" CONT; echo one; while :; do sleep 0.1; done'; echo "two=$?"\n""")
    t.until(b'\none')
    t.type(b'\x1a')
    t.until(b'Stopped')
    t.type(b'jobs; echo three\n')
    t.until(rb'Stopped[^\n]*sleep [^\n]*\r\n(.|\n)*\nthree')
    t.type(b'fg\n')
    t.until(b'\nback')
    t.type(b'\x03')
    t.until(rb'[$#] $')
    t.type(b'exit 9\n')
    assert t.wait() == 9


def test_the_terminals_modes_come_back_at_every_end(instance, terminal):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        t = terminal('run', '--', 'sh', '-c', 'echo $((40 + 2)); exec sleep 1000')
        before = t.modes()
        t.until(b'42')
        t.until_raw()
        os.kill(t.pid, number)
        assert t.wait() == 128 + number
        assert t.modes() == before


def test_the_command_is_a_job_of_a_shell(instance, terminal):
    """Stopped by its escape it gives the terminal back, and fg returns to the job."""
    t = terminal('--norc', '--noediting', program='/bin/bash')
    t.until(rb'[$#] ')
    cooked = t.modes()
    t.type(b'%s run -- sh -c "echo in; cat; echo out"\n' % os.fsencode(shlex.quote(FAIRLEAD)))
    t.until(b'\nin')
    t.type(b'~\x1a')
    t.until(b'Stopped')
    until(lambda: t.modes()[3] & termios.ICANON == cooked[3] & termios.ICANON, 'modes of the shell')
    t.type(b'fg\n')
    t.until(rb'fg\r\n')
    t.until_raw()
    t.type(b'again\n')
    t.until(rb'again\r\nagain')
    t.type(b'\x04')
    t.until(rb'\nout\r\n(.|\n)*[$#] ')  # until then the command may take what is typed
    t.type(b'exit\n')
    t.wait()


def test_escapes(instance, terminal):
    t = terminal('run', '--', 'cat')
    t.until_raw()
    t.type(b'~~a\n')
    t.until(rb'~a\r\n~a\r\n')
    t.type(b'~b\n')
    t.until(rb'~b\r\n~b\r\n')
    t.type(b'c~.\n')
    t.until(rb'c~\.\r\nc~\.\r\n')
    t.type(b'~.')
    assert t.wait() == 0 and b'detached; run \'fairlead attach 1\'' in t.text
    assert instance.job(1)['state'] == 'RUNNING'
    u = terminal('run', '--escape', 'none', '--', 'cat')
    u.until_raw()
    u.type(b'~.\n\x04')
    assert u.wait() == 0 and b'~.\r\n~.\r\n' in u.text


def test_attach_returns_to_the_job(instance, terminal):
    t = terminal('run', '--', 'bash', '--norc', '--noediting')
    t.until(rb'[$#] ')
    t.type(b'X=kept; echo before\n')
    t.until(b'\nbefore')
    t.type(b'~.')
    assert t.wait() == 0
    u = terminal('attach', 1, rows=33, columns=111)
    u.until(b'before')  # what was on the terminal
    u.type(b'echo $X; stty size\n')
    u.until(rb'\nkept\r\n(.|\n)*33 111')
    watcher = terminal('attach', '--read-only', 1)
    watcher.until(b'kept')
    watcher.type(b'echo never\n')
    u.type(b'echo both\n')
    watcher.until(b'\nboth')
    u.type(b'exit 4\n')
    assert (u.wait(), watcher.wait()) == (4, 4)
    assert b'never' not in u.text


def test_a_watcher_that_does_not_read_holds_nothing(instance, terminal):
    process = instance.popen('run', '--', 'sh', '-c', 'read x; head -c 3000000 /dev/zero; echo end >&2', stdin=subprocess.PIPE)
    started(instance)
    watcher = instance.popen('attach', '--read-only', 1, stdin=subprocess.PIPE)
    watcher.send_signal(signal.SIGSTOP)
    out, err = process.communicate(b'\n', timeout=PATIENCE)
    assert (len(out), err, process.returncode) == (3000000, b'end\n', 0)
    watcher.kill()
    watcher.communicate()


def test_a_lost_terminal_ends_the_job(instance, terminal):
    t = terminal('run', '--', 'sh', '-c', 'trap "" HUP; echo ready; while :; do sleep 1; done')
    t.until(b'ready')
    t.close()
    row = instance.until_state(1, 'FAILED')
    assert row['signal'] == signal.SIGHUP


def test_a_killed_command_is_a_lost_terminal(instance):
    process = instance.popen('run', '--', 'sh', '-c', 'echo ready; exec sleep 1000')
    process.stdout.readline()
    process.kill()
    process.communicate()
    assert instance.until_state(1, 'FAILED')['signal'] == signal.SIGHUP


def test_a_lost_terminal_detaches_if_asked(instance, terminal):
    t = terminal('run', '--detach-on-hangup', '--', 'sh', '-c', 'echo ready; read x; echo "got $x"; exit 6')
    t.until(b'ready')
    t.close()
    until(lambda: not instance.is_alive(t.pid), 'the command to end')
    assert instance.job(1)['state'] == 'RUNNING'
    u = terminal('attach', 1)
    u.until(b'ready')
    u.type(b'word\n')
    u.until(b'got word')
    assert u.wait() == 6


# --- what else ends a job ---------------------------------------------------------------------------------------------

def test_cancel_and_time_limit_are_said(instance, terminal):
    t = terminal('run', '--', 'bash', '--norc')  # which ignores SIGTERM
    t.until(rb'[$#] ')
    instance.good('cancel', 1)
    assert t.wait() == 120 and b'job 1: CANCELLED' in t.text
    result = instance.run('run', '-t', '0:01', '--', 'sleep', 1000)
    assert result.status == 121 and 'job 2: TIMEOUT' in result.err, result


def test_a_requeued_job_runs_again_at_the_same_terminal(instance):
    instance.good('set', 'requeue_delay_s=1')
    script = 'echo "attempt $FAIRLEAD_RESTART_COUNT"; test "$FAIRLEAD_RESTART_COUNT" = 1 || exec sleep 1000; exit 8'
    process = instance.popen('run', '--', 'sh', '-c', script)
    assert process.stdout.readline() == b'attempt 0\n'
    instance.good('requeue', 1)
    out, err = process.communicate(timeout=2 * PATIENCE)
    assert process.returncode == 8 and out == b'attempt 1\n', (out, err)
    assert b'job 1 was requeued, and waits again' in err


def test_a_requeued_job_may_run_again_at_once(instance):
    """Before this command has looked, so that it never finds the job waiting."""
    instance.good('set', 'requeue_delay_s=0')
    script = 'echo "attempt $FAIRLEAD_RESTART_COUNT"; test "$FAIRLEAD_RESTART_COUNT" = 1 || exec sleep 1000; exit 8'
    process = instance.popen('run', '--', 'sh', '-c', script)
    assert process.stdout.readline() == b'attempt 0\n'
    process.send_signal(signal.SIGSTOP)
    instance.good('requeue', 1)
    until(lambda: any(row['restarts'] == 1 and row['state'] == 'RUNNING' for row in instance.json('queue')), 'the second attempt')
    process.send_signal(signal.SIGCONT)
    out, err = process.communicate(timeout=2 * PATIENCE)
    assert process.returncode == 8 and out == b'attempt 1\n', (out, err)


def test_a_job_whose_input_is_used_up_does_not_run_again(instance):
    instance.good('set', 'requeue_delay_s=1')
    process = instance.popen('run', '--', 'sh', '-c', 'read x; echo "$x"; sleep 1000', stdin=subprocess.PIPE)
    process.stdin.write(b'once\n')
    process.stdin.flush()
    assert process.stdout.readline() == b'once\n'
    instance.good('requeue', 1)
    _, err = process.communicate(timeout=2 * PATIENCE)
    assert process.returncode == 120, err
    assert b'job 1 was requeued after it had read input, which cannot be given again; it was cancelled' in err
    until(lambda: instance.json('queue') == [], 'the cancelled job to leave the queue')
    assert 'CANCELLED' in {row['state'] for row in instance.json('history')}


def test_a_signal_to_the_first_process_is_the_programs(instance):
    process = instance.popen('run', '--signal', 'B:USR1@3598', '-t', '60', '--', 'bash', '-c',
                             'trap "echo warned; exit 0" USR1; echo ready; while :; do sleep 0.1; done')
    out, err = process.communicate(timeout=PATIENCE)
    assert out == b'ready\nwarned\n' and process.returncode == 0, (out, err)


def test_the_daemon_can_be_killed_and_started_again(instance, terminal):
    t = terminal('run', '--', 'bash', '--norc', '--noediting')
    t.until(rb'[$#] ')
    instance.kill()
    t.type(b'echo $((20 + 22))\n')
    t.until(b'\n42')
    u = terminal('attach', 1)
    u.until(b'42')
    instance.start()
    t.type(b'exit 5\n')
    assert (t.wait(), u.wait()) == (5, 5)
    assert instance.until_state(1, 'FAILED')['exit_status'] == 5


def test_the_job_may_end_while_the_daemon_is_down(instance):
    process = instance.popen('run', '--', 'sh', '-c', 'read x; exit 11', stdin=subprocess.PIPE)
    started(instance)
    instance.kill()
    process.communicate(b'\n', timeout=PATIENCE)
    assert process.returncode == 11  # the program's own
    instance.start()
    assert instance.until_state(1, 'FAILED')['exit_status'] == 11


def test_the_daemon_can_be_killed_while_the_job_waits(instance):
    instance.submit('-n', 4, '--', 'sh', '-c', 'while ! test -e go; do sleep 0.1; done')
    process = instance.popen('run', '--', 'echo', 'mine', stdin=subprocess.PIPE)
    assert b'waits' in process.stderr.readline()
    instance.kill()
    instance.start()
    (instance.work / 'go').touch()
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (0, b'mine\n'), err


def test_the_launcher_can_be_killed(instance, terminal):
    t = terminal('run', '--', 'bash', '--norc', '--noediting')
    t.until(rb'[$#] ')
    instance.kill_launchers()
    t.type(b'echo $((20 + 22)); exit 5\n')
    t.until(b'\n42')
    assert t.wait() == 5
    assert instance.until_state(1, 'FAILED')['exit_status'] == 5


def test_a_killed_keeper_ends_the_job(instance, terminal):
    t = terminal('run', '--', 'sh', '-c', 'echo ready; exec sleep 1000')
    t.until(b'ready')
    os.kill(keeper_of(relay_of(instance, 1)), signal.SIGKILL)
    assert t.wait() == 122 and b'NODE_FAIL' in t.text
    assert instance.run('run', '--', 'true').status == 0


def test_a_killed_relay_ends_the_job_and_its_end_is_recorded(instance):
    process = instance.popen('run', '--', 'sh', '-c', 'echo $$; exec sleep 1000')
    pid = int(process.stdout.readline())
    os.kill(relay_of(instance, 1), signal.SIGKILL)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 137 and b'signal 9' in err, err
    assert instance.job(1)['state'] == 'FAILED' and not instance.is_alive(pid)


def test_sockets_are_removed(instance):
    assert instance.run('run', '--', 'true').status == 0
    assert not list(instance.state.glob('launches/*.tty'))
    process = instance.popen('run', '--', 'sh', '-c', 'echo ready; exec sleep 1000')
    process.stdout.readline()
    (socket,) = instance.state.glob('launches/*.tty')
    assert socket.name == '2.tty' and socket.stat().st_mode & 0o777 == 0o600
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    until(lambda: not list(instance.state.glob('launches/*.tty')), 'the socket to be removed')


def test_garbage_at_the_socket_is_refused(instance):
    import socket
    process = instance.popen('run', '--', 'sh', '-c', 'read x; echo "got $x"', stdin=subprocess.PIPE)
    started(instance)
    for bytes_sent in (b'\xff' * 100, b'\x02\x05\x00\x00\x00hello', b'\x01\xff\xff\xff\xff', b'\x05\x01\x00\x00\x00\x09', b''):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(str(instance.state / 'launches/1.tty'))
            s.settimeout(PATIENCE)
            s.sendall(bytes_sent)
            if bytes_sent:
                assert s.recv(100) == b''
    out, err = process.communicate(b'y\n', timeout=PATIENCE)
    assert (process.returncode, out) == (0, b'got y\n'), err


# --- an instance for all users ----------------------------------------------------------------------------------------

def test_users_reach_only_their_own_terminals(request):
    """The relay runs as the job's user; root may attach, another user may not, neither by the command nor by the socket."""
    from test_system_instance import SystemInstance
    from test_system_launcher import Accounts, why_not
    if why_not():
        pytest.skip(why_not())
    accounts = Accounts()
    request.addfinalizer(accounts.remove)
    accounts.make()
    system = SystemInstance(accounts)
    request.addfinalizer(system.close)
    done = system.run(accounts.alice, 'run', '--', 'id', '-u')
    assert (done.returncode, done.stdout) == (0, '%d\n' % accounts.alice.pw_uid), done
    assert system.run(accounts.alice, 'run', '--', 'sh', '-c', 'ls -l /proc/self/fd | grep -c socket').stdout == '0\n'

    identity = ['setpriv', '--reuid', accounts.alice.pw_name, '--regid', accounts.alice.pw_name, '--init-groups']
    environment = {'PATH': '/usr/bin:/bin', 'FAIRLEAD_SOCKET': str(system.socket), 'HOME': str(system.home(accounts.alice))}
    process = subprocess.Popen([*identity, system.place / 'fairlead', 'run', '--', 'sh', '-c', 'echo ready; read x; exit 5'],
                               cwd=system.home(accounts.alice), env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b'ready\n'
    socket = system.place / 'launcher/launches/3.tty'
    assert (socket.stat().st_uid, socket.stat().st_mode & 0o777) == (accounts.alice.pw_uid, 0o600)
    assert 'job 3 belongs to another user' in system.bad(accounts.mallory, 'attach', 3)
    connect = 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])'
    other = subprocess.run(['setpriv', '--reuid', accounts.mallory.pw_name, '--regid', accounts.mallory.pw_name, '--init-groups',
                            '/usr/bin/python3', '-c', connect, socket], capture_output=True, text=True)
    assert 'PermissionError' in other.stderr, other
    root = subprocess.Popen([system.place / 'fairlead', 'attach', '--read-only', '3'], env=environment, stdout=subprocess.PIPE)
    assert root.stdout.readline() == b'ready\n'
    process.communicate(b'x\n', timeout=PATIENCE)
    assert (process.returncode, root.wait(PATIENCE)) == (5, 5)
    root.stdout.close()
    until(lambda: not list((system.place / 'launcher/launches').glob('*.tty')), 'the sockets to be removed')
