/* Usage, stored as policy/usage.h explains: as it would read at one reference time. A charge that is many half-lives
 * after the reference moves that first, so a stored usage never leaves the range of a double. */
#include "lib/fl_tree.h"

/* A usage that is read before its reference is larger than it is stored. Up to this factor nothing overflows. */
static const double SCALE_MAX = 0x1p64;

int fl_tree_scale(const struct fl_tree *t, int64_t at_us, double *out_scale)
{
    if (!fl_is_time(at_us)) return FL_ETIME;
    double scale = decay_scale(&t->decay, at_us);
    if (!(scale <= SCALE_MAX)) return FL_ETIME;
    *out_scale = scale;
    return FL_OK;
}

static int check_usage(const struct fl_tree *t, uint32_t node, double amount)
{
    if (t == NULL) return FL_ENULL;
    if (node >= t->tree.count) return FL_ENODE;
    return fl_is_amount(amount, USAGE_AMOUNT_MAX) ? FL_OK : FL_EAMOUNT;
}

static void move_reference(struct fl_tree *t, int64_t at_us)
{
    int64_t steps = decay_steps_due(&t->decay, at_us);
    if (steps == 0) return;
    for (uint32_t i = 0; i < t->tree.count; i++) t->stored[i] = usage_decay_steps(t->stored[i], steps);
    t->decay.reference_us += steps * t->decay.halflife_us;
}

/* The stored form of an amount at a time. An amount of so long before the reference that nothing is left of it is 0. */
static double stored_of(const struct fl_tree *t, double amount, int64_t at_us)
{
    double scale = decay_scale(&t->decay, at_us);
    return amount > 0.0 ? amount / scale : 0.0;
}

static int store(struct fl_tree *t, uint32_t node, double stored, int64_t at_us)
{
    if (!fl_is_amount(stored, USAGE_STORED_MAX)) return FL_EAMOUNT;
    t->stored[node] = stored;
    if (at_us > t->charged_us) t->charged_us = at_us;
    return FL_OK;
}

int fl_tree_set_halflife(struct fl_tree *tree, int64_t halflife_us, int64_t now_us)
{
    if (tree == NULL) return FL_ENULL;
    if (halflife_us < 0 || halflife_us > FL_TIME_MAX) return FL_EHALFLIFE;
    bool is_before_change = tree->decay.halflife_us > 0 && now_us < tree->decay.reference_us;
    if (!fl_is_time(now_us) || is_before_change || now_us < tree->charged_us) return FL_ETIME;
    double scale = decay_scale(&tree->decay, now_us);
    for (uint32_t i = 0; i < tree->tree.count; i++) tree->stored[i] *= scale;
    tree->decay = (struct decay){.halflife_us = halflife_us, .reference_us = now_us};
    return FL_OK;
}

int fl_tree_charge(struct fl_tree *tree, uint32_t node, double amount, int64_t at_us)
{
    int result = check_usage(tree, node, amount);
    if (result != FL_OK) return result;
    if (!fl_is_time(at_us)) return FL_ETIME;
    move_reference(tree, at_us);
    return store(tree, node, tree->stored[node] + stored_of(tree, amount, at_us), at_us);
}

int fl_tree_charge_rate(struct fl_tree *tree, uint32_t node, double rate, int64_t from_us, int64_t to_us)
{
    int result = check_usage(tree, node, rate);
    if (result != FL_OK) return result;
    if (!fl_is_time(from_us) || !fl_is_time(to_us) || to_us < from_us) return FL_ETIME;
    double charge = usage_charge(tree->decay.halflife_us, rate, from_us, to_us);
    if (!fl_is_amount(charge, USAGE_AMOUNT_MAX)) return FL_EAMOUNT;
    move_reference(tree, to_us);
    return store(tree, node, tree->stored[node] + stored_of(tree, charge, to_us), to_us);
}

int fl_tree_usage(const struct fl_tree *tree, uint32_t node, int64_t at_us, double *out_usage)
{
    double scale;
    if (tree == NULL || out_usage == NULL) return FL_ENULL;
    if (node >= tree->tree.count) return FL_ENODE;
    int result = fl_tree_scale(tree, at_us, &scale);
    if (result == FL_OK) *out_usage = tree->stored[node] * scale;
    return result;
}

int fl_tree_set_usage(struct fl_tree *tree, uint32_t node, double usage, int64_t at_us)
{
    int result = check_usage(tree, node, usage);
    if (result != FL_OK) return result;
    if (!fl_is_time(at_us)) return FL_ETIME;
    move_reference(tree, at_us);
    return store(tree, node, stored_of(tree, usage, at_us), at_us);
}

/* Parents come before children, and a node is below `node` if its parent is that or is below it. The descendants are
 * marked in place: a usage of less than 0 is a mark. */
int fl_tree_reset(struct fl_tree *tree, uint32_t node)
{
    if (tree == NULL) return FL_ENULL;
    if (node >= tree->tree.count) return FL_ENODE;
    tree->stored[node] = -1.0;
    for (uint32_t i = node + 1; i < tree->tree.count; i++) {
        if (tree->stored[tree->tree.parent[i]] < 0.0) tree->stored[i] = -1.0;
    }
    for (uint32_t i = node; i < tree->tree.count; i++) {
        if (tree->stored[i] < 0.0) tree->stored[i] = 0.0;
    }
    return FL_OK;
}
