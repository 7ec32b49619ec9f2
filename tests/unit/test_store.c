/* The store: opening, refusals, the single writer, commits, loading, scripts. */
#include "store_house.h"

#include <fcntl.h>

#include "base/hash.h"
#include "store/schema.h"

static void house_open(struct house *h)
{
    house_build(h, (struct capacity){4, 1, 4096});
}

static mode_t mode_of(const char *directory, const char *name)
{
    char path[STORE_PATH_SIZE + 40];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static off_t size_of(const char *directory, const char *name)
{
    char path[STORE_PATH_SIZE + 40];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return stat(path, &st) == 0 ? st.st_size : -1;
}

static uint64_t hash_of_file(const char *directory, const char *name)
{
    char path[STORE_PATH_SIZE + 40];
    static char bytes[1 << 20];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = open(path, O_RDONLY);
    ssize_t length = read(fd, bytes, sizeof bytes);
    close(fd);
    assert_true(length >= 0);
    return hash_bytes(bytes, (size_t)length, 0);
}

static void assert_refused(const char *directory, enum err_code code, const char *text)
{
    struct err e = {0};
    assert_null(store_open(directory, NOW_US, &e));
    if (e.code != code || strstr(ERR_SENTENCE(&e), text) == NULL)
        fail_msg("'%s' is not code %d with '%s'", ERR_SENTENCE(&e), code, text);
}

/* --- opening ------------------------------------------------------------------------------------------------------ */

static void a_new_store_has_its_first_rows(void **unused)
{
    (void)unused;
    struct house h;
    struct state fresh;
    house_open(&h);
    state_init(&fresh, NOW_US);
    assert_true(state_hash(&h.w.s) == state_hash(&fresh));
    assert_int_equal(store_last_commit_us(h.store), NOW_US);
    assert_sql(h.directory, "SELECT count(*) || max(account) FROM association", "1root");
    assert_sql(h.directory, "SELECT value FROM setting WHERE name = 'ties'", "merge");
    char settings[16];
    text_format(settings, sizeof settings, "%d", SETTING_COUNT);
    assert_sql(h.directory, "SELECT count(*) FROM setting", settings);
    assert_sql(h.directory,
               "SELECT group_concat(kind || ' ' || before || ' ' || after || ifnull(' ' || detail, ''), '; ')"
               " FROM usage_journal",
               "HALFLIFE 0 604800; OWNER_RULE 0 0 SHARETREE_RESERVED_USAGE=no halftime=168 halftime_rule=program"
               " halflife_decay_list=none");
    assert_sql(h.directory, "PRAGMA application_id", "1181508961");
    assert_sql(h.directory, "PRAGMA journal_mode", "wal");
    state_release(&fresh);
    house_close(&h);
}

static void files_are_private_whatever_the_umask(void **unused)
{
    (void)unused;
    char directory[STORE_PATH_SIZE];
    static const char *const names[] = {"fairlead.db", "fairlead.db-wal", "fairlead.db-shm", "fairlead.db-lock"};
    static const mode_t masks[] = {0, 0777, 022};
    for (size_t m = 0; m < COUNT(masks); m++) {
        store_make_directory(directory);
        mode_t before = umask(masks[m]);
        struct store *s = store_must_open(directory, NOW_US);
        umask(before);
        for (size_t i = 0; i < COUNT(names); i++) assert_int_equal(mode_of(directory, names[i]), 0600);
        store_close(s);
        store_remove_directory(directory);
    }
}

static void loose_modes_are_corrected(void **unused)
{
    (void)unused;
    struct house h;
    char path[STORE_PATH_SIZE + 40];
    house_open(&h);
    store_close(h.store);
    snprintf(path, sizeof path, "%s/fairlead.db", h.directory);
    chmod(path, 0664);
    h.store = store_must_open(h.directory, NOW_US);
    assert_int_equal(mode_of(h.directory, "fairlead.db"), 0600);
    house_close(&h);
}

static void unusable_directories_are_refused(void **unused)
{
    (void)unused;
    char directory[STORE_PATH_SIZE], path[STORE_PATH_SIZE + 40];
    store_make_directory(directory);
    snprintf(path, sizeof path, "%s/nowhere", directory);
    assert_refused(path, ERR_NOT_FOUND, "nowhere: No such file or directory");
    store_write_file(directory, "file", "x", 1, 0);
    snprintf(path, sizeof path, "%s/file", directory);
    assert_refused(path, ERR_INPUT, "is not a directory");
    snprintf(path, sizeof path, "%s/fairlead.db", directory);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_refused(directory, ERR_IO, "fairlead.db");
    rmdir(path);
    store_remove_directory(directory);
}

static void there_is_one_writer(void **unused)
{
    (void)unused;
    struct house h;
    char process[40];
    house_open(&h);
    snprintf(process, sizeof process, "(process %d)", (int)getpid());
    assert_refused(h.directory, ERR_CONFLICT, "is in use by another fairleadd");
    assert_refused(h.directory, ERR_CONFLICT, process);
    store_close(h.store);
    h.store = store_must_open(h.directory, NOW_US);
    house_close(&h);
}

/* --- invalid files ------------------------------------------------------------------------------------------------ */

static void files_of_other_programs_are_refused_and_unchanged(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *statements, *text;
        enum err_code code;
    } rows[] = {
        {"of another program", "CREATE TABLE t(a)", "is an SQLite database of another program", ERR_IO},
        {"of another program that has an id", "CREATE TABLE t(a); PRAGMA application_id = 7; PRAGMA user_version = 1",
         "is an SQLite database of another program", ERR_IO},
        {"newer", "CREATE TABLE t(a); PRAGMA application_id = 1181508961; PRAGMA user_version = 99",
         "schema version 99, but this Fairlead reads versions up to", ERR_CONFLICT},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char directory[STORE_PATH_SIZE];
        print_message("# %s\n", rows[i].name);
        store_make_directory(directory);
        store_sql(directory, rows[i].statements);
        uint64_t before = hash_of_file(directory, "fairlead.db");
        assert_refused(directory, rows[i].code, rows[i].text);
        assert_true(hash_of_file(directory, "fairlead.db") == before);
        assert_int_equal(size_of(directory, "fairlead.db-wal"), -1);
        store_remove_directory(directory);
    }
}

