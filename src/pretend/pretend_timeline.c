#include "pretend/pretend_timeline.h"

#include "base/ensure.h"

static void apply(struct pretend_timeline *t, const struct pretend_step *step)
{
    struct pretend_host_now *host = &t->hosts.items[step->host];
    if (step->kind == PRETEND_STEP_LOAD)
        host->load = step->load;
    else
        host->is_down = step->kind == PRETEND_STEP_DOWN;
}

int64_t pretend_timeline_next_us(const struct pretend_timeline *t)
{
    const struct pretend_cluster *c = t->cluster;
    if (t->next < c->steps.count) return t->period_begin_us + c->steps.items[t->next].at_us;
    if (c->period_us == 0 || c->steps.count == 0) return 0;
    return t->period_begin_us + c->period_us + c->steps.items[0].at_us;
}

const struct pretend_step *pretend_timeline_take(struct pretend_timeline *t)
{
    const struct pretend_cluster *c = t->cluster;
    ensure(pretend_timeline_next_us(t) != 0);
    if (t->next == c->steps.count) {
        t->next = 0;
        t->period_begin_us += c->period_us;
    }
    const struct pretend_step *step = &c->steps.items[t->next++];
    apply(t, step);
    return step;
}

/* A whole period changes every host that has steps, so that the rest of them is skipped. */
void pretend_timeline_init(struct pretend_timeline *t, const struct pretend_cluster *cluster, int64_t origin_us,
                           int64_t now_us)
{
    int64_t period_us = cluster->period_us;
    *t = (struct pretend_timeline){.cluster = cluster, .period_begin_us = origin_us};
    for (uint32_t i = 0; i < cluster->hosts.count; i++) *array_add(&t->hosts) = (struct pretend_host_now){0};
    if (period_us > 0 && now_us - origin_us >= period_us) {
        for (uint32_t i = 0; i < cluster->steps.count; i++) apply(t, &cluster->steps.items[i]);
        t->period_begin_us += (now_us - origin_us) / period_us * period_us;
    }
    for (int64_t at_us; (at_us = pretend_timeline_next_us(t)) != 0 && at_us <= now_us;) (void)pretend_timeline_take(t);
}

void pretend_timeline_release(struct pretend_timeline *t)
{
    array_release(&t->hosts);
    *t = (struct pretend_timeline){0};
}
