/* The pass of the models multifactor and basic. Of each group of equal jobs (pending.h) the first one competes; when it
 * has started, or got a reservation, the next one takes its place, and when it has not, nothing of its group would.
 *
 *     group "ann, 4 CPUs, batch"   17 21 30     17: priority 900
 *     group "bob, 1 CPU, batch"    18 19        18: priority 700
 *     free: 2 CPUs                 17 is reserved when 2 more are free; 18 starts if it ends before that
 *
 * Cost: O(groups) and O(log groups) for each start or reservation, beside those of the scheduler. */
#include "base/ensure.h"
#include "base/sort.h"
#include "engine/pass_limits.h"

/* Few jobs start in a pass, so of the candidates only the best ones are computed and kept. */
enum { SHORTLIST_FIRST = 16, SHORTLIST_GROWTH = 4 };

/* The groups of a kind of demands that may start. */
struct fitting {
    uint32_t count;
    int64_t min_us; /* the shortest duration */
};

/* The candidates, in pending.fitting (those that may start) and pending.blocked (those that could only get a
 * reservation). */
struct heads {
    struct pass *p;
    struct pending *pending;
    struct pending_order order;
    ARRAY(struct fitting) fitting_of_kind;
    uint32_t fitting_count;        /* the sum */
    bool has_entered;              /* groups have been candidates, and are marked */
    struct queue_candidates other; /* of jobs with a reservation, in their other partitions */
};

/* --- the first jobs of the groups --------------------------------------------------------------------------------- */

/* The candidate of the first job of a group that has a task to start. Returns false if there is none. */
static bool find_candidate(const struct heads *h, uint32_t group, struct queue_candidate *out)
{
    struct state *s = h->p->c->s;
    struct pending *pending = h->pending;
    const struct pending_first *first = &pending->firsts.items[group];
    bool is_limited = setting_number(&s->settings, SET_GE_MAX_USER_RUNNING) > 0 || s->kept_back_count > 0;
    bool is_certain = pending->jobs_started == 0 && !pending->groups.items[group].has_arrays && !is_limited;
    uint32_t at = is_certain ? first->at : pass_find_startable(s, group, 0);
    struct pending_first other;
    if (at == NONE) return false;
    if (at != first->at) pending_order_describe(&h->order, group, at, &other);
    *out = pending_order_candidate(&h->order, group, at != first->at ? &other : first);
    return true;
}

static void count_fitting(struct heads *h, uint32_t kind, int64_t duration_us)
{
    while (h->fitting_of_kind.count <= kind) *array_add(&h->fitting_of_kind) = (struct fitting){0, TIMELINE_END};
    struct fitting *f = &h->fitting_of_kind.items[kind];
    f->count++;
    h->fitting_count++;
    if (duration_us < f->min_us) f->min_us = duration_us;
}

/* The groups of a kind no longer count if not even the shortest of them fits. */
static void drop_fitting(struct heads *h, uint32_t kind)
{
    if (kind >= h->fitting_of_kind.count) return;
    struct fitting *f = &h->fitting_of_kind.items[kind];
    if (run_may_fit(&h->p->run, kind, f->min_us) != RUN_CANNOT_FIT) return;
    h->fitting_count -= f->count;
    *f = (struct fitting){0, TIMELINE_END};
}

static uint32_t reservations_left(const struct pass *p)
{
    if (p->cluster->rules.reservations == RUN_RESERVE_NONE) return 0;
    return p->cluster->rules.reservation_max - p->run.reservation_count;
}

/* Whether jobs that do not fit take part: they may get a reservation, or count as tried. */
static bool blocked_take_part(const struct pass *p)
{
    return run_counts_tests(&p->cluster->rules) || reservations_left(p) > 0;
}

static bool may_reserve(const struct pass *p, uint32_t group)
{
    const struct pending_group *g = &p->c->s->pending->groups.items[group];
    return g->is_reserving || p->cluster->rules.reservations == RUN_RESERVE_ALL || run_counts_tests(&p->cluster->rules);
}

/* If quotas have room. Whether they have is found out for candidates, when their turn comes (decide). */
static inline bool may_start(struct pass *p, uint32_t group, const struct pending_head *head)
{
    enum run_may_fit known = run_may_fit(&p->run, head->kind, head->duration_us);
    return known == RUN_NOT_SEEN ? run_may_start_bare(&p->run, pass_group_demand(p, group)) : known == RUN_MAY_FIT;
}

static void offer_first(struct heads *h, uint32_t group, struct queue_shortlist *list)
{
    struct pass *p = h->p;
    struct queue_candidate candidate;
    if (!pass_admits(p, &h->pending->groups.items[group])) return;
    if (find_candidate(h, group, &candidate)) queue_shortlist_offer(list, candidate);
}

