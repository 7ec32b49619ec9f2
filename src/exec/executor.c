/* Passes an executor's calls on to its kind. The daemon's obligations are checked here, once for all kinds. */
#include "exec/executor.h"

#include "base/ensure.h"
#include "exec/executor_kind.h"

void executor_close(struct executor *x)
{
    if (x != NULL) x->kind->close(x);
}

void executor_start(struct executor *x, const struct launch *launch)
{
    ensure(launch->id != 0);
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
    ensure(cpu_weight >= LAUNCH_CPU_WEIGHT_MIN && cpu_weight <= LAUNCH_CPU_WEIGHT_MAX);
    x->kind->set_cpu_weight(x, launch_id, cpu_weight);
}

void executor_set_time_limit(struct executor *x, uint64_t launch_id, int64_t time_limit_us)
{
    ensure(time_limit_us >= 0 && time_limit_us <= LAUNCH_TIME_LIMIT_MAX_US);
    x->kind->set_time_limit(x, launch_id, time_limit_us);
}

void executor_suspend(struct executor *x, uint64_t launch_id, bool is_suspended, int64_t suspended_us)
{
    ensure(suspended_us >= 0);
    x->kind->suspend(x, launch_id, is_suspended, suspended_us);
}

void executor_signal(struct executor *x, uint64_t launch_id, uint32_t number, bool is_to_first)
{
    ensure(number >= 1 && number <= LAUNCH_SIGNAL_MAX);
    if (x->kind->signal != NULL) x->kind->signal(x, launch_id, number, is_to_first);
}

void executor_measure(struct executor *x)
{
    x->kind->measure(x);
}

void executor_sample(struct executor *x)
{
    if (x->kind->sample != NULL) x->kind->sample(x);
}

void executor_set_low_weight(struct executor *x, const uint32_t *uids, uint32_t count)
{
    if (x->kind->set_low_weight != NULL) x->kind->set_low_weight(x, uids, count);
}

void executor_warn(struct executor *x, const struct outside_warning *warning)
{
    if (x->kind->warn != NULL) x->kind->warn(x, warning);
}

void executor_flush(struct executor *x)
{
    if (x->kind->flush != NULL) x->kind->flush(x);
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
