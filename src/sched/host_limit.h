/* Limits of the hosts of a job, beside what it asks for: so many at most (demand.host_max, in an environment), and of
 * those that are not among some hosts so many at most (demand.host_limits).
 *
 *     offers    n1 2   n2 4   n3 3   n4 4      n1 is among the hosts, of the others the job may have one
 *     kept      n1 2   n2 4                    in their order, for up to 6 slots
 *     kept      n1 2   n2 4                    by what they offer, where n3 or n4 would be no better
 *
 * Hosts are kept one after the other, as long as there is room. If of each two of the sets of hosts one has the other,
 * as those of an account and its user have, no other choice offers more than that by offers; else another one may. */
#ifndef FAIRLEAD_SCHED_HOST_LIMIT_H
#define FAIRLEAD_SCHED_HOST_LIMIT_H

#include "sched/cluster.h"
#include "sched/spread.h"

/* The order in which hosts are kept. */
enum host_limit_order { HOST_LIMIT_BY_ORDER, HOST_LIMIT_BY_OFFER };

/* Whether the demand limits its hosts otherwise than by what it asks for. */
bool host_limit_is_set(const struct demand *d);

/* Whether an allocation keeps to the limits. The parts on a host are adjacent. */
bool host_limit_allows(const struct cluster *c, const struct demand *d, const struct allocation *a);

/* The rows that the job may have all together, in their order. first: a row that has to be among them; it comes first;
 * NONE: no such row. A table without rows: that one may not. Rows are in memory of arena. O(hosts log hosts). */
struct host_table host_limit_keep(const struct host_table *t, const struct demand *d, enum host_limit_order order,
                                  uint32_t first, struct arena *arena);

#endif
