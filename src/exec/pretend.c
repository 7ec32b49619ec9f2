/* The pretend executor: runs nothing, ends things by a virtual clock. For the simulator and for tests of the daemon.
 *
 *     jobs[]   one a launch that is not yet acknowledged; free slots are used again
 *     heap[]   indices of running jobs, the one that ends first on top
 *
 *  I1  heap holds exactly the jobs that run, and jobs[heap[k]].place == k.
 *  I2  Ends are reported in order of their time, then of the launch id: the same on every run.
 *  I3  Time never goes backward: advancing to the past changes nothing.
 *
 * A launch runs for run_us, or until its time limit when that is shorter. Ending it needs no grace. Cost: O(log n) a
 * start or an end. It checks nothing of a launch but its id and time limit: a simulated one has no paths. */
#include "base/ensure.h"
#include "base/map.h"
#include "exec/executor_kind.h"

struct pretend_job {
    struct launch_record record;
    int64_t ends_us;
    bool times_out;
    uint32_t place; /* in heap, NONE when it does not run */
};

struct pretend {
    struct executor base;
    int64_t now_us, run_us;
    ARRAY(struct pretend_job) jobs;
    ARRAY(uint32_t) free, heap;
    struct map by_id;
    struct executor_reports reports; /* not yet fetched */
};

static struct pretend *pretend_of(struct executor *x)
{
    return (struct pretend *)x;
}

static void report(struct pretend *p, const struct pretend_job *job)
{
    *array_add(&p->reports.list) = (struct executor_report){.kind = EXECUTOR_RECORD, .record = job->record};
}

/* ---- the heap ---- */

static bool ends_before(const struct pretend *p, uint32_t a, uint32_t b)
{
    const struct pretend_job *ja = &p->jobs.items[a], *jb = &p->jobs.items[b];
    if (ja->ends_us != jb->ends_us) return ja->ends_us < jb->ends_us;
    return ja->record.id < jb->record.id; /* I2 */
}

static void heap_place(struct pretend *p, uint32_t place, uint32_t index)
{
    p->heap.items[place] = index;
    p->jobs.items[index].place = place; /* I1 */
}

static void heap_up(struct pretend *p, uint32_t place)
{
    uint32_t index = p->heap.items[place];
    while (place > 0 && ends_before(p, index, p->heap.items[(place - 1) / 2])) {
        heap_place(p, place, p->heap.items[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    heap_place(p, place, index);
}

static void heap_down(struct pretend *p, uint32_t place)
{
    uint32_t index = p->heap.items[place];
    for (uint32_t child; (child = 2 * place + 1) < p->heap.count; place = child) {
        if (child + 1 < p->heap.count && ends_before(p, p->heap.items[child + 1], p->heap.items[child])) child++;
        if (!ends_before(p, p->heap.items[child], index)) break;
        heap_place(p, place, p->heap.items[child]);
    }
    heap_place(p, place, index);
}

static void heap_remove(struct pretend *p, uint32_t index)
{
    uint32_t place = p->jobs.items[index].place;
    ensure(place < p->heap.count && p->heap.items[place] == index); /* I1 */
    uint32_t last = p->heap.items[--p->heap.count];
    p->jobs.items[index].place = NONE;
    if (last == index) return;
    heap_place(p, place, last);
    heap_up(p, place);
    heap_down(p, p->jobs.items[last].place);
}

/* ---- what an executor does ---- */

static void pretend_start(struct executor *x, const struct launch *launch)
{
    struct pretend *p = pretend_of(x);
    uint32_t known = map_get_u64(&p->by_id, launch->id);
    if (known != NONE) {
        report(p, &p->jobs.items[known]);
        return;
    }
    uint32_t index = p->jobs.count;
    if (p->free.count > 0)
        index = p->free.items[--p->free.count];
    else
        (void)array_add(&p->jobs);
    map_set_u64(&p->by_id, launch->id, index);
    bool times_out = launch->time_limit_us > 0 && launch->time_limit_us < p->run_us;
    p->jobs.items[index] = (struct pretend_job){
        .record = {.id = launch->id, .phase = LAUNCH_STARTED, .at_us = p->now_us, .started_us = p->now_us, .pid = 1},
        .ends_us = p->now_us + (times_out ? launch->time_limit_us : p->run_us),
        .times_out = times_out,
    };
    *array_add(&p->heap) = index;
    heap_up(p, p->heap.count - 1);
    report(p, &p->jobs.items[index]);
}

static void end_job(struct pretend *p, uint32_t index, int64_t at_us, enum launch_end end)
{
    struct pretend_job *job = &p->jobs.items[index];
    heap_remove(p, index);
    job->record.phase = LAUNCH_ENDED;
    job->record.at_us = at_us;
    job->record.end = end;
    job->record.signal = end == LAUNCH_EXITED ? 0 : 15;
    report(p, job);
}

static void pretend_end(struct executor *x, uint64_t launch_id, int64_t grace_us)
{
    struct pretend *p = pretend_of(x);
    (void)grace_us;
    uint32_t index = map_get_u64(&p->by_id, launch_id);
    if (index != NONE && p->jobs.items[index].place != NONE) end_job(p, index, p->now_us, LAUNCH_CANCELLED);
}

static void pretend_acknowledge(struct executor *x, uint64_t launch_id)
{
    struct pretend *p = pretend_of(x);
    uint32_t index = map_get_u64(&p->by_id, launch_id);
    if (index == NONE || p->jobs.items[index].place != NONE) return; /* runs: cannot be forgotten */
    map_remove_u64(&p->by_id, launch_id);
    *array_add(&p->free) = index;
}

static void pretend_weigh(struct executor *x, uint64_t launch_id, uint32_t cpu_weight)
{
    (void)x;
    (void)launch_id;
    (void)cpu_weight; /* time is virtual: every job has its CPUs to itself */
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
    array_release(&p->free);
    array_release(&p->heap);
    map_release(&p->by_id);
    array_release(&p->reports.list);
    mem_free(p);
}

static const struct executor_kind pretend_kind = {
    .close = pretend_close,
    .start = pretend_start,
    .end = pretend_end,
    .acknowledge = pretend_acknowledge,
    .weigh = pretend_weigh,
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
        end_job(p, first, job->ends_us, job->times_out ? LAUNCH_TIMED_OUT : LAUNCH_EXITED);
    }
}
