/* The order of instances: the placements of Grid Engine 8.1.9 (cases g2 to g7), where no two hosts have equal loads. */
#include "../cluster_world.h"

#include "sched/load.h"

enum { NP_LOAD_AVG = WORLD_RESOURCES, HOSTS = 4, NOW_S = 1000 };

struct load_case {
    const char *name;
    double loads[HOSTS]; /* np_load_avg of n1 to n4, with 2 CPUs each */
    uint32_t slots;      /* of an instance */
    struct load_rules rules;
    uint32_t job_slots[12];
    const char *placements; /* the host of each job; - is none */
};

static void make_world(struct cluster_world *w, const struct load_case *row)
{
    static const char *const names[] = {"n1", "n2", "n3", "n4"};
    world_init(w);
    *array_add(&w->c.resources) = (struct sched_resource){.name = "np_load_avg", .relation = RELATION_GREATER_EQUAL};
    for (uint32_t i = 0; i < HOSTS; i++) {
        world_host(w, names[i]);
        world_instance(w, names[i], row->slots);
        w->c.hosts.items[i].cpus = 2;
        world_offer(&w->c.hosts.items[i].offers, NP_LOAD_AVG, row->loads[i]);
    }
    world_environment(w, "smp", ALLOCATE_ONE_HOST, 0, 999);
    load_begin(&w->c, &row->rules, NOW_S * SECOND);
}

static bool place_one(struct cluster_world *w, const struct load_rules *rules, uint32_t slots, struct allocation *out)
{
    const uint32_t environment = 0;
    const struct slot_range range = {slots, slots};
    const struct demand d = {.environments = &environment,
                             .environment_count = slots > 1,
                             .ranges = &range,
                             .range_count = 1,
                             .duration_us = TIMELINE_END};
    if (!place_job(&w->c, &d, (struct window){NOW_S * SECOND, TIMELINE_END}, NULL, &w->arena, out)) return false;
    cluster_book(&w->c, &d, out, NOW_S * SECOND, TIMELINE_END);
    load_placed(&w->c, rules, w->c.instances.items[out->parts[0].instance].host, slots, NOW_S * SECOND);
    return true;
}

#define LOADS                  \
    {                          \
        0.05, 0.25, 0.45, 0.15 \
    }
#define MINUTES_7_30 (450 * (int64_t)SECOND)
#define EIGHT                  \
    {                          \
        1, 1, 1, 1, 1, 1, 1, 1 \
    }

static const struct load_term np_load[] = {{NP_LOAD_AVG, 1}}, minus_np_load[] = {{NP_LOAD_AVG, -1}},
                              twice_np_load[] = {{NP_LOAD_AVG, 2}};
static const struct load_adjustment half[] = {{NP_LOAD_AVG, 0.50}}, tenth[] = {{NP_LOAD_AVG, 0.10}},
                                    three_twentieths[] = {{NP_LOAD_AVG, 0.15}};

static const struct load_case recorded[] = {
    {"np_load_avg", LOADS, 2, {np_load, 1, NULL, 0, 0, ORDER_BY_LOAD}, EIGHT, "n1 n1 n4 n4 n2 n2 n3 n3 "},
    {"-np_load_avg", LOADS, 2, {minus_np_load, 1, NULL, 0, 0, ORDER_BY_LOAD}, {1, 1, 1, 1}, "n3 n3 n2 n2 "},
    {"np_load_avg*2", LOADS, 2, {twice_np_load, 1, NULL, 0, 0, ORDER_BY_LOAD}, {1, 1, 1, 1}, "n1 n1 n4 n4 "},
    {"+0.50", LOADS, 2, {np_load, 1, half, 1, MINUTES_7_30, ORDER_BY_LOAD}, EIGHT, "n1 n4 n2 n1 n4 n3 n2 n3 "},
    {"+0.10", LOADS, 2, {np_load, 1, tenth, 1, MINUTES_7_30, ORDER_BY_LOAD}, EIGHT, "n1 n1 n4 n4 n2 n2 n3 n3 "},
    {"+0.50, no decay time", LOADS, 2, {np_load, 1, half, 1, 0, ORDER_BY_LOAD}, EIGHT, "n1 n1 n4 n4 n2 n2 n3 n3 "},
    {"once per slot",
     LOADS,
     4,
     {np_load, 1, three_twentieths, 1, MINUTES_7_30, ORDER_BY_LOAD},
     {3, 1, 1, 1, 1, 1},
     "n1 n4 n4 n2 n1 n4 "},
    {"scaled on n3",
     {0.05, 0.25, 0.045, 0.15},
     2,
     {np_load, 1, NULL, 0, 0, ORDER_BY_LOAD},
     EIGHT,
     "n3 n3 n1 n1 n4 n4 n2 n2 "},
};

