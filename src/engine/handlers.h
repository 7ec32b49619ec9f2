/* The handlers of events, and what they ask of each other; on rows (rows.h) and the event at hand (apply.h). Nobody outside
 * the engine needs it. */
#ifndef FAIRLEAD_ENGINE_HANDLERS_H
#define FAIRLEAD_ENGINE_HANDLERS_H

#include "engine/apply.h"
#include "engine/state_rows.h"
#include "fields/job_id.h"

#define DEFAULT_ACCOUNT "default" /* made when somebody gets into it */

/* Handlers, one per kind. 0, or -1 with *e and nothing changed. */
int apply_account_add(struct apply_context *c, const struct event *event);
int apply_account_modify(struct apply_context *c, const struct event *event);
int apply_account_delete(struct apply_context *c, const struct event *event);
int apply_user_add(struct apply_context *c, const struct event *event);
int apply_user_modify(struct apply_context *c, const struct event *event);
int apply_user_delete(struct apply_context *c, const struct event *event);
int apply_settings(struct apply_context *c, const struct event *event);
int apply_object_add(struct apply_context *c, const struct event *event);
int apply_object_modify(struct apply_context *c, const struct event *event);
int apply_object_delete(struct apply_context *c, const struct event *event);
int apply_submit(struct apply_context *c, const struct event *event);
int apply_cancel(struct apply_context *c, const struct event *event);
int apply_hold(struct apply_context *c, const struct event *event);
int apply_release(struct apply_context *c, const struct event *event);
int apply_update(struct apply_context *c, const struct event *event);
int apply_host(struct apply_context *c, const struct event *event);
int apply_started(struct apply_context *c, const struct event *event);
int apply_completing(struct apply_context *c, const struct event *event);
int apply_ended(struct apply_context *c, const struct event *event);
int apply_synced(struct apply_context *c, const struct event *event);
int apply_reset(struct apply_context *c, const struct event *event);
int apply_time(struct apply_context *c, const struct event *event);

/* Objects that stand, by name: ERR_NOT_FOUND. object_create also derives and notes it. object_derive_all: what follows from
 * fields and the policy, of all that stand. */
int object_find(const struct state *s, enum object_kind kind, struct str name, uint32_t *out_index, struct err *e);
uint32_t object_create(struct apply_context *c, enum object_kind kind, const struct object *o);
int object_derive(struct state *s, enum object_kind kind, uint32_t index, struct err *e);
int object_derive_all(struct state *s, struct err *e);

/* The user's association of a submission, made where the user has none at all (account "default"). */
int assoc_for_submission(struct apply_context *c, const struct actor *actor, const char *account, uint32_t *out_assoc);

/* Charges a task from charged_us, and moves that up. charge_finished: its end, of one that ran. */
void charge_task(struct apply_context *c, struct task *k, int64_t to_us);
void charge_finished(struct apply_context *c, struct task *k);

/* Resets. What was used before counts no more, wherever it is kept; what runs counts from here on. usage_reset_assocs: with all
 * below it. usage_reset_user: what the share tree counts of the user. */
void usage_reset_all(struct apply_context *c, int64_t at_us);
void usage_reset_assocs(struct apply_context *c, uint32_t assoc);
void usage_reset_user(struct apply_context *c, const char *user);
void usage_reset_object(struct apply_context *c, enum object_kind kind, uint32_t index);

/* The owner's usage as it reads at at_us, if that is later than it is kept at. */
void usage_owner_decay(const struct ticket_decay *d, struct usage_owner *o, int64_t at_us);

/* Before the rule changes by which usage fades: what runs is charged up to now, and what is stored is kept right. */
void charge_change_halflife(struct apply_context *c, int64_t halflife_s);
void charge_change_owner_rule(struct apply_context *c, const struct settings *wanted);
void charge_change_qos_decay(struct apply_context *c, uint32_t qos, bool no_decay);

/* The usage of every owner, indexed like s->owners, with running tasks charged up to now; rows stay as they are. */
struct ticket_usage *usage_owner_current(struct state *s, int64_t now_us, struct arena *arena);

/* CPU weights: what a task has when it starts; and that nobody knows what the executor heard, so the next pass tells all. */
enum { CPU_WEIGHT_DEFAULT = 100 };
void cpu_weight_invalidate(struct state *s);

/* Ends a task: charge, host, job, maps, changes, acknowledgement. k->end_us and its results are set. */
void task_end(struct apply_context *c, uint32_t task_index, enum job_state end);

/* The job has nothing pending and nothing live any more: it has ended. Else nothing. */
void job_end_if_done(struct apply_context *c, uint32_t job_index, int64_t at_us);

#endif
