/* Targets: how the share tree divides its pool among the nodes that have jobs, level by level. Among active siblings,
 *
 *     ltt  = shares / sum of shares                      what is theirs in the long run
 *     shr  = shares^2 / max(usage, oltt)                 who used less weighs more
 *     stt  = shr / sum of shr                            what is theirs now
 *     oltt, ostt: ltt and stt times the parent's own     the root: 1
 *
 * Compensation limits how far above its long-term target a node may be for now. The program's rule weighs those above
 * it down once, and then shares all out again, so they may still be above; the manual's is a cap:
 *
 *     program:  for ostt > CF oltt:  shr = shares^2 / (max(usage, oltt) ostt / (CF oltt)), then stt anew
 *     manual:   stt = min(cap, v shr) with v such that their sum is 1;  cap = CF oltt / ostt of the parent
 *
 * The cap's v is found by taking the siblings in the order of cap / shr: each is at its cap if its part of what is left
 * is more. If all are, nobody can take the rest, and they share in proportion to their caps.
 * Cost: O(n), with the manual's rule O(n log n). Source: docs/formulas.md 5.3. */
#include <math.h>

#include "base/ensure.h"
#include "policy/ticket_run.h"

/* Siblings that have jobs, and what they weigh. */
struct siblings {
    const struct ticket_node *nodes;
    struct share_targets *t;
    uint32_t parent, count;
    uint32_t *of;  /* node */
    double *weigh; /* shr */
    double *cap, *part_of_rest;
    struct sort_record *records, *scratch;
};

static double base_of(const struct siblings *s, uint32_t node)
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
    for (uint32_t i = 0; i < s->count; i++) total += s->nodes[s->of[i]].shares;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t node = s->of[i];
        s->t->long_term[node] = total > 0.0 ? s->nodes[node].shares / total : 0.0;
        s->t->overall_long[node] = s->t->overall_long[s->parent] * s->t->long_term[node];
        s->weigh[i] = s->t->overall_long[node] > 0.0 ? squared_shares(s, node) / base_of(s, node) : 0.0;
    }
}

static void set_short_term(const struct siblings *s)
{
    double total = 0.0;
    for (uint32_t i = 0; i < s->count; i++) total += s->weigh[i];
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t node = s->of[i];
        s->t->short_term[node] = total > 0.0 ? s->weigh[i] / total : 0.0;
        s->t->overall_short[node] = s->t->overall_short[s->parent] * s->t->short_term[node];
    }
}

static void weigh_down(const struct siblings *s, double factor)
{
    bool is_any_above = false;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t node = s->of[i];
        double max = factor * s->t->overall_long[node];
        if (!(s->t->overall_short[node] > max)) continue;
        s->weigh[i] = squared_shares(s, node) / (base_of(s, node) * (s->t->overall_short[node] / max));
        is_any_above = true;
    }
    if (is_any_above) set_short_term(s);
}

/* Siblings in ascending order of cap / shr, those with a part at all; returns how many. */
static uint32_t sort_by_cap(const struct siblings *s)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        if (!(s->weigh[i] > 0.0)) continue;
        s->records[count++] = (struct sort_record){.key = sort_key_double(s->cap[i] / s->weigh[i]), .index = i};
    }
    sort_records(s->records, count, s->scratch);
    return count;
}

/* What a sibling weighs of all from it on, in the order of records; exact for the last, which takes what is left. */
static void set_part_of_rest(const struct siblings *s, uint32_t count)
{
    double rest = 0.0;
    for (uint32_t i = count; i-- > 0;) {
        uint32_t sibling = s->records[i].index;
        rest += s->weigh[sibling];
        s->part_of_rest[sibling] = s->weigh[sibling] / rest;
    }
}

