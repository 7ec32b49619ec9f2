/* Scheduling runs: the decisions of Grid Engine 8.1.9 in the first run of cases a1 to b12, whose jobs request n1, and
 * what other settings decide there. Times count from the submission of the running job. */
#include "../cluster_world.h"

#include "sched/run.h"

enum { N1, N2 };

struct pending_job {
    const char *name;
    uint32_t slots_min, slots_max, licenses;
    int64_t duration_s; /* 0: endless */
    bool wants_reservation;
};

struct running_job {
    uint32_t instance, slots, licenses;
    int64_t until_s; /* 0: endless */
};

struct run_case {
    const char *name;
    bool has_n2;
    struct running_job running[2];
    struct pending_job pending[8]; /* in the order of their priorities */
    int64_t now_s;
    uint32_t reservation_max;
    const char *decisions; /* "R1@60" is reserved, "R3" starts, "-C" waits; jobs after the end of the run are missing */
};

static const struct run_case recorded[] = {
    {"a1",
     true,
     {{0}},
     {{"L4", 1, 1, 4, 30, true}, {"L5", 1, 1, 5, 30, true}, {"L1", 1, 1, 1, 31, true}},
     0,
     10,
     "L4 L5@30 L1@60 "},
    {"b1",
     false,
     {{N1, 2, 0, 40}},
     {{"big", 4, 4, 0, 20, true},
      {"long", 1, 1, 0, 200, false},
      {"nodur", 1, 1, 0, 0, false},
      {"short", 1, 1, 0, 10, false}},
     6,
     10,
     "big@40 -long -nodur short "},
    {"b2",
     false,
     {{N1, 2, 0, 12}},
     {{"big", 4, 4, 0, 20, true},
      {"long1", 1, 1, 0, 200, false},
      {"long2", 1, 1, 0, 200, false},
      {"long3", 1, 1, 0, 200, false}},
     3,
     0,
     "-big long1 long2 "},
    {"b3",
     false,
     {{N1, 3, 0, 50}},
     {{"r1", 4, 4, 0, 50, true},
      {"r2", 3, 3, 0, 50, true},
      {"nodur", 1, 1, 0, 50, false},
      {"rt20", 1, 1, 0, 20, false},
      {"srt20", 1, 1, 0, 20, false}},
     6,
     1,
     "r1@50 -r2 -nodur rt20 "},
    {"b4",
     true,
     {{N1, 1, 3, 40}},
     {{"big", 1, 1, 5, 20, true},
      {"long", 1, 1, 2, 100, false},
      {"short", 1, 1, 2, 10, false},
      {"nolic", 1, 1, 0, 100, false}},
     6,
     10,
     "big@40 -long short nolic "},
    {"b5", false, {{N1, 3, 0, 0}}, {{"big", 4, 4, 0, 20, true}, {"small", 1, 1, 0, 100, false}}, 6, 10, "-big small "},
    {"b6",
     false,
     {{N1, 2, 0, 60}},
     {{"R1", 4, 4, 0, 20, true},
      {"R5", 4, 4, 0, 10, true},
      {"R2", 2, 2, 0, 100, true},
      {"R3", 2, 2, 0, 30, true},
      {"R4", 1, 1, 0, 30, true}},
     6,
     10,
     "R1@60 R5@80 R2@90 R3 "},
    {"b8", false, {{N1, 4, 0, 60}}, {{"r3", 3, 3, 0, 20, true}, {"r2", 2, 2, 0, 20, true}}, 2, 2, "r3@60 "},
    {"b9",
     true,
     {{N1, 2, 0, 60}},
     {{"R1", 4, 4, 0, 20, true},
      {"R5", 4, 4, 0, 10, true},
      {"R2", 2, 2, 0, 100, true},
      {"R3", 2, 2, 0, 30, true},
      {"R4", 1, 1, 0, 30, true}},
     12,
     10,
     "R1@60 R5@80 R2@90 R3 R4@90 "},
    {"b10",
     true,
     {{N1, 4, 0, 20}},
     {{"B", 4, 4, 0, 100, true}, {"C", 2, 2, 0, 10, true}, {"D", 2, 4, 0, 10, true}},
     6,
     10,
     "B@20 C@120 -D "},
    {"b11",
     true,
     {{N1, 4, 0, 60}},
     {{"r3", 3, 3, 0, 20, true}, {"r2", 2, 2, 0, 20, true}, {"arr", 1, 1, 0, 20, true}, {"r1", 1, 1, 0, 20, true}},
     8,
     2,
     "r3@60 r2@80 -arr -r1 "},
    {"b11, 4",
     true,
     {{N1, 4, 0, 60}},
     {{"r3", 3, 3, 0, 20, true},
      {"r2", 2, 2, 0, 20, true},
      {"arr", 1, 1, 0, 20, true},
      {"arr", 1, 1, 0, 20, true},
      {"arr", 1, 1, 0, 20, true},
      {"r1", 1, 1, 0, 20, true}},
     8,
     4,
     "r3@60 r2@80 arr@60 arr@80 -arr -r1 "},
    {"b12",
     true,
     {{N2, 1, 5, 100}, {N1, 4, 0, 20}},
     {{"B", 4, 4, 1, 50, true}, {"C", 2, 2, 0, 10, true}, {"D", 2, 2, 0, 10, true}, {"S", 1, 1, 0, 10, true}},
     9,
     10,
     "B@100 C@150 D@150 S@160 "},
};

