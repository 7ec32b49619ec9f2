/* Targets: how the share tree divides its pool among the nodes that have jobs, level by level. Among active siblings,
 *
 *     ltt  = shares / sum of shares                      the long-term target
 *     shr  = shares^2 / max(usage, oltt)                 a node that used less weighs more
 *     stt  = shr / sum of shr                            the short-term target
 *     oltt, ostt: ltt and stt times the parent's own     the root: 1
 *
 * Compensation limits how far the short-term target of a node may be above its long-term target. The program's rule
 * reduces the weight of the nodes above the limit once and then divides again, so they may still be above it. The
 * manual's rule is a cap. With CF, the compensation factor:
 *
 *     program:  for ostt > CF oltt:  shr = shares^2 / (max(usage, oltt) ostt / (CF oltt)), then stt again
 *     manual:   stt = min(cap, v shr) with v such that their sum is 1;  cap = CF oltt / ostt of the parent
 *
 * To find v, the siblings are taken in ascending order of cap / shr. Each gets its fraction of what is left, but at
 * most its cap. If the sum of the caps is 1 or less, the siblings divide the whole in proportion to their caps.
 *
 * Cost: O(n); with the manual's rule also a sort of each group of siblings. Source: docs/formulas.md 5.3. */
#include "policy/share_targets.h"

#include <math.h>

#include "base/ensure.h"
#include "base/sort.h"

/* The active siblings below one parent. */
struct siblings {
    const struct ticket_node *nodes;
    struct share_targets *t;
    uint32_t parent, count;
    uint32_t *node; /* by sibling */
    double *weight; /* by sibling: shr */
    double *cap;
    double *fraction_of_rest; /* its weight against that of all siblings from it on, in ascending order of cap / shr */
    struct sort_record *records, *scratch;
};

static double counted_usage(const struct siblings *s, uint32_t node)
{
    return fmax(s->nodes[node].usage, s->t->overall_long[node]);
}

static double squared_shares(const struct siblings *s, uint32_t node)
{
    return s->nodes[node].shares * s->nodes[node].shares;
}

static void set_long_term(const struct siblings *s)
{
    double total = 0.0;
    for (uint32_t i = 0; i < s->count; i++) total += s->nodes[s->node[i]].shares;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t node = s->node[i];
        s->t->long_term[node] = total > 0.0 ? s->nodes[node].shares / total : 0.0;
        s->t->overall_long[node] = s->t->overall_long[s->parent] * s->t->long_term[node];
        s->weight[i] = s->t->overall_long[node] > 0.0 ? squared_shares(s, node) / counted_usage(s, node) : 0.0;
    }
}

static void set_short_term(const struct siblings *s)
{
    double total = 0.0;
    for (uint32_t i = 0; i < s->count; i++) total += s->weight[i];
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t node = s->node[i];
        s->t->short_term[node] = total > 0.0 ? s->weight[i] / total : 0.0;
        s->t->overall_short[node] = s->t->overall_short[s->parent] * s->t->short_term[node];
    }
}

/* The program's rule. */
static void reduce_weights(const struct siblings *s, double factor)
{
    bool is_any_above = false;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t node = s->node[i];
        double max = factor * s->t->overall_long[node];
        if (!(s->t->overall_short[node] > max)) continue;
        s->weight[i] = squared_shares(s, node) / (counted_usage(s, node) * (s->t->overall_short[node] / max));
        is_any_above = true;
    }
    if (is_any_above) set_short_term(s);
}

/* Sorts the siblings that have a weight in ascending order of cap / shr, and returns their number. */
static uint32_t sort_by_cap(const struct siblings *s)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        if (!(s->weight[i] > 0.0)) continue;
        s->records[count++] = (struct sort_record){.key = sort_key_double(s->cap[i] / s->weight[i]), .index = i};
    }
    sort_records(s->records, count, s->scratch);
    return count;
}

/* Fills fraction_of_rest from the last record back. The last one is exactly 1, so that it gets the whole rest. */
static void set_fractions_of_rest(const struct siblings *s, uint32_t count)
{
    double rest = 0.0;
    for (uint32_t i = count; i-- > 0;) {
        uint32_t sibling = s->records[i].index;
        rest += s->weight[sibling];
        s->fraction_of_rest[sibling] = s->weight[sibling] / rest;
    }
}

static void set_capped(const struct siblings *s, double cap_sum)
{
    uint32_t count = sort_by_cap(s);
    set_fractions_of_rest(s, count);
    double left = 1.0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t sibling = s->records[i].index;
        double fraction =
            cap_sum <= 1.0 ? s->cap[sibling] / cap_sum : fmin(left * s->fraction_of_rest[sibling], s->cap[sibling]);
        s->t->short_term[s->node[sibling]] = fraction;
        left -= fraction;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t node = s->node[i];
        s->t->overall_short[node] = s->t->overall_short[s->parent] * s->t->short_term[node];
    }
}

