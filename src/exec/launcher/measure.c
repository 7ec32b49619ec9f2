/* Usage comes from the control group of a launch as far as the group knows it (cgroup.h), and else from the tree of
 * processes below the keeper:
 *
 *     CPU time   of the descendants that exist, and of all that were waited for: each process has the sum of those that
 *                it waited for, so the keeper's sum and those of its descendants have them all
 *     memory     resident sets of the descendants; pages that several of them share count for each
 *     I/O        of the descendants, with those that they waited for, and of those that the keeper waited for; not the
 *                keeper's own records
 *
 * All launches share one scan of /proc. A process belongs to its nearest keeper, so a launch inside of another launch
 * does not count twice. A keeper itself belongs to none.
 *
 *  I1  A zombie counts until it is waited for, and its parent's sum has it from then on: it counts at all times, and
 *      once.
 *  I2  A process that is waited for during the scan is missed, and never counts twice: keepers are read first, and
 *      /proc usually lists a process before its children, which have higher pids. If it lists any ancestor later (pids
 *      have wrapped around), that ancestor may have the process in its sum already. So such a process counts only if it
 *      still exists after the scan, and its I/O is read last.
 *
 * What no process waited for, because its parent ignores SIGCHLD, only a group knows. The same is true of processes
 * that run as another user, whose I/O this user may not read. */
#include "exec/launcher/measure.h"

#include <unistd.h>

#include "base/map.h"
#include "base/quantity.h"
#include "base/saturate.h"
#include "exec/clock.h"
#include "exec/launcher/cgroup.h"
#include "exec/launcher/process.h"

/* The sums over the tree of one launch. */
struct tree_usage {
    int64_t cpu_ticks, resident_pages, io_bytes;
    bool needs_io;
};

struct tree_scan {
    struct processes all;
    struct map index_by_pid, launch_by_keeper;
    uint32_t *roots; /* of all: indices of launches */
    uint32_t *last_ancestors;
    struct tree_usage *sums;
    struct buf scratch;
};

/* --- trees -------------------------------------------------------------------------------------------------------- */

static void add_keeper(struct tree_scan *s, struct measured_launch *launch, struct tree_usage *sum)
{
    const int64_t us_per_tick = US_PER_S / sysconf(_SC_CLK_TCK);
    struct process p = {0};
    if (process_read(launch->keeper, &p)) sum->cpu_ticks = p.children_cpu_ticks - launch->before_cpu_us / us_per_tick;
    if (sum->needs_io) sum->io_bytes = process_read_children_io(launch->keeper, &s->scratch) - launch->before_io_bytes;
    if (sum->cpu_ticks < 0) sum->cpu_ticks = 0;
    if (sum->io_bytes < 0) sum->io_bytes = 0;
    launch->is_stopped = p.state == 'T';
}

/* The index of the parent; NONE: it is a keeper, or is not in the scan. */
static uint32_t parent_below_keeper(const struct tree_scan *s, uint32_t index)
{
    uint64_t pid = (uint64_t)s->all.list.items[index].parent;
    return map_get_u64(&s->launch_by_keeper, pid) != NONE ? NONE : map_get_u64(&s->index_by_pid, pid);
}

/* Fills last_ancestors: by process, the largest index of its ancestors below the keeper; 0: none. Walks from each
 * process up to one that is known, and back. Pids that are given again during the scan can make circles, which end at
 * 0. O(processes). */
static void find_last_ancestors(struct tree_scan *s)
{
    size_t size = (s->all.list.count + (size_t)1) * sizeof(uint32_t);
    uint32_t *last = mem_resize(NULL, 0, size), *path = mem_resize(NULL, 0, size);
    for (uint32_t i = 0; i < s->all.list.count; i++) last[i] = NONE;
    for (uint32_t i = 0; i < s->all.list.count; i++) {
        uint32_t length = 0, at = i;
        for (; at != NONE && last[at] == NONE; at = parent_below_keeper(s, at)) {
            last[at] = 0;
            path[length++] = at;
        }
        while (length-- > 0) {
            if (at != NONE) last[path[length]] = last[at] > at ? last[at] : at;
            at = path[length];
        }
    }
    mem_free(path);
    s->last_ancestors = last;
}

static bool still_exists(const struct process *p)
{
    struct process now;
    return process_read(p->pid, &now) && now.start_ticks == p->start_ticks;
}

