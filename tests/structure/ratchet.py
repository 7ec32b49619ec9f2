"""Lists of the offences that are still there while they are being corrected. Nothing may be added to a list, and what
was corrected must leave it, so that it only ever gets shorter; in the end it is empty and can be deleted.

With FAIRLEAD_SHRINK=1 a test takes out of its list what was corrected. Where the list counts by file, it also writes the
new names of files, as long as there are no more offences in all than before.
"""
import os
import pathlib

HINT = "FAIRLEAD_SHRINK=1 tools/run-tests --plain structure"


def shrinks():
    return os.environ.get('FAIRLEAD_SHRINK') == '1'


def read(path):
    """The comment at its head, and the other lines."""
    lines = path.read_text(encoding='utf-8').splitlines() if path.exists() else []
    return [line for line in lines if line.startswith('#')], [line for line in lines if not line.startswith('#')]


def write(path, head, lines):
    pathlib.Path(path).write_text(''.join(line + '\n' for line in head + lines), encoding='utf-8')


def new_names(found, path):
    """found: name -> what to say of it. What is wrong: a name that is not in the list, or one in the list that is not
    found."""
    head, allowed = read(path)
    stale = set(allowed) - set(found)
    if stale and shrinks():
        write(path, head, [name for name in allowed if name not in stale])
        stale = set()
    return [say for name, say in sorted(found.items()) if name not in allowed] \
        + ["%s: no offence any more: delete '%s', or run '%s'" % (path, name, HINT) for name in sorted(stale)]


def new_counts(found, path):
    """found: file -> what to say of each of its offences. What is wrong: a file with more than its line "COUNT FILE"
    allows, or with fewer."""
    head, lines = read(path)
    allowed = {file: int(count) for count, file in (line.split(' ', 1) for line in lines)}
    counts = {file: len(offences) for file, offences in found.items() if offences}
    if shrinks() and counts != allowed and sum(counts.values()) <= sum(allowed.values()):
        write(path, head, ['%d %s' % (count, file) for file, count in sorted(counts.items())])
        return []
    wrong = []
    for file in sorted(counts.keys() | allowed.keys()):
        count, limit = counts.get(file, 0), allowed.get(file, 0)
        if count > limit:
            wrong += ['%s: %d found, %d allowed:' % (file, count, limit), *found[file]]
        elif count < limit:
            wrong.append("%s: %s has only %d of %d offences: change its line, or run '%s'" %
                         (path, file, count, limit, HINT))
    return wrong
