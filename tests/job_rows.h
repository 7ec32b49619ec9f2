/* Compares the jobs and tasks in memory with their rows in the store and in listings. The loops run over the table of
 * job fields (fields/job_fields.h), so a new field is compared, too. */
#ifndef FAIRLEAD_TESTS_JOB_ROWS_H
#define FAIRLEAD_TESTS_JOB_ROWS_H

#include "unit/store_world.h"

#include "engine/job_members.h"
#include "engine/restarts.h"
#include "engine/task_delays.h"
#include "store/field_columns.h"

/* task NULL: the job's own. */
struct job_row_place {
    const char *where; /* "loaded", "stored", "listed" */
    const struct state *s;
    const struct job *job;
    const struct task *task;
    const char *tasks; /* of a listed row of tasks that have not started */
};

static inline bool job_rows_has(enum job_field f, enum job_field_home home)
{
    return job_field_rows[f].home == home && job_field_rows[f].column != NULL;
}

static inline struct field_value job_rows_value(const struct job_row_place *p, enum job_field f, struct arena *arena)
{
    return p->task != NULL ? task_member(p->s, p->task, f, arena) : job_member(p->s, p->job, f, arena);
}

static inline void job_rows_fail(const struct job_row_place *p, enum job_field f, const struct field_value *is,
                                 const struct field_value *expected)
{
    struct buf left = {0}, right = {0};
    field_format(job_field_at(f), is, &left);
    field_format(job_field_at(f), expected, &right);
    fail_msg("job %u, task %d: %s: %s '%s'%s, expected '%s'%s", p->job->id, p->task ? (int)p->task->task_id : -1,
             job_field_at(f)->name, p->where, left.text ? left.text : "",
             field_is_absent(job_field_at(f), is) ? " (none)" : "", right.text ? right.text : "",
             field_is_absent(job_field_at(f), expected) ? " (none)" : "");
}

static inline void job_rows_assert_equal(const struct job_row_place *p, enum job_field f, const struct field_value *is,
                                         const struct field_value *expected)
{
    if (!field_equal(job_field_at(f), is, expected)) job_rows_fail(p, f, is, expected);
}

/* --- loaded ------------------------------------------------------------------------------------------------------- */

static inline void job_rows_assert_same(const struct job_row_place *in_memory, const struct job_row_place *loaded,
                                        struct arena *arena)
{
    enum job_field_home home = in_memory->task != NULL ? JOB_HOME_TASK : JOB_HOME_JOB;
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (!job_rows_has(f, home)) continue;
        struct field_value expected = job_rows_value(in_memory, f, arena), is = job_rows_value(loaded, f, arena);
        job_rows_assert_equal(in_memory, f, &is, &expected);
    }
}

/* A loaded state has exactly the live jobs and tasks, with the same fields. */
static inline void job_rows_assert_loaded(const struct state *s, const struct state *loaded)
{
    struct arena arena = {0};
    uint32_t jobs = 0, tasks = 0;
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        const struct job *j = &s->jobs.items[i];
        if (j->ended_us != 0) continue;
        uint32_t index = state_find_job(loaded, j->id);
        if (index == NONE) fail_msg("job %u was not loaded", j->id);
        struct job_row_place left = {"loaded", s, j, NULL, NULL},
                             right = {"loaded", loaded, &loaded->jobs.items[index], NULL, NULL};
        job_rows_assert_same(&left, &right, &arena);
        jobs++;
    }
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        const struct task *k = &s->tasks.items[i];
        if (job_state_is_end(k->state)) continue;
        uint32_t at = state_find_task(loaded, k->job_id, k->task_id), job = state_find_job(s, k->job_id);
        if (at == NONE) fail_msg("task %u of job %u was not loaded", k->task_id, k->job_id);
        struct job_row_place left = {"loaded", s, &s->jobs.items[job], k, NULL},
                             right = {"loaded", loaded, left.job, &loaded->tasks.items[at], NULL};
        job_rows_assert_same(&left, &right, &arena);
        tasks++;
    }
    assert_int_equal(loaded->jobs.count, jobs);
    assert_int_equal(loaded->tasks.count, tasks);
    arena_release(&arena);
}

/* --- stored ------------------------------------------------------------------------------------------------------- */

