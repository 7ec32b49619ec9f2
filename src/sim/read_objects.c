/* `partitions`, `qos`, `users`, `projects`, `departments` and `resources`: objects of each kind, by its table of fields
 * (fields/objects.h). Documents have members in addition: the hosts of a partition, the usage of users and projects. */
#include <string.h>

#include "engine/limit_values.h"
#include "engine/user_list.h"
#include "policy/tres_text.h"
#include "sim/document.h"

/* The usage of a user in a project. */
struct project_usage {
    const char *project;
    struct ticket_usage usage;
};

/* An object of any kind while it is read. */
struct object_document {
    struct object object;
    bool given[OBJECT_FIELDS_MAX];
    const char *hosts_text; /* of a partition or group; NULL: not given */
    struct closed_time *closed;
    uint32_t closed_count;
    uint32_t *hosts; /* of a partition: indices; NULL: all */
    uint32_t host_count;
    struct ticket_usage usage; /* as of usage_us */
    int64_t usage_us;          /* INT64_MIN: not given */
    double charged;            /* of a QOS: billing-seconds */
    double charged_wall;       /* likewise seconds */
    double *charged_tres;      /* likewise, TRES_MAX entries; NULL: not given */
    bool has_usage;
    struct project_usage *project_usage; /* of a user */
    uint32_t project_usage_count;
};

int document_fail_twice(struct wire_reader *r, const char *field, const char *name)
{
    return wire_fail_at(r, field, "'%s' occurs twice", name);
}

/* --- members without a field -------------------------------------------------------------------------------------- */

/* Appends a name to a list of names. */
static int add_name(struct wire_reader *r, json_t *value, struct buf *list)
{
    const char *name;
    if (wire_read_name(r, value, &name) != 0) return -1;
    if (strpbrk(name, " \t,") != NULL) return wire_refuse(r, value, "a name without blanks and commas");
    buf_format(list, "%s%s", list->length > 0 ? "," : "", name);
    return 0;
}

int document_read_names(struct wire_reader *r, json_t *value, const char **out_text)
{
    struct buf list = {0};
    struct str text;
    struct err below;
    int status = 0;
    if (!json_is_array(value)) {
        if (wire_read_scalar(r, value, &text) != 0) return -1;
        if (host_text_names_check(text, "", &below) != 0) return wire_fail_below(r, &below);
        *out_text = arena_copy(r->arena, text);
        return 0;
    }
    for (size_t i = 0; i < json_array_size(value) && status == 0; i++) {
        size_t length = wire_enter_index(r, i);
        status = add_name(r, json_array_get(value, i), &list);
        if (status == 0) wire_leave(r, length);
    }
    *out_text = arena_copy(r->arena, list.length > 0 ? (struct str){list.text, list.length} : str("NONE"));
    buf_release(&list);
    return status;
}

/* Which hosts names mean is known after all groups have been read (resolve_hosts). */
static int read_hosts(struct wire_reader *r, json_t *value, void *target)
{
    struct object_document *o = target;
    return document_read_names(r, value, &o->hosts_text);
}

static int read_pe_list(struct wire_reader *r, json_t *value, void *target)
{
    return document_read_names(r, value, &((struct object_document *)target)->object.value[PARTITION_PE_LIST].text);
}

static int read_user_lists(struct wire_reader *r, json_t *value, void *target)
{
    return document_read_names(r, value, &((struct object_document *)target)->object.value[PARTITION_USER_LISTS].text);
}

static int read_xuser_lists(struct wire_reader *r, json_t *value, void *target)
{
    return document_read_names(r, value, &((struct object_document *)target)->object.value[PARTITION_XUSER_LISTS].text);
}

