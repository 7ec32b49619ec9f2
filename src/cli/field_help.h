/* Fields in --help, manual pages and topics. */
#ifndef FAIRLEAD_CLI_FIELD_HELP_H
#define FAIRLEAD_CLI_FIELD_HELP_H

#include "fields/field.h"

/* Writes a field as it is given on the command line: "PriorityTier=COUNT", "ties=merge|slurm". out:
 * FIELD_HELP_BYTES. */
enum { FIELD_HELP_BYTES = 160 };
void field_help_syntax(const struct field *f, char *out);

/* Appends the help of a field, what it accepts and its default: "number of CPUs (a whole number from 1 to 65536; 1 by
 * default)". */
void field_help_meaning(const struct field *f, struct buf *out);

#endif
