/* The time of an instance, by what the clocks of the machine show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/clock_decision.h"

#define S US_PER_S
#define DAY (INT64_C(86400) * S)
#define YEAR (365 * DAY)
#define NOW (INT64_C(1764000000) * S) /* 2025-11-24 */
#define NONE_CHANGED CLOCK_EVENT_KIND_COUNT

enum where { RUNNING, STOPPED, REBOOTED };

/* last: at NOW, 1000 s after the boot. has_gap: a gap is open, whose length the clock gave as gap_s. */
static const struct decision_case {
    const char *name;
    enum where where;
    bool has_gap;
    int64_t gap_s;
    int64_t passed_us; /* since boot; after a reboot: since that one */
    int64_t wall_us;
    enum clock_event_kind kind; /* NONE_CHANGED: no change */
    int64_t shift_s, time_us;
    bool has_gap_then;
    int64_t gap_s_then;
} cases[] = {
    {"nothing happens", RUNNING, false, 0, 60 * S, NOW + 60 * S, NONE_CHANGED, 0, NOW + 60 * S, false, 0},
    {"a leap second", RUNNING, false, 0, 60 * S, NOW + 59 * S, NONE_CHANGED, 0, NOW + 59 * S, false, 0},
    {"a small step ahead", RUNNING, false, 0, S, NOW + 10 * S, NONE_CHANGED, 0, NOW + 10 * S, false, 0},
    {"a small step back stands still", RUNNING, false, 0, S, NOW - 8 * S, NONE_CHANGED, 0, NOW, false, 0},
    {"ten seconds ahead", RUNNING, false, 0, S, NOW + 11 * S, CLOCK_SET_RUNNING, 10, NOW + 11 * S, false, 0},
    {"ten seconds back", RUNNING, false, 0, S, NOW - 9 * S, CLOCK_SET_RUNNING, -10, NOW - 9 * S, false, 0},
    {"a year ahead", RUNNING, false, 0, S, NOW + YEAR + S, CLOCK_SET_RUNNING, 365 * 86400, NOW + YEAR + S, false, 0},
    {"a year back", RUNNING, false, 0, S, NOW - YEAR, CLOCK_SET_RUNNING, -365 * 86400 - 1, NOW - YEAR, false, 0},
    {"part of a second is followed", RUNNING, false, 0, 0, NOW + DAY + 400000, CLOCK_SET_RUNNING, 86400,
     NOW + DAY + 400000, false, 0},
    {"and stood still for", RUNNING, false, 0, 0, NOW + DAY - 400000, CLOCK_SET_RUNNING, 86400, NOW + DAY, false, 0},
    {"a second passes in sleep", RUNNING, false, 0, DAY, NOW + DAY, NONE_CHANGED, 0, NOW + DAY, false, 0},
    {"1970 is not followed", RUNNING, false, 0, 60 * S, 5 * S, NONE_CHANGED, 0, NOW + 60 * S, false, 0},
    {"nor the year 2300", RUNNING, false, 0, 60 * S, NOW + 300 * YEAR, NONE_CHANGED, 0, NOW + 60 * S, false, 0},

    {"a stop of an hour", STOPPED, false, 0, 3600 * S, NOW + 3600 * S, NONE_CHANGED, 0, NOW + 3600 * S, false, 0},
    {"a stop of 60 days", STOPPED, false, 0, 60 * DAY, NOW + 60 * DAY, NONE_CHANGED, 0, NOW + 60 * DAY, false, 0},
    {"set ahead meanwhile", STOPPED, false, 0, S, NOW + YEAR + S, CLOCK_SET_STOPPED, 365 * 86400, NOW + YEAR + S, false,
     0},
    {"set back meanwhile", STOPPED, false, 0, DAY, NOW, CLOCK_SET_STOPPED, -86400, NOW, false, 0},

    {"a reboot of a minute", REBOOTED, false, 0, 20 * S, NOW + 60 * S, NONE_CHANGED, 0, NOW + 60 * S, false, 0},
    {"off for 30 days", REBOOTED, false, 0, 20 * S, NOW + 30 * DAY, NONE_CHANGED, 0, NOW + 30 * DAY, false, 0},
    {"off for longer", REBOOTED, false, 0, 20 * S, NOW + 30 * DAY + S, CLOCK_GAP, 30 * 86400 + 1, NOW + 30 * DAY + S,
     true, 30 * 86400 + 1},
    {"the clock went back a little", REBOOTED, false, 0, 20 * S, NOW - 9 * S, NONE_CHANGED, 0, NOW, false, 0},
    {"the clock went back", REBOOTED, false, 0, 20 * S, NOW - DAY, CLOCK_GAP, -86400, NOW - DAY, true, -86400},
    {"1970 at boot", REBOOTED, false, 0, 20 * S, 20 * S, CLOCK_GAP, 0, NOW, true, 0},
    {"and still 1970", REBOOTED, true, 0, 20 * S, 20 * S, NONE_CHANGED, 0, NOW, true, 0},

    {"1970, then right", RUNNING, true, 0, 60 * S, NOW + 2 * DAY, CLOCK_GAP_RESOLVED, 0, NOW + 2 * DAY, false, 0},
    {"1970, then right after a restart", STOPPED, true, 0, 60 * S, NOW + 2 * DAY, CLOCK_GAP_RESOLVED, 0, NOW + 2 * DAY,
     false, 0},
    {"1970, then right after a reboot", REBOOTED, true, 0, 60 * S, NOW + 2 * DAY, CLOCK_GAP_RESOLVED, 0, NOW + 2 * DAY,
     false, 0},
    {"1970, then a year ahead", RUNNING, true, 0, 0, NOW + YEAR, CLOCK_SET_RUNNING, 365 * 86400, NOW + YEAR, true,
     365 * 86400},
    {"a year ahead at boot, then right", RUNNING, true, 365 * 86400, 60 * S, NOW - YEAR + 3600 * S, CLOCK_GAP_RESOLVED,
     -365 * 86400, NOW - YEAR + 3600 * S, false, 0},
    {"a year ahead at boot, right after the next", REBOOTED, true, 365 * 86400, 60 * S, NOW - YEAR + 3600 * S,
     CLOCK_GAP_RESOLVED, -365 * 86400, NOW - YEAR + 3600 * S, false, 0},
    {"a year behind at boot, then right", RUNNING, true, -365 * 86400, 60 * S, NOW + YEAR + DAY, CLOCK_GAP_RESOLVED,
     365 * 86400, NOW + YEAR + DAY, false, 0},
    {"an open gap, and time passes", RUNNING, true, 365 * 86400, 60 * S, NOW + 60 * S, NONE_CHANGED, 0, NOW + 60 * S,
     true, 365 * 86400},
    {"an open gap, and a reboot", REBOOTED, true, 365 * 86400, 60 * S, NOW + 60 * S, NONE_CHANGED, 0, NOW + 60 * S,
     true, 365 * 86400},
    {"an open gap, and the clock is set", RUNNING, true, 365 * 86400, 0, NOW - DAY, CLOCK_SET_RUNNING, -86400,
     NOW - DAY, true, 364 * 86400},
};

