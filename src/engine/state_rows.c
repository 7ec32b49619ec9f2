/* Each table has its functions here. A row owns its lists and texts; copies of texts of associations, objects and usage
 * owners are in s->arena, because those rows stay as long as the state. */
#include "engine/state_rows.h"
#include "engine/placements.h"
#include "engine/restarts.h"
#include "engine/task_delays.h"

#include <string.h>

#include "base/ensure.h"
#include "base/text.h"

/* --- associations ------------------------------------------------------------------------------------------------- */

/* The map that has the association, and the key there. */
static struct map *name_map(struct state *s, const struct assoc *a, char key[ASSOC_PARTITION_KEY_SIZE],
                            struct str *out_name)
{
    bool is_for_all = a->partition == NULL;
    *out_name = is_for_all ? state_name_key(key, a->account, a->user)
                           : assoc_partition_key(key, a->account, a->user, a->partition);
    ensure(out_name->length > 0);
    return is_for_all ? &s->assoc_by_name : &s->assoc_in_partition;
}

void assoc_index_name(struct state *s, uint32_t index)
{
    const struct assoc *a = &s->assocs.items[index];
    char key[ASSOC_PARTITION_KEY_SIZE];
    struct str name;
    struct map *names = name_map(s, a, key, &name);
    map_set(names, (struct str){arena_copy(&s->arena, name), name.length}, index);
    if (a->user != NULL && a->is_default) map_set(&s->default_of_user, str(a->user), index);
}

void assoc_remove_name(struct state *s, uint32_t index)
{
    const struct assoc *a = &s->assocs.items[index];
    char key[ASSOC_PARTITION_KEY_SIZE];
    struct str name;
    struct map *names = name_map(s, a, key, &name);
    ensure(map_remove(names, name));
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
    a->partition = row->partition ? arena_copy(&s->arena, str(row->partition)) : NULL;
    assoc_index_name(s, index);
    assoc_join_user(s, index);
    s->tree_is_stale = true;
    return index;
}

/* Marks the associations of the same user and account if one of them is of one partition. */
static void mark_partitions(struct state *s, uint32_t index)
{
    const struct assoc *added = &s->assocs.items[index];
    bool has_partitions = false;
    for (uint32_t i = index; i != NONE; i = s->assocs.items[i].next_of_user)
        has_partitions |=
            s->assocs.items[i].partition != NULL && strcmp(s->assocs.items[i].account, added->account) == 0;
    for (uint32_t i = index; i != NONE && has_partitions; i = s->assocs.items[i].next_of_user) {
        if (strcmp(s->assocs.items[i].account, added->account) == 0) s->assocs.items[i].has_partitions = true;
    }
}

void assoc_join_user(struct state *s, uint32_t index)
{
    struct assoc *a = &s->assocs.items[index];
    a->next_of_user = NONE;
    if (a->user == NULL) return;
    a->next_of_user = map_get(&s->first_of_user, str(a->user));
    map_set(&s->first_of_user, str(a->user), index);
    if (a->partition != NULL || s->assoc_in_partition.count > 0) mark_partitions(s, index);
}

void assoc_set_default(struct state *s, uint32_t index, bool is_default)
{
    ensure(index < s->assocs.count && s->assocs.items[index].user != NULL);
    struct assoc *a = &s->assocs.items[index];
    a->is_default = is_default;
    if (is_default)
        map_set(&s->default_of_user, str(a->user), index);
    else
        map_remove(&s->default_of_user, str(a->user));
}

void assoc_set_usage(struct state *s, uint32_t index, double usage)
{
    s->assocs.items[index].usage = usage;
    if (!s->tree_is_stale && s->node_of.items[index] != NONE) s->usage_of.items[s->node_of.items[index]] = usage;
}

void assoc_count_work(struct state *s, uint32_t assoc, const struct work *work, int by)
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
    return (struct work){.running = 1, .running_cpus = task_cpu_count(k)};
}

/* --- objects ------------------------------------------------------------------------------------------------------ */

