"""Runs services inside the machine of test_package.py as systemd would: their directories, their account, their command line, and
the two things that a service tells systemd. Usage: run_unit.py start|stop|restart UNIT...; prints what the service says of itself."""
import configparser
import os
import pathlib
import pwd
import shlex
import signal
import socket
import subprocess
import sys
import time

FOLDERS = '/etc/systemd/system', '/lib/systemd/system', '/usr/local/lib/systemd/system'
PATIENCE = 60


def read_unit(name):
    path = next(path for path in (pathlib.Path(folder) / (name + '.service') for folder in FOLDERS) if path.exists())
    parser = configparser.RawConfigParser(strict=False, delimiters='=', comment_prefixes='#')
    parser.optionxform = str
    parser.read_string(path.read_text())
    return parser


def make_directory(top, name, mode, user):
    if name:
        path = pathlib.Path(top) / name
        path.mkdir(exist_ok=True)
        path.chmod(int(mode, 8))
        os.chown(path, user.pw_uid, user.pw_gid)


def pid_file(name):
    return pathlib.Path('/run/%s.pid' % name)


def start(name):
    service = read_unit(name)['Service']
    assert service['Type'] == 'notify'
    user = pwd.getpwnam(service.get('User', 'root'))
    make_directory('/var/lib', service.get('StateDirectory'), service.get('StateDirectoryMode', '0755'), user)
    make_directory('/run', service.get('RuntimeDirectory'), service.get('RuntimeDirectoryMode', '0755'), user)
    address = '/run/notify-' + name
    pathlib.Path(address).unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listener.bind(address)
    os.chmod(address, 0o666)
    listener.settimeout(PATIENCE)
    with open('/var/log/%s.log' % name, 'ab') as log:
        written = os.fstat(log.fileno())
        environment = {'PATH': '/usr/bin:/bin', 'LANG': 'C.UTF-8', 'NOTIFY_SOCKET': address,
                       'JOURNAL_STREAM': '%d:%d' % (written.st_dev, written.st_ino)}
        process = subprocess.Popen(shlex.split(service['ExecStart']), user=user.pw_uid, group=user.pw_gid, extra_groups=[], cwd='/',
                                   env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                                   umask=int(service.get('UMask', '0022'), 8))
    pid_file(name).write_text(str(process.pid))
    said = ''
    while 'READY=1' not in said:
        try:
            said = listener.recv(4096).decode()
        except socket.timeout:
            sys.exit('%s is not ready: %s' % (name, pathlib.Path('/var/log/%s.log' % name).read_text()))
    print(said.replace('\n', ' '))


def stop(name):
    """Only the main process, as KillMode=process says of the launcher; the daemon has no others."""
    pid = int(pid_file(name).read_text())
    os.kill(pid, signal.SIGTERM)
    for _ in range(PATIENCE * 100):
        if not pathlib.Path('/proc/%d' % pid).exists():
            return
        time.sleep(0.01)
    sys.exit('%s does not end' % name)


action, *names = sys.argv[1:]
for unit in names:
    if action in ('stop', 'restart'):
        stop(unit)
    if action in ('start', 'restart'):
        start(unit)
