/* INCR_ONLY: minimum priorities in memory, and in the store from the pass in which they begin to bind. */
#include "engine/min_priority.h"
#include "engine/priorities.h"
#include "store/schema.h"
#include "store_house.h"

static const struct capacity whole_host = {.cpus = 2, .gpus = 1, .mem_mib = 1000};

/* Opens a house in which a job's priority is 1000 x its partition's factor / the largest + 1000 x the QOS' priority /
 * 8: 1500 in main, 2000 in fast. Returns a job that has all CPUs. */
static uint32_t open_house(struct house *h)
{
    house_build(h, whole_host);
    world_user(&h->w, "physics", 1, "ann");
    world_set(&h->w, "PriorityFlags", "INCR_ONLY");
    world_set(&h->w, "PriorityWeightFairshare", "0");
    world_set(&h->w, "PriorityWeightPartition", "1000");
    world_set(&h->w, "PriorityWeightQOS", "1000");
    world_object(&h->w, OBJECT_PARTITION, "fast", "PriorityJobFactor=2");
    world_object(&h->w, OBJECT_QOS, "normal", "priority=8");
    uint32_t blocker = world_submit(&h->w, "ann", NULL, 2);
    house_commit(h);
    assert_int_equal(world_pass(&h->w), 1);
    house_commit(h);
    return blocker;
}

/* Submits a job that waits in these partitions; NULL: in the default one. */
static uint32_t submit(struct house *h, const char *partitions)
{
    uint32_t id;
    struct event job = world_submission("ann", NULL, 1);
    if (partitions != NULL) job.submit = job_with(job.submit, "partitions=%s", partitions);
    assert_int_equal(world_apply(&h->w, job, &id), 0);
    house_commit(h);
    return id;
}

/* Sets the QOS term of the priority, initially 1000. */
static void set_qos_term(struct house *h, uint32_t term)
{
    char value[32];
    snprintf(value, sizeof value, "%u", term);
    world_set(&h->w, "PriorityWeightQOS", value);
    house_commit(h);
}

/* Runs a pass. Returns the number of jobs whose minimum priorities it stored. */
static uint32_t pass(struct house *h)
{
    uint32_t written = 0;
    h->w.s.pass_is_due = true;
    assert_int_equal(world_pass(&h->w), 0);
    for (uint32_t i = 0; i < h->w.out.changes.count; i++)
        written += h->w.out.changes.items[i].table == TABLE_MIN_PRIORITY;
    house_commit(h);
    return written;
}

static void reload(struct house *h)
{
    uint64_t before = state_hash(&h->w.s);
    state_release(&h->w.s);
    store_must_load(h->store, &h->w.s);
    house_set_host(h, whole_host);
    assert_true(state_hash(&h->w.s) == before);
}

static uint32_t priority_in(struct house *h, uint32_t id, const char *partition)
{
    struct arena arena = {0};
    struct priorities all;
    uint32_t found = 0, wanted = state_find_object(&h->w.s, OBJECT_PARTITION, partition);
    state_priorities(&h->w.s, h->w.now_us, id, &arena, &all);
    for (uint32_t i = 0; i < all.count; i++) {
        if (all.rows[i].partition == wanted) found = (uint32_t)all.rows[i].priority;
    }
    arena_release(&arena);
    return found;
}

static void apply_to(struct house *h, enum event_kind kind, uint32_t id)
{
    const struct job_ref ref = {id, NONE};
    assert_int_equal(world_apply(&h->w, (struct event){.kind = kind, .jobs = {&ref, 1, false}}, NULL), 0);
    house_commit(h);
}

static void update(struct house *h, uint32_t id, const char *values)
{
    assert_int_equal(world_apply(&h->w, world_update(id, job_text("%s", values)), NULL), 0);
    house_commit(h);
}

#define STORED_MINIMUMS "SELECT group_concat(partition || '=' || priority, ' ') FROM min_priority WHERE job_id = 2"

