/* The statements of listings. Their text is composed from the fragments below and nothing else; values that users gave
 * are bound.
 *
 *     SELECT <key>, wanted, <columns> FROM task INDEXED BY ...      walked in order; WHERE has what the index serves
 *            LEFT JOIN association ON <its key> AND <filters>       looked up only where the filters hold
 *            LEFT JOIN job ON <its key>
 *
 * Invariants
 *   1. Every statement returns its rows in order straight from an index. No statement sorts, so the first row comes at
 *      once and a snapshot of 10^6 rows costs no memory. (The unit test reads the query plans.)
 *   2. The order is (end, job, part, task), backward if newest_first; end counts only when rows are read by time.
 *   3. A row that a filter excludes is returned too, with its key and wanted = 0. So a step of SQLite skips a handful
 *      of rows at most, and the reader can stop between any two.
 * SQLite looks up LEFT JOINs in the order they are written. Without its index, INDEXED BY is an error instead of a slow
 * plan. */
#include "store/job_reader_sql.h"

#include "base/array.h"
#include "base/ensure.h"

/* --- fields ------------------------------------------------------------------------------------------------------- */

static bool is_read(enum reader_part part, enum job_field f)
{
    static const enum job_field needed[] = {
        JOB_FIELD_OUT_PATTERN,      JOB_FIELD_ERR_PATTERN,     JOB_FIELD_ARRAY,         JOB_FIELD_ASSOCIATION_ID,
        JOB_FIELD_HELD_BY_OPERATOR, JOB_FIELD_RESTARTED_TASKS, JOB_FIELD_DELAYED_TASKS, JOB_FIELD_CANCELLED_BY_RULE};
    if (f == JOB_FIELD_DEPENDENCY) return true;
    if (job_field_rows[f].column == NULL) return false;
    if (job_field_rows[f].home == JOB_HOME_TASK && part != PART_TASKS)
        return f == JOB_FIELD_STATE || f == JOB_FIELD_PARTITION;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (needed[i] == f) return true;
    }
    return !job_field_at(f)->is_hidden;
}

struct job_row_columns job_reader_sql_columns(enum reader_part part)
{
    struct job_row_columns columns = {0};
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (is_read(part, f)) job_row_columns_add(&columns, f);
    }
    return columns;
}

/* The value of a task's field in the row of tasks that have not started. */
static const char *unstarted(enum reader_part part, enum job_field f)
{
    if (f == JOB_FIELD_PARTITION) return "job.partitions";
    ensure(f == JOB_FIELD_STATE);
    return part == PART_PENDING ? "'PENDING'" : "'CANCELLED'";
}

/* The rows of the table dependency as one text. Only a job that waits has some. */
#define DEPENDENCY_TEXT                                                                                        \
    "iif(job.dependency_join IS NULL, NULL, (SELECT group_concat(condition, job.dependency_join) FROM (SELECT" \
    " condition FROM dependency WHERE job_id = job.id ORDER BY position)))"

static void add_fields(enum reader_part part, struct buf *out)
{
    buf_add_text(out, ", account, user");
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (!is_read(part, f)) continue;
        bool is_of_task = job_field_rows[f].home == JOB_HOME_TASK;
        if (f == JOB_FIELD_DEPENDENCY)
            buf_add_text(out, ", " DEPENDENCY_TEXT);
        else if (is_of_task && part != PART_TASKS)
            buf_format(out, ", %s", unstarted(part, f));
        else
            buf_format(out, ", %s.%s", is_of_task ? "task" : "job", job_field_rows[f].column);
    }
}

/* READER_COLUMN_TASKS, READER_COLUMN_LIVE and READER_COLUMN_RESTARTS. */
static const char *const task_columns[PART_COUNT] = {
    [PART_TASKS] = " NULL, 0, restarts",
    [PART_PENDING] =
        " pending_tasks, iif(array_limit IS NULL OR association.id IS NULL, 0, (SELECT count(*) FROM task INDEXED BY"
        " task_live WHERE task.job_id = job.id AND end_us IS NULL)), 0",
    [PART_CANCELLED] = " cancelled_tasks, 0, 0",
};

static bool is_by_time(enum reader_access access)
{
    return access == BY_TIME || access == BY_TIME_IN_ASSOC || access == BY_TIME_OF_STATE;
}

/* --- the table that is walked ------------------------------------------------------------------------------------- */

