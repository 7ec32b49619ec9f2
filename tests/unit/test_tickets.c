/* Tickets of single clusters. Tests with a letter and a digit in their name have values recorded from Grid Engine
 * 8.1.9, which truncates tickets to whole numbers; conformance/test_grid_engine.py compares all tables of these
 * cases. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../ticket_world.h"
#include "policy/share_targets.h"

static void assert_tickets(const char *name, uint32_t job, const char *policy, double tickets, double expected)
{
    if (fabs(trunc(tickets) - expected) <= 1 + 2e-9 * expected) return;
    fail_msg("%s, job %u: %.17g %s tickets, expected %.17g", name, job, tickets, policy, expected);
}

static void check(const char *name, const struct world *w)
{
    struct ticket_case c;
    struct tickets tickets[WORLD_ROWS];
    ticket_case_init(&c, w);
    tickets_compute(&c.input, &c.arena, tickets);
    for (uint32_t i = 0; i < c.input.job_count; i++) {
        const struct world_job *j = &w->jobs[i];
        assert_tickets(name, j->id, "override", tickets[i].override, j->override);
        assert_tickets(name, j->id, "functional", tickets[i].functional, j->functional);
        assert_tickets(name, j->id, "share", tickets[i].share, j->share);
        double sum = tickets[i].share + tickets[i].functional + tickets[i].override;
        assert_true(tickets[i].total == sum);
    }
    ticket_case_release(&c);
}

#define CHECK(...) check(__func__, &(const struct world){__VA_ARGS__})
/* clang-format off */
#define FLAT .users = {{"ua"}, {"ub"}, {"uc"}}, .tree = {{0, "Root", 1}, {1, "ua", 50}, {1, "ub", 30}, {1, "uc", 20}}
/* clang-format on */

/* --- share tree --------------------------------------------------------------------------------------------------- */

/* docs/formulas.md 5.3. */
static void test_c1_compensation(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        double tickets[3];
    } ROWS[] = {
        {"weight_tickets_share 1000000000 compensation_factor 0", {301204819, 216867469, 481927710}},
        {"weight_tickets_share 1000000000 compensation_factor 1", {419463087, 302013422, 278523489}},
        {"weight_tickets_share 1000000000 compensation_factor 2", {328083989, 236220472, 435695538}},
        {"weight_tickets_share 1000000000 compensation_factor 5", {301204819, 216867469, 481927710}},
        {"weight_tickets_share 1000000000 compensation_factor 0.5", {500000000, 300000000, 200000000}},
        /* The manual's rule: none, none, a cap of 2 x 20 %, a cap of 1.5 x 20 %, and a cap of half for every node. */
        {"weight_tickets_share 1000000000 compensation_factor 0 compensation_rule manual",
         {301204819, 216867469, 481927710}},
        {"weight_tickets_share 1000000000 compensation_factor 1 compensation_rule manual",
         {301204819, 216867469, 481927710}},
        {"weight_tickets_share 1000000000 compensation_factor 2 compensation_rule manual",
         {348837209, 251162790, 400000000}},
        {"weight_tickets_share 1000000000 compensation_factor 1.5 compensation_rule manual",
         {406976744, 293023255, 300000000}},
        {"weight_tickets_share 1000000000 compensation_factor 0.5 compensation_rule manual",
         {500000000, 300000000, 200000000}},
    };
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        CHECK(.settings = ROWS[r].settings, FLAT, .usage = {{"ua", NULL, 1000}, {"ub", NULL, 500}, {"uc", NULL, 100}},
              .jobs = {{4, "ua", .share = ROWS[r].tickets[0]},
                       {5, "ub", .share = ROWS[r].tickets[1]},
                       {6, "uc", .share = ROWS[r].tickets[2]}});
    }
}

