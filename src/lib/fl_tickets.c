/* Tickets, urgency and priority of all jobs. The input is checked and copied to the structs of policy/, in one block of
 * memory that also has everything that policy/ takes.
 *
 * The ranges of numbers are those of Fairlead's settings and objects. With them no intermediate result overflows. */
#include "lib/fl_fault.h"
#include "lib/fl_tree.h"
#include "policy/tickets.h"
#include "policy/urgency.h"

#define JOBS_MAX (UINT32_C(1) << 26)
#define MEMBERS_MAX (UINT32_C(1) << 28)
static const double NUMBER_MAX = 4294967295.0; /* pools, shares, tickets */
static const double WEIGHTS_MAX = 1e18;
static const double URGENCY_MAX = 1e60; /* of a resource, and values of it */
enum { POSIX_MIN = -1023, POSIX_MAX = 1024, DEFAULT_FUNCTIONAL_JOBS = 200 };

static const char *const kind_names[MEMBER_KIND_COUNT] = {
    [MEMBER_USER] = "users",
    [MEMBER_DEPARTMENT] = "departments",
    [MEMBER_PROJECT] = "projects",
    [MEMBER_JOB_CLASS] = "job_classes",
};

void fl_ticket_rules_init(struct fl_ticket_rules *out_rules)
{
    if (out_rules == NULL) return;
    *out_rules = (struct fl_ticket_rules){
        .weight_user = 0.25,
        .weight_project = 0.25,
        .weight_department = 0.25,
        .weight_job = 0.25,
        .compensation_factor = 5,
        .weight_ticket = 0.5,
        .weight_urgency = 0.5,
        .weight_waiting_time = 0.278,
        .weight_deadline = 3600000,
        .max_functional_jobs = DEFAULT_FUNCTIONAL_JOBS,
        .share_functional_shares = 1,
        .share_override_tickets = 1,
        .policy_hierarchy = "OFS",
    };
}

/* --- checks ------------------------------------------------------------------------------------------------------- */

static bool is_within(double value, double max)
{
    return fl_is_amount(value < 0 ? -value : value, max);
}

/* Some of O, F and S, each at most once. */
static bool is_hierarchy(const char text[4])
{
    unsigned seen = 0;
    for (int i = 0; i < 4; i++) {
        if (text[i] == '\0') return true;
        unsigned bit = text[i] == 'O' ? 1 : text[i] == 'F' ? 2 : text[i] == 'S' ? 4 : 0;
        if (bit == 0 || (seen & bit) != 0) return false;
        seen |= bit;
    }
    return false;
}

static int check_rules(const struct fl_ticket_rules *r, struct fl_fault *fault)
{
    const struct {
        const char *member;
        double value, max;
        bool is_signed;
    } numbers[] = {
        {"rules.weight_tickets_share", r->weight_tickets_share, NUMBER_MAX, false},
        {"rules.weight_tickets_functional", r->weight_tickets_functional, NUMBER_MAX, false},
        {"rules.weight_user", r->weight_user, WEIGHTS_MAX, false},
        {"rules.weight_project", r->weight_project, WEIGHTS_MAX, false},
        {"rules.weight_department", r->weight_department, WEIGHTS_MAX, false},
        {"rules.weight_job", r->weight_job, WEIGHTS_MAX, false},
        {"rules.weight_job_class", r->weight_job_class, WEIGHTS_MAX, false},
        {"rules.compensation_factor", r->compensation_factor, WEIGHTS_MAX, false},
        {"rules.weight_ticket", r->weight_ticket, WEIGHTS_MAX, true},
        {"rules.weight_urgency", r->weight_urgency, WEIGHTS_MAX, true},
        {"rules.weight_priority", r->weight_priority, WEIGHTS_MAX, true},
        {"rules.weight_waiting_time", r->weight_waiting_time, WEIGHTS_MAX, true},
        {"rules.weight_deadline", r->weight_deadline, WEIGHTS_MAX, true},
        {"rules.slots_urgency", r->slots_urgency, URGENCY_MAX, true},
    };
    for (size_t i = 0; i < FL_COUNT_OF(numbers); i++) {
        bool is_right = numbers[i].is_signed ? is_within(numbers[i].value, numbers[i].max)
                                             : fl_is_amount(numbers[i].value, numbers[i].max);
        if (!is_right) return fl_fault_at(fault, FL_EAMOUNT, numbers[i].member, 0);
    }
    if (!is_hierarchy(r->policy_hierarchy)) return fl_fault_at(fault, FL_EOPTION, "rules.policy_hierarchy", 0);
    if (r->reserved_flags != 0 || !fl_is_zero(r->reserved, FL_COUNT_OF(r->reserved)))
        return fl_fault_at(fault, FL_ERESERVED, "rules.reserved", 0);
    return FL_OK;
}

