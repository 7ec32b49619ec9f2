/* Rules of retries as texts. */
#include "dies.h"

#include "fields/retry_text.h"

static void texts_are_read(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        uint32_t count;
        bool has_backoff;
        uint32_t backoff_s;
    } rows[] = {{"", 0, false, 0},
                {"0", 0, false, 0},
                {"3", 3, false, 0},
                {"1000", 1000, false, 0},
                {"3:backoff=5m", 3, true, 300},
                {"3:backoff=0s", 3, true, 0},
                {"3:exit=1,137:backoff=1h30m", 3, true, 5400},
                {"3:backoff=7days:exit=1-255", 3, true, RETRY_BACKOFF_S_MAX}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct retry_rule rule = {.count = 77};
        assert_int_equal(retry_text_parse(str(rows[i].text), "retry", &rule, NULL), 0);
        assert_int_equal(rule.count, rows[i].count);
        assert_int_equal(rule.has_backoff, rows[i].has_backoff);
        assert_int_equal(rule.backoff_s, rows[i].backoff_s);
    }
}

static void other_texts_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *sentence;
    } rows[] = {
        {"x", "retry: 'x' is not COUNT[:exit=STATUS,...][:backoff=DURATION] with a count from 0 to 1000, "
              "such as 3:exit=1,137:backoff=5m"},
        {"1001", "retry: '1001' is not COUNT[:exit=STATUS,...][:backoff=DURATION] with a count from 0 to "
                 "1000, such as 3:exit=1,137:backoff=5m"},
        {"3:", "retry: '' is not exit=STATUS,... or backoff=DURATION after the number of retries"},
        {"3:often", "retry: 'often' is not exit=STATUS,... or backoff=DURATION after the number of retries"},
        {"3:exit=0", "retry: '0' is not exit= with a list of exit statuses from 1 to 255, such as 1,137 or "
                     "64-78"},
        {"3:exit=", "retry: '' is not exit= with a list of exit statuses from 1 to 255, such as 1,137 or "
                    "64-78"},
        {"3:exit=256", "retry: '256' is not exit= with a list of exit statuses from 1 to 255, such as 1,137 "
                       "or 64-78"},
        {"3:exit=1:exit=2", "retry: '2' is a second list of exit statuses"},
        {"3:backoff=1s:backoff=2s", "retry: '2s' is a second backoff"},
        {"3:backoff=5", "retry: '5' is not backoff= with a duration from 0s to 7days, such as 30s, 5m or "
                        "1h30m"},
        {"3:backoff=8days", "retry: '8days' is not backoff= with a duration from 0s to 7days, such as 30s, "
                            "5m or 1h30m"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct retry_rule rule = {.count = 77};
        struct err e = {0};
        assert_int_equal(retry_text_parse(str(rows[i].text), "retry", &rule, &e), -1);
        assert_string_equal(ERR_SENTENCE(&e), rows[i].sentence);
        assert_int_equal(rule.count, 77);
    }
}

static void a_rule_counts_its_failures(void **unused)
{
    (void)unused;
    struct retry_rule any, some;
    assert_int_equal(retry_text_parse(str("1"), "retry", &any, NULL), 0);
    assert_int_equal(retry_text_parse(str("1:exit=1,64-65,137"), "retry", &some, NULL), 0);
    for (uint32_t status = 0; status < 300; status++) {
        assert_int_equal(retry_text_is_failure(&any, status), status > 0 && status < 256);
        assert_int_equal(retry_text_is_failure(&some, status),
                         status == 1 || status == 64 || status == 65 || status == 137);
    }
}

static void delays_double_up_to_a_week(void **unused)
{
    (void)unused;
    struct retry_rule rule;
    assert_int_equal(retry_text_parse(str("9:backoff=5m"), "retry", &rule, NULL), 0);
    static const uint32_t delays_s[] = {300, 600, 1200, 2400};
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(retry_text_delay_s(&rule, i), delays_s[i]);
    assert_int_equal(retry_text_delay_s(&rule, 11), RETRY_BACKOFF_S_MAX);
    assert_int_equal(retry_text_delay_s(&rule, UINT32_MAX), RETRY_BACKOFF_S_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_read),
        cmocka_unit_test(other_texts_are_refused),
        cmocka_unit_test(a_rule_counts_its_failures),
        cmocka_unit_test(delays_double_up_to_a_week),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
