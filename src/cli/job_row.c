#include "cli/job_row.h"

#include <string.h>

#include "base/idset.h"
#include "base/quantity.h"
#include "cli/listing.h"

enum { TASK_MAX = 4000000, TASKS_NAMED_MAX = 100000, TIME_LIMIT_MAX_S = 3650 * 86400 };

void job_cell_id(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_job_row *)row)->id, is_exact);
}

void job_cell_name(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_job_row *)row)->name, is_exact);
}

void job_cell_user(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_job_row *)row)->user, is_exact);
}

void job_cell_account(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_job_row *)row)->account, is_exact);
}

void job_cell_partition(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_job_row *)row)->partition, is_exact);
}

void job_cell_qos(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_job_row *)row)->qos, is_exact);
}

void job_cell_state(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_job_row *)row)->state, is_exact);
}

int64_t job_elapsed_s(const struct wire_job_row *row)
{
    if (row->start_us == 0) return -1;
    int64_t span_us = (row->end_us != 0 ? row->end_us : now_us()) - row->start_us;
    return span_us > 0 ? span_us / US_PER_S : 0;
}

void job_cell_elapsed(const void *row, bool is_exact, struct buf *out)
{
    cell_add_span(out, job_elapsed_s(row), is_exact);
}

void job_cell_limit(const void *row, bool is_exact, struct buf *out)
{
    cell_add_span(out, ((const struct wire_job_row *)row)->time_limit_s, is_exact);
}

/* What a task with a range of slots got; else what is asked for. */
void job_cell_cpus(const void *row, bool is_exact, struct buf *out)
{
    (void)is_exact;
    const struct wire_job_row *job = row;
    struct idset got = {0};
    uint32_t cpus = job->cpus;
    if (job->slots_max > 0 && idset_parse(str(job->cpu_ids), WIRE_CPUS_MAX - 1, "CPUs", &got, NULL) == 0 &&
        idset_count(&got) > cpus)
        cpus = idset_count(&got);
    idset_release(&got);
    buf_add_u64(out, cpus);
}

void job_cell_memory(const void *row, bool is_exact, struct buf *out)
{
    cell_add_memory(out, ((const struct wire_job_row *)row)->mem_mib, is_exact);
}

void job_cell_gpus(const void *row, bool is_exact, struct buf *out)
{
    uint32_t gpus = ((const struct wire_job_row *)row)->gpus;
    if (gpus > 0 || is_exact) {
        buf_add_u64(out, gpus);
    } else {
        buf_add_char(out, '-');
    }
}

void job_cell_reason(const void *row, bool is_exact, struct buf *out)
{
    const char *reason = ((const struct wire_job_row *)row)->reason;
    bool is_none = reason == NULL || strcmp(reason, "None") == 0;
    cell_add_text(out, is_none ? NULL : reason, is_exact);
}

/* Whether its program ran and ended, and how is known. */
static bool has_exit(const struct wire_job_row *row)
{
    if (row->start_us == 0 || row->exit_status < 0) return false;
    bool is_failure = strcmp(row->state, "FAILED") == 0 || strcmp(row->state, "NODE_FAIL") == 0;
    return !is_failure || row->exit_status > 0 || row->signal > 0;
}

/* "3" or "signal 9"; sacct's "3:0" and "0:9" for programs. */
void job_cell_exit(const void *row, bool is_exact, struct buf *out)
{
    const struct wire_job_row *job = row;
    int signal_number = job->signal > 0 ? job->signal : 0;
    if (!has_exit(job)) {
        cell_add_text(out, NULL, is_exact);
    } else if (is_exact) {
        buf_format(out, "%d:%d", job->exit_status, signal_number);
    } else if (signal_number > 0) {
        buf_format(out, "signal %d", signal_number);
    } else {
        buf_format(out, "%d", job->exit_status);
    }
}

void job_cell_max_memory(const void *row, bool is_exact, struct buf *out)
{
    const struct wire_job_row *job = row;
    if (is_exact) {
        buf_format(out, "%lld", (long long)job->max_rss_kib);
    } else if (job->start_us == 0 || job->max_rss_kib == 0) { /* not started, or not told yet */
        buf_add_char(out, '-');
    } else {
        cell_add_memory(out, (uint64_t)(job->max_rss_kib + 1023) / 1024, false);
    }
}

