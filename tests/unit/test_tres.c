/* Trackable resources: the table, and parsing and formatting of lists and weights. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policy/tres.h"

static struct arena arena;

static struct tres_table table_of(const char *tracked)
{
    struct tres_table t;
    struct err e = {0};
    if (tres_table_make(&t, str(tracked), "AccountingStorageTRES", &arena, &e) != 0)
        fail_msg("%s: %s", tracked, ERR_SENTENCE(&e));
    return t;
}

static void the_first_eight_always_exist(void **unused)
{
    (void)unused;
    static const char *const names[] = {"cpu", "mem", "energy", "node", "billing", "fs/disk", "vmem", "pages"};
    const char *const empty[] = {"", "  ", "cpu", "CPU,mem, FS/disk ,billing,cpu"};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        struct tres_table t = table_of(empty[i]);
        assert_int_equal(t.count, TRES_STATIC_COUNT);
        for (uint32_t k = 0; k < t.count; k++) {
            assert_string_equal(t.items[k].text, names[k]);
            assert_int_equal(t.items[k].id, k + 1);
            assert_int_equal(t.items[k].generic, NONE);
            assert_int_equal(tres_find(&t, str(names[k])), k);
        }
    }
}

/* docs/formulas.md 3.1. */
static void others_are_appended_in_order_of_appearance(void **unused)
{
    (void)unused;
    struct tres_table t = table_of("gres/gpu:tesla,license/matlab, GRES/gpu ,gres/gpu:tesla,bb/cray,ic/ofed,gres/a/b");
    static const struct {
        const char *text, *name;
        enum tres_type type;
        uint32_t generic;
    } rows[] = {
        {.text = "gres/gpu:tesla", .name = "gpu:tesla", .type = TRES_TYPE_GRES, .generic = 10},
        {.text = "license/matlab", .name = "matlab", .type = TRES_TYPE_LICENSE, .generic = NONE},
        {.text = "gres/gpu", .name = "gpu", .type = TRES_TYPE_GRES, .generic = NONE},
        {.text = "bb/cray", .name = "cray", .type = TRES_TYPE_BB, .generic = NONE},
        {.text = "ic/ofed", .name = "ofed", .type = TRES_TYPE_IC, .generic = NONE},
        {.text = "gres/a/b", .name = "a/b", .type = TRES_TYPE_GRES, .generic = NONE},
    };
    uint32_t count = sizeof rows / sizeof *rows;
    assert_int_equal(t.count, TRES_STATIC_COUNT + count);
    for (uint32_t i = 0; i < count; i++) {
        const struct tres *item = &t.items[TRES_STATIC_COUNT + i];
        assert_string_equal(item->text, rows[i].text);
        assert_string_equal(item->name, rows[i].name);
        assert_int_equal(item->type, rows[i].type);
        assert_int_equal(item->generic, rows[i].generic);
        assert_int_equal(item->id, TRES_FIRST_OWN_ID + i);
    }
}

static void a_typed_gres_without_its_generic_has_none(void **unused)
{
    (void)unused;
    struct tres_table t = table_of("gres/gpu:tesla,license/gpu,license/a:b,gres/a,license/a");
    for (uint32_t i = 0; i < t.count; i++) assert_int_equal(t.items[i].generic, NONE);
}

