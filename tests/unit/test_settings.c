#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fields/settings.h"

static struct arena arena;

/* Parses a value and formats it again; NULL with *e: refused. out_value: the parsed value. */
static const char *read_back(const char *name, const char *value, struct field_value *out_value, struct err *e)
{
    static char back[200];
    enum setting setting;
    struct buf text = {0};
    if (setting_read(str(name), str(value), &arena, &setting, out_value, e) != 0) return NULL;
    setting_format(setting, out_value, &text);
    text_format(back, sizeof back, "%s", text.length > 0 ? text.text : "");
    buf_release(&text);
    return back;
}

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
        {"PriorityDecayHalfLife", "60", 3600, "3600"},
        {"PriorityDecayHalfLife", "7-0", 604800, "604800"},
        {"prioritymaxage", "60", 3600, "60"},
        {"PriorityMaxAge", "0-00:02", 120, "2"},
        {"PriorityMaxAge", "00:00:90", 120, "2"}, /* whole minutes, rounded up, as in Slurm */
        {"PriorityMaxAge", "0:01", 60, "1"},
        {"PriorityMaxAge", "1-0:0:1", 86460, "1441"},
        {"PriorityDecayHalfLife", "5:30", 360, "360"},
        {"halflife_s", "5:30", 330, "330"},
        {"PriorityMaxAge", "unlimited", FIELD_SPECIAL, "UNLIMITED"},
        {"PriorityMaxAge", "Infinite", FIELD_SPECIAL, "UNLIMITED"},
        {"PriorityMaxAge", "-1", FIELD_SPECIAL, "UNLIMITED"},
        {"PriorityMaxAge", "0", 0, "0"},
        {"halftime", "24", 86400, "24"},
        {"ties", "merge", 0, "merge"},
        {"ties", "SLURM", 1, "slurm"},
        {"FairTreeTies", "slurm", 1, "slurm"},
        {"default_mem_mib", "4G", 4096, "4096"},
        {"default_mem_mib", "4096", 4096, "4096"},
        {"host_cpus", "auto", SETTING_AUTO, "auto"},
        {"host_cpus", "64", 64, "64"},
        {"host_gpus", "0", 0, "0"},
        {"PriorityFavorSmall", "YES", 1, "yes"},
        {"share_functional_shares", "true", 1, "yes"},
        {"PriorityType", "priority/tickets", 1, "priority/tickets"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e;
        struct field_value value;
        const char *back = read_back(rows[i].name, rows[i].value, &value, &e);
        assert_non_null(back);
        assert_int_equal(value.number, rows[i].expected);
        assert_string_equal(back, rows[i].back);
    }
}

