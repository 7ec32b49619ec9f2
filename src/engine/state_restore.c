/* Creates, restores and releases a state. While rows are added, associations and jobs refer to associations by id;
 * state_restore_done replaces the ids by indices, and checks the invariants of state.h. */
#include <string.h>

#include "base/ensure.h"
#include "engine/cluster_model.h"
#include "engine/dependents.h"
#include "engine/job_waits.h"
#include "engine/limit_counts.h"
#include "engine/live_cluster.h"
#include "engine/min_priority.h"
#include "engine/name_groups.h"
#include "engine/never_runs.h"
#include "engine/pending.h"
#include "engine/placements.h"
#include "engine/ranking.h"
#include "engine/share_tree.h"
#include "engine/task_delays.h"
#include "engine/ticket_identities.h"
#include "engine/usage_sums.h"
#include "engine/wait_leaders.h"
#include "fields/limit_fields.h"

static void init_empty(struct state *s)
{
    *s = (struct state){.settings = settings_defaults(),
                        .next_assoc_id = 1,
                        .next_job_id = 1,
                        .next_launch_id = 1,
                        .next_list_position = 1};
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
    const struct object partition = object_defaults(OBJECT_PARTITION, DEFAULT_PARTITION);
    const struct object qos = object_defaults(OBJECT_QOS, DEFAULT_QOS);
    object_row_add(s, OBJECT_PARTITION, &partition, now_us);
    const struct object host = object_defaults(OBJECT_HOST, LOCAL_HOST);
    object_row_add(s, OBJECT_QOS, &qos, now_us);
    object_row_add(s, OBJECT_HOST, &host, now_us);
}

void state_release(struct state *s)
{
    state_release_rows(s);
    tree_release(&s->tree);
    array_release(&s->node_of);
    array_release(&s->assoc_of);
    array_release(&s->usage_of);
    array_release(&s->priority_of);
    rank_order_free(s->order);
    share_tree_free(s->share_tree);
    ticket_identities_free(s->ticket_identities);
    pending_free(s->pending);
    dependents_free(s->dependents);
    name_groups_free(s->name_groups);
    limit_table_free(s->limit_table);
    limit_counts_free(s->limit_counts);
    live_cluster_free(s->live_cluster);
    wait_leaders_free(s->wait_leaders);
    usage_sums_free(s->usage_sums);
    never_runs_drop(s);
    arena_release(&s->cycle);
    arena_release(&s->closed_arena);
    arena_release(&s->arena);
    memset(s, 0, sizeof *s);
}

void state_restore_begin(struct state *s)
{
    pending_invalidate(s);
    dependents_invalidate(s);
    name_groups_invalidate(s);
    limit_table_invalidate(s);
    limit_counts_invalidate(s);
    live_cluster_invalidate(s);
    usage_sums_invalidate(s);
    never_runs_drop(s);
    wait_leaders_free(s->wait_leaders);
    s->wait_leaders = NULL;
    state_release_rows(s);
}

void state_restore_host(struct state *s, const struct host_row *row)
{
    struct host_row *h = array_add(&s->hosts);
    double *tres = arena_alloc(&s->arena, TRES_MAX * sizeof *tres);
    memcpy(tres, row->tres, TRES_MAX * sizeof *tres);
    *h = *row;
    h->is_attached = true;
    h->tres = tres;
}

static struct field_value *copy_limits(struct state *s, const struct field_value *limits)
{
    struct field_value *copy = arena_alloc(&s->arena, ASSOC_LIMIT_COUNT * sizeof *copy);
    for (uint32_t i = 0; i < ASSOC_LIMIT_COUNT; i++) {
        copy[i] = limits[i];
        copy[i].text = arena_copy(&s->arena, str(limits[i].text));
    }
    return copy;
}

void state_restore_assoc(struct state *s, const struct assoc *row, uint32_t parent_id)
{
    ensure(row->id > 0 && (s->assocs.count == 0 || row->id > s->assocs.items[s->assocs.count - 1].id));
    struct assoc *a = array_add(&s->assocs);
    *a = *row;
    a->account = arena_copy(&s->arena, str(row->account));
    a->user = row->user ? arena_copy(&s->arena, str(row->user)) : NULL;
    a->partition = row->partition ? arena_copy(&s->arena, str(row->partition)) : NULL;
    a->parent = parent_id;
    if (row->limits != NULL) a->limits = copy_limits(s, row->limits);
    a->has_partitions = false;
    a->live_jobs = 0;
    a->live_input_bytes = 0;
    a->work = (struct work){0};
}

