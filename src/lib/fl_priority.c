/* Multifactor priority of one job. Its TRES become a list by their positions, with weights and totals at the same
 * indices, because the sum of policy/ needs no names. */
#include "fields/setting_text.h"
#include "lib/fl_fault.h"
#include "lib/fl_tree.h"
#include "policy/multifactor.h"

_Static_assert(FL_TRES_MAX <= TRES_MAX, "a list fits in the rules");

static const double TOTAL_MIN = 1 / USAGE_AMOUNT_MAX; /* so that amount / total stays finite */

#define FLAGS_ALL (FL_FAVOR_SMALL * 2 - 1)

/* Weights up to here keep the sum of all terms, even of amounts up to USAGE_AMOUNT_MAX, in the range of a double. */
static bool is_weight(double weight, bool may_be_negative)
{
    return fl_is_amount(may_be_negative && weight < 0 ? -weight : weight, USAGE_AMOUNT_MAX);
}

static int check_rules(const struct fl_priority_rules *r, struct fl_fault *fault)
{
    const struct {
        const char *member;
        double weight;
    } weights[] = {
        {"rules.weight_age", r->weight_age},
        {"rules.weight_assoc", r->weight_assoc},
        {"rules.weight_fair_share", r->weight_fair_share},
        {"rules.weight_job_size", r->weight_job_size},
        {"rules.weight_partition", r->weight_partition},
        {"rules.weight_qos", r->weight_qos},
    };
    for (size_t i = 0; i < FL_COUNT_OF(weights); i++) {
        if (!is_weight(weights[i].weight, false)) return fl_fault_at(fault, FL_EAMOUNT, weights[i].member, 0);
    }
    if (!fl_is_time(r->max_age_s)) return fl_fault_at(fault, FL_ETIME, "rules.max_age_s", 0);
    if (r->flags > FLAGS_ALL) return fl_fault_at(fault, FL_EOPTION, "rules.flags", 0);
    if (!fl_is_zero(r->reserved, FL_COUNT_OF(r->reserved)))
        return fl_fault_at(fault, FL_ERESERVED, "rules.reserved", 0);
    return FL_OK;
}

static int check_job(const struct fl_priority_job *j, struct fl_fault *fault)
{
    if (!fl_is_time(j->accrue_us)) return fl_fault_at(fault, FL_ETIME, "job.accrue_us", 0);
    if (!fl_is_time(j->time_limit_s)) return fl_fault_at(fault, FL_ETIME, "job.time_limit_s", 0);
    if (!fl_is_amount(j->fair_share, 1.0)) return fl_fault_at(fault, FL_EAMOUNT, "job.fair_share", 0);
    if (j->tres_count > FL_TRES_MAX) return fl_fault_at(fault, FL_EFULL, "job.tres_count", 0);
    if (j->tres == NULL && j->tres_count > 0) return fl_fault_at(fault, FL_ENULL, "job.tres", 0);
    if (!fl_is_zero(j->reserved, FL_COUNT_OF(j->reserved))) return fl_fault_at(fault, FL_ERESERVED, "job.reserved", 0);
    for (uint32_t i = 0; i < j->tres_count; i++) {
        const struct fl_priority_tres *t = &j->tres[i];
        if (!fl_is_amount(t->amount, USAGE_AMOUNT_MAX)) return fl_fault_at(fault, FL_EAMOUNT, "job.tres.amount", i);
        if (!fl_is_amount(t->total, USAGE_AMOUNT_MAX) || (t->total > 0 && t->total < TOTAL_MIN))
            return fl_fault_at(fault, FL_EAMOUNT, "job.tres.total", i);
        if (!is_weight(t->weight, true)) return fl_fault_at(fault, FL_EAMOUNT, "job.tres.weight", i);
    }
    return FL_OK;
}

static uint32_t flags_of(uint32_t flags)
{
    return (flags & FL_NO_NORMAL_ASSOC ? FLAG_NO_NORMAL_ASSOC : 0u) |
           (flags & FL_NO_NORMAL_PARTITION ? FLAG_NO_NORMAL_PART : 0u) |
           (flags & FL_NO_NORMAL_QOS ? FLAG_NO_NORMAL_QOS : 0u) |
           (flags & FL_NO_NORMAL_TRES ? FLAG_NO_NORMAL_TRES : 0u) |
           (flags & FL_SMALL_RELATIVE_TO_TIME ? FLAG_SMALL_RELATIVE_TO_TIME : 0u);
}

