#include "engine/ticket_heads.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "engine/job_waits.h"
#include "engine/ticket_snapshot.h"

/* counted: by the functional policy, each of which can make the ranking larger. groups: with that many the ranking
 * takes some milliseconds of a turn; with more it is better done in a thread. */
enum { COUNTED_MAX = 1000, GROUPS_MAX = 10000 };

/* --- whether ------------------------------------------------------------------------------------------------------ */

static bool rules_allow(struct state *s)
{
    const struct ticket_rules *r = &s->policy.tickets;
    const struct urgency_rules *u = &s->policy.urgency;
    bool counts = r->functional_pool > 0.0;
    if (u->weight_urgency < 0.0 || u->weight_waiting_time < 0.0) return false;
    if (counts && (r->max_functional_jobs > COUNTED_MAX || strchr(r->hierarchy, 'F') == NULL)) return false;
    return !r->share_override_tickets || !ticket_identities_of(s)->gives_override;
}

/* The group that a job has in its first partition stands for the job. */
static bool is_first_place(const struct pending *p, uint32_t group)
{
    return p->queue.groups.items[group].key != NULL && p->groups.items[group].place == 0;
}

/* Whether a plan would rank as many tasks of each array as a small number of jobs lets it. */
static bool has_room_for_arrays(const struct state *s)
{
    const struct pending *p = s->pending;
    uint64_t arrays = 0, plain = 0;
    for (uint32_t g = 0; g < p->queue.groups.count; g++) {
        if (!is_first_place(p, g)) continue;
        *(p->groups.items[g].has_arrays ? &arrays : &plain) += p->queue.groups.items[g].live;
    }
    return plain + arrays * ticket_snapshot_tasks_max(s) <= TICKET_ENTRIES_MAX;
}

/* Whether a share tree, if there is one, orders jobs by nothing but its own tickets and ids. */
static bool tree_allows(struct state *s)
{
    const struct ticket_rules *r = &s->policy.tickets;
    const struct pending *p = s->pending;
    bool has_own_tickets = false;
    if (!(r->share_pool > 0.0)) return true;
    if (r->functional_pool > 0.0 || s->policy.urgency.weight_ticket < 0.0) return false;
    if (ticket_identities_of(s)->gives_override) return false;
    for (uint32_t g = 0; g < p->queue.groups.count; g++)
        has_own_tickets |= is_first_place(p, g) && p->groups.items[g].has_own_tickets;
    return !has_own_tickets;
}

bool ticket_heads_apply(struct state *s)
{
    return !s->pending->is_unsteady && rules_allow(s) && tree_allows(s) && has_room_for_arrays(s);
}

bool ticket_heads_are_few(const struct state *s)
{
    uint32_t groups = s->pending->queue.by_key.count;
    return groups <= GROUPS_MAX && groups < s->pending->by_id.count / 2;
}

/* --- the tasks of a group ----------------------------------------------------------------------------------------- */

const struct queue_entry *ticket_heads_job(const struct ticket_heads *h, uint32_t group, uint32_t at)
{
    return &h->s->pending->queue.groups.items[group].entries.items[at];
}

static const struct job *job_at(const struct ticket_heads *h, uint32_t group, uint32_t at)
{
    return &h->s->jobs.items[state_find_job(h->s, ticket_heads_job(h, group, at)->job)];
}

/* The first ranked task of the jobs from an entry on. */
static struct ticket_cursor find_task(const struct ticket_heads *h, uint32_t group, uint32_t at)
{
    struct pending *p = h->s->pending;
    struct ticket_cursor c = {.at = queue_next(&p->queue, group, at), .task_count = 1};
    if (!p->groups.items[group].has_arrays) return c;
    for (; c.at != NONE; c.at = queue_next(&p->queue, group, c.at + 1)) {
        c.task_count = ticket_snapshot_count_tasks(h->s, job_at(h, group, c.at), h->now_us, h->array_max);
        if (c.task_count > 0) break;
    }
    return c;
}

