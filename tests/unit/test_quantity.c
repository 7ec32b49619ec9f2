/* Durations, memory and times: parsing, errors and formatting. */
#include <string.h>
#include <time.h>

#include "base/quantity.h"
#include "base/rng.h"
#include "dies.h"

#define DAY 86400

struct duration_row {
    const char *text;
    int64_t duration_s; /* 0: an error */
};

static void test_duration_parse(void **state)
{
    (void)state;
    static const struct duration_row rows[] = {
        {"1", 60},
        {"90", 5400},
        {"0:01", 1},
        {"1:30", 90},
        {"90:00", 5400},
        {"0:90", 90},
        {"1:00:00", 3600},
        {"01:02:03", 3723},
        {"100:00:00", 360000},
        {"1-0", DAY},
        {"1-12", DAY + 43200},
        {"1-0:30", DAY + 1800},
        {"1-02:03:04", DAY + 7384},
        {"0-0:0:1", 1},
        {"3660-0", INT64_C(3660) * DAY},
        {"5270400", INT64_C(3660) * DAY},
        {"UNLIMITED", INT64_MAX},
        {"unlimited", INT64_MAX},
        {"Infinite", INT64_MAX},

        {"", 0},
        {"0", 0},
        {"0:00", 0},
        {"0-0", 0},
        {"00:00:00", 0},
        {"-1", 0},
        {"-5:00", 0},
        {"+5", 0},
        {"1.5", 0},
        {" 1", 0},
        {"1 ", 0},
        {"1:", 0},
        {":1", 0},
        {"1::1", 0},
        {"1:2:3:4", 0},
        {"1-", 0},
        {"1-1:2:3:4", 0},
        {"1-2-3", 0},
        {"1-:", 0},
        {"90m", 5400},
        {"1.5h", 5400},
        {"2H", 7200},
        {"2d", 2 * DAY},
        {"1week", 7 * DAY},
        {"1h30min", 5400},
        {"45s", 45},
        {"0.0003h", 1},
        {"1.25d", DAY + DAY / 4},
        {"0m", 0},
        {"0.4s", 0},
        {"1.h", 0},
        {".5h", 0},
        {"h", 0},
        {"1h30", 0},
        {"30m1h", 0},
        {"1h1h", 0},
        {"1 h", 0},
        {"-1h", 0},
        {"1x", 0},
        {"1hourss", 0},
        {"1.0000000001h", 0},
        {"1099511627776h", 0},
        {"11y", 0},
        {"-", 0},
        {"INF", 0},
        {"UNLIMITED ", 0},
        {"3660-0:0:1", 0},
        {"5270401", 0},
        {"18446744073709551616", 0},
        {"18446744073709551615", 0},
        {"9223372036854775807:9223372036854775807:9223372036854775807", 0},
        {"1099511627775-1099511627775:1099511627775:1099511627775", 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t duration_s = -7;
        struct err e = {0};
        int status = duration_parse(str(rows[i].text), "time limit", &duration_s, &e);
        assert_int_equal(status, rows[i].duration_s > 0 ? 0 : -1);
        assert_int_equal(duration_s, rows[i].duration_s > 0 ? rows[i].duration_s : -7);
        assert_int_equal(e.code, rows[i].duration_s > 0 ? ERR_NONE : ERR_INPUT);
        if (status != 0) assert_memory_equal(ERR_SENTENCE(&e), "time limit: '", 13);
        if (status != 0) assert_non_null(strstr(ERR_SENTENCE(&e), rows[i].text));
    }
    assert_int_equal(duration_parse((struct str){NULL, 0}, "time", &(int64_t){0}, NULL), -1);
}

/* Any length is read, also none and those that no time limit has; the words for no limit are not. */
static void test_duration_read(void **state)
{
    static const struct duration_row rows[] = {
        {"0:00", 0},
        {"0-0", 0},
        {"1:30", 90},
        {"3660-0:0:1", INT64_C(3660) * DAY + 1},
        {"0h", 0},
        {"1099511627775w", INT64_C(1099511627775) * 7 * DAY},
        {"1099511627775-1099511627775:1099511627775:1099511627775", INT64_C(1099511627775) * (DAY + 3600 + 60 + 1)},
    };
    static const char *const bad[] = {"", "-1", "1:x", "1-", "UNLIMITED", "1099511627776-0"};
    int64_t duration_s;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_true(duration_read(str(rows[i].text), &duration_s));
        assert_int_equal(duration_s, rows[i].duration_s);
    }
    for (size_t i = 0; i < COUNT(bad); i++) assert_false(duration_read(str(bad[i]), &duration_s));
}

