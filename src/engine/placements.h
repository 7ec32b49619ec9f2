/* What tasks have on hosts (struct placement): taken when they start, given back when they end, and as the texts of the
 * fields that rows have:
 *
 *     hosts      cpu_ids    gpu_ids    host_mem_mib
 *     n1         0-3                   (one host: the task's memory)
 *     n1,n2      0-3;0-1    0;         4096;2048 */
#ifndef FAIRLEAD_ENGINE_PLACEMENTS_H
#define FAIRLEAD_ENGINE_PLACEMENTS_H

#include "engine/state.h"
#include "fields/job_fields.h"

/* Takes what a task gets on a host (by index), where it is free. */
void placements_take(struct state *s, uint32_t host, const struct capacity *granted, struct placement *out);

/* The hosts of a task (by index), each once, in the order in which they come first. out: placement_count entries; NULL:
 * only their number is wanted, which is returned. O(placements x ranges of hosts). */
uint32_t placements_list_hosts(const struct task *k, uint32_t *out);

/* Adds a host to those that were seen. Returns whether it is a new one. */
bool placements_add_host(struct idset *seen, uint32_t host);

/* Gives back what a task has on all of its hosts. */
void placements_give_back(struct state *s, const struct task *k);

/* Frees the memory of a task's placements. */
void placements_release(struct task *k);

/* Sets what hosts have, as reported and as settings and objects say instead, and takes again what live tasks have. Does
 * nothing in a document. O(hosts + tasks). */
void placements_rebuild(struct state *s);

/* Whether a live task is on a host (by index). O(tasks). */
bool placements_use_host(const struct state *s, uint32_t host);

/* The value of one of the fields above, in memory of arena. */
struct field_value placements_value(const struct state *s, const struct task *k, enum job_field f, struct arena *arena);

/* Sets one of the fields in a row that is being built; the hosts come first. ERR_NOT_FOUND, ERR_INPUT. */
int placements_set(const struct state *s, struct task *row, enum job_field f, const struct field_value *value,
                   struct err *e);

#endif
