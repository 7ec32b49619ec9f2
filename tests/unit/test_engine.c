/* Events through engine_apply: what each changes in the rows, and that a refused event changes nothing. */
#include "engine_world.h"

#include "engine/output_path.h"

#include <math.h>

static void submission_without_association_gets_one_in_default(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 1024, 0);
    uint32_t id = world_submit(&w, "bob", NULL, 1);
    assert_int_equal(id, 1);
    uint32_t bob = state_find_assoc(&w.s, "default", "bob");
    assert_int_not_equal(bob, NONE);
    assert_int_equal(w.s.assocs.items[bob].shares, 1);
    assert_true(w.s.assocs.items[bob].is_default);
    assert_int_equal(w.s.jobs.items[0].assoc, bob);
    world_release(&w);
}

static void refused_submissions_change_nothing(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 1024, 1);
    world_user(&w, "physics", 10, "bob");
    struct {
        const char *what;
        enum err_code code;
        const char *text;
        struct event event;
    } rows[] = {
        {"unknown account", ERR_NOT_FOUND, "no account 'chem'", world_submission("bob", "chem", 1)},
        {"not in it", ERR_NOT_FOUND, "user 'eve' is not in account 'physics'", world_submission("eve", "physics", 1)},
        {"CPUs", ERR_TOO_LARGE, "cpus: 5 exceeds the host's 4 CPUs", world_submission("bob", "physics", 5)},
        {"memory", ERR_TOO_LARGE, "mem_mib: 2G exceeds the host's 1G of memory", world_submission("bob", "physics", 1)},
        {"GPUs", ERR_TOO_LARGE, "gpus: 2 exceeds the host's 1 GPU", world_submission("bob", "physics", 1)},
        {"time", ERR_INPUT, "time_limit_s: -5", world_submission("bob", "physics", 1)},
        {"name", ERR_INPUT, "name: 'a?b'", world_submission("bob", "physics", 1)},
        {"directory", ERR_INPUT, "directory: 'tmp' is not an absolute path", world_submission("bob", "physics", 1)},
        {"array limit", ERR_INPUT, "after '%'", world_submission("bob", "physics", 1)},
        {"array size", ERR_TOO_LARGE, "max_array_tasks", world_submission("bob", "physics", 1)},
        {"array text", ERR_INPUT, "array", world_submission("bob", "physics", 1)},
    };
    rows[3].event.submit = job_with(rows[3].event.submit, "mem_mib=2048");
    rows[4].event.submit = job_with(rows[4].event.submit, "gpus=2");
    rows[5].event.submit = job_with(rows[5].event.submit, "time_limit_s=-5");
    rows[6].event.submit = job_with(rows[6].event.submit, "name=%s", "a\nb");
    rows[7].event.submit = job_with(rows[7].event.submit, "directory=tmp");
    rows[8].event.submit = job_with(rows[8].event.submit, "array=0-3%%0");
    rows[9].event.submit = job_with(rows[9].event.submit, "array=0-200000");
    rows[10].event.submit = job_with(rows[10].event.submit, "array=3-");
    uint64_t before = state_hash(&w.s);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        outcome_clear(&w.out);
        print_message("# %s\n", rows[i].what);
        assert_int_equal(world_apply(&w, rows[i].event, NULL), -1);
        assert_int_equal(w.e.code, rows[i].code);
        assert_non_null(strstr(ERR_SENTENCE(&w.e), rows[i].text));
        assert_int_equal(w.out.changes.count, 0);
        assert_true(state_hash(&w.s) == before);
    }
    world_release(&w);
}

static void the_user_with_less_usage_starts_first(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 1, 1024, 0);
    world_user(&w, "a", 50, "ann");
    world_user(&w, "b", 50, "bea");
    uint32_t first = world_submit(&w, "ann", "a", 1);
    assert_int_equal(world_pass(&w), 1);
    world_started(&w, world_task(&w, first, 0)->launch_id);
    uint32_t ann = world_submit(&w, "ann", "a", 1);
    uint32_t bea = world_submit(&w, "bea", "b", 1);
    assert_int_equal(world_pass(&w), 0);
    int64_t started_us = w.now_us;
    w.now_us += 100 * SECOND;
    world_ended(&w, world_task(&w, first, 0)->launch_id, JOB_COMPLETED, started_us);
    assert_int_equal(world_pass(&w), 1);
    assert_null(world_task(&w, ann, 0));
    assert_non_null(world_task(&w, bea, 0));
    world_release(&w);
}

