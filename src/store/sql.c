/* Only this file converts SQLite's results to struct err, so every message names the file, the action, SQLite's
 * reason and the system's.
 *
 * One thread at a time uses a connection (SQLITE_OPEN_NOMUTEX). Errors are read from the connection directly after the
 * call that failed. */
#include "store/sql.h"

#include <errno.h>
#include <string.h>

#include "base/ensure.h"
#include "fields/limits.h"

static const char *file_of(sqlite3 *db)
{
    const char *path = sqlite3_db_filename(db, "main");
    return path != NULL && path[0] != '\0' ? path : "the database";
}

bool sql_is_damage(sqlite3 *db)
{
    int code = sqlite3_errcode(db) & 0xff;
    return code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
}

/* The system's reason when SQLite could not read or write, else "". */
static const char *system_reason(sqlite3 *db, int code)
{
    int number = sqlite3_system_errno(db);
    if ((code != SQLITE_IOERR && code != SQLITE_CANTOPEN && code != SQLITE_FULL) || number == 0) return "";
    const char *text = strerrordesc_np(number);
    return text ? text : "";
}

int sql_fail(sqlite3 *db, const char *action, struct err *e)
{
    int code = sqlite3_errcode(db) & 0xff;
    ensure(code != SQLITE_NOMEM && "out of memory");
    const char *reason = system_reason(db, code);
    bool is_full = code == SQLITE_FULL ||
                   (code == SQLITE_IOERR && (sqlite3_system_errno(db) == ENOSPC || sqlite3_system_errno(db) == EDQUOT));
    if (is_full) /* reading writes, too: the first reader makes the shared memory of the write-ahead log */
        return err_set(e, ERR_UNAVAILABLE, "%s: writing: no space left on the device; free some and try again",
                       file_of(db));
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return err_set(e, ERR_UNAVAILABLE, "%s: %s: another program is writing to it (%s)", file_of(db), action,
                       sqlite3_errmsg(db));
    if (sql_is_damage(db))
        return err_set(
            e, ERR_IO,
            "%s: %s: the file is damaged (%s); move it away and put a backup in its place, or save what can be read: "
            "sqlite3 %s .recover | sqlite3 rescued.db",
            file_of(db), action, sqlite3_errmsg(db), file_of(db));
    return err_set(e, ERR_IO, "%s: %s: %s%s%s", file_of(db), action, sqlite3_errmsg(db), reason[0] ? ": " : "", reason);
}

int sql_run(sqlite3 *db, const char *statements, struct err *e)
{
    if (sqlite3_exec(db, statements, NULL, NULL, NULL) == SQLITE_OK) return 0;
    return sql_fail(db, "writing", e);
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *text, unsigned flags, struct err *e)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v3(db, text, -1, flags, &statement, NULL) == SQLITE_OK) return statement;
    sql_fail(db, "reading its tables", e);
    return NULL;
}

sqlite3_stmt *sql_prepare(sqlite3 *db, const char *statement, struct err *e)
{
    return prepare(db, statement, 0, e);
}

sqlite3_stmt *sql_keep(sqlite3 *db, const char *statement, struct err *e)
{
    return prepare(db, statement, SQLITE_PREPARE_PERSISTENT, e);
}

int sql_step(sqlite3_stmt *statement, struct err *e)
{
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) return 1;
    bool is_query = sqlite3_stmt_readonly(statement) && sqlite3_column_count(statement) > 0; /* COMMIT is read-only */
    int result = code == SQLITE_DONE ? 0 : sql_fail(sqlite3_db_handle(statement), is_query ? "reading" : "writing", e);
    sqlite3_reset(statement);
    return result;
}

int sql_number(sqlite3 *db, const char *statement, int64_t *out_value, struct err *e)
{
    sqlite3_stmt *q = sql_prepare(db, statement, e);
    if (q == NULL) return -1;
    int result = sql_step(q, e);
    if (result == 1) *out_value = sqlite3_column_int64(q, 0);
    if (result == 0) err_set(e, ERR_INTERNAL, "%s: missing row: %s", file_of(db), statement);
    sqlite3_finalize(q);
    return result == 1 ? 0 : -1;
}

void sql_bind_int(sqlite3_stmt *statement, int parameter, int64_t value)
{
    ensure(sqlite3_bind_int64(statement, parameter, value) == SQLITE_OK);
}

void sql_bind_int_or_null(sqlite3_stmt *statement, int parameter, int64_t value)
{
    sql_bind_int_unless(statement, parameter, value, 0);
}

void sql_bind_int_unless(sqlite3_stmt *statement, int parameter, int64_t value, int64_t none)
{
    if (value != none)
        sql_bind_int(statement, parameter, value);
    else
        ensure(sqlite3_bind_null(statement, parameter) == SQLITE_OK);
}

void sql_bind_double(sqlite3_stmt *statement, int parameter, double value)
{
    ensure(sqlite3_bind_double(statement, parameter, value) == SQLITE_OK);
}

void sql_bind_text(sqlite3_stmt *statement, int parameter, const char *text)
{
    ensure(sqlite3_bind_text(statement, parameter, text, -1, SQLITE_STATIC) == SQLITE_OK);
}

void sql_bind_str(sqlite3_stmt *statement, int parameter, struct str text)
{
    ensure(sqlite3_bind_text(statement, parameter, text.text, (int)text.length, SQLITE_STATIC) == SQLITE_OK);
}

/* For an empty blob the address must not be NULL: SQLite would store NULL. */
void sql_bind_bytes(sqlite3_stmt *statement, int parameter, struct str bytes)
{
    ensure(sqlite3_bind_blob64(statement, parameter, bytes.length > 0 ? bytes.text : "", bytes.length, SQLITE_STATIC) ==
           SQLITE_OK);
}

const char *sql_column_text(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text ? text : "";
}

struct str sql_column_bytes(sqlite3_stmt *statement, int column)
{
    const char *bytes = sqlite3_column_blob(statement, column);
    return (struct str){bytes, bytes ? (size_t)sqlite3_column_bytes(statement, column) : 0};
}

bool sql_column_is_null(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL;
}

double sql_column_amount(sqlite3_stmt *statement, int column, double max, bool *out_of_range)
{
    double value = sqlite3_column_double(statement, column);
    if (value >= 0.0 && value <= max) return value;
    *out_of_range = true;
    return 0.0;
}

int64_t sql_column_ranged(sqlite3_stmt *statement, int column, int64_t min, int64_t max, bool *out_of_range)
{
    int64_t value = sqlite3_column_int64(statement, column);
    if (value >= min && value <= max) return value;
    *out_of_range = true;
    return min;
}

int64_t sql_column_time(sqlite3_stmt *statement, int column, bool *out_of_range)
{
    return sql_column_ranged(statement, column, 0, (int64_t)TIME_US_MAX, out_of_range);
}

int sql_bad_row(const char *path, const char *table, int64_t id, const char *reason, struct err *e)
{
    return err_set(e, ERR_INTERNAL, "%s: %s %lld: %s", path, table, (long long)id, reason);
}
