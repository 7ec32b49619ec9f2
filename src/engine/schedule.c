#include "engine/schedule.h"

#include <inttypes.h>
#include <string.h>

#include "base/ensure.h"
#include "base/sort.h"
#include "engine/assoc_limits.h"
#include "engine/closed_times.h"
#include "engine/job_waits.h"
#include "engine/limit_plan.h"
#include "engine/limit_text.h"
#include "engine/never_reasons.h"
#include "engine/priorities.h"
#include "engine/ranking.h"
#include "engine/user_limit.h"
#include "fields/job_id.h"
#include "fields/limits.h"
#include "sched/queue.h"

enum { ROWS_MAX = 1000000 }; /* as many tasks as the ticket policies rank */

/* A job in one of its partitions, or in any (NONE); or a task of the tickets model. */
struct schedule_candidate {
    uint32_t job, partition;
    uint32_t tasks; /* how many tasks it stands for at most */
    uint64_t order; /* highest first */
    double tickets; /* of each task; 0 in the other models */
};

/* When the waiting tasks of a job would start. */
struct estimate {
    struct run_decision first;
    const struct demand *first_demand; /* in the partition where it would start */
    const struct demand *demand;       /* of the candidate that was looked at first */
    uint32_t task_count;               /* 0: none would */
};

struct schedule_builder {
    struct state *s;
    int64_t now_us;
    struct schedule *out;
    ARRAY(struct schedule_candidate) candidates;
    uint32_t *left;           /* by job: tasks that may still be scheduled */
    struct idset *pending;    /* by job: its pending tasks that were not decided yet */
    uint32_t *reserved_row;   /* by job: its first reservation, or NONE */
    uint32_t *reserved_tasks; /* by job: how many have one */
    const double *factors;    /* fair share, by node of the tree */
    struct user_limit user_limit;
    struct run_rules rules;
    struct limit_plan limits;
    struct estimate *estimates; /* by job; NULL: none are wanted */
};

/* --- the order of pending jobs ------------------------------------------------------------------------------------ */

static void find_pending(struct schedule_builder *b)
{
    uint32_t count = b->s->jobs.count;
    b->factors = state_factors(b->s, b->now_us, &b->out->arena);
    b->left = arena_alloc(&b->out->arena, (count + (size_t)1) * sizeof *b->left);
    b->pending = arena_alloc(&b->out->arena, (count + (size_t)1) * sizeof *b->pending);
    b->reserved_row = arena_alloc(&b->out->arena, (count + (size_t)1) * sizeof *b->reserved_row);
    b->reserved_tasks = arena_alloc(&b->out->arena, (count + (size_t)1) * sizeof *b->reserved_tasks);
    for (uint32_t i = 0; i < count; i++) {
        const struct job *j = &b->s->jobs.items[i];
        b->reserved_row[i] = NONE;
        if (!job_waits_is_eligible(j, b->now_us)) continue;
        const struct idset *ready = job_waits_ready_tasks(j);
        b->left[i] = assoc_limits_refuse_job(b->s, j) ? 0 : state_array_room(b->s, j, idset_count(ready));
        idset_copy(&b->pending[i], ready);
    }
}

static void order_by_tickets(struct schedule_builder *b)
{
    struct ticket_plan *plan = ticket_plan_new(b->s, b->now_us);
    ticket_plan_run(plan);
    for (uint32_t i = 0; i < plan->task_count; i++) {
        const struct planned_task *k = &plan->tasks[i];
        uint32_t job = state_find_job(b->s, plan->job_ids[k->job]), tasks = k->is_last ? UINT32_MAX : 1;
        *array_add(&b->candidates) = (struct schedule_candidate){job, NONE, tasks, k->order, k->tickets};
    }
    ticket_plan_free(plan);
}

