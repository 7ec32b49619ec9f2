/* Records of accounts, and of users in accounts. */
#ifndef FAIRLEAD_FIELDS_ACCOUNT_FIELDS_H
#define FAIRLEAD_FIELDS_ACCOUNT_FIELDS_H

#include "fields/limit_fields.h"

/* The maximum of an association's shares. Its shares and its priority may also be FIELD_SPECIAL, which is "parent". */
#define SHARE_COUNT_MAX 2147483646.0

enum account_field {
    ACCOUNT_FIELD_NAME,
    ACCOUNT_FIELD_PARENT,
    ACCOUNT_FIELD_SHARES,
    ACCOUNT_FIELD_PRIORITY,
    ACCOUNT_FIELD_CREATED,
    ACCOUNT_FIELD_LIMITS, /* the first of ASSOC_LIMIT_COUNT limits */
    ACCOUNT_FIELD_COUNT = ACCOUNT_FIELD_LIMITS + ASSOC_LIMIT_COUNT
};

enum account_user_field {
    ACCOUNT_USER_FIELD_NAME,
    ACCOUNT_USER_FIELD_ACCOUNT,
    ACCOUNT_USER_FIELD_PARTITION,
    ACCOUNT_USER_FIELD_SHARES,
    ACCOUNT_USER_FIELD_IS_DEFAULT,
    ACCOUNT_USER_FIELD_PRIORITY,
    ACCOUNT_USER_FIELD_CREATED,
    ACCOUNT_USER_FIELD_LIMITS,
    ACCOUNT_USER_FIELD_COUNT = ACCOUNT_USER_FIELD_LIMITS + ASSOC_LIMIT_COUNT
};

/* Records of enum account_field, and of enum account_user_field. */
extern const struct field_table account_fields, account_fields_user;

/* The fields that an operator sets, for options and documents. */
extern const struct field account_fields_shares, account_fields_priority;

#endif
