/* Memory. There are three lifetimes: the process, the state, and one cycle (a request or a scheduling pass). Memory
 * that lives as long as its cycle comes from an arena and is freed with it in one call. Memory that grows comes from
 * mem_resize (see base/array.h). This is the only file that calls malloc, realloc and free, and the only one that
 * handles running out of memory: it aborts. A caller that must not abort, the installed library, asks for the memory
 * ahead with arena_reserve and mem_try_resize, which say whether there is any.
 *
 *     struct arena cycle = {0};
 *     char *name = arena_copy(&cycle, str("abc"));
 *     ...
 *     arena_release(&cycle);
 */
#ifndef FAIRLEAD_BASE_ARENA_H
#define FAIRLEAD_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct arena_block;

/* All zero is an empty arena. */
struct arena {
    struct arena_block *blocks; /* newest first */
    char *next, *end;           /* the free part of the newest block */
    size_t bytes;               /* taken from the system, for reports */
};

/* size bytes, zeroed, aligned for any type; never NULL. They live until the arena is cleared or released. */
void *arena_alloc(struct arena *a, size_t size) __attribute__((malloc, returns_nonnull, alloc_size(2)));

/* The same without zeroing: for large arrays whose entries are all written before they are read. */
void *arena_alloc_raw(struct arena *a, size_t size) __attribute__((malloc, returns_nonnull, alloc_size(2)));

/* A copy of the view's bytes, followed by a zero byte. */
char *arena_copy(struct arena *a, struct str s) __attribute__((returns_nonnull));

/* Takes memory from the system, so that the next allocations take none, as long as they are of at most bytes in all.
 * Each allocation counts as its size rounded up by arena_size. False: there is no memory. arena_clear keeps it. */
bool arena_reserve(struct arena *a, size_t bytes);

/* What an allocation of count items takes of a block. */
size_t arena_size(size_t count, size_t item_size);

/* Frees everything that was allocated, but keeps one block for the next cycle. */
void arena_clear(struct arena *a);

/* Gives all memory back to the system. The arena is empty and usable again. */
void arena_release(struct arena *a);

/* Resizes old to size bytes and returns its new address. The first old_size bytes are kept; new bytes are zero. old may
 * be NULL. Size 0 frees old and returns NULL. */
void *mem_resize(void *old, size_t old_size, size_t size);
void mem_free(void *memory);

/* The same without zeroing: new bytes that are not written take no memory of the machine. */
void *mem_resize_raw(void *old, size_t size);

/* The same, but without memory it returns NULL, and old stays as it is. size is above 0. */
void *mem_try_resize(void *old, size_t size);

#endif
