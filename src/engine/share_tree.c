/* Builds the share tree, and finds the node that serves a user. In both, "realm" is the node of the project above, or 0
 * outside projects, as in policy/share_nodes.h. */
#include "engine/share_tree.h"

#include <string.h>

#include "base/ensure.h"

static const struct share_leaf no_leaf = {NONE, false};

/* --- the nodes ---------------------------------------------------------------------------------------------------- */

struct share_tree_builder {
    struct share_tree *t;
    const struct state *s;
    uint32_t *node, *realm; /* by node of the association tree: its share node, and the project node above that, or 0 */
    bool *is_project;       /* by share node */
    bool *has_project_name; /* by user */
};

static uint32_t shares_of(const struct assoc *a)
{
    return a->shares == SHARES_PARENT ? 1 : a->shares;
}

static uint32_t add_node(struct share_tree_builder *b, uint32_t parent, uint32_t shares)
{
    uint32_t node = b->t->nodes.count;
    *array_add(&b->t->nodes) = (struct ticket_node){.parent = parent, .shares = shares};
    if (parent != NONE) b->t->nodes.items[parent].is_group = !b->is_project[parent];
    return node;
}

static void add_account(struct share_tree_builder *b, uint32_t tree_node, const struct assoc *a)
{
    uint32_t above = b->s->tree.parent[tree_node], realm = b->realm[above];
    uint32_t project = realm == 0 ? state_find_object(b->s, OBJECT_PROJECT, a->account) : NONE;
    uint32_t node = b->node[tree_node] = add_node(b, b->node[above], shares_of(a));
    b->realm[tree_node] = project != NONE ? node : realm;
    if (project == NONE) return;
    b->is_project[node] = true;
    b->t->projects.items[project] = (struct share_project){.node = node, .is_leaf = true};
}

/* Whether the user has a leaf in the realm. */
static bool has_leaf(const struct share_tree *t, uint32_t realm, uint32_t user)
{
    return realm == 0 ? t->leaf.items[user] != 0
                      : map_get_u64(&t->leaf_in_project, map_key_of_pair(realm, user)) != NONE;
}

static void set_leaf(struct share_tree *t, uint32_t realm, uint32_t user, uint32_t node)
{
    t->has_default |= user == t->identities->default_user;
    if (realm == 0)
        t->leaf.items[user] = node;
    else
        map_set_u64(&t->leaf_in_project, map_key_of_pair(realm, user), node);
}

/* Grid Engine's share tree knows no partitions, so an association of one partition has no node. */
static void add_user(struct share_tree_builder *b, uint32_t tree_node, const struct assoc *a)
{
    uint32_t above = b->s->tree.parent[tree_node], realm = b->realm[above];
    uint32_t user = b->t->identities->user_of_assoc.items[b->s->assoc_of.items[tree_node]];
    if (b->has_project_name[user] || a->partition != NULL) return;
    if (!has_leaf(b->t, realm, user)) set_leaf(b->t, realm, user, add_node(b, b->node[above], shares_of(a)));
}

static void mark_projects(struct share_tree_builder *b)
{
    const struct state *s = b->s;
    array_reserve(&b->t->projects, s->objects[OBJECT_PROJECT].count);
    for (uint32_t i = 0; i < s->objects[OBJECT_PROJECT].count; i++) {
        const struct object_row *project = &s->objects[OBJECT_PROJECT].items[i];
        uint32_t user = map_get(&b->t->identities->numbers, str(project->object.name));
        if (user != NONE && !project->is_deleted) b->has_project_name[user] = true;
        array_add(&b->t->projects);
    }
}

static void find_leaf_projects(struct share_tree *t)
{
    struct arena scratch = {0};
    bool *has_child = arena_alloc(&scratch, t->nodes.count * sizeof *has_child);
    for (uint32_t i = 1; i < t->nodes.count; i++) has_child[t->nodes.items[i].parent] = true;
    for (uint32_t i = 0; i < t->projects.count; i++) {
        struct share_project *p = &t->projects.items[i];
        if (p->node != 0) p->is_leaf = !has_child[p->node]; /* a document without a tree has no node 0 */
    }
    arena_release(&scratch);
}

