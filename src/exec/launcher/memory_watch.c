/* A look goes from cheap to exact, and stops where it can:
 *
 *     resident sets        of all processes, from one scan of /proc for all launches     launcher
 *     without files        of those launches that are over their limit by that           launcher, a file a process
 *     shared memory once   of those that still are                                       their keepers (memory_check)
 *
 * The first two count too much and never too little, and take no lock of a process that the job could hold. What is
 * swapped out does not count. The keeper decides, writes that down and ends the job, so nothing is lost if this
 * launcher is killed between any two steps: the next one looks again.
 *
 * A launch whose control group has the limit is left to the kernel. Its group exists before its record "started". */
#include "exec/launcher/memory_watch.h"

#include <unistd.h>

#include "base/quantity.h"
#include "base/saturate.h"
#include "exec/clock.h"
#include "exec/launcher/durable.h"
#include "exec/launcher/job_groups.h"
#include "exec/launcher/process.h"
#include "exec/launcher/usage_text.h"

enum { LOOK_COST_MIN = 20 }; /* between two looks pass at least that many times the duration of one */

struct watched {
    uint64_t id;
    pid_t keeper;
    int64_t limit_kib;
    int64_t resident_kib; /* with files */
    int64_t kib;          /* without; 0 unless resident_kib is above the limit */
};

struct memory_look {
    ARRAY(struct watched) list;
    struct processes all;
    uint32_t *roots; /* by process: index in list */
    struct buf scratch;
};

static bool has_group(const struct launches *l, const struct launch_entry *entry)
{
    struct job_groups groups;
    if (l->cgroups->has_memory && cgroup_has_memory_limit(&entry->identity->cgroup)) return true;
    if (l->cgroups->memory_path[0] == '\0') return false;
    job_groups_find(l->cgroups, entry->id, entry->identity, &groups);
    return cgroup_has_memory_limit(&groups.memory);
}

/* Returns the shortest time between two looks that a launch wants; 0: none is to be looked at. */
static int64_t list_watched(const struct launches *l, struct memory_look *look)
{
    int64_t poll_us = 0;
    for (uint32_t i = 0; i < l->list.count; i++) {
        const struct launch_entry *entry = &l->list.items[i];
        if (entry->mem_limit_kib == 0 || entry->state == ENTRY_ENDED || entry->state == ENTRY_ORPHANED) continue;
        bool has_started = entry->has_record && entry->record.phase != LAUNCH_ENDED;
        if (has_started && entry->identity != NULL && has_group(l, entry)) continue;
        if (poll_us == 0 || entry->mem_poll_us < poll_us) poll_us = entry->mem_poll_us;
        if (entry->state != ENTRY_KEPT || entry->keeper_pid == 0) continue;
        *array_add(&look->list) =
            (struct watched){.id = entry->id, .keeper = entry->keeper_pid, .limit_kib = entry->mem_limit_kib};
    }
    return poll_us;
}

static void add_resident(struct memory_look *look)
{
    const int64_t kib_per_page = sysconf(_SC_PAGESIZE) / BYTES_PER_KIB;
    for (uint32_t i = 0; i < look->all.list.count; i++) {
        if (look->roots[i] == NONE) continue;
        struct watched *w = &look->list.items[look->roots[i]];
        int64_t pages = process_read_resident(&look->all.list.items[i], &look->scratch);
        w->resident_kib = saturate_add(w->resident_kib, pages * kib_per_page);
    }
}

/* A process that has ended meanwhile counts nothing. */
static void add_without_files(struct memory_look *look)
{
    for (uint32_t i = 0; i < look->all.list.count; i++) {
        char path[64];
        int64_t kib;
        if (look->roots[i] == NONE) continue;
        struct watched *w = &look->list.items[look->roots[i]];
        if (w->resident_kib <= w->limit_kib) continue;
        text_format(path, sizeof path, "/proc/%d/status", (int)look->all.list.items[i].pid);
        if (usage_text_parse_resident(durable_read_text(path, &look->scratch), &kib))
            w->kib = saturate_add(w->kib, kib);
    }
}

static void scan(struct memory_look *look)
{
    struct map index_by_pid = {0}, watched_by_keeper = {0};
    for (uint32_t i = 0; i < look->list.count; i++)
        map_set_u64(&watched_by_keeper, (uint64_t)look->list.items[i].keeper, i);
    processes_read(&look->all);
    processes_index(&look->all, &index_by_pid);
    look->roots = mem_resize(NULL, 0, (look->all.list.count + 1u) * sizeof *look->roots);
    processes_find_roots(&look->all, &index_by_pid, &watched_by_keeper, look->roots);
    add_resident(look);
    add_without_files(look);
    map_release(&index_by_pid);
    map_release(&watched_by_keeper);
}

static void look_release(struct memory_look *look)
{
    array_release(&look->list);
    array_release(&look->all.list);
    mem_free(look->roots);
    buf_release(&look->scratch);
}

static int64_t later_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void memory_watch_add(struct launches *l, const struct launch_entry *entry)
{
    if (entry->mem_limit_kib == 0) return;
    int64_t look_us = clock_boot_us() + entry->mem_poll_us;
    if (l->memory_look_us == 0 || look_us < l->memory_look_us) l->memory_look_us = look_us;
    l->memory_look_us = later_of(l->memory_look_us, l->memory_rest_us);
}

void memory_watch_tick(struct launches *l)
{
    struct memory_look look = {0};
    int64_t begin_us = clock_boot_us();
    if (l->memory_look_us == 0 || begin_us < l->memory_look_us) return;
    int64_t poll_us = list_watched(l, &look);
    if (look.list.count > 0) scan(&look);
    for (uint32_t i = 0; i < look.list.count; i++) {
        const struct watched *w = &look.list.items[i];
        const struct launch_entry *entry = launches_find(l, w->id);
        if (w->kib > w->limit_kib && entry != NULL) (void)launch_entry_order(entry, KEEPER_ORDER_MEMORY, w->kib);
    }
    int64_t now_us = clock_boot_us();
    l->memory_rest_us = now_us + (now_us - begin_us) * LOOK_COST_MIN;
    l->memory_look_us = poll_us == 0 ? 0 : later_of(begin_us + poll_us, l->memory_rest_us);
    look_release(&look);
}

int memory_watch_wait_ms(const struct launches *l)
{
    enum { MAX_MS = 1000 };
    if (l->memory_look_us == 0) return -1;
    int64_t left_us = l->memory_look_us - clock_boot_us();
    return left_us <= 0 ? 0 : left_us / US_PER_MS < MAX_MS ? (int)(left_us / US_PER_MS) + 1 : MAX_MS;
}
