/* Placements: the allocations that Grid Engine 8.1.9 made (case i2_pe_allocation: load order n2, n4, n3, n1; 2 slots of
 * n2 and one of n3 taken, 4 on each host), and what the levels of consumables limit (case i4_consumable_kinds). */
#include "../cluster_world.h"

enum { N2, N4, N3, N1 };

static void make_i2(struct cluster_world *w)
{
    static const char *const hosts[] = {"n2", "n4", "n3", "n1"};
    world_init(w);
    for (size_t i = 0; i < COUNT(hosts); i++) {
        world_host(w, hosts[i]);
        world_instance(w, hosts[i], 4);
    }
    world_environment(w, "smp", ALLOCATE_ONE_HOST, 0, 999);
    world_environment(w, "rr", ALLOCATE_ROUND_ROBIN, 0, 999);
    world_environment(w, "fill", ALLOCATE_FILL_UP, 0, 999);
    world_environment(w, "two", ALLOCATE_FIXED, 2, 999);
    world_environment(w, "one", ALLOCATE_FIXED, 1, 999);
    world_environment(w, "small", ALLOCATE_FILL_UP, 0, 3);
    world_run(w, "smp", N2, 2, 0, 1000);
    world_run(w, NULL, N3, 1, 0, 1000);
}

static const char *place_in(struct cluster_world *w, const char *environment, struct slot_range range,
                            struct demand demand)
{
    uint32_t index = world_find_environment(w, environment);
    struct allocation a;
    demand.environments = &index;
    demand.environment_count = 1;
    demand.ranges = &range;
    demand.range_count = 1;
    return place_job(&w->c, &demand, (struct window){10 * SECOND, 20 * SECOND}, NULL, &w->arena, &a) ? world_text(w, &a)
                                                                                                     : "nowhere";
}

static void recorded_allocations(void **unused)
{
    static const struct need two_licenses = {LICENSE, NEED_PER_SLOT, 2, NULL, true, false, NULL};
    static const uint64_t n2_n3 = 1 << N2 | 1 << N3, only_n1 = 1 << N1;
    static const struct {
        const char *environment;
        struct slot_range range;
        struct demand demand;
        const char *allocation;
    } rows[] = {
        {"fill", {6, 6}, {0}, "n2 2, n4 4"},
        {"fill", {13, 13}, {0}, "n2 2, n4 4, n3 3, n1 4"},
        {"fill", {14, 14}, {0}, "nowhere"},
        {"fill", {3, 5}, {0}, "n2 2, n4 3"},
        {"two", {4, 4}, {0}, "n2 2, n4 2"},
        {"two", {5, 5}, {0}, "nowhere"},
        {"two", {2, 6}, {0}, "n2 2, n4 2, n3 2"},
        {"one", {4, 4}, {0}, "n2 1, n4 1, n3 1, n1 1"},
        {"one", {5, 5}, {0}, "nowhere"},
        {"rr", {6, 6}, {0}, "n2 2, n4 2, n3 1, n1 1"},
        {"rr", {11, 11}, {0}, "n2 2, n4 3, n3 3, n1 3"},
        {"rr", {2, 20}, {0}, "n2 2, n4 4, n3 3, n1 4"},
        {"smp", {4, 4}, {0}, "n4 4"},
        {"smp", {2, 9}, {0}, "n4 4"},
        {"small", {4, 4}, {0}, "nowhere"},
        {"small", {2, 4}, {0}, "n2 2, n4 1"},
        {"fill", {4, 4}, {.allowed = &n2_n3}, "n2 2, n3 2"},
        {"rr", {3, 3}, {.masters = &only_n1}, "n1 1, n2 1, n4 1"},
        {"fill", {5, 5}, {.preferred = &only_n1}, "n1 4, n2 1"},
        {"fill", {4, 4}, {.needs = &two_licenses, .need_count = 1}, "nowhere"},
        {"fill", {2, 2}, {.needs = &two_licenses, .need_count = 1}, "n2 2"},
    };
    (void)unused;
    struct cluster_world w;
    make_i2(&w);
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("# %s %u-%u\n", rows[i].environment, rows[i].range.min, rows[i].range.max);
        assert_string_equal(place_in(&w, rows[i].environment, rows[i].range, rows[i].demand), rows[i].allocation);
    }
    world_release(&w);
}

/* At most so many hosts; of those that are not among some hosts at most so many; at most so many slots on each. n2, n4,
 * n3 and n1 have 2, 4, 3 and 4 free slots. */
