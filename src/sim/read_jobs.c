/* `jobs`: the jobs of a document. Their keys (read_job_keys.h) become rows of jobs, and those that run rows of
 * tasks. */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "engine/priorities.h"
#include "sim/instance_job.h"

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
    struct instance_jobs of_instance;
};

/* --- one job ------------------------------------------------------------------------------------------------------ */

/* With `tres` a requested licence counts only if the list has it. */
static int check_licenses(struct wire_reader *r, const struct job_keys *keys, const struct tres_list *list)
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

/* `tres` is for the TRES terms and billing, in place of CPUs, nodes, memory and licences. `cpus` and `nodes` beside it
 * are for the size, because TotalCPUs of a waiting job can differ from its request. */
static int read_tres(struct wire_reader *r, struct job_keys *keys, struct tres_list *out_list)
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
    if (has_other_mem) return wire_fail_at(r, "mem", "differs from the memory in 'tres'; give it only there");
    if (cpus > UINT32_MAX || nodes > UINT32_MAX) return wire_fail_at(r, "tres", "more than 4294967295 CPUs or nodes");
    if (keys->cpus < 0 && cpus > 0.0) keys->cpus = (int64_t)cpus;
    if (keys->placing.node_min == 0 && nodes >= 1.0) keys->placing.node_min = keys->placing.node_max = (uint32_t)nodes;
    return check_licenses(r, keys, out_list);
}

