"""The submission hook: a program of the site that accepts and refuses submissions, and one that fails."""
import json
import os
import pathlib
import pwd
import time

import pytest

from conftest import PATIENCE, until

REFUSES_GPUS = '''#!/usr/bin/python3
import json, sys
document = json.load(sys.stdin)
if document['job'].get('gpus'):
    sys.exit('GPUs are for the project vision')
'''


def make_hook(instance, text, name='hook'):
    path = instance.home / name
    fresh = instance.home / (name + '.new')  # never written to while it runs
    fresh.write_text(text)
    fresh.chmod(0o755)
    fresh.rename(path)
    return str(path)


def set_hook(instance, text, name='hook', *settings):
    path = make_hook(instance, text, name)
    instance.good('set', 'submit_hook=' + path, *settings)
    return path


def log(instance):
    text = (instance.state / 'fairleadd.log').read_text()
    return [line for line in text.splitlines() if 'event=submit-hook' in line]


def jobs(instance):
    return instance.everything()['jobs?which=all']


def file_of(instance, name):
    """The content of a file that a hook writes, once it is there."""
    path = instance.home / name
    return until(lambda: path.exists() and path.read_text(), name)


def test_a_hook_accepts_and_refuses(instance):
    set_hook(instance, REFUSES_GPUS)
    instance.good('set', 'host_gpus=1')
    before = instance.everything()
    assert instance.bad('submit', '--gpus', '1', '--', 'true') == \
        'fairlead submit: the submission hook of this instance refuses the job: GPUs are for the project vision'
    assert instance.everything() == before
    job = instance.submit('--', 'true')
    instance.until_state(job, 'COMPLETED')
    instance.good('set', 'submit_hook=')
    instance.submit('--gpus', '1', '--', 'true')


def test_what_a_hook_reads(instance):
    home = instance.home
    set_hook(instance, '#!/bin/sh\ncat > %s/document\nenv > %s/env\nls -l /proc/self/fd > %s/fds\npwd > %s/pwd\n'
             % (home, home, home, home))
    (instance.work / 'job.sh').write_text('#!/bin/sh\necho "$@" ü\n')
    job = instance.submit('-t', '5m', '--mem', '100M', 'job.sh', 'one', os.fsdecode(b'\xff'), environment={'SECRET': 'x'})
    document = json.loads((home / 'document').read_text())
    assert (document['event'], document['uid'], document['gid']) == ('submit', os.getuid(), os.getgid())
    assert document['user'] == pwd.getpwuid(os.getuid()).pw_name
    asked = document['job']
    assert (asked['name'], asked['mem_mib'], asked['time_limit_s']) == ('job.sh', 100, 300)
    assert (asked['script'], asked['arguments']) == ('#!/bin/sh\necho "$@" ü\n', ['one', {'base64': '/w=='}])
    assert 'SECRET=x' in asked['environment']
    assert instance.job(job)['name'] == 'job.sh'
    environment, descriptors = (home / 'env').read_text(), (home / 'fds').read_text()
    assert 'HOME=' not in environment and 'SECRET' not in environment and 'PATH=' in environment
    assert 'fairlead.db' not in descriptors and 'socket:' not in descriptors and 'fairleadd.log' not in descriptors
    assert (home / 'pwd').read_text() == '/\n'


def test_a_hook_that_hangs_is_killed_and_delays_no_one(instance):
    home = instance.home
    script = '#!/bin/sh\n(echo $$ > %s/first; exec sleep 1000) &\necho $! > %s/second\nexec sleep 1000\n' % (home, home)
    path = set_hook(instance, script, 'hook', 'hook_timeout_s=60')
    waiting = instance.popen('submit', '--', 'true')
    pids = [int(file_of(instance, name)) for name in ('first', 'second')]
    until(lambda: all(pathlib.Path('/proc/%d/comm' % pid).read_text() == 'sleep\n' for pid in pids), 'both to sleep')
    # Everything else goes on.
    assert instance.json('status')['pid'] and waiting.poll() is None
    instance.good('set', 'submit_hook=', 'hook_timeout_s=1')
    instance.until_state(instance.submit('--', 'true'), 'COMPLETED')
    assert waiting.poll() is None
    # Another one, with a time limit that ends it.
    instance.good('set', 'submit_hook=' + path)
    (home / 'second').unlink()
    assert 'the job was not accepted: the submission hook %s was killed, because it had not ended after 1 s' % path in \
        instance.bad('submit', '--', 'true', status=1)
    late = int((home / 'second').read_text())
    until(lambda: not instance.is_alive(late), 'what it has started to end')
    assert sum('submit-hook-failed' in line and 'had not ended' in line for line in log(instance)) == 1
    assert len(jobs(instance)) == 1
    # A stop waits for none of them, and the submission that waits was not accepted.
    began = time.monotonic()
    instance.good('stop')
    assert time.monotonic() - began < PATIENCE / 2
    assert waiting.wait(PATIENCE) == 1
    assert b'the instance is stopping; the job was not accepted' in waiting.stderr.read()
    until(lambda: not any(map(instance.is_alive, pids)), 'the hook to end')
    instance.start()
    assert len(jobs(instance)) == 1


