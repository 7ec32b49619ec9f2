/* What the files of the engine share and nobody else needs. */
#ifndef FAIRLEAD_ENGINE_INTERNAL_H
#define FAIRLEAD_ENGINE_INTERNAL_H

#include "engine/engine.h"

#define US_PER_S INT64_C(1000000)

enum { NAME_BYTES_MAX = 64, JOB_NAME_BYTES_MAX = 128, PATH_BYTES_MAX = 4096, ARRAY_TASK_MAX = 4000000 };
enum { NAME_PAIR_SIZE = 2 * NAME_BYTES_MAX + 2 };

#define STANDARD_PARTITION "main"
#define STANDARD_QOS "normal"
#define STANDARD_ACCOUNT "default"             /* made when somebody gets into it */
#define DEFAULT_DEPARTMENT "defaultdepartment" /* of users who name none; it needs no row */

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
int apply_reset(struct turn *t, const struct event *event);
int apply_time(struct turn *t, const struct event *event);

/* Notes of what came of it. */
void note_change(struct turn *t, enum table table, uint32_t index);
void note_journal(struct turn *t, enum journal_kind kind, uint32_t assoc_id, int64_t before, int64_t after);
void note_journal_detail(struct turn *t, enum journal_kind kind, int64_t before, int64_t after,
                         const char *detail); /* in memory of the state */
void note_decision(struct turn *t, enum decision_kind kind, const struct task *k);

/* Rows. The appending ones copy text, and give an association its id; job_append copies partitions and requests too, sets
 * and a task's arrays are taken over. */
uint32_t assoc_append(struct state *s, const struct assoc *row);
void assoc_set_usage(struct state *s, uint32_t index, double usage); /* nobody else writes assoc.usage but restoring */
void assoc_set_default(struct state *s, uint32_t index, bool is_default);
void assoc_index_name(struct state *s, uint32_t index);
void assoc_forget_name(struct state *s, uint32_t index);
uint32_t job_append(struct state *s, const struct job *row);
uint32_t task_append(struct state *s, const struct task *row);
uint32_t object_append(struct state *s, enum object_kind kind, const struct object_row *row);
uint32_t owner_append(struct state *s, const struct owner *row);

/* The key of two names, "first<1f>second" or (second NULL) "first", in key; empty where one is too long for a name. */
struct str name_pair(char key[NAME_PAIR_SIZE], const char *first, const char *second);

/* Objects. object_add gives it its id; add_object also derives and notes it. derive_objects: what follows from fields and
 * the policy, of all that stand. */
struct object_row *object_at(struct state *s, enum object_kind kind, uint32_t index);
uint32_t first_object(const struct state *s, enum object_kind kind); /* that stands; NONE */
uint32_t object_add(struct state *s, enum object_kind kind, const struct object *object, int64_t now_us);
uint32_t add_object(struct turn *t, enum object_kind kind, const struct object *o);
int find_object(struct turn *t, enum object_kind kind, struct str name, uint32_t *out_index); /* ERR_NOT_FOUND */
int derive_object(struct state *s, enum object_kind kind, uint32_t index, struct err *e);
int derive_objects(struct state *s, struct err *e);

/* A live job more (1) or less (-1) points at its partitions, QOS, project and resources. */
void count_references(struct state *s, const struct job *j, int by);

/* An association has so much more (1) or less (-1) to do, and with it all that are above. */
void count_work(struct state *s, uint32_t assoc, const struct work *work, int by);
struct work task_work(const struct task *k); /* of one that has not ended */

/* Puts what was read of a job, in memory of anybody, in its place: name and arrays become its own, references are
 * counted. Names and arrays that are still the old ones stay. */
void job_replace(struct state *s, uint32_t index, const struct job *row);

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

/* Rows for those who pay for a job (without usage, if there are none), and their indices: the user, outside projects or in
 * the job's, and the project, or NONE. */
void ensure_owners(struct state *s, const struct job *j);
void job_owners(const struct state *s, const struct job *j, uint32_t out_owners[2]);

/* The usage of every owner, indexed like s->owners, with running tasks charged up to now; rows stay as they are. */
struct ticket_usage *owner_usage_now(struct state *s, int64_t now_us, struct arena *arena);

/* CPU weights: what a task has when it starts; and that nobody knows what the executor heard, so the next pass tells all. */
enum { WEIGHT_ORDINARY = 100 };
void forget_weights(struct state *s);

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
