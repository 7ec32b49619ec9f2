"""Input that must be refused: one clear line, exit status 2, nothing changed."""
import os
import shutil
import subprocess

import pytest

from conftest import FAIRLEAD

PADDING = 'x' * 107


@pytest.fixture(scope='module')
def world(shared):
    shared.good('account', 'add', 'physics', '--shares', '50')
    shared.good('account', 'add', 'optics', '--parent', 'physics')
    shared.good('user', 'add', 'alice', '-A', 'physics')
    shared.good('user', 'add', 'alice', '-A', 'optics')
    shared.submit('--hold', '-J', 'held', '--', 'true')
    shared.submit('--hold', '--array', '0-9%2', '--', 'true')
    ended = shared.submit('--', 'true')
    shared.good('wait', ended)
    work = shared.work
    (work / 'empty.sh').touch()
    (work / 'binary.sh').write_bytes(b'#!/bin/sh\n' + b'x' * 4000 + b'\0')
    (work / 'dos.sh').write_bytes(b'#!/bin/sh\r\ntrue\r\n')
    (work / 'folder').mkdir()
    (work / 'good.sh').write_text('true\n')
    (work / 'plain').write_text('not a program\n')
    shared.before = shared.everything()
    return shared


CASES = [
    # command lines
    (['submit'], 'missing argument; usage: fairlead submit'),
    (['submit', '--'], 'missing argument; usage: fairlead submit'),
    (['submit', '--bogus', '--', 'true'], "unknown option '--bogus'"),
    (['submit', '-Z', '--', 'true'], "unknown option '-Z'"),
    (['submit', 'sleep', '10'], "to run a program: fairlead submit -- sleep"),
    (['submit', '-n'], "'--cpus' needs an argument"),
    (['queue', 'extra'], "unexpected argument 'extra'"),
    (['queue', '--account'], 'needs an argument'),
    (['quueue'], "did you mean 'queue'"),
    (['account', 'ad'], "did you mean 'account add'"),
    (['cancel'], 'missing job id'),
    (['cancel', '--all', '1'], '--all and job ids: only one of them'),
    (['update', '1'], 'nothing to change: give at least one option'),
    (['account', 'modify', 'physics'], 'nothing to change: give --shares'),
    (['account', 'modify', 'physics', 'shares=3'], "unexpected argument 'shares=3'"),
    (['user', 'modify', 'alice'], 'nothing to change: give --shares'),
    (['qos', 'modify', 'normal'], 'nothing to change: give at least one FIELD=VALUE'),
    (['account'], 'missing subcommand: add, modify, delete or show'),
    (['show'], 'missing subcommand: job'),
    # CPUs, memory, time
    (['submit', '-n', '0', '--', 'true'], "--cpus: '0' is not"),
    (['submit', '-n', '-1', '--', 'true'], "--cpus: '-1' is not"),
    (['submit', '-n', '1.5', '--', 'true'], "--cpus: '1.5' is not"),
    (['submit', '-n', '99999999999999999999', '--', 'true'], '--cpus: '),
    (['submit', '-n', '65537', '--', 'true'], "--cpus: '65537' is not a whole number from 1 to 65536"),
    (['submit', '-G', '1025', '--', 'true'], "--gpus: '1025' is not a whole number from 0 to 1024"),
    (['update', '1', '-n', '65537'], "--cpus: '65537' is not a whole number from 1 to 65536"),
    (['submit', '-n', '5', '--', 'true'], "--cpus: 5 exceeds the host's 4 CPUs"),
    (['submit', '--mem', '0', '--', 'true'], '--mem: '),
    (['submit', '--mem', '-1', '--', 'true'], '--mem: '),
    (['submit', '--mem', '1X', '--', 'true'], '--mem: '),
    (['submit', '--mem', '5G', '--', 'true'], "--mem: 5G exceeds the host's 4G of memory"),
    (['submit', '--mem', '99999999999999999999T', '--', 'true'], '--mem: '),
    (['submit', '-G', '1', '--', 'true'], "--gpus: 1 exceeds the host's 0 GPUs"),
    (['submit', '-G', 'x', '--', 'true'], '--gpus: '),
    (['submit', '-t', '0', '--', 'true'], '--time: '),
    (['submit', '-t', '-5', '--', 'true'], '--time: '),
    (['submit', '-t', '1:2:3:4', '--', 'true'], '--time: '),
    (['submit', '-t', '99999999-0', '--', 'true'], '--time: '),
    (['submit', '--array', '', '--', 'true'], 'array'),
    (['submit', '--array', 'x', '--', 'true'], 'array'),
    (['submit', '--array', '9-0', '--', 'true'], 'array'),
    (['submit', '--array', '0-9%0', '--', 'true'], 'array'),
    (['submit', '-o', 'x-%q', '--', 'true'], "has '%q'; %j, %A and %a"), (['submit', '-e', '%11j', '--', 'true'], "has '%11j'"),
    (['submit', '--array', '0-99999999', '--', 'true'], 'array'),
    (['submit', '--array', '-1', '--', 'true'], 'array'),
    # scripts, programs, directories, environments
    (['submit', 'nowhere.sh'], "script 'nowhere.sh': No such file"),
    (['submit', 'folder'], "script 'folder' is a directory"),
    (['submit', 'empty.sh'], "script 'empty.sh' is empty"),
    (['submit', 'binary.sh'], "'binary.sh' is binary"),
    (['submit', 'dos.sh'], 'DOS line ends'),
    (['submit', 'good.sh/x'], 'Not a directory'),
    (['submit', '--export', 'NONE,A=b', '--', 'true'], '--export: NONE is accepted only alone'),
    (['submit', '--', 'no-such-program'], "command 'no-such-program' is not in PATH"),
    (['submit', '--', './nowhere'], "command './nowhere': No such file"),
    (['submit', '--', './plain'], "command './plain': Permission denied"),
    (['submit', '--', './folder'], "command './folder': Is a directory"),
    (['submit', '--', ''], "the name of the command is empty"),
    (['submit', '-D', 'nowhere', '--', 'true'], "directory 'nowhere': No such file"),
    (['submit', '-D', 'good.sh', '--', 'true'], "'good.sh' is not a directory"),
    (['submit', '-o', '', '--', 'true'], 'output'),
    (['submit', '-o', 'a\nb', '--', 'true'], 'control character'),
    (['submit', '--export', 'NOT_SET_HERE', '--', 'true'], "the variable 'NOT_SET_HERE' is not set"),
    (['submit', '--export', '1x=y', '--', 'true'], "'1x=y' does not begin with the name of a variable"),
    # names
    (['submit', '-A', 'nowhere', '--', 'true'], "nowhere"),
    (['submit', '-A', '../etc', '--', 'true'], '../etc'),
    (['submit', '-J', '', '--', 'true'], "--job-name: '' has 0 bytes; 1 to 128 are accepted"),
    (['submit', '-J', 'a\nb', '--', 'true'], "--job-name: 'a?b' is not printable UTF-8"),
    (['submit', '-J', 'x' * 10000, '--', 'true'], 'has 10000 bytes; 1 to 128 are accepted'),
    (['submit', '-J', b'\xff', '--', 'true'], 'name'),
    (['account', 'add', ''], 'name'),
    (['account', 'add', 'two words'], 'two words'),
    (['account', 'add', 'a/b'], "'/'"),
    (['account', 'add', '../x'], "'/'"),
    (['account', 'add', '..'], "'..'"),
    (['account', 'add', 'a|b'], "'|'"),
    (['account', 'add', 'a\tb'], 'name'),
    (['account', 'add', 'a\033b'], 'name'),
    (['account', 'add', b'\xff'], 'name'),
    (['account', 'add', 'x' * 10000], 'name'),
    (['account', 'add', 'physics'], "'physics' already exists"),
    (['account', 'add', 'new', '--parent', 'nowhere'], "nowhere"),
    (['account', 'add', 'new', '--shares', '-1'], "--shares: '-1'"),
    (['account', 'add', 'new', '--shares', 'many'], "--shares: 'many'"),
    (['account', 'add', 'new', '--shares', '99999999999'], "--shares: '99999999999'"),
    (['account', 'modify', 'nowhere', '--shares', '1'], 'nowhere'),
    (['account', 'modify', 'physics', '--parent', 'optics'], 'optics'),
    (['account', 'modify', 'physics', '--parent', 'physics'], 'physics'),
    (['account', 'delete', 'physics'], 'not empty'),
    (['account', 'delete', 'nowhere'], 'nowhere'),
    (['account', 'delete', 'root'], 'root'),
    (['account', 'show', 'nowhere'], "no account 'nowhere'"),
    (['user', 'add', 'alice', '-A', 'physics'], 'already'),
    (['user', 'add', 'two words'], 'two words'),
    (['user', 'add', 'bob', '-A', 'nowhere'], 'nowhere'),
    (['user', 'modify', 'bob', '--shares', '1'], 'bob'),
    (['user', 'modify', 'alice', '-A', 'nowhere', '--shares', '1'], "no account 'nowhere'"),
    (['user', 'modify', 'alice', '--default'], 'name the one to become the default'),
    (['user', 'delete', 'bob'], 'bob'),
    (['user', 'show', 'bob'], "no user 'bob'"),
    # ids
    (['cancel', 'x'], "'x' is not a job id"),
    (['cancel', '0'], "'0' is not a job id"),
    (['cancel', '-1'], "unknown option '-1'"),
    (['cancel', '99999999999999'], "'99999999999999' is not a job id"),
    (['cancel', '99'], 'no job 99'),
    (['cancel', '-u', 'alice', '1'], 'options that select jobs and job ids: only one of them'),
    (['cancel', '1_3'], '1'),
    (['cancel', '2_10'], '2'),
    (['cancel', '2_[10]'], '2'),
    (['cancel', '2_[x]'], "'x' is not a number"),
    (['cancel', '3'], 'job 3 has already ended'),
    (['hold', '99'], 'no job 99'),
    (['release', '99'], 'no job 99'),
    (['wait', '99'], 'no job 99'),
    (['wait', '2_77'], '77'),
    (['wait', '3_0'], 'no job 3_0'),
    (['log', '3_0'], 'no job 3_0'),
    (['show', 'job', '3_0'], 'no job 3_0'),
    (['cancel', '3_0'], 'job 3 has no task 0'),
    (['show', 'job', '99'], 'no job 99'),
    (['show', 'job', '../1'], "'../1' is not a job id"),
    (['log', '99'], 'no job 99'),
    (['update', '99', '-n', '1'], 'no job 99'),
    (['update', '1', '-n', '5'], "exceeds the host's 4 CPUs"),
    (['update', '1', '--slots', '5'], "--slots: 5 exceeds the host's 4 CPUs"),
    (['update', '1', '--array-limit', '2'], '--array-limit: only an array has one'),
    (['update', '3', '-n', '1'], 'job 3 has already ended'),
    # settings, filters, times
    (['set', 'nowhere=1'], 'nowhere'),
    (['set', 'halflife_s', 'grace_s=5'], 'NAME=VALUE'),
    (['set', 'nowhere'], "no setting 'nowhere'; run 'fairlead set' to list them"),
    (['set', 'SchedulerParameters=defer'], 'fairlead set pass_rhythm=defer'),
    (['submit', '--pe', 'nowhere', '--', 'true'], "no pe 'nowhere'; run 'fairlead pe show' to list them"),
    (['set', 'halflife_s=-1'], 'halflife_s'),
    (['set', 'halflife_s=x'], 'halflife_s'),
    (['set', 'default_time_s=3661-0'], "'3661-0' is not a duration in seconds (or 90m, 1.5h, D-H:M:S) from 1 to 316224000"),
    (['submit', '-t', '3661-0', '--', 'true'], 'is over 10 years (3660 days); write UNLIMITED for no limit'),
    (['set', 'grace_s=5', 'halflife_s=x'], 'halflife_s'),
    (['set', 'grace_s=5', 'grace_s=6'], 'grace_s is given twice'),
    (['set', 'ties=maybe'], "ties: 'maybe' is not one of merge, slurm"),
    (['set', 'host_cpus=0'], "host_cpus: '0' is not a whole number from 1 to 65536, or auto"),
    (['start', '--set', 'grace_s=x'], 'grace_s'),
    (['start', '--config', 'nowhere'], 'nowhere: No such file'),
    (['queue', '--state', 'SLEEPING'], 'SLEEPING'),
    (['queue', '-A', 'nowhere'], "no account 'nowhere'"),
    (['queue', '-A', 'nowhere', '--json'], "no account 'nowhere'"),
    (['queue', '-A', 'nowhere', '-P'], "no account 'nowhere'"),
    (['history', '-A', 'nowhere'], "no account 'nowhere'"),
    (['user', 'show', '-A', 'nowhere'], "no account 'nowhere'"),
    (['share', '-A', 'nowhere'], "no account 'nowhere'"),
    (['share', '-u', 'nobody-at-all'], "no user 'nobody-at-all'"),
    (['share', '-A', 'optics', '-u', 'root'], "user 'root' is not in account 'optics' or below it"),
    (['history', '--since', 'lately'], '--since: '),
    (['history', '--limit', 'x'], '--limit: '),
    (['share', '--ties', 'slurm'], '--ties requires -f'),
    (['share', '-P', '--json'], 'one of them'),
    (['queue', '-P', '--json'], 'one of them'),
    # sockets
    (['queue', '--socket', '/' + PADDING], '108 bytes; at most 107 are accepted'),
    (['queue', '--socket', ''], 'empty'),
    (['start', '--socket', '/' + PADDING], 'at most 107'),
]


