/* The objects of each kind, which operators add, change and delete. The tables of
 * fields/objects.h have the fields of each kind and read single values; this file checks fields in combination, and
 * references:
 *
 *     partition --> hosts, groups, environments, calendar   checked with the cluster (cluster_model.h)
 *     partition, association --> QOS                   by name; deletion is refused (also engine/assoc_limits.h)
 *     partition --> accounts, QOS that it accepts      by name; deletion is refused (partition_names.h)
 *     job --> partitions, QOS, project, resources      deletion is refused while a live job has a reference
 *     user --> department                              by name; DEFAULT_DEPARTMENT needs no row
 *     quota --> departments, projects, environments, partitions, hosts, groups, resources   with the cluster, too
 *
 * The usage of projects and users is in the rows of usage owners (charge.c), which stay when an object is deleted. */
#include <string.h>

#include "base/ensure.h"
#include "base/number.h"
#include "engine/assoc_limits.h"
#include "engine/cluster_model.h"
#include "engine/handlers.h"
#include "engine/host_loads.h"
#include "engine/limit_values.h"
#include "engine/partition_names.h"
#include "engine/placements.h"
#include "engine/user_list.h"
#include "fields/calendar_text.h"
#include "fields/host_text.h"
#include "fields/standard_resources.h"

/* --- derived members ---------------------------------------------------------------------------------------------- */

static int parse_weights(const struct policy *p, const struct object *partition, double *out_weights, struct err *e)
{
    const char *text = partition->value[PARTITION_BILLING_WEIGHTS].text;
    if (tres_weights_parse(&p->tres, str(text), "TRESBillingWeights", out_weights, e) == 0) return 0;
    return err_of(e, "partition", str(partition->name));
}

static int derive_qos(const struct state *s, struct object_row *o, struct err *e)
{
    const struct object_class *class = &object_classes[OBJECT_QOS];
    for (uint32_t i = 0; i < class->field_count; i++) {
        if (limit_value_check(s, &class->fields[i], &o->object.value[i], e) != 0)
            return err_of(e, class->name, str(o->object.name));
    }
    return setting_text_qos_flags(str(o->object.value[QOS_FLAGS].text), "flags", &o->qos_flags, e);
}

int object_derive(struct state *s, enum object_kind kind, uint32_t index, struct err *e)
{
    struct object_row *o = object_row_at(s, kind, index);
    if (kind == OBJECT_QOS) return derive_qos(s, o, e);
    if (kind != OBJECT_PARTITION) return 0;
    double weights[TRES_MAX] = {0};
    bool has_weights = o->object.value[PARTITION_BILLING_WEIGHTS].text[0] != '\0';
    if (has_weights && parse_weights(&s->policy, &o->object, weights, e) != 0) return -1;
    if (!has_weights) {
        mem_free(o->billing_weights);
        o->billing_weights = NULL;
        return 0;
    }
    if (o->billing_weights == NULL) o->billing_weights = mem_resize(NULL, 0, sizeof weights);
    memcpy(o->billing_weights, weights, sizeof weights);
    return 0;
}

int object_derive_all(struct state *s, struct err *e)
{
    for (int kind = 0; kind < OBJECT_KIND_COUNT; kind++) {
        for (uint32_t i = 0; i < s->objects[kind].count; i++) {
            if (s->objects[kind].items[i].is_deleted) continue;
            if (object_derive(s, (enum object_kind)kind, i, e) != 0) return -1;
        }
    }
    return 0;
}

/* --- checks ------------------------------------------------------------------------------------------------------- */

static int require_right(struct apply_context *c, const struct event *event, const char *verb)
{
    char what[64];
    text_format(what, sizeof what, "%s %s", verb, object_classes[event->object.kind].plural);
    return apply_require(c, &event->actor, PERMISSION_OBJECTS, what);
}

