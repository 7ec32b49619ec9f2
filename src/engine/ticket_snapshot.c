/* The snapshot of the state from which tickets are computed: pending and running tasks, the members of the policies
 * with their shares and tickets, and the share tree.
 *
 *     pending tasks      an entry for each eligible task; of an array at most max_pending_tasks_per_job, or fewer if
 *                        there would be more than TICKET_ENTRIES_MAX entries
 *     running tasks      an entry for each, after the pending ones
 *
 * Slots are CPUs. The job class of a pending job is its first partition. The shares and tickets of a user are in the
 * user's object. A user without one (enforce_user = none) gets nothing from the functional policy and the share tree,
 * and from the override policy only the job's own tickets.
 *
 * The daemon serves no client while a snapshot is taken (the ranking, priorities_tickets.c, may run in a thread).
 * Therefore no name is looked up here: ticket_identities.h and share_tree.h keep the results of earlier look-ups. */
#include <string.h>

#include "base/ensure.h"
#include "engine/ranking.h"
#include "engine/share_tree.h"
#include "engine/ticket_identities.h"

struct snapshot_builder {
    struct state *s;
    struct ticket_snapshot *snapshot;
    const struct ticket_identities *identities;
    struct ticket_job *jobs; /* the input's */
    uint32_t count, max_count;
    bool has_tree;
    struct share_snapshot tree;
};

/* --- counting entries --------------------------------------------------------------------------------------------- */

static bool is_eligible(const struct job *j, int64_t now_us)
{
    if (j->ended_us != 0 || j->is_held || j->begin_us > now_us) return false;
    return j->is_array ? idset_first(&j->pending) != NONE : j->live_tasks == 0; /* invariant 3 of state.h */
}

struct entry_counts {
    uint64_t plain_jobs, array_tasks;
    uint32_t array_max; /* the maximum number of tasks of one array */
};

static uint32_t slots_of(const struct state *s, const struct job *j)
{
    const struct job_document *d = state_job_document(s, j);
    return d != NULL ? d->slots : j->request.cpus;
}

/* The free slots. In a document they are the slots of its hosts that no running job has; without hosts there is no
 * limit. */
static uint64_t free_slots(const struct state *s)
{
    uint64_t slots = 0, taken = 0;
    if (!s->is_document) return s->host.free_cpu_count;
    if (s->hosts.count == 0) return UINT32_MAX;
    for (uint32_t i = 0; i < s->hosts.count; i++) slots += s->hosts.items[i].has.cpus;
    for (uint32_t i = 0; i < s->tasks.count; i++)
        taken += slots_of(s, &s->jobs.items[state_find_job(s, s->tasks.items[i].job_id)]);
    return slots > taken ? slots - taken : 0;
}

uint32_t ticket_snapshot_tasks_max(const struct state *s)
{
    return ticket_tasks_counted(&s->policy.tickets, free_slots(s), UINT32_MAX);
}

/* If there would be more than TICKET_ENTRIES_MAX entries, the arrays share that number equally, with at least one task
 * each. */
static struct entry_counts entry_counts_of(const struct state *s, int64_t now_us)
{
    uint64_t arrays = 0;
    struct entry_counts counts = {.array_max = ticket_snapshot_tasks_max(s)};
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        if (!is_eligible(&s->jobs.items[i], now_us)) continue;
        if (s->jobs.items[i].is_array)
            arrays++;
        else
            counts.plain_jobs++;
    }
    if (arrays == 0) return counts;
    if (counts.plain_jobs + arrays * counts.array_max > TICKET_ENTRIES_MAX) {
        uint64_t quotient = TICKET_ENTRIES_MAX / arrays;
        counts.array_max = quotient > 1 ? (uint32_t)quotient : 1;
    }
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        const struct job *j = &s->jobs.items[i];
        if (!j->is_array || !is_eligible(j, now_us)) continue;
        uint32_t tasks = idset_count(&j->pending);
        counts.array_tasks += tasks < counts.array_max ? tasks : counts.array_max;
    }
    return counts;
}

uint32_t ticket_entry_count(const struct state *s, int64_t now_us)
{
    struct entry_counts counts = entry_counts_of(s, now_us);
    return (uint32_t)(counts.plain_jobs + counts.array_tasks) + s->task_by_launch.count;
}

