"""The classes of fault that other schedulers had at the boundary between users, each with a test named after it, here or, of the launcher
alone, in test_system_launcher.py."""
import ast
import json
import os
import pathlib
import pwd
import re
import socket
import stat
import subprocess
import sys
import threading

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exec_world import BUILD, alive, find_processes, until  # noqa: E402
from role_world import make_role_world  # noqa: E402
from test_system_instance import SystemInstance  # noqa: E402
from test_system_launcher import why_not  # noqa: E402

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())

# A class of fault, and its tests.
CLASSES = {
    'the word of the client is trusted': ['test_the_word_of_the_client_is_not_trusted', 'test_names_in_requests_do_not_count'],
    'an API without authentication': ['test_nothing_listens_on_the_network'],
    'a launch goes on after the user could not be switched': ['test_a_switch_that_fails_starts_nothing'],
    'a requested group is honoured': ['test_a_group_of_the_client_that_is_not_the_users', 'test_a_group_that_is_not_the_users_is_refused',
                                      'test_a_gid_that_means_unchanged_is_refused'],
    'the environment of a job reaches what runs as another user': ['test_environments_do_not_mix',
                                                                  'test_the_environment_of_a_job_reaches_no_load_sensor'],
    'races on files': ['test_a_directory_that_is_exchanged_all_the_time', 'test_a_symbolic_link_of_another_user_is_not_followed',
                       'test_an_output_that_cannot_be_opened', 'test_a_hard_link_is_not_cut',
                       'test_a_file_of_another_user_is_not_written_in_a_shared_directory',
                       'test_outputs_of_an_instance_while_their_directory_is_exchanged'],
    'a message is not bound to who sent it': ['test_a_request_of_another_user_sent_again', 'test_only_the_daemons_account_is_listened_to'],
    'broken messages': ['test_broken_requests_end_nothing', 'test_a_daemon_that_was_taken_over_cannot_break_the_launcher',
                        'test_every_field_of_a_message_is_checked'],
    'SQL in values': ['test_sql_in_values'],
    'an operator who becomes an administrator': ['test_an_operator_cannot_become_an_administrator'],
    'scripts and secrets that others can read': ['test_scripts_and_environments_are_private', 'test_a_script_is_readable_by_its_user_only'],
    'a file that is open to others for an instant': ['test_no_file_is_open_to_others_at_the_first_start'],
    'ids that are compared by a prefix': ['test_ids_are_compared_whole'],
    'identity by a path or a name': ['test_a_name_that_is_a_number', 'test_a_socket_of_another_user_is_not_trusted'],
    'programs with the set-user-id bit': ['test_no_program_changes_its_user'],
    'secrets in a log': ['test_no_secret_is_in_a_log'],
    'a peer that does not finish its request blocks others': ['test_unfinished_requests_block_nobody'],
    'jobs of others that can be removed while they wait': ['test_a_waiting_job_of_another_user_stays'],
    'what is inherited': ['test_a_job_inherits_no_descriptor', 'test_a_job_has_default_signals_and_no_terminal'],
}


@pytest.fixture(scope='module')
def world():
    yield from make_role_world()


def functions_of(path):
    return {node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)}


def test_each_class_has_its_tests():
    here = pathlib.Path(__file__).parent
    known = functions_of(here / 'test_peer_faults.py') | functions_of(here / 'test_system_launcher.py')
    assert {name for names in CLASSES.values() for name in names} <= known


def run_job(world, role, script, **fields):
    """The output of a job of the role's user."""
    home = world.home(world.users[role])
    job = world.submit_job(role, held=False, directory=str(home), out='out-%j', script='#!/bin/sh\n' + script, script_name='x',
                           arguments=['x'], **fields)
    row = world.value(role, 'GET', '/v1/jobs/%d/wait?timeout_s=60' % job)['jobs'][0]
    output = home / ('out-%d' % job)
    return row, output.read_text() if output.exists() else None


