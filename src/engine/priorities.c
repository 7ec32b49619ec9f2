/* The listing of priorities. Each model fills rows for pending jobs in all of their partitions, and for running tasks
 * where it ranks them, from the same functions as the pass (ranking.h). */
#include "engine/priorities.h"
#include "base/ensure.h"
#include "base/quantity.h"
#include "base/sort.h"
#include "engine/assoc_limits.h"
#include "engine/closed_times.h"
#include "engine/job_waits.h"
#include "engine/limit_place.h"
#include "engine/live_cluster.h"
#include "engine/min_priority.h"
#include "engine/never_runs.h"
#include "engine/quota_usage.h"
#include "engine/wait_leaders.h"

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* The listing while it is built. There is room for every pair of a pending job and a partition, and every task
 * that has not ended, of the jobs that are listed. */
struct priority_list {
    struct state *s;
    int64_t now_us;
    uint32_t job_id; /* NONE: all */
    struct arena *arena;
    struct tres_indices indices;
    struct priorities *result;
    size_t max_count;
};

static bool is_wanted(const struct priority_list *l, const struct job *j)
{
    return l->job_id == NONE || j->id == l->job_id;
}

static bool is_pending(const struct job *j)
{
    return j->ended_us == 0 && idset_first(&j->pending) != NONE;
}

static size_t max_rows(const struct priority_list *l)
{
    size_t count = 0;
    for (uint32_t i = 0; i < l->s->jobs.count; i++) {
        const struct job *j = &l->s->jobs.items[i];
        if (is_wanted(l, j)) count += j->live_tasks + (is_pending(j) ? j->partition_count : 0);
    }
    return count;
}

static struct priority_row *add_row(struct priority_list *l, uint32_t job, uint32_t task, uint32_t partition)
{
    ensure(l->result->count < l->max_count);
    struct priority_row *row = &l->result->rows[l->result->count++];
    const struct job *j = &l->s->jobs.items[job];
    *row = (struct priority_row){.job = job, .task = task, .partition = partition};
    row->is_eligible = task != NONE || job_waits_is_eligible(j, l->now_us);
    if (task != NONE) {
        row->billing = l->s->tasks.items[task].billing;
        return row;
    }
    struct tres_amount amounts[TRES_MAX];
    struct tres_list tres = {.items = amounts};
    job_tres(l->s, &l->indices, j, j->request.cpus, &tres);
    row->billing = job_billing_in(l->s, partition, &tres);
    return row;
}

/* --- basic -------------------------------------------------------------------------------------------------------- */

static void list_basic(struct priority_list *l)
{
    for (uint32_t i = 0; i < l->s->jobs.count; i++) {
        const struct job *j = &l->s->jobs.items[i];
        if (!is_wanted(l, j) || !is_pending(j)) continue;
        for (uint32_t p = 0; p < j->partition_count; p++)
            add_row(l, i, NONE, j->partitions[p])->priority = job_basic_priority(j);
    }
}

/* --- multifactor -------------------------------------------------------------------------------------------------- */

static void set_terms(struct priority_list *l, const struct multifactor_context *m, const struct multifactor_job *input,
                      struct priority_row *row)
{
    const struct multifactor_rules *rules = &l->s->policy.multifactor;
    bool is_computed = !input->is_held && !input->is_set;
    if (is_computed) multifactor_factors(rules, &m->cluster, input, &row->factors);
    multifactor_terms(rules, &m->cluster, input, &row->terms);
    row->priority = min_priority_bound(l->s, &l->s->jobs.items[row->job], row->partition, row->terms.priority);
    if (!rules->has_tres_weights || !is_computed) return;
    row->tres_terms = arena_alloc(l->arena, TRES_MAX * sizeof *row->tres_terms);
    for (uint32_t i = 0; i < input->tres.count; i++) {
        const struct tres_amount *a = &input->tres.items[i];
        row->tres_terms[a->tres] = multifactor_tres_factor(rules, &m->cluster, input, a) * rules->weight_tres[a->tres];
    }
}

