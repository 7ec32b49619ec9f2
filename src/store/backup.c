/* A copy of the database, as of one commit, while the daemon goes on: VACUUM INTO on a reading connection of its own.
 * The copy is one file without a log, has no free pages, and is checked by nothing but its own commit number, which is
 * read back from it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "store/internal.h"

/* SQLite writes into an empty file that exists, and keeps its mode. */
static int create_private(const char *path, struct err *e)
{
    if (unlink(path) != 0 && errno != ENOENT) return err_set(e, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return err_set(e, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    close(fd);
    return 0;
}

static int copy_into(sqlite3 *db, const char *path, struct err *e)
{
    sqlite3_stmt *vacuum = sql_prepare(db, "VACUUM INTO ?1", e);
    if (vacuum == NULL) return -1;
    sql_bind_text(vacuum, 1, path);
    int result = sql_step(vacuum, e);
    sqlite3_finalize(vacuum);
    return result;
}

static int read_number(const char *path, uint64_t *out_commit, struct err *e)
{
    int64_t number = 0;
    sqlite3 *copy = job_reader_connect(path, e);
    int result = copy != NULL ? sql_number(copy, "SELECT commit_number FROM counters", &number, e) : -1;
    sqlite3_close(copy);
    if (result == 0) *out_commit = (uint64_t)number;
    return result;
}

int store_backup(const char *directory, const char *path, uint64_t *out_commit, struct err *e)
{
    struct buf database = {0};
    buf_format(&database, "%s/fairlead.db", directory);
    int result = create_private(path, e);
    sqlite3 *db = result == 0 ? job_reader_connect(database.text, e) : NULL;
    if (db == NULL || copy_into(db, path, e) != 0 || read_number(path, out_commit, e) != 0) result = -1;
    sqlite3_close(db);
    buf_release(&database);
    if (result != 0) (void)unlink(path);
    return result;
}