static void order_by_priority(struct schedule_builder *b)
{
    struct priorities all;
    state_priorities(b->s, b->now_us, NONE, &b->out->arena, &all);
    for (uint32_t i = 0; i < all.count; i++) {
        const struct priority_row *row = &all.rows[i];
        const struct object *partition = &b->s->objects[OBJECT_PARTITION].items[row->partition].object;
        uint64_t order = sort_key_priority((uint32_t)partition->value[PARTITION_TIER].number, (uint32_t)row->priority);
        if (row->task != NONE) continue;
        *array_add(&b->candidates) = (struct schedule_candidate){row->job, row->partition, UINT32_MAX, order, 0.0};
    }
}

static void sort_candidates(struct schedule_builder *b)
{
    uint32_t count = b->candidates.count;
    struct arena arena = {0};
    struct sort_record *records = arena_alloc(&arena, (count + (size_t)1) * sizeof *records);
    struct sort_record *scratch = arena_alloc(&arena, (count + (size_t)1) * sizeof *scratch);
    struct schedule_candidate *copy = arena_alloc(&arena, (count + (size_t)1) * sizeof *copy);
    for (uint32_t i = 0; i < count; i++)
        records[i] = (struct sort_record){.key = ~b->candidates.items[i].order, .index = i};
    sort_records(records, count, scratch);
    for (uint32_t i = 0; i < count; i++) copy[i] = b->candidates.items[records[i].index];
    if (count > 0) memcpy(b->candidates.items, copy, count * sizeof *copy);
    arena_release(&arena);
}

/* --- the run ------------------------------------------------------------------------------------------------------ */

/* Waiting tasks of an array are one row. */
static struct schedule_row waiting_row(struct schedule_builder *b, uint32_t job, const struct idset *tasks)
{
    const struct job *j = &b->s->jobs.items[job];
    struct buf text = {0};
    struct schedule_row row = {.job = job, .state = SCHEDULE_WAITING, .demand = job_demand(&b->out->demands, j, NONE)};
    if (j->is_array) {
        idset_format(tasks, &text);
        row.tasks = arena_copy(&b->out->arena, (struct str){text.text, text.length});
    }
    buf_release(&text);
    return row;
}

static void add_waiting(struct schedule_builder *b, uint32_t job)
{
    if (idset_first(&b->pending[job]) == NONE) return;
    struct schedule_row row = waiting_row(b, job, &b->pending[job]);
    if (b->estimates != NULL && b->estimates[job].task_count > 0) {
        row.start_us = b->estimates[job].first.start_us;
        row.demand = b->estimates[job].first_demand;
        row.end_us = timeline_end_of(row.start_us, b->estimates[job].first.duration_us);
        row.allocation = b->estimates[job].first.allocation;
    }
    *array_add(&b->out->rows) = row;
    idset_release(&b->pending[job]);
}

/* The tasks that wait for other jobs, or were requeued and wait for a time, which no run looks at. */
static void add_dependent(struct schedule_builder *b, uint32_t job)
{
    const struct job *j = &b->s->jobs.items[job];
    struct idset tasks = {0};
    if ((j->dependency == NULL && j->delays.count == 0) || j->is_held || j->ended_us != 0) return;
    idset_copy(&tasks, &j->pending);
    if (job_waits_eligible_us(j) <= b->now_us) idset_remove_all(&tasks, job_waits_ready_tasks(j));
    if (idset_first(&tasks) != NONE) {
        struct schedule_row row = waiting_row(b, job, &tasks);
        row.reason = j->dependency != NULL ? "job dropped because of job dependencies" : "execution time not reached";
        *array_add(&b->out->rows) = row;
    }
    idset_release(&tasks);
}

static void describe(struct schedule_row *row, const struct demand *d, const struct run_decision *decision)
{
    row->state = decision->outcome == RUN_STARTS ? SCHEDULE_STARTING : SCHEDULE_RESERVED;
    row->demand = d;
    row->start_us = decision->start_us;
    row->end_us = timeline_end_of(decision->start_us, decision->duration_us);
    row->allocation = decision->allocation;
}

