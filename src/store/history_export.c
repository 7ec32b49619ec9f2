/* Reads the ended jobs of an instance, to be moved into another one (moved_jobs.c). It does not matter whether the
 * instance runs: the connection is read-only, and everything is of one snapshot.
 *
 * The file is opened as its owner: only the user whose instance it is exports it, so a link or a file that another user
 * has put there is read with no more rights than that user has. */
#include <sys/stat.h>
#include <unistd.h>

#include "fields/moved_fields.h"
#include "store/internal.h"

enum { PART_TASKS_MAX = 100 }; /* of a job in one piece */

struct exporting {
    sqlite3 *db;
    const char *path;
    const struct store_export *to;
    struct job_row_columns job_columns, task_columns;
    sqlite3_stmt *jobs, *tasks;
    struct job_values job;
    struct job_values parts[PART_TASKS_MAX];
    uint32_t part_count;
    struct arena arena; /* texts of parts */
    struct buf out, err;
};

/* --- statements --------------------------------------------------------------------------------------------------- */

static struct job_row_columns columns_of(enum moved_use (*use)(enum job_field f))
{
    struct job_row_columns columns = {0};
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (use(f) != MOVED_NOT) job_row_columns_add(&columns, f);
    }
    return columns;
}

static sqlite3_stmt *prepare(sqlite3 *db, const struct job_row_columns *columns, const char *tail, struct err *e)
{
    struct buf text = {0};
    for (uint32_t i = 0; i < columns->count; i++)
        buf_format(&text, "%s%s", i == 0 ? "SELECT " : ", ", job_field_rows[columns->field[i]].column);
    buf_add_text(&text, tail);
    sqlite3_stmt *statement = sql_prepare(db, text.text, e);
    buf_release(&text);
    return statement;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static int read_row(const struct job_row_columns *columns, sqlite3_stmt *row, struct job_values *out, struct err *e)
{
    *out = (struct job_values){0};
    for (uint32_t i = 0; i < columns->count; i++) {
        enum job_field f = columns->field[i];
        if (!field_column_read(&columns->column[i], row, (int)i, &out->value[f]))
            return field_column_fail(&columns->column[i], row, (int)i, e);
        out->is_given[f] = !field_is_absent(job_field_at(f), &out->value[f]);
    }
    return 0;
}

/* The new instance gives the job another id, and its output is where it was. */
static void keep_id(const struct job_values *job, uint32_t id, enum job_field f, struct buf *out,
                    struct job_values *values)
{
    bool is_array = job->is_given[JOB_FIELD_ARRAY];
    if (!values->is_given[f]) return;
    buf_clear(out);
    buf_add_text(out, "");
    for (const char *p = values->value[f].text; *p != '\0'; p++) {
        bool is_id = p[0] == '%' && (p[1] == 'j' || p[1] == 'A');
        if (is_id) buf_format(out, p[1] == 'j' && is_array ? "%u_%%a" : "%u", id);
        if (!is_id) buf_add_char(out, *p);
        if (!is_id && p[0] == '%' && p[1] != '\0') buf_add_char(out, p[1]);
        if (p[0] == '%' && p[1] != '\0') p++;
    }
    values->value[f].text = out->text;
}

static void keep_texts(struct exporting *x, struct job_values *task)
{
    for (uint32_t i = 0; i < x->task_columns.count; i++) {
        enum job_field f = x->task_columns.field[i];
        if (task->is_given[f] && field_is_text(job_field_at(f)))
            task->value[f].text = arena_copy(&x->arena, str(task->value[f].text));
    }
}

static int take(struct exporting *x, uint32_t id, struct err *e)
{
    const struct moved_job job = {.id = id, .job = &x->job, .tasks = x->parts, .task_count = x->part_count};
    int status = x->to->take(x->to->context, &job, e);
    x->part_count = 0;
    arena_clear(&x->arena);
    return status;
}

static int export_tasks(struct exporting *x, uint32_t id, struct err *e)
{
    int result, status = 0;
    bool is_first = true;
    sql_bind_int(x->tasks, 1, id);
    while (status == 0 && (result = sql_step(x->tasks, e)) == 1) {
        if (x->part_count == PART_TASKS_MAX) {
            status = take(x, id, e);
            is_first = false;
        }
        struct job_values *part = &x->parts[x->part_count];
        if (status == 0) status = read_row(&x->task_columns, x->tasks, part, e);
        if (status != 0) break;
        keep_texts(x, part);
        x->part_count++;
    }
    if (status != 0) sqlite3_reset(x->tasks);
    if (status != 0 || result < 0) return -1;
    return x->part_count > 0 || is_first ? take(x, id, e) : 0;
}

static int export_jobs(struct exporting *x, struct err *e)
{
    int result;
    while ((result = sql_step(x->jobs, e)) == 1) {
        int id_column = (int)x->job_columns.count;
        uint32_t id = (uint32_t)sqlite3_column_int64(x->jobs, id_column);
        int status = read_row(&x->job_columns, x->jobs, &x->job, e);
        if (status == 0) {
            keep_id(&x->job, id, JOB_FIELD_OUT_PATTERN, &x->out, &x->job);
            keep_id(&x->job, id, JOB_FIELD_ERR_PATTERN, &x->err, &x->job);
            status = export_tasks(x, id, e);
        }
        if (status == 0) continue;
        if (e->code == ERR_INTERNAL) (void)err_prefix(e, "%s: job %u", x->path, id);
        return -1;
    }
    return result;
}

/* --- the database ------------------------------------------------------------------------------------------------- */

static int check_owner(const char *path, const char *what, struct err *e)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return err_set(e, ERR_INPUT, "%s: there is no %s; give the state directory of your instance", path, what);
    if (st.st_uid == geteuid()) return 0;
    return err_set(e, ERR_INPUT, "%s belongs to user %u; only that user can move its history, and you are user %u",
                   path, st.st_uid, geteuid());
}

