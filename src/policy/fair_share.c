/* Fair Tree ranks users. The other algorithms differ only in their effective usage, which the table has. */
#include "policy/fair_share.h"

#include <math.h>
#include <string.h>

#include "base/ensure.h"
#include "policy/classic.h"
#include "policy/depth_oblivious.h"

const char *const share_algorithm_names[ALGORITHM_COUNT] = {
    [ALGORITHM_FAIR_TREE] = "fair-tree",
    [ALGORITHM_CLASSIC] = "classic",
    [ALGORITHM_DEPTH_OBLIVIOUS] = "depth-oblivious",
};

typedef void effective_usage_fn(const struct tree *t, const double *norm_shares, const double *norm_usage,
                                struct arena *arena, double *out);

/* NULL: the algorithm ranks. */
static effective_usage_fn *const effective_usage_of[ALGORITHM_COUNT] = {
    [ALGORITHM_CLASSIC] = classic_effective_usage,
    [ALGORITHM_DEPTH_OBLIVIOUS] = depth_oblivious_effective_usage,
};

static void rank_factors(const struct tree *t, const double *own, const struct share_options *options,
                         struct arena *arena, double *out_factor)
{
    if (options->ties == TIES_SLURM) {
        long double *usage = arena_alloc(arena, t->count * sizeof *usage);
        fair_tree_slurm_sum(t, own, usage);
        fair_tree_slurm(t, usage, arena, out_factor, NULL);
    } else {
        double *usage = arena_alloc(arena, t->count * sizeof *usage);
        tree_sum_usage(t, own, usage);
        fair_tree_rank(t, usage, options->order, out_factor);
    }
}

/* out_factor holds totals, then normalised usages, effective usages and factors, each computed in place. */
static void usage_factors(const struct tree *t, const double *own, const struct share_options *options,
                          struct arena *arena, double *out_factor)
{
    double *norm_shares = arena_alloc(arena, t->count * sizeof *norm_shares);
    classic_norm_shares(t, norm_shares);
    tree_sum_usage(t, own, out_factor);
    classic_norm_usage(t, out_factor, out_factor);
    effective_usage_of[options->algorithm](t, norm_shares, out_factor, arena, out_factor);
    classic_factors(t, norm_shares, out_factor, options->dampening, out_factor);
    for (uint32_t i = 0; i < t->count; i++) {
        if (!t->is_user[i]) out_factor[i] = 0;
    }
}

void fair_share_factors(const struct tree *t, const double *own, const struct share_options *options,
                        struct arena *arena, double *out_factor)
{
    ensure(t->is_finished && options->algorithm < ALGORITHM_COUNT);
    if (effective_usage_of[options->algorithm] == NULL) {
        rank_factors(t, own, options, arena, out_factor);
    } else {
        usage_factors(t, own, options, arena, out_factor);
    }
}

static void usage_table(const struct tree *t, const double *own, const double *totals,
                        const struct share_options *options, struct arena *arena, struct share_table *out)
{
    share_table_init(out, t->count, arena);
    if (own != NULL) {
        tree_sum_usage(t, own, out->raw_usage);
    } else {
        memcpy(out->raw_usage, totals, t->count * sizeof *totals);
    }
    classic_norm_shares(t, out->norm_shares);
    classic_norm_usage(t, out->raw_usage, out->norm_usage);
    effective_usage_of[options->algorithm](t, out->norm_shares, out->norm_usage, arena, out->effective_usage);
    classic_factors(t, out->norm_shares, out->effective_usage, options->dampening, out->fair_share);
    for (uint32_t i = 0; i < t->count; i++) out->level_fs[i] = NAN;
    out->norm_usage[0] = NAN;
}

void fair_share_table(const struct tree *t, const double *own, const double *totals,
                      const struct share_options *options, struct arena *arena, struct share_table *out_table)
{
    ensure(t->is_finished && options->algorithm < ALGORITHM_COUNT);
    ensure((own == NULL) != (totals == NULL));
    if (effective_usage_of[options->algorithm] == NULL) {
        share_table_compute(t, own, totals, options->ties, options->order, options->wanted, arena, out_table);
    } else {
        usage_table(t, own, totals, options, arena, out_table);
    }
}

/* What the algorithm needs beside columns. */
static size_t algorithm_memory(uint32_t count, const struct share_options *options)
{
    if (options->algorithm == ALGORITHM_DEPTH_OBLIVIOUS) return depth_oblivious_memory(count);
    if (options->algorithm != ALGORITHM_FAIR_TREE || options->ties != TIES_SLURM) return 0;
    return arena_size(count, sizeof(long double)) + fair_tree_slurm_memory(count);
}

size_t fair_share_factors_memory(uint32_t count, const struct share_options *options)
{
    return arena_size(count, sizeof(double)) + algorithm_memory(count, options);
}

size_t fair_share_table_memory(uint32_t count, const struct share_options *options)
{
    return share_table_memory(count) + algorithm_memory(count, options);
}
