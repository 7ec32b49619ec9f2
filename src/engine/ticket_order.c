#include "engine/ticket_order.h"

#include <math.h>

#include "base/ensure.h"
#include "base/sort.h"

/* Where the task of a candidate is, unless it is an entry: where its group's cursor is; or it is one that was not taken
 * from a divider, which is the candidate's group. */
enum { AT_CURSOR = NONE, AT_DIVIDER = NONE - 1 };

/* More than rounding can change in a sum of three terms, each of which is a weight or less. */
static const double MARGIN = 0x1p-40;

static bool has_tree(const struct ticket_order *o)
{
    return o->heads.has_tree;
}

static uint32_t entry_of(const struct ticket_order *o, uint32_t group)
{
    return o->heads.groups[group].first;
}

static uint32_t divider_of(const struct ticket_order *o, uint32_t group)
{
    uint32_t node = o->heads.snapshot.input.jobs[entry_of(o, group)].node;
    return node != NONE ? o->tree.divider[node] : NONE;
}

/* --- priorities --------------------------------------------------------------------------------------------------- */

static double norm_urgency(const struct ticket_order *o, uint32_t group, const struct queue_entry *job)
{
    const struct ticket_heads *h = &o->heads;
    double urgency = ticket_ranks_urgency(&h->snapshot, entry_of(o, group), job->since_us);
    return urgency_norm(urgency, h->urgencies.min, h->urgencies.max);
}

/* Puts the task at the group's cursor into the heap. Its tickets are known. */
static void push_cursor(struct ticket_order *o, uint32_t group)
{
    const struct ticket_heads *h = &o->heads;
    const struct ticket_order_group *g = &o->groups[group];
    const struct queue_entry *job = ticket_heads_job(h, group, g->cursor.at);
    double prior = urgency_prior(&h->snapshot.urgency, urgency_norm(g->tickets, 0.0, h->ranks.max_tickets),
                                 norm_urgency(o, group, job), h->ranks.norm_posix[entry_of(o, group)]);
    uint64_t position = (uint64_t)job->job << 32 | g->cursor.task;
    queue_push(&o->candidates, (struct queue_candidate){sort_key_double(prior), position, group, AT_CURSOR});
}

/* --- the share tree ----------------------------------------------------------------------------------------------- */

/* share_order_lines.next */
static bool next_of_line(void *data, uint32_t line, uint64_t *out_position)
{
    struct ticket_order *o = data;
    uint32_t group = o->heads.entries[line].group;
    struct ticket_order_group *g = &o->groups[group];
    if (g->has_source && g->source.at != NONE) g->source = ticket_heads_after(&o->heads, group, g->source);
    if (!g->has_source) g->source = o->heads.entries[line].cursor;
    g->has_source = true;
    if (g->source.at == NONE) return false;
    *out_position = (uint64_t)ticket_heads_job(&o->heads, group, g->source.at)->job << 32 | g->source.task;
    return true;
}

static bool make_tree(struct ticket_order *o)
{
    const struct ticket_heads *h = &o->heads;
    const struct ticket_input *in = &h->snapshot.input;
    uint32_t *nodes = arena_alloc_raw(&o->arena, (h->entry_count + (size_t)1) * sizeof *nodes);
    uint32_t *slots = arena_alloc_raw(&o->arena, (h->entry_count + (size_t)1) * sizeof *slots);
    for (uint32_t i = 0; i < h->entry_count; i++) {
        nodes[i] = in->jobs[i].node;
        slots[i] = in->jobs[i].slots;
    }
    o->dividers = arena_alloc(&o->arena, (in->node_count + (size_t)1) * sizeof *o->dividers);
    o->lines = (struct share_order_lines){h->entry_count, nodes, slots, o, next_of_line};
    struct ticket_input input = *in;
    input.rules = &h->snapshot.rules;
    return share_order_make(&o->tree, &input, &o->lines, in->node_jobs, h->running_slots, &o->arena);
}

/* The largest priority that a task can have that was not taken from a divider. Without one it is not in the heap. */
static void push_divider(struct ticket_order *o, uint32_t divider)
{
    const struct ticket_heads *h = &o->heads;
    const struct urgency_rules *r = &h->snapshot.urgency;
    const struct ticket_divider *d = &o->dividers[divider];
    if (d->group_count == 0 || share_order_is_done(&o->tree, divider)) return;
    double norm = urgency_norm(share_order_peek(&o->tree, divider), 0.0, h->ranks.max_tickets);
    double margin = MARGIN * (r->weight_ticket + r->weight_urgency + fabs(r->weight_priority));
    double max = r->weight_ticket * norm + d->other_max + margin;
    queue_push(&o->candidates, (struct queue_candidate){sort_key_double(max), 0, divider, AT_DIVIDER});
}

/* The tickets of the task at the group's cursor, if they are known. */
static bool take_tickets(struct ticket_order *o, struct ticket_order_group *g)
{
    if (g->first_taken == NONE) return false;
    g->tickets = o->taken.items[g->first_taken].tickets;
    g->first_taken = o->taken.items[g->first_taken].next;
    return true;
}

/* Takes the next task of a divider, and notes its tickets. */
static void advance_divider(struct ticket_order *o, uint32_t divider)
{
    uint32_t line, index = o->taken.count;
    double tickets;
    ensure(share_order_take(&o->tree, divider, &line, &tickets));
    uint32_t group = o->heads.entries[line].group;
    struct ticket_order_group *g = &o->groups[group];
    if (!g->takes_part) return;
    *array_add(&o->taken) = (struct ticket_taken){tickets, NONE};
    if (g->first_taken == NONE)
        g->first_taken = index;
    else
        o->taken.items[g->last_taken].next = index;
    g->last_taken = index;
    if (!g->waits) return;
    g->waits = !take_tickets(o, g);
    push_cursor(o, group);
}

