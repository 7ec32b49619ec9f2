/* What an administrator names, each kind by its table of fields (policy/objects.h), beside the keys that only documents
 * have: a partition's hosts, and what users and projects used. */
#include <string.h>

#include "policy/policy_text.h"
#include "sim/reader.h"

static const char default_department[] = "defaultdepartment";

/* --- any kind ------------------------------------------------------------------------------------------------------- */

/* A kind's keys beside its fields. Every kind has a name, which is the object's. */
struct form {
    enum object_kind kind;
    const struct key *keys;
    uint32_t count;
};

static int read_field(struct reader *r, const char *name, json_t *value, const struct form *form, struct object *object,
                      uint32_t *io_seen)
{
    const struct object_class *class = &object_classes[form->kind];
    uint32_t place = field_find(class->fields, class->field_count, str(name));
    struct str text;
    struct err below;
    if (place == NONE) return key_unknown(r, name, form->keys, form->count, class->fields, class->field_count);
    size_t length = reader_enter(r, name);
    if (*io_seen & 1u << place) return reader_fail(r, "it is said twice");
    if (read_scalar(r, value, &text) != 0) return -1;
    reader_leave(r, length);
    if (field_parse(&class->fields[place], text, &r->s->arena, &object->value[place], &below) != 0)
        return reader_fail_below(r, &below);
    *io_seen |= 1u << place;
    return 0;
}

_Static_assert(offsetof(struct scenario_partition, object) == 0 && offsetof(struct scenario_member, object) == 0,
               "read_by_form takes the object for the struct that it begins");

/* target: the struct that form's keys fill, which begins with the object. */
static int read_by_form(struct reader *r, json_t *value, const struct form *form, struct object *target)
{
    const char *name;
    json_t *item;
    uint32_t seen = 0;
    if (!json_is_object(value)) return reader_refuse(r, value, "an object");
    *target = object_defaults(form->kind, "");
    json_object_foreach(value, name, item)
    {
        const struct key *key = key_find(form->keys, form->count, name);
        int status = key != NULL ? read_key(r, item, key, target) : read_field(r, name, item, form, target, &seen);
        if (status != 0) return -1;
    }
    return check_needed(r, value, form->keys, form->count);
}

/* Notes where the name is. It is new. */
static int add_name(struct reader *r, struct map *names, const char *name, uint32_t index)
{
    uint32_t other = map_get(names, str(name));
    if (other != NONE) return reader_fail_at(r, "name", "'%s' is there already, at [%u]", name, other);
    map_set(names, str(name), index);
    return 0;
}

/* --- hosts ---------------------------------------------------------------------------------------------------------- */

/* A host while it is read. */
struct host_keys {
    const char *name;
    uint32_t cpus;
    uint64_t mem_mib;
    double gres[TRES_MAX];
    double typed[TRES_MAX]; /* by generic GRES: the sum of its typed ones, tracked or not */
};

static uint32_t find_gres(const struct tres_table *tres, struct str name)
{
    struct buf text = {0};
    buf_format(&text, "gres/%.*s", (int)name.length, name.text);
    uint32_t found = tres_find(tres, (struct str){text.text, text.length});
    buf_release(&text);
    return found;
}

static int read_gres(struct reader *r, json_t *value, void *target)
{
    struct host_keys *host = target;
    const struct tres_table *tres = &r->s->policy.tres;
    const char *name;
    json_t *item;
    if (!json_is_object(value)) return reader_refuse(r, value, "an object of GRES and counts");
    json_object_foreach(value, name, item)
    {
        int64_t count = 0;
        if (!name_is_good(name, strlen(name)))
            return reader_fail(r, "a GRES is named with 1 to 255 printable bytes, like gpu or gpu:tesla");
        size_t length = reader_enter(r, name);
        if (read_whole(r, item, 0, 1e9, &count) != 0) return -1;
        reader_leave(r, length);
        struct str type, kind = str_cut(str(name), ':', &type);
        uint32_t own = find_gres(tres, str(name)), generic = type.text != NULL ? find_gres(tres, kind) : NONE;
        if (own != NONE) host->gres[own] = (double)count;
        if (generic != NONE) host->typed[generic] += (double)count;
    }
    return 0;
}

static int read_host_memory(struct reader *r, json_t *value, void *target)
{
    return read_memory(r, value, &((struct host_keys *)target)->mem_mib);
}