void state_restore_job(struct state *s, const struct job *row, uint32_t assoc_id)
{
    uint32_t index = job_append(s, row);
    struct job *j = &s->jobs.items[index];
    j->assoc = assoc_id;
    j->live_tasks = j->starting_tasks = 0;
    j->min_priorities = NULL;
}

void state_restore_task(struct state *s, const struct task *row)
{
    task_append(s, row);
}

void state_restore_object(struct state *s, enum object_kind kind, const struct object_row *row)
{
    uint32_t count = s->objects[kind].count;
    ensure(row->id > 0 && (count == 0 || row->id > s->objects[kind].items[count - 1].id));
    object_row_append(s, kind, row);
}

void state_restore_owner(struct state *s, const struct usage_owner *row)
{
    usage_owner_append(s, row);
}

bool state_restore_min_priority(struct state *s, uint32_t job_id, uint32_t partition, uint32_t priority)
{
    uint32_t index = state_find_job(s, job_id);
    return index != NONE && min_priority_set_stored(&s->jobs.items[index], partition, priority);
}

int state_restore_condition(struct state *s, uint32_t job_id, uint32_t position, const char *text, bool is_any,
                            struct err *e)
{
    uint32_t index = state_find_job(s, job_id);
    if (index != NONE &&
        dependency_text_restore(str(text), position, is_any, &s->cycle, &s->jobs.items[index].dependency) == 0)
        return 0;
    return err_set(e, ERR_INTERNAL, "job %u waits for '%s', which is no condition of a job", job_id, text);
}

void state_restore_failed_task(struct state *s, uint32_t job_id, uint32_t task_id)
{
    uint32_t index = state_find_job(s, job_id);
    if (index != NONE) idset_add(&s->jobs.items[index].failed, task_id);
}

int state_restore_policy(struct state *s, struct err *e)
{
    if (policy_make(&s->settings, &s->arena, &s->policy, e) == 0) return 0;
    return err_prefix(e, "the settings");
}

static size_t name_bytes_max(const struct state *s)
{
    return s->is_document ? DOCUMENT_NAME_BYTES_MAX : NAME_BYTES_MAX;
}

/* Users of a document who are in no account have the account "". */
static bool has_names(const struct state *s, const struct assoc *a)
{
    size_t max = name_bytes_max(s);
    return (a->account[0] != '\0' || a->user != NULL) && strlen(a->account) <= max &&
           (a->user == NULL || strlen(a->user) <= max);
}

static int fail_duplicate(const struct assoc *a, struct err *e)
{
    return err_set(e, ERR_INTERNAL, "association %u is a duplicate: account %s, user %s, partition %s", a->id,
                   a->account, a->user ? a->user : "-", a->partition ? a->partition : "-");
}

static int check_partition(const struct state *s, const struct assoc *a, struct err *e)
{
    if (a->user != NULL && state_find_object(s, OBJECT_PARTITION, a->partition) != NONE) return 0;
    return err_set(e, ERR_INTERNAL, "association %u is of partition '%s', which does not exist, or of an account",
                   a->id, a->partition);
}

static int index_assoc(struct state *s, uint32_t index, struct err *e)
{
    const struct assoc *a = &s->assocs.items[index];
    assoc_join_user(s, index);
    if (a->deleted_us != 0) return 0;
    if (a->partition != NULL && check_partition(s, a, e) != 0) return -1;
    uint32_t same = a->partition != NULL ? state_find_assoc_of_partition(s, a->account, a->user, a->partition)
                                         : state_find_assoc(s, a->account, a->user);
    if (same != NONE) return fail_duplicate(a, e);
    if (a->user != NULL && a->is_default && state_default_assoc(s, a->user) != NONE)
        return err_set(e, ERR_INTERNAL, "association %u is a second default of user %s", a->id, a->user);
    assoc_index_name(s, index);
    return 0;
}

static int link_assoc(struct state *s, uint32_t index, const struct map *by_id, struct err *e)
{
    struct assoc *a = &s->assocs.items[index];
    uint32_t parent = map_get_u64(by_id, a->parent);
    bool is_root = index == 0;
    if (a->id >= s->next_assoc_id)
        return err_set(e, ERR_INTERNAL, "association %u is not below the next id %u", a->id, s->next_assoc_id);
    if (!has_names(s, a))
        return err_set(e, ERR_INTERNAL, "association %u has a name that is empty or has over %zu bytes", a->id,
                       name_bytes_max(s));
    if (is_root != (parent == NONE) || (parent != NONE && s->assocs.items[parent].user != NULL))
        return err_set(e, ERR_INTERNAL, "association %u has no account %u above it", a->id, a->parent);
    a->parent = parent;
    return index_assoc(s, index, e);
}

