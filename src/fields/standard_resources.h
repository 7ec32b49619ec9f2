/* Resources that every cluster has, unless an administrator defines another one of the name: load values and attributes
 * that hosts report, and run times, which jobs request. Source: Grid Engine 8.1.9, qconf -sc. */
#ifndef FAIRLEAD_FIELDS_STANDARD_RESOURCES_H
#define FAIRLEAD_FIELDS_STANDARD_RESOURCES_H

#include "fields/objects.h"

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

#endif
