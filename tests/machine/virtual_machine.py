"""A virtual machine with Debian 12 and systemd as process 1, and the whole hierarchy of control groups of version 2: qemu with the disk
that build-image has made. What is written to the disk is lost at the end. Commands go through an agent in the machine (agent.py)."""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

FILES = 'machine.img', 'vmlinuz', 'initrd.img'
# Seconds; the processor is emulated.
BOOT_PATIENCE, PATIENCE = 1800, 900
# Another accelerator of qemu, such as kvm, by FAIRLEAD_VM_ACCEL.
ACCELERATOR = os.environ.get('FAIRLEAD_VM_ACCEL', 'tcg,thread=multi')


class Done:
    def __init__(self, command, reply):
        self.command, self.returncode, self.stdout, self.stderr = command, reply['status'], reply['out'], reply['err']

    def __repr__(self):
        return '%s -> %d\n%s\n%s' % (' '.join(self.command), self.returncode, self.stdout, self.stderr)


class VirtualMachine:
    def __init__(self, image, files):
        """files: folder whose files are in the machine at /host."""
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='fl-', dir='/tmp'))
        self.console = self.folder / 'console.log'
        self.number, self.received, self.boot = 0, b'', None
        shared = self.folder / 'host.img'
        subprocess.run(['mke2fs', '-q', '-t', 'ext4', '-d', files, shared, '64M'], check=True)
        image = pathlib.Path(image)
        line = self.folder / 'agent.sock'
        self.qemu = subprocess.Popen(
            ['qemu-system-x86_64', '-accel', ACCELERATOR, '-smp', '2', '-m', '2048', '-display', 'none', '-nic', 'none', '-snapshot',
             '-kernel', image / 'vmlinuz', '-initrd', image / 'initrd.img',
             '-append', 'root=/dev/vda rw console=ttyS0 panic=-1 quiet systemd.show_status=no ' + os.environ.get('FAIRLEAD_VM_APPEND', ''),
             '-drive', 'file=%s,format=raw,if=virtio' % (image / 'machine.img'), '-drive', 'file=%s,format=raw,if=virtio' % shared,
             '-serial', 'file:%s' % self.console, '-serial', 'unix:%s,server=on,wait=off' % line],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(self.folder / 'qemu.log', 'wb'))
        try:
            self.socket = self.connect(line)
            self.wait_for_boot()
            self.good('sh', '-c', 'mkdir -p /host && mount -o ro /dev/vdb /host')
        except BaseException:
            self.close()
            raise

    def connect(self, path):
        end = time.monotonic() + PATIENCE
        while True:
            assert self.qemu.poll() is None, (self.folder / 'qemu.log').read_text()
            try:
                found = socket.socket(socket.AF_UNIX)
                found.connect(str(path))
                return found
            except OSError:
                found.close()
                assert time.monotonic() < end, 'qemu opens no socket'
                time.sleep(0.1)

    def read_line(self, patience):
        end = time.monotonic() + patience
        while b'\n' not in self.received:
            left = end - time.monotonic()
            assert left > 0 and self.qemu.poll() is None, 'the machine does not answer; its console:\n' + self.console.read_text(errors='replace')[-4000:]
            self.socket.settimeout(min(left, 1))
            try:
                self.received += self.socket.recv(65536)
            except (socket.timeout, ConnectionResetError):
                pass
        line, self.received = self.received.split(b'\n', 1)
        try:
            return json.loads(line)
        except ValueError:
            return {}

    def wait_for_boot(self):
        """Until another boot greets."""
        before, self.boot = self.boot, None
        while self.boot is None or self.boot == before:
            self.boot = self.read_line(BOOT_PATIENCE).get('boot', self.boot)

    def reboot(self):
        self.send({'command': ['systemctl', 'reboot'], 'timeout': PATIENCE})
        self.wait_for_boot()
        self.good('mount', '-o', 'ro', '/dev/vdb', '/host')

    def send(self, request):
        self.number += 1
        self.socket.settimeout(None)
        self.socket.sendall((json.dumps({**request, 'number': self.number}) + '\n').encode())

    def run(self, *command, user=None, stdin='', timeout=PATIENCE):
        """user: in a session of that user's, through PAM, with the user's home as directory."""
        command = [str(word) for word in command]
        if user:
            command = ['su', '-l', user, '-c', '"$@"', '--', 'sh', *command]
        self.send({'command': command, 'stdin': stdin, 'timeout': timeout})
        while True:
            reply = self.read_line(timeout + 60)
            if reply.get('number') == self.number:
                return Done(command, reply)

    def good(self, *command, **options):
        done = self.run(*command, **options)
        assert done.returncode == 0, done
        return done.stdout

    def close(self):
        self.qemu.kill()
        self.qemu.wait()
        if os.environ.get('FAIRLEAD_VM_KEEP'):
            print('console:', self.console)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