static struct multifactor_rules rules_of(const struct fl_priority_rules *r)
{
    return (struct multifactor_rules){
        .weight_age = r->weight_age,
        .weight_assoc = r->weight_assoc,
        .weight_fair_share = r->weight_fair_share,
        .weight_job_size = r->weight_job_size,
        .weight_partition = r->weight_partition,
        .weight_qos = r->weight_qos,
        .max_age_s = r->max_age_s,
        .favor_small = r->flags & FL_FAVOR_SMALL,
        .flags = flags_of(r->flags),
    };
}

static struct multifactor_job job_of(const struct fl_priority_job *j)
{
    return (struct multifactor_job){
        .assoc_priority = j->assoc_priority,
        .qos_priority = j->qos_priority,
        .cpus = j->cpus,
        .nodes = j->nodes > 0 ? j->nodes : 1,
        .time_limit_s = j->time_limit_s > 0 ? j->time_limit_s : 0,
        .accrue_us = j->accrue_us,
        .nice = j->nice,
        .site = j->site,
        .fair_share = j->fair_share,
    };
}

static void fill_result(const struct multifactor_factors *f, const struct multifactor_terms *t, struct fl_priority *out)
{
    *out = (struct fl_priority){
        .age_factor = f->age,
        .assoc_factor = f->assoc,
        .fair_share_factor = f->fair_share,
        .job_size_factor = f->job_size,
        .partition_factor = f->partition,
        .qos_factor = f->qos,
        .age = t->age,
        .assoc = t->assoc,
        .fair_share = t->fair_share,
        .job_size = t->job_size,
        .partition = t->partition,
        .qos = t->qos,
        .tres = t->tres,
        .site = t->site,
        .nice = t->nice,
        .sum = t->sum,
        .priority = t->priority,
    };
}

int fl_job_priority(const struct fl_priority_rules *rules, const struct fl_priority_job *job, int64_t now_us,
                    struct fl_priority *out_priority, double *out_tres, struct fl_fault *fault)
{
    fl_fault_at(fault, FL_OK, NULL, 0);
    if (rules == NULL || job == NULL || out_priority == NULL)
        return fl_fault_at(fault, FL_ENULL, rules == NULL ? "rules" : job == NULL ? "job" : "out_priority", 0);
    if (!fl_is_time(now_us)) return fl_fault_at(fault, FL_ETIME, "now_us", 0);
    int result = check_rules(rules, fault);
    if (result == FL_OK) result = check_job(job, fault);
    if (result != FL_OK) return result;

    struct multifactor_rules r = rules_of(rules);
    struct multifactor_job j = job_of(job);
    struct tres_amount amounts[FL_TRES_MAX];
    double totals[FL_TRES_MAX];
    for (uint32_t i = 0; i < job->tres_count; i++) {
        amounts[i] = (struct tres_amount){.tres = i, .amount = job->tres[i].amount};
        totals[i] = job->tres[i].total;
        r.weight_tres[i] = job->tres[i].weight;
    }
    r.has_tres_weights = true;
    j.tres = (struct tres_list){.items = amounts, .count = job->tres_count};
    struct multifactor_partition partition = {.job_factor = job->job_factor, .max_time_s = -1, .totals = totals};
    struct multifactor_cluster c = {
        .now_us = now_us,
        .nodes = rules->nodes,
        .cpus = rules->cpus,
        .assoc_priority_max = rules->assoc_priority_max,
        .qos_priority_max = rules->qos_priority_max,
        .job_factor_max = rules->job_factor_max,
        .partitions = &partition,
    };
    struct multifactor_factors factors;
    struct multifactor_terms terms;
    multifactor_factors(&r, &c, &j, &factors);
    multifactor_terms(&r, &c, &j, &terms);
    for (uint32_t i = 0; out_tres != NULL && i < job->tres_count; i++)
        out_tres[i] = multifactor_tres_factor(&r, &c, &j, &amounts[i]) * r.weight_tres[i];
    fill_result(&factors, &terms, out_priority);
    return FL_OK;
}
