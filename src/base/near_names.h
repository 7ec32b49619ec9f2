/* The names that a mistyped word may mean. */
#ifndef FAIRLEAD_BASE_NEAR_NAMES_H
#define FAIRLEAD_BASE_NEAR_NAMES_H

#include <stdint.h>

#include "base/str.h"

enum { NEAR_NAMES_MAX = 3 };

/* Finds the names of a list "id, name, user" that are most like the word in any case: those with the fewest typing
 * errors (str_distance), at most one in three letters; without any, those that have the word as a part, if it has three
 * letters or more. out: the first NEAR_NAMES_MAX of them, as parts of the list. Returns their number. */
uint32_t near_names_find(struct str list, struct str word, struct str out[NEAR_NAMES_MAX]);

#endif
