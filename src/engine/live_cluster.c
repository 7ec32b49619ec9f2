#include "engine/live_cluster.h"

#include <math.h>
#include <string.h>

#include "base/ensure.h"
#include "engine/closed_times.h"
#include "engine/pending.h"
#include "engine/quota_usage.h"

/* --- bookings ----------------------------------------------------------------------------------------------------- */

static bool has_fractions(const struct demand *d)
{
    for (uint32_t i = 0; i < d->need_count; i++) {
        if (d->needs[i].amount != floor(d->needs[i].amount)) return true;
    }
    return false;
}

static void release_booking(struct live_booking *b)
{
    mem_free(b->allocation.parts);
}

/* Keeps a booking that the cluster already has. */
static void keep(struct live_cluster *l, const struct live_booking *booking)
{
    size_t size = booking->allocation.part_count * sizeof *booking->allocation.parts;
    l->changes++;
    map_set_u64(&l->by_launch, booking->launch_id, l->bookings.count);
    struct live_booking *b = array_add(&l->bookings);
    *b = *booking;
    b->allocation.parts = mem_resize(NULL, 0, size);
    memcpy(b->allocation.parts, booking->allocation.parts, size);
    if (b->until_us != TIMELINE_END) time_heap_push(&l->ends, b->until_us, b->launch_id);
}

void live_cluster_add(struct live_cluster *l, const struct task *k, const struct demand *d, const struct allocation *a,
                      int64_t now_us)
{
    keep(l, &(struct live_booking){.launch_id = k->launch_id,
                                   .demand = d,
                                   .allocation = *a,
                                   .launch_us = now_us,
                                   .planned_start_us = now_us,
                                   .from_us = now_us,
                                   .until_us = demand_end_us(d, now_us)});
}

void live_cluster_unbook(struct live_cluster *l, const struct demand *d, const struct allocation *a, int64_t start_us)
{
    cluster_unbook(&l->model.cluster, d, a, start_us, demand_end_us(d, start_us));
    l->changes++;
    l->has_fractions |= has_fractions(d);
}

void live_cluster_remove(struct state *s, const struct task *k)
{
    struct live_cluster *l = s->live_cluster;
    uint32_t index = l != NULL ? map_get_u64(&l->by_launch, k->launch_id) : NONE;
    if (index == NONE) return;
    struct live_booking *b = &l->bookings.items[index];
    cluster_unbook(&l->model.cluster, b->demand, &b->allocation, b->from_us, b->until_us);
    l->changes++;
    l->has_fractions |= has_fractions(b->demand);
    ensure(map_remove_u64(&l->by_launch, b->launch_id));
    release_booking(b);
    *b = l->bookings.items[--l->bookings.count];
    if (index < l->bookings.count) map_set_u64(&l->by_launch, b->launch_id, index);
}

/* As a rule a task at its limit ends within a second. Were it taken to run on for an interval, short jobs would be
 * backfilled before a reservation that is due, one after the other. */
static int64_t extended_end(const struct state *s, int64_t end_us, int64_t now_us)
{
    int64_t interval_us = setting_number(&s->settings, SET_GE_SCHEDULE_INTERVAL) * US_PER_S, step_us = US_PER_S;
    while (step_us < interval_us && end_us + step_us <= now_us) step_us *= 2;
    if (step_us < interval_us) return end_us + step_us;
    return end_us + ((now_us - end_us) / interval_us + 1) * interval_us;
}

/* The index of the booking that ends first, if it has an end; else NONE. Ends that are out of date are dropped. */
static uint32_t find_first_end(struct live_cluster *l)
{
    while (l->ends.list.count > 0) {
        const struct time_entry *end = &l->ends.list.items[0];
        uint32_t index = map_get_u64(&l->by_launch, end->id);
        if (index != NONE && l->bookings.items[index].until_us == end->at_us) return index;
        (void)time_heap_pop(&l->ends);
    }
    return NONE;
}

int64_t live_cluster_next_end_us(struct live_cluster *l)
{
    uint32_t first = find_first_end(l);
    return first != NONE ? l->bookings.items[first].until_us : 0;
}

/* Ends of tasks that have ended before their time limit would gather. */
static void drop_old_ends(struct live_cluster *l)
{
    enum { FEW_ENDS = 64 };
    if (l->ends.list.count <= FEW_ENDS + 2 * l->bookings.count) return;
    array_clear(&l->ends.list);
    for (uint32_t i = 0; i < l->bookings.count; i++) {
        const struct live_booking *b = &l->bookings.items[i];
        if (b->until_us != TIMELINE_END) time_heap_push(&l->ends, b->until_us, b->launch_id);
    }
}

