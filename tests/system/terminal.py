"""A terminal for tests of what is drawn on a whole screen: a pseudo-terminal, a program that it controls, and what its screen shows.

It understands the few sequences of its own terminfo entry, which `tic` compiles, so ncurses uses no others.
"""
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time

ENTRY = r'''fairlead-test|terminal of a test,
    am, cols#80, lines#24,
    cup=\E[%i%p1%d;%p2%dH, clear=\E[H\E[2J, el=\E[K, ed=\E[J, smcup=\E[?1049h, rmcup=\E[?1049l,
    rev=\E[7m, smso=\E[7m, rmso=\E[0m, bold=\E[1m, sgr0=\E[0m, kcuu1=\E[A, kcud1=\E[B, cr=\r, bel=^G,
'''
SEQUENCE = re.compile(rb'\x1b\[(\??)([0-9;]*)([A-Za-z])')
PATIENCE = 60


def compile_entry(folder):
    """The value of TERMINFO for a program on a Terminal."""
    (folder / 'entry').write_text(ENTRY)
    subprocess.run(['tic', '-x', '-o', folder / 'terminfo', folder / 'entry'], check=True, capture_output=True)
    return str(folder / 'terminfo')


class Terminal:
    def __init__(self, arguments, environment, lines=24, columns=80):
        self.lines, self.columns, self.data = lines, columns, b''
        self.cells, self.at, self.is_alternate, self.left_over = {}, [0, 0], False, b''
        self.master, slave = os.openpty()
        self.set_size(lines, columns)
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.process = subprocess.Popen(arguments, env=environment, stdin=slave, stdout=slave, stderr=slave, process_group=None,
                                        preexec_fn=self.take_over)

    def take_over(self):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def set_size(self, lines, columns):
        self.lines, self.columns = lines, columns
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack('HHHH', lines, columns, 0, 0))

    def send(self, text):
        os.write(self.master, text.encode())

    def signal(self, number):
        os.kill(self.process.pid, number)

    def read(self, wait_s=0.05):
        while select.select([self.master], [], [], wait_s)[0]:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return
            if not data:
                return
            self.data += data
            self.draw(self.left_over + data)

    def control(self, match):
        private, numbers, letter = match.groups()
        first, *others = [int(number or 0) for number in numbers.split(b';')]
        if private:
            self.is_alternate = {b'h': True, b'l': False}[letter] if first == 1049 else self.is_alternate
        elif letter == b'H':
            self.at = [max(first, 1) - 1, max(others[0], 1) - 1 if others else 0]
        elif letter == b'K':
            self.erase(lambda line, column: line == self.at[0] and column >= self.at[1])
        elif letter == b'J':
            self.erase(lambda line, column: first == 2 or [line, column] >= self.at)
        else:
            assert letter == b'm', match.group()

    def erase(self, is_erased):
        self.cells = {place: text for place, text in self.cells.items() if not is_erased(*place)}

    def draw(self, data):
        self.left_over = b''
        while data:
            match = SEQUENCE.match(data)
            if match:
                self.control(match)
                data = data[match.end():]
                continue
            length = next(n for lead, n in ((0xf0, 4), (0xe0, 3), (0xc0, 2), (0, 1)) if data[0] >= lead)
            if len(data) < length or (data[0] == 0x1b and not re.match(rb'\x1b\[\??[0-9;]*[^0-9;?]', data) and len(data) < 20):
                self.left_over = data
                return
            assert data[0] != 0x1b, data[:20]
            self.put(data[:length].decode(errors='replace'))
            data = data[length:]

    def put(self, character):
        if character == '\r':
            self.at[1] = 0
        elif character == '\n':
            self.at[0] += 1
        elif character == '\b':
            self.at[1] -= 1
        elif character >= ' ':
            if self.at[1] >= self.columns:
                self.at = [self.at[0] + 1, 0]
            self.cells[tuple(self.at)] = character
            self.at[1] += 1

    def text(self):
        self.read()
        rows = max([line for line, _ in self.cells] + [0]) + 1
        return [''.join(self.cells.get((line, column), ' ') for column in range(self.columns)).rstrip() for line in range(rows)]

    def until(self, condition, what):
        """Waits until the condition is true of the screen's lines; a text: until a line contains it. Returns the lines."""
        end = time.monotonic() + PATIENCE
        is_met = condition if callable(condition) else lambda lines: any(condition in line for line in lines)
        while True:
            lines = self.text()
            if is_met(lines):
                return lines
            assert time.monotonic() < end, 'waited too long for %s:\n%s' % (what, '\n'.join(lines))

    def wait(self):
        """The exit status, once the program has ended."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            self.read()
            assert time.monotonic() < end, 'the program does not end:\n' + '\n'.join(self.text())
        self.read()
        return self.process.returncode

    def is_restored(self):
        return termios.tcgetattr(self.slave)[:4] == self.before[:4] and not self.is_alternate

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        os.close(self.slave)
        os.close(self.master)