static void add_decision(struct schedule_builder *b, uint32_t job, const struct demand *d,
                         const struct run_decision *decision)
{
    struct schedule_row row = {.job = job, .task_id = idset_first(&b->pending[job])};
    describe(&row, d, decision);
    if (row.state == SCHEDULE_RESERVED && b->reserved_row[job] == NONE) b->reserved_row[job] = b->out->rows.count;
    b->reserved_tasks[job] += row.state == SCHEDULE_RESERVED;
    idset_remove(&b->pending[job], row.task_id);
    *array_add(&b->out->rows) = row;
    b->left[job]--;
}

/* The demand of a task in a partition as limits leave it. NULL: they keep it, or it waits there for its fair-share
 * factor. */
static const struct demand *place_in(const struct schedule_builder *b, const struct job *j, uint32_t partition,
                                     const struct demand *d)
{
    uint32_t own = partition != NONE ? partition : j->partitions[0];
    if (ranking_waits_in_partition(b->s, j->qos, j->assoc, own, b->factors)) return NULL;
    return limit_plan_place(&b->limits, j, partition, d);
}

/* The tasks of a job that have reservations in other partitions, at most max of them: they start here, or get an
 * earlier reservation. Returns how many start. */
static uint32_t run_reserved(struct schedule_builder *b, struct run *run, uint32_t job, uint32_t partition,
                             const struct demand *d, uint32_t max)
{
    uint32_t left = b->reserved_tasks[job], starts = 0;
    for (uint32_t i = b->reserved_row[job]; left > 0 && max > 0; i++) {
        struct schedule_row *row = &b->out->rows.items[i];
        if (row->job != job || row->state != SCHEDULE_RESERVED) continue;
        left--;
        if (row->demand == d) continue;
        const struct demand *own = place_in(b, &b->s->jobs.items[job], partition, d);
        max--;
        if (own == NULL) continue;
        const struct run_decision decision = own == d ? run_job_again(run, d, row->start_us) : run_job_now(run, own);
        if (decision.outcome == RUN_WAITS) continue;
        describe(row, d, &decision);
        starts += decision.outcome == RUN_STARTS;
        if (decision.outcome == RUN_STARTS) limit_plan_start(&b->limits, &b->s->jobs.items[job], &decision.allocation);
    }
    b->reserved_tasks[job] -= starts;
    return starts;
}

/* Decides about tasks of a job in a partition, or in any (NONE); at most max start. What does not fit for one task does
 * not fit for the next one. Returns how many start. */
static uint32_t run_in(struct schedule_builder *b, struct run *run, uint32_t job, uint32_t partition, uint32_t max)
{
    const struct job *j = &b->s->jobs.items[job];
    const struct demand *d = job_demand(&b->out->demands, j, partition);
    uint32_t room = user_limit_room(&b->user_limit, b->s, j);
    uint32_t starts = run_reserved(b, run, job, partition, d, max < room ? max : room);
    uint32_t reserved = b->reserved_tasks[job];
    uint32_t tasks = max - starts < b->left[job] ? max - starts : b->left[job];
    room = room - starts > reserved ? room - starts - reserved : 0;
    if (tasks > room) tasks = room;
    for (; tasks > 0 && !run_is_over(run) && b->out->rows.count < ROWS_MAX; tasks--) {
        const struct demand *own = place_in(b, j, partition, d);
        if (own == NULL) break;
        const struct run_decision decision = own == d ? run_job(run, d, j->is_reserving) : run_job_now(run, own);
        if (decision.outcome == RUN_WAITS) break;
        if (decision.outcome == RUN_STARTS) limit_plan_start(&b->limits, j, &decision.allocation);
        add_decision(b, job, d, &decision);
        starts += decision.outcome == RUN_STARTS;
    }
    user_limit_start(&b->user_limit, b->s, j, starts);
    return starts;
}