def raw(world, role, request):
    """The bytes that the daemon answers to the bytes of a request, sent by the role's user."""
    program = ('import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.settimeout(30)\ns.connect(sys.argv[1])\n'
               's.sendall(sys.stdin.buffer.read())\ns.shutdown(socket.SHUT_WR)\n'
               'while True:\n    part = s.recv(65536)\n    if not part: break\n    sys.stdout.buffer.write(part)\n')
    user = world.users[role].pw_name
    return subprocess.run(['setpriv', '--reuid', user, '--regid', user, '--init-groups', '/usr/bin/python3', '-c', program, world.socket],
                          input=request, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60).stdout


def request_bytes(method, target, body, *headers):
    text = json.dumps(body) if body is not None else ''
    return '\r\n'.join(['%s %s HTTP/1.1' % (method, target), 'Host: x', 'Connection: close', 'Content-Length: %d' % len(text), *headers,
                        '', text]).encode()


SUBMISSION = {'name': 'x', 'command': 'true', 'directory': '/tmp', 'arguments': ['true'], 'environment': [], 'held': True}


def test_the_word_of_the_client_is_not_trusted(world):
    """Variables, headers and preloaded libraries say who a client is; the kernel says something else."""
    other = world.users['other']
    environment = {'USER': 'root', 'LOGNAME': 'root', 'SUDO_UID': '0', 'HOME': '/root', 'PATH': '/usr/bin:/bin',
                   'FAIRLEAD_SOCKET': str(world.socket)}
    done = subprocess.run(['setpriv', '--reuid', other.pw_name, '--regid', other.pw_name, '--init-groups', world.place / 'fairlead', 'whoami',
                           '--json'], env=environment, cwd='/', capture_output=True, text=True)
    assert json.loads(done.stdout)['user'] == other.pw_name and json.loads(done.stdout)['role'] == 'user'
    answer = raw(world, 'other', request_bytes('GET', '/v1/whoami', None, 'X-Remote-User: root', 'X-Forwarded-User: root',
                                               'Authorization: Basic cm9vdDpyb290', 'X-Uid: 0'))
    assert json.loads(answer.split(b'\r\n\r\n', 1)[1])['uid'] == other.pw_uid
    row, output = run_job(world, 'other', 'id -u\n', environment=['USER=root', 'LOGNAME=root', 'UID=0'])
    assert output == '%d\n' % other.pw_uid and row['uid'] == other.pw_uid


@pytest.mark.parametrize('field', ['uid', 'gid', 'user', 'owner', 'groups', 'role', 'actor'])
def test_names_in_requests_do_not_count(world, field):
    status, text = world.ask('other', 'POST', '/v1/jobs', {**SUBMISSION, field: 0})
    assert status == 400 and "'%s' is not" % field in text or 'cannot set it' in text, text


def sockets_of(pid):
    names = set()
    for link in pathlib.Path('/proc/%d/fd' % pid).iterdir():
        match = re.fullmatch(r'socket:\[(\d+)\]', os.readlink(link))
        names |= {match.group(1)} if match else set()
    return names


def test_nothing_listens_on_the_network(world):
    pids = find_processes(str(world.place))
    assert world.daemon.pid in pids and len(pids) >= 2
    for pid in pids:
        if alive(pid):
            for name in 'tcp', 'tcp6', 'udp', 'udp6', 'raw', 'packet':
                path = pathlib.Path('/proc/%d/net/%s' % (pid, name))
                words = set(path.read_text().split()) if path.exists() else set()
                assert not sockets_of(pid) & words, (pid, name)


def test_a_group_of_the_client_that_is_not_the_users(world):
    """A process of alice with mallory's group (only root can make one): the job has the group of the user database."""
    owner, other = world.users['owner'], world.users['other']
    home = world.home(owner)
    done = subprocess.run(['setpriv', '--reuid', owner.pw_name, '--regid', other.pw_name, '--clear-groups', world.place / 'fairlead', 'submit',
                           '--parsable', '-o', 'groups', '--', 'id', '-G'], cwd=home, capture_output=True, text=True,
                          env={'PATH': '/usr/bin:/bin', 'FAIRLEAD_SOCKET': str(world.socket), 'HOME': str(home)})
    assert done.returncode == 0, done
    world.value('owner', 'GET', '/v1/jobs/%s/wait?timeout_s=60' % done.stdout.strip())
    groups = {int(word) for word in (home / 'groups').read_text().split()}
    assert owner.pw_gid in groups and other.pw_gid not in groups


