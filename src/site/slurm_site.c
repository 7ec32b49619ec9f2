#include "site/slurm_site.h"

#include "base/near_names.h"
#include "fields/objects.h"
#include "site/slurm_keywords.h"

/* Slurm 22.05's defaults, where Fairlead has others. */
static const struct {
    enum setting setting;
    const char *value;
} slurm_defaults[] = {
    {SET_PRIORITY_TYPE, "priority/basic"},
    {SET_WEIGHT_FAIRSHARE, "0"},
    {SET_ENFORCE, ""},
    {SET_TRACKED_TRES, ""},
    {SET_JOB_REQUEUE, "1"},
    {SET_ENFORCE_PART_LIMITS, "NO"},
};

static void add_unknown(struct findings *f, const struct conf_pair *pair, const char *names, const char *what)
{
    struct str near[NEAR_NAMES_MAX];
    uint32_t count = near_names_find(str(names), pair->name, near);
    const char *reason = "Slurm refuses to start with a keyword that it does not know";
    if (count > 0)
        findings_add(f, finding_at(FINDING_ERROR, pair), reason, NULL,
                     "'%.*s' is not a keyword of %s; did you mean '%.*s'?", (int)pair->name.length, pair->name.text,
                     what, (int)near[0].length, near[0].text);
    else
        findings_add(f, finding_at(FINDING_ERROR, pair), reason, NULL, "'%.*s' is not a keyword of %s",
                     (int)pair->name.length, pair->name.text, what);
}

/* --- settings ----------------------------------------------------------------------------------------------------- */

static void add_repeated(struct findings *f, const struct conf_pair *pair)
{
    findings_add(f, finding_at(FINDING_WARNING, pair), "the last one counts", "keep one of the lines",
                 "%.*s is set more than once", (int)pair->name.length, pair->name.text);
}

/* Words of PriorityFlags that are unknown are ignored by Slurm without a word. */
static void add_bad_value(struct findings *f, enum setting setting, const struct conf_pair *pair, const struct err *e)
{
    struct finding_place place = finding_at_value(FINDING_ERROR, pair);
    if (setting == SET_PRIORITY_FLAGS)
        findings_add(f, place, "Slurm ignores words that it does not know, without telling",
                     "correct the word, or leave it out", "%s", ERR_SENTENCE(e));
    else
        findings_add_error(f, place, e, NULL);
}

/* Whether the value is of a template, and known only when the file is made. */
static bool is_template(const struct conf_pair *pair)
{
    for (size_t i = 0; i + 1 < pair->value.length; i++) {
        if (pair->value.text[i] == '{' && pair->value.text[i + 1] == '{') return true;
    }
    return false;
}

static void read_setting(struct slurm_site *s, struct findings *f, enum setting setting, const struct field *field,
                         const struct conf_pair *pair)
{
    struct err e = {0};
    struct str value = pair->value;
    if (s->pair[setting] != NULL) add_repeated(f, pair);
    s->pair[setting] = pair;
    if (is_template(pair)) return;
    if (setting == SET_ENFORCE_PART_LIMITS && str_equal_nocase(pair->value, str("YES"))) value = str("ALL");
    s->is_valid[setting] = field_parse(field, value, &s->arena, &s->settings.value[setting], &e) == 0;
    if (!s->is_valid[setting]) add_bad_value(f, setting, pair, &e);
}

/* An option of a list as a pair, whose position is in the file unless the list was joined from several lines. */
static struct conf_pair *pair_of_option(struct slurm_site *s, const struct conf_pair *list, struct str name,
                                        struct str value)
{
    struct conf_pair *pair = arena_alloc(&s->arena, sizeof *pair);
    *pair = *list;
    pair->name = name;
    pair->value = value.text != NULL ? value : str("yes");
    if (name.text >= list->source->text.text && name.text <= list->source->text.text + list->source->text.length)
        pair->position = pair->value_position = name.text;
    return pair;
}

static void add_removed_row(struct findings *f, const struct conf_pair *pair, const struct slurm_removed *r)
{
    findings_add(f, finding_at(FINDING_WARNING, pair), "newer versions refuse it, or ignore it", r->advice,
                 "%s%s%s was removed in Slurm %s", r->keyword, r->value != NULL ? "=" : "",
                 r->value != NULL ? r->value : "", r->since);
}

