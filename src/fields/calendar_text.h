/* Calendars of queues: on which days and at which times a queue is closed.
 *
 *     year    1.1.,24.12.-26.12.=on 13.3.2027=12-18=off     days of the year, without a year of every year
 *     week    mon-fri=6-20 sat,sun=off                      days of the week
 *
 * An entry is DAYS=TIMES=STATE, and may leave out each of the three: all days, the whole day, off. Blanks separate
 * entries. Times are H[:M[:S]]-H[:M[:S]]; 20-6 is the evening and the early morning of the same day. Where entries
 * overlap, on takes precedence. A day that an entry of the year names follows the year alone. NONE has no entries, so
 * the queue is open. What the state "suspended" asks for, stopping the jobs that run, is not there.
 *
 * ERR_INPUT names the field, the part and its column. Source: Grid Engine 8.1.9, calendar_conf(5); days without a year
 * are Fairlead's own. */
#ifndef FAIRLEAD_FIELDS_CALENDAR_TEXT_H
#define FAIRLEAD_FIELDS_CALENDAR_TEXT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum { CALENDAR_DAY_S = 86400 };

/* A part of a day in seconds of its clock: from_s < until_s <= CALENDAR_DAY_S. */
struct calendar_span {
    uint32_t from_s, until_s;
};

/* Days as numbers, 20270313, or 313 for a day of every year, which may go over the end of the year. */
struct calendar_dates {
    uint32_t from, to;
    bool is_of_every_year;
};

struct calendar_entry {
    struct calendar_dates *dates; /* none: every day */
    uint32_t date_count;
    uint32_t weekdays;           /* bits, Sunday the first one */
    struct calendar_span *times; /* none: the whole day */
    uint32_t time_count;
    bool is_on;
};

struct calendar_entries {
    struct calendar_entry *items; /* memory of the arena */
    uint32_t count;
};

/* Read the entries of the days of a year, or of a week. what: the field, for errors. */
int calendar_text_year(struct str text, const char *what, struct arena *arena, struct calendar_entries *out,
                       struct err *e);
int calendar_text_week(struct str text, const char *what, struct arena *arena, struct calendar_entries *out,
                       struct err *e);
/* The checks of the fields (field.h). */
int calendar_text_year_check(struct str text, const char *what, struct err *e);
int calendar_text_week_check(struct str text, const char *what, struct err *e);

/* Whether a partition's calendar, or a name, stands for no calendar: it is empty or NONE. */
bool calendar_text_is_none(struct str name);

struct calendar_day {
    uint32_t year, month, day; /* 2027, 3, 13 */
    uint32_t weekday;          /* 0: Sunday */
};

struct calendar_spans {
    struct calendar_span *items; /* ascending, and neither overlap nor touch; memory of the arena */
    uint32_t count;
};

/* When a queue is closed on a day. O(times log times). */
struct calendar_spans calendar_text_closed(const struct calendar_entries *year, const struct calendar_entries *week,
                                           const struct calendar_day *day, struct arena *arena);

#endif
