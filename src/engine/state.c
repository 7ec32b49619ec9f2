/* Finding and reading. Rows come and go in rows.c, states in lifetime.c; what is decided about them is in the others. */
#include "engine/state.h"

#include <string.h>

#include "base/ensure.h"

static const char *const state_names[JOB_STATE_COUNT] = {
    [JOB_PENDING] = "PENDING",       [JOB_STARTING] = "STARTING",   [JOB_RUNNING] = "RUNNING",
    [JOB_COMPLETING] = "COMPLETING", [JOB_COMPLETED] = "COMPLETED", [JOB_FAILED] = "FAILED",
    [JOB_CANCELLED] = "CANCELLED",   [JOB_TIMEOUT] = "TIMEOUT",     [JOB_NODE_FAIL] = "NODE_FAIL",
};

const char *job_state_name(enum job_state s)
{
    ensure(s < JOB_STATE_COUNT);
    return state_names[s];
}

enum job_state job_state_from_name(const char *name)
{
    int s = 0;
    while (s < JOB_STATE_COUNT && strcmp(state_names[s], name) != 0) s++;
    return (enum job_state)s;
}

struct str state_name_key(char key[NAME_KEY_SIZE], const char *first, const char *second)
{
    size_t length = strlen(first), second_length = second ? strlen(second) : 0;
    if (length > NAME_BYTES_MAX || second_length > NAME_BYTES_MAX) return (struct str){0};
    memcpy(key, first, length);
    if (second == NULL) return (struct str){key, length};
    key[length] = '\x1f';
    memcpy(key + length + 1, second, second_length);
    return (struct str){key, length + 1 + second_length};
}

uint32_t state_find_assoc(const struct state *s, const char *account, const char *user)
{
    char key[NAME_KEY_SIZE];
    struct str name = state_name_key(key, account, user);
    return name.length > 0 ? map_get(&s->assoc_by_name, name) : NONE;
}

uint32_t state_find_object(const struct state *s, enum object_kind kind, const char *name)
{
    return map_get(&s->object_by_name[kind], str(name));
}

uint32_t state_find_job(const struct state *s, uint32_t job_id)
{
    return map_get_u64(&s->job_by_id, job_id);
}

uint32_t state_find_task(const struct state *s, uint32_t job_id, uint32_t task_id)
{
    return map_get_u64(&s->task_by_id, task_key(job_id, task_id));
}

uint32_t state_default_assoc(const struct state *s, const char *user)
{
    return map_get(&s->default_of_user, str(user));
}

/* Lists of each account's children, users and accounts apart, by one counting pass each: the order is by index. */
struct family {
    uint32_t *first, *next; /* by association; NONE ends */
};

static void collect_children(const struct state *s, bool users, struct arena *arena, struct family *out)
{
    uint32_t count = s->assocs.count;
    out->first = arena_alloc(arena, (count + (size_t)1) * sizeof *out->first);
    out->next = arena_alloc(arena, (count + (size_t)1) * sizeof *out->next);
    for (uint32_t i = 0; i < count; i++) out->first[i] = NONE;
    for (uint32_t i = count; i-- > 0;) {
        const struct assoc *a = &s->assocs.items[i];
        if (a->deleted_us != 0 || a->parent == NONE || (a->user != NULL) != users) continue;
        out->next[i] = out->first[a->parent];
        out->first[a->parent] = i;
    }
}

static void add_node(struct state *s, uint32_t assoc, uint32_t node)
{
    s->node_of.items[assoc] = node;
    *array_add(&s->assoc_of) = assoc;
    *array_add(&s->usage_of) = s->assocs.items[assoc].usage;
}

/* Depth first with an explicit stack of accounts: invariant 2's order. */
static void number_nodes(struct state *s, const struct family *users, const struct family *accounts)
{
    uint32_t stack[TREE_DEPTH_MAX + 1], depth = 0;
    add_node(s, 0, 0);
    for (uint32_t account = 0;;) {
        uint32_t node = s->node_of.items[account];
        for (uint32_t u = users->first[account]; u != NONE; u = users->next[u])
            add_node(s, u, tree_add(&s->tree, node, true, s->assocs.items[u].shares));
        stack[depth++] = accounts->first[account];
        while (depth > 0 && stack[depth - 1] == NONE) depth--;
        if (depth == 0) return;
        ensure(depth <= TREE_DEPTH_MAX);
        account = stack[depth - 1];
        stack[depth - 1] = accounts->next[account];
        const struct assoc *a = &s->assocs.items[account];
        add_node(s, account, tree_add(&s->tree, s->node_of.items[a->parent], false, a->shares));
    }
}

const struct tree *state_tree(struct state *s)
{
    if (!s->tree_is_stale) return &s->tree;
    struct arena scratch = {0};
    struct family users, accounts;
    collect_children(s, true, &scratch, &users);
    collect_children(s, false, &scratch, &accounts);
    tree_release(&s->tree);
    tree_init(&s->tree);
    array_clear(&s->assoc_of);
    array_clear(&s->usage_of);
    array_clear(&s->node_of);
    array_reserve(&s->node_of, s->assocs.count);
    s->node_of.count = s->assocs.count;
    for (uint32_t i = 0; i < s->node_of.count; i++) s->node_of.items[i] = NONE;
    number_nodes(s, &users, &accounts);
    tree_finish(&s->tree);
    arena_release(&scratch);
    rank_order_free(s->order);
    s->order = rank_order_new();
    s->tree_is_stale = false;
    s->tree_builds++;
    return &s->tree;
}

int64_t state_next_due_us(const struct state *s)
{
    return s->pass_is_due ? 1 : s->next_due_us;
}
