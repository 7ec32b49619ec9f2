/* The document as a whole: JSON, its parts in the order in which they may refer to each other, what is released. */
#include "sim/scenario.h"

#include <jansson.h>
#include <string.h>

#include "sim/reader.h"

static const struct str byte_order_mark = {"\xef\xbb\xbf", 3};

/* --- settings ------------------------------------------------------------------------------------------------------- */

/* Keywords of slurm.conf and of Grid Engine's configuration that no priority at one moment depends on, so that a document
 * may have a recorded configuration as it is. */
static const char *const passed_over[] = {
    "PriorityCalcPeriod",
    "PriorityParameters",
    "PrioritySiteFactorPlugin",
    "PrioritySiteFactorParameters",
    "AccountingStorageEnforce",
    "SchedulerType",
    "SchedulerParameters",
    "algorithm",
    "schedule_interval",
    "maxujobs",
    "queue_sort_method",
    "job_load_adjustments",
    "load_adjustment_decay_time",
    "load_formula",
    "schedd_job_info",
    "flush_submit_sec",
    "flush_finish_sec",
    "params",
    "reprioritize_interval",
    "max_reservation",
    "default_duration",
    "auto_user_default_project",
    "auto_user_delete_time",
};

static bool is_passed_over(const char *name)
{
    for (size_t i = 0; i < sizeof passed_over / sizeof *passed_over; i++) {
        if (str_equal_nocase(str(passed_over[i]), str(name))) return true;
    }
    return false;
}

/* NULL: a keyword that decides nothing here; what it says has to be a value all the same. */
static int find_setting(struct reader *r, const char *name, enum setting *out_setting, const struct field **out_field)
{
    struct err below;
    *out_field = NULL;
    if (setting_find(str(name), out_setting, out_field, &below) == 0 || is_passed_over(name)) return 0;
    return reader_fail(r, "'%.60s' is not a setting of Slurm, Grid Engine or Fairlead", name);
}

static int read_setting(struct reader *r, const char *name, json_t *value, uint8_t seen[SETTING_COUNT])
{
    struct str text;
    struct err below;
    enum setting setting;
    struct field_value read;
    const struct field *field;
    if (find_setting(r, name, &setting, &field) != 0) return -1;
    size_t length = reader_enter(r, name);
    if (field != NULL && seen[setting]) return reader_fail(r, "it is said twice");
    if (read_scalar(r, value, &text) != 0) return -1;
    reader_leave(r, length);
    if (field == NULL) return 0;
    if (field_parse(field, text, &r->s->arena, &read, &below) != 0) return reader_fail_below(r, &below);
    r->s->settings.value[setting] = read;
    seen[setting] = 1;
    return 0;
}

/* Settings count from the defaults of the programs that they come from: what the document does not weigh has no weight. */
int read_settings(struct reader *r, json_t *value)
{
    uint8_t seen[SETTING_COUNT] = {0};
    const char *name;
    json_t *item;
    struct err below;
    if (value != NULL && !json_is_object(value)) return reader_refuse(r, value, "an object");
    json_object_foreach(value, name, item)
    {
        if (read_setting(r, name, item, seen) != 0) return -1;
    }
    if (policy_make(&r->s->settings, &r->s->arena, &r->s->policy, &below) != 0) return reader_fail_below(r, &below);
    if (r->s->policy.share.ties == TIES_SLURM && !fair_tree_slurm_available())
        return reader_fail_at(r, "FairTreeTies", "slurm repeats the arithmetic of x86-64, which this machine has not");
    return 0;
}

/* --- the whole ------------------------------------------------------------------------------------------------------ */

static int read_now(struct reader *r, json_t *value)
{
    if (value == NULL) return reader_fail(r, "it is needed: the moment that everything is asked for");
    return read_moment(r, value, &r->s->now_us);
}

/* A later part may refer to those before it. A part that is needed, or makes something when it is absent, is read even
 * then, with NULL. */
