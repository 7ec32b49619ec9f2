/* Names of hosts as a short text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fields/host_list.h"
#include "fields/host_ranges.h"

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
    {"n n1 n2", "n,n[1-2]"},
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

static const struct list_row read_rows[] = {
    {"", ""},
    {"NONE", ""},
    {"n1 n2,@big", "n1 n2 @big"},
    {"n[1-3]", "n1 n2 n3"},
    {"login,n[001-003,7]-ib @big", "login n001-ib n002-ib n003-ib n7-ib @big"},
    {"n[1,3],m[1,3]", "n1 n3 m1 m3"},
    {"n[1-3],n2", "hosts: 'n2' occurs twice"},
    {"n[3-1]", "hosts: '3-1' ends before it begins"},
    {"n[1-3", "hosts: 'n[1-3' has a bracket without the other one"},
    {"n[1 2]", "hosts: '1 2' is not a range of numbers, such as 1-16 or 001-500"},
    {"@big[1-2]",
     "hosts: '@big1' is not a name of a host: up to 64 printable bytes without a blank or any of , [ ] = @"},
    {"n[1-9999],m[1-2]", "hosts: more than 10000 hosts in all"},
};

static void lists_with_ranges_are_read(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof read_rows / sizeof *read_rows; i++) {
        struct arena arena = {0};
        struct buf text = {0};
        struct name_list list;
        struct err e;
        int status = host_ranges_names(str(read_rows[i].names), "hosts", &arena, &list, &e);
        assert_int_equal(host_ranges_names_check(str(read_rows[i].names), "hosts", NULL), status);
        buf_add_text(&text, status == 0 ? "" : ERR_SENTENCE(&e));
        for (uint32_t k = 0; status == 0 && k < list.count; k++)
            buf_format(&text, "%s%.*s", k > 0 ? " " : "", (int)list.items[k].length, list.items[k].text);
        assert_string_equal(text.text, read_rows[i].text);
        buf_release(&text);
        arena_release(&arena);
    }
}

static void a_list_has_a_limit(void **unused)
{
    (void)unused;
    struct arena arena = {0};
    struct name_list list;
    assert_int_equal(host_ranges_names(str("n[1-10000]"), "hosts", &arena, &list, NULL), 0);
    assert_int_equal(list.count, HOST_RANGES_MAX);
    assert_int_equal(host_ranges_names(str("n[1-10001]"), "hosts", &arena, &list, NULL), -1);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_short),
        cmocka_unit_test(no_names_are_no_text),
        cmocka_unit_test(lists_with_ranges_are_read),
        cmocka_unit_test(a_list_has_a_limit),
    };
    return cmocka_run_group_tests_name("fields: lists of hosts", tests, NULL, NULL);
}
