/* `jobs`: the jobs of a document. Fields with a document key in the table of job fields (fields/job_fields.h) are read
 * by that table. The other keys are read here: references to parts of the document, and fields that jobs of an instance
 * do not have. */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "engine/job_members.h"
#include "engine/priorities.h"
#include "fields/setting_text.h"
#include "sim/document.h"

#define SLOTS_MAX 9999999.0
#define NEVER_US INT64_MAX /* of a time that is null */

/* The keys of a job while it is read. */
struct job_document_keys {
    uint32_t id;
    const char *user, *account, *state, *suspended_by, *tres;
    int64_t submit_us, eligible_us, accrue_us, start_us, deadline_us; /* INT64_MIN, deadline_us 0: not given */
    int64_t cpus, nodes;                                              /* -1: not given */
    uint32_t array_tasks, array_limit, running_tasks;
    uint64_t mem_mib, sequence; /* UINT64_MAX: not given */
    uint32_t *partitions;
    uint32_t partition_count, qos, project;
    uint32_t slots_min, slots_max;
    bool has_slots_range, has_slots_rule;
    enum urgency_slots_rule slots_rule;
    uint32_t slots_number;
    struct job_request *requests;
    uint32_t request_count;
    struct job_values more;
};

/* A job that was read, until all jobs have been read. */
struct read_job {
    struct job job;
    uint32_t assoc_id, position;
    uint64_t sequence;
    bool is_running;
};

/* All jobs, and the set of their ids. */
struct jobs_document {
    ARRAY(struct read_job) jobs;
    struct map ids;
};

static bool has_state(const struct job_document_keys *keys, const char *state)
{
    return keys->state != NULL && strcmp(keys->state, state) == 0;
}

/* A suspended job has its resources like one that runs. */
static bool is_running(const struct job_document_keys *keys)
{
    return has_state(keys, "RUNNING") || has_state(keys, "SUSPENDED");
}

/* --- keys --------------------------------------------------------------------------------------------------------- */

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
    return read_object(r, value, OBJECT_PROJECT, &((struct job_document_keys *)target)->project);
}

static int read_qos(struct wire_reader *r, json_t *value, void *target)
{
    return read_object(r, value, OBJECT_QOS, &((struct job_document_keys *)target)->qos);
}

static int read_account(struct wire_reader *r, json_t *value, void *target)
{
    const struct document *d = document_of(r);
    const char **account = &((struct job_document_keys *)target)->account;
    if (wire_read_name(r, value, account) != 0) return -1;
    bool is_known =
        d->associations.count == 0 || strcmp(*account, "root") == 0 || map_get(&d->account_rows, str(*account)) != NONE;
    return is_known ? 0 : wire_refuse(r, value, "an account of this document");
}

/* Reads a name, or a list of names. */
static int read_partitions(struct wire_reader *r, json_t *value, void *target)
{
    struct job_document_keys *keys = target;
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
    return 0;
}

/* Reads a number, or a list of the minimum and the maximum. */
static int read_slots(struct wire_reader *r, json_t *value, void *target)
{
    static const struct wire_range range = {.min = 1, .max = SLOTS_MAX};
    struct job_document_keys *keys = target;
    bool is_list = json_is_array(value);
    int64_t min, max;
    if (is_list && json_array_size(value) != 2)
        return wire_refuse(r, value, "a number of slots, or the minimum and the maximum, such as [2, 8]");
    if (wire_read_whole(r, is_list ? json_array_get(value, 0) : value, &range, &min) != 0) return -1;
    if (wire_read_whole(r, is_list ? json_array_get(value, 1) : value, &range, &max) != 0) return -1;
    if (max < min) return wire_fail(r, "the maximum, %lld, is below the minimum, %lld", (long long)max, (long long)min);
    keys->slots_min = (uint32_t)min;
    keys->slots_max = (uint32_t)max;
    keys->has_slots_range = is_list;
    return 0;
}

static int read_slots_rule(struct wire_reader *r, json_t *value, void *target)
{
    struct job_document_keys *keys = target;
    struct str text;
    if (wire_read_scalar(r, value, &text) != 0) return -1;
    if (setting_text_urgency_slots(text, "urgency_slots", &keys->slots_rule, &keys->slots_number, NULL) != 0)
        return wire_refuse(r, value, "min, max, avg or a number of slots");
    keys->has_slots_rule = true;
    return 0;
}

