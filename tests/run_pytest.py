"""Runs one pytest file and reports each of its cases in the Test Anything Protocol, as every other test here does.

usage: run_pytest.py FILE [CASE]

Cases marked `slow` are left out on the build with sanitizers, unless FAIRLEAD_ASAN_SLOW=1.
"""
import os
import sys

import pytest


class Tap:
    def __init__(self):
        # A copy, which pytest does not capture.
        self.out = os.fdopen(os.dup(1), 'w', encoding='utf-8', errors='replace')
        self.count = 0
        self.worst = {}
        self.left_out = 0

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

    def comment(self, text):
        for line in str(text).splitlines():
            self.say('# ' + line)

    def case(self, outcome, name, directive=''):
        self.count += 1
        self.say('%s %d - %s%s' % (outcome, self.count, name.replace('#', ' '), directive))

    def pytest_runtest_logreport(self, report):
        """A case has three reports (set-up, call, tear-down); the first that did not pass is the one that counts."""
        if report.outcome != 'passed':
            self.worst.setdefault(report.nodeid, report)
        if report.when == 'call':
            for _, text in report.sections:
                for line in text.splitlines():
                    if line.startswith('# '):
                        self.say(line)
        if report.when != 'teardown':
            return
        worst = self.worst.get(report.nodeid)
        name = report.nodeid.split('::', 1)[-1]
        if worst is None:
            self.case('ok', name)
        elif worst.outcome == 'skipped':
            reason = worst.longrepr[2] if isinstance(worst.longrepr, tuple) else str(worst.longrepr)
            self.case('ok', name, ' # SKIP ' + reason.replace('Skipped: ', '', 1))
        else:
            self.case('not ok', name)
            self.comment(worst.longreprtext)
            for title, text in worst.sections:
                self.comment('--- %s\n%s' % (title, text))

    def pytest_collectreport(self, report):
        if report.failed:
            self.case('not ok', 'collection of ' + (report.nodeid or 'the file'))
            self.comment(report.longreprtext)
        elif report.skipped:
            self.case('ok', report.nodeid, ' # SKIP ' + str(report.longrepr[2]).replace('Skipped: ', '', 1))


def main(arguments):
    tap = Tap()
    status = pytest.main(['-p', 'no:cacheprovider', *arguments], plugins=[tap])
    if tap.left_out:
        tap.comment('left out on the build with sanitizers: %d slow' % tap.left_out)
    if status == pytest.ExitCode.NO_TESTS_COLLECTED and (tap.count or tap.left_out):
        status = pytest.ExitCode.OK
    tap.say('1..%d' % tap.count)
    return int(status)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
