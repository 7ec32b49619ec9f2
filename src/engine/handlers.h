/* The handlers of events, and the functions that they share. They work on rows (state_rows.h) and on the context of the
 * event (apply.h). Internal to the engine. */
#ifndef FAIRLEAD_ENGINE_HANDLERS_H
#define FAIRLEAD_ENGINE_HANDLERS_H

#include "engine/apply.h"
#include "engine/state_rows.h"
#include "fields/job_id.h"

#define DEFAULT_ACCOUNT "default" /* created with its first user */

/* The handlers, one for each kind of event. They return 0, or -1 with *e and change nothing. */
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
int apply_requeue(struct apply_context *c, const struct event *event);
int apply_suspend(struct apply_context *c, const struct event *event);
int apply_resume(struct apply_context *c, const struct event *event);
int apply_signal(struct apply_context *c, const struct event *event);
int apply_update(struct apply_context *c, const struct event *event);
int apply_host(struct apply_context *c, const struct event *event);
int apply_hosts(struct apply_context *c, const struct event *event);
int apply_load(struct apply_context *c, const struct event *event);
int apply_calendars(struct apply_context *c, const struct event *event);
int apply_started(struct apply_context *c, const struct event *event);
int apply_completing(struct apply_context *c, const struct event *event);
int apply_ended(struct apply_context *c, const struct event *event);
int apply_measured(struct apply_context *c, const struct event *event);
int apply_synced(struct apply_context *c, const struct event *event);
int apply_recovery(struct apply_context *c, const struct event *event);
int apply_quarantine(struct apply_context *c, const struct event *event);
int apply_reset(struct apply_context *c, const struct event *event);
int apply_usage_rows(struct apply_context *c, const struct event *event);
int apply_time(struct apply_context *c, const struct event *event);

/* --- objects ------------------------------------------------------------------------------------------------------ */

/* Finds an object that is not deleted. ERR_NOT_FOUND. O(1). */
int object_find(const struct state *s, enum object_kind kind, struct str name, uint32_t *out_index, struct err *e);

/* Adds an object, computes its derived members, and notes the change. Returns its index. The fields are valid. */
uint32_t object_create(struct apply_context *c, enum object_kind kind, const struct object *o);

/* Computes the derived members of one object, or of all, from their fields and the policy. ERR_INPUT: a field is
 * invalid. */
int object_derive(struct state *s, enum object_kind kind, uint32_t index, struct err *e);
int object_derive_all(struct state *s, struct err *e);

/* --- associations ------------------------------------------------------------------------------------------------- */

/* Whether a user without any association can get one in DEFAULT_ACCOUNT, which is added with its first user. ERR_INPUT,
 * ERR_TOO_LARGE. */
int assoc_check_new_user(struct apply_context *c, const char *user);

/* The refusal of a user that is not in an account; partition NULL: in none of its partitions. ERR_NOT_FOUND. */
int assoc_fail_not_in(struct apply_context *c, const char *user, const char *account, const char *partition);

/* Adds it, after the check. Returns its index. */
uint32_t assoc_add_new_user(struct apply_context *c, const char *user);

/* --- charges (charge.c) ------------------------------------------------------------------------------------------- */

/* Charges a task from charged_us to to_us, and sets charged_us. charge_finished: up to end_us, and counts a finished
 * job. */
void charge_task(struct apply_context *c, struct task *k, int64_t to_us);
void charge_finished(struct apply_context *c, struct task *k);

/* To be called before a rule of decay changes: charges running tasks up to now, and converts stored usage. no_decay:
 * the new value of the flag NoDecay. O(tasks), and O(associations) for a half-life of less than a day or none,
 * O(owners) for the rule of owners. */
void charge_change_halflife(struct apply_context *c, int64_t halflife_s);
void charge_change_owner_rule(struct apply_context *c, const struct settings *wanted);
void charge_change_qos_decay(struct apply_context *c, uint32_t qos, bool no_decay);

/* Decays the usage of an owner from o->at_us to at_us; nothing if that is not later. */
void usage_owner_decay(const struct ticket_decay *d, struct usage_owner *o, int64_t at_us);

/* The CPUs and GiB that a task has reserved. With SHARETREE_RESERVED_USAGE all of them count as used, every second. */
struct ticket_usage charge_reserved_rates(const struct task *k);

/* Adds usage of at_us to an owner. If the owner's own time is later, the amounts decay up to it. */
void usage_owner_add(const struct ticket_decay *d, struct usage_owner *o, const struct ticket_usage *amounts,
                     int64_t at_us);

/* When the owners of a task (job_usage_owners) were last reset: [0] the user; [1] the project, which a reset of the
 * user in it resets too. */
void usage_owner_resets(const struct state *s, const uint32_t owners[2], int64_t out_reset_us[2]);

/* The current usage of every owner, by index of s->owners. If reserved usage is charged, running tasks are charged up
 * to now. In memory of arena; rows do not change. O(owners + tasks). */
struct ticket_usage *usage_owner_current(struct state *s, int64_t now_us, struct arena *arena);

/* --- measured usage (measured_usage.c) ---------------------------------------------------------------------------- */

/* To be called for a task that has ended, once end_us is set. record: its end record; NULL: it is lost. */
void measured_usage_finish(struct apply_context *c, struct task *k, const struct event_record *record);

/* At the begin and at the end of a suspension that is not charged. */
void measured_usage_suspend(struct apply_context *c, struct task *k);
void measured_usage_resume(struct task *k, int64_t at_us);

/* To be called before a rule of owners changes. O(tasks). */
void measured_usage_settle(struct apply_context *c);

/* To be called after a reset of owners: what running tasks were charged before it does not count. O(tasks). */
void measured_usage_reset(struct apply_context *c);

/* --- conversions of all usage (usage_conversion.c) -----------------------------------------------------------------*/

/* Notes that the usages in memory were converted; gives it the next number. */
void usage_conversion_note(struct apply_context *c, struct usage_conversion conversion);

/* --- resets (usage_reset.c) --------------------------------------------------------------------------------------- */

/* Usage from before the reset does not count; running tasks count from the reset on. all: of every association, QOS and
 * owner. assocs: of an association and all below it. user: of the user in the share tree. object: of a QOS or a
 * project. */
void usage_reset_all(struct apply_context *c, int64_t at_us);
void usage_reset_assocs(struct apply_context *c, uint32_t assoc);
void usage_reset_user(struct apply_context *c, const char *user);
void usage_reset_object(struct apply_context *c, enum object_kind kind, uint32_t index);

/* --- jobs and tasks ----------------------------------------------------------------------------------------------- */

/* The CPU weight of a task when it starts. */
enum { CPU_WEIGHT_DEFAULT = 100 };

/* Makes a pass due that sends the weights of all tasks, because the executor may not have received earlier ones.
 * O(tasks). */
void cpu_weight_invalidate(struct state *s);

/* Ends a live task in the state end: charges it, frees its resources, notes the changes and acknowledges the launch.
 * k->end_us and the results are set before; end_us 0: now. */
void task_end(struct apply_context *c, uint32_t task_index, enum job_state end);

/* Cancels pending tasks of a job. O(ranges), and O(tasks) if others wait for single ones. */
void job_cancel_pending(struct apply_context *c, uint32_t job_index, const struct idset *tasks);

/* Ends the job if no task of it is pending or live. at_us 0: now. */
void job_end_if_done(struct apply_context *c, uint32_t job_index, int64_t at_us);

#endif
