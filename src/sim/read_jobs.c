/* The jobs of a document. What a job leaves out comes from what it says: `tres` stands for cpus, nodes and mem together,
 * no account means the user's first, no partition the first one. */
#include <string.h>

#include "sim/reader.h"

const char *const job_state_names[JOB_STATE_COUNT] = {
    [JOB_PENDING] = "PENDING", [JOB_RUNNING] = "RUNNING", [JOB_HELD] = "HELD"};

#define NICE_MAX 2147483645.0
#define SLOTS_MAX 9999999.0
#define LIMIT_MAX_S (3650.0 * 86400.0)
#define SEQUENCE_MAX 9007199254740992.0

/* A job while it is read: what has to wait until all of it is known. */
struct job_keys {
    struct scenario_job job; /* first */
    uint64_t mem_mib;
    json_t *tres;
    bool has_sequence;
};

/* --- values of keys ------------------------------------------------------------------------------------------------- */

static int read_id(struct reader *r, json_t *value, void *target)
{
    struct job_keys *keys = target;
    int64_t id = 0;
    if (read_whole(r, value, 1, UINT32_MAX - 1, &id) != 0) return -1;
    keys->job.id = (uint32_t)id;
    return 0;
}

static int read_state(struct reader *r, json_t *value, void *target)
{
    struct job_keys *keys = target;
    for (int i = 0; i < JOB_STATE_COUNT; i++) {
        if (!json_is_string(value) || strcmp(json_string_value(value), job_state_names[i]) != 0) continue;
        keys->job.state = (enum job_state)i;
        return 0;
    }
    return reader_refuse(r, value, "PENDING, RUNNING or HELD");
}

static int read_project_of(struct reader *r, json_t *value, void *target)
{
    struct job_keys *keys = target;
    return read_reference(r, value, &r->s->project_names, "project", &keys->job.project);
}

static int read_qos_of(struct reader *r, json_t *value, void *target)
{
    struct job_keys *keys = target;
    return read_reference(r, value, &r->s->qos_names, "qos", &keys->job.qos);
}

static int read_account_of(struct reader *r, json_t *value, void *target)
{
    struct job_keys *keys = target;
    if (read_name(r, value, &keys->job.account) != 0) return -1;
    bool is_known = r->s->associations.count == 0 || strcmp(keys->job.account, "root") == 0 ||
                    map_get(&r->s->account_names, str(keys->job.account)) != NONE;
    return is_known ? 0 : reader_refuse(r, value, "an account of this document");
}

static int read_partitions_of(struct reader *r, json_t *value, void *target)
{
    struct job_keys *keys = target;
    bool is_list = json_is_array(value);
    size_t count = is_list ? json_array_size(value) : 1;
    if (count == 0) return reader_fail(r, "an empty list; a partition is needed, or no such key");
    uint32_t *partitions = arena_alloc(&r->s->arena, count * sizeof *partitions);
    for (size_t i = 0; i < count; i++) {
        size_t length = is_list ? reader_enter_index(r, i) : r->path.length;
        json_t *item = is_list ? json_array_get(value, i) : value;
        if (read_reference(r, item, &r->s->partition_names, "partition", &partitions[i]) != 0) return -1;
        for (size_t k = 0; k < i; k++) {
            if (partitions[k] == partitions[i]) return reader_fail(r, "the partition is there already");
        }
        reader_leave(r, length);
    }
    keys->job.partitions = partitions;
    keys->job.partition_count = (uint32_t)count;
    return 0;
}

static int read_job_memory(struct reader *r, json_t *value, void *target)
{
    return read_memory(r, value, &((struct job_keys *)target)->mem_mib);
}

static int read_tres(struct reader *r, json_t *value, void *target)
{
    if (!json_is_string(value)) return reader_refuse(r, value, "a text like 'cpu=4,mem=8G,gres/gpu=1'");
    ((struct job_keys *)target)->tres = value;
    return 0;
}

static int read_set_priority(struct reader *r, json_t *value, void *target)
{
    struct job_keys *keys = target;
    int64_t priority = 0;
    if (read_whole(r, value, 0, UINT32_MAX, &priority) != 0) return -1;
    keys->job.set_priority = (uint32_t)priority;
    keys->job.is_set = true;
    return 0;
}

