#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/config.h"

static void lines_are_read_in_order(void **unused)
{
    (void)unused;
    struct config c = {0};
    struct err e;
    const char *text = "# ours\n\n halflife_s = 86400 # a day\r\nties=slurm\n  \nhost_cpus = auto";
    assert_int_equal(config_parse("f", str(text), &c, &e), 0);
    assert_int_equal(c.lines.count, 3);
    assert_int_equal(c.lines.items[0].setting, SET_HALFLIFE_S);
    assert_true(str_equal(c.lines.items[0].value, str("86400")));
    assert_int_equal(c.lines.items[2].setting, SET_HOST_CPUS);
    array_release(&c.lines);
    assert_int_equal(config_parse("f", str(""), &c, &e), 0);
    assert_int_equal(c.lines.count, 0);
}

static void errors_name_their_line(void **unused)
{
    (void)unused;
    const struct {
        const char *text, *begins;
    } rows[] = {
        {"halflife_s 5", "f:1:1: "},
        {"\n  colour = red", "f:2:3: no setting 'colour'"},
        {"ties = merge\nties = slurm", "f:2:1: setting 'ties' occurs twice; keep one"},
        {"grace_s =  soon", "f:1:12: grace_s: 'soon'"},
        {"grace_s =", "f:1:10: grace_s: ''"},
        {"= 5", "f:1:1: no setting ''"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct config c = {0};
        struct err e;
        assert_int_equal(config_parse("f", str(rows[i].text), &c, &e), -1);
        assert_int_equal(e.code, ERR_INPUT);
        if (strncmp(ERR_SENTENCE(&e), rows[i].begins, strlen(rows[i].begins)) != 0) fail_msg("%s", ERR_SENTENCE(&e));
        assert_null(c.lines.items);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_read_in_order),
        cmocka_unit_test(errors_name_their_line),
    };
    return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
