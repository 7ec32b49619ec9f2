/* The share tree. Of a document it is the one that the document has (policy/share_nodes.h); of an instance it is the
 * association tree:
 *
 *     root                       root
 *     +- physics   60            +- /physics  60     an account is a group,
 *     |  +- ann    10            |  +- ann    10     a user in it a leaf;
 *     |  +- default 5            |  +- default 5     a user called default is everybody who has no leaf
 *     +- P1        40            +- P1        40     an account called like a project is that project's node
 *        +- ann     1               +- ann     1
 *
 * A user in two accounts is served by the first in depth-first order (an account's users before its sub-accounts), and so
 * are all of the user's jobs, whatever account they were submitted to; likewise inside a project. Users called like a
 * project have no leaf, accounts called like one inside another's are groups. Shares `parent`, which Grid Engine does not
 * have, count as 1.
 * Usage: a leaf's is what its user used outside projects, or in the project it stands below; a project's is its own; a
 * group's is its children's together. Source: docs/formulas.md 5.1, 5.2. */
#ifndef FAIRLEAD_ENGINE_SHARE_TREE_H
#define FAIRLEAD_ENGINE_SHARE_TREE_H

#include "engine/handlers.h"
#include "engine/ticket_identities.h"

/* Where somebody is served: a leaf, or a `default` node, of which each user has a virtual sibling; or (node NONE) nowhere. */
struct share_leaf {
    uint32_t node;
    bool is_default;
};

/* A project in the tree. */
struct share_project {
    uint32_t node; /* 0: it is not there */
    bool is_leaf;  /* it serves all its users */
};

/* Kept in the state. Users go by their numbers in the identities, so that nobody is looked up by name when the tree is made
 * anew: that happens whenever somebody's shares change. */
struct share_tree {
    const struct ticket_identities *identities;
    ARRAY(struct ticket_node) nodes;      /* without usage */
    ARRAY(uint32_t) leaf;                 /* by user: outside projects; 0: none */
    struct map leaf_in_project;           /* (node of the project, user) -> leaf */
    ARRAY(struct share_project) projects; /* by object */
    ARRAY(struct share_leaf) of_owner;    /* whose usage that is */
    /* What it was made of. */
    uint32_t tree_builds, project_rows, project_count;
};

void share_tree_free(struct share_tree *t); /* NULL is allowed */

/* The state's share tree as it stands. O(associations + owners) when associations or projects changed. */
struct share_tree *share_tree_of(struct state *s);

/* The tree with what is active at one moment. active is all that outlives the state's next change. */
struct share_snapshot {
    struct state *s;
    struct share_tree *tree;          /* the state's */
    ARRAY(struct ticket_node) active; /* the tree's nodes, then virtual ones */
    ARRAY(uint32_t) virtual_of;       /* by user: the one of `default` outside projects; 0: none */
    struct map virtual_in_project;    /* (default node, user) -> node */
};

/* O(nodes), and what share_tree_of costs. */
void share_snapshot_make(struct share_snapshot *m, struct state *s);
void share_snapshot_release(struct share_snapshot *m);

/* The node of active that serves an association's user in a project (index of the object, or NONE), made where `default`
 * does; or NONE. */
uint32_t share_snapshot_serve(struct share_snapshot *m, uint32_t assoc, uint32_t project);

/* Fills the usages of active, once all who are served have been asked for. O(nodes + owners). */
void share_snapshot_add_usage(struct share_snapshot *m, int64_t now_us, struct arena *arena);

#endif