/* A number, or the least and the most. */
static int read_slots(struct reader *r, json_t *value, void *target)
{
    struct job_keys *keys = target;
    int64_t min = 0, max = 0;
    if (json_is_array(value) && json_array_size(value) != 2)
        return reader_fail(r, "a list of %zu; a number of slots, or the least and the most, [2, 8], are accepted",
                           json_array_size(value));
    json_t *first = json_is_array(value) ? json_array_get(value, 0) : value;
    json_t *last = json_is_array(value) ? json_array_get(value, 1) : value;
    if (read_whole(r, first, 1, SLOTS_MAX, &min) != 0) return -1;
    if (read_whole(r, last, 1, SLOTS_MAX, &max) != 0) return -1;
    if (max < min) return reader_fail(r, "the most, %lld, is below the least, %lld", (long long)max, (long long)min);
    keys->job.slots_min = (uint32_t)min;
    keys->job.slots_max = (uint32_t)max;
    return 0;
}

static int read_urgency_slots(struct reader *r, json_t *value, void *target)
{
    struct scenario_job *job = &((struct job_keys *)target)->job;
    struct str text;
    struct err below;
    if (read_scalar(r, value, &text) != 0) return -1;
    if (policy_text_urgency_slots(text, "urgency_slots", &job->slots_rule, &job->slots_number, &below) != 0)
        return reader_refuse(r, value, "min, max, avg or a number of slots");
    job->has_slots_rule = true;
    return 0;
}

static int read_one_request(struct reader *r, const char *name, json_t *value, struct urgency_request *out_request)
{
    uint32_t index = map_get(&r->s->resource_names, str(name));
    struct str text;
    struct err below;
    if (strcmp(name, "slots") == 0) return reader_fail(r, "slots are asked for with 'slots'");
    if (index == NONE) return reader_fail(r, "'%.60s' is not a resource of this document", name);
    const struct object *resource = &r->s->resources.items[index];
    enum resource_type type = (enum resource_type)resource->value[RESOURCE_TYPE].number;
    *out_request = (struct urgency_request){.urgency = resource->value[RESOURCE_URGENCY].real,
                                            .is_text = resource_type_is_text(type)};
    if (read_scalar(r, value, &text) != 0) return -1;
    if (object_resource_amount_parse(type, name, text, &out_request->value, &below) != 0)
        return reader_fail(r, "%s", ERR_SENTENCE(&below));
    return 0;
}

static int read_requests(struct reader *r, json_t *value, void *target)
{
    struct scenario_job *job = &((struct job_keys *)target)->job;
    const char *name;
    json_t *item;
    if (!json_is_object(value)) return reader_refuse(r, value, "an object of resources and amounts");
    struct urgency_request *requests = arena_alloc(&r->s->arena, (json_object_size(value) + 1) * sizeof *requests);
    job->requests = requests;
    json_object_foreach(value, name, item)
    {
        size_t length = reader_enter(r, name);
        if (read_one_request(r, name, item, &requests[job->request_count]) != 0) return -1;
        job->request_count++;
        reader_leave(r, length);
    }
    return 0;
}

static int read_sequence(struct reader *r, json_t *value, void *target)
{
    struct job_keys *keys = target;
    int64_t sequence = 0;
    if (read_whole(r, value, 0, SEQUENCE_MAX, &sequence) != 0) return -1;
    keys->job.sequence = (uint64_t)sequence;
    keys->has_sequence = true;
    return 0;
}

/* When it started decides nothing here; it has to be a moment all the same. */
static int read_start(struct reader *r, json_t *value, void *target)
{
    int64_t start_us = 0;
    (void)target;
    return read_moment(r, value, &start_us);
}

static const struct key job_keys[] = {
    {"id", KEY_OTHER, true, 0, 0, 0, read_id},
    NEEDED_NAME_KEY("user", struct job_keys, job.user),
    {"submit", KEY_MOMENT, true, KEY_MEMBER(struct job_keys, job.submit_us, int64_t), 0, 0, NULL},
    OTHER_KEY("account", read_account_of),
    OTHER_KEY("project", read_project_of),
    OTHER_KEY("partition", read_partitions_of),
    OTHER_KEY("qos", read_qos_of),
    OTHER_KEY("state", read_state),
    MOMENT_KEY("eligible", struct job_keys, job.eligible_us),
    OTHER_KEY("start", read_start),
    I64_KEY("time_limit_s", struct job_keys, job.time_limit_s, 1, LIMIT_MAX_S),
    MOMENT_KEY("deadline", struct job_keys, job.deadline_us),
    U32_KEY("cpus", struct job_keys, job.cpus, 0, UINT32_MAX),
    U32_KEY("nodes", struct job_keys, job.nodes, 1, UINT32_MAX),
    OTHER_KEY("mem", read_job_memory),
    OTHER_KEY("tres", read_tres),
    I32_KEY("nice", struct job_keys, job.nice, -NICE_MAX, NICE_MAX),
    I32_KEY("site", struct job_keys, job.site, -NICE_MAX, NICE_MAX),
    OTHER_KEY("set_priority", read_set_priority),
    U32_KEY("array_tasks", struct job_keys, job.array_tasks, 1, UINT32_MAX),
    OTHER_KEY("slots", read_slots),
    OTHER_KEY("urgency_slots", read_urgency_slots),
    OTHER_KEY("request", read_requests),
    I32_KEY("posix_priority", struct job_keys, job.posix_priority, POSIX_PRIORITY_MIN, POSIX_PRIORITY_MAX),
    REAL_KEY("job_share", struct job_keys, job.job_share, 0, UINT32_MAX),
    REAL_KEY("override_tickets", struct job_keys, job.override_tickets, 0, UINT32_MAX),
    OTHER_KEY("seq", read_sequence),
};