/* Whether it is the last task of the last job. Behind it are no ranked tasks; there may be none before the last job. */
static bool is_end(const struct ticket_heads *h, uint32_t group, struct ticket_cursor c)
{
    return c.at == h->s->pending->tickets.items[group].last && c.task + 1 == c.task_count;
}

struct ticket_cursor ticket_heads_after(const struct ticket_heads *h, uint32_t group, struct ticket_cursor c)
{
    if (is_end(h, group, c)) return (struct ticket_cursor){.at = NONE};
    if (c.task + 1 == c.task_count) return find_task(h, group, c.at + 1);
    c.task++;
    return c;
}

/* The last job of a group with ranked tasks. There is one. */
static uint32_t find_last(const struct ticket_heads *h, uint32_t group)
{
    const struct queue_group *g = &h->s->pending->queue.groups.items[group];
    uint32_t at = h->s->pending->tickets.items[group].last;
    while (g->entries.items[at].is_removed ||
           ticket_snapshot_count_tasks(h->s, job_at(h, group, at), h->now_us, h->array_max) == 0)
        at--;
    return at;
}

/* --- entries ------------------------------------------------------------------------------------------------------ */

/* A task by its row. */
static void add_from_row(const struct ticket_heads *h, struct ticket_snapshot_builder *b, uint32_t group,
                         struct ticket_cursor c)
{
    uint32_t index = state_find_job(h->s, ticket_heads_job(h, group, c.at)->job);
    const struct job *j = &h->s->jobs.items[index];
    struct ticket_job job = ticket_snapshot_job(b, j, j->partitions[0]);
    struct ticket_entry entry = ticket_snapshot_entry(b, index, NONE);
    job.node = ticket_snapshot_serve(b, j->assoc, j->project);
    const struct idset *tasks = job_waits_ready_tasks(j);
    job.task = idset_first(tasks);
    for (uint32_t i = 0; i < c.task; i++) job.task = idset_next(tasks, job.task);
    ticket_snapshot_add(b, &job, &entry);
}

static void describe_group(const struct ticket_heads *h, struct ticket_snapshot_builder *b, uint32_t group,
                           struct pending_tickets *t)
{
    uint32_t index = state_find_job(h->s, ticket_heads_job(h, group, t->first)->job);
    const struct job *j = &h->s->jobs.items[index];
    t->edition = h->s->rules_edition;
    t->has_rows = j->is_array || j->request_count > 0;
    if (t->has_rows) return;
    t->assoc = j->assoc;
    t->job = ticket_snapshot_job(b, j, j->partitions[0]);
    t->entry = ticket_snapshot_entry(b, index, NONE);
    t->entry.job = NONE;
}

/* What the jobs of a group have in common, and its ends, are kept from pass to pass. */
static struct pending_tickets *tickets_of(const struct ticket_heads *h, struct ticket_snapshot_builder *b,
                                          uint32_t group)
{
    struct pending_tickets *t = &h->s->pending->tickets.items[group];
    if (!t->has_ends) {
        t->first = queue_next(&h->s->pending->queue, group, 0);
        t->last = queue_last(&h->s->pending->queue, group);
        t->job_count = h->s->pending->queue.groups.items[group].live;
        t->last_submit_us = ticket_heads_job(h, group, t->last)->since_us;
    }
    if (t->edition != h->s->rules_edition) describe_group(h, b, group, t);
    if (!t->has_ends) {
        t->job.id = ticket_heads_job(h, group, t->first)->job;
        t->job.submit_us = ticket_heads_job(h, group, t->first)->since_us;
    }
    t->has_ends = true;
    return t;
}

/* Submissions can add the user's object. */
static void update_owner(struct ticket_snapshot_builder *b, struct pending_tickets *t)
{
    const struct ticket_user owner = b->identities->users.items[b->identities->user_of_assoc.items[t->assoc]];
    t->job.member[MEMBER_USER] = owner.user;
    t->job.member[MEMBER_DEPARTMENT] = owner.department;
    t->job.node = ticket_snapshot_serve(b, t->assoc, t->job.member[MEMBER_PROJECT]);
}

