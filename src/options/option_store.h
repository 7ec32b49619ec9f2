/* Parses the argument of one option and stores it in the option's member. */
#ifndef FAIRLEAD_OPTIONS_OPTION_STORE_H
#define FAIRLEAD_OPTIONS_OPTION_STORE_H

#include "options/options.h"

/* rules: those that have the row. given: the argument, or NULL if there is none. values: the struct that the row's
 * table fills. ERR_INPUT: "--NAME: 'VALUE' is not ..."; ERR_USAGE: an option given more than OPTION_TEXTS_MAX times. */
int option_store(const struct option_rules *rules, const struct option_row *row, const char *given, void *values,
                 struct err *e);

#endif
