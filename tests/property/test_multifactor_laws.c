/* Multifactor priority against a second implementation, which is slow and follows the published description step by
 * step, on every small job; the function for many jobs against the one for a single job, on random jobs; and laws.
 * Results are equal to the last bit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "fields/setting_text.h"
#include "policy/multifactor.h"

enum { SECOND_US = 1000000 };

/* --- the second implementation ------------------------------------------------------------------------------------ */

/* "diff = max(0, now - accrue); diff < max age ? diff / max age : 1; only with a weight and an accrue time." In
 * seconds. */
static double slow_age(const struct multifactor_rules *r, const struct multifactor_cluster *c,
                       const struct multifactor_job *j)
{
    double diff_s = (double)(c->now_us - j->accrue_us) / SECOND_US;
    if (r->weight_age == 0 || j->accrue_us == 0 || r->max_age_s < 0) return 0;
    if (diff_s < 0) diff_s = 0;
    return diff_s < (double)r->max_age_s ? diff_s / (double)r->max_age_s : 1;
}

static double slow_size(const struct multifactor_rules *r, const struct multifactor_cluster *c,
                        const struct multifactor_job *j)
{
    double node_count = c->nodes, cluster_cpus = c->cpus, cpu = j->cpus, min_nodes = j->nodes, x;
    if (r->weight_job_size == 0 || node_count == 0 || cluster_cpus == 0) return 0;
    if (r->flags & FLAG_SMALL_RELATIVE_TO_TIME) {
        double limit_s = (double)j->time_limit_s;
        if (limit_s == 0) limit_s = (double)c->partitions[j->current_partition].max_time_s;
        if (limit_s < 0) limit_s = INFINITY;
        x = fmax(min_nodes * cluster_cpus / node_count, cpu) / (limit_s / 60) / cluster_cpus;
        if (r->favor_small) x = 1 - x;
    } else if (r->favor_small) {
        double left = cluster_cpus - cpu;
        if (left < 0) left += 4294967296.0;
        x = fmax(node_count - min_nodes, 0) / node_count;
        if (cpu > 0) x = (x + left / cluster_cpus) / 2;
    } else {
        x = min_nodes / node_count;
        if (cpu > 0) x = (x + cpu / cluster_cpus) / 2;
    }
    return fmin(fmax(x, 0), 1);
}

static double slow_fraction(double value, double max, bool is_raw)
{
    if (is_raw) return value;
    return max > 0 ? value / max : 0;
}

static double slow_tres(const struct multifactor_rules *r, const struct multifactor_cluster *c,
                        const struct multifactor_job *j)
{
    double sum = 0;
    for (uint32_t t = 0; t < TRES_MAX; t++) {
        double amount = tres_amount_of(&j->tres, t), total = c->partitions[j->partition].totals[t];
        double factor = r->flags & FLAG_NO_NORMAL_TRES ? amount : total > 0 ? amount / total : 0;
        sum += factor * r->weight_tres[t];
    }
    return sum;
}

enum { TERMS = 9 };

static uint32_t slow_priority(const struct multifactor_rules *r, const struct multifactor_cluster *c,
                              const struct multifactor_job *j, double out_terms[TERMS], double *out_sum)
{
    uint32_t flags = r->flags, job_factor = c->partitions[j->partition].job_factor;
    *out_sum = j->is_set && !j->is_held ? j->set_priority : 0;
    memset(out_terms, 0, TERMS * sizeof *out_terms);
    if (j->is_held || j->is_set) return (uint32_t)*out_sum;
    const double terms[TERMS] = {
        slow_age(r, c, j) * r->weight_age,
        slow_fraction(j->assoc_priority, c->assoc_priority_max, flags & FLAG_NO_NORMAL_ASSOC) * r->weight_assoc,
        j->fair_share * r->weight_fair_share,
        slow_size(r, c, j) * r->weight_job_size,
        slow_fraction(job_factor, c->job_factor_max, flags & FLAG_NO_NORMAL_PART) * r->weight_partition,
        slow_fraction(j->qos_priority, c->qos_priority_max, flags & FLAG_NO_NORMAL_QOS) * r->weight_qos,
        slow_tres(r, c, j),
        j->site,
        -(double)j->nice,
    };
    for (size_t i = 0; i < TERMS; i++) *out_sum += terms[i];
    memcpy(out_terms, terms, sizeof terms);
    if (*out_sum < 1) return 1;
    return *out_sum > 4294967295.0 ? UINT32_MAX : (uint32_t)floor(*out_sum);
}

