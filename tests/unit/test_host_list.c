/* Names of hosts as a short text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fields/host_list.h"

static const struct list_row {
    const char *names, *text; /* names: separated by blanks */
} rows[] = {
    {"n1", "n1"},
    {"n1 n2 n3", "n[1-3]"},
    {"n3 n1 n2 n7", "n[1-3,7]"},
    {"n1 n1", "n1"},
    {"n1 n2 n2 n3", "n[1-3]"},
    {"n9 n10 n11", "n[9-11]"},
    {"n08 n09 n10", "n[08-10]"},
    {"n1 n01", "n[1,01]"},
    {"n8 n09", "n[8,09]"},
    {"login n1 gpu1 n2", "login,n[1-2],gpu1"},
    {"n1.site n2.site n2.other", "n[1-2].site,n2.other"},
    {"localhost", "localhost"},
    {"123 124", "[123-124]"},
    {"n1234567890123 n1234567890124", "n1234[567890123-567890124]"},
};

static void lists_are_short(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str names[8], rest = str(rows[i].names);
        struct buf text = {0};
        uint32_t count = 0;
        while (rest.text != NULL) names[count++] = str_cut(rest, ' ', &rest);
        host_list_format(names, count, &text);
        assert_string_equal(text.text, rows[i].text);
        buf_release(&text);
    }
}

static void no_names_are_no_text(void **unused)
{
    (void)unused;
    struct buf text = {0};
    host_list_format(NULL, 0, &text);
    assert_int_equal(text.length, 0);
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_short),
        cmocka_unit_test(no_names_are_no_text),
    };
    return cmocka_run_group_tests_name("fields: lists of hosts", tests, NULL, NULL);
}
