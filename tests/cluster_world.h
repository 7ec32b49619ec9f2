/* Small clusters for tests of sched/: hosts in order, instances of one queue on them, environments, one global licence.
 * Times are whole seconds. */
#ifndef FAIRLEAD_TESTS_CLUSTER_WORLD_H
#define FAIRLEAD_TESTS_CLUSTER_WORLD_H

#include <stdio.h>
#include <string.h>

#include "dies.h"

#include "sched/reserve.h"

enum { SECOND = 1000000, LICENSE = 1, TOKEN, EXCLUSIVE, MEMORY, ARCH, WORLD_RESOURCES };

struct cluster_world {
    struct cluster c;
    struct arena arena;
};

static inline void world_offer(struct offers *o, uint32_t resource, double amount)
{
    *array_add(&o->list) = (struct offer){.resource = resource, .amount = amount};
}

static inline void world_host(struct cluster_world *w, const char *name)
{
    uint32_t instances = w->c.instances.count;
    *array_add(&w->c.hosts) = (struct sched_host){.name = name, .first_instance = instances};
}

/* An instance on the last host. */
static inline void world_instance(struct cluster_world *w, const char *name, uint32_t slots)
{
    uint32_t host = w->c.hosts.count - 1;
    *array_add(&w->c.order) = w->c.instances.count;
    *array_add(&w->c.instances) = (struct sched_instance){.name = name, .host = host};
    world_offer(&w->c.instances.items[w->c.instances.count - 1].offers, SCHED_SLOTS, slots);
    w->c.hosts.items[host].instance_count++;
}

static inline void world_environment(struct cluster_world *w, const char *name, enum allocation_rule rule,
                                     uint32_t slots_per_host, uint32_t slots)
{
    *array_add(&w->c.environments) =
        (struct sched_environment){.name = name, .rule = rule, .slots_per_host = slots_per_host};
    world_offer(&w->c.environments.items[w->c.environments.count - 1].offers, SCHED_SLOTS, slots);
}

static inline void world_init(struct cluster_world *w)
{
    static const struct sched_resource resources[WORLD_RESOURCES] = {
        [SCHED_SLOTS] = {"slots", .is_consumable = true, .relation = RELATION_LESS_EQUAL},
        [LICENSE] = {"license", .is_consumable = true, .relation = RELATION_LESS_EQUAL},
        [TOKEN] = {"tok", .is_consumable = true, .relation = RELATION_LESS_EQUAL},
        [EXCLUSIVE] = {"excl", .is_consumable = true, .relation = RELATION_EXCLUSIVE},
        [MEMORY] = {"hmem", .is_consumable = true, .relation = RELATION_LESS_EQUAL},
        [ARCH] = {"arch", .is_text = true, .relation = RELATION_EQUAL},
    };
    *w = (struct cluster_world){0};
    for (uint32_t i = 0; i < WORLD_RESOURCES; i++) *array_add(&w->c.resources) = resources[i];
    world_offer(&w->c.global, LICENSE, 5);
}

static inline void world_release(struct cluster_world *w)
{
    cluster_release(&w->c);
    arena_release(&w->arena);
}

static inline uint32_t world_find_environment(const struct cluster_world *w, const char *name)
{
    for (uint32_t i = 0; i < w->c.environments.count; i++) {
        if (strcmp(w->c.environments.items[i].name, name) == 0) return i;
    }
    fail_msg("no environment %s", name);
    return NONE;
}

/* Runs slots on an instance, in an environment or serially (NULL). */
static inline void world_run(struct cluster_world *w, const char *environment, uint32_t instance, uint32_t slots,
                             int64_t from_s, int64_t until_s)
{
    struct allocation_part part = {instance, slots};
    const struct allocation a = {.environment = environment ? world_find_environment(w, environment) : NONE,
                                 .slots = slots,
                                 .part_count = 1,
                                 .parts = &part};
    const struct demand d = {0};
    cluster_book(&w->c, &d, &a, from_s * SECOND, until_s * SECOND);
}

/* "all.q@n2 2, all.q@n4 4" */
static inline const char *world_text(const struct cluster_world *w, const struct allocation *a)
{
    static char text[200];
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < a->part_count; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s %u", i > 0 ? ", " : "",
                                   w->c.instances.items[a->parts[i].instance].name, a->parts[i].slots);
    return text;
}

#endif
