/* Acting: turns the decisions of a committed turn into calls of the executor (exec/executor.h), and builds the
 * environment of each task that starts. */
#include <string.h>

#include "base/ensure.h"
#include "base/quantity.h"
#include "base/text.h"
#include "daemon/daemon.h"
#include "daemon/enforcement.h"
#include "daemon/log.h"
#include "engine/output_path.h"
#include "exec/protocol.h"
#include "fields/job_id.h"

/* The environment of a task; entries "NAME=value" in memory of arena. */
struct environment {
    struct arena *arena;
    ARRAY(char *) entries;
};

static void add_entry(struct environment *env, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_entry(struct environment *env, const char *format, ...)
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
           str_equal(name, str("CUDA_DEVICE_ORDER")) || str_equal(name, str("SLURM_RESTART_COUNT"));
}

static void add_gpus(const struct daemon *d, const struct task *k, struct environment *env)
{
    if (d->state.hosts.items[LOCAL_HOST_INDEX].host.has.gpus == 0) return;
    struct buf list = {0};
    buf_add_text(&list, "");
    for (uint32_t id = idset_first(&k->placements[0].gpus); id != NONE; id = idset_next(&k->placements[0].gpus, id))
        buf_format(&list, "%s%u", list.length > 0 ? "," : "", id);
    add_entry(env, "CUDA_DEVICE_ORDER=PCI_BUS_ID");
    add_entry(env, "CUDA_VISIBLE_DEVICES=%s", list.text ? list.text : "");
    add_entry(env, "FAIRLEAD_GPU_IDS=%s", list.text ? list.text : "");
    buf_release(&list);
}

/* "localhost:4,n2:2": the slots on each host, the first process's first. */
static void add_places(const struct daemon *d, const struct job *j, const struct task *k, struct environment *env)
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

static void add_variables(const struct daemon *d, const struct job *j, const struct task *k, struct environment *env)
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
    add_entry(env, "FAIRLEAD_TIME_LIMIT_S=%lld", (long long)j->time_limit_s);
    add_entry(env, "FAIRLEAD_SUBMIT_DIR=%s", j->text->directory);
    add_entry(env, "FAIRLEAD_SOCKET=%s", d->state_dir.socket_path);
    add_places(d, j, k, env);
    add_gpus(d, k, env);
}

/* What the server admits can be launched, with what is added here. */
_Static_assert((int)SUBMIT_STRING_MAX == (int)LAUNCH_STRING_MAX, "strings");
_Static_assert((int)SUBMIT_STRINGS_MAX + 1000 <= (int)LAUNCH_STRINGS_MAX, "counts");
_Static_assert(SUBMIT_BYTES_MAX + 2 * 1024 * 1024 <= (int)PROTOCOL_FRAME_MAX, "the frame");

static char **copy_all(struct arena *arena, const struct str *list, uint32_t count)
{
    char **copies = arena_alloc(arena, (count + (size_t)1) * sizeof *copies);
    for (uint32_t i = 0; i < count; i++) copies[i] = arena_copy(arena, list[i]);
    return copies;
}

static char *expand(struct arena *arena, const struct job *j, const char *user, uint32_t task_id, const char *pattern)
{
    if (pattern == NULL) return NULL;
    struct buf path = {0};
    output_path_expand(j, user, task_id, pattern, &path);
    char *copy = arena_copy(arena, (struct str){path.text, path.length});
    buf_release(&path);
    return copy;
}

/* As if the launcher had said it: another launch of the task is tried later. */
static void report_unavailable(struct daemon *d, uint64_t launch_id, const struct err *cause)
{
    struct executor_report report = {.kind = EXECUTOR_RECORD};
    report.record = launch_record_never_ran(launch_id, LAUNCH_UNAVAILABLE, "");
    launch_record_set_detail(&report.record, ERR_SENTENCE(cause));
    launch_record_set_time(&report.record, d->machine.boot_id);
    *array_add(&d->reports.list) = report;
}

