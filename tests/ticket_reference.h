/* A second implementation of tickets, written from the rules of docs/formulas.md 5 only. It is slow: every selection
 * scans all jobs. The fast policies must give the same tickets, bit for bit, so sums are computed in the same order.
 *
 *   Each policy computes running jobs first, then pending ones. Functional and shared override: repeatedly select and
 *   count the best of the first jobs of all groups. Share tree: each node sorts the jobs below it, and a job gets the
 *   node's target divided by 1 + the slots of the jobs before it.
 *
 * Compensation follows only the program's rule. */
#ifndef FAIRLEAD_TESTS_TICKET_REFERENCE_H
#define FAIRLEAD_TESTS_TICKET_REFERENCE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policy/tickets.h"

enum { REFERENCE_JOBS = 400, REFERENCE_NODES = 200, REFERENCE_MEMBERS = 200, REFERENCE_KINDS = MEMBER_KIND_COUNT + 1 };

struct reference {
    const struct ticket_input *in;
    struct tickets *out;
    double tickets_so_far[REFERENCE_JOBS];
    uint32_t counted[MEMBER_KIND_COUNT][REFERENCE_MEMBERS];
    double sum[REFERENCE_KINDS], weight[REFERENCE_KINDS];
    uint32_t line[REFERENCE_JOBS]; /* pending jobs; those of a group are selected in this order */
    uint32_t line_count;
    bool is_selected[REFERENCE_JOBS];
    bool is_left_out[REFERENCE_JOBS]; /* the next policies count no functional tickets of it */
    double trial[REFERENCE_JOBS];     /* the tickets that a job would have got in the last step that computed them */

    uint32_t active[REFERENCE_NODES];
    double shr[REFERENCE_NODES], ltt[REFERENCE_NODES], oltt[REFERENCE_NODES], stt[REFERENCE_NODES],
        ostt[REFERENCE_NODES], usage[REFERENCE_NODES];
    double value[REFERENCE_JOBS], part[REFERENCE_JOBS];
};

static inline const struct ticket_job *reference_job(const struct reference *r, uint32_t job)
{
    return &r->in->jobs[job];
}

/* --- members ------------------------------------------------------------------------------------------------------ */

static inline double reference_fshare(const struct reference *r, int kind, const struct ticket_job *j)
{
    if (kind == MEMBER_KIND_COUNT) return j->job_share;
    if (j->member[kind] == NONE) return 0;
    if (kind == MEMBER_JOB_CLASS && r->in->rules->weight_job_class == 0) return 0;
    return r->in->members[kind][j->member[kind]].fshare;
}

static inline double reference_oticket(const struct reference *r, int kind, const struct ticket_job *j)
{
    if (kind == MEMBER_KIND_COUNT) return j->override_tickets;
    return j->member[kind] == NONE ? 0 : r->in->members[kind][j->member[kind]].oticket;
}

typedef double reference_share_of(const struct reference *r, int kind, const struct ticket_job *j);

static inline bool reference_has_shares(const struct reference *r, uint32_t job, reference_share_of *share_of)
{
    for (int k = 0; k < REFERENCE_KINDS; k++) {
        if (share_of(r, k, reference_job(r, job)) > 0) return true;
    }
    return false;
}

static inline bool reference_same_group(const struct reference *r, uint32_t a, uint32_t b, reference_share_of *share_of)
{
    const struct ticket_job *x = reference_job(r, a), *y = reference_job(r, b);
    for (int k = 0; k < MEMBER_KIND_COUNT; k++) {
        uint32_t of_x = share_of(r, k, x) > 0 ? x->member[k] : NONE;
        uint32_t of_y = share_of(r, k, y) > 0 ? y->member[k] : NONE;
        if (of_x != of_y) return false;
    }
    return share_of(r, MEMBER_KIND_COUNT, x) == share_of(r, MEMBER_KIND_COUNT, y);
}

static inline void reference_count(struct reference *r, const struct ticket_job *j)
{
    for (int k = 0; k < MEMBER_KIND_COUNT; k++) {
        if (j->member[k] != NONE) r->counted[k][j->member[k]]++;
    }
}

static inline void reference_count_running(struct reference *r)
{
    memset(r->counted, 0, sizeof r->counted);
    for (uint32_t i = 0; i < r->in->job_count; i++) {
        if (reference_job(r, i)->is_running) reference_count(r, reference_job(r, i));
    }
}