static void a_job_that_does_not_fit_holds_up_no_other(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 1024, 0);
    world_submit(&w, "ann", NULL, 3);
    uint32_t large = world_submit(&w, "ann", NULL, 2);
    uint32_t small = world_submit(&w, "ann", NULL, 1);
    assert_int_equal(world_pass(&w), 2);
    assert_null(world_task(&w, large, 0));
    assert_non_null(world_task(&w, small, 0));
    world_release(&w);
}

static void arrays_are_one_row_and_keep_their_limit(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 8, 1024, 0);
    struct event submission = world_submission("ann", NULL, 1);
    submission.submit = job_with(submission.submit, "array=0-999%%3");
    uint32_t id;
    assert_int_equal(world_apply(&w, submission, &id), 0);
    assert_int_equal(w.s.jobs.count, 1);
    assert_int_equal(world_pass(&w), 3);
    assert_int_equal(world_pass(&w), 0);
    assert_int_equal(idset_first(&w.s.jobs.items[0].pending), 3);
    w.now_us += SECOND;
    world_ended(&w, world_task(&w, id, 1)->launch_id, JOB_COMPLETED, w.now_us - SECOND);
    assert_null(world_task(&w, id, 1));
    assert_int_equal(world_pass(&w), 1);
    assert_non_null(world_task(&w, id, 3));

    struct job_ref refs[] = {{id, 500}, {id, 0}};
    struct event cancel = {.kind = EVENT_CANCEL, .jobs = {refs, 2, false}};
    outcome_clear(&w.out);
    assert_int_equal(world_apply(&w, cancel, NULL), 0);
    assert_false(idset_has(&w.s.jobs.items[0].pending, 500));
    assert_true(idset_has(&w.s.jobs.items[0].cancelled, 500));
    assert_int_equal(world_task(&w, id, 0)->state, JOB_COMPLETING);
    assert_int_equal(w.out.decisions.count, 1);
    assert_int_equal(w.out.decisions.items[0].kind, DECIDE_END);
    world_release(&w);
}

/* A cancellation moves ranges of task numbers, not single numbers: with 100,000 ranges that would take seconds. */
static void arrays_of_many_ranges_are_cancelled_fast(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 1, 1024, 0);
    struct event submission = world_submission("ann", NULL, 1);
    submission.submit = job_with(submission.submit, "array=0-199998:2");
    uint32_t id;
    assert_int_equal(world_apply(&w, submission, &id), 0);
    struct job_ref refs[] = {{id, 1000}, {id, NONE}};
    struct event cancel = {.kind = EVENT_CANCEL, .jobs = {refs, 1, false}};
    assert_int_equal(world_apply(&w, cancel, NULL), 0);
    cancel.jobs.refs = refs + 1;
    assert_int_equal(world_apply(&w, cancel, NULL), 0);
    assert_int_equal(idset_count(&w.s.jobs.items[0].cancelled), 100000);
    assert_int_equal(idset_count(&w.s.jobs.items[0].pending), 0);
    assert_int_equal(state_find_job(&w.s, id), NONE);
    world_release(&w);
}

/* Otherwise a launch could get the id, and the records, of another one. */
static void launch_ids_from_after_a_backup_are_not_used_again(void **unused)
{
    (void)unused;
    static const enum event_kind kinds[] = {EVENT_STARTED, EVENT_COMPLETING, EVENT_ENDED};
    struct world w;
    world_init(&w, 8, 1024, 0);
    for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct event record = {.kind = kinds[i],
                               .record = {.launch_id = 50 + 10 * i, .at_us = w.now_us, .started_us = w.now_us}};
        record.record.end = JOB_COMPLETED;
        assert_int_equal(world_apply(&w, record, NULL), 0);
        uint32_t job = world_submit(&w, "ann", NULL, 1);
        assert_int_equal(world_pass(&w), 1);
        assert_true(world_task(&w, job, 0)->launch_id > 50 + 10 * i);
    }
    world_release(&w);
}

static void jobs_larger_than_a_shrunk_host_can_be_renamed(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 1024, 0);
    uint32_t id = world_submit(&w, "ann", NULL, 4);
    world_set(&w, "host_cpus", "2");
    assert_int_equal(world_apply(&w, world_update(id, job_text("name=large")), NULL), 0);
    assert_int_equal(world_apply(&w, world_update(id, job_text("name=large|time_limit_s=60")), NULL), -1);
    assert_int_equal(w.e.code, ERR_TOO_LARGE);
    world_release(&w);
}