static int check_requests(const struct fl_ticket_job *j, uint32_t index, struct fl_fault *fault)
{
    if (j->requests == NULL && j->request_count > 0) return fl_fault_at(fault, FL_ENULL, "jobs.requests", index);
    if (j->request_count > FL_TRES_MAX) return fl_fault_at(fault, FL_EFULL, "jobs.request_count", index);
    for (uint32_t i = 0; i < j->request_count; i++) {
        const struct fl_ticket_request *q = &j->requests[i];
        if (!fl_is_amount(q->value, URGENCY_MAX)) return fl_fault_at(fault, FL_EAMOUNT, "jobs.requests.value", index);
        if (!is_within(q->urgency, URGENCY_MAX)) return fl_fault_at(fault, FL_EAMOUNT, "jobs.requests.urgency", index);
        if (q->reserved != 0) return fl_fault_at(fault, FL_ERESERVED, "jobs.requests.reserved", index);
    }
    return FL_OK;
}

static int check_job(const struct fl_ticket_input *in, uint32_t i, struct fl_fault *fault)
{
    const struct fl_ticket_job *j = &in->jobs[i];
    const struct {
        const char *member;
        uint32_t index, count;
    } indices[] = {
        {"jobs.user", j->user, in->user_count},          {"jobs.department", j->department, in->department_count},
        {"jobs.project", j->project, in->project_count}, {"jobs.job_class", j->job_class, in->job_class_count},
        {"jobs.node", j->node, fl_tree_count(in->tree)},
    };
    for (size_t k = 0; k < FL_COUNT_OF(indices); k++) {
        if (indices[k].index != FL_NONE && indices[k].index >= indices[k].count)
            return fl_fault_at(fault, FL_EINDEX, indices[k].member, i);
    }
    if (j->node != FL_NONE && !in->tree->tree.is_user[j->node]) return fl_fault_at(fault, FL_EKIND, "jobs.node", i);
    if (!fl_is_time(j->submit_us)) return fl_fault_at(fault, FL_ETIME, "jobs.submit_us", i);
    if (!fl_is_time(j->deadline_us)) return fl_fault_at(fault, FL_ETIME, "jobs.deadline_us", i);
    if (j->slots == 0) return fl_fault_at(fault, FL_EAMOUNT, "jobs.slots", i);
    if (j->posix_priority < POSIX_MIN || j->posix_priority > POSIX_MAX)
        return fl_fault_at(fault, FL_EAMOUNT, "jobs.posix_priority", i);
    if (!fl_is_amount(j->job_share, NUMBER_MAX)) return fl_fault_at(fault, FL_EAMOUNT, "jobs.job_share", i);
    if (!fl_is_amount(j->override_tickets, NUMBER_MAX))
        return fl_fault_at(fault, FL_EAMOUNT, "jobs.override_tickets", i);
    if (!fl_is_zero(j->reserved, FL_COUNT_OF(j->reserved))) return fl_fault_at(fault, FL_ERESERVED, "jobs.reserved", i);
    return check_requests(j, i, fault);
}

/* The members of the input, by the kinds of policy/. */
struct members {
    const struct fl_ticket_member *items[MEMBER_KIND_COUNT];
    uint32_t count[MEMBER_KIND_COUNT];
};

