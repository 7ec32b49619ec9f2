/* A turn becomes durable: every row that changed is read from the state and written, with the journal and the scripts, in
 * one transaction. One fsync whatever the size of the turn, so a turn of a thousand submissions costs little more than a
 * turn of one (bench/bench_store.c).
 *
 * Invariants
 *   1. After 0, the turn is durable (WAL, synchronous=FULL). After -1, nothing of it is in the database, also not after a
 *      crash: see overwrite_failed_commit.
 *   2. Each row is written once, in the order of tables and indices; so what is in the database depends on the turn only.
 *   3. Nobody else writes: when another connection did (somebody with sqlite3), memory is no longer what the database says
 *      and the turn is refused until the state was loaded anew. A file that was moved away or removed takes no turn at
 *      all: at the next start nobody would find it.
 * A row is written by one upsert that names every column that may change; what happens to all rows of a table alike, by one
 * statement before (TABLE_USAGES, TABLE_MIN_PRIORITIES). */
#include <sys/stat.h>

#include "base/ensure.h"
#include "base/idset.h"
#include "store/internal.h"
#include "store/list_columns.h"

#define JOB_COLUMNS                                                                                                    \
    "id, association_id, uid, gid, name, command, directory, out_pattern, err_pattern, cpus, gpus, mem_mib,"           \
    " time_limit_s, submit_us, is_held, array_tasks, array_limit, pending_tasks, cancelled_tasks, cancelled_us,"       \
    " ended_us, begin_us, accrue_us, deadline_us, partitions, qos, project, nice, site, set_priority, posix_priority," \
    " job_share, override_tickets, slots_max, requests"
#define TASK_COLUMNS                                                                                                    \
    "job_id, task_id, state, is_cancelled, launch_id, boot_id, launch_us, start_us, charged_us, end_us, billing, cpus," \
    " gpus, mem_mib, exit_status, signal, cpu_us, max_rss_kib, detail, association_id, partition, usage_factor, tres"

