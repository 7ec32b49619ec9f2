#include "engine/ticket_plan.h"

#include "engine/ranking.h"
#include "sched/pass.h"

struct ticket_plan *ticket_plan_of(struct state *s, int64_t now_us)
{
    struct ticket_plan *plan = mem_resize(NULL, 0, sizeof *plan);
    plan->rules_edition = s->rules_edition;
    ticket_snapshot_make(&plan->asked, s, now_us);
    return plan;
}

static uint32_t count_waiting(const struct ticket_input *q)
{
    uint32_t count = 0;
    while (count < q->job_count && !q->jobs[count].is_running) count++;
    return count;
}

/* Ids of the jobs, and by entry whose it is. */
static uint32_t *list_jobs(struct ticket_plan *plan, struct arena *scratch)
{
    const struct ticket_job *jobs = plan->asked.question.jobs;
    uint32_t *job_of = arena_alloc(scratch, (plan->line_count + (size_t)1) * sizeof *job_of);
    plan->job_ids = arena_alloc(&plan->arena, (plan->line_count + (size_t)1) * sizeof *plan->job_ids);
    for (uint32_t i = 0; i < plan->line_count; i++) {
        if (i == 0 || jobs[i].id != jobs[i - 1].id) plan->job_ids[plan->job_count++] = jobs[i].id;
        job_of[i] = plan->job_count - 1;
    }
    return job_of;
}

static struct sort_record *sort_by_prior(const struct ticket_ranks *ranks, uint32_t count, struct arena *scratch)
{
    struct sort_record *records = arena_alloc(scratch, (count + (size_t)1) * sizeof *records);
    struct sort_record *room = arena_alloc(scratch, (count + (size_t)1) * sizeof *room);
    for (uint32_t i = 0; i < count; i++)
        records[i] = (struct sort_record){.key = ~sort_key_prior(ranks->prior[i]), .index = i};
    sort_records(records, count, room);
    return records;
}

void ticket_plan_run(struct ticket_plan *plan)
{
    struct arena scratch = {0};
    struct ticket_ranks ranks;
    ticket_ranks_make(&plan->asked, &scratch, &ranks);
    plan->line_count = count_waiting(&plan->asked.question);
    const uint32_t *job_of = list_jobs(plan, &scratch);
    const struct sort_record *sorted = sort_by_prior(&ranks, plan->line_count, &scratch);
    plan->line = arena_alloc(&plan->arena, (plan->line_count + (size_t)1) * sizeof *plan->line);
    for (uint32_t i = 0; i < plan->line_count; i++) {
        uint32_t entry = sorted[i].index;
        bool is_last = entry + 1 == plan->line_count || job_of[entry + 1] != job_of[entry];
        plan->line[i] = (struct planned_task){~sorted[i].key, job_of[entry], is_last};
    }
    arena_release(&scratch);
    ticket_snapshot_release(&plan->asked);
    plan->asked = (struct ticket_snapshot){0};
}

void ticket_plan_free(struct ticket_plan *plan)
{
    if (plan == NULL) return;
    ticket_snapshot_release(&plan->asked);
    arena_release(&plan->arena);
    mem_free(plan);
}
