/* The schema as numbered steps, and the pragmas that every connection wants. */
#ifndef FAIRLEAD_STORE_SCHEMA_H
#define FAIRLEAD_STORE_SCHEMA_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* What "fairlead.db" carries as PRAGMA application_id: "Flea". */
enum { SCHEMA_APPLICATION_ID = 0x466c6561 };

/* Step i (from 0) takes a database from version i to version i + 1. */
extern const char *const schema_steps[];
extern const uint32_t schema_version;

/* What is in the file: 0 for a new one, else its version. ERR_IO: damaged, or not a database of ours; ERR_CONFLICT: newer
 * than newest. Writes nothing. */
int schema_identify(sqlite3 *db, uint32_t newest, uint32_t *out_version, struct err *e);

/* Applies the steps from version from on, inside the transaction that is open. */
int schema_upgrade(sqlite3 *db, const char *const *steps, uint32_t from, uint32_t to, struct err *e);

/* Sets up a connection: what it trusts, how long it waits for others. */
int schema_prepare_connection(sqlite3 *db, struct err *e);

#endif
