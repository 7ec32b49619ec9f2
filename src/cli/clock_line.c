#include "cli/clock_line.h"

#include <time.h>

#include "base/quantity.h"
#include "fields/clock_fields.h"

void clock_line_time(char out[CLOCK_LINE_TIME_SIZE], int64_t time_us)
{
    time_t seconds = (time_t)(time_us / US_PER_S);
    struct tm local;
    out[0] = '\0';
    if (localtime_r(&seconds, &local) != NULL) strftime(out, CLOCK_LINE_TIME_SIZE, "%d %b %Y %H:%M:%S", &local);
}

void clock_line_write_gap(const struct api_clock *c, const char *heading, struct output *out)
{
    struct buf length = {0};
    clock_field_format_by(c->gap_s, &length);
    output_line(out, "%safter a reboot the clock was %s from the last commit; that time is not counted", heading,
                length.text);
    if (c->gap_s > 0)
        output_line(
            out,
            "           if the machine was off for that long, run 'fairlead clock --count-gap', else '--discard-gap'");
    else
        output_line(out,
                    "           set the clock of the machine, or run 'fairlead clock --discard-gap' if it is right");
    buf_release(&length);
}

void clock_line_write(const struct api_clock *c, struct output *out)
{
    const struct field_value *events = c->events.items;
    if (c->has_gap) {
        clock_line_write_gap(c, "Clock      ", out);
    } else if (c->events.count > 0) {
        const struct field_value *last = events + (size_t)(c->events.count - 1) * CLOCK_FIELD_COUNT;
        struct buf by = {0};
        char at[CLOCK_LINE_TIME_SIZE];
        clock_field_format_by(last[CLOCK_FIELD_BY].number, &by);
        clock_line_time(at, last[CLOCK_FIELD_AT].number);
        output_line(out, "Clock      %s by %s at %s; run 'fairlead clock' to see more",
                    clock_field_meaning(last[CLOCK_FIELD_KIND].text), by.text, at);
        buf_release(&by);
    }
}
