/* fairlead check: whether a waiting job could run, with the answers of `qalter -w v` and `-w p`. */
#include "cli/instance.h"
#include "cli/job_ids.h"
#include "cli/reason_list.h"
#include "cli/scenario_source.h"
#include "fields/job_id.h"

struct check_values {
    const char *file;
    bool is_now, is_json;
};

static const struct option_row check_options[] = {
    {.name = "now",
     .value = FLAG_IN(struct check_values, is_now),
     .help = "only as the cluster is now; the exit status is that of this answer"},
    {.name = "file",
     .letter = 'f',
     .argument = "FILE",
     .value = TEXT_IN(struct check_values, file),
     .help = "a job of a scenario instead of the instance; - is standard input"},
    {.name = "json", .value = FLAG_IN(struct check_values, is_json), .help = "print one JSON object"},
    {0},
};

/* --- the answers -------------------------------------------------------------------------------------------------- */

static struct api_check_answer answer_of(const struct wait_sentences *w)
{
    return (struct api_check_answer){
        .possible = w->is_possible, .slots = w->slots, .sentences = {(void *)(uintptr_t)w->items, w->count}};
}

static int check_scenario(struct call *call, struct scenario *s, const char *name, uint32_t job_id,
                          struct api_check *out, struct err *e)
{
    struct wait_sentences in_pass, now, empty;
    if (scenario_why(s, name, job_id, WAIT_IN_PASS, call->arena, &in_pass, e) != 0 ||
        scenario_why(s, name, job_id, WAIT_NOW, call->arena, &now, e) != 0 ||
        scenario_why(s, name, job_id, WAIT_EMPTY, call->arena, &empty, e) != 0)
        return -1;
    const char **partitions;
    uint32_t count = scenario_partition_waits(s, job_id, call->arena, &partitions);
    *out = (struct api_check){.job_id = job_id,
                              .held = in_pass.is_held,
                              .waits_for_jobs = in_pass.is_dependent,
                              .waits_for_begin = in_pass.is_early,
                              .scheduling_info = {(void *)(uintptr_t)in_pass.items, in_pass.count},
                              .partitions = {partitions, count},
                              .empty = answer_of(&empty),
                              .now = answer_of(&now)};
    return 0;
}

/* task_id: NONE: any. A job that the document has not is refused by the answers. */
static int check_task(const struct scenario *s, const char *name, uint32_t job_id, uint32_t task_id, struct err *e)
{
    uint32_t job = state_find_job(&s->state, job_id);
    if (task_id == NONE || job == NONE || idset_has(&s->state.jobs.items[job].array, task_id)) return 0;
    return err_set(e, ERR_NOT_FOUND, "%s: job %u has no task %u", name, job_id, task_id);
}

static int check_document(struct call *call, const char *file, uint32_t job_id, uint32_t task_id, struct api_check *out,
                          struct err *e)
{
    struct scenario s;
    int status = scenario_source_read(call, file, &s, e);
    if (status == 0) status = check_task(&s, file, job_id, task_id, e);
    if (status == 0) status = check_scenario(call, &s, file, job_id, out, e);
    scenario_release(&s);
    return status;
}

static int check_instance(struct call *call, uint32_t job_id, uint32_t task_id, struct api_check *out, struct err *e)
{
    struct buf target = {0};
    char id[JOB_ID_TEXT_SIZE];
    job_id_format(id, job_id, task_id);
    buf_format(&target, API_JOBS "/%s/check", id);
    return instance_request_once(call, "GET", instance_target(call, &target), NULL, NULL, &api_check_shape, out, e);
}

/* --- the text ----------------------------------------------------------------------------------------------------- */

static void write_answer(struct call *call, const char *when, const struct api_check_answer *a)
{
    struct buf *out = &call->out->text;
    if (a->possible)
        buf_format(out, "%s: possible, with %u slot%s\n", when, a->slots, a->slots == 1 ? "" : "s");
    else
        buf_format(out, "%s: not possible\n", when);
    reason_list_write(a->sentences.items, a->sentences.count, REASON_LIST_INDENT, out);
}

/* What keeps the job from starting and the answers leave out, unless the sentences of the last pass say it. */
static void note_waits(const struct api_check *check)
{
    if (check->held) output_note("job %u is held; the answers are as if it were released", check->job_id);
    if (check->now.possible) return;
    if (check->waits_for_jobs)
        output_note("job %u waits for other jobs; the answers are as if it did not", check->job_id);
    if (check->waits_for_begin && !check->waits_for_jobs)
        output_note("job %u waits for its begin; the answers are as if it did not", check->job_id);
}

static void write_text(struct call *call, const struct api_check *check)
{
    const struct check_values *v = call->values;
    note_waits(check);
    if (!v->is_now) write_answer(call, "On the empty cluster", &check->empty);
    write_answer(call, "As it is now", &check->now);
    if (!check->now.possible)
        reason_list_write(check->partitions.items, check->partitions.count, REASON_LIST_INDENT, &call->out->text);
    if (!check->now.possible || check->held || check->scheduling_info.count == 0) return;
    buf_add_text(&call->out->text, "In the last pass it did not start:\n");
    reason_list_write(check->scheduling_info.items, check->scheduling_info.count, REASON_LIST_INDENT, &call->out->text);
}

static int check_run(struct call *call, struct err *e)
{
    const struct check_values *v = call->values;
    struct api_check check;
    struct wire_list ids; /* of several tasks, as 'fairlead queue' lists them, the first one */
    uint32_t job_id, task_id;
    if (job_ids_parse(call, 0, &ids, e) != 0) return -1;
    if (job_id_parse(str(*(const char *const *)ids.items), "id", &job_id, &task_id, e) != 0) return -1;
    int status = v->file != NULL ? check_document(call, v->file, job_id, task_id, &check, e)
                                 : check_instance(call, job_id, task_id, &check, e);
    if (status != 0) return -1;
    if (v->is_json) {
        wire_write(&api_check_shape, &check, &call->out->text);
        buf_add_char(&call->out->text, '\n');
    } else {
        write_text(call, &check);
    }
    return v->is_now ? !check.now.possible : !check.empty.possible;
}

static const struct command_example check_examples[] = {
    {.line = "fairlead check 12", .meaning = "whether job 12 could ever run, and whether it could start now"},
    {.line = "fairlead check --now 12", .meaning = "only now; the exit status is 0 if it could start"},
    {0},
};

static const struct command_exit check_exits[] = {
    {.status = 1, .meaning = "the job could not run on the empty cluster; with --now: not now; or failure"},
    {0},
};

const struct command cmd_check = {
    .name = "check",
    .group = GROUP_JOBS,
    .summary = "check whether a waiting job could run, and what is in its way",
    .usage = "[OPTIONS] ID",
    .description =
        "Answers twice: as if nothing else ran, with drained hosts and closed queues and without load values; and as the "
        "cluster is now, whatever its load thresholds. Below each answer is what keeps the job from queues and hosts, in the "
        "sentences of Grid Engine (qalter -w v and -w p). What the sentences call -q are the queues of --queues.\n\n"
        "That a job could start now does not mean that it does: jobs with a higher priority come first; holds, dependencies "
        "and begin times do not count, and are noted. 'fairlead show job' says why it waits.",
    .options = check_options,
    .values_size = sizeof(struct check_values),
    .operands_min = 1,
    .operands_max = 1,
    .exits = check_exits,
    .examples = check_examples,
    .see_also = "show-job queue schedule",
    .run = check_run,
};
