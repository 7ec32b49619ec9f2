/* Fields with a document key in the table of job fields (fields/job_fields.h) are read by that table, unless they have
 * a reader of their own. Those and the other keys have a row here: references to parts of the document, values with
 * other forms than in a submission, and fields that jobs of an instance do not have. */
#include "sim/read_job_keys.h"

#include <math.h>

#include "engine/job_places.h"
#include "fields/request_text.h"
#include "fields/setting_text.h"
#include "fields/standard_resources.h"

#define SLOTS_MAX 9999999.0

/* --- single keys -------------------------------------------------------------------------------------------------- */

/* Reads the name of an object of the document. */
static int read_object(struct wire_reader *r, json_t *value, enum object_kind kind, uint32_t *out_index)
{
    const struct document *d = document_of(r);
    const char *name;
    if (wire_read_name(r, value, &name) != 0) return -1;
    *out_index = state_find_object(d->state, kind, name);
    if (*out_index != NONE) return 0;
    return wire_refuse(r, value, "a %s of this document%s", object_classes[kind].name,
                       d->has_objects[kind] ? "" : ", which has none");
}

static int read_project(struct wire_reader *r, json_t *value, void *target)
{
    return read_object(r, value, OBJECT_PROJECT, &((struct job_keys *)target)->project);
}

static int read_qos(struct wire_reader *r, json_t *value, void *target)
{
    return read_object(r, value, OBJECT_QOS, &((struct job_keys *)target)->qos);
}

static int read_account(struct wire_reader *r, json_t *value, void *target)
{
    const struct document *d = document_of(r);
    const char **account = &((struct job_keys *)target)->account;
    if (wire_read_name(r, value, account) != 0) return -1;
    bool is_known =
        d->associations.count == 0 || strcmp(*account, "root") == 0 || map_get(&d->account_rows, str(*account)) != NONE;
    return is_known ? 0 : wire_refuse(r, value, "an account of this document");
}

/* Reads a name, or a list of names. */
static int read_partitions(struct wire_reader *r, json_t *value, void *target)
{
    struct job_keys *keys = target;
    bool is_list = json_is_array(value);
    size_t count = is_list ? json_array_size(value) : 1;
    if (count == 0) return wire_fail(r, "the list is empty; at least one partition is accepted");
    keys->partitions = arena_alloc(&document_of(r)->arena, count * sizeof *keys->partitions);
    for (size_t i = 0; i < count; i++) {
        size_t length = is_list ? wire_enter_index(r, i) : r->path.length;
        json_t *item = is_list ? json_array_get(value, i) : value;
        if (read_object(r, item, OBJECT_PARTITION, &keys->partitions[i]) != 0) return -1;
        for (size_t k = 0; k < i; k++) {
            if (keys->partitions[k] == keys->partitions[i]) return wire_fail(r, "the partition occurs twice");
        }
        wire_leave(r, length);
    }
    keys->partition_count = (uint32_t)count;
    keys->has_partition = true;
    return 0;
}

/* Reads a number, or a list of the minimum and the maximum. what: "slots" */
static int read_number_or_range(struct wire_reader *r, json_t *value, double max, const char *what, uint32_t *out_min,
                                uint32_t *out_max)
{
    const struct wire_range range = {.min = 1, .max = max};
    bool is_list = json_is_array(value);
    int64_t first, last;
    if (is_list && json_array_size(value) != 2)
        return wire_refuse(r, value, "a number of %s, or the minimum and the maximum, such as [2, 8]", what);
    if (wire_read_whole(r, is_list ? json_array_get(value, 0) : value, &range, &first) != 0) return -1;
    if (wire_read_whole(r, is_list ? json_array_get(value, 1) : value, &range, &last) != 0) return -1;
    if (last < first)
        return wire_fail(r, "the maximum, %lld, is below the minimum, %lld", (long long)last, (long long)first);
    *out_min = (uint32_t)first;
    *out_max = (uint32_t)last;
    return 0;
}

static int read_slots(struct wire_reader *r, json_t *value, void *target)
{
    struct job_keys *keys = target;
    keys->has_slots = true;
    keys->has_slots_range = json_is_array(value);
    return read_number_or_range(r, value, SLOTS_MAX, "slots", &keys->slots_min, &keys->slots_max);
}

