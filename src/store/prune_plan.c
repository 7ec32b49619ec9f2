/* Plans which ended jobs are removed from the history, and what is kept of their usage.
 *
 *     oldest end first     job 5 | job 7, tasks 0-199 | job 7, tasks 200-399 | job 7, job 9 ...
 *     piece                    1                     2                      3
 *
 * Invariants
 *   1. A job is chosen only as a whole, once it has ended: no task of an array is removed while another one can run.
 *      The rows of a large array are removed in several pieces, the row of the job with the last of them.
 *   2. The sums after a piece are those of all pieces up to it, as of one time. Later changes of half-lives, resets and
 *      folds concern them as they concern the tasks (usage_records.c); so a piece may be carried out later than the
 *      plan was made, whatever has changed, unless the job itself has (store_prune).
 * Cost: reading the rules, once for a plan, and the tasks that are removed. */
#include <math.h>

#include "store/usage_records.h"

enum { PIECE_ROWS = 60, ROWS_OF_JOB = 4, PLAN_ROWS = 20000, PLAN_JOBS = 5000 };

struct planner {
    struct usage_records *usage;
    struct prune_plan *plan;
    sqlite3_stmt *tasks;
    struct prune_piece piece; /* the one that is being filled */
    uint32_t rows, plan_rows; /* rows: of the piece */
};

/* --- sums --------------------------------------------------------------------------------------------------------- */

static void add_sum(struct planner *p, struct prune_sum sum, long double amount)
{
    sum.amount = (double)amount;
    if (amount != 0) *array_add(&p->plan->sums) = sum;
}

static void add_kinds(struct planner *p, struct prune_sum sum, long double factor, const struct kind_sums *kinds)
{
    const struct usage_records *v = p->usage;
    for (uint32_t i = kinds->first; i != NONE; i = v->kind_sums.items[i].next) {
        sum.resource = arena_copy(&p->plan->arena, str(v->kind_names.items[v->kind_sums.items[i].name]));
        add_sum(p, sum, factor * sum_total(&v->kind_sums.items[i].sum));
    }
}

/* The row gets whole halvings, because a double has too few digits for the fraction of 10^8 halvings: the amount has
 * it. */
static void add_row(struct planner *p, const char *scope, uint32_t id, long double halvings, const struct sum *billing,
                    const struct kind_sums *kinds)
{
    long double whole = rintl(halvings), factor = exp2l(halvings - whole);
    const struct prune_sum sum = {.scope = scope,
                                  .user = "",
                                  .project = "",
                                  .resource = USAGE_RECORDS_BILLING,
                                  .row_id = id,
                                  .halvings = (double)whole,
                                  .at_us = p->usage->as_of_us};
    add_sum(p, sum, factor * sum_total(billing));
    add_kinds(p, sum, factor, kinds);
}

static void add_owner(struct planner *p, const struct owner_sum *o)
{
    struct prune_sum sum = {.scope = o->is_of_project ? "project" : "owner",
                            .user = arena_copy(&p->plan->arena, str(o->user)),
                            .project = arena_copy(&p->plan->arena, str(o->project)),
                            .resource = OWNER_PREDATES,
                            .at_us = o->at_us};
    if (o->predates_rules) add_sum(p, sum, 1);
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) {
        sum.resource = usage_resource_names[r];
        add_sum(p, sum, sum_total(&o->sums[r]));
    }
}

static void end_piece(struct planner *p)
{
    struct usage_records *v = p->usage;
    for (uint32_t i = 0; i < v->touched_assocs.count; i++) {
        const struct assoc_sum *a = &v->assocs.items[v->touched_assocs.items[i]];
        add_row(p, "association", a->id, epochs_halvings(&v->epochs, v->as_of_us), &a->billing, &a->kinds);
    }
    for (uint32_t i = 0; i < v->touched_qos.count; i++) {
        const struct qos_sum *q = &v->qos.items[v->touched_qos.items[i]];
        add_row(p, "qos", q->id, segments_halvings(&q->segments, &v->epochs, v->as_of_us), &q->billing, &q->kinds);
    }
    for (uint32_t i = 0; i < v->owners.touched.count; i++)
        add_owner(p, &v->owners.list.items[v->owners.touched.items[i]]);
    usage_records_clear_touched(v);
    p->piece.entry_end = p->plan->entries.count;
    p->piece.sum_end = p->plan->sums.count;
    *array_add(&p->plan->pieces) = p->piece;
    p->piece = (struct prune_piece){0};
    p->plan_rows += p->rows;
    p->rows = 0;
}

/* --- jobs --------------------------------------------------------------------------------------------------------- */

static void add_entry(struct planner *p, uint32_t job_id, int64_t ended_us, uint32_t last_task, bool ends_job)
{
    *array_add(&p->plan->entries) = (struct prune_entry){job_id, last_task, ended_us, ends_job};
    p->piece.job_count += ends_job;
    if (ends_job) p->rows += ROWS_OF_JOB;
}

static bool is_full(const struct planner *p)
{
    return p->plan_rows >= PLAN_ROWS;
}