void job_cell_ended(const void *row, bool is_exact, struct buf *out)
{
    cell_add_moment(out, ((const struct wire_job_row *)row)->end_us, is_exact);
}

/* --- ids --- */

typedef ARRAY(const char *) id_list;

static int add_id(struct call *call, struct str id, id_list *ids, struct err *e)
{
    uint32_t job_id, task_id;
    if (wire_job_id_parse(id, "job", &job_id, &task_id, e) != 0) return -1;
    *array_add(ids) = arena_copy(call->arena, id);
    return 0;
}

/* "5_[1-3,7]": each task by itself. */
static int add_tasks(struct call *call, struct str job, struct str tasks, id_list *ids, struct err *e)
{
    struct idset set = {0};
    if (idset_parse(tasks, TASK_MAX, "tasks of the job", &set, e) != 0) return -1;
    int status = 0;
    if (idset_count(&set) > TASKS_NAMED_MAX)
        status = err_set(e, ERR_INPUT, "'%.*s' names more than %d tasks; name the job", (int)tasks.length, tasks.text,
                         TASKS_NAMED_MAX);
    for (uint32_t task = idset_first(&set); status == 0 && task != NONE; task = idset_next(&set, task)) {
        char id[64];
        size_t length = text_format(id, sizeof id, "%.*s_%u", (int)job.length, job.text, task);
        status = add_id(call, (struct str){id, length < sizeof id ? length : sizeof id - 1}, ids, e);
    }
    idset_release(&set);
    return status;
}

int job_ids_parse(struct call *call, uint32_t first_operand, struct wire_list *out_ids, struct err *e)
{
    id_list ids = {0};
    int status = 0;
    for (uint32_t i = first_operand; status == 0 && i < call->parsed.operand_count; i++) {
        struct str text = str(call->parsed.operands[i]), tasks, job = str_cut(text, '_', &tasks);
        bool is_set = tasks.length > 2 && tasks.text[0] == '[' && tasks.text[tasks.length - 1] == ']';
        if (is_set) {
            status = add_tasks(call, job, (struct str){tasks.text + 1, tasks.length - 2}, &ids, e);
        } else {
            status = add_id(call, text, &ids, e);
        }
    }
    *out_ids = (struct wire_list){arena_alloc(call->arena, ids.count * sizeof *ids.items), ids.count};
    if (ids.count > 0) memcpy(out_ids->items, ids.items, ids.count * sizeof *ids.items);
    array_release(&ids);
    return status;
}

int64_t job_time_limit(int64_t given_s)
{
    return given_s == INT64_MAX ? TIME_LIMIT_MAX_S : given_s;
}

/* --- ends --- */

const struct command_exit job_exits[] = {
    {JOB_EXIT_NOT_STARTED,
     "the job failed before its program ran (its directory, output or program could not be opened)"},
    {JOB_EXIT_CANCELLED, "the job was cancelled"},
    {JOB_EXIT_TIMEOUT, "the job reached its time limit"},
    {JOB_EXIT_NODE_FAIL, "the machine or the job's keeper failed while the job ran, and its end is not known"},
    {128, "plus a signal's number: the job was ended by that signal"},
    {0},
};

int job_exit_status(const struct wire_job_row *row)
{
    if (strcmp(row->state, "COMPLETED") == 0) return 0;
    if (strcmp(row->state, "CANCELLED") == 0) return JOB_EXIT_CANCELLED;
    if (strcmp(row->state, "TIMEOUT") == 0) return JOB_EXIT_TIMEOUT;
    if (strcmp(row->state, "NODE_FAIL") == 0) return JOB_EXIT_NODE_FAIL;
    if (row->signal > 0) return 128 + row->signal;
    return has_exit(row) ? row->exit_status : JOB_EXIT_NOT_STARTED;
}

void job_describe_end(const struct wire_job_row *row, struct buf *out)
{
    buf_add_text(out, row->state);
    if (row->signal > 0) {
        buf_format(out, ", signal %d (%s)", row->signal, strsignal(row->signal));
    } else if (row->exit_status > 0) {
        buf_format(out, ", exit status %d", row->exit_status);
    }
    if (row->detail && row->detail[0] != '\0') buf_format(out, " (%s)", row->detail);
}
