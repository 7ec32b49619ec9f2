/* Stable sorting by a 64-bit key. A pass sorts by numbers, and comparing structs through a callback would cost three
 * times as much. Few records are sorted by insertion, more by a radix sort from the least significant digit, which
 * skips the digits that all records share. */
#ifndef FAIRLEAD_BASE_SORT_H
#define FAIRLEAD_BASE_SORT_H

#include <stdint.h>
#include <string.h>

struct sort_record {
    uint64_t key;
    uint32_t index;
    uint32_t extra; /* the caller's; moves with the record */
};

/* Sorts ascending by key; equal keys keep their order. scratch: room for count records. O(count). */
void sort_records(struct sort_record *records, uint32_t count, struct sort_record *scratch);

/* A key that orders doubles ascending (descending: its complement ~). NaN is not allowed; -0 counts as 0. */
static inline uint64_t sort_key_double(double value)
{
    uint64_t bits;
    value += 0.0;
    memcpy(&bits, &value, sizeof bits);
    return bits ^ ((bits >> 63 ? UINT64_MAX : 0) | UINT64_C(1) << 63);
}

#endif