static inline bool reference_is_younger(const struct ticket_job *a, const struct ticket_job *b, bool by_age)
{
    if (by_age && a->submit_us != b->submit_us) return a->submit_us > b->submit_us;
    if (a->id != b->id) return a->id > b->id;
    return a->task > b->task;
}

static inline uint32_t reference_pending_count(const struct reference *r)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->in->job_count; i++) count += !reference_job(r, i)->is_running;
    return count;
}

/* The pending job at a position of the scheduler's list. */
static inline uint32_t reference_listed(const struct reference *r, uint32_t position)
{
    if (r->in->list != NULL) return r->in->list[position];
    for (uint32_t i = 0;; i++) {
        if (!reference_job(r, i)->is_running && position-- == 0) return i;
    }
}

/* Insertion sort: each job is inserted after all jobs that precede it. */
static inline void reference_sort_line(struct reference *r, bool is_dependent)
{
    r->line_count = 0;
    for (uint32_t i = 0; i < r->in->job_count; i++) r->is_selected[i] = r->is_left_out[i] = false;
    for (uint32_t k = 0; k < reference_pending_count(r); k++) {
        uint32_t i = reference_listed(r, k);
        uint32_t position = r->line_count++;
        for (; position > 0 && is_dependent; position--) {
            uint32_t before = r->line[position - 1];
            bool is_after = r->tickets_so_far[before] > r->tickets_so_far[i] ||
                            (r->tickets_so_far[before] == r->tickets_so_far[i] &&
                             !reference_is_younger(reference_job(r, before), reference_job(r, i), true));
            if (is_after) break;
            r->line[position] = before;
        }
        r->line[position] = i;
    }
}

/* Whether the job at this position is the first of its group that has not been selected. */
static inline bool reference_is_first(const struct reference *r, uint32_t position, reference_share_of *share_of)
{
    for (uint32_t i = 0; i < position; i++) {
        if (!r->is_selected[r->line[i]] && reference_same_group(r, r->line[i], r->line[position], share_of))
            return false;
    }
    return true;
}

/* --- functional --------------------------------------------------------------------------------------------------- */

static inline double reference_divided(const struct reference *r, int kind, const struct ticket_job *j, uint32_t more)
{
    double share = reference_fshare(r, kind, j);
    if (kind == MEMBER_KIND_COUNT || j->member[kind] == NONE || !r->in->rules->share_functional_shares) return share;
    return share / (r->counted[kind][j->member[kind]] + more);
}

static inline void reference_functional_running(struct reference *r)
{
    const struct ticket_rules *rules = r->in->rules;
    double all = 0;
    for (int k = 0; k < REFERENCE_KINDS; k++) {
        r->sum[k] = 0;
        for (uint32_t i = 0; i < r->in->job_count; i++) {
            if (reference_job(r, i)->is_running) r->sum[k] += reference_divided(r, k, reference_job(r, i), 0);
        }
        if (r->sum[k] > 0) all += r->weight[k];
    }
    for (uint32_t i = 0; i < r->in->job_count; i++) {
        if (!reference_job(r, i)->is_running || all == 0) continue;
        for (int k = 0; k < REFERENCE_KINDS; k++) {
            if (r->sum[k] > 0) {
                r->out[i].functional += r->weight[k] / all * reference_divided(r, k, reference_job(r, i), 0) *
                                        rules->functional_pool / r->sum[k];
            }
        }
    }
}

static inline double reference_try(const struct reference *r, const struct ticket_job *j)
{
    double tickets = 0;
    for (int k = 0; k < REFERENCE_KINDS; k++) {
        double share = reference_divided(r, k, j, 1), sum = r->sum[k] + 0.001;
        if (k == MEMBER_KIND_COUNT || !r->in->rules->share_functional_shares) sum += share;
        tickets += r->weight[k] * share * r->in->rules->functional_pool / sum;
    }
    return tickets;
}

static inline double reference_start(struct reference *r, const struct ticket_job *j)
{
    double tickets = 0;
    reference_count(r, j);
    for (int k = 0; k < REFERENCE_KINDS; k++) {
        double share = reference_divided(r, k, j, 0);
        bool is_member = k < MEMBER_KIND_COUNT;
        if (is_member && j->member[k] == NONE) continue;
        if (!is_member || !r->in->rules->share_functional_shares || r->counted[k][j->member[k]] == 1)
            r->sum[k] += share;
        if (r->sum[k] > 0) tickets += r->weight[k] * share * r->in->rules->functional_pool / r->sum[k];
    }
    return tickets;
}