static void cancelling_is_all_or_nothing(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 1, 1024, 0);
    uint32_t mine = world_submit(&w, "ann", NULL, 1);
    uint64_t before = state_hash(&w.s);
    struct job_ref refs[] = {{mine, NONE}, {77, NONE}};
    struct event cancel = {.kind = EVENT_CANCEL, .jobs = {refs, 2, false}};
    assert_int_equal(world_apply(&w, cancel, NULL), -1);
    assert_int_equal(w.e.code, ERR_NOT_FOUND);
    assert_non_null(strstr(ERR_SENTENCE(&w.e), "77"));
    assert_true(state_hash(&w.s) == before);
    cancel.jobs.count = 1;
    cancel.actor = (struct actor){1001, 1001, "eve", ROLE_USER};
    assert_int_equal(world_apply(&w, cancel, NULL), -1);
    assert_int_equal(w.e.code, ERR_DENIED);
    cancel.actor.user = "ann";
    assert_int_equal(world_apply(&w, cancel, NULL), 0);
    assert_int_equal(state_find_job(&w.s, mine), NONE);
    world_release(&w);
}

static void held_jobs_wait_and_released_ones_start(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 1, 1024, 0);
    struct event submission = world_submission("ann", NULL, 1);
    submission.submit = job_with(submission.submit, "held=yes");
    uint32_t id;
    assert_int_equal(world_apply(&w, submission, &id), 0);
    assert_int_equal(world_pass(&w), 0);
    struct job_ref ref = {id, NONE};
    struct event release = {.kind = EVENT_RELEASE, .jobs = {&ref, 1, false}};
    assert_int_equal(world_apply(&w, release, NULL), 0);
    assert_int_equal(world_pass(&w), 1);
    struct event hold = {.kind = EVENT_HOLD, .jobs = {&ref, 1, false}};
    assert_int_equal(world_apply(&w, hold, NULL), -1);
    assert_int_equal(w.e.code, ERR_CONFLICT);
    world_release(&w);
}

static void each_launch_is_resolved_once_after_a_crash(void **unused)
{
    (void)unused;
    struct {
        const char *what, *boot;
        bool started, cancelled, known;
        enum job_state state; /* afterwards; JOB_PENDING: the task has ended */
        uint32_t starts;
    } rows[] = {
        {"sent, never arrived: sent again", "boot-1", false, false, false, JOB_STARTING, 1},
        {"arrived: waits for its record", "boot-1", false, false, true, JOB_STARTING, 0},
        {"another boot: lost", "boot-2", false, false, false, JOB_PENDING, 0},
        {"ran, its keeper is gone: lost", "boot-1", true, false, false, JOB_PENDING, 0},
        {"runs", "boot-1", true, false, true, JOB_RUNNING, 0},
        {"cancelled before it arrived", "boot-1", false, true, false, JOB_PENDING, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        print_message("# %s\n", rows[i].what);
        world_init(&w, 1, 1024, 0);
        uint32_t id = world_submit(&w, "ann", NULL, 1);
        assert_int_equal(world_pass(&w), 1);
        uint64_t launch = world_task(&w, id, 0)->launch_id;
        if (rows[i].started) world_started(&w, launch);
        struct job_ref ref = {id, NONE};
        struct event cancel = {.kind = EVENT_CANCEL, .jobs = {&ref, 1, false}};
        if (rows[i].cancelled) assert_int_equal(world_apply(&w, cancel, NULL), 0);
        outcome_clear(&w.out);
        struct event synced = {.kind = EVENT_SYNCED, .synced = {&launch, rows[i].known, rows[i].boot, w.now_us, NULL}};
        assert_int_equal(world_apply(&w, synced, NULL), 0);
        uint32_t starts = 0;
        for (uint32_t k = 0; k < w.out.decisions.count; k++) {
            starts += w.out.decisions.items[k].kind == DECIDE_START;
            assert_int_equal(w.out.decisions.items[k].launch_id, launch);
        }
        assert_int_equal(starts, rows[i].starts);
        const struct task *k = world_task(&w, id, 0);
        if (rows[i].state == JOB_PENDING)
            assert_null(k);
        else
            assert_int_equal(k->state, rows[i].state);
        if (k == NULL) assert_int_equal(idset_count(&w.s.hosts.items[0].host.free_cpus), 1);
        world_release(&w);
    }
}

static double usage_of(struct world *w, const char *account, const char *user)
{
    struct arena arena = {0};
    const double *own = state_own_usage(&w->s, w->now_us, &arena);
    double usage = own[w->s.node_of.items[state_find_assoc(&w->s, account, user)]];
    arena_release(&arena);
    return usage;
}

static void usage_grows_while_a_job_runs_and_decays_afterwards(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 1024, 0);
    world_set(&w, "halflife_s", "100");
    uint32_t id = world_submit(&w, "ann", NULL, 3);
    assert_int_equal(world_pass(&w), 1);
    uint64_t launch = world_task(&w, id, 0)->launch_id;
    int64_t started_us = w.now_us;
    world_started(&w, launch);
    w.now_us += 200 * SECOND;
    double expected = 3 * (100 / M_LN2) * (1 - 0.25);
    assert_true(fabs(usage_of(&w, "default", "ann") / expected - 1) < 1e-12);
    world_ended(&w, launch, JOB_COMPLETED, started_us);
    assert_true(fabs(usage_of(&w, "default", "ann") / expected - 1) < 1e-12);
    w.now_us += 100 * SECOND;
    assert_true(fabs(usage_of(&w, "default", "ann") / (expected / 2) - 1) < 1e-12);
    world_release(&w);
}

