/* Group commit: one transaction writes every changed row of a turn, the journal and the scripts. It costs one fsync
 * whatever the size of the turn, so a turn of a thousand submissions costs little more than a turn of one
 * (bench/bench_store.c).
 *
 * Invariants
 *   1. After 0, the turn is durable (WAL, synchronous=FULL). After -1, nothing of it is in the database, not even after
 *      a crash (overwrite_failed_commit).
 *   2. Each row is written once, in the order of tables and indices, so the database depends on the turn only.
 *   3. There is no other writer. When another connection has written (a person with sqlite3), the memory differs from
 *      the database, and every turn is refused until the state is loaded again. A file that was moved or removed is not
 *      written either, because the next start would not find it.
 * One upsert writes a row; it names every column that may change, but for those with indices, which a statement before
 * it updates where they change (job_rows.h). A change of all rows of a table is one statement before the upserts
 * (TABLE_MIN_PRIORITIES). */
#include <string.h>
#include <sys/stat.h>

#include "base/ensure.h"
#include "base/idset.h"
#include "store/internal.h"
#include "store/job_rows.h"

/* PUT_ASSOC, MOVE_JOB, PUT_JOB and PUT_TASK are generated from tables of fields (associations.c, job_rows.h). */
static const char *const statement_texts[STATEMENT_COUNT] = {
    [PUT_OWNER] =
        "INSERT INTO owner_usage(user, project, cpu_s, mem_gib_s, io_gib, finished_jobs, at_us, reset_us,"
        " usage_conversion)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT(user, project) DO UPDATE SET cpu_s = excluded.cpu_s,"
        " mem_gib_s = excluded.mem_gib_s, io_gib = excluded.io_gib, finished_jobs = excluded.finished_jobs,"
        " at_us = excluded.at_us, reset_us = excluded.reset_us, usage_conversion = excluded.usage_conversion",
    [PUT_ASSOC_USAGE] = "UPDATE association SET usage_billing_s = ?2, usage_tres = ?3, usage_wall_s = ?4,"
                        " usage_conversion = ?5 WHERE id = ?1",
    [CLEAR_CONVERSIONS] = "DELETE FROM usage_conversion",
    [PUT_CONVERSION] = "INSERT INTO usage_conversion(number, is_reset, halvings, scale) VALUES(?1, ?2, ?3, ?4)",
    [CLEAR_MIN_PRIORITIES] = "DELETE FROM min_priority",
    [MOVE_ASSOC] = "UPDATE association SET parent_id = ?2, deleted_us = ?3 WHERE id = ?1"
                   " AND (parent_id IS NOT ?2 OR deleted_us IS NOT ?3)",
    [REMOVE_TASK] = "DELETE FROM task WHERE job_id = ?1 AND task_id = ?2 AND restarts = ?3 AND launch_id = ?4",
    [REMOVE_MIN_PRIORITIES] = "DELETE FROM min_priority WHERE job_id = ?1",
    [PUT_MIN_PRIORITY] = "INSERT INTO min_priority(job_id, partition, priority) VALUES(?1, ?2, ?3)",
    [REMOVE_CONDITIONS] = "DELETE FROM dependency WHERE job_id = ?1",
    [REMOVE_CONDITION] = "DELETE FROM dependency WHERE job_id = ?1 AND position = ?2",
    [PUT_CONDITION] = "INSERT INTO dependency(job_id, position, condition) VALUES(?1, ?2, ?3)"
                      " ON CONFLICT(job_id, position) DO UPDATE SET condition = excluded.condition",
    [PUT_SETTING] =
        "INSERT INTO setting(name, value) VALUES(?1, ?2) ON CONFLICT(name) DO UPDATE SET value = excluded.value",
    [PUT_COUNTERS] =
        "INSERT INTO counters(id, next_association_id, next_job_id, next_launch_id, halflife_us, reference_us,"
        " last_commit_us, usage_reset_us, reset_period_us, quarantined_us, quarantine, instance_id, commit_number,"
        " boot_id, boot_us, usage_conversion, is_pretend, recovery, recovered_us)"
        " VALUES(1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18) ON CONFLICT(id) DO UPDATE SET"
        " next_association_id = excluded.next_association_id, next_job_id = excluded.next_job_id,"
        " next_launch_id = excluded.next_launch_id, halflife_us = excluded.halflife_us,"
        " reference_us = excluded.reference_us, last_commit_us = excluded.last_commit_us,"
        " usage_reset_us = excluded.usage_reset_us, reset_period_us = excluded.reset_period_us,"
        " quarantined_us = excluded.quarantined_us, quarantine = excluded.quarantine,"
        " instance_id = excluded.instance_id, commit_number = excluded.commit_number,"
        " boot_id = excluded.boot_id, boot_us = excluded.boot_us, usage_conversion = excluded.usage_conversion,"
        " is_pretend = excluded.is_pretend, recovery = excluded.recovery, recovered_us = excluded.recovered_us",
    [PUT_SUSPENSION] =
        "INSERT INTO suspension(launch_id, number, from_us, until_us, is_charged) VALUES(?1, ?2, ?3, ?4, ?5)"
        " ON CONFLICT(launch_id, number) DO UPDATE SET from_us = excluded.from_us, until_us = excluded.until_us,"
        " is_charged = excluded.is_charged",
    [PUT_JOURNAL] =
        "INSERT INTO usage_journal(at_us, kind, association_id, before, after, detail) VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
    [PUT_AUDIT] = "INSERT INTO audit(at_us, uid, user, command, name, field, before, after)"
                  " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [FIND_CONTENT] = "SELECT id FROM content WHERE hash = ?1 AND bytes = ?2 AND piece_count = 0",
    [PUT_CONTENT] = "INSERT INTO content(hash, bytes, piece_count) VALUES(?1, ?2, ?3)",
    [FIND_LONG_CONTENT] = "SELECT id FROM content WHERE hash = ?1 AND piece_count = ?2"
                          " AND id NOT IN (SELECT content_id FROM loose_content) ORDER BY id LIMIT 1",
    [PUT_PIECE] = "INSERT INTO content_piece(content_id, position, bytes) VALUES(?1, ?2, ?3)",
    [GET_PIECE] = "SELECT bytes FROM content_piece WHERE content_id = ?1 AND position = ?2",
    [REMOVE_PIECE] = "DELETE FROM content_piece WHERE content_id = ?1 AND position ="
                     " (SELECT max(position) FROM content_piece WHERE content_id = ?1)",
    [REMOVE_CONTENT] = "DELETE FROM content WHERE id = ?1",
    [PUT_LOOSE] = "INSERT INTO loose_content(content_id) VALUES(?1)",
    [REMOVE_LOOSE] = "DELETE FROM loose_content WHERE content_id = ?1",
    [GET_LOOSE] = "SELECT content_id, EXISTS (SELECT 1 FROM job_script WHERE script_id = content_id)"
                  " OR EXISTS (SELECT 1 FROM job_script WHERE environment_id = content_id)"
                  " OR EXISTS (SELECT 1 FROM job_script WHERE arguments_id = content_id) FROM loose_content LIMIT 1",
    [PUT_SCRIPT] = "INSERT INTO job_script(job_id, script_name, script_id, arguments, environment_id, arguments_id)"
                   " VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
    [GET_SCRIPT] = SCRIPT_QUERY_SHORT,
    [GET_COMMAND] = COMMAND_QUERY,
    [GET_ENDED_JOB] = "SELECT array_tasks FROM job WHERE id = ?1 AND ended_us IS NOT NULL",
    [GET_COMPLETED_TASKS] = "SELECT task_id, state = 'COMPLETED', ifnull(start_us, 0) FROM task WHERE job_id = ?1"
                            " ORDER BY task_id, restarts",
    [GET_OWNER_OF_JOB] = "SELECT user, account FROM job"
                         " JOIN association ON association.id = association_id"
                         " WHERE job.id = ?1 AND ended_us IS NOT NULL",
    [GET_CONDITIONS] = "SELECT position, condition, dependency_join FROM dependency JOIN job ON job.id = job_id"
                       " WHERE job_id = ?1 ORDER BY position",
    [GET_FAILED_TASKS] = "SELECT task_id FROM task INDEXED BY task_failed WHERE job_id = ?1 AND end_us IS NOT NULL"
                         " AND state NOT IN ('COMPLETED', 'REQUEUED') ORDER BY task_id",
    [GET_UNFINISHED_REQUEUES] = "SELECT id, requeue_next, is_held, ifnull(ended_us, 0) FROM job INDEXED BY job_requeue"
                                " WHERE requeue_next IS NOT NULL ORDER BY id",
    /* The words are those of requeue_run.c, which changes the rows that are in memory. */
    [MARK_REQUEUED] = "UPDATE task SET state = 'REQUEUED', detail = state || ', then requeued by request'"
                      " || iif(detail = '', '', ': ' || detail) WHERE job_id = ?1 AND task_id BETWEEN ?2 AND ?3"
                      " AND end_us IS NOT NULL AND state <> 'REQUEUED'",
    [BEGIN_COMMIT] = "BEGIN IMMEDIATE",
    [COMMIT_COMMIT] = "COMMIT",
    [ROLLBACK_COMMIT] = "ROLLBACK",
    [TOUCH_COUNTERS] = "UPDATE counters SET last_commit_us = ?1",
    [COUNT_LOG] = "UPDATE counters SET log_count = log_count + 1",
    [DATA_VERSION] = "PRAGMA data_version",
};

