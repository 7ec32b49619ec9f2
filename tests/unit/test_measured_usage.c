/* Measured usage: what owners are charged for measurements, by hand from docs/formulas.md 5.2. */
#include "engine_world.h"

#include <math.h>

#include "engine/handlers.h"

#define GIB_BYTES INT64_C(1073741824)
#define GIB_KIB INT64_C(1048576)

enum { HOUR_S = 3600 };

static void assert_close(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-12 * fabs(expected))) fail_msg("%.17g is not %.17g", found, expected);
}

/* 16 CPUs, 64 GiB; a user and a project; usage does not decay. */
static void furnish(struct world *w)
{
    world_init(w, 16, 65536, 0);
    world_set(w, "halftime", "0");
    world_set(w, "halflife_decay_list", "finished_jobs=0");
    world_user(w, "physics", 1, "ann");
    world_object(w, OBJECT_PROJECT, "moon", "");
}

/* Starts a job of ann with 4 CPUs and 8 GiB. */
static uint32_t run(struct world *w, const char *project)
{
    struct event event = world_submission("ann", "physics", 4);
    event.submit = job_with(event.submit, "mem_mib=8192|project=%s", project);
    uint32_t id;
    if (world_apply(w, event, &id) != 0) fail_msg("%s", ERR_SENTENCE(&w->e));
    assert_int_equal(world_pass(w), 1);
    world_started(w, world_task(w, id, 0)->launch_id);
    return id;
}

static void wait_for(struct world *w, int64_t seconds)
{
    w->now_us += seconds * SECOND;
}

/* cpu_s and io_gib: since the start; mem_gib: in use. */
static void measure_at(struct world *w, uint32_t id, int64_t at_us, double cpu_s, double mem_gib, double io_gib)
{
    const struct event_measured m = {.launch_id = world_task(w, id, 0)->launch_id,
                                     .at_us = at_us,
                                     .cpu_us = (int64_t)(cpu_s * SECOND),
                                     .mem_kib = (int64_t)(mem_gib * GIB_KIB),
                                     .io_bytes = (int64_t)(io_gib * GIB_BYTES)};
    assert_int_equal(world_apply(w, (struct event){.kind = EVENT_MEASURED, .measured = m}, NULL), 0);
}

static void measure(struct world *w, uint32_t id, double cpu_s, double mem_gib, double io_gib)
{
    measure_at(w, id, w->now_us, cpu_s, mem_gib, io_gib);
}

/* max_rss_gib: of the largest process. Returns the row of the task. */
static const struct task *end(struct world *w, uint32_t id, double cpu_s, double max_rss_gib, double io_gib)
{
    uint32_t index = state_find_task(&w->s, id, 0);
    const struct event_record record = {.launch_id = w->s.tasks.items[index].launch_id,
                                        .at_us = w->now_us,
                                        .started_us = w->s.tasks.items[index].start_us,
                                        .end = JOB_COMPLETED,
                                        .cpu_us = (int64_t)(cpu_s * SECOND),
                                        .max_rss_kib = (int64_t)(max_rss_gib * GIB_KIB),
                                        .io_bytes = (int64_t)(io_gib * GIB_BYTES)};
    assert_int_equal(world_apply(w, (struct event){.kind = EVENT_ENDED, .record = record}, NULL), 0);
    return &w->s.tasks.items[index];
}

/* The current usage: CPU-seconds, GiB-seconds, GiB, jobs. user "": the project. */
static void assert_usage(struct world *w, const char *user, const char *project, const double expected[4])
{
    char key[NAME_KEY_SIZE];
    uint32_t owner = map_get(&w->s.owner_by_name, state_name_key(key, user, project));
    assert_true(owner != NONE);
    const struct ticket_usage *now = usage_owner_current(&w->s, w->now_us, &w->s.cycle);
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) assert_close(now[owner].used[r], expected[r]);
}

#define USAGE(...) ((const double[4]){__VA_ARGS__})

