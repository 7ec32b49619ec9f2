/* The functional policy: a pool F is divided by the shares of a job's user, department, project and job class and by
 * its own shares, with a weight for each of these kinds.
 *
 *     tickets  =  sum over kinds k of  w_k share_k F / S_k          w: the weights over their sum
 *
 *     running:  share_k = fshare / running jobs of the member       S_k: sum over running jobs; w: where S_k > 0
 *     pending:  counted one after another as if they started, the best first; the first job of a member adds the
 *               member's fshare to S_k. Before a job is counted, its value is computed with
 *                 share_k = fshare / (counted + 1)                  S_k + 0.001 in place of S_k
 *
 * That is with share_functional_shares. Without it share_k is the fshare itself, and each job adds it to S_k. The own
 * shares of a job (-js) are added by each job in both cases.
 *
 * Only max_functional_jobs pending jobs are counted. The others get the value that they had as the next of their group
 * in the last round, which can be more. The policies after this one in policy_hierarchy depend on these values. One
 * exception: when counting ends, the next job of each group counts for those policies as a job without functional
 * tickets (case h_24).
 *
 * Cost: O(n log n) to group n jobs, then as in ticket_selection.h. Source: docs/formulas.md 5.5. */
#include "policy/functional_tickets.h"

#include "base/ensure.h"
#include "policy/ticket_selection.h"

enum { OWN = MEMBER_KIND_COUNT, KIND_COUNT }; /* the kinds: members, then the job itself */

static const double NOT_ZERO = 0.001; /* keeps S_k above 0 before any job is counted */

struct functional {
    const struct ticket_input *in;
    double pool;
    double weight[KIND_COUNT];            /* as set; their sum need not be 1 */
    double sum[KIND_COUNT];               /* S_k */
    uint32_t *counted[MEMBER_KIND_COUNT]; /* by member: jobs that run or were counted */
};

