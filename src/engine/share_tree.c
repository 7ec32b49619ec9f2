#include "engine/share_tree.h"

#include <string.h>

#include "base/ensure.h"
#include "base/text.h"

/* --- the nodes ---------------------------------------------------------------------------------------------------- */

struct building {
    struct share_tree *t;
    const struct state *s;
    struct arena *arena;
    uint32_t *node, *realm; /* by node of the association tree: its share node, and the project node around it or 0 */
    struct map users;       /* name -> the first association that bears it */
    struct map leaves;      /* (realm, that association): there is one */
};

static bool is_project(const struct building *b, const char *name)
{
    return map_get(&b->s->object_by_name[OBJECT_PROJECT], str(name)) != NONE;
}

static uint32_t shares_of(const struct assoc *a)
{
    return a->shares == SHARES_PARENT ? 1 : a->shares;
}

/* No user's name has a '/' in it. */
static const char *group_name(const struct building *b, const char *account)
{
    size_t length = strlen(account);
    char *name = arena_alloc(b->arena, length + 2);
    name[0] = '/';
    memcpy(name + 1, account, length);
    return name;
}

static void add_account(struct building *b, uint32_t place, const struct assoc *a)
{
    uint32_t above = b->s->tree.parent[place], realm = b->realm[above];
    bool is_of_project = realm == 0 && is_project(b, a->account);
    const char *name = is_of_project ? a->account : group_name(b, a->account);
    b->node[place] = share_nodes_add(&b->t->nodes, b->node[above], name, shares_of(a));
    b->realm[place] = is_of_project ? b->node[place] : realm;
}

static void add_user(struct building *b, uint32_t place, const struct assoc *a)
{
    uint32_t above = b->s->tree.parent[place], realm = b->realm[above];
    uint32_t first = map_get(&b->users, str(a->user));
    if (is_project(b, a->user)) return;
    if (first == NONE) map_set(&b->users, str(a->user), first = b->s->assoc_of.items[place]);
    uint64_t key = (uint64_t)realm << 32 | first;
    if (map_get_u64(&b->leaves, key) != NONE) return;
    map_set_u64(&b->leaves, key, place);
    share_nodes_add(&b->t->nodes, b->node[above], a->user, shares_of(a));
}

static void add_nodes(struct building *b)
{
    const struct tree *tree = &b->s->tree;
    share_nodes_add(&b->t->nodes, NONE, "/", 1);
    for (uint32_t place = 1; place < tree->count; place++) {
        const struct assoc *a = &b->s->assocs.items[b->s->assoc_of.items[place]];
        if (tree->is_user[place])
            add_user(b, place, a);
        else
            add_account(b, place, a);
    }
}

void share_tree_make(struct share_tree *t, struct state *s, struct arena *arena)
{
    const struct tree *tree = state_tree(s);
    struct building b = {.t = t,
                         .s = s,
                         .arena = arena,
                         .node = arena_alloc(arena, tree->count * sizeof *b.node),
                         .realm = arena_alloc(arena, tree->count * sizeof *b.realm)};
    struct err e;
    *t = (struct share_tree){0};
    share_nodes_init(&t->nodes);
    add_nodes(&b);
    ensure(share_nodes_finish(&t->nodes, &s->object_by_name[OBJECT_PROJECT], &e) == 0);
    map_release(&b.users);
    map_release(&b.leaves);
    array_reserve(&t->active, t->nodes.nodes.count);
    for (uint32_t i = 0; i < t->nodes.nodes.count; i++) {
        const struct share_node *n = &t->nodes.nodes.items[i];
        *array_add(&t->active) = (struct ticket_node){.parent = n->parent, .shares = n->shares};
        if (n->is_project) map_set(&t->projects, str(n->name), i);
    }
}

void share_tree_release(struct share_tree *t)
{
    share_nodes_release(&t->nodes);
    array_release(&t->active);
    map_release(&t->projects);
    map_release(&t->user_numbers);
    map_release(&t->virtual_nodes);
}

/* --- who is served where ------------------------------------------------------------------------------------------ */

static uint64_t virtual_key(uint32_t default_node, uint32_t user_number)
{
    return (uint64_t)default_node << 32 | user_number;
}

/* The user's own sibling of a `default` node, if it was made. */
static uint32_t find_virtual(const struct share_tree *t, uint32_t default_node, const char *user)
{
    uint32_t number = map_get(&t->user_numbers, str(user));
    return number == NONE ? NONE : map_get_u64(&t->virtual_nodes, virtual_key(default_node, number));
}

static uint32_t add_virtual(struct share_tree *t, uint32_t default_node, const char *user)
{
    uint32_t number = map_get(&t->user_numbers, str(user)), node = t->active.count;
    if (number == NONE) map_set(&t->user_numbers, str(user), number = t->user_numbers.count);
    struct ticket_node like_default = t->active.items[default_node];
    *array_add(&t->active) = like_default;
    map_set_u64(&t->virtual_nodes, virtual_key(default_node, number), node);
    return node;
}

uint32_t share_tree_serve(struct share_tree *t, const char *user, const char *project)
{
    bool is_default;
    uint32_t node = share_nodes_serve(&t->nodes, user, project, &is_default);
    if (node == NONE || !is_default) return node;
    uint32_t own = find_virtual(t, node, user);
    return own != NONE ? own : add_virtual(t, node, user);
}

/* --- usage -------------------------------------------------------------------------------------------------------- */

/* The node whose usage an owner's is, or NONE: a project's own node; a user's leaf or virtual node. */
static uint32_t node_of_owner(const struct share_tree *t, const struct owner *o)
{
    bool is_default;
    bool is_of_project = o->user[0] == '\0';
    const char *project = o->project[0] != '\0' ? o->project : NULL;
    if (is_of_project) return map_get(&t->projects, str(o->project));
    uint32_t node = share_nodes_serve(&t->nodes, o->user, project, &is_default);
    if (node == NONE || t->nodes.nodes.items[node].is_project) return NONE;
    return is_default ? find_virtual(t, node, o->user) : node;
}

static bool node_is_project(const struct share_tree *t, uint32_t node)
{
    return node < t->nodes.nodes.count && t->nodes.nodes.items[node].is_project;
}

void share_tree_fill(struct share_tree *t, struct state *s, int64_t now_us, struct arena *arena)
{
    const struct ticket_usage *usage = owner_usage_now(s, now_us, arena);
    for (uint32_t i = 0; i < s->owners.count; i++) {
        uint32_t node = node_of_owner(t, &s->owners.items[i]);
        if (node == NONE) continue;
        t->active.items[node].usage = ticket_usage_combine(s->policy.tickets.usage_weights, &usage[i]);
    }
    for (uint32_t node = t->active.count; node-- > 1;) {
        uint32_t above = t->active.items[node].parent;
        if (!node_is_project(t, above)) t->active.items[above].usage += t->active.items[node].usage;
    }
}