static void list_running(struct priority_list *l, const struct multifactor_context *m)
{
    struct tres_amount amounts[TRES_MAX];
    for (uint32_t i = 0; i < l->s->tasks.count; i++) {
        const struct task *k = &l->s->tasks.items[i];
        if (job_state_is_end(k->state)) continue;
        uint32_t job = state_find_job(l->s, k->job_id);
        const struct job *j = &l->s->jobs.items[job];
        struct multifactor_job input;
        if (!is_wanted(l, j)) continue;
        multifactor_context_job(m, j, k->partition, amounts, &input);
        input.is_held = false;
        input.current_partition = k->partition;
        input.cpus = task_cpu_count(k);
        input.tres = k->tres;
        set_terms(l, m, &input, add_row(l, job, i, k->partition));
    }
}

static void list_multifactor(struct priority_list *l)
{
    struct state *s = l->s;
    struct multifactor_context context;
    struct tres_amount amounts[TRES_MAX];
    multifactor_context_make(s, l->now_us, state_factors(s, l->now_us, l->arena), l->arena, &context);
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        const struct job *j = &s->jobs.items[i];
        if (!is_wanted(l, j) || !is_pending(j)) continue;
        for (uint32_t p = 0; p < j->partition_count; p++) {
            struct multifactor_job input;
            multifactor_context_job(&context, j, j->partitions[p], amounts, &input);
            set_terms(l, &context, &input, add_row(l, i, NONE, j->partitions[p]));
        }
    }
    if ((s->policy.multifactor.flags & FLAG_CALCULATE_RUNNING) != 0) list_running(l, &context);
}

/* --- tickets ------------------------------------------------------------------------------------------------------ */

static void set_rank(struct priority_row *row, const struct ticket_ranks *ranks, uint32_t i)
{
    row->priority = ranks->prior[i];
    row->tickets = ranks->tickets[i];
    row->urgency = ranks->urgency[i];
    row->norm_tickets = ranks->norm_tickets[i];
    row->norm_urgency = ranks->norm_urgency[i];
    row->norm_posix = ranks->norm_posix[i];
}

/* By job: the entry of its first pending task, or NONE if it has no entry. */
static const uint32_t *first_entries(const struct ticket_ranks *ranks, uint32_t job_count, struct arena *arena)
{
    uint32_t *first = arena_alloc(arena, (job_count + (size_t)1) * sizeof *first);
    for (uint32_t i = 0; i < job_count; i++) first[i] = NONE;
    for (uint32_t i = ranks->count; i-- > 0;) {
        if (ranks->entries[i].task == NONE) first[ranks->entries[i].job] = i;
    }
    return first;
}

static void list_ranked(struct priority_list *l, const struct ticket_ranks *ranks)
{
    struct state *s = l->s;
    const uint32_t *first = first_entries(ranks, s->jobs.count, l->arena);
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        const struct job *j = &s->jobs.items[i];
        if (!is_wanted(l, j) || !is_pending(j)) continue;
        for (uint32_t p = 0; p < j->partition_count; p++) {
            struct priority_row *row = add_row(l, i, NONE, j->partitions[p]);
            if (first[i] != NONE) set_rank(row, ranks, first[i]);
            if (state_user_room(s, j->assoc) == 0) row->priority = 0.0; /* as Grid Engine shows it (case h6) */
        }
    }
    for (uint32_t i = 0; i < ranks->count; i++) {
        const struct ticket_entry *e = &ranks->entries[i];
        if (e->task != NONE && is_wanted(l, &s->jobs.items[e->job]))
            set_rank(add_row(l, e->job, e->task, s->tasks.items[e->task].partition), ranks, i);
    }
}

/* Rows of live tasks that have no entry: suspended by hand, they keep their last values, which are not stored. */
static void list_suspended(struct priority_list *l)
{
    for (uint32_t i = 0; i < l->s->tasks.count; i++) {
        const struct task *k = &l->s->tasks.items[i];
        uint32_t job = state_find_job(l->s, k->job_id);
        if (job_state_is_end(k->state) || !ticket_snapshot_leaves_out(l->s, k)) continue;
        if (!is_wanted(l, &l->s->jobs.items[job])) continue;
        add_row(l, job, i, k->partition)->keeps_last_values = true;
    }
}