static struct members members_of(const struct fl_ticket_input *in)
{
    return (struct members){
        .items = {[MEMBER_USER] = in->users,
                  [MEMBER_DEPARTMENT] = in->departments,
                  [MEMBER_PROJECT] = in->projects,
                  [MEMBER_JOB_CLASS] = in->job_classes},
        .count = {[MEMBER_USER] = in->user_count,
                  [MEMBER_DEPARTMENT] = in->department_count,
                  [MEMBER_PROJECT] = in->project_count,
                  [MEMBER_JOB_CLASS] = in->job_class_count},
    };
}

static int check_members(const struct members *m, struct fl_fault *fault)
{
    for (int k = 0; k < MEMBER_KIND_COUNT; k++) {
        if (m->items[k] == NULL && m->count[k] > 0) return fl_fault_at(fault, FL_ENULL, kind_names[k], 0);
        if (m->count[k] > MEMBERS_MAX) return fl_fault_at(fault, FL_EFULL, kind_names[k], 0);
        for (uint32_t i = 0; i < m->count[k]; i++) {
            const struct fl_ticket_member *member = &m->items[k][i];
            if (!fl_is_amount(member->functional_shares, NUMBER_MAX) ||
                !fl_is_amount(member->override_tickets, NUMBER_MAX))
                return fl_fault_at(fault, FL_EAMOUNT, kind_names[k], i);
        }
    }
    return FL_OK;
}

static int check_input(const struct fl_ticket_input *in, const struct members *m, struct fl_fault *fault)
{
    if (in->rules == NULL) return fl_fault_at(fault, FL_ENULL, "rules", 0);
    if (in->jobs == NULL && in->job_count > 0) return fl_fault_at(fault, FL_ENULL, "jobs", 0);
    if (in->job_count > JOBS_MAX) return fl_fault_at(fault, FL_EFULL, "job_count", 0);
    if (!fl_is_time(in->now_us)) return fl_fault_at(fault, FL_ETIME, "now_us", 0);
    if (in->reserved_flags != 0 || !fl_is_zero(in->reserved, FL_COUNT_OF(in->reserved)))
        return fl_fault_at(fault, FL_ERESERVED, "reserved", 0);
    int result = check_rules(in->rules, fault);
    if (result == FL_OK) result = check_members(m, fault);
    for (uint32_t i = 0; result == FL_OK && i < in->job_count; i++) result = check_job(in, i, fault);
    return result;
}

/* --- the input of policy/ ----------------------------------------------------------------------------------------- */

/* Everything that is computed from the input, in memory of the arena. */
struct ticket_pass {
    struct arena arena;
    struct ticket_rules rules;
    struct ticket_input in;
    struct tickets *tickets;
    double *totals, *urgency, *norm_tickets, *norm_urgency, *norm_posix, *prior; /* by job */
    int32_t *posix;
};

static void fill_rules(struct ticket_pass *p, const struct fl_ticket_rules *r)
{
    p->rules = (struct ticket_rules){
        .share_pool = r->weight_tickets_share,
        .functional_pool = r->weight_tickets_functional,
        .share_functional_shares = r->share_functional_shares != 0,
        .share_override_tickets = r->share_override_tickets != 0,
        .max_functional_jobs = r->max_functional_jobs,
        .max_pending_tasks = UINT32_MAX,
        .weight_user = r->weight_user,
        .weight_project = r->weight_project,
        .weight_department = r->weight_department,
        .weight_job = r->weight_job,
        .weight_job_class = r->weight_job_class,
        .compensation_factor = r->compensation_factor,
        .compensation_rule = r->compensation_by_manual != 0 ? COMPENSATION_MANUAL : COMPENSATION_PROGRAM,
    };
    for (size_t i = 0; i < sizeof p->rules.hierarchy && r->policy_hierarchy[i] != '\0'; i++)
        p->rules.hierarchy[i] = r->policy_hierarchy[i];
    p->in.rules = &p->rules;
}

static struct ticket_job job_of(const struct fl_ticket_job *j)
{
    return (struct ticket_job){
        .id = j->id,
        .task = j->task,
        .submit_us = j->submit_us,
        .is_running = j->is_running != 0,
        .member = {[MEMBER_USER] = j->user,
                   [MEMBER_DEPARTMENT] = j->department,
                   [MEMBER_PROJECT] = j->project,
                   [MEMBER_JOB_CLASS] = j->job_class},
        .node = j->node,
        .job_share = j->job_share,
        .override_tickets = j->override_tickets,
        .slots = j->slots,
    };
}

