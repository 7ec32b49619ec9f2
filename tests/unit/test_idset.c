/* Sets of numbers: parsing and formatting by tables, all else against an array of flags. */
#include <string.h>

#include "base/idset.h"
#include "base/rng.h"
#include "dies.h"

enum { MAX = 1000 };

/* The invariants of idset.c. */
static void check(const struct idset *s)
{
    for (uint32_t i = 0; i < s->ranges.count; i++) {
        struct idset_range range = s->ranges.items[i];
        assert_true(range.first <= range.last);
        if (i > 0) assert_true(range.first > s->ranges.items[i - 1].last + 1);
    }
}

static void assert_text(const struct idset *s, const char *expected)
{
    struct buf b = {0};
    buf_add_char(&b, '<');
    idset_format(s, &b);
    assert_string_equal(b.text + 1, expected);
    buf_release(&b);
}

static void test_parse(void **state)
{
    (void)state;
    static const struct {
        const char *text, *set;
        uint32_t count;
    } rows[] = {
        {"", "", 0},
        {"0", "0", 1},
        {"7", "7", 1},
        {"0-9", "0-9", 10},
        {"1000", "1000", 1},
        {"0-9,12,20-30:5", "0-9,12,20,25,30", 14},
        {"20-30:5,12,0-9", "0-9,12,20,25,30", 14},
        {"1,2,3", "1-3", 3},
        {"3,2,1", "1-3", 3},
        {"1-5,3-9", "1-9", 9},
        {"3-9,1-5", "1-9", 9},
        {"1-5,6-9", "1-9", 9},
        {"6-9,1-5", "1-9", 9},
        {"1-100,50", "1-100", 100},
        {"50,1-100", "1-100", 100},
        {"5,5,5", "5", 1},
        {"0-10:3", "0,3,6,9", 4},
        {"0-10:11", "0", 1},
        {"4-4:2", "4", 1},
        {"0-10:1", "0-10", 11},
        {"0-10:2,1-9:2", "0-10", 11},
        {"0-1000", "0-1000", 1001},
        {"007", "7", 1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct idset set;
        struct err e = {0};
        assert_int_equal(idset_parse(str(rows[i].text), MAX, "array", &set, &e), 0);
        check(&set);
        assert_text(&set, rows[i].set);
        assert_int_equal(idset_count(&set), rows[i].count);
        idset_release(&set);
    }
}

static void test_parse_errors(void **state)
{
    (void)state;
    static const char *const rows[] = {
        ",",    "1,",     ",1",      "1,,2", "-",   "-1",      "1-",         "1--2",       "9-0",
        "1001", "0-1001", "1-5:0",   "1-5:", "5:2", "1-5:2:3", "1-2-3",      "a",          "1 ",
        " 1",   "1, 2",   "+1",      "0x1",  "1.0", "1-5:-1",  "4294967296", "4294967295", "18446744073709551616",
        "1;2",  "1%2",    "0-5,9-8",
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct idset set = {.ranges = {.count = 77}};
        struct err e = {0};
        assert_int_equal(idset_parse(str(rows[i]), MAX, "array", &set, &e), -1);
        assert_int_equal(e.code, ERR_INPUT);
        assert_memory_equal(ERR_SENTENCE(&e), "array: '", 8);
        assert_int_equal(set.ranges.count, 77);
    }
}

static void test_parse_large(void **state)
{
    (void)state;
    struct idset set;
    struct err e = {0};
    assert_int_equal(idset_parse(str("0-4294967294"), NONE - 1, "ids", &set, &e), 0);
    assert_int_equal(idset_count(&set), UINT32_MAX);
    assert_int_equal(set.ranges.count, 1);
    assert_int_equal(idset_next(&set, NONE - 2), NONE - 1);
    assert_int_equal(idset_next(&set, NONE - 1), NONE);
    idset_release(&set);

    assert_int_equal(idset_parse(str("0-4294967294:2000,4294967294,5"), NONE - 1, "ids", &set, &e), 0);
    assert_int_equal(idset_count(&set), 2147484 + 2);
    idset_release(&set);

    assert_int_equal(idset_parse(str("0-4294967294:2"), NONE - 1, "ids", &set, &e), -1);
    assert_int_equal(idset_parse(str("0-4000000:2,0-4000000:2,0-4000000:2"), NONE - 1, "ids", &set, &e), -1);
    assert_string_equal(ERR_SENTENCE(&e), "ids: more than 4194304 separate numbers");
}

static void test_format_steps(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"", ""},
        {"7", "7"},
        {"0-9,12", "0-9,12"},
        {"1,3,5", "1,3,5"},
        {"1,3,5,7", "1-7:2"},
        {"1-9:2", "1-9:2"},
        {"1-9:2,12,20-50:10", "1-9:2,12,20-50:10"},
        {"0,2,4,6,9,12,15,18", "0-6:2,9-18:3"},
        {"0-3,5,7,9,11", "0-3,5-11:2"},
        {"5,7,9,11,13-20", "5-11:2,13-20"},
        {"1,3,6,9,12", "1,3-12:3"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct idset set;
        struct buf text = {0};
        assert_int_equal(idset_parse(str(rows[i][0]), MAX, "array", &set, NULL), 0);
        buf_add_char(&text, '<');
        idset_format_steps(&set, &text);
        assert_string_equal(text.text + 1, rows[i][1]);
        idset_release(&set);
        buf_release(&text);
    }
}