static void list_tickets(struct priority_list *l)
{
    struct ticket_snapshot snapshot;
    struct ticket_ranks ranks;
    ticket_snapshot_make(&snapshot, l->s, l->now_us);
    ticket_ranks_make(&snapshot, l->arena, &ranks);
    list_ranked(l, &ranks);
    list_suspended(l);
    ticket_snapshot_release(&snapshot);
}

/* --- ranks -------------------------------------------------------------------------------------------------------- */

/* The order of the pass: by tier, which does not count in the tickets model, priority and id. The sort is stable, so it
 * begins with what decides last. */
static struct sort_record *sort_rows(struct priority_list *l, uint32_t *out_count)
{
    const struct priorities *all = l->result;
    const struct object_row *partitions = l->s->objects[OBJECT_PARTITION].items;
    struct sort_record *records = arena_alloc(l->arena, 2 * (all->count + (size_t)1) * sizeof *records);
    uint32_t count = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        const struct priority_row *row = &all->rows[i];
        if (row->task != NONE || !row->is_eligible) continue;
        records[count++] = (struct sort_record){.key = l->s->jobs.items[row->job].id, .index = i};
    }
    sort_records(records, count, records + count);
    for (uint32_t i = 0; i < count; i++) records[i].key = ~sort_key_double(all->rows[records[i].index].priority);
    sort_records(records, count, records + count);
    for (uint32_t i = 0; i < count && all->model != MODEL_TICKETS; i++) {
        uint32_t partition = all->rows[records[i].index].partition;
        records[i].key = ~sort_key_double((double)partitions[partition].object.value[PARTITION_TIER].number);
    }
    if (all->model != MODEL_TICKETS) sort_records(records, count, records + count);
    *out_count = count;
    return records;
}

/* All rows of a waiting job have the rank of its best one. */
static void set_ranks(struct priority_list *l)
{
    struct priorities *all = l->result;
    uint32_t count, next_rank = 1, *rank_of = arena_alloc(l->arena, (l->s->jobs.count + (size_t)1) * sizeof *rank_of);
    const struct sort_record *order = sort_rows(l, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *rank = &rank_of[all->rows[order[i].index].job];
        if (*rank == 0) *rank = next_rank++;
    }
    for (uint32_t i = 0; i < count; i++) all->rows[order[i].index].rank = rank_of[all->rows[order[i].index].job];
}

void state_priorities(struct state *s, int64_t now_us, uint32_t job_id, struct arena *arena,
                      struct priorities *out_priorities)
{
    struct priority_list l = {.s = s, .now_us = now_us, .job_id = job_id, .arena = arena, .result = out_priorities};
    *out_priorities = (struct priorities){.model = s->policy.model};
    l.max_count = max_rows(&l);
    out_priorities->rows = arena_alloc(arena, (l.max_count + 1) * sizeof *out_priorities->rows);
    tres_indices_find(s, arena, &l.indices);
    switch (s->policy.model) {
    case MODEL_MULTIFACTOR: list_multifactor(&l); break;
    case MODEL_TICKETS: list_tickets(&l); break;
    default: list_basic(&l); break;
    }
    if (job_id == NONE) set_ranks(&l);
}

/* --- pending reasons ---------------------------------------------------------------------------------------------- */

/* Whether it stays open for as long as the job is planned there. */
static bool is_open_for(const struct job_demands *d, uint32_t partition, const struct job *j, int64_t now_us)
{
    int64_t duration_us = job_demands_planned_us(d, j, partition);
    return !closed_times_meet(d->s, partition, now_us, timeline_end_of(now_us, duration_us));
}

static const struct limit_counts nothing_runs;

/* Whether limits of hosts keep a job of an instance from a partition now: with them it finds no place, without them it
 * does. O(bookings + instances). */