static const char *const statement_texts[STATEMENT_COUNT] = {
    [PUT_ASSOC] =
        "INSERT INTO association(id, parent_id, account, user, shares, is_default, usage_billing_s, created_us, deleted_us,"
        " usage_tres, priority, reset_us) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT(id) DO UPDATE SET"
        " parent_id = excluded.parent_id, shares = excluded.shares, is_default = excluded.is_default,"
        " usage_billing_s = excluded.usage_billing_s, deleted_us = excluded.deleted_us, usage_tres = excluded.usage_tres,"
        " priority = excluded.priority, reset_us = excluded.reset_us",
    [PUT_JOB] =
        "INSERT INTO job(" JOB_COLUMNS ") VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,"
        " ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35)"
        " ON CONFLICT(id) DO UPDATE SET name = excluded.name, cpus = excluded.cpus,"
        " gpus = excluded.gpus, mem_mib = excluded.mem_mib, time_limit_s = excluded.time_limit_s,"
        " is_held = excluded.is_held, array_limit = excluded.array_limit, pending_tasks = excluded.pending_tasks,"
        " cancelled_us = iif(cancelled_tasks = excluded.cancelled_tasks, cancelled_us, excluded.cancelled_us),"
        " cancelled_tasks = excluded.cancelled_tasks, ended_us = excluded.ended_us, begin_us = excluded.begin_us,"
        " accrue_us = excluded.accrue_us, deadline_us = excluded.deadline_us, partitions = excluded.partitions,"
        " qos = excluded.qos, project = excluded.project, nice = excluded.nice, site = excluded.site,"
        " set_priority = excluded.set_priority, posix_priority = excluded.posix_priority, job_share = excluded.job_share,"
        " override_tickets = excluded.override_tickets, slots_max = excluded.slots_max, requests = excluded.requests",
    [PUT_TASK] =
        "INSERT INTO task(" TASK_COLUMNS ") VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,"
        " ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23) ON CONFLICT(job_id, task_id) DO UPDATE SET state = excluded.state,"
        " is_cancelled = excluded.is_cancelled, launch_id = excluded.launch_id, boot_id = excluded.boot_id,"
        " launch_us = excluded.launch_us, start_us = excluded.start_us, charged_us = excluded.charged_us,"
        " end_us = excluded.end_us, billing = excluded.billing, cpus = excluded.cpus, gpus = excluded.gpus,"
        " mem_mib = excluded.mem_mib, exit_status = excluded.exit_status, signal = excluded.signal,"
        " cpu_us = excluded.cpu_us, max_rss_kib = excluded.max_rss_kib, detail = excluded.detail,"
        " partition = excluded.partition, usage_factor = excluded.usage_factor, tres = excluded.tres",
    [PUT_OWNER] =
        "INSERT INTO owner_usage(user, project, cpu_s, mem_gib_s, io_gib, finished_jobs, at_us, reset_us)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT(user, project) DO UPDATE SET cpu_s = excluded.cpu_s,"
        " mem_gib_s = excluded.mem_gib_s, io_gib = excluded.io_gib, finished_jobs = excluded.finished_jobs,"
        " at_us = excluded.at_us, reset_us = excluded.reset_us",
    [CLEAR_ASSOC_USAGES] = "UPDATE association SET usage_billing_s = 0, usage_tres = NULL"
                           " WHERE usage_billing_s <> 0 OR usage_tres IS NOT NULL",
    [CLEAR_QOS_USAGES] = "UPDATE qos SET usage_billing_s = 0",
    [CLEAR_OWNER_USAGES] = "UPDATE owner_usage SET cpu_s = 0, mem_gib_s = 0, io_gib = 0, finished_jobs = 0",
    [CLEAR_MIN_PRIORITIES] = "DELETE FROM min_priority",
    [REMOVE_MIN_PRIORITIES] = "DELETE FROM min_priority WHERE job_id = ?1",
    [PUT_MIN_PRIORITY] = "INSERT INTO min_priority(job_id, partition, priority) VALUES(?1, ?2, ?3)",
    [PUT_SETTING] =
        "INSERT INTO setting(name, value) VALUES(?1, ?2) ON CONFLICT(name) DO UPDATE SET value = excluded.value",
    [PUT_COUNTERS] =
        "INSERT INTO counters(id, next_association_id, next_job_id, next_launch_id, halflife_us, reference_us,"
        " last_commit_us, usage_reset_us, reset_period_us) VALUES(1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT(id) DO UPDATE SET"
        " next_association_id = excluded.next_association_id, next_job_id = excluded.next_job_id,"
        " next_launch_id = excluded.next_launch_id, halflife_us = excluded.halflife_us,"
        " reference_us = excluded.reference_us, last_commit_us = excluded.last_commit_us,"
        " usage_reset_us = excluded.usage_reset_us, reset_period_us = excluded.reset_period_us",
    [PUT_JOURNAL] =
        "INSERT INTO usage_journal(at_us, kind, association_id, before, after, detail) VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
    [FIND_CONTENT] = "SELECT id FROM content WHERE hash = ?1 AND bytes = ?2",
    [PUT_CONTENT] = "INSERT INTO content(hash, bytes) VALUES(?1, ?2)",
    [PUT_SCRIPT] =
        "INSERT INTO job_script(job_id, script_name, script_id, arguments, environment_id) VALUES(?1, ?2, ?3, ?4, ?5)",
    [GET_SCRIPT] =
        "SELECT script_name, script.bytes, arguments, environment.bytes FROM job_script"
        " JOIN content AS script ON script.id = script_id JOIN content AS environment ON environment.id = environment_id"
        " WHERE job_id = ?1",
    [BEGIN_COMMIT] = "BEGIN IMMEDIATE",
    [COMMIT_COMMIT] = "COMMIT",
    [ROLLBACK_COMMIT] = "ROLLBACK",
    [TOUCH_COUNTERS] = "UPDATE counters SET last_commit_us = ?1",
    [DATA_VERSION] = "PRAGMA data_version",
};

int commit_prepare(struct store *s, struct err *e)
{
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        s->statements[i] = sql_keep(s->db, statement_texts[i], e);
        if (s->statements[i] == NULL) return -1;
    }
    return objects_prepare(s, e);
}

