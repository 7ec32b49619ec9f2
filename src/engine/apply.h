/* Applying one event: the context that its handler gets, the notes of the outcome, and the checks that handlers
 * share. */
#ifndef FAIRLEAD_ENGINE_APPLY_H
#define FAIRLEAD_ENGINE_APPLY_H

#include "base/quantity.h"
#include "engine/event.h"

struct apply_context {
    struct state *s;
    int64_t now_us;
    struct outcome *outcome;
    struct err *e;
    struct event_result *result; /* not NULL */
};

/* These append to the outcome. detail: in memory of the state. */
void apply_note_change(struct apply_context *c, enum change_table table, uint32_t index);
void apply_note_condition(struct apply_context *c, uint32_t job, uint32_t item);
void apply_note_usage_journal(struct apply_context *c, enum usage_journal_kind kind, uint32_t assoc_id, int64_t before,
                              int64_t after);
void apply_note_usage_journal_detail(struct apply_context *c, enum usage_journal_kind kind, int64_t before,
                                     int64_t after, const char *detail);
void apply_note_late_start(struct apply_context *c, const struct task *k);
void apply_note_decision(struct apply_context *c, enum decision_kind kind, const struct task *k);

/* Makes a pass due at at_us at the latest, even if no event arrives until then. */
void state_want_pass_at(struct state *s, int64_t at_us);

/* The actor in a message: "user 'ann'", cut if it is long, or "an unknown user". */
enum { APPLY_ACTOR_SIZE = 96 };
const char *apply_actor_text(const struct actor *actor, char out[APPLY_ACTOR_SIZE]);

/* ERR_DENIED unless the actor has the permission. what: an infinitive for the message, such as "add accounts". */
int apply_require(struct apply_context *c, const struct actor *actor, enum permission p, const char *what);

/* Checks a name of an account, a user or another object. what: the field, for the message. ERR_INPUT. */
int apply_check_name(const char *what, const char *name, struct err *e);

#endif
