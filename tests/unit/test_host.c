/* A host: the numbers of CPUs and GPUs that it allocates and gets back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sched/host.h"

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

static void a_smaller_host_does_not_get_removed_resources_back(void **unused)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_gives_the_lowest_numbers_and_takes_them_back),
        cmocka_unit_test(a_smaller_host_does_not_get_removed_resources_back),
    };
    return cmocka_run_group_tests_name("host", tests, NULL, NULL);
}
