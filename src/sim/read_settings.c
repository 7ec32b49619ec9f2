/* `settings`: by Fairlead's names, or by the keywords of Slurm and Grid Engine. */
#include "sim/document.h"

/* Keywords of slurm.conf and of Grid Engine's configuration on which no priority at a given time depends. They are
 * accepted, so that a document may contain a recorded configuration unchanged. */
static const char *const ignored[] = {
    "PriorityCalcPeriod",
    "PriorityParameters",
    "PrioritySiteFactorPlugin",
    "PrioritySiteFactorParameters",
    "AccountingStorageEnforce",
    "SchedulerType",
    "SchedulerParameters",
    "SelectType",
    "SelectTypeParameters",
    "PreemptType",
    "PreemptMode",
    "TopologyPlugin",
    "TaskPlugin",
    "DefMemPerCPU",
    "DefMemPerNode",
    "algorithm",
    "schedd_job_info",
    "reprioritize_interval",
    "auto_user_delete_time",
    "enforce_project",
    "max_u_jobs",
    "max_jobs",
    "max_aj_tasks",
    "execd_params",
    "qmaster_params",
    "reporting_params",
};

/* Keywords that are accepted with one value only, because priorities would depend on others. */
static const struct {
    const char *name, *value, *accepted;
} fixed[] = {
    {"auto_user_default_project", "none", "none: give each job its 'project'"},
};

/* Settings that only instances have. advice: what to write in a document instead. */
static const struct {
    enum setting setting;
    const char *advice;
    bool is_accepted; /* in the document of an instance */
} of_instances[] = {
    {SET_DEFAULT_CPUS, "give each job its 'cpus'", true},
    {SET_DEFAULT_MEM_MIB, "give each job its 'mem'", true},
    {SET_DEFAULT_TIME_S, "give each job its 'time_limit_s', or its partition a 'MaxTime'", true},
    {SET_GRACE_S, "leave it out", true},
    {SET_HOST_CPUS, "give 'hosts'", false},
    {SET_HOST_MEM_MIB, "give 'hosts'", false},
    {SET_HOST_GPUS, "give 'hosts'", false},
    {SET_MAX_ARRAY_TASKS, "leave it out", true},
};

static int check_effect(struct wire_reader *r, enum setting setting)
{
    for (size_t i = 0; i < sizeof of_instances / sizeof *of_instances; i++) {
        bool is_accepted = document_is_instance(document_of(r)) && of_instances[i].is_accepted;
        if (of_instances[i].setting == setting && !is_accepted)
            return wire_fail(r, "without effect in a document; %s", of_instances[i].advice);
    }
    return 0;
}

static bool is_ignored(const char *name)
{
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) {
        if (str_equal_nocase(str(ignored[i]), str(name))) return true;
    }
    return false;
}

/* The index in `fixed`, or its length. */
static size_t find_fixed(const char *name)
{
    size_t i = 0;
    while (i < sizeof fixed / sizeof *fixed && !str_equal_nocase(str(fixed[i].name), str(name))) i++;
    return i;
}

static bool is_fixed(const char *name)
{
    return find_fixed(name) < sizeof fixed / sizeof *fixed;
}

static int check_fixed(struct wire_reader *r, const char *name, json_t *value, struct str text)
{
    size_t i = find_fixed(name);
    return str_equal_nocase(text, str(fixed[i].value)) ? 0 : wire_refuse(r, value, "%s", fixed[i].accepted);
}

/* *out_field NULL: an ignored keyword. Its value is only checked to be a scalar. */
static int find_setting(struct wire_reader *r, const char *name, enum setting *out_setting,
                        const struct field **out_field)
{
    struct err below;
    *out_field = NULL;
    if (is_ignored(name) && !document_is_instance(document_of(r))) return 0;
    if (setting_find(str(name), out_setting, out_field, &below) == 0) return 0;
    if (is_ignored(name) || is_fixed(name)) return 0;
    return wire_fail_at(r, name, "not a setting of Slurm, Grid Engine or Fairlead");
}

static int read_setting(struct wire_reader *r, const char *name, json_t *value, bool given[SETTING_COUNT])
{
    struct state *s = document_of(r)->state;
    struct str text;
    struct err below;
    enum setting setting;
    const struct field *field;
    if (find_setting(r, name, &setting, &field) != 0) return -1;
    size_t length = wire_enter(r, name);
    if (field != NULL && check_effect(r, setting) != 0) return -1;
    if (field != NULL && given[setting]) return wire_fail(r, "the setting occurs twice");
    if (wire_read_scalar(r, value, &text) != 0) return -1;
    if (is_fixed(name) && check_fixed(r, name, value, text) != 0) return -1;
    if (field != NULL) {
        struct field_value read;
        if (field_parse(field, text, &s->arena, &read, &below) != 0) {
            below.field[0] = '\0'; /* the path has the name */
            return wire_fail_below(r, &below);
        }
        s->settings.value[setting] = read;
        given[setting] = true;
    }
    wire_leave(r, length);
    return 0;
}

int document_read_settings(struct wire_reader *r, json_t *value)
{
    struct state *s = document_of(r)->state;
    bool given[SETTING_COUNT] = {0};
    const char *name;
    json_t *item;
    struct err below;
    if (value != NULL && !json_is_object(value)) return wire_refuse(r, value, "an object");
    json_object_foreach(value, name, item)
    {
        if (read_setting(r, name, item, given) != 0) return -1;
    }
    if (policy_make(&s->settings, &s->arena, &s->policy, &below) != 0) return wire_fail_below(r, &below);
    if (s->policy.share.ties == TIES_SLURM && !fair_tree_slurm_available())
        return wire_fail_at(r, "FairTreeTies", "slurm needs the 80-bit arithmetic of x86; this machine has only merge");
    return 0;
}
