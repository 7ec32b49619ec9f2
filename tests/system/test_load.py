"""Load values: what is measured, load sensors that work and that do not, and jobs that wait for them."""
import json
import os
import pathlib
import signal
import time

from conftest import until

GOOD = '''#!/bin/sh
# Reports what is in the file beside it.
while read -r line; do
    [ "$line" = quit ] && echo quit > %(home)s/quit && exit 0
    echo begin
    echo "localhost:scratch:$(cat %(value)s)"
    echo "elsewhere:scratch:999G"
    echo "localhost:no_such_resource:7"
    echo end
done
'''
BAD = {
    'hangs': '#!/bin/sh\necho $$ > %(home)s/hangs.pid\nexec sleep 1000\n',
    'dies': '#!/bin/sh\necho x >> %(home)s/dies.count\nexit 3\n',
    'rubbish': '#!/bin/sh\necho x >> %(home)s/rubbish.count\nexec tr -d "\\\\n" < /dev/zero\n',
    'lines': '#!/bin/sh\necho $$ > %(home)s/lines.pid\nexec yes "what is this"\n',
    'words': '#!/bin/sh\nwhile read -r line; do echo begin; echo no colons; echo end; done\n',
    'deaf': '#!/bin/sh\nexec < /dev/null > /dev/null\nsleep 1000\n',
}


def make_sensor(instance, name, text):
    path = instance.home / name
    path.write_text(text % {'home': instance.home, 'value': instance.home / 'value'})
    path.chmod(0o755)
    return str(path)


def set_sensors(instance, *paths):
    instance.good('set', 'load_report_time=1', 'load_sensor=' + (','.join(paths) or 'none'))


def load(instance):
    (host,) = [row for row in instance.json('host', 'show') if row['name'] == 'localhost']
    return host['load']


def log(instance, path=''):
    text = (instance.state / 'fairleadd.log').read_text()
    return [line for line in text.splitlines() if 'event=load-sensor' in line and path in line]


def children(instance):
    return {pid: pathlib.Path('/proc/%d/cmdline' % pid).read_text().replace('\0', ' ') for pid in instance.processes()}


def good_sensor(instance, value):
    (instance.home / 'value').write_text(value)
    instance.good('resource', 'add', 'scratch', 'type=MEMORY', 'consumable=NO')
    return make_sensor(instance, 'good', GOOD)


def test_this_machine_is_measured(instance):
    values = load(instance)
    assert float(values['load_avg']) == float(values['load_medium']) >= 0
    assert abs(float(values['np_load_short']) - float(values['load_short']) / int(values['num_proc'])) < 1e-9
    assert 0 <= float(values['cpu']) <= 100
    total, free, used = (float(values['mem_' + name].rstrip('M')) for name in ('total', 'free', 'used'))
    assert total > free > 0 and abs(total - free - used) < 0.01
    assert values['arch'].startswith('lx-')
    assert (instance.json('host', 'show')[0]['total_cpus'], instance.json('host', 'show')[0]['total_mem']) == (4, '4096')
    assert 'load_avg' in instance.good('host', 'show', 'localhost')
    instance.good('host', 'add', 'n1')
    assert [row['load'] for row in instance.json('host', 'show', 'n1')] == [None]


def test_requests_for_load_values(instance):
    arch = load(instance)['arch']
    large = instance.submit('-l', 'mem_free=1000000G', '--', 'true')
    small = instance.submit('-l', 'mem_free=1M,arch=' + arch, '--', 'true')
    assert "--request: 'arch=pdp-11' can never run: asks for arch=pdp-11; its hosts have %s; complex_values of" % arch in \
        instance.bad('submit', '-l', 'arch=pdp-11', '--', 'true')
    instance.until_state(small, 'COMPLETED')
    assert instance.job(large)['state'] == 'PENDING'
    # A restart measures before the first pass.
    instance.good('stop')
    instance.start()
    again = instance.submit('-l', 'arch=' + arch, '--', 'true')
    instance.until_state(again, 'COMPLETED')
    assert instance.job(large)['state'] == 'PENDING'


def test_thresholds(instance):
    instance.good('set', 'load_report_time=1')
    instance.good('partition', 'modify', 'main', 'load_thresholds=mem_free=1000000G')
    job = instance.submit('--', 'true')
    time.sleep(1.5)
    assert instance.job(job)['state'] == 'PENDING'
    instance.good('partition', 'modify', 'main', 'load_thresholds=mem_free=1M')
    instance.until_state(job, 'COMPLETED')


def test_a_sensor_lets_a_job_start(instance):
    path = good_sensor(instance, '1G')
    assert "--request: 'scratch=5G' can never run: asks for scratch=5G; no host has that resource" in \
        instance.bad('submit', '-l', 'scratch=5G', '--', 'true')
    set_sensors(instance, path)
    job = instance.submit('-l', 'scratch=5G', '--', 'true')
    until(lambda: load(instance).get('scratch') == '1G', 'the first report')
    assert 'no_such_resource' not in load(instance)
    assert instance.job(job)['state'] == 'PENDING'
    (instance.home / 'value').write_text('6G')
    instance.until_state(job, 'COMPLETED')
    (pid,) = [pid for pid, line in children(instance).items() if path in line]
    # It is asked to quit, and its values go with it.
    set_sensors(instance)
    until(lambda: not instance.is_alive(pid), 'the sensor to end')
    assert (instance.home / 'quit').read_text() == 'quit\n'
    until(lambda: 'scratch' not in load(instance), 'its values to go')
    assert 'no host has that resource' in instance.bad('submit', '-l', 'scratch=1G', '--', 'true')


