"""The rooms that decide are pure: no clock, no input or output, no randomness, no globals.

The check reads the objects of the plain build, so no macro and no inline function can hide a call. Every undefined symbol of
a pure room is defined in a pure room or is in a list here, and no pure room has writable data.
"""
import functools
import pathlib
import re
import subprocess

import pytest

import csource
import rooms
from objects import BUILD

LIBM = ('acos asin atan atan2 cbrt ceil copysign cos exp exp2 expm1 fabs fdim floor fma fmax fmin fmod frexp hypot ilogb '
        'ldexp llrint llround log log10 log1p log2 logb lrint lround modf nearbyint nextafter pow remainder rint round '
        'scalbln scalbn sin sqrt tan tanh trunc').split()
STRINGS = ('memchr memcmp memcpy memmem memmove mempcpy memrchr memset stpcpy strchr strchrnul strcmp strcpy strcspn strlen '
           'strncmp strncpy strnlen strpbrk strrchr strspn strstr').split()

ALLOWED = {name + suffix for name in LIBM for suffix in ('', 'f', 'l')} | set(STRINGS)
# Calls that the compiler adds: checked copies, the stack guard, arithmetic wider than the machine's.
HELPERS = re.compile(r'__(%s)_chk|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_|__[a-z]+[dtsx][ifc][0-9]?' % '|'.join(STRINGS))
# The files with calls to the outside: abort, memory, and libc's exact conversion of doubles, where the file converts the
# locale's decimal point.
BY_FILE = {
    'base_ensure.c.o': {'write', 'abort'},
    'base_arena.c.o': {'malloc', 'realloc', 'free'},
    'base_number.c.o': {'strtod'},
    'base_number_format.c.o': {'strfromd'},
}

CLOCK = set('time clock clock_gettime clock_getres gettimeofday timespec_get ftime times localtime localtime_r mktime tzset '
            'getitimer timer_gettime nanosleep clock_nanosleep sleep usleep'.split())

WRITABLE = re.compile(r'\.(data|bss|tdata|tbss)(?!\.rel\.ro)|\*COM\*')


@functools.cache
def nm(*arguments):
    """Cached, because every case reads the same libraries."""
    return subprocess.run(['nm', *map(str, arguments)], check=True, capture_output=True, text=True).stdout.splitlines()


def defined(archives):
    lines = [line for archive in archives for line in nm('--defined-only', '-g', '-P', archive)]
    return {line.split()[0] for line in lines if line and not line.endswith(':')}


def undefined(archive):
    """Pairs of (object, symbol)."""
    for line in nm('-u', '-A', '-P', archive):
        match = re.match(r'.*\[([^\]]+)\]: (\S+) ', line)
        assert match, 'unexpected output of nm: ' + line
        yield match.group(1).rsplit('/', 1)[-1], match.group(2).split('@')[0]


def impure_calls(archive, known):
    return ['%s: %s calls %s' % (archive.name, where, symbol) for where, symbol in undefined(archive)
            if symbol not in known and symbol not in ALLOWED and not HELPERS.fullmatch(symbol)
            and symbol not in BY_FILE.get(where, ())]


def clock_calls(archive):
    return ['%s: %s calls %s' % (archive.name, where, symbol) for where, symbol in undefined(archive) if symbol in CLOCK]


def globals_of(archive):
    """Every named object in writable memory, static or not."""
    found = []
    where = archive.name
    for line in nm('-f', 'sysv', archive):
        if line.startswith('Symbols from '):
            where = re.sub(r'.*\[(.*)\]:$', r'\1', line).rsplit('/', 1)[-1]
        columns = [column.strip() for column in line.split('|')]
        if len(columns) == 7 and columns[3] != 'SECTION' and WRITABLE.match(columns[6]):
            found.append('%s: %s has the global %s' % (archive.name, where, columns[0]))
    return found


def library(room):
    archive = BUILD / 'src' / ('lib%s.a' % room)
    if not list(pathlib.Path('src', room).glob('*.c')):
        pytest.skip('src/%s has no source file' % room)
    assert archive.exists(), '%s is missing: build first' % archive
    return archive


def pure_libraries():
    return [path for path in (BUILD / 'src' / ('lib%s.a' % room) for room in rooms.PURE) if path.exists()]


@pytest.mark.parametrize('room', rooms.PURE)
def test_calls_only_what_is_pure(room):
    csource.assert_none(impure_calls(library(room), defined(pure_libraries())))


@pytest.mark.parametrize('room', rooms.TIMELESS)
def test_reads_no_clock(room):
    csource.assert_none(clock_calls(library(room)))


@pytest.mark.parametrize('room', rooms.PURE + rooms.TIMELESS)
def test_keeps_no_globals(room):
    csource.assert_none(globals_of(library(room)))


