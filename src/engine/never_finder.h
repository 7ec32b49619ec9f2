/* The search for the cause why a job can never run, which never_places.c begins and never_cause.c goes on with.
 * Internal to them. */
#ifndef FAIRLEAD_ENGINE_NEVER_FINDER_H
#define FAIRLEAD_ENGINE_NEVER_FINDER_H

#include "base/ensure.h"
#include "engine/never_cause.h"

struct never_finder {
    const struct never_runs *n;
    const struct job_demands *demands;
    const struct state *s;
    const struct cluster *c;
    const struct job *j;
    uint32_t only;
    const struct demand d; /* without needs that may be met later */
    const uint64_t *open;  /* the instances that nothing keeps it from; NULL: not known yet */
    struct arena *arena;
    struct buf text;
    struct never_cause *out;
};

static inline void never_finder_blame(struct never_finder *f, enum job_field field)
{
    ensure(f->out->field_count < CAUSE_FIELDS_MAX);
    f->out->fields[f->out->field_count++] = field;
}

static inline bool never_finder_has_bit(const uint64_t *bits, uint32_t index)
{
    return bits == NULL || (bits[index / 64] >> index % 64 & 1) != 0;
}

/* Whether all partitions, hosts, queues or environments are closed to the job; then the cause is in f. */
bool never_places_find(struct never_finder *f);

/* Appends "partition 'fast'", "partitions 'fast' and 'main'", "its 3 partitions", of those that the job may use.
 * Returns how many they are. */
uint32_t never_places_add(struct never_finder *f);

/* The first host that runs jobs in a partition that the job may use, for advice; NULL: there is none. */
const char *never_places_host(const struct never_finder *f);

#endif
