#include "engine/pending_order.h"

#include "engine/min_priority.h"

static uint32_t tier_of(const struct state *s, uint32_t partition)
{
    return (uint32_t)s->objects[OBJECT_PARTITION].items[partition].object.value[PARTITION_TIER].number;
}

/* A tier counts 2^32. */
void pending_order_begin(struct pending_order *o, struct arena *arena)
{
    struct state *s = o->s;
    uint32_t partition_count = s->objects[OBJECT_PARTITION].count;
    uint64_t source = (uint64_t)s->rules_edition + s->tree_builds + s->host_edition + o->cluster->made;
    multifactor_bound_make(&s->policy.multifactor, &o->bound);
    o->tier_orders = arena_alloc(arena, partition_count * sizeof *o->tier_orders);
    for (uint32_t i = 0; i < partition_count; i++) o->tier_orders[i] = (double)sort_key_priority(tier_of(s, i), 0);
    if (s->pending->head_source == source && s->pending->head_edition != 0) return;
    s->pending->head_source = source;
    s->pending->head_edition++;
}

const struct demand *pending_order_demand(struct state *s, struct live_cluster *cluster, uint32_t group)
{
    struct pending_group *g = &s->pending->groups.items[group];
    if (g->demand_made == cluster->made) return g->demand;
    uint32_t at = queue_next(&s->pending->queue, group, 0);
    const struct job *j = pending_entry_job(s, &s->pending->queue.groups.items[group].entries.items[at]);
    g->demand = job_demand(&cluster->demands, j, g->partition);
    g->demand_made = cluster->made;
    return g->demand;
}

static void set_terms(const struct pending_order *o, const struct pending_group *g, const struct job *j,
                      struct pending_first *first)
{
    struct multifactor_job input;
    multifactor_context_job(o->multifactor, j, g->partition, o->amounts, &input);
    multifactor_terms(&o->s->policy.multifactor, &o->multifactor->cluster, &input, &first->terms);
    first->priority = j->set_priority;
}

void pending_order_describe(const struct pending_order *o, uint32_t group, uint32_t at, struct pending_first *out)
{
    const struct state *s = o->s;
    const struct pending_group *g = &s->pending->groups.items[group];
    const struct queue_entry *entry = &s->pending->queue.groups.items[group].entries.items[at];
    const struct job *j = pending_entry_job(s, entry);
    bool is_always = (s->policy.multifactor.flags & FLAG_ACCRUE_ALWAYS) != 0;
    *out = (struct pending_first){
        .at = at, .position = entry->position << 32 | g->place, .since_us = is_always ? j->submit_us : j->accrue_us};
    if (s->policy.model == MODEL_BASIC)
        out->priority = job_basic_priority(j);
    else
        set_terms(o, g, j, out);
}

/* What bounds the order of a group's jobs, from the first one. */
static void describe_head(const struct pending_order *o, uint32_t group, struct pending_head *head)
{
    struct state *s = o->s;
    const struct pending_group *g = &s->pending->groups.items[group];
    const struct demand *d = pending_order_demand(s, o->cluster, group);
    struct pending_first *first = &s->pending->firsts.items[group];
    pending_order_describe(o, group, queue_next(&s->pending->queue, group, 0), first);
    bool is_computed = first->priority == NONE;
    *head = (struct pending_head){.edition = s->pending->head_edition,
                                  .kind = demand_bare_kind(d),
                                  .duration_us = demand_shortest_us(d),
                                  .node = NONE,
                                  .partition = g->partition,
                                  .since_us = is_computed && first->since_us != 0 ? first->since_us : INT64_MAX,
                                  .rest = is_computed ? multifactor_rest(&first->terms) : first->priority,
                                  .position = first->position};
    if (s->policy.model != MODEL_BASIC)
        head->node = s->node_of.items[state_assoc_in_partition(s, g->assoc, g->partition)];
}

const struct pending_head *pending_order_make_head(const struct pending_order *o, uint32_t group)
{
    struct pending *pending = o->s->pending;
    struct pending_head *head = &pending->heads.items[group];
    if (pending->queue.groups.items[group].key == NULL)
        *head = (struct pending_head){.edition = pending->head_edition, .kind = NONE};
    else
        describe_head(o, group, head);
    return head;
}

/* A time in the future does not count yet. */
static uint32_t priority_of(const struct pending_order *o, uint32_t node, const struct pending_first *first)
{
    const struct multifactor_rules *rules = &o->s->policy.multifactor;
    bool is_future = first->since_us > o->now_us && (rules->flags & FLAG_ACCRUE_ALWAYS) == 0;
    if (first->priority != NONE) return first->priority; /* in priority/basic there are no factors */
    double factor = node != NONE ? o->factors[node] : 0.0;
    return multifactor_priority_of(rules, &first->terms, o->now_us, is_future ? 0 : first->since_us, factor);
}

/* With INCR_ONLY a job has a minimum priority. */
static uint32_t raise(const struct pending_order *o, uint32_t group, uint32_t at, uint32_t priority)
{
    const struct state *s = o->s;
    if (s->pending->are_alike) return priority;
    const struct queue_entry *entry = &s->pending->queue.groups.items[group].entries.items[at];
    return min_priority_bound(s, pending_entry_job(s, entry), s->pending->groups.items[group].partition, priority);
}

struct queue_candidate pending_order_candidate(const struct pending_order *o, uint32_t group,
                                               const struct pending_first *first)
{
    const struct pending_head *head = &o->s->pending->heads.items[group];
    uint32_t priority = raise(o, group, first->at, priority_of(o, head->node, first));
    return (struct queue_candidate){sort_key_priority(tier_of(o->s, head->partition), priority), first->position, group,
                                    first->at};
}
