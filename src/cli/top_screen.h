/* 'fairlead top' on a terminal: a loop of reading, drawing and keys.
 *
 *     read (every few seconds, or after a change) ─> filter, sort ─> draw ─> a key, or the time
 *
 * A frame costs the instance about what one listing costs. If it takes longer than a tenth of the interval, the
 * interval grows, so that at most a tenth of the time is spent on it. */
#ifndef FAIRLEAD_CLI_TOP_SCREEN_H
#define FAIRLEAD_CLI_TOP_SCREEN_H

#include "cli/top_state.h"

/* Shows the view until the user ends it. Returns the exit status. */
int top_screen_run(struct top_state *s);

#endif
