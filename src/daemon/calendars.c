/* The closed times that the daemon reports to the engine (EVENT_CALENDARS): those of the next 400 days, made
 * anew after each change of an object, and every day. */
#include <string.h>

#include "base/ensure.h"
#include "daemon/calendar_times.h"
#include "daemon/daemon.h"

static const int64_t day_us = (int64_t)CALENDAR_DAY_S * US_PER_S;

static void read_entries(const struct object *calendar, struct arena *arena, struct calendar_entries *out_year,
                         struct calendar_entries *out_week)
{
    struct str year = str(calendar->value[CALENDAR_YEAR].text), week = str(calendar->value[CALENDAR_WEEK].text);
    ensure(calendar_text_year(year, "year", arena, out_year, NULL) == 0); /* fields are checked */
    ensure(calendar_text_week(week, "week", arena, out_week, NULL) == 0);
}

/* The next renewal is long before the end of what is known. */
static void note_known(struct daemon *d, int64_t known_until_us)
{
    int64_t next_us = d->now_us + (known_until_us - d->now_us) / 2;
    if (next_us > d->now_us + day_us) next_us = d->now_us + day_us;
    if (d->next_calendars_us == 0 || next_us < d->next_calendars_us) d->next_calendars_us = next_us;
}

static void add_calendar(struct daemon *d, const struct object *calendar)
{
    struct calendar_entries year, week;
    int64_t now_us = d->now_us / US_PER_S * US_PER_S, until_us = calendar_times_horizon_us(d->now_us);
    read_entries(calendar, &d->calendar_arena, &year, &week);
    const struct calendar_times t = calendar_times_make(&year, &week, now_us, until_us, &d->calendar_arena);
    *array_add(&d->calendars) =
        (struct event_calendar){arena_copy(&d->calendar_arena, str(calendar->name)), t.items, t.count};
    note_known(d, t.known_until_us);
}

void daemon_make_calendars(struct daemon *d)
{
    const struct state *s = &d->state;
    arena_clear(&d->calendar_arena);
    array_clear(&d->calendars);
    d->next_calendars_us = 0;
    for (uint32_t i = 0; i < s->objects[OBJECT_CALENDAR].count; i++) {
        const struct object_row *row = &s->objects[OBJECT_CALENDAR].items[i];
        if (!row->is_deleted) add_calendar(d, &row->object);
    }
    d->calendar_edition = s->object_edition;
}

bool daemon_update_calendars(struct daemon *d)
{
    bool is_over = d->next_calendars_us != 0 && d->next_calendars_us <= d->now_us;
    if (!is_over && d->calendar_edition == d->state.object_edition) return false;
    daemon_make_calendars(d);
    return true;
}

void daemon_close_calendars(struct daemon *d)
{
    array_release(&d->calendars);
    arena_release(&d->calendar_arena);
}
