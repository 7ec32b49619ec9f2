/* The formatter against snprintf, conversion by conversion, and the growing buffer. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "dies.h"

/* Compares both formatters on the same arguments, at full size and at every smaller size. */
#define SAME(...)                                                              \
    do {                                                                       \
        char ours[600], theirs[600];                                           \
        size_t length = (size_t)snprintf(theirs, sizeof theirs, __VA_ARGS__);  \
        assert_int_equal(text_format(ours, sizeof ours, __VA_ARGS__), length); \
        assert_memory_equal(ours, theirs, length + 1);                         \
        for (size_t size = 0; size <= length + 1 && size < 80; size++) {       \
            memset(ours, '!', sizeof ours);                                    \
            assert_int_equal(text_format(ours, size, __VA_ARGS__), length);    \
            if (size > 0) assert_memory_equal(ours, theirs, size - 1);         \
            if (size > 0) assert_int_equal(ours[size - 1], '\0');              \
            assert_int_equal(ours[size], '!');                                 \
        }                                                                      \
    } while (0)

static void test_plain(void **state)
{
    (void)state;
    SAME("%s", "");
    SAME("nothing to convert");
    SAME("100%% of %s", "it");
    SAME("%c%c", 'a', 'b');
    SAME("%5c|%-5c|", 'a', 'b');
}

static void test_strings(void **state)
{
    (void)state;
    static const char *const formats[] = {"%s", "%10s", "%-10s", "%2s", "%.2s", "%.0s", "%10.3s", "%-10.3s", "a%sb"};
    for (size_t i = 0; i < COUNT(formats); i++) {
        SAME(formats[i], "");
        SAME(formats[i], "abcd");
        SAME(formats[i], "a longer text, by far");
    }
    SAME("%.*s", 3, "abcdef");
    SAME("%.*s", -1, "abcdef");
    SAME("%*s|%-*s|%*s|", 8, "a", 8, "b", -8, "c");

    char out[8];
    const char *volatile nothing = NULL;
    assert_int_equal(text_format(out, sizeof out, "<%.*s>", 0, nothing), 2); /* an empty view */
    assert_string_equal(out, "<>");
    const char unclosed[3] = {'a', 'b', 'c'};
    assert_int_equal(text_format(out, sizeof out, "%.*s", 3, unclosed), 3);
}

static void test_integers(void **state)
{
    (void)state;
    static const char *const formats[] = {"%d",   "%i",    "%5d",  "%-5d|",  "%05d",    "%-05d|",
                                          "%.3d", "%8.3d", "%.0d", "%08.3d", "%-8.3d|", "%20d"};
    static const char *const unsigned_formats[] = {"%u", "%x", "%8x", "%-8x|", "%08x", "%.5x", "%.0u", "%012u"};
    static const int values[] = {0, 1, -1, 9, 10, 99, 100, -12345, 123456, INT32_MAX, INT32_MIN};
    for (size_t v = 0; v < COUNT(values); v++) {
        for (size_t f = 0; f < COUNT(formats); f++) SAME(formats[f], values[v]);
        for (size_t f = 0; f < COUNT(unsigned_formats); f++) SAME(unsigned_formats[f], (unsigned)values[v]);
        SAME("%hhd %hd %ld %lld", (signed char)values[v], (short)values[v], (long)values[v], (long long)values[v]);
        SAME("%hhu %hu %lu %llu", (unsigned char)values[v], (unsigned short)values[v], (unsigned long)values[v],
             (unsigned long long)values[v]);
        SAME("%zu %ju %td %jx", (size_t)values[v], (uintmax_t)values[v], (ptrdiff_t)values[v], (uintmax_t)values[v]);
        SAME("%*d|%-*d|%0*d|%.*d", 9, values[v], 9, values[v], 9, values[v], 4, values[v]);
    }
    SAME("%jd %jd %ju %zd", INTMAX_MIN, INTMAX_MAX, UINTMAX_MAX, (ssize_t)-5);
}

