/* Resources that every cluster has: load values and attributes that hosts report, and run times, which jobs request. An
 * administrator can change all but their type; a document may define others of the name. Source: Grid Engine 8.1.9,
 * qconf -sc. */
#ifndef FAIRLEAD_FIELDS_STANDARD_RESOURCES_H
#define FAIRLEAD_FIELDS_STANDARD_RESOURCES_H

#include "fields/objects.h"

/* Every host has the one, every queue the other, although no host reports them. */
#define HOST_NAME_RESOURCE "hostname"
#define QUEUE_NAME_RESOURCE "qname"

struct standard_resource {
    const char *name;
    enum resource_type type;
    enum resource_relop relop;
    bool is_fixed; /* of the machine: no load value, which changes */
};
enum { STANDARD_RESOURCE_COUNT = 29 };
extern const struct standard_resource standard_resources[STANDARD_RESOURCE_COUNT];

/* NULL: there is none of that name. */
const struct standard_resource *standard_resource_find(struct str name);

/* As an object that an administrator could have defined. */
struct object standard_resource_object(const struct standard_resource *standard);

/* Whether the resource is one of these, or the slots. */
bool standard_resource_is_built_in(const char *name);

/* A resource that has not been changed: that of the table, or object_defaults. name outlives it. */
struct object standard_resource_defaults(const char *name);

#endif
