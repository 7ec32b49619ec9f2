/* What a database file is that no daemon has open, such as a backup that is to be restored. SQLite takes the file for
 * one that cannot change (immutable), so it makes no file beside it, and needs no right to write.
 *
 * Columns that a file of an older version does not have are asked for only from the version that has them. */
#include <string.h>

#include "store/internal.h"
#include "store/schema.h"

enum { VERSION_OF_ID = 18, VERSION_OF_PRETEND = 25 };

/* A path as a URI of SQLite's (sqlite.org/uri.html). */
static void add_uri(struct buf *out, const char *path)
{
    buf_add_text(out, "file:");
    for (const char *p = path; *p != '\0'; p++) {
        bool is_special = *p == '?' || *p == '#' || *p == '%';
        if (is_special)
            buf_format(out, "%%%02x", (unsigned char)*p);
        else
            buf_add_char(out, *p);
    }
    buf_add_text(out, "?immutable=1");
}

static int refuse_damage(const char *path, const char *found, struct err *e)
{
    return err_set(e, ERR_INPUT, "%s is damaged (%.150s)", path, found);
}

static int check_pages(sqlite3 *db, const char *path, struct err *e)
{
    sqlite3_stmt *check = sql_prepare(db, "PRAGMA quick_check(1)", e);
    int result = check != NULL ? sql_step(check, e) : -1;
    const char *found = result == 1 ? sql_column_text(check, 0) : "it has no result";
    if (result >= 0) result = strcmp(found, "ok") == 0 ? 0 : refuse_damage(path, found, e);
    sqlite3_finalize(check);
    return result;
}

int check_file_read_id(sqlite3 *db, char out[STORE_INSTANCE_ID_SIZE], struct err *e)
{
    sqlite3_stmt *row = sql_prepare(db, "SELECT instance_id FROM counters", e);
    int result = row != NULL ? sql_step(row, e) : -1;
    if (result == 1) text_format(out, STORE_INSTANCE_ID_SIZE, "%s", sql_column_text(row, 0));
    sqlite3_finalize(row);
    return result < 0 ? -1 : 0;
}

static int read_facts(sqlite3 *db, struct store_file *out, struct err *e)
{
    static const char by_task[] = "SELECT EXISTS(SELECT * FROM task WHERE boot_id = 'pretend')",
                      by_column[] = "SELECT ifnull(max(is_pretend), 0) FROM counters";
    int64_t is_pretend = 0;
    if (out->version >= VERSION_OF_ID && check_file_read_id(db, out->instance_id, e) != 0) return -1;
    if (sql_number(db, out->version >= VERSION_OF_PRETEND ? by_column : by_task, &is_pretend, e) != 0) return -1;
    out->is_pretend = is_pretend != 0 && out->instance_id[0] == '\0';
    return 0;
}

static int examine(sqlite3 *db, const char *path, struct store_file *out, struct err *e)
{
    if (schema_identify(db, schema_version, &out->version, e) != 0) return -1;
    if (out->version == 0) return err_set(e, ERR_INPUT, "%s has no tables", path);
    return check_pages(db, path, e) != 0 ? -1 : read_facts(db, out, e);
}

static int fail_open(sqlite3 *db, const char *path, struct err *e)
{
    int reason = db != NULL ? sqlite3_system_errno(db) : 0;
    return err_set(e, ERR_IO, "%s: %s", path, reason != 0 ? strerrordesc_np(reason) : "it cannot be opened");
}

int store_check_file(const char *path, struct store_file *out, struct err *e)
{
    struct buf uri = {0};
    struct store_file file = {0};
    sqlite3 *db = NULL;
    add_uri(&uri, path);
    const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
    int result = sqlite3_open_v2(uri.text, &db, flags, NULL) == SQLITE_OK ? 0 : fail_open(db, path, e);
    if (result == 0) result = examine(db, path, &file, e);
    if (result != 0 && db != NULL && sql_is_damage(db)) result = refuse_damage(path, sqlite3_errmsg(db), e);
    if (result == 0) *out = file;
    sqlite3_close(db);
    buf_release(&uri);
    return result;
}
