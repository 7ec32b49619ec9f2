"""fairlead top and queue --watch as a person sees them: on a pseudo-terminal, with keys, sizes, signals and an instance that goes away."""
import json
import os
import signal

import pytest

from conftest import FAIRLEAD, until
from terminal import Terminal, compile_entry


@pytest.fixture
def terminals(instance):
    """Makes terminals on which a command of the instance runs."""
    made = []
    database = compile_entry(instance.home)

    def make(*arguments, lines=24, columns=80, shell=None, **environment):
        variables = {**instance.environment, 'TERM': 'fairlead-test', 'TERMINFO': database, **environment}
        words = [FAIRLEAD, *arguments] if shell is None else ['bash', '-c', shell, 'sh', FAIRLEAD, *arguments]
        made.append(Terminal(words, {k: v for k, v in variables.items() if v is not None}, lines, columns))
        return made[-1]

    yield make
    for terminal in made:
        terminal.close()


def row_of(lines, job):
    """The words of a job's row, or None."""
    return next((line.split() for line in lines if line.split()[:1] == [str(job)]), None)


def shows(job):
    return lambda lines: row_of(lines, job)


def ids_of(lines):
    return [int(words[0]) for words in map(str.split, lines) if words[:1] and words[0].isdigit()]


def fill(instance):
    """A job that runs and uses a CPU, and two that wait."""
    instance.start()
    instance.good('set', 'host_cpus=2')
    running = instance.submit('-n', '2', '-J', 'loop', '--out', '/dev/null', '--', 'sh', '-c', 'while :; do :; done')
    instance.until_state(running, 'RUNNING')
    return running, *(instance.submit('-n', '2', '-J', name, '--out', '/dev/null', '--', 'true') for name in ('second', 'third'))


# --- one frame as text ---


def test_a_frame_as_text_has_use_ranks_and_shares(instance):
    running, second, third = fill(instance)
    until(lambda: instance.json('top')[0]['cpus_used'] > 0.01, 'the job to use a CPU')
    lines = instance.good('top').splitlines()
    assert ' queue: 1 running, 2 pending' in lines[0] and lines[1].startswith('Allocated: 2 of 2 CPUs, ') and lines[2] == ''
    assert lines[3].split()[:2] == ['ID', 'USER'] and [line.split()[0] for line in lines[4:]] == [str(running), str(second), str(third)]
    rows = instance.json('top')
    assert [(row['id'], row['state'], row['rank']) for row in rows] \
        == [(str(running), 'RUNNING', None), (str(second), 'PENDING', 1), (str(third), 'PENDING', 2)]
    assert rows[0]['mem_used_kib'] > 0 and rows[1]['cpus_used'] is None and rows[1]['reason'] == 'Resources'
    assert instance.rows('top')[1]['rank'] == '1'
    user = [row for row in instance.json('top', '--shares') if row['user'] is not None]
    assert [(row['promised_percent'], row['running'], row['pending']) for row in user] == [(100, 1, 2)]
    assert 'PROMISED%' in instance.good('top', '--shares')
    assert 'queue' not in instance.good('top', '--users').splitlines()[0]


def test_parts_are_promised_and_received(instance):
    instance.start()
    for account, shares in ('a', 3), ('b', 1):
        instance.good('account', 'add', account, '--shares', shares)
        instance.good('user', 'add', 'x' + account, '-A', account)
    rows = {(row['account'], row['user']): row for row in instance.json('top', '--shares')}
    part = {place: row['promised_percent'] for place, row in rows.items()}
    assert part['root', None] == 100 and part['a', None] == pytest.approx(3 * part['b', None]) and 0 < part['b', None] <= 25
    assert part['b', 'xb'] == part['b', None] and part['a', 'xa'] == part['a', None]
    assert [row['user'] for row in instance.json('top', '--shares', '-u', 'xb')] == ['xb']


def test_a_pretend_cluster_has_no_use(instance):
    document = instance.home / 'cluster.json'
    document.write_text(json.dumps({'hosts': [{'name': 'n1', 'cpus': 4, 'mem': '8G'}]}))
    assert instance.run('start', '--pretend', document).status == 0
    instance.environment['FAIRLEAD_SOCKET'] = str(instance.home / 'state/fairlead-pretend/fairlead.sock')
    job = instance.submit('--', 'sleep', '600')
    instance.until_state(job, 'RUNNING')
    assert instance.json('top')[0]['cpus_used'] is None
    assert 'a pretend cluster' in instance.good('top').splitlines()[0]


# --- the screen ---


@pytest.mark.parametrize('key, signal_number', [('q', None), ('\x03', None), (None, signal.SIGTERM), (None, signal.SIGHUP), (None, signal.SIGINT)])
def test_the_terminal_is_restored_at_the_end(instance, terminals, key, signal_number):
    running, *_ = fill(instance)
    terminal = terminals('top')
    lines = terminal.until(shows(running), 'the job')
    assert terminal.is_alternate and not terminal.is_restored() and 'queue: 1 running' in lines[0] and 'q quit' in lines[-1]
    if key:
        terminal.send(key)
    else:
        terminal.signal(signal_number)
    assert terminal.wait() == 0 and terminal.is_restored()


