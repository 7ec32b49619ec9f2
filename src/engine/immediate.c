#include "engine/immediate.h"

#include "engine/handlers.h"
#include "engine/priorities.h"

/* The highest fair-share factor of its associations in its partitions. */
static double best_factor(struct state *s, const struct job *j, int64_t now_us)
{
    const double *factors = state_factors(s, now_us, &s->cycle);
    double best = 0.0;
    for (uint32_t i = 0; i < j->partition_count; i++) {
        uint32_t node = s->node_of.items[state_assoc_in_partition(s, j->assoc, j->partitions[i])];
        if (node != NONE && factors[node] > best) best = factors[node];
    }
    return best;
}

/* "did not start within 5 s (Resources)" */
static void set_reason(struct state *s, uint32_t index, int64_t now_us)
{
    struct job row = s->jobs.items[index];
    struct job_rare_text rare = *job_rare(&row);
    struct buf reason = {0};
    enum pending_reason why = job_pending_reason(s, row.id, best_factor(s, &row, now_us), now_us);
    buf_add_text(&reason, "did not start ");
    if (row.immediate_s > 0)
        buf_format(&reason, "within %u s", row.immediate_s);
    else
        buf_add_text(&reason, "at once");
    buf_format(&reason, " (%s)", pending_reason_name(why != PENDING_NONE ? why : PENDING_RESOURCES));
    rare.cancel_reason = reason.text;
    row.rare = &rare;
    job_replace(s, index, &row);
    buf_release(&reason);
}

static void cancel(struct apply_context *c, uint32_t index)
{
    struct idset tasks = {0};
    set_reason(c->s, index, c->now_us);
    idset_copy(&tasks, &c->s->jobs.items[index].pending);
    job_cancel_pending(c, index, &tasks);
    idset_release(&tasks);
}

static void drop_decided(struct state *s)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->immediate.count; i++) {
        uint32_t index = state_find_job(s, s->immediate.items[i]);
        if (index != NONE && state_is_undecided(&s->jobs.items[index]))
            s->immediate.items[kept++] = s->immediate.items[i];
    }
    s->immediate.count = kept;
}

void immediate_cancel_late(struct apply_context *c)
{
    struct state *s = c->s;
    for (uint32_t i = 0; i < s->immediate.count; i++) {
        uint32_t index = state_find_immediate(s, i);
        if (index == NONE) continue;
        if (state_immediate_end_us(&s->jobs.items[index]) <= c->now_us) cancel(c, index);
    }
    drop_decided(s);
}

static bool knows(const struct ticket_plan *plan, uint32_t job_id)
{
    uint32_t low = 0, high = plan->job_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (plan->job_ids[middle] < job_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < plan->job_count && plan->job_ids[low] == job_id;
}

void immediate_cancel_refused(struct apply_context *c, const struct ticket_plan *plan)
{
    struct state *s = c->s;
    for (uint32_t i = 0; i < s->immediate.count; i++) {
        uint32_t index = state_find_immediate(s, i);
        if (index == NONE || s->jobs.items[index].immediate_s > 0) continue;
        if (plan == NULL || knows(plan, s->jobs.items[index].id)) cancel(c, index);
    }
    drop_decided(s);
}