static int read_closed_time(struct wire_reader *r, json_t *value, struct closed_time *out)
{
    if (!json_is_array(value)) return wire_refuse(r, value, "a list of two times");
    if (json_array_size(value) != 2)
        return wire_fail(r, "its length is %zu; a closed time is [FROM, UNTIL], and UNTIL may be null",
                         json_array_size(value));
    if (wire_read_time(r, json_array_get(value, 0), &out->from_us) != 0) return -1;
    bool is_endless = json_is_null(json_array_get(value, 1));
    out->until_us = INT64_MAX;
    if (!is_endless && wire_read_time(r, json_array_get(value, 1), &out->until_us) != 0) return -1;
    return out->from_us < out->until_us ? 0 : wire_fail(r, "the first time is not before the second one");
}

static int check_order(struct wire_reader *r, const struct object_document *o)
{
    uint32_t i = o->closed_count;
    bool is_ascending = i == 0 || o->closed[i - 1].until_us <= o->closed[i].from_us;
    return is_ascending ? 0 : wire_fail(r, "begins before the one before it ends; closed times are in ascending order");
}

static int read_closed(struct wire_reader *r, json_t *value, void *target)
{
    struct object_document *o = target;
    if (!json_is_array(value)) return wire_refuse(r, value, "a list of times, such as [[FROM, UNTIL]]");
    size_t count = json_array_size(value);
    o->closed = arena_alloc(r->arena, (count + 1) * sizeof *o->closed);
    for (size_t i = 0; i < count; i++) {
        size_t length = wire_enter_index(r, i);
        if (read_closed_time(r, json_array_get(value, i), &o->closed[i]) != 0 || check_order(r, o) != 0) return -1;
        wire_leave(r, length);
        o->closed_count++;
    }
    return 0;
}

static int read_usage_into(struct wire_reader *r, json_t *value, struct ticket_usage *out_usage)
{
    const char *name;
    json_t *item;
    if (!json_is_object(value)) return wire_refuse(r, value, "an object of cpu, mem, io and finished_jobs");
    json_object_foreach(value, name, item)
    {
        enum usage_resource resource = usage_resource_find(str(name));
        if (resource == USAGE_RESOURCE_COUNT) return wire_fail_unknown(r, name, "cpu, mem, io, finished_jobs");
        size_t length = wire_enter(r, name);
        if (wire_read_real(r, item, 0, USAGE_MAX, &out_usage->used[resource]) != 0) return -1;
        wire_leave(r, length);
    }
    return 0;
}

int document_read_usage_tres(struct wire_reader *r, json_t *value, double **out_usage)
{
    const char *name;
    json_t *item;
    double *usage = arena_alloc(r->arena, TRES_MAX * sizeof *usage);
    if (!json_is_object(value)) return wire_refuse(r, value, "an object of TRES and seconds");
    json_object_foreach(value, name, item)
    {
        size_t length = wire_enter(r, name);
        uint32_t tres = tres_find(&document_of(r)->state->policy.tres, str(name));
        if (tres == NONE)
            return wire_fail(r, "not a tracked TRES; AccountingStorageTRES adds TRES to cpu, mem, node, ...");
        if (wire_read_real(r, item, 0, USAGE_MAX, &usage[tres]) != 0) return -1;
        wire_leave(r, length);
    }
    *out_usage = usage;
    return 0;
}

double *document_own_usage_tres(const double *usage)
{
    if (usage == NULL) return NULL;
    return memcpy(mem_resize(NULL, 0, TRES_MAX * sizeof *usage), usage, TRES_MAX * sizeof *usage);
}

static int read_qos_tres(struct wire_reader *r, json_t *value, void *target)
{
    return document_read_usage_tres(r, value, &((struct object_document *)target)->charged_tres);
}

static int read_usage(struct wire_reader *r, json_t *value, void *target)
{
    struct object_document *owner = target;
    owner->has_usage |= json_object_size(value) > 0;
    return read_usage_into(r, value, &owner->usage);
}

