/* Verification: usages that follow from the records have no differences in all histories; wrong ones are found. */
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

/* Three users; ended jobs under two half-lives, a job that runs across them, a deleted user with usage. */
static void house_open(struct house *h)
{
    memset(h, 0, sizeof *h);
    store_make_directory(h->directory);
    h->store = store_must_open(h->directory, NOW_US);
    world_init(&h->w, 8, 4096, 0);
    state_release(&h->w.s);
    store_must_load(h->store, &h->w.s);
    assert_int_equal(world_apply(&h->w, (struct event){.kind = EVENT_HOST, .host.has = {8, 0, 4096}}, NULL), 0);
    world_set(&h->w, "SHARETREE_RESERVED_USAGE", "true");
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

/* The differences as "account/user account/user.cpu qos=normal qos=normal.wall user@project.cpu": billing, a TRES, a
 * QOS, its time, an owner; or
 * the error's sentence. */
static const char *verify(struct house *h)
{
    static char text[1000], sentence[ERR_SENTENCE_SIZE];
    size_t length = 0;
    array_release(&h->report.differences);
    if (store_verify(h->directory, &h->arena, &h->report, &h->e) != 0) return err_sentence(&h->e, sentence);
    text[0] = '\0';
    for (uint32_t i = 0; i < h->report.differences.count; i++) {
        const struct verify_difference *d = &h->report.differences.items[i];
        length += (size_t)snprintf(text + length, sizeof text - length, "%s", i > 0 ? " " : "");
        if (d->qos != NULL)
            length += (size_t)snprintf(text + length, sizeof text - length, "qos=%s%s%s", d->qos, d->tres ? "." : "",
                                       d->tres ? d->tres : "");
        else if (d->account == NULL)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s@%s.%s", d->user ? d->user : "",
                                       d->project ? d->project : "", d->tres);
        else
            length += (size_t)snprintf(text + length, sizeof text - length, "%s/%s%s%s", d->account,
                                       d->user ? d->user : "", d->tres ? "." : "", d->tres ? d->tres : "");
    }
    return text;
}

static void usage_that_follows_from_the_records_is_right(void **unused)
{
    (void)unused;
    struct house h;
    house_open(&h);
    assert_string_equal(verify(&h), ""); /* while the daemon runs */
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
    assert_string_equal(verify(&h), ""); /* without a daemon and without a log */
    h.store = NULL;
    house_close(&h);
}

