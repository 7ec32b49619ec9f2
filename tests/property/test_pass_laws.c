/* Laws of the pass, on random worlds.
 *
 *   1. Without reservations the pass starts the same tasks in the same order as a slow selection, which takes the best
 *      candidate that fits now, by the priorities that a listing shows, starts one task of it, and repeats that: each
 *      model, several partitions, arrays, ranges of slots, resources, time limits, begin times. No task starts twice,
 *      and no resource is given out twice.
 *   2. A second pass at the same time starts nothing.
 *   3. With reservations it starts what a run over all jobs starts (engine/schedule.h), which knows neither groups nor
 *      bookings of earlier passes.
 *   4. With MONITOR it writes the lines of that run to the schedule file, and starts the same.
 *   5. The same with load values: requests for them, thresholds, and adjustments that fade.
 *   6. The same with several hosts, and jobs that have more than one.
 *   7. The same with jobs that have reservations in one partition and may start earlier in another one.
 *   8. The same with calendars. No job starts that would run when its queue is closed, and unless gaps are not used, no
 *      reservation does either. A pass is due when a queue opens for which jobs wait.
 *   9. The same with quotas, which are never exceeded, and with limits of the running tasks of a user and of an
 *      array.
 *  10. The same with limits (test_limit_laws.c).
 *  11. A pass that has to keep jobs back starts what it would start if they were held, and with them nothing else. */
#include "../dies.h"
#include "../limit_world.h"
#include "../pass_world.h"

#include <math.h>

#include "engine/closed_times.h"
#include "engine/live_cluster.h"
#include "engine/pending.h"
#include "engine/priorities.h"
#include "engine/schedule.h"
#include "engine/wait_leaders.h"

enum { RESOURCES = 2 };

static uint32_t several_hosts; /* starts on more than one host */
static uint32_t limited_amounts;
static uint32_t changed_limits; /* of jobs that run */

/* What each slot needs of a resource. */
struct plain_need {
    uint32_t resource;
    double amount;
};

struct plain_job {
    struct capacity request;
    uint32_t slots_max, need_count, gpus_per_slot;
    uint64_t mem_per_slot;
    const struct plain_need *needs;
};

static uint32_t plain_gpus(const struct plain_job *j, uint32_t slots)
{
    return j->gpus_per_slot > 0 ? j->gpus_per_slot * slots : j->request.gpus;
}

static uint64_t plain_mem(const struct plain_job *j, uint32_t slots)
{
    return j->mem_per_slot > 0 ? j->mem_per_slot * slots : j->request.mem_mib;
}

/* Free resources as plain numbers. */
struct plain {
    uint32_t cpus, gpus;
    uint64_t mem_mib;
    double free[RESOURCES];
};

static uint32_t plain_fits(const struct plain *p, const struct plain_job *j)
{
    if (j->request.cpus > p->cpus) return 0;
    uint32_t max = j->slots_max > j->request.cpus ? j->slots_max : j->request.cpus;
    for (uint32_t slots = max < p->cpus ? max : p->cpus; slots >= j->request.cpus; slots--) {
        bool fits = plain_gpus(j, slots) <= p->gpus && plain_mem(j, slots) <= p->mem_mib;
        for (uint32_t n = 0; n < j->need_count; n++)
            fits = fits && j->needs[n].amount * slots <= p->free[j->needs[n].resource];
        if (fits) return slots;
    }
    return 0;
}

static void plain_take(struct plain *p, const struct plain_job *j, uint32_t slots)
{
    p->cpus -= slots;
    p->gpus -= plain_gpus(j, slots);
    p->mem_mib -= plain_mem(j, slots);
    for (uint32_t n = 0; n < j->need_count; n++) p->free[j->needs[n].resource] -= j->needs[n].amount * slots;
}

/* --- random worlds ------------------------------------------------------------------------------------------------ */