static int read_request(struct wire_reader *r, const char *name, json_t *value, struct job_request *out_request)
{
    const struct state *s = document_of(r)->state;
    uint32_t index = state_find_object(s, OBJECT_RESOURCE, name);
    struct str text;
    struct err below;
    if (strcmp(name, SLOTS_RESOURCE) == 0) return wire_fail(r, "slots are requested with the key 'slots'");
    if (index == NONE) return wire_fail(r, "not a resource of this document");
    const struct field_value *fields = s->objects[OBJECT_RESOURCE].items[index].object.value;
    enum resource_type type = (enum resource_type)fields[RESOURCE_TYPE].number;
    if (wire_read_scalar(r, value, &text) != 0) return -1;
    *out_request = (struct job_request){.resource = index, .text = arena_copy(&document_of(r)->arena, text)};
    if (object_resource_amount_parse(type, name, text, &out_request->amount, &below) == 0) return 0;
    below.subject[0] = below.name[0] = below.field[0] = '\0'; /* the path has the names already */
    return wire_fail_below(r, &below);
}

static int read_requests(struct wire_reader *r, json_t *value, void *target)
{
    struct job_document_keys *keys = target;
    const char *name;
    json_t *item;
    if (!json_is_object(value)) return wire_refuse(r, value, "an object of resources and amounts");
    keys->requests = arena_alloc(&document_of(r)->arena, (json_object_size(value) + 1) * sizeof *keys->requests);
    json_object_foreach(value, name, item)
    {
        size_t length = wire_enter(r, name);
        if (read_request(r, name, item, &keys->requests[keys->request_count]) != 0) return -1;
        keys->request_count++;
        wire_leave(r, length);
    }
    return 0;
}

/* Reads a time; null: there is none. */
static int read_time_or_null(struct wire_reader *r, json_t *value, int64_t *out_us)
{
    if (!json_is_null(value)) return wire_read_time(r, value, out_us);
    *out_us = NEVER_US;
    return 0;
}

static int read_eligible(struct wire_reader *r, json_t *value, void *target)
{
    return read_time_or_null(r, value, &((struct job_document_keys *)target)->eligible_us);
}

static int read_accrue(struct wire_reader *r, json_t *value, void *target)
{
    return read_time_or_null(r, value, &((struct job_document_keys *)target)->accrue_us);
}

#define MEMBER(member) .offset = offsetof(struct job_document_keys, member)

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
    {.name = "start", .type = WIRE_TIME, MEMBER(start_us)}, /* checked; no decision depends on it */
    {.name = "deadline", .type = WIRE_TIME, MEMBER(deadline_us)},
    {.name = "cpus", .type = WIRE_I64, MEMBER(cpus), .max = UINT32_MAX},
    {.name = "nodes", .type = WIRE_I64, MEMBER(nodes), .min = 1, .max = UINT32_MAX},
    {.name = "mem", .type = WIRE_MEMORY, MEMBER(mem_mib)},
    {.name = "tres", .type = WIRE_TEXT, MEMBER(tres)},
    {.name = "array_tasks", .type = WIRE_U32, MEMBER(array_tasks), .min = 1, .max = UINT32_MAX - 1.0},
    {.name = "array_limit", .type = WIRE_U32, MEMBER(array_limit), .max = UINT32_MAX - 1.0},
    {.name = "running_tasks", .type = WIRE_U32, MEMBER(running_tasks), .max = UINT32_MAX - 1.0},
    {.name = "slots", .type = WIRE_CUSTOM, .read = read_slots},
    {.name = "urgency_slots", .type = WIRE_CUSTOM, .read = read_slots_rule},
    {.name = "request", .type = WIRE_CUSTOM, .read = read_requests},
    {.name = "seq", .type = WIRE_U64, MEMBER(sequence), .max = WHOLE_REAL_MAX},
    {0},
};

static const char *key_of_field(uint32_t field)
{
    return job_field_rows[field].document_key;
}

