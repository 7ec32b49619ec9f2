/* Numbers: whole numbers at their limits, and doubles exactly as strtod parses and printf prints them. */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/rng.h"
#include "dies.h"

static void test_parse_u64(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_good;
        uint64_t value;
    } rows[] = {
        {"0", true, 0},
        {"7", true, 7},
        {"007", true, 7},
        {"18446744073709551615", true, UINT64_MAX},
        {"0000000000000000000000000000001", true, 1},
        {"18446744073709551616", false, 0},
        {"18446744073709551620", false, 0},
        {"99999999999999999999999", false, 0},
        {"", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"+1", false, 0},
        {"-1", false, 0},
        {"1.0", false, 0},
        {"0x10", false, 0},
        {"1e3", false, 0},
        {"\xd9\xa1", false, 0}, /* an Arabic digit */
        {":", false, 0},
        {"/", false, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint64_t value = 12345;
        assert_int_equal(number_parse_u64(str(rows[i].text), &value), rows[i].is_good);
        assert_int_equal(value, rows[i].is_good ? rows[i].value : 12345);
    }
    uint64_t value = 5;
    assert_true(number_parse_u64((struct str){"123", 2}, &value) && value == 12);
    assert_false(number_parse_u64((struct str){NULL, 0}, &value));
    assert_false(number_parse_u64((struct str){"1\0", 2}, &value));
}

static void test_parse_i64(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_good;
        int64_t value;
    } rows[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"-1", true, -1},
        {"+1", true, 1},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"", false, 0},
        {"-", false, 0},
        {"--1", false, 0},
        {"- 1", false, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t value = 12345;
        assert_int_equal(number_parse_i64(str(rows[i].text), &value), rows[i].is_good);
        assert_int_equal(value, rows[i].is_good ? rows[i].value : 12345);
    }
}

