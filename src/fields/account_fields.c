#include "fields/account_fields.h"

#include "fields/limits.h"

#define TEXT(name_, words) .name = (name_), .help = (words), .type = FIELD_TEXT
#define PARENT_OR(max_) .type = FIELD_NUMBER, .max = (max_), .special = "parent"
#define SHARES .name = "shares", .help = "shares among its siblings", PARENT_OR(SHARE_COUNT_MAX)
#define PRIORITY \
    .name = "priority", .help = "association priority of its jobs, or 'parent'", PARENT_OR(UINT32_MAX - 2.0)
#define CREATED \
    .name = "created_us", .help = "time of creation", .type = FIELD_TIME, .max = TIME_US_MAX, .is_read_only = true

const struct field account_fields_shares = {SHARES}, account_fields_priority = {PRIORITY};

static const struct field account_rows[ACCOUNT_FIELD_COUNT] = {
    [ACCOUNT_FIELD_NAME] = {TEXT("name", "the account's name")},
    [ACCOUNT_FIELD_PARENT] = {TEXT("parent", "parent account; null: this is the root account"), .is_nullable = true},
    [ACCOUNT_FIELD_SHARES] = {SHARES},
    [ACCOUNT_FIELD_PRIORITY] = {PRIORITY},
    [ACCOUNT_FIELD_CREATED] = {CREATED},
    LIMIT_ROWS(ACCOUNT_FIELD_LIMITS),
};

static const struct field user_rows[ACCOUNT_USER_FIELD_COUNT] = {
    [ACCOUNT_USER_FIELD_NAME] = {TEXT("name", "the user's name")},
    [ACCOUNT_USER_FIELD_ACCOUNT] = {TEXT("account", "the account")},
    [ACCOUNT_USER_FIELD_PARTITION] = {TEXT("partition", "the only partition that it is for; null: it is for all"),
                                      .is_nullable = true},
    [ACCOUNT_USER_FIELD_SHARES] = {SHARES},
    [ACCOUNT_USER_FIELD_IS_DEFAULT] = {.name = "default",
                                       .help = "whether the user's jobs are charged to this account by default",
                                       .type = FIELD_BOOL,
                                       .max = 1},
    [ACCOUNT_USER_FIELD_PRIORITY] = {PRIORITY},
    [ACCOUNT_USER_FIELD_CREATED] = {CREATED},
    LIMIT_ROWS(ACCOUNT_USER_FIELD_LIMITS),
};

#define TABLE(rows_) .rows = (rows_), .row_size = sizeof(struct field), .count = sizeof(rows_) / sizeof *(rows_)

const struct field_table account_fields = {TABLE(account_rows), .name = "AccountRow", .help = "An account."},
                         account_fields_user = {TABLE(user_rows), .name = "UserRow", .help = "A user in an account."};
