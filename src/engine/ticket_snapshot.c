/* Grid Engine's question, put from the state: who waits and runs, what the policies give each, and the share tree.
 *
 *     pending jobs       one entry a task that may start by now, of an array as many as count (max_pending_tasks_per_job),
 *                        or fewer where that would make more than a million entries
 *     running tasks      one entry each, behind them
 *
 * Slots are CPUs. The job class of a job that waits is the first partition it asks for. What a user is given is that of
 * the user's object; one without (enforce_user = none) has no part in the functional policy, the share tree and the
 * override policy but for the job's own.
 *
 * This is the half of a pass that holds the loop (the other is the answer, priorities_tickets.c), so names are not looked
 * up here: ticket_identities.h and share_tree.h keep what they stand for. */
#include <string.h>

#include "base/ensure.h"
#include "engine/ranking.h"
#include "engine/share_tree.h"
#include "engine/ticket_identities.h"

struct asking {
    struct state *s;
    struct ticket_snapshot *a;
    const struct ticket_identities *book;
    struct ticket_job *jobs; /* the question's */
    uint32_t count, room;
    bool has_tree;
    struct share_snapshot tree;
};

/* --- how many ----------------------------------------------------------------------------------------------------- */

static bool takes_part(const struct job *j, int64_t now_us)
{
    if (j->ended_us != 0 || j->held || j->begin_us > now_us) return false;
    return j->is_array ? idset_first(&j->pending) != NONE : j->live_tasks == 0; /* invariant 3 of state.h */
}

/* Who waits, and how many tasks of each array count. */
struct entry_counts {
    uint64_t plain, tasks; /* jobs; tasks of arrays, as many of each as count */
    uint32_t each;         /* at most so many of one array */
};

static uint32_t slots_of(const struct job *j)
{
    return j->document != NULL ? j->document->slots : j->request.cpus;
}

/* Of a document the slots of its hosts that no running job has; without hosts there is no limit. */
static uint64_t free_slots(const struct state *s)
{
    uint64_t slots = 0, taken = 0;
    if (!s->is_document) return s->host.free_cpu_count;
    if (s->hosts.count == 0) return UINT32_MAX;
    for (uint32_t i = 0; i < s->hosts.count; i++) slots += s->hosts.items[i].has.cpus;
    for (uint32_t i = 0; i < s->tasks.count; i++)
        taken += slots_of(&s->jobs.items[state_find_job(s, s->tasks.items[i].job_id)]);
    return slots > taken ? slots - taken : 0;
}

uint32_t ticket_snapshot_tasks_max(const struct state *s)
{
    return ticket_tasks_counted(&s->policy.tickets, free_slots(s), UINT32_MAX);
}

/* All together stay below TICKET_ENTRIES_MAX where one task of an array each does. */
static struct entry_counts entry_counts_of(const struct state *s, int64_t now_us)
{
    uint64_t arrays = 0;
    struct entry_counts t = {.each = ticket_snapshot_tasks_max(s)};
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        if (!takes_part(&s->jobs.items[i], now_us)) continue;
        if (s->jobs.items[i].is_array)
            arrays++;
        else
            t.plain++;
    }
    if (arrays == 0) return t;
    if (t.plain + arrays * t.each > TICKET_ENTRIES_MAX) {
        uint64_t room = TICKET_ENTRIES_MAX / arrays;
        t.each = room > 1 ? (uint32_t)room : 1;
    }
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        const struct job *j = &s->jobs.items[i];
        if (!j->is_array || !takes_part(j, now_us)) continue;
        uint32_t tasks = idset_count(&j->pending);
        t.tasks += tasks < t.each ? tasks : t.each;
    }
    return t;
}

uint32_t ticket_entry_count(const struct state *s, int64_t now_us)
{
    struct entry_counts t = entry_counts_of(s, now_us);
    return (uint32_t)(t.plain + t.tasks) + s->task_by_launch.count;
}

/* --- who ---------------------------------------------------------------------------------------------------------- */

