/* A cluster that is not there, as a JSON document: its hosts, and what happens to them over time.
 *
 *     {"hosts":    [{"name": "n[001-500]", "cpus": 16, "mem": "64G", "gpus": 2, "features": "avx"}],
 *      "failures": [{"hosts": "n[003,017]", "at": "1:00:00", "for": "0:30:00"}],
 *      "loads":    [{"hosts": "n[001-100]", "at": "8:00:00", "np_load_avg": 0.9, "mem_used": "20G"}],
 *      "period":   "24:00:00",
 *      "run_time": {"of_limit": 0.5, "spread": 0.2},
 *      "fail_percent": 1,
 *      "seed": 1}
 *
 * Only `hosts` is required. Times count from the first start of the instance; with a period, failures and loads repeat.
 * The document is strictly read: an error has the path of the value and what is accepted. docs/pretend.md describes
 * it. */
#ifndef FAIRLEAD_PRETEND_PRETEND_CLUSTER_H
#define FAIRLEAD_PRETEND_PRETEND_CLUSTER_H

#include "base/arena.h"
#include "base/array.h"
#include "base/err.h"
#include "base/map.h"
#include "base/str.h"

enum { PRETEND_HOSTS_MAX = 10000, PRETEND_STEPS_MAX = 1000000, PRETEND_SPEED_MAX = 10000 };

struct pretend_host {
    const char *name, *features; /* features NULL: none */
    uint32_t cpus, gpus;
    uint64_t mem_mib;
};

/* What other work there is on a host. */
struct pretend_load {
    double load_avg;       /* for each CPU */
    uint64_t mem_used_mib; /* at most what the host has */
};

/* What changes at a time. */
enum pretend_step_kind { PRETEND_STEP_UP, PRETEND_STEP_DOWN, PRETEND_STEP_LOAD };
struct pretend_step {
    int64_t at_us; /* from the first start, or from the begin of a period */
    uint32_t host; /* index */
    enum pretend_step_kind kind;
    struct pretend_load load; /* of PRETEND_STEP_LOAD */
};

/* How long jobs run that do not say it, and how many fail. */
struct pretend_rules {
    double of_limit;     /* the mean, as a part of the time limit; 0 to 1 */
    double spread;       /* the largest deviation from it, as a part of it; 0 to 1 */
    double fail_percent; /* of all jobs, 0 to 100 */
    uint64_t seed;
};

/* All zero is empty. Texts are in memory of arena. */
struct pretend_cluster {
    struct arena arena;
    ARRAY(struct pretend_host) hosts;
    struct map host_by_name;          /* to its index in hosts */
    ARRAY(struct pretend_step) steps; /* by at_us, then by host; at one time a host comes up before it goes down */
    int64_t period_us;                /* 0: nothing repeats */
    struct pretend_rules rules;
};

/* Reads a document. name: that of the file, for errors. ERR_INPUT begins with it; out_cluster is then released.
 * O(text + hosts + steps * log steps). */
int pretend_cluster_read(struct str text, const char *name, struct pretend_cluster *out_cluster, struct err *e);

/* Frees it; it is empty then. */
void pretend_cluster_release(struct pretend_cluster *c);

#endif