static int run(struct store *s, enum store_statement which, struct err *e)
{
    return sql_step(s->statements[which], e);
}

/* One of the store's buffers, emptied: what a row's text may be in until its statement has run. */
static struct buf *text_of_row(struct store *s, uint32_t place)
{
    ensure(place < TEXTS_OF_A_ROW);
    buf_clear(&s->texts[place]);
    return &s->texts[place];
}

static const char *closed(const struct buf *text)
{
    return text->length > 0 ? text->text : "";
}

static int put_assoc(struct store *s, const struct state *state, uint32_t index, struct err *e)
{
    const struct assoc *a = &state->assocs.items[index];
    sqlite3_stmt *put = s->statements[PUT_ASSOC];
    struct buf *tres = text_of_row(s, 0);
    list_column_usage_format(&state->policy.tres, a->usage_tres, tres);
    sql_bind_int(put, 1, a->id);
    sql_bind_int_or_null(put, 2, a->parent == NONE ? 0 : state->assocs.items[a->parent].id);
    sql_bind_text(put, 3, a->account);
    sql_bind_text(put, 4, a->user);
    sql_bind_int(put, 5, a->shares);
    sql_bind_int(put, 6, a->is_default);
    sql_bind_double(put, 7, a->usage);
    sql_bind_int(put, 8, a->created_us);
    sql_bind_int_or_null(put, 9, a->deleted_us);
    sql_bind_text(put, 10, tres->length > 0 ? tres->text : NULL);
    sql_bind_int_unless(put, 11, a->priority, NONE);
    sql_bind_int_or_null(put, 12, a->reset_us);
    return sql_step(put, e);
}

static const char *set_text(struct buf *out, const struct idset *set)
{
    idset_format(set, out);
    return closed(out);
}

static void bind_capacity(sqlite3_stmt *put, int parameter, const struct capacity *c)
{
    sql_bind_int(put, parameter, c->cpus);
    sql_bind_int(put, parameter + 1, c->gpus);
    sql_bind_int(put, parameter + 2, (int64_t)c->mem_mib);
}

/* The moment of the last cancellation is not the engine's business; people want it in listings. */
static int64_t cancelled_us(const struct job *j, int64_t now_us)
{
    if (idset_first(&j->cancelled) == NONE) return 0;
    return j->ended_us != 0 ? j->ended_us : now_us;
}

/* What the policies use of a job: parameters 22 to 35. */
static void bind_terms(struct store *s, sqlite3_stmt *put, const struct state *state, const struct job *j)
{
    struct buf *partitions = text_of_row(s, 3), *requests = text_of_row(s, 4);
    list_column_partitions_format(state, j, partitions);
    list_column_requests_format(state, j, requests);
    sql_bind_int_or_null(put, 22, j->begin_us);
    sql_bind_int_or_null(put, 23, j->accrue_us);
    sql_bind_int_or_null(put, 24, j->deadline_us);
    sql_bind_text(put, 25, closed(partitions));
    sql_bind_text(put, 26, state->objects[OBJECT_QOS].items[j->qos].object.name);
    sql_bind_text(put, 27, j->project == NONE ? NULL : state->objects[OBJECT_PROJECT].items[j->project].object.name);
    sql_bind_int(put, 28, j->nice);
    sql_bind_int(put, 29, j->site);
    sql_bind_int_unless(put, 30, j->set_priority, NONE);
    sql_bind_int(put, 31, j->posix_priority);
    sql_bind_int(put, 32, j->job_share);
    sql_bind_int(put, 33, j->override_tickets);
    sql_bind_int_or_null(put, 34, j->slots_max);
    sql_bind_text(put, 35, closed(requests));
}

