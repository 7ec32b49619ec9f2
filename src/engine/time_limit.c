#include "engine/time_limit.h"

#include "base/ensure.h"
#include "engine/limit_counts.h"
#include "engine/live_cluster.h"

void time_limit_send(struct apply_context *c, const struct task *k)
{
    uint32_t job = state_find_job(c->s, k->job_id);
    ensure(job != NONE);
    *array_add(&c->outcome->decisions) =
        (struct decision){.kind = DECIDE_TIME_LIMIT,
                          .launch_id = k->launch_id,
                          .job_id = k->job_id,
                          .task_id = k->task_id,
                          .time_limit_s = task_time_limit_s(&c->s->jobs.items[job], k)};
}

bool time_limit_restore(struct apply_context *c, uint32_t job_index)
{
    struct state *s = c->s;
    const struct job *j = &s->jobs.items[job_index];
    bool is_changed = false;
    for (uint32_t i = 0; i < s->tasks.count && j->live_tasks > 0; i++) {
        struct task *k = &s->tasks.items[i];
        if (k->job_id != j->id || job_state_is_end(k->state) || k->granted_time_s == 0) continue;
        k->granted_time_s = 0;
        is_changed = true;
        apply_note_change(c, TABLE_TASK, i);
    }
    return is_changed;
}

void time_limit_changed(struct apply_context *c, uint32_t job_index)
{
    struct state *s = c->s;
    const struct job *j = &s->jobs.items[job_index];
    for (uint32_t i = 0; i < s->tasks.count && j->live_tasks > 0; i++) {
        const struct task *k = &s->tasks.items[i];
        if (k->job_id != j->id || job_state_is_end(k->state)) continue;
        limit_counts_touch_task(s, k->launch_id);
        live_cluster_rebook(s, k, c->now_us);
        time_limit_send(c, k);
    }
}