static int link_assocs(struct state *s, const struct map *by_id, struct err *e)
{
    for (uint32_t i = 0; i < s->assocs.count; i++) {
        if (link_assoc(s, i, by_id, e) != 0) return -1;
    }
    for (uint32_t i = 0; i < s->assocs.count; i++) {
        uint32_t steps = 0;
        for (uint32_t up = i; s->assocs.items[up].parent != NONE && steps <= TREE_DEPTH_MAX; steps++)
            up = s->assocs.items[up].parent;
        if (steps > TREE_DEPTH_MAX)
            return err_set(e, ERR_INTERNAL, "association %u is its own ancestor, or deeper than %d levels",
                           s->assocs.items[i].id, TREE_DEPTH_MAX);
    }
    return 0;
}

/* --- objects ------------------------------------------------------------------------------------------------------ */

static int check_reference(const struct state *s, enum object_kind kind, uint32_t job_id, uint32_t index, struct err *e)
{
    if (index < s->objects[kind].count) return 0;
    return err_set(e, ERR_INTERNAL, "job %u refers to a %s that does not exist", job_id, object_classes[kind].name);
}

static int check_departments(const struct state *s, struct err *e)
{
    for (uint32_t i = 0; i < s->objects[OBJECT_USER_POLICY].count; i++) {
        const struct object *o = &s->objects[OBJECT_USER_POLICY].items[i].object;
        const char *department = o->value[USER_DEPARTMENT].text;
        if (strcmp(department, DEFAULT_DEPARTMENT) == 0) continue;
        if (state_find_object(s, OBJECT_DEPARTMENT, department) == NONE)
            return err_set(e, ERR_INTERNAL, "user '%s' is in department '%.*s', which does not exist", o->name,
                           NAME_BYTES_MAX, department);
    }
    return 0;
}

static int check_objects(struct state *s, struct err *e)
{
    for (int kind = 0; kind < OBJECT_KIND_COUNT; kind++) {
        if (s->object_by_name[kind].count != s->objects[kind].count)
            return err_set(e, ERR_INTERNAL, "two of the %s have the same name", object_classes[kind].plural);
    }
    if (object_row_first(s, OBJECT_PARTITION) == NONE) return err_set(e, ERR_INTERNAL, "there is no partition");
    if (state_find_object(s, OBJECT_QOS, DEFAULT_QOS) == NONE)
        return err_set(e, ERR_INTERNAL, "there is no QOS '%s'", DEFAULT_QOS);
    if (!s->is_document && state_find_object(s, OBJECT_HOST, LOCAL_HOST) != 0)
        return err_set(e, ERR_INTERNAL, "the first host is not '%s'", LOCAL_HOST);
    if (s->owner_by_name.count != s->owners.count)
        return err_set(e, ERR_INTERNAL, "two rows have the usage of the same user or project");
    if (object_derive_all(s, e) != 0) return err_prefix(e, "the objects");
    return check_departments(s, e);
}

/* --- jobs and tasks ----------------------------------------------------------------------------------------------- */

static int check_references(const struct state *s, const struct job *j, struct err *e)
{
    if (j->partition_count == 0) return err_set(e, ERR_INTERNAL, "job %u is in no partition", j->id);
    for (uint32_t i = 0; i < j->partition_count; i++) {
        if (check_reference(s, OBJECT_PARTITION, j->id, j->partitions[i], e) != 0) return -1;
    }
    if (check_reference(s, OBJECT_QOS, j->id, j->qos, e) != 0) return -1;
    if (j->project != NONE && check_reference(s, OBJECT_PROJECT, j->id, j->project, e) != 0) return -1;
    if (j->environment != NONE && check_reference(s, OBJECT_ENVIRONMENT, j->id, j->environment, e) != 0) return -1;
    for (uint32_t i = 0; i < j->request_count; i++) {
        if (check_reference(s, OBJECT_RESOURCE, j->id, j->requests[i].resource, e) != 0) return -1;
    }
    for (uint32_t i = 0; j->placing != NULL && i < j->placing->soft_count; i++) {
        if (check_reference(s, OBJECT_RESOURCE, j->id, j->placing->soft[i].resource, e) != 0) return -1;
    }
    return 0;
}

