/* Verification: usages that follow from the records are found right, whatever happened to them; wrong ones are found. */
#include "../dies.h"
#include "engine_world.h"
#include "store_world.h"

static const int64_t NOW_US = INT64_C(1700000000) * SECOND;

struct house {
    char directory[STORE_PATH_SIZE];
    struct store *store;
    struct world w;
    struct arena arena;
    struct verify_report report;
    struct err e;
};

static void commit(struct house *h)
{
    store_must_commit(h->store, &h->w.s, &h->w.out, h->w.now_us);
}

static uint32_t run_job(struct house *h, const char *user, const char *account, uint32_t cpus)
{
    uint32_t id = world_submit(&h->w, user, account, cpus);
    struct event pass = {.kind = EVENT_TIME, .time = {"boot"}};
    assert_int_equal(world_apply(&h->w, pass, NULL), 0);
    world_started(&h->w, world_task(&h->w, id, 0)->launch_id);
    commit(h);
    return id;
}

static void end_job(struct house *h, uint32_t id, int64_t after_s)
{
    h->w.now_us += after_s * SECOND;
    world_ended(&h->w, world_task(&h->w, id, 0)->launch_id, JOB_COMPLETED, 0);
    commit(h);
}

/* Three users; ended jobs under two half-lives, one that runs across them, a deleted user whose usage went up. */
static void house_open(struct house *h)
{
    memset(h, 0, sizeof *h);
    store_make_directory(h->directory);
    h->store = store_must_open(h->directory, NOW_US);
    world_init(&h->w, 8, 4096, 0);
    state_release(&h->w.s);
    store_must_load(h->store, &h->w.s);
    assert_int_equal(world_apply(&h->w, (struct event){.kind = EVENT_HOST, .host = {8, 0, 4096}}, NULL), 0);
    world_user(&h->w, "physics", 1, "ann");
    world_user(&h->w, "physics", 1, "bob");
    world_user(&h->w, "chem", 1, "eve");
    uint32_t across = run_job(h, "ann", "physics", 2);
    end_job(h, run_job(h, "eve", "chem", 3), 1000);
    end_job(h, run_job(h, "bob", "physics", 1), 5000);
    world_set(&h->w, "halflife_s", "10000");
    commit(h);
    end_job(h, run_job(h, "eve", "chem", 1), 7000);
    assert_true(world_task(&h->w, across, 0)->charged_us > world_task(&h->w, across, 0)->start_us);
    struct event leave = {.kind = EVENT_USER_DELETE, .user = {"bob", NULL, SHARES_UNSET, false, PRIORITY_UNSET}};
    assert_int_equal(world_apply(&h->w, leave, NULL), 0);
    h->w.now_us += 100 * SECOND;
    commit(h);
}

static void house_close(struct house *h)
{
    array_release(&h->report.differences);
    arena_release(&h->arena);
    store_close(h->store);
    world_release(&h->w);
    store_remove_directory(h->directory);
}

/* The differences as "account/user account/user". */
static const char *verify(struct house *h)
{
    static char text[400];
    size_t length = 0;
    array_release(&h->report.differences);
    if (store_verify(h->directory, &h->arena, &h->report, &h->e) != 0) return h->e.text;
    text[0] = '\0';
    for (uint32_t i = 0; i < h->report.differences.count; i++) {
        const struct verify_difference *d = &h->report.differences.items[i];
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s/%s", i > 0 ? " " : "", d->account,
                                   d->user ? d->user : "");
    }
    return text;
}

static void what_follows_from_the_records_is_right(void **unused)
{
    (void)unused;
    struct house h;
    house_open(&h);
    assert_string_equal(verify(&h), ""); /* beside the daemon */
    assert_int_equal(h.report.assoc_count, 5);
    assert_int_equal(h.report.task_count, 4);
    end_job(&h, 1, 100000);
    assert_string_equal(verify(&h), "");
    world_set(&h.w, "halflife_s", "0");
    h.w.now_us += 100000 * SECOND;
    commit(&h);
    end_job(&h, run_job(&h, "ann", "physics", 5), 12345);
    assert_string_equal(verify(&h), "");
    store_close(h.store);
    assert_string_equal(verify(&h), ""); /* with no daemon, the log gone */
    h.store = NULL;
    house_close(&h);
}