struct object_row *object_row_at(struct state *s, enum object_kind kind, uint32_t index)
{
    ensure(index < s->objects[kind].count);
    return &s->objects[kind].items[index];
}

uint32_t object_row_first(const struct state *s, enum object_kind kind)
{
    uint32_t i = 0;
    while (i < s->objects[kind].count && s->objects[kind].items[i].is_deleted) i++;
    return i < s->objects[kind].count ? i : NONE;
}

/* Copies the texts of the object into memory of the state. */
static void copy_texts(struct state *s, struct object *o)
{
    o->name = arena_copy(&s->arena, str(o->name));
    for (uint32_t i = 0; i < OBJECT_FIELDS_MAX; i++) {
        const char *text = o->value[i].text;
        o->value[i].text = text == NULL || text[0] == '\0' ? "" : arena_copy(&s->arena, str(text));
    }
}

uint32_t object_row_append(struct state *s, enum object_kind kind, const struct object_row *row)
{
    uint32_t index = s->objects[kind].count;
    struct object_row *o = array_add(&s->objects[kind]);
    *o = *row;
    o->live_jobs = 0;
    o->billing_weights = NULL;
    if (row->hosts != NULL) {
        uint32_t *hosts = arena_alloc(&s->arena, (row->host_count + (size_t)1) * sizeof *hosts);
        memcpy(hosts, row->hosts, row->host_count * sizeof *hosts);
        o->hosts = hosts;
    }
    copy_texts(s, &o->object);
    map_set(&s->object_by_name[kind], str(o->object.name), index);
    return index;
}

/* The id after that of the last existing object, so that it is the same before and after a restart. */
static uint32_t next_id(const struct state *s, enum object_kind kind)
{
    uint32_t i = s->objects[kind].count;
    while (i > 0 && s->objects[kind].items[i - 1].is_deleted) i--;
    return i > 0 ? s->objects[kind].items[i - 1].id + 1 : 1;
}

uint32_t object_row_add(struct state *s, enum object_kind kind, const struct object *object, int64_t now_us)
{
    struct object_row row = {.id = next_id(s, kind), .object = *object, .created_us = now_us};
    return object_row_append(s, kind, &row);
}

uint32_t object_row_try(struct state *s, enum object_kind kind, const struct object *object)
{
    uint32_t index = s->objects[kind].count;
    struct object_row *o = array_add(&s->objects[kind]);
    *o = (struct object_row){.object = *object};
    for (uint32_t i = 0; i < OBJECT_FIELDS_MAX; i++) {
        if (o->object.value[i].text == NULL) o->object.value[i].text = "";
    }
    map_set(&s->object_by_name[kind], str(object->name), index);
    return index;
}

void object_row_remove_last(struct state *s, enum object_kind kind, uint32_t index)
{
    ensure(index + 1 == s->objects[kind].count);
    ensure(map_remove(&s->object_by_name[kind], str(s->objects[kind].items[index].object.name)));
    s->objects[kind].count--;
}

void job_count_live(struct state *s, const struct job *j, int by)
{
    struct assoc *a = &s->assocs.items[j->assoc];
    uint64_t bytes = by > 0 ? j->input_bytes : 0 - (uint64_t)j->input_bytes; /* modulo 2^64 */
    a->live_jobs += (uint32_t)by;
    a->live_input_bytes += bytes;
    s->live_input_bytes += bytes;
}

void job_count_references(struct state *s, const struct job *j, int by)
{
    uint32_t step = (uint32_t)by; /* modulo 2^32, so -1 counts down */
    for (uint32_t i = 0; i < j->partition_count; i++)
        object_row_at(s, OBJECT_PARTITION, j->partitions[i])->live_jobs += step;
    object_row_at(s, OBJECT_QOS, j->qos)->live_jobs += step;
    if (j->project != NONE) object_row_at(s, OBJECT_PROJECT, j->project)->live_jobs += step;
    if (j->environment != NONE) object_row_at(s, OBJECT_ENVIRONMENT, j->environment)->live_jobs += step;
    for (uint32_t i = 0; i < j->request_count; i++)
        object_row_at(s, OBJECT_RESOURCE, j->requests[i].resource)->live_jobs += step;
    for (uint32_t i = 0; j->placing != NULL && i < j->placing->soft_count; i++)
        object_row_at(s, OBJECT_RESOURCE, j->placing->soft[i].resource)->live_jobs += step;
}

