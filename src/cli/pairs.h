/* NAME=VALUE operands, collected to the body of one request: settings, or the fields of an object. The instance accepts
 * all of them or none. */
#ifndef FAIRLEAD_CLI_PAIRS_H
#define FAIRLEAD_CLI_PAIRS_H

#include "cli/instance.h"

/* All zero: no pairs. hint: the command that lists the names, for messages: "'fairlead set'". */
struct pairs {
    const char *hint;
    json_t *body;
};

/* Adds a pair such as "halflife_s=86400". ERR_INPUT: not NAME=VALUE, not printable, or a name given twice;
 * ERR_NOT_FOUND: a name longer than any. */
int pairs_add(struct pairs *p, struct str pair, struct err *e);

/* Adds a pair that is not an operand. */
void pairs_set(struct pairs *p, const char *name, const char *value);

/* Sends the pairs in one request and keeps them. Fails with the instance's error, or as client_request does. */
int pairs_send(const struct pairs *p, struct client *c, const char *method, const char *target, struct err *e);
void pairs_release(struct pairs *p);

#endif
