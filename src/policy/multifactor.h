/* Multifactor priority, summed as in Slurm's priority/multifactor:
 *
 *     priority = age + assoc + fair share + job size + partition + QOS + sum of TRES + site - nice
 *
 * Each term except the last two is a factor times its weight. The terms are added in that order, as doubles. A sum
 * below 1 becomes 1 (0 is for held jobs); the result is truncated to a whole number of at most 2^32 - 1. A priority
 * that an operator has set is used unchanged, and its terms are all 0. Source: docs/formulas.md 4; Slurm 22.05.8, cases
 * prio-*. */
#ifndef FAIRLEAD_POLICY_MULTIFACTOR_H
#define FAIRLEAD_POLICY_MULTIFACTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/tres.h"

/* Filled from the settings (policy/policy.h). */
struct multifactor_rules {
    double weight_age, weight_assoc, weight_fair_share, weight_job_size, weight_partition, weight_qos;
    double weight_tres[TRES_MAX]; /* by index */
    bool has_tres_weights;        /* one of them is not 0 */
    int64_t max_age_s;            /* 0: every age factor is 1; below 0: unlimited, every age factor is 0 */
    bool favor_small;
    uint32_t flags; /* FLAG_* of setting_text.h */
};

/* The properties of a partition that the terms depend on. */
struct multifactor_partition {
    uint32_t job_factor;
    int64_t max_time_s;   /* below 0: none */
    const double *totals; /* the amounts of the partition's hosts, by index of TRES */
};

/* The values that all jobs of a pass share. */
struct multifactor_cluster {
    int64_t now_us;
    uint32_t nodes, cpus;
    uint32_t assoc_priority_max, qos_priority_max, job_factor_max; /* over all that there are */
    const struct multifactor_partition *partitions;
};

/* A job in one of its partitions. */
struct multifactor_job {
    uint32_t partition;
    uint32_t current_partition; /* the partition by which the size is computed, in all rows of the job */
    uint32_t assoc_priority, qos_priority;
    uint32_t cpus, nodes; /* requested; nodes at least 1 */
    int64_t time_limit_s; /* 0: the current partition's */
    int64_t accrue_us;    /* the time from which its age counts; 0: there is no such time, and the age is 0 */
    int32_t nice, site;
    uint32_t set_priority; /* if is_set */
    bool is_set, is_held;
    double fair_share;
    struct tres_list tres; /* requested or allocated */
};

/* Factors without their weights; raw numbers if a NO_NORMAL_* flag says so. A factor whose weight is 0 is 0, as in
 * sprio -n. */
struct multifactor_factors {
    double age, assoc, fair_share, job_size, partition, qos;
};

/* Weighted factors, in the order in which they are added. tres is the sum over all TRES; nice is subtracted. */
struct multifactor_terms {
    double age, assoc, fair_share, job_size, partition, qos, tres, site, nice;
    double sum;
    uint32_t priority;
};

/* The factors of one job. */
void multifactor_factors(const struct multifactor_rules *r, const struct multifactor_cluster *c,
                         const struct multifactor_job *j, struct multifactor_factors *out_factors);

/* The factor of one TRES of a job: its amount / the partition's total, 0 when that or its weight is 0; the amount
 * itself with NO_NORMAL_TRES. */
double multifactor_tres_factor(const struct multifactor_rules *r, const struct multifactor_cluster *c,
                               const struct multifactor_job *j, const struct tres_amount *a);

/* All terms and the priority of one job. */
void multifactor_terms(const struct multifactor_rules *r, const struct multifactor_cluster *c,
                       const struct multifactor_job *j, struct multifactor_terms *out_terms);

/* The priority of another job with the same terms except its age and its fair-share factor: the same number as from
 * multifactor_terms. */
uint32_t multifactor_priority_of(const struct multifactor_rules *r, const struct multifactor_terms *terms,
                                 int64_t now_us, int64_t accrue_us, double fair_share);

/* Upper bounds of priorities, in fewer steps than the priorities themselves take. */
struct multifactor_bound {
    double age_base, age_per_us, age_max, weight_fair_share;
};

/* The numbers of the rules that multifactor_priority_max needs. */
void multifactor_bound_make(const struct multifactor_rules *r, struct multifactor_bound *out);

/* The terms but age and fair share. */
double multifactor_rest(const struct multifactor_terms *terms);

/* No less than the priority of a job with such terms. age_us below 0: none. */
static inline double multifactor_priority_max(const struct multifactor_bound *b, double rest, int64_t age_us,
                                              double fair_share)
{
    double age = (double)age_us * b->age_per_us;
    age = age > 0.0 ? age : 0.0;
    age = age < b->age_max ? age : b->age_max;
    double sum = rest + b->age_base + age + fair_share * b->weight_fair_share;
    return (sum > 1.0 ? sum : 1.0) + 1.0; /* the terms are not added in the order of multifactor_priority_of */
}

/* The priorities of count jobs, the same numbers as from multifactor_terms. */
void multifactor_priorities(const struct multifactor_rules *r, const struct multifactor_cluster *c,
                            const struct multifactor_job *jobs, uint32_t count, uint32_t *out_priority);

/* First come, first served: the priority that Slurm's priority/basic gives the job at a position in the order of
 * submission (0 is first). */
uint32_t multifactor_basic_priority(uint64_t position, int32_t nice);

#endif