static int prepare(struct store *s, enum store_statement which, const char *text, struct err *e)
{
    s->statements[which] = sql_keep(s->db, text, e);
    return s->statements[which] != NULL ? 0 : -1;
}

static int prepare_rows(struct store *s, enum store_statement which, void (*write_text)(struct buf *), struct err *e)
{
    struct buf text = {0};
    write_text(&text);
    int status = prepare(s, which, text.text, e);
    buf_release(&text);
    return status;
}

int commit_prepare(struct store *s, struct err *e)
{
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        if (statement_texts[i] != NULL && prepare(s, (enum store_statement)i, statement_texts[i], e) != 0) return -1;
    }
    if (prepare_rows(s, PUT_ASSOC, association_write_put, e) != 0) return -1;
    if (prepare_rows(s, MOVE_JOB, job_rows_move_job, e) != 0) return -1;
    if (prepare_rows(s, PUT_JOB, job_rows_put_job, e) != 0) return -1;
    if (prepare_rows(s, PUT_TASK, job_rows_put_task, e) != 0) return -1;
    if (prepare_rows(s, GET_ENDED_ROW, job_rows_select_ended_job, e) != 0) return -1;
    return objects_prepare(s, e);
}

static int run(struct store *s, enum store_statement which, struct err *e)
{
    return sql_step(s->statements[which], e);
}

