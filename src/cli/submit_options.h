/* The options of submit that are not fields of the job (job_options.h). */
#ifndef FAIRLEAD_CLI_SUBMIT_OPTIONS_H
#define FAIRLEAD_CLI_SUBMIT_OPTIONS_H

#include "options/options.h"

struct submit_values {
    const char *directory, *export, *department;
    const char *directive_prefix;
    bool has_wait, is_parsable, is_test, is_json;
};

extern const struct option_row submit_option_rows[]; /* ends with {0} */

#endif
