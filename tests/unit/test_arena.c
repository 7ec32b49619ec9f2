/* Memory: an arena's memory is zeroed, aligned and separate, and is freed with the arena; arrays grow. */
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/rng.h"
#include "dies.h"

enum { PIECES = 2000, BLOCK = 64 * 1024 };

static size_t piece_size(struct rng *r, int i)
{
    if (i % 500 == 499) return 100000 + rng_below(r, 100000);
    return rng_below(r, i % 50 ? 200 : 20000);
}

static void fill_and_check(struct arena *a, struct rng *r)
{
    static struct {
        unsigned char *bytes;
        size_t size;
    } pieces[PIECES];
    for (int i = 0; i < PIECES; i++) {
        pieces[i].size = piece_size(r, i);
        pieces[i].bytes = arena_alloc(a, pieces[i].size);
        assert_int_equal((uintptr_t)pieces[i].bytes % 16, 0);
        for (size_t b = 0; b < pieces[i].size; b++) assert_true(pieces[i].bytes[b] == 0);
        memset(pieces[i].bytes, i % 255 + 1, pieces[i].size);
    }
    for (int i = 0; i < PIECES; i++) {
        for (size_t b = 0; b < pieces[i].size; b++) assert_true(pieces[i].bytes[b] == i % 255 + 1);
    }
}

static void test_arena(void **state)
{
    (void)state;
    struct rng r = {1};
    struct arena a = {0};
    for (int cycle = 0; cycle < 5; cycle++) {
        fill_and_check(&a, &r);
        arena_clear(&a);
        assert_true(a.bytes > 0 && a.bytes < 2 * BLOCK);
    }
    arena_release(&a);
    assert_int_equal(a.bytes, 0);
    fill_and_check(&a, &r);
    arena_release(&a);
    arena_release(&a);
    arena_clear(&a);
}

/* A large piece does not waste the rest of the current block, and arena_clear does not keep it. */
static void test_arena_large(void **state)
{
    (void)state;
    struct arena a = {0};
    memset(arena_alloc(&a, 10 * BLOCK), 1, 10 * BLOCK);
    for (int i = 0; i < 100; i++) {
        memset(arena_alloc(&a, 16), 1, 16);
        memset(arena_alloc(&a, BLOCK), 1, BLOCK);
    }
    assert_true(a.bytes < (10 + 100 + 3) * BLOCK);
    arena_clear(&a);
    assert_true(a.bytes < 2 * BLOCK);
    assert_true(*(char *)arena_alloc(&a, 1) == 0);
    arena_release(&a);
}

static void test_arena_copy(void **state)
{
    (void)state;
    struct arena a = {0};
    assert_string_equal(arena_copy(&a, (struct str){"abcdef", 3}), "abc");
    assert_string_equal(arena_copy(&a, (struct str){NULL, 0}), "");
    assert_memory_equal(arena_copy(&a, (struct str){"a\0b", 3}), "a\0b", 4);
    arena_release(&a);
}

static void test_resize(void **state)
{
    (void)state;
    unsigned char *memory = mem_resize(NULL, 0, 10);
    for (int i = 0; i < 10; i++) assert_int_equal(memory[i], 0);
    memset(memory, 7, 10);
    memory = mem_resize(memory, 10, 1000);
    for (int i = 0; i < 1000; i++) assert_int_equal(memory[i], i < 10 ? 7 : 0);
    memory = mem_resize(memory, 1000, 5);
    assert_int_equal(memory[4], 7);
    assert_null(mem_resize(memory, 5, 0));
    assert_null(mem_resize(NULL, 0, 0));
    mem_free(NULL);
}

struct item {
    uint32_t number, other;
};

static void test_array(void **state)
{
    (void)state;
    ARRAY(struct item) items = {0};
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 10000; i++) {
            struct item *item = array_add(&items);
            assert_true(item->number == 0 && item->other == 0); /* also after array_clear */
            *item = (struct item){i, round + 1};
            assert_int_equal(items.count, i + 1);
            assert_true(items.capacity >= items.count && (round > 0 || items.capacity <= 2 * items.count + 8));
        }
        for (uint32_t i = 0; i < 10000; i++)
            assert_true(items.items[i].number == i && items.items[i].other == round + 1);
        array_clear(&items);
        assert_int_equal(items.count, 0);
    }
    array_reserve(&items, 50000);
    assert_true(items.capacity >= 50000);
    for (uint32_t i = 0; i < 50000; i++) assert_int_equal(items.items[i].number, 0);
    array_release(&items);
    assert_null(items.items);
    assert_int_equal(items.capacity, 0);
}

static void absurd_size(void)
{
    struct arena a = {0};
    volatile size_t size = SIZE_MAX - 5;
    arena_alloc(&a, size);
}

static void too_many_items(void)
{
    ARRAY(struct item) items = {0};
    array_reserve(&items, NONE);
}

static void test_preconditions(void **state)
{
    (void)state;
    assert_true(dies(absurd_size));
    assert_true(dies(too_many_items));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arena),  cmocka_unit_test(test_arena_large), cmocka_unit_test(test_arena_copy),
        cmocka_unit_test(test_resize), cmocka_unit_test(test_array),       cmocka_unit_test(test_preconditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