static void a_new_halflife_applies_from_its_change(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 1024, 0);
    world_set(&w, "halflife_s", "0");
    uint32_t id = world_submit(&w, "ann", NULL, 2);
    world_pass(&w);
    world_started(&w, world_task(&w, id, 0)->launch_id);
    w.now_us += 50 * SECOND;
    world_set(&w, "halflife_s", "10");
    assert_true(fabs(usage_of(&w, "default", "ann") - 100) < 1e-9);
    w.now_us += 10 * SECOND;
    double expected = 50 + 2 * (10 / M_LN2) * 0.5;
    assert_true(fabs(usage_of(&w, "default", "ann") / expected - 1) < 1e-12);
    world_release(&w);
}

static void a_deleted_user_leaves_the_usage_to_the_account(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 1024, 0);
    world_set(&w, "halflife_s", "0");
    world_user(&w, "physics", 10, "ann");
    uint32_t id = world_submit(&w, "ann", "physics", 1);
    world_pass(&w);
    int64_t started_us = w.now_us;
    world_started(&w, world_task(&w, id, 0)->launch_id);
    struct event leave = {
        .kind = EVENT_USER_DELETE,
        .user = {.name = "ann", .account = "physics", .shares = SHARES_UNSET, .priority = PRIORITY_UNSET}};
    assert_int_equal(world_apply(&w, leave, NULL), -1);
    assert_int_equal(w.e.code, ERR_CONFLICT);
    w.now_us += 60 * SECOND;
    world_ended(&w, world_task(&w, id, 0)->launch_id, JOB_COMPLETED, started_us);
    assert_int_equal(world_apply(&w, leave, NULL), 0);
    assert_int_equal(state_find_assoc(&w.s, "physics", "ann"), NONE);
    assert_true(fabs(usage_of(&w, "physics", NULL) - 60) < 1e-9);
    world_release(&w);
}

static void accounts_form_a_tree(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 1, 1024, 0);
    char name[16], parent[16] = "root";
    for (int depth = 1; depth <= TREE_DEPTH_MAX; depth++) {
        text_format(name, sizeof name, "a%d", depth);
        struct event add = {.kind = EVENT_ACCOUNT_ADD, .account = {name, parent, 1, PRIORITY_UNSET}};
        assert_int_equal(world_apply(&w, add, NULL), 0);
        memcpy(parent, name, sizeof parent);
    }
    struct event deeper = {.kind = EVENT_ACCOUNT_ADD, .account = {"too-deep", parent, 1, PRIORITY_UNSET}};
    assert_int_equal(world_apply(&w, deeper, NULL), -1);
    assert_int_equal(w.e.code, ERR_TOO_LARGE);
    struct event circle = {.kind = EVENT_ACCOUNT_MODIFY, .account = {"a2", "a9", SHARES_UNSET, PRIORITY_UNSET}};
    assert_int_equal(world_apply(&w, circle, NULL), -1);
    assert_int_equal(w.e.code, ERR_CONFLICT);
    struct event full = {.kind = EVENT_ACCOUNT_DELETE, .account = {.name = "a2"}};
    assert_int_equal(world_apply(&w, full, NULL), -1);
    struct event again = {.kind = EVENT_ACCOUNT_ADD, .account = {"a3", NULL, 1, PRIORITY_UNSET}};
    assert_int_equal(world_apply(&w, again, NULL), -1);
    assert_int_equal(w.e.code, ERR_EXISTS);
    assert_int_equal(state_tree(&w.s)->count, TREE_DEPTH_MAX + 1);
    struct event move = {.kind = EVENT_ACCOUNT_MODIFY, .account = {"a64", "root", 7, PRIORITY_UNSET}};
    assert_int_equal(world_apply(&w, move, NULL), 0);
    assert_int_equal(state_tree(&w.s)->count, TREE_DEPTH_MAX + 1);
    world_release(&w);
}

