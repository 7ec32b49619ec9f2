/* SQLite as the store uses it: preparing, binding and stepping statements, with SQLite's results as struct err. User
 * input never becomes part of a statement: values are bound. */
#ifndef FAIRLEAD_STORE_SQL_H
#define FAIRLEAD_STORE_SQL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* Sets *e from the connection's last failure and returns -1. action: what failed ("writing"), for the message, which
 * also names the file. ERR_UNAVAILABLE for a full disk and for a lock that was not released in time, else ERR_IO. */
int sql_fail(sqlite3 *db, const char *action, struct err *e);

/* Whether the last failure means that the file is damaged or not a database. */
bool sql_is_damage(sqlite3 *db);

/* Runs statements that return no rows. */
int sql_run(sqlite3 *db, const char *statements, struct err *e);

/* A prepared statement, which the caller finalizes; NULL with *e. sql_keep: for one that lives as long as the
 * connection. */
sqlite3_stmt *sql_prepare(sqlite3 *db, const char *statement, struct err *e);
sqlite3_stmt *sql_keep(sqlite3 *db, const char *statement, struct err *e);

/* 1: the statement has a row; 0: it has no more, and is reset; -1 with *e: it failed, and is reset. */
int sql_step(sqlite3_stmt *statement, struct err *e);

/* The first column of the statement's first row. ERR_INTERNAL when there is no row. */
int sql_number(sqlite3 *db, const char *statement, int64_t *out_value, struct err *e);

/* Binding, by the number of the parameter (from 1). Text and bytes have to live until the next reset. Aborts when
 * SQLite refuses a value, which only happens out of memory. */
void sql_bind_int(sqlite3_stmt *statement, int parameter, int64_t value);
void sql_bind_int_or_null(sqlite3_stmt *statement, int parameter, int64_t value);              /* 0: NULL */
void sql_bind_int_unless(sqlite3_stmt *statement, int parameter, int64_t value, int64_t none); /* none: NULL */
void sql_bind_double(sqlite3_stmt *statement, int parameter, double value);
void sql_bind_text(sqlite3_stmt *statement, int parameter, const char *text); /* NULL: NULL */
void sql_bind_str(sqlite3_stmt *statement, int parameter, struct str text);
void sql_bind_bytes(sqlite3_stmt *statement, int parameter, struct str bytes);

/* Columns of the current row. Text of NULL is "". Bytes and text are valid until the next step. */
const char *sql_column_text(sqlite3_stmt *statement, int column);
struct str sql_column_bytes(sqlite3_stmt *statement, int column);
bool sql_column_is_null(sqlite3_stmt *statement, int column);

/* A number from 0 to max; else 0, and *out_of_range is set. */
double sql_column_amount(sqlite3_stmt *statement, int column, double max, bool *out_of_range);

/* A number from min to max; else min, and *out_of_range is set. */
int64_t sql_column_ranged(sqlite3_stmt *statement, int column, int64_t min, int64_t max, bool *out_of_range);

/* A time, or 0 for NULL; else 0, and *out_of_range is set. */
int64_t sql_column_time(sqlite3_stmt *statement, int column, bool *out_of_range);

/* ERR_INTERNAL for a row that Fairlead cannot have written: names the file, the table and the row's id. Returns -1. */
int sql_bad_row(const char *path, const char *table, int64_t id, const char *reason, struct err *e);

#endif