void task_count_references(struct state *s, const struct task *k, int by)
{
    if (k->partition_qos != NONE) object_row_at(s, OBJECT_QOS, k->partition_qos)->live_jobs += (uint32_t)by;
}

/* --- usage owners ------------------------------------------------------------------------------------------------- */

static uint32_t usage_owner_find(const struct state *s, const char *user, const char *project)
{
    char key[NAME_KEY_SIZE];
    return map_get(&s->owner_by_name, state_name_key(key, user, project));
}

uint32_t usage_owner_append(struct state *s, const struct usage_owner *row)
{
    char key[NAME_KEY_SIZE];
    uint32_t index = s->owners.count;
    struct usage_owner *o = array_add(&s->owners);
    *o = *row;
    o->user = arena_copy(&s->arena, str(row->user));
    o->project = arena_copy(&s->arena, str(row->project));
    struct str pair = state_name_key(key, row->user, row->project);
    map_set(&s->owner_by_name, (struct str){arena_copy(&s->arena, pair), pair.length}, index);
    return index;
}

static void ensure_usage_owner(struct state *s, const char *user, const char *project)
{
    struct usage_owner row = {.user = user, .project = project};
    if (usage_owner_find(s, user, project) == NONE) usage_owner_append(s, &row);
}

static const char *project_of(const struct state *s, const struct job *j)
{
    return j->project == NONE ? "" : s->objects[OBJECT_PROJECT].items[j->project].object.name;
}

void job_ensure_usage_owners(struct state *s, const struct job *j)
{
    ensure_usage_owner(s, s->assocs.items[j->assoc].user, project_of(s, j));
    if (j->project != NONE) ensure_usage_owner(s, "", project_of(s, j));
}

void job_usage_owners(const struct state *s, const struct job *j, uint32_t out_owners[2])
{
    out_owners[0] = usage_owner_find(s, s->assocs.items[j->assoc].user, project_of(s, j));
    out_owners[1] = j->project == NONE ? NONE : usage_owner_find(s, "", project_of(s, j));
}

/* --- jobs --------------------------------------------------------------------------------------------------------- */

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(mem_resize(NULL, 0, size), text, size);
}

static size_t text_size(const char *text)
{
    return text != NULL ? strlen(text) + 1 : 0;
}

static char *append_text(char **end, const char *text)
{
    if (text == NULL) return NULL;
    char *copy = *end;
    *end += text_size(text);
    return memcpy(copy, text, text_size(text));
}

/* A text that most jobs have is not copied: the default patterns of output (job_edit.c). NULL: the text is another. */
static const char *shared_text(const char *text)
{
    static const char *const shared[] = {"fairlead-%j.out", "fairlead-%A_%a.out"};
    for (size_t i = 0; text != NULL && i < sizeof shared / sizeof *shared; i++) {
        if (strcmp(text, shared[i]) == 0) return shared[i];
    }
    return NULL;
}

/* One allocation: the pointers, the job's partitions, the texts. All members of struct job_text are texts, so a new one
 * is copied, too. */
static struct job_text *copy_job_text(const struct job_text *t, uint32_t **io_partitions, uint32_t partition_count)
{
    enum { TEXT_COUNT = sizeof *t / sizeof t->name };
    const char *const *texts = (const char *const *)(const void *)t;
    size_t partitions_size = partition_count * sizeof **io_partitions, size = sizeof *t + partitions_size;
    for (size_t i = 0; i < TEXT_COUNT; i++) size += shared_text(texts[i]) == NULL ? text_size(texts[i]) : 0;
    struct job_text *copy = mem_resize(NULL, 0, size);
    const char **copy_texts = (const char **)(void *)copy;
    uint32_t *partitions = (uint32_t *)(copy + 1);
    char *end = (char *)(partitions + partition_count);
    if (partition_count > 0) memcpy(partitions, *io_partitions, partitions_size);
    *io_partitions = partitions;
    for (size_t i = 0; i < TEXT_COUNT; i++) {
        copy_texts[i] = shared_text(texts[i]);
        if (copy_texts[i] == NULL) copy_texts[i] = append_text(&end, texts[i]);
    }
    return copy;
}

