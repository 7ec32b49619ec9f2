/* What a pass keeps of the groups that limits keep waiting: it is used as long as it holds, and no longer. */
#include "../limit_world.h"

static struct event job_of(const char *account, const char *more)
{
    const struct job_values *v =
        job_with(job_text("name=job|directory=/home/x|command=true|mem_mib=1|time_limit_s=600"), "cpus=1|account=%s|%s",
                 account, more);
    return (struct event){.kind = EVENT_SUBMIT, .actor = {1000, 1000, "alice", ROLE_USER}, .submit = v};
}

/* alice in a1, a2 and a3, and one host. */
static void build(struct world *w)
{
    world_init(w, 4, 16000, 0);
    world_settings(w, "reservations=none AccountingStorageEnforce=associations,limits,qos,safe");
    for (uint32_t i = 1; i <= 3; i++) {
        limit_world_account(w, limit_world_name(i), NULL);
        world_user(w, limit_world_name(i), 1, "alice");
    }
}

static void end_first_task(struct world *w, uint32_t job_id)
{
    const struct task *k = world_task(w, job_id, 0);
    assert_non_null(k);
    world_started(w, k->launch_id);
    world_ended(w, k->launch_id, JOB_COMPLETED, k->launch_us);
}

/* Numbers of counters, and how often they fell, are those of one rebuild: a group that the first one of a2 blocks
 * starts when that ends, whether the counters were made anew before or after. */
static void a_rebuild_keeps_no_group_blocked(void **unused)
{
    (void)unused;
    for (int is_after = 0; is_after < 2; is_after++) {
        struct world w;
        build(&w);
        limit_world_set_assoc(&w, state_find_assoc(&w.s, "a2", NULL), REF_GRP_JOBS, "1");
        uint32_t other = world_take(&w, job_of("a1", ""));
        const struct job_ref ref = {other, NONE};
        assert_int_equal(world_apply(&w, (struct event){.kind = EVENT_HOLD, .jobs = {&ref, 1, false}}, NULL), 0);
        uint32_t first = world_take(&w, job_of("a2", ""));
        uint32_t second = world_take(&w, job_of("a2", "time_limit_s=300"));
        assert_int_equal(world_pass(&w), 1);
        assert_int_equal(world_apply(&w, (struct event){.kind = EVENT_CANCEL, .jobs = {&ref, 1, false}}, NULL), 0);
        if (is_after) end_first_task(&w, first);
        limit_counts_invalidate(&w.s);
        if (!is_after) (void)limit_counts_update(&w.s, w.now_us);
        if (!is_after) end_first_task(&w, first);
        assert_int_equal(world_pass(&w), 1);
        assert_non_null(world_task(&w, second, 0));
        world_release(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rebuild_keeps_no_group_blocked),
    };
    return cmocka_run_group_tests_name("limits in a pass", tests, NULL, NULL);
}
