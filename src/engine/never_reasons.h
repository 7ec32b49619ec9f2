/* Why jobs of a schedule can never run. A cause is found once for all jobs of a kind of demands, except where a
 * partition is closed to a job: then it depends on its user, account, QOS and sizes, too. Each text is stored once. */
#ifndef FAIRLEAD_ENGINE_NEVER_REASONS_H
#define FAIRLEAD_ENGINE_NEVER_REASONS_H

#include "engine/never_runs.h"

/* Of the jobs of a kind of demands. */
struct kind_reason {
    bool is_known, is_never;
    bool is_of_partitions; /* the reason depends on more than the kind */
    const char *reason;    /* of all jobs of the kind */
    bool is_quota_known;
    const char *quota; /* that it exceeds by itself; NULL: none */
};

struct never_reasons {
    struct never_runs never;
    const struct job_demands *demands;
    struct arena *arena; /* of the reasons */
    struct arena scratch;
    ARRAY(struct kind_reason) kinds;
    ARRAY(const char *) reasons;
    struct map by_text; /* -> index of reasons */
    struct buf text;
};

/* The demands and the arena live as long; the reasons as long as the arena. */
void never_reasons_begin(struct never_reasons *r, const struct job_demands *demands, struct arena *arena);
void never_reasons_end(struct never_reasons *r);

/* "can never run: asks for 96 slots on one host; the largest has 64"; NULL: the job could run. d: its demand, in any of
 * its partitions. O(partitions) where the reason is known. */
const char *never_reasons_of(struct never_reasons *r, const struct job *j, const struct demand *d);

/* The same for resource quotas: "can never run: it exceeds limit ..."; NULL: each has room when nothing runs. O(1)
 * where the answer for the kind of demands is known, else that of quota_usage_lasts. */
const char *never_reasons_of_quotas(struct never_reasons *r, const struct demand *d);

#endif
