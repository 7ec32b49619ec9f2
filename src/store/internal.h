/* What the files of the store share and nobody else needs. */
#ifndef FAIRLEAD_STORE_INTERNAL_H
#define FAIRLEAD_STORE_INTERNAL_H

#include <sys/types.h>

#include <sqlite3.h>

#include "base/sort.h"
#include "base/text.h"
#include "store/job_reader_sql.h"
#include "store/sql.h"
#include "store/store.h"

/* The statements of commit.c and script.c, prepared once. */
enum store_statement {
    PUT_ASSOC,
    PUT_JOB,
    PUT_TASK,
    PUT_OWNER,
    CLEAR_ASSOC_USAGES,
    CLEAR_QOS_USAGES,
    CLEAR_OWNER_USAGES,
    CLEAR_MIN_PRIORITIES,
    REMOVE_MIN_PRIORITIES,
    PUT_MIN_PRIORITY,
    PUT_SETTING,
    PUT_COUNTERS,
    PUT_JOURNAL,
    FIND_CONTENT,
    PUT_CONTENT,
    PUT_SCRIPT,
    GET_SCRIPT,
    BEGIN_COMMIT,
    COMMIT_COMMIT,
    ROLLBACK_COMMIT,
    TOUCH_COUNTERS,
    DATA_VERSION,
    STATEMENT_COUNT
};

/* A script that waits for the commit of its turn, in memory of script_arena. arguments and environment are as they are
 * stored: each closed by a zero byte. */
struct added_script {
    uint32_t job_id;
    const char *script_name;
    struct str script, arguments, environment;
};

/* Reading connections that are not in use. */
enum { IDLE_READERS_MAX = 8 };

struct store {
    sqlite3 *db;
    char *path;
    dev_t device; /* of the file that is open: another one under its name is not ours */
    ino_t inode;
    int lock; /* descriptor of the lock file */
    int64_t last_commit_us;
    int64_t data_version; /* changes when another connection writes */
    sqlite3_stmt *statements[STATEMENT_COUNT];
    struct job_columns job_columns, task_columns;   /* of the tables job and task */
    struct job_columns listing_columns[PART_COUNT]; /* of a listing's rows */
    sqlite3_stmt *put_object[OBJECT_KIND_COUNT], *remove_object[OBJECT_KIND_COUNT];
    ARRAY(struct added_script) scripts;
    struct arena script_arena;
    ARRAY(struct sort_record) order, scratch; /* of one commit */
    struct arena row_arena;                   /* texts of one row that wait for its statement */
    sqlite3 *idle_readers[IDLE_READERS_MAX];
    uint32_t idle_reader_count;
};

/* Prepares all statements. */
int commit_prepare(struct store *s, struct err *e);

/* Writes a turn inside the transaction that is open. */
int commit_write(struct store *s, const struct state *state, const struct outcome *outcome, int64_t now_us,
                 struct err *e);

/* Writes the scripts that were added, inside the transaction that is open. */
int script_write_added(struct store *s, struct err *e);

/* A kind's table, and a field's column in it. */
const char *object_table(enum object_kind kind);
void object_column(const struct field *f, struct buf *out);

/* The statements for objects, and a row written with them, by the index of its change. */
int objects_prepare(struct store *s, struct err *e);
int object_write(struct store *s, const struct state *state, uint32_t change, struct err *e);
int store_owner_write(struct store *s, const struct state *state, uint32_t index, struct err *e);

/* All objects; an owner of a row. */
int objects_load(struct store *s, struct state *state, struct err *e);
int store_owner_load(struct store *s, sqlite3_stmt *row, struct state *state, struct err *e);

/* Minimum priorities: writes all that are stored of a job in place of its rows; loads one. */
int min_priorities_write(struct store *s, const struct state *state, uint32_t job, struct err *e);
int min_priority_load(struct store *s, sqlite3_stmt *row, struct state *state, struct err *e);

/* A connection that only reads. NULL: *e. */
sqlite3 *job_reader_connect(const char *path, struct err *e);

#endif
