/* The handlers of events, and what they ask of each other; on rows (rows.h) and the event at hand (turn.h). Nobody outside
 * the engine needs it. */
#ifndef FAIRLEAD_ENGINE_INTERNAL_H
#define FAIRLEAD_ENGINE_INTERNAL_H

#include "engine/rows.h"
#include "engine/turn.h"

#define STANDARD_PARTITION "main"
#define STANDARD_QOS "normal"
#define STANDARD_ACCOUNT "default"             /* made when somebody gets into it */
#define DEFAULT_DEPARTMENT "defaultdepartment" /* of users who name none; it needs no row */

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
int apply_reset(struct turn *t, const struct event *event);
int apply_time(struct turn *t, const struct event *event);

/* Objects. find_object: ERR_NOT_FOUND. add_object also derives and notes it. derive_objects: what follows from fields and
 * the policy, of all that stand. */
int find_object(struct turn *t, enum object_kind kind, struct str name, uint32_t *out_index);
uint32_t add_object(struct turn *t, enum object_kind kind, const struct object *o);
int derive_object(struct state *s, enum object_kind kind, uint32_t index, struct err *e);
int derive_objects(struct state *s, struct err *e);

/* What the policies use of a job, into a row that has everything else, in memory of the cycle. has_started: of the job. */
int read_submission_terms(struct turn *t, const struct actor *actor, const struct event_terms *wanted, struct job *row);
int read_changed_terms(struct turn *t, const struct actor *actor, const struct event_terms *wanted, bool has_started,
                       struct job *row);

/* The largest MaxTime of its partitions, and whose; INT64_MAX: there is none. check: the time limit is within it. */
int64_t longest_time_s(const struct state *s, const struct job *row, uint32_t *out_partition);
int check_partition_time(struct turn *t, const struct job *row);

/* enforce_user: refused (true), or made at the first submission (auto). */
int check_user_named(struct turn *t, const struct actor *actor);
void name_user(struct turn *t, const struct actor *actor);

/* The user's association of a submission, made where the user has none at all (account "default"). */
int assoc_for_submission(struct turn *t, const struct actor *actor, const char *account, uint32_t *out_assoc);

/* Charges a task from charged_us, and moves that up. charge_finished: its end, of one that ran. */
void charge_task(struct turn *t, struct task *k, int64_t to_us);
void charge_finished(struct turn *t, struct task *k);

/* Resets. What was used before counts no more, wherever it is kept; what runs counts from here on. reset_assocs: with all
 * below it. reset_user: what the share tree counts of the user. */
void reset_all(struct turn *t, int64_t at_us);
void reset_assocs(struct turn *t, uint32_t assoc);
void reset_user(struct turn *t, const char *user);
void reset_object(struct turn *t, enum object_kind kind, uint32_t index);

/* The owner's usage as it reads at at_us, if that is later than it is kept at. */
void owner_fade(const struct ticket_decay *d, struct owner *o, int64_t at_us);

/* Before the rule changes by which usage fades: what runs is charged up to now, and what is stored is kept right. */
void change_halflife(struct turn *t, int64_t halflife_s);
void change_owner_rule(struct turn *t, const struct settings *wanted);
void change_qos_decay(struct turn *t, uint32_t qos, bool no_decay);

/* The usage of every owner, indexed like s->owners, with running tasks charged up to now; rows stay as they are. */
struct ticket_usage *owner_usage_now(struct state *s, int64_t now_us, struct arena *arena);

/* CPU weights: what a task has when it starts; and that nobody knows what the executor heard, so the next pass tells all. */
enum { WEIGHT_ORDINARY = 100 };
void forget_weights(struct state *s);

/* Ends a task: charge, host, job, maps, changes, acknowledgement. k->end_us and its results are set. */
void end_task(struct turn *t, uint32_t task_index, enum job_state end);

/* The job has nothing pending and nothing live any more: it has ended. Else nothing. */
void end_job_if_done(struct turn *t, uint32_t job_index, int64_t at_us);

#endif
