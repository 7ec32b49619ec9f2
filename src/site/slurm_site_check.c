/* What settings and partitions mean together. Each rule is a function, in the order of the table at the end. */
#include <math.h>

#include "fields/objects.h"
#include "fields/setting_text.h"
#include "policy/policy.h"
#include "site/slurm_site.h"

#define PRIORITY_MAX 4294967295.0
#define TIE_BREAK 1000.0 /* a weight of less than this part of the largest one decides only between equals */

static const struct {
    enum setting setting;
    const char *factor;
} weights[] = {
    {SET_WEIGHT_AGE, "age"},           {SET_WEIGHT_ASSOC, "association"},   {SET_WEIGHT_FAIRSHARE, "fair share"},
    {SET_WEIGHT_JOB_SIZE, "job size"}, {SET_WEIGHT_PARTITION, "partition"}, {SET_WEIGHT_QOS, "QOS"},
};
enum { WEIGHT_COUNT = sizeof weights / sizeof *weights };

static double number_of(const struct slurm_site *s, enum setting setting)
{
    return (double)s->settings.value[setting].number;
}

static uint32_t flags_of(const struct slurm_site *s)
{
    uint32_t flags = 0;
    (void)setting_text_priority_flags(str(s->settings.value[SET_PRIORITY_FLAGS].text), "", &flags, NULL);
    return flags;
}

static uint32_t enforce_of(const struct slurm_site *s)
{
    uint32_t flags = 0;
    (void)setting_text_enforce(str(s->settings.value[SET_ENFORCE].text), "", &flags, NULL);
    return flags;
}

static bool is_multifactor(const struct slurm_site *s)
{
    return s->settings.value[SET_PRIORITY_TYPE].number == MODEL_MULTIFACTOR;
}

/* Whether the file sets the setting, to an accepted value. */
static bool has(const struct slurm_site *s, enum setting setting)
{
    return s->pair[setting] != NULL && s->is_valid[setting];
}

/* The largest weight, or 0. */
static double weight_max(const struct slurm_site *s)
{
    double max = 0.0;
    for (int i = 0; i < WEIGHT_COUNT; i++) max = fmax(max, number_of(s, weights[i].setting));
    return max;
}

static void no_effect(const struct slurm_site *s, struct findings *f, enum setting setting, const char *reason,
                      const char *advice)
{
    const struct conf_pair *pair = s->pair[setting];
    if (pair == NULL) return;
    findings_add(f, finding_at(FINDING_WARNING, pair), reason, advice, "%.*s=%.*s has no effect",
                 (int)pair->name.length, pair->name.text, (int)pair->value.length, pair->value.text);
}

/* --- the model ---------------------------------------------------------------------------------------------------- */

static void check_model(const struct slurm_site *s, struct findings *f)
{
    if (is_multifactor(s)) return;
    for (int i = 0; i < WEIGHT_COUNT; i++) {
        if (number_of(s, weights[i].setting) > 0)
            no_effect(s, f, weights[i].setting,
                      s->pair[SET_PRIORITY_TYPE] == NULL
                          ? "without PriorityType, versions before 23.11 take priority/basic: first come, first served"
                          : "PriorityType is not priority/multifactor",
                      "write PriorityType=priority/multifactor");
    }
}

static void check_model_unset(const struct slurm_site *s, struct findings *f)
{
    if (s->pair[SET_PRIORITY_TYPE] != NULL || weight_max(s) > 0.0 || s->pairs->items.count == 0) return;
    findings_add(
        f, finding_at(FINDING_NOTE, &s->pairs->items.items[0]),
        "versions before 23.11 take priority/basic then, and newer ones weigh nothing: first come, first served",
        "write PriorityType=priority/multifactor and PriorityWeightFairshare=N for fair shares",
        "PriorityType is not set, and no weight is");
}

