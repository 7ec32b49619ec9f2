/* What an administrator names, from the command line: one set of functions for all kinds (policy/objects.h). */
#ifndef FAIRLEAD_CLI_OBJECT_H
#define FAIRLEAD_CLI_OBJECT_H

#include "cli/listing.h"
#include "policy/objects.h"

/* add, modify and delete NAME, the call's first operand; the others are NAME=VALUE. makes_new: modify adds what is not
 * there. They say what they did. */
int object_row_add(struct call *call, enum object_kind kind, struct err *e);
int object_modify(struct call *call, enum object_kind kind, bool makes_new, struct err *e);
int object_delete(struct call *call, enum object_kind kind, struct err *e);

/* RawUsage=0 among the operands behind the name: *out_raw_usage is 0, else -1, and *out_other the first operand that is
 * something else, or NULL. ERR_INPUT: RawUsage is to be something else. */
int raw_usage_read(const struct call *call, int64_t *out_raw_usage, const char **out_other, struct err *e);

/* Lists them, or the one that the first operand names. */
int object_show(struct call *call, enum object_kind kind, const struct listing_values *how, struct err *e);

#endif
