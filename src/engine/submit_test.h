/* A submission that is only tried (submit --test-only): the same checks as of EVENT_SUBMIT, then a waiting job that is
 * in the state for as long as the caller looks at plans, and nowhere else: no id is used, nothing is noted or stored.
 *
 *     submit_test_begin(&t, s, now_us, event, e)      the job is the last row
 *     schedule_make(...), wait_answer_make(...)
 *     submit_test_end(&t) */
#ifndef FAIRLEAD_ENGINE_SUBMIT_TEST_H
#define FAIRLEAD_ENGINE_SUBMIT_TEST_H

#include "engine/event.h"

struct submit_test {
    struct state *s;
    uint32_t job;             /* its index */
    uint32_t added_resources; /* rows of standard resources that it requests first */
    uint64_t list_position;   /* of the next job, before */
    bool pass_was_due;
    bool has_own_assoc; /* its user has none yet; one like that of a real submission is there meanwhile */
    int64_t now_us;
};

/* event: with the facts about ended jobs (event->ends) that a submission gets. Errors are those of the event; then
 * nothing is there, and submit_test_end must not be called. No event may be applied before submit_test_end.
 * O(associations) for a user without one. */
int submit_test_begin(struct submit_test *t, struct state *s, int64_t now_us, const struct event *event, struct err *e);
void submit_test_end(struct submit_test *t);

/* Whether the event would be accepted now; errors are those of the event. Nothing is changed. */
int submit_test_check(struct state *s, int64_t now_us, const struct event *event, struct err *e);

#endif
