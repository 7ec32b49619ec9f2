/* What decides between two users in Fair Tree: the two paths from the root are compared step by step, until the levels
 * differ.
 *
 *     root            a: A1, then u     step 0: the level of A1 against that of A2; if they are equal, both
 *     +- A1  +- u     b: A2, then v       accounts' children are one list, so
 *     +- A2  +- v                       step 1: the level of u in A1 against that of v in A2
 *
 * Source: docs/formulas.md 2.1 and 2.2. */
#ifndef FAIRLEAD_POLICY_FAIR_TREE_COMPARE_H
#define FAIRLEAD_POLICY_FAIR_TREE_COMPARE_H

#include "policy/fair_tree.h"

/* A ranking that was computed. */
struct fair_tree_ranks {
    const struct tree *t;
    const double *usage;  /* by node: totals */
    const double *factor; /* by node */
    /* By node: the levels of TIES_SLURM, of which those that differ only in 80 bits count as equal here. NULL:
     * TIES_MERGE, in which levels are compared exactly. */
    const double *slurm_level;
};

enum fair_tree_decision {
    DECIDED_BY_LEVEL,
    DECIDED_BY_NOTHING, /* they have the same rank */
    DECIDED_BY_KIND,    /* a user is tied with an account */
    DECIDED_BY_ORDER    /* TIES_SLURM: tied accounts are ranked one after the other */
};

struct fair_tree_comparison {
    enum fair_tree_decision decision;
    uint32_t step;       /* the step that decides, from 0 below the root */
    uint32_t a, b;       /* the nodes of that step: the users, or accounts above them */
    uint32_t tied_steps; /* steps before it where two different nodes have the same level */
};

/* Compares two users. Which one comes first is in the factors. O(depth). */
struct fair_tree_comparison fair_tree_compare(const struct fair_tree_ranks *r, uint32_t a, uint32_t b);

/* The path from below the root to a node, by fair-share parents. Returns its length; out_path has room for
 * TREE_DEPTH_MAX. */
uint32_t fair_tree_compare_path(const struct tree *t, uint32_t node, uint32_t *out_path);

/* How many of a node's fair-share siblings have a higher level, and how many the same. The node is not the root.
 * O(siblings). */
void fair_tree_ranks_position(const struct fair_tree_ranks *r, uint32_t node, uint32_t *out_before, uint32_t *out_tied);

#endif
