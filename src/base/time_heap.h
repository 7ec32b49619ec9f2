/* Ids in the order of their times, the earliest first. */
#ifndef FAIRLEAD_BASE_TIME_HEAP_H
#define FAIRLEAD_BASE_TIME_HEAP_H

#include <stdint.h>

#include "base/array.h"

struct time_entry {
    int64_t at_us;
    uint64_t id;
};

/* A binary heap; all zero is empty. The earliest entry is list.items[0]. */
struct time_heap {
    ARRAY(struct time_entry) list;
};

/* Adds an entry. O(log n). */
void time_heap_push(struct time_heap *h, int64_t at_us, uint64_t id);

/* The earliest entry, removed. The heap is not empty. O(log n). */
struct time_entry time_heap_pop(struct time_heap *h);

#endif
