/* Finds rows, and builds the tree of associations. state_rows.c adds and removes rows; state_restore.c creates and
 * restores a state. */
#include "engine/state_rows.h"

#include <string.h>

#include "base/ensure.h"
#include "base/text.h"

struct str state_name_key(char key[NAME_KEY_SIZE], const char *first, const char *second)
{
    size_t length = strlen(first), second_length = second ? strlen(second) : 0;
    if (length > DOCUMENT_NAME_BYTES_MAX || second_length > DOCUMENT_NAME_BYTES_MAX) return (struct str){0};
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

struct str assoc_partition_key(char key[ASSOC_PARTITION_KEY_SIZE], const char *account, const char *user,
                               const char *partition)
{
    size_t length = strlen(partition);
    struct str names = state_name_key(key, account, user);
    if (names.length == 0 || length > DOCUMENT_NAME_BYTES_MAX) return (struct str){0};
    key[names.length] = '\x1f';
    memcpy(key + names.length + 1, partition, length);
    return (struct str){key, names.length + 1 + length};
}

uint32_t state_find_assoc_of_partition(const struct state *s, const char *account, const char *user,
                                       const char *partition)
{
    char key[ASSOC_PARTITION_KEY_SIZE];
    if (s->assoc_in_partition.count == 0) return NONE;
    struct str name = assoc_partition_key(key, account, user, partition);
    return name.length > 0 ? map_get(&s->assoc_in_partition, name) : NONE;
}

bool state_user_is_in_account(const struct state *s, const char *user, const char *account)
{
    uint32_t i = map_get(&s->first_of_user, str(user));
    while (i != NONE && (s->assocs.items[i].deleted_us != 0 || strcmp(s->assocs.items[i].account, account) != 0))
        i = s->assocs.items[i].next_of_user;
    return i != NONE;
}

static const char *partition_name(const struct state *s, uint32_t partition)
{
    return s->objects[OBJECT_PARTITION].items[partition].object.name;
}

uint32_t state_find_assoc_in(const struct state *s, const char *account, const char *user, uint32_t partition)
{
    uint32_t own = state_find_assoc_of_partition(s, account, user, partition_name(s, partition));
    return own != NONE ? own : state_find_assoc(s, account, user);
}

uint32_t state_assoc_in_partition(const struct state *s, uint32_t assoc, uint32_t partition)
{
    const struct assoc *a = &s->assocs.items[assoc];
    if (s->assoc_in_partition.count == 0 || !a->has_partitions) return assoc;
    if (a->partition != NULL && strcmp(a->partition, partition_name(s, partition)) == 0) return assoc;
    uint32_t found = state_find_assoc_in(s, a->account, a->user, partition);
    return found != NONE ? found : assoc;
}

uint32_t state_find_object(const struct state *s, enum object_kind kind, const char *name)
{
    return map_get(&s->object_by_name[kind], str(name));
}

uint32_t state_partition_qos(const struct state *s, uint32_t partition)
{
    const char *name = s->objects[OBJECT_PARTITION].items[partition].object.value[PARTITION_QOS].text;
    return name[0] == '\0' ? NONE : state_find_object(s, OBJECT_QOS, name);
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

uint64_t state_user_running(const struct state *s, const char *user)
{
    uint64_t running = 0;
    for (uint32_t i = map_get(&s->first_of_user, str(user)); i != NONE; i = s->assocs.items[i].next_of_user)
        running += s->assocs.items[i].work.running;
    return running;
}

uint32_t state_user_room(const struct state *s, uint32_t assoc)
{
    uint32_t max = (uint32_t)setting_number(&s->settings, SET_GE_MAX_USER_RUNNING);
    if (max == 0) return UINT32_MAX;
    uint64_t running = state_user_running(s, s->assocs.items[assoc].user);
    return running < max ? max - (uint32_t)running : 0;
}

uint64_t state_user_jobs(const struct state *s, const char *user)
{
    uint64_t jobs = 0;
    for (uint32_t i = map_get(&s->first_of_user, str(user)); i != NONE; i = s->assocs.items[i].next_of_user)
        jobs += s->assocs.items[i].live_jobs;
    return jobs;
}

uint64_t state_user_input_bytes(const struct state *s, const char *user)
{
    uint64_t bytes = 0;
    for (uint32_t i = map_get(&s->first_of_user, str(user)); i != NONE; i = s->assocs.items[i].next_of_user)
        bytes += s->assocs.items[i].live_input_bytes;
    return bytes;
}

/* The children of each account as linked lists, in ascending order of index. */
struct child_lists {
    uint32_t *first, *next; /* by association; NONE ends a list */
};

enum child_kind { CHILD_USERS, CHILD_ACCOUNTS, CHILD_ALL };

static bool is_child(const struct assoc *a, enum child_kind kind)
{
    bool is_user = a->user != NULL;
    return a->deleted_us == 0 && a->parent != NONE && (kind == CHILD_ALL || is_user == (kind == CHILD_USERS));
}

static void collect_children(const struct state *s, enum child_kind kind, struct arena *arena, struct child_lists *out)
{
    uint32_t count = s->assocs.count;
    out->first = arena_alloc(arena, (count + (size_t)1) * sizeof *out->first);
    out->next = arena_alloc(arena, (count + (size_t)1) * sizeof *out->next);
    for (uint32_t i = 0; i < count; i++) out->first[i] = NONE;
    for (uint32_t i = count; i-- > 0;) {
        const struct assoc *a = &s->assocs.items[i];
        if (!is_child(a, kind)) continue;
        out->next[i] = out->first[a->parent];
        out->first[a->parent] = i;
    }
}

static void add_node(struct state *s, uint32_t assoc, uint32_t node)
{
    s->node_of.items[assoc] = node;
    *array_add(&s->assoc_of) = assoc;
    *array_add(&s->usage_of) = s->assocs.items[assoc].usage;
    uint32_t own = s->assocs.items[assoc].priority;
    uint32_t inherited = node == 0 ? 0 : s->priority_of.items[s->node_of.items[s->assocs.items[assoc].parent]];
    uint32_t priority = own == NONE ? inherited : own;
    *array_add(&s->priority_of) = priority;
    if (priority > s->assoc_priority_max) s->assoc_priority_max = priority;
}

static void add_below(struct state *s, uint32_t assoc)
{
    const struct assoc *a = &s->assocs.items[assoc];
    add_node(s, assoc, tree_add(&s->tree, s->node_of.items[a->parent], a->user != NULL, a->shares));
}

/* Adds the nodes depth first, with an explicit stack of accounts, in the order of invariant 2. users: an account's
 * users, which are added before the other children; NULL for a document, where users are among the other children. */
static void number_nodes(struct state *s, const struct child_lists *users, const struct child_lists *others)
{
    uint32_t stack[TREE_DEPTH_MAX + 1], depth = 0;
    add_node(s, 0, 0);
    for (uint32_t assoc = 0;;) {
        for (uint32_t u = users != NULL ? users->first[assoc] : NONE; u != NONE; u = users->next[u]) add_below(s, u);
        stack[depth++] = others->first[assoc];
        while (depth > 0 && stack[depth - 1] == NONE) depth--;
        if (depth == 0) return;
        ensure(depth <= TREE_DEPTH_MAX);
        assoc = stack[depth - 1];
        stack[depth - 1] = others->next[assoc];
        add_below(s, assoc);
    }
}

static void build_tree(struct state *s)
{
    struct arena scratch = {0};
    struct child_lists users, others;
    collect_children(s, s->is_document ? CHILD_ALL : CHILD_ACCOUNTS, &scratch, &others);
    if (!s->is_document) collect_children(s, CHILD_USERS, &scratch, &users);
    number_nodes(s, s->is_document ? NULL : &users, &others);
    tree_finish(&s->tree);
    arena_release(&scratch);
}

const struct tree *state_tree(struct state *s)
{
    if (!s->tree_is_stale) return &s->tree;
    tree_release(&s->tree);
    tree_init(&s->tree);
    array_clear(&s->assoc_of);
    array_clear(&s->usage_of);
    array_clear(&s->priority_of);
    s->assoc_priority_max = 0;
    array_clear(&s->node_of);
    array_reserve(&s->node_of, s->assocs.count);
    s->node_of.count = s->assocs.count;
    for (uint32_t i = 0; i < s->node_of.count; i++) s->node_of.items[i] = NONE;
    build_tree(s);
    rank_order_free(s->order);
    s->order = rank_order_new();
    s->tree_is_stale = false;
    s->tree_builds++;
    return &s->tree;
}

bool state_is_undecided(const struct job *j)
{
    return j->is_immediate && j->ended_us == 0 && j->restarted.count == 0;
}

uint32_t state_find_immediate(const struct state *s, uint32_t i)
{
    uint32_t index = state_find_job(s, s->immediate.items[i]);
    if (index == NONE || !state_is_undecided(&s->jobs.items[index])) return NONE;
    return idset_first(&s->jobs.items[index].pending) != NONE ? index : NONE;
}

/* When the next immediate job has to be cancelled, whatever starts until then; 0: never. */
static int64_t immediate_due_us(const struct state *s)
{
    int64_t due_us = 0;
    for (uint32_t i = 0; i < s->immediate.count; i++) {
        uint32_t index = state_find_immediate(s, i);
        if (index == NONE) continue;
        int64_t end_us = state_immediate_end_us(&s->jobs.items[index]);
        if (due_us == 0 || end_us < due_us) due_us = end_us;
    }
    return due_us;
}

int64_t state_next_due_us(const struct state *s)
{
    int64_t pass_us = rhythm_due_us(&s->rhythm, &s->settings, s->pass_is_due, s->next_due_us);
    int64_t cancel_us = immediate_due_us(s);
    return pass_us == 0 || (cancel_us != 0 && cancel_us < pass_us) ? cancel_us : pass_us;
}