static int put_setting(struct store *s, const struct state *state, uint32_t index, struct err *e)
{
    sqlite3_stmt *put = s->statements[PUT_SETTING];
    struct buf value = {0};
    setting_format((enum setting)index, &state->settings.value[index], &value);
    sql_bind_text(put, 1, settings_table[index].name);
    sql_bind_text(put, 2, value.length > 0 ? value.text : "");
    int status = sql_step(put, e);
    buf_release(&value);
    return status;
}

static int put_counters(struct store *s, const struct state *state, int64_t now_us, struct err *e)
{
    sqlite3_stmt *put = s->statements[PUT_COUNTERS];
    sql_bind_int(put, 1, state->next_assoc_id);
    sql_bind_int(put, 2, state->next_job_id);
    sql_bind_int(put, 3, (int64_t)state->next_launch_id);
    sql_bind_int(put, 4, state->decay.halflife_us);
    sql_bind_int(put, 5, state->decay.reference_us);
    sql_bind_int(put, 6, now_us);
    sql_bind_int_or_null(put, 7, state->usage_reset_us);
    sql_bind_int_or_null(put, 8, state->reset_period_us);
    sql_bind_int_or_null(put, 9, state->quarantined_us);
    sql_bind_text(put, 10, state->quarantined_us != 0 ? state->quarantine : NULL);
    sql_bind_text(put, 11, s->instance_id[0] != '\0' ? s->instance_id : NULL);
    sql_bind_int(put, 12, (int64_t)s->commit_number + 1);
    sql_bind_text(put, 13, s->boot.boot_id[0] != '\0' ? s->boot.boot_id : NULL);
    sql_bind_int_or_null(put, 14, s->boot.us);
    sql_bind_int(put, 15, state->conversions.number);
    sql_bind_int_or_null(put, 16, s->is_pretend);
    sql_bind_text(put, 17, s->recovered_us != 0 ? s->recovery.text : NULL);
    sql_bind_int_or_null(put, 18, s->recovered_us);
    return sql_step(put, e);
}

/* A withdrawn task may start again in the same turn, as a row with the same job, task and restarts. That row has a
 * larger index, because rows are appended, so it is written after this one is removed; and the launch id keeps the
 * removal to the withdrawn start. */
static int remove_task(struct store *s, const struct task *k, struct err *e)
{
    sqlite3_stmt *removal = s->statements[REMOVE_TASK];
    sql_bind_int(removal, 1, k->job_id);
    sql_bind_int(removal, 2, k->task_id);
    sql_bind_int(removal, 3, k->restarts);
    sql_bind_int(removal, 4, (int64_t)k->launch_id);
    return sql_step(removal, e);
}

static int mark_requeued(struct store *s, const struct requeued_tasks *r, struct err *e)
{
    sqlite3_stmt *mark = s->statements[MARK_REQUEUED];
    sql_bind_int(mark, 1, r->job_id);
    sql_bind_int(mark, 2, r->first);
    sql_bind_int(mark, 3, r->last);
    return sql_step(mark, e);
}

