/* CPU weights: the tickets of running tasks become the weights of their control groups, by which the kernel divides CPU
 * time when tasks want more than there is.
 *
 *     weight = 100 tickets / mean of the tickets of running tasks        1 to 10000; 100 for all if no task has tickets
 *
 * With the share policy tickets change with usage, so weights are computed every minute while several tasks run. Other
 * models do not set weights: after a change to another model all weights become 100.
 * task.cpu_weight is the weight that the executor was sent last. It may not have received weights from before a restart
 * of either side, so all are sent again once it is synced. */
#include <math.h>

#include "engine/ranking.h"

enum { WEIGHT_MIN = 1, WEIGHT_MAX = 10000 };

static void send_weight(struct apply_context *c, struct task *k, uint32_t weight)
{
    if (k->cpu_weight == weight) return;
    k->cpu_weight = weight;
    *array_add(&c->outcome->decisions) = (struct decision){.kind = DECIDE_WEIGHT,
                                                           .launch_id = k->launch_id,
                                                           .job_id = k->job_id,
                                                           .task_id = k->task_id,
                                                           .cpu_weight = weight};
}

static uint32_t weight_of(double tickets, double mean)
{
    double weight = mean > 0.0 ? round(CPU_WEIGHT_DEFAULT * (tickets / mean)) : CPU_WEIGHT_DEFAULT;
    return (uint32_t)fmin(fmax(weight, WEIGHT_MIN), WEIGHT_MAX);
}

static void reset_weights(struct apply_context *c)
{
    for (uint32_t i = 0; i < c->s->tasks.count; i++) {
        struct task *k = &c->s->tasks.items[i];
        if (!job_state_is_end(k->state)) send_weight(c, k, CPU_WEIGHT_DEFAULT);
    }
}

void cpu_weight_invalidate(struct state *s)
{
    for (uint32_t i = 0; i < s->tasks.count; i++) s->tasks.items[i].cpu_weight = 0;
    s->pass_is_due = true;
}

/* A suspended task competes with none, and gets its weight when it runs again. */
static bool has_weight(const struct task *k)
{
    return !job_state_is_end(k->state) && k->state != JOB_SUSPENDED;
}

void cpu_weight_update(struct apply_context *c)
{
    struct state *s = c->s;
    double sum = 0.0;
    uint32_t running = 0;
    if (s->task_by_launch.count == 0) return;
    if (s->policy.model != MODEL_TICKETS) {
        reset_weights(c);
        return;
    }
    if (s->task_by_launch.count > 1 && s->policy.tickets.share_pool > 0.0)
        state_want_pass_at(s, c->now_us + USAGE_WAIT_US);
    const double *tickets = ticket_ranks_of_running(s, c->now_us, &s->cycle);
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        if (!has_weight(&s->tasks.items[i])) continue;
        sum += tickets[i];
        running++;
    }
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        struct task *k = &s->tasks.items[i];
        if (has_weight(k)) send_weight(c, k, weight_of(tickets[i], sum / running));
    }
}