/* The position of the best job in line. Computes trial for all jobs in line. */
static inline uint32_t reference_best_functional(struct reference *r, bool is_dependent)
{
    uint32_t best = NONE;
    double best_value = 0;
    for (uint32_t position = 0; position < r->line_count; position++) {
        uint32_t job = r->line[position];
        if (r->is_selected[job] || !reference_has_shares(r, job, reference_fshare)) continue;
        r->trial[job] = reference_try(r, reference_job(r, job));
        if (!reference_is_first(r, position, reference_fshare)) continue;
        double value = r->trial[job] + (is_dependent ? r->tickets_so_far[job] : 0);
        bool is_better =
            best == NONE || value > best_value ||
            (value == best_value && reference_is_younger(reference_job(r, r->line[best]), reference_job(r, job), true));
        if (!is_better) continue;
        best = position;
        best_value = value;
    }
    return best;
}

static inline void reference_functional_pending(struct reference *r, bool is_dependent)
{
    double all = 0;
    for (int k = 0; k < REFERENCE_KINDS; k++) all += r->weight[k];
    if (all == 0) return;
    for (int k = 0; k < REFERENCE_KINDS; k++) r->weight[k] /= all;
    reference_sort_line(r, is_dependent);
    for (uint32_t n = 0; n < r->in->rules->max_functional_jobs; n++) {
        uint32_t best = reference_best_functional(r, is_dependent);
        if (best == NONE) break;
        for (uint32_t position = 0; position < r->line_count; position++) {
            if (!r->is_selected[r->line[position]]) r->out[r->line[position]].functional = r->trial[r->line[position]];
        }
        uint32_t job = r->line[best];
        r->is_selected[job] = true;
        r->out[job].functional = reference_start(r, reference_job(r, job));
    }
    for (uint32_t position = 0; position < r->line_count; position++) {
        uint32_t job = r->line[position];
        r->is_left_out[job] = !r->is_selected[job] && reference_is_first(r, position, reference_fshare);
    }
}

static inline void reference_functional(struct reference *r, bool is_dependent)
{
    const struct ticket_rules *rules = r->in->rules;
    if (rules->functional_pool == 0) return;
    double weights[REFERENCE_KINDS] = {rules->weight_user, rules->weight_department, rules->weight_project,
                                       rules->weight_job_class, rules->weight_job};
    memcpy(r->weight, weights, sizeof weights);
    memset(r->trial, 0, sizeof r->trial);
    reference_count_running(r);
    reference_functional_running(r);
    reference_functional_pending(r, is_dependent);
}

/* --- override ----------------------------------------------------------------------------------------------------- */

static inline double reference_given(const struct reference *r, const struct ticket_job *j, uint32_t more)
{
    static const int ORDER[] = {MEMBER_USER, MEMBER_PROJECT, MEMBER_DEPARTMENT, MEMBER_JOB_CLASS};
    double sum = 0;
    for (int i = 0; i < MEMBER_KIND_COUNT; i++) {
        int k = ORDER[i];
        if (j->member[k] == NONE) continue;
        double given = reference_oticket(r, k, j);
        sum += r->in->rules->share_override_tickets ? given / (r->counted[k][j->member[k]] + more) : given;
    }
    return sum + j->override_tickets;
}

static inline uint32_t reference_best_override(const struct reference *r)
{
    uint32_t best = NONE;
    double best_value = 0;
    for (uint32_t position = 0; position < r->line_count; position++) {
        uint32_t job = r->line[position];
        if (r->is_selected[job] || !reference_has_shares(r, job, reference_oticket)) continue;
        if (!reference_is_first(r, position, reference_oticket)) continue;
        double value = reference_given(r, reference_job(r, job), 1);
        bool is_better = best == NONE || value > best_value ||
                         (value == best_value &&
                          reference_is_younger(reference_job(r, r->line[best]), reference_job(r, job), false));
        if (!is_better) continue;
        best = position;
        best_value = value;
    }
    return best;
}

static inline void reference_override(struct reference *r, bool is_dependent)
{
    reference_count_running(r);
    for (uint32_t i = 0; i < r->in->job_count; i++) {
        const struct ticket_job *j = reference_job(r, i);
        if (j->is_running || !r->in->rules->share_override_tickets) r->out[i].override = reference_given(r, j, 0);
    }
    if (!r->in->rules->share_override_tickets) return;
    reference_sort_line(r, is_dependent);
    for (uint32_t best; (best = reference_best_override(r)) != NONE;) {
        uint32_t job = r->line[best];
        r->out[job].override = reference_given(r, reference_job(r, job), 1);
        r->is_selected[job] = true;
        reference_count(r, reference_job(r, job));
    }
}

