/* The scheduling pass: which pending tasks start now.
 *
 *     pending jobs -> jobs that fit -> a candidate for each partition -> sched/pass.h -> tasks that start
 *
 * Cheap checks come first. If no CPU is free, no job is read, unless minimum priorities are kept; only jobs that fit
 * into the free resources are ranked. The tickets model ranks all waiting jobs, because the tickets of each depend on
 * all of them, but only if at least two jobs fit. Candidates are in order of job id, which is the order of submission;
 * with a plan of the tickets model they are in its order.
 *
 * Cost for n jobs of which m fit: O(n) to find them, O(associations + objects) and O(m) to rank them by multifactor or
 * basic, and the cost of ticket_plan_run for the tickets model; O(tasks) if a resource has a finite amount. With
 * minimum priorities (min_priority.h) or CPU weights (cpu_weight.c) O(n) or O(tasks) more. The scan over the jobs is
 * memory-bound, so struct job has its hot fields first, and rows are prefetched. Source: docs/formulas.md 4.4. */
#include <string.h>

#include "base/ensure.h"
#include "engine/min_priority.h"
#include "sched/pass.h"

/* Priorities are computed for blocks of candidates, which stay in the processor's cache after they were collected. */
enum { BLOCK = 128 };

enum { STEP = 8 }; /* the prefetch distance, in jobs, of each of three steps */

struct block {
    struct multifactor_job jobs[BLOCK];
    struct tres_amount amounts[BLOCK][TRES_MAX];
    uint32_t priority[BLOCK];
    uint32_t count; /* candidates at the end of the list that have no priority yet */
};

/* The jobs that could start on the free resources, and their candidates. */
struct pass {
    struct apply_context *c;
    const struct ticket_plan *plan; /* the event's; NULL: none */
    struct consumables consumables;
    bool is_ranking;        /* begin_ranking was called */
    bool has_threshold_qos; /* a QOS keeps jobs waiting until their fair-share factor is high enough */
    const double *factors;  /* by node of the tree; NULL: not needed */
    struct multifactor_context multifactor;
    struct block *block;
    ARRAY(struct pass_job) jobs;
    ARRAY(struct candidate) candidates;
};

/* --- resources ---------------------------------------------------------------------------------------------------- */

static const struct consumable_need *needs_of(const struct job *j, struct arena *arena)
{
    struct consumable_need *needs = arena_alloc(arena, j->request_count * sizeof *needs);
    for (uint32_t i = 0; i < j->request_count; i++)
        needs[i] = (struct consumable_need){j->requests[i].resource, j->requests[i].amount};
    return needs;
}

/* The consumables that the live tasks leave free. */
static void find_free_consumables(struct state *s, struct consumables *p)
{
    bool has_finite = false;
    consumables_init(p, s->objects[OBJECT_RESOURCE].count, &s->cycle);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct field_value *value = s->objects[OBJECT_RESOURCE].items[i].object.value;
        int64_t amount = value[RESOURCE_AMOUNT].number;
        bool is_text = resource_type_is_text((enum resource_type)value[RESOURCE_TYPE].number);
        if (is_text || amount == FIELD_SPECIAL) continue;
        p->free[i] = (double)amount;
        has_finite = true;
    }
    for (uint32_t i = 0; has_finite && i < s->tasks.count; i++) {
        const struct task *k = &s->tasks.items[i];
        if (job_state_is_end(k->state)) continue;
        const struct job *j = &s->jobs.items[state_find_job(s, k->job_id)];
        if (j->request_count > 0)
            consumables_take(p, needs_of(j, &s->cycle), j->request_count, idset_count(&k->placement.cpus));
    }
}

/* --- jobs that could start ---------------------------------------------------------------------------------------- */

static uint32_t startable_tasks(const struct state *s, const struct job *j)
{
    if (j->ended_us != 0 || j->is_held) return 0;
    if (!j->is_array) return j->live_tasks == 0; /* state.h, invariant 3: its one task is pending or live */
    return state_array_room(s, j, idset_count(&j->pending));
}

static bool has_threshold_qos(const struct state *s)
{
    for (uint32_t i = 0; i < s->objects[OBJECT_QOS].count; i++) {
        const struct object_row *qos = &s->objects[OBJECT_QOS].items[i];
        if (!qos->is_deleted && (qos->qos_flags & QOS_ENFORCE_USAGE_THRESHOLD) != 0) return true;
    }
    return false;
}