static void test_doubles(void **state)
{
    (void)state;
    static const char *const formats[] = {"%f",    "%.0f", "%.2f",  "%10.3f", "%-10.3f|", "%010.3f", "%.20f",
                                          "%e",    "%.3e", "%12e",  "%g",     "%.0g",     "%.17g",   "%12g",
                                          "%012g", "%lf",  "%.40g", "%15g",   "%-15g|"};
    static const double values[] = {0,   -0.0,  1,     -1,     0.5,      1.5,      2.5,    0.1,     -1234.5678,
                                    1e9, 1e-10, 1e300, 5e-324, 123456.5, 999999.5, 0.0001, 0.00001, 1.0 / 3};
    for (size_t v = 0; v < COUNT(values); v++) {
        for (size_t f = 0; f < COUNT(formats); f++) SAME(formats[f], values[v]);
    }
    for (size_t f = 0; f < COUNT(formats); f++) {
        SAME(formats[f], (double)INFINITY);
        SAME(formats[f], -(double)INFINITY);
        SAME(formats[f], (double)NAN);
    }
    SAME("%*.*f|%-*.*e|", 12, 3, 2.5, 14, 2, 2.5);
}

static void unknown_conversion(void)
{
    char out[40];
    int x;
    text_format(out, sizeof out, "%p", (void *)&x);
}

static void unknown_flag(void)
{
    char out[40];
    text_format(out, sizeof out, "%+d", 1);
}

static void cut_conversion(void)
{
    char out[40];
    const char *volatile format = "50%";
    text_format(out, sizeof out, format);
}

static void null_string(void)
{
    char out[40];
    const char *volatile nothing = NULL;
    text_format(out, sizeof out, "%s", nothing);
}

static void test_preconditions(void **state)
{
    (void)state;
    assert_true(dies(unknown_conversion));
    assert_true(dies(unknown_flag));
    assert_true(dies(cut_conversion));
    assert_true(dies(null_string));
}

static void test_buf(void **state)
{
    (void)state;
    struct buf b = {0};
    char expected[4000] = "";
    for (int i = 0; i < 100; i++) {
        buf_add_text(&b, "text ");
        buf_add_char(&b, '#');
        buf_add_u64(&b, (uint64_t)i * 1000);
        buf_add_str(&b, (struct str){" view, cut", 5});
        buf_add_str(&b, (struct str){NULL, 0});
        buf_add(&b, "\n", 1);
        buf_format(&b, "%d;", i);
        size_t used = strlen(expected);
        snprintf(expected + used, sizeof expected - used, "text #%d view\n%d;", i * 1000, i);
        assert_int_equal(b.length, strlen(expected));
        assert_string_equal(b.text, expected);
    }
    char *before = b.text;
    buf_clear(&b);
    assert_int_equal(b.length, 0);
    assert_string_equal(b.text, "");
    assert_ptr_equal(b.text, before);
    buf_release(&b);
    assert_null(b.text);
    assert_int_equal(b.capacity, 0);
    buf_release(&b);
}

static void test_buf_format_of_any_length(void **state)
{
    (void)state;
    for (int width = 0; width < 600; width += 7) {
        struct buf b = {0};
        buf_format(&b, "%*s", width, "x");
        assert_int_equal(b.length, width < 1 ? 1 : width);
        assert_int_equal(b.text[b.length - 1], 'x');
        assert_int_equal(b.text[b.length], '\0');
        buf_release(&b);
    }
}

static void test_buf_room(void **state)
{
    (void)state;
    struct buf b = {0};
    for (size_t bytes = 0; bytes < 300; bytes++) {
        memset(buf_room(&b, bytes), 'a', bytes);
        b.length += bytes;
        assert_int_equal(b.text[b.length], '\0');
    }
    for (size_t i = 0; i < b.length; i++) assert_int_equal(b.text[i], 'a');
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_doubles),
        cmocka_unit_test(test_preconditions),
        cmocka_unit_test(test_buf),
        cmocka_unit_test(test_buf_format_of_any_length),
        cmocka_unit_test(test_buf_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