@pytest.mark.parametrize('arguments, text', CASES, ids=[repr(case[0])[:60] for case in CASES])
def test_refused(world, arguments, text):
    result = world.run(*[os.fsdecode(word) for word in arguments])
    before, world.before = world.before, world.everything()
    assert world.before == before
    line = world.refusal(result)
    assert text in line
    assert len(line) < 700 and line.isprintable()


def test_unreadable_script(stopped):
    """Root can read every file, so another user tries."""
    script = stopped.home / 'secret.sh'
    script.write_text('true\n')
    script.chmod(0o200)
    command = [shutil.copy(FAIRLEAD, stopped.home / 'fairlead'), 'submit', str(script)]
    if os.geteuid() == 0:
        stopped.home.chmod(0o755)
        command = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', *command]
    result = subprocess.run(command, env=stopped.environment, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout) == (2, '')
    assert result.stderr == "fairlead submit: script '%s': Permission denied\n" % script


def test_no_instance_answers(stopped):
    for words in (['queue'], ['submit', '--', 'true'], ['share'], ['status'], ['verify'], ['set'], ['cancel', '--all'],
                  ['account', 'show'], ['user', 'add', 'x'], ['history'], ['wait', '--retry', '0', '1']):
        line = stopped.bad(*words, status=1)
        assert line.endswith("no instance answers at %s; run 'fairlead start' to start one" % stopped.socket)


def test_no_home(stopped):
    line = stopped.bad('start', environment={'HOME': '', 'XDG_STATE_HOME': ''})
    assert 'neither XDG_STATE_HOME nor HOME is an absolute path' in line