/* Whether limits let a task of a candidate start, wherever it fits. */
static bool is_admitted(const struct schedule_builder *b, const struct schedule_candidate *c)
{
    const struct job *j = &b->s->jobs.items[c->job];
    bool is_in_any = c->partition == NONE && !b->s->is_document;
    if (!is_in_any) return place_in(b, j, c->partition, job_demand(&b->out->demands, j, c->partition)) != NULL;
    for (uint32_t i = 0; i < j->partition_count; i++) {
        const struct demand *d = job_demand(&b->out->demands, j, j->partitions[i]);
        if (place_in(b, j, j->partitions[i], d) != NULL) return true;
    }
    return false;
}

/* In the tickets model a task of an instance starts in the first of its job's partitions where it fits. */
static void run_candidate(struct schedule_builder *b, struct run *run, const struct schedule_candidate *c)
{
    const struct job *j = &b->s->jobs.items[c->job];
    uint32_t max = c->tasks;
    run->tickets = c->tickets;
    if (!is_admitted(b, c)) return;
    if ((b->left[c->job] == 0 && b->reserved_tasks[c->job] == 0) || user_limit_room(&b->user_limit, b->s, j) == 0 ||
        !run_may_try(run, b->s->assocs.items[j->assoc].user) || (run_is_over(run) && b->reserved_tasks[c->job] == 0))
        return;
    if (b->s->is_document || c->partition != NONE) {
        (void)run_in(b, run, c->job, c->partition, max);
        return;
    }
    for (uint32_t i = 0; i < j->partition_count && max > 0; i++) max -= run_in(b, run, c->job, j->partitions[i], max);
}

static int run_all(struct schedule_builder *b, struct err *e)
{
    struct run run;
    run_begin(&run, &b->out->model.cluster, &b->rules, b->now_us, &b->out->arena);
    for (uint32_t i = 0; i < b->candidates.count && !run_has_tried_all(&run); i++)
        run_candidate(b, &run, &b->candidates.items[i]);
    run_end(&run);
    if (b->out->rows.count < ROWS_MAX) return 0;
    return err_field(e, ERR_INPUT, "jobs", "%d tasks or more would run or have reservations; fewer are accepted",
                     ROWS_MAX);
}

/* All waiting tasks of a job take part, but only the first one is shown. A candidate may be one task of several, or the
 * job in another partition. */
static void estimate_job(struct schedule_builder *b, struct run *run, const struct schedule_candidate *c)
{
    const struct demand *d = job_demand(&b->out->demands, &b->s->jobs.items[c->job], c->partition);
    struct estimate *e = &b->estimates[c->job];
    if (e->task_count > 0 && e->demand != d) {
        const struct run_decision again = run_job_again(run, d, e->first.start_us);
        if (again.outcome == RUN_WAITS) return;
        e->first = again;
        e->first_demand = d;
        return;
    }
    for (uint32_t i = 0; e->task_count < b->left[c->job] && i < c->tasks && !run_is_over(run); i++) {
        const struct run_decision decision = run_job(run, d, false);
        if (decision.outcome == RUN_WAITS) return;
        if (e->task_count++ == 0) {
            e->first = decision;
            e->first_demand = d;
        }
        e->demand = d;
    }
}

static void estimate(struct schedule_builder *b)
{
    struct run_rules rules = b->rules;
    struct run run;
    if (closed_times_part(rules.search) == CLOSED_NEXT)
        closed_times_book(&b->out->model, b->s, CLOSED_LATER, b->now_us);
    rules.reservations = RUN_RESERVE_ALL;
    rules.reservation_max = SCHEDULE_ESTIMATES_MAX;
    rules.search = RESERVE_IN_GAPS;
    rules.reserves_ranges = true;
    rules.ends_when_full = false;
    rules.window_us = 0;
    rules.test_max = rules.user_test_max = 0;
    b->estimates = arena_alloc(&b->out->arena, (b->s->jobs.count + (size_t)1) * sizeof *b->estimates);
    run_begin(&run, &b->out->model.cluster, &rules, b->now_us, &b->out->arena);
    for (uint32_t i = 0; i < b->candidates.count && !run_is_over(&run); i++) {
        const struct schedule_candidate *c = &b->candidates.items[i];
        bool has_room = user_limit_room(&b->user_limit, b->s, &b->s->jobs.items[c->job]) > 0;
        if (idset_first(&b->pending[c->job]) != NONE && b->left[c->job] > 0 && has_room && is_admitted(b, c))
            estimate_job(b, &run, c);
    }
    run_end(&run);
}

