/* The policy in force: what the settings say together, as numbers ready for use. Made anew when a setting changes. */
#ifndef FAIRLEAD_POLICY_POLICY_H
#define FAIRLEAD_POLICY_POLICY_H

#include "fields/settings.h"
#include "policy/billing.h"
#include "policy/fair_share.h"
#include "policy/multifactor.h"
#include "policy/tickets.h"
#include "policy/urgency.h"

enum priority_model { MODEL_MULTIFACTOR, MODEL_TICKETS, MODEL_BASIC, MODEL_COUNT };

extern const char *const priority_model_names[MODEL_COUNT]; /* "priority/multifactor" ... */

enum enforce_user { ENFORCE_USER_AUTO, ENFORCE_USER_NONE, ENFORCE_USER_TRUE };

struct policy {
    enum priority_model model;
    struct tres_table tres;
    struct share_options share; /* order is NULL; whoever keeps one puts it in */
    enum billing_rule billing;
    struct multifactor_rules multifactor;
    struct ticket_rules tickets;
    struct urgency_rules urgency;
    enum enforce_user enforce_user;
};

/* ERR_INPUT names the setting: what only goes wrong in company (a weight of a TRES that is not tracked, weights whose sum
 * is no number). Text is borrowed from arena, which outlives the policy. */
int policy_make(const struct settings *s, struct arena *arena, struct policy *out_policy, struct err *e);

/* The value AccountingStorageTRES has when wanted is asked for: what was tracked stays, what is new is appended. */
const char *policy_tracked_tres_append(const char *tracked, const char *wanted, struct arena *arena);

#endif
