"""The table of rooms in ARCHITECTURE.md has the same rooms, permissions and purity as rooms.py."""
import re

import pytest

import csource
import rooms

PURITY = {**dict.fromkeys(rooms.PURE, 'yes'), **dict.fromkeys(rooms.TIMELESS, 'no clock, no globals')}


def documented(page):
    """Triples of a room, the rooms that it may include, and the last column, for the rows of folders below src/."""
    rows = re.findall(r'^\| `src/(\S+)/` \|.*\| ([^|]*) \| ([^|]*) \|$', page, re.MULTILINE)
    return [(room, [] if allowed == '–' else re.findall(r'[\w/.]+', allowed), pure) for room, allowed, pure in rows]


def offences(page):
    rows = documented(page)
    names = [room for room, _, _ in rows]
    found = ['%s/ has %d rows' % (room, names.count(room)) for room in rooms.ROOMS if names.count(room) != 1]
    for room, allowed, pure in rows:
        if room not in rooms.ROOMS:
            found.append('%s/ is not a room of rooms.py' % room)
            continue
        for other in sorted(set(allowed) ^ set(rooms.ROOMS[room])):
            found.append('%s/ may include %s: only %s says so' %
                         (room, other, 'ARCHITECTURE.md' if other in allowed else 'rooms.py'))
        if pure != PURITY.get(room, '–'):
            found.append("%s/ is pure: '%s' where rooms.py says '%s'" % (room, pure, PURITY.get(room, '–')))
    return found


def test_rooms_are_documented():
    csource.assert_none(offences(csource.read('ARCHITECTURE.md')))


@pytest.mark.parametrize('old, new, offence', [
    ('| `src/store/` |', '| `src/attic/` |', ['store/ has 0 rows', 'attic/ is not a room of rooms.py']),
    ('| `src/store/` |', '| `src/exec/` |', ['store/ has 0 rows', 'exec/ has 2 rows',
                                             'exec/ may include engine: only ARCHITECTURE.md says so',
                                             'exec/ may include fields: only ARCHITECTURE.md says so',
                                             'exec/ may include policy: only ARCHITECTURE.md says so']),
    ('| base, fields, policy, sched | yes |', '| base, fields, policy | yes |', ['engine/ may include sched: only rooms.py says so']),
    ('| base, fields, policy, engine | – |', '| base, fields, policy, engine, daemon | – |', ['store/ may include daemon: only ARCHITECTURE.md says so']),
    ('| – | yes |', '| policy | yes |', ['base/ may include policy: only ARCHITECTURE.md says so']),
    ('`fairlead.h` |', '|', ['lib/ may include fairlead.h: only rooms.py says so']),
    ('| base, fields | yes |', '| base, fields | – |', ["policy/ is pure: '–' where rooms.py says 'yes'"]),
])
def test_finds_a_planted_offence(old, new, offence):
    page = csource.read('ARCHITECTURE.md')
    assert page.count(old) == 1, old
    assert offences(page.replace(old, new)) == offence