static void start(struct daemon *d, const struct decision *decision)
{
    uint32_t job_index = state_find_job(&d->state, decision->job_id);
    uint32_t task_index = state_find_task(&d->state, decision->job_id, decision->task_id);
    if (job_index == NONE || task_index == NONE) return; /* it ended in the same turn */
    const struct job *j = &d->state.jobs.items[job_index];
    const struct task *k = &d->state.tasks.items[task_index];
    if (d->pretend != NULL) {
        daemon_start_pretend(d, j, k);
        return;
    }
    const char *user = d->state.assocs.items[k->assoc].user;
    struct arena cycle = {0};
    struct job_script script = {0};
    struct err e;
    if (store_script(d->store, j->id, &cycle, &script, &e) != 0) {
        log_line(LOG_ERROR, "script-missing", " job=%u error=\"%s\"", j->id, ERR_SENTENCE(&e));
        if (e.code != ERR_NOT_FOUND) { /* else the launcher refuses it */
            report_unavailable(d, k->launch_id, &e);
            arena_release(&cycle);
            return;
        }
    }

    struct environment env = {.arena = &cycle};
    for (uint32_t i = 0; i < script.environment_count; i++) {
        if (!is_set_by_daemon(script.environment[i]))
            *array_add(&env.entries) = arena_copy(&cycle, script.environment[i]);
    }
    add_variables(d, j, k, &env);
    *array_add(&env.entries) = NULL;
    char name[JOB_ID_TEXT_SIZE];
    job_id_format(name, j->id, j->is_array ? k->task_id : NONE);
    struct launch launch = {.id = k->launch_id,
                            .uid = j->uid,
                            .gid = j->gid,
                            .name = name,
                            .directory = j->text->directory,
                            .out_path = expand(&cycle, j, user, k->task_id, j->text->out_pattern),
                            .err_path = expand(&cycle, j, user, k->task_id, j->text->err_pattern),
                            .script = script.script,
                            .arguments = copy_all(&cycle, script.arguments, script.argument_count),
                            .environment = env.entries.items,
                            .mem_mib = k->placements[0].mem_mib,
                            .time_limit_us = j->time_limit_s * US_PER_S,
                            .grace_us = setting_number(&d->state.settings, SET_GRACE_S) * US_PER_S};
    enforcement_set(d, k, &launch);
    executor_start(d->executor, &launch);
    log_line(LOG_INFO, "start", " job=%s launch=%llu", name, (unsigned long long)k->launch_id);
    idset_release(&launch.cpus);
    array_release(&env.entries);
    arena_release(&cycle);
}

void daemon_log_launch_failure(struct daemon *d)
{
    const struct launch_backoff *b = &d->state.launch_backoff;
    bool is_waiting = launch_backoff_is_waiting(b);
    if (is_waiting == (d->launch_failure[0] != '\0') && strcmp(b->detail, d->launch_failure) == 0) return;
    if (is_waiting)
        log_line(LOG_WARNING, "launches-stopped", " error=\"%s\" retry_s=%lld", b->detail,
                 (long long)(b->wait_us / US_PER_S));
    else
        log_line(LOG_INFO, "launches-resumed", " state=%s", d->state_dir.path);
    text_format(d->launch_failure, sizeof d->launch_failure, "%s", b->detail);
}

/* Without an executor no decision is lost: once one is connected, EVENT_SYNCED decides the same again from the rows. */
void daemon_act(struct daemon *d)
{
    int64_t grace_us = setting_number(&d->state.settings, SET_GRACE_S) * US_PER_S;
    for (uint32_t i = 0; i < d->outcome.decisions.count && d->executor != NULL; i++) {
        const struct decision *decision = &d->outcome.decisions.items[i];
        switch (decision->kind) {
        case DECIDE_START: start(d, decision); break;
        case DECIDE_END: executor_end(d->executor, decision->launch_id, grace_us); break;
        case DECIDE_ACKNOWLEDGE: executor_acknowledge(d->executor, decision->launch_id); break;
        case DECIDE_TIME_LIMIT:
            executor_set_time_limit(d->executor, decision->launch_id, decision->time_limit_s * US_PER_S);
            break;
        case DECIDE_WEIGHT: executor_set_cpu_weight(d->executor, decision->launch_id, decision->cpu_weight); break;
        }
    }
    if (d->executor != NULL) executor_flush(d->executor);
}