static void wrong_rows_are_found(void **unused)
{
    (void)unused;
    static const struct {
        const char *statement, *found;
    } rows[] = {
        {"UPDATE association SET usage_billing_s = usage_billing_s * (1 + 1e-8) WHERE user = 'eve'", "chem/eve"},
        {"UPDATE association SET usage_billing_s = usage_billing_s * (1 - 1e-8) WHERE user = 'eve'", "chem/eve"},
        {"UPDATE association SET usage_billing_s = usage_billing_s * (1 + 1e-10) WHERE user = 'eve'", ""},
        {"UPDATE association SET usage_billing_s = 1e-3 WHERE account = 'root'", "root/"},
        {"UPDATE association SET usage_billing_s = 1e-7 WHERE account = 'root'", ""},
        {"UPDATE association SET usage_billing_s = 5 WHERE user = 'bob'", "physics/bob"},
        {"UPDATE association SET usage_billing_s = 0 WHERE user IS NULL", "physics/"},
        {"UPDATE association SET usage_billing_s = 9e999 WHERE user = 'ann'", "physics/ann"},
        {"UPDATE task SET end_us = end_us - 1000000 WHERE job_id = 2", "chem/eve"},
        {"UPDATE task SET end_us = end_us + 1000000 WHERE job_id = 2", "chem/eve"},
        {"UPDATE task SET start_us = start_us + 1000000 WHERE job_id = 3", "physics/"},
        {"UPDATE task SET billing = 2 WHERE job_id = 4", "chem/eve"},
        {"UPDATE task SET charged_us = charged_us + 1 WHERE job_id = 1", ""}, /* a microsecond of two CPUs in 12000 s */
        {"UPDATE task SET charged_us = charged_us + 1000000 WHERE job_id = 1", "physics/ann"},
        {"UPDATE task SET association_id = 3 WHERE job_id = 2", "physics/ann chem/eve"},
        {"DELETE FROM task WHERE job_id = 3", "physics/"},
        {"UPDATE journal SET after = 10001 WHERE seq = (SELECT max(seq) FROM journal WHERE kind = 'HALFLIFE')",
         "chem/eve"},
        {"UPDATE counters SET reference_us = reference_us + 1000000", "physics/ physics/ann chem/eve"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct house h;
        house_open(&h);
        store_sql(h.directory, rows[i].statement);
        const char *found = verify(&h);
        if (strcmp(found, rows[i].found) != 0)
            fail_msg("%s: '%s' is not '%s'", rows[i].statement, found, rows[i].found);
        house_close(&h);
    }
}

static void a_journal_that_cannot_be_followed_is_an_error(void **unused)
{
    (void)unused;
    static const struct {
        const char *statement, *text;
    } rows[] = {
        {"DELETE FROM journal WHERE kind = 'FOLD'", "who took over the usage of association 4"},
        {"UPDATE journal SET after = 4 WHERE kind = 'FOLD'", "who took over the usage of association 4"},
        {"DELETE FROM journal WHERE kind = 'HALFLIFE'", "does not say the first half-life"},
        {"UPDATE task SET association_id = 99 WHERE job_id = 2", "job 2 belongs to an association that is not there"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct house h;
        house_open(&h);
        store_sql(h.directory, rows[i].statement);
        if (strstr(verify(&h), rows[i].text) == NULL) fail_msg("%s: '%s'", rows[i].statement, h.e.text);
        house_close(&h);
    }
}

/* Told of a start only after the half-life changed, the engine charges all of it under the new one; the journal says so. */
static void starts_that_were_learned_late_follow_the_journal(void **unused)
{
    (void)unused;
    struct house h;
    house_open(&h);
    uint32_t id = world_submit(&h.w, "eve", "chem", 1);
    struct event pass = {.kind = EVENT_TIME, .time = {"boot"}};
    assert_int_equal(world_apply(&h.w, pass, NULL), 0);
    int64_t started_us = h.w.now_us;
    h.w.now_us += 500 * SECOND;
    world_set(&h.w, "halflife_s", "100");
    commit(&h);
    h.w.now_us += 500 * SECOND;
    world_ended(&h.w, world_task(&h.w, id, 0)->launch_id, JOB_COMPLETED, started_us);
    commit(&h);
    store_sql(h.directory, "DELETE FROM journal WHERE kind = 'LATE'");
    assert_string_equal(verify(&h), "chem/eve");
    store_sql(h.directory, "INSERT INTO journal(at_us, kind, association_id, before, after)"
                           " SELECT 1, 'LATE', association_id, job_id, task_id FROM task WHERE job_id = 5");
    assert_string_equal(verify(&h), "");
    house_close(&h);
}

/* A record that comes after a change of the half-life which came after the end: charged up to the change. */
static void ends_that_were_learned_late_are_charged_to_the_change(void **unused)
{
    (void)unused;
    struct house h;
    house_open(&h);
    uint32_t id = run_job(&h, "eve", "chem", 1);
    int64_t ended_us = h.w.now_us + 100 * SECOND;
    h.w.now_us += 500 * SECOND;
    world_set(&h.w, "halflife_s", "100");
    struct event event = {
        .kind = EVENT_ENDED,
        .record = {.launch_id = world_task(&h.w, id, 0)->launch_id, .at_us = ended_us, .end = JOB_COMPLETED}};
    assert_int_equal(world_apply(&h.w, event, NULL), 0);
    commit(&h);
    assert_string_equal(verify(&h), "");
    house_close(&h);
}

static void there_has_to_be_a_store(void **unused)
{
    (void)unused;
    struct arena arena = {0};
    struct verify_report report = {.task_count = 7};
    struct err e = {0};
    assert_int_equal(store_verify("/nowhere", &arena, &report, &e), -1);
    assert_int_equal(e.code, ERR_IO);
    assert_non_null(strstr(e.text, "No such file or directory"));
    assert_int_equal(report.task_count, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_follows_from_the_records_is_right),
        cmocka_unit_test(wrong_rows_are_found),
        cmocka_unit_test(a_journal_that_cannot_be_followed_is_an_error),
        cmocka_unit_test(starts_that_were_learned_late_follow_the_journal),
        cmocka_unit_test(ends_that_were_learned_late_are_charged_to_the_change),
        cmocka_unit_test(there_has_to_be_a_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
