#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sched/pass.h"

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

static void the_pass_goes_by_factor_then_order(void **unused)
{
    (void)unused;
    const struct candidate candidates[] = {
        {.job = 0, .tasks = 1, .factor = 0.5, .request = {.cpus = 1, .mem_mib = 1}},
        {.job = 1, .tasks = 1, .factor = 0.5, .request = {.cpus = 4, .mem_mib = 1}}, /* never fits beside the others */
        {.job = 2, .tasks = 5, .factor = 0.9, .request = {.cpus = 1, .mem_mib = 30}},
        {.job = 3, .tasks = 1, .factor = 0.5, .request = {.cpus = 1, .mem_mib = 1}},
    };
    const uint32_t expected[] = {2, 2, 2, 0};
    struct host h = {0};
    struct arena cycle = {0};
    struct pass_starts starts = {0};
    host_init(&h, (struct capacity){.cpus = 4, .mem_mib = 100});
    pass_run(&h, candidates, 4, &cycle, &starts);
    assert_int_equal(starts.list.count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(starts.list.items[i].job, expected[i]);
        assert_int_equal(idset_first(&starts.list.items[i].placement.cpus), i);
        placement_release(&starts.list.items[i].placement);
    }
    array_release(&starts.list);
    arena_release(&cycle);
    host_release(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_gives_the_lowest_numbers_and_takes_them_back),
        cmocka_unit_test(a_host_that_shrank_does_not_get_back_what_it_lost),
        cmocka_unit_test(the_pass_goes_by_factor_then_order),
    };
    return cmocka_run_group_tests_name("sched", tests, NULL, NULL);
}
