/* Notes about names that select rows and that the instance does not know. They are no errors: rows may be those of
 * users who are known only later, or of accounts that were deleted. */
#ifndef FAIRLEAD_CLI_UNKNOWN_NAME_H
#define FAIRLEAD_CLI_UNKNOWN_NAME_H

#include "cli/command.h"

/* To be called where nothing was found. Prints a line to standard error for each user and each account of the lists
 * ("ann,bob"; NULL: none) that the instance does not list. What goes wrong is ignored. Returns whether it printed. */
bool unknown_name_note(struct call *call, const char *users, const char *accounts);

#endif