/* --- share tree --------------------------------------------------------------------------------------------------- */

static inline void reference_weigh(struct reference *r, uint32_t parent)
{
    double sum = 0;
    for (uint32_t i = 1; i < r->in->node_count; i++) {
        if (r->in->nodes[i].parent == parent && r->active[i] > 0) sum += r->shr[i];
    }
    for (uint32_t i = 1; i < r->in->node_count; i++) {
        if (r->in->nodes[i].parent != parent || r->active[i] == 0) continue;
        r->stt[i] = sum > 0 ? r->shr[i] / sum : 0;
        r->ostt[i] = r->ostt[parent] * r->stt[i];
    }
}

static inline void reference_targets_below(struct reference *r, uint32_t parent)
{
    const struct ticket_input *in = r->in;
    double all = 0, factor = in->rules->compensation_factor;
    for (uint32_t i = 1; i < in->node_count; i++) {
        if (in->nodes[i].parent == parent && r->active[i] > 0) all += in->nodes[i].shares;
    }
    for (uint32_t i = 1; i < in->node_count; i++) {
        if (in->nodes[i].parent != parent || r->active[i] == 0) continue;
        double shares = in->nodes[i].shares;
        r->ltt[i] = all > 0 ? shares / all : 0;
        r->oltt[i] = r->oltt[parent] * r->ltt[i];
        r->shr[i] = r->oltt[i] > 0 ? shares * shares / fmax(r->usage[i], r->oltt[i]) : 0;
    }
    reference_weigh(r, parent);
    bool is_any = false;
    for (uint32_t i = 1; i < in->node_count && factor > 0; i++) {
        if (in->nodes[i].parent != parent || r->active[i] == 0 || r->ostt[i] <= factor * r->oltt[i]) continue;
        double shares = in->nodes[i].shares, above = r->ostt[i] / (factor * r->oltt[i]);
        r->shr[i] = shares * shares / (fmax(r->usage[i], r->oltt[i]) * above);
        is_any = true;
    }
    if (is_any) reference_weigh(r, parent);
    for (uint32_t i = 1; i < in->node_count; i++) {
        if (in->nodes[i].parent == parent && r->active[i] > 0) reference_targets_below(r, i);
    }
}

/* A group's usage is the sum over the nodes below it, active or not. */
static inline void reference_sum_usage(struct reference *r)
{
    const struct ticket_node *nodes = r->in->nodes;
    for (uint32_t i = 0; i < r->in->node_count; i++) r->usage[i] = nodes[i].is_group ? 0 : nodes[i].usage;
    for (uint32_t i = r->in->node_count; i-- > 1;) {
        if (nodes[nodes[i].parent].is_group) r->usage[nodes[i].parent] += r->usage[i];
    }
}

static inline void reference_targets(struct reference *r, bool only_running)
{
    memset(r->active, 0, sizeof r->active);
    for (uint32_t i = 0; i < r->in->job_count; i++) {
        if (only_running && !reference_job(r, i)->is_running) continue;
        for (uint32_t n = reference_job(r, i)->node; n != NONE; n = r->in->nodes[n].parent) r->active[n]++;
    }
    reference_sum_usage(r);
    r->ltt[0] = r->oltt[0] = r->stt[0] = r->ostt[0] = 1;
    reference_targets_below(r, 0);
}

static inline void reference_share_running(struct reference *r)
{
    double pool = r->in->rules->share_pool;
    reference_targets(r, true);
    for (uint32_t i = 0; i < r->in->job_count; i++) {
        const struct ticket_job *j = reference_job(r, i);
        if (!j->is_running || j->node == NONE) continue;
        uint32_t on_leaf = 0;
        double shares = 0;
        for (uint32_t k = 0; k < r->in->job_count; k++) {
            if (!reference_job(r, k)->is_running || reference_job(r, k)->node != j->node) continue;
            on_leaf++;
            shares += reference_job(r, k)->job_share;
        }
        r->out[i].share =
            shares > 0 ? floor(j->job_share * r->ostt[j->node] * pool / shares) : r->ostt[j->node] * pool / on_leaf;
    }
}

static inline bool reference_is_below(const struct reference *r, uint32_t job, uint32_t node)
{
    for (uint32_t n = reference_job(r, job)->node; n != NONE; n = r->in->nodes[n].parent) {
        if (n == node) return true;
    }
    return false;
}

