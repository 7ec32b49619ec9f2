"""The rooms of ARCHITECTURE.md as data: the rooms and headers that a file in each folder of src/ may include."""

# A room may include itself, the rooms named here, and single headers named here.
ROOMS = {
    'base': [],
    'fields': ['base'],
    'policy': ['base', 'fields'],
    'sched': ['base'],
    'engine': ['base', 'fields', 'policy', 'sched'],
    'formats': ['base'],
    'site': ['base', 'fields', 'policy', 'formats'],
    'store': ['base', 'fields', 'policy', 'engine'],
    'terminal': ['base'],
    'exec': ['base'],
    'exec/launcher': ['base', 'exec', 'options', 'terminal'],
    'wire': ['base', 'fields'],
    'api': ['base', 'fields', 'wire'],
    'api/server': ['base', 'fields', 'policy', 'engine', 'wire', 'api'],
    'api/client': ['base', 'api'],
    'options': ['base', 'fields'],
    'pretend': ['base', 'fields', 'wire'],
    'daemon': ['base', 'fields', 'sched', 'engine', 'store', 'exec', 'pretend', 'api/server', 'options'],
    'sim': ['base', 'fields', 'policy', 'engine', 'wire'],
    'cli': ['base', 'fields', 'policy', 'formats', 'site', 'wire', 'api', 'api/client', 'options', 'sim', 'pretend', 'terminal'],
    'lib': ['base', 'fields', 'policy', 'fairlead.h'],
}

# Libraries other than libc, and the rooms that may include them.
LIBRARIES = {
    'curses.h': ['cli'],
    'jansson.h': ['wire', 'api/server', 'api/client', 'sim', 'pretend'],
    'microhttpd.h': ['api/server', 'daemon'],
    'sqlite3.h': ['store'],
    'uv.h': ['daemon'],
}

# Rooms that decide: no clock, no input or output, no randomness, no globals, and memory only from base/arena.c.
PURE = ['base', 'fields', 'policy', 'sched', 'engine', 'lib']
# No clock, no globals.
TIMELESS = ['formats', 'site', 'wire', 'sim', 'pretend']


def room_of(path):
    """The room of a path below src/: the longest that fits, or None."""
    inside = [room for room in ROOMS if path.startswith(room + '/')]
    return max(inside, key=len, default=None)
