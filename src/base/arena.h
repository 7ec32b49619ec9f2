/* Memory. Three lifetimes: the process, the state, one cycle (a request, a scheduling pass). What lives as long as its
 * cycle comes from an arena and goes with it in one call; what grows comes from mem_resize (see base/array.h). This is
 * the only file that calls malloc, realloc and free, and the only place where running out of memory is met: it aborts.
 *
 *     struct arena cycle = {0};
 *     char *name = arena_copy(&cycle, str("abc"));
 *     ...
 *     arena_release(&cycle);
 */
#ifndef FAIRLEAD_BASE_ARENA_H
#define FAIRLEAD_BASE_ARENA_H

#include <stddef.h>

#include "base/str.h"

struct arena_block;

/* All zero is an empty arena. */
struct arena {
    struct arena_block *blocks; /* newest first */
    char *next, *end;           /* what is free of the newest block */
    size_t bytes;               /* taken from the system, for reports */
};

/* size bytes, zeroed, aligned for any type; never NULL. They live until the arena is cleared or released. */
void *arena_alloc(struct arena *a, size_t size) __attribute__((malloc, returns_nonnull, alloc_size(2)));

/* The same, with anything in it: for large arrays of which every entry that is read was written before. */
void *arena_alloc_raw(struct arena *a, size_t size) __attribute__((malloc, returns_nonnull, alloc_size(2)));

/* A copy of the view's bytes with a closing zero byte. */
char *arena_copy(struct arena *a, struct str s) __attribute__((returns_nonnull));

/* Forgets what was allocated, keeps one block for the next cycle. */
void arena_clear(struct arena *a);

/* Gives everything back; the arena is empty and usable again. */
void arena_release(struct arena *a);

/* size bytes that hold what old held (its first old_size bytes); new bytes are zero. old may be NULL; size 0 frees and
 * returns NULL. */
void *mem_resize(void *old, size_t old_size, size_t size);
void mem_free(void *memory);

#endif
