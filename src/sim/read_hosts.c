/* `hosts`: the hosts of a document, by their table of fields (fields/objects.h). Documents have members in addition:
 * generic resources, as amounts of tracked TRES, and load values. */
#include <string.h>

#include "fields/host_text.h"
#include "fields/request_text.h"
#include "fields/standard_resources.h"
#include "sim/document.h"

struct host_document {
    struct object object;
    bool given[OBJECT_FIELDS_MAX];
    struct host_load *loads;
    uint32_t load_count;
    struct gpu_amount *gpus;
    uint32_t gpu_count;
    double gres[TRES_MAX];
    double typed[TRES_MAX]; /* by generic GRES: the sum of its typed ones, tracked or not */
    /* In an instance. */
    bool is_attached;   /* jobs can run there */
    bool is_down;       /* reported as down */
    uint32_t free_cpus; /* NONE: not given */
};

static uint32_t find_gres(const struct tres_table *tres, struct str name)
{
    struct buf text = {0};
    buf_format(&text, "gres/%.*s", (int)name.length, name.text);
    uint32_t found = tres_find(tres, (struct str){text.text, text.length});
    buf_release(&text);
    return found;
}

/* name: "gpu" or "gpu:tesla" */
static void add_gpus(struct wire_reader *r, struct host_document *host, const char *name, int64_t count)
{
    struct buf text = {0};
    buf_format(&text, "gres/%s", name);
    host->gpus[host->gpu_count++] =
        (struct gpu_amount){.resource = arena_copy(r->arena, (struct str){text.text, text.length}),
                            .tres = NONE,
                            .count = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX};
    buf_release(&text);
}

/* The GPUs of any type; 0: none are given. */
static uint32_t gpus_of_any_type(const struct host_document *host)
{
    for (uint32_t i = 0; i < host->gpu_count; i++) {
        if (strcmp(host->gpus[i].resource, "gres/gpu") == 0) return host->gpus[i].count;
    }
    return 0;
}

static int read_gres(struct wire_reader *r, json_t *value, void *target)
{
    static const struct wire_range range = {.min = 0, .max = 1e9};
    struct host_document *host = target;
    int64_t typed_gpus = 0;
    const struct tres_table *tracked = &document_of(r)->state->policy.tres; /* other GRES count nowhere, as in Slurm */
    const char *name;
    json_t *item;
    if (!json_is_object(value)) return wire_refuse(r, value, "an object of GRES and counts");
    host->gpus = arena_alloc(r->arena, (json_object_size(value) + 1) * sizeof *host->gpus);
    json_object_foreach(value, name, item)
    {
        int64_t count;
        if (!wire_is_name(str(name)))
            return wire_fail(r, "not a name of a GRES: 1 to 255 printable bytes, such as gpu or gpu:tesla");
        size_t length = wire_enter(r, name);
        if (wire_read_whole(r, item, &range, &count) != 0) return -1;
        if (document_is_instance(document_of(r)) && strcmp(name, "gpu") != 0)
            return wire_fail(r, "a machine has only 'gpu'");
        struct str type, kind = str_cut(str(name), ':', &type);
        uint32_t exact = find_gres(tracked, str(name));
        uint32_t generic = type.text != NULL ? find_gres(tracked, kind) : NONE;
        wire_leave(r, length);
        if (str_equal(kind, str("gpu")) && (count > 0 || type.text != NULL)) add_gpus(r, host, name, count);
        if (str_equal(kind, str("gpu")) && type.text != NULL) typed_gpus += count;
        if (exact != NONE) host->gres[exact] = (double)count;
        if (generic != NONE) host->typed[generic] += (double)count;
    }
    if (typed_gpus > 0 && gpus_of_any_type(host) == 0) add_gpus(r, host, "gpu", typed_gpus);
    return 0;
}

static int check_load(struct wire_reader *r, const char *name, struct str text)
{
    struct err below;
    double unused;
    const struct standard_resource *standard = standard_resource_find(str(name));
    uint32_t index = state_find_object(document_of(r)->state, OBJECT_RESOURCE, name);
    if (index == NONE && standard == NULL) return wire_fail(r, "not a resource of this document");
    enum resource_type type = index == NONE ? standard->type : document_resource_type(document_of(r), index);
    if (object_resource_amount_parse(type, name, text, &unused, &below) == 0) return 0;
    below.subject[0] = below.name[0] = below.field[0] = '\0'; /* the path has the names already */
    return wire_fail_below(r, &below);
}