int object_find(const struct state *s, enum object_kind kind, struct str name, uint32_t *out_index, struct err *e)
{
    uint32_t index = map_get(&s->object_by_name[kind], name);
    if (index == NONE)
        return err_not_found(e, kind == OBJECT_USER_POLICY ? "user policy" : object_classes[kind].name, name);
    *out_index = index;
    return 0;
}

static int check_department(struct apply_context *c, const struct object *user)
{
    const char *department = user->value[USER_DEPARTMENT].text;
    if (strcmp(department, DEFAULT_DEPARTMENT) == 0) return 0;
    if (state_find_object(c->s, OBJECT_DEPARTMENT, department) != NONE) return 0;
    return err_not_found(c->e, "department", str(department));
}

/* Texts may be of any type for texts. */
static int check_type(struct apply_context *c, const struct object *resource)
{
    const struct standard_resource *standard = standard_resource_find(str(resource->name));
    const struct field *f = &object_classes[OBJECT_RESOURCE].fields[RESOURCE_TYPE];
    enum resource_type type = (enum resource_type)resource->value[RESOURCE_TYPE].number;
    bool is_other = standard != NULL && type != standard->type &&
                    !(resource_type_is_text(type) && resource_type_is_text(standard->type));
    if (!is_other) return 0;
    struct str own = field_choice(f->choices, standard->type);
    return err_subject(c->e, ERR_INPUT, "resource", str(resource->name), "is built in; its type is %.*s",
                       (int)own.length, own.text);
}

static int check_partition_qos(struct apply_context *c, const struct object *partition)
{
    const char *qos = partition->value[PARTITION_QOS].text;
    if (qos[0] == '\0' || state_find_object(c->s, OBJECT_QOS, qos) != NONE) return 0;
    return err_not_found(c->e, "qos", str(qos));
}

static int check_scaling(struct apply_context *c, const struct object *host)
{
    struct cluster_resources resources;
    ensure(cluster_resources_make(c->s, &resources, NULL) == 0); /* as for the cluster that there is */
    int status = host_loads_check_scaling(&resources, host->value[HOST_LOAD_SCALING].text, c->e);
    cluster_resources_release(&resources);
    return status == 0 ? 0 : err_of(c->e, "host", str(host->name));
}

/* GPUs count as far as the machine has them (cluster_model.c). Where it has none, more are a mistake. */
static int check_gpus(struct apply_context *c, const struct object *host)
{
    const struct state *s = c->s;
    uint32_t index = state_find_object(s, OBJECT_HOST, host->name);
    const char *text = host->value[HOST_COMPLEX_VALUES].text;
    struct named_values values;
    if (index == NONE || index >= s->hosts.count) return 0;
    if (!s->hosts.items[index].is_attached || s->hosts.items[index].host.gpu_count > 0) return 0;
    if (strcmp(text, s->objects[OBJECT_HOST].items[index].object.value[HOST_COMPLEX_VALUES].text) == 0) return 0;
    if (host_text_named_values(str(text), "complex_values", &c->s->cycle, &values, c->e) != 0) return -1;
    for (uint32_t i = 0; i < values.count; i++) {
        struct str amount = values.items[i].value;
        double gpus;
        if (!str_equal(values.items[i].name, str("gres/gpu")) || !number_parse_double(amount, &gpus)) continue;
        if (gpus <= 0.0) continue;
        (void)err_field(c->e, ERR_INPUT, "complex_values", "gres/gpu=%.*s: this machine has no GPUs",
                        (int)amount.length, amount.text);
        return err_of(c->e, "host", str(host->name));
    }
    return 0;
}

/* Checks the fields in combination with each other and with other objects. */
static int check_nodes(struct apply_context *c, const struct object *o)
{
    int64_t min = o->value[PARTITION_MIN_NODES].number, max = o->value[PARTITION_MAX_NODES].number;
    if (max == FIELD_SPECIAL || min <= max) return 0;
    (void)err_field(c->e, ERR_INPUT, "MinNodes", "%lld is above MaxNodes, %lld, so no job could run in the partition",
                    (long long)min, (long long)max);
    return err_of(c->e, "partition", str(o->name));
}

