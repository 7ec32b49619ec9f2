/* The store: the engine's rows in one SQLite database, DIR/fairlead.db. What is in it is the truth; the engine's memory is
 * rebuilt from it at every start. One transaction per turn of the loop; after store_commit returned 0, the turn survives
 * kill -9 and power loss (WAL, synchronous=FULL).
 *
 * The schema is for people, too: docs/schema.md. */
#ifndef FAIRLEAD_STORE_STORE_H
#define FAIRLEAD_STORE_STORE_H

#include "engine/engine.h"
#include "engine/view.h"

struct store;

/* What a job runs: no business of the engine's. script empty: arguments[0] is the program. */
struct job_script {
    struct str script;
    const char *script_name; /* what the user called it; "" for a command */
    struct str *arguments;
    uint32_t argument_count;
    struct str *environment; /* NAME=value */
    uint32_t environment_count;
};

/* Opens DIR/fairlead.db, mode 0600; makes it (and its first rows: root, standard settings) when there is none, migrates an
 * older one forward; refuses a newer one, a damaged one, and a directory on a network file system (saying what to use
 * instead). NULL: *e. */
struct store *store_open(const char *directory, int64_t now_us, struct err *e);
void store_close(struct store *s);

/* Fills a fresh state (state_init done) with every row that has not ended. */
int store_load(struct store *s, struct state *out_state, struct err *e);

/* Remembers a submitted job's script for the commit of this turn (the job's row is among its changes). Copies. */
void store_add_script(struct store *s, uint32_t job_id, const struct job_script *script);

/* Forgets the scripts added since the last commit: the turn failed. */
void store_abandon(struct store *s);

/* Writes every changed row, the journal and the added scripts in one transaction; 0 when it is durable. -1: nothing of the
 * turn is in the database (disk full, say); the state is then ahead of it and has to be loaded anew. */
int store_commit(struct store *s, const struct state *state, const struct outcome *outcome, int64_t now_us,
                 struct err *e);

/* A committed job's script, in memory of arena. */
int store_script(struct store *s, uint32_t job_id, struct arena *arena, struct job_script *out_script, struct err *e);

/* When something was last committed: until then at least, this daemon ran. */
int64_t store_last_commit_us(const struct store *s);

/* Listings, each from a snapshot of its own (a reading connection); see engine/view.h. Good until store_close. */
struct job_reader store_job_reader(struct store *s);

/* Every association's usage computed again from the job records and the journal, against what is stored. Own connection,
 * so it may run beside the loop in another thread. */
struct verify_difference {
    uint32_t assoc_id;
    const char *account, *user; /* user NULL: an account */
    double stored, recomputed;  /* as they stand at the reference */
};
struct verify_report {
    uint32_t assoc_count;
    uint64_t task_count;
    ARRAY(struct verify_difference) differences; /* beyond 1e-9 relative */
};
int store_verify(const char *directory, struct arena *arena, struct verify_report *out_report, struct err *e);

#endif
