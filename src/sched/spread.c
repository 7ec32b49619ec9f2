#include "sched/spread.h"

#include <string.h>

#include "base/array.h"
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

/* What the best hosts offer, in the order of sort_rows. */
struct sums {
    const struct demand *d;
    uint32_t max, hosts; /* slots and hosts of the job at most */
    uint64_t *of;        /* of[k]: of the k best ones */
    uint32_t *position;  /* by row, in that order */
};

/* A host that has to be among the job's, with what it offers as such. */
struct needed_host {
    uint32_t row; /* NONE: there is no such host */
    uint64_t offered;
};

static struct sums make_sums(const struct host_table *t, const struct demand *d, uint32_t max, struct arena *arena)
{
    const uint32_t *sorted = sort_rows(t, false, arena);
    struct sums s = {.d = d, .max = max, .hosts = t->count < d->host_max ? t->count : d->host_max};
    s.of = arena_alloc(arena, (t->count + (size_t)1) * sizeof *s.of);
    s.position = arena_alloc(arena, (t->count + (size_t)1) * sizeof *s.position);
    for (uint32_t i = 0; i < t->count; i++) {
        s.of[i + 1] = s.of[i] + counted(d, &t->rows[sorted[i]]);
        s.position[sorted[i]] = i;
    }
    return s;
}

/* The slots of the best hosts with the needed one. hosts: at least 1 then. */
static uint64_t sum_of(const struct sums *s, uint32_t hosts, struct needed_host needed)
{
    if (needed.row == NONE) return s->of[hosts];
    uint32_t at = s->position[needed.row];
    uint64_t others = at < hosts - 1 ? s->of[hosts] - (s->of[at + 1] - s->of[at]) : s->of[hosts - 1];
    return needed.offered + others;
}

/* The largest number of slots, on as few hosts as they need. */
static struct spread find_spread(const struct sums *s, struct needed_host needed)
{
    uint32_t step = s->d->slots_per_host > 0 ? s->d->slots_per_host : 1, low = s->d->host_min, high = s->hosts;
    if (high < low || high == 0) return (struct spread){0};
    uint64_t sum = sum_of(s, high, needed);
    uint32_t slots = demand_largest_slots(s->d, sum < s->max ? (uint32_t)sum : s->max, step);
    if (slots == 0 || slots < s->d->host_min * step) return (struct spread){0};
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (middle > 0 && sum_of(s, middle, needed) >= slots)
            high = middle;
        else
            low = middle + 1;
    }
    return (struct spread){slots, low};
}

struct spread spread_over(const struct host_table *t, const struct demand *d, uint32_t max, struct arena *arena)
{
    const struct sums sums = make_sums(t, d, max, arena);
    return find_spread(&sums, (struct needed_host){.row = NONE});
}

struct spread spread_from(const struct host_table *t, const uint32_t *offered, const struct demand *d, uint32_t max,
                          struct arena *arena, uint32_t *out_first)
{
    const struct sums sums = make_sums(t, d, max, arena);
    struct spread best = {0};
    for (uint32_t i = 0; i < t->count; i++) {
        if (offered[i] == 0) continue;
        const struct host_slots row = {.offered = offered[i]};
        const struct spread spread = find_spread(&sums, (struct needed_host){i, counted(d, &row)});
        if (spread.slots < best.slots || (spread.slots == best.slots && spread.hosts >= best.hosts)) continue;
        best = spread;
        *out_first = i;
    }
    return best;
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
        uint32_t max = left - --hosts_left;
        row->given = d->slots_per_host > 0 ? d->slots_per_host : row->offered < max ? row->offered : max;
        left -= row->given;
        if (d->is_whole) row->given = row->offered;
    }
    ensure(left == 0 && hosts_left == 0);
}
