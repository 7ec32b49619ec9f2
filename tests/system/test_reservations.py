"""Reservations in an instance: a wide job behind a stream of small ones starts when promised, also if the daemon is killed
meanwhile; what listings say of expected starts; hosts that are drained."""
import concurrent.futures
import json
import time

from conftest import SocketConnection, until


def submit(instance, cpus, limit_s, run_s):
    return instance.submit('-n', cpus, '-t', '0:%d' % limit_s, '--', 'sleep', run_s)


def expected(instance):
    return {row['job_id']: row for row in instance.json('queue', '--start')}


def test_a_wide_job_behind_a_stream_of_small_ones_starts_when_promised(instance):
    first = submit(instance, 3, 8, 60)  # killed after 8 s
    started_us = instance.until_state(first, 'RUNNING')['start_us']
    wide = submit(instance, 4, 60, 1)
    promised_us = expected(instance)[wide]['expected_start_us']
    assert abs(promised_us - started_us - 8e6) < 2e6
    short, endless = [], []
    for _ in range(10):
        short.append(submit(instance, 1, 1, 0))
        endless.append(submit(instance, 1, 600, 0))
        time.sleep(0.2)
    instance.kill()
    instance.start()
    assert abs(expected(instance)[wide]['expected_start_us'] - promised_us) < 1e6
    begin_us = instance.until_state(wide, 'RUNNING', 'COMPLETED')['start_us']
    assert begin_us - promised_us < 5e6  # the grace time of the job that is killed, and a busy machine
    assert all(instance.job(job)['state'] == 'COMPLETED' for job in short)
    for job in endless:
        row = instance.until_state(job, 'COMPLETED')
        assert row['start_us'] >= begin_us


def test_listings_say_when_and_where_a_job_is_expected_to_start(instance):
    first = submit(instance, 4, 50, 50)
    start_us = instance.until_state(first, 'RUNNING')['start_us']
    wide, small, held = submit(instance, 3, 20, 1), submit(instance, 1, 30, 1), submit(instance, 1, 30, 1)
    instance.good('hold', held)
    rows = expected(instance)
    assert rows[wide]['expected_places'] == 'main@localhost=3'
    assert rows[wide]['waits_for'] == rows[small]['waits_for'] == 'job %d' % first
    assert rows[wide]['expected_start_us'] == rows[small]['expected_start_us']
    assert abs(rows[wide]['expected_start_us'] - start_us - 50e6) < 2e6
    assert rows[held]['expected_start_us'] is None
    assert first not in rows
    assert instance.job(wide)['expected_start_us'] == rows[wide]['expected_start_us']
    assert 'Expected' in instance.good('show', 'job', wide)
    line = [row for row in instance.rows('queue', '--start') if row['id'] == str(wide)]
    assert line[0]['waits_for'] == 'job %d' % first
    table = instance.good('queue', '--start').splitlines()
    assert table[0].split()[-4:] == ['PLACES', 'WAITS', 'FOR', 'REASON']


def test_a_job_waits_for_those_that_are_expected_to_run_before_it(instance):
    instance.good('set', 'reservation_depth=1')
    first = submit(instance, 4, 50, 50)
    instance.until_state(first, 'RUNNING')
    jobs = [submit(instance, 4, 50, 1) for _ in range(3)]
    rows = expected(instance)
    assert [rows[job]['waits_for'] for job in jobs] == ['job %d' % job for job in [first] + jobs[:2]]
    instance.good('set', 'bf_resolution=60')
    rows = expected(instance)
    assert [rows[job]['waits_for'] for job in jobs] == ['job %d' % job for job in [first] + jobs[:2]]
    assert all(rows[job]['expected_start_us'] % 60e6 == 0 for job in jobs)


def test_a_job_that_could_start_is_expected_at_the_next_pass(instance):
    instance.good('set', 'pass_rhythm=interval', 'schedule_interval=0:1:0', 'flush_submit_sec=0')
    begin_us = time.time() * 1e6
    job = submit(instance, 1, 50, 1)
    assert begin_us + 50e6 < instance.job(job)['expected_start_us'] < begin_us + 70e6


def test_start_takes_no_state(instance):
    assert '--start lists pending jobs' in instance.bad('queue', '--start', '--all')


