/* A change of settings: several NAME=VALUE, which the instance accepts all or not at all. */
#ifndef FAIRLEAD_CLI_SETTINGS_CHANGE_H
#define FAIRLEAD_CLI_SETTINGS_CHANGE_H

#include "cli/instance.h"

/* All zero is no change. */
struct settings_change {
    json_t *body;
};

/* Adds "halflife_s=86400". ERR_INPUT: not of that form, or given twice. */
int settings_change_add(struct settings_change *s, struct str pair, struct err *e);

/* Adds "halflife_s=86400,grace_s=5". */
int settings_change_add_list(struct settings_change *s, const char *list, struct err *e);

/* Sends them all in one request. Fails as client_request does. */
int settings_change_send(struct settings_change *s, struct client *c, struct err *e);
void settings_change_release(struct settings_change *s);

#endif
