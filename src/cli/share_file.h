/* fairlead share -f: shares and fair-share factors of a tree in a file, without an instance. */
#ifndef FAIRLEAD_CLI_SHARE_FILE_H
#define FAIRLEAD_CLI_SHARE_FILE_H

#include "cli/command.h"
#include "cli/listing.h"
#include "policy/fair_share.h"

/* Reads the tree at path ("-": standard input) in any of the three formats and writes a row for each association.
 * Writes nothing if it fails; an error in the file then has its position (call->error_has_position). */
int share_file_run(struct call *call, const char *path, const struct share_options *options,
                   const struct column_table *columns, const struct listing_values *form, struct err *e);

#endif