static void a_minimum_that_binds_is_stored_once(void **unused)
{
    (void)unused;
    struct house h;
    open_house(&h);
    uint32_t id = submit(&h, NULL);
    assert_int_equal(id, 2);
    assert_int_equal(pass(&h), 0);
    assert_sql(h.directory, STORED_MINIMUMS, "");
    set_qos_term(&h, 500);
    assert_int_equal(pass(&h), 1);
    assert_sql(h.directory, STORED_MINIMUMS, "main=1500");
    set_qos_term(&h, 400);
    assert_int_equal(pass(&h), 0);
    reload(&h);
    assert_int_equal(priority_in(&h, id, "main"), 1500);
    set_qos_term(&h, 1200);
    assert_int_equal(pass(&h), 0); /* it does not bind, so nothing is stored */
    assert_int_equal(priority_in(&h, id, "main"), 1700);
    assert_sql(h.directory, STORED_MINIMUMS, "main=1500");
    set_qos_term(&h, 100);
    assert_int_equal(pass(&h), 1);
    reload(&h);
    assert_int_equal(priority_in(&h, id, "main"), 1700);
    assert_sql(h.directory, STORED_MINIMUMS, "main=1700");
    house_close(&h);
}

static void the_worked_example(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t computed, priority;
        const char *stored;
    } passes[] = {{900, 900, ""},
                  {1000, 1000, ""},
                  {950, 1000, "main=1000"},
                  {970, 1000, "main=1000"},
                  {1010, 1010, "main=1000"}};
    struct house h;
    open_house(&h);
    world_set(&h.w, "PriorityWeightPartition", "0");
    uint32_t id = submit(&h, NULL);
    for (size_t i = 0; i < COUNT(passes); i++) {
        set_qos_term(&h, passes[i].computed);
        pass(&h);
        assert_int_equal(priority_in(&h, id, "main"), passes[i].priority);
        assert_sql(h.directory, STORED_MINIMUMS, passes[i].stored);
    }
    house_close(&h);
}

static void each_partition_has_its_own_minimum(void **unused)
{
    (void)unused;
    struct house h;
    open_house(&h);
    world_object(&h.w, OBJECT_PARTITION, "slow", "PriorityJobFactor=0");
    uint32_t id = submit(&h, "fast,main");
    pass(&h);
    set_qos_term(&h, 500);
    assert_int_equal(pass(&h), 1);
    reload(&h);
    assert_int_equal(priority_in(&h, id, "fast"), 2000);
    assert_int_equal(priority_in(&h, id, "main"), 1500);
    update(&h, id, "partitions=slow,main"); /* by hand: a new priority in each, lower ones too */
    assert_sql(h.directory, STORED_MINIMUMS, "");
    assert_int_equal(priority_in(&h, id, "slow"), 500);
    assert_int_equal(priority_in(&h, id, "main"), 1000);
    reload(&h);
    pass(&h);
    set_qos_term(&h, 0);
    assert_int_equal(pass(&h), 1);
    assert_sql(h.directory, STORED_MINIMUMS, "main=1000 slow=500");
    update(&h, id, "partitions=main,slow"); /* the first one of the largest tier is the current one */
    assert_sql(h.directory, STORED_MINIMUMS, "");
    update(&h, id, "partitions=fast");
    assert_int_equal(priority_in(&h, id, "fast"), 1000);
    reload(&h);
    house_close(&h);
}

/* A house with a minimum priority of 1500 that binds at 1000. */
static uint32_t open_bound(struct house *h)
{
    open_house(h);
    uint32_t id = submit(h, NULL);
    pass(h);
    set_qos_term(h, 500);
    assert_int_equal(pass(h), 1);
    assert_sql(h->directory, STORED_MINIMUMS, "main=1500");
    return id;
}

