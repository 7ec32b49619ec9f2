/* What people do with jobs: submit, cancel, hold, release, update. */
#include <string.h>

#include "base/ensure.h"
#include "base/number.h"
#include "engine/min_priority.h"

static const uint32_t plain_task = 0;

/* --- submit ------------------------------------------------------------------------------------------------------- */

static int check_path(struct apply_context *t, const char *what, const char *path, bool absolute)
{
    size_t length = strlen(path);
    if (length == 0 || length >= PATH_BYTES_MAX)
        return err_set(t->e, ERR_INPUT, "%s: a path has 1 to %d bytes; this one has %zu", what, PATH_BYTES_MAX - 1,
                       length);
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)path[i] < 0x20 || path[i] == 0x7f)
            return err_set(t->e, ERR_INPUT, "%s: the path has a control character at byte %zu", what, i + 1);
    }
    if (absolute && path[0] != '/') return err_set(t->e, ERR_INPUT, "%s: '%s' is not an absolute path", what, path);
    return 0;
}

static int check_job_name(struct apply_context *t, const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length > JOB_NAME_BYTES_MAX)
        return err_set(t->e, ERR_INPUT, "job name: 1 to %d bytes are accepted; this one has %zu", JOB_NAME_BYTES_MAX,
                       length);
    if (!str_is_printable(str(name)))
        return err_set(t->e, ERR_INPUT,
                       "job name: it has a control character or is not UTF-8; printable UTF-8 is accepted");
    return 0;
}

static int check_request(struct apply_context *t, const struct capacity *r)
{
    const struct capacity *has = &t->s->host.has;
    if (r->cpus > has->cpus)
        return err_set(t->e, ERR_TOO_LARGE, "%u %s more than the host has: %u", r->cpus,
                       r->cpus == 1 ? "CPU is" : "CPUs are", has->cpus);
    if (r->mem_mib > has->mem_mib)
        return err_set(t->e, ERR_TOO_LARGE, "%llu MiB of memory are more than the host has: %llu MiB",
                       (unsigned long long)r->mem_mib, (unsigned long long)has->mem_mib);
    if (r->gpus > has->gpus)
        return err_set(t->e, ERR_TOO_LARGE, "%u %s more than the host has: %u", r->gpus,
                       r->gpus == 1 ? "GPU is" : "GPUs are", has->gpus);
    return 0;
}

static int check_time_limit(struct apply_context *t, int64_t time_limit_s)
{
    int64_t max = (int64_t)settings_table[SET_DEFAULT_TIME_S].max;
    if (time_limit_s >= 1 && time_limit_s <= max) return 0;
    return err_set(t->e, ERR_INPUT, "time limit: %lld s is not from 1 to %lld s", (long long)time_limit_s,
                   (long long)max);
}

/* "0-999%50" into the task numbers and the limit. */
static int parse_array(struct apply_context *t, const char *spec, struct idset *out_tasks, uint32_t *out_limit)
{
    struct str limit_text, tasks_text = str_cut(str(spec), '%', &limit_text);
    uint64_t limit = 0;
    struct idset tasks = {0};
    if (limit_text.text != NULL && (!number_parse_u64(limit_text, &limit) || limit == 0 || limit > ARRAY_TASK_MAX))
        return err_set(t->e, ERR_INPUT, "array: '%.40s' has no whole number from 1 to %d behind '%%'", spec,
                       ARRAY_TASK_MAX);
    if (idset_parse(tasks_text, ARRAY_TASK_MAX, "array", &tasks, t->e) != 0) return -1;
    uint32_t count = idset_count(&tasks);
    int64_t max = setting_number(&t->s->settings, SET_MAX_ARRAY_TASKS);
    if (count == 0 || count > max) {
        idset_release(&tasks);
        return err_set(t->e, count == 0 ? ERR_INPUT : ERR_TOO_LARGE,
                       "array: '%.40s' has %u tasks; 1 to %lld are accepted (max_array_tasks)", spec, count,
                       (long long)max);
    }
    *out_tasks = tasks;
    *out_limit = (uint32_t)limit;
    return 0;
}

static int64_t setting_or(struct apply_context *t, int64_t value, enum setting default_value)
{
    return value != 0 ? value : setting_number(&t->s->settings, default_value);
}