static const struct wire_shape shape = {
    .name = "job",
    .fields = fields,
    .size = sizeof(struct job_document_keys),
    .table_fields = {.table = &job_fields,
                     .values_offset = offsetof(struct job_document_keys, more.value),
                     .given_offset = offsetof(struct job_document_keys, more.is_given),
                     .name = key_of_field},
};

/* --- one job ------------------------------------------------------------------------------------------------------ */

/* With `tres` a requested licence counts only if the list has it. */
static int check_licenses(struct wire_reader *r, const struct job_document_keys *keys, const struct tres_list *list)
{
    const struct state *s = document_of(r)->state;
    struct buf name = {0};
    uint32_t missing = NONE;
    for (uint32_t i = 0; i < keys->request_count && missing == NONE; i++) {
        buf_clear(&name);
        buf_format(&name, "license/%s", s->objects[OBJECT_RESOURCE].items[keys->requests[i].resource].object.name);
        uint32_t index = tres_find(&s->policy.tres, (struct str){name.text, name.length});
        if (index != NONE && !(tres_amount_of(list, index) > 0.0)) missing = i;
    }
    if (missing != NONE)
        (void)wire_fail_at(r, "tres", "the list replaces requested licences, and lacks %s, which 'request' has",
                           name.text);
    buf_release(&name);
    return missing == NONE ? 0 : -1;
}

/* `tres` is for the TRES terms and billing, in place of CPUs, nodes, memory and licences. `cpus` and `nodes` beside it are
 * for the size, because the total CPUs of a waiting job can be others than those that it requests. */
static int read_tres(struct wire_reader *r, struct job_document_keys *keys, struct tres_list *out_list)
{
    const struct tres_table *table = &document_of(r)->state->policy.tres;
    struct arena *arena = &document_of(r)->arena;
    struct tres_list given;
    struct err below;
    if (keys->tres == NULL) return 0;
    if (tres_list_parse(table, str(keys->tres), "tres", arena, &given, &below) != 0) return wire_fail_below(r, &below);
    out_list->items = arena_alloc(arena, TRES_MAX * sizeof *out_list->items);
    out_list->count = given.count;
    memcpy(out_list->items, given.items, given.count * sizeof *given.items);
    tres_list_add_generic(table, out_list);
    double cpus = tres_amount_of(out_list, TRES_CPU), nodes = tres_amount_of(out_list, TRES_NODE);
    double mem_mib = tres_amount_of(out_list, TRES_MEM);
    bool has_other_mem =
        keys->mem_mib != UINT64_MAX && ((double)keys->mem_mib < mem_mib || (double)keys->mem_mib > mem_mib);
    if (has_other_mem)
        return wire_fail_at(r, "mem", "'tres' has another amount: give the memory there, as in 'cpu=4,mem=8G'");
    if (cpus > UINT32_MAX || nodes > UINT32_MAX) return wire_fail_at(r, "tres", "more than 4294967295 CPUs or nodes");
    if (keys->cpus < 0 && cpus > 0.0) keys->cpus = (int64_t)cpus;
    if (keys->nodes < 0 && nodes > 0.0) keys->nodes = (int64_t)nodes;
    return check_licenses(r, keys, out_list);
}

static void set_defaults(struct document *d, struct job_document_keys *keys)
{
    uint32_t row = map_get(&d->first_rows, str(keys->user));
    if (keys->partitions == NULL) {
        keys->partitions = arena_alloc(&d->arena, sizeof *keys->partitions); /* the first one */
        keys->partition_count = 1;
    }
    if (keys->account == NULL) keys->account = row != NONE ? d->associations.items[row].account : "";
    if (keys->eligible_us == INT64_MIN) /* at most now: a job of the document has been submitted */
        keys->eligible_us = keys->submit_us < d->scenario->now_us ? keys->submit_us : d->scenario->now_us;
    if (keys->cpus < 0) keys->cpus = 1;
    if (keys->nodes < 0) keys->nodes = 1;
    if (keys->mem_mib == UINT64_MAX) keys->mem_mib = 0;
}

/* The time from which the age grows; 0: there is none. Unless `accrue` says it, that is the time when the job became
 * eligible, like AccrueTime of scontrol, whatever the flags are: Slurm 22.05.8 keeps an AccrueTime from before
 * ACCRUE_ALWAYS was set (case prio-classic, jobs 10 and 13). A job that is not eligible yet has none; with the flag its
 * age grows from its submission. */
