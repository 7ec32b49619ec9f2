/* Drop-merge sort: after any change to sorted records, the result is sorted and has the same records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"
#include "policy/drop_merge_sort.h"

enum { COUNT_MAX = 3000 };

/* Changes to sorted records. */
static void none_change(struct sort_record *r, uint32_t count, struct rng *rng)
{
    (void)r, (void)count, (void)rng;
}

static void few_change(struct sort_record *r, uint32_t count, struct rng *rng)
{
    for (uint32_t c = 0; c < 1 + count / 100; c++) r[rng_below(rng, count)].key = rng_below(rng, 2 * count);
}

static void neighbours_rise(struct sort_record *r, uint32_t count, struct rng *rng)
{
    uint32_t first = rng_below(rng, count), some = 1 + rng_below(rng, 1 + count / 10);
    for (uint32_t i = first; i < first + some && i < count; i++) r[i].key += count;
}

static void neighbours_fall(struct sort_record *r, uint32_t count, struct rng *rng)
{
    uint32_t first = rng_below(rng, count), some = 1 + rng_below(rng, 1 + count / 10);
    for (uint32_t i = first; i < first + some && i < count; i++) r[i].key /= 2;
}

static void all_change(struct sort_record *r, uint32_t count, struct rng *rng)
{
    for (uint32_t i = 0; i < count; i++) r[i].key = rng_u64(rng);
}

static void reversed(struct sort_record *r, uint32_t count, struct rng *rng)
{
    (void)rng;
    for (uint32_t i = 0; i < count; i++) r[i].key = count - i;
}

/* The records at the front become the largest, so nearly all records kept so far have to be dropped after them. */
static void front_rises(struct sort_record *r, uint32_t count, struct rng *rng)
{
    uint32_t rising = count - count / 9 - rng_below(rng, 12) % count;
    for (uint32_t i = 0; i < rising; i++) r[i].key += 4 * count;
}

static void all_equal(struct sort_record *r, uint32_t count, struct rng *rng)
{
    for (uint32_t i = 0; i < count; i++) r[i].key = 7;
    if (rng_below(rng, 2)) r[rng_below(rng, count)].key = rng_below(rng, 14);
}

static void (*const CHANGES[])(struct sort_record *, uint32_t, struct rng *) = {
    none_change, few_change, neighbours_rise, neighbours_fall, all_change, reversed, front_rises, all_equal,
};

static void test_every_change(void **state)
{
    (void)state;
    struct rng rng = {5};
    for (int round = 0; round < 4000; round++) {
        uint32_t count = round % 2 ? 1 + rng_below(&rng, 100) : 1 + rng_below(&rng, COUNT_MAX);
        /* Allocated with their exact size, so that the sanitizers detect out-of-bounds accesses. */
        struct sort_record *records = malloc(count * sizeof *records), *scratch = malloc(count * sizeof *scratch);
        uint64_t *key_of = malloc(count * sizeof *key_of);
        for (uint32_t i = 0; i < count; i++)
            records[i] = (struct sort_record){.key = 2 * i + rng_below(&rng, 4), .index = i, .extra = ~i};
        sort_records(records, count, scratch);
        CHANGES[(size_t)round / 2 % (sizeof CHANGES / sizeof *CHANGES)](records, count, &rng);
        bool sorted = true;
        for (uint32_t i = 0; i < count; i++) {
            key_of[records[i].index] = records[i].key;
            sorted &= i == 0 || records[i - 1].key <= records[i].key;
        }
        assert_int_equal(drop_merge_sort(records, count, scratch), !sorted);
        for (uint32_t i = 0; i < count; i++) {
            assert_true(i == 0 || records[i - 1].key <= records[i].key);
            assert_true(records[i].extra == ~records[i].index && key_of[records[i].index] == records[i].key);
            key_of[records[i].index] = UINT64_MAX; /* seen: a second copy of the record would not compare equal */
        }
        free(records);
        free(scratch);
        free(key_of);
    }
}

static void test_nothing_to_sort(void **state)
{
    (void)state;
    struct sort_record one = {.key = 3, .index = 1, .extra = 2};
    assert_false(drop_merge_sort(&one, 0, NULL));
    assert_false(drop_merge_sort(&one, 1, NULL));
    assert_int_equal(one.key, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_change),
        cmocka_unit_test(test_nothing_to_sort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
