/* The policy in force: all settings that concern priorities, as numbers ready for use. It is rebuilt when a setting
 * changes. */
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
    struct share_options share; /* order is NULL; a caller that keeps one sets it */
    enum billing_rule billing;
    struct multifactor_rules multifactor;
    struct ticket_rules tickets;
    struct urgency_rules urgency;
    enum enforce_user enforce_user;
    uint32_t enforce; /* AccountingStorageEnforce: ENFORCE_ASSOCIATIONS, ... */
};

/* Builds the policy of the settings. ERR_INPUT, which names the setting, for errors that only a combination of settings
 * has, such as a weight of a TRES that is not tracked. Texts are in memory of arena, which has to outlive the
 * policy. */
int policy_make(const struct settings *s, struct arena *arena, struct policy *out_policy, struct err *e);

/* The value that AccountingStorageTRES gets when it is set to wanted: tracked TRES are kept, new ones are appended. In
 * memory of arena. */
const char *policy_tracked_tres_append(const char *tracked, const char *wanted, struct arena *arena);

#endif
