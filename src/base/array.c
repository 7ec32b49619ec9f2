/* Growing the arrays of base/array.h: the part that need not be a macro. Capacity doubles, so n additions move fewer
 * than 2n items. */
#include "base/array.h"

#include <string.h>

#include "base/ensure.h"

void *array_grow(void *items, size_t item_size, uint32_t count, uint32_t *capacity, uint32_t wanted)
{
    ensure(wanted < NONE);
    if (wanted > *capacity) {
        uint32_t larger = *capacity < 8 ? 8 : *capacity < UINT32_MAX / 2 ? *capacity * 2 : NONE - 1;
        if (larger < wanted) larger = wanted;
        items = mem_resize_raw(items, item_size * larger);
        *capacity = larger;
    }
    if (wanted > count) memset((char *)items + item_size * count, 0, item_size * (wanted - count));
    return items;
}

enum { FIRST_CAPACITY_IN = 16 };

void *array_grow_in(struct arena *arena, void *items, size_t item_size, uint32_t count, uint32_t *capacity)
{
    ensure(count < NONE / 2);
    if (count == *capacity) {
        uint32_t larger = count == 0 ? FIRST_CAPACITY_IN : 2 * count;
        void *moved = arena_alloc_raw(arena, item_size * larger);
        if (count > 0) memcpy(moved, items, item_size * count);
        items = moved;
        *capacity = larger;
    }
    memset((char *)items + item_size * count, 0, item_size);
    return items;
}

/* The capacities are 16, 32 and so on: the last one is below twice the count, and so is the sum of those before it. */
size_t array_memory_in(uint32_t count, size_t item_size)
{
    size_t bytes = 0, capacity = FIRST_CAPACITY_IN;
    if (count == 0) return 0;
    for (;; capacity *= 2) {
        bytes += arena_size(capacity, item_size);
        if (capacity >= count) return bytes;
    }
}