/* Of all processes together where they were measured, and at least that of the largest. */
static void the_peak_of_memory_is_kept(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = run(&w, "");
    static const double in_use[] = {2, 5, 3};
    static const double peaks[] = {2, 5, 5};
    for (size_t i = 0; i < sizeof in_use / sizeof *in_use; i++) {
        wait_for(&w, 40);
        measure(&w, id, 30, in_use[i], 1);
        assert_true(world_task(&w, id, 0)->max_rss_kib == (int64_t)(peaks[i] * GIB_KIB));
    }
    assert_true(end(&w, id, 40, 4, 1)->max_rss_kib == (int64_t)(5 * GIB_KIB));
    id = run(&w, "");
    assert_true(end(&w, id, 0, 7, 0)->max_rss_kib == (int64_t)(7 * GIB_KIB));
    world_release(&w);
}

/* CPU and I/O are sums since the start; memory is in use since the measurement before. */
static void measurements_are_charged(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = run(&w, "");
    wait_for(&w, 40);
    assert_usage(&w, "ann", "", USAGE(0, 0, 0, 0));
    measure(&w, id, 30, 2, 1);
    assert_usage(&w, "ann", "", USAGE(30, 80, 1, 0));
    wait_for(&w, 40);
    assert_usage(&w, "ann", "", USAGE(30, 80, 1, 0));
    measure(&w, id, 100, 1, 1.5);
    assert_usage(&w, "ann", "", USAGE(100, 120, 1.5, 0));
    wait_for(&w, 20);
    const struct task *k = end(&w, id, 130, 7, 2);
    assert_usage(&w, "ann", "", USAGE(130, 140, 2, 1));
    assert_int_equal(k->cpu_us, 130 * SECOND);
    assert_int_equal(k->io_bytes, 2 * GIB_BYTES);
    assert_close(k->mem_gib_s, 140);
    world_release(&w);
}

/* A measurement of no memory is one: the peak does not count. */
static void a_measured_task_does_not_count_its_peak(void **unused)
{
    struct world w;
    (void)unused;
    furnish(&w);
    uint32_t id = run(&w, "");
    wait_for(&w, 40);
    measure(&w, id, 30, 0, 1);
    wait_for(&w, 40);
    assert_close(end(&w, id, 30, 3, 1)->mem_gib_s, 0);
    world_release(&w);
}

/* The peak of its largest process counts for its whole time. */
static void a_short_task_counts_its_peak(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = run(&w, "");
    wait_for(&w, 10);
    end(&w, id, 12, 3, 0.25);
    assert_usage(&w, "ann", "", USAGE(12, 30, 0.25, 1));
    world_release(&w);
}

static void sums_do_not_fall(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = run(&w, "");
    wait_for(&w, 40);
    measure(&w, id, 30, 1, 1);
    wait_for(&w, 40);
    measure(&w, id, 20, 1, 0.5);
    assert_usage(&w, "ann", "", USAGE(30, 80, 1, 0));
    wait_for(&w, 10);
    measure_at(&w, id, w.now_us - 30 * SECOND, 40, 5, 1);     /* of an earlier time than the last one */
    measure_at(&w, id, w.now_us + HOUR_S * SECOND, 40, 1, 1); /* the clock was set back */
    assert_usage(&w, "ann", "", USAGE(40, 90, 1, 0));
    end(&w, id, 35, 9, 0);
    assert_usage(&w, "ann", "", USAGE(40, 90, 1, 1));
    world_release(&w);
}

/* A task that has no row, or has not started, has no usage. */
static void unknown_launches_are_ignored(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = 0;
    assert_int_equal(world_apply(&w, world_submission("ann", "physics", 4), &id), 0);
    assert_int_equal(world_pass(&w), 1);
    uint64_t before = state_hash(&w.s);
    measure(&w, id, 30, 1, 1);
    const struct event_measured unknown = {.launch_id = 99, .at_us = w.now_us, .cpu_us = SECOND};
    assert_int_equal(world_apply(&w, (struct event){.kind = EVENT_MEASURED, .measured = unknown}, NULL), 0);
    assert_true(state_hash(&w.s) == before);
    world_release(&w);
}

static void projects_are_charged_too(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = run(&w, "moon");
    wait_for(&w, 10);
    measure(&w, id, 5, 1, 1);
    assert_usage(&w, "ann", "moon", USAGE(5, 10, 1, 0));
    assert_usage(&w, "", "moon", USAGE(5, 10, 1, 0));
    world_release(&w);
}

