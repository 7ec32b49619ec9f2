/* What the passes of all models do with a job: whether it may start, whether it fits, and its start. */
#include <string.h>

#include "base/ensure.h"
#include "engine/assoc_limits.h"
#include "engine/job_waits.h"
#include "engine/pass.h"
#include "engine/pass_limits.h"
#include "engine/placements.h"
#include "engine/restarts.h"

/* --- which jobs --------------------------------------------------------------------------------------------------- */

void pass_begin_ranking(struct pass *p)
{
    struct state *s = p->c->s;
    bool is_multifactor = s->policy.model == MODEL_MULTIFACTOR;
    if (p->is_ranking) return;
    p->is_ranking = true;
    if (is_multifactor || p->has_threshold_qos) p->factors = state_factors(s, p->c->now_us, &s->cycle);
    if (!is_multifactor) return;
    if (s->policy.multifactor.has_tres_weights) p->amounts = arena_alloc(&s->cycle, TRES_MAX * sizeof *p->amounts);
    multifactor_context_make(s, p->c->now_us, p->factors, &s->cycle, &p->multifactor);
}

static bool is_kept_back(const struct state *s, uint32_t job_id)
{
    uint32_t begin = 0, end = s->kept_back_count;
    while (begin < end) {
        uint32_t middle = begin + (end - begin) / 2;
        if (s->kept_back[middle].job_id < job_id)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < s->kept_back_count && s->kept_back[begin].job_id == job_id;
}

uint32_t pass_startable_tasks(const struct state *s, const struct job *j)
{
    if (j->ended_us != 0 || j->is_held || is_kept_back(s, j->id)) return 0;
    uint32_t room = state_user_room(s, j->assoc);
    if (!j->is_array) return room > 0 && j->live_tasks == 0; /* state.h, invariant 3: its one task is pending or live */
    uint32_t tasks = state_array_room(s, j, idset_count(job_waits_ready_tasks(j)));
    return tasks < room ? tasks : room;
}

bool pass_admits(struct pass *p, const struct pending_group *g)
{
    struct state *s = p->c->s;
    if (assoc_limits_refuse_qos(s, state_assoc_in_partition(s, g->assoc, g->partition), g->qos)) return false;
    if (pass_limits_block(p, g)) return false;
    if (!p->has_threshold_qos) return true;
    pass_begin_ranking(p);
    if (!ranking_waits_in_partition(s, g->qos, g->assoc, g->partition, p->factors)) return true;
    state_want_pass_at(s, p->c->now_us + USAGE_WAIT_US);
    return false;
}

uint32_t pass_find_startable(struct state *s, uint32_t group, uint32_t at)
{
    struct queue *q = &s->pending->queue;
    if (state_user_room(s, s->pending->groups.items[group].assoc) == 0) return NONE;
    bool is_certain =
        !s->pending->groups.items[group].has_arrays && s->pending->jobs_started == 0 && s->kept_back_count == 0;
    at = queue_next(q, group, at);
    while (!is_certain && at != NONE &&
           pass_startable_tasks(s, pending_entry_job(s, &q->groups.items[group].entries.items[at])) == 0)
        at = queue_next(q, group, at + 1);
    return at;
}

uint32_t pass_count_fitting(struct pass *p, uint32_t max)
{
    struct state *s = p->c->s;
    struct pending *pending = s->pending;
    uint32_t count = 0;
    for (uint32_t g = 0; g < pending->queue.groups.count && count < max; g++) {
        if (pending->queue.groups.items[g].key == NULL || !run_may_start(&p->run, pass_group_demand(p, g))) continue;
        if (!pass_admits(p, &pending->groups.items[g])) continue;
        for (uint32_t at = pass_find_startable(s, g, 0); at != NONE && count < max;
             at = pass_find_startable(s, g, at + 1))
            count++;
    }
    return count;
}

/* --- starting ----------------------------------------------------------------------------------------------------- */

static struct tres_list copy_tres(const struct tres_list *list)
{
    struct tres_list own = {.count = list->count};
    size_t size = list->count * sizeof *own.items;
    own.items = mem_resize(NULL, 0, size);
    if (size > 0) memcpy(own.items, list->items, size);
    return own;
}

static void find_indices(struct pass *p)
{
    if (!p->has_indices) tres_indices_find(p->c->s, &p->c->s->cycle, &p->indices);
    p->has_indices = true;
}

static void take_places(struct pass *p, const struct job *j, const struct allocation *a, struct task *row)
{
    const struct cluster_model *m = &p->cluster->model;
    row->placement_count = a->part_count;
    row->placements = mem_resize(NULL, 0, a->part_count * sizeof *row->placements);
    for (uint32_t i = 0; i < a->part_count; i++) {
        uint32_t host = m->host_of[m->cluster.instances.items[a->parts[i].instance].host];
        const struct capacity granted = state_host_capacity(j, i, a->parts[i].slots);
        placements_take(p->c->s, host, &granted, &row->placements[i]);
    }
}

/* The run has booked the allocation. */
static void start_task(struct pass *p, uint32_t job, const struct demand *d, const struct run_decision *decision)
{
    struct apply_context *c = p->c;
    const struct allocation *a = &decision->allocation;
    struct state *s = c->s;
    struct job *j = &s->jobs.items[job];
    struct tres_amount amounts[TRES_MAX];
    struct tres_list tres = {.items = amounts};
    find_indices(p);
    job_task_tres(s, &p->indices, j, a->slots, cluster_model_list_hosts(&p->cluster->model, a, NULL), &tres);
    uint32_t partition = p->cluster->model.partition_of[a->parts[0].instance];
    if (j->has_default_time) j->time_limit_s = partition_limits_time_s(s, j, partition);
    struct task row = {.job_id = j->id,
                       .task_id = idset_first(job_waits_ready_tasks(j)),
                       .state = JOB_STARTING,
                       .launch_id = s->next_launch_id++,
                       .launch_us = c->now_us,
                       .partition = partition,
                       .usage_factor = s->objects[OBJECT_QOS].items[j->qos].object.value[QOS_USAGE_FACTOR].real,
                       .tres = copy_tres(&tres),
                       .cpu_weight = CPU_WEIGHT_DEFAULT};
    if (decision->duration_us < d->duration_us)
        row.granted_time_s = job_demands_limit_s(&p->cluster->demands, decision->duration_us);
    row.launch_limit_s = task_time_limit_s(j, &row);
    row.assoc = state_assoc_in_partition(s, j->assoc, row.partition);
    row.restarts = restarts_of(j, row.task_id);
    row.billing = job_billing_in(s, row.partition, &tres);
    row.partition_qos = state_partition_qos(s, row.partition);
    if (row.partition_qos == j->qos) row.partition_qos = NONE;
    strncpy(row.boot_id, p->boot_id, sizeof row.boot_id - 1);
    take_places(p, j, a, &row);
    if (row.granted_time_s > 0) d = job_demand_of_task(&p->cluster->demands, j, &row);
    live_cluster_add(p->cluster, &row, d, a, c->now_us);
    bool had_conditions = job_waits_take_task(j, row.task_id);
    j->live_tasks++;
    j->starting_tasks++;
    uint32_t index = task_append(s, &row);
    const struct work work = task_work(&row);
    assoc_count_work(s, j->assoc, &(struct work){.pending = 1}, -1);
    assoc_count_work(s, row.assoc, &work, 1);
    task_count_references(s, &row, 1);
    apply_note_change(c, TABLE_JOB, job);
    if (had_conditions) apply_note_change(c, TABLE_DEPENDENCY, job);
    apply_note_change(c, TABLE_TASK, index);
    apply_note_change(c, TABLE_COUNTERS, 0);
    apply_note_decision(c, DECIDE_START, &s->tasks.items[index]);
    s->pending->jobs_started++;
    launch_backoff_send(&s->launch_backoff, row.launch_id);
    if (p->start_room != UINT32_MAX) p->start_room--;
}

/* The tasks of a job for which this pass has made reservations. */
static uint32_t reserved_tasks(const struct pass *p, const struct pending_job *waiting)
{
    return waiting->reserved_in == p->c->s->pending->pass_count ? waiting->reserved_tasks : 0;
}

bool pass_has_reservation(const struct pass *p, uint32_t job_id)
{
    const struct pending *pending = p->c->s->pending;
    return reserved_tasks(p, &pending->jobs.items[map_get_u64(&pending->by_id, job_id)]) > 0;
}

static void keep_reservation(struct pass *p, struct pending_job *waiting, uint32_t job, const struct demand *d,
                             const struct run_decision *decision)
{
    uint32_t before = reserved_tasks(p, waiting);
    if (before == 0) waiting->first_reservation = p->reservations.count;
    *array_add(&p->reservations) = (struct pass_reservation){.job_id = waiting->job_id,
                                                             .demand = d,
                                                             .allocation = decision->allocation,
                                                             .start_us = decision->start_us,
                                                             .is_current = true,
                                                             .line = pass_lines_add(p, NONE, job, d, decision)};
    waiting->reserved_tasks = before + 1;
    waiting->reserved_in = p->c->s->pending->pass_count;
}

bool pass_may_try(struct pass *p, uint32_t job)
{
    const struct state *s = p->c->s;
    const struct job *j = &s->jobs.items[job];
    return pass_startable_tasks(s, j) > 0 && run_may_try(&p->run, s->assocs.items[j->assoc].user);
}

/* A task that has a reservation in another partition. Returns what becomes of it here. */
static enum run_outcome decide_again(struct pass *p, struct pending_job *waiting, uint32_t job, uint32_t group,
                                     const struct demand *d, uint32_t reservation)
{
    struct pass_reservation *old = &p->reservations.items[reservation];
    const struct demand *own = pass_limits_place(p, job, group, d);
    if (own == NULL) return RUN_WAITS;
    const struct run_decision decision =
        own == d ? run_job_again(&p->run, d, old->start_us) : run_job_now(&p->run, own);
    if (decision.outcome == RUN_WAITS) return RUN_WAITS;
    struct pass_reservation other = *old;
    old->is_current = false;
    if (decision.outcome == RUN_STARTS) {
        start_task(p, job, d, &decision);
        waiting->reserved_tasks--;
        p->c->s->pass_is_due = true; /* in this run the reservation stays booked */
    }
    (void)pass_lines_add(p, other.line, job, d, &decision);
    if (decision.outcome == RUN_STARTS) return RUN_STARTS;
    const struct pass_reservation booked = *old; /* array_add may move it */
    *array_add(&p->reservations) = booked;
    other.demand = d;
    other.allocation = decision.allocation;
    other.start_us = decision.start_us;
    p->reservations.items[reservation] = other; /* reservations keep the order of their tasks */
    return RUN_RESERVED;
}

/* The tasks of a job that have reservations in other partitions, at most *io_max. */
static void decide_reserved(struct pass *p, struct pending_job *waiting, uint32_t job, uint32_t group,
                            const struct demand *d, uint32_t *io_max)
{
    uint32_t left = reserved_tasks(p, waiting), tries = *io_max;
    for (uint32_t at = waiting->first_reservation; tries > 0 && left > 0; at++) {
        const struct pass_reservation *r = &p->reservations.items[at];
        if (r->job_id != waiting->job_id || !r->is_current) continue;
        left--;
        if (r->demand == d) continue;
        if (pass_startable_tasks(p->c->s, &p->c->s->jobs.items[job]) == 0) return;
        if (decide_again(p, waiting, job, group, d, at) == RUN_STARTS) --*io_max;
        tries--;
    }
}

/* The next task of a job, as limits let it be placed. */
static struct run_decision decide_next(struct pass *p, uint32_t job, uint32_t group, const struct demand *d)
{
    const struct demand *own = pass_limits_place(p, job, group, d);
    if (own == NULL) return (struct run_decision){.outcome = RUN_WAITS};
    return own == d ? run_job(&p->run, d, p->c->s->jobs.items[job].is_reserving) : run_job_now(&p->run, own);
}

/* Whether the next task of a job is decided. When nothing can start any more, its reservation matters only for the
 * schedule file: an array would get one for each of its tasks, in every pass. */
static bool goes_on(const struct pass *p)
{
    return !run_is_over(&p->run) && (p->run.open_count > 0 || p->is_listed);
}

static enum run_outcome decide_tasks(struct pass *p, uint32_t job, uint32_t group, uint32_t *io_max)
{
    struct state *s = p->c->s;
    const struct demand *d = pass_group_demand(p, group);
    struct pending *pending = s->pending;
    struct pending_job *waiting = &pending->jobs.items[map_get_u64(&pending->by_id, s->jobs.items[job].id)];
    struct run_decision decision = {.outcome = RUN_STARTS};
    decide_reserved(p, waiting, job, group, d, io_max);
    uint32_t tasks = pass_startable_tasks(s, &s->jobs.items[job]), reserved = reserved_tasks(p, waiting);
    if (reserved > 0) decision.outcome = RUN_RESERVED;
    tasks = tasks > reserved ? tasks - reserved : 0;
    if (tasks > *io_max) tasks = *io_max;
    for (; tasks > 0 && decision.outcome != RUN_WAITS && goes_on(p); tasks--) {
        decision = decide_next(p, job, group, d);
        if (decision.outcome == RUN_STARTS) {
            start_task(p, job, d, &decision);
            (void)pass_lines_add(p, NONE, job, d, &decision);
            --*io_max;
        } else if (decision.outcome == RUN_RESERVED) {
            keep_reservation(p, waiting, job, d, &decision);
        }
    }
    return decision.outcome;
}

/* Whether a probe leaves this job out, so that the jobs after it are tried. */
static bool is_skipped(struct pass *p, uint32_t job)
{
    const struct state *s = p->c->s;
    bool is_probe = p->start_room != UINT32_MAX;
    if (!is_probe || s->jobs.items[job].id != s->launch_backoff.skipped_id) return false;
    p->has_skipped_job = true;
    return true;
}

enum run_outcome pass_decide(struct pass *p, uint32_t job, uint32_t group, uint32_t *io_max)
{
    if (p->start_room == 0) return RUN_WAITS;
    if (is_skipped(p, job)) return RUN_STARTS;
    if (*io_max > p->start_room) *io_max = p->start_room;
    return decide_tasks(p, job, group, io_max);
}
