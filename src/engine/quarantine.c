#include "engine/quarantine.h"

#include "engine/handlers.h"
#include "engine/job_waits.h"
#include "engine/min_priority.h"

bool quarantine_hold_job(struct apply_context *c, uint32_t index)
{
    struct job *j = &c->s->jobs.items[index];
    if (j->quarantine != QUARANTINE_NO) return false;
    j->quarantine = !j->is_held              ? QUARANTINE_ALONE
                    : j->is_held_by_operator ? QUARANTINE_AND_OPERATOR
                                             : QUARANTINE_AND_USER;
    j->is_held = j->is_held_by_operator = true;
    j->accrue_us = job_waits_accrual_us(j, c->now_us);
    apply_note_change(c, TABLE_JOB, index);
    min_priority_forget(c, index);
    return true;
}

int apply_quarantine(struct apply_context *c, const struct event *event)
{
    struct state *s = c->s;
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        if (s->jobs.items[i].ended_us == 0 && idset_first(&s->jobs.items[i].pending) != NONE) quarantine_hold_job(c, i);
    }
    s->quarantined_us = c->now_us;
    text_format(s->quarantine, sizeof s->quarantine, "%s", event->quarantine);
    s->pass_is_due = true;
    apply_note_change(c, TABLE_COUNTERS, 0);
    return 0;
}

uint32_t quarantine_held_count(const struct state *s)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->jobs.count && s->quarantined_us != 0; i++) {
        const struct job *j = &s->jobs.items[i];
        count += j->ended_us == 0 && j->quarantine != QUARANTINE_NO && idset_first(&j->pending) != NONE;
    }
    return count;
}
