/* 'fairlead help reasons': what each pending reason means, and what to do about it. */
#ifndef FAIRLEAD_CLI_REASON_HELP_H
#define FAIRLEAD_CLI_REASON_HELP_H

#include "base/text.h"

/* Appends every reason (fields/pending_reason.h) but None: those of one cause together, below them a sentence and
 * advice. */
void reason_help_write(struct buf *out);

#endif