static void test_duration_format(void **state)
{
    (void)state;
    static const struct {
        int64_t duration_s;
        const char *full, *brief;
    } rows[] = {
        {0, "00:00:00", "0:00"},
        {5, "00:00:05", "0:05"},
        {125, "00:02:05", "2:05"},
        {3599, "00:59:59", "59:59"},
        {3600, "01:00:00", "1:00:00"},
        {3723, "01:02:03", "1:02:03"},
        {DAY - 1, "23:59:59", "23:59:59"},
        {DAY, "1-00:00:00", "1-00:00:00"},
        {3 * DAY + 4 * 3600 + 306, "3-04:05:06", "3-04:05:06"},
        {INT64_C(3650) * DAY, "3650-00:00:00", "3650-00:00:00"},
        {INT64_MAX, "UNLIMITED", "UNLIMITED"},
        {INT64_MAX - 1, "106751991167300-15:30:06", "106751991167300-15:30:06"},
        {-5, "-00:00:05", "-0:05"},
        {INT64_MIN, "-106751991167300-15:30:08", "-106751991167300-15:30:08"},
    };
    char out[32];
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(duration_format(out, rows[i].duration_s), strlen(rows[i].full));
        assert_string_equal(out, rows[i].full);
        assert_int_equal(duration_format_short(out, rows[i].duration_s), strlen(rows[i].brief));
        assert_string_equal(out, rows[i].brief);
    }
}

static void test_duration_reads_what_it_wrote(void **state)
{
    (void)state;
    char out[32];
    for (int64_t duration_s = 1; duration_s <= INT64_C(3660) * DAY; duration_s += 1 + duration_s / 50) {
        int64_t back;
        size_t length = duration_format(out, duration_s);
        assert_int_equal(duration_parse((struct str){out, length}, "duration", &back, NULL), 0);
        assert_int_equal(back, duration_s);
        if (duration_s >= 3600) continue;
        length = duration_format_short(out, duration_s);
        assert_int_equal(duration_parse((struct str){out, length}, "duration", &back, NULL), 0);
        assert_int_equal(back, duration_s);
    }
}

static void test_memory_parse(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t mib; /* 0: an error */
    } rows[] = {
        {"1", 1},
        {"512", 512},
        {"512M", 512},
        {"512m", 512},
        {"512MB", 512},
        {"512MiB", 512},
        {"512mib", 512},
        {"4G", 4096},
        {"4gb", 4096},
        {"4GiB", 4096},
        {"2T", UINT64_C(2) << 20},
        {"1K", 1},
        {"1024K", 1},
        {"1025K", 2},
        {"2048kb", 2},
        {"1099511627776", UINT64_C(1) << 40},
        {"1073741824G", UINT64_C(1) << 40},
        {"1048576T", UINT64_C(1) << 40},
        {"1125899906842624K", UINT64_C(1) << 40},

        {"", 0},
        {"0", 0},
        {"0G", 0},
        {"G", 0},
        {"1.5G", 1536},
        {"0.5", 1},
        {"1.25T", 1310720},
        {"1024.5K", 2},
        {".5G", 0},
        {"1.G", 0},
        {"0.0G", 0},
        {"1.5.5G", 0},
        {"1e3.5G", 0},
        {"1048576.5T", 0},
        {"-1", 0},
        {"+1", 0},
        {"4 G", 0},
        {" 4G", 0},
        {"4g ", 0},
        {"4P", 0},
        {"4B", 0},
        {"4iB", 0},
        {"4Gi", 0},
        {"4GBB", 0},
        {"4MG", 0},
        {"1e3", 0},
        {"1099511627777", 0},
        {"1073741825G", 0},
        {"1048577T", 0},
        {"1125899906842625K", 0},
        {"18446744073709551615K", 0},
        {"18446744073709551615T", 0},
        {"18446744073709551616", 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint64_t mib = 77;
        struct err e = {0};
        int status = memory_parse(str(rows[i].text), "--mem", &mib, &e);
        assert_int_equal(status, rows[i].mib > 0 ? 0 : -1);
        assert_int_equal(mib, rows[i].mib > 0 ? rows[i].mib : 77);
        assert_int_equal(e.code, rows[i].mib > 0 ? ERR_NONE : ERR_INPUT);
        if (status != 0) assert_memory_equal(ERR_SENTENCE(&e), "--mem: '", 8);
    }
}