static void limited_hosts(void **unused)
{
    static const uint64_t n2 = 1 << N2, n2_n3 = 1 << N2 | 1 << N3, only_n1 = 1 << N1, none = 0;
    static const struct host_limit one_more = {&n2, 1}, none_more = {&n2_n3, 0}, two_in_all = {&none, 2};
    static const struct host_limit nested[] = {{&n2, 1}, {&n2_n3, 0}};
    static const struct {
        const char *environment; /* NULL: on a number of hosts */
        struct slot_range range;
        struct demand demand;
        const char *allocation;
    } rows[] = {
        {"fill", {4, 4}, {.host_max = 1}, "n4 4"},
        {"fill", {5, 5}, {.host_max = 1}, "nowhere"},
        {"fill", {2, 2}, {.host_max = 1}, "n2 2"},
        {"fill", {6, 6}, {.host_max = 2}, "n2 2, n4 4"},
        {"fill", {7, 7}, {.host_max = 2}, "n4 4, n1 3"},
        {"fill", {3, 9}, {.host_max = 2}, "n4 4, n1 4"},
        {"rr", {4, 4}, {.host_max = 1}, "n4 4"},
        {"rr", {4, 4}, {.host_max = 2}, "n2 2, n4 2"},
        {"rr", {6, 6}, {.host_max = 3}, "n2 2, n4 2, n3 2"},
        {"rr", {8, 8}, {.host_max = 2}, "n4 4, n1 4"},
        {"two", {4, 4}, {.host_max = 1}, "nowhere"},
        {"two", {2, 8}, {.host_max = 3}, "n2 2, n4 2, n3 2"},
        {"smp", {4, 4}, {.host_limits = &none_more, .host_limit_count = 1}, "nowhere"},
        {"smp", {3, 3}, {.host_limits = &none_more, .host_limit_count = 1}, "n3 3"},
        {"fill", {5, 5}, {.host_limits = &none_more, .host_limit_count = 1}, "n2 2, n3 3"},
        {"fill", {6, 6}, {.host_limits = &none_more, .host_limit_count = 1}, "nowhere"},
        {"rr", {6, 6}, {.host_limits = &one_more, .host_limit_count = 1}, "n2 2, n4 4"},
        {"rr", {7, 7}, {.host_limits = &one_more, .host_limit_count = 1}, "nowhere"},
        {"rr", {8, 8}, {.host_limits = &two_in_all, .host_limit_count = 1}, "n4 4, n1 4"},
        {"fill", {5, 5}, {.host_limits = nested, .host_limit_count = 2}, "n2 2, n3 3"},
        {"fill", {4, 4}, {.masters = &only_n1, .host_max = 1}, "n1 4"},
        {"fill", {5, 5}, {.masters = &n2_n3, .host_max = 2}, "n2 2, n4 3"},
        {"fill", {7, 7}, {.masters = &n2_n3, .host_max = 2}, "n3 3, n4 4"},
        {"rr", {6, 6}, {.slots_per_host_max = 2}, "n2 2, n4 2, n3 1, n1 1"},
        {"fill", {6, 6}, {.slots_per_host_max = 2}, "n2 2, n4 2, n3 2"},
        {"fill", {9, 9}, {.slots_per_host_max = 2}, "nowhere"},
        {"smp", {3, 3}, {.slots_per_host_max = 2}, "nowhere"},
        {"two", {4, 4}, {.slots_per_host_max = 1}, "nowhere"},
        {NULL, {4, 4}, {.host_min = 1, .host_max = 2, .host_limits = &none_more, .host_limit_count = 1}, "n2 2, n3 2"},
        {NULL, {4, 4}, {.host_min = 2, .host_max = 2, .host_limits = &one_more, .host_limit_count = 1}, "n2 2, n4 2"},
        {NULL, {3, 3}, {.host_min = 3, .host_max = 3, .host_limits = &one_more, .host_limit_count = 1}, "nowhere"},
        {NULL, {4, 4}, {.host_min = 1, .host_max = 2, .host_limits = &two_in_all, .host_limit_count = 1}, "n4 4"},
        {NULL,
         {6, 6},
         {.host_min = 1, .host_max = 2, .masters = &n2, .host_limits = &one_more, .host_limit_count = 1},
         "n2 2, n4 4"},
    };
    (void)unused;
    struct cluster_world w;
    make_i2(&w);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct demand d = rows[i].demand;
        struct allocation a;
        const char *found = "nowhere";
        d.ranges = &rows[i].range;
        d.range_count = 1;
        if (rows[i].environment != NULL)
            found = place_in(&w, rows[i].environment, rows[i].range, d);
        else if (place_job(&w.c, &d, (struct window){10 * SECOND, 20 * SECOND}, NULL, &w.arena, &a))
            found = world_text(&w, &a);
        print_message("# row %zu: %s %u-%u\n", i, rows[i].environment, rows[i].range.min, rows[i].range.max);
        assert_string_equal(found, rows[i].allocation);
    }
    world_release(&w);
}

