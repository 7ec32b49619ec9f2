/* Ranking: the memory is taken, the usage is read, and policy/ computes factors and columns in that memory. */
#include "lib/fl_tree.h"

#include "base/sort.h"
#include "lib/fl_fault.h"

/* What is ranked, once it was checked. */
struct rank_input {
    struct share_options options;
    const double *own, *totals; /* both NULL: the tree's own usage, times scale */
    double scale;
    bool factors_only;
};

static int check_usages(const double *usages, uint32_t count)
{
    for (uint32_t i = 0; usages != NULL && i < count; i++) {
        if (!fl_is_amount(usages[i], USAGE_AMOUNT_MAX)) return FL_EAMOUNT;
    }
    return FL_OK;
}

static int check_options(const struct fl_tree *t, const struct fl_rank_options *o, struct rank_input *out)
{
    if (o->reserved_flags != 0 || !fl_is_zero(o->reserved, FL_COUNT_OF(o->reserved))) return FL_ERESERVED;
    if (o->algorithm > FL_DEPTH_OBLIVIOUS || o->ties > FL_TIES_SLURM) return FL_EOPTION;
    if (o->own_usage != NULL && o->total_usage != NULL) return FL_EOPTION;
    bool is_slurm = o->algorithm == FL_FAIR_TREE && o->ties == FL_TIES_SLURM;
    if (is_slurm && !fair_tree_slurm_available()) return FL_ETIES;
    double dampening = o->dampening;
    if (!(dampening >= 1.0) || dampening > USAGE_AMOUNT_MAX) {
        if (dampening > 0.0 || !(dampening >= 0.0)) return FL_EAMOUNT;
        dampening = 1.0;
    }
    out->options = (struct share_options){
        .algorithm = (enum share_algorithm)o->algorithm,
        .ties = is_slurm ? TIES_SLURM : TIES_MERGE,
        .dampening = dampening,
    };
    out->own = o->own_usage;
    out->totals = o->total_usage;
    out->factors_only = o->factors_only != 0;
    int result = check_usages(out->own, t->tree.count);
    return result != FL_OK ? result : check_usages(out->totals, t->tree.count);
}

/* All memory of a ranking, in one block that the next one uses again. */
static bool reserve(struct fl_tree *t, const struct rank_input *in)
{
    uint32_t count = t->tree.count, users = t->tree.user_count;
    size_t bytes = 2 * arena_size(count, sizeof(double)); /* usage, factors */
    bytes += in->totals != NULL || !in->factors_only ? fair_share_table_memory(count, &in->options)
                                                     : fair_share_factors_memory(count, &in->options);
    if (!in->factors_only)
        bytes += arena_size(users, sizeof(uint32_t)) + arena_size(count, sizeof(uint32_t)) +
                 2 * arena_size(users, sizeof(struct sort_record));
    arena_clear(&t->arena);
    if (t->arena.bytes < bytes) arena_release(&t->arena);
    if (!arena_reserve(&t->arena, bytes)) return false;
    bool has_order = in->options.algorithm == ALGORITHM_FAIR_TREE && in->options.ties == TIES_MERGE;
    return !has_order || rank_order_reserve(&t->order, count);
}

static const double *own_usage(struct fl_tree *t, const struct rank_input *in)
{
    if (in->own != NULL) return in->own;
    double *own = arena_alloc_raw(&t->arena, t->tree.count * sizeof *own);
    for (uint32_t i = 0; i < t->tree.count; i++) own[i] = t->stored[i] * in->scale;
    return own;
}

static void compute(struct fl_tree *t, struct rank_input *in)
{
    const double *own = in->totals != NULL ? NULL : own_usage(t, in);
    t->factors = arena_alloc_raw(&t->arena, t->tree.count * sizeof *t->factors);
    in->options.order = t->order;
    if (in->factors_only && own != NULL) {
        fair_share_factors(&t->tree, own, &in->options, &t->arena, t->factors);
        for (uint32_t i = 0; in->options.ties == TIES_SLURM && i < t->tree.count; i++)
            t->factors[i] = share_table_as_sent(t->factors[i]);
        return;
    }
    fair_share_table(&t->tree, own, in->totals, &in->options, &t->arena, &t->table);
    for (uint32_t i = 0; i < t->tree.count; i++) t->factors[i] = t->tree.is_user[i] ? t->table.fair_share[i] : 0;
}

