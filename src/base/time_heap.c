#include "base/time_heap.h"

#include "base/ensure.h"

void time_heap_push(struct time_heap *h, int64_t at_us, uint64_t id)
{
    uint32_t at = h->list.count;
    (void)array_add(&h->list);
    struct time_entry *items = h->list.items;
    for (; at > 0 && at_us < items[(at - 1) / 2].at_us; at = (at - 1) / 2) items[at] = items[(at - 1) / 2];
    items[at] = (struct time_entry){at_us, id};
}

struct time_entry time_heap_pop(struct time_heap *h)
{
    ensure(h->list.count > 0);
    struct time_entry *items = h->list.items;
    const struct time_entry first = items[0], last = items[--h->list.count];
    uint32_t at = 0, count = h->list.count;
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && items[child + 1].at_us < items[child].at_us) child++;
        if (last.at_us <= items[child].at_us) break;
        items[at] = items[child];
    }
    if (count > 0) items[at] = last;
    return first;
}