static struct clock_last last_of(const struct decision_case *c)
{
    return (struct clock_last){.time_us = NOW,
                               .boot_us = 1000 * S,
                               .is_of_this_boot = c->where != REBOOTED,
                               .is_running = c->where == RUNNING,
                               .has_gap = c->has_gap,
                               .gap_s = c->gap_s};
}

static void the_clocks_say_what_happened(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct decision_case *c = &cases[i];
        const struct clock_last last = last_of(c);
        const struct clock_reading now = {c->wall_us, (c->where == REBOOTED ? 0 : 1000 * S) + c->passed_us};
        const struct clock_decision d = clock_decision_make(&last, &now);
        enum clock_event_kind kind = d.has_change ? d.change.event.kind : NONE_CHANGED;
        bool has_gap = d.has_change ? d.change.has_gap : last.has_gap;
        int64_t gap_s = d.has_change ? d.change.gap_s : last.gap_s;
        if (kind != c->kind) fail_msg("%s: kind %d is not %d", c->name, (int)kind, (int)c->kind);
        if (d.change.event.shift_s != c->shift_s)
            fail_msg("%s: shift %lld", c->name, (long long)d.change.event.shift_s);
        if (d.time_us != c->time_us) fail_msg("%s: time %lld", c->name, (long long)(d.time_us - NOW));
        if (has_gap != c->has_gap_then || gap_s != c->gap_s_then)
            fail_msg("%s: gap %d %lld", c->name, has_gap, (long long)gap_s);
        bool is_possible = c->wall_us >= CLOCK_WALL_MIN_US && c->wall_us < CLOCK_WALL_MAX_US;
        assert_int_equal(d.is_wall_ignored, !is_possible);
        if (d.has_change) assert_true(d.change.event.at_us == d.time_us);
    }
}

