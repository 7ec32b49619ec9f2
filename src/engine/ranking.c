#include "engine/ranking.h"

bool ranking_qos_waits(const struct state *s, uint32_t index, double factor)
{
    const struct object_row *qos = &s->objects[OBJECT_QOS].items[index];
    return (qos->qos_flags & QOS_ENFORCE_USAGE_THRESHOLD) != 0 && factor < qos->object.value[QOS_USAGE_THRESHOLD].real;
}

/* Ids are given in order of submission. */
uint32_t job_basic_priority(const struct job *j)
{
    if (j->is_held) return 0;
    if (j->set_priority != NONE) return j->set_priority;
    return multifactor_basic_priority(j->document != NULL ? j->document->rank : j->id - 1u, j->nice);
}
