/* One event being applied: what its handler has at hand, what it notes for the others, and the checks all of them share. */
#ifndef FAIRLEAD_ENGINE_TURN_H
#define FAIRLEAD_ENGINE_TURN_H

#include "engine/engine.h"

#define US_PER_S INT64_C(1000000)

enum { JOB_NAME_BYTES_MAX = 128, PATH_BYTES_MAX = 4096, ARRAY_TASK_MAX = 4000000 };

/* Everything one event's handler needs. */
struct turn {
    struct state *s;
    int64_t now_us;
    struct outcome *out;
    struct err *e;
    uint32_t *out_id; /* never NULL here */
};

/* Notes of what came of it. */
void note_change(struct turn *t, enum table table, uint32_t index);
void note_journal(struct turn *t, enum journal_kind kind, uint32_t assoc_id, int64_t before, int64_t after);
void note_journal_detail(struct turn *t, enum journal_kind kind, int64_t before, int64_t after,
                         const char *detail); /* in memory of the state */
void note_decision(struct turn *t, enum decision_kind kind, const struct task *k);

/* A pass is wanted then, although nothing may happen. */
void want_pass_at(struct state *s, int64_t at_us);

/* ERR_DENIED unless an operator. */
int require_operator(struct turn *t, const struct actor *actor, const char *what);

/* Whether a text may be the name of an account or user: ERR_INPUT says what is wrong with it. */
int check_name(const char *what, const char *name, struct err *e);

#endif
