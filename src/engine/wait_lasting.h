/* What keeps a waiting job of an instance from starting whatever else runs: it waits until a limit or the job changes.
 * A submission is accepted all the same, as Slurm does it, so its answer says it.
 *
 *     dependencies       that can never be met
 *     its partitions     each has a limit that it exceeds (EnforcePartLimits=NO)
 *     limits             of associations and QOS, that its request alone exceeds, or that nothing lowers
 *     resource quotas    with less room than it needs when nothing runs */
#ifndef FAIRLEAD_ENGINE_WAIT_LASTING_H
#define FAIRLEAD_ENGINE_WAIT_LASTING_H

#include "engine/limits.h"
#include "fields/job_fields.h"

struct wait_lasting {
    const char *text;     /* "QOS 'short' has MaxWall=00:10:00; 01:00:00 requested (QOSMaxWall...)" */
    enum job_field field; /* of the job, that a smaller or another value of would let it start */
};

/* Whether there is such a thing; the first of the above. In memory of arena. O(limits of the job); with quotas
 * O(instances x quotas) as well. */
bool wait_lasting_find(struct state *s, const struct job *j, int64_t now_us, struct arena *arena,
                       struct wait_lasting *out);

#endif
