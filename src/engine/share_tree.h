/* The share tree of the tickets model. A document has one of its own (policy/share_nodes.h). The share tree of an
 * instance follows from its association tree:
 *
 *     association tree           share tree
 *     root                       root
 *     +- physics   60            +- /physics  60     an account is a group,
 *     |  +- ann    10            |  +- ann    10     a user in it is a leaf;
 *     |  +- default 5            |  +- default 5     the user `default` stands for all users without a leaf
 *     +- P1        40            +- P1        40     an account with the name of a project is the node of that project
 *        +- ann     1               +- ann     1
 *
 * A user in two accounts is served by the first leaf in depth-first order (an account's users come before its
 * sub-accounts). It serves all of the user's jobs, whatever account they were submitted to. The same holds inside a
 * project. A user with the name of a project has no leaf. An account with the name of a project, inside the node of
 * another project, is a group. Shares `parent`, which Grid Engine does not have, count as 1.
 *
 * The usage of a leaf is that of its user outside projects, or in the project that it is below. A project's usage is
 * its own, a group's is the sum of its children's. Usage of a project that no node below it has (left by users who
 * have no jobs now) belongs to the `default` below the project, and so to the groups between the two.
 * Source: docs/formulas.md 5.1, 5.2. */
#ifndef FAIRLEAD_ENGINE_SHARE_TREE_H
#define FAIRLEAD_ENGINE_SHARE_TREE_H

#include "engine/handlers.h"
#include "engine/ticket_identities.h"

/* The node that serves a user: a leaf, or a `default` node, which has a virtual sibling for each of its users. NONE: no
 * node. */
struct share_leaf {
    uint32_t node;
    bool is_default;
};

/* A project in the tree. */
struct share_project {
    uint32_t node; /* 0: it is not in the tree */
    bool is_leaf;  /* its node serves all its users */
};

/* Kept in the state. Users are referred to by their numbers (ticket_identities.h), so that no name is looked up when
 * the tree is built again, which happens whenever shares change. */
struct share_tree {
    const struct ticket_identities *identities;
    ARRAY(struct ticket_node) nodes;      /* without usage */
    ARRAY(uint32_t) leaf;                 /* by user: the leaf outside projects; 0: none */
    struct map leaf_in_project;           /* (node of the project, user) -> leaf */
    ARRAY(struct share_project) projects; /* by index of objects[OBJECT_PROJECT] */
    ARRAY(struct share_leaf) of_owner;    /* by usage owner: the node that has its usage */
    bool has_default;                     /* some leaf is a `default`, so virtual nodes may be needed */
    /* The tree is current while the state has the same numbers. */
    uint32_t tree_builds, project_rows, project_count;
};

void share_tree_free(struct share_tree *t); /* NULL is allowed */

/* The current share tree, owned by the state. O(associations + projects + owners) after associations or projects
 * changed, otherwise O(new owners). */
struct share_tree *share_tree_of(struct state *s);

/* The share tree at one time, with a virtual node for each user that a `default` node serves. Only active stays valid
 * when the state changes. */
struct share_snapshot {
    struct state *s;
    struct share_tree *tree;          /* the state's */
    ARRAY(struct ticket_node) active; /* the nodes of the tree, then the virtual ones */
    ARRAY(uint32_t) virtual_of;       /* by user: the virtual node for `default` outside projects; 0: none */
    struct map virtual_in_project;    /* (default node, user) -> virtual node */
};

/* O(nodes + users), and the cost of share_tree_of. */
void share_snapshot_make(struct share_snapshot *snapshot, struct state *s);
void share_snapshot_release(struct share_snapshot *snapshot);

/* The node of active that serves the user of an association in a project (index of the object, or NONE); NONE: no node
 * does. Adds a virtual node if needed. O(1). */
uint32_t share_snapshot_serve(struct share_snapshot *snapshot, uint32_t assoc, uint32_t project);

/* Adds the current usage to the nodes of active, after share_snapshot_serve was called for all jobs. O(nodes + owners +
 * tasks). */
void share_snapshot_add_usage(struct share_snapshot *snapshot, int64_t now_us, struct arena *arena);

#endif
