/* String views, including those without an address. */
#include <string.h>

#include "base/rng.h"
#include "base/str.h"
#include "dies.h"

static const struct str nothing = {NULL, 0};

static void test_equal(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool is_equal, is_equal_nocase, starts;
        int order;
    } rows[] = {
        {.a = "", .b = "", .is_equal = true, .is_equal_nocase = true, .starts = true, .order = 0},
        {.a = "a", .b = "", .starts = true, .order = 1},
        {.a = "", .b = "a", .order = -1},
        {.a = "a", .b = "a", .is_equal = true, .is_equal_nocase = true, .starts = true, .order = 0},
        {.a = "a", .b = "A", .is_equal_nocase = true, .order = 1},
        {.a = "abc", .b = "ab", .starts = true, .order = 1},
        {.a = "ab", .b = "abc", .order = -1},
        {.a = "abc", .b = "abd", .order = -1},
        {.a = "AbC", .b = "aBc", .is_equal_nocase = true, .order = -1},
        {.a = "[", .b = "{", .order = -1}, /* the characters next to the letters, 32 apart */
        {.a = "@", .b = "`", .order = -1},
        {.a = "\xff", .b = "a", .order = 1}, /* bytes are not signed */
        {.a = "\xc3\x84", .b = "\xc3\xa4", .order = -1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct str a = str(rows[i].a), b = str(rows[i].b);
        assert_int_equal(str_equal(a, b), rows[i].is_equal);
        assert_int_equal(str_equal_nocase(a, b), rows[i].is_equal_nocase);
        assert_int_equal(str_starts(a, b), rows[i].starts);
        int order = str_compare(a, b);
        assert_int_equal((order > 0) - (order < 0), rows[i].order);
        order = str_compare(b, a);
        assert_int_equal((order > 0) - (order < 0), -rows[i].order);
    }
    assert_int_equal(str(NULL).length, 0);
    assert_true(str_equal(nothing, str("")) && str_equal_nocase(nothing, nothing) && str_starts(nothing, nothing));
    assert_int_equal(str_compare(nothing, str("")), 0);
    assert_true(str_compare(nothing, str("a")) < 0);
    assert_false(str_equal((struct str){"a\0b", 3}, (struct str){"a\0c", 3}));
}

static void test_trim(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"", ""},
        {"a", "a"},
        {" a", "a"},
        {"a ", "a"},
        {" \t\r\na b\n\r\t ", "a b"},
        {" \t ", ""},
        {"\va\v", "\va\v"},
        {"\xc2\xa0", "\xc2\xa0"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) assert_true(str_equal(str_trim(str(rows[i][0])), str(rows[i][1])));
    assert_true(str_equal(str_trim(nothing), nothing));
}

static void test_cut(void **state)
{
    (void)state;
    static const struct {
        const char *text, *parts[4];
    } rows[] = {
        {"", {""}},
        {"a", {"a"}},
        {"a,b", {"a", "b"}},
        {"a,", {"a", ""}},
        {",a", {"", "a"}},
        {",,", {"", "", ""}},
        {"ab,c,de", {"ab", "c", "de"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct str rest = str(rows[i].text);
        size_t p = 0;
        do {
            struct str part = str_cut(rest, ',', &rest);
            assert_non_null(rows[i].parts[p]);
            assert_true(str_equal(part, str(rows[i].parts[p])));
            p++;
        } while (rest.text != NULL);
        assert_null(rows[i].parts[p]);
    }
    struct str rest = str("x");
    assert_int_equal(str_cut(nothing, ',', &rest).length, 0);
    assert_null(rest.text);
    const char text[] = "abc";
    assert_int_equal(str_range(text + 1, text + 3).length, 2);
}

static void test_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t length;
    } rows[] = {
        {"", 0},
        {"a", 1},
        {"\x7f", 1},
        {"\x80", 0},
        {"\xbf", 0},
        {"\xc0\x80", 0},
        {"\xc1\xbf", 0},
        {"\xc2\x80", 2},
        {"\xdf\xbf", 2},
        {"\xdf", 0},
        {"\xdf\x7f", 0},
        {"\xdf\xc0", 0},
        {"\xe0\x9f\xbf", 0},
        {"\xe0\xa0\x80", 3},
        {"\xed\x9f\xbf", 3},
        {"\xed\xa0\x80", 0},
        {"\xed\xbf\xbf", 0},
        {"\xee\x80\x80", 3},
        {"\xef\xbf\xbf", 3},
        {"\xef\xbf", 0},
        {"\xf0\x8f\xbf\xbf", 0},
        {"\xf0\x90\x80\x80", 4},
        {"\xf4\x8f\xbf\xbf", 4},
        {"\xf4\x90\x80\x80", 0},
        {"\xf5\x80\x80\x80", 0},
        {"\xff", 0},
        {"\xc3\xa4\xc3", 2},
    };
    for (size_t i = 0; i < COUNT(rows); i++) assert_int_equal(str_utf8(str(rows[i].text)), rows[i].length);
    assert_int_equal(str_utf8((struct str){"\xc3\xa4", 1}), 0);
}

