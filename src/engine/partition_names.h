/* The accounts and QOS whose jobs a partition accepts or refuses: AllowAccounts, DenyAccounts, AllowQos, DenyQos. Names
 * in them exist when the lists are set, and what a list names is not deleted: a misspelt name in DenyAccounts would
 * refuse no one, and a new account of an old name would come under the old rule. */
#ifndef FAIRLEAD_ENGINE_PARTITION_NAMES_H
#define FAIRLEAD_ENGINE_PARTITION_NAMES_H

#include "engine/state.h"

/* Whether the list says nothing: it is empty or the word for that (ALL or NONE, in any case). */
bool partition_names_is_unset(const struct object *partition, enum partition_field list);

/* Whether a partition accepts an account or a QOS. What is denied counts only where nothing is listed as allowed.
 * O(names) */
bool partition_names_allow_account(const struct object *partition, const char *account);
bool partition_names_allow_qos(const struct object *partition, const char *qos);

/* Checks that the names in lists that differ from those of the partition as it is exist. The account of new users
 * does before its first job. ERR_INPUT names the field, the item and the names that there are. */
int partition_names_check(const struct state *s, const struct object *partition, struct err *e);

/* A partition with a list that names an account or a QOS, and the field's name; NULL: there is none. O(names of all
 * partitions) */
const char *partition_names_find_account(const struct state *s, const char *account, const char **out_field);
const char *partition_names_find_qos(const struct state *s, const char *qos, const char **out_field);

#endif
