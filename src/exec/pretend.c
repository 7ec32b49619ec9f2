/* The pretend executor: it runs nothing and ends launches by a virtual clock. For tests of the daemon and for
 * simulation.
 *
 *     jobs[]   a slot for each launch that is not yet acknowledged; free slots are reused
 *     heap[]   a binary heap of indices into jobs: those that run, the one that ends first on top
 *
 *  I1  heap holds exactly the jobs that run, and jobs[heap[k]].heap_index == k.
 *  I2  Ends are reported in order of time, then of launch id: the same on every run.
 *  I3  Time never goes backward: advancing to a time in the past has no effect.
 *
 * A launch runs as long as its plan says, or until its time limit if that is shorter. An order to end it takes end_us.
 * Start and end cost O(log n). The plan of a launch without one is run_us, all the CPUs that it is bound to (one if it
 * is bound to none) and the memory that was requested, from its start to its end. */
#include <signal.h>

#include "base/ensure.h"
#include "base/map.h"
#include "base/saturate.h"
#include "exec/executor_kind.h"

enum { KIB_PER_MIB = 1024 };

/* An order measures so many launches, and the next one goes on from there: its user stores each measurement. */
enum { MEASURED_MAX = 1000 };

struct pretend_launch {
    struct launch_record record;
    int64_t ends_us;
    enum launch_end end; /* how it ends then */
    struct executor_plan plan;
    uint32_t heap_index; /* NONE if it does not run */
};

struct pretend_executor {
    struct executor base;
    int64_t now_us, run_us, end_us;
    ARRAY(struct pretend_launch) jobs;
    ARRAY(uint32_t) free_slots, heap;
    uint32_t next_measured;          /* index in jobs: the first one of the next measurement */
    struct map index_by_id;          /* from launch id to index in jobs */
    struct executor_reports reports; /* not yet fetched */
};

static const struct executor_kind pretend_kind;

static struct pretend_executor *pretend_of(struct executor *x)
{
    return (struct pretend_executor *)x;
}

static void add_report(struct pretend_executor *p, const struct pretend_launch *job)
{
    *array_add(&p->reports.list) = (struct executor_report){.kind = EXECUTOR_RECORD, .record = job->record};
}

static struct launch_usage usage_at(const struct pretend_launch *job, int64_t at_us)
{
    int64_t from_us = job->plan.suspended_from_us, until_us = from_us != 0 && from_us < at_us ? from_us : at_us;
    int64_t run_us = until_us - job->record.started_us - job->plan.suspended_us;
    return (struct launch_usage){.id = job->record.id,
                                 .at_us = at_us,
                                 .cpu_us = (int64_t)((double)(run_us > 0 ? run_us : 0) * job->plan.cpus),
                                 .mem_kib = job->plan.mem_kib};
}

/* --- the heap ----------------------------------------------------------------------------------------------------- */

static bool ends_before(const struct pretend_executor *p, uint32_t a, uint32_t b)
{
    const struct pretend_launch *ja = &p->jobs.items[a], *jb = &p->jobs.items[b];
    if (ja->ends_us != jb->ends_us) return ja->ends_us < jb->ends_us;
    return ja->record.id < jb->record.id; /* I2 */
}

static void heap_set(struct pretend_executor *p, uint32_t heap_index, uint32_t job_index)
{
    p->heap.items[heap_index] = job_index;
    p->jobs.items[job_index].heap_index = heap_index; /* I1 */
}

static void heap_sift_up(struct pretend_executor *p, uint32_t heap_index)
{
    uint32_t job_index = p->heap.items[heap_index];
    while (heap_index > 0) {
        uint32_t parent = (heap_index - 1) / 2;
        if (!ends_before(p, job_index, p->heap.items[parent])) break;
        heap_set(p, heap_index, p->heap.items[parent]);
        heap_index = parent;
    }
    heap_set(p, heap_index, job_index);
}