static void add_nodes(struct share_tree_builder *b)
{
    const struct tree *tree = &b->s->tree;
    array_reserve(&b->t->nodes, tree->count);
    add_node(b, NONE, 1);
    for (uint32_t tree_node = 1; tree_node < tree->count; tree_node++) {
        const struct assoc *a = &b->s->assocs.items[b->s->assoc_of.items[tree_node]];
        if (tree->is_user[tree_node])
            add_user(b, tree_node, a);
        else
            add_account(b, tree_node, a);
    }
    find_leaf_projects(b->t);
}

/* The nodes of a document's share tree, in its order. A leaf serves no user if there is no user of its name. */
static void add_given_nodes(struct share_tree_builder *b)
{
    const struct share_nodes *given = b->s->share_nodes;
    for (uint32_t i = 0; given != NULL && i < given->nodes.count; i++) {
        const struct share_node *n = &given->nodes.items[i];
        uint32_t node = add_node(b, n->parent, n->shares);
        uint32_t realm = b->realm[node] = n->parent == NONE ? 0 : b->realm[n->parent];
        uint32_t user = n->is_leaf && i > 0 ? map_get(&b->t->identities->numbers, str(n->name)) : NONE;
        if (n->is_project) {
            b->realm[node] = node;
            b->is_project[node] = true;
            uint32_t project = state_find_object(b->s, OBJECT_PROJECT, n->name);
            b->t->projects.items[project] = (struct share_project){.node = node};
        } else if (user != NONE && !has_leaf(b->t, realm, user)) {
            set_leaf(b->t, realm, user, node);
        }
    }
    find_leaf_projects(b->t);
}

static void extend_leaves(struct share_tree *t)
{
    array_reserve(&t->leaf, t->identities->numbers.count);
    while (t->leaf.count < t->identities->numbers.count) array_add(&t->leaf);
}

static void clear_tree(struct share_tree *t)
{
    array_clear(&t->nodes);
    array_clear(&t->leaf);
    array_clear(&t->projects);
    array_clear(&t->of_owner);
    map_clear(&t->leaf_in_project);
    t->has_default = false;
    extend_leaves(t);
}

static void build_tree(struct share_tree *t, const struct state *s)
{
    struct arena scratch = {0};
    struct share_tree_builder b = {.t = t, .s = s};
    size_t count = s->is_document && s->share_nodes != NULL ? s->share_nodes->nodes.count : s->tree.count;
    b.node = arena_alloc(&scratch, count * sizeof *b.node);
    b.realm = arena_alloc(&scratch, count * sizeof *b.realm);
    b.is_project = arena_alloc(&scratch, count * sizeof *b.is_project);
    b.has_project_name = arena_alloc(&scratch, t->identities->numbers.count * sizeof *b.has_project_name);
    clear_tree(t);
    mark_projects(&b);
    if (s->is_document)
        add_given_nodes(&b);
    else
        add_nodes(&b);
    arena_release(&scratch);
}

void share_tree_free(struct share_tree *t)
{
    if (t == NULL) return;
    map_release(&t->leaf_in_project);
    array_release(&t->nodes);
    array_release(&t->leaf);
    array_release(&t->projects);
    array_release(&t->of_owner);
    mem_free(t);
}

/* --- the node that serves a user ---------------------------------------------------------------------------------- */

static struct share_leaf leaf_outside_projects(const struct share_tree *t, uint32_t user)
{
    if (t->leaf.items[user] != 0) return (struct share_leaf){t->leaf.items[user], false};
    uint32_t default_leaf = t->leaf.items[t->identities->default_user];
    return default_leaf != 0 ? (struct share_leaf){default_leaf, true} : no_leaf;
}

