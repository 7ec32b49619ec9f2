/* fairlead schedule -f: one scheduling run of a scenario. */
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/read_file.h"
#include "cli/schedule_chart.h"
#include "cli/setting_remarks.h"
#include "fields/schedule_fields.h"
#include "sim/scenario.h"

struct schedule_command_values {
    struct listing_values listing;
    const char *file;
    bool wants_lines;
};

static const struct option_row schedule_options[] = {
    {.name = "file",
     .letter = 'f',
     .argument = "FILE",
     .value = TEXT_IN(struct schedule_command_values, file),
     .help = "the scenario; - is standard input"},
    {.name = "monitor",
     .letter = 'm',
     .value = FLAG_IN(struct schedule_command_values, wants_lines),
     .help = "print the lines of Grid Engine's schedule file instead (params MONITOR=1)"},
    LISTING_OPTIONS(struct schedule_command_values, listing),
    {0},
};

/* A line of colons begins each run. Without reservations the file has only that. */
static void write_lines(struct call *call, const struct scenario *s, const struct schedule *p)
{
    output_line(call->out, "::::::::");
    for (uint32_t i = 0; p->has_reservations && i < p->rows.count; i++) {
        if (p->rows.items[i].state != SCHEDULE_WAITING)
            schedule_lines(p, &s->state, &p->rows.items[i], &call->out->text);
    }
}

static int write_listing(struct call *call, const struct scenario *s, const struct schedule *p, struct err *e)
{
    const struct schedule_command_values *v = call->values;
    struct schedule_values row;
    struct listing listing;
    int status = listing_begin(&listing, &schedule_fields_columns, &v->listing, call->out, e);
    for (uint32_t i = 0; status == 0 && i < p->rows.count; i++) {
        schedule_row_values(p, &s->state, i, call->arena, &row);
        listing_add(&listing, row.value);
    }
    if (status == 0) listing_end(&listing);
    listing_release(&listing);
    if (status != 0 || !listing_is_table(&v->listing)) return status;
    output_line(call->out, "%s", "");
    schedule_chart_write(p, s, call->out->width, call->out);
    return 0;
}

static int write_schedule(struct call *call, struct scenario *s, struct err *e)
{
    const struct schedule_command_values *v = call->values;
    struct schedule p;
    int status = scenario_schedule(s, v->file, &p, e);
    call->error_has_position = status != 0;
    if (status == 0 && v->wants_lines) write_lines(call, s, &p);
    if (status == 0 && !v->wants_lines) status = write_listing(call, s, &p, e);
    if (status == 0) setting_remarks_of_all(&s->state.settings);
    schedule_release(&p);
    return status;
}

static int schedule_run(struct call *call, struct err *e)
{
    const struct schedule_command_values *v = call->values;
    struct buf text = {0};
    struct scenario s = {0};
    if (listing_check(&v->listing, e) != 0) return -1;
    if (v->file == NULL) return err_set(e, ERR_USAGE, "missing --file: a scenario (docs/scenarios.md)");
    if (v->wants_lines && !listing_is_table(&v->listing))
        return err_set(e, ERR_USAGE, "--monitor prints lines of its own: give neither --json nor --parsable with it");
    call->error_has_position = true;
    int status = read_file(v->file, &text, e);
    if (status == 0) status = scenario_read((struct str){text.text, text.length}, v->file, &s, e);
    buf_release(&text);
    if (status == 0) status = write_schedule(call, &s, e);
    scenario_release(&s);
    return status;
}

static const struct command_example schedule_examples[] = {
    {.line = "fairlead schedule -f cluster.json", .meaning = "what starts now, what has a reservation, and a chart"},
    {.line = "fairlead schedule -f cluster.json -m", .meaning = "as lines of Grid Engine's schedule file"},
    {0},
};

const struct command cmd_schedule = {
    .name = "schedule",
    .group = GROUP_SHARES,
    .summary = "plan one scheduling run of a scenario",
    .usage = "-f FILE [OPTION...]",
    .description =
        "Reads a scenario, a JSON document with hosts, queues, running and pending jobs at one time (docs/scenarios.md), and "
        "lists what runs, what would start now and where, what has a reservation and when, and what waits. Nothing is "
        "started.\n\n"
        "Which jobs get reservations: settings reservations, max_reservation and reservation_depth. Times are planned by "
        "time limits (time_limit_s of a job, h_rt, default_duration).\n\n"
        "Below the table is a chart of the queues over time: # running, ~ suspended, > starts now, = reserved.",
    .options = schedule_options,
    .values_size = sizeof(struct schedule_command_values),
    .listed = &schedule_fields_columns,
    .is_local = true,
    .examples = schedule_examples,
    .see_also = "prio share",
    .run = schedule_run,
};
