#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sched/host.h"
#include "sched/pool.h"

static void a_host_gives_the_lowest_numbers_and_takes_them_back(void **unused)
{
    (void)unused;
    struct host h = {0};
    struct placement a, b;
    host_init(&h, (struct capacity){.cpus = 4, .gpus = 2, .mem_mib = 100});
    host_take(&h, &(struct capacity){.cpus = 2, .gpus = 1, .mem_mib = 60}, &a);
    assert_int_equal(idset_first(&a.cpus), 0);
    assert_int_equal(idset_count(&a.cpus), 2);
    assert_int_equal(idset_first(&a.gpus), 0);
    assert_false(host_fits(&h, &(struct capacity){.cpus = 1, .mem_mib = 41}));
    assert_false(host_fits(&h, &(struct capacity){.cpus = 3, .mem_mib = 1}));
    assert_false(host_fits(&h, &(struct capacity){.cpus = 1, .gpus = 2, .mem_mib = 1}));
    host_take(&h, &(struct capacity){.cpus = 1, .gpus = 1, .mem_mib = 40}, &b);
    assert_int_equal(idset_first(&b.cpus), 2);
    assert_int_equal(idset_first(&b.gpus), 1);
    host_give_back(&h, &a);
    assert_int_equal(idset_count(&h.free_cpus), 3);
    assert_int_equal(h.free_mem_mib, 60);
    host_give_back(&h, &b);
    assert_int_equal(idset_count(&h.free_cpus), 4);
    assert_int_equal(idset_count(&h.free_gpus), 2);
    placement_release(&a);
    placement_release(&b);
    host_release(&h);
}

static void a_host_that_shrank_does_not_get_back_what_it_lost(void **unused)
{
    (void)unused;
    struct host h = {0};
    struct placement p;
    host_init(&h, (struct capacity){.cpus = 4, .mem_mib = 100});
    host_take(&h, &(struct capacity){.cpus = 4, .mem_mib = 80}, &p);
    host_release(&h);
    host_init(&h, (struct capacity){.cpus = 2, .mem_mib = 50});
    host_take_again(&h, &p);
    assert_int_equal(h.free_mem_mib, -30);
    assert_false(host_fits(&h, &(struct capacity){.cpus = 0, .mem_mib = 0}));
    host_give_back(&h, &p);
    assert_int_equal(idset_count(&h.free_cpus), 2);
    assert_int_equal(h.free_mem_mib, 50);
    placement_release(&p);
    host_release(&h);
}

static void a_pool_gives_amounts_for_each_slot(void **unused)
{
    (void)unused;
    enum { LICENSE, SCRATCH, ENDLESS, COUNT };
    struct arena arena = {0};
    struct pool p;
    pool_init(&p, COUNT, &arena);
    p.free[LICENSE] = 5;
    p.free[SCRATCH] = 1;
    const struct {
        const char *what;
        struct pool_need needs[2];
        uint32_t max, expected;
    } rows[] = {
        {"as many as there are", {{LICENSE, 1}, {ENDLESS, 1e18}}, 8, 5},
        {"no more than asked for", {{LICENSE, 1}, {ENDLESS, 1}}, 3, 3},
        {"the scarcest decides", {{LICENSE, 2}, {SCRATCH, 1}}, 8, 1},
        {"not even one", {{LICENSE, 6}, {SCRATCH, 1}}, 8, 0},
        {"nothing of it asked for", {{LICENSE, 0}, {SCRATCH, 0}}, 8, 8},
        {"tenths", {{SCRATCH, 0.1}, {ENDLESS, 1}}, 100, 10},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("# %s\n", rows[i].what);
        assert_int_equal(pool_slots(&p, rows[i].needs, 2, rows[i].max), rows[i].expected);
    }
    for (int i = 0; i < 9; i++) pool_take(&p, &(struct pool_need){SCRATCH, 0.1}, 1, 1);
    assert_int_equal(pool_slots(&p, &(struct pool_need){SCRATCH, 0.1}, 1, 100), 1);
    pool_take(&p, &(struct pool_need){LICENSE, 2}, 1, 3);
    assert_int_equal(pool_slots(&p, &(struct pool_need){LICENSE, 0.5}, 1, 100), 0); /* one more than there was */
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_gives_the_lowest_numbers_and_takes_them_back),
        cmocka_unit_test(a_host_that_shrank_does_not_get_back_what_it_lost),
        cmocka_unit_test(a_pool_gives_amounts_for_each_slot),
    };
    return cmocka_run_group_tests_name("host", tests, NULL, NULL);
}
