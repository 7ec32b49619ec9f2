#include "engine/limit_plan.h"

#include "engine/assoc_limits.h"
#include "sched/timeline.h"

void limit_plan_begin(struct limit_plan *p, struct state *s, const struct cluster_model *model, struct arena *arena,
                      int64_t now_us)
{
    *p = (struct limit_plan){.places = {.s = s, .model = model, .arena = arena, .now_us = now_us}};
    if (!limits_apply(s)) return;
    p->places.counts = p->counts = limit_counts_update(s, now_us);
    p->places.cache = limit_hosts_cache_make(arena);
}

const struct demand *limit_plan_place(const struct limit_plan *p, const struct job *j, uint32_t partition,
                                      const struct demand *d)
{
    struct state *s = p->places.s;
    struct limit_hit unused;
    if (partition == NONE) partition = j->partitions[0];
    if (assoc_limits_refuse_qos(s, state_assoc_in_partition(s, j->assoc, partition), j->qos)) return NULL;
    return p->counts != NULL ? limit_place(&p->places, j, partition, d, &unused) : d;
}

void limit_plan_start(struct limit_plan *p, const struct job *j, const struct allocation *a)
{
    struct state *s = p->places.s;
    struct tres_amount amounts[TRES_MAX];
    struct limit_request r;
    if (p->counts == NULL) return;
    uint32_t *hosts = arena_alloc(p->places.arena, (a->part_count + (size_t)1) * sizeof *hosts);
    uint32_t host_count = cluster_model_list_hosts(p->places.model, a, hosts);
    uint32_t partition = p->places.model->partition_of[a->parts[0].instance];
    limits_request(s, j, partition, a->slots, host_count, amounts, &r);
    const struct limit_live live = {.assoc = r.assoc,
                                    .qos = r.qos,
                                    .partition_qos = r.partition_qos,
                                    .end_us = timeline_end_of(p->places.now_us, r.time_limit_s * US_PER_S),
                                    .usage_factor = r.usage_factor,
                                    .tres = r.tres,
                                    .hosts = hosts,
                                    .host_count = host_count};
    *array_add(&p->planned) = limit_counts_plan(s, p->counts, &live, p->places.now_us);
}

void limit_plan_end(struct limit_plan *p)
{
    while (p->planned.count > 0) limit_counts_unplan(p->places.s, p->counts, p->planned.items[--p->planned.count]);
    array_release(&p->planned);
}
