/* Why a job waits, in the sentences that users of Grid Engine know, computed on demand for one job.
 *
 *     WAIT_IN_PASS    the `scheduling info` of `qstat -j`: first the queues that take no job now, then the job's own
 *         queue instance "all.q@n2" dropped because it is overloaded: np_load_avg=3.000000 (no load adjustment) >= 1.75
 *         queue instance "all.q@n1" dropped because it is full
 *         (-l license=4) cannot run globally because it offers only gc:license=0.000000
 *     WAIT_NOW        `qalter -w p`: as the cluster is now, whatever its load
 *         queue instance "all.q@n4" dropped because it is temporarily not available
 *         (-l gpu=9) cannot run at host "n3" because it offers only hc:gpu=2.000000
 *     WAIT_EMPTY      `qalter -w v`: on the empty cluster; drained and closed queues count, load values do not
 *         cannot run in queue "high.q" because it is not contained in its hard queue list (-q)
 *
 * An amount has its level before it (g global, h host, q queue) and its kind (c consumable, l load value, f fixed
 * value). What Grid Engine does not have (features, hosts that are only described) has sentences of its own. Source:
 * docs/formulas.md 10; Grid Engine 8.1.9, tests/conformance/grid-engine-reasons. */
#ifndef FAIRLEAD_ENGINE_WAIT_SENTENCES_H
#define FAIRLEAD_ENGINE_WAIT_SENTENCES_H

#include "engine/job_demand.h"

enum wait_question { WAIT_IN_PASS, WAIT_NOW, WAIT_EMPTY };

/* The cluster as the question sees it. */
struct wait_view {
    const struct state *s;
    struct cluster_model *m;     /* with the bookings of what runs, and of reservations; WAIT_EMPTY: without any */
    struct job_demands *demands; /* of the model */
    const struct load_rules *load;
    int64_t now_us;
    bool is_limited;   /* a limit of the tasks of its user or array keeps the job back */
    const char *tasks; /* which one: "maxujobs=2; 2 in use by 'ann'"; NULL: not said */
    const char *limit; /* the limit of its association or QOS that does; NULL: none */
};

struct wait_sentences {
    const char *const *items;
    uint32_t count;
    bool is_possible; /* the job could start: now (WAIT_IN_PASS, WAIT_NOW), or on the empty cluster (WAIT_EMPTY) */
    bool is_held;     /* by a user, so Grid Engine does not try; WAIT_NOW and WAIT_EMPTY answer all the same */
    bool is_dependent, is_early; /* it waits for other jobs; for its begin: only WAIT_IN_PASS counts them */
    uint32_t slots;              /* that it would get */
};

/* d: the job's demand in any of its partitions, of v->demands; WAIT_EMPTY: what lasts of it (engine/never_runs.h). A
 * job that could start has no sentences. They are in memory of arena, each without an id or a full stop. O(instances x
 * (partitions + needs)). */
void wait_sentences_make(const struct wait_view *v, const struct job *j, const struct demand *d,
                         enum wait_question question, struct arena *arena, struct wait_sentences *out);

#endif
