/* cancel, hold, release, requeue: one request that names jobs, or selects them. Jobs that are refused are reported, and
 * the others are changed. */
#include <string.h>

#include "cli/ended_jobs.h"
#include "cli/foreign_syntax.h"
#include "cli/instance.h"
#include "cli/job_ids.h"

enum {
    LINES_MAX = 20,   /* of the jobs that are reported one by one */
    PIECE_MAX = 1000, /* of the jobs of one request */
};

struct cancel_values {
    bool has_all, has_hold, is_dry_run;
    const char *user, *account, *partition, *qos, *name, *state;
};

#define PENDING_STATE                                                                                       \
    {                                                                                                       \
        .name = "state", .letter = 's', .argument = "STATE", .value = TEXT_IN(struct cancel_values, state), \
        .is_once = true, .help = "instead of ids: pending jobs (PD), the only ones"                         \
    }

#define SELECTION                                                                                           \
    {.name = "all",                                                                                         \
     .letter = 'a',                                                                                         \
     .value = FLAG_IN(struct cancel_values, has_all),                                                       \
     .help = "all your jobs; for operators, all jobs"},                                                     \
        {.name = "user",                                                                                    \
         .letter = 'u',                                                                                     \
         .argument = "NAME,...",                                                                            \
         .value = TEXT_IN(struct cancel_values, user),                                                      \
         .is_once = true,                                                                                   \
         .help = "instead of ids: jobs of these users"},                                                    \
        {.name = "account",                                                                                 \
         .letter = 'A',                                                                                     \
         .argument = "NAME,...",                                                                            \
         .value = TEXT_IN(struct cancel_values, account),                                                   \
         .is_once = true,                                                                                   \
         .help = "instead of ids: jobs of these accounts"},                                                 \
        {.name = "partition",                                                                               \
         .letter = 'p',                                                                                     \
         .argument = "NAME,...",                                                                            \
         .value = TEXT_IN(struct cancel_values, partition),                                                 \
         .is_once = true,                                                                                   \
         .help = "instead of ids: jobs that were submitted to one of these partitions, also among others"}, \
        {.name = "qos",                                                                                     \
         .letter = 'q',                                                                                     \
         .argument = "NAME,...",                                                                            \
         .value = TEXT_IN(struct cancel_values, qos),                                                       \
         .is_once = true,                                                                                   \
         .help = "instead of ids: jobs of these QOS"},                                                      \
        {.name = "name",                                                                                    \
         .letter = 'J',                                                                                     \
         .argument = "NAME,...",                                                                            \
         .value = TEXT_IN(struct cancel_values, name),                                                      \
         .is_once = true,                                                                                   \
         .help = "instead of ids: jobs of these names"},                                                    \
    {                                                                                                       \
        .name = "dry-run", .value = FLAG_IN(struct cancel_values, is_dry_run),                              \
        .help = "change nothing; print the ids of the jobs that would be changed"                           \
    }

static const struct option_row hold_options[] = {SELECTION, PENDING_STATE, {0}};

static const struct option_row cancel_options[] = {
    SELECTION,
    {.name = "state",
     .letter = 's',
     .argument = "STATE,...",
     .value = TEXT_IN(struct cancel_values, state),
     .is_once = true,
     .help = "instead of ids: pending tasks (PD), running ones (R), or both"},
    {0},
};

static const struct option_row requeue_options[] = {
    SELECTION,
    {.name = "hold",
     .letter = 'H',
     .value = FLAG_IN(struct cancel_values, has_hold),
     .help = "hold the jobs then (fairlead release)"},
    {.name = "state",
     .letter = 's',
     .argument = "STATE[,STATE]",
     .value = TEXT_IN(struct cancel_values, state),
     .is_once = true,
     .help = "instead of ids: jobs that ended so, such as FAILED,TIMEOUT; or running ones"},
    {0},
};

/* What the ids are of: "job", or "task" if each of them names a task. */
static const char *noun_of(const struct wire_list *ids, uint32_t count)
{
    bool is_of_tasks = ids->count > 0;
    for (uint32_t i = 0; i < ids->count && is_of_tasks; i++)
        is_of_tasks = strchr(((const char *const *)ids->items)[i], '_') != NULL;
    return is_of_tasks ? count == 1 ? "task" : "tasks" : count == 1 ? "job" : "jobs";
}