/* The free resources of a world. Those of its consumables are what running tasks leave of 7 licences and 2 tapes. */
static struct plain plain_of(struct world *w)
{
    struct plain p = {
        .cpus = w->s.hosts.items[0].host.free_cpu_count,
        .gpus = w->s.hosts.items[0].host.free_gpu_count,
        .mem_mib = (uint64_t)w->s.hosts.items[0].host.free_mem_mib,
        .free = {7, 2},
    };
    for (uint32_t i = 0; i < w->s.tasks.count; i++) {
        const struct task *k = &w->s.tasks.items[i];
        if (job_state_is_end(k->state)) continue;
        const struct job *j = &w->s.jobs.items[state_find_job(&w->s, k->job_id)];
        for (uint32_t r = 0; r < j->request_count; r++)
            p.free[j->requests[r].resource] -= j->requests[r].amount * task_cpu_count(k);
    }
    return p;
}

/* Whether a list of queues, in which all hosts are this one, has a partition. */
static bool has_queue(const char *list, const char *partition)
{
    for (struct str rest = str(list != NULL ? list : "*"); rest.text != NULL;) {
        struct str unused, queue = str_cut(str_cut(rest, ',', &rest), '@', &unused);
        if (str_equal(queue, str("*")) || str_equal(queue, str(partition))) return true;
    }
    return false;
}

static bool may_start(struct world *w, const struct priority_row *row, const uint32_t *started)
{
    const struct job *j = &w->s.jobs.items[row->job];
    const struct object_row *qos = &w->s.objects[OBJECT_QOS].items[j->qos];
    int64_t max_s = w->s.objects[OBJECT_PARTITION].items[row->partition].object.value[PARTITION_MAX_TIME].number;
    uint32_t waiting = idset_count(&j->pending) - started[row->job], live = j->live_tasks + started[row->job];
    const char *name = w->s.objects[OBJECT_PARTITION].items[row->partition].object.name;
    if (j->placing != NULL && !(has_queue(j->placing->queues, name) && has_queue(j->placing->master_queues, name)))
        return false;
    if (row->task != NONE || j->is_held || j->begin_us > w->now_us || waiting == 0) return false;
    if (j->array_limit != 0 && live >= j->array_limit) return false;
    if (max_s >= 0 && j->time_limit_s > max_s) return false;
    if ((qos->qos_flags & QOS_ENFORCE_USAGE_THRESHOLD) == 0) return true;
    uint32_t assoc = state_assoc_in_partition(&w->s, j->assoc, row->partition);
    double factor = state_factors(&w->s, w->now_us, &w->s.cycle)[w->s.node_of.items[assoc]];
    return factor >= qos->object.value[QOS_USAGE_THRESHOLD].real;
}

static bool comes_before(struct world *w, const struct priority_row *a, const struct priority_row *b)
{
    const struct object_row *partitions = w->s.objects[OBJECT_PARTITION].items;
    int64_t tier_a = partitions[a->partition].object.value[PARTITION_TIER].number;
    int64_t tier_b = partitions[b->partition].object.value[PARTITION_TIER].number;
    if (w->s.policy.model != MODEL_TICKETS && tier_a != tier_b) return tier_a > tier_b;
    return a->priority > b->priority; /* equal rows keep their order */
}

static struct plain_job plain_job_of(const struct job *j, struct plain_need needs[RESOURCES])
{
    for (uint32_t r = 0; r < j->request_count; r++)
        needs[r] = (struct plain_need){j->requests[r].resource, j->requests[r].amount};
    static const struct job_placing none;
    const struct job_placing *placing = j->placing != NULL ? j->placing : &none;
    bool has_slots_per_node = placing->slots_per_node > 0; /* of the one node */
    return (struct plain_job){.request = j->request,
                              .slots_max = has_slots_per_node ? 0 : j->slots_max,
                              .gpus_per_slot = placing->gpus_per_slot,
                              .mem_per_slot = placing->mem_mib_per_cpu,

                              .needs = needs,
                              .need_count = j->request_count};
}

