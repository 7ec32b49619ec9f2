/* The pass sorts its candidates once (base/sort.h is stable, so equal ones stay in the order of the list) and then goes
 * through them. */
#include "sched/pass.h"

#include "base/ensure.h"

/* The candidates' indices, highest order first. */
static struct sort_record *sort_candidates(const struct pass_queue *q, struct arena *cycle)
{
    uint32_t count = q->candidate_count;
    struct sort_record *sorted = arena_alloc(cycle, (count + (size_t)1) * sizeof *sorted);
    struct sort_record *scratch = arena_alloc(cycle, (count + (size_t)1) * sizeof *scratch);
    for (uint32_t i = 0; i < count; i++) sorted[i] = (struct sort_record){.key = ~q->candidates[i].order, .index = i};
    sort_records(sorted, count, scratch);
    return sorted;
}

uint32_t pass_fits(const struct host *h, const struct consumables *c, const struct pass_job *j)
{
    if (!host_fits(h, &j->request)) return 0;
    uint32_t max = j->slots_max > j->request.cpus ? j->slots_max : j->request.cpus;
    if (max > h->free_cpu_count) max = h->free_cpu_count;
    if (j->need_count > 0) max = consumables_slots(c, j->needs, j->need_count, max);
    return max < j->request.cpus ? 0 : max;
}

/* Starts tasks of the job as long as they fit, at most as many as the candidate stands for. */
static void start_tasks(struct host *h, struct consumables *c, struct pass_job *j, const struct candidate *candidate,
                        struct pass_starts *out_starts)
{
    for (uint32_t tasks = candidate->tasks; tasks > 0 && j->tasks > 0; tasks--) {
        struct capacity granted = j->request;
        granted.cpus = pass_fits(h, c, j);
        if (granted.cpus == 0) return;
        struct pass_start *start = array_add(&out_starts->list);
        start->job = j->job;
        start->partition = candidate->partition;
        host_take(h, &granted, &start->placement);
        consumables_take(c, j->needs, j->need_count, granted.cpus);
        j->tasks--;
    }
}

void pass_run(struct host *h, struct consumables *c, struct pass_queue *queue, struct arena *cycle,
              struct pass_starts *out_starts)
{
    if (h->free_cpu_count == 0) return;
    const struct sort_record *sorted = sort_candidates(queue, cycle);
    for (uint32_t i = 0; i < queue->candidate_count; i++) {
        const struct candidate *candidate = &queue->candidates[sorted[i].index];
        ensure(candidate->tasks > 0 && candidate->job < queue->job_count);
        struct pass_job *job = &queue->jobs[candidate->job];
        ensure(job->request.cpus > 0);
        start_tasks(h, c, job, candidate, out_starts);
        if (h->free_cpu_count == 0) return;
    }
}
