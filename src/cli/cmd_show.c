/* show job: every field of a job, one per line; of an array the totals of its tasks first. */
#include <string.h>

#include "cli/array_summary.h"
#include "cli/instance_listing.h"
#include "cli/job_columns.h"
#include "cli/job_ids.h"
#include "cli/job_ranks.h"
#include "cli/reason_list.h"
#include "fields/job_id.h"

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
    reason_list_write(check.scheduling_info.items, check.scheduling_info.count, REASON_LIST_INDENT, &call->out->text);
}

/* A job that was requeued has a block for each attempt. */
static void write_attempt(const struct field_value *row, struct buf *out)
{
    int64_t restarts = row[JOB_FIELD_RESTARTS].number;
    if (restarts > 0 || row[JOB_FIELD_STATE].number == JOB_REQUEUED)
        buf_format(out, "Attempt %lld\n", (long long)restarts + 1);
}

struct show_job_values {
    struct listing_values listing;
    bool has_tasks;
};

static const struct option_row show_options[] = {
    {.name = "tasks",
     .value = FLAG_IN(struct show_job_values, has_tasks),
     .help = "of an array, a block for each task that has started instead of totals"},
    LISTING_OPTIONS(struct show_job_values, listing),
    {0},
};

/* Which rows of an array are listed below its totals: the tasks that wait, or the first row alone. */
struct shown_rows {
    bool waits;       /* a listed row waits */
    bool is_totalled; /* totals stand above */
    bool has_pending;
    uint32_t count;
};

/* context: struct shown_rows. */
static bool is_shown(const struct field_value *row, const void *context)
{
    struct shown_rows *shown = (struct shown_rows *)(uintptr_t)context;
    bool is_waiting = row[JOB_FIELD_STATE].number == JOB_PENDING;
    if (shown->is_totalled && (shown->has_pending ? !is_waiting : shown->count > 0)) return false;
    shown->waits |= is_waiting;
    shown->count++;
    return true;
}

static int read_totals(struct call *call, const char *id, struct shown_rows *shown, struct err *e)
{
    struct array_summary summary = {0};
    if (array_summary_read(call, id, &summary, e) != 0) return -1;
    shown->is_totalled = summary.is_array;
    shown->has_pending = summary.has_pending;
    if (summary.is_array) {
        buf_format(&call->out->text, "%-13s %s\n", "Array", id);
        array_summary_write(&summary, &call->out->text);
    }
    array_summary_release(&summary);
    return 0;
}

static int show_run(struct call *call, struct err *e)
{
    const struct show_job_values *values = call->values;
    struct wire_list ids;
    struct shown_rows shown = {0};
    bool is_block = listing_is_table(&values->listing) && values->listing.columns == NULL;
    if (job_ids_parse(call, 0, &ids, e) != 0) return -1;
    const char *id = *(const char **)ids.items;
    bool wants_totals = is_block && !values->has_tasks && strchr(id, '_') == NULL;
    if (wants_totals && read_totals(call, id, &shown, e) != 0) return -1;
    struct buf target = {0};
    uint32_t job_id, task_id;
    struct err unused; /* the listing says so if there is no such job, or no instance */
    if (job_id_parse(str(id), "ID", &job_id, &task_id, NULL) == 0) (void)job_ranks_read(call, job_id, &unused);
    buf_add_text(&target, API_JOBS);
    client_add_segment(&target, id);
    bool is_common = shown.is_totalled && !shown.has_pending;
    const struct instance_listing listing = {.columns = is_common ? &job_columns_array : &job_columns_show,
                                             .target = instance_target(call, &target),
                                             .has_blocks = true,
                                             .block_heading = is_block && !is_common ? write_attempt : NULL,
                                             .filter = is_block ? is_shown : NULL,
                                             .filter_context = &shown};
    if (instance_listing_write(call, &listing, &values->listing, NULL, e) != 0) return -1;
    if (shown.waits) write_scheduling_info(call, id);
    return 0;
}

static const struct command_example show_examples[] = {
    {.line = "fairlead show job 5", .meaning = "all fields of job 5"},
    {.line = "fairlead show job 6_3 --json", .meaning = "one task of an array, for a program"},
    {.line = "fairlead show job 6 --tasks", .meaning = "every task of array 6"},
    {.line = "fairlead show job 5 -o state,reason,tres", .meaning = "only these fields"},
    {0},
};

const struct command cmd_show_job = {
    .name = "show job",
    .group = GROUP_JOBS,
    .summary = "show all fields of a pending, running or ended job",
    .usage = "[OPTIONS] ID",
    .description =
        "For an array it prints how many tasks are in each state, with a bar (# completed, x ended otherwise, > running, . pending), and "
        "which; then a block for the tasks that have not started, or "
        "what all tasks have in common. 'fairlead show job ID_TASK' shows one task, --tasks all of them.\n\n"
        "Below a job that waits is its scheduling info: what keeps it from each queue and host now, in the sentences of Grid Engine's "
        "'qstat -j'. A queue instance is a partition on a host, main@localhost. Of amounts that are too small, the first letter is g, h "
        "or q, for the whole cluster, a host or a queue instance, and the second one c for a consumable, l for a load value or f for "
        "a fixed value.",
    .options = show_options,
    .values_size = sizeof(struct show_job_values),
    .listed = &job_columns_show,
    .operands_min = 1,
    .operands_max = 1,
    .examples = show_examples,
    .see_also = "queue check history log",
    .run = show_run,
};
