"""docs/limits.md has the value of each constant that limits what is accepted, and misses none."""
import pathlib
import re

import csource

PAGE = pathlib.Path('docs/limits.md')
ROW = re.compile(r'^\| (?P<limit>[^|]+) \| (?P<value>[^|]+) \| [^|]+ \| `(?P<path>[\w/.]+)` `(?P<name>[A-Z0-9_]+)` \|$',
                 re.MULTILINE)
UNITS = {'KiB': 1 << 10, 'MiB': 1 << 20, 'GiB': 1 << 30}
EXPRESSION = re.compile(r'[\d\s()*+<-]+')

# Rooms whose constants limit input, and constants there that do not: widths of output, sizes of tables in the code, ranges
# that help and error messages print, and what an earlier limit keeps from being reached.
ROOMS = ('src/api/', 'src/wire/', 'src/fields/', 'src/pretend/')
OTHERS = {
    'ACCEPTED_MAX', 'DEFAULT_NAME_BYTES_MAX', 'DIGITS_MAX', 'EXPLAINED_MAX', 'HTTP_HEAD_MAX', 'HTTP_LINE_MAX',
    'JOBS_NAMED_MAX', 'SCHEMAS_MAX', 'WIRE_COLUMNS_MAX', 'OBJECT_FIELDS_MAX', 'OBJECT_RECORD_MAX', 'ARRAY_BYTES_MAX',
    'POSIX_PRIORITY_MAX', 'JOB_FACTOR_MAX', 'NICE_MAX', 'YEAR_MAX', 'REQUEST_GPUS_MAX', 'SLOTS_PER_HOST_MAX', 'WORDS_MAX',
    'EXIT_STATUS_MAX', 'DEPENDENCY_MINUTES_MAX', 'RESOURCE_NAME_BYTES_MAX', 'DURATION_OFFSET_MAX_S',
}


def constants(text):
    """Of the enumerators with values in a source: name -> expression."""
    return {name: value.strip() for body in re.findall(r'\benum\b[\w\s]*\{(.*?)\}', csource.blanked(text), re.DOTALL)
            for name, value in re.findall(r'\b([A-Z][A-Z0-9_]*)\s*=\s*([^,}]+)', body)}


def value_of(expression):
    assert EXPRESSION.fullmatch(expression), expression
    return eval(expression)  # digits and operators only


def shown(value):
    """The number at the beginning of "64 MiB" or "60 s"."""
    found = re.match(r'(\d+)(?: (KiB|MiB|GiB))?', value)
    assert found, value
    return int(found.group(1)) * UNITS.get(found.group(2), 1)


def differences(page, tree):
    found = []
    for row in ROW.finditer(page):
        expression = constants(tree.get(row['path'], '')).get(row['name'])
        if expression is None:
            found.append('%s has no %s' % (row['path'], row['name']))
        elif value_of(expression) != shown(row['value']):
            found.append('%s is %s, not %s' % (row['name'], expression, row['value']))
    return found


def missing(page, tree):
    named = {row['name'] for row in ROW.finditer(page)}
    return sorted('%s %s' % (path, name) for path, text in tree.items() if path.startswith(ROOMS)
                  for name in constants(text)
                  if re.search(r'_MAX(_S)?$', name) and name not in named and name not in OTHERS)


def test_every_value_is_that_of_the_code():
    page = csource.read(PAGE)
    assert len(ROW.findall(page)) >= 40
    assert differences(page, csource.tree('src')) == []


def test_no_limit_is_missing():
    assert missing(csource.read(PAGE), csource.tree('src')) == []


def test_finds_a_wrong_value_a_wrong_name_and_a_missing_row():
    page, tree = csource.read(PAGE), csource.tree('src')
    assert differences(page.replace('| 1048576 |', '| 1048577 |'), tree) == ['WIRE_VALUES_MAX is 1 << 20, not 1048577']
    assert differences(page.replace('`STREAMS_MAX`', '`NO_SUCH_MAX`'), tree) == ['src/api/server/internal.h has no NO_SUCH_MAX']
    assert missing(page.replace('`STREAMS_MAX`', '`NO_SUCH_MAX`'), tree) == ['src/api/server/internal.h STREAMS_MAX']
