#include "fields/clock_fields.h"

#include <string.h>

#include "base/quantity.h"
#include "fields/limits.h"

static const struct {
    const char *kind, *meaning;
} meanings[] = {
    {"SET_RUNNING", "set while the daemon ran"}, {"SET_STOPPED", "set while the daemon was stopped"},
    {"GAP", "gap after a reboot, not counted"},  {"GAP_RESOLVED", "gap counted: the clock was set"},
    {"GAP_COUNTED", "gap counted, as told"},     {"GAP_DISCARDED", "gap never counted, as told"},
};

static const struct field rows[CLOCK_FIELD_COUNT] = {
    [CLOCK_FIELD_AT] = {.name = "at_us", .help = "when it was noticed", .type = FIELD_TIME, .max = TIME_US_MAX},
    [CLOCK_FIELD_KIND] =
        {.name = "kind",
         .help =
             "what happened: SET_RUNNING, SET_STOPPED: the clock was set while the daemon ran, or did not; GAP: a gap after a reboot is "
             "not counted; GAP_RESOLVED: it is counted, because the clock was set; GAP_COUNTED, GAP_DISCARDED: as an operator said",
         .type = FIELD_TEXT},
    [CLOCK_FIELD_BY] = {.name = "by_s",
                        .help = "how far the clock was set, or the length of the gap",
                        .type = FIELD_NUMBER,
                        .min = -WHOLE_REAL_MAX,
                        .max = WHOLE_REAL_MAX},
    [CLOCK_FIELD_SHIFT] = {.name = "shift_s",
                           .help = "what was added to all times of the instance",
                           .type = FIELD_NUMBER,
                           .min = -WHOLE_REAL_MAX,
                           .max = WHOLE_REAL_MAX},
};

const struct field_table clock_fields = {.name = "ClockEvent",
                                         .help = "A time at which the clock of the machine was set.",
                                         .rows = rows,
                                         .row_size = sizeof rows[0],
                                         .count = CLOCK_FIELD_COUNT};

const char *clock_field_meaning(const char *kind)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        if (strcmp(meanings[i].kind, kind) == 0) return meanings[i].meaning;
    }
    return kind;
}

void clock_field_format_by(int64_t by_s, struct buf *out)
{
    char text[32];
    duration_format(text, by_s);
    buf_format(out, "%s%s", by_s >= 0 ? "+" : "", text);
}

static void show_kind(const struct field_value *row, struct buf *out)
{
    buf_add_text(out, clock_field_meaning(row[CLOCK_FIELD_KIND].text));
}

static void show_by(const struct field_value *row, struct buf *out)
{
    clock_field_format_by(row[CLOCK_FIELD_BY].number, out);
}

static void show_shift(const struct field_value *row, struct buf *out)
{
    clock_field_format_by(row[CLOCK_FIELD_SHIFT].number, out);
}

static const struct column columns[] = {
    {.field = CLOCK_FIELD_AT},
    {.field = CLOCK_FIELD_KIND, .heading = "WHAT", .show = show_kind},
    {.field = CLOCK_FIELD_BY, .heading = "BY", .show = show_by, .is_right_aligned = true},
    {.field = CLOCK_FIELD_SHIFT, .heading = "SHIFT", .show = show_shift, .is_right_aligned = true, .rank = 1},
};

const struct column_table clock_fields_columns = {
    .fields = &clock_fields, .columns = columns, .count = sizeof columns / sizeof *columns};
