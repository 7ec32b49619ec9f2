/* Growing arrays, typed by macro and addressed by index. All zero is an empty array; new items are zeroed.
 *
 *     ARRAY(struct job) jobs = {0};
 *     *array_add(&jobs) = (struct job){.id = 1};
 *     for (uint32_t i = 0; i < jobs.count; i++) use(&jobs.items[i]);
 *     array_release(&jobs);
 *
 * array_add may move the items, so a pointer into an array is valid only until the next call: keep indices instead. */
#ifndef FAIRLEAD_BASE_ARRAY_H
#define FAIRLEAD_BASE_ARRAY_H

#include <stdint.h>

#include "base/arena.h"

/* "No index": the value of a uint32_t index that points at nothing. */
#define NONE UINT32_MAX

#define ARRAY(type)               \
    struct {                      \
        type *items;              \
        uint32_t count, capacity; \
    }

/* Makes room for at least wanted items in all. Capacity doubles, so adding is O(1) amortised. */
#define array_reserve(a, wanted) \
    ((a)->items = array_grow((a)->items, sizeof *(a)->items, (a)->count, &(a)->capacity, (wanted)))

/* Appends a zeroed item and returns its address. */
#define array_add(a) (array_reserve((a), (a)->count + 1u), &(a)->items[(a)->count++])

/* The same in memory of an arena, which is not given back when the array grows or is no longer used. */
#define array_add_in(a, arena)                                                                        \
    ((a)->items = array_grow_in((arena), (a)->items, sizeof *(a)->items, (a)->count, &(a)->capacity), \
     &(a)->items[(a)->count++])

/* The most memory that array_add_in takes for count items. */
size_t array_memory_in(uint32_t count, size_t item_size);

/* Empties the array. array_clear keeps its memory, and array_grow zeroes the items that are added to it later. */
#define array_clear(a) ((void)((a)->count = 0))
#define array_release(a) (mem_free((a)->items), (a)->items = NULL, (a)->count = 0, (a)->capacity = 0)

/* The function behind the macros. Returns items, perhaps moved, with room for wanted of them. The items from count to
 * wanted are zeroed. */
void *array_grow(void *items, size_t item_size, uint32_t count, uint32_t *capacity, uint32_t wanted);

/* Likewise, with room for one more item. */
void *array_grow_in(struct arena *arena, void *items, size_t item_size, uint32_t count, uint32_t *capacity);

#endif
