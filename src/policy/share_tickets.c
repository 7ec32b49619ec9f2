/* What each job gets of the share tree's pool T.
 *
 *     running:  ostt T / jobs of its leaf, or by their -js shares          the targets of a tree of running jobs alone
 *     pending:  stt T / d                                      d = 1 + slots of the jobs before it in the node's order
 *
 * A node's order has all jobs below it, running ones first, then pending ones by the tickets they would have so far:
 * at a leaf those of the policies before and their -js, further up also what the order below gave them. So every level
 * overrules the one below, and what counts in the end is the order at the child of the root:
 *
 *     Root                 -                             the root divides only among jobs of its own; a root with one
 *     +- A  stt 0.7        c1 T 0.7, a1 T 0.7/2, c2 T 0.7/3   active child and no jobs is put aside for that child
 *        +- ua  stt 0.2    a1 T 0.2
 *        +- uc  stt 0.8    c1 T 0.8, c2 T 0.8/2
 *
 * The jobs below a node are a slice of one array, its own first, then its children's, so an order is a slice sorted in
 * place. Cost: O(jobs) a level of the tree. Source: docs/formulas.md 5.4. */
#include <math.h>

#include "base/ensure.h"
#include "policy/ticket_run.h"

static bool has_share_policy(const struct ticket_run *run)
{
    return run->q->rules->share_pool > 0.0 && run->q->node_count > 0;
}

static uint32_t *count_own_jobs(const struct ticket_run *run, bool only_running)
{
    const struct ticket_input *q = run->q;
    uint32_t *own = arena_alloc(run->arena, q->node_count * sizeof *own);
    for (uint32_t i = 0; i < q->job_count; i++) {
        const struct ticket_job *j = &q->jobs[i];
        if (j->node == NONE || (only_running && !j->is_running)) continue;
        ensure(j->node < q->node_count);
        own[j->node]++;
    }
    return own;
}

void share_tickets_running(struct ticket_run *run)
{
    const struct ticket_input *q = run->q;
    if (!has_share_policy(run)) return;
    uint32_t *own = count_own_jobs(run, true);
    struct share_targets t;
    share_targets_compute(q->rules, q->nodes, q->node_count, own, run->arena, &t);

    double *job_shares = arena_alloc(run->arena, q->node_count * sizeof *job_shares);
    for (uint32_t i = 0; i < q->job_count; i++) {
        const struct ticket_job *j = &q->jobs[i];
        if (j->is_running && j->node != NONE) job_shares[j->node] += j->job_share;
    }
    for (uint32_t i = 0; i < q->job_count; i++) {
        const struct ticket_job *j = &q->jobs[i];
        if (!j->is_running || j->node == NONE) continue;
        double all = t.overall_short[j->node], pool = q->rules->share_pool, of_leaf = job_shares[j->node];
        run->out[i].share = of_leaf > 0.0 ? floor(j->job_share * all * pool / of_leaf) : all * pool / own[j->node];
    }
}

/* The pending jobs, sliced by node. */
struct slicing {
    struct share_targets t;
    uint32_t *own;             /* by node: jobs it serves itself, running ones too */
    uint32_t *start, *pending; /* by node: its slice of records, and how long it is */
    double *running_slots;     /* by node: of the running jobs at or below it */
    double *value;             /* by job: what it is ordered by */
    double *part;              /* by job: of the pool */
};

static void count_by_node(const struct ticket_run *run, struct slicing *s)
{
    const struct ticket_input *q = run->q;
    for (uint32_t i = 0; i < q->job_count; i++) {
        const struct ticket_job *j = &q->jobs[i];
        if (j->node == NONE) continue;
        if (j->is_running) {
            s->running_slots[j->node] += j->slots;
        } else {
            s->pending[j->node]++;
        }
    }
}

/* Slices: start of a node behind its parent's own jobs and its elder siblings. Afterwards next is where each slice
 * continues behind what was put in; it begins as a copy of start. */
