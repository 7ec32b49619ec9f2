#include "sched/run.h"

#include <math.h>
#include <string.h>

#include "base/ensure.h"

/* The slots that are free now on an open instance. */
static uint32_t free_slots(const struct run *r, uint32_t instance)
{
    const struct sched_instance *in = &r->cluster->instances.items[instance];
    const struct offer *slots = offers_find(&in->offers, SCHED_SLOTS);
    if (in->is_off || in->is_overloaded) return 0;
    if (slots == NULL || isinf(slots->amount)) return UINT32_MAX;
    double free = timeline_limit(slots->amount, timeline_max(&slots->booked, r->now_us, r->now_us + 1));
    return free < 1.0 ? 0 : free < (double)UINT32_MAX ? (uint32_t)free : UINT32_MAX;
}

static void update_free(struct run *r, uint32_t instance)
{
    r->open_count -= r->free_slots[instance] > 0;
    r->free_slots[instance] = free_slots(r, instance);
    r->open_count += r->free_slots[instance] > 0;
}

void run_begin(struct run *r, struct cluster *cluster, const struct run_rules *rules, int64_t now_us,
               struct arena *arena)
{
    *r = (struct run){.cluster = cluster, .rules = rules, .arena = arena, .now_us = now_us};
    load_begin(cluster, &rules->load, now_us);
    r->free_slots = arena_alloc(&r->own, (cluster->instances.count + (size_t)1) * sizeof *r->free_slots);
    for (uint32_t i = 0; i < cluster->instances.count; i++) update_free(r, i);
}

void run_end(struct run *r)
{
    if (r->is_sweeping) sweep_release(&r->sweep);
    map_release(&r->user_tests);
    array_release(&r->kinds);
    array_release(&r->not_before_us);
    arena_release(&r->scratch);
    arena_release(&r->own);
}

bool run_is_over(const struct run *r)
{
    if (r->open_count > 0) return false;
    return (r->rules->ends_when_full && r->job_count > 0) || r->rules->reservations == RUN_RESERVE_NONE ||
           r->reservation_count >= r->rules->reservation_max;
}

bool run_may_try(struct run *r, const char *user)
{
    const struct run_rules *rules = r->rules;
    if (!r->is_blocked || !run_counts_tests(rules)) return true;
    if (rules->test_max > 0 && r->test_count >= rules->test_max) return false;
    if (rules->user_test_max > 0) {
        uint32_t tests = map_get(&r->user_tests, str(user));
        if (tests == NONE) tests = 0;
        if (tests >= rules->user_test_max) return false;
        map_set(&r->user_tests, str(user), tests + 1);
    }
    r->test_count++;
    return true;
}

/* --- starting ----------------------------------------------------------------------------------------------------- */

static void book(struct run *r, const struct demand *d, const struct run_decision *decision)
{
    int64_t until_us = timeline_end_of(decision->start_us, decision->duration_us);
    cluster_book(r->cluster, d, &decision->allocation, decision->start_us, until_us);
    if (r->is_sweeping) sweep_booked(&r->sweep, &decision->allocation, decision->start_us, until_us);
}

/* A start changes slots and load on its hosts. */
static void start(struct run *r, const struct demand *d, const struct run_decision *decision)
{
    const struct allocation *a = &decision->allocation;
    book(r, d, decision);
    for (uint32_t i = 0; i < a->part_count; i++) {
        uint32_t host = r->cluster->instances.items[a->parts[i].instance].host;
        struct sched_host *h = &r->cluster->hosts.items[host];
        h->tickets += r->tickets * a->parts[i].slots / a->slots;
        load_placed(r->cluster, &r->rules->load, host, a->parts[i].slots, r->now_us);
        for (uint32_t k = h->first_instance; k < h->first_instance + h->instance_count; k++) update_free(r, k);
    }
    if (r->is_sweeping) sweep_reordered(&r->sweep);
}

/* The instances that may have room. With a fixed order, those at the front that became full are skipped for good. */
static struct place_scope start_scope(const struct run *r, const struct demand *d, struct run_kind *kind)
{
    const struct cluster *c = r->cluster;
    bool is_fixed = r->rules->load.term_count == 0 && r->rules->load.order != ORDER_BY_SHARE;
    uint32_t min = demand_is_serial(d) ? d->ranges[0].min : 1;
    while (is_fixed && kind->first < c->order.count && r->free_slots[c->order.items[kind->first]] < min) kind->first++;
    return (struct place_scope){c->order.items + kind->first, c->order.count - kind->first, r->free_slots};
}

/* What is known of a kind of demands. The pointer is valid until another kind is asked for. */
static struct run_kind *kind_at(struct run *r, uint32_t kind)
{
    array_reserve(&r->kinds, kind + 1);
    while (r->kinds.count <= kind) *array_add(&r->kinds) = (struct run_kind){.seen_us = -1, .max_us = TIMELINE_END};
    return &r->kinds.items[kind];
}