def test_nothing_starts_on_a_drained_host(instance):
    running = submit(instance, 1, 60, 30)
    instance.until_state(running, 'RUNNING')
    assert instance.good('host', 'drain', 'localhost') == 'Drained host localhost\n'
    waiting = submit(instance, 1, 60, 0)
    time.sleep(0.5)
    assert instance.job(waiting)['state'] == 'PENDING'
    assert instance.job(running)['state'] == 'RUNNING'
    assert instance.job(waiting)['expected_start_us'] is None
    assert instance.job(waiting)['waits_for'] == 'its host or partition to be resumed'
    instance.good('host', 'resume', 'localhost')
    instance.until_state(waiting, 'COMPLETED')


def test_this_machine_is_a_host_from_the_start(instance):
    (host,) = instance.json('host', 'show')
    assert (host['name'], host['state']) == ('localhost', 'UP')
    assert 'it is this machine' in instance.bad('host', 'delete', 'localhost')
    instance.good('host', 'add', 'n2', 'cpus=64')
    too_large = instance.bad('submit', '-n', 5, '--', 'true')
    assert "the host's 4 CPUs" in too_large
    instance.good('host', 'delete', 'n2')
    until(lambda: len(instance.json('host', 'show')) == 1)


def cells(instance, job, heading):
    lines = instance.good('show', 'job', job).splitlines()
    return [line[14:] for line in lines if line[:14].strip() == heading]


def test_listings_say_what_else_a_job_waits_for(instance):
    begin = instance.submit('--begin', '2099-01-02T03:04:05Z', '--', 'true')
    row = expected(instance)[begin]
    assert (row['reason'], row['waits_for'], row['never_runs']) == ('BeginTime', None, None)
    assert row['begin_us'] == 4071006245000000
    wide = instance.run('queue', '--start', environment={'COLUMNS': '120'}).out
    assert 'begin at 02 Jan 2099 03:04' in wide
    narrow = instance.run('queue', '--start', environment={'COLUMNS': '80'}).out
    assert 'begin at 02 Jan' in narrow and max(map(len, narrow.splitlines())) <= 80
    assert instance.good('queue', '--start', '-o', 'JobId,waitsfor') == 'JOB_ID  WAITS FOR\n%6d  begin at 02 Jan 2099 03:04\n' % begin
    assert cells(instance, begin, 'Waits for') == ['begin at 02 Jan 2099 03:04']


def test_listings_say_that_a_job_can_never_run(instance):
    instance.until_state(submit(instance, 4, 60, 30), 'RUNNING')
    large = submit(instance, 4, 60, 0)
    instance.good('set', 'host_cpus=2')
    row = expected(instance)[large]
    why = 'can never run: asks for 4 slots on one host; the largest has 2'
    assert (row['expected_start_us'], row['waits_for'], row['never_runs']) == (None, None, why)
    assert why in instance.good('queue', '--start')
    assert cells(instance, large, 'Waits for') == [why]


def test_a_job_is_shown_with_its_reservation_and_environment(instance):
    instance.good('pe', 'add', 'mpi')
    instance.good('partition', 'modify', 'main', 'pe_list=mpi')
    job = submit(instance, 2, 60, 0)
    reserving = instance.submit('--reserve', '--pe', 'mpi', '-n', 2, '--', 'true')
    assert (cells(instance, job, 'Reservation'), cells(instance, job, 'PE')) == (['-'], ['-'])
    assert (cells(instance, reserving, 'Reservation'), cells(instance, reserving, 'PE')) == (['requested'], ['mpi'])


def test_a_start_that_was_not_computed_is_not_unknown(instance):
    """One job among so many has its expected start only if a listing has computed it shortly before."""
    body = json.dumps({'directory': '/tmp', 'command': 'c', 'arguments': ['true'], 'environment': [], 'held': True})

    def submit_some(_):
        connection = SocketConnection(instance.socket)
        for _ in range(35):
            connection.request('POST', '/v1/jobs', body)
            reply = connection.getresponse()
            assert reply.status == 201, reply.read()
            reply.read()
        connection.close()

    with concurrent.futures.ThreadPoolExecutor(40) as pool:
        list(pool.map(submit_some, range(40)))
    running = instance.submit('-n', 4, '--', 'sleep', '600')
    instance.until_state(running, 'RUNNING')
    waiting = instance.submit('-n', 4, '--', 'sleep', '600')
    assert instance.job(waiting)['expected_start_us'] is None
    shown = dict(line.split(None, 1) for line in instance.good('show', 'job', waiting).splitlines() if len(line.split()) > 1)
    assert shown['Expected'] == "not computed; run 'fairlead queue --start'"
    assert instance.good('show', 'job', 1).split('Expected', 1)[1].split('\n')[0].strip() == '-'
    rows = {row['job_id']: row for row in instance.json('queue', '--start')}
    assert rows[waiting]['waits_for'] == 'job %d' % running
