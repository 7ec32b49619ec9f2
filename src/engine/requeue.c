#include "engine/requeue.h"

#include "engine/job_waits.h"
#include "engine/min_priority.h"
#include "engine/partition_limits.h"
#include "engine/restarts.h"
#include "engine/state_rows.h"
#include "engine/task_delays.h"
#include "fields/retry_text.h"

static bool has_exit_status(const struct job *j, int32_t status)
{
    struct idset statuses = {0};
    bool result = false;
    if (job_rare(j)->requeue_exits == NULL || status < 0) return false;
    if (idset_parse(str(job_rare(j)->requeue_exits), UINT8_MAX, "requeue_exit", &statuses, NULL) == 0)
        result = idset_has(&statuses, (uint32_t)status);
    idset_release(&statuses);
    return result;
}

static bool has_ended_by_itself(const struct task *k, enum job_state end)
{
    return k->start_us != 0 && (end == JOB_FAILED || end == JOB_COMPLETED || end == JOB_OUT_OF_MEMORY);
}

/* Whether the job asks to start again after such an end. */
static bool is_wanted(const struct job *j, const struct task *k, enum job_state end)
{
    if (end == JOB_NODE_FAIL) return j->may_requeue;
    return has_ended_by_itself(k, end) && k->signal == 0 && has_exit_status(j, k->exit_status);
}

/* Without a rule, count is 0. */
static struct retry_rule retry_rule_of(const struct job *j)
{
    struct retry_rule rule = {0};
    if (job_rare(j)->retry != NULL) (void)retry_text_parse(str(job_rare(j)->retry), "retry", &rule, NULL);
    return rule;
}

/* Whether the end is a failure that the rule is about. */
static bool is_failure(const struct retry_rule *rule, const struct task *k, enum job_state end)
{
    if (rule->count == 0 || !has_ended_by_itself(k, end)) return false;
    int32_t status = k->signal != 0 ? 128 + (int32_t)k->signal : k->exit_status;
    if (end == JOB_OUT_OF_MEMORY && status == 0) return !rule->has_statuses;
    return status > 0 && retry_text_is_failure(rule, (uint32_t)status);
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

/* Retries are never what holds a task: a job that has more of them may also be requeued so often. */
static uint32_t max_of(const struct state *s, const struct job *j)
{
    uint32_t retries = retry_rule_of(j).count;
    uint32_t max = j->requeue_max != 0 ? j->requeue_max : (uint32_t)setting_number(&s->settings, SET_MAX_BATCH_REQUEUE);
    return retries > max ? retries : max;
}

static void retry(const struct retry_rule *rule, struct task *k)
{
    if (k->restarts < rule->count) k->requeue = REQUEUE_RETRY;
    if (k->detail[0] != '\0') return;
    if (k->requeue == REQUEUE_RETRY)
        text_format(k->detail, sizeof k->detail, "retry %u of %u follows", k->restarts + 1, rule->count);
    else
        text_format(k->detail, sizeof k->detail, "no retry is left of %u", rule->count);
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
    if (k->is_cancelled) return;
    if (!is_wanted(j, k, end)) {
        struct retry_rule rule = retry_rule_of(j);
        if (is_failure(&rule, k, end)) retry(&rule, k);
        return;
    }
    if (k->restarts < max) {
        k->requeue = REQUEUE_YES;
        add_detail(k, "requeued", 0);
    } else {
        k->requeue = REQUEUE_HELD_BY_OPERATOR;
        add_detail(k, "held, because it was requeued", max);
    }
}

int64_t requeue_delay_us(const struct state *s)
{
    return setting_number(&s->settings, SET_REQUEUE_DELAY_S) * US_PER_S;
}

/* Of an attempt that has ended. */
static int64_t delay_us_of(const struct state *s, const struct job *j, const struct task *k)
{
    struct retry_rule rule = retry_rule_of(j);
    if (k->requeue != REQUEUE_RETRY || !rule.has_backoff) return requeue_delay_us(s);
    return retry_text_delay_s(&rule, k->restarts) * US_PER_S;
}

/* A task of an array waits for itself alone. */
static void delay_tasks(struct apply_context *c, struct job *j, const struct idset *tasks, int64_t delay_us)
{
    if (delay_us == 0) return;
    for (uint32_t id = idset_first(tasks); id != NONE; id = idset_next(tasks, id))
        task_delays_add(c->s, j, id, c->now_us + delay_us);
    state_want_pass_at(c->s, c->s->next_delay_us);
}

void requeue_tasks(struct apply_context *c, uint32_t job_index, const struct idset *tasks, enum task_requeue requeue,
                   int64_t delay_us)
{
    struct job *j = &c->s->jobs.items[job_index];
    idset_add_all(&j->pending, tasks);
    assoc_count_work(c->s, j->assoc, &(struct work){.pending = idset_count(tasks)}, 1);
    if (j->is_array) delay_tasks(c, j, tasks, delay_us);
    job_waits_find_ready(j);
    if (!j->is_array) {
        partition_limits_reset_time(c->s, j);
        if (delay_us > 0 && c->now_us + delay_us > j->begin_us) j->begin_us = c->now_us + delay_us;
        j->is_held = requeue == REQUEUE_HELD || requeue == REQUEUE_HELD_BY_OPERATOR;
        j->quarantine = QUARANTINE_NO;
        j->is_held_by_operator = requeue == REQUEUE_HELD_BY_OPERATOR;
        j->accrue_us = job_waits_accrual_us(j, c->now_us);
        min_priority_forget(c, job_index);
    }
    apply_note_change(c, TABLE_JOB, job_index);
}

void requeue_hold_task(struct job *j, uint32_t task_id, enum task_requeue requeue)
{
    task_delays_hold(j, task_id, requeue == REQUEUE_HELD_BY_OPERATOR);
    job_waits_find_ready_task(j, task_id);
    if (j->waits_by_task && idset_first(&j->ready) == NONE) j->accrue_us = 0;
}

void requeue_task(struct apply_context *c, uint32_t job_index, const struct task *k)
{
    struct idset tasks = {0};
    struct job *j = &c->s->jobs.items[job_index];
    restarts_add(j, k->task_id);
    idset_add(&tasks, k->task_id);
    requeue_tasks(c, job_index, &tasks, k->requeue, delay_us_of(c->s, j, k));
    idset_release(&tasks);
    bool is_held = k->requeue == REQUEUE_HELD || k->requeue == REQUEUE_HELD_BY_OPERATOR;
    if (j->is_array && is_held) requeue_hold_task(j, k->task_id, k->requeue);
}
