/* Opens and closes the database: the lock, file modes, damage checks, creation and migration.
 *
 *     DIR/fairlead.db        the rows
 *     DIR/fairlead.db-wal    SQLite's write-ahead log: committed turns that are not in the file yet; none after a clean
 *                            close
 *     DIR/fairlead.db-shm    the log's index, in shared memory
 *     DIR/fairlead.db-lock   the writer's lock, with its process id
 *
 * Invariants
 *   1. One writer: the lock is taken before the database is opened and released after it is closed.
 *   2. All four files have mode 0600, whatever the umask, because they contain job scripts and environments. SQLite
 *      gives its two files the mode of the database file, which is created here before SQLite opens it.
 *   3. A refused file (newer, of another program, damaged) stays unchanged.
 *   4. Creation and migration each are one transaction: after a crash the file is either the old one or the new one.
 *
 * Damage checks: a log that is not empty means that the last daemon was killed. Then PRAGMA quick_check reads the whole
 * file if it has at most 32 MiB, which takes half a second. In a larger file, and after a clean close, SQLite checks
 * the pages that are read; the load reads every page of the live rows. A kill cannot damage the file (tests/crash); a
 * disk that does not do what it reports can.
 */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ensure.h"
#include "base/number.h"
#include "engine/usage_rule.h"
#include "store/filesystem.h"
#include "store/internal.h"
#include "store/schema.h"

enum { CHECK_BYTES_MAX = 32 << 20 };

static char *join_text(const char *a, const char *b)
{
    struct buf text = {0};
    buf_format(&text, "%s%s", a, b);
    return text.text;
}

/* Opens a file, which gets mode 0600; creates it when there is none. The descriptor, or -1 with *e. */
static int open_private(const char *path, struct err *e)
{
    struct stat st;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
    if (fd < 0) return err_set(e, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return err_set(e, ERR_IO, "%s is not a regular file", path);
    }
    if ((st.st_mode & 07777) != 0600 && fchmod(fd, 0600) != 0) {
        err_set(e, ERR_IO, "%s: cannot set mode 0600, which keeps other users out: %s", path, strerrordesc_np(errno));
        close(fd);
        return -1;
    }
    return fd;
}

/* Retries, because a daemon that is killed while it forks its launcher leaves the lock to the child until its exec. */
static bool lock_with_retries(int fd)
{
    enum { TRY_COUNT = 25, PAUSE_US = 10000 };
    for (int i = 0; i < TRY_COUNT; i++) {
        if (i > 0) usleep(PAUSE_US);
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
        if (errno != EWOULDBLOCK) return false;
    }
    errno = EWOULDBLOCK;
    return false;
}

