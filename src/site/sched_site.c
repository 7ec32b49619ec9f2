#include "site/sched_site.h"

#include "base/near_names.h"
#include "fields/settings.h"

/* Lines of sched_conf(5) that are no settings here. */
static const char other_names[] = "algorithm, job_load_adjustments, schedd_job_info, reprioritize_interval";

struct sched_site {
    const struct conf_pairs *pairs;
    struct settings settings;
    const struct conf_pair *pair[SETTING_COUNT];
    struct arena arena;
    struct findings *findings;
    uint32_t policy_count, other_count;
};

static bool is_setting(struct str name, enum setting *out_setting, const struct field **out_field)
{
    return setting_find(name, out_setting, out_field, NULL) == 0 && (*out_field)->group != NULL &&
           str_equal(str((*out_field)->group), str("Grid Engine"));
}

static bool is_other(struct str name)
{
    for (struct str rest = str(other_names); rest.text != NULL;) {
        if (str_equal_nocase(str_trim(str_cut(rest, ',', &rest)), name)) return true;
    }
    return false;
}

/* The settings' names, for near_names_find. */
static void add_names(struct buf *out)
{
    for (int i = 0; i < SETTING_COUNT; i++) {
        if (!str_equal(str(settings_table[i].group), str("Grid Engine"))) continue;
        buf_format(out, "%s%s", out->length > 0 ? ", " : "", settings_table[i].name);
    }
}

static void add_unknown(struct sched_site *s, const struct conf_pair *pair)
{
    struct str near[NEAR_NAMES_MAX];
    struct buf names = {0};
    add_names(&names);
    uint32_t count = near_names_find((struct str){names.text, names.length}, pair->name, near);
    findings_add(s->findings, finding_at(FINDING_ERROR, pair), "qconf refuses a name that it does not know", NULL,
                 count > 0 ? "'%.*s' is not a name of sched_conf; did you mean '%.*s'?"
                           : "'%.*s' is not a name of sched_conf%.*s",
                 (int)pair->name.length, pair->name.text, count > 0 ? (int)near[0].length : 0,
                 count > 0 ? near[0].text : "");
    buf_release(&names);
}

static void read_pair(struct sched_site *s, const struct conf_pair *pair)
{
    enum setting setting;
    const struct field *field;
    struct err e = {0};
    if (!is_setting(pair->name, &setting, &field)) {
        if (is_other(pair->name))
            s->other_count++;
        else
            add_unknown(s, pair);
        return;
    }
    s->policy_count++;
    if (s->pair[setting] != NULL)
        findings_add(s->findings, finding_at(FINDING_WARNING, pair), "the last one counts", "keep one of the lines",
                     "%s is set more than once", field->name);
    s->pair[setting] = pair;
    if (field_parse(field, pair->value, &s->arena, &s->settings.value[setting], &e) != 0)
        findings_add_error(s->findings, finding_at_value(FINDING_ERROR, pair), &e, NULL);
}

static void check_tickets(struct sched_site *s)
{
    const struct conf_pair *weight = s->pair[SET_GE_WEIGHT_TICKET];
    bool has_tickets =
        s->settings.value[SET_GE_TICKETS_SHARE].number > 0 || s->settings.value[SET_GE_TICKETS_FUNCTIONAL].number > 0;
    if (weight == NULL || s->settings.value[SET_GE_WEIGHT_TICKET].real <= 0.0) return;
    if (s->pair[SET_GE_TICKETS_SHARE] == NULL || s->pair[SET_GE_TICKETS_FUNCTIONAL] == NULL || has_tickets) return;
    findings_add(s->findings, finding_at(FINDING_WARNING, weight),
                 "weight_tickets_share and weight_tickets_functional are 0, so that only override tickets exist",
                 "write weight_tickets_share=10000, or another number, for a share tree to count",
                 "weight_ticket weighs tickets of which there are none");
}

static void check_decay(struct sched_site *s)
{
    const struct conf_pair *halftime = s->pair[SET_GE_HALFTIME];
    if (halftime == NULL || s->settings.value[SET_GE_HALFTIME].number != 0) return;
    if (s->settings.value[SET_GE_TICKETS_SHARE].number == 0) return;
    findings_add(s->findings, finding_at(FINDING_WARNING, halftime), "old usage counts as much as new usage, for ever",
                 "write halftime 168 (hours)", "halftime 0: usage does not decay");
}

static void check_functional(struct sched_site *s)
{
    static const enum setting weights[] = {SET_GE_WEIGHT_USER, SET_GE_WEIGHT_PROJECT, SET_GE_WEIGHT_DEPARTMENT,
                                           SET_GE_WEIGHT_JOB};
    double sum = 0.0;
    if (s->pair[SET_GE_TICKETS_FUNCTIONAL] == NULL || s->settings.value[SET_GE_TICKETS_FUNCTIONAL].number == 0) return;
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++) sum += s->settings.value[weights[i]].real;
    if (sum > 0.0) return;
    findings_add(s->findings, finding_at(FINDING_WARNING, s->pair[SET_GE_TICKETS_FUNCTIONAL]),
                 "weight_user, weight_project, weight_department and weight_job are 0", "write weight_user 0.25",
                 "the functional tickets go to no job");
}

static void check_reservation(struct sched_site *s)
{
    const struct conf_pair *duration = s->pair[SET_GE_DEFAULT_DURATION], *max = s->pair[SET_GE_MAX_RESERVATION];
    if (max == NULL || s->settings.value[SET_GE_MAX_RESERVATION].number != 0 || duration == NULL) return;
    findings_add(s->findings, finding_at(FINDING_NOTE, max),
                 "jobs that ask for one (-R y) do not get it, so that smaller jobs can overtake a large one for ever",
                 "write max_reservation 32 if large parallel jobs have to start", "no job gets a reservation");
}

void sched_site_check(const struct conf_pairs *pairs, struct findings *findings, uint32_t *out_policy_count,
                      uint32_t *out_other_count)
{
    struct sched_site s = {.pairs = pairs, .settings = settings_defaults(), .findings = findings};
    for (uint32_t i = 0; i < pairs->faults.count; i++) {
        const struct conf_fault *fault = &pairs->faults.items[i];
        findings_add(findings, (struct finding_place){FINDING_ERROR, fault->source, fault->position}, "", NULL, "%s",
                     fault->text);
    }
    for (uint32_t i = 0; i < pairs->items.count; i++) read_pair(&s, &pairs->items.items[i]);
    check_tickets(&s);
    check_decay(&s);
    check_functional(&s);
    check_reservation(&s);
    *out_policy_count = s.policy_count;
    *out_other_count = s.other_count;
    arena_release(&s.arena);
}
