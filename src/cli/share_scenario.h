/* fairlead share -f of a scenario: its tree as share lists trees. */
#ifndef FAIRLEAD_CLI_SHARE_SCENARIO_H
#define FAIRLEAD_CLI_SHARE_SCENARIO_H

#include "cli/command.h"
#include "cli/listing.h"
#include "policy/fair_share.h"

/* Whether a text is a document and not a tree in columns: its first byte other than white space is '{'. */
bool share_scenario_is_text(struct str text);

/* Writes a row for each association of the document. Its settings say by which algorithm, ties and dampening; of options
 * those count that were given on the command line. */
int share_scenario_run(struct call *call, const char *path, struct str text, const struct share_options *options,
                       const struct listing_values *how, struct err *e);

#endif
