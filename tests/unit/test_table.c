/* Tables for people: widths by characters, sides, headings, and nothing that steers a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/table.h"

static const struct table_column columns[] = {{"Name", false}, {"Count", true}, {"Note", false}};

static void test_layout(void **state)
{
    (void)state;
    struct table t;
    struct output out = {.fd = -1};
    table_init(&t, columns, 3);
    table_add_text(&t, "\xc3\xa9t\xc3\xa9");
    table_add_u64(&t, 7);
    table_add_text(&t, "");
    table_add_text(&t, " inner");
    table_add_u64(&t, 1234567);
    table_add_text(&t, "a\tb\x1b[1m\xff\xc2\x9b");
    table_write(&t, true, &out);
    assert_string_equal(out.text.text, "Name      Count  Note\n"
                                       "\xc3\xa9t\xc3\xa9           7\n"
                                       " inner  1234567  a?b?[1m???\n");
    buf_clear(&out.text);
    out.has_styles = true;
    table_write(&t, true, &out);
    assert_memory_equal(out.text.text, "\033[1mName", 8);
    buf_clear(&out.text);
    table_write(&t, false, &out);
    assert_memory_equal(out.text.text, "\xc3\xa9t\xc3\xa9   ", 8);
    table_release(&t);
    output_release(&out);
}

static void test_empty(void **state)
{
    (void)state;
    struct table t;
    struct output out = {.fd = -1};
    table_init(&t, columns, 2);
    table_write(&t, true, &out);
    assert_string_equal(out.text.text, "Name  Count\n");
    table_release(&t);
    output_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_layout), cmocka_unit_test(test_empty)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