static int64_t accrual_start(const struct document *d, const struct job_document_keys *keys)
{
    bool is_always = (d->state->policy.multifactor.flags & FLAG_ACCRUE_ALWAYS) != 0;
    bool is_eligible = keys->eligible_us <= d->scenario->now_us;
    int64_t begin_us = keys->accrue_us != INT64_MIN ? keys->accrue_us
                       : is_eligible                ? keys->eligible_us
                       : is_always                  ? keys->submit_us
                                                    : NEVER_US;
    if (begin_us == NEVER_US) return 0;
    return begin_us != 0 ? begin_us : 1;
}

static enum job_suspension suspension_of(const struct job_document_keys *keys)
{
    if (!has_state(keys, "SUSPENDED")) return SUSPENSION_NONE;
    const char *by = keys->suspended_by != NULL ? keys->suspended_by : "user";
    if (strcmp(by, "user") == 0) return SUSPENSION_BY_HAND;
    return strcmp(by, "queue") == 0 ? SUSPENSION_BY_QUEUE : SUSPENSION_BY_THRESHOLD;
}

/* The numbers first to last. */
static struct idset set_of(uint32_t first, uint32_t last)
{
    struct idset set = {0};
    *array_add(&set.ranges) = (struct idset_range){first, last};
    return set;
}

/* Sets the fields that the table of job fields reads. */
static int set_fields(struct wire_reader *r, const struct job_values *given, struct job *row)
{
    struct document *d = document_of(r);
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (!given->is_given[f]) continue;
        if (job_member_set(d->state, row, f, &given->value[f], &d->arena, r->e) != 0) return -1;
    }
    return 0;
}

static int make_job(struct wire_reader *r, struct job_document_keys *keys, struct read_job *out)
{
    struct document *d = document_of(r);
    struct job_document *document = arena_alloc(&d->arena, sizeof *document);
    if (read_tres(r, keys, &document->tres) != 0) return -1;
    set_defaults(d, keys);
    document->nodes = (uint32_t)keys->nodes;
    document->slots = keys->slots_min;
    document->has_slots_rule = keys->has_slots_rule;
    document->slots_rule = keys->slots_rule;
    document->slots_number = keys->slots_number;
    document->running_tasks = keys->running_tasks;
    document->suspension = suspension_of(keys);
    out->is_running = is_running(keys);
    out->sequence = keys->sequence != UINT64_MAX ? keys->sequence : keys->id;
    out->job = (struct job){
        .id = keys->id,
        .is_held = has_state(keys, "HELD"),
        .is_array = keys->array_tasks > 1 || keys->array_limit > 0,
        .array_limit = keys->array_limit,
        .list_position = out->sequence,
        .begin_us = keys->eligible_us,
        .request = {.cpus = (uint32_t)keys->cpus, .mem_mib = keys->mem_mib},
        .partitions = keys->partitions,
        .partition_count = keys->partition_count,
        .qos = keys->qos,
        .project = keys->project,
        .accrue_us = accrual_start(d, keys),
        .set_priority = NONE,
        .slots_max = keys->slots_max,
        .requests = keys->requests,
        .request_count = keys->request_count,
        .submit_us = keys->submit_us,
        .deadline_us = keys->deadline_us,
        .text = arena_alloc(&d->arena, sizeof *out->job.text),
        .document = document,
    };
    return set_fields(r, &keys->more, &out->job);
}

/* Keys that a running job, or one that is not running, cannot have. */
static int check_state(struct wire_reader *r, const struct job_document_keys *keys)
{
    if (!is_running(keys)) {
        if (keys->start_us == INT64_MIN) return 0;
        return wire_fail_at(r, "start", "the job is %s; only a RUNNING one has started",
                            keys->state != NULL ? keys->state : "PENDING");
    }
    if (keys->start_us != INT64_MIN && keys->start_us > document_of(r)->scenario->now_us)
        return wire_fail_at(r, "start", "the job is %s, but starts later than 'now'", keys->state);
    if (keys->array_tasks > 1)
        return wire_fail_at(r, "array_tasks", "%u tasks are pending, but the job is %s", keys->array_tasks,
                            keys->state);
    if (keys->array_limit > 0)
        return wire_fail_at(r, "array_limit", "it limits pending tasks, but the job is %s", keys->state);
    if (keys->partition_count > 1)
        return wire_fail_at(r, "partition", "%u partitions, but the job is %s: give the one that it runs in",
                            keys->partition_count, keys->state);
    if (keys->eligible_us == NEVER_US) return wire_fail_at(r, "eligible", "null, but the job is %s", keys->state);
    return 0;
}

