/* Multifactor priority: lines of Slurm's log, the sum, each factor, and first come, first served. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/quantity.h"
#include "base/text.h"
#include "fields/setting_text.h"
#include "policy/multifactor.h"

enum { GPU = TRES_STATIC_COUNT };

#define DAY_S (INT64_C(24) * 3600)

static struct arena arena;

/* --- lines of Slurm 22.05.8's log --------------------------------------------------------------------------------- */

/* Four nodes of 16 CPUs and 62.5 GiB, two with 4 GPUs; three partitions of all or three of them. */
enum { MAIN, PLAIN, ODD };
static const double totals_all[TRES_MAX] = {[TRES_CPU] = 64, [TRES_MEM] = 256000, [TRES_NODE] = 4, [GPU] = 8};
static const double totals_odd[TRES_MAX] = {[TRES_CPU] = 48, [TRES_MEM] = 192000, [TRES_NODE] = 3, [GPU] = 8};
static const struct multifactor_partition recorded_partitions[] = {
    [MAIN] = {.job_factor = 100, .max_time_s = 2 * DAY_S, .totals = totals_all},
    [PLAIN] = {.job_factor = 50, .max_time_s = DAY_S, .totals = totals_all},
    [ODD] = {.job_factor = 7, .max_time_s = DAY_S / 2, .totals = totals_odd},
};

static const struct {
    int id;
    uint32_t partition, assoc_priority, qos_priority;
    int64_t limit_s;
    const char *accrue, *tres;
    int32_t nice;
} recorded_jobs[] = {
    {.id = 2,
     .partition = MAIN,
     .assoc_priority = 10,
     .limit_s = 2 * DAY_S,
     .accrue = "07:02:22",
     .tres = "cpu=64,mem=1000M,node=1,billing=64"},
    {.id = 3,
     .partition = PLAIN,
     .qos_priority = 100,
     .limit_s = 3600,
     .accrue = "07:02:26",
     .tres = "cpu=20,mem=60G,node=2,billing=20"},
    {.id = 4,
     .partition = ODD,
     .qos_priority = 10,
     .limit_s = 420,
     .accrue = "07:02:30",
     .tres = "cpu=5,mem=1500M,node=3,billing=14"},
    {.id = 5,
     .partition = MAIN,
     .assoc_priority = 40,
     .limit_s = 36000,
     .accrue = "07:02:34",
     .tres = "cpu=4,mem=8G,node=1,billing=12,gres/gpu=3",
     .nice = 137},
    {.id = 6,
     .partition = PLAIN,
     .assoc_priority = 10,
     .limit_s = DAY_S,
     .accrue = "07:02:38",
     .tres = "cpu=17,mem=62.50G,node=1,billing=17",
     .nice = -500},
    {.id = 8, .partition = MAIN, .limit_s = 1800, .accrue = "07:02:46", .tres = "cpu=3,mem=2G,node=1,billing=3"},
    /* the same job in its third partition */
    {.id = 80, .partition = ODD, .limit_s = 1800, .accrue = "07:02:46", .tres = "cpu=3,mem=2G,node=1,billing=3"},
    {.id = 11,
     .partition = PLAIN,
     .assoc_priority = 10,
     .limit_s = DAY_S,
     .accrue = "07:02:58",
     .tres = "cpu=4,mem=250G,node=4,billing=4"},
};

enum run { LARGE, SMALL, RELATIVE, NOMAX, CLASSIC };

