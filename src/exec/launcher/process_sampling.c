/* A process belongs to a launch if it is below its keeper, or is the keeper. Because a keeper is the subreaper of its
 * descendants, setsid and double forks lead nowhere else, as long as the keeper runs; without it the processes are being
 * ended. What another program starts on behalf of a job, such as a container's daemon, at(1) or systemd-run, is below
 * that program: it counts as outside.
 *
 * A GPU is used by a process that has its device open, which the kernel says in /proc/PID/fd; of other users only to
 * root. CUDA opens it at the first call and keeps it open.
 *
 *  I1  A user can make a sample long with many processes and open files. So of each process only so many files are looked
 *      at, and so many of all; a process that opens more files first is not seen to use a GPU. */
#include "exec/launcher/process_sampling.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/quantity.h"
#include "base/saturate.h"
#include "exec/clock.h"
#include "exec/launcher/usage_text.h"
#include "exec/protocol.h"

enum { FILES_MAX = 256, ALL_FILES_MAX = 20000 }; /* I1 */

/* --- whose they are ----------------------------------------------------------------------------------------------- */

static void keep_users(struct processes *all, struct process_sampling *out)
{
    struct buf scratch = {0};
    for (uint32_t i = 0; i < all->list.count; i++) {
        const struct process *p = &all->list.items[i];
        uint32_t uid;
        if (p->is_kernel) continue;
        if (!process_read_uid(p->pid, &scratch, &uid)) {
            out->hidden++;
            continue;
        }
        *array_add(&out->all.list) = *p;
        *array_add(&out->uids) = uid;
    }
    buf_release(&scratch);
}

static void find_launches(const struct launches *l, struct process_sampling *s)
{
    struct map index_by_pid = {0}, launch_by_keeper = {0};
    uint32_t *roots = mem_resize(NULL, 0, (s->all.list.count + (size_t)1) * sizeof *roots);
    s->launch_ids = mem_resize(NULL, 0, (s->all.list.count + (size_t)1) * sizeof *s->launch_ids);
    for (uint32_t i = 0; i < l->list.count; i++) {
        if (l->list.items[i].keeper_pid > 0) map_set_u64(&launch_by_keeper, (uint64_t)l->list.items[i].keeper_pid, i);
    }
    processes_index(&s->all, &index_by_pid);
    processes_find_roots(&s->all, &index_by_pid, &launch_by_keeper, roots);
    for (uint32_t i = 0; i < s->all.list.count; i++) {
        uint32_t kept = map_get_u64(&launch_by_keeper, (uint64_t)s->all.list.items[i].pid);
        uint32_t entry = kept != NONE ? kept : roots[i];
        s->launch_ids[i] = entry != NONE ? l->list.items[entry].id : 0;
    }
    mem_free(roots);
    map_release(&launch_by_keeper);
    map_release(&index_by_pid);
}

void process_sampling_read(const struct launches *l, struct process_sampling *out)
{
    struct processes all = {0};
    *out = (struct process_sampling){0};
    processes_read(&all);
    keep_users(&all, out);
    find_launches(l, out);
    array_release(&all.list);
}

void process_sampling_release(struct process_sampling *s)
{
    array_release(&s->all.list);
    array_release(&s->uids);
    mem_free(s->launch_ids);
}

/* --- GPUs --------------------------------------------------------------------------------------------------------- */

static bool has_gpus(void)
{
    uint32_t gpu;
    bool found = false;
    DIR *dev = opendir("/dev");
    if (dev == NULL) return false;
    for (struct dirent *entry; !found && (entry = readdir(dev)) != NULL;) {
        char path[512];
        text_format(path, sizeof path, "/dev/%s", entry->d_name);
        found = usage_text_parse_gpu(str(path), &gpu);
    }
    closedir(dev);
    return found;
}

/* Which GPUs a process has open. *files_left: see I1. */
static uint64_t read_gpus(pid_t pid, uint32_t *files_left, struct process_sample_end *end)
{
    char path[64], target[64];
    uint64_t gpus = 0;
    text_format(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *files = opendir(path);
    if (files == NULL) {
        end->hidden++;
        return 0;
    }
    uint32_t left = FILES_MAX;
    for (struct dirent *entry; (entry = readdir(files)) != NULL;) {
        uint32_t gpu;
        if (entry->d_name[0] == '.') continue;
        if (left == 0 || *files_left == 0) {
            end->is_partial = true;
            break;
        }
        left--, (*files_left)--;
        ssize_t length = readlinkat(dirfd(files), entry->d_name, target, sizeof target);
        if (length > 0 && usage_text_parse_gpu((struct str){target, (size_t)length}, &gpu)) gpus |= UINT64_C(1) << gpu;
    }
    closedir(files);
    return gpus;
}

/* --- the report --------------------------------------------------------------------------------------------------- */

static struct process_sample sample_of(const struct process_sampling *s, uint32_t i, struct buf *scratch)
{
    const int64_t us_per_tick = US_PER_S / sysconf(_SC_CLK_TCK), kib_per_page = sysconf(_SC_PAGESIZE) / BYTES_PER_KIB;
    const struct process *p = &s->all.list.items[i];
    struct process_sample sample = {
        .pid = p->pid,
        .parent = p->parent,
        .uid = s->uids.items[i],
        .launch_id = s->launch_ids[i],
        .started_us = saturate_multiply(p->start_ticks, us_per_tick),
        .cpu_us = saturate_multiply((uint64_t)p->cpu_ticks, us_per_tick),
        .children_cpu_us = saturate_multiply((uint64_t)p->children_cpu_ticks, us_per_tick),
        .mem_kib = saturate_multiply((uint64_t)process_read_resident(p, scratch), kib_per_page),
    };
    memcpy(sample.name, p->name, sizeof sample.name);
    return sample;
}

void process_sampling_report(struct launches *l)
{
    struct process_sampling sampling;
    struct buf scratch = {0};
    uint32_t files_left = ALL_FILES_MAX;
    if (l->out == NULL) return;
    process_sampling_read(l, &sampling);
    struct process_sample_end end = {.at_us = clock_boot_us(), .hidden = sampling.hidden, .has_gpus = has_gpus()};
    for (uint32_t i = 0; i < sampling.all.list.count; i++) {
        struct process_sample sample = sample_of(&sampling, i, &scratch);
        if (end.has_gpus) sample.gpus = read_gpus(sample.pid, &files_left, &end);
        protocol_process(l->out, &sample);
    }
    protocol_sampled(l->out, &end);
    buf_release(&scratch);
    process_sampling_release(&sampling);
}