/* --- every small job ---------------------------------------------------------------------------------------------- */

/* The next digit of a number in mixed bases. Counting such numbers up goes through every combination. */
static uint32_t digit(uint64_t *number, uint32_t base)
{
    uint32_t value = (uint32_t)(*number % base);
    *number /= base;
    return value;
}

/* 49 times 1/49 is not 1. */
static const double some[TRES_MAX] = {[TRES_CPU] = 4, [TRES_MEM] = 49, [TRES_NODE] = 3};
static const double none[TRES_MAX] = {0};
static const struct multifactor_partition partitions[] = {
    {.job_factor = 0, .max_time_s = -1, .totals = none},
    {.job_factor = 1, .max_time_s = 90, .totals = some},
    {.job_factor = 3, .max_time_s = 3600, .totals = some},
};

struct small_world {
    struct multifactor_rules rules;
    struct multifactor_cluster cluster;
    struct multifactor_job job;
    struct tres_amount amounts[3];
};

/* Makes the world of a number. False: there is none. */
static bool small_world(uint64_t number, struct small_world *w)
{
    static const uint32_t flags[] = {0, FLAG_SMALL_RELATIVE_TO_TIME, FLAG_NO_NORMAL_TRES,
                                     FLAG_NO_NORMAL_ALL | FLAG_SMALL_RELATIVE_TO_TIME};
    static const uint32_t nodes[] = {0, 1, 3}, cpus[] = {0, 1, 4}, job_cpus[] = {0, 1, 3, 5};
    static const int64_t limits_s[] = {0, 30, 60, 420}, accrues[] = {0, 1, 100, 300}, max_ages_s[] = {0, -1, 150};
    static const struct tres_amount amounts[] = {{TRES_CPU, 3}, {TRES_MEM, 49}, {TRES_ENERGY, 9}};
    *w = (struct small_world){.rules = {.weight_age = 1000,
                                        .weight_assoc = 20,
                                        .weight_fair_share = 777,
                                        .weight_job_size = 500,
                                        .weight_partition = 40,
                                        .weight_qos = 30,
                                        .weight_tres = {-0.75, 750, 5, 7},
                                        .has_tres_weights = true},
                              .cluster = {.now_us = INT64_C(200) * SECOND_US, .partitions = partitions}};
    memcpy(w->amounts, amounts, sizeof amounts);
    w->rules.favor_small = digit(&number, 2);
    w->rules.flags = flags[digit(&number, 4)];
    w->rules.max_age_s = max_ages_s[digit(&number, 3)];
    w->cluster.nodes = nodes[digit(&number, 3)];
    w->cluster.cpus = cpus[digit(&number, 3)];
    w->cluster.assoc_priority_max = w->cluster.qos_priority_max = w->cluster.job_factor_max = digit(&number, 2) * 3;
    w->job = (struct multifactor_job){.partition = digit(&number, 3),
                                      .nodes = 1 + digit(&number, 4),
                                      .cpus = job_cpus[digit(&number, 4)],
                                      .time_limit_s = limits_s[digit(&number, 4)],
                                      .accrue_us = accrues[digit(&number, 4)] * SECOND_US,
                                      .fair_share = digit(&number, 2) * 0.3,
                                      .assoc_priority = digit(&number, 2),
                                      .nice = (int32_t)digit(&number, 2) * 1000,
                                      .site = (int32_t)digit(&number, 2) * -7,
                                      .tres = {w->amounts, digit(&number, 2) * 3}};
    w->job.current_partition = (w->job.partition + 1) % 3;
    w->job.qos_priority = 2 * w->job.assoc_priority;
    w->job.set_priority = 4242;
    uint32_t state = digit(&number, 3);
    w->job.is_held = state == 1;
    w->job.is_set = state == 2;
    return number == 0;
}

