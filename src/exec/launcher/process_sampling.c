/* A process belongs to a launch if it is below its keeper, or is the keeper. Because a keeper is the subreaper of
 * its descendants, setsid and double forks lead nowhere else, as long as the keeper runs; without it the processes
 * are being ended. What another program starts on behalf of a job, such as a container's daemon, at(1) or
 * systemd-run, is below that program: it counts as outside. */
#include "exec/launcher/process_sampling.h"

#include <unistd.h>

#include "exec/launcher/idle_keepers.h"

/* A process whose parent ended while /proc was read has another parent now. */
static void follow_orphans(struct processes *all, const struct map *index_by_pid)
{
    for (uint32_t i = 0; i < all->list.count; i++) {
        struct process *p = &all->list.items[i], now;
        if (p->parent <= 0 || map_get_u64(index_by_pid, (uint64_t)p->parent) != NONE) continue;
        if (process_read(p->pid, &now) && now.start_ticks == p->start_ticks) p->parent = now.parent;
    }
}

/* A keeper that has kept other launches before counts as one that began with this launch. What it has used by itself is
 * not known for each of them. */
static void begin_with_launch(const struct launch_entry *entry, struct process *keeper)
{
    const int64_t us_per_tick = US_PER_S / sysconf(_SC_CLK_TCK);
    const struct launch_record *r = &entry->record;
    if (entry->left.launch_id == 0 && r->before_cpu_us == 0) return;
    keeper->cpu_ticks = 0;
    keeper->children_cpu_ticks -= entry->has_record ? r->before_cpu_us / us_per_tick : keeper->children_cpu_ticks;
    if (entry->has_record) keeper->start_ticks = (uint64_t)(r->started_boot_us / us_per_tick);
}

/* Fills ids: by process, its launch, or 0. */
static void find_launches(const struct launches *l, struct processes *all, uint64_t *ids)
{
    struct map index_by_pid = {0}, launch_by_keeper = {0};
    uint32_t *roots = mem_resize(NULL, 0, (all->list.count + (size_t)1) * sizeof *roots);
    for (uint32_t i = 0; i < l->list.count; i++) {
        if (l->list.items[i].keeper_pid > 0) map_set_u64(&launch_by_keeper, (uint64_t)l->list.items[i].keeper_pid, i);
    }
    processes_index(all, &index_by_pid);
    follow_orphans(all, &index_by_pid);
    processes_find_roots(all, &index_by_pid, &launch_by_keeper, roots);
    for (uint32_t i = 0; i < all->list.count; i++) {
        uint32_t kept = map_get_u64(&launch_by_keeper, (uint64_t)all->list.items[i].pid);
        uint32_t entry = kept != NONE ? kept : roots[i];
        ids[i] = entry != NONE ? l->list.items[entry].id : 0;
        if (kept != NONE) begin_with_launch(&l->list.items[kept], &all->list.items[i]);
    }
    mem_free(roots);
    map_release(&launch_by_keeper);
    map_release(&index_by_pid);
}

/* Leaves out the threads of the kernel, keepers without a launch, and what is hidden. Only now: a process that ends
 * meanwhile may be the parent of one that does not. */
static void keep_users(const struct launches *l, const struct processes *all, const uint64_t *ids,
                       struct process_sampling *out)
{
    struct buf scratch = {0};
    for (uint32_t i = 0; i < all->list.count; i++) {
        const struct process *p = &all->list.items[i];
        uint32_t uid;
        if (p->is_kernel || idle_keepers_has(l, p->pid)) continue;
        if (!process_read_uid(p->pid, &scratch, &uid)) {
            out->hidden++;
            continue;
        }
        *array_add(&out->all.list) = *p;
        *array_add(&out->uids) = uid;
        *array_add(&out->launch_ids) = ids[i];
    }
    buf_release(&scratch);
}

void process_sampling_read(const struct launches *l, struct process_sampling *out)
{
    struct processes all = {0};
    *out = (struct process_sampling){0};
    processes_read(&all);
    uint64_t *ids = mem_resize(NULL, 0, (all.list.count + (size_t)1) * sizeof *ids);
    find_launches(l, &all, ids);
    keep_users(l, &all, ids, out);
    mem_free(ids);
    array_release(&all.list);
}

void process_sampling_release(struct process_sampling *s)
{
    array_release(&s->all.list);
    array_release(&s->uids);
    array_release(&s->launch_ids);
}
