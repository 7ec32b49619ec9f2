/* Laws of scheduling runs, on random clusters, against a slow scheduler that knows only seconds: for each job it tries
 * every second from now on, and gives slots one by one.
 *
 *   1. Decisions, starts and allocations equal those of the slow scheduler (reservations in gaps).
 *   2. Nothing is overbooked at any time, at any level, whatever the search.
 *   3. The decision about a job does not depend on the jobs behind it.
 *   4. With every job reserved and run times as stated, a job starts no later in the next run than it was promised. */
#include "../cluster_world.h"

#include "base/rng.h"
#include "sched/run.h"

enum { HOSTS_MAX = 5, JOBS_MAX = 14, HORIZON_S = 400, MEMORY_MIB = 100, HOST_SLOTS_MAX = 6, LICENSES = 5 };

struct job {
    struct need needs[2];
    struct slot_range range;
    struct demand demand;
    uint32_t environment;
    int64_t duration_s;
    bool wants_reservation;
};

struct decided {
    enum run_outcome outcome;
    int64_t start_s;
    uint32_t slots[HOSTS_MAX];
};

/* What is booked in each second. */
struct slow {
    uint32_t host_count, slots_of[HOSTS_MAX];
    uint32_t slots[HOSTS_MAX][HORIZON_S], memory[HOSTS_MAX][HORIZON_S], licenses[HORIZON_S];
};

static const enum allocation_rule rules_of[] = {ALLOCATE_ONE_HOST, ALLOCATE_FILL_UP, ALLOCATE_ROUND_ROBIN,
                                                ALLOCATE_FIXED};

/* --- the slow scheduler ------------------------------------------------------------------------------------------- */

static uint32_t slow_host_offers(const struct slow *s, const struct job *j, uint32_t host, int64_t from_s)
{
    uint32_t slots = HOST_SLOTS_MAX;
    for (int64_t t = from_s; t < from_s + j->duration_s; t++) {
        uint32_t free = s->slots_of[host] - s->slots[host][t];
        while (free > 0 && s->memory[host][t] + free * (uint32_t)j->needs[0].amount > MEMORY_MIB) free--;
        if (free < slots) slots = free;
    }
    return slots;
}

static bool slow_has_licenses(const struct slow *s, const struct job *j, int64_t from_s)
{
    for (int64_t t = from_s; t < from_s + j->duration_s; t++) {
        if (s->licenses[t] + (uint32_t)j->needs[1].amount * j->range.min > LICENSES) return false;
    }
    return true;
}

/* Gives the slots of a job with a start one by one. */
static bool slow_place(const struct slow *s, const struct job *j, int64_t from_s, uint32_t *out_slots)
{
    uint32_t offers[HOSTS_MAX], left = j->range.min;
    enum allocation_rule rule = j->demand.environment_count > 0 ? rules_of[j->environment] : ALLOCATE_ONE_HOST;
    memset(out_slots, 0, HOSTS_MAX * sizeof *out_slots);
    if (!slow_has_licenses(s, j, from_s)) return false;
    for (uint32_t h = 0; h < s->host_count; h++) offers[h] = slow_host_offers(s, j, h, from_s);
    for (uint32_t h = 0; h < s->host_count && left > 0; h++) {
        if (rule == ALLOCATE_ONE_HOST && offers[h] < left) continue;
        for (; rule != ALLOCATE_ROUND_ROBIN && left > 0 && offers[h] > 0; left--, offers[h]--) {
            if (rule == ALLOCATE_FIXED && (out_slots[h] == 2 || offers[h] + out_slots[h] < 2)) break;
            out_slots[h]++;
        }
    }
    for (bool is_given = true; rule == ALLOCATE_ROUND_ROBIN && left > 0 && is_given;) {
        is_given = false;
        for (uint32_t h = 0; h < s->host_count && left > 0; h++) {
            if (out_slots[h] == offers[h]) continue;
            out_slots[h]++;
            left--;
            is_given = true;
        }
    }
    return left == 0;
}

static void slow_book(struct slow *s, const struct job *j, const struct decided *d)
{
    for (int64_t t = d->start_s; t < d->start_s + j->duration_s; t++) {
        for (uint32_t h = 0; h < s->host_count; h++) {
            s->slots[h][t] += d->slots[h];
            s->memory[h][t] += d->slots[h] * (uint32_t)j->needs[0].amount;
        }
        s->licenses[t] += (uint32_t)j->needs[1].amount * j->range.min;
    }
}

static struct decided slow_decide(struct slow *s, const struct job *j, int64_t now_s, bool reserves)
{
    struct decided d = {.outcome = RUN_WAITS};
    for (int64_t t = now_s; t + j->duration_s < HORIZON_S && (t == now_s || reserves); t++) {
        if (!slow_place(s, j, t, d.slots)) continue;
        d.outcome = t == now_s ? RUN_STARTS : RUN_RESERVED;
        d.start_s = t;
        slow_book(s, j, &d);
        return d;
    }
    memset(d.slots, 0, sizeof d.slots);
    return d;
}

