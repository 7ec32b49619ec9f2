/* A GPU is used by a process that has its device open, which the kernel says in /proc/PID/fd; of other users only to
 * root. CUDA opens it at the first call and keeps it open.
 *
 *  I1  A user can make a sample long with many processes and open files. So of each process only so many files are
 *      looked at, and so many of all; a process that opens more files first is not seen to use a GPU. */
#include "exec/launcher/process_report.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "base/quantity.h"
#include "base/saturate.h"
#include "exec/clock.h"
#include "exec/launcher/process_sampling.h"
#include "exec/launcher/system_accounts.h"
#include "exec/launcher/usage_text.h"
#include "exec/protocol.h"

enum { FILES_MAX = 256, ALL_FILES_MAX = 20000 }; /* I1 */

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
        .launch_id = s->launch_ids.items[i],
        .started_us = saturate_multiply(p->start_ticks, us_per_tick),
        .cpu_us = saturate_multiply((uint64_t)p->cpu_ticks, us_per_tick),
        .children_cpu_us = saturate_multiply((uint64_t)p->children_cpu_ticks, us_per_tick),
        .mem_kib = saturate_multiply((uint64_t)process_read_resident(p, scratch), kib_per_page),
    };
    memcpy(sample.name, p->name, sizeof sample.name);
    return sample;
}

void process_report_all(struct launches *l, const struct low_weights *low)
{
    struct process_sampling sampling;
    struct buf scratch = {0};
    uint32_t files_left = ALL_FILES_MAX;
    if (l->out == NULL) return;
    process_sampling_read(l, &sampling);
    struct process_sample_end end = {.at_us = clock_boot_us(), .hidden = sampling.hidden, .has_gpus = has_gpus()};
    end.min_uid = l->rules->is_system ? l->rules->min_uid : system_accounts_read_min_uid();
    for (uint32_t i = 0; i < sampling.all.list.count; i++) {
        struct process_sample sample = sample_of(&sampling, i, &scratch);
        sample.is_low = low_weights_has(low, &sampling.all.list.items[i]);
        if (end.has_gpus) sample.gpus = read_gpus(sample.pid, &files_left, &end);
        protocol_process(l->out, &sample);
    }
    protocol_sampled(l->out, &end);
    buf_release(&scratch);
    process_sampling_release(&sampling);
}