/* Sorts the users by factor, and gives equal factors one rank. */
static void order_users(struct fl_tree *t)
{
    uint32_t count = t->tree.user_count, at = 0;
    struct sort_record *records = arena_alloc_raw(&t->arena, count * sizeof *records);
    struct sort_record *scratch = arena_alloc_raw(&t->arena, count * sizeof *scratch);
    t->users = arena_alloc_raw(&t->arena, count * sizeof *t->users);
    t->ranks = arena_alloc(&t->arena, t->tree.count * sizeof *t->ranks);
    for (uint32_t i = 0; i < t->tree.count; i++) {
        if (t->tree.is_user[i])
            records[at++] = (struct sort_record){.key = ~sort_key_double(t->factors[i]), .index = i};
    }
    sort_records(records, count, scratch);
    for (uint32_t i = 0; i < count; i++) {
        bool is_tied = i > 0 && records[i].key == records[i - 1].key;
        t->users[i] = records[i].index;
        t->ranks[records[i].index] = is_tied ? t->ranks[records[i - 1].index] : i + 1;
    }
}

int fl_tree_rank(struct fl_tree *tree, int64_t now_us, const struct fl_rank_options *options)
{
    static const struct fl_rank_options defaults = {0};
    struct rank_input in = {0};
    if (tree == NULL) return FL_ENULL;
    int result = check_options(tree, options != NULL ? options : &defaults, &in);
    if (result == FL_OK) result = fl_tree_scale(tree, now_us, &in.scale);
    if (result != FL_OK) return result;
    tree->ranked = RANKED_NOT;
    if (!reserve(tree, &in)) return FL_ENOMEM;
    tree_finish(&tree->tree);
    compute(tree, &in);
    if (!in.factors_only) order_users(tree);
    tree->algorithm = in.options.algorithm;
    tree->ties = in.options.ties;
    tree->ranked = in.factors_only ? RANKED_FACTORS : RANKED_ALL;
    tree->ranked_changes = tree->changes;
    return FL_OK;
}

int fl_tree_ranked(const struct fl_tree *t, enum ranked ranked)
{
    bool is_ranked = t->ranked >= ranked && t->ranked_changes == t->changes;
    return is_ranked ? FL_OK : FL_ENOTRANKED;
}

int fl_tree_factors(const struct fl_tree *tree, const double **out_factors)
{
    if (tree == NULL || out_factors == NULL) return FL_ENULL;
    int result = fl_tree_ranked(tree, RANKED_FACTORS);
    if (result == FL_OK) *out_factors = tree->factors;
    return result;
}

int fl_tree_order(const struct fl_tree *tree, const uint32_t **out_users, uint32_t *out_count)
{
    if (tree == NULL || out_users == NULL || out_count == NULL) return FL_ENULL;
    int result = fl_tree_ranked(tree, RANKED_ALL);
    if (result != FL_OK) return result;
    *out_users = tree->users;
    *out_count = tree->tree.user_count;
    return FL_OK;
}

int fl_tree_share(const struct fl_tree *tree, uint32_t node, struct fl_share *out_share)
{
    if (tree == NULL || out_share == NULL) return FL_ENULL;
    if (node >= tree->tree.count) return FL_ENODE;
    int result = fl_tree_ranked(tree, RANKED_ALL);
    if (result != FL_OK) return result;
    const struct share_table *s = &tree->table;
    *out_share = (struct fl_share){
        .norm_shares = s->norm_shares[node],
        .usage = s->raw_usage[node],
        .norm_usage = s->norm_usage[node],
        .effective_usage = s->effective_usage[node],
        .factor = s->fair_share[node],
        .level = s->level_fs[node],
        .rank = tree->ranks[node],
    };
    return FL_OK;
}
