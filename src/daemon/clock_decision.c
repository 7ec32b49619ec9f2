#include "daemon/clock_decision.h"

static int64_t larger_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* In whole seconds, the nearest: what is left is followed. */
static int64_t seconds_of(int64_t difference_us)
{
    return (difference_us + (difference_us < 0 ? -US_PER_S : US_PER_S) / 2) / US_PER_S;
}

static bool is_small(int64_t difference_us)
{
    return difference_us > -CLOCK_SMALL_US && difference_us < CLOCK_SMALL_US;
}

static bool is_believable(int64_t gap_s)
{
    return gap_s > -CLOCK_SMALL_US / US_PER_S && gap_s <= CLOCK_GAP_MAX_S;
}

static bool is_possible(int64_t wall_us)
{
    return wall_us >= CLOCK_WALL_MIN_US && wall_us < CLOCK_WALL_MAX_US;
}

/* No change: the later of two times. */
static struct clock_decision follow(const struct clock_last *last, int64_t time_us)
{
    return (struct clock_decision){.time_us = larger_of(last->time_us, time_us)};
}

/* All times are shifted, and the time is at least time_us. */
static struct clock_decision change(const struct clock_last *last, enum clock_event_kind kind, int64_t by_s,
                                    int64_t shift_s, int64_t time_us)
{
    struct clock_decision d = {.time_us = larger_of(last->time_us + shift_s * US_PER_S, time_us), .has_change = true};
    d.change.event = (struct clock_event){d.time_us, kind, by_s, shift_s};
    d.change.has_gap = kind == CLOCK_GAP || (last->has_gap && kind < CLOCK_GAP);
    d.change.gap_s = d.change.has_gap ? last->gap_s + shift_s : 0;
    return d;
}

/* The gap is counted: its shift is taken back, and the time that it took passes. known_us: the time without that. */
static struct clock_decision resolve(const struct clock_last *last, enum clock_event_kind kind, int64_t gap_s,
                                     int64_t known_us, int64_t time_us)
{
    struct clock_decision d = change(last, kind, gap_s, -last->gap_s, time_us);
    d.change.passed_us = larger_of(d.time_us - (known_us - last->gap_s * US_PER_S), 0);
    return d;
}

/* Whether the wall clock makes an open gap believable that was not. */
static bool closes_gap(const struct clock_last *last, const struct clock_reading *now, int64_t by_s)
{
    return last->has_gap && !last->keeps_gap && is_possible(now->wall_us) && is_believable(last->gap_s + by_s);
}

static struct clock_decision decide_after_boot(const struct clock_last *last, const struct clock_reading *now)
{
    int64_t difference_us = now->wall_us - last->time_us, by_s = seconds_of(difference_us);
    if (closes_gap(last, now, by_s))
        return resolve(last, CLOCK_GAP_RESOLVED, last->gap_s + by_s, last->time_us, now->wall_us);
    if (is_small(difference_us)) return follow(last, now->wall_us);
    if (!is_possible(now->wall_us)) {
        struct clock_decision d = {.time_us = last->time_us, .is_wall_ignored = true, .has_change = !last->has_gap};
        d.change = (struct clock_change){.event = {last->time_us, CLOCK_GAP, by_s, 0}, .has_gap = true};
        return d;
    }
    if (is_believable(by_s)) return follow(last, now->wall_us);
    return change(last, CLOCK_GAP, by_s, by_s, now->wall_us);
}

struct clock_decision clock_decision_make(const struct clock_last *last, const struct clock_reading *now)
{
    if (!last->is_of_this_boot || now->boot_us < last->boot_us) return decide_after_boot(last, now);
    int64_t known_us = last->time_us + (now->boot_us - last->boot_us), difference_us = now->wall_us - known_us;
    int64_t by_s = seconds_of(difference_us);
    if (closes_gap(last, now, by_s))
        return resolve(last, CLOCK_GAP_RESOLVED, last->gap_s + by_s, known_us, now->wall_us);
    if (is_small(difference_us)) return follow(last, now->wall_us);
    if (!is_possible(now->wall_us)) {
        struct clock_decision d = follow(last, known_us);
        d.is_wall_ignored = true;
        return d;
    }
    return change(last, last->is_running ? CLOCK_SET_RUNNING : CLOCK_SET_STOPPED, by_s, by_s, now->wall_us);
}

int clock_decision_of_gap(const struct clock_last *last, bool counts, struct clock_decision *out, struct err *e)
{
    if (!last->has_gap) return err_set(e, ERR_CONFLICT, "there is no gap that is not counted");
    if (counts && last->gap_s <= 0)
        return err_set(e, ERR_CONFLICT,
                       "the clock says that the gap was %lld s, which cannot be counted; set the clock of the machine, "
                       "and the gap counts by itself, or discard it",
                       (long long)last->gap_s);
    if (counts && last->keeps_gap)
        return err_set(e, ERR_CONFLICT,
                       "a rule of usage was changed since the reboot, and jobs that run now were charged by it; count "
                       "the gap when they have ended");
    *out = counts ? resolve(last, CLOCK_GAP_COUNTED, last->gap_s, last->time_us, last->time_us)
                  : change(last, CLOCK_GAP_DISCARDED, last->gap_s, 0, last->time_us);
    return 0;
}