static void assert_forgotten(struct house *h, uint32_t id)
{
    assert_sql(h->directory, "SELECT count(*) FROM min_priority", "0");
    assert_null(h->w.s.jobs.items[state_find_job(&h->w.s, id)].min_priorities);
    reload(h);
}

static void a_hold_and_a_set_priority_forget_minimums(void **unused)
{
    (void)unused;
    struct house h;
    uint32_t id = open_bound(&h);
    apply_to(&h, EVENT_HOLD, id);
    assert_forgotten(&h, id);
    apply_to(&h, EVENT_RELEASE, id);
    assert_int_equal(priority_in(&h, id, "main"), 1000);
    pass(&h);
    set_qos_term(&h, 0);
    pass(&h);
    assert_sql(h.directory, STORED_MINIMUMS, "main=1000");
    update(&h, id, "set_priority=7");
    assert_forgotten(&h, id);
    pass(&h);
    assert_int_equal(priority_in(&h, id, "main"), 7);
    update(&h, id, "set_priority=auto");
    assert_int_equal(priority_in(&h, id, "main"), 500);
    house_close(&h);
}

/* A change by hand sets the priority computed with it, lower ones too. */
static void a_change_of_the_sum_forgets_minimums(void **unused)
{
    (void)unused;
    static const struct {
        const char *values;
        uint32_t priority;
    } rows[] = {
        {"nice=300", 700}, {"nice=-300", 1300},       {"site=50", 1050},    {"set_priority=7", 7},
        {"qos=low", 500},  {"partitions=fast", 1500}, {"cpus=2", 1000},     {"mem_mib=2", 1000},
        {"gpus=1", 1000},  {"time_limit_s=60", 1000}, {"begin_us=1", 1000}, {"requests=matlab=1", 1000},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct house h;
        uint32_t id = open_bound(&h);
        world_object(&h.w, OBJECT_QOS, "low", "priority=0");
        world_object(&h.w, OBJECT_RESOURCE, "matlab", "amount=4");
        house_commit(&h);
        update(&h, id, rows[i].values);
        assert_forgotten(&h, id);
        assert_int_equal(priority_in(&h, id, rows[i].values[0] == 'p' ? "fast" : "main"), rows[i].priority);
        pass(&h);
        assert_int_equal(priority_in(&h, id, rows[i].values[0] == 'p' ? "fast" : "main"), rows[i].priority);
        house_close(&h);
    }
}

/* The change comes after a restart, so it clears minimums that were loaded; the lower priority is the new minimum. */
static void a_change_after_a_restart_forgets_stored_minimums(void **unused)
{
    (void)unused;
    struct house h;
    uint32_t id = open_bound(&h);
    reload(&h);
    assert_int_equal(priority_in(&h, id, "main"), 1500);
    update(&h, id, "nice=300");
    assert_forgotten(&h, id);
    assert_int_equal(priority_in(&h, id, "main"), 700);
    pass(&h);
    set_qos_term(&h, 0);
    assert_int_equal(pass(&h), 1);
    assert_sql(h.directory, STORED_MINIMUMS, "main=700");
    reload(&h);
    assert_int_equal(priority_in(&h, id, "main"), 700);
    house_close(&h);
}

static void other_changes_keep_minimums(void **unused)
{
    (void)unused;
    static const char *const changes[] = {"name=other", "comment=later", "project=p1", "posix_priority=-5", "nice=0"};
    struct house h;
    uint32_t id = open_bound(&h);
    world_object(&h.w, OBJECT_PROJECT, "p1", "fshare=1");
    house_commit(&h);
    for (size_t i = 0; i < COUNT(changes); i++) {
        update(&h, id, changes[i]);
        assert_int_equal(priority_in(&h, id, "main"), 1500);
        reload(&h);
        assert_int_equal(priority_in(&h, id, "main"), 1500);
        assert_sql(h.directory, STORED_MINIMUMS, "main=1500");
    }
    house_close(&h);
}

