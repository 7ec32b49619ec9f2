/* The order of the first jobs of the groups (pending.h), in the models multifactor and basic, at one time. What bounds
 * a group's place is kept from time to time (pending.heads), as long as nothing has changed that it depends on; so most
 * groups are passed over without a look at their jobs. Internal to the engine. */
#ifndef FAIRLEAD_ENGINE_PENDING_ORDER_H
#define FAIRLEAD_ENGINE_PENDING_ORDER_H

#include "engine/live_cluster.h"
#include "engine/pending.h"
#include "engine/ranking.h"

struct pending_order {
    struct state *s;
    struct live_cluster *cluster; /* up to date */
    int64_t now_us;
    /* Of the model multifactor. */
    const double *factors; /* by node of the tree */
    const struct multifactor_context *multifactor;
    struct tres_amount *amounts; /* of one job, TRES_MAX entries; NULL: TRES have no weights */
    struct multifactor_bound bound;
    double *tier_orders; /* by partition: what its tier counts; in memory of the caller's arena */
};

/* Fills bound and tier_orders, the others being set, and finds out which heads are still valid. After pending_update.
 * O(partitions). */
void pending_order_begin(struct pending_order *o, struct arena *arena);

/* The demand of a group's jobs in its partition. */
const struct demand *pending_order_demand(struct state *s, struct live_cluster *cluster, uint32_t group);

/* Makes a group's head and its pending_first anew. */
const struct pending_head *pending_order_make_head(const struct pending_order *o, uint32_t group);

/* The head of a group, kind NONE if there is no such group. O(1) if nothing has changed. */
static inline const struct pending_head *pending_order_head(const struct pending_order *o, uint32_t group)
{
    const struct pending *pending = o->s->pending;
    const struct pending_head *head = &pending->heads.items[group];
    return head->edition == pending->head_edition ? head : pending_order_make_head(o, group);
}

/* No job of the group has a higher order. Not with INCR_ONLY, because a minimum priority does not count. */
static inline double pending_order_max(const struct pending_order *o, const struct pending_head *head)
{
    double factor = head->node != NONE ? o->factors[head->node] : 0.0;
    return o->tier_orders[head->partition] +
           multifactor_priority_max(&o->bound, head->rest, o->now_us - head->since_us, factor);
}

/* Whether every job of the group is behind a job of the same partition with this priority and position. Cheaper than
 * the group's candidate, and exact but for a few groups that may be behind, too. Not with INCR_ONLY. Priorities are cut
 * off, so one whose bound is below priority + 2 is no higher than priority. */
static inline bool pending_order_is_behind(const struct pending_order *o, const struct pending_head *head,
                                           uint32_t priority, uint64_t position)
{
    const double rounding = 0.001;
    double factor = head->node != NONE ? o->factors[head->node] : 0.0;
    double max = multifactor_priority_max(&o->bound, head->rest, o->now_us - head->since_us, factor);
    if (max < priority) return true;
    return max < priority + 2.0 - rounding && head->position > position;
}

/* Describes an entry of a group, for its order. */
void pending_order_describe(const struct pending_order *o, uint32_t group, uint32_t at, struct pending_first *out);

/* The described entry as a candidate. The group's head is valid. */
struct queue_candidate pending_order_candidate(const struct pending_order *o, uint32_t group,
                                               const struct pending_first *first);

#endif
