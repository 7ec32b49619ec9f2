"""The rooms of ARCHITECTURE.md, as data: what a file in each folder of src/ may include."""

# A room may include itself, the rooms named here, and single headers named here.
ROOMS = {
    'base': [],
    'policy': ['base'],
    'sched': ['base', 'policy'],
    'engine': ['base', 'policy', 'sched'],
    'formats': ['base'],
    'store': ['base', 'engine'],
    'exec': ['base'],
    'api': ['base'],
    'api/server': ['base', 'policy', 'engine', 'api'],
    'api/client': ['base', 'api'],
    'daemon': ['base', 'policy', 'sched', 'engine', 'formats', 'store', 'exec', 'api', 'api/server', 'api/client'],
    'sim': ['base', 'policy', 'sched', 'engine', 'formats', 'exec/executor.h', 'exec/pretend.h'],
    'cli': ['base', 'policy', 'formats', 'api', 'api/client', 'sim'],
    'lib': ['base', 'policy', 'fairlead.h'],
}

# Libraries that are not libc, and who may know them.
LIBRARIES = {
    'jansson.h': ['api', 'api/server', 'api/client', 'cli', 'sim'],
    'microhttpd.h': ['api/server', 'daemon'],
    'sqlite3.h': ['store'],
    'uv.h': ['daemon'],
}

# What decides: no clock, no input or output, no randomness, no globals, no memory but from base/arena.c.
PURE = ['base', 'policy', 'sched', 'engine']
# No clock, no globals.
TIMELESS = ['formats', 'sim']


def room_of(path):
    """The room of a path below src/: the longest that fits, or None."""
    inside = [room for room in ROOMS if path.startswith(room + '/')]
    return max(inside, key=len, default=None)
