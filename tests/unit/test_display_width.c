/* The width of texts on a terminal, and their longest prefixes that fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/display_width.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

#define E_ACUTE "\xc3\xa9"       /* one column */
#define COMBINING "e\xcc\x81"    /* e and a combining acute accent: one column in all */
#define WIDE "\xe4\xb8\xad"      /* a CJK character: two columns */
#define EMOJI "\xf0\x9f\x98\x80" /* two columns */
#define ELLIPSIS "\xe2\x80\xa6"  /* one column */

static void widths_are_in_columns(void **unused)
{
    static const struct {
        const char *text;
        uint32_t width;
    } rows[] = {
        {"", 0},
        {"abc", 3},
        {" a b ", 5},
        {E_ACUTE "t" E_ACUTE, 3},
        {COMBINING "t" COMBINING, 3},
        {WIDE, 2},
        {WIDE WIDE "a", 5},
        {EMOJI "x", 3},
        {ELLIPSIS, 1},
        {"\xff", 1},  /* not UTF-8: one column for each byte */
        {"a\xc3", 2}, /* an incomplete character */
        {"\xff\xfe" WIDE, 4},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (display_width(str(rows[i].text)) != rows[i].width)
            fail_msg("'%s' is %u wide, not %u", rows[i].text, display_width(str(rows[i].text)), rows[i].width);
    }
    assert_int_equal(display_width((struct str){NULL, 0}), 0);
    assert_int_equal(display_width((struct str){"abc" WIDE, 2}), 2); /* a view without a zero byte at its end */
}

static void beginnings_fit(void **unused)
{
    static const struct {
        const char *text;
        uint32_t width;
        const char *beginning;
    } rows[] = {
        {"abc", 0, ""},
        {"abc", 2, "ab"},
        {"abc", 3, "abc"},
        {"abc", 9, "abc"},
        {"", 5, ""},
        {E_ACUTE "t" E_ACUTE, 2, E_ACUTE "t"},
        {WIDE WIDE, 1, ""}, /* never half a character */
        {WIDE WIDE, 2, WIDE},
        {WIDE WIDE, 3, WIDE},
        {WIDE WIDE, 4, WIDE WIDE},
        {"a" WIDE, 2, "a"},
        {"a" EMOJI "b", 3, "a" EMOJI},
        {COMBINING "t", 1, COMBINING}, /* a letter keeps its accent */
        {COMBINING "t", 0, ""},
        {E_ACUTE, 0, ""},
        {"a\xff\xfe", 2, "a\xff"},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct str cut = display_width_cut(str(rows[i].text), rows[i].width);
        if (!str_equal(cut, str(rows[i].beginning)))
            fail_msg("'%s' at %u is '%.*s'", rows[i].text, rows[i].width, (int)cut.length, cut.text);
        assert_true(display_width(cut) <= rows[i].width);
    }
}

/* The mark is an ellipsis in a UTF-8 locale; the first variable that is set selects the locale. */
static void marks_are_of_the_locale(void **unused)
{
    static const struct {
        const char *lc_all, *lc_ctype, *lang, *mark;
    } rows[] = {
        {NULL, NULL, NULL, "+"},
        {"C.UTF-8", NULL, NULL, ELLIPSIS},
        {"en_US.utf8", NULL, NULL, ELLIPSIS},
        {NULL, NULL, "de_DE.UTF-8", ELLIPSIS},
        {NULL, "POSIX", "de_DE.UTF-8", "+"},
        {"C", "C.UTF-8", "C.UTF-8", "+"},
        {"", "C.UTF-8", "C", ELLIPSIS}, /* empty is not set */
        {"de_DE.ISO-8859-1", NULL, NULL, "+"},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
        const char *const values[] = {rows[i].lc_all, rows[i].lc_ctype, rows[i].lang};
        for (size_t k = 0; k < COUNT(names); k++) {
            if (values[k] != NULL)
                setenv(names[k], values[k], 1);
            else
                unsetenv(names[k]);
        }
        assert_string_equal(display_width_mark(), rows[i].mark);
        assert_int_equal(display_width(str(display_width_mark())), 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_are_in_columns),
        cmocka_unit_test(beginnings_fit),
        cmocka_unit_test(marks_are_of_the_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