static int read_project_usage(struct wire_reader *r, json_t *value, void *target)
{
    struct object_document *user = target;
    const char *name;
    json_t *item;
    user->has_usage |= json_object_size(value) > 0;
    if (!json_is_object(value)) return wire_refuse(r, value, "an object of projects and the usage in each");
    user->project_usage = arena_alloc(r->arena, (json_object_size(value) + 1) * sizeof *user->project_usage);
    json_object_foreach(value, name, item)
    {
        size_t length = wire_enter(r, name);
        if (state_find_object(document_of(r)->state, OBJECT_PROJECT, name) == NONE)
            return wire_fail(r, "not a project of this document");
        struct project_usage *usage = &user->project_usage[user->project_usage_count++];
        *usage = (struct project_usage){.project = arena_copy(r->arena, str(name))};
        if (read_usage_into(r, item, &usage->usage) != 0) return -1;
        wire_leave(r, length);
    }
    return 0;
}

/* --- kinds -------------------------------------------------------------------------------------------------------- */

#define MEMBER(member) .offset = offsetof(struct object_document, member)
#define NAME                                                                         \
    {                                                                                \
        .name = "name", .type = WIRE_NAME, .is_required = true, MEMBER(object.name), \
        .help = "the name, by which other parts refer to it"                         \
    }
#define USAGE                                                    \
    {                                                            \
        .name = "usage", .type = WIRE_CUSTOM, .read = read_usage \
    }
#define USAGE_TIME                                                \
    {                                                             \
        .name = "usage_time", .type = WIRE_TIME, MEMBER(usage_us) \
    }

static const struct wire_field partition_fields[] = {
    NAME,
    {.name = "hosts", .type = WIRE_CUSTOM, .read = read_hosts},
    {.name = "closed", .type = WIRE_CUSTOM, .read = read_closed},
    {.name = "pe_list", .type = WIRE_CUSTOM, .read = read_pe_list},
    {.name = "user_lists", .type = WIRE_CUSTOM, .read = read_user_lists},
    {.name = "xuser_lists", .type = WIRE_CUSTOM, .read = read_xuser_lists},
    {0},
};
static const struct wire_field group_fields[] = {
    NAME,
    {.name = "hosts", .type = WIRE_CUSTOM, .read = read_hosts},
    {0},
};
static const struct wire_field named_fields[] = {NAME, {0}};
static const struct wire_field qos_fields[] = {
    NAME,
    {.name = "usage", .type = WIRE_DOUBLE, .max = USAGE_MAX, MEMBER(charged)},
    {.name = "usage_wall", .type = WIRE_DOUBLE, .max = USAGE_MAX, MEMBER(charged_wall)},
    {.name = "usage_tres", .type = WIRE_CUSTOM, .read = read_qos_tres},
    {0},
};
static const struct wire_field member_fields[] = {NAME, USAGE, USAGE_TIME, {0}};
static const struct wire_field user_fields[] = {
    NAME, USAGE, USAGE_TIME, {.name = "project_usage", .type = WIRE_CUSTOM, .read = read_project_usage}, {0},
};

static const struct wire_field *const fields_of_kind[OBJECT_KIND_COUNT] = {
    [OBJECT_PARTITION] = partition_fields, [OBJECT_QOS] = qos_fields,           [OBJECT_USER_POLICY] = user_fields,
    [OBJECT_PROJECT] = member_fields,      [OBJECT_DEPARTMENT] = named_fields,  [OBJECT_RESOURCE] = named_fields,
    [OBJECT_GROUP] = group_fields,         [OBJECT_ENVIRONMENT] = named_fields, [OBJECT_QUOTA] = named_fields,
};

/* Fields that documents write as lists are members of their own (above). They have closed times and no calendars. */
static const char *partition_key(uint32_t field)
{
    bool is_list = field == PARTITION_HOSTS || field == PARTITION_PE_LIST || field == PARTITION_USER_LISTS ||
                   field == PARTITION_XUSER_LISTS;
    return is_list || field == PARTITION_CALENDAR ? NULL : object_classes[OBJECT_PARTITION].fields[field].name;
}

