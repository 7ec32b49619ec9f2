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
    host_init(&h, (struct capacity){.cpus = 4, .gpus = 2, .mem_mib = 100}, NULL);
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
    host_init(&h, (struct capacity){.cpus = 4, .mem_mib = 100}, NULL);
    host_take(&h, &(struct capacity){.cpus = 4, .mem_mib = 80}, &p);
    host_release(&h);
    host_init(&h, (struct capacity){.cpus = 2, .mem_mib = 50}, NULL);
    host_take_again(&h, &p);
    assert_int_equal(h.free_mem_mib, -30);
    assert_false(host_fits(&h, &(struct capacity){.cpus = 0, .mem_mib = 0}));
    host_give_back(&h, &p);
    assert_int_equal(idset_count(&h.free_cpus), 2);
    assert_int_equal(h.free_mem_mib, 50);
    placement_release(&p);
    host_release(&h);
}

/* GPU 0 fails while a job has it, GPU 2 while it is free. */
static void a_withheld_gpu_is_kept_by_its_job_and_not_given_again(void **unused)
{
    (void)unused;
    struct host h = {0};
    struct placement a, b;
    struct idset failed = {0};
    idset_add(&failed, 0);
    idset_add(&failed, 2);
    idset_add(&failed, 9); /* which it does not have */
    host_init(&h, (struct capacity){.cpus = 4, .gpus = 3, .mem_mib = 100}, NULL);
    host_take(&h, &(struct capacity){.cpus = 1, .gpus = 1}, &a);
    host_release(&h);
    host_init(&h, (struct capacity){.cpus = 4, .gpus = 3, .mem_mib = 100}, &failed);
    assert_int_equal(h.has.gpus, 1);
    host_take_again(&h, &a);
    assert_int_equal(h.has.gpus, 2);
    assert_int_equal(h.free_gpu_count, 1);
    host_take(&h, &(struct capacity){.cpus = 1, .gpus = 1}, &b);
    assert_int_equal(idset_first(&b.gpus), 1);
    assert_false(host_fits(&h, &(struct capacity){.gpus = 1}));
    host_give_back(&h, &a);
    assert_int_equal(h.has.gpus, 1);
    assert_false(host_fits(&h, &(struct capacity){.gpus = 1}));
    host_give_back(&h, &b);
    assert_int_equal(h.free_gpu_count, 1);
    assert_int_equal(idset_first(&h.free_gpus), 1);
    placement_release(&a);
    placement_release(&b);
    idset_release(&failed);
    host_release(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_gives_the_lowest_numbers_and_takes_them_back),
        cmocka_unit_test(a_smaller_host_does_not_get_removed_resources_back),
        cmocka_unit_test(a_withheld_gpu_is_kept_by_its_job_and_not_given_again),
    };
    return cmocka_run_group_tests_name("host", tests, NULL, NULL);
}
