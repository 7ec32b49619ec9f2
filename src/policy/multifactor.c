/* Multifactor priority. A job costs a few divisions and reads only its own cache lines, so the priorities of a million
 * jobs are recomputed in every pass, and none is ever stale.
 *
 * Two results are Slurm's and look odd. With PriorityFavorSmall the CPUs that a job leaves free are an unsigned
 * difference, so a job that requests more than exist counts as small. SMALL_RELATIVE_TO_TIME divides by minutes, so a
 * job of less than a minute can be larger than the cluster (its size is then limited to 1). Source: docs/formulas.md
 * 4. */
#include "policy/multifactor.h"

#include "base/quantity.h"
#include "fields/setting_text.h"

#define PRIORITY_MAX 4294967295.0
#define BASIC_FIRST 4294901759.0 /* priority/basic gives it to the first job */
#define S_PER_MINUTE 60.0

/* --- factors ------------------------------------------------------------------------------------------------------ */

/* Age and maximum are whole numbers of microseconds, so whole seconds give the same quotient as they would in seconds.
 * A quotient of doubles is below 1 exactly when its numerator is the smaller one. 0/0 is not below 1: it is the age of
 * a job of this microsecond where every age counts in full. A job without accrue time has no age, even then. */
static double age_factor(const struct multifactor_rules *r, int64_t now_us, int64_t accrue_us)
{
    if (!(r->weight_age > 0.0) || accrue_us == 0 || r->max_age_s < 0) return 0.0;
    double age_us = now_us > accrue_us ? (double)(now_us - accrue_us) : 0.0;
    double age = age_us / ((double)r->max_age_s * US_PER_S);
    return age < 1.0 ? age : 1.0;
}

/* The value as a fraction of the maximum, or raw; 0 if its weight is 0. */
static double weighted_fraction(double weight, uint32_t value, uint32_t max, bool is_raw)
{
    if (!(weight > 0.0)) return 0.0;
    if (is_raw) return value;
    return max == 0 ? 0.0 : (double)value / max;
}

static double size_relative_to_time(const struct multifactor_rules *r, const struct multifactor_cluster *c,
                                    const struct multifactor_job *j)
{
    double cpus = (double)j->nodes * c->cpus / c->nodes;
    int64_t limit_s = j->time_limit_s > 0 ? j->time_limit_s : c->partitions[j->current_partition].max_time_s;
    if (cpus < j->cpus) cpus = j->cpus;
    double size = limit_s < 0 ? 0.0 : cpus / ((double)limit_s / S_PER_MINUTE) / c->cpus;
    return r->favor_small ? 1.0 - size : size;
}

static double size_favoring_small(const struct multifactor_cluster *c, const struct multifactor_job *j)
{
    double size = c->nodes > j->nodes ? (double)(c->nodes - j->nodes) / c->nodes : 0.0;
    uint32_t free_cpus = c->cpus - j->cpus;
    return j->cpus == 0 ? size : (size + (double)free_cpus / c->cpus) / 2.0;
}

static double size_factor(const struct multifactor_rules *r, const struct multifactor_cluster *c,
                          const struct multifactor_job *j)
{
    double size;
    if (!(r->weight_job_size > 0.0) || c->nodes == 0 || c->cpus == 0) return 0.0;
    if (r->flags & FLAG_SMALL_RELATIVE_TO_TIME) {
        size = size_relative_to_time(r, c, j);
    } else if (r->favor_small) {
        size = size_favoring_small(c, j);
    } else {
        size = (double)j->nodes / c->nodes;
        if (j->cpus > 0) size = (size + (double)j->cpus / c->cpus) / 2.0;
    }
    return size < 0.0 ? 0.0 : size > 1.0 ? 1.0 : size;
}

void multifactor_factors(const struct multifactor_rules *r, const struct multifactor_cluster *c,
                         const struct multifactor_job *j, struct multifactor_factors *out_factors)
{
    uint32_t job_factor = c->partitions[j->partition].job_factor;
    *out_factors = (struct multifactor_factors){
        .age = age_factor(r, c->now_us, j->accrue_us),
        .assoc = weighted_fraction(r->weight_assoc, j->assoc_priority, c->assoc_priority_max,
                                   r->flags & FLAG_NO_NORMAL_ASSOC),
        .fair_share = r->weight_fair_share > 0.0 ? j->fair_share : 0.0,
        .job_size = size_factor(r, c, j),
        .partition =
            weighted_fraction(r->weight_partition, job_factor, c->job_factor_max, r->flags & FLAG_NO_NORMAL_PART),
        .qos = weighted_fraction(r->weight_qos, j->qos_priority, c->qos_priority_max, r->flags & FLAG_NO_NORMAL_QOS),
    };
}

