#include "sched/host_limit.h"

#include <string.h>

#include "base/sort.h"

/* How many hosts the job may still have, of all and of those outside of each limit. */
struct host_room {
    const struct demand *d;
    uint32_t hosts;
    uint32_t *others; /* by limit */
};

static struct host_room room_of_demand(const struct demand *d, struct arena *arena)
{
    struct host_room room = {.d = d, .hosts = d->host_max > 0 ? d->host_max : UINT32_MAX};
    room.others = arena_alloc(arena, (d->host_limit_count + (size_t)1) * sizeof *room.others);
    for (uint32_t i = 0; i < d->host_limit_count; i++) room.others[i] = d->host_limits[i].others_max;
    return room;
}

static bool is_among(const struct host_limit *l, uint32_t host)
{
    return (l->hosts[host / 64] >> host % 64 & 1) != 0;
}

/* Whether there is room for a host, which is then taken. */
static bool take(struct host_room *room, uint32_t host)
{
    if (room->hosts == 0) return false;
    for (uint32_t i = 0; i < room->d->host_limit_count; i++) {
        if (room->others[i] == 0 && !is_among(&room->d->host_limits[i], host)) return false;
    }
    for (uint32_t i = 0; i < room->d->host_limit_count; i++)
        room->others[i] -= !is_among(&room->d->host_limits[i], host);
    room->hosts--;
    return true;
}

bool host_limit_is_set(const struct demand *d)
{
    return d->host_limit_count > 0 || (d->environment_count > 0 && d->host_max > 0);
}

bool host_limit_allows(const struct cluster *c, const struct demand *d, const struct allocation *a)
{
    uint32_t hosts = 0;
    for (uint32_t i = 0; i < a->part_count; i++)
        hosts += i == 0 ||
                 c->instances.items[a->parts[i].instance].host != c->instances.items[a->parts[i - 1].instance].host;
    if (d->host_max > 0 && hosts > d->host_max) return false;
    for (uint32_t k = 0; k < d->host_limit_count; k++) {
        uint32_t others = 0, last = NONE;
        for (uint32_t i = 0; i < a->part_count; i++) {
            uint32_t host = c->instances.items[a->parts[i].instance].host;
            others += host != last && !is_among(&d->host_limits[k], host);
            last = host;
        }
        if (others > d->host_limits[k].others_max) return false;
    }
    return true;
}

/* The order in which the rows are tried: by index of the table. */
static struct sort_record *sort_rows(const struct host_table *t, enum host_limit_order order, struct arena *arena)
{
    size_t size = (t->count + (size_t)1) * sizeof(struct sort_record);
    struct sort_record *records = arena_alloc_raw(arena, size), *scratch = arena_alloc_raw(arena, size);
    for (uint32_t i = 0; i < t->count; i++)
        records[i] =
            (struct sort_record){.key = order == HOST_LIMIT_BY_OFFER ? UINT32_MAX - t->rows[i].offered : i, .index = i};
    if (order == HOST_LIMIT_BY_OFFER) sort_records(records, t->count, scratch);
    return records;
}

struct host_table host_limit_keep(const struct host_table *t, const struct demand *d, enum host_limit_order order,
                                  uint32_t first, struct arena *arena)
{
    struct host_room room = room_of_demand(d, arena);
    struct host_table kept = {.rows = arena_alloc_raw(arena, (t->count + (size_t)1) * sizeof *kept.rows)};
    bool *is_kept = arena_alloc(arena, t->count + (size_t)1);
    const struct sort_record *sorted = sort_rows(t, order, arena);
    if (first != NONE) {
        if (!take(&room, t->rows[first].host)) return kept;
        kept.rows[kept.count++] = t->rows[first];
    }
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t row = sorted[i].index;
        is_kept[row] = row != first && take(&room, t->rows[row].host);
    }
    for (uint32_t i = 0; i < t->count; i++) {
        if (is_kept[i]) kept.rows[kept.count++] = t->rows[i];
    }
    return kept;
}
