/* Lists of hosts for people. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/hostlist.h"
#include "cli/tres_show.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

struct row {
    const char *given, *expected;
};

static void check(const struct row *rows, size_t count, void (*write)(const char *text, struct buf *out))
{
    for (size_t i = 0; i < count; i++) {
        struct buf out = {0};
        buf_add_text(&out, "");
        write(rows[i].given, &out);
        assert_string_equal(out.text, rows[i].expected);
        buf_release(&out);
    }
}

static void neighbours_become_ranges(void **unused)
{
    static const struct row rows[] = {
        {"", ""},
        {"localhost", "localhost"},
        {"n1", "n1"},
        {"n1,n2", "n[1-2]"},
        {"n1,n2,n3,n5", "n[1-3,5]"},
        {"n1,n3", "n[1,3]"},
        {"n1,n3,n4,n5,n9", "n[1,3-5,9]"},
        {"n8,n9,n10,n11", "n[8-11]"},
        {"n08,n09,n10", "n[08-10]"},
        {"n09,n100", "n09,n100"},
        {"n3,n2,n1", "n[3,2,1]"},
        {"n1,n1", "n[1,1]"},
        {"a1,b1,b2,login,a2", "a1,b[1-2],login,a2"},
        {"login,login2", "login,login2"},
        {"12,13", "[12-13]"},
        {"n1.site,n2.site", "n1.site,n2.site"},
        {"n99999999999999999999,n1", "n99999999999999999999,n1"},
    };
    (void)unused;
    check(rows, COUNT(rows), hostlist_write);
}

static void memory_has_a_unit(void **unused)
{
    static const struct row rows[] = {
        {"", ""},
        {"cpu=4", "cpu=4"},
        {"cpu=4,mem=16384,node=1", "cpu=4,mem=16G,node=1"},
        {"mem=500", "mem=500M"},
        {"mem=0", "mem=0"},
        {"mem=1.5,gres/gpu=2", "mem=1.5,gres/gpu=2"},
    };
    (void)unused;
    check(rows, COUNT(rows), tres_show);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_become_ranges),
        cmocka_unit_test(memory_has_a_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