def test_use_appears_and_views_change(instance, terminals):
    running, *_ = fill(instance)
    terminal = terminals('top', '-d', '1', columns=140)
    terminal.until(lambda lines: (row := row_of(lines, running)) and row[9] != '-' and float(row[9]) > 0.01, 'the use')
    for key, heading in ('\t', 'PROMISED%'), ('3', 'IN_JOBS'), ('5', 'COMMAND'), ('1', 'REASON'):
        terminal.send(key)
        terminal.until(heading, heading)
    terminal.send('?')
    terminal.until('cancel the selected job', 'the help')
    terminal.send('x')
    terminal.until(shows(running), 'the queue')


def test_a_job_is_held_released_and_cancelled_after_a_question(instance, terminals):
    running, second, third = fill(instance)
    terminal = terminals('top')
    terminal.until(shows(third), 'the jobs')
    terminal.send('\x1b[B')
    terminal.send('h')
    terminal.until('Hold job %d? y or n' % second, 'the question')
    terminal.send('n')
    terminal.until('job %d was left as it is' % second, 'the answer')
    assert not instance.job(second)['held']
    terminal.send('hy')
    terminal.until('%d was held' % second, 'the answer')
    assert instance.job(second)['held']
    terminal.send('ry')
    terminal.until('%d was released' % second, 'the answer')
    assert not instance.job(second)['held']
    terminal.send('cy')
    terminal.until('%d was cancelled' % second, 'the answer')
    assert instance.job(second)['state'] == 'CANCELLED' and instance.job(third)['state'] == 'PENDING'
    terminal.until(lambda lines: not row_of(lines, second), 'the job to go')


def test_a_refused_change_says_why(instance, terminals):
    running, *_ = fill(instance)
    terminal = terminals('top')
    terminal.until(shows(running), 'the job')
    terminal.send('hy')
    terminal.until('job %d has started; only pending jobs can be held' % running, 'the refusal')
    assert instance.job(running)['state'] == 'RUNNING'


def test_the_selected_job_stays_selected_when_rows_move(instance, terminals):
    running, second, third = fill(instance)
    terminal = terminals('top', '-d', '1')
    terminal.until(shows(third), 'the jobs')
    terminal.send('\x1b[B\x1b[B')
    instance.good('cancel', second)
    terminal.until(lambda lines: not row_of(lines, second), 'the job to go')
    terminal.send('c')
    terminal.until('Cancel job %d?' % third, 'the question about the third job')


def test_filter_and_order(instance, terminals):
    running, second, third = fill(instance)
    terminal = terminals('top')
    terminal.until(shows(third), 'the jobs')
    terminal.send('/thi\r')
    terminal.until(lambda lines: row_of(lines, third) and not row_of(lines, running), 'the filter')
    terminal.send('\x1b')
    terminal.until(shows(running), 'all jobs')
    terminal.send('s')
    terminal.until(lambda lines: ids_of(lines) == [running, second, third], 'the ascending order by id')
    terminal.send('R')
    terminal.until(lambda lines: ids_of(lines) == [third, second, running], 'the descending one')
    terminal.send('/none such\r')
    terminal.until('no row matches the filter', 'the empty filter')


@pytest.mark.parametrize('lines, columns', [(5, 20), (1, 20), (2, 1), (3, 8), (60, 300)])
def test_small_and_large_screens(instance, terminals, lines, columns):
    running, *_ = fill(instance)
    terminal = terminals('top', lines=lines, columns=columns)
    until(lambda: terminal.read() or terminal.is_alternate, 'the screen')
    if (lines, columns) == (5, 20):
        shown = terminal.until(shows(running), 'the job')
        assert len(shown) <= lines
    for key in '\x1b[B', '?', 'x', '/', 'a', '\r', '\x1b', 'c', 'n', 's', '2', '1':
        terminal.send(key)
        terminal.text()
    assert all(line < lines and column < columns for line, column in terminal.cells)
    terminal.set_size(24, 80)
    terminal.signal(signal.SIGWINCH)
    terminal.until(shows(running), 'the job after the resize')
    terminal.send('q')
    assert terminal.wait() == 0 and terminal.is_restored()


def test_an_instance_that_goes_and_comes_back(instance, terminals):
    running, *_ = fill(instance)
    terminal = terminals('top', '-d', '1')
    terminal.until(shows(running), 'the job')
    instance.kill()
    lines = terminal.until('Trying again', 'the message')
    assert row_of(lines, running), 'the last frame stays'
    instance.start()
    terminal.until(lambda lines: not any('Trying again' in line for line in lines) and row_of(lines, running), 'the next frame')
    terminal.send('q')
    assert terminal.wait() == 0 and terminal.is_restored()