/* Whether no number is in both sets, and every one is in the array. O(ranges) */
static bool are_parts_of(const struct idset *array, const struct idset *a, const struct idset *b)
{
    struct idset sum = {0};
    idset_copy(&sum, a);
    idset_add_all(&sum, b);
    bool are_separate = idset_count(&sum) == idset_count(a) + idset_count(b);
    idset_add_all(&sum, array);
    bool are_within = idset_count(&sum) == idset_count(array);
    idset_release(&sum);
    return are_separate && are_within;
}

static int link_jobs(struct state *s, const struct map *by_id, struct err *e)
{
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        struct job *j = &s->jobs.items[i];
        uint32_t assoc = map_get_u64(by_id, j->assoc);
        if (assoc == NONE || s->assocs.items[assoc].user == NULL)
            return err_set(e, ERR_INTERNAL, "job %u belongs to association %u, which is not of a user", j->id,
                           j->assoc);
        if (j->id >= s->next_job_id)
            return err_set(e, ERR_INTERNAL, "job %u is not below the next id %u", j->id, s->next_job_id);
        if (check_references(s, j, e) != 0) return -1;
        if (!are_parts_of(&j->array, &j->pending, &j->cancelled))
            return err_set(e, ERR_INTERNAL, "job %u: a task is pending or cancelled that is both, or not of its array",
                           j->id);
        if (!s->is_document && state_assoc_in_partition(s, assoc, j->partitions[0]) != assoc)
            return err_set(e, ERR_INTERNAL,
                           "job %u belongs to association %u, which is not that of its first partition", j->id,
                           j->assoc);
        j->assoc = assoc;
        job_count_live(s, j, 1);
        assoc_count_work(s, assoc, &(struct work){.pending = idset_count(&j->pending)}, 1);
        job_count_references(s, j, 1);
        job_ensure_usage_owners(s, j);
    }
    return 0;
}

/* A document does not have the TRES of a running task; they are those that its job requests. */
static void set_requested_tres(const struct state *s, const struct tres_indices *indices, const struct job *j,
                               struct task *k)
{
    k->tres.items = mem_resize(NULL, 0, TRES_MAX * sizeof *k->tres.items);
    job_tres(s, indices, j, j->request.cpus, &k->tres);
    k->billing = job_billing_in(s, k->partition, &k->tres);
}

static bool has_only_tracked_tres(const struct state *s, const struct task *k)
{
    for (uint32_t i = 0; i < k->tres.count; i++) {
        if (k->tres.items[i].tres >= s->policy.tres.count) return false;
    }
    return true;
}

static bool is_number_of_started_task(const struct job *j, uint32_t task_id)
{
    return idset_has(&j->array, task_id) && !idset_has(&j->pending, task_id) && !idset_has(&j->cancelled, task_id);
}

/* Marks the numbers of a placement as taken. Returns false for one that is taken already, or not below max. Numbers
 * beyond the host's are right if the host has shrunk since. */
static bool take_numbers(const struct idset *numbers, uint32_t max, struct idset *taken)
{
    for (uint32_t id = idset_first(numbers); id != NONE; id = idset_next(numbers, id)) {
        if (id >= max || idset_has(taken, id)) return false;
        idset_add(taken, id);
    }
    return true;
}

/* taken: by host. */
static bool take_placements(const struct task *k, struct placement *taken)
{
    for (uint32_t i = 0; i < k->placement_count; i++) {
        const struct placement *p = &k->placements[i];
        if (!take_numbers(&p->cpus, CPUS_MAX, &taken[p->host].cpus) ||
            !take_numbers(&p->gpus, GPUS_MAX, &taken[p->host].gpus))
            return false;
    }
    return true;
}

/* No CPU and no GPU of a host has two tasks. In a document every task has the lowest numbers. */
static int check_placements(struct state *s, struct err *e)
{
    uint32_t hosts = s->objects[OBJECT_HOST].count;
    struct placement *taken = arena_alloc(&s->cycle, (hosts + (size_t)1) * sizeof *taken);
    int result = 0;
    for (uint32_t i = 0; i < s->tasks.count && !s->is_document && result == 0; i++) {
        const struct task *k = &s->tasks.items[i];
        if (take_placements(k, taken)) continue;
        result = err_set(e, ERR_INTERNAL, "task %u_%u has a CPU or GPU that no host has, or that another task has",
                         k->job_id, k->task_id);
    }
    for (uint32_t i = 0; i < hosts; i++) placement_release(&taken[i]);
    return result;
}

