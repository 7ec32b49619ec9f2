/* EVENT_CALENDARS: when the calendars close queues. Which times these are depends on the time zone, which the engine
 * does not know; so the daemon computes them at every start, before the first pass, after each change of an object,
 * and again as time goes on. They are no rows, and nothing that is stored depends on them. */
#include <string.h>

#include "engine/handlers.h"
#include "engine/live_cluster.h"

static const struct event_calendar *find(const struct event_calendars *all, const char *name)
{
    const struct event_calendar *found = NULL;
    for (uint32_t i = 0; i < all->count && found == NULL; i++) {
        if (strcmp(all->items[i].name, name) == 0) found = &all->items[i];
    }
    return found;
}

/* Whether nothing changes from now on. A report has no times that are over, and one that has begun begins with it. */
static bool is_same(const struct object_row *row, const struct event_calendar *calendar, int64_t now_us)
{
    uint32_t over = 0, count = calendar != NULL ? calendar->count : 0;
    while (over < row->closed_count && row->closed[over].until_us <= now_us) over++;
    if (row->closed_count - over != count) return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct closed_time *a = &row->closed[over + i], *b = &calendar->closed[i];
        bool have_begun = a->from_us <= now_us && b->from_us <= now_us;
        if ((a->from_us != b->from_us && !have_begun) || a->until_us != b->until_us) return false;
    }
    return true;
}

static void set_closed(struct object_row *row, const struct event_calendar *calendar, struct arena *arena)
{
    uint32_t count = calendar != NULL ? calendar->count : 0;
    struct closed_time *closed = arena_alloc_raw(arena, (count + (size_t)1) * sizeof *closed);
    if (count > 0) memcpy(closed, calendar->closed, count * sizeof *closed);
    row->closed = closed;
    row->closed_count = count;
}

int apply_calendars(struct apply_context *c, const struct event *event)
{
    struct state *s = c->s;
    bool is_changed = false;
    for (uint32_t i = 0; i < s->objects[OBJECT_CALENDAR].count; i++) {
        const struct object_row *row = &s->objects[OBJECT_CALENDAR].items[i];
        is_changed |= !row->is_deleted && !is_same(row, find(&event->calendars, row->object.name), c->now_us);
    }
    if (!is_changed) return 0;
    struct arena arena = {0};
    for (uint32_t i = 0; i < s->objects[OBJECT_CALENDAR].count; i++) {
        struct object_row *row = &s->objects[OBJECT_CALENDAR].items[i];
        set_closed(row, row->is_deleted ? NULL : find(&event->calendars, row->object.name), &arena);
    }
    arena_release(&s->closed_arena);
    s->closed_arena = arena;
    live_cluster_invalidate(s);
    s->pass_is_due = s->rhythm.has_changed = true;
    return 0;
}