static int read_nodes(struct wire_reader *r, json_t *value, void *target)
{
    struct job_placing *p = &((struct job_keys *)target)->placing;
    return read_number_or_range(r, value, UINT32_MAX - 1.0, "nodes", &p->node_min, &p->node_max);
}

static int read_slots_rule(struct wire_reader *r, json_t *value, void *target)
{
    struct job_keys *keys = target;
    struct str text;
    if (wire_read_scalar(r, value, &text) != 0) return -1;
    if (setting_text_urgency_slots(text, "urgency_slots", &keys->slots_rule, &keys->slots_number, NULL) != 0)
        return wire_refuse(r, value, "min, max, avg or a number of slots");
    keys->has_slots_rule = true;
    return 0;
}

/* A resource of the document, or a standard one, which is then defined. */
static uint32_t find_resource(struct document *d, const char *name)
{
    uint32_t index = state_find_object(d->state, OBJECT_RESOURCE, name);
    const struct standard_resource *standard = standard_resource_find(str(name));
    if (index != NONE || standard == NULL) return index;
    const struct object o = standard_resource_object(standard);
    document_restore_object(d, OBJECT_RESOURCE, &o);
    return state_find_object(d->state, OBJECT_RESOURCE, name);
}

static int read_request(struct wire_reader *r, const char *name, json_t *value, struct job_request *out_request)
{
    struct document *d = document_of(r);
    uint32_t index = find_resource(d, name);
    struct str text;
    struct err below;
    if (strcmp(name, SLOTS_RESOURCE) == 0) return wire_fail(r, "slots are requested with the key 'slots'");
    if (index == NONE) return wire_fail(r, "not a resource of this document");
    enum resource_type type = document_resource_type(d, index);
    if (wire_read_scalar(r, value, &text) != 0) return -1;
    *out_request = (struct job_request){.resource = index, .text = arena_copy(r->arena, text)};
    if (object_resource_amount_parse(type, name, text, &out_request->amount, &below) == 0 &&
        object_resource_expression_check(type, name, text, &below) == 0)
        return 0;
    below.subject[0] = below.name[0] = below.field[0] = '\0'; /* the path has the names already */
    return wire_fail_below(r, &below);
}

static int read_request_list(struct wire_reader *r, json_t *value, struct job_request **out_list, uint32_t *out_count)
{
    const char *name;
    json_t *item;
    uint32_t count = 0;
    if (!json_is_object(value)) return wire_refuse(r, value, "an object of resources and amounts");
    struct job_request *list = arena_alloc(r->arena, (json_object_size(value) + 1) * sizeof *list);
    json_object_foreach(value, name, item)
    {
        size_t length = wire_enter(r, name);
        if (read_request(r, name, item, &list[count]) != 0) return -1;
        count++;
        wire_leave(r, length);
    }
    *out_list = list;
    *out_count = count;
    return 0;
}

static int read_requests(struct wire_reader *r, json_t *value, void *target)
{
    struct job_keys *keys = target;
    return read_request_list(r, value, &keys->requests, &keys->request_count);
}

static int read_soft_requests(struct wire_reader *r, json_t *value, void *target)
{
    struct job_keys *keys = target;
    return read_request_list(r, value, &keys->placing.soft, &keys->placing.soft_count);
}

/* --- GPUs --------------------------------------------------------------------------------------------------------- */

/* Whether a host of the document, or a tracked TRES, has the type. */
static bool is_known_gpu(const struct state *s, const struct gpu_amount *gpus)
{
    bool found = gpus->tres != NONE || strcmp(gpus->resource, "gres/gpu") == 0;
    for (uint32_t h = 0; h < s->hosts.count && !found; h++) {
        const struct host_row *host = &s->hosts.items[h];
        for (uint32_t i = 0; i < host->gpu_count && !found; i++)
            found = strcmp(host->gpus[i].resource, gpus->resource) == 0;
    }
    return found;
}

