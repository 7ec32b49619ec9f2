/* A limit that blocks, as a phrase: "account 'a1' has GrpTRES=cpu=4; 3 in use, 2 requested". */
#ifndef FAIRLEAD_ENGINE_LIMIT_TEXT_H
#define FAIRLEAD_ENGINE_LIMIT_TEXT_H

#include "engine/limits.h"

/* Appends it. Times are durations; an inherited limit is that of the association on which it was set. */
void limit_text(const struct state *s, const struct limit_hit *hit, struct buf *out);

#endif