/* Live rows have an index of their own; other rows are walked by key. */
static const char *task_walk(enum reader_access access, bool live)
{
    switch (access) {
    case BY_JOB:
    case BY_ID: return live ? "task INDEXED BY task_live" : "task";
    case BY_ID_IN_ASSOC: return live ? "job INDEXED BY job_live_association" : "job INDEXED BY job_association";
    case BY_TIME: return "task INDEXED BY task_ended_time";
    case BY_TIME_IN_ASSOC: return "task INDEXED BY task_ended_association";
    case BY_TIME_OF_STATE: return "task INDEXED BY task_ended_state";
    case ACCESS_COUNT: break;
    }
    ensure(!"an access of the table");
    return "";
}

static const char *job_walk(enum reader_part part, enum reader_access access)
{
    if (access == BY_JOB) return "job";
    if (part == PART_PENDING)
        return access == BY_ID_IN_ASSOC ? "job INDEXED BY job_live_association" : "job INDEXED BY job_live";
    return access == BY_TIME ? "job INDEXED BY job_cancelled_time" : "job INDEXED BY job_cancelled";
}

static const char *key_condition(enum reader_part part, enum reader_access access)
{
    switch (access) {
    case BY_JOB: return part == PART_TASKS ? "task.job_id = :job" : "job.id = :job";
    case BY_ID_IN_ASSOC: return "job.association_id = :association";
    case BY_TIME_IN_ASSOC: return "task.association_id = :association";
    case BY_TIME_OF_STATE: return "state = :state";
    case BY_ID:
    case BY_TIME:
    case ACCESS_COUNT: break;
    }
    return "1";
}

/* Selects live or ended tasks; "" selects both. */
static const char *which_condition(const struct job_query *query)
{
    if (query->which == JOBS_ALL) return "";
    return query->which == JOBS_LIVE ? " AND end_us IS NULL" : " AND end_us IS NOT NULL";
}

/* The conditions that an index serves, or that exclude few rows. SQLite uses an index of live rows only if its
 * condition is repeated here. */
static void add_walk_condition(enum reader_part part, enum reader_access access, const struct job_query *query,
                               struct buf *out)
{
    const char *end = part == PART_TASKS ? "end_us" : "cancelled_us";
    buf_add_text(out, key_condition(part, access));
    if (part == PART_PENDING) buf_add_text(out, " AND job.ended_us IS NULL");
    if (part == PART_CANCELLED) buf_add_text(out, " AND cancelled_us IS NOT NULL");
    if (part == PART_TASKS && access == BY_ID_IN_ASSOC && query->which == JOBS_LIVE)
        buf_add_text(out, " AND job.ended_us IS NULL");
    if (part == PART_TASKS && access != BY_ID_IN_ASSOC) buf_add_text(out, which_condition(query));
    if (part == PART_TASKS && query->job_id_count == 1 && query->task_id != NONE)
        buf_add_text(out, " AND task_id = :task");
    if (!is_by_time(access)) return;
    if (query->since_us != 0) buf_format(out, " AND %s >= :since", end);
    if (query->until_us != 0) buf_format(out, " AND %s < :until", end);
}

/* --- the tables that are joined ----------------------------------------------------------------------------------- */

/* Invariant 3. */
static void add_filters(enum reader_part part, enum reader_access access, const struct job_query *query,
                        struct buf *out)
{
    const char *end = part == PART_TASKS ? "end_us" : "cancelled_us";
    if (part == PART_PENDING) buf_add_text(out, " AND pending_tasks <> ''");
    if (part == PART_CANCELLED) buf_add_text(out, " AND cancelled_tasks <> ''");
    if (part == PART_TASKS && query->state != JOB_STATE_COUNT && access != BY_TIME_OF_STATE)
        buf_add_text(out, " AND state = :state");
    if (is_by_time(access)) return;
    if (query->since_us != 0) buf_format(out, " AND %s >= :since", end);
    if (query->until_us != 0) buf_format(out, " AND %s < :until", end);
}

void job_reader_sql_add_names(const struct job_query *query, struct buf *out)
{
    const char *lists[] = {query->account, query->user}, *columns[] = {"account", "user"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        uint32_t count = 0;
        if (lists[i] == NULL) continue;
        buf_format(out, " AND %s IN (", columns[i]);
        for (struct str rest = str(lists[i]); rest.text != NULL; (void)str_cut(rest, ',', &rest), count++)
            buf_format(out, "%s:%s%u", count == 0 ? "" : ", ", columns[i], count);
        buf_add_char(out, ')');
    }
}

