#include "sched/run.h"

#include "base/ensure.h"

static bool has_free_slot(const struct run *r, uint32_t instance)
{
    const struct sched_instance *in = &r->cluster->instances.items[instance];
    const struct offer *slots = offers_find(&in->offers, SCHED_SLOTS);
    if (in->is_off || in->is_overloaded) return false;
    return slots == NULL ||
           timeline_max(&slots->booked, r->now_us, r->now_us + 1) <= timeline_limit(slots->amount, 1.0);
}

void run_begin(struct run *r, struct cluster *cluster, const struct run_rules *rules, int64_t now_us,
               struct arena *arena)
{
    *r = (struct run){.cluster = cluster, .rules = rules, .arena = arena, .now_us = now_us};
    load_begin(cluster, &rules->load, now_us);
    for (uint32_t i = 0; i < cluster->instances.count; i++) r->open_count += has_free_slot(r, i);
}

void run_end(struct run *r)
{
    array_release(&r->shapes);
}

bool run_is_over(const struct run *r)
{
    if (r->open_count > 0) return false;
    return (r->rules->ends_when_full && r->job_count > 0) || r->rules->reservations == RUN_RESERVE_NONE ||
           r->reservation_count >= r->rules->reservation_max;
}

/* --- starting ----------------------------------------------------------------------------------------------------- */

/* Without reservations only the present matters: no later booking has to be respected. */
static struct window start_window(const struct run *r, const struct demand *d)
{
    bool is_endless = d->duration_us > TIMELINE_END - r->now_us;
    int64_t until_us = is_endless ? TIMELINE_END : r->now_us + d->duration_us;
    bool looks_ahead = r->rules->reservations != RUN_RESERVE_NONE && r->rules->reservation_max > 0;
    return (struct window){r->now_us, looks_ahead ? until_us : r->now_us + 1};
}

static void book(const struct run *r, const struct demand *d, const struct run_decision *decision)
{
    bool is_endless = d->duration_us > TIMELINE_END - decision->start_us;
    cluster_book(r->cluster, d, &decision->allocation, decision->start_us,
                 is_endless ? TIMELINE_END : decision->start_us + d->duration_us);
}

/* The open instances change only on the hosts of a job that starts: their slots, and their load. */
static void count_open(struct run *r, const struct allocation *a, bool is_counted)
{
    uint32_t last_host = NONE;
    for (uint32_t i = 0; i < a->part_count; i++) {
        uint32_t host = r->cluster->instances.items[a->parts[i].instance].host;
        const struct sched_host *h = &r->cluster->hosts.items[host];
        if (host == last_host) continue;
        last_host = host;
        for (uint32_t k = h->first_instance; k < h->first_instance + h->instance_count; k++) {
            if (!has_free_slot(r, k)) continue;
            if (is_counted)
                r->open_count++;
            else
                r->open_count--;
        }
    }
}

static void start(struct run *r, const struct demand *d, const struct run_decision *decision)
{
    const struct allocation *a = &decision->allocation;
    count_open(r, a, false);
    book(r, d, decision);
    for (uint32_t i = 0; i < a->part_count; i++)
        load_placed(r->cluster, &r->rules->load, r->cluster->instances.items[a->parts[i].instance].host,
                    a->parts[i].slots, r->now_us);
    count_open(r, a, true);
}

/* --- reservations ------------------------------------------------------------------------------------------------- */

static bool may_reserve(const struct run *r, const struct demand *d, bool wants_reservation)
{
    bool is_range = d->range_count > 1 || d->ranges[0].min < d->ranges[0].max;
    if (r->reservation_count >= r->rules->reservation_max || (is_range && !r->rules->reserves_ranges)) return false;
    return r->rules->reservations == RUN_RESERVE_ALL ||
           (r->rules->reservations == RUN_RESERVE_REQUESTED && wants_reservation);
}

/* The shape of a demand, or a new one for a demand without. */
static struct run_shape *shape_of(struct run *r, const struct demand *d, struct run_shape *new)
{
    *new = (struct run_shape){.not_before_us = r->now_us};
    if (d->shape == NONE) return new;
    array_reserve(&r->shapes, d->shape + 1);
    while (r->shapes.count <= d->shape) *array_add(&r->shapes) = *new;
    return &r->shapes.items[d->shape];
}

struct run_decision run_job(struct run *r, const struct demand *d, bool wants_reservation)
{
    struct run_decision decision = {.outcome = RUN_WAITS, .start_us = r->now_us};
    struct run_shape new, *shape = shape_of(r, d, &new);
    r->job_count++;
    if (!shape->cannot_start && place_job(r->cluster, d, start_window(r, d), r->arena, &decision.allocation)) {
        decision.outcome = RUN_STARTS;
        start(r, d, &decision);
        return decision;
    }
    shape->cannot_start = true;
    if (may_reserve(r, d, wants_reservation) && shape->not_before_us != TIMELINE_END) {
        decision.start_us =
            reserve_job(r->cluster, d, r->rules->search, shape->not_before_us, r->arena, &decision.allocation);
        shape->not_before_us = decision.start_us;
        if (decision.start_us == TIMELINE_END) return decision;
        decision.outcome = RUN_RESERVED;
        r->reservation_count++;
        book(r, d, &decision);
    }
    return decision;
}
