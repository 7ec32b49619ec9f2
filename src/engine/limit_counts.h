/* What limits count, kept up to date from event to event: for each association (with all below it) and each QOS, and
 * for each user and each account of a QOS,
 *
 *     submitted     tasks waiting and running
 *     jobs          tasks that have places: STARTING, RUNNING and COMPLETING
 *     used          their TRES in whole units; nodes are distinct hosts, billing is cut off for each task
 *     reserved      their TRES x usage factor x the time until their time limit, which falls with time
 *
 * They follow the rows lazily: a change of a row records its id, and the next limit_counts_update applies the changes.
 * Sums are of whole numbers, or of numbers of fixed point, so that what was added is taken back exactly.
 * Derived from the rows, never stored. Source: docs/formulas.md 9. */
#ifndef FAIRLEAD_ENGINE_LIMIT_COUNTS_H
#define FAIRLEAD_ENGINE_LIMIT_COUNTS_H

#include "base/time_heap.h"
#include "engine/limit_table.h"
#include "engine/ranking.h"

__extension__ typedef __int128 limit_sum;

struct limit_amount {
    double used;
    limit_sum rate, rate_end; /* sums of rates, and of rates x ends, in fixed point (limit_counts.c) */
};

/* The counts of one association, QOS, or user or account of a QOS. */
struct limit_counter {
    uint64_t submitted;
    uint32_t jobs;
    uint32_t decrease_count;      /* counts the times when something became less */
    uint32_t host_edition;        /* counts the changes of its set of hosts */
    struct limit_amount *amounts; /* by index of policy.tres; NULL: all 0 */
};

/* A task that has places. */
struct limit_live {
    uint64_t launch_id;
    uint32_t assoc, qos, partition_qos; /* partition_qos NONE: none, or the same */
    int64_t end_us;                     /* of its time limit */
    bool has_reserve;                   /* its time limit has not passed */
    double usage_factor;
    struct tres_list tres;
    uint32_t *hosts;
    uint32_t host_count;
};

/* The waiting tasks of a job. They count for the QOS of each of its partitions, as far as it is not the job's own. */
struct limit_waiting {
    uint32_t job_id, assoc, qos;
    uint32_t tasks;
    uint32_t *partition_qos; /* each once; NULL: none */
    uint32_t partition_qos_count;
};

struct limit_counts {
    ARRAY(struct limit_counter) counters;
    ARRAY(uint32_t) of_assoc, of_qos; /* counters; NONE: not needed yet */
    struct map of_pair;               /* "u<1f>QOS index<1f>user" or "a<1f>..." -> counter */
    struct map hosts;                 /* of a counter and a host: number of tasks */
    ARRAY(struct limit_live) live;
    ARRAY(struct limit_waiting) waiting;
    struct map live_of_launch, waiting_of_job;
    ARRAY(uint32_t) unused_live, unused_waiting;
    struct time_heap ends;
    ARRAY(uint64_t) touched_launches;
    ARRAY(uint32_t) touched_jobs;
    struct arena arena;               /* keys of pairs, amounts */
    int64_t base_us;                  /* ends count from here */
    ARRAY(uint32_t) qos_of_partition; /* as of the rules */
    uint32_t tres_count, move_edition, rules_edition;
    uint32_t rebuild_count; /* the numbers of the counters, and how often they fell, are those of one rebuild */
    bool is_valid;
};

/* Records that a row is new or has changed. O(1). */
void limit_counts_touch_job(struct state *s, uint32_t job_id);
void limit_counts_touch_task(struct state *s, uint64_t launch_id);

/* Brings the counts up to now. O(changed rows x depth of the tree); O(rows) the first time, and after an account was
 * moved, a partition got another QOS, or the tracked TRES were changed. */
struct limit_counts *limit_counts_update(struct state *s, int64_t now_us);

/* The counter of an association, of a QOS, and of a user or account of a QOS. NULL: it has counted nothing. */
const struct limit_counter *limit_counts_of_assoc(const struct limit_counts *c, uint32_t assoc);
const struct limit_counter *limit_counts_of_qos(const struct limit_counts *c, uint32_t qos);
const struct limit_counter *limit_counts_of_user(const struct limit_counts *c, uint32_t qos, const char *user);
const struct limit_counter *limit_counts_of_account(const struct limit_counts *c, uint32_t qos, const char *account);

/* Readers; the counter may be NULL. Reserved in TRES-seconds. */
double limit_counter_used(const struct limit_counter *k, uint32_t tres);
double limit_counter_reserved(const struct limit_counts *c, const struct limit_counter *k, uint32_t tres,
                              int64_t now_us);

/* Whether a counter has tasks on a host. */
bool limit_counter_has_host(const struct limit_counts *c, const struct limit_counter *k, uint32_t host);

/* A task that a plan would start: counts like one that has started, until it is taken back. live: its launch_id is not
 * used, and its lists are copied. Returns a number for limit_counts_unplan. */
uint32_t limit_counts_plan(struct state *s, struct limit_counts *c, const struct limit_live *live, int64_t now_us);
void limit_counts_unplan(struct state *s, struct limit_counts *c, uint32_t planned);

/* The next update rebuilds the counts. */
void limit_counts_invalidate(struct state *s);
void limit_counts_free(struct limit_counts *c); /* NULL is allowed */

#endif
