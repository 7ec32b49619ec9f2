/* An executor's calls, passed on to its kind. */
#include "exec/executor.h"

#include "exec/executor_kind.h"

void executor_close(struct executor *x)
{
    if (x != NULL) x->kind->close(x);
}

void executor_start(struct executor *x, const struct launch *launch)
{
    x->kind->start(x, launch);
}

void executor_end(struct executor *x, uint64_t launch_id, int64_t grace_us)
{
    x->kind->end(x, launch_id, grace_us);
}

void executor_acknowledge(struct executor *x, uint64_t launch_id)
{
    x->kind->acknowledge(x, launch_id);
}

void executor_set_cpu_weight(struct executor *x, uint64_t launch_id, uint32_t cpu_weight)
{
    x->kind->weigh(x, launch_id, cpu_weight);
}

int executor_descriptor(const struct executor *x)
{
    return x->kind->descriptor(x);
}

bool executor_wants_write(const struct executor *x)
{
    return x->kind->wants_write(x);
}

void executor_ready(struct executor *x, struct executor_reports *out_reports)
{
    x->kind->ready(x, out_reports);
}
