/* Grid Engine's question, put from the state: who waits and runs, what the policies give each, and the share tree.
 *
 *     pending jobs       one entry a task that may start by now, of an array as many as count (max_pending_tasks_per_job),
 *                        or fewer where that would make more than a million entries
 *     running tasks      one entry each, behind them
 *
 * Slots are CPUs. The job class of a job that waits is the first partition it asks for. What a user is given is that of
 * the user's object; one without (enforce_user = none) has no part in the functional policy, the share tree and the
 * override policy but for the job's own. */
#include <string.h>

#include "engine/ranking.h"
#include "engine/share_tree.h"

enum { TASKS_MOST = 1000000 };

/* What an association's user is given. */
struct ticket_owner {
    bool known;
    uint32_t user, department; /* indices of objects, or NONE */
    uint32_t node;             /* outside projects; or NONE */
};

struct asking {
    struct state *s;
    int64_t now_us;
    struct arena *arena;
    const double *resource_urgency; /* by resource */
    double slots_urgency;
    struct ticket_owner *owners; /* by association */
    bool has_tree;
    struct share_moment tree;
    ARRAY(struct ticket_job) jobs;
    ARRAY(struct ticket_rank) ranks; /* the same entries */
};

/* --- who is asked for --------------------------------------------------------------------------------------------- */

static uint32_t find_node(struct asking *a, const struct ticket_owner *owner, uint32_t assoc, const char *project)
{
    bool counts = owner->user != NONE || a->s->policy.enforce_user == ENFORCE_USER_AUTO;
    return a->has_tree && counts ? share_moment_serve(&a->tree, assoc, project) : NONE;
}

static const struct ticket_owner *owner_of(struct asking *a, uint32_t assoc)
{
    struct ticket_owner *o = &a->owners[assoc];
    struct state *s = a->s;
    if (o->known) return o;
    o->known = true;
    o->user = state_find_object(s, OBJECT_USER, s->assocs.items[assoc].user);
    o->department = NONE;
    if (o->user != NONE) {
        const char *department = s->objects[OBJECT_USER].items[o->user].object.value[USER_DEPARTMENT].text;
        o->department = state_find_object(s, OBJECT_DEPARTMENT, department);
    }
    o->node = find_node(a, o, assoc, NULL);
    return o;
}

static struct ticket_job *add_entry(struct asking *a, uint32_t job, uint32_t partition)
{
    struct state *s = a->s;
    const struct job *j = &s->jobs.items[job];
    const struct ticket_owner *owner = owner_of(a, j->assoc);
    uint32_t node = owner->node;
    if (j->project != NONE) {
        const char *project = s->objects[OBJECT_PROJECT].items[j->project].object.name;
        node = find_node(a, owner, j->assoc, project);
    }
    struct ticket_job *entry = array_add(&a->jobs);
    *entry = (struct ticket_job){.id = j->id,
                                 .submit_us = j->submit_us,
                                 .member = {[MEMBER_USER] = owner->user,
                                            [MEMBER_DEPARTMENT] = owner->department,
                                            [MEMBER_PROJECT] = j->project,
                                            [MEMBER_JOB_CLASS] = partition},
                                 .node = node,
                                 .job_share = j->job_share,
                                 .override_tickets = j->override_tickets,
                                 .slots = j->request.cpus};
    *array_add(&a->ranks) = (struct ticket_rank){.job = job, .task = NONE};
    return entry;
}

static bool takes_part(const struct asking *a, const struct job *j)
{
    return j->ended_us == 0 && !j->held && j->begin_us <= a->now_us && idset_first(&j->pending) != NONE;
}

/* Of how many tasks an array may have entries, so that all together stay below TASKS_MOST where one a job does. */
static uint32_t tasks_of_array(const struct asking *a)
{
    const struct state *s = a->s;
    uint64_t tasks = 0, arrays = 0;
    uint32_t most = ticket_tasks_considered(&s->policy.tickets, s->host.free_cpu_count, UINT32_MAX);
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        const struct job *j = &s->jobs.items[i];
        if (!takes_part(a, j)) continue;
        arrays += j->is_array;
        tasks += j->is_array ? most : 1;
    }
    if (tasks <= TASKS_MOST || arrays == 0) return most;
    uint64_t room = TASKS_MOST / arrays;
    return room > 1 ? (uint32_t)room : 1;
}

