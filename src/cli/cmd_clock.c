/* fairlead clock: the time of the instance, what happened to the clock of the machine, and what a gap is. */
#include <string.h>
#include <time.h>

#include "base/quantity.h"
#include "cli/clock_line.h"
#include "cli/instance.h"
#include "cli/listing.h"
#include "fields/clock_fields.h"

struct clock_values {
    bool is_json, is_parsable, counts_gap, discards_gap;
};

static const struct option_row clock_options[] = {
    {.name = "count-gap",
     .value = FLAG_IN(struct clock_values, counts_gap),
     .help = "count the gap: the machine was off for that long"},
    {.name = "discard-gap",
     .value = FLAG_IN(struct clock_values, discards_gap),
     .help = "never count the gap, and no longer show it"},
    {.name = "json", .value = FLAG_IN(struct clock_values, is_json), .help = "print one JSON object"},
    {.name = "parsable",
     .letter = 'P',
     .value = FLAG_IN(struct clock_values, is_parsable),
     .help = "print what happened, separated by |"},
    {0},
};

static const char *describe_wall(const struct api_clock *c)
{
    if (c->is_virtual) return ", not followed: a pretend cluster has a time of its own";
    return c->is_followed ? "" : ", not followed: time goes on without it; set the clock of the machine";
}

static void write_times(const struct api_clock *c, struct output *out)
{
    char now[CLOCK_LINE_TIME_SIZE], wall[CLOCK_LINE_TIME_SIZE], up[32];
    clock_line_time(now, c->now_us);
    clock_line_time(wall, c->wall_us);
    duration_format_short(up, (c->now_us - c->started_us) / US_PER_S);
    output_line(out, "Time       %s", now);
    output_line(out, "Wall clock %s%s", wall, describe_wall(c));
    output_line(out, "Up         %s", up);
    if (c->has_gap) clock_line_write_gap(c, "Gap        ", out);
}

static int write_events(const struct api_clock *c, bool is_parsable, struct output *out, struct err *e)
{
    const struct listing_values form = {.is_parsable = is_parsable};
    const struct field_value *event = c->events.items;
    struct listing listing;
    if (listing_begin(&listing, &clock_fields_columns, &form, out, e) != 0) return -1;
    for (uint32_t i = 0; i < c->events.count; i++, event += CLOCK_FIELD_COUNT) listing_add(&listing, event);
    listing_end(&listing);
    listing_release(&listing);
    return 0;
}

static int settle_gap(struct call *call, bool counts, struct err *e)
{
    const struct api_gap body = {.gap = counts ? "count" : "discard"};
    struct api_done done;
    return instance_request_once(call, "POST", API_CLOCK, &api_gap_shape, &body, &api_done_shape, &done, e);
}

static int clock_run(struct call *call, struct err *e)
{
    const struct clock_values *values = call->values;
    struct api_clock clock;
    if (values->counts_gap && values->discards_gap)
        return err_set(e, ERR_USAGE, "--count-gap and --discard-gap exclude each other; give one of them");
    if (values->is_json && values->is_parsable)
        return err_set(e, ERR_USAGE, "--json and --parsable exclude each other; give one of them");
    bool settles = values->counts_gap || values->discards_gap;
    if (settles && settle_gap(call, values->counts_gap, e) != 0) return -1;
    if (values->is_json) return instance_copy(call, API_CLOCK, e);
    if (instance_request_once(call, "GET", API_CLOCK, NULL, NULL, &api_clock_shape, &clock, e) != 0) return -1;
    if (!values->is_parsable) write_times(&clock, call->out);
    if (!values->is_parsable && clock.events.count == 0) return 0;
    if (!values->is_parsable) buf_add_char(&call->out->text, '\n');
    return write_events(&clock, values->is_parsable, call->out, e);
}

static const struct command_example clock_examples[] = {
    {.line = "fairlead clock", .meaning = "what happened to the clock, and what is open"},
    {.line = "fairlead clock --count-gap", .meaning = "the machine was really off for two months"},
    {0},
};

const struct command cmd_clock = {
    .name = "clock",
    .group = GROUP_SERVICE,
    .summary = "show what happened to the clock of the machine, and mend it",
    .usage = "[--count-gap|--discard-gap] [--json|-P]",
    .description =
        "The time of an instance is that of the machine's wall clock. If that is set by 10 seconds or more, all times of the instance, "
        "such as submissions, begins and ends, are shifted by as much: usage, ages, run times and the time that is left until a begin stay as "
        "they are. SHIFT is what was added to them.\n\n"
        "After a reboot nothing but the wall clock says how much time has passed. It is believed up to 30 days. If it is behind the last "
        "commit, or further ahead, the gap is not counted: usage does not decay over it. When the clock is set so that the gap can be "
        "believed, it counts by itself. Otherwise --count-gap counts it, if the machine was really off for that long; --discard-gap says "
        "that it was not. Count it soon: jobs that have ended since the reboot count as before the gap then.\n\n"
        "A wall clock before 2020 or after 2199 is not followed; time goes on without it.",
    .options = clock_options,
    .values_size = sizeof(struct clock_values),
    .examples = clock_examples,
    .see_also = "status verify share",
    .run = clock_run,
};
