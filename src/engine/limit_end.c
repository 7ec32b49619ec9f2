#include "engine/limit_end.h"

#include "engine/limit_text.h"
#include "fields/setting_text.h"

/* Whether a task's usage has reached a limit. Its request is nothing, so only what is used counts. */
static bool is_used_up(struct state *s, const struct limit_counts *counts, const struct task *k, int64_t now_us,
                       struct limit_hit *out_hit)
{
    struct tres_amount amounts[TRES_MAX];
    struct limit_request r;
    const struct job *j = &s->jobs.items[state_find_job(s, k->job_id)];
    limits_request(s, j, k->partition, task_cpu_count(k), k->placement_count, amounts, &r);
    r.usage_factor = k->usage_factor;
    r.partition_qos = k->partition_qos;
    return limits_usage_is_up(s, counts, &r, now_us, out_hit);
}

static void end_task(struct apply_context *c, uint32_t task, const struct limit_hit *hit)
{
    struct task *k = &c->s->tasks.items[task];
    struct buf text = {0};
    limit_text(c->s, hit, &text);
    text_format(k->detail, sizeof k->detail, "ended by a limit: %s", text.text);
    buf_release(&text);
    k->is_cancelled = k->is_over_limit = true;
    k->state = JOB_COMPLETING;
    apply_note_change(c, TABLE_TASK, task);
    apply_note_decision(c, DECIDE_END, k);
}

void limit_end_tasks(struct apply_context *c)
{
    struct state *s = c->s;
    const struct limit_table *t = limit_table_of(s);
    if (!t->has_minutes || !limits_apply(s) || (s->policy.enforce & ENFORCE_SAFE) != 0) return;
    bool is_due = s->limits_looked_us == 0 || c->now_us - s->limits_looked_us >= LIMIT_END_S * US_PER_S ||
                  c->now_us < s->limits_looked_us;
    const struct limit_counts *counts = is_due ? limit_counts_update(s, c->now_us) : NULL;
    if (is_due) s->limits_looked_us = c->now_us;
    for (uint32_t i = 0; is_due && i < s->tasks.count; i++) {
        struct limit_hit hit;
        const struct task *k = &s->tasks.items[i];
        if (job_state_is_end(k->state) || k->is_cancelled || k->start_us == 0) continue;
        if (is_used_up(s, counts, k, c->now_us, &hit)) end_task(c, i, &hit);
    }
    if (s->job_by_id.count > 0) state_want_pass_at(s, s->limits_looked_us + LIMIT_END_S * US_PER_S);
}
