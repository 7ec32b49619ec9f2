#include "engine/host_names.h"

#include <string.h>

enum group_state { GROUP_NEW, GROUP_OPEN, GROUP_DONE };

struct group_walk {
    const struct host_names *names;
    enum group_state *states; /* by index of the group */
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

static int fail_unknown(struct str name, const char *what, struct err *e)
{
    return err_value(e, what, name, "%s", is_group(name) ? "a group of hosts" : "a host");
}

static int open_group(struct group_walk *w, uint32_t group, struct err *e);

/* Adds the hosts of a list to a set. walk NULL: all groups are resolved. */
static int add_names(const struct host_names *n, struct group_walk *walk, struct str text, const char *what,
                     uint64_t *set, struct err *e)
{
    struct name_list list;
    if (host_text_names(text, what, n->arena, &list, e) != 0) return -1;
    for (uint32_t i = 0; i < list.count; i++) {
        uint32_t index = is_group(list.items[i]) ? find_group(n, list.items[i]) : find(n, OBJECT_HOST, list.items[i]);
        if (index == NONE) return fail_unknown(list.items[i], what, e);
        if (!is_group(list.items[i])) {
            add_host(set, index);
            continue;
        }
        if (walk != NULL && open_group(walk, index, e) != 0) return -1;
        for (uint32_t k = 0; k < n->words; k++) set[k] |= n->members[index][k];
    }
    return 0;
}

static int open_group(struct group_walk *w, uint32_t group, struct err *e)
{
    const struct object *o = &w->names->s->objects[OBJECT_GROUP].items[group].object;
    if (w->states[group] == GROUP_DONE) return 0;
    if (w->states[group] == GROUP_OPEN)
        return err_subject(e, ERR_INPUT, "group", str(o->name), "contains itself, through its hosts");
    w->states[group] = GROUP_OPEN;
    if (add_names(w->names, w, str(o->value[GROUP_HOSTS].text), "hosts", w->names->members[group], e) != 0)
        return err_of(e, "group", str(o->name));
    w->states[group] = GROUP_DONE;
    return 0;
}

int host_names_make(const struct state *s, struct arena *arena, struct host_names *out, struct err *e)
{
    uint32_t groups = s->objects[OBJECT_GROUP].count;
    *out = (struct host_names){.s = s, .arena = arena, .words = s->objects[OBJECT_HOST].count / 64 + 1};
    out->members = arena_alloc(arena, (groups + (size_t)1) * sizeof *out->members);
    for (uint32_t i = 0; i < groups; i++) out->members[i] = arena_alloc(arena, out->words * sizeof(uint64_t));
    struct group_walk walk = {.names = out, .states = arena_alloc(arena, (groups + (size_t)1) * sizeof *walk.states)};
    for (uint32_t i = 0; i < groups; i++) {
        if (!s->objects[OBJECT_GROUP].items[i].is_deleted && open_group(&walk, i, e) != 0) return -1;
    }
    return 0;
}

int host_names_set(const struct host_names *n, struct str text, const char *what, uint64_t **out_set, struct err *e)
{
    *out_set = arena_alloc(n->arena, n->words * sizeof **out_set);
    return add_names(n, NULL, text, what, *out_set, e);
}

int host_names_check_values(const struct host_names *n, const struct host_values *values, const char *what,
                            struct err *e)
{
    for (uint32_t i = 0; i < values->count; i++) {
        struct str name = values->hosts[i].name;
        if ((is_group(name) ? find_group(n, name) : find(n, OBJECT_HOST, name)) == NONE)
            return fail_unknown(name, what, e);
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