static void run_all(const struct run_case *row, const struct run_rules *rules, bool is_on_n1, char *out_decisions)
{
    struct cluster_world w;
    struct run run;
    const uint64_t on_n1 = 1 << N1;
    world_init(&w);
    world_host(&w, "n1");
    world_instance(&w, "n1", 4);
    world_host(&w, "n2");
    world_instance(&w, "n2", 4);
    w.c.instances.items[N2].is_off = !row->has_n2;
    world_environment(&w, "smp", ALLOCATE_ONE_HOST, 0, 999);
    for (size_t i = 0; i < COUNT(row->running) && row->running[i].slots > 0; i++) {
        const struct running_job *j = &row->running[i];
        const struct need license = {LICENSE, NEED_PER_JOB, j->licenses, NULL, true, false, NULL};
        const struct demand d = {.shape = NONE, .needs = &license, .need_count = j->licenses > 0};
        struct allocation_part part = {j->instance, j->slots};
        const struct allocation a = {.environment = 0, .slots = j->slots, .part_count = 1, .parts = &part};
        cluster_book(&w.c, &d, &a, 0, j->until_s > 0 ? j->until_s * SECOND : TIMELINE_END);
    }
    out_decisions[0] = '\0';
    run_begin(&run, &w.c, rules, row->now_s * SECOND, &w.arena);
    for (size_t i = 0; i < COUNT(row->pending) && row->pending[i].name != NULL && !run_is_over(&run); i++) {
        const struct pending_job *j = &row->pending[i];
        const struct need license = {LICENSE, NEED_PER_SLOT, j->licenses, NULL, true, false, NULL};
        const struct slot_range range = {j->slots_min, j->slots_max};
        const uint32_t environment = 0;
        const struct demand d = {.shape = NONE,
                                 .needs = &license,
                                 .need_count = j->licenses > 0,
                                 .allowed = is_on_n1 ? &on_n1 : NULL,
                                 .environments = &environment,
                                 .environment_count = j->slots_max > 1,
                                 .ranges = &range,
                                 .range_count = 1,
                                 .duration_us = j->duration_s > 0 ? j->duration_s * SECOND : TIMELINE_END};
        struct run_decision decision = run_job(&run, &d, j->wants_reservation);
        size_t length = strlen(out_decisions);
        snprintf(out_decisions + length, 200 - length, "%s%s", decision.outcome == RUN_WAITS ? "-" : "", j->name);
        length = strlen(out_decisions);
        if (decision.outcome == RUN_RESERVED)
            snprintf(out_decisions + length, 200 - length, "@%d", (int)(decision.start_us / SECOND));
        strcat(out_decisions, " ");
    }
    run_end(&run);
    world_release(&w);
}

static void recorded_runs(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(recorded); i++) {
        const struct run_case *row = &recorded[i];
        bool is_on_n1 = strcmp(row->name, "a1") != 0 && strcmp(row->name, "b4") != 0;
        const struct run_rules rules = {.reservations = RUN_RESERVE_REQUESTED,
                                        .reservation_max = row->reservation_max,
                                        .search = RESERVE_WITHOUT_GAPS,
                                        .ends_when_full = true};
        char decisions[200];
        run_all(row, &rules, is_on_n1, decisions);
        print_message("# %s\n", row->name);
        assert_string_equal(decisions, row->decisions);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(recorded_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
