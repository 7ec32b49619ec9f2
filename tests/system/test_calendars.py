"""Calendars in an instance: a queue that is closed now and opens in a few seconds, in local time; what is said meanwhile, and
after a restart; the document of an instance."""
import datetime
import json
import time


def clock(seconds):
    """The local time so many seconds from now, as calendars have it."""
    at = datetime.datetime.now() + datetime.timedelta(seconds=seconds)
    return '%d:%02d:%02d' % (at.hour, at.minute, at.second)


def close(instance, from_s, until_s):
    """A calendar of all days; over midnight the two ends are of the same day, and both stretches are closed."""
    instance.good('calendar', 'add', 'night', 'week=%s-%s=off' % (clock(from_s), clock(until_s)))
    instance.good('partition', 'modify', 'main', 'calendar=night')


def partition(instance):
    return instance.json('partition', 'show', 'main')[0]


def test_a_job_starts_when_its_queue_opens(instance):
    running = instance.submit('-t', '10', '--', 'sleep', 8)
    instance.until_state(running, 'RUNNING')
    close(instance, -60, 6)
    opens_us = partition(instance)['closed_until_us']
    assert 3e6 < opens_us - time.time() * 1e6 < 7e6
    job = instance.submit('-t', '10', '--', 'true')
    day = instance.submit('-t', '2-0', '--', 'true')
    instance.kill()
    instance.start()
    rows = {row['job_id']: row for row in instance.json('queue', '--start')}
    assert rows[job]['reason'] == rows[day]['reason'] == 'PartitionClosed'
    assert (rows[job]['expected_start_us'], rows[job]['waits_for']) == (opens_us, 'partition main to open')
    assert rows[day]['expected_start_us'] is None
    assert rows[day]['waits_for'] == 'a shorter time limit; its partitions are never open for so long'
    assert instance.job(running)['state'] == 'RUNNING'
    started_us = instance.until_state(job, 'RUNNING', 'COMPLETED')['start_us']
    assert 0 <= started_us - opens_us < 3e6
    assert partition(instance)['closed_until_us'] is None
    assert instance.job(day)['state'] == 'PENDING'
    assert instance.until_state(running, 'COMPLETED')['state'] == 'COMPLETED'


def test_the_document_has_the_closed_times(instance):
    close(instance, -60, 3600)
    job = instance.submit('-t', '10', '--', 'true')
    opens_us = partition(instance)['closed_until_us']
    document = json.loads(instance.good('scenario', 'dump'))
    main = document['partitions'][0]
    assert 'calendar' not in main and main['closed'][-1][1] is None
    assert main['closed'][0][1] == datetime.datetime.fromtimestamp(opens_us / 1e6, datetime.timezone.utc).strftime(
        '%Y-%m-%dT%H:%M:%SZ')
    path = instance.home / 'document.json'
    path.write_text(json.dumps(document))
    row = instance.json('schedule', '-f', path)[0]
    assert (row['id'], row['state'], row['start_us']) == (str(job), 'RESERVED', opens_us)


def test_a_calendar_is_changed_and_deleted(instance):
    close(instance, -60, 3600)
    job = instance.submit('--', 'true')
    assert instance.job(job)['reason'] == 'PartitionClosed'
    assert "'night' is in use" in instance.bad('calendar', 'delete', 'night')
    assert "week: 'fru' in column 9 is not a day of the week" in instance.bad('calendar', 'modify', 'night',
                                                                             'week=mon-tue,fru=6-20')
    instance.good('calendar', 'modify', 'night', 'week=NONE')
    assert instance.until_state(job, 'COMPLETED')['state'] == 'COMPLETED'
    assert [(row['name'], row['year'], row['week']) for row in instance.json('calendar', 'show')] == [
        ('night', 'NONE', 'NONE')]
    instance.good('partition', 'modify', 'main', 'calendar=NONE')
    instance.good('calendar', 'delete', 'night')
    assert instance.json('calendar', 'show') == []


def test_a_calendar_that_never_opens(instance):
    instance.good('calendar', 'add', 'never', 'week=off')
    instance.good('partition', 'add', 'open')
    instance.good('partition', 'modify', 'main', 'calendar=never')
    job = instance.submit('-t', '1', '--', 'true')
    assert partition(instance)['closed_until_us'] is None
    row = {row['job_id']: row for row in instance.json('queue', '--start')}[job]
    assert (row['reason'], row['expected_start_us']) == ('PartitionClosed', None)
    assert row['waits_for'] == 'partition main to open, but its calendar gives no time for that'
    assert [row['state'] for row in instance.json('places')] == ['CLOSED', 'UP']
    instance.good('partition', 'modify', 'open', 'calendar=never')
    both = instance.submit('-t', '1', '-p', 'main,open', '--', 'true')
    row = {row['job_id']: row for row in instance.json('queue', '--start')}[both]
    assert row['waits_for'] == 'one of its partitions to open, but their calendars give no time for that'
