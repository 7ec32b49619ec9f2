/* The functional policy: a pool F divided by the shares of a job's user, department, project, job class and its own, the
 * kinds weighed against each other.
 *
 *     tickets  =  sum over kinds k of  w_k share_k F / S_k          w: the weights over their sum
 *
 *     running:  share_k = fshare / running jobs of the member       S_k: sum over running jobs; w: of kinds with S_k > 0
 *     pending:  counted one by one as though they started, the best first; a member's first job adds its fshare to S_k.
 *               What a job would get, before it is counted:
 *                 share_k = fshare / (counted + 1)                  S_k + 0.001 in place of S_k
 *
 * That is with share_functional_shares. Without it share_k is the fshare itself, and each job adds it to S_k. A job's own
 * shares (-js) are added by each job either way.
 * Only max_functional_jobs are counted. The others get what they would have got as the next of their group in the last
 * round, which can be more.
 * Cost: O(n log n) to put n jobs in line, then ticket_selection.h. Source: docs/formulas.md 5.5. */
#include "base/ensure.h"
#include "policy/ticket_selection.h"

enum { OWN = MEMBER_KIND_COUNT, KIND_COUNT }; /* the kinds: members, then the job itself */

static const double NOT_ZERO = 0.001; /* added to S_k before anybody is counted */

struct functional {
    const struct ticket_input *q;
    double pool;
    double weight[KIND_COUNT];            /* as set; their sum need not be 1 */
    double sum[KIND_COUNT];               /* S_k */
    uint32_t *counted[MEMBER_KIND_COUNT]; /* by member: jobs running or counted */
};

static struct functional functional_of(const struct ticket_run *run)
{
    const struct ticket_rules *r = run->q->rules;
    return (struct functional){
        .q = run->q,
        .pool = r->functional_pool,
        .weight =
            {
                [MEMBER_USER] = r->weight_user,
                [MEMBER_DEPARTMENT] = r->weight_department,
                [MEMBER_PROJECT] = r->weight_project,
                [MEMBER_JOB_CLASS] = r->weight_job_class,
                [OWN] = r->weight_job,
            },
    };
}

/* Weights over their sum, those of kinds where counts is false as 0; false when nothing is left. */
static bool normalise(const struct functional *f, const bool counts[KIND_COUNT], double out_weight[KIND_COUNT])
{
    double total = 0.0;
    for (int k = 0; k < KIND_COUNT; k++) total += counts[k] ? f->weight[k] : 0.0;
    for (int k = 0; k < KIND_COUNT; k++) out_weight[k] = counts[k] && total > 0.0 ? f->weight[k] / total : 0.0;
    return total > 0.0;
}

/* The member's fshare; 0 for none. Job classes count only where they weigh. */
static double fshare(const struct functional *f, int kind, uint32_t member)
{
    if (member == NONE || (kind == MEMBER_JOB_CLASS && !(f->weight[kind] > 0.0))) return 0.0;
    return f->q->members[kind][member].fshare;
}

static double shared(const struct functional *f, int kind, uint32_t member, uint32_t among)
{
    double share = fshare(f, kind, member);
    return f->q->rules->share_functional_shares ? share / among : share;
}

static double running_share(const struct functional *f, int kind, const struct ticket_job *j)
{
    if (kind == OWN) return j->job_share;
    return j->member[kind] == NONE ? 0.0 : shared(f, kind, j->member[kind], f->counted[kind][j->member[kind]]);
}

static void sum_running(struct functional *f)
{
    for (uint32_t i = 0; i < f->q->job_count; i++) {
        if (!f->q->jobs[i].is_running) continue;
        for (int k = 0; k < KIND_COUNT; k++) f->sum[k] += running_share(f, k, &f->q->jobs[i]);
    }
}

void functional_tickets_running(struct ticket_run *run)
{
    struct functional f = functional_of(run);
    if (!(f.pool > 0.0)) return;
    for (int k = 0; k < MEMBER_KIND_COUNT; k++) f.counted[k] = run->running[k];
    sum_running(&f);
    bool counts[KIND_COUNT];
    double weight[KIND_COUNT];
    for (int k = 0; k < KIND_COUNT; k++) counts[k] = f.sum[k] > 0.0;
    if (!normalise(&f, counts, weight)) return;
    for (uint32_t i = 0; i < f.q->job_count; i++) {
        if (!f.q->jobs[i].is_running) continue;
        double tickets = 0.0;
        for (int k = 0; k < KIND_COUNT; k++) {
            if (counts[k]) tickets += weight[k] * running_share(&f, k, &f.q->jobs[i]) * f.pool / f.sum[k];
        }
        run->out[i].functional = tickets;
    }
}

