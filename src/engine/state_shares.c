/* The fair shares of the state: the tree with the current usage, evaluated by the configured algorithm or another. */
#include "engine/share_tree.h"

void state_prepare(struct state *s)
{
    state_tree(s);
    if (s->policy.model == MODEL_TICKETS) share_tree_of(s);
}

static struct share_options with_order(struct state *s, struct share_options options)
{
    options.order = s->order;
    return options;
}

double *state_factors(struct state *s, int64_t now_us, struct arena *arena)
{
    const double *own = state_own_usage(s, now_us, arena);
    const struct share_options options = with_order(s, s->policy.share);
    double *factors = arena_alloc(arena, s->tree.count * sizeof *factors);
    fair_share_factors(&s->tree, own, &options, arena, factors);
    return factors;
}

void state_share_table(struct state *s, int64_t now_us, const struct share_options *options, struct arena *arena,
                       struct share_table *out_table)
{
    const double *own = state_own_usage(s, now_us, arena);
    const struct share_options ordered = with_order(s, *options);
    fair_share_table(&s->tree, own, NULL, &ordered, arena, out_table);
}