struct model {
    bool has[MAX + 1];
};

static void check_against(const struct idset *s, const struct model *m)
{
    check(s);
    uint32_t count = 0, next = idset_first(s);
    for (uint32_t id = 0; id <= MAX; id++) {
        assert_int_equal(idset_has(s, id), m->has[id]);
        if (!m->has[id]) continue;
        assert_int_equal(next, id);
        next = idset_next(s, id);
        count++;
    }
    assert_int_equal(next, NONE);
    assert_int_equal(idset_count(s), count);
    assert_false(idset_has(s, NONE));

    struct buf b = {0};
    struct idset back;
    idset_format(s, &b);
    assert_int_equal(idset_parse((struct str){b.text, b.length}, MAX, "set", &back, NULL), 0);
    assert_int_equal(back.ranges.count, s->ranges.count);
    if (back.ranges.count > 0) {
        assert_memory_equal(back.ranges.items, s->ranges.items, s->ranges.count * sizeof *s->ranges.items);
    }
    idset_release(&back);

    buf_clear(&b);
    idset_format_steps(s, &b);
    assert_int_equal(idset_parse((struct str){b.text, b.length}, MAX, "set", &back, NULL), 0);
    assert_true(idset_equal(&back, s));
    idset_release(&back);
    buf_release(&b);
}

/* Numbers, ranges and nothing, few and many. */
static void fill(struct rng *r, bool is_sparse, struct idset *s, struct model *m)
{
    for (uint32_t n = rng_below(r, is_sparse ? 20 : 2 * MAX); n > 0; n--) {
        uint32_t first = rng_below(r, MAX + 1), length = rng_below(r, is_sparse && n % 2 == 0 ? 300 : 1) + 1;
        for (uint32_t id = first; id < first + length && id <= MAX; id++) {
            idset_add(s, id);
            m->has[id] = true;
        }
    }
}

static void test_add_all(void **state)
{
    (void)state;
    struct rng r = {3};
    for (int round = 0; round < 500; round++) {
        struct model m = {{0}};
        struct idset sets[2] = {0};
        for (int i = 0; i < 2; i++) fill(&r, (round + i * (round / 2)) % 2 != 0, &sets[i], &m);
        idset_add_all(&sets[0], &sets[1]);
        check_against(&sets[0], &m);
        idset_add_all(&sets[0], &sets[0]);
        check_against(&sets[0], &m);
        idset_release(&sets[0]);
        idset_release(&sets[1]);
    }
}

static void test_remove_all(void **state)
{
    (void)state;
    struct rng r = {4};
    for (int round = 0; round < 500; round++) {
        struct model m = {{0}}, removed = {{0}};
        struct idset sets[2] = {0};
        fill(&r, round % 2 != 0, &sets[0], &m);
        fill(&r, round / 2 % 2 != 0, &sets[1], &removed);
        for (uint32_t id = 0; id <= MAX; id++) m.has[id] = m.has[id] && !removed.has[id];
        idset_remove_all(&sets[0], &sets[1]);
        check_against(&sets[0], &m);
        idset_remove_all(&sets[0], &sets[0]);
        assert_int_equal(idset_first(&sets[0]), NONE);
        idset_release(&sets[0]);
        idset_release(&sets[1]);
    }
}

