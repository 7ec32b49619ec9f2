/* The small languages of hosts, queues and load, each read into views of the text:
 *
 *     load_formula            np_load_avg*2-slots          value or $value, * and a number, joined by + and -
 *     job_load_adjustments    np_load_avg=0.50,mem=1G      names with values; also complex_values, thresholds, scaling
 *     slots, seq_no           4,[n1=2],[@big=8]            a value, and others for hosts and groups of hosts
 *     allocation_rule         $fill_up, 2                  or $pe_slots, $round_robin
 *     hosts, pe_list          n1,n2,@big                   names
 *
 * Which names exist is the reader's business. NONE is the empty list. ERR_INPUT names the setting and the item. Source:
 * Grid Engine 8.1.9, sched_conf(5), queue_conf(5) and sge_pe(5), and case g1 for what load_formula accepts. */
#ifndef FAIRLEAD_FIELDS_HOST_TEXT_H
#define FAIRLEAD_FIELDS_HOST_TEXT_H

#include "base/arena.h"
#include "base/array.h"
#include "base/err.h"
#include "base/str.h"

/* A term of a load formula. */
struct load_term_text {
    struct str name; /* empty: the weight is the term */
    double weight;
};

struct load_formula_text {
    struct load_term_text *terms; /* memory of the arena */
    uint32_t count;
};

/* Whether a host, a group or a parallel environment may have this name: it stands in lists, beside groups and values,
 * so it has no blank and none of , [ ] = @. */
bool host_text_is_name(struct str name);

/* A trailing operator is ignored, and so are blanks. A weight may only stand behind its value. */
int host_text_load_formula(struct str text, const char *what, struct arena *arena, struct load_formula_text *out,
                           struct err *e);
int host_text_load_formula_check(struct str text, const char *what, struct err *e);

/* "a=1,b=2". A name without '=' has the value NULL. No name occurs twice. */
struct named_value {
    struct str name, value;
};
struct named_values {
    struct named_value *items;
    uint32_t count;
};
int host_text_named_values(struct str text, const char *what, struct arena *arena, struct named_values *out,
                           struct err *e);
int host_text_named_values_check(struct str text, const char *what, struct err *e);

/* "4,[n1=2],[@big=8]": the value of hosts that are not named, and of those that are. In a bracket, everything behind
 * the first '=' is the value, which may contain commas. No host occurs twice. */
struct host_values {
    struct str common;
    struct named_value *hosts;
    uint32_t count;
};
int host_text_host_values(struct str text, const char *what, struct arena *arena, struct host_values *out,
                          struct err *e);
int host_text_host_values_check(struct str text, const char *what, struct err *e);

/* Names separated by commas or blanks, none twice; "n[1,3]" is one name (fields/host_ranges.h). The check, which new
 * lists pass, refuses empty items and names beside NONE. */
struct name_list {
    struct str *items;
    uint32_t count;
};
int host_text_names(struct str text, const char *what, struct arena *arena, struct name_list *out, struct err *e);
int host_text_names_check(struct str text, const char *what, struct err *e);

/* The order of the enumerators is that of sched/cluster.h. out_slots: of RULE_FIXED, at least 1. */
enum rule_text { RULE_PE_SLOTS, RULE_FILL_UP, RULE_ROUND_ROBIN, RULE_FIXED };
int host_text_allocation_rule(struct str text, const char *what, enum rule_text *out_rule, uint32_t *out_slots,
                              struct err *e);
int host_text_allocation_rule_check(struct str text, const char *what, struct err *e);

#endif