/* The attempts of a task are in one piece. Returns 1 if the job is done, 0 if the plan is full before that. */
static int add_tasks(struct planner *p, uint32_t job_id, int64_t ended_us, struct err *e)
{
    uint32_t last_task = NONE;
    int result;
    while ((result = sql_step(p->tasks, e)) == 1) {
        uint32_t task_id = (uint32_t)sqlite3_column_int64(p->tasks, USAGE_RECORDS_TASK_ID);
        if (p->rows >= PIECE_ROWS && last_task != NONE && task_id != last_task) {
            add_entry(p, job_id, ended_us, last_task, false);
            end_piece(p);
            if (is_full(p)) return 0;
        }
        last_task = task_id;
        p->rows++;
        p->piece.task_count++;
        bool has_started = !sql_column_is_null(p->tasks, USAGE_RECORDS_TASK_START_US);
        if (has_started && usage_records_charge(p->usage, p->tasks, e) != 0) return -1;
    }
    if (result == 0) add_entry(p, job_id, ended_us, NONE, true);
    return result == 0 ? 1 : -1;
}

static int add_job(struct planner *p, sqlite3_stmt *job, struct err *e)
{
    uint32_t job_id = (uint32_t)sqlite3_column_int64(job, 0);
    sql_bind_int(p->tasks, 1, job_id);
    int result = add_tasks(p, job_id, sqlite3_column_int64(job, 1), e);
    sqlite3_reset(p->tasks);
    if (result == 1 && p->rows >= PIECE_ROWS) end_piece(p);
    return result;
}

static sqlite3_stmt *prepare_tasks(sqlite3 *db, struct err *e)
{
    struct buf query = {0};
    buf_format(&query, "%s WHERE task.job_id = ?1 ORDER BY task_id, restarts", usage_records_tasks);
    sqlite3_stmt *tasks = sql_prepare(db, query.text, e);
    buf_release(&query);
    return tasks;
}

static int add_jobs(struct planner *p, sqlite3_stmt *jobs, struct err *e)
{
    uint32_t count = 0;
    int result = 1;
    while (result == 1 && !is_full(p) && (result = sql_step(jobs, e)) == 1) {
        if (++count > PLAN_JOBS) break;
        result = add_job(p, jobs, e);
    }
    if (result < 0) return -1;
    if (p->plan->entries.count > 0 && (p->rows > 0 || p->plan->pieces.count == 0)) end_piece(p);
    p->plan->has_more = is_full(p) || count > PLAN_JOBS;
    return 0;
}

static int make_plan(struct usage_records *v, int64_t before_us, struct prune_plan *plan, struct err *e)
{
    struct planner p = {.usage = v, .plan = plan, .tasks = prepare_tasks(v->db, e)};
    sqlite3_stmt *jobs =
        p.tasks != NULL ? sql_prepare(v->db, "SELECT id, ended_us FROM job WHERE ended_us < ?1 ORDER BY ended_us", e)
                        : NULL;
    if (jobs != NULL) sql_bind_int(jobs, 1, before_us);
    int result = jobs != NULL ? add_jobs(&p, jobs, e) : -1;
    sqlite3_finalize(jobs);
    sqlite3_finalize(p.tasks);
    return result;
}

int store_prune_plan(const char *directory, int64_t before_us, int64_t as_of_us, struct prune_plan *out_plan,
                     struct err *e)
{
    struct usage_records v = {0};
    struct buf path = {0};
    *out_plan = (struct prune_plan){0};
    buf_format(&path, "%s/fairlead.db", directory);
    sqlite3 *db = job_reader_connect(path.text, e);
    int result = db != NULL ? sql_run(db, "BEGIN", e) : -1;
    if (result == 0) result = usage_records_begin(&v, db, path.text, true, as_of_us, e);
    if (result == 0) result = make_plan(&v, before_us, out_plan, e);
    usage_records_release(&v);
    sqlite3_close(db);
    buf_release(&path);
    return result;
}

void store_prune_plan_release(struct prune_plan *plan)
{
    array_release(&plan->entries);
    array_release(&plan->sums);
    array_release(&plan->pieces);
    arena_release(&plan->arena);
}

int store_prune_count(const char *directory, int64_t before_us, uint64_t *out_jobs, uint64_t *out_tasks, struct err *e)
{
    struct buf path = {0};
    buf_format(&path, "%s/fairlead.db", directory);
    sqlite3 *db = job_reader_connect(path.text, e);
    sqlite3_stmt *count = NULL;
    if (db != NULL)
        count =
            sql_prepare(db,
                        "SELECT count(*), ifnull(sum((SELECT count(*) FROM task WHERE job_id = job.id)), 0) FROM job"
                        " WHERE ended_us < ?1",
                        e);
    if (count != NULL) sql_bind_int(count, 1, before_us);
    int result = count != NULL && sql_step(count, e) == 1 ? 0 : -1;
    if (result == 0) {
        *out_jobs = (uint64_t)sqlite3_column_int64(count, 0);
        *out_tasks = (uint64_t)sqlite3_column_int64(count, 1);
    }
    sqlite3_finalize(count);
    sqlite3_close(db);
    buf_release(&path);
    return result;
}
