/* Making, finding and reading the state. What changes it is elsewhere: accounts.c, objects.c, settings.c, jobs.c, pass.c,
 * run.c, charge.c. */
#include "engine/state.h"

#include <string.h>

#include "base/ensure.h"
#include "base/text.h"
#include "engine/floors.h"
#include "engine/share_tree.h"
#include "engine/ticket_book.h"

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

static void init_empty(struct state *s)
{
    *s = (struct state){.settings = settings_standard(), .next_assoc_id = 1, .next_job_id = 1, .next_launch_id = 1};
    ensure(policy_make(&s->settings, &s->arena, &s->policy, NULL) == 0);
    s->tree_is_stale = true;
    s->order = rank_order_new();
    tree_init(&s->tree);
}

void state_init(struct state *s, int64_t now_us)
{
    init_empty(s);
    s->decay = (struct decay){setting_number(&s->settings, SET_HALFLIFE_S) * US_PER_S, now_us};
    struct assoc root = {.parent = NONE, .account = "root", .shares = 1, .priority = NONE, .created_us = now_us};
    assoc_append(s, &root);
    const struct object partition = object_standard(OBJECT_PARTITION, STANDARD_PARTITION);
    const struct object qos = object_standard(OBJECT_QOS, STANDARD_QOS);
    object_add(s, OBJECT_PARTITION, &partition, now_us);
    object_add(s, OBJECT_QOS, &qos, now_us);
}

static char *own_copy(const char *text)
{
    if (text == NULL) return NULL;
    size_t size = strlen(text) + 1;
    return memcpy(mem_resize(NULL, 0, size), text, size);
}

static void *own_array(const void *items, size_t size)
{
    return size > 0 ? memcpy(mem_resize(NULL, 0, size), items, size) : NULL;
}

/* Partitions and requests of the row, as memory of the job. */
static void own_terms(struct job *j)
{
    j->partitions = own_array(j->partitions, j->partition_count * sizeof *j->partitions);
    j->requests = own_array(j->requests, j->request_count * sizeof *j->requests);
    for (uint32_t i = 0; i < j->request_count; i++) j->requests[i].text = own_copy(j->requests[i].text);
}

static void release_terms(struct job *j)
{
    mem_free(j->partitions);
    for (uint32_t i = 0; i < j->request_count; i++) mem_free(j->requests[i].text);
    mem_free(j->requests);
}

static void release_job(struct job *j)
{
    mem_free(j->name);
    mem_free(j->directory);
    mem_free(j->out_pattern);
    mem_free(j->err_pattern);
    mem_free(j->command);
    release_terms(j);
    mem_free(j->floors);
    idset_release(&j->array);
    idset_release(&j->pending);
    idset_release(&j->cancelled);
}

static void release_task(struct task *k)
{
    placement_release(&k->placement);
    mem_free(k->tres.items);
}

static void release_rows(struct state *s)
{
    for (uint32_t i = 0; i < s->jobs.count; i++) release_job(&s->jobs.items[i]);
    for (uint32_t i = 0; i < s->tasks.count; i++) release_task(&s->tasks.items[i]);
    for (uint32_t i = 0; i < s->assocs.count; i++) mem_free(s->assocs.items[i].usage_tres);
    for (int kind = 0; kind < OBJECT_KIND_COUNT; kind++) {
        for (uint32_t i = 0; i < s->objects[kind].count; i++) mem_free(s->objects[kind].items[i].billing_weights);
        array_release(&s->objects[kind]);
        map_release(&s->object_by_name[kind]);
    }
    array_release(&s->jobs);
    array_release(&s->tasks);
    array_release(&s->assocs);
    array_release(&s->owners);
    map_release(&s->assoc_by_name);
    map_release(&s->default_of_user);
    map_release(&s->owner_by_name);
    map_release(&s->job_by_id);
    map_release(&s->task_by_launch);
    map_release(&s->task_by_id);
}

void state_release(struct state *s)
{
    release_rows(s);
    host_release(&s->host);
    tree_release(&s->tree);
    array_release(&s->node_of);
    array_release(&s->assoc_of);
    array_release(&s->usage_of);
    rank_order_free(s->order);
    share_tree_free(s->share_tree);
    ticket_book_free(s->ticket_book);
    arena_release(&s->cycle);
    arena_release(&s->arena);
    memset(s, 0, sizeof *s);
}

struct str name_pair(char key[NAME_PAIR_SIZE], const char *first, const char *second)
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
    char key[NAME_PAIR_SIZE];
    struct str name = name_pair(key, account, user);
    return name.length > 0 ? map_get(&s->assoc_by_name, name) : NONE;
}

void assoc_index_name(struct state *s, uint32_t index)
{
    const struct assoc *a = &s->assocs.items[index];
    char key[NAME_PAIR_SIZE];
    struct str name = name_pair(key, a->account, a->user);
    ensure(name.length > 0);
    map_set(&s->assoc_by_name, (struct str){arena_copy(&s->arena, name), name.length}, index);
    if (a->user != NULL && a->is_default) map_set(&s->default_of_user, str(a->user), index);
}

void assoc_forget_name(struct state *s, uint32_t index)
{
    const struct assoc *a = &s->assocs.items[index];
    char key[NAME_PAIR_SIZE];
    ensure(map_remove(&s->assoc_by_name, name_pair(key, a->account, a->user)));
    if (a->user != NULL && a->is_default) map_remove(&s->default_of_user, str(a->user));
}

