/* Which hosts a job gets that asks for a number of them, and how many slots on each.
 *
 *     hosts in order, with what they offer      n1 2   n2 1   n3 4   n4 4
 *     4 slots on 2 hosts                        n1 2   n3 2             n1 and n2 have 3
 *     4 slots on 2 to 4 hosts                   n1 2   n3 2
 *     4 slots on 3 hosts                        n1 2   n2 1   n3 1
 *     4 slots on 4 hosts                        n1 1   n2 1   n3 1   n4 1
 *     2 on each of 3 hosts                      n1 2   n3 2   n4 2
 *
 * It gets the largest number of slots that fits, on as few hosts as they need; of the sets of so many hosts the one
 * with the first hosts; and as many slots on each as the later ones leave, which get one at least: Slurm's block
 * distribution. Source: docs/formulas.md 7.2. */
#ifndef FAIRLEAD_SCHED_SPREAD_H
#define FAIRLEAD_SCHED_SPREAD_H

#include "base/arena.h"
#include "sched/demand.h"

/* A host with what it offers, and what it is given. */
struct host_slots {
    uint32_t host, offered, given;
    uint32_t master; /* its instance for the first slot; NONE: any, or it does not get that slot */
};

/* Hosts that offer something, in the order in which they are taken. */
struct host_table {
    struct host_slots *rows;
    uint32_t count;
};

/* 0 slots: the job does not fit. */
struct spread {
    uint32_t slots, hosts;
};

/* What the job gets of the hosts, at most max slots. O(hosts log hosts), as is spread_from. */
struct spread spread_over(const struct host_table *t, const struct demand *d, uint32_t max, struct arena *arena);

/* The same, with a host that has the first slot: the first one with which the job gets most slots on fewest hosts.
 * offered: by row, what the host offers with that slot; 0: it cannot have it. */
struct spread spread_from(const struct host_table *t, const uint32_t *offered, const struct demand *d, uint32_t max,
                          struct arena *arena, uint32_t *out_first);

/* Gives what was found. needs_first: the first row has the first slot. */
void spread_give(struct host_table *t, const struct demand *d, struct spread spread, bool needs_first,
                 struct arena *arena);

#endif