static int add_gpus(struct wire_reader *r, const struct gpus_text *text, struct job_keys *keys)
{
    const struct state *s = document_of(r)->state;
    struct buf name = {0};
    bool is_typed = text->type.length > 0;
    buf_format(&name, "gres/gpu%s%.*s", is_typed ? ":" : "", (int)text->type.length, text->type.text);
    const char *resource = arena_copy(r->arena, (struct str){name.text, name.length});
    struct gpu_amount *gpus = &keys->gpus[keys->gpu_count++];
    if (is_typed && document_is_instance(document_of(r))) {
        buf_release(&name);
        return wire_fail(r, "the GPUs of an instance have no types");
    }
    *gpus = (struct gpu_amount){
        .resource = resource, .tres = tres_find(&s->policy.tres, str(resource)), .count = text->count};
    buf_release(&name);
    if (is_known_gpu(s, gpus)) return 0;
    return wire_fail(r, "'%.*s' is not a type of GPUs of this document", (int)text->type.length, text->type.text);
}

/* Reads 2, or "tesla:2,volta:1"; 0 is none. */
static int read_gpu_list(struct wire_reader *r, json_t *value, struct job_keys *keys)
{
    struct str text;
    struct gpus_text_list list;
    struct err below;
    if (keys->gpus != NULL) return wire_fail(r, "'gpus' and 'gpus_per_slot' are given; give only one of them");
    if (wire_read_scalar(r, value, &text) != 0) return -1;
    if (str_equal(text, str("0"))) return 0;
    if (request_text_gpus(text, "gpus", r->arena, &list, &below) != 0)
        return wire_refuse(r, value, "a number of GPUs, or numbers of types, such as \"tesla:2,volta:1\"");
    keys->gpus = arena_alloc(r->arena, list.count * sizeof *keys->gpus);
    for (uint32_t i = 0; i < list.count; i++) {
        if (add_gpus(r, &list.items[i], keys) != 0) return -1;
    }
    return 0;
}

static int read_gpus(struct wire_reader *r, json_t *value, void *target)
{
    return read_gpu_list(r, value, target);
}

static int read_gpus_per_slot(struct wire_reader *r, json_t *value, void *target)
{
    ((struct job_keys *)target)->has_gpus_per_slot = true;
    return read_gpu_list(r, value, target);
}

/* --- where a job may run, and where it runs ----------------------------------------------------------------------- */

/* Whether an object of the kind matches the pattern. */
static bool matches_object(const struct state *s, enum object_kind kind, struct str pattern)
{
    bool matches = false;
    for (uint32_t i = 0; i < s->objects[kind].count && !matches; i++)
        matches = str_matches(str(s->objects[kind].items[i].object.name), pattern);
    return matches;
}

/* Patterns such as "all.q" or "*@n1", each of which has to match a partition; in an instance it may have been deleted
 * since the submission. */
static int read_queue_list(struct wire_reader *r, json_t *value, const char **out_text)
{
    if (json_is_array(value) && json_array_size(value) == 0)
        return wire_fail(r, "the list is empty; at least one queue is accepted");
    if (document_read_names(r, value, out_text) != 0) return -1;
    bool is_empty = **out_text == '\0';
    if (is_empty) *out_text = NULL;
    if (is_empty || document_is_instance(document_of(r))) return 0;
    for (struct str rest = str(*out_text); rest.length > 0;) {
        struct str unused, item = str_cut(rest, ',', &rest);
        if (!matches_object(document_of(r)->state, OBJECT_PARTITION, str_cut(item, '@', &unused)))
            return wire_fail(r, "'%.*s' matches no partition of this document", (int)item.length, item.text);
    }
    return 0;
}

static int read_queues(struct wire_reader *r, json_t *value, void *target)
{
    return read_queue_list(r, value, &((struct job_keys *)target)->placing.queues);
}

static int read_master_queues(struct wire_reader *r, json_t *value, void *target)
{
    return read_queue_list(r, value, &((struct job_keys *)target)->placing.master_queues);
}

static int read_soft_queues(struct wire_reader *r, json_t *value, void *target)
{
    return read_queue_list(r, value, &((struct job_keys *)target)->placing.soft_queues);
}