/* Adds and removes in phases of mostly one or the other, close together and far apart. */
static void test_against_flags(void **state)
{
    (void)state;
    struct rng r = {1};
    struct model m = {{0}};
    struct idset s = {0};
    check_against(&s, &m);
    for (int i = 0; i < 20000; i++) {
        uint32_t id = rng_below(&r, i % 3 ? MAX + 1 : 40);
        if (rng_below(&r, 10) < (i / 2000 % 2 ? 3 : 7)) {
            idset_add(&s, id);
            m.has[id] = true;
        } else {
            assert_int_equal(idset_remove(&s, id), m.has[id]);
            m.has[id] = false;
        }
        if (i % 50 == 0) check_against(&s, &m);
    }
    check_against(&s, &m);

    struct idset copy = {0};
    idset_add(&copy, 5);
    idset_copy(&copy, &s);
    check_against(&copy, &m);
    idset_add(&copy, 3);
    idset_remove(&copy, 4);
    check_against(&s, &m);
    idset_copy(&s, &(struct idset){0});
    assert_int_equal(idset_count(&s), 0);
    idset_release(&copy);
    idset_release(&s);
    assert_int_equal(idset_first(&s), NONE);
}

static void test_next_from_anywhere(void **state)
{
    (void)state;
    struct idset s;
    assert_int_equal(idset_parse(str("5-7,10"), MAX, "set", &s, NULL), 0);
    static const uint32_t rows[][2] = {{0, 5},  {4, 5},     {5, 6},     {7, 10},     {8, 10},
                                       {9, 10}, {10, NONE}, {11, NONE}, {NONE, NONE}};
    for (size_t i = 0; i < COUNT(rows); i++) assert_int_equal(idset_next(&s, rows[i][0]), rows[i][1]);
    assert_int_equal(idset_first(&s), 5);
    idset_release(&s);
}

/* The tasks of an array that start in order: the set is one range to the end. */
static void test_taken_from_the_front(void **state)
{
    (void)state;
    struct idset s;
    assert_int_equal(idset_parse(str("0-99999"), 99999, "set", &s, NULL), 0);
    for (uint32_t id = 0; id < 100000; id++) {
        assert_int_equal(idset_first(&s), id);
        assert_int_equal(s.ranges.count, 1);
        assert_true(idset_remove(&s, id));
        assert_false(idset_remove(&s, id));
    }
    assert_int_equal(idset_first(&s), NONE);
    idset_release(&s);
}

static void add_none(void)
{
    struct idset s = {0};
    idset_add(&s, NONE);
}

static void parse_to_none(void)
{
    struct idset s;
    idset_parse(str("1"), NONE, "set", &s, NULL);
}

static void test_preconditions(void **state)
{
    (void)state;
    assert_true(dies(add_none));
    assert_true(dies(parse_to_none));
}

static void sets_are_equal_if_they_have_the_same_numbers(void **unused)
{
    (void)unused;
    struct idset a = {0}, b = {0};
    assert_true(idset_equal(&a, &b));
    for (uint32_t id = 0; id < 4; id++) idset_add(&a, id);
    assert_false(idset_equal(&a, &b));
    for (uint32_t id = 4; id > 0; id--) idset_add(&b, id - 1);
    assert_true(idset_equal(&a, &b));
    assert_true(idset_remove(&b, 2));
    assert_false(idset_equal(&a, &b));
    idset_release(&a);
    idset_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(sets_are_equal_if_they_have_the_same_numbers),
        cmocka_unit_test(test_parse_errors),
        cmocka_unit_test(test_parse_large),
        cmocka_unit_test(test_format_steps),
        cmocka_unit_test(test_add_all),
        cmocka_unit_test(test_remove_all),
        cmocka_unit_test(test_against_flags),
        cmocka_unit_test(test_next_from_anywhere),
        cmocka_unit_test(test_taken_from_the_front),
        cmocka_unit_test(test_preconditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