static const struct part {
    const char *name;
    bool is_always;
    int (*read)(struct reader *r, json_t *value);
} parts[] = {
    {"now", true, read_now},
    {"settings", true, read_settings},
    {"hosts", false, read_hosts},
    {"resources", false, read_resources},
    {"partitions", true, read_partitions},
    {"qos", false, read_qos},
    {"projects", false, read_projects},
    {"departments", false, read_departments},
    {"users", false, read_users},
    {"tree", true, read_tree},
    {"share_tree", false, read_share_tree},
    {"jobs", false, read_jobs},
};

enum { PART_COUNT = sizeof parts / sizeof *parts };

static int check_keys(struct reader *r, json_t *document)
{
    struct key keys[PART_COUNT] = {0};
    const char *name;
    json_t *value;
    for (uint32_t i = 0; i < PART_COUNT; i++) keys[i].name = parts[i].name;
    json_object_foreach(document, name, value)
    {
        if (key_find(keys, PART_COUNT, name) == NULL) return key_unknown(r, name, keys, PART_COUNT, NULL, 0);
    }
    return 0;
}

static int read_parts(struct reader *r, json_t *document)
{
    if (!json_is_object(document)) return reader_refuse(r, document, "an object");
    if (check_keys(r, document) != 0) return -1;
    for (uint32_t i = 0; i < PART_COUNT; i++) {
        json_t *value = json_object_get(document, parts[i].name);
        if (value == NULL && !parts[i].is_always) continue;
        size_t length = reader_enter(r, parts[i].name);
        if (parts[i].read(r, value) != 0) return -1;
        reader_leave(r, length);
    }
    return 0;
}

static int syntax_error(const json_error_t *where, const char *name, struct err *e)
{
    const char *text = json_error_code(where) == json_error_null_character ? "U+0000 in a text" : where->text;
    return err_set(e, ERR_INPUT, "%s:%d:%d: %s", name, where->line > 0 ? where->line : 1,
                   where->column > 0 ? where->column : 1, text);
}

int scenario_read(struct str text, const char *name, struct scenario *out_scenario, struct err *e)
{
    json_error_t where;
    *out_scenario = (struct scenario){.settings = settings_upstream_defaults(), .slots_urgency = SLOTS_URGENCY};
    if (str_starts(text, byte_order_mark))
        text = str_range(text.text + byte_order_mark.length, text.text + text.length);
    json_t *document = json_loadb(text.text, text.length, JSON_REJECT_DUPLICATES, &where);
    if (document == NULL) return syntax_error(&where, name, e);
    out_scenario->document = document;
    struct reader r = {.name = name, .s = out_scenario, .e = e};
    int status = read_parts(&r, document);
    buf_release(&r.path);
    buf_release(&r.scalar);
    return status;
}

static void release_members(struct scenario *s)
{
    for (uint32_t i = 0; i < s->users.count; i++) array_release(&s->users.items[i].project_usage);
    array_release(&s->users);
    array_release(&s->projects);
    array_release(&s->departments);
}

static void release_maps(struct scenario *s)
{
    struct map *const maps[] = {
        &s->host_names,       &s->partition_names,    &s->resource_names,   &s->qos_names,
        &s->user_names,       &s->project_names,      &s->department_names, &s->account_names,
        &s->association_keys, &s->first_associations, &s->job_ids,
    };
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) map_release(maps[i]);
}

void scenario_release(struct scenario *s)
{
    release_members(s);
    release_maps(s);
    array_release(&s->hosts);
    array_release(&s->partitions);
    array_release(&s->resources);
    array_release(&s->qos);
    array_release(&s->associations);
    array_release(&s->jobs);
    tree_release(&s->tree);
    if (s->shares != NULL) share_nodes_release(s->shares);
    arena_release(&s->arena);
    json_decref(s->document);
    *s = (struct scenario){0};
}
