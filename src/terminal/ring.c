#include "terminal/ring.h"

#include "base/ensure.h"

uint64_t ring_begin(const struct ring *r)
{
    return r->end > RING_SIZE ? r->end - RING_SIZE : 0;
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

char *ring_room(struct ring *r, uint64_t keep, size_t *out_size)
{
    ensure(keep <= r->end && keep >= ring_begin(r));
    size_t offset = r->end % RING_SIZE;
    *out_size = min_size(RING_SIZE - offset, RING_SIZE - (size_t)(r->end - keep));
    return r->bytes + offset;
}

void ring_added(struct ring *r, size_t size)
{
    r->end += size;
}

struct str ring_at(const struct ring *r, uint64_t position, size_t max)
{
    ensure(position <= r->end && position >= ring_begin(r));
    size_t offset = position % RING_SIZE;
    size_t length = min_size(min_size((size_t)(r->end - position), RING_SIZE - offset), max);
    return (struct str){r->bytes + offset, length};
}
