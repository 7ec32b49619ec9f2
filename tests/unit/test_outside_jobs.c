/* Use outside jobs: when a user is over the threshold, when one is warned, and the weights of slices in a folder. */
#include "dies.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/quantity.h"
#include "daemon/outside_jobs.h"
#include "exec/launcher/slice_weights.h"

/* --- who is over, and who is warned ------------------------------------------------------------------------------- */

static void test_when_a_user_is_warned(void **state)
{
    (void)state;
    /* The threshold is 1 CPU for 10 s, and none is warned twice in 100 s. */
    static const struct {
        int64_t at_s;
        double cpus;
        bool is_over, is_warned;
    } rows[] = {
        {1, 2, false, false},   {10, 2, false, false},   {11, 2, true, true},     {20, 2, true, false},
        {30, 0.5, true, false}, {40, 0.5, false, false}, {50, 2, false, false},   {60, 2, true, false}, /* lately */
        {110, 2, true, false},  {111, 2, true, true},    {112, 0, true, false},   {210, 0, false, false},
        {220, 2, false, false}, {230, 2, true, true},    {331, 0.5, true, false}, /* not while it uses less */
    };
    struct outside_rule rule = {
        .action = OUTSIDE_JOBS_WARN, .cpus = 1, .time_us = 10 * US_PER_S, .warn_us = 100 * US_PER_S};
    struct outside_jobs o = {0}, shown = {0};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct outside_use use = {.uid = 7, .name = "ann", .cpus = rows[i].cpus};
        uint32_t count = rows[i].cpus > 0;
        rule.action = OUTSIDE_JOBS_WARN;
        outside_jobs_update(&o, &rule, &use, count, rows[i].at_s * US_PER_S);
        assert_int_equal(outside_jobs_is_over(&o, 7), rows[i].is_over);
        assert_int_equal(o.users.count > 0 && o.users.items[0].wants_warning, rows[i].is_warned);
        rule.action = OUTSIDE_JOBS_SHOW;
        outside_jobs_update(&shown, &rule, &use, count, rows[i].at_s * US_PER_S);
        assert_int_equal(outside_jobs_is_over(&shown, 7), rows[i].is_over);
        assert_false(shown.users.count > 0 && shown.users.items[0].wants_warning);
    }
    outside_jobs_update(&o, &rule, NULL, 0, 1000 * US_PER_S);
    outside_jobs_update(&o, &rule, NULL, 0, 2000 * US_PER_S);
    assert_int_equal(o.users.count, 0);
    outside_jobs_release(&o);
    outside_jobs_release(&shown);
}

/* --- slices ------------------------------------------------------------------------------------------------------- */

static void test_lines_of_slices(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        uint32_t uid, weight; /* 0: it is no line of a slice */
    } rows[] = {
        {"slice all 100", SLICE_ALL, 100},
        {"slice 1000 10000", 1000, 10000},
        {"slice 4294967294 1", UINT32_MAX - 1, 1},
        {"slice 4294967295 1", 0, 0},
        {"slice all 0", 0, 0},
        {"slice all 10001", 0, 0},
        {"slice all 100 1", 0, 0},
        {"slice  100", 0, 0},
        {"slice ../x 100", 0, 0},
        {"slice 1000", 0, 0},
        {"12 34 1000 5 0 0", 0, 0},
        {"", 0, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct slice_weight slice = {0};
        struct buf text = {0};
        assert_int_equal(slice_weight_parse(str(rows[i].line), &slice), rows[i].weight != 0);
        if (rows[i].weight == 0) continue;
        assert_true(slice.uid == rows[i].uid && slice.weight == rows[i].weight);
        slice_weight_format(&slice, &text);
        assert_int_equal(text.length, strlen(rows[i].line) + 1);
        assert_memory_equal(text.text, rows[i].line, text.length - 1);
        buf_release(&text);
    }
}

static char folder[] = "/tmp/fairlead-slices-XXXXXX";

static void put(const char *slice, const char *weight)
{
    char path[256];
    text_format(path, sizeof path, "%s/%s", folder, slice);
    (void)mkdir(path, 0700);
    text_format(path, sizeof path, "%s/%s/cpu.weight", folder, slice);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(weight, file);
    fclose(file);
}

static void expect(const char *slice, const char *weight)
{
    char path[256], text[64] = "";
    text_format(path, sizeof path, "%s/%s/cpu.weight", folder, slice);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, weight);
}

static void remove_slice(const char *slice)
{
    char path[256];
    text_format(path, sizeof path, "%s/%s/cpu.weight", folder, slice);
    assert_int_equal(unlink(path), 0);
    text_format(path, sizeof path, "%s/%s", folder, slice);
    (void)rmdir(path);
}

static void change(struct slice_weights *w, const uint32_t *uids, uint32_t count)
{
    (void)slice_weights_add(w, uids, count);
    slice_weights_apply(w, uids, count);
    (void)slice_weights_remove_others(w, uids, count);
}

static void test_slices_get_back_what_they_had(void **state)
{
    (void)state;
    const uint32_t both[] = {1000, 1001};
    char unweighted[256];
    struct slice_weights w = {0};
    assert_non_null(mkdtemp(folder));
    slice_weights_find(&w, folder);
    assert_false(slice_weights_are_used(&w)); /* a machine without the controller */
    change(&w, both, 2);
    assert_int_equal(w.list.count, 0);
    put(".", "100\n");
    assert_true(slice_weights_are_used(&w));
    change(&w, both, 2); /* neither of them is logged in */
    expect(".", "100\n");
    text_format(unweighted, sizeof unweighted, "%s/user-1003.slice", folder);
    assert_int_equal(mkdir(unweighted, 0700), 0); /* logged in, and the controller is off below user.slice */
    change(&w, (const uint32_t[]){1003}, 1);
    expect(".", "100\n");
    put("user-1000.slice", "100\n");
    put("user-1001.slice", "50\n");
    put("user-1002.slice", "0\n"); /* cpu.idle */
    assert_true(slice_weights_add(&w, both, 1));
    expect(".", "100\n"); /* nothing before it is in the file */
    change(&w, both, 1);
    expect(".", "20\n");
    expect("user-1000.slice", "1\n");
    expect("user-1001.slice", "50\n");
    assert_false(slice_weights_add(&w, both, 1)); /* the same order again changes nothing */
    change(&w, both + 1, 1);                      /* the other one instead */
    expect(".", "20\n");
    expect("user-1000.slice", "100\n");
    expect("user-1001.slice", "1\n");
    put("user-1001.slice", "70\n"); /* by systemd */
    change(&w, both + 1, 1);
    expect("user-1001.slice", "1\n");
    put(".", "300\n"); /* by an administrator, and the order ends: it stays */
    change(&w, NULL, 0);
    expect(".", "300\n");
    expect("user-1001.slice", "70\n");
    assert_int_equal(w.list.count, 0);
    change(&w, (const uint32_t[]){1002}, 1); /* lower already, but it is logged in */
    expect("user-1002.slice", "0\n");
    expect(".", "20\n");
    remove_slice("user-1002.slice"); /* the last session ends */
    change(&w, (const uint32_t[]){1002}, 1);
    expect(".", "300\n");
    assert_int_equal(w.list.count, 0);
    slice_weights_release(&w);
    assert_int_equal(rmdir(unweighted), 0);
    remove_slice("user-1000.slice");
    remove_slice("user-1001.slice");
    remove_slice(".");
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_when_a_user_is_warned),
        cmocka_unit_test(test_lines_of_slices),
        cmocka_unit_test(test_slices_get_back_what_they_had),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
