/* Short ways to say what the policies work on, for tests of the pass and of priorities. */
#ifndef FAIRLEAD_TESTS_POLICY_WORLD_H
#define FAIRLEAD_TESTS_POLICY_WORLD_H

#include "engine_world.h"

#include <stdio.h>

enum { PAIRS_MAX = 8, TEXT_MAX = 300 };

/* "KEY=VALUE KEY=VALUE" as the pairs of an event; text is cut in place. */
static inline uint32_t world_pairs(char *text, struct event_pair pairs[PAIRS_MAX])
{
    uint32_t count = 0;
    for (char *rest, *item = strtok_r(text, " ", &rest); item != NULL; item = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(item, '=');
        assert_true(value != NULL && count < PAIRS_MAX);
        *value = '\0';
        pairs[count++] = (struct event_pair){item, value + 1};
    }
    return count;
}

/* "PriorityType=priority/basic PriorityWeightAge=10". */
static inline void world_settings(struct world *w, const char *settings)
{
    char text[TEXT_MAX];
    struct event_pair pairs[PAIRS_MAX];
    snprintf(text, sizeof text, "%s", settings);
    uint32_t count = world_pairs(text, pairs);
    if (world_apply(w, (struct event){.kind = EVENT_SETTINGS, .settings = {pairs, count}}, NULL) != 0)
        fail_msg("%s: %s", settings, ERR_SENTENCE(&w->e));
}

/* A submission by an operator, of one CPU, in the user's default account. */
static inline struct event world_job(const char *user)
{
    struct event event = world_submission(user, NULL, 1);
    event.actor.role = ROLE_ADMINISTRATOR;
    return event;
}

static inline uint32_t world_take(struct world *w, struct event submission)
{
    uint32_t id = 0;
    if (world_apply(w, submission, &id) != 0) fail_msg("submit: %s", ERR_SENTENCE(&w->e));
    return id;
}

/* A task runs from now on. */
static inline void world_run(struct world *w, uint32_t job_id, uint32_t task_id)
{
    const struct task *k = world_task(w, job_id, task_id);
    assert_non_null(k);
    world_started(w, k->launch_id);
}

static inline void world_end(struct world *w, uint32_t job_id, uint32_t task_id)
{
    const struct task *k = world_task(w, job_id, task_id);
    assert_non_null(k);
    world_ended(w, k->launch_id, JOB_COMPLETED, k->start_us != 0 ? k->start_us : w->now_us);
}

/* A pass, and the ids of the jobs that it started, in order: "3 5 5". */
static inline const char *world_starts(struct world *w)
{
    static char text[TEXT_MAX];
    size_t length = 0;
    world_pass(w);
    text[0] = '\0';
    for (uint32_t i = 0; i < w->out.decisions.count; i++) {
        const struct decision *d = &w->out.decisions.items[i];
        if (d->kind != DECIDE_START) continue;
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%u", length > 0 ? " " : "", d->job_id);
        assert_true(length < sizeof text);
    }
    return text;
}

#endif