static void heap_sift_down(struct pretend_executor *p, uint32_t heap_index)
{
    uint32_t job_index = p->heap.items[heap_index];
    for (uint32_t child; (child = 2 * heap_index + 1) < p->heap.count; heap_index = child) {
        if (child + 1 < p->heap.count && ends_before(p, p->heap.items[child + 1], p->heap.items[child])) child++;
        if (!ends_before(p, p->heap.items[child], job_index)) break;
        heap_set(p, heap_index, p->heap.items[child]);
    }
    heap_set(p, heap_index, job_index);
}

static void heap_remove(struct pretend_executor *p, uint32_t job_index)
{
    uint32_t heap_index = p->jobs.items[job_index].heap_index;
    ensure(heap_index < p->heap.count && p->heap.items[heap_index] == job_index); /* I1 */
    uint32_t last = p->heap.items[--p->heap.count];
    p->jobs.items[job_index].heap_index = NONE;
    if (last == job_index) return;
    heap_set(p, heap_index, last);
    heap_sift_up(p, heap_index);
    heap_sift_down(p, p->jobs.items[last].heap_index);
}

/* --- the functions of an executor --------------------------------------------------------------------------------- */

static uint32_t new_slot(struct pretend_executor *p)
{
    if (p->free_slots.count > 0) return p->free_slots.items[--p->free_slots.count];
    (void)array_add(&p->jobs);
    return p->jobs.count - 1;
}

/* It ends by itself or at its time limit, but not before now, nor while it is suspended. */
static void set_end_by_plan(const struct pretend_executor *p, struct pretend_launch *job)
{
    const struct executor_plan *plan = &job->plan;
    bool hits_limit = plan->time_limit_us > 0 && plan->time_limit_us < plan->run_us;
    int64_t ends_us = plan->started_us + plan->suspended_us + (hits_limit ? plan->time_limit_us : plan->run_us);
    job->ends_us = plan->suspended_from_us != 0 ? INT64_MAX : ends_us > p->now_us ? ends_us : p->now_us;
    job->end = hits_limit ? LAUNCH_TIMED_OUT : LAUNCH_EXITED;
}

void executor_pretend_start(struct executor *x, uint64_t launch_id, const struct executor_plan *plan)
{
    ensure(x->kind == &pretend_kind && plan->run_us >= 0);
    struct pretend_executor *p = pretend_of(x);
    uint32_t known = map_get_u64(&p->index_by_id, launch_id);
    if (known != NONE) {
        add_report(p, &p->jobs.items[known]);
        return;
    }
    uint32_t index = new_slot(p);
    map_set_u64(&p->index_by_id, launch_id, index);
    p->jobs.items[index] = (struct pretend_launch){
        .record = {.id = launch_id,
                   .phase = LAUNCH_STARTED,
                   .at_us = plan->started_us,
                   .started_us = plan->started_us,
                   .pid = 1},
        .plan = *plan,
    };
    set_end_by_plan(p, &p->jobs.items[index]);
    *array_add(&p->heap) = index;
    heap_sift_up(p, p->heap.count - 1);
    add_report(p, &p->jobs.items[index]);
}

static void pretend_start(struct executor *x, const struct launch *launch)
{
    const struct pretend_executor *p = pretend_of(x);
    uint32_t cpu_count = idset_count(&launch->cpus);
    const struct executor_plan plan = {.started_us = p->now_us,
                                       .run_us = p->run_us,
                                       .time_limit_us = launch->time_limit_us,
                                       .cpus = cpu_count > 0 ? cpu_count : 1,
                                       .mem_kib = saturate_multiply(launch->mem_mib, KIB_PER_MIB)};
    executor_pretend_start(x, launch->id, &plan);
}