static const struct key host_keys[] = {
    NEEDED_NAME_KEY("name", struct host_keys, name),
    U32_KEY("cpus", struct host_keys, cpus, 0, 4294967295.0),
    OTHER_KEY("mem", read_host_memory),
    OTHER_KEY("gres", read_gres),
};

static int read_host(struct reader *r, json_t *value, uint32_t index)
{
    const struct tres_table *tres = &r->s->policy.tres;
    struct host_keys keys = {.cpus = 1};
    if (read_object(r, value, host_keys, COUNT_OF(host_keys), &keys) != 0) return -1;
    if (add_name(r, &r->s->host_names, keys.name, index) != 0) return -1;

    struct scenario_host *host = array_add(&r->s->hosts);
    *host = (struct scenario_host){.name = keys.name, .cpus = keys.cpus};
    host->tres.items = arena_alloc(&r->s->arena, tres->count * sizeof *host->tres.items);
    keys.gres[TRES_CPU] = keys.cpus;
    keys.gres[TRES_MEM] = (double)keys.mem_mib;
    keys.gres[TRES_NODE] = 1.0;
    for (uint32_t i = 0; i < tres->count; i++) {
        double amount = keys.gres[i] > 0.0 ? keys.gres[i] : keys.typed[i];
        if (amount > 0.0) host->tres.items[host->tres.count++] = (struct tres_amount){i, amount};
    }
    return 0;
}

int read_hosts(struct reader *r, json_t *value)
{
    uint64_t cpus = 0;
    if (read_list(r, value, read_host) != 0) return -1;
    for (uint32_t i = 0; i < r->s->hosts.count; i++) cpus += r->s->hosts.items[i].cpus;
    return cpus <= UINT32_MAX ? 0 : reader_fail(r, "%llu CPUs in all; at most 4294967295", (unsigned long long)cpus);
}

/* --- partitions ----------------------------------------------------------------------------------------------------- */

static int read_partition_hosts(struct reader *r, json_t *value, void *target)
{
    struct scenario_partition *partition = target;
    if (!json_is_array(value)) return reader_refuse(r, value, "a list of names of hosts");
    size_t count = json_array_size(value);
    uint32_t *hosts = arena_alloc(&r->s->arena, (count + 1) * sizeof *hosts);
    struct map seen = {0};
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++) {
        size_t length = reader_enter_index(r, i);
        status = read_reference(r, json_array_get(value, i), &r->s->host_names, "host", &hosts[i]);
        if (status == 0 && map_get_u64(&seen, hosts[i]) != NONE) status = reader_fail(r, "the host is there already");
        if (status == 0) map_set_u64(&seen, hosts[i], 1);
        if (status == 0) reader_leave(r, length);
    }
    map_release(&seen);
    partition->hosts = hosts;
    partition->host_count = (uint32_t)count;
    return status;
}

static const struct key partition_keys[] = {
    NEEDED_NAME_KEY("name", struct scenario_partition, object.name),
    OTHER_KEY("hosts", read_partition_hosts),
};
static const struct form partition_form = {OBJECT_PARTITION, partition_keys, COUNT_OF(partition_keys)};

static int read_billing_weights(struct reader *r, struct scenario_partition *partition)
{
    struct str text = str(partition->object.value[PARTITION_BILLING_WEIGHTS].text);
    const struct tres_table *tres = &r->s->policy.tres;
    struct err below;
    if (text.length == 0) return 0;
    double *weights = arena_alloc(&r->s->arena, tres->count * sizeof *weights);
    partition->weights = weights;
    const char *name = object_classes[OBJECT_PARTITION].fields[PARTITION_BILLING_WEIGHTS].name;
    return tres_weights_parse(tres, text, name, weights, &below) == 0 ? 0 : reader_fail_below(r, &below);
}

static int read_partition(struct reader *r, json_t *value, uint32_t index)
{
    struct scenario_partition *partition = array_add(&r->s->partitions);
    if (read_by_form(r, value, &partition_form, &partition->object) != 0) return -1;
    if (add_name(r, &r->s->partition_names, partition->object.name, index) != 0) return -1;
    return read_billing_weights(r, partition);
}

static void add_totals(const struct scenario_host *host, double *totals)
{
    for (uint32_t i = 0; i < host->tres.count; i++) totals[host->tres.items[i].tres] += host->tres.items[i].amount;
}

