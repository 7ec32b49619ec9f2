/* The schema as numbered steps, and the settings of every connection. */
#ifndef FAIRLEAD_STORE_SCHEMA_H
#define FAIRLEAD_STORE_SCHEMA_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* PRAGMA application_id of fairlead.db: "Flea". */
enum { SCHEMA_APPLICATION_ID = 0x466c6561 };

/* How long a connection waits for a lock: short, because the loop waits, too. Only a person with sqlite3 takes one. */
enum { SCHEMA_LOCK_TIMEOUT_MS = 100 };

/* Step i (from 0) migrates a database from version i to version i + 1. */
extern const char *const schema_steps[];
extern const uint32_t schema_version;
extern const char schema_first[]; /* the first step */

/* The file's version; 0 for a new file. ERR_IO: damaged, or not a database of Fairlead's; ERR_CONFLICT: a version above
 * newest. Writes nothing. */
int schema_identify(sqlite3 *db, uint32_t newest, uint32_t *out_version, struct err *e);

/* Migrates from one version to another, inside an open transaction with foreign keys off. ERR_INTERNAL when a foreign
 * key refers to nothing afterwards. */
int schema_upgrade(sqlite3 *db, const char *const *steps, uint32_t from, uint32_t to, struct err *e);

/* Sets a connection's safety pragmas and its time-out for locks (100 ms). */
int schema_prepare_connection(sqlite3 *db, struct err *e);

#endif