static void names_are_checked(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 1, 1024, 0);
    const char *bad[] = {"",
                         "two words",
                         "a|b",
                         "../x",
                         "..",
                         "-x",
                         "tab\there",
                         "\xff\xfe",
                         "x\x7f",
                         "quote'd",
                         "0123456789012345678901234567890123456789012345678901234567890123456789"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct event add = {.kind = EVENT_ACCOUNT_ADD, .account = {bad[i], NULL, 1, PRIORITY_UNSET}};
        assert_int_equal(world_apply(&w, add, NULL), -1);
        assert_int_equal(w.e.code, ERR_INPUT);
    }
    struct event domain = {.kind = EVENT_USER_ADD, .user = {"DOMAIN\\ann", NULL, SHARES_UNSET, false, PRIORITY_UNSET}};
    assert_int_equal(world_apply(&w, domain, NULL), 0);
    struct event utf8 = {.kind = EVENT_ACCOUNT_ADD, .account = {"caf\xc3\xa9", NULL, 1, PRIORITY_UNSET}};
    assert_int_equal(world_apply(&w, utf8, NULL), 0);
    struct event many = {.kind = EVENT_ACCOUNT_ADD, .account = {"many", NULL, SHARES_PARENT + 1, PRIORITY_UNSET}};
    assert_int_equal(world_apply(&w, many, NULL), -1);
    world_release(&w);
}

static void ended_rows_leave_memory(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 2, 1024, 0);
    for (int i = 0; i < 1000; i++) {
        uint32_t id = world_submit(&w, "ann", NULL, 1);
        assert_int_equal(world_pass(&w), 1);
        world_ended(&w, world_task(&w, id, 0)->launch_id, JOB_COMPLETED, w.now_us);
        engine_forget(&w.s);
    }
    assert_true(w.s.jobs.count + w.s.tasks.count < 300);
    assert_int_equal(idset_count(&w.s.hosts.items[0].host.free_cpus), 2);
    world_release(&w);
}

static void output_paths_are_expanded(void **unused)
{
    (void)unused;
    struct job_text text = {.name = "a/b", .directory = "/home/x"};
    struct job j = {.id = 7, .text = &text};
    struct {
        const char *pattern, *expected;
        bool is_array;
    } rows[] = {
        {"fairlead-%j.out", "/home/x/fairlead-7.out", false},
        {"%A_%a", "/home/x/7_3", true},
        {"%j", "/home/x/7_3", true},
        {"/tmp/%x-%u-%%-%q", "/tmp/a_b-ann-%-%q", false},
        {"%", "/home/x/%", false},
        {"%5j-%3A-%10a", "/home/x/00007-007-0000000003", false},
        {"%5j", "/home/x/00007_3", true},
        {"%0j%11j%5x%5%", "/home/x/%0j%11j%5x%5%", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf path = {0};
        j.is_array = rows[i].is_array;
        output_path_expand(&j, "ann", 3, rows[i].pattern, &path);
        assert_string_equal(path.text, rows[i].expected);
        buf_release(&path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(submission_without_association_gets_one_in_default),
        cmocka_unit_test(refused_submissions_change_nothing),
        cmocka_unit_test(the_user_with_less_usage_starts_first),
        cmocka_unit_test(a_job_that_does_not_fit_holds_up_no_other),
        cmocka_unit_test(arrays_are_one_row_and_keep_their_limit),
        cmocka_unit_test(arrays_of_many_ranges_are_cancelled_fast),
        cmocka_unit_test(launch_ids_from_after_a_backup_are_not_used_again),
        cmocka_unit_test(jobs_larger_than_a_shrunk_host_can_be_renamed),
        cmocka_unit_test(cancelling_is_all_or_nothing),
        cmocka_unit_test(held_jobs_wait_and_released_ones_start),
        cmocka_unit_test(each_launch_is_resolved_once_after_a_crash),
        cmocka_unit_test(usage_grows_while_a_job_runs_and_decays_afterwards),
        cmocka_unit_test(a_new_halflife_applies_from_its_change),
        cmocka_unit_test(a_deleted_user_leaves_the_usage_to_the_account),
        cmocka_unit_test(accounts_form_a_tree),
        cmocka_unit_test(names_are_checked),
        cmocka_unit_test(ended_rows_leave_memory),
        cmocka_unit_test(output_paths_are_expanded),
    };
    return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