static inline sqlite3_stmt *job_rows_select(sqlite3 *db, enum job_field_home home)
{
    struct buf text = {0};
    sqlite3_stmt *select;
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (job_rows_has(f, home))
            buf_format(&text, "%s %s", text.length > 0 ? "," : "SELECT", job_field_rows[f].column);
    }
    buf_add_text(&text, home == JOB_HOME_JOB ? " FROM job WHERE id = ?1"
                                             : " FROM task WHERE job_id = ?1 AND task_id = ?2 AND restarts = ?3");
    if (sqlite3_prepare_v2(db, text.text, -1, &select, NULL) != SQLITE_OK)
        fail_msg("%s: %s", text.text, sqlite3_errmsg(db));
    buf_release(&text);
    return select;
}

/* Calls seen (may be NULL) with every value. */
static inline void job_rows_assert_row(sqlite3_stmt *select, const struct job_row_place *p,
                                       void (*seen)(enum job_field f, const struct field_value *value))
{
    struct arena arena = {0};
    int column = 0;
    sqlite3_bind_int64(select, 1, p->job->id);
    if (p->task != NULL) sqlite3_bind_int64(select, 2, p->task->task_id);
    if (p->task != NULL) sqlite3_bind_int64(select, 3, p->task->restarts);
    if (sqlite3_step(select) != SQLITE_ROW) fail_msg("job %u: it was not stored", p->job->id);
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (!job_rows_has(f, p->task != NULL ? JOB_HOME_TASK : JOB_HOME_JOB)) continue;
        struct field_value expected = job_rows_value(p, f, &arena), is;
        const struct field_column c = field_column_of(job_field_at(f), job_field_rows[f].empty_is_null);
        if (!field_column_read(&c, select, column++, &is))
            fail_msg("job %u: %s cannot be read", p->job->id, job_field_at(f)->name);
        job_rows_assert_equal(p, f, &is, &expected);
        if (seen != NULL) seen(f, &is);
    }
    sqlite3_reset(select);
    arena_release(&arena);
}

/* The stored columns of every job and task in memory, including ended ones, equal the fields. A task that was withdrawn
 * has no row. */
static inline void job_rows_assert_stored(const struct state *s, const char *directory,
                                          void (*seen)(enum job_field f, const struct field_value *value))
{
    sqlite3 *db = store_open_beside(directory);
    sqlite3_stmt *jobs = job_rows_select(db, JOB_HOME_JOB), *tasks = job_rows_select(db, JOB_HOME_TASK);
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        struct job_row_place p = {"stored", s, &s->jobs.items[i], NULL, NULL};
        job_rows_assert_row(jobs, &p, seen);
        for (uint32_t k = 0; k < s->tasks.count; k++) {
            p.task = &s->tasks.items[k];
            if (p.task->job_id == p.job->id && !p.task->is_withdrawn) job_rows_assert_row(tasks, &p, seen);
        }
    }
    sqlite3_finalize(jobs);
    sqlite3_finalize(tasks);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* --- listed ------------------------------------------------------------------------------------------------------- */

/* Of the tasks of a row that have not started, which were requeued equally often, and have the same hold. */
static inline uint32_t job_rows_restarts(const struct job *j, const char *numbers)
{
    struct idset tasks = {0};
    if (j->is_array)
        assert_int_equal(idset_parse(str(numbers), NONE - 1, "tasks", &tasks, NULL), 0);
    else
        idset_add(&tasks, 0);
    uint32_t restarts = restarts_of(j, idset_first(&tasks));
    for (uint32_t id = idset_first(&tasks); id != NONE; id = idset_next(&tasks, id)) {
        assert_int_equal(restarts_of(j, id), restarts);
        assert_int_equal(task_delays_hold_of(j, id), task_delays_hold_of(j, idset_first(&tasks)));
    }
    idset_release(&tasks);
    return restarts;
}

/* The number of rows for tasks that have not started: one for each number of restarts and hold. */
static inline uint32_t job_rows_groups(const struct job *j, const struct idset *tasks)
{
    struct idset seen = {0};
    for (uint32_t id = idset_first(tasks); id != NONE; id = idset_next(tasks, id))
        idset_add(&seen, TASK_HOLD_COUNT * restarts_of(j, id) + task_delays_hold_of(j, id));
    uint32_t count = idset_count(&seen);
    idset_release(&seen);
    return count;
}

static inline struct field_value job_rows_shown_dependency(const struct job *j, struct arena *arena)
{
    struct buf text = {0};
    dependency_text_show(j->dependency, 0, &text);
    const char *copy = text.length > 0 ? arena_copy(arena, str(text.text)) : "";
    buf_release(&text);
    return field_text(copy);
}