static int64_t first_unlimited_end(const struct schedule *p)
{
    int64_t first_us = TIMELINE_END;
    for (uint32_t i = 0; i < p->rows.count; i++) {
        const struct schedule_row *row = &p->rows.items[i];
        bool is_planned = row->allocation.part_count > 0;
        if (is_planned && row->demand->duration_us >= DURATION_S_MAX * US_PER_S && row->end_us < first_us)
            first_us = row->end_us;
    }
    return first_us;
}

/* The limit, or the quota, that keeps a job of an instance back also when nothing else runs. */
static const char *describe_limit(struct schedule_builder *b, struct never_reasons *reasons,
                                  const struct schedule_row *row)
{
    struct limit_hit hit;
    struct buf text = {0};
    if (b->s->is_document) return NULL;
    if (!job_limit_find_lasting(b->s, &b->s->jobs.items[row->job], b->now_us, &hit))
        return never_reasons_of_quotas(reasons, row->demand);
    buf_add_text(&text, "can never run: ");
    limit_text(b->s, &hit, &text);
    buf_format(&text, " (%s)", pending_reason_name(hit.reason));
    const char *copy = arena_copy(&b->out->arena, (struct str){text.text, text.length});
    buf_release(&text);
    return copy;
}

static void explain_waiting(struct schedule_builder *b)
{
    struct schedule *p = b->out;
    struct never_reasons reasons;
    bool waits = false;
    for (uint32_t i = 0; i < p->rows.count && !waits; i++) waits = p->rows.items[i].state == SCHEDULE_WAITING;
    if (!waits) return;
    never_reasons_begin(&reasons, &p->demands, &p->arena);
    for (uint32_t i = 0; i < p->rows.count; i++) {
        struct schedule_row *row = &p->rows.items[i];
        if (row->state != SCHEDULE_WAITING) continue;
        const char *never = never_reasons_of(&reasons, &b->s->jobs.items[row->job], row->demand);
        if (never == NULL && row->start_us == 0) never = describe_limit(b, &reasons, row);
        if (never != NULL) row->reason = never;
    }
    never_reasons_end(&reasons);
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

int schedule_make(struct state *s, int64_t now_us, enum schedule_estimates estimates, struct schedule *out,
                  struct err *e)
{
    struct schedule_builder b = {.s = s, .now_us = now_us, .out = out};
    if (schedule_make_running(s, now_us, out, e) != 0) return -1;
    cluster_model_run_rules(&out->model, s, &b.rules);
    out->has_reservations = b.rules.reservations != RUN_RESERVE_NONE;
    find_pending(&b);
    if (s->policy.model == MODEL_TICKETS)
        order_by_tickets(&b);
    else
        order_by_priority(&b);
    sort_candidates(&b);
    limit_plan_begin(&b.limits, s, &out->model, &out->arena, now_us);
    int status = run_all(&b, e);
    if (status == 0 && estimates == SCHEDULE_WITH_ESTIMATES) estimate(&b);
    for (uint32_t i = 0; i < b.candidates.count && status == 0; i++) add_waiting(&b, b.candidates.items[i].job);
    for (uint32_t i = 0; i < s->jobs.count && status == 0 && s->is_document; i++) add_dependent(&b, i);
    limit_plan_end(&b.limits);
    if (status == 0) explain_waiting(&b);
    out->known_until_us = first_unlimited_end(out);
    for (uint32_t i = 0; i < s->jobs.count; i++) idset_release(&b.pending[i]);
    array_release(&b.candidates);
    user_limit_release(&b.user_limit);
    return status;
}

void schedule_release(struct schedule *p)
{
    cluster_model_release(&p->model);
    job_demands_end(&p->demands);
    array_release(&p->rows);
    arena_release(&p->arena);
}