static void add_pending(struct asking *a)
{
    struct state *s = a->s;
    uint32_t most = tasks_of_array(a);
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        const struct job *j = &s->jobs.items[i];
        if (!takes_part(a, j)) continue;
        uint32_t task = idset_first(&j->pending);
        for (uint32_t left = j->is_array ? most : 1; left > 0 && task != NONE; left--) {
            add_entry(a, i, j->partitions[0])->task = task;
            task = idset_next(&j->pending, task);
        }
    }
}

static void add_running(struct asking *a)
{
    struct state *s = a->s;
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        const struct task *k = &s->tasks.items[i];
        if (job_state_is_end(k->state)) continue;
        struct ticket_job *entry = add_entry(a, state_find_job(s, k->job_id), k->partition);
        entry->task = k->task_id;
        entry->is_running = true;
        a->ranks.items[a->ranks.count - 1].task = i;
    }
}

static void asking_begin(struct asking *a, struct state *s, int64_t now_us, struct arena *arena)
{
    *a = (struct asking){.s = s,
                         .now_us = now_us,
                         .arena = arena,
                         .owners = arena_alloc(arena, (s->assocs.count + (size_t)1) * sizeof *a->owners),
                         .has_tree = s->policy.tickets.share_pool > 0.0};
    if (a->has_tree) share_moment_make(&a->tree, s);
}

static void asking_end(struct asking *a)
{
    share_moment_release(&a->tree);
    array_release(&a->jobs);
    array_release(&a->ranks);
}

/* --- tickets ------------------------------------------------------------------------------------------------------ */

static struct ticket_member *members_of(const struct state *s, enum object_kind kind, uint32_t fshare, uint32_t oticket,
                                        struct arena *arena)
{
    uint32_t count = s->objects[kind].count;
    struct ticket_member *members = arena_alloc(arena, (count + (size_t)1) * sizeof *members);
    for (uint32_t i = 0; i < count; i++) {
        const struct field_value *value = s->objects[kind].items[i].object.value;
        members[i] = (struct ticket_member){(double)value[fshare].number, (double)value[oticket].number};
    }
    return members;
}

static void list_members(const struct state *s, struct arena *arena, struct ticket_question *q)
{
    static const struct {
        enum object_kind kind;
        uint32_t fshare, oticket;
    } rows[MEMBER_KIND_COUNT] = {
        [MEMBER_USER] = {OBJECT_USER, USER_FSHARE, USER_OTICKET},
        [MEMBER_DEPARTMENT] = {OBJECT_DEPARTMENT, PROJECT_FSHARE, PROJECT_OTICKET},
        [MEMBER_PROJECT] = {OBJECT_PROJECT, PROJECT_FSHARE, PROJECT_OTICKET},
        [MEMBER_JOB_CLASS] = {OBJECT_PARTITION, PARTITION_FSHARE, PARTITION_OTICKET},
    };
    for (int m = 0; m < MEMBER_KIND_COUNT; m++) {
        q->members[m] = members_of(s, rows[m].kind, rows[m].fshare, rows[m].oticket, arena);
        q->member_count[m] = s->objects[rows[m].kind].count;
    }
}

/* Tickets of all entries, in memory of the arena. */
static struct tickets *ask(struct asking *a)
{
    struct state *s = a->s;
    struct ticket_question q = {.rules = &s->policy.tickets, .jobs = a->jobs.items, .job_count = a->jobs.count};
    struct tickets *tickets = arena_alloc(a->arena, (a->jobs.count + (size_t)1) * sizeof *tickets);
    list_members(s, a->arena, &q);
    if (a->has_tree) {
        share_moment_fill(&a->tree, a->now_us, a->arena);
        q.nodes = a->tree.active.items;
        q.node_count = a->tree.active.count;
    }
    tickets_compute(&q, a->arena, tickets);
    return tickets;
}

double *running_tickets(struct state *s, int64_t now_us, struct arena *arena)
{
    struct asking a;
    double *by_task = arena_alloc(arena, (s->tasks.count + (size_t)1) * sizeof *by_task);
    asking_begin(&a, s, now_us, arena);
    add_running(&a);
    const struct tickets *tickets = ask(&a);
    for (uint32_t i = 0; i < a.ranks.count; i++) by_task[a.ranks.items[i].task] = tickets[i].total;
    asking_end(&a);
    return by_task;
}