static int put_row(struct store *s, const struct state *state, struct change c, struct err *e)
{
    arena_clear(&s->row_arena);
    switch (c.table) {
    case TABLE_CONVERSIONS: return store_usage_conversions_write(s, state, e);
    case TABLE_ASSOC: return association_write(s, state, c.index, e);
    case TABLE_ASSOC_USAGE: return association_write_usage(s, state, c.index, e);
    case TABLE_JOB:
        return job_row_write(&s->job_columns, s->statements[MOVE_JOB], s->statements[PUT_JOB], state, c.index,
                             &s->row_arena, e);
    case TABLE_TASK:
        if (state->tasks.items[c.index].is_withdrawn) return remove_task(s, &state->tasks.items[c.index], e);
        return job_row_write_task(&s->task_columns, s->statements[PUT_TASK], state, c.index, &s->row_arena, e);
    case TABLE_SETTING: return put_setting(s, state, c.index, e);
    case TABLE_OBJECT: return object_write(s, state, c.index, e);
    case TABLE_OWNER: return store_usage_owner_write(s, state, c.index, e);
    case TABLE_MIN_PRIORITIES: return run(s, CLEAR_MIN_PRIORITIES, e);
    case TABLE_MIN_PRIORITY: return min_priorities_write(s, state, c.index, e);
    case TABLE_DEPENDENCY: return conditions_write(s, state, c.index, e);
    case TABLE_COUNTERS: return 0; /* every turn writes it */
    case TABLE_COUNT: break;
    }
    ensure(!"a table of the state");
    return -1;
}

static int put_suspension(struct store *s, const struct suspension_row *row, struct err *e)
{
    sqlite3_stmt *put = s->statements[PUT_SUSPENSION];
    sql_bind_int(put, 1, (int64_t)row->launch_id);
    sql_bind_int(put, 2, row->number);
    sql_bind_int(put, 3, row->from_us);
    sql_bind_int_or_null(put, 4, row->until_us);
    sql_bind_int(put, 5, row->is_charged);
    return sql_step(put, e);
}

static int put_journal(struct store *s, const struct usage_journal_entry *j, struct err *e)
{
    static const char *const kinds[] = {
        [USAGE_JOURNAL_HALFLIFE] = "HALFLIFE",   [USAGE_JOURNAL_SHARES] = "SHARES",
        [USAGE_JOURNAL_FOLD] = "FOLD",           [USAGE_JOURNAL_LATE] = "LATE",
        [USAGE_JOURNAL_QOS_DECAY] = "QOS_DECAY", [USAGE_JOURNAL_OWNER_RULE] = "OWNER_RULE",
        [USAGE_JOURNAL_RESET] = "RESET"};
    sqlite3_stmt *put = s->statements[PUT_JOURNAL];
    ensure((size_t)j->kind < sizeof kinds / sizeof kinds[0]);
    sql_bind_int(put, 1, j->at_us);
    sql_bind_text(put, 2, kinds[j->kind]);
    sql_bind_int_or_null(put, 3, j->assoc_id);
    sql_bind_int(put, 4, j->before);
    sql_bind_int(put, 5, j->after);
    sql_bind_text(put, 6, j->detail);
    return sql_step(put, e);
}

/* Invariant 2: the changes, sorted, into s->order. */
static void order_changes(struct store *s, const struct outcome *outcome)
{
    uint32_t count = outcome->changes.count;
    array_clear(&s->order);
    array_reserve(&s->order, count);
    array_reserve(&s->scratch, count);
    for (uint32_t i = 0; i < count; i++) {
        struct change c = outcome->changes.items[i];
        *array_add(&s->order) =
            (struct sort_record){.key = (uint64_t)c.table << 32 | c.index, .index = c.index, .extra = c.table};
    }
    sort_records(s->order.items, count, s->scratch.items);
}

/* The conditions that changed, each once. */
static int write_conditions(struct store *s, const struct state *state, const struct outcome *outcome, struct err *e)
{
    uint32_t count = outcome->conditions.count;
    array_clear(&s->order);
    array_reserve(&s->order, count);
    array_reserve(&s->scratch, count);
    for (uint32_t i = 0; i < count; i++) {
        struct condition_change c = outcome->conditions.items[i];
        *array_add(&s->order) = (struct sort_record){.key = (uint64_t)c.job << 32 | c.item};
    }
    sort_records(s->order.items, count, s->scratch.items);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t key = s->order.items[i].key;
        if (i > 0 && key == s->order.items[i - 1].key) continue;
        struct condition_change c = {(uint32_t)(key >> 32), (uint32_t)key};
        if (condition_write(s, state, c, e) != 0) return -1;
    }
    return 0;
}