static void end_job(struct pretend_executor *p, uint32_t index, int64_t at_us, enum launch_end end)
{
    struct pretend_launch *job = &p->jobs.items[index];
    struct launch_usage usage = usage_at(job, at_us);
    heap_remove(p, index);
    job->record.phase = LAUNCH_ENDED;
    job->record.at_us = at_us;
    job->record.end = end;
    job->record.signal = end == LAUNCH_EXITED ? 0 : SIGTERM;
    job->record.exit_status = end == LAUNCH_EXITED ? job->plan.exit_status : 0;
    job->record.cpu_us = usage.cpu_us;
    job->record.max_rss_kib = usage.mem_kib;
    job->record.io_bytes = usage.io_bytes;
    add_report(p, job);
}

/* A launch that ends by itself before its end was carried out ends as it would have. */
static void pretend_end(struct executor *x, uint64_t launch_id, int64_t grace_us)
{
    struct pretend_executor *p = pretend_of(x);
    (void)grace_us;
    uint32_t index = map_get_u64(&p->index_by_id, launch_id);
    if (index == NONE || p->jobs.items[index].heap_index == NONE) return;
    struct pretend_launch *job = &p->jobs.items[index];
    if (p->end_us == 0) {
        end_job(p, index, p->now_us, LAUNCH_CANCELLED);
        return;
    }
    if (job->record.phase == LAUNCH_COMPLETING || job->ends_us <= p->now_us + p->end_us) return;
    job->ends_us = p->now_us + p->end_us;
    job->end = LAUNCH_CANCELLED;
    job->record.phase = LAUNCH_COMPLETING;
    job->record.at_us = p->now_us;
    heap_sift_up(p, job->heap_index);
    add_report(p, job);
}

void executor_pretend_lose(struct executor *x, uint64_t launch_id, const char *detail)
{
    ensure(x->kind == &pretend_kind);
    struct pretend_executor *p = pretend_of(x);
    uint32_t index = map_get_u64(&p->index_by_id, launch_id);
    if (index == NONE || p->jobs.items[index].heap_index == NONE) return;
    launch_record_set_detail(&p->jobs.items[index].record, detail);
    end_job(p, index, p->now_us, LAUNCH_LOST);
}

static void pretend_acknowledge(struct executor *x, uint64_t launch_id)
{
    struct pretend_executor *p = pretend_of(x);
    uint32_t index = map_get_u64(&p->index_by_id, launch_id);
    if (index == NONE || p->jobs.items[index].heap_index != NONE) return; /* a running launch stays known */
    map_remove_u64(&p->index_by_id, launch_id);
    *array_add(&p->free_slots) = index;
}

static void pretend_set_cpu_weight(struct executor *x, uint64_t launch_id, uint32_t cpu_weight)
{
    (void)x;
    (void)launch_id;
    (void)cpu_weight; /* virtual time is not shared: a weight has no effect */
}

/* A limit that has passed ends the launch with the next advance, even if that is to the same time. */
static void pretend_set_time_limit(struct executor *x, uint64_t launch_id, int64_t time_limit_us)
{
    struct pretend_executor *p = pretend_of(x);
    uint32_t index = map_get_u64(&p->index_by_id, launch_id);
    if (index == NONE) return;
    struct pretend_launch *job = &p->jobs.items[index];
    if (job->record.phase != LAUNCH_STARTED) return;
    job->plan.time_limit_us = time_limit_us;
    set_end_by_plan(p, job);
    heap_sift_up(p, job->heap_index);
    heap_sift_down(p, job->heap_index);
}

static void pretend_suspend(struct executor *x, uint64_t launch_id, bool is_suspended, int64_t suspended_us)
{
    struct pretend_executor *p = pretend_of(x);
    uint32_t index = map_get_u64(&p->index_by_id, launch_id);
    if (index == NONE) return;
    struct pretend_launch *job = &p->jobs.items[index];
    if (job->record.phase != LAUNCH_STARTED) return;
    if (!is_suspended)
        job->plan.suspended_from_us = 0;
    else if (job->plan.suspended_from_us == 0)
        job->plan.suspended_from_us = p->now_us;
    job->plan.suspended_us = suspended_us;
    set_end_by_plan(p, job);
    heap_sift_up(p, job->heap_index);
    heap_sift_down(p, job->heap_index);
}

