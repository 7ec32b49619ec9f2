/* Reservations: those that Grid Engine 8.1.9 made (cases i3_reservation_over_hosts and b12_future_hole), and the same
 * with gaps. */
#include "../cluster_world.h"

#include <math.h>

#include "sched/sweep.h"

/* A pending job that reserves, in the order of the run. */
struct reservation {
    const char *environment; /* NULL: serial */
    uint32_t slots;
    int64_t duration_s, start_s;
    const char *allocation;
};

static void check_reservations(struct cluster_world *w, enum reserve_search search, int64_t now_s,
                               const struct reservation *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct reservation *r = &rows[i];
        uint32_t environment = r->environment ? world_find_environment(w, r->environment) : NONE;
        const struct slot_range range = {r->slots, r->slots};
        const struct demand d = {.environments = &environment,
                                 .environment_count = r->environment != NULL,
                                 .ranges = &range,
                                 .range_count = 1,
                                 .duration_us = r->duration_s * SECOND};
        struct allocation a;
        int64_t start_us = reserve_job(&w->c, &d, search, now_s * SECOND, &w->arena, &a);
        print_message("# %s %u for %lld s\n", r->environment ? r->environment : "serial", r->slots,
                      (long long)r->duration_s);
        assert_int_equal(start_us / SECOND, r->start_s);
        assert_string_equal(world_text(w, &a), r->allocation);
        cluster_book(&w->c, &d, &a, start_us, start_us + d.duration_us);
    }
}

enum { HOSTS_MAX = 4 };

static void make_hosts(struct cluster_world *w, const char *const names[], size_t count)
{
    world_init(w);
    for (size_t i = 0; i < count; i++) {
        world_host(w, names[i]);
        world_instance(w, names[i], 4);
    }
    world_environment(w, "smp", ALLOCATE_ONE_HOST, 0, 999);
    world_environment(w, "rr", ALLOCATE_ROUND_ROBIN, 0, 999);
    world_environment(w, "fill", ALLOCATE_FILL_UP, 0, 999);
    world_environment(w, "two", ALLOCATE_FIXED, 2, 999);
}

/* 3 of 4 slots of each host run until 30, 60, 95 and 125; now 20. The order of hosts of equal load is the recorded
 * one. */
static void over_hosts(void **unused)
{
    static const char *const names[] = {"n4", "n2", "n1", "n3"};
    static const int64_t ends_s[] = {125, 60, 30, 95};
    static const struct reservation rows[] = {
        {"rr", 8, 40, 60, "n4 1, n2 3, n1 3, n3 1"},
        {"fill", 6, 40, 100, "n4 1, n2 4, n1 1"},
        {"two", 6, 40, 125, "n4 2, n1 2, n3 2"},
    };
    (void)unused;
    struct cluster_world w;
    make_hosts(&w, names, COUNT(names));
    for (uint32_t i = 0; i < COUNT(names); i++) world_run(&w, "smp", i, 3, 0, ends_s[i]);
    check_reservations(&w, RESERVE_WITHOUT_GAPS, 20, rows, COUNT(rows));
    world_release(&w);
}

/* A runs on all 4 slots until 20; B can start only at 100, when its licence is free. */
static void make_hole(struct cluster_world *w)
{
    static const char *const names[] = {"n1"};
    static const struct slot_range four = {4, 4};
    static struct allocation_part part = {0, 4};
    make_hosts(w, names, COUNT(names));
    world_run(w, "smp", 0, 4, 0, 20);
    const struct demand d = {.ranges = &four, .range_count = 1};
    const struct allocation b = {.environment = 0, .slots = 4, .part_count = 1, .parts = &part};
    cluster_book(&w->c, &d, &b, 100 * SECOND, 150 * SECOND);
}

static void a_hole_before_a_reservation(void **unused)
{
    static const struct reservation recorded[] = {
        {"smp", 2, 10, 150, "n1 2"}, {"smp", 2, 10, 150, "n1 2"}, {NULL, 1, 10, 160, "n1 1"}};
    static const struct reservation in_gaps[] = {
        {"smp", 2, 10, 20, "n1 2"}, {"smp", 4, 71, 150, "n1 4"}, {"smp", 4, 70, 30, "n1 4"}, {NULL, 1, 10, 20, "n1 1"}};
    (void)unused;
    struct cluster_world w;
    make_hole(&w);
    check_reservations(&w, RESERVE_WITHOUT_GAPS, 6, recorded, COUNT(recorded));
    world_release(&w);
    make_hole(&w);
    check_reservations(&w, RESERVE_IN_GAPS, 6, in_gaps, COUNT(in_gaps));
    world_release(&w);
}