static void check_fair_share(const struct slurm_site *s, struct findings *f)
{
    if (!is_multifactor(s)) return;
    const struct conf_pair *storage = conf_pairs_find(s->pairs, "AccountingStorageType");
    bool has_database = storage != NULL && str_equal_nocase(storage->value, str("accounting_storage/slurmdbd"));
    if (number_of(s, SET_WEIGHT_FAIRSHARE) > 0) {
        if (!has_database)
            no_effect(s, f, SET_WEIGHT_FAIRSHARE, "without slurmdbd Slurm knows no shares, and takes 0 for this weight",
                      "write AccountingStorageType=accounting_storage/slurmdbd");
        return;
    }
    const struct conf_pair *at =
        s->pair[SET_WEIGHT_FAIRSHARE] != NULL ? s->pair[SET_WEIGHT_FAIRSHARE] : s->pair[SET_PRIORITY_TYPE];
    if (at == NULL) return;
    findings_add(f, finding_at(FINDING_WARNING, at), "usage and shares then change no priority",
                 "write PriorityWeightFairshare=N, above the weights that it shall outvote",
                 "the weight of fair share is 0");
}

/* --- weights ------------------------------------------------------------------------------------------------------ */

static void check_overflow(const struct slurm_site *s, struct findings *f)
{
    double sum = 0.0;
    const struct conf_pair *last = NULL;
    for (int i = 0; i < WEIGHT_COUNT; i++) {
        if (!has(s, weights[i].setting)) continue;
        sum += number_of(s, weights[i].setting);
        if (last == NULL || number_of(s, weights[i].setting) == weight_max(s)) last = s->pair[weights[i].setting];
    }
    if (last == NULL || sum <= PRIORITY_MAX) return;
    findings_add(f, finding_at(FINDING_WARNING, last), "the largest priority is 4294967295: jobs beyond it are equal",
                 "divide all weights by the same number", "the weights add up to %.0f", sum);
}

static void check_small_weights(const struct slurm_site *s, struct findings *f)
{
    double max = weight_max(s);
    if (!is_multifactor(s)) return;
    for (int i = 0; i < WEIGHT_COUNT; i++) {
        double weight = number_of(s, weights[i].setting);
        if (!has(s, weights[i].setting) || weight == 0.0 || weight * TIE_BREAK > max) continue;
        findings_add(
            f, finding_at(FINDING_NOTE, s->pair[weights[i].setting]),
            "it decides only between jobs that are equal in all else", "leave it if that is meant; otherwise raise it",
            "the whole factor of %s weighs %.4g %% of the largest weight", weights[i].factor, 100.0 * weight / max);
    }
}

static void check_partition_weight(const struct slurm_site *s, struct findings *f)
{
    if (!is_multifactor(s) || number_of(s, SET_WEIGHT_PARTITION) <= 0 || s->partitions.count == 0) return;
    struct str first = {0};
    for (uint32_t i = 0; i < s->partitions.count; i++) {
        const struct conf_pair *factor = s->partitions.items[i].job_factor;
        struct str value = factor != NULL ? factor->value : str("1");
        if (i > 0 && !str_equal(value, first)) return;
        first = value;
    }
    no_effect(s, f, SET_WEIGHT_PARTITION,
              s->partitions.count == 1
                  ? "there is one partition, so that it adds the same to every job"
                  : "all partitions have the same PriorityJobFactor, so that it adds the same to every job",
              "write PriorityJobFactor=N on the lines PartitionName, or PriorityWeightPartition=0");
}

static void check_qos_weight(const struct slurm_site *s, struct findings *f)
{
    if (!is_multifactor(s) || number_of(s, SET_WEIGHT_QOS) <= 0 || (enforce_of(s) & ENFORCE_QOS) != 0) return;
    findings_add(f, finding_at(FINDING_NOTE, s->pair[SET_WEIGHT_QOS]),
                 "without qos in AccountingStorageEnforce each user may take any QOS, and its priority with it",
                 "write AccountingStorageEnforce=limits,qos", "QOS decide about priorities and are not enforced");
}

static void check_age(const struct slurm_site *s, struct findings *f)
{
    if (!is_multifactor(s)) return;
    if (number_of(s, SET_WEIGHT_AGE) == 0)
        no_effect(s, f, SET_MAX_AGE, "PriorityWeightAge is 0", "leave it out, or set PriorityWeightAge");
    if (has(s, SET_MAX_AGE) && number_of(s, SET_MAX_AGE) == 0 && number_of(s, SET_WEIGHT_AGE) > 0)
        findings_add(f, finding_at(FINDING_WARNING, s->pair[SET_MAX_AGE]),
                     "the age of every job then counts in full at once", "write PriorityMaxAge=7-0",
                     "PriorityMaxAge=0 switches age off");
}