static int check_object(struct apply_context *c, enum object_kind kind, const struct object *o)
{
    double unused[TRES_MAX];
    if (kind == OBJECT_USER_POLICY) return check_department(c, o);
    if (kind == OBJECT_HOST) return check_scaling(c, o) == 0 ? check_gpus(c, o) : -1;
    if (kind == OBJECT_RESOURCE) return check_type(c, o);
    if (kind != OBJECT_PARTITION) return 0;
    if (check_partition_qos(c, o) != 0 || check_nodes(c, o) != 0) return -1;
    if (user_list_check(c->s, o, c->e) != 0 || partition_names_check(c->s, o, c->e) != 0)
        return err_of(c->e, "partition", str(o->name));
    if (o->value[PARTITION_BILLING_WEIGHTS].text[0] == '\0') return 0;
    return parse_weights(&c->s->policy, o, unused, c->e);
}

/* Whether the scheduler's cluster is made of objects of this kind. Rules of quotas name projects and departments. */
static bool is_of_cluster(const struct state *s, enum object_kind kind)
{
    if (kind == OBJECT_PROJECT || kind == OBJECT_DEPARTMENT) return s->object_by_name[OBJECT_QUOTA].count > 0;
    return kind == OBJECT_PARTITION || kind == OBJECT_RESOURCE || kind == OBJECT_HOST || kind == OBJECT_GROUP ||
           kind == OBJECT_ENVIRONMENT || kind == OBJECT_CALENDAR || kind == OBJECT_QUOTA;
}

/* These three check the cluster as it would be after the change; the state stays as it is. */
static int check_cluster_with(struct apply_context *c, enum object_kind kind, const struct object *added)
{
    if (!is_of_cluster(c->s, kind)) return 0;
    uint32_t index = object_row_try(c->s, kind, added);
    int status = cluster_model_check(c->s, c->e);
    object_row_remove_last(c->s, kind, index);
    return status;
}

static int check_cluster_changed(struct apply_context *c, enum object_kind kind, struct object_row *row,
                                 const struct object *changed)
{
    const struct object before = row->object;
    if (!is_of_cluster(c->s, kind)) return 0;
    row->object = *changed;
    int status = cluster_model_check(c->s, c->e);
    row->object = before;
    return status;
}

static int check_cluster_without(struct apply_context *c, enum object_kind kind, uint32_t index)
{
    struct object_row *row = object_row_at(c->s, kind, index);
    struct err why;
    if (!is_of_cluster(c->s, kind)) return 0;
    ensure(map_remove(&c->s->object_by_name[kind], str(row->object.name)));
    row->is_deleted = true;
    int status = cluster_model_check(c->s, &why);
    row->is_deleted = false;
    map_set(&c->s->object_by_name[kind], str(row->object.name), index);
    if (status == 0) return 0;
    return err_subject(c->e, ERR_CONFLICT, object_classes[kind].name, str(row->object.name),
                       "is in use: without it, %s", ERR_SENTENCE(&why));
}

static bool is_reset(const struct event_object *wanted, const struct event_pair *pair)
{
    return object_classes[wanted->kind].has_usage &&
           str_equal_nocase(str(pair->key), str(object_usage_reset_field.name));
}

static int check_reset(struct apply_context *c, const struct object *o, enum object_kind kind, const char *value)
{
    struct field_value unused;
    if (field_parse(&object_usage_reset_field, str(value), &c->s->cycle, &unused, c->e) == 0) return 0;
    return err_of(c->e, object_classes[kind].name, str(o->name));
}

