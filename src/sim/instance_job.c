/* A document has numbers of CPUs, not which ones they are. So the tasks get one after another; if the document says how
 * many are free, those that are then missing are CPUs that the machine has no more. */
#include "sim/instance_job.h"

#include <math.h>
#include <stdlib.h>

#include "base/ensure.h"
#include "engine/placements.h"
#include "engine/ranking.h"
#include "policy/tres_text.h"

/* --- checks ------------------------------------------------------------------------------------------------------- */

static bool has_array(const struct job_keys *keys)
{
    return keys->tasks != NULL || keys->running != NULL || keys->array_tasks > 1 || keys->array_limit > 0;
}

static int check_state(struct wire_reader *r, const struct job_keys *keys)
{
    bool is_running = job_keys_are_running(keys), is_started = is_running && !has_array(keys);
    if (job_keys_have_state(keys, "SUSPENDED") && has_array(keys))
        return wire_fail_at(r, "state", "is SUSPENDED, but the job is an array: say it of its tasks in 'running'");
    if (is_running && has_array(keys) && keys->running_count == 0)
        return wire_fail_at(r, "state", "is RUNNING, but no task of the array is in 'running'");
    if (is_running && keys->tasks != NULL && keys->tasks[0] != '\0')
        return wire_fail_at(r, "tasks", "are pending, but the job is RUNNING");
    if (keys->array_tasks > 1 && (keys->tasks != NULL || is_running))
        return wire_fail_at(r, "array_tasks", "is only accepted for a pending array without 'tasks'");
    if (!is_started &&
        (keys->start_us != INT64_MIN || keys->places != NULL || keys->launch != 0 || keys->suspended_us != 0))
        return wire_fail(
            r, "'start', 'places', 'launch' and 'suspended_us' are those of a RUNNING or SUSPENDED job, or of the "
               "tasks in 'running'");
    if (keys->has_slots_range && keys->cpus >= 0 && keys->cpus != keys->slots_min)
        return wire_fail_at(r, "slots", "the minimum, %u, is not the number of CPUs, %lld", keys->slots_min,
                            (long long)keys->cpus);
    return 0;
}

/* In one partition, on one host or several. */
static int check_places(struct wire_reader *r, const struct task_keys *task)
{
    const struct state *s = document_of(r)->state;
    for (uint32_t i = 0; i < task->place_count; i++) {
        const struct job_place *place = &task->places[i];
        const char *name = s->objects[OBJECT_HOST].items[place->host].object.name;
        if (!s->hosts.items[place->host].is_attached)
            return wire_fail_at(r, "places", "no job can run on '%s', which is not 'attached'", name);
        if (place->partition != task->places[0].partition || place->slots > CPUS_MAX)
            return wire_fail_at(r, "places",
                                "a task of an instance is in one partition, with at most %d CPUs on a host", CPUS_MAX);
    }
    return 0;
}

static int check_task(struct wire_reader *r, const struct task_keys *task)
{
    struct tres_list list = {0};
    struct err below;
    if (task->start_us < 0 || task->start_us > document_of(r)->scenario->now_us)
        return wire_fail_at(r, "start", "is not from 1970 to 'now'");
    if (check_places(r, task) != 0) return -1;
    if (task->allocated_tres == NULL) return 0;
    const struct tres_table *table = &document_of(r)->state->policy.tres;
    if (tres_text_parse_list(table, str(task->allocated_tres), &list, &below) != 0) return wire_fail_below(r, &below);
    mem_free(list.items);
    return 0;
}

/* --- tasks -------------------------------------------------------------------------------------------------------- */

static struct job_place *default_place(struct wire_reader *r, const struct job *job)
{
    struct job_place *place = arena_alloc(r->arena, sizeof *place);
    *place = (struct job_place){.partition = job->partitions[0], .host = LOCAL_HOST_INDEX, .slots = job->request.cpus};
    return place;
}

/* Numbers of CPUs and GPUs have to be below the maxima, also those that a host has no more. */
static int count_taken(struct wire_reader *r, struct instance_jobs *jobs, const struct job *job,
                       const struct task_keys *task)
{
    const struct document *d = document_of(r);
    while (jobs->taken.count < d->state->hosts.count) *array_add(&jobs->taken) = (struct capacity){0};
    for (uint32_t i = 0; i < task->place_count; i++) {
        uint32_t host = task->places[i].host;
        uint32_t has = d->free_cpus.items[host] != NONE ? d->state->hosts.items[host].detected.cpus : 0;
        struct capacity *taken = &jobs->taken.items[host];
        taken->cpus += task->places[i].slots;
        taken->gpus += state_host_capacity(job, i, task->places[i].slots).gpus;
        if (taken->cpus > CPUS_MAX - has || taken->gpus > GPUS_MAX)
            return wire_fail(r, "the running jobs have more than %d CPUs or %d GPUs of a host", CPUS_MAX, GPUS_MAX);
    }
    return 0;
}

