/* An option's argument, read and stored. */
#ifndef FAIRLEAD_OPTIONS_OPTION_STORE_H
#define FAIRLEAD_OPTIONS_OPTION_STORE_H

#include "options/options.h"

/* given: the argument, or NULL where the option stands without. ERR_INPUT: "--NAME: 'VALUE' is not ...". */
int option_store(const struct option_row *row, const char *given, void *values, struct err *e);

#endif
