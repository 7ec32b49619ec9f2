/* That the cache of hosts that limits leave (engine/limit_hosts.h) changes no demand. */
#ifndef FAIRLEAD_TESTS_LIMIT_HOSTS_CHECK_H
#define FAIRLEAD_TESTS_LIMIT_HOSTS_CHECK_H

#include "engine/limit_place.h"
#include "engine/live_cluster.h"

static inline bool hosts_check_is_in(const uint64_t *set, uint32_t index)
{
    return set == NULL || (set[index / 64] >> index % 64 & 1) != 0;
}

/* Two demands of one job, with what names their limits. */
struct hosts_check_side {
    const struct demand *d;
    struct limit_hit hit;
};

static inline bool hosts_check_are_equal(const struct cluster *c, const struct hosts_check_side *a,
                                         const struct hosts_check_side *b)
{
    if ((a->d == NULL) != (b->d == NULL) || a->hit.reason != b->hit.reason || a->hit.counter != b->hit.counter ||
        a->hit.has_more_counters != b->hit.has_more_counters)
        return false;
    if (a->d == NULL || a->d->host_limit_count != b->d->host_limit_count) return a->d == NULL;
    for (uint32_t i = 0; i < c->instances.count; i++) {
        if (hosts_check_is_in(a->d->allowed, i) != hosts_check_is_in(b->d->allowed, i)) return false;
    }
    for (uint32_t k = 0; k < a->d->host_limit_count; k++) {
        if (a->d->host_limits[k].others_max != b->d->host_limits[k].others_max) return false;
        for (uint32_t h = 0; h < c->hosts.count; h++) {
            if (hosts_check_is_in(a->d->host_limits[k].hosts, h) != hosts_check_is_in(b->d->host_limits[k].hosts, h))
                return false;
        }
    }
    return true;
}

/* Counts the demands that limits of hosts restrict; NONE: a demand differs. */
static inline uint32_t hosts_check_jobs(struct state *s, const struct limit_places *with, struct live_cluster *live)
{
    struct limit_places without = *with;
    uint32_t restricted = 0;
    without.cache = NULL;
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        const struct job *j = &s->jobs.items[i];
        for (uint32_t k = 0; k < j->partition_count && j->ended_us == 0; k++) {
            const struct demand *d = job_demand(&live->demands, j, j->partitions[k]);
            struct hosts_check_side a = {0}, b = {0};
            a.d = limit_place(with, j, j->partitions[k], d, &a.hit);
            b.d = limit_place(&without, j, j->partitions[k], d, &b.hit);
            if (!hosts_check_are_equal(&with->model->cluster, &a, &b)) return NONE;
            restricted += a.d != NULL && a.d->host_limit_count > 0;
        }
    }
    return restricted;
}

/* All live jobs, three times: the cache is filled, read, and read after a task has got a host that is new to its
 * groups. Returns how many demands were restricted. */
static inline uint32_t hosts_check(struct state *s, int64_t now_us)
{
    struct arena arena = {0};
    struct live_cluster *live = live_cluster_update(s, now_us);
    struct limit_counts *counts = limit_counts_update(s, now_us);
    const struct limit_places places = {.s = s,
                                        .counts = counts,
                                        .model = &live->model,
                                        .arena = &arena,
                                        .cache = limit_hosts_cache_make(&arena),
                                        .now_us = now_us};
    uint32_t sum = 0, first = 0;
    while (first < s->jobs.count && s->jobs.items[first].ended_us != 0) first++;
    for (int round = 0; round < 2 && limits_apply(s); round++) {
        uint32_t restricted = hosts_check_jobs(s, &places, live);
        assert_int_not_equal(restricted, NONE);
        sum += restricted;
    }
    for (uint32_t h = 0; h < s->hosts.count && first < s->jobs.count && limits_apply(s); h++) {
        uint32_t host = h;
        const struct limit_live task = {.assoc = s->jobs.items[first].assoc,
                                        .qos = s->jobs.items[first].qos,
                                        .partition_qos = NONE,
                                        .hosts = &host,
                                        .host_count = 1};
        uint32_t planned = limit_counts_plan(s, counts, &task, now_us);
        assert_int_not_equal(hosts_check_jobs(s, &places, live), NONE);
        limit_counts_unplan(s, counts, planned);
        assert_int_not_equal(hosts_check_jobs(s, &places, live), NONE);
    }
    arena_release(&arena);
    return sum;
}

#endif