static int read_environment(struct wire_reader *r, json_t *value, void *target)
{
    const char **name = &((struct job_keys *)target)->environment;
    if (wire_read_name(r, value, name) != 0) return -1;
    bool is_known = matches_object(document_of(r)->state, OBJECT_ENVIRONMENT, str(*name));
    return is_known ? 0 : wire_refuse(r, value, "a parallel environment of this document, or a pattern for one");
}

/* "all.q@n1": a partition and a host on which it is. No host has an '@' in its name. */
static int read_instance(struct wire_reader *r, const char *name, struct job_place *out)
{
    const struct document *d = document_of(r);
    const char *at = strrchr(name, '@');
    struct str queue = at != NULL ? str_range(name, at) : str(name);
    out->partition = map_get(&d->state->object_by_name[OBJECT_PARTITION], queue);
    if (out->partition == NONE) return wire_fail(r, "'%s' is not a partition with its host, such as all.q@n1", name);
    out->host = at != NULL ? map_get(&d->state->object_by_name[OBJECT_HOST], str(at + 1)) : NONE;
    return out->host != NONE ? 0 : wire_fail(r, "'%s' has no host of this document behind the '@'", name);
}

/* {"all.q@n1": 2, "all.q@n2": 4} */
static int read_place_list(struct wire_reader *r, json_t *value, struct job_place **out_list, uint32_t *out_count)
{
    static const struct wire_range range = {.min = 1, .max = SLOTS_MAX};
    const char *name;
    json_t *item;
    if (json_is_object(value) && json_object_size(value) == 0)
        return wire_fail(r, "no places are given; give queues on hosts and slots, such as {\"all.q@n1\": 2}");
    if (!json_is_object(value))
        return wire_refuse(r, value, "an object of queues on hosts and slots, such as {\"all.q@n1\": 2}");
    *out_list = arena_alloc(r->arena, json_object_size(value) * sizeof **out_list);
    json_object_foreach(value, name, item)
    {
        struct job_place *place = &(*out_list)[(*out_count)++];
        size_t length = wire_enter(r, name);
        int64_t slots;
        if (read_instance(r, name, place) != 0 || wire_read_whole(r, item, &range, &slots) != 0) return -1;
        place->slots = (uint32_t)slots;
        wire_leave(r, length);
    }
    return 0;
}

static int read_places(struct wire_reader *r, json_t *value, void *target)
{
    struct job_keys *keys = target;
    return read_place_list(r, value, &keys->places, &keys->place_count);
}

/* --- jobs of an instance ------------------------------------------------------------------------------------------ */

static int read_task_places(struct wire_reader *r, json_t *value, void *target)
{
    struct task_keys *task = target;
    return read_place_list(r, value, &task->places, &task->place_count);
}

#define OF_TASK(member) .offset = offsetof(struct task_keys, member)
#define LAUNCH_MAX 9e18

static const struct wire_field task_fields[] = {
    {.name = "task",
     .type = WIRE_U32,
     .is_required = true,
     OF_TASK(task),
     .max = UINT32_MAX - 2.0,
     .help = "the number of the task"},
    {.name = "start", .type = WIRE_TIME, OF_TASK(start_us)},
    {.name = "places", .type = WIRE_CUSTOM, .read = read_task_places},
    {.name = "launch", .type = WIRE_U64, OF_TASK(launch), .min = 1, .max = LAUNCH_MAX},
    {.name = "suspended", .type = WIRE_BOOL, OF_TASK(is_suspended)},
    {.name = "suspended_us", .type = WIRE_U64, OF_TASK(suspended_us), .max = WHOLE_REAL_MAX},
    {.name = "billing", .type = WIRE_DOUBLE, OF_TASK(billing), .min = -RATE_MAX, .max = RATE_MAX},
    {.name = "allocated_tres", .type = WIRE_TEXT, OF_TASK(allocated_tres)},
    {.name = "granted_time_s", .type = WIRE_I64, OF_TASK(granted_time_s), .min = 1, .max = TIME_LIMIT_S_MAX},
    {.name = "association_partition", .type = WIRE_TEXT, OF_TASK(association_partition)},
    {0},
};
static const struct wire_shape task_shape = {.name = "task", .fields = task_fields, .size = sizeof(struct task_keys)};