/* The row of a submission, checked; text borrowed. */
static int make_row(struct apply_context *t, const struct event_submit *wanted, struct job *row)
{
    row->name = (char *)wanted->name;
    row->directory = (char *)wanted->directory;
    row->command = (char *)wanted->command;
    row->out_pattern = (char *)(wanted->out_pattern ? wanted->out_pattern
                                : wanted->array     ? "fairlead-%A_%a.out"
                                                    : "fairlead-%j.out");
    row->err_pattern = (char *)wanted->err_pattern;
    row->request = wanted->request;
    row->request.cpus = (uint32_t)setting_or(t, wanted->request.cpus, SET_DEFAULT_CPUS);
    row->request.mem_mib = (uint64_t)setting_or(t, (int64_t)wanted->request.mem_mib, SET_DEFAULT_MEM_MIB);
    row->submit_us = t->now_us;
    row->held = wanted->held;
    row->is_array = wanted->array != NULL;
    if (check_job_name(t, row->name) != 0 || check_path(t, "directory", row->directory, true) != 0) return -1;
    if (check_path(t, "output", row->out_pattern, false) != 0) return -1;
    if (row->err_pattern != NULL && check_path(t, "error output", row->err_pattern, false) != 0) return -1;
    if (check_request(t, &row->request) != 0) return -1;
    int64_t max = setting_number(&t->s->settings, SET_MAX_JOBS);
    if (t->s->job_by_id.count >= max)
        return err_set(t->e, ERR_TOO_LARGE, "%lld jobs wait or run already; no more are accepted (max_jobs)",
                       (long long)max);
    return 0;
}

/* As long as asked for, or as the setting says where the partitions allow that. */
static int read_time_limit(struct apply_context *t, int64_t wanted_s, struct job *row)
{
    uint32_t partition;
    int64_t standard_s = setting_number(&t->s->settings, SET_DEFAULT_TIME_S);
    int64_t longest_s = longest_time_s(t->s, row, &partition);
    row->time_limit_s = wanted_s != 0 ? wanted_s : standard_s < longest_s ? standard_s : longest_s;
    return check_time_limit(t, row->time_limit_s) != 0 ? -1 : check_partition_time(t, row);
}

int apply_submit(struct apply_context *t, const struct event *event)
{
    const struct event_submit *wanted = &event->submit;
    struct state *s = t->s;
    struct job row = {0};
    if (make_row(t, wanted, &row) != 0 || check_user_named(t, &event->actor) != 0) return -1;
    if (read_submission_terms(t, &event->actor, &wanted->terms, &row) != 0) return -1;
    if (read_time_limit(t, wanted->time_limit_s, &row) != 0) return -1;
    if (!row.is_array)
        idset_add(&row.array, plain_task);
    else if (parse_array(t, wanted->array, &row.array, &row.array_limit) != 0)
        return -1;
    /* Last, because it may make an association. */
    if (assoc_for_submission(t, &event->actor, wanted->account, &row.assoc) != 0) {
        idset_release(&row.array);
        return -1;
    }
    name_user(t, &event->actor);
    idset_copy(&row.pending, &row.array);
    row.uid = event->actor.uid;
    row.gid = event->actor.gid;
    row.id = s->next_job_id++;
    ensure(row.id < NONE - 1);
    s->assocs.items[row.assoc].live_jobs++;
    assoc_count_work(s, row.assoc, &(struct work){.pending = idset_count(&row.pending)}, 1);
    job_count_references(s, &row, 1);
    job_ensure_usage_owners(s, &row);
    apply_note_change(t, TABLE_JOB, job_append(s, &row));
    apply_note_change(t, TABLE_COUNTERS, 0);
    s->pass_is_due = true;
    *t->out_id = row.id;
    return 0;
}

/* --- by reference ------------------------------------------------------------------------------------------------- */

static const char *user_of(struct apply_context *t, const struct job *j)
{
    return t->s->assocs.items[j->assoc].user;
}

static bool may_touch(struct apply_context *t, const struct actor *actor, const struct job *j)
{
    return actor->is_operator || (actor->user != NULL && strcmp(actor->user, user_of(t, j)) == 0);
}

/* The job of a reference, which the actor may touch, and whose task (if one is named) has not ended. */
static int find_ref(struct apply_context *t, const struct actor *actor, struct job_ref ref, uint32_t *out_job)
{
    uint32_t index = state_find_job(t->s, ref.job_id);
    if (index == NONE) return err_set(t->e, ERR_NOT_FOUND, "no job %u is waiting or running", ref.job_id);
    const struct job *j = &t->s->jobs.items[index];
    if (!may_touch(t, actor, j)) return err_set(t->e, ERR_DENIED, "job %u belongs to %s", ref.job_id, user_of(t, j));
    if (ref.task_id != NONE) {
        if (!j->is_array)
            return err_set(t->e, ERR_NOT_FOUND, "job %u is not an array; it has no task %u", ref.job_id, ref.task_id);
        if (!idset_has(&j->pending, ref.task_id) && state_find_task(t->s, ref.job_id, ref.task_id) == NONE)
            return err_set(t->e, ERR_NOT_FOUND, "no task %u_%u is waiting or running", ref.job_id, ref.task_id);
    }
    *out_job = index;
    return 0;
}