/* The end of the first delay where all tasks of a row are delayed; 0: they are not. */
static inline int64_t job_rows_delayed_until_us(const struct job_row_place *p)
{
    struct idset tasks = {0};
    int64_t first_us = INT64_MAX;
    if (p->tasks == NULL || p->job->delays.count == 0) return 0;
    assert_int_equal(idset_parse(str(p->tasks), NONE - 1, "tasks", &tasks, NULL), 0);
    for (uint32_t id = idset_first(&tasks); id != NONE; id = idset_next(&tasks, id)) {
        int64_t own_us = 0;
        for (uint32_t i = 0; i < p->job->delays.count; i++) {
            const struct task_delay *d = &p->job->delays.items[i];
            if (d->at_us < TASK_DELAYS_HELD_BY_USER_US && idset_has(&d->tasks, id)) own_us = d->at_us;
        }
        if (own_us < first_us) first_us = own_us;
    }
    idset_release(&tasks);
    return first_us;
}

/* The begin of the job, or the end of that delay; the hold of the job, or that of the tasks of a row. */
static inline struct field_value job_rows_shown_wait(const struct job_row_place *p, enum job_field f,
                                                     struct arena *arena)
{
    struct idset tasks = {0};
    int64_t until_us = job_rows_delayed_until_us(p);
    if (f == JOB_FIELD_BEGIN && until_us > p->job->begin_us) return field_number(until_us);
    if (f == JOB_FIELD_BEGIN || p->tasks == NULL) return job_member(p->s, p->job, f, arena);
    assert_int_equal(idset_parse(str(p->tasks), NONE - 1, "tasks", &tasks, NULL), 0);
    uint32_t first = idset_first(&tasks);
    enum task_hold hold = first != NONE ? task_delays_hold_of(p->job, first) : TASK_HOLD_NONE;
    idset_release(&tasks);
    bool is_held = f == JOB_FIELD_HELD ? hold != TASK_HOLD_NONE : hold == TASK_HOLD_BY_OPERATOR;
    return is_held ? field_number(true) : job_member(p->s, p->job, f, arena);
}

/* A task's field in a listing where no task has started: absent, except for a few fields that are known. */
static inline struct field_value job_rows_unstarted(const struct job_row_place *p, bool is_pending, enum job_field f,
                                                    struct arena *arena)
{
    if (f == JOB_FIELD_STATE) return field_number(is_pending ? JOB_PENDING : JOB_CANCELLED);
    if (f == JOB_FIELD_PARTITION) return job_member(p->s, p->job, JOB_FIELD_PARTITIONS, arena);
    if (f == JOB_FIELD_END && !is_pending) return job_member(p->s, p->job, JOB_FIELD_CANCELLED, arena);
    if (f == JOB_FIELD_RESTARTS) return field_number(job_rows_restarts(p->job, p->tasks));
    if (f == JOB_FIELD_DETAIL && !is_pending && p->job->is_cancelled_by_rule)
        return field_text("what it waited for can never happen");
    return field_is_text(job_field_at(f)) ? field_text("") : field_nothing(job_field_at(f));
}

/* Whether there is no exit status, or no signal either: it has not ended, or ended without. */
static inline bool job_rows_has_no_exit(const struct task *k, enum job_field f)
{
    bool needs_one = k->state == JOB_FAILED || k->state == JOB_NODE_FAIL || k->state == JOB_REQUEUED;
    if (!job_state_is_end(k->state) || k->start_us == 0) return true;
    if (k->signal > 0) return f == JOB_FIELD_EXIT_STATUS;
    return needs_one && k->exit_status == 0;
}

/* What is not known yet, and the number of a plain job's task, are not shown. */
static inline struct field_value job_rows_started(const struct job_row_place *p, enum job_field f, struct arena *arena)
{
    bool is_result = f == JOB_FIELD_EXIT_STATUS || f == JOB_FIELD_SIGNAL;
    if (f == JOB_FIELD_TASK_ID && !p->job->is_array) return field_absent();
    if (f == JOB_FIELD_BILLING && p->task->start_us == 0) return field_absent();
    if (is_result && job_rows_has_no_exit(p->task, f)) return field_absent();
    return task_member(p->s, p->task, f, arena);
}