/* docs/formulas.md 7.2: n2, n4, n3 and n1 have 2, 4, 3 and 4 free slots. */
static void numbers_of_hosts(void **unused)
{
    static const struct need per_host = {MEMORY, NEED_PER_HOST, 60, NULL, true, false, NULL};
    static const struct need once = {TOKEN, NEED_PER_JOB, 1, NULL, true, false, NULL};
    static const uint64_t n2_n3 = 1 << N2 | 1 << N3, only_n1 = 1 << N1;
    static const struct {
        struct slot_range range;
        struct demand demand;
        const char *allocation;
    } rows[] = {
        {{4, 4}, {.host_min = 2, .host_max = 2}, "n2 2, n4 2"},
        {{6, 6}, {.host_min = 2, .host_max = 2}, "n2 2, n4 4"},
        {{7, 7}, {.host_min = 2, .host_max = 2}, "n4 4, n3 3"},
        {{8, 8}, {.host_min = 2, .host_max = 2}, "n4 4, n1 4"},
        {{9, 9}, {.host_min = 2, .host_max = 2}, "nowhere"},
        {{9, 9}, {.host_min = 2, .host_max = 3}, "n2 2, n4 4, n3 3"},
        {{7, 7}, {.host_min = 2, .host_max = 4}, "n4 4, n3 3"},
        {{4, 4}, {.host_min = 4, .host_max = 4}, "n2 1, n4 1, n3 1, n1 1"},
        {{6, 6}, {.host_min = 4, .host_max = 4}, "n2 2, n4 2, n3 1, n1 1"},
        {{5, 5}, {.host_min = 5, .host_max = 5}, "nowhere"},
        {{4, 4}, {.host_min = 1, .host_max = 4}, "n4 4"},
        {{2, 20}, {.host_min = 2, .host_max = 2}, "n4 4, n1 4"},
        {{2, 20}, {.host_min = 2, .host_max = 4}, "n2 2, n4 4, n3 3, n1 4"},
        {{4, 4}, {.host_min = 2, .host_max = 2, .slots_per_host = 2}, "n2 2, n4 2"},
        {{6, 6}, {.host_min = 2, .host_max = 2, .slots_per_host = 3}, "n4 3, n3 3"},
        {{9, 9}, {.host_min = 3, .host_max = 3, .slots_per_host = 3}, "n4 3, n3 3, n1 3"},
        {{12, 12}, {.host_min = 4, .host_max = 4, .slots_per_host = 3}, "nowhere"},
        {{3, 12}, {.host_min = 1, .host_max = 4, .slots_per_host = 3}, "n4 3, n3 3, n1 3"},
        {{3, 8}, {.host_min = 1, .host_max = 4, .slots_per_host = 3}, "n4 3, n3 3"},
        {{4, 4}, {.host_min = 2, .host_max = 2, .allowed = &n2_n3}, "n2 2, n3 2"},
        {{4, 4}, {.host_min = 2, .host_max = 2, .masters = &only_n1}, "n1 3, n2 1"},
        {{8, 8}, {.host_min = 2, .host_max = 2, .masters = &only_n1}, "n1 4, n4 4"},
        {{4, 4}, {.host_min = 2, .host_max = 2, .preferred = &only_n1}, "n1 3, n2 1"},
        {{6, 6}, {.host_min = 2, .host_max = 2, .needs = &per_host, .need_count = 1}, "n4 4, n1 2"},
        {{4, 4}, {.host_min = 2, .host_max = 2, .needs = &once, .need_count = 1}, "n3 3, n2 1"},
        {{8, 8}, {.host_min = 2, .host_max = 3, .needs = &once, .need_count = 1}, "n3 3, n2 2, n4 3"},
    };
    const struct window window = {10 * SECOND, 20 * SECOND};
    struct cluster_world w;
    (void)unused;
    make_i2(&w);
    for (size_t i = 0; i < 4; i++) {
        world_offer(&w.c.hosts.items[i].offers, TOKEN, i == N3);
        world_offer(&w.c.hosts.items[i].offers, MEMORY, i == N4 || i == N1 ? 60 : 59);
    }
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct demand d = rows[i].demand;
        struct allocation a;
        d.ranges = &rows[i].range;
        d.range_count = 1;
        print_message("# %u-%u slots on %u-%u hosts\n", rows[i].range.min, rows[i].range.max, d.host_min, d.host_max);
        bool is_placed = place_job(&w.c, &d, window, NULL, &w.arena, &a);
        assert_string_equal(is_placed ? world_text(&w, &a) : "nowhere", rows[i].allocation);
    }
    world_release(&w);
}