/* Of an array the minimum is that of all its waiting tasks, and so is the change. */
static void a_change_of_an_array_forgets_its_minimum(void **unused)
{
    (void)unused;
    struct house h;
    uint32_t id;
    open_house(&h);
    struct event array = world_submission("ann", NULL, 1);
    array.submit = job_with(array.submit, "array=1-3|partitions=fast,main");
    assert_int_equal(world_apply(&h.w, array, &id), 0);
    pass(&h);
    set_qos_term(&h, 500);
    assert_int_equal(pass(&h), 1);
    assert_sql(h.directory, STORED_MINIMUMS, "fast=2000 main=1500");
    update(&h, id, "name=x");
    assert_sql(h.directory, STORED_MINIMUMS, "fast=2000 main=1500");
    update(&h, id, "nice=100");
    assert_forgotten(&h, id);
    assert_int_equal(priority_in(&h, id, "fast"), 1400);
    assert_int_equal(priority_in(&h, id, "main"), 900);
    house_close(&h);
}

static void changes_of_flag_and_model_forget_minimums(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *away, *back;
    } rows[] = {
        {"PriorityFlags", "NO_FAIR_TREE", "NO_FAIR_TREE,INCR_ONLY"},
        {"PriorityType", "priority/tickets", "priority/multifactor"},
        {"PriorityType", "priority/basic", "priority/multifactor"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct house h;
        uint32_t id = open_bound(&h);
        world_set(&h.w, "PriorityFlags", "INCR_ONLY,ACCRUE_ALWAYS"); /* another flag does not matter */
        house_commit(&h);
        assert_sql(h.directory, STORED_MINIMUMS, "main=1500");
        world_set(&h.w, rows[i].name, rows[i].away);
        house_commit(&h);
        assert_forgotten(&h, id);
        world_set(&h.w, rows[i].name, rows[i].back);
        house_commit(&h);
        pass(&h);
        assert_int_equal(priority_in(&h, id, "main"), 1000);
        house_close(&h);
    }
}

/* In one turn: new minimums are not removed together with the old ones. */
static void the_flag_is_removed_and_set_in_one_turn(void **unused)
{
    (void)unused;
    struct house h;
    uint32_t id = open_bound(&h);
    world_set(&h.w, "PriorityFlags", "");
    world_set(&h.w, "PriorityFlags", "INCR_ONLY");
    const struct event time = {.kind = EVENT_TIME, .time = {"boot-1"}};
    assert_int_equal(world_apply(&h.w, time, NULL), 0);
    world_set(&h.w, "PriorityWeightQOS", "0");
    assert_int_equal(world_apply(&h.w, time, NULL), 0);
    house_commit(&h);
    assert_sql(h.directory, STORED_MINIMUMS, "main=1000");
    reload(&h);
    assert_int_equal(priority_in(&h, id, "main"), 1000);
    house_close(&h);
}

static void the_end_of_a_job_forgets_minimums(void **unused)
{
    (void)unused;
    struct house h;
    uint32_t id = open_bound(&h), task;
    apply_to(&h, EVENT_CANCEL, id);
    assert_sql(h.directory, "SELECT count(*) FROM min_priority", "0");
    reload(&h);

    id = submit(&h, NULL);
    pass(&h);
    set_qos_term(&h, 0);
    assert_int_equal(pass(&h), 1);
    apply_to(&h, EVENT_CANCEL, 1);
    struct event ended = {
        .kind = EVENT_ENDED,
        .record = {.launch_id = 1, .at_us = h.w.now_us, .started_us = h.w.now_us, .end = JOB_CANCELLED}};
    assert_int_equal(world_apply(&h.w, ended, NULL), 0);
    house_commit(&h);
    assert_int_equal(world_pass(&h.w), 1);
    house_commit(&h);
    assert_sql(h.directory, "SELECT job_id || partition FROM min_priority", "3main");
    reload(&h);
    task = state_find_task(&h.w.s, id, 0);
    assert_int_not_equal(task, NONE);
    ended.record.launch_id = h.w.s.tasks.items[task].launch_id;
    assert_int_equal(world_apply(&h.w, ended, NULL), 0);
    house_commit(&h);
    assert_sql(h.directory, "SELECT count(*) FROM min_priority", "0");
    reload(&h);
    house_close(&h);
}

