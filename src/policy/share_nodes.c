/* Two maps find the node that serves a user's jobs.
 *
 * The realm of a node is the project node that it is or is below, else the root, node 0. Within a realm a user's name
 * occurs once, so a realm and a name identify one node:
 *
 *     names     "ua" -> 2, the first node of that name; its index stands for the name
 *     serving   (realm 1, name 2) -> 2      ua in P1
 *               (realm 0, name 3) -> 7      default outside projects; the first of several, depth first
 *               (PROJECT, name 1) -> 1      the node of project P1
 *
 * The root is never a project. Only leaves serve users: a group that has the name of a user is a group.
 *
 * Cost: O(n) to finish, two or three look-ups to serve. */
#include "policy/share_nodes.h"

#include "base/ensure.h"

static const uint32_t PROJECT = NONE - 1; /* in place of a realm; below NONE, as map_key_of_pair requires */
static const char *const DEFAULT_NAME = "default";

void share_nodes_init(struct share_nodes *t)
{
    *t = (struct share_nodes){0};
}

void share_nodes_release(struct share_nodes *t)
{
    array_release(&t->nodes);
    map_release(&t->names);
    map_release(&t->serving);
}

uint32_t share_nodes_add(struct share_nodes *t, uint32_t parent, const char *name, uint32_t shares)
{
    uint32_t node = t->nodes.count;
    ensure(node == 0 ? parent == NONE : parent < node);
    *array_add(&t->nodes) = (struct share_node){.name = name, .parent = parent, .shares = shares};
    return node;
}

/* The results that share_nodes_finish computes for the nodes. */
struct survey {
    uint32_t *name;  /* by node: the first node of its name */
    uint32_t *realm; /* by node */
};

static const char *name_of(const struct share_nodes *t, uint32_t node)
{
    return t->nodes.items[node].name;
}

static bool is_default(const struct share_nodes *t, uint32_t node)
{
    return str_equal(str(name_of(t, node)), str(DEFAULT_NAME));
}

static int check_siblings(const struct share_nodes *t, const struct survey *s, struct err *e)
{
    struct map seen = {0};
    int result = 0;
    for (uint32_t i = 1; i < t->nodes.count && result == 0; i++) {
        uint64_t key = map_key_of_pair(t->nodes.items[i].parent, s->name[i]);
        if (map_get_u64(&seen, key) != NONE) {
            result = err_value_reason(e, "share_tree", str(name_of(t, i)), "occurs twice below '%s'",
                                      name_of(t, t->nodes.items[i].parent));
        }
        map_set_u64(&seen, key, i);
    }
    map_release(&seen);
    return result;
}

static int add_project(struct share_nodes *t, struct survey *s, uint32_t node, struct err *e)
{
    uint32_t outer = s->realm[t->nodes.items[node].parent];
    if (outer != 0) {
        return err_value_reason(e, "share_tree", str(name_of(t, node)), "is a project inside project '%s'",
                                name_of(t, outer));
    }
    uint64_t key = map_key_of_pair(PROJECT, s->name[node]);
    if (map_get_u64(&t->serving, key) != NONE) {
        return err_value_reason(e, "share_tree", str(name_of(t, node)), "is a project and occurs twice");
    }
    t->nodes.items[node].is_project = true;
    s->realm[node] = node;
    map_set_u64(&t->serving, key, node);
    return 0;
}

static int add_leaf(struct share_nodes *t, const struct survey *s, uint32_t node, struct err *e)
{
    uint64_t key = map_key_of_pair(s->realm[node], s->name[node]);
    if (map_get_u64(&t->serving, key) == NONE) {
        map_set_u64(&t->serving, key, node);
        return 0;
    }
    if (s->realm[node] == 0) {
        if (is_default(t, node)) return 0; /* the first one serves */
        return err_value_reason(e, "share_tree", str(name_of(t, node)), "is a user and occurs twice outside projects");
    }
    return err_value_reason(e, "share_tree", str(name_of(t, node)), "%s inside project '%s'",
                            is_default(t, node) ? "occurs twice" : "is a user and occurs twice",
                            name_of(t, s->realm[node]));
}

static void survey_names(struct share_nodes *t, struct survey *s)
{
    for (uint32_t i = 0; i < t->nodes.count; i++) {
        struct str name = str(name_of(t, i));
        s->name[i] = map_get(&t->names, name);
        if (s->name[i] == NONE) {
            map_set(&t->names, name, i);
            s->name[i] = i;
        }
        t->nodes.items[i].is_project = false;
        t->nodes.items[i].is_leaf = true;
        if (i > 0) t->nodes.items[t->nodes.items[i].parent].is_leaf = false;
    }
}

static int finish(struct share_nodes *t, const struct map *projects, struct survey *s, struct err *e)
{
    survey_names(t, s);
    if (check_siblings(t, s, e) != 0) return -1;
    for (uint32_t i = 0; i < t->nodes.count; i++) {
        s->realm[i] = i == 0 ? 0 : s->realm[t->nodes.items[i].parent];
        bool is_project = i > 0 && projects != NULL && map_get(projects, str(name_of(t, i))) != NONE;
        if (is_project) {
            if (add_project(t, s, i, e) != 0) return -1;
        } else if (i > 0 && t->nodes.items[i].is_leaf) {
            if (add_leaf(t, s, i, e) != 0) return -1;
        }
    }
    return 0;
}

int share_nodes_finish(struct share_nodes *t, const struct map *projects, struct err *e)
{
    map_clear(&t->names);
    map_clear(&t->serving);
    struct arena arena = {0};
    uint32_t count = t->nodes.count;
    struct survey s = {
        .name = arena_alloc(&arena, count * sizeof *s.name),
        .realm = arena_alloc(&arena, count * sizeof *s.realm),
    };
    int result = finish(t, projects, &s, e);
    if (result != 0) map_clear(&t->serving);
    arena_release(&arena);
    return result;
}

/* The leaf of that name in a realm, or NONE. */
static uint32_t find_leaf(const struct share_nodes *t, uint32_t realm, const char *name)
{
    uint32_t first = map_get(&t->names, str(name));
    return first == NONE ? NONE : map_get_u64(&t->serving, map_key_of_pair(realm, first));
}

uint32_t share_nodes_serve(const struct share_nodes *t, const char *user, const char *project, bool *out_is_default)
{
    *out_is_default = false;
    uint32_t realm = project == NULL ? 0 : find_leaf(t, PROJECT, project);
    if (realm == NONE) return NONE;
    uint32_t leaf = find_leaf(t, realm, user);
    if (leaf != NONE) return leaf;
    if (realm != 0 && t->nodes.items[realm].is_leaf) return realm;
    leaf = find_leaf(t, realm, DEFAULT_NAME);
    *out_is_default = leaf != NONE;
    return leaf;
}
