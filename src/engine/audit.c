#include "engine/audit.h"

#include <string.h>

#include "base/ensure.h"
#include "base/number.h"
#include "engine/assoc_limits.h"
#include "engine/job_members.h"
#include "engine/usage_read.h"
#include "fields/account_fields.h"
#include "fields/job_id.h"
#include "fields/signal_text.h"
#include "fields/standard_resources.h"

enum { FACTS_MAX = 40, IDS_BYTES_MAX = 1000 };

/* A field of a subject, and its value as text. */
struct fact {
    const char *field, *text;
    bool is_default;
};

/* What an event may change: one object, association or job, or the settings. */
struct subject {
    const char *command, *name;
    uint32_t index;
    bool exists;
    struct fact facts[FACTS_MAX];
    uint32_t count;
};

struct audit_run {
    struct subject *subjects; /* as they were before the event */
    uint32_t count;
    const struct field_value *settings;
    uint32_t change_count, decision_count; /* of the outcome */
    uint32_t assoc_count;
    double *usage; /* by index of association, with everything below it; NULL: no usage is reset */
};

/* --- facts -------------------------------------------------------------------------------------------------------- */

static void add_fact(struct apply_context *c, struct subject *s, const struct field *f, const struct field_value *value)
{
    struct buf text = {0};
    ensure(s->count < FACTS_MAX);
    field_format(f, value, &text);
    const char *copy = arena_copy(&c->s->cycle, (struct str){text.text, text.length});
    s->facts[s->count++] = (struct fact){f->name, copy, field_equal(f, value, &f->default_value)};
    buf_release(&text);
}

static void add_text(struct subject *s, const char *field, const char *text, bool is_default)
{
    ensure(s->count < FACTS_MAX);
    s->facts[s->count++] = (struct fact){field, text, is_default};
}

static void read_object(struct apply_context *c, enum object_kind kind, struct subject *s)
{
    const struct object_class *class = &object_classes[kind];
    s->index = state_find_object(c->s, kind, s->name);
    s->exists = s->index != NONE;
    s->count = 0;
    bool is_built_in = kind == OBJECT_RESOURCE && standard_resource_is_built_in(s->name);
    if (!s->exists && !is_built_in) return;
    struct object o = s->exists ? c->s->objects[kind].items[s->index].object : standard_resource_defaults(s->name);
    s->exists = true;
    for (uint32_t i = 0; i < class->field_count; i++) add_fact(c, s, &class->fields[i], &o.value[i]);
}

static void add_special(struct apply_context *c, struct subject *s, const struct field *f, uint32_t number,
                        uint32_t special)
{
    const struct field_value value = field_number(number == special ? FIELD_SPECIAL : (int64_t)number);
    add_fact(c, s, f, &value);
}

static void read_assoc(struct apply_context *c, struct subject *s)
{
    const struct assoc *a = &c->s->assocs.items[s->index];
    const struct field_value *limits = assoc_limits_of(a);
    s->exists = a->deleted_us == 0;
    s->count = 0;
    if (!s->exists) return;
    add_special(c, s, &account_fields_shares, a->shares, SHARES_PARENT);
    s->facts[0].is_default = false;
    add_special(c, s, &account_fields_priority, a->priority, NONE);
    s->facts[1].is_default = a->priority == NONE;
    if (a->user == NULL && a->parent != NONE)
        add_text(s, "parent", c->s->assocs.items[a->parent].account, a->parent == 0);
    if (a->user != NULL) add_text(s, "default", a->is_default ? "true" : "false", !a->is_default);
    for (uint32_t i = 0; i < ASSOC_LIMIT_COUNT; i++) add_fact(c, s, field_at(&limit_fields, i), &limits[i]);
}

static const char *name_assoc(struct apply_context *c, const struct assoc *a)
{
    struct buf text = {0};
    if (a->user == NULL) return a->account;
    buf_format(&text, "%s/%s%s%s", a->account, a->user, a->partition != NULL ? "/" : "",
               a->partition != NULL ? a->partition : "");
    const char *copy = arena_copy(&c->s->cycle, (struct str){text.text, text.length});
    buf_release(&text);
    return copy;
}