def test_the_environment_of_a_job_reaches_no_load_sensor(world):
    """A load sensor is the only program of an administrator that an instance runs."""
    seen = world.place / 'seen'
    seen.mkdir()
    os.chown(seen, world.accounts.daemon.pw_uid, world.accounts.daemon.pw_gid)
    sensor = world.place / 'sensor'
    sensor.write_text('#!/bin/sh\nenv > %s/env\nid -u >> %s/env\nls -l /proc/$$/fd > %s/fds\nwhile read line; do echo begin; echo end; done\n'
                      % (seen, seen, seen))
    sensor.chmod(0o755)
    run_job(world, 'owner', 'true\n', environment=['SESAME=1', 'LD_PRELOAD=/tmp/evil.so', 'FAIRLEAD_X=1'])
    world.value('root', 'PATCH', '/v1/settings', {'load_sensor': str(sensor)})
    until(lambda: (seen / 'fds').exists() and (seen / 'fds').read_text(), 'the sensor')
    text = (seen / 'env').read_text()
    assert 'SESAME' not in text and 'LD_PRELOAD' not in text
    assert text.splitlines()[-1] == str(world.accounts.daemon.pw_uid)
    assert str(world.place / 'state') not in (seen / 'fds').read_text()
    world.value('root', 'PATCH', '/v1/settings', {'load_sensor': 'none'})


class Exchange(threading.Thread):
    """Exchanges a directory and a link to another place for each other until it is stopped, as fast as it can."""

    def __init__(self, path, target, owner):
        super().__init__()
        self.path, self.target, self.owner, self.stopped, self.count = path, target, owner, False, 0

    def run(self):
        real, link = self.path.with_suffix('.real'), self.path.with_suffix('.link')
        os.symlink(self.target, link)
        os.lchown(link, self.owner.pw_uid, self.owner.pw_gid)
        while not self.stopped:
            os.rename(self.path, real)
            os.rename(link, self.path)
            os.rename(self.path, link)
            os.rename(real, self.path)
            self.count += 1


def test_outputs_of_an_instance_while_their_directory_is_exchanged(world):
    """Mallory's own output directory becomes a link to root's and to alice's, all the time: nothing is ever written there."""
    other, owner = world.users['other'], world.users['owner']
    targets = [world.place / 'of-root', world.home(owner) / 'of-alice']
    for target, user in zip(targets, (pwd.getpwuid(0), owner)):
        target.mkdir(mode=0o755)
        os.chown(target, user.pw_uid, user.pw_gid)
        path = world.home(other) / ('race-' + target.name)
        path.mkdir()
        os.chown(path, other.pw_uid, other.pw_gid)
        race = Exchange(path, target, other)
        race.start()
        try:
            jobs = [world.submit_job('other', held=False, directory=str(world.home(other)), out=str(path / 'out-%j')) for _ in range(40)]
            for job in jobs:
                world.value('other', 'GET', '/v1/jobs/%d/wait?timeout_s=60' % job)
        finally:
            race.stopped = True
            race.join()
        assert race.count > 1000 and list(target.iterdir()) == []


def test_a_request_of_another_user_sent_again(world):
    """The same bytes mean what their sender may do."""
    job = world.submit_job()
    cancel = request_bytes('POST', '/v1/jobs/cancel', {'ids': [str(job)]})
    assert b' 403 ' in raw(world, 'other', cancel).split(b'\r\n', 1)[0]
    submission = request_bytes('POST', '/v1/jobs', SUBMISSION)
    rows = []
    for role in 'owner', 'other':
        number = json.loads(raw(world, role, submission).split(b'\r\n\r\n', 1)[1])['job_id']
        rows.append(world.value('root', 'GET', '/v1/jobs/%d' % number)['jobs'][0]['uid'])
    assert rows == [world.users['owner'].pw_uid, world.users['other'].pw_uid]
    assert b' 200 ' in raw(world, 'owner', cancel).split(b'\r\n', 1)[0]