static int read_running(struct wire_reader *r, json_t *value, void *target)
{
    struct job_keys *keys = target;
    if (!json_is_array(value)) return wire_refuse(r, value, "a list of tasks");
    keys->running_count = (uint32_t)json_array_size(value);
    keys->running = arena_alloc(r->arena, (keys->running_count + (size_t)1) * sizeof *keys->running);
    for (uint32_t i = 0; i < keys->running_count; i++) {
        size_t length = wire_enter_index(r, i);
        keys->running[i] = (struct task_keys){.task = NONE, .start_us = INT64_MIN, .billing = (double)NAN};
        if (wire_read_members(r, &task_shape, json_array_get(value, i), &keys->running[i]) != 0) return -1;
        wire_leave(r, length);
    }
    return 0;
}

/* {"batch": 1200} */
static int read_min_priorities(struct wire_reader *r, json_t *value, void *target)
{
    static const struct wire_range range = {.min = 1, .max = UINT32_MAX - 1.0};
    struct job_keys *keys = target;
    const char *name;
    json_t *item;
    if (!json_is_object(value)) return wire_refuse(r, value, "an object of partitions and priorities");
    keys->min_priorities = arena_alloc(r->arena, (json_object_size(value) + 1) * sizeof *keys->min_priorities);
    json_object_foreach(value, name, item)
    {
        struct min_priority_key *min = &keys->min_priorities[keys->min_priority_count++];
        size_t length = wire_enter(r, name);
        int64_t priority;
        min->partition = state_find_object(document_of(r)->state, OBJECT_PARTITION, name);
        if (min->partition == NONE) return wire_fail(r, "not a partition of this document");
        if (wire_read_whole(r, item, &range, &priority) != 0) return -1;
        min->priority = (uint32_t)priority;
        wire_leave(r, length);
    }
    return 0;
}

/* --- all keys ----------------------------------------------------------------------------------------------------- */

/* Reads a time; null: there is none. */
static int read_time_or_null(struct wire_reader *r, json_t *value, int64_t *out_us)
{
    if (!json_is_null(value)) return wire_read_time(r, value, out_us);
    *out_us = JOB_KEY_NEVER_US;
    return 0;
}

static int read_eligible(struct wire_reader *r, json_t *value, void *target)
{
    return read_time_or_null(r, value, &((struct job_keys *)target)->eligible_us);
}

static int read_accrue(struct wire_reader *r, json_t *value, void *target)
{
    return read_time_or_null(r, value, &((struct job_keys *)target)->accrue_us);
}

#define MEMBER(member) .offset = offsetof(struct job_keys, member)