static const struct urgency_request *requests_of(struct asking *g, const struct job *j)
{
    const struct state *s = g->s;
    if (j->request_count == 0) return NULL;
    struct urgency_request *requests = arena_alloc(&g->a->arena, j->request_count * sizeof *requests);
    for (uint32_t i = 0; i < j->request_count; i++) {
        const struct job_request *r = &j->requests[i];
        const struct field_value *value = s->objects[OBJECT_RESOURCE].items[r->resource].object.value;
        requests[i].value = r->amount;
        requests[i].urgency = value[RESOURCE_URGENCY].real;
        requests[i].is_text = resource_type_is_text((enum resource_type)value[RESOURCE_TYPE].number);
    }
    return requests;
}

/* The job of one entry, but for its task. */
static struct ticket_job ticket_job_of(struct asking *g, const struct job *j, uint32_t partition)
{
    struct ticket_user owner = g->book->users.items[g->book->user_of_assoc.items[j->assoc]];
    bool has_leaf = g->has_tree && (owner.user != NONE || g->s->policy.enforce_user == ENFORCE_USER_AUTO);
    return (struct ticket_job){.id = j->id,
                               .submit_us = j->submit_us,
                               .member = {[MEMBER_USER] = owner.user,
                                          [MEMBER_DEPARTMENT] = owner.department,
                                          [MEMBER_PROJECT] = j->project,
                                          [MEMBER_JOB_CLASS] = partition},
                               .node = has_leaf ? share_snapshot_serve(&g->tree, j->assoc, j->project) : NONE,
                               .job_share = j->job_share,
                               .override_tickets = j->override_tickets,
                               .slots = slots_of(j)};
}

static void add_entry(struct asking *g, const struct ticket_job *job, const struct ticket_entry *entry)
{
    ensure(g->count < g->room);
    g->jobs[g->count] = *job;
    g->a->entries[g->count++] = *entry;
}

static struct ticket_entry entry_of(struct asking *g, uint32_t job, uint32_t task)
{
    const struct job *j = &g->s->jobs.items[job];
    const struct urgency_rules *rules = &g->s->policy.urgency;
    bool has_rule = j->document != NULL && j->document->has_slots_rule;
    return (struct ticket_entry){.job = job,
                                 .slots_rule = has_rule ? j->document->slots_rule : rules->slots_rule,
                                 .slots_number = has_rule ? j->document->slots_number : rules->slots_number,
                                 .task = task,
                                 .slots_max = j->slots_max,
                                 .posix_priority = j->posix_priority,
                                 .deadline_us = j->deadline_us,
                                 .requests = requests_of(g, j),
                                 .request_count = j->request_count};
}

static void add_tasks(struct asking *g, const struct job *j, uint32_t max, struct ticket_job *job,
                      const struct ticket_entry *entry)
{
    uint32_t task = idset_first(&j->pending);
    for (uint32_t left = max; left > 0 && task != NONE; left--) {
        job->task = task;
        add_entry(g, job, entry);
        task = idset_next(&j->pending, task);
    }
}

static void add_job(struct asking *g, uint32_t index, uint32_t tasks_max)
{
    const struct job *j = &g->s->jobs.items[index];
    if (!takes_part(j, g->a->now_us)) return;
    struct ticket_job job = ticket_job_of(g, j, j->partitions[0]);
    struct ticket_entry entry = entry_of(g, index, NONE);
    if (j->is_array)
        add_tasks(g, j, tasks_max, &job, &entry);
    else
        add_entry(g, &job, &entry);
}

/* Of an instance the scheduler's list is in order of ids; of a document, of ranks, which are each job's own from 0 on. */
static void add_pending(struct asking *g, uint32_t tasks_max)
{
    struct state *s = g->s;
    if (!s->is_document) {
        for (uint32_t i = 0; i < s->jobs.count; i++) add_job(g, i, tasks_max);
        return;
    }
    uint32_t *by_rank = arena_alloc(&g->a->arena, (s->jobs.count + (size_t)1) * sizeof *by_rank);
    for (uint32_t i = 0; i < s->jobs.count; i++) by_rank[s->jobs.items[i].document->rank] = i;
    for (uint32_t i = 0; i < s->jobs.count; i++) add_job(g, by_rank[i], tasks_max);
}