static void many_minimums_are_stored_by_several_passes(void **unused)
{
    (void)unused;
    enum { JOBS = 2 * MIN_PRIORITIES_WRITTEN_MAX + 5 };
    struct house h;
    open_house(&h);
    for (int i = 0; i < JOBS; i++) world_submit(&h.w, "ann", NULL, 1);
    house_commit(&h);
    assert_int_equal(pass(&h), 0);
    set_qos_term(&h, 500);
    assert_int_equal(pass(&h), MIN_PRIORITIES_WRITTEN_MAX);
    assert_int_equal(priority_in(&h, JOBS, "main"), 1500);
    for (uint32_t rest = JOBS - MIN_PRIORITIES_WRITTEN_MAX; rest > 0;) {
        uint32_t max = rest < MIN_PRIORITIES_WRITTEN_MAX ? rest : MIN_PRIORITIES_WRITTEN_MAX;
        assert_int_equal(state_next_due_us(&h.w.s), h.w.now_us + MIN_PRIORITY_PAUSE_US);
        h.w.now_us += MIN_PRIORITY_PAUSE_US;
        assert_int_equal(pass(&h), max);
        rest -= max;
    }
    assert_int_equal(state_next_due_us(&h.w.s), 0);
    assert_sql(h.directory, "SELECT count(*) FROM min_priority WHERE priority = 1500", "4005");
    reload(&h);
    assert_int_equal(priority_in(&h, JOBS + 1, "main"), 1500);
    house_close(&h);
}

static void rows_without_a_waiting_job_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *change, *error;
    } rows[] = {
        {"UPDATE min_priority SET job_id = 99", "min_priority of job 99: the job is not pending in partition 'main'"},
        {"UPDATE min_priority SET partition = 'fast'", "job 2: the job is not pending in partition 'fast'"},
        {"UPDATE min_priority SET partition = 'none'", "min_priority of job 2: "},
        {"UPDATE min_priority SET job_id = -1", "a number is out of range"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct house h;
        struct state s;
        struct err e = {0};
        open_bound(&h);
        store_sql(h.directory, rows[i].change);
        state_init(&s, NOW_US);
        assert_int_equal(store_load(h.store, &s, &e), -1);
        if (strstr(ERR_SENTENCE(&e), rows[i].error) == NULL)
            fail_msg("'%s' is not in '%s'", rows[i].error, ERR_SENTENCE(&e));
        state_release(&s);
        house_close(&h);
    }
}

static bool has_column(sqlite3 *db, const char *table, const char *column)
{
    sqlite3_stmt *find;
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2", -1, &find, NULL),
                     SQLITE_OK);
    sqlite3_bind_text(find, 1, table, -1, SQLITE_STATIC);
    sqlite3_bind_text(find, 2, column, -1, SQLITE_STATIC);
    bool has = sqlite3_step(find) == SQLITE_ROW;
    sqlite3_finalize(find);
    return has;
}

/* Appends the statements that drop the columns that version 1 did not have. */
static void add_drops(sqlite3 *db, struct buf *out)
{
    sqlite3 *old;
    sqlite3_stmt *columns;
    assert_int_equal(sqlite3_open(":memory:", &old), SQLITE_OK);
    assert_int_equal(sqlite3_exec(old, schema_steps[0], NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT t.name, c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c"
                                        " WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'",
                                        -1, &columns, NULL),
                     SQLITE_OK);
    while (sqlite3_step(columns) == SQLITE_ROW) {
        const char *table = (const char *)sqlite3_column_text(columns, 0);
        const char *column = (const char *)sqlite3_column_text(columns, 1);
        if (!has_column(old, table, column)) buf_format(out, "ALTER TABLE %s DROP COLUMN %s;", table, column);
    }
    sqlite3_finalize(columns);
    sqlite3_close(old);
}

