/* The operands of commands for accounts and users in accounts: limits, as GrpTRES=cpu=64, RawUsage=0, and of users
 * Partition=P. */
#ifndef FAIRLEAD_CLI_LIMIT_OPERANDS_H
#define FAIRLEAD_CLI_LIMIT_OPERANDS_H

#include "cli/command.h"
#include "wire/wire.h"

struct limit_operands {
    struct wire_list limits; /* of struct wire_pair, in memory of the call */
    int64_t raw_usage;       /* 0; API_UNSET: not given */
    const char *partition;   /* of Partition=P; NULL: not given */
    const char *other;       /* the first operand that is none of these; NULL: there is none */
};

/* How limits are changed, for the help of commands. */
#define LIMIT_TEXT                                                                                              \
    "A limit is one of the fields below. -1 removes it. A limit by TRES changes only for the TRES that the "    \
    "value names, so that GrpTRES=gres/gpu=4 keeps that of cpu, and GrpTRES=cpu=-1 removes that of cpu alone. " \
    "Times are in minutes, or as 2-12:00:00; seconds are rounded up to a minute. QosLevel+=NAME and "           \
    "QosLevel-=NAME add a QOS to the list and remove one; without a list of its own, to and from that of the "  \
    "account above."

/* Reads the operands after the name. ERR_INPUT: RawUsage has another value than 0. ERR_USAGE: a limit is given
 * twice. */
int limit_operands_read(const struct call *call, struct limit_operands *out, struct err *e);

/* Fills *e, with ERR_USAGE or ERR_INPUT: the operand is none that the command accepts. Returns -1. */
int limit_operands_refuse(const struct call *call, const char *operand, struct err *e);

#endif
