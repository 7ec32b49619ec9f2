/* The commits that a start finds missing. SQLite takes a write-ahead log with a damaged page for one that ends before
 * it, and an older database that is put in the place of a newer one is whole. The numbers of the commits show both:
 *
 *     the last number in the database  <  the last one in the commit log (commit_log.h)
 *
 * What these commits started and ended is in the commit log, and is started and ended again in the rows, before any
 * launch is reported or started. If the log does not have all of them, the state is put under quarantine as well. */
#include "engine/recovery.h"
#include "daemon/daemon.h"
#include "daemon/log.h"
#include "engine/quarantine.h"
#include "engine/task_text.h"

static const char unknown_detail[] = "commits of the database are missing: the job may have ended since";

static void add_count(struct buf *out, uint32_t count, const char *one, const char *many)
{
    if (count > 0) buf_format(out, ", %u %s", count, count == 1 ? one : many);
}

static void describe_found(struct buf *out, const struct recovery_counts *counts)
{
    struct buf found = {0};
    add_count(&found, counts->started, "start", "starts");
    add_count(&found, counts->ended, "end", "ends");
    add_count(&found, counts->cancelled_jobs, "cancelled job", "cancelled jobs");
    if (found.length > 0) buf_format(out, ". Taken over from commits.log: %s", found.text + 2);
    buf_release(&found);
    if (counts->held_jobs > 0) buf_format(out, ". Held, because they may have run: %u", counts->held_jobs);
}

/* What is missing, and what follows: sentences, the last one without a full stop. */
static void describe(struct buf *out, const struct commit_log_tail *tail, const struct recovery_counts *counts,
                     uint32_t next_job_id)
{
    uint64_t count = tail->last - tail->first + 1;
    buf_format(out, "%llu commit%s of the database %s missing (%llu to %llu): its log is damaged, or it is a backup",
               (unsigned long long)count, count == 1 ? "" : "s", count == 1 ? "is" : "are",
               (unsigned long long)tail->first, (unsigned long long)tail->last);
    describe_found(out, counts);
    if (counts->lost_jobs > 0)
        buf_format(out, ". Up to %u accepted job%s lost (%u to %u), and ended if running: submit them again",
                   counts->lost_jobs, counts->lost_jobs == 1 ? " is" : "s are", next_job_id,
                   next_job_id + counts->lost_jobs - 1);
    buf_add_text(out, ". Repeat other changes of these commits");
}

/* Keeps the text for later starts, too. */
static void note(struct daemon *d)
{
    store_set_recovery(d->store, d->recovery.text, d->now_us);
    *array_add(&d->outcome.changes) = (struct change){TABLE_COUNTERS, 0};
}

int daemon_quarantine(struct daemon *d, const char *reason, const char *elsewhere, struct err *e)
{
    const struct event event = {.kind = EVENT_QUARANTINE, .quarantine = reason};
    log_line(LOG_WARNING, "quarantine", " reason=\"%s\"", reason);
    d->elsewhere = elsewhere;
    if (engine_apply(&d->state, d->now_us, &event, &d->outcome, NULL, e) != 0) return -1;
    if (quarantine_held_count(&d->state) > 0) return 0; /* they say so */
    if (d->recovery.length > 0) buf_add_text(&d->recovery, ". ");
    buf_format(&d->recovery, "Quarantine: %s. No job waited, so none is held", reason);
    note(d);
    return 0;
}

static int quarantine(struct daemon *d, const char *reason, struct err *e)
{
    return daemon_quarantine(d, reason, unknown_detail, e);
}

static int quarantine_for(struct daemon *d, const struct commit_log_tail *tail, struct err *e)
{
    char reason[sizeof d->state.quarantine];
    text_format(reason, sizeof reason,
                "commits %llu to %llu of the database are missing, and commits.log has not all of them",
                (unsigned long long)tail->first, (unsigned long long)tail->last);
    return quarantine(d, reason, e);
}

static int recover(struct daemon *d, const struct commit_log_tail *tail, struct err *e)
{
    struct recovery_counts counts = {0};
    uint32_t next_job_id = d->state.next_job_id;
    const struct event event = {.kind = EVENT_RECOVERY,
                                .recovery = {.tasks = tail->tasks.items,
                                             .task_count = tail->tasks.count,
                                             .ended_jobs = tail->ended_jobs.items,
                                             .ended_job_count = tail->ended_jobs.count,
                                             .next_job_id = tail->next_job_id,
                                             .next_launch_id = tail->next_launch_id,
                                             .shift_us = d->found_shift_us,
                                             .counts = &counts}};
    if (engine_apply(&d->state, d->now_us, &event, &d->outcome, NULL, e) != 0) return -1;
    store_use_up_commit_numbers(d->store, tail->last);
    describe(&d->recovery, tail, &counts, next_job_id);
    note(d);
    log_line(LOG_WARNING, "commits-missing", " detail=\"%s\"", d->recovery.text);
    return tail->is_complete ? 0 : quarantine_for(d, tail, e);
}