/* A change of limits by TRES depends on the value before it. */
static int set_field(struct apply_context *c, struct object *o, enum object_kind kind, const struct event_pair *pair)
{
    struct arena *cycle = &c->s->cycle;
    uint32_t field = object_field_find(kind, str(pair->key));
    const struct field *f = field != NONE ? &object_classes[kind].fields[field] : NULL;
    if (f == NULL || !f->is_tres) return object_set(o, kind, str(pair->key), str(pair->value), cycle, c->e);
    if (limit_value_change(c->s, f, str(pair->value), cycle, &o->value[field], c->e) == 0) return 0;
    return err_of(c->e, object_classes[kind].name, str(o->name));
}

/* Sets the wanted fields, texts in memory of the cycle. out_resets: whether RawUsage=0 is one of them; NULL: it is not
 * accepted. */
static int set_fields(struct apply_context *c, const struct event_object *wanted, struct object *o, bool *out_resets)
{
    for (uint32_t i = 0; i < wanted->count; i++) {
        const struct event_pair *pair = &wanted->pairs[i];
        if (out_resets != NULL && is_reset(wanted, pair)) {
            if (check_reset(c, o, wanted->kind, pair->value) != 0) return -1;
            *out_resets = true;
            continue;
        }
        if (set_field(c, o, wanted->kind, pair) != 0) return -1;
    }
    return check_object(c, wanted->kind, o);
}

static int check_object_name(struct apply_context *c, const struct event_object *wanted)
{
    if (apply_check_name(object_classes[wanted->kind].name, wanted->name, c->e) != 0) return -1;
    if (wanted->kind == OBJECT_RESOURCE && strchr(wanted->name, '=') != NULL)
        return err_value_reason(c->e, "resource", str(wanted->name),
                                "has a '='; requests are written NAME=AMOUNT, so a name cannot contain it");
    if (wanted->kind == OBJECT_CALENDAR && calendar_text_is_none(str(wanted->name)))
        return err_value_reason(c->e, "calendar", str(wanted->name),
                                "stands for no calendar where partitions name theirs; give another name");
    bool is_listed = wanted->kind == OBJECT_HOST || wanted->kind == OBJECT_GROUP || wanted->kind == OBJECT_ENVIRONMENT;
    if (is_listed && !host_text_is_name(str(wanted->name)))
        return err_value_reason(c->e, object_classes[wanted->kind].name, str(wanted->name),
                                "has a blank, or one of , [ ] = @");
    return 0;
}

/* --- events ------------------------------------------------------------------------------------------------------- */

static void note_object(struct apply_context *c, enum object_kind kind, uint32_t index)
{
    apply_note_change(c, TABLE_OBJECT, object_change(kind, index));
    c->s->pass_is_due = true;
    if (kind == OBJECT_HOST) placements_rebuild(c->s);
}

uint32_t object_create(struct apply_context *c, enum object_kind kind, const struct object *o)
{
    uint32_t index = object_row_add(c->s, kind, o, c->now_us);
    ensure(object_derive(c->s, kind, index, NULL) == 0);
    note_object(c, kind, index);
    return index;
}

static int add_object(struct apply_context *c, const struct event_object *wanted)
{
    struct object o = wanted->kind == OBJECT_RESOURCE ? standard_resource_defaults(wanted->name)
                                                      : object_defaults(wanted->kind, wanted->name);
    if (set_fields(c, wanted, &o, NULL) != 0 || check_cluster_with(c, wanted->kind, &o) != 0) return -1;
    object_create(c, wanted->kind, &o);
    return 0;
}

int apply_object_add(struct apply_context *c, const struct event *event)
{
    const struct event_object *wanted = &event->object;
    const char *class = object_classes[wanted->kind].name;
    if (require_right(c, event, "add") != 0 || check_object_name(c, wanted) != 0) return -1;
    if (state_find_object(c->s, wanted->kind, wanted->name) != NONE) return err_exists(c->e, class, str(wanted->name));
    return add_object(c, wanted);
}