/* docs/formulas.md 5.4: the order of the jobs, and a job of four slots. */
static void test_c1_ranks(void **state)
{
    (void)state;
    CHECK(.settings = "weight_tickets_share 1000000000 compensation_factor 0", FLAT,
          .usage = {{"ua", NULL, 1000}, {"ub", NULL, 500}, {"uc", NULL, 100}},
          .jobs = {{4, "ua", .share = 301204819},
                   {5, "ub", .share = 216867469},
                   {6, "uc", .share = 481927710},
                   {7, "ua", .share = 150602409},
                   {8, "ua", .share = 100401606},
                   {9, "ub", .share = 108433734},
                   {10, "ua", .slots = 4, .share = 75301204},
                   {11, "ua", .share = 37650602}});
}

/* A user without usage gets nearly all tickets. (unit/test_ticket_usage.c has the weighted usage of several
 * resources.) */
static void test_c1_no_usage(void **state)
{
    (void)state;
    CHECK(.settings = "weight_tickets_share 1000000000 compensation_factor 2", FLAT,
          .usage = {{"ua", NULL, 1000}, {"ub", NULL, 500}},
          .jobs = {{4, "ua", .share = 3101660}, {5, "ub", .share = 2233195}, {6, "uc", .share = 994665144}});
}

/* -js orders the pending jobs of a leaf that have equal tickets so far: 8, 7, then the others by id. */
static void test_job_shares(void **state)
{
    (void)state;
    CHECK(.settings = "weight_tickets_share 1000000000", FLAT,
          .usage = {{"ua", NULL, 1000}, {"ub", NULL, 500}, {"uc", NULL, 100}},
          .jobs = {{4, "ua", .share = 581395348 / 3},
                   {5, "ub", .share = 418604651},
                   {9, "ub", .share = 209302325},
                   {10, "ua", .slots = 4, .share = 145348837},
                   {11, "ua", .share = 72674418},
                   {7, "ua", .job_share = 100, .share = 581395348 / 2},
                   {8, "ua", .job_share = 200, .share = 581395348}});
}

/* docs/formulas.md 5.4, running jobs: they divide a tree without the pending jobs, which come after them. */
static void test_c2_running(void **state)
{
    (void)state;
    CHECK(.settings = "weight_tickets_share 1000000000 compensation_factor 0", FLAT,
          .usage = {{"ua", NULL, 1000}, {"ub", NULL, 500}, {"uc", NULL, 100}},
          .jobs = {{49, "ua", .is_running = true, .share = 581395348},
                   {50, "ub", .is_running = true, .share = 418604651},
                   {51, "ua", .share = 150602409},
                   {52, "ua", .share = 100401606},
                   {53, "ub", .share = 108433734},
                   {54, "uc", .share = 481927710}});
}

/* Users at a `default` node who have only pending jobs are not active where only running jobs count, but their usage
 * counts in the groups above them: a pending job of uv reduces the tickets of uw. docs/formulas.md 5.4; recorded in
 * h_03. */
static void test_running_beside_pending(void **state)
{
    (void)state;
#define GROUP                                                                                               \
    .settings = "weight_tickets_share 1000000000 compensation_factor 0", .users = {{"ud"}, {"uv"}, {"uw"}}, \
    .tree = {{0, "Root", 1}, {1, "grp", 60}, {2, "default", 10}, {1, "ud", 40}}, .usage = {                 \
        {"ud", NULL, 100},                                                                                  \
        {"uv", NULL, 1000},                                                                                 \
        {"uw", NULL, 100}                                                                                   \
    }
    CHECK(GROUP, .jobs = {{1, "uw", .is_running = true, .share = 692307692},
                          {2, "ud", .is_running = true, .share = 307692307}});
    CHECK(GROUP, .jobs = {{1, "uw", .is_running = true, .share = 169811320},
                          {2, "ud", .is_running = true, .share = 830188679},
                          {3, "uv", .share = 84905660}});
#undef GROUP
}

/* Two running jobs of a leaf get half of its part each. With -js they divide it by job shares, truncated to whole
 * tickets. */
