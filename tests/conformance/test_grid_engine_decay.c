/* The decay of usage in the share tree, compared with Grid Engine 8.1.9 (grid-engine/c3_sharetree_decay.tsv: half-time
 * in hours, decay list, resource, seconds, usage before and after). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fields/setting_text.h"
#include "policy/ticket_usage.h"
#include "rows.h"

enum { HOUR_MIN = 60 };

static const char path[] = "tests/conformance/grid-engine/c3_sharetree_decay.tsv";

static void usage_decays_as_recorded(void **state)
{
    (void)state;
    char *text = rows_read(path), *cursor = text;
    struct row row;
    int compared = 0;
    assert_non_null(text);
    rows_next(&cursor, '\t', &row);
    assert_string_equal(row.field[5], "after");
    while (rows_next(&cursor, '\t', &row)) {
        struct ticket_decay decay = {.rule = DECAY_PROGRAM};
        struct err e;
        enum usage_resource resource = usage_resource_find(str(row.field[2]));
        double elapsed_s = strtod(row.field[3], NULL), before = strtod(row.field[4], NULL);
        double after = strtod(row.field[5], NULL);
        assert_true(resource < USAGE_RESOURCE_COUNT);
        for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) decay.minutes[r] = strtod(row.field[0], NULL) * HOUR_MIN;
        assert_int_equal(setting_text_halflife_list(str(row.field[1]), "list", decay.minutes, &e), 0);
        double ours = before * ticket_decay_factor(&decay, resource, elapsed_s);
        if (fabs(ours - after) > 2e-6 * fmax(1.0, after))
            fail_msg("%s after %s s: %.9g, recorded %s", row.field[2], row.field[3], ours, row.field[5]);
        compared++;
    }
    free(text);
    assert_true(compared >= 126);
    print_message("# compared %d values of decayed usage with Grid Engine 8.1.9\n", compared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(usage_decays_as_recorded)};
    return cmocka_run_group_tests_name("grid engine decay", tests, NULL, NULL);
}
