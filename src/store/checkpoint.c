/* Checkpoints: all pages of the write-ahead log are written into the database file, and the log is reset.
 *
 * SQLite's own checkpoints leave the log as it is until a later commit overwrites its begin. Until then a damaged page
 * of the log would hide all commits behind it, although they are in the file, and pages of both would be mixed. So the
 * checkpoint here is followed by a small commit at once, which makes every older page of the log void. */
#include "store/internal.h"

enum { CHECKPOINT_PAGES = 1000, RETRY_PAGES = 250 }; /* SQLite's default; while another program reads, later again */

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

void checkpoint_if_due(struct store *s)
{
    if (s->log_pages < s->checkpoint_pages) return;
    s->checkpoint_pages = store_checkpoint(s) ? CHECKPOINT_PAGES : s->log_pages + RETRY_PAGES;
}
