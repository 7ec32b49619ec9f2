/* A suspension splits the charge of its task: what comes before it is charged when it begins, and what comes after it
 * from its end on.
 *
 *     start ======== from ......... until ======== end        = is charged, as if they were two tasks
 *
 * Each has a row of its own, so that usage can be computed again from the records (store/usage_records.c). Whether it
 * is charged is fixed when it begins. */
#include "engine/suspension.h"

#include "base/ensure.h"
#include "base/saturate.h"
#include "engine/handlers.h"
#include "engine/live_cluster.h"
#include "engine/usage_sums.h"

static void note_row(struct apply_context *c, const struct task *k, int64_t from_us, int64_t until_us)
{
    *array_add(&c->outcome->suspensions) = (struct suspension_row){.launch_id = k->launch_id,
                                                                   .number = k->suspension_count,
                                                                   .from_us = from_us,
                                                                   .until_us = until_us,
                                                                   .is_charged = k->is_suspension_charged};
}

void suspension_begin(struct apply_context *c, uint32_t task_index, bool is_by_operator)
{
    struct task *k = &c->s->tasks.items[task_index];
    ensure(k->state == JOB_RUNNING && k->suspended_from_us == 0);
    charge_task(c, k, c->now_us);
    bool is_charged = setting_number(&c->s->settings, SET_CHARGE_SUSPENDED) != 0;
    if (!is_charged) {
        measured_usage_suspend(c, k);
        usage_sums_remove_task(c->s, k);
    }
    k->state = JOB_SUSPENDED;
    k->suspended_from_us = larger_of(c->now_us, k->charged_us);
    k->is_suspension_charged = is_charged;
    k->is_suspended_by_operator = is_by_operator;
    k->suspension_count++;
    note_row(c, k, k->suspended_from_us, 0);
    c->s->pass_is_due = true; /* the others' tickets and weights change */
    apply_note_change(c, TABLE_TASK, task_index);
}

void suspension_end(struct apply_context *c, struct task *k, int64_t at_us)
{
    int64_t from_us = k->suspended_from_us, until_us = larger_of(at_us, from_us);
    if (from_us == 0) return;
    k->suspended_us += until_us - from_us;
    k->suspended_from_us = 0;
    k->is_suspended_by_operator = false;
    k->state = JOB_RUNNING;
    note_row(c, k, from_us, until_us);
    if (!k->is_suspension_charged) {
        k->charged_us = until_us;
        measured_usage_resume(k, until_us);
        usage_sums_add_task(c->s, k);
    }
    live_cluster_rebook(c->s, k, c->now_us);
    c->s->pass_is_due = true;
}

void suspension_send(struct apply_context *c, const struct task *k)
{
    *array_add(&c->outcome->decisions) = (struct decision){.kind = DECIDE_SUSPENSION,
                                                           .launch_id = k->launch_id,
                                                           .job_id = k->job_id,
                                                           .task_id = k->task_id,
                                                           .is_suspended = k->state == JOB_SUSPENDED,
                                                           .suspended_us = k->suspended_us};
}
