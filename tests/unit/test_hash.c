/* The hashes: fixed values, and every byte of the input matters. */
#include "base/hash.h"
#include "dies.h"

/* The database stores hashes of scripts, so these values must never change. */
static void test_fixed_values(void **state)
{
    (void)state;
    assert_int_equal(hash_u64(0), 0);
    assert_int_equal(hash_u64(UINT64_C(0x9e3779b97f4a7c15)),
                     UINT64_C(0xe220a8397b1dcdaf)); /* the first output of SplitMix64 */
}

static void test_every_byte_counts(void **state)
{
    (void)state;
    char text[] = "the quick brown fox";
    uint64_t all = hash_bytes(text, sizeof text - 1, 0);
    for (size_t length = 0; length < sizeof text - 1; length++) {
        assert_int_not_equal(hash_bytes(text, length, 0), all);
        text[length] ^= 1;
        assert_int_not_equal(hash_bytes(text, sizeof text - 1, 0), all);
        text[length] ^= 1;
    }
    assert_int_not_equal(hash_bytes(text, sizeof text - 1, 1), all);
    assert_int_equal(hash_bytes(text, sizeof text - 1, 0), all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed_values),
        cmocka_unit_test(test_every_byte_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
