/* Names of many hosts as a short text, for people: "n[1-3,7],login,gpu[08-10].site". The numbers that are shortened are
 * those at the end of a name, or before its first dot. Numbers with zeros in front keep their width. */
#ifndef FAIRLEAD_FIELDS_HOST_LIST_H
#define FAIRLEAD_FIELDS_HOST_LIST_H

#include "base/str.h"
#include "base/text.h"

/* Appends the names, each once: those that differ only in their number together, at the place of the first of them, in
 * order of the number. O(count log count). */
void host_list_format(const struct str *names, uint32_t count, struct buf *out);

#endif