/* An attempt that was requeued is not shown with the begin and the hold that its job was given after it. */
static inline struct field_value job_rows_of_job(const struct job_row_place *p, enum job_field f, struct arena *arena)
{
    bool is_requeued = p->task != NULL && p->task->state == JOB_REQUEUED;
    if (is_requeued && f == JOB_FIELD_BEGIN && p->job->begin_us > p->task->start_us) return field_absent();
    if (is_requeued && f == JOB_FIELD_HELD) return field_number(false);
    return job_member(p->s, p->job, f, arena);
}

static inline void job_rows_assert_listed_row(const struct job_row_place *p, const struct job_row *row)
{
    struct arena arena = {0};
    bool is_pending = job_row_number(row, JOB_FIELD_STATE) == JOB_PENDING;
    const struct assoc *assoc = &p->s->assocs.items[p->job->assoc];
    assert_string_equal(job_row_text(row, JOB_FIELD_ACCOUNT), assoc->account);
    assert_string_equal(job_row_text(row, JOB_FIELD_USER), assoc->user);
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (job_field_at(f)->is_hidden || (job_field_rows[f].column == NULL && f != JOB_FIELD_DEPENDENCY)) continue;
        bool is_wait = f == JOB_FIELD_BEGIN || f == JOB_FIELD_HELD || f == JOB_FIELD_HELD_BY_OPERATOR;
        struct field_value expected = f == JOB_FIELD_DEPENDENCY ? job_rows_shown_dependency(p->job, &arena)
                                      : is_wait && is_pending   ? job_rows_shown_wait(p, f, &arena)
                                      : job_field_rows[f].home == JOB_HOME_JOB ? job_rows_of_job(p, f, &arena)
                                      : p->task != NULL                        ? job_rows_started(p, f, &arena)
                                                        : job_rows_unstarted(p, is_pending, f, &arena);
        job_rows_assert_equal(p, f, &row->value[f], &expected);
    }
    arena_release(&arena);
}

/* The job of a row, and its task where one has started; false where memory has forgotten them. */
static inline bool job_rows_find(const struct state *s, const struct job_row *row, struct job_row_place *out)
{
    int64_t job_id = job_row_number(row, JOB_FIELD_JOB_ID), task_id = job_row_number_or(row, JOB_FIELD_TASK_ID, 0);
    bool has_started = job_row_text(row, JOB_FIELD_CPU_IDS)[0] != '\0';
    *out = (struct job_row_place){.where = "listed", .s = s, .tasks = job_row_text(row, JOB_FIELD_ARRAY_TASKS)};
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        if (s->jobs.items[i].id == job_id) out->job = &s->jobs.items[i];
    }
    for (uint32_t i = 0; i < s->tasks.count && has_started; i++) {
        const struct task *k = &s->tasks.items[i];
        if (!k->is_withdrawn && k->job_id == job_id && k->task_id == task_id &&
            k->restarts == job_row_number(row, JOB_FIELD_RESTARTS))
            out->task = k;
    }
    return out->job != NULL && (out->task != NULL || !has_started);
}

static inline bool job_rows_has_job(const struct state *s, uint32_t job_id)
{
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        if (s->jobs.items[i].id == job_id) return true;
    }
    return false;
}

/* The number of rows that a listing has for the jobs and tasks in memory. A job may be forgotten before its tasks. */
static inline uint32_t job_rows_count(const struct state *s)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->tasks.count; i++)
        count += !s->tasks.items[i].is_withdrawn && job_rows_has_job(s, s->tasks.items[i].job_id);
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        count += job_rows_groups(&s->jobs.items[i], &s->jobs.items[i].pending);
        count += job_rows_groups(&s->jobs.items[i], &s->jobs.items[i].cancelled);
    }
    return count;
}

/* A listing of all jobs has a row for each job and task in memory, with the same fields. */
static inline void job_rows_assert_listed(const struct state *s, struct store *store)
{
    const struct job_query everything = {.which = JOBS_ALL, .task_id = NONE, .state = JOB_STATE_COUNT};
    struct job_reader reader = store_job_reader(store);
    struct job_row row;
    struct err e = {0};
    uint32_t found = 0;
    int result;
    void *cursor = reader.open(reader.context, &everything, &e);
    if (cursor == NULL) fail_msg("%s", ERR_SENTENCE(&e));
    while ((result = reader.next(cursor, &row, &e)) > 0) {
        struct job_row_place p;
        if (result == 2 || !job_rows_find(s, &row, &p)) continue;
        job_rows_assert_listed_row(&p, &row);
        found++;
    }
    if (result < 0) fail_msg("%s", ERR_SENTENCE(&e));
    reader.close(cursor);
    assert_int_equal(found, job_rows_count(s));
}

#endif
