/* Priorities of live jobs, for tests that compare them with values computed by hand, recorded, or from calls of the
 * policies. */
#ifndef FAIRLEAD_TESTS_PRIORITIES_WORLD_H
#define FAIRLEAD_TESTS_PRIORITIES_WORLD_H

#include "policy_world.h"

#include <math.h>

#include "engine/priorities.h"
#include "engine/ranking.h"

/* A world with a job that has all CPUs, so that all others wait. */
static inline uint32_t init_full(struct world *w)
{
    world_init(w, 16, 65536, 4);
    struct event blocker = world_job("zoe");
    blocker.submit = job_with(blocker.submit, "cpus=16");
    uint32_t id = world_take(w, blocker);
    assert_int_equal(world_pass(w), 1);
    return id;
}

static struct arena arena;

static inline struct priorities list(struct world *w, uint32_t job_id)
{
    struct priorities all;
    arena_clear(&arena);
    state_priorities(&w->s, w->now_us, job_id, &arena, &all);
    return all;
}

/* The job's n-th row. */
static inline struct priority_row row_of(struct world *w, uint32_t job_id, uint32_t n)
{
    struct priorities all = list(w, NONE);
    for (uint32_t i = 0; i < all.count; i++) {
        if (w->s.jobs.items[all.rows[i].job].id == job_id && n-- == 0) return all.rows[i];
    }
    fail_msg("job %u has no such row", job_id);
    return (struct priority_row){0};
}

static inline void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * (1 + fabs(expected)))) fail_msg("%.17g instead of %.17g", value, expected);
}

static inline void set_shares(struct world *w, const char *account, uint32_t account_shares, const char *user,
                              uint32_t shares)
{
    if (state_find_assoc(&w->s, account, NULL) == NONE) {
        struct event add = {.kind = EVENT_ACCOUNT_ADD, .account = {account, NULL, account_shares, PRIORITY_UNSET}};
        assert_int_equal(world_apply(w, add, NULL), 0);
    }
    if (user == NULL) return;
    struct event add = {.kind = EVENT_USER_ADD, .user = {user, account, shares, false, PRIORITY_UNSET}};
    assert_int_equal(world_apply(w, add, NULL), 0);
}

/* Sets the current usage of a user ("": of the project) in a project ("": in none). */
static inline void set_usage(struct world *w, const char *user, const char *project, double cpu_s)
{
    for (uint32_t i = 0; i < w->s.owners.count; i++) {
        struct usage_owner *o = &w->s.owners.items[i];
        if (strcmp(o->user, user) != 0 || strcmp(o->project, project) != 0) continue;
        o->usage = (struct ticket_usage){.used = {[USAGE_CPU] = cpu_s}};
        o->at_us = w->now_us;
        return;
    }
    fail_msg("no usage owner '%s' in '%s'", user, project);
}

static inline uint32_t submit_in(struct world *w, const char *user, const char *project)
{
    struct event job = world_job(user);
    job.submit = job_with(job.submit, "project=%s", project);
    return world_take(w, job);
}

static inline void set_user(struct world *w, const char *name, const char *account, uint32_t priority)
{
    struct event event = {.kind = EVENT_USER_ADD, .user = {name, account, 1, false, priority}};
    assert_int_equal(world_apply(w, event, NULL), 0);
}

static inline int release_arena(void **unused)
{
    (void)unused;
    arena_release(&arena);
    return 0;
}

#endif