const struct job_rare_text *job_rare(const struct job *j)
{
    static const struct job_rare_text none;
    return j->rare != NULL ? j->rare : &none;
}

/* One allocation, like copy_job_text; NULL if there is no text. */
static struct job_rare_text *copy_rare(const struct job_rare_text *t)
{
    enum { TEXT_COUNT = sizeof *t / sizeof t->comment };
    const char *const *texts = (const char *const *)(const void *)t;
    size_t size = 0;
    for (size_t i = 0; t != NULL && i < TEXT_COUNT; i++) size += text_size(texts[i]);
    if (size == 0) return NULL;
    struct job_rare_text *copy = mem_resize(NULL, 0, sizeof *copy + size);
    const char **copy_texts = (const char **)(void *)copy;
    char *end = (char *)(copy + 1);
    for (size_t i = 0; i < TEXT_COUNT; i++) copy_texts[i] = append_text(&end, texts[i]);
    return copy;
}

static void *copy_array(const void *items, size_t size)
{
    return size > 0 ? memcpy(mem_resize(NULL, 0, size), items, size) : NULL;
}

/* One allocation, like copy_job_text. */
static struct job_document *copy_document(const struct job_document *d)
{
    if (d == NULL) return NULL;
    size_t size = d->tres.count * sizeof *d->tres.items;
    struct job_document *copy = mem_resize(NULL, 0, sizeof *copy + size);
    *copy = *d;
    copy->tres.items = (struct tres_amount *)(copy + 1);
    if (size > 0) memcpy(copy->tres.items, d->tres.items, size);
    return copy;
}

static size_t placing_texts_size(const struct job_placing *p)
{
    size_t size = text_size(p->queues) + text_size(p->master_queues) + text_size(p->soft_queues);
    size += text_size(p->constraint);
    for (uint32_t i = 0; i < p->soft_count; i++) size += text_size(p->soft[i].text);
    return size;
}

static bool asks_nothing(const struct job_placing *p)
{
    return p->queues == NULL && p->master_queues == NULL && p->soft_queues == NULL && p->constraint == NULL &&
           p->soft_count == 0 && p->node_max == 0 && p->slots_per_node == 0 && p->mem_mib_per_cpu == 0 &&
           p->gpus_per_slot == 0 && !p->is_exclusive;
}

/* One allocation: the members, the soft requests, the texts. */
static struct job_placing *copy_placing(const struct job_placing *p)
{
    if (p == NULL || asks_nothing(p)) return NULL;
    size_t size = p->soft_count * sizeof *p->soft;
    struct job_placing *copy = mem_resize(NULL, 0, sizeof *copy + size + placing_texts_size(p));
    *copy = *p;
    copy->soft = (struct job_request *)(copy + 1);
    char *end = (char *)(copy->soft + p->soft_count);
    for (uint32_t i = 0; i < p->soft_count; i++) {
        copy->soft[i] = p->soft[i];
        copy->soft[i].text = append_text(&end, p->soft[i].text);
    }
    copy->queues = append_text(&end, p->queues);
    copy->master_queues = append_text(&end, p->master_queues);
    copy->soft_queues = append_text(&end, p->soft_queues);
    copy->constraint = append_text(&end, p->constraint);
    return copy;
}

/* Replaces what the row points to by copies that the job owns. */
static void copy_lists(struct job *j)
{
    j->text = copy_job_text(j->text, &j->partitions, j->partition_count);
    j->rare = copy_rare(j->rare);
    j->dependency = dependency_list_copy(j->dependency);
    j->placing = copy_placing(j->placing);
    j->document = copy_document(j->document);
    j->requests = copy_array(j->requests, j->request_count * sizeof *j->requests);
    for (uint32_t i = 0; i < j->request_count; i++) j->requests[i].text = copy_text(j->requests[i].text);
}