def plant(folder, source, name='planted'):
    """A library with one object, compiled with Fairlead's options."""
    (folder / (name + '.c')).write_text(source)
    flags = ['-O2', '-fPIC', '-fstack-protector-strong', '-D_FORTIFY_SOURCE=2', '-D_GNU_SOURCE']
    subprocess.run(['cc', *flags, '-c', name + '.c', '-o', name + '.c.o'], cwd=folder, check=True)
    archive = 'lib%s.a' % name
    subprocess.run(['ar', 'rcs', archive, name + '.c.o'], cwd=folder, check=True)
    return folder / archive


def cases(rows):
    return pytest.mark.parametrize('symbol, source', rows, ids=[symbol for symbol, _ in rows])


@cases([
    ('time', '#include <time.h>\nlong f(void) { return time(0); }'),
    ('clock_gettime', '#include <time.h>\nint f(struct timespec *t) { return clock_gettime(CLOCK_REALTIME, t); }'),
    ('rand', '#include <stdlib.h>\nint f(void) { return rand(); }'),
    ('getenv', '#include <stdlib.h>\nchar *f(void) { return getenv("HOME"); }'),
    ('malloc', '#include <stdlib.h>\nvoid *f(void) { return malloc(1); }'),
    ('write', '#include <unistd.h>\nlong f(void) { return write(1, "", 1); }'),
    ('strtod', '#include <stdlib.h>\ndouble f(const char *s) { return strtod(s, 0); }'),
    ('__snprintf_chk', '#include <stdio.h>\nint f(char *s, int n) { char b[9]; return snprintf(b, sizeof b, s, n) + b[0]; }'),
    ('__ctype_b_loc', '#include <ctype.h>\nint f(int c) { return isdigit(c) + isalpha(c); }'),
    ('__errno_location', '#include <errno.h>\nint f(void) { return errno; }'),
    ('qsort', '#include <stdlib.h>\nvoid f(void *p, int (*c)(const void *, const void *)) { qsort(p, 2, 1, c); }'),
    ('lgamma', '#include <math.h>\ndouble f(double x) { return lgamma(x); }'),
])
def test_finds_a_planted_call(tmp_path, symbol, source):
    archive = plant(tmp_path, source)
    assert impure_calls(archive, defined(pure_libraries() + [archive])) \
        == ['libplanted.a: planted.c.o calls %s' % symbol]


def test_exceptions_are_by_file(tmp_path):
    source = '#include <stdlib.h>\nvoid *f(void *p) { return realloc(p, 1); }'
    assert impure_calls(plant(tmp_path, source, 'base_arena'), set()) == []
    assert impure_calls(plant(tmp_path, source, 'policy_arena'), set()) != []


def test_lets_arithmetic_and_strings_pass(tmp_path):
    source = '''#include <math.h>
        #include <string.h>
        unsigned __int128 divide(unsigned __int128 a, unsigned __int128 b) { return a / b; }
        __int128 round_128(double x) { return (__int128)x; }
        double f(double x, char *to, const char *from) { return exp2(x) + (double)fmodl(x, 3) + (double)strlen(strcpy(to, from)); }
        int g(const char *s, int at) { char b[64]; strcpy(b, s); return b[at]; }
        '''
    assert impure_calls(plant(tmp_path, source), set()) == []


@cases([
    ('time', '#include <time.h>\nlong f(void) { return time(0); }'),
    ('localtime_r', '#include <time.h>\nvoid *f(time_t *t, struct tm *b) { return localtime_r(t, b); }'),
])
def test_finds_a_planted_clock(tmp_path, symbol, source):
    assert clock_calls(plant(tmp_path, source)) == ['libplanted.a: planted.c.o calls %s' % symbol]


@cases([
    ('count', 'int count = 1;'),
    ('count', 'int count;'),
    ('table', 'const char *table[] = {"a", "b"};'),
    ('count', '__thread int count;'),
    ('count', 'static int count;\nint f(void) { return ++count; }'),
    ('count', 'int f(void) { static int count; return ++count; }'),
])
def test_finds_a_planted_global(tmp_path, symbol, source):
    found = globals_of(plant(tmp_path, source))
    assert len(found) == 1
    assert re.fullmatch(r'libplanted\.a: planted\.c\.o has the global %s(\.\d+)?' % symbol, found[0])


def test_lets_constants_pass(tmp_path):
    source = 'const char *const table[] = {"a", "b"};\nstatic const int numbers[] = {1, 2};\nint f(int i) { return numbers[i]; }'
    assert globals_of(plant(tmp_path, source)) == []


def test_nm_shows_calls():
    """If nm showed nothing, every check above would pass. The arena calls realloc."""
    assert ('base_arena.c.o', 'realloc') in set(undefined(library('base')))