struct expected {
    uint32_t job_id, partition, slots;
};

/* The tasks that slow selection starts, one at a time, the best row's first. */
static uint32_t select_slowly(struct world *w, const struct priorities *all, struct expected *out)
{
    struct plain p = plain_of(w);
    uint32_t started[64] = {0}, count = 0;
    assert_true(w->s.jobs.count <= 64);
    for (;;) {
        const struct priority_row *best = NULL;
        struct plain_need needs[RESOURCES];
        for (uint32_t i = 0; i < all->count; i++) {
            const struct priority_row *row = &all->rows[i];
            struct plain_job job = plain_job_of(&w->s.jobs.items[row->job], needs);
            if (!may_start(w, row, started) || plain_fits(&p, &job) == 0) continue;
            if (best == NULL || comes_before(w, row, best)) best = row;
        }
        if (best == NULL) return count;
        struct plain_job job = plain_job_of(&w->s.jobs.items[best->job], needs);
        uint32_t slots = plain_fits(&p, &job);
        plain_take(&p, &job, slots);
        started[best->job]++;
        out[count++] = (struct expected){w->s.jobs.items[best->job].id, best->partition, slots};
    }
}

static uint32_t expect_starts(struct world *w)
{
    struct expected expected[64];
    struct priorities all;
    struct arena arena = {0};
    state_priorities(&w->s, w->now_us, NONE, &arena, &all);
    uint32_t count = select_slowly(w, &all, expected), first = w->s.tasks.count;
    arena_release(&arena);
    w->s.pass_is_due = true;
    assert_int_equal(world_pass(w), count);
    for (uint32_t i = 0; i < count; i++) {
        const struct task *k = &w->s.tasks.items[first + i];
        assert_int_equal(k->job_id, expected[i].job_id);
        assert_int_equal(k->partition, expected[i].partition);
        assert_int_equal(task_cpu_count(k), expected[i].slots);
    }
    w->s.pass_is_due = true;
    assert_int_equal(world_pass(w), 0);
    return count;
}

static void the_engine_starts_what_the_listing_says(void **unused)
{
    (void)unused;
    struct rng rng = {2};
    uint32_t started = 0, worlds = (uint32_t)repeats(600);
    for (uint32_t round = 0; round < worlds; round++) {
        struct world w;
        pass_world_make(&w, &rng);
        world_set(&w, "reservations", "none");
        for (int step = 0; step < 5; step++) {
            enum priority_model model = (enum priority_model)rng_below(&rng, MODEL_COUNT);
            world_set(&w, "PriorityType", priority_model_names[model]);
            uint32_t jobs = rng_below(&rng, 10);
            for (uint32_t i = 0; i < jobs; i++) pass_world_submit(&w, &rng, pass_users[rng_below(&rng, 4)], "");
            if (rng_below(&rng, 2)) wait_leaders_prepare(&w.s, w.now_us, (uint32_t)rng_below(&rng, 8));
            w.now_us += rng_below(&rng, 60) * SECOND;
            /* In the tickets model every task of an array has its own tickets, which rows do not show. */
            if (model == MODEL_TICKETS) world_set(&w, "max_pending_tasks_per_job", "1");
            started += expect_starts(&w);
            w.now_us += rng_below(&rng, 1000) * SECOND;
            pass_world_end_some(&w, &rng);
            engine_forget(&w.s);
        }
        world_release(&w);
    }
    print_message("# %u starts in %u worlds\n", started, worlds);
    assert_true(started > 5 * worlds);
}

/* Applies an event about some of the jobs. */
static void hold(struct world *w, const struct job_ref *refs, uint32_t count)
{
    struct event event = {.kind = EVENT_HOLD, .actor = world_operator, .jobs = {.refs = refs, .count = count}};
    if (count > 0 && world_apply(w, event, NULL) != 0) fail_msg("%s", ERR_SENTENCE(&w->e));
}