static void test_memory_format(void **state)
{
    (void)state;
    static const struct {
        uint64_t mib;
        const char *text;
    } rows[] = {
        {0, "0M"},
        {1, "1M"},
        {512, "512M"},
        {1023, "1023M"},
        {1024, "1G"},
        {1025, "1025M"},
        {1536, "1536M"},
        {1280, "1280M"},
        {4096, "4G"},
        {UINT64_C(1) << 20, "1T"},
        {(UINT64_C(1) << 20) + 1024, "1025G"},
        {UINT64_C(3) << 19, "1536G"},
        {(UINT64_C(1) << 20) + 1, "1048577M"},
        {UINT64_C(1) << 40, "1048576T"},
        {UINT64_MAX, "18446744073709551615M"},
    };
    char out[32];
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(memory_format(out, rows[i].mib), strlen(rows[i].text));
        assert_string_equal(out, rows[i].text);
    }
}

#define TIME_US(seconds) (INT64_C(seconds) * US_PER_S)

static void test_time_parse(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_good;
        int64_t time_us;
    } rows[] = {
        {"0", true, 0},
        {"1795251900", true, TIME_US(1795251900)},
        {"253402300799", true, TIME_US(253402300799)},
        {"1970-01-01T00:00:00Z", true, 0},
        {"1970-01-01T00:00Z", true, 0},
        {"1970-01-01T01:00+01:00", true, 0},
        {"1969-12-31T19:00:00-05:00", true, 0},
        {"1969-12-31T23:59:59Z", true, TIME_US(-1)},
        {"2026-11-21T09:05:00Z", true, TIME_US(1795251900)},
        {"2026-11-21T10:05+01:00", true, TIME_US(1795251900)},
        {"2026-11-21T14:50:00+05:45", true, TIME_US(1795251900)},
        {"2000-02-29T00:00Z", true, TIME_US(951782400)},
        {"2024-02-29T12:00Z", true, TIME_US(1709208000)},
        {"2026-11-21T09:05:00.5Z", true, TIME_US(1795251900) + 500000},
        {"2026-11-21T09:05:00.123456789Z", true, TIME_US(1795251900) + 123456},
        {"1969-12-31T23:59:59.250Z", true, -750000},
        {"0001-01-01T00:00:00Z", true, TIME_US(-62135596800)},
        {"9999-12-31T23:59:59Z", true, TIME_US(253402300799)},

        {"", false, 0},
        {"-1", false, 0},
        {"1.5", false, 0},
        {"253402300800", false, 0},
        {"18446744073709551616", false, 0},
        {"now", false, 0},
        {"2026-11-21", false, 0},
        {"2026-11-21T09:05:00", false, 0}, /* no zone */
        {"2026-11-21 09:05:00Z", false, 0},
        {"2026-11-21T09Z", false, 0},
        {"2026-11-21T24:00Z", false, 0},
        {"2026-11-21T09:60Z", false, 0},
        {"2026-11-21T09:05:60Z", false, 0},
        {"2026-11-21T09:05:Z", false, 0},
        {"2026-11-21T09:05:00.Z", false, 0},
        {"2026-11-21T09:05.5Z", false, 0},
        {"2026-11-21T09:05:00z", false, 0},
        {"2026-11-21T09:05:00ZZ", false, 0},
        {"2026-11-21T09:05:00+0100", false, 0},
        {"2026-11-21T09:05:00+01", false, 0},
        {"2026-11-21T09:05:00+24:00", false, 0},
        {"2026-11-21T09:05:00 +01:00", false, 0},
        {"2026-1-21T09:05Z", false, 0},
        {"26-11-21T09:05Z", false, 0},
        {"+2026-11-21T09:05Z", false, 0},
        {"2026-00-21T09:05Z", false, 0},
        {"2026-13-21T09:05Z", false, 0},
        {"2026-11-00T09:05Z", false, 0},
        {"2026-11-31T09:05Z", false, 0},
        {"2026-02-29T09:05Z", false, 0},
        {"1900-02-29T09:05Z", false, 0},
        {"2024-02-30T09:05Z", false, 0},
        {"0000-01-01T00:00Z", false, 0},
        {"0001-01-01T00:00+00:01", false, 0},
        {"9999-12-31T23:59:59-00:01", false, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t time_us = 77;
        struct err e = {0};
        int status = time_parse(str(rows[i].text), "begin", &time_us, &e);
        assert_int_equal(status, rows[i].is_good ? 0 : -1);
        assert_int_equal(time_us, rows[i].is_good ? rows[i].time_us : 77);
        assert_int_equal(e.code, rows[i].is_good ? ERR_NONE : ERR_INPUT);
        if (status != 0) assert_memory_equal(ERR_SENTENCE(&e), "begin: '", 8);
    }
}