@pytest.mark.parametrize('sent', [
    b'', b'\0' * 4096, b'GET', b'GET /v1/jobs HTTP/1.1\r\n', b'GET ' + b'/' * 100000 + b' HTTP/1.1\r\n\r\n',
    b'POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n',
    b'POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n', b'POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{',
    request_bytes('POST', '/v1/jobs', None).replace(b'Content-Length: 0', b'Content-Length: 200000') + b'[' * 200000,
    b'POST /v1/jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n{}',
    b'GET /v1/jobs/%00 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', b'GET /v1/jobs?id=' + b'1,' * 5000 + b' HTTP/1.1\r\nHost: x\r\n\r\n',
], ids=range(12))
def test_broken_requests_end_nothing(world, sent):
    before = world.value('root', 'GET', '/v1/status')['pid']
    raw(world, 'other', sent)
    assert world.value('owner', 'GET', '/v1/status')['pid'] == before


SQL = "'; DROP TABLE job; --", "' OR '1'='1", '") UNION SELECT * FROM setting --', "x' || (SELECT name FROM setting) || '"


@pytest.mark.parametrize('text', SQL)
def test_sql_in_values(world, text):
    """Values reach the database as values: what is stored is what was sent, and a filter matches nothing else."""
    job = world.submit_job('other', name=text, comment=text)
    row = world.value('other', 'GET', '/v1/jobs/%d' % job)['jobs'][0]
    assert (row['name'], row['comment']) == (text, text)
    quoted = ''.join('%%%02X' % byte for byte in text.encode())
    for query in 'user', 'account':
        status, answer = world.ask('other', 'GET', '/v1/jobs?which=all&%s=%s' % (query, quoted))
        assert status == 200 and json.loads(answer)['jobs'] == []
    for field in 'account', 'qos', 'partitions', 'project', 'dependency', 'requests', 'queues', 'pe':
        assert world.ask('other', 'POST', '/v1/jobs', {**SUBMISSION, field: text})[0] in (400, 404)
    assert world.value('root', 'GET', '/v1/verify')['differences'] == []


def test_an_operator_cannot_become_an_administrator(world):
    operator = world.users['operator']
    for method, target, body in (('PATCH', '/v1/settings', {'administrator_group': operator.pw_name}),
                                 ('PATCH', '/v1/settings', {'operator_group': ''}), ('PATCH', '/v1/settings', {'private_data': ''}),
                                 ('PATCH', '/v1/settings', {'load_sensor': '/bin/sh'}),
                                 ('POST', '/v1/users', {'name': operator.pw_name, 'account': 'root'}),
                                 ('POST', '/v1/user-policies', {'name': operator.pw_name, 'otickets': 9})):
        status, text = world.ask('operator', method, target, body)
        assert status == 403 and 'only an administrator may' in text, text
    assert world.value('operator', 'GET', '/v1/whoami')['role'] == 'operator'
    job = world.submit_job()
    status, text = world.ask('operator', 'PATCH', '/v1/jobs/%d' % job, {'uid': 0})
    assert status == 400


def as_other(world, *command):
    other = world.users['other'].pw_name
    return subprocess.run(['setpriv', '--reuid', other, '--regid', other, '--init-groups', *map(str, command)], capture_output=True, text=True)


def test_scripts_and_environments_are_private(world):
    """Neither files nor command lines nor the environments of processes show a running job's secrets to another user."""
    home = world.home(world.users['owner'])
    job = world.submit_job(held=False, directory=str(home), script='#!/bin/sh\n# sesame-in-script\nsleep 600\n', script_name='x', arguments=['x'],
                           environment=['TOKEN=sesame-in-environment', 'PATH=/usr/bin:/bin'])
    until(lambda: world.value('owner', 'GET', '/v1/jobs/%d' % job)['jobs'][0]['state'] == 'RUNNING', 'the job to run')
    done = as_other(world, 'grep', '-rlsa', 'sesame-in-', world.place / 'state', world.place / 'launcher', world.run_directory)
    assert done.stdout == ''
    for entry in pathlib.Path('/proc').iterdir():
        if entry.name.isdigit() and alive(int(entry.name)):
            assert 'sesame-in-' not in as_other(world, 'cat', entry / 'environ').stdout if entry.name in (str(world.daemon.pid),) else True
            try:
                assert b'sesame-in-' not in (entry / 'cmdline').read_bytes()
            except OSError:
                pass
    world.value('owner', 'DELETE', '/v1/jobs/%d' % job)