/* The machine of an instance may report anything; what is not a value of a resource counts nowhere. */
static int read_load(struct wire_reader *r, const char *name, json_t *value, struct host_load *out)
{
    struct str text;
    if (wire_read_scalar(r, value, &text) != 0) return -1;
    if (!document_is_instance(document_of(r)) && check_load(r, name, text) != 0) return -1;
    *out = (struct host_load){arena_copy(r->arena, str(name)), arena_copy(r->arena, text)};
    return 0;
}

static int read_loads(struct wire_reader *r, json_t *value, void *target)
{
    struct host_document *host = target;
    const char *name;
    json_t *item;
    if (!json_is_object(value)) return wire_refuse(r, value, "an object of load values");
    host->loads = arena_alloc(r->arena, (json_object_size(value) + 1) * sizeof *host->loads);
    json_object_foreach(value, name, item)
    {
        size_t length = wire_enter(r, name);
        if (read_load(r, name, item, &host->loads[host->load_count]) != 0) return -1;
        host->load_count++;
        wire_leave(r, length);
    }
    return 0;
}

static int read_features(struct wire_reader *r, json_t *value, void *target)
{
    const char **text = &((struct host_document *)target)->object.value[HOST_FEATURES].text;
    struct err below;
    if (document_read_names(r, value, text) != 0) return -1;
    if (request_text_features_check(str(*text), "features", &below) == 0) return 0;
    return wire_fail(r, "'%s' is not a feature: a name without any of & | ( ) [ ] * = @", below.value);
}

#define MEMBER(member) .offset = offsetof(struct host_document, member)

static const struct wire_field fields[] = {
    {.name = "name", .type = WIRE_NAME, .is_required = true, MEMBER(object.name), .help = "the host's name"},
    {.name = "gres", .type = WIRE_CUSTOM, .read = read_gres},
    {.name = "attached", .type = WIRE_BOOL, MEMBER(is_attached)},
    {.name = "down", .type = WIRE_BOOL, MEMBER(is_down)},
    {.name = "free_cpus", .type = WIRE_U32, MEMBER(free_cpus), .max = CPUS_MAX},
    {.name = "load_values", .type = WIRE_CUSTOM, .read = read_loads},
    {.name = "features", .type = WIRE_CUSTOM, .read = read_features},
    {0},
};

/* Jobs can run on the first host of an instance, unless the document says that it is not attached. */
static int read_members(struct wire_reader *r, json_t *value, uint32_t index, struct host_document *out)
{
    const struct object_class *class = &object_classes[OBJECT_HOST];
    const struct field_table table = {
        .rows = class->fields, .row_size = sizeof(struct field), .count = class->field_count};
    const struct wire_shape shape = {.name = class->name,
                                     .fields = fields,
                                     .size = sizeof *out,
                                     .table_fields = {.table = &table,
                                                      .values_offset = offsetof(struct host_document, object.value),
                                                      .given_offset = offsetof(struct host_document, given)}};
    *out = (struct host_document){.object = object_defaults(OBJECT_HOST, ""),
                                  .is_attached = index == 0 && document_is_instance(document_of(r)),
                                  .free_cpus = NONE};
    return wire_read_members(r, &shape, value, out);
}

/* The amount of a generic GRES without a count is the sum of its typed ones. */
static void restore_host(struct document *d, const struct host_document *host)
{
    int64_t cpus = host->object.value[HOST_CPUS].number, mem_mib = host->object.value[HOST_MEM].number;
    const struct capacity has = {.cpus = cpus == FIELD_SPECIAL ? 1 : (uint32_t)cpus,
                                 .mem_mib = mem_mib == FIELD_SPECIAL ? 0 : (uint64_t)mem_mib};
    double tres[TRES_MAX];
    for (uint32_t i = 0; i < TRES_MAX; i++) tres[i] = host->gres[i] > 0.0 ? host->gres[i] : host->typed[i];
    tres[TRES_CPU] = has.cpus;
    tres[TRES_MEM] = (double)has.mem_mib;
    tres[TRES_NODE] = 1.0;
    const struct host_row row = {.host.has = has,
                                 .tres = tres,
                                 .gpus = host->gpus,
                                 .gpu_count = host->gpu_count,
                                 .loads = host->loads,
                                 .load_count = host->load_count};
    state_restore_host(d->state, &row);
    document_restore_object(d, OBJECT_HOST, &host->object);
}