int commit_write(struct store *s, const struct state *state, const struct outcome *outcome, int64_t now_us,
                 struct err *e)
{
    order_changes(s, outcome);
    /* First, because attempts that began and ended in this turn are rows of memory, which are written after it. */
    for (uint32_t i = 0; i < outcome->requeued.count; i++) {
        if (mark_requeued(s, &outcome->requeued.items[i], e) != 0) return -1;
    }
    for (uint32_t i = 0; i < s->order.count; i++) {
        const struct sort_record *r = &s->order.items[i];
        if (i > 0 && r->key == r[-1].key) continue;
        if (put_row(s, state, (struct change){(enum change_table)r->extra, r->index}, e) != 0) return -1;
    }
    if (write_conditions(s, state, outcome, e) != 0) return -1;
    for (uint32_t i = 0; i < outcome->suspensions.count; i++) {
        if (put_suspension(s, &outcome->suspensions.items[i], e) != 0) return -1;
    }
    for (uint32_t i = 0; i < outcome->journal.count; i++) {
        if (put_journal(s, &outcome->journal.items[i], e) != 0) return -1;
    }
    for (uint32_t i = 0; i < outcome->audit.count; i++) {
        if (audit_write(s, &outcome->audit.items[i], e) != 0) return -1;
    }
    if (script_write_added(s, e) != 0) return -1;
    return put_counters(s, state, now_us, e);
}

/* Invariant 3. */
static int check_single_writer(struct store *s, struct err *e)
{
    struct stat st;
    if (stat(s->path, &st) != 0 || st.st_dev != s->device || st.st_ino != s->inode)
        return err_set(e, ERR_UNAVAILABLE,
                       "%s was moved or removed while the daemon used it; put it back, or restart the daemon", s->path);
    sqlite3_stmt *version = s->statements[DATA_VERSION];
    if (sql_step(version, e) != 1) return -1;
    int64_t data_version = sqlite3_column_int64(version, 0);
    sqlite3_reset(version);
    if (data_version == s->data_version) return 0;
    return err_set(e, ERR_UNAVAILABLE,
                   "%s was changed by another program while the daemon used it; nothing was written: try again",
                   s->path);
}

/* A COMMIT that failed while syncing may have left the whole turn in the write-ahead log, where the recovery after a
 * crash would take it for committed. A transaction of one small change overwrites it. If even that fails, the disk is
 * lost, and invariant 1 with it. The last commit is hardly later then, so that it still fits to its time since boot. */
static void overwrite_failed_commit(struct store *s)
{
    struct err ignored;
    if (run(s, BEGIN_COMMIT, &ignored) != 0) return;
    int64_t changed_us = s->clock.last_commit_us + 1;
    sql_bind_int(s->statements[TOUCH_COUNTERS], 1, changed_us);
    if (run(s, TOUCH_COUNTERS, &ignored) == 0 && run(s, COMMIT_COMMIT, &ignored) == 0)
        s->clock.last_commit_us = changed_us;
    else if (!sqlite3_get_autocommit(s->db))
        run(s, ROLLBACK_COMMIT, &ignored);
}

int commit_begin(struct store *s, struct err *e)
{
    struct err ignored;
    if (run(s, BEGIN_COMMIT, e) != 0) return -1;
    if (check_single_writer(s, e) == 0) return 0;
    if (!sqlite3_get_autocommit(s->db)) run(s, ROLLBACK_COMMIT, &ignored);
    return -1;
}

int commit_end(struct store *s, int result, struct err *e)
{
    struct err ignored;
    bool is_written = result == 0;
    if (is_written && run(s, COMMIT_COMMIT, e) == 0) return 0;
    if (!sqlite3_get_autocommit(s->db)) run(s, ROLLBACK_COMMIT, &ignored);
    if (is_written) overwrite_failed_commit(s);
    return -1;
}

int store_commit(struct store *s, const struct state *state, const struct outcome *outcome, int64_t now_us,
                 struct err *e)
{
    if (!outcome_has_rows(outcome) && s->scripts.count == 0) return 0;
    if (commit_begin(s, e) != 0) return -1;
    if (commit_end(s, commit_write(s, state, outcome, now_us, e), e) != 0) return -1;
    s->clock.last_commit_us = now_us;
    memcpy(s->clock.boot_id, s->boot.boot_id, sizeof s->clock.boot_id);
    s->clock.boot_us = s->boot.us;
    s->commit_number++;
    store_abandon(s);
    checkpoint_if_due(s);
    return 0;
}
