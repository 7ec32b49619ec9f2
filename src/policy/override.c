/* The override policy: tickets given outright.
 *
 *     tickets  =  sum of oticket over the job's user, project, department and job class  +  -ot
 *
 * With share_override_tickets a member's are divided by its running jobs, and pending ones are counted one by one as though
 * they started, the one with the most first: the n-th of a member gets oticket / n.
 * Cost: O(n log n). Source: docs/formulas.md 5.5. */
#include "policy/ticket_selection.h"

/* In the order they are added. */
static const enum ticket_member_kind ORDER[MEMBER_KIND_COUNT] = {MEMBER_USER, MEMBER_PROJECT, MEMBER_DEPARTMENT,
                                                                 MEMBER_JOB_CLASS};

/* What a member has to give, and among how many jobs: running or counted. */
struct giver {
    double tickets;
    uint32_t counted;
};

struct override {
    struct giver *givers[MEMBER_KIND_COUNT]; /* by member */
};

static double oticket(const struct ticket_input *q, int kind, uint32_t member)
{
    return member == NONE ? 0.0 : q->members[kind][member].oticket;
}

/* What a job has: of every member with counted[kind] as divisor, or undivided. */
static double tickets_of(const struct ticket_input *q, const struct ticket_job *j, uint32_t *const *counted)
{
    double sum = 0.0;
    for (int i = 0; i < MEMBER_KIND_COUNT; i++) {
        uint32_t member = j->member[ORDER[i]];
        if (member == NONE) continue;
        double given = oticket(q, ORDER[i], member);
        sum += counted == NULL ? given : given / counted[ORDER[i]][member];
    }
    return sum + j->override_tickets;
}

void override_tickets_running(struct ticket_run *run)
{
    bool is_shared = run->q->rules->share_override_tickets;
    for (uint32_t i = 0; i < run->q->job_count; i++) {
        const struct ticket_job *j = &run->q->jobs[i];
        if (j->is_running) run->out[i].override = tickets_of(run->q, j, is_shared ? run->running : NULL);
    }
}

static bool job_key_of(const void *policy, const struct ticket_job *j, struct job_key *out)
{
    const struct override *o = policy;
    out->own = j->override_tickets;
    bool takes_part = out->own > 0.0;
    for (int k = 0; k < MEMBER_KIND_COUNT; k++) {
        bool gives = j->member[k] != NONE && o->givers[k][j->member[k]].tickets > 0.0;
        out->member[k] = gives ? j->member[k] : NONE;
        takes_part |= out->member[k] != NONE;
    }
    return takes_part;
}

static double next_share(const struct override *o, int kind, uint32_t member)
{
    if (member == NONE) return 0.0;
    const struct giver *g = &o->givers[kind][member];
    return g->tickets / (g->counted + 1);
}

static struct tournament_context moment_of(const void *policy, const struct job_key *set)
{
    struct tournament_context m = {.weight = 1.0, .pool = 1.0, .base = 1.0};
    for (int i = 1; i < MEMBER_KIND_COUNT; i++) m.common[i - 1] = next_share(policy, ORDER[i], set->member[ORDER[i]]);
    m.common[MEMBER_KIND_COUNT - 1] = set->own;
    return m;
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
        uint32_t count = run->q->member_count[k];
        o.givers[k] = arena_alloc(run->arena, count * sizeof *o.givers[k]);
        for (uint32_t i = 0; i < count; i++) {
            o.givers[k][i] = (struct giver){run->q->members[k][i].oticket, run->running[k][i]};
        }
    }
    struct ticket_selection_rules rules = {
        .policy = &o,
        .job_key_of = job_key_of,
        .moment_of = moment_of,
        .amount_of = amount_of,
        .is_divided = true,
        .place = run->id_place,
    };
    struct ticket_selection c = ticket_selection_make(run, ticket_run_order(run, is_dependent), &rules);
    double *given = arena_alloc(run->arena, c.job_count * sizeof *given); /* in line: near those who come next */
    for (uint32_t i = 0; i < c.job_count; i++) {
        double value;
        uint32_t group = ticket_selection_best(&c, &value);
        given[c.groups[group].next] = value;
        struct job_key s = ticket_selection_key(&c, group);
        for (int k = MEMBER_USER + 1; k < MEMBER_KIND_COUNT; k++) {
            if (s.member[k] != NONE) o.givers[k][s.member[k]].counted++;
        }
        ticket_selection_take(&c, group);
    }
    for (uint32_t i = 0; i < c.job_count; i++) run->out[c.jobs[i].job].override = given[i];
}

void override_tickets_pending(struct ticket_run *run, bool is_dependent)
{
    if (run->q->rules->share_override_tickets) {
        give_shared(run, is_dependent);
    }
    for (uint32_t i = 0; i < run->pending_count; i++) {
        uint32_t job = run->by_list[i];
        if (!run->q->rules->share_override_tickets) {
            run->out[job].override = tickets_of(run->q, &run->q->jobs[job], NULL);
        }
        if (is_dependent) run->held[job] += run->out[job].override;
    }
}
