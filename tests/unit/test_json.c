/* The JSON writer: exact texts, and round trips through jansson. */
#include <float.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/rng.h"
#include "dies.h"

static void test_structure(void **state)
{
    (void)state;
    struct buf b = {0};
    struct json j = {.out = &b};
    json_begin_object(&j);
    json_key(&j, "id");
    json_u64(&j, 5);
    json_key(&j, "empty");
    json_begin_object(&j);
    json_end(&j);
    json_key(&j, "list");
    json_begin_array(&j);
    json_i64(&j, -1);
    json_begin_array(&j);
    json_end(&j);
    json_begin_object(&j);
    json_key(&j, "a\"b");
    json_text(&j, "c");
    json_end(&j);
    json_bool(&j, true);
    json_bool(&j, false);
    json_write_null(&j);
    json_text(&j, NULL);
    json_end(&j);
    json_key(&j, "last");
    json_str(&j, (struct str){"abc", 2});
    json_end(&j);
    assert_string_equal(
        b.text, "{\"id\":5,\"empty\":{},\"list\":[-1,[],{\"a\\\"b\":\"c\"},true,false,null,null],\"last\":\"ab\"}");
    assert_int_equal(b.length, strlen(b.text));
    buf_release(&b);
}

/* One document after another: JSON lines. */
static void test_lines(void **state)
{
    (void)state;
    struct buf b = {0};
    struct json j = {.out = &b};
    for (uint64_t i = 0; i < 2; i++) {
        json_begin_array(&j);
        json_u64(&j, i);
        json_end(&j);
        buf_add_char(&b, '\n');
    }
    json_text(&j, "x");
    assert_string_equal(b.text, "[0]\n[1]\n\"x\"");
    buf_release(&b);
}

static void test_text(void **state)
{
    (void)state;
    static const struct {
        const char *text, *json;
    } rows[] = {
        {"", "\"\""},
        {"plain", "\"plain\""},
        {"\"\\/", "\"\\\"\\\\/\""},
        {"a\nb\tc\rd\be\ff", "\"a\\nb\\tc\\rd\\be\\ff\""},
        {"\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\""},
        {"\xc2\x80\xc2\x9b[31m\xc2\x9f\xc2\xa0", "\"\\u0080\\u009b[31m\\u009f\xc2\xa0\""},
        {"a\xe2\x80\xaez \xd8\x9c\xe2\x81\xa9\xe2\x80\xa8",
         "\"a\\u202ez \\u061c\\u2069\\u2028\""}, /* direction controls */
        {"z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x9a\xa2", "\"z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x9a\xa2\""},
        {"\xff", "\"\xef\xbf\xbd\""},
        {"a\xc3", "\"a\xef\xbf\xbd\""},
        {"\xc3(", "\"\xef\xbf\xbd(\""},
        {"\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\""},                 /* overlong */
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* a surrogate */
        {"\xf4\x90\x80\x80x", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx\""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct buf b = {0};
        json_text(&(struct json){.out = &b}, rows[i].text);
        assert_string_equal(b.text, rows[i].json);
        buf_release(&b);
    }
    struct buf b = {0};
    json_str(&(struct json){.out = &b}, (struct str){"a\0b", 3});
    assert_string_equal(b.text, "\"a\\u0000b\"");
    buf_clear(&b);
    json_str(&(struct json){.out = &b}, (struct str){NULL, 0});
    assert_string_equal(b.text, "\"\"");
    buf_release(&b);
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *json;
    } rows[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {0.1, "0.1"},
        {-2.5e-7, "-2.5e-07"},
        {1e300, "1e+300"},
        {1e6, "1000000"},
        {INFINITY, "\"inf\""},
        {-INFINITY, "\"-inf\""},
        {DBL_MAX, "1.7976931348623157e+308"},
    };
    struct buf b = {0};
    struct json j = {.out = &b};
    for (size_t i = 0; i < COUNT(rows); i++) {
        buf_clear(&b);
        json_double(&j, rows[i].value);
        assert_string_equal(b.text, rows[i].json);
        assert_int_equal(b.length, strlen(rows[i].json));
    }
    buf_clear(&b);
    json_begin_array(&j);
    json_u64(&j, UINT64_MAX);
    json_i64(&j, INT64_MIN);
    json_i64(&j, INT64_MAX);
    json_i64(&j, 0);
    json_end(&j);
    assert_string_equal(b.text, "[18446744073709551615,-9223372036854775808,9223372036854775807,0]");
    buf_release(&b);
}