/* Licences are the cluster's: every partition has all of them. */
static const double *license_totals(struct scenario *s)
{
    double *totals = arena_alloc(&s->arena, s->policy.tres.count * sizeof *totals);
    struct buf name = {0};
    for (uint32_t i = 0; i < s->resources.count; i++) {
        const struct object *resource = &s->resources.items[i];
        int64_t amount = resource->value[RESOURCE_AMOUNT].number;
        buf_clear(&name);
        buf_format(&name, "license/%s", resource->name);
        uint32_t place = tres_find(&s->policy.tres, (struct str){name.text, name.length});
        if (place != NONE && amount != FIELD_SPECIAL) totals[place] = (double)amount;
    }
    buf_release(&name);
    return totals;
}

static void finish_partitions(struct scenario *s)
{
    const double *licenses = license_totals(s);
    if (s->partitions.count == 0) array_add(&s->partitions)->object = object_defaults(OBJECT_PARTITION, "");
    for (uint32_t p = 0; p < s->partitions.count; p++) {
        struct scenario_partition *partition = &s->partitions.items[p];
        double *totals = arena_alloc(&s->arena, s->policy.tres.count * sizeof *totals);
        memcpy(totals, licenses, s->policy.tres.count * sizeof *totals);
        uint32_t count = partition->hosts != NULL ? partition->host_count : s->hosts.count;
        for (uint32_t i = 0; i < count; i++)
            add_totals(&s->hosts.items[partition->hosts != NULL ? partition->hosts[i] : i], totals);
        partition->totals = totals;
    }
}

int read_partitions(struct reader *r, json_t *value)
{
    if (value != NULL && read_list(r, value, read_partition) != 0) return -1;
    finish_partitions(r->s);
    return 0;
}

/* --- resources and QOS ---------------------------------------------------------------------------------------------- */

static const struct key resource_keys[] = {NEEDED_NAME_KEY("name", struct object, name)};
static const struct form resource_form = {OBJECT_RESOURCE, resource_keys, COUNT_OF(resource_keys)};

static int read_resource(struct reader *r, json_t *value, uint32_t index)
{
    struct object *resource = array_add(&r->s->resources);
    if (read_by_form(r, value, &resource_form, resource) != 0) return -1;
    if (str_equal(str(resource->name), str("slots"))) r->s->slots_urgency = resource->value[RESOURCE_URGENCY].real;
    return add_name(r, &r->s->resource_names, resource->name, index);
}

int read_resources(struct reader *r, json_t *value)
{
    return read_list(r, value, read_resource);
}

static const struct key qos_keys[] = {NEEDED_NAME_KEY("name", struct object, name)};
static const struct form qos_form = {OBJECT_QOS, qos_keys, COUNT_OF(qos_keys)};

static int read_one_qos(struct reader *r, json_t *value, uint32_t index)
{
    struct object *qos = array_add(&r->s->qos);
    if (read_by_form(r, value, &qos_form, qos) != 0) return -1;
    return add_name(r, &r->s->qos_names, qos->name, index);
}

int read_qos(struct reader *r, json_t *value)
{
    return read_list(r, value, read_one_qos);
}

/* --- users, projects and departments -------------------------------------------------------------------------------- */

static int read_usage_into(struct reader *r, json_t *value, struct ticket_usage *out_usage)
{
    const char *name;
    json_t *item;
    if (!json_is_object(value)) return reader_refuse(r, value, "an object of cpu, mem, io and finished_jobs");
    json_object_foreach(value, name, item)
    {
        enum usage_resource resource = usage_resource_find(str(name));
        if (resource == USAGE_RESOURCE_COUNT)
            return reader_fail(r, "no key '%.60s'; there are: cpu, mem, io, finished_jobs", name);
        size_t length = reader_enter(r, name);
        if (read_real(r, item, 0, USAGE_MAX, &out_usage->used[resource]) != 0) return -1;
        reader_leave(r, length);
    }
    return 0;
}

static int read_usage(struct reader *r, json_t *value, void *target)
{
    return read_usage_into(r, value, &((struct scenario_member *)target)->usage);
}

static int read_project_usage(struct reader *r, json_t *value, void *target)
{
    struct scenario_member *user = target;
    const char *name;
    json_t *item;
    if (!json_is_object(value)) return reader_refuse(r, value, "an object of projects and what was used in them");
    json_object_foreach(value, name, item)
    {
        size_t length = reader_enter(r, name);
        uint32_t project = map_get(&r->s->project_names, str(name));
        if (project == NONE) return reader_fail(r, "there is no such project in this document");
        struct project_usage *usage = array_add(&user->project_usage);
        *usage = (struct project_usage){.project = project};
        if (read_usage_into(r, item, &usage->usage) != 0) return -1;
        reader_leave(r, length);
    }
    return 0;
}