/* Invariant 1. The process id in the file is for the error message of a second daemon. */
static int take_lock(struct store *s, struct err *e)
{
    char text[NUMBER_TEXT_SIZE] = "";
    char *path = join_text(s->path, "-lock");
    int fd = open_private(path, e), result = -1;
    if (fd >= 0 && lock_with_retries(fd)) {
        size_t length = number_format_u64(text, (uint64_t)getpid());
        result = ftruncate(fd, 0) == 0 && pwrite(fd, text, length, 0) == (ssize_t)length
                     ? 0
                     : err_set(e, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    } else if (fd >= 0 && errno == EWOULDBLOCK) {
        ssize_t length = pread(fd, text, 32, 0);
        text[length > 0 ? length : 0] = '\0';
        err_set(e, ERR_CONFLICT, "%s is in use by another fairleadd (process %s)", s->path, text);
    } else if (fd >= 0) {
        err_set(e, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    }
    mem_free(path);
    if (result == 0)
        s->lock = fd;
    else if (fd >= 0)
        close(fd);
    return result;
}

/* Invariant 2, also for files that an earlier SQLite has left. SQLite must not have opened the files yet: closing a
 * descriptor of a file that it has open would release its locks. */
static int make_private(struct store *s, bool *out_needs_check, struct err *e)
{
    static const char *const suffixes[] = {"-wal", "-shm"};
    struct stat database, companion;
    bool was_clean = true;
    int fd = open_private(s->path, e);
    if (fd < 0) return -1;
    fstat(fd, &database);
    close(fd);
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char *path = join_text(s->path, suffixes[i]);
        if (stat(path, &companion) == 0) {
            if (i == 0 && companion.st_size > 0) was_clean = false;
            if ((companion.st_mode & 07777) != 0600) chmod(path, 0600);
        }
        mem_free(path);
    }
    *out_needs_check = !was_clean && database.st_size <= CHECK_BYTES_MAX;
    return 0;
}

/* ERR_IO with the first damage that quick_check finds. */
static int check_damage(struct store *s, struct err *e)
{
    sqlite3_stmt *check = sql_prepare(s->db, "PRAGMA quick_check(1)", e);
    if (check == NULL) return -1;
    int result = sql_step(check, e);
    const char *found = result == 1 ? sql_column_text(check, 0) : "";
    if (result == 1 && strcmp(found, "ok") != 0)
        result = err_set(
            e, ERR_IO,
            "%s: the file is damaged (%.150s); move it away and put a backup in its place, or save what can be read: "
            "sqlite3 %s .recover | sqlite3 rescued.db",
            s->path, found, s->path);
    sqlite3_finalize(check);
    return result < 0 ? -1 : 0;
}

/* The first rows: those of a fresh state, and the first decay rules in the usage journal. */
static int write_first_rows(struct store *s, int64_t now_us, struct err *e)
{
    struct state fresh;
    struct outcome first = {0};
    state_init(&fresh, now_us);
    for (uint32_t i = 0; i < fresh.assocs.count; i++) *array_add(&first.changes) = (struct change){TABLE_ASSOC, i};
    for (uint32_t i = 0; i < SETTING_COUNT; i++) *array_add(&first.changes) = (struct change){TABLE_SETTING, i};
    for (int kind = 0; kind < OBJECT_KIND_COUNT; kind++) {
        for (uint32_t i = 0; i < fresh.objects[kind].count; i++)
            *array_add(&first.changes) = (struct change){TABLE_OBJECT, object_change((enum object_kind)kind, i)};
    }
    *array_add(&first.journal) = (struct usage_journal_entry){
        now_us, USAGE_JOURNAL_HALFLIFE, 0, 0, setting_number(&fresh.settings, SET_HALFLIFE_S), NULL};
    *array_add(&first.journal) = (struct usage_journal_entry){
        now_us, USAGE_JOURNAL_OWNER_RULE, 0, 0, 0, usage_rule_format(&fresh.settings, &fresh.arena)};
    int result = commit_prepare(s, e);
    if (result == 0) result = commit_write(s, &fresh, &first, now_us, e);
    outcome_release(&first);
    state_release(&fresh);
    return result;
}

/* Invariant 4. Foreign keys are off, because a step may have to rebuild a table that others refer to. */
static int upgrade(struct store *s, uint32_t from, int64_t now_us, struct err *e)
{
    if (sql_run(s->db, "PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE", e) != 0) return -1;
    if (schema_upgrade(s->db, schema_steps, from, schema_version, e) != 0 ||
        (from == 0 && write_first_rows(s, now_us, e) != 0) || sql_run(s->db, "COMMIT", e) != 0) {
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
        return -1;
    }
    return sql_run(s->db, "PRAGMA foreign_keys = ON", e);
}

static int set_write_ahead_log(struct store *s, struct err *e)
{
    sqlite3_stmt *mode = sql_prepare(s->db, "PRAGMA journal_mode = WAL", e);
    if (mode == NULL) return -1;
    int result = sql_step(mode, e);
    if (result == 1 && strcmp(sql_column_text(mode, 0), "wal") != 0)
        result =
            err_set(e, ERR_IO, "%s: this file system does not support a write-ahead log (the journal mode stays %s)",
                    s->path, sql_column_text(mode, 0));
    sqlite3_finalize(mode);
    if (result < 0) return -1;
    return sql_run(s->db, "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864", e);
}

static int connect_writer(struct store *s, struct err *e)
{
    if (sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return sql_fail(s->db, "opening", e);
    return schema_prepare_connection(s->db, e);
}

static int remember_file(struct store *s, struct err *e)
{
    struct stat st;
    if (stat(s->path, &st) != 0) return err_set(e, ERR_IO, "%s: %s", s->path, strerrordesc_np(errno));
    s->device = st.st_dev;
    s->inode = st.st_ino;
    return 0;
}

static int open_database(struct store *s, int64_t now_us, struct err *e)
{
    bool needs_check;
    uint32_t version;
    int64_t commit_number, is_pretend;
    if (make_private(s, &needs_check, e) != 0 || filesystem_check_local(s->path, e) != 0) return -1;
    if (connect_writer(s, e) != 0) return -1;
    if (schema_identify(s->db, schema_version, &version, e) != 0) return -1;
    if (needs_check && check_damage(s, e) != 0) return -1;
    if (set_write_ahead_log(s, e) != 0) return -1;
    if (version < schema_version && upgrade(s, version, now_us, e) != 0) return -1;
    if (s->statements[0] == NULL && commit_prepare(s, e) != 0) return -1;
    checkpoint_prepare(s);
    if (sql_number(s->db, "PRAGMA data_version", &s->data_version, e) != 0) return -1;
    if (clock_load(s, e) != 0) return -1;
    if (sql_number(s->db, "SELECT commit_number FROM counters", &commit_number, e) != 0) return -1;
    s->commit_number = (uint64_t)commit_number;
    if (sql_number(s->db, "SELECT ifnull(is_pretend, 0) FROM counters", &is_pretend, e) != 0) return -1;
    s->is_pretend = is_pretend != 0;
    if (check_file_read_id(s->db, s->instance_id, e) != 0) return -1;
    return remember_file(s, e);
}

struct store *store_open(const char *directory, int64_t now_us, struct err *e)
{
    struct stat st;
    if (stat(directory, &st) != 0) {
        err_set(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "state directory %s: %s", directory,
                strerrordesc_np(errno));
        return NULL;
    }
    if (!S_ISDIR(st.st_mode)) {
        err_set(e, ERR_INPUT, "state directory %s is not a directory", directory);
        return NULL;
    }
    if (filesystem_check_local(directory, e) != 0) return NULL;
    struct store *s = mem_resize(NULL, 0, sizeof *s);
    s->lock = -1;
    s->job_columns = job_row_columns_of(JOB_HOME_JOB);
    s->task_columns = job_row_columns_of(JOB_HOME_TASK);
    for (enum reader_part part = 0; part < PART_COUNT; part++) s->listing_columns[part] = job_reader_sql_columns(part);
    s->path = join_text(directory, "/fairlead.db");
    if (take_lock(s, e) == 0 && open_database(s, now_us, e) == 0) return s;
    store_close(s);
    return NULL;
}

void store_close(struct store *s)
{
    if (s == NULL) return;
    while (s->idle_reader_count > 0) sqlite3_close(s->idle_readers[--s->idle_reader_count]);
    for (int i = 0; i < STATEMENT_COUNT; i++) sqlite3_finalize(s->statements[i]);
    for (int k = 0; k < OBJECT_KIND_COUNT; k++) {
        sqlite3_finalize(s->move_object[k]);
        sqlite3_finalize(s->put_object[k]);
        sqlite3_finalize(s->remove_object[k]);
    }
    ensure(sqlite3_close(s->db) == SQLITE_OK);
    if (s->lock >= 0) close(s->lock);
    array_release(&s->scripts);
    array_release(&s->known_users);
    arena_release(&s->script_arena);
    array_release(&s->order);
    array_release(&s->scratch);
    arena_release(&s->row_arena);
    buf_release(&s->recovery);
    mem_free(s->path);
    mem_free(s);
}

uint64_t store_commit_number(const struct store *s)
{
    return s->commit_number;
}

void store_use_up_commit_numbers(struct store *s, uint64_t number)
{
    if (number > s->commit_number) s->commit_number = number;
}

uint64_t store_certain_number(const struct store *s)
{
    return s->certain_number;
}

const char *store_instance_id(const struct store *s)
{
    return s->instance_id;
}

bool store_is_pretend(const struct store *s)
{
    return s->is_pretend;
}

void store_set_pretend(struct store *s)
{
    s->is_pretend = true;
}

const char *store_recovery(const struct store *s, int64_t *out_at_us)
{
    *out_at_us = s->recovered_us;
    return s->recovered_us != 0 ? s->recovery.text : NULL;
}

void store_set_recovery(struct store *s, const char *text, int64_t at_us)
{
    buf_clear(&s->recovery);
    buf_add_text(&s->recovery, text);
    s->recovered_us = at_us;
}

void store_set_instance_id(struct store *s, const char *id)
{
    ensure(strlen(id) == STORE_INSTANCE_ID_SIZE - 1);
    text_format(s->instance_id, sizeof s->instance_id, "%s", id);
}
