/* Usage of owners, computed again: what the share tree of the tickets model counts.
 *
 *     rule      OWNER_RULE at T0, T1           T0             T1
 *     task      start ........ end              |------[=======|====]--------- at_us of the owner
 *
 * A task's CPUs and GiB, each second, are charged to its user (in its project, if it has one) and to its project, and one
 * finished job at its end. By the rule of the journal that was in force, what is left of a unit after a minute is c, so with
 * a = -ln c / 60 a second
 *
 *     charge   =  (1 - e^(-a t)) / a      of one unit a second over t seconds of one rule; t where a is 0
 *     reads    =  charge e^(-sum of a t)  over all that comes behind it, up to at_us
 *
 * What was used before the first rule that the journal has cannot be computed: such an owner is passed over. */
#ifndef FAIRLEAD_STORE_VERIFY_OWNERS_H
#define FAIRLEAD_STORE_VERIFY_OWNERS_H

#include "base/map.h"
#include "store/store.h"
#include "store/verify_sum.h"

/* Of one resource: fading a second; infinite: gone at once. */
struct owner_rule {
    int64_t from_us, seq;
    long double fading[USAGE_RESOURCE_COUNT];
};

struct owner_sum {
    const char *user, *project;
    int64_t at_us, reset_us;
    struct sum sums[USAGE_RESOURCE_COUNT];
    bool is_unknown;
};

struct owners {
    struct arena arena;
    ARRAY(struct owner_rule) rules; /* by seq */
    bool has_own_mem_rule;          /* memory ever fades other than CPUs */
    ARRAY(struct owner_sum) list;
    struct map by_name; /* "user<1f>project" */
    struct buf key;     /* of a look-up */
};

/* What of a task its owners are charged for. reset_us: when everything was last reset; rule_seq: the place in the journal
 * whose rule is taken to have been in force before, or 0. */
struct owner_charge {
    const char *user, *project; /* project "": none */
    int64_t from_us, to_us, reset_us, rule_seq;
    bool has_ended;
    double rates[USAGE_RESOURCE_COUNT];
};

/* A rule of the journal; a row of owner_usage, whose texts and used stay the caller's. */
int owners_add_rule(struct owners *o, int64_t at_us, int64_t seq, const char *rule, struct err *e);
void owners_add(struct owners *o, const struct owner_sum *row, const double used[USAGE_RESOURCE_COUNT]);

void owners_charge(struct owners *o, const struct owner_charge *c);

/* Adds what differs to the report, names in memory of arena, and the count. */
void owners_judge(const struct owners *o, struct arena *arena, struct verify_report *report);
void owners_release(struct owners *o);

#endif