uint32_t assoc_append(struct state *s, const struct assoc *row)
{
    uint32_t index = s->assocs.count;
    struct assoc *a = array_add(&s->assocs);
    *a = *row;
    a->id = s->next_assoc_id++;
    a->account = arena_copy(&s->arena, str(row->account));
    a->user = row->user ? arena_copy(&s->arena, str(row->user)) : NULL;
    assoc_index_name(s, index);
    s->tree_is_stale = true;
    return index;
}

void assoc_set_usage(struct state *s, uint32_t index, double usage)
{
    s->assocs.items[index].usage = usage;
    if (!s->tree_is_stale && s->node_of.items[index] != NONE) s->usage_of.items[s->node_of.items[index]] = usage;
}

void assoc_set_default(struct state *s, uint32_t index, bool is_default)
{
    struct assoc *a = &s->assocs.items[index];
    a->is_default = is_default;
    if (is_default)
        map_set(&s->default_of_user, str(a->user), index);
    else
        map_remove(&s->default_of_user, str(a->user));
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

void state_prepare(struct state *s)
{
    state_tree(s);
    if (s->policy.model == MODEL_TICKETS) share_tree_of(s);
}

static struct share_options share_options(struct state *s)
{
    struct share_options options = s->policy.share;
    options.order = s->order;
    return options;
}

double *state_factors(struct state *s, int64_t now_us, struct arena *arena)
{
    const double *own = state_own_usage(s, now_us, arena);
    const struct share_options options = share_options(s);
    double *factors = arena_alloc(arena, s->tree.count * sizeof *factors);
    fair_share_factors(&s->tree, own, &options, arena, factors);
    return factors;
}

void state_share_table(struct state *s, int64_t now_us, const bool *wanted, struct arena *arena,
                       struct share_table *out_table)
{
    const double *own = state_own_usage(s, now_us, arena);
    struct share_options options = share_options(s);
    options.wanted = wanted;
    fair_share_table(&s->tree, own, NULL, &options, arena, out_table);
}

int64_t state_next_due_us(const struct state *s)
{
    return s->pass_is_due ? 1 : s->next_due_us;
}

void state_restore_begin(struct state *s)
{
    release_rows(s);
}

uint32_t job_append(struct state *s, const struct job *row)
{
    uint32_t index = s->jobs.count;
    struct job *j = array_add(&s->jobs);
    *j = *row;
    j->name = own_copy(row->name);
    j->directory = own_copy(row->directory);
    j->out_pattern = own_copy(row->out_pattern);
    j->err_pattern = own_copy(row->err_pattern);
    j->command = own_copy(row->command);
    own_terms(j);
    map_set_u64(&s->job_by_id, j->id, index);
    return index;
}

void count_work(struct state *s, uint32_t assoc, const struct work *work, int by)
{
    uint32_t step = (uint32_t)by; /* modulo 2^32, so -1 counts down */
    for (; assoc != NONE; assoc = s->assocs.items[assoc].parent) {
        struct work *sum = &s->assocs.items[assoc].work;
        sum->pending += by < 0 ? -work->pending : work->pending;
        sum->running += step * work->running;
        sum->running_cpus += step * work->running_cpus;
    }
}

struct work task_work(const struct task *k)
{
    return (struct work){.running = 1, .running_cpus = idset_count(&k->placement.cpus)};
}

void job_replace(struct state *s, uint32_t index, const struct job *row)
{
    struct job *j = &s->jobs.items[index], old = *j;
    count_references(s, &old, -1);
    *j = *row;
    own_terms(j);
    if (j->name != old.name) j->name = own_copy(j->name);
    if (j->name != old.name) mem_free(old.name);
    carry_floors(j, &old);
    release_terms(&old);
    count_references(s, j, 1);
    ensure_owners(s, j);
}

uint32_t task_append(struct state *s, const struct task *row)
{
    uint32_t index = s->tasks.count;
    *array_add(&s->tasks) = *row;
    map_set_u64(&s->task_by_launch, row->launch_id, index);
    map_set_u64(&s->task_by_id, task_key(row->job_id, row->task_id), index);
    return index;
}

/* Keeps the rows that have not ended, in order, and numbers them anew. */
static void compact(struct state *s)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        if (s->jobs.items[i].ended_us != 0) {
            release_job(&s->jobs.items[i]);
            continue;
        }
        map_set_u64(&s->job_by_id, s->jobs.items[i].id, kept);
        s->jobs.items[kept++] = s->jobs.items[i];
    }
    s->jobs.count = kept;
    kept = 0;
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        struct task *k = &s->tasks.items[i];
        if (job_state_is_end(k->state)) {
            release_task(k);
            continue;
        }
        map_set_u64(&s->task_by_launch, k->launch_id, kept);
        map_set_u64(&s->task_by_id, task_key(k->job_id, k->task_id), kept);
        s->tasks.items[kept++] = *k;
    }
    s->tasks.count = kept;
    s->ended_rows = 0;
}

void engine_forget(struct state *s)
{
    if (s->ended_rows > 64 && s->ended_rows > (s->jobs.count + s->tasks.count) / 4) compact(s);
}
