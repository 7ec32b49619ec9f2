"""A system instance with an account for each role, and requests to its API as any of them."""
import http.client
import json
import os
import pwd
import socket
import subprocess
import sys

from test_system_instance import SystemInstance
from test_system_launcher import Accounts

ROLES = 'owner', 'other', 'operator', 'administrator', 'root'


class RoleAccounts(Accounts):
    """Alice owns jobs, mallory is the other user. The groups of the accounts `operator` and `ruler` give the roles."""

    def __init__(self):
        super().__init__()
        prefix = self.names['alice'][:-1]
        self.names.update(operator=prefix + 'o', ruler=prefix + 'r')


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__('localhost', timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


def serve_requests(path):
    """Reads requests as lines of JSON, and writes the status and the text of each answer."""
    for line in sys.stdin:
        method, target, body = json.loads(line)
        connection = Connection(path)
        connection.request(method, target, None if body is None else json.dumps(body))
        answer = connection.getresponse()
        print(json.dumps([answer.status, answer.read().decode(errors='replace')]), flush=True)
        connection.close()


class RoleWorld(SystemInstance):
    def __init__(self, accounts):
        super().__init__(accounts)
        self.users = {'owner': accounts.alice, 'other': accounts.mallory, 'operator': accounts.operator,
                      'administrator': accounts.ruler, 'root': pwd.getpwuid(0)}
        for role in 'operator', 'administrator':
            home = self.home(self.users[role])
            home.mkdir(mode=0o700)
            os.chown(home, self.users[role].pw_uid, self.users[role].pw_gid)
        self.clients = {}
        self.good(None, 'set', 'operator_group=' + accounts.operator.pw_name, 'administrator_group=' + accounts.ruler.pw_name)

    def ask(self, role, method, target, body=None):
        """The status and the text of the answer."""
        if role not in self.clients:
            user = self.users[role]
            identity = [] if role == 'root' else ['setpriv', '--reuid', user.pw_name, '--regid', user.pw_name, '--init-groups']
            self.clients[role] = subprocess.Popen([*identity, '/usr/bin/python3', '-c', self.client_text(), self.socket],
                                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        client = self.clients[role]
        client.stdin.write(json.dumps([method, target, body]) + '\n')
        client.stdin.flush()
        return json.loads(client.stdout.readline())

    @staticmethod
    def client_text():
        """The program of a client: other users may not be able to read this file."""
        import inspect
        return 'import http.client, json, socket, sys\n%s\n%s\nserve_requests(sys.argv[1])\n' % (
            inspect.getsource(Connection), inspect.getsource(serve_requests))

    def value(self, role, method, target, body=None):
        status, text = self.ask(role, method, target, body)
        assert status in (200, 201), (role, method, target, status, text)
        return json.loads(text)

    def submit_job(self, role='owner', **fields):
        body = {'name': 'x', 'command': 'true', 'directory': '/tmp', 'held': True, 'arguments': ['true'], 'environment': [], 'out': '/dev/null',
                **fields}
        return self.value(role, 'POST', '/v1/jobs', body)['job_id']

    def close(self):
        for client in self.clients.values():
            client.stdin.close()
            client.wait(60)
        super().close()


def make_role_world():
    """Yields a world; removes it and its accounts then."""
    accounts = RoleAccounts()
    try:
        accounts.make()
        world = RoleWorld(accounts)
        try:
            yield world
        finally:
            world.close()
    finally:
        accounts.remove()