static void add_process(struct tree_scan *s, const struct process *p, struct tree_usage *sum)
{
    sum->cpu_ticks = saturate_add(sum->cpu_ticks, saturate_add(p->cpu_ticks, p->children_cpu_ticks));
    sum->resident_pages = saturate_add(sum->resident_pages, process_read_resident(p, &s->scratch));
    if (sum->needs_io) sum->io_bytes = saturate_add(sum->io_bytes, process_read_io(p->pid, &s->scratch));
}

/* Adds the processes that are listed after their ancestors, or the others (I2). */
static void add_processes(struct tree_scan *s, bool before_ancestors)
{
    for (uint32_t i = 0; i < s->all.list.count; i++) {
        const struct process *p = &s->all.list.items[i];
        if (s->roots[i] == NONE || map_get_u64(&s->launch_by_keeper, (uint64_t)p->pid) != NONE) continue;
        if ((s->last_ancestors[i] > i) != before_ancestors || (before_ancestors && !still_exists(p))) continue;
        add_process(s, p, &s->sums[s->roots[i]]);
    }
}

static void scan_trees(struct tree_scan *s, struct measured_launch *launches, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        map_set_u64(&s->launch_by_keeper, (uint64_t)launches[i].keeper, i);
        add_keeper(s, &launches[i], &s->sums[i]);
    }
    processes_read(&s->all);
    processes_index(&s->all, &s->index_by_pid);
    s->roots = mem_resize(NULL, 0, (s->all.list.count + 1u) * sizeof *s->roots);
    processes_find_roots(&s->all, &s->index_by_pid, &s->launch_by_keeper, s->roots);
    find_last_ancestors(s);
    add_processes(s, false);
    add_processes(s, true);
}

static void tree_scan_release(struct tree_scan *s)
{
    array_release(&s->all.list);
    map_release(&s->index_by_pid);
    map_release(&s->launch_by_keeper);
    mem_free(s->roots);
    mem_free(s->last_ancestors);
    mem_free(s->sums);
    buf_release(&s->scratch);
}

/* --- all launches ------------------------------------------------------------------------------------------------- */

static void read_groups(struct tree_scan *s, const struct measured_launch *launches, uint32_t count,
                        struct cgroup_usage *out)
{
    for (uint32_t i = 0; i < count; i++) {
        cgroup_read_usage(launches[i].group_path, &s->scratch, &out[i]);
        s->sums[i].needs_io = out[i].io_bytes < 0;
    }
}

static bool is_complete(const struct cgroup_usage *usage)
{
    return usage->cpu_us >= 0 && usage->mem_kib >= 0 && usage->io_bytes >= 0;
}

/* Takes each number from the group if it has it, otherwise from the tree. */
static void choose_usage(const struct cgroup_usage *group, const struct tree_usage *tree, struct launch_usage *out)
{
    const int64_t us_per_tick = US_PER_S / sysconf(_SC_CLK_TCK), kib_per_page = sysconf(_SC_PAGESIZE) / BYTES_PER_KIB;
    out->cpu_us = group->cpu_us >= 0 ? group->cpu_us : saturate_multiply((uint64_t)tree->cpu_ticks, us_per_tick);
    out->mem_kib =
        group->mem_kib >= 0 ? group->mem_kib : saturate_multiply((uint64_t)tree->resident_pages, kib_per_page);
    out->io_bytes = group->io_bytes >= 0 ? group->io_bytes : tree->io_bytes;
}

void measure_launches(struct measured_launch *launches, uint32_t count)
{
    if (count == 0) return;
    struct tree_scan scan = {.sums = mem_resize(NULL, 0, count * sizeof *scan.sums)};
    struct cgroup_usage *groups = mem_resize(NULL, 0, count * sizeof *groups);
    int64_t now_us = clock_boot_us();
    bool needs_trees = false;
    read_groups(&scan, launches, count, groups);
    for (uint32_t i = 0; i < count; i++) needs_trees |= !is_complete(&groups[i]);
    if (needs_trees) scan_trees(&scan, launches, count);
    for (uint32_t i = 0; i < count; i++) {
        launches[i].usage.at_us = now_us;
        choose_usage(&groups[i], &scan.sums[i], &launches[i].usage);
    }
    mem_free(groups);
    tree_scan_release(&scan);
}
