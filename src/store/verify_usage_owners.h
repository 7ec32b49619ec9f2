/* The usage of owners (users and projects in the share tree of the tickets model), recomputed from the records.
 *
 *     rule      OWNER_RULE at T0, T1           T0             T1
 *     task      start ........ end              |------[=======|====]--------- at_us of the owner
 *
 * A task is charged to its user (in its project, if it has one) and to its project. While reserved usage counts, these
 * are its CPUs and GiB every second. While measured usage counts, it is each measurement; the task's row has their
 * decayed sum. Its end charges one finished job. By the rule in force a unit decays to c within a minute. With a = -ln
 * c / 60 per second:
 *
 *     charge        =  (1 - e^(-a t)) / a      of one unit per second over t seconds under one rule; t where a is 0
 *     usage(at_us)  =  charge e^(-sum of a t)  over the rules after the charge, up to at_us
 *
 * Usage from before the first rule in the journal cannot be recomputed; an owner that has such usage is skipped. */
#ifndef FAIRLEAD_STORE_VERIFY_USAGE_OWNERS_H
#define FAIRLEAD_STORE_VERIFY_USAGE_OWNERS_H

#include "base/map.h"
#include "store/store.h"
#include "store/verify_decay.h"
#include "store/verify_sum.h"

struct owner_rule {
    int64_t from_us, seq;
    long double decay_per_s[USAGE_RESOURCE_COUNT]; /* a; infinite: usage decays at once */
    bool is_reserved;                              /* reserved usage counts, otherwise measured usage */
};

struct owner_sum {
    const char *user, *project;
    int64_t at_us, reset_us;
    struct sum sums[USAGE_RESOURCE_COUNT];
    bool predates_rules; /* it used something before the first rule */
    bool is_of_project;  /* of a prune: the part of the project's usage that is this user's */
    bool is_touched;     /* it was charged since usage_owners_clear_touched */
};

struct usage_owners {
    struct arena arena;
    ARRAY(struct owner_rule) rules; /* by seq */
    bool has_own_mem_rule;          /* in some rule memory decays otherwise than CPUs */
    ARRAY(struct owner_sum) list;
    struct map by_name; /* "user<1f>project" */
    struct buf key;     /* of a look-up */
    bool is_by_user;    /* of a prune: the usage of a project is summed up by user, in rows of their own */
    ARRAY(uint32_t) touched;
};

/* The usage of a task. reset_us: the last reset of all usage; rule_seq: the journal entry whose rule also applies to
 * the time before it; usually 0. */
struct owner_charge {
    const char *user, *project; /* project "": none */
    int64_t from_us, to_us, reset_us, rule_seq;
    const struct charged_span *spans; /* of that time: in which what it has reserved is charged */
    uint32_t span_count;
    bool has_ended;
    double rates[USAGE_RESOURCE_COUNT];    /* reserved: CPUs; memory in GiB */
    double measured[USAGE_RESOURCE_COUNT]; /* charged by measurements since the last reset */
    int64_t measured_as_of_us;             /* the time to which that has decayed; 0: nothing was charged */
};

/* Adds a rule of the journal, in order of seq, or a row of owner_usage with its stored usage. Texts are copied.
 * ERR_INPUT for a rule that cannot be parsed. */
int usage_owners_add_rule(struct usage_owners *o, int64_t at_us, int64_t seq, const char *rule, struct err *e);
void usage_owners_add(struct usage_owners *o, const struct owner_sum *row, const double used[USAGE_RESOURCE_COUNT]);

/* Charges the user and the project of a task; all rules have to be added. O(rules). */
void usage_owners_charge(struct usage_owners *o, const struct owner_charge *c);

/* A sum of tasks that were pruned: of the user (in the project), or the part of the project's usage that was the
 * user's. */
struct owner_pruned {
    const char *user, *project;
    bool is_of_project;
    const char *resource; /* one of usage_resource_names; or OWNER_PREDATES: it used something before the first rule */
    double amount;
    int64_t at_us, reset_us; /* reset_us: the last reset of all usage */
};
#define OWNER_PREDATES "before_rules"

/* Adds such a sum, unless it was reset since; all rules and rows have to be added. False: no such resource. O(rules).
 * */
bool usage_owners_add_pruned(struct usage_owners *o, const struct owner_pruned *pruned);

void usage_owners_clear_touched(struct usage_owners *o);

/* Appends the differences to the report, with names in memory of arena, and sets its owner_count. */
void usage_owners_compare(const struct usage_owners *o, struct arena *arena, struct verify_report *report);
void usage_owners_release(struct usage_owners *o);

#endif