static void make_version_1(const char *directory)
{
    struct buf drops = {0};
    store_sql(
        directory,
        "DROP TABLE suspension; DROP TABLE audit; DROP TABLE pruned_usage; DROP TABLE usage_conversion; DROP TABLE known_user; DROP TABLE moved_in; DROP INDEX job_origin;"
        "DROP TABLE content_piece; DROP TABLE loose_content; ALTER TABLE content DROP COLUMN piece_count; DROP INDEX job_script_arguments; ALTER TABLE job_script DROP COLUMN arguments_id;"
        "ALTER TABLE job DROP COLUMN origin; DROP INDEX job_requeue; ALTER TABLE job DROP COLUMN requeue_next; ALTER TABLE job DROP COLUMN input_bytes; DROP INDEX job_ended; DROP INDEX job_script_script;"
        "DROP INDEX job_script_environment; DROP TABLE clock_event; DROP TABLE dependency; DROP TABLE min_priority; DROP TABLE host; DROP TABLE host_group; DROP TABLE pe; DROP TABLE calendar; DROP TABLE quota; ALTER TABLE usage_journal RENAME TO journal;"
        "ALTER TABLE job RENAME COLUMN slots_max TO slots_most;"
        "DROP INDEX association_name; CREATE UNIQUE INDEX association_name ON association(account, ifnull(user, ''))"
        "  WHERE deleted_us IS NULL;"
        "DROP VIEW queue; DROP VIEW history; CREATE TABLE old AS SELECT * FROM task; DROP TABLE task;"
        "ALTER TABLE old RENAME TO task; CREATE VIEW queue AS SELECT 1; CREATE VIEW history AS SELECT 1");
    sqlite3 *db = store_open_beside(directory);
    add_drops(db, &drops);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    store_sql(directory, drops.text);
    store_sql(directory, "PRAGMA user_version = 1");
    buf_release(&drops);
}

/* A database of version 1 does not have the table. */
static void an_older_database_gets_the_table(void **unused)
{
    (void)unused;
    struct house h;
    open_bound(&h);
    store_close(h.store);
    make_version_1(h.directory);
    h.store = store_must_open(h.directory, NOW_US);
    state_release(&h.w.s);
    store_must_load(h.store, &h.w.s);
    house_set_host(&h, whole_host);
    assert_int_equal(priority_in(&h, 2, "main"), 1000);
    pass(&h);
    set_qos_term(&h, 0);
    assert_int_equal(pass(&h), 1);
    assert_sql(h.directory, STORED_MINIMUMS, "main=1000");
    house_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_minimum_that_binds_is_stored_once),
        cmocka_unit_test(the_worked_example),
        cmocka_unit_test(each_partition_has_its_own_minimum),
        cmocka_unit_test(a_hold_and_a_set_priority_forget_minimums),
        cmocka_unit_test(a_change_of_the_sum_forgets_minimums),
        cmocka_unit_test(a_change_after_a_restart_forgets_stored_minimums),
        cmocka_unit_test(other_changes_keep_minimums),
        cmocka_unit_test(a_change_of_an_array_forgets_its_minimum),
        cmocka_unit_test(changes_of_flag_and_model_forget_minimums),
        cmocka_unit_test(the_flag_is_removed_and_set_in_one_turn),
        cmocka_unit_test(the_end_of_a_job_forgets_minimums),
        cmocka_unit_test(many_minimums_are_stored_by_several_passes),
        cmocka_unit_test(rows_without_a_waiting_job_are_refused),
        cmocka_unit_test(an_older_database_gets_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
