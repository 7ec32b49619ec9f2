/* show job: every field of a job, one per line. */
#include "cli/instance_listing.h"
#include "cli/job_columns.h"
#include "cli/job_ids.h"

static int show_run(struct call *call, struct err *e)
{
    const struct listing_only_values *values = call->values;
    struct wire_list ids;
    if (job_ids_parse(call, 0, &ids, e) != 0) return -1;
    struct buf target = {0};
    buf_add_text(&target, API_JOBS);
    client_add_segment(&target, *(const char **)ids.items);
    const struct instance_listing listing = {
        .columns = &job_columns_show, .target = instance_target(call, &target), .has_blocks = true};
    return instance_listing_write(call, &listing, &values->listing, NULL, e);
}

static const struct command_example show_examples[] = {
    {.line = "fairlead show job 5", .meaning = "all fields of job 5"},
    {.line = "fairlead show job 6_3 --json", .meaning = "one task of an array, for a program"},
    {.line = "fairlead show job 5 -o state,reason,tres", .meaning = "only these fields"},
    {0},
};

const struct command cmd_show_job = {
    .name = "show job",
    .group = GROUP_JOBS,
    .summary = "show all fields of a pending, running or ended job",
    .usage = "[OPTIONS] ID",
    .description =
        "For an array it prints a block for each task that has started, and one for all tasks that have not.",
    .options = listing_only_options,
    .values_size = sizeof(struct listing_only_values),
    .listed = &job_columns_show,
    .operands_min = 1,
    .operands_max = 1,
    .examples = show_examples,
    .see_also = "queue history log",
    .run = show_run,
};