static void check_size(const struct slurm_site *s, struct findings *f)
{
    if (!is_multifactor(s) || number_of(s, SET_WEIGHT_JOB_SIZE) > 0) return;
    if (number_of(s, SET_FAVOR_SMALL) != 0)
        no_effect(s, f, SET_FAVOR_SMALL, "PriorityWeightJobSize is 0", "set PriorityWeightJobSize, or leave it out");
    if ((flags_of(s) & FLAG_SMALL_RELATIVE_TO_TIME) != 0)
        findings_add(f, finding_at_value(FINDING_WARNING, s->pair[SET_PRIORITY_FLAGS]), "PriorityWeightJobSize is 0",
                     "set PriorityWeightJobSize, or leave the flag out",
                     "the flag SMALL_RELATIVE_TO_TIME has no effect");
}

/* --- usage -------------------------------------------------------------------------------------------------------- */

static void check_decay(const struct slurm_site *s, struct findings *f)
{
    bool resets = number_of(s, SET_USAGE_RESET) != USAGE_RESET_NONE;
    if (!has(s, SET_HALFLIFE_S) || number_of(s, SET_HALFLIFE_S) != 0 || resets) return;
    findings_add(f, finding_at(FINDING_ERROR, s->pair[SET_HALFLIFE_S]),
                 "usage would neither decay nor be reset, and Slurm refuses to start",
                 "write PriorityUsageResetPeriod=MONTHLY, or another period", "usage is kept for ever");
}

static void check_fair_tree(const struct slurm_site *s, struct findings *f)
{
    bool is_fair_tree = (flags_of(s) & (FLAG_NO_FAIR_TREE | FLAG_DEPTH_OBLIVIOUS)) == 0;
    if (has(s, SET_DAMPENING) && is_fair_tree && number_of(s, SET_DAMPENING) != 1)
        no_effect(s, f, SET_DAMPENING, "Fair Tree does not use it", "leave it out, or set PriorityFlags=NO_FAIR_TREE");
}

/* Whether a partition's weights bill a job that has only CPUs nothing. */
static bool bills_cpus_nothing(const struct policy *p, const struct conf_pair *text, struct err *e, bool *out_is_wrong)
{
    double by_tres[TRES_MAX];
    *out_is_wrong = tres_weights_parse(&p->tres, text->value, "TRESBillingWeights", by_tres, e) != 0;
    if (*out_is_wrong) return false;
    bool has_any = false;
    for (uint32_t i = 0; i < p->tres.count; i++) has_any |= by_tres[i] != 0.0;
    return has_any && by_tres[TRES_CPU] == 0.0 && by_tres[TRES_MEM] == 0.0 && by_tres[TRES_NODE] == 0.0;
}

/* policy: with the tracked TRES of the file. */
static void check_billing(const struct slurm_site *s, const struct policy *policy, struct findings *f)
{
    const struct conf_pair *seen = NULL;
    enum finding_level level = s->pairs->template_count > 0 ? FINDING_NOTE : FINDING_WARNING;
    for (uint32_t i = 0; i < s->partitions.count; i++) {
        const struct conf_pair *text = s->partitions.items[i].billing_weights;
        struct err e = {0};
        bool is_wrong;
        if (text == NULL || text == seen) continue;
        seen = text;
        if (bills_cpus_nothing(policy, text, &e, &is_wrong))
            findings_add(f, finding_at(FINDING_WARNING, text),
                         "a TRES without a weight is not billed as soon as another one has a weight", "add CPU=1.0",
                         "jobs that use only CPUs and memory are billed nothing");
        if (is_wrong)
            findings_add_error(f, finding_at_value(FINDING_ERROR, text), &e,
                               "add the TRES to AccountingStorageTRES; Slurm refuses to start otherwise");
    }
    if (seen == NULL && (flags_of(s) & (FLAG_MAX_TRES | FLAG_MAX_TRES_GRES)) != 0 && s->partitions.count > 0)
        findings_add(f, finding_at_value(level, s->pair[SET_PRIORITY_FLAGS]),
                     "no partition has TRESBillingWeights, so that jobs are billed their CPUs",
                     "add TRESBillingWeights to the lines PartitionName, or leave the flag out",
                     "the flag MAX_TRES has no effect");
}

