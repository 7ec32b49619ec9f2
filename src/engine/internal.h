/* What the files of the engine share and nobody else needs. */
#ifndef FAIRLEAD_ENGINE_INTERNAL_H
#define FAIRLEAD_ENGINE_INTERNAL_H

#include "engine/engine.h"

#define US_PER_S INT64_C(1000000)

enum { NAME_BYTES_MAX = 64, JOB_NAME_BYTES_MAX = 128, PATH_BYTES_MAX = 4096, ARRAY_TASK_MAX = 4000000 };

/* Everything one event's handler needs. */
struct turn {
    struct state *s;
    int64_t now_us;
    struct outcome *out;
    struct err *e;
    uint32_t *out_id; /* never NULL here */
};

/* Handlers, one per kind. 0, or -1 with *e and nothing changed. */
int apply_account_add(struct turn *t, const struct event *event);
int apply_account_modify(struct turn *t, const struct event *event);
int apply_account_delete(struct turn *t, const struct event *event);
int apply_user_add(struct turn *t, const struct event *event);
int apply_user_modify(struct turn *t, const struct event *event);
int apply_user_delete(struct turn *t, const struct event *event);
int apply_settings(struct turn *t, const struct event *event);
int apply_object_add(struct turn *t, const struct event *event);
int apply_object_modify(struct turn *t, const struct event *event);
int apply_object_delete(struct turn *t, const struct event *event);
int apply_submit(struct turn *t, const struct event *event);
int apply_cancel(struct turn *t, const struct event *event);
int apply_hold(struct turn *t, const struct event *event);
int apply_release(struct turn *t, const struct event *event);
int apply_update(struct turn *t, const struct event *event);
int apply_host(struct turn *t, const struct event *event);
int apply_started(struct turn *t, const struct event *event);
int apply_completing(struct turn *t, const struct event *event);
int apply_ended(struct turn *t, const struct event *event);
int apply_synced(struct turn *t, const struct event *event);
int apply_time(struct turn *t, const struct event *event);

/* Notes of what came of it. */
void note_change(struct turn *t, enum table table, uint32_t index);
void note_journal(struct turn *t, enum journal_kind kind, uint32_t assoc_id, int64_t before, int64_t after);
void note_decision(struct turn *t, enum decision_kind kind, const struct task *k);

/* Rows. The appending ones copy text, and give an association its id. */
uint32_t assoc_append(struct state *s, const struct assoc *row);
void assoc_index_name(struct state *s, uint32_t index);
void assoc_forget_name(struct state *s, uint32_t index);
uint32_t job_append(struct state *s, const struct job *row);
uint32_t task_append(struct state *s, const struct task *row);

/* The user's association of a submission, made where the user has none at all (account "default"). */
int assoc_for_submission(struct turn *t, const struct actor *actor, const char *account, uint32_t *out_assoc);

/* Usage. */
void charge_task(struct turn *t, struct task *k, int64_t to_us); /* from charged_us; moves charged_us up */
void change_halflife(struct turn *t, int64_t halflife_s);

/* Ends a task: charge, host, job, maps, changes, acknowledgement. k->end_us and its results are set. */
void end_task(struct turn *t, uint32_t task_index, enum job_state end);

/* The job has nothing pending and nothing live any more: it has ended. Else nothing. */
void end_job_if_done(struct turn *t, uint32_t job_index, int64_t at_us);

/* The host's capacity as found and overridden, with what runs placed on it again. */
void rebuild_host(struct state *s);

/* ERR_DENIED unless an operator. */
int require_operator(struct turn *t, const struct actor *actor, const char *what);

/* Whether a text may be the name of an account or user: ERR_INPUT says what is wrong with it. */
int check_name(const char *what, const char *name, struct err *e);

#endif