static int add_task(struct wire_reader *r, struct instance_jobs *jobs, struct job *job, const struct task_keys *keys)
{
    struct task_keys task = *keys;
    if (task.start_us == INT64_MIN) task.start_us = document_of(r)->scenario->now_us;
    if (task.places == NULL) {
        task.places = default_place(r, job);
        task.place_count = 1;
    }
    if (check_task(r, &task) != 0) return -1;
    if (task.launch == 0) task.launch = jobs->last_launch + 1;
    if (map_get_u64(&jobs->launches, task.launch) != NONE) return wire_fail_at(r, "launch", "occurs twice");
    map_set_u64(&jobs->launches, task.launch, 1);
    if (task.launch > jobs->last_launch) jobs->last_launch = task.launch;
    if (count_taken(r, jobs, job, &task) != 0) return -1;
    if (idset_has(&job->array, task.task)) return wire_fail_at(r, "task", "%u occurs twice, or is pending", task.task);
    idset_add(&job->array, task.task);
    *array_add(&jobs->tasks) = (struct instance_task){.job_id = job->id, .keys = task};
    return 0;
}

/* Finds the association that the task names, of its job's user and account. */
static int find_association(struct wire_reader *r, const struct job_keys *keys, struct task_keys *task)
{
    struct document *d = document_of(r);
    const char *partition = task->association_partition;
    if (partition == NULL) return 0;
    task->assoc_id = partition[0] == '\0' ? document_association(d, keys->account, keys->user)
                                          : document_association_of_partition(d, keys->account, keys->user, partition);
    if (task->assoc_id != 0) return 0;
    return wire_fail_at(r, "association_partition", "user '%s' has no association for partition '%s' in account '%s'",
                        keys->user, partition, keys->account);
}

static int add_running(struct wire_reader *r, const struct job_keys *keys, struct instance_jobs *jobs, struct job *job)
{
    struct task_keys only = {.launch = keys->launch,
                             .start_us = keys->start_us,
                             .places = keys->places,
                             .place_count = keys->place_count,
                             .is_suspended = job_keys_have_state(keys, "SUSPENDED"),
                             .suspended_us = keys->suspended_us,
                             .billing = keys->billing,
                             .allocated_tres = keys->allocated_tres,
                             .granted_time_s = keys->granted_time_s,
                             .association_partition = keys->association_partition};
    if (!job->is_array && !job_keys_are_running(keys)) return 0;
    if (!job->is_array) return find_association(r, keys, &only) == 0 ? add_task(r, jobs, job, &only) : -1;
    size_t length = wire_enter(r, "running");
    for (uint32_t i = 0; i < keys->running_count; i++) {
        size_t before = wire_enter_index(r, i);
        if (find_association(r, keys, &keys->running[i]) != 0 || add_task(r, jobs, job, &keys->running[i]) != 0)
            return -1;
        wire_leave(r, before);
    }
    wire_leave(r, length);
    return 0;
}

/* --- the row ------------------------------------------------------------------------------------------------------ */

static int set_pending(struct wire_reader *r, const struct job_keys *keys, struct job *job)
{
    struct err below;
    bool is_given = keys->tasks != NULL, is_running = job_keys_are_running(keys);
    if (is_given && idset_parse(str(keys->tasks), ARRAY_TASK_MAX, "tasks", &job->pending, &below) != 0)
        return wire_fail_below(r, &below);
    if (!is_given && !is_running && keys->running == NULL)
        *array_add(&job->pending.ranges) = (struct idset_range){job->is_array, job->is_array + keys->array_tasks - 1};
    idset_copy(&job->array, &job->pending);
    return 0;
}

/* In an instance a job names one environment; a pattern is another name. */
static int find_environment(struct wire_reader *r, const struct job_keys *keys, uint32_t *out_index)
{
    const char *name = keys->environment;
    *out_index = NONE;
    if (name == NULL) return 0;
    *out_index = state_find_object(document_of(r)->state, OBJECT_ENVIRONMENT, name);
    return *out_index != NONE ? 0 : wire_fail_at(r, "pe", "'%s' is not a parallel environment of this document", name);
}

/* As the engine sets it when a job is submitted: the time from which its age grows, 0 while it is held. */
static int64_t accrual_start(const struct job_keys *keys, const struct job *job)
{
    if (keys->accrue_us == JOB_KEY_NEVER_US) return 0;
    if (keys->accrue_us != INT64_MIN) return keys->accrue_us;
    if (job->is_held) return 0;
    return job->begin_us > job->submit_us ? job->begin_us : job->submit_us;
}

