/* Advice after an error: what the user can do next. It is found by the error's code, subject and field, never by its
 * text. Messages of the other rooms name no commands, because libraries do not know which program calls them. */
#ifndef FAIRLEAD_CLI_HINTS_H
#define FAIRLEAD_CLI_HINTS_H

#include <stdbool.h>

#include "base/err.h"

enum { HINT_SIZE = 400 };

/* Whether there is a hint for the error. out: its text, without a full stop; left alone where there is none. */
bool hint_write(const struct err *e, char out[HINT_SIZE]);

#endif
