/* Urgency, normalisation and final priority. Tests with a letter and a digit in their name have values recorded from
 * Grid Engine 8.1.9; conformance/test_grid_engine.py compares all tables of these cases. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "policy/urgency.h"

#define S INT64_C(1000000)

static const struct urgency_request LICENSE = {.value = 1, .urgency = 1000}, LICENSES = {.value = 2, .urgency = 1000};
static const struct urgency_request BIGIO = {.value = 1, .urgency = 500, .is_text = true};

/* docs/formulas.md 5.6: f1, and ranges of slots by each rule. */
static void test_f1_resources(void **state)
{
    (void)state;
    static const struct urgency_request MIXED[] = {
        {.value = 1, .urgency = 1000}, {.value = 2, .urgency = 2000}, {.value = 1, .urgency = 500, .is_text = true}};
    static const struct {
        uint32_t min, max;
        const struct urgency_request *requests;
        uint32_t count;
        enum urgency_slots_rule rule;
        double resources;
    } ROWS[] = {
        {.min = 1, .max = 1, .rule = URGENCY_SLOTS_MIN, .resources = 1000},
        {.min = 1, .max = 1, .requests = &LICENSES, .count = 1, .rule = URGENCY_SLOTS_MIN, .resources = 3000},
        {.min = 1, .max = 1, .requests = &BIGIO, .count = 1, .rule = URGENCY_SLOTS_MIN, .resources = 1500},
        {.min = 1, .max = 1, .requests = MIXED, .count = 3, .rule = URGENCY_SLOTS_MIN, .resources = 6500},
        {.min = 3, .max = 3, .rule = URGENCY_SLOTS_NUMBER, .resources = 3000},
        {.min = 3, .max = 3, .requests = &LICENSE, .count = 1, .rule = URGENCY_SLOTS_MAX, .resources = 6000},
        {.min = 4, .max = 4, .requests = &BIGIO, .count = 1, .rule = URGENCY_SLOTS_MIN, .resources = 4500},
        {.min = 2, .max = 8, .rule = URGENCY_SLOTS_MIN, .resources = 2000},
        {.min = 2, .max = 8, .rule = URGENCY_SLOTS_MAX, .resources = 8000},
        {.min = 2, .max = 8, .requests = &LICENSE, .count = 1, .rule = URGENCY_SLOTS_MAX, .resources = 16000},
        {.min = 2, .max = 8, .rule = URGENCY_SLOTS_AVG, .resources = 5000},
        {.min = 2, .max = 8, .requests = &LICENSE, .count = 1, .rule = URGENCY_SLOTS_AVG, .resources = 10000},
        {.min = 2, .max = 8, .requests = &LICENSE, .count = 1, .rule = URGENCY_SLOTS_NUMBER, .resources = 10000},
        {.min = 2, .max = 5, .rule = URGENCY_SLOTS_AVG, .resources = 3000},
    };
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        struct urgency_rules rules = {.slots_rule = ROWS[r].rule, .slots_number = 5};
        struct urgency_job job = {
            .slots_min = ROWS[r].min,
            .slots_max = ROWS[r].max,
            .requests = ROWS[r].requests,
            .request_count = ROWS[r].count,
        };
        struct urgency u;
        urgency_of(&rules, 1000, 0, &job, &u);
        if (u.resources != ROWS[r].resources || u.sum != u.resources) fail_msg("row %zu: %g", r, u.resources);
    }
}

/* docs/formulas.md 5.6: f2, f3, and the manual's rule for deadlines. */
static void test_f2_f3_time(void **state)
{
    (void)state;
    enum { NO_DEADLINE = 9999 };
    static const struct {
        double per_s, weight; /* weight_waiting_time, weight_deadline */
        enum deadline_rule rule;
        int64_t waited_s, left_s; /* left_s: to the deadline */
        double waiting, deadline;
    } ROWS[] = {
        {.per_s = 0.278, .waited_s = 44, .left_s = NO_DEADLINE, .waiting = 12.232},
        {.per_s = 100, .weight = 3600000, .waited_s = 54, .left_s = NO_DEADLINE, .waiting = 5400},
        {.per_s = -1, .waited_s = 23, .left_s = NO_DEADLINE, .waiting = -23},
        {.weight = 3600000, .waited_s = 35, .left_s = 115, .deadline = 31304.34782608696},
        {.weight = 3600000, .waited_s = 35, .left_s = 3595, .deadline = 1001.3908205841446},
        {.weight = 3600000, .waited_s = 35, .left_s = 9, .deadline = 400000},
        {.weight = 3600000, .waited_s = 35, .left_s = 1, .deadline = 3600000},
        {.weight = 3600000, .waited_s = 35, .left_s = 0, .deadline = 3600000},
        {.weight = 3600000, .waited_s = 35, .left_s = -500, .deadline = 3600000},
        {.per_s = 1, .weight = 36000, .waited_s = 46, .left_s = 73, .waiting = 46, .deadline = 493.1506849315069},
        {.per_s = 1,
         .weight = 36000,
         .rule = DEADLINE_WAITING,
         .waited_s = 46,
         .left_s = 8,
         .waiting = 46,
         .deadline = 0.125},
        {.per_s = 100,
         .weight = 36000,
         .rule = DEADLINE_WAITING,
         .waited_s = 1,
         .left_s = -8,
         .waiting = 100,
         .deadline = 100},
    };
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        struct urgency_rules rules = {
            .weight_waiting_time = ROWS[r].per_s, .weight_deadline = ROWS[r].weight, .deadline_rule = ROWS[r].rule};
        int64_t now_us = 1795243651 * S;
        struct urgency_job job = {.slots_min = 1, .slots_max = 1, .submit_us = now_us - ROWS[r].waited_s * S};
        if (ROWS[r].left_s != NO_DEADLINE) job.deadline_us = now_us + ROWS[r].left_s * S;
        struct urgency u;
        urgency_of(&rules, 1000, now_us, &job, &u);
        if (fabs(u.waiting_time - ROWS[r].waiting) > 1e-9 || fabs(u.deadline - ROWS[r].deadline) > 1e-9)
            fail_msg("row %zu: %.17g and %.17g", r, u.waiting_time, u.deadline);
        assert_true(u.sum == u.resources + u.waiting_time + u.deadline);
    }
}