static const struct {
    enum run run;
    int id;
    const char *now;
    double fair_share;
    const char *factors, *terms, *tres, *sum; /* age, assoc, fair share, size, partition, QOS */
} recorded_lines[] = {
    {.run = LARGE,
     .id = 2,
     .now = "07:03:37",
     .fair_share = 0.2,
     .factors = "0.625000 0.250000 0.200000 0.625000 1.000000 0.000000",
     .terms = "625.00 175.00 2000.00 3125.00 2000.00 0.00",
     .tres = "cpu 1.000000 1500.00 mem 0.003906 9.77",
     .sum = "9434.77"},
    {.run = LARGE,
     .id = 4,
     .now = "07:03:37",
     .fair_share = 0.8,
     .factors = "0.558333 0.000000 0.800000 0.414062 0.070000 0.100000",
     .terms = "558.33 0.00 8000.00 2070.31 140.00 300.00",
     .tres = "cpu 0.104167 156.25 mem 0.007812 19.53",
     .sum = "11244.43"},
    {.run = LARGE,
     .id = 5,
     .now = "07:03:37",
     .fair_share = 0.6,
     .factors = "0.525000 1.000000 0.600000 0.156250 1.000000 0.000000",
     .terms = "525.00 700.00 6000.00 781.25 2000.00 0.00",
     .tres = "cpu 0.062500 93.75 mem 0.032000 80.00 gres/gpu 0.375000 1162.50",
     .sum = "11205.50"},
    {.run = LARGE,
     .id = 6,
     .now = "07:03:37",
     .fair_share = 0.2,
     .factors = "0.491667 0.250000 0.200000 0.257812 0.500000 0.000000",
     .terms = "491.67 175.00 2000.00 1289.06 1000.00 0.00",
     .tres = "cpu 0.265625 398.44 mem 0.250000 625.00",
     .sum = "6479.17"},
    {.run = LARGE,
     .id = 80,
     .now = "07:03:37",
     .fair_share = 0.8,
     .factors = "0.425000 0.000000 0.800000 0.148438 0.070000 0.000000",
     .terms = "425.00 0.00 8000.00 742.19 140.00 0.00",
     .tres = "cpu 0.062500 93.75 mem 0.010667 26.67",
     .sum = "9427.60"},
    {.run = SMALL,
     .id = 2,
     .now = "07:03:43",
     .fair_share = 0.2,
     .factors = "0.675000 0.250000 0.200000 0.375000 1.000000 0.000000",
     .terms = "675.00 175.00 2000.00 1875.00 2000.00 0.00",
     .tres = "cpu 1.000000 1500.00 mem 0.003906 9.77",
     .sum = "8234.77"},
    {.run = SMALL,
     .id = 4,
     .now = "07:03:43",
     .fair_share = 0.8,
     .factors = "0.608333 0.000000 0.800000 0.585938 0.070000 0.100000",
     .terms = "608.33 0.00 8000.00 2929.69 140.00 300.00",
     .tres = "cpu 0.104167 156.25 mem 0.007812 19.53",
     .sum = "12153.80"},
    {.run = SMALL,
     .id = 8,
     .now = "07:03:43",
     .fair_share = 0.8,
     .factors = "0.475000 0.000000 0.800000 0.851562 1.000000 0.000000",
     .terms = "475.00 0.00 8000.00 4257.81 2000.00 0.00",
     .tres = "cpu 0.046875 70.31 mem 0.008000 20.00",
     .sum = "14823.12"},
    {.run = RELATIVE,
     .id = 2,
     .now = "07:03:49",
     .fair_share = 0.2,
     .factors = "0.725000 0.250000 0.200000 0.000347 1.000000 0.000000",
     .terms = "725.00 175.00 2000.00 1.74 2000.00 0.00",
     .tres = "cpu 1.000000 1500.00 mem 0.003906 9.77",
     .sum = "6411.50"},
    {.run = RELATIVE,
     .id = 3,
     .now = "07:03:49",
     .fair_share = 0.4,
     .factors = "0.691667 0.000000 0.400000 0.008333 0.500000 1.000000",
     .terms = "691.67 0.00 4000.00 41.67 1000.00 3000.00",
     .tres = "cpu 0.312500 468.75 mem 0.240000 600.00",
     .sum = "9802.08"},
    {.run = RELATIVE,
     .id = 4,
     .now = "07:03:49",
     .fair_share = 0.8,
     .factors = "0.658333 0.000000 0.800000 0.107143 0.070000 0.100000",
     .terms = "658.33 0.00 8000.00 535.71 140.00 300.00",
     .tres = "cpu 0.104167 156.25 mem 0.007812 19.53",
     .sum = "9809.83"},
    {.run = RELATIVE,
     .id = 5,
     .now = "07:03:49",
     .fair_share = 0.6,
     .factors = "0.625000 1.000000 0.600000 0.000417 1.000000 0.000000",
     .terms = "625.00 700.00 6000.00 2.08 2000.00 0.00",
     .tres = "cpu 0.062500 93.75 mem 0.032000 80.00 gres/gpu 0.375000 1162.50",
     .sum = "10526.33"},
    {.run = NOMAX,
     .id = 2,
     .now = "07:04:14",
     .fair_share = 0.2,
     .factors = "0.000185 0.250000 0.200000 0.625000 1.000000 0.000000",
     .terms = "0.19 175.00 2000.00 3125.00 2000.00 0.00",
     .tres = "cpu 1.000000 1500.00 mem 0.003906 9.77",
     .sum = "8809.95"},
    {.run = NOMAX,
     .id = 5,
     .now = "07:04:14",
     .fair_share = 0.6,
     .factors = "0.000165 1.000000 0.600000 0.156250 1.000000 0.000000",
     .terms = "0.17 700.00 6000.00 781.25 2000.00 0.00",
     .tres = "cpu 0.062500 93.75 mem 0.032000 80.00 gres/gpu 0.375000 1162.50",
     .sum = "10680.67"},
    {.run = CLASSIC,
     .id = 4,
     .now = "07:04:07",
     .fair_share = 0.6715337971135561,
     .factors = "0.808333 0.000000 0.671534 0.414062 0.070000 0.100000",
     .terms = "808.33 0.00 6715.34 2070.31 140.00 300.00",
     .tres = "cpu 0.104167 156.25 mem 0.007812 19.53",
     .sum = "10209.77"},
    {.run = CLASSIC,
     .id = 11,
     .now = "07:04:07",
     .fair_share = 0.14788556986468468,
     .factors = "0.575000 0.250000 0.147886 0.531250 0.500000 0.000000",
     .terms = "575.00 175.00 1478.86 2656.25 1000.00 0.00",
     .tres = "cpu 0.062500 93.75 mem 1.000000 2500.00",
     .sum = "8478.86"},
};