static int check_job(struct wire_reader *r, struct jobs_document *jobs, const struct job_document_keys *keys)
{
    const struct state *s = document_of(r)->state;
    if (map_get_u64(&jobs->ids, keys->id) != NONE) return wire_fail_at(r, "id", "%u occurs twice", keys->id);
    map_set_u64(&jobs->ids, keys->id, 1);
    if (keys->has_slots_rule && !keys->has_slots_range)
        return wire_fail_at(r, "urgency_slots", "only a range of slots has it; give 'slots' as one, such as [2, 8]");
    if (keys->running_tasks > 0 && keys->array_limit == 0)
        return wire_fail_at(r, "running_tasks", "they count only with an array_limit");
    if (keys->suspended_by != NULL && !has_state(keys, "SUSPENDED"))
        return wire_fail_at(r, "suspended_by", "only a job in the state SUSPENDED has it");
    uint32_t user = state_find_object(s, OBJECT_USER_POLICY, keys->user);
    if (keys->deadline_us != 0 && user != NONE &&
        s->objects[OBJECT_USER_POLICY].items[user].object.value[USER_MAY_USE_DEADLINE].number == 0)
        return wire_fail_at(r, "deadline", "user '%s' may not have one ('deadline' of the user is false)", keys->user);
    return check_state(r, keys);
}

static int read_job(struct wire_reader *r, json_t *value, struct jobs_document *jobs)
{
    struct document *d = document_of(r);
    struct job_document_keys keys = {
        .cpus = -1,
        .nodes = -1,
        .mem_mib = UINT64_MAX,
        .array_tasks = 1,
        .slots_min = 1,
        .slots_max = 1,
        .project = NONE,
        .qos = state_find_object(d->state, OBJECT_QOS, ""),
        .eligible_us = INT64_MIN,
        .accrue_us = INT64_MIN,
        .start_us = INT64_MIN,
        .sequence = UINT64_MAX,
    };
    struct read_job job = {.position = jobs->jobs.count};
    if (wire_read_members(r, &shape, value, &keys) != 0 || check_job(r, jobs, &keys) != 0) return -1;
    if (document_ensure_user(r, keys.user) != 0 || make_job(r, &keys, &job) != 0) return -1;
    job.assoc_id = document_association(d, keys.account, keys.user);
    uint32_t last = keys.array_tasks - 1;
    job.job.array = set_of(job.job.is_array, job.job.is_array + last);
    if (!job.is_running) idset_copy(&job.job.pending, &job.job.array);
    *array_add(&jobs->jobs) = job;
    return 0;
}

/* --- all jobs ----------------------------------------------------------------------------------------------------- */

static uint64_t key_of_number(int64_t number)
{
    return (uint64_t)number ^ UINT64_C(1) << 63; /* keys have the order of the numbers, negative ones first */
}

/* The ranks are the order of submission in priority/basic, otherwise the order of the scheduler's list; ties are in
 * order of ids. The sort is stable. */
static void set_ranks(struct jobs_document *jobs, const struct policy *policy, struct arena *arena)
{
    uint32_t count = jobs->jobs.count;
    struct sort_record *records = arena_alloc(arena, (count + (size_t)1) * sizeof *records);
    struct sort_record *scratch = arena_alloc(arena, (count + (size_t)1) * sizeof *scratch);
    for (uint32_t i = 0; i < count; i++)
        records[i] = (struct sort_record){.key = jobs->jobs.items[i].job.id, .index = i};
    sort_records(records, count, scratch);
    for (uint32_t i = 0; i < count; i++) {
        const struct read_job *job = &jobs->jobs.items[records[i].index];
        records[i].key = policy->model == MODEL_BASIC ? key_of_number(job->job.submit_us) : job->sequence;
    }
    sort_records(records, count, scratch);
    for (uint32_t i = 0; i < count; i++) jobs->jobs.items[records[i].index].job.document->rank = i;
}

