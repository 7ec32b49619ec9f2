/* Binary search of rows that ascend by a number. */
#ifndef FAIRLEAD_BASE_SEARCH_H
#define FAIRLEAD_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/* The index of the first of count rows whose key is value or more; count if there is none. keys: the key of the first
 * row. size: of a row, in bytes. O(log count) */
static inline uint32_t search_from(const uint32_t *keys, size_t size, uint32_t count, uint32_t value)
{
    uint32_t first = 0, last = count;
    while (first < last) {
        uint32_t middle = first + (last - first) / 2;
        if (*(const uint32_t *)(const void *)((const char *)keys + middle * size) < value)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

#endif