static void test_running_job_shares(void **state)
{
    (void)state;
    CHECK(.settings = "weight_tickets_share 1000 compensation_factor 0", FLAT,
          .jobs = {{1, "ua", .is_running = true, .share = 312},
                   {2, "ua", .is_running = true, .share = 312},
                   {3, "ub", .is_running = true, .job_share = 1, .share = 93},
                   {4, "ub", .is_running = true, .job_share = 3, .share = 281}});
    struct ticket_case c;
    struct tickets tickets[2];
    ticket_case_init(&c, &(const struct world){.settings = "weight_tickets_share 1000",
                                               FLAT,
                                               .jobs = {{1, "ua", .is_running = true, .job_share = 1},
                                                        {2, "ua", .is_running = true, .job_share = 2}}});
    tickets_compute(&c.input, &c.arena, tickets);
    assert_true(tickets[0].share == 333 && tickets[1].share == 666);
    ticket_case_release(&c);
}

/* clang-format off */
#define PROJECTS .users = {{"ua"}, {"ub"}, {"uc"}, {"ud"}, {"ue"}}, .projects = {{"P1"}, {"P2"}}, \
    .tree = {{0, "Root", 1}, {1, "P1", 60}, {2, "ua", 10}, {2, "default", 20}, {1, "P2", 30}, \
             {1, "grp", 10}, {2, "uc", 5}, {2, "default", 5}}
/* clang-format on */

/* docs/formulas.md 5.1. */
static void test_c4_projects(void **state)
{
    (void)state;
    CHECK(.settings = "weight_tickets_share 1000000000 compensation_factor 0", PROJECTS,
          .jobs = {{21, "ua", "P1", .share = 150000000},
                   {22, "ub", "P1", .share = 600000000},
                   {23, "uc", "P1", .share = 300000000},
                   {24, "ua", "P2", .share = 300000000},
                   {25, "ub", "P2", .share = 150000000},
                   {26, "ua", .share = 100000000},
                   {27, "uc", .share = 50000000},
                   {28, "ud", .share = 33333333},
                   {29, "ue", "P1", .share = 199999999},
                   {30, "ub", "P1", .share = 120000000}});
    CHECK(.settings = "weight_tickets_share 1000000000 compensation_factor 0", PROJECTS,
          .usage = {{"ua", "P1", 1000},
                    {"ub", "P1", 500},
                    {"ub", "P2", 300},
                    {"uc", NULL, 200},
                    {"uc", "P1", 50},
                    {"ud", NULL, 100},
                    {NULL, "P1", 1800},
                    {NULL, "P2", 300}},
          .jobs = {{21, "ua", "P1", .share = 75000000},
                   {22, "ub", "P1", .share = 125000000},
                   {23, "uc", "P1", .share = 187500000},
                   {24, "ua", "P2", .share = 562500000},
                   {25, "ub", "P2", .share = 281250000},
                   {26, "ua", .share = 62500000},
                   {27, "uc", .share = 20833333},
                   {28, "ud", .share = 31250000},
                   {29, "ue", "P1", .share = 375000000},
                   {30, "ub", "P1", .share = 93750000}});
}

static void test_c5_default_only(void **state)
{
    (void)state;
    CHECK(.settings = "weight_tickets_share 1000000000", .users = {{"ua"}, {"ub"}, {"ue"}},
          .tree = {{0, "Root", 1}, {1, "default", 10}}, .usage = {{"ua", NULL, 1000}, {"ub", NULL, 10}},
          .jobs = {{40, "ua", .share = 322476},
                   {41, "ua", .share = 161238},
                   {42, "ub", .share = 32247662},
                   {43, "ue", .share = 967429861}});
}

/* clang-format off */
#define NESTED .users = {{"ua"}, {"ub"}, {"uc"}, {"ud"}, {"ue"}}, \
    .tree = {{0, "Root", 1}, {1, "A", 70}, {2, "A1", 1}, {3, "ua", 1}, {3, "ub", 1}, {2, "A2", 3}, {3, "uc", 1}, \
             {1, "B", 30}, {2, "ud", 1}}
/* clang-format on */

