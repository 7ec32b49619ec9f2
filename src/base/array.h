/* Growing arrays, typed by macro and addressed by index. All zero is an empty array; new items are zeroed.
 *
 *     ARRAY(struct job) jobs = {0};
 *     *array_add(&jobs) = (struct job){.id = 1};
 *     for (uint32_t i = 0; i < jobs.count; i++) use(&jobs.items[i]);
 *     array_release(&jobs);
 *
 * A pointer into an array is good until the next array_add; keep indices instead. */
#ifndef FAIRLEAD_BASE_ARRAY_H
#define FAIRLEAD_BASE_ARRAY_H

#include <stdint.h>

#include "base/arena.h"

/* "No index": what a uint32_t index holds when it points at nothing. */
#define NONE UINT32_MAX

#define ARRAY(type)               \
    struct {                      \
        type *items;              \
        uint32_t count, capacity; \
    }

/* Room for at least wanted items in all. Amortised doubling. */
#define array_reserve(a, wanted) \
    ((a)->items = array_grow((a)->items, sizeof *(a)->items, (a)->count, &(a)->capacity, (wanted)))

/* One more item, zeroed; its address. */
#define array_add(a) (array_reserve((a), (a)->count + 1u), &(a)->items[(a)->count++])

/* Empties without giving memory back: what is used next is not zeroed again by the system, so array_grow does it. */
#define array_clear(a) ((void)((a)->count = 0))
#define array_release(a) (mem_free((a)->items), (a)->items = NULL, (a)->count = 0, (a)->capacity = 0)

/* items with room for wanted; the item at count is zeroed. Behind the macros. */
void *array_grow(void *items, size_t item_size, uint32_t count, uint32_t *capacity, uint32_t wanted);

#endif