static void test_format_u64(void **state)
{
    (void)state;
    char out[NUMBER_TEXT_SIZE], expected[40];
    for (int bit = 0; bit < 64; bit++) {
        for (int64_t near = -1; near <= 1; near++) {
            uint64_t value = (UINT64_C(1) << bit) + (uint64_t)near;
            int length = snprintf(expected, sizeof expected, "%ju", (uintmax_t)value);
            assert_int_equal(number_format_u64(out, value), length);
            assert_string_equal(out, expected);
        }
    }
    uint64_t power = 1;
    for (int digits = 1; digits <= 20; digits++, power *= 10) {
        assert_int_equal(number_format_u64(out, power), digits);
        assert_int_equal(number_format_u64(out, power - 1), digits == 1 ? 1 : digits - 1);
    }
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void test_parse_double(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {
        {"0", 0},
        {"-0", -0.0},
        {"1", 1},
        {"+1", 1},
        {"-2.5e-3", -2.5e-3},
        {".5", .5},
        {"5.", 5},
        {"00012.50", 12.5},
        {"1E5", 1e5},
        {"1e+05", 1e5},
        {"1e22", 1e22},
        {"1e23", 1e23},
        {"9007199254740993", 9007199254740992}, /* 2^53 + 1, a tie: to even */
        {"9007199254740993.00000000000000000001", 9007199254740994},
        {"4503599627370497.5", 4503599627370498}, /* a tie whose power of ten is not exact */
        {"1.7976931348623157e308", DBL_MAX},
        {"1.7976931348623158e308", DBL_MAX},
        {"2.2250738585072011e-308", 2.2250738585072011e-308}, /* nearly the largest subnormal */
        {"2.2250738585072012e-308", 2.2250738585072012e-308},
        {"5e-324", 5e-324},
        {"2.4703282292062328e-324", 5e-324},
        {"2.4703282292062327e-324", 0},
        {"1e-400", 0},
        {"0e999999999999999999999999", 0},
        {"0.000000000000000000000000000000000001e36", 1},
        {"inf", INFINITY},
        {"-Infinity", -INFINITY},
        {"+INF", INFINITY},
    };
    static const char *const bad[] = {
        "",         " ",
        "-",        "+",
        ".",        "-.",
        "e5",       "1e",
        "1e+",      "1 ",
        " 1",       "1,5",
        "1.2.3",    "--1",
        "+-1",      "1e5.5",
        "0x1p3",    "1f",
        "nan",      "NaN",
        "infi",     "infin",
        "in",       "1e309",
        "-1e309",   "1e99999999999999999999999",
        "1_0",      "1e5e5",
        "1..2",     ".e1",
        "\xc2\xb2", "1.7976931348623159e308",
    };
    for (size_t i = 0; i < COUNT(good); i++) {
        double value = 99;
        assert_true(number_parse_double(str(good[i].text), &value));
        assert_int_equal(bits_of(value), bits_of(good[i].value));
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        double value = 99;
        assert_false(number_parse_double(str(bad[i]), &value));
        assert_true(value == 99);
    }
}

/* Digits follow the end of the view and must not be read. */
static void test_parse_double_view(void **state)
{
    (void)state;
    double value;
    assert_true(number_parse_double((struct str){"1234567", 3}, &value) && value == 123);
    assert_true(number_parse_double((struct str){"1e55", 3}, &value) && value == 1e5);
    assert_false(number_parse_double((struct str){"1e5", 2}, &value));
    assert_false(number_parse_double((struct str){NULL, 0}, &value));
}

/* The number halfway between two doubles in full, and with one more digit than are kept. */
static void test_parse_long_double_text(void **state)
{
    (void)state;
    char text[2000];
    for (int i = 0; i < 60; i++) {
        double below = ldexp(0x1.fffffffffffffp0 - i * 0x1p-52, -1022);
        /* below plus half a unit in its last place has 54 bits, which a long double holds and prints exactly. */
        int length = snprintf(text, sizeof text, "%.1200Lf", (long double)below + 0x1p-1075L);
        double expected = strtod(text, NULL), value;
        assert_true(number_parse_double((struct str){text, (size_t)length}, &value));
        assert_int_equal(bits_of(value), bits_of(expected));
        text[length++] = '1';
        text[length] = '\0';
        expected = strtod(text, NULL);
        assert_true(number_parse_double((struct str){text, (size_t)length}, &value));
        assert_int_equal(bits_of(value), bits_of(expected));
        assert_true(value > below);
    }
    memset(text, '0', sizeof text);
    memcpy(text, "0.", 2);
    memcpy(text + 1990, "1e1989", 7);
    double value;
    assert_true(number_parse_double(str(text), &value) && value == 1);
    memset(text, '9', 1000);
    memcpy(text + 1000, "e-1000", 7);
    assert_true(number_parse_double(str(text), &value) && value == 1);
}

/* Random doubles: of every magnitude, and of kinds that people and programs use. */
static double random_double(struct rng *r, int kind)
{
    uint64_t bits = rng_u64(r);
    double value;
    switch (kind) {
    case 0: memcpy(&value, &bits, sizeof value); return isfinite(value) ? value : 1;
    case 1: return (double)(bits % 100000000) / 7;
    case 2: return (double)(bits % 1000000000) * 1e-6;
    case 3: return (double)(bits % 100000) / (double)(1 + rng_below(r, 100000));
    case 4: return ldexp((double)(bits >> 11), (int)rng_below(r, 80) - 70);
    case 5: return (double)(bits % 1000000) * ldexp(1, -(int)rng_below(r, 30)); /* many ties */
    case 6: return (double)(bits >> rng_below(r, 60));
    case 7: return (double)(bits % 1000) * pow(10, (int)rng_below(r, 600) - 300);
    default: return ldexp((double)(bits % 3 + 1), (int)rng_below(r, 2090) - 1074);
    }
}

enum { KINDS = 9 };

static void same_text(double value, int precision, char style)
{
    char ours[NUMBER_TEXT_SIZE], theirs[NUMBER_TEXT_SIZE];
    const char format[] = {'%', '.', '*', style, '\0'};
    int length = snprintf(theirs, sizeof theirs, format, precision, value);
    assert_int_equal(number_format_double(ours, value, precision, style), length);
    assert_string_equal(ours, theirs);
}

static void test_format_as_printf(void **state)
{
    (void)state;
    struct rng r = {1};
    char ours[NUMBER_TEXT_SIZE], theirs[NUMBER_TEXT_SIZE];
    for (int i = repeats(1500000); i > 0; i--) {
        double value = random_double(&r, i % KINDS);
        int length = snprintf(theirs, sizeof theirs, "%.17g", value);
        assert_int_equal(number_format_g17(ours, value), length);
        assert_string_equal(ours, theirs);
        same_text(value, (int)rng_below(&r, i % 64 ? 20 : 41), "feg"[rng_below(&r, 3)]);
        same_text(value, 6, 'f');
    }
}

/* Every precision on values that end in a 5 at that digit, or that are next to a power of ten. */
static void test_format_at_the_edges(void **state)
{
    (void)state;
    static const double values[] = {0.5,
                                    1.5,
                                    2.5,
                                    0.125,
                                    0.375,
                                    250000,
                                    350000,
                                    9.5,
                                    99.5,
                                    999.5,
                                    9.9999995,
                                    999999.5,
                                    9999995,
                                    1e15,
                                    1e16,
                                    1e17,
                                    1e18,
                                    1e22,
                                    1e23,
                                    1234567890123456.25,
                                    0x1p53,
                                    0x1p63,
                                    0x1p64,
                                    0x1p65,
                                    0x1.8p64,
                                    1844674407370955.1615,
                                    0.0001,
                                    0.00001,
                                    0.00009999999999,
                                    5e-324,
                                    DBL_MIN,
                                    DBL_MAX,
                                    0x1p-1074,
                                    0x1p-44};
    for (size_t i = 0; i < COUNT(values); i++) {
        for (int precision = 0; precision <= 40; precision++) {
            for (int near = -1; near <= 1; near++) {
                double value = near == 0 ? values[i] : nextafter(values[i], near * (double)INFINITY);
                if (!isfinite(value)) continue;
                same_text(value, precision, 'f');
                same_text(-value, precision, 'e');
                same_text(value, precision, 'g');
            }
        }
    }
}

static void test_format_special(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *g17, *shortest, *f;
    } rows[] = {
        {.value = 0, .g17 = "0", .shortest = "0", .f = "0.00"},
        {.value = -0.0, .g17 = "-0", .shortest = "-0", .f = "-0.00"},
        {.value = 1, .g17 = "1", .shortest = "1", .f = "1.00"},
        {.value = -1.5, .g17 = "-1.5", .shortest = "-1.5", .f = "-1.50"},
        {.value = INFINITY, .g17 = "inf", .shortest = "inf", .f = "inf"},
        {.value = -INFINITY, .g17 = "-inf", .shortest = "-inf", .f = "-inf"},
        {.value = NAN, .g17 = "nan", .shortest = "nan", .f = "nan"},
        {.value = 0.1, .g17 = "0.10000000000000001", .shortest = "0.1", .f = "0.10"},
        {.value = 1.0 / 3, .g17 = "0.33333333333333331", .shortest = "0.3333333333333333", .f = "0.33"},
        {.value = 1e21, .g17 = "1e+21", .shortest = "1e+21", .f = "1000000000000000000000.00"},
        {.value = 123456789012, .g17 = "123456789012", .shortest = "123456789012", .f = "123456789012.00"},
        {.value = 1e-7, .g17 = "9.9999999999999995e-08", .shortest = "1e-07", .f = "0.00"},
        {.value = 5e-324, .g17 = "4.9406564584124654e-324", .shortest = "5e-324", .f = "0.00"},
        /* doubles below it are closer together */
        {.value = 0x1p-44, .g17 = "5.6843418860808015e-14", .shortest = "5.684341886080802e-14", .f = "0.00"},
        {.value = 0x1p53, .g17 = "9007199254740992", .shortest = "9007199254740992", .f = "9007199254740992.00"},
        {.value = 5e-322, .g17 = "4.9900630229965901e-322", .shortest = "5e-322", .f = "0.00"},
    };
    char out[NUMBER_TEXT_SIZE];
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(number_format_g17(out, rows[i].value), strlen(rows[i].g17));
        assert_string_equal(out, rows[i].g17);
        assert_int_equal(number_format_shortest(out, rows[i].value), strlen(rows[i].shortest));
        assert_string_equal(out, rows[i].shortest);
        assert_int_equal(number_format_double(out, rows[i].value, 2, 'f'), strlen(rows[i].f));
        assert_string_equal(out, rows[i].f);
    }
}

