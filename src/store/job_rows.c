#include "store/job_rows.h"

#include "base/ensure.h"
#include "engine/job_members.h"
#include "store/field_columns.h"

/* Before its fields a row of task has these two, which are its job's. */
#define TASK_OWN_COLUMNS "job_id, association_id"
enum { TASK_JOB_ID, TASK_ASSOCIATION_ID, TASK_FIELDS };

static bool is_column(enum job_field f, enum job_field_home home)
{
    return job_field_rows[f].home == home && job_field_rows[f].column != NULL;
}

/* --- statements --------------------------------------------------------------------------------------------------- */

static void add_columns(enum job_field_home home, const char *separator, struct buf *out)
{
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (!is_column(f, home)) continue;
        buf_format(out, "%s%s", separator, job_field_rows[f].column);
        separator = ", ";
    }
}

static void add_parameters(uint32_t count, struct buf *out)
{
    for (uint32_t i = 1; i <= count; i++) buf_format(out, "%s?%u", i > 1 ? ", " : "", i);
}

static uint32_t count_columns(enum job_field_home home)
{
    uint32_t count = home == JOB_HOME_TASK ? TASK_FIELDS : 0;
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) count += is_column(f, home);
    return count;
}

static void add_changes(enum job_field_home home, struct buf *out)
{
    const char *separator = " DO UPDATE SET ";
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        const char *column = job_field_rows[f].column;
        if (!is_column(f, home) || job_field_rows[f].is_constant) continue;
        buf_format(out, "%s%s = excluded.%s", separator, column, column);
        separator = ", ";
    }
}

static void add_put(enum job_field_home home, const char *head, const char *key, struct buf *out)
{
    buf_add_text(out, head);
    add_columns(home, home == JOB_HOME_TASK ? ", " : "", out);
    buf_add_text(out, ") VALUES(");
    add_parameters(count_columns(home), out);
    buf_format(out, ") ON CONFLICT(%s)", key);
    add_changes(home, out);
}

void job_rows_put_job(struct buf *out)
{
    add_put(JOB_HOME_JOB, "INSERT INTO job(", "id", out);
}

void job_rows_put_task(struct buf *out)
{
    add_put(JOB_HOME_TASK, "INSERT INTO task(" TASK_OWN_COLUMNS, "job_id, task_id", out);
}

void job_rows_select_jobs(struct buf *out)
{
    add_columns(JOB_HOME_JOB, "SELECT ", out);
    buf_add_text(out, " FROM job WHERE ended_us IS NULL ORDER BY id");
}

void job_rows_select_tasks(struct buf *out)
{
    buf_add_text(out, "SELECT " TASK_OWN_COLUMNS);
    add_columns(JOB_HOME_TASK, ", ", out);
    buf_add_text(out, " FROM task WHERE end_us IS NULL ORDER BY launch_id");
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

int job_row_write(sqlite3_stmt *put, const struct state *state, uint32_t job, struct arena *arena, struct err *e)
{
    int parameter = 1;
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (!is_column(f, JOB_HOME_JOB)) continue;
        const struct field_value value = job_member(state, &state->jobs.items[job], f, arena);
        field_column_bind(put, parameter++, job_field_at(f), &value, job_field_rows[f].empty_is_null);
    }
    return sql_step(put, e);
}

int job_row_write_task(sqlite3_stmt *put, const struct state *state, uint32_t task, struct arena *arena, struct err *e)
{
    const struct task *k = &state->tasks.items[task];
    int parameter = TASK_FIELDS + 1;
    sql_bind_int(put, TASK_JOB_ID + 1, k->job_id);
    sql_bind_int(put, TASK_ASSOCIATION_ID + 1, state->assocs.items[k->assoc].id);
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (!is_column(f, JOB_HOME_TASK)) continue;
        const struct field_value value = task_member(state, k, f, arena);
        field_column_bind(put, parameter++, job_field_at(f), &value, job_field_rows[f].empty_is_null);
    }
    return sql_step(put, e);
}

/* --- loading ------------------------------------------------------------------------------------------------------ */

static int read_column(sqlite3_stmt *row, int column, enum job_field f, struct field_value *out_value, struct err *e)
{
    const struct field *field = job_field_at(f);
    return field_column_read(row, column, field, out_value) ? 0 : field_column_fail(row, column, field, e);
}

/* Which row an error is of. The error itself may be about something else: an object that does not exist. */
static int fail_of(const char *row, int64_t id, struct err *e)
{
    if (e != NULL) e->code = ERR_INTERNAL;
    return err_prefix(e, "%s %lld", row, (long long)id);
}

static int read_job(sqlite3_stmt *row, const struct state *state, struct job *j, struct arena *arena, struct err *e)
{
    int column = 0;
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        struct field_value value;
        if (!is_column(f, JOB_HOME_JOB)) continue;
        if (read_column(row, column++, f, &value, e) != 0) return -1;
        if (job_member_set(state, j, f, &value, arena, e) != 0) return -1;
    }
    return 0;
}

int job_row_load(sqlite3_stmt *row, struct state *state, struct err *e)
{
    struct job_text text = {0};
    struct job j = {.text = &text};
    ensure(job_field_rows[JOB_FIELD_JOB_ID].column != NULL);
    if (read_job(row, state, &j, &state->cycle, e) != 0) {
        job_members_release(&j);
        return fail_of("job", sqlite3_column_int64(row, 0), e);
    }
    state_restore_job(state, &j, j.assoc);
    return 0;
}

static int read_task(sqlite3_stmt *row, const struct state *state, struct task *k, struct err *e)
{
    int column = TASK_FIELDS;
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        struct field_value value;
        if (!is_column(f, JOB_HOME_TASK)) continue;
        if (read_column(row, column++, f, &value, e) != 0) return -1;
        if (task_member_set(state, k, f, &value, e) != 0) return -1;
    }
    if (k->state != JOB_PENDING && !job_state_is_end(k->state)) return 0;
    return err_field(e, ERR_INTERNAL, job_field_at(JOB_FIELD_STATE)->name, "it is not one of a task that lives");
}

int job_row_load_task(sqlite3_stmt *row, struct state *state, struct err *e)
{
    bool bad = false;
    struct task k = {.job_id = (uint32_t)sql_column_ranged(row, TASK_JOB_ID, 1, NONE - 1, &bad)};
    if (bad || read_task(row, state, &k, e) != 0) {
        if (bad) (void)err_field(e, ERR_INTERNAL, "job_id", "a number is out of range");
        placement_release(&k.placement);
        mem_free(k.tres.items);
        return fail_of("task of job", sqlite3_column_int64(row, TASK_JOB_ID), e);
    }
    state_restore_task(state, &k);
    return 0;
}