static const struct wire_field fields[] = {
    {.name = "id",
     .type = WIRE_U32,
     .is_required = true,
     MEMBER(id),
     .min = 1,
     .max = UINT32_MAX - 1.0,
     .help = "the job's number"},
    {.name = "user", .type = WIRE_NAME, .is_required = true, MEMBER(user), .help = "the user of the job"},
    {.name = "submit", .type = WIRE_TIME, .is_required = true, MEMBER(submit_us), .help = "the time of submission"},
    {.name = "account", .type = WIRE_CUSTOM, .read = read_account},
    {.name = "project", .type = WIRE_CUSTOM, .read = read_project},
    {.name = "partition", .type = WIRE_CUSTOM, .read = read_partitions},
    {.name = "qos", .type = WIRE_CUSTOM, .read = read_qos},
    {.name = "state", .type = WIRE_CHOICE, .choices = "PENDING,RUNNING,HELD,SUSPENDED", MEMBER(state)},
    {.name = "suspended_by", .type = WIRE_CHOICE, .choices = "user,queue,threshold", MEMBER(suspended_by)},
    {.name = "eligible", .type = WIRE_CUSTOM, .read = read_eligible},
    {.name = "accrue", .type = WIRE_CUSTOM, .read = read_accrue},
    {.name = "start", .type = WIRE_TIME, MEMBER(start_us)},
    {.name = "deadline", .type = WIRE_TIME, MEMBER(deadline_us)},
    {.name = "cpus", .type = WIRE_I64, MEMBER(cpus), .max = UINT32_MAX},
    {.name = "nodes", .type = WIRE_CUSTOM, .read = read_nodes},
    {.name = "mem_per_cpu", .type = WIRE_MEMORY, MEMBER(placing.mem_mib_per_cpu)},
    {.name = "gpus", .type = WIRE_CUSTOM, .read = read_gpus},
    {.name = "gpus_per_slot", .type = WIRE_CUSTOM, .read = read_gpus_per_slot},
    {.name = "slots_per_node", .type = WIRE_U32, MEMBER(placing.slots_per_node), .min = 1, .max = SLOTS_MAX},
    {.name = "mem", .type = WIRE_MEMORY, MEMBER(mem_mib)},
    {.name = "tres", .type = WIRE_TEXT, MEMBER(tres)},
    {.name = "array_tasks", .type = WIRE_U32, MEMBER(array_tasks), .min = 1, .max = UINT32_MAX - 1.0},
    {.name = "array_limit", .type = WIRE_U32, MEMBER(array_limit), .max = UINT32_MAX - 1.0},
    {.name = "running_tasks", .type = WIRE_U32, MEMBER(running_tasks), .max = UINT32_MAX - 1.0},
    {.name = "slots", .type = WIRE_CUSTOM, .read = read_slots},
    {.name = "urgency_slots", .type = WIRE_CUSTOM, .read = read_slots_rule},
    {.name = "request", .type = WIRE_CUSTOM, .read = read_requests},
    {.name = "soft", .type = WIRE_CUSTOM, .read = read_soft_requests},
    {.name = "pe", .type = WIRE_CUSTOM, .read = read_environment},
    {.name = "queues", .type = WIRE_CUSTOM, .read = read_queues},
    {.name = "master_queues", .type = WIRE_CUSTOM, .read = read_master_queues},
    {.name = "soft_queues", .type = WIRE_CUSTOM, .read = read_soft_queues},
    {.name = "places", .type = WIRE_CUSTOM, .read = read_places},
    {.name = "tasks", .type = WIRE_TEXT, MEMBER(tasks)},
    {.name = "running", .type = WIRE_CUSTOM, .read = read_running},
    {.name = "launch", .type = WIRE_U64, MEMBER(launch), .min = 1, .max = LAUNCH_MAX},
    {.name = "suspended_us", .type = WIRE_U64, MEMBER(suspended_us), .max = WHOLE_REAL_MAX},
    {.name = "billing", .type = WIRE_DOUBLE, MEMBER(billing), .min = -RATE_MAX, .max = RATE_MAX},
    {.name = "allocated_tres", .type = WIRE_TEXT, MEMBER(allocated_tres)},
    {.name = "granted_time_s", .type = WIRE_I64, MEMBER(granted_time_s), .min = 1, .max = TIME_LIMIT_S_MAX},
    {.name = "association_partition", .type = WIRE_TEXT, MEMBER(association_partition)},
    {.name = "min_priority", .type = WIRE_CUSTOM, .read = read_min_priorities},
    {.name = "seq", .type = WIRE_U64, MEMBER(sequence), .max = WHOLE_REAL_MAX},
    {0},
};

static const char *key_of_field(uint32_t field)
{
    const struct job_field_row *row = &job_field_rows[field];
    return row->has_document_reader ? NULL : row->document_key;
}

static const struct wire_shape shape = {
    .name = "job",
    .fields = fields,
    .size = sizeof(struct job_keys),
    .table_fields = {.table = &job_fields,
                     .values_offset = offsetof(struct job_keys, more.value),
                     .given_offset = offsetof(struct job_keys, more.is_given),
                     .name = key_of_field},
};

/* --- keys beside each other --------------------------------------------------------------------------------------- */

uint64_t job_keys_node_slots(const struct job_keys *keys)
{
    const struct job_placing *p = &keys->placing;
    return (p->node_min > 0 ? p->node_min : 1) * (uint64_t)(p->slots_per_node > 0 ? p->slots_per_node : 1);
}

