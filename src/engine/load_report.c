/* EVENT_LOAD: the load values that a host reports. They are no rows: the daemon reports them at every start, before the
 * first pass, so nothing that is stored depends on them.
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
#include "engine/placements.h"

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

static bool is_changed(const struct host_row *host, const struct report *r)
{
    if (host->load_count != r->loads.count) return true;
    for (uint32_t i = 0; i < host->load_count; i++) {
        const struct host_load *old = &host->loads[i], *new = &r->loads.items[i];
        if (strcmp(old->name, new->name) != 0 || strcmp(old->value, new->value) != 0) return true;
    }
    return false;
}

/* Puts the report into the row, which then owns it. Returns the memory of the last one. */
static struct arena replace(struct host_row *host, struct report *r)
{
    struct arena old = host->load_arena;
    size_t size = r->loads.count * sizeof *host->loads;
    struct host_load *loads = arena_alloc(&r->arena, size + 1);
    if (size > 0) memcpy(loads, r->loads.items, size);
    host->loads = loads;
    host->load_count = r->loads.count;
    host->load_arena = r->arena;
    r->arena = (struct arena){0};
    return old;
}

static void take(struct state *s, uint32_t index, struct report *r)
{
    struct arena old = replace(&s->hosts.items[index], r);
    never_runs_drop(s);
    if (live_cluster_refresh_loads(s, index)) s->pass_is_due = true;
    arena_release(&old);
}

int apply_load(struct apply_context *c, const struct event *event)
{
    struct state *s = c->s;
    struct report r = {0};
    const char *name = event->load.host != NULL ? event->load.host : LOCAL_HOST;
    uint32_t index = state_find_object(s, OBJECT_HOST, name);
    if (index == NONE) return err_subject(c->e, ERR_NOT_FOUND, "host", str(name), "does not exist");
    if (index >= s->hosts.count) placements_rebuild(s); /* the table has all hosts */
    for (uint32_t i = 0; i < event->load.count; i++) {
        const struct host_load *load = &event->load.values[i];
        if (!is_computed(load->name)) add(&r, load->name, load->value);
    }
    add_computed(&r, s->hosts.items[index].host.has.cpus);
    if (is_changed(&s->hosts.items[index], &r)) take(s, index, &r);
    array_release(&r.loads);
    map_release(&r.by_name);
    arena_release(&r.arena);
    return 0;
}