/* An option of SchedulerParameters or DependencyParameters. */
static void read_option(struct slurm_site *s, struct findings *f, const struct conf_pair *list, struct str option)
{
    struct str value, name = str_trim(str_cut(option, '=', &value));
    enum setting setting;
    const struct field *field;
    if (name.length == 0) return;
    const struct conf_pair *pair = pair_of_option(s, list, name, value);
    bool is_known = slurm_keywords_has(slurm_keywords_of_scheduler, name);
    bool is_setting =
        setting_find(name, &setting, &field, NULL) == 0 && str_equal_nocase(str("Slurm"), str(field->group));
    const struct slurm_removed *removed = slurm_keywords_removed(list->name, name);
    if (removed != NULL) {
        add_removed_row(f, pair, removed);
        s->other_count++;
    } else if (is_setting) {
        read_setting(s, f, setting, field, pair);
        s->policy_count++;
    } else if (is_known || !str_equal_nocase(list->name, str("SchedulerParameters"))) {
        s->other_count++;
    } else {
        struct str near[NEAR_NAMES_MAX];
        uint32_t count = near_names_find(str(slurm_keywords_of_scheduler), name, near);
        findings_add(f, finding_at(FINDING_WARNING, pair),
                     "Slurm ignores options that it does not know, without telling",
                     "correct the word, or leave it out",
                     count > 0 ? "'%.*s' is not an option of SchedulerParameters; did you mean '%.*s'?"
                               : "'%.*s' is not an option of SchedulerParameters%.*s",
                     (int)name.length, name.text, count > 0 ? (int)near[0].length : 0, count > 0 ? near[0].text : "");
    }
}

static bool read_options(struct slurm_site *s, struct findings *f, const struct conf_pair *pair)
{
    if (!str_equal_nocase(pair->name, str("SchedulerParameters")) &&
        !str_equal_nocase(pair->name, str("DependencyParameters")))
        return false;
    for (struct str rest = pair->value; rest.text != NULL;) read_option(s, f, pair, str_cut(rest, ',', &rest));
    return true;
}

static bool add_removed(struct findings *f, const struct conf_pair *pair)
{
    for (struct str rest = pair->value; rest.text != NULL;) {
        struct str word = str_trim(str_cut(rest, ',', &rest));
        const struct slurm_removed *r = slurm_keywords_removed(pair->name, word);
        if (r == NULL) continue;
        add_removed_row(f, pair, r);
        return true;
    }
    return false;
}

static void read_keyword(struct slurm_site *s, struct findings *f, const struct conf_pair *pair)
{
    enum setting setting;
    const struct field *field;
    if (read_options(s, f, pair)) return;
    bool is_removed = add_removed(f, pair), is_known = slurm_keywords_has(slurm_keywords_of_file, pair->name);
    if (is_known && setting_find(pair->name, &setting, &field, NULL) == 0) {
        if (!is_removed) read_setting(s, f, setting, field, pair);
        s->policy_count++;
    } else if (is_known || is_removed) {
        s->other_count++;
    } else {
        add_unknown(f, pair, slurm_keywords_of_file, "slurm.conf");
    }
}

/* --- lines of nodes and partitions -------------------------------------------------------------------------------- */

struct line_reader {
    struct slurm_partition defaults;
    bool is_default; /* the line is PartitionName=DEFAULT */
};

static void check_field(struct findings *f, const struct conf_pair *pair)
{
    struct err e = {0};
    const struct object_class *class = &object_classes[OBJECT_PARTITION];
    struct field_value unused;
    struct arena scratch = {0};
    for (uint32_t i = 0; i < class->field_count; i++) {
        const struct field *field = &class->fields[i];
        if (!str_equal_nocase(str(field->name), pair->name) || field->type == FIELD_TEXT || field->is_read_only)
            continue;
        if (!is_template(pair) && field_parse(field, pair->value, &scratch, &unused, &e) != 0)
            findings_add_error(f, finding_at_value(FINDING_ERROR, pair), &e, NULL);
    }
    arena_release(&scratch);
}