static void a_file_that_is_not_a_database_is_refused(void **unused)
{
    (void)unused;
    char directory[STORE_PATH_SIZE];
    store_make_directory(directory);
    char text[1000];
    memset(text, 'x', sizeof text);
    store_write_file(directory, "fairlead.db", text, sizeof text, 0);
    uint64_t before = hash_of_file(directory, "fairlead.db");
    assert_refused(directory, ERR_IO, "the file is damaged (file is not a database)");
    assert_refused(directory, ERR_IO, ".recover | sqlite3 rescued.db");
    assert_true(hash_of_file(directory, "fairlead.db") == before);
    store_remove_directory(directory);
}

static void an_empty_file_is_a_new_store(void **unused)
{
    (void)unused;
    char directory[STORE_PATH_SIZE];
    store_make_directory(directory);
    store_write_file(directory, "fairlead.db", "", 0, 0);
    store_close(store_must_open(directory, NOW_US));
    store_remove_directory(directory);
}

static void damage_in_loaded_tables_is_found(void **unused)
{
    (void)unused;
    static const char *const tables[] = {"association", "job_live", "counters", "setting"};
    for (size_t i = 0; i < COUNT(tables); i++) {
        struct house h;
        struct err e = {0};
        print_message("# %s\n", tables[i]);
        house_open(&h);
        store_close(h.store);
        store_damage_table(h.directory, tables[i]);
        h.store = store_open(h.directory, NOW_US, &e);
        state_release(&h.w.s);
        state_init(&h.w.s, NOW_US);
        if (h.store != NULL) assert_int_equal(store_load(h.store, &h.w.s, &e), -1);
        assert_int_equal(e.code, ERR_IO);
        assert_non_null(strstr(ERR_SENTENCE(&e), "the file is damaged"));
        assert_non_null(strstr(ERR_SENTENCE(&e), h.directory));
        house_close(&h);
    }
}

