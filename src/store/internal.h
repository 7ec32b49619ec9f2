/* Declarations that only the files of the store share. */
#ifndef FAIRLEAD_STORE_INTERNAL_H
#define FAIRLEAD_STORE_INTERNAL_H

#include <sys/types.h>

#include <sqlite3.h>

#include "base/sort.h"
#include "base/text.h"
#include "store/job_reader_sql.h"
#include "store/schema.h"
#include "store/sql.h"
#include "store/store.h"

/* The statements of commit.c, associations.c, script.c, upload.c, objects.c, min_priorities.c, conditions.c and
 * job_ends.c, prepared once. */
enum store_statement {
    MOVE_ASSOC,
    PUT_ASSOC,
    PUT_ASSOC_USAGE,
    MOVE_JOB,
    PUT_JOB,
    PUT_TASK,
    REMOVE_TASK,
    PUT_OWNER,
    CLEAR_CONVERSIONS,
    PUT_CONVERSION,
    CLEAR_MIN_PRIORITIES,
    REMOVE_MIN_PRIORITIES,
    PUT_MIN_PRIORITY,
    REMOVE_CONDITIONS,
    REMOVE_CONDITION,
    PUT_CONDITION,
    PUT_SETTING,
    PUT_COUNTERS,
    PUT_SUSPENSION,
    PUT_JOURNAL,
    PUT_AUDIT,
    FIND_CONTENT,
    PUT_CONTENT,
    FIND_LONG_CONTENT,
    PUT_PIECE,
    GET_PIECE,
    REMOVE_PIECE,
    REMOVE_CONTENT,
    PUT_LOOSE,
    REMOVE_LOOSE,
    GET_LOOSE,
    PUT_SCRIPT,
    GET_SCRIPT,
    GET_COMMAND,
    GET_ENDED_JOB,
    GET_COMPLETED_TASKS,
    GET_ENDED_ROW,
    GET_OWNER_OF_JOB,
    GET_CONDITIONS,
    GET_FAILED_TASKS,
    GET_UNFINISHED_REQUEUES,
    MARK_REQUEUED,
    BEGIN_COMMIT,
    COMMIT_COMMIT,
    ROLLBACK_COMMIT,
    TOUCH_COUNTERS,
    COUNT_LOG,
    DATA_VERSION,
    STATEMENT_COUNT
};

/* A text as it is stored. */
struct added_content {
    struct str bytes;
    int64_t id; /* in the table content, where an upload has put it; 0: it is not there yet */
};

/* A script that is pending until the commit of its turn, in memory of script_arena. arguments and environment have
 * their stored form: a zero byte ends each entry. */
struct added_script {
    uint32_t job_id;
    const char *script_name;
    struct added_content script, arguments, environment;
};

/* script.c: ?1: the job; ?2: from which length on a text is long. Of a script with a long one all texts are empty. */
#define SCRIPT_IS_LONG                                                                   \
    "(script.piece_count > 0 OR environment.piece_count > 0 OR arguments_id IS NOT NULL" \
    " OR length(script.bytes) > ?2 OR length(environment.bytes) > ?2 OR length(job_script.arguments) > ?2)"
#define SCRIPT_JOINS                                                                                                   \
    " FROM job_script JOIN content AS script ON script.id = script_id JOIN content AS environment ON environment.id =" \
    " environment_id WHERE job_id = ?1"
#define SCRIPT_QUERY_SHORT                                                                                     \
    "SELECT script_name, iif(" SCRIPT_IS_LONG ", x'', script.bytes), iif(" SCRIPT_IS_LONG ", x'', arguments)," \
    " iif(" SCRIPT_IS_LONG ", x'', environment.bytes), " SCRIPT_IS_LONG SCRIPT_JOINS
/* Likewise of a script, and of the arguments without one, each by itself. length() of a blob does not read it. */
#define COMMAND_QUERY                                                                                  \
    "SELECT script.piece_count > 0 OR length(script.bytes) > ?2,"                                      \
    " iif(script.piece_count > 0 OR length(script.bytes) > ?2, x'', script.bytes),"                    \
    " arguments_id IS NOT NULL OR length(arguments) > ?2, iif(length(arguments) > ?2, x'', arguments)" \
    " FROM job_script JOIN content AS script ON script.id = script_id WHERE job_id = ?1"

enum { IDLE_READERS_MAX = 8 };

