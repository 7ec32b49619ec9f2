/* Carries out a plan of prune_plan.c: removes rows, and replaces the sums of what was removed. A text of a script or an
 * environment is removed with the last job that has it; one that is long is only marked, because its removal takes
 * several commits (upload.c). */
#include "store/internal.h"

/* The statements of a piece. ?1: the job; of the first four also ?2: its end, or of REMOVE_SUSPENSIONS and REMOVE_TASKS
 * the last task. What was moved in is not taken again once it was removed (moved_jobs.c). */
enum prune_statement {
    CHECK_JOB,
    NOTE_ORIGIN,
    REMOVE_SUSPENSIONS,
    REMOVE_TASKS,
    FIND_CONTENTS,
    REMOVE_SCRIPT,
    REMOVE_DEPENDENCY,
    REMOVE_MINIMUM,
    REMOVE_JOB,
    MARK_CONTENT, /* ?1: the content */
    PRUNE_CONTENT,
    PUT_SUM,
    PRUNE_STATEMENT_COUNT
};

#define UNLESS_NEEDED                                                      \
    " AND NOT EXISTS (SELECT 1 FROM job_script WHERE script_id = ?1)"      \
    " AND NOT EXISTS (SELECT 1 FROM job_script WHERE environment_id = ?1)" \
    " AND NOT EXISTS (SELECT 1 FROM job_script WHERE arguments_id = ?1)"

static const char *const texts[PRUNE_STATEMENT_COUNT] = {
    [CHECK_JOB] = "SELECT 1 FROM job WHERE id = ?1 AND ended_us = ?2",
    [NOTE_ORIGIN] = "UPDATE moved_in SET pruned_us = max(ifnull(pruned_us, 0), ?2) WHERE association_id ="
                    " (SELECT association_id FROM job WHERE id = ?1 AND origin IS NOT NULL)",
    [REMOVE_SUSPENSIONS] = "DELETE FROM suspension WHERE launch_id IN (SELECT launch_id FROM task WHERE job_id = ?1"
                           " AND task_id <= ?2 AND suspensions IS NOT NULL)",
    [REMOVE_TASKS] = "DELETE FROM task WHERE job_id = ?1 AND task_id <= ?2",
    [FIND_CONTENTS] = "SELECT script_id, environment_id, ifnull(arguments_id, 0) FROM job_script WHERE job_id = ?1",
    [REMOVE_SCRIPT] = "DELETE FROM job_script WHERE job_id = ?1",
    [REMOVE_DEPENDENCY] = "DELETE FROM dependency WHERE job_id = ?1",
    [REMOVE_MINIMUM] = "DELETE FROM min_priority WHERE job_id = ?1",
    [REMOVE_JOB] = "DELETE FROM job WHERE id = ?1",
    [MARK_CONTENT] = "INSERT OR IGNORE INTO loose_content"
                     " SELECT id FROM content WHERE id = ?1 AND piece_count > 0" UNLESS_NEEDED,
    [PRUNE_CONTENT] = "DELETE FROM content WHERE id = ?1 AND piece_count = 0" UNLESS_NEEDED,
    [PUT_SUM] = "INSERT INTO pruned_usage(scope, row_id, user, project, resource, amount, halvings, at_us)"
                " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT(scope, row_id, user, project, resource)"
                " DO UPDATE SET amount = excluded.amount, halvings = excluded.halvings, at_us = excluded.at_us",
};

static int remove_for(sqlite3_stmt *statement, int64_t id, struct err *e)
{
    sql_bind_int(statement, 1, id);
    return sql_step(statement, e);
}

static int check_job(sqlite3_stmt *check, const struct prune_entry *entry, struct err *e)
{
    sql_bind_int(check, 1, entry->job_id);
    sql_bind_int(check, 2, entry->ended_us);
    int found = sql_step(check, e);
    if (found == 1) sqlite3_reset(check);
    if (found == 0) return err_set(e, ERR_CONFLICT, "job %u has changed since it was to be removed", entry->job_id);
    return found < 0 ? -1 : 0;
}

static int remove_job(sqlite3_stmt *const *statements, uint32_t job_id, struct err *e)
{
    enum { CONTENTS = 3 };
    int64_t contents[CONTENTS] = {0};
    sql_bind_int(statements[FIND_CONTENTS], 1, job_id);
    int found = sql_step(statements[FIND_CONTENTS], e);
    if (found < 0) return -1;
    for (int i = 0; found == 1 && i < CONTENTS; i++) contents[i] = sqlite3_column_int64(statements[FIND_CONTENTS], i);
    sqlite3_reset(statements[FIND_CONTENTS]);
    for (int which = REMOVE_SCRIPT; which <= REMOVE_JOB; which++) {
        if (remove_for(statements[which], job_id, e) != 0) return -1;
    }
    for (int i = 0; found == 1 && i < CONTENTS; i++) {
        if (contents[i] == 0) continue;
        if (remove_for(statements[MARK_CONTENT], contents[i], e) != 0) return -1;
        if (remove_for(statements[PRUNE_CONTENT], contents[i], e) != 0) return -1;
    }
    return 0;
}