/* Whether tasks of the job may start, and fit. Schedules a pass for the begin of a job that may not start yet. */
static bool could_start(struct pass *p, uint32_t index, struct pass_job *out_job)
{
    struct state *s = p->c->s;
    const struct job *j = &s->jobs.items[index];
    uint32_t tasks = startable_tasks(s, j);
    if (tasks == 0) return false;
    if (j->begin_us > p->c->now_us) {
        state_want_pass_at(s, j->begin_us);
        return false;
    }
    if (!host_fits(&s->host, &j->request)) return false;
    *out_job = (struct pass_job){.job = index, .tasks = tasks, .request = j->request, .slots_max = j->slots_max};
    if (j->request_count == 0) return true;
    out_job->needs = needs_of(j, &s->cycle);
    out_job->need_count = j->request_count;
    return pass_fits(&s->host, &p->consumables, out_job) > 0;
}

/* --- the queue ---------------------------------------------------------------------------------------------------- */

static uint64_t priority_sort_key(const struct state *s, uint32_t partition, uint32_t priority)
{
    const struct object_row *row = &s->objects[OBJECT_PARTITION].items[partition];
    return sort_key_priority((uint32_t)row->object.value[PARTITION_TIER].number, priority);
}

static const struct job *job_of(const struct pass *p, const struct candidate *c)
{
    return &p->c->s->jobs.items[p->jobs.items[c->job].job];
}

static void compute_block(struct pass *p)
{
    const struct state *s = p->c->s;
    struct block *b = p->block;
    struct candidate *c = &p->candidates.items[p->candidates.count - b->count];
    multifactor_priorities(&s->policy.multifactor, &p->multifactor.cluster, b->jobs, b->count, b->priority);
    for (uint32_t i = 0; i < b->count; i++, c++)
        c->order =
            priority_sort_key(s, c->partition, min_priority_bound(s, job_of(p, c), c->partition, b->priority[i]));
    b->count = 0;
}

static void add_candidate(struct pass *p, uint32_t job, uint32_t partition, uint32_t tasks, uint64_t order)
{
    *array_add(&p->candidates) = (struct candidate){job, partition, tasks, order};
}

/* Adds a candidate for each partition that admits the job. */
static void queue_by_priority(struct pass *p, uint32_t job)
{
    struct state *s = p->c->s;
    const struct job *j = &s->jobs.items[p->jobs.items[job].job];
    struct block *b = p->block;
    for (uint32_t i = 0; i < j->partition_count; i++) {
        uint32_t partition = j->partitions[i];
        if (!job_fits_partition(s, partition, j)) continue;
        if (s->policy.model == MODEL_BASIC) {
            add_candidate(p, job, partition, UINT32_MAX, priority_sort_key(s, partition, job_basic_priority(j)));
            continue;
        }
        struct tres_amount *amounts = s->policy.multifactor.has_tres_weights ? b->amounts[b->count] : NULL;
        add_candidate(p, job, partition, UINT32_MAX, 0);
        multifactor_context_job(&p->multifactor, j, partition, amounts, &b->jobs[b->count++]);
        if (b->count == BLOCK) compute_block(p);
    }
}

static uint32_t first_admitting_partition(const struct state *s, const struct job *j)
{
    for (uint32_t i = 0; i < j->partition_count; i++) {
        if (job_fits_partition(s, j->partitions[i], j)) return j->partitions[i];
    }
    return NONE;
}

static void queue_only_job(struct pass *p)
{
    uint32_t partition = first_admitting_partition(p->c->s, &p->c->s->jobs.items[p->jobs.items[0].job]);
    if (partition != NONE) add_candidate(p, 0, partition, UINT32_MAX, 0);
}

/* Where a job of the plan is in this pass. */
struct planned_job {
    uint32_t job; /* index into the pass' jobs, or NONE: it cannot start */
    uint32_t partition;
};

/* Merges the jobs of the plan with those of the pass; both are in order of id. A job that is not in the plan, because
 * it became eligible later, is ranked by the next plan. */
static struct planned_job *find_planned(struct pass *p, const struct ticket_plan *plan)
{
    struct state *s = p->c->s;
    struct planned_job *found = arena_alloc(&s->cycle, (plan->job_count + (size_t)1) * sizeof *found);
    uint32_t next = 0;
    for (uint32_t i = 0; i < p->jobs.count; i++) {
        const struct job *j = &s->jobs.items[p->jobs.items[i].job];
        for (; next < plan->job_count && plan->job_ids[next] < j->id; next++) found[next].job = NONE;
        bool is_planned = next < plan->job_count && plan->job_ids[next] == j->id;
        if (!is_planned) s->pass_is_due = true;
        if (!is_planned) continue;
        uint32_t partition = first_admitting_partition(s, j);
        found[next++] = (struct planned_job){partition != NONE ? i : NONE, partition};
    }
    for (; next < plan->job_count; next++) found[next].job = NONE;
    return found;
}