def test_a_hook_ends_with_a_killed_daemon(instance):
    set_hook(instance, '#!/bin/sh\necho $$ > %s/hook.pid\nexec sleep 1000\n' % instance.home, 'hook', 'hook_timeout_s=60')
    waiting = instance.popen('submit', '--', 'true')
    pid = int(file_of(instance, 'hook.pid'))
    instance.kill()
    until(lambda: not instance.is_alive(pid), 'the hook to end')
    assert waiting.wait(PATIENCE) == 1
    instance.start()
    assert jobs(instance) == []


FAILURES = {
    'exits': ('#!/bin/sh\nexit 3\n', 2, 'refuses the job: it gives no reason (exit status 3)'),
    'dies': ('#!/bin/sh\nkill -9 $$\n', 1, 'was ended by signal 9'),
    'no-interpreter': ('#!/nowhere/sh\n', 1, 'cannot be started: No such file or directory'),
    'no-program': ('what is this', 1, 'cannot be started: Exec format error'),
    'odd': ('#!/bin/sh\nprintf "\\n  a\\033[31m\\377b\\t\\nsecond line\\n" >&2\nexit 1\n', 2, 'refuses the job: a?[31m?b'),
    'long': ('#!/bin/sh\nyes ü | head -c 100000 | tr -d "\\n" >&2\nexit 1\n', 2, 'refuses the job: ' + 'ü' * 255),
}


@pytest.mark.parametrize('name', FAILURES)
def test_a_hook_that_fails_lets_no_job_in(instance, name):
    text, status, expected = FAILURES[name]
    set_hook(instance, text)
    assert instance.bad('submit', '--', 'true', status=status).split('; tell')[0].endswith(expected)
    assert jobs(instance) == []
    # It is mended, and the next job is accepted.
    make_hook(instance, '#!/bin/sh\nexec true\n')
    instance.submit('--', 'true')
    assert [line.split('event=')[1].split()[0] for line in log(instance)] == \
        ([] if status == 2 else ['submit-hook-failed', 'submit-hook-works'])


def test_a_hook_that_was_removed_lets_no_job_in(instance):
    path = set_hook(instance, '#!/bin/sh\n')
    os.unlink(path)
    for _ in range(3):
        assert 'the submission hook %s does not exist; tell' % path in instance.bad('submit', '--', 'true', status=1)
    assert len(log(instance)) == 1


def test_a_hook_need_not_read(instance):
    """A document that is larger than a pipe, to a program that reads nothing, or that leaves a process behind."""
    (instance.work / 'long.sh').write_text('#!/bin/sh\n' + '# long\n' * 1000000)
    set_hook(instance, '#!/bin/sh\nexec < /dev/null\n')
    instance.submit('long.sh')
    set_hook(instance, '#!/bin/sh\nwc -c > %s/bytes\nsleep 1000 > /dev/null &\necho $! > %s/left\n'
             % (instance.home, instance.home))
    instance.submit('long.sh')
    assert int((instance.home / 'bytes').read_text()) > 7000000
    until(lambda: not instance.is_alive(int((instance.home / 'left').read_text())), 'what it has left to end')


def test_what_would_be_refused_is_not_asked_about(instance):
    set_hook(instance, '#!/bin/sh\necho asked >> %s/asked\n' % instance.home)
    instance.bad('submit', '-A', 'nowhere', '--', 'true')
    instance.good('submit', '--test-only', '--', 'true')
    assert not (instance.home / 'asked').exists()
    instance.submit('--', 'true')
    assert (instance.home / 'asked').read_text() == 'asked\n'


def test_many_submissions_at_once(instance):
    """At most two programs run about one user's submissions; all of them are asked about once."""
    set_hook(instance, '#!/bin/sh\nmkdir %(home)s/run-$$\nls -d %(home)s/run-* | wc -l >> %(home)s/counts\n'
             'sleep 0.05\nrmdir %(home)s/run-$$\n' % {'home': instance.home})
    clients = [instance.popen('submit', '--parsable', '--hold', '--', 'true') for _ in range(12)]
    ids = [int(client.communicate(timeout=PATIENCE)[0]) for client in clients]
    counts = list(map(int, (instance.home / 'counts').read_text().split()))
    assert sorted(ids) == list(range(1, 13)) and len(counts) == 12 and max(counts) <= 2


def test_paths_are_checked(instance):
    assert "submit_hook: 'hook' is not the absolute path of a program" in instance.bad('set', 'submit_hook=hook')
    assert "submit_hook: '/nowhere' does not exist" in instance.bad('set', 'submit_hook=/nowhere')
    assert "submit_hook: '/etc' is not a regular file" in instance.bad('set', 'submit_hook=/etc')
    assert "submit_hook: '/etc/passwd' is not executable" in instance.bad('set', 'submit_hook=/etc/passwd')
    assert 'hook_timeout_s' in instance.bad('set', 'hook_timeout_s=61')
    assert instance.rows('set', 'submit_hook')[0]['value'] == ''