static void add_running(struct asking *g)
{
    struct state *s = g->s;
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        const struct task *k = &s->tasks.items[i];
        if (job_state_is_end(k->state)) continue;
        uint32_t index = state_find_job(s, k->job_id);
        struct ticket_job job = ticket_job_of(g, &s->jobs.items[index], k->partition);
        struct ticket_entry entry = entry_of(g, index, i);
        job.task = k->task_id;
        job.is_running = true;
        add_entry(g, &job, &entry);
    }
}

/* --- what there is to give ---------------------------------------------------------------------------------------- */

static void copy_members(struct asking *g)
{
    struct ticket_input *q = &g->a->question;
    for (int m = 0; m < MEMBER_KIND_COUNT; m++) {
        uint32_t count = g->book->members[m].count;
        struct ticket_member *members = arena_alloc(&g->a->arena, (count + (size_t)1) * sizeof *members);
        if (count > 0) memcpy(members, g->book->members[m].items, count * sizeof *members);
        q->members[m] = members;
        q->member_count[m] = count;
    }
}

static void take_nodes(struct asking *g)
{
    struct ticket_snapshot *a = g->a;
    if (!g->has_tree) return;
    share_snapshot_fill(&g->tree, a->now_us, &g->s->cycle);
    a->question.nodes = a->nodes = g->tree.active.items;
    a->question.node_count = g->tree.active.count;
    g->tree.active.items = NULL;
    share_snapshot_release(&g->tree);
}

static double slots_urgency_of(const struct state *s)
{
    static const double implicit = 1000.0;
    uint32_t slots = state_find_object(s, OBJECT_RESOURCE, "slots");
    return slots == NONE ? implicit : s->objects[OBJECT_RESOURCE].items[slots].object.value[RESOURCE_URGENCY].real;
}

static struct asking asking_begin(struct ticket_snapshot *a, struct state *s, int64_t now_us, uint32_t room)
{
    *a = (struct ticket_snapshot){.now_us = now_us,
                                  .rules = s->policy.tickets,
                                  .urgency = s->policy.urgency,
                                  .slots_urgency = slots_urgency_of(s)};
    struct asking g = {.s = s,
                       .a = a,
                       .book = ticket_identities_of(s),
                       .jobs = arena_alloc(&a->arena, (room + (size_t)1) * sizeof *g.jobs),
                       .room = room,
                       .has_tree = s->policy.tickets.share_pool > 0.0};
    a->entries = arena_alloc(&a->arena, (room + (size_t)1) * sizeof *a->entries);
    if (g.has_tree) share_snapshot_make(&g.tree, s);
    return g;
}

static void asking_end(struct asking *g)
{
    struct ticket_input *q = &g->a->question;
    q->jobs = g->jobs;
    q->job_count = g->count;
    copy_members(g);
    take_nodes(g);
}

void ticket_snapshot_make(struct ticket_snapshot *a, struct state *s, int64_t now_us)
{
    struct entry_counts t = entry_counts_of(s, now_us);
    struct asking g = asking_begin(a, s, now_us, (uint32_t)(t.plain + t.tasks) + s->task_by_launch.count);
    add_pending(&g, t.each);
    add_running(&g);
    asking_end(&g);
}

void ticket_snapshot_make_running(struct ticket_snapshot *a, struct state *s, int64_t now_us)
{
    struct asking g = asking_begin(a, s, now_us, s->task_by_launch.count);
    add_running(&g);
    asking_end(&g);
}

void ticket_snapshot_release(struct ticket_snapshot *a)
{
    mem_free(a->nodes);
    arena_release(&a->arena);
}