static int check_refs(struct apply_context *t, const struct event *event)
{
    uint32_t unused;
    for (uint32_t i = 0; i < event->jobs.count; i++) {
        if (find_ref(t, &event->actor, event->jobs.refs[i], &unused) != 0) return -1;
    }
    return 0;
}

/* --- cancel ------------------------------------------------------------------------------------------------------- */

static bool cancel_task(struct apply_context *t, uint32_t index)
{
    struct task *k = &t->s->tasks.items[index];
    if (job_state_is_end(k->state) || k->cancelled) return false;
    k->cancelled = true;
    k->state = JOB_COMPLETING;
    apply_note_change(t, TABLE_TASK, index);
    apply_note_decision(t, DECIDE_END, k);
    return true;
}

static void cancel_pending(struct apply_context *t, uint32_t job_index, uint32_t task_id)
{
    struct job *j = &t->s->jobs.items[job_index];
    idset_remove(&j->pending, task_id);
    assoc_count_work(t->s, j->assoc, &(struct work){.pending = 1}, -1);
    idset_add(&j->cancelled, task_id);
    apply_note_change(t, TABLE_JOB, job_index);
    job_end_if_done(t, job_index, t->now_us);
}

static void cancel_whole(struct apply_context *t, uint32_t job_index)
{
    struct job *j = &t->s->jobs.items[job_index];
    for (uint32_t i = 0; i < t->s->tasks.count && j->live_tasks > 0; i++) {
        if (t->s->tasks.items[i].job_id == j->id) cancel_task(t, i);
    }
    assoc_count_work(t->s, j->assoc, &(struct work){.pending = idset_count(&j->pending)}, -1);
    idset_add_all(&j->cancelled, &j->pending);
    idset_release(&j->pending);
    apply_note_change(t, TABLE_JOB, job_index);
    job_end_if_done(t, job_index, t->now_us);
}

static void cancel_ref(struct apply_context *t, struct job_ref ref)
{
    uint32_t job_index = state_find_job(t->s, ref.job_id);
    if (job_index == NONE) return; /* the same job named twice */
    if (ref.task_id == NONE)
        cancel_whole(t, job_index);
    else if (idset_has(&t->s->jobs.items[job_index].pending, ref.task_id))
        cancel_pending(t, job_index, ref.task_id);
    else if (state_find_task(t->s, ref.job_id, ref.task_id) != NONE)
        cancel_task(t, state_find_task(t->s, ref.job_id, ref.task_id));
}

/* Does something to each job named, or to all that the actor may touch; returns how many. */
static uint32_t for_each_job(struct apply_context *t, const struct event *event,
                             void (*act)(struct apply_context *, struct job_ref))
{
    const struct event_jobs *wanted = &event->jobs;
    if (!wanted->all) {
        for (uint32_t i = 0; i < wanted->count; i++) act(t, wanted->refs[i]);
        return wanted->count;
    }
    uint32_t touched = 0;
    for (uint32_t i = 0; i < t->s->jobs.count; i++) {
        const struct job *j = &t->s->jobs.items[i];
        if (j->ended_us != 0 || !may_touch(t, &event->actor, j)) continue;
        act(t, (struct job_ref){j->id, NONE});
        touched++;
    }
    return touched;
}

int apply_cancel(struct apply_context *t, const struct event *event)
{
    if (check_refs(t, event) != 0) return -1;
    *t->out_id = for_each_job(t, event, cancel_ref);
    t->s->pass_is_due = true;
    return 0;
}

/* --- hold, release ------------------------------------------------------------------------------------------------ */

static void set_held(struct apply_context *t, struct job_ref ref, bool held)
{
    uint32_t index = state_find_job(t->s, ref.job_id);
    struct job *j = &t->s->jobs.items[index];
    if (j->held == held || idset_first(&j->pending) == NONE) return;
    j->held = held;
    j->accrue_us = held ? 0 : j->begin_us > t->now_us ? j->begin_us : t->now_us;
    apply_note_change(t, TABLE_JOB, index);
    if (held) min_priority_forget(t, index);
    t->s->pass_is_due = true;
}

