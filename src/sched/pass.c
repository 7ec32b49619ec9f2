#include "sched/pass.h"

#include "base/ensure.h"
#include "base/sort.h"

/* The candidates' places in order of factor, highest first; equal factors keep the order given (submission, id). */
static struct sort_record *order_by_factor(const struct candidate *candidates, uint32_t count, struct arena *cycle)
{
    struct sort_record *order = arena_alloc(cycle, (count + (size_t)1) * sizeof *order);
    struct sort_record *scratch = arena_alloc(cycle, (count + (size_t)1) * sizeof *scratch);
    for (uint32_t i = 0; i < count; i++) {
        ensure(candidates[i].factor >= 0.0);
        order[i] = (struct sort_record){.key = ~sort_key_double(candidates[i].factor), .index = i};
    }
    sort_records(order, count, scratch);
    return order;
}

void pass_run(struct host *h, const struct candidate *candidates, uint32_t count, struct arena *cycle,
              struct pass_starts *out_starts)
{
    if (h->free_cpu_count == 0) return;
    const struct sort_record *order = order_by_factor(candidates, count, cycle);
    for (uint32_t i = 0; i < count; i++) {
        const struct candidate *c = &candidates[order[i].index];
        ensure(c->tasks > 0 && c->request.cpus > 0);
        for (uint32_t started = 0; started < c->tasks && host_fits(h, &c->request); started++) {
            struct pass_start *start = array_add(&out_starts->list);
            start->job = c->job;
            host_take(h, &c->request, &start->placement);
        }
        if (h->free_cpu_count == 0) return;
    }
}