static bool is_kept_from_hosts(struct limit_places places, const struct job *j, uint32_t partition)
{
    struct live_cluster *live = live_cluster_update(places.s, places.now_us);
    const struct demand *whole = job_demand(&live->demands, j, partition);
    const struct window window = {places.now_us, demand_end_us(whole, places.now_us)};
    struct limit_hit unused_hit;
    struct allocation unused;
    places.model = &live->model;
    const struct demand *limited = limit_place(&places, j, partition, whole, &unused_hit);
    if (limited == NULL || place_job(&live->model.cluster, limited, window, NULL, places.arena, &unused))
        return limited == NULL;
    return place_job(&live->model.cluster, whole, window, NULL, places.arena, &unused);
}

/* Whether a partition does not take a job, whatever limits of associations and QOS say. */
static bool is_excluded(const struct state *s, const struct never_runs *never, const struct job *j, uint32_t partition,
                        bool is_empty)
{
    enum partition_state state = partition_limits_state(s, partition);
    if (j->partition_count == 1) return false;
    if (!is_empty && (state == PARTITION_IS_DOWN || state == PARTITION_IS_INACTIVE)) return true;
    return job_demand_partition_limit(&never->demands, j, partition, partition) != LIMIT_NONE;
}

/* whole: its demand in any partition, or NULL: a job of one partition has the same there. counts: of what runs; those
 * of nothing for the empty cluster. */
static bool find_limit(struct state *s, const struct job *j, const struct demand *whole,
                       const struct limit_counts *counts, int64_t now_us, struct limit_hit *out_hit)
{
    struct never_runs *never = never_runs_kept(s);
    struct arena scratch = {0}; /* a listing asks for each of its rows between two events */
    bool is_admitted = false, is_empty = counts == &nothing_runs;
    const struct limit_places places = {
        .s = s, .counts = counts, .model = &never->empty, .arena = &scratch, .now_us = now_us};
    for (uint32_t i = 0; i < j->partition_count && !is_admitted; i++) {
        struct limit_hit hit;
        if (is_excluded(s, never, j, j->partitions[i], is_empty)) continue;
        bool is_known = whole != NULL && j->partition_count == 1;
        const struct demand *d = is_known ? whole : job_demand(&never->demands, j, j->partitions[i]);
        is_admitted = limit_place(&places, j, j->partitions[i], d, &hit) != NULL;
        bool is_restricted = is_admitted && hit.reason != PENDING_NONE && !s->is_document && !is_empty;
        if (is_restricted) is_admitted = !is_kept_from_hosts(places, j, j->partitions[i]);
        if (out_hit->reason == PENDING_NONE) *out_hit = hit;
    }
    arena_release(&scratch);
    return !is_admitted && out_hit->reason != PENDING_NONE;
}

bool job_limit_find(struct state *s, const struct job *j, int64_t now_us, struct limit_hit *out_hit)
{
    *out_hit = (struct limit_hit){.reason = PENDING_NONE};
    return limits_apply(s) && find_limit(s, j, NULL, limit_counts_update(s, now_us), now_us, out_hit);
}

bool job_limit_find_lasting(struct state *s, const struct job *j, int64_t now_us, struct limit_hit *out_hit)
{
    *out_hit = (struct limit_hit){.reason = PENDING_NONE};
    if (!limits_apply(s) || !find_limit(s, j, NULL, &nothing_runs, now_us, out_hit)) return false;
    return !out_hit->falls || out_hit->requested > out_hit->limit;
}

/* Whether a resource quota keeps it back. Of instances only. */
static bool is_kept_by_quota(struct state *s, const struct job *j, int64_t now_us)
{
    if (s->objects[OBJECT_QUOTA].count == 0 || s->is_document) return false;
    struct live_cluster *l = live_cluster_update(s, now_us);
    return live_cluster_quotas_block(l, job_demand(&l->demands, j, NONE), now_us);
}

/* The reason why no partition takes a job: the state of the first one that admits it, else the limit of its first
 * one. */