static uint32_t some_pending(struct world *w, struct rng *rng, struct job_ref *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->s.jobs.count; i++) {
        const struct job *j = &w->s.jobs.items[i];
        bool waits = j->ended_us == 0 && !j->is_held && idset_first(&j->pending) != NONE;
        if (waits && rng_below(rng, 2)) out[count++] = (struct job_ref){j->id, NONE};
    }
    return count;
}

static void expect_equal_starts(const struct world *a, uint32_t first_of_a, const struct world *b)
{
    assert_int_equal(a->s.tasks.count, b->s.tasks.count);
    for (uint32_t i = first_of_a; i < a->s.tasks.count; i++) {
        assert_int_equal(a->s.tasks.items[i].job_id, b->s.tasks.items[i].job_id);
        assert_int_equal(a->s.tasks.items[i].task_id, b->s.tasks.items[i].task_id);
        assert_int_equal(a->s.tasks.items[i].partition, b->s.tasks.items[i].partition);
    }
}

static void make_twin(struct world *w, struct rng *rng)
{
    pass_world_make(w, rng);
    world_set(w, "reservations", rng_below(rng, 2) ? "none" : "all");
    world_set(w, "PriorityType", rng_below(rng, 2) ? "priority/multifactor" : "priority/basic");
    uint32_t jobs = 1 + (uint32_t)rng_below(rng, 20);
    for (uint32_t i = 0; i < jobs; i++) pass_world_submit(w, rng, pass_users[rng_below(rng, 4)], "");
    w->now_us += rng_below(rng, 60) * SECOND;
}

static void jobs_that_are_kept_back_are_as_if_held(void **unused)
{
    (void)unused;
    uint32_t started = 0, kept = 0, worlds = (uint32_t)repeats(300);
    for (uint32_t round = 0; round < worlds; round++) {
        struct rng rng = {round + 1}, same = {round + 1}, own = {round + 1000};
        struct world keeping, holding;
        struct job_ref refs[64];
        make_twin(&keeping, &rng);
        make_twin(&holding, &same);
        uint32_t count = some_pending(&keeping, &own, refs), first = keeping.s.tasks.count;
        hold(&holding, refs, count);
        keeping.s.pass_is_due = holding.s.pass_is_due = true;
        struct event time = {.kind = EVENT_TIME,
                             .time = {.boot_id = "boot-1", .kept_back = refs, .kept_back_count = count}};
        assert_int_equal(world_apply(&keeping, time, NULL), 0);
        assert_int_equal(world_apply(&holding, (struct event){.kind = EVENT_TIME, .time = {.boot_id = "boot-1"}}, NULL),
                         0);
        expect_equal_starts(&keeping, first, &holding);
        started += keeping.s.tasks.count - first;
        kept += count;
        time.time = (__typeof__(time.time)){.boot_id = "boot-1", .has_kept = true};
        assert_int_equal(world_apply(&keeping, time, NULL), 0);
        keeping.s.pass_is_due = true;
        assert_int_equal(world_pass(&keeping), 0); /* what was kept back has started now, as far as it fits */
        world_release(&keeping);
        world_release(&holding);
    }
    print_message("# %u starts beside %u jobs that were kept back\n", started, kept);
    assert_true(started > worlds && kept > worlds);
}

/* --- reservations ------------------------------------------------------------------------------------------------- */

/* What `fairlead schedule --monitor` prints. */
static void write_lines(struct world *w, const struct schedule *schedule, struct buf *out)
{
    buf_add_text(out, "::::::::\n");
    for (uint32_t i = 0; schedule->has_reservations && i < schedule->rows.count; i++) {
        const struct schedule_row *row = &schedule->rows.items[i];
        if (row->state != SCHEDULE_WAITING) schedule_lines(schedule, &w->s, row, out);
    }
}

