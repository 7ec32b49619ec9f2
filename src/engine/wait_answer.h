/* The sentences about a job of a state (engine/wait_sentences.h): of an instance from the cluster that its passes keep,
 * of a document from a run over all of it. */
#ifndef FAIRLEAD_ENGINE_WAIT_ANSWER_H
#define FAIRLEAD_ENGINE_WAIT_ANSWER_H

#include "engine/wait_sentences.h"

/* job: index of one that is not running and has not ended. hidden: kinds that are hidden from who asks (visibility.h).
 * In memory of arena. ERR_INPUT: a document's definition is not consistent, or there is no room for what runs. Of an
 * instance O(instances x needs + running tasks); the first time after a change of objects or settings all is made anew.
 */
int wait_answer_make(struct state *s, uint32_t job, enum wait_question question, uint32_t hidden, int64_t now_us,
                     struct arena *arena, struct wait_sentences *out, struct err *e);

#endif