static void test_time_format(void **state)
{
    (void)state;
    static const struct {
        int64_t time_us;
        const char *text;
    } rows[] = {
        {0, "1970-01-01T00:00:00Z"},
        {999999, "1970-01-01T00:00:00Z"},
        {-1, "1969-12-31T23:59:59Z"},
        {TIME_US(1795251900), "2026-11-21T09:05:00Z"},
        {TIME_US(951782400), "2000-02-29T00:00:00Z"},
        {TIME_US(4107542400), "2100-03-01T00:00:00Z"},
        {TIME_US(-62135596801), "0000-12-31T23:59:59Z"},
        {TIME_US(253402300800), "10000-01-01T00:00:00Z"},
        {INT64_MAX, "294247-01-10T04:00:54Z"},
        {INT64_MIN, "-290308-12-21T19:59:05Z"},
    };
    char out[32];
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(time_format(out, rows[i].time_us), strlen(rows[i].text));
        assert_string_equal(out, rows[i].text);
    }
}

/* A random second of every day of 800 years, against gmtime. */
static void test_time_as_gmtime(void **state)
{
    (void)state;
    struct rng r = {1};
    for (time_t day = -150000; day < 150000; day++) {
        time_t time_s = day * DAY + (time_t)rng_below(&r, DAY);
        struct tm parts;
        char out[32], expected[32];
        int64_t back;
        assert_non_null(gmtime_r(&time_s, &parts));
        strftime(expected, sizeof expected, "%Y-%m-%dT%H:%M:%SZ", &parts);
        size_t length = time_format(out, time_s * US_PER_S + (int64_t)rng_below(&r, US_PER_S));
        assert_string_equal(out, expected);
        assert_int_equal(time_parse((struct str){out, length}, "time", &back, NULL), 0);
        assert_int_equal(back, time_s * US_PER_S);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_duration_parse),  cmocka_unit_test(test_duration_read),
        cmocka_unit_test(test_duration_format), cmocka_unit_test(test_duration_reads_what_it_wrote),
        cmocka_unit_test(test_memory_parse),    cmocka_unit_test(test_memory_format),
        cmocka_unit_test(test_time_parse),      cmocka_unit_test(test_time_format),
        cmocka_unit_test(test_time_as_gmtime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