struct store {
    sqlite3 *db;
    char *path;
    dev_t device; /* with inode: the open file, to notice when another one has its name */
    ino_t inode;
    int lock; /* descriptor of the lock file */
    struct store_clock clock;
    struct {
        char boot_id[40]; /* "": not known */
        int64_t us;
    } boot;                  /* of the next commit */
    uint64_t commit_number;  /* of the last commit */
    uint64_t certain_number; /* of the last one that is in the database file (checkpoint.c) */
    int log_pages;           /* of the write-ahead log, after the last commit */
    int checkpoint_pages;    /* how many there have to be for the next checkpoint */
    bool leaves_copying;     /* store_leave_copying */
    char instance_id[STORE_INSTANCE_ID_SIZE];
    bool is_pretend;
    struct buf recovery; /* at recovered_us; 0: never */
    int64_t recovered_us;
    int64_t data_version; /* changes when another connection writes */
    sqlite3_stmt *statements[STATEMENT_COUNT];
    struct job_row_columns job_columns, task_columns;   /* of the tables job and task */
    struct job_row_columns listing_columns[PART_COUNT]; /* of a listing's rows */
    sqlite3_stmt *move_object[OBJECT_KIND_COUNT], *put_object[OBJECT_KIND_COUNT], *remove_object[OBJECT_KIND_COUNT];
    ARRAY(struct added_script) scripts;
    struct arena script_arena;
    ARRAY(struct sort_record) order, scratch; /* of one commit */
    struct arena row_arena;                   /* the texts that a row's statement is bound to */
    sqlite3 *idle_readers[IDLE_READERS_MAX];  /* reading connections that are not in use */
    uint32_t idle_reader_count;
};

/* checkpoint.c: takes over the checkpoints from SQLite; makes one if it is due, after a commit. */
void checkpoint_prepare(struct store *s);
void checkpoint_if_due(struct store *s);

/* Prepares the statements. */
int commit_prepare(struct store *s, struct err *e);

/* Reads the id of the instance from a database that has the column; untouched: there is no row. */
int check_file_read_id(sqlite3 *db, char out[STORE_INSTANCE_ID_SIZE], struct err *e);

/* Reads s->clock. */
int clock_load(struct store *s, struct err *e);

/* Begins a transaction, if there is no other writer; commits it, or, after a failure, makes sure that nothing of it
 * comes back after a crash. commit_end: result is that of what was written. */
int commit_begin(struct store *s, struct err *e);
int commit_end(struct store *s, int result, struct err *e);

/* Writes a turn, inside an open transaction. */
int commit_write(struct store *s, const struct state *state, const struct outcome *outcome, int64_t now_us,
                 struct err *e);

/* Writes the added scripts, inside an open transaction. script_join: the stored form of a list. */
int script_write_added(struct store *s, struct err *e);
struct str script_join(struct arena *arena, const struct str *list, uint32_t count);

/* audit.c: writes an entry of the audit log, inside an open transaction. */
int audit_write(struct store *s, const struct audit_entry *entry, struct err *e);

/* The name of a kind's table; appends the name of a field's column in it. */
const char *object_table(enum object_kind kind);
void object_column(const struct field *f, struct buf *out);

/* Associations: appends the statements PUT_ASSOC and of loading; writes the row of state->assocs[index], or only its
 * usages; restores one from a row. */
void association_write_put(struct buf *out);
void association_write_select(struct buf *out);
int association_write(struct store *s, const struct state *state, uint32_t index, struct err *e);
int association_write_usage(struct store *s, const struct state *state, uint32_t index, struct err *e);
int association_load(struct store *s, sqlite3_stmt *row, struct state *state, struct err *e);

/* Prepares the statements for objects; writes or deletes the row that a change names (object_change); loads all
 * rows. */
int objects_prepare(struct store *s, struct err *e);
int object_write(struct store *s, const struct state *state, uint32_t change, struct err *e);
int objects_load(struct store *s, struct state *state, struct err *e);

/* Conversions of all usages: the query of their rows, ascending, and one of the rows. */
extern const char store_usage_conversion_query[];
struct usage_conversion store_usage_conversion_read(sqlite3_stmt *row, bool *io_bad);

/* Replaces the rows of usage_conversion by state->conversions. */
int store_usage_conversions_write(struct store *s, const struct state *state, struct err *e);

/* The usage of an owner: writes the row of state->owners[index]; restores one from a row of owner_usage. */
int store_usage_owner_write(struct store *s, const struct state *state, uint32_t index, struct err *e);
int store_usage_owner_load(struct store *s, sqlite3_stmt *row, struct state *state, struct err *e);

/* Minimum priorities: replaces the rows of the job with that index; restores one from a row of min_priority. */
int min_priorities_write(struct store *s, const struct state *state, uint32_t job, struct err *e);
int min_priority_load(struct store *s, sqlite3_stmt *row, struct state *state, struct err *e);

/* What jobs wait for: replaces the rows of the job with that index; writes or removes that of one condition; restores
 * one from a row. */
int conditions_write(struct store *s, const struct state *state, uint32_t job, struct err *e);
int condition_write(struct store *s, const struct state *state, struct condition_change change, struct err *e);
int condition_load(struct store *s, sqlite3_stmt *row, struct state *state, struct err *e);

/* A read-only connection; the caller closes it. NULL with *e. */
sqlite3 *job_reader_connect(const char *path, struct err *e);

#endif