/* Any bytes make a valid document. Valid text and doubles read back the same. */
static void test_read_back(void **state)
{
    (void)state;
    struct rng r = {1};
    struct buf b = {0};
    for (int i = repeats(100000); i > 0; i--) {
        char bytes[24];
        size_t length = rng_below(&r, sizeof bytes);
        for (size_t c = 0; c < length; c++) bytes[c] = (char)(i % 2 ? rng_below(&r, 256) : 1 + rng_below(&r, 127));
        double value = (double)(int64_t)rng_u64(&r) / (double)(1 + rng_below(&r, 1000000));

        buf_clear(&b);
        struct json j = {.out = &b};
        json_begin_array(&j);
        json_str(&j, (struct str){bytes, length});
        json_double(&j, value);
        json_end(&j);

        json_t *document = json_loadb(b.text, b.length, JSON_ALLOW_NUL, NULL);
        assert_non_null(document);
        json_t *text = json_array_get(document, 0);
        assert_true(json_is_string(text));
        if (i % 2 == 0) assert_int_equal(json_string_length(text), length);
        if (i % 2 == 0) assert_memory_equal(json_string_value(text), bytes, length);
        assert_true(json_number_value(json_array_get(document, 1)) == value);
        json_decref(document);
    }
    buf_release(&b);
}

static void test_depth(void **state)
{
    (void)state;
    struct buf b = {0};
    struct json j = {.out = &b};
    for (int i = 0; i < 32; i++) i % 2 ? json_begin_array(&j) : (json_begin_object(&j), json_key(&j, "k"));
    for (int i = 0; i < 32; i++) json_end(&j);
    json_t *document = json_loadb(b.text, b.length, 0, NULL);
    assert_non_null(document);
    json_decref(document);
    buf_release(&b);
}

static void too_deep(void)
{
    struct buf b = {0};
    struct json j = {.out = &b};
    for (int i = 0; i < 33; i++) json_begin_array(&j);
}

static void value_without_key(void)
{
    struct buf b = {0};
    struct json j = {.out = &b};
    json_begin_object(&j);
    json_u64(&j, 1);
}

static void key_in_array(void)
{
    struct buf b = {0};
    struct json j = {.out = &b};
    json_begin_array(&j);
    json_key(&j, "a");
}

static void key_without_value(void)
{
    struct buf b = {0};
    struct json j = {.out = &b};
    json_begin_object(&j);
    json_key(&j, "a");
    json_end(&j);
}

static void two_keys(void)
{
    struct buf b = {0};
    struct json j = {.out = &b};
    json_begin_object(&j);
    json_key(&j, "a");
    json_key(&j, "b");
}

static void one_end_too_many(void)
{
    struct buf b = {0};
    struct json j = {.out = &b};
    json_begin_array(&j);
    json_end(&j);
    json_end(&j);
}

static void not_a_number(void)
{
    struct buf b = {0};
    json_double(&(struct json){.out = &b}, NAN);
}

static void test_preconditions(void **state)
{
    (void)state;
    void (*const rows[])(void) = {too_deep, value_without_key, key_in_array, key_without_value,
                                  two_keys, one_end_too_many,  not_a_number};
    for (size_t i = 0; i < COUNT(rows); i++) assert_true(dies(rows[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_structure),     cmocka_unit_test(test_lines),     cmocka_unit_test(test_text),
        cmocka_unit_test(test_numbers),       cmocka_unit_test(test_read_back), cmocka_unit_test(test_depth),
        cmocka_unit_test(test_preconditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