/* A job with nothing pending and no live task has ended, and is not live. */
static int check_jobs_are_live(const struct state *s, struct err *e)
{
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        const struct job *j = &s->jobs.items[i];
        if (j->live_tasks == 0 && idset_first(&j->pending) == NONE)
            return err_set(e, ERR_INTERNAL, "job %u has not ended, but no task of it is pending or live", j->id);
    }
    return 0;
}

/* A started task is of an association of its job's user and account. */
static int link_assoc_of_task(const struct state *s, const struct map *by_id, const struct job *j, struct task *k,
                              struct err *e)
{
    const struct assoc *of_job = &s->assocs.items[j->assoc];
    uint32_t id = k->assoc;
    k->assoc = id == 0 ? state_assoc_in_partition(s, j->assoc, k->partition) : map_get_u64(by_id, id);
    const struct assoc *a = k->assoc != NONE ? &s->assocs.items[k->assoc] : NULL;
    if (a != NULL && a->user != NULL && strcmp(a->user, of_job->user) == 0 && strcmp(a->account, of_job->account) == 0)
        return 0;
    return err_set(e, ERR_INTERNAL, "task %u_%u belongs to association %u, which is not of its job's user and account",
                   k->job_id, k->task_id, id);
}

static int link_tasks(struct state *s, const struct map *by_id, struct err *e)
{
    struct tres_indices indices;
    tres_indices_find(s, &s->cycle, &indices);
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        struct task *k = &s->tasks.items[i];
        uint32_t job = state_find_job(s, k->job_id);
        if (job == NONE || k->launch_id >= s->next_launch_id || k->state == JOB_PENDING || job_state_is_end(k->state))
            return err_set(e, ERR_INTERNAL, "task %u_%u does not fit its job or the next launch id", k->job_id,
                           k->task_id);
        if (!is_number_of_started_task(&s->jobs.items[job], k->task_id))
            return err_set(e, ERR_INTERNAL, "task %u_%u is pending or cancelled, too, or not of its array", k->job_id,
                           k->task_id);
        if (check_reference(s, OBJECT_PARTITION, k->job_id, k->partition, e) != 0) return -1;
        if (k->partition_qos != NONE && check_reference(s, OBJECT_QOS, k->job_id, k->partition_qos, e) != 0) return -1;
        if (s->is_document) set_requested_tres(s, &indices, &s->jobs.items[job], k);
        if (!has_only_tracked_tres(s, k))
            return err_set(e, ERR_INTERNAL, "task %u_%u has a TRES that is not tracked", k->job_id, k->task_id);
        if (link_assoc_of_task(s, by_id, &s->jobs.items[job], k, e) != 0) return -1;
        const struct work work = task_work(k);
        assoc_count_work(s, k->assoc, &work, 1);
        task_count_references(s, k, 1);
        s->jobs.items[job].live_tasks++;
        s->jobs.items[job].starting_tasks += k->start_us == 0;
    }
    return 0;
}

/* Ends look for singletons only if the groups of names are there. */
static void derive_waits(struct state *s)
{
    s->next_delay_us = 0;
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        struct job *j = &s->jobs.items[i];
        job_waits_find_ready(j);
        int64_t delay_us = task_delays_next_us(j);
        if (delay_us != 0 && (s->next_delay_us == 0 || delay_us < s->next_delay_us)) s->next_delay_us = delay_us;
        if (dependency_list_find_singleton(j->dependency) != NONE) name_groups_build(s);
    }
}

int state_restore_done(struct state *s, struct err *e)
{
    struct map by_id = {0};
    if (s->assocs.count == 0 || s->assocs.items[0].id != 1)
        return err_set(e, ERR_INTERNAL, "there is no root association");
    if (state_restore_policy(s, e) != 0) return -1;
    if (check_objects(s, e) != 0) return -1;
    for (uint32_t i = 0; i < s->assocs.count; i++) map_set_u64(&by_id, s->assocs.items[i].id, i);
    int result = link_assocs(s, &by_id, e);
    if (result == 0) result = link_jobs(s, &by_id, e);
    if (result == 0) result = link_tasks(s, &by_id, e);
    map_release(&by_id);
    if (result != 0 || check_placements(s, e) != 0 || check_jobs_are_live(s, e) != 0) return -1;
    s->tree_is_stale = true;
    placements_rebuild(s);
    derive_waits(s);
    return s->is_document ? 0 : cluster_model_check(s, e);
}