static int put_job(struct store *s, const struct state *state, uint32_t index, int64_t now_us, struct err *e)
{
    const struct job *j = &state->jobs.items[index];
    sqlite3_stmt *put = s->statements[PUT_JOB];
    sql_bind_int(put, 1, j->id);
    sql_bind_int(put, 2, state->assocs.items[j->assoc].id);
    sql_bind_int(put, 3, j->uid);
    sql_bind_int(put, 4, j->gid);
    sql_bind_text(put, 5, j->name);
    sql_bind_text(put, 6, j->command);
    sql_bind_text(put, 7, j->directory);
    sql_bind_text(put, 8, j->out_pattern);
    sql_bind_text(put, 9, j->err_pattern);
    bind_capacity(put, 10, &j->request);
    sql_bind_int(put, 13, j->time_limit_s);
    sql_bind_int(put, 14, j->submit_us);
    sql_bind_int(put, 15, j->held);
    sql_bind_text(put, 16, j->is_array ? set_text(text_of_row(s, 0), &j->array) : NULL);
    sql_bind_int_or_null(put, 17, j->array_limit);
    sql_bind_text(put, 18, set_text(text_of_row(s, 1), &j->pending));
    sql_bind_text(put, 19, set_text(text_of_row(s, 2), &j->cancelled));
    sql_bind_int_or_null(put, 20, cancelled_us(j, now_us));
    sql_bind_int_or_null(put, 21, j->ended_us);
    bind_terms(s, put, state, j);
    return sql_step(put, e);
}

static int put_task(struct store *s, const struct state *state, uint32_t index, struct err *e)
{
    const struct task *k = &state->tasks.items[index];
    sqlite3_stmt *put = s->statements[PUT_TASK];
    struct buf *tres = text_of_row(s, 2);
    list_column_amounts_format(&state->policy.tres, &k->tres, tres);
    sql_bind_int(put, 1, k->job_id);
    sql_bind_int(put, 2, k->task_id);
    sql_bind_text(put, 3, job_state_name(k->state));
    sql_bind_int(put, 4, k->cancelled);
    sql_bind_int(put, 5, (int64_t)k->launch_id);
    sql_bind_text(put, 6, k->boot_id);
    sql_bind_int(put, 7, k->launch_us);
    sql_bind_int_or_null(put, 8, k->start_us);
    sql_bind_int_or_null(put, 9, k->charged_us);
    sql_bind_int_or_null(put, 10, k->end_us);
    sql_bind_double(put, 11, k->billing);
    sql_bind_text(put, 12, set_text(text_of_row(s, 0), &k->placement.cpus));
    sql_bind_text(put, 13, set_text(text_of_row(s, 1), &k->placement.gpus));
    sql_bind_int(put, 14, (int64_t)k->placement.mem_mib);
    sql_bind_int(put, 15, k->exit_status);
    sql_bind_int(put, 16, k->signal);
    sql_bind_int(put, 17, k->cpu_us);
    sql_bind_int(put, 18, k->max_rss_kib);
    sql_bind_text(put, 19, k->detail);
    sql_bind_int(put, 20, state->assocs.items[k->assoc].id);
    sql_bind_text(put, 21, state->objects[OBJECT_PARTITION].items[k->partition].object.name);
    sql_bind_double(put, 22, k->usage_factor);
    sql_bind_text(put, 23, closed(tres));
    return sql_step(put, e);
}

static int put_setting(struct store *s, const struct state *state, uint32_t index, struct err *e)
{
    sqlite3_stmt *put = s->statements[PUT_SETTING];
    struct buf *value = text_of_row(s, 0);
    setting_format((enum setting)index, &state->settings.value[index], value);
    sql_bind_text(put, 1, settings_table[index].name);
    sql_bind_text(put, 2, closed(value));
    return sql_step(put, e);
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
    return sql_step(put, e);
}

static int clear_usages(struct store *s, struct err *e)
{
    for (int which = CLEAR_ASSOC_USAGES; which <= CLEAR_OWNER_USAGES; which++) {
        if (run(s, (enum store_statement)which, e) != 0) return -1;
    }
    return 0;
}

