/* One change of several hosts. */
#ifndef FAIRLEAD_CLI_OBJECT_HOSTS_H
#define FAIRLEAD_CLI_OBJECT_HOSTS_H

#include "cli/object.h"

/* Changes the hosts that the operands name, as lists with ranges, and prints them: "Drained hosts n[1-4],g1". None is
 * changed if one is unknown. */
int object_hosts_set(struct call *call, const struct object_change *change, struct err *e);

#endif
