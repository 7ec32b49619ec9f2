#include "policy/policy.h"

#include <string.h>

#include "base/ensure.h"
#include "base/text.h"

const char *const priority_model_names[MODEL_COUNT] = {
    [MODEL_MULTIFACTOR] = "priority/multifactor",
    [MODEL_TICKETS] = "priority/tickets",
    [MODEL_BASIC] = "priority/basic",
};

static struct share_options share_options_of(const struct settings *s, uint32_t flags)
{
    return (struct share_options){
        .algorithm = flags & FLAG_DEPTH_OBLIVIOUS ? ALGORITHM_DEPTH_OBLIVIOUS
                     : flags & FLAG_NO_FAIR_TREE  ? ALGORITHM_CLASSIC
                                                  : ALGORITHM_FAIR_TREE,
        .ties = (enum tie_rule)setting_number(s, SET_TIES),
        .dampening = (double)setting_number(s, SET_DAMPENING),
    };
}

static int make_multifactor(const struct settings *s, uint32_t flags, const struct tres_table *tres,
                            struct multifactor_rules *out_rules, struct err *e)
{
    *out_rules = (struct multifactor_rules){
        .weight_age = (double)setting_number(s, SET_WEIGHT_AGE),
        .weight_assoc = (double)setting_number(s, SET_WEIGHT_ASSOC),
        .weight_fair_share = (double)setting_number(s, SET_WEIGHT_FAIRSHARE),
        .weight_job_size = (double)setting_number(s, SET_WEIGHT_JOB_SIZE),
        .weight_partition = (double)setting_number(s, SET_WEIGHT_PARTITION),
        .weight_qos = (double)setting_number(s, SET_WEIGHT_QOS),
        .max_age_s = setting_number(s, SET_MAX_AGE),
        .favor_small = setting_number(s, SET_FAVOR_SMALL) != 0,
        .flags = flags,
    };
    struct str weights = str(setting_text(s, SET_WEIGHT_TRES));
    if (weights.length == 0) return 0;
    if (tres_weights_parse(tres, weights, settings_table[SET_WEIGHT_TRES].name, out_rules->weight_tres, e) != 0)
        return -1;
    for (uint32_t i = 0; i < tres->count; i++) {
        if (out_rules->weight_tres[i] < 0.0 || out_rules->weight_tres[i] > 0.0) out_rules->has_tres_weights = true;
    }
    return 0;
}

/* Grid Engine accepts a negative factor and then computes almost the same as with a tiny positive one. Its arithmetic
 * there is unknown (case h_02). */
static double compensation_factor_of(const struct settings *s)
{
    static const double TINY = 1e-100; /* so small that every node is above it: docs/formulas.md 5.3 */
    double factor = setting_real(s, SET_GE_COMPENSATION_FACTOR);
    return factor < 0.0 ? TINY : factor;
}

static int make_tickets(const struct settings *s, struct ticket_rules *out_rules, struct err *e)
{
    const char *field = settings_table[SET_GE_HALFLIFE_DECAY_LIST].name;
    *out_rules = (struct ticket_rules){
        .share_pool = (double)setting_number(s, SET_GE_TICKETS_SHARE),
        .functional_pool = (double)setting_number(s, SET_GE_TICKETS_FUNCTIONAL),
        .share_functional_shares = setting_number(s, SET_GE_SHARE_FUNCTIONAL_SHARES) != 0,
        .share_override_tickets = setting_number(s, SET_GE_SHARE_OVERRIDE_TICKETS) != 0,
        .max_functional_jobs = (uint32_t)setting_number(s, SET_GE_MAX_FUNCTIONAL_JOBS),
        .max_pending_tasks = (uint32_t)setting_number(s, SET_GE_MAX_PENDING_TASKS),
        .weight_user = setting_real(s, SET_GE_WEIGHT_USER),
        .weight_project = setting_real(s, SET_GE_WEIGHT_PROJECT),
        .weight_department = setting_real(s, SET_GE_WEIGHT_DEPARTMENT),
        .weight_job = setting_real(s, SET_GE_WEIGHT_JOB),
        .weight_job_class = setting_real(s, SET_GE_WEIGHT_JOB_CLASS),
        .compensation_factor = compensation_factor_of(s),
        .compensation_rule = (enum compensation_rule)setting_number(s, SET_GE_COMPENSATION_RULE),
        .charges_reserved = setting_number(s, SET_GE_SHARETREE_RESERVED_USAGE) != 0,
        .accounts_reserved = setting_number(s, SET_GE_ACCT_RESERVED_USAGE) != 0,
        .report_pending = setting_number(s, SET_GE_REPORT_PENDING_TICKETS) != 0,
        .decay = {.rule = (enum decay_rule)setting_number(s, SET_GE_DECAY_RULE)},
    };
    enum { MINUTE_S = 60 };
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++)
        out_rules->decay.minutes[r] = (double)setting_number(s, SET_GE_HALFTIME) / MINUTE_S;
    if (setting_text_halflife_list(str(setting_text(s, SET_GE_HALFLIFE_DECAY_LIST)), field, out_rules->decay.minutes,
                                   e) != 0)
        return -1;
    if (setting_text_usage_weights(str(setting_text(s, SET_GE_USAGE_WEIGHT_LIST)),
                                   settings_table[SET_GE_USAGE_WEIGHT_LIST].name, &out_rules->usage_weights, e) != 0)
        return -1;
    return setting_text_hierarchy(str(setting_text(s, SET_GE_POLICY_HIERARCHY)),
                                  settings_table[SET_GE_POLICY_HIERARCHY].name, out_rules->hierarchy, e);
}

