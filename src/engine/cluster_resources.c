#include "engine/cluster_resources.h"

#include <math.h>
#include <string.h>

#include "fields/standard_resources.h"
#include "policy/tres.h"

/* --- the list ----------------------------------------------------------------------------------------------------- */

/* Of equal names the first one is found: what an administrator defines comes before "mem". */
static uint32_t add(struct cluster_resources *r, struct cluster_resource resource)
{
    uint32_t index = r->list.count;
    *array_add(&r->list) = resource;
    if (map_get(&r->by_name, str(resource.name)) == NONE) map_set(&r->by_name, str(resource.name), index);
    return index;
}

static struct cluster_resource consumable(const char *name)
{
    return (struct cluster_resource){.name = name,
                                     .type = RESOURCE_DOUBLE,
                                     .relop = RELOP_LESS_EQUAL,
                                     .is_consumable = true,
                                     .global_amount = INFINITY};
}

/* Texts are never consumed, and booleans only if they are exclusive. */
static bool may_be_consumed(enum resource_type type, enum resource_relop relop)
{
    return relop == RELOP_EXCLUSIVE || (!resource_type_is_text(type) && type != RESOURCE_BOOL);
}

static int add_object(struct cluster_resources *r, const struct object *o, struct err *e)
{
    enum resource_consumable consumption = (enum resource_consumable)o->value[RESOURCE_CONSUMABLE].number;
    int64_t amount = o->value[RESOURCE_AMOUNT].number;
    struct str default_amount = str(o->value[RESOURCE_DEFAULT_AMOUNT].text);
    struct cluster_resource resource = {.name = o->name,
                                        .type = (enum resource_type)o->value[RESOURCE_TYPE].number,
                                        .relop = (enum resource_relop)o->value[RESOURCE_RELOP].number,
                                        .is_per_job = consumption == CONSUMABLE_JOB,
                                        .global_amount = amount == FIELD_SPECIAL ? INFINITY : (double)amount};
    resource.is_consumable = consumption != CONSUMABLE_NO && may_be_consumed(resource.type, resource.relop);
    bool has_default = resource.is_consumable && !str_equal(default_amount, str("0")) &&
                       !str_equal_nocase(default_amount, str("NONE"));
    if (has_default &&
        object_resource_amount_parse(resource.type, o->name, default_amount, &resource.default_amount, e) != 0)
        return -1;
    add(r, resource);
    return 0;
}

static int add_objects(struct cluster_resources *r, const struct state *s, struct err *e)
{
    for (uint32_t i = 0; i < s->objects[OBJECT_RESOURCE].count; i++) {
        const struct object_row *row = &s->objects[OBJECT_RESOURCE].items[i];
        bool is_slots = strcmp(row->object.name, SLOTS_RESOURCE) == 0;
        *array_add(&r->of_object) = row->is_deleted ? NONE : is_slots ? (uint32_t)SCHED_SLOTS : r->list.count;
        if (!row->is_deleted && !is_slots && add_object(r, &row->object, e) != 0) return -1;
    }
    return 0;
}

static void add_gres(struct cluster_resources *r, const struct tres_table *tres)
{
    for (uint32_t i = 0; i < TRES_MAX; i++) {
        r->gres[i] = NONE;
        if (i >= tres->count || strncmp(tres->items[i].text, "gres/", 5) != 0) continue;
        r->gres[i] = add(r, consumable(tres->items[i].text));
        if (strcmp(tres->items[i].text, "gres/gpu") == 0) r->gpu = r->gres[i];
    }
}

/* GPUs of each type that a host of a document has, also if they are not tracked. */
static void add_gpus(struct cluster_resources *r, const struct state *s)
{
    if (r->gpu == NONE) r->gpu = add(r, consumable("gres/gpu"));
    for (uint32_t h = 0; h < s->hosts.count; h++) {
        const struct host_row *host = &s->hosts.items[h];
        for (uint32_t i = 0; i < host->gpu_count; i++) {
            if (cluster_resources_find(r, str(host->gpus[i].resource)) == NONE)
                add(r, consumable(host->gpus[i].resource));
        }
    }
}