/* --- entries ------------------------------------------------------------------------------------------------------ */

static const char *keep(struct apply_context *c, const char *text)
{
    return text != NULL ? arena_copy(&c->outcome->audit_texts, str(text)) : NULL;
}

static void add_entry(struct apply_context *c, const struct event *event, const struct subject *s, const char *field,
                      const char *before, const char *after)
{
    *array_add(&c->outcome->audit) = (struct audit_entry){.at_us = c->now_us,
                                                          .uid = event->actor.uid,
                                                          .user = keep(c, event->actor.user),
                                                          .command = keep(c, s->command),
                                                          .name = keep(c, s->name),
                                                          .field = keep(c, field),
                                                          .before = keep(c, before),
                                                          .after = keep(c, after)};
}

/* Both have the same fields, unless one of them does not exist. */
static void add_differences(struct apply_context *c, const struct event *event, const struct subject *before,
                            const struct subject *after)
{
    uint32_t first = c->outcome->audit.count;
    const struct subject *any = after->exists ? after : before;
    bool has_both = before->exists && after->exists;
    ensure(!has_both || before->count == after->count);
    for (uint32_t i = 0; i < any->count; i++) {
        const struct fact *old = before->exists ? &before->facts[i] : NULL,
                          *new = after->exists ? &after->facts[i] : NULL;
        if (has_both ? strcmp(old->text, new->text) == 0 : any->facts[i].is_default) continue;
        add_entry(c, event, any, any->facts[i].field, old != NULL ? old->text : NULL, new != NULL ? new->text : NULL);
    }
    bool is_silent = c->outcome->audit.count == first && before->exists != after->exists;
    if (is_silent) add_entry(c, event, any, NULL, NULL, NULL);
}

/* --- settings and objects ----------------------------------------------------------------------------------------- */

static void copy_settings(struct apply_context *c, struct audit_run *run)
{
    size_t size = sizeof c->s->settings.value;
    run->settings = memcpy(arena_alloc_raw(&c->s->cycle, size), c->s->settings.value, size);
}

static const char *setting_copy(struct apply_context *c, enum setting setting, const struct field_value *value)
{
    struct buf text = {0};
    setting_format(setting, value, &text);
    const char *copy = arena_copy(&c->s->cycle, (struct str){text.text, text.length});
    buf_release(&text);
    return copy;
}

/* PriorityUsageResetPeriod=NOW is done at once, and leaves NONE. */
static bool resets_now(struct apply_context *c, const struct event_settings *wanted)
{
    bool found = false;
    for (uint32_t i = 0; i < wanted->count; i++) {
        enum setting setting;
        struct field_value value;
        const struct event_pair *pair = &wanted->pairs[i];
        if (setting_read(str(pair->key), str(pair->value), &c->s->cycle, &setting, &value, NULL) != 0) continue;
        if (setting == SET_USAGE_RESET) found = value.number == USAGE_RESET_NOW;
    }
    return found;
}

static void end_settings(struct apply_context *c, const struct event *event, const struct audit_run *run)
{
    bool is_now = resets_now(c, &event->settings);
    for (uint32_t i = 0; i < SETTING_COUNT; i++) {
        const struct field_value *old = &run->settings[i], *new = &c->s->settings.value[i];
        bool is_reset = i == SET_USAGE_RESET && is_now;
        if (!is_reset && field_equal(&settings_table[i], old, new)) continue;
        const struct subject s = {.command = event->is_of_file ? "start" : "set", .name = settings_table[i].name};
        add_entry(c, event, &s, NULL, setting_copy(c, (enum setting)i, old),
                  is_reset ? "NOW" : setting_copy(c, (enum setting)i, new));
    }
}

static const char *command_of(struct apply_context *c, const char *object, enum event_kind kind, enum event_kind add)
{
    static const char *const verbs[] = {"add", "modify", "delete"};
    char text[64];
    size_t length = text_format(text, sizeof text, "%s %s", object, verbs[kind - add]);
    ensure(length < sizeof text);
    return arena_copy(&c->s->cycle, str(text));
}

