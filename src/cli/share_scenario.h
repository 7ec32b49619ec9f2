/* fairlead share -f of a scenario: its associations. */
#ifndef FAIRLEAD_CLI_SHARE_SCENARIO_H
#define FAIRLEAD_CLI_SHARE_SCENARIO_H

#include "cli/command.h"
#include "cli/listing.h"
#include "policy/fair_share.h"

/* Whether a text is a scenario, not columns: its first byte after white space is '{'. */
bool share_scenario_is_text(struct str text);

/* Writes a row for each association of the scenario. Its settings determine the algorithm, ties and dampening, unless
 * they are given on the command line. */
int share_scenario_run(struct call *call, const char *path, struct str text, const struct share_options *options,
                       const struct column_table *columns, const struct listing_values *form, struct err *e);

#endif
