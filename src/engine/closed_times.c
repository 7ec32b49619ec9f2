#include "engine/closed_times.h"

#include "fields/calendar_text.h"

struct closed_times closed_times_of(const struct state *s, uint32_t partition)
{
    const struct object_row *row = &s->objects[OBJECT_PARTITION].items[partition];
    struct str name = str_trim(str(row->object.value[PARTITION_CALENDAR].text));
    if (row->closed_count > 0) return (struct closed_times){row->closed, row->closed_count};
    uint32_t index = calendar_text_is_none(name) ? NONE : map_get(&s->object_by_name[OBJECT_CALENDAR], name);
    if (index == NONE) return (struct closed_times){0};
    const struct object_row *calendar = &s->objects[OBJECT_CALENDAR].items[index];
    return (struct closed_times){calendar->closed, calendar->closed_count};
}

/* The first closed time that is not over. */
static uint32_t first_after(const struct closed_times *t, int64_t at_us)
{
    uint32_t low = 0, high = t->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->items[middle].until_us <= at_us)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The last one of those that follow a closed time at once. */
static uint32_t last_touching(const struct closed_times *t, uint32_t i)
{
    while (i + 1 < t->count && t->items[i + 1].from_us == t->items[i].until_us) i++;
    return i;
}

/* When the queue opens; TIMELINE_END: never, or not within the time that is known. */
static int64_t opening_after(const struct closed_times *t, uint32_t first)
{
    return t->items[last_touching(t, first)].until_us;
}

int64_t closed_times_end(const struct state *s, uint32_t partition, int64_t at_us)
{
    const struct closed_times t = closed_times_of(s, partition);
    uint32_t i = first_after(&t, at_us);
    return i < t.count && t.items[i].from_us <= at_us ? opening_after(&t, i) : 0;
}

bool closed_times_meet(const struct state *s, uint32_t partition, int64_t from_us, int64_t until_us)
{
    const struct closed_times t = closed_times_of(s, partition);
    uint32_t i = first_after(&t, from_us);
    return i < t.count && t.items[i].from_us < until_us;
}

bool closed_times_leave(const struct state *s, uint32_t partition, int64_t from_us, int64_t duration_us)
{
    const struct closed_times t = closed_times_of(s, partition);
    int64_t open_us = from_us;
    for (uint32_t i = first_after(&t, from_us); i < t.count; i++) {
        if (t.items[i].from_us > open_us && t.items[i].from_us - open_us >= duration_us) return true;
        open_us = t.items[i].until_us;
    }
    return open_us != TIMELINE_END;
}

int64_t closed_times_next_opening(const struct state *s, int64_t now_us)
{
    int64_t opening_us = 0;
    for (uint32_t p = 0; p < s->objects[OBJECT_PARTITION].count; p++) {
        if (s->objects[OBJECT_PARTITION].items[p].is_deleted) continue;
        const struct closed_times t = closed_times_of(s, p);
        uint32_t i = first_after(&t, now_us);
        if (i == t.count) continue;
        int64_t end_us = opening_after(&t, i);
        if (end_us != TIMELINE_END && (opening_us == 0 || end_us < opening_us)) opening_us = end_us;
    }
    return opening_us;
}

enum closed_part closed_times_part(enum reserve_search search)
{
    return search == RESERVE_WITHOUT_GAPS ? CLOSED_NEXT : CLOSED_ALL;
}

static struct closed_times part_of(const struct closed_times *t, enum closed_part part, int64_t now_us)
{
    uint32_t first = first_after(t, now_us), last = first;
    if (first < t->count) last = last_touching(t, first);
    uint32_t rest = first < t->count ? last + 1 : first;
    if (part == CLOSED_LATER) return (struct closed_times){t->items + rest, t->count - rest};
    return (struct closed_times){t->items + first, (part == CLOSED_NEXT ? rest : t->count) - first};
}

/* In ascending order, so each is booked at the end of the time line. */
void closed_times_book(struct cluster_model *m, const struct state *s, enum closed_part part, int64_t now_us)
{
    for (uint32_t i = 0; i < m->cluster.instances.count; i++) {
        struct offer *slots = offers_find(&m->cluster.instances.items[i].offers, SCHED_SLOTS);
        const struct closed_times all = closed_times_of(s, m->partition_of[i]);
        if (all.count == 0 || slots == NULL) continue;
        const struct closed_times t = part_of(&all, part, now_us);
        for (uint32_t k = 0; k < t.count; k++) {
            const struct timeline_booking booking = {t.items[k].from_us, t.items[k].until_us, slots->amount};
            timeline_book(&slots->booked, &booking);
        }
    }
}
