/* A row of a share listing of a tree in a file. (The rows of an instance arrive complete.) */
#ifndef FAIRLEAD_CLI_SHARE_ROW_H
#define FAIRLEAD_CLI_SHARE_ROW_H

#include "policy/share_values.h"

struct share_row {
    const char *account, *user, *partition; /* user NULL: an account; partition NULL: any */
    const char *parent_account;             /* the account above the account; NULL: root */
    uint32_t depth;
    struct field_value shares;
    uint32_t node; /* in the tree and the share table */
};

/* Fills a row's values; its usage and factors are those of its node in the table. Texts point into the row. */
void share_row_values(const struct share_row *row, const struct share_table *table, struct share_values *out_values);

#endif