static void set_capped(const struct siblings *s, double cap_sum)
{
    uint32_t count = sort_by_cap(s);
    set_part_of_rest(s, count);
    double left = 1.0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t sibling = s->records[i].index;
        double part = left * s->part_of_rest[sibling];
        if (cap_sum <= 1.0)
            part = s->cap[sibling] / cap_sum;
        else
            part = fmin(part, s->cap[sibling]);
        s->t->short_term[s->of[sibling]] = part;
        left -= part;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t node = s->of[i];
        s->t->overall_short[node] = s->t->overall_short[s->parent] * s->t->short_term[node];
    }
}

static void cap_targets(const struct siblings *s, double factor)
{
    double around = s->t->overall_short[s->parent], cap_sum = 0.0;
    if (!(around > 0.0)) return;
    bool is_any_above = false;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t node = s->of[i];
        s->cap[i] = factor * s->t->overall_long[node] / around;
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
        weigh_down(s, factor);
    } else if (factor != 1.0) {
        cap_targets(s, factor);
    }
}

/* Children of every node as slices of one array, by counting: those of p are children[start[p]] to start[p + 1]. */
struct slices {
    uint32_t *start, *children;
};

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

static void count_active(const struct ticket_node *nodes, uint32_t count, const uint32_t *own_jobs, uint32_t *active)
{
    for (uint32_t i = count; i-- > 0;) {
        ensure(i == 0 ? nodes[i].parent == NONE : nodes[i].parent < i);
        active[i] += own_jobs[i];
        if (i > 0) active[nodes[i].parent] += active[i];
    }
}

static struct siblings room_for_siblings(const struct ticket_node *nodes, uint32_t count, struct share_targets *t,
                                         struct arena *arena)
{
    struct siblings s = {.nodes = nodes, .t = t};
    s.of = arena_alloc(arena, count * sizeof *s.of);
    s.weigh = arena_alloc(arena, count * sizeof *s.weigh);
    s.cap = arena_alloc(arena, count * sizeof *s.cap);
    s.part_of_rest = arena_alloc(arena, count * sizeof *s.part_of_rest);
    s.records = arena_alloc(arena, count * sizeof *s.records);
    s.scratch = arena_alloc(arena, count * sizeof *s.scratch);
    return s;
}

void share_targets_compute(const struct ticket_rules *r, const struct ticket_node *nodes, uint32_t count,
                           const uint32_t *own_jobs, struct arena *arena, struct share_targets *out_targets)
{
    struct share_targets t = {
        .active = arena_alloc(arena, count * sizeof *t.active),
        .long_term = arena_alloc(arena, count * sizeof *t.long_term),
        .short_term = arena_alloc(arena, count * sizeof *t.short_term),
        .overall_long = arena_alloc(arena, count * sizeof *t.overall_long),
        .overall_short = arena_alloc(arena, count * sizeof *t.overall_short),
    };
    *out_targets = t;
    count_active(nodes, count, own_jobs, t.active);
    if (count == 0 || t.active[0] == 0) return;

    struct slices c = slice_children(nodes, count, arena);
    struct siblings s = room_for_siblings(nodes, count, &t, arena);
    t.long_term[0] = t.short_term[0] = t.overall_long[0] = t.overall_short[0] = 1.0;
    for (s.parent = 0; s.parent < count; s.parent++) {
        if (t.active[s.parent] == 0) continue;
        s.count = 0;
        for (uint32_t i = c.start[s.parent]; i < c.start[s.parent + 1]; i++) {
            if (t.active[c.children[i]] > 0) s.of[s.count++] = c.children[i];
        }
        if (s.count > 0) set_targets(&s, r);
    }
}

void share_targets(const struct ticket_rules *r, const struct ticket_node *nodes, uint32_t count,
                   const uint32_t *active_jobs, struct arena *arena, double *out_long_term, double *out_short_term)
{
    struct share_targets t;
    share_targets_compute(r, nodes, count, active_jobs, arena, &t);
    for (uint32_t i = 0; i < count; i++) {
        if (out_long_term != NULL) out_long_term[i] = t.long_term[i];
        if (out_short_term != NULL) out_short_term[i] = t.short_term[i];
    }
}