int cluster_resources_make(const struct state *s, struct cluster_resources *out, struct err *e)
{
    struct cluster_resources r = {0};
    add(&r, consumable(SLOTS_RESOURCE));
    int status = add_objects(&r, s, e);
    r.mem = add(&r, consumable("mem"));
    r.gpu = NONE;
    add_gres(&r, &s->policy.tres);
    add_gpus(&r, s);
    for (uint32_t i = 0; i < STANDARD_RESOURCE_COUNT; i++) {
        const struct standard_resource *standard = &standard_resources[i];
        if (map_get(&r.by_name, str(standard->name)) != NONE) continue;
        add(&r,
            (struct cluster_resource){
                .name = standard->name, .type = standard->type, .relop = standard->relop, .global_amount = INFINITY});
    }
    *out = r;
    return status;
}

void cluster_resources_release(struct cluster_resources *r)
{
    array_release(&r->list);
    array_release(&r->of_object);
    map_release(&r->by_name);
}

uint32_t cluster_resources_find(const struct cluster_resources *r, struct str name)
{
    return map_get(&r->by_name, name);
}

bool cluster_resources_has_number(const struct cluster_resources *r, struct str name)
{
    uint32_t index = cluster_resources_find(r, name);
    return index != NONE && !resource_type_is_text(r->list.items[index].type);
}

/* At most a quarter of the letters may differ. */
static const char *find_similar(const struct cluster_resources *r, struct str name)
{
    const char *found = NULL;
    size_t min = name.length / 4 + 1;
    for (uint32_t i = 0; i < r->list.count; i++) {
        uint32_t distance = str_distance(name, str(r->list.items[i].name));
        if (distance >= min) continue;
        min = distance;
        found = r->list.items[i].name;
    }
    return found;
}

int cluster_resources_fail_unknown(const struct cluster_resources *r, struct str name, const char *field,
                                   const char *accepted, struct err *e)
{
    bool is_known = cluster_resources_find(r, name) != NONE;
    const char *similar = is_known ? NULL : find_similar(r, name);
    if (similar == NULL) return err_value(e, field, name, "%s", accepted);
    return err_value(e, field, name, "%s; did you mean '%s'?", accepted, similar);
}

/* --- in the cluster ----------------------------------------------------------------------------------------------- */

/* Of yes and no there is no more and no less. */
static enum relation relation_of(const struct cluster_resource *r)
{
    static const enum relation relations[] = {
        [RELOP_LESS_EQUAL] = RELATION_LESS_EQUAL,
        [RELOP_EQUAL] = RELATION_EQUAL,
        [RELOP_NOT_EQUAL] = RELATION_NOT_EQUAL,
        [RELOP_GREATER_EQUAL] = RELATION_GREATER_EQUAL,
        [RELOP_LESS] = RELATION_LESS,
        [RELOP_GREATER] = RELATION_GREATER,
        [RELOP_EXCLUSIVE] = RELATION_EXCLUSIVE,
    };
    bool is_order = r->relop != RELOP_NOT_EQUAL && r->relop != RELOP_EXCLUSIVE;
    return r->type == RESOURCE_BOOL && is_order ? RELATION_EQUAL : relations[r->relop];
}

void cluster_resources_define(const struct cluster_resources *r, struct cluster *c)
{
    for (uint32_t i = 0; i < r->list.count; i++) {
        const struct cluster_resource *from = &r->list.items[i];
        *array_add(&c->resources) = (struct sched_resource){.name = from->name,
                                                            .is_consumable = from->is_consumable,
                                                            .is_text = resource_type_is_text(from->type),
                                                            .ignores_case = resource_type_ignores_case(from->type),
                                                            .relation = relation_of(from)};
        if (!isinf(from->global_amount) && !resource_type_is_text(from->type))
            *array_add(&c->global.list) = (struct offer){.resource = i, .amount = from->global_amount};
    }
}

int cluster_resources_offer(const struct cluster_resources *r, uint32_t resource, struct str value, struct arena *arena,
                            struct offer *out_offer, struct err *e)
{
    const struct cluster_resource *definition = &r->list.items[resource];
    struct offer offer = {.resource = resource};
    int status = resource == r->mem
                     ? object_resource_mib_parse(definition->name, value, &offer.amount, e)
                     : object_resource_amount_parse(definition->type, definition->name, value, &offer.amount, e);
    if (status != 0) return -1;
    if (resource_type_is_text(definition->type)) offer.text = arena_copy(arena, value);
    *out_offer = offer;
    return 0;
}
