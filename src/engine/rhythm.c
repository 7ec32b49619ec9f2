#include "engine/rhythm.h"

#include "base/quantity.h"

enum { NEVER = 0, AT_ONCE = 1 };

void rhythm_note_submission(struct rhythm *r, int64_t now_us)
{
    if (r->submitted_us == 0) r->submitted_us = now_us;
}

void rhythm_note_end(struct rhythm *r, int64_t now_us)
{
    if (r->ended_us == 0) r->ended_us = now_us;
}

void rhythm_begin_pass(struct rhythm *r)
{
    *r = (struct rhythm){.last_pass_us = r->last_pass_us};
}

void rhythm_restart(struct rhythm *r)
{
    r->last_pass_us = 0;
}

static int64_t seconds_us(const struct settings *s, enum setting which)
{
    return setting_number(s, which) * US_PER_S;
}

/* The earlier one of two times that may be NEVER. */
static int64_t earlier_of(int64_t a_us, int64_t b_us)
{
    return a_us == NEVER || (b_us != NEVER && b_us < a_us) ? b_us : a_us;
}

/* flush_s: the setting, one second more than the delay. */
static int64_t flushed_us(int64_t first_us, int64_t flush_s)
{
    return first_us == NEVER || flush_s == 0 ? NEVER : first_us + (flush_s - 1) * US_PER_S;
}

static int64_t due_by_interval(const struct rhythm *r, const struct settings *s)
{
    int64_t due_us = r->last_pass_us + seconds_us(s, SET_GE_SCHEDULE_INTERVAL);
    due_us = earlier_of(due_us, flushed_us(r->submitted_us, setting_number(s, SET_GE_FLUSH_SUBMIT)));
    return earlier_of(due_us, flushed_us(r->ended_us, setting_number(s, SET_GE_FLUSH_FINISH)));
}

int64_t rhythm_due_us(const struct rhythm *r, const struct settings *settings, bool is_due, int64_t wanted_us)
{
    enum pass_rhythm which = (enum pass_rhythm)setting_number(settings, SET_PASS_RHYTHM);
    bool has_only_submissions = r->submitted_us != 0 && r->ended_us == 0 && !r->has_changed;
    if (r->last_pass_us == 0) return is_due || which != PASS_RHYTHM_EVENTS ? AT_ONCE : wanted_us;
    if (which == PASS_RHYTHM_INTERVAL) return due_by_interval(r, settings);
    if (is_due && !has_only_submissions) return AT_ONCE;
    if (which == PASS_RHYTHM_DEFER)
        return earlier_of(wanted_us, r->last_pass_us + seconds_us(settings, SET_GE_SCHEDULE_INTERVAL));
    int64_t delay_us = seconds_us(settings, SET_BATCH_SCHED_DELAY);
    if (!is_due) return wanted_us;
    return delay_us == 0 ? AT_ONCE : earlier_of(wanted_us, r->last_pass_us + delay_us);
}
