/* Divides the share tree's pool T among the jobs.
 *
 *     running:  ostt T / running jobs of its leaf, or by -js shares    with the targets of a tree of running jobs alone
 *     pending:  stt T / d                                d = 1 + slots of the jobs before it in the order of the node
 *
 * Each node sorts all jobs below it: running ones first, then pending ones by their value, highest first, then by id.
 * At a leaf the value is the sum of the tickets so far and the -js share. Further up it is the sum of the tickets so
 * far and the tickets from the node below. So every level overrules the one below it, and the final tickets are those
 * of the root's child:
 *
 *     Root                 -                             the root divides only among jobs that it serves itself
 *     +- A  stt 0.7        c1 T 0.7, a1 T 0.7/2, c2 T 0.7/3
 *        +- ua  stt 0.2    a1 T 0.2
 *        +- uc  stt 0.8    c1 T 0.8, c2 T 0.8/2
 *
 * A root that serves no jobs and has one active child is replaced by that child.
 *
 * The jobs below a node are a slice of one array: first the node's own jobs, then those of its children. So an order is
 * a slice that is sorted in place. Cost: O(jobs) for each level of the tree. Source: docs/formulas.md 5.4. */
#include "policy/share_tickets.h"

#include <math.h>
#include <string.h>

#include "base/ensure.h"
#include "policy/share_targets.h"

static bool has_share_policy(const struct ticket_run *run)
{
    return run->in->rules->share_pool > 0.0 && run->in->node_count > 0;
}

/* By node: the jobs that it serves itself. */
static uint32_t *count_own_jobs(const struct ticket_run *run, bool only_running)
{
    const struct ticket_input *in = run->in;
    uint32_t *own = arena_alloc(run->arena, in->node_count * sizeof *own);
    if (in->node_jobs != NULL && !only_running) {
        memcpy(own, in->node_jobs, in->node_count * sizeof *own);
        return own;
    }
    for (uint32_t i = 0; i < in->job_count; i++) {
        const struct ticket_job *j = &in->jobs[i];
        if (j->node == NONE || (only_running && !j->is_running)) continue;
        ensure(j->node < in->node_count);
        own[j->node]++;
    }
    return own;
}

/* What divides the pool among running jobs. */
struct running_shares {
    struct share_targets targets;
    uint32_t *own;      /* by node: its jobs */
    double *job_shares; /* by leaf: the sum of -js of its running jobs */
};

static struct running_shares running_shares_of(struct ticket_run *run, bool only_running)
{
    const struct ticket_input *in = run->in;
    struct running_shares r = {.own = count_own_jobs(run, only_running)};
    share_targets_compute(in->rules, in->nodes, in->node_count, r.own, run->arena, &r.targets);
    r.job_shares = arena_alloc(run->arena, in->node_count * sizeof *r.job_shares);
    for (uint32_t i = 0; i < in->job_count; i++) {
        const struct ticket_job *j = &in->jobs[i];
        if (j->is_running && j->node != NONE) r.job_shares[j->node] += j->job_share;
    }
    return r;
}

static double share_of_running(const struct ticket_run *run, const struct running_shares *r, const struct ticket_job *j)
{
    if (j->node == NONE) return 0.0;
    double target = r->targets.overall_short[j->node], pool = run->in->rules->share_pool;
    double leaf_shares = r->job_shares[j->node];
    return leaf_shares > 0.0 ? floor(j->job_share * target * pool / leaf_shares) : target * pool / r->own[j->node];
}

/* Only nodes of running jobs are active, so only they get targets. The virtual nodes of users whose jobs are all
 * pending stay in the tree, though: their usage counts in the groups above them (case h_03). */
void share_tickets_running(struct ticket_run *run)
{
    if (!has_share_policy(run)) return;
    struct running_shares r = running_shares_of(run, true);
    for (uint32_t i = 0; i < run->in->job_count; i++) {
        const struct ticket_job *j = &run->in->jobs[i];
        if (j->is_running) run->tickets[i].share = share_of_running(run, &r, j);
    }
}

double share_tickets_running_max(struct ticket_run *run)
{
    double max = 0.0;
    if (!has_share_policy(run)) return max;
    struct running_shares r = running_shares_of(run, false);
    for (uint32_t i = 0; i < run->in->job_count; i++) {
        const struct ticket_job *j = &run->in->jobs[i];
        if (!j->is_running) continue;
        double total = share_of_running(run, &r, j) + run->tickets[i].functional + run->tickets[i].override;
        if (total > max) max = total;
    }
    return max;
}

/* The pending jobs, in slices of run->records by node. */
struct slicing {
    struct share_targets targets;
    uint32_t *own;           /* by node: jobs that it serves itself, including running ones */
    uint32_t *start;         /* by node: where its slice starts */
    uint32_t *pending_count; /* by node: the length of its slice */
    double *running_slots;   /* by node: slots of the running jobs at or below it */
    double *value;           /* by job: its sort key */
    double *part;            /* by job: its fraction of the pool */
};