/* Damage in a table that the load does not read is found if the last daemon was killed, which leaves a log. */
static void after_a_crash_the_whole_file_is_checked(void **unused)
{
    (void)unused;
    struct house h;
    house_open(&h);
    world_submit(&h.w, "ann", NULL, 1);
    house_commit(&h);
    store_close(h.store);
    store_damage_table(h.directory, "job_script");
    store_close(store_must_open(h.directory, NOW_US));

    pid_t child = fork();
    if (child == 0) {
        struct err e;
        struct store *s = store_open(h.directory, NOW_US, &e);
        struct outcome touch = {0};
        *array_add(&touch.changes) = (struct change){TABLE_COUNTERS, 0};
        _exit(s != NULL && store_commit(s, &h.w.s, &touch, NOW_US + 1, &e) == 0 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_refused(h.directory, ERR_IO, "the file is damaged");
    h.store = NULL;
    house_close(&h);
}

/* --- migrations --------------------------------------------------------------------------------------------------- */

static const char *const steps[] = {
    "CREATE TABLE a(id INTEGER PRIMARY KEY, b INTEGER); CREATE TABLE c(a_id INTEGER REFERENCES a(id));"
    " INSERT INTO a VALUES(1, 10); INSERT INTO c VALUES(1)",
    "CREATE TABLE a_new(id INTEGER PRIMARY KEY, b_us INTEGER); INSERT INTO a_new SELECT id, b * 1000000 FROM a; DROP TABLE a;"
    " ALTER TABLE a_new RENAME TO a",
    "DELETE FROM a",
    "CREATE TABLE d(x); nonsense",
};

static int64_t number_in(sqlite3 *db, const char *query)
{
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(db, query, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static void steps_are_applied_from_the_version_of_the_file(void **unused)
{
    (void)unused;
    struct err e = {0};
    uint32_t version;
    for (uint32_t from = 0; from <= 2; from++) {
        sqlite3 *db;
        assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
        assert_int_equal(schema_upgrade(db, steps, 0, from, &e), 0);
        assert_int_equal(schema_upgrade(db, steps, from, 2, &e), 0);
        assert_int_equal(schema_identify(db, 2, &version, &e), 0);
        assert_int_equal(version, 2);
        assert_int_equal(number_in(db, "SELECT b_us FROM a"), 10000000);
        assert_int_equal(schema_identify(db, 1, &version, &e), -1);
        assert_int_equal(e.code, ERR_CONFLICT);
        sqlite3_close(db);
    }
}

static void a_step_that_fails_or_breaks_references_is_refused(void **unused)
{
    (void)unused;
    struct err e = {0};
    sqlite3 *db;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(schema_upgrade(db, steps, 0, 2, &e), 0);
    assert_int_equal(sqlite3_exec(db, "BEGIN", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(schema_upgrade(db, steps, 2, 3, &e), -1);
    assert_non_null(strstr(ERR_SENTENCE(&e), "schema version 3: 1 rows refer to rows that do not exist"));
    assert_int_equal(sqlite3_exec(db, "ROLLBACK; BEGIN", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(schema_upgrade(db, steps + 1, 2, 3, &e), -1);
    assert_non_null(strstr(ERR_SENTENCE(&e), "schema version 3: "));
    assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(number_in(db, "PRAGMA user_version"), 2);
    assert_int_equal(number_in(db, "SELECT count(*) FROM a"), 1);
    sqlite3_close(db);
}

/* A database of version 1, with every kind of row that the step changes. */
static const char older_rows[] =
    "INSERT INTO association(id, parent_id, account, user, shares, is_default, usage_billing_s, usage_tres, created_us)"
    " VALUES(1, NULL, 'root', NULL, 1, 0, 0, NULL, 1), (2, 1, 'physics', NULL, 1, 0, 7.5, 'cpu=7.5', 1),"
    " (3, 2, 'physics', 'ann', 1, 1, 1234.5, 'cpu=1234.5', 1);"
    "INSERT INTO partition VALUES(1, 'main', 1, 1, 1, NULL, '', 0, 0);"
    "INSERT INTO qos VALUES(1, 'normal', 1, 1242.0, 0, 1.0, 0.0, '');"
    "INSERT INTO owner_usage VALUES('ann', '', 1234.5, 2, 0, 3, 1700000000000000);"
    "INSERT INTO setting VALUES('halftime', '24'), ('PriorityType', 'priority/tickets');"
    "INSERT INTO counters VALUES(1, 4, 1, 1, 604800000000, 1699999000000000, 1700000000000000);"
    "INSERT INTO journal VALUES(1, 1, 'HALFLIFE', NULL, 0, 604800), (2, 5, 'FOLD', 3, 0, 2);"
    "PRAGMA application_id = 1181508961; PRAGMA user_version = 1";

static void a_database_of_version_1_opens_and_keeps_its_usage(void **unused)
{
    (void)unused;
    struct house h = {0};
    store_make_directory(h.directory);
    store_sql(h.directory, schema_steps[0]);
    store_sql(h.directory, older_rows);
    h.w.now_us = NOW_US + SECOND;
    h.store = store_must_open(h.directory, h.w.now_us);
    store_must_load(h.store, &h.w.s);
    uint32_t ann = state_find_assoc(&h.w.s, "physics", "ann");
    assert_true(h.w.s.assocs.items[ann].usage == 1234.5 && h.w.s.assocs.items[ann].usage_tres[TRES_CPU] == 1234.5);
    assert_true(h.w.s.objects[OBJECT_QOS].items[0].usage == 1242.0);
    assert_true(h.w.s.owners.items[0].usage.used[USAGE_CPU] == 1234.5);
    assert_int_equal(h.w.s.assocs.items[ann].reset_us + h.w.s.usage_reset_us + h.w.s.owners.items[0].reset_us, 0);
    sqlite3 *db = store_open_beside(h.directory);
    assert_int_equal(number_in(db, "PRAGMA user_version"), schema_version);
    sqlite3_close(db);
    assert_sql(h.directory,
               "SELECT group_concat(seq || kind || before || '-' || after || ifnull(detail, '')) FROM usage_journal",
               "1HALFLIFE0-604800,2FOLD0-2,3OWNER_RULE0-0halftime=24 halftime_rule=program halflife_decay_list=none");
    assert_sql(h.directory, "SELECT at_us FROM usage_journal WHERE seq = 3", "1700000000000000");
    world_set(&h.w, "PriorityUsageResetPeriod", "NOW");
    house_commit(&h);
    assert_sql(h.directory, "SELECT group_concat(number || ' ' || is_reset) FROM usage_conversion", "1 1");
    assert_int_equal(world_apply(&h.w, (struct event){.kind = EVENT_USAGE_ROWS, .row_count = 10}, NULL), 0);
    house_commit(&h);
    assert_sql(h.directory, "SELECT sum(usage_billing_s) FROM association", "0.0");
    assert_sql(h.directory, "SELECT count(*) FROM usage_conversion", "0");
    assert_sql(h.directory, "SELECT usage_reset_us FROM counters", "1700000001000000");
    house_close(&h);
}

/* --- commits ------------------------------------------------------------------------------------------------------ */

/* Its page and that of the counters: an index of which no column changes is not written. */
static void an_unchanged_row_costs_one_page(void **unused)
{
    (void)unused;
    enum { FRAME_SIZE = 4096 + 24 };
    struct house h;
    house_open(&h);
    uint32_t job_id = world_submit(&h.w, "ann", NULL, 1);
    house_commit(&h);
    const struct change changes[] = {
        {TABLE_ASSOC, 0}, {TABLE_JOB, state_find_job(&h.w.s, job_id)}, {TABLE_OBJECT, object_change(OBJECT_QOS, 0)}};
    for (int i = 0; i < 100; i++) { /* until the log, which was reset, grows again */
        *array_add(&h.w.out.changes) = (struct change){TABLE_COUNTERS, 0};
        house_commit(&h);
    }
    for (size_t i = 0; i < COUNT(changes); i++) {
        off_t before = size_of(h.directory, "fairlead.db-wal");
        *array_add(&h.w.out.changes) = changes[i];
        house_commit(&h);
        assert_in_range(size_of(h.directory, "fairlead.db-wal") - before, FRAME_SIZE, 2 * FRAME_SIZE);
    }
    house_close(&h);
}

static void an_empty_turn_writes_nothing(void **unused)
{
    (void)unused;
    struct house h;
    house_open(&h);
    off_t before = size_of(h.directory, "fairlead.db-wal");
    h.w.now_us += SECOND;
    house_commit(&h);
    assert_int_equal(size_of(h.directory, "fairlead.db-wal"), before);
    assert_int_equal(store_last_commit_us(h.store), NOW_US);
    *array_add(&h.w.out.changes) = (struct change){TABLE_COUNTERS, 0};
    house_commit(&h);
    assert_int_equal(store_last_commit_us(h.store), NOW_US + SECOND);
    house_close(&h);
}

static void a_row_changed_twice_is_written_once(void **unused)
{
    (void)unused;
    struct house h;
    house_open(&h);
    world_submit(&h.w, "ann", NULL, 1);
    for (int i = 0; i < 1000; i++) *array_add(&h.w.out.changes) = (struct change){TABLE_JOB, 0};
    house_commit(&h);
    assert_sql(h.directory, "SELECT count(*) FROM job", "1");
    house_close(&h);
}

/* A condition with many tasks is a long text, which a request over many of them writes once. */
static void a_condition_changed_twice_is_written_once(void **unused)
{
    (void)unused;
    struct house h;
    const struct job_ref refs[] = {{1, 1}, {1, 5}, {1, 9}};
    house_open(&h);
    store_close(h.store);
    store_sql(h.directory,
              "CREATE TABLE written(condition TEXT); CREATE TRIGGER count_writes AFTER UPDATE ON dependency"
              " BEGIN INSERT INTO written VALUES(new.condition); END");
    h.store = store_must_open(h.directory, NOW_US);
    for (int i = 0; i < 2; i++) {
        const struct job_values *job = job_text("name=x|directory=/|command=true|array=0-9%s",
                                                i == 0 ? "|held=true" : "|dependency=aftercorrany:1");
        assert_int_equal(world_apply(&h.w, (struct event){.kind = EVENT_SUBMIT, .submit = job}, NULL), 0);
    }
    house_commit(&h);
    assert_int_equal(world_apply(&h.w, (struct event){.kind = EVENT_CANCEL, .jobs = {refs, .count = 3}}, NULL), 0);
    house_commit(&h);
    assert_sql(h.directory, "SELECT group_concat(condition, ' ') FROM written", "aftercorrany:1_[0,2-4,6-8]");
    house_close(&h);
}

static void an_account_may_go_below_a_newer_one(void **unused)
{
    (void)unused;
    struct house h;
    struct state rebuilt;
    house_open(&h);
    world_user(&h.w, "old", 1, "ann");
    world_user(&h.w, "new", 1, "bea");
    struct event move = {.kind = EVENT_ACCOUNT_MODIFY, .account = {"old", "new", SHARES_UNSET, PRIORITY_UNSET}};
    assert_int_equal(world_apply(&h.w, move, NULL), 0);
    house_commit(&h);
    store_must_load(h.store, &rebuilt);
    assert_true(state_hash(&rebuilt) == state_hash(&h.w.s));
    state_release(&rebuilt);
    house_close(&h);
}

static void a_change_by_another_program_refuses_turns_until_the_next_load(void **unused)
{
    (void)unused;
    struct house h;
    struct err e = {0};
    house_open(&h);
    store_sql(h.directory, "UPDATE setting SET value = '2' WHERE name = 'default_cpus'");
    world_submit(&h.w, "ann", NULL, 1);
    assert_int_equal(store_commit(h.store, &h.w.s, &h.w.out, NOW_US + 1, &e), -1);
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    assert_sql(h.directory, "SELECT count(*) FROM job", "0");
    outcome_clear(&h.w.out);
    state_release(&h.w.s);
    store_must_load(h.store, &h.w.s);
    assert_int_equal(setting_number(&h.w.s.settings, SET_DEFAULT_CPUS), 2);
    world_set(&h.w, "default_cpus", "3");
    house_commit(&h);
    assert_sql(h.directory, "SELECT value FROM setting WHERE name = 'default_cpus'", "3");
    house_close(&h);
}

/* A write to a file that the next start does not find would be lost, so it is refused. */
static void a_moved_database_refuses_turns(void **unused)
{
    (void)unused;
    struct house h;
    struct err e = {0};
    char from[STORE_PATH_SIZE + 32], to[STORE_PATH_SIZE + 32];
    house_open(&h);
    snprintf(from, sizeof from, "%s/fairlead.db", h.directory);
    snprintf(to, sizeof to, "%s/moved.db", h.directory);
    world_set(&h.w, "default_cpus", "2");
    assert_int_equal(rename(from, to), 0);
    assert_int_equal(store_commit(h.store, &h.w.s, &h.w.out, h.w.now_us, &e), -1);
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    assert_non_null(strstr(ERR_SENTENCE(&e), "moved or removed"));
    assert_int_equal(rename(to, from), 0);
    house_commit(&h);
    house_close(&h);
}

/* Other programs may read the database while the daemon runs. */
static void concurrent_readers_do_not_refuse_turns(void **unused)
{
    (void)unused;
    struct house h;
    house_open(&h);
    for (int i = 0; i < 300; i++) {
        assert_sql(h.directory, "SELECT count(*) > 0 FROM association", "1");
        world_set(&h.w, "default_cpus", i % 2 ? "1" : "2");
        house_commit(&h);
    }
    house_close(&h);
}

static void a_locked_database_is_unavailable(void **unused)
{
    (void)unused;
    struct house h;
    struct err e = {0};
    house_open(&h);
    sqlite3 *other = store_open_beside(h.directory);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    world_submit(&h.w, "ann", NULL, 1);
    assert_int_equal(store_commit(h.store, &h.w.s, &h.w.out, NOW_US + 1, &e), -1);
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    assert_non_null(strstr(ERR_SENTENCE(&e), "another program is writing to it"));
    sqlite3_close(other);
    house_commit(&h); /* the same turn, without the lock */
    assert_sql(h.directory, "SELECT count(*) FROM job", "1");
    house_close(&h);
}

/* --- loading ------------------------------------------------------------------------------------------------------ */

static void invalid_rows_are_named(void **unused)
{
    (void)unused;
    static const struct {
        const char *statement, *text;
    } rows[] = {
        {"UPDATE setting SET value = 'x' WHERE name = 'grace_s'", "grace_s: 'x'"},
        {"UPDATE job SET pending_tasks = '1-'", "job 1: pending_tasks: '1-' is not a number"},
        {"UPDATE job SET uid = -1", "job 1: uid: '-1' is not a whole number"},
        {"UPDATE task SET launch_id = 0", "task of job 2: launch_id: '0' is not a whole number"},
        {"UPDATE task SET cpus = 'all'", "task of job 2: cpu_ids: 'all' is not a number"},
        {"UPDATE counters SET next_job_id = 1", "job 1 is not below the next id"},
        {"UPDATE association SET parent_id = 3 WHERE id = 2", "association 2"},
        {"UPDATE counters SET next_association_id = 9; INSERT INTO association(id, parent_id, account, shares, is_default,"
         " usage_billing_s, created_us) VALUES(7, 1, 'a', 1, 0, 0, 1), (8, 7, 'b', 1, 0, 0, 1);"
         "UPDATE association SET parent_id = 8 WHERE id = 7",
         "association 7 is its own ancestor"},
        {"UPDATE counters SET next_association_id = 100; INSERT INTO association(id, parent_id, account, user, shares,"
         " is_default, usage_billing_s, created_us) VALUES(50, 1, 'root', 'ann', 1, 1, 0, 1)",
         "association 50 is a second default of user ann"},
        {"DELETE FROM counters", "counters"},
        {"UPDATE job SET pending_tasks = '7-9', array_tasks = '0-3' WHERE id = 1", "job 1: a task is pending or"},
        {"UPDATE job SET cancelled_tasks = '0' WHERE id = 1", "job 1: a task is pending or cancelled that is both"},
        {"UPDATE job SET pending_tasks = '' WHERE id = 1", "job 1 has not ended, but no task of it is pending or live"},
        {"UPDATE job SET pending_tasks = '0' WHERE id = 2", "task 2_0 is pending or cancelled, too"},
        {"UPDATE task SET task_id = 5", "task 2_5 is pending or cancelled, too, or not of its array"},
        {"UPDATE task SET cpus = '0-4000000'", "task 2_0 has a CPU or GPU that no host has"},
        {"UPDATE task SET gpus = '1024'", "task 2_0 has a CPU or GPU that no host has"},
        {"CREATE TEMP TABLE copy AS SELECT * FROM task; UPDATE copy SET job_id = 1, launch_id = 9; INSERT INTO task SELECT *"
         " FROM copy; UPDATE job SET pending_tasks = '' WHERE id = 1; UPDATE counters SET next_launch_id = 10",
         "task 1_0 has a CPU or GPU that no host has, or that another task has"},
        {"UPDATE counters SET reference_us = -9223372036854775807 - 1, halflife_us = 1",
         "counters 1: a number is out of range"},
        {"UPDATE counters SET last_commit_us = 9223372036854775807", "counters 1: a number is out of range"},
        {"UPDATE counters SET usage_reset_us = -1", "counters 1: a number is out of range"},
        {"UPDATE association SET usage_billing_s = 1e308 WHERE id = 2", "association 2: a number is out of range"},
        {"UPDATE association SET usage_tres = 'cpu=1e308' WHERE id = 2",
         "association 2: usage_tres: cpu: '1e308' is not"},
        {"UPDATE association SET reset_us = -1 WHERE id = 2", "association 2: a number is out of range"},
        {"UPDATE qos SET usage_billing_s = 1e308", "qos 1: a number is out of range"},
        {"UPDATE qos SET reset_us = 9223372036854775807", "qos 1: a number is out of range"},
        {"INSERT INTO owner_usage VALUES('ann', '', 1e308, 0, 0, 0, 1, NULL, 0)", "owner_usage of user 'ann'"},
        {"INSERT INTO owner_usage VALUES('ann', '', 0, 0, 0, 0, -1, NULL, 0)", "owner_usage of user 'ann'"},
        {"UPDATE task SET billing = 1e308", "task of job 2: billing: '1.0e+308' is not a number"},
        {"UPDATE task SET usage_factor = 1e308", "task of job 2: usage_factor: '1.0e+308' is not a number"},
        {"UPDATE task SET tres = 'cpu=1e308'", "task of job 2: cpu: '1e308' is not a number"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct house h;
        struct err e = {0};
        print_message("# %s\n", rows[i].statement);
        house_open(&h);
        world_submit(&h.w, "ann", NULL, 4);
        h.w.s.jobs.items[0].is_held = true;
        world_submit(&h.w, "ann", NULL, 1);
        assert_int_equal(world_apply(&h.w, (struct event){.kind = EVENT_TIME, .time = {"boot"}}, NULL), 0);
        house_commit(&h);
        store_close(h.store);
        store_sql(h.directory, rows[i].statement);
        h.store = store_open(h.directory, NOW_US, &e);
        state_release(&h.w.s);
        state_init(&h.w.s, NOW_US);
        if (h.store != NULL) assert_int_equal(store_load(h.store, &h.w.s, &e), -1);
        if (strstr(ERR_SENTENCE(&e), rows[i].text) == NULL)
            fail_msg("'%s' is not in '%s'", rows[i].text, ERR_SENTENCE(&e));
        house_close(&h);
    }
}

static void a_setting_of_another_version_is_skipped(void **unused)
{
    (void)unused;
    struct house h;
    struct state rebuilt;
    house_open(&h);
    store_sql(h.directory, "INSERT INTO setting VALUES('of_the_future', '1')");
    store_must_load(h.store, &rebuilt);
    assert_true(state_hash(&rebuilt) == state_hash(&h.w.s));
    state_release(&rebuilt);
    house_close(&h);
}

/* --- scripts ------------------------------------------------------------------------------------------------------ */

static void scripts_are_stored_unchanged(void **unused)
{
    (void)unused;
    struct house h;
    struct arena arena = {0};
    struct err e = {0};
    struct job_script got;
    static const char binary[] = "#!/bin/sh\n\0\xff\x80 tail";
    struct str arguments[] = {str("first"), str(""), str("with space\nand line")},
               environment[] = {str("A=1"), str("B=\xc3\xbc")};
    struct job_script with = {{binary, sizeof binary}, "run me.sh", arguments, 3, environment, 2, false};
    struct job_script without = {{NULL, 0}, "", arguments, 1, NULL, 0, false};
    house_open(&h);
    uint32_t a = world_submit(&h.w, "ann", NULL, 1), b = world_submit(&h.w, "ann", NULL, 1),
             c = world_submit(&h.w, "ann", NULL, 1);
    store_add_script(h.store, a, &with);
    store_add_script(h.store, b, &with);
    store_add_script(h.store, c, &without);
    house_commit(&h);
    assert_int_equal(store_script(h.store, b, &arena, &got, &e), 0);
    assert_int_equal(got.script.length, sizeof binary);
    assert_memory_equal(got.script.text, binary, sizeof binary);
    assert_string_equal(got.script_name, "run me.sh");
    assert_int_equal(got.argument_count, 3);
    for (int i = 0; i < 3; i++) assert_true(str_equal(got.arguments[i], arguments[i]));
    assert_int_equal(got.environment_count, 2);
    assert_true(str_equal(got.environment[1], environment[1]));
    assert_int_equal(store_script(h.store, c, &arena, &got, &e), 0);
    assert_int_equal(got.script.length + got.environment_count, 0);
    assert_int_equal(got.argument_count, 1);
    assert_sql(h.directory, "SELECT count(*) FROM content", "3"); /* the script, its environment, nothing */
    assert_int_equal(store_script(h.store, 99, &arena, &got, &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
    assert_int_equal(store_command(h.store, b, sizeof binary, &arena, &got, &e), 0);
    assert_true(!got.is_long && got.script.length == sizeof binary && got.argument_count == 0);
    assert_int_equal(store_command(h.store, b, sizeof binary - 1, &arena, &got, &e), 0);
    assert_true(got.is_long && got.script.length == 0 && got.argument_count == 0);
    assert_int_equal(store_command(h.store, c, 6, &arena, &got, &e), 0); /* "first" and its zero byte */
    assert_true(!got.is_long && got.script.length == 0 && str_equal(got.arguments[0], str("first")));
    assert_int_equal(store_command(h.store, c, 5, &arena, &got, &e), 0);
    assert_true(got.is_long && got.argument_count == 0);
    assert_int_equal(store_command(h.store, 99, 5, &arena, &got, &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
    arena_release(&arena);
    house_close(&h);
}

static void abandoned_scripts_are_dropped(void **unused)
{
    (void)unused;
    struct house h;
    struct str argument = str("true");
    struct job_script script = {{NULL, 0}, "", &argument, 1, NULL, 0, false};
    house_open(&h);
    store_add_script(h.store, 77, &script);
    store_abandon(h.store);
    world_submit(&h.w, "ann", NULL, 1);
    house_commit(&h);
    assert_sql(h.directory, "SELECT count(*) FROM job_script", "0");
    house_close(&h);
}

/* A script of a job that is not in the turn would be an orphan: the commit as a whole is refused. */
static void a_script_without_its_job_fails_the_turn(void **unused)
{
    (void)unused;
    struct house h;
    struct err e = {0};
    struct str argument = str("true");
    struct job_script script = {{NULL, 0}, "", &argument, 1, NULL, 0, false};
    house_open(&h);
    world_submit(&h.w, "ann", NULL, 1);
    store_add_script(h.store, 77, &script);
    assert_int_equal(store_commit(h.store, &h.w.s, &h.w.out, NOW_US, &e), -1);
    assert_non_null(strstr(ERR_SENTENCE(&e), "FOREIGN KEY"));
    store_abandon(h.store);
    assert_sql(h.directory, "SELECT count(*) FROM job", "0");
    house_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_store_has_its_first_rows),
        cmocka_unit_test(files_are_private_whatever_the_umask),
        cmocka_unit_test(loose_modes_are_corrected),
        cmocka_unit_test(unusable_directories_are_refused),
        cmocka_unit_test(there_is_one_writer),
        cmocka_unit_test(files_of_other_programs_are_refused_and_unchanged),
        cmocka_unit_test(a_file_that_is_not_a_database_is_refused),
        cmocka_unit_test(an_empty_file_is_a_new_store),
        cmocka_unit_test(damage_in_loaded_tables_is_found),
        cmocka_unit_test(after_a_crash_the_whole_file_is_checked),
        cmocka_unit_test(steps_are_applied_from_the_version_of_the_file),
        cmocka_unit_test(a_step_that_fails_or_breaks_references_is_refused),
        cmocka_unit_test(a_database_of_version_1_opens_and_keeps_its_usage),
        cmocka_unit_test(an_unchanged_row_costs_one_page),
        cmocka_unit_test(an_empty_turn_writes_nothing),
        cmocka_unit_test(a_row_changed_twice_is_written_once),
        cmocka_unit_test(a_condition_changed_twice_is_written_once),
        cmocka_unit_test(an_account_may_go_below_a_newer_one),
        cmocka_unit_test(a_change_by_another_program_refuses_turns_until_the_next_load),
        cmocka_unit_test(a_moved_database_refuses_turns),
        cmocka_unit_test(concurrent_readers_do_not_refuse_turns),
        cmocka_unit_test(a_locked_database_is_unavailable),
        cmocka_unit_test(invalid_rows_are_named),
        cmocka_unit_test(a_setting_of_another_version_is_skipped),
        cmocka_unit_test(scripts_are_stored_unchanged),
        cmocka_unit_test(abandoned_scripts_are_dropped),
        cmocka_unit_test(a_script_without_its_job_fails_the_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
