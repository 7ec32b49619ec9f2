/* The columns of the listings of settings: set and status. In a table, durations and memory have their unit. */
#ifndef FAIRLEAD_CLI_SETTING_COLUMNS_H
#define FAIRLEAD_CLI_SETTING_COLUMNS_H

#include "fields/column.h"

extern const struct column_table setting_columns;

#endif