/* Whole hosts: all slots of each, of hosts that are empty in the window. n2 has 4 slots, n4 8, n3 4 (one taken). */
static void whole_hosts(void **unused)
{
    static const struct need memory_each = {MEMORY, NEED_PER_SLOT, 20, NULL, true, false, NULL};
    static const struct need license_each = {LICENSE, NEED_PER_SLOT, 1, NULL, true, false, NULL};
    static const struct {
        struct slot_range range;
        struct demand demand;
        const char *allocation;
    } rows[] = {
        {{1, 1}, {0}, "n2 4"},
        {{5, 5}, {0}, "n4 8"},
        {{9, 9}, {0}, "nowhere"},
        {{5, 5}, {.host_min = 1, .host_max = 3}, "n4 8"}, /* fewest hosts */
        {{9, 9}, {.host_min = 1, .host_max = 3}, "n2 4, n4 8"},
        {{2, 2}, {.host_min = 2, .host_max = 2}, "n2 4, n4 8"},
        {{13, 13}, {.host_min = 1, .host_max = 3}, "nowhere"},
        {{2, 2}, {.host_min = 2, .host_max = 2, .slots_per_host = 1}, "n2 4, n4 8"},
        {{1, 1}, {.needs = &memory_each, .need_count = 1}, "n2 4"},
        {{5, 5}, {.needs = &memory_each, .need_count = 1}, "nowhere"},  /* 8 times 20 of 100 */
        {{1, 1}, {.needs = &license_each, .need_count = 1}, "n2 4"},    /* of 5 */
        {{5, 5}, {.needs = &license_each, .need_count = 1}, "nowhere"}, /* 8 */
        {{9, 9}, {.host_min = 1, .host_max = 3, .needs = &license_each, .need_count = 1}, "nowhere"},
    };
    (void)unused;
    static const char *const hosts[] = {"n2", "n4", "n3"};
    static const uint32_t slots[] = {4, 8, 4};
    struct cluster_world w;
    world_init(&w);
    for (size_t i = 0; i < COUNT(hosts); i++) {
        world_host(&w, hosts[i]);
        world_offer(&w.c.hosts.items[i].offers, SCHED_SLOTS, slots[i]);
        world_offer(&w.c.hosts.items[i].offers, MEMORY, 100);
        world_instance(&w, hosts[i], slots[i]);
    }
    world_run(&w, NULL, 2, 1, 0, 15);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct demand d = rows[i].demand;
        struct allocation a;
        d.is_whole = true;
        d.ranges = &rows[i].range;
        d.range_count = 1;
        bool fits = place_job(&w.c, &d, (struct window){10 * SECOND, 20 * SECOND}, NULL, &w.arena, &a);
        print_message("# %zu: %u\n", i, rows[i].range.min);
        assert_string_equal(fits ? world_text(&w, &a) : "nowhere", rows[i].allocation);
    }
    /* A job on its host has ended by then, and nothing else is there. */
    const struct slot_range one = {1, 1};
    static const uint64_t only_n3 = 1 << 2;
    const struct demand later = {
        .is_whole = true, .ranges = &one, .range_count = 1, .allowed = &only_n3, .duration_us = 10 * SECOND};
    struct allocation a;
    assert_int_equal(reserve_job(&w.c, &later, RESERVE_IN_GAPS, 0, &w.arena, &a), 15 * SECOND);
    assert_string_equal(world_text(&w, &a), "n3 4");
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(recorded_allocations), cmocka_unit_test(numbers_of_hosts),
                                       cmocka_unit_test(limited_hosts), cmocka_unit_test(whole_hosts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