static void every_small_job_has_the_priority_of_the_slow_implementation(void **unused)
{
    (void)unused;
    /* The build with sanitizers tests every 13th job. */
    const char *sanitized = getenv("FAIRLEAD_SANITIZED");
    uint64_t step = sanitized != NULL && sanitized[0] == '1' ? 13 : 1, count = 0;
    struct small_world w;
    for (uint64_t number = 0; small_world(number, &w); number += step) {
        double sum, terms[TERMS];
        struct multifactor_terms t;
        uint32_t priority = slow_priority(&w.rules, &w.cluster, &w.job, terms, &sum), all;
        multifactor_terms(&w.rules, &w.cluster, &w.job, &t);
        const double got[TERMS] = {t.age, t.assoc, t.fair_share, t.job_size, t.partition,
                                   t.qos, t.tres,  t.site,       -t.nice};
        for (int i = 0; i < TERMS; i++)
            if (!(got[i] == terms[i])) fail_msg("job %llu, term %d", (unsigned long long)number, i);
        multifactor_priorities(&w.rules, &w.cluster, &w.job, 1, &all);
        if (t.priority != priority || !(t.sum == sum) || all != priority)
            fail_msg("job %llu: %u, %.17g instead of %u, %.17g", (unsigned long long)number, t.priority, t.sum,
                     priority, sum);
        count++;
    }
    printf("# %llu small jobs\n", (unsigned long long)count);
    assert_true(count * step > 5000000);
}

/* --- random jobs -------------------------------------------------------------------------------------------------- */

enum { JOBS = 2000, AMOUNTS = 4, PARTITIONS = 5 };

struct world {
    struct multifactor_rules rules;
    struct multifactor_cluster cluster;
    double totals[PARTITIONS][TRES_MAX];
    struct multifactor_partition partitions[PARTITIONS];
    struct multifactor_job jobs[JOBS];
    struct tres_amount amounts[JOBS][AMOUNTS];
};

/* Often 0, otherwise of any magnitude up to max. */
static double random_size(struct rng *r, double max)
{
    return rng_below(r, 4) == 0 ? 0 : floor(exp2(rng_double(r) * log2(max)));
}

static void random_rules(struct rng *r, struct multifactor_rules *out)
{
    *out = (struct multifactor_rules){.weight_age = random_size(r, 1e6),
                                      .weight_assoc = random_size(r, 1e6),
                                      .weight_fair_share = random_size(r, 4e9),
                                      .weight_job_size = random_size(r, 1e6),
                                      .weight_partition = random_size(r, 1e6),
                                      .weight_qos = random_size(r, 1e6),
                                      .max_age_s = (int64_t)random_size(r, 1e8) - 1,
                                      .favor_small = rng_below(r, 2),
                                      .flags = rng_below(r, FLAG_SMALL_RELATIVE_TO_TIME << 1)};
    out->has_tres_weights = rng_below(r, 4) != 0;
    for (int t = 0; out->has_tres_weights && t < TRES_MAX; t++)
        out->weight_tres[t] = random_size(r, 1e6) * (rng_double(r) - 0.2);
}

static void random_job(struct rng *r, struct world *w, uint32_t i)
{
    struct multifactor_job *j = &w->jobs[i];
    uint32_t tres = 0;
    *j = (struct multifactor_job){.partition = rng_below(r, PARTITIONS),
                                  .current_partition = rng_below(r, PARTITIONS),
                                  .assoc_priority = (uint32_t)random_size(r, 1000),
                                  .qos_priority = (uint32_t)random_size(r, 1000),
                                  .cpus = (uint32_t)random_size(r, 1e5),
                                  .nodes = 1 + (uint32_t)random_size(r, 1000),
                                  .time_limit_s = (int64_t)random_size(r, 1e7),
                                  .accrue_us = (int64_t)random_size(r, 2e15),
                                  .nice = rng_below(r, 3) != 0 ? 0 : (int32_t)rng_u64(r),
                                  .site = rng_below(r, 3) != 0 ? 0 : (int32_t)rng_u64(r),
                                  .set_priority = (uint32_t)rng_u64(r),
                                  .is_set = rng_below(r, 20) == 0,
                                  .is_held = rng_below(r, 20) == 0,
                                  .fair_share = rng_double(r),
                                  .tres = {w->amounts[i], rng_below(r, AMOUNTS + 1)}};
    for (uint32_t k = 0; k < j->tres.count; k++) {
        tres += rng_below(r, TRES_MAX / AMOUNTS - 1);
        w->amounts[i][k] = (struct tres_amount){tres++, random_size(r, 1e12)};
    }
}