static void reals_and_texts_are_read_and_written_back(void **unused)
{
    (void)unused;
    const char *const rows[][3] = {
        {"weight_ticket", "0.010000", "0.01"},
        {"weight_waiting_time", "-2.5e-3", "-0.0025"},
        {"PriorityFlags", "no_fair_tree,MAX_TRES", "no_fair_tree,MAX_TRES"},
        {"policy_hierarchy", "SOF", "SOF"},
        {"policy_hierarchy", "NONE", "NONE"},
        {"usage_weight_list", "cpu=1,mem=0.5", "cpu=1,mem=0.5"},
        {"usage_weight_list", "cpu=0.5,disk=0.5", "cpu=0.5,disk=0.5"},
        {"compensation_factor", "-2", "-2"},
        {"halflife_decay_list", "cpu=1440:mem=-1:io=0", "cpu=1440:mem=-1:io=0"},
        {"urgency_slots", "avg", "avg"},
        {"urgency_slots", "5", "5"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e;
        struct field_value value;
        assert_string_equal(read_back(rows[i][0], rows[i][1], &value, &e), rows[i][2]);
    }
}

static void bad_values_are_refused_by_name(void **unused)
{
    (void)unused;
    const struct {
        const char *name, *value;
    } rows[] = {
        {"halflife_s", "-1"},
        {"halflife_s", "1.5"},
        {"halflife_s", ""},
        {"halflife_s", "99999999999999"},
        {"halflife_s", "nan"},
        {"ties", "both"},
        {"default_cpus", "0"},
        {"default_cpus", "auto"},
        {"host_cpus", "0"},
        {"host_cpus", "-1"},
        {"host_mem_mib", "0"},
        {"host_gpus", "-1"},
        {"default_mem_mib", "-5"},
        {"default_mem_mib", "4.G"},
        {"default_time_s", "0"},
        {"grace_s", "1e3"},
        {"max_jobs", "-1"},
        {"max_array_tasks", "0x10"},
        {"halflife_s", "7-00:00:"},
        {"host_cpus", "99999999"},
        {"weight_ticket", "nan"},
        {"weight_ticket", "inf"},
        {"weight_user", "-1"},
        {"policy_hierarchy", "ofs"},
        {"policy_hierarchy", "OO"},
        {"policy_hierarchy", ""},
        {"policy_hierarchy", "OFSX"},
        {"PriorityFlags", "FAIRTREE"},
        {"usage_weight_list", "cpu"},
        {"usage_weight_list", "cpu=-1"},
        {"usage_weight_list", "=1"},
        {"usage_weight_list", "di sk=1"},
        {"usage_weight_list", "cpu=1,cpu=1"},
        {"usage_weight_list", "disk=1,cpu=1, disk =1"},
        {"halflife_decay_list", "cpu=-2"},
        {"halflife_decay_list", "cpu=1,mem=1"},
        {"halflife_decay_list", "io=1:cpu=1:io=1"},
        {"urgency_slots", "0"},
        {"max_pending_tasks_per_job", "0"},
        {"weight_tickets_share", "4294967296"},
        {"weight_tickets_share", "-1"},
        {"PriorityWeightAge", "1.5"},
        {"PriorityMaxAge", "-2"},
        {"PriorityDecayHalfLife", "-1"},
        {"host_cpus", "INFINITE"},
        {"halftime", "1-0"},
        {"PriorityType", "priority/other"},
        {"PriorityFavorSmall", "maybe"},
        {"FairShareDampeningFactor", "0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct field_value value = {12345, 0, NULL};
        struct err e;
        if (read_back(rows[i].name, rows[i].value, &value, &e) != NULL) fail_msg("%s=%s", rows[i].name, rows[i].value);
        assert_int_equal(e.code, ERR_INPUT);
        assert_non_null(strstr(ERR_SENTENCE(&e), rows[i].name));
        assert_int_equal(value.number, 12345);
    }
}

static void some_accepted_values_have_remarks(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *value, *remark;
    } rows[] = {
        {"compensation_factor", "-2",
         "compensation_factor: a negative value counts as a tiny positive one; how Grid Engine 8.1.9 computes with it is "
         "unknown"},
        {"compensation_factor", "0", ""},
        {"usage_weight_list", "cpu=0.5,disk=0.5",
         "usage_weight_list: a resource other than cpu, mem, io and finished_jobs has no usage; its weight counts in the sum"},
        {"usage_weight_list", "cpu=0.5,finished_jobs=1", ""},
        {"usage_weight_list", "none", ""},
        {"ties", "slurm", ""},
        {"halflife_s", "59", "halflife_s: usage is halved every 59 s; the unit is seconds"},
        {"PriorityDecayHalfLife", "1", ""},
        {"halflife_s", "0", ""},
        {"default_time_s", "30",
         "default_time_s: jobs that give no time limit are ended after 30 s; the unit is seconds"},
        {"default_time_s", "60", ""},
        {"history_keep_s", "90", "history_keep_s: what is older than 90 s is removed for good; the unit is seconds"},
        {"audit_keep_s", "1-0", ""},
        {"default_mem_mib", "1048576", "default_mem_mib: it is 1T; the unit of a number without a suffix is MiB"},
        {"default_mem_mib", "512G", ""},
        {"grace_s", "0", "grace_s: jobs that are ended get SIGKILL at once, and have no time to save anything"},
        {"weight_urgency", "-1", "weight_urgency: a negative weight turns the order round: more of it comes later"},
        {"AccountingStorageEnforce", "associations",
         "AccountingStorageEnforce: no limit of accounts, users and QOS is enforced; add limits to the list for that"},
        {"AccountingStorageEnforce", "safe", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf remark = {0};
        struct field_value value;
        enum setting setting;
        struct err e;
        assert_int_equal(setting_read(str(rows[i].name), str(rows[i].value), &arena, &setting, &value, &e), 0);
        setting_remark(setting, &value, &remark);
        assert_string_equal(remark.length > 0 ? remark.text : "", rows[i].remark);
        buf_release(&remark);
    }
}

static void every_default_is_accepted(void **unused)
{
    (void)unused;
    struct settings default_value = settings_defaults(), published = settings_upstream_defaults();
    for (int i = 0; i < SETTING_COUNT; i++) {
        const struct field_value *values[] = {&default_value.value[i], &published.value[i]};
        for (int k = 0; k < 2; k++) {
            struct buf text = {0};
            struct field_value value;
            struct err e;
            buf_add_text(&text, "");
            setting_format((enum setting)i, values[k], &text);
            assert_int_equal(field_parse(&settings_table[i], (struct str){text.text, text.length}, &arena, &value, &e),
                             0);
            assert_true(field_equal(&settings_table[i], &value, values[k]));
            buf_release(&text);
        }
    }
}

static void an_unknown_setting_is_named(void **unused)
{
    (void)unused;
    enum setting setting;
    const struct field *field;
    struct err e;
    assert_int_equal(setting_find(str("half_life"), &setting, &field, &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
    assert_non_null(strstr(ERR_SENTENCE(&e), "'half_life'"));
    assert_non_null(strstr(ERR_SENTENCE(&e), "no setting"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_read_and_written_back), cmocka_unit_test(reals_and_texts_are_read_and_written_back),
        cmocka_unit_test(bad_values_are_refused_by_name),   cmocka_unit_test(every_default_is_accepted),
        cmocka_unit_test(an_unknown_setting_is_named),      cmocka_unit_test(some_accepted_values_have_remarks),
    };
    int failed = cmocka_run_group_tests_name("settings", tests, NULL, NULL);
    arena_release(&arena);
    return failed;
}
