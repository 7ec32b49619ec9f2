/* A directory for a store to live in while a test runs: in memory where the machine has such a place, because a test
 * commits thousands of times. */
#ifndef FAIRLEAD_TESTS_STORE_WORLD_H
#define FAIRLEAD_TESTS_STORE_WORLD_H

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "store/store.h"

enum { STORE_PATH_SIZE = 200 };

static inline void store_make_directory(char out_directory[STORE_PATH_SIZE])
{
    const char *below = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(out_directory, STORE_PATH_SIZE, "%s/fairlead-test-XXXXXX", below);
    assert_non_null(mkdtemp(out_directory));
}

static inline void store_remove_directory(const char *directory)
{
    char path[STORE_PATH_SIZE + 300];
    DIR *list = opendir(directory);
    assert_non_null(list);
    for (struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        unlink(path);
    }
    closedir(list);
    assert_int_equal(rmdir(directory), 0);
}

/* Opens, or fails the test with the reason. */
static inline struct store *store_must_open(const char *directory, int64_t now_us)
{
    struct err e = {0};
    struct store *s = store_open(directory, now_us, &e);
    if (s == NULL) fail_msg("%s", ERR_SENTENCE(&e));
    return s;
}

/* The state that the store has; the caller releases it. */
static inline void store_must_load(struct store *s, struct state *out_state)
{
    struct err e = {0};
    state_init(out_state, 1);
    if (store_load(s, out_state, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
}

static inline void store_must_commit(struct store *s, struct state *state, struct outcome *out, int64_t now_us)
{
    struct err e = {0};
    if (store_commit(s, state, out, now_us, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    outcome_clear(out);
}

/* The database as sqlite3 sees it. */
static inline sqlite3 *store_open_beside(const char *directory)
{
    char path[STORE_PATH_SIZE + 20];
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/fairlead.db", directory);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    return db;
}

static inline void store_sql(const char *directory, const char *statements)
{
    sqlite3 *db = store_open_beside(directory);
    char *message = NULL;
    if (sqlite3_exec(db, statements, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s: %s", statements, message);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* The first column of the first row as text ("" where there is none), in out. */
static inline const char *store_sql_text(const char *directory, const char *query, char out[STORE_PATH_SIZE])
{
    sqlite3 *db = store_open_beside(directory);
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, query, -1, &statement, NULL) != SQLITE_OK) fail_msg("%s: %s", query, sqlite3_errmsg(db));
    const char *text = sqlite3_step(statement) == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    snprintf(out, STORE_PATH_SIZE, "%s", text ? text : "");
    sqlite3_finalize(statement);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return out;
}

static inline void assert_sql(const char *directory, const char *query, const char *expected)
{
    char found[STORE_PATH_SIZE];
    if (strcmp(store_sql_text(directory, query, found), expected) != 0)
        fail_msg("%s: '%s' is not '%s'", query, found, expected);
}

static inline void store_write_file(const char *directory, const char *name, const void *bytes, size_t length, off_t at)
{
    char path[STORE_PATH_SIZE + 40];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = open(path, O_WRONLY | O_CREAT, 0644);
    assert_true(fd >= 0 && pwrite(fd, bytes, length, at) == (ssize_t)length);
    close(fd);
}

/* The page that holds a table's root, overwritten. */
static inline void store_damage_table(const char *directory, const char *table)
{
    char query[STORE_PATH_SIZE], page[STORE_PATH_SIZE];
    unsigned char rubbish[512];
    memset(rubbish, 0xa5, sizeof rubbish);
    snprintf(query, sizeof query, "SELECT rootpage FROM sqlite_schema WHERE name = '%s'", table);
    store_write_file(directory, "fairlead.db", rubbish, sizeof rubbish,
                     (atoi(store_sql_text(directory, query, page)) - 1) * 4096);
}

#endif
