#include "engine/job_waits.h"

#include "engine/dependents.h"
#include "engine/task_delays.h"
#include "fields/dependency_text.h"

int64_t job_waits_eligible_us(const struct job *j)
{
    if (j->dependency == NULL) return j->begin_us;
    int64_t ready_us = dependency_list_is_failed(j->dependency) ? INT64_MAX : dependency_list_ready_us(j->dependency);
    return ready_us > j->begin_us ? ready_us : j->begin_us;
}

bool job_waits_is_eligible(const struct job *j, int64_t now_us)
{
    if (j->ended_us != 0 || j->is_held || idset_first(job_waits_ready_tasks(j)) == NONE) return false;
    return job_waits_eligible_us(j) <= now_us;
}

int64_t job_waits_accrual_us(const struct job *j, int64_t now_us)
{
    int64_t eligible_us = job_waits_eligible_us(j);
    if (j->is_held || eligible_us == INT64_MAX || (j->waits_by_task && idset_first(&j->ready) == NONE)) return 0;
    return eligible_us > now_us ? eligible_us : now_us;
}

void job_waits_find_ready(struct job *j)
{
    struct idset waiting = {0};
    dependency_list_add_waiting(j->dependency, false, &waiting);
    task_delays_add_waiting(j, 0, &waiting);
    j->waits_by_task = waiting.ranges.count > 0;
    idset_release(&j->ready);
    if (j->waits_by_task) {
        idset_copy(&j->ready, &j->pending);
        idset_remove_all(&j->ready, &waiting);
    }
    idset_release(&waiting);
}

/* Whether a task waits for a task of another job, or for a time. */
static bool task_waits(const struct job *j, uint32_t task_id)
{
    return dependency_list_has_task(j->dependency, task_id) || task_delays_has_task(j, task_id);
}

void job_waits_find_ready_task(struct job *j, uint32_t task_id)
{
    bool waits = dependency_list_has_tasks(j->dependency) || j->delays.count > 0;
    if (waits != j->waits_by_task)
        job_waits_find_ready(j);
    else if (waits && task_waits(j, task_id))
        (void)idset_remove(&j->ready, task_id);
    else if (waits && idset_has(&j->pending, task_id))
        idset_add(&j->ready, task_id);
}

void job_waits_take(struct state *s, struct job *j, const struct idset *tasks)
{
    dependents_note_tasks(s, j->id, tasks);
    idset_remove_all(&j->ready, tasks);
    bool has_delays = j->delays.count > 0;
    if (has_delays) task_delays_drop(j, tasks);
    idset_remove_all(&j->pending, tasks); /* last, because tasks may be this set */
    if (has_delays && j->delays.count == 0) job_waits_find_ready(j);
    if (idset_first(&j->pending) == NONE) dependents_note(s, j->id, NONE);
}

bool job_waits_take_task(struct job *j, uint32_t task_id)
{
    bool had_conditions = j->dependency != NULL && j->dependency->by_task == 0;
    if (j->waits_by_task) idset_remove(&j->ready, task_id);
    idset_remove(&j->pending, task_id);
    if (had_conditions) { /* what is left are times that have passed */
        dependency_list_free(j->dependency);
        j->dependency = NULL;
    }
    return had_conditions;
}