static void release_lists(struct job *j)
{
    mem_free(j->text);
    mem_free(j->rare);
    dependency_list_free(j->dependency);
    mem_free(j->placing);
    mem_free(j->document);
    for (uint32_t i = 0; i < j->request_count; i++) mem_free(j->requests[i].text);
    mem_free(j->requests);
}

void job_release(struct job *j)
{
    release_lists(j);
    mem_free(j->min_priorities);
    idset_release(&j->array);
    idset_release(&j->pending);
    idset_release(&j->cancelled);
    idset_release(&j->ready);
    idset_release(&j->failed);
    restarts_release(j);
    task_delays_release(j);
}

static struct idset copy_of_set(const struct idset *set)
{
    struct idset copy = {0};
    idset_copy(&copy, set);
    return copy;
}

struct job job_copy(const struct job *row)
{
    struct job j = *row;
    copy_lists(&j);
    j.min_priorities = copy_array(row->min_priorities,
                                  row->min_priorities != NULL ? row->partition_count * sizeof *row->min_priorities : 0);
    j.array = copy_of_set(&row->array);
    j.pending = copy_of_set(&row->pending);
    j.cancelled = copy_of_set(&row->cancelled);
    j.ready = copy_of_set(&row->ready);
    j.failed = copy_of_set(&row->failed);
    memset(&j.delays, 0, sizeof j.delays);
    memset(&j.restarted, 0, sizeof j.restarted);
    for (uint32_t i = 0; i < row->delays.count; i++)
        *array_add(&j.delays) =
            (struct task_delay){row->delays.items[i].at_us, copy_of_set(&row->delays.items[i].tasks)};
    for (uint32_t i = 0; i < row->restarted.count; i++)
        *array_add(&j.restarted) = copy_of_set(&row->restarted.items[i]);
    return j;
}

uint32_t job_append(struct state *s, const struct job *row)
{
    if (row->list_position >= s->next_list_position) s->next_list_position = row->list_position + 1;
    uint32_t index = s->jobs.count;
    struct job *j = array_add(&s->jobs);
    *j = *row;
    copy_lists(j);
    map_set_u64(&s->job_by_id, j->id, index);
    if (j->is_immediate) *array_add(&s->immediate) = j->id;
    return index;
}

/* Moves a row, and what finds it if it lives. */
static void move_job(struct state *s, uint32_t from, uint32_t to)
{
    s->jobs.items[to] = s->jobs.items[from];
    if (s->jobs.items[to].ended_us == 0) map_set_u64(&s->job_by_id, s->jobs.items[to].id, to);
}

void job_insert_ended(struct state *s, const struct job *rows, uint32_t count, uint32_t *out_before)
{
    uint32_t from = s->jobs.count;
    for (uint32_t i = 0; i < count; i++) (void)array_add(&s->jobs);
    for (uint32_t left = count; left > 0; left--) {
        const struct job *row = &rows[left - 1];
        ensure(row->ended_us != 0);
        for (; from > 0 && s->jobs.items[from - 1].id > row->id; from--) move_job(s, from - 1, from - 1 + left);
        ensure(from == 0 || s->jobs.items[from - 1].id < row->id);
        s->jobs.items[from + left - 1] = job_copy(row);
        out_before[left - 1] = from;
    }
    s->ended_jobs += count;
}

void job_remove_ended(struct state *s, const uint32_t *indices, uint32_t count)
{
    uint32_t removed = 0;
    for (uint32_t i = count > 0 ? indices[0] : s->jobs.count; i < s->jobs.count; i++) {
        bool is_removed = removed < count && indices[removed] == i;
        ensure(!is_removed || s->jobs.items[i].ended_us != 0);
        if (is_removed) job_release(&s->jobs.items[i]);
        removed += is_removed;
        if (!is_removed) move_job(s, i, i - removed);
    }
    s->jobs.count -= count;
    s->ended_jobs -= count;
}

