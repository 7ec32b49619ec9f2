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
 * A launch runs for run_us, or until its time limit if that is shorter. Ending it takes no grace. Start and end cost
 * O(log n). Only the id, the time limit, the CPUs and the memory of a launch are used, because a simulated launch has
 * no paths. It uses all the CPUs that it is bound to (one if it is bound to none) and the memory that was requested,
 * from its start to its end. */
#include <signal.h>

#include "base/ensure.h"
#include "base/map.h"
#include "base/saturate.h"
#include "exec/executor_kind.h"

enum { KIB_PER_MIB = 1024 };

struct pretend_job {
    struct launch_record record;
    int64_t ends_us;
    bool hits_limit; /* it ends at its time limit, not by itself */
    uint32_t cpu_count;
    int64_t mem_kib;
    uint32_t heap_index; /* NONE if it does not run */
};

struct pretend {
    struct executor base;
    int64_t now_us, run_us;
    ARRAY(struct pretend_job) jobs;
    ARRAY(uint32_t) free_slots, heap;
    struct map index_by_id;          /* from launch id to index in jobs */
    struct executor_reports reports; /* not yet fetched */
};

static struct pretend *pretend_of(struct executor *x)
{
    return (struct pretend *)x;
}

static void add_report(struct pretend *p, const struct pretend_job *job)
{
    *array_add(&p->reports.list) = (struct executor_report){.kind = EXECUTOR_RECORD, .record = job->record};
}

static struct launch_usage usage_at(const struct pretend_job *job, int64_t at_us)
{
    return (struct launch_usage){.id = job->record.id,
                                 .at_us = at_us,
                                 .cpu_us = (at_us - job->record.started_us) * job->cpu_count,
                                 .mem_kib = job->mem_kib};
}

/* --- the heap ----------------------------------------------------------------------------------------------------- */

static bool ends_before(const struct pretend *p, uint32_t a, uint32_t b)
{
    const struct pretend_job *ja = &p->jobs.items[a], *jb = &p->jobs.items[b];
    if (ja->ends_us != jb->ends_us) return ja->ends_us < jb->ends_us;
    return ja->record.id < jb->record.id; /* I2 */
}

static void heap_set(struct pretend *p, uint32_t heap_index, uint32_t job_index)
{
    p->heap.items[heap_index] = job_index;
    p->jobs.items[job_index].heap_index = heap_index; /* I1 */
}

static void heap_sift_up(struct pretend *p, uint32_t heap_index)
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

static void heap_sift_down(struct pretend *p, uint32_t heap_index)
{
    uint32_t job_index = p->heap.items[heap_index];
    for (uint32_t child; (child = 2 * heap_index + 1) < p->heap.count; heap_index = child) {
        if (child + 1 < p->heap.count && ends_before(p, p->heap.items[child + 1], p->heap.items[child])) child++;
        if (!ends_before(p, p->heap.items[child], job_index)) break;
        heap_set(p, heap_index, p->heap.items[child]);
    }
    heap_set(p, heap_index, job_index);
}

static void heap_remove(struct pretend *p, uint32_t job_index)
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

static void pretend_start(struct executor *x, const struct launch *launch)
{
    struct pretend *p = pretend_of(x);
    uint32_t known = map_get_u64(&p->index_by_id, launch->id);
    if (known != NONE) {
        add_report(p, &p->jobs.items[known]);
        return;
    }
    uint32_t index = p->jobs.count;
    if (p->free_slots.count > 0)
        index = p->free_slots.items[--p->free_slots.count];
    else
        (void)array_add(&p->jobs);
    map_set_u64(&p->index_by_id, launch->id, index);
    uint32_t cpu_count = idset_count(&launch->cpus);
    bool hits_limit = launch->time_limit_us > 0 && launch->time_limit_us < p->run_us;
    p->jobs.items[index] = (struct pretend_job){
        .record = {.id = launch->id, .phase = LAUNCH_STARTED, .at_us = p->now_us, .started_us = p->now_us, .pid = 1},
        .ends_us = p->now_us + (hits_limit ? launch->time_limit_us : p->run_us),
        .hits_limit = hits_limit,
        .cpu_count = cpu_count > 0 ? cpu_count : 1,
        .mem_kib = saturate_multiply(launch->mem_mib, KIB_PER_MIB),
    };
    *array_add(&p->heap) = index;
    heap_sift_up(p, p->heap.count - 1);
    add_report(p, &p->jobs.items[index]);
}

static void end_job(struct pretend *p, uint32_t index, int64_t at_us, enum launch_end end)
{
    struct pretend_job *job = &p->jobs.items[index];
    struct launch_usage usage = usage_at(job, at_us);
    heap_remove(p, index);
    job->record.phase = LAUNCH_ENDED;
    job->record.at_us = at_us;
    job->record.end = end;
    job->record.signal = end == LAUNCH_EXITED ? 0 : SIGTERM;
    job->record.cpu_us = usage.cpu_us;
    job->record.max_rss_kib = usage.mem_kib;
    job->record.io_bytes = usage.io_bytes;
    add_report(p, job);
}

static void pretend_end(struct executor *x, uint64_t launch_id, int64_t grace_us)
{
    struct pretend *p = pretend_of(x);
    (void)grace_us;
    uint32_t index = map_get_u64(&p->index_by_id, launch_id);
    if (index != NONE && p->jobs.items[index].heap_index != NONE) end_job(p, index, p->now_us, LAUNCH_CANCELLED);
}

static void pretend_acknowledge(struct executor *x, uint64_t launch_id)
{
    struct pretend *p = pretend_of(x);
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

static void pretend_measure(struct executor *x)
{
    struct pretend *p = pretend_of(x);
    for (uint32_t i = 0; i < p->heap.count; i++) {
        struct launch_usage usage = usage_at(&p->jobs.items[p->heap.items[i]], p->now_us);
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
    struct pretend *p = pretend_of(x);
    for (uint32_t i = 0; i < p->reports.list.count; i++) *array_add(&out_reports->list) = p->reports.list.items[i];
    array_clear(&p->reports.list);
}

static void pretend_close(struct executor *x)
{
    struct pretend *p = pretend_of(x);
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
    .measure = pretend_measure,
    .descriptor = pretend_descriptor,
    .wants_write = pretend_wants_write,
    .ready = pretend_ready,
};

struct executor *executor_open_pretend(int64_t now_us, int64_t run_us)
{
    ensure(run_us >= 0);
    struct pretend *p = mem_resize(NULL, 0, sizeof *p);
    p->base.kind = &pretend_kind;
    p->now_us = now_us;
    p->run_us = run_us;
    *array_add(&p->reports.list) = (struct executor_report){.kind = EXECUTOR_SYNCED};
    return &p->base;
}

void executor_pretend_advance(struct executor *x, int64_t now_us)
{
    ensure(x->kind == &pretend_kind);
    struct pretend *p = pretend_of(x);
    if (now_us < p->now_us) return; /* I3 */
    p->now_us = now_us;
    while (p->heap.count > 0) {
        uint32_t first = p->heap.items[0];
        const struct pretend_job *job = &p->jobs.items[first];
        if (job->ends_us > now_us) break;
        end_job(p, first, job->ends_us, job->hits_limit ? LAUNCH_TIMED_OUT : LAUNCH_EXITED);
    }
}