/* Whether the log is that of another database. One that was killed before the commit of its first id has a
 * mark only. */
static bool is_foreign(const struct daemon *d, const struct commit_log_tail *tail)
{
    const char *stored_id = store_instance_id(d->store), *id = stored_id[0] != '\0' ? stored_id : d->found_mark.id;
    return tail->instance_id.length > 0 && !str_equal(tail->instance_id, str(id));
}

static void ignore_foreign(struct daemon *d)
{
    buf_add_text(&d->recovery, "commits.log belongs to another instance than the database, and was ignored");
    note(d);
    log_line(LOG_WARNING, "commit-log-ignored", " detail=\"%s\"", d->recovery.text);
}

int daemon_recover(struct daemon *d, struct err *e)
{
    struct commit_log_tail tail;
    if (d->pretend != NULL) return 0;
    int result = commit_log_read(d->state_dir.path, d->found_commit, &tail, e);
    if (result == 0 && is_foreign(d, &tail))
        ignore_foreign(d);
    else if (result == 0 && tail.last > 0)
        result = recover(d, &tail, e);
    commit_log_tail_release(&tail);
    return result;
}

/* The next launch id is committed before a launch is sent. A quarantine is of this start unless its commit failed. */
void daemon_check_launch(struct daemon *d, uint64_t launch_id)
{
    struct err e;
    if (d->pretend != NULL || launch_id < d->state.next_launch_id) return;
    if (d->elsewhere != NULL && d->state.quarantined_us >= d->started_us) return;
    if (quarantine(d, "a launch is newer than the database, of which commits are missing", &e) != 0)
        log_line(LOG_ERROR, "refused", " error=\"%s\"", ERR_SENTENCE(&e));
}

/* --- writing the log ---------------------------------------------------------------------------------------------- */

static void begin_log(struct daemon *d)
{
    struct err e;
    if (commit_log_begin(&d->commit_log, d->state_dir.path, store_instance_id(d->store), store_certain_number(d->store),
                         d->state.next_job_id, d->state.next_launch_id, &e) != 0)
        log_line(LOG_WARNING, "commit-log-failed", " error=\"%s\"", ERR_SENTENCE(&e));
}

void daemon_reset_commit_log(struct daemon *d)
{
    if (d->pretend == NULL) begin_log(d);
}

void daemon_begin_commit_log(struct daemon *d)
{
    if (d->pretend != NULL) return;
    if (store_checkpoint(d->store)) begin_log(d);
    d->logged_commit = store_commit_number(d->store); /* otherwise a later reader finds that one is not in the log */
}

/* A row that no pass and no record of this turn has changed in these ways need not be known. */
static bool is_start_or_end(const struct task *k)
{
    return k->is_withdrawn || job_state_is_end(k->state) || k->start_us == 0;
}

static void add_change(struct daemon *d, struct change change, struct idset *seen_tasks, struct buf *row)
{
    const struct state *s = &d->state;
    if (change.table == TABLE_JOB && s->jobs.items[change.index].ended_us != 0)
        commit_log_add_job(&d->commit_lines, s->jobs.items[change.index].id);
    if (change.table != TABLE_TASK || idset_has(seen_tasks, change.index)) return;
    idset_add(seen_tasks, change.index);
    if (!is_start_or_end(&s->tasks.items[change.index])) return;
    buf_clear(row);
    task_text_format(s, &s->tasks.items[change.index], row);
    commit_log_add_task(&d->commit_lines, (struct str){row->text, row->length});
}

void daemon_log_commit(struct daemon *d)
{
    struct idset seen_tasks = {0};
    struct buf row = {0};
    struct err e;
    uint64_t number = store_commit_number(d->store);
    if (d->pretend != NULL || number == d->logged_commit) return;
    d->logged_commit = number;
    if (store_certain_number(d->store) == number) {
        begin_log(d);
        return;
    }
    buf_clear(&d->commit_lines);
    for (uint32_t i = 0; i < d->outcome.changes.count; i++)
        add_change(d, d->outcome.changes.items[i], &seen_tasks, &row);
    commit_log_add_commit(&d->commit_lines, number, d->state.next_job_id, d->state.next_launch_id);
    if (commit_log_append(&d->commit_log, d->state_dir.path, &d->commit_lines, &e) != 0)
        log_line(LOG_WARNING, "commit-log-failed", " error=\"%s\"", ERR_SENTENCE(&e));
    idset_release(&seen_tasks);
    buf_release(&row);
}

/* --- telling ------------------------------------------------------------------------------------------------------ */

const char *daemon_last_recovery(void *daemon, int64_t *out_at_us)
{
    const struct daemon *d = daemon;
    const int64_t told_us = 7 * 24 * 3600 * US_PER_S;
    const char *text = store_recovery(d->store, out_at_us);
    return text != NULL && *out_at_us + told_us > d->now_us ? text : NULL;
}