/* A time of the day of the recording, in microseconds. */
static int64_t time_us(const char *time_of_day)
{
    char text[40];
    int64_t us = 0;
    text_format(text, sizeof text, "2026-11-21T%sZ", time_of_day);
    assert_int_equal(time_parse(str(text), "time", &us, NULL), 0);
    return us;
}

static struct multifactor_rules recorded_rules(enum run run, const struct tres_table *t)
{
    struct multifactor_rules r = {
        .weight_age = 1000,
        .weight_assoc = 700,
        .weight_fair_share = 10000,
        .weight_job_size = 5000,
        .weight_partition = 2000,
        .weight_qos = 3000,
        .has_tres_weights = true,
        .max_age_s = run == NOMAX ? 7 * DAY_S : 120,
        .favor_small = run == SMALL,
        .flags = run == RELATIVE  ? FLAG_SMALL_RELATIVE_TO_TIME
                 : run == NOMAX   ? FLAG_CALCULATE_RUNNING
                 : run == CLASSIC ? FLAG_NO_FAIR_TREE | FLAG_ACCRUE_ALWAYS
                                  : 0,
    };
    assert_int_equal(tres_weights_parse(t, str("CPU=1500,Mem=2500,GRES/gpu=3100"), "x", r.weight_tres, NULL), 0);
    return r;
}

static struct multifactor_job recorded_job(int id, double fair_share, const struct tres_table *t)
{
    size_t i = 0;
    while (recorded_jobs[i].id != id) i++;
    struct multifactor_job j = {
        .partition = recorded_jobs[i].partition,
        .assoc_priority = recorded_jobs[i].assoc_priority,
        .qos_priority = recorded_jobs[i].qos_priority,
        .time_limit_s = recorded_jobs[i].limit_s,
        .accrue_us = time_us(recorded_jobs[i].accrue),
        .nice = recorded_jobs[i].nice,
        .fair_share = fair_share,
    };
    assert_int_equal(tres_list_parse(t, str(recorded_jobs[i].tres), "x", &arena, &j.tres, NULL), 0);
    j.cpus = (uint32_t)tres_amount_of(&j.tres, TRES_CPU);
    j.nodes = (uint32_t)tres_amount_of(&j.tres, TRES_NODE);
    return j;
}

/* "cpu 1.000000 1500.00 mem ...": the TRES that have a weight. */
static void print_tres(const struct multifactor_rules *r, const struct multifactor_cluster *c,
                       const struct multifactor_job *j, const struct tres_table *t, struct buf *out)
{
    for (uint32_t i = 0; i < j->tres.count; i++) {
        const struct tres_amount *a = &j->tres.items[i];
        double weight = r->weight_tres[a->tres], factor = multifactor_tres_factor(r, c, j, a);
        if (weight > 0.0)
            buf_format(out, "%s%s %.6f %.2f", out->length > 0 ? " " : "", t->items[a->tres].text, factor,
                       factor * weight);
    }
}

static void factors_and_terms_are_as_logged(void **unused)
{
    (void)unused;
    struct tres_table t;
    assert_int_equal(tres_table_make(&t, str("gres/gpu,license/matlab"), "x", &arena, NULL), 0);
    int lines = sizeof recorded_lines / sizeof *recorded_lines;
    for (int i = 0; i < lines; i++) {
        struct multifactor_rules r = recorded_rules(recorded_lines[i].run, &t);
        struct multifactor_cluster c = {.now_us = time_us(recorded_lines[i].now),
                                        .nodes = 4,
                                        .cpus = 64,
                                        .assoc_priority_max = 40,
                                        .qos_priority_max = 100,
                                        .job_factor_max = 100,
                                        .partitions = recorded_partitions};
        struct multifactor_job j = recorded_job(recorded_lines[i].id, recorded_lines[i].fair_share, &t);
        struct multifactor_factors f;
        struct multifactor_terms terms;
        struct buf tres = {0};
        char text[200];
        multifactor_factors(&r, &c, &j, &f);
        multifactor_terms(&r, &c, &j, &terms);
        text_format(text, sizeof text, "%.6f %.6f %.6f %.6f %.6f %.6f", f.age, f.assoc, f.fair_share, f.job_size,
                    f.partition, f.qos);
        assert_string_equal(text, recorded_lines[i].factors);
        text_format(text, sizeof text, "%.2f %.2f %.2f %.2f %.2f %.2f", terms.age, terms.assoc, terms.fair_share,
                    terms.job_size, terms.partition, terms.qos);
        assert_string_equal(text, recorded_lines[i].terms);
        print_tres(&r, &c, &j, &t, &tres);
        assert_string_equal(tres.text, recorded_lines[i].tres);
        text_format(text, sizeof text, "%.2f", terms.sum);
        assert_string_equal(text, recorded_lines[i].sum);
        assert_int_equal(terms.priority, (uint32_t)strtoul(recorded_lines[i].sum, NULL, 10));
        buf_release(&tres);
    }
}