/* The same rules as share_nodes_serve (policy/share_nodes.h). */
static struct share_leaf leaf_of(const struct share_tree *t, uint32_t user, uint32_t project)
{
    if (project == NONE) return leaf_outside_projects(t, user);
    const struct share_project *p = &t->projects.items[project];
    if (p->node == 0) return no_leaf;
    if (p->is_leaf) return (struct share_leaf){p->node, false};
    uint32_t leaf = map_get_u64(&t->leaf_in_project, map_key_of_pair(p->node, user));
    if (leaf != NONE) return (struct share_leaf){leaf, false};
    leaf = map_get_u64(&t->leaf_in_project, map_key_of_pair(p->node, t->identities->default_user));
    return (struct share_leaf){leaf, leaf != NONE};
}

/* The node that has an owner's usage: a project's node, or a user's leaf, but not the node of a project without
 * leaves. */
static struct share_leaf leaf_of_owner(const struct share_tree *t, const struct state *s, uint32_t owner)
{
    const char *name = s->owners.items[owner].project;
    uint32_t user = t->identities->user_of_owner.items[owner];
    if (name[0] == '\0') return leaf_outside_projects(t, user);
    uint32_t project = state_find_object(s, OBJECT_PROJECT, name);
    if (project == NONE || t->projects.items[project].node == 0) return no_leaf;
    if (user == NONE) return (struct share_leaf){t->projects.items[project].node, false};
    return t->projects.items[project].is_leaf ? no_leaf : leaf_of(t, user, project);
}

/* Rows of projects are only added or marked deleted, so two counts show whether they have changed. */
static bool is_current(const struct share_tree *t, const struct state *s)
{
    return t->tree_builds == s->tree_builds && t->project_rows == s->objects[OBJECT_PROJECT].count &&
           t->project_count == s->object_by_name[OBJECT_PROJECT].count;
}

struct share_tree *share_tree_of(struct state *s)
{
    if (s->share_tree == NULL) s->share_tree = mem_resize(NULL, 0, sizeof *s->share_tree);
    struct share_tree *t = s->share_tree;
    state_tree(s);
    t->identities = ticket_identities_of(s);
    if (!is_current(t, s)) {
        build_tree(t, s);
        t->tree_builds = s->tree_builds;
        t->project_rows = s->objects[OBJECT_PROJECT].count;
        t->project_count = s->object_by_name[OBJECT_PROJECT].count;
    }
    extend_leaves(t);
    array_reserve(&t->of_owner, s->owners.count);
    for (uint32_t i = t->of_owner.count; i < s->owners.count; i++) *array_add(&t->of_owner) = leaf_of_owner(t, s, i);
    return t;
}

/* --- snapshots ---------------------------------------------------------------------------------------------------- */

void share_snapshot_make(struct share_snapshot *snapshot, struct state *s)
{
    struct share_tree *t = share_tree_of(s);
    *snapshot = (struct share_snapshot){.s = s, .tree = t};
    array_reserve(&snapshot->active, t->nodes.count);
    if (t->nodes.count > 0)
        memcpy(snapshot->active.items, t->nodes.items, t->nodes.count * sizeof *snapshot->active.items);
    snapshot->active.count = t->nodes.count;
    if (t->leaf.items[t->identities->default_user] == 0) return;
    array_reserve(&snapshot->virtual_of, t->identities->numbers.count);
    while (snapshot->virtual_of.count < t->identities->numbers.count) array_add(&snapshot->virtual_of);
}

void share_snapshot_release(struct share_snapshot *snapshot)
{
    array_release(&snapshot->active);
    array_release(&snapshot->virtual_of);
    map_release(&snapshot->virtual_in_project);
}

/* The user's virtual sibling of a `default` node, or NONE. */
static uint32_t find_virtual(const struct share_snapshot *snapshot, uint32_t default_node, uint32_t user)
{
    const struct share_tree *t = snapshot->tree;
    if (default_node != t->leaf.items[t->identities->default_user])
        return map_get_u64(&snapshot->virtual_in_project, map_key_of_pair(default_node, user));
    return snapshot->virtual_of.items[user] != 0 ? snapshot->virtual_of.items[user] : NONE;
}