/* Law 4, after a pass. Returns the number of bytes. */
static size_t expect_lines(struct world *w, const struct buf *expected)
{
    const struct buf *lines = &w->out.schedule_lines;
    if (strstr(setting_text(&w->s.settings, SET_GE_PARAMS), "MONITOR") == NULL)
        assert_int_equal(lines->length, 0);
    else if (lines->length == 0 || strcmp(lines->text, expected->text) != 0)
        fail_msg("\n%s\nis not\n%s", lines->text, expected->text);
    return lines->length;
}

static void assert_placed(const struct task *k, const struct cluster_model *m, const struct allocation *a)
{
    assert_int_equal(k->placement_count, a->part_count);
    for (uint32_t i = 0; i < a->part_count; i++) {
        assert_int_equal(k->placements[i].host, m->host_of[m->cluster.instances.items[a->parts[i].instance].host]);
        assert_int_equal(idset_count(&k->placements[i].cpus), a->parts[i].slots);
    }
    several_hosts += a->part_count > 1;
}

/* Law 8, of a start or a reservation. */
static void assert_open(const struct world *w, const struct schedule *p, const struct schedule_row *row)
{
    uint32_t partition = p->model.partition_of[row->allocation.parts[0].instance];
    bool uses_gaps = w->s.policy.model != MODEL_TICKETS;
    if (row->state == SCHEDULE_STARTING || (row->state == SCHEDULE_RESERVED && uses_gaps))
        assert_false(closed_times_meet(&w->s, partition, row->start_us, row->end_us));
}

static void expect_pass_at_opening(struct world *w)
{
    int64_t opening_us = closed_times_next_opening(&w->s, w->now_us), due_us = state_next_due_us(&w->s);
    bool is_looked_at = w->s.free_cpu_count > 0 && w->s.pending->by_id.count > 0;
    if (opening_us != 0 && is_looked_at) assert_true(due_us != 0 && due_us <= opening_us);
}

static uint32_t expect_scheduled_starts(struct world *w, uint32_t *io_reserved, size_t *io_bytes)
{
    struct schedule schedule;
    struct buf lines = {0};
    uint32_t count = 0;
    assert_int_equal(schedule_make(&w->s, w->now_us, SCHEDULE_WITHOUT_ESTIMATES, &schedule, NULL), 0);
    write_lines(w, &schedule, &lines);
    w->s.pass_is_due = true;
    uint32_t started = world_pass(w);
    *io_bytes += expect_lines(w, &lines);
    for (uint32_t i = 0; i < schedule.rows.count; i++) {
        const struct schedule_row *row = &schedule.rows.items[i];
        *io_reserved += row->state == SCHEDULE_RESERVED;
        if (row->state != SCHEDULE_WAITING) assert_open(w, &schedule, row);
        if (row->state != SCHEDULE_STARTING) continue;
        const struct task *k = world_task(w, w->s.jobs.items[row->job].id, row->task_id);
        count++;
        assert_non_null(k);
        assert_int_equal(k->launch_us, w->now_us);
        assert_int_equal(k->partition, schedule.model.partition_of[row->allocation.parts[0].instance]);
        assert_placed(k, &schedule.model, &row->allocation);
    }
    assert_int_equal(count, started);
    expect_pass_at_opening(w);
    buf_release(&lines);
    schedule_release(&schedule);
    return started;
}

static void report_loads(struct world *w, struct rng *rng)
{
    static const char *const loads[] = {"0", "2", "3.5", "6", "9"}, *const free[] = {"1G", "2G", "4G"};
    const struct host_load values[] = {{"load_avg", loads[rng_below(rng, 5)]},
                                       {"num_proc", "8"},
                                       {"mem_free", free[rng_below(rng, 3)]},
                                       {"arch", rng_below(rng, 3) ? "a" : "b"}};
    uint32_t count = rng_below(rng, 5);
    const struct event event = {.kind = EVENT_LOAD, .load = {.values = values, .count = rng_below(rng, 3) ? 4 : count}};
    assert_int_equal(world_apply(w, event, NULL), 0);
}

