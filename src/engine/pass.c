/* The scheduling pass: which pending tasks start now.
 *
 *     multifactor, basic   groups of equal jobs (pending.h) -> the first of each that fits -> the best of them starts
 *     tickets              pending jobs -> jobs that fit -> a candidate for each -> sched/pass.h -> tasks that start
 *
 * Cheap checks come first. If no CPU is free, no job is read, unless minimum priorities are kept; only jobs that fit
 * into the free resources are ranked. In a group the next job becomes a candidate when the one before it has started;
 * if one does not fit, its group is left out. The tickets model ranks all waiting jobs, because the tickets of each
 * depend on all of them, but only if at least two jobs fit; its candidates are in order of job id, which is the order
 * of submission, or with a plan in that of the plan.
 *
 * Cost: O(associations + objects), and O(log groups) for each start, in addition for g groups O(g), by multifactor or
 * basic; for the tickets model O(jobs) and the cost of ticket_plan_run; O(tasks) if a resource has a finite amount.
 * With minimum priorities (min_priority.h) or CPU weights (cpu_weight.c) O(jobs) or O(tasks) more. Source:
 * docs/formulas.md 4.4. */
#include <string.h>

#include "base/ensure.h"
#include "engine/min_priority.h"
#include "engine/pending.h"
#include "sched/pass.h"

enum { STEP = 8 }; /* the prefetch distance, in jobs, of each of three steps */