static const char *usage_text(struct apply_context *c, double usage)
{
    char text[NUMBER_TEXT_SIZE];
    text_format(text, sizeof text, "%.6g", usage);
    return arena_copy(&c->s->cycle, str(text));
}

static bool resets_object(const struct event_object *wanted)
{
    bool found = false;
    for (uint32_t i = 0; i < wanted->count && object_classes[wanted->kind].has_usage; i++)
        found |= str_equal_nocase(str(wanted->pairs[i].key), str(object_usage_reset_field.name));
    return found;
}

static void begin_object(struct apply_context *c, const struct event *event, struct audit_run *run)
{
    const struct event_object *wanted = &event->object;
    struct subject *s = run->subjects = arena_alloc(&c->s->cycle, sizeof *s);
    s->command = command_of(c, object_classes[wanted->kind].name, event->kind, EVENT_OBJECT_ADD);
    s->name = wanted->name;
    run->count = 1;
    read_object(c, wanted->kind, s);
    if (wanted->kind != OBJECT_QOS || s->index == NONE || !resets_object(wanted)) return;
    run->usage = arena_alloc(&c->s->cycle, USAGE_KIND_COUNT * sizeof *run->usage);
    usage_read_qos(c->s, s->index, c->now_us, run->usage);
}

static void end_object(struct apply_context *c, const struct event *event, const struct audit_run *run)
{
    const struct event_object *wanted = &event->object;
    struct subject *after = arena_alloc(&c->s->cycle, sizeof *after);
    *after = run->subjects[0];
    read_object(c, wanted->kind, after);
    if (event->kind == EVENT_OBJECT_DELETE) after->exists = false;
    if (event->kind == EVENT_OBJECT_MODIFY && resets_object(wanted))
        add_entry(c, event, after, object_usage_reset_field.name,
                  run->usage != NULL ? usage_text(c, run->usage[TRES_BILLING]) : NULL, "0");
    add_differences(c, event, &run->subjects[0], after);
}

/* --- associations ------------------------------------------------------------------------------------------------- */

static void read_usage(struct apply_context *c, struct audit_run *run)
{
    struct state *s = c->s;
    const double *by_node = usage_read_below(s, TRES_BILLING, c->now_us, &s->cycle);
    run->usage = arena_alloc(&s->cycle, s->assocs.count * sizeof *run->usage);
    for (uint32_t node = 0; node < state_tree(s)->count; node++) run->usage[s->assoc_of.items[node]] = by_node[node];
}

static bool is_user_event(enum event_kind kind)
{
    return kind >= EVENT_USER_ADD && kind <= EVENT_USER_DELETE;
}

/* Changes of a user may concern all associations of the user, because one of them is the default. */
static uint32_t first_assoc(const struct apply_context *c, const struct event *event)
{
    if (is_user_event(event->kind)) return map_get(&c->s->first_of_user, str(event->user.name));
    return state_find_assoc(c->s, event->account.name, NULL);
}

static uint32_t next_assoc(const struct apply_context *c, const struct event *event, uint32_t index)
{
    return is_user_event(event->kind) ? c->s->assocs.items[index].next_of_user : NONE;
}

static void set_assoc(struct apply_context *c, const struct event *event, uint32_t index, struct subject *out)
{
    bool is_of_user = is_user_event(event->kind);
    *out = (struct subject){
        .command = command_of(c, is_of_user ? "user" : "account", event->kind,
                              is_of_user ? EVENT_USER_ADD : EVENT_ACCOUNT_ADD),
        .name = name_assoc(c, &c->s->assocs.items[index]),
        .index = index,
    };
}

static void begin_assocs(struct apply_context *c, const struct event *event, struct audit_run *run)
{
    uint32_t count = 0;
    for (uint32_t i = first_assoc(c, event); i != NONE; i = next_assoc(c, event, i)) count++;
    run->subjects = arena_alloc(&c->s->cycle, (count + (size_t)1) * sizeof *run->subjects);
    run->assoc_count = c->s->assocs.count;
    for (uint32_t i = first_assoc(c, event); i != NONE; i = next_assoc(c, event, i)) {
        set_assoc(c, event, i, &run->subjects[run->count]);
        read_assoc(c, &run->subjects[run->count++]);
    }
    bool is_modified = event->kind == EVENT_ACCOUNT_MODIFY || event->kind == EVENT_USER_MODIFY;
    bool resets = is_user_event(event->kind) ? event->user.resets_usage : event->account.resets_usage;
    if (is_modified && resets) read_usage(c, run);
}