static void read_partition_pair(struct slurm_partition *p, const struct conf_pair *pair)
{
    const struct {
        const char *name;
        const struct conf_pair **out;
    } kept[] = {
        {"PriorityJobFactor", &p->job_factor},
        {"Priority", &p->job_factor},
        {"TRESBillingWeights", &p->billing_weights},
        {"MaxTime", &p->max_time},
        {"QOS", &p->qos},
    };
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        if (str_equal_nocase(pair->name, str(kept[i].name))) *kept[i].out = pair;
    }
}

static void check_key(struct findings *f, const struct conf_pair *pair, bool is_partition)
{
    const char *names = is_partition ? slurm_keywords_of_partitions : slurm_keywords_of_nodes;
    if (!slurm_keywords_has(names, pair->name))
        add_unknown(f, pair, names, is_partition ? "a line PartitionName" : "a line NodeName");
    else if (is_partition && !str_equal_nocase(pair->value, str("DEFAULT")))
        check_field(f, pair);
}

/* The pairs of a line from its first one; returns the index after them. */
static uint32_t read_record(struct slurm_site *s, struct findings *f, uint32_t first, bool is_partition,
                            struct slurm_partition *io_defaults)
{
    const struct conf_pair *pairs = s->pairs->items.items;
    struct slurm_partition p = *io_defaults;
    uint32_t i = first;
    p.name = &pairs[first];
    for (; i < s->pairs->items.count && pairs[i].line == pairs[first].line; i++) {
        check_key(f, &pairs[i], is_partition);
        if (is_partition) read_partition_pair(&p, &pairs[i]);
    }
    if (!is_partition) {
        s->node_line_count++;
    } else if (str_equal_nocase(pairs[first].value, str("DEFAULT"))) {
        *io_defaults = p;
    } else {
        *array_add(&s->partitions) = p;
    }
    return i;
}

static void read_pairs(struct slurm_site *s, struct findings *f)
{
    static const char other_records[] = "NodeSet, DownNodes, FrontendName, SwitchName";
    struct slurm_partition defaults = {0};
    for (uint32_t i = 0; i < s->pairs->items.count;) {
        const struct conf_pair *pair = &s->pairs->items.items[i];
        bool is_partition = str_equal_nocase(pair->name, str("PartitionName"));
        if (is_partition || str_equal_nocase(pair->name, str("NodeName"))) {
            i = read_record(s, f, i, is_partition, &defaults);
        } else if (slurm_keywords_has(other_records, pair->name)) {
            for (uint32_t line = pair->line; i < s->pairs->items.count && s->pairs->items.items[i].line == line;) i++;
            s->other_count++;
        } else {
            read_keyword(s, f, pair);
            i++;
        }
    }
}

void slurm_site_read(const struct conf_pairs *pairs, struct slurm_site *out_site, struct findings *findings)
{
    *out_site = (struct slurm_site){.pairs = pairs, .settings = settings_defaults()};
    for (size_t i = 0; i < sizeof slurm_defaults / sizeof *slurm_defaults; i++) {
        enum setting setting = slurm_defaults[i].setting;
        (void)field_parse(&settings_table[setting], str(slurm_defaults[i].value), &out_site->arena,
                          &out_site->settings.value[setting], NULL);
    }
    for (uint32_t i = 0; i < pairs->faults.count; i++) {
        const struct conf_fault *fault = &pairs->faults.items[i];
        findings_add(findings, (struct finding_place){FINDING_ERROR, fault->source, fault->position}, "", NULL, "%s",
                     fault->text);
    }
    if (pairs->template_count > 0)
        findings_add(
            findings, (struct finding_place){FINDING_NOTE, pairs->template_mark.source, pairs->template_mark.position},
            "values that a template fills in are not checked, and what stands in both branches of an if counts twice",
            "check the file that is made from it", "the file is a template, with %u marks", pairs->template_count);
    read_pairs(out_site, findings);
}

void slurm_site_release(struct slurm_site *s)
{
    array_release(&s->partitions);
    arena_release(&s->arena);
}
