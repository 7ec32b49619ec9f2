/* Changes of the time of the instance in the database. */
#include "../dies.h"
#include "base/quantity.h"
#include "engine_world.h"
#include "store/internal.h"
#include "store_house.h"

#define SHIFT_S INT64_C(31536000)
#define VALUE_S INT64_C(1764000000)

/* Columns that end in _us and are no times. */
static const char *const durations[] = {"task.suspended_us", "task.cpu_us", "counters.halflife_us", "counters.boot_us"};

static bool is_duration(const char *table, const char *column)
{
    char name[STORE_PATH_SIZE];
    snprintf(name, sizeof name, "%s.%s", table, column);
    for (size_t i = 0; i < sizeof durations / sizeof *durations; i++) {
        if (strcmp(durations[i], name) == 0) return true;
    }
    return false;
}

static void run(sqlite3 *db, const char *statement)
{
    char *message = NULL;
    if (sqlite3_exec(db, statement, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s: %s", statement, message);
}

/* Calls visit with each column of each table. */
static void for_columns(sqlite3 *db, void (*visit)(sqlite3 *db, const char *table, const char *column))
{
    sqlite3_stmt *rows;
    static const char query[] =
        "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c"
        " WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' AND c.name LIKE '%\\_us' ESCAPE '\\'"
        " ORDER BY 1, 2";
    assert_int_equal(sqlite3_prepare_v2(db, query, -1, &rows, NULL), SQLITE_OK);
    uint32_t count = 0;
    for (; sqlite3_step(rows) == SQLITE_ROW; count++)
        visit(db, (const char *)sqlite3_column_text(rows, 0), (const char *)sqlite3_column_text(rows, 1));
    sqlite3_finalize(rows);
    assert_true(count > 40);
}

/* A row of any values, if there is none. */
static void fill_table(sqlite3 *db, const char *table, const char *column)
{
    struct buf text = {0}, values = {0};
    sqlite3_stmt *columns;
    (void)column;
    buf_format(&text, "SELECT name, type FROM pragma_table_info('%s')", table);
    assert_int_equal(sqlite3_prepare_v2(db, text.text, -1, &columns, NULL), SQLITE_OK);
    buf_clear(&text);
    buf_format(&text, "INSERT INTO %s(", table);
    for (bool is_first = true; sqlite3_step(columns) == SQLITE_ROW; is_first = false) {
        const char *type = (const char *)sqlite3_column_text(columns, 1);
        buf_format(&text, "%s%s", is_first ? "" : ", ", (const char *)sqlite3_column_text(columns, 0));
        buf_format(&values, "%s%s", is_first ? "" : ", ", strcmp(type, "TEXT") == 0 ? "''" : "1");
    }
    buf_format(&text, ") SELECT %s WHERE NOT EXISTS (SELECT * FROM %s)", values.text, table);
    sqlite3_finalize(columns);
    run(db, text.text);
    buf_release(&text);
    buf_release(&values);
}

static void set_column(sqlite3 *db, const char *table, const char *column)
{
    char text[400];
    snprintf(text, sizeof text, "UPDATE %s SET %s = %lld", table, column, (long long)(VALUE_S * SECOND + 7));
    run(db, text);
}

static void check_column(sqlite3 *db, const char *table, const char *column)
{
    char text[400];
    sqlite3_stmt *row;
    int64_t expected = VALUE_S * SECOND + 7 + (is_duration(table, column) ? 0 : SHIFT_S * SECOND);
    bool is_new = strcmp(table, "counters") == 0 && strcmp(column, "reset_period_us") == 0;
    if (is_new || strcmp(column, "gap_from_us") == 0) return; /* a_gap_... */
    snprintf(text, sizeof text, "SELECT %s FROM %s ORDER BY rowid LIMIT 1", column, table);
    if (sqlite3_prepare_v2(db, text, -1, &row, NULL) != SQLITE_OK) {
        snprintf(text, sizeof text, "SELECT %s FROM %s LIMIT 1", column, table); /* WITHOUT ROWID */
        assert_int_equal(sqlite3_prepare_v2(db, text, -1, &row, NULL), SQLITE_OK);
    }
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    if (sqlite3_column_int64(row, 0) != expected)
        fail_msg("%s.%s is not shifted: is it a row of shift_tables (store/clock.c), or a duration?", table, column);
    sqlite3_finalize(row);
}

static struct clock_change shift_of(int64_t shift_s, enum clock_event_kind kind)
{
    return (struct clock_change){.event = {VALUE_S * SECOND, kind, shift_s, shift_s}};
}

static void must_change(struct store *s, const struct clock_change *change)
{
    struct err e = {0};
    if (store_change_clock(s, change, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
}

/* Opens a database in which every column of a time has the same value. */
static struct store *open_filled(const char *directory)
{
    store_close(store_must_open(directory, NOW_US));
    sqlite3 *db = store_open_beside(directory);
    run(db, "PRAGMA ignore_check_constraints = ON");
    for_columns(db, fill_table);
    for_columns(db, set_column);
    run(db, "UPDATE task SET state = 'COMPLETED'; UPDATE clock_event SET kind = 'SET_RUNNING'");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return store_must_open(directory, NOW_US);
}

static void every_time_is_shifted(void **unused)
{
    (void)unused;
    char directory[STORE_PATH_SIZE];
    store_make_directory(directory);
    struct store *s = open_filled(directory);
    const struct clock_change change = shift_of(SHIFT_S, CLOCK_SET_RUNNING);
    must_change(s, &change);
    assert_true(store_last_commit_us(s) == (VALUE_S + SHIFT_S) * SECOND + 7);
    sqlite3 *db = store_open_beside(directory);
    for_columns(db, check_column);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    store_close(s);
    store_remove_directory(directory);
}

static void times_in_texts_are_shifted(void **unused)
{
    static const struct {
        const char *set, *query, *expected;
    } rows[] = {
        {"UPDATE job SET delayed_tasks = '1764000060:3-7;1764000120:5'", "SELECT delayed_tasks FROM job",
         "1764086460:3-7;1764086520:5"},
        {"UPDATE job SET delayed_tasks = '1764000060:3'", "SELECT delayed_tasks FROM job", "1764086460:3"},
        {"UPDATE job SET delayed_tasks = '1764000060:3;held:5-7'", "SELECT delayed_tasks FROM job",
         "1764086460:3;held:5-7"},
        {"UPDATE dependency SET condition = 'after:5+10@1764000000'", "SELECT condition FROM dependency",
         "after:5+10@1764086400"},
        {"UPDATE dependency SET condition = 'after:5+10@1764000000(failed)'", "SELECT condition FROM dependency",
         "after:5+10@1764086400(failed)"},
        {"UPDATE dependency SET condition = 'aftercorr:5_[0-3]'", "SELECT condition FROM dependency",
         "aftercorr:5_[0-3]"},
        {"UPDATE usage_journal SET kind = 'FOLD', before = 0, after = 9",
         "SELECT before || ' ' || after FROM usage_journal", "0 9"},
        {"UPDATE usage_journal SET kind = 'FOLD', before = 1764000000000000, after = 9",
         "SELECT before || ' ' || after FROM usage_journal", "1764086400000000 9"},
        {"UPDATE usage_journal SET kind = 'RESET', before = 0, after = 1764000000000000",
         "SELECT before || ' ' || after FROM usage_journal", "0 1764086400000000"},
        {"UPDATE usage_journal SET kind = 'HALFLIFE', before = 5, after = 6",
         "SELECT before || ' ' || after FROM usage_journal", "5 6"},
        {"UPDATE job SET begin_us = 253402300799000000", "SELECT begin_us FROM job", "253402300799000000"},
        {"UPDATE job SET begin_us = 0", "SELECT begin_us FROM job", "0"},
    };
    (void)unused;
    char directory[STORE_PATH_SIZE];
    store_make_directory(directory);
    store_close(open_filled(directory));
    store_sql(directory, "PRAGMA foreign_keys = OFF; INSERT INTO dependency VALUES(1, 0, 'afterok:5')");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct clock_change change = shift_of(86400, CLOCK_SET_RUNNING);
        store_sql(directory, rows[i].set);
        struct store *s = store_must_open(directory, NOW_US);
        must_change(s, &change);
        store_close(s);
        assert_sql(directory, rows[i].query, rows[i].expected);
    }
    store_remove_directory(directory);
}

/* Back before 1970: such a time is over in any case. */
static void no_time_becomes_negative(void **unused)
{
    (void)unused;
    char directory[STORE_PATH_SIZE];
    store_make_directory(directory);
    struct store *s = open_filled(directory);
    const struct clock_change change = shift_of(-VALUE_S - 1, CLOCK_SET_RUNNING);
    must_change(s, &change);
    store_close(s);
    assert_sql(directory, "SELECT submit_us || ' ' || begin_us FROM job", "1 1");
    store_remove_directory(directory);
}

/* Boundaries of reset periods that a shift passes do not count; those in a gap that is counted after all do. */
static void a_gap_is_kept_until_it_is_settled(void **unused)
{
    (void)unused;
    struct house h;
    house_build(&h, (struct capacity){4, 0, 100});
    world_set(&h.w, "PriorityUsageResetPeriod", "MONTHLY");
    house_commit(&h);
    assert_false(store_clock(h.store)->has_gap);
    struct clock_change change = shift_of(SHIFT_S, CLOCK_GAP);
    change.event.at_us = NOW_US + SHIFT_S * SECOND;
    change.has_gap = true;
    change.gap_s = SHIFT_S;
    must_change(h.store, &change);
    assert_true(store_clock(h.store)->has_gap && store_clock(h.store)->gap_s == SHIFT_S);
    assert_true(store_clock(h.store)->gap_from_us == NOW_US + SHIFT_S * SECOND);
    assert_sql(h.directory, "SELECT reset_period_us FROM counters", "1731536000000000");
    store_close(h.store);
    h.store = store_must_open(h.directory, NOW_US); /* it is stored */
    assert_true(store_clock(h.store)->has_gap && store_clock(h.store)->gap_s == SHIFT_S);
    change = shift_of(3600, CLOCK_SET_RUNNING);
    change.event.at_us = NOW_US + (SHIFT_S + 7200) * SECOND;
    change.has_gap = true;
    change.gap_s = SHIFT_S + 3600;
    must_change(h.store, &change);
    assert_true(store_clock(h.store)->gap_from_us == NOW_US + (SHIFT_S + 3600) * SECOND);
    change = shift_of(-SHIFT_S - 3600, CLOCK_GAP_RESOLVED);
    must_change(h.store, &change);
    assert_false(store_clock(h.store)->has_gap);
    assert_sql(h.directory, "SELECT reset_period_us FROM counters", "1700000000000000");
    assert_true(store_last_commit_us(h.store) == NOW_US);

    struct clock_event events[2];
    uint32_t count = 0;
    struct err e;
    assert_int_equal(store_clock_events(h.store, events, 2, &count, &e), 0);
    assert_int_equal(count, 2);
    assert_true(events[0].kind == CLOCK_SET_RUNNING && events[0].by_s == 3600 && events[0].shift_s == 3600);
    assert_true(events[0].at_us == NOW_US + 3600 * SECOND); /* shifted with the other times */
    assert_true(events[1].kind == CLOCK_GAP_RESOLVED && events[1].at_us == VALUE_S * SECOND);
    house_close(&h);
}

/* The row that open_filled makes: everything is at VALUE_S; start, charge and submission are read. */
static void what_runs_since_the_gap_keeps_its_distance(void **unused)
{
    static const char query[] =
        "SELECT (start_us - 1764000000000007) || ' ' || (charged_us - 1764000000000007) || ' ' ||"
        " (submit_us - 1764000000000007) FROM task, job WHERE job_id = id";
    static const struct {
        const char *set, *expected;
    } rows[] = {
        {"UPDATE task SET boot_id = 'new'", "-60000000 -60000000 -60000000"},
        {"UPDATE task SET boot_id = 'old'", "-100000000 -100000000 -60000000"},
        {"UPDATE task SET boot_id = 'new'; UPDATE counters SET gap_from_us = 1764000000000007",
         "-60000000 -60000000 -100000000"},
        {"UPDATE task SET boot_id = 'new', start_us = NULL, charged_us = NULL", ""},
        {"UPDATE task SET boot_id = 'new', state = 'COMPLETED', end_us = 1764000000000007",
         "-100000000 -100000000 -100000000"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char directory[STORE_PATH_SIZE];
        store_make_directory(directory);
        store_close(open_filled(directory));
        store_sql(directory, "PRAGMA foreign_keys = OFF; UPDATE task SET state = 'RUNNING', end_us = NULL, job_id = 1;"
                             "UPDATE job SET id = 1, ended_us = NULL;"
                             "UPDATE counters SET gap_from_us = 1764000000000006");
        store_sql(directory, rows[i].set);
        struct store *s = store_must_open(directory, NOW_US);
        store_set_boot(s, "new", 5);
        struct clock_change change = shift_of(-100, CLOCK_GAP_RESOLVED);
        change.passed_us = 40 * SECOND;
        must_change(s, &change);
        store_close(s);
        assert_sql(directory, query, rows[i].expected);
        store_remove_directory(directory);
    }
}

static void a_task_that_was_charged_is_found(void **unused)
{
    static const struct {
        const char *set;
        bool is_charged;
    } rows[] = {
        {"UPDATE task SET boot_id = 'new'", false},
        {"UPDATE task SET boot_id = 'new', charged_us = start_us + 1", true},
        {"UPDATE task SET boot_id = 'old', charged_us = start_us + 1", false},
        {"UPDATE task SET boot_id = 'new', charged_us = start_us + 1, state = 'COMPLETED', end_us = 9", false},
        {"UPDATE task SET boot_id = 'new', start_us = NULL, charged_us = NULL", false},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char directory[STORE_PATH_SIZE];
        struct err e;
        bool is_charged = !rows[i].is_charged;
        store_make_directory(directory);
        store_close(open_filled(directory));
        store_sql(directory, "PRAGMA foreign_keys = OFF; UPDATE task SET state = 'RUNNING', end_us = NULL");
        store_sql(directory, rows[i].set);
        struct store *s = store_must_open(directory, NOW_US);
        store_set_boot(s, "new", 5);
        assert_int_equal(store_has_charged_task(s, &is_charged, &e), 0);
        assert_int_equal(is_charged, rows[i].is_charged);
        store_close(s);
        store_remove_directory(directory);
    }
}

static void a_commit_stores_the_boot(void **unused)
{
    (void)unused;
    struct house h;
    house_build(&h, (struct capacity){4, 0, 100});
    assert_string_equal(store_clock(h.store)->boot_id, "");
    store_set_boot(h.store, "boot-1", 123);
    world_set(&h.w, "halflife_s", "5");
    house_commit(&h);
    assert_string_equal(store_clock(h.store)->boot_id, "boot-1");
    store_close(h.store);
    h.store = store_must_open(h.directory, NOW_US);
    assert_string_equal(store_clock(h.store)->boot_id, "boot-1");
    assert_true(store_clock(h.store)->boot_us == 123 && store_last_commit_us(h.store) == NOW_US);
    const struct clock_change change =
        shift_of(SHIFT_S, CLOCK_SET_STOPPED); /* the last commit stays that of its boot */
    must_change(h.store, &change);
    assert_string_equal(store_clock(h.store)->boot_id, "boot-1");
    assert_true(store_clock(h.store)->boot_us == 123);
    house_close(&h);
}

static void another_writer_stops_a_change(void **unused)
{
    (void)unused;
    struct house h;
    struct err e;
    house_build(&h, (struct capacity){4, 0, 100});
    store_sql(h.directory, "UPDATE association SET shares = 5");
    const struct clock_change change = shift_of(SHIFT_S, CLOCK_SET_RUNNING);
    assert_int_equal(store_change_clock(h.store, &change, &e), -1);
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    assert_sql(h.directory, "SELECT count(*) FROM clock_event", "0");
    assert_sql(h.directory, "SELECT last_commit_us FROM counters", "1700000000000000");
    house_close(&h);
}

/* Whether a column of a live job or task of this boot moves when the gap before it is counted. */
static const struct {
    const char *column;
    bool moves;
} behind_gap[] = {
    {"job.accrue_us", true},          {"job.begin_us", true},           {"job.cancelled_us", false},
    {"job.deadline_us", true},        {"job.ended_us", false},          {"job.submit_us", true},
    {"task.charged_us", true},        {"task.charged_as_of_us", false}, {"task.end_us", false},
    {"task.launch_us", true},         {"task.limits_from_us", false},   {"task.measured_from_us", true},
    {"task.suspended_from_us", true}, {"task.measured_us", true},       {"task.start_us", true},
};

static void check_behind_gap(sqlite3 *db, const char *table, const char *column)
{
    char name[STORE_PATH_SIZE], text[400];
    sqlite3_stmt *row;
    size_t i = 0;
    if (strcmp(table, "job") != 0 && strcmp(table, "task") != 0) return;
    snprintf(name, sizeof name, "%s.%s", table, column);
    if (is_duration(table, column)) return;
    while (i < sizeof behind_gap / sizeof *behind_gap && strcmp(behind_gap[i].column, name) != 0) i++;
    if (i == sizeof behind_gap / sizeof *behind_gap)
        fail_msg("%s: does it move when a gap is counted (store/clock.c, move_behind_gap)?", name);
    snprintf(text, sizeof text, "SELECT %s FROM %s LIMIT 1", column, table);
    assert_int_equal(sqlite3_prepare_v2(db, text, -1, &row, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    int64_t expected = (VALUE_S - 100 + (behind_gap[i].moves ? 40 : 0)) * SECOND + 7;
    if (sqlite3_column_type(row, 0) != SQLITE_NULL && sqlite3_column_int64(row, 0) != expected)
        fail_msg("%s is %lld", name, (long long)sqlite3_column_int64(row, 0));
    sqlite3_finalize(row);
}

/* Opens a database with a running task and a live job of the boot "new", all of whose times are after the gap. */
static struct store *open_behind_gap(const char *directory, const char *set)
{
    store_close(open_filled(directory));
    store_sql(directory, "PRAGMA foreign_keys = OFF; UPDATE job SET id = 1, ended_us = NULL;"
                         "UPDATE task SET state = 'RUNNING', end_us = NULL, job_id = 1, boot_id = 'new';"
                         "UPDATE counters SET gap_from_us = 1764000000000006");
    store_sql(directory, set);
    struct store *s = store_must_open(directory, NOW_US);
    store_set_boot(s, "new", 5);
    struct clock_change change = shift_of(-100, CLOCK_GAP_RESOLVED);
    change.passed_us = 40 * SECOND;
    must_change(s, &change);
    return s;
}

static void every_time_since_the_gap_is_decided(void **unused)
{
    (void)unused;
    char directory[STORE_PATH_SIZE];
    store_make_directory(directory);
    struct store *s = open_behind_gap(directory, "");
    sqlite3 *db = store_open_beside(directory);
    for_columns(db, check_behind_gap);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    store_close(s);
    store_remove_directory(directory);
}

/* The shift alone moves by -100 s; with what has passed since the boot it is -60 s. */
static void what_waits_since_the_gap_keeps_its_distance(void **unused)
{
#define REQUEUED "UPDATE task SET state = 'REQUEUED', end_us = 1764000000000007;"
    static const struct {
        const char *set, *query, *expected;
    } rows[] = {
        {REQUEUED, "SELECT (begin_us - 1764000000000007) || ' ' || (submit_us - 1764000000000007) FROM job",
         "-60000000 -100000000"},
        {REQUEUED "UPDATE job SET delayed_tasks = '1764003600:3-7;1764003660:5'", "SELECT delayed_tasks FROM job",
         "1764003540:3-7;1764003600:5"},
        {REQUEUED "UPDATE job SET submit_us = 5000000000, delayed_tasks = '1764003600:3'",
         "SELECT delayed_tasks FROM job", "1764003540:3"},
        {REQUEUED "UPDATE task SET boot_id = 'old'; UPDATE job SET submit_us = 5000000000,"
                  " delayed_tasks = '1764003600:3'",
         "SELECT delayed_tasks FROM job", "1764003500:3"},
        {"INSERT INTO dependency VALUES(1, 0, 'after:5+10@1764000010(failed)')", "SELECT condition FROM dependency",
         "after:5+10@1763999950(failed)"},
        {"INSERT INTO dependency VALUES(1, 0, 'after:5+10@1763999000')", "SELECT condition FROM dependency",
         "after:5+10@1763998900"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char directory[STORE_PATH_SIZE];
        store_make_directory(directory);
        store_close(open_behind_gap(directory, rows[i].set));
        assert_sql(directory, rows[i].query, rows[i].expected);
        store_remove_directory(directory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_time_is_shifted),
        cmocka_unit_test(times_in_texts_are_shifted),
        cmocka_unit_test(no_time_becomes_negative),
        cmocka_unit_test(a_gap_is_kept_until_it_is_settled),
        cmocka_unit_test(what_runs_since_the_gap_keeps_its_distance),
        cmocka_unit_test(every_time_since_the_gap_is_decided),
        cmocka_unit_test(what_waits_since_the_gap_keeps_its_distance),
        cmocka_unit_test(a_task_that_was_charged_is_found),
        cmocka_unit_test(a_commit_stores_the_boot),
        cmocka_unit_test(another_writer_stops_a_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
