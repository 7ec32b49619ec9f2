/* Slurm's older grammar of limits, which sacctmgr still accepts: GrpCPUs=4 is GrpTRES=cpu=4. */
#ifndef FAIRLEAD_CLI_OLDER_LIMITS_H
#define FAIRLEAD_CLI_OLDER_LIMITS_H

#include "cli/command.h"

/* Rewrites the operands after the first one that are of the older grammar, if the command accepts the field that
 * replaces it; those for one field become one operand: "GrpCPUs=4 GrpNodes=2" is "GrpTRES=cpu=4,node=2". The texts are
 * in memory of the call. ERR_INPUT, with the operands partly rewritten: a value that is no number. */
int older_limits_rewrite(struct call *call, struct err *e);

#endif
