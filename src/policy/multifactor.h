/* Multifactor priority, as Slurm's priority/multifactor sums it:
 *
 *     priority = age + assoc + fair share + job size + partition + QOS + sum of TRES + site - nice
 *
 * each but the last two a factor times its weight, added in that order as doubles; below 1 it is 1 (0 is for held jobs),
 * then cut to a whole number, at most 2^32 - 1. A priority set by hand stands as it is, and its terms are all 0.
 * Source: docs/formulas.md 4; Slurm 22.05.8, cases prio-*. */
#ifndef FAIRLEAD_POLICY_MULTIFACTOR_H
#define FAIRLEAD_POLICY_MULTIFACTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/tres.h"

/* From settings (policy/policy.h). */
struct multifactor_rules {
    double weight_age, weight_assoc, weight_fair_share, weight_job_size, weight_partition, weight_qos;
    double weight_tres[TRES_MAX]; /* by index */
    bool has_tres_weights;        /* any of them is not 0 */
    int64_t max_age_s;            /* 0: every age is full; below 0: unlimited */
    bool favor_small;
    uint32_t flags; /* FLAG_* of policy_text.h */
};

/* A partition as the terms see it. */
struct multifactor_partition {
    uint32_t job_factor;
    int64_t max_time_s;   /* below 0: none */
    const double *totals; /* what the partition's hosts have, by index of TRES */
};

/* What is the same for all jobs of a pass. */
struct multifactor_cluster {
    int64_t now_us;
    uint32_t nodes, cpus;
    uint32_t assoc_priority_max, qos_priority_max, job_factor_max; /* of all there are */
    const struct multifactor_partition *partitions;
};

/* A job in one of its partitions. */
struct multifactor_job {
    uint32_t partition;
    uint32_t assoc_priority, qos_priority;
    uint32_t cpus, nodes; /* asked for; nodes at least 1 */
    int64_t time_limit_s; /* 0: the partition's */
    int64_t accrue_us;    /* since when it grows older; 0: it does not */
    int32_t nice, site;
    uint32_t set_priority; /* where is_set */
    bool is_set, is_held;
    double fair_share;
    struct tres_list tres; /* asked for, or allocated */
};

/* Factors before weighing; raw numbers where a NO_NORMAL_* flag says so. */
struct multifactor_factors {
    double age, assoc, fair_share, job_size, partition, qos;
};

/* Weighted, in the order they are added; tres is their sum. */
struct multifactor_terms {
    double age, assoc, fair_share, job_size, partition, qos, tres, site, nice; /* nice is what is taken away */
    double sum;
    uint32_t priority;
};

void multifactor_factors(const struct multifactor_rules *r, const struct multifactor_cluster *c,
                         const struct multifactor_job *j, struct multifactor_factors *out_factors);

/* One TRES' factor and term for a job: value / the partition's total, 0 when that is 0; the raw count with NO_NORMAL_TRES. */
double multifactor_tres_factor(const struct multifactor_rules *r, const struct multifactor_cluster *c,
                               const struct multifactor_job *j, const struct tres_amount *a);

/* All terms and the priority of one job. */
void multifactor_terms(const struct multifactor_rules *r, const struct multifactor_cluster *c,
                       const struct multifactor_job *j, struct multifactor_terms *out_terms);

/* Priorities of count jobs. The same numbers as multifactor_terms gives. */
void multifactor_priorities(const struct multifactor_rules *r, const struct multifactor_cluster *c,
                            const struct multifactor_job *jobs, uint32_t count, uint32_t *out_priority);

/* First come, first served: the priority Slurm's priority/basic gives the job at that place (0 is first). */
uint32_t multifactor_basic_priority(uint64_t place, int32_t nice);

#endif