static int check_version(sqlite3 *db, const char *path, struct err *e)
{
    uint32_t version;
    if (schema_identify(db, schema_version, &version, e) != 0) return -1;
    if (version == schema_version) return 0;
    return err_set(e, ERR_CONFLICT,
                   "%s has schema version %u, and a history is moved from version %u: start its instance once, which "
                   "brings it up to date",
                   path, version, schema_version);
}

static int read_history(sqlite3 *db, const char *path, struct store_history *out, struct err *e)
{
    sqlite3_stmt *row = sql_prepare(db,
                                    "SELECT ifnull(instance_id, ''), ifnull(is_pretend, 0),"
                                    " (SELECT count(*) FROM job WHERE ended_us IS NOT NULL AND origin IS NULL),"
                                    " (SELECT count(*) FROM job WHERE ended_us IS NULL) FROM counters",
                                    e);
    if (row == NULL) return -1;
    bool is_pretend = false;
    int result = sql_step(row, e);
    if (result == 1) {
        text_format(out->instance_id, sizeof out->instance_id, "%s", sql_column_text(row, 0));
        is_pretend = sqlite3_column_int(row, 1) != 0;
        out->ended_jobs = (uint64_t)sqlite3_column_int64(row, 2);
        out->live_jobs = (uint64_t)sqlite3_column_int64(row, 3);
    }
    sqlite3_finalize(row);
    if (result < 0) return -1;
    if (is_pretend)
        return err_set(e, ERR_CONFLICT, "%s is the database of a pretend cluster, whose jobs have never run", path);
    if (result == 0 || !moved_jobs_is_instance(out->instance_id))
        return err_set(e, ERR_CONFLICT, "%s has no id of an instance: start its instance once", path);
    return 0;
}

static int export_all(struct exporting *x, struct err *e)
{
    struct store_history history = {0};
    if (sql_run(x->db, "BEGIN", e) != 0 || check_version(x->db, x->path, e) != 0) return -1;
    if (read_history(x->db, x->path, &history, e) != 0) return -1;
    if (x->to->begin(x->to->context, &history, e) != 0) return -1;
    x->job_columns = columns_of(moved_fields_in_job);
    x->task_columns = columns_of(moved_fields_in_task);
    x->jobs =
        prepare(x->db, &x->job_columns, ", id FROM job WHERE ended_us IS NOT NULL AND origin IS NULL ORDER BY id", e);
    x->tasks = prepare(x->db, &x->task_columns, " FROM task WHERE job_id = ?1 ORDER BY task_id, restarts", e);
    return x->jobs != NULL && x->tasks != NULL ? export_jobs(x, e) : -1;
}

int store_export_history(const char *directory, const struct store_export *exporter, struct err *e)
{
    struct buf path = {0};
    struct exporting *x = mem_resize(NULL, 0, sizeof *x);
    *x = (struct exporting){.to = exporter};
    int result = check_owner(directory, "such directory", e);
    buf_format(&path, "%s/fairlead.db", directory);
    x->path = path.text;
    if (result == 0) result = check_owner(path.text, "database", e);
    if (result == 0) x->db = job_reader_connect(path.text, e);
    if (result == 0) result = x->db != NULL ? export_all(x, e) : -1;
    sqlite3_finalize(x->jobs);
    sqlite3_finalize(x->tasks);
    sqlite3_close(x->db);
    arena_release(&x->arena);
    buf_release(&x->out);
    buf_release(&x->err);
    mem_free(x);
    buf_release(&path);
    return result;
}
