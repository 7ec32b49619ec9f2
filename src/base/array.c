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