static uint32_t add_virtual(struct share_snapshot *snapshot, uint32_t default_node, uint32_t user)
{
    uint32_t node = snapshot->active.count;
    struct ticket_node like_default = snapshot->active.items[default_node];
    *array_add(&snapshot->active) = like_default;
    if (default_node == snapshot->tree->leaf.items[snapshot->tree->identities->default_user])
        snapshot->virtual_of.items[user] = node;
    else
        map_set_u64(&snapshot->virtual_in_project, map_key_of_pair(default_node, user), node);
    return node;
}

uint32_t share_snapshot_serve(struct share_snapshot *snapshot, uint32_t assoc, uint32_t project)
{
    ensure(assoc < snapshot->tree->identities->user_of_assoc.count);
    uint32_t user = snapshot->tree->identities->user_of_assoc.items[assoc];
    ensure(user != NONE); /* jobs belong to users */
    struct share_leaf leaf = leaf_of(snapshot->tree, user, project);
    if (!leaf.is_default) return leaf.node;
    uint32_t virtual_node = find_virtual(snapshot, leaf.node, user);
    return virtual_node != NONE ? virtual_node : add_virtual(snapshot, leaf.node, user);
}

/* By node: the usage of all leaves below it; of a leaf its own. */
static double *leaf_usage_below(const struct share_snapshot *snapshot, struct arena *arena)
{
    const struct ticket_node *active = snapshot->active.items;
    uint32_t count = snapshot->active.count;
    double *usage = arena_alloc(arena, count * sizeof *usage);
    bool *has_child = arena_alloc(arena, count * sizeof *has_child);
    for (uint32_t node = count; node-- > 1;) {
        if (!has_child[node]) usage[node] = active[node].usage;
        usage[active[node].parent] += usage[node];
        has_child[active[node].parent] = true;
    }
    return usage;
}

/* Gives each `default` below a project the usage of the project that no leaf below it has. It does not reach the
 * virtual nodes beside the `default`. Smaller amounts do not count (case h_16). */
static void add_excess_usage(struct share_snapshot *snapshot, struct arena *arena)
{
    static const double EXCESS_MIN = 1.0;
    const struct share_tree *t = snapshot->tree;
    const double *below = NULL;
    for (uint32_t i = 0; i < t->projects.count; i++) {
        uint32_t project = t->projects.items[i].node;
        if (project == 0 || t->projects.items[i].is_leaf) continue;
        uint32_t leaf = map_get_u64(&t->leaf_in_project, map_key_of_pair(project, t->identities->default_user));
        if (leaf == NONE) continue;
        if (below == NULL) below = leaf_usage_below(snapshot, arena);
        double excess = snapshot->active.items[project].usage - below[project];
        if (excess > EXCESS_MIN) snapshot->active.items[leaf].usage += excess;
    }
}

void share_snapshot_add_usage(struct share_snapshot *snapshot, int64_t now_us, struct arena *arena)
{
    const struct state *s = snapshot->s;
    const struct ticket_usage *usage = usage_owner_current(snapshot->s, now_us, arena);
    struct ticket_node *active = snapshot->active.items;
    for (uint32_t i = 0; i < s->owners.count; i++) {
        struct share_leaf leaf = snapshot->tree->of_owner.items[i];
        uint32_t node = leaf.is_default
                            ? find_virtual(snapshot, leaf.node, snapshot->tree->identities->user_of_owner.items[i])
                            : leaf.node;
        if (node == NONE) continue;
        active[node].usage = ticket_usage_combine(&s->policy.tickets.usage_weights, &usage[i]);
    }
    add_excess_usage(snapshot, arena);
    for (uint32_t node = snapshot->active.count; node-- > 1;) {
        struct ticket_node *above = &active[active[node].parent];
        if (above->is_group) above->usage += active[node].usage;
    }
}
