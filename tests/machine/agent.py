"""Runs commands inside the virtual machine of test_machine.py for the host, on the second serial line. A request and a reply are one
line of JSON each; the first line after a boot says which boot it is."""
import json
import os
import subprocess
import termios
import threading
import tty

LINE = '/dev/ttyS1'


def answer(request):
    try:
        done = subprocess.run(request['command'], input=request.get('stdin', ''), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, errors='replace', timeout=request['timeout'], cwd='/root', start_new_session=True)
        return {'status': done.returncode, 'out': done.stdout, 'err': done.stderr}
    except subprocess.TimeoutExpired:
        return {'status': 124, 'out': '', 'err': 'took longer than %s s' % request['timeout']}
    except OSError as error:
        return {'status': 127, 'out': '', 'err': str(error)}


def main():
    fd = os.open(LINE, os.O_RDWR | os.O_NOCTTY)
    tty.setraw(fd, termios.TCSANOW)
    with open(fd, 'rb', buffering=0, closefd=False) as raw:
        requests = os.fdopen(os.dup(raw.fileno()), 'r', errors='replace')
        sending = threading.Lock()

        def send(value):
            data = (json.dumps(value) + '\n').encode()
            with sending:
                while data:
                    data = data[os.write(fd, data):]

        with open('/proc/sys/kernel/random/boot_id') as boot:
            send({'boot': boot.read().strip()})
        for line in requests:
            try:
                request = json.loads(line)
            except ValueError:
                continue
            send({'number': request['number'], **answer(request)})


main()
