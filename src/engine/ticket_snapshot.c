/* The snapshot of the state from which tickets are computed: pending and running tasks, the members of the policies
 * with their shares and tickets, and the share tree.
 *
 *     pending tasks      an entry for each eligible task, by job; of an array at most max_pending_tasks_per_job and as
 *                        many as its limit of running tasks lets start, or fewer if there would be more than
 *                        TICKET_ENTRIES_MAX entries
 *     running tasks      an entry for each, after the pending ones; none for a task that is suspended by hand (Grid
 *                        Engine's state s); one suspended by a load threshold (T) has no tickets, and one suspended
 *                        with its queue (S) counts as running (case h_14)
 *
 * Slots are CPUs. The job class of a pending job is its first partition. The shares and tickets of a user are in the
 * user's object. A user without one (enforce_user = none) gets nothing from the functional policy and the share tree,
 * and from the override policy only the job's own tickets.
 *
 * The daemon serves no client while a snapshot is taken (the ranking, priorities_tickets.c, may run in a thread).
 * Therefore no name is looked up here: ticket_identities.h and share_tree.h keep the results of earlier look-ups. */
#include "engine/ticket_snapshot.h"

#include <string.h>

#include "base/ensure.h"
#include "base/sort.h"
#include "engine/job_waits.h"

/* --- counting entries --------------------------------------------------------------------------------------------- */

uint32_t ticket_snapshot_count_tasks(const struct state *s, const struct job *j, int64_t now_us, uint32_t array_max)
{
    if (j->ended_us != 0 || j->is_held || job_waits_eligible_us(j) > now_us) return 0;
    if (!j->is_array) return j->live_tasks == 0; /* invariant 3 of state.h */
    uint32_t tasks = state_array_room(s, j, idset_count(job_waits_ready_tasks(j)));
    return tasks < array_max ? tasks : array_max;
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

/* The slots of a running job of a document: a range has got as many as it could. */
static uint32_t allocated_slots(const struct state *s, const struct job *j)
{
    uint32_t slots = slots_of(s, j);
    return j->slots_max > slots ? j->slots_max : slots;
}

/* The free slots. In a document they are the slots of its hosts that no running job has; without hosts there is no
 * limit. */
static uint64_t free_slots(const struct state *s)
{
    uint64_t slots = 0, taken = 0;
    if (!s->is_document) return s->free_cpu_count;
    if (s->hosts.count == 0) return UINT32_MAX;
    for (uint32_t i = 0; i < s->hosts.count; i++) slots += s->hosts.items[i].host.has.cpus;
    for (uint32_t i = 0; i < s->tasks.count; i++)
        taken += allocated_slots(s, &s->jobs.items[state_find_job(s, s->tasks.items[i].job_id)]);
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
        if (ticket_snapshot_count_tasks(s, &s->jobs.items[i], now_us, 1) == 0) continue;
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
        if (j->is_array) counts.array_tasks += ticket_snapshot_count_tasks(s, j, now_us, counts.array_max);
    }
    return counts;
}

uint32_t ticket_entry_count(const struct state *s, int64_t now_us)
{
    struct entry_counts counts = entry_counts_of(s, now_us);
    return (uint32_t)(counts.plain_jobs + counts.array_tasks) + s->task_by_launch.count;
}

/* --- entries ------------------------------------------------------------------------------------------------------ */

static const struct urgency_request *requests_of(struct ticket_snapshot_builder *b, const struct job *j)
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

static struct ticket_user owner_of(const struct ticket_snapshot_builder *b, const struct job *j)
{
    return b->identities->users.items[b->identities->user_of_assoc.items[j->assoc]];
}

uint32_t ticket_snapshot_serve(struct ticket_snapshot_builder *b, uint32_t assoc, uint32_t project)
{
    const struct ticket_user *owner = &b->identities->users.items[b->identities->user_of_assoc.items[assoc]];
    bool has_leaf = b->has_tree && (owner->user != NONE || b->s->policy.enforce_user == ENFORCE_USER_AUTO);
    return has_leaf ? share_snapshot_serve(&b->tree, assoc, project) : NONE;
}

static uint32_t serve_job(struct ticket_snapshot_builder *b, const struct job *j)
{
    return ticket_snapshot_serve(b, j->assoc, j->project);
}

struct ticket_job ticket_snapshot_job(const struct ticket_snapshot_builder *b, const struct job *j, uint32_t partition)
{
    struct ticket_user owner = owner_of(b, j);
    return (struct ticket_job){.id = j->id,
                               .submit_us = j->submit_us,
                               .member = {[MEMBER_USER] = owner.user,
                                          [MEMBER_DEPARTMENT] = owner.department,
                                          [MEMBER_PROJECT] = j->project,
                                          [MEMBER_JOB_CLASS] = partition},
                               .node = NONE,
                               .job_share = j->job_share,
                               .override_tickets = j->override_tickets,
                               .slots = slots_of(b->s, j)};
}