static const char *group_key(uint32_t field)
{
    return field == GROUP_HOSTS ? NULL : object_classes[OBJECT_GROUP].fields[field].name;
}

static const char *(*const keys_of_kind[OBJECT_KIND_COUNT])(uint32_t field) = {
    [OBJECT_PARTITION] = partition_key,
    [OBJECT_GROUP] = group_key,
};

static int read_object(struct wire_reader *r, json_t *value, enum object_kind kind, struct object_document *out)
{
    struct document *d = document_of(r);
    const struct object_class *class = &object_classes[kind];
    const struct field_table table = {
        .rows = class->fields, .row_size = sizeof(struct field), .count = class->field_count};
    const struct wire_shape shape = {
        .name = class->name,
        .fields = fields_of_kind[kind],
        .size = sizeof *out,
        .table_fields = {.table = &table,
                         .values_offset = offsetof(struct object_document, object.value),
                         .given_offset = offsetof(struct object_document, given),
                         .name = keys_of_kind[kind]},
    };
    *out = (struct object_document){.object = object_defaults(kind, ""), .usage_us = INT64_MIN};
    if (wire_read_members(r, &shape, value, out) != 0) return -1;
    if (state_find_object(d->state, kind, out->object.name) != NONE)
        return document_fail_twice(r, "name", out->object.name);
    if (out->usage_us != INT64_MIN && !out->has_usage)
        return wire_fail_at(r, "usage_time", "is only accepted with 'usage'%s",
                            kind == OBJECT_USER_POLICY ? " or 'project_usage'" : "");
    if (out->usage_us == INT64_MIN) out->usage_us = d->scenario->now_us;
    d->has_objects[kind] = true;
    return 0;
}

static void restore_object(struct document *d, enum object_kind kind, const struct object_document *o)
{
    const struct object_row row = {.id = d->state->objects[kind].count + 1,
                                   .object = o->object,
                                   .created_us = d->scenario->now_us,
                                   .hosts = o->hosts,
                                   .closed = o->closed,
                                   .usage = o->charged,
                                   .usage_wall = o->charged_wall,
                                   .usage_tres = document_own_usage_tres(o->charged_tres),
                                   .closed_count = o->closed_count,
                                   .host_count = o->host_count};
    state_restore_object(d->state, kind, &row);
}

void document_restore_object(struct document *d, enum object_kind kind, const struct object *o)
{
    const struct object_document object = {.object = *o};
    restore_object(d, kind, &object);
}

static void restore_default(struct document *d, enum object_kind kind, const char *name)
{
    const struct object_document o = {.object = object_defaults(kind, name)};
    if (state_find_object(d->state, kind, name) == NONE) restore_object(d, kind, &o);
}

static void restore_usage(struct document *d, const char *user, const char *project, const struct ticket_usage *usage,
                          int64_t usage_us)
{
    const struct usage_owner row = {.user = user, .project = project, .usage = *usage, .at_us = usage_us};
    state_restore_owner(d->state, &row);
}

/* --- groups of hosts and parallel environments -------------------------------------------------------------------- */

static int read_group(struct wire_reader *r, json_t *value, uint32_t index)
{
    struct object_document group;
    (void)index;
    if (read_object(r, value, OBJECT_GROUP, &group) != 0) return -1;
    if (group.hosts_text != NULL) group.object.value[GROUP_HOSTS].text = group.hosts_text;
    restore_object(document_of(r), OBJECT_GROUP, &group);
    return 0;
}

int document_read_groups(struct wire_reader *r, json_t *value)
{
    struct document *d = document_of(r);
    struct err below;
    if (value != NULL && wire_read_items(r, value, read_group) != 0) return -1;
    return host_names_make(d->state, r->arena, &d->hosts, &below) == 0 ? 0 : wire_fail_below(r, &below);
}