/* A line for each of the first jobs that were refused. Returns the exit status. */
static int report_refused(const struct call *call, const struct api_count *reply)
{
    const struct api_refused *rows = reply->refused.items;
    uint32_t count = reply->refused.count;
    for (uint32_t i = 0; i < count && i < LINES_MAX; i++)
        output_note("fairlead %s: %s", call->command->name, rows[i].message);
    if (count > LINES_MAX) output_note("fairlead %s: and %u more", call->command->name, count - LINES_MAX);
    if (count == 0) return 0;
    return reply->count > 0 ? 1 : err_exit_status(err_from_name(rows[0].name));
}

static int check_operands(const struct call *call, bool is_selected, struct err *e)
{
    const struct cancel_values *values = call->values;
    if (values->has_all && call->parsed.operand_count > 0)
        return err_set(e, ERR_USAGE, "--all and job ids: only one of them is accepted");
    if (is_selected && call->parsed.operand_count > 0)
        return err_set(e, ERR_USAGE, "options that select jobs and job ids: only one of them is accepted");
    if (!is_selected && call->parsed.operand_count == 0)
        return err_set(e, ERR_USAGE, "missing job id; run 'fairlead queue' to list jobs, or give --all");
    return 0;
}

/* "PENDING", "running" and Slurm's short codes, one or several, as the API has them: both are all. */
static int read_state(const char *text, const char **out_state, struct err *e)
{
    static const char states[] = "pending,running,pd,r";
    bool has_pending = false, has_running = false;
    *out_state = NULL;
    for (struct str rest = str(text); rest.text != NULL;) {
        struct str word = str_trim(str_cut(rest, ',', &rest));
        int64_t index = field_choice_index(states, word);
        if (index < 0)
            return err_value(
                e, "--state", word,
                "pending or running (PD, R); a cancelled job gets SIGTERM, and SIGKILL after the setting grace_s");
        has_pending = has_pending || index % 2 == 0;
        has_running = has_running || index % 2 != 0;
    }
    if (has_pending != has_running) *out_state = has_pending ? "pending" : "running";
    return 0;
}

/* Of hold and release, which change what is pending in any case. */
static int check_pending(const char *text, const char *verb, struct err *e)
{
    if (text == NULL || field_choice_index("pending,pd", str(text)) >= 0) return 0;
    return err_value(e, "--state", str(text), "pending (PD): only pending jobs can be %s", verb);
}

/* What a command does with jobs: "cancel", "Cancelled". */
struct job_verb {
    const char *target;
    const struct wire_shape *shape;
    const char *done, *verb;
    bool has_state; /* of live jobs */
};

static void write_dry_run(const struct call *call, const struct api_count *reply, const struct job_verb *v,
                          const char *noun)
{
    const char *const *ids = reply->jobs.items;
    output_line(call->out, "Would %s %u %s", v->verb, reply->count, noun);
    for (uint32_t i = 0; i < reply->jobs.count; i++) {
        output_line(call->out, "  %s", ids[i]);
        output_pace(call->out);
    }
}

static void append(struct call *call, struct wire_list *list, const struct wire_list *more, size_t size)
{
    char *items = arena_alloc(call->arena, ((size_t)list->count + more->count + 1) * size);
    if (list->count > 0) memcpy(items, list->items, list->count * size);
    if (more->count > 0) memcpy(items + list->count * size, more->items, more->count * size);
    *list = (struct wire_list){items, list->count + more->count};
}

/* Names the jobs of body in several requests. Jobs of other users, which may not be changed, are not selected. */
static int request_in_pieces(struct call *call, const struct job_verb *v, const struct api_jobs *body,
                             struct api_count *out_reply, struct err *e)
{
    *out_reply = (struct api_count){0};
    for (uint32_t first = 0; first < body->ids.count; first += PIECE_MAX) {
        struct api_jobs piece = *body;
        struct api_count reply;
        uint32_t left = body->ids.count - first, kept = 0;
        piece.all = false;
        piece.user = piece.account = piece.partition = piece.qos = piece.name = NULL;
        piece.ids = (struct wire_list){(const char **)body->ids.items + first, left < PIECE_MAX ? left : PIECE_MAX};
        if (instance_request_once(call, "POST", v->target, v->shape, &piece, &api_count_shape, &reply, e) != 0)
            return -1;
        struct api_refused *rows = reply.refused.items;
        for (uint32_t i = 0; i < reply.refused.count; i++) {
            if (err_from_name(rows[i].name) != ERR_DENIED) rows[kept++] = rows[i];
        }
        reply.refused.count = kept;
        out_reply->count += reply.count;
        append(call, &out_reply->refused, &reply.refused, sizeof(struct api_refused));
        append(call, &out_reply->jobs, &reply.jobs, sizeof(const char *));
    }
    return 0;
}

