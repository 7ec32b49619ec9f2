/* The rule by which a task starts again after a failure: "3", "3:exit=1,137:backoff=5m". Pure. */
#ifndef FAIRLEAD_FIELDS_RETRY_TEXT_H
#define FAIRLEAD_FIELDS_RETRY_TEXT_H

#include "base/err.h"

enum { RETRY_COUNT_MAX = 1000, RETRY_BACKOFF_S_MAX = 7 * 24 * 3600 };

struct retry_rule {
    uint32_t count; /* how often a task starts again at most; 0: there is no rule */
    bool has_statuses, has_backoff;
    uint64_t statuses[4]; /* bit s % 64 of word s / 64: the exit status s, if has_statuses; else all but 0 */
    uint32_t backoff_s;   /* before the first retry */
};

/* Reads "COUNT[:exit=STATUS,...][:backoff=DURATION]", the parts in any order; "": no rule. The duration has units
 * ("5m", "90s"), because a colon ends it. retry_text_check: for a field. ERR_INPUT */
int retry_text_parse(struct str text, const char *field, struct retry_rule *out, struct err *e);
int retry_text_check(struct str text, const char *field, struct err *e);

/* A list of exit statuses from 1 to 255, "99,75-78". For a field; ERR_INPUT */
int retry_text_statuses_check(struct str text, const char *field, struct err *e);

/* Whether the rule counts the exit status as a failure. A process that a signal ended has 128 + its number, as in a
 * shell. */
bool retry_text_is_failure(const struct retry_rule *rule, uint32_t exit_status);

/* The delay before the retry that follows so many restarts: backoff_s x 2^restarts, at most RETRY_BACKOFF_S_MAX. */
uint32_t retry_text_delay_s(const struct retry_rule *rule, uint32_t restarts);

#endif