static int read_environment(struct wire_reader *r, json_t *value, uint32_t index)
{
    struct object_document environment;
    (void)index;
    if (read_object(r, value, OBJECT_ENVIRONMENT, &environment) != 0) return -1;
    restore_object(document_of(r), OBJECT_ENVIRONMENT, &environment);
    return 0;
}

int document_read_environments(struct wire_reader *r, json_t *value)
{
    return wire_read_items(r, value, read_environment);
}

/* What its rules name is checked with the cluster (engine/quotas.h). */
static int read_quota(struct wire_reader *r, json_t *value, uint32_t index)
{
    struct object_document quota;
    (void)index;
    if (read_object(r, value, OBJECT_QUOTA, &quota) != 0) return -1;
    restore_object(document_of(r), OBJECT_QUOTA, &quota);
    return 0;
}

int document_read_quotas(struct wire_reader *r, json_t *value)
{
    return wire_read_items(r, value, read_quota);
}

/* --- partitions --------------------------------------------------------------------------------------------------- */

static int check_billing_weights(struct wire_reader *r, const struct object_document *partition)
{
    const struct field *f = &object_classes[OBJECT_PARTITION].fields[PARTITION_BILLING_WEIGHTS];
    struct str text = str(partition->object.value[PARTITION_BILLING_WEIGHTS].text);
    double weights[TRES_MAX];
    struct err below;
    if (text.length == 0) return 0;
    const struct tres_table *tres = &document_of(r)->state->policy.tres;
    return tres_weights_parse(tres, text, f->name, weights, &below) == 0 ? 0 : wire_fail_below(r, &below);
}

/* Names become the set of the partition's hosts, and their indices; in an instance only the names count. */
static int resolve_hosts(struct wire_reader *r, struct object_document *partition)
{
    const struct document *d = document_of(r);
    struct err below;
    uint64_t *set;
    uint32_t count = d->state->hosts.count;
    if (partition->hosts_text == NULL) return 0;
    partition->object.value[PARTITION_HOSTS].text = partition->hosts_text;
    if (host_names_set(&d->hosts, str(partition->hosts_text), "hosts", &set, &below) != 0)
        return wire_fail_below(r, &below);
    if (document_is_instance(d)) return 0;
    partition->hosts = arena_alloc(r->arena, (count + (size_t)1) * sizeof *partition->hosts);
    for (uint32_t i = 0; i < count; i++) {
        if (host_set_has(set, i)) partition->hosts[partition->host_count++] = i;
    }
    return 0;
}

static int check_user_lists(struct wire_reader *r, const struct object_document *partition)
{
    struct err below;
    return user_list_check(document_of(r)->state, &partition->object, &below) == 0 ? 0 : wire_fail_below(r, &below);
}

static int read_partition(struct wire_reader *r, json_t *value, uint32_t index)
{
    struct object_document partition;
    (void)index;
    if (read_object(r, value, OBJECT_PARTITION, &partition) != 0 || check_billing_weights(r, &partition) != 0 ||
        resolve_hosts(r, &partition) != 0 || check_user_lists(r, &partition) != 0)
        return -1;
    restore_object(document_of(r), OBJECT_PARTITION, &partition);
    return 0;
}

int document_read_partitions(struct wire_reader *r, json_t *value)
{
    struct document *d = document_of(r);
    if (value != NULL && wire_read_items(r, value, read_partition) != 0) return -1;
    if (d->state->objects[OBJECT_PARTITION].count == 0)
        restore_default(d, OBJECT_PARTITION, document_is_instance(d) ? DEFAULT_PARTITION : "");
    return 0;
}

/* --- resources and QOS -------------------------------------------------------------------------------------------- */

static int read_resource(struct wire_reader *r, json_t *value, uint32_t index)
{
    struct object_document resource;
    (void)index;
    if (read_object(r, value, OBJECT_RESOURCE, &resource) != 0) return -1;
    restore_object(document_of(r), OBJECT_RESOURCE, &resource);
    return 0;
}