static void pretend_measure(struct executor *x)
{
    struct pretend_executor *p = pretend_of(x);
    uint32_t measured = 0;
    for (uint32_t i = 0; i < p->jobs.count && measured < MEASURED_MAX; i++) {
        if (p->next_measured >= p->jobs.count) p->next_measured = 0;
        const struct pretend_launch *job = &p->jobs.items[p->next_measured++];
        if (job->heap_index == NONE) continue;
        struct launch_usage usage = usage_at(job, p->now_us);
        measured++;
        *array_add(&p->reports.list) = (struct executor_report){.kind = EXECUTOR_USAGE, .usage = usage};
    }
}

static int pretend_descriptor(const struct executor *x)
{
    (void)x;
    return -1;
}

static bool pretend_wants_write(const struct executor *x)
{
    (void)x;
    return false;
}

static void pretend_ready(struct executor *x, struct executor_reports *out_reports)
{
    struct pretend_executor *p = pretend_of(x);
    for (uint32_t i = 0; i < p->reports.list.count; i++) *array_add(&out_reports->list) = p->reports.list.items[i];
    array_clear(&p->reports.list);
}

static void pretend_close(struct executor *x)
{
    struct pretend_executor *p = pretend_of(x);
    array_release(&p->jobs);
    array_release(&p->free_slots);
    array_release(&p->heap);
    map_release(&p->index_by_id);
    array_release(&p->reports.list);
    mem_free(p);
}

static const struct executor_kind pretend_kind = {
    .close = pretend_close,
    .start = pretend_start,
    .end = pretend_end,
    .acknowledge = pretend_acknowledge,
    .set_cpu_weight = pretend_set_cpu_weight,
    .set_time_limit = pretend_set_time_limit,
    .suspend = pretend_suspend,
    .measure = pretend_measure,
    .descriptor = pretend_descriptor,
    .wants_write = pretend_wants_write,
    .ready = pretend_ready,
};

static struct pretend_executor *open_at(int64_t now_us)
{
    struct pretend_executor *p = mem_resize(NULL, 0, sizeof *p);
    p->base.kind = &pretend_kind;
    p->now_us = now_us;
    return p;
}

struct executor *executor_open_pretend(int64_t now_us, int64_t run_us)
{
    ensure(run_us >= 0);
    struct pretend_executor *p = open_at(now_us);
    p->run_us = run_us;
    executor_pretend_synced(&p->base);
    return &p->base;
}

struct executor *executor_open_plans(int64_t now_us, int64_t end_us)
{
    struct pretend_executor *p = open_at(now_us);
    p->end_us = end_us;
    return &p->base;
}

void executor_pretend_synced(struct executor *x)
{
    ensure(x->kind == &pretend_kind);
    *array_add(&pretend_of(x)->reports.list) = (struct executor_report){.kind = EXECUTOR_SYNCED};
}

int64_t executor_pretend_next_us(const struct executor *x)
{
    ensure(x->kind == &pretend_kind);
    const struct pretend_executor *p = (const struct pretend_executor *)x;
    if (p->reports.list.count > 0) return p->now_us;
    int64_t next_us = p->heap.count > 0 ? p->jobs.items[p->heap.items[0]].ends_us : 0;
    return next_us != INT64_MAX ? next_us : 0; /* all are suspended */
}

void executor_pretend_advance(struct executor *x, int64_t now_us)
{
    ensure(x->kind == &pretend_kind);
    struct pretend_executor *p = pretend_of(x);
    if (now_us < p->now_us) return; /* I3 */
    p->now_us = now_us;
    while (p->heap.count > 0) {
        uint32_t first = p->heap.items[0];
        const struct pretend_launch *job = &p->jobs.items[first];
        if (job->ends_us > now_us) break;
        end_job(p, first, job->ends_us, job->end);
    }
}
