/* log: prints the output files of jobs; with --follow, until they have ended.
 *
 * The command reads the files itself, with its user's rights; the instance only reports their paths. With --follow it
 * reads new output every POLL_MS and requests the jobs' states after every POLLS_PER_REQUEST polls. Jobs continue while
 * the instance is down, so only FAILURES_MAX unanswered requests in a row are an error. */
#include <string.h>
#include <time.h>

#include "cli/instance.h"
#include "cli/job_ids.h"
#include "cli/log_tasks.h"

enum { POLL_MS = 100, POLLS_PER_REQUEST = 5, FAILURES_MAX = 120, FOLLOWED_MAX = 500 };

struct log_values {
    bool has_follow, has_err;
    uint64_t tail_count;
};

static const struct option_row log_options[] = {
    {.name = "follow",
     .letter = 'f',
     .value = FLAG_IN(struct log_values, has_follow),
     .help = "print new output until the jobs have ended"},
    {.name = "tail",
     .argument = "LINES",
     .value = U64_IN(struct log_values, tail_count, 0, UINT32_MAX),
     .help = "begin with the last LINES lines"},
    {.name = "err",
     .letter = 'e',
     .value = FLAG_IN(struct log_values, has_err),
     .help = "the error output, if it has its own file"},
    {0},
};

/* One run: the ids that were asked for, and the tasks that they are. */
struct log_run {
    struct client client;
    struct wire_list ids;
    struct log_tasks tasks;
    uint32_t failure_count; /* requests without a reply, since the last reply */
};

static int request_rows(struct call *call, struct log_run *run, const char *id, struct err *e)
{
    struct api_listing list;
    struct buf text = {0};
    buf_add_text(&text, API_JOBS);
    client_add_segment(&text, id);
    const char *target = instance_target(call, &text);
    if (instance_request(call, &run->client, "GET", target, NULL, NULL, &api_job_list_shape, &list, e) != 0) return -1;
    return log_tasks_take(&run->tasks, id, &list.rows, e);
}

/* Requests the rows of all ids. Their texts are needed only until they were taken. may_be_away: a request may have no
 * reply for a while. */
static int request_all(struct call *call, struct log_run *run, bool may_be_away, struct err *e)
{
    struct arena arena = {0}, *call_arena = call->arena;
    const char *const *ids = run->ids.items;
    int status = 0;
    call->arena = &arena;
    run->tasks.waiting_count = 0;
    for (uint32_t i = 0; status == 0 && i < run->ids.count; i++) status = request_rows(call, run, ids[i], e);
    call->arena = call_arena;
    arena_release(&arena);
    if (status == 0)
        run->failure_count = 0;
    else if (may_be_away && e->code == ERR_UNAVAILABLE && ++run->failure_count < FAILURES_MAX)
        status = 0;
    return status;
}

/* In a pretend cluster no job has output. Returns -1. */
static int explain_no_file(struct call *call, struct log_run *run, const struct log_task *t, struct err *e)
{
    struct api_status status;
    struct err ignored;
    log_task_explain(t, e);
    if (!t->has_started) return -1;
    if (instance_request(call, &run->client, "GET", API_STATUS, NULL, NULL, &api_status_shape, &status, &ignored) != 0)
        return -1;
    if (status.pretend == NULL) return -1;
    return err_subject(e, ERR_NOT_FOUND, "job", str(t->id), "has no output: in a pretend cluster no job really runs");
}

/* Opens the file of a task. Returns as log_task_open. */
static int open_task(struct call *call, struct log_run *run, struct log_task *t, struct err *e)
{
    const struct log_values *values = call->values;
    bool was_open = t->fd >= 0;
    int status = log_task_open(t, run->client.socket, e);
    if (status == 1 && !was_open && options_given(&call->parsed, "tail")) log_task_seek_tail(t, values->tail_count);
    return status;
}

/* What one of several tasks has not is said, and the others are printed. */
static int skip_task(struct log_run *run, struct log_task *t, struct err *e)
{
    if (!run->tasks.has_several) return -1;
    t->is_finished = true;
    output_note("fairlead log: %s", ERR_SENTENCE(e));
    return 0;
}

/* Prints what there is of each task. *out_failed: whether one could not be printed. */
static int print_all(struct call *call, struct log_run *run, bool *out_failed, struct err *e)
{
    uint32_t width = log_tasks_prefix_width(&run->tasks);
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < run->tasks.list.count; i++) {
        struct log_task *t = &run->tasks.list.items[i];
        int opened = open_task(call, run, t, e);
        if (opened == 0) opened = explain_no_file(call, run, t, e);
        if (opened < 0) {
            *out_failed = true;
            status = skip_task(run, t, e);
            continue;
        }
        status = log_task_copy(t, width, call->out, e);
        if (status == 0) status = log_task_finish(t, width, call->out, e);
    }
    if (run->tasks.waiting_count > 0) output_note("%u tasks have not started", run->tasks.waiting_count);
    return status;
}

