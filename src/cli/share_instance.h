/* fairlead share without -f: the shares of the instance's own tree. */
#ifndef FAIRLEAD_CLI_SHARE_INSTANCE_H
#define FAIRLEAD_CLI_SHARE_INSTANCE_H

#include "cli/command.h"

struct share_wanted {
    const char *account, *user; /* NULL: all */
    bool has_tres;              /* with usage by TRES */
};

/* Asks the instance and prints its rows. */
int share_instance_run(struct call *call, const struct share_wanted *wanted, const struct listing_values *form,
                       struct err *e);

#endif
