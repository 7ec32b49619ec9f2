/* Radix sort, least significant digit first (Knuth, TAOCP 5.2.5, algorithm R, with counts in place of lists). All
 * digits are counted in one pass. A digit that all records share costs nothing more; with small numbers that is most
 * digits. Records that are in order already, as those of the last pass often are, are recognised and not moved.
 *
 * Cost: two reads of the records, and one move for each of the digits that differ; below SMALL records an insertion
 * sort. */
#include "base/sort.h"

#include <stdbool.h>

enum { DIGIT_BITS = 8, DIGITS = 64 / DIGIT_BITS, BUCKETS = 1 << DIGIT_BITS, SMALL = 48 };

static void insertion_sort(struct sort_record *records, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        struct sort_record moved = records[i];
        uint32_t j = i;
        for (; j > 0 && records[j - 1].key > moved.key; j--) records[j] = records[j - 1];
        records[j] = moved;
    }
}

static bool is_sorted(const struct sort_record *records, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        if (records[i - 1].key > records[i].key) return false;
    }
    return true;
}

/* Moves every record to its position by one digit. starts: by value of the digit, the position of the next record. */
static void scatter(const struct sort_record *from, uint32_t count, struct sort_record *to, uint32_t *starts, int shift)
{
    for (uint32_t i = 0; i < count; i++) to[starts[from[i].key >> shift & (BUCKETS - 1)]++] = from[i];
}

void sort_records(struct sort_record *records, uint32_t count, struct sort_record *scratch)
{
    if (count < SMALL) {
        insertion_sort(records, count);
        return;
    }
    if (is_sorted(records, count)) return;

    uint32_t counts[DIGITS][BUCKETS] = {{0}};
    for (uint32_t i = 0; i < count; i++) {
        for (int d = 0; d < DIGITS; d++) counts[d][records[i].key >> (d * DIGIT_BITS) & (BUCKETS - 1)]++;
    }
    struct sort_record *from = records, *to = scratch;
    for (int d = 0; d < DIGITS; d++) {
        if (counts[d][from[0].key >> (d * DIGIT_BITS) & (BUCKETS - 1)] == count) continue;
        uint32_t start = 0;
        for (int b = 0; b < BUCKETS; b++) {
            uint32_t in_bucket = counts[d][b];
            counts[d][b] = start;
            start += in_bucket;
        }
        scatter(from, count, to, counts[d], d * DIGIT_BITS);
        struct sort_record *swap = from;
        from = to;
        to = swap;
    }
    if (from != records) memcpy(records, from, count * sizeof *records);
}
