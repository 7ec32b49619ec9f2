/* The fair shares of the state: the tree with the current usage, evaluated by the configured algorithm. */
#include "engine/share_tree.h"

void state_prepare(struct state *s)
{
    state_tree(s);
    if (s->policy.model == MODEL_TICKETS) share_tree_of(s);
}

static struct share_options share_options(struct state *s)
{
    struct share_options options = s->policy.share;
    options.order = s->order;
    return options;
}

double *state_factors(struct state *s, int64_t now_us, struct arena *arena)
{
    const double *own = state_own_usage(s, now_us, arena);
    const struct share_options options = share_options(s);
    double *factors = arena_alloc(arena, s->tree.count * sizeof *factors);
    fair_share_factors(&s->tree, own, &options, arena, factors);
    return factors;
}

void state_share_table(struct state *s, int64_t now_us, const bool *wanted, struct arena *arena,
                       struct share_table *out_table)
{
    const double *own = state_own_usage(s, now_us, arena);
    struct share_options options = share_options(s);
    options.wanted = wanted;
    fair_share_table(&s->tree, own, NULL, &options, arena, out_table);
}
