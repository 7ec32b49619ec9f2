/* The text of the statements behind listings: put together from the fragments below and nothing else; what people gave is
 * bound.
 *
 *     SELECT <columns> FROM <tables, by part and access> WHERE <conditions> ORDER BY <order, by access>
 *
 * Invariants
 *   1. Every statement gives its rows in the order it promises straight from an index: no statement sorts, so the first
 *      row is there at once and a snapshot of 10^6 rows costs no memory. (The unit test reads the query plans.)
 *   2. Order is by (end, job, part, task), backward where newest_first; end counts only when read by time.
 * CROSS JOIN is SQLite's way to say which table to walk first (sqlite.org/optoverview.html, 8.1); INDEXED BY is an error
 * rather than a slow plan where the index went away. */
#include "store/reader_sql.h"

#include "base/ensure.h"

#define JOB_COLUMNS                                                                                                    \
    " job.association_id, account, user, uid, name, command, directory, out_pattern, err_pattern, job.cpus, job.gpus," \
    " job.mem_mib, time_limit_s, submit_us, is_held, array_tasks IS NOT NULL, array_limit,"

static const char *const columns[PART_COUNT] = {
    [PART_TASKS] =
        "task.job_id, task_id, end_us, NULL, 0," JOB_COLUMNS " state, start_us, task.cpus, task.gpus, exit_status,"
        " signal, cpu_us, max_rss_kib, detail, launch_id",
    [PART_PENDING] =
        "job.id, NULL, NULL, pending_tasks, iif(array_limit IS NULL, 0, (SELECT count(*) FROM task INDEXED BY task_live"
        " WHERE task.job_id = job.id AND end_us IS NULL))," JOB_COLUMNS " 'PENDING', NULL, '', '', 0, 0, 0, 0, '', 0",
    [PART_CANCELLED] =
        "job.id, NULL, cancelled_us, cancelled_tasks, 0," JOB_COLUMNS " 'CANCELLED', NULL, '', '', 0, 0, 0, 0, '', 0",
};

/* Only live rows are in an index of their own; the rest is walked by key. */
static const char *task_tables(enum reader_access access, bool live)
{
    switch (access) {
    case BY_JOB: return "task CROSS JOIN job ON job.id = task.job_id";
    case BY_ID:
        return live ? "task INDEXED BY task_live CROSS JOIN job ON job.id = task.job_id"
                    : "task CROSS JOIN job ON job.id = task.job_id";
    case BY_ID_IN_ASSOC:
        return live ? "job INDEXED BY job_live_association CROSS JOIN task INDEXED BY task_live ON task.job_id = job.id"
                    : "job INDEXED BY job_association CROSS JOIN task ON task.job_id = job.id";
    case BY_TIME: return "task INDEXED BY task_ended_time CROSS JOIN job ON job.id = task.job_id";
    case BY_TIME_IN_ASSOC: return "task INDEXED BY task_ended_association CROSS JOIN job ON job.id = task.job_id";
    case ACCESS_COUNT: break;
    }
    ensure(!"an access of the table");
    return "";
}

static const char *job_tables(enum reader_part part, enum reader_access access)
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
    case BY_ID:
    case BY_TIME:
    case ACCESS_COUNT: break;
    }
    return "1";
}

/* An index of live rows is found only under its own condition. */
static const char *part_condition(enum reader_part part, enum reader_access access, const struct job_query *query)
{
    if (part == PART_PENDING) return " AND job.ended_us IS NULL AND pending_tasks <> ''";
    if (part == PART_CANCELLED) return " AND cancelled_us IS NOT NULL AND cancelled_tasks <> ''";
    if (query->which == JOBS_LIVE)
        return access == BY_ID_IN_ASSOC ? " AND job.ended_us IS NULL AND end_us IS NULL" : " AND end_us IS NULL";
    return query->which == JOBS_ENDED ? " AND end_us IS NOT NULL" : "";
}

static const char *order(enum reader_part part, enum reader_access access, bool backward)
{
    bool by_time = access == BY_TIME || access == BY_TIME_IN_ASSOC;
    if (part == PART_TASKS && by_time)
        return backward ? "end_us DESC, task.job_id DESC, task_id DESC" : "end_us, task.job_id, task_id";
    if (part == PART_TASKS && access == BY_ID_IN_ASSOC)
        return backward ? "job.id DESC, task_id DESC" : "job.id, task_id";
    if (part == PART_TASKS) return backward ? "task.job_id DESC, task_id DESC" : "task.job_id, task_id";
    if (by_time) return backward ? "cancelled_us DESC, job.id DESC" : "cancelled_us, job.id";
    return backward ? "job.id DESC" : "job.id";
}

bool reader_wants(enum reader_part part, const struct job_query *query)
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

enum reader_access reader_choose_access(const struct job_query *query, bool is_single)
{
    if (query->job_id_count > 0) return BY_JOB;
    if (query->which == JOBS_ENDED && query->newest_first) return is_single ? BY_TIME_IN_ASSOC : BY_TIME;
    return is_single ? BY_ID_IN_ASSOC : BY_ID;
}

void reader_compose(enum reader_part part, enum reader_access access, const struct job_query *query, struct buf *out)
{
    const char *end = part == PART_TASKS ? "end_us" : "cancelled_us";
    if (part != PART_TASKS && access == BY_TIME_IN_ASSOC) access = BY_TIME;
    if (part == PART_CANCELLED && access == BY_ID_IN_ASSOC) access = BY_ID;
    buf_format(out, "SELECT %s FROM %s CROSS JOIN association ON association.id = job.association_id WHERE %s%s",
               columns[part],
               part == PART_TASKS ? task_tables(access, query->which == JOBS_LIVE) : job_tables(part, access),
               key_condition(part, access), part_condition(part, access, query));
    if (part == PART_TASKS && query->job_id_count == 1 && query->task_id != NONE)
        buf_add_text(out, " AND task_id = :task AND array_tasks IS NOT NULL");
    if (part == PART_TASKS && query->state != JOB_STATE_COUNT) buf_add_text(out, " AND state = :state");
    if (query->account != NULL) buf_add_text(out, " AND account = :account");
    if (query->user != NULL) buf_add_text(out, " AND user = :user");
    if (query->since_us != 0) buf_format(out, " AND %s >= :since", end);
    if (query->until_us != 0) buf_format(out, " AND %s < :until", end);
    buf_format(out, " ORDER BY %s", order(part, access, query->newest_first));
}