def test_no_file_is_open_to_others_at_the_first_start(world):
    """From the first instant: files are looked at all the time while an instance starts for the first time."""
    found, stopped = set(), threading.Event()

    class Watched(SystemInstance):
        def start(self):
            watcher = threading.Thread(target=watch, args=(self.place,))
            watcher.start()
            super().start()
            self.submit(self.accounts.alice, '--hold', '--', 'true')
            stopped.set()
            watcher.join()

    def watch(place):
        looks = 0
        while not stopped.is_set():
            for base in place / 'state', place / 'launcher':
                for directory, _, names in os.walk(base):
                    for name in names:
                        try:
                            mode = os.lstat(os.path.join(directory, name)).st_mode
                        except OSError:
                            continue
                        looks += 1
                        if stat.S_ISREG(mode) and mode & 0o077 and name not in ('owner', 'owner.new'):  # which the daemon reads
                            found.add((name, oct(mode)))
        found.add(('looks', looks > 100))

    instance = Watched(world.accounts)
    try:
        assert found == {('looks', True)}
    finally:
        stopped.set()
        instance.close()


def test_no_secret_is_in_a_log(world):
    """Neither of a job that ends, nor of one that cannot be started, nor of requests that are refused."""
    home = world.home(world.users['owner'])
    common = {'script': '#!/bin/sh\n# sesame-log\nexit 3\n', 'script_name': 'x', 'arguments': ['sesame-log'],
              'environment': ['TOKEN=sesame-log'], 'comment': 'sesame-log', 'held': False}
    for directory in home, home / 'nowhere':
        job = world.submit_job(directory=str(directory), **common)
        assert world.value('owner', 'GET', '/v1/jobs/%d/wait?timeout_s=60' % job)['jobs'][0]['state'] == 'FAILED'
    assert world.ask('owner', 'POST', '/v1/jobs', {**SUBMISSION, **common, 'directory': 'sesame-log'})[0] == 400
    assert world.ask('owner', 'POST', '/v1/jobs', {**SUBMISSION, **common, 'sesame-log': 1})[0] == 400
    logs = [world.place / 'log', *world.place.glob('*/*.log')]
    assert any('event=start' in log.read_text() for log in logs)
    assert [log for log in logs if 'sesame-log' in log.read_text(errors='replace')] == []


