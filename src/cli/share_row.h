/* A row of a share listing that is made here, of a file's tree: the instance's come made. */
#ifndef FAIRLEAD_CLI_SHARE_ROW_H
#define FAIRLEAD_CLI_SHARE_ROW_H

#include "policy/share_values.h"

struct share_row {
    const char *account, *user, *partition; /* user NULL: an account; partition NULL: any */
    const char *parent_account;             /* the account above the account; NULL: root */
    uint32_t depth;
    struct field_value shares;
    uint32_t node; /* whose numbers it has */
};

void share_row_values(const struct share_row *row, const struct share_table *table, struct share_values *out_values);

#endif
