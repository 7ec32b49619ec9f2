#include "engine/requeue.h"

#include "engine/job_waits.h"
#include "engine/min_priority.h"
#include "engine/partition_limits.h"
#include "engine/restarts.h"
#include "engine/state_rows.h"
#include "engine/task_delays.h"

static bool has_exit_status(const struct job *j, int32_t status)
{
    struct idset statuses = {0};
    bool result = false;
    if (j->text->requeue_exits == NULL || status < 0) return false;
    if (idset_parse(str(j->text->requeue_exits), UINT8_MAX, "requeue_exit", &statuses, NULL) == 0)
        result = idset_has(&statuses, (uint32_t)status);
    idset_release(&statuses);
    return result;
}

/* Whether the job asks to start again after such an end. */
static bool is_wanted(const struct job *j, const struct task *k, enum job_state end)
{
    if (end == JOB_NODE_FAIL) return j->may_requeue;
    bool has_exited =
        k->start_us != 0 && k->signal == 0 && (end == JOB_FAILED || end == JOB_COMPLETED || end == JOB_OUT_OF_MEMORY);
    return has_exited && has_exit_status(j, k->exit_status);
}

/* max 0: not reached. */
static void add_detail(struct task *k, const char *text, uint32_t max)
{
    if (k->detail[0] != '\0') return;
    if (max == 0)
        text_format(k->detail, sizeof k->detail, "%s", text);
    else
        text_format(k->detail, sizeof k->detail, "%s %u time%s, which is the maximum", text, max, max == 1 ? "" : "s");
}

static uint32_t max_of(const struct state *s, const struct job *j)
{
    return j->requeue_max != 0 ? j->requeue_max : (uint32_t)setting_number(&s->settings, SET_MAX_BATCH_REQUEUE);
}

uint32_t requeue_max_reached(const struct state *s, const struct job *j, uint32_t task_id)
{
    uint32_t max = max_of(s, j);
    return restarts_of(j, task_id) > max ? max : 0;
}

const struct idset *requeue_exceeding(const struct state *s, const struct job *j)
{
    uint32_t max = max_of(s, j);
    return j->restarted.count > max ? &j->restarted.items[max] : NULL;
}

void requeue_decide(const struct state *s, const struct job *j, struct task *k, enum job_state end)
{
    uint32_t max = max_of(s, j);
    if (k->requeue != REQUEUE_NO) {
        add_detail(k, "requeued by request", 0);
        return;
    }
    if (k->is_cancelled || !is_wanted(j, k, end)) return;
    if (k->restarts < max) {
        k->requeue = REQUEUE_YES;
        add_detail(k, "requeued", 0);
    } else {
        k->requeue = REQUEUE_HELD_BY_OPERATOR;
        add_detail(k, "held, because it was requeued", max);
    }
}

static void set_begin(struct apply_context *c, struct job *j)
{
    int64_t begin_us = c->now_us + setting_number(&c->s->settings, SET_REQUEUE_DELAY_S) * US_PER_S;
    if (begin_us > c->now_us && begin_us > j->begin_us) j->begin_us = begin_us;
}

/* A task of an array waits for itself alone. */
static void delay_task(struct apply_context *c, struct job *j, uint32_t task_id)
{
    int64_t delay_us = setting_number(&c->s->settings, SET_REQUEUE_DELAY_S) * US_PER_S;
    if (delay_us == 0) return;
    task_delays_add(c->s, j, task_id, c->now_us + delay_us);
    state_want_pass_at(c->s, c->s->next_delay_us);
}

void requeue_tasks(struct apply_context *c, uint32_t job_index, const struct idset *tasks, enum task_requeue requeue)
{
    struct job *j = &c->s->jobs.items[job_index];
    idset_add_all(&j->pending, tasks);
    assoc_count_work(c->s, j->assoc, &(struct work){.pending = idset_count(tasks)}, 1);
    for (uint32_t id = idset_first(tasks); j->is_array && id != NONE; id = idset_next(tasks, id)) delay_task(c, j, id);
    job_waits_find_ready(j);
    if (!j->is_array) {
        partition_limits_reset_time(c->s, j);
        set_begin(c, j);
        j->is_held = requeue != REQUEUE_YES;
        j->quarantine = QUARANTINE_NO;
        j->is_held_by_operator = requeue == REQUEUE_HELD_BY_OPERATOR;
        j->accrue_us = job_waits_accrual_us(j, c->now_us);
        min_priority_forget(c, job_index);
    }
    apply_note_change(c, TABLE_JOB, job_index);
}

void requeue_task(struct apply_context *c, uint32_t job_index, const struct task *k)
{
    struct idset tasks = {0};
    restarts_add(&c->s->jobs.items[job_index], k->task_id);
    idset_add(&tasks, k->task_id);
    requeue_tasks(c, job_index, &tasks, k->requeue);
    struct job *j = &c->s->jobs.items[job_index];
    if (j->is_array && k->requeue == REQUEUE_HELD_BY_OPERATOR) {
        task_delays_drop(j, &tasks);
        task_delays_hold(j, k->task_id);
        job_waits_find_ready(j);
    }
    idset_release(&tasks);
}
