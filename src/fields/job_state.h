/* The states of a job or task, spelled once: PENDING -> STARTING -> RUNNING -> COMPLETING -> one of the ends. A job
 * that runs can be SUSPENDED, and runs again when it is resumed. */
#ifndef FAIRLEAD_FIELDS_JOB_STATE_H
#define FAIRLEAD_FIELDS_JOB_STATE_H

#include <stdbool.h>

/* STARTING: decided and committed; the keeper has not said so yet. SUSPENDED: its processes are stopped. COMPLETING:
 * being ended. From COMPLETED on: ended. */
#define JOB_STATES(X, between)     \
    X(PENDING) between X(STARTING) \
    between X(RUNNING)             \
    between X(SUSPENDED)           \
    between X(COMPLETING)          \
    between X(COMPLETED)           \
    between X(FAILED)              \
    between X(CANCELLED)           \
    between X(TIMEOUT)             \
    between X(NODE_FAIL)           \
    between X(OUT_OF_MEMORY)       \
    between X(REQUEUED)

#define JOB_STATE_CONSTANT(name) JOB_##name,
enum job_state { JOB_STATES(JOB_STATE_CONSTANT, ) JOB_STATE_COUNT };
#undef JOB_STATE_CONSTANT

/* "PENDING,STARTING,...,REQUEUED" by enum job_state; and the same, followed by two words, which only listings have:
 * the choices of a field that holds a state. HELD is a pending job that waits for its release, where a listing tells it
 * apart. UNKNOWN is a task that has ended and whose row in the database has no state that exists: the row is
 * damaged. */
extern const char job_state_names[], job_state_choices[];

/* For options: the names, followed by Slurm's short codes in the same order, "PENDING,...,REQUEUED,PD,...,RQ"; the
 * index of a choice modulo JOB_STATE_COUNT is the state. */
extern const char job_state_words[];

enum { JOB_HELD = JOB_STATE_COUNT, JOB_UNKNOWN };

/* Between a state and its word, as listings and the database have it. */
const char *job_state_name(enum job_state s);         /* "PENDING"; also HELD and UNKNOWN */
enum job_state job_state_from_name(const char *name); /* JOB_STATE_COUNT: no state is called so */

static inline bool job_state_is_end(enum job_state s)
{
    return s >= JOB_COMPLETED;
}

#endif
