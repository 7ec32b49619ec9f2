/* Grid Engine's share tree: nodes are users, projects or plain groups, told by their names.
 *
 *     Root
 *     +- P1        60 shares; a project's name: a project node, serves only jobs of P1
 *     |  +- ua     10
 *     |  +- default 20; every other user of P1, each with a node and 20 shares of their own
 *     +- grp       10
 *        +- default
 *
 * Which node serves a job (of user u, in project p or none)
 *   no project:  the first node named u, depth first, never entering a project node; else `default` found the same way
 *   a project:   node p; a leaf serves all its users; else u inside p, then `default` inside p; p not there: none
 * Source: docs/formulas.md 5.1; Grid Engine 8.1.9, cases c4, c5. */
#ifndef FAIRLEAD_POLICY_SHARE_NODES_H
#define FAIRLEAD_POLICY_SHARE_NODES_H

#include "base/arena.h"
#include "base/array.h"
#include "base/err.h"
#include "base/map.h"

struct share_node {
    const char *name;
    uint32_t parent; /* index, smaller than its own; node 0, the root: NONE */
    uint32_t shares;
    bool is_project, is_leaf; /* filled by share_nodes_finish */
};

/* Nodes in depth-first order, as a document lists them: a node's children follow it before its next sibling. */
struct share_nodes {
    ARRAY(struct share_node) nodes;
    /* Made by share_nodes_finish, see share_nodes.c. */
    struct map names;   /* name -> the first node of that name */
    struct map serving; /* (realm, name) -> node */
};

void share_nodes_init(struct share_nodes *t);
void share_nodes_release(struct share_nodes *t);

/* Adds a node below parent (NONE: the root, first); names are borrowed. */
uint32_t share_nodes_add(struct share_nodes *t, uint32_t parent, const char *name, uint32_t shares);

/* Marks projects (by name; NULL: there are none) and makes the tree ready for asking. A node without children that is no
 * project is a user or `default`; one with children serves nobody by its name. ERR_INPUT, naming the node: a project
 * inside a project or twice in the tree, a user twice in the same realm (outside projects, or inside one project), two
 * siblings of one name. */
int share_nodes_finish(struct share_nodes *t, const struct map *projects, struct err *e);

/* The node that serves a user's jobs in a project (NULL: none), or NONE. out_is_default: it is a `default` node, so the
 * user has a virtual sibling of it with the same shares. O(1). */
uint32_t share_nodes_serve(const struct share_nodes *t, const char *user, const char *project, bool *out_is_default);

#endif