/* --- entries ------------------------------------------------------------------------------------------------------ */

static const struct urgency_request *requests_of(struct snapshot_builder *b, const struct job *j)
{
    const struct state *s = b->s;
    if (j->request_count == 0) return NULL;
    struct urgency_request *requests = arena_alloc(&b->snapshot->arena, j->request_count * sizeof *requests);
    for (uint32_t i = 0; i < j->request_count; i++) {
        const struct job_request *r = &j->requests[i];
        const struct field_value *value = s->objects[OBJECT_RESOURCE].items[r->resource].object.value;
        requests[i].value = r->amount;
        requests[i].urgency = value[RESOURCE_URGENCY].real;
        requests[i].is_text = resource_type_is_text((enum resource_type)value[RESOURCE_TYPE].number);
    }
    return requests;
}

/* The job of an entry, without its task. */
static struct ticket_job ticket_job_of(struct snapshot_builder *b, const struct job *j, uint32_t partition)
{
    struct ticket_user owner = b->identities->users.items[b->identities->user_of_assoc.items[j->assoc]];
    bool has_leaf = b->has_tree && (owner.user != NONE || b->s->policy.enforce_user == ENFORCE_USER_AUTO);
    return (struct ticket_job){.id = j->id,
                               .submit_us = j->submit_us,
                               .member = {[MEMBER_USER] = owner.user,
                                          [MEMBER_DEPARTMENT] = owner.department,
                                          [MEMBER_PROJECT] = j->project,
                                          [MEMBER_JOB_CLASS] = partition},
                               .node = has_leaf ? share_snapshot_serve(&b->tree, j->assoc, j->project) : NONE,
                               .job_share = j->job_share,
                               .override_tickets = j->override_tickets,
                               .slots = slots_of(b->s, j)};
}

static void add_entry(struct snapshot_builder *b, const struct ticket_job *job, const struct ticket_entry *entry)
{
    ensure(b->count < b->max_count);
    b->jobs[b->count] = *job;
    b->snapshot->entries[b->count++] = *entry;
}

static struct ticket_entry entry_of(struct snapshot_builder *b, uint32_t job, uint32_t task)
{
    const struct job *j = &b->s->jobs.items[job];
    const struct urgency_rules *rules = &b->s->policy.urgency;
    const struct job_document *d = state_job_document(b->s, j);
    bool has_rule = d != NULL && d->has_slots_rule;
    return (struct ticket_entry){.job = job,
                                 .slots_rule = has_rule ? d->slots_rule : rules->slots_rule,
                                 .slots_number = has_rule ? d->slots_number : rules->slots_number,
                                 .task = task,
                                 .slots_max = j->slots_max,
                                 .posix_priority = j->posix_priority,
                                 .deadline_us = j->deadline_us,
                                 .requests = requests_of(b, j),
                                 .request_count = j->request_count};
}

static void add_tasks(struct snapshot_builder *b, const struct job *j, uint32_t max, struct ticket_job *job,
                      const struct ticket_entry *entry)
{
    uint32_t task = idset_first(&j->pending);
    for (uint32_t left = max; left > 0 && task != NONE; left--) {
        job->task = task;
        add_entry(b, job, entry);
        task = idset_next(&j->pending, task);
    }
}

static void add_job(struct snapshot_builder *b, uint32_t index, uint32_t tasks_max)
{
    const struct job *j = &b->s->jobs.items[index];
    if (!is_eligible(j, b->snapshot->now_us)) return;
    struct ticket_job job = ticket_job_of(b, j, j->partitions[0]);
    struct ticket_entry entry = entry_of(b, index, NONE);
    if (j->is_array)
        add_tasks(b, j, tasks_max, &job, &entry);
    else
        add_entry(b, &job, &entry);
}

/* The scheduler's list of an instance is in order of ids, that of a document in order of ranks, which are 0 to job
 * count - 1. */
static void add_pending(struct snapshot_builder *b, uint32_t tasks_max)
{
    struct state *s = b->s;
    if (!s->is_document) {
        for (uint32_t i = 0; i < s->jobs.count; i++) add_job(b, i, tasks_max);
        return;
    }
    uint32_t *by_rank = arena_alloc(&b->snapshot->arena, (s->jobs.count + (size_t)1) * sizeof *by_rank);
    for (uint32_t i = 0; i < s->jobs.count; i++) by_rank[s->jobs.items[i].document->rank] = i;
    for (uint32_t i = 0; i < s->jobs.count; i++) add_job(b, by_rank[i], tasks_max);
}

