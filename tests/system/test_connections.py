"""Many clients at once, and clients that do nothing."""
import resource
import socket
import subprocess
import sys
import time

from conftest import FAIRLEAD, until

REQUEST = b'GET /v1/settings HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'


def connect(instance, data=b''):
    client = socket.socket(socket.AF_UNIX)
    client.connect(str(instance.socket))  # without a timeout, with which it would not wait in a full backlog
    client.settimeout(60)
    if data:
        client.sendall(data)
    return client


def status_of(client):
    reply = b''
    try:
        while part := client.recv(65536):
            reply += part
    except ConnectionResetError:
        pass
    return int(reply.split()[1]) if reply else None


def test_few_descriptors_and_idle_clients(instance):
    """The daemon has 64 descriptors, and 100 clients that send nothing."""
    instance.run('stop')
    result = subprocess.run(['prlimit', '--nofile=64:64', FAIRLEAD, 'start'], env=instance.environment, cwd=instance.work,
                            capture_output=True, text=True, check=False)
    assert result.returncode == 0, result
    idle = [connect(instance) for _ in range(100)]
    for _ in range(3):
        time.sleep(1.1)
        instance.good('status')
        idle += [connect(instance) for _ in range(30)]
    for client in idle:
        client.close()
    time.sleep(1.1)
    job = instance.submit('--', 'true')
    instance.until_state(job, 'COMPLETED')


def test_half_a_request_is_answered_at_once(instance):
    client = connect(instance, b'POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{')
    start_s = time.monotonic()
    client.shutdown(socket.SHUT_WR)
    assert status_of(client) == 400
    assert time.monotonic() - start_s < 30


def test_descriptions_of_the_api_for_many_clients(instance):
    """The largest reply of one piece; unit/server_connections has that it yields to others."""
    many = [connect(instance, REQUEST.replace(b'settings', b'openapi.json')) for _ in range(300)]
    assert status_of(connect(instance, REQUEST.replace(b'settings', b'partitions'))) == 200
    assert [status_of(client) for client in many] == [200] * 300


def test_ten_thousand_clients_at_once(instance):
    """Each is served or refused; none is left without an answer."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(16384, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) +
                       resource.getrlimit(resource.RLIMIT_NOFILE)[1:])
    count = min(10000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 100)
    clients = [connect(instance) for _ in range(count)]
    answers = {200: 0, 503: 0, None: 0}
    for client in clients:
        try:
            client.sendall(REQUEST)
        except BrokenPipeError:
            pass
    for client in clients:
        answers[status_of(client)] += 1
        client.close()
    print('# %d clients at once: %d served, %d refused with 503, %d closed as idle' % (
        count, answers[200], answers[503], answers[None]))
    assert answers[None] == 0 and answers[200] > 0
    until(lambda: instance.run('status').status == 0, 'the instance to answer')


OLDER = r"""
import http.server, json, os, socketserver, sys
class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
class Older(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    address_string = lambda self: ''
    log_message = lambda *ignored: None
    def do_GET(self):
        body = json.dumps({'version': '0.0.9', 'pid': os.getpid()}).encode()
        self.send_response(200)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
Server(sys.argv[1], Older).serve_forever()
"""


def test_an_older_daemon_is_named_and_stopped(stopped):
    folder = stopped.work / 'older'
    folder.mkdir(mode=0o700)
    socket_path = folder / 'fairlead.sock'
    older = subprocess.Popen([sys.executable, '-c', OLDER, str(socket_path)])
    try:
        until(socket_path.exists, 'the older daemon')
        where = {'FAIRLEAD_SOCKET': str(socket_path)}
        version = stopped.good('--version').split()[1]
        result = stopped.run('status', environment=where)
        assert result.status != 0 and 'the instance is version 0.0.9 (process %d), this command version %s: ' % (
            older.pid, version) in result.err and "run 'fairlead stop' and 'fairlead start'" in result.err
        result = stopped.run('stop', '--jobs', environment=where)
        assert result.status != 0 and "'fairlead stop' without --jobs" in result.err and older.poll() is None
        assert stopped.good('stop', environment=where) == \
            'Stopped process %d, version 0.0.9; this command is version %s\n' % (older.pid, version)
        assert older.wait(timeout=10) != 0
    finally:
        older.kill()
        older.wait()
