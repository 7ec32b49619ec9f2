/* Sorting again what was sorted a moment ago, when a few records have other keys now: drop-merge sort. */
#ifndef FAIRLEAD_POLICY_RESORT_H
#define FAIRLEAD_POLICY_RESORT_H

#include <stdbool.h>

#include "base/sort.h"

/* Ascending by key; equal keys in any order. scratch: room for count records. O(count + d log d) with d records out of
 * place, O(count) radix passes when they are many. Returns whether anything moved. */
bool resort_records(struct sort_record *records, uint32_t count, struct sort_record *scratch);

#endif
