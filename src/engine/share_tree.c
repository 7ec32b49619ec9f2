#include "engine/share_tree.h"

#include <string.h>

#include "base/ensure.h"

static const struct share_place nowhere = {NONE, false};

/* --- the nodes ---------------------------------------------------------------------------------------------------- */

struct building {
    struct share_tree *t;
    const struct state *s;
    struct arena scratch;
    uint32_t *node, *realm; /* by node of the association tree: its share node, and the project node around it or 0 */
    uint32_t *user;         /* by association of a user: the user's number */
    struct map leaves;      /* (realm, that number) -> the leaf */
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
static const char *group_name(struct share_tree *t, const char *account)
{
    size_t length = strlen(account);
    char *name = arena_alloc(&t->names, length + 2);
    name[0] = '/';
    memcpy(name + 1, account, length);
    return name;
}

static void add_account(struct building *b, uint32_t place, const struct assoc *a)
{
    uint32_t above = b->s->tree.parent[place], realm = b->realm[above];
    bool is_of_project = realm == 0 && is_project(b, a->account);
    const char *name = is_of_project ? a->account : group_name(b->t, a->account);
    b->node[place] = share_nodes_add(&b->t->nodes, b->node[above], name, shares_of(a));
    b->realm[place] = is_of_project ? b->node[place] : realm;
}

static uint64_t pair(uint32_t first, uint32_t second)
{
    return (uint64_t)first << 32 | second;
}

static void add_user(struct building *b, uint32_t place, const struct assoc *a)
{
    uint32_t above = b->s->tree.parent[place], assoc = b->s->assoc_of.items[place];
    uint32_t user = map_get(&b->t->users, str(a->user));
    if (user == NONE) map_set(&b->t->users, str(a->user), user = assoc);
    b->user[assoc] = user;
    uint64_t key = pair(b->realm[above], user);
    if (is_project(b, a->user) || map_get_u64(&b->leaves, key) != NONE) return;
    map_set_u64(&b->leaves, key, share_nodes_add(&b->t->nodes, b->node[above], a->user, shares_of(a)));
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

/* --- who is served where ------------------------------------------------------------------------------------------ */

/* No user has the empty name: what is left is `default`, if there is one outside projects. */
static struct share_place default_place(const struct share_tree *t)
{
    struct share_place place;
    place.node = share_nodes_serve(&t->nodes, "", NULL, &place.is_default);
    return place;
}

static void place_users(struct building *b)
{
    struct share_tree *t = b->t;
    const struct state *s = b->s;
    t->rest = default_place(t);
    array_reserve(&t->of_user, s->assocs.count);
    for (uint32_t i = 0; i < s->assocs.count; i++) {
        const struct assoc *a = &s->assocs.items[i];
        bool is_user = a->user != NULL && a->deleted_us == 0;
        uint32_t leaf = is_user ? map_get_u64(&b->leaves, pair(0, b->user[i])) : NONE;
        struct share_user *user = array_add(&t->of_user);
        user->user = is_user ? b->user[i] : NONE;
        user->place = leaf != NONE ? (struct share_place){leaf, false} : is_user ? t->rest : nowhere;
    }
}

static void note_projects(struct share_tree *t)
{
    for (uint32_t i = 0; i < t->nodes.nodes.count; i++) {
        const struct share_node *n = &t->nodes.nodes.items[i];
        if (n->is_project) map_set(&t->projects, str(n->name), i);
    }
}

static struct share_tree *make_tree(const struct state *s)
{
    struct share_tree *t = mem_resize(NULL, 0, sizeof *t);
    struct building b = {.t = t, .s = s};
    struct err e;
    b.node = arena_alloc(&b.scratch, s->tree.count * sizeof *b.node);
    b.realm = arena_alloc(&b.scratch, s->tree.count * sizeof *b.realm);
    b.user = arena_alloc(&b.scratch, s->assocs.count * sizeof *b.user);
    share_nodes_init(&t->nodes);
    add_nodes(&b);
    ensure(share_nodes_finish(&t->nodes, &s->object_by_name[OBJECT_PROJECT], &e) == 0);
    note_projects(t);
    place_users(&b);
    map_release(&b.leaves);
    arena_release(&b.scratch);
    return t;
}

void share_tree_free(struct share_tree *t)
{
    if (t == NULL) return;
    share_nodes_release(&t->nodes);
    map_release(&t->projects);
    map_release(&t->users);
    map_release(&t->in_project);
    arena_release(&t->names);
    array_release(&t->of_user);
    array_release(&t->of_owner);
    array_release(&t->of_pairs);
    mem_free(t);
}

/* A project's usage is its node's; a user's that of the leaf, but not of a project without leaves. */
static struct share_place place_of_owner(const struct share_tree *t, const struct owner *o)
{
    struct share_place place = nowhere;
    const char *project = o->project[0] != '\0' ? o->project : NULL;
    if (o->user[0] == '\0') {
        place.node = map_get(&t->projects, str(o->project));
        return place;
    }
    place.node = share_nodes_serve(&t->nodes, o->user, project, &place.is_default);
    return place.node != NONE && t->nodes.nodes.items[place.node].is_project ? nowhere : place;
}

/* The state's share tree as it stands. Rows of projects are only ever added and marked deleted, so their two counts tell
 * whether they are the same ones. */
static struct share_tree *share_tree_of(struct state *s)
{
    struct share_tree *t = s->share_tree;
    uint32_t rows = s->objects[OBJECT_PROJECT].count, projects = s->object_by_name[OBJECT_PROJECT].count;
    state_tree(s);
    if (t == NULL || t->tree_builds != s->tree_builds || t->project_rows != rows || t->project_count != projects) {
        share_tree_free(t);
        t = s->share_tree = make_tree(s);
        t->tree_builds = s->tree_builds;
        t->project_rows = rows;
        t->project_count = projects;
    }
    for (uint32_t i = t->of_owner.count; i < s->owners.count; i++) {
        const struct owner *o = &s->owners.items[i];
        *array_add(&t->of_owner) = (struct share_user){place_of_owner(t, o), map_get(&t->users, str(o->user))};
    }
    return t;
}

/* --- one moment --------------------------------------------------------------------------------------------------- */

void share_moment_make(struct share_moment *m, struct state *s)
{
    struct share_tree *t = share_tree_of(s);
    *m = (struct share_moment){.s = s, .tree = t};
    array_reserve(&m->active, t->nodes.nodes.count);
    for (uint32_t i = 0; i < t->nodes.nodes.count; i++) {
        const struct share_node *n = &t->nodes.nodes.items[i];
        m->active.items[i] =
            (struct ticket_node){.parent = n->parent, .shares = n->shares, .is_group = !n->is_leaf && !n->is_project};
    }
    m->active.count = t->nodes.nodes.count;
    if (!t->rest.is_default) return;
    array_reserve(&m->virtual_of, s->assocs.count);
    m->virtual_of.count = s->assocs.count;
}

void share_moment_release(struct share_moment *m)
{
    array_release(&m->active);
    array_release(&m->virtual_of);
    map_release(&m->virtual_in_project);
}

static bool is_rest(const struct share_moment *m, uint32_t default_node)
{
    return m->tree->rest.is_default && m->tree->rest.node == default_node;
}

/* The user's own sibling of a `default` node, if it was made. */
static uint32_t find_virtual(const struct share_moment *m, uint32_t default_node, uint32_t user)
{
    if (user == NONE) return NONE;
    if (!is_rest(m, default_node)) return map_get_u64(&m->virtual_in_project, pair(default_node, user));
    uint32_t node = m->virtual_of.items[user];
    return node != 0 ? node : NONE;
}

static uint32_t add_virtual(struct share_moment *m, uint32_t default_node, uint32_t user)
{
    uint32_t node = m->active.count;
    struct ticket_node like_default = m->active.items[default_node];
    like_default.is_virtual = true;
    *array_add(&m->active) = like_default;
    if (is_rest(m, default_node))
        m->virtual_of.items[user] = node;
    else
        map_set_u64(&m->virtual_in_project, pair(default_node, user), node);
    return node;
}

/* Several names have to be looked up, so it is done once for each pair. */
static struct share_place place_in_project(const struct share_moment *m, const struct share_user *user,
                                           const char *user_name, uint32_t project)
{
    struct share_tree *t = m->tree;
    uint32_t known = map_get_u64(&t->in_project, pair(project, user->user));
    if (known != NONE) return t->of_pairs.items[known];
    struct share_place place;
    const char *name = m->s->objects[OBJECT_PROJECT].items[project].object.name;
    place.node = share_nodes_serve(&t->nodes, user_name, name, &place.is_default);
    map_set_u64(&t->in_project, pair(project, user->user), t->of_pairs.count);
    *array_add(&t->of_pairs) = place;
    return place;
}

uint32_t share_moment_serve(struct share_moment *m, uint32_t assoc, uint32_t project)
{
    const struct share_user *user = &m->tree->of_user.items[assoc];
    struct share_place place = user->place;
    ensure(user->user != NONE); /* an association with live jobs stands */
    if (project != NONE) place = place_in_project(m, user, m->s->assocs.items[assoc].user, project);
    if (place.node == NONE || !place.is_default) return place.node;
    uint32_t own = find_virtual(m, place.node, user->user);
    return own != NONE ? own : add_virtual(m, place.node, user->user);
}

void share_moment_fill(struct share_moment *m, int64_t now_us, struct arena *arena)
{
    const struct state *s = m->s;
    const struct ticket_usage *usage = owner_usage_now(m->s, now_us, arena);
    struct ticket_node *active = m->active.items;
    for (uint32_t i = 0; i < s->owners.count; i++) {
        const struct share_user *owner = &m->tree->of_owner.items[i];
        uint32_t node = owner->place.node;
        if (owner->place.is_default) node = find_virtual(m, node, owner->user);
        if (node == NONE) continue;
        active[node].usage = ticket_usage_combine(s->policy.tickets.usage_weights, &usage[i]);
    }
    for (uint32_t node = m->active.count; node-- > 1;) {
        struct ticket_node *above = &active[active[node].parent];
        if (above->is_group) above->usage += active[node].usage;
    }
}