/* Later bookings count, too: reservations, and closed times of queues. */
static bool search_place(struct run *r, const struct demand *d, struct run_kind *bare, struct allocation *out)
{
    const struct place_scope scope = start_scope(r, d, bare);
    return place_job(r->cluster, d, window_of(d, r->now_us), &scope, &r->scratch, out);
}

/* Whether a demand without quotas fits, as it did not with them: all others of its kind share the answer. */
static void search_bare(struct run *r, const struct demand *d)
{
    struct allocation unused;
    const struct demand bare = demand_without_quotas(d);
    if (!search_place(r, &bare, kind_at(r, bare.kind), &unused)) kind_at(r, bare.kind)->max_us = d->duration_us - 1;
}

/* The place of a job that starts now. Returns false if it does not fit. */
static bool find_place(struct run *r, const struct demand *d, struct allocation *out)
{
    struct run_kind own = {.first = 0};
    if (r->open_count == 0) return false;
    if (d->shape == NONE) return search_place(r, d, &own, out);
    uint32_t bare_kind = demand_bare_kind(d);
    if (d->duration_us > kind_at(r, d->kind)->max_us || d->duration_us > kind_at(r, bare_kind)->max_us) return false;
    if (search_place(r, d, kind_at(r, bare_kind), out)) return true;
    kind_at(r, d->kind)->max_us = d->duration_us - 1;
    if (bare_kind != d->kind) search_bare(r, d);
    return false;
}

enum { CUT_STEP_US = 1000000 }; /* limits are in seconds */

/* The longest of the durations from the minimum on, a whole number of seconds above it, for which the job fits now.
 * What fits for one fits for all shorter ones. */
static bool find_shorter_place(struct run *r, const struct demand *d, struct run_decision *decision)
{
    struct demand cut = *d;
    struct allocation a;
    int64_t low = 0, high = (d->duration_us - demand_shortest_us(d)) / CUT_STEP_US;
    if (demand_shortest_us(d) == d->duration_us) return false;
    cut.duration_us = demand_shortest_us(d);
    if (!find_place(r, &cut, &decision->allocation)) return false;
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        cut.duration_us = demand_shortest_us(d) + middle * CUT_STEP_US;
        bool fits = find_place(r, &cut, &a);
        if (fits) decision->allocation = a;
        if (fits)
            low = middle;
        else
            high = middle - 1;
    }
    decision->duration_us = demand_shortest_us(d) + low * CUT_STEP_US;
    return true;
}

static bool try_start(struct run *r, const struct demand *d, struct run_decision *decision)
{
    decision->duration_us = d->duration_us;
    if (!find_place(r, d, &decision->allocation) && !find_shorter_place(r, d, decision)) return false;
    decision->outcome = RUN_STARTS;
    start(r, d, decision);
    return true;
}

/* --- reservations ------------------------------------------------------------------------------------------------- */

static bool may_reserve(const struct run *r, bool wants_reservation)
{
    if (r->reservation_count >= r->rules->reservation_max) return false;
    return r->rules->reservations == RUN_RESERVE_ALL ||
           (r->rules->reservations == RUN_RESERVE_REQUESTED && wants_reservation);
}

static int64_t find_start(struct run *r, const struct demand *d, int64_t from_us, struct allocation *out)
{
    if (r->rules->search == RESERVE_IN_GAPS && !r->is_sweeping) {
        sweep_init(&r->sweep, r->cluster, r->now_us);
        r->is_sweeping = true;
    }
    return r->is_sweeping && sweep_serves(&r->sweep, d)
               ? sweep_reserve(&r->sweep, d, from_us, &r->scratch, out)
               : reserve_job(r->cluster, d, r->rules->search, from_us, &r->scratch, out);
}

/* Moves a start to the next multiple of the resolution at which the job can start. TIMELINE_END: there is none. */
static int64_t round_start(struct run *r, const struct demand *d, int64_t start_us, struct allocation *io)
{
    int64_t step_us = r->rules->resolution_us;
    while (step_us > 0 && start_us != TIMELINE_END && start_us % step_us != 0) {
        if (start_us > TIMELINE_END - step_us) return TIMELINE_END;
        start_us += step_us - start_us % step_us;
        if (place_job(r->cluster, d, window_of(d, start_us), NULL, &r->scratch, io)) return start_us;
        start_us = find_start(r, d, start_us, io);
    }
    return start_us;
}

static bool is_too_late(const struct run *r, int64_t start_us)
{
    return start_us == TIMELINE_END || (r->rules->window_us > 0 && start_us - r->now_us > r->rules->window_us);
}

