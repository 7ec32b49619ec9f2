#include "engine/ranking.h"

bool qos_waits_for_factor(const struct state *s, const struct job *j, double factor)
{
    const struct object_row *qos = &s->objects[OBJECT_QOS].items[j->qos];
    return (qos->qos_flags & QOS_ENFORCE_USAGE_THRESHOLD) != 0 && factor < qos->object.value[QOS_USAGE_THRESHOLD].real;
}

bool partition_admits(const struct state *s, uint32_t partition, const struct job *j)
{
    int64_t most_s = s->objects[OBJECT_PARTITION].items[partition].object.value[PARTITION_MAX_TIME].number;
    return most_s == FIELD_SPECIAL || j->time_limit_s <= most_s;
}

/* Ids are given in order of submission. */
uint32_t basic_job_priority(const struct job *j)
{
    if (j->held) return 0;
    return j->set_priority != NONE ? j->set_priority : basic_priority(j->id - 1u, j->nice);
}
