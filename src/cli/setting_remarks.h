/* Remarks about accepted values of settings (fields/settings.h), as notes on standard error. */
#ifndef FAIRLEAD_CLI_SETTING_REMARKS_H
#define FAIRLEAD_CLI_SETTING_REMARKS_H

#include "fields/settings.h"

/* Prints the remark about a NAME=VALUE, if there is one. Nothing about a setting that does not exist or a wrong
 * value. */
void setting_remarks_of_pair(struct str pair);

/* Prints the remarks about all settings of a scenario, in the order of their table: those about what is computed. */
void setting_remarks_of_all(const struct settings *settings);

#endif