/* A text that does not change is not copied. */
static void replace_fields(struct apply_context *c, enum object_kind kind, struct object *old, const struct object *new)
{
    const struct object_class *class = &object_classes[kind];
    for (uint32_t i = 0; i < class->field_count; i++) {
        if (field_equal(&class->fields[i], &old->value[i], &new->value[i])) continue;
        old->value[i] = new->value[i];
        old->value[i].text = arena_copy(&c->s->arena, str(new->value[i].text));
    }
}

/* A built-in resource becomes a row with its first change. */
static bool is_unchanged_built_in(const struct state *s, const struct event_object *wanted)
{
    return wanted->kind == OBJECT_RESOURCE && standard_resource_is_built_in(wanted->name) &&
           state_find_object(s, OBJECT_RESOURCE, wanted->name) == NONE;
}

int apply_object_modify(struct apply_context *c, const struct event *event)
{
    const struct event_object *wanted = &event->object;
    uint32_t index, qos_flags = 0;
    if (require_right(c, event, "modify") != 0) return -1;
    if (is_unchanged_built_in(c->s, wanted)) return add_object(c, wanted);
    if (object_find(c->s, wanted->kind, str(wanted->name), &index, c->e) != 0) return -1;
    struct object_row *row = object_row_at(c->s, wanted->kind, index);
    struct object o = row->object;
    bool resets = false;
    if (set_fields(c, wanted, &o, &resets) != 0) return -1;
    if (wanted->kind == OBJECT_RESOURCE && row->live_jobs > 0 &&
        o.value[RESOURCE_TYPE].number != row->object.value[RESOURCE_TYPE].number)
        return err_subject(c->e, ERR_CONFLICT, "resource", str(o.name),
                           "is in use by %u live %s; its type can only change while it is unused", row->live_jobs,
                           row->live_jobs == 1 ? "job" : "jobs");
    if (check_cluster_changed(c, wanted->kind, row, &o) != 0) return -1;
    if (wanted->kind == OBJECT_QOS) {
        ensure(setting_text_qos_flags(str(o.value[QOS_FLAGS].text), "flags", &qos_flags, NULL) == 0);
        charge_change_qos_decay(c, index, (qos_flags & QOS_NO_DECAY) != 0);
    }
    if (resets) usage_reset_object(c, wanted->kind, index);
    replace_fields(c, wanted->kind, &row->object, &o);
    ensure(object_derive(c->s, wanted->kind, index, NULL) == 0);
    note_object(c, wanted->kind, index);
    return 0;
}

static uint32_t users_of_department(const struct state *s, const char *department)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->objects[OBJECT_USER_POLICY].count; i++) {
        const struct object_row *u = &s->objects[OBJECT_USER_POLICY].items[i];
        count += !u->is_deleted && strcmp(u->object.value[USER_DEPARTMENT].text, department) == 0;
    }
    return count;
}

/* Whether partitions and associations name it. */
static int check_qos_is_unused(struct apply_context *c, const char *qos)
{
    struct state *s = c->s;
    for (uint32_t i = 0; i < s->objects[OBJECT_PARTITION].count; i++) {
        const struct object_row *p = &s->objects[OBJECT_PARTITION].items[i];
        if (!p->is_deleted && strcmp(p->object.value[PARTITION_QOS].text, qos) == 0)
            return err_subject(c->e, ERR_CONFLICT, "qos", str(qos), "is in use: it is the QOS of partition '%s'",
                               p->object.name);
    }
    const char *field, *partition = partition_names_find_qos(s, qos, &field);
    if (partition != NULL)
        return err_subject(c->e, ERR_CONFLICT, "qos", str(qos), "is in use: %s of partition '%s' has it", field,
                           partition);
    uint32_t assoc = assoc_limits_find_qos(s, qos);
    if (assoc == NONE) return 0;
    const struct assoc *a = &s->assocs.items[assoc];
    if (a->user == NULL)
        return err_subject(c->e, ERR_CONFLICT, "qos", str(qos),
                           "is in use: QosLevel or DefaultQOS of account '%s' has it", a->account);
    return err_subject(c->e, ERR_CONFLICT, "qos", str(qos),
                       "is in use: QosLevel or DefaultQOS of user '%s' in account '%s' has it", a->user, a->account);
}

