/* Ended jobs of other instances as rows of this one (engine/moved_jobs.h).
 *
 *     moved_in      a user and an instance: an association, what was removed since, how many rows
 *     association   account moved-in, deleted from the beginning: no shares, no usage, never in memory
 *     job           a new id; origin = INSTANCE/ID is its key, with the uid
 *     task          the same task and restarts; usage_factor = 0, launch_id = 1
 *
 * Invariants
 *   1. A job of an instance has at most one row for each uid, and an attempt of it one, whatever is sent how often, in
 *      which pieces. An attempt that is there stays as it is, unless it was requeued since.
 *   2. No usage is charged for these rows (usage_records_charge), and none of them is loaded into memory.
 *   3. What was removed from the history does not come back: nothing is taken that had ended up to moved_in.pruned_us.
 * The commit has no number, as that of a prune: if it is lost, the user sends the same again. */
#include <string.h>

#include "store/internal.h"

enum { ORIGINS_MAX = 16, MOVED_LAUNCH_ID = 1 };

/* The statements of one transaction. */
enum moved_statement {
    FIND_ORIGIN,
    COUNT_ORIGINS,
    ADD_ASSOCIATION,
    ADD_FOLD,
    ADD_ORIGIN,
    COUNT_ROWS,
    FIND_JOB,
    END_JOB,
    FIND_TASK,
    PUT_IDS,
    MOVED_STATEMENT_COUNT
};

static const char *const texts[MOVED_STATEMENT_COUNT] = {
    [FIND_ORIGIN] = "SELECT association_id, ifnull(pruned_us, 0) FROM moved_in"
                    " JOIN association ON association.id = association_id"
                    " WHERE moved_in.uid = ?1 AND instance_id = ?2 AND user = ?3",
    [COUNT_ORIGINS] = "SELECT count(*), ifnull(sum(row_count), 0) FROM moved_in WHERE uid = ?1",
    [ADD_ASSOCIATION] = "INSERT INTO association(id, parent_id, account, user, shares, is_default, created_us,"
                        " deleted_us, usage_billing_s) VALUES(?1, 1, '" MOVED_JOBS_ACCOUNT "', ?2, 1, 0, ?3, ?3, 0)",
    [ADD_FOLD] = "INSERT INTO usage_journal(at_us, kind, association_id, before, after)"
                 " VALUES(?2, 'FOLD', ?1, 0, 1)", /* to root, as of every deleted association: its usage, which is 0 */
    [ADD_ORIGIN] = "INSERT INTO moved_in(association_id, uid, instance_id, first_us, row_count)"
                   " VALUES(?1, ?2, ?3, ?4, 0)",
    [COUNT_ROWS] = "UPDATE moved_in SET row_count = row_count + ?2 WHERE association_id = ?1",
    [FIND_JOB] = "SELECT id FROM job WHERE uid = ?1 AND origin = ?2",
    [END_JOB] = "UPDATE job SET ended_us = ?2 WHERE id = ?1 AND ended_us < ?2",
    [FIND_TASK] = "SELECT state FROM task WHERE job_id = ?1 AND task_id = ?2 AND restarts = ?3",
    [PUT_IDS] = "UPDATE counters SET next_job_id = ?1, next_association_id = ?2",
};

struct moving {
    struct store *s;
    const struct store_move *move;
    sqlite3_stmt *statements[MOVED_STATEMENT_COUNT];
    struct store_moved moved;
    uint32_t association_id; /* 0: none yet, in a dry run */
    int64_t pruned_us;
    uint64_t row_count; /* of this transaction */
    char origin[MOVED_JOBS_INSTANCE_LENGTH + 16];
};

/* --- the origin --------------------------------------------------------------------------------------------------- */

static int read_counts(struct moving *m, int64_t *out_origins, int64_t *out_rows, struct err *e)
{
    sqlite3_stmt *count = m->statements[COUNT_ORIGINS];
    sql_bind_int(count, 1, m->move->uid);
    if (sql_step(count, e) != 1) return -1;
    *out_origins = sqlite3_column_int64(count, 0);
    *out_rows = sqlite3_column_int64(count, 1);
    sqlite3_reset(count);
    return 0;
}

/* Enters the audit log, because the history has claims of the user from now on. */
static int note_first(struct moving *m, struct err *e)
{
    const struct audit_entry entry = {.at_us = m->move->now_us,
                                      .uid = m->move->uid,
                                      .user = m->move->user,
                                      .command = "move-in",
                                      .name = "history",
                                      .field = "origin",
                                      .after = m->move->jobs->instance};
    return audit_write(m->s, &entry, e);
}

