#include "engine/dependency_targets.h"

#include "base/search.h"

/* Jobs are in ascending order of id, and those that have ended stay until the end of the turn. */
uint32_t dependency_target_row(const struct state *s, uint32_t job_id)
{
    if (s->jobs.count == 0) return NONE;
    uint32_t found = search_from(&s->jobs.items[0].id, sizeof *s->jobs.items, s->jobs.count, job_id);
    return found < s->jobs.count && s->jobs.items[found].id == job_id ? found : NONE;
}

static const struct event_end *find_end(const struct event *event, uint32_t job_id)
{
    if (event == NULL || event->end_count == 0) return NULL;
    uint32_t found = search_from(&event->ends[0].job_id, sizeof *event->ends, event->end_count, job_id);
    return found < event->end_count && event->ends[found].job_id == job_id ? &event->ends[found] : NULL;
}

bool dependency_target_find(const struct state *s, const struct event *event, uint32_t job_id,
                            struct dependency_target *out)
{
    uint32_t index = dependency_target_row(s, job_id);
    *out = (struct dependency_target){.job = index != NONE ? &s->jobs.items[index] : NULL};
    if (out->job == NULL) out->end = find_end(event, job_id);
    return out->job != NULL || out->end != NULL;
}

const struct idset *dependency_target_tasks(const struct dependency_target *t)
{
    return t->job != NULL ? &t->job->array : &t->end->tasks;
}

bool dependency_target_is_array(const struct dependency_target *t)
{
    return t->job != NULL ? t->job->is_array : t->end->is_array;
}

static enum target_outcome outcome_of_end(const struct event_end *end, uint32_t task_id)
{
    bool is_ok = task_id == NONE ? idset_count(&end->completed) == idset_count(&end->tasks)
                                 : idset_has(&end->completed, task_id);
    return is_ok ? TARGET_OK : TARGET_NOT_OK;
}

static enum target_outcome outcome_of_job(const struct job *j)
{
    bool has_unbegun = idset_first(&j->pending) != NONE || j->starting_tasks > 0;
    if (j->ended_us == 0) return has_unbegun ? TARGET_PENDING : TARGET_STARTED;
    bool is_ok = idset_first(&j->failed) == NONE && idset_first(&j->cancelled) == NONE;
    return is_ok ? TARGET_OK : TARGET_NOT_OK;
}

static const struct task *live_task(const struct state *s, uint32_t job_id, uint32_t task_id)
{
    uint32_t index = state_find_task(s, job_id, task_id);
    return index != NONE ? &s->tasks.items[index] : NULL;
}

enum target_outcome dependency_target_outcome(const struct state *s, const struct dependency_target *t,
                                              uint32_t task_id)
{
    const struct job *j = t->job;
    if (j == NULL) return outcome_of_end(t->end, task_id);
    if (task_id == NONE) return outcome_of_job(j);
    if (idset_has(&j->pending, task_id)) return TARGET_PENDING;
    if (idset_has(&j->cancelled, task_id) || idset_has(&j->failed, task_id)) return TARGET_NOT_OK;
    const struct task *k = live_task(s, j->id, task_id);
    if (k == NULL) return TARGET_OK;
    return k->start_us != 0 ? TARGET_STARTED : TARGET_PENDING;
}

/* Whether a task has begun and ended, so that its start is in no row any more. */
static bool has_ended_task(const struct job *j)
{
    uint32_t others = idset_count(&j->pending) + idset_count(&j->cancelled) + j->live_tasks;
    return idset_count(&j->array) > others;
}

int64_t dependency_target_start_us(const struct state *s, const struct dependency_target *t, uint32_t task_id,
                                   int64_t now_us)
{
    const struct job *j = t->job;
    int64_t last_us = 0;
    if (j == NULL) return t->end->started_us > 0 ? t->end->started_us : now_us;
    if (task_id != NONE) {
        const struct task *k = live_task(s, j->id, task_id);
        return k != NULL && k->start_us > 0 ? k->start_us : now_us;
    }
    uint32_t left = has_ended_task(j) ? 0 : j->live_tasks;
    for (uint32_t id = idset_first(&j->array); id != NONE && left > 0; id = idset_next(&j->array, id)) {
        const struct task *k = live_task(s, j->id, id);
        if (k == NULL) continue;
        left--;
        if (k->start_us > last_us) last_us = k->start_us;
    }
    return last_us > 0 ? last_us : now_us;
}

enum dependency_state dependency_target_meets(enum dependency_type type, enum target_outcome outcome)
{
    bool has_ended = outcome == TARGET_OK || outcome == TARGET_NOT_OK;
    switch (type) {
    case DEPENDENCY_AFTER: return outcome != TARGET_PENDING ? DEPENDENCY_MET : DEPENDENCY_WAITS;
    case DEPENDENCY_AFTEROK:
    case DEPENDENCY_AFTERCORR:
        return outcome == TARGET_OK ? DEPENDENCY_MET : has_ended ? DEPENDENCY_NEVER : DEPENDENCY_WAITS;
    case DEPENDENCY_AFTERNOTOK:
        return outcome == TARGET_NOT_OK ? DEPENDENCY_MET : has_ended ? DEPENDENCY_NEVER : DEPENDENCY_WAITS;
    default: return has_ended ? DEPENDENCY_MET : DEPENDENCY_WAITS;
    }
}
