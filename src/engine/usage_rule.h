/* The rule by which usage is charged to owners and decays, as text in the usage journal: these settings of the share
 * tree in one line. */
#ifndef FAIRLEAD_ENGINE_USAGE_RULE_H
#define FAIRLEAD_ENGINE_USAGE_RULE_H

#include "policy/policy.h"

struct usage_rule {
    struct ticket_decay decay;
    bool is_reserved; /* what a task has reserved is charged; otherwise what it was measured to use */
};

/* "SHARETREE_RESERVED_USAGE=no halftime=168 halftime_rule=program halflife_decay_list=none", in memory of arena. */
const char *usage_rule_format(const struct settings *s, struct arena *arena);

/* The rule from such a text. Without the first setting, as before schema version 5, usage is reserved. ERR_INPUT: the
 * text has another form. */
int usage_rule_parse(struct str text, struct arena *arena, struct usage_rule *out_rule, struct err *e);

#endif