static void add_running(struct snapshot_builder *b)
{
    struct state *s = b->s;
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        const struct task *k = &s->tasks.items[i];
        if (job_state_is_end(k->state)) continue;
        uint32_t index = state_find_job(s, k->job_id);
        struct ticket_job job = ticket_job_of(b, &s->jobs.items[index], k->partition);
        struct ticket_entry entry = entry_of(b, index, i);
        job.task = k->task_id;
        job.is_running = true;
        add_entry(b, &job, &entry);
    }
}

/* --- members and share tree --------------------------------------------------------------------------------------- */

static void copy_members(struct snapshot_builder *b)
{
    struct ticket_input *input = &b->snapshot->input;
    for (int m = 0; m < MEMBER_KIND_COUNT; m++) {
        uint32_t count = b->identities->members[m].count;
        struct ticket_member *members = arena_alloc(&b->snapshot->arena, (count + (size_t)1) * sizeof *members);
        if (count > 0) memcpy(members, b->identities->members[m].items, count * sizeof *members);
        input->members[m] = members;
        input->member_count[m] = count;
    }
}

/* Moves the nodes of the share tree into the snapshot. */
static void move_nodes(struct snapshot_builder *b)
{
    struct ticket_snapshot *snapshot = b->snapshot;
    if (!b->has_tree) return;
    share_snapshot_add_usage(&b->tree, snapshot->now_us, &b->s->cycle);
    snapshot->input.nodes = snapshot->nodes = b->tree.active.items;
    snapshot->input.node_count = b->tree.active.count;
    b->tree.active.items = NULL;
    share_snapshot_release(&b->tree);
}

static double slots_urgency_of(const struct state *s)
{
    uint32_t slots = state_find_object(s, OBJECT_RESOURCE, SLOTS_RESOURCE);
    return slots == NONE ? SLOTS_URGENCY : s->objects[OBJECT_RESOURCE].items[slots].object.value[RESOURCE_URGENCY].real;
}

static struct snapshot_builder begin_snapshot(struct ticket_snapshot *snapshot, struct state *s, int64_t now_us,
                                              uint32_t max_count)
{
    *snapshot = (struct ticket_snapshot){.now_us = now_us,
                                         .rules = s->policy.tickets,
                                         .urgency = s->policy.urgency,
                                         .slots_urgency = slots_urgency_of(s)};
    struct snapshot_builder b = {.s = s,
                                 .snapshot = snapshot,
                                 .identities = ticket_identities_of(s),
                                 .jobs = arena_alloc(&snapshot->arena, (max_count + (size_t)1) * sizeof *b.jobs),
                                 .max_count = max_count,
                                 .has_tree = s->policy.tickets.share_pool > 0.0};
    snapshot->entries = arena_alloc(&snapshot->arena, (max_count + (size_t)1) * sizeof *snapshot->entries);
    if (b.has_tree) share_snapshot_make(&b.tree, s);
    return b;
}

static void finish_snapshot(struct snapshot_builder *b)
{
    struct ticket_input *input = &b->snapshot->input;
    input->jobs = b->jobs;
    input->job_count = b->count;
    copy_members(b);
    move_nodes(b);
}

void ticket_snapshot_make(struct ticket_snapshot *snapshot, struct state *s, int64_t now_us)
{
    struct entry_counts counts = entry_counts_of(s, now_us);
    struct snapshot_builder b = begin_snapshot(
        snapshot, s, now_us, (uint32_t)(counts.plain_jobs + counts.array_tasks) + s->task_by_launch.count);
    add_pending(&b, counts.array_max);
    add_running(&b);
    finish_snapshot(&b);
}

void ticket_snapshot_make_running(struct ticket_snapshot *snapshot, struct state *s, int64_t now_us)
{
    struct snapshot_builder b = begin_snapshot(snapshot, s, now_us, s->task_by_launch.count);
    add_running(&b);
    finish_snapshot(&b);
}

void ticket_snapshot_release(struct ticket_snapshot *snapshot)
{
    mem_free(snapshot->nodes);
    arena_release(&snapshot->arena);
}
