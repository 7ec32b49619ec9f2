/* Rules of a resource quota set, one on each line, or separated by semicolons:
 *
 *     limit users ann to slots=1                          one pool of 1 slot for the jobs of ann
 *     limit users {*} hosts @fast to slots=60             for each user a pool of 60 slots on the hosts of @fast
 *     limit users {@chem,!eve} projects P1,P2 to license=2,slots=8
 *     limit hosts {*} to slots=$num_proc*2                for each host a pool of twice its processors
 *     limit name serial pes !* to slots=100               of jobs without a parallel environment
 *
 * A rule may begin with `limit`, and with `name NAME`. Then come up to five lists of what it is for, in any order. A
 * list in braces gives each of its members a pool of its own, one without braces all of them together. Items are names,
 * or patterns with * and ?, and among hosts ranges (n[1-3,7]: each of them); @NAME is a department among users and a
 * group among hosts; ! excludes. A job without a project (or without a parallel environment) is in no list of them, but
 * in one that only excludes. A limit is an amount, or of a rule for each host a sum such as $num_proc*2+1. NONE, or no
 * text, is no rule.
 *
 * ERR_INPUT names the field, the part, its line and its column. Source: Grid Engine 8.1.9, sge_resource_quota(5). */
#ifndef FAIRLEAD_FIELDS_QUOTA_TEXT_H
#define FAIRLEAD_FIELDS_QUOTA_TEXT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/text.h"

enum { QUOTA_RULES_BYTES_MAX = 32000 };

enum quota_filter { QUOTA_USERS, QUOTA_PROJECTS, QUOTA_PES, QUOTA_QUEUES, QUOTA_HOSTS, QUOTA_FILTER_COUNT };

struct quota_item {
    struct str name; /* without the ! */
    bool is_excluded;
};

struct quota_scope {
    struct quota_item *items; /* none: everything, and the rule does not tell members apart */
    uint32_t count;
    bool is_each;    /* in braces */
    struct str text; /* as it was written, without the braces: "@chem,!eve" */
};

struct quota_limit {
    struct str resource, amount;
    bool is_formula; /* host_text_load_formula reads the amount */
};

struct quota_rule {
    struct str name; /* empty: it has none */
    struct quota_scope scope[QUOTA_FILTER_COUNT];
    struct quota_limit *limits; /* at least one; no resource occurs twice */
    uint32_t limit_count;
    struct str text; /* of the rule, trimmed */
};

struct quota_rules {
    struct quota_rule *items; /* memory of the arena; texts are views of the text that was read */
    uint32_t count;
};

/* Reads the rules of a set. what: the field, for errors. quota_text_rules_check is the check of the field (field.h). */
int quota_text_rules(struct str text, const char *what, struct arena *arena, struct quota_rules *out, struct err *e);
int quota_text_rules_check(struct str text, const char *what, struct err *e);

/* "users", "projects", "pes", "queues", "hosts". */
const char *quota_text_filter_name(enum quota_filter filter);

/* Whether an item stands for a department or a group of hosts, and for which. */
bool quota_text_is_group(struct str item, struct str *out_name);

/* Whether an item is a pattern and no name. */
bool quota_text_is_pattern(struct str item);

/* The name of a rule in listings: its own, or its number from 1 on. */
void quota_text_rule_name(const struct quota_rule *rule, uint32_t index, struct buf *out);

#endif