static int remove_entry(sqlite3_stmt *const *statements, const struct prune_entry *entry, struct err *e)
{
    if (check_job(statements[CHECK_JOB], entry, e) != 0) return -1;
    sql_bind_int(statements[NOTE_ORIGIN], 1, entry->job_id);
    sql_bind_int(statements[NOTE_ORIGIN], 2, entry->ended_us);
    if (sql_step(statements[NOTE_ORIGIN], e) != 0) return -1;
    for (int which = REMOVE_SUSPENSIONS; which <= REMOVE_TASKS; which++) {
        sql_bind_int(statements[which], 1, entry->job_id);
        sql_bind_int(statements[which], 2, entry->last_task);
        if (sql_step(statements[which], e) != 0) return -1;
    }
    return entry->ends_job ? remove_job(statements, entry->job_id, e) : 0;
}

static int put_sum(sqlite3_stmt *put, const struct prune_sum *sum, struct err *e)
{
    sql_bind_text(put, 1, sum->scope);
    sql_bind_int(put, 2, sum->row_id);
    sql_bind_text(put, 3, sum->user);
    sql_bind_text(put, 4, sum->project);
    sql_bind_text(put, 5, sum->resource);
    sql_bind_double(put, 6, sum->amount);
    sql_bind_double(put, 7, sum->halvings);
    sql_bind_int(put, 8, sum->at_us);
    return sql_step(put, e);
}

static int count_pruned(struct store *s, const struct prune_piece *piece, struct err *e)
{
    sqlite3_stmt *count =
        sql_prepare(s->db, "UPDATE counters SET pruned_jobs = pruned_jobs + ?1, pruned_tasks = pruned_tasks + ?2", e);
    if (count == NULL) return -1;
    sql_bind_int(count, 1, piece->job_count);
    sql_bind_int(count, 2, piece->task_count);
    int result = sql_step(count, e);
    sqlite3_finalize(count);
    return result;
}

static int write_piece(struct store *s, sqlite3_stmt *const *statements, const struct prune_plan *plan, uint32_t index,
                       struct err *e)
{
    const struct prune_piece *piece = &plan->pieces.items[index];
    const struct prune_piece none = {0}, *before = index > 0 ? &plan->pieces.items[index - 1] : &none;
    for (uint32_t i = before->entry_end; i < piece->entry_end; i++) {
        if (remove_entry(statements, &plan->entries.items[i], e) != 0) return -1;
    }
    for (uint32_t i = before->sum_end; i < piece->sum_end; i++) {
        if (put_sum(statements[PUT_SUM], &plan->sums.items[i], e) != 0) return -1;
    }
    return count_pruned(s, piece, e);
}

int store_prune(struct store *s, const struct prune_plan *plan, uint32_t piece, const struct audit_entry *audit,
                struct err *e)
{
    sqlite3_stmt *statements[PRUNE_STATEMENT_COUNT] = {0};
    int result = 0;
    for (int i = 0; i < PRUNE_STATEMENT_COUNT && result == 0; i++) {
        statements[i] = sql_prepare(s->db, texts[i], e);
        if (statements[i] == NULL) result = -1;
    }
    if (result == 0 && commit_begin(s, e) != 0) result = -1;
    if (result == 0) {
        result = write_piece(s, statements, plan, piece, e);
        if (result == 0 && audit != NULL) result = audit_write(s, audit, e);
        result = commit_end(s, result, e);
    }
    for (int i = 0; i < PRUNE_STATEMENT_COUNT; i++) sqlite3_finalize(statements[i]);
    if (result == 0) checkpoint_if_due(s);
    return result;
}

int store_prune_audit(struct store *s, int64_t before_us, uint32_t max, struct err *e)
{
    sqlite3_stmt *prune = sql_prepare(s->db,
                                      "DELETE FROM audit WHERE seq IN (SELECT seq FROM audit INDEXED BY audit_time"
                                      " WHERE at_us < ?1 AND seq < (SELECT max(seq) FROM audit)"
                                      " ORDER BY at_us LIMIT ?2)",
                                      e);
    if (prune == NULL) return -1;
    int result = commit_begin(s, e);
    if (result == 0) {
        sql_bind_int(prune, 1, before_us);
        sql_bind_int(prune, 2, max);
        result = commit_end(s, sql_step(prune, e), e);
    }
    int removed = result == 0 ? sqlite3_changes(s->db) : -1;
    sqlite3_finalize(prune);
    return removed;
}
