/* The scheduler's list in a live state: which events move a job to its end, what depends on the order, and what a
 * restart and an older database make of it. And arrays with a limit of running tasks, whose entries follow the running
 * ones. */
#include "policy_world.h"
#include "store_house.h"

#include <math.h>

#include "engine/priorities.h"
#include "engine/ranking.h"

/* The store is closed and opened again; the state is the one that it has. */
static void house_restart(struct house *h)
{
    house_commit(h);
    store_close(h->store);
    world_release(&h->w);
    memset(&h->w, 0, sizeof h->w);
    h->w.now_us = NOW_US;
    h->store = store_must_open(h->directory, NOW_US);
    store_must_load(h->store, &h->w.s);
    house_set_host(h, (struct capacity){.cpus = 4, .mem_mib = 1000});
}

static int open_house(void **state)
{
    static struct house h;
    house_build(&h, (struct capacity){.cpus = 4, .mem_mib = 1000});
    world_user(&h.w, "physics", 1, "ann");
    *state = &h;
    return 0;
}

static int close_house(void **state)
{
    house_close(*state);
    return 0;
}

/* --- positions ---------------------------------------------------------------------------------------------------- */

static struct job *job_of(struct house *h, uint32_t id)
{
    uint32_t index = state_find_job(&h->w.s, id);
    assert_int_not_equal(index, NONE);
    return &h->w.s.jobs.items[index];
}

/* The ids of the live jobs in the order of the list: "2 3 1". */
static const char *listed(struct house *h)
{
    static char text[TEXT_MAX];
    size_t length = 0;
    text[0] = '\0';
    for (uint64_t position = 0; position < h->w.s.next_list_position; position++) {
        for (uint32_t i = 0; i < h->w.s.jobs.count; i++) {
            const struct job *j = &h->w.s.jobs.items[i];
            if (j->list_position != position || j->ended_us != 0) continue;
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%u", length > 0 ? " " : "", j->id);
        }
    }
    return text;
}

static void hold_or_release(struct house *h, enum event_kind kind, uint32_t id)
{
    struct job_ref ref = {id, NONE};
    assert_int_equal(world_apply(&h->w, (struct event){.kind = kind, .jobs = {&ref, 1, false}}, NULL), 0);
    house_commit(h);
}

static void update(struct house *h, uint32_t id, const char *change)
{
    if (world_apply(&h->w, world_update(id, job_text("%s", change)), NULL) != 0)
        fail_msg("%s: %s", change, ERR_SENTENCE(&h->w.e));
    house_commit(h);
}

static void changes_by_hand_move_a_job_to_the_end(void **state)
{
    struct house *h = *state;
    for (int i = 0; i < 3; i++) world_submit(&h->w, "ann", NULL, 1);
    house_commit(h);
    assert_string_equal(listed(h), "1 2 3");
    hold_or_release(h, EVENT_HOLD, 1);
    assert_string_equal(listed(h), "2 3 1");
    hold_or_release(h, EVENT_HOLD, 2);
    assert_string_equal(listed(h), "3 1 2");
    hold_or_release(h, EVENT_HOLD, 1); /* it is held already */
    assert_string_equal(listed(h), "3 1 2");
    hold_or_release(h, EVENT_RELEASE, 1);
    assert_string_equal(listed(h), "3 2 1");
    hold_or_release(h, EVENT_RELEASE, 3); /* it is not held */
    assert_string_equal(listed(h), "3 2 1");
    world_submit(&h->w, "ann", NULL, 1);
    assert_string_equal(listed(h), "3 2 1 4");
}