/* Three levels; a user without a node; and levels with a single active child, which change nothing. */
static void test_c5_nested(void **state)
{
    (void)state;
    CHECK(.settings = "weight_tickets_share 1000000000", NESTED, .usage = {{"ua", NULL, 1000}, {"ub", NULL, 10}},
          .jobs = {{40, "ua", .share = 403637},
                   {41, "ua", .share = 322910},
                   {42, "ub", .share = 538183},
                   {43, "ue"},
                   {44, "uc", .share = 1614550},
                   {45, "ud", .share = 998385449},
                   {46, "uc", .share = 807275}});
    CHECK(.settings = "weight_tickets_share 1000000000", NESTED, .usage = {{"ua", NULL, 1000}, {"ub", NULL, 10}},
          .jobs = {
              {40, "ua", .share = 9900990}, {41, "ua", .share = 4950495}, {42, "ub", .share = 990099009}, {43, "ue"}});
}

static void test_c5_zero_shares(void **state)
{
    (void)state;
    CHECK(.settings = "weight_tickets_share 1000000000", .users = {{"ua"}, {"ub"}, {"uc"}},
          .tree = {{0, "Root", 1}, {1, "ua", 0}, {1, "ub", 10}, {1, "uc", 0}}, .usage = {{"ua", NULL, 1000}},
          .jobs = {{40, "ua"}, {42, "ub", .share = 1000000000}, {47, "uc"}});
    CHECK(.settings = "weight_tickets_share 1000000000", .users = {{"ua"}, {"ub"}},
          .tree = {{0, "Root", 1}, {1, "ua", 0}, {1, "ub", 0}}, .jobs = {{40, "ua"}, {42, "ub"}});
}

/* --- functional --------------------------------------------------------------------------------------------------- */

/* clang-format off */
#define THREE .users = {{"ua", 100}, {"ub", 200}, {"uc", 0}}
/* clang-format on */

/* docs/formulas.md 5.5. */
static void test_d1_users(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        double tickets[6];
    } ROWS[] = {
        {"weight_tickets_functional 1000000000", {83333333, 41666666, 27777777, 250000000, 83333333, 0}},
        {"weight_tickets_functional 1000000000 policy_hierarchy NONE",
         {83333333, 41666666, 27777777, 250000000, 83333333, 0}},
        {"weight_tickets_functional 1000000000 share_functional_shares FALSE",
         {50000000, 41666666, 35714285, 250000000, 125000000, 0}},
        {"weight_tickets_functional 1000000000 weight_user 1 weight_project 0 weight_department 0 weight_job 0",
         {333333333, 166666666, 111111111, 1000000000, 333333333, 0}},
        {"weight_tickets_functional 1000000000 weight_user 2 weight_project 0 weight_department 0 weight_job 0.5",
         {266666666, 133333333, 88888888, 800000000, 266666666, 0}},
        {"weight_tickets_functional 1000000000 max_functional_jobs_to_schedule 2",
         {83333333, 124999375, 124999375, 250000000, 124999375, 0}},
        {"weight_tickets_functional 1000000000 max_functional_jobs_to_schedule 4",
         {83333333, 41666666, 41666527, 250000000, 83333333, 0}},
        {"weight_tickets_functional 1000000000 max_functional_jobs_to_schedule 1 share_functional_shares FALSE",
         {249997500, 249997500, 249997500, 250000000, 249998750, 0}},
    };
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        const double *t = ROWS[r].tickets;
        CHECK(.settings = ROWS[r].settings, THREE,
              .jobs = {{34, "ua", .functional = t[0]},
                       {35, "ua", .functional = t[1]},
                       {36, "ua", .functional = t[2]},
                       {37, "ub", .functional = t[3]},
                       {38, "ub", .functional = t[4]},
                       {39, "uc", .functional = t[5]}});
    }
}