/* Each task of an array has its own tickets; the last entry stands for the following tasks too. The rank of a task is
 * the same in every partition, so one candidate is enough. */
static void queue_by_plan(struct pass *p, const struct ticket_plan *plan)
{
    const struct planned_job *jobs = find_planned(p, plan);
    for (uint32_t i = 0; i < plan->task_count; i++) {
        const struct planned_task *k = &plan->tasks[i];
        const struct planned_job *j = &jobs[k->job];
        if (j->job != NONE) add_candidate(p, j->job, j->partition, k->is_last ? UINT32_MAX : 1, k->order);
    }
}

static void queue_by_tickets(struct pass *p)
{
    if (p->jobs.count == 1) { /* it needs no rank */
        queue_only_job(p);
        return;
    }
    if (p->plan != NULL) {
        queue_by_plan(p, p->plan);
        return;
    }
    struct ticket_plan *plan = ticket_plan_new(p->c->s, p->c->now_us);
    ticket_plan_run(plan);
    queue_by_plan(p, plan);
    ticket_plan_free(plan);
}

/* Fills the members that ranking needs, when the first job could start, or if minimum priorities are kept. */
static void begin_ranking(struct pass *p)
{
    struct state *s = p->c->s;
    bool is_multifactor = s->policy.model == MODEL_MULTIFACTOR;
    p->is_ranking = true;
    array_reserve(&p->jobs, s->job_by_id.count);
    array_reserve(&p->candidates, s->job_by_id.count);
    if (is_multifactor || p->has_threshold_qos) p->factors = state_factors(s, p->c->now_us, &s->cycle);
    if (!is_multifactor) return;
    p->block = arena_alloc(&s->cycle, sizeof *p->block);
    multifactor_context_make(s, p->c->now_us, p->factors, &s->cycle, &p->multifactor);
}

/* Prefetches in three steps: the first cache line of a row, its second one if the job is not held, its partitions. The
 * second and the third step read what the one before has prefetched. */
static void prefetch_jobs(const struct state *s, uint32_t i)
{
    const struct job *j = &s->jobs.items[i];
    if (s->jobs.count - i <= 3 * STEP) return;
    __builtin_prefetch(j + 3 * STEP);
    if (!j[2 * STEP].is_held) __builtin_prefetch(&j[2 * STEP].partitions);
    if (!j[STEP].is_held) __builtin_prefetch(j[STEP].partitions);
}

/* One scan over the jobs, because a million rows do not fit into the processor's cache. */
static void make_queue(struct pass *p)
{
    struct state *s = p->c->s;
    struct pass_job job;
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        const struct job *j = &s->jobs.items[i];
        prefetch_jobs(s, i);
        if (!could_start(p, i, &job)) continue;
        if (!p->is_ranking) begin_ranking(p);
        if (p->has_threshold_qos && job_waits_for_factor(s, j, p->factors[s->node_of.items[j->assoc]])) {
            state_want_pass_at(s, p->c->now_us + USAGE_WAIT_US);
            continue;
        }
        *array_add(&p->jobs) = job;
        if (s->policy.model != MODEL_TICKETS) queue_by_priority(p, p->jobs.count - 1);
    }
    if (p->block != NULL) compute_block(p);
    if (s->policy.model == MODEL_TICKETS && p->jobs.count > 0) queue_by_tickets(p);
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