static struct functional functional_of(const struct ticket_run *run)
{
    const struct ticket_rules *r = run->in->rules;
    return (struct functional){
        .in = run->in,
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

/* The weights over their sum, 0 for kinds that do not count. False if all are 0. */
static bool normalise(const struct functional *f, const bool counts[KIND_COUNT], double out_weight[KIND_COUNT])
{
    double total = 0.0;
    for (int k = 0; k < KIND_COUNT; k++) total += counts[k] ? f->weight[k] : 0.0;
    for (int k = 0; k < KIND_COUNT; k++) out_weight[k] = counts[k] && total > 0.0 ? f->weight[k] / total : 0.0;
    return total > 0.0;
}

/* The member's fshare; 0 for NONE. Job classes count only if they have a weight. */
static double fshare(const struct functional *f, int kind, uint32_t member)
{
    if (member == NONE || (kind == MEMBER_JOB_CLASS && !(f->weight[kind] > 0.0))) return 0.0;
    return f->in->members[kind][member].fshare;
}

/* The share of each of a member's jobs, of which there are job_count. */
static double divided_share(const struct functional *f, int kind, uint32_t member, uint32_t job_count)
{
    double share = fshare(f, kind, member);
    return f->in->rules->share_functional_shares ? share / job_count : share;
}

static double running_share(const struct functional *f, int kind, const struct ticket_job *j)
{
    if (kind == OWN) return j->job_share;
    if (j->member[kind] == NONE) return 0.0;
    return divided_share(f, kind, j->member[kind], f->counted[kind][j->member[kind]]);
}

static void sum_running(struct functional *f)
{
    for (uint32_t i = 0; i < f->in->job_count; i++) {
        if (!f->in->jobs[i].is_running) continue;
        for (int k = 0; k < KIND_COUNT; k++) f->sum[k] += running_share(f, k, &f->in->jobs[i]);
    }
}

void functional_tickets_running(struct ticket_run *run)
{
    struct functional f = functional_of(run);
    if (!(f.pool > 0.0)) return;
    for (int k = 0; k < MEMBER_KIND_COUNT; k++) f.counted[k] = run->running_count[k];
    sum_running(&f);
    bool counts[KIND_COUNT];
    double weight[KIND_COUNT];
    for (int k = 0; k < KIND_COUNT; k++) counts[k] = f.sum[k] > 0.0;
    if (!normalise(&f, counts, weight)) return;
    for (uint32_t i = 0; i < f.in->job_count; i++) {
        if (!f.in->jobs[i].is_running) continue;
        double tickets = 0.0;
        for (int k = 0; k < KIND_COUNT; k++) {
            if (counts[k]) tickets += weight[k] * running_share(&f, k, &f.in->jobs[i]) * f.pool / f.sum[k];
        }
        run->tickets[i].functional = tickets;
    }
}

/* --- the value of a pending job ----------------------------------------------------------------------------------- */

static bool key_of(const void *policy, const struct ticket_job *j, struct job_key *out_key)
{
    const struct functional *f = policy;
    out_key->own = j->job_share;
    bool takes_part = out_key->own > 0.0;
    for (int k = 0; k < MEMBER_KIND_COUNT; k++) {
        out_key->member[k] = fshare(f, k, j->member[k]) > 0.0 ? j->member[k] : NONE;
        takes_part |= out_key->member[k] != NONE;
    }
    return takes_part;
}

/* The tickets that the next job with this share would get from a kind. */
static double next_part(const struct functional *f, int kind, double share)
{
    double sum = f->sum[kind] + NOT_ZERO;
    if (kind == OWN || !f->in->rules->share_functional_shares) sum += share;
    return f->weight[kind] * share * f->pool / sum;
}

static double next_share(const struct functional *f, int kind, uint32_t member)
{
    return member == NONE ? 0.0 : divided_share(f, kind, member, f->counted[kind][member] + 1);
}

static struct tournament_context context_of(const void *policy, const struct job_key *set)
{
    const struct functional *f = policy;
    struct tournament_context c = {
        .weight = f->weight[MEMBER_USER],
        .pool = f->pool,
        .base = f->sum[MEMBER_USER] + NOT_ZERO,
        .adds_share = !f->in->rules->share_functional_shares,
    };
    for (int k = MEMBER_USER + 1; k < MEMBER_KIND_COUNT; k++) {
        c.common[k - 1] = next_part(f, k, next_share(f, k, set->member[k]));
    }
    c.common[OWN - 1] = next_part(f, OWN, set->own);
    return c;
}

/* Without a weight for users, the user makes no difference. */
static double amount_of(const void *policy, uint32_t user)
{
    const struct functional *f = policy;
    return f->weight[MEMBER_USER] > 0.0 ? fshare(f, MEMBER_USER, user) : 0.0;
}

/* --- counting ----------------------------------------------------------------------------------------------------- */

/* Counts a job as running and returns its tickets. */
static double count_job(struct functional *f, const struct job_key *key)
{
    double tickets = 0.0;
    bool is_shared = f->in->rules->share_functional_shares;
    for (int k = 0; k < KIND_COUNT; k++) {
        double share = key->own;
        bool adds = true;
        if (k != OWN) {
            if (key->member[k] == NONE) continue;
            uint32_t counted = ++f->counted[k][key->member[k]];
            share = divided_share(f, k, key->member[k], counted);
            adds = !is_shared || counted == 1;
        }
        if (adds) f->sum[k] += share;
        if (f->sum[k] > 0.0) tickets += f->weight[k] * share * f->pool / f->sum[k];
    }
    return tickets;
}

/* Gives each job that is still in line the tickets that it would get as the next of its group. The job that is counted
 * next gets its own tickets afterwards. */
static void give_rest(const struct ticket_selection *s, struct ticket_run *run)
{
    for (uint32_t i = 0; i < s->group_count; i++) {
        const struct ticket_selection_group *g = &s->groups[i];
        if (g->next == g->end) continue;
        double tickets = ticket_selection_value(s, i);
        for (uint32_t k = g->next; k < g->end; k++) run->tickets[s->jobs[k].job].functional = tickets;
    }
}

/* Adds the functional tickets to the tickets so far, except those of the job of each group that would be counted
 * next. */
static void add_to_tickets_so_far(const struct ticket_selection *s, struct ticket_run *run)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < s->group_count; i++) {
        const struct ticket_selection_group *g = &s->groups[i];
        for (uint32_t k = first; k < g->end; k++) {
            uint32_t job = s->jobs[k].job;
            if (k != g->next) run->tickets_so_far[job] += run->tickets[job].functional;
        }
        first = g->end;
    }
}

static void copy_counts(struct functional *f, const struct ticket_run *run)
{
    for (int k = 0; k < MEMBER_KIND_COUNT; k++) {
        uint32_t count = run->in->member_count[k];
        f->counted[k] = arena_alloc(run->arena, count * sizeof *f->counted[k]);
        for (uint32_t i = 0; i < count; i++) f->counted[k][i] = run->running_count[k][i];
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
        .key_of = key_of,
        .context_of = context_of,
        .amount_of = amount_of,
        .is_divided = run->in->rules->share_functional_shares,
        .tickets_so_far = is_dependent ? run->tickets_so_far : NULL,
        .rank = run->age_position,
    };
    struct ticket_selection s = ticket_selection_make(run, ticket_run_order(run, is_dependent), &rules);
    uint32_t max = run->in->rules->max_functional_jobs;
    if (max > s.job_count) max = s.job_count;
    for (uint32_t i = 0; i < max; i++) {
        uint32_t group = ticket_selection_best(&s, NULL);
        if (i + 1 == max && max < s.job_count) give_rest(&s, run);
        struct job_key key = ticket_selection_key(&s, group);
        uint32_t job = s.jobs[s.groups[group].next].job;
        run->tickets[job].functional = count_job(&f, &key);
        if (run->counted != NULL) run->counted[job] = true;
        ticket_selection_take(&s, group);
    }
    if (is_dependent) add_to_tickets_so_far(&s, run);
}