def test_unfinished_requests_block_nobody(world):
    """Heads and bodies that break off, while their connections stay open."""
    program = ('import socket, sys\nkept = []\n'
               'for text in (b"", b"GET /v1/st", b"GET /v1/status HTTP/1.1\\r\\nHost: x\\r\\n",\n'
               '             b"POST /v1/jobs HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 50000000\\r\\n\\r\\n{") * 20:\n'
               '    s = socket.socket(socket.AF_UNIX)\n    s.connect(sys.argv[1])\n    s.sendall(text)\n    kept.append(s)\n'
               'print("sent", flush=True)\nsys.stdin.read()\n')
    user = world.users['other'].pw_name
    process = subprocess.Popen(['setpriv', '--reuid', user, '--regid', user, '--init-groups', '/usr/bin/python3', '-c', program, world.socket],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == 'sent\n'
        job = world.submit_job(held=False)
        jobs = world.value('owner', 'GET', '/v1/jobs/%d/wait?timeout_s=60' % job)['jobs']
        assert jobs[0]['state'] == 'COMPLETED', jobs[0]['detail']
    finally:
        process.communicate('')


def test_a_waiting_job_of_another_user_stays(world):
    job = world.submit_job()
    for method, target, body in (('DELETE', '/v1/jobs/%d' % job, None), ('POST', '/v1/jobs/cancel', {'ids': [str(job)]}),
                                 ('POST', '/v1/jobs/cancel', {'ids': [str(job)], 'partial': True}),
                                 ('POST', '/v1/jobs/cancel', {'all': True, 'user': world.users['owner'].pw_name}),
                                 ('POST', '/v1/jobs/cancel', {'all': True, 'state': 'pending'})):
        world.ask('other', method, target, body)
        assert world.value('owner', 'GET', '/v1/jobs/%d' % job)['jobs'][0]['state'] == 'PENDING', (method, body)


@pytest.mark.parametrize('form', ['%d ', ' %d', '+%d', '%d_', '%d.0', '%de0', '0x%x', '%d;', '%d%%', '-%d', '%d_0_0'])
def test_ids_are_compared_whole(world, form):
    """Neither a prefix nor another spelling of an id is the id."""
    job = world.submit_job('other')
    status, _ = world.ask('other', 'POST', '/v1/jobs/cancel', {'ids': [form % job]})
    assert status in (400, 404)
    prefix = int(str(job)[:-1] or '0')
    if prefix:
        world.ask('other', 'POST', '/v1/jobs/cancel', {'ids': [str(prefix)], 'partial': True})
    assert world.value('other', 'GET', '/v1/jobs/%d' % job)['jobs'][0]['state'] == 'PENDING'


def test_a_name_that_is_a_number(world):
    """An account that is named like the uid of alice is not alice, and `-u NUMBER` is a name."""
    owner = world.users['owner']
    job = world.submit_job()
    assert world.value('operator', 'POST', '/v1/jobs/cancel', {'all': True, 'user': str(owner.pw_uid)})['count'] == 0
    assert world.value('root', 'GET', '/v1/jobs?user=%d' % owner.pw_uid)['jobs'] == []
    world.value('root', 'POST', '/v1/users', {'name': str(owner.pw_uid), 'account': 'default'})
    names = {row['name'] for row in world.value('owner', 'GET', '/v1/whoami')['associations']}
    assert names == {owner.pw_name}
    assert world.value('root', 'GET', '/v1/jobs/%d' % job)['jobs'][0]['user'] == owner.pw_name
    world.value('root', 'DELETE', '/v1/users/%d' % owner.pw_uid)


def test_a_socket_of_another_user_is_not_trusted(world):
    """A client sends its script and its environment only to the user's own instance, root's, or one that root has set up."""
    other, owner = world.users['other'], world.users['owner']
    directory = world.place / 'trap'
    directory.mkdir(mode=0o755)
    path = directory / 'fairlead.sock'
    trap = socket.socket(socket.AF_UNIX)
    trap.bind(str(path))
    path.chmod(0o666)
    for entry in directory, path:
        os.chown(entry, other.pw_uid, other.pw_gid)
    pid = os.fork()
    if pid == 0:
        os.setgid(other.pw_gid)
        os.setuid(other.pw_uid)
        trap.listen(8)  # the kernel reports who listens
        threading.Event().wait(30)
        os._exit(0)
    try:
        until(lambda: ' 00010000 ' in ''.join(line for line in open('/proc/net/unix') if str(path) in line), 'the trap')
        done = subprocess.run(['setpriv', '--reuid', owner.pw_name, '--regid', owner.pw_name, '--init-groups', world.place / 'fairlead', 'submit',
                               '--', 'true'], cwd='/', capture_output=True, text=True, timeout=60,
                              env={'PATH': '/usr/bin:/bin', 'FAIRLEAD_SOCKET': str(path), 'HOME': str(world.home(owner))})
        assert done.returncode != 0 and 'is of user %d' % other.pw_uid in done.stderr, done
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        trap.close()


def test_no_program_changes_its_user():
    for name in 'fairlead', 'fairleadd', 'fairlead-launcher':
        mode = (BUILD / name).stat().st_mode
        assert not mode & (stat.S_ISUID | stat.S_ISGID), name
        done = subprocess.run(['getcap', BUILD / name], capture_output=True, text=True) if os.path.exists('/sbin/getcap') else None
        assert done is None or done.stdout == '', done