/* --- the sum ------------------------------------------------------------------------------------------------------ */

/* One node of 16 CPUs, 64 GiB and 4 GPUs; partition factors 10 and 50. */
static const double totals_one[TRES_MAX] = {[TRES_CPU] = 16, [TRES_MEM] = 65536, [TRES_NODE] = 1, [GPU] = 4};
static const struct multifactor_partition one_partitions[] = {
    {.job_factor = 10, .max_time_s = -1, .totals = totals_one},
    {.job_factor = 50, .max_time_s = 3600, .totals = totals_one},
};

static struct multifactor_cluster one_node(void)
{
    return (struct multifactor_cluster){.now_us = 1000 * US_PER_S,
                                        .nodes = 1,
                                        .cpus = 16,
                                        .assoc_priority_max = 100,
                                        .qos_priority_max = 10,
                                        .job_factor_max = 50,
                                        .partitions = one_partitions};
}

static struct multifactor_rules one_rules(void)
{
    return (struct multifactor_rules){
        .weight_age = 1000,
        .weight_assoc = 300,
        .weight_fair_share = 10000,
        .weight_job_size = 500,
        .weight_partition = 1000,
        .weight_qos = 2000,
        .weight_tres = {[TRES_CPU] = 1000, [TRES_MEM] = 200, [GPU] = 3000},
        .has_tres_weights = true,
        .max_age_s = 7 * DAY_S,
    };
}

/* docs/formulas.md 4.1. */
static void the_worked_examples(void **unused)
{
    (void)unused;
    struct multifactor_rules r = one_rules();
    struct multifactor_cluster c = one_node();
    struct multifactor_terms t;
    struct tres_amount first[] = {{TRES_CPU, 4}, {TRES_MEM, 8192}, {TRES_NODE, 1}, {GPU, 1}};
    struct multifactor_job j = {.cpus = 4, .nodes = 1, .fair_share = 1.0, .tres = {first, 4}};
    multifactor_terms(&r, &c, &j, &t);
    assert_true(t.fair_share == 10000.0 && t.job_size == 312.5 && t.partition == 200.0);
    assert_true(t.tres == 250.0 + 25.0 + 750.0);
    assert_true(t.sum == 11537.5);
    assert_int_equal(t.priority, 11537);

    struct tres_amount second[] = {{TRES_CPU, 15}, {TRES_MEM, 1024}, {TRES_NODE, 1}};
    j = (struct multifactor_job){.cpus = 15,
                                 .nodes = 1,
                                 .time_limit_s = 6000,
                                 .assoc_priority = 100,
                                 .fair_share = 1.0,
                                 .nice = 50,
                                 .tres = {second, 3}};
    r.flags = FLAG_SMALL_RELATIVE_TO_TIME | FLAG_MAX_TRES | FLAG_NO_NORMAL_ALL;
    multifactor_terms(&r, &c, &j, &t);
    assert_true(t.assoc == 30000.0 && t.partition == 10000.0 && t.job_size == 5.0);
    assert_true(t.tres == 15000.0 + 204800.0);
    assert_int_equal(t.priority, 269755);
}

