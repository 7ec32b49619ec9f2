#include "fields/standard_resources.h"

#include <string.h>

const struct standard_resource standard_resources[STANDARD_RESOURCE_COUNT] = {
    {"arch", RESOURCE_STRING, RELOP_EQUAL, true},
    {"cpu", RESOURCE_DOUBLE, RELOP_GREATER_EQUAL, false},
    {"h_rt", RESOURCE_TIME, RELOP_LESS_EQUAL, false},
    {HOST_NAME_RESOURCE, RESOURCE_HOST, RELOP_EQUAL, true},
    {"load_avg", RESOURCE_DOUBLE, RELOP_GREATER_EQUAL, false},
    {"load_long", RESOURCE_DOUBLE, RELOP_GREATER_EQUAL, false},
    {"load_medium", RESOURCE_DOUBLE, RELOP_GREATER_EQUAL, false},
    {"load_short", RESOURCE_DOUBLE, RELOP_GREATER_EQUAL, false},
    {"m_core", RESOURCE_INT, RELOP_LESS_EQUAL, true},
    {"m_socket", RESOURCE_INT, RELOP_LESS_EQUAL, true},
    {"m_thread", RESOURCE_INT, RELOP_LESS_EQUAL, true},
    {"m_topology", RESOURCE_STRING, RELOP_EQUAL, true},
    {"m_topology_inuse", RESOURCE_STRING, RELOP_EQUAL, false},
    {"mem_free", RESOURCE_MEMORY, RELOP_LESS_EQUAL, false},
    {"mem_total", RESOURCE_MEMORY, RELOP_LESS_EQUAL, false},
    {"mem_used", RESOURCE_MEMORY, RELOP_GREATER_EQUAL, false},
    {"np_load_avg", RESOURCE_DOUBLE, RELOP_GREATER_EQUAL, false},
    {"np_load_long", RESOURCE_DOUBLE, RELOP_GREATER_EQUAL, false},
    {"np_load_medium", RESOURCE_DOUBLE, RELOP_GREATER_EQUAL, false},
    {"np_load_short", RESOURCE_DOUBLE, RELOP_GREATER_EQUAL, false},
    {"num_proc", RESOURCE_INT, RELOP_EQUAL, true},
    {QUEUE_NAME_RESOURCE, RESOURCE_STRING, RELOP_EQUAL, true},
    {"s_rt", RESOURCE_TIME, RELOP_LESS_EQUAL, false},
    {"swap_free", RESOURCE_MEMORY, RELOP_LESS_EQUAL, false},
    {"swap_total", RESOURCE_MEMORY, RELOP_LESS_EQUAL, false},
    {"swap_used", RESOURCE_MEMORY, RELOP_GREATER_EQUAL, false},
    {"virtual_free", RESOURCE_MEMORY, RELOP_LESS_EQUAL, false},
    {"virtual_total", RESOURCE_MEMORY, RELOP_LESS_EQUAL, false},
    {"virtual_used", RESOURCE_MEMORY, RELOP_GREATER_EQUAL, false},
};

const struct standard_resource *standard_resource_find(struct str name)
{
    for (uint32_t i = 0; i < STANDARD_RESOURCE_COUNT; i++) {
        if (str_equal(str(standard_resources[i].name), name)) return &standard_resources[i];
    }
    return NULL;
}

struct object standard_resource_object(const struct standard_resource *standard)
{
    struct object o = object_defaults(OBJECT_RESOURCE, standard->name);
    o.value[RESOURCE_TYPE].number = standard->type;
    o.value[RESOURCE_RELOP].number = standard->relop;
    o.value[RESOURCE_CONSUMABLE].number = CONSUMABLE_NO;
    return o;
}

bool standard_resource_is_built_in(const char *name)
{
    return standard_resource_find(str(name)) != NULL || strcmp(name, SLOTS_RESOURCE) == 0;
}

struct object standard_resource_defaults(const char *name)
{
    const struct standard_resource *standard = standard_resource_find(str(name));
    struct object o = standard != NULL ? standard_resource_object(standard) : object_defaults(OBJECT_RESOURCE, name);
    o.name = name;
    return o;
}
