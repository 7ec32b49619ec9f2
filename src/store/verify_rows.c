#include "store/verify_rows.h"

#include "store/job_rows.h"

/* Texts are left out: an array's can have megabytes. */
static struct job_row_columns columns_of(enum job_field_home home)
{
    const struct job_row_columns all = job_row_columns_of(home);
    struct job_row_columns columns = {0};
    for (uint32_t i = 0; i < all.count; i++) {
        if (!field_is_text(job_field_at(all.field[i]))) job_row_columns_add(&columns, all.field[i]);
    }
    return columns;
}

/* Listings have further words for states, which no row may have. */
static int fail_state(const char *text, struct err *e)
{
    int status = err_value(e, job_field_at(JOB_FIELD_STATE)->name, str(text), "one of %s", job_state_names);
    e->code = ERR_INTERNAL;
    return status;
}

static int check_column(const struct job_row_columns *columns, sqlite3_stmt *row, uint32_t i, struct field_value *out,
                        struct err *e)
{
    bool is_state = columns->field[i] == JOB_FIELD_STATE;
    if (!field_column_read(&columns->column[i], row, (int)i, out))
        return is_state ? fail_state(sql_column_text(row, (int)i), e)
                        : field_column_fail(&columns->column[i], row, (int)i, e);
    return is_state && out->number >= JOB_STATE_COUNT ? fail_state(sql_column_text(row, (int)i), e) : 0;
}

static int check_row(const struct job_row_columns *columns, enum job_field_home home, sqlite3_stmt *row, struct err *e)
{
    int64_t state = 0, end_us = 0;
    for (uint32_t i = 0; i < columns->count; i++) {
        struct field_value value;
        if (check_column(columns, row, i, &value, e) != 0) return -1;
        if (columns->field[i] == JOB_FIELD_STATE) state = value.number;
        if (columns->field[i] == JOB_FIELD_END) end_us = value.number;
    }
    if (home == JOB_HOME_JOB || job_state_is_end((enum job_state)state) == (end_us != FIELD_ABSENT)) return 0;
    return err_field(e, ERR_INTERNAL, job_field_at(JOB_FIELD_STATE)->name, "does not fit its end_us");
}

static int name_row(const char *path, enum job_field_home home, sqlite3_stmt *row, int first_id, struct err *e)
{
    long long job_id = sqlite3_column_int64(row, first_id), task_id = sqlite3_column_int64(row, first_id + 1);
    if (home == JOB_HOME_JOB) return err_prefix(e, "%s: job %lld", path, job_id);
    return err_prefix(e, "%s: task %lld of job %lld", path, task_id, job_id);
}

/* The row's two ids come after its columns. */
static int check_table(sqlite3 *db, const char *path, enum job_field_home home, struct err *e)
{
    const struct job_row_columns columns = columns_of(home);
    struct buf text = {0};
    for (uint32_t i = 0; i < columns.count; i++)
        buf_format(&text, "%s%s", i == 0 ? "SELECT " : ", ", job_field_rows[columns.field[i]].column);
    buf_format(&text, ", %s", home == JOB_HOME_JOB ? "id, 0 FROM job" : "job_id, task_id FROM task");
    sqlite3_stmt *rows = sql_prepare(db, text.text, e);
    buf_release(&text);
    if (rows == NULL) return -1;
    int result;
    while ((result = sql_step(rows, e)) == 1 && check_row(&columns, home, rows, e) == 0) continue;
    if (result == 1) (void)name_row(path, home, rows, (int)columns.count, e);
    sqlite3_finalize(rows);
    return result == 0 ? 0 : -1;
}

int verify_rows(sqlite3 *db, const char *path, struct err *e)
{
    if (check_table(db, path, JOB_HOME_JOB, e) != 0) return -1;
    return check_table(db, path, JOB_HOME_TASK, e);
}
