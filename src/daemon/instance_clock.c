/* The time of the instance: it follows the wall clock, also one that was set (clock_decision.h), with all times of the
 * database, of the state and of the daemon. A pretend instance has a time of its own, which none of this concerns. */
#include <string.h>

#include "daemon/clock_decision.h"
#include "daemon/daemon.h"
#include "daemon/log.h"
#include "exec/clock.h"

enum { RETRY_US = US_PER_S, EVENTS_MAX = 100 };

static struct clock_reading read_clocks(void)
{
    return (struct clock_reading){clock_wall_us(), clock_boot_us()};
}

static bool is_this_boot(const struct daemon *d, const char *boot_id)
{
    return boot_id[0] != '\0' && strcmp(boot_id, d->machine.boot_id) == 0;
}

static bool keeps_gap(const struct daemon *d)
{
    bool is_charged = true;
    struct err ignored;
    return store_clock(d->store)->has_gap &&
           (store_has_charged_task(d->store, &is_charged, &ignored) != 0 || is_charged);
}

/* As stored by the last run of the daemon. */
static struct clock_last stored_time(const struct daemon *d)
{
    const struct store_clock *stored = store_clock(d->store);
    return (struct clock_last){.time_us = stored->last_commit_us,
                               .boot_us = stored->boot_us,
                               .is_of_this_boot = is_this_boot(d, stored->boot_id),
                               .has_gap = stored->has_gap,
                               .gap_s = stored->gap_s,
                               .keeps_gap = keeps_gap(d)};
}

/* As last read. */
static struct clock_last running_time(const struct daemon *d)
{
    const struct store_clock *stored = store_clock(d->store);
    return (struct clock_last){.time_us = d->now_us,
                               .boot_us = d->clock.boot_us,
                               .is_of_this_boot = true,
                               .is_running = true,
                               .has_gap = stored->has_gap,
                               .gap_s = stored->gap_s,
                               .keeps_gap = keeps_gap(d)};
}

static void shift(int64_t *time_us, int64_t shift_us)
{
    if (*time_us != 0) *time_us += shift_us;
}

/* The daemon's own times. How long it runs does not depend on the wall clock. */
static void set_times(struct daemon *d, int64_t time_us, int64_t boot_us, int64_t shift_us)
{
    d->now_us = time_us;
    daemon_clock_set(&d->clock, time_us, boot_us);
    d->started_us = time_us - (boot_us - d->started_boot_us);
    shift(&d->lost_us, shift_us);
    shift(&d->next_measurement_us, shift_us);
    shift(&d->next_load_us, shift_us);
    shift(&d->state.launch_backoff.retry_us, shift_us);
    daemon_shift_prune(d, shift_us);
}

static void log_change(const struct clock_event *event)
{
    log_line(LOG_WARNING, "clock", " kind=%s by=%lld shift=%lld", clock_event_names[event->kind],
             (long long)event->by_s, (long long)event->shift_s);
}

static int take_decision(struct daemon *d, const struct clock_decision *decision, int64_t boot_us, struct err *e)
{
    if (!decision->has_change) {
        set_times(d, decision->time_us, boot_us, 0);
        return 0;
    }
    if (store_change_clock(d->store, &decision->change, e) != 0) return -1;
    set_times(d, decision->time_us, boot_us, decision->change.event.shift_s * US_PER_S);
    log_change(&decision->change.event);
    return 0;
}

int daemon_start_clock(struct daemon *d, struct err *e)
{
    const struct clock_reading now = read_clocks();
    if (d->pretend != NULL) {
        daemon_clock_not_before(&d->clock, store_last_commit_us(d->store));
        d->now_us = d->started_us = daemon_clock_us(&d->clock);
        return 0;
    }
    store_set_boot(d->store, d->machine.boot_id, now.boot_us);
    const struct clock_last last = stored_time(d);
    const struct clock_decision decision = clock_decision_make(&last, &now);
    d->started_boot_us = now.boot_us;
    if (decision.is_wall_ignored)
        log_line(LOG_WARNING, "clock-ignored", " wall=%lld", (long long)(now.wall_us / US_PER_S));
    if (take_decision(d, &decision, now.boot_us, e) != 0) return -1;
    if (decision.has_change) d->found_shift_us = decision.change.event.shift_s * US_PER_S;
    return 0;
}

bool daemon_follow_clock(struct daemon *d)
{
    struct err e;
    if (d->pretend != NULL) return false;
    const struct clock_reading now = read_clocks();
    const struct clock_last last = running_time(d);
    const struct clock_decision decision = clock_decision_make(&last, &now);
    if (!decision.has_change || now.boot_us < d->next_follow_us) return false;
    if (take_decision(d, &decision, now.boot_us, &e) == 0) return true;
    log_line(LOG_ERROR, "clock-not-followed", " error=\"%s\"", ERR_SENTENCE(&e));
    d->next_follow_us = now.boot_us + RETRY_US;
    return false;
}

int daemon_settle_gap(struct daemon *d, bool counts, const struct actor *actor, struct err *e)
{
    struct clock_decision decision;
    char gap[32];
    const struct clock_last last = running_time(d);
    if (clock_decision_of_gap(&last, counts, &decision, e) != 0) return -1;
    duration_format(gap, store_clock(d->store)->gap_s);
    const struct audit_entry entry = {.at_us = decision.change.event.at_us,
                                      .uid = actor->uid,
                                      .user = actor->user,
                                      .command = "clock",
                                      .name = "gap",
                                      .before = gap,
                                      .after = counts ? "counted" : "discarded"};
    decision.change.audit = &entry;
    return take_decision(d, &decision, d->clock.boot_us, e);
}

/* What another boot, or an older keeper, saw has only the time of a wall clock; if it was before a gap that is not
 * counted, it has moved with all other times. */
int64_t daemon_time_of(const struct daemon *d, int64_t boot_us, bool is_of_this_boot, int64_t wall_us)
{
    const struct store_clock *stored = store_clock(d->store);
    if (d->pretend != NULL || (boot_us == 0 && wall_us == 0)) return wall_us;
    if (boot_us != 0 && is_of_this_boot) return d->now_us - (d->clock.boot_us - boot_us);
    return wall_us + (stored->has_gap && !is_of_this_boot ? stored->gap_s * US_PER_S : 0);
}

void daemon_describe_clock(void *context, struct arena *arena, struct server_clock *out)
{
    struct daemon *d = context;
    const struct store_clock *stored = store_clock(d->store);
    struct clock_event *events = arena_alloc(arena, EVENTS_MAX * sizeof *events);
    struct err ignored;
    *out = (struct server_clock){.wall_us = clock_wall_us()};
    if (d->pretend != NULL) return;
    out->is_followed =
        !clock_decision_make(
             &(struct clock_last){.time_us = d->now_us, .is_of_this_boot = true, .boot_us = d->clock.boot_us},
             &(struct clock_reading){out->wall_us, clock_boot_us()})
             .is_wall_ignored;
    out->has_gap = stored->has_gap;
    out->gap_s = stored->gap_s;
    out->gap_from_us = stored->gap_from_us;
    if (store_clock_events(d->store, events, EVENTS_MAX, &out->event_count, &ignored) != 0) return;
    struct server_clock_event *rows = arena_alloc(arena, (EVENTS_MAX + 1) * sizeof *rows);
    for (uint32_t i = 0; i < out->event_count; i++)
        rows[i] = (struct server_clock_event){events[i].at_us, clock_event_names[events[i].kind], events[i].by_s,
                                              events[i].shift_s};
    out->events = rows;
}
