/* What every file of the store says to SQLite in the same words: preparing, binding, stepping, and turning SQLite's
 * results into ours. No text that somebody typed ever becomes part of a statement: values are bound. */
#ifndef FAIRLEAD_STORE_SQL_H
#define FAIRLEAD_STORE_SQL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* What SQLite last failed with on this connection, as an error that names the file and what was being done. Disk full and
 * a lock that others held for too long are ERR_UNAVAILABLE, all else ERR_IO. Returns -1. */
int sql_fail(sqlite3 *db, const char *doing, struct err *e);

/* Whether the last failure says that the file's content is wrong: not a database, or damaged. */
bool sql_is_damage(sqlite3 *db);

/* Runs statements that give no rows. */
int sql_run(sqlite3 *db, const char *statements, struct err *e);

/* A statement, to be finalized by the caller; NULL: *e. sql_keep: one that will be used for as long as the connection. */
sqlite3_stmt *sql_prepare(sqlite3 *db, const char *statement, struct err *e);
sqlite3_stmt *sql_keep(sqlite3 *db, const char *statement, struct err *e);

/* 1: a row is there; 0: no more, and the statement is reset; -1: *e, and the statement is reset. */
int sql_step(sqlite3_stmt *statement, struct err *e);

/* The first number of the statement's first row. */
int sql_number(sqlite3 *db, const char *statement, int64_t *out_value, struct err *e);

/* Binding, by the number of the parameter. Text and bytes have to live until the next reset. Running out of memory is the
 * only thing that can go wrong, and aborts. */
void sql_bind_int(sqlite3_stmt *statement, int parameter, int64_t value);
void sql_bind_int_or_null(sqlite3_stmt *statement, int parameter, int64_t value);              /* 0: NULL */
void sql_bind_int_unless(sqlite3_stmt *statement, int parameter, int64_t value, int64_t none); /* none: NULL */
void sql_bind_double(sqlite3_stmt *statement, int parameter, double value);
void sql_bind_text(sqlite3_stmt *statement, int parameter, const char *text); /* NULL: NULL */
void sql_bind_str(sqlite3_stmt *statement, int parameter, struct str text);
void sql_bind_bytes(sqlite3_stmt *statement, int parameter, struct str bytes);

/* Columns of the row that is there. Text of NULL is ""; bytes and text are good until the next step. */
const char *sql_column_text(sqlite3_stmt *statement, int column);
struct str sql_column_bytes(sqlite3_stmt *statement, int column);
bool sql_column_is_null(sqlite3_stmt *statement, int column);

/* An amount: finite and not negative, or out_of_range is set and 0 is returned. */
double sql_column_amount(sqlite3_stmt *statement, int column, bool *out_of_range);

/* A number that has to be in a range, or out_of_range is set and the least is returned. */
int64_t sql_column_ranged(sqlite3_stmt *statement, int column, int64_t min, int64_t max, bool *out_of_range);

/* The error of a row that cannot be one of ours: the file, the table, the row's id, what is wrong. */
int sql_bad_row(const char *path, const char *table, int64_t id, const char *what, struct err *e);

#endif
