/* fairlead share -f: shares and ranks of a tree in a file, without a service. */
#ifndef FAIRLEAD_CLI_SHARE_FILE_H
#define FAIRLEAD_CLI_SHARE_FILE_H

#include "cli/command.h"
#include "cli/listing.h"
#include "policy/fair_share.h"

/* Reads the tree at path ("-": standard input; either form), computes it and prints all of its rows. Prints nothing
 * when anything is wrong: -1 with *e, whose text has the place in the file (call->error_has_place). */
int share_file_run(struct call *call, const char *path, const struct share_options *options,
                   const struct listing_values *how, struct err *e);

#endif