static int add_origin(struct moving *m, struct err *e)
{
    sqlite3_stmt *association = m->statements[ADD_ASSOCIATION], *fold = m->statements[ADD_FOLD];
    sqlite3_stmt *origin = m->statements[ADD_ORIGIN];
    const struct store_move *move = m->move;
    m->association_id = m->moved.next_assoc_id++;
    m->moved.is_first = true;
    sql_bind_int(association, 1, m->association_id);
    sql_bind_text(association, 2, move->user);
    sql_bind_int(association, 3, move->now_us);
    sql_bind_int(fold, 1, m->association_id);
    sql_bind_int(fold, 2, move->now_us);
    if (sql_step(association, e) != 0 || sql_step(fold, e) != 0) return -1;
    sql_bind_int(origin, 1, m->association_id);
    sql_bind_int(origin, 2, move->uid);
    sql_bind_text(origin, 3, move->jobs->instance);
    sql_bind_int(origin, 4, move->now_us);
    return sql_step(origin, e) == 0 ? note_first(m, e) : -1;
}

static int find_origin(struct moving *m, struct err *e)
{
    sqlite3_stmt *find = m->statements[FIND_ORIGIN];
    int64_t origins = 0, rows = 0;
    sql_bind_int(find, 1, m->move->uid);
    sql_bind_text(find, 2, m->move->jobs->instance);
    sql_bind_text(find, 3, m->move->user);
    int found = sql_step(find, e);
    if (found < 0 || read_counts(m, &origins, &rows, e) != 0) return -1;
    m->moved.row_count = (uint64_t)rows;
    if (found == 1) {
        m->association_id = (uint32_t)sqlite3_column_int64(find, 0);
        m->pruned_us = sqlite3_column_int64(find, 1);
        sqlite3_reset(find);
        return 0;
    }
    if (origins >= ORIGINS_MAX)
        return err_set(e, ERR_TOO_LARGE,
                       "user '%s' has moved in the histories of %lld instances; at most %d are accepted", m->move->user,
                       (long long)origins, ORIGINS_MAX);
    return m->move->is_dry_run ? 0 : add_origin(m, e);
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* 1: out_id is that of the job's row; 0: there is none. */
static int find_job(struct moving *m, uint32_t *out_id, struct err *e)
{
    sqlite3_stmt *find = m->statements[FIND_JOB];
    sql_bind_int(find, 1, m->move->uid);
    sql_bind_text(find, 2, m->origin);
    int found = sql_step(find, e);
    if (found != 1) return found;
    *out_id = (uint32_t)sqlite3_column_int64(find, 0);
    sqlite3_reset(find);
    return 1;
}

/* What the record does not say. */
static struct field_value job_value(const struct moving *m, const struct job_values *job, enum job_field f, uint32_t id)
{
    switch (f) {
    case JOB_FIELD_JOB_ID: return field_number(id);
    case JOB_FIELD_ASSOCIATION_ID: return field_number(m->association_id);
    case JOB_FIELD_UID: return field_number(m->move->uid);
    case JOB_FIELD_GID: return field_number(m->move->gid);
    case JOB_FIELD_ORIGIN: return field_text(m->origin);
    case JOB_FIELD_FORBIDS_REQUEUE: return field_number(1);
    default: return job->is_given[f] ? job->value[f] : field_nothing(job_field_at(f));
    }
}

static int put_job(struct moving *m, const struct job_values *job, uint32_t id, struct err *e)
{
    const struct job_row_columns *columns = &m->s->job_columns;
    sqlite3_stmt *put = m->s->statements[PUT_JOB];
    for (uint32_t i = 0; i < columns->count; i++) {
        const struct field_value value = job_value(m, job, columns->field[i], id);
        field_column_bind(&columns->column[i], put, (int)i + 1, &value);
    }
    return sql_step(put, e);
}

static struct field_value task_value(const struct job_values *task, enum job_field f)
{
    switch (f) {
    case JOB_FIELD_LAUNCH_ID: return field_number(MOVED_LAUNCH_ID);
    case JOB_FIELD_BOOT_ID: return field_text(MOVED_JOBS_ACCOUNT);
    case JOB_FIELD_USAGE_FACTOR: return field_real(0);
    default: return task->is_given[f] ? task->value[f] : field_nothing(job_field_at(f));
    }
}

static int put_task(struct moving *m, const struct job_values *task, uint32_t job_id, struct err *e)
{
    enum { FIRST_FIELD = 2 }; /* after the job and the association */
    const struct job_row_columns *columns = &m->s->task_columns;
    sqlite3_stmt *put = m->s->statements[PUT_TASK];
    sql_bind_int(put, 1, job_id);
    sql_bind_int(put, 2, m->association_id);
    for (uint32_t i = 0; i < columns->count; i++) {
        const struct field_value value = task_value(task, columns->field[i]);
        field_column_bind(&columns->column[i], put, FIRST_FIELD + (int)i + 1, &value);
    }
    return sql_step(put, e);
}

enum attempt { ATTEMPT_NEW, ATTEMPT_REQUEUED, ATTEMPT_KNOWN };

/* What an attempt is for the history. Invariant 1. */
static int find_attempt(struct moving *m, const struct job_values *task, uint32_t job_id, enum attempt *out,
                        struct err *e)
{
    sqlite3_stmt *find = m->statements[FIND_TASK];
    *out = ATTEMPT_NEW;
    if (job_id == 0) return 0;
    sql_bind_int(find, 1, job_id);
    sql_bind_int(find, 2, task->value[JOB_FIELD_TASK_ID].number);
    sql_bind_int(find, 3, task->value[JOB_FIELD_RESTARTS].number);
    int found = sql_step(find, e);
    if (found != 1) return found;
    bool was_requeued = strcmp(sql_column_text(find, 0), job_state_name(JOB_REQUEUED)) == 0;
    bool is_requeued = task->value[JOB_FIELD_STATE].number == JOB_REQUEUED;
    *out = is_requeued && !was_requeued ? ATTEMPT_REQUEUED : ATTEMPT_KNOWN;
    sqlite3_reset(find);
    return 0;
}

/* job_id: 0 if the job is new and this is a dry run. */
static int move_tasks(struct moving *m, const struct moved_job *j, uint32_t job_id, struct err *e)
{
    for (uint32_t i = 0; i < j->task_count; i++) {
        enum attempt attempt;
        if (find_attempt(m, &j->tasks[i], job_id, &attempt, e) != 0) return -1;
        if (attempt == ATTEMPT_KNOWN) continue;
        if (!m->move->is_dry_run && put_task(m, &j->tasks[i], job_id, e) != 0) return -1;
        m->moved.tasks += attempt == ATTEMPT_NEW;
        m->row_count += attempt == ATTEMPT_NEW;
    }
    return 0;
}

static int end_job(struct moving *m, uint32_t id, int64_t ended_us, struct err *e)
{
    sqlite3_stmt *end = m->statements[END_JOB];
    if (m->move->is_dry_run) return 0;
    sql_bind_int(end, 1, id);
    sql_bind_int(end, 2, ended_us);
    return sql_step(end, e);
}

static int move_job(struct moving *m, const struct moved_job *j, struct err *e)
{
    int64_t ended_us = j->job->value[JOB_FIELD_ENDED].number;
    uint32_t id = 0;
    if (ended_us <= m->pruned_us || ended_us < m->move->keep_from_us) {
        m->moved.removed++;
        return 0;
    }
    text_format(m->origin, sizeof m->origin, "%s/%u", m->move->jobs->instance, j->id);
    int found = find_job(m, &id, e);
    if (found < 0) return -1;
    if (found == 1) {
        m->moved.known++;
        return end_job(m, id, ended_us, e) == 0 ? move_tasks(m, j, id, e) : -1;
    }
    if (m->moved.next_job_id == NONE) return err_set(e, ERR_TOO_LARGE, "there are no more ids for jobs");
    m->moved.jobs++;
    m->row_count++;
    if (m->move->is_dry_run) return move_tasks(m, j, 0, e);
    id = m->moved.next_job_id++;
    return put_job(m, j->job, id, e) == 0 ? move_tasks(m, j, id, e) : -1;
}

/* --- the transaction ---------------------------------------------------------------------------------------------- */

static int count_rows(struct moving *m, struct err *e)
{
    sqlite3_stmt *count = m->statements[COUNT_ROWS], *ids = m->statements[PUT_IDS];
    m->moved.row_count += m->row_count;
    if (m->moved.row_count > m->move->rows_max && m->row_count > 0)
        return err_set(e, ERR_TOO_LARGE,
                       "user '%s' would have %llu jobs and starts moved in; at most %llu are accepted (max_moved_in)",
                       m->move->user, (unsigned long long)m->moved.row_count, (unsigned long long)m->move->rows_max);
    if (m->move->is_dry_run) return 0;
    sql_bind_int(count, 1, m->association_id);
    sql_bind_int(count, 2, (int64_t)m->row_count);
    if (sql_step(count, e) != 0) return -1;
    sql_bind_int(ids, 1, m->moved.next_job_id);
    sql_bind_int(ids, 2, m->moved.next_assoc_id);
    return sql_step(ids, e);
}

static int write_all(struct moving *m, struct err *e)
{
    if (m->move->jobs->count == 0) return 0;
    if (find_origin(m, e) != 0) return -1;
    for (uint32_t i = 0; i < m->move->jobs->count; i++) {
        if (move_job(m, &m->move->jobs->jobs[i], e) != 0) return -1;
    }
    return count_rows(m, e);
}

int store_move_in(struct store *s, const struct store_move *move, struct store_moved *out, struct err *e)
{
    struct moving m = {.s = s, .move = move};
    int result = 0;
    m.moved.next_job_id = move->next_job_id;
    m.moved.next_assoc_id = move->next_assoc_id;
    for (int i = 0; i < MOVED_STATEMENT_COUNT && result == 0; i++) {
        m.statements[i] = sql_prepare(s->db, texts[i], e);
        if (m.statements[i] == NULL) result = -1;
    }
    if (result == 0) result = commit_begin(s, e);
    if (result == 0) result = commit_end(s, write_all(&m, e), e);
    for (int i = 0; i < MOVED_STATEMENT_COUNT; i++) sqlite3_finalize(m.statements[i]);
    if (result != 0) return -1;
    *out = m.moved;
    checkpoint_if_due(s);
    return 0;
}