static void a_sum_below_one_is_one_and_fractions_are_truncated(void **unused)
{
    (void)unused;
    static const struct {
        double weight, fair_share;
        int32_t nice, site;
        double sum;
        uint32_t priority;
    } rows[] = {
        {.weight = 1000, .fair_share = 0.5, .sum = 500.0, .priority = 500},
        {.weight = 1000, .fair_share = 0.9999, .sum = 999.9, .priority = 999},
        {.weight = 1000, .fair_share = 0.5, .nice = 100, .sum = 400.0, .priority = 400},
        {.weight = 1000, .fair_share = 0.5, .nice = -100, .sum = 600.0, .priority = 600},
        {.weight = 1000, .fair_share = 0.5, .site = 20, .sum = 520.0, .priority = 520},
        {.weight = 1000, .fair_share = 0.5, .site = -20, .sum = 480.0, .priority = 480},
        {.weight = 1000, .fair_share = 0.5, .nice = 500, .sum = 0.0, .priority = 1},
        {.weight = 1000, .fair_share = 0.5, .nice = 499, .sum = 1.0, .priority = 1},
        {.weight = 1000, .fair_share = 0.5, .nice = 2147483645, .sum = 500.0 - 2147483645.0, .priority = 1},
        {.weight = 1000, .fair_share = 0.0009, .sum = 0.9, .priority = 1},
        {.weight = 0, .fair_share = 1.0, .sum = 0.0, .priority = 1},
        {.weight = 4294967295.0, .fair_share = 1.0, .sum = 4294967295.0, .priority = UINT32_MAX},
        {.weight = 4294967295.0, .fair_share = 1.0, .nice = 1, .sum = 4294967294.0, .priority = UINT32_MAX - 1},
        {.weight = 4294967295.0, .fair_share = 1.0, .nice = -1, .sum = 4294967296.0, .priority = UINT32_MAX},
        {.weight = 4294967295.0,
         .fair_share = 1.0,
         .nice = -2147483645,
         .site = 2147483645,
         .sum = 4294967295.0 + 2.0 * 2147483645.0,
         .priority = UINT32_MAX},
    };
    struct multifactor_cluster c = one_node();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct multifactor_rules r = {.weight_fair_share = rows[i].weight};
        struct multifactor_job j = {
            .nodes = 1, .fair_share = rows[i].fair_share, .nice = rows[i].nice, .site = rows[i].site};
        struct multifactor_terms t;
        uint32_t priority;
        multifactor_terms(&r, &c, &j, &t);
        multifactor_priorities(&r, &c, &j, 1, &priority);
        assert_true(t.sum == rows[i].sum);
        assert_int_equal(t.priority, rows[i].priority);
        assert_int_equal(priority, rows[i].priority);
    }
}

static void negative_tres_weights_reach_the_minimum(void **unused)
{
    (void)unused;
    struct multifactor_rules r = one_rules();
    struct multifactor_cluster c = one_node();
    struct tres_amount cpus = {TRES_CPU, 16};
    struct multifactor_job j = {.cpus = 16, .nodes = 1, .fair_share = 1.0, .tres = {&cpus, 1}};
    struct multifactor_terms t;
    r.weight_tres[TRES_CPU] = -20000;
    multifactor_terms(&r, &c, &j, &t);
    assert_true(t.tres == -20000.0);
    assert_int_equal(t.priority, 1);
}

static void a_set_priority_is_used_unchanged(void **unused)
{
    (void)unused;
    static const uint32_t priorities[] = {4242, 1, 0, UINT32_MAX};
    struct multifactor_rules r = one_rules();
    struct multifactor_cluster c = one_node();
    for (size_t i = 0; i < sizeof priorities / sizeof *priorities; i++) {
        struct multifactor_job j = {
            .nodes = 1, .fair_share = 1.0, .nice = 20000, .is_set = true, .set_priority = priorities[i]};
        struct multifactor_terms t;
        multifactor_terms(&r, &c, &j, &t);
        assert_int_equal(t.priority, priorities[i]);
        assert_true(t.sum == priorities[i]);
        assert_true(t.fair_share == 0.0 && t.partition == 0.0 && t.nice == 0.0 && t.tres == 0.0);
        j.is_held = true;
        multifactor_terms(&r, &c, &j, &t);
        assert_int_equal(t.priority, 0);
        assert_true(t.sum == 0.0 && t.fair_share == 0.0);
    }
}

/* --- factors ------------------------------------------------------------------------------------------------------ */

static void age_rows(void **unused)
{
    (void)unused;
    static const struct {
        int64_t max_age_s, accrue_us;
        double weight, factor;
    } rows[] = {
        {.max_age_s = 3600, .accrue_us = 1000 * US_PER_S, .weight = 1, .factor = 0.0},
        {.max_age_s = 3600, .accrue_us = 1000 * US_PER_S - 1, .weight = 1, .factor = 1.0 / 3600e6},
        {.max_age_s = 3600, .accrue_us = 100 * US_PER_S, .weight = 1, .factor = 0.25},
        {.max_age_s = 3600, .accrue_us = 2000 * US_PER_S, .weight = 1, .factor = 0.0}, /* its age begins later */
        {.max_age_s = 900, .accrue_us = 100 * US_PER_S, .weight = 1, .factor = 1.0},
        {.max_age_s = 899, .accrue_us = 100 * US_PER_S, .weight = 1, .factor = 1.0},
        {.max_age_s = 901, .accrue_us = 100 * US_PER_S, .weight = 1, .factor = 900.0 / 901.0},
        {.max_age_s = 0, .accrue_us = 999 * US_PER_S, .weight = 1, .factor = 1.0},
        {.max_age_s = 0, .accrue_us = 2000 * US_PER_S, .weight = 1, .factor = 1.0},
        {.max_age_s = -1, .accrue_us = 1, .weight = 1, .factor = 0.0},
        {.max_age_s = 3600, .accrue_us = 0, .weight = 1, .factor = 0.0}, /* it has no age */
        {.max_age_s = 0, .accrue_us = 0, .weight = 1, .factor = 0.0},
        {.max_age_s = 3600, .accrue_us = 100 * US_PER_S, .weight = 0, .factor = 0.0},
        {.max_age_s = 3600, .accrue_us = -2600 * US_PER_S, .weight = 1, .factor = 1.0},
        {.max_age_s = INT64_MAX,
         .accrue_us = 100 * US_PER_S,
         .weight = 1,
         .factor = 900e6 / (9223372036854775807.0 * 1e6)},
    };
    struct multifactor_cluster c = one_node();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct multifactor_rules r = {.weight_age = rows[i].weight, .max_age_s = rows[i].max_age_s};
        struct multifactor_job j = {.nodes = 1, .accrue_us = rows[i].accrue_us};
        struct multifactor_factors f;
        multifactor_factors(&r, &c, &j, &f);
        if (!(f.age == rows[i].factor)) fail_msg("row %zu: %.17g", i, f.age);
    }
}

