/* Checkpoints: all pages of the write-ahead log are written into the database file, and the log is reset.
 *
 * SQLite's own checkpoints leave the log as it is until a later commit overwrites its begin. Until then a damaged page
 * of the log would hide all commits behind it, although they are in the file, and pages of both would be mixed. So the
 * checkpoint here is followed by a small commit at once, which makes every older page of the log void.
 *
 * Writing the pages is most of the work, and can be done in a thread, on a connection of its own, while the store
 * commits: the checkpoint afterwards writes only what was committed meanwhile. In between, some ms unless a program
 * reads, damage of the log would leave pages of both times; the check after a crash finds that. */
#include "store/internal.h"

enum {
    CHECKPOINT_PAGES = 1000, /* SQLite's default */
    RETRY_PAGES = 250,       /* while another program reads, later again */
    UNCOPIED_PAGES = 4000,   /* so many more before the store does what its caller has not done */
};

static int note_pages(void *store, sqlite3 *db, const char *name, int pages)
{
    (void)db, (void)name;
    ((struct store *)store)->log_pages = pages;
    return SQLITE_OK;
}

void checkpoint_prepare(struct store *s)
{
    s->checkpoint_pages = CHECKPOINT_PAGES;
    sqlite3_wal_hook(s->db, note_pages, s);
}

static bool reset_log(struct store *s)
{
    struct err ignored;
    if (sql_step(s->statements[BEGIN_COMMIT], &ignored) != 0) return false;
    if (sql_step(s->statements[COUNT_LOG], &ignored) == 0 && sql_step(s->statements[COMMIT_COMMIT], &ignored) == 0)
        return true;
    if (!sqlite3_get_autocommit(s->db)) sql_step(s->statements[ROLLBACK_COMMIT], &ignored);
    return false;
}

bool store_checkpoint(struct store *s)
{
    sqlite3_busy_timeout(s->db, 0); /* readers may take long, and the loop does not wait for them */
    int result = sqlite3_wal_checkpoint_v2(s->db, "main", SQLITE_CHECKPOINT_RESTART, NULL, NULL);
    sqlite3_busy_timeout(s->db, SCHEMA_LOCK_TIMEOUT_MS);
    if (result != SQLITE_OK || !reset_log(s)) return false;
    s->certain_number = s->commit_number;
    return true;
}

bool store_reset_log(struct store *s)
{
    bool is_reset = store_checkpoint(s);
    s->checkpoint_pages = is_reset ? CHECKPOINT_PAGES : s->log_pages + RETRY_PAGES;
    return is_reset;
}

void checkpoint_if_due(struct store *s)
{
    if (s->log_pages >= s->checkpoint_pages + (s->leaves_copying ? UNCOPIED_PAGES : 0)) (void)store_reset_log(s);
}

void store_leave_copying(struct store *s)
{
    s->leaves_copying = true;
}

bool store_log_is_long(const struct store *s)
{
    return s->log_pages >= s->checkpoint_pages;
}

int store_copy_log(const char *directory, struct err *e)
{
    sqlite3 *db;
    struct buf path = {0};
    buf_format(&path, "%s/fairlead.db", directory);
    int result = sqlite3_open_v2(path.text, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (result == SQLITE_OK) result = sqlite3_wal_checkpoint_v2(db, "main", SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    if (result != SQLITE_OK) sql_fail(db, "copying the log", e);
    sqlite3_close(db);
    buf_release(&path);
    return result == SQLITE_OK ? 0 : -1;
}
