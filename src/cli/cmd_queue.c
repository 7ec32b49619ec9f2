#include <ctype.h>

#include "cli/job_row.h"
#include "cli/listing.h"

struct queue_values {
    struct listing_values listing;
    const char *account, *user;
    int state;
    bool all;
};

#define STATES "pending|starting|running|completing|completed|failed|cancelled|timeout|node_fail"

static const struct option_row queue_options[] = {
    {"account", 'A', "NAME", TEXT_IN(struct queue_values, account), "only jobs of this account"},
    {"user", 'u', "NAME", TEXT_IN(struct queue_values, user), "only jobs of this user"},
    {"state", 's', "STATE", CHOICE_IN(struct queue_values, state, STATES),
     "only jobs in this state: pending, running, ..."},
    {"all", 'a', NULL, FLAG_IN(struct queue_values, all), "ended jobs too"},
    LISTING_OPTIONS(struct queue_values, listing),
    {0},
};

static const struct column queue_columns[] = {
    {"ID", "id", true, job_cell_id},
    {"NAME", "name", false, job_cell_name},
    {"USER", "user", false, job_cell_user},
    {"ACCOUNT", "account", false, job_cell_account},
    {"PARTITION", "partition", false, job_cell_partition},
    {"QOS", "qos", false, job_cell_qos},
    {"STATE", "state", false, job_cell_state},
    {"TIME", "elapsed_s", true, job_cell_elapsed},
    {"LIMIT", "time_limit_s", true, job_cell_limit},
    {"CPUS", "cpus", true, job_cell_cpus},
    {"MEM", "mem_mib", true, job_cell_memory},
    {"GPUS", "gpus", true, job_cell_gpus},
    {"REASON", "reason", false, job_cell_reason},
};

/* The word at that place, as the instance has it. */
static const char *state_of(struct call *call, int place)
{
    struct str rest = str(STATES), word = {0};
    for (int i = 0; i <= place; i++) word = str_cut(rest, '|', &rest);
    char *state = arena_copy(call->arena, word);
    for (char *p = state; *p != '\0'; p++) *p = (char)toupper((unsigned char)*p);
    return state;
}

static int queue_run(struct call *call, struct err *e)
{
    const struct queue_values *values = call->values;
    struct buf target = {0};
    buf_add_text(&target, WIRE_JOBS);
    target_add_query(&target, "which", values->all ? "all" : "live");
    if (values->account) target_add_query(&target, "account", values->account);
    if (values->user) target_add_query(&target, "user", values->user);
    bool has_state = options_given(queue_options, &call->parsed, "state");
    if (has_state) target_add_query(&target, "state", state_of(call, values->state));
    bool is_filtered = values->account || values->user || has_state;
    const struct listing listing = {
        .shape = &wire_job_row_shape,
        .has_lines = true,
        .columns = queue_columns,
        .column_count = sizeof queue_columns / sizeof queue_columns[0],
        .account = values->account,
        .empty = is_filtered ? "no such jobs; 'fairlead queue' without options lists all that wait or run"
                             : "no jobs; submit one with 'fairlead submit'",
    };
    return listing_run(call, &listing, &values->listing, instance_target(call, &target), NULL, e);
}

static const struct command_example queue_examples[] = {
    {"fairlead queue -A physics", "the jobs of one account"},
    {"fairlead queue --state running -P", "what runs, for a script"},
    {0},
};

const struct command cmd_queue = {
    .name = "queue",
    .group = GROUP_JOBS,
    .summary = "list waiting and running jobs",
    .usage = "[OPTIONS]",
    .text =
        "A row is a started task, or what of a job has not started: 6_[3-9%2] are the tasks 3 to 9 of array 6, at most two at "
        "once.\n\n"
        "TIME is how long it has run, LIMIT how long it may. REASON says why a job waits. With -P, times are in seconds and "
        "memory in MiB; a | in a name becomes a ?.",
    .options = queue_options,
    .values_size = sizeof(struct queue_values),
    .examples = queue_examples,
    .see_also = "submit history share",
    .run = queue_run,
};