/* The task at a group's cursor comes into the heap as soon as its tickets are known. A job without a node has none. */
static void place_cursor(struct ticket_order *o, uint32_t group)
{
    struct ticket_order_group *g = &o->groups[group];
    g->waits = divider_of(o, group) != NONE && !take_tickets(o, g);
    if (!g->waits) push_cursor(o, group);
}

static void offer_to_tree(struct ticket_order *o, uint32_t group)
{
    const struct ticket_heads *h = &o->heads;
    const struct urgency_rules *r = &h->snapshot.urgency;
    uint32_t divider = divider_of(o, group);
    place_cursor(o, group);
    if (divider == NONE) return;
    const struct queue_entry *job = ticket_heads_job(h, group, o->groups[group].cursor.at);
    double other =
        r->weight_urgency * norm_urgency(o, group, job) + r->weight_priority * h->ranks.norm_posix[entry_of(o, group)];
    struct ticket_divider *d = &o->dividers[divider];
    if (d->group_count++ == 0 || other > d->other_max) d->other_max = other;
}

/* --- groups ------------------------------------------------------------------------------------------------------- */

bool ticket_order_make(struct ticket_order *o, struct state *s, int64_t now_us)
{
    *o = (struct ticket_order){.advancing = NONE};
    ticket_heads_make(&o->heads, s, now_us);
    uint32_t count = s->pending->queue.groups.count;
    o->groups = arena_alloc(&o->arena, (count + (size_t)1) * sizeof *o->groups);
    return !has_tree(o) || make_tree(o);
}

void ticket_order_release(struct ticket_order *o)
{
    ticket_heads_release(&o->heads);
    array_release(&o->candidates.list);
    array_release(&o->taken);
    arena_release(&o->arena);
}

void ticket_order_offer(struct ticket_order *o, uint32_t group)
{
    const struct ticket_heads *h = &o->heads;
    const struct ticket_heads_group *ranked = &h->groups[group];
    struct ticket_order_group *g = &o->groups[group];
    if (ranked->count == 0) return;
    g->takes_part = true;
    g->cursor = ranked->last;
    g->first_taken = NONE;
    g->tickets = has_tree(o) ? 0.0 : h->ranks.tickets[ranked->first + ranked->count - 1].total;
    for (uint32_t i = ranked->first; !has_tree(o) && i < ranked->first + ranked->count; i++) {
        uint64_t position = (uint64_t)h->snapshot.input.jobs[i].id << 32 | h->entries[i].cursor.task;
        *array_add(&o->candidates.list) =
            (struct queue_candidate){sort_key_double(h->ranks.prior[i]), position, group, i};
    }
    if (has_tree(o)) offer_to_tree(o, group);
}

void ticket_order_begin(struct ticket_order *o)
{
    queue_order(&o->candidates);
    for (uint32_t i = 0; has_tree(o) && i < o->heads.snapshot.input.node_count; i++) push_divider(o, i);
}

void ticket_order_drop(struct ticket_order *o, uint32_t group)
{
    struct ticket_order_group *g = &o->groups[group];
    if (g->takes_part && has_tree(o) && divider_of(o, group) != NONE) o->dividers[divider_of(o, group)].group_count--;
    g->takes_part = false;
}

/* --- the order ---------------------------------------------------------------------------------------------------- */

static void advance_group(struct ticket_order *o, uint32_t group)
{
    struct ticket_order_group *g = &o->groups[group];
    if (!g->takes_part) return;
    g->cursor = ticket_heads_after(&o->heads, group, g->cursor);
    if (g->cursor.at == NONE && has_tree(o)) ticket_order_drop(o, group);
    if (g->cursor.at == NONE) return; /* other entries of the group may still be in the heap */
    if (has_tree(o))
        place_cursor(o, group);
    else
        push_cursor(o, group);
}

static void describe(struct ticket_order *o, const struct queue_candidate *c, struct ticket_next *out_next)
{
    const struct ticket_heads *h = &o->heads;
    const struct ticket_order_group *g = &o->groups[c->group];
    bool is_entry = c->at != AT_CURSOR;
    const struct ticket_cursor *cursor = is_entry ? &h->entries[c->at].cursor : &g->cursor;
    bool is_last_entry = is_entry && c->at == h->groups[c->group].first + h->groups[c->group].count - 1;
    if (!is_entry || is_last_entry) o->advancing = c->group;
    *out_next = (struct ticket_next){.group = c->group,
                                     .job_id = (uint32_t)(c->position >> 32),
                                     .is_last = cursor->task + 1 == cursor->task_count,
                                     .order = c->order,
                                     .tickets = is_entry ? h->ranks.tickets[c->at].total : g->tickets};
}

bool ticket_order_next(struct ticket_order *o, struct ticket_next *out_next)
{
    if (o->advancing != NONE) advance_group(o, o->advancing);
    o->advancing = NONE;
    while (o->candidates.list.count > 0) {
        const struct queue_candidate c = queue_pop(&o->candidates);
        if (c.at == AT_DIVIDER) {
            if (o->dividers[c.group].group_count > 0) advance_divider(o, c.group);
            push_divider(o, c.group);
        } else if (o->groups[c.group].takes_part) {
            describe(o, &c, out_next);
            return true;
        }
    }
    return false;
}