static void whole_seconds_give_the_quotient_of_seconds(void **unused)
{
    (void)unused;
    struct multifactor_cluster c = one_node();
    for (int64_t max_s = 1; max_s < 700 * DAY_S; max_s = max_s * 7 / 5 + 1) {
        for (int64_t age_s = 1; age_s < max_s; age_s = age_s * 3 / 2 + 1) {
            struct multifactor_rules r = {.weight_age = 1, .max_age_s = max_s};
            struct multifactor_job j = {.nodes = 1, .accrue_us = c.now_us - age_s * US_PER_S};
            struct multifactor_factors f;
            if (j.accrue_us == 0) continue;
            multifactor_factors(&r, &c, &j, &f);
            assert_true(f.age == (double)age_s / (double)max_s);
        }
    }
}

static void fractions_of_the_maximum(void **unused)
{
    (void)unused;
    struct multifactor_cluster c = one_node();
    struct multifactor_rules r = {
        .weight_assoc = 1.0, .weight_qos = 1.0, .weight_partition = 1.0, .weight_fair_share = 1.0};
    struct multifactor_job j = {.partition = 1, .nodes = 1, .assoc_priority = 25, .qos_priority = 7, .fair_share = 0.3};
    struct multifactor_factors f;
    multifactor_factors(&r, &c, &j, &f);
    assert_true(f.assoc == 0.25 && f.qos == 0.7 && f.partition == 1.0 && f.fair_share == 0.3);
    r.flags = FLAG_NO_NORMAL_ASSOC;
    multifactor_factors(&r, &c, &j, &f);
    assert_true(f.assoc == 25.0 && f.qos == 0.7 && f.partition == 1.0);
    r.flags = FLAG_NO_NORMAL_QOS;
    multifactor_factors(&r, &c, &j, &f);
    assert_true(f.assoc == 0.25 && f.qos == 7.0 && f.partition == 1.0);
    r.flags = FLAG_NO_NORMAL_PART;
    multifactor_factors(&r, &c, &j, &f);
    assert_true(f.assoc == 0.25 && f.qos == 0.7 && f.partition == 50.0);

    c.assoc_priority_max = c.qos_priority_max = c.job_factor_max = 0;
    r.flags = 0;
    multifactor_factors(&r, &c, &j, &f);
    assert_true(f.assoc == 0.0 && f.qos == 0.0 && f.partition == 0.0);
    r.flags = FLAG_NO_NORMAL_ALL;
    multifactor_factors(&r, &c, &j, &f);
    assert_true(f.assoc == 25.0 && f.qos == 7.0 && f.partition == 50.0);
}

/* docs/formulas.md 4.2; with raw numbers, too. */
static void a_factor_without_weight_is_0(void **unused)
{
    (void)unused;
    static const uint32_t flags[] = {0, FLAG_NO_NORMAL_ALL};
    struct multifactor_cluster c = one_node();
    struct multifactor_job j = {.partition = 1,
                                .nodes = 1,
                                .cpus = 4,
                                .assoc_priority = 25,
                                .qos_priority = 7,
                                .fair_share = 0.3,
                                .accrue_us = 1};
    const struct tres_amount cpus = {TRES_CPU, 4};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        struct multifactor_rules r = {.flags = flags[i]};
        struct multifactor_factors f;
        multifactor_factors(&r, &c, &j, &f);
        assert_true(f.age == 0.0 && f.assoc == 0.0 && f.fair_share == 0.0);
        assert_true(f.job_size == 0.0 && f.partition == 0.0 && f.qos == 0.0);
        assert_true(multifactor_tres_factor(&r, &c, &j, &cpus) == 0.0);
        r.weight_tres[TRES_CPU] = -1.0;
        assert_true(multifactor_tres_factor(&r, &c, &j, &cpus) == (flags[i] != 0 ? 4.0 : 0.25));
    }
}

