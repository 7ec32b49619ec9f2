/* fairlead prio -f: priorities of the jobs of a scenario, without an instance. */
#ifndef FAIRLEAD_CLI_PRIO_SCENARIO_H
#define FAIRLEAD_CLI_PRIO_SCENARIO_H

#include "cli/command.h"
#include "cli/prio_instance.h"

/* Reads the scenario at path ("-": standard input) and writes a row for each of its jobs, or for the wanted one. Writes
 * nothing if it fails; an error in the document then has its position (call->error_has_position). ERR_NOT_FOUND: the
 * scenario does not have the job; ERR_USAGE: its model has no normalized factors. */
int prio_scenario_run(struct call *call, const char *path, const struct prio_wanted *wanted,
                      const struct listing_values *form, struct err *e);

#endif
