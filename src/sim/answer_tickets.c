/* priority/tickets: who is served where, what the leaves used, and what the policies make of it.
 *
 *     share_tree of the document          the active tree of the question
 *     Root ─ grp ─ default      ──>       Root ─ grp ─ default
 *                                                    ├ uc   (virtual: default's shares, uc's usage)
 *                                                    └ ud   (virtual)
 *
 * Usage is per user, per user in a project, and per project; a leaf has that of whom it stands for, decayed to now and
 * combined into one number, a group the sum of its children, a project node the project's own. */
#include <string.h>

#include "base/sort.h"
#include "sim/answer.h"

#define US_PER_SECOND 1e6

/* A job that takes part, once for each of its tasks. */
struct entries {
    struct ticket_job *jobs;
    uint32_t *of; /* the index of the scenario's job */
    uint32_t count;
    uint32_t *first; /* by job: its first entry, or NONE */
};

/* The active tree while it is made. */
struct nodes {
    const struct scenario *s;
    ARRAY(struct ticket_node) nodes;
    bool *has_children; /* of the document's nodes */
    uint32_t *realm; /* of the document's nodes: the project they are inside of (as an index among projects), or NONE */
    struct map virtuals; /* (default node, user) -> node */
};

/* --- usage ---------------------------------------------------------------------------------------------------------- */

static double usage_now(const struct scenario *s, const struct ticket_usage *usage, int64_t usage_us)
{
    const struct ticket_rules *rules = &s->policy.tickets;
    struct ticket_usage now = *usage;
    double elapsed_s = (double)(s->now_us - usage_us) / US_PER_SECOND;
    for (int i = 0; i < USAGE_RESOURCE_COUNT; i++)
        now.used[i] *= ticket_decay_factor(&rules->decay, (enum usage_resource)i, elapsed_s);
    return ticket_usage_combine(rules->usage_weights, &now);
}

/* Of a user outside of projects (project NONE), or in one. */
static double usage_of_user(const struct scenario *s, uint32_t user, uint32_t project)
{
    const struct scenario_member *member = &s->users.items[user];
    if (project == NONE) return usage_now(s, &member->usage, member->usage_us);
    for (uint32_t i = 0; i < member->project_usage.count; i++) {
        const struct project_usage *p = &member->project_usage.items[i];
        if (p->project == project) return usage_now(s, &p->usage, member->usage_us);
    }
    return 0.0;
}

static double usage_of_project(const struct scenario *s, uint32_t project)
{
    const struct scenario_member *member = &s->projects.items[project];
    return usage_now(s, &member->usage, member->usage_us);
}

/* --- nodes ---------------------------------------------------------------------------------------------------------- */

static const struct share_node *document_node(const struct nodes *t, uint32_t node)
{
    return &t->s->shares->nodes.items[node];
}

static uint32_t project_of_node(const struct nodes *t, uint32_t node)
{
    const struct share_node *n = document_node(t, node);
    return n->is_project ? map_get(&t->s->project_names, str(n->name)) : NONE;
}

/* Which nodes have children, and which project each is inside of. */
static void note_places(struct nodes *t, struct arena *arena)
{
    uint32_t count = t->s->shares->nodes.count;
    t->has_children = arena_alloc(arena, count * sizeof *t->has_children);
    t->realm = arena_alloc(arena, count * sizeof *t->realm);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t parent = document_node(t, i)->parent;
        t->realm[i] = NONE;
        if (parent == NONE) continue;
        t->has_children[parent] = true;
        uint32_t project = project_of_node(t, parent);
        t->realm[i] = project != NONE ? project : t->realm[parent];
    }
}

/* What a node of the document used by itself: a project what the project did, a leaf what its user did. */
static double own_usage(const struct nodes *t, uint32_t node)
{
    uint32_t project = project_of_node(t, node);
    if (project != NONE) return usage_of_project(t->s, project);
    if (t->has_children[node]) return 0.0;
    uint32_t user = map_get(&t->s->user_names, str(document_node(t, node)->name));
    return user != NONE ? usage_of_user(t->s, user, t->realm[node]) : 0.0;
}