static void test_d2_mixed(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        double tickets[6], with_job_shares[6];
    } ROWS[] = {
        {"weight_tickets_functional 1000000000 weight_user 0.1 weight_project 0.2 weight_department 0.3 weight_job 0.4",
         {200000000, 140000000, 600000000, 186666666, 45000000, 0},
         {675000000, 185000000, 600000000, 90000000, 390000000, 0}},
        {"weight_tickets_functional 1000000000 share_functional_shares FALSE weight_user 0.1 weight_project 0.2 "
         "weight_department 0.3 weight_job 0.4",
         {275000000, 178064516, 600000000, 110259740, 45638945, 0},
         {1000000000, 163583996, 272105263, 90638945, 415714285, 0}},
    };
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        for (int shares = 0; shares < 2; shares++) {
            const double *t = shares == 0 ? ROWS[r].tickets : ROWS[r].with_job_shares;
            CHECK(.settings = ROWS[r].settings, .users = {{"ua", 10}, {"ub", 30}, {"uc", 60}, {"ud"}},
                  .projects = {{"p1", 55}, {"p2", 45}}, .departments = {{"dx", 90}, {"dy", 10}, {"default"}},
                  .jobs = {{40, "ua", "p1", "dx", .job_share = shares * 100, .functional = t[0]},
                           {41, "ua", "p2", "dx", .functional = t[1]},
                           {42, "ub", "p1", "dx", .functional = t[2]},
                           {43, "uc", "p2", "dy", .functional = t[3]},
                           {44, "uc", NULL, "dy", .job_share = shares * 300, .functional = t[4]},
                           {45, "ud", NULL, "default"}});
        }
    }
}

static void test_d3_running(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        double tickets[4];
    } ROWS[] = {
        {"weight_tickets_functional 1000000000", {41666666, 31250000, 125000000, 62500000}},
        {"weight_tickets_functional 1000000000 share_functional_shares FALSE",
         {83333333, 62500000, 50000000, 41666666}},
    };
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        CHECK(.settings = ROWS[r].settings, .users = {{"ua", 100}, {"ub", 100}},
              .jobs = {{46, "ua", .is_running = true, .functional = 500000000},
                       {47, "ua", .is_running = true, .functional = 500000000},
                       {48, "ua", .functional = ROWS[r].tickets[0]},
                       {49, "ua", .functional = ROWS[r].tickets[1]},
                       {50, "ub", .functional = ROWS[r].tickets[2]},
                       {51, "ub", .functional = ROWS[r].tickets[3]}});
    }
}

/* The tasks of an array are jobs of their own: one task, and four of ten tasks because three slots are free. */
static void test_d4_arrays(void **state)
{
    (void)state;
    for (uint32_t tasks = 1; tasks <= 4; tasks += 3) {
        struct ticket_case c;
        struct tickets t[6];
        ticket_case_init(&c, &(const struct world){.settings = "weight_tickets_functional 1000000000",
                                                   .users = {{"ua", 100}, {"ub", 100}},
                                                   .jobs = {{52, "ua"}, {53, "ub"}, {54, "ub"}}});
        for (uint32_t task = 1; task < tasks; task++) {
            c.jobs[c.input.job_count] = c.jobs[0];
            c.jobs[c.input.job_count++].task = task;
        }
        tickets_compute(&c.input, &c.arena, t);
        assert_tickets("d4", 52, "functional", t[0].functional, 250000000);
        assert_tickets("d4", 53, "functional", t[1].functional, 125000000);
        assert_tickets("d4", 54, "functional", t[2].functional, 62500000);
        if (tasks == 4) assert_tickets("d4, task 4", 52, "functional", t[5].functional, 31250000);
        ticket_case_release(&c);
    }
}

/* docs/formulas.md 5.5: partitions as job classes, which the manual describes and 8.1.9 does not have. */
static void test_job_classes(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        double functional[2];
    } ROWS[] = {
        {"weight_tickets_functional 1000000000", {0, 0}},
        {"weight_tickets_functional 1000000000 weight_job_class 0.25", {50000000, 200000000}},
    };
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        CHECK(.settings = ROWS[r].settings, .users = {{"ua"}}, .job_classes = {{"fast", 300, 70}, {"slow", 100}},
              .jobs = {{1, "ua", .job_class = "slow", .functional = ROWS[r].functional[0]},
                       {2, "ua", .job_class = "fast", .override = 70, .functional = ROWS[r].functional[1]}});
    }
}

/* --- override and hierarchy --------------------------------------------------------------------------------------- */

/* docs/formulas.md 5.5: the next policies see no functional tickets of the first job that is not selected. With a limit
 * of 2 it is job 3, which is behind job 4 therefore, although both show the same tickets. */
