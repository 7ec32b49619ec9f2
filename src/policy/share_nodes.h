/* Grid Engine's share tree. Its nodes are users, projects or plain groups, depending on their names.
 *
 *     Root
 *     +- P1        60 shares; the name of a project: a project node, serves only jobs of P1
 *     |  +- ua     10
 *     |  +- default 20; serves every other user of P1, each by a virtual node with 20 shares
 *     +- grp       10
 *        +- default
 *
 * Which node serves a job of user u, in project p or in none:
 *   no project:  the first node named u, depth first, outside project nodes; else the first `default` there
 *   a project:   node p. If p is a leaf, it serves all its users; else u inside p, then `default` inside p. If p is not
 *                in the tree, no node serves the job.
 * Source: docs/formulas.md 5.1; Grid Engine 8.1.9, cases c4, c5. */
#ifndef FAIRLEAD_POLICY_SHARE_NODES_H
#define FAIRLEAD_POLICY_SHARE_NODES_H

#include "base/arena.h"
#include "base/array.h"
#include "base/err.h"
#include "base/map.h"

struct share_node {
    const char *name;
    uint32_t parent; /* an index smaller than its own; the root, node 0, has NONE */
    uint32_t shares;
    bool is_project, is_leaf; /* set by share_nodes_finish */
};

/* Nodes in depth-first order, as a document lists them: the children of a node come before its next sibling. */
struct share_nodes {
    ARRAY(struct share_node) nodes;
    /* Built by share_nodes_finish, see share_nodes.c. */
    struct map names;   /* name -> the first node of that name */
    struct map serving; /* (realm, name) -> node */
};

/* share_nodes_init makes it empty; share_nodes_release frees it. */
void share_nodes_init(struct share_nodes *t);
void share_nodes_release(struct share_nodes *t);

/* Adds a node below parent (NONE for the root, which comes first) and returns its index. name has to outlive t. */
uint32_t share_nodes_add(struct share_nodes *t, uint32_t parent, const char *name, uint32_t shares);

/* Marks the projects and prepares share_nodes_serve. projects: a map of their names; NULL if there are none. A leaf
 * that is not a project is a user or `default`; a node with children serves no user by its name. ERR_INPUT, which names
 * the node: a project inside a project or twice in the tree, a user twice in one realm (outside projects, or inside one
 * project), `default` twice inside one project, or two siblings of one name. O(n). */
int share_nodes_finish(struct share_nodes *t, const struct map *projects, struct err *e);

/* The node that serves a user's jobs in a project (NULL: none), or NONE. out_is_default: it is a `default` node, so the
 * user has a virtual sibling of it with the same shares. O(1). */
uint32_t share_nodes_serve(const struct share_nodes *t, const char *user, const char *project, bool *out_is_default);

#endif
