/* Pruning: the usages agree with the records after every piece, whatever happens between the pieces, and what is
 * removed leaves nothing behind. (test_engine_store.c prunes in random histories.) */
#include "engine/state_rows.h"
#include "store_house.h"

enum { TASKS = 450 };

static const struct capacity host = {512, 0, 1 << 20};

static void assert_verified(struct house *h, uint64_t tasks, uint64_t pruned)
{
    struct arena arena = {0};
    struct verify_report report;
    struct err e = {0};
    if (store_verify(h->directory, &arena, &report, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    assert_int_equal(report.differences.count, 0);
    assert_int_equal(report.task_count, tasks);
    assert_int_equal(report.pruned_task_count, pruned);
    array_release(&report.differences);
    arena_release(&arena);
}

/* Runs all tasks of a job for a minute. */
static uint32_t run_job(struct house *h, const char *user, const char *array)
{
    struct event event = world_submission(user, NULL, 1);
    uint32_t id;
    if (array != NULL) event.submit = job_with(event.submit, "array=%s", array);
    if (world_apply(&h->w, event, &id) != 0) fail_msg("%s", ERR_SENTENCE(&h->w.e));
    const struct job_script script = {.script = str("true"), .script_name = user};
    store_add_script(h->store, id, &script);
    assert_int_equal(world_apply(&h->w, (struct event){.kind = EVENT_TIME, .time = {"boot"}}, NULL), 0);
    uint64_t last = h->w.s.next_launch_id, first = last;
    while (first > 1 && map_get_u64(&h->w.s.task_by_launch, first - 1) != NONE) first--;
    for (uint64_t launch = first; launch < last; launch++) world_started(&h->w, launch);
    h->w.now_us += 60 * SECOND;
    for (uint64_t launch = first; launch < last; launch++) world_ended(&h->w, launch, JOB_COMPLETED, 0);
    house_commit(h);
    return id;
}

static void open_house(struct house *h)
{
    house_build(h, host);
    world_user(&h->w, "physics", 1, "ann");
    world_user(&h->w, "physics", 1, "bob");
    house_commit(h);
}

static void make_plan(struct house *h, struct prune_plan *plan)
{
    struct err e = {0};
    if (store_prune_plan(h->directory, h->w.now_us + 1, h->w.now_us, plan, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    state_compact_jobs(&h->w.s);
    state_compact_tasks(&h->w.s);
}

static void must_prune(struct house *h, const struct prune_plan *plan, uint32_t piece)
{
    struct err e = {0};
    if (store_prune(h->store, plan, piece, NULL, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
}

static void assert_empty(const struct house *h)
{
    assert_sql(
        h->directory,
        "SELECT (SELECT count(*) FROM job) || (SELECT count(*) FROM task) || (SELECT count(*) FROM job_script) ||"
        " (SELECT count(*) FROM content) || (SELECT count(*) FROM dependency)",
        "00000");
}

static void a_large_array_is_removed_in_pieces(void **unused)
{
    (void)unused;
    struct house h;
    struct prune_plan plan;
    open_house(&h);
    run_job(&h, "bob", NULL);
    run_job(&h, "ann", "0-449");
    assert_verified(&h, TASKS + 1, 0);
    make_plan(&h, &plan);
    assert_int_equal(plan.pieces.count, 8); /* of some 60 rows: how long one takes is how long a client may wait */
    assert_false(plan.has_more);
    uint32_t removed = 0;
    for (uint32_t i = 0; i < plan.pieces.count; i++) {
        must_prune(&h, &plan, i);
        removed += plan.pieces.items[i].task_count;
        assert_verified(&h, TASKS + 1 - removed, removed);
        h.w.now_us += 1000 * SECOND;
        world_set(&h.w, "halflife_s", i == 0 ? "3000" : "0"); /* the sums are as of the plan */
        house_commit(&h);
        assert_verified(&h, TASKS + 1 - removed, removed);
    }
    assert_int_equal(removed, TASKS + 1);
    assert_empty(&h);
    assert_sql(h.directory, "SELECT pruned_jobs || ' ' || pruned_tasks FROM counters", "2 451");
    store_prune_plan_release(&plan);
    house_close(&h);
}

/* A daemon is killed between two pieces: the next plan begins with what is left. */
static void a_plan_that_is_broken_off_is_continued_by_another(void **unused)
{
    (void)unused;
    struct house h;
    struct prune_plan plan;
    open_house(&h);
    run_job(&h, "ann", "0-449");
    make_plan(&h, &plan);
    uint32_t first = plan.pieces.items[0].task_count;
    assert_true(first > 0 && first <= 60);
    must_prune(&h, &plan, 0);
    store_prune_plan_release(&plan);
    store_close(h.store);
    h.store = store_must_open(h.directory, h.w.now_us);
    state_release(&h.w.s);
    store_must_load(h.store, &h.w.s);
    house_set_host(&h, host);
    run_job(&h, "bob", NULL);
    assert_verified(&h, TASKS - first + 1, first);
    make_plan(&h, &plan);
    for (uint32_t i = 0; i < plan.pieces.count; i++) must_prune(&h, &plan, i);
    assert_verified(&h, 0, TASKS + 1);
    assert_empty(&h);
    store_prune_plan_release(&plan);
    house_close(&h);
}

/* What a reset discards, sums that were made before it have no more; also one of the user in a project. */
static void a_reset_discards_the_sums(void **unused)
{
    (void)unused;
    struct house h;
    struct prune_plan plan;
    open_house(&h);
    run_job(&h, "ann", NULL);
    run_job(&h, "bob", NULL);
    make_plan(&h, &plan);
    must_prune(&h, &plan, 0);
    store_prune_plan_release(&plan);
    struct event reset = {.kind = EVENT_USER_MODIFY, .user = {"ann", NULL, SHARES_UNSET, false, PRIORITY_UNSET, true}};
    assert_int_equal(world_apply(&h.w, reset, NULL), 0);
    house_commit(&h);
    assert_verified(&h, 0, 2);
    run_job(&h, "ann", NULL);
    make_plan(&h, &plan);
    must_prune(&h, &plan, 0);
    store_prune_plan_release(&plan);
    assert_verified(&h, 0, 3);
    world_set(&h.w, "PriorityUsageResetPeriod", "NOW");
    house_commit(&h);
    assert_verified(&h, 0, 3);
    house_close(&h);
}

static void a_job_that_has_changed_stays(void **unused)
{
    (void)unused;
    struct house h;
    struct prune_plan plan;
    struct err e = {0};
    open_house(&h);
    run_job(&h, "ann", NULL);
    make_plan(&h, &plan);
    store_sql(h.directory, "UPDATE job SET ended_us = ended_us + 1");
    state_release(&h.w.s);
    store_must_load(h.store, &h.w.s);
    assert_int_equal(store_prune(h.store, &plan, 0, NULL, &e), -1);
    assert_int_equal(e.code, ERR_CONFLICT);
    assert_sql(h.directory, "SELECT count(*) FROM task", "1");
    assert_sql(h.directory, "SELECT count(*) FROM pruned_usage", "0");
    store_prune_plan_release(&plan);
    house_close(&h);
}

static void a_script_that_another_job_has_stays(void **unused)
{
    (void)unused;
    struct house h;
    struct prune_plan plan;
    open_house(&h);
    run_job(&h, "ann", NULL);
    int64_t between_us = h.w.now_us;
    run_job(&h, "ann", NULL);
    struct err e = {0};
    assert_int_equal(store_prune_plan(h.directory, between_us + 1, h.w.now_us, &plan, &e), 0);
    assert_int_equal(plan.entries.count, 1);
    state_compact_jobs(&h.w.s);
    must_prune(&h, &plan, 0);
    assert_sql(h.directory, "SELECT count(*) FROM job_script JOIN content ON content.id = script_id", "1");
    store_prune_plan_release(&plan);
    house_close(&h);
}

/* Damage from before a prune is found after it: the sums come from the records, not from the stored usages. */
static void damage_is_not_laundered(void **unused)
{
    (void)unused;
    struct house h;
    struct prune_plan plan;
    struct arena arena = {0};
    struct verify_report report;
    struct err e = {0};
    open_house(&h);
    run_job(&h, "ann", NULL);
    store_sql(h.directory, "UPDATE association SET usage_wall_s = usage_wall_s + 1 WHERE user = 'ann'");
    state_release(&h.w.s);
    store_must_load(h.store, &h.w.s);
    make_plan(&h, &plan);
    must_prune(&h, &plan, 0);
    assert_int_equal(store_verify(h.directory, &arena, &report, &e), 0);
    assert_int_equal(report.differences.count, 1);
    assert_string_equal(report.differences.items[0].tres, "wall");
    array_release(&report.differences);
    arena_release(&arena);
    store_prune_plan_release(&plan);
    house_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_array_is_removed_in_pieces),
        cmocka_unit_test(a_plan_that_is_broken_off_is_continued_by_another),
        cmocka_unit_test(a_reset_discards_the_sums),
        cmocka_unit_test(a_job_that_has_changed_stays),
        cmocka_unit_test(a_script_that_another_job_has_stays),
        cmocka_unit_test(damage_is_not_laundered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
