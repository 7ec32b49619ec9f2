/* All orders come from two stable sorts: by id and task, and that order again by time of submission. */
#include "policy/ticket_run.h"

#include "base/ensure.h"

static void count_running(struct ticket_run *run)
{
    const struct ticket_input *in = run->in;
    for (int k = 0; k < MEMBER_KIND_COUNT; k++) {
        run->running_count[k] = arena_alloc(run->arena, in->member_count[k] * sizeof *run->running_count[k]);
    }
    for (uint32_t i = 0; i < in->job_count; i++) {
        const struct ticket_job *j = &in->jobs[i];
        for (int k = 0; k < MEMBER_KIND_COUNT; k++) {
            if (j->member[k] == NONE) continue;
            ensure(j->member[k] < in->member_count[k]);
            if (j->is_running) run->running_count[k][j->member[k]]++;
        }
        if (!j->is_running) run->by_list[run->pending_count++] = i;
    }
    if (in->list == NULL) return;
    for (uint32_t i = 0; i < run->pending_count; i++) {
        ensure(in->list[i] < in->job_count && !in->jobs[in->list[i]].is_running);
        run->by_list[i] = in->list[i];
    }
}

/* Copies the order of the sorted records. */
static void copy_order(const struct ticket_run *run, uint32_t *out_order, uint32_t *out_position)
{
    for (uint32_t i = 0; i < run->pending_count; i++) {
        out_order[i] = run->records[i].index;
        out_position[out_order[i]] = i;
    }
}

static void order_pending(struct ticket_run *run)
{
    const struct ticket_job *jobs = run->in->jobs;
    for (uint32_t i = 0; i < run->pending_count; i++) {
        uint32_t job = run->by_list[i];
        run->records[i] = (struct sort_record){.key = (uint64_t)jobs[job].id << 32 | jobs[job].task, .index = job};
    }
    sort_records(run->records, run->pending_count, run->scratch);
    copy_order(run, run->by_id, run->id_position);
    for (uint32_t i = 0; i < run->pending_count; i++) {
        run->records[i].key = (uint64_t)jobs[run->records[i].index].submit_us ^ UINT64_C(1) << 63;
    }
    sort_records(run->records, run->pending_count, run->scratch);
    copy_order(run, run->by_age, run->age_position);
}

const uint32_t *ticket_run_order(const struct ticket_run *run, bool is_dependent)
{
    if (!is_dependent) return run->by_list;
    uint32_t *order = arena_alloc(run->arena, run->pending_count * sizeof *order);
    for (uint32_t i = 0; i < run->pending_count; i++) {
        uint32_t job = run->by_age[i];
        run->records[i] = (struct sort_record){.key = ~sort_key_double(run->tickets_so_far[job]), .index = job};
    }
    sort_records(run->records, run->pending_count, run->scratch);
    for (uint32_t i = 0; i < run->pending_count; i++) order[i] = run->records[i].index;
    return order;
}

size_t ticket_run_memory(const struct ticket_input *in)
{
    size_t bytes = arena_size(in->job_count, sizeof(double)) + 5 * arena_size(in->job_count, sizeof(uint32_t)) +
                   2 * arena_size(in->job_count, sizeof(struct sort_record));
    for (int k = 0; k < MEMBER_KIND_COUNT; k++) bytes += arena_size(in->member_count[k], sizeof(uint32_t));
    return bytes;
}

struct ticket_run ticket_run_begin(const struct ticket_input *in, struct arena *arena, struct tickets *out_tickets)
{
    uint32_t count = in->job_count;
    struct ticket_run run = {.in = in, .arena = arena, .tickets = out_tickets};
    run.tickets_so_far = arena_alloc(arena, count * sizeof *run.tickets_so_far);
    run.by_list = arena_alloc(arena, count * sizeof *run.by_list);
    run.by_id = arena_alloc(arena, count * sizeof *run.by_id);
    run.by_age = arena_alloc(arena, count * sizeof *run.by_age);
    run.id_position = arena_alloc(arena, count * sizeof *run.id_position);
    run.age_position = arena_alloc(arena, count * sizeof *run.age_position);
    run.records = arena_alloc(arena, count * sizeof *run.records);
    run.scratch = arena_alloc(arena, count * sizeof *run.scratch);
    count_running(&run);
    order_pending(&run);
    return run;
}