static void use_loads(struct world *w, struct rng *rng)
{
    static const struct host_load all[] = {{"load_avg", "1"}, {"num_proc", "8"}, {"mem_free", "1G"}, {"arch", "a"}};
    assert_int_equal(world_apply(w, (struct event){.kind = EVENT_LOAD, .load = {.values = all, .count = 4}}, NULL), 0);
    world_object(w, OBJECT_PARTITION, "heavy", "load_thresholds=np_load_avg=0.6");
    world_object(w, OBJECT_PARTITION, "main", rng_below(rng, 2) ? "load_thresholds=np_load_avg=0.9" : "seq_no=3");
    world_set(w, "load_adjustment_decay_time", rng_below(rng, 2) ? "450" : "60");
}

static void submit_for_load(struct world *w, struct rng *rng)
{
    static const char *const requests[] = {"mem_free=2G", "arch=a", "arch=b", "mem_free=1G,license=1",
                                           "np_load_avg=0.5"};
    static const char *const partitions[] = {"main", "heavy,main", "heavy"};
    struct event job = world_job(pass_users[rng_below(rng, 4)]);
    uint32_t cpus = 1 + rng_below(rng, 3);
    job.submit = job_with(job.submit, "cpus=%u|time_limit_s=%u", cpus, 60 * (1 + rng_below(rng, 40)));
    job.submit = job_with(job.submit, "requests=%s", requests[rng_below(rng, 5)]);
    job.submit = job_with(job.submit, "partitions=%s", partitions[rng_below(rng, 3)]);
    if (world_apply(w, job, NULL) != 0) /* it is not reported now, or no host has it */
        assert_true(w->e.code == ERR_NOT_FOUND || w->e.code == ERR_INPUT);
}

/* Few reservations, and partitions in which fewer slots are free than in others. */
static void use_partitions(struct world *w, struct rng *rng)
{
    world_object(w, OBJECT_PARTITION, "fast", rng_below(rng, 2) ? "slots=3|MaxTime=UNLIMITED" : "slots=2|MaxTime=40");
    world_object(w, OBJECT_PARTITION, "heavy", rng_below(rng, 2) ? "slots=4|PriorityTier=3" : "slots=5");
    world_set(w, "reservation_depth", rng_below(rng, 2) ? "1" : "2");
}

static void submit_to_partitions(struct world *w, struct rng *rng)
{
    static const char *const partitions[] = {"main,fast", "fast,heavy,main", "heavy,main", "main", "fast", "heavy"};
    struct event job = world_job(pass_users[rng_below(rng, 2)]);
    uint32_t cpus = 1 + rng_below(rng, 3), minutes = 1 + rng_below(rng, 3) * 20; /* many jobs are alike */
    job.submit = job_with(job.submit, "cpus=%u|time_limit_s=%u", cpus, 60 * minutes);
    job.submit = job_with(job.submit, "partitions=%s", partitions[rng_below(rng, 3) ? rng_below(rng, 6) : 0]);
    if (rng_below(rng, 8) == 0) job.submit = job_with(job.submit, "array=0-3");
    (void)world_apply(w, job, NULL);
}

/* Law 9: no pool has more than its limits, if these were always the same. */
static void expect_pools_kept(const struct world *w)
{
    const struct cluster *c = &w->s.live_cluster->model.cluster;
    for (uint32_t i = 0; c->pools != NULL && i < c->pools->list.count; i++) {
        const struct offers *o = &c->pools->list.items[i].offers;
        for (uint32_t k = 0; k < o->list.count; k++) {
            double booked = timeline_at(&o->list.items[k].booked, w->now_us);
            assert_true(booked <= timeline_limit(o->list.items[k].amount, 0.0));
            limited_amounts += booked > 0.0;
        }
    }
}