int document_read_resources(struct wire_reader *r, json_t *value)
{
    return wire_read_items(r, value, read_resource);
}

/* Limits by TRES, as an instance has them. */
static int read_limits(struct wire_reader *r, struct object_document *qos)
{
    struct err below;
    for (uint32_t i = 0; i < QOS_FIELD_COUNT; i++) {
        const struct field *f = &object_classes[OBJECT_QOS].fields[i];
        struct field_value *value = &qos->object.value[i];
        struct str text = str(value->text);
        if (!f->is_tres || !qos->given[i]) continue;
        *value = f->default_value;
        if (limit_value_change(document_of(r)->state, f, text, r->arena, value, &below) != 0)
            return wire_fail_below(r, &below);
    }
    return 0;
}

/* Partitions are read before QOS. */
static int check_qos_of_partitions(struct wire_reader *r)
{
    const struct state *s = document_of(r)->state;
    for (uint32_t i = 0; i < s->objects[OBJECT_PARTITION].count; i++) {
        const struct object *p = &s->objects[OBJECT_PARTITION].items[i].object;
        const char *qos = p->value[PARTITION_QOS].text;
        if (qos[0] != '\0' && state_find_object(s, OBJECT_QOS, qos) == NONE)
            return wire_fail(r, "partition '%s' has the QOS '%s', which is not in this document", p->name, qos);
    }
    return 0;
}

static int read_one_qos(struct wire_reader *r, json_t *value, uint32_t index)
{
    struct object_document qos;
    (void)index;
    if (read_object(r, value, OBJECT_QOS, &qos) != 0 || read_limits(r, &qos) != 0) return -1;
    restore_object(document_of(r), OBJECT_QOS, &qos);
    return 0;
}

/* A job without a QOS has the QOS with the empty name and priority 0, in an instance the default QOS. */
int document_read_qos(struct wire_reader *r, json_t *value)
{
    struct document *d = document_of(r);
    if (!document_is_instance(d)) restore_default(d, OBJECT_QOS, "");
    if (value != NULL && wire_read_items(r, value, read_one_qos) != 0) return -1;
    restore_default(d, OBJECT_QOS, DEFAULT_QOS);
    return check_qos_of_partitions(r);
}

/* --- users, projects and departments ------------------------------------------------------------------------------ */

static int read_project(struct wire_reader *r, json_t *value, uint32_t index)
{
    struct document *d = document_of(r);
    struct object_document project;
    (void)index;
    if (read_object(r, value, OBJECT_PROJECT, &project) != 0) return -1;
    restore_object(d, OBJECT_PROJECT, &project);
    if (project.has_usage || !document_is_instance(d))
        restore_usage(d, "", project.object.name, &project.usage, project.usage_us);
    return 0;
}

int document_read_projects(struct wire_reader *r, json_t *value)
{
    return wire_read_items(r, value, read_project);
}

static int read_department(struct wire_reader *r, json_t *value, uint32_t index)
{
    struct object_document department;
    (void)index;
    if (read_object(r, value, OBJECT_DEPARTMENT, &department) != 0) return -1;
    restore_object(document_of(r), OBJECT_DEPARTMENT, &department);
    return 0;
}

int document_read_departments(struct wire_reader *r, json_t *value)
{
    return wire_read_items(r, value, read_department);
}

static void restore_user(struct document *d, const struct object_document *user)
{
    const char *name = user->object.name;
    restore_object(d, OBJECT_USER_POLICY, user);
    if (user->has_usage || !document_is_instance(d)) restore_usage(d, name, "", &user->usage, user->usage_us);
    for (uint32_t i = 0; i < user->project_usage_count; i++)
        restore_usage(d, name, user->project_usage[i].project, &user->project_usage[i].usage, user->usage_us);
}

