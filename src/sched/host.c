/* Free CPUs and GPUs are sets of numbers with their sizes beside them, so host_fits is O(1). Taking and giving back
 * cost O(ranges) for each number. */
#include "sched/host.h"

#include "base/ensure.h"

static void fill(struct idset *set, uint32_t count)
{
    idset_release(set);
    if (count > 0) *array_add(&set->ranges) = (struct idset_range){0, count - 1};
}

static void withhold_gpus(struct host *h, const struct idset *numbers)
{
    for (uint32_t id = idset_first(numbers); id != NONE && id < h->gpu_count; id = idset_next(numbers, id)) {
        idset_add(&h->withheld_gpus, id);
        idset_remove(&h->free_gpus, id);
        h->free_gpu_count--;
        h->has.gpus--;
    }
}

void host_init(struct host *h, struct capacity has, const struct idset *withheld_gpus)
{
    h->has = has;
    fill(&h->free_cpus, has.cpus);
    fill(&h->free_gpus, has.gpus);
    idset_release(&h->withheld_gpus);
    h->free_cpu_count = has.cpus;
    h->free_gpu_count = h->gpu_count = has.gpus;
    h->free_mem_mib = (int64_t)has.mem_mib;
    if (withheld_gpus != NULL) withhold_gpus(h, withheld_gpus);
}

void host_release(struct host *h)
{
    idset_release(&h->free_cpus);
    idset_release(&h->free_gpus);
    idset_release(&h->withheld_gpus);
    *h = (struct host){0};
}

bool host_fits(const struct host *h, const struct capacity *request)
{
    return request->cpus <= h->free_cpu_count && request->gpus <= h->free_gpu_count &&
           (int64_t)request->mem_mib <= h->free_mem_mib;
}

static void move_lowest(struct idset *from, uint32_t count, struct idset *to)
{
    for (; count > 0; count--) {
        uint32_t lowest = idset_first(from);
        ensure(lowest != NONE);
        idset_remove(from, lowest);
        idset_add(to, lowest);
    }
}

void host_take(struct host *h, const struct capacity *request, struct placement *out_placement)
{
    ensure(host_fits(h, request));
    *out_placement = (struct placement){.mem_mib = request->mem_mib};
    move_lowest(&h->free_cpus, request->cpus, &out_placement->cpus);
    move_lowest(&h->free_gpus, request->gpus, &out_placement->gpus);
    h->free_cpu_count -= request->cpus;
    h->free_gpu_count -= request->gpus;
    h->free_mem_mib -= (int64_t)request->mem_mib;
}

static void remove_all(struct idset *from, const struct idset *removed, uint32_t *count)
{
    for (uint32_t id = idset_first(removed); id != NONE; id = idset_next(removed, id)) *count -= idset_remove(from, id);
}

static uint32_t count_withheld(const struct host *h, const struct idset *numbers)
{
    uint32_t count = 0;
    for (uint32_t id = idset_first(numbers); id != NONE; id = idset_next(numbers, id))
        count += idset_has(&h->withheld_gpus, id);
    return count;
}

void host_take_again(struct host *h, const struct placement *p)
{
    remove_all(&h->free_cpus, &p->cpus, &h->free_cpu_count);
    remove_all(&h->free_gpus, &p->gpus, &h->free_gpu_count);
    h->has.gpus += count_withheld(h, &p->gpus);
    h->free_mem_mib -= (int64_t)p->mem_mib;
}

/* Adds the numbers below limit. Higher ones were taken before the host shrank. withheld: these are not added. */
static void add_below(struct idset *to, const struct idset *added, uint32_t limit, const struct idset *withheld,
                      uint32_t *count)
{
    for (uint32_t id = idset_first(added); id != NONE && id < limit; id = idset_next(added, id)) {
        if (idset_has(withheld, id)) continue;
        idset_add(to, id);
        ++*count;
    }
}

void host_give_back(struct host *h, const struct placement *p)
{
    static const struct idset none;
    add_below(&h->free_cpus, &p->cpus, h->has.cpus, &none, &h->free_cpu_count);
    add_below(&h->free_gpus, &p->gpus, h->gpu_count, &h->withheld_gpus, &h->free_gpu_count);
    h->has.gpus -= count_withheld(h, &p->gpus);
    h->free_mem_mib += (int64_t)p->mem_mib;
}

void placement_release(struct placement *p)
{
    idset_release(&p->cpus);
    idset_release(&p->gpus);
    p->mem_mib = 0;
}
