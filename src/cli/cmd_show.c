/* show job: every field of a job, one per line. */
#include "cli/instance_listing.h"
#include "cli/job_columns.h"
#include "cli/job_ids.h"
#include "cli/reason_list.h"

/* Notes whether a listed row waits; lists every row. context: a bool. */
static bool note_waiting(const struct field_value *row, const void *context)
{
    bool *waits = (bool *)(uintptr_t)context;
    *waits |= row[JOB_FIELD_STATE].number == JOB_PENDING;
    return true;
}

/* A section below the fields: why the job waits, a line for each sentence. A job that has started meanwhile has
 * none. */
static void write_scheduling_info(struct call *call, const char *id)
{
    struct buf target = {0};
    struct api_check check;
    struct err ignored;
    buf_add_text(&target, API_JOBS);
    client_add_segment(&target, id);
    buf_add_text(&target, "/check");
    if (instance_request_once(call, "GET", instance_target(call, &target), NULL, NULL, &api_check_shape, &check,
                              &ignored) != 0)
        return;
    if (check.scheduling_info.count > 0) buf_add_text(&call->out->text, "\nScheduling info\n");
    reason_list_write(check.scheduling_info.items, check.scheduling_info.count, &call->out->text);
}

/* A job that was requeued has a block for each attempt. */
static void write_attempt(const struct field_value *row, struct buf *out)
{
    int64_t restarts = row[JOB_FIELD_RESTARTS].number;
    if (restarts > 0 || row[JOB_FIELD_STATE].number == JOB_REQUEUED)
        buf_format(out, "Attempt %lld\n", (long long)restarts + 1);
}

static int show_run(struct call *call, struct err *e)
{
    const struct listing_only_values *values = call->values;
    struct wire_list ids;
    bool waits = false, is_block = listing_is_table(&values->listing) && values->listing.columns == NULL;
    if (job_ids_parse(call, 0, &ids, e) != 0) return -1;
    struct buf target = {0};
    buf_add_text(&target, API_JOBS);
    client_add_segment(&target, *(const char **)ids.items);
    const struct instance_listing listing = {.columns = &job_columns_show,
                                             .target = instance_target(call, &target),
                                             .has_blocks = true,
                                             .block_heading = is_block ? write_attempt : NULL,
                                             .filter = is_block ? note_waiting : NULL,
                                             .filter_context = &waits};
    if (instance_listing_write(call, &listing, &values->listing, NULL, e) != 0) return -1;
    if (waits) write_scheduling_info(call, *(const char **)ids.items);
    return 0;
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
        "For an array it prints a block for each task that has started, and one for all tasks that have not.\n\n"
        "Below a job that waits is its scheduling info: what keeps it from each queue and host now, in the sentences of Grid Engine's "
        "'qstat -j'. A queue instance is a partition on a host, main@localhost. Of amounts that are too small, the first letter is g, h "
        "or q, for the whole cluster, a host or a queue instance, and the second one c for a consumable, l for a load value or f for "
        "a fixed value.",
    .options = listing_only_options,
    .values_size = sizeof(struct listing_only_values),
    .listed = &job_columns_show,
    .operands_min = 1,
    .operands_max = 1,
    .examples = show_examples,
    .see_also = "queue check history log",
    .run = show_run,
};
