/* The tasks of an array as users give them: "0-999%50" is 1000 tasks of which at most 50 run at once. */
#ifndef FAIRLEAD_FIELDS_ARRAY_SPEC_H
#define FAIRLEAD_FIELDS_ARRAY_SPEC_H

#include "base/err.h"
#include "base/idset.h"

/* *out_tasks: at least one task number; the caller releases it. *out_limit: 0 without "%". ERR_INPUT. */
int array_spec_parse(struct str text, struct idset *out_tasks, uint32_t *out_limit, struct err *e);

#endif
