/* One event being applied: what its handler has at hand, what it notes for the others, and the checks all of them share. */
#ifndef FAIRLEAD_ENGINE_APPLY_H
#define FAIRLEAD_ENGINE_APPLY_H

#include "base/quantity.h"
#include "engine/event.h"

enum { ARRAY_TASK_MAX = 4000000 };

/* Everything one event's handler needs. */
struct apply_context {
    struct state *s;
    int64_t now_us;
    struct outcome *out;
    struct err *e;
    struct event_result *result; /* never NULL here */
};

/* Notes of what came of it. */
void apply_note_change(struct apply_context *c, enum change_table table, uint32_t index);
void apply_note_usage_journal(struct apply_context *c, enum usage_journal_kind kind, uint32_t assoc_id, int64_t before,
                              int64_t after);
void apply_note_usage_journal_detail(struct apply_context *c, enum usage_journal_kind kind, int64_t before,
                                     int64_t after, const char *detail); /* in memory of the state */
void apply_note_decision(struct apply_context *c, enum decision_kind kind, const struct task *k);

/* A pass is wanted then, although nothing may happen. */
void state_want_pass_at(struct state *s, int64_t at_us);

/* ERR_DENIED unless an operator. */
int apply_require_operator(struct apply_context *c, const struct actor *actor, const char *what);

/* Whether a text may be the name of an account or user: ERR_INPUT says what is wrong with it. */
int apply_check_name(const char *what, const char *name, struct err *e);

#endif
