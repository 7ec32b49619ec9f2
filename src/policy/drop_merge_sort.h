/* Drop-merge sort: sorts records that were sorted before and of which a few have new keys. Private to the Fair Tree of
 * this folder. */
#ifndef FAIRLEAD_POLICY_DROP_MERGE_SORT_H
#define FAIRLEAD_POLICY_DROP_MERGE_SORT_H

#include <stdbool.h>

#include "base/sort.h"

/* Sorts ascending by key; equal keys come in any order. scratch: room for count records. Returns whether anything was
 * moved. O(count): one pass over the records and a radix sort of those that are out of place, or of all if those are
 * many. */
bool drop_merge_sort(struct sort_record *records, uint32_t count, struct sort_record *scratch);

#endif
