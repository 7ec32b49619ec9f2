#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policy/settings.h"

static void values_are_read_and_written_back(void **unused)
{
    (void)unused;
    const struct {
        const char *name, *value;
        int64_t expected;
        const char *back;
    } rows[] = {
        {"halflife_s", "0", 0, "0"},
        {"halflife_s", "604800", 604800, "604800"},
        {"halflife_s", "7-00:00:00", 604800, "604800"},
        {"halflife_s", "14-0", 1209600, "1209600"},
        {"ties", "merge", 0, "merge"},
        {"ties", "SLURM", 1, "slurm"},
        {"default_mem_mib", "4G", 4096, "4096"},
        {"default_mem_mib", "4096", 4096, "4096"},
        {"host_cpus", "auto", SETTING_AUTO, "auto"},
        {"host_cpus", "64", 64, "64"},
        {"host_gpus", "0", 0, "0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum setting setting;
        int64_t value;
        struct err e;
        struct buf back = {0};
        assert_int_equal(setting_find(str(rows[i].name), &setting, &e), 0);
        assert_int_equal(setting_parse(setting, str(rows[i].value), &value, &e), 0);
        assert_int_equal(value, rows[i].expected);
        setting_format(setting, value, &back);
        assert_string_equal(back.text, rows[i].back);
        buf_release(&back);
    }
}

static void bad_values_are_refused_by_name(void **unused)
{
    (void)unused;
    const struct {
        const char *name, *value;
    } rows[] = {
        {"halflife_s", "-1"},       {"halflife_s", "1.5"},
        {"halflife_s", ""},         {"halflife_s", "99999999999999"},
        {"halflife_s", "nan"},      {"ties", "both"},
        {"default_cpus", "0"},      {"default_cpus", "auto"},
        {"host_cpus", "0"},         {"host_cpus", "-1"},
        {"host_mem_mib", "0"},      {"host_gpus", "-1"},
        {"default_mem_mib", "-5"},  {"default_mem_mib", "4.5G"},
        {"default_time_s", "0"},    {"grace_s", "1e3"},
        {"max_jobs", "0"},          {"max_array_tasks", "0x10"},
        {"halflife_s", "7-00:00:"}, {"host_cpus", "99999999"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum setting setting;
        int64_t value = 12345;
        struct err e;
        assert_int_equal(setting_find(str(rows[i].name), &setting, &e), 0);
        assert_int_equal(setting_parse(setting, str(rows[i].value), &value, &e), -1);
        assert_int_equal(e.code, ERR_INPUT);
        assert_non_null(strstr(e.text, rows[i].name));
        assert_int_equal(value, 12345);
    }
}

static void every_default_is_a_value_it_accepts(void **unused)
{
    (void)unused;
    struct settings standard = settings_standard();
    for (int i = 0; i < SETTING_COUNT; i++) {
        struct buf text = {0};
        int64_t value;
        struct err e;
        setting_format((enum setting)i, standard.value[i], &text);
        assert_int_equal(setting_parse((enum setting)i, str(text.text), &value, &e), 0);
        assert_int_equal(value, standard.value[i]);
        buf_release(&text);
    }
}

static void an_unknown_setting_lists_those_there_are(void **unused)
{
    (void)unused;
    enum setting setting;
    struct err e;
    assert_int_equal(setting_find(str("half_life"), &setting, &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
    assert_non_null(strstr(e.text, "'half_life'"));
    assert_non_null(strstr(e.text, "halflife_s"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_read_and_written_back),
        cmocka_unit_test(bad_values_are_refused_by_name),
        cmocka_unit_test(every_default_is_a_value_it_accepts),
        cmocka_unit_test(an_unknown_setting_lists_those_there_are),
    };
    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
