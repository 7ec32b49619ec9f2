/* fairlead schedule: one scheduling run of a scenario, or of the instance, which is read as one. */
#include "cli/listing.h"
#include "cli/reason_list.h"
#include "cli/scenario_source.h"
#include "cli/schedule_chart.h"
#include "cli/setting_remarks.h"
#include "fields/job_id.h"
#include "fields/schedule_fields.h"

struct schedule_command_values {
    struct listing_values listing;
    const char *file, *why;
    bool wants_lines, has_no_chart;
};

static const struct option_row schedule_options[] = {
    {.name = "file",
     .letter = 'f',
     .argument = "FILE",
     .value = TEXT_IN(struct schedule_command_values, file),
     .help = "a scenario instead of the instance; - is standard input"},
    {.name = "monitor",
     .letter = 'm',
     .value = FLAG_IN(struct schedule_command_values, wants_lines),
     .help = "print the lines of Grid Engine's schedule file instead (params MONITOR=1)"},
    {.name = "why",
     .argument = "ID",
     .value = TEXT_IN(struct schedule_command_values, why),
     .help = "print why a job waits instead, in Grid Engine's sentences (scheduling info)"},
    {.name = "no-chart",
     .value = FLAG_IN(struct schedule_command_values, has_no_chart),
     .help = "omit the chart below the table"},
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
    if (status == 0 && p->rows.count == 0 && listing_is_table(&v->listing))
        output_note("no jobs run, start or wait; held jobs are not planned");
    listing_release(&listing);
    bool has_chart = listing_is_table(&v->listing) && v->listing.columns == NULL && !v->has_no_chart;
    if (status == 0 && has_chart) schedule_chart_write(p, s, call->out->width, call->out);
    return status;
}

static int write_schedule(struct call *call, struct scenario *s, struct err *e)
{
    const struct schedule_command_values *v = call->values;
    struct schedule p;
    int status = scenario_schedule(s, scenario_source_name(v->file), &p, e);
    call->error_has_position = status != 0;
    if (status == 0 && v->wants_lines) write_lines(call, s, &p);
    if (status == 0 && !v->wants_lines) status = write_listing(call, s, &p, e);
    if (status == 0 && v->file != NULL) setting_remarks_of_all(&s->state.settings);
    schedule_release(&p);
    return status;
}

/* The sentences of one job; those that differ only in the host are one line. */
static int write_why(struct call *call, struct scenario *s, struct err *e)
{
    const struct schedule_command_values *v = call->values;
    struct wait_sentences why;
    uint32_t job_id, task_id;
    if (job_id_parse(str(v->why), "why", &job_id, &task_id, e) != 0) return -1;
    if (scenario_why(s, scenario_source_name(v->file), job_id, WAIT_IN_PASS, call->arena, &why, e) != 0) return -1;
    reason_list_write(why.items, why.count, 0, &call->out->text);
    if (why.count == 0) output_note(why.is_possible ? "job %u starts in this run" : "nothing keeps job %u", job_id);
    return 0;
}

static int schedule_run(struct call *call, struct err *e)
{
    const struct schedule_command_values *v = call->values;
    struct scenario s = {0};
    if (listing_check(&v->listing, e) != 0) return -1;
    if (v->wants_lines && !listing_is_table(&v->listing))
        return err_set(e, ERR_USAGE, "--monitor prints lines of its own: give neither --json nor --parsable with it");
    if (v->why != NULL && (v->wants_lines || !listing_is_table(&v->listing)))
        return err_set(e, ERR_USAGE, "--why prints sentences: give neither --json, --parsable nor --monitor with it");
    int status = scenario_source_read(call, v->file, &s, e);
    if (status == 0) status = v->why != NULL ? write_why(call, &s, e) : write_schedule(call, &s, e);
    scenario_release(&s);
    return status;
}

static const struct command_example schedule_examples[] = {
    {.line = "fairlead schedule", .meaning = "the plan of the instance, and a chart"},
    {.line = "fairlead schedule -f cluster.json", .meaning = "what starts now, what has a reservation, and a chart"},
    {.line = "fairlead schedule -f cluster.json --why 12", .meaning = "why job 12 of the document waits"},
    {.line = "fairlead schedule -f cluster.json -m", .meaning = "as lines of Grid Engine's schedule file"},
    {0},
};

const struct command cmd_schedule = {
    .name = "schedule",
    .group = GROUP_SHARES,
    .summary = "plan one scheduling run",
    .usage = "[OPTION...]",
    .description =
        "Plans one scheduling run, and lists what runs, what would start now and where, what has a reservation and when, and "
        "what waits. Nothing is started. The hosts, queues, running and pending jobs are those of the instance; with -f those "
        "of a scenario, a JSON document (docs/scenarios.md), such as 'fairlead scenario dump' writes.\n\n"
        "Which jobs get reservations: settings reservations, max_reservation and reservation_depth. Times are planned by "
        "time limits (time_limit_s of a job, h_rt, default_duration).\n\n"
        "Below the table, unless -o chooses columns, is a chart of the queues over time: # running, ~ suspended, > starts now, "
        "= reserved, x closed. Its axis has times since now.",
    .options = schedule_options,
    .values_size = sizeof(struct schedule_command_values),
    .listed = &schedule_fields_columns,
    .examples = schedule_examples,
    .see_also = "queue scenario-dump prio share",
    .run = schedule_run,
};
