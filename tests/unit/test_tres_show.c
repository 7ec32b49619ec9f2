/* Lists of TRES for people. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/tres_show.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

static void memory_has_a_unit(void **unused)
{
    static const struct {
        const char *given, *expected;
    } rows[] = {
        {"", ""},
        {"cpu=4", "cpu=4"},
        {"cpu=4,mem=16384,node=1", "cpu=4,mem=16G,node=1"},
        {"mem=500", "mem=500M"},
        {"mem=0", "mem=0"},
        {"mem=1.5,gres/gpu=2", "mem=1.5,gres/gpu=2"},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct buf out = {0};
        buf_add_text(&out, "");
        tres_show(rows[i].given, &out);
        assert_string_equal(out.text, rows[i].expected);
        buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_has_a_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
