/* Limits of the hosts of a job, beside what it asks for: a maximum number (demand.host_max, in an environment), and
 * maximum numbers of hosts outside given sets (demand.host_limits).
 *
 *     offers    n1 2   n2 4   n3 3   n4 4      n1 is in the set; the job may have one host outside it
 *     kept      n1 2   n2 4                    in their order, for up to 6 slots
 *     kept      n1 2   n2 4                    by what they offer, where n3 or n4 would be no better
 *
 * Hosts are kept one after the other, as long as there is room. If the host sets are nested, as those of an account and
 * its user are, the order by offers is optimal; otherwise another choice may offer more. */
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
 * NONE: no such row. An empty table: `first` is not allowed. Rows are in memory of arena. O(hosts log hosts). */
struct host_table host_limit_keep(const struct host_table *t, const struct demand *d, enum host_limit_order order,
                                  uint32_t first, struct arena *arena);

#endif