/* GresTypes that are not tracked: jobs get them, and no limit, share or report sees it. */
static void check_gres(const struct slurm_site *s, const struct policy *policy, struct findings *f)
{
    const struct conf_pair *types = conf_pairs_find(s->pairs, "GresTypes");
    if (types == NULL) return;
    for (struct str rest = types->value; rest.text != NULL;) {
        struct str type = str_trim(str_cut(rest, ',', &rest));
        char name[100];
        if (type.length == 0 || type.length > 64) continue;
        text_format(name, sizeof name, "gres/%.*s", (int)type.length, type.text);
        if (tres_find(&policy->tres, str(name)) != NONE) continue;
        findings_add(f, finding_at(FINDING_WARNING, types),
                     "jobs get it, but neither usage, nor limits, nor reports count it",
                     "add it to AccountingStorageTRES", "%s is not tracked", name);
    }
}

/* --- limits and backfill ------------------------------------------------------------------------------------------ */

static void check_enforce(const struct slurm_site *s, struct findings *f)
{
    const struct conf_pair *pair = s->pair[SET_ENFORCE];
    if (pair == NULL || (enforce_of(s) & ENFORCE_LIMITS) != 0) return;
    findings_add(f, finding_at(FINDING_NOTE, pair), "no limit of accounts, users and QOS keeps a job back",
                 "write AccountingStorageEnforce=limits,qos if limits are set", "limits are not enforced");
}

static void check_window(const struct slurm_site *s, struct findings *f)
{
    enum { SLURM_WINDOW_MIN = 1440, MINUTE_S = 60 };
    const struct field *field = &object_classes[OBJECT_PARTITION].fields[PARTITION_MAX_TIME];
    double window_s = (has(s, SET_BF_WINDOW) ? number_of(s, SET_BF_WINDOW) : SLURM_WINDOW_MIN) * MINUTE_S;
    for (uint32_t i = 0; i < s->partitions.count; i++) {
        const struct conf_pair *text = s->partitions.items[i].max_time;
        struct field_value value;
        if (text == NULL || window_s < 0.0 || field_parse(field, text->value, NULL, &value, NULL) != 0) continue;
        if (value.number < 0 || (double)value.number <= window_s) continue;
        findings_add(
            f, finding_at(FINDING_WARNING, text),
            "a job that waits for one of that length gets no reservation, and smaller jobs can overtake it for ever",
            "raise bf_window of SchedulerParameters to the longest MaxTime, in minutes",
            "jobs of partition '%.*s' may run longer than bf_window, %.0f minutes",
            (int)s->partitions.items[i].name->value.length, s->partitions.items[i].name->value.text,
            window_s / MINUTE_S);
        return;
    }
}

static void (*const rules[])(const struct slurm_site *s, struct findings *f) = {
    check_model,      check_model_unset, check_fair_share, check_overflow, check_small_weights, check_partition_weight,
    check_qos_weight, check_age,         check_size,       check_decay,    check_fair_tree,     check_enforce,
    check_window,
};

/* The policy with the file's TRES, and the fault of PriorityWeightTRES if there is one. */
static bool make_policy(const struct slurm_site *s, struct arena *arena, struct policy *out_policy, struct findings *f)
{
    struct err e = {0};
    struct settings settings = s->settings;
    if (policy_make(&settings, arena, out_policy, &e) == 0) return true;
    const struct conf_pair *at =
        s->pair[SET_WEIGHT_TRES] != NULL ? s->pair[SET_WEIGHT_TRES] : s->pair[SET_TRACKED_TRES];
    if (at == NULL) return false;
    findings_add(f, finding_at_value(FINDING_ERROR, at), "Slurm refuses to start with it",
                 "add the TRES to AccountingStorageTRES", "%s", ERR_SENTENCE(&e));
    settings.value[SET_WEIGHT_TRES].text = "";
    return policy_make(&settings, arena, out_policy, NULL) == 0;
}

void slurm_site_check(const struct slurm_site *s, struct findings *findings)
{
    struct arena arena = {0};
    struct policy policy;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) rules[i](s, findings);
    if (make_policy(s, &arena, &policy, findings)) {
        check_billing(s, &policy, findings);
        check_gres(s, &policy, findings);
    }
    arena_release(&arena);
}