static int significant_digits(const char *text)
{
    int count = 0, zeros = 0;
    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (count == 0 && *text == '0')) continue;
        count++;
        zeros = *text == '0' ? zeros + 1 : 0;
    }
    return count - zeros;
}

/* The text reads back, and fewer digits, rounded to nearest, do not. */
static void test_shortest(void **state)
{
    (void)state;
    struct rng r = {2};
    char out[NUMBER_TEXT_SIZE], shorter[NUMBER_TEXT_SIZE];
    for (int i = repeats(500000); i > 0; i--) {
        double value = random_double(&r, i % KINDS), back;
        size_t length = number_format_shortest(out, value);
        assert_int_equal(bits_of(strtod(out, NULL)), bits_of(value));
        assert_true(number_parse_double((struct str){out, length}, &back));
        assert_int_equal(bits_of(back), bits_of(value));
        int digits = significant_digits(out);
        if (digits < 2) continue;
        snprintf(shorter, sizeof shorter, "%.*e", digits - 2, value);
        assert_true(strtod(shorter, NULL) != value);
    }
}

static void test_parse_as_strtod(void **state)
{
    (void)state;
    struct rng r = {3};
    char text[NUMBER_TEXT_SIZE];
    for (int i = repeats(1500000); i > 0; i--) {
        int length;
        if (i % 2) {
            static const char styles[] = "feg";
            const char format[] = {'%', '.', '*', styles[rng_below(&r, 3)], '\0'};
            length = snprintf(text, sizeof text, format, (int)rng_below(&r, 25), random_double(&r, i % KINDS));
        } else {
            length = snprintf(text, sizeof text, "%juE%d", (uintmax_t)(rng_u64(&r) >> rng_below(&r, 64)),
                              (int)rng_below(&r, 700) - 360);
        }
        double expected = strtod(text, NULL), value = 0;
        bool is_good = number_parse_double((struct str){text, (size_t)length}, &value);
        assert_int_equal(is_good, isfinite(expected) != 0);
        if (is_good) assert_int_equal(bits_of(value), bits_of(expected));
    }
}