static bool is_reset(const struct event *event, const struct assoc *a)
{
    const struct event_user *wanted = &event->user;
    if (!is_user_event(event->kind)) return true;
    if (wanted->account != NULL && strcmp(a->account, wanted->account) != 0) return false;
    if (wanted->partition != NULL) return a->partition != NULL && strcmp(a->partition, wanted->partition) == 0;
    return wanted->account == NULL || a->partition == NULL;
}

static void end_assocs(struct apply_context *c, const struct event *event, const struct audit_run *run)
{
    struct subject *after = arena_alloc(&c->s->cycle, sizeof *after);
    const struct subject none = {0};
    for (uint32_t i = 0; i < run->count; i++) {
        const struct subject *before = &run->subjects[i];
        const struct assoc *a = &c->s->assocs.items[before->index];
        *after = *before;
        if (run->usage != NULL && before->exists && is_reset(event, a))
            add_entry(c, event, before, object_usage_reset_field.name, usage_text(c, run->usage[before->index]), "0");
        read_assoc(c, after);
        add_differences(c, event, before, after);
    }
    for (uint32_t i = run->assoc_count; i < c->s->assocs.count; i++) { /* rows are appended */
        set_assoc(c, event, i, after);
        read_assoc(c, after);
        add_differences(c, event, &none, after);
    }
}

/* --- jobs --------------------------------------------------------------------------------------------------------- */

static bool is_of_other(const struct apply_context *c, const struct event *event, uint32_t job)
{
    const char *user = c->s->assocs.items[c->s->jobs.items[job].assoc].user;
    return event->actor.user == NULL || strcmp(event->actor.user, user) != 0;
}

static const char *const job_commands[] = {
    [EVENT_CANCEL] = "cancel",   [EVENT_HOLD] = "hold",     [EVENT_RELEASE] = "release", [EVENT_REQUEUE] = "requeue",
    [EVENT_SUSPEND] = "suspend", [EVENT_RESUME] = "resume", [EVENT_SIGNAL] = "signal",   [EVENT_UPDATE] = "update"};

static void read_job(struct apply_context *c, const struct event *event, struct subject *s)
{
    const struct job_values *values = event->update.values;
    s->count = 0;
    for (uint32_t i = 0; i < JOB_FIELD_COUNT && s->count < FACTS_MAX; i++) {
        const struct job_field_row *row = &job_field_rows[i];
        if (!values->is_given[i] || row->home != JOB_HOME_JOB) continue;
        const struct field_value value = job_member(c->s, &c->s->jobs.items[s->index], (enum job_field)i, &c->s->cycle);
        add_fact(c, s, &row->field, &value);
    }
}

static void begin_update(struct apply_context *c, const struct event *event, struct audit_run *run)
{
    char id[JOB_ID_TEXT_SIZE];
    uint32_t job = state_find_job(c->s, event->update.job_id);
    if (job == NONE || !is_of_other(c, event, job)) return;
    run->subjects = arena_alloc(&c->s->cycle, sizeof *run->subjects);
    run->count = 1;
    job_id_format(id, event->update.job_id, NONE);
    run->subjects[0] = (struct subject){
        .command = job_commands[EVENT_UPDATE], .name = arena_copy(&c->s->cycle, str(id)), .index = job, .exists = true};
    read_job(c, event, &run->subjects[0]);
}

static void end_update(struct apply_context *c, const struct event *event, const struct audit_run *run)
{
    struct subject *after = arena_alloc(&c->s->cycle, sizeof *after);
    if (run->count == 0) return;
    *after = run->subjects[0];
    read_job(c, event, after);
    add_differences(c, event, &run->subjects[0], after);
}