static int report(struct call *call, const struct job_verb *v, const struct wire_list *ids,
                  const struct api_count *reply, struct err *e)
{
    const struct cancel_values *values = call->values;
    const char *noun = noun_of(ids, reply->count);
    bool is_none = reply->count == 0;
    if (is_none && reply->refused.count == 0) {
        output_line(call->out, "No %s to %s", noun, v->verb);
    } else if (!is_none && values->is_dry_run) {
        write_dry_run(call, reply, v, noun);
    } else if (!is_none) {
        output_line(call->out, "%s %u %s", v->done, reply->count, noun);
    }
    if (output_flush(call->out, e) != 0) return -1;
    return report_refused(call, reply);
}

/* states: of ended jobs, which the options select instead of live ones; 0: none. */
static int change_jobs(struct call *call, const struct job_verb *v, uint32_t states, struct err *e)
{
    const struct cancel_values *values = call->values;
    bool is_selected = values->has_all || values->user || values->account || values->partition || values->qos ||
                       values->name || values->state;
    struct api_jobs body = {.all = is_selected,
                            .user = values->user,
                            .account = values->account,
                            .partition = values->partition,
                            .qos = values->qos,
                            .name = values->name,
                            .partial = true,
                            .dry_run = values->is_dry_run,
                            .hold = values->has_hold};
    struct api_count reply;
    if (v->has_state && read_state(values->state, &body.state, e) != 0) return -1;
    if (check_operands(call, is_selected, e) != 0) return -1;
    if (states != 0) {
        if (ended_jobs_list(call, &body, states, &body.ids, e) != 0) return -1;
        if (request_in_pieces(call, v, &body, &reply, e) != 0) return -1;
        return report(call, v, &body.ids, &reply, e);
    }
    if (job_ids_parse(call, 0, &body.ids, e) != 0) return -1;
    if (instance_request_once(call, "POST", v->target, v->shape, &body, &api_count_shape, &reply, e) != 0) return -1;
    return report(call, v, &body.ids, &reply, e);
}

static int cancel_run(struct call *call, struct err *e)
{
    static const struct job_verb cancel = {API_JOBS_CANCEL, &api_cancel_shape, "Cancelled", "cancel", true};
    return change_jobs(call, &cancel, 0, e);
}

static int hold_run(struct call *call, struct err *e)
{
    static const struct job_verb hold = {API_JOBS_HOLD, &api_jobs_shape, "Held", "hold", false};
    const struct cancel_values *values = call->values;
    if (check_pending(values->state, "held", e) != 0) return -1;
    return change_jobs(call, &hold, 0, e);
}

static int release_run(struct call *call, struct err *e)
{
    static const struct job_verb release = {API_JOBS_RELEASE, &api_jobs_shape, "Released", "release", false};
    const struct cancel_values *values = call->values;
    if (check_pending(values->state, "released", e) != 0) return -1;
    return change_jobs(call, &release, 0, e);
}

static int requeue_run(struct call *call, struct err *e)
{
    static const struct job_verb requeue = {API_JOBS_REQUEUE, &api_requeue_shape, "Requeued", "requeue", false};
    const struct cancel_values *values = call->values;
    uint32_t states = 0;
    bool is_of_live = values->state == NULL || field_choice_index("running,r", str(values->state)) >= 0;
    if (!is_of_live && ended_jobs_read_states(values->state, &states, e) != 0) return -1;
    return change_jobs(call, &requeue, states, e);
}

static const struct command_exit partial_exits[] = {
    {.status = 1, .meaning = "some jobs were changed, and others were refused; or another failure"},
    {.status = 2, .meaning = "no job was changed: the command line or all jobs are not accepted"},
    {0},
};

static const struct command_example cancel_examples[] = {
    {.line = "fairlead cancel 5 6_3", .meaning = "job 5 and task 3 of job 6"},
    {.line = "fairlead cancel 6_[10-19]", .meaning = "ten tasks of job 6"},
    {.line = "fairlead cancel --all", .meaning = "all your jobs"},
    {.line = "fairlead cancel --state pending -J sweep", .meaning = "what has not started of the jobs named sweep"},
    {.line = "fairlead cancel -A physics --dry-run", .meaning = "list what would be cancelled"},
    {0},
};

const struct command cmd_cancel = {
    .name = "cancel",
    .group = GROUP_JOBS,
    .summary = "cancel pending and running jobs",
    .usage = "ID... | --all | OPTION...",
    .description =
        "A pending job is CANCELLED at once. A running job gets SIGTERM and, after the grace time (setting grace_s), SIGKILL; "
        "it is COMPLETING until its last process has ended.\n\n"
        "With options instead of ids, all jobs are cancelled that fit each of them and that you may cancel. A job that does not "
        "exist, has ended or belongs to another user is reported, and the others are cancelled.",
    .options = cancel_options,
    .values_size = sizeof(struct cancel_values),
    .operands_max = OPERANDS_ANY,
    .examples = cancel_examples,
    .exits = partial_exits,
    .explain = foreign_syntax_cancel_option,
    .see_also = "queue hold wait",
    .run = cancel_run,
};