/* Hosts on which jobs can run have what the document says; the others are only described. */
static int check_host_of_instance(struct wire_reader *r, const struct host_document *host, uint32_t index)
{
    int64_t cpus = host->object.value[HOST_CPUS].number;
    if (index == 0 && strcmp(host->object.name, LOCAL_HOST) != 0)
        return wire_fail_at(r, "name", "'%s' is not '" LOCAL_HOST "', the first host of an instance",
                            host->object.name);
    if (host->is_attached && (cpus == FIELD_SPECIAL || cpus > CPUS_MAX))
        return wire_fail_at(r, "cpus", "a host on which jobs can run has from 0 to %d CPUs", CPUS_MAX);
    if (gpus_of_any_type(host) > GPUS_MAX) return wire_fail_at(r, "gres", "a machine has at most %d GPUs", GPUS_MAX);
    if (host->free_cpus != NONE && (!host->is_attached || host->free_cpus > cpus))
        return wire_fail_at(r, "free_cpus", "only a host on which jobs can run has them, at most its CPUs");
    if (host->is_down && !host->is_attached) return wire_fail_at(r, "down", "the host is not attached");
    return 0;
}

static int restore_host_of_instance(struct wire_reader *r, struct host_document *host, uint32_t index)
{
    struct document *d = document_of(r);
    int64_t mem_mib = host->object.value[HOST_MEM].number;
    if (check_host_of_instance(r, host, index) != 0) return -1;
    document_restore_object(d, OBJECT_HOST, &host->object);
    struct host_row *row = array_add(&d->state->hosts);
    *row = (struct host_row){.is_attached = host->is_attached,
                             .is_down = host->is_down,
                             .loads = host->loads,
                             .load_count = host->load_count};
    *array_add(&d->free_cpus) = host->free_cpus;
    if (host->is_attached)
        row->detected = (struct capacity){.cpus = (uint32_t)host->object.value[HOST_CPUS].number,
                                          .mem_mib = mem_mib == FIELD_SPECIAL ? 0 : (uint64_t)mem_mib,
                                          .gpus = gpus_of_any_type(host)};
    return 0;
}

static int read_host(struct wire_reader *r, json_t *value, uint32_t index)
{
    struct host_document host;
    if (read_members(r, value, index, &host) != 0) return -1;
    const char *name = host.object.name;
    if (!host_text_is_name(str(name))) return wire_fail_at(r, "name", "'%s' has a blank, or one of , [ ] = @", name);
    if (state_find_object(document_of(r)->state, OBJECT_HOST, name) != NONE)
        return document_fail_twice(r, "name", name);
    if (document_is_instance(document_of(r))) return restore_host_of_instance(r, &host, index);
    if (host.free_cpus != NONE) return wire_fail_at(r, "free_cpus", "is only accepted in the document of an instance");
    if (host.is_attached) return wire_fail_at(r, "attached", "is only accepted in the document of an instance");
    if (host.is_down) return wire_fail_at(r, "down", "is only accepted in the document of an instance");
    restore_host(document_of(r), &host);
    return 0;
}

int document_read_hosts(struct wire_reader *r, json_t *value)
{
    const struct state *s = document_of(r)->state;
    uint64_t cpus = 0;
    if (value != NULL && wire_read_items(r, value, read_host) != 0) return -1;
    if (document_is_instance(document_of(r)) && s->objects[OBJECT_HOST].count == 0)
        return wire_fail(r, "missing; the first host of an instance is '" LOCAL_HOST "'");
    for (uint32_t i = 0; i < s->hosts.count; i++) cpus += s->hosts.items[i].host.has.cpus;
    if (cpus <= UINT32_MAX) return 0;
    return wire_fail(r, "%llu CPUs in all; at most 4294967295 are accepted", (unsigned long long)cpus);
}