/* Sets a locale with another decimal point, which the test creates if the system has localedef. */
static bool enter_locale(const char *name, char *folder)
{
    char command[500];
    snprintf(command, sizeof command, "localedef -c -i %s -f UTF-8 %s/%s.UTF-8 >%s/log 2>&1", name, folder, name,
             folder);
    int status = system(command);
    (void)status;
    snprintf(command, sizeof command, "%s/%s.UTF-8", folder, name);
    setenv("LOCPATH", folder, 1);
    snprintf(command, sizeof command, "%s.UTF-8", name);
    return setlocale(LC_ALL, command) != NULL && localeconv()->decimal_point[0] != '.';
}

static void check_without_point(void)
{
    struct rng r = {4};
    char ours[NUMBER_TEXT_SIZE], text[NUMBER_TEXT_SIZE];
    double value;
    /* libc converts precisions above 17 and more than 19 digits. */
    number_format_double(ours, 1234.5, 30, 'f');
    assert_string_equal(ours, "1234.500000000000000000000000000000");
    number_format_double(ours, -1.5e300, 20, 'e');
    assert_string_equal(ours, "-1.50000000000000007876e+300");
    number_format_double(ours, 1e300, 0, 'f');
    assert_int_equal(strspn(ours, "0123456789"), 301);
    assert_true(number_parse_double(str("1.2345678901234567890123456789"), &value) && value == 1.2345678901234567890);
    assert_false(number_parse_double(str("1,5"), &value));
    for (int i = 0; i < 1000; i++) {
        double random = random_double(&r, i % KINDS);
        int precision = (int)rng_below(&r, 30);
        size_t length = number_format_double(text, random, precision, "eg"[i % 2]);
        assert_int_equal(strspn(text, "-+0123456789.e"), length);
        assert_true(number_parse_double((struct str){text, length}, &value));
        number_format_double(ours, value, precision, "eg"[i % 2]);
        if (precision <= 14) assert_string_equal(ours, text);
    }
}

