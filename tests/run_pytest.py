"""Runs one pytest file and reports each of its cases in the Test Anything Protocol, as every other test here does.

usage: run_pytest.py FILE [CASE]

Cases marked `slow` are left out on the build with sanitizers, unless FAIRLEAD_ASAN_SLOW=1.

Behind a case that failed stands first, in lines that begin with "# why: ", what was wrong, where, and the last of what the
case wrote, which are the logs of its programs; then all that pytest says. A run that is told to end (SIGTERM, as Meson does
with one that takes too long) says in which case that was.

The directories of the cases are below one of this run's own, which goes when all is well: pytest's usual place is one for
all that run at the same time, who close it to other users and rotate it.
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
    """What was wrong, as pytest marks it, and the places on the way to it, the innermost first."""
    entries = getattr(getattr(report.longrepr, 'reprtraceback', None), 'reprentries', [])
    marked = [line[1:].strip() for entry in entries for line in getattr(entry, 'lines', []) if line.startswith('E')]
    places = ['%s:%s' % (place.path, place.lineno) for place in
              (getattr(entry, 'reprfileloc', None) for entry in reversed(entries)) if place]
    lines = marked or report.longreprtext.splitlines()[-WHY_LINES:]
    return lines[:WHY_LINES] + (['at ' + ', from '.join(places)] if places else [])


def last_words(report):
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
        # Its options are needed, its own report is not.
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
        """A case has three reports (set-up, call, tear-down); the first that did not pass is the one that counts."""
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
            self.failure(name, [line for one in bad for line in reason(one)] + last_words(report))
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

    def told_to_end(self, _, frame):
        """Said at once, for there may be no time for more."""
        places = []
        while frame:
            if os.sep + 'tests' + os.sep in frame.f_code.co_filename and frame.f_code.co_filename != __file__:
                places.append('%s:%d' % (os.path.relpath(frame.f_code.co_filename), frame.f_lineno))
            frame = frame.f_back
        if self.current:
            self.failure(self.current, ['told to end after %.0f s in this case' % (time.monotonic() - self.begun),
                                        'at ' + ', from '.join(places)])
        pytest.exit('told to end')


def main(arguments):
    tap = Tap()
    place = tempfile.mkdtemp(prefix='fl-', dir='/tmp')
    signal.signal(signal.SIGTERM, tap.told_to_end)
    status = pytest.main(['-vv', '-p', 'no:cacheprovider', '--basetemp', os.path.join(place, 't'), *arguments], plugins=[tap])
    if tap.left_out:
        tap.comment('left out on the build with sanitizers: %d slow' % tap.left_out)
    if status == pytest.ExitCode.NO_TESTS_COLLECTED and (tap.count or tap.left_out):
        status = pytest.ExitCode.OK
    if status == pytest.ExitCode.OK:
        shutil.rmtree(place, ignore_errors=True)
    else:
        tap.comment('kept: ' + place)
    tap.say('1..%d' % tap.count)
    return int(status)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
