/* How the usage of owners fades, as the journal keeps it: the settings of the share tree's decay in one line. */
#ifndef FAIRLEAD_ENGINE_USAGE_DECAY_RULE_H
#define FAIRLEAD_ENGINE_USAGE_DECAY_RULE_H

#include "policy/policy.h"

/* How the share tree's usage fades, as the journal says it: "halftime=168 halftime_rule=program halflife_decay_list=none",
 * in memory of arena; and read back. ERR_INPUT: it is not of that form. */
const char *usage_decay_rule_format(const struct settings *s, struct arena *arena);
int usage_decay_rule_parse(struct str text, struct arena *arena, struct ticket_decay *out_decay, struct err *e);

#endif
