/* A list of load values, as texts: what was measured, or what a sensor reported. */
#ifndef FAIRLEAD_DAEMON_LOAD_VALUES_H
#define FAIRLEAD_DAEMON_LOAD_VALUES_H

#include "base/array.h"
#include "base/str.h"
#include "engine/state.h"

/* All zero is empty. */
struct load_values {
    ARRAY(struct host_load) list;
    struct arena arena; /* of the texts */
};

/* Copies both. */
void load_values_add(struct load_values *v, struct str name, struct str value);

/* Removes all values. */
void load_values_clear(struct load_values *v);
void load_values_release(struct load_values *v);

#endif