static void extend_overrunning(struct state *s, struct live_cluster *l, int64_t now_us)
{
    for (uint32_t index; (index = find_first_end(l)) != NONE && l->bookings.items[index].until_us <= now_us;) {
        struct live_booking *b = &l->bookings.items[index];
        (void)time_heap_pop(&l->ends);
        int64_t until_us = extended_end(s, demand_end_us(b->demand, b->planned_start_us), now_us);
        cluster_book(&l->model.cluster, b->demand, &b->allocation, b->until_us, until_us);
        l->changes++;
        b->until_us = until_us;
        time_heap_push(&l->ends, until_us, b->launch_id);
    }
}

/* --- load --------------------------------------------------------------------------------------------------------- */

/* What jobs that started a short time ago count on their hosts. Hundredths are added as whole numbers, so that the
 * order of bookings makes no difference. */
static void count_starts(struct live_cluster *l, int64_t now_us)
{
    struct cluster *c = &l->model.cluster;
    for (uint32_t h = 0; h < c->hosts.count; h++) c->hosts.items[h].started_slots = 0.0;
    if (l->rules.load.decay_us <= 0 || l->rules.load.adjustment_count == 0) return;
    for (uint32_t i = 0; i < l->bookings.count; i++) {
        const struct live_booking *b = &l->bookings.items[i];
        double hundredths = round(100.0 * load_started_slots(&l->rules.load, now_us - b->launch_us));
        for (uint32_t p = 0; p < b->allocation.part_count; p++) {
            const struct allocation_part *part = &b->allocation.parts[p];
            c->hosts.items[c->instances.items[part->instance].host].started_slots += hundredths * part->slots;
        }
    }
    for (uint32_t h = 0; h < c->hosts.count; h++) c->hosts.items[h].started_slots /= 100.0;
}

static bool has_thresholds(const struct cluster *c)
{
    bool found = false;
    for (uint32_t i = 0; i < c->instances.count && !found; i++) found = c->instances.items[i].threshold_count > 0;
    return found;
}

static uint64_t edition_of(const struct state *s)
{
    return 1 + (uint64_t)s->rules_edition + s->host_edition;
}

/* Whether a threshold or a demand depends on load values. Until the cluster is made anew, the same resources are
 * reported and demands are only added, so many reports are one check. */
static bool needs_load(struct live_cluster *l)
{
    uint32_t count = l->demands.list.count;
    if (l->load_check.made == l->made && l->load_check.demand_count == count) return l->load_check.is_used;
    bool is_used = has_thresholds(&l->model.cluster);
    for (uint32_t i = 0; i < count && !is_used; i++)
        is_used = cluster_model_needs_load(&l->model, l->demands.list.items[i]);
    l->load_check.made = l->made;
    l->load_check.demand_count = count;
    l->load_check.is_used = is_used;
    return is_used;
}

bool live_cluster_refresh_loads(struct state *s, uint32_t host)
{
    struct live_cluster *l = s->live_cluster;
    if (l == NULL || l->edition != edition_of(s)) return true;
    bool have_quotas_changed;
    l->changes++;
    if (!cluster_model_refresh_loads(&l->model, s, host, &have_quotas_changed)) {
        live_cluster_invalidate(s);
        return true;
    }
    return have_quotas_changed || needs_load(l);
}

bool live_cluster_is_adjusted(const struct live_cluster *l)
{
    const struct cluster *c = &l->model.cluster;
    for (uint32_t i = 0; i < c->instances.count; i++) {
        const struct sched_instance *in = &c->instances.items[i];
        if (in->is_overloaded && c->hosts.items[in->host].started_slots > 0.0) return true;
    }
    return false;
}

/* --- quotas ------------------------------------------------------------------------------------------------------- */

bool live_cluster_quotas_block(struct live_cluster *l, const struct demand *d, int64_t now_us)
{
    if (l->quota_answers.changes != l->changes || l->quota_answers.now_us != now_us) {
        map_clear(&l->quota_answers.by_shape);
        l->quota_answers.changes = l->changes;
        l->quota_answers.now_us = now_us;
    }
    uint32_t known = d->shape != NONE ? map_get_u64(&l->quota_answers.by_shape, d->shape) : NONE;
    if (known != NONE) return known != 0;
    bool blocks = quota_usage_blocks(&l->model, d, now_us);
    if (d->shape != NONE) map_set_u64(&l->quota_answers.by_shape, d->shape, blocks);
    return blocks;
}

/* --- all anew ----------------------------------------------------------------------------------------------------- */

static void clear(struct live_cluster *l)
{
    for (uint32_t i = 0; i < l->bookings.count; i++) release_booking(&l->bookings.items[i]);
    array_clear(&l->bookings);
    array_clear(&l->ends.list);
    map_clear(&l->by_launch);
    if (l->made > 0) {
        job_demands_end(&l->demands);
        cluster_model_release(&l->model);
    }
    arena_clear(&l->arena);
    l->has_fractions = false;
}