/* So does a new name, as with qalter -N, but not a note. */
static void updates_of_what_decides_move_a_job(void **state)
{
    static const char *const decisive[] = {
        "nice=3", "cpus=2", "partitions=fast", "job_share=5", "project=apollo", "override_tickets=1", "name=another"};
    struct house *h = *state;
    world_object(&h->w, OBJECT_PARTITION, "fast", "");
    world_object(&h->w, OBJECT_PROJECT, "apollo", "");
    for (int i = 0; i < 2; i++) world_submit(&h->w, "ann", NULL, 1);
    house_commit(h);
    for (size_t i = 0; i < COUNT(decisive); i++) {
        update(h, 1, decisive[i]);
        assert_string_equal(listed(h), "2 1");
        update(h, 1, decisive[i]); /* the same value again */
        update(h, 1, "comment=a note|admin_comment=another");
        update(h, 2, "nice=0|cpus=1|partitions=main"); /* what it has */
        assert_string_equal(listed(h), "2 1");
        update(h, 2, i % 2 ? "nice=0" : "nice=1");
        if (i % 2 == 0) update(h, 2, "nice=0");
        hold_or_release(h, EVENT_HOLD, 2);
        hold_or_release(h, EVENT_RELEASE, 2);
        assert_string_equal(listed(h), "1 2");
    }
}

static void a_refused_update_moves_nothing(void **state)
{
    struct house *h = *state;
    for (int i = 0; i < 2; i++) world_submit(&h->w, "ann", NULL, 1);
    world_refuses(&h->w, world_update(1, job_text("nice=5|cpus=99")), ERR_TOO_LARGE, "99");
    assert_string_equal(listed(h), "1 2");
    assert_int_equal(h->w.s.next_list_position, 3);
}

/* --- what depends on it ------------------------------------------------------------------------------------------- */

/* The functional tickets of a job's first row, which is that of its pending tasks if it has any. */
static double tickets_of(struct house *h, uint32_t id)
{
    struct arena arena = {0};
    struct priorities all;
    state_priorities(&h->w.s, h->w.now_us, id, &arena, &all);
    assert_true(all.count >= 1);
    double tickets = all.rows[0].tickets.functional;
    arena_release(&arena);
    return tickets;
}

static void use_tickets(struct house *h)
{
    world_settings(&h->w,
                   "PriorityType=priority/tickets policy_hierarchy=NONE weight_tickets_functional=600 weight_user=1 "
                   "weight_project=0 weight_department=0 weight_job=0");
    world_object(&h->w, OBJECT_USER_POLICY, "ann", "fshare=10");
}

static void expect_tickets(struct house *h, double first, double second, double third)
{
    const double expected[] = {first, second, third};
    for (uint32_t i = 0; i < 3; i++) assert_true(fabs(tickets_of(h, i + 1) - expected[i]) < 1e-6);
}

/* Without a hierarchy the first job of the list is the first to get tickets. */
static void tickets_follow_the_list_also_after_a_restart(void **state)
{
    struct house *h = *state;
    use_tickets(h);
    for (int i = 0; i < 3; i++) world_submit(&h->w, "ann", NULL, 1);
    expect_tickets(h, 600, 300, 200);
    hold_or_release(h, EVENT_HOLD, 1);
    hold_or_release(h, EVENT_RELEASE, 1);
    expect_tickets(h, 200, 600, 300);
    uint64_t hash = state_hash(&h->w.s);
    house_restart(h);
    assert_true(state_hash(&h->w.s) == hash);
    assert_string_equal(listed(h), "2 3 1");
    expect_tickets(h, 200, 600, 300);
    world_submit(&h->w, "ann", NULL, 1);
    assert_string_equal(listed(h), "2 3 1 4");
}

/* Rows from before the column have no position: they are first, and among these equal positions their submissions
 * decide, then their ids. A job changed then is behind them. */
