#include "daemon/task_environment.h"

#include "base/text.h"
#include "daemon/gpus.h"

static void add_entry(struct task_environment *env, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_entry(struct task_environment *env, const char *format, ...)
{
    va_list arguments, copy;
    va_start(arguments, format);
    va_copy(copy, arguments);
    size_t size = text_vformat(NULL, 0, format, arguments) + 1;
    char *entry = arena_alloc(env->arena, size);
    text_vformat(entry, size, format, copy);
    va_end(copy);
    va_end(arguments);
    *array_add(&env->entries) = entry;
}

/* Whether the daemon sets this variable itself; the submitter's value is then left out. */
static bool is_set_by_daemon(struct str entry)
{
    struct str value, name = str_cut(entry, '=', &value);
    return str_starts(name, str("FAIRLEAD_")) || str_equal(name, str("CUDA_VISIBLE_DEVICES")) ||
           str_equal(name, str("CUDA_DEVICE_ORDER")) || str_equal(name, str("ROCR_VISIBLE_DEVICES")) ||
           str_equal(name, str("SLURM_RESTART_COUNT"));
}

static void add_variable(void *context, const char *name, const char *value)
{
    add_entry(context, "%s=%s", name, value);
}

static void add_gpus(const struct daemon *d, const struct task *k, struct task_environment *env)
{
    const struct idset *gpus = &k->placements[0].gpus;
    if (d->state.hosts.items[LOCAL_HOST_INDEX].host.gpu_count == 0) return;
    struct buf list = {0};
    for (uint32_t id = idset_first(gpus); id != NONE; id = idset_next(gpus, id))
        buf_format(&list, "%s%u", list.length > 0 ? "," : "", id);
    add_entry(env, "CUDA_DEVICE_ORDER=PCI_BUS_ID");
    gpus_add_environment(d, gpus, add_variable, env);
    add_entry(env, "FAIRLEAD_GPU_IDS=%s", list.text ? list.text : "");
    buf_release(&list);
}

/* "localhost:4,n2:2": the slots on each host, the first process's first. */
static void add_places(const struct daemon *d, const struct job *j, const struct task *k, struct task_environment *env)
{
    const struct state *s = &d->state;
    const char *partition = s->objects[OBJECT_PARTITION].items[k->partition].object.name;
    struct buf hosts = {0};
    for (uint32_t i = 0; i < k->placement_count; i++)
        buf_format(&hosts, "%s%s:%u", i > 0 ? "," : "",
                   s->objects[OBJECT_HOST].items[k->placements[i].host].object.name,
                   idset_count(&k->placements[i].cpus));
    add_entry(env, "FAIRLEAD_PARTITION=%s", partition);
    add_entry(env, "FAIRLEAD_QUEUE=%s@%s", partition, s->objects[OBJECT_HOST].items[k->placements[0].host].object.name);
    add_entry(env, "FAIRLEAD_HOSTS=%s", hosts.text);
    add_entry(env, "FAIRLEAD_SLOTS=%u", task_cpu_count(k));
    if (j->environment != NONE)
        add_entry(env, "FAIRLEAD_PE=%s", s->objects[OBJECT_ENVIRONMENT].items[j->environment].object.name);
    buf_release(&hosts);
}

void task_environment_add_own(const struct daemon *d, const struct job *j, const struct task *k,
                              struct task_environment *env)
{
    const struct assoc *a = &d->state.assocs.items[k->assoc];
    add_entry(env, "FAIRLEAD_JOB_ID=%u", j->id);
    if (j->is_array) add_entry(env, "FAIRLEAD_ARRAY_JOB_ID=%u", j->id);
    if (j->is_array) add_entry(env, "FAIRLEAD_ARRAY_TASK_ID=%u", k->task_id);
    add_entry(env, "FAIRLEAD_RESTART_COUNT=%u", k->restarts);
    if (k->restarts > 0) add_entry(env, "SLURM_RESTART_COUNT=%u", k->restarts); /* like Slurm, not before */
    add_entry(env, "FAIRLEAD_JOB_NAME=%s", j->text->name);
    add_entry(env, "FAIRLEAD_ACCOUNT=%s", a->account);
    add_entry(env, "FAIRLEAD_USER=%s", a->user);
    add_entry(env, "FAIRLEAD_CPUS=%u", task_cpu_count(k));
    add_entry(env, "FAIRLEAD_MEM_MIB=%llu", (unsigned long long)task_mem_mib(k));
    add_entry(env, "FAIRLEAD_GPUS=%u", idset_count(&k->placements[0].gpus));
    add_entry(env, "FAIRLEAD_TIME_LIMIT_S=%lld", (long long)task_time_limit_s(j, k));
    add_entry(env, "FAIRLEAD_SUBMIT_DIR=%s", j->text->directory);
    add_entry(env, "FAIRLEAD_SOCKET=%s", d->state_dir.socket_path);
    add_places(d, j, k, env);
    add_gpus(d, k, env);
}

void task_environment_add_submitted(const struct job_script *script, struct task_environment *env)
{
    for (uint32_t i = 0; i < script->environment_count; i++) {
        if (!is_set_by_daemon(script->environment[i]))
            *array_add(&env->entries) = arena_copy(env->arena, script->environment[i]);
    }
}