void live_cluster_free(struct live_cluster *l)
{
    if (l == NULL) return;
    clear(l);
    array_release(&l->bookings);
    array_release(&l->ends.list);
    map_release(&l->by_launch);
    map_release(&l->quota_answers.by_shape);
    arena_release(&l->arena);
    mem_free(l);
}

void live_cluster_invalidate(struct state *s)
{
    if (s->live_cluster != NULL) s->live_cluster->edition = 0;
}

struct allocation live_cluster_allocation(const struct cluster_model *m, const struct task *k, const struct demand *d,
                                          struct arena *arena)
{
    struct allocation a = {.environment = NONE};
    a.parts = arena_alloc(arena, (k->placement_count + (size_t)1) * sizeof *a.parts);
    if (d->environment_count > 0) a.environment = d->environments[0];
    for (uint32_t i = 0; i < k->placement_count; i++) {
        uint32_t instance = cluster_model_instance(m, k->partition, k->placements[i].host);
        if (instance == NONE) continue;
        a.parts[a.part_count] = (struct allocation_part){instance, idset_count(&k->placements[i].cpus)};
        a.slots += a.parts[a.part_count++].slots;
    }
    return a;
}

int64_t live_cluster_end(const struct state *s, const struct task *k, const struct demand *d, int64_t now_us)
{
    int64_t end_us = demand_end_us(d, task_planned_start_us(k));
    return end_us > now_us ? end_us : extended_end(s, end_us, now_us);
}

static void book_task(struct live_cluster *l, struct state *s, const struct task *k, int64_t now_us)
{
    const struct job *j = &s->jobs.items[state_find_job(s, k->job_id)];
    struct live_booking b = {.launch_id = k->launch_id,
                             .demand = job_demand_of_task(&l->demands, j, k),
                             .launch_us = k->launch_us,
                             .planned_start_us = task_planned_start_us(k),
                             .from_us = k->launch_us < now_us ? k->launch_us : now_us - 1};
    b.allocation = live_cluster_allocation(&l->model, k, b.demand, &s->cycle);
    if (b.allocation.part_count == 0) return;
    b.until_us = live_cluster_end(s, k, b.demand, now_us);
    cluster_book(&l->model.cluster, b.demand, &b.allocation, b.from_us, b.until_us);
    keep(l, &b);
}

void live_cluster_rebook(struct state *s, const struct task *k, int64_t now_us)
{
    struct live_cluster *l = s->live_cluster;
    if (l == NULL || map_get_u64(&l->by_launch, k->launch_id) == NONE) return;
    live_cluster_remove(s, k);
    if (l->edition == edition_of(s)) book_task(l, s, k, now_us); /* else all is made anew before the next pass */
}

static void make_anew(struct live_cluster *l, struct state *s, int64_t now_us)
{
    clear(l);
    ensure(cluster_model_make(s, &l->model, NULL) == 0); /* objects and settings are checked by it */
    cluster_model_run_rules(&l->model, s, &l->rules);
    job_demands_begin(&l->demands, s, &l->model, &l->arena);
    l->edition = edition_of(s);
    l->made++;
    l->changes++;
    const enum closed_part part = closed_times_part(l->rules.search);
    closed_times_book(&l->model, s, part, now_us);
    l->remake_us = part == CLOSED_NEXT ? closed_times_next_opening(s, now_us) : 0;
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        if (!job_state_is_end(s->tasks.items[i].state)) book_task(l, s, &s->tasks.items[i], now_us);
    }
}

/* Whether most demands are of jobs that have ended. */
static bool has_old_demands(const struct live_cluster *l, const struct state *s)
{
    enum { DEMANDS_MIN = 1000 };
    uint64_t used = (uint64_t)l->bookings.count + (s->pending != NULL ? s->pending->queue.groups.count : 0);
    return l->demands.list.count > DEMANDS_MIN + 2 * used;
}

struct live_cluster *live_cluster_update(struct state *s, int64_t now_us)
{
    if (s->live_cluster == NULL) {
        s->live_cluster = mem_resize(NULL, 0, sizeof *s->live_cluster);
        *s->live_cluster = (struct live_cluster){0};
    }
    struct live_cluster *l = s->live_cluster;
    bool has_opened = l->remake_us != 0 && l->remake_us <= now_us;
    if (l->edition != edition_of(s) || l->has_fractions || has_opened || has_old_demands(l, s)) make_anew(l, s, now_us);
    drop_old_ends(l);
    extend_overrunning(s, l, now_us);
    count_starts(l, now_us);
    return l;
}
