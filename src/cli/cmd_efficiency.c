#include "cli/instance.h"
#include "cli/job_efficiency.h"
#include "cli/job_ids.h"
#include "cli/listing.h"

/* The rows of one job, kept only until they are summed up. */
static int compute_one(struct call *call, struct client *client, const char *id, struct field_value *out, struct err *e)
{
    struct arena arena = {0}, *call_arena = call->arena;
    struct api_listing list;
    struct buf text = {0};
    buf_add_text(&text, API_JOBS);
    client_add_segment(&text, id);
    const char *target = instance_target(call, &text);
    int64_t now_us = instance_now_us(call);
    call->arena = &arena;
    int status = instance_request(call, client, "GET", target, NULL, NULL, &api_job_list_shape, &list, e);
    call->arena = call_arena;
    if (status == 0) status = job_efficiency_compute(id, &list.rows, now_us, call_arena, out, e);
    arena_release(&arena);
    return status;
}

static int efficiency_run(struct call *call, struct err *e)
{
    const struct listing_only_values *v = call->values;
    struct wire_list ids;
    struct client client;
    struct listing listing;
    if (listing_check(&v->listing, e) != 0 || job_ids_parse(call, 0, &ids, e) != 0) return -1;
    if (instance_open(call, &client, e) != 0) return -1;
    int status = listing_begin(&listing, &job_efficiency_columns, &v->listing, call->out, e);
    for (uint32_t i = 0; status == 0 && i < ids.count; i++) {
        struct field_value row[EFFICIENCY_COUNT];
        status = compute_one(call, &client, ((const char *const *)ids.items)[i], row, e);
        if (status == 0) listing_add(&listing, row);
    }
    if (status == 0) listing_end(&listing);
    listing_release(&listing);
    client_close(&client);
    return status;
}

static const struct command_example efficiency_examples[] = {
    {.line = "fairlead efficiency 5", .meaning = "what job 5 used of what it asked for"},
    {.line = "fairlead efficiency 6 7_3 --json", .meaning = "all tasks of array 6 together, and one of array 7"},
    {0},
};

const struct command cmd_efficiency = {
    .name = "efficiency",
    .group = GROUP_JOBS,
    .summary = "compare what jobs used with what they asked for",
    .usage = "[OPTIONS] JOB[_TASK]...",
    .description =
        "CPU% is CPU time by the time of the allocated CPUs, MEM% the largest peak memory of a task by the memory of a task, TIME% "
        "the longest run time of a task by the time limit. The tasks and attempts of an array are summed up; those that run "
        "count until now.\n\n"
        "NEXT TIME is what the next submission should ask for, if the request was much too large, or too small: the peak memory and a "
        "quarter, the longest time and a half. It needs a task that completed, or that ended as OUT_OF_MEMORY or TIMEOUT.",
    .options = listing_only_options,
    .values_size = sizeof(struct listing_only_values),
    .listed = &job_efficiency_columns,
    .operands_min = 1,
    .operands_max = OPERANDS_ANY,
    .examples = efficiency_examples,
    .see_also = "history show-job submit",
    .run = efficiency_run,
};