def test_ctrl_c_ends_also_while_the_instance_hangs(instance, terminals):
    running, *_ = fill(instance)
    terminal = terminals('top', '-d', '1')
    terminal.until(shows(running), 'the job')
    pid = instance.pid()
    os.kill(pid, signal.SIGSTOP)
    try:
        terminal.until('has not answered for', 'the message')
        terminal.send('\x03')
        assert terminal.wait() == 0 and terminal.is_restored()
    finally:
        os.kill(pid, signal.SIGCONT)


def test_ctrl_z_gives_the_terminal_back_and_fg_goes_on(instance, terminals):
    running, *_ = fill(instance)
    terminal = terminals('top', shell='set -m; "$@"; echo stopped; read line; fg; echo ended $?')
    terminal.until(shows(running), 'the job')
    terminal.send('\x1a')
    terminal.until('stopped', 'the shell')
    assert terminal.is_restored()
    terminal.send('x\r')
    until(lambda: terminal.read() or terminal.is_alternate, 'the screen to come back')
    terminal.send('q')
    terminal.until('ended 0', 'the end')
    assert terminal.wait() == 0 and terminal.is_restored()


def test_hostile_names_do_not_reach_the_terminal(instance, terminals):
    instance.start()
    instance.good('set', 'host_cpus=1')
    instance.submit('-n', '1', '--out', '/dev/null', '--', 'sleep', '600')
    job = instance.submit('-J', 'eré宽%s$(x)|y', '-n', '1', '--', 'true')
    for language in 'C.UTF-8', 'C', 'xx_YY.UTF-8':
        terminal = terminals('top', LANG=language, columns=120)
        lines = terminal.until(shows(job), 'the job')
        name = ' '.join(row_of(lines, job))
        assert ('eré' in name) == (language != 'C') and '%s$(x)' in name, (language, name)
        terminal.send('q')
        assert terminal.wait() == 0


@pytest.mark.parametrize('name, why', [('dumb', 'TERM is dumb'), (None, 'TERM is not set'), ('no-such', 'no terminfo describes this TERM')])
def test_a_terminal_that_cannot_be_drawn_on_gets_plain_frames(instance, terminals, name, why):
    running, *_ = fill(instance)
    (instance.home / 'leaks').write_text('leak:new_prescr\n')  # of newterm, where no terminfo describes TERM
    terminal = terminals('top', '-d', '1', TERM=name, LSAN_OPTIONS='suppressions=%s' % (instance.home / 'leaks'))
    until(lambda: terminal.read() or terminal.data.count(b'queue: 1 running') >= 2, 'two frames')
    assert why.encode() in terminal.data and b'\x1b' not in terminal.data
    terminal.send('\x03')
    assert terminal.wait() == 0 and terminal.is_restored()


def test_an_installed_terminal_is_found(instance, terminals):
    fill(instance)
    terminal = terminals('top', TERM='vt100', TERMINFO=None)
    until(lambda: terminal_has(terminal, b'queue: 1 running'), 'the frame')
    os.write(terminal.master, b'q')
    assert terminal.process.wait(60) == 0


def terminal_has(terminal, text):
    """Of a terminal whose sequences are not understood."""
    import select
    while select.select([terminal.master], [], [], 0.05)[0]:
        terminal.data += os.read(terminal.master, 65536)
    return text in terminal.data


# --- queue --watch ---


def test_queue_watch_follows_the_queue_and_scrolls(instance, terminals):
    running, second, third = fill(instance)
    terminal = terminals('queue', '--watch', '--interval', '1', lines=4)
    lines = terminal.until(shows(second), 'the queue')
    assert lines[0].split()[:2] == ['ID', 'NAME'] and ids_of(lines) == [running, second]
    terminal.send('\x1b[B')
    terminal.until(lambda lines: ids_of(lines) == [second, third], 'the last rows')
    instance.good('cancel', second)
    terminal.until(lambda lines: ids_of(lines) == [running, third], 'the queue without the second job')
    instance.kill()
    assert ids_of(terminal.until('Trying again', 'the message')) == [running, third]
    instance.start()
    terminal.until('q quit', 'the next listing')
    terminal.send('q')
    assert terminal.wait() == 0 and terminal.is_restored()


def test_queue_watch_without_a_terminal_prints_one_listing_after_the_other(instance):
    running, *_ = fill(instance)
    process = instance.popen('queue', '--watch', '--interval', '1')
    try:
        heads = []
        while len(heads) < 2:
            line = process.stdout.readline()
            assert line, process.stderr.read()
            heads += [line] if line.split()[:1] == [b'ID'] else []
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize('arguments, message', [
    (['queue', '--watch', '-P'], '--watch is for a table'), (['queue', '--interval', '2'], 'with --watch only'),
    (['queue', '--watch', '-o', 'none'], "'none' is not a field"), (['queue', '--watch', '-A', 'none'], 'none'),
    (['top', '--users', '--shares'], 'exclude each other')])
def test_usage_errors(instance, arguments, message):
    instance.start()
    assert message in instance.run(*arguments).err and instance.run(*arguments).status in (1, 2)
