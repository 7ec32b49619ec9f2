/* The last bytes of a stream. Each reader has a position of its own, a count of bytes since the beginning. */
#ifndef FAIRLEAD_TERMINAL_RING_H
#define FAIRLEAD_TERMINAL_RING_H

#include "base/str.h"

enum { RING_SIZE = 65536 };

struct ring {
    uint64_t end; /* bytes that were added so far */
    char bytes[RING_SIZE];
};

/* The position of the oldest byte that is still there. */
uint64_t ring_begin(const struct ring *r);

/* Where to put more bytes, at most *out_size. What is added replaces the oldest ones; but none at or behind `keep`, a
 * position that a reader still needs. *out_size 0: no room. */
char *ring_room(struct ring *r, uint64_t keep, size_t *out_size);
void ring_added(struct ring *r, size_t size);

/* The bytes from a position on that lie together, at most max. The position is between ring_begin and end. */
struct str ring_at(const struct ring *r, uint64_t position, size_t max);

#endif
