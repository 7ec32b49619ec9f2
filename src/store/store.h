/* The store: the engine's rows in one SQLite database, DIR/fairlead.db. What is in it is the truth; the engine's memory is
 * rebuilt from it at every start. One transaction per turn of the loop; after store_commit returned 0, the turn survives
 * kill -9 and power loss (WAL, synchronous=FULL).
 *
 * The schema is for people, too: docs/schema.md. */
#ifndef FAIRLEAD_STORE_STORE_H
#define FAIRLEAD_STORE_STORE_H

#include "engine/engine.h"
#include "engine/job_query.h"

struct store;

/* What a job runs: no business of the engine's. script empty: arguments[0] is the program. Arguments and environment have
 * no zero bytes inside (a wire that lets them through is our own mistake). */
struct job_script {
    struct str script;
    const char *script_name; /* what the user called it; "" for a command */
    struct str *arguments;
    uint32_t argument_count;
    struct str *environment; /* NAME=value */
    uint32_t environment_count;
};

/* Opens DIR/fairlead.db, mode 0600, in a directory that is there; makes it (and its first rows: root, standard settings,
 * the first half-life in the journal) when there is none, migrates an older one forward. NULL with *e, and the file as it
 * was: ERR_NOT_FOUND no such directory; ERR_INPUT not a directory, or on a network file system (with what to use instead);
 * ERR_CONFLICT a newer version (both are named), or another process has it open (which is named); ERR_IO damaged, not ours,
 * cannot be read or written. */
struct store *store_open(const char *directory, int64_t now_us, struct err *e);
void store_close(struct store *s);

/* Fills a fresh state (state_init done) with every row that has not ended. After -1 the state is good for state_release
 * only. Takes up what others have written meanwhile: commits are possible again after ERR_CONFLICT. */
int store_load(struct store *s, struct state *out_state, struct err *e);

/* Remembers a submitted job's script for the commit of this turn (the job's row is among its changes). Copies. */
void store_add_script(struct store *s, uint32_t job_id, const struct job_script *script);

/* Forgets the scripts added since the last commit: the turn failed. */
void store_abandon(struct store *s);

/* Writes every changed row, the journal and the added scripts in one transaction; 0 when it is durable. A turn without any
 * of these writes nothing; a change of TABLE_COUNTERS alone is a sign of life (store_last_commit_us).
 * -1: nothing of the turn is in the database, also not after a crash; the state is then ahead of it and has to be loaded
 * anew. ERR_UNAVAILABLE: the disk is full, or another program has locked the database for over two seconds; ERR_CONFLICT:
 * another program has changed it; ERR_IO. The scripts stay until store_abandon. */
int store_commit(struct store *s, const struct state *state, const struct outcome *outcome, int64_t now_us,
                 struct err *e);

/* A committed job's script, in memory of arena; ERR_NOT_FOUND when there is none. */
int store_script(struct store *s, uint32_t job_id, struct arena *arena, struct job_script *out_script, struct err *e);

/* When something was last committed: until then at least, this daemon ran. */
int64_t store_last_commit_us(const struct store *s);

/* Listings, each from a snapshot of its own (a reading connection); see engine/job_query.h. Good until store_close. */
struct job_reader store_job_reader(struct store *s);

/* The usage of every association, in all and by TRES, of every QOS, and of every owner by resource, computed again from the
 * job records and the journal, against what is stored: deleted associations should have 0. An owner with usage from before
 * the journal said how that fades (schema version 1) is passed over. Own connection that only reads, so it may run beside the
 * loop in another thread, or without a daemon. Names are in memory of arena; the caller releases the differences. About
 * 0.8 us a task. */
struct verify_difference {
    uint32_t assoc_id;          /* 0: of a QOS or an owner */
    const char *account, *user; /* user NULL: an account */
    const char *qos;            /* NULL: of an association or an owner */
    const char *project;        /* of an owner (account and qos NULL); NULL: outside of projects. user NULL: its own */
    const char *tres;           /* in units of it x seconds, of an owner its resource; NULL: billing-seconds */
    double stored, recomputed;  /* as they stand at the reference */
};
struct verify_report {
    uint32_t assoc_count, qos_count, owner_count; /* owner_count: without those passed over */
    uint64_t task_count;
    ARRAY(struct verify_difference) differences; /* beyond 1e-9 relative and 1e-6 billing-seconds */
};
int store_verify(const char *directory, struct arena *arena, struct verify_report *out_report, struct err *e);

#endif