static int make_urgency(const struct settings *s, struct urgency_rules *out_rules, struct err *e)
{
    *out_rules = (struct urgency_rules){
        .weight_ticket = setting_real(s, SET_GE_WEIGHT_TICKET),
        .weight_urgency = setting_real(s, SET_GE_WEIGHT_URGENCY),
        .weight_priority = setting_real(s, SET_GE_WEIGHT_PRIORITY),
        .weight_waiting_time = setting_real(s, SET_GE_WEIGHT_WAITING_TIME),
        .weight_deadline = setting_real(s, SET_GE_WEIGHT_DEADLINE),
        .posix_range = (enum posix_range)setting_number(s, SET_GE_POSIX_RANGE),
        .deadline_rule = (enum deadline_rule)setting_number(s, SET_GE_DEADLINE_RULE),
    };
    return setting_text_urgency_slots(str(setting_text(s, SET_GE_URGENCY_SLOTS)),
                                      settings_table[SET_GE_URGENCY_SLOTS].name, &out_rules->slots_rule,
                                      &out_rules->slots_number, e);
}

int policy_make(const struct settings *s, struct arena *arena, struct policy *out_policy, struct err *e)
{
    struct policy p = {.model = (enum priority_model)setting_number(s, SET_PRIORITY_TYPE),
                       .enforce_user = (enum enforce_user)setting_number(s, SET_GE_ENFORCE_USER)};
    uint32_t flags;
    struct str tracked = str(setting_text(s, SET_TRACKED_TRES));
    if (setting_text_priority_flags(str(setting_text(s, SET_PRIORITY_FLAGS)), settings_table[SET_PRIORITY_FLAGS].name,
                                    &flags, e) != 0)
        return -1;
    p.share = share_options_of(s, flags);
    p.billing = flags & FLAG_MAX_TRES_GRES ? BILLING_MAX_TRES_GRES
                : flags & FLAG_MAX_TRES    ? BILLING_MAX_TRES
                                           : BILLING_SUM;
    if (tres_table_make(&p.tres, tracked, settings_table[SET_TRACKED_TRES].name, arena, e) != 0) return -1;
    if (make_multifactor(s, flags, &p.tres, &p.multifactor, e) != 0) return -1;
    if (setting_text_enforce(str(setting_text(s, SET_ENFORCE)), settings_table[SET_ENFORCE].name, &p.enforce, e) != 0)
        return -1;
    if (make_tickets(s, &p.tickets, e) != 0 || make_urgency(s, &p.urgency, e) != 0) return -1;
    *out_policy = p;
    return 0;
}

/* Whether the list has the item. The comparison ignores case, as for names of types. */
static bool list_has(struct str list, struct str item)
{
    for (struct str rest = list; rest.text != NULL;) {
        if (str_equal_nocase(str_trim(str_cut(rest, ',', &rest)), item)) return true;
    }
    return false;
}

const char *policy_tracked_tres_append(const char *tracked, const char *wanted, struct arena *arena)
{
    struct buf all = {0};
    buf_add_text(&all, tracked);
    for (struct str rest = str(wanted); rest.text != NULL;) {
        struct str item = str_trim(str_cut(rest, ',', &rest));
        struct str so_far = {all.text, all.length};
        if (item.length == 0 || list_has(so_far, item)) continue;
        if (all.length > 0) buf_add_char(&all, ',');
        buf_add_str(&all, item);
    }
    const char *copy = arena_copy(arena, (struct str){all.text, all.length});
    buf_release(&all);
    return copy;
}
