/* Laws of what is said about waiting jobs, on random worlds: several models, partitions, hosts, calendars, drained
 * hosts.
 *
 *   1. A job that could start has no sentences, one that could not has some. On the empty cluster it could run unless
 *      its reason is BadConstraints.
 *   2. The reason holds: of the jobs that wait for resources, in the order of the listing of priorities, one is before
 *      a job with the reason Priority in each of its partitions, and none is before one without a reason in at least
 *      one of them. With ReqNodeNotAvail a job could run once everything is resumed, and not before.
 *   3. Asking changes nothing: neither the state nor what the next pass starts.
 *   4. A submission that is only tried is refused as the submission is, and leaves the state as it was. */
#include <math.h>

#include "../pass_world.h"

#include "engine/closed_times.h"
#include "engine/partition_limits.h"
#include "engine/priorities.h"
#include "engine/submit_test.h"
#include "engine/wait_answer.h"
#include "engine/wait_leaders.h"
#include "sched/queue.h"

enum { WORLDS = 60, STEPS = 6, JOBS = 12 };

static uint32_t seen[PENDING_REASON_COUNT], possible_jobs, impossible_jobs, tried, refused;

static void make(struct world *w, struct rng *rng)
{
    static const char *const models[] = {"priority/multifactor", "priority/basic", "priority/tickets"};
    pass_world_make(w, rng);
    world_set(w, "PriorityType", models[rng_below(rng, 3)]);
    if (rng_below(rng, 2)) pass_world_add_hosts(w, rng);
    if (rng_below(rng, 4) == 0) pass_world_add_calendars(w, rng);
}

static void step(struct world *w, struct rng *rng)
{
    w->now_us += (1 + (int64_t)rng_below(rng, 90)) * SECOND;
    for (uint32_t i = 0; i < JOBS; i++) pass_world_submit(w, rng, pass_users[rng_below(rng, 4)], "");
    (void)world_pass(w);
    pass_world_end_some(w, rng);
    if (rng_below(rng, 3) == 0)
        world_object(w, OBJECT_HOST, "localhost", rng_below(rng, 2) ? "state=DRAIN" : "state=UP");
    if (rng_below(rng, 4) == 0)
        world_object(w, OBJECT_PARTITION, "heavy", rng_below(rng, 2) ? "state=DOWN" : "state=UP");
    if (rng_below(rng, 4) == 0)
        world_object(w, OBJECT_PARTITION, "heavy", rng_below(rng, 2) ? "hosts=NONE" : "hosts=localhost");
}

static bool waits(const struct job *j)
{
    return j->ended_us == 0 && idset_first(&j->pending) != NONE;
}

static const double *factors_of(struct world *w, struct arena *arena)
{
    return state_factors(&w->s, w->now_us, arena);
}

static double factor_in(const struct world *w, const struct job *j, uint32_t partition, const double *factors)
{
    return factors[w->s.node_of.items[state_assoc_in_partition(&w->s, j->assoc, partition)]];
}

static enum pending_reason reason_of(struct world *w, const struct job *j, const double *factors)
{
    double best = 0.0;
    for (uint32_t i = 0; i < j->partition_count; i++) best = fmax(best, factor_in(w, j, j->partitions[i], factors));
    return job_pending_reason(&w->s, j->id, best, w->now_us);
}

/* Whether its QOS keeps a job from one of its partitions. */
static bool waits_for_factor(const struct world *w, const struct job *j, uint32_t partition, const double *factors)
{
    const struct object_row *qos = &w->s.objects[OBJECT_QOS].items[j->qos];
    double threshold = qos->object.value[QOS_USAGE_THRESHOLD].real;
    return (qos->qos_flags & QOS_ENFORCE_USAGE_THRESHOLD) != 0 && factor_in(w, j, partition, factors) < threshold;
}

/* --- sentences ---------------------------------------------------------------------------------------------------- */