static void test_independent_of_locale(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE", "ps_AF"}; /* a comma; a decimal point of two bytes */
    char folder[] = "/tmp/fairlead-locale-XXXXXX", command[100];
    int entered = 0;
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < COUNT(names); i++) {
        if (!enter_locale(names[i], folder)) continue;
        entered++;
        check_without_point();
        setlocale(LC_ALL, "C");
    }
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
    if (entered > 0) return;
    puts("# skip: no locale with another decimal point can be created (Debian package: locales)");
    skip();
}

static char unused_text[NUMBER_TEXT_SIZE];

static void precision_too_large(void)
{
    number_format_double(unused_text, 1, 41, 'f');
}

static void precision_negative(void)
{
    number_format_double(unused_text, 1, -1, 'f');
}

static void unknown_style(void)
{
    number_format_double(unused_text, 1, 2, 'a');
}

static void test_preconditions(void **state)
{
    (void)state;
    assert_true(dies(precision_too_large));
    assert_true(dies(precision_negative));
    assert_true(dies(unknown_style));
}

static void whole_numbers_have_exact_bounds(void **unused)
{
    static const double two_53 = 9007199254740992.0, two_63 = 9223372036854775808.0;
    (void)unused;
    assert_true(number_is_between(INT64_C(9007199254740992), 0, two_53));
    assert_false(number_is_between(INT64_C(9007199254740993), 0, two_53));
    assert_false(number_is_between(INT64_C(-9007199254740993), -two_53, two_53));
    assert_true(number_is_between(INT64_MAX, 0, two_63));
    assert_true(number_is_between(INT64_MIN, -two_63, two_63));
    assert_false(number_is_between(-1, 0, two_63));
}

static void doubles_hold_some_whole_numbers(void **unused)
{
    static const char *const held[] = {"0",
                                       "-7",
                                       "0.1",
                                       "9007199254740992",
                                       "9007199254740994",
                                       "-9007199254740992",
                                       "1e300",
                                       "9007199254740993.0",
                                       "inf",
                                       "18446744073709549568",
                                       "20000000000000010"}; /* the shortest text of 20000000000000008 */
    static const char *const others[] = {"9007199254740993", "+9007199254740993", "-9007199254740995",
                                         "18446744073709551615"};
    (void)unused;
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) assert_true(number_is_held(str(held[i])));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) assert_false(number_is_held(str(others[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_u64),
        cmocka_unit_test(test_parse_i64),
        cmocka_unit_test(test_format_u64),
        cmocka_unit_test(test_parse_double),
        cmocka_unit_test(test_parse_double_view),
        cmocka_unit_test(test_parse_long_double_text),
        cmocka_unit_test(test_format_as_printf),
        cmocka_unit_test(test_format_at_the_edges),
        cmocka_unit_test(test_format_special),
        cmocka_unit_test(test_shortest),
        cmocka_unit_test(test_parse_as_strtod),
        cmocka_unit_test(test_independent_of_locale),
        cmocka_unit_test(whole_numbers_have_exact_bounds),
        cmocka_unit_test(doubles_hold_some_whole_numbers),
        cmocka_unit_test(test_preconditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
