#include "engine/ticket_plan.h"

#include "base/ensure.h"
#include "base/sort.h"
#include "engine/pending.h"
#include "engine/ranking.h"

struct ticket_plan *ticket_plan_new(struct state *s, int64_t now_us)
{
    struct ticket_plan *plan = mem_resize(NULL, 0, sizeof *plan);
    plan->rules_edition = s->rules_edition;
    plan->pending_added = s->pending != NULL ? s->pending->added : 0;
    ticket_snapshot_make(&plan->snapshot, s, now_us);
    return plan;
}

static uint32_t count_pending(const struct ticket_input *input)
{
    uint32_t count = 0;
    while (count < input->job_count && !input->jobs[count].is_running) count++;
    return count;
}

/* Lists the ids of the pending jobs in the plan. Returns the index of its job for each entry. */
static uint32_t *list_jobs(struct ticket_plan *plan, struct arena *scratch)
{
    const struct ticket_job *jobs = plan->snapshot.input.jobs;
    uint32_t *job_of = arena_alloc(scratch, (plan->task_count + (size_t)1) * sizeof *job_of);
    plan->job_ids = arena_alloc(&plan->arena, (plan->task_count + (size_t)1) * sizeof *plan->job_ids);
    for (uint32_t i = 0; i < plan->task_count; i++) {
        if (i == 0 || jobs[i].id != jobs[i - 1].id) plan->job_ids[plan->job_count++] = jobs[i].id;
        job_of[i] = plan->job_count - 1;
    }
    return job_of;
}

static struct sort_record *sort_by_prior(const struct ticket_ranks *ranks, uint32_t count, struct arena *scratch)
{
    struct sort_record *records = arena_alloc(scratch, (count + (size_t)1) * sizeof *records);
    struct sort_record *sort_scratch = arena_alloc(scratch, (count + (size_t)1) * sizeof *sort_scratch);
    for (uint32_t i = 0; i < count; i++)
        records[i] = (struct sort_record){.key = ~sort_key_double(ranks->prior[i]), .index = i};
    sort_records(records, count, sort_scratch);
    return records;
}

void ticket_plan_run(struct ticket_plan *plan)
{
    struct arena scratch = {0};
    struct ticket_ranks ranks;
    ensure(plan->tasks == NULL); /* it runs once */
    ticket_ranks_make(&plan->snapshot, &scratch, &ranks);
    plan->task_count = count_pending(&plan->snapshot.input);
    const uint32_t *job_of = list_jobs(plan, &scratch);
    const struct sort_record *sorted = sort_by_prior(&ranks, plan->task_count, &scratch);
    plan->tasks = arena_alloc(&plan->arena, (plan->task_count + (size_t)1) * sizeof *plan->tasks);
    for (uint32_t i = 0; i < plan->task_count; i++) {
        uint32_t entry = sorted[i].index;
        bool is_last = entry + 1 == plan->task_count || job_of[entry + 1] != job_of[entry];
        plan->tasks[i] = (struct planned_task){~sorted[i].key, job_of[entry], is_last, ranks.tickets[entry].total};
    }
    arena_release(&scratch);
    ticket_snapshot_release(&plan->snapshot);
    plan->snapshot = (struct ticket_snapshot){0};
}

void ticket_plan_free(struct ticket_plan *plan)
{
    if (plan == NULL) return;
    ticket_snapshot_release(&plan->snapshot);
    arena_release(&plan->arena);
    mem_free(plan);
}
