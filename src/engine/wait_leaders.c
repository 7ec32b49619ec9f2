#include "engine/wait_leaders.h"

#include "engine/job_waits.h"
#include "engine/ranking.h"

void wait_leaders_free(struct wait_leaders *l)
{
    if (l == NULL) return;
    arena_release(&l->arena);
    mem_free(l);
}

/* A job that has started or ended since, or now waits for something else than resources, holds no job back any more. */
static bool still_waits(const struct state *s, uint32_t job_id)
{
    uint32_t job = job_id != 0 ? state_find_job(s, job_id) : NONE;
    const struct job *j = job != NONE ? &s->jobs.items[job] : NULL;
    if (j == NULL || !job_waits_is_eligible(j, s->wait_leaders->now_us)) return false;
    uint32_t count = idset_count(job_waits_ready_tasks(j));
    return (!j->is_array || state_array_room(s, j, count) > 0) && state_user_room(s, j->assoc) > 0;
}

bool wait_leaders_is_before(const struct state *s, const struct job *j, uint32_t partition)
{
    const struct wait_leaders *l = s->wait_leaders;
    uint32_t leader = l != NULL && partition < l->partition_count ? l->job_ids[partition] : 0;
    return leader != j->id && still_waits(s, leader);
}

bool wait_leaders_has_low_factor(const struct state *s, const struct job *j, uint32_t partition)
{
    const struct wait_leaders *l = s->wait_leaders;
    if (l == NULL || l->factors == NULL) return false;
    uint32_t assoc = state_assoc_in_partition(s, j->assoc, partition);
    uint32_t node = assoc < s->node_of.count ? s->node_of.items[assoc] : NONE;
    return node < l->factor_count && ranking_qos_waits(s, j->qos, l->factors[node]);
}