static void types_are_found_in_any_case_names_exactly(void **unused)
{
    (void)unused;
    struct tres_table t = table_of("gres/gpu,license/matlab");
    static const struct {
        const char *text;
        uint32_t index;
    } rows[] = {
        {"cpu", TRES_CPU},  {"CPU", TRES_CPU}, {"Mem", TRES_MEM}, {"FS/disk", TRES_FS_DISK}, {"GRES/gpu", 8},
        {"gres/GPU", NONE}, {"gres", NONE},    {"gres/", NONE},   {"gres/gpu:tesla", NONE},  {"License/matlab", 9},
        {"fs", NONE},       {"fs/Disk", NONE}, {"cpu/", NONE},    {"cpu/x", NONE},           {"", NONE},
        {"/", NONE},        {" cpu", NONE},    {"gpu", NONE},     {"license/gpu", NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (tres_find(&t, str(rows[i].text)) != rows[i].index) fail_msg("%s", rows[i].text);
}

static void bad_tables_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *tracked, *error;
    } rows[] = {
        {"gpu", "'gpu' is not a TRES: bb/NAME"},
        {"gres/gpu,", "'' is not a TRES: bb/NAME"},
        {"gres/gpu,,cpu", "'' is not a TRES: bb/NAME"},
        {"gres", "'gres' is not gres/NAME with a name"},
        {"gres/", "/NAME with a name of up to"},
        {"gres/:tesla", "/NAME with a name of up to"},
        {"gres/gpu:", "/NAME with a name of up to"},
        {"gres/a=b", "/NAME with a name of up to"},
        {"license/a b", "/NAME with a name of up to"},
        {"bb", "bb/NAME"},
        {"ic/", "ic/NAME"},
        {"fs", "fs/NAME"},
        {"cpu/x", "'cpu/x' has a name, which cpu does not take"},
        {"Node/", "has a name, which node does not take"},
        {"gres/a\x01", "/NAME with a name of up to"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tres_table t = {.count = 99};
        struct err e = {0};
        assert_int_equal(tres_table_make(&t, str(rows[i].tracked), "AccountingStorageTRES", &arena, &e), -1);
        assert_int_equal(t.count, 99);
        assert_int_equal(e.code, ERR_INPUT);
        assert_memory_equal(ERR_SENTENCE(&e), "AccountingStorageTRES: ", 23);
        if (strstr(ERR_SENTENCE(&e), rows[i].error) == NULL) fail_msg("%s: %s", rows[i].tracked, ERR_SENTENCE(&e));
    }
}

static void a_table_has_at_most_tres_max_rows(void **unused)
{
    (void)unused;
    struct buf text = {0};
    for (int i = 0; i < TRES_MAX - TRES_STATIC_COUNT; i++) buf_format(&text, "%sgres/g%d", i ? "," : "", i);
    struct tres_table t = table_of(text.text);
    assert_int_equal(t.count, TRES_MAX);
    assert_int_equal(t.items[TRES_MAX - 1].id, TRES_FIRST_OWN_ID + TRES_MAX - TRES_STATIC_COUNT - 1);
    buf_add_text(&text, ",gres/g7,cpu"); /* both are in the table already */
    assert_int_equal(table_of(text.text).count, TRES_MAX);
    buf_add_text(&text, ",gres/one");
    struct err e = {0};
    assert_int_equal(tres_table_make(&t, str(text.text), "x", &arena, &e), -1);
    assert_non_null(strstr(ERR_SENTENCE(&e), "'gres/one' exceeds the maximum of 64 TRES"));
    buf_release(&text);
}

/* Some rows are the examples of docs/formulas.md 3.2. */
static void lists_are_read_and_written(void **unused)
{
    (void)unused;
    struct tres_table t = table_of("gres/gpu,license/matlab,bb/cray,gres/gpu:tesla");
    static const struct {
        const char *text, *back;
    } rows[] = {
        {"", ""},
        {" ", ""},
        {"cpu=4", "cpu=4"},
        {"cpu=4,mem=8G,gres/gpu=1", "cpu=4,mem=8192,gres/gpu=1"},
        {" GRES/gpu = 1 , CPU = 4 ", "cpu=4,gres/gpu=1"},
        {"mem=4000M", "mem=4000"},
        {"mem=4000", "mem=4000"},
        {"mem=4K", "mem=4"},
        {"mem=1t", "mem=1048576"},
        {"mem=2P", "mem=2147483648"},
        {"bb/cray=3G", "bb/cray=3072"},
        {"bb/cray=3K", "bb/cray=3"},
        {"cpu=2K", "cpu=2048"},
        {"cpu=2k,vmem=1M,pages=1g", "cpu=2048,vmem=1048576,pages=1073741824"},
        {"license/matlab=1P", "license/matlab=1125899906842624"},
        {"mem=62.50G", "mem=64000"},
        {"mem=187.5G", "mem=192000"},
        {"mem=.5G", "mem=512"},
        {"mem=1.3G", "mem=1331"}, /* 1331.2 */
        {"cpu=1.9999K", "cpu=2047"},
        {"mem=0.0009G", ""},
        {"cpu=0,mem=1", "mem=1"},
        {"cpu=0", ""},
        {"cpu=007", "cpu=7"},
        {"cpu=9007199254740992", "cpu=9007199254740992"},
        {"cpu=8P", "cpu=9007199254740992"},
        {"billing=3,energy=12,node=2,fs/disk=5", "energy=12,node=2,billing=3,fs/disk=5"},
        {"gres/gpu:tesla=2", "gres/gpu:tesla=2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e = {0};
        struct tres_list list, again;
        struct buf back = {0};
        if (tres_list_parse(&t, str(rows[i].text), "TRES", &arena, &list, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
        buf_add_text(&back, "");
        tres_list_format(&t, &list, &back);
        assert_string_equal(back.text, rows[i].back);
        assert_int_equal(tres_list_parse(&t, str(back.text), "TRES", &arena, &again, &e), 0);
        assert_int_equal(again.count, list.count);
        if (list.count > 0) assert_memory_equal(again.items, list.items, list.count * sizeof *list.items);
        buf_release(&back);
    }
}

static void amounts_of_any_size_are_written(void **unused)
{
    (void)unused;
    struct tres_table t = table_of("");
    struct tres_amount items[] = {{TRES_CPU, 0.5}, {TRES_MEM, 1e18}, {TRES_NODE, 3}};
    struct tres_list list = {items, 3};
    struct buf back = {0};
    tres_list_format(&t, &list, &back);
    assert_string_equal(back.text, "cpu=0.5,mem=1e+18,node=3");
    buf_release(&back);
}

static void bad_lists_are_refused(void **unused)
{
    (void)unused;
    struct tres_table t = table_of("gres/gpu");
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"cpu", "'cpu' is not TRES=NUMBER"},
        {"gres/fpga", "'gres/fpga' is not TRES=NUMBER"},
        {"cpu=4,", "'' is not TRES=NUMBER"},
        {",cpu=4", "'' is not TRES=NUMBER"},
        {"gres/fpga=1", "'gres/fpga' is not a tracked TRES"},
        {"=4", "'' is not a tracked TRES"},
        {"cpu/x=4", "'cpu/x' is not a tracked TRES"},
        {"cpu=4,CPU=4", "'cpu' is named twice"},
        {"cpu=0,cpu=0", "'cpu' is named twice"},
        {"cpu=", "'cpu=' is not TRES=COUNT with a whole number from 0 to 2^53"},
        {"cpu=-1", "a whole number"},
        {"cpu=+1", "a whole number"},
        {"cpu=1e3", "a whole number"},
        {"cpu=1.5", "a whole number"},
        {"cpu=1.", "a whole number"},
        {"mem=1.5K", "a whole number"}, /* K has no effect for mem */
        {"mem=1.5M", "a whole number"},
        {"mem=1.5.5G", "a whole number"},
        {"cpu=inf", "a whole number"},
        {"cpu=nan", "a whole number"},
        {"cpu=0x10", "a whole number"},
        {"cpu=1KB", "a whole number"},
        {"cpu=1E", "a whole number"},
        {"cpu=K", "a whole number"},
        {"cpu=.K", "a whole number"},
        {"cpu=1=2", "a whole number"},
        {"cpu=1 2", "a whole number"},
        {"cpu=9007199254740994", "a whole number"},
        {"cpu=9P", "a whole number"},
        {"cpu=99999999999999999999999999999999999999999999999999999999999P", "a whole number"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tres_list list = {.count = 99};
        struct err e = {0};
        if (tres_list_parse(&t, str(rows[i].text), "job 7: TRES", &arena, &list, &e) != -1)
            fail_msg("%s", rows[i].text);
        assert_int_equal(list.count, 99);
        assert_int_equal(e.code, ERR_INPUT);
        assert_memory_equal(ERR_SENTENCE(&e), "job 7: TRES: '", 14);
        if (strstr(ERR_SENTENCE(&e), rows[i].error) == NULL) fail_msg("%s: %s", rows[i].text, ERR_SENTENCE(&e));
    }
}

static void typed_gres_count_for_their_generic(void **unused)
{
    (void)unused;
    struct tres_table t = table_of("gres/gpu,gres/gpu:tesla,gres/gpu:volta,gres/fpga:x,license/a,license/a:b");
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"", ""},
        {"cpu=1", "cpu=1"},
        {"gres/gpu:tesla=2", "gres/gpu=2,gres/gpu:tesla=2"},
        {"cpu=3,gres/gpu:tesla=2,gres/gpu:volta=1", "cpu=3,gres/gpu=3,gres/gpu:tesla=2,gres/gpu:volta=1"},
        {"gres/gpu=5,gres/gpu:tesla=2", "gres/gpu=5,gres/gpu:tesla=2"},
        {"gres/fpga:x=1", "gres/fpga:x=1"},
        {"license/a:b=1", "license/a:b=1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tres_list list;
        struct buf back = {0};
        assert_int_equal(tres_list_parse(&t, str(rows[i].text), "x", &arena, &list, NULL), 0);
        tres_list_add_generic(&t, &list);
        buf_add_text(&back, "");
        tres_list_format(&t, &list, &back);
        assert_string_equal(back.text, rows[i].expected);
        buf_release(&back);
    }
}

static void amounts_by_index(void **unused)
{
    (void)unused;
    struct tres_table t = table_of("gres/gpu");
    struct tres_list list;
    assert_int_equal(tres_list_parse(&t, str("cpu=4,gres/gpu=2"), "x", &arena, &list, NULL), 0);
    assert_true(tres_amount_of(&list, TRES_CPU) == 4.0);
    assert_true(tres_amount_of(&list, 8) == 2.0);
    assert_true(tres_amount_of(&list, TRES_MEM) == 0.0);
}

/* Some rows are the examples of docs/formulas.md 3.2. */
static void weights_are_read(void **unused)
{
    (void)unused;
    struct tres_table t = table_of("gres/gpu,bb/cray");
    static const struct {
        const char *text;
        uint32_t tres;
        double expected;
    } rows[] = {
        {"", TRES_CPU, 0.0},
        {"CPU=1.0,Mem=0.25G,GRES/gpu=2.0", TRES_CPU, 1.0},
        {"CPU=1.0,Mem=0.25G,GRES/gpu=2.0", TRES_MEM, 0.25 / 1024},
        {"CPU=1.0,Mem=0.25G,GRES/gpu=2.0", 8, 2.0},
        {"CPU=1.0,Mem=0.25G,GRES/gpu=2.0", TRES_NODE, 0.0},
        {"Mem=1K", TRES_MEM, 1.0},
        {"Mem=1m", TRES_MEM, 1.0},
        {"Mem=3P", TRES_MEM, 3.0 / 1073741824},
        {"CPU=1K", TRES_CPU, 1.0 / 1024},
        {"CPU=1p", TRES_CPU, 0x1p-50},
        {"bb/cray=5t", 9, 5.0 / 1048576},
        {"cpu=-2.5e-3", TRES_CPU, -2.5e-3},
        {"cpu=1e15", TRES_CPU, 1e15},
        {"cpu=1e3K", TRES_CPU, 1000.0 / 1024},
        {"cpu=+.5", TRES_CPU, 0.5},
        {" cpu = 7 , node = 1 ", TRES_CPU, 7.0},
        {"billing=5,cpu=1", TRES_BILLING, 0.0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e = {0};
        double weights[TRES_MAX];
        for (int k = 0; k < TRES_MAX; k++) weights[k] = 77.0;
        if (tres_weights_parse(&t, str(rows[i].text), "TRESBillingWeights", weights, &e) != 0)
            fail_msg("%s", ERR_SENTENCE(&e));
        assert_true(weights[rows[i].tres] == rows[i].expected);
        assert_true(weights[t.count] == 77.0); /* entries beyond the table are untouched */
    }
}

static void bad_weights_are_refused(void **unused)
{
    (void)unused;
    struct tres_table t = table_of("gres/gpu");
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"cpu", "'cpu' is not TRES=NUMBER"},
        {"cpu=1,", "'' is not TRES=NUMBER"},
        {"gres/fpga=1", "'gres/fpga' is not a tracked TRES (AccountingStorageTRES)"},
        {"gpu=1", "'gpu' is not a tracked TRES (AccountingStorageTRES); did you mean 'gres/gpu'?"},
        {"cpu=1,cpu=2", "'cpu' is named twice"},
        {"cpu=", "'cpu=' is not TRES=WEIGHT with a number from -1e15 to 1e15"},
        {"cpu=1X", "a number from"},
        {"cpu=1KK", "a number from"},
        {"cpu=1GB", "a number from"},
        {"cpu=inf", "a number from"},
        {"cpu=-infinity", "a number from"},
        {"cpu=nan", "a number from"},
        {"cpu=1e16", "a number from"},
        {"cpu=-1e16", "a number from"},
        {"cpu=1e999", "a number from"},
        {"billing=x", "a number from"},
        {"cpu=1=2", "a number from"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double weights[TRES_MAX] = {77.0};
        struct err e = {0};
        if (tres_weights_parse(&t, str(rows[i].text), "TRESBillingWeights", weights, &e) != -1)
            fail_msg("%s", rows[i].text);
        assert_true(weights[0] == 77.0);
        assert_int_equal(e.code, ERR_INPUT);
        assert_memory_equal(ERR_SENTENCE(&e), "TRESBillingWeights: '", 21);
        if (strstr(ERR_SENTENCE(&e), rows[i].error) == NULL) fail_msg("%s: %s", rows[i].text, ERR_SENTENCE(&e));
    }
}

static int release(void **unused)
{
    (void)unused;
    arena_release(&arena);
    return 0;
}

/* In order of index, whatever the order of the calls. */
static void amounts_are_set_in_order(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t tres;
        double amount;
        const char *after;
    } rows[] = {{TRES_MEM, 5, "mem=5"},
                {8, 2, "mem=5,gres/gpu=2"},
                {TRES_BILLING, 0, "mem=5,gres/gpu=2"},
                {TRES_BILLING, 3, "mem=5,billing=3,gres/gpu=2"},
                {TRES_CPU, 1, "cpu=1,mem=5,billing=3,gres/gpu=2"},
                {TRES_BILLING, 4, "cpu=1,mem=5,billing=4,gres/gpu=2"},
                {8, 0, "cpu=1,mem=5,billing=4"},
                {TRES_CPU, 0, "mem=5,billing=4"}};
    struct arena memory = {0};
    struct tres_table table;
    struct tres_amount items[8];
    struct tres_list list = {.items = items};
    struct buf text = {0};
    assert_int_equal(tres_table_make(&table, str("gres/gpu"), "x", &memory, NULL), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tres_list_set(&list, rows[i].tres, rows[i].amount);
        buf_clear(&text);
        tres_list_format(&table, &list, &text);
        assert_string_equal(text.text, rows[i].after);
    }
    buf_release(&text);
    arena_release(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts_are_set_in_order),
        cmocka_unit_test(the_first_eight_always_exist),
        cmocka_unit_test(others_are_appended_in_order_of_appearance),
        cmocka_unit_test(a_typed_gres_without_its_generic_has_none),
        cmocka_unit_test(types_are_found_in_any_case_names_exactly),
        cmocka_unit_test(bad_tables_are_refused),
        cmocka_unit_test(a_table_has_at_most_tres_max_rows),
        cmocka_unit_test(lists_are_read_and_written),
        cmocka_unit_test(amounts_of_any_size_are_written),
        cmocka_unit_test(bad_lists_are_refused),
        cmocka_unit_test(typed_gres_count_for_their_generic),
        cmocka_unit_test(amounts_by_index),
        cmocka_unit_test(weights_are_read),
        cmocka_unit_test(bad_weights_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
