/* The live share tree: the association tree as Grid Engine's share tree, at one moment.
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

#include "engine/internal.h"
#include "policy/share_nodes.h"

struct share_tree {
    struct share_nodes nodes;
    ARRAY(struct ticket_node) active; /* the nodes, then virtual ones: a user's sibling of a `default` node */
    struct map projects;              /* name -> its node */
    struct map user_numbers;          /* of those that `default` serves: name -> number */
    struct map virtual_nodes;         /* (default node, number) -> node */
};

/* Names are borrowed from the state or lie in arena. O(associations). */
void share_tree_make(struct share_tree *t, struct state *s, struct arena *arena);
void share_tree_release(struct share_tree *t);

/* The node of active that serves the user's jobs in a project (NULL: none), made where `default` does; or NONE. */
uint32_t share_tree_serve(struct share_tree *t, const char *user, const char *project);

/* Fills the usages of active, once all who are served have been asked for. O(nodes + owners). */
void share_tree_fill(struct share_tree *t, struct state *s, int64_t now_us, struct arena *arena);

#endif