static void check_sentences(struct world *w, uint32_t job, const double *factors)
{
    static const enum wait_question questions[] = {WAIT_IN_PASS, WAIT_NOW, WAIT_EMPTY};
    const struct job *j = &w->s.jobs.items[job];
    struct arena arena = {0};
    for (int i = 0; i < 3; i++) {
        struct wait_sentences why;
        assert_int_equal(wait_answer_make(&w->s, job, questions[i], 0, w->now_us, &arena, &why, NULL), 0);
        assert_true(why.is_possible == (why.count == 0));
        assert_true(why.is_possible == (why.slots > 0));
        for (uint32_t k = 0; k < why.count; k++) assert_true(why.items[k][0] != '\0' && strlen(why.items[k]) < 400);
        if (questions[i] != WAIT_EMPTY) continue;
        enum pending_reason reason = reason_of(w, j, factors);
        if (reason != PENDING_PARTITION_TIME_LIMIT) assert_true(why.is_possible == (reason != PENDING_BAD_CONSTRAINTS));
        *(why.is_possible ? &possible_jobs : &impossible_jobs) += 1;
    }
    arena_release(&arena);
}

/* --- reasons ------------------------------------------------------------------------------------------------------ */

/* Whether it waits for resources only, as if no job were before it. */
static bool waits_for_resources(struct world *w, const struct job *j, const double *factors)
{
    if (!waits(j) || j->is_held || j->begin_us > w->now_us) return false;
    if (state_array_room(&w->s, j, idset_count(&j->pending)) == 0) return false;
    enum pending_reason reason = reason_of(w, j, factors);
    return reason == PENDING_NONE || reason == PENDING_PRIORITY;
}

static uint64_t order_of(struct world *w, const struct priority_row *row)
{
    const struct object *o = &w->s.objects[OBJECT_PARTITION].items[row->partition].object;
    return sort_key_priority((uint32_t)o->value[PARTITION_TIER].number, (uint32_t)row->priority);
}

/* Whether a job that waits for resources could start in a partition if there were room. */
static bool is_open_to(const struct world *w, const struct job *j, uint32_t partition, const double *factors)
{
    const struct object *o = &w->s.objects[OBJECT_PARTITION].items[partition].object;
    int64_t end_us = w->now_us + partition_limits_time_s(&w->s, j, partition) * SECOND;
    if (closed_times_meet(&w->s, partition, w->now_us, end_us)) return false;
    return strcmp(o->value[PARTITION_STATE].text, "DOWN") != 0 && !waits_for_factor(w, j, partition, factors) &&
           partition_limits_find(&w->s, j, partition) == LIMIT_NONE;
}

/* In how many open partitions of a job another one is before it: strictly, or with the same order. */
static void count_before(struct world *w, const struct priorities *all, uint32_t job, const double *factors,
                         uint32_t *out_strictly, uint32_t *out_perhaps)
{
    *out_strictly = *out_perhaps = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        const struct priority_row *own = &all->rows[i];
        bool is_strict = false, is_perhaps = false;
        if (own->job != job || own->task != NONE) continue;
        if (!is_open_to(w, &w->s.jobs.items[job], own->partition, factors)) continue;
        for (uint32_t k = 0; k < all->count; k++) {
            const struct priority_row *other = &all->rows[k];
            if (other->job == job || other->task != NONE || other->partition != own->partition) continue;
            const struct job *j = &w->s.jobs.items[other->job];
            if (!waits_for_resources(w, j, factors) || waits_for_factor(w, j, own->partition, factors)) continue;
            is_strict |= order_of(w, other) > order_of(w, own);
            is_perhaps |= order_of(w, other) >= order_of(w, own);
        }
        *out_strictly += is_strict;
        *out_perhaps += is_perhaps;
    }
}

static void resume_all(struct world *w)
{
    for (uint32_t i = 0; i < w->s.objects[OBJECT_HOST].count; i++)
        world_object(w, OBJECT_HOST, w->s.objects[OBJECT_HOST].items[i].object.name, "state=UP");
    for (uint32_t i = 0; i < w->s.objects[OBJECT_PARTITION].count; i++)
        world_object(w, OBJECT_PARTITION, w->s.objects[OBJECT_PARTITION].items[i].object.name, "state=UP");
}

static void check_reason(struct world *w, const struct priorities *all, uint32_t job, const double *factors)
{
    const struct job *j = &w->s.jobs.items[job];
    enum pending_reason reason = reason_of(w, j, factors);
    uint32_t strictly, perhaps;
    seen[reason]++;
    if (!waits_for_resources(w, j, factors)) return;
    uint32_t open_count = 0;
    for (uint32_t i = 0; i < j->partition_count; i++) open_count += is_open_to(w, j, j->partitions[i], factors);
    count_before(w, all, job, factors, &strictly, &perhaps);
    if (reason == PENDING_PRIORITY)
        assert_int_equal(perhaps, open_count);
    else if (w->s.policy.model != MODEL_TICKETS)
        assert_true(strictly < open_count || open_count == 0);
    else
        assert_int_equal(reason, PENDING_NONE);
}

