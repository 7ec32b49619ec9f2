/* Names near to a mistyped one. */
#include <string.h>

#include "base/near_names.h"
#include "base/text.h"
#include "dies.h"

/* "a|b": the names that are found. */
static const char *found(const char *list, const char *word, char out[200])
{
    struct str near[NEAR_NAMES_MAX];
    uint32_t count = near_names_find(str(list), str(word), near);
    size_t length = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < count; i++)
        length +=
            text_format(out + length, 200 - length, "%s%.*s", i > 0 ? "|" : "", (int)near[i].length, near[i].text);
    return out;
}

static void test_near(void **state)
{
    (void)state;
    char out[200];
    static const struct {
        const char *list, *word, *expected;
    } rows[] = {
        {"", "id", ""},
        {"id, name", "", ""},
        {"id, name, user", "colour", ""},
        {"GrpJobs, MaxJobs, MaxWall", "MaxJob", "MaxJobs"},
        {"GrpJobs, MaxJobs", "maxjobs", "MaxJobs"},        /* in any case */
        {"cat, car, can, cap, cup", "caz", "cat|car|can"}, /* as near as each other; no more than three */
        {"cats, cat", "cat", "cat"},                       /* the nearest alone */
        {"id, in", "ix", ""},                              /* half of the letters are too many */
        {"array_limit, cpus, time_limit_s", "limit", "array_limit|time_limit_s"},
        {"array_limit", "li", ""},
        {"id,name", "nmae", "name"}, /* without blanks */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(found(rows[i].list, rows[i].word, out), rows[i].expected);

    char longest[300];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    assert_string_equal(found(longest, longest, out), "");
    assert_string_equal(found(longest, "xxxx", out), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_near)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