/* Every scalar value, encoded by RFC 3629, has the right length. Cut short it is not valid. */
static void test_utf8_every_character(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < 0x110000; c++) {
        if (c >= 0xd800 && c < 0xe000) continue;
        unsigned char bytes[4];
        size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        for (size_t i = length - 1; i > 0; i--) bytes[i] = (unsigned char)(0x80 | (c >> 6 * (length - 1 - i) & 0x3f));
        static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
        bytes[0] = (unsigned char)(marks[length] | c >> 6 * (length - 1));
        assert_int_equal(str_utf8((struct str){(char *)bytes, length}), length);
        assert_int_equal(str_utf8((struct str){(char *)bytes, length - 1}), 0);
        bool is_control = c < 0x20 || (c >= 0x7f && c < 0xa0);
        bool is_direction =
            c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
        bool has_no_width = c == 0x200b || (c >= 0x2060 && c <= 0x2064) || c == 0xfeff;
        bool is_refused = is_control || is_direction || has_no_width;
        assert_int_equal(str_is_printable((struct str){(char *)bytes, length}), !is_refused);
    }
}

static void test_printable(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_printable;
    } rows[] = {
        {"", true},
        {"abc", true},
        {"a b", true},
        {"a\tb", false},
        {"a\n", false},
        {"\x1b[31m", false},
        {"\x7f", false},
        {"\xc2\x80", false},
        {"\xc2\x9f", false},
        {"\xc2\xa0", true},
        {"\xc3\xa4", true},
        {"\xff", false},
        {"abc\xc3", false},
        {"\xf0\x9f\x9a\xa2", true},
        {"\xd8\x9c", false},      /* U+061C, Arabic letter mark */
        {"a\xe2\x80\x8d", true},  /* U+200D, zero-width joiner */
        {"a\xe2\x80\x8b", false}, /* U+200B, zero-width space */
        {"\xe2\x80\x8e", false},  /* U+200E */
        {"\xe2\x80\xa8", false},  /* U+2028 */
        {"x\xe2\x80\xae", false}, /* U+202E, right-to-left override */
        {"\xe2\x80\xaf", true},   /* U+202F */
        {"\xe2\x81\xa5", true},
        {"\xe2\x81\xa6", false},
        {"\xe2\x81\xa9", false},
        {"\xe2\x81\xaa", true},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(str_is_printable(str(rows[i].text)), rows[i].is_printable);
    assert_false(str_is_printable((struct str){"a\0b", 3}));
    assert_true(str_is_printable(nothing));
}

static const struct {
    const char *a, *b;
    uint32_t distance;
} words[] = {
    {"", "", 0},
    {"submit", "submit", 0},
    {"submit", "sumbit", 1},
    {"submit", "submt", 1},
    {"submit", "xsubmit", 1},
    {"queue", "quue", 1},
    {"queue", "share", 4},
    {"abc", "", 3},
    {"ca", "abc", 3}, /* a swap is not edited further */
};

static void test_distance(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(words); i++) {
        assert_int_equal(str_distance(str(words[i].a), str(words[i].b)), words[i].distance);
        assert_int_equal(str_distance(str(words[i].b), str(words[i].a)), words[i].distance);
    }
    char longest[300];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    assert_true(str_distance(str(longest), str("x")) >= 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_trim),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_utf8_every_character),
        cmocka_unit_test(test_printable),
        cmocka_unit_test(test_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