/* Of the jobs with the reason ReqNodeNotAvail none keeps it when all is resumed, and no other one gets it. */
static void check_unavailable(struct world *w, const double *factors)
{
    resume_all(w);
    for (uint32_t i = 0; i < w->s.jobs.count; i++) {
        const struct job *j = &w->s.jobs.items[i];
        if (waits(j)) assert_true(reason_of(w, j, factors) != PENDING_REQ_NODE_NOT_AVAIL);
    }
}

static void check_all(struct world *w, struct rng *rng)
{
    struct arena arena = {0};
    struct priorities all;
    const double *factors = factors_of(w, &arena);
    uint64_t before = state_hash(&w->s);
    if (rng_below(rng, 2)) wait_leaders_prepare(&w->s, w->now_us, 1 + (uint32_t)rng_below(rng, 4));
    wait_leaders_update(&w->s, w->now_us, factors);
    state_priorities(&w->s, w->now_us, NONE, &arena, &all);
    for (uint32_t i = 0; i < w->s.jobs.count; i++) {
        if (!waits(&w->s.jobs.items[i])) continue;
        check_reason(w, &all, i, factors);
        if (rng_below(rng, 3) == 0) check_sentences(w, i, factors);
    }
    assert_true(state_hash(&w->s) == before);
    arena_release(&arena);
}

/* --- trials ------------------------------------------------------------------------------------------------------- */

static void check_trial(struct world *w)
{
    struct submit_test t;
    struct err e = {0};
    struct event job = world_job(tried % 2 == 0 ? "newcomer" : "ann");
    job.submit =
        job_with(job.submit, "cpus=%u|requests=%s", 1 + tried % 8, tried % 3 == 0 ? "mem_free=1M" : "license=1");
    uint64_t before = state_hash(&w->s);
    uint32_t next_id = w->s.next_job_id, assocs = w->s.assocs.count, resources = w->s.objects[OBJECT_RESOURCE].count;
    int status = submit_test_begin(&t, &w->s, w->now_us, &job, &e);
    if (status == 0) {
        struct arena arena = {0};
        struct wait_sentences why;
        assert_int_equal(w->s.jobs.items[t.job].id, next_id);
        assert_int_equal(wait_answer_make(&w->s, t.job, WAIT_NOW, 0, w->now_us, &arena, &why, &e), 0);
        arena_release(&arena);
        submit_test_end(&t);
    }
    assert_true(state_hash(&w->s) == before && w->s.next_job_id == next_id && w->s.assocs.count == assocs);
    assert_int_equal(w->s.objects[OBJECT_RESOURCE].count, resources);
    char text[400];
    snprintf(text, sizeof text, "%s", status != 0 ? ERR_SENTENCE(&e) : "");
    assert_int_equal(world_apply(w, job, NULL), status);
    if (status != 0) assert_string_equal(ERR_SENTENCE(&w->e), text);
    tried++;
    refused += status != 0;
}

/* --- the laws ----------------------------------------------------------------------------------------------------- */

static void what_is_said_holds(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < WORLDS; i++) {
        struct rng rng = {i + 1}, other = {i + 1}, own = {i + 1000};
        struct world asked, silent;
        make(&asked, &rng);
        make(&silent, &other);
        for (uint32_t k = 0; k < STEPS; k++) {
            step(&asked, &rng);
            step(&silent, &other);
            check_all(&asked, &own);
            assert_true(state_hash(&asked.s) == state_hash(&silent.s));
        }
        check_trial(&asked);
        struct arena arena = {0};
        check_unavailable(&asked, factors_of(&asked, &arena));
        arena_release(&arena);
        world_release(&asked);
        world_release(&silent);
    }
    assert_true(seen[PENDING_NONE] > 100 && seen[PENDING_PRIORITY] > 100 && seen[PENDING_REQ_NODE_NOT_AVAIL] > 100);
    assert_true(possible_jobs > 100 && impossible_jobs > 0 && refused > 0 && refused < tried);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_said_holds)};
    return cmocka_run_group_tests_name("wait reason laws", tests, NULL, NULL);
}
