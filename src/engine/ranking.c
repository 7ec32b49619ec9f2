#include "engine/ranking.h"

bool ranking_qos_waits(const struct state *s, uint32_t index, double factor)
{
    const struct object_row *qos = &s->objects[OBJECT_QOS].items[index];
    bool is_enforced = (s->policy.enforce & ENFORCE_LIMITS) != 0;
    return is_enforced && (qos->qos_flags & QOS_ENFORCE_USAGE_THRESHOLD) != 0 &&
           factor < qos->object.value[QOS_USAGE_THRESHOLD].real;
}

bool ranking_waits_in_partition(const struct state *s, uint32_t qos, uint32_t assoc, uint32_t partition,
                                const double *factors)
{
    bool has_threshold = (s->objects[OBJECT_QOS].items[qos].qos_flags & QOS_ENFORCE_USAGE_THRESHOLD) != 0;
    if (!has_threshold) return false;
    uint32_t node = s->node_of.items[state_assoc_in_partition(s, assoc, partition)];
    return node != NONE && ranking_qos_waits(s, qos, factors[node]);
}

/* Ids are given in order of submission. */
uint32_t job_basic_priority(const struct job *j)
{
    if (j->is_held) return 0;
    if (j->set_priority != NONE) return j->set_priority;
    return multifactor_basic_priority(j->document != NULL ? j->document->rank : j->id - 1u, j->nice);
}
