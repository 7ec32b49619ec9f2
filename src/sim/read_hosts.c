/* `hosts`: the hosts of a document and their generic resources, as amounts of tracked TRES. */
#include <string.h>

#include "sim/document.h"

struct host_document {
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

static int read_gres(struct wire_reader *r, json_t *value, void *target)
{
    static const struct wire_range range = {.min = 0, .max = 1e9};
    struct host_document *host = target;
    const struct tres_table *tracked = &document_of(r)->state->policy.tres; /* other GRES count nowhere, as in Slurm */
    const char *name;
    json_t *item;
    if (!json_is_object(value)) return wire_refuse(r, value, "an object of GRES and counts");
    json_object_foreach(value, name, item)
    {
        int64_t count;
        if (!wire_is_name(str(name)))
            return wire_fail(r, "not a name of a GRES: 1 to 255 printable bytes, such as gpu or gpu:tesla");
        size_t length = wire_enter(r, name);
        if (wire_read_whole(r, item, &range, &count) != 0) return -1;
        struct str type, kind = str_cut(str(name), ':', &type);
        uint32_t exact = find_gres(tracked, str(name));
        uint32_t generic = type.text != NULL ? find_gres(tracked, kind) : NONE;
        wire_leave(r, length);
        if (exact != NONE) host->gres[exact] = (double)count;
        if (generic != NONE) host->typed[generic] += (double)count;
    }
    return 0;
}

#define MEMBER(member) .offset = offsetof(struct host_document, member)

static const struct wire_field fields[] = {
    {.name = "name", .type = WIRE_NAME, .is_required = true, MEMBER(name), .help = "the host's name"},
    {.name = "cpus", .type = WIRE_U32, MEMBER(cpus), .max = UINT32_MAX},
    {.name = "mem", .type = WIRE_MEMORY, MEMBER(mem_mib)},
    {.name = "gres", .type = WIRE_CUSTOM, .read = read_gres},
    {0},
};
static const struct wire_shape shape = {.name = "host", .fields = fields, .size = sizeof(struct host_document)};

/* The amount of a generic GRES without a count is the sum of its typed ones. */
static int read_host(struct wire_reader *r, json_t *value, uint32_t index)
{
    struct document *d = document_of(r);
    struct host_document host = {.cpus = 1};
    if (wire_read_members(r, &shape, value, &host) != 0) return -1;
    if (map_get(&d->host_names, str(host.name)) != NONE) return document_fail_twice(r, "name", host.name);
    map_set(&d->host_names, str(host.name), index);
    double tres[TRES_MAX];
    for (uint32_t i = 0; i < TRES_MAX; i++) tres[i] = host.gres[i] > 0.0 ? host.gres[i] : host.typed[i];
    tres[TRES_CPU] = host.cpus;
    tres[TRES_MEM] = (double)host.mem_mib;
    tres[TRES_NODE] = 1.0;
    const struct host_row row = {.name = host.name, .has = {.cpus = host.cpus, .mem_mib = host.mem_mib}, .tres = tres};
    state_restore_host(d->state, &row);
    return 0;
}

int document_read_hosts(struct wire_reader *r, json_t *value)
{
    const struct state *s = document_of(r)->state;
    uint64_t cpus = 0;
    if (wire_read_items(r, value, read_host) != 0) return -1;
    for (uint32_t i = 0; i < s->hosts.count; i++) cpus += s->hosts.items[i].has.cpus;
    if (cpus <= UINT32_MAX) return 0;
    return wire_fail(r, "%llu CPUs in all; at most 4294967295 are accepted", (unsigned long long)cpus);
}