/* The tables joined to the one that is walked. The row is wanted if the last of them has its key. */
static void add_joins(enum reader_part part, enum reader_access access, const struct job_query *query, struct buf *out)
{
    bool is_of_jobs = part == PART_TASKS && access == BY_ID_IN_ASSOC;
    if (is_of_jobs) {
        buf_format(out, " LEFT JOIN task%s ON task.job_id = job.id%s",
                   query->which == JOBS_LIVE ? " INDEXED BY task_live" : "", which_condition(query));
        add_filters(part, access, query, out);
        buf_add_text(out, " LEFT JOIN association ON task.job_id IS NOT NULL AND association.id = job.association_id");
        return;
    }
    buf_format(out, " LEFT JOIN association ON association.id = %s.association_id",
               part == PART_TASKS ? "task" : "job");
    add_filters(part, access, query, out);
    job_reader_sql_add_names(query, out);
    if (part != PART_TASKS) return;
    buf_add_text(out, " LEFT JOIN job ON association.id IS NOT NULL AND job.id = task.job_id");
    if (query->job_id_count == 1 && query->task_id != NONE) buf_add_text(out, " AND array_tasks IS NOT NULL");
}

/* --- the statement ------------------------------------------------------------------------------------------------ */

static const char *key(enum reader_part part, enum reader_access access)
{
    if (part == PART_CANCELLED) return "job.id, NULL, cancelled_us, association.id IS NOT NULL,";
    if (part == PART_PENDING) return "job.id, NULL, NULL, association.id IS NOT NULL,";
    return access == BY_ID_IN_ASSOC ? "job.id, task_id, end_us, association.id IS NOT NULL,"
                                    : "task.job_id, task_id, end_us, job.id IS NOT NULL,";
}

static const char *order(enum reader_part part, enum reader_access access, bool backward)
{
    bool by_time = is_by_time(access);
    if (part == PART_TASKS && by_time)
        return backward ? "end_us DESC, task.job_id DESC, task_id DESC, restarts DESC"
                        : "end_us, task.job_id, task_id, restarts";
    if (part == PART_TASKS && access == BY_ID_IN_ASSOC)
        return backward ? "job.id DESC, task_id DESC, restarts DESC" : "job.id, task_id, restarts";
    if (part == PART_TASKS)
        return backward ? "task.job_id DESC, task_id DESC, restarts DESC" : "task.job_id, task_id, restarts";
    if (by_time) return backward ? "cancelled_us DESC, job.id DESC" : "cancelled_us, job.id";
    return backward ? "job.id DESC" : "job.id";
}

bool job_reader_sql_wants(enum reader_part part, const struct job_query *query)
{
    bool any = query->state == JOB_STATE_COUNT;
    switch (part) {
    case PART_TASKS: return any || query->state != JOB_PENDING;
    case PART_PENDING:
        return query->which != JOBS_ENDED && query->since_us == 0 && query->until_us == 0 &&
               (any || query->state == JOB_PENDING);
    case PART_CANCELLED: return query->which != JOBS_LIVE && (any || query->state == JOB_CANCELLED);
    case PART_COUNT: break;
    }
    return false;
}

enum reader_access job_reader_sql_choose_access(const struct job_query *query, bool is_single)
{
    if (query->job_id_count > 0) return BY_JOB;
    bool by_time = query->which == JOBS_ENDED && query->newest_first;
    if (is_single) return by_time ? BY_TIME_IN_ASSOC : BY_ID_IN_ASSOC;
    if (!by_time) return BY_ID;
    return query->state == JOB_STATE_COUNT ? BY_TIME : BY_TIME_OF_STATE;
}

/* The same for the table of jobs, which has fewer indices than that of tasks. */
static enum reader_access job_access(enum reader_part part, enum reader_access access)
{
    if (is_by_time(access)) return BY_TIME;
    return part == PART_CANCELLED && access == BY_ID_IN_ASSOC ? BY_ID : access;
}

void job_reader_sql_compose(enum reader_part part, enum reader_access access, const struct job_query *query,
                            struct buf *out)
{
    if (part != PART_TASKS) access = job_access(part, access);
    buf_format(out, "SELECT %s%s", key(part, access), task_columns[part]);
    add_fields(part, out);
    buf_format(out, " FROM %s",
               part == PART_TASKS ? task_walk(access, query->which == JOBS_LIVE) : job_walk(part, access));
    add_joins(part, access, query, out);
    buf_add_text(out, " WHERE ");
    add_walk_condition(part, access, query, out);
    buf_format(out, " ORDER BY %s", order(part, access, query->newest_first));
}