static void add_task(struct ticket_heads *h, struct ticket_snapshot_builder *b, const struct pending_tickets *t,
                     uint32_t group, struct ticket_cursor c)
{
    h->entries[h->entry_count++] = (struct ticket_heads_entry){group, c};
    if (t->has_rows) {
        add_from_row(h, b, group, c);
    } else if (c.at == t->first) {
        ticket_snapshot_add(b, &t->job, &t->entry);
    } else {
        struct ticket_job job = t->job;
        job.id = ticket_heads_job(h, group, c.at)->job;
        job.submit_us = ticket_heads_job(h, group, c.at)->since_us;
        ticket_snapshot_add(b, &job, &t->entry);
    }
}

static void add_group(struct ticket_heads *h, struct ticket_snapshot_builder *b, uint32_t group)
{
    struct ticket_heads_group *g = &h->groups[group];
    struct pending_tickets *t = tickets_of(h, b, group);
    uint32_t depth = t->depth > 0 && !h->has_tree ? t->depth : 1;
    struct ticket_cursor c = {.at = t->first, .task_count = 1};
    if (t->has_rows)
        c = find_task(h, group, t->first);
    else
        update_owner(b, t);
    g->first = h->entry_count;
    while (c.at != NONE) {
        g->last = c;
        add_task(h, b, t, group, c);
        if (++g->count == depth) break;
        c = ticket_heads_after(h, group, c);
    }
    g->is_whole = c.at == NONE || is_end(h, group, c);
}

/* The job with the smallest urgency, if it is not ranked. */
static void add_least_urgent(struct ticket_heads *h, struct ticket_snapshot_builder *b)
{
    const struct pending_tickets *tickets = h->s->pending->tickets.items;
    double min = INFINITY;
    uint32_t min_group = NONE, min_at = NONE;
    for (uint32_t i = 0; i < h->entry_count; i += h->groups[h->entries[i].group].count) {
        uint32_t group = h->entries[i].group;
        if (h->groups[group].is_whole) continue;
        uint32_t at = tickets[group].has_rows ? find_last(h, group) : tickets[group].last;
        int64_t submit_us =
            at == tickets[group].last ? tickets[group].last_submit_us : ticket_heads_job(h, group, at)->since_us;
        double urgency = ticket_ranks_urgency(b->snapshot, i, submit_us);
        if (!(urgency < min)) continue;
        min = urgency;
        min_group = group;
        min_at = at;
    }
    if (min_group == NONE || min_at == h->groups[min_group].last.at) return;
    add_task(h, b, &tickets[min_group], min_group, find_task(h, min_group, min_at));
    h->entry_count--; /* it is offered in its turn */
}

/* --- the share tree ----------------------------------------------------------------------------------------------- */

/* All of a group's tasks that a plan would rank. */
static uint32_t count_tasks(const struct ticket_heads *h, uint32_t group)
{
    struct pending *p = h->s->pending;
    uint32_t count = 0;
    if (!p->groups.items[group].has_arrays) return p->tickets.items[group].job_count;
    for (struct ticket_cursor c = find_task(h, group, 0); c.at != NONE; c = find_task(h, group, c.at + 1))
        count += c.task_count;
    return count;
}

/* By node: the jobs that it serves, and the slots of those that run. */
static void count_by_node(struct ticket_heads *h)
{
    struct ticket_input *in = &h->snapshot.input;
    uint32_t *jobs = arena_alloc(&h->arena, (in->node_count + (size_t)1) * sizeof *jobs);
    h->running_slots = arena_alloc(&h->arena, (in->node_count + (size_t)1) * sizeof *h->running_slots);
    for (uint32_t i = 0; i < h->entry_count; i++) {
        if (in->jobs[i].node != NONE) jobs[in->jobs[i].node] += count_tasks(h, h->entries[i].group);
    }
    for (uint32_t i = h->entry_count; i < in->job_count; i++) {
        const struct ticket_job *j = &in->jobs[i];
        if (!j->is_running || j->node == NONE) continue;
        jobs[j->node]++;
        h->running_slots[j->node] += j->slots;
    }
    in->node_jobs = jobs;
}

/* --- the ranking -------------------------------------------------------------------------------------------------- */