/* One look at a followed task. was_ended: before this look, so this is the last one. */
static int follow_task(struct call *call, struct log_run *run, struct log_task *t, uint32_t width, bool *out_failed,
                       struct err *e)
{
    bool was_ended = t->is_ended;
    int status = open_task(call, run, t, e);
    if (status == 0 && was_ended) status = explain_no_file(call, run, t, e);
    if (status < 0) {
        *out_failed = true;
        return skip_task(run, t, e);
    }
    if (status == 1 && log_task_copy(t, width, call->out, e) != 0) return -1;
    return was_ended ? log_task_finish(t, width, call->out, e) : 0;
}

/* Looks at all followed tasks. *out_count: those that go on, and those that have not started. */
static int follow_tasks(struct call *call, struct log_run *run, uint32_t *out_count, bool *out_failed, struct err *e)
{
    uint32_t width = log_tasks_prefix_width(&run->tasks);
    *out_count = run->tasks.waiting_count;
    for (uint32_t i = 0; i < run->tasks.list.count; i++) {
        struct log_task *t = &run->tasks.list.items[i];
        if (!t->is_finished && follow_task(call, run, t, width, out_failed, e) != 0) return -1;
        if (!t->is_finished) ++*out_count;
    }
    return 0;
}

/* Each task that goes on has an open file. */
static int check_count(const struct log_run *run, struct err *e)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < run->tasks.list.count; i++) count += !run->tasks.list.items[i].is_finished;
    if (count <= FOLLOWED_MAX) return 0;
    return err_set(e, ERR_INPUT, "%u tasks to follow; at most %d: name some of them, such as 7_[0-99]", count,
                   FOLLOWED_MAX);
}

/* The jobs that wait, and why, once. Standard output is that of the jobs alone. */
static void note_waits(const struct log_run *run)
{
    struct buf text = {0};
    for (uint32_t i = 0; i < run->tasks.list.count; i++) {
        const struct log_task *t = &run->tasks.list.items[i];
        if (t->has_started || t->is_ended) continue;
        buf_clear(&text);
        log_task_wait_text(t, &text);
        output_note("fairlead log: job %s waits: %s; its output follows when it has started", t->id, text.text);
    }
    buf_release(&text);
    uint32_t count = run->tasks.waiting_count;
    if (count > 0)
        output_note("fairlead log: %u task%s not started; the output follows then", count,
                    count == 1 ? " has" : "s have");
}

static int follow_all(struct call *call, struct log_run *run, bool *out_failed, struct err *e)
{
    const struct timespec pause = {0, POLL_MS * 1000000};
    note_waits(run);
    for (uint32_t poll = 1;; poll++) {
        uint32_t count;
        if (check_count(run, e) != 0 || follow_tasks(call, run, &count, out_failed, e) != 0) return -1;
        if (count == 0) return 0;
        nanosleep(&pause, NULL);
        if (poll % POLLS_PER_REQUEST == 0 && request_all(call, run, true, e) != 0) return -1;
    }
}

static int log_run(struct call *call, struct err *e)
{
    const struct log_values *values = call->values;
    struct log_run run = {.tasks = {.wants_error = values->has_err, .is_following = values->has_follow}};
    bool has_failed = false;
    if (job_ids_parse(call, 0, &run.ids, e) != 0) return -1;
    run.tasks.has_several = run.ids.count > 1;
    if (instance_open(call, &run.client, e) != 0) return -1;
    int status = request_all(call, &run, false, e);
    if (status == 0)
        status = values->has_follow ? follow_all(call, &run, &has_failed, e) : print_all(call, &run, &has_failed, e);
    log_tasks_release(&run.tasks);
    client_close(&run.client);
    return status != 0 ? status : has_failed;
}

static const struct command_example log_examples[] = {
    {.line = "fairlead log 5", .meaning = "the output of job 5 so far"},
    {.line = "fairlead log -f 6_3", .meaning = "the output of task 3 of array 6, until it has ended"},
    {.line = "fairlead log -f --tail 5 6 9",
     .meaning = "the last lines of all tasks of array 6 and of job 9, and all that follow"},
    {0},
};

const struct command cmd_log = {
    .name = "log",
    .group = GROUP_JOBS,
    .summary = "print the output of jobs",
    .usage = "[--follow] [--tail LINES] [--err] JOB[_TASK]...",
    .description =
        "Prints the file that a job writes to. With --follow it also waits for a job that has not started, and says on standard error why that waits. Of several jobs, and of "
        "an array without a task, each line begins with the id of its task.\n\nA file that was moved or removed is found "
        "while its job runs. On a terminal, control characters other than those of colours are shown as '?'.",
    .options = log_options,
    .values_size = sizeof(struct log_values),
    .operands_min = 1,
    .operands_max = OPERANDS_ANY,
    .examples = log_examples,
    .see_also = "show-job queue wait",
    .run = log_run,
};
