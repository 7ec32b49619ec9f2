#include "sched/spread.h"

#include <string.h>

#include "base/ensure.h"
#include "base/sort.h"

/* Rows by what they offer, most first, equal ones in their order; a row that is needed comes first. */
static uint32_t *sort_rows(const struct host_table *t, bool needs_first, struct arena *arena)
{
    size_t size = (t->count + (size_t)1) * sizeof(struct sort_record);
    struct sort_record *records = arena_alloc_raw(arena, size), *scratch = arena_alloc_raw(arena, size);
    uint32_t *sorted = arena_alloc_raw(arena, (t->count + (size_t)1) * sizeof *sorted);
    for (uint32_t i = 0; i < t->count; i++) {
        bool is_needed = needs_first && i == 0;
        records[i] = (struct sort_record){.key = is_needed ? 0 : UINT32_MAX - t->rows[i].offered, .index = i};
    }
    sort_records(records, t->count, scratch);
    for (uint32_t i = 0; i < t->count; i++) sorted[i] = records[i].index;
    return sorted;
}

static uint32_t counted(const struct demand *d, const struct host_slots *row)
{
    return d->slots_per_host > 0 ? d->slots_per_host : row->offered;
}

struct spread spread_over(const struct host_table *t, const struct demand *d, uint32_t max, bool needs_first,
                          struct arena *arena)
{
    struct spread result = {0};
    uint32_t step = d->slots_per_host > 0 ? d->slots_per_host : 1;
    uint32_t hosts = t->count < d->host_max ? t->count : d->host_max;
    uint64_t sum = 0;
    if (hosts < d->host_min) return result;
    const uint32_t *sorted = sort_rows(t, needs_first, arena);
    for (uint32_t i = 0; i < hosts; i++) sum += counted(d, &t->rows[sorted[i]]);
    result.slots = demand_largest_slots(d, sum < max ? (uint32_t)sum : max, step);
    if (result.slots < d->host_min * step) return (struct spread){0};
    sum = 0;
    for (uint32_t i = 0; i < d->host_min || sum < result.slots; i++) {
        sum += counted(d, &t->rows[sorted[i]]);
        result.hosts = i + 1;
    }
    return result;
}

/* The first set of hosts that offers enough. It begins as the hosts that offer most. In their order, each other one
 * takes the place of the one that offers least among those after it, as long as the rest is enough. */
static bool *choose(const struct host_table *t, const struct demand *d, struct spread spread, bool needs_first,
                    struct arena *arena)
{
    const uint32_t *sorted = sort_rows(t, needs_first, arena);
    bool *is_chosen = arena_alloc(arena, t->count + (size_t)1);
    uint32_t last = spread.hosts; /* of sorted: those from here on are decided */
    uint64_t sum = 0;
    for (uint32_t i = 0; i < spread.hosts; i++) {
        is_chosen[sorted[i]] = true;
        sum += counted(d, &t->rows[sorted[i]]);
    }
    for (uint32_t i = 0; i < t->count && last > 0; i++) {
        while (last > 0 && (sorted[last - 1] < i || (needs_first && last == 1))) last--;
        if (is_chosen[i] || last == 0) continue;
        uint64_t left = sum - counted(d, &t->rows[sorted[last - 1]]) + counted(d, &t->rows[i]);
        if (left < spread.slots) continue;
        sum = left;
        is_chosen[sorted[--last]] = false;
        is_chosen[i] = true;
    }
    return is_chosen;
}

void spread_give(struct host_table *t, const struct demand *d, struct spread spread, bool needs_first,
                 struct arena *arena)
{
    const bool *is_chosen = choose(t, d, spread, needs_first, arena);
    uint32_t left = spread.slots, hosts_left = spread.hosts;
    for (uint32_t i = 0; i < t->count; i++) {
        struct host_slots *row = &t->rows[i];
        row->given = 0;
        if (!is_chosen[i]) continue;
        uint32_t most = left - --hosts_left;
        row->given = d->slots_per_host > 0 ? d->slots_per_host : row->offered < most ? row->offered : most;
        left -= row->given;
    }
    ensure(left == 0 && hosts_left == 0);
}
