/* What a pending single job takes of memory, with all that is derived from its row for passes, and with the room that
 * arrays keep for growing. bench/bench_memory.py measures what of it is resident. */
#include "../dies.h"

#include <malloc.h>

#include "engine_world.h"

enum { JOBS = 16000, JOB_BYTES_MAX = 750 };

/* What malloc has handed out. */
static size_t bytes_in_use(void)
{
    const struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

static void a_pending_job_is_small(void **unused)
{
    (void)unused;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* memory is the sanitizer's */
#endif
    struct world w;
    world_init(&w, 1, 1024, 0);
    world_set(&w, "max_jobs", "100000");
    world_user(&w, "a1", 1, "alice");
    (void)world_submit(&w, "alice", "a1", 1);
    assert_int_equal(world_pass(&w), 1);
    size_t before = bytes_in_use();
    for (int i = 0; i < JOBS; i++) {
        (void)world_submit(&w, "alice", "a1", 1);
        outcome_clear(&w.out);
    }
    assert_int_equal(world_pass(&w), 0);
    size_t each = (bytes_in_use() - before) / JOBS;
    if (each > JOB_BYTES_MAX) fail_msg("a pending job takes %zu bytes; at most %d are expected", each, JOB_BYTES_MAX);
    assert_true(each > sizeof(struct job)); /* it is measured */
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_pending_job_is_small)};
    return cmocka_run_group_tests_name("state memory", tests, NULL, NULL);
}
