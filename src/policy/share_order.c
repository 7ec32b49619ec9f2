#include "policy/share_order.h"

#include "base/ensure.h"

/* With smaller targets or more slots, two values in a row could be equal. */
static const double TARGET_MIN = 1e-200;
enum { SLOTS_MAX = 1 << 20 };

static bool is_leaf(const struct share_order *o, uint32_t node)
{
    return o->own[node] > 0;
}

/* --- heaps -------------------------------------------------------------------------------------------------------- */

static bool is_before(const struct share_order_item *a, const struct share_order_item *b)
{
    return a->value != b->value ? a->value > b->value : a->position < b->position;
}

/* Puts an item in place of the first one. */
static void replace_first(struct share_order_node *n, struct share_order_item item)
{
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < n->count; at = child) {
        if (child + 1 < n->count && is_before(&n->heap[child + 1], &n->heap[child])) child++;
        if (!is_before(&n->heap[child], &item)) break;
        n->heap[at] = n->heap[child];
    }
    n->heap[at] = item;
}

static void remove_first(struct share_order_node *n)
{
    n->count--;
    if (n->count > 0) replace_first(n, n->heap[n->count]);
}

static void push(struct share_order_node *n, struct share_order_item item)
{
    uint32_t at = n->count++;
    for (; at > 0 && is_before(&item, &n->heap[(at - 1) / 2]); at = (at - 1) / 2) n->heap[at] = n->heap[(at - 1) / 2];
    n->heap[at] = item;
}

/* --- the next job ------------------------------------------------------------------------------------------------- */

static double part_of(const struct share_order *o, uint32_t node)
{
    return o->targets.short_term[node] / o->state[node].divisor;
}

static bool take(struct share_order *o, uint32_t node, struct share_order_item *out_item)
{
    struct share_order_node *n = &o->state[node];
    if (n->count == 0) return false;
    struct share_order_item first = n->heap[0], next = first;
    bool has_next =
        is_leaf(o, node) ? o->lines->next(o->lines->data, first.line, &next.position) : take(o, first.child, &next);
    next.child = first.child;
    if (has_next)
        replace_first(n, next);
    else
        remove_first(n);
    first.value = part_of(o, node) * o->pool;
    n->divisor += o->lines->slots[first.line];
    *out_item = first;
    return true;
}

bool share_order_is_done(const struct share_order *o, uint32_t divider)
{
    return o->state[divider].count == 0;
}

double share_order_peek(const struct share_order *o, uint32_t divider)
{
    return part_of(o, divider) * o->pool;
}

bool share_order_take(struct share_order *o, uint32_t divider, uint32_t *out_line, double *out_tickets)
{
    struct share_order_item item;
    if (!take(o, divider, &item)) return false;
    *out_line = item.line;
    *out_tickets = item.value;
    return true;
}

/* --- the tree ----------------------------------------------------------------------------------------------------- */

static bool is_merged(const struct share_order *o, uint32_t node, uint32_t top)
{
    return node > top && o->nodes[node].parent != top && !is_leaf(o, node);
}

/* Whether the values of the jobs fall below each node whose order is merged with others: its target is above 0, or all
 * targets below it are 0, as without shares, and the jobs are in the order of positions. A node that serves jobs may
 * have no other jobs below it. */
static bool has_falling_values(const struct share_order *o, const struct ticket_input *in, uint32_t top)
{
    for (uint32_t i = 0; i < in->node_count; i++) {
        double target = o->targets.short_term[i];
        uint32_t parent = in->nodes[i].parent;
        if (o->targets.active_count[i] == 0) continue;
        if (o->own[i] > 0 && o->own[i] != o->targets.active_count[i]) return false;
        if (is_merged(o, i, top) && target > 0.0 && !(target * o->pool > TARGET_MIN)) return false;
        bool is_below_none = i > top && is_merged(o, parent, top) && !(o->targets.short_term[parent] > 0.0);
        if (is_below_none && target > 0.0) return false;
    }
    for (uint32_t i = 0; i < o->lines->count; i++) {
        if (o->lines->slots[i] < 1 || o->lines->slots[i] > SLOTS_MAX) return false;
    }
    return true;
}

static void set_dividers(struct share_order *o, const struct ticket_input *in, uint32_t top, struct arena *arena)
{
    o->divider = arena_alloc(arena, in->node_count * sizeof *o->divider);
    for (uint32_t i = 0; i < in->node_count; i++) {
        bool is_child = i > 0 && in->nodes[i].parent == top;
        o->divider[i] = i < top ? NONE : i == top || is_child ? i : o->divider[in->nodes[i].parent];
    }
}

/* Room for the heaps: of a leaf for its lines, of another node for its children. */
static void lay_out(struct share_order *o, const struct ticket_input *in, const double *running_slots,
                    struct arena *arena)
{
    uint32_t *room = arena_alloc(arena, in->node_count * sizeof *room);
    o->state = arena_alloc(arena, in->node_count * sizeof *o->state);
    for (uint32_t i = 0; i < o->lines->count; i++) {
        if (o->lines->node[i] != NONE) room[o->lines->node[i]]++;
    }
    for (uint32_t i = 1; i < in->node_count; i++) room[in->nodes[i].parent]++;
    struct share_order_item *items = arena_alloc_raw(arena, (o->lines->count + (size_t)in->node_count) * sizeof *items);
    for (uint32_t i = 0; i < in->node_count; i++) {
        o->state[i] = (struct share_order_node){.heap = items, .divisor = running_slots[i]};
        items += room[i];
    }
    for (uint32_t i = in->node_count; i-- > 1;) o->state[in->nodes[i].parent].divisor += o->state[i].divisor;
    for (uint32_t i = 0; i < in->node_count; i++) o->state[i].divisor += 1.0;
}

/* Children come after their parents. */
static void fill_heaps(struct share_order *o, const struct ticket_input *in, uint32_t top)
{
    struct share_order_item item = {0};
    for (uint32_t i = 0; i < o->lines->count; i++) {
        item.line = i;
        uint32_t node = o->lines->node[i];
        if (node != NONE && o->lines->next(o->lines->data, i, &item.position)) push(&o->state[node], item);
    }
    for (uint32_t i = in->node_count; i-- > top + 1;) {
        if (o->divider[i] == i || o->divider[i] == NONE || !take(o, i, &item)) continue;
        item.child = i;
        push(&o->state[in->nodes[i].parent], item);
    }
}

bool share_order_make(struct share_order *o, const struct ticket_input *in, const struct share_order_lines *lines,
                      const uint32_t *own, const double *running_slots, struct arena *arena)
{
    *o = (struct share_order){.lines = lines, .nodes = in->nodes, .own = own, .pool = in->rules->share_pool};
    share_targets_compute(in->rules, in->nodes, in->node_count, own, arena, &o->targets);
    uint32_t top = share_targets_top(in->nodes, in->node_count, own, &o->targets);
    if (!has_falling_values(o, in, top)) return false;
    set_dividers(o, in, top, arena);
    lay_out(o, in, running_slots, arena);
    fill_heaps(o, in, top);
    return true;
}