/* What was measured an hour ago is a half; a late measurement is as old as it is. */
static void charges_decay_from_their_measurement(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_set(&w, "halftime_rule", "exact");
    world_set(&w, "halftime", "1");
    world_set(&w, "halflife_decay_list", "mem=0:finished_jobs=0");
    uint32_t id = run(&w, ""), late = run(&w, "");
    wait_for(&w, HOUR_S);
    measure(&w, id, 100, 0, 0);
    wait_for(&w, HOUR_S);
    assert_usage(&w, "ann", "", USAGE(50, 0, 0, 0));
    measure(&w, id, 130, 0, 4);
    assert_usage(&w, "ann", "", USAGE(80, 0, 4, 0));
    measure_at(&w, late, w.now_us - HOUR_S * SECOND, 10, 1, 2);
    assert_usage(&w, "ann", "", USAGE(85, HOUR_S, 5, 0));
    world_release(&w);
}

/* Reserved: 4 CPUs and 8 GiB every second. Measurements are kept, so a change of the setting counts from its time. */
static void the_setting_decides_from_its_change_on(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_set(&w, "SHARETREE_RESERVED_USAGE", "true");
    uint32_t id = run(&w, "");
    wait_for(&w, 100);
    measure(&w, id, 300, 1, 1);
    assert_usage(&w, "ann", "", USAGE(400, 800, 0, 0));
    world_set(&w, "SHARETREE_RESERVED_USAGE", "false");
    wait_for(&w, 50);
    assert_usage(&w, "ann", "", USAGE(400, 800, 0, 0));
    measure(&w, id, 320, 2, 3);
    assert_usage(&w, "ann", "", USAGE(420, 900, 2, 0));
    wait_for(&w, 10);
    world_set(&w, "SHARETREE_RESERVED_USAGE", "true"); /* what was not measured before the change is not charged */
    assert_usage(&w, "ann", "", USAGE(420, 900, 2, 0));
    wait_for(&w, 10);
    assert_usage(&w, "ann", "", USAGE(460, 980, 2, 0));
    const struct task *k = end(&w, id, 500, 9, 4);
    assert_usage(&w, "ann", "", USAGE(460, 980, 2, 1));
    assert_close(k->mem_gib_s, 100 + 100 + 40);
    world_release(&w);
}

/* Of a measurement that covers a time for which reserved usage was charged, the part after that time counts. */
static void reserved_usage_is_not_charged_again(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_set(&w, "SHARETREE_RESERVED_USAGE", "true");
    uint32_t measured = run(&w, "");
    wait_for(&w, 60);
    measure(&w, measured, 180, 1, 1);
    wait_for(&w, 40);
    world_set(&w, "SHARETREE_RESERVED_USAGE", "false");
    assert_usage(&w, "ann", "", USAGE(400, 800, 0, 0));
    wait_for(&w, 40);
    measure(&w, measured, 340, 1, 5);
    assert_usage(&w, "ann", "", USAGE(480, 840, 2, 0));
    wait_for(&w, 10);
    measure(&w, measured, 350, 1, 5); /* the next one counts in full */
    assert_usage(&w, "ann", "", USAGE(490, 850, 2, 0));
    world_release(&w);

    furnish(&w);
    world_set(&w, "SHARETREE_RESERVED_USAGE", "true");
    uint32_t unmeasured = run(&w, "moon");
    wait_for(&w, 100);
    world_set(&w, "SHARETREE_RESERVED_USAGE", "false");
    wait_for(&w, 300);
    end(&w, unmeasured, 800, 2, 8);
    assert_usage(&w, "", "moon", USAGE(400 + 600, 800 + 600, 6, 1));
    world_release(&w);
}

/* The database keeps numbers up to 2^53; the launcher may send larger ones. */
static void numbers_are_limited(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = run(&w, "");
    const int64_t max = INT64_C(1) << 53;
    struct event_measured m = {.launch_id = world_task(&w, id, 0)->launch_id, .cpu_us = SECOND, .mem_kib = GIB_KIB};
    wait_for(&w, 10);
    m.at_us = w.now_us;
    m.io_bytes = INT64_MAX;
    assert_int_equal(world_apply(&w, (struct event){.kind = EVENT_MEASURED, .measured = m}, NULL), 0);
    assert_int_equal(world_task(&w, id, 0)->io_bytes, max);
    assert_usage(&w, "ann", "", USAGE(1, 10, (double)max / GIB_BYTES, 0));
    m.cpu_us = m.mem_kib = m.io_bytes = -5;
    assert_int_equal(world_apply(&w, (struct event){.kind = EVENT_MEASURED, .measured = m}, NULL), 0);
    assert_int_equal(world_task(&w, id, 0)->mem_kib, 0);
    const struct event_record record = {
        .launch_id = m.launch_id, .at_us = w.now_us, .end = JOB_FAILED, .cpu_us = max + 1};
    uint32_t index = state_find_task(&w.s, id, 0);
    assert_int_equal(world_apply(&w, (struct event){.kind = EVENT_ENDED, .record = record}, NULL), 0);
    assert_int_equal(w.s.tasks.items[index].cpu_us, max);
    world_release(&w);
}

