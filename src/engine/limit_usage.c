#include "engine/limit_usage.h"

double limit_usage_tres(struct state *s, uint32_t assoc, uint32_t tres, int64_t now_us)
{
    struct arena arena = {0};
    const double *own = state_own_tres_usage(s, tres, now_us, &arena);
    const struct tree *t = state_tree(s);
    double sum = 0.0;
    for (uint32_t node = 0; node < t->count; node++) {
        uint32_t a = s->assoc_of.items[node];
        while (a != NONE && a != assoc) a = s->assocs.items[a].parent;
        if (a == assoc) sum += own[node];
    }
    arena_release(&arena);
    return sum;
}

double limit_usage_wall(struct state *s, uint32_t assoc, int64_t now_us)
{
    (void)s, (void)assoc, (void)now_us;
    return 0.0;
}

double limit_usage_qos_tres(struct state *s, uint32_t qos, uint32_t tres, int64_t now_us)
{
    (void)s, (void)qos, (void)tres, (void)now_us;
    return 0.0;
}

double limit_usage_qos_wall(struct state *s, uint32_t qos, int64_t now_us)
{
    (void)s, (void)qos, (void)now_us;
    return 0.0;
}
