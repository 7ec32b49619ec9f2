/* The migration of a database of schema version 3: all rows keep their values, jobs keep every field, and the daemon
 * continues with them. test_store.c tests the mechanism of steps and a database of version 1. */
#include "store_house.h"

#include "../job_rows.h"
#include "store/schema.h"

enum { OLD_VERSION = 3 };

static const struct capacity host = {4, 2, 1 << 20};

/* Rows in the form of version 3: job 4 has ended and has a script; job 5 is an array: task 0 has ended, 1 runs, 9 was
 * cancelled, and the others are pending; job 6 is held and has a value in every field; job 7 has as few as possible. */
static const char *const old_rows[] = {
    "INSERT INTO association(id, parent_id, account, user, shares, is_default, usage_billing_s, usage_tres, created_us)"
    " VALUES(1, NULL, 'root', NULL, 1, 0, 0, NULL, 1), (2, 1, 'physics', NULL, 1, 0, 0, NULL, 1),"
    " (3, 2, 'physics', 'ann', 1, 1, 200, 'cpu=200,mem=6000,node=150,gres/gpu=50', 1)",
    "INSERT INTO partition VALUES(1, 'main', 1, 1, 1, NULL, '', 0, 0), (2, 'fast', 1, 2, 2, 3600, 'CPU=2.0', 0, 0)",
    "INSERT INTO qos VALUES(1, 'normal', 1, 100.0, 0, 1.0, 0.0, '', NULL),"
    " (2, 'good', 1, 100.0, 7, 0.5, 0.0, '', NULL)",
    "INSERT INTO project VALUES(1, 'apollo', 1, 0, 0)",
    "INSERT INTO owner_usage VALUES('ann', '', 100, 0.9765625, 0, 1, 1699990100000000, NULL),"
    " ('ann', 'apollo', 200, 9.765625, 0, 1, 1699991100000000, NULL),"
    " ('', 'apollo', 200, 9.765625, 0, 1, 1699991100000000, NULL)",
    "INSERT INTO resource VALUES(1, 'license', 1, 'INT', 0.0, 100)",
    "INSERT INTO counters VALUES(1, 4, 8, 4, 0, 1699999000000000, 1700000000000000, NULL, NULL)",
    "INSERT INTO setting VALUES('PriorityFlags', 'INCR_ONLY'), ('halftime', '0')",
    "INSERT INTO journal VALUES(1, 1, 'HALFLIFE', NULL, 0, 0, NULL), (2, 1, 'OWNER_RULE', NULL, 0, 0,"
    " 'halftime=0 halftime_rule=program halflife_decay_list=none')",
    "INSERT INTO priority_floor VALUES(6, 'fast', 77), (6, 'main', 1500)",

    "INSERT INTO job(id, association_id, uid, gid, name, command, directory, out_pattern, err_pattern, cpus, gpus,"
    " mem_mib, time_limit_s, submit_us, begin_us, accrue_us, deadline_us, partitions, qos, project, nice, site,"
    " set_priority, posix_priority, job_share, override_tickets, slots_most, requests, is_held, array_tasks,"
    " array_limit, pending_tasks, cancelled_tasks, cancelled_us, ended_us) VALUES"
    "(4, 3, 1000, 1001, 'ended', 'run.sh', '/home/ann', '%j', NULL, 1, 0, 10, 60, 1699990000000000, NULL,"
    " 1699990000000000, NULL, 'main', 'normal', NULL, 0, 0, NULL, 0, 0, 0, NULL, '', 0, NULL, NULL, '', '', NULL,"
    " 1699990100000000),"
    "(5, 3, 1000, 1001, 'array \xc3\xbc', 'run', '/home/ann', '%A_%a', 'err', 2, 1, 100, 600, 1699991000000000, NULL,"
    " 1699991000000000, NULL, 'main,fast', 'good', 'apollo', 3, 0, NULL, 0, 0, 0, NULL, 'license=2', 0, '0-9', 2,"
    " '2-8', '9', 1699991500000000, NULL),"
    "(6, 3, 4294967294, 0, 'all', 'a ''b'' | c', '/', 'o', 'e', 4, 2, 1024, 3600, 1699992000000000, 1700005000000000,"
    " NULL, 1700009000000000, 'fast,main', 'good', 'apollo', -2147483645, 2147483645, 4294967294, -1023, 4294967295, 7,"
    " 8, 'license=1', 1, NULL, NULL, '0', '', NULL, NULL),"
    "(7, 3, 0, 0, 'x', 'x', '/', 'x', NULL, 1, 0, 1, 1, 1699993000000000, NULL, 1699993000000000, NULL, 'main',"
    " 'normal', NULL, 0, 0, NULL, 0, 0, 0, NULL, '', 0, NULL, NULL, '0', '', NULL, NULL)",

    "INSERT INTO task(job_id, task_id, association_id, state, is_cancelled, launch_id, boot_id, launch_us, start_us,"
    " charged_us, end_us, partition, billing, usage_factor, tres, cpus, gpus, mem_mib, exit_status, signal, cpu_us,"
    " max_rss_kib, detail) VALUES"
    "(4, 0, 3, 'FAILED', 0, 1, 'boot', 1699990000000000, 1699990000000000, 1699990100000000, 1699990100000000, 'main',"
    " 1, 1, 'cpu=1,mem=10,node=1', '0', '', 10, 3, 0, 5, 6, 'why'),"
    "(5, 0, 3, 'COMPLETED', 0, 2, 'boot', 1699991000000000, 1699991000000000, 1699991100000000, 1699991100000000,"
    " 'main', 2, 0.5, 'cpu=2,mem=100,node=1,gres/gpu=1', '0-1', '0', 100, 0, 0, 7, 8, ''),"
    "(5, 1, 3, 'RUNNING', 1, 3, 'boot', 1699991000000000, 1699991000000001, 1699991000000001, NULL, 'fast', 4, 0.5,"
    " 'cpu=2,mem=100,node=1,gres/gpu=1', '2-3', '1', 100, 0, 0, 0, 0, '')",

    "INSERT INTO content VALUES(1, 1, x'6563686f'), (2, 2, x'')",
    "INSERT INTO job_script VALUES(4, 'run.sh', 1, x'6100', 2)",
};