/* Slots are CPUs, unless the document has the tickets model; in an instance they always are. */
static int check_nodes(struct wire_reader *r, const struct job_keys *keys)
{
    const struct job_placing *p = &keys->placing;
    bool is_instance = document_is_instance(document_of(r));
    bool is_tickets = document_of(r)->state->policy.model == MODEL_TICKETS && !is_instance;
    int64_t slots = is_tickets ? keys->slots_max : keys->cpus;
    uint64_t min = job_keys_node_slots(keys);
    bool is_given = slots > (is_tickets ? 1 : 0);
    if (p->slots_per_node > 0 && keys->environment != NULL)
        return wire_fail_at(r, "slots_per_node", "a parallel environment distributes the slots; give only one of them");
    if (keys->environment != NULL || !is_given || min <= 1) return 0;
    if ((uint64_t)slots < min)
        return wire_fail_at(r, p->node_min > 0 ? "nodes" : "slots_per_node",
                            "%llu slots are the minimum, and the job asks for %lld", (unsigned long long)min,
                            (long long)slots);
    bool is_range = (is_tickets || is_instance) && keys->slots_min < keys->slots_max;
    if (p->slots_per_node == 0 || is_range || slots % p->slots_per_node == 0) return 0;
    return wire_fail_at(r, "slots_per_node", "%u is not a divisor of the job's %lld slots", p->slots_per_node,
                        (long long)slots);
}

/* A partition of a document without hosts has all of them. */
static bool is_on_host(const struct object_row *partition, uint32_t host)
{
    bool found = partition->hosts == NULL;
    for (uint32_t i = 0; i < partition->host_count && !found; i++) found = partition->hosts[i] == host;
    return found;
}

/* More slots than a queue has are accepted: it can be made smaller while jobs run. */
static int check_places(struct wire_reader *r, const struct job_keys *keys)
{
    const struct state *s = document_of(r)->state;
    for (uint32_t i = 0; i < keys->place_count; i++) {
        const struct job_place *place = &keys->places[i];
        const struct object_row *partition = &s->objects[OBJECT_PARTITION].items[place->partition];
        if (!is_on_host(partition, place->host))
            return wire_fail_at(r, "places", "partition '%s' is not on host '%s'", partition->object.name,
                                s->objects[OBJECT_HOST].items[place->host].object.name);
    }
    return 0;
}

/* Keys that a running job, or one that is not running, cannot have. */
static int check_state(struct wire_reader *r, const struct job_keys *keys)
{
    if (!job_keys_are_running(keys)) {
        if (keys->places != NULL)
            return wire_fail_at(r, "places",
                                "is only accepted for a job that runs (RUNNING or SUSPENDED); this one is %s",
                                keys->state != NULL ? keys->state : "PENDING");
        if (keys->start_us == INT64_MIN) return 0;
        return wire_fail_at(r, "start", "is only accepted for a job that runs (RUNNING or SUSPENDED); this one is %s",
                            keys->state != NULL ? keys->state : "PENDING");
    }
    if (keys->start_us != INT64_MIN && keys->start_us > document_of(r)->scenario->now_us)
        return wire_fail_at(r, "start", "the job is %s, but starts later than 'now'", keys->state);
    if (keys->start_us != INT64_MIN && keys->start_us < keys->submit_us)
        return wire_fail_at(r, "start", "is before 'submit'");
    if (check_places(r, keys) != 0) return -1;
    if (keys->array_tasks > 1)
        return wire_fail_at(r, "array_tasks", "%u tasks are pending, but the job is %s", keys->array_tasks,
                            keys->state);
    if (keys->array_limit > 0)
        return wire_fail_at(r, "array_limit", "it limits pending tasks, but the job is %s", keys->state);
    if (keys->partition_count > 1)
        return wire_fail_at(r, "partition", "%u partitions, but the job is %s: give the one that it runs in",
                            keys->partition_count, keys->state);
    if (keys->eligible_us == JOB_KEY_NEVER_US)
        return wire_fail_at(r, "eligible", "cannot be null: the job is %s", keys->state);
    if (keys->eligible_us > document_of(r)->scenario->now_us)
        return wire_fail_at(r, "eligible", "cannot be later than 'now': the job is %s", keys->state);
    return 0;
}