/* The smallest number of slots that a job may have. Returns false if there is none. */
static bool find_smallest(const struct cluster *c, const struct demand *d, struct slot_range *out_range)
{
    uint32_t per_host = cluster_slots_per_host(c, d), step = per_host > 0 ? per_host : 1;
    for (uint32_t i = 0; i < d->range_count; i++) {
        uint64_t slots = (d->ranges[i].min + (uint64_t)step - 1) / step * step;
        if (slots > d->ranges[i].max) continue;
        *out_range = (struct slot_range){(uint32_t)slots, (uint32_t)slots};
        return true;
    }
    return false;
}

/* The earliest start of a reservation for the demand's shape; new is that of a demand without. */
static int64_t *not_before_of(struct run *r, const struct demand *d, int64_t *new)
{
    *new = r->now_us;
    if (d->shape == NONE) return new;
    array_reserve(&r->not_before_us, d->shape + 1);
    while (r->not_before_us.count <= d->shape) *array_add(&r->not_before_us) = r->now_us;
    return &r->not_before_us.items[d->shape];
}

/* Of a range of slots the smallest number is reserved. With several environments each has its own. Returns false if
 * there is no start before before_us. */
static bool try_reserve(struct run *r, const struct demand *d, int64_t before_us, struct run_decision *decision)
{
    bool is_range = d->range_count > 1 || d->ranges[0].min < d->ranges[0].max;
    int64_t new, *not_before_us = not_before_of(r, d, &new);
    struct demand smallest = *d;
    struct slot_range range;
    if (*not_before_us >= before_us || (is_range && !r->rules->reserves_ranges)) return false;
    if (d->environment_count <= 1) {
        if (!find_smallest(r->cluster, d, &range)) return false;
        smallest.ranges = &range;
        smallest.range_count = 1;
    }
    int64_t start_us = find_start(r, &smallest, *not_before_us, &decision->allocation);
    *not_before_us = start_us;
    start_us = round_start(r, &smallest, start_us, &decision->allocation);
    if (is_too_late(r, start_us)) {
        *not_before_us = TIMELINE_END;
        return false;
    }
    if (start_us >= before_us) return false;
    decision->outcome = RUN_RESERVED;
    decision->duration_us = d->duration_us;
    decision->start_us = start_us;
    book(r, d, decision);
    return true;
}

/* --- one job ------------------------------------------------------------------------------------------------------ */

bool run_may_start(struct run *r, const struct demand *d)
{
    struct allocation unused;
    struct demand shortest = *d;
    shortest.duration_us = demand_shortest_us(d);
    enum run_may_fit known = d->shape != NONE ? run_may_fit(r, d->kind, shortest.duration_us) : RUN_NOT_SEEN;
    if (known != RUN_NOT_SEEN || r->open_count == 0) return known == RUN_MAY_FIT && r->open_count > 0;
    arena_clear(&r->scratch);
    if (!find_place(r, &shortest, &unused)) return false;
    if (d->shape != NONE) kind_at(r, d->kind)->seen_us = shortest.duration_us;
    return true;
}

bool run_may_start_bare(struct run *r, const struct demand *d)
{
    const struct demand bare = demand_without_quotas(d);
    return run_may_start(r, &bare);
}

static void keep_parts(const struct run *r, struct allocation *a)
{
    size_t size = a->part_count * sizeof *a->parts;
    struct allocation_part *parts = arena_alloc_raw(r->arena, size);
    memcpy(parts, a->parts, size);
    a->parts = parts;
}

struct run_decision run_job(struct run *r, const struct demand *d, bool wants_reservation)
{
    struct run_decision decision = {.outcome = RUN_WAITS, .start_us = r->now_us};
    ensure(d->range_count > 0);
    r->job_count++;
    arena_clear(&r->scratch);
    if (try_start(r, d, &decision) || (may_reserve(r, wants_reservation) && try_reserve(r, d, TIMELINE_END, &decision)))
        keep_parts(r, &decision.allocation);
    r->reservation_count += decision.outcome == RUN_RESERVED;
    r->is_blocked |= decision.outcome != RUN_STARTS;
    return decision;
}

struct run_decision run_job_now(struct run *r, const struct demand *d)
{
    struct run_decision decision = {.outcome = RUN_WAITS, .start_us = r->now_us};
    ensure(d->range_count > 0);
    r->job_count++;
    arena_clear(&r->scratch);
    if (try_start(r, d, &decision)) keep_parts(r, &decision.allocation);
    return decision;
}

/* Its own reservation would cut it, so it starts for its whole duration only. */
struct run_decision run_job_again(struct run *r, const struct demand *d, int64_t before_us)
{
    struct run_decision decision = {.outcome = RUN_WAITS, .start_us = r->now_us};
    struct demand whole = *d;
    whole.duration_min_us = 0;
    d = &whole;
    arena_clear(&r->scratch);
    if (try_start(r, d, &decision) || try_reserve(r, d, before_us, &decision)) keep_parts(r, &decision.allocation);
    return decision;
}