static void assert_column(const double *values, const double *expected, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (fabs(values[i] - expected[i]) > 1e-5)
            fail_msg("%s %u: %.17g, expected %.5f", name, i, values[i], expected[i]);
    }
}

static const struct urgency_rules MANUAL_WEIGHTS = {.weight_ticket = 0.01, .weight_urgency = 0.1, .weight_priority = 1};

/* docs/formulas.md 5.7: f5, its first and its second table. */
static void test_f5_combined(void **state)
{
    (void)state;
    static const double tickets[] = {62500, 31250, 250000, 125000, 20833}, urgency[] = {1000, 1000, 1000, 2000, 3000};
    static const int32_t posix[] = {0, 10, 0, -10, 0};
    double nt[5], nu[5], np[5], prior[5];
    urgency_priorities(&MANUAL_WEIGHTS, 5, 250000, tickets, urgency, posix, nt, nu, np, prior);
    assert_column(nt, (const double[]){0.25, 0.125, 1, 0.5, 0.08333}, 5, "ntckts");
    assert_column(nu, (const double[]){0, 0, 0, 0.5, 1}, 5, "nurg");
    assert_column(np, (const double[]){0.5, 0.50488, 0.5, 0.49512, 0.5}, 5, "npprior");
    assert_column(prior, (const double[]){0.5025, 0.50613, 0.51, 0.55012, 0.60083}, 5, "prior");
    struct urgency_rules halves = {.weight_ticket = 0.5, .weight_urgency = 0.5};
    urgency_priorities(&halves, 5, 250000, tickets, urgency, posix, NULL, NULL, NULL, prior);
    assert_column(prior, (const double[]){0.125, 0.0625, 0.5, 0.5, 0.54167}, 5, "prior");
}

static void test_f4_posix(void **state)
{
    (void)state;
    static const double none[7];
    static const int32_t posix[] = {-1023, -512, -100, 0, 100, 512, 1024};
    double np[7], prior[7];
    urgency_priorities(&MANUAL_WEIGHTS, 7, 0, none, none, posix, NULL, NULL, np, prior);
    assert_column(np, (const double[]){0.00049, 0.25, 0.45117, 0.5, 0.54883, 0.75, 1}, 7, "npprior");
    assert_column(prior, (const double[]){0.05549, 0.305, 0.50617, 0.555, 0.60383, 0.805, 1.055}, 7, "prior");
}

/* docs/formulas.md 5.7: a1 is the licence example of the N1GE 6.1 manual, with the results of 8.1.9 and of the
 * manual. */
static void test_a1_licences(void **state)
{
    (void)state;
    static const double tickets[3], urgency[] = {5000, 6000, 2000};
    static const int32_t posix[] = {100, 0, 0};
    double prior[3];
    struct urgency_rules rules = MANUAL_WEIGHTS;
    urgency_priorities(&rules, 3, 0, tickets, urgency, posix, NULL, NULL, NULL, prior);
    assert_column(prior, (const double[]){0.62883, 0.605, 0.505}, 3, "prior");
    rules.posix_range = POSIX_PRESENT;
    urgency_priorities(&rules, 3, 0, tickets, urgency, posix, NULL, NULL, NULL, prior);
    assert_column(prior, (const double[]){1.08, 0.105, 0.005}, 3, "prior");
}

/* Equal values are all normalised to 0.5. Without jobs nothing is computed. */
static void test_alike(void **state)
{
    (void)state;
    static const double zero[2], nearly[] = {7, 7.000009};
    static const int32_t posix[] = {-5, -5};
    struct urgency_rules rules = MANUAL_WEIGHTS;
    double nt[2], nu[2], np[2];
    rules.posix_range = POSIX_PRESENT;
    urgency_priorities(&rules, 2, 0, zero, nearly, posix, nt, nu, np, NULL);
    for (int i = 0; i < 2; i++) assert_true(nt[i] == 0.5 && nu[i] == 0.5 && np[i] == 0.5);
    urgency_priorities(&rules, 2, 7.000009, nearly, zero, posix, nt, nu, np, NULL);
    assert_true(nt[1] == 1 && nt[0] > 0.99999);
    urgency_priorities(&rules, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f1_resources), cmocka_unit_test(test_f2_f3_time),  cmocka_unit_test(test_f5_combined),
        cmocka_unit_test(test_f4_posix),     cmocka_unit_test(test_a1_licences), cmocka_unit_test(test_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
