/* What to do about an error: one sentence for the person, found by what the error is about and never by its text. Only
 * here do messages name commands of fairlead: the rooms below do not know who calls them. */
#ifndef FAIRLEAD_CLI_HINTS_H
#define FAIRLEAD_CLI_HINTS_H

#include <stdbool.h>

#include "base/err.h"

enum { HINT_SIZE = 400 };

/* Whether there is a hint for the error; its text, without a full stop. */
bool hint_write(const struct err *e, char out[HINT_SIZE]);

#endif
