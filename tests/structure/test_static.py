"""The command starts without a dynamic linker, which takes a quarter of the CPU time of a submission, and calls nothing for
which glibc would load a library at run time."""
import json
import subprocess

import objects
import pytest

# glibc loads libraries for what these look up (nss(5)) or convert. A program that is linked statically finds them only if they are of
# the very version that it was linked with.
LOADERS = ('getpw', 'getgr', 'getsp', 'getgrouplist', 'initgroups', 'gethost', 'getnet', 'getserv', 'getproto', 'getaddrinfo', 'getnameinfo',
           'dlopen', 'iconv')
ROOMS = ('base', 'fields', 'policy', 'sched', 'engine', 'options', 'formats', 'wire', 'sim', 'pretend', 'cli')


def is_linked_in(source):
    room = source.split('/')[1]
    return room in ROOMS or (room == 'api' and '/server/' not in source)


def options():
    return {o['name']: o['value'] for o in json.loads((objects.BUILD / 'meson-info/intro-buildoptions.json').read_text(encoding='utf-8'))}


def has_archives():
    done = subprocess.run(['cc', '-static', '-no-pie', '-x', 'c', '-', '-o', '/dev/null', '-ljansson', '-lncursesw',
                           '-ltinfo', '-lm'],
                          input='#include <curses.h>\n#include <jansson.h>\nint main(void) { return json_object() == 0 || endwin(); }\n', capture_output=True, text=True)
    return done.returncode == 0


def test_command_is_static():
    if options()['b_sanitize'] != 'none' or options()['static_command'] == 'disabled':
        pytest.skip('this build links the command dynamically')
    if not has_archives():
        pytest.skip('libc.a, libm.a, libjansson.a, libncursesw.a or libtinfo.a is not installed')
    headers = subprocess.run(['readelf', '-W', '-l', objects.BUILD / 'fairlead'], check=True, capture_output=True, text=True).stdout
    assert 'INTERP' not in headers and 'file type is EXEC' in headers, headers


def test_other_programs_are_hardened():
    for program in ('fairleadd', 'fairlead-launcher'):
        text = subprocess.run(['readelf', '-W', '-l', '-d', objects.BUILD / program], check=True, capture_output=True, text=True).stdout
        assert 'INTERP' in text and 'GNU_RELRO' in text and 'NOW PIE' in text, '%s: %s' % (program, text)


def test_command_calls_no_loader():
    called = {'%s: %s' % (source, name) for source, (_, imported) in objects.symbols().items() if is_linked_in(source)
              for name in imported if name.startswith(LOADERS)}
    assert not called, 'a statically linked program cannot rely on: %s' % sorted(called)
