/* A launch record as text: what keepers write to disk and launchers send. One "name=value" on a line, in any order:
 *
 *     id=17
 *     phase=ended
 *     at_us=1732176300000000
 *     ...
 *     detail=cannot open output /x/y: Permission denied
 *
 * Names that are not known are passed over, so that a newer keeper's record can be read; names that are missing leave 0. */
#ifndef FAIRLEAD_EXEC_RECORD_H
#define FAIRLEAD_EXEC_RECORD_H

#include "base/text.h"
#include "exec/launch.h"

/* Appends the lines. */
void record_format(const struct launch_record *record, struct buf *out);

/* ERR_INTERNAL for a line without "=", a value that is not one, or no id or phase. */
int record_parse(struct str text, struct launch_record *out_record, struct err *e);

/* The value of the first line "name=..." or an empty view: for what keepers note besides. */
struct str record_value(struct str text, const char *name);

#endif
