/* update: changes fields of one job, in one request. */
#include "cli/foreign_syntax.h"
#include "cli/instance.h"
#include "cli/job_ids.h"
#include "cli/job_options.h"
#include "cli/limit_note.h"
#include "cli/model_note.h"

/* "TimeLimit=10", as scontrol update has it. */
static int refuse_pairs(const struct parsed *parsed, struct err *e)
{
    for (uint32_t i = 0; i < parsed->operand_count; i++) {
        struct str value, name = str_cut(str(parsed->operands[i]), '=', &value);
        const char *advice = value.text != NULL ? foreign_syntax_update_pair(name) : NULL;
        if (advice != NULL)
            return err_set(e, ERR_USAGE, "unexpected argument '%s': %s; see 'fairlead update --help'",
                           parsed->operands[i], advice);
    }
    if (parsed->operand_count > 1 && !options_explain_bare(parsed, e))
        err_set(e, ERR_USAGE, "unexpected argument '%s'; see 'fairlead update --help'", parsed->operands[1]);
    return parsed->operand_count > 1 ? -1 : 0;
}

static int update_run(struct call *call, struct err *e)
{
    const struct parsed *parsed = &call->parsed;
    struct api_update body;
    struct api_updated reply;
    struct wire_list ids;
    if (refuse_pairs(parsed, e) != 0) return -1;
    if (!options_any_given(parsed, job_option_rows(true)))
        return err_set(e, ERR_USAGE, "nothing to change: give at least one option; see 'fairlead update --help'");
    wire_clear(&api_update_shape, &body);
    if (job_options_read(call->job, call->arena, &body.job, e) != 0 || job_ids_parse(call, 0, &ids, e) != 0) return -1;
    struct buf target = {0};
    buf_add_text(&target, API_JOBS);
    client_add_segment(&target, parsed->operands[0]);
    const char *text = instance_target(call, &target);
    if (instance_request_once(call, "PATCH", text, &api_update_shape, &body, &api_updated_shape, &reply, e) != 0)
        return job_options_explain(call->job, e);
    const char *exempt =
        reply.is_time_exempt ? "; MaxWall does not limit it, because an operator has set its time limit" : "";
    output_line(call->out, "Updated job %s%s", parsed->operands[0], exempt);
    limit_note_print("update", parsed->operands[0], reply.limit, reply.limit_field);
    model_note_print(call, &body.job);
    return 0;
}

static const struct command_example update_examples[] = {
    {.line = "fairlead update 5 -t 2:00:00", .meaning = "set the time limit of job 5 to two hours, also if it runs"},
    {.line = "fairlead update 6 --array-limit 20", .meaning = "run at most 20 tasks of array 6 at once"},
    {.line = "fairlead update 5 --nice=50 --deadline 16:00", .meaning = "lower its priority and set a deadline"},
    {.line = "fairlead update 5 --set-priority 100000", .meaning = "set its priority by hand, as an operator"},
    {0},
};

const struct command cmd_update = {
    .name = "update",
    .group = GROUP_JOBS,
    .summary = "change a job",
    .usage = "OPTIONS ID",
    .description =
        "The CPUs, memory, GPUs, slots, partition, account, QOS, project and requests can change until the first task has "
        "started, --begin until all have, the time limit at any time.\n\n"
        "A new time limit also holds for the tasks that run. It counts from their start: one that has passed ends them at "
        "once, with TIMEOUT. After the start only an operator may raise it; the job's user may lower it.\n\n"
        "--begin none removes the earliest start, --deadline none the deadline, --dependency none what it waits for.\n\n"
        "An update of anything but a comment moves the job to the end of the scheduler's list ('fairlead help hold').",
    .explain = foreign_syntax_update_option,
    .job_options = JOB_OPTIONS_UPDATE,
    .operands_min = 1,
    .operands_max = OPERANDS_ANY,
    .examples = update_examples,
    .see_also = "submit queue hold prio",
    .run = update_run,
};
