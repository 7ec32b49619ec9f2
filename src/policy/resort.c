/* Drop-merge sort: the longest part that is still in order stays, the rest is dropped, sorted alone and merged back.
 *
 *     kept [0, k)  free [k, k + d)  unread [i, n)          dropped [0, d) in scratch          k + d = i
 *
 * A record that is smaller than the last one kept is out of place, or the last one kept is. If without that one it
 * would fit, that one is dropped; else the record is. When eight in a row were dropped, it was the kept ones after
 * all that stand too far up: the eight are taken back, and kept records above the largest of them are dropped
 * instead.
 *
 * Invariants
 *   1. k + d = i: what was read is in kept or dropped, and the eight last dropped still stand before i.
 *   2. When all is read, few are dropped: only backtracking drops many at once, and it leaves eight to be read.
 *
 * Cost: about 1 ns a record in order, and ten comparisons for one that is not. When more than one in eight is out of
 * place, the rest is not read: a radix sort of all is cheaper then.
 * Source: E. Ernerfeldt, "Drop-Merge Sort", 2016. */
#include "policy/resort.h"

#include "base/ensure.h"

enum { SMALL = 32, ROW = 8, DROPPED_PART = 8 };

struct state {
    struct sort_record *records, *dropped;
    uint32_t read, kept, dropped_count;
};

/* Takes back the last ROW records, and drops kept ones above all of them instead. */
static void backtrack(struct state *s)
{
    s->read -= ROW;
    s->dropped_count -= ROW;
    uint64_t max = 0;
    for (uint32_t r = s->read; r < s->read + ROW; r++) {
        if (s->records[r].key > max) max = s->records[r].key;
    }
    uint32_t first = s->kept - 1;
    while (first > 0 && s->records[first - 1].key > max) first--;
    while (s->kept > first) s->dropped[s->dropped_count++] = s->records[--s->kept];
}

/* Reads on until the end, or until too many are dropped. */
static void drop(struct state *s, uint32_t count)
{
    struct sort_record *records = s->records;
    uint32_t row = 0;
    while (s->read < count && s->dropped_count <= count / DROPPED_PART) {
        struct sort_record next = records[s->read];
        if (s->kept == 0 || records[s->kept - 1].key <= next.key) {
            records[s->kept++] = next;
            row = 0;
        } else if (row == ROW) {
            backtrack(s);
            row = 0;
            continue;
        } else if (row == 0 && s->kept > 1 && records[s->kept - 2].key <= next.key) {
            s->dropped[s->dropped_count++] = records[s->kept - 1];
            records[s->kept - 1] = next;
        } else {
            s->dropped[s->dropped_count++] = next;
            row++;
        }
        s->read++;
    }
}

/* Merges dropped, sorted, into kept, from the end down. */
static void merge(struct state *s)
{
    uint32_t to = s->kept + s->dropped_count, kept = s->kept;
    for (uint32_t d = s->dropped_count; d > 0;) {
        bool take_kept = kept > 0 && s->records[kept - 1].key > s->dropped[d - 1].key;
        s->records[--to] = take_kept ? s->records[--kept] : s->dropped[--d];
    }
}

/* How many records from the start are in order. */
static uint32_t in_order(const struct sort_record *records, uint32_t count)
{
    uint32_t i = 1;
    while (i < count && records[i - 1].key <= records[i].key) i++;
    return i < count ? i : count;
}

bool resort_records(struct sort_record *records, uint32_t count, struct sort_record *scratch)
{
    uint32_t first = in_order(records, count);
    if (first == count) return false;
    if (count < SMALL) {
        sort_records(records, count, scratch);
        return true;
    }
    struct state s = {.records = records, .dropped = scratch, .read = first, .kept = first};
    drop(&s, count);
    ensure(s.kept + s.dropped_count == s.read);
    if (s.read < count) {
        memcpy(records + s.kept, s.dropped, s.dropped_count * sizeof *records);
        sort_records(records, count, scratch);
    } else {
        ensure(s.dropped_count <= count / 2);
        sort_records(s.dropped, s.dropped_count, s.dropped + s.dropped_count);
        merge(&s);
    }
    return true;
}