/* --- random worlds ------------------------------------------------------------------------------------------------ */

static void make_cluster(struct cluster_world *w, struct slow *s, struct rng *rng)
{
    static const char *const names[HOSTS_MAX] = {"a", "b", "c", "d", "e"};
    world_init(w);
    *s = (struct slow){.host_count = 1 + rng_below(rng, HOSTS_MAX)};
    for (uint32_t h = 0; h < s->host_count; h++) {
        s->slots_of[h] = 1 + rng_below(rng, HOST_SLOTS_MAX);
        world_host(w, names[h]);
        world_offer(&w->c.hosts.items[h].offers, MEMORY, MEMORY_MIB);
        world_instance(w, names[h], s->slots_of[h]);
    }
    world_environment(w, "one", ALLOCATE_ONE_HOST, 0, 999);
    world_environment(w, "fill", ALLOCATE_FILL_UP, 0, 999);
    world_environment(w, "rr", ALLOCATE_ROUND_ROBIN, 0, 999);
    world_environment(w, "two", ALLOCATE_FIXED, 2, 999);
}

/* Sometimes a copy of an earlier job, with the same shape. jobs: count earlier ones. */
static void make_job(struct job *j, const struct job *jobs, uint32_t count, struct rng *rng)
{
    uint32_t copied = count > 0 && rng_below(rng, 3) == 0 ? rng_below(rng, count) : NONE;
    if (copied != NONE) {
        *j = jobs[copied];
        j->demand.needs = j->needs;
        j->demand.environments = &j->environment;
        j->demand.ranges = &j->range;
        return;
    }
    *j = (struct job){.duration_s = 1 + rng_below(rng, 20), .environment = rng_below(rng, COUNT(rules_of))};
    uint32_t slots = 1 + rng_below(rng, 8);
    bool is_serial = rng_below(rng, 3) == 0;
    if (is_serial) slots = 1;
    if (rules_of[j->environment] == ALLOCATE_FIXED && !is_serial) slots += slots % 2;
    j->range = (struct slot_range){slots, slots};
    j->wants_reservation = rng_below(rng, 2);
    j->needs[0] = (struct need){MEMORY, NEED_PER_SLOT, rng_below(rng, 3) * 20, NULL, true, false};
    j->needs[1] = (struct need){LICENSE, NEED_PER_SLOT, rng_below(rng, 5) == 0, NULL, true, false};
    j->demand = (struct demand){.shape = count,
                                .needs = j->needs,
                                .need_count = 2,
                                .environments = &j->environment,
                                .environment_count = !is_serial,
                                .ranges = &j->range,
                                .range_count = 1,
                                .duration_us = j->duration_s * SECOND};
}

/* --- comparisons -------------------------------------------------------------------------------------------------- */

static struct decided decide(struct run *run, const struct job *j)
{
    const struct run_decision decision = run_job(run, &j->demand, j->wants_reservation);
    struct decided d = {.outcome = decision.outcome};
    if (decision.outcome == RUN_WAITS) return d;
    d.start_s = decision.start_us / SECOND;
    for (uint32_t i = 0; i < decision.allocation.part_count; i++)
        d.slots[decision.allocation.parts[i].instance] += decision.allocation.parts[i].slots;
    return d;
}

static void check_offers(const struct offers *o)
{
    for (uint32_t i = 0; i < o->list.count; i++) {
        double max = timeline_max(&o->list.items[i].booked, 0, TIMELINE_END);
        assert_true(max <= timeline_limit(o->list.items[i].amount, 0.0));
    }
}

static void check_nothing_is_overbooked(const struct cluster *c)
{
    check_offers(&c->global);
    for (uint32_t i = 0; i < c->hosts.count; i++) check_offers(&c->hosts.items[i].offers);
    for (uint32_t i = 0; i < c->instances.count; i++) check_offers(&c->instances.items[i].offers);
    for (uint32_t i = 0; i < c->environments.count; i++) check_offers(&c->environments.items[i].offers);
}

static void decisions_equal_the_slow_ones(void **unused)
{
    (void)unused;
    uint32_t reserved = 0, started = 0;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        struct rng rng = {.state = seed};
        struct cluster_world w;
        static struct slow slow;
        struct run run;
        struct job jobs[JOBS_MAX];
        make_cluster(&w, &slow, &rng);
        const struct run_rules rules = {.reservations = rng_below(&rng, 2) ? RUN_RESERVE_REQUESTED : RUN_RESERVE_ALL,
                                        .reservation_max = 1 + rng_below(&rng, JOBS_MAX),
                                        .search = RESERVE_IN_GAPS};
        run_begin(&run, &w.c, &rules, 0, &w.arena);
        for (uint32_t i = 0, count = 1 + rng_below(&rng, JOBS_MAX), reservations = 0; i < count; i++) {
            make_job(&jobs[i], jobs, i, &rng);
            const struct job *j = &jobs[i];
            bool reserves =
                reservations < rules.reservation_max && (rules.reservations == RUN_RESERVE_ALL || j->wants_reservation);
            struct decided expected = slow_decide(&slow, j, 0, reserves), found = decide(&run, j);
            reservations += expected.outcome == RUN_RESERVED;
            reserved += expected.outcome == RUN_RESERVED;
            started += expected.outcome == RUN_STARTS;
            assert_int_equal(found.outcome, expected.outcome);
            assert_int_equal(found.start_s, expected.start_s);
            assert_memory_equal(found.slots, expected.slots, sizeof found.slots);
        }
        check_nothing_is_overbooked(&w.c);
        run_end(&run);
        world_release(&w);
    }
    print_message("# %u jobs started, %u reserved\n", started, reserved);
    assert_true(started > 1000 && reserved > 1000);
}

