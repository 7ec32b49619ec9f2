/* States for benchmarks of the engine: users in accounts of a hundred, and their jobs. */
#ifndef FAIRLEAD_BENCH_ENGINE_WORLD_H
#define FAIRLEAD_BENCH_ENGINE_WORLD_H

#include <stdio.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "engine/handlers.h"
#include "engine/placements.h"

enum { USERS_PER_ACCOUNT = 100 };

static const int64_t NOW_US = INT64_C(1700000000000000);

/* Applies an event, of root unless it has an actor. An error ends the program. */
static inline void bench_apply(struct state *s, struct outcome *out, int64_t now_us, struct event event)
{
    struct err e;
    outcome_clear(out);
    if (event.actor.user == NULL) event.actor = (struct actor){0, 0, "root", ROLE_ADMINISTRATOR};
    if (engine_apply(s, now_us, &event, out, NULL, &e) == 0) return;
    fprintf(stderr, "event %d: %s\n", event.kind, ERR_SENTENCE(&e));
    exit(1);
}

static inline void bench_set(struct state *s, struct outcome *out, int64_t now_us, const char *key, const char *value)
{
    const struct event_pair pair = {key, value};
    bench_apply(s, out, now_us, (struct event){.kind = EVENT_SETTINGS, .settings = {&pair, 1}});
}

/* The host of the state, n1 and so on, count in all, each of that size and attached. They are added to the tables at
 * once: as events, each would be checked with all hosts. */
static inline void bench_add_hosts(struct state *s, uint32_t count, struct capacity size)
{
    for (uint32_t i = 1; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "n%u", i);
        const struct object host = object_defaults(OBJECT_HOST, name);
        object_row_add(s, OBJECT_HOST, &host, NOW_US);
    }
    placements_rebuild(s);
    for (uint32_t i = 0; i < count; i++) {
        s->hosts.items[i].is_attached = true;
        s->hosts.items[i].detected = size;
    }
    placements_rebuild(s);
}

/* user0 in account0 and so on, with different shares and usages. */
static inline void bench_add_users(struct state *s, uint32_t count)
{
    uint32_t account = NONE;
    for (uint32_t i = 0; i < count; i++) {
        char name[32], account_name[32];
        snprintf(name, sizeof name, "user%u", i);
        snprintf(account_name, sizeof account_name, "account%u", i / USERS_PER_ACCOUNT);
        struct assoc row = {
            .parent = 0, .account = account_name, .shares = i % 50 + 1, .priority = NONE, .created_us = NOW_US};
        if (i % USERS_PER_ACCOUNT == 0) account = assoc_append(s, &row);
        row.parent = account;
        row.user = name;
        row.usage = (double)(i * UINT64_C(7919) % 100003) / 3.0;
        assoc_append(s, &row);
    }
}

/* A submission, which points into itself. */
struct bench_job {
    struct job_values values;
    char user[32], account[32];
};

static inline void bench_job_give(struct bench_job *j, enum job_field f, struct field_value value)
{
    j->values.value[f] = value;
    j->values.is_given[f] = true;
}

static inline void bench_job_make(struct bench_job *j, uint32_t user, uint32_t cpus, int64_t mem_mib)
{
    *j = (struct bench_job){0};
    snprintf(j->user, sizeof j->user, "user%u", user);
    snprintf(j->account, sizeof j->account, "account%u", user / USERS_PER_ACCOUNT);
    bench_job_give(j, JOB_FIELD_ACCOUNT, field_text(j->account));
    bench_job_give(j, JOB_FIELD_NAME, field_text("job"));
    bench_job_give(j, JOB_FIELD_DIRECTORY, field_text("/tmp"));
    bench_job_give(j, JOB_FIELD_COMMAND, field_text("true"));
    bench_job_give(j, JOB_FIELD_CPUS, field_number(cpus));
    bench_job_give(j, JOB_FIELD_MEM_MIB, field_number(mem_mib));
}

static inline struct event bench_job_event(const struct bench_job *j)
{
    return (struct event){.kind = EVENT_SUBMIT, .actor = {1000, 1000, j->user, ROLE_USER}, .submit = &j->values};
}

#endif