static void recorded_orders(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(recorded); i++) {
        const struct load_case *row = &recorded[i];
        struct cluster_world w;
        char placements[100] = "";
        make_world(&w, row);
        for (size_t k = 0; k < COUNT(row->job_slots) && row->job_slots[k] > 0; k++) {
            struct allocation a;
            bool is_placed = place_one(&w, &row->rules, row->job_slots[k], &a);
            strcat(placements, is_placed ? w.c.instances.items[a.parts[0].instance].name : "-");
            strcat(placements, " ");
        }
        print_message("# %s\n", row->name);
        assert_string_equal(placements, row->placements);
        world_release(&w);
    }
}

/* Case g6: one job may take a queue over its threshold. */
static void thresholds_close(void **unused)
{
    static const struct load_threshold threshold = {NP_LOAD_AVG, 1.75};
    static const struct load_case row = {
        .loads = {1.70, 1.80, 0.90, 5.00}, .slots = 4, .rules = {np_load, 1, half, 1, MINUTES_7_30, ORDER_BY_LOAD}};
    (void)unused;
    struct cluster_world w;
    char placements[100] = "";
    make_world(&w, &row);
    for (uint32_t i = 0; i < HOSTS; i++) {
        w.c.instances.items[i].thresholds = &threshold;
        w.c.instances.items[i].threshold_count = 1;
    }
    load_begin(&w.c, &row.rules, NOW_S * SECOND);
    for (int i = 0; i < 8; i++) {
        struct allocation a;
        bool is_placed = place_one(&w, &row.rules, 1, &a);
        strcat(placements, is_placed ? w.c.instances.items[a.parts[0].instance].name : "-");
    }
    assert_string_equal(placements, "n3n3n3n3n1---");
    assert_true(load_value(&w.c, &row.rules, 2, NP_LOAD_AVG, NOW_S * SECOND) == 0.90 + 0.50 * 4 / 2);
    world_release(&w);
}

static const char *order_of(const struct cluster_world *w)
{
    static char text[100];
    text[0] = '\0';
    for (uint32_t i = 0; i < w->c.order.count; i++) {
        strcat(text, w->c.instances.items[w->c.order.items[i]].name);
        strcat(text, " ");
    }
    return text;
}

/* The worked example of docs/formulas.md 8.3. */
static void the_share_furthest_unmet_is_first(void **unused)
{
    static const struct load_case row = {.slots = 4, .rules = {.order = ORDER_BY_SHARE}};
    static const uint32_t cpus[HOSTS] = {4, 2, 2, 0};
    struct cluster_world w;
    (void)unused;
    make_world(&w, &row);
    for (uint32_t i = 0; i < HOSTS; i++) w.c.hosts.items[i].cpus = cpus[i];
    w.c.hosts.items[3].tickets = 9999; /* far above its share: it is last */
    load_begin(&w.c, &row.rules, NOW_S * SECOND);
    assert_string_equal(order_of(&w), "n1 n2 n3 n4 ");
    w.c.hosts.items[0].tickets = 300;
    w.c.hosts.items[1].tickets = 100;
    w.c.hosts.items[3].tickets = 0;
    w.c.hosts.count = 3;
    w.c.instances.count = 3;
    load_begin(&w.c, &row.rules, NOW_S * SECOND);
    assert_string_equal(order_of(&w), "n3 n2 n1 ");
    assert_true(w.c.hosts.items[0].load == 0.25 && w.c.hosts.items[1].load == 0.0 && w.c.hosts.items[2].load == -0.25);
    w.c.hosts.items[2].tickets = 200; /* of a job that starts */
    load_placed(&w.c, &row.rules, 2, 1, NOW_S * SECOND);
    assert_string_equal(order_of(&w), "n2 n1 n3 ");
    w.c.hosts.count = HOSTS;
    w.c.instances.count = HOSTS;
    world_release(&w);
}

static void adjustments_fade_in_hundredths(void **unused)
{
    const struct load_rules rules = {.decay_us = 40 * (int64_t)SECOND};
    (void)unused;
    assert_true(load_started_slots(&rules, 0) == 1.0);
    assert_true(load_started_slots(&rules, 10 * SECOND) == 0.75);
    assert_true(load_started_slots(&rules, 14 * SECOND + SECOND / 2) == 0.63); /* 0.6375 */
    assert_true(load_started_slots(&rules, 40 * SECOND) == 0.0);
    assert_true(load_started_slots(&(struct load_rules){0}, 0) == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(recorded_orders), cmocka_unit_test(thresholds_close),
                                       cmocka_unit_test(the_share_furthest_unmet_is_first),
                                       cmocka_unit_test(adjustments_fade_in_hundredths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
