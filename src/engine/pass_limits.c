#include "engine/pass_limits.h"

enum { LIMIT_WAIT_US = 1000000 }; /* what falls with time is looked at this often */

void pass_limits_begin(struct pass *p)
{
    struct state *s = p->c->s;
    if (!limits_apply(s)) return;
    p->limits = arena_alloc(&s->cycle, sizeof *p->limits);
    *p->limits = (struct limit_places){.s = s,
                                       .counts = limit_counts_update(s, p->c->now_us),
                                       .model = &p->cluster->model,
                                       .arena = &s->cycle,
                                       .cache = limit_hosts_cache_make(&s->cycle),
                                       .now_us = p->c->now_us};
}

bool pass_limits_block(struct pass *p, const struct pending_group *g)
{
    if (p->limits == NULL || !g->is_blocked || g->blocked_rules != p->c->s->rules_edition) return false;
    if (g->blocked_until_us != 0 && g->blocked_until_us <= p->c->now_us) return false;
    const struct limit_counts *counts = p->limits->counts;
    bool is_same = g->blocked_counter == NONE ||
                   (counts->rebuild_count == g->blocked_rebuild &&
                    counts->counters.items[g->blocked_counter].decrease_count == g->blocked_decrease_count);
    if (is_same && g->blocked_until_us != 0) state_want_pass_at(p->c->s, g->blocked_until_us);
    return is_same;
}

static void note_blocked(struct pass *p, struct pending_group *g, const struct limit_hit *hit)
{
    g->is_blocked = true;
    g->blocked_rules = p->c->s->rules_edition;
    g->blocked_rebuild = p->limits->counts->rebuild_count;
    g->blocked_counter = hit->counter;
    g->blocked_decrease_count = hit->decrease_count;
    g->blocked_until_us = hit->falls ? p->c->now_us + LIMIT_WAIT_US : 0;
}

const struct demand *pass_limits_place(struct pass *p, uint32_t job, uint32_t group, const struct demand *d)
{
    struct state *s = p->c->s;
    struct limit_hit hit;
    if (p->limits == NULL) return d;
    p->limits->counts = limit_counts_update(s, p->c->now_us);
    struct pending_group *g = &s->pending->groups.items[group];
    const struct demand *own = limit_place(p->limits, &s->jobs.items[job], g->partition, d, &hit);
    g->is_blocked = false;
    if (own == NULL && hit.reason != PENDING_NONE && !hit.has_more_counters) note_blocked(p, g, &hit);
    if (own == NULL && hit.falls) state_want_pass_at(s, p->c->now_us + LIMIT_WAIT_US);
    return own;
}

bool pass_limits_admit(struct pass *p, uint32_t job, uint32_t group, const struct demand *d)
{
    return p->limits == NULL || pass_limits_place(p, job, group, d) != NULL;
}
