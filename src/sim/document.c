/* Reads a document: parses JSON, and reads its parts in an order in which a part refers only to earlier ones. */
#include "sim/document.h"

#include <jansson.h>
#include <string.h>

#include "sim/instance_job.h"

static const struct str byte_order_mark = {"\xef\xbb\xbf", 3};

static int read_now(struct wire_reader *r, json_t *value)
{
    struct document *d = document_of(r);
    if (value == NULL) return wire_fail(r, "missing; the time at which priorities and shares are computed");
    return wire_read_time(r, value, &d->scenario->now_us);
}

/* An instance has its own rules and defaults, and its rows are what a database has. */
static int read_instance(struct wire_reader *r, json_t *value)
{
    struct state *s = document_of(r)->state;
    if (!json_is_boolean(value)) return wire_refuse(r, value, "true or false");
    if (json_is_false(value)) return 0;
    if (document_of(r)->scenario->now_us < 0) return wire_fail(r, "the document of an instance is of 1970 or later");
    s->is_document = false;
    s->settings = settings_defaults();
    return 0;
}

/* A part that is required, or has a default, is always read, with NULL if it is absent. */
static const struct part {
    const char *name;
    bool is_always_read;
    int (*read)(struct wire_reader *r, json_t *value);
} parts[] = {
    {.name = "now", .is_always_read = true, .read = read_now},
    {.name = "instance", .read = read_instance},
    {.name = "settings", .is_always_read = true, .read = document_read_settings},
    {.name = "resources", .read = document_read_resources},
    {.name = "hosts", .is_always_read = true, .read = document_read_hosts},
    {.name = "groups", .is_always_read = true, .read = document_read_groups},
    {.name = "parallel_environments", .read = document_read_environments},
    {.name = "departments", .read = document_read_departments},
    {.name = "partitions", .is_always_read = true, .read = document_read_partitions},
    {.name = "qos", .is_always_read = true, .read = document_read_qos},
    {.name = "projects", .read = document_read_projects},
    {.name = "users", .read = document_read_users},
    {.name = "quotas", .read = document_read_quotas},
    {.name = "usage_owners", .read = document_read_usage_owners},
    {.name = "tree", .is_always_read = true, .read = document_read_tree},
    {.name = "share_tree", .read = document_read_share_tree},
    {.name = "jobs", .read = document_read_jobs},
};

enum { DOCUMENT_PART_COUNT = sizeof parts / sizeof *parts };

static bool is_part(const char *name)
{
    uint32_t i = 0;
    while (i < DOCUMENT_PART_COUNT && strcmp(parts[i].name, name) != 0) i++;
    return i < DOCUMENT_PART_COUNT;
}

static int check_names(struct wire_reader *r, json_t *document)
{
    const char *name;
    json_t *value;
    json_object_foreach(document, name, value)
    {
        if (is_part(name)) continue;
        struct buf names = {0};
        for (uint32_t i = 0; i < DOCUMENT_PART_COUNT; i++) buf_format(&names, "%s%s", i > 0 ? ", " : "", parts[i].name);
        wire_fill_unknown(r, name, names.text);
        buf_release(&names);
        return -1;
    }
    return 0;
}

static int read_parts(struct wire_reader *r, json_t *document)
{
    if (!json_is_object(document)) return wire_refuse(r, document, "an object");
    if (check_names(r, document) != 0) return -1;
    for (uint32_t i = 0; i < DOCUMENT_PART_COUNT; i++) {
        json_t *value = json_object_get(document, parts[i].name);
        if (value == NULL && !parts[i].is_always_read) continue;
        size_t length = wire_enter(r, parts[i].name);
        if (parts[i].read(r, value) != 0) return -1;
        wire_leave(r, length);
    }
    return 0;
}

/* The settings start with the defaults of Slurm and Grid Engine, not with those of an instance. */
static void begin_state(struct state *s)
{
    state_init(s, 0);
    state_restore_begin(s);
    s->is_document = true;
    s->settings = settings_upstream_defaults();
    /* The document gives the ids, and each has to be smaller than the next one (state_restore_done). */
    s->next_assoc_id = s->next_job_id = UINT32_MAX;
    s->next_launch_id = UINT64_MAX;
}

/* Derives what follows from the rows. */
static int finish_state(struct document *d, struct err *e)
{
    struct state *s = d->state;
    s->decay = (struct decay){setting_number(&s->settings, SET_HALFLIFE_S) * US_PER_S, d->scenario->now_us};
    int status = state_restore_done(s, e);
    if (!document_is_instance(d)) return status;
    if (status != 0) {
        e->code = ERR_INPUT;
        return -1;
    }
    instance_job_finish_all(s);
    return 0;
}

static int load(json_t *document, struct scenario *scenario, struct err *e)
{
    struct document d = {.scenario = scenario, .state = &scenario->state};
    struct wire_reader r = {.arena = &scenario->arena,
                            .root = "the document",
                            .code = ERR_INPUT,
                            .is_document = true,
                            .context = &d,
                            .e = e};
    begin_state(d.state);
    int status = read_parts(&r, document);
    wire_reader_release(&r);
    if (status == 0) status = finish_state(&d, e);
    map_release(&d.account_rows);
    map_release(&d.user_rows);
    map_release(&d.first_rows);
    array_release(&d.associations);
    array_release(&d.free_cpus);
    arena_release(&d.arena);
    return status;
}

static int fail_syntax(json_error_t *where, const char *name, struct err *e)
{
    bool is_zero = json_error_code(where) == json_error_null_character;
    (void)err_set(e, ERR_INPUT, "%s", is_zero ? "U+0000 in a text" : where->text);
    return err_prefix(e, "%s:%d:%d", name, where->line > 0 ? where->line : 1, where->column > 0 ? where->column : 1);
}

int scenario_read(struct str text, const char *name, struct scenario *out_scenario, struct err *e)
{
    json_error_t where;
    *out_scenario = (struct scenario){0};
    if (str_starts(text, byte_order_mark))
        text = str_range(text.text + byte_order_mark.length, text.text + text.length);
    if (str_trim(text).length == 0) return err_set(e, ERR_INPUT, "%s: is empty; a scenario is a JSON document", name);
    json_t *document = wire_parse(text, &where);
    if (document == NULL) return fail_syntax(&where, name, e);
    int status = load(document, out_scenario, e);
    json_decref(document);
    return status == 0 ? 0 : err_prefix(e, "%s", name);
}