#define EVE_TRES "chem/eve.cpu chem/eve.mem chem/eve.node chem/eve.wall"
#define ANN_TRES "physics/ann.cpu physics/ann.mem physics/ann.node physics/ann.wall"
#define NORMAL_TRES "qos=normal.cpu qos=normal.mem qos=normal.node qos=normal.wall"
#define NORMAL "qos=normal " NORMAL_TRES
#define FAST "qos=fast qos=fast.cpu qos=fast.mem qos=fast.node qos=fast.wall"
#define EVE_OWNS "eve@.cpu eve@.mem"
#define ANN_OWNS "ann@.cpu ann@.mem"
#define BOB_OWNS "bob@.cpu bob@.mem"
#define ABOVE_BOB_TRES "physics/.cpu physics/.mem physics/.node physics/.wall"

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
        {"UPDATE association SET usage_tres = NULL WHERE user = 'bob'", ""},
        {"UPDATE association SET usage_tres = NULL WHERE user = 'eve'", "chem/eve.cpu chem/eve.mem chem/eve.node"},
        {"UPDATE association SET usage_tres = 'cpu=1' WHERE user = 'bob'", "physics/bob.cpu"},
        {"UPDATE association SET usage_tres = 'cpu=1e-7,gres/x=1e-7' WHERE user = 'bob'", ""},
        {"UPDATE qos SET usage_billing_s = usage_billing_s * (1 + 1e-8)", "qos=normal"},
        {"UPDATE qos SET usage_billing_s = usage_billing_s * (1 + 1e-10)", ""},
        {"UPDATE qos SET flags = 'NoDecay'", NORMAL},
        {"UPDATE task SET end_us = end_us - 1000000 WHERE job_id = 2", "chem/eve " EVE_TRES " " NORMAL " " EVE_OWNS},
        {"UPDATE task SET end_us = end_us + 1000000 WHERE job_id = 2", "chem/eve " EVE_TRES " " NORMAL " " EVE_OWNS},
        {"UPDATE task SET start_us = start_us + 1000000 WHERE job_id = 3",
         "physics/ " ABOVE_BOB_TRES " " NORMAL " " BOB_OWNS},
        {"UPDATE task SET billing = 2 WHERE job_id = 4", "chem/eve qos=normal"},
        {"UPDATE task SET billing = -2 WHERE job_id = 4", "chem/eve qos=normal"},
        {"UPDATE task SET usage_factor = 0 WHERE job_id = 4", "chem/eve " EVE_TRES " " NORMAL},
        {"UPDATE task SET tres = 'cpu=1' WHERE job_id = 4",
         "chem/eve.mem chem/eve.node qos=normal.mem qos=normal.node"},
        {"UPDATE job SET qos = 'other' WHERE id = 4", NORMAL},
        {"UPDATE task SET partition_qos = 'normal' WHERE job_id = 4", NORMAL},
        {"UPDATE task SET limits_from_us = end_us WHERE job_id = 4", "chem/eve.wall " NORMAL_TRES},
        {"UPDATE association SET usage_wall_s = usage_wall_s * (1 + 1e-8) WHERE user = 'eve'", "chem/eve.wall"},
        {"UPDATE association SET usage_wall_s = usage_wall_s * (1 + 1e-10) WHERE user = 'eve'", ""},
        {"UPDATE association SET usage_wall_s = 1 WHERE user = 'bob'", "physics/bob.wall"},
        {"UPDATE association SET usage_wall_s = 9e999 WHERE user = 'ann'", "physics/ann.wall"},
        {"UPDATE qos SET usage_wall_s = 0", "qos=normal.wall"},
        {"UPDATE qos SET usage_tres = replace(usage_tres, 'cpu=', 'cpu=1')", "qos=normal.cpu"},
        {"UPDATE qos SET usage_tres = NULL", "qos=normal.cpu qos=normal.mem qos=normal.node"},
        {"UPDATE task SET charged_us = charged_us + 1 WHERE job_id = 1", ""}, /* a microsecond of two CPUs in 12000 s */
        {"UPDATE task SET charged_us = charged_us + 1000000 WHERE job_id = 1",
         "physics/ann " ANN_TRES " " NORMAL " " ANN_OWNS},
        {"UPDATE task SET association_id = 3 WHERE job_id = 2",
         "physics/ann " ANN_TRES " chem/eve " EVE_TRES " " ANN_OWNS " " EVE_OWNS},
        {"DELETE FROM task WHERE job_id = 3", "physics/ " ABOVE_BOB_TRES " " NORMAL " " BOB_OWNS " bob@.finished_jobs"},
        {"UPDATE task SET cpus = '0' WHERE job_id = 2", "eve@.cpu"},
        {"UPDATE task SET mem_mib = 7 WHERE job_id = 2", "eve@.mem"},
        {"UPDATE job SET project = 'moon' WHERE id = 2",
         "eve@.cpu eve@.mem eve@moon.cpu eve@moon.mem eve@moon.finished_jobs @moon.cpu @moon.mem @moon.finished_jobs"},
        {"UPDATE owner_usage SET cpu_s = cpu_s * (1 + 1e-8) WHERE user = 'eve'", "eve@.cpu"},
        {"UPDATE owner_usage SET cpu_s = cpu_s * (1 + 1e-10) WHERE user = 'eve'", ""},
        {"UPDATE owner_usage SET finished_jobs = 7 WHERE user = 'eve'", "eve@.finished_jobs"},
        {"UPDATE owner_usage SET at_us = at_us + 60000000 WHERE user = 'eve'", "eve@.cpu eve@.mem eve@.finished_jobs"},
        {"INSERT INTO owner_usage VALUES('zoe', 'moon', 1, 0, 0, 0, 1, NULL, 0)", "zoe@moon.cpu"},
        {"UPDATE usage_journal SET detail = replace(detail, '=168', '=24') WHERE kind = 'OWNER_RULE'",
         ANN_OWNS " " BOB_OWNS " " EVE_OWNS},
        {"UPDATE association SET reset_us = 1700006001000000 WHERE user = 'eve'", "chem/eve " EVE_TRES},
        {"UPDATE association SET reset_us = 1700001500000000 WHERE user = 'bob'", "physics/ " ABOVE_BOB_TRES},
        {"UPDATE qos SET reset_us = 1700000000500000", NORMAL},
        {"UPDATE owner_usage SET reset_us = 1700000000500000 WHERE user = 'eve'", EVE_OWNS},
        {"UPDATE usage_journal SET after = 10001 WHERE seq = (SELECT max(seq) FROM usage_journal WHERE kind = 'HALFLIFE')",
         "chem/eve " EVE_TRES " " NORMAL},
        {"UPDATE counters SET reference_us = reference_us + 1000000",
         "physics/ " ABOVE_BOB_TRES " physics/ann " ANN_TRES " chem/eve " EVE_TRES " " NORMAL},
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

