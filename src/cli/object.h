/* The objects that an administrator defines (partitions, QOS, users, projects and so on): the same functions
 * for all kinds (fields/objects.h). Each takes the name from the call's first operand and prints what it did. */
#ifndef FAIRLEAD_CLI_OBJECT_H
#define FAIRLEAD_CLI_OBJECT_H

#include "cli/instance_listing.h"
#include "fields/objects.h"

/* Add, modify or delete an object; the operands after the name are FIELD=VALUE. adds_missing: modify adds an object
 * that does not exist. */
int object_run_add(struct call *call, enum object_kind kind, struct err *e);
int object_run_modify(struct call *call, enum object_kind kind, bool adds_missing, struct err *e);
int object_run_delete(struct call *call, enum object_kind kind, struct err *e);

/* Sets a field of an object, and prints what that did: "Drained host n1". */
struct object_change {
    const char *field, *value, *done;
};
int object_run_set(struct call *call, enum object_kind kind, const struct object_change *change, struct err *e);

/* Lists all objects of the kind, or the one that the first operand names. */
int object_run_show(struct call *call, enum object_kind kind, const struct listing_values *form, struct err *e);

#endif