/* Of some jobs, also of those that run; a limit may be over. Those above MaxTime are refused. */
static void change_time_limits(struct world *w, struct rng *rng)
{
    for (uint32_t i = rng_below(rng, 4); i > 0 && w->s.jobs.count > 0; i--) {
        uint32_t id = w->s.jobs.items[rng_below(rng, w->s.jobs.count)].id, minutes = 1 + rng_below(rng, 40);
        bool is_accepted = world_apply(w, world_update(id, job_text("time_limit_s=%u", 60 * minutes)), NULL) == 0;
        changed_limits += is_accepted && state_find_job(&w->s, id) != NONE &&
                          w->s.jobs.items[state_find_job(&w->s, id)].live_tasks > 0;
    }
}

enum world_part {
    HAS_LOADS = 1,
    HAS_HOSTS = 2,
    HAS_PARTITIONS = 4,
    HAS_CALENDARS = 8,
    HAS_LIMITS = 16,
    HAS_QUOTAS = 32
};

static void run_worlds(uint64_t seed, int parts)
{
    static const char *const which[] = {"auto", "none", "requested", "all"};
    static const char *const bf[] = {"bf_window", "bf_resolution", "bf_max_job_test", "bf_max_job_user"};
    static const char *const sort[] = {"load", "seqno", "share"};
    bool has_loads = (parts & HAS_LOADS) != 0, has_hosts = (parts & HAS_HOSTS) != 0;
    bool has_partitions = (parts & HAS_PARTITIONS) != 0, has_calendars = (parts & HAS_CALENDARS) != 0;
    bool has_quotas = (parts & HAS_QUOTAS) != 0;
    struct rng rng = {seed};
    uint32_t started = 0, reserved = 0, worlds = (uint32_t)repeats(600);
    size_t bytes = 0;
    changed_limits = 0;
    for (uint32_t round = 0; round < worlds; round++) {
        struct world w;
        pass_world_make(&w, &rng);
        if (rng_below(&rng, 2) == 0) world_set(&w, "params", "MONITOR=1");
        if (rng_below(&rng, 3) == 0) world_set(&w, "reservations", "all"); /* also in the tickets model */
        if (has_loads) use_loads(&w, &rng);
        if (has_hosts) pass_world_add_hosts(&w, &rng);
        if (has_partitions) use_partitions(&w, &rng);
        if (has_calendars) pass_world_add_calendars(&w, &rng);
        bool keeps_limits = has_quotas && rng_below(&rng, 2) == 0;
        if (has_quotas) pass_world_set_quotas(&w, &rng, has_hosts);
        for (int step = 0; step < 6; step++) {
            if (has_loads) report_loads(&w, &rng);
            if (has_quotas && !keeps_limits && rng_below(&rng, 3) == 0) pass_world_set_quotas(&w, &rng, has_hosts);
            if (has_quotas && !keeps_limits && rng_below(&rng, 2) == 0) pass_world_set_job_limits(&w, &rng);
            if (has_calendars && rng_below(&rng, 2) == 0) pass_world_report_calendars(&w, &rng);
            for (uint32_t i = has_loads ? rng_below(&rng, 5) : 0; i > 0; i--) submit_for_load(&w, &rng);
            for (uint32_t i = has_partitions ? rng_below(&rng, 9) : 0; i > 0; i--) submit_to_partitions(&w, &rng);
            char depth[12];
            enum priority_model model = (enum priority_model)rng_below(&rng, MODEL_COUNT);
            snprintf(depth, sizeof depth, "%u", rng_below(&rng, 6));
            if (rng_below(&rng, 2) == 0) world_set(&w, "PriorityType", priority_model_names[model]);
            if (!has_partitions && rng_below(&rng, 3) == 0) world_set(&w, "reservation_depth", depth);
            if (has_hosts && rng_below(&rng, 3) == 0) world_set(&w, "queue_sort_method", sort[rng_below(&rng, 3)]);
            if (rng_below(&rng, 3) == 0) world_set(&w, "max_reservation", depth);
            if (rng_below(&rng, 6) == 0) world_set(&w, bf[rng_below(&rng, 4)], depth[0] == '0' ? "7" : depth);
            if (rng_below(&rng, 3) == 0) world_set(&w, "reservations", which[rng_below(&rng, 4)]);
            if ((parts & HAS_LIMITS) != 0) limit_world_change(&w, &rng, (enum limit_world_theme)(round % THEME_COUNT));
            uint32_t jobs = rng_below(&rng, 10);
            for (uint32_t i = 0; i < jobs; i++) pass_world_submit(&w, &rng, pass_users[rng_below(&rng, 4)], "");
            w.now_us += rng_below(&rng, 60) * SECOND;
            if (rng_below(&rng, 2) == 0) change_time_limits(&w, &rng);
            started += expect_scheduled_starts(&w, &reserved, &bytes);
            if (keeps_limits && !has_loads) expect_pools_kept(&w);
            w.now_us += rng_below(&rng, 1000) * SECOND;
            pass_world_end_some(&w, &rng);
            engine_forget(&w.s);
        }
        world_release(&w);
    }
    print_message("# %u starts, %u reservations and %u new time limits in %u worlds, %zu bytes of lines\n", started,
                  reserved, changed_limits, worlds, bytes);
    assert_true(started > 5 * worlds && reserved > worlds && bytes > 150 * worlds && changed_limits > worlds / 8);
}

