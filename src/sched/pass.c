#include "sched/pass.h"

#include "base/ensure.h"

/* The candidates' places, highest order first; equal ones stay as given. */
static struct sort_record *sort_candidates(const struct pass_queue *q, struct arena *cycle)
{
    uint32_t count = q->candidate_count;
    struct sort_record *order = arena_alloc(cycle, (count + (size_t)1) * sizeof *order);
    struct sort_record *scratch = arena_alloc(cycle, (count + (size_t)1) * sizeof *scratch);
    for (uint32_t i = 0; i < count; i++) order[i] = (struct sort_record){.key = ~q->candidates[i].order, .index = i};
    sort_records(order, count, scratch);
    return order;
}

uint32_t pass_fits(const struct host *h, const struct pool *p, const struct pass_job *j)
{
    if (!host_fits(h, &j->request)) return 0;
    uint32_t max = j->slots_max > j->request.cpus ? j->slots_max : j->request.cpus;
    if (max > h->free_cpu_count) max = h->free_cpu_count;
    if (j->need_count > 0) max = pool_slots(p, j->needs, j->need_count, max);
    return max < j->request.cpus ? 0 : max;
}

/* As many tasks of the job as this place in the queue stands for. */
static void start_tasks(struct host *h, struct pool *p, struct pass_job *j, const struct candidate *c,
                        struct pass_starts *out_starts)
{
    for (uint32_t tasks = c->tasks; tasks > 0 && j->tasks > 0; tasks--) {
        struct capacity granted = j->request;
        granted.cpus = pass_fits(h, p, j);
        if (granted.cpus == 0) return;
        struct pass_start *start = array_add(&out_starts->list);
        start->job = j->job;
        start->partition = c->partition;
        host_take(h, &granted, &start->placement);
        pool_take(p, j->needs, j->need_count, granted.cpus);
        j->tasks--;
    }
}

void pass_run(struct host *h, struct pool *p, struct pass_queue *queue, struct arena *cycle,
              struct pass_starts *out_starts)
{
    if (h->free_cpu_count == 0) return;
    const struct sort_record *order = sort_candidates(queue, cycle);
    for (uint32_t i = 0; i < queue->candidate_count; i++) {
        const struct candidate *c = &queue->candidates[order[i].index];
        ensure(c->tasks > 0 && c->job < queue->job_count && queue->jobs[c->job].request.cpus > 0);
        start_tasks(h, p, &queue->jobs[c->job], c, out_starts);
        if (h->free_cpu_count == 0) return;
    }
}