static int put_row(struct store *s, const struct state *state, struct change c, int64_t now_us, struct err *e)
{
    switch (c.table) {
    case TABLE_USAGES: return clear_usages(s, e);
    case TABLE_ASSOC: return put_assoc(s, state, c.index, e);
    case TABLE_JOB: return put_job(s, state, c.index, now_us, e);
    case TABLE_TASK: return put_task(s, state, c.index, e);
    case TABLE_SETTING: return put_setting(s, state, c.index, e);
    case TABLE_OBJECT: return object_write(s, state, c.index, e);
    case TABLE_OWNER: return owner_write(s, state, c.index, e);
    case TABLE_MIN_PRIORITIES: return run(s, CLEAR_MIN_PRIORITIES, e);
    case TABLE_MIN_PRIORITY: return floors_write(s, state, c.index, e);
    case TABLE_COUNTERS: return 0; /* written with every turn */
    case TABLE_COUNT: break;
    }
    ensure(!"a table of the state");
    return -1;
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

int commit_write(struct store *s, const struct state *state, const struct outcome *outcome, int64_t now_us,
                 struct err *e)
{
    order_changes(s, outcome);
    for (uint32_t i = 0; i < s->order.count; i++) {
        const struct sort_record *r = &s->order.items[i];
        if (i > 0 && r->key == r[-1].key) continue;
        if (put_row(s, state, (struct change){(enum table)r->extra, r->index}, now_us, e) != 0) return -1;
    }
    for (uint32_t i = 0; i < outcome->journal.count; i++) {
        if (put_journal(s, &outcome->journal.items[i], e) != 0) return -1;
    }
    if (script_write_added(s, e) != 0) return -1;
    return put_counters(s, state, now_us, e);
}

/* Invariant 3. */
static int check_alone(struct store *s, struct err *e)
{
    struct stat st;
    if (stat(s->path, &st) != 0 || st.st_dev != s->device || st.st_ino != s->inode)
        return err_set(e, ERR_CONFLICT, "%s was moved or removed while the daemon used it; put it back, or start anew",
                       s->path);
    sqlite3_stmt *version = s->statements[DATA_VERSION];
    if (sql_step(version, e) != 1) return -1;
    int64_t found = sqlite3_column_int64(version, 0);
    sqlite3_reset(version);
    if (found == s->data_version) return 0;
    return err_set(e, ERR_CONFLICT, "%s was changed by another program while the daemon used it; nothing was written",
                   s->path);
}

/* A COMMIT that failed while syncing may have left the whole turn in the write-ahead log, where a crash right now would
 * find it and take it for committed. A transaction of one small change goes over it. Where even that fails, the disk is
 * gone, and so is what can be promised. */
static void overwrite_failed_commit(struct store *s, int64_t now_us)
{
    struct err ignored;
    if (run(s, BEGIN_COMMIT, &ignored) != 0) return;
    int64_t differs = now_us != s->last_commit_us ? now_us : now_us + 1;
    sql_bind_int(s->statements[TOUCH_COUNTERS], 1, differs);
    if (run(s, TOUCH_COUNTERS, &ignored) == 0 && run(s, COMMIT_COMMIT, &ignored) == 0)
        s->last_commit_us = differs;
    else if (!sqlite3_get_autocommit(s->db))
        run(s, ROLLBACK_COMMIT, &ignored);
}

int store_commit(struct store *s, const struct state *state, const struct outcome *outcome, int64_t now_us,
                 struct err *e)
{
    if (outcome->changes.count == 0 && outcome->journal.count == 0 && s->scripts.count == 0) return 0;
    struct err ignored;
    if (run(s, BEGIN_COMMIT, e) != 0) return -1;
    if (check_alone(s, e) != 0 || commit_write(s, state, outcome, now_us, e) != 0) {
        if (!sqlite3_get_autocommit(s->db)) run(s, ROLLBACK_COMMIT, &ignored);
        return -1;
    }
    if (run(s, COMMIT_COMMIT, e) != 0) {
        if (!sqlite3_get_autocommit(s->db)) run(s, ROLLBACK_COMMIT, &ignored);
        overwrite_failed_commit(s, now_us);
        return -1;
    }
    s->last_commit_us = now_us;
    store_abandon(s);
    return 0;
}