/* docs/formulas.md 4.3. */
static void size_rows(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t nodes, cpus; /* of the cluster */
        uint32_t job_nodes, job_cpus, partition;
        int64_t limit_s;
        bool favors_small, is_relative;
        double factor;
    } rows[] = {
        {.nodes = 1, .cpus = 16, .job_nodes = 1, .job_cpus = 4, .factor = 0.625},
        {.nodes = 4, .cpus = 64, .job_nodes = 3, .job_cpus = 5, .factor = (0.75 + 5.0 / 64) / 2},
        {.nodes = 4, .cpus = 64, .job_nodes = 3, .factor = 0.75},
        {.nodes = 4, .cpus = 64, .job_nodes = 9, .job_cpus = 100, .factor = 1.0},
        {.nodes = 0, .cpus = 64, .job_nodes = 1, .job_cpus = 4, .factor = 0.0},
        {.nodes = 4, .job_nodes = 1, .job_cpus = 4, .factor = 0.0},
        {.nodes = 0, .job_nodes = 1, .job_cpus = 4, .favors_small = true, .is_relative = true, .factor = 0.0},
        {.nodes = 4, .cpus = 64, .job_nodes = 3, .job_cpus = 5, .favors_small = true, .factor = (0.25 + 59.0 / 64) / 2},
        {.nodes = 4, .cpus = 64, .job_nodes = 4, .job_cpus = 64, .favors_small = true, .factor = 0.0},
        {.nodes = 4, .cpus = 64, .job_nodes = 5, .job_cpus = 32, .favors_small = true, .factor = 0.25},
        {.nodes = 4, .cpus = 64, .job_nodes = 3, .favors_small = true, .factor = 0.25},
        /* 64 - 65, unsigned */
        {.nodes = 4, .cpus = 64, .job_nodes = 1, .job_cpus = 65, .favors_small = true, .factor = 1.0},
        /* 0.1428571 */
        {.nodes = 1,
         .cpus = 16,
         .job_nodes = 1,
         .job_cpus = 12,
         .limit_s = 420,
         .is_relative = true,
         .factor = 16.0 / 7 / 16},
        {.nodes = 4,
         .cpus = 64,
         .job_nodes = 1,
         .job_cpus = 20,
         .limit_s = 600,
         .is_relative = true,
         .factor = 20.0 / 10 / 64},
        {.nodes = 4,
         .cpus = 64,
         .job_nodes = 1,
         .job_cpus = 20,
         .limit_s = 600,
         .favors_small = true,
         .is_relative = true,
         .factor = 1 - 20.0 / 10 / 64},
        {.nodes = 4,
         .cpus = 64,
         .job_nodes = 2,
         .job_cpus = 20,
         .limit_s = 600,
         .is_relative = true,
         .factor = 32.0 / 10 / 64},
        {.nodes = 4,
         .cpus = 64,
         .job_nodes = 1,
         .job_cpus = 64,
         .limit_s = 90,
         .is_relative = true,
         .factor = 64 / 1.5 / 64},
        {.nodes = 4, .cpus = 64, .job_nodes = 1, .job_cpus = 64, .limit_s = 30, .is_relative = true, .factor = 1.0},
        {.nodes = 4,
         .cpus = 64,
         .job_nodes = 1,
         .job_cpus = 64,
         .limit_s = 30,
         .favors_small = true,
         .is_relative = true,
         .factor = 0.0},
        /* the current partition's MaxTime */
        {.nodes = 4,
         .cpus = 64,
         .job_nodes = 1,
         .job_cpus = 32,
         .partition = 1,
         .is_relative = true,
         .factor = 32.0 / 60 / 64},
        /* it has no MaxTime */
        {.nodes = 4, .cpus = 64, .job_nodes = 1, .job_cpus = 32, .is_relative = true, .factor = 0.0},
        {.nodes = 4,
         .cpus = 64,
         .job_nodes = 1,
         .job_cpus = 32,
         .favors_small = true,
         .is_relative = true,
         .factor = 1.0},
        {.nodes = UINT32_MAX,
         .cpus = UINT32_MAX,
         .job_nodes = UINT32_MAX,
         .job_cpus = UINT32_MAX,
         .limit_s = 60,
         .is_relative = true,
         .factor = 1.0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct multifactor_cluster c = {.nodes = rows[i].nodes, .cpus = rows[i].cpus, .partitions = one_partitions};
        struct multifactor_rules r = {.weight_job_size = 1,
                                      .favor_small = rows[i].favors_small,
                                      .flags = rows[i].is_relative ? FLAG_SMALL_RELATIVE_TO_TIME : 0};
        struct multifactor_job j = {.current_partition = rows[i].partition,
                                    .nodes = rows[i].job_nodes,
                                    .cpus = rows[i].job_cpus,
                                    .time_limit_s = rows[i].limit_s};
        struct multifactor_factors f;
        multifactor_factors(&r, &c, &j, &f);
        if (!(f.job_size == rows[i].factor)) fail_msg("row %zu: %.17g", i, f.job_size);
        r.weight_job_size = 0;
        multifactor_factors(&r, &c, &j, &f);
        assert_true(f.job_size == 0.0);
    }
}