static void add_document_nodes(struct nodes *t)
{
    for (uint32_t i = 0; i < t->s->shares->nodes.count; i++) {
        const struct share_node *n = document_node(t, i);
        *array_add(&t->nodes) = (struct ticket_node){
            .parent = n->parent,
            .shares = n->shares,
            .usage = own_usage(t, i),
            .is_group = t->has_children[i] && !n->is_project,
        };
    }
}

/* The sibling of a `default` node that is a user's own. */
static uint32_t virtual_node(struct nodes *t, uint32_t default_node, uint32_t user)
{
    uint64_t key = (uint64_t)default_node << 32 | user;
    uint32_t node = map_get_u64(&t->virtuals, key);
    const struct share_node *n = document_node(t, default_node);
    if (node != NONE || n->parent == NONE) return node != NONE ? node : default_node;
    node = t->nodes.count;
    *array_add(&t->nodes) = (struct ticket_node){
        .parent = n->parent,
        .shares = n->shares,
        .usage = usage_of_user(t->s, user, t->realm[default_node]),
        .is_virtual = true,
    };
    map_set_u64(&t->virtuals, key, node);
    return node;
}

static uint32_t node_of_job(struct nodes *t, const struct scenario_job *job)
{
    const char *project = job->project != NONE ? t->s->projects.items[job->project].object.name : NULL;
    bool is_default = false;
    if (t->s->shares == NULL || job->member == NONE) return NONE;
    uint32_t node = share_nodes_serve(t->s->shares, job->user, project, &is_default);
    return node != NONE && is_default ? virtual_node(t, node, job->member) : node;
}

/* Groups have what is below them; a project node has its own. Children have larger indices than their parents. */
static void add_up_groups(struct nodes *t)
{
    for (uint32_t i = t->nodes.count; i-- > 1;) {
        struct ticket_node *above = &t->nodes.items[t->nodes.items[i].parent];
        if (above->is_group) above->usage += t->nodes.items[i].usage;
    }
}

/* --- entries -------------------------------------------------------------------------------------------------------- */

static bool takes_part(const struct scenario *s, const struct scenario_job *job)
{
    return job->state == JOB_RUNNING || (job->state == JOB_PENDING && job->eligible_us <= s->now_us);
}

/* CPUs that no running job has a slot on. A document without hosts sets no limit. */
static uint64_t free_slots(const struct scenario *s)
{
    uint64_t slots = 0, taken = 0;
    if (s->hosts.count == 0) return UINT32_MAX;
    for (uint32_t i = 0; i < s->hosts.count; i++) slots += s->hosts.items[i].cpus;
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        if (s->jobs.items[i].state == JOB_RUNNING) taken += s->jobs.items[i].slots_min;
    }
    return slots > taken ? slots - taken : 0;
}

/* Jobs in the scheduler's order. */
static const struct sort_record *in_list_order(const struct scenario *s, struct arena *arena)
{
    uint32_t count = s->jobs.count;
    struct sort_record *records = arena_alloc(arena, (count + 1) * sizeof *records);
    struct sort_record *scratch = arena_alloc(arena, (count + 1) * sizeof *scratch);
    for (uint32_t i = 0; i < count; i++) records[i] = (struct sort_record){.key = s->jobs.items[i].id, .index = i};
    sort_records(records, count, scratch);
    for (uint32_t i = 0; i < count; i++) records[i].key = s->jobs.items[records[i].index].sequence;
    sort_records(records, count, scratch);
    return records;
}

static uint32_t tasks_of(const struct scenario *s, const struct scenario_job *job, uint64_t slots)
{
    if (!takes_part(s, job)) return 0;
    if (job->array_tasks == 1) return 1;
    return ticket_tasks_counted(&s->policy.tickets, slots, job->array_tasks);
}