static size_t input_memory(const struct fl_ticket_input *in, const struct members *m)
{
    uint32_t jobs = in->job_count, nodes = fl_tree_count(in->tree);
    size_t bytes = arena_size(jobs, sizeof(struct ticket_job)) + arena_size(jobs, sizeof(struct tickets));
    bytes += 6 * arena_size(jobs, sizeof(double)) + arena_size(jobs, sizeof(int32_t));
    bytes += arena_size(nodes, sizeof(struct ticket_node)) + arena_size(nodes, sizeof(double));
    bytes += arena_size(FL_TRES_MAX, sizeof(struct urgency_request));
    for (int k = 0; k < MEMBER_KIND_COUNT; k++) bytes += arena_size(m->count[k], sizeof(struct ticket_member));
    return bytes;
}

static void copy_members(struct ticket_pass *p, const struct members *m)
{
    for (int k = 0; k < MEMBER_KIND_COUNT; k++) {
        struct ticket_member *copies = arena_alloc_raw(&p->arena, m->count[k] * sizeof *copies);
        for (uint32_t i = 0; i < m->count[k]; i++) {
            const struct fl_ticket_member *member = &m->items[k][i];
            copies[i] = (struct ticket_member){member->functional_shares, member->override_tickets};
        }
        p->in.members[k] = copies;
        p->in.member_count[k] = m->count[k];
    }
}

static void copy_jobs(struct ticket_pass *p, const struct fl_ticket_input *in)
{
    uint32_t count = in->job_count;
    struct ticket_job *jobs = arena_alloc_raw(&p->arena, count * sizeof *jobs);
    for (uint32_t i = 0; i < count; i++) jobs[i] = job_of(&in->jobs[i]);
    p->in.jobs = jobs;
    p->in.job_count = count;
    p->tickets = arena_alloc_raw(&p->arena, count * sizeof *p->tickets);
    double **const numbers[] = {&p->totals, &p->urgency, &p->norm_tickets, &p->norm_urgency, &p->norm_posix, &p->prior};
    for (size_t i = 0; i < FL_COUNT_OF(numbers); i++) *numbers[i] = arena_alloc_raw(&p->arena, count * sizeof(double));
    p->posix = arena_alloc_raw(&p->arena, count * sizeof *p->posix);
}

/* Usage of a node includes all below it. */
static void copy_tree(struct ticket_pass *p, const struct fl_tree *tree, double scale)
{
    if (tree == NULL) return;
    const struct tree *t = &tree->tree;
    struct ticket_node *nodes = arena_alloc_raw(&p->arena, t->count * sizeof *nodes);
    double *usage = arena_alloc_raw(&p->arena, t->count * sizeof *usage);
    for (uint32_t i = 0; i < t->count; i++) usage[i] = tree->stored[i] * scale;
    tree_sum_usage(t, usage, usage);
    for (uint32_t i = 0; i < t->count; i++) {
        nodes[i] = (struct ticket_node){
            .parent = t->parent[i],
            .shares = t->shares[i] == SHARES_PARENT ? 1 : t->shares[i],
            .usage = usage[i],
            .is_group = !t->is_user[i],
        };
    }
    p->in.nodes = nodes;
    p->in.node_count = t->count;
}

/* --- results ------------------------------------------------------------------------------------------------------ */

static struct urgency_rules urgency_rules_of(const struct fl_ticket_rules *r)
{
    return (struct urgency_rules){
        .weight_ticket = r->weight_ticket,
        .weight_urgency = r->weight_urgency,
        .weight_priority = r->weight_priority,
        .weight_waiting_time = r->weight_waiting_time,
        .weight_deadline = r->weight_deadline,
        .posix_range = r->posix_over_present != 0 ? POSIX_PRESENT : POSIX_FIXED,
        .deadline_rule = r->deadline_by_waiting != 0 ? DEADLINE_WAITING : DEADLINE_OWN,
    };
}