/* The id of the job that a change is of, if it is another user's; otherwise NONE. */
static uint32_t changed_job(const struct apply_context *c, const struct event *event, struct change change)
{
    const struct state *s = c->s;
    uint32_t job = NONE;
    if (change.table == TABLE_JOB) job = change.index;
    if (change.table == TABLE_TASK) job = state_find_job(s, s->tasks.items[change.index].job_id);
    return job != NONE && is_of_other(c, event, job) ? s->jobs.items[job].id : NONE;
}

/* "5", "5_3", "5-7,9": cut where it is long. */
static void name_jobs(const struct event_jobs *wanted, const struct idset *ids, struct buf *out)
{
    char id[JOB_ID_TEXT_SIZE];
    if (!wanted->all && wanted->count == 1) {
        job_id_format(id, wanted->refs[0].job_id, wanted->refs[0].task_id);
        buf_add_text(out, id);
        return;
    }
    idset_format(ids, out);
    if (out->length <= IDS_BYTES_MAX) return;
    while (out->length > IDS_BYTES_MAX || out->text[out->length - 1] != ',') out->text[--out->length] = '\0';
    buf_add_text(out, "...");
}

/* Other users' jobs that a signal, which changes no row, is sent to. */
static void add_signalled(const struct apply_context *c, const struct event *event, const struct audit_run *run,
                          struct idset *out_ids)
{
    for (uint32_t i = run->decision_count; i < c->outcome->decisions.count; i++) {
        uint32_t id = c->outcome->decisions.items[i].job_id;
        if (is_of_other(c, event, state_find_job(c->s, id))) idset_add(out_ids, id);
    }
}

static void end_jobs(struct apply_context *c, const struct event *event, const struct audit_run *run)
{
    struct idset ids = {0};
    struct buf name = {0};
    bool is_signal = event->kind == EVENT_SIGNAL;
    for (uint32_t i = run->change_count; i < c->outcome->changes.count; i++) {
        uint32_t id = changed_job(c, event, c->outcome->changes.items[i]);
        if (id != NONE) idset_add(&ids, id);
    }
    if (is_signal) add_signalled(c, event, run, &ids);
    if (idset_first(&ids) != NONE) {
        name_jobs(&event->jobs, &ids, &name);
        const struct subject s = {.command = job_commands[event->kind], .name = name.text};
        add_entry(c, event, &s, NULL, NULL, is_signal ? signal_text_name(event->jobs.signal) : NULL);
    }
    idset_release(&ids);
    buf_release(&name);
}

/* --- events ------------------------------------------------------------------------------------------------------- */

static bool is_of_jobs(enum event_kind kind)
{
    return kind >= EVENT_CANCEL && kind <= EVENT_UPDATE;
}

struct audit_run *audit_begin(struct apply_context *c, const struct event *event)
{
    bool is_of_rows = event->kind <= EVENT_OBJECT_DELETE;
    if (!actor_may(&event->actor, PERMISSION_ALL_JOBS) || (!is_of_rows && !is_of_jobs(event->kind))) return NULL;
    struct audit_run *run = arena_alloc(&c->s->cycle, sizeof *run);
    run->change_count = c->outcome->changes.count;
    run->decision_count = c->outcome->decisions.count;
    if (event->kind == EVENT_SETTINGS)
        copy_settings(c, run);
    else if (event->kind >= EVENT_OBJECT_ADD && is_of_rows)
        begin_object(c, event, run);
    else if (is_of_rows)
        begin_assocs(c, event, run);
    else if (event->kind == EVENT_UPDATE)
        begin_update(c, event, run);
    return run;
}

void audit_end(struct apply_context *c, const struct event *event, const struct audit_run *run)
{
    if (run == NULL) return;
    if (event->kind == EVENT_SETTINGS)
        end_settings(c, event, run);
    else if (event->kind >= EVENT_OBJECT_ADD && event->kind <= EVENT_OBJECT_DELETE)
        end_object(c, event, run);
    else if (event->kind <= EVENT_USER_DELETE)
        end_assocs(c, event, run);
    else if (event->kind == EVENT_UPDATE)
        end_update(c, event, run);
    else
        end_jobs(c, event, run);
}
