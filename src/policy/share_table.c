/* The columns of a share listing by Fair Tree, from tree and usage. Their meaning is sshare's (from its manual, and
 * from recorded answers for points that the manual does not describe):
 *
 *     norm_shares       shares / level_shares of the fair-share parent; a SHARES_PARENT node shows its parent's
 *     norm_usage        usage / the root's usage, at most 1
 *     effective_usage   usage / the fair-share parent's usage
 *     fair_share        the factor: docs/formulas.md 2.1 and 2.2
 *     level_fs          norm_shares / effective_usage, computed more precisely than from the two columns
 *
 * The tie rule decides the arithmetic, too. merge computes in doubles. slurm computes usages and their quotients in 80
 * bits, rounds to double at the end, and repeats two surprises of Slurm 22.05.8. The norm_shares of the root is the
 * quotient of a number that Slurm never set. And numbers travel from slurmctld to sshare as millionths, so sshare shows
 * slurmctld's value times 10^6 divided by 10^6. For one value in thirty that is the double next to it (a factor of
 * 49/61 is shown as 0.80327868852459028, not ...017). With both, all recorded cells agree.
 *
 * Cost: the ranking pass, and about 30 ns an association. Source: docs/formulas.md 2.3; tests/conformance/slurm. */
#include "policy/share_table.h"

#include <math.h>
#include <string.h>

#include "base/ensure.h"

/* 1 / Slurm's "not set": the norm_shares of the root, and of SHARES_PARENT nodes directly below it. */
static const double ROOT_SHARES_SLURM = 1.0 / 4294967294.0;

/* A double as sshare receives it. */
double share_table_as_sent(double value)
{
    return value * 1e6 / 1e6;
}

static double *column(struct arena *arena, uint32_t count)
{
    return arena_alloc(arena, count * sizeof(double));
}

void share_table_init(struct share_table *s, uint32_t count, struct arena *arena)
{
    *s = (struct share_table){
        .count = count,
        .norm_shares = column(arena, count),
        .raw_usage = column(arena, count),
        .norm_usage = column(arena, count),
        .effective_usage = column(arena, count),
        .fair_share = column(arena, count),
        .level_fs = column(arena, count),
    };
}

size_t share_table_memory(uint32_t count)
{
    return 6 * arena_size(count, sizeof(double));
}

/* Columns that are not zeroed, for the rows that are wanted. Zeroing 10^5 other rows would cost more than all the
 * rest. */
static void init_raw(struct share_table *s, uint32_t count, struct arena *arena)
{
    double **const columns[] = {&s->norm_shares,     &s->raw_usage,  &s->norm_usage,
                                &s->effective_usage, &s->fair_share, &s->level_fs};
    s->count = count;
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        *columns[c] = arena_alloc_raw(arena, count * sizeof(double));
}

static double norm_shares(const struct tree *t, uint32_t node, double root)
{
    while (node != 0 && t->shares[node] == SHARES_PARENT) node = t->fs_parent[node];
    if (node == 0) return root;
    uint64_t all = t->level_shares[t->fs_parent[node]];
    return all == 0 ? 0 : (double)t->shares[node] / (double)all;
}

static void fill_norm_shares(const struct tree *t, double root, const bool *wanted, double *out)
{
    for (uint32_t i = 0; i < t->count; i++) {
        if (wanted == NULL || wanted[i]) out[i] = norm_shares(t, i, root);
    }
}

static void fill_merge(const struct tree *t, const double *own, const double *totals, struct rank_order *order,
                       const bool *wanted, struct share_table *out)
{
    if (own != NULL) {
        tree_sum_usage(t, own, out->raw_usage);
    } else {
        memcpy(out->raw_usage, totals, t->count * sizeof *totals);
    }
    const double *usage = out->raw_usage;
    out->level_fs[0] = NAN;
    for (uint32_t i = 1; i < t->count; i++) {
        if (wanted != NULL && !wanted[i]) continue;
        double all = usage[t->fs_parent[i]];
        out->norm_usage[i] = usage[0] == 0 ? 0 : fmin(usage[i] / usage[0], 1);
        out->effective_usage[i] = all == 0 ? 0 : usage[i] / all;
        out->level_fs[i] = fair_tree_level(t, usage, i);
    }
    fair_tree_rank_wanted(t, usage, wanted, order, out->fair_share);
}

static void fill_slurm(const struct tree *t, const double *own, const double *totals, struct arena *arena,
                       struct share_table *out)
{
    long double *usage = arena_alloc(arena, t->count * sizeof *usage);
    if (own != NULL) {
        fair_tree_slurm_sum(t, own, usage);
    } else {
        for (uint32_t i = 0; i < t->count; i++) usage[i] = totals[i];
    }
    for (uint32_t i = 0; i < t->count; i++) {
        out->raw_usage[i] = (double)usage[i];
        if (i == 0) continue;
        long double all = usage[t->fs_parent[i]];
        out->norm_usage[i] = usage[0] == 0 ? 0 : (double)fminl(usage[i] / usage[0], 1);
        out->effective_usage[i] = all == 0 ? 0 : (double)(usage[i] / all);
    }
    fair_tree_slurm(t, usage, arena, out->fair_share, out->level_fs);
    double *sent[] = {out->norm_shares, out->norm_usage, out->effective_usage, out->fair_share, out->level_fs};
    for (size_t c = 0; c < sizeof sent / sizeof *sent; c++) {
        for (uint32_t i = 0; i < t->count; i++) sent[c][i] = share_table_as_sent(sent[c][i]);
    }
}

void share_table_compute(const struct tree *t, const double *own, const double *totals, enum tie_rule ties,
                         struct rank_order *order, const bool *wanted, struct arena *arena,
                         struct share_table *out_table)
{
    ensure(t->is_finished);
    ensure((own == NULL) != (totals == NULL));
    if (wanted != NULL && ties == TIES_MERGE) {
        init_raw(out_table, t->count, arena);
    } else {
        share_table_init(out_table, t->count, arena);
    }
    out_table->norm_usage[0] = NAN;
    out_table->effective_usage[0] = 1;
    fill_norm_shares(t, ties == TIES_SLURM ? ROOT_SHARES_SLURM : 0, wanted, out_table->norm_shares);
    if (ties == TIES_SLURM) {
        fill_slurm(t, own, totals, arena, out_table);
    } else {
        fill_merge(t, own, totals, order, wanted, out_table);
    }
    for (uint32_t i = 0; i < t->count; i++) {
        if (!t->is_user[i] && (wanted == NULL || wanted[i])) out_table->fair_share[i] = NAN;
    }
}
