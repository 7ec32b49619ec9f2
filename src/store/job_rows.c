#include "store/job_rows.h"

#include "base/ensure.h"
#include "engine/job_members.h"
#include "engine/placements.h"

/* A row of task begins with these two columns, which are not fields of home TASK. */
#define TASK_FIRST_COLUMNS "job_id, association_id"
enum { TASK_JOB_ID, TASK_ASSOCIATION_ID, TASK_FIRST_FIELD };

void job_row_columns_add(struct job_row_columns *columns, enum job_field f)
{
    ensure(columns->count < JOB_FIELD_COUNT);
    columns->field[columns->count] = f;
    columns->column[columns->count++] = field_column_of(job_field_at(f), job_field_rows[f].empty_is_null);
}

struct job_row_columns job_row_columns_of(enum job_field_home home)
{
    struct job_row_columns columns = {0};
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (job_field_rows[f].home == home && job_field_rows[f].column != NULL) job_row_columns_add(&columns, f);
    }
    return columns;
}

/* --- statements --------------------------------------------------------------------------------------------------- */

static void add_columns(const struct job_row_columns *columns, const char *separator, struct buf *out)
{
    for (uint32_t i = 0; i < columns->count; i++) {
        buf_format(out, "%s%s", separator, job_field_rows[columns->field[i]].column);
        separator = ", ";
    }
}

static void add_parameters(uint32_t count, struct buf *out)
{
    for (uint32_t i = 1; i <= count; i++) buf_format(out, "%s?%u", i > 1 ? ", " : "", i);
}

static void add_update_clause(const struct job_row_columns *columns, struct buf *out)
{
    const char *separator = "";
    buf_add_text(out, " DO UPDATE SET ");
    for (uint32_t i = 0; i < columns->count; i++) {
        const struct job_field_row *row = &job_field_rows[columns->field[i]];
        if (row->is_constant || row->is_indexed) continue;
        buf_format(out, "%s%s = excluded.%s", separator, row->column, row->column);
        separator = ", ";
    }
}

static void add_put(enum job_field_home home, const char *head, const char *key, struct buf *out)
{
    const struct job_row_columns columns = job_row_columns_of(home);
    buf_add_text(out, head);
    add_columns(&columns, home == JOB_HOME_TASK ? ", " : "", out);
    buf_add_text(out, ") VALUES(");
    add_parameters(columns.count + (home == JOB_HOME_TASK ? TASK_FIRST_FIELD : 0), out);
    buf_format(out, ") ON CONFLICT(%s)", key);
    add_update_clause(&columns, out);
}

static bool is_moving(const struct job_row_columns *columns, uint32_t i)
{
    return job_field_rows[columns->field[i]].is_indexed;
}

static void add_moving(const struct job_row_columns *columns, const char *operator, const char * separator,
                       struct buf *out)
{
    const char *before = "";
    for (uint32_t i = 0; i < columns->count; i++) {
        if (!is_moving(columns, i)) continue;
        buf_format(out, "%s%s %s ?%u", before, job_field_rows[columns->field[i]].column, operator, i + 1);
        before = separator;
    }
}

static uint32_t column_of(const struct job_row_columns *columns, enum job_field f)
{
    uint32_t i = 0;
    while (columns->field[i] != f) i++;
    return i;
}

void job_rows_move_job(struct buf *out)
{
    const struct job_row_columns columns = job_row_columns_of(JOB_HOME_JOB);
    buf_add_text(out, "UPDATE job SET ");
    add_moving(&columns, "=", ", ", out);
    buf_format(out, " WHERE id = ?%u AND (", column_of(&columns, JOB_FIELD_JOB_ID) + 1);
    add_moving(&columns, "IS NOT", " OR ", out);
    buf_add_text(out, ")");
}

void job_rows_put_job(struct buf *out)
{
    add_put(JOB_HOME_JOB, "INSERT INTO job(", "id", out);
}

void job_rows_put_task(struct buf *out)
{
    add_put(JOB_HOME_TASK, "INSERT INTO task(" TASK_FIRST_COLUMNS, "job_id, task_id, restarts", out);
}

void job_rows_select_jobs(struct buf *out)
{
    const struct job_row_columns columns = job_row_columns_of(JOB_HOME_JOB);
    add_columns(&columns, "SELECT ", out);
    buf_add_text(out, " FROM job WHERE ended_us IS NULL ORDER BY id");
}

void job_rows_select_ended_job(struct buf *out)
{
    const struct job_row_columns columns = job_row_columns_of(JOB_HOME_JOB);
    add_columns(&columns, "SELECT ", out);
    buf_add_text(out, " FROM job WHERE id = ?1 AND ended_us IS NOT NULL");
}

