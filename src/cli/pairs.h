/* Changes as people write them, NAME=VALUE: of settings, and of the fields of what an administrator names. The instance
 * accepts all of one request or none. */
#ifndef FAIRLEAD_CLI_PAIRS_H
#define FAIRLEAD_CLI_PAIRS_H

#include "cli/instance.h"

/* All zero is no change. hint, for messages: what lists the names that there are, "'fairlead set'". */
struct pairs {
    const char *hint;
    json_t *body;
};

/* Adds "halflife_s=86400". ERR_INPUT: not of that form, or given twice. */
int pairs_add(struct pairs *p, struct str pair, struct err *e);

/* Adds "name", "fast". */
void pairs_set(struct pairs *p, const char *name, const char *value);

/* Sends them all in one request. Fails as client_request does; what is sent stays. */
int pairs_send(const struct pairs *p, struct client *c, const char *method, const char *target, struct err *e);
void pairs_release(struct pairs *p);

#endif