/* Keys that only jobs of instances have, or only other jobs. */
static int check_kind(struct wire_reader *r, json_t *value)
{
    static const char *const of_instance[] = {"tasks",
                                              "running",
                                              "min_priority",
                                              "launch",
                                              "billing",
                                              "allocated_tres",
                                              "association_partition",
                                              "suspended_us",
                                              "granted_time_s",
                                              NULL};
    static const char *const of_others[] = {"tres", "suspended_by", "running_tasks", "urgency_slots", NULL};
    bool is_instance = document_is_instance(document_of(r));
    for (const char *const *name = is_instance ? of_others : of_instance; *name != NULL; name++) {
        if (json_object_get(value, *name) == NULL) continue;
        return wire_fail_at(r, *name, "is %s accepted in the document of an instance", is_instance ? "not" : "only");
    }
    return 0;
}

static int check_memory(struct wire_reader *r, const struct job_keys *keys)
{
    if (keys->placing.mem_mib_per_cpu == 0 || keys->mem_mib == UINT64_MAX) return 0;
    return wire_fail_at(r, "mem_per_cpu", "'mem' is given, too; give only one of them");
}

static int check_keys(struct wire_reader *r, const struct job_keys *keys)
{
    const struct state *s = document_of(r)->state;
    if (keys->has_slots_rule && !keys->has_slots_range)
        return wire_fail_at(r, "urgency_slots", "is only accepted with a range: give 'slots' as one, such as [2, 8]");
    if (keys->running_tasks > 0 && keys->array_limit == 0 &&
        setting_number(&s->settings, SET_GE_MAX_ARRAY_RUNNING) == 0)
        return wire_fail_at(r, "running_tasks",
                            "is only accepted with 'array_limit', or with the setting max_aj_instances");
    if (keys->suspended_by != NULL && !job_keys_have_state(keys, "SUSPENDED"))
        return wire_fail_at(r, "suspended_by", "is only accepted with the state SUSPENDED");
    uint32_t user = state_find_object(s, OBJECT_USER_POLICY, keys->user);
    if (keys->deadline_us != 0 && user != NONE &&
        s->objects[OBJECT_USER_POLICY].items[user].object.value[USER_MAY_USE_DEADLINE].number == 0)
        return wire_fail_at(r, "deadline", "user '%s' may not have one ('deadline' of the user is false)", keys->user);
    struct err below;
    if (keys->more.is_given[JOB_FIELD_CONSTRAINT] &&
        job_places_check_features(s, keys->more.value[JOB_FIELD_CONSTRAINT].text, &below) != 0)
        return wire_fail_at(r, "constraint", "'%s' is a feature of no host of this document", below.value);
    return check_state(r, keys);
}

int job_keys_read(struct wire_reader *r, json_t *value, struct job_keys *out_keys)
{
    bool is_instance = document_is_instance(document_of(r));
    *out_keys = (struct job_keys){
        .cpus = -1,
        .mem_mib = UINT64_MAX,
        .array_tasks = 1,
        .slots_min = 1,
        .slots_max = 1,
        .project = NONE,
        .qos = state_find_object(document_of(r)->state, OBJECT_QOS, is_instance ? DEFAULT_QOS : ""),
        .eligible_us = INT64_MIN,
        .accrue_us = INT64_MIN,
        .start_us = INT64_MIN,
        .sequence = UINT64_MAX,
        .billing = (double)NAN,
    };
    if (wire_read_members(r, &shape, value, out_keys) != 0 || check_kind(r, value) != 0) return -1;
    if (is_instance && out_keys->cpus == 0)
        return wire_fail_at(r, "cpus", "0 is not a whole number from 1 to %d", CPUS_MAX);
    if (is_instance && out_keys->cpus < 0 && out_keys->has_slots) out_keys->cpus = out_keys->slots_min;
    if (check_memory(r, out_keys) != 0 || check_nodes(r, out_keys) != 0) return -1;
    return is_instance ? 0 : check_keys(r, out_keys);
}
