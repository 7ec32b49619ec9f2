/* A launch record as text: what keepers write to disk and what the launcher sends. Each line is "name=value"; lines may
 * come in any order:
 *
 *     id=17
 *     phase=ended
 *     at_us=1732176300000000
 *     ...
 *     detail=cannot open output /x/y: Permission denied
 *
 * Unknown names are skipped, so that the record of a newer keeper can be read. Missing names leave 0. */
#ifndef FAIRLEAD_EXEC_RECORD_H
#define FAIRLEAD_EXEC_RECORD_H

#include "base/text.h"
#include "exec/launch.h"

/* Appends all lines of a record. Its detail must be one line (launch_record_set_detail). */
void record_format(const struct launch_record *record, struct buf *out);

/* Reads a record. ERR_INTERNAL if a line has no "=", a known name has a value that cannot be read, or id or phase is
 * missing. O(length). */
int record_parse(struct str text, struct launch_record *out_record, struct err *e);

/* The value of the first line "name=...", or an empty view. For the lines that keepers add (process_identity.h). */
struct str record_value(struct str text, const char *name);

#endif