static int compare_ids(const void *a, const void *b)
{
    uint32_t id_a = ((const struct read_job *)a)->job.id, id_b = ((const struct read_job *)b)->job.id;
    return (id_a > id_b) - (id_a < id_b);
}

/* A running job runs in its only partition, on the CPUs that it requests. */
static void restore_task(struct state *s, const struct job *j)
{
    struct task row = {.job_id = j->id,
                       .state = JOB_RUNNING,
                       .launch_id = j->document->rank + UINT64_C(1),
                       .partition = j->partitions[0],
                       .usage_factor = 1.0};
    if (j->request.cpus > 0) row.placement.cpus = set_of(0, j->request.cpus - 1);
    row.placement.mem_mib = j->request.mem_mib;
    state_restore_task(s, &row);
}

static void restore_jobs(struct document *d, struct jobs_document *jobs)
{
    struct scenario *scenario = d->scenario;
    uint32_t count = jobs->jobs.count;
    struct sort_record *tasks = arena_alloc(&d->arena, (count + (size_t)1) * sizeof *tasks);
    scenario->job_count = count;
    scenario->jobs = arena_alloc(&scenario->arena, (count + (size_t)1) * sizeof *scenario->jobs);
    if (count > 0) qsort(jobs->jobs.items, count, sizeof *jobs->jobs.items, compare_ids);
    for (uint32_t i = 0; i < count; i++) {
        struct read_job *job = &jobs->jobs.items[i];
        scenario->jobs[job->position] = i;
        state_restore_job(d->state, &job->job, job->assoc_id);
        job->job.array = job->job.pending = (struct idset){0}; /* the state owns them */
        tasks[job->job.document->rank] = (struct sort_record){.key = job->is_running, .index = i};
    }
    for (uint32_t rank = 0; rank < count; rank++) {
        if (tasks[rank].key != 0) restore_task(d->state, &d->state->jobs.items[tasks[rank].index]);
    }
}

/* Refuses a document with too many tasks, because the engine would rank fewer tasks of each array than Grid Engine. */
static int check_task_count(struct wire_reader *r)
{
    const struct state *s = document_of(r)->state;
    uint64_t count = s->tasks.count, tasks_max = ticket_snapshot_tasks_max(s);
    if (s->policy.model != MODEL_TICKETS) return 0;
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        uint32_t tasks = idset_count(&s->jobs.items[i].pending);
        count += tasks < tasks_max ? tasks : tasks_max;
    }
    if (count <= TICKET_ENTRIES_MAX) return 0;
    return wire_fail(r, "%llu tasks to rank; at most %d are accepted (max_pending_tasks_per_job)",
                     (unsigned long long)count, TICKET_ENTRIES_MAX);
}

static void release_jobs(struct jobs_document *jobs)
{
    for (uint32_t i = 0; i < jobs->jobs.count; i++) {
        idset_release(&jobs->jobs.items[i].job.array);
        idset_release(&jobs->jobs.items[i].job.pending);
    }
    array_release(&jobs->jobs);
    map_release(&jobs->ids);
}

static int read_list(struct wire_reader *r, json_t *value, struct jobs_document *jobs)
{
    if (!json_is_array(value)) return wire_refuse(r, value, "a list");
    for (size_t i = 0; i < json_array_size(value); i++) {
        size_t length = wire_enter_index(r, i);
        if (read_job(r, json_array_get(value, i), jobs) != 0) return -1;
        wire_leave(r, length);
    }
    return 0;
}

int document_read_jobs(struct wire_reader *r, json_t *value)
{
    struct document *d = document_of(r);
    struct jobs_document jobs = {0};
    int status = read_list(r, value, &jobs);
    if (status == 0) {
        set_ranks(&jobs, &d->state->policy, &d->arena);
        restore_jobs(d, &jobs);
        status = check_task_count(r);
    }
    release_jobs(&jobs);
    return status;
}
