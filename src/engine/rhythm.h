/* The rhythm of the passes: when the next one is due, as a pure function of the settings, the time of the last pass and
 * what has happened since.
 *
 *     pass_rhythm   a submission                  an end                       another change   at the latest
 *     events        at once, or batch_sched_delay at once                      at once          -
 *                   after the last pass
 *     defer         -                             at once                      at once          schedule_interval after
 *     interval      flush_submit_sec - 1 s later, flush_finish_sec - 1 s later, -               the last pass
 *                   unless it is 0                unless it is 0
 *
 * Each pass restarts the interval. Other changes are those by operators and users (hold, release, update, cancel,
 * objects, settings), of the machine and of usage periods. Times at which a pass wants another one, such as the begin
 * of a job, count with events and defer; with interval they wait for it. After the state is loaded, the first pass is
 * due at once.
 *
 * So no event is forgotten: with events it makes a pass due within batch_sched_delay, otherwise within
 * schedule_interval. Source: docs/formulas.md 7.4; Grid Engine 8.1.9, case h5_flush; Slurm's SchedulerParameters. */
#ifndef FAIRLEAD_ENGINE_RHYTHM_H
#define FAIRLEAD_ENGINE_RHYTHM_H

#include "fields/settings.h"

/* Not stored: all zero after the state is loaded. */
struct rhythm {
    int64_t last_pass_us; /* 0: none yet */
    /* What has happened since the last pass. */
    int64_t submitted_us, ended_us; /* the first submission and the first end; 0: none */
    bool has_changed;               /* something else that may let a job start */
};

/* A job was submitted; a task has ended. Only the first of each since the last pass counts. */
void rhythm_note_submission(struct rhythm *r, int64_t now_us);
void rhythm_note_end(struct rhythm *r, int64_t now_us);

/* A pass takes in what has happened. */
void rhythm_begin_pass(struct rhythm *r);

/* Forgets the last pass, so that what is due waits for no interval. */
void rhythm_restart(struct rhythm *r);

/* When the next pass is due; 1: at once; 0: never. is_due: something has happened that may let a job start. wanted_us:
 * when the last pass wants another one; 0: never. */
int64_t rhythm_due_us(const struct rhythm *r, const struct settings *settings, bool is_due, int64_t wanted_us);

#endif
