/* The rules of the enabled resource quota sets (fields/quota_text.h), with what they name found in the state, and
 * whether a rule is for a job on an instance. */
#ifndef FAIRLEAD_ENGINE_QUOTA_SETS_H
#define FAIRLEAD_ENGINE_QUOTA_SETS_H

#include "engine/cluster_resources.h"
#include "engine/host_names.h"
#include "fields/quota_text.h"

struct quota_amount {
    uint32_t resource;
    double amount;                    /* unless there is a formula */
    struct load_formula_text formula; /* no terms: none */
};

struct quota_found {
    const char *name; /* "SET/RULE"; NULL: nothing is computed yet */
    uint64_t *hosts;  /* quota_sets_hosts */
};

struct quota_set {
    const char *name;
    struct quota_rules rules;
    struct quota_amount **amounts;     /* by rule, then by limit */
    struct quota_found *found;         /* by rule: what is computed of it once a job needs it */
    bool mentions[QUOTA_FILTER_COUNT]; /* whether any rule has a list of it */
};

struct quota_sets {
    struct quota_set *items;
    uint32_t count;
};

/* What rules are for: a job, on a host and in a queue. */
struct quota_subject {
    const char *user, *department, *project, *pe; /* project, pe: NULL: none */
    const char *queue;
    uint32_t host; /* index of objects[OBJECT_HOST] */
};

/* Disabled sets are checked, too. ERR_INPUT names the set and what does not exist: a department, project, parallel
 * environment, queue, host or group, or a resource that is no consumable. Memory is the arena's. */
int quota_sets_make(const struct state *s, const struct cluster_resources *resources, struct arena *arena,
                    struct quota_sets *out, struct err *e);

/* Whether a rule is for the subject on some host and in some queue, which the subject does not need to have. */
bool quota_sets_may_be_for(const struct state *s, const struct quota_rule *rule, const struct quota_subject *subject);

/* Whether a rule is for a queue; and for which hosts, by index of objects[OBJECT_HOST], in memory of arena; NULL: for
 * all. O(items x hosts) with patterns, else O(items + hosts). */
bool quota_sets_has_queue(const struct state *s, const struct quota_rule *rule, const char *queue);
uint64_t *quota_sets_hosts(const struct state *s, const struct host_names *hosts, const struct quota_rule *rule,
                           struct arena *arena);

/* Whether a list of users has a user. */
bool quota_sets_has_user(const struct state *s, const struct quota_scope *scope, const char *user);

/* The subject's members in the rule's braced lists, by enum quota_filter; "" where the rule has no such list. */
void quota_sets_list_members(const struct state *s, const struct quota_rule *rule, const struct quota_subject *subject,
                             const char *out_members[QUOTA_FILTER_COUNT]);

#endif