static void fill_urgency(struct ticket_pass *p, const struct fl_ticket_input *in, const struct urgency_rules *rules,
                         struct fl_ticket_result *out)
{
    struct urgency_request *requests = arena_alloc_raw(&p->arena, FL_TRES_MAX * sizeof *requests);
    for (uint32_t i = 0; i < in->job_count; i++) {
        const struct fl_ticket_job *j = &in->jobs[i];
        uint32_t slots = j->urgency_slots > 0 ? j->urgency_slots : j->slots;
        for (uint32_t q = 0; q < j->request_count; q++) {
            requests[q] = (struct urgency_request){
                .value = j->requests[q].value,
                .urgency = j->requests[q].urgency,
                .is_text = j->requests[q].is_text != 0,
            };
        }
        struct urgency_job job = {
            .slots_min = slots,
            .slots_max = slots,
            .requests = requests,
            .request_count = j->request_count,
            .submit_us = j->submit_us,
            .deadline_us = j->deadline_us,
        };
        struct urgency u;
        urgency_of(rules, in->rules->slots_urgency, in->now_us, &job, &u);
        out[i].resources = u.resources;
        out[i].waiting_time = u.waiting_time;
        out[i].deadline = u.deadline;
        out[i].urgency = p->urgency[i] = u.sum;
        p->posix[i] = j->posix_priority;
    }
}

static void fill_results(struct ticket_pass *p, const struct fl_ticket_input *in, struct fl_ticket_result *out)
{
    double max_tickets = tickets_compute(&p->in, &p->arena, p->tickets);
    struct urgency_rules rules = urgency_rules_of(in->rules);
    fill_urgency(p, in, &rules, out);
    for (uint32_t i = 0; i < in->job_count; i++) p->totals[i] = p->tickets[i].total;
    urgency_priorities(&rules, in->job_count, max_tickets, p->totals, p->urgency, p->posix, p->norm_tickets,
                       p->norm_urgency, p->norm_posix, p->prior);
    for (uint32_t i = 0; i < in->job_count; i++) {
        out[i].override_tickets = p->tickets[i].override;
        out[i].functional_tickets = p->tickets[i].functional;
        out[i].share_tickets = p->tickets[i].share;
        out[i].tickets = p->totals[i];
        out[i].norm_tickets = p->norm_tickets[i];
        out[i].norm_urgency = p->norm_urgency[i];
        out[i].norm_posix = p->norm_posix[i];
        out[i].ticket_term = rules.weight_ticket * p->norm_tickets[i];
        out[i].urgency_term = rules.weight_urgency * p->norm_urgency[i];
        out[i].posix_term = rules.weight_priority * p->norm_posix[i];
        out[i].priority = p->prior[i];
    }
}

int fl_job_tickets(const struct fl_ticket_input *input, struct fl_ticket_result *out_results, struct fl_fault *fault)
{
    fl_fault_at(fault, FL_OK, NULL, 0);
    if (input == NULL) return fl_fault_at(fault, FL_ENULL, "input", 0);
    if (out_results == NULL && input->job_count > 0) return fl_fault_at(fault, FL_ENULL, "out_results", 0);
    struct members members = members_of(input);
    int result = check_input(input, &members, fault);
    if (result != FL_OK) return result;
    double scale = 1;
    if (input->tree != NULL) result = fl_tree_scale(input->tree, input->now_us, &scale);
    if (result != FL_OK) return fl_fault_at(fault, result, "now_us", 0);

    struct ticket_pass p = {0};
    if (!arena_reserve(&p.arena, input_memory(input, &members))) return fl_fault_at(fault, FL_ENOMEM, NULL, 0);
    fill_rules(&p, input->rules);
    copy_members(&p, &members);
    copy_jobs(&p, input);
    copy_tree(&p, input->tree, scale);
    bool has_memory =
        arena_reserve(&p.arena, tickets_memory(&p.in) + arena_size(FL_TRES_MAX, sizeof(struct urgency_request)));
    if (has_memory) fill_results(&p, input, out_results);
    arena_release(&p.arena);
    return fl_fault_at(fault, has_memory ? FL_OK : FL_ENOMEM, NULL, 0);
}