/* Offers the first jobs of the groups of which none was a candidate before. Most are left out by their bound. */
static void offer_all(struct heads *h)
{
    struct pass *p = h->p;
    struct pending *pending = h->pending;
    bool do_blocked_take_part = blocked_take_part(p);
    for (uint32_t g = 0; g < pending->heads.count; g++) {
        const struct pending_head *head = pending_order_head(&h->order, g);
        if (head->kind == NONE) continue;
        bool fits = may_start(p, g, head);
        struct queue_shortlist *list = fits ? &pending->fitting : &pending->blocked;
        if (fits) count_fitting(h, head->kind, head->duration_us);
        if (!fits && !do_blocked_take_part) continue;
        if (h->has_entered && pending->groups.items[g].entered_in == pending->pass_count) continue;
        if (pending->are_alike && pending_order_max(&h->order, head) < list->order_min)
            list->has_more = true;
        else if (fits || may_reserve(p, g))
            offer_first(h, g, list);
    }
}

static void collect(struct heads *h, uint32_t fitting_max, uint32_t blocked_max)
{
    struct queue_shortlist *fitting = &h->pending->fitting, *blocked = &h->pending->blocked;
    array_clear(&h->fitting_of_kind);
    h->fitting_count = 0;
    queue_shortlist_begin(fitting, fitting_max);
    queue_shortlist_begin(blocked, blocked_max);
    offer_all(h);
    queue_shortlist_end(fitting);
    queue_shortlist_end(blocked);
}

/* --- further candidates ------------------------------------------------------------------------------------------- */

static void note_entered(struct heads *h, uint32_t group)
{
    h->pending->groups.items[group].entered_in = h->pending->pass_count;
}

static struct queue_candidates take_list(struct heads *h, struct queue_shortlist *list)
{
    const struct queue_candidates taken = list->best;
    for (uint32_t i = 0; i < taken.list.count; i++) note_entered(h, taken.list.items[i].group);
    list->best = (struct queue_candidates){0};
    return taken;
}

static void put_back(struct queue_shortlist *list, struct queue_candidates *taken)
{
    for (uint32_t i = 0; i < taken->list.count; i++) queue_push(&list->best, taken->list.items[i]);
    array_release(&taken->list);
}

static uint32_t grown(uint32_t max)
{
    return max < UINT32_MAX / SHORTLIST_GROWTH ? max * SHORTLIST_GROWTH : UINT32_MAX;
}

/* Adds candidates that were left out to those that are there. */
static void collect_more(struct heads *h)
{
    struct queue_shortlist *fitting = &h->pending->fitting, *blocked = &h->pending->blocked;
    struct queue_candidates old_fitting = take_list(h, fitting), old_blocked = take_list(h, blocked);
    h->has_entered = true;
    collect(h, grown(fitting->max), grown(blocked->max));
    put_back(fitting, &old_fitting);
    put_back(blocked, &old_blocked);
}

/* The next job of a group that has started or got a reservation. */
static void push_next(struct heads *h, const struct queue_candidate *done, const struct demand *d)
{
    struct pending_first next;
    uint32_t at = pass_find_startable(h->p->c->s, done->group, done->at + 1);
    if (at == NONE) return;
    bool fits = run_may_start(&h->p->run, d);
    if (fits) count_fitting(h, demand_bare_kind(d), demand_shortest_us(d));
    pending_order_describe(&h->order, done->group, at, &next);
    queue_push(fits ? &h->pending->fitting.best : &h->pending->blocked.best,
               pending_order_candidate(&h->order, done->group, &next));
}

/* --- the pass ----------------------------------------------------------------------------------------------------- */

static struct queue_candidates *better_list(struct queue_candidates *a, struct queue_candidates *b)
{
    if (a->list.count == 0 || b->list.count == 0) return b->list.count == 0 ? a : b;
    return queue_is_before(b->list.items, a->list.items) ? b : a;
}

/* The list with the best candidate; NULL: there is none. */
static struct queue_candidates *best_list(struct heads *h)
{
    struct queue_candidates *best = better_list(&h->pending->fitting.best, &h->other);
    if (blocked_take_part(h->p)) best = better_list(best, &h->pending->blocked.best);
    return best->list.count > 0 ? best : NULL;
}

