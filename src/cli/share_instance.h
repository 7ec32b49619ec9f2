/* fairlead share without -f: the shares of the instance's own tree. */
#ifndef FAIRLEAD_CLI_SHARE_INSTANCE_H
#define FAIRLEAD_CLI_SHARE_INSTANCE_H

#include "cli/command.h"

/* Asks the instance and prints the rows of that account and user (NULL: all). */
int share_instance_run(struct call *call, const char *account, const char *user, const struct listing_values *form,
                       struct err *e);

#endif
