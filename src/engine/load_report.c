/* EVENT_LOAD: the load values that this machine reports. They are no rows: the daemon measures them at every start,
 * before the first pass, so nothing that is stored depends on them.
 *
 * As in Grid Engine, np_load_avg is load_avg for each processor, also if a sensor reports another one, and so are the
 * other three. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "engine/handlers.h"
#include "engine/host_loads.h"
#include "engine/live_cluster.h"
#include "engine/never_runs.h"

/* The values while they are collected. */
struct report {
    struct arena arena;
    struct map by_name;
    ARRAY(struct host_load) loads;
};

static void add(struct report *r, const char *name, const char *value)
{
    uint32_t index = map_get(&r->by_name, str(name));
    if (index == NONE) {
        index = r->loads.count;
        array_add(&r->loads)->name = arena_copy(&r->arena, str(name));
        map_set(&r->by_name, str(name), index);
    }
    r->loads.items[index].value = arena_copy(&r->arena, str(value));
}

static bool is_computed(const char *name)
{
    for (int i = 0; i < LOADS_PER_PROCESSOR; i++) {
        if (strcmp(name, host_loads_per_processor[i]) == 0) return true;
    }
    return false;
}

static bool find_number(const struct report *r, const char *name, double *out)
{
    uint32_t index = map_get(&r->by_name, str(name));
    return index != NONE && number_parse_double(str(r->loads.items[index].value), out) && isfinite(*out) && *out >= 0.0;
}

static void add_computed(struct report *r, uint32_t cpus)
{
    uint32_t index = map_get(&r->by_name, str("num_proc")), processors;
    double load;
    (void)host_loads_processors(index != NONE ? r->loads.items[index].value : NULL, cpus, &processors);
    for (int i = 0; i < LOADS_PER_PROCESSOR && processors > 0; i++) {
        const char *name = host_loads_per_processor[i];
        char text[NUMBER_TEXT_SIZE];
        if (!find_number(r, name + PER_PROCESSOR_PREFIX, &load)) continue;
        text[number_format_shortest(text, load / processors)] = '\0';
        add(r, name, text);
    }
}

static bool is_changed(const struct state *s, const struct report *r)
{
    if (s->load_count != r->loads.count) return true;
    for (uint32_t i = 0; i < s->load_count; i++) {
        const struct host_load *old = &s->loads[i], *new = &r->loads.items[i];
        if (strcmp(old->name, new->name) != 0 || strcmp(old->value, new->value) != 0) return true;
    }
    return false;
}

/* Puts the report into the state, which then owns it. Returns the memory of the last one. */
static struct arena replace(struct state *s, struct report *r)
{
    struct arena old = s->load_arena;
    size_t size = r->loads.count * sizeof *s->loads;
    struct host_load *loads = arena_alloc(&r->arena, size + 1);
    if (size > 0) memcpy(loads, r->loads.items, size);
    s->loads = loads;
    s->load_count = r->loads.count;
    s->load_arena = r->arena;
    r->arena = (struct arena){0};
    if (s->hosts.count > 0) {
        s->hosts.items[LOCAL_HOST_INDEX].loads = s->loads;
        s->hosts.items[LOCAL_HOST_INDEX].load_count = s->load_count;
    }
    return old;
}

int apply_load(struct apply_context *c, const struct event *event)
{
    struct state *s = c->s;
    struct report r = {0};
    for (uint32_t i = 0; i < event->load.count; i++) {
        const struct host_load *load = &event->load.values[i];
        if (!is_computed(load->name)) add(&r, load->name, load->value);
    }
    add_computed(&r, s->hosts.count > 0 ? s->hosts.items[LOCAL_HOST_INDEX].host.has.cpus : 0);
    if (is_changed(s, &r)) {
        struct arena old = replace(s, &r);
        never_runs_drop(s);
        if (live_cluster_refresh_loads(s)) s->pass_is_due = true;
        arena_release(&old);
    }
    array_release(&r.loads);
    map_release(&r.by_name);
    arena_release(&r.arena);
    return 0;
}