/* --- a job from its keys -------------------------------------------------------------------------------------------- */

/* `tres` stands for cpus, nodes and mem; without it they make the list. */
static int finish_tres(struct reader *r, struct job_keys *keys)
{
    const struct tres_table *table = &r->s->policy.tres;
    struct scenario_job *job = &keys->job;
    struct err below;
    if (keys->tres == NULL) {
        struct tres_amount *items = arena_alloc(&r->s->arena, 3 * sizeof *items);
        job->tres.items = items;
        if (job->cpus > 0) items[job->tres.count++] = (struct tres_amount){TRES_CPU, job->cpus};
        if (keys->mem_mib > 0) items[job->tres.count++] = (struct tres_amount){TRES_MEM, (double)keys->mem_mib};
        items[job->tres.count++] = (struct tres_amount){TRES_NODE, job->nodes};
        return 0;
    }
    struct tres_amount items[TRES_MAX];
    struct tres_list given;
    if (tres_list_parse(table, str(json_string_value(keys->tres)), "tres", &r->s->arena, &given, &below) != 0)
        return reader_fail_below(r, &below);
    struct tres_list whole = {.items = items, .count = given.count};
    memcpy(items, given.items, given.count * sizeof *items);
    tres_list_add_generic(table, &whole);
    if (whole.count > given.count) {
        given.items = arena_alloc(&r->s->arena, whole.count * sizeof *items);
        given.count = whole.count;
        memcpy(given.items, items, whole.count * sizeof *items);
    }
    double cpus = tres_amount_of(&given, TRES_CPU), nodes = tres_amount_of(&given, TRES_NODE);
    if (cpus > UINT32_MAX || nodes > UINT32_MAX) return reader_fail_at(r, "tres", "more than 4294967295 CPUs or nodes");
    job->tres = given;
    if (cpus > 0.0) job->cpus = (uint32_t)cpus;
    if (nodes > 0.0) job->nodes = (uint32_t)nodes;
    return 0;
}

static void finish_defaults(struct reader *r, struct job_keys *keys)
{
    static const uint32_t first_partition[1] = {0};
    struct scenario_job *job = &keys->job;
    if (job->partitions == NULL) {
        job->partitions = first_partition;
        job->partition_count = 1;
    }
    if (job->account == NULL) {
        uint32_t row = map_get(&r->s->first_associations, str(job->user));
        if (row != NONE) job->account = r->s->associations.items[row].account;
    }
    if (job->eligible_us == INT64_MIN) /* what is in the document was submitted, whatever its clock said */
        job->eligible_us = job->submit_us < r->s->now_us ? job->submit_us : r->s->now_us;
    if (!keys->has_sequence) job->sequence = job->id;
}

static int check_job(struct reader *r, const struct scenario_job *job, uint32_t index)
{
    uint32_t other = map_get_u64(&r->s->job_ids, job->id);
    if (other != NONE) return reader_fail_at(r, "id", "%u is there already, at [%u]", job->id, other);
    map_set_u64(&r->s->job_ids, job->id, index);
    if (job->state == JOB_RUNNING && job->array_tasks > 1)
        return reader_fail_at(r, "array_tasks", "%u are pending tasks, but the job is RUNNING", job->array_tasks);
    return 0;
}

static int read_job(struct reader *r, json_t *value, uint32_t index)
{
    struct job_keys keys = {.job = {
                                .cpus = 1,
                                .nodes = 1,
                                .array_tasks = 1,
                                .slots_min = 1,
                                .slots_max = 1,
                                .project = NONE,
                                .qos = NONE,
                                .eligible_us = INT64_MIN,
                            }};
    if (read_object(r, value, job_keys, COUNT_OF(job_keys), &keys) != 0) return -1;
    finish_defaults(r, &keys);
    if (finish_tres(r, &keys) != 0 || check_job(r, &keys.job, index) != 0) return -1;
    if (member_of_user(r, keys.job.user, &keys.job.member) != 0) return -1;
    *array_add(&r->s->jobs) = keys.job;
    return 0;
}

int read_jobs(struct reader *r, json_t *value)
{
    return read_list(r, value, read_job);
}