static void test_jobs_beyond_the_limit(void **state)
{
    (void)state;
#define ONE .users = {{"ua", 100, 900}}, .tree = { {0, "Root", 1}, {1, "ua", 50}, {1, "ub", 30} }
#define RULES                                                                                                        \
    "weight_tickets_functional 1000000 weight_tickets_share 600 weight_user 1 weight_project 0 weight_department 0 " \
    "weight_job 0 max_functional_jobs_to_schedule "
    CHECK(.settings = RULES "2 policy_hierarchy FSO", ONE,
          .jobs = {{1, "ua", .functional = 1000000, .share = 600, .override = 900},
                   {2, "ua", .functional = 500000, .share = 300, .override = 450},
                   {3, "ua", .functional = 499995, .share = 150, .override = 225},
                   {4, "ua", .functional = 499995, .share = 200, .override = 300}});
    CHECK(.settings = RULES "2 policy_hierarchy OSF", ONE,
          .jobs = {{1, "ua", .functional = 1000000, .share = 600, .override = 900},
                   {2, "ua", .functional = 500000, .share = 300, .override = 450},
                   {3, "ua", .functional = 499995, .share = 200, .override = 300},
                   {4, "ua", .functional = 499995, .share = 150, .override = 225}});
    CHECK(.settings = RULES "4 policy_hierarchy FSO", ONE,
          .jobs = {{1, "ua", .functional = 1000000, .share = 600, .override = 900},
                   {2, "ua", .functional = 500000, .share = 300, .override = 450},
                   {3, "ua", .functional = 333333, .share = 200, .override = 300},
                   {4, "ua", .functional = 250000, .share = 150, .override = 225}});
#undef RULES
#undef ONE
}

/* clang-format off */
#define GIVEN .users = {{"ua", 0, 1000}, {"ub"}, {"uc", 0, 500}, {"ud"}}, .projects = {{"p1", 0, 300}}, \
    .departments = {{"dx", 0, 60}}
/* clang-format on */

/* docs/formulas.md 5.5. */
static void test_e1_override(void **state)
{
    (void)state;
    CHECK(.settings = "", GIVEN,
          .jobs = {{55, "ua", .override = 333},
                   {56, "ua", "p1", .override = 1300},
                   {57, "ua", "p1", .override = 650},
                   {58, "ub", "p1", "dx", .override = 130},
                   {59, "ub", NULL, "dx", .override = 20},
                   {60, "uc", NULL, "dx", .override = 560},
                   {61, "ud"}});
    CHECK(.settings = "share_override_tickets FALSE", GIVEN,
          .jobs = {{55, "ua", .override = 1000},
                   {56, "ua", "p1", .override = 1300},
                   {58, "ub", "p1", "dx", .override = 360},
                   {60, "uc", NULL, "dx", .override = 560},
                   {61, "ud"},
                   {59, "ub", NULL, "dx", .override_tickets = 777, .override = 837},
                   {57, "ua", "p1", .override_tickets = 50, .override = 1350}});
    CHECK(.settings = "", GIVEN,
          .jobs = {{55, "ua", .override = 333},
                   {56, "ua", "p1", .override = 650},
                   {58, "ub", "p1", "dx", .override = 120},
                   {60, "uc", NULL, "dx", .override = 530},
                   {61, "ud"},
                   {59, "ub", NULL, "dx", .override_tickets = 777, .override = 837},
                   {57, "ua", "p1", .override_tickets = 50, .override = 1350}});
}

/* Running jobs divide the tickets of their members, or each gets all of them. */
static void test_override_running(void **state)
{
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        CHECK(.settings = shared ? "" : "share_override_tickets FALSE", GIVEN,
              .jobs = {{1, "ua", "p1", .is_running = true, .override = shared ? 650 : 1300},
                       {2, "ub", "p1", "dx", .is_running = true, .override = shared ? 210 : 360},
                       {3, "ua", .is_running = true, .override_tickets = 5, .override = shared ? 505 : 1005},
                       {4, "ua", .override = shared ? 333 : 1000}});
    }
}

