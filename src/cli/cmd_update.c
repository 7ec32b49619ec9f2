#include "cli/foreign_syntax.h"
#include "cli/job_row.h"
#include "cli/job_terms.h"

struct update_values {
    const char *name;
    uint64_t cpus, mem_mib, gpus, array_limit;
    int64_t time_limit_s;
    struct term_values terms;
};

static const struct option_row update_options[] = {
    {"job-name", 'J', "NAME", TEXT_IN(struct update_values, name), "another name"},
    {"cpus", 'n', "COUNT", U64_IN(struct update_values, cpus, 1, WIRE_CPUS_MAX), "CPUs"},
    {"mem", 0, "SIZE", MEMORY_IN(struct update_values, mem_mib), "memory: MiB, or with K, M, G or T"},
    {"gpus", 'G', "COUNT", U64_IN(struct update_values, gpus, 0, WIRE_GPUS_MAX), "GPUs"},
    {"time", 't', "SPAN", DURATION_IN(struct update_values, time_limit_s),
     "time limit: minutes, M:S, H:M:S, D-H[:M[:S]]"},
    {"array-limit", 0, "COUNT", U64_IN(struct update_values, array_limit, 0, 4000000), "tasks at once; 0: no limit"},
    TERM_OPTIONS(struct update_values, terms),
    {0},
};

static int update_run(struct call *call, struct err *e)
{
    const struct update_values *values = call->values;
    const struct parsed *parsed = &call->parsed;
    if (parsed->given == 0) return err_set(e, ERR_USAGE, "what is to change? see 'fairlead update --help'");
    struct wire_update body = {
        .name = values->name,
        .cpus = (uint32_t)values->cpus,
        .mem_mib = values->mem_mib,
        .gpus = options_given(update_options, parsed, "gpus") ? (uint32_t)values->gpus : NONE,
        .time_limit_s = job_time_limit(values->time_limit_s),
        .array_limit = options_given(update_options, parsed, "array-limit") ? (uint32_t)values->array_limit : NONE,
    };
    if (job_terms_read(&values->terms, update_options, parsed, call->arena, &body.terms, &body.cpus, e) != 0) return -1;
    struct wire_list ids;
    if (job_ids_parse(call, 0, &ids, e) != 0) return -1;

    struct buf target = {0};
    struct wire_done reply;
    buf_add_text(&target, WIRE_JOBS);
    target_add_segment(&target, parsed->operands[0]);
    const char *text = instance_target(call, &target);
    if (instance_ask_once(call, "PATCH", text, &wire_update_shape, &body, &wire_done_shape, &reply, e) != 0)
        return job_terms_explain(&body.terms, e);
    buf_format(&call->out->text, "Updated job %s\n", parsed->operands[0]);
    return 0;
}

static const struct command_example update_examples[] = {
    {"fairlead update 5 -t 2:00:00", "two hours for job 5"},
    {"fairlead update 6 --array-limit 20", "twenty of its tasks at once"},
    {"fairlead update 5 --nice=50 --deadline 16:00", "later than others, but not too late"},
    {"fairlead update 5 --set-priority 100000", "for operators: before everybody"},
    {0},
};

const struct command cmd_update = {
    .name = "update",
    .group = GROUP_JOBS,
    .summary = "change a waiting job",
    .usage = "OPTIONS ID",
    .text =
        "Once a job has started, its CPUs, memory, GPUs, time limit, partition, QOS, project and requests stay as they are.\n\n"
        "--begin none lets it start at once, --deadline none takes the deadline away.",
    .habit = habit_submit_option,
    .options = update_options,
    .values_size = sizeof(struct update_values),
    .operands_min = 1,
    .operands_max = 1,
    .examples = update_examples,
    .see_also = "submit queue hold prio",
    .run = update_run,
};
