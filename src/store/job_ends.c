/* Jobs of long ago, which are not in memory: how they ended, for those that wait for them, and their rows, for a
 * requeue. */
#include "base/idset.h"
#include "engine/job_members.h"
#include "fields/dependency_text.h"
#include "store/internal.h"
#include "store/job_rows.h"

static int read_tasks(struct store *s, struct event_end *end, struct err *e)
{
    sqlite3_stmt *get = s->statements[GET_COMPLETED_TASKS];
    int result;
    sql_bind_int(get, 1, end->job_id);
    while ((result = sql_step(get, e)) == 1) {
        int64_t started_us = sqlite3_column_int64(get, 2);
        if (started_us > end->started_us) end->started_us = started_us;
        if (sqlite3_column_int(get, 1) != 0) idset_add(&end->completed, (uint32_t)sqlite3_column_int64(get, 0));
    }
    return result;
}

int store_job_end(struct store *s, uint32_t job_id, struct event_end *out_end, struct err *e)
{
    sqlite3_stmt *get = s->statements[GET_ENDED_JOB];
    struct event_end end = {.job_id = job_id};
    sql_bind_int(get, 1, job_id);
    int found = sql_step(get, e);
    if (found < 0) return -1;
    if (found == 0) return err_set(e, ERR_NOT_FOUND, "job %u has no record of its end", job_id);
    end.is_array = !sql_column_is_null(get, 0);
    int status = 0;
    if (end.is_array)
        status = idset_parse(str(sql_column_text(get, 0)), NONE - 1, "array_tasks", &end.tasks, e);
    else
        idset_add(&end.tasks, 0);
    sqlite3_reset(get);
    if (status == 0) status = read_tasks(s, &end, e);
    if (status != 0) store_job_end_release(&end);
    if (status == 0) *out_end = end;
    return status;
}

void store_job_end_release(struct event_end *end)
{
    idset_release(&end->tasks);
    idset_release(&end->completed);
}

static int read_failed(struct store *s, uint32_t job_id, struct idset *failed, struct err *e)
{
    sqlite3_stmt *get = s->statements[GET_FAILED_TASKS];
    int result;
    sql_bind_int(get, 1, job_id);
    while ((result = sql_step(get, e)) == 1) idset_add(failed, (uint32_t)sqlite3_column_int64(get, 0));
    return result;
}

/* The user and the account. Returns 1, or 0 if there is no such job. */
static int read_owner(struct store *s, struct event_ended_job *job, struct arena *arena, struct err *e)
{
    sqlite3_stmt *get = s->statements[GET_OWNER_OF_JOB];
    sql_bind_int(get, 1, job->job_id);
    int found = sql_step(get, e);
    if (found != 1) return found;
    job->user = arena_copy(arena, str(sql_column_text(get, 0)));
    job->account = arena_copy(arena, str(sql_column_text(get, 1)));
    sqlite3_reset(get);
    return 1;
}

const char *store_job_user(struct store *s, uint32_t job_id, struct arena *arena)
{
    struct err ignored;
    struct event_ended_job job = {.job_id = job_id};
    return read_owner(s, &job, arena, &ignored) == 1 ? job.user : NULL;
}

/* What it waited for, if it was cancelled meanwhile. */
static int read_conditions(struct store *s, struct job *row, struct err *e)
{
    sqlite3_stmt *get = s->statements[GET_CONDITIONS];
    struct arena arena = {0};
    int result;
    sql_bind_int(get, 1, row->id);
    while ((result = sql_step(get, e)) == 1) {
        bool is_any = str_equal(str(sql_column_text(get, 2)), str("?"));
        uint32_t position = (uint32_t)sqlite3_column_int64(get, 0);
        if (dependency_text_restore(str(sql_column_text(get, 1)), position, is_any, &arena, &row->dependency) == 0)
            continue;
        sqlite3_reset(get);
        result = err_set(e, ERR_INTERNAL, "job %u has a condition that cannot be read", row->id);
        break;
    }
    arena_release(&arena);
    return result;
}

static void copy_text(const char **text, struct arena *arena)
{
    if (*text != NULL) *text = arena_copy(arena, str(*text));
}

/* Those of a statement last until it is reset. */
static void copy_texts(struct job *row, struct arena *arena)
{
    const char **texts = (const char **)(void *)row->text;
    for (size_t i = 0; i < sizeof *row->text / sizeof *texts; i++) copy_text(&texts[i], arena);
    texts = (const char **)(void *)row->rare;
    for (size_t i = 0; texts != NULL && i < sizeof *row->rare / sizeof *texts; i++) copy_text(&texts[i], arena);
    if (row->placing == NULL) return;
    copy_text(&row->placing->queues, arena);
    copy_text(&row->placing->master_queues, arena);
    copy_text(&row->placing->soft_queues, arena);
    copy_text(&row->placing->constraint, arena);
}

int store_ended_job(struct store *s, const struct state *state, uint32_t job_id, struct arena *arena,
                    struct event_ended_job *out, struct err *e)
{
    sqlite3_stmt *get = s->statements[GET_ENDED_ROW];
    struct job *row = arena_alloc(arena, sizeof *row);
    *out = (struct event_ended_job){.job_id = job_id};
    int found = read_owner(s, out, arena, e);
    if (found < 0) return -1;
    if (found == 0) return err_set(e, ERR_NOT_FOUND, "job %u has no record of its end", job_id);
    sql_bind_int(get, 1, job_id);
    if (sql_step(get, e) != 1) return -1;
    int status = job_row_read(&s->job_columns, get, state, arena, row, &out->err);
    if (status == 0) copy_texts(row, arena);
    sqlite3_reset(get);
    if (status == 0 && job_rare(row)->origin != NULL) {
        job_members_release(row);
        status = err_set(&out->err, ERR_CONFLICT,
                         "it was moved in from another instance, without its script; submit it anew");
    }
    if (status != 0) {
        (void)err_prefix(&out->err, "job %u cannot be requeued", job_id);
        out->err.code = ERR_CONFLICT; /* it is not the job that does not exist */
        return 0;
    }
    out->row = row;
    if (read_failed(s, job_id, &row->failed, e) == 0 && read_conditions(s, row, e) == 0) return 0;
    store_ended_job_release(out);
    return -1;
}

void store_ended_job_release(struct event_ended_job *job)
{
    if (job->row == NULL) return;
    struct job row = *job->row;
    idset_release(&row.failed);
    dependency_list_free(row.dependency);
    job_members_release(&row);
}

int store_unfinished_requeues(struct store *s, struct arena *arena, struct store_unfinished_requeue **out_list,
                              uint32_t *out_count, struct err *e)
{
    struct {
        ARRAY(struct store_unfinished_requeue) rows;
    } all = {0};
    sqlite3_stmt *get = s->statements[GET_UNFINISHED_REQUEUES];
    int result;
    while ((result = sql_step(get, e)) == 1) {
        *array_add(&all.rows) = (struct store_unfinished_requeue){.job_id = (uint32_t)sqlite3_column_int64(get, 0),
                                                                  .task_next = (uint32_t)sqlite3_column_int64(get, 1),
                                                                  .is_held = sqlite3_column_int(get, 2) != 0,
                                                                  .ended_us = sqlite3_column_int64(get, 3)};
    }
    *out_count = all.rows.count;
    *out_list = arena_alloc(arena, (all.rows.count + (size_t)1) * sizeof **out_list);
    for (uint32_t i = 0; i < all.rows.count; i++) (*out_list)[i] = all.rows.items[i];
    array_release(&all.rows);
    return result < 0 ? -1 : 0;
}