static void test_e1_with_functional(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        double functional[6];
    } ROWS[] = {
        {"weight_tickets_functional 10000", {416, 625, 625, 0, 1250, 2500}},
        {"weight_tickets_functional 10000 policy_hierarchy OF", {416, 625, 625, 0, 1250, 2500}},
        {"weight_tickets_functional 10000 policy_hierarchy OS", {2500, 625, 1250, 0, 625, 416}},
        {"weight_tickets_functional 10000 policy_hierarchy FO", {2500, 625, 1250, 0, 625, 416}},
        {"weight_tickets_functional 10000 policy_hierarchy NONE", {2500, 625, 1250, 0, 625, 416}},
    };
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        const double *t = ROWS[r].functional;
        CHECK(.settings = ROWS[r].settings, .users = {{"ua", 100, 1000}, {"ub", 100}, {"uc", 0, 500}, {"ud"}},
              .projects = {{"p1", 0, 300}}, .departments = {{"dx", 0, 60}},
              .jobs = {{55, "ua", .override = 333, .functional = t[0]},
                       {56, "ua", "p1", .override = 650, .functional = t[1]},
                       {58, "ub", "p1", "dx", .override = 120, .functional = t[2]},
                       {60, "uc", NULL, "dx", .override = 530, .functional = t[3]},
                       {61, "ud"},
                       {59, "ub", NULL, "dx", .override_tickets = 777, .override = 837, .functional = t[4]},
                       {57, "ua", "p1", .override_tickets = 50, .override = 1350, .functional = t[5]}});
    }
}

/* docs/formulas.md 5.5: the hierarchy decides the order among the jobs of one user. */
static void test_e2_hierarchy(void **state)
{
    (void)state;
    static const struct {
        const char *order;
        double functional[4], share[4]; /* a1, a2, a4, a3; a3 was changed and has -ot 500 */
    } ROWS[] = {
        {"OFS", {625, 416, 312, 2500}, {6000, 4000, 3000, 12000}},
        {"OSF", {625, 416, 312, 2500}, {6000, 4000, 3000, 12000}},
        {"OS", {2500, 625, 416, 312}, {6000, 4000, 3000, 12000}},
        {"OF", {625, 416, 312, 2500}, {12000, 6000, 3000, 4000}},
        {"O", {2500, 625, 416, 312}, {12000, 6000, 3000, 4000}},
        {"F", {2500, 625, 312, 416}, {12000, 6000, 3000, 4000}},
        {"S", {2500, 625, 416, 312}, {12000, 6000, 3000, 4000}},
        {"FS", {2500, 625, 312, 416}, {12000, 6000, 3000, 4000}},
        {"SF", {2500, 625, 312, 416}, {12000, 6000, 3000, 4000}},
        {"SFO", {2500, 625, 312, 416}, {12000, 6000, 3000, 4000}},
        {"NONE", {2500, 625, 416, 312}, {12000, 6000, 3000, 4000}},
    };
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        const double *f = ROWS[r].functional, *s = ROWS[r].share;
        char settings[200];
        snprintf(settings, sizeof settings,
                 "policy_hierarchy %s weight_tickets_functional 10000 weight_tickets_share 20000", ROWS[r].order);
        CHECK(.settings = settings, .users = {{"ua", 100}, {"ub", 100}},
              .tree = {{0, "Root", 1}, {1, "ua", 60}, {1, "ub", 40}},
              .jobs = {{62, "ua", .functional = f[0], .share = s[0]},
                       {63, "ua", .functional = f[1], .share = s[1]},
                       {65, "ua", .functional = f[2], .share = s[2]},
                       {66, "ub", .functional = 1250, .share = 8000},
                       {67, "ub", .functional = 625, .share = 4000},
                       {64, "ua", .override_tickets = 500, .override = 500, .functional = f[3], .share = s[3]}});
    }
}

/* --- empty inputs ------------------------------------------------------------------------------------------------- */

