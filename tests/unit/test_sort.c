/* Sorting: ascending, stable and complete, for every size around the change of method and every kind of key. */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "base/sort.h"
#include "dies.h"

enum { COUNT_MAX = 3000 };

static struct sort_record records[COUNT_MAX], scratch[COUNT_MAX];

/* Records have ascending indices, so a stable sort keeps the indices of equal keys ascending. */
static void check(uint32_t count, uint64_t key_sum)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += records[i].key * (records[i].index + UINT64_C(1));
        assert_int_equal(records[i].extra, records[i].index ^ 0xabcd);
        if (i == 0) continue;
        assert_true(records[i - 1].key <= records[i].key);
        if (records[i - 1].key == records[i].key) assert_true(records[i - 1].index < records[i].index);
    }
    assert_int_equal(sum, key_sum);
}

static uint64_t make_key(struct rng *r, int kind, uint32_t i, uint32_t count)
{
    switch (kind) {
    case 0: return rng_u64(r);
    case 1: return rng_below(r, 5);
    case 2: return i;
    case 3: return count - i;
    case 4: return (uint64_t)rng_below(r, 256) << 56;
    case 5: return UINT64_MAX - rng_below(r, 300);
    case 6: return (uint64_t)rng_below(r, 3) << 40 | rng_below(r, 3);
    default: return 7;
    }
}

static void test_all_sizes(void **state)
{
    (void)state;
    struct rng r = {1};
    for (int kind = 0; kind < 8; kind++) {
        for (uint32_t count = 0; count <= COUNT_MAX; count += count < 120 ? 1 : 311) {
            uint64_t sum = 0;
            for (uint32_t i = 0; i < count; i++) {
                records[i] = (struct sort_record){.key = make_key(&r, kind, i, count), .index = i, .extra = i ^ 0xabcd};
                sum += records[i].key * (i + UINT64_C(1));
            }
            sort_records(records, count, scratch);
            check(count, sum);
        }
    }
}

static void test_key_of_doubles(void **state)
{
    (void)state;
    static const double ascending[] = {-INFINITY, -1e308, -2,  -1.5, -1e-300, -5e-324, 0,
                                       5e-324,    1e-300, 0.5, 1,    2,       1e308,   INFINITY};
    for (size_t i = 0; i < COUNT(ascending); i++) {
        for (size_t j = 0; j < COUNT(ascending); j++) {
            uint64_t a = sort_key_double(ascending[i]), b = sort_key_double(ascending[j]);
            assert_int_equal(a < b, i < j);
            assert_int_equal(~a<~b, i> j);
        }
    }
    assert_int_equal(sort_key_double(-0.0), sort_key_double(0.0));
}

static void test_random_doubles(void **state)
{
    (void)state;
    struct rng r = {2};
    for (int i = 0; i < 100000; i++) {
        double a = (rng_double(&r) - 0.5) * pow(10, (int)rng_below(&r, 40) - 20);
        double b = i % 3 ? (rng_double(&r) - 0.5) * pow(10, (int)rng_below(&r, 40) - 20) : nextafter(a, INFINITY);
        assert_int_equal(sort_key_double(a) < sort_key_double(b), a < b);
        assert_int_equal(sort_key_double(a) == sort_key_double(b), a == b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_sizes),
        cmocka_unit_test(test_key_of_doubles),
        cmocka_unit_test(test_random_doubles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