void ticket_snapshot_add(struct ticket_snapshot_builder *b, const struct ticket_job *job,
                         const struct ticket_entry *entry)
{
    ensure(b->count < b->max_count);
    b->jobs[b->count] = *job;
    b->snapshot->entries[b->count++] = *entry;
}

struct ticket_entry ticket_snapshot_entry(struct ticket_snapshot_builder *b, uint32_t job, uint32_t task)
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

static void add_tasks(struct ticket_snapshot_builder *b, const struct job *j, uint32_t count, struct ticket_job *job,
                      const struct ticket_entry *entry)
{
    const struct idset *tasks = job_waits_ready_tasks(j);
    uint32_t task = idset_first(tasks);
    for (uint32_t left = count; left > 0; left--) {
        job->task = task;
        ticket_snapshot_add(b, job, entry);
        task = idset_next(tasks, task);
    }
}

/* Whether j, which has a larger id than last, comes after it in the scheduler's list. */
static bool follows_in_list(const struct job *last, const struct job *j)
{
    if (j->list_position != last->list_position) return j->list_position > last->list_position;
    return j->submit_us >= last->submit_us;
}

static void add_job(struct ticket_snapshot_builder *b, uint32_t index, uint32_t tasks_max)
{
    const struct job *j = &b->s->jobs.items[index];
    uint32_t count = ticket_snapshot_count_tasks(b->s, j, b->snapshot->now_us, tasks_max);
    if (count == 0) return;
    b->is_listed &= b->last == NULL || follows_in_list(b->last, j);
    b->last = j;
    struct ticket_job job = ticket_snapshot_job(b, j, j->partitions[0]);
    job.node = serve_job(b, j);
    struct ticket_entry entry = ticket_snapshot_entry(b, index, NONE);
    if (j->is_array)
        add_tasks(b, j, count, &job, &entry);
    else
        ticket_snapshot_add(b, &job, &entry);
}

/* Sorts the entries by the positions of their jobs in the scheduler's list; of equal ones the first submission comes
 * first, then the smallest id: entries are in order of ids, and the sorts are stable. */
static void list_entries(struct ticket_snapshot_builder *b)
{
    struct ticket_snapshot *snapshot = b->snapshot;
    struct arena scratch_arena = {0};
    struct sort_record *records = arena_alloc(&scratch_arena, (b->count + (size_t)1) * sizeof *records);
    struct sort_record *scratch = arena_alloc(&scratch_arena, (b->count + (size_t)1) * sizeof *scratch);
    for (uint32_t i = 0; i < b->count; i++)
        records[i] = (struct sort_record){.key = (uint64_t)b->jobs[i].submit_us ^ UINT64_C(1) << 63, .index = i};
    sort_records(records, b->count, scratch);
    for (uint32_t i = 0; i < b->count; i++)
        records[i].key = b->s->jobs.items[snapshot->entries[records[i].index].job].list_position;
    sort_records(records, b->count, scratch);
    uint32_t *list = arena_alloc(&snapshot->arena, (b->count + (size_t)1) * sizeof *list);
    for (uint32_t i = 0; i < b->count; i++) list[i] = records[i].index;
    snapshot->input.list = list;
    arena_release(&scratch_arena);
}

static void add_pending(struct ticket_snapshot_builder *b, uint32_t tasks_max)
{
    for (uint32_t i = 0; i < b->s->jobs.count; i++) add_job(b, i, tasks_max);
    if (!b->is_listed) list_entries(b);
}

/* In an instance every suspension is by hand. */
static enum job_suspension suspension_of(const struct state *s, const struct job *j, const struct task *k)
{
    const struct job_document *d = state_job_document(s, j);
    if (k->state != JOB_SUSPENDED) return SUSPENSION_NONE;
    return d != NULL ? d->suspension : SUSPENSION_BY_HAND;
}

bool ticket_snapshot_leaves_out(const struct state *s, const struct task *k)
{
    return suspension_of(s, &s->jobs.items[state_find_job(s, k->job_id)], k) == SUSPENSION_BY_HAND;
}

/* Without members and shares, and without a node, a job gets no tickets and takes none from others. */
static void drop_members(struct ticket_job *job)
{
    for (int m = 0; m < MEMBER_KIND_COUNT; m++) job->member[m] = NONE;
    job->job_share = job->override_tickets = 0.0;
}

