/* What a load sensor writes: reports, lines that are none, and limits. However it is cut, it is read alike. */
#include "dies.h"

#include <stdio.h>
#include <string.h>

#include "daemon/sensor_text.h"

#define BIT(fault) (UINT32_C(1) << (fault))

struct read {
    char values[2000]; /* "name=value;" of all reports, "." at the end of each */
    uint32_t faults;
};

static struct read read_in_pieces(const char *text, size_t length, size_t piece)
{
    struct sensor_reader r = {.host_name = "node7.example.org"};
    struct read out = {0};
    size_t used = 0;
    for (size_t at = 0; at < length; at += piece) {
        struct str bytes = {text + at, length - at < piece ? length - at : piece};
        while (bytes.length > 0 && !sensor_is_broken(&r)) {
            if (!sensor_reader_read(&r, &bytes)) continue;
            for (uint32_t i = 0; i < r.values.list.count; i++)
                used += (size_t)snprintf(out.values + used, sizeof out.values - used, "%s=%s;",
                                         r.values.list.items[i].name, r.values.list.items[i].value);
            used += (size_t)snprintf(out.values + used, sizeof out.values - used, ".");
            assert_true(used < sizeof out.values);
        }
    }
    out.faults = r.faults;
    sensor_reader_release(&r);
    return out;
}

static void reports(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *values;
        uint32_t faults;
    } rows[] = {
        {"begin\nlocalhost:a:1\nend\n", "a=1;.", 0},
        {"begin\nend\n", ".", 0},
        {"begin\r\nNODE7:a: 1 \r\n\nnode7.example.org:b:x:y\nglobal:c:5G\nend\r\n", "a=1;b=x:y;c=5G;.", 0},
        {"begin\nnode8:a:1\nlocalhost.x:a:1\nend\n", ".", 0},
        {"begin\nlocalhost:a:1\nbegin\nlocalhost:b:2\nend\nbegin\nlocalhost:c:3\nend\n", "b=2;.c=3;.", 0},
        {"hello\nbegin\nlocalhost:a:1\nend\n", "a=1;.", BIT(SENSOR_LINE_OUTSIDE)},
        {"begin\na:1\nlocalhost::1\n:a:1\nlocalhost:a:\nlocalhost:b:1\nend\n", "b=1;.", BIT(SENSOR_LINE_INVALID)},
        {"begin\nlocalhost:a:\x01\nlocalhost:\xff:1\nend\n", ".", BIT(SENSOR_LINE_INVALID)},
        {"end\n", "", BIT(SENSOR_LINE_OUTSIDE)},
        {"\n\n", "", 0},
        {"begin\nlocalhost:a:1\nend", "", 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t piece = 1; piece <= strlen(rows[i].text); piece++) {
            const struct read read = read_in_pieces(rows[i].text, strlen(rows[i].text), piece);
            assert_string_equal(read.values, rows[i].values);
            assert_int_equal(read.faults, rows[i].faults);
        }
    }
}

static void a_line_has_a_limit(void **unused)
{
    (void)unused;
    char text[SENSOR_LINE_MAX + 2];
    memset(text, 'x', sizeof text);
    text[SENSOR_LINE_MAX] = '\n';
    assert_int_equal(read_in_pieces(text, SENSOR_LINE_MAX + 1, 100).faults, BIT(SENSOR_LINE_OUTSIDE));
    text[SENSOR_LINE_MAX] = 'x';
    assert_int_equal(read_in_pieces(text, SENSOR_LINE_MAX + 1, 100).faults, BIT(SENSOR_LINE_TOO_LONG));
    assert_int_equal(read_in_pieces(text, SENSOR_LINE_MAX + 1, sizeof text).faults, BIT(SENSOR_LINE_TOO_LONG));
}

static void a_report_has_a_limit(void **unused)
{
    (void)unused;
    for (uint32_t count = SENSOR_VALUES_MAX; count <= SENSOR_VALUES_MAX + 1; count++) {
        struct sensor_reader r = {.host_name = "n"};
        struct buf text = {0};
        buf_add_text(&text, "begin\n");
        for (uint32_t i = 0; i < count; i++) buf_format(&text, "n:v%u:1\n", i);
        buf_add_text(&text, "end\n");
        struct str bytes = {text.text, text.length};
        assert_int_equal(sensor_reader_read(&r, &bytes), count == SENSOR_VALUES_MAX);
        assert_int_equal(sensor_is_broken(&r), count > SENSOR_VALUES_MAX);
        sensor_reader_clear(&r);
        assert_false(sensor_is_broken(&r));
        sensor_reader_release(&r);
        buf_release(&text);
    }
}

static void names_and_values_have_limits(void **unused)
{
    (void)unused;
    for (int longer = 0; longer < 2; longer++) {
        struct buf text = {0};
        struct sensor_reader r = {.host_name = "n"};
        char name[SENSOR_NAME_MAX + 2] = {0}, value[SENSOR_VALUE_MAX + 2] = {0};
        memset(name, 'n', SENSOR_NAME_MAX + (size_t)longer);
        memset(value, 'v', SENSOR_VALUE_MAX + (size_t)longer);
        buf_format(&text, "begin\nn:%s:1\nn:a:%s\nend\n", name, value);
        struct str bytes = {text.text, text.length};
        assert_true(sensor_reader_read(&r, &bytes));
        assert_int_equal(r.values.list.count, longer ? 0 : 2);
        assert_int_equal(r.faults, longer ? BIT(SENSOR_LINE_INVALID) : 0);
        sensor_reader_release(&r);
        buf_release(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports),
        cmocka_unit_test(a_line_has_a_limit),
        cmocka_unit_test(a_report_has_a_limit),
        cmocka_unit_test(names_and_values_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
