#include "engine/wait_leaders.h"

#include "engine/job_waits.h"

void wait_leaders_free(struct wait_leaders *l)
{
    if (l == NULL) return;
    arena_release(&l->arena);
    mem_free(l);
}

/* A job that has started or ended since, or by now waits for anything but resources, is before no other one. */
static bool still_waits(const struct state *s, uint32_t job_id)
{
    uint32_t job = job_id != 0 ? state_find_job(s, job_id) : NONE;
    const struct job *j = job != NONE ? &s->jobs.items[job] : NULL;
    if (j == NULL || !job_waits_is_eligible(j, s->wait_leaders->now_us)) return false;
    uint32_t count = idset_count(job_waits_ready_tasks(j));
    return (!j->is_array || state_array_room(s, j, count) > 0) && state_user_room(s, j->assoc) > 0;
}

bool wait_leaders_are_before(const struct state *s, const struct job *j)
{
    const struct wait_leaders *l = s->wait_leaders;
    bool is_behind = l != NULL;
    for (uint32_t i = 0; i < j->partition_count && is_behind; i++) {
        uint32_t leader = j->partitions[i] < l->partition_count ? l->job_ids[j->partitions[i]] : 0;
        is_behind = leader != j->id && still_waits(s, leader);
    }
    return is_behind;
}
