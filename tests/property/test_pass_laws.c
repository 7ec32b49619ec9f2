/* Laws of the pass, on random queues and random worlds.
 *
 *   1. The pass starts the same tasks in the same order as a slow selection, which takes the best candidate that fits
 *      now, starts one task of it, and repeats that.
 *   2. The same holds in the engine, with the priorities that a listing shows: each model, several partitions, arrays,
 *      ranges of slots, resources, time limits, begin times. No task starts twice, and no resource is given out twice.
 *   3. A second pass at the same time starts nothing. */
#include "../pass_world.h"

#include <math.h>

#include "engine/priorities.h"
#include "sched/pass.h"

enum { JOBS = 12, PARTITIONS = 3, RESOURCES = 2, CANDIDATES = JOBS * PARTITIONS };

/* --- random queues ------------------------------------------------------------------------------------------------ */

struct queue {
    struct pass_job jobs[JOBS];
    struct consumable_need needs[JOBS][RESOURCES];
    struct candidate candidates[CANDIDATES];
    uint32_t candidate_count;
    struct capacity has;
    double amounts[RESOURCES];
};

static void make_queue(struct queue *q, struct rng *rng)
{
    *q = (struct queue){.has = {1 + rng_below(rng, 12), rng_below(rng, 3), 10 + rng_below(rng, 30)}};
    for (int i = 0; i < RESOURCES; i++) q->amounts[i] = rng_below(rng, 3) == 0 ? (double)INFINITY : rng_below(rng, 9);
    for (uint32_t i = 0; i < JOBS; i++) {
        struct pass_job *j = &q->jobs[i];
        *j = (struct pass_job){.job = i,
                               .tasks = 1 + rng_below(rng, 4),
                               .request = {1 + rng_below(rng, 4), rng_below(rng, 4) == 0, rng_below(rng, 15)},
                               .slots_max = rng_below(rng, 2) * rng_below(rng, 8),
                               .needs = q->needs[i],
                               .need_count = rng_below(rng, RESOURCES + 1)};
        for (uint32_t n = 0; n < RESOURCES; n++) q->needs[i][n] = (struct consumable_need){n, rng_below(rng, 4)};
        for (uint32_t p = 0; p < PARTITIONS; p++) {
            if (rng_below(rng, 3) == 0) continue;
            uint32_t tasks = 1 + rng_below(rng, 3), tier = rng_below(rng, 2);
            q->candidates[q->candidate_count++] = (struct candidate){
                .job = i, .partition = p, .tasks = tasks, .order = sort_key_priority(tier, rng_below(rng, 6))};
        }
    }
}

/* Free resources as plain numbers. */
struct plain {
    uint32_t cpus, gpus;
    uint64_t mem_mib;
    double free[RESOURCES];
};

static uint32_t plain_fits(const struct plain *p, const struct pass_job *j)
{
    if (j->request.cpus > p->cpus || j->request.gpus > p->gpus || j->request.mem_mib > p->mem_mib) return 0;
    uint32_t max = j->slots_max > j->request.cpus ? j->slots_max : j->request.cpus;
    for (uint32_t slots = max < p->cpus ? max : p->cpus; slots >= j->request.cpus; slots--) {
        bool fits = true;
        for (uint32_t n = 0; n < j->need_count; n++)
            fits = fits && j->needs[n].amount * slots <= p->free[j->needs[n].resource];
        if (fits) return slots;
    }
    return 0;
}

static void plain_take(struct plain *p, const struct pass_job *j, uint32_t slots)
{
    p->cpus -= slots;
    p->gpus -= j->request.gpus;
    p->mem_mib -= j->request.mem_mib;
    for (uint32_t n = 0; n < j->need_count; n++) p->free[j->needs[n].resource] -= j->needs[n].amount * slots;
}

/* The index of the best candidate that fits, or NONE. */
static uint32_t best_candidate(const struct queue *q, const struct plain *p)
{
    uint32_t best = NONE;
    for (uint32_t i = 0; i < q->candidate_count; i++) {
        const struct candidate *c = &q->candidates[i];
        if (c->tasks == 0 || q->jobs[c->job].tasks == 0 || plain_fits(p, &q->jobs[c->job]) == 0) continue;
        if (best == NONE || c->order > q->candidates[best].order) best = i;
    }
    return best;
}

static void expect_slow_selection(struct queue slow, const struct pass_starts *starts)
{
    struct plain p = {
        .cpus = slow.has.cpus,
        .gpus = slow.has.gpus,
        .mem_mib = slow.has.mem_mib,
        .free = {slow.amounts[0], slow.amounts[1]},
    };
    uint32_t count = 0;
    for (uint32_t i = 0; i < JOBS; i++) slow.jobs[i].needs = slow.needs[i];
    for (uint32_t best; (best = best_candidate(&slow, &p)) != NONE; count++) {
        struct candidate *c = &slow.candidates[best];
        uint32_t slots = plain_fits(&p, &slow.jobs[c->job]);
        assert_true(count < starts->list.count);
        const struct pass_start *start = &starts->list.items[count];
        assert_int_equal(start->job, c->job);
        assert_int_equal(start->partition, c->partition);
        assert_int_equal(idset_count(&start->placement.cpus), slots);
        plain_take(&p, &slow.jobs[c->job], slots);
        c->tasks--;
        slow.jobs[c->job].tasks--;
    }
    assert_int_equal(count, starts->list.count);
}