static void hold_ref(struct apply_context *t, struct job_ref ref)
{
    set_held(t, ref, true);
}

static void release_ref(struct apply_context *t, struct job_ref ref)
{
    set_held(t, ref, false);
}

static int check_waiting(struct apply_context *t, const struct event *event, const char *verb)
{
    if (check_refs(t, event) != 0) return -1;
    for (uint32_t i = 0; i < event->jobs.count; i++) {
        struct job_ref ref = event->jobs.refs[i];
        if (ref.task_id != NONE)
            return err_set(t->e, ERR_CONFLICT, "%s takes a whole job: %u, not %u_%u", verb, ref.job_id, ref.job_id,
                           ref.task_id);
        if (idset_first(&t->s->jobs.items[state_find_job(t->s, ref.job_id)].pending) == NONE)
            return err_set(t->e, ERR_CONFLICT, "job %u has started; %s takes jobs that wait", ref.job_id, verb);
    }
    return 0;
}

int apply_hold(struct apply_context *t, const struct event *event)
{
    if (check_waiting(t, event, "hold") != 0) return -1;
    *t->out_id = for_each_job(t, event, hold_ref);
    return 0;
}

int apply_release(struct apply_context *t, const struct event *event)
{
    if (check_waiting(t, event, "release") != 0) return -1;
    *t->out_id = for_each_job(t, event, release_ref);
    return 0;
}

/* --- update ------------------------------------------------------------------------------------------------------- */

static bool has_started(const struct job *j)
{
    return idset_count(&j->pending) + idset_count(&j->cancelled) != idset_count(&j->array);
}

/* What an update changes beside the terms, checked, into a copy of the job. */
static int read_update(struct apply_context *t, const struct event_update *wanted, const struct job *j, struct job *row)
{
    struct capacity *request = &row->request;
    if (wanted->request.cpus != 0) request->cpus = wanted->request.cpus;
    if (wanted->request.mem_mib != 0) request->mem_mib = wanted->request.mem_mib;
    if (wanted->request.gpus != NONE) request->gpus = wanted->request.gpus;
    bool reshaped = memcmp(request, &j->request, sizeof *request) != 0 || wanted->time_limit_s != 0;
    if (wanted->name != NULL && check_job_name(t, wanted->name) != 0) return -1;
    if (wanted->time_limit_s != 0 && check_time_limit(t, wanted->time_limit_s) != 0) return -1;
    if (reshaped && check_request(t, request) != 0) return -1; /* the host may have become smaller since */
    if (reshaped && has_started(j))
        return err_set(t->e, ERR_CONFLICT, "job %u has started; its CPUs, memory, GPUs and time limit stay as they are",
                       j->id);
    if (wanted->array_limit != NONE && !j->is_array)
        return err_set(t->e, ERR_CONFLICT, "job %u is not an array; it has no limit of tasks at once", j->id);
    if (wanted->array_limit != NONE && wanted->array_limit > ARRAY_TASK_MAX)
        return err_set(t->e, ERR_INPUT, "array limit: %u is not from 0 (none) to %d", wanted->array_limit,
                       ARRAY_TASK_MAX);
    if (wanted->name != NULL) row->name = arena_copy(&t->s->cycle, str(wanted->name));
    if (wanted->time_limit_s != 0) row->time_limit_s = wanted->time_limit_s;
    if (wanted->array_limit != NONE) row->array_limit = wanted->array_limit;
    return 0;
}

int apply_update(struct apply_context *t, const struct event *event)
{
    const struct event_update *wanted = &event->update;
    uint32_t index;
    if (find_ref(t, &event->actor, (struct job_ref){wanted->job_id, NONE}, &index) != 0) return -1;
    const struct job *j = &t->s->jobs.items[index];
    struct job row = *j;
    if (read_update(t, wanted, j, &row) != 0) return -1;
    if (read_changed_terms(t, &event->actor, &wanted->terms, has_started(j), &row) != 0) return -1;
    bool is_longer = wanted->time_limit_s != 0 || wanted->terms.partitions != NULL;
    if (is_longer && check_partition_time(t, &row) != 0) return -1;
    min_priority_rewrite(t, index);
    min_priority_carry(&row, &t->s->jobs.items[index]);
    job_replace(t->s, index, &row);
    t->s->pass_is_due = true;
    apply_note_change(t, TABLE_JOB, index);
    return 0;
}
