/* What an administrator names, from the command line: one set of functions for all kinds (fields/objects.h). */
#ifndef FAIRLEAD_CLI_OBJECT_H
#define FAIRLEAD_CLI_OBJECT_H

#include "cli/instance_listing.h"
#include "fields/objects.h"

/* add, modify and delete NAME, the call's first operand; the others are NAME=VALUE. makes_new: modify adds what is not
 * there. They say what they did. */
int object_run_add(struct call *call, enum object_kind kind, struct err *e);
int object_run_modify(struct call *call, enum object_kind kind, bool makes_new, struct err *e);
int object_run_delete(struct call *call, enum object_kind kind, struct err *e);

/* RawUsage=0 among the operands behind the name: *out_raw_usage is 0, else API_UNSET, and *out_other the first operand that is
 * something else, or NULL. ERR_INPUT: RawUsage is to be something else. */
int object_read_raw_usage(const struct call *call, int64_t *out_raw_usage, const char **out_other, struct err *e);

/* Lists them, or the one that the first operand names. */
int object_run_show(struct call *call, enum object_kind kind, const struct listing_values *how, struct err *e);

#endif