double multifactor_tres_factor(const struct multifactor_rules *r, const struct multifactor_cluster *c,
                               const struct multifactor_job *j, const struct tres_amount *a)
{
    bool has_weight = r->weight_tres[a->tres] < 0.0 || r->weight_tres[a->tres] > 0.0;
    if (!has_weight) return 0.0;
    if (r->flags & FLAG_NO_NORMAL_TRES) return a->amount;
    double total = c->partitions[j->partition].totals[a->tres];
    return total > 0.0 ? a->amount / total : 0.0;
}

/* --- terms -------------------------------------------------------------------------------------------------------- */

static double tres_term(const struct multifactor_rules *r, const struct multifactor_cluster *c,
                        const struct multifactor_job *j)
{
    double sum = 0.0;
    if (!r->has_tres_weights) return sum;
    for (uint32_t i = 0; i < j->tres.count; i++) {
        const struct tres_amount *a = &j->tres.items[i];
        sum += multifactor_tres_factor(r, c, j, a) * r->weight_tres[a->tres];
    }
    return sum;
}

static uint32_t whole_priority(double sum)
{
    if (!(sum >= 1.0)) return 1;
    return (uint32_t)(sum < PRIORITY_MAX ? sum : PRIORITY_MAX);
}

static double sum_of(const struct multifactor_terms *t, double age, double fair_share)
{
    return age + t->assoc + fair_share + t->job_size + t->partition + t->qos + t->tres + t->site - t->nice;
}

uint32_t multifactor_priority_of(const struct multifactor_rules *r, const struct multifactor_terms *terms,
                                 int64_t now_us, int64_t accrue_us, double fair_share)
{
    double age = age_factor(r, now_us, accrue_us) * r->weight_age;
    double share = (r->weight_fair_share > 0.0 ? fair_share : 0.0) * r->weight_fair_share;
    return whole_priority(sum_of(terms, age, share));
}

/* A maximum age of 0 lets every age count in full. */
void multifactor_bound_make(const struct multifactor_rules *r, struct multifactor_bound *out)
{
    double weight_age = r->weight_age > 0.0 ? r->weight_age : 0.0;
    *out = (struct multifactor_bound){.weight_fair_share = r->weight_fair_share > 0.0 ? r->weight_fair_share : 0.0};
    if (r->max_age_s == 0) out->age_base = weight_age;
    if (r->max_age_s <= 0) return;
    out->age_max = weight_age;
    out->age_per_us = weight_age / ((double)r->max_age_s * US_PER_S);
}

double multifactor_rest(const struct multifactor_terms *terms)
{
    return sum_of(terms, 0.0, 0.0);
}

void multifactor_terms(const struct multifactor_rules *r, const struct multifactor_cluster *c,
                       const struct multifactor_job *j, struct multifactor_terms *out_terms)
{
    struct multifactor_terms t = {0};
    if (j->is_held || j->is_set) {
        t.priority = j->is_held ? 0 : j->set_priority;
        t.sum = t.priority;
        *out_terms = t;
        return;
    }
    struct multifactor_factors f;
    multifactor_factors(r, c, j, &f);
    t.age = f.age * r->weight_age;
    t.assoc = f.assoc * r->weight_assoc;
    t.fair_share = f.fair_share * r->weight_fair_share;
    t.job_size = f.job_size * r->weight_job_size;
    t.partition = f.partition * r->weight_partition;
    t.qos = f.qos * r->weight_qos;
    t.tres = tres_term(r, c, j);
    t.site = j->site;
    t.nice = j->nice;
    t.sum = sum_of(&t, t.age, t.fair_share);
    t.priority = whole_priority(t.sum);
    *out_terms = t;
}

void multifactor_priorities(const struct multifactor_rules *r, const struct multifactor_cluster *c,
                            const struct multifactor_job *jobs, uint32_t count, uint32_t *out_priority)
{
    for (uint32_t i = 0; i < count; i++) {
        struct multifactor_terms t;
        multifactor_terms(r, c, &jobs[i], &t);
        out_priority[i] = t.priority;
    }
}

uint32_t multifactor_basic_priority(uint64_t position, int32_t nice)
{
    return whole_priority(BASIC_FIRST - (double)position - nice);
}
