/* Checkpoints of the store: alone, with a thread that copies the log, and beside programs that read. */
#include <pthread.h>
#include <sqlite3.h>

#include "store/sql.h"
#include "store_house.h"

enum { PAGES_MAX = 5000 + 100, FRAME_SIZE = 4096 + 24 }; /* checkpoint.c: the longest log, and one more commit */

static void commit_once(struct house *h)
{
    *array_add(&h->w.out.changes) = (struct change){TABLE_COUNTERS, 0};
    house_commit(h);
}

static void commit_until_long(struct house *h)
{
    for (int i = 0; !store_log_is_long(h->store); i++) {
        assert_true(i < PAGES_MAX);
        commit_once(h);
    }
}

/* What the database file has without its log. */
static int64_t number_in_file(const struct house *h)
{
    char uri[STORE_PATH_SIZE + 64];
    sqlite3 *db;
    struct err e;
    int64_t number;
    text_format(uri, sizeof uri, "file:%s/fairlead.db?immutable=1", h->directory);
    assert_int_equal(sqlite3_open_v2(uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL), SQLITE_OK);
    assert_int_equal(sql_number(db, "SELECT commit_number FROM counters", &number, &e), 0);
    sqlite3_close(db);
    return number;
}

static void *copy_in_thread(void *directory)
{
    struct err e;
    for (int i = 0; i < 20; i++) {
        if (store_copy_log(directory, &e) != 0) return directory;
    }
    return NULL;
}

static void a_thread_copies_the_log_while_commits_go_on(void **unused)
{
    (void)unused;
    struct house h;
    pthread_t thread;
    void *failure;
    house_build(&h, (struct capacity){.cpus = 4, .mem_mib = 4096});
    house_commit(&h);
    store_leave_copying(h.store);
    for (int round = 0; round < 2; round++) {
        commit_until_long(&h);
        assert_true(store_certain_number(h.store) < store_commit_number(h.store));
        assert_int_equal(pthread_create(&thread, NULL, copy_in_thread, h.directory), 0);
        for (int i = 0; i < 100; i++) commit_once(&h);
        assert_int_equal(pthread_join(thread, &failure), 0);
        assert_null(failure);
        assert_true(store_reset_log(h.store));
        assert_int_equal(store_certain_number(h.store), store_commit_number(h.store));
        assert_int_equal(number_in_file(&h), store_commit_number(h.store));
        commit_once(&h);
        assert_false(store_log_is_long(h.store));
    }
    house_close(&h);
}

static void a_log_that_is_not_copied_stays_bounded(void **unused)
{
    (void)unused;
    struct house h;
    house_build(&h, (struct capacity){.cpus = 4, .mem_mib = 4096});
    store_leave_copying(h.store);
    commit_until_long(&h);
    uint64_t certain = store_certain_number(h.store);
    int commits = 0;
    while (store_certain_number(h.store) == certain) {
        assert_true(commits++ < PAGES_MAX);
        commit_once(&h);
    }
    assert_true(commits > 1000);
    house_close(&h);
}

static void a_reader_delays_the_reset(void **unused)
{
    (void)unused;
    struct house h;
    struct err e;
    sqlite3 *db;
    int64_t number;
    house_build(&h, (struct capacity){.cpus = 4, .mem_mib = 4096});
    store_leave_copying(h.store);
    commit_until_long(&h);
    char path[STORE_PATH_SIZE + 64];
    text_format(path, sizeof path, "%s/fairlead.db", h.directory);
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sql_number(db, "SELECT commit_number FROM counters", &number, &e), 0);
    commit_once(&h);
    assert_int_equal(store_copy_log(h.directory, &e), 0);
    assert_false(store_reset_log(h.store));
    assert_false(store_log_is_long(h.store)); /* it is tried again some pages later */
    sqlite3_close(db);
    commit_until_long(&h);
    assert_true(store_reset_log(h.store));
    house_close(&h);
}

static void a_database_that_is_gone_is_said(void **unused)
{
    (void)unused;
    struct err e;
    assert_int_equal(store_copy_log("/nonexistent", &e), -1);
    assert_non_null(strstr(ERR_SENTENCE(&e), "unable to open database file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_copies_the_log_while_commits_go_on),
        cmocka_unit_test(a_log_that_is_not_copied_stays_bounded),
        cmocka_unit_test(a_reader_delays_the_reset),
        cmocka_unit_test(a_database_that_is_gone_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
