/* What a job that waits for resources is short of: the resources of which no instance has as much free, by itself, as
 * the job needs there. Less than the sentences of wait_sentences.h, and cheap enough for each row of a listing. */
#ifndef FAIRLEAD_ENGINE_WAIT_MISSING_H
#define FAIRLEAD_ENGINE_WAIT_MISSING_H

#include "base/text.h"
#include "engine/state.h"

/* Jobs of an equal demand are short of the same. All zero: nothing is known yet. */
struct wait_missing {
    uint32_t kind; /* of the demand that names is of; valid if made is that of the cluster */
    uint32_t made;
    int64_t now_us;
    struct buf names; /* "cpu,mem": a slot is a CPU */
};

/* The names, separated by commas, until the next call; NULL: none, or the job is on several hosts. Instances that are
 * closed to the job do not count. O(instances x needs), O(1) for the demand of the last call at the same time. */
const char *wait_missing_names(struct wait_missing *w, struct state *s, const struct job *j, int64_t now_us);
void wait_missing_release(struct wait_missing *w);

#endif