static void make_old_database(const char *directory)
{
    struct err e = {0};
    sqlite3 *db = store_open_beside(directory);
    if (schema_upgrade(db, schema_steps, 0, OLD_VERSION, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    for (size_t i = 0; i < COUNT(old_rows); i++) store_sql(directory, old_rows[i]);
}

/* All rows of a table: "column=value|column=value\n". */
static void dump_table(sqlite3 *db, const char *table, struct buf *out)
{
    char query[100];
    sqlite3_stmt *all;
    snprintf(query, sizeof query, "SELECT * FROM %s ORDER BY 1, 2", table);
    if (sqlite3_prepare_v2(db, query, -1, &all, NULL) != SQLITE_OK) fail_msg("%s: %s", query, sqlite3_errmsg(db));
    while (sqlite3_step(all) == SQLITE_ROW) {
        for (int c = 0; c < sqlite3_column_count(all); c++) {
            const char *text = (const char *)sqlite3_column_text(all, c);
            const char *quote = sqlite3_column_type(all, c) == SQLITE_NULL ? "" : "'";
            buf_format(out, "%s=%s%s%s|", sqlite3_column_name(all, c), quote, text ? text : "NULL", quote);
        }
        buf_add_char(out, '\n');
    }
    sqlite3_finalize(all);
}

static const char *const tables[] = {"association", "partition", "qos",        "project",    "resource",
                                     "counters",    "content",   "job_script", "owner_usage"};

static void dump_tables(const char *directory, struct buf *out)
{
    sqlite3 *db = store_open_beside(directory);
    for (size_t i = 0; i < COUNT(tables); i++) {
        buf_format(out, "%s\n", tables[i]);
        dump_table(db, tables[i], out);
    }
    sqlite3_close(db);
}

static void dump_one(const char *directory, const char *table, struct buf *out)
{
    sqlite3 *db = store_open_beside(directory);
    dump_table(db, table, out);
    sqlite3_close(db);
}

/* Opens the store, which migrates the database, and sets the machine's capacity. */
static void open_house(struct house *h)
{
    h->w.now_us = NOW_US + SECOND;
    h->store = store_must_open(h->directory, h->w.now_us);
    store_must_load(h->store, &h->w.s);
}

static void assert_same_text(const struct buf *is, const struct buf *expected)
{
    assert_true(expected->length > 0 && is->length > 0);
    assert_string_equal(is->text, expected->text);
}

/* Every row of the old text begins a row of the new one: columns are only added behind the others. */
static void assert_rows_begin(const struct buf *new, const struct buf *old)
{
    struct str new_rest = {new->text, new->length}, old_rest = {old->text, old->length};
    while (old_rest.length > 0) {
        struct str row = str_cut(new_rest, '\n', &new_rest), begin = str_cut(old_rest, '\n', &old_rest);
        if (!str_starts(row, begin))
            fail_msg("%.*s is not %.*s", (int)row.length, row.text, (int)begin.length, begin.text);
    }
    assert_int_equal(new_rest.length, 0);
}

static void other_tables_stay_unchanged(void **unused)
{
    (void)unused;
    struct house h = {0};
    struct buf before = {0}, after = {0};
    char version[16];
    store_make_directory(h.directory);
    make_old_database(h.directory);
    dump_tables(h.directory, &before);
    open_house(&h);
    dump_tables(h.directory, &after);
    assert_rows_begin(&after, &before);
    snprintf(version, sizeof version, "%u", schema_version);
    assert_sql(h.directory, "PRAGMA user_version", version);
    buf_release(&before);
    buf_release(&after);
    house_close(&h);
}

/* The old rows with the new names of their columns. */
static void rename_columns(const char *rows, struct buf *out)
{
    static const char from[] = "slots_most=", to[] = "slots_max=";
    for (const char *found; (found = strstr(rows, from)) != NULL; rows = found + strlen(from))
        buf_format(out, "%.*s%s", (int)(found - rows), rows, to);
    buf_add_text(out, rows);
}

/* A row has the old columns first, then the new ones, of which a task's host is known, and that it was not requeued. */
static void assert_row_begins(struct str row, struct str expected)
{
    assert_true(row.length > expected.length);
    assert_memory_equal(row.text, expected.text, expected.length);
    struct str rest = {row.text + expected.length, row.length - expected.length - 1}; /* without the last | */
    while (rest.text != NULL) {
        struct str value, name = str_cut(str_cut(rest, '|', &rest), '=', &value);
        bool is_host = str_equal(name, str("hosts")) && str_equal(value, str("'localhost'"));
        bool is_first = str_equal(name, str("restarts")) && str_equal(value, str("'0'"));
        if (str_equal(name, str("limits_from_us")) || str_equal(name, str("input_bytes")) || is_first)
            continue; /* checked below */
        if (!is_host && !str_equal(value, str("NULL"))) fail_msg("%.*s has a value", (int)name.length, name.text);
    }
}

/* The rows of a table keep the values of the old columns, in their order; the new columns have none. */
static void assert_rows_kept(const char *table, uint32_t count)
{
    struct house h = {0};
    struct buf before = {0}, after = {0}, expected = {0};
    uint32_t rows = 0;
    store_make_directory(h.directory);
    make_old_database(h.directory);
    dump_one(h.directory, table, &before);
    open_house(&h);
    dump_one(h.directory, table, &after);
    rename_columns(before.text, &expected);
    struct str is = str(after.text), was = str(expected.text);
    for (; was.length > 0; rows++) assert_row_begins(str_cut(is, '\n', &is), str_cut(was, '\n', &was));
    assert_int_equal(rows, count);
    assert_int_equal(is.length, 0);
    buf_release(&before);
    buf_release(&after);
    buf_release(&expected);
    house_close(&h);
}

static void jobs_keep_all_values(void **unused)
{
    (void)unused;
    assert_rows_kept("job", 4);
}

static void tasks_keep_all_values(void **unused)
{
    (void)unused;
    assert_rows_kept("task", 3);
}

/* The running tasks of an older database were not measured. */
static void reserved_usage_goes_on_counting(void **unused)
{
    (void)unused;
    struct house h = {0};
    store_make_directory(h.directory);
    make_old_database(h.directory);
    open_house(&h);
    assert_sql(h.directory, "SELECT group_concat(name || '=' || value, ' ') FROM (SELECT * FROM setting ORDER BY name)",
               "PriorityFlags=INCR_ONLY SHARETREE_RESERVED_USAGE=true halftime=0");
    assert_true(h.w.s.policy.tickets.charges_reserved);
    house_close(&h);
}

static void renamed_tables_keep_their_rows(void **unused)
{
    (void)unused;
    static const char *const renamed[][2] = {{"journal", "usage_journal"}, {"priority_floor", "min_priority"}};
    for (size_t i = 0; i < COUNT(renamed); i++) {
        struct house h = {0};
        struct buf before = {0}, after = {0};
        store_make_directory(h.directory);
        make_old_database(h.directory);
        dump_one(h.directory, renamed[i][0], &before);
        open_house(&h);
        dump_one(h.directory, renamed[i][1], &after);
        assert_same_text(&after, &before);
        buf_release(&before);
        buf_release(&after);
        house_close(&h);
    }
}

/* The fields of the job that has a value in every field; the other jobs are compared with their columns below. */
static void assert_full_job(const struct state *s)
{
    const struct job *j = &s->jobs.items[state_find_job(s, 6)];
    assert_int_equal(j->slots_max, 8);
    assert_true(j->is_held && j->accrue_us == 0 && j->set_priority == 4294967294 && j->nice == -2147483645);
    assert_int_equal(j->begin_us, INT64_C(1700005000000000));
    assert_int_equal(j->deadline_us, INT64_C(1700009000000000));
    assert_null(job_rare(j)->comment);
    assert_null(job_rare(j)->admin_comment);
    assert_true(j->min_priorities != NULL && j->min_priorities[0].stored == 77 && j->min_priorities[1].stored == 1500);
}

static void assert_verified(struct house *h)
{
    struct arena arena = {0};
    struct verify_report report;
    struct err e = {0};
    if (store_verify(h->directory, &arena, &report, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    assert_int_equal(report.differences.count, 0);
    array_release(&report.differences);
    arena_release(&arena);
}

static void jobs_are_loaded_and_listed(void **unused)
{
    (void)unused;
    struct house h = {0};
    struct err e = {0};
    struct arena arena = {0};
    struct verify_report report;
    store_make_directory(h.directory);
    make_old_database(h.directory);
    open_house(&h);
    assert_int_equal(h.w.s.jobs.count, 3);
    assert_int_equal(h.w.s.tasks.count, 1);
    assert_full_job(&h.w.s);
    job_rows_assert_stored(&h.w.s, h.directory, NULL);
    job_rows_assert_listed(&h.w.s, h.store);
    if (store_verify(h.directory, &arena, &report, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    assert_int_equal(report.differences.count, 0);
    assert_int_equal(report.task_count, 3);
    assert_int_equal(report.owner_count, 3);
    assert_sql(h.directory, "SELECT group_concat(limits_from_us, ' ') FROM (SELECT * FROM task ORDER BY launch_id)",
               "1699990100000000 1699991100000000 1699991000000001");
    assert_sql(h.directory, "SELECT group_concat(id || '=' || input_bytes) FROM job WHERE input_bytes IS NOT NULL",
               "4=6"); /* echo, one argument of one byte, no variable */
    array_release(&report.differences);
    arena_release(&arena);
    house_close(&h);
}

/* Version 13 has a row for each condition; before, a job's conditions were one text. */
static void conditions_become_rows(void **unused)
{
    (void)unused;
    enum { TEXT_VERSION = 15 };
    struct house h = {0};
    struct err e = {0};
    struct arena arena = {0};
    store_make_directory(h.directory);
    make_old_database(h.directory);
    sqlite3 *db = store_open_beside(h.directory);
    if (schema_upgrade(db, schema_steps, OLD_VERSION, TEXT_VERSION, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    store_sql(h.directory, "UPDATE job SET dependency = 'aftercorr:4_[2-4,7],after:5_1+10@1800000000,singleton,"
                           "afterok:4(failed)' WHERE id = 5");
    store_sql(h.directory, "UPDATE job SET dependency = 'afterok:4(failed)?afterany:5' WHERE id = 6");
    open_house(&h);
    const struct job *five = &h.w.s.jobs.items[0], *six = &h.w.s.jobs.items[1];
    assert_string_equal(job_member(&h.w.s, five, JOB_FIELD_DEPENDENCY, &arena).text,
                        "aftercorr:4_[2-4,7],after:5_1+10@1800000000,singleton,afterok:4(failed)");
    assert_string_equal(job_member(&h.w.s, six, JOB_FIELD_DEPENDENCY, &arena).text, "afterok:4(failed)?afterany:5");
    assert_true(six->dependency->is_any && !five->dependency->is_any && five->waits_by_task);
    assert_sql(h.directory, "SELECT group_concat(position || '=' || condition, ' ') FROM dependency WHERE job_id = 6",
               "0=afterok:4(failed) 1=afterany:5");
    job_rows_assert_listed(&h.w.s, h.store);
    arena_release(&arena);
    house_close(&h);
}

/* The daemon updates migrated jobs and adds new ones. */
static void the_daemon_continues_with_migrated_rows(void **unused)
{
    (void)unused;
    struct house h = {0};
    struct state loaded;
    store_make_directory(h.directory);
    make_old_database(h.directory);
    open_house(&h);
    house_set_host(&h, host);
    const struct job_values *change = job_text("comment=earlier|admin_comment=x|nice=5");
    for (uint32_t id = 5; id <= 7; id++) assert_int_equal(world_apply(&h.w, world_update(id, change), NULL), 0);
    assert_int_equal(world_submit(&h.w, "ann", "physics", 1), 8);
    world_ended(&h.w, 3, JOB_COMPLETED, INT64_C(1699991000000001));
    house_commit(&h);
    assert_true(world_pass(&h.w) > 0);
    house_commit(&h);
    /* Of a task of the older database counts what is charged from the migration on. */
    assert_sql(h.directory, "SELECT usage_wall_s FROM qos WHERE name = 'good'", "4500.4999995");
    assert_verified(&h);
    job_rows_assert_stored(&h.w.s, h.directory, NULL);
    job_rows_assert_listed(&h.w.s, h.store);
    store_must_load(h.store, &loaded);
    engine_forget(&h.w.s);
    job_rows_assert_loaded(&h.w.s, &loaded);
    assert_sql(h.directory, "SELECT count(*) FROM job WHERE comment = 'earlier' AND admin_comment = 'x'", "3");
    state_release(&loaded);
    house_close(&h);
}

/* Before version 15 nothing started in a drained partition: DOWN says so now. States of hosts mean what they meant. */
static void drained_partitions_become_down(void **unused)
{
    (void)unused;
    static const char *const rows[][2] = {
        {"DRAIN", "DOWN"}, {"drain", "DOWN"}, {"DRAIN,[n1=UP]", "DOWN,[n1=UP]"}, {"UP,[n1=DRAIN]", "UP,[n1=DRAIN]"},
        {"UP", "UP"},      {"DOWN", "DOWN"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        sqlite3 *db;
        sqlite3_stmt *row;
        struct err e = {0};
        assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
        assert_int_equal(schema_upgrade(db, schema_steps, 0, 14, &e), 0);
        char *insert =
            sqlite3_mprintf("INSERT INTO partition(id, name, created_us, priority_job_factor, priority_tier, "
                            "tres_billing_weights, fshare, oticket, state) VALUES(1, 'p', 1, 1, 1, '', 0, 0, %Q)",
                            rows[i][0]);
        assert_int_equal(sqlite3_exec(db, insert, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_free(insert);
        assert_int_equal(schema_upgrade(db, schema_steps, 14, 15, &e), 0);
        assert_int_equal(sqlite3_prepare_v2(db, "SELECT state FROM partition", -1, &row, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_step(row), SQLITE_ROW);
        assert_string_equal((const char *)sqlite3_column_text(row, 0), rows[i][1]);
        sqlite3_finalize(row);
        sqlite3_close(db);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_tables_stay_unchanged),    cmocka_unit_test(jobs_keep_all_values),
        cmocka_unit_test(tasks_keep_all_values),          cmocka_unit_test(reserved_usage_goes_on_counting),
        cmocka_unit_test(renamed_tables_keep_their_rows), cmocka_unit_test(jobs_are_loaded_and_listed),
        cmocka_unit_test(conditions_become_rows),         cmocka_unit_test(the_daemon_continues_with_migrated_rows),
        cmocka_unit_test(drained_partitions_become_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