#define MEMBER_KEYS                                                 \
    NEEDED_NAME_KEY("name", struct scenario_member, object.name),   \
        MOMENT_KEY("usage_time", struct scenario_member, usage_us), \
    {                                                               \
        "usage", KEY_OTHER, false, 0, 0, 0, read_usage              \
    }

static const struct key member_keys[] = {MEMBER_KEYS};
static const struct key user_keys[] = {MEMBER_KEYS, OTHER_KEY("project_usage", read_project_usage)};
static const struct form user_form = {OBJECT_USER, user_keys, COUNT_OF(user_keys)};
static const struct form project_form = {OBJECT_PROJECT, member_keys, COUNT_OF(member_keys)};
static const struct form department_form = {OBJECT_DEPARTMENT, member_keys, COUNT_OF(member_keys)};

static int read_member(struct reader *r, json_t *value, const struct form *form, struct scenario_member *member)
{
    member->usage_us = r->s->now_us;
    if (read_by_form(r, value, form, &member->object) != 0) return -1;
    member->fshare = (double)member->object.value[USER_FSHARE].number;
    member->oticket = (double)member->object.value[USER_OTICKET].number;
    return 0;
}

_Static_assert((int)USER_FSHARE == (int)PROJECT_FSHARE && (int)USER_OTICKET == (int)PROJECT_OTICKET,
               "read_member reads all kinds by a user's places");

static int read_project(struct reader *r, json_t *value, uint32_t index)
{
    struct scenario_member *project = array_add(&r->s->projects);
    if (read_member(r, value, &project_form, project) != 0) return -1;
    return add_name(r, &r->s->project_names, project->object.name, index);
}

int read_projects(struct reader *r, json_t *value)
{
    return read_list(r, value, read_project);
}

static int read_department(struct reader *r, json_t *value, uint32_t index)
{
    struct scenario_member *department = array_add(&r->s->departments);
    if (read_member(r, value, &department_form, department) != 0) return -1;
    return add_name(r, &r->s->department_names, department->object.name, index);
}

int read_departments(struct reader *r, json_t *value)
{
    return read_list(r, value, read_department);
}

/* Every user is in a department: the default one is there whether the document has it or not. */
static uint32_t find_default_department(struct scenario *s)
{
    uint32_t index = map_get(&s->department_names, str(default_department));
    if (index != NONE) return index;
    index = s->departments.count;
    array_add(&s->departments)->object = object_defaults(OBJECT_DEPARTMENT, default_department);
    map_set(&s->department_names, str(default_department), index);
    return index;
}

static int read_user(struct reader *r, json_t *value, uint32_t index)
{
    struct scenario_member *user = array_add(&r->s->users);
    if (read_member(r, value, &user_form, user) != 0) return -1;
    const char *department = user->object.value[USER_DEPARTMENT].text;
    user->department = str_equal(str(department), str(default_department))
                           ? find_default_department(r->s)
                           : map_get(&r->s->department_names, str(department));
    if (user->department == NONE)
        return reader_fail_at(r, "department", "'%s' is not a department of this document", department);
    return add_name(r, &r->s->user_names, user->object.name, index);
}

int read_users(struct reader *r, json_t *value)
{
    return read_list(r, value, read_user);
}

int member_of_user(struct reader *r, const char *name, uint32_t *out_member)
{
    struct scenario *s = r->s;
    uint32_t index = map_get(&s->user_names, str(name));
    if (index == NONE && s->policy.model == MODEL_TICKETS && s->policy.enforce_user == ENFORCE_USER_TRUE)
        return reader_fail_at(r, "user", "'%s' is not a user of this document, and enforce_user is true", name);
    if (index == NONE && s->policy.enforce_user == ENFORCE_USER_AUTO) {
        index = s->users.count;
        struct scenario_member *user = array_add(&s->users);
        *user = (struct scenario_member){
            .object = object_defaults(OBJECT_USER, name),
            .fshare = (double)setting_number(&s->settings, SET_GE_AUTO_USER_FSHARE),
            .oticket = (double)setting_number(&s->settings, SET_GE_AUTO_USER_OTICKET),
            .usage_us = s->now_us,
            .department = find_default_department(s),
        };
        map_set(&s->user_names, str(name), index);
    }
    *out_member = index;
    return 0;
}
