/* Lists of queues on hosts, as jobs name them. Each item is a pattern:
 *
 *     all.q         the partition all.q on each of its hosts
 *     all.q@n1      on the host n1
 *     *@n2          every partition on n2
 *     all.q@@big    on the hosts of the group big
 */
#ifndef FAIRLEAD_ENGINE_QUEUE_LIST_H
#define FAIRLEAD_ENGINE_QUEUE_LIST_H

#include "engine/cluster_model.h"

/* Whether an item of the list is for the instance of the model's cluster. */
bool queue_list_has(const struct state *s, const struct cluster_model *m, const char *list, uint32_t instance);

/* The partitions that an item is for, on whatever hosts, in their order. out_partitions: room for all. Returns their
 * number. */
uint32_t queue_list_partitions(const struct state *s, const char *list, uint32_t *out_partitions);

/* ERR_INPUT names the field and an item that matches no partition, no host or no group. */
int queue_list_check(const struct state *s, const char *list, const char *field, struct err *e);

#endif