def test_a_killed_sensor_starts_again(instance):
    path = good_sensor(instance, '1G')
    set_sensors(instance, path)
    until(lambda: load(instance).get('scratch') == '1G', 'the first report')
    (pid,) = [pid for pid, line in children(instance).items() if path in line]
    os.kill(pid, signal.SIGKILL)
    (instance.home / 'value').write_text('2G')
    until(lambda: load(instance).get('scratch') == '2G', 'a report of the new one')
    assert sum('ended' in line for line in log(instance, path)) == 1


def test_bad_sensors_harm_nothing(instance):
    good = good_sensor(instance, '1G')
    bad = {name: make_sensor(instance, name, text) for name, text in BAD.items()}
    missing = make_sensor(instance, 'missing', '#!/bin/sh\nrm "$0"\n')
    set_sensors(instance, *bad.values(), missing, good)
    until(lambda: load(instance).get('scratch') == '1G', 'the good report')
    began, jobs = time.monotonic(), []
    while time.monotonic() - began < 6:
        asked = time.monotonic()
        jobs.append(instance.submit('-l', 'scratch=1G', '--', 'true'))
        assert time.monotonic() - asked < 10
        instance.until_state(jobs[-1], 'COMPLETED')
    for name, text in [('hangs', 'has not answered'), ('dies', 'ended'), ('rubbish', 'too long'), ('lines', 'too much'),
                       ('words', 'not host:name:value'), ('missing', 'cannot be started')]:
        until(lambda: any(text in line for line in log(instance, '/%s"' % name)), name)
    assert len(log(instance)) <= 2 * len(bad) + 2, log(instance)
    assert (instance.home / 'dies.count').read_text().count('x') <= 8  # it backs off
    until(lambda: load(instance).get('scratch') == '1G', 'the good report again')
    # The daemon does not spin on what they write.
    fields = pathlib.Path('/proc/%d/stat' % instance.pid()).read_text().rsplit(')', 1)[1].split()
    assert (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK') < 4
    # Nothing of them is left when the daemon ends.
    instance.good('stop')
    pids = [int((instance.home / name).read_text()) for name in ('hangs.pid', 'lines.pid')]
    until(lambda: not children(instance) and not any(map(instance.is_alive, pids)), 'the sensors to end')


def test_a_sensor_that_does_not_quit_is_killed(instance):
    path = make_sensor(instance, 'hangs', BAD['hangs'])
    set_sensors(instance, path)
    pid = int(until(lambda: (instance.home / 'hangs.pid').exists() and (instance.home / 'hangs.pid').read_text(), 'a pid'))
    set_sensors(instance)
    set_sensors(instance, path)  # a new one, beside the one that leaves
    until(lambda: int((instance.home / 'hangs.pid').read_text() or pid) != pid, 'a new one')
    until(lambda: not instance.is_alive(pid), 'the sensor to end')


def test_sensors_end_with_a_killed_daemon(instance):
    path = good_sensor(instance, '1G')
    set_sensors(instance, path)
    until(lambda: load(instance).get('scratch') == '1G', 'the first report')
    (pid,) = [pid for pid, line in children(instance).items() if path in line]
    instance.kill()
    until(lambda: not instance.is_alive(pid), 'the sensor to end')


def test_sensors_get_nothing_of_the_daemon(instance):
    path = make_sensor(instance, 'curious', '#!/bin/sh\nenv > %(home)s/env\nls -l /proc/self/fd > %(home)s/fds\n'
                       'pwd > %(home)s/pwd\nexec cat > /dev/null\n')
    set_sensors(instance, path)
    until(lambda: (instance.home / 'pwd').exists() and (instance.home / 'pwd').read_text(), 'the sensor')
    environment = (instance.home / 'env').read_text()
    assert 'HOME=' not in environment and 'XDG' not in environment and 'PATH=' in environment
    descriptors = (instance.home / 'fds').read_text()
    assert 'fairlead.db' not in descriptors and 'socket:' not in descriptors and 'fairleadd.log' not in descriptors
    assert (instance.home / 'pwd').read_text() == '/\n'


def test_paths_are_checked(instance):
    assert "load_sensor: 'sensor'" in instance.bad('set', 'load_sensor=sensor')
    assert 'twice' in instance.bad('set', 'load_sensor=/a,/a')
    assert "load_sensor: '/nowhere' does not exist" in instance.bad('set', 'load_sensor=/nowhere')
    assert "load_sensor: '/etc' is not a regular file" in instance.bad('set', 'LOAD_SENSOR=/bin/sh, /etc')
    assert "load_sensor: '/etc/passwd' is not executable" in instance.bad('set', 'load_sensor=/etc/passwd')
    assert instance.rows('set', 'load_sensor')[0]['value'] == 'none'


def test_status_says_which_sensors_fail(instance):
    good, dying = good_sensor(instance, '1G'), make_sensor(instance, 'dies', BAD['dies'])
    set_sensors(instance, good, dying)
    until(lambda: 'Sensors    %s: ended\n' % dying in instance.good('status'), 'the fault')
    assert json.loads(instance.good('status', '--json'))['load_sensors'] == dying + ': ended'
    pathlib.Path(dying).write_text(GOOD % {'home': instance.home, 'value': instance.home / 'value'})
    until(lambda: 'Sensors' not in instance.good('status'), 'the sensor to work')
