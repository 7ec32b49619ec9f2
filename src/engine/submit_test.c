#include "engine/submit_test.h"

#include "base/ensure.h"
#include "engine/job_edit.h"
#include "engine/job_waits.h"
#include "engine/limit_counts.h"
#include "engine/limits.h"
#include "engine/live_cluster.h"
#include "engine/requested_resources.h"

/* Names are the actor's, which outlives it. It is in no map, because nothing looks it up by name. */
static uint32_t add_assoc(struct state *s, const char *user)
{
    uint32_t parent = state_find_assoc(s, DEFAULT_ACCOUNT, NULL);
    struct assoc *a = array_add(&s->assocs);
    *a = (struct assoc){.id = s->next_assoc_id++,
                        .parent = parent != NONE ? parent : 0,
                        .account = DEFAULT_ACCOUNT,
                        .user = user,
                        .shares = 1,
                        .priority = NONE};
    s->tree_is_stale = true;
    return s->assocs.count - 1;
}

static void remove_assoc(struct state *s)
{
    s->assocs.count--;
    s->next_assoc_id--;
    s->tree_is_stale = true;
}

static void settle(struct submit_test *t)
{
    struct apply_context c = {.s = t->s, .now_us = t->now_us};
    requested_resources_settle(&c, t->added_resources, true);
    if (t->added_resources > 0) live_cluster_invalidate(t->s);
}

int submit_test_begin(struct submit_test *t, struct state *s, int64_t now_us, const struct event *event, struct err *e)
{
    struct event_result unused = {0};
    struct apply_context c = {.s = s, .now_us = now_us, .e = e, .result = &unused};
    struct job row;
    ensure(event->kind == EVENT_SUBMIT);
    arena_clear(&s->cycle);
    *t = (struct submit_test){
        .s = s, .now_us = now_us, .list_position = s->next_list_position, .pass_was_due = s->pass_is_due};
    t->added_resources = requested_resources_add(&c, event->submit);
    if (t->added_resources > 0) live_cluster_invalidate(s);
    if (submit_make_row(&c, event, &row) != 0) {
        settle(t);
        return -1;
    }
    t->has_own_assoc = row.assoc == NONE;
    if (limits_apply(s)) (void)limit_counts_update(s, now_us); /* so that nothing counts all rows with the job */
    if (t->has_own_assoc) row.assoc = add_assoc(s, event->actor.user);
    row.id = s->next_job_id;
    row.list_position = s->next_list_position;
    job_waits_find_ready(&row);
    t->job = job_append(s, &row);
    s->pass_is_due = true;
    return 0;
}

void submit_test_end(struct submit_test *t)
{
    job_remove_last(t->s);
    if (t->has_own_assoc) remove_assoc(t->s);
    t->s->next_list_position = t->list_position;
    t->s->pass_is_due = t->pass_was_due;
    settle(t);
}

int submit_test_check(struct state *s, int64_t now_us, const struct event *event, struct err *e)
{
    struct submit_test t;
    if (submit_test_begin(&t, s, now_us, event, e) != 0) return -1;
    submit_test_end(&t);
    return 0;
}
