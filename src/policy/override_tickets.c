/* The override policy: tickets that are given outright.
 *
 *     tickets  =  sum of oticket over the job's user, project, department and job class  +  -ot
 *
 * With share_override_tickets a member's tickets are divided by its running jobs. Pending jobs are counted one after
 * another as if they started, the one with the most tickets first, so the n-th job of a member gets oticket / n. Cost:
 * O(n log n). Source: docs/formulas.md 5.5. */
#include "policy/override_tickets.h"

#include "policy/ticket_selection.h"

/* The order in which they are added. */
static const enum ticket_member_kind ORDER[MEMBER_KIND_COUNT] = {MEMBER_USER, MEMBER_PROJECT, MEMBER_DEPARTMENT,
                                                                 MEMBER_JOB_CLASS};

/* The tickets of a member, and the number of its jobs that run or were counted. */
struct giver {
    double tickets;
    uint32_t counted;
};

struct override {
    struct giver *givers[MEMBER_KIND_COUNT]; /* by member */
};

/* The tickets of a job. counted: by kind and member, the number of jobs that divide the member's tickets; NULL: each
 * job gets all of them. */
static double tickets_of(const struct ticket_input *in, const struct ticket_job *j, uint32_t *const *counted)
{
    double sum = 0.0;
    for (int i = 0; i < MEMBER_KIND_COUNT; i++) {
        uint32_t member = j->member[ORDER[i]];
        if (member == NONE) continue;
        double oticket = in->members[ORDER[i]][member].oticket;
        sum += counted == NULL ? oticket : oticket / counted[ORDER[i]][member];
    }
    return sum + j->override_tickets;
}

void override_tickets_running(struct ticket_run *run)
{
    uint32_t *const *counted = run->in->rules->share_override_tickets ? run->running_count : NULL;
    for (uint32_t i = 0; i < run->in->job_count; i++) {
        const struct ticket_job *j = &run->in->jobs[i];
        if (j->is_running) run->tickets[i].override = tickets_of(run->in, j, counted);
    }
}

static bool key_of(const void *policy, const struct ticket_job *j, struct job_key *out_key)
{
    const struct override *o = policy;
    out_key->own = j->override_tickets;
    bool takes_part = out_key->own > 0.0;
    for (int k = 0; k < MEMBER_KIND_COUNT; k++) {
        bool gives = j->member[k] != NONE && o->givers[k][j->member[k]].tickets > 0.0;
        out_key->member[k] = gives ? j->member[k] : NONE;
        takes_part |= out_key->member[k] != NONE;
    }
    return takes_part;
}

static double next_share(const struct override *o, int kind, uint32_t member)
{
    if (member == NONE) return 0.0;
    const struct giver *g = &o->givers[kind][member];
    return g->tickets / (g->counted + 1);
}

static struct tournament_context context_of(const void *policy, const struct job_key *set)
{
    struct tournament_context c = {.weight = 1.0, .pool = 1.0, .base = 1.0};
    for (int i = 1; i < MEMBER_KIND_COUNT; i++) c.common[i - 1] = next_share(policy, ORDER[i], set->member[ORDER[i]]);
    c.common[MEMBER_KIND_COUNT - 1] = set->own;
    return c;
}

static double amount_of(const void *policy, uint32_t user)
{
    const struct override *o = policy;
    return o->givers[MEMBER_USER][user].tickets;
}

static void give_shared(struct ticket_run *run, bool is_dependent)
{
    struct override o;
    for (int k = 0; k < MEMBER_KIND_COUNT; k++) {
        uint32_t count = run->in->member_count[k];
        o.givers[k] = arena_alloc(run->arena, count * sizeof *o.givers[k]);
        for (uint32_t i = 0; i < count; i++) {
            o.givers[k][i] = (struct giver){run->in->members[k][i].oticket, run->running_count[k][i]};
        }
    }
    struct ticket_selection_rules rules = {
        .policy = &o,
        .key_of = key_of,
        .context_of = context_of,
        .amount_of = amount_of,
        .is_divided = true,
        .rank = run->id_position,
    };
    struct ticket_selection s = ticket_selection_make(run, ticket_run_order(run, is_dependent), &rules);
    double *tickets =
        arena_alloc(run->arena, s.job_count * sizeof *tickets); /* in line, near the jobs that come next */
    for (uint32_t i = 0; i < s.job_count; i++) {
        double value;
        uint32_t group = ticket_selection_best(&s, &value);
        tickets[s.groups[group].next] = value;
        struct job_key key = ticket_selection_key(&s, group);
        for (int k = MEMBER_USER + 1; k < MEMBER_KIND_COUNT; k++) {
            if (key.member[k] != NONE) o.givers[k][key.member[k]].counted++;
        }
        ticket_selection_take(&s, group);
    }
    for (uint32_t i = 0; i < s.job_count; i++) run->tickets[s.jobs[i].job].override = tickets[i];
}

void override_tickets_pending(struct ticket_run *run, bool is_dependent)
{
    bool is_shared = run->in->rules->share_override_tickets;
    if (is_shared) give_shared(run, is_dependent);
    for (uint32_t i = 0; i < run->pending_count; i++) {
        uint32_t job = run->by_list[i];
        if (!is_shared) run->tickets[job].override = tickets_of(run->in, &run->in->jobs[job], NULL);
        if (is_dependent) run->tickets_so_far[job] += run->tickets[job].override;
    }
}