static bool job_key_of(const void *policy, const struct ticket_job *j, struct job_key *out)
{
    const struct functional *f = policy;
    out->own = j->job_share;
    bool takes_part = out->own > 0.0;
    for (int k = 0; k < MEMBER_KIND_COUNT; k++) {
        out->member[k] = fshare(f, k, j->member[k]) > 0.0 ? j->member[k] : NONE;
        takes_part |= out->member[k] != NONE;
    }
    return takes_part;
}

/* What a job of that member would get of a kind as the next one. */
static double next_part(const struct functional *f, int kind, double share)
{
    double sum = f->sum[kind] + NOT_ZERO;
    if (kind == OWN || !f->q->rules->share_functional_shares) sum += share;
    return f->weight[kind] * share * f->pool / sum;
}

static double next_share(const struct functional *f, int kind, uint32_t member)
{
    return member == NONE ? 0.0 : shared(f, kind, member, f->counted[kind][member] + 1);
}

static struct tournament_context moment_of(const void *policy, const struct job_key *set)
{
    const struct functional *f = policy;
    struct tournament_context m = {
        .weight = f->weight[MEMBER_USER],
        .pool = f->pool,
        .base = f->sum[MEMBER_USER] + NOT_ZERO,
        .adds_own = !f->q->rules->share_functional_shares,
    };
    for (int k = MEMBER_USER + 1; k < MEMBER_KIND_COUNT; k++) {
        m.common[k - 1] = next_part(f, k, next_share(f, k, set->member[k]));
    }
    m.common[OWN - 1] = next_part(f, OWN, set->own);
    return m;
}

/* Users without a weight are all alike. */
static double amount_of(const void *policy, uint32_t user)
{
    const struct functional *f = policy;
    return f->weight[MEMBER_USER] > 0.0 ? fshare(f, MEMBER_USER, user) : 0.0;
}

/* Counts a job as running; what it gets. */
static double count_job(struct functional *f, const struct job_key *s)
{
    double tickets = 0.0;
    bool is_shared = f->q->rules->share_functional_shares;
    for (int k = 0; k < KIND_COUNT; k++) {
        double share = s->own;
        bool adds = true;
        if (k != OWN) {
            if (s->member[k] == NONE) continue;
            uint32_t counted = ++f->counted[k][s->member[k]];
            share = shared(f, k, s->member[k], counted);
            adds = !is_shared || counted == 1;
        }
        if (adds) f->sum[k] += share;
        if (f->sum[k] > 0.0) tickets += f->weight[k] * share * f->pool / f->sum[k];
    }
    return tickets;
}

/* What all still in line would get as the next of their groups; the one who is taken gets his own afterwards. */
static void give_rest(const struct ticket_selection *c, struct ticket_run *run)
{
    for (uint32_t i = 0; i < c->group_count; i++) {
        const struct ticket_selection_group *g = &c->groups[i];
        if (g->next == g->end) continue;
        double tickets = ticket_selection_value(c, i);
        for (uint32_t k = g->next; k < g->end; k++) run->out[c->jobs[k].job].functional = tickets;
    }
}

static void copy_counts(struct functional *f, const struct ticket_run *run)
{
    for (int k = 0; k < MEMBER_KIND_COUNT; k++) {
        uint32_t count = run->q->member_count[k];
        f->counted[k] = arena_alloc(run->arena, count * sizeof *f->counted[k]);
        for (uint32_t i = 0; i < count; i++) f->counted[k][i] = run->running[k][i];
    }
}

static void hold(struct ticket_run *run)
{
    for (uint32_t i = 0; i < run->pending_count; i++) {
        uint32_t job = run->by_list[i];
        run->held[job] += run->out[job].functional;
    }
}

void functional_tickets_pending(struct ticket_run *run, bool is_dependent)
{
    static const bool all[KIND_COUNT] = {true, true, true, true, true};
    struct functional f = functional_of(run);
    if (!(f.pool > 0.0) || !normalise(&f, all, f.weight)) return;
    copy_counts(&f, run);
    sum_running(&f);

    struct ticket_selection_rules rules = {
        .policy = &f,
        .job_key_of = job_key_of,
        .moment_of = moment_of,
        .amount_of = amount_of,
        .is_divided = run->q->rules->share_functional_shares,
        .held = is_dependent ? run->held : NULL,
        .place = run->age_place,
    };
    struct ticket_selection c = ticket_selection_make(run, ticket_run_order(run, is_dependent), &rules);
    uint32_t max = run->q->rules->max_functional_jobs;
    if (max > c.job_count) max = c.job_count;
    for (uint32_t i = 0; i < max; i++) {
        uint32_t group = ticket_selection_best(&c, NULL);
        if (i + 1 == max && max < c.job_count) give_rest(&c, run);
        struct job_key s = ticket_selection_key(&c, group);
        run->out[c.jobs[c.groups[group].next].job].functional = count_job(&f, &s);
        ticket_selection_take(&c, group);
    }
    if (is_dependent) hold(run);
}
