#include "engine/limit_end.h"

#include "engine/limit_text.h"
#include "engine/limit_usage.h"
#include "engine/suspension.h"
#include "fields/setting_text.h"

/* Which associations and QOS have reached a limit of usage that running tasks add to. */
struct used_up {
    struct state *s;
    const struct limit_table *table;
    const struct limit_counts *counts;
    int64_t now_us;
    bool *assocs, *qos; /* by index, in memory of the cycle */
    bool has_any;
};

/* --- the limits --------------------------------------------------------------------------------------------------- */

/* Whether one of its limits of usage is reached. k: its counter, with tasks. */
static bool is_used_up(const struct used_up *u, bool is_qos, uint32_t subject, const struct limit_counter *k)
{
    const struct limit_set *l = is_qos ? u->table->of_qos.items[subject] : u->table->of_assoc.items[subject];
    const struct tres_list *minutes = &l->tres[LIMIT_GRP_TRES_MINS];
    int64_t wall_s = l->count[LIMIT_GRP_WALL];
    bool is_up = wall_s != LIMIT_UNLIMITED &&
                 limit_usage_minutes(limit_usage_of(u->s, is_qos, subject, USAGE_WALL, u->now_us)) >=
                     (double)wall_s / LIMIT_MINUTE_S;
    for (uint32_t i = 0; i < minutes->count && !is_up; i++) {
        const struct tres_amount *max = &minutes->items[i];
        is_up = limit_counter_used(k, max->tres) > 0.0 &&
                limit_usage_minutes(limit_usage_of(u->s, is_qos, subject, max->tres, u->now_us)) >= max->amount;
    }
    return is_up;
}

static void find_used_up(struct used_up *u)
{
    struct state *s = u->s;
    const struct limit_table *t = u->table;
    u->assocs = arena_alloc(&s->cycle, s->assocs.count + (size_t)1);
    u->qos = arena_alloc(&s->cycle, s->objects[OBJECT_QOS].count + (size_t)1);
    for (uint32_t i = 0; i < t->timed_assocs.count; i++) {
        uint32_t assoc = t->timed_assocs.items[i];
        const struct limit_counter *k = limit_counts_of_assoc(u->counts, assoc);
        bool has_tasks = k != NULL && k->jobs > 0;
        u->has_any |= u->assocs[assoc] = has_tasks && is_used_up(u, false, assoc, k);
    }
    for (uint32_t i = 0; i < t->timed_qos.count; i++) {
        uint32_t qos = t->timed_qos.items[i];
        const struct limit_counter *k = limit_counts_of_qos(u->counts, qos);
        bool has_tasks = k != NULL && k->jobs > 0;
        u->has_any |= u->qos[qos] = has_tasks && is_used_up(u, true, qos, k);
    }
}

/* --- the tasks ---------------------------------------------------------------------------------------------------- */

/* Whether a task adds to the usage of an association or QOS that has reached its limit. */
static bool adds_to_used_up(const struct used_up *u, const struct limit_live *live)
{
    const uint32_t *group = u->table->group.items;
    bool adds = u->qos[live->qos] || (live->partition_qos != NONE && u->qos[live->partition_qos]);
    for (uint32_t a = live->assoc; a != NONE && !adds; a = u->s->assocs.items[a].parent) {
        a = group[a];
        if (a == NONE) break;
        adds = u->assocs[a];
    }
    return adds;
}

/* A QOS may have a limit of its own instead of the one that is reached. */
static bool has_to_end(const struct used_up *u, const struct limit_live *live, struct limit_hit *out_hit)
{
    const struct limit_request r = {.assoc = live->assoc,
                                    .qos = live->qos,
                                    .partition_qos = live->partition_qos,
                                    .tres = live->tres,
                                    .usage_factor = live->usage_factor};
    return limits_usage_is_up(u->s, u->counts, &r, u->now_us, out_hit);
}

static void end_task(struct apply_context *c, uint32_t task, const struct limit_hit *hit)
{
    struct task *k = &c->s->tasks.items[task];
    struct buf text = {0};
    limit_text(c->s, hit, &text);
    text_format(k->detail, sizeof k->detail, "ended by a limit: %s", text.text);
    buf_release(&text);
    suspension_end(c, k, c->now_us);
    k->is_cancelled = k->is_over_limit = true;
    k->state = JOB_COMPLETING;
    apply_note_change(c, TABLE_TASK, task);
    apply_note_decision(c, DECIDE_END, k);
}

static bool may_end(const struct task *k)
{
    return !job_state_is_end(k->state) && !k->is_cancelled && k->start_us != 0;
}

/* Goes through the running tasks from a position on. Returns where the next turn goes on; 0: all are done. */
static uint32_t end_tasks(struct apply_context *c, const struct used_up *u, uint32_t from)
{
    uint32_t ended = 0, checked = 0;
    for (uint32_t i = from; i < u->counts->live.count; i++) {
        const struct limit_live *live = &u->counts->live.items[i];
        struct limit_hit hit;
        if (live->launch_id == 0 || !adds_to_used_up(u, live)) continue;
        uint32_t task = map_get_u64(&c->s->task_by_launch, live->launch_id);
        if (task == NONE || !may_end(&c->s->tasks.items[task])) continue;
        if (ended == LIMIT_END_TASKS_MAX || checked == LIMIT_END_CHECKS_MAX) return i;
        checked++;
        if (!has_to_end(u, live, &hit)) continue;
        end_task(c, task, &hit);
        ended++;
    }
    return 0;
}

/* --- a check ------------------------------------------------------------------------------------------------------ */

static bool is_check_due(const struct state *s, int64_t now_us)
{
    return s->limits_looked_us == 0 || now_us - s->limits_looked_us >= LIMIT_END_S * US_PER_S ||
           now_us < s->limits_looked_us;
}

static void check_usage_limits(struct apply_context *c)
{
    struct state *s = c->s;
    struct used_up u = {
        .s = s, .table = limit_table_of(s), .counts = limit_counts_update(s, c->now_us), .now_us = c->now_us};
    uint32_t from = s->limits_next_live;
    if (from == 0) s->limits_looked_us = c->now_us;
    find_used_up(&u);
    s->limits_next_live = u.has_any ? end_tasks(c, &u, from) : 0;
}

void limit_end_tasks(struct apply_context *c)
{
    struct state *s = c->s;
    const struct limit_table *t = limit_table_of(s);
    bool has_limits = t->timed_assocs.count > 0 || t->timed_qos.count > 0;
    if (!has_limits || !limits_apply(s) || (s->policy.enforce & ENFORCE_SAFE) != 0) {
        s->limits_next_live = 0;
        return;
    }
    if (s->limits_next_live != 0 || is_check_due(s, c->now_us)) check_usage_limits(c);
    if (s->limits_next_live != 0) state_want_pass_at(s, c->now_us + LIMIT_END_PAUSE_MS * INT64_C(1000));
    if (s->job_by_id.count > 0) state_want_pass_at(s, s->limits_looked_us + LIMIT_END_S * US_PER_S);
}
