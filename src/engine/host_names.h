/* Which hosts a text names: "n[1-3],m1,@big", where @big is a group (fields/objects.h), and which value of
 * "4,[n1=2],[@big=8]" is that of a host. Sets of hosts are bits, by index of objects[OBJECT_HOST]. */
#ifndef FAIRLEAD_ENGINE_HOST_NAMES_H
#define FAIRLEAD_ENGINE_HOST_NAMES_H

#include "engine/state.h"
#include "fields/host_text.h"

struct host_names {
    const struct state *s;
    struct arena *arena;
    uint32_t words;     /* of a set */
    uint64_t **members; /* by index of objects[OBJECT_GROUP]: its hosts, those of groups in it too */
};

static inline bool host_set_has(const uint64_t *set, uint32_t host)
{
    return (set[host / 64] >> host % 64 & 1) != 0;
}

/* Resolves all groups. ERR_INPUT: a group names something that does not exist, or contains itself. O(groups x
 * hosts). */
int host_names_make(const struct state *s, struct arena *arena, struct host_names *out, struct err *e);

/* The set of the hosts that a list names, in the arena. ERR_INPUT: what is not a host or a group. */
int host_names_set(const struct host_names *n, struct str text, const char *what, uint64_t **out_set, struct err *e);

/* Checks that all brackets name hosts and groups. */
int host_names_check_values(const struct host_names *n, const struct host_values *values, const char *what,
                            struct err *e);

/* The value of a host: that of the bracket with its name, else of the first one with a group that it is in, else the
 * common one. */
struct str host_names_value(const struct host_names *n, const struct host_values *values, uint32_t host);

#endif