static void count_by_node(const struct ticket_run *run, struct slicing *s)
{
    const struct ticket_input *in = run->in;
    for (uint32_t i = 0; i < in->job_count; i++) {
        const struct ticket_job *j = &in->jobs[i];
        if (j->node == NONE) continue;
        if (j->is_running) {
            s->running_slots[j->node] += j->slots;
        } else {
            s->pending_count[j->node]++;
        }
    }
}

/* Lays out the slices: a node's slice follows its parent's own jobs and the slices of its elder siblings. out_next
 * becomes a copy of start. */
static void lay_out(const struct ticket_run *run, struct slicing *s, uint32_t *out_next)
{
    const struct ticket_input *in = run->in;
    uint32_t count = in->node_count;
    uint32_t *own_pending = arena_alloc(run->arena, count * sizeof *own_pending);
    for (uint32_t i = 0; i < count; i++) own_pending[i] = s->pending_count[i];
    for (uint32_t i = count; i-- > 1;) {
        s->pending_count[in->nodes[i].parent] += s->pending_count[i];
        s->running_slots[in->nodes[i].parent] += s->running_slots[i];
    }
    uint32_t *free_from = arena_alloc(run->arena, count * sizeof *free_from);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t parent = in->nodes[i].parent;
        s->start[i] = i == 0 ? 0 : free_from[parent];
        if (i > 0) free_from[parent] += s->pending_count[i];
        free_from[i] = s->start[i] + own_pending[i];
        out_next[i] = s->start[i];
    }
}

static void fill_slices(struct ticket_run *run, struct slicing *s, bool is_dependent)
{
    uint32_t *next = arena_alloc(run->arena, run->in->node_count * sizeof *next);
    count_by_node(run, s);
    lay_out(run, s, next);
    for (uint32_t i = 0; i < run->pending_count; i++) {
        uint32_t job = run->by_id[i];
        const struct ticket_job *j = &run->in->jobs[job];
        if (j->node == NONE) continue;
        run->records[next[j->node]++] = (struct sort_record){.index = job, .extra = i};
        s->value[job] = is_dependent ? run->tickets_so_far[job] + 0.01 * j->job_share : j->job_share;
    }
}

/* Sorts jobs of equal value by id. */
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
    uint32_t count = s->pending_count[node];
    for (uint32_t i = 0; i < count; i++) records[i].key = ~sort_key_double(s->value[records[i].index]);
    sort_records(records, count, run->scratch);
    order_equals(records, count, run->scratch);

    double divisor = 1.0 + s->running_slots[node];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t job = records[i].index;
        s->part[job] = s->targets.short_term[node] / divisor;
        s->value[job] = (is_dependent ? run->tickets_so_far[job] : 0.0) + s->part[job] * run->in->rules->share_pool;
        divisor += run->in->jobs[job].slots;
    }
}

/* share_tickets_running and share_tickets_running_max count, set targets and have the shares of leaves; the pending
 * jobs need targets, slices and two numbers each. */
size_t share_tickets_memory(const struct ticket_input *in)
{
    size_t counts = arena_size(in->node_count, sizeof(uint32_t)), numbers = arena_size(in->node_count, sizeof(double));
    return 3 * (counts + share_targets_memory(in->node_count)) + 2 * numbers + 5 * counts + numbers +
           2 * arena_size(in->job_count, sizeof(double));
}

void share_tickets_pending(struct ticket_run *run, bool is_dependent)
{
    const struct ticket_input *in = run->in;
    if (!has_share_policy(run) || run->pending_count == 0) return;
    struct arena *arena = run->arena;
    struct slicing s = {
        .own = count_own_jobs(run, false),
        .start = arena_alloc(arena, in->node_count * sizeof *s.start),
        .pending_count = arena_alloc(arena, in->node_count * sizeof *s.pending_count),
        .running_slots = arena_alloc(arena, in->node_count * sizeof *s.running_slots),
        .value = arena_alloc(arena, in->job_count * sizeof *s.value),
        .part = arena_alloc(arena, in->job_count * sizeof *s.part),
    };
    share_targets_compute(in->rules, in->nodes, in->node_count, s.own, arena, &s.targets);
    fill_slices(run, &s, is_dependent);
    uint32_t top = share_targets_top(in->nodes, in->node_count, s.own, &s.targets);
    for (uint32_t node = in->node_count; node-- > top;) {
        bool divides = s.pending_count[node] > 0 && (node != top || s.own[node] > 0);
        if (divides) divide_node(run, &s, node, is_dependent);
    }
    for (uint32_t i = 0; i < run->pending_count; i++) {
        uint32_t job = run->by_list[i];
        run->tickets[job].share = s.part[job] * in->rules->share_pool;
        if (is_dependent) run->tickets_so_far[job] += run->tickets[job].share;
    }
}