static void a_pass_starts_what_a_run_over_all_jobs_starts(void **unused)
{
    (void)unused;
    run_worlds(3, 0);
}

static void likewise_with_load_values(void **unused)
{
    (void)unused;
    run_worlds(4, HAS_LOADS);
}

static void likewise_with_several_hosts(void **unused)
{
    (void)unused;
    several_hosts = 0;
    run_worlds(5, HAS_HOSTS);
    run_worlds(6, HAS_LOADS | HAS_HOSTS);
    print_message("# %u starts on several hosts\n", several_hosts);
    assert_true(several_hosts > (uint32_t)repeats(500));
}

static void likewise_with_reservations_in_several_partitions(void **unused)
{
    (void)unused;
    run_worlds(7, HAS_PARTITIONS);
}

static void likewise_with_calendars(void **unused)
{
    (void)unused;
    run_worlds(8, HAS_CALENDARS);
    run_worlds(9, HAS_HOSTS | HAS_CALENDARS);
    run_worlds(10, HAS_PARTITIONS | HAS_CALENDARS);
}

static void likewise_with_quotas_and_limits_of_jobs(void **unused)
{
    (void)unused;
    run_worlds(11, HAS_QUOTAS);
    run_worlds(12, HAS_QUOTAS | HAS_HOSTS);
    run_worlds(13, HAS_QUOTAS | HAS_LOADS);
    run_worlds(14, HAS_QUOTAS | HAS_PARTITIONS | HAS_CALENDARS);
    print_message("# %u amounts of pools\n", limited_amounts);
    assert_true(limited_amounts > 1000);
}

static void likewise_with_limits(void **unused)
{
    (void)unused;
    run_worlds(12, HAS_LIMITS | HAS_HOSTS);
    run_worlds(13, HAS_LIMITS | HAS_PARTITIONS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_engine_starts_what_the_listing_says),
        cmocka_unit_test(jobs_that_are_kept_back_are_as_if_held),
        cmocka_unit_test(a_pass_starts_what_a_run_over_all_jobs_starts),
        cmocka_unit_test(likewise_with_load_values),
        cmocka_unit_test(likewise_with_several_hosts),
        cmocka_unit_test(likewise_with_reservations_in_several_partitions),
        cmocka_unit_test(likewise_with_calendars),
        cmocka_unit_test(likewise_with_quotas_and_limits_of_jobs),
        cmocka_unit_test(likewise_with_limits),
    };
    return cmocka_run_group_tests_name("pass laws", tests, NULL, NULL);
}