/* --- urgency and priority ----------------------------------------------------------------------------------------- */

static void list_urgencies(struct asking *a)
{
    static const double implicit_slots_urgency = 1000.0;
    struct state *s = a->s;
    uint32_t count = s->objects[OBJECT_RESOURCE].count, slots = state_find_object(s, OBJECT_RESOURCE, "slots");
    double *urgency = arena_alloc(a->arena, (count + (size_t)1) * sizeof *urgency);
    for (uint32_t i = 0; i < count; i++)
        urgency[i] = s->objects[OBJECT_RESOURCE].items[i].object.value[RESOURCE_URGENCY].real;
    a->resource_urgency = urgency;
    a->slots_urgency = slots != NONE ? urgency[slots] : implicit_slots_urgency;
}

static void set_urgency(const struct asking *a, struct ticket_rank *rank)
{
    const struct state *s = a->s;
    const struct job *j = &s->jobs.items[rank->job];
    struct urgency_request *requests = NULL;
    if (j->request_count > 0) requests = arena_alloc(a->arena, j->request_count * sizeof *requests);
    for (uint32_t i = 0; i < j->request_count; i++) {
        const struct job_request *r = &j->requests[i];
        int64_t type = s->objects[OBJECT_RESOURCE].items[r->resource].object.value[RESOURCE_TYPE].number;
        requests[i] = (struct urgency_request){r->amount, a->resource_urgency[r->resource],
                                               resource_type_is_text((enum resource_type)type)};
    }
    struct urgency_job asked = {.slots_least = j->request.cpus,
                                .slots_most = j->slots_most > j->request.cpus ? j->slots_most : j->request.cpus,
                                .requests = requests,
                                .request_count = j->request_count,
                                .submit_us = j->submit_us,
                                .deadline_us = j->deadline_us,
                                .posix_priority = j->posix_priority};
    urgency_of(&s->policy.urgency, a->slots_urgency, a->now_us, &asked, &rank->urgency);
}

static double *numbers(const struct asking *a)
{
    return arena_alloc(a->arena, (a->ranks.count + (size_t)1) * sizeof(double));
}

static void set_priorities(struct asking *a)
{
    uint32_t count = a->ranks.count;
    struct ticket_rank *ranks = a->ranks.items;
    double *tickets = numbers(a), *urgency = numbers(a);
    double *norm_tickets = numbers(a), *norm_urgency = numbers(a), *norm_posix = numbers(a), *prior = numbers(a);
    int32_t *posix = arena_alloc(a->arena, (count + (size_t)1) * sizeof *posix);
    for (uint32_t i = 0; i < count; i++) {
        tickets[i] = ranks[i].tickets.total;
        urgency[i] = ranks[i].urgency.sum;
        posix[i] = a->s->jobs.items[ranks[i].job].posix_priority;
    }
    ticket_priorities(&a->s->policy.urgency, count, tickets, urgency, posix, norm_tickets, norm_urgency, norm_posix,
                      prior);
    for (uint32_t i = 0; i < count; i++) {
        ranks[i].norm_tickets = norm_tickets[i];
        ranks[i].norm_urgency = norm_urgency[i];
        ranks[i].norm_posix = norm_posix[i];
        ranks[i].prior = prior[i];
    }
}

void ticket_ranks_make(struct state *s, int64_t now_us, struct arena *arena, struct ticket_ranks *out_ranks)
{
    struct asking a;
    asking_begin(&a, s, now_us, arena);
    add_pending(&a);
    add_running(&a);
    const struct tickets *tickets = ask(&a);
    list_urgencies(&a);
    for (uint32_t i = 0; i < a.ranks.count; i++) {
        a.ranks.items[i].tickets = tickets[i];
        set_urgency(&a, &a.ranks.items[i]);
    }
    set_priorities(&a);
    out_ranks->count = a.ranks.count;
    out_ranks->items = arena_alloc(arena, (a.ranks.count + (size_t)1) * sizeof *out_ranks->items);
    if (a.ranks.count > 0) memcpy(out_ranks->items, a.ranks.items, a.ranks.count * sizeof *a.ranks.items);
    asking_end(&a);
}