static enum pending_reason reason_of_partitions(const struct state *s, const struct never_runs *never,
                                                const struct job *j)
{
    enum pending_reason of_state = PENDING_NONE, of_limit = PENDING_NONE;
    for (uint32_t i = 0; i < j->partition_count; i++) {
        uint32_t p = j->partitions[i];
        enum place_limit limit = job_demand_partition_limit(&never->demands, j, p, p);
        enum partition_state state = partition_limits_state(s, p);
        bool is_up = state == PARTITION_IS_UP || state == PARTITION_IS_DRAINED;
        if (limit == LIMIT_NONE && is_up) return PENDING_NONE;
        if (limit == LIMIT_NONE && of_state == PENDING_NONE)
            of_state = state == PARTITION_IS_DOWN ? PENDING_PARTITION_DOWN : PENDING_PARTITION_INACTIVE;
        if (i == 0 && limit != LIMIT_NONE) of_limit = partition_limits_reason(limit);
    }
    return of_state != PENDING_NONE ? of_state : of_limit;
}

/* Whether a job could start in a partition if there were room. */
static bool is_open_to(const struct state *s, const struct never_runs *never, const struct job *j, uint32_t partition,
                       int64_t now_us)
{
    enum partition_state state = partition_limits_state(s, partition);
    return (state == PARTITION_IS_UP || state == PARTITION_IS_DRAINED) &&
           job_demand_partition_limit(&never->demands, j, partition, partition) == LIMIT_NONE &&
           is_open_for(&never->demands, partition, j, now_us) && !wait_leaders_has_low_factor(s, j, partition);
}

/* Whether it is behind another job in each of its partitions that is open to it. */
static bool is_behind(const struct state *s, const struct never_runs *never, const struct job *j, int64_t now_us)
{
    bool is_behind = false;
    for (uint32_t i = 0; i < j->partition_count; i++) {
        if (j->partition_count > 1 && !is_open_to(s, never, j, j->partitions[i], now_us)) continue;
        if (!wait_leaders_is_before(s, j, j->partitions[i])) return false;
        is_behind = true;
    }
    return is_behind;
}

enum pending_reason job_pending_reason(struct state *s, uint32_t job_id, double factor, int64_t now_us)
{
    uint32_t index = state_find_job(s, job_id);
    if (index == NONE) return PENDING_NONE;
    const struct job *j = &s->jobs.items[index];
    struct never_runs *never = never_runs_kept(s);
    enum pending_reason reason = reason_of_partitions(s, never, j);
    bool is_open = false, is_of_state = reason == PENDING_PARTITION_DOWN || reason == PENDING_PARTITION_INACTIVE;
    if (reason != PENDING_NONE && !is_of_state) return reason;
    for (uint32_t i = 0; i < j->partition_count; i++) {
        bool is_admitted =
            (reason == PENDING_NONE && j->partition_count == 1) ||
            job_demand_partition_limit(&never->demands, j, j->partitions[i], j->partitions[i]) == LIMIT_NONE;
        is_open |= is_admitted && is_open_for(&never->demands, j->partitions[i], j, now_us);
    }
    if (assoc_limits_refuse_job(s, j)) return PENDING_INVALID_QOS;
    const struct demand *demand = job_demand(&never->demands, j, NONE);
    if (never_runs_is(never, demand)) return PENDING_BAD_CONSTRAINTS;
    if (is_of_state) return reason;
    struct limit_hit limit = {.reason = PENDING_NONE};
    bool has_limits = limits_apply(s);
    if (has_limits && find_limit(s, j, demand, limit_counts_update(s, now_us), now_us, &limit)) return limit.reason;
    if (!is_open) return PENDING_PARTITION_CLOSED;
    if (ranking_qos_waits(s, j->qos, factor)) return PENDING_QOS_USAGE_THRESHOLD;
    if (never_runs_is_unavailable(never, demand)) return PENDING_REQ_NODE_NOT_AVAIL;
    if (j->is_array && state_array_room(s, j, 1) == 0) return PENDING_ARRAY_TASK_LIMIT;
    if (state_user_room(s, j->assoc) == 0) return PENDING_USER_JOBS_LIMIT;
    if (is_kept_by_quota(s, j, now_us)) return PENDING_QUOTA_LIMIT;
    if (state_launch_failure(s) != NULL) return PENDING_LAUNCH_FAILURE;
    return is_behind(s, never, j, now_us) ? PENDING_PRIORITY : PENDING_NONE;
}