static void nothing_is_overbooked_without_gaps(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        struct rng rng = {.state = seed * 7919};
        struct cluster_world w, shorter;
        static struct slow slow;
        struct run run, run_of_shorter;
        struct job jobs[JOBS_MAX];
        const struct run_rules rules = {
            .reservations = RUN_RESERVE_ALL, .reservation_max = 8, .search = RESERVE_WITHOUT_GAPS};
        make_cluster(&w, &slow, &rng);
        rng.state = seed * 7919;
        make_cluster(&shorter, &slow, &rng);
        run_begin(&run, &w.c, &rules, 0, &w.arena);
        run_begin(&run_of_shorter, &shorter.c, &rules, 0, &shorter.arena);
        for (uint32_t i = 0; i < JOBS_MAX; i++) {
            make_job(&jobs[i], jobs, i, &rng);
            struct decided d = decide(&run, &jobs[i]);
            if (i >= JOBS_MAX / 2) continue;
            struct decided same = decide(&run_of_shorter, &jobs[i]);
            assert_memory_equal(&d, &same, sizeof d);
        }
        check_nothing_is_overbooked(&w.c);
        run_end(&run);
        run_end(&run_of_shorter);
        world_release(&w);
        world_release(&shorter);
    }
}

/* --- promises ----------------------------------------------------------------------------------------------------- */

/* Runs the world second by second: what starts is booked again in every later run until its end. */
static void promises_are_kept(void **unused)
{
    (void)unused;
    uint32_t kept = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct rng rng = {.state = seed * 104729};
        struct cluster_world w;
        static struct slow empty;
        struct job jobs[JOBS_MAX];
        struct decided decisions[JOBS_MAX];
        int64_t promise_s[JOBS_MAX];
        bool has_started[JOBS_MAX] = {false};
        const struct run_rules rules = {
            .reservations = RUN_RESERVE_ALL, .reservation_max = JOBS_MAX, .search = RESERVE_IN_GAPS};
        uint64_t cluster_seed = rng.state;
        make_cluster(&w, &empty, &rng);
        world_release(&w);
        for (uint32_t i = 0; i < JOBS_MAX; i++) {
            make_job(&jobs[i], jobs, i, &rng);
            promise_s[i] = HORIZON_S;
        }
        for (int64_t now_s = 0; now_s < HORIZON_S; now_s++) {
            struct rng same = {.state = cluster_seed};
            struct run run;
            make_cluster(&w, &empty, &same);
            for (uint32_t i = 0; i < JOBS_MAX; i++) {
                int64_t end_s = decisions[i].start_s + jobs[i].duration_s;
                if (!has_started[i] || end_s <= now_s) continue;
                struct allocation_part parts[HOSTS_MAX];
                struct allocation a = {.environment = jobs[i].demand.environment_count ? jobs[i].environment : NONE,
                                       .parts = parts};
                for (uint32_t h = 0; h < HOSTS_MAX; h++) {
                    if (decisions[i].slots[h] == 0) continue;
                    a.slots += decisions[i].slots[h];
                    parts[a.part_count++] = (struct allocation_part){h, decisions[i].slots[h]};
                }
                cluster_book(&w.c, &jobs[i].demand, &a, decisions[i].start_s * SECOND, end_s * SECOND);
            }
            run_begin(&run, &w.c, &rules, now_s * SECOND, &w.arena);
            for (uint32_t i = 0; i < JOBS_MAX; i++) {
                if (has_started[i]) continue;
                decisions[i] = decide(&run, &jobs[i]);
                has_started[i] = decisions[i].outcome == RUN_STARTS;
                if (decisions[i].outcome == RUN_WAITS) continue; /* it never fits */
                assert_true(decisions[i].start_s <= promise_s[i]);
                kept += promise_s[i] < HORIZON_S && has_started[i];
                promise_s[i] = decisions[i].start_s;
            }
            run_end(&run);
            world_release(&w);
        }
    }
    print_message("# %u promises kept\n", kept);
    assert_true(kept > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(decisions_equal_the_slow_ones),
                                       cmocka_unit_test(nothing_is_overbooked_without_gaps),
                                       cmocka_unit_test(promises_are_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