/* Jobs of a document may have deadlines unless it says that their user's may not. */
static void allow_deadline(struct object *user)
{
    user->value[USER_MAY_USE_DEADLINE].number = 1;
}

/* The default department exists even if the document does not define it. */
static int read_user(struct wire_reader *r, json_t *value, uint32_t index)
{
    struct document *d = document_of(r);
    struct object_document user;
    (void)index;
    if (read_object(r, value, OBJECT_USER_POLICY, &user) != 0) return -1;
    if (!user.given[USER_MAY_USE_DEADLINE]) allow_deadline(&user.object);
    const char *department = user.object.value[USER_DEPARTMENT].text;
    bool is_default = strcmp(department, DEFAULT_DEPARTMENT) == 0;
    if (is_default && !document_is_instance(d)) restore_default(d, OBJECT_DEPARTMENT, department);
    if (!is_default && state_find_object(d->state, OBJECT_DEPARTMENT, department) == NONE)
        return wire_fail_at(r, "department", "'%s' is not a department of this document", department);
    restore_user(d, &user);
    return 0;
}

int document_read_users(struct wire_reader *r, json_t *value)
{
    return wire_read_items(r, value, read_user);
}

int document_ensure_user(struct wire_reader *r, const char *name)
{
    struct document *d = document_of(r);
    const struct policy *policy = &d->state->policy;
    struct object_document user = {.object = object_automatic_user(&d->state->settings, name)};
    allow_deadline(&user.object);
    if (state_find_object(d->state, OBJECT_USER_POLICY, name) != NONE || document_is_instance(d)) return 0;
    if (policy->model == MODEL_TICKETS && policy->enforce_user == ENFORCE_USER_TRUE)
        return wire_fail_at(r, "user", "'%s' is not a user of this document, and enforce_user is true", name);
    if (policy->enforce_user != ENFORCE_USER_AUTO) return 0;
    restore_default(d, OBJECT_DEPARTMENT, DEFAULT_DEPARTMENT);
    restore_object(d, OBJECT_USER_POLICY, &user);
    return 0;
}

/* --- usage of an instance ----------------------------------------------------------------------------------------- */

struct usage_owner_document {
    const char *user, *project;
    struct ticket_usage usage;
};

static int read_owner_usage(struct wire_reader *r, json_t *value, void *target)
{
    return read_usage_into(r, value, &((struct usage_owner_document *)target)->usage);
}

static const struct wire_field owner_fields[] = {
    {.name = "user", .type = WIRE_NAME, .offset = offsetof(struct usage_owner_document, user)},
    {.name = "project", .type = WIRE_NAME, .offset = offsetof(struct usage_owner_document, project)},
    {.name = "usage", .type = WIRE_CUSTOM, .read = read_owner_usage},
    {0},
};
static const struct wire_shape owner_shape = {
    .name = "usage owner", .fields = owner_fields, .size = sizeof(struct usage_owner_document)};

static int read_usage_owner(struct wire_reader *r, json_t *value, uint32_t index)
{
    struct document *d = document_of(r);
    struct usage_owner_document o = {0};
    char key[NAME_KEY_SIZE];
    (void)index;
    if (wire_read_members(r, &owner_shape, value, &o) != 0) return -1;
    if (o.user == NULL && o.project == NULL) return wire_fail(r, "missing 'user' or 'project': whose usage it is");
    const char *user = o.user != NULL ? o.user : "", *project = o.project != NULL ? o.project : "";
    if (map_get(&d->state->owner_by_name, state_name_key(key, user, project)) != NONE)
        return wire_fail(r, "the usage of this owner occurs twice");
    restore_usage(d, user, project, &o.usage, d->scenario->now_us);
    return 0;
}

int document_read_usage_owners(struct wire_reader *r, json_t *value)
{
    if (!document_is_instance(document_of(r)))
        return wire_fail(r, "is only accepted in the document of an instance; give 'usage' in 'users' and 'projects'");
    return wire_read_items(r, value, read_usage_owner);
}