/* In an instance GPUs have no types. */
static uint32_t gpus_of(const struct job_keys *keys)
{
    return keys->gpu_count > 0 ? keys->gpus[0].count : 0;
}

static int check_request(struct wire_reader *r, const struct job_keys *keys, const struct job *job)
{
    if (gpus_of(keys) > GPUS_MAX || job->request.gpus > GPUS_MAX)
        return wire_fail_at(r, keys->has_gpus_per_slot ? "gpus_per_slot" : "gpus",
                            "a task of an instance has at most %d GPUs", GPUS_MAX);
    if ((double)job->request.mem_mib > MEM_MIB_MAX)
        return wire_fail_at(r, "mem_per_cpu", "a task of an instance has at most %.0f MiB", MEM_MIB_MAX);
    return 0;
}

/* As a submission sets it: without a number of CPUs at least those of the nodes. */
static int set_request(struct wire_reader *r, const struct job_keys *keys, struct job *job)
{
    const struct state *s = document_of(r)->state;
    int64_t cpus = keys->cpus, node_slots = (int64_t)job_keys_node_slots(keys);
    if (cpus < 0) cpus = setting_number(&s->settings, SET_DEFAULT_CPUS);
    if (keys->cpus < 0 && cpus < node_slots) cpus = node_slots;
    job->placing->gpus_per_slot = keys->has_gpus_per_slot ? gpus_of(keys) : 0;
    job->request = (struct capacity){.cpus = (uint32_t)(cpus > CPUS_MAX ? CPUS_MAX : cpus),
                                     .gpus = gpus_of(keys),
                                     .mem_mib = keys->mem_mib != UINT64_MAX
                                                    ? keys->mem_mib
                                                    : (uint64_t)setting_number(&s->settings, SET_DEFAULT_MEM_MIB)};
    job->request = state_job_capacity(job, job->request.cpus);
    job->slots_max = keys->has_slots_range ? keys->slots_max : 0;
    job->time_limit_s = setting_number(&s->settings, SET_DEFAULT_TIME_S);
    return check_request(r, keys, job);
}

static void set_partitions(struct document *d, const struct job_keys *keys, struct job *job)
{
    job->partitions = keys->partitions;
    job->partition_count = keys->partition_count;
    if (keys->partitions != NULL) return;
    job->partitions = arena_alloc(&d->arena, sizeof *job->partitions); /* the first one */
    job->partition_count = 1;
}

int instance_job_make(struct wire_reader *r, const struct job_keys *keys, struct instance_jobs *jobs,
                      struct job *out_row)
{
    struct document *d = document_of(r);
    *out_row = (struct job){.id = keys->id,
                            .is_held = job_keys_have_state(keys, "HELD"),
                            .is_array = has_array(keys),
                            .array_limit = keys->array_limit,
                            .list_position = keys->sequence != UINT64_MAX ? keys->sequence : keys->id,
                            .begin_us = keys->eligible_us != INT64_MIN ? keys->eligible_us : 0,
                            .qos = keys->qos,
                            .project = keys->project,
                            .set_priority = NONE,
                            .requests = keys->requests,
                            .request_count = keys->request_count,
                            .submit_us = keys->submit_us,
                            .deadline_us = keys->deadline_us,
                            .text = arena_alloc(&d->arena, sizeof *out_row->text),
                            .placing = arena_alloc(&d->arena, sizeof *out_row->placing)};
    *out_row->placing = keys->placing;
    if (check_state(r, keys) != 0 || find_environment(r, keys, &out_row->environment) != 0) return -1;
    if (set_request(r, keys, out_row) != 0) return -1;
    set_partitions(d, keys, out_row);
    out_row->accrue_us = accrual_start(keys, out_row);
    if (set_pending(r, keys, out_row) != 0 || add_running(r, keys, jobs, out_row) != 0) return -1;
    if (idset_first(&out_row->array) == NONE) return wire_fail(r, "no task of the array is pending or running");
    for (uint32_t i = 0; i < keys->min_priority_count; i++)
        *array_add(&jobs->min_priorities) = (struct instance_min_priority){keys->id, keys->min_priorities[i]};
    return 0;
}

/* --- restoring ---------------------------------------------------------------------------------------------------- */

static int compare_launches(const void *a, const void *b)
{
    uint64_t launch_a = ((const struct instance_task *)a)->keys.launch;
    uint64_t launch_b = ((const struct instance_task *)b)->keys.launch;
    return (launch_a > launch_b) - (launch_a < launch_b);
}

/* The next numbers: from below `end`, then from `gone` on. */
struct numbers {
    uint32_t next, end, gone;
};