void ticket_snapshot_add_running(struct ticket_snapshot_builder *b)
{
    struct state *s = b->s;
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        const struct task *k = &s->tasks.items[i];
        if (job_state_is_end(k->state)) continue;
        uint32_t index = state_find_job(s, k->job_id);
        const struct job *j = &s->jobs.items[index];
        if (ticket_snapshot_leaves_out(s, k)) continue;
        struct ticket_job job = ticket_snapshot_job(b, j, k->partition);
        if (suspension_of(s, j, k) == SUSPENSION_BY_THRESHOLD)
            drop_members(&job);
        else
            job.node = serve_job(b, j);
        struct ticket_entry entry = ticket_snapshot_entry(b, index, i);
        job.task = k->task_id;
        job.is_running = true;
        ticket_snapshot_add(b, &job, &entry);
    }
}

/* --- members and share tree --------------------------------------------------------------------------------------- */

static void copy_members(struct ticket_snapshot_builder *b)
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
static void move_nodes(struct ticket_snapshot_builder *b)
{
    struct ticket_snapshot *snapshot = b->snapshot;
    if (!b->has_tree) return;
    share_snapshot_add_usage(&b->tree, snapshot->now_us, &b->s->cycle);
    snapshot->input.nodes = snapshot->nodes = b->tree.active.items;
    snapshot->input.node_count = b->tree.active.count;
    b->tree.active.items = NULL;
    share_snapshot_release(&b->tree);
}

/* Adds the virtual nodes of the users of pending jobs: their usage counts for the groups above running jobs. */
static void serve_pending(struct ticket_snapshot_builder *b)
{
    for (uint32_t i = 0; i < b->s->jobs.count; i++) {
        const struct job *j = &b->s->jobs.items[i];
        if (ticket_snapshot_count_tasks(b->s, j, b->snapshot->now_us, 1) > 0) (void)serve_job(b, j);
    }
}

static double slots_urgency_of(const struct state *s)
{
    uint32_t slots = state_find_object(s, OBJECT_RESOURCE, SLOTS_RESOURCE);
    return slots == NONE ? SLOTS_URGENCY : s->objects[OBJECT_RESOURCE].items[slots].object.value[RESOURCE_URGENCY].real;
}

struct ticket_snapshot_builder ticket_snapshot_begin(struct ticket_snapshot *snapshot, struct state *s, int64_t now_us,
                                                     uint32_t max_count)
{
    *snapshot = (struct ticket_snapshot){.now_us = now_us,
                                         .rules = s->policy.tickets,
                                         .urgency = s->policy.urgency,
                                         .slots_urgency = slots_urgency_of(s)};
    struct ticket_snapshot_builder b = {.s = s,
                                        .snapshot = snapshot,
                                        .identities = ticket_identities_of(s),
                                        .jobs = arena_alloc(&snapshot->arena, (max_count + (size_t)1) * sizeof *b.jobs),
                                        .max_count = max_count,
                                        .is_listed = true,
                                        .has_tree = s->policy.tickets.share_pool > 0.0};
    snapshot->input.jobs = b.jobs;
    snapshot->entries = arena_alloc(&snapshot->arena, (max_count + (size_t)1) * sizeof *snapshot->entries);
    if (b.has_tree) share_snapshot_make(&b.tree, s);
    return b;
}

void ticket_snapshot_end(struct ticket_snapshot_builder *b)
{
    struct ticket_input *input = &b->snapshot->input;
    input->job_count = b->count;
    copy_members(b);
    move_nodes(b);
}

void ticket_snapshot_make(struct ticket_snapshot *snapshot, struct state *s, int64_t now_us)
{
    struct entry_counts counts = entry_counts_of(s, now_us);
    struct ticket_snapshot_builder b = ticket_snapshot_begin(
        snapshot, s, now_us, (uint32_t)(counts.plain_jobs + counts.array_tasks) + s->task_by_launch.count);
    add_pending(&b, counts.array_max);
    ticket_snapshot_add_running(&b);
    ticket_snapshot_end(&b);
}

void ticket_snapshot_make_running(struct ticket_snapshot *snapshot, struct state *s, int64_t now_us)
{
    struct ticket_snapshot_builder b = ticket_snapshot_begin(snapshot, s, now_us, s->task_by_launch.count);
    if (b.has_tree && b.tree.tree->has_default) serve_pending(&b);
    ticket_snapshot_add_running(&b);
    ticket_snapshot_end(&b);
}

void ticket_snapshot_release(struct ticket_snapshot *snapshot)
{
    mem_free(snapshot->nodes);
    arena_release(&snapshot->arena);
}