static int check_has_no_associations(struct apply_context *c, const char *partition)
{
    for (uint32_t i = 0; i < c->s->assocs.count; i++) {
        const struct assoc *a = &c->s->assocs.items[i];
        if (a->deleted_us != 0 || a->partition == NULL || strcmp(a->partition, partition) != 0) continue;
        return err_subject(c->e, ERR_CONFLICT, "partition", str(partition),
                           "is in use: user '%s' is in account '%s' for it; delete that first", a->user, a->account);
    }
    return 0;
}

static int check_is_unused(struct apply_context *c, enum object_kind kind, const struct object_row *row)
{
    const char *class = object_classes[kind].name, *name = row->object.name;
    if (row->live_jobs > 0)
        return err_subject(c->e, ERR_CONFLICT, class, str(name), "is in use by %u live %s; cancel or change %s first",
                           row->live_jobs, row->live_jobs == 1 ? "job" : "jobs", row->live_jobs == 1 ? "it" : "them");
    if (kind == OBJECT_QOS && strcmp(name, DEFAULT_QOS) == 0)
        return err_subject(c->e, ERR_CONFLICT, "qos", str(name), "cannot be deleted: it is the default QOS");
    if (kind == OBJECT_QOS && check_qos_is_unused(c, name) != 0) return -1;
    if (kind == OBJECT_HOST && strcmp(name, LOCAL_HOST) == 0)
        return err_subject(c->e, ERR_CONFLICT, "host", str(name), "cannot be deleted: it is this machine");
    if (kind == OBJECT_HOST && placements_use_host(c->s, state_find_object(c->s, kind, name)))
        return err_subject(c->e, ERR_CONFLICT, "host", str(name), "cannot be deleted: jobs run there");
    if (kind == OBJECT_PARTITION && c->s->object_by_name[kind].count == 1)
        return err_subject(c->e, ERR_CONFLICT, "partition", str(name), "is the only one; add another one first");
    if (kind == OBJECT_PARTITION && check_has_no_associations(c, name) != 0) return -1;
    uint32_t users =
        kind == OBJECT_DEPARTMENT && strcmp(name, DEFAULT_DEPARTMENT) != 0 ? users_of_department(c->s, name) : 0;
    if (users > 0)
        return err_subject(c->e, ERR_CONFLICT, "department", str(name),
                           "is in use by %u %s; give %s another department first", users, users == 1 ? "user" : "users",
                           users == 1 ? "it" : "them");
    bool may_be_listed = kind == OBJECT_DEPARTMENT && strcmp(name, DEFAULT_DEPARTMENT) != 0;
    const char *partition = may_be_listed ? user_list_find_partition(c->s, name) : NULL;
    if (partition == NULL) return 0;
    return err_subject(c->e, ERR_CONFLICT, "department", str(name),
                       "is in use: a list of users of partition '%s' has it", partition);
}

int apply_object_delete(struct apply_context *c, const struct event *event)
{
    const struct event_object *wanted = &event->object;
    uint32_t index;
    if (require_right(c, event, "delete") != 0) return -1;
    if (wanted->kind == OBJECT_RESOURCE && standard_resource_is_built_in(wanted->name))
        return err_subject(c->e, ERR_CONFLICT, "resource", str(wanted->name), "cannot be deleted: it is built in");
    if (object_find(c->s, wanted->kind, str(wanted->name), &index, c->e) != 0) return -1;
    struct object_row *row = object_row_at(c->s, wanted->kind, index);
    if (check_is_unused(c, wanted->kind, row) != 0 || check_cluster_without(c, wanted->kind, index) != 0) return -1;
    ensure(map_remove(&c->s->object_by_name[wanted->kind], str(row->object.name)));
    row->is_deleted = true;
    note_object(c, wanted->kind, index);
    return 0;
}
