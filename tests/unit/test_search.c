/* Binary search, against a look at every row. */
#include "base/search.h"
#include "dies.h"

enum { ROWS_MAX = 9 };

struct row {
    uint64_t before;
    uint32_t key;
};

static void every_value_is_found_or_has_its_place(void **unused)
{
    (void)unused;
    struct row rows[ROWS_MAX];
    for (uint32_t count = 0; count <= ROWS_MAX; count++) {
        for (uint32_t i = 0; i < count; i++) rows[i] = (struct row){UINT64_MAX, 3 + 2 * (i / 2)}; /* each key twice */
        for (uint32_t value = 0; value < 3 + 2 * ROWS_MAX; value++) {
            uint32_t expected = 0;
            while (expected < count && rows[expected].key < value) expected++;
            assert_int_equal(search_from(&rows[0].key, sizeof *rows, count, value), expected);
        }
    }
    assert_int_equal(search_from(NULL, sizeof *rows, 0, 5), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_value_is_found_or_has_its_place)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