void job_rows_select_tasks(struct buf *out)
{
    const struct job_row_columns columns = job_row_columns_of(JOB_HOME_TASK);
    buf_add_text(out, "SELECT " TASK_FIRST_COLUMNS);
    add_columns(&columns, ", ", out);
    buf_add_text(out, " FROM task WHERE end_us IS NULL ORDER BY launch_id");
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

int job_row_write(const struct job_row_columns *columns, sqlite3_stmt *move, sqlite3_stmt *put,
                  const struct state *state, uint32_t job, struct arena *arena, struct err *e)
{
    for (uint32_t i = 0; i < columns->count; i++) {
        const struct field_value value = job_member(state, &state->jobs.items[job], columns->field[i], arena);
        field_column_bind(&columns->column[i], put, (int)i + 1, &value);
        if (is_moving(columns, i) || columns->field[i] == JOB_FIELD_JOB_ID)
            field_column_bind(&columns->column[i], move, (int)i + 1, &value);
    }
    return sql_step(move, e) == 0 ? sql_step(put, e) : -1;
}

int job_row_write_task(const struct job_row_columns *columns, sqlite3_stmt *put, const struct state *state,
                       uint32_t task, struct arena *arena, struct err *e)
{
    const struct task *k = &state->tasks.items[task];
    sql_bind_int(put, TASK_JOB_ID + 1, k->job_id);
    sql_bind_int(put, TASK_ASSOCIATION_ID + 1, state->assocs.items[k->assoc].id);
    for (uint32_t i = 0; i < columns->count; i++) {
        const struct field_value value = task_member(state, k, columns->field[i], arena);
        field_column_bind(&columns->column[i], put, TASK_FIRST_FIELD + (int)i + 1, &value);
    }
    return sql_step(put, e);
}

/* --- loading ------------------------------------------------------------------------------------------------------ */

/* Names the row of an error, and makes the error ERR_INTERNAL: a row that cannot be loaded is the database's fault,
 * also if the error is about an object that does not exist. */
static int fail_of(const char *row, int64_t id, struct err *e)
{
    if (e != NULL) e->code = ERR_INTERNAL;
    return err_prefix(e, "%s %lld", row, (long long)id);
}

static int read_job(const struct job_row_columns *columns, sqlite3_stmt *row, const struct state *state, struct job *j,
                    struct arena *arena, struct err *e)
{
    for (uint32_t i = 0; i < columns->count; i++) {
        const struct field_column *column = &columns->column[i];
        struct field_value value;
        if (!field_column_read(column, row, (int)i, &value)) return field_column_fail(column, row, (int)i, e);
        if (job_member_set(state, j, columns->field[i], &value, arena, e) != 0) return -1;
    }
    return 0;
}

int job_row_read(const struct job_row_columns *columns, sqlite3_stmt *row, const struct state *state,
                 struct arena *arena, struct job *out, struct err *e)
{
    *out = (struct job){.text = arena_alloc(arena, sizeof *out->text)};
    if (read_job(columns, row, state, out, arena, e) == 0) return 0;
    job_members_release(out);
    return -1;
}

int job_row_load(const struct job_row_columns *columns, sqlite3_stmt *row, struct state *state, struct err *e)
{
    struct job_text text = {0};
    struct job j = {.text = &text};
    ensure(columns->field[0] == JOB_FIELD_JOB_ID);
    if (read_job(columns, row, state, &j, &state->cycle, e) != 0) {
        job_members_release(&j);
        return fail_of("job", sqlite3_column_int64(row, 0), e);
    }
    state_restore_job(state, &j, j.assoc); /* still an id, see job_members.h */
    return 0;
}

static int read_task(const struct job_row_columns *columns, sqlite3_stmt *row, const struct state *state,
                     struct task *k, struct err *e)
{
    for (uint32_t i = 0; i < columns->count; i++) {
        const struct field_column *column = &columns->column[i];
        int at = TASK_FIRST_FIELD + (int)i;
        struct field_value value;
        if (!field_column_read(column, row, at, &value)) return field_column_fail(column, row, at, e);
        if (task_member_set(state, k, columns->field[i], &value, e) != 0) return -1;
    }
    if (k->state != JOB_PENDING && !job_state_is_end(k->state)) return 0;
    return err_field(e, ERR_INTERNAL, job_field_at(JOB_FIELD_STATE)->name,
                     "must be the state of a task that has not ended");
}

int job_row_load_task(const struct job_row_columns *columns, sqlite3_stmt *row, struct state *state, struct err *e)
{
    bool bad = false;
    struct task k = {.job_id = (uint32_t)sql_column_ranged(row, TASK_JOB_ID, 1, NONE - 1, &bad),
                     .assoc = (uint32_t)sql_column_ranged(row, TASK_ASSOCIATION_ID, 1, NONE - 1, &bad)};
    if (bad || read_task(columns, row, state, &k, e) != 0) {
        if (bad) (void)err_field(e, ERR_INTERNAL, "job_id or association_id", "is out of range");
        placements_release(&k);
        mem_free(k.tres.items);
        return fail_of("task of job", sqlite3_column_int64(row, TASK_JOB_ID), e);
    }
    state_restore_task(state, &k);
    return 0;
}