static struct idset take_numbers(struct numbers *n, uint32_t count)
{
    struct idset set = {0};
    uint32_t first = n->next < n->end && count > n->end - n->next ? n->end - n->next : count;
    if (n->next == n->end) n->next = n->gone;
    if (first > 0) *array_add(&set.ranges) = (struct idset_range){n->next, n->next + first - 1};
    n->next += first;
    if (count > first) {
        *array_add(&set.ranges) = (struct idset_range){n->gone, n->gone + count - first - 1};
        n->next = n->gone + count - first;
    }
    return set;
}

/* The next numbers of a host. */
struct host_numbers {
    struct numbers cpus, gpus;
};

static void place_task(const struct job *job, const struct task_keys *keys, struct host_numbers *hosts,
                       struct task *out_row)
{
    out_row->placement_count = keys->place_count;
    out_row->placements = mem_resize(NULL, 0, keys->place_count * sizeof *out_row->placements);
    for (uint32_t i = 0; i < keys->place_count; i++) {
        uint32_t host = keys->places[i].host;
        const struct capacity granted = state_host_capacity(job, i, keys->places[i].slots);
        out_row->placements[i] = (struct placement){.host = host,
                                                    .cpus = take_numbers(&hosts[host].cpus, granted.cpus),
                                                    .gpus = take_numbers(&hosts[host].gpus, granted.gpus),
                                                    .mem_mib = granted.mem_mib};
    }
}

static void restore_task(struct document *d, const struct instance_task *task, struct host_numbers *hosts)
{
    struct state *s = d->state;
    const struct task_keys *keys = &task->keys;
    struct task row = {.job_id = task->job_id,
                       .task_id = keys->task,
                       .assoc = keys->assoc_id,
                       .state = keys->is_suspended ? JOB_SUSPENDED : JOB_RUNNING,
                       .suspended_from_us = keys->is_suspended ? d->scenario->now_us : 0,
                       .suspended_us = (int64_t)keys->suspended_us,
                       .launch_id = keys->launch,
                       .granted_time_s = keys->granted_time_s,
                       .launch_us = keys->start_us,
                       .partition = keys->places[0].partition,
                       .billing = keys->billing,
                       .usage_factor = 1.0};
    const struct job *j = &s->jobs.items[state_find_job(s, task->job_id)];
    row.partition_qos = state_partition_qos(s, row.partition);
    if (row.partition_qos == j->qos) row.partition_qos = NONE;
    place_task(j, keys, hosts, &row);
    if (keys->allocated_tres != NULL)
        ensure(tres_text_parse_list(&s->policy.tres, str(keys->allocated_tres), &row.tres, NULL) == 0);
    state_restore_task(s, &row);
}

static struct host_numbers *begin_numbers(struct document *d)
{
    uint32_t count = d->state->hosts.count;
    struct host_numbers *hosts = arena_alloc(&d->arena, (count + (size_t)1) * sizeof *hosts);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t has = d->state->hosts.items[i].detected.cpus, free_cpus = d->free_cpus.items[i];
        hosts[i] = (struct host_numbers){{0, NONE, NONE}, {0, NONE, NONE}};
        if (free_cpus != NONE) hosts[i].cpus = (struct numbers){0, has - free_cpus, has};
    }
    return hosts;
}

void instance_job_restore_tasks(struct document *d, struct instance_jobs *jobs)
{
    struct state *s = d->state;
    struct host_numbers *hosts = begin_numbers(d);
    for (uint32_t i = 0; i < jobs->min_priorities.count; i++) {
        const struct instance_min_priority *min = &jobs->min_priorities.items[i];
        (void)state_restore_min_priority(s, min->job_id, min->key.partition, min->key.priority);
    }
    if (jobs->tasks.count == 0) return;
    qsort(jobs->tasks.items, jobs->tasks.count, sizeof *jobs->tasks.items, compare_launches);
    for (uint32_t i = 0; i < jobs->tasks.count; i++) restore_task(d, &jobs->tasks.items[i], hosts);
}

void instance_job_release(struct instance_jobs *jobs)
{
    array_release(&jobs->tasks);
    array_release(&jobs->min_priorities);
    array_release(&jobs->taken);
    map_release(&jobs->launches);
}

void instance_job_finish_all(struct state *s)
{
    struct tres_indices indices;
    tres_indices_find(s, &s->cycle, &indices);
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        struct task *k = &s->tasks.items[i];
        const struct job *job = &s->jobs.items[state_find_job(s, k->job_id)];
        if (k->tres.items == NULL) {
            k->tres.items = mem_resize(NULL, 0, TRES_MAX * sizeof *k->tres.items);
            job_task_tres(s, &indices, job, task_cpu_count(k), placements_list_hosts(k, NULL), &k->tres);
        }
        if (isnan(k->billing)) k->billing = job_billing_in(s, k->partition, &k->tres);
    }
}
