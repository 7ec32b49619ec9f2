/* The scenario that a command is about: a document, or that of the instance. */
#ifndef FAIRLEAD_CLI_SCENARIO_SOURCE_H
#define FAIRLEAD_CLI_SCENARIO_SOURCE_H

#include "cli/instance.h"
#include "sim/scenario.h"

/* Its name in errors. file NULL: the instance. */
const char *scenario_source_name(const char *file);

/* Reads it. file NULL: the instance; "-": standard input. The caller releases out also after an error. */
int scenario_source_read(struct call *call, const char *file, struct scenario *out, struct err *e);

#endif