static void tres_factors(void **unused)
{
    (void)unused;
    struct multifactor_rules r = one_rules();
    struct multifactor_cluster c = one_node();
    struct tres_amount items[] = {{TRES_CPU, 4}, {TRES_MEM, 16384}, {TRES_ENERGY, 5}, {GPU, 2}};
    struct multifactor_job j = {.nodes = 1, .cpus = 4, .tres = {items, 4}};
    static const double normal[] = {0.25, 0.25, 0.0, 0.5};
    struct multifactor_terms t;
    r.weight_tres[TRES_ENERGY] = 1e15; /* no host has this TRES */
    for (int i = 0; i < 4; i++) assert_true(multifactor_tres_factor(&r, &c, &j, &items[i]) == normal[i]);
    multifactor_terms(&r, &c, &j, &t);
    assert_true(t.tres == 250.0 + 50.0 + 1500.0);
    r.has_tres_weights = false;
    multifactor_terms(&r, &c, &j, &t);
    assert_true(t.tres == 0.0);
    r.flags = FLAG_NO_NORMAL_TRES;
    for (int i = 0; i < 4; i++) assert_true(multifactor_tres_factor(&r, &c, &j, &items[i]) == items[i].amount);
}

/* A typed GRES counts for its generic one too, each against its own total. */
static void typed_gres_count_twice(void **unused)
{
    (void)unused;
    struct tres_table t;
    struct multifactor_rules r = {.has_tres_weights = true};
    struct multifactor_job j = {.nodes = 1};
    static const double totals[TRES_MAX] = {[GPU] = 8, [GPU + 1] = 2};
    struct multifactor_partition partition = {.job_factor = 1, .max_time_s = -1, .totals = totals};
    struct multifactor_cluster c = {.partitions = &partition};
    struct multifactor_terms terms;
    assert_int_equal(tres_table_make(&t, str("gres/gpu,gres/gpu:tesla"), "x", &arena, NULL), 0);
    assert_int_equal(tres_weights_parse(&t, str("gres/gpu=800,gres/gpu:tesla=10"), "x", r.weight_tres, NULL), 0);
    assert_int_equal(tres_list_parse(&t, str("gres/gpu:tesla=1"), "x", &arena, &j.tres, NULL), 0);
    tres_list_add_generic(&t, &j.tres);
    multifactor_terms(&r, &c, &j, &terms);
    assert_true(terms.tres == 100.0 + 5.0);
}

/* --- first come, first served ------------------------------------------------------------------------------------- */

static void basic_rows(void **unused)
{
    (void)unused;
    static const struct {
        uint64_t position;
        int32_t nice;
        uint32_t priority;
    } rows[] = {
        {0, 0, 4294901759},         {1, 0, 4294901758},
        {2, 100, 4294901657},       {0, -100, 4294901859},
        {0, -65536, UINT32_MAX},    {0, -65537, UINT32_MAX},
        {0, INT32_MIN, UINT32_MAX}, {0, INT32_MAX, 4294901759u - INT32_MAX},
        {4294901758, 0, 1},         {4294901759, 0, 1},
        {4294901757, 0, 2},         {4294901757, 1, 1},
        {UINT64_MAX, 0, 1},         {UINT64_MAX, INT32_MIN, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(multifactor_basic_priority(rows[i].position, rows[i].nice), rows[i].priority);
}

static int release(void **unused)
{
    (void)unused;
    arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_and_terms_are_as_logged),
        cmocka_unit_test(the_worked_examples),
        cmocka_unit_test(a_sum_below_one_is_one_and_fractions_are_truncated),
        cmocka_unit_test(negative_tres_weights_reach_the_minimum),
        cmocka_unit_test(a_set_priority_is_used_unchanged),
        cmocka_unit_test(age_rows),
        cmocka_unit_test(whole_seconds_give_the_quotient_of_seconds),
        cmocka_unit_test(fractions_of_the_maximum),
        cmocka_unit_test(a_factor_without_weight_is_0),
        cmocka_unit_test(size_rows),
        cmocka_unit_test(tres_factors),
        cmocka_unit_test(typed_gres_count_twice),
        cmocka_unit_test(basic_rows),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
