/* The load values that a host reports, as offers of the scheduler's host (sched/cluster.h): scaled, and those for each
 * processor computed.
 *
 *     reported  load_avg=0.90 num_proc=4 mem_free=2G      load_scaling  load_avg=0.5
 *     offers    np_load_avg=0.225 load_avg=0.45 mem_free=2147483648 num_proc=4
 *
 * A value that an administrator has set for the host stays. Source: docs/formulas.md 8; Grid Engine 8.1.9, case g4. */
#ifndef FAIRLEAD_ENGINE_HOST_LOADS_H
#define FAIRLEAD_ENGINE_HOST_LOADS_H

#include "engine/cluster_resources.h"

/* What is the same at each report of a host. */
struct host_load_rules {
    const struct cluster_resources *resources;
    const struct object *host;
    bool is_strict;       /* of a document: a value that is not one of a resource is an error, else it is left out */
    uint32_t given_count; /* the first offers of the host, which an administrator has set */
};

/* Adds them to the host's offers and sets host->cpus, which is unchanged if num_proc is not reported. ERR_INPUT: the
 * scaling is not one; if strict, also a value. The texts of offers are those of the row. */
int host_loads_offer(const struct host_load_rules *rules, const struct host_row *row, struct sched_host *host,
                     struct err *e);

/* Checks that what is scaled is a resource whose amounts are numbers. ERR_INPUT names it. A scaling that is stored may
 * name others, which count nowhere. */
int host_loads_check_scaling(const struct cluster_resources *resources, const char *text, struct err *e);

/* The load values of each processor, whose names are those of the load values after "np_". */
enum { LOADS_PER_PROCESSOR = 4, PER_PROCESSOR_PREFIX = 3 };
extern const char *const host_loads_per_processor[LOADS_PER_PROCESSOR];

/* The number of processors by which loads are divided: num_proc, or what the host has. value: of num_proc; NULL: it is
 * not reported. Returns false if it is no such number. */
bool host_loads_processors(const char *value, uint32_t cpus, uint32_t *out);

/* Replaces the values of a host that has offers of its last report, and leaves what is booked. False, with nothing
 * changed: it reports other resources than before. Not strict. */
bool host_loads_refresh(const struct host_load_rules *rules, const struct host_row *row, struct sched_host *host);

#endif
