#include "policy/ticket_run.h"

#include "base/ensure.h"

static void count_running(struct ticket_run *run)
{
    const struct ticket_input *q = run->q;
    for (int k = 0; k < MEMBER_KIND_COUNT; k++) {
        run->running[k] = arena_alloc(run->arena, q->member_count[k] * sizeof *run->running[k]);
    }
    for (uint32_t i = 0; i < q->job_count; i++) {
        const struct ticket_job *j = &q->jobs[i];
        for (int k = 0; k < MEMBER_KIND_COUNT; k++) {
            if (j->member[k] == NONE) continue;
            ensure(j->member[k] < q->member_count[k]);
            if (j->is_running) run->running[k][j->member[k]]++;
        }
        if (!j->is_running) run->by_list[run->pending_count++] = i;
    }
}

static void take_order(struct ticket_run *run, uint32_t *order, uint32_t *place)
{
    for (uint32_t i = 0; i < run->pending_count; i++) {
        order[i] = run->records[i].index;
        place[order[i]] = i;
    }
}

static void order_pending(struct ticket_run *run)
{
    const struct ticket_job *jobs = run->q->jobs;
    for (uint32_t i = 0; i < run->pending_count; i++) {
        uint32_t job = run->by_list[i];
        run->records[i] = (struct sort_record){.key = (uint64_t)jobs[job].id << 32 | jobs[job].task, .index = job};
    }
    sort_records(run->records, run->pending_count, run->scratch);
    take_order(run, run->by_id, run->id_place);
    for (uint32_t i = 0; i < run->pending_count; i++) {
        run->records[i].key = (uint64_t)jobs[run->records[i].index].submit_us ^ UINT64_C(1) << 63;
    }
    sort_records(run->records, run->pending_count, run->scratch);
    take_order(run, run->by_age, run->age_place);
}

const uint32_t *ticket_run_order(const struct ticket_run *run, bool is_dependent)
{
    if (!is_dependent) return run->by_list;
    uint32_t *order = arena_alloc(run->arena, run->pending_count * sizeof *order);
    for (uint32_t i = 0; i < run->pending_count; i++) {
        uint32_t job = run->by_age[i];
        run->records[i] = (struct sort_record){.key = ~sort_key_double(run->held[job]), .index = job};
    }
    sort_records(run->records, run->pending_count, run->scratch);
    for (uint32_t i = 0; i < run->pending_count; i++) order[i] = run->records[i].index;
    return order;
}

struct ticket_run ticket_run_begin(const struct ticket_input *q, struct arena *arena, struct tickets *out_tickets)
{
    uint32_t count = q->job_count;
    struct ticket_run run = {.q = q, .arena = arena, .out = out_tickets};
    run.held = arena_alloc(arena, count * sizeof *run.held);
    run.by_list = arena_alloc(arena, count * sizeof *run.by_list);
    run.by_id = arena_alloc(arena, count * sizeof *run.by_id);
    run.by_age = arena_alloc(arena, count * sizeof *run.by_age);
    run.id_place = arena_alloc(arena, count * sizeof *run.id_place);
    run.age_place = arena_alloc(arena, count * sizeof *run.age_place);
    run.records = arena_alloc(arena, count * sizeof *run.records);
    run.scratch = arena_alloc(arena, count * sizeof *run.scratch);
    count_running(&run);
    order_pending(&run);
    return run;
}