void job_set_assoc(struct state *s, uint32_t index, uint32_t assoc)
{
    struct job *j = &s->jobs.items[index];
    const struct work pending = {.pending = idset_count(&j->pending)};
    if (assoc == j->assoc) return;
    job_count_live(s, j, -1);
    assoc_count_work(s, j->assoc, &pending, -1);
    j->assoc = assoc;
    job_count_live(s, j, 1);
    assoc_count_work(s, assoc, &pending, 1);
}

void job_remove_last(struct state *s)
{
    ensure(s->jobs.count > 0);
    struct job *j = &s->jobs.items[s->jobs.count - 1];
    map_remove_u64(&s->job_by_id, j->id);
    job_release(j);
    s->jobs.count--;
}

void job_replace(struct state *s, uint32_t index, const struct job *row)
{
    ensure(index < s->jobs.count && row->id == s->jobs.items[index].id);
    struct job *j = &s->jobs.items[index], old = *j;
    job_count_references(s, &old, -1);
    *j = *row;
    copy_lists(j);
    release_lists(&old);
    job_count_references(s, j, 1);
    job_ensure_usage_owners(s, j);
}

/* --- tasks -------------------------------------------------------------------------------------------------------- */

static void release_task(struct task *k)
{
    placements_release(k);
    mem_free(k->tres.items);
}

uint32_t task_append(struct state *s, const struct task *row)
{
    uint32_t index = s->tasks.count;
    *array_add(&s->tasks) = *row;
    map_set_u64(&s->task_by_launch, row->launch_id, index);
    map_set_u64(&s->task_by_id, task_key(row->job_id, row->task_id), index);
    return index;
}

/* --- the whole state ---------------------------------------------------------------------------------------------- */

void state_release_rows(struct state *s)
{
    for (uint32_t i = 0; i < s->jobs.count; i++) job_release(&s->jobs.items[i]);
    for (uint32_t i = 0; i < s->tasks.count; i++) release_task(&s->tasks.items[i]);
    for (uint32_t i = 0; i < s->assocs.count; i++) mem_free(s->assocs.items[i].usage_tres);
    for (int kind = 0; kind < OBJECT_KIND_COUNT; kind++) {
        for (uint32_t i = 0; i < s->objects[kind].count; i++) {
            mem_free(s->objects[kind].items[i].billing_weights);
            mem_free(s->objects[kind].items[i].usage_tres);
        }
        array_release(&s->objects[kind]);
        map_release(&s->object_by_name[kind]);
    }
    array_release(&s->jobs);
    array_release(&s->immediate);
    array_release(&s->tasks);
    array_release(&s->assocs);
    array_release(&s->owners);
    array_release(&s->conversions.list);
    s->conversions = (struct usage_conversions){0};
    for (uint32_t i = 0; i < s->hosts.count; i++) {
        host_release(&s->hosts.items[i].host);
        idset_release(&s->hosts.items[i].withheld_gpus);
        arena_release(&s->hosts.items[i].load_arena);
    }
    array_release(&s->hosts);
    map_release(&s->assoc_by_name);
    map_release(&s->assoc_in_partition);
    map_release(&s->default_of_user);
    map_release(&s->first_of_user);
    map_release(&s->owner_by_name);
    map_release(&s->job_by_id);
    map_release(&s->task_by_launch);
    map_release(&s->task_by_id);
}

enum { PREFETCH_DISTANCE = 8 };

void state_compact_jobs(struct state *s)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        if (i + PREFETCH_DISTANCE < s->jobs.count)
            map_prefetch_u64(&s->job_by_id, s->jobs.items[i + PREFETCH_DISTANCE].id);
        if (s->jobs.items[i].ended_us != 0) {
            job_release(&s->jobs.items[i]);
            continue;
        }
        if (kept < i) {
            map_set_u64(&s->job_by_id, s->jobs.items[i].id, kept);
            s->jobs.items[kept] = s->jobs.items[i];
        }
        kept++;
    }
    s->jobs.count = kept;
    s->ended_jobs = 0;
}

void state_compact_tasks(struct state *s)
{
    uint32_t kept = 0;
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
    s->ended_tasks = 0;
}