static void a_pass_starts_what_slow_selection_starts(void **unused)
{
    (void)unused;
    struct rng rng = {1};
    uint32_t started = 0;
    for (int round = 0; round < 20000; round++) {
        struct queue q;
        struct host h = {0};
        struct arena arena = {0};
        struct consumables consumables;
        struct pass_starts starts = {0};
        make_queue(&q, &rng);
        struct queue slow = q;
        host_init(&h, q.has);
        consumables_init(&consumables, RESOURCES, &arena);
        memcpy(consumables.free, q.amounts, sizeof q.amounts);
        struct pass_queue queue = {
            .jobs = q.jobs,
            .job_count = JOBS,
            .candidates = q.candidates,
            .candidate_count = q.candidate_count,
        };
        pass_run(&h, &consumables, &queue, &arena, &starts);
        expect_slow_selection(slow, &starts);
        started += starts.list.count;
        for (uint32_t i = 0; i < starts.list.count; i++) placement_release(&starts.list.items[i].placement);
        array_release(&starts.list);
        arena_release(&arena);
        host_release(&h);
    }
    print_message("# %u starts of 20000 queues\n", started);
    assert_true(started > 20000);
}

/* --- random worlds ------------------------------------------------------------------------------------------------ */

/* The free resources of a world. Those of its consumables are what running tasks leave of 7 licences and 2 tapes. */
static struct plain plain_of(struct world *w)
{
    struct plain p = {
        .cpus = w->s.host.free_cpu_count,
        .gpus = w->s.host.free_gpu_count,
        .mem_mib = (uint64_t)w->s.host.free_mem_mib,
        .free = {7, 2},
    };
    for (uint32_t i = 0; i < w->s.tasks.count; i++) {
        const struct task *k = &w->s.tasks.items[i];
        if (job_state_is_end(k->state)) continue;
        const struct job *j = &w->s.jobs.items[state_find_job(&w->s, k->job_id)];
        for (uint32_t r = 0; r < j->request_count; r++)
            p.free[j->requests[r].resource] -= j->requests[r].amount * idset_count(&k->placement.cpus);
    }
    return p;
}

static bool may_start(struct world *w, const struct priority_row *row, const uint32_t *started)
{
    const struct job *j = &w->s.jobs.items[row->job];
    const struct object_row *qos = &w->s.objects[OBJECT_QOS].items[j->qos];
    int64_t max_s = w->s.objects[OBJECT_PARTITION].items[row->partition].object.value[PARTITION_MAX_TIME].number;
    uint32_t waiting = idset_count(&j->pending) - started[row->job], live = j->live_tasks + started[row->job];
    if (row->task != NONE || j->is_held || j->begin_us > w->now_us || waiting == 0) return false;
    if (j->array_limit != 0 && live >= j->array_limit) return false;
    if (max_s >= 0 && j->time_limit_s > max_s) return false;
    if ((qos->qos_flags & QOS_ENFORCE_USAGE_THRESHOLD) == 0) return true;
    double factor = state_factors(&w->s, w->now_us, &w->s.cycle)[w->s.node_of.items[j->assoc]];
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

static struct pass_job pass_job_of(const struct job *j, struct consumable_need needs[RESOURCES])
{
    for (uint32_t r = 0; r < j->request_count; r++)
        needs[r] = (struct consumable_need){j->requests[r].resource, j->requests[r].amount};
    return (struct pass_job){
        .request = j->request, .slots_max = j->slots_max, .needs = needs, .need_count = j->request_count};
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
        struct consumable_need needs[RESOURCES];
        for (uint32_t i = 0; i < all->count; i++) {
            const struct priority_row *row = &all->rows[i];
            struct pass_job job = pass_job_of(&w->s.jobs.items[row->job], needs);
            if (!may_start(w, row, started) || plain_fits(&p, &job) == 0) continue;
            if (best == NULL || comes_before(w, row, best)) best = row;
        }
        if (best == NULL) return count;
        struct pass_job job = pass_job_of(&w->s.jobs.items[best->job], needs);
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
        assert_int_equal(idset_count(&k->placement.cpus), expected[i].slots);
    }
    w->s.pass_is_due = true;
    assert_int_equal(world_pass(w), 0);
    return count;
}

static void the_engine_starts_what_the_listing_says(void **unused)
{
    (void)unused;
    struct rng rng = {2};
    uint32_t started = 0;
    for (int round = 0; round < 600; round++) {
        struct world w;
        pass_world_make(&w, &rng);
        for (int step = 0; step < 5; step++) {
            enum priority_model model = (enum priority_model)rng_below(&rng, MODEL_COUNT);
            world_set(&w, "PriorityType", priority_model_names[model]);
            uint32_t jobs = rng_below(&rng, 10);
            for (uint32_t i = 0; i < jobs; i++) pass_world_submit(&w, &rng, pass_users[rng_below(&rng, 4)], "");
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
    print_message("# %u starts in 600 worlds\n", started);
    assert_true(started > 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pass_starts_what_slow_selection_starts),
        cmocka_unit_test(the_engine_starts_what_the_listing_says),
    };
    return cmocka_run_group_tests_name("pass laws", tests, NULL, NULL);
}