static void test_empty(void **state)
{
    (void)state;
    CHECK(.settings = "weight_tickets_share 1000 weight_tickets_functional 1000", FLAT);
    CHECK(.settings = "weight_tickets_share 1000 weight_tickets_functional 1000", .users = {{"ua"}},
          .jobs = {{1, "ua"}});
    CHECK(.settings = "", .users = {{"ua", 100, 0}}, .tree = {{0, "Root", 1}, {1, "ua", 1}}, .jobs = {{1, "ua"}});
    CHECK(.settings = "weight_tickets_functional 1000 weight_user 0 weight_project 0 weight_department 0 weight_job 0",
          .users = {{"ua", 100}}, .jobs = {{1, "ua"}, {2, "ua", .is_running = true}});
    CHECK(.settings = "weight_tickets_share 1000 weight_tickets_functional 1000", .users = {{"ua", 5}},
          .tree = {{0, "Root", 1}, {1, "ua", 1}},
          .jobs = {{1, "ua", .is_running = true, .functional = 1000, .share = 1000}});
    CHECK(.settings = "weight_tickets_functional 1000 max_functional_jobs_to_schedule 0", .users = {{"ua", 5}},
          .jobs = {{1, "ua"}, {2, "ua"}});
}

static void test_tasks_counted(void **state)
{
    (void)state;
    struct ticket_rules r = {.max_pending_tasks = 50};
    assert_int_equal(ticket_tasks_counted(&r, 0, 10), 1);
    assert_int_equal(ticket_tasks_counted(&r, 3, 10), 4);
    assert_int_equal(ticket_tasks_counted(&r, 3, 2), 2);
    assert_int_equal(ticket_tasks_counted(&r, UINT64_MAX, 100000), 50);
    r.max_pending_tasks = 2;
    assert_int_equal(ticket_tasks_counted(&r, 3, 10), 2);
    assert_int_equal(ticket_tasks_counted(&r, 3, 0), 0);
}

/* The long-term target depends on shares only, the short-term target on usage too; nodes without jobs have neither.
 * docs/formulas.md 5.3. */
static void test_targets(void **state)
{
    (void)state;
    static const struct ticket_node nodes[] = {
        {.parent = NONE, .shares = 1, .usage = 1600, .is_group = true},
        {.parent = 0, .shares = 50, .usage = 1000},
        {.parent = 0, .shares = 30, .usage = 500},
        {.parent = 0, .shares = 20, .usage = 100},
        {.parent = 0, .shares = 900, .usage = 0},
    };
    static const uint32_t jobs[] = {0, 1, 1, 1, 0};
    static const double long_terms[] = {1, 0.5, 0.3, 0.2, 0}, short_terms[] = {1, 2.5 / 8.3, 1.8 / 8.3, 4 / 8.3, 0};
    struct ticket_rules rules = {.compensation_factor = 0};
    struct arena arena = {0};
    struct share_targets targets;
    share_targets_compute(&rules, nodes, 5, jobs, &arena, &targets);
    for (int i = 0; i < 5; i++) {
        assert_true(fabs(targets.long_term[i] - long_terms[i]) < 1e-15);
        assert_true(fabs(targets.short_term[i] - short_terms[i]) < 1e-15);
    }
    share_targets_compute(&rules, NULL, 0, NULL, &arena, &targets);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c1_compensation),
        cmocka_unit_test(test_c1_ranks),
        cmocka_unit_test(test_c1_no_usage),
        cmocka_unit_test(test_job_shares),
        cmocka_unit_test(test_c2_running),
        cmocka_unit_test(test_running_job_shares),
        cmocka_unit_test(test_running_beside_pending),
        cmocka_unit_test(test_c4_projects),
        cmocka_unit_test(test_c5_default_only),
        cmocka_unit_test(test_c5_nested),
        cmocka_unit_test(test_c5_zero_shares),
        cmocka_unit_test(test_d1_users),
        cmocka_unit_test(test_d2_mixed),
        cmocka_unit_test(test_d3_running),
        cmocka_unit_test(test_d4_arrays),
        cmocka_unit_test(test_job_classes),
        cmocka_unit_test(test_jobs_beyond_the_limit),
        cmocka_unit_test(test_e1_override),
        cmocka_unit_test(test_override_running),
        cmocka_unit_test(test_e1_with_functional),
        cmocka_unit_test(test_e2_hierarchy),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_tasks_counted),
        cmocka_unit_test(test_targets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