static void lay_out(const struct ticket_run *run, struct slicing *s, uint32_t *next)
{
    const struct ticket_input *q = run->q;
    uint32_t count = q->node_count;
    uint32_t *own_pending = arena_alloc(run->arena, count * sizeof *own_pending);
    for (uint32_t i = 0; i < count; i++) own_pending[i] = s->pending[i];
    for (uint32_t i = count; i-- > 1;) {
        s->pending[q->nodes[i].parent] += s->pending[i];
        s->running_slots[q->nodes[i].parent] += s->running_slots[i];
    }
    uint32_t *free_from = arena_alloc(run->arena, count * sizeof *free_from);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t parent = q->nodes[i].parent;
        s->start[i] = i == 0 ? 0 : free_from[parent];
        if (i > 0) free_from[parent] += s->pending[i];
        free_from[i] = s->start[i] + own_pending[i];
        next[i] = s->start[i];
    }
}

static void fill_slices(struct ticket_run *run, struct slicing *s, bool is_dependent)
{
    uint32_t *next = arena_alloc(run->arena, run->q->node_count * sizeof *next);
    count_by_node(run, s);
    lay_out(run, s, next);
    for (uint32_t i = 0; i < run->pending_count; i++) {
        uint32_t job = run->by_id[i];
        const struct ticket_job *j = &run->q->jobs[job];
        if (j->node == NONE) continue;
        run->records[next[j->node]++] = (struct sort_record){.index = job, .extra = i};
        s->value[job] = is_dependent ? run->held[job] + 0.01 * j->job_share : j->job_share;
    }
}

/* Jobs of equal value by id. */
static void order_equals(struct sort_record *records, uint32_t count, struct sort_record *scratch)
{
    for (uint32_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && records[end].key == records[begin].key;) end++;
        if (end - begin < 2) continue;
        for (uint32_t i = begin; i < end; i++) records[i].key = records[i].extra;
        sort_records(records + begin, end - begin, scratch);
    }
}

static void divide_node(struct ticket_run *run, struct slicing *s, uint32_t node, bool is_dependent)
{
    struct sort_record *records = run->records + s->start[node];
    uint32_t count = s->pending[node];
    for (uint32_t i = 0; i < count; i++) records[i].key = ~sort_key_double(s->value[records[i].index]);
    sort_records(records, count, run->scratch);
    order_equals(records, count, run->scratch);

    double before = 1.0 + s->running_slots[node];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t job = records[i].index;
        s->part[job] = s->t.short_term[node] / before;
        s->value[job] = (is_dependent ? run->held[job] : 0.0) + s->part[job] * run->q->rules->share_pool;
        before += run->q->jobs[job].slots;
    }
}

/* The root, or what stands in for it: its only active child, as long as it serves nobody itself. */
static uint32_t find_top(const struct ticket_input *q, const struct slicing *s)
{
    uint32_t top = 0;
    for (uint32_t i = 1; i < q->node_count && s->own[top] == 0; i++) {
        if (q->nodes[i].parent == top && s->t.active[i] == s->t.active[top]) top = i;
    }
    return top;
}

void share_tickets_pending(struct ticket_run *run, bool is_dependent)
{
    const struct ticket_input *q = run->q;
    if (!has_share_policy(run) || run->pending_count == 0) return;
    struct arena *arena = run->arena;
    struct slicing s = {
        .own = count_own_jobs(run, false),
        .start = arena_alloc(arena, q->node_count * sizeof *s.start),
        .pending = arena_alloc(arena, q->node_count * sizeof *s.pending),
        .running_slots = arena_alloc(arena, q->node_count * sizeof *s.running_slots),
        .value = arena_alloc(arena, q->job_count * sizeof *s.value),
        .part = arena_alloc(arena, q->job_count * sizeof *s.part),
    };
    share_targets_compute(q->rules, q->nodes, q->node_count, s.own, arena, &s.t);
    fill_slices(run, &s, is_dependent);
    uint32_t top = find_top(q, &s);
    for (uint32_t node = q->node_count; node-- > top;) {
        if (s.pending[node] > 0 && (node != top || s.own[node] > 0)) divide_node(run, &s, node, is_dependent);
    }
    for (uint32_t i = 0; i < run->pending_count; i++) {
        uint32_t job = run->by_list[i];
        run->out[job].share = s.part[job] * q->rules->share_pool;
        if (is_dependent) run->held[job] += run->out[job].share;
    }
}