static struct ticket_job make_entry(struct nodes *t, const struct scenario_job *job)
{
    const struct scenario *s = t->s;
    return (struct ticket_job){
        .id = job->id,
        .task = 1,
        .submit_us = job->submit_us,
        .is_running = job->state == JOB_RUNNING,
        .member = {[MEMBER_USER] = job->member,
                   [MEMBER_DEPARTMENT] = job->member != NONE ? s->users.items[job->member].department : NONE,
                   [MEMBER_PROJECT] = job->project,
                   [MEMBER_JOB_CLASS] = job->partitions[0]},
        .node = node_of_job(t, job),
        .job_share = job->job_share,
        .override_tickets = job->override_tickets,
        .slots = job->slots_min,
    };
}

static int make_entries(struct nodes *t, struct arena *arena, struct entries *out, struct err *e)
{
    const struct scenario *s = t->s;
    uint64_t count = 0, slots = free_slots(s);
    for (uint32_t i = 0; i < s->jobs.count; i++) count += tasks_of(s, &s->jobs.items[i], slots);
    if (count > TICKET_TASKS_MAX)
        return err_set(e, ERR_INPUT, "jobs: %llu tasks take part; at most %d (max_pending_tasks_per_job)",
                       (unsigned long long)count, TICKET_TASKS_MAX);
    *out = (struct entries){
        .jobs = arena_alloc(arena, (count + 1) * sizeof *out->jobs),
        .of = arena_alloc(arena, (count + 1) * sizeof *out->of),
        .first = arena_alloc(arena, (s->jobs.count + 1) * sizeof *out->first),
    };
    const struct sort_record *order = in_list_order(s, arena);
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        const struct scenario_job *job = &s->jobs.items[order[i].index];
        uint32_t tasks = tasks_of(s, job, slots);
        out->first[order[i].index] = tasks > 0 ? out->count : NONE;
        if (tasks == 0) continue;
        struct ticket_job entry = make_entry(t, job);
        for (; entry.task <= tasks; entry.task++) {
            out->of[out->count] = order[i].index;
            out->jobs[out->count++] = entry;
        }
    }
    return 0;
}

/* --- the question --------------------------------------------------------------------------------------------------- */

static const struct ticket_member *make_members(const struct scenario_member *items, uint32_t count,
                                                struct arena *arena)
{
    struct ticket_member *members = arena_alloc(arena, (count + 1) * sizeof *members);
    for (uint32_t i = 0; i < count; i++) members[i] = (struct ticket_member){items[i].fshare, items[i].oticket};
    return members;
}

static const struct ticket_member *make_job_classes(const struct scenario *s, struct arena *arena)
{
    struct ticket_member *members = arena_alloc(arena, s->partitions.count * sizeof *members);
    for (uint32_t i = 0; i < s->partitions.count; i++) {
        const struct field_value *value = s->partitions.items[i].object.value;
        members[i] =
            (struct ticket_member){(double)value[PARTITION_FSHARE].number, (double)value[PARTITION_OTICKET].number};
    }
    return members;
}

static struct tickets *ask_tickets(const struct nodes *t, const struct entries *entries, struct arena *arena)
{
    const struct scenario *s = t->s;
    struct tickets *tickets = arena_alloc(arena, (entries->count + 1) * sizeof *tickets);
    struct ticket_input q = {
        .rules = &s->policy.tickets,
        .members = {[MEMBER_USER] = make_members(s->users.items, s->users.count, arena),
                    [MEMBER_DEPARTMENT] = make_members(s->departments.items, s->departments.count, arena),
                    [MEMBER_PROJECT] = make_members(s->projects.items, s->projects.count, arena),
                    [MEMBER_JOB_CLASS] = make_job_classes(s, arena)},
        .member_count = {[MEMBER_USER] = s->users.count,
                         [MEMBER_DEPARTMENT] = s->departments.count,
                         [MEMBER_PROJECT] = s->projects.count,
                         [MEMBER_JOB_CLASS] = s->partitions.count},
        .nodes = t->nodes.items,
        .node_count = t->nodes.count,
        .jobs = entries->jobs,
        .job_count = entries->count,
    };
    tickets_compute(&q, arena, tickets);
    return tickets;
}