static void an_incomplete_journal_is_an_error(void **unused)
{
    (void)unused;
    static const struct {
        const char *statement, *text;
    } rows[] = {
        {"DELETE FROM usage_journal WHERE kind = 'FOLD'", "no valid FOLD of the deleted association 4"},
        {"UPDATE usage_journal SET after = 4 WHERE kind = 'FOLD'", "no valid FOLD of the deleted association 4"},
        {"DELETE FROM usage_journal WHERE kind = 'HALFLIFE'", "the usage journal has no HALFLIFE"},
        {"DELETE FROM usage_journal WHERE kind = 'OWNER_RULE'", "the usage journal has no OWNER_RULE"},
        {"UPDATE usage_journal SET detail = 'halftime=x' WHERE kind = 'OWNER_RULE'",
         "journal 2: halftime: 'x' is not a duration in hours"},
        {"UPDATE usage_journal SET detail = 'halftime' WHERE kind = 'OWNER_RULE'",
         "journal 2: 'halftime' is not a usage rule"},
        {"UPDATE usage_journal SET detail = 'halftime=1' WHERE kind = 'OWNER_RULE'",
         "journal 2: 'halftime=1' is not a usage rule"},
        {"UPDATE task SET cpus = 'x' WHERE job_id = 2", "task of job 2: cpus"},
        {"UPDATE task SET association_id = 99 WHERE job_id = 2", "job 2 belongs to an association that does not exist"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct house h;
        house_open(&h);
        store_sql(h.directory, rows[i].statement);
        if (strstr(verify(&h), rows[i].text) == NULL) fail_msg("%s: '%s'", rows[i].statement, ERR_SENTENCE(&h.e));
        house_close(&h);
    }
}

static void damaged_rows_are_named(void **unused)
{
    (void)unused;
    static const struct {
        const char *statement, *text;
    } rows[] = {
        {"UPDATE job SET cpus = 0 WHERE id = 2", "job 2: cpus: '0' is not a whole number from 1"},
        {"UPDATE job SET time_limit_s = -1 WHERE id = 2", "job 2: time_limit_s: '-1' is not"},
        {"UPDATE job SET submit_us = 0 WHERE id = 2", "job 2: submit_us: '0' is not a time"},
        {"UPDATE task SET state = 'BOGUS' WHERE job_id = 2", "task 0 of job 2: state: 'BOGUS' is not one of PENDING"},
        {"UPDATE task SET state = 'UNKNOWN' WHERE job_id = 2",
         "task 0 of job 2: state: 'UNKNOWN' is not one of PENDING"},
        {"UPDATE task SET state = 'HELD' WHERE job_id = 2", "task 0 of job 2: state: 'HELD' is not one of PENDING"},
        {"UPDATE task SET state = 'RUNNING' WHERE job_id = 2", "task 0 of job 2: state: does not fit its end_us"},
        {"UPDATE task SET billing = 9e999 WHERE job_id = 2", "task 0 of job 2: billing: 'Inf' is not a number"},
        {"UPDATE task SET usage_factor = -1 WHERE job_id = 2", "task 0 of job 2: usage_factor: '-1.0' is not"},
        {"UPDATE task SET end_us = 9223372036854775807, start_us = -9223372036854775807 - 1 WHERE job_id = 2",
         "task 0 of job 2: start_us: '-9223372036854775808' is not a time"},
        {"UPDATE task SET end_us = 9223372036854775807 WHERE job_id = 2",
         "task 0 of job 2: end_us: '9223372036854775807' is not a time"},
        {"UPDATE task SET end_us = 253402300799000000 WHERE job_id = 2", "task 0 of job 2 was charged too long after"},
        {"UPDATE task SET tres = 'cpu=1e999' WHERE job_id = 2", "'cpu=1e999' is not a list of amounts"},
        {"UPDATE usage_journal SET after = 9223372036854775807 WHERE kind = 'HALFLIFE'",
         "usage_journal 1: a number is out of range"},
        {"UPDATE usage_journal SET at_us = -9223372036854775807 - 1 WHERE kind = 'HALFLIFE'",
         "usage_journal 1: a number is out of range"},
        {"UPDATE counters SET reference_us = -9223372036854775807 - 1", "counters 1: a number is out of range"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct house h;
        char statement[300];
        house_open(&h);
        snprintf(statement, sizeof statement, "PRAGMA ignore_check_constraints = ON; %s", rows[i].statement);
        store_sql(h.directory, statement);
        const char *found = verify(&h);
        if (strstr(found, rows[i].text) == NULL) fail_msg("%s: '%s'", rows[i].statement, found);
        house_close(&h);
    }
}

static void reset_account(struct house *h, const char *account)
{
    struct event event = {.kind = EVENT_ACCOUNT_MODIFY, .account = {account, NULL, SHARES_UNSET, PRIORITY_UNSET, true}};
    if (world_apply(&h->w, event, NULL) != 0) fail_msg("%s", ERR_SENTENCE(&h->w.e));
    commit(h);
}

static void reset_user_in(struct house *h, const char *user, const char *account)
{
    struct event event = {.kind = EVENT_USER_MODIFY,
                          .user = {user, account, SHARES_UNSET, false, PRIORITY_UNSET, true}};
    if (world_apply(&h->w, event, NULL) != 0) fail_msg("%s", ERR_SENTENCE(&h->w.e));
    commit(h);
}

/* A reset while tasks run, a second one in the same microsecond, and one after a FOLD. */
static void usage_counts_from_the_reset(void **unused)
{
    (void)unused;
    struct house h;
    house_open(&h);
    reset_account(&h, "physics");
    assert_sql(h.directory, "SELECT sum(usage_billing_s) FROM association WHERE account = 'physics'", "0.0");
    assert_string_equal(verify(&h), "");
    h.w.now_us += 1000 * SECOND;
    end_job(&h, run_job(&h, "eve", "chem", 1), 50);
    reset_user_in(&h, "eve", NULL);
    reset_user_in(&h, "eve", "chem");
    assert_string_equal(verify(&h), "");
    end_job(&h, run_job(&h, "eve", "chem", 1), 50);
    end_job(&h, 1, 1000); /* ann's task, which runs from the beginning */
    assert_string_equal(verify(&h), "");
    struct event leave = {.kind = EVENT_USER_DELETE, .user = {"eve", NULL, SHARES_UNSET, false, PRIORITY_UNSET, false}};
    assert_int_equal(world_apply(&h.w, leave, NULL), 0);
    commit(&h);
    assert_string_equal(verify(&h), "");
    reset_account(&h, "chem");
    assert_string_equal(verify(&h), "");
    world_set(&h.w, "PriorityUsageResetPeriod", "NOW");
    commit(&h);
    assert_string_equal(verify(&h), ""); /* also before the rows are written */
    assert_int_equal(world_apply(&h.w, (struct event){.kind = EVENT_USAGE_ROWS, .row_count = 100}, NULL), 0);
    commit(&h);
    assert_sql(h.directory, "SELECT sum(usage_billing_s) FROM association", "0.0");
    assert_sql(h.directory, "SELECT sum(cpu_s + mem_gib_s + finished_jobs) FROM owner_usage", "0.0");
    assert_string_equal(verify(&h), "");
    end_job(&h, run_job(&h, "ann", "physics", 2), 70);
    assert_string_equal(verify(&h), "");
    assert_sql(h.directory, "SELECT count(*) FROM usage_journal WHERE kind = 'RESET'", "6");
    store_sql(h.directory, "UPDATE counters SET usage_reset_us = NULL");
    assert_true(strstr(verify(&h), "physics/ann physics/ann.cpu") != NULL);
    assert_true(strstr(verify(&h), "qos=normal") != NULL && strstr(verify(&h), "ann@.cpu") != NULL);
    house_close(&h);
}

/* An account that moves below one that was reset at the same time keeps its usage, and its deletion adds it there. */
static void folds_before_and_after_a_reset(void **unused)
{
    (void)unused;
    for (int reset_after = 0; reset_after < 2; reset_after++) {
        struct house h;
        house_open(&h);
        reset_account(&h, "physics");
        end_job(&h, 1, 0);
        const struct event moves[] = {
            {.kind = EVENT_ACCOUNT_MODIFY, .account = {"chem", "physics", SHARES_UNSET, PRIORITY_UNSET, false}},
            {.kind = EVENT_USER_DELETE, .user = {"eve", NULL, SHARES_UNSET, false, PRIORITY_UNSET, false}},
            {.kind = EVENT_ACCOUNT_DELETE, .account = {"chem", NULL, SHARES_UNSET, PRIORITY_UNSET, false}},
        };
        for (size_t i = 0; i < COUNT(moves); i++) assert_int_equal(world_apply(&h.w, moves[i], NULL), 0);
        commit(&h);
        if (reset_after) reset_account(&h, "physics");
        assert_sql(h.directory, "SELECT usage_billing_s > 1000 FROM association WHERE id = 2", reset_after ? "0" : "1");
        assert_string_equal(verify(&h), "");
        house_close(&h);
    }
}

/* Usage from before the first OWNER_RULE is skipped until a reset. */
static void owners_of_an_older_database_are_skipped(void **unused)
{
    (void)unused;
    struct house h;
    house_open(&h);
    store_sql(h.directory, "UPDATE usage_journal SET at_us = 1700005999000000 WHERE kind = 'OWNER_RULE';"
                           "UPDATE owner_usage SET cpu_s = cpu_s + 5");
    assert_string_equal(verify(&h), "");
    assert_int_equal(h.report.owner_count, 0);
    store_sql(h.directory, "UPDATE owner_usage SET reset_us = 1700006000000000 WHERE user = 'eve'");
    assert_string_equal(verify(&h), EVE_OWNS);
    assert_int_equal(h.report.owner_count, 1);
    house_close(&h);
}

/* If a start becomes known after a change of the half-life, the whole charge is under the new one (journal: LATE). */
static void late_starts_are_charged_by_the_new_rules(void **unused)
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
    store_sql(h.directory, "DELETE FROM usage_journal WHERE kind = 'LATE'");
    assert_string_equal(verify(&h), "chem/eve " EVE_TRES " " NORMAL);
    store_sql(h.directory, "INSERT INTO usage_journal(at_us, kind, association_id, before, after)"
                           " SELECT 1, 'LATE', association_id, job_id, task_id FROM task WHERE job_id = 5");
    assert_string_equal(verify(&h), "");
    house_close(&h);
}

/* If the half-life changed between a task's end and its end record, the task is charged up to the change. */
static void late_ends_are_charged_up_to_the_change(void **unused)
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

static void set_qos(struct house *h, enum event_kind kind, const char *key, const char *value)
{
    const struct event_pair pair = {key, value};
    struct event event = {.kind = kind, .object = {OBJECT_QOS, "fast", &pair, key != NULL}};
    if (world_apply(&h->w, event, NULL) != 0) fail_msg("%s", ERR_SENTENCE(&h->w.e));
    commit(h);
}

static uint32_t start_in_qos(struct house *h, uint32_t cpus, bool is_known)
{
    struct event event = world_submission("eve", "chem", cpus), pass = {.kind = EVENT_TIME, .time = {"boot"}};
    uint32_t id = 0;
    event.submit = job_with(event.submit, "qos=fast");
    assert_int_equal(world_apply(&h->w, event, &id), 0);
    assert_int_equal(world_apply(&h->w, pass, NULL), 0);
    assert_non_null(world_task(&h->w, id, 0));
    if (is_known) world_started(&h->w, world_task(&h->w, id, 0)->launch_id);
    commit(h);
    return id;
}

/* Usage that decays, does not, and decays again, under two half-lives: of tasks that run across the changes, and of one
 * with a late start. */
static void a_qos_decays_by_its_flag(void **unused)
{
    (void)unused;
    static const struct {
        const char *statement, *found;
    } rows[] = {
        {"UPDATE usage_journal SET at_us = at_us + 1000000 WHERE kind = 'QOS_DECAY' AND after = 0", FAST},
        {"UPDATE usage_journal SET at_us = at_us - 1000000 WHERE kind = 'QOS_DECAY' AND after = 1", FAST},
        {"DELETE FROM usage_journal WHERE kind = 'QOS_DECAY'", FAST},
        {"DELETE FROM usage_journal WHERE kind = 'LATE'", FAST},
        {"UPDATE qos SET created_us = created_us + 1 WHERE name = 'fast'", FAST},
        {"UPDATE qos SET usage_billing_s = 0 WHERE name = 'normal'", "qos=normal"},
        {"SELECT 1", ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct house h;
        house_open(&h);
        set_qos(&h, EVENT_OBJECT_ADD, "usage_factor", "2.5");
        uint32_t across = start_in_qos(&h, 2, true), late = start_in_qos(&h, 1, false);
        int64_t started_us = h.w.now_us + 100 * SECOND;
        h.w.now_us += 3000 * SECOND;
        set_qos(&h, EVENT_OBJECT_MODIFY, "flags", "NoDecay");
        end_job(&h, start_in_qos(&h, 1, true), 20000);
        world_ended(&h.w, world_task(&h.w, late, 0)->launch_id, JOB_COMPLETED, started_us);
        world_set(&h.w, "halflife_s", "4000");
        h.w.now_us += 9000 * SECOND;
        set_qos(&h, EVENT_OBJECT_MODIFY, "flags", "");
        end_job(&h, across, 1000);
        end_job(&h, start_in_qos(&h, 1, true), 500);
        store_sql(h.directory, rows[i].statement);
        const char *found = verify(&h);
        if (strcmp(found, rows[i].found) != 0)
            fail_msg("%s: '%s' is not '%s'", rows[i].statement, found, rows[i].found);
        assert_int_equal(h.report.qos_count, 2);
        house_close(&h);
    }
}

/* A QOS with the name and id of a deleted one does not have its usage. */
static void a_qos_of_a_reused_name_has_no_old_usage(void **unused)
{
    (void)unused;
    struct house h;
    house_open(&h);
    set_qos(&h, EVENT_OBJECT_ADD, "flags", "NoDecay");
    end_job(&h, start_in_qos(&h, 2, true), 1000);
    set_qos(&h, EVENT_OBJECT_MODIFY, "flags", "");
    set_qos(&h, EVENT_OBJECT_DELETE, NULL, NULL);
    assert_string_equal(verify(&h), "");
    set_qos(&h, EVENT_OBJECT_ADD, "flags", "NoDecay");
    assert_sql(h.directory, "SELECT usage_billing_s FROM qos WHERE name = 'fast'", "0.0");
    assert_string_equal(verify(&h), "");
    h.w.now_us += SECOND;
    end_job(&h, start_in_qos(&h, 1, true), 1000);
    assert_sql(h.directory, "SELECT usage_billing_s FROM qos WHERE name = 'fast'", "1000.0");
    assert_string_equal(verify(&h), "");
    house_close(&h);
}

static void measure_job(struct house *h, uint32_t id, int64_t cpu_s)
{
    const struct event_measured m = {.launch_id = world_task(&h->w, id, 0)->launch_id,
                                     .at_us = h->w.now_us,
                                     .cpu_us = cpu_s * SECOND,
                                     .mem_kib = 1 << 19,
                                     .io_bytes = cpu_s << 26};
    assert_int_equal(world_apply(&h->w, (struct event){.kind = EVENT_MEASURED, .measured = m}, NULL), 0);
    commit(h);
}

/* Bob's job is measured before and after a change of the decay; eve's reserved usage counts until the same time. */
static void house_measure(struct house *h)
{
    uint32_t eve = run_job(h, "eve", "chem", 1);
    h->w.now_us += 1000 * SECOND;
    world_set(&h->w, "SHARETREE_RESERVED_USAGE", "false");
    world_user(&h->w, "chem", 1, "joe");
    uint32_t joe = run_job(h, "joe", "chem", 1);
    h->w.now_us += 5000 * SECOND;
    measure_job(h, joe, 3000);
    measure_job(h, eve, 4000);
    h->w.now_us += 5000 * SECOND;
    world_set(&h->w, "halftime", "1");
    h->w.now_us += 5000 * SECOND;
    measure_job(h, joe, 7000);
    end_job(h, eve, 10);
}

static void measured_usage_agrees_with_the_tasks(void **unused)
{
    (void)unused;
    static const struct {
        const char *statement, *found;
    } rows[] = {
        {"UPDATE task SET charged_cpu_s = charged_cpu_s * (1 + 1e-8) WHERE job_id = 6", "joe@.cpu"},
        {"UPDATE task SET charged_cpu_s = charged_cpu_s * (1 + 1e-10) WHERE job_id = 6", ""},
        {"UPDATE task SET charged_mem_gib_s = 0 WHERE job_id = 5", "eve@.mem"},
        {"UPDATE task SET charged_io_gib = NULL WHERE job_id = 6", "joe@.io"},
        {"UPDATE task SET charged_as_of_us = charged_as_of_us - 1000000000 WHERE job_id = 6",
         "joe@.cpu joe@.mem joe@.io"},
        {"UPDATE task SET charged_as_of_us = NULL WHERE job_id = 6", "joe@.cpu joe@.mem joe@.io"},
        {"UPDATE task SET measured_us = NULL, measured_from_us = 5 WHERE job_id = 6", ""},
        {"UPDATE usage_journal SET detail = replace(detail, 'USAGE=no', 'USAGE=yes')",
         "ann@.cpu ann@.mem eve@.cpu eve@.mem joe@.cpu joe@.mem"},
        {"UPDATE owner_usage SET io_gib = io_gib + 1 WHERE user = 'joe'", "joe@.io"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct house h;
        house_open(&h);
        house_measure(&h);
        assert_string_equal(verify(&h), "");
        store_sql(h.directory, rows[i].statement);
        const char *found = verify(&h);
        if (strcmp(found, rows[i].found) != 0)
            fail_msg("%s: '%s' is not '%s'", rows[i].statement, found, rows[i].found);
        house_close(&h);
    }
}

static void a_missing_store_is_refused(void **unused)
{
    (void)unused;
    struct arena arena = {0};
    struct verify_report report = {.task_count = 7};
    struct err e = {0};
    assert_int_equal(store_verify("/nowhere", &arena, &report, &e), -1);
    assert_int_equal(e.code, ERR_IO);
    assert_non_null(strstr(ERR_SENTENCE(&e), "No such file or directory"));
    assert_int_equal(report.task_count, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usage_that_follows_from_the_records_is_right),
        cmocka_unit_test(wrong_rows_are_found),
        cmocka_unit_test(an_incomplete_journal_is_an_error),
        cmocka_unit_test(damaged_rows_are_named),
        cmocka_unit_test(usage_counts_from_the_reset),
        cmocka_unit_test(folds_before_and_after_a_reset),
        cmocka_unit_test(owners_of_an_older_database_are_skipped),
        cmocka_unit_test(late_starts_are_charged_by_the_new_rules),
        cmocka_unit_test(late_ends_are_charged_up_to_the_change),
        cmocka_unit_test(a_qos_decays_by_its_flag),
        cmocka_unit_test(a_qos_of_a_reused_name_has_no_old_usage),
        cmocka_unit_test(measured_usage_agrees_with_the_tasks),
        cmocka_unit_test(a_missing_store_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