static void random_world(struct rng *r, struct world *w)
{
    random_rules(r, &w->rules);
    w->cluster = (struct multifactor_cluster){.now_us = (int64_t)(rng_u64(r) >> 13),
                                              .nodes = (uint32_t)random_size(r, 1e5),
                                              .cpus = (uint32_t)random_size(r, 1e7),
                                              .assoc_priority_max = (uint32_t)random_size(r, 1000),
                                              .qos_priority_max = (uint32_t)random_size(r, 1000),
                                              .job_factor_max = (uint32_t)random_size(r, 1000),
                                              .partitions = w->partitions};
    for (int p = 0; p < PARTITIONS; p++) {
        for (int t = 0; t < TRES_MAX; t++) w->totals[p][t] = random_size(r, 1e12);
        w->partitions[p].job_factor = (uint32_t)random_size(r, 1000);
        w->partitions[p].max_time_s = (int64_t)random_size(r, 1e7) - 1;
        w->partitions[p].totals = w->totals[p];
    }
    for (uint32_t i = 0; i < JOBS; i++) random_job(r, w, i);
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* Terms are weights times factors and add up to the sum. Many jobs at once get the same as each of them alone. */
static void many_jobs_get_what_each_gets_alone(void **unused)
{
    (void)unused;
    struct rng r = {1};
    struct world *w = malloc(sizeof *w);
    uint32_t *priority = malloc(JOBS * sizeof *priority);
    for (int round = 0; round < 100; round++) {
        random_world(&r, w);
        multifactor_priorities(&w->rules, &w->cluster, w->jobs, JOBS, priority);
        for (uint32_t i = 0; i < JOBS; i++) {
            const struct multifactor_job *j = &w->jobs[i];
            struct multifactor_terms t;
            struct multifactor_factors f;
            double sum, terms[TERMS], tres = 0;
            multifactor_terms(&w->rules, &w->cluster, j, &t);
            multifactor_factors(&w->rules, &w->cluster, j, &f);
            assert_int_equal(priority[i], t.priority);
            assert_int_equal(priority[i], slow_priority(&w->rules, &w->cluster, j, terms, &sum));
            if (j->is_set || j->is_held) continue;
            for (uint32_t k = 0; w->rules.has_tres_weights && k < j->tres.count; k++)
                tres += multifactor_tres_factor(&w->rules, &w->cluster, j, &j->tres.items[k]) *
                        w->rules.weight_tres[j->tres.items[k].tres];
            assert_true(same_bits(t.tres, tres));
            assert_true(t.age == f.age * w->rules.weight_age && t.assoc == f.assoc * w->rules.weight_assoc);
            assert_true(t.fair_share == f.fair_share * w->rules.weight_fair_share);
            assert_true(t.job_size == f.job_size * w->rules.weight_job_size && t.qos == f.qos * w->rules.weight_qos);
            assert_true(t.partition == f.partition * w->rules.weight_partition);
            assert_true(t.sum ==
                        t.age + t.assoc + t.fair_share + t.job_size + t.partition + t.qos + t.tres + t.site - t.nice);
            assert_true(t.priority >= 1 && f.age >= 0 && f.age <= 1 && f.job_size >= 0 && f.job_size <= 1);
        }
    }
    free(priority);
    free(w);
}

/* A bound is at least the priority, and close to it unless that is limited to 1 or 2^32 - 1. */
static void bounds_are_close(void **unused)
{
    (void)unused;
    struct rng r = {3};
    struct world *w = malloc(sizeof *w);
    uint32_t close_count = 0;
    for (int round = 0; round < 100; round++) {
        struct multifactor_bound bound;
        random_world(&r, w);
        multifactor_bound_make(&w->rules, &bound);
        for (uint32_t i = 0; i < JOBS; i++) {
            const struct multifactor_job *j = &w->jobs[i];
            struct multifactor_terms t;
            multifactor_terms(&w->rules, &w->cluster, j, &t);
            if (j->is_set || j->is_held) continue;
            int64_t since_us = j->accrue_us != 0 ? j->accrue_us : INT64_MAX;
            double max =
                multifactor_priority_max(&bound, multifactor_rest(&t), w->cluster.now_us - since_us, j->fair_share);
            assert_true(max >= t.priority);
            close_count += max < t.priority + 2.5;
        }
    }
    print_message("# %u close bounds\n", close_count);
    assert_true(close_count > JOBS * 100 / 3);
    free(w);
}

/* The order of the jobs does not matter. */
static void the_order_of_jobs_changes_nothing(void **unused)
{
    (void)unused;
    struct rng r = {2};
    struct world *w = malloc(sizeof *w);
    uint32_t *before = malloc(JOBS * sizeof *before), *after = malloc(JOBS * sizeof *after);
    for (int round = 0; round < 20; round++) {
        random_world(&r, w);
        multifactor_priorities(&w->rules, &w->cluster, w->jobs, JOBS, before);
        for (uint32_t i = 0; i < JOBS / 2; i++) {
            struct multifactor_job swap = w->jobs[i];
            w->jobs[i] = w->jobs[JOBS - 1 - i];
            w->jobs[JOBS - 1 - i] = swap;
        }
        multifactor_priorities(&w->rules, &w->cluster, w->jobs, JOBS, after);
        for (uint32_t i = 0; i < JOBS; i++) assert_int_equal(before[i], after[JOBS - 1 - i]);
    }
    free(after);
    free(before);
    free(w);
}

static uint32_t priority_of(const struct world *w, const struct multifactor_job *j, int64_t later_us)
{
    struct multifactor_cluster c = w->cluster;
    struct multifactor_terms t;
    c.now_us += later_us;
    multifactor_terms(&w->rules, &c, j, &t);
    return t.priority;
}

/* More fair share, age, association or QOS priority, or less nice, never lowers a priority. More CPUs and nodes never
 * lower it either; if small jobs are favored, they never raise it. */
static void more_of_what_counts_never_lowers(void **unused)
{
    (void)unused;
    struct rng r = {3};
    struct world *w = malloc(sizeof *w);
    for (int round = 0; round < 50; round++) {
        random_world(&r, w);
        for (uint32_t i = 0; i < JOBS; i++) {
            struct multifactor_job j = w->jobs[i], more = j;
            uint32_t priority = priority_of(w, &j, 0);
            if (j.is_set || j.is_held) continue;
            assert_true(priority_of(w, &j, (int64_t)random_size(&r, 1e12)) >= priority);
            more.fair_share += rng_double(&r);
            assert_true(priority_of(w, &more, 0) >= priority);
            more.assoc_priority += rng_below(&r, 10);
            more.qos_priority += rng_below(&r, 10);
            assert_true(priority_of(w, &more, 0) >= priority);
            if (j.nice > INT32_MIN + 1000) more.nice -= (int32_t)rng_below(&r, 1000);
            assert_true(priority_of(w, &more, 0) >= priority);
            more = j;
            more.cpus += rng_below(&r, 1000);
            more.nodes += rng_below(&r, 10);
            if (more.cpus > w->cluster.cpus || j.cpus == 0) continue;
            assert_true(w->rules.favor_small ? priority_of(w, &more, 0) <= priority
                                             : priority_of(w, &more, 0) >= priority);
        }
    }
    free(w);
}

/* First come, first served: an earlier position never has a lower priority than a later one, and less nice never a
 * lower one than more. */
static void basic_priority_falls_with_position_and_nice(void **unused)
{
    (void)unused;
    struct rng r = {4};
    for (int i = 0; i < 1000000; i++) {
        uint64_t position = rng_u64(&r) >> rng_below(&r, 64), later = position + rng_below(&r, 1000);
        int32_t nice = (int32_t)(rng_u64(&r) >> (32 + rng_below(&r, 32)));
        uint32_t priority = multifactor_basic_priority(position, nice);
        assert_true(priority >= 1);
        if (later < position) continue;
        assert_true(multifactor_basic_priority(later, nice) <= priority);
        if (nice < INT32_MAX) assert_true(multifactor_basic_priority(position, nice + 1) <= priority);
        if (priority > 1001 && priority < UINT32_MAX)
            assert_int_equal(multifactor_basic_priority(later, nice), priority - (later - position));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_small_job_has_the_priority_of_the_slow_implementation),
        cmocka_unit_test(many_jobs_get_what_each_gets_alone),
        cmocka_unit_test(bounds_are_close),
        cmocka_unit_test(the_order_of_jobs_changes_nothing),
        cmocka_unit_test(more_of_what_counts_never_lowers),
        cmocka_unit_test(basic_priority_falls_with_position_and_nice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
