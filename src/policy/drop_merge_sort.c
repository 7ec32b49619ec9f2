/* Drop-merge sort. Most records are still in order: they are kept. The others are dropped, sorted alone and merged
 * back.
 *
 *     kept [0, k)  free [k, k + d)  unread [i, n)          dropped [0, d) in scratch          k + d = i
 *
 * When a record is smaller than the last one that was kept, one of the two is out of place. If the record would fit
 * without that last one, the last one is dropped; else the record is. When eight records in a row were dropped and the
 * next one is out of place too, the kept ones were wrong after all: the eight are taken back, and the kept records
 * above the largest of them are dropped instead.
 *
 * Invariants
 *   1. k + d = i: every record that was read is either kept or dropped, and the eight that were dropped last are still
 *      in place before i.
 *   2. When all records are read, few are dropped: only backtracking drops many at once, and it leaves eight to be
 *      read.
 *
 * Cost: about 1 ns for a record in order, ten comparisons for one that is not. When more than one in eight is out of
 * place, reading stops and all records are sorted by radix, which is cheaper then. Source: E. Ernerfeldt, "Drop-Merge
 * Sort", 2016. */
#include "policy/drop_merge_sort.h"

#include "base/ensure.h"

enum { SMALL = 32, RUN = 8, DROPPED_PART = 8 };

struct merge_state {
    struct sort_record *records, *dropped;
    uint32_t read_count, kept_count, dropped_count;
};

/* Takes back the last RUN dropped records, and drops the kept ones above all of them instead. */
static void backtrack(struct merge_state *s)
{
    s->read_count -= RUN;
    s->dropped_count -= RUN;
    uint64_t max = 0;
    for (uint32_t r = s->read_count; r < s->read_count + RUN; r++) {
        if (s->records[r].key > max) max = s->records[r].key;
    }
    uint32_t first = s->kept_count - 1;
    while (first > 0 && s->records[first - 1].key > max) first--;
    while (s->kept_count > first) s->dropped[s->dropped_count++] = s->records[--s->kept_count];
}

/* Reads to the end, or until too many records are dropped. */
static void drop(struct merge_state *s, uint32_t count)
{
    struct sort_record *records = s->records;
    uint32_t run = 0; /* dropped in a row */
    while (s->read_count < count && s->dropped_count <= count / DROPPED_PART) {
        struct sort_record next = records[s->read_count];
        if (s->kept_count == 0 || records[s->kept_count - 1].key <= next.key) {
            records[s->kept_count++] = next;
            run = 0;
        } else if (run == RUN) {
            backtrack(s);
            run = 0;
            continue;
        } else if (run == 0 && s->kept_count > 1 && records[s->kept_count - 2].key <= next.key) {
            s->dropped[s->dropped_count++] = records[s->kept_count - 1];
            records[s->kept_count - 1] = next;
        } else {
            s->dropped[s->dropped_count++] = next;
            run++;
        }
        s->read_count++;
    }
}

/* Merges the dropped records, which are sorted, into the kept ones, from the end down. */
static void merge(struct merge_state *s)
{
    uint32_t to = s->kept_count + s->dropped_count, kept = s->kept_count;
    for (uint32_t d = s->dropped_count; d > 0;) {
        bool take_kept = kept > 0 && s->records[kept - 1].key > s->dropped[d - 1].key;
        s->records[--to] = take_kept ? s->records[--kept] : s->dropped[--d];
    }
}

/* The number of records from the start that are in order. */
static uint32_t count_sorted(const struct sort_record *records, uint32_t count)
{
    uint32_t i = 1;
    while (i < count && records[i - 1].key <= records[i].key) i++;
    return i < count ? i : count;
}

bool drop_merge_sort(struct sort_record *records, uint32_t count, struct sort_record *scratch)
{
    uint32_t first = count_sorted(records, count);
    if (first == count) return false;
    if (count < SMALL) {
        sort_records(records, count, scratch);
        return true;
    }
    struct merge_state s = {.records = records, .dropped = scratch, .read_count = first, .kept_count = first};
    drop(&s, count);
    ensure(s.kept_count + s.dropped_count == s.read_count);
    if (s.read_count < count) {
        memcpy(records + s.kept_count, s.dropped, s.dropped_count * sizeof *records);
        sort_records(records, count, scratch);
    } else {
        ensure(s.dropped_count <= count / 2);
        sort_records(s.dropped, s.dropped_count, s.dropped + s.dropped_count);
        merge(&s);
    }
    return true;
}