/* The jobs that could start on the free resources, and their candidates. */
struct pass {
    struct apply_context *c;
    const struct ticket_plan *plan; /* the event's; NULL: none */
    struct consumables consumables;
    bool is_ranking;        /* begin_ranking was called */
    bool has_threshold_qos; /* a QOS keeps jobs waiting until their fair-share factor is high enough */
    const double *factors;  /* by node of the tree; NULL: not needed */
    struct multifactor_context multifactor;
    struct queue_candidates heads; /* of the groups */
    struct tres_amount *amounts;   /* of one job, TRES_MAX entries; NULL: TRES have no weights */
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

static void add_candidate(struct pass *p, uint32_t job, uint32_t partition, uint32_t tasks, uint64_t order)
{
    *array_add(&p->candidates) = (struct candidate){job, partition, tasks, order};
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
    if (is_multifactor || p->has_threshold_qos) p->factors = state_factors(s, p->c->now_us, &s->cycle);
    if (!is_multifactor) return;
    if (s->policy.multifactor.has_tres_weights) p->amounts = arena_alloc(&s->cycle, TRES_MAX * sizeof *p->amounts);
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
static void make_tickets_queue(struct pass *p)
{
    struct state *s = p->c->s;
    struct pass_job job;
    array_reserve(&p->jobs, s->job_by_id.count);
    array_reserve(&p->candidates, s->job_by_id.count);
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        const struct job *j = &s->jobs.items[i];
        prefetch_jobs(s, i);
        if (!could_start(p, i, &job)) continue;
        if (!p->is_ranking) begin_ranking(p);
        if (p->has_threshold_qos && ranking_qos_waits(s, j->qos, p->factors[s->node_of.items[j->assoc]])) {
            state_want_pass_at(s, p->c->now_us + USAGE_WAIT_US);
            continue;
        }
        *array_add(&p->jobs) = job;
    }
    if (p->jobs.count > 0) queue_by_tickets(p);
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

/* The tickets model. */
static void start_by_tickets(struct pass *p, const char *boot_id)
{
    struct state *s = p->c->s;
    struct pass_starts starts = {0};
    struct tres_indices indices;
    make_tickets_queue(p);
    if (p->candidates.count == 0) return;
    struct pass_queue queue = {p->jobs.items, p->jobs.count, p->candidates.items, p->candidates.count};
    pass_run(&s->host, &p->consumables, &queue, &s->cycle, &starts);
    tres_indices_find(s, &s->cycle, &indices);
    for (uint32_t i = 0; i < starts.list.count; i++) start_task(p->c, &indices, &starts.list.items[i], boot_id);
    array_release(&starts.list);
}

/* --- groups of equal jobs ----------------------------------------------------------------------------------------- */

/* Changes when a term of the sum may have changed, for any job. */
static uint64_t terms_edition(const struct state *s)
{
    return 1 + ((uint64_t)s->rules_edition + s->tree_builds + s->host_edition);
}

static void compute_terms(struct pass *p, struct pending_group *g, const struct job *j)
{
    struct state *s = p->c->s;
    struct multifactor_job input;
    multifactor_context_job(&p->multifactor, j, g->partition, p->amounts, &input);
    multifactor_terms(&s->policy.multifactor, &p->multifactor.cluster, &input, &g->terms);
    g->node = s->node_of.items[state_assoc_in_partition(s, j->assoc, g->partition)];
    g->terms_edition = terms_edition(s);
}

static const struct job *job_of_entry(const struct state *s, const struct queue_entry *entry)
{
    return &s->jobs.items[state_find_job(s, entry->job)];
}

/* With ACCRUE_ALWAYS the time of submission counts, for which rows have to be read. */
static uint32_t multifactor_priority_of_entry(struct pass *p, struct pending_group *g, const struct queue_entry *entry)
{
    const struct state *s = p->c->s;
    const struct multifactor_rules *rules = &s->policy.multifactor;
    if (g->terms_edition != terms_edition(s)) compute_terms(p, g, job_of_entry(s, entry));
    if (g->set_priority != NONE) return g->set_priority;
    bool is_always = (rules->flags & FLAG_ACCRUE_ALWAYS) != 0;
    int64_t since_us = is_always ? job_of_entry(s, entry)->submit_us : entry->since_us;
    if (since_us > p->c->now_us) since_us = is_always ? since_us : 0;
    double factor = g->node != NONE ? p->factors[g->node] : 0.0;
    return multifactor_priority_of(rules, &g->terms, p->c->now_us, since_us, factor);
}

static uint64_t order_of(struct pass *p, struct pending_group *g, const struct queue_entry *entry)
{
    const struct state *s = p->c->s;
    uint32_t tier = (uint32_t)s->objects[OBJECT_PARTITION].items[g->partition].object.value[PARTITION_TIER].number;
    if (s->policy.model == MODEL_BASIC) return sort_key_priority(tier, job_basic_priority(job_of_entry(s, entry)));
    uint32_t priority = multifactor_priority_of_entry(p, g, entry);
    if (s->pending->are_alike) return sort_key_priority(tier, priority);
    return sort_key_priority(tier, min_priority_bound(s, job_of_entry(s, entry), g->partition, priority));
}

/* Whether the jobs of a group may start at all: its partition admits them, and their fair-share factor is high
 * enough. */
static bool is_admitted(struct pass *p, const struct pending_group *g)
{
    struct state *s = p->c->s;
    int64_t max_s = s->objects[OBJECT_PARTITION].items[g->partition].object.value[PARTITION_MAX_TIME].number;
    if (max_s != FIELD_SPECIAL && g->time_limit_s > max_s) return false;
    if (!p->has_threshold_qos) return true;
    if (!p->is_ranking) begin_ranking(p);
    if (!ranking_qos_waits(s, g->qos, p->factors[s->node_of.items[g->assoc]])) return true;
    state_want_pass_at(s, p->c->now_us + USAGE_WAIT_US);
    return false;
}

static struct pass_job pass_job_of(const struct pending_group *g)
{
    return (struct pass_job){
        .request = g->request, .slots_max = g->slots_max, .needs = g->needs, .need_count = g->need_count};
}

/* The next entry of a group, at an index or later, that has a task to start; NONE: there is none. */
static uint32_t find_startable(struct state *s, uint32_t group, uint32_t at)
{
    struct queue *q = &s->pending->queue;
    const struct pending_group *g = &s->pending->groups.items[group];
    at = queue_next(q, group, at);
    bool is_certain = !g->has_arrays && s->pending->jobs_started == 0;
    while (!is_certain && at != NONE &&
           startable_tasks(s, job_of_entry(s, &q->groups.items[group].entries.items[at])) == 0)
        at = queue_next(q, group, at + 1);
    return at;
}

/* The next job of a group becomes a candidate if it fits. */
static void push_head(struct pass *p, uint32_t group, uint32_t at)
{
    struct state *s = p->c->s;
    struct pending_group *g = &s->pending->groups.items[group];
    const struct pass_job job = pass_job_of(g);
    if (pass_fits(&s->host, &p->consumables, &job) == 0 || !is_admitted(p, g)) return;
    at = find_startable(s, group, at);
    if (at == NONE) return;
    if (!p->is_ranking) begin_ranking(p);
    const struct queue_entry *entry = &s->pending->queue.groups.items[group].entries.items[at];
    queue_push(&p->heads, (struct queue_candidate){order_of(p, g, entry), entry->position << 32 | g->place, group, at});
}

/* Starts tasks of a candidate as long as they fit. Returns whether the group's next job may fit. */
static bool start_candidate(struct pass *p, const struct tres_indices *indices, const struct queue_candidate *candidate,
                            const char *boot_id)
{
    struct state *s = p->c->s;
    const struct pending_group *g = &s->pending->groups.items[candidate->group];
    const struct queue_group *members = &s->pending->queue.groups.items[candidate->group];
    const struct pass_job job = pass_job_of(g);
    uint32_t index = state_find_job(s, members->entries.items[candidate->at].job);
    for (uint32_t tasks = startable_tasks(s, &s->jobs.items[index]); tasks > 0; tasks--) {
        struct pass_start start = {.job = index, .partition = g->partition};
        struct capacity granted = job.request;
        granted.cpus = pass_fits(&s->host, &p->consumables, &job);
        if (granted.cpus == 0) return false;
        host_take(&s->host, &granted, &start.placement);
        consumables_take(&p->consumables, job.needs, job.need_count, granted.cpus);
        start_task(p->c, indices, &start, boot_id);
        s->pending->jobs_started++;
    }
    return true;
}

/* The best of the groups' first jobs starts, and the next one of its group takes its place. */
static void start_by_priority(struct pass *p, const char *boot_id)
{
    struct state *s = p->c->s;
    struct tres_indices indices;
    pending_update(s, p->c->now_us, !min_priority_is_kept(s));
    s->pending->jobs_started = 0;
    for (uint32_t g = 0; g < s->pending->queue.groups.count; g++) {
        if (s->pending->queue.groups.items[g].key != NULL) push_head(p, g, 0);
    }
    if (pending_next_begin_us(s) != 0) state_want_pass_at(s, pending_next_begin_us(s));
    if (p->heads.list.count == 0) return;
    tres_indices_find(s, &s->cycle, &indices);
    while (p->heads.list.count > 0 && s->host.free_cpu_count > 0) {
        const struct queue_candidate best = queue_pop(&p->heads);
        if (start_candidate(p, &indices, &best, boot_id)) push_head(p, best.group, best.at + 1);
    }
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

static void run_pass(struct apply_context *c, const char *boot_id, const struct ticket_plan *plan)
{
    struct pass p = {.c = c, .plan = plan, .has_threshold_qos = has_threshold_qos(c->s)};
    if (min_priority_is_kept(c->s)) {
        begin_ranking(&p);
        min_priority_raise_all(c, &p.multifactor);
    }
    if (c->s->host.free_cpu_count > 0) {
        find_free_consumables(c->s, &p.consumables);
        if (c->s->policy.model == MODEL_TICKETS)
            start_by_tickets(&p, boot_id);
        else
            start_by_priority(&p, boot_id);
    }
    array_release(&p.jobs);
    array_release(&p.candidates);
    array_release(&p.heads.list);
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