static const struct command_example hold_examples[] = {
    {.line = "fairlead hold 5", .meaning = "job 5 stays pending until it is released"},
    {0},
};

const struct command cmd_hold = {
    .name = "hold",
    .group = GROUP_JOBS,
    .summary = "keep pending jobs from starting",
    .usage = "ID... | --all | OPTION...",
    .description =
        "A held job keeps its time of submission. Tasks of an array that have started continue; the others stay pending.\n\n"
        "A hold and a release move the job to the end of the scheduler's list. In the tickets model the list decides which of "
        "a user's jobs has more tickets where nothing else does, as in Grid Engine.",
    .options = hold_options,
    .values_size = sizeof(struct cancel_values),
    .operands_max = OPERANDS_ANY,
    .examples = hold_examples,
    .exits = partial_exits,
    .explain = foreign_syntax_cancel_option,
    .see_also = "release queue submit",
    .run = hold_run,
};

static const struct command_example release_examples[] = {
    {.line = "fairlead release 5 6", .meaning = "both jobs may start"},
    {0},
};

const struct command cmd_release = {
    .name = "release",
    .group = GROUP_JOBS,
    .summary = "let held jobs start",
    .usage = "ID... | --all | OPTION...",
    .description =
        "The age of a released job starts again at 0. The job moves to the end of the scheduler's list ('fairlead help hold').\n\n"
        "Where jobs are selected ('--all' and options), those that a quarantine holds ('fairlead status') go back to what they were before it: "
        "those that a person had held stay held, until they are released once more. A job that is named by its id is released.",
    .options = hold_options,
    .values_size = sizeof(struct cancel_values),
    .operands_max = OPERANDS_ANY,
    .examples = release_examples,
    .exits = partial_exits,
    .explain = foreign_syntax_cancel_option,
    .see_also = "hold queue",
    .run = release_run,
};

static const struct command_example requeue_examples[] = {
    {.line = "fairlead requeue 5", .meaning = "end job 5 if it runs, and let it start again"},
    {.line = "fairlead requeue --hold 5", .meaning = "let it start again once it is released"},
    {.line = "fairlead requeue 6_3", .meaning = "one task of array 6"},
    {.line = "fairlead requeue 6_[3,7-9] --dry-run", .meaning = "whether four tasks of array 6 can be requeued"},
    {.line = "fairlead requeue --state FAILED,NODE_FAIL -J sweep --dry-run",
     .meaning = "list what failed of the jobs named sweep"},
    {0},
};

const struct command cmd_requeue = {
    .name = "requeue",
    .group = GROUP_JOBS,
    .summary = "let running or ended jobs start again",
    .usage = "[--hold] ID... | --all | OPTION...",
    .description =
        "A running job gets SIGTERM and, after the grace time, SIGKILL, and is pending then. It starts again after the time "
        "of the setting requeue_delay_s at the earliest; of an array only its requeued tasks wait. Each start is an "
        "attempt with a record and a usage of its own ('fairlead history', state REQUEUED), and the job finds the number of "
        "attempts before in FAIRLEAD_RESTART_COUNT. Its output file is written anew.\n\n"
        "A job that has ended is pending again after the same time, with its id, script, environment and request: the id of "
        "a job or an array that has ended stands for all its tasks, 6_3 for one task, also while other tasks of the array "
        "run. Submit limits may refuse it. Jobs whose wait for it is already met do not wait again. A job that was "
        "cancelled while it waited for other jobs, or that names a partition, an account or anything else that was deleted "
        "since, is refused; so is one that was submitted with --no-requeue.\n\n"
        "Options that select jobs select running ones; with --state and states in which jobs end, those whose last attempt ended "
        "so, of arrays only such tasks, and --partition means where they ran. Many are requeued in several requests, 1000 at a time.\n\n"
        "A job can be requeued by itself, too: 'fairlead submit --requeue' after the host or the job's keeper failed, "
        "--requeue-exit with exit statuses that mean so.",
    .options = requeue_options,
    .values_size = sizeof(struct cancel_values),
    .operands_max = OPERANDS_ANY,
    .examples = requeue_examples,
    .exits = partial_exits,
    .explain = foreign_syntax_cancel_option,
    .see_also = "submit release cancel",
    .run = requeue_run,
};
