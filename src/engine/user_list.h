/* Lists of users whose jobs a partition accepts or refuses: "ann,@chem", where @chem is a department. */
#ifndef FAIRLEAD_ENGINE_USER_LIST_H
#define FAIRLEAD_ENGINE_USER_LIST_H

#include "engine/state.h"

/* Checks that the departments in both lists of a partition exist. ERR_INPUT names the field, the item and those that
 * there are. */
int user_list_check(const struct state *s, const struct object *partition, struct err *e);

/* The name of a partition that has the department in a list; NULL: there is none. */
const char *user_list_find_partition(const struct state *s, const char *department);

#endif