/* Whether candidates were left out that may come before this one; NULL: before the end. */
static bool misses_some(const struct heads *h, const struct queue_candidate *candidate)
{
    const struct queue_shortlist *fitting = &h->pending->fitting, *blocked = &h->pending->blocked;
    bool is_before_fitting = candidate != NULL && !queue_is_before(&fitting->last, candidate);
    bool is_before_blocked = candidate != NULL && !queue_is_before(&blocked->last, candidate);
    return (fitting->has_more && !is_before_fitting) ||
           (blocked->has_more && !is_before_blocked && blocked_take_part(h->p));
}

static bool pop(struct heads *h, struct queue_candidate *out, bool *out_is_other)
{
    struct queue_candidates *list = best_list(h);
    while (misses_some(h, list != NULL ? list->list.items : NULL)) {
        collect_more(h);
        list = best_list(h);
    }
    if (list == NULL) return false;
    *out = queue_pop(list);
    *out_is_other = list == &h->other;
    if (!*out_is_other) note_entered(h, out->group);
    return true;
}

/* A job that has got a reservation competes on in its other partitions, where it may start earlier. */
static void push_others(struct heads *h, const struct queue_candidate *reserved, uint32_t job_id)
{
    struct pending *pending = h->pending;
    const struct pending_job *waiting = &pending->jobs.items[map_get_u64(&pending->by_id, job_id)];
    for (uint32_t i = 0; i < waiting->group_count; i++) {
        struct pending_first first;
        uint32_t group = pending_job_group(waiting, i);
        if (group == reserved->group || !pass_admits(h->p, &pending->groups.items[group])) continue;
        (void)pending_order_head(&h->order, group);
        pending_order_describe(&h->order, group, queue_find(&pending->queue, group, job_id), &first);
        const struct queue_candidate other = pending_order_candidate(&h->order, group, &first);
        if (queue_is_before(reserved, &other)) queue_push(&h->other, other);
    }
}

/* When none of a kind fits any more, those that did are among the ones that could get a reservation. is_other: a
 * candidate of heads.other. */
static void decide(struct heads *h, const struct queue_candidate *candidate, bool is_other)
{
    struct pass *p = h->p;
    struct state *s = p->c->s;
    const struct pending_group *g = &s->pending->groups.items[candidate->group];
    const struct demand *d = pass_group_demand(p, candidate->group);
    uint32_t job_id = s->pending->queue.groups.items[candidate->group].entries.items[candidate->at].job;
    bool counts = run_counts_tests(&p->cluster->rules), has_reservation = pass_has_reservation(p, job_id);
    if (!counts && !has_reservation && !run_may_start(&p->run, d) && reservations_left(p) == 0) return;
    uint32_t job = state_find_job(s, job_id), max = UINT32_MAX;
    bool has_started = pass_startable_tasks(s, &s->jobs.items[job]) == 0; /* in another partition */
    if (!has_started && !pass_limits_admit(p, job, candidate->group, d)) return;
    enum run_outcome outcome = has_started ? RUN_STARTS : RUN_WAITS;
    if (!has_started && pass_may_try(p, job)) outcome = pass_decide(p, job, candidate->group, &max);
    drop_fitting(h, demand_bare_kind(d));
    if (g->has_more_partitions && !counts && !has_reservation && pass_has_reservation(p, job_id))
        push_others(h, candidate, job_id);
    if (!is_other && (counts || outcome != RUN_WAITS)) push_next(h, candidate, d);
}

/* Without another start, further reservations matter only for the schedule file. */
static bool goes_on(const struct heads *h)
{
    const struct pass *p = h->p;
    if (run_has_tried_all(&p->run) || p->start_room == 0) return false;
    bool counts = run_counts_tests(&p->cluster->rules); /* so others are among the blocked ones */
    uint32_t others = counts ? p->reservations.count : h->other.list.count;
    if (run_is_over(&p->run)) return p->is_listed && others > 0;
    return (h->fitting_count > 0 && p->run.open_count > 0) || p->is_listed;
}

void pass_by_priority(struct pass *p)
{
    struct heads h = {.p = p, .pending = p->c->s->pending};
    struct queue_candidate best;
    bool is_other;
    if (!p->is_listed && pass_count_fitting(p, 1) == 0) return;
    pass_begin_ranking(p);
    h.order = (struct pending_order){.s = p->c->s,
                                     .cluster = p->cluster,
                                     .now_us = p->c->now_us,
                                     .factors = p->factors,
                                     .multifactor = &p->multifactor,
                                     .amounts = p->amounts};
    pending_order_begin(&h.order, &p->c->s->cycle);
    collect(&h, SHORTLIST_FIRST, run_counts_tests(&p->cluster->rules) ? UINT32_MAX : reservations_left(p));
    while (goes_on(&h) && pop(&h, &best, &is_other)) decide(&h, &best, is_other);
    array_release(&h.other.list);
    array_release(&h.fitting_of_kind);
}
