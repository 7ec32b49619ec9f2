/* Notes about users that an object names and that the instance does not know: in lists of a partition, and in the rules
 * of a quota. They may come later, so the objects are accepted. */
#ifndef FAIRLEAD_CLI_OBJECT_USERS_H
#define FAIRLEAD_CLI_OBJECT_USERS_H

#include "cli/command.h"
#include "fields/objects.h"

/* To be called once the object is changed. Reads the operands FIELD=VALUE of the call. */
void object_users_note(struct call *call, enum object_kind kind);

#endif
