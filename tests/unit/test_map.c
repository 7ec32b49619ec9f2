/* The map against a plain array, by number and by text. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/rng.h"
#include "dies.h"

enum { KEYS = 500 };

static void test_numbers(void **state)
{
    (void)state;
    struct rng r = {1};
    struct map m = {0};
    uint32_t model[KEYS];
    memset(model, 0xff, sizeof model);
    uint32_t count = 0;
    for (int i = 0; i < 100000; i++) {
        uint32_t at = rng_below(&r, KEYS);
        uint64_t key = (uint64_t)at * at * 977; /* 0 is one of them */
        if (rng_below(&r, 10) < (i / 10000 % 2 ? 3 : 6)) {
            count += model[at] == NONE;
            map_set_u64(&m, key, model[at] = (uint32_t)i);
        } else {
            assert_int_equal(map_remove_u64(&m, key), model[at] != NONE);
            count -= model[at] != NONE;
            model[at] = NONE;
        }
        assert_int_equal(map_get_u64(&m, key), model[at]);
        assert_int_equal(m.count, count);
        assert_true(m.used_count >= m.count && m.used_count * UINT64_C(8) <= m.capacity * UINT64_C(7));
    }
    for (uint64_t at = 0; at < KEYS; at++) assert_int_equal(map_get_u64(&m, at * at * 977), model[at]);
    assert_true(m.capacity <= 2048); /* removed keys do not make the map grow */
    map_release(&m);
    assert_int_equal(map_get_u64(&m, 0), NONE);
}

static void test_text(void **state)
{
    (void)state;
    struct map m = {0};
    static char names[5000][24];
    for (uint32_t i = 0; i < COUNT(names); i++) {
        snprintf(names[i], sizeof names[i], "user%u-%.*s", i, (int)(i % 12), "aaaaaaaaaaaa");
        map_set(&m, str(names[i]), i);
    }
    assert_int_equal(m.count, COUNT(names));
    for (uint32_t i = 0; i < COUNT(names); i++) {
        char copy[24];
        strcpy(copy, names[i]);
        assert_int_equal(map_get(&m, str(copy)), i);
        assert_int_equal(map_get(&m, (struct str){names[i], strlen(names[i]) - 1}), NONE);
    }
    for (uint32_t i = 0; i < COUNT(names); i += 2) assert_true(map_remove(&m, str(names[i])));
    for (uint32_t i = 0; i < COUNT(names); i++) assert_int_equal(map_get(&m, str(names[i])), i % 2 ? i : NONE);
    map_clear(&m);
    assert_int_equal(m.count, 0);
    assert_int_equal(map_get(&m, str(names[1])), NONE);
    map_set(&m, str(names[1]), 7);
    assert_int_equal(map_get(&m, str(names[1])), 7);
    map_release(&m);
}

static void test_odd_keys(void **state)
{
    (void)state;
    static const struct str keys[] = {{"", 0},    {"\0", 1},       {"\0\0", 2},     {"a", 1},
                                      {"a\0", 2}, {"12345678", 8}, {"123456789", 9}};
    struct map m = {0};
    assert_int_equal(map_get(&m, keys[0]), NONE);
    assert_false(map_remove(&m, keys[0]));
    for (uint32_t i = 0; i < COUNT(keys); i++) map_set(&m, keys[i], i);
    for (uint32_t i = 0; i < COUNT(keys); i++) assert_int_equal(map_get(&m, keys[i]), i);
    assert_int_equal(map_get(&m, (struct str){NULL, 0}), 0);
    map_set(&m, (struct str){NULL, 0}, 9);
    assert_int_equal(map_get(&m, keys[0]), 9);
    assert_int_equal(m.count, COUNT(keys));
    map_release(&m);
}

/* A map that is filled and emptied again and again always keeps a free slot, which ends every search. */
static void test_churn(void **state)
{
    (void)state;
    struct map m = {0};
    for (uint64_t key = 0; key < 1000000; key++) {
        map_set_u64(&m, key, (uint32_t)key);
        if (key >= 10) assert_true(map_remove_u64(&m, key - 10));
        assert_int_equal(map_get_u64(&m, key + 1), NONE);
    }
    assert_int_equal(m.count, 10);
    assert_true(m.capacity <= 64);
    map_release(&m);
}

static void set_none(void)
{
    struct map m = {0};
    map_set_u64(&m, 1, NONE);
}

static void last_key(void)
{
    map_get_u64(&(struct map){0}, UINT64_MAX);
}

static void test_preconditions(void **state)
{
    (void)state;
    assert_true(dies(set_none));
    assert_true(dies(last_key));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_text),          cmocka_unit_test(test_odd_keys),
        cmocka_unit_test(test_churn),   cmocka_unit_test(test_preconditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