static void jobs_of_an_older_database_come_first(void **state)
{
    struct house *h = *state;
    use_tickets(h);
    for (int i = 0; i < 3; i++) world_submit(&h->w, "ann", NULL, 1);
    hold_or_release(h, EVENT_HOLD, 2);
    hold_or_release(h, EVENT_RELEASE, 2);
    hold_or_release(h, EVENT_HOLD, 1);
    hold_or_release(h, EVENT_RELEASE, 1);
    assert_string_equal(listed(h), "3 2 1");
    house_commit(h);
    store_sql(h->directory, "UPDATE job SET list_position = NULL, submit_us = 5 WHERE id IN (1, 2)");
    house_restart(h);
    assert_int_equal(job_of(h, 1)->list_position, 0);
    assert_int_equal(job_of(h, 2)->list_position, 0);
    expect_tickets(h, 600, 300, 200);
    store_sql(h->directory, "UPDATE job SET submit_us = 4 WHERE id = 2");
    house_restart(h);
    expect_tickets(h, 300, 600, 200);
    update(h, 1, "nice=1");
    expect_tickets(h, 200, 600, 300);
    assert_sql(h->directory, "SELECT count(*) FROM job WHERE list_position IS NULL", "1");
    house_restart(h);
    expect_tickets(h, 200, 600, 300);
}

static void the_hash_covers_the_positions(void **state)
{
    struct house *h = *state;
    for (int i = 0; i < 2; i++) world_submit(&h->w, "ann", NULL, 1);
    uint64_t hash = state_hash(&h->w.s);
    job_of(h, 1)->list_position = 7;
    assert_true(state_hash(&h->w.s) != hash);
    job_of(h, 1)->list_position = 1;
    assert_true(state_hash(&h->w.s) == hash);
}

/* --- arrays with a limit ------------------------------------------------------------------------------------------ */

/* The entries of pending tasks and of running ones. */
static void expect_entries(struct house *h, uint32_t pending, uint32_t running)
{
    struct ticket_snapshot snapshot;
    uint32_t counts[2] = {0, 0};
    ticket_snapshot_make(&snapshot, &h->w.s, h->w.now_us);
    for (uint32_t i = 0; i < snapshot.input.job_count; i++) counts[snapshot.input.jobs[i].is_running]++;
    ticket_snapshot_release(&snapshot);
    assert_int_equal(counts[0], pending);
    assert_int_equal(counts[1], running);
    assert_int_equal(ticket_entry_count(&h->w.s, h->w.now_us), pending + running);
}

static void entries_of_an_array_follow_its_running_tasks(void **state)
{
    struct house *h = *state;
    use_tickets(h);
    struct event array = world_job("ann");
    array.submit = job_with(array.submit, "array=0-4%%3");
    uint32_t id = world_take(&h->w, array);
    expect_entries(h, 3, 0);
    house_commit(h);
    assert_int_equal(world_pass(&h->w), 3);
    expect_entries(h, 0, 3);
    assert_true(tickets_of(h, id) < 1);
    world_run(&h->w, id, 0);
    world_end(&h->w, id, 0);
    expect_entries(h, 1, 2);
    update(h, id, "array_limit=5");
    expect_entries(h, 2, 2);
    update(h, id, "array_limit=1");
    expect_entries(h, 0, 2);
    world_end(&h->w, id, 1);
    world_end(&h->w, id, 2);
    expect_entries(h, 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(changes_by_hand_move_a_job_to_the_end, open_house, close_house),
        cmocka_unit_test_setup_teardown(updates_of_what_decides_move_a_job, open_house, close_house),
        cmocka_unit_test_setup_teardown(a_refused_update_moves_nothing, open_house, close_house),
        cmocka_unit_test_setup_teardown(tickets_follow_the_list_also_after_a_restart, open_house, close_house),
        cmocka_unit_test_setup_teardown(jobs_of_an_older_database_come_first, open_house, close_house),
        cmocka_unit_test_setup_teardown(the_hash_covers_the_positions, open_house, close_house),
        cmocka_unit_test_setup_teardown(entries_of_an_array_follow_its_running_tasks, open_house, close_house),
    };
    return cmocka_run_group_tests_name("list position", tests, NULL, NULL);
}