static uint32_t gpus_of(const struct job_keys *keys)
{
    uint64_t count = 0, nodes = keys->placing.node_min > 0 ? keys->placing.node_min : 1;
    for (uint32_t i = 0; i < keys->gpu_count; i++) count += keys->gpus[i].count;
    count *= keys->has_gpus_per_slot ? (uint64_t)keys->cpus : nodes;
    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

static void set_defaults(struct document *d, struct job_keys *keys)
{
    if (keys->partitions == NULL) {
        keys->partitions = arena_alloc(&d->arena, sizeof *keys->partitions); /* the first one */
        keys->partition_count = 1;
    }
    if (keys->eligible_us == INT64_MIN) /* at most now: a job of the document has been submitted */
        keys->eligible_us = keys->submit_us < d->scenario->now_us ? keys->submit_us : d->scenario->now_us;
    uint64_t slots = keys->environment == NULL ? job_keys_node_slots(keys) : 1;
    uint32_t slots_min = slots < UINT32_MAX ? (uint32_t)slots : UINT32_MAX;
    if (keys->cpus < 0) keys->cpus = slots_min;
    if (keys->slots_max == 1) keys->slots_min = keys->slots_max = slots_min;
    if (keys->mem_mib == UINT64_MAX) keys->mem_mib = 0;
}

/* The time from which the age grows; 0: there is none. Unless `accrue` says it, that is the time when the job became
 * eligible, like AccrueTime of scontrol, whatever the flags are: Slurm 22.05.8 keeps an AccrueTime from before
 * ACCRUE_ALWAYS was set (case prio-classic, jobs 10 and 13). A job that is not eligible yet has none; with the flag its
 * age grows from its submission. */
static int64_t accrual_start(const struct document *d, const struct job_keys *keys)
{
    bool is_always = (d->state->policy.multifactor.flags & FLAG_ACCRUE_ALWAYS) != 0;
    bool is_eligible = keys->eligible_us <= d->scenario->now_us;
    int64_t begin_us = keys->accrue_us != INT64_MIN ? keys->accrue_us
                       : is_eligible                ? keys->eligible_us
                       : is_always                  ? keys->submit_us
                                                    : JOB_KEY_NEVER_US;
    if (begin_us == JOB_KEY_NEVER_US) return 0;
    return begin_us != 0 ? begin_us : 1;
}

static enum job_suspension suspension_of(const struct job_keys *keys)
{
    if (!job_keys_have_state(keys, "SUSPENDED")) return SUSPENSION_NONE;
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

static int make_job(struct wire_reader *r, struct job_keys *keys, struct read_job *out)
{
    struct document *d = document_of(r);
    struct job_document *document = arena_alloc(&d->arena, sizeof *document);
    struct job_placing *placing = arena_alloc(&d->arena, sizeof *placing);
    if (read_tres(r, keys, &document->tres) != 0) return -1;
    set_defaults(d, keys);
    document->nodes = keys->placing.node_min > 0 ? keys->placing.node_min : 1;
    document->slots = keys->slots_min;
    document->has_slots_rule = keys->has_slots_rule;
    document->slots_rule = keys->slots_rule;
    document->slots_number = keys->slots_number;
    document->running_tasks = keys->running_tasks;
    document->gpus = keys->gpus;
    document->gpu_count = keys->gpu_count;
    document->has_gpus_per_slot = keys->has_gpus_per_slot;
    document->suspension = suspension_of(keys);
    document->environment = keys->environment;
    document->has_partition = keys->has_partition;
    document->places = keys->places;
    document->place_count = keys->place_count;
    document->start_us = keys->start_us != INT64_MIN ? keys->start_us : 0;
    if (keys->more.is_given[JOB_FIELD_TIME_LIMIT])
        document->time_limit_s = keys->more.value[JOB_FIELD_TIME_LIMIT].number;
    *placing = keys->placing;
    out->is_running = job_keys_are_running(keys);
    out->sequence = keys->sequence != UINT64_MAX ? keys->sequence : keys->id;
    out->job = (struct job){
        .id = keys->id,
        .is_held = job_keys_have_state(keys, "HELD"),
        .is_array = keys->array_tasks > 1 || keys->array_limit > 0,
        .array_limit = keys->array_limit,
        .list_position = out->sequence,
        .begin_us = keys->eligible_us,
        .request = {.cpus = (uint32_t)keys->cpus, .gpus = gpus_of(keys), .mem_mib = keys->mem_mib},
        .partitions = keys->partitions,
        .partition_count = keys->partition_count,
        .qos = keys->qos,
        .project = keys->project,
        .environment = NONE,
        .accrue_us = accrual_start(d, keys),
        .set_priority = NONE,
        .slots_max = keys->slots_max,
        .requests = keys->requests,
        .request_count = keys->request_count,
        .submit_us = keys->submit_us,
        .deadline_us = keys->deadline_us,
        .text = arena_alloc(&d->arena, sizeof *out->job.text),
        .placing = placing,
        .document = document,
    };
    return set_fields(r, &keys->more, &out->job);
}

/* An array of a document is a number of pending tasks. */
static void set_array(struct read_job *job, uint32_t tasks)
{
    job->job.array = set_of(job->job.is_array, job->job.is_array + tasks - 1);
    if (!job->is_running) idset_copy(&job->job.pending, &job->job.array);
}

static int make_row(struct wire_reader *r, struct job_keys *keys, struct jobs_document *jobs, struct read_job *job)
{
    struct document *d = document_of(r);
    if (keys->account == NULL) {
        uint32_t row = map_get(&d->first_rows, str(keys->user));
        keys->account = row != NONE ? d->associations.items[row].account : "";
    }
    if (document_is_instance(d)) {
        if (instance_job_make(r, keys, &jobs->of_instance, &job->job) != 0) return -1;
        return set_fields(r, &keys->more, &job->job);
    }
    if (make_job(r, keys, job) != 0) return -1;
    set_array(job, keys->array_tasks);
    return 0;
}

/* The id of the job's association: in an instance that of its first partition (state.h, invariant 9). */
static uint32_t association_of(struct document *d, const struct job_keys *keys, const struct job *j)
{
    const char *partition = d->state->objects[OBJECT_PARTITION].items[j->partitions[0]].object.name;
    uint32_t own =
        document_is_instance(d) ? document_association_of_partition(d, keys->account, keys->user, partition) : 0;
    return own != 0 ? own : document_association(d, keys->account, keys->user);
}

static int read_job(struct wire_reader *r, json_t *value, struct jobs_document *jobs)
{
    struct document *d = document_of(r);
    struct job_keys keys;
    struct read_job job = {.position = jobs->jobs.count};
    if (job_keys_read(r, value, &keys) != 0) return -1;
    if (map_get_u64(&jobs->ids, keys.id) != NONE) return wire_fail_at(r, "id", "%u occurs twice", keys.id);
    map_set_u64(&jobs->ids, keys.id, 1);
    if (document_ensure_user(r, keys.user) != 0) return -1;
    int status = make_row(r, &keys, jobs, &job);
    if (status == 0) job.assoc_id = association_of(d, &keys, &job.job);
    *array_add(&jobs->jobs) = job; /* also after an error: it has sets to be released */
    return status;
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
                       .state = j->document->suspension == SUSPENSION_NONE ? JOB_RUNNING : JOB_SUSPENDED,
                       .launch_id = j->document->rank + UINT64_C(1),
                       .partition = j->partitions[0],
                       .partition_qos = state_partition_qos(s, j->partitions[0]),
                       .usage_factor = 1.0};
    if (row.partition_qos == j->qos) row.partition_qos = NONE;
    row.placements = mem_resize(NULL, 0, sizeof *row.placements);
    row.placement_count = 1;
    *row.placements = (struct placement){.mem_mib = j->request.mem_mib};
    if (j->request.cpus > 0) row.placements->cpus = set_of(0, j->request.cpus - 1);
    state_restore_task(s, &row);
}

static void restore_jobs(struct document *d, struct jobs_document *jobs)
{
    struct scenario *scenario = d->scenario;
    uint32_t count = jobs->jobs.count;
    scenario->job_count = count;
    scenario->jobs = arena_alloc(&scenario->arena, (count + (size_t)1) * sizeof *scenario->jobs);
    if (count > 0) qsort(jobs->jobs.items, count, sizeof *jobs->jobs.items, compare_ids);
    for (uint32_t i = 0; i < count; i++) {
        struct read_job *job = &jobs->jobs.items[i];
        scenario->jobs[job->position] = i;
        state_restore_job(d->state, &job->job, job->assoc_id);
        job->job.array = job->job.pending = (struct idset){0}; /* the state owns them */
    }
}

/* In the order of the list. */
static void restore_tasks(struct document *d, const struct jobs_document *jobs)
{
    uint32_t count = jobs->jobs.count;
    struct sort_record *tasks = arena_alloc(&d->arena, (count + (size_t)1) * sizeof *tasks);
    for (uint32_t i = 0; i < count; i++) {
        const struct read_job *job = &jobs->jobs.items[i];
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
    instance_job_release(&jobs->of_instance);
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
    if (status == 0 && document_is_instance(d)) {
        restore_jobs(d, &jobs);
        instance_job_restore_tasks(d, &jobs.of_instance);
    } else if (status == 0) {
        set_ranks(&jobs, &d->state->policy, &d->arena);
        restore_jobs(d, &jobs);
        restore_tasks(d, &jobs);
        status = check_task_count(r);
    }
    release_jobs(&jobs);
    return status;
}
