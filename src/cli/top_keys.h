/* The keys of 'fairlead top'. A job is changed only after a question, and by the id that the question named: the rows
 * may move meanwhile. */
#ifndef FAIRLEAD_CLI_TOP_KEYS_H
#define FAIRLEAD_CLI_TOP_KEYS_H

#include "cli/top_state.h"

/* Does what a key means (cli/screen.h). */
void top_keys_press(struct top_state *s, int key);

/* The help on the screen: lines, ended by NULL. */
extern const char *const top_keys_help[];

#endif
