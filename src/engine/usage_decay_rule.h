/* The rule by which the usage of owners decays, as text in the usage journal: the settings of the share tree's decay in
 * one line. */
#ifndef FAIRLEAD_ENGINE_USAGE_DECAY_RULE_H
#define FAIRLEAD_ENGINE_USAGE_DECAY_RULE_H

#include "policy/policy.h"

/* "halftime=168 halftime_rule=program halflife_decay_list=none", in memory of arena; and the decay from such a text.
 * ERR_INPUT: it has another form. */
const char *usage_decay_rule_format(const struct settings *s, struct arena *arena);
int usage_decay_rule_parse(struct str text, struct arena *arena, struct ticket_decay *out_decay, struct err *e);

#endif