static void start_task(struct apply_context *c, const struct tres_indices *indices, const struct pass_start *start,
                       const char *boot_id)
{
    struct state *s = c->s;
    struct job *j = &s->jobs.items[start->job];
    struct tres_amount amounts[TRES_MAX];
    struct tres_list tres = {.items = amounts};
    job_tres(s, indices, j, idset_count(&start->placement.cpus), &tres);
    struct task row = {.job_id = j->id,
                       .task_id = idset_first(&j->pending),
                       .assoc = j->assoc,
                       .state = JOB_STARTING,
                       .launch_id = s->next_launch_id++,
                       .launch_us = c->now_us,
                       .placement = start->placement,
                       .partition = start->partition,
                       .billing = job_billing_in(s, start->partition, &tres),
                       .usage_factor = s->objects[OBJECT_QOS].items[j->qos].object.value[QOS_USAGE_FACTOR].real,
                       .tres = copy_tres(&tres),
                       .cpu_weight = CPU_WEIGHT_DEFAULT};
    strncpy(row.boot_id, boot_id, sizeof row.boot_id - 1);
    idset_remove(&j->pending, row.task_id);
    j->live_tasks++;
    uint32_t index = task_append(s, &row);
    const struct work work = task_work(&row);
    assoc_count_work(s, j->assoc, &(struct work){.pending = 1}, -1);
    assoc_count_work(s, j->assoc, &work, 1);
    apply_note_change(c, TABLE_JOB, start->job);
    apply_note_change(c, TABLE_TASK, index);
    apply_note_change(c, TABLE_COUNTERS, 0);
    apply_note_decision(c, DECIDE_START, &s->tasks.items[index]);
}

static void start_tasks(struct pass *p, const char *boot_id)
{
    struct state *s = p->c->s;
    struct pass_queue queue = {p->jobs.items, p->jobs.count, p->candidates.items, p->candidates.count};
    struct pass_starts starts = {0};
    struct tres_indices indices;
    pass_run(&s->host, &p->consumables, &queue, &s->cycle, &starts);
    tres_indices_find(s, &s->cycle, &indices);
    for (uint32_t i = 0; i < starts.list.count; i++) start_task(p->c, &indices, &starts.list.items[i], boot_id);
    array_release(&starts.list);
}

static void run_pass(struct apply_context *c, const char *boot_id, const struct ticket_plan *plan)
{
    struct pass p = {.c = c, .plan = plan, .has_threshold_qos = has_threshold_qos(c->s)};
    if (min_priority_is_kept(c->s)) {
        begin_ranking(&p);
        min_priority_raise_all(c, &p.multifactor);
    }
    if (c->s->host.free_cpu_count > 0) {
        find_free_consumables(c->s, &p.consumables);
        make_queue(&p);
        if (p.candidates.count > 0) start_tasks(&p, boot_id);
    }
    array_release(&p.jobs);
    array_release(&p.candidates);
}

/* Whether at least two jobs could start now, so that a pass has to rank them. */
static bool needs_ranking(struct state *s, int64_t now_us)
{
    struct apply_context c = {.s = s, .now_us = now_us};
    struct pass p = {.c = &c};
    struct pass_job unused;
    uint32_t found_count = 0;
    if (s->host.free_cpu_count == 0) return false;
    find_free_consumables(s, &p.consumables);
    for (uint32_t i = 0; i < s->jobs.count && found_count < 2; i++) found_count += could_start(&p, i, &unused);
    return found_count == 2;
}

static bool pass_is_due(const struct state *s, int64_t now_us)
{
    return s->pass_is_due || (s->next_due_us != 0 && s->next_due_us <= now_us);
}

struct ticket_plan *ticket_plan_make(struct state *s, int64_t now_us, uint32_t min)
{
    arena_clear(&s->cycle);
    if (s->policy.model != MODEL_TICKETS || !pass_is_due(s, now_us) || !needs_ranking(s, now_us)) return NULL;
    if (s->job_by_id.count < min && ticket_entry_count(s, now_us) < min) return NULL;
    s->pass_is_due = false;
    return ticket_plan_new(s, now_us);
}

/* Whether the rules have changed since the plan was made. A plan after a dropped one is used in any case, until a pass
 * has run (ticket_plan.h). */
static bool must_drop(const struct state *s, const struct ticket_plan *plan)
{
    return plan->rules_edition != s->rules_edition && !s->dropped_plan;
}

int apply_time(struct apply_context *c, const struct event *event)
{
    struct state *s = c->s;
    const struct ticket_plan *plan = s->policy.model == MODEL_TICKETS ? event->time.plan : NULL;
    if (plan != NULL && must_drop(s, plan)) {
        s->dropped_plan = s->pass_is_due = true;
        return 0;
    }
    if (plan == NULL && !pass_is_due(s, c->now_us)) return 0;
    s->dropped_plan = false;
    if (plan == NULL) s->pass_is_due = false; /* with a plan, ticket_plan_make has cleared it */
    s->next_due_us =
        0; /* set again below; without a free CPU no begin matters, because a task's end makes a pass due */
    run_pass(c, event->time.boot_id, plan);
    cpu_weight_update(c);
    return 0;
}
