/* The lines of Grid Engine's schedule file, with MONITOR in params: for each pass a line of colons, then what running
 * tasks have booked, then the starts and reservations of the pass in the order in which they were decided.
 *
 *     ::::::::
 *     295:1:RUNNING:1795245060:59:Q:main@localhost:slots:2.000000
 *     299:1:STARTING:1795245085:10:Q:main@localhost:slots:1.000000
 *     296:1:RESERVING:1795245119:20:Q:main@localhost:slots:4.000000
 *
 * A pass that only looks for starts ends as soon as nothing else can start. With MONITOR it goes on to the last
 * reservation, as the recorded runs do; this changes no start. Without reservations there are only the colons. Costs:
 * those of ranking, in each pass; of a sort of the running tasks; and about 1 us a line. */
#include "engine/pass.h"

#include "base/ensure.h"
#include "engine/job_waits.h"
#include "fields/setting_text.h"

bool pass_lines_are_wanted(const struct state *s)
{
    struct schedule_params params;
    ensure(setting_text_params(str(setting_text(&s->settings, SET_GE_PARAMS)), "params", &params, NULL) == 0);
    return params.writes_schedule;
}

void pass_lines_begin(struct pass *p)
{
    p->is_monitored = pass_lines_are_wanted(p->c->s);
    p->is_listed = p->is_monitored && p->cluster->rules.reservations != RUN_RESERVE_NONE;
    p->first_launch_id = p->c->s->next_launch_id;
}

uint32_t pass_lines_add(struct pass *p, uint32_t line, uint32_t job, const struct demand *d,
                        const struct run_decision *decision)
{
    const struct state *s = p->c->s;
    bool starts = decision->outcome == RUN_STARTS;
    if (!p->is_listed) return NONE;
    if (line == NONE) line = p->listed.count;
    struct schedule_row *row = line < p->listed.count ? &p->listed.items[line] : array_add(&p->listed);
    *row = (struct schedule_row){.job = job,
                                 .task_id = starts ? s->tasks.items[s->tasks.count - 1].task_id : 0,
                                 .state = starts ? SCHEDULE_STARTING : SCHEDULE_RESERVED,
                                 .start_us = decision->start_us,
                                 .end_us = timeline_end_of(decision->start_us, decision->duration_us),
                                 .demand = d,
                                 .allocation = decision->allocation};
    return line;
}

/* Reservations of an array are for its next tasks. */
static void number_reserved_tasks(struct pass *p)
{
    struct map last = {0}; /* index of the job -> its last task with a number */
    for (uint32_t i = 0; i < p->listed.count; i++) {
        struct schedule_row *row = &p->listed.items[i];
        const struct idset *pending = job_waits_ready_tasks(&p->c->s->jobs.items[row->job]);
        if (row->state != SCHEDULE_RESERVED) continue;
        uint32_t before = map_get_u64(&last, row->job);
        row->task_id = before == NONE ? idset_first(pending) : idset_next(pending, before);
        ensure(row->task_id != NONE);
        map_set_u64(&last, row->job, row->task_id);
    }
    map_release(&last);
}

static void add_row(const struct pass *p, const struct schedule_row *row)
{
    schedule_row_lines(&p->cluster->model.cluster, &p->c->s->jobs.items[row->job], row, &p->c->outcome->schedule_lines);
}

static void add_running(const struct pass *p)
{
    const struct state *s = p->c->s;
    ARRAY(struct schedule_row) running = {0};
    for (uint32_t i = 0; i < p->cluster->bookings.count; i++) {
        const struct live_booking *b = &p->cluster->bookings.items[i];
        if (b->launch_id >= p->first_launch_id) continue;
        const struct task *k = &s->tasks.items[map_get_u64(&s->task_by_launch, b->launch_id)];
        *array_add(&running) = (struct schedule_row){.job = state_find_job(s, k->job_id),
                                                     .task_id = k->task_id,
                                                     .state = SCHEDULE_RUNNING,
                                                     .start_us = k->launch_us,
                                                     .end_us = b->until_us,
                                                     .demand = b->demand,
                                                     .allocation = b->allocation};
    }
    schedule_sort_rows(running.items, running.count);
    for (uint32_t i = 0; i < running.count; i++) add_row(p, &running.items[i]);
    array_release(&running);
}

void pass_lines_end(struct pass *p)
{
    if (p->is_monitored) buf_add_text(&p->c->outcome->schedule_lines, "::::::::\n");
    if (!p->is_listed) return;
    add_running(p);
    number_reserved_tasks(p);
    for (uint32_t i = 0; i < p->listed.count; i++) add_row(p, &p->listed.items[i]);
    array_release(&p->listed);
}