/* Whether a precedes b in the order of a node. */
static inline bool reference_is_before(const struct reference *r, uint32_t a, uint32_t b)
{
    const struct ticket_job *x = reference_job(r, a), *y = reference_job(r, b);
    if (x->is_running != y->is_running) return x->is_running;
    if (!x->is_running && r->value[a] != r->value[b]) return r->value[a] > r->value[b];
    return reference_is_younger(y, x, false) || (!reference_is_younger(x, y, false) && a < b);
}

static inline void reference_divide(struct reference *r, uint32_t node, bool is_dependent)
{
    uint32_t order[REFERENCE_JOBS], count = 0;
    for (uint32_t i = 0; i < r->in->job_count; i++) {
        if (!reference_is_below(r, i, node)) continue;
        uint32_t position = count++;
        for (; position > 0 && reference_is_before(r, i, order[position - 1]); position--)
            order[position] = order[position - 1];
        order[position] = i;
    }
    double divisor = 1;
    for (uint32_t k = 0; k < count; k++) {
        r->part[order[k]] = r->stt[node] / divisor;
        divisor += reference_job(r, order[k])->slots;
    }
    for (uint32_t k = 0; k < count; k++) {
        r->value[order[k]] =
            (is_dependent ? r->tickets_so_far[order[k]] : 0) + r->part[order[k]] * r->in->rules->share_pool;
    }
}

static inline void reference_divide_below(struct reference *r, uint32_t node, bool is_dependent)
{
    for (uint32_t i = 1; i < r->in->node_count; i++) {
        if (r->in->nodes[i].parent == node && r->active[i] > 0) reference_divide_below(r, i, is_dependent);
    }
    reference_divide(r, node, is_dependent);
}

static inline uint32_t reference_own_jobs(const struct reference *r, uint32_t node)
{
    uint32_t own = 0;
    for (uint32_t i = 0; i < r->in->job_count; i++) own += reference_job(r, i)->node == node;
    return own;
}

static inline void reference_share(struct reference *r, bool is_dependent)
{
    if (r->in->rules->share_pool == 0 || r->in->node_count == 0) return;
    reference_share_running(r);
    reference_targets(r, false);
    for (uint32_t i = 0; i < r->in->job_count; i++) {
        const struct ticket_job *j = reference_job(r, i);
        r->value[i] = is_dependent ? r->tickets_so_far[i] + 0.01 * j->job_share : j->job_share;
        r->part[i] = 0;
    }
    uint32_t top = 0;
    for (;;) {
        uint32_t child_count = 0, child = 0;
        for (uint32_t i = 1; i < r->in->node_count; i++) {
            if (r->in->nodes[i].parent != top || r->active[i] == 0) continue;
            child_count++;
            child = i;
        }
        if (child_count != 1 || reference_own_jobs(r, top) > 0) break;
        top = child;
    }
    for (uint32_t i = 1; i < r->in->node_count; i++) {
        if (r->in->nodes[i].parent == top && r->active[i] > 0) reference_divide_below(r, i, is_dependent);
    }
    if (reference_own_jobs(r, top) > 0) reference_divide(r, top, is_dependent);
    for (uint32_t i = 0; i < r->in->job_count; i++) {
        if (!reference_job(r, i)->is_running) r->out[i].share = r->part[i] * r->in->rules->share_pool;
    }
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

static inline void reference_tickets(const struct ticket_input *in, struct tickets *out)
{
    struct reference *r = calloc(1, sizeof *r);
    r->in = in;
    r->out = out;
    memset(out, 0, in->job_count * sizeof *out);
    char order[8] = {0};
    size_t listed = strlen(in->rules->hierarchy), count = listed;
    memcpy(order, in->rules->hierarchy, listed);
    for (const char *policy = "OFS"; *policy != '\0'; policy++) {
        if (strchr(in->rules->hierarchy, *policy) == NULL) order[count++] = *policy;
    }
    for (size_t position = 0; order[position] != '\0'; position++) {
        bool is_dependent = position < listed;
        if (order[position] == 'O') reference_override(r, is_dependent);
        if (order[position] == 'F') reference_functional(r, is_dependent);
        if (order[position] == 'S') reference_share(r, is_dependent);
        for (uint32_t i = 0; i < in->job_count; i++) {
            if (!is_dependent || in->jobs[i].is_running) continue;
            r->tickets_so_far[i] += order[position] == 'O'   ? out[i].override
                                    : order[position] == 'F' ? (r->is_left_out[i] ? 0 : out[i].functional)
                                                             : out[i].share;
        }
    }
    for (uint32_t i = 0; i < in->job_count; i++) out[i].total = out[i].share + out[i].functional + out[i].override;
    free(r);
}

#endif