/* The manual's rule. */
static void cap_targets(const struct siblings *s, double factor)
{
    double of_parent = s->t->overall_short[s->parent], cap_sum = 0.0;
    if (!(of_parent > 0.0)) return;
    bool is_any_above = false;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t node = s->node[i];
        s->cap[i] = factor * s->t->overall_long[node] / of_parent;
        cap_sum += s->cap[i];
        is_any_above |= s->t->short_term[node] > s->cap[i];
    }
    if (is_any_above) set_capped(s, cap_sum);
}

static void set_targets(const struct siblings *s, const struct ticket_rules *r)
{
    set_long_term(s);
    set_short_term(s);
    double factor = r->compensation_factor;
    if (factor == 0.0) return;
    if (r->compensation_rule == COMPENSATION_PROGRAM) {
        reduce_weights(s, factor);
    } else if (factor != 1.0) {
        cap_targets(s, factor);
    }
}

/* The children of every node, as slices of one array: those of p are children[start[p]] to children[start[p + 1] -
 * 1]. */
struct slices {
    uint32_t *start, *children;
};

/* By counting. While the slices are filled, start[p + 1] moves from the start of p's slice to its end. */
static struct slices slice_children(const struct ticket_node *nodes, uint32_t count, struct arena *arena)
{
    struct slices c = {
        .start = arena_alloc(arena, (count + 2u) * sizeof *c.start),
        .children = arena_alloc(arena, count * sizeof *c.children),
    };
    for (uint32_t i = 1; i < count; i++) c.start[nodes[i].parent + 2]++;
    for (uint32_t i = 2; i < count + 2; i++) c.start[i] += c.start[i - 1];
    for (uint32_t i = 1; i < count; i++) c.children[c.start[nodes[i].parent + 1]++] = i;
    return c;
}

static void count_active(const struct ticket_node *nodes, uint32_t count, const uint32_t *own_jobs,
                         uint32_t *active_count)
{
    for (uint32_t i = count; i-- > 0;) {
        ensure(i == 0 ? nodes[i].parent == NONE : nodes[i].parent < i);
        active_count[i] += own_jobs[i];
        if (i > 0) active_count[nodes[i].parent] += active_count[i];
    }
}

static struct siblings alloc_siblings(const struct ticket_node *nodes, uint32_t count, struct share_targets *t,
                                      struct arena *arena)
{
    struct siblings s = {.nodes = nodes, .t = t};
    s.node = arena_alloc(arena, count * sizeof *s.node);
    s.weight = arena_alloc(arena, count * sizeof *s.weight);
    s.cap = arena_alloc(arena, count * sizeof *s.cap);
    s.fraction_of_rest = arena_alloc(arena, count * sizeof *s.fraction_of_rest);
    s.records = arena_alloc(arena, count * sizeof *s.records);
    s.scratch = arena_alloc(arena, count * sizeof *s.scratch);
    return s;
}

size_t share_targets_memory(uint32_t count)
{
    return 3 * arena_size(count + 2u, sizeof(uint32_t)) + arena_size(count, sizeof(uint32_t)) +
           7 * arena_size(count, sizeof(double)) + 2 * arena_size(count, sizeof(struct sort_record));
}

void share_targets_compute(const struct ticket_rules *r, const struct ticket_node *nodes, uint32_t count,
                           const uint32_t *own_jobs, struct arena *arena, struct share_targets *out_targets)
{
    struct share_targets t = {
        .active_count = arena_alloc(arena, count * sizeof *t.active_count),
        .long_term = arena_alloc(arena, count * sizeof *t.long_term),
        .short_term = arena_alloc(arena, count * sizeof *t.short_term),
        .overall_long = arena_alloc(arena, count * sizeof *t.overall_long),
        .overall_short = arena_alloc(arena, count * sizeof *t.overall_short),
    };
    *out_targets = t;
    count_active(nodes, count, own_jobs, t.active_count);
    if (count == 0 || t.active_count[0] == 0) return;

    struct slices c = slice_children(nodes, count, arena);
    struct siblings s = alloc_siblings(nodes, count, &t, arena);
    t.long_term[0] = t.short_term[0] = t.overall_long[0] = t.overall_short[0] = 1.0;
    for (s.parent = 0; s.parent < count; s.parent++) {
        if (t.active_count[s.parent] == 0) continue;
        s.count = 0;
        for (uint32_t i = c.start[s.parent]; i < c.start[s.parent + 1]; i++) {
            if (t.active_count[c.children[i]] > 0) s.node[s.count++] = c.children[i];
        }
        if (s.count > 0) set_targets(&s, r);
    }
}

uint32_t share_targets_top(const struct ticket_node *nodes, uint32_t count, const uint32_t *own_jobs,
                           const struct share_targets *targets)
{
    uint32_t top = 0;
    for (uint32_t i = 1; i < count && own_jobs[top] == 0; i++) {
        if (nodes[i].parent == top && targets->active_count[i] == targets->active_count[top]) top = i;
    }
    return top;
}
