#include "engine/delay_ends.h"

#include "engine/job_waits.h"
#include "engine/task_delays.h"

static bool end_delays(struct apply_context *c)
{
    struct state *s = c->s;
    bool has_ended = false;
    s->next_delay_us = 0;
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        struct job *j = &s->jobs.items[i];
        if (j->delays.count == 0 || j->ended_us != 0) continue;
        if (task_delays_end(j, c->now_us)) {
            job_waits_find_ready(j);
            if (j->accrue_us == 0) j->accrue_us = job_waits_accrual_us(j, c->now_us);
            apply_note_change(c, TABLE_JOB, i);
            has_ended = true;
        }
        int64_t next_us = task_delays_next_us(j);
        if (next_us != 0 && (s->next_delay_us == 0 || next_us < s->next_delay_us)) s->next_delay_us = next_us;
    }
    return has_ended;
}

bool delay_ends_apply(struct apply_context *c)
{
    bool is_due = c->s->next_delay_us != 0 && c->s->next_delay_us <= c->now_us, has_ended = is_due && end_delays(c);
    if (c->s->next_delay_us != 0) state_want_pass_at(c->s, c->s->next_delay_us);
    return has_ended;
}
