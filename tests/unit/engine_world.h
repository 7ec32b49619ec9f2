/* A small world for tests of the engine: a state, a clock, and short functions for common events. */
#ifndef FAIRLEAD_TESTS_ENGINE_WORLD_H
#define FAIRLEAD_TESTS_ENGINE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../job_text.h"

#include "engine/engine.h"

#define SECOND INT64_C(1000000)

struct world {
    struct state s;
    struct outcome out;
    struct event_result result; /* of the last event */
    struct err e;
    int64_t now_us;
};

static const struct actor world_operator = {1000, 1000, "alice", ROLE_ADMINISTRATOR};

/* out_job_id: of a submission; may be NULL. */
static inline int world_apply(struct world *w, struct event event, uint32_t *out_job_id)
{
    if (event.actor.user == NULL) event.actor = world_operator;
    int status = engine_apply(&w->s, w->now_us, &event, &w->out, &w->result, &w->e);
    if (out_job_id != NULL) *out_job_id = status == 0 ? w->result.job_id : 0;
    return status;
}

static inline void world_init(struct world *w, uint32_t cpus, uint64_t mem_mib, uint32_t gpus)
{
    memset(w, 0, sizeof *w);
    w->now_us = INT64_C(1700000000) * SECOND;
    state_init(&w->s, w->now_us);
    assert_int_equal(world_apply(w, (struct event){.kind = EVENT_HOST, .host.has = {cpus, gpus, mem_mib}}, NULL), 0);
}

static inline void world_release(struct world *w)
{
    state_release(&w->s);
    outcome_release(&w->out);
}

static inline void world_set(struct world *w, const char *name, const char *value)
{
    const struct event_pair pair = {name, value};
    assert_int_equal(world_apply(w, (struct event){.kind = EVENT_SETTINGS, .settings = {&pair, 1}}, NULL), 0);
}

/* fields: "KEY=VALUE|KEY=VALUE", or "". */
static inline struct event world_object_event(struct world *w, enum event_kind event_kind, enum object_kind kind,
                                              const char *name, const char *fields)
{
    static struct event_pair pairs[OBJECT_FIELDS_MAX];
    uint32_t count = 0;
    struct str rest = str(fields);
    if (rest.length == 0) rest.text = NULL;
    while (rest.text != NULL) {
        struct str value, key = str_cut(str_cut(rest, '|', &rest), '=', &value);
        assert_true(count < OBJECT_FIELDS_MAX);
        pairs[count++] = (struct event_pair){arena_copy(&w->s.arena, key), arena_copy(&w->s.arena, value)};
    }
    return (struct event){.kind = event_kind, .object = {kind, name, pairs, count}};
}

/* Adds an object, or changes an existing one. */
static inline void world_object(struct world *w, enum object_kind kind, const char *name, const char *fields)
{
    bool is_new = state_find_object(&w->s, kind, name) == NONE;
    enum event_kind event_kind = is_new ? EVENT_OBJECT_ADD : EVENT_OBJECT_MODIFY;
    if (world_apply(w, world_object_event(w, event_kind, kind, name, fields), NULL) != 0)
        fail_msg("%s", ERR_SENTENCE(&w->e));
}

/* Asserts that the event is refused with this error, and changes nothing. */
static inline void world_refuses(struct world *w, struct event event, enum err_code code, const char *text)
{
    uint64_t before = state_hash(&w->s);
    outcome_clear(&w->out);
    w->e = (struct err){0};
    if (world_apply(w, event, NULL) == 0) fail_msg("accepted, where '%s' was expected", text);
    if (w->e.code != code || strstr(ERR_SENTENCE(&w->e), text) == NULL)
        fail_msg("'%s' (%d) is not '%s' (%d)", ERR_SENTENCE(&w->e), w->e.code, text, code);
    assert_int_equal(w->out.changes.count + w->out.journal.count + w->out.decisions.count, 0);
    assert_true(state_hash(&w->s) == before);
}

static inline void world_user(struct world *w, const char *account, uint32_t account_shares, const char *user)
{
    struct event add = {.kind = EVENT_ACCOUNT_ADD, .account = {account, NULL, account_shares, PRIORITY_UNSET}};
    if (state_find_assoc(&w->s, account, NULL) == NONE) assert_int_equal(world_apply(w, add, NULL), 0);
    struct event user_add = {.kind = EVENT_USER_ADD, .user = {user, account, SHARES_UNSET, false, PRIORITY_UNSET}};
    assert_int_equal(world_apply(w, user_add, NULL), 0);
}

/* account NULL: the user's default. */
static inline struct event world_submission(const char *user, const char *account, uint32_t cpus)
{
    const struct job_values *job = job_text("name=job|directory=/home/x|command=true|cpus=%u|mem_mib=1", cpus);
    if (account != NULL) job = job_with(job, "account=%s", account);
    return (struct event){.kind = EVENT_SUBMIT, .actor = {1000, 1000, user, ROLE_USER}, .submit = job};
}

/* An update by an operator. */
static inline struct event world_update(uint32_t job_id, const struct job_values *values)
{
    return (struct event){.kind = EVENT_UPDATE, .update = {.job_id = job_id, .values = values}};
}

static inline uint32_t world_submit(struct world *w, const char *user, const char *account, uint32_t cpus)
{
    uint32_t id = 0;
    assert_int_equal(world_apply(w, world_submission(user, account, cpus), &id), 0);
    return id;
}

/* Runs the pass. Returns the number of starts that it decided. */
static inline uint32_t world_pass(struct world *w)
{
    outcome_clear(&w->out);
    assert_int_equal(world_apply(w, (struct event){.kind = EVENT_TIME, .time = {"boot-1"}}, NULL), 0);
    uint32_t starts = 0;
    for (uint32_t i = 0; i < w->out.decisions.count; i++) starts += w->out.decisions.items[i].kind == DECIDE_START;
    return starts;
}

static inline const struct task *world_task(struct world *w, uint32_t job_id, uint32_t task_id)
{
    uint32_t index = state_find_task(&w->s, job_id, task_id);
    return index == NONE ? NULL : &w->s.tasks.items[index];
}

static inline void world_started(struct world *w, uint64_t launch_id)
{
    struct event event = {.kind = EVENT_STARTED,
                          .record = {.launch_id = launch_id, .at_us = w->now_us, .started_us = w->now_us}};
    assert_int_equal(world_apply(w, event, NULL), 0);
}

static inline void world_ended(struct world *w, uint64_t launch_id, enum job_state end, int64_t started_us)
{
    struct event event = {.kind = EVENT_ENDED,
                          .record = {.launch_id = launch_id, .at_us = w->now_us, .started_us = started_us, .end = end}};
    assert_int_equal(world_apply(w, event, NULL), 0);
}

#endif
