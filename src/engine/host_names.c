#include "engine/host_names.h"

#include <string.h>

#include "fields/host_ranges.h"

enum group_state { GROUP_NEW, GROUP_OPEN, GROUP_DONE };

/* A group whose hosts are being added. */
struct open_group {
    uint32_t group;
    struct name_list list;
    uint32_t next; /* in the list */
};

struct group_walk {
    const struct host_names *names;
    enum group_state *states;  /* by index of the group */
    struct open_group *opened; /* each contains the next one */
    uint32_t depth;
};

static void add_host(uint64_t *set, uint32_t host)
{
    set[host / 64] |= UINT64_C(1) << host % 64;
}

static bool is_group(struct str name)
{
    return name.length > 1 && name.text[0] == '@';
}

static uint32_t find(const struct host_names *n, enum object_kind kind, struct str name)
{
    return map_get(&n->s->object_by_name[kind], name);
}

/* The group that a name with '@' means, or NONE. */
static uint32_t find_group(const struct host_names *n, struct str name)
{
    return find(n, OBJECT_GROUP, str_range(name.text + 1, name.text + name.length));
}

/* The index of a host or a group. */
static int find_name(const struct host_names *n, struct str name, const char *what, uint32_t *out_index, struct err *e)
{
    *out_index = is_group(name) ? find_group(n, name) : find(n, OBJECT_HOST, name);
    if (*out_index != NONE) return 0;
    return err_value(e, what, name, "%s", is_group(name) ? "a group of hosts" : "a host");
}

/* Adds a host, or the hosts of a resolved group, to a set. */
static void add_index(const struct host_names *n, bool is_of_group, uint32_t index, uint64_t *set)
{
    if (!is_of_group) {
        add_host(set, index);
        return;
    }
    for (uint32_t k = 0; k < n->words; k++) set[k] |= n->members[index][k];
}

/* --- groups ------------------------------------------------------------------------------------------------------- */

static const char *group_name(const struct group_walk *w, uint32_t group)
{
    return w->names->s->objects[OBJECT_GROUP].items[group].object.name;
}

static int open_group(struct group_walk *w, uint32_t group, struct err *e)
{
    const struct object *o = &w->names->s->objects[OBJECT_GROUP].items[group].object;
    if (w->states[group] == GROUP_OPEN)
        return err_subject(e, ERR_INPUT, "group", str(o->name), "contains itself, through its hosts");
    struct open_group *opened = &w->opened[w->depth++];
    *opened = (struct open_group){.group = group};
    w->states[group] = GROUP_OPEN;
    return host_ranges_names(str(o->value[GROUP_HOSTS].text), "hosts", w->names->arena, &opened->list, e);
}

/* Adds names to the innermost open group, up to a group that has to be resolved first. */
static int add_names(struct group_walk *w, struct err *e)
{
    struct open_group *opened = &w->opened[w->depth - 1];
    for (; opened->next < opened->list.count; opened->next++) {
        struct str name = opened->list.items[opened->next];
        uint32_t index;
        if (find_name(w->names, name, "hosts", &index, e) != 0) return -1;
        if (is_group(name) && w->states[index] != GROUP_DONE) return open_group(w, index, e);
        add_index(w->names, is_group(name), index, w->names->members[opened->group]);
    }
    w->states[opened->group] = GROUP_DONE;
    w->depth--;
    return 0;
}

/* Without recursion: groups may be nested as deeply as there are groups. */
static int resolve_group(struct group_walk *w, uint32_t group, struct err *e)
{
    if (w->states[group] == GROUP_DONE) return 0;
    int status = open_group(w, group, e);
    while (status == 0 && w->depth > 0) status = add_names(w, e);
    return status == 0 ? 0 : err_of(e, "group", str(group_name(w, w->opened[w->depth - 1].group)));
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

int host_names_make(const struct state *s, struct arena *arena, struct host_names *out, struct err *e)
{
    uint32_t groups = s->objects[OBJECT_GROUP].count;
    *out = (struct host_names){.s = s, .arena = arena, .words = s->objects[OBJECT_HOST].count / 64 + 1};
    out->members = arena_alloc(arena, (groups + (size_t)1) * sizeof *out->members);
    for (uint32_t i = 0; i < groups; i++) out->members[i] = arena_alloc(arena, out->words * sizeof(uint64_t));
    struct group_walk walk = {.names = out,
                              .states = arena_alloc(arena, (groups + (size_t)1) * sizeof *walk.states),
                              .opened = arena_alloc(arena, (groups + (size_t)1) * sizeof *walk.opened)};
    for (uint32_t i = 0; i < groups; i++) {
        if (!s->objects[OBJECT_GROUP].items[i].is_deleted && resolve_group(&walk, i, e) != 0) return -1;
    }
    return 0;
}

int host_names_set(const struct host_names *n, struct str text, const char *what, uint64_t **out_set, struct err *e)
{
    struct name_list list;
    *out_set = arena_alloc(n->arena, n->words * sizeof **out_set);
    if (host_ranges_names(text, what, n->arena, &list, e) != 0) return -1;
    for (uint32_t i = 0; i < list.count; i++) {
        uint32_t index;
        if (find_name(n, list.items[i], what, &index, e) != 0) return -1;
        add_index(n, is_group(list.items[i]), index, *out_set);
    }
    return 0;
}

int host_names_check_values(const struct host_names *n, const struct host_values *values, const char *what,
                            struct err *e)
{
    for (uint32_t i = 0; i < values->count; i++) {
        uint32_t unused;
        if (find_name(n, values->hosts[i].name, what, &unused, e) != 0) return -1;
    }
    return 0;
}

struct str host_names_value(const struct host_names *n, const struct host_values *values, uint32_t host)
{
    struct str own = str(n->s->objects[OBJECT_HOST].items[host].object.name);
    const struct named_value *of_group = NULL;
    for (uint32_t i = 0; i < values->count; i++) {
        const struct named_value *v = &values->hosts[i];
        if (str_equal(v->name, own)) return v->value;
        if (of_group == NULL && is_group(v->name) && host_set_has(n->members[find_group(n, v->name)], host))
            of_group = v;
    }
    return of_group != NULL ? of_group->value : values->common;
}