/* A search that begins later than now passes several ends on a host at once: the last one decides. */
static void a_later_search(void **unused)
{
    static const char *const names[] = {"n1"};
    static const struct slot_range two = {2, 2};
    static struct allocation_part part = {0, 1};
    const struct allocation one = {.environment = NONE, .slots = 1, .part_count = 1, .parts = &part};
    struct cluster_world w;
    struct sweep sweep;
    struct allocation found;
    (void)unused;
    make_hosts(&w, names, COUNT(names));
    const uint32_t environment = world_find_environment(&w, "two");
    w.c.environments.items[environment].offers.list.items[0].amount = INFINITY;
    const struct demand d = {.shape = NONE,
                             .environments = &environment,
                             .environment_count = 1,
                             .ranges = &two,
                             .range_count = 1,
                             .duration_us = 10 * SECOND};
    world_run(&w, NULL, 0, 2, 0, 50);
    sweep_init(&sweep, &w.c, 0);
    assert_true(sweep_serves(&sweep, &d));
    world_run(&w, NULL, 0, 1, 0, 20);
    sweep_booked(&sweep, &one, 0, 20 * SECOND);
    world_run(&w, NULL, 0, 1, 0, 1000);
    sweep_booked(&sweep, &one, 0, 1000 * SECOND);
    assert_int_equal(sweep_reserve(&sweep, &d, 60 * SECOND, &w.arena, &found), 60 * SECOND);
    sweep_release(&sweep);
    world_release(&w);
}

static void book_for_ever(struct cluster_world *w, const struct allocation *a, int64_t from_s)
{
    const struct demand d = {0};
    cluster_book(&w->c, &d, a, from_s * SECOND, TIMELINE_END);
}

/* The last window is [20, 50): n1 is booked from 40 on since the sweep began, and n3 was from 45 on before; n2 is free
 * from 20 on. */
static void windows_run_into_old_and_new_bookings(void **unused)
{
    static const char *const names[] = {"n1", "n2", "n3"};
    static const struct slot_range ten = {10, 10};
    static struct allocation_part part_1 = {0, 4}, part_3 = {2, 4};
    const struct allocation on_1 = {.environment = NONE, .slots = 4, .part_count = 1, .parts = &part_1};
    const struct allocation on_3 = {.environment = NONE, .slots = 4, .part_count = 1, .parts = &part_3};
    struct cluster_world w;
    struct sweep sweep;
    struct allocation found;
    (void)unused;
    make_hosts(&w, names, COUNT(names));
    const uint32_t environment = world_find_environment(&w, "fill");
    w.c.environments.items[environment].offers.list.items[0].amount = INFINITY;
    const struct demand d = {.shape = 0,
                             .environments = &environment,
                             .environment_count = 1,
                             .ranges = &ten,
                             .range_count = 1,
                             .duration_us = 30 * SECOND};
    world_run(&w, NULL, 1, 4, 0, 20);
    book_for_ever(&w, &on_3, 45);
    sweep_init(&sweep, &w.c, 0);
    book_for_ever(&w, &on_1, 40);
    sweep_booked(&sweep, &on_1, 40 * SECOND, TIMELINE_END);
    assert_int_equal(sweep.begins.list.count, 1); /* closed times are many, so nothing is inserted among them */
    assert_int_equal(sweep.new_begins.list.count, 1);
    assert_int_equal(sweep_reserve(&sweep, &d, SECOND, &w.arena, &found), TIMELINE_END);
    assert_int_equal(sweep.shapes.items[0].at_us, 20 * SECOND);
    assert_int_equal(sweep.shapes.items[0].total, 4);
    sweep_release(&sweep);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(over_hosts), cmocka_unit_test(a_hole_before_a_reservation),
                                       cmocka_unit_test(a_later_search),
                                       cmocka_unit_test(windows_run_into_old_and_new_bookings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
