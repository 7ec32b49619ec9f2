"""Runs one pytest file and reports each of its cases in the Test Anything Protocol, like all other tests.

usage: run_pytest.py FILE [CASE]

Cases marked `slow` are left out on the build with sanitizers, unless FAIRLEAD_ASAN_SLOW=1.

A failed case is followed by lines that begin with "# why: ": the reason, its place, and the end of the case's output, which
has the logs of its programs. Then comes the output of pytest. On SIGTERM, by which Meson ends a test that takes too long,
the run names the current case.

The directories of the cases are in a directory of this run, which is removed if all cases pass. pytest's default directory is
shared by runs at the same time, which make it private to one user and rotate it.
"""
import os
import shutil
import signal
import sys
import tempfile
import time

import pytest

WHY_LINES, LOG_LINES, LINE_LENGTH = 12, 20, 300


def reason(report):
    """The lines that pytest marks as the error, and the places of the call stack, the innermost first."""
    entries = getattr(getattr(report.longrepr, 'reprtraceback', None), 'reprentries', [])
    marked = [line[1:].strip() for entry in entries for line in getattr(entry, 'lines', []) if line.startswith('E')]
    places = ['%s:%s' % (place.path, place.lineno) for place in
              (getattr(entry, 'reprfileloc', None) for entry in reversed(entries)) if place]
    lines = marked or report.longreprtext.splitlines()[-WHY_LINES:]
    return lines[:WHY_LINES] + (['at ' + ', from '.join(places)] if places else [])


def last_output(report):
    return [line for _, text in report.sections for line in text.splitlines() if line.strip()][-LOG_LINES:]


class Tap:
    def __init__(self):
        # A copy, which pytest does not capture.
        self.out = os.fdopen(os.dup(1), 'w', encoding='utf-8', errors='replace')
        self.count = 0
        self.bad = {}
        self.left_out = 0
        self.current = None
        self.begun = 0

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config):
        # The plugin's options are needed, but not its report.
        config.pluginmanager.unregister(name='terminalreporter')
        config.addinivalue_line('markers', 'slow: left out on the build with sanitizers')

    def pytest_collection_modifyitems(self, config, items):
        if os.environ.get('FAIRLEAD_SANITIZED') != '1' or os.environ.get('FAIRLEAD_ASAN_SLOW') == '1':
            return
        slow = [item for item in items if item.get_closest_marker('slow')]
        if slow:
            items[:] = [item for item in items if item not in slow]
            config.hook.pytest_deselected(items=slow)
            self.left_out = len(slow)

    def say(self, line):
        print(line, file=self.out, flush=True)

    def comment(self, text, mark='# '):
        for line in str(text).splitlines():
            self.say(mark + line)

    def case(self, outcome, name, directive=''):
        self.count += 1
        self.say('%s %d - %s%s' % (outcome, self.count, name.replace('#', ' '), directive))

    def failure(self, name, why):
        self.case('not ok', name)
        for line in why:
            self.comment(line[:LINE_LENGTH], '# why: ')

    def pytest_runtest_logstart(self, nodeid):
        self.current, self.begun = nodeid.split('::', 1)[-1], time.monotonic()

    def pytest_runtest_logreport(self, report):
        """A case has three reports (set-up, call, tear-down); the first that did not pass decides its outcome."""
        if report.outcome != 'passed':
            self.bad.setdefault(report.nodeid, []).append(report)
        if report.when == 'call':
            for _, text in report.sections:
                for line in text.splitlines():
                    if line.startswith('# '):
                        self.say(line)
        if report.when != 'teardown':
            return
        bad = self.bad.get(report.nodeid)
        name, self.current = self.current, None
        if bad is None:
            self.case('ok', name)
        elif bad[0].outcome == 'skipped':
            where = bad[0].longrepr
            text = where[2] if isinstance(where, tuple) else str(where)
            self.case('ok', name, ' # SKIP ' + text.replace('Skipped: ', '', 1))
        else:
            self.failure(name, [line for one in bad for line in reason(one)] + last_output(report))
            for one in bad:
                self.comment(one.longreprtext)
            for title, text in report.sections:
                self.comment('--- %s\n%s' % (title, text))

    def pytest_collectreport(self, report):
        if report.failed:
            self.failure('collection of ' + (report.nodeid or 'the file'), reason(report))
            self.comment(report.longreprtext)
        elif report.skipped:
            self.case('ok', report.nodeid, ' # SKIP ' + str(report.longrepr[2]).replace('Skipped: ', '', 1))

    def terminate(self, _, frame):
        """Reports the current case at once, because SIGKILL may follow."""
        places = []
        while frame:
            if os.sep + 'tests' + os.sep in frame.f_code.co_filename and frame.f_code.co_filename != __file__:
                places.append('%s:%d' % (os.path.relpath(frame.f_code.co_filename), frame.f_lineno))
            frame = frame.f_back
        if self.current:
            self.failure(self.current, ['terminated after %.0f s in this case' % (time.monotonic() - self.begun),
                                        'at ' + ', from '.join(places)])
        pytest.exit('terminated')


def main(arguments):
    tap = Tap()
    folder = tempfile.mkdtemp(prefix='fl-', dir='/tmp')
    signal.signal(signal.SIGTERM, tap.terminate)
    status = pytest.main(['-vv', '-p', 'no:cacheprovider', '--basetemp', os.path.join(folder, 't'), *arguments], plugins=[tap])
    if tap.left_out:
        tap.comment('left out on the build with sanitizers: %d slow' % tap.left_out)
    if status == pytest.ExitCode.NO_TESTS_COLLECTED and (tap.count or tap.left_out):
        status = pytest.ExitCode.OK
    if status == pytest.ExitCode.OK:
        shutil.rmtree(folder, ignore_errors=True)
    else:
        tap.comment('kept: ' + folder)
    tap.say('1..%d' % tap.count)
    return int(status)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