/* A boot that is over cannot have been going on for longer than the present one of the same id. */
static void a_time_since_boot_that_went_back_is_of_another_boot(void **state)
{
    (void)state;
    const struct clock_last last = {.time_us = NOW, .boot_us = 1000 * S, .is_of_this_boot = true};
    const struct clock_decision d = clock_decision_make(&last, &(struct clock_reading){NOW + DAY, 999 * S});
    assert_false(d.has_change);
    assert_true(d.time_us == NOW + DAY);
}

static void a_new_instance_has_any_time(void **state)
{
    (void)state;
    const struct clock_last last = {.time_us = 100 * S};
    assert_false(clock_decision_make(&last, &(struct clock_reading){101 * S, 90 * S}).has_change);
}

/* The gap lies before what has happened since the reboot; that keeps its distance from now. */
static void a_gap_that_is_counted_passes_at_once(void **state)
{
    (void)state;
    struct clock_last last = {
        .time_us = NOW, .boot_us = 5 * S, .is_of_this_boot = true, .is_running = true, .has_gap = true};
    struct clock_decision d = clock_decision_make(&last, &(struct clock_reading){NOW + DAY, 65 * S});
    assert_true(d.change.event.kind == CLOCK_GAP_RESOLVED && d.change.passed_us == DAY - 60 * S);
    last.gap_s = 365 * 86400;
    d = clock_decision_make(&last, &(struct clock_reading){NOW - YEAR + DAY, 65 * S});
    assert_true(d.change.event.kind == CLOCK_GAP_RESOLVED && d.change.passed_us == DAY - 60 * S);
    last.keeps_gap = true;
    d = clock_decision_make(&last, &(struct clock_reading){NOW - YEAR + DAY, 65 * S});
    assert_true(d.change.event.kind == CLOCK_SET_RUNNING && d.change.has_gap && d.change.passed_us == 0);
    last.gap_s = d.change.gap_s;
    last.time_us = d.time_us;
    last.keeps_gap = false; /* it is counted as soon as that is possible */
    d = clock_decision_make(&last, &(struct clock_reading){last.time_us, 5 * S});
    assert_true(d.change.event.kind == CLOCK_GAP_RESOLVED && d.change.passed_us == last.gap_s * S);
}

static void a_person_settles_a_gap(void **state)
{
    (void)state;
    struct err e;
    struct clock_decision d;
    struct clock_last last = {.time_us = NOW, .is_of_this_boot = true, .has_gap = true, .gap_s = 60 * 86400};
    assert_int_equal(clock_decision_of_gap(&last, true, &d, &e), 0);
    assert_true(d.has_change && d.change.event.kind == CLOCK_GAP_COUNTED && !d.change.has_gap);
    assert_true(d.change.event.shift_s == -60 * 86400 && d.change.event.by_s == 60 * 86400 && d.time_us == NOW);
    assert_true(d.change.passed_us == 60 * DAY);
    assert_int_equal(clock_decision_of_gap(&last, false, &d, &e), 0);
    assert_true(d.has_change && d.change.event.kind == CLOCK_GAP_DISCARDED && !d.change.has_gap);
    assert_true(d.change.event.shift_s == 0 && d.time_us == NOW);
    last.keeps_gap = true;
    assert_int_equal(clock_decision_of_gap(&last, true, &d, &e), -1);
    assert_int_equal(e.code, ERR_CONFLICT);
    last.keeps_gap = false;
    last.gap_s = -1;
    assert_int_equal(clock_decision_of_gap(&last, true, &d, &e), -1);
    assert_int_equal(e.code, ERR_CONFLICT);
    assert_int_equal(clock_decision_of_gap(&last, false, &d, &e), 0);
    last.has_gap = false;
    assert_int_equal(clock_decision_of_gap(&last, false, &d, &e), -1);
    assert_int_equal(e.code, ERR_CONFLICT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clocks_say_what_happened),
        cmocka_unit_test(a_time_since_boot_that_went_back_is_of_another_boot),
        cmocka_unit_test(a_new_instance_has_any_time),
        cmocka_unit_test(a_gap_that_is_counted_passes_at_once),
        cmocka_unit_test(a_person_settles_a_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