/* The groups, in the order of their first ranked jobs if a `default` node serves users: sums over its virtual siblings
 * then have the same order as in a plan, so that they are rounded alike. */
static uint32_t list_groups(const struct ticket_heads *h, struct sort_record *out_groups)
{
    struct pending *p = h->s->pending;
    bool is_sorted = h->has_tree && share_tree_of(h->s)->has_default;
    uint32_t count = 0;
    for (uint32_t g = 0; g < p->queue.groups.count; g++) {
        if (!is_first_place(p, g)) continue;
        uint32_t at = is_sorted ? find_task(h, g, 0).at : NONE;
        out_groups[count++] = (struct sort_record){.key = at != NONE ? ticket_heads_job(h, g, at)->job : 0, .index = g};
    }
    if (!is_sorted) return count;
    struct arena scratch = {0};
    sort_records(out_groups, count, arena_alloc_raw(&scratch, (count + (size_t)1) * sizeof *out_groups));
    arena_release(&scratch);
    return count;
}

static void rank(struct ticket_heads *h)
{
    struct pending *p = h->s->pending;
    uint32_t count = p->queue.groups.count;
    uint64_t max = h->s->task_by_launch.count + 1u;
    arena_clear(&h->arena);
    ticket_snapshot_release(&h->snapshot);
    for (uint32_t g = 0; g < count; g++) max += p->tickets.items[g].depth + 1;
    h->entry_count = 0;
    h->groups = arena_alloc(&h->arena, (count + (size_t)1) * sizeof *h->groups);
    h->entries = arena_alloc_raw(&h->arena, max * sizeof *h->entries);
    struct ticket_snapshot_builder b = ticket_snapshot_begin(&h->snapshot, h->s, h->now_us, (uint32_t)max);
    struct sort_record *groups = arena_alloc_raw(&h->arena, (count + (size_t)1) * sizeof *groups);
    uint32_t group_count = list_groups(h, groups);
    for (uint32_t i = 0; i < group_count; i++) add_group(h, &b, groups[i].index);
    add_least_urgent(h, &b);
    ticket_snapshot_add_running(&b);
    ticket_snapshot_end(&b);
    if (h->has_tree) count_by_node(h);
    ticket_ranks_make(&h->snapshot, &h->arena, &h->ranks);
}

static uint32_t count_counted(const struct ticket_heads *h, const struct ticket_heads_group *g)
{
    uint32_t counted = 0;
    for (uint32_t i = g->first; i < g->first + g->count; i++) counted += h->ranks.counted[i];
    return counted;
}

/* Sets the depths of the groups for the next ranking: one more task than were counted. Returns whether one was not deep
 * enough in this one. */
static bool deepen(struct ticket_heads *h)
{
    bool is_too_flat = false;
    for (uint32_t i = 0; i < h->entry_count; i += h->groups[h->entries[i].group].count) {
        uint32_t group = h->entries[i].group;
        const struct ticket_heads_group *g = &h->groups[group];
        uint32_t counted = count_counted(h, g);
        bool is_flat = counted == g->count && !g->is_whole;
        h->s->pending->tickets.items[group].depth = is_flat ? 2 * counted : counted + 1;
        is_too_flat |= is_flat;
    }
    return is_too_flat;
}

void ticket_heads_make(struct ticket_heads *h, struct state *s, int64_t now_us)
{
    *h = (struct ticket_heads){.s = s,
                               .now_us = now_us,
                               .array_max = ticket_snapshot_tasks_max(s),
                               .has_tree = s->policy.tickets.share_pool > 0.0};
    do rank(h);
    while (deepen(h));
    double *urgencies = arena_alloc_raw(&h->arena, (h->ranks.count + (size_t)1) * sizeof *urgencies);
    for (uint32_t i = 0; i < h->ranks.count; i++) urgencies[i] = h->ranks.urgency[i].sum;
    h->urgencies = urgency_range_of(h->ranks.count, urgencies);
}

void ticket_heads_release(struct ticket_heads *h)
{
    ticket_snapshot_release(&h->snapshot);
    arena_release(&h->arena);
}
