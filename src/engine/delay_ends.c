#include "engine/delay_ends.h"

#include "engine/job_waits.h"
#include "engine/pending.h"
#include "engine/task_delays.h"

void delay_ends_apply(struct state *s, int64_t now_us)
{
    int64_t next_us = 0;
    if (s->next_delay_us == 0 || s->next_delay_us > now_us) return;
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        struct job *j = &s->jobs.items[i];
        if (j->delays.count == 0 || j->ended_us != 0) continue;
        job_waits_find_ready(j, now_us);
        pending_touch(s, j->id);
        int64_t at_us = task_delays_next_us(j, now_us);
        if (at_us != 0 && (next_us == 0 || at_us < next_us)) next_us = at_us;
    }
    s->next_delay_us = next_us;
    s->pass_is_due = true;
}