/* The machine was restarted: the memory of the last measurement counts up to the end. */
static void lost_tasks_have_what_was_measured(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = run(&w, ""), index = state_find_task(&w.s, id, 0);
    wait_for(&w, 40);
    measure(&w, id, 30, 2, 1);
    wait_for(&w, 60);
    const struct event_synced synced = {.boot_id = "boot-2", .lost_us = w.now_us};
    world_set(&w, "ACCT_RESERVED_USAGE", "true");
    assert_int_equal(world_apply(&w, (struct event){.kind = EVENT_SYNCED, .synced = synced}, NULL), 0);
    assert_int_equal(w.s.tasks.items[index].state, JOB_NODE_FAIL);
    assert_usage(&w, "ann", "", USAGE(30, 200, 1, 1));
    assert_int_equal(w.s.tasks.items[index].cpu_us, 400 * SECOND);
    world_release(&w);
}

static void the_part_after_a_reset_counts(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = run(&w, "moon");
    wait_for(&w, 40);
    measure(&w, id, 40, 1, 1);
    wait_for(&w, 10);
    world_object(&w, OBJECT_PROJECT, "moon", "RawUsage=0");
    assert_usage(&w, "", "moon", USAGE(0, 0, 0, 0));
    wait_for(&w, 30);
    measure(&w, id, 80, 2, 2);
    assert_usage(&w, "ann", "moon", USAGE(30, 60, 0.75, 0));
    assert_usage(&w, "", "moon", USAGE(30, 60, 0.75, 0));
    assert_close(world_task(&w, id, 0)->charged.used[USAGE_CPU], 30);
    world_set(&w, "PriorityUsageResetPeriod", "NOW");
    assert_close(world_task(&w, id, 0)->charged.used[USAGE_CPU], 0);
    end(&w, id, 90, 9, 2);
    assert_usage(&w, "", "moon", USAGE(0, 0, 0, 0));
    world_release(&w);
}

/* ACCT_RESERVED_USAGE concerns the record of a task, not the share tree. */
static void accounting_can_record_what_was_reserved(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_set(&w, "ACCT_RESERVED_USAGE", "true");
    uint32_t id = run(&w, "");
    wait_for(&w, 100);
    measure(&w, id, 30, 1, 1);
    assert_int_equal(world_task(&w, id, 0)->cpu_us, 30 * SECOND);
    const struct task *k = end(&w, id, 50, 9, 2);
    assert_usage(&w, "ann", "", USAGE(50, 100, 2, 1));
    assert_int_equal(k->cpu_us, 400 * SECOND);
    assert_close(k->mem_gib_s, 800);
    assert_int_equal(k->io_bytes, 2 * GIB_BYTES);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measurements_are_charged),
        cmocka_unit_test(a_measured_task_does_not_count_its_peak),
        cmocka_unit_test(a_short_task_counts_its_peak),
        cmocka_unit_test(sums_do_not_fall),
        cmocka_unit_test(unknown_launches_are_ignored),
        cmocka_unit_test(projects_are_charged_too),
        cmocka_unit_test(charges_decay_from_their_measurement),
        cmocka_unit_test(the_setting_decides_from_its_change_on),
        cmocka_unit_test(reserved_usage_is_not_charged_again),
        cmocka_unit_test(numbers_are_limited),
        cmocka_unit_test(lost_tasks_have_what_was_measured),
        cmocka_unit_test(the_peak_of_memory_is_kept),
        cmocka_unit_test(the_part_after_a_reset_counts),
        cmocka_unit_test(accounting_can_record_what_was_reserved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