static void ask_urgency(const struct scenario *s, const struct scenario_job *job, struct urgency *out_urgency)
{
    struct urgency_rules rules = s->policy.urgency;
    struct urgency_job asked = {
        .slots_min = job->slots_min,
        .slots_max = job->slots_max,
        .requests = job->requests,
        .request_count = job->request_count,
        .submit_us = job->submit_us,
        .deadline_us = job->deadline_us,
        .posix_priority = job->posix_priority,
    };
    if (job->has_slots_rule) {
        rules.slots_rule = job->slots_rule;
        rules.slots_number = job->slots_number;
    }
    urgency_of(&rules, s->slots_urgency, s->now_us, &asked, out_urgency);
}

/* Columns of all entries, as urgency_priorities takes and gives them. */
struct columns {
    double *tickets, *urgency, *norm_tickets, *norm_urgency, *norm_posix, *prior;
    int32_t *posix;
};

static struct columns make_columns(uint32_t count, struct arena *arena)
{
    size_t size = (count + 1) * sizeof(double);
    return (struct columns){
        .tickets = arena_alloc(arena, size),
        .urgency = arena_alloc(arena, size),
        .norm_tickets = arena_alloc(arena, size),
        .norm_urgency = arena_alloc(arena, size),
        .norm_posix = arena_alloc(arena, size),
        .prior = arena_alloc(arena, size),
        .posix = arena_alloc(arena, (count + 1) * sizeof(int32_t)),
    };
}

static void make_rows(const struct scenario *s, const struct entries *entries, const struct tickets *tickets,
                      struct arena *arena, struct ticket_row *rows)
{
    struct columns c = make_columns(entries->count, arena);
    for (uint32_t i = 0; i < entries->count; i++) {
        struct ticket_row *row = &rows[entries->of[i]];
        if (entries->jobs[i].task == 1) ask_urgency(s, &s->jobs.items[entries->of[i]], &row->urgency);
        c.tickets[i] = tickets[i].total;
        c.urgency[i] = row->urgency.sum;
        c.posix[i] = s->jobs.items[entries->of[i]].posix_priority;
    }
    urgency_priorities(&s->policy.urgency, entries->count, c.tickets, c.urgency, c.posix, c.norm_tickets,
                       c.norm_urgency, c.norm_posix, c.prior);
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        uint32_t first = entries->first[i];
        bool is_silent = s->jobs.items[i].state == JOB_PENDING && !s->policy.tickets.report_pending;
        if (first == NONE || is_silent) continue;
        rows[i].tickets = tickets[first];
        rows[i].norm_tickets = c.norm_tickets[first];
        rows[i].norm_urgency = c.norm_urgency[first];
        rows[i].norm_posix = c.norm_posix[first];
        rows[i].prior = c.prior[first];
    }
}

int answer_tickets(const struct scenario *s, struct arena *arena, struct ticket_row **out_rows, struct err *e)
{
    struct nodes t = {.s = s};
    struct entries entries;
    if (s->shares != NULL) {
        note_places(&t, arena);
        add_document_nodes(&t);
    }
    int status = make_entries(&t, arena, &entries, e);
    if (status == 0) {
        struct ticket_row *rows = arena_alloc(arena, (s->jobs.count + 1) * sizeof *rows);
        if (s->shares != NULL) add_up_groups(&t);
        make_rows(s, &entries, ask_tickets(&t, &entries, arena), arena, rows);
        *out_rows = rows;
    }
    array_release(&t.nodes);
    map_release(&t.virtuals);
    return status;
}
